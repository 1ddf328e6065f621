/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The quick way of the tracer function_graph, see graph_quick.c, and the handlers that hooked
 * functions return to. For files that serve without callsets, too.
 */
#ifndef _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H
#define _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H

#include <linux/bits.h>
#include <linux/ftrace.h>
#ifdef CONFIG_FTRACE_CALLSETS
#include <linux/ftrace_arch.h>
#endif
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/types.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/**
 * enum graph_quick - how function_graph records calls
 * @GRAPH_QUICK: all of them, by their whole time
 * @GRAPH_QUICK_ARGS: with their arguments
 * @GRAPH_QUICK_RETADDR: with the address that they return to
 */
enum graph_quick {
	GRAPH_QUICK		= BIT(0),
	GRAPH_QUICK_ARGS	= BIT(1),
	GRAPH_QUICK_RETADDR	= BIT(2),
};

#ifdef CONFIG_FTRACE_CALLSETS
void graph_quick_choose(struct fgraph_ops *gops, unsigned int how);

/* Whether a hook has put an address in the place of a return address. */
static __always_inline bool fgraph_is_handler(unsigned long addr)
{
	return addr == FTRACE_RETURN_HANDLER || ftrace_times_is_handler(addr);
}

/*
 * Whether a function that returns to an address has another caller. A kretprobe whose probe is a
 * breakpoint before the site has hooked the function by then; one that uses the site has not.
 */
static __always_inline bool fgraph_hides_caller(unsigned long addr)
{
	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) && is_kretprobe_trampoline(addr))
		return true;
	return fgraph_is_handler(addr);
}

unsigned long fgraph_true_parent(unsigned long parent_ip, struct ftrace_regs *fregs);
#else
static inline void graph_quick_choose(struct fgraph_ops *gops, unsigned int how)
{
}

static __always_inline bool fgraph_hides_caller(unsigned long addr)
{
	return addr == (unsigned long)return_to_handler;
}

static inline unsigned long fgraph_true_parent(unsigned long parent_ip, struct ftrace_regs *fregs)
{
	unsigned long *place = (unsigned long *)ftrace_regs_get_stack_pointer(fregs);
	int idx = 0;

	return ftrace_graph_ret_addr(current, &idx, parent_ip, place);
}
#endif
#else
static inline unsigned long fgraph_true_parent(unsigned long parent_ip, struct ftrace_regs *fregs)
{
	return parent_ip;
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#endif /* _KERNEL_TRACE_CALLSET_GRAPH_QUICK_H */
