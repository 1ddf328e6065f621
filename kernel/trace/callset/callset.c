// SPDX-License-Identifier: GPL-2.0
/*
 * Callsets: which lists of ops exist, and the trampoline of each.
 *
 * Invariants:
 *  1. No two callsets in the hash hold the same ops and the same direct function.
 *  2. A callset is found by its number from before the first record names it
 *     until a grace period after the last one did (see ftrace_retire()).
 *  3. Its ops never change: another list of ops is another callset. The exception
 *     is an ops that is silenced: its place stays empty, and the callset leaves
 *     the hash. No callset names an ops that is not registered.
 *  4. A callset in the hash has sites or is in the list of the idle ones.
 *  5. The target of its sites is settled before it gets the first one, and stays.
 *
 * ftrace_lock covers everything.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/trace_recursion.h>

#include "callset.h"
#include "counts.h"
#include "gate.h"
#include "ops.h"
#include "sites.h"

static DEFINE_HASHTABLE(callset_hash, 10);

/* Those in the hash that have no sites. */
static LIST_HEAD(callset_idle);

/*
 * Beyond this many, a callset does without a trampoline of its own. One with a direct
 * function cannot do without.
 */
#define CALLSET_MAX_TRAMPS	65536

static unsigned int callset_nr_tramps;

/* No trampoline calls more. */
static unsigned int callset_max_tramp_ops = 1024;

/**
 * ftrace_callset_at - find the callset of a site
 * @ip: the site
 *
 * Context: as for ftrace_callset_get().
 * Return: the callset; NULL if the site calls nothing, or @ip is no site.
 */
struct ftrace_callset *ftrace_callset_at(unsigned long ip)
{
	struct ftrace_record *rec = ftrace_site_find(ip);

	return rec ? ftrace_callset_get(ftrace_rec_callset(rec)) : NULL;
}

static u32 callset_key(struct ftrace_ops **ops, unsigned int nr, unsigned long direct)
{
	return jhash(ops, nr * sizeof(*ops), hash_long(direct, 32));
}

static struct ftrace_callset *callset_find(struct ftrace_ops **ops, unsigned int nr,
					   unsigned long direct)
{
	struct ftrace_callset *cs;

	hash_for_each_possible(callset_hash, cs, hash, callset_key(ops, nr, direct)) {
		if (cs->nr_ops == nr && cs->direct_addr == direct &&
		    !memcmp(cs->ops, ops, nr * sizeof(*ops)))
			return cs;
	}
	return NULL;
}

/* Stands for an ops that is gone: its callback does nothing, and it stays for ever. */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static int callset_nobody_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
				struct ftrace_regs *fregs)
{
	return 0;
}

static struct fgraph_ops callset_nobody_gops = {
	.ops.func	= ftrace_stub,
	.entryfunc	= callset_nobody_entry,
};

static struct ftrace_ops * const callset_nobody = &callset_nobody_gops.ops;
#else
static struct ftrace_ops callset_nobody_ops = {
	.func		= ftrace_stub,
};

static struct ftrace_ops * const callset_nobody = &callset_nobody_ops;
#endif

static void callset_hide(struct ftrace_retiree *retiree)
{
	struct ftrace_callset *cs = container_of(retiree, struct ftrace_callset, retiree);

	for (unsigned int i = 0; i < cs->nr_ops; i++)
		hlist_del_init(&cs->link[i].node);
	if (ftrace_stubs_used(cs))
		ftrace_stubs_hide(cs);
	ftrace_counts_put(cs->counts);
	if (cs->tramp)
		ftrace_code_remove(&cs->code);
	ftrace_callset_free_number(cs);
}

static void callset_free(struct ftrace_retiree *retiree)
{
	struct ftrace_callset *cs = container_of(retiree, struct ftrace_callset, retiree);

	if (ftrace_stubs_used(cs))
		ftrace_stubs_free(cs);
	arch_ftrace_tramp_free(cs->arch);
	for (unsigned int i = 0; i < cs->nr_ops; i++)
		ftrace_gate_put(cs->link[i].gate);
	kfree(cs);
}

static unsigned long callset_ops_flags(const struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return 0;
	return ops->flags & (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY);
}

