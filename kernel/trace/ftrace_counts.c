// SPDX-License-Identifier: GPL-2.0
/*
 * Counts: how often each site was called, for each CPU.
 *
 * Invariants:
 *  1. A count is changed by its own CPU only, and by one instruction that cannot be
 *     interrupted: nothing is lost to interrupts, NMIs and migration.
 *  2. A count that a callset's code changes stays until the callset is freed. Others
 *     are found through a table, and stay for a grace period after that is gone.
 *  3. What a module's sites counted is added up by name when the module goes.
 *
 * ftrace_lock covers everything but ftrace_counts_find() and counting itself, for which
 * ftrace_count_call() is there where no code of a callset does it.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "ftrace_counts.h"
#include "ftrace_ops.h"

/**
 * struct ftrace_count_table - the counts of a table's sites
 * @node: in the list of the counts
 * @table: the table
 * @retiree: frees it
 * @nr: number of @group
 * @group: the counts of FTRACE_COUNT_GROUP records; NULL if none of them was counted
 */
struct ftrace_count_table {
	struct list_head	node;
	struct ftrace_table	*table;
	struct ftrace_retiree	retiree;
	unsigned int		nr;
	u64 __percpu		*group[] __counted_by(nr);
};

static LIST_HEAD(counts_all);

/**
 * ftrace_count_gone_add - begin to keep by name what was counted
 * @list: where
 * @name: the name
 *
 * Context: sleeps; whatever covers @list is held.
 * Return: the entry, whose counts are zero; NULL without memory.
 */
struct ftrace_count_gone *ftrace_count_gone_add(struct list_head *list, const char *name)
{
	struct ftrace_count_gone *gone;
	size_t len = strlen(name) + 1;
	size_t size = ALIGN(struct_size(gone, name, len), sizeof(u64));

	gone = kzalloc(size + nr_cpu_ids * sizeof(u64), GFP_KERNEL);
	if (!gone)
		return NULL;
	gone->count = (void *)gone + size;
	memcpy(gone->name, name, len);
	list_add_tail(&gone->node, list);
	return gone;
}

/**
 * ftrace_count_gone_free - forget what is kept by name
 * @list: all that is in it
 *
 * Context: as for ftrace_count_gone_add().
 */
void ftrace_count_gone_free(struct list_head *list)
{
	struct ftrace_count_gone *gone, *next;

	list_for_each_entry_safe(gone, next, list, node)
		kfree(gone);
	INIT_LIST_HEAD(list);
}

/**
 * ftrace_counts_alloc - make counts, of no site yet
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the counts, with one reference; NULL without memory.
 */
struct ftrace_counts *ftrace_counts_alloc(void)
{
	struct ftrace_counts *counts = kzalloc(sizeof(*counts), GFP_KERNEL);

	lockdep_assert_held(&ftrace_lock);

