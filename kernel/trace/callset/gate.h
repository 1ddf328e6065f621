/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gates: how many calls are inside of code that may go away. See gate.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_GATE_H
#define _KERNEL_TRACE_CALLSET_GATE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ftrace_arch.h>
#include <linux/percpu.h>
#include <linux/refcount.h>

/**
 * struct ftrace_gate - counts the tasks inside of an ops
 * @count: one for each CPU
 * @ref: the ops, and each callset whose trampoline counts here
 */
struct ftrace_gate {
	struct ftrace_gate_count __percpu	*count;
	refcount_t				ref;
};

/* Of arch_ftrace_ops_list_func(); preemption is disabled inside. */
DECLARE_PER_CPU(struct ftrace_gate_count, ftrace_list_gate);

/*
 * An NMI may count between any two instructions, and the task may move to another CPU.
 * x86 adds to a counter of this CPU by one instruction, and keeps its store behind all
 * earlier ones. Elsewhere this_cpu_add() may be several instructions with interrupts
 * off, or take no care of the order. An atomic operation is right on any CPU's counter.
 */
static __always_inline void ftrace_gate_add(unsigned int __percpu *counter, unsigned int n)
{
	/* All that is inside stays between the two counts. */
	barrier();
	if (IS_ENABLED(CONFIG_X86))
		this_cpu_add(*counter, n);
	else
		raw_atomic_fetch_add_release(n, (atomic_t *)raw_cpu_ptr(counter));
	barrier();
}

/* In any context. Preemption may be enabled. */
static __always_inline void ftrace_gate_enter(struct ftrace_gate_count __percpu *count)
{
	ftrace_gate_add(&count->entered, 1);
}

static __always_inline void ftrace_gate_leave(struct ftrace_gate_count __percpu *count)
{
	ftrace_gate_add(&count->left, 1);
}

struct ftrace_gate *ftrace_gate_alloc(void);
void ftrace_gate_get(struct ftrace_gate *gate);
void ftrace_gate_put(struct ftrace_gate *gate);
void ftrace_gate_close(void);
void ftrace_gate_wait(struct ftrace_gate_count __percpu *count);
void ftrace_gate_wait_each(struct ftrace_gate_count __percpu *count);

#endif /* _KERNEL_TRACE_CALLSET_GATE_H */
