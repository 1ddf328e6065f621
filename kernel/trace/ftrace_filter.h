/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters, and changes of them. See ftrace_filter.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_FILTER_H
#define _KERNEL_TRACE_FTRACE_FILTER_H

#include <linux/init.h>

struct ftrace_edit;
struct list_head;
struct module;

int ftrace_edit_pattern(struct ftrace_edit *edit, const char *func, const char *module,
			const struct list_head *list);

int ftrace_filter_module_coming(struct module *mod);
void ftrace_filter_forget_range(unsigned long start, unsigned long end);
void ftrace_filter_forget_module(struct module *mod);
void __init ftrace_set_early_filters(void);

#endif /* _KERNEL_TRACE_FTRACE_FILTER_H */
