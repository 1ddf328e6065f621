/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The quick way of the tracer function_graph. See graph_quick.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H
#define _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H

#include <linux/types.h>

struct fgraph_ops;

#ifdef CONFIG_FTRACE_CALLSETS
void graph_quick_choose(struct fgraph_ops *gops, bool plain);
#else
static inline void graph_quick_choose(struct fgraph_ops *gops, bool plain)
{
}
#endif

#endif /* _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H */
