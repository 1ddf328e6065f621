// SPDX-License-Identifier: GPL-2.0
/*
 * Callsets: which lists of ops exist, and the trampoline of each.
 *
 * Invariants:
 *  1. No two callsets that can be found hold the same ops.
 *  2. A callset is found by its number from before the first record names it
 *     until a grace period after the last one did (see ftrace_retire()).
 *  3. Its ops never change: another list of ops is another callset.
 *
 * ftrace_lock covers everything but ftrace_callset_get() and
 * ftrace_callset_by_tramp(), which any context may call.
 */
#include <linux/ftrace.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/trace_recursion.h>

#include "ftrace_internal.h"

/**
 * struct callset_map - callsets by their number
 * @limit: one more than the highest number that the map has room for
 * @retiree: frees the map once a larger one has taken its place
 * @cs: the callsets; [0] stays NULL
 */
struct callset_map {
	u32			limit;
	struct ftrace_retiree	retiree;
	struct ftrace_callset	*cs[] __counted_by(limit);
};

static struct callset_map *callset_map;

static DEFINE_HASHTABLE(callset_hash, 8);

/* Beyond this many, a callset does without a trampoline of its own. */
#define CALLSET_MAX_TRAMPS	16384
#define CALLSET_MAX_TRAMP_OPS	1024

static unsigned int callset_nr_tramps;

/**
 * ftrace_callset_get - find a callset by its number
 * @nr: from a record
 *
 * Context: any; ftrace_lock is held, or the caller is one whom ftrace_retire()
 * waits for.
 * Return: the callset; NULL for 0 and for numbers not in use.
 */
struct ftrace_callset *ftrace_callset_get(u32 nr)
{
	/* Pairs with the release in callset_map_grow(). */
	struct callset_map *map = smp_load_acquire(&callset_map);

	if (!map || nr >= map->limit)
		return NULL;
	/* Pairs with the release in callset_number(). */
	return smp_load_acquire(&map->cs[nr]);
}

/**
 * ftrace_callset_next - walk the callsets
 * @nr: the number of the callset before, 0 for the first; gets the number
 *	of the one returned
 *
 * Context: as for ftrace_callset_get().
 * Return: the callset with the next number in use, or NULL.
 */
struct ftrace_callset *ftrace_callset_next(u32 *nr)
{
	struct ftrace_callset *cs;

	while (++*nr < ftrace_callset_limit()) {
		cs = ftrace_callset_get(*nr);
		if (cs)
			return cs;
	}
	return NULL;
}

/**
 * ftrace_callset_limit - the end of the numbers in use
 *
 * Return: no callset has this number or a higher one.
 */
u32 ftrace_callset_limit(void)
{
	/* Pairs with the release in callset_map_grow(). */
	struct callset_map *map = smp_load_acquire(&callset_map);

	return map ? map->limit : 0;
}

static void callset_map_free(struct ftrace_retiree *retiree)
{
	kvfree(container_of(retiree, struct callset_map, retiree));
}

static int callset_map_grow(void)
{
	struct callset_map *old = callset_map, *map;
	u32 limit = old ? old->limit * 2 : 32;

	if (limit > FTRACE_CALLSET_MAX)
		return -ENOSPC;
	map = kvzalloc(struct_size(map, cs, limit), GFP_KERNEL);
	if (!map)
		return -ENOMEM;

	map->limit = limit;
	map->retiree.free = callset_map_free;
	if (old)
		memcpy(map->cs, old->cs, flex_array_size(map, cs, old->limit));
	/* Who sees the map sees what is in it. */
	smp_store_release(&callset_map, map);
	if (old)
		ftrace_retire(&old->retiree);
	return 0;
}

static int callset_number(struct ftrace_callset *cs)
{
	for (u32 nr = 1; nr < ftrace_callset_limit(); nr++) {
		if (!callset_map->cs[nr]) {
			cs->nr = nr;
			/* Who sees the callset sees its ops. */
			smp_store_release(&callset_map->cs[nr], cs);
			return 0;
		}
	}
	return -ENOSPC;
}

