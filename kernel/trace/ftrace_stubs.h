/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stubs, which count the calls of one site each. See ftrace_stubs.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_STUBS_H
#define _KERNEL_TRACE_FTRACE_STUBS_H

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>

struct ftrace_table;

#ifdef ARCH_FTRACE_STUB_SIZE
int ftrace_stubs_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			 const struct ftrace_record *rec, unsigned int nr);
unsigned int ftrace_stubs_target(const struct ftrace_callset *cs, const struct ftrace_table *table,
				 const struct ftrace_record *rec, unsigned int nr,
				 unsigned long *target);
void ftrace_stubs_hide(struct ftrace_callset *cs);
void ftrace_stubs_free(struct ftrace_callset *cs);
void ftrace_stubs_forget_table(struct ftrace_callset *cs, const struct ftrace_table *table);
#else
#define ARCH_FTRACE_STUB_SIZE	0

static inline int ftrace_stubs_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
				       const struct ftrace_record *rec, unsigned int nr)
{
	return 0;
}

static inline unsigned int ftrace_stubs_target(const struct ftrace_callset *cs,
					       const struct ftrace_table *table,
					       const struct ftrace_record *rec, unsigned int nr,
					       unsigned long *target)
{
	return nr;
}

static inline void ftrace_stubs_hide(struct ftrace_callset *cs)
{
}

static inline void ftrace_stubs_free(struct ftrace_callset *cs)
{
}

static inline void ftrace_stubs_forget_table(struct ftrace_callset *cs,
					     const struct ftrace_table *table)
{
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_STUBS_H */
