/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guard knows of ops and sites. See ftrace_guarded.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_GUARDED_H
#define _KERNEL_TRACE_FTRACE_GUARDED_H

#include <linux/ftrace.h>

struct ftrace_site_set;

extern struct ftrace_ops *ftrace_guard;
extern struct ftrace_site_set *ftrace_guarded_out;

unsigned int ftrace_guarded_list(struct ftrace_ops **list, unsigned int nr);
void ftrace_guarded_forget_range(unsigned long start, unsigned long end);

/* The sites that an ops must not have, whatever its filter says; NULL for none. */
static inline const struct ftrace_site_set *ftrace_ops_out(const struct ftrace_ops *ops)
{
	return ops->guarded ? ftrace_guarded_out : NULL;
}

#endif /* _KERNEL_TRACE_FTRACE_GUARDED_H */