static u32 callset_key(struct ftrace_ops **ops, unsigned int nr)
{
	return jhash(ops, nr * sizeof(*ops), 0);
}

static struct ftrace_callset *callset_find(struct ftrace_ops **ops, unsigned int nr)
{
	struct ftrace_callset *cs;

	hash_for_each_possible(callset_hash, cs, node, callset_key(ops, nr)) {
		if (cs->nr_ops == nr && !memcmp(cs->ops, ops, nr * sizeof(*ops)))
			return cs;
	}
	return NULL;
}

static void callset_tell_perf(const struct ftrace_callset *cs, bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, cs->tramp, cs->tramp_size, gone,
			   FTRACE_TRAMPOLINE_SYM);
}

static void callset_hide(struct ftrace_retiree *retiree)
{
	struct ftrace_callset *cs = container_of(retiree, struct ftrace_callset, retiree);

	if (cs->tramp)
		callset_tell_perf(cs, true);
	WRITE_ONCE(callset_map->cs[cs->nr], NULL);
}

static void callset_free(struct ftrace_retiree *retiree)
{
	struct ftrace_callset *cs = container_of(retiree, struct ftrace_callset, retiree);

	arch_ftrace_tramp_free(cs);
	kfree(cs);
}

/* Whether @direct is, and would have to know of the other one, and does not. */
static bool ops_is_blind_to(const struct ftrace_ops *direct, const struct ftrace_ops *other)
{
	return (direct->flags & FTRACE_OPS_FL_DIRECT) && (other->flags & FTRACE_OPS_FL_IPMODIFY) &&
	       !direct->ops_func;
}

/**
 * ftrace_ops_conflict - whether two ops can be on one site
 * @a: an ops
 * @b: another
 *
 * Only one ops can say where the function goes on, and only one be called
 * directly, as that one may call the function itself. Both together need one
 * that knows how (see ftrace_direct.c).
 *
 * Return: why they cannot; FTRACE_REFUSED_NOT, which is 0, if they can.
 */
enum ftrace_refusal ftrace_ops_conflict(const struct ftrace_ops *a, const struct ftrace_ops *b)
{
	unsigned long both = a->flags & b->flags;

	if (both & FTRACE_OPS_FL_IPMODIFY)
		return FTRACE_REFUSED_IPMODIFY;
	if (both & FTRACE_OPS_FL_DIRECT)
		return FTRACE_REFUSED_DIRECT;
	if (ops_is_blind_to(a, b) || ops_is_blind_to(b, a))
		return FTRACE_REFUSED_SHARE;
	return FTRACE_REFUSED_NOT;
}

static void callset_add_ops(struct ftrace_callset *cs, struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DIRECT) {
		cs->direct = ops;
	} else {
		cs->flags |= ops->flags & (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY);
		cs->nr_graph += !!(ops->flags & FTRACE_OPS_FL_GRAPH);
		cs->nr_funcs += !(ops->flags & FTRACE_OPS_FL_GRAPH);
	}
	cs->ops[cs->nr_ops++] = ops;
}

static struct ftrace_callset *callset_make(struct ftrace_ops **ops, unsigned int nr)
{
	struct ftrace_callset *cs = kzalloc(struct_size(cs, ops, nr), GFP_KERNEL);
	int ret;

	if (!cs)
		return ERR_PTR(-ENOMEM);
	cs->retiree.hide = callset_hide;
	cs->retiree.free = callset_free;
	for (unsigned int i = 0; i < nr; i++)
		callset_add_ops(cs, ops[i]);

	ret = callset_number(cs);
	if (ret == -ENOSPC) {
		ret = callset_map_grow();
		if (!ret)
			ret = callset_number(cs);
	}
	if (ret) {
		kfree(cs);
		return ERR_PTR(ret);
	}
	hash_add(callset_hash, &cs->node, callset_key(ops, nr));
	return cs;
}

static struct ftrace_callset *callset_of(struct ftrace_ops **ops, unsigned int nr)
{
	struct ftrace_callset *cs;

