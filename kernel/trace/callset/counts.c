// SPDX-License-Identifier: GPL-2.0
/*
 * Counts: how often each site was called, for each CPU.
 *
 * Invariants:
 *  1. A count is changed by its own CPU only, and by one instruction that cannot be
 *     interrupted: nothing is lost to interrupts, NMIs and migration. Where this_cpu_inc()
 *     is several (powerpc), a call in an NMI may be.
 *  2. A count that a callset's code changes stays until the callset is freed. Others
 *     are found through a table, and stay for a grace period after that is gone.
 *
 * ftrace_lock covers everything but ftrace_counts_find() and counting itself, for which
 * ftrace_count_call() is there where no code of a callset does it.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/rculist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "counts.h"
#include "ops.h"

/* So many words are set to zero with interrupts off. */
#define COUNTS_CHUNK	((unsigned int)(SZ_64K / sizeof(u64)))

static void counts_free(struct ftrace_retiree *retiree)
{
	struct ftrace_counts *counts = container_of(retiree, struct ftrace_counts, retiree);

	free_percpu(counts->off);
	kfree(counts);
}

/**
 * ftrace_counts_alloc - make counts, of no site yet
 * @words: numbers for each site
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the counts, with one reference; NULL without memory.
 */
struct ftrace_counts *ftrace_counts_alloc(unsigned int words)
{
	struct ftrace_counts *counts = kzalloc_obj(*counts);

	lockdep_assert_held(&ftrace_lock);

	if (!counts)
		return NULL;
	counts->off = alloc_percpu(u32);
	if (!counts->off) {
		kfree(counts);
		return NULL;
	}
	refcount_set(&counts->ref, 1);
	counts->words = words;
	counts->retiree.free = counts_free;
	return counts;
}

/**
 * ftrace_counts_get - take a reference to counts
 * @counts: the counts, or NULL
 *
 * Context: ftrace_lock is held.
 */
void ftrace_counts_get(struct ftrace_counts *counts)
{
	if (counts)
		refcount_inc(&counts->ref);
}

static void counts_table_free(struct ftrace_retiree *retiree)
{
	struct ftrace_count_table *ct = container_of(retiree, struct ftrace_count_table, retiree);

	for (unsigned int i = 0; i < ct->nr; i++)
		free_percpu(ct->group[i]);
	kvfree(ct);
}

static struct ftrace_count_table *counts_find_table(const struct ftrace_counts *counts,
						    const struct ftrace_table *table)
{
	struct ftrace_count_table *ct;

	hlist_for_each_entry_rcu(ct, &table->counts, node, true) {
		if (ct->counts == counts)
			return ct;
	}
	return NULL;
}

static void counts_table_retire(struct ftrace_count_table *ct)
{
	hlist_del_rcu(&ct->node);
	ftrace_retire(&ct->retiree);
}

/**
 * ftrace_counts_put - give a reference to counts back
 * @counts: the counts, or NULL; freed some time after the last reference
 *
 * Context: ftrace_lock is held.
 */
void ftrace_counts_put(struct ftrace_counts *counts)
{
	struct ftrace_count_table *ct;
	struct ftrace_table *table;

	lockdep_assert_held(&ftrace_lock);

	if (!counts || !refcount_dec_and_test(&counts->ref))
		return;
	for_each_ftrace_table(table) {
		ct = counts_find_table(counts, table);
		if (ct)
			counts_table_retire(ct);
	}
	ftrace_retire(&counts->retiree);
}

/**
 * ftrace_counts_table - the counts of a table, made if they are not there
 * @counts: the counts
 * @table: the records
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the counts, which may have no group yet; NULL without memory.
 */
struct ftrace_count_table *ftrace_counts_table(struct ftrace_counts *counts,
					       struct ftrace_table *table)
{
	struct ftrace_count_table *ct = counts_find_table(counts, table);
	unsigned int nr = ftrace_count_groups(table);

	lockdep_assert_held(&ftrace_lock);

	if (ct)
		return ct;
	ct = kvzalloc(struct_size(ct, group, nr), GFP_KERNEL);
	if (!ct)
		return NULL;
	ct->counts = counts;
	ct->table = table;
	ct->words = counts->words;
	ct->nr = nr;
	ct->retiree.free = counts_table_free;
	hlist_add_head_rcu(&ct->node, &table->counts);
	return ct;
}

/**
 * ftrace_counts_group - the counts of a group of records, made if they are not there
 * @counts: the counts
 * @table: the records
 * @group: which FTRACE_COUNT_GROUP of them
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the count of the group's first record, which the others follow; NULL
 * without memory.
 */
u64 __percpu *ftrace_counts_group(struct ftrace_counts *counts, struct ftrace_table *table,
				  unsigned int group)
{
	struct ftrace_count_table *ct;
	u64 __percpu *new;

	KUNIT_STATIC_STUB_REDIRECT(ftrace_counts_group, counts, table, group);
	ct = ftrace_counts_table(counts, table);
	if (!ct)
		return NULL;
	if (ct->group[group])
		return ct->group[group];
	new = __alloc_percpu(ftrace_count_group_size(table, group) * ct->words * sizeof(u64),
			     sizeof(u64));
	/* The zeroes before the pointer. Pairs with ftrace_counts_find(). */
	smp_store_release(&ct->group[group], new);
	return new;
}