static void callset_add_graph(struct ftrace_callset *cs, const struct ftrace_ops *ops)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	cs->graph_func = cs->nr_graph || !ops->sole_func ? ops->graph_func : ops->sole_func;
	cs->nr_graph++;
#endif
}

static void callset_add_ops(struct ftrace_callset *cs, struct ftrace_ops *ops)
{
	struct ftrace_callset_link *link = &cs->link[cs->nr_ops];

	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		cs->direct = ops;
	else if (ops->flags & FTRACE_OPS_FL_GRAPH)
		callset_add_graph(cs, ops);
	else
		cs->nr_funcs++;
	cs->flags |= callset_ops_flags(ops);
	cs->counting |= !!ops->counts;

	link->cs = cs;
	link->gate = ops->gate;
	cs->ops[cs->nr_ops++] = ops;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
static void callset_entry_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *entry, struct ftrace_regs *fregs);
static void callset_entry_one(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *entry, struct ftrace_regs *fregs);

/* ftrace_caller finds this through the word at a site. */
static void callset_set_entry(struct ftrace_callset *cs)
{
	cs->entry.func = cs->one ? callset_entry_one : callset_entry_func;
}

/* And there it finds a direct function that is all there is. */
static void callset_set_entry_direct(struct ftrace_callset *cs, unsigned long addr)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	if (cs->direct && cs->nr_ops == 1)
		WRITE_ONCE(cs->entry.direct_call, addr);
#endif
}
#else
static void callset_set_entry(struct ftrace_callset *cs)
{
}

static void callset_set_entry_direct(struct ftrace_callset *cs, unsigned long addr)
{
}
#endif

static struct ftrace_callset *callset_alloc(struct ftrace_ops **ops, unsigned int nr,
					    unsigned long direct)
{
	size_t size = struct_size_t(struct ftrace_callset, ops, nr);
	struct ftrace_callset *cs;

	cs = kzalloc(size_add(size, array_size(nr, sizeof(*cs->link))), GFP_KERNEL);
	if (!cs)
		return NULL;
	cs->link = (void *)cs + size;
	cs->retiree.hide = callset_hide;
	cs->retiree.free = callset_free;
	INIT_LIST_HEAD(&cs->idle);
	INIT_LIST_HEAD(&cs->stubs);
	for (unsigned int i = 0; i < nr; i++)
		callset_add_ops(cs, ops[i]);
	cs->direct_addr = direct;
	/* That the registers are there is for ftrace_ops_call() to see. */
	cs->one = ftrace_callset_is_plain(cs) && !(cs->flags & FTRACE_OPS_FL_SAVE_REGS);
	callset_set_entry(cs);
	callset_set_entry_direct(cs, cs->direct_addr);
	return cs;
}

static struct ftrace_callset *callset_make(struct ftrace_ops **ops, unsigned int nr,
					   unsigned long direct)
{
	struct ftrace_callset *cs = callset_alloc(ops, nr, direct);
	int ret;

	if (!cs)
		return ERR_PTR(-ENOMEM);
	ret = ftrace_callset_number(cs);
	if (ret) {
		kfree(cs);
		return ERR_PTR(ret);
	}
	for (unsigned int i = 0; i < nr; i++) {
		hlist_add_head(&cs->link[i].node, &ops[i]->callsets);
		ftrace_gate_get(cs->link[i].gate);
	}
	hash_add(callset_hash, &cs->hash, callset_key(ops, nr, direct));
	list_add(&cs->idle, &callset_idle);
	return cs;
}

