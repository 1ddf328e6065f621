// SPDX-License-Identifier: GPL-2.0
/*
 * Callers: how often each site was called from where, for each CPU.
 *
 * The pairs are in a hash table that all CPUs share and hardly ever write: a pair takes
 * a slot when it is seen for the first time, and keeps it. Each slot has a count on each
 * CPU. So a CPU that is interrupted, or goes on as another, between finding the slot and
 * counting there has still found the right one.
 *
 * Invariants:
 *  1. A slot is taken by one cmpxchg() and stays the pair's until the text of a part of it
 *     goes. No call of the pair is under way then. Where 64 bits cannot be exchanged at
 *     once, one at a time takes a slot.
 *  2. A count is changed by its own CPU only, and by one instruction that cannot be
 *     interrupted. Each call is counted in one slot, or among the lost. On 32 bits it
 *     takes two instructions, and an NMI between them is lost.
 *  3. A pair may have two slots, if one before it in its row has become free. A reader
 *     adds them up.
 *
 * ftrace_lock covers everything but counting.
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "callers.h"
#include "counts.h"
#include "ops.h"

static LIST_HEAD(callers_all);

static void callers_free_memory(struct ftrace_callers *callers)
{
	for (unsigned int i = 0; i < FTRACE_CALLERS_CHUNKS; i++)
		free_percpu(callers->count[i]);
	free_percpu(callers->lost);
	kvfree(callers);
}

/**
 * ftrace_callers_alloc - make an empty table of pairs
 * @bits: how many, as a power of 2; at most FTRACE_CALLERS_BITS, and at least a row
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the table; NULL without memory.
 */
struct ftrace_callers *ftrace_callers_alloc(unsigned int bits)
{
	unsigned int nr = BIT(bits), chunk = min(nr, FTRACE_CALLERS_CHUNK);
	struct ftrace_callers *callers;
	bool fits;

	lockdep_assert_held(&ftrace_lock);

	callers = kvzalloc(struct_size(callers, key, nr), GFP_KERNEL);
	if (!callers)
		return NULL;
	callers->nr = nr;
	callers->mask = nr - 1;
	callers->lost = alloc_percpu(u64);
	fits = callers->lost;
	for (unsigned int i = 0; fits && i * FTRACE_CALLERS_CHUNK < nr; i++) {
		callers->count[i] = __alloc_percpu(chunk * sizeof(u64), sizeof(u64));
		fits = callers->count[i];
	}
	if (!fits) {
		callers_free_memory(callers);
		return NULL;
	}
	list_add(&callers->node, &callers_all);
	return callers;
}

/**
 * ftrace_callers_free - free a table
 * @callers: the table, where no callback counts any more; or NULL
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_callers_free(struct ftrace_callers *callers)
{
	lockdep_assert_held(&ftrace_lock);

	if (!callers)
		return;
	list_del(&callers->node);
	callers_free_memory(callers);
}

/**
 * ftrace_callers_reset - set all counts to zero
 * @callers: the table
 *
 * The pairs keep their slots: a call may be about to be counted there.
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_callers_reset(struct ftrace_callers *callers)
{
	lockdep_assert_held(&ftrace_lock);

	ftrace_counts_zero(callers->count, FTRACE_CALLERS_CHUNK, callers->nr);
	ftrace_counts_zero(&callers->lost, 1, 1);
}

/*
 * Returns the pair that has the slot, or 0 if it was free. Where one at a time takes a slot,
 * another CPU or an NMI that comes meanwhile takes no slot.
 */
static u64 callers_take(u64 *slot, u64 key)
{
#if defined(arch_cmpxchg64) || defined(arch_cmpxchg64_relaxed)
	return cmpxchg64(slot, 0, key);
#else
	static unsigned int busy;
	unsigned long flags;
	u64 old = U64_MAX;

	raw_local_irq_save(flags);
	if (!cmpxchg(&busy, 0, 1)) {
		old = READ_ONCE(*slot);
		if (!old)
			WRITE_ONCE(*slot, key);
		/* The next one sees the new key of the slot. */
		smp_store_release(&busy, 0);
	}
	raw_local_irq_restore(flags);
	return old;
#endif
}

/**
 * ftrace_callers_add - count a call whose pair may be new
 * @callers: where
 * @ip: the site
 * @parent: the address that its function returns to
 *
 * Context: any that can be traced, NMI included. An interrupt may take the slot that this
 * call was about to take. If that was for another pair, this call goes on to the next slot.
 */
void ftrace_callers_add(struct ftrace_callers *callers, unsigned long ip, unsigned long parent)
{
	u64 key = ftrace_callers_key(ip, parent), old;
	unsigned long first = ftrace_callers_first(callers, key);

	/* Text elsewhere, if there is any, would be taken for another's. */
	if (ftrace_callers_ip(key) != ip || ftrace_callers_parent(key) != parent)
		goto lost;
	for (unsigned long way = 0; way < FTRACE_CALLERS_WAYS; way++) {
		unsigned long i = first ^ way;

		old = READ_ONCE(callers->key[i]);
		if (!old)
			old = callers_take(&callers->key[i], key);
		if (!old || old == key) {
			this_cpu_inc(*ftrace_callers_slot(callers, i));
			return;
		}
	}
lost:
	this_cpu_inc(*callers->lost);
}

/* The counts are zero before ftrace_callers_add() takes the slot for another pair. */
static void callers_forget(struct ftrace_callers *callers, unsigned int i)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(ftrace_callers_slot(callers, i), cpu), 0);
	/* Not smp_store_release(), which takes no 64 bits on 32-bit machines. */
	smp_wmb();
	WRITE_ONCE(callers->key[i], 0);
}

static bool callers_in(unsigned long addr, unsigned long start, unsigned long end)
{
	return addr >= start && addr < end;
}

/**
 * ftrace_callers_forget_range - forget the pairs of which a part is in text that goes
 * @start: its first address; it is not executed any more
 * @end: the first address after it
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_callers_forget_range(unsigned long start, unsigned long end)
{
	struct ftrace_callers *callers;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(callers, &callers_all, node) {
		for (unsigned int i = 0; i < callers->nr; i++) {
			u64 key = READ_ONCE(callers->key[i]);

			/* A call may be the last of its function: it returns to the end. */
			if (key && (callers_in(ftrace_callers_ip(key), start, end) ||
				    callers_in(ftrace_callers_parent(key) - 1, start, end)))
				callers_forget(callers, i);
		}
		cond_resched();
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callers_kunit.c"
#endif