	lockdep_assert_held(&ftrace_lock);

	if (!nr)
		return NULL;
	cs = callset_find(ops, nr);
	return cs ?: callset_make(ops, nr);
}

/**
 * ftrace_callset_has - whether a callset calls an ops
 * @cs: the callset, or NULL for the empty one
 * @ops: the ops
 *
 * Return: true if it does.
 */
bool ftrace_callset_has(const struct ftrace_callset *cs, const struct ftrace_ops *ops)
{
	for (unsigned int i = 0; cs && i < cs->nr_ops; i++) {
		if (cs->ops[i] == ops)
			return true;
	}
	return false;
}

/* Functions, then graph users, then the direct one; and by registration. */
static u64 callset_order(const struct ftrace_ops *ops)
{
	u64 class = ops->flags & FTRACE_OPS_FL_DIRECT ? 2 :
		    ops->flags & FTRACE_OPS_FL_GRAPH ? 1 : 0;

	return class << 32 | ops->seq;
}

/**
 * ftrace_callset_with - the callset that also calls an ops
 * @cs: a callset, or NULL for the empty one
 * @ops: the ops
 *
 * A callset that is made here has no sites and no trampoline yet; if none get
 * it, ftrace_callset_put_unused() drops it.
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the callset, @cs itself if it calls @ops already; ERR_PTR of -ENOMEM,
 * -ENOSPC (too many callsets), or -EBUSY (two ops with FTRACE_OPS_FL_IPMODIFY or
 * two direct ones, or one of each that cannot share a function).
 */
struct ftrace_callset *ftrace_callset_with(struct ftrace_callset *cs, struct ftrace_ops *ops)
{
	unsigned int nr = cs ? cs->nr_ops : 0, i, at;
	struct ftrace_callset *to;
	struct ftrace_ops **list;

	if (ftrace_callset_has(cs, ops))
		return cs;
	for (i = 0; i < nr; i++) {
		if (ftrace_ops_conflict(cs->ops[i], ops))
			return ERR_PTR(-EBUSY);
	}
	list = kmalloc_array(nr + 1, sizeof(*list), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);

	for (at = 0; at < nr && callset_order(cs->ops[at]) < callset_order(ops); at++)
		list[at] = cs->ops[at];
	list[at] = ops;
	for (i = at; i < nr; i++)
		list[i + 1] = cs->ops[i];

	to = callset_of(list, nr + 1);
	kfree(list);
	return to;
}

/**
 * ftrace_callset_without - the callset that does not call an ops
 * @cs: a callset, or NULL for the empty one
 * @ops: the ops
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the callset, @cs itself if it does not call @ops, NULL for the empty
 * one; ERR_PTR of -ENOMEM or -ENOSPC.
 */
struct ftrace_callset *ftrace_callset_without(struct ftrace_callset *cs, struct ftrace_ops *ops)
{
	struct ftrace_callset *to;
	struct ftrace_ops **list;
	unsigned int nr = 0;

	if (!ftrace_callset_has(cs, ops))
		return cs;
	list = kmalloc_array(cs->nr_ops, sizeof(*list), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);

	for (unsigned int i = 0; i < cs->nr_ops; i++) {
		if (cs->ops[i] != ops)
			list[nr++] = cs->ops[i];
	}
	to = callset_of(list, nr);
	kfree(list);
	return to;
}

/**
 * ftrace_callset_put_unused - drop a callset if no site has it
 * @cs: the callset
 *
 * One that is pinned stays for ever, with no ops left in its trampoline.
 *
 * Until the grace period is over it can still be found by its number and by
 * its trampoline, for the sake of tasks that were preempted there.
 *
 * Context: ftrace_lock is held. The memory goes after a grace period.
 */
void ftrace_callset_put_unused(struct ftrace_callset *cs)
{
	lockdep_assert_held(&ftrace_lock);

	if (cs->nr_sites)
		return;
	hash_del(&cs->node);
	if (cs->pinned)
		return;
	if (cs->tramp)
		callset_nr_tramps--;
	ftrace_retire(&cs->retiree);
}

