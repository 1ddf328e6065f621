// SPDX-License-Identifier: GPL-2.0
/*
 * Direct calls: sites that call a trampoline which the owner of the ops has made.
 *
 * A direct ops has no callback. The sites that it is alone on mostly call its
 * function themselves; elsewhere the callset's trampoline goes there when it is
 * done, with the registers and the stack as at the site.
 *
 * All sites of an ops have one function (ops->direct_call), or each has one of its own.
 * Then the callset of the site knows it, and a transaction that adds or changes sites
 * takes it from ops->direct_hash. Bit 0 of an address (ftrace_is_jmp()) is part of it
 * everywhere, and is for the architecture.
 *
 * share.c is about a direct ops and others that have to agree on a site.
 *
 * Lock order:
 *	ftrace_share_mutex > ftrace_lock
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>
#include <linux/module.h>

#include "attach.h"
#include "callset.h"
#include "filter.h"
#include "ops.h"
#include "register.h"
#include "report.h"
#include "site_set.h"
#include "sites.h"
#include "../trace.h"

static bool direct_is_registered(const struct ftrace_ops *ops)
{
	const unsigned long flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_DIRECT |
				    FTRACE_OPS_FL_ENABLED;

	return (ops->flags & flags) == flags;
}

/* Whether each of its sites has a function of its own. */
static bool direct_is_each(const struct ftrace_ops *ops)
{
	return direct_is_registered(ops) && !ops->direct_call;
}

/* Also makes it ready to be registered again. */
static void direct_reset(struct ftrace_ops *ops)
{
	ops->func = NULL;
	ops->direct_call = 0;
	ops->flags &= ~FTRACE_OPS_FL_DIRECT;
}

/* @addr is the function of all sites; 0 if @ops->direct_hash has one for each of them. */
static int direct_attach(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_site_set_nr(ops->filter->only))
		return -EINVAL;
	ret = ftrace_share_ask_self(ops, ops->filter->only);
	if (ret)
		return ret;
	ops->func = ftrace_stub;
	ops->direct_call = addr;
	ops->flags |= FTRACE_OPS_FL_DIRECT;
	ret = ftrace_ops_register(ops);
	if (ret)
		direct_reset(ops);
	return ret;
}

/**
 * register_ftrace_direct - let functions call a trampoline of one's own
 * @ops: an ops that has a filter of sites, and no callback
 * @addr: the trampoline, within reach of a CALL from the sites. It is entered
 *	  as if called from the site, and must keep the registers that hold the
 *	  function's arguments. It is at an even address: bit 0 of @addr
 *	  says that sites jump to it, as ftrace_is_jmp() tells.
 *
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock.
 * Return: 0; -EINVAL if it is registered already or has no sites; -EBUSY if one
 * of them has a direct call already; the answer of @ops->ops_func where others
 * change the place to go on; or as register_ftrace_function(). On failure
 * nothing changed.
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	ftrace_retired_wait();
	guard(mutex)(&ftrace_share_mutex);
	guard(mutex)(&ftrace_lock);

	if (ops->func || !(ops->flags & FTRACE_OPS_FL_INITIALIZED) ||
	    (ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EINVAL;
	return direct_attach(ops, addr);
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
 * Return: 0; -EINVAL if @ops is not registered with @addr, whatever ftrace_is_jmp() says of
 * it.
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr, bool free_filters)
{
	int ret;

	scoped_guard(mutex, &ftrace_share_mutex) {
		if (!direct_is_registered(ops) ||
		    ftrace_jmp_get(ops->direct_call) != ftrace_jmp_get(addr))
			return -EINVAL;
		scoped_guard(mutex, &ftrace_lock)
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
 * Return: 0; -EINVAL if @ops is not registered; -ENOMEM; or as ops_func answers. On
 * failure nothing changed.
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	unsigned long old;
	int ret;

	lockdep_assert_held(&ftrace_share_mutex);

	if (!direct_is_registered(ops) || !ops->direct_call)
		return -EINVAL;

	guard(mutex)(&ftrace_lock);

	ret = ftrace_share_ask_self(ops, ops->filter->only);
	if (ret)
		return ret;
	old = ops->direct_call;
	ops->direct_call = addr;
	ret = ftrace_update_filter(ops->filter, ops->filter->only, true);
	if (ret)
		ops->direct_call = old;
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

/* Many functions at a time */

/* Return: the sites of a hash, or NULL without memory. */
static struct ftrace_site_set *direct_hash_sites(const struct ftrace_hash *hash)
{
	struct ftrace_site_set *sites = ftrace_site_set_alloc(hash->count);
	struct ftrace_func_entry *entry;
	unsigned int nr = 0;

