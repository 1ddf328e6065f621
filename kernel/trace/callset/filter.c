// SPDX-License-Identifier: GPL-2.0
/*
 * Filters: which sites an ops wants, and how that is changed, by the owner of the
 * ops, by modules that come and go, by the files set_ftrace_filter and
 * set_ftrace_notrace, and by parameters of the kernel command line.
 *
 * A word of a file is one of
 *
 *	PATTERN			a name, a glob, or the number of a line of
 *				available_filter_functions (match.c)
 *	PATTERN:mod:MODULE	only in that module, loaded or not; both may be
 *				globs, an empty or * MODULE stands for any
 *	PATTERN:COMMAND[:ARGS]	see command.c
 *
 * and a leading ! takes away instead of adding. words.c has the files.
 *
 * Invariants:
 *  1. Site sets are sorted. A change gives a filter that ops go by another set; only
 *     the sites of text that goes away leave a set in place.
 *  2. A change is collected in an edit, and made to the filter as it is when the
 *     edit is committed.
 *  3. A filter->only that becomes empty becomes NULL (every site): an empty file has
 *     always meant that. It stays if it waits for a module, or has lost sites of text that
 *     is gone, until it is cleared.
 *
 * ftrace_lock covers the filters, and the list of those in use. Lock order:
 *	ftrace_word_file.lock > ftrace_command_mutex > ftrace_lock
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/sections.h>

#include "attach.h"
#include "filter.h"
#include "ops.h"
#include "register.h"
#include "report.h"
#include "site_set.h"
#include "sites.h"
#include "words.h"
#include "../trace.h"

/* All filters that name sites or wait for modules. */
static LIST_HEAD(filter_in_use);

/* Whether text that a set has sites in can go away: a module's, or init text. */
static bool filter_set_may_go(const struct ftrace_site_set *set)
{
	return set && set->nr && (!is_kernel_text(set->ip[0]) ||
				  !is_kernel_text(set->ip[set->nr - 1]));
}

/**
 * ftrace_filter_track - note whether modules concern a filter that has changed
 * @filter: the filter
 *
 * A filter that modules do not concern is not on the list: its owner may free
 * it, with its sets, at any time. One that stays keeps its place, as
 * the list may be walked now.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_filter_track(struct ftrace_filter *filter)
{
	bool wanted = filter_set_may_go(filter->only) || filter_set_may_go(filter->not) ||
		      filter_set_may_go(filter->throttled) || !list_empty(&filter->waiting) ||
		      !list_empty(&filter->waiting_not);

	if (!wanted)
		list_del_init(&filter->pending);
	else if (list_empty(&filter->pending))
		list_add_tail(&filter->pending, &filter_in_use);
}

/* The patterns of a filter that wait for their modules. */
static struct list_head *filter_waiting(struct ftrace_filter *filter, bool exclude)
{
	return exclude ? &filter->waiting_not : &filter->waiting;
}

static void filter_free_content(struct ftrace_filter *filter)
{
	ftrace_site_set_free(filter->only);
	ftrace_site_set_free(filter->not);
	ftrace_site_set_free(filter->throttled);
	filter->only = NULL;
	filter->not = NULL;
	filter->throttled = NULL;
	ftrace_words_free(&filter->waiting, &filter->waiting);
	ftrace_words_free(&filter->waiting_not, &filter->waiting_not);
	ftrace_filter_track(filter);
}

/* Edits */

/* Whether a pattern is one to wait with, or to stop waiting with. */
static bool filter_edit_waits(const struct ftrace_edit *edit, const struct list_head *list,
			      const struct ftrace_word *what)
{
	/* A module that is named may still come, or come again. */
	if (!what->module || !*what->module || !strcmp(what->module, "*") ||
	    !strcmp(what->module, "!*"))
		return false;
	return what->remove ? ftrace_edit_finds_waiting(edit, list, what) : !what->sites->nr;
}

/* The sites that a word is about. One in quarantine can only be taken away. */
static struct ftrace_site_set *filter_match(const char *func, const char *module, bool remove)
{
	struct ftrace_site_set *sites = ftrace_match_sites(func, module);

