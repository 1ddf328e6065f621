// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of times: from an address to the time of its calls, and how a call is added.
 */
#include "kunit.h"

#define TIMES_KUNIT_BASE	KUNIT_NOWHERE
#define TIMES_KUNIT_SKIP	0x1000UL
#define TIMES_KUNIT_SIZE	(3 * TIMES_BUCKET + 16)

/* In the text: the ends of buckets, one of them empty, and of the text. */
static const u32 times_kunit_sites[] = {
	0, 1, TIMES_BUCKET - 1, 2 * TIMES_BUCKET, 2 * TIMES_BUCKET + 5,
	3 * TIMES_BUCKET - 1, 3 * TIMES_BUCKET, 3 * TIMES_BUCKET + 15,
};

#define TIMES_KUNIT_NR		ARRAY_SIZE(times_kunit_sites)

static void times_kunit_free(void *first)
{
	kvfree(first);
}

/* Each site of each table is found by its bucket. */
static void times_buckets(struct kunit *test)
{
	struct ftrace_record recs[TIMES_KUNIT_NR] = { };
	struct ftrace_table table = { .base = TIMES_KUNIT_BASE, .recs = recs };

	for (unsigned int i = 0; i < TIMES_KUNIT_NR; i++)
		recs[i].offset = TIMES_KUNIT_SKIP + times_kunit_sites[i];
	for (table.nr = 1; table.nr <= TIMES_KUNIT_NR; table.nr++) {
		struct times_text text;

		KUNIT_ASSERT_EQ(test, times_fill_buckets(&text, &table), 0);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, times_kunit_free, text.first),
				0);
		KUNIT_EXPECT_EQ(test, text.base, TIMES_KUNIT_BASE);
		KUNIT_EXPECT_EQ(test, text.size, recs[table.nr - 1].offset + 1);
		for (unsigned int i = 0, at = 0; i < text.size; i++) {
			KUNIT_EXPECT_EQ(test, times_index(&text, i), at);
			at += recs[at].offset == i;
		}
	}
}

/* gcd() as the times of a user see it that is never started. */
static struct ftrace_table *times_kunit_gcd(unsigned int *index)
{
	unsigned long ip = ftrace_location((unsigned long)gcd);
	struct ftrace_table *table = ftrace_table_find(ip);

	*index = ftrace_table_lower_bound(table, ip);
	return table;
}

static void times_kunit_make(struct kunit *test, struct ftrace_times *times)
{
	unsigned int index;
	struct ftrace_table *table = times_kunit_gcd(&index);

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, times_prepare(times), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_counts_group(times->counts, table,
						    index / FTRACE_COUNT_GROUP));
}

static void times_kunit_end(struct ftrace_times *times)
{
	guard(mutex)(&ftrace_lock);
	ftrace_counts_put(times->counts);
}

static struct ftrace_time times_kunit_sum(const struct ftrace_times *times)
{
	const struct ftrace_time __percpu *times_of;
	struct ftrace_time sum = { };
	unsigned int index;
	struct ftrace_table *table = times_kunit_gcd(&index);
	int cpu;

	guard(mutex)(&ftrace_lock);
	times_of = ftrace_times_find(times, table, index);
	if (!times_of)
		return sum;
	for_each_possible_cpu(cpu) {
		const struct ftrace_time *time = per_cpu_ptr(times_of, cpu);

		sum.total += time->total;
		sum.self += time->self;
		sum.max = max(sum.max, time->max);
		if (times->counts->words == TIMES_WORDS_SQUARES)
			sum.squares += time->squares;
	}
	return sum;
}

static void times_kunit_add(const struct ftrace_times *times, u64 total, u64 self)
{
	guard(preempt)();
	times_add(times, ftrace_location((unsigned long)gcd), total, self);
}

/* The times of one user are not another's, and only functions that are timed take memory. */
static void times_users(struct kunit *test)
{
	struct ftrace_times one = { }, two = { };
	unsigned int groups = 0;

	times_kunit_make(test, &one);
	times_kunit_make(test, &two);
	KUNIT_EXPECT_PTR_NE(test, one.core, two.core);
	times_kunit_add(&one, 3, 3);
	times_kunit_add(&two, 5, 5);
	KUNIT_EXPECT_EQ(test, times_kunit_sum(&one).total, 3);
	KUNIT_EXPECT_EQ(test, times_kunit_sum(&two).total, 5);
	for (unsigned int i = 0; i < one.core->nr; i++)
		groups += !!one.core->group[i];
	KUNIT_EXPECT_EQ(test, groups, 1);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_times_reset(&one);
	KUNIT_EXPECT_EQ(test, times_kunit_sum(&one).total, 0);
	KUNIT_EXPECT_EQ(test, times_kunit_sum(&two).max, 5);
	times_kunit_end(&one);
	times_kunit_end(&two);
}