/**
 * ftrace_callset_alloc_tramp - give a callset a trampoline, if that can be
 * @cs: the callset
 *
 * Without one its sites go through ftrace_caller and ftrace_list_func(), which
 * know nothing of direct functions. One that only has a direct function needs
 * none.
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, or -ENOMEM if it cannot do without.
 */
int ftrace_callset_alloc_tramp(struct ftrace_callset *cs)
{
	int ret = cs->direct ? -ENOMEM : 0;

	if (cs->tramp || ftrace_callset_is_direct(cs))
		return 0;
	if (cs->nr_ops > CALLSET_MAX_TRAMP_OPS || callset_nr_tramps >= CALLSET_MAX_TRAMPS)
		return ret;
	if (arch_ftrace_tramp_alloc(cs))
		return ret;
	callset_nr_tramps++;
	callset_tell_perf(cs, false);
	perf_event_text_poke((void *)cs->tramp, NULL, 0, (void *)cs->tramp, cs->tramp_size);
	return 0;
}

/**
 * ftrace_callset_target - what the sites of a callset call
 * @cs: the callset, or NULL for the empty one
 *
 * Return: an address; 0 for a NOP.
 */
unsigned long ftrace_callset_target(const struct ftrace_callset *cs)
{
	if (!cs)
		return 0;
	if (cs->tramp)
		return cs->tramp;
	if (ftrace_callset_is_direct(cs))
		return ftrace_ops_direct(cs->direct);
	if (cs->flags & FTRACE_OPS_FL_SAVE_REGS)
		return (unsigned long)ftrace_regs_caller;
	return (unsigned long)ftrace_caller;
}

/**
 * ftrace_callset_by_tramp - find the callset whose trampoline an address is in
 * @addr: the address
 *
 * Context: any, as for ftrace_callset_get().
 * Return: the callset, or NULL.
 */
struct ftrace_callset *ftrace_callset_by_tramp(unsigned long addr)
{
	struct ftrace_callset *cs;
	u32 nr;

	for_each_ftrace_callset(cs, nr) {
		if (addr - cs->tramp < cs->tramp_size)
			return cs;
	}
	return NULL;
}

/**
 * is_ftrace_trampoline - whether an address is in a trampoline
 * @addr: the address
 *
 * Context: any.
 * Return: true if code of a callset is there.
 */
bool is_ftrace_trampoline(unsigned long addr)
{
	bool ret;

	preempt_disable_notrace();
	ret = ftrace_callset_by_tramp(addr);
	preempt_enable_notrace();
	return ret;
}

/* What the static trampolines hand to a single callback. */
struct ftrace_ops *function_trace_op __read_mostly = &global_ops;

/**
 * ftrace_list_func - call all ops of a site
 * @ip: the site
 * @parent_ip: where its function returns to
 * @op: ignored
 * @fregs: the registers at the site
 *
 * What ftrace_caller calls where callsets without a trampoline exist: each
 * callset's ops are those that want the site, so nothing is tested.
 *
 * Context: any that can be traced, NMI included.
 */
void ftrace_list_func(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_callset *cs;
	struct dyn_ftrace *rec;
	int bit;

	kmsan_unpoison_memory(fregs, ftrace_regs_size());

	/* Disables preemption, which holds up the freeing of what is used. */
	bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	if (bit < 0)
		return;

	rec = ftrace_site_find(ip);
	cs = rec ? ftrace_callset_get(ftrace_rec_callset(rec)) : NULL;
	for (unsigned int i = 0; cs && i < cs->nr_funcs; i++)
		ftrace_ops_call(ip, parent_ip, cs->ops[i], fregs);

	trace_clear_recursion(bit);

	/* These bring their own protection. */
	if (cs && cs->nr_graph)
		ftrace_graph_func(ip, (unsigned long *)ftrace_regs_get_stack_pointer(fregs), cs);
}

NOKPROBE_SYMBOL(ftrace_list_func);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_callset_kunit.c"
#endif