	if (!IS_ERR(sites) && !remove)
		ftrace_site_set_drop_quarantined(sites);
	return sites;
}

/**
 * ftrace_edit_pattern - add the sites of a pattern to an edit
 * @edit: the edit
 * @func: the pattern, with a ! before it if its sites are to be taken away
 * @module: pattern for the module's name, or NULL for any place
 * @list: the words that wait in the filter that the edit is for
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0; -EINVAL if nothing matches, -ENOMEM. On failure the edit is as it was.
 */
int ftrace_edit_pattern(struct ftrace_edit *edit, const char *func, const char *module,
			const struct list_head *list)
{
	struct ftrace_word what = { .remove = func[0] == '!', .module = module };
	struct ftrace_site_set *sites __free(site_set) = NULL;

	func += what.remove;
	if (!*func && !module)
		return -EINVAL;
	sites = filter_match(func, module, what.remove);
	if (IS_ERR(sites))
		return PTR_ERR(sites);

	what.sites = sites;
	what.func = *func ? func : "*";
	if (!filter_edit_waits(edit, list, &what)) {
		if (!sites->nr)
			return -EINVAL;
		what.func = NULL;
		what.module = NULL;
	}
	return ftrace_edit_add(edit, &what);
}

/*
 * The sets that a filter gets by an edit: @to[0], the sites that it wants, or NULL,
 * and @to[1], those to leave out. Even on failure, both are to be freed.
 */
static int filter_edit_plan(const struct ftrace_edit *edit, struct ftrace_filter *filter,
			    bool exclude, struct ftrace_site_set *to[2])
{
	const struct ftrace_site_set *now[] = { filter->only, filter->not };
	bool empty = !edit->clear && now[exclude] && !now[exclude]->nr;

	to[!exclude] = ftrace_site_set_dup(now[!exclude]);
	to[exclude] = ftrace_edit_result(edit, now[exclude]);
	if (!to[exclude] || (now[!exclude] && !to[!exclude]))
		return -ENOMEM;
	/* An empty side is NULL, but for text that went away and may be back. */
	if (!to[exclude]->nr && !to[exclude]->lost && !empty &&
	    !ftrace_edit_leaves_waiting(edit, filter_waiting(filter, exclude))) {
		ftrace_site_set_free(to[exclude]);
		to[exclude] = NULL;
	}
	return 0;
}

/* Uses @edit up; on failure the filter is as it was. As ftrace_refilter(), otherwise. */
static int filter_edit_commit(struct ftrace_edit *edit, struct ftrace_filter *filter, bool exclude)
{
	struct ftrace_site_set *to[2] = { };
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ret = filter_edit_plan(edit, filter, exclude, to) ?: ftrace_refilter(filter, to[0], to[1]);
	if (ret) {
		ftrace_site_set_free(to[0]);
		ftrace_site_set_free(to[1]);
		return ret;
	}
	ftrace_edit_apply_waiting(edit, filter_waiting(filter, exclude));
	ftrace_filter_track(filter);
	return 0;
}

/**
 * ftrace_filter_throttle - take guarded ops away from sites for a time, or let them come back
 * @filter: the filter of the ops
 * @sites: the sites
 * @out: they are to leave
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, or as for ftrace_attach(), with nothing changed.
 */
int ftrace_filter_throttle(struct ftrace_filter *filter, struct ftrace_site_set *sites, bool out)
{
	struct ftrace_site_set *old = filter->throttled, *new;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	new = out ? ftrace_site_set_union(old, sites) : ftrace_site_set_minus(old, sites);
	if (!new)
		return -ENOMEM;
	filter->throttled = new;
	ret = ftrace_update_filter(filter, sites, false);
	if (ret)
		filter->throttled = old;
	ftrace_site_set_free(ret ? new : old);
	ftrace_filter_track(filter);
	return ret;
}

/* Modules and other text that comes and goes */