/**
 * ftrace_counts_find - the count of a record
 * @counts: the counts
 * @table: the record's table
 * @index: where the record is in the table
 *
 * Context: any; ftrace_lock is held, or the caller is one that ftrace_retire() waits
 * for.
 * Return: the count, the first one of several, or NULL if the site was never to be counted.
 */
u64 __percpu *ftrace_counts_find(const struct ftrace_counts *counts,
				 const struct ftrace_table *table, unsigned int index)
{
	const struct ftrace_count_table *ct = counts_find_table(counts, table);
	u64 __percpu *group;

	if (!ct)
		return NULL;
	/* Pairs with ftrace_counts_group(). */
	group = smp_load_acquire(&ct->group[index / FTRACE_COUNT_GROUP]);
	return group ? group + index % FTRACE_COUNT_GROUP * ct->words : NULL;
}

/**
 * ftrace_count_call - the function of an ops that counts
 * @ip: the site
 * @parent_ip: not asked for
 * @ops: the ops
 * @fregs: not asked for
 *
 * Context: any that can be traced, NMI included.
 */
void ftrace_count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	const struct ftrace_counts *counts = READ_ONCE(ops->counts);
	const struct ftrace_table *table;
	u64 __percpu *count = NULL;

	/* Holds up the freeing of the table and the counts. */
	preempt_disable_notrace();
	table = ftrace_table_find(ip);
	if (table && counts)
		count = ftrace_counts_find(counts, table, ftrace_table_lower_bound(table, ip));
	if (count)
		this_cpu_inc(*count);
	preempt_enable_notrace();
}

/**
 * struct counts_part - counts that each CPU sets to zero at once
 * @group: groups of words
 * @size: words of each group
 * @from: the first word to set to zero, which is the first of a group
 * @to: the one after the last
 */
struct counts_part {
	u64 __percpu *const	*group;
	unsigned int		size;
	unsigned int		from;
	unsigned int		to;
};

static void counts_zero_cpu(const struct counts_part *part, int cpu)
{
	for (unsigned int i = part->from; i < part->to; i += part->size) {
		u64 __percpu *group = part->group[i / part->size];
		unsigned int nr = min(part->to - i, part->size);
		u64 *count;

		if (!group)
			continue;
		count = per_cpu_ptr(group, cpu);
		/* Each at once: calls are counted meanwhile, in NMIs. */
		for (unsigned int j = 0; j < nr; j++)
			WRITE_ONCE(count[j], 0);
	}
}

static bool counts_any(const struct counts_part *part)
{
	for (unsigned int i = part->from; i < part->to; i += part->size) {
		if (part->group[i / part->size])
			return true;
	}
	return false;
}

static void counts_zero_this_cpu(void *data)
{
	counts_zero_cpu(data, smp_processor_id());
}

/**
 * ftrace_counts_zero - set to zero the counts of all CPUs
 * @group: groups of counts; NULL ones are left out
 * @size: how many words a group has, COUNTS_CHUNK at most
 * @nr: how many words there are in all; the last group may have fewer than @size
 *
 * Each CPU does so for itself: a call that it counts meanwhile is counted before or after.
 *
 * Context: sleeps.
 */
void ftrace_counts_zero(u64 __percpu *const *group, unsigned int size, unsigned int nr)
{
	unsigned int step = rounddown(COUNTS_CHUNK, size);
	int cpu;

	for (unsigned int from = 0; from < nr; from += step) {
		struct counts_part part = { group, size, from, min(from + step, nr) };

		/* Most functions have no times. No CPU is interrupted for these. */
		if (!counts_any(&part))
			continue;

		guard(cpus_read_lock)();

		on_each_cpu(counts_zero_this_cpu, &part, true);
		for_each_possible_cpu(cpu) {
			if (!cpu_online(cpu))
				counts_zero_cpu(&part, cpu);
		}
	}
}

/**
 * ftrace_counts_reset - set all counts to zero
 * @counts: the counts
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_counts_reset(struct ftrace_counts *counts)
{
	struct ftrace_count_table *ct;
	struct ftrace_table *table;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_table(table) {
		ct = counts_find_table(counts, table);
		if (ct)
			ftrace_counts_zero(ct->group, FTRACE_COUNT_GROUP * ct->words,
					   table->nr * ct->words);
	}
}

/**
 * ftrace_counts_forget_table - forget the counts of text that goes
 * @table: the records; the text is not executed any more
 *
 * Context: ftrace_lock is held.
 */
void ftrace_counts_forget_table(struct ftrace_table *table)
{
	struct ftrace_count_table *ct;
	struct hlist_node *next;

	lockdep_assert_held(&ftrace_lock);

	hlist_for_each_entry_safe(ct, next, &table->counts, node)
		counts_table_retire(ct);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/counts_kunit.c"
#endif
