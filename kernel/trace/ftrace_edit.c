// SPDX-License-Identifier: GPL-2.0
/*
 * Edits: changes to a list of functions that are collected word by word, and made
 * later, to the list as it is then.
 *
 * A word adds sites or takes some away. It may also wait for a module, or end the
 * waiting of others: such words are kept in a second list, beside the sites.
 *
 * Invariants:
 *  1. What was said last about a site, or about waiting for a module, counts.
 *  2. Words that were added since the mark can be taken back, and nothing else
 *     changes by that.
 *
 * Nothing here takes a lock. An edit has one owner; the lists are the caller's.
 */
#include <linux/cleanup.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ftrace_edit.h"
#include "ftrace_site_set.h"

static void word_free(struct ftrace_word *word)
{
	list_del(&word->node);
	ftrace_site_set_free(word->sites);
	kfree(word->func);
	kfree(word->module);
	kfree(word);
}

/* Frees the words after @mark. */
static void words_free_after(struct list_head *words, const struct list_head *mark)
{
	while (words->prev != mark)
		word_free(list_last_entry(words, struct ftrace_word, node));
}

/**
 * ftrace_edit_init - begin an edit
 * @edit: the edit; ftrace_edit_destroy() ends it
 * @clear: what the list had before is to be forgotten
 */
void ftrace_edit_init(struct ftrace_edit *edit, bool clear)
{
	INIT_LIST_HEAD(&edit->words);
	edit->mark = &edit->words;
	edit->clear = clear;
}

/**
 * ftrace_edit_destroy - free what an edit holds
 * @edit: the edit, applied or not
 */
void ftrace_edit_destroy(struct ftrace_edit *edit)
{
	words_free_after(&edit->words, &edit->words);
}

/**
 * ftrace_edit_mark - note how far an edit has come
 * @edit: the edit
 */
void ftrace_edit_mark(struct ftrace_edit *edit)
{
	edit->mark = edit->words.prev;
}

/**
 * ftrace_edit_back - undo what was added to an edit since it was marked
 * @edit: the edit
 */
void ftrace_edit_back(struct ftrace_edit *edit)
{
	words_free_after(&edit->words, edit->mark);
}

/* Whether a word and the one after it can be told as one. */
static bool words_can_join(const struct ftrace_word *word, const struct ftrace_word *next)
{
	return word->remove == next->remove && !word->module && !next->module &&
	       ftrace_site_set_nr(word->sites) <= ftrace_site_set_nr(next->sites);
}

/*
 * Joins the words since the mark while the last one has no fewer sites than the one
 * before it. So each site is copied a few times, however many words there are, and
 * few words are left. Without memory they stay apart, which says the same.
 */
static void edit_join(struct ftrace_edit *edit)
{
	struct ftrace_word *word, *last;

	while (edit->words.prev != edit->mark && edit->words.prev->prev != edit->mark) {
		last = list_last_entry(&edit->words, struct ftrace_word, node);
		word = list_prev_entry(last, node);
		if (!words_can_join(word, last) ||
		    ftrace_site_set_replace(&word->sites,
					    ftrace_site_set_union(word->sites, last->sites)))
			return;
		word_free(last);
	}
}

/**
 * ftrace_edit_add - add a word to an edit
 * @edit: the edit
 * @what: the word, of which a copy is made
 *
 * Return: 0; -ENOMEM, with the edit as it was.
 */
int ftrace_edit_add(struct ftrace_edit *edit, const struct ftrace_word *what)
{
	struct ftrace_word *word = kmemdup(what, sizeof(*what), GFP_KERNEL);

	if (!word)
		return -ENOMEM;
	word->sites = ftrace_site_set_dup(what->sites);
	word->func = kstrdup(what->func, GFP_KERNEL);
	word->module = kstrdup(what->module, GFP_KERNEL);
	list_add_tail(&word->node, &edit->words);
	if (!word->sites != !what->sites || !word->func != !what->func ||
	    !word->module != !what->module) {
		word_free(word);
		return -ENOMEM;
	}
	edit_join(edit);
	return 0;
}

/**
 * ftrace_edit_result - the sites that a list will have
 * @edit: the edit
 * @old: the sites that the list has; NULL for none
 *
 * Context: process context, sleeps.
 * Return: a new set, or NULL if there is no memory.
 */