/* Adds the sites in @mod of a word that waits to @edit. Return: how many; or -ENOMEM. */
static int filter_match_waiting(const struct ftrace_word *waiting, struct module *mod,
				struct ftrace_edit *edit)
{
	struct ftrace_site_set *found __free(site_set) = NULL;
	int ret = ftrace_match_module(waiting->module, mod);

	if (ret <= 0)
		return ret;
	found = filter_match(waiting->func, module_name(mod), false);
	if (IS_ERR(found))
		return PTR_ERR(found);
	return ftrace_edit_add(edit, &(struct ftrace_word) { .sites = found }) ?: found->nr;
}

/* Words that match @mod, but no function of it, stay where users can see them. */
static int filter_module_loading(struct ftrace_filter *filter, bool exclude, struct module *mod)
{
	struct list_head *list = filter_waiting(filter, exclude);
	struct ftrace_word *waiting, *next;
	struct ftrace_edit edit;
	LIST_HEAD(due);
	int ret = 0;

	/* Thousands of filters may be here for the sites that they name in modules. */
	if (list_empty(list))
		return 0;
	ftrace_edit_init(&edit, false);
	list_for_each_entry_safe(waiting, next, list, node) {
		ret = filter_match_waiting(waiting, mod, &edit);
		if (ret < 0)
			break;
		if (ret)
			list_move_tail(&waiting->node, &due);
	}
	if (ret >= 0)
		ret = list_empty(&due) ? 0 : filter_edit_commit(&edit, filter, exclude);
	if (ret)
		list_splice(&due, list);
	else
		ftrace_words_free(&due, &due);
	ftrace_edit_destroy(&edit);
	return ret;
}

/**
 * ftrace_filter_module_loading - apply the words that wait for a module
 * @mod: the module, whose tables are in place
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, or the first error of ftrace_refilter(); words that failed still wait.
 */
int ftrace_filter_module_loading(struct module *mod)
{
	struct ftrace_filter *filter, *next;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(filter, next, &filter_in_use, pending) {
		/* First the sites to leave out, so that they are not attached meanwhile. */
		int err = filter_module_loading(filter, true, mod) ?:
			  filter_module_loading(filter, false, mod);

		ret = ret ?: err;
	}
	return ret;
}

static void filter_forget(struct ftrace_filter *filter, unsigned long start, unsigned long end)
{
	ftrace_site_set_forget(filter->only, start, end);
	ftrace_site_set_forget(filter->not, start, end);
	ftrace_site_set_forget(filter->throttled, start, end);
}

/**
 * ftrace_filter_forget_range - drop the sites of text that is going away
 * @start: first address of the text
 * @end: first address after it
 *
 * A filter of these sites alone wants no site from now on, and not every one.
 *
 * Context: ftrace_lock is held; the sites are detached.
 */
void ftrace_filter_forget_range(unsigned long start, unsigned long end)
{
	struct ftrace_filter *filter, *next;
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	ftrace_words_forget_range(start, end);
	list_for_each_entry_safe(filter, next, &filter_in_use, pending) {
		filter_forget(filter, start, end);
		ftrace_filter_track(filter);
	}
	/* A filter that was set up by hand is not on the list. */
	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		if (list_empty(&ops->filter->pending))
			filter_forget(ops->filter, start, end);
	}
}

/**
 * ftrace_filter_forget_module - drop the filters that are part of a module
 * @mod: the module, whose memory is going away
 *
 * It may not have freed all of them.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_filter_forget_module(struct module *mod)
{
	struct ftrace_filter *filter, *next;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(filter, next, &filter_in_use, pending) {
		if (within_module((unsigned long)filter, mod))
			filter_free_content(filter);
	}
}

/* Filters set by other kernel code */

/**
 * struct filter_owner_edit - a change of a filter by the owner of the ops
 * @ops: the ops, registered or not
 * @buf: a pattern of functions to add, which may name their module, or NULL
 * @len: its length
 * @ips: addresses of sites or functions, or NULL
 * @cnt: how many
 * @remove: take @ips away instead of adding them
 * @reset: begin with an empty filter
 * @exclude: it is the sites to leave out that are edited
 */
