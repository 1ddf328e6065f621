/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times that the calls of sites took. See times.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_TIMES_H
#define _KERNEL_TRACE_CALLSET_TIMES_H

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kconfig.h>
#include <linux/types.h>

#include "counts.h"

/* Without it, nothing that is declared here may be called. */
#define FTRACE_HAS_TIMES	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER)

struct ftrace_count_table;

/**
 * enum ftrace_times_more - the numbers of a site beside its sums
 * @FTRACE_TIMES_NO_MORE: there are no others
 * @FTRACE_TIMES_SQUARE_TOTAL: the squares of the totals of calls
 * @FTRACE_TIMES_SQUARE_SELF: the squares of the calls' own times
 * @FTRACE_TIMES_LATENCY: the calls, counted by their time
 */
enum ftrace_times_more {
	FTRACE_TIMES_NO_MORE,
	FTRACE_TIMES_SQUARE_TOTAL,
	FTRACE_TIMES_SQUARE_SELF,
	FTRACE_TIMES_LATENCY,
};

/**
 * struct ftrace_times - a user of times
 * @gops: hooks the functions; its filter says which, and the private of its ops is the
 *	  instance whose pids and limits hold, or NULL
 * @meta: the meta word of its calls on return stacks, once it has been started
 * @counts: the times, a struct ftrace_time for each site; NULL before the first start
 * @core: those of the core kernel's sites
 * @off: calls on CPUs where this is not 0 are left out; NULL if there are no such CPUs
 * @more: the numbers beside the sums; changes while the user is stopped, but for squares of
 *	  one kind to those of the other
 * @node: in the list of those that are started
 */
struct ftrace_times {
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	struct fgraph_ops		gops;
	u64				meta;
#endif
	struct ftrace_counts		*counts;
	struct ftrace_count_table	*core;
	u32 __percpu			*off;
	enum ftrace_times_more		more;
	struct list_head		node;
};

void ftrace_times_init(struct ftrace_times *times, struct ftrace_ops *like);
int ftrace_times_start(struct ftrace_times *times);
void ftrace_times_stop(struct ftrace_times *times);
bool ftrace_times_is_started(const struct ftrace_times *times);
bool ftrace_is_of_times(const struct ftrace_ops *ops);
void ftrace_times_set_off(struct ftrace_times *times, u32 __percpu *off);
void ftrace_times_reset(struct ftrace_times *times);
void ftrace_times_drop(struct ftrace_times *times);
bool ftrace_times_has_latency(const struct ftrace_times *times);
const struct ftrace_time __percpu *ftrace_times_find(const struct ftrace_times *times,
						     const struct ftrace_table *table,
						     unsigned int index);
void ftrace_times_sleep_time_changed(void);

#endif /* _KERNEL_TRACE_CALLSET_TIMES_H */