static struct ftrace_callset *callset_of(struct ftrace_ops **ops, unsigned int nr,
					 unsigned long direct)
{
	struct ftrace_callset *cs;

	lockdep_assert_held(&ftrace_lock);

	if (!nr)
		return NULL;
	cs = callset_find(ops, nr, direct);
	return cs ?: callset_make(ops, nr, direct);
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

/*
 * Functions, then graph users, then the direct one; and by registration. The function with
 * FTRACE_OPS_FL_IPMODIFY comes first: another one may override what it says.
 */
static u64 callset_order(const struct ftrace_ops *ops)
{
	u64 class = ops->flags & FTRACE_OPS_FL_DIRECT ? 3 :
		    ops->flags & FTRACE_OPS_FL_GRAPH ? 2 :
		    ops->flags & FTRACE_OPS_FL_IPMODIFY ? 0 : 1;

	return class << 32 | ops->seq;
}

/* Room for the ops of a callset, and one that is added. */
static struct ftrace_ops **callset_list_alloc(const struct ftrace_callset *cs)
{
	KUNIT_STATIC_STUB_REDIRECT(callset_list_alloc, cs);
	return kmalloc_array((cs ? cs->nr_ops : 0) + 1, sizeof(struct ftrace_ops *), GFP_KERNEL);
}

/* Lists the ops of a callset but for @without and those that are gone; returns how many. */
static unsigned int callset_list(const struct ftrace_callset *cs, const struct ftrace_ops *without,
				 struct ftrace_ops **list)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; cs && i < cs->nr_ops; i++) {
		if (cs->ops[i] != without && cs->ops[i] != callset_nobody)
			list[nr++] = cs->ops[i];
	}
	return nr;
}

static void callset_list_insert(struct ftrace_ops **list, unsigned int nr, struct ftrace_ops *ops)
{
	for (; nr && callset_order(list[nr - 1]) > callset_order(ops); nr--)
		list[nr] = list[nr - 1];
	list[nr] = ops;
}

/* The callset that calls @with, if not NULL, but not @without, and the rest of @cs. */
static struct ftrace_callset *callset_change(const struct ftrace_callset *cs,
					     const struct ftrace_ops *without,
					     struct ftrace_ops *with, unsigned long addr)
{
	struct ftrace_ops **list __free(kfree) = callset_list_alloc(cs);
	unsigned long direct = 0;
	unsigned int nr;

	if (!list)
		return ERR_PTR(-ENOMEM);
	nr = callset_list(cs, without, list);
	if (with)
		callset_list_insert(list, nr++, with);
	if (cs && cs->direct != without)
		direct = cs->direct_addr;
	if (with && (with->flags & FTRACE_OPS_FL_DIRECT))
		direct = addr;
	return callset_of(list, nr, direct);
}

/**
 * ftrace_callset_with - the callset that also calls an ops
 * @cs: a callset, or NULL for the empty one
 * @ops: the ops
 * @addr: the function that is called for a direct @ops
 *
 * A callset that is made here has no sites and no trampoline yet; if no site gets
 * it, ftrace_callsets_drop_idle() drops it.
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the callset, @cs itself if it calls @ops so already; ERR_PTR of -ENOMEM,
 * -ENOSPC (too many callsets), or -EBUSY (two ops with FTRACE_OPS_FL_IPMODIFY or
 * two direct ones, or one of each that cannot share a function).
 */
struct ftrace_callset *ftrace_callset_with(struct ftrace_callset *cs, struct ftrace_ops *ops,
					   unsigned long addr)
{
	if (ftrace_callset_has(cs, ops)) {
		if (cs->direct != ops || cs->direct_addr == addr)
			return cs;
		return callset_change(cs, ops, ops, addr);
	}
	for (unsigned int i = 0; cs && i < cs->nr_ops; i++) {
		if (ftrace_ops_conflict(cs->ops[i], ops))
			return ERR_PTR(-EBUSY);
	}
	return callset_change(cs, NULL, ops, addr);
}

/**
 * ftrace_callset_without - the callset that does not call an ops
 * @cs: a callset, or NULL for the empty one
 * @ops: the ops
 *
 * The way to the empty one takes no memory: sites that call a direct function without
 * a trampoline always find it.
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the callset, @cs itself if it does not call @ops, NULL for the empty
 * one; ERR_PTR of -ENOMEM or -ENOSPC.
 */
struct ftrace_callset *ftrace_callset_without(struct ftrace_callset *cs, struct ftrace_ops *ops)
{
	if (!ftrace_callset_has(cs, ops))
		return cs;
	return cs->nr_ops - cs->nr_gone == 1 ? NULL : callset_change(cs, ops, NULL, 0);
}

/**
 * ftrace_callset_add_sites - count the records that name a callset
 * @cs: the callset, or NULL for the empty one, whose records are not counted
 * @nr: how many more there are; negative if there are fewer
 *
 * Context: ftrace_lock is held.
 */
