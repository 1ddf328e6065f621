// SPDX-License-Identifier: GPL-2.0
/*
 * Direct calls: sites that call a trampoline which the owner of the ops has made.
 *
 * A direct ops has no callback. The sites that it is alone on mostly call its
 * function themselves; elsewhere the callset's trampoline goes there when it is
 * done, with the registers and the stack as at the site.
 *
 * ftrace_share.c is about a direct ops and others that have to agree on a site.
 *
 * Lock order:
 *	ftrace_share_mutex > ftrace_lock
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>

#include "attach.h"
#include "callset.h"
#include "ops.h"
#include "quarantine.h"
#include "register.h"
#include "site_set.h"
#include "sites.h"

static bool direct_is_registered(const struct ftrace_ops *ops)
{
	const unsigned long flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_DIRECT |
				    FTRACE_OPS_FL_ENABLED;

	return (ops->flags & flags) == flags;
}

/* A site that calls its direct function without a trampoline. */
static void direct_move_site(struct ftrace_ops *ops, unsigned long ip, unsigned long addr,
			     struct ftrace_patch *patch)
{
	const struct ftrace_callset *cs = ftrace_callset_at(ip);

	if (!cs || !ftrace_callset_is_direct(cs) || cs->direct != ops)
		return;
	if (arch_ftrace_check_site(ip, ops->direct_call) != FTRACE_SITE_OK) {
		ftrace_quarantine(ftrace_site_find(ip), ip, ops->direct_call);
		return;
	}
	arch_ftrace_patch_move(patch, ops->direct_call, cs);
	arch_ftrace_patch_add(patch, ip, addr);
}

/* No CPU enters the old function any more on return; a task may still be in it. */
static void direct_move(struct ftrace_ops *ops, unsigned long addr)
{
	const struct ftrace_site_set *set = ops->filter->only;
	struct ftrace_callset_link *link;
	struct ftrace_patch *patch;

	patch = arch_ftrace_patch_begin(set->nr + 16);
	for (unsigned int i = 0; i < set->nr; i++)
		direct_move_site(ops, set->ip[i], addr, patch);
	for_each_ftrace_link(link, ops) {
		arch_ftrace_tramp_redirect(patch, link->cs, addr);
		if (ftrace_callset_is_direct(link->cs) && link->cs->target)
			link->cs->target = addr;
	}
	arch_ftrace_patch_end(patch);
	ops->direct_call = addr;
}

static int direct_prepare(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	guard(mutex)(&ftrace_lock);

	if (!ops->filter->only || !ops->filter->only->nr)
		return -EINVAL;
	ret = ftrace_share_ask_self(ops, ops->filter->only);
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
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock.
 * Return: 0; -EINVAL if it is registered already or has no sites; -EBUSY if one
 * of them has a direct call already; the answer of @ops->ops_func where others
 * change the place to go on; or as register_ftrace_function(). On failure
 * nothing changed.
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	if (ops->func || !(ops->flags & FTRACE_OPS_FL_INITIALIZED) ||
	    (ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EINVAL;

	guard(mutex)(&ftrace_share_mutex);

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
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock. Waits
 * for tasks that are in the trampoline if that is part of a module; otherwise
 * its owner does.
 * Return: 0; -EINVAL if @ops is not registered with @addr.
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr, bool free_filters)
{
	int ret;

	scoped_guard(mutex, &ftrace_share_mutex) {
		if (!direct_is_registered(ops) || ops->direct_call != addr)
			return -EINVAL;
		ret = ftrace_ops_unregister(ops);
		if (ret)
			return ret;
	}
	ftrace_ops_wait(ops);
	direct_reset(ops);
	if (free_filters)
		ftrace_free_filter(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

/**
 * modify_ftrace_direct_nolock - exchange a trampoline
 * @ops: the ops
 * @addr: the trampoline that its sites are to call from now on
 *
 * Every call reaches one of the two.
 *
 * Context: an ops_func, for FTRACE_OPS_CMD_*_SHARE_IPMODIFY_PEER, which runs
 * with ftrace_share_mutex held; takes ftrace_lock. A task may still be in the old
 * trampoline on return.
 * Return: 0; -EINVAL if @ops is not registered; or as ops_func answers.
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	lockdep_assert_held(&ftrace_share_mutex);

	if (!direct_is_registered(ops))
		return -EINVAL;

	guard(mutex)(&ftrace_lock);

	ret = ftrace_share_ask_self(ops, ops->filter->only);
	if (!ret)
		direct_move(ops, addr);
	return ret;
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct_nolock);

/**
 * modify_ftrace_direct - exchange a trampoline
 * @ops: the ops
 * @addr: the trampoline that its sites are to call from now on
 *
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock.
 * Return: as modify_ftrace_direct_nolock().
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&ftrace_share_mutex);

	return modify_ftrace_direct_nolock(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/direct_kunit.c"
#endif
