// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the callers: each pair is counted in its slot, or lost; also where one
 * writer interrupts the other.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>

#include "kunit.h"

/* More pairs than fit into two rows of slots. */
#define CALLERS_KUNIT_BITS	5
#define CALLERS_KUNIT_PAIRS	64

static unsigned long callers_kunit_ip(unsigned int pair)
{
	return (unsigned long)gcd + pair;
}

static unsigned long callers_kunit_parent(unsigned int pair)
{
	return (unsigned long)int_sqrt + 1 + pair % 7;
}

static void callers_kunit_call(struct ftrace_callers *callers, unsigned int pair)
{
	unsigned long ip = callers_kunit_ip(pair), parent = callers_kunit_parent(pair);

	if (!ftrace_callers_count(callers, ip, parent))
		ftrace_callers_add(callers, ip, parent);
}

static u64 callers_kunit_sum(const u64 __percpu *count)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(count, cpu);
	return sum;
}

/* The count of a pair, and the number of slots that hold it. */
static u64 callers_kunit_found(const struct ftrace_callers *callers, unsigned int pair,
			       unsigned int *slots)
{
	u64 key = ftrace_callers_key(callers_kunit_ip(pair), callers_kunit_parent(pair)), sum = 0;

	*slots = 0;
	for (unsigned int i = 0; i < callers->nr; i++) {
		if (callers->key[i] == key) {
			sum += callers_kunit_sum(ftrace_callers_slot(callers, i));
			++*slots;
		}
	}
	return sum;
}

/* A key names its two addresses, whichever text they are in. */
static void callers_keys(struct kunit *test)
{
	const u32 low[] = { 0, 1, SZ_1G, INT_MAX, SZ_2G, SZ_1G + SZ_2G, U32_MAX };
	unsigned long text = (unsigned long)_text;

	for (unsigned int i = 0; i < ARRAY_SIZE(low); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(low); j++) {
			unsigned long ip = arch_ftrace_text_addr(low[i]);
			unsigned long parent = arch_ftrace_text_addr(low[j]);
			u64 key = ftrace_callers_key(ip, parent);

			KUNIT_EXPECT_EQ(test, ftrace_callers_ip(key), ip);
			KUNIT_EXPECT_EQ(test, ftrace_callers_parent(key), parent);
			if (i != j)
				KUNIT_EXPECT_NE(test, ip, parent);
		}
	}
	KUNIT_EXPECT_EQ(test, arch_ftrace_text_addr(arch_ftrace_text_low(text)), text);
}

/*
 * Each pair that fits has a slot of its own, in the largest table, too. A pair of far-off addresses
 * is lost, but not on 32 bits. All of these counts are set to zero, of which there are too many for
 * one step.
 */
static void callers_fill(struct kunit *test)
{
	unsigned long far = (unsigned long)gcd ^ 1UL << (BITS_PER_LONG - 8);
	struct ftrace_callers *callers;
	unsigned int slots, nr = 0;
	u64 left = 0;

	guard(mutex)(&ftrace_lock);
	callers = ftrace_callers_alloc(FTRACE_CALLERS_BITS);
	KUNIT_EXPECT_NOT_NULL(test, callers);
	if (!callers)
		return;
	for (unsigned int pair = 0; pair < CALLERS_KUNIT_PAIRS; pair++) {
		for (unsigned int n = 0; n <= pair; n++)
			callers_kunit_call(callers, pair);
	}
	for (unsigned int pair = 0; pair < CALLERS_KUNIT_PAIRS; pair++) {
		KUNIT_EXPECT_EQ(test, callers_kunit_found(callers, pair, &slots), pair + 1);
		KUNIT_EXPECT_EQ(test, slots, 1);
	}
	for (unsigned int i = 0; i < callers->nr; i++)
		nr += !!callers->key[i];
	KUNIT_EXPECT_EQ(test, nr, CALLERS_KUNIT_PAIRS);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 0);
	ftrace_callers_add(callers, (unsigned long)gcd, far);
	ftrace_callers_add(callers, far, (unsigned long)gcd);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), IS_ENABLED(CONFIG_64BIT) ? 2 : 0);
	/* One in each chunk, the very last one among them. */
	for (unsigned int i = FTRACE_CALLERS_CHUNK - 1; i < callers->nr; i += FTRACE_CALLERS_CHUNK)
		this_cpu_inc(*ftrace_callers_slot(callers, i));
	ftrace_callers_reset(callers);
	for (unsigned int i = 0; i < callers->nr; i++)
		left += callers_kunit_sum(ftrace_callers_slot(callers, i));
	KUNIT_EXPECT_EQ(test, left, 0);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 0);
	ftrace_callers_free(callers);
}

