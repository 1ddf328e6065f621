// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: how many calls are inside of code that may go away.
 *
 * The owner of an ops may free it, its callback and its module as soon as
 * unregistering returns. Until then only tasks inside of the callback matter. To
 * wait for a grace period of RCU-tasks answers that too, but it waits for every
 * task of the machine, and never ends beside a task that does not sleep. So a
 * caller of such an ops counts on the way in and on the way out:
 *
 *	caller				the task that takes the ops away
 *
 *	A: count->entered++		C: replace the pointer or the code that
 *	R: read what to call		   R reads by one that passes over the ops
 *	   call it			D: ftrace_gate_close(): an interrupt on
 *	B: count->left++		   every CPU
 *					E: add up left
 *					   smp_mb()
 *					F: add up entered, until both are equal
 *
 * R may be the CPU's fetch of an instruction. The interrupt of D is a full barrier
 * somewhere in each caller's program. If that is before R, R finds the ops gone. If
 * it is after R, it is after A as well, and F sees A. B is a release: with E and the
 * barrier after it, the memory is freed after all uses. E comes before F, so equal
 * sums mean that at the moment between the two no task was inside: each sum only
 * grows, left is never more than entered, and a caller that enters after D does not
 * call the ops. Documentation/trace/ftrace-gate.litmus says this to the kernel's
 * memory model.
 *
 * A task may go in on one CPU and out on another, so only the sums mean anything.
 * Where callers disable preemption from A to B, each CPU can be looked at by
 * itself (ftrace_gate_wait_each()), and a gate that is busy on all CPUs does no
 * harm. Such gates are never given back, so a task that dies inside is forgotten
 * there (gate_heal()).
 *
 * Trampolines count with one instruction if the address of the count, as an
 * offset from the CPU's base, fits into it. Those of static per-CPU variables do;
 * others take another instruction to load. So the first gates are static.
 *
 * Invariants:
 *  1. A count is not used again while code exists that changes it.
 *  2. Counting calls no function, and an NMI in the middle of it may count, too.
 *
 * ftrace_lock covers the allocation; a gate may be put without it.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bitmap.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "gate.h"
#include "ops.h"

/* 8 KiB for each CPU. */
#define GATE_NR_STATIC		1024

/* A task that has died inside never leaves. */
static unsigned long gate_patience = 10 * HZ;

DEFINE_PER_CPU(struct ftrace_gate_count, ftrace_list_gate);

static DEFINE_PER_CPU(struct ftrace_gate_count, gate_static[GATE_NR_STATIC]);
static DECLARE_BITMAP(gate_used, GATE_NR_STATIC);

/* Takes a static count; NULL if all are in use. */
static struct ftrace_gate_count __percpu *gate_take_static(void)
{
	unsigned int i = find_first_zero_bit(gate_used, GATE_NR_STATIC), cpu;

	lockdep_assert_held(&ftrace_lock);

	if (i == GATE_NR_STATIC)
		return NULL;
	set_bit(i, gate_used);
	for_each_possible_cpu(cpu)
		per_cpu(gate_static[i], cpu) = (struct ftrace_gate_count) { };
	return &gate_static[i];
}

/* The number of a static count, or GATE_NR_STATIC. */
static unsigned long gate_static_nr(struct ftrace_gate_count __percpu *count)
{
	unsigned long i = (__force struct ftrace_gate_count *)count -
			  (__force struct ftrace_gate_count *)gate_static;

	return min(i, GATE_NR_STATIC);
}

/**
 * ftrace_gate_alloc - make a gate
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: the gate, with one reference that is the caller's; NULL without memory.
 */
struct ftrace_gate *ftrace_gate_alloc(void)
{
	struct ftrace_gate *gate = kzalloc_obj(*gate);

	if (!gate)
		return NULL;
	refcount_set(&gate->ref, 1);
	gate->count = gate_take_static() ?: alloc_percpu(struct ftrace_gate_count);
	if (gate->count)
		return gate;
	kfree(gate);
	return NULL;
}

/**
 * ftrace_gate_get - take a reference to a gate
 * @gate: the gate, or NULL
 *
 * Context: any; the caller has a reference, or the last one cannot be put meanwhile.
 */
void ftrace_gate_get(struct ftrace_gate *gate)
{
	if (gate)
		refcount_inc(&gate->ref);
}

