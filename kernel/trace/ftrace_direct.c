// SPDX-License-Identifier: GPL-2.0
/*
 * Direct calls: sites that call somebody's own trampoline.
 *
 * A direct ops has no callback. The sites that it is alone on mostly call its
 * function themselves; elsewhere the callset's trampoline goes there when it is
 * done, with the registers and the stack as at the site.
 *
 * A direct function may call the function that it is attached to, and so says,
 * like an ops with FTRACE_OPS_FL_IPMODIFY, where that goes on. Both on one site
 * is for those that know of each other only: ops->ops_func of the direct one is
 * asked (enum ftrace_ops_cmd), and may exchange its function for one that finds
 * on the stack where to go.
 *
 * Lock order:
 *	direct_mutex > ftrace_lock
 * direct_mutex keeps direct ops registered or not while an ops_func is told of a
 * peer, for that may itself come back here to modify what is called. One that is
 * asked about itself may not: ftrace_lock is held.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>

#include "ftrace_internal.h"
#include "ftrace_site_set.h"

static DEFINE_MUTEX(direct_mutex);

static struct ftrace_callset *direct_callset_at(unsigned long ip)
{
	struct dyn_ftrace *rec = ftrace_site_find(ip);

	return rec ? ftrace_callset_get(ftrace_rec_callset(rec)) : NULL;
}

/* The one with FTRACE_OPS_FL_IPMODIFY, of which there is one at most, or NULL. */
static struct ftrace_ops *direct_peer_in(const struct ftrace_callset *cs)
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
 * ftrace_direct_lock - keep direct ops, and those with FTRACE_OPS_FL_IPMODIFY,
 * registered or not
 *
 * Context: process context, sleeps; ftrace_lock is not held.
 */
void ftrace_direct_lock(void)
{
	mutex_lock(&direct_mutex);
}

/**
 * ftrace_direct_unlock - undo ftrace_direct_lock()
 */
void ftrace_direct_unlock(void)
{
	mutex_unlock(&direct_mutex);
}

/**
 * ftrace_direct_ask_self - ask a direct ops whether it can be where others have
 * FTRACE_OPS_FL_IPMODIFY
 * @ops: the ops; one that cannot be asked is refused where it comes to share a callset
 * @set: the sites
 *
 * Context: ftrace_lock and direct_mutex are held.
 * Return: 0 if nobody is there, or if it can; else its answer.
 */
int ftrace_direct_ask_self(struct ftrace_ops *ops, const struct ftrace_site_set *set)
{
	struct ftrace_ops *peer = NULL;
	unsigned int i;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (!ops->ops_func)
		return 0;
	for (i = 0; !peer && i < set->nr; i++)
		peer = direct_peer_in(direct_callset_at(set->ip[i]));
	if (!peer)
		return 0;
	ret = ops->ops_func(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	/* Other answers are between the two: -EAGAIN means to try again. */
	if (ret == -EBUSY)
		ftrace_report_refusal(FTRACE_REFUSED_SHARE, set->ip[i - 1], ops, peer);
	return ret;
}

static struct ftrace_ops *direct_ops_at(unsigned long ip)
{
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);
	cs = direct_callset_at(ip);
	return cs ? cs->direct : NULL;
}

/**
 * ftrace_direct_tell_peers - tell direct ops that one with FTRACE_OPS_FL_IPMODIFY
 * comes to their sites, or has left them
 * @ops: the one that does
 * @set: the sites; NULL for none
 * @cmd: FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER, which they may refuse, or
 *	 FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER
 *
 * Context: process context, sleeps; direct_mutex is held, takes ftrace_lock.
 * Return: 0, or what one of them answered.
 */
int ftrace_direct_tell_peers(struct ftrace_ops *ops, const struct ftrace_site_set *set,
			     enum ftrace_ops_cmd cmd)
{
	bool enable = cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER;
	int ret = 0;

	lockdep_assert_held(&direct_mutex);

	for (unsigned int i = 0; set && !ret && i < set->nr; i++) {
		struct ftrace_ops *direct = direct_ops_at(set->ip[i]);

		if (!direct || !direct->ops_func)
			continue;
		ret = direct->ops_func(direct, cmd);
		/* To go back to what was is a favour. */
		if (!enable)
			ret = 0;
		if (ret == -EBUSY)
			ftrace_report_refusal(FTRACE_REFUSED_SHARE, set->ip[i], ops, direct);
	}
	return ret;
}

/* Tells the direct ops on all sites of @ops. */
static int direct_tell_all_peers(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
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
	ret = ftrace_direct_tell_peers(ops, set, cmd);
	ftrace_site_set_free(set);
	return ret;
}

/**
 * ftrace_direct_register_peer - register an ops with FTRACE_OPS_FL_IPMODIFY
 * @ops: the ops
 *
 * Context: process context, sleeps; takes direct_mutex and ftrace_lock.
 * Return: as register_ftrace_function(); or what a direct ops on one of its
 * sites answered.
 */
