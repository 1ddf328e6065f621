// SPDX-License-Identifier: GPL-2.0
/*
 * The users of transactions: ops come to their sites and leave them, and sites
 * follow when a filter or a function changes, or text comes and goes.
 *
 * Invariants:
 *  1. An ops on the list is attached to the sites that its filter wants, except
 *     those in quarantine.
 *  2. An ops that may go away, and whose callback returns to its caller, has a gate
 *     from before its first site calls it until no task is inside.
 *
 * ftrace_lock covers all of it.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>

#include <asm/sections.h>

#include "attach.h"
#include "callset.h"
#include "gate.h"
#include "ops.h"
#include "site_set.h"
#include "sites.h"

/*
 * Callers can count the tasks inside of a callback that returns to them. A direct ops
 * has code that is entered, and one with FTRACE_OPS_FL_IPMODIFY names code where the
 * task goes on: no caller sees when a task has left that.
 */
static bool attach_ops_goes_on(const struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_IPMODIFY);
}

static void attach_ops_forget(struct ftrace_ops *ops)
{
	list_del_init(&ops->list);
	hlist_del_init(&ops->filter_user);
	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	ops->func = ops->saved_func;
}

/**
 * ftrace_attach - register an ops and attach it to the sites that it wants
 * @ops: initialized and not registered
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0; -ENODEV after ftrace_kill(); -EBUSY, -ENOMEM, -ENOSPC as from
 * ftrace_callset_with(), with the ops as it was; -EFAULT, with the ops as it was too,
 * if all sites that it wants are in quarantine, or one if it may go around the function.
 */
int ftrace_attach(struct ftrace_ops *ops)
{
	struct ftrace_gate *gate = ops->gate;
	static unsigned int seq;
	int ret;

	if (ftrace_disabled)
		return -ENODEV;
	if (!is_kernel_core_data((unsigned long)ops))
		ops->flags |= FTRACE_OPS_FL_DYNAMIC;
	/* It has one still if its owner did not wait after it was detached. */
	if (!ops->gate && !attach_ops_goes_on(ops) && !ftrace_ops_is_permanent(ops)) {
		ops->gate = ftrace_gate_alloc();
		if (!ops->gate)
			return -ENOMEM;
	}
	ops->saved_func = ops->func;
	ops->seq = ++seq;
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	list_add_tail(&ops->list, &ftrace_ops_registered);
	hlist_add_head(&ops->filter_user, &ops->filter->users);
	if (ops->choose_func)
		ops->choose_func(ops);

	ret = ftrace_update_attach(ops);
	if (ret) {
		/* Callsets were made for it that have no sites. */
		ftrace_update_detach(ops);
		attach_ops_forget(ops);
		if (ops->gate != gate)
			ftrace_gate_put(ops->gate);
		ops->gate = gate;
	}
	return ret;
}

/**
 * ftrace_detach - take an ops away from all its sites and unregister it
 * @ops: registered
 *
 * Context: ftrace_lock is held; sleeps. On return no callset names the ops and no
 * trampoline calls it. A task may still be inside; see ftrace_ops_wait().
 */
void ftrace_detach(struct ftrace_ops *ops)
{
	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	ftrace_update_detach(ops);
	attach_ops_forget(ops);
}

/**
 * ftrace_ops_wait - wait until no task is inside of an ops, or where it sent the task
 * @ops: detached
 *
 * Returns at once if nothing of the ops can go away.
 *
 * Context: process context, sleeps; ftrace_lock is not held.
 */
void ftrace_ops_wait(struct ftrace_ops *ops)
{
	if (attach_ops_goes_on(ops) && !ftrace_ops_is_permanent(ops))
		ftrace_wait_for_tasks();
	if (!ops->gate)
		return;
	ftrace_gate_close();
	ftrace_gate_wait(ops->gate->count);
	ftrace_gate_wait_each(&ftrace_list_gate);
	ftrace_gate_put(ops->gate);
	ops->gate = NULL;
}

static int attach_refilter(struct ftrace_filter *filter, struct ftrace_site_set *only,
			   struct ftrace_site_set *not, const struct ftrace_site_set *sites)
{
	struct ftrace_site_set *old_only = filter->only, *old_not = filter->not;
	int ret;

	filter->only = only;
	filter->not = not;
	ret = ftrace_update_filter(filter, sites, true);
	if (ret) {
		filter->only = old_only;
		filter->not = old_not;
		return ret;
	}
	if (only != old_only)
		ftrace_site_set_free(old_only);
	if (not != old_not)
		ftrace_site_set_free(old_not);
	return 0;
}

/**
 * ftrace_refilter - change which sites the ops with a filter want
 * @filter: the filter
 * @only: its new @only, or NULL; the filter owns it on success
 * @not: its new @not, or NULL; the filter owns it on success
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, with the old sets freed; or as ftrace_attach(), with the old sets
 * in force and the new ones still the caller's.
 */
int ftrace_refilter(struct ftrace_filter *filter, struct ftrace_site_set *only,
		    struct ftrace_site_set *not)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	/* Where both are lists, no other site can be concerned. */
	if (only && filter->only) {
		sites = ftrace_site_set_union(only, filter->only);
		if (!sites)
			return -ENOMEM;
	}
	return attach_refilter(filter, only, not, sites);
}

/**
 * ftrace_refilter_sites - ftrace_refilter() where it is known which sites it is about
 * @filter: the filter, which has a list of sites
 * @only: its new @only; the filter owns it on success
 * @sites: those in which the new list and the old one differ
 *
 * Context and Return: as there.
 */
int ftrace_refilter_sites(struct ftrace_filter *filter, struct ftrace_site_set *only,
			  const struct ftrace_site_set *sites)
{
	return attach_refilter(filter, only, filter->not, sites);
}

/**
 * ftrace_detach_table - forget the sites of text that is going away
 * @table: its records; the text is not executed any more, nor written here
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_detach_table(struct ftrace_table *table)
{
	struct ftrace_callset *cs;
	struct ftrace_record *rec;
	u32 nr;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_callset(cs, nr) {
		if (ftrace_stubs_used(cs))
			ftrace_stubs_forget_table(cs, table);
	}
	for_each_ftrace_rec(table, rec) {
		ftrace_callset_add_sites(ftrace_callset_get(ftrace_rec_callset(rec)), -1);
		rec->state = 0;
	}
	ftrace_callsets_drop_idle();
}

/**
 * ftrace_ops_set_func - change the callback of an ops
 * @ops: the ops
 * @func: its new callback
 *
 * Context: ftrace_lock is held; sleeps. All CPUs call @func on return; a task
 * may still be in the old callback.
 */
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_func_t from = ftrace_ops_get_func(ops), to;
	struct ftrace_callset_link *link;
	struct ftrace_patch *patch;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(ops->func, func);
	to = ftrace_ops_get_func(ops);
	if (from == to || hlist_empty(&ops->callsets))
		return;

	patch = arch_ftrace_patch_begin(16);
	for_each_ftrace_link(link, ops)
		ftrace_callset_retarget(link, patch, to);
	arch_ftrace_patch_end(patch);
}