struct filter_owner_edit {
	struct ftrace_ops	*ops;
	const unsigned char	*buf;
	int			len;
	const unsigned long	*ips;
	unsigned int		cnt;
	bool			remove;
	bool			reset;
	bool			exclude;
};

/* Cuts @word at ":mod:". Return: the pattern for the module's name behind it, or NULL. */
static char *filter_cut_module(char *word)
{
	char *module = strstr(word, ":mod:");

	if (!module)
		return NULL;
	*module = '\0';
	return module + strlen(":mod:");
}

/* A bootconfig names the functions of modules here, long before they are loaded. */
static int filter_owner_pattern(const struct filter_owner_edit *e, struct ftrace_edit *edit)
{
	char *word __free(kfree) = kstrndup((const char *)e->buf, e->len, GFP_KERNEL);
	char *func, *module;

	if (!word)
		return -ENOMEM;
	func = strim(word);
	module = filter_cut_module(func);
	return ftrace_edit_pattern(edit, func, module, filter_waiting(e->ops->filter, e->exclude));
}

static int filter_owner_ips(const struct filter_owner_edit *e, struct ftrace_edit *edit)
{
	struct ftrace_site_set *sites __free(site_set) = ftrace_site_set_alloc(e->cnt);
	unsigned int nr;

	if (!sites)
		return -ENOMEM;
	for (unsigned int i = 0; i < e->cnt; i++) {
		sites->ip[i] = ftrace_location_any(e->ips[i]);
		if (!sites->ip[i])
			return -EINVAL;
		if (e->remove && !ftrace_site_set_has(e->ops->filter->only, sites->ip[i]))
			return -ENOENT;
	}
	ftrace_site_set_sort(sites);
	nr = sites->nr;
	if (!e->remove)
		ftrace_site_set_drop_quarantined(sites);
	if (sites->nr != nr)
		return -EINVAL;
	return ftrace_edit_add(edit, &(struct ftrace_word) { .sites = sites, .remove = e->remove });
}

/* Even on failure, @edit is to be destroyed. */
static int filter_owner_start(const struct filter_owner_edit *e, struct ftrace_edit *edit)
{
	lockdep_assert_held(&ftrace_lock);

	ftrace_edit_init(edit, e->reset);
	ftrace_ops_init(e->ops);
	if (e->ips)
		return filter_owner_ips(e, edit);
	return e->buf ? filter_owner_pattern(e, edit) : 0;
}

/*
 * Takes sites away from an ops that is not registered. The owner may free the ops next,
 * even if this fails, so it takes no memory.
 */
static int filter_owner_take_back(const struct filter_owner_edit *e)
{
	struct ftrace_filter *filter = e->ops->filter;
	bool lost = ftrace_site_set_lost(filter->only);

	for (unsigned int i = 0; i < e->cnt; i++) {
		unsigned long ip = ftrace_location_any(e->ips[i]);

		if (!ip)
			return -EINVAL;
		if (!ftrace_site_set_has(filter->only, ip))
			return -ENOENT;
	}
	for (unsigned int i = 0; i < e->cnt; i++) {
		unsigned long ip = ftrace_location_any(e->ips[i]);

		ftrace_site_set_forget(filter->only, ip, ip + 1);
	}
	if (!e->cnt)
		return 0;
	/* These are not gone. */
	filter->only->lost = lost;
	if (!filter->only->nr && !lost && list_empty(&filter->waiting)) {
		ftrace_site_set_free(filter->only);
		filter->only = NULL;
	}
	ftrace_filter_track(filter);
	return 0;
}

static int filter_owner_commit(const struct filter_owner_edit *e)
{
	struct ftrace_edit edit;
	int ret;

	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled && !e->remove)
		return -ENODEV;
	ftrace_ops_init(e->ops);
	/* No ops that is registered has this filter: it has attached no site. */
	if (e->remove && !e->reset && e->ops->filter == &e->ops->own_filter &&
	    hlist_empty(&e->ops->own_filter.users))
		return filter_owner_take_back(e);

	ret = filter_owner_start(e, &edit) ?: filter_edit_commit(&edit, e->ops->filter, e->exclude);
	ftrace_edit_destroy(&edit);
	return ret;
}

