/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gates: who is inside of code that may go away. See ftrace_gate.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_GATE_H
#define _KERNEL_TRACE_FTRACE_GATE_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/refcount.h>

/**
 * struct ftrace_gate_count - how often a gate was passed on one CPU
 * @entered: on the way in
 * @left: on the way out, which may be on another CPU
 */
struct ftrace_gate_count {
	unsigned int	entered;
	unsigned int	left;
};

/**
 * struct ftrace_gate - counts who is inside of an ops
 * @count: one for each CPU
 * @ref: the ops, and each callset whose trampoline counts here
 */
struct ftrace_gate {
	struct ftrace_gate_count __percpu	*count;
	refcount_t				ref;
};

/* Of ftrace_list_func(); preemption is disabled inside. */
DECLARE_PER_CPU(struct ftrace_gate_count, ftrace_list_gate);

/* In any context. Preemption may be enabled. */
static __always_inline void ftrace_gate_enter(struct ftrace_gate_count __percpu *count)
{
	this_cpu_inc(count->entered);
	barrier();
}

static __always_inline void ftrace_gate_leave(struct ftrace_gate_count __percpu *count)
{
	barrier();
	this_cpu_inc(count->left);
}

struct ftrace_gate *ftrace_gate_alloc(void);
void ftrace_gate_get(struct ftrace_gate *gate);
void ftrace_gate_put(struct ftrace_gate *gate);
void ftrace_gate_close(void);
void ftrace_gate_wait(struct ftrace_gate_count __percpu *count);
void ftrace_gate_wait_each(struct ftrace_gate_count __percpu *count);

#endif /* _KERNEL_TRACE_FTRACE_GATE_H */