struct ftrace_site_set *ftrace_edit_result(const struct ftrace_edit *edit,
					   const struct ftrace_site_set *old)
{
	struct ftrace_site_set *rest __free(site_set) = NULL;
	struct ftrace_site_set *add __free(site_set) = NULL;
	struct ftrace_site_set *del __free(site_set) = NULL;
	const struct ftrace_word *word;

	/* @old may have every site: words are joined before it is copied, once. */
	list_for_each_entry(word, &edit->words, node) {
		struct ftrace_site_set **to = word->remove ? &del : &add;
		struct ftrace_site_set **from = word->remove ? &add : &del;

		if (ftrace_site_set_replace(to, ftrace_site_set_union(*to, word->sites)) ||
		    ftrace_site_set_replace(from, ftrace_site_set_minus(*from, word->sites)))
			return NULL;
		cond_resched();
	}
	rest = ftrace_site_set_minus(edit->clear ? NULL : old, del);
	return rest ? ftrace_site_set_union(rest, add) : NULL;
}

/* Words that wait for their modules */

/**
 * ftrace_later_free - forget all words that wait
 * @list: where they are
 */
void ftrace_later_free(struct list_head *list)
{
	words_free_after(list, list);
}

/* Whether @what is said of @word: of the same name, or of any of the same module. */
static bool later_is_meant(const struct ftrace_word *word, const struct ftrace_word *what)
{
	if (!word->module || !what->module || strcmp(word->module, what->module))
		return false;
	return !strcmp(word->func, what->func) || (what->remove && !strcmp(what->func, "*"));
}

/* Whether one of the words after @node ends the waiting of @word. */
static bool edit_ends_later(const struct ftrace_edit *edit, const struct list_head *node,
			    const struct ftrace_word *word)
{
	const struct ftrace_word *what = list_entry(node, struct ftrace_word, node);

	list_for_each_entry_continue(what, &edit->words, node) {
		if (what->remove && later_is_meant(word, what))
			return true;
	}
	return false;
}

/**
 * ftrace_edit_finds_later - whether a word ends the waiting of others
 * @edit: the edit that it is to be added to
 * @list: the words that wait in the edited list
 * @what: the word
 *
 * Return: true if one that it means will be waiting, as the edit so far has it.
 */
bool ftrace_edit_finds_later(const struct ftrace_edit *edit, const struct list_head *list,
			     const struct ftrace_word *what)
{
	const struct ftrace_word *word;

	list_for_each_entry(word, &edit->words, node) {
		if (!word->remove && later_is_meant(word, what) &&
		    !edit_ends_later(edit, &word->node, word))
			return true;
	}
	if (edit->clear)
		return false;
	list_for_each_entry(word, list, node) {
		if (later_is_meant(word, what) && !edit_ends_later(edit, &edit->words, word))
			return true;
	}
	return false;
}

/**
 * ftrace_edit_leaves_later - whether words may wait after an edit
 * @edit: the edit
 * @list: the words that wait in the edited list
 *
 * Return: false if none will. True may be wrong, if the edit takes away words.
 */
bool ftrace_edit_leaves_later(const struct ftrace_edit *edit, const struct list_head *list)
{
	const struct ftrace_word *word;

	list_for_each_entry(word, &edit->words, node) {
		if (word->module && !word->remove)
			return true;
	}
	return !edit->clear && !list_empty(list);
}

static void later_forget(struct list_head *list, const struct ftrace_word *what)
{
	struct ftrace_word *word, *next;

	list_for_each_entry_safe(word, next, list, node) {
		if (later_is_meant(word, what))
			word_free(word);
	}
}

/**
 * ftrace_edit_apply_later - do what the words of an edit say about waiting
 * @edit: the edit, which is used up
 * @list: the words that wait in the edited list
 */
void ftrace_edit_apply_later(struct ftrace_edit *edit, struct list_head *list)
{
	struct ftrace_word *word, *next;

	if (edit->clear)
		ftrace_later_free(list);
	list_for_each_entry_safe(word, next, &edit->words, node) {
		later_forget(list, word);
		if (word->module && !word->remove)
			list_move_tail(&word->node, list);
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_edit_kunit.c"
#endif
