/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Callsets and the life of their trampolines. See ftrace_callset.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_CALLSET_H
#define _KERNEL_TRACE_FTRACE_CALLSET_H

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>

#include "ftrace_callset_map.h"

struct ftrace_table;

struct ftrace_callset *ftrace_callset_at(unsigned long ip);
struct ftrace_callset *ftrace_callset_with(struct ftrace_callset *cs, struct ftrace_ops *ops);
struct ftrace_callset *ftrace_callset_without(struct ftrace_callset *cs, struct ftrace_ops *ops);
bool ftrace_callset_has(const struct ftrace_callset *cs, const struct ftrace_ops *ops);
void ftrace_callset_add_sites(struct ftrace_callset *cs, int nr);
int ftrace_callsets_establish(void);
int ftrace_callset_establish(struct ftrace_callset *cs);
void ftrace_callset_silence(struct ftrace_callset_link *link, struct ftrace_patch *patch);
void ftrace_callsets_drop_idle(void);
int ftrace_callset_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			   const struct ftrace_record *rec, unsigned int nr);
unsigned long ftrace_callset_target(const struct ftrace_callset *cs);

/* The callsets that call an ops, by their links to it; ftrace_lock is held. */
#define for_each_ftrace_link(link, ops)					\
	hlist_for_each_entry(link, &(ops)->callsets, node)

#define for_each_ftrace_link_safe(link, next, ops)			\
	hlist_for_each_entry_safe(link, next, &(ops)->callsets, node)

/* Whether the callset's sites call the direct function without a trampoline. */
static inline bool ftrace_callset_is_direct(const struct ftrace_callset *cs)
{
	return cs->direct && cs->nr_ops == 1;
}

#endif /* _KERNEL_TRACE_FTRACE_CALLSET_H */