/* The first calls are squared, and of the others their own. */
static void times_sums(struct kunit *test)
{
	struct ftrace_times times = { .more = FTRACE_TIMES_SQUARE_TOTAL };
	struct ftrace_time time;

	times_kunit_make(test, &times);
	times_kunit_add(&times, 8, 8);
	times_kunit_add(&times, 10, 6);
	times.more = FTRACE_TIMES_SQUARE_SELF;
	times_kunit_add(&times, 7, 5);
	times_kunit_add(&times, 3, 0);
	/* No times were made of it. */
	scoped_guard(preempt)
		times_add(&times, times_core.base + times_core.size - 1, 1000, 1000);
	time = times_kunit_sum(&times);
	KUNIT_EXPECT_EQ(test, time.total, 28);
	KUNIT_EXPECT_EQ(test, time.self, 19);
	KUNIT_EXPECT_EQ(test, time.max, 10);
	KUNIT_EXPECT_EQ(test, time.squares, 8 * 8 + 10 * 10 + 5 * 5);
	times_kunit_end(&times);
}

/* Calls are counted by their time where that is asked for, and nowhere else. */
static void times_latency(struct kunit *test)
{
	struct ftrace_times times = { .more = FTRACE_TIMES_LATENCY }, other = { };
	static const struct {
		u64		total;
		unsigned int	bucket;
	} calls[] = {
		{ 0, 0 }, { 31, 0 }, { 32, 1 }, { 63, 1 }, { 64, 2 }, { 1 << 20, 16 },
		{ (1ULL << 31) - 1, 26 }, { 1ULL << 31, 27 }, { U64_MAX, 27 },
	};
	const struct ftrace_time __percpu *times_of;
	unsigned int index, nr = 0;
	struct ftrace_table *table = times_kunit_gcd(&index);
	int cpu;

	times_kunit_make(test, &times);
	times_kunit_make(test, &other);
	scoped_guard(mutex, &ftrace_lock) {
		KUNIT_EXPECT_TRUE(test, ftrace_times_has_latency(&times));
		KUNIT_EXPECT_FALSE(test, ftrace_times_has_latency(&other));
		times_of = ftrace_times_find(&times, table, index);
	}
	KUNIT_ASSERT_NOT_NULL(test, (__force void *)times_of);
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		u64 before = 0, after = 0;

		for_each_possible_cpu(cpu)
			before += per_cpu_ptr(times_of, cpu)->latency[calls[i].bucket];
		times_kunit_add(&times, calls[i].total, 0);
		times_kunit_add(&other, calls[i].total, 0);
		for_each_possible_cpu(cpu)
			after += per_cpu_ptr(times_of, cpu)->latency[calls[i].bucket];
		KUNIT_EXPECT_EQ_MSG(test, after, before + 1, "%llu ns", calls[i].total);
	}
	for (unsigned int i = 0; i < FTRACE_LATENCY_BUCKETS; i++) {
		for_each_possible_cpu(cpu)
			nr += per_cpu_ptr(times_of, cpu)->latency[i];
	}
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(calls));
	KUNIT_EXPECT_EQ(test, times_kunit_sum(&times).max, U64_MAX);

	/* Without it, next time, its memory goes. */
	times.more = FTRACE_TIMES_NO_MORE;
	times_kunit_make(test, &times);
	KUNIT_EXPECT_FALSE(test, ftrace_times_has_latency(&times));
	KUNIT_EXPECT_EQ(test, times_kunit_sum(&times).max, 0);
	times_kunit_end(&times);
	times_kunit_end(&other);
}

#ifdef FTRACE_TIMES_PATH
/* A clock that is set back has no time pass, and one that runs for hours no less than it says. */
static void times_clock(struct kunit *test)
{
	u64 cycle = times_cycle;

	/* 1.5 ns. */
	times_cycle = 3ULL << 30;
	KUNIT_EXPECT_EQ(test, times_elapsed(1000, 1010), 15);
	KUNIT_EXPECT_EQ(test, times_elapsed(1000, 1000), 0);
	KUNIT_EXPECT_EQ(test, times_elapsed(1000, 999), 0);
	KUNIT_EXPECT_EQ(test, times_elapsed(1ULL << 63, 0), 0);
	/* More than 32 bits of cycles; and the largest cycle. */
	KUNIT_EXPECT_EQ(test, times_elapsed(0, (1ULL << 40) + 10), (3ULL << 39) + 15);
	times_cycle = U32_MAX;
	KUNIT_EXPECT_EQ(test, times_elapsed(0, U32_MAX), (u64)U32_MAX * U32_MAX >> 31);
	KUNIT_EXPECT_EQ(test, times_elapsed(0, 3ULL << 32), 6ULL * U32_MAX);
	times_cycle = cycle;
}

