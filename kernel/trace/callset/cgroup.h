/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which cgroups an instance traces. See cgroup.c. With stock's engine there are no such
 * lists, and the functions below say so.
 */
#ifndef _KERNEL_TRACE_CALLSET_CGROUP_H
#define _KERNEL_TRACE_CALLSET_CGROUP_H

#include <linux/sched.h>
#include <linux/types.h>

#include "../trace.h"

struct dentry;

#if defined(CONFIG_FTRACE_CALLSETS) && defined(CONFIG_CGROUPS)
/* Whether @tr has a list of cgroups. Any context. */
static inline bool ftrace_cgroup_has_list(const struct trace_array *tr)
{
	return READ_ONCE(tr->callset.cgroup_bit);
}

/* Whether the lists of @tr let the events of the current task be recorded. Any context. */
static inline bool ftrace_cgroup_wants_current(const struct trace_array *tr)
{
	return !(READ_ONCE(current->ftrace_pid_ignored) & READ_ONCE(tr->callset.cgroup_bit));
}

void ftrace_cgroup_init_tracefs(struct trace_array *tr, struct dentry *parent);
void ftrace_cgroup_forget(struct trace_array *tr);
#else
static inline bool ftrace_cgroup_has_list(const struct trace_array *tr)
{
	return false;
}

static inline bool ftrace_cgroup_wants_current(const struct trace_array *tr)
{
	return true;
}

static inline void ftrace_cgroup_init_tracefs(struct trace_array *tr, struct dentry *parent) { }
static inline void ftrace_cgroup_forget(struct trace_array *tr) { }
#endif

#endif /* _KERNEL_TRACE_CALLSET_CGROUP_H */
