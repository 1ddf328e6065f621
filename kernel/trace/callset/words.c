// SPDX-License-Identifier: GPL-2.0
/*
 * Words about lists of functions: edits, which collect them; the files that take and
 * show them; and lists of words on the kernel command line, with commas between.
 *
 * A word adds sites to a list or takes some away. It may also wait for a module, or
 * end the waiting of others: such words are kept in a second list, beside the sites.
 * The openers of the files know the meaning of a word, and where the list is (struct
 * ftrace_word_ops).
 *
 * Invariants:
 *  1. The words of a file are collected in an edit, and the list is changed when the
 *     file is closed: of two writers, both change it. The last word about a site, or
 *     about waiting for a module, counts.
 *  2. A write() takes all of its words, or fails and takes no word. A command in a
 *     filter file, which is no change of the list, runs at once. A file to which only
 *     failing writes went leaves its list alone, even if it was opened to be truncated.
 *  3. An edit has no site of text that went away. Words that lost sites do not turn a
 *     list of a few functions into one of all.
 *
 * Lock order: ftrace_word_file.lock > ftrace_lock, and the locks of the ops.
 * ftrace_lock covers the list of open files, and the words of their edits. An edit of
 * other code has one owner.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ops.h"
#include "report.h"
#include "site_set.h"
#include "words.h"
#include "../trace.h"

/* How long a word can be, with the NUL after it. */
#define WORD_MAX	(KSYM_NAME_LEN + MODULE_NAME_LEN + 128)

/* The files that are open. */
static LIST_HEAD(word_files);

/* Edits */

static void word_free(struct ftrace_word *word)
{
	list_del(&word->node);
	ftrace_site_set_free(word->sites);
	kfree(word->func);
	kfree(word->module);
	kfree(word);
}

/**
 * ftrace_words_free - free the last words of a list
 * @words: the list
 * @mark: the word after which they begin; @words for all of them
 */
void ftrace_words_free(struct list_head *words, const struct list_head *mark)
{
	while (words->prev != mark)
		word_free(list_last_entry(words, struct ftrace_word, node));
}

/**
 * ftrace_edit_init - begin an edit
 * @edit: the edit; ftrace_edit_destroy() ends it
 * @clear: the list starts empty
 */
void ftrace_edit_init(struct ftrace_edit *edit, bool clear)
{
	INIT_LIST_HEAD(&edit->words);
	edit->mark = &edit->words;
	edit->clear = clear;
}

/**
 * ftrace_edit_destroy - free the words of an edit
 * @edit: the edit, applied or not
 */
void ftrace_edit_destroy(struct ftrace_edit *edit)
{
	ftrace_words_free(&edit->words, &edit->words);
}

/*
 * Joins the words since the mark while the last one has no fewer sites than the one
 * before it. So each site is copied a few times, however many words there are, and
 * few words are left. Without memory they stay apart, which means the same.
 */
static void word_edit_join(struct ftrace_edit *edit)
{
	struct ftrace_word *word, *last;

	while (edit->words.prev != edit->mark && edit->words.prev->prev != edit->mark) {
		last = list_last_entry(&edit->words, struct ftrace_word, node);
		word = list_prev_entry(last, node);
		if (word->remove != last->remove || word->module || last->module ||
		    ftrace_site_set_nr(word->sites) > ftrace_site_set_nr(last->sites) ||
		    ftrace_site_set_replace(&word->sites,
					    ftrace_site_set_union(word->sites, last->sites)))
			return;
		word_free(last);
	}
}

/* Mostly a word names one function, which comes after the last: that word gets it. */
static bool word_edit_append(struct ftrace_edit *edit, const struct ftrace_word *said)
{
	struct ftrace_word *last = list_last_entry(&edit->words, struct ftrace_word, node);

	return edit->words.prev != edit->mark && last->remove == said->remove &&
	       !last->module && !said->module && ftrace_site_set_nr(said->sites) == 1 &&
	       ftrace_site_set_nr(last->sites) &&
	       last->sites->ip[last->sites->nr - 1] < said->sites->ip[0] &&
	       !ftrace_site_set_append(&last->sites, said->sites->ip[0]);
}

/**
 * ftrace_edit_add - add a word to an edit
 * @edit: the edit
 * @said: the word, which is copied
 *
 * Return: 0; -ENOMEM, with the edit as it was.
 */
