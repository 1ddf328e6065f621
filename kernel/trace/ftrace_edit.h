/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Edits of lists of functions. See ftrace_edit.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_EDIT_H
#define _KERNEL_TRACE_FTRACE_EDIT_H

#include <linux/list.h>
#include <linux/types.h>

struct ftrace_site_set;

/**
 * struct ftrace_word - what a word says
 * @node: in an edit, or in a filter's list of words that wait for their modules
 * @sites: the sites that match; NULL for none
 * @remove: take away instead of adding
 * @func: pattern for the function; NULL if @module is
 * @module: pattern for the module that the word waits for, or no longer waits
 *	    for; NULL if it concerns @sites alone
 */
struct ftrace_word {
	struct list_head	node;
	struct ftrace_site_set	*sites;
	bool			remove;
	const char		*func;
	const char		*module;
};

/**
 * struct ftrace_edit - a change to a list, being collected
 * @words: what was said, in that order
 * @mark: the last word that ftrace_edit_back() leaves, or @words
 * @clear: start from an empty list
 */
struct ftrace_edit {
	struct list_head	words;
	struct list_head	*mark;
	bool			clear;
};

void ftrace_edit_init(struct ftrace_edit *edit, bool clear);
void ftrace_edit_destroy(struct ftrace_edit *edit);
void ftrace_edit_mark(struct ftrace_edit *edit);
void ftrace_edit_back(struct ftrace_edit *edit);
int ftrace_edit_add(struct ftrace_edit *edit, const struct ftrace_word *what);
struct ftrace_site_set *ftrace_edit_result(const struct ftrace_edit *edit,
					   const struct ftrace_site_set *old);

void ftrace_later_free(struct list_head *list);
bool ftrace_edit_finds_later(const struct ftrace_edit *edit, const struct list_head *list,
			     const struct ftrace_word *what);
bool ftrace_edit_leaves_later(const struct ftrace_edit *edit, const struct list_head *list);
void ftrace_edit_apply_later(struct ftrace_edit *edit, struct list_head *list);

#endif /* _KERNEL_TRACE_FTRACE_EDIT_H */
