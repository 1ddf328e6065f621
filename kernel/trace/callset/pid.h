/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tasks an ops is called for. See ftrace_pid.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_PID_H
#define _KERNEL_TRACE_FTRACE_PID_H

#include <linux/types.h>

struct ftrace_ops;

void ftrace_pid_update_ops(struct ftrace_ops *ops);
bool ftrace_pids_enabled(struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_FTRACE_PID_H */
