/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registering an ops: the part that all ways to do it share (register.c), and where
 * it has to agree with others on a site (share.c).
 */
#ifndef _KERNEL_TRACE_CALLSET_REGISTER_H
#define _KERNEL_TRACE_CALLSET_REGISTER_H

#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct ftrace_site_set;

int ftrace_ops_register(struct ftrace_ops *ops);
int ftrace_ops_unregister(struct ftrace_ops *ops);

extern struct mutex ftrace_share_mutex;

int ftrace_share_ask_self(struct ftrace_ops *ops, const struct ftrace_site_set *set);
int ftrace_share_tell_peers(struct ftrace_ops *ops, const struct ftrace_site_set *set,
			    enum ftrace_ops_cmd cmd);
bool ftrace_share_again(int ret, unsigned long *end);
int ftrace_share_register(struct ftrace_ops *ops);
void ftrace_share_unregister(struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_CALLSET_REGISTER_H */
