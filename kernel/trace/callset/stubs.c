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
 * ftrace_lock covers all of it.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "callset.h"
#include "counts.h"
#include "ops.h"

/**
 * struct ftrace_stub_table - the stubs of a table's records, for one callset
 * @node: in the list of the callset
 * @table: the records
 * @retiree: frees it, if the table goes first
 * @nr: number of @group
 * @group: the stubs of FTRACE_COUNT_GROUP records each; NULL while a group has no record of it
 */
struct ftrace_stub_table {
	struct list_head	node;
	const struct ftrace_table *table;
	struct ftrace_retiree	retiree;
	unsigned int		nr;
	struct ftrace_code	*group[] __counted_by(nr);
};

static struct ftrace_stub_table *stubs_table(const struct ftrace_callset *cs,
					     const struct ftrace_table *table)
{
	struct ftrace_stub_table *st;

	list_for_each_entry(st, &cs->stubs, node) {
		if (st->table == table)
			return st;
	}
	return NULL;
}

static void stubs_table_hide(struct ftrace_retiree *retiree)
{
	struct ftrace_stub_table *st = container_of(retiree, struct ftrace_stub_table, retiree);

	for (unsigned int i = 0; i < st->nr; i++) {
		if (st->group[i])
			ftrace_code_remove(st->group[i]);
	}
}

static void stubs_table_free(struct ftrace_retiree *retiree)
{
	struct ftrace_stub_table *st = container_of(retiree, struct ftrace_stub_table, retiree);

	for (unsigned int i = 0; i < st->nr; i++) {
		if (!st->group[i])
			continue;
		arch_ftrace_stubs_free(st->group[i]->start,
				       st->group[i]->size / ARCH_FTRACE_STUB_SIZE);
		kfree(st->group[i]);
	}
	kvfree(st);
}

static struct ftrace_stub_table *stubs_add_table(struct ftrace_callset *cs,
						 const struct ftrace_table *table)
{
	unsigned int nr = ftrace_count_groups(table);
	struct ftrace_stub_table *st = kvzalloc(struct_size(st, group, nr), GFP_KERNEL);

	if (!st)
		return NULL;
	st->table = table;
	st->nr = nr;
	st->retiree.hide = stubs_table_hide;
	st->retiree.free = stubs_table_free;
	list_add(&st->node, &cs->stubs);
	return st;
}

static struct ftrace_code *stubs_make_group(struct ftrace_callset *cs,
					    struct ftrace_stub_table *st,
					    struct ftrace_table *table, unsigned int i)
{
	u64 __percpu *counts = ftrace_counts_group(cs->counts, table, i);
	unsigned int nr = ftrace_count_group_size(table, i);
	struct ftrace_code *group;

	group = counts ? kzalloc_obj(*group) : NULL;
	if (!group)
		return NULL;
	group->cs = cs;
	group->size = nr * ARCH_FTRACE_STUB_SIZE;
	group->name = FTRACE_STUB_SYM;
	group->start = arch_ftrace_stubs_alloc(cs->arch, counts, nr);
	if (!group->start) {
		kfree(group);
		return NULL;
	}
	ftrace_code_add(group);
	/* They are retired with the callset, or before it with the table. */
	st->retiree.text += group->size;
	cs->retiree.text += group->size;
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
	struct ftrace_stub_table *st = stubs_table(cs, table);

	lockdep_assert_held(&ftrace_lock);

	st = st ?: stubs_add_table(cs, table);
	if (!st)
		return -ENOMEM;
	for (unsigned int i = first / FTRACE_COUNT_GROUP;
	     i <= (first + nr - 1) / FTRACE_COUNT_GROUP; i++) {
		st->group[i] = st->group[i] ?: stubs_make_group(cs, st, table, i);
		if (!st->group[i])
			return -ENOMEM;
	}
	return 0;
}

/**
 * ftrace_stubs_target - the targets of sites of a callset
 * @cs: the callset, with counts
 * @table: the records' table
 * @rec: the first record
 * @nr: how many
 * @target: gets the target of the first one; the next ones call the stubs that follow
 *
 * Context: ftrace_lock is held.
 * Return: for how many of the records this holds, at least 1.
 */
unsigned int ftrace_stubs_target(const struct ftrace_callset *cs, const struct ftrace_table *table,
				 const struct ftrace_record *rec, unsigned int nr,
				 unsigned long *target)
{
	unsigned int first = rec - table->recs, i = first % FTRACE_COUNT_GROUP;
	const struct ftrace_stub_table *st = stubs_table(cs, table);
	const struct ftrace_code *group = st ? st->group[first / FTRACE_COUNT_GROUP] : NULL;

	*target = group ? group->start + i * ARCH_FTRACE_STUB_SIZE : cs->tramp;
	return min(nr, FTRACE_COUNT_GROUP - i);
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
		stubs_table_hide(&st->retiree);
}

/**
 * ftrace_stubs_free - free the stubs of a callset
 * @cs: the callset, whose stubs cannot be found
 *
 * Context: sleeps.
 */
void ftrace_stubs_free(struct ftrace_callset *cs)
{
	struct ftrace_stub_table *st, *next;

	list_for_each_entry_safe(st, next, &cs->stubs, node) {
		list_del(&st->node);
		stubs_table_free(&st->retiree);
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
	struct ftrace_stub_table *st = stubs_table(cs, table);

	lockdep_assert_held(&ftrace_lock);

	if (!st)
		return;
	/* Those of a retired callset go with it: unwinders get to it by them until then. */
	if (hlist_unhashed(&cs->hash) && !cs->nr_sites && !cs->pinned)
		return;
	list_del(&st->node);
	/* One that is retired counts as much text when it is freed as it did then. */
	if (!hlist_unhashed(&cs->hash))
		cs->retiree.text -= st->retiree.text;
	ftrace_retire(&st->retiree);
}