/* A row of slots is used to the last; then pairs without a slot are lost, and no others. */
static void callers_overflow(struct kunit *test)
{
	struct ftrace_callers *callers;
	unsigned int slots;
	u64 lost = 0;

	guard(mutex)(&ftrace_lock);
	callers = ftrace_callers_alloc(ilog2(FTRACE_CALLERS_WAYS));
	KUNIT_EXPECT_NOT_NULL(test, callers);
	if (!callers)
		return;
	for (unsigned int n = 1; n <= 3; n++) {
		for (unsigned int pair = 0; pair < CALLERS_KUNIT_PAIRS; pair++)
			callers_kunit_call(callers, pair);
		lost += CALLERS_KUNIT_PAIRS - FTRACE_CALLERS_WAYS;
		KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), lost);
		for (unsigned int pair = 0; pair < CALLERS_KUNIT_PAIRS; pair++)
			KUNIT_EXPECT_EQ(test, callers_kunit_found(callers, pair, &slots),
					pair < FTRACE_CALLERS_WAYS ? n : 0);
	}
	ftrace_callers_free(callers);
}

/* Pairs in text that goes give up their slots; the others go on, and nothing is lost. */
static void callers_gone(struct kunit *test)
{
	const unsigned long pow = (unsigned long)int_pow, root = (unsigned long)int_sqrt;
	struct ftrace_callers *callers;
	unsigned int slots;
	u64 sum = 0;

	guard(mutex)(&ftrace_lock);
	callers = ftrace_callers_alloc(ilog2(FTRACE_CALLERS_WAYS));
	KUNIT_EXPECT_NOT_NULL(test, callers);
	if (!callers)
		return;
	for (unsigned int n = 0; n < 2; n++) {
		ftrace_callers_add(callers, pow, root + 1);
		ftrace_callers_add(callers, root, pow + 1);
		/* The first row is full beyond the two. */
		for (unsigned int pair = 0; pair < FTRACE_CALLERS_WAYS - 2; pair++)
			callers_kunit_call(callers, pair);
		KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 0);
		ftrace_callers_forget_range(pow, pow + 1);
		for (unsigned int i = 0; i < callers->nr; i++) {
			KUNIT_EXPECT_NE(test, callers->key[i], ftrace_callers_key(pow, root + 1));
			KUNIT_EXPECT_NE(test, callers->key[i], ftrace_callers_key(root, pow + 1));
		}
	}
	for (unsigned int pair = 0; pair < FTRACE_CALLERS_WAYS - 2; pair++) {
		KUNIT_EXPECT_EQ(test, callers_kunit_found(callers, pair, &slots), 2);
		sum += callers_kunit_found(callers, pair, &slots);
	}
	KUNIT_EXPECT_EQ(test, sum, 2 * (FTRACE_CALLERS_WAYS - 2));
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 0);
	ftrace_callers_free(callers);
}

/* Writers on each CPU, each interrupted by another. */

/**
 * struct callers_kunit_writers - a CPU's two writers
 * @done: the first one has
 * @timer: interrupts the first one
 * @callers: where both count
 * @calls: of each writer, how often each pair was called
 * @random: of each writer, the state from which the next pair follows
 */
struct callers_kunit_writers {
	struct completion	done;
	struct hrtimer		timer;
	struct ftrace_callers	*callers;
	u64			calls[2][CALLERS_KUNIT_PAIRS];
	u32			random[2];
};

static DEFINE_PER_CPU(struct callers_kunit_writers, callers_kunit_writers);

static void callers_kunit_write(struct callers_kunit_writers *writers, unsigned int which)
{
	unsigned int pair;

	writers->random[which] = writers->random[which] * 1664525 + 1013904223;
	pair = (writers->random[which] >> 16) % CALLERS_KUNIT_PAIRS;
	callers_kunit_call(writers->callers, pair);
	writers->calls[which][pair]++;
}

static enum hrtimer_restart callers_kunit_timer(struct hrtimer *timer)
{
	struct callers_kunit_writers *writers =
		container_of(timer, struct callers_kunit_writers, timer);

	for (unsigned int i = 0; i < 4; i++)
		callers_kunit_write(writers, 1);
	hrtimer_forward_now(timer, ns_to_ktime(5000));
	return HRTIMER_RESTART;
}

