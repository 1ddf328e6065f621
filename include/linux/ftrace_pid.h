/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that function tracing leaves out (set_ftrace_pid): the hooks of fork, exit and of
 * two tasks that exchange their pids. See kernel/trace/callset/pid.c.
 */
#ifndef _LINUX_FTRACE_PID_H
#define _LINUX_FTRACE_PID_H

#include <linux/minmax.h>
#include <linux/sched.h>

#ifdef CONFIG_FTRACE_CALLSETS
void ftrace_pid_fork_task(struct task_struct *child);
void ftrace_pid_release_task(struct task_struct *task);

/* Of two tasks that have exchanged their pids; tasklist_lock is held for writing. */
static inline void ftrace_pid_exchange_tasks(struct task_struct *left, struct task_struct *right)
{
	swap(left->ftrace_pid_ignored, right->ftrace_pid_ignored);
}
#else
static inline void ftrace_pid_fork_task(struct task_struct *child) { }
static inline void ftrace_pid_release_task(struct task_struct *task) { }
static inline void ftrace_pid_exchange_tasks(struct task_struct *left,
					     struct task_struct *right) { }
#endif

#endif /* _LINUX_FTRACE_PID_H */
