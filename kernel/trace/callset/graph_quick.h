/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The quick way of the tracer function_graph, see graph_quick.c, and the handlers that hooked
 * functions return to. For files that serve without callsets, too.
 */
#ifndef _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H
#define _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H

#include <linux/ftrace.h>
#ifdef CONFIG_FTRACE_CALLSETS
#include <linux/ftrace_arch.h>
#endif
#include <linux/types.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#ifdef CONFIG_FTRACE_CALLSETS
void graph_quick_choose(struct fgraph_ops *gops, bool plain);

/* Whether a hook has put an address in the place of a return address. */
static __always_inline bool fgraph_is_handler(unsigned long addr)
{
	return addr == FTRACE_RETURN_HANDLER || ftrace_times_is_handler(addr);
}
#else
static inline void graph_quick_choose(struct fgraph_ops *gops, bool plain)
{
}

static __always_inline bool fgraph_is_handler(unsigned long addr)
{
	return addr == (unsigned long)return_to_handler;
}
#endif
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#endif /* _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H */
