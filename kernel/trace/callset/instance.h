/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a trace instance that is about function tracing by callsets; trace.h
 * includes this.
 */
#ifndef _KERNEL_TRACE_CALLSET_INSTANCE_H
#define _KERNEL_TRACE_CALLSET_INSTANCE_H

struct count_instance;
struct ftrace_cgroup_lists;
struct ftrace_pid_lists;
struct trace_buffer;
struct trace_guard;

/**
 * struct callset_instance - an instance's state of function tracing
 * @pids: its lists of pids
 * @cgroups: its lists of cgroups
 * @pid_bit: the bits of both in task_struct::ftrace_pid_ignored
 * @cgroup_bit: the bit of @cgroups; 0 without lists
 * @count: the state of the tracer count; trace_types_lock
 * @count_options: the options of the tracer count, COUNT_OPT_*
 * @guard: limits of its records
 * @kept_out: its buffer while it records nothing, as costs are measured
 */
struct callset_instance {
#ifdef CONFIG_FTRACE_CALLSETS
	struct ftrace_pid_lists	*pids;
	struct ftrace_cgroup_lists *cgroups;
	unsigned long		pid_bit;
	unsigned long		cgroup_bit;
	struct count_instance	*count;
	u32			count_options;
	struct trace_guard	*guard;
	struct trace_buffer	*kept_out;
#endif
};

#endif /* _KERNEL_TRACE_CALLSET_INSTANCE_H */
