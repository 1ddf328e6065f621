/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gates: how many calls are inside of code that may go away. See ftrace_gate.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_GATE_H
#define _KERNEL_TRACE_FTRACE_GATE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ftrace_arch.h>
#include <linux/percpu.h>

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
	/* What was done inside comes first, also where CPUs reorder stores. */
	smp_mb__before_atomic();
	this_cpu_inc(count->left);
}

struct ftrace_gate *ftrace_gate_alloc(void);
void ftrace_gate_get(struct ftrace_gate *gate);
void ftrace_gate_put(struct ftrace_gate *gate);
void ftrace_gate_close(void);
void ftrace_gate_wait(struct ftrace_gate_count __percpu *count);
void ftrace_gate_wait_each(struct ftrace_gate_count __percpu *count);

#endif /* _KERNEL_TRACE_FTRACE_GATE_H */