static int callers_kunit_task(void *data)
{
	struct callers_kunit_writers *writers = data;
	unsigned long end = jiffies + HZ / 10;

	hrtimer_setup(&writers->timer, callers_kunit_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&writers->timer, ns_to_ktime(5000), HRTIMER_MODE_REL_PINNED_HARD);
	while (time_before(jiffies, end)) {
		callers_kunit_write(writers, 0);
		cond_resched();
	}
	hrtimer_cancel(&writers->timer);
	complete(&writers->done);
	return 0;
}

static void callers_kunit_start(struct ftrace_callers *callers, int cpu)
{
	struct callers_kunit_writers *writers = per_cpu_ptr(&callers_kunit_writers, cpu);

	memset(writers, 0, sizeof(*writers));
	init_completion(&writers->done);
	writers->callers = callers;
	for (unsigned int which = 0; which < 2; which++)
		writers->random[which] = cpu * 2 + which;
	/* Without a task there are no calls, and the test fails. */
	if (IS_ERR(kthread_run_on_cpu(callers_kunit_task, writers, cpu, "callers_kunit/%u")))
		complete(&writers->done);
}

static u64 callers_kunit_calls(unsigned int pair)
{
	u64 sum = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		struct callers_kunit_writers *writers = per_cpu_ptr(&callers_kunit_writers, cpu);

		sum += writers->calls[0][pair] + writers->calls[1][pair];
	}
	return sum;
}

/* Slots are never given back here: all calls of a pair are in its one slot, or all are lost. */
static void callers_interrupted(struct kunit *test)
{
	struct ftrace_callers *callers;
	unsigned int slots;
	u64 lost = 0, interrupts = 0;
	int cpu;

	scoped_guard(mutex, &ftrace_lock)
		callers = ftrace_callers_alloc(CALLERS_KUNIT_BITS);
	KUNIT_ASSERT_NOT_NULL(test, callers);

	for_each_online_cpu(cpu)
		callers_kunit_start(callers, cpu);
	for_each_online_cpu(cpu)
		wait_for_completion(&per_cpu_ptr(&callers_kunit_writers, cpu)->done);

	for (unsigned int pair = 0; pair < CALLERS_KUNIT_PAIRS; pair++) {
		u64 found = callers_kunit_found(callers, pair, &slots);
		u64 calls = callers_kunit_calls(pair);

		for_each_online_cpu(cpu)
			interrupts += per_cpu_ptr(&callers_kunit_writers, cpu)->calls[1][pair];
		KUNIT_EXPECT_GT(test, calls, 0);
		KUNIT_EXPECT_LE(test, slots, 1);
		KUNIT_EXPECT_EQ(test, found, slots ? calls : 0);
		if (!slots)
			lost += calls;
	}
	KUNIT_EXPECT_GT(test, interrupts, 0);
	KUNIT_EXPECT_GT(test, lost, 0);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), lost);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_callers_free(callers);
}

/* Pairs keep their slots when counts are set to zero. */
static void callers_zero(struct kunit *test)
{
	const unsigned int other = FTRACE_CALLERS_WAYS;
	struct ftrace_callers *callers;
	unsigned int slots;

	guard(mutex)(&ftrace_lock);
	callers = ftrace_callers_alloc(ilog2(FTRACE_CALLERS_WAYS));
	KUNIT_EXPECT_NOT_NULL(test, callers);
	if (!callers)
		return;
	for (unsigned int pair = 0; pair <= other; pair++)
		callers_kunit_call(callers, pair);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 1);
	ftrace_callers_reset(callers);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 0);
	KUNIT_EXPECT_EQ(test, callers_kunit_found(callers, 0, &slots), 0);
	KUNIT_EXPECT_EQ(test, slots, 1);
	callers_kunit_call(callers, 0);
	callers_kunit_call(callers, other);
	KUNIT_EXPECT_EQ(test, callers_kunit_found(callers, 0, &slots), 1);
	KUNIT_EXPECT_EQ(test, callers_kunit_sum(callers->lost), 1);
	ftrace_callers_free(callers);
}

static struct kunit_case callers_kunit_cases[] = {
	KUNIT_CASE(callers_keys),
	KUNIT_CASE(callers_fill),
	KUNIT_CASE(callers_overflow),
	KUNIT_CASE(callers_gone),
	KUNIT_CASE(callers_zero),
	KUNIT_CASE(callers_interrupted),
	{ }
};

static struct kunit_suite callers_kunit_suite = {
	.name		= "ftrace_callers",
	.test_cases	= callers_kunit_cases,
};

kunit_test_suite(callers_kunit_suite);
