/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sharing a site. See ftrace_share.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_SHARE_H
#define _KERNEL_TRACE_FTRACE_SHARE_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

#include "ftrace_register.h"

struct ftrace_site_set;

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
extern struct mutex ftrace_share_mutex;

int ftrace_share_ask_self(struct ftrace_ops *ops, const struct ftrace_site_set *set);
int ftrace_share_tell_peers(struct ftrace_ops *ops, const struct ftrace_site_set *set,
			    enum ftrace_ops_cmd cmd);
int ftrace_share_register(struct ftrace_ops *ops);
void ftrace_share_unregister(struct ftrace_ops *ops);

static inline void ftrace_share_lock(void)
{
	mutex_lock(&ftrace_share_mutex);
}

static inline void ftrace_share_unlock(void)
{
	mutex_unlock(&ftrace_share_mutex);
}
#else
static inline int ftrace_share_ask_self(struct ftrace_ops *ops, const struct ftrace_site_set *set)
{
	return 0;
}

static inline int ftrace_share_tell_peers(struct ftrace_ops *ops,
					  const struct ftrace_site_set *set,
					  enum ftrace_ops_cmd cmd)
{
	return 0;
}

static inline int ftrace_share_register(struct ftrace_ops *ops)
{
	return ftrace_ops_register(ops);
}

static inline void ftrace_share_unregister(struct ftrace_ops *ops)
{
}

static inline void ftrace_share_lock(void)
{
}

static inline void ftrace_share_unlock(void)
{
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_SHARE_H */