int ftrace_edit_add(struct ftrace_edit *edit, const struct ftrace_word *said)
{
	struct ftrace_word *word;

	if (word_edit_append(edit, said)) {
		word_edit_join(edit);
		return 0;
	}
	word = kmemdup(said, sizeof(*said), GFP_KERNEL);
	if (!word)
		return -ENOMEM;
	word->sites = ftrace_site_set_dup(said->sites);
	word->func = kstrdup(said->func, GFP_KERNEL);
	word->module = kstrdup(said->module, GFP_KERNEL);
	list_add_tail(&word->node, &edit->words);
	if (!word->sites != !said->sites || !word->func != !said->func ||
	    !word->module != !said->module) {
		word_free(word);
		return -ENOMEM;
	}
	word_edit_join(edit);
	return 0;
}

/**
 * ftrace_edit_result - the sites that a list will have
 * @edit: the edit
 * @old: the sites that the list has, or NULL
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

/* Whether a site is listed, as the edit so far has it: the last word about it counts. */
static bool word_edit_lists(const struct ftrace_edit *edit, const struct ftrace_site_set *old,
			    unsigned long ip)
{
	const struct ftrace_word *word;

	list_for_each_entry_reverse(word, &edit->words, node) {
		if (ftrace_site_set_has(word->sites, ip))
			return !word->remove;
	}
	return !edit->clear && ftrace_site_set_has(old, ip);
}

/**
 * ftrace_edit_finds - whether some sites will be in the list
 * @edit: the edit
 * @old: the sites that the list has, or NULL
 * @sites: the sites
 *
 * Return: true if ftrace_edit_result() has one of @sites.
 */
bool ftrace_edit_finds(const struct ftrace_edit *edit, const struct ftrace_site_set *old,
		       const struct ftrace_site_set *sites)
{
	for (unsigned int i = 0; i < sites->nr; i++) {
		if (word_edit_lists(edit, old, sites->ip[i]))
			return true;
	}
	return false;
}

/* Words that wait for their modules */

/* Whether @said concerns @word: it has the same name, or means all of the same module. */
static bool word_is_meant(const struct ftrace_word *word, const struct ftrace_word *said)
{
	if (!word->module || !said->module || strcmp(word->module, said->module))
		return false;
	return !strcmp(word->func, said->func) || (said->remove && !strcmp(said->func, "*"));
}

/* Whether one of the words after @node ends the waiting of @word. */
static bool word_edit_ends_waiting(const struct ftrace_edit *edit, const struct list_head *node,
				   const struct ftrace_word *word)
{
	const struct ftrace_word *said = list_entry(node, struct ftrace_word, node);

	list_for_each_entry_continue(said, &edit->words, node) {
		if (said->remove && word_is_meant(word, said))
			return true;
	}
	return false;
}

/**
 * ftrace_edit_finds_waiting - whether a word ends the waiting of others
 * @edit: the edit that it is to be added to
 * @list: the words that wait in the edited list
 * @said: the word
 *
 * Return: true if one that it means will be waiting, as the edit so far has it.
 */
bool ftrace_edit_finds_waiting(const struct ftrace_edit *edit, const struct list_head *list,
			       const struct ftrace_word *said)
{
	const struct ftrace_word *word;

	list_for_each_entry(word, &edit->words, node) {
		if (!word->remove && word_is_meant(word, said) &&
		    !word_edit_ends_waiting(edit, &word->node, word))
			return true;
	}
	if (edit->clear)
		return false;
	list_for_each_entry(word, list, node) {
		if (word_is_meant(word, said) && !word_edit_ends_waiting(edit, &edit->words, word))
			return true;
	}
	return false;
}

/**
 * ftrace_edit_leaves_waiting - whether words may wait after an edit
 * @edit: the edit
 * @list: the words that wait in the edited list
 *
 * Return: false if no word will. True may be wrong, if the edit takes away words.
 */
bool ftrace_edit_leaves_waiting(const struct ftrace_edit *edit, const struct list_head *list)
{
	const struct ftrace_word *word;

	list_for_each_entry(word, &edit->words, node) {
		if (word->module && !word->remove)
			return true;
	}
	return !edit->clear && !list_empty(list);
}

/**
 * ftrace_edit_apply_waiting - change which words wait, as an edit says
 * @edit: the edit, which is used up
 * @list: the words that wait in the edited list
 */
void ftrace_edit_apply_waiting(struct ftrace_edit *edit, struct list_head *list)
{
	struct ftrace_word *word, *next, *old, *next_old;

	if (edit->clear)
		ftrace_words_free(list, list);
	list_for_each_entry_safe(word, next, &edit->words, node) {
		list_for_each_entry_safe(old, next_old, list, node) {
			if (word_is_meant(old, word))
				word_free(old);
		}
		if (word->module && !word->remove)
			list_move_tail(&word->node, list);
	}
}

/* Files */

static struct ftrace_word_file *word_file_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;
	return file->private_data;
}

static const char *word_file_name(const struct ftrace_word_file *f)
{
	return f->ops->name[f->exclude];
}

/* Writing */

