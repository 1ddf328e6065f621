// SPDX-License-Identifier: GPL-2.0
/*
 * Stubs: the sites of a callset that counts do not call its trampoline, but a stub
 * each, which knows the site's count and jumps to the trampoline; that adds one.
 *
 * Stubs are made for a group of records at a time, all that the group has, and never
 * change. The i-th record's of a group is i * ARCH_FTRACE_STUB_SIZE after the first.
 *
 * Invariants:
 *  1. Where a record names a callset with counts, the group has stubs there.
 *  2. A stub is freed with its callset, or a grace period after its site's text.
 *
 * ftrace_lock covers everything but ftrace_stubs_find(), which any context may call.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/rbtree_latch.h>
#include <linux/slab.h>

#include "ftrace_counts.h"
#include "ftrace_ops.h"
#include "ftrace_sites.h"
#include "ftrace_stubs.h"

/**
 * struct ftrace_stub_group - the stubs of FTRACE_COUNT_GROUP records
 * @tree: in the tree of all
 * @cs: the callset
 * @text: the first one
 * @nr: how many there are
 */
struct ftrace_stub_group {
	struct latch_tree_node	tree;
	struct ftrace_callset	*cs;
	unsigned long		text;
	unsigned int		nr;
};

/**
 * struct ftrace_stub_table - the stubs of a table's records, for one callset
 * @node: in the list of the callset
 * @table: the records
 * @retiree: frees it, if the table goes first
 * @nr: number of @group
 * @group: the groups; NULL if none of its records was the callset's
 */
struct ftrace_stub_table {
	struct list_head	node;
	const struct ftrace_table *table;
	struct ftrace_retiree	retiree;
	unsigned int		nr;
	struct ftrace_stub_group *group[] __counted_by(nr);
};

static struct latch_tree_root stub_tree __cacheline_aligned;

static unsigned int stub_group_size(const struct ftrace_stub_group *group)
{
	return group->nr * ARCH_FTRACE_STUB_SIZE;
}

/* Groups do not overlap. */
static bool stub_tree_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return container_of(a, struct ftrace_stub_group, tree)->text <
	       container_of(b, struct ftrace_stub_group, tree)->text;
}

static int stub_tree_comp(void *key, struct latch_tree_node *node)
{
	const struct ftrace_stub_group *group = container_of(node, struct ftrace_stub_group, tree);
	unsigned long addr = (unsigned long)key;

	if (addr < group->text)
		return -1;
	return addr - group->text >= stub_group_size(group);
}

static const struct latch_tree_ops stub_tree_ops = {
	.less	= stub_tree_less,
	.comp	= stub_tree_comp,
};

static struct ftrace_stub_table *stub_table(const struct ftrace_callset *cs,
					    const struct ftrace_table *table)
{
	struct ftrace_stub_table *st;

	list_for_each_entry(st, &cs->stubs, node) {
		if (st->table == table)
			return st;
	}
	return NULL;
}

static void stub_tell_perf_symbol(const struct ftrace_stub_group *group, bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, group->text, stub_group_size(group), gone,
			   FTRACE_STUB_SYM);
}

/* They have a name as long as there is text. */
static void stub_tell_perf_new(const struct ftrace_stub_group *group)
{
	void *text = (void *)group->text;

	stub_tell_perf_symbol(group, false);
	perf_event_text_poke(text, NULL, 0, text, stub_group_size(group));
}

static void stub_tell_perf_gone(const struct ftrace_stub_group *group)
{
	void *text = (void *)group->text;

	perf_event_text_poke(text, text, stub_group_size(group), NULL, 0);
	stub_tell_perf_symbol(group, true);
}

static void stub_group_hide(struct ftrace_stub_group *group)
{
	stub_tell_perf_gone(group);
	latch_tree_erase(&group->tree, &stub_tree, &stub_tree_ops);
}

static void stub_table_hide(struct ftrace_retiree *retiree)
{
	struct ftrace_stub_table *st = container_of(retiree, struct ftrace_stub_table, retiree);

	for (unsigned int i = 0; i < st->nr; i++) {
		if (st->group[i])
			stub_group_hide(st->group[i]);
	}
}

static void stub_table_free(struct ftrace_retiree *retiree)
{
	struct ftrace_stub_table *st = container_of(retiree, struct ftrace_stub_table, retiree);

	for (unsigned int i = 0; i < st->nr; i++) {
		if (!st->group[i])
			continue;
		arch_ftrace_stubs_free(st->group[i]->text, st->group[i]->nr);
		kfree(st->group[i]);
	}
	kvfree(st);
}

static struct ftrace_stub_table *stub_add_table(struct ftrace_callset *cs,
						const struct ftrace_table *table)
{
	unsigned int nr = ftrace_count_groups(table);
	struct ftrace_stub_table *st = kvzalloc(struct_size(st, group, nr), GFP_KERNEL);

	if (!st)
		return NULL;
	st->table = table;
	st->nr = nr;
	st->retiree.hide = stub_table_hide;
	st->retiree.free = stub_table_free;
	list_add(&st->node, &cs->stubs);
	return st;
}