/* Has a registered ops agree to the sites that it comes to share, as registering it does. */
static int filter_owner_check(const struct filter_owner_edit *e, struct ftrace_site_set **added,
			      struct ftrace_site_set **removed)
{
	struct ftrace_site_set *old __free(site_set) = NULL;
	struct ftrace_site_set *new __free(site_set) = NULL;
	struct ftrace_filter *filter = e->ops->filter;
	struct ftrace_site_set *to[2] = { };
	struct ftrace_edit edit;
	int ret;

	guard(mutex)(&ftrace_lock);

	ret = filter_owner_start(e, &edit) ?: filter_edit_plan(&edit, filter, e->exclude, to);
	/* No ops can decide for all functions where they go on. */
	if (!ret && !to[0])
		ret = -EINVAL;
	if (!ret) {
		old = ftrace_site_set_minus(filter->only, filter->not);
		new = ftrace_site_set_minus(to[0], to[1]);
		*added = old && new ? ftrace_site_set_minus(new, old) : NULL;
		*removed = *added ? ftrace_site_set_minus(old, new) : NULL;
		ret = *removed ? 0 : -ENOMEM;
	}
	if (!ret && (e->ops->flags & FTRACE_OPS_FL_DIRECT))
		ret = ftrace_share_ask_self(e->ops, *added);
	ftrace_site_set_free(to[0]);
	ftrace_site_set_free(to[1]);
	ftrace_edit_destroy(&edit);
	return ret;
}

/*
 * For a registered ops that may go around its functions. ftrace_lock is not held
 * while the other ops are told, and sites may go meanwhile, so the edit is made twice.
 */
