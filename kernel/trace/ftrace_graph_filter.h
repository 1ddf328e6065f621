/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filters of the function graph tracer. See ftrace_graph_filter.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_GRAPH_FILTER_H
#define _KERNEL_TRACE_FTRACE_GRAPH_FILTER_H

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end);
#else
static inline void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end)
{
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_GRAPH_FILTER_H */