	for (unsigned long i = 0; sites && i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist)
			sites->ip[nr++] = entry->ip;
	}
	if (sites)
		ftrace_site_set_sort(sites);
	return sites;
}

/* Modules wait for tasks in their functions by this; others do it themselves. */
static bool direct_hash_has_module(const struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;

	for (unsigned long i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			if (is_module_text_address(ftrace_jmp_get(entry->direct)))
				return true;
		}
	}
	return false;
}

/* The function that @ops has a site call; 0 if it is not there. */
static unsigned long direct_at(const struct ftrace_ops *ops, unsigned long ip)
{
	const struct ftrace_callset *cs = ftrace_callset_at(ip);

	return cs && cs->direct == ops ? cs->direct_addr : 0;
}

static bool direct_is_free(unsigned long ip)
{
	const struct ftrace_record *rec = ftrace_site_find(ip);
	const struct ftrace_callset *cs = ftrace_callset_at(ip);

	return rec && !ftrace_rec_quarantined(rec) && !(cs && cs->direct);
}

/* Takes over @sites on success. */
static int direct_add_first(struct ftrace_ops *ops, struct ftrace_site_set *sites)
{
	int ret;

	if (ops->func || ops->filter != &ops->own_filter || ops->filter->only)
		return -EINVAL;
	ops->filter->only = sites;
	ret = direct_attach(ops, 0);
	if (ret)
		ops->filter->only = NULL;
	return ret;
}

static int direct_add_more(struct ftrace_ops *ops, const struct ftrace_site_set *sites)
{
	struct ftrace_site_set *all __free(site_set) = NULL;
	int ret = ftrace_share_ask_self(ops, sites);

	if (ret)
		return ret;
	all = ftrace_site_set_union(ops->filter->only, sites);
	if (!all)
		return -ENOMEM;
	ret = ftrace_refilter_sites(ops->filter, all, sites);
	if (!ret)
		retain_and_null_ptr(all);
	return ret;
}

/**
 * update_ftrace_direct_add - let functions call trampolines of one's own, each another one
 * @ops: an ops without a callback; registered by this, or before by this
 * @hash: the sites, and the trampoline of each, see register_ftrace_direct()
 *
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock.
 * Return: 0; -EINVAL if @hash is empty, if one of its sites has a direct call already,
 * is in quarantine or is no site, or if @ops is in use otherwise; the answer of
 * @ops->ops_func where others change the place to go on; or as
 * register_ftrace_function(). On failure nothing changed.
 */
int update_ftrace_direct_add(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;
	int ret;

	if (!ftrace_hash_count(hash))
		return -EINVAL;
	sites = direct_hash_sites(hash);
	if (!sites)
		return -ENOMEM;

	ftrace_retired_wait();
	guard(mutex)(&ftrace_share_mutex);
	guard(mutex)(&ftrace_lock);

	ftrace_ops_init(ops);
	for (unsigned int i = 0; i < sites->nr; i++) {
		if (!direct_is_free(sites->ip[i]))
			return -EINVAL;
	}
	if ((ops->flags & FTRACE_OPS_FL_ENABLED) && !direct_is_each(ops))
		return -EINVAL;
	/* Each may be a callset of its own. */
	if (!ftrace_callset_has_numbers(sites->nr))
		return -ENOSPC;

	ops->direct_hash = hash;
	if (ops->flags & FTRACE_OPS_FL_ENABLED) {
		ret = direct_add_more(ops, sites);
	} else {
		ret = direct_add_first(ops, sites);
		if (!ret)
			retain_and_null_ptr(sites);
	}
	ops->direct_hash = NULL;
	ftrace_filter_track(ops->filter);
	return ret;
}

/* A site in quarantine calls nothing, and must not keep the others attached. */
static bool direct_may_del(const struct ftrace_ops *ops, unsigned long ip, unsigned long addr)
{
	const struct ftrace_record *rec = ftrace_site_find(ip);

	if (rec && ftrace_rec_quarantined(rec))
		return ftrace_site_set_has(ops->filter->only, ip);
	return addr && direct_at(ops, ip) == addr;
}