void ftrace_callset_add_sites(struct ftrace_callset *cs, int nr)
{
	lockdep_assert_held(&ftrace_lock);

	if (!cs)
		return;
	cs->nr_sites += nr;
	if (cs->nr_sites)
		list_del_init(&cs->idle);
	else if (list_empty(&cs->idle))
		list_add(&cs->idle, &callset_idle);
}

/*
 * The owner of a direct function learns only that no site calls it any more, and may free it
 * long before its ops is detached.
 */
static void callset_silence_direct(struct ftrace_callset *cs)
{
	struct ftrace_patch *patch = arch_ftrace_patch_begin(1);

	ftrace_callset_silence(&cs->link[cs->nr_ops - 1], patch);
	arch_ftrace_patch_end(patch);
}

/*
 * Drops a callset that has no sites. One to whose target altered text may lead, or which
 * the word of a site that was not written may name, stays for ever, and passes over its direct
 * function.
 *
 * Until a grace period is over it can still be found by its number and by
 * its trampoline, for the sake of tasks that were preempted there.
 */
static void callset_drop(struct ftrace_callset *cs)
{
	lockdep_assert_held(&ftrace_lock);

	hash_del(&cs->hash);
	list_del_init(&cs->idle);
	if (cs->pinned ||
	    (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) && !arch_ftrace_wrote_all())) {
		if (cs->direct)
			callset_silence_direct(cs);
		return;
	}
	if (cs->tramp)
		callset_nr_tramps--;
	ftrace_retire(&cs->retiree);
}

/**
 * ftrace_callsets_drop_idle - drop all callsets that have no sites
 *
 * Context: ftrace_lock is held.
 */
void ftrace_callsets_drop_idle(void)
{
	struct ftrace_callset *cs, *next;

	list_for_each_entry_safe(cs, next, &callset_idle, idle)
		callset_drop(cs);
}

/* The function of @cs that its stubs count for, or NULL. */
static const struct ftrace_ops *callset_counted(const struct ftrace_callset *cs)
{
	for (unsigned int i = 0; cs->counts && i < cs->nr_funcs; i++) {
		if (cs->ops[i]->counts == cs->counts)
			return cs->ops[i];
	}
	return NULL;
}

/* Whether some calls are not to be counted. */
static bool callset_asks(const struct ftrace_ops *counted)
{
	return counted && counted->func != counted->saved_func;
}

/**
 * ftrace_callset_retarget - let a callset's trampoline call another function for an ops
 * @link: the callset's link to the ops
 * @patch: the batch that does it
 * @to: the new function; NULL to pass over the ops for good
 *
 * Nothing happens where there is no trampoline, or the ops is no function.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_callset_retarget(struct ftrace_callset_link *link, struct ftrace_patch *patch,
			     ftrace_func_t to)
{
	struct ftrace_callset *cs = link->cs;
	unsigned int i = link - cs->link;

	lockdep_assert_held(&ftrace_lock);

	if (!cs->arch || i >= cs->nr_funcs)
		return;
	/* One that is going away counts on: its counts stay as long as the code. */
	if (cs->ops[i] == callset_counted(cs))
		arch_ftrace_tramp_ask(patch, cs->arch, to && callset_asks(cs->ops[i]));
	else
		arch_ftrace_tramp_retarget(patch, cs->arch, i, to);
}