static int filter_owner_around(const struct filter_owner_edit *e)
{
	struct ftrace_site_set *removed __free(site_set) = NULL;
	struct ftrace_site_set *added __free(site_set) = NULL;
	bool peers = e->ops->flags & FTRACE_OPS_FL_IPMODIFY;
	int ret = filter_owner_check(e, &added, &removed);

	if (!ret && peers)
		ret = ftrace_share_tell_peers(e->ops, added,
					      FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	if (!ret)
		ret = filter_owner_commit(e);
	if (!ret && peers)
		ftrace_share_tell_peers(e->ops, removed,
					FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
	return ret;
}

static int owner_edit_shared(const struct filter_owner_edit *e)
{
	guard(mutex)(&ftrace_share_mutex);

	if (e->ops->flags & FTRACE_OPS_FL_ENABLED)
		return filter_owner_around(e);
	return filter_owner_commit(e);
}

static int filter_owner_edit(const struct filter_owner_edit *e)
{
	unsigned long end = 0;
	int ret;

	if (!(e->ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)))
		return filter_owner_commit(e);
	/* The owner of a direct ops is told at once, as it is the one to change that. */
	do {
		ret = owner_edit_shared(e);
	} while (e->ops->flags & FTRACE_OPS_FL_IPMODIFY && ftrace_share_again(ret, &end));
	return ret;
}

static int filter_set_pattern(struct ftrace_ops *ops, const unsigned char *buf, int len,
			      int reset, bool exclude)
{
	return filter_owner_edit(&(struct filter_owner_edit) {
		.ops = ops, .buf = buf, .len = len, .reset = reset, .exclude = exclude,
	});
}

/**
 * ftrace_set_filter - add the functions that match to those that an ops wants
 * @ops: the ops, registered or not
 * @buf: a pattern, or PATTERN:mod:MODULE, or NULL
 * @len: its length
 * @reset: start with an empty list
 *
 * A module that is not there yet is waited for, until it comes or ftrace_free_filter() is
 * called.
 *
 * Context: process context, sleeps; takes ftrace_lock. For an ops that is direct, or
 * has FTRACE_OPS_FL_IPMODIFY, it takes ftrace_share_mutex, too.
 * Return: 0; -EINVAL if nothing matches, or if @ops is registered, is one of these two
 * kinds, and would want every function; -ENOMEM, -ENODEV, -EBUSY as from
 * register_ftrace_function(); for these two kinds, the error of an ops that they come
 * to share a function with. On failure the filter is as it was.
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_pattern(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - add the functions that match to those that an ops leaves out
 * @ops: the ops, registered or not
 * @buf: as for ftrace_set_filter()
 * @len: its length
 * @reset: start with an empty list
 *
 * Context and Return: as for ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_pattern(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - ftrace_set_filter() for the top instance
 * @buf: as there
 * @len: as there
 * @reset: as there
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	filter_set_pattern(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - ftrace_set_notrace() for the top instance
 * @buf: as there
 * @len: as there
 * @reset: as there
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	filter_set_pattern(&global_ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/**
 * ftrace_set_filter_ips - add sites to those that an ops wants, or take them away
 * @ops: the ops, registered or not
 * @ips: addresses of sites or of functions
 * @cnt: how many
 * @remove: nonzero to take them away
 * @reset: nonzero to start with an empty list
 *
 * Context: as for ftrace_set_filter().
 * Return: 0; -EINVAL if an address is no site, or one in quarantine that is to
 * be added; -ENOENT if one that is to be taken away was not wanted; -EFAULT if
 * they turn out to belong in quarantine; otherwise as for ftrace_set_filter(). On failure
 * the filter is as it was.
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt,
			  int remove, int reset)
{
	return filter_owner_edit(&(struct filter_owner_edit) {
		.ops = ops, .ips = ips, .cnt = cnt, .remove = remove, .reset = reset,
	});
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - ftrace_set_filter_ips() for one address
 * @ops: as there
 * @ip: the address
 * @remove: as there
 * @reset: as there
 *
 * Context and Return: as there.
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/**
 * ftrace_ops_set_global_filter - let an ops use the filter of the top instance
 * @ops: not used before
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	ftrace_ops_init(ops);
	ops->filter = &global_ops.own_filter;
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);

/**
 * ftrace_free_filter - free the sets and words of an ops' own filter
 * @ops: not registered
 *
 * Context: process context, sleeps; takes ftrace_lock.
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	struct ftrace_filter *filter = &ops->own_filter;

	guard(mutex)(&ftrace_lock);

	ftrace_ops_init(ops);
	if (WARN_ON_ONCE(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;
	filter_free_content(filter);
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/* The files */

/* The list is a side of the filter of the owner, or of the instance's ops. */
static struct ftrace_filter *filter_of(const struct ftrace_word_file *f)
{
	struct ftrace_ops *ops = f->owner ?: f->tr->ops;

	lockdep_assert_held(&ftrace_lock);

	ftrace_ops_init(ops);
	return ops->filter;
}

/* Says why no site is matched by @func, which may have a ! before it. */
static int filter_no_site(struct ftrace_word_file *f, const char *func, const char *module)
{
	bool remove = func[0] == '!';

	f->pos = remove;
	if (remove && module)
		f->why = FTRACE_WORD_NOT_LISTED;
	else
		f->why = ftrace_why_no_site(func + remove, module);
	return -EINVAL;
}

static bool filter_has_sites(const char *func)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	guard(mutex)(&ftrace_lock);
	sites = filter_match(func, NULL, false);
	return !IS_ERR(sites) && sites->nr;
}

static int filter_take_command(struct ftrace_word_file *f, char *func, char *command)
{
	int ret = -EINVAL;

	f->why = FTRACE_WORD_NO_COMMAND;
	f->pos = command - func;
	if ((f->flags & FTRACE_ITER_DO_PROBES) && f->tr)
		ret = ftrace_command_run(f->tr, func, command, !f->exclude);
	if (ret == -EINVAL && !filter_has_sites(func + (func[0] == '!')))
		filter_no_site(f, func, NULL);
	return ret;
}

