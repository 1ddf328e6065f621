/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters, and edits of them. See ftrace_filter.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_FILTER_H
#define _KERNEL_TRACE_FTRACE_FILTER_H

#include <linux/list.h>
#include <linux/types.h>

struct ftrace_filter;
struct ftrace_site_set;
struct module;

/**
 * struct ftrace_later - a pattern that waits for its module
 * @node: in a filter's or an edit's list
 * @remove: in an edit: take the pattern out of the filter's list
 * @func: pattern for the function
 * @module: pattern for the module
 */
struct ftrace_later {
	struct list_head	node;
	bool			remove;
	const char		*func;
	const char		*module;
};

/**
 * struct ftrace_edit - a change to a filter, being collected
 * @add: sites to add
 * @del: sites to take away
 * @later: patterns to wait with, or to stop waiting with
 * @clear: start from an empty filter
 */
struct ftrace_edit {
	struct ftrace_site_set	*add;
	struct ftrace_site_set	*del;
	struct list_head	later;
	bool			clear;
};

/**
 * struct ftrace_edit_mark - how far an edit had come
 * @add: copy of its @add
 * @del: copy of its @del
 * @last: the last of its @later
 */
struct ftrace_edit_mark {
	struct ftrace_site_set	*add;
	struct ftrace_site_set	*del;
	struct list_head	*last;
};

struct list_head *ftrace_filter_later(struct ftrace_filter *filter, bool exclude);
void ftrace_edit_init(struct ftrace_edit *edit, bool clear);
void ftrace_edit_destroy(struct ftrace_edit *edit);
int ftrace_edit_pattern(struct ftrace_edit *edit, char *func, const char *module,
			const struct list_head *list);
int ftrace_edit_commit(struct ftrace_edit *edit, struct ftrace_filter *filter, bool exclude);
int ftrace_edit_mark(const struct ftrace_edit *edit, struct ftrace_edit_mark *mark);
void ftrace_edit_mark_free(struct ftrace_edit_mark *mark);
void ftrace_edit_back(struct ftrace_edit *edit, struct ftrace_edit_mark *mark);

int ftrace_filter_module_coming(struct module *mod);
void ftrace_filter_forget_range(unsigned long start, unsigned long end);
void ftrace_filter_forget_module(struct module *mod);

#endif /* _KERNEL_TRACE_FTRACE_FILTER_H */