/* The log shows the word as it was written, so a copy is cut up. */
static int word_file_take(struct ftrace_word_file *f, bool cut)
{
	int ret = -EINVAL;

	f->why = FTRACE_WORD_TOO_LONG;
	f->pos = 0;
	if (!cut) {
		memcpy(f->word, f->parser.buffer, f->parser.idx + 1);
		ret = f->ops->take(f, f->word);
	}
	if (ret == -EINVAL || (ret >= 0 && f->why == FTRACE_WORD_THROTTLED))
		tracing_log_err(f->tr, word_file_name(f), f->parser.buffer,
				(const char **)ftrace_word_errors, f->why, f->pos);
	return ret;
}

static ssize_t word_file_parse(struct ftrace_word_file *f, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct trace_parser *parser = &f->parser;
	ssize_t read;
	int ret;

	for (size_t done = 0; done < cnt; done += read) {
		read = trace_get_user(parser, ubuf + done, cnt - done, ppos);
		if (read < 0) {
			/* The word is cut where the buffer ends. */
			parser->buffer[parser->idx] = '\0';
			if (read == -EINVAL)
				word_file_take(f, true);
			return read;
		}
		if (!trace_parser_loaded(parser) || trace_parser_cont(parser))
			continue;
		ret = word_file_take(f, false);
		if (ret < 0)
			return ret;
		trace_parser_clear(parser);
		f->wrote = true;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return cnt;
}

/* Undoes a write. */
static void word_file_fail(struct ftrace_word_file *f)
{
	scoped_guard(mutex, &ftrace_lock)
		ftrace_words_free(&f->edit.words, f->edit.mark);
	f->parser.fail = false;
	trace_parser_clear(&f->parser);
	f->failed = true;
}

/**
 * ftrace_word_file_write - write() of a file of words
 * @file: opened with ftrace_word_file_open()
 * @ubuf: the words
 * @cnt: their length
 * @ppos: file position
 *
 * Return: @cnt; or, with no word of this write kept, -EINVAL if a word is too long or
 * means nothing, -ENOMEM, -EFAULT, -EINTR, or another
 * error of the file's ops.
 */
ssize_t ftrace_word_file_write(struct file *file, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct ftrace_word_file *f = word_file_of(file);
	bool wrote;
	ssize_t ret;

	guard(mutex)(&f->lock);

	wrote = f->wrote;
	f->edit.mark = f->edit.words.prev;
	ret = word_file_parse(f, ubuf, cnt, ppos);
	if (ret < 0) {
		word_file_fail(f);
		f->wrote = wrote;
	}
	return ret;
}

static void word_file_commit(struct ftrace_word_file *f)
{
	int ret;

	/* The last word may come without a newline. */
	if (trace_parser_loaded(&f->parser)) {
		f->edit.mark = f->edit.words.prev;
		if (word_file_take(f, false) < 0)
			word_file_fail(f);
		else
			f->wrote = true;
	}
	if (!f->wrote && (f->failed || !f->edit.clear))
		return;

	ftrace_retired_wait();
	guard(mutex)(&ftrace_lock);
	ret = f->ops->commit(f);
	if (ret)
		pr_warn("%s is unchanged: %pe\n", word_file_name(f), ERR_PTR(ret));
}

/*
 * Reading: the sites, or the line that says that there is no list; then the rest
 * in one go.
 */
static void *word_seq_line(const struct ftrace_word_file *f, loff_t line)
{
	/* 0 must not be NULL. */
	return line <= (f->shown ? f->shown->nr : 1) ? (void *)(unsigned long)(line + 1) : NULL;
}

static void *word_seq_start(struct seq_file *m, loff_t *pos)
{
	struct ftrace_word_file *f = m->private;

	mutex_lock(&ftrace_lock);
	if (*pos < ftrace_site_set_nr(f->shown))
		kallsyms_cursor_init(&f->cursor, f->shown->ip[*pos]);
	return word_seq_line(f, *pos);
}

static void *word_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return word_seq_line(m->private, *pos);
}

static void word_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static void word_show_site(struct seq_file *m, struct ftrace_word_file *f, unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN] __uninitialized;

	/* A search for each symbol would take several times as long. */
	if (is_ksym_addr(ip))
		seq_write(m, name, kallsyms_cursor_name(&f->cursor, ip, name, sizeof(name)));
	else
		seq_printf(m, "%ps", (void *)ip);
	seq_putc(m, '\n');
}

static int word_seq_show(struct seq_file *m, void *v)
{
	struct ftrace_word_file *f = m->private;
	unsigned long line = (unsigned long)v - 1;

	if (line < ftrace_site_set_nr(f->shown))
		word_show_site(m, f, f->shown->ip[line]);
	else if (!f->shown && !line)
		seq_puts(m, f->exclude ? "#### no functions disabled ####\n" :
							   "#### all functions enabled ####\n");
	else if (f->ops->show_rest)
		f->ops->show_rest(m, f);
	return 0;
}

