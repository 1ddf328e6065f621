/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The questions of tracers of the call graph to set_graph_function and set_graph_notrace, see
 * graph_filter.c. trace.h includes this, for both have the same names in ftrace.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_GRAPH_FILTER_H
#define _KERNEL_TRACE_CALLSET_GRAPH_FILTER_H

/* Whether there is a graph filter. */
extern bool ftrace_graph_filtered;

bool ftrace_graph_starts(unsigned long *task_var, const struct ftrace_graph_ent *trace);
bool ftrace_graph_hides(unsigned long ip);

/* Called where the task is in no function of set_graph_function yet (TRACE_GRAPH_FL). */
static inline int ftrace_graph_addr(unsigned long *task_var, struct ftrace_graph_ent *trace)
{
	return likely(!READ_ONCE(ftrace_graph_filtered)) || ftrace_graph_starts(task_var, trace);
}

static inline void ftrace_graph_addr_finish(struct fgraph_ops *gops, struct ftrace_graph_ret *trace)
{
	unsigned long *task_var = fgraph_get_task_var(gops);

	if ((*task_var & TRACE_GRAPH_FL) && trace->depth == ftrace_graph_depth(task_var))
		*task_var &= ~TRACE_GRAPH_FL;
}

static inline int ftrace_graph_notrace_addr(unsigned long addr)
{
	return unlikely(READ_ONCE(ftrace_graph_filtered)) && ftrace_graph_hides(addr);
}

#endif /* _KERNEL_TRACE_CALLSET_GRAPH_FILTER_H */