	if (!counts)
		return NULL;
	counts->off = alloc_percpu(u32);
	if (!counts->off) {
		kfree(counts);
		return NULL;
	}
	refcount_set(&counts->ref, 1);
	INIT_LIST_HEAD(&counts->tables);
	INIT_LIST_HEAD(&counts->gone);
	list_add(&counts->node, &counts_all);
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

static void count_table_free(struct ftrace_retiree *retiree)
{
	struct ftrace_count_table *ct = container_of(retiree, struct ftrace_count_table, retiree);

	for (unsigned int i = 0; i < ct->nr; i++)
		free_percpu(ct->group[i]);
	kvfree(ct);
}

/**
 * ftrace_counts_put - give a reference to counts back
 * @counts: the counts, or NULL; freed with the last reference, when no code counts
 *	    there any more
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_counts_put(struct ftrace_counts *counts)
{
	struct ftrace_count_table *ct, *next;

	if (!counts || !refcount_dec_and_test(&counts->ref))
		return;
	list_del(&counts->node);
	list_for_each_entry_safe(ct, next, &counts->tables, node)
		count_table_free(&ct->retiree);
	ftrace_count_gone_free(&counts->gone);
	free_percpu(counts->off);
	kfree(counts);
}

static struct ftrace_count_table *counts_table(const struct ftrace_counts *counts,
					       const struct ftrace_table *table)
{
	struct ftrace_count_table *ct;

	list_for_each_entry_rcu(ct, &counts->tables, node, true) {
		if (ct->table == table)
			return ct;
	}
	return NULL;
}

static struct ftrace_count_table *counts_add_table(struct ftrace_counts *counts,
						   struct ftrace_table *table)
{
	unsigned int nr = ftrace_count_groups(table);
	struct ftrace_count_table *ct = kvzalloc(struct_size(ct, group, nr), GFP_KERNEL);

	if (!ct)
		return NULL;
	ct->table = table;
	ct->nr = nr;
	ct->retiree.free = count_table_free;
	list_add_rcu(&ct->node, &counts->tables);
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
	struct ftrace_count_table *ct = counts_table(counts, table);
	u64 __percpu *new;

	lockdep_assert_held(&ftrace_lock);

	ct = ct ?: counts_add_table(counts, table);
	if (!ct)
		return NULL;
	if (ct->group[group])
		return ct->group[group];
	new = __alloc_percpu(ftrace_count_group_size(table, group) * sizeof(u64), sizeof(u64));
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
 * Context: any; ftrace_lock is held, or the caller is one whom ftrace_retire() waits
 * for.
 * Return: the count, or NULL if the site was never to be counted.
 */
u64 __percpu *ftrace_counts_find(const struct ftrace_counts *counts,
				 const struct ftrace_table *table, unsigned int index)
{
	struct ftrace_count_table *ct = counts_table(counts, table);
	u64 __percpu *group;

	if (!ct)
		return NULL;
	/* Pairs with ftrace_counts_group(). */
	group = smp_load_acquire(&ct->group[index / FTRACE_COUNT_GROUP]);
	return group ? group + index % FTRACE_COUNT_GROUP : NULL;
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
	/* After ftrace_kill() it is called for ever. */
	if (table && counts)
		count = ftrace_counts_find(counts, table, ftrace_table_lower_bound(table, ip));
	if (count)
		this_cpu_inc(*count);
	preempt_enable_notrace();
}

/**
 * ftrace_counts_take - what this CPU counted in a group of records, and no longer has
 * @counts: the counts
 * @table: the records
 * @group: which FTRACE_COUNT_GROUP of them
 * @n: gets the counts, of FTRACE_COUNT_GROUP records at most
 *
 * Context: ftrace_lock is held; the caller stays on its CPU.
 * Return: how many counts there are; 0 if none of the records was ever counted.
 */
unsigned int ftrace_counts_take(const struct ftrace_counts *counts,
				const struct ftrace_table *table, unsigned int group, u64 *n)
{
	const struct ftrace_count_table *ct = counts_table(counts, table);
	unsigned int nr = ftrace_count_group_size(table, group);
	u64 __percpu *count;

	lockdep_assert_held(&ftrace_lock);

	if (!ct || !ct->group[group])
		return 0;
	count = ct->group[group];
	for (unsigned int i = 0; i < nr; i++)
		n[i] = this_cpu_read(count[i]) ? this_cpu_xchg(count[i], 0) : 0;
	return nr;
}

static void count_table_reset(struct ftrace_count_table *ct, int cpu)
{
	for (unsigned int i = 0; i < ct->nr; i++) {
		unsigned int nr = ftrace_count_group_size(ct->table, i);
		u64 *count;

		if (!ct->group[i])
			continue;
		count = per_cpu_ptr(ct->group[i], cpu);
		/* Each at once: calls are counted meanwhile, in NMIs. */
		for (unsigned int j = 0; j < nr; j++)
			WRITE_ONCE(count[j], 0);
	}
}

static void counts_reset_cpu(void *data, int cpu)
{
	const struct ftrace_counts *counts = data;
	struct ftrace_count_table *ct;

	list_for_each_entry(ct, &counts->tables, node)
		count_table_reset(ct, cpu);
}

/**
 * struct counts_reset - what every CPU is to do
 * @reset: it
 * @data: its first argument
 */
struct counts_reset {
	void	(*reset)(void *data, int cpu);
	void	*data;
};

static void counts_reset_this_cpu(void *data)
{
	const struct counts_reset *r = data;

	r->reset(r->data, smp_processor_id());
}

/**
 * ftrace_counts_reset_cpus - set to zero what each CPU has counted somewhere
 * @reset: sets to zero what a CPU has; called with interrupts off on that CPU, or
 *	   anywhere for one that is offline
 * @data: its first argument
 *
 * Each CPU does so for itself: what it counts meanwhile is counted before or after.
 *
 * Context: sleeps.
 */
void ftrace_counts_reset_cpus(void (*reset)(void *data, int cpu), void *data)
{
	struct counts_reset r = { .reset = reset, .data = data };
	int cpu;

	guard(cpus_read_lock)();

	on_each_cpu(counts_reset_this_cpu, &r, true);
	for_each_possible_cpu(cpu) {
		if (!cpu_online(cpu))
			reset(data, cpu);
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
	lockdep_assert_held(&ftrace_lock);

	ftrace_count_gone_free(&counts->gone);
	ftrace_counts_reset_cpus(counts_reset_cpu, counts);
}

/* Keeps under @name what a site counted. */
static void counts_keep(struct ftrace_counts *counts, struct module *mod, unsigned long ip,
			const char *name, const u64 __percpu *count)
{
	char *full __free(kfree) = NULL;
	struct ftrace_count_gone *gone;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(count, cpu);
	if (!sum)
		return;

	if (mod)
		full = kasprintf(GFP_KERNEL, "%s [%s]", name, module_name(mod));
	gone = mod && !full ? NULL : ftrace_count_gone_add(&counts->gone, full ?: name);
	if (!gone) {
		pr_warn_once("no memory to remember how often functions were called\n");
		return;
	}
	gone->ip = ip;
	for_each_possible_cpu(cpu)
		gone->count[cpu] = *per_cpu_ptr(count, cpu);
}

static void counts_keep_table(struct ftrace_counts *counts, struct ftrace_table *table)
{
	struct ftrace_names names;
	const char *name;

	/* Without memory there are no names. */
	for (int ret = ftrace_names_start(&names, table), i = 0; !ret && i < table->nr; i++) {
		const u64 __percpu *count = ftrace_counts_find(counts, table, i);

		name = count ? ftrace_names_get(&names, i) : NULL;
		if (name)
			counts_keep(counts, table->mod, ftrace_rec_ip(table, &table->recs[i]),
				    name, count);
	}
	ftrace_names_end(&names);
}

/**
 * ftrace_counts_forget_table - keep by name what the sites of text counted that goes
 * @table: the records; the text is not executed any more
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_counts_forget_table(struct ftrace_table *table)
{
	struct ftrace_count_gone *gone;
	struct ftrace_count_table *ct;
	struct ftrace_counts *counts;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(counts, &counts_all, node) {
		list_for_each_entry(gone, &counts->gone, node)
			gone->ip = 0;
		ct = counts_table(counts, table);
		if (!ct)
			continue;
		if (!counts->passing)
			counts_keep_table(counts, table);
		list_del_rcu(&ct->node);
		ftrace_retire(&ct->retiree);
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_counts_kunit.c"
#endif
