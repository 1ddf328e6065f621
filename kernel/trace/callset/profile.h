/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The function profiler. See profile.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_PROFILE_H
#define _KERNEL_TRACE_CALLSET_PROFILE_H

struct dentry;

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_init_tracefs(struct dentry *parent);
#else
static inline void ftrace_profile_init_tracefs(struct dentry *parent)
{
}
#endif

#endif /* _KERNEL_TRACE_CALLSET_PROFILE_H */