/**
 * ftrace_callset_silence - let a callset pass over an ops that is going away
 * @link: the callset's link to the ops
 * @patch: the batch that changes the trampoline
 *
 * A task that is in the trampoline, or comes there through altered text, does not
 * enter the ops once the batch is applied, nor does one that reads the callset once
 * ftrace_gate_close() has returned. The callset may keep its sites.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_callset_silence(struct ftrace_callset_link *link, struct ftrace_patch *patch)
{
	struct ftrace_callset *cs = link->cs;
	unsigned int i = link - cs->link;

	lockdep_assert_held(&ftrace_lock);

	hash_del(&cs->hash);
	hlist_del_init(&link->node);
	if (cs->ops[i] == cs->direct) {
		callset_set_entry_direct(cs, (unsigned long)ftrace_stub_return);
		if (cs->arch)
			arch_ftrace_tramp_silence_direct(patch, cs->arch);
		cs->direct = NULL;
		WRITE_ONCE(cs->direct_addr, 0);
	} else {
		ftrace_callset_retarget(link, patch, NULL);
	}
	WRITE_ONCE(cs->ops[i], callset_nobody);
	cs->nr_gone++;

	cs->flags = 0;
	for (i = 0; i < cs->nr_ops; i++)
		cs->flags |= callset_ops_flags(cs->ops[i]);
}

/* Which ops the stubs count for; the others that count are called. */
static struct ftrace_counts *callset_stub_counts(const struct ftrace_callset *cs)
{
	for (unsigned int i = 0; ARCH_FTRACE_STUB_SIZE && i < cs->nr_funcs; i++) {
		if (cs->ops[i]->counts)
			return cs->ops[i]->counts;
	}
	return NULL;
}

/* Returns false without memory. */
static bool callset_make_tramp(struct ftrace_callset *cs)
{
	const struct ftrace_ops *counted = callset_counted(cs);
	struct ftrace_tramp_call *calls __free(kfree) = NULL;
	struct ftrace_tramp_desc desc = {
		.flags		= cs->flags,
		.nr_funcs	= cs->nr_funcs,
		.nr_graph	= cs->nr_graph,
		.graph_func	= cs->graph_func,
		.graph_arg	= cs,
		.direct		= cs->direct_addr,
		.counts		= cs->counts,
		.asks		= callset_asks(counted),
		.ignored	= cs->counts ? &cs->counts->ignored : NULL,
		.off		= cs->counts ? cs->counts->off : NULL,
	};

	calls = kcalloc(cs->nr_ops, sizeof(*calls), GFP_KERNEL);
	if (!calls)
		return false;
	for (unsigned int i = 0; i < cs->nr_funcs + cs->nr_graph; i++) {
		calls[i].arg = cs->ops[i];
		calls[i].gate = cs->link[i].gate ? cs->link[i].gate->count : NULL;
		if (i < cs->nr_funcs && cs->ops[i] != counted)
			calls[i].func = ftrace_ops_get_func(cs->ops[i]);
		if (cs->ops[i]->moves)
			desc.flags |= FTRACE_OPS_FL_IPMODIFY;
	}
	desc.calls = calls;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/* A user's own function may do without. */
	if (cs->nr_graph) {
		const struct ftrace_ops *graph = cs->ops[cs->nr_funcs];

		desc.graph_regs = cs->graph_func == graph->graph_func || graph->sole_regs;
	}
#endif
	cs->arch = arch_ftrace_tramp_alloc(&desc);
	return cs->arch;
}

/*
 * Without a trampoline sites go through ftrace_caller. Where there are trampolines it does
 * not go on to a direct function.
 */
static int callset_alloc_tramp(struct ftrace_callset *cs)
{
	int ret = cs->direct && IS_ENABLED(CONFIG_HAVE_FTRACE_TRAMPOLINES) ? -ENOMEM : 0;

	if (ftrace_callset_is_direct(cs))
		return 0;
	if (cs->nr_ops > callset_max_tramp_ops ||
	    (!cs->direct && (callset_nr_tramps >= CALLSET_MAX_TRAMPS || ftrace_retired_is_full())))
		return ret;
	cs->counts = callset_stub_counts(cs);
	if (!callset_make_tramp(cs)) {
		cs->counts = NULL;
		return ret;
	}
	cs->tramp = cs->arch->text;
	cs->tramp_size = cs->arch->size;
	ftrace_counts_get(cs->counts);
	callset_nr_tramps++;
	cs->code.cs = cs;
	cs->code.start = cs->tramp;
	cs->code.size = cs->tramp_size;
	cs->code.name = FTRACE_TRAMPOLINE_SYM;
	ftrace_code_add(&cs->code);
	cs->retiree.text = cs->tramp_size;
	return 0;
}

/**
 * ftrace_callset_establish - settle the target of a callset's sites
 * @cs: the callset
 *
 * That is its trampoline. A callset that only has a direct function needs no
 * trampoline. One that cannot get a trampoline goes through ftrace_caller and
 * arch_ftrace_ops_list_func().
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, also if it was settled before; -ENOMEM if the callset cannot do
 * without a trampoline.
 */
