/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stubs, which count the calls of one site each. See ftrace_stubs.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_STUBS_H
#define _KERNEL_TRACE_FTRACE_STUBS_H

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>

struct ftrace_table;

#ifndef ARCH_FTRACE_STUB_SIZE
#define ARCH_FTRACE_STUB_SIZE	0
#endif

/* Where there are no stubs, the compiler sees that all functions below are not called. */
static inline bool ftrace_stubs_used(const struct ftrace_callset *cs)
{
	return ARCH_FTRACE_STUB_SIZE && cs->counts;
}

int ftrace_stubs_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			 const struct ftrace_record *rec, unsigned int nr);
unsigned int ftrace_stubs_target(const struct ftrace_callset *cs, const struct ftrace_table *table,
				 const struct ftrace_record *rec, unsigned int nr,
				 unsigned long *target);
void ftrace_stubs_hide(struct ftrace_callset *cs);
void ftrace_stubs_free(struct ftrace_callset *cs);
void ftrace_stubs_forget_table(struct ftrace_callset *cs, const struct ftrace_table *table);

#endif /* _KERNEL_TRACE_FTRACE_STUBS_H */
