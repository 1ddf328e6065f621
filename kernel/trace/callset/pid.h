/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tasks an ops is called for. See pid.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_PID_H
#define _KERNEL_TRACE_CALLSET_PID_H

#include <linux/sched.h>
#include <linux/types.h>

#include "../trace.h"

struct ftrace_ops;

/* Whether the pid lists of @tr let the current task be traced. Any context. */
static inline bool ftrace_pid_wants_current(const struct trace_array *tr)
{
	return !(READ_ONCE(current->ftrace_pid_ignored) & READ_ONCE(tr->callset.pid_bit));
}

void ftrace_pid_update_ops(struct ftrace_ops *ops);
void ftrace_pid_init_tracefs(struct trace_array *tr, struct dentry *parent);
void ftrace_pid_forget(struct trace_array *tr);

#endif /* _KERNEL_TRACE_CALLSET_PID_H */
