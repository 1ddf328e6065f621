// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of times: from an address to what its calls took, and how a call is added.
 *
 * The tables here are in no map, and lie on addresses without code.
 */
#include "ftrace_kunit.h"

#define TIMES_KUNIT_BASE	KUNIT_NOWHERE
#define TIMES_KUNIT_SKIP	0x1000UL
#define TIMES_KUNIT_SIZE	(3 * TIMES_BUCKET + 16)

/* In the text: the ends of buckets, one of them empty, and of the text. */
static const u32 times_kunit_sites[] = {
	0, 1, TIMES_BUCKET - 1, 2 * TIMES_BUCKET, 2 * TIMES_BUCKET + 5,
	3 * TIMES_BUCKET - 1, 3 * TIMES_BUCKET, 3 * TIMES_BUCKET + 15,
};

#define TIMES_KUNIT_NR		ARRAY_SIZE(times_kunit_sites)
#define TIMES_KUNIT_TEXT	(TIMES_KUNIT_BASE + TIMES_KUNIT_SKIP)

static void times_kunit_free(void *table)
{
	ftrace_times_free_table(table);
}

/* A table with its first @nr sites, whose text begins after its base; it becomes the core's. */
static struct ftrace_table *times_kunit_table(struct kunit *test, struct ftrace_times *times,
					      unsigned int nr)
{
	struct ftrace_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	table->base = TIMES_KUNIT_BASE;
	table->start = TIMES_KUNIT_TEXT;
	table->end = table->start + TIMES_KUNIT_SIZE;
	table->nr = nr;
	table->recs = kunit_kcalloc(test, nr, sizeof(*table->recs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table->recs);
	for (unsigned int i = 0; i < nr; i++)
		table->recs[i].offset = TIMES_KUNIT_SKIP + times_kunit_sites[i];

	times->core = NULL;
	KUNIT_ASSERT_EQ(test, times_add_to(times, table), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, times_kunit_free, table), 0);
	return table;
}

/* Each address of the text has its own times, or none. */
static void times_addresses(struct kunit *test)
{
	struct ftrace_times times = { };

	for (unsigned int nr = 1; nr <= TIMES_KUNIT_NR; nr++) {
		struct ftrace_table *table = times_kunit_table(test, &times, nr);
		const struct ftrace_time *want, *found;
		unsigned int at = 0;

		for (u32 offset = 0; offset < TIMES_KUNIT_SIZE; offset++) {
			bool site = at < nr && times_kunit_sites[at] == offset;
			unsigned long ip = TIMES_KUNIT_TEXT + offset;

			/* No expectation while preemption is off: it may report, and sleep. */
			scoped_guard(preempt) {
				want = ftrace_times_find(&times, table, at, smp_processor_id());
				found = times_of(&times, ip);
			}
			KUNIT_EXPECT_PTR_EQ(test, found, site ? want : NULL);
			at += site;
		}
		KUNIT_EXPECT_EQ(test, at, nr);
	}
}

/* The times of one user are not another's. */
static void times_users(struct kunit *test)
{
	struct ftrace_times one = { }, two = { };
	struct ftrace_table *table = times_kunit_table(test, &one, TIMES_KUNIT_NR);

	KUNIT_ASSERT_EQ(test, times_add_to(&two, table), 0);
	KUNIT_EXPECT_PTR_NE(test, one.core, two.core);
	scoped_guard(preempt) {
		times_add(&one, TIMES_KUNIT_TEXT, 3, 3);
		times_add(&two, TIMES_KUNIT_TEXT, 5, 5);
	}
	for (unsigned int cpu = 0, a = 0, b = 0; cpu < nr_cpu_ids; cpu++) {
		if (!cpu_possible(cpu))
			continue;
		a += ftrace_times_find(&one, table, 0, cpu)->total;
		b += ftrace_times_find(&two, table, 0, cpu)->total;
		if (cpu == cpumask_last(cpu_possible_mask)) {
			KUNIT_EXPECT_EQ(test, a, 3);
			KUNIT_EXPECT_EQ(test, b, 5);
		}
	}
}

/* The second call is squared, and of the others their own. */
static void times_sums(struct kunit *test)
{
	struct ftrace_times times = { };
	struct ftrace_table *table = times_kunit_table(test, &times, TIMES_KUNIT_NR);
	struct ftrace_time time;
	unsigned long ip = TIMES_KUNIT_TEXT + TIMES_BUCKET - 1;

	scoped_guard(preempt) {
		times_add(&times, ip, 8, 8);
		times.square = FTRACE_TIMES_SQUARE_TOTAL;
		times_add(&times, ip, 10, 6);
		times.square = FTRACE_TIMES_SQUARE_SELF;
		times_add(&times, ip, 7, 5);
		times_add(&times, ip, 3, 0);
		/* No site. */
		times_add(&times, ip + 1, 1000, 1000);
		time = *ftrace_times_find(&times, table, 2, smp_processor_id());
	}
	KUNIT_EXPECT_EQ(test, time.total, 28);
	KUNIT_EXPECT_EQ(test, time.self, 19);
	KUNIT_EXPECT_EQ(test, time.max, 10);
	KUNIT_EXPECT_EQ(test, time.squares, 10 * 10 + 5 * 5);
}

/* What is gone keeps its times when other text goes, of which the counts know nothing. */
static void times_gone(struct kunit *test)
{
	struct ftrace_times times = { };
	struct ftrace_table *table = times_kunit_table(test, &times, TIMES_KUNIT_NR);
	struct ftrace_count_gone *gone = kzalloc(sizeof(*gone), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, gone);
	gone->ip = TIMES_KUNIT_TEXT;
	gone->time.total = 7;

	guard(mutex)(&ftrace_lock);
	times.counts = ftrace_counts_alloc();
	KUNIT_EXPECT_NOT_NULL(test, times.counts);
	if (!times.counts) {
		kfree(gone);
		return;
	}
	list_add(&gone->node, &times.counts->gone);
	ftrace_counts_forget_table(table);
	ftrace_times_forget_table(table);
	KUNIT_EXPECT_EQ(test, gone->time.total, 7);
	ftrace_counts_put(times.counts);
}

static struct kunit_case times_kunit_cases[] = {
	KUNIT_CASE(times_addresses),
	KUNIT_CASE(times_users),
	KUNIT_CASE(times_sums),
	KUNIT_CASE(times_gone),
	{ }
};

static struct kunit_suite times_kunit_suite = {
	.name		= "ftrace_times",
	.test_cases	= times_kunit_cases,
};

kunit_test_suite(times_kunit_suite);