static int direct_del(struct ftrace_ops *ops, struct ftrace_hash *hash,
		      const struct ftrace_site_set *sites)
{
	struct ftrace_filter *filter = ops->filter;
	struct ftrace_site_set *rest __free(site_set) = NULL;
	int ret = 0;

	for (unsigned int i = 0; i < sites->nr; i++) {
		unsigned long ip = sites->ip[i];

		if (!direct_may_del(ops, ip, ftrace_lookup_ip(hash, ip)->direct))
			return -EINVAL;
	}
	rest = ftrace_site_set_minus(filter->only, sites);
	if (!rest)
		return -ENOMEM;
	if (rest->nr) {
		ret = ftrace_refilter_sites(filter, rest, sites);
		if (!ret)
			retain_and_null_ptr(rest);
	} else {
		/* Nothing is left: so that it can be registered again. */
		ftrace_ops_unregister(ops);
		direct_reset(ops);
		ftrace_site_set_free(filter->only);
		filter->only = NULL;
	}
	ftrace_filter_track(filter);
	return ret;
}

/**
 * update_ftrace_direct_del - stop calling trampolines
 * @ops: an ops of update_ftrace_direct_add(); unregistered with its last site
 * @hash: the sites, and the trampoline that each calls
 *
 * Context: process context, sleeps; takes ftrace_share_mutex and ftrace_lock. Waits
 * for tasks that are in a trampoline if that is part of a module; otherwise
 * its owner does.
 * Return: 0; -EINVAL if @hash is empty, or if a site that is not in quarantine does not
 * call its trampoline for @ops; -ENOMEM. On failure nothing changed.
 */
int update_ftrace_direct_del(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;
	int ret = -EINVAL;

	if (!ftrace_hash_count(hash))
		return -EINVAL;
	sites = direct_hash_sites(hash);
	if (!sites)
		return -ENOMEM;

	scoped_guard(mutex, &ftrace_share_mutex) {
		guard(mutex)(&ftrace_lock);
		if (direct_is_each(ops))
			ret = direct_del(ops, hash, sites);
	}
	if (!ret && direct_hash_has_module(hash))
		ftrace_wait_for_tasks();
	return ret;
}

/* An error for one site would keep the others at functions that the owner frees all the same. */
static int direct_mod_sites(struct ftrace_ops *ops, struct ftrace_hash *hash,
			    const struct ftrace_site_set *sites)
{
	int ret;

	ops->direct_hash = hash;
	ret = ftrace_update_filter(ops->filter, sites, false);
	ops->direct_hash = NULL;
	if (ret || !sites->nr)
		return ret;
	for (unsigned int i = 0; i < sites->nr; i++) {
		if (direct_at(ops, sites->ip[i]))
			return 0;
	}
	ftrace_report_refusal(FTRACE_REFUSED_QUARANTINE, sites->ip[0], ops, NULL);
	return -EFAULT;
}

static int direct_mod(struct ftrace_ops *ops, struct ftrace_hash *hash,
		      struct ftrace_site_set *sites)
{
	unsigned int nr = 0;
	int ret;

	lockdep_assert_held(&ftrace_share_mutex);
	guard(mutex)(&ftrace_lock);

	if (!direct_is_each(ops))
		return -EINVAL;
	for (unsigned int i = 0; i < sites->nr; i++) {
		if (direct_at(ops, sites->ip[i]))
			sites->ip[nr++] = sites->ip[i];
	}
	sites->nr = nr;
	ret = ftrace_share_ask_self(ops, sites);
	return ret ?: direct_mod_sites(ops, hash, sites);
}

/**
 * update_ftrace_direct_mod - exchange trampolines
 * @ops: an ops of update_ftrace_direct_add()
 * @hash: sites of @ops, and the trampoline that each is to call from now on; those that
 *	  are not its sites are passed over
 * @do_direct_lock: false if an ops_func calls this for
 *		    FTRACE_OPS_CMD_*_SHARE_IPMODIFY_PEER, where ftrace_share_mutex is held
 *
 * Every call reaches one of the two. A site that turns out to belong in quarantine calls
 * neither from then on, and does not keep the others from being changed.
 *
 * Context: process context, sleeps; takes ftrace_share_mutex, unless it is held, and
 * ftrace_lock. A task may still be in the old trampoline on return.
 * Return: 0; -EINVAL if @hash is empty or @ops is not registered; -ENOMEM; the answer of
 * @ops->ops_func; or -EFAULT if all of the sites turn out to belong in quarantine. On
 * failure nothing else changed.
 */
int update_ftrace_direct_mod(struct ftrace_ops *ops, struct ftrace_hash *hash, bool do_direct_lock)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	if (!ftrace_hash_count(hash))
		return -EINVAL;
	sites = direct_hash_sites(hash);
	if (!sites)
		return -ENOMEM;
	if (!do_direct_lock)
		return direct_mod(ops, hash, sites);

	guard(mutex)(&ftrace_share_mutex);
	return direct_mod(ops, hash, sites);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/direct_kunit.c"
#endif
