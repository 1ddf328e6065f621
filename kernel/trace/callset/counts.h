/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of the calls of sites. See counts.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_COUNTS_H
#define _KERNEL_TRACE_CALLSET_COUNTS_H

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include "ops.h"
#include "sites.h"

/* So many records' counts are allocated at a time, and so many stubs. */
#define FTRACE_COUNT_GROUP	128

/* Calls by their time: of less than 32 ns, of less than 64 ns, ...; the last of 2.1 s or more. */
#define FTRACE_LATENCY_BUCKETS	28
#define FTRACE_LATENCY_FIRST	5

/**
 * struct ftrace_time - the time of the calls of a site that have returned, on one CPU
 * @total: nanoseconds, all together
 * @self: the same without the time that is in other functions' totals
 * @max: of the call that took the longest
 * @squares: the sum of the squares of the totals or the selves, modulo 2^64
 * @latency: how many calls took so long, in FTRACE_LATENCY_BUCKETS powers of two
 *
 * A site has @squares, or @latency, or neither, as its user asks. All of it are u64: it is
 * set to zero and allocated as counts are.
 */
struct ftrace_time {
	u64	total;
	u64	self;
	u64	max;
	union {
		u64	squares;
		DECLARE_FLEX_ARRAY(u64, latency);
	};
};

/**
 * struct ftrace_counts - how often sites were called, or how long that took
 * @ref: the users that count there or read them
 * @words: numbers for each site
 * @ignored: which bits of task_struct::ftrace_pid_ignored keep a task's calls from
 *	     being counted, where it is asked
 * @off: not 0 on CPUs whose calls are not counted, where it is asked
 * @retiree: frees them
 *
 * It is asked while the function of the ops is not its saved_func; trampolines read
 * @ignored and @off then.
 */
struct ftrace_counts {
	refcount_t		ref;
	unsigned int		words;
	unsigned long		ignored;
	u32 __percpu		*off;
	struct ftrace_retiree	retiree;
};

/**
 * struct ftrace_count_table - the counts of a table's sites
 * @node: in the list of the table
 * @counts: all counts of which these are a part
 * @table: the table
 * @retiree: frees it
 * @words: of each record
 * @nr: number of @group
 * @group: the counts of FTRACE_COUNT_GROUP records; NULL if they never were counted
 */
struct ftrace_count_table {
	struct hlist_node		node;
	const struct ftrace_counts	*counts;
	const struct ftrace_table	*table;
	struct ftrace_retiree		retiree;
	unsigned int			words;
	unsigned int			nr;
	u64 __percpu			*group[] __counted_by(nr);
};

struct ftrace_counts *ftrace_counts_alloc(unsigned int words);
void ftrace_counts_get(struct ftrace_counts *counts);
void ftrace_counts_put(struct ftrace_counts *counts);
struct ftrace_count_table *ftrace_counts_table(struct ftrace_counts *counts,
					       struct ftrace_table *table);
u64 __percpu *ftrace_counts_group(struct ftrace_counts *counts, struct ftrace_table *table,
				  unsigned int group);
u64 __percpu *ftrace_counts_find(const struct ftrace_counts *counts,
				 const struct ftrace_table *table, unsigned int index);
void ftrace_count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);
void ftrace_counts_zero(u64 __percpu *const *group, unsigned int size, unsigned int nr);
void ftrace_counts_reset(struct ftrace_counts *counts);
void ftrace_counts_forget_table(struct ftrace_table *table);

static inline unsigned int ftrace_count_groups(const struct ftrace_table *table)
{
	return DIV_ROUND_UP(table->nr, FTRACE_COUNT_GROUP);
}

/* How many of a table's records a group has. */
static inline unsigned int ftrace_count_group_size(const struct ftrace_table *table,
						   unsigned int group)
{
	return min(table->nr - group * FTRACE_COUNT_GROUP, FTRACE_COUNT_GROUP);
}

#endif /* _KERNEL_TRACE_CALLSET_COUNTS_H */
