/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sharing a site. See ftrace_share.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_SHARE_H
#define _KERNEL_TRACE_FTRACE_SHARE_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

struct ftrace_site_set;

extern struct mutex ftrace_share_mutex;

int ftrace_share_ask_self(struct ftrace_ops *ops, const struct ftrace_site_set *set);
int ftrace_share_tell_peers(struct ftrace_ops *ops, const struct ftrace_site_set *set,
			    enum ftrace_ops_cmd cmd);
int ftrace_share_register(struct ftrace_ops *ops);
void ftrace_share_unregister(struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_FTRACE_SHARE_H */
