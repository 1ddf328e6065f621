/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registering an ops: the part that all ways to do it share. See ftrace_register.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_REGISTER_H
#define _KERNEL_TRACE_FTRACE_REGISTER_H

struct ftrace_ops;

int ftrace_ops_register(struct ftrace_ops *ops);
int ftrace_ops_unregister(struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_FTRACE_REGISTER_H */