/* Whether a word has added one function, and the guard holds it back. */
static bool filter_is_throttled(const struct ftrace_word_file *f, const char *func)
{
	const struct ftrace_site_set *out = filter_of(f)->throttled;
	struct ftrace_site_set *sites __free(site_set) = NULL;

	if (f->exclude || func[0] == '!' || !ftrace_site_set_nr(out))
		return false;
	sites = ftrace_match_sites(func, NULL);
	return !IS_ERR(sites) && sites->nr == 1 && ftrace_site_set_has(out, sites->ip[0]);
}

static int filter_take(struct ftrace_word_file *f, char *word)
{
	char *rest = strchr(word, ':');
	int ret;

	if (rest)
		*rest++ = '\0';
	if (rest && strncmp(rest, "mod:", 4))
		return filter_take_command(f, word, rest);

	scoped_guard(mutex, &ftrace_lock) {
		ret = ftrace_edit_pattern(&f->edit, word, rest ? rest + 4 : NULL,
					  filter_waiting(filter_of(f), f->exclude));
		if (!ret && !rest && filter_is_throttled(f, word))
			f->why = FTRACE_WORD_THROTTLED;
	}
	return ret == -EINVAL ? filter_no_site(f, word, rest) : ret;
}

static const struct ftrace_site_set *filter_sites(const struct ftrace_word_file *f)
{
	const struct ftrace_filter *filter = filter_of(f);

	return f->exclude ? filter->not : filter->only;
}

/* Of the words that wait: their modules may have come since they were written. */
static int filter_match_again(struct ftrace_edit *edit)
{
	struct ftrace_site_set *sites;
	struct ftrace_word *word;

	list_for_each_entry(word, &edit->words, node) {
		if (!word->module)
			continue;
		sites = filter_match(word->func, word->module, word->remove);
		if (IS_ERR(sites))
			return PTR_ERR(sites);
		ftrace_site_set_replace(&word->sites, sites);
		if (word->remove || !sites->nr)
			continue;
		kfree(word->func);
		kfree(word->module);
		word->func = NULL;
		word->module = NULL;
	}
	return 0;
}

static int filter_commit(struct ftrace_word_file *f)
{
	return filter_match_again(&f->edit) ?:
	       filter_edit_commit(&f->edit, filter_of(f), f->exclude);
}

/* The functions of the filter that the guard has taken away for a time. */
static void filter_show_throttled(struct seq_file *m, const struct ftrace_filter *filter)
{
	const struct ftrace_site_set *out = filter->throttled;

	for (unsigned int i = 0; i < ftrace_site_set_nr(out); i++) {
		if (!filter->only || ftrace_site_set_has(filter->only, out->ip[i]))
			seq_printf(m, "#### %ps is throttled ####\n", (void *)out->ip[i]);
	}
}

/* The throttled functions, the words that wait for modules, and the function commands. */
static void filter_show_rest(struct seq_file *m, const struct ftrace_word_file *f)
{
	const struct ftrace_word *waiting;

	if (!f->exclude)
		filter_show_throttled(m, filter_of(f));

	list_for_each_entry(waiting, filter_waiting(filter_of(f), f->exclude), node)
		seq_printf(m, "%s:mod:%s\n", waiting->func, waiting->module);
	if ((f->flags & FTRACE_ITER_DO_PROBES) && f->tr)
		ftrace_command_show(m, f->tr);
}

static const struct ftrace_word_ops filter_word_ops = {
	.name		= { "set_ftrace_filter", "set_ftrace_notrace" },
	.take		= filter_take,
	.sites		= filter_sites,
	.commit		= filter_commit,
	.show_rest	= filter_show_rest,
};

