/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching ops to sites, and following their filters, functions and text
 * (attach.c), by transactions (transaction.c).
 */
#ifndef _KERNEL_TRACE_CALLSET_ATTACH_H
#define _KERNEL_TRACE_CALLSET_ATTACH_H

#include <linux/ftrace.h>

struct ftrace_filter;
struct ftrace_site_set;
struct ftrace_table;

int ftrace_attach(struct ftrace_ops *ops);
void ftrace_detach(struct ftrace_ops *ops);
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);
void ftrace_ops_wait(struct ftrace_ops *ops);

int ftrace_refilter(struct ftrace_filter *filter, struct ftrace_site_set *only,
		    struct ftrace_site_set *not);
int ftrace_refilter_sites(struct ftrace_filter *filter, struct ftrace_site_set *only,
			  const struct ftrace_site_set *sites);
void ftrace_detach_table(struct ftrace_table *table);

int ftrace_update_attach(struct ftrace_ops *ops);
void ftrace_update_detach(struct ftrace_ops *ops);
int ftrace_update_filter(struct ftrace_filter *filter, const struct ftrace_site_set *sites,
			 bool asked);
int ftrace_update_table(struct ftrace_table *table);

#endif /* _KERNEL_TRACE_CALLSET_ATTACH_H */
