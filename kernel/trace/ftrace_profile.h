/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts and times of functions. See ftrace_profile.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_PROFILE_H
#define _KERNEL_TRACE_FTRACE_PROFILE_H

struct dentry;
struct ftrace_table;

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_add_table(struct ftrace_table *table);
void ftrace_profile_free_table(struct ftrace_table *table);
void ftrace_profile_init_tracefs(struct dentry *parent);
void ftrace_profile_sleep_time_changed(void);
#else
static inline void ftrace_profile_add_table(struct ftrace_table *table)
{
}

static inline void ftrace_profile_free_table(struct ftrace_table *table)
{
}

static inline void ftrace_profile_init_tracefs(struct dentry *parent)
{
}

static inline void ftrace_profile_sleep_time_changed(void)
{
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_PROFILE_H */
