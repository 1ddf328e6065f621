/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that tracing leaves out (set_ftrace_pid, set_ftrace_cgroup): the hooks of fork, exit,
 * of two tasks that exchange their pids, and of tasks that come to a cgroup. See
 * kernel/trace/callset/pid.c and cgroup.c. And the hook for the return stack of a new task: see
 * fgraph.c.
 */
#ifndef _LINUX_FTRACE_PID_H
#define _LINUX_FTRACE_PID_H

#include <linux/sched.h>

#ifdef CONFIG_FTRACE_CALLSETS
void ftrace_pid_fork_task(struct task_struct *child);
void ftrace_pid_release_task(struct task_struct *task);
void ftrace_pid_exchange_tasks(struct task_struct *left, struct task_struct *right);
void ftrace_cgroup_move_task(struct task_struct *task);
#else
static inline void ftrace_pid_fork_task(struct task_struct *child) { }
static inline void ftrace_pid_release_task(struct task_struct *task) { }
static inline void ftrace_pid_exchange_tasks(struct task_struct *left,
					     struct task_struct *right) { }
static inline void ftrace_cgroup_move_task(struct task_struct *task) { }
#endif

#if defined(CONFIG_FTRACE_CALLSETS) && defined(CONFIG_FUNCTION_GRAPH_TRACER)
void ftrace_graph_fork_task(struct task_struct *child);
#else
static inline void ftrace_graph_fork_task(struct task_struct *child) { }
#endif

#endif /* _LINUX_FTRACE_PID_H */