#ifdef CONFIG_PM_SLEEP
/* After a suspend the calls of users that are started have begun later, and no others. */
static void times_suspended(struct kunit *test)
{
	const unsigned int idx = FGRAPH_MAX_USERS - 1;
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct ftrace_times *times = kunit_kzalloc(test, sizeof(*times), GFP_KERNEL);
	unsigned long *stack = kunit_kcalloc(test, FGRAPH_STACK_WORDS, sizeof(*stack), GFP_KERNEL);
	u64 meta[] = { 0, FIELD_PREP(FGRAPH_META_GENERATION, 1), 1, 0, 0 };
	unsigned int end = 0, start[ARRAY_SIZE(meta)];

	KUNIT_ASSERT_TRUE(test, task && times && stack);
	if (times_started[idx] != &times_none)
		kunit_skip(test, "the last index is in use");
	/* Without a stack there is nothing to do. */
	times_delay_task(task, 50);
	times->gops.idx = idx;
	times->gops.ops.graph_meta = FIELD_PREP(FGRAPH_META_USERS, BIT(idx)) |
				     FIELD_PREP(FGRAPH_META_GENERATION, U32_MAX);
	times_set_started(times, true);
	/* One is of an earlier user, one has other data, and the last began after the suspend. */
	for (unsigned int i = 0; i < ARRAY_SIZE(meta); i++) {
		meta[i] = meta[i] == 1 ? times->meta + 1 : times->meta - meta[i];
		start[i] = end;
		end += FIELD_GET(FGRAPH_META_WORDS, meta[i]);
		*fgraph_sole_data((struct ftrace_ret_stack *)&stack[start[i]]) = 1000;
		*fgraph_top(stack, end) = meta[i];
	}
	((struct ftrace_ret_stack *)&stack[start[4]])->func = times_resume_ip;
	task->ret_stack = stack;
	task->curr_ret_stack = end;
	times_delay_task(task, 50);
	KUNIT_EXPECT_NE(test, times_resume_ip, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(meta); i++)
		KUNIT_EXPECT_EQ(test, i == 0 || i == 3 ? 1050 : 1000,
				*fgraph_sole_data((struct ftrace_ret_stack *)&stack[start[i]]));
	times_set_started(times, false);
}
#endif
#endif

/* A clock that is set back has no time pass; sleep is left out where that is asked for. */
static void times_general(struct kunit *test)
{
	struct times_begin begin = { .time = 1000, .slept = current->ftrace_sleeptime };
	bool no_sleep = fprofile_no_sleep_time;

	WRITE_ONCE(fprofile_no_sleep_time, false);
	KUNIT_EXPECT_EQ(test, times_since(&begin, 1010), 10);
	KUNIT_EXPECT_EQ(test, times_since(&begin, 999), 0);
	begin.slept -= 4;
	KUNIT_EXPECT_EQ(test, times_since(&begin, 1010), 10);
	/* The sum may grow meanwhile. */
	WRITE_ONCE(fprofile_no_sleep_time, true);
	KUNIT_EXPECT_LE(test, times_since(&begin, 1010), 6);
	KUNIT_EXPECT_EQ(test, times_since(&begin, 1003), 0);
	/* It was moved to a CPU whose clock is 500 behind, and that is in the sum, too. */
	begin.slept = current->ftrace_sleeptime + 500;
	KUNIT_EXPECT_LE(test, times_since(&begin, 510), 10);
	KUNIT_EXPECT_GT(test, times_since(&begin, 510), 0);
	WRITE_ONCE(fprofile_no_sleep_time, no_sleep);
}

/* Of 32-bit machines, too, a task's variable has room for a sleep of a day. */
static void times_variable(struct kunit *test)
{
	unsigned long *stack = kunit_kcalloc(test, FGRAPH_STACK_WORDS, sizeof(*stack), GFP_KERNEL);
	const u64 day = 24ULL * 3600 * NSEC_PER_SEC;

	KUNIT_ASSERT_NOT_NULL(test, stack);
	for (unsigned int i = 0; i < FGRAPH_MAX_USERS; i++)
		*fgraph_var(stack, i) = day + i;
	for (unsigned int i = 0; i < FGRAPH_MAX_USERS; i++)
		KUNIT_EXPECT_EQ(test, *fgraph_var(stack, i), day + i);
}

static struct kunit_case times_kunit_cases[] = {
	KUNIT_CASE(times_buckets),
	KUNIT_CASE(times_users),
	KUNIT_CASE(times_sums),
	KUNIT_CASE(times_latency),
#ifdef FTRACE_TIMES_PATH
	KUNIT_CASE(times_clock),
#ifdef CONFIG_PM_SLEEP
	KUNIT_CASE(times_suspended),
#endif
#endif
	KUNIT_CASE(times_general),
	KUNIT_CASE(times_variable),
	{ }
};

static struct kunit_suite times_kunit_suite = {
	.name		= "ftrace_times",
	.test_cases	= times_kunit_cases,
};

kunit_test_suite(times_kunit_suite);