int ftrace_callset_establish(struct ftrace_callset *cs)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (cs->target)
		return 0;
	ret = callset_alloc_tramp(cs);
	if (ret)
		return ret;

	if (cs->tramp)
		cs->target = cs->tramp;
	else if (ftrace_callset_is_direct(cs))
		cs->target = cs->direct_addr;
	else if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) &&
		 cs->flags & FTRACE_OPS_FL_SAVE_REGS)
		cs->target = (unsigned long)ftrace_regs_caller;
	else
		cs->target = (unsigned long)ftrace_caller;
	return 0;
}

/**
 * ftrace_callsets_establish - ftrace_callset_establish() for all that are coming
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: as there.
 */
int ftrace_callsets_establish(void)
{
	struct ftrace_callset *cs;
	int ret = 0;

	list_for_each_entry(cs, &callset_idle, idle) {
		if (cs->gaining)
			ret = ret ?: ftrace_callset_establish(cs);
		cs->gaining = false;
	}
	return ret;
}

static int callset_reserve_counts(struct ftrace_callset *cs, struct ftrace_table *table,
				  unsigned int first, unsigned int last)
{
	for (unsigned int i = 0; i < cs->nr_ops; i++) {
		struct ftrace_counts *counts = cs->ops[i]->counts;

		for (unsigned int group = first; counts && group <= last; group++) {
			if (!ftrace_counts_group(counts, table, group))
				return -ENOMEM;
		}
	}
	return 0;
}

/**
 * ftrace_callset_reserve - prepare a callset that counts for the records it will get
 * @cs: the callset, established
 * @table: the records' table
 * @rec: the first record
 * @nr: how many
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0 or -ENOMEM.
 */
int ftrace_callset_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			   const struct ftrace_record *rec, unsigned int nr)
{
	unsigned int first = rec - table->recs;
	int ret;

	ret = callset_reserve_counts(cs, table, first / FTRACE_COUNT_GROUP,
				     (first + nr - 1) / FTRACE_COUNT_GROUP);
	if (ret || !ftrace_stubs_used(cs))
		return ret;
	return ftrace_stubs_reserve(cs, table, rec, nr);
}

/**
 * ftrace_callset_target - the target of a callset's sites, unless they call a stub each
 * @cs: the callset, or NULL for the empty one
 *
 * Return: an address; 0 for a NOP.
 */
unsigned long ftrace_callset_target(const struct ftrace_callset *cs)
{
	return cs ? cs->target : 0;
}

#ifdef CONFIG_UNWINDER_ORC
/**
 * ftrace_tramp_orc - unwind data of a trampoline
 * @ip: an address
 *
 * Context: any. The unwinder keeps no pointer beyond one step.
 * Return: the entry for @ip, or NULL if that is not in a trampoline.
 */
struct orc_entry *ftrace_tramp_orc(unsigned long ip)
{
	const struct ftrace_code *code = ftrace_code_find(ip);

	if (!code)
		return NULL;
	/* A stub leaves the stack as a trampoline finds it. */
	return arch_ftrace_tramp_orc(code->cs->arch,
				     code == &code->cs->code ? ip : code->cs->tramp);
}
#endif

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
	ret = ftrace_code_find(addr);
	preempt_enable_notrace();
	return ret;
}

static __always_inline void callset_list_call(unsigned long ip, unsigned long parent_ip,
					      struct ftrace_callset *cs, struct ftrace_regs *fregs)
{
	int bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	unsigned long *slot = arch_ftrace_return_slot(fregs);
	unsigned long ret = FTRACE_RETURN_ON_STACK ? 0 : *slot, hooked, to;

	if (bit < 0)
		return;
	/* That has disabled preemption again. Callbacks are to see it disabled once. */
	preempt_enable_no_resched_notrace();
	for (unsigned int i = 0; i < cs->nr_funcs; i++)
		ftrace_ops_call(ip, parent_ip, READ_ONCE(cs->ops[i]), fregs);
	preempt_disable_notrace();
	trace_clear_recursion(bit);