int ftrace_direct_register_peer(struct ftrace_ops *ops)
{
	int ret;

	guard(mutex)(&direct_mutex);

	ret = direct_tell_all_peers(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	return ret ?: ftrace_ops_register(ops);
}

/**
 * ftrace_direct_unregister_peer - an ops with FTRACE_OPS_FL_IPMODIFY has gone
 * @ops: the ops, unregistered
 *
 * Context: process context, sleeps; takes direct_mutex and ftrace_lock.
 */
void ftrace_direct_unregister_peer(struct ftrace_ops *ops)
{
	guard(mutex)(&direct_mutex);

	/* Without memory to tell them they stay prepared for one. */
	direct_tell_all_peers(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
}

static bool direct_is_registered(const struct ftrace_ops *ops)
{
	const unsigned long flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_DIRECT |
				    FTRACE_OPS_FL_ENABLED;

	return (ops->flags & flags) == flags;
}

static int direct_prepare(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	guard(mutex)(&ftrace_lock);

	if (!ops->filter->only || !ops->filter->only->nr)
		return -EINVAL;
	ret = ftrace_direct_ask_self(ops, ops->filter->only);
	if (ret)
		return ret;
	ops->func = ftrace_stub;
	ops->direct_call = addr;
	ops->flags |= FTRACE_OPS_FL_DIRECT;
	return 0;
}

/* So that it can be registered again. */
static void direct_reset(struct ftrace_ops *ops)
{
	ops->func = NULL;
	ops->direct_call = 0;
	ops->flags &= ~FTRACE_OPS_FL_DIRECT;
}

/**
 * register_ftrace_direct - let functions call a trampoline of one's own
 * @ops: an ops that has a filter of sites, and no callback
 * @addr: the trampoline, within reach of a CALL from the sites. It is entered
 *	  as if called from the site, and must keep the registers that hold the
 *	  function's arguments.
 *
 * Context: process context, sleeps; takes direct_mutex and ftrace_lock.
 * Return: 0; -EINVAL if it is registered already or has no sites; -EBUSY if one
 * of them has a direct call already; what @ops->ops_func answers where others
 * change the place to go on; or as register_ftrace_function(). On failure
 * nothing changed.
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	if (ops->func || !(ops->flags & FTRACE_OPS_FL_INITIALIZED) ||
	    (ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EINVAL;

	guard(mutex)(&direct_mutex);

	ret = direct_prepare(ops, addr);
	if (ret)
		return ret;
	ret = ftrace_ops_register(ops);
	if (ret)
		direct_reset(ops);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_direct);

/**
 * unregister_ftrace_direct - stop calling a trampoline
 * @ops: the ops
 * @addr: the trampoline
 * @free_filters: whether the filter of @ops goes, too
 *
 * Context: process context, sleeps; takes direct_mutex and ftrace_lock. Waits
 * for tasks that are in the trampoline if that is part of a module; otherwise
 * its owner does.
 * Return: 0; -EINVAL if @ops is not registered with @addr; -ENODEV after
 * ftrace_kill().
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr, bool free_filters)
{
	bool wait;
	int ret;

	scoped_guard(mutex, &direct_mutex) {
		if (!direct_is_registered(ops) || ops->direct_call != addr)
			return -EINVAL;
		wait = !ftrace_ops_is_permanent(ops);
		ret = ftrace_ops_unregister(ops);
		if (!ret)
			direct_reset(ops);
	}
	if (ret)
		return ret;

	if (wait)
		ftrace_wait_for_tasks();
	if (free_filters)
		ftrace_free_filter(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

/**
 * modify_ftrace_direct_nolock - exchange a trampoline
 * @ops: the ops
 * @addr: what its sites shall call instead of what they call now
 *
 * Every call reaches one of the two.
 *
 * Context: an ops_func, for FTRACE_OPS_CMD_*_SHARE_IPMODIFY_PEER, which runs
 * with direct_mutex held; takes ftrace_lock. A task may still be in the old
 * trampoline on return.
 * Return: 0; -EINVAL if @ops is not registered; or as ops_func answers.
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	lockdep_assert_held(&direct_mutex);

	if (!direct_is_registered(ops))
		return -EINVAL;

	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return -ENODEV;
	ret = ftrace_direct_ask_self(ops, ops->filter->only);
	if (!ret)
		ftrace_update_direct(ops, addr);
	return ret;
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct_nolock);

/**
 * modify_ftrace_direct - exchange a trampoline
 * @ops: the ops
 * @addr: what its sites shall call instead of what they call now
 *
 * Context: process context, sleeps; takes direct_mutex and ftrace_lock.
 * Return: as modify_ftrace_direct_nolock().
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&direct_mutex);

	return modify_ftrace_direct_nolock(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_direct_kunit.c"
#endif
