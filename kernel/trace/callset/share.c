// SPDX-License-Identifier: GPL-2.0
/*
 * Sharing a site: a direct ops beside one with FTRACE_OPS_FL_IPMODIFY.
 *
 * A direct function may call the function that it is attached to, and so says,
 * like an ops with FTRACE_OPS_FL_IPMODIFY, where that goes on. Both can be on one
 * site only if they know of each other: ops->ops_func of the direct one is asked
 * (enum ftrace_ops_cmd), and may exchange its function for one that finds on the
 * stack where to go.
 *
 * Lock order:
 *	ftrace_share_mutex > ftrace_lock
 * ftrace_share_mutex is held while an ops_func is told of a peer, for that may
 * itself modify the direct call. One that is asked about itself may not:
 * ftrace_lock is held.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "callset.h"
#include "ops.h"
#include "register.h"
#include "report.h"
#include "site_set.h"

/* For how long a direct ops may say that it is about to change. It sleeps before it does. */
#define SHARE_WAIT	(HZ / 10)

/* Keeps direct ops, and those with FTRACE_OPS_FL_IPMODIFY, registered or not. */
DEFINE_MUTEX(ftrace_share_mutex);

/* The one with FTRACE_OPS_FL_IPMODIFY, of which there is one at most, or NULL. */
static struct ftrace_ops *share_peer_in(const struct ftrace_callset *cs)
{
	if (!cs || !(cs->flags & FTRACE_OPS_FL_IPMODIFY))
		return NULL;
	for (unsigned int i = 0; i < cs->nr_ops; i++) {
		if (cs->ops[i]->flags & FTRACE_OPS_FL_IPMODIFY)
			return cs->ops[i];
	}
	return NULL;
}

/**
 * ftrace_share_ask_self - ask a direct ops whether it can be where others have
 * FTRACE_OPS_FL_IPMODIFY
 * @ops: the ops; one that cannot be asked is refused where it comes to share a callset
 * @set: the sites
 *
 * Context: ftrace_lock and ftrace_share_mutex are held.
 * Return: 0 if no such ops is there, or if it can; else its answer for the first site
 * that it refuses.
 */
int ftrace_share_ask_self(struct ftrace_ops *ops, const struct ftrace_site_set *set)
{
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	if (!ops->ops_func)
		return 0;
	for (unsigned int i = 0; !ret && i < set->nr; i++) {
		unsigned long ip = set->ip[i];
		struct ftrace_ops *peer = share_peer_in(ftrace_callset_at(ip));

		if (!peer)
			continue;
		ret = ops->ops_func(ops, ip, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
		/* Other answers are between the two: -EAGAIN means to try again. */
		if (ret == -EBUSY)
			ftrace_report_refusal(FTRACE_REFUSED_SHARE, ip, ops, peer);
	}
	return ret;
}

static struct ftrace_ops *share_direct_at(unsigned long ip)
{
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);
	cs = ftrace_callset_at(ip);
	return cs ? cs->direct : NULL;
}

/**
 * ftrace_share_tell_peers - tell direct ops that one with FTRACE_OPS_FL_IPMODIFY
 * comes to their sites, or has left them
 * @ops: the one that does
 * @set: the sites, or NULL
 * @cmd: FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER, which they may refuse, or
 *	 FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER
 *
 * Context: process context, sleeps; ftrace_share_mutex is held, takes ftrace_lock.
 * Return: 0, or the answer of one of them.
 */
int ftrace_share_tell_peers(struct ftrace_ops *ops, const struct ftrace_site_set *set,
			    enum ftrace_ops_cmd cmd)
{
	bool enable = cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER;
	int ret = 0;

	lockdep_assert_held(&ftrace_share_mutex);

	for (unsigned int i = 0; set && !ret && i < set->nr; i++) {
		struct ftrace_ops *direct = share_direct_at(set->ip[i]);

		if (!direct || !direct->ops_func)
			continue;
		ret = direct->ops_func(direct, set->ip[i], cmd);
		/* Best effort: a failure here is ignored. */
		if (!enable)
			ret = 0;
		if (ret == -EBUSY)
			ftrace_report_refusal(FTRACE_REFUSED_SHARE, set->ip[i], ops, direct);
	}
	return ret;
}

/* Tells the direct ops on all sites of @ops. */
static int share_tell_all_peers(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	struct ftrace_site_set *set = NULL;
	int ret;

	scoped_guard(mutex, &ftrace_lock) {
		ftrace_ops_init(ops);
		if (ops->filter->only)
			set = ftrace_site_set_dup(ops->filter->only);
		if (ops->filter->only && !set)
			return -ENOMEM;
	}
	ret = ftrace_share_tell_peers(ops, set, cmd);
	ftrace_site_set_free(set);
	return ret;
}

static int share_register(struct ftrace_ops *ops)
{
	int ret;

	guard(mutex)(&ftrace_share_mutex);

	ret = share_tell_all_peers(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	if (ret)
		return ret;
	guard(mutex)(&ftrace_lock);
	return ftrace_ops_register(ops);
}

/**
 * ftrace_share_again - whether an ops with FTRACE_OPS_FL_IPMODIFY is to come to a site once more
 * @ret: how it went
 * @end: 0 at first; takes the time until which it is tried
 *
 * Context: any; ftrace_share_mutex is not held, so that the direct ops can change.
 * Return: true if a direct ops there is about to change.
 */
bool ftrace_share_again(int ret, unsigned long *end)
{
	/* From the first answer on, which may have waited for locks. */
	*end = *end ?: (jiffies + SHARE_WAIT) | 1;
	return ret == -EAGAIN && time_before(jiffies, *end);
}

/**
 * ftrace_share_register - register an ops with FTRACE_OPS_FL_IPMODIFY
 * @ops: the ops
 *
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock.
 * Return: as register_ftrace_function(); or the answer of a direct ops on one
 * of its sites.
 */
int ftrace_share_register(struct ftrace_ops *ops)
{
	unsigned long end = 0;
	int ret;

	ftrace_retired_wait();
	do {
		ret = share_register(ops);
	} while (ftrace_share_again(ret, &end));
	return ret;
}

/**
 * ftrace_share_unregister - an ops with FTRACE_OPS_FL_IPMODIFY has gone
 * @ops: the ops, unregistered
 *
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock.
 */
void ftrace_share_unregister(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_share_mutex);

	/* Without memory to tell them they stay prepared for one. */
	share_tell_all_peers(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
}
