/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters, and the parts of their files: patterns (match.c), function commands
 * (command.c), filters of ops (filter.c) and of the call graph
 * (graph_filter.c).
 */
#ifndef _KERNEL_TRACE_CALLSET_FILTER_H
#define _KERNEL_TRACE_CALLSET_FILTER_H

#include <linux/init.h>
#include <linux/types.h>

#include "report.h"

struct ftrace_edit;
struct ftrace_filter;
struct ftrace_site_set;
struct list_head;
struct module;
struct seq_file;
struct trace_array;

/* match.c */
struct ftrace_site_set *ftrace_match_sites(const char *glob, const char *module);
int ftrace_match_module(const char *glob, struct module *mod);
void ftrace_site_set_drop_quarantined(struct ftrace_site_set *set);
enum ftrace_word_error ftrace_why_no_site(const char *glob, const char *module);

/* command.c */
int ftrace_command_run(struct trace_array *tr, char *func, char *command, bool enable);
void ftrace_command_show(struct seq_file *m, struct trace_array *tr);
void ftrace_command_forget_range(unsigned long start, unsigned long end);

/* filter.c */
int ftrace_edit_pattern(struct ftrace_edit *edit, const char *func, const char *module,
			const struct list_head *list);
void ftrace_filter_track(struct ftrace_filter *filter);
int ftrace_filter_throttle(struct ftrace_filter *filter, struct ftrace_site_set *sites, bool out);
int ftrace_filter_module_loading(struct module *mod);
void ftrace_filter_forget_range(unsigned long start, unsigned long end);
void ftrace_filter_forget_module(struct module *mod);
void __init ftrace_set_early_filters(void);

/* graph_filter.c */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end);
#else
static inline void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end)
{
}
#endif

#endif /* _KERNEL_TRACE_CALLSET_FILTER_H */