/**
 * ftrace_gate_put - give a reference to a gate back
 * @gate: the gate, or NULL; freed with the last reference, when no code counts
 *	  there any more
 *
 * Context: process context.
 */
void ftrace_gate_put(struct ftrace_gate *gate)
{
	unsigned long i;

	if (!gate || !refcount_dec_and_test(&gate->ref))
		return;
	i = gate_static_nr(gate->count);
	if (i < GATE_NR_STATIC)
		clear_bit(i, gate_used);
	else
		free_percpu(gate->count);
	kfree(gate);
}

/**
 * ftrace_gate_close - let every CPU see all earlier writes
 *
 * Context: process context, interrupts are enabled; waits for other CPUs to take
 * an interrupt.
 */
void ftrace_gate_close(void)
{
	kick_all_cpus_sync();
}

/* Whether no task is inside that came by, or will leave by, the CPUs of @mask. */
static bool gate_is_empty(struct ftrace_gate_count __percpu *count, const struct cpumask *mask)
{
	unsigned int entered = 0, left = 0, cpu;

	for_each_cpu(cpu, mask)
		left += READ_ONCE(per_cpu_ptr(count, cpu)->left);
	/* E before F, see the top of the file. */
	smp_mb();
	for_each_cpu(cpu, mask)
		entered += READ_ONCE(per_cpu_ptr(count, cpu)->entered);
	return entered == left;
}

/* Returns false if it takes too long. */
static bool gate_wait(struct ftrace_gate_count __percpu *count, const struct cpumask *mask)
{
	unsigned long end = jiffies + gate_patience;

	for (unsigned int turn = 1; !gate_is_empty(count, mask); turn++) {
		if (turn < 100) {
			cpu_relax();
			continue;
		}
		if (time_after(jiffies, end))
			return false;
		/* Before the scheduler runs, no other task does. */
		if (system_state >= SYSTEM_SCHEDULING)
			fsleep(min(turn, 1000u));
	}
	return true;
}

/* The slow way, which does not look at counts. */
static void gate_give_up(void)
{
	pr_warn("a task has been in a callback for %lu s; waiting for RCU-tasks\n",
		gate_patience / HZ);
	ftrace_wait_for_tasks();
}

/*
 * Lets the tasks leave that died inside on this CPU. The task that runs here is not inside,
 * others of the CPU were not inside when they were switched out, and an interrupt
 * of this is out again when it goes on: so no other is missing.
 */
static long gate_heal(void *data)
{
	struct ftrace_gate_count __percpu *count = (__force void __percpu *)data;
	unsigned int left, dead;

	do {
		left = this_cpu_read(count->left);
		dead = this_cpu_read(count->entered) - left;
	} while (left != this_cpu_read(count->left));
	ftrace_gate_add(&count->left, dead);
	return 0;
}

/* After gate_give_up(), so that no later wait of a gate that stays is for the dead. */
static void gate_heal_all(struct ftrace_gate_count __percpu *count)
{
	struct ftrace_gate_count *gone;
	unsigned int cpu;

	guard(cpus_read_lock)();
	for_each_possible_cpu(cpu) {
		if (cpu_online(cpu)) {
			work_on_cpu(cpu, gate_heal, (__force void *)count);
		} else {
			gone = per_cpu_ptr(count, cpu);
			WRITE_ONCE(gone->left, gone->entered);
		}
	}
}

/**
 * ftrace_gate_wait - wait until no task is inside of a gate
 * @count: its counts
 *
 * A task that enters from now on passes over the ops, see ftrace_gate_close().
 *
 * Context: process context, sleeps; ftrace_lock is not held.
 */
void ftrace_gate_wait(struct ftrace_gate_count __percpu *count)
{
	if (!gate_wait(count, cpu_possible_mask))
		gate_give_up();
}

/**
 * ftrace_gate_wait_each - ftrace_gate_wait() for a gate within which no task moves
 * @count: its counts; preemption is disabled inside, so that each CPU comes to be
 *	   outside by itself
 *
 * Such gates stay. A task that died inside is waited for once.
 *
 * Context: as ftrace_gate_wait().
 */
void ftrace_gate_wait_each(struct ftrace_gate_count __percpu *count)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!gate_wait(count, cpumask_of(cpu))) {
			gate_give_up();
			gate_heal_all(count);
			return;
		}
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/gate_kunit.c"
#endif
