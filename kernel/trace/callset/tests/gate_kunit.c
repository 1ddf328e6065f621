// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the gates: a wait is for the calls inside, and for no others.
 */
#include <linux/cleanup.h>
#include <linux/timer.h>

#include "kunit.h"

static struct ftrace_gate *gate_kunit_alloc(void)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_gate_alloc();
}

/* One that is empty, however often and wherever it was passed, is not waited for. */
static void gate_sums(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_possible_mask);
	unsigned int last = cpumask_last(cpu_possible_mask);
	struct ftrace_gate *gate = gate_kunit_alloc();

	KUNIT_ASSERT_NOT_NULL(test, gate);
	KUNIT_EXPECT_TRUE(test, gate_is_empty(gate->count, cpu_possible_mask));
	ftrace_gate_wait(gate->count);
	ftrace_gate_enter(gate->count);
	KUNIT_EXPECT_FALSE(test, gate_is_empty(gate->count, cpu_possible_mask));
	ftrace_gate_leave(gate->count);
	KUNIT_EXPECT_TRUE(test, gate_is_empty(gate->count, cpu_possible_mask));

	/* In on one CPU, out on another; and counts that wrap. */
	per_cpu_ptr(gate->count, first)->entered = UINT_MAX;
	per_cpu_ptr(gate->count, first)->left = UINT_MAX;
	per_cpu_ptr(gate->count, first)->entered++;
	KUNIT_EXPECT_FALSE(test, gate_is_empty(gate->count, cpu_possible_mask));
	per_cpu_ptr(gate->count, last)->left++;
	KUNIT_EXPECT_TRUE(test, gate_is_empty(gate->count, cpu_possible_mask));
	ftrace_gate_wait(gate->count);
	ftrace_gate_put(gate);
}

/**
 * struct gate_kunit_guest - a visit of the gate that ends after a while
 * @timer: ends the stay
 * @count: the gate
 * @cpu: where it entered
 * @out: it has left
 */
struct gate_kunit_guest {
	struct timer_list			timer;
	struct ftrace_gate_count __percpu	*count;
	unsigned int				cpu;
	bool					out;
};

static void gate_kunit_leave(struct timer_list *timer)
{
	struct gate_kunit_guest *guest = timer_container_of(guest, timer, timer);

	WRITE_ONCE(guest->out, true);
	/* Wherever the timer runs. */
	smp_store_release(&per_cpu_ptr(guest->count, guest->cpu)->left,
			  per_cpu_ptr(guest->count, guest->cpu)->left + 1);
}

static void gate_waits(struct kunit *test)
{
	struct gate_kunit_guest guest = { };
	struct ftrace_gate *gate = gate_kunit_alloc();

	KUNIT_ASSERT_NOT_NULL(test, gate);
	guest.count = gate->count;
	guest.cpu = cpumask_last(cpu_possible_mask);
	timer_setup_on_stack(&guest.timer, gate_kunit_leave, 0);
	for (unsigned int i = 0; i < 2; i++) {
		WRITE_ONCE(guest.out, false);
		per_cpu_ptr(gate->count, guest.cpu)->entered++;
		mod_timer(&guest.timer, jiffies + HZ / 10);
		if (i)
			ftrace_gate_wait_each(gate->count);
		else
			ftrace_gate_wait(gate->count);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(guest.out));
	}
	timer_delete_sync(&guest.timer);
	timer_destroy_on_stack(&guest.timer);
	ftrace_gate_put(gate);
}

/* A task that died inside is waited for once. The next wait is for living tasks. */
static void gate_heals(struct kunit *test)
{
	unsigned int last = cpumask_last(cpu_possible_mask);
	struct ftrace_gate *gate = gate_kunit_alloc();
	unsigned long patience = gate_patience, begin;

	KUNIT_ASSERT_NOT_NULL(test, gate);
	per_cpu_ptr(gate->count, last)->entered += 2;
	gate_patience = HZ / 10;
	ftrace_gate_wait_each(gate->count);
	gate_patience = patience;
	KUNIT_EXPECT_TRUE(test, gate_is_empty(gate->count, cpumask_of(last)));
	begin = jiffies;
	ftrace_gate_wait_each(gate->count);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begin + 5 * HZ));

	/* A task that is inside is still seen. */
	per_cpu_ptr(gate->count, last)->entered++;
	KUNIT_EXPECT_FALSE(test, gate_is_empty(gate->count, cpumask_of(last)));
	per_cpu_ptr(gate->count, last)->left++;
	KUNIT_EXPECT_TRUE(test, gate_is_empty(gate->count, cpumask_of(last)));
	ftrace_gate_put(gate);
}

/* When the static counts are used up there are others, and all can be had again. */
static void gate_runs_out(struct kunit *test)
{
	unsigned int used = bitmap_weight(gate_used, GATE_NR_STATIC), far = 0, nr;
	const unsigned int max = GATE_NR_STATIC + 3;
	struct ftrace_gate **gate;

	gate = kunit_kcalloc(test, max, sizeof(*gate), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gate);
	for (nr = 0; nr < max; nr++) {
		gate[nr] = gate_kunit_alloc();
		if (!gate[nr])
			break;
		far += gate_static_nr(gate[nr]->count) == GATE_NR_STATIC;
		ftrace_gate_enter(gate[nr]->count);
		KUNIT_EXPECT_FALSE(test, gate_is_empty(gate[nr]->count, cpu_possible_mask));
	}
	KUNIT_EXPECT_EQ(test, nr, max);
	KUNIT_EXPECT_EQ(test, far, used + 3);
	while (nr)
		ftrace_gate_put(gate[--nr]);
	KUNIT_EXPECT_EQ(test, bitmap_weight(gate_used, GATE_NR_STATIC), used);

	/* The count has forgotten the task that was inside. */
	gate[0] = gate_kunit_alloc();
	KUNIT_ASSERT_NOT_NULL(test, gate[0]);
	KUNIT_EXPECT_TRUE(test, gate_is_empty(gate[0]->count, cpu_possible_mask));
	ftrace_gate_put(gate[0]);
}

static struct kunit_case gate_kunit_cases[] = {
	KUNIT_CASE(gate_sums),
	KUNIT_CASE(gate_waits),
	KUNIT_CASE(gate_heals),
	KUNIT_CASE(gate_runs_out),
	{ }
};

static struct kunit_suite gate_kunit_suite = {
	.name		= "ftrace_gate",
	.test_cases	= gate_kunit_cases,
};

kunit_test_suite(gate_kunit_suite);
