/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer that counts calls. See trace_count.c.
 */
#ifndef _KERNEL_TRACE_TRACE_COUNT_H
#define _KERNEL_TRACE_TRACE_COUNT_H

struct dentry;
struct trace_array;

#ifdef CONFIG_DYNAMIC_FTRACE
void trace_count_create_files(struct trace_array *tr, struct dentry *parent);
void trace_count_forget(struct trace_array *tr);
#else
static inline void trace_count_create_files(struct trace_array *tr, struct dentry *parent)
{
}

static inline void trace_count_forget(struct trace_array *tr)
{
}
#endif

#endif /* _KERNEL_TRACE_TRACE_COUNT_H */