	hooked = FTRACE_RETURN_ON_STACK ? 0 : *slot;
	/* These bring their own protection. */
	if (cs->nr_graph)
		cs->graph_func(ip, slot, cs, fregs);
	if (FTRACE_RETURN_ON_STACK)
		return;
	/*
	 * A function that is overridden goes on where it would return to then. As that is in a
	 * register, kretprobes and graph users may hook it afterwards: it is to return by all.
	 */
	to = ftrace_regs_get_instruction_pointer(fregs);
	if (unlikely(to == ret || to == hooked))
		ftrace_regs_set_instruction_pointer(fregs, *slot);
}

/* The direct function that follows the other ops; preemption is disabled. */
static __always_inline void callset_list_go_direct(struct ftrace_callset *cs,
						   struct ftrace_regs *fregs)
{
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && \
	!defined(CONFIG_HAVE_FTRACE_TRAMPOLINES)
	unsigned long addr = READ_ONCE(cs->direct_addr);

	/* It would call a function that is overridden, and then its caller. */
	if (addr && ftrace_regs_get_instruction_pointer(fregs) != *arch_ftrace_return_slot(fregs))
		arch_ftrace_set_direct_caller(fregs, addr);
#endif
}

/*
 * One ops that brings all the protection that it needs, and has a gate if it may go away.
 * Preemption stays as it is, so a callback that records it sees the same as from a
 * trampoline.
 */
static __always_inline void callset_call_one(unsigned long ip, unsigned long parent_ip,
					     struct ftrace_callset *cs, struct ftrace_regs *fregs)
{
	struct ftrace_gate *gate = cs->link[0].gate;
	struct ftrace_ops *ops;

	if (gate)
		ftrace_gate_enter(gate->count);
	ops = READ_ONCE(cs->ops[0]);
	ops->func(ip, parent_ip, ops, fregs);
	if (gate)
		ftrace_gate_leave(gate->count);
}

/**
 * arch_ftrace_ops_list_func - call all ops of a site
 * @ip: the site
 * @parent_ip: where its function returns to
 * @op: ignored
 * @fregs: the registers at the site
 *
 * ftrace_caller and ftrace_regs_caller call it, for callsets without a trampoline:
 * a callset's ops are those that want the site, so nothing is tested.
 *
 * Context: any that can be traced, NMI included.
 */
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_callset *cs;

	kmsan_unpoison_memory(fregs, ftrace_regs_size());

	/* Holds up the freeing of the record and the table; a callset waits for all tasks, too. */
	preempt_disable_notrace();
	ftrace_gate_enter(&ftrace_list_gate);
	/* While there is only one callset, a call that gets here comes from a site of it. */
	cs = ftrace_callset_only() ?: ftrace_callset_at(ip);
	if (cs && !cs->one) {
		callset_list_call(ip, parent_ip, cs, fregs);
		callset_list_go_direct(cs, fregs);
	}
	ftrace_gate_leave(&ftrace_list_gate);
	preempt_enable_notrace();

	if (cs && cs->one)
		callset_call_one(ip, parent_ip, cs, fregs);
}

NOKPROBE_SYMBOL(arch_ftrace_ops_list_func);

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/* As arch_ftrace_ops_list_func(), for a callset that the word at the site has named. */
static void callset_entry_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *entry, struct ftrace_regs *fregs)
{
	struct ftrace_callset *cs = container_of(entry, struct ftrace_callset, entry);

	kmsan_unpoison_memory(fregs, ftrace_regs_size());

	preempt_disable_notrace();
	ftrace_gate_enter(&ftrace_list_gate);
	callset_list_call(ip, parent_ip, cs, fregs);
	ftrace_gate_leave(&ftrace_list_gate);
	callset_list_go_direct(cs, fregs);
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(callset_entry_func);

static void callset_entry_one(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *entry, struct ftrace_regs *fregs)
{
	kmsan_unpoison_memory(fregs, ftrace_regs_size());
	callset_call_one(ip, parent_ip, container_of(entry, struct ftrace_callset, entry), fregs);
}

NOKPROBE_SYMBOL(callset_entry_one);
#endif

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callset_kunit.c"
#endif