/**
 * ftrace_regex_open - open a file that shows and sets a filter
 * @tr: the instance; NULL to take it from the ops
 * @ops: whose filter it is; NULL for the instance's
 * @flag: FTRACE_ITER_NOTRACE for the sites to leave out; FTRACE_ITER_DO_PROBES
 *	  if function commands are shown and accepted
 * @inode: not used
 * @file: the file, written with ftrace_filter_write() and closed with
 *	  ftrace_regex_release()
 *
 * Context: process context, sleeps.
 * Return: 0, -ENODEV, -EPERM when locked down, or -ENOMEM.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	if (!tr) {
		ops = ops ?: &global_ops;
		tr = ops->private;
	}
	return ftrace_word_file_open(file, &filter_word_ops, tr, ops, flag);
}

/**
 * ftrace_filter_write - write to a file of ftrace_regex_open()
 * @file: the file
 * @ubuf: words
 * @cnt: how many bytes
 * @ppos: moves on
 *
 * Context: process context, sleeps.
 * Return: how many bytes were taken, or a negative errno.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return ftrace_word_file_write(file, ubuf, cnt, ppos);
}

/**
 * ftrace_regex_release - close a file of ftrace_regex_open()
 * @inode: its inode
 * @file: the file, whose words become the filter
 *
 * Context: process context, sleeps.
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	return ftrace_word_file_release(inode, file);
}

/* set_ftrace_filter and set_ftrace_notrace */
static const struct file_operations filter_fops[2];

static int filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, file->f_op == &filter_fops[1] ?
				 FTRACE_ITER_NOTRACE : FTRACE_ITER_FILTER | FTRACE_ITER_DO_PROBES,
				 inode, file);
}

static const struct file_operations filter_fops[] = {
	[0 ... 1] = {
		.open		= filter_open,
		.read		= seq_read,
		.write		= ftrace_filter_write,
		.llseek		= tracing_lseek,
		.release	= ftrace_regex_release,
	},
};

/**
 * ftrace_create_filter_files - make the filter files of an instance
 * @tr: the instance; NULL for the top one
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr, &filter_fops[0]);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr, &filter_fops[1]);
}

/**
 * ftrace_destroy_filter_files - forget the filter of an ops that will be freed
 * @ops: the ops
 *
 * The files are gone already.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	ops->flags |= FTRACE_OPS_FL_DELETED;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

/* The kernel command line */

DEFINE_EARLY_LIST(filter_param, "ftrace_filter");
DEFINE_EARLY_LIST(filter_notrace_param, "ftrace_notrace");

/* The startup tests leave a filter of the command line alone. */
bool ftrace_filter_param __initdata;

static void __init filter_set_early(struct ftrace_ops *ops, char *buf, bool exclude)
{
	struct ftrace_edit edit;
	char *word;

	lockdep_assert_held(&ftrace_lock);

	ftrace_ops_init(ops);
	ftrace_edit_init(&edit, false);
	while ((word = strsep(&buf, ","))) {
		char *module;

		if (!*word)
			continue;
		module = filter_cut_module(word);
		if (ftrace_edit_pattern(&edit, word, module, filter_waiting(ops->filter, exclude)))
			pr_warn("command line: \"%s\": %s\n", word,
				ftrace_word_errors[ftrace_why_no_site(word, module)]);
	}
	if (filter_edit_commit(&edit, ops->filter, exclude))
		pr_warn("filters of the command line are not applied\n");
	ftrace_edit_destroy(&edit);
}

/**
 * ftrace_set_early_filter - set a filter from the command line
 * @ops: whose filter it is
 * @buf: patterns with commas between; changed
 * @enable: nonzero for the sites that it wants, 0 for those to leave out
 *
 * Context: boot, after ftrace_init().
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	guard(mutex)(&ftrace_lock);
	filter_set_early(ops, buf, !enable);
}

/**
 * ftrace_set_early_filters - apply ftrace_filter= and ftrace_notrace=
 *
 * Context: boot, ftrace_lock is held.
 */
void __init ftrace_set_early_filters(void)
{
	ftrace_filter_param = filter_param[0] || filter_notrace_param[0];
	if (filter_param[0])
		filter_set_early(&global_ops, filter_param, false);
	if (filter_notrace_param[0])
		filter_set_early(&global_ops, filter_notrace_param, true);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/filter_kunit.c"
#endif