static const struct seq_operations word_seq_ops = {
	.start	= word_seq_start,
	.next	= word_seq_next,
	.stop	= word_seq_stop,
	.show	= word_seq_show,
};

/**
 * ftrace_words_forget_range - drop the sites of text that is going away
 * @start: first address of the text
 * @end: first address after it
 *
 * A file may be open since before: its words must not mean the text that comes next.
 *
 * Context: ftrace_lock is held. Needs no memory.
 */
void ftrace_words_forget_range(unsigned long start, unsigned long end)
{
	struct ftrace_word_file *f;
	struct ftrace_word *word;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(f, &word_files, node) {
		list_for_each_entry(word, &f->edit.words, node)
			ftrace_site_set_forget(word->sites, start, end);
	}
}

/* Opening and closing */

static int word_file_init(struct ftrace_word_file *f, struct file *file)
{
	const struct ftrace_site_set *sites;
	int ret;

	if (trace_parser_get_init(&f->parser, WORD_MAX))
		return -ENOMEM;
	guard(mutex)(&ftrace_lock);
	list_add(&f->node, &word_files);
	if (!(file->f_mode & FMODE_READ)) {
		file->private_data = f;
		return 0;
	}
	sites = f->ops->sites(f);
	f->shown = ftrace_site_set_dup(sites);
	ret = sites && !f->shown ? -ENOMEM : seq_open(file, &word_seq_ops);
	if (ret)
		return ret;
	((struct seq_file *)file->private_data)->private = f;
	trace_seq_file_room(file->private_data);
	return 0;
}

static void word_file_free(struct ftrace_word_file *f)
{
	scoped_guard(mutex, &ftrace_lock)
		list_del(&f->node);
	ftrace_edit_destroy(&f->edit);
	trace_parser_put(&f->parser);
	ftrace_site_set_free(f->shown);
	if (f->tr)
		trace_array_put(f->tr);
	kfree(f);
}

/**
 * ftrace_word_file_open - open a file of words
 * @file: the file
 * @ops: the kind of file
 * @tr: its instance, or NULL
 * @owner: for the ops
 * @flags: FTRACE_ITER_NOTRACE if it lists functions to leave out; more for the ops
 *
 * Context: process context, sleeps.
 * Return: 0, -ENODEV, -EPERM when locked down, or -ENOMEM.
 */
int ftrace_word_file_open(struct file *file, const struct ftrace_word_ops *ops,
			  struct trace_array *tr, void *owner, int flags)
{
	struct ftrace_word_file *f;
	int ret;

	if (ftrace_disabled)
		return -ENODEV;
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	f = kzalloc_flex(*f, word, WORD_MAX);
	if (!f) {
		if (tr)
			trace_array_put(tr);
		return -ENOMEM;
	}
	f->ops = ops;
	f->tr = tr;
	f->owner = owner;
	f->exclude = flags & FTRACE_ITER_NOTRACE;
	f->flags = flags;
	mutex_init(&f->lock);
	INIT_LIST_HEAD(&f->node);
	ftrace_edit_init(&f->edit, (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC));
	ret = word_file_init(f, file);
	if (ret)
		word_file_free(f);
	return ret;
}

/**
 * ftrace_word_file_release - close a file of words, and apply its edit
 * @inode: not used
 * @file: the file
 *
 * Return: 0.
 */
int ftrace_word_file_release(struct inode *inode, struct file *file)
{
	struct ftrace_word_file *f = word_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		word_file_commit(f);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	word_file_free(f);
	return 0;
}

/* The kernel command line */

/**
 * ftrace_early_list - keep a list from the command line until it can be used
 * @to: COMMAND_LINE_SIZE bytes; it has the list so far, if the parameter is there again
 * @list: words with commas between; may come from a bootconfig, and be longer
 * @param: the name of the parameter
 *
 * Context: boot.
 */
void __init ftrace_early_list(char *to, const char *list, const char *param)
{
	size_t len = strlen(to);
	char *cut;

	if (len && len < COMMAND_LINE_SIZE - 1)
		to[len++] = ',';
	if (strscpy(to + len, list, COMMAND_LINE_SIZE - len) >= 0)
		return;
	/* Half a word may match other functions. */
	cut = strrchr(to, ',');
	*(cut ?: to) = '\0';
	pr_warn("%s= is too long: all after \"%s\" is ignored\n", param,
		strrchr(to, ',') ? strrchr(to, ',') + 1 : to);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/edit_kunit.c"
#endif
