/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transactions. See ftrace_update.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_UPDATE_H
#define _KERNEL_TRACE_FTRACE_UPDATE_H

struct ftrace_filter;
struct ftrace_ops;
struct ftrace_site_set;
struct ftrace_table;

int ftrace_update_attach(struct ftrace_ops *ops);
void ftrace_update_detach(struct ftrace_ops *ops);
int ftrace_update_filter(struct ftrace_filter *filter, struct ftrace_site_set *sites, bool wish);
int ftrace_update_table(struct ftrace_table *table);

#endif /* _KERNEL_TRACE_FTRACE_UPDATE_H */
