/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by rethook.c and fprobe.c, which hooks most calls of all: the short way
 * from a cached node to a hooked return, with preemption disabled, and waiting for
 * handlers.
 */
#ifndef _KERNEL_TRACE_RETHOOK_INTERNAL_H
#define _KERNEL_TRACE_RETHOOK_INTERNAL_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/sched.h>

#include "ftrace_gate.h"

/**
 * struct rethook_cpu - a CPU's own part of a rethook
 * @cache: the node that it put back last, or NULL
 * @gate: counts the calls of the handler
 */
struct rethook_cpu {
	struct rethook_node		*cache;
	struct ftrace_gate_count	gate;
};

/* NULL once the rethook is stopped. */
static __always_inline rethook_handler_t rethook_handler(struct rethook *rh)
{
	return (rethook_handler_t)rcu_dereference_check(rh->handler, rcu_read_lock_any_held());
}

/*
 * As rethook_try_get(), but looks in one place only, and leaves it to the
 * caller to know that RCU is watching.
 */
static __always_inline struct rethook_node *rethook_get_cached(struct rethook *rh)
{
	if (unlikely(!rethook_handler(rh)))
		return NULL;
	return xchg(&this_cpu_ptr(rh->cpu)->cache, NULL);
}

/* As rethook_hook(). */
static __always_inline void rethook_hook_inline(struct rethook_node *node, struct pt_regs *regs,
						bool mcount)
{
	struct llist_head *stack = &current->rethooks;

	/*
	 * An interrupt that unwinds from here must find the node as soon as the
	 * return address is replaced, so the node is on the stack before that.
	 * Until then no frame is its own: it must not be taken for the one of
	 * a call that it was used for earlier.
	 */
	node->frame = 0;
	node->llist.next = stack->first;
	barrier();
	stack->first = &node->llist;
	arch_rethook_prepare(node, regs, mcount);
}

#endif /* _KERNEL_TRACE_RETHOOK_INTERNAL_H */
