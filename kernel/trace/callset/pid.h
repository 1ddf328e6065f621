/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tasks an ops is called for. See pid.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_PID_H
#define _KERNEL_TRACE_CALLSET_PID_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "../trace.h"

struct ftrace_ops;

/* The bits of task_struct::ftrace_pid_ignored. */
#define FTRACE_PID_SLOTS	BITS_PER_LONG

/* See pid.c and cgroup.c. */
extern struct mutex ftrace_pid_mutex;
extern unsigned long ftrace_cgroup_slots;

/* Whether the lists of @tr, of pids and of cgroups, let the current task be traced. Any context. */
static inline bool ftrace_pid_wants_current(const struct trace_array *tr)
{
	return !(READ_ONCE(current->ftrace_pid_ignored) & READ_ONCE(tr->callset.pid_bit));
}

int ftrace_pid_free_slot(void);
void ftrace_pid_test_slot(struct trace_array *tr, unsigned int slot, bool test);
void ftrace_pid_update_ops(struct ftrace_ops *ops);
void ftrace_pid_init_tracefs(struct trace_array *tr, struct dentry *parent);
void ftrace_pid_forget(struct trace_array *tr);

#endif /* _KERNEL_TRACE_CALLSET_PID_H */