static struct ftrace_stub_group *stub_group_make(struct ftrace_callset *cs,
						 struct ftrace_table *table, unsigned int i)
{
	u64 __percpu *counts = ftrace_counts_group(cs->counts, table, i);
	struct ftrace_stub_group *group;

	group = counts ? kzalloc(sizeof(*group), GFP_KERNEL) : NULL;
	if (!group)
		return NULL;
	group->cs = cs;
	group->nr = ftrace_count_group_size(table, i);
	group->text = arch_ftrace_stubs_alloc(cs, counts, group->nr);
	if (!group->text) {
		kfree(group);
		return NULL;
	}
	latch_tree_insert(&group->tree, &stub_tree, &stub_tree_ops);
	stub_tell_perf_new(group);
	return group;
}

/**
 * ftrace_stubs_reserve - make stubs for records that will name a callset
 * @cs: the callset, with counts and a trampoline
 * @table: the records' table
 * @rec: the first record
 * @nr: how many
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0 or -ENOMEM.
 */
int ftrace_stubs_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			 const struct ftrace_record *rec, unsigned int nr)
{
	unsigned int first = rec - table->recs;
	struct ftrace_stub_table *st = stub_table(cs, table);

	lockdep_assert_held(&ftrace_lock);

	st = st ?: stub_add_table(cs, table);
	if (!st)
		return -ENOMEM;
	for (unsigned int i = first / FTRACE_COUNT_GROUP;
	     i <= (first + nr - 1) / FTRACE_COUNT_GROUP; i++) {
		st->group[i] = st->group[i] ?: stub_group_make(cs, table, i);
		if (!st->group[i])
			return -ENOMEM;
	}
	return 0;
}

/**
 * ftrace_stubs_target - what sites of a callset call
 * @cs: the callset, with counts
 * @table: the records' table
 * @rec: the first record
 * @nr: how many
 * @target: gets what the first one calls; the next ones call the stubs that follow
 *
 * Context: ftrace_lock is held.
 * Return: for how many of the records this holds, at least 1.
 */
unsigned int ftrace_stubs_target(const struct ftrace_callset *cs, const struct ftrace_table *table,
				 const struct ftrace_record *rec, unsigned int nr,
				 unsigned long *target)
{
	unsigned int first = rec - table->recs, i = first % FTRACE_COUNT_GROUP;
	const struct ftrace_stub_table *st = stub_table(cs, table);
	const struct ftrace_stub_group *group = st ? st->group[first / FTRACE_COUNT_GROUP] : NULL;

	*target = group ? group->text + i * ARCH_FTRACE_STUB_SIZE : cs->tramp;
	return min(nr, FTRACE_COUNT_GROUP - i);
}

static struct ftrace_stub_group *stub_group_find(unsigned long addr)
{
	struct latch_tree_node *node = latch_tree_find((void *)addr, &stub_tree, &stub_tree_ops);

	return node ? container_of(node, struct ftrace_stub_group, tree) : NULL;
}

/**
 * ftrace_stubs_find - find the callset in one of whose stubs an address is
 * @addr: the address
 *
 * Context: any, as for ftrace_callset_get().
 * Return: the callset, or NULL.
 */
struct ftrace_callset *ftrace_stubs_find(unsigned long addr)
{
	const struct ftrace_stub_group *group = stub_group_find(addr);

	return group ? group->cs : NULL;
}

/**
 * ftrace_stubs_around - find the stubs among which an address is
 * @addr: the address
 * @start: gets where they begin
 *
 * Context: as for ftrace_stubs_find().
 * Return: how many bytes they are; 0 if there are none.
 */
unsigned int ftrace_stubs_around(unsigned long addr, unsigned long *start)
{
	const struct ftrace_stub_group *group = stub_group_find(addr);

	if (!group)
		return 0;
	*start = group->text;
	return stub_group_size(group);
}

/**
 * ftrace_stubs_hide - make the stubs of a callset unfindable
 * @cs: the callset; no task or CPU is in its code
 *
 * Context: ftrace_lock is held.
 */
void ftrace_stubs_hide(struct ftrace_callset *cs)
{
	struct ftrace_stub_table *st;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(st, &cs->stubs, node)
		stub_table_hide(&st->retiree);
}

/**
 * ftrace_stubs_free - free the stubs of a callset
 * @cs: the callset, whose stubs nobody finds
 *
 * Context: sleeps.
 */
void ftrace_stubs_free(struct ftrace_callset *cs)
{
	struct ftrace_stub_table *st, *next;

	list_for_each_entry_safe(st, next, &cs->stubs, node) {
		list_del(&st->node);
		stub_table_free(&st->retiree);
	}
}

/**
 * ftrace_stubs_forget_table - free the stubs of sites whose text is going away
 * @cs: their callset
 * @table: their records; the text is not executed any more
 *
 * Context: ftrace_lock is held. The memory goes after a grace period.
 */
void ftrace_stubs_forget_table(struct ftrace_callset *cs, const struct ftrace_table *table)
{
	struct ftrace_stub_table *st = stub_table(cs, table);

	lockdep_assert_held(&ftrace_lock);

	if (!st)
		return;
	list_del(&st->node);
	ftrace_retire(&st->retiree);
}
