/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer that counts calls, and its files. See trace_count.c and trace_count_file.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_TRACE_COUNT_H
#define _KERNEL_TRACE_CALLSET_TRACE_COUNT_H

#include <linux/bits.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/types.h>

struct dentry;
struct trace_array;

#include "times.h"

enum {
	COUNT_OPT_SORTED	= BIT(0),
	COUNT_OPT_CPUS		= BIT(1),
	COUNT_OPT_CALLERS	= BIT(2),
	COUNT_OPT_TIMES		= BIT(3),
	COUNT_OPT_LATENCY	= BIT(4),
	/* Of every instance that counts. */
	COUNT_OPT_CALLS		= BIT(31),
};

/**
 * struct count_instance - an instance that counts, or did
 * @tr: the instance
 * @counts: the calls of each site
 * @callers: the calls of each pair; stays while @callers_ops is registered; or NULL
 * @callers_ops: counts pairs while it is registered
 * @times: how long the calls took
 * @since: when the calls were zero, by ktime_get_ns()
 * @retiree: frees it, but the top one
 */
struct count_instance {
	struct trace_array	*tr;
	struct ftrace_counts	*counts;
	struct ftrace_callers	*callers;
	struct ftrace_ops	callers_ops;
	struct ftrace_times	times;
	u64			since;
	struct ftrace_retiree	retiree;
};

u32 trace_count_options(const struct trace_array *tr);
void trace_count_zero(struct trace_array *tr);

#ifdef CONFIG_COUNT_TRACER
bool trace_count_rate(const struct trace_array *tr, unsigned long ip, u64 *rate);
void trace_count_create_files(struct trace_array *tr, struct dentry *parent);
void trace_count_forget(struct trace_array *tr);
#else
static inline bool trace_count_rate(const struct trace_array *tr, unsigned long ip, u64 *rate)
{
	return false;
}

static inline void trace_count_create_files(struct trace_array *tr, struct dentry *parent)
{
}

static inline void trace_count_forget(struct trace_array *tr)
{
}
#endif

#endif /* _KERNEL_TRACE_CALLSET_TRACE_COUNT_H */
