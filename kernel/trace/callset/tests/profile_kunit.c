// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the function profiler: the lines of a file, and the arithmetic in them.
 *
 * The table here is in no map, and lies on addresses without code.
 */
#include "kunit.h"

#define PROFILE_KUNIT_BASE	KUNIT_NOWHERE
#define PROFILE_KUNIT_NR	8

static struct ftrace_table *profile_kunit_table(struct kunit *test)
{
	struct ftrace_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	table->base = PROFILE_KUNIT_BASE;
	table->start = PROFILE_KUNIT_BASE;
	table->end = table->start + 16 * PROFILE_KUNIT_NR;
	table->nr = PROFILE_KUNIT_NR;
	table->recs = kunit_kcalloc(test, table->nr, sizeof(*table->recs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table->recs);
	for (unsigned int i = 0; i < table->nr; i++)
		table->recs[i].offset = 16 * i;
	return table;
}

/* The sites that @hit has a bit of have as many hits as their number from 1 on. */
static void profile_kunit_lines(struct kunit *test, const struct ftrace_table *table,
				unsigned int cpu, unsigned int hit)
{
	struct profile_line *line;
	unsigned long from = 0;

	for (unsigned int i = 0; i < table->nr; i++) {
		if (!(hit & BIT(i)))
			continue;
		line = profile_line_in(table, cpu, from);
		KUNIT_EXPECT_NOT_NULL(test, line);
		if (!line)
			return;
		KUNIT_EXPECT_EQ(test, line->ip, PROFILE_KUNIT_BASE + 16 * i);
		KUNIT_EXPECT_EQ(test, line->cpu, cpu);
		KUNIT_EXPECT_EQ(test, line->hits, i + 1);
		from = line->ip + 1;
		kfree(line);
	}
	KUNIT_EXPECT_NULL(test, profile_line_in(table, cpu, from));
}

/* The sites with hits, in order, each once, wherever one begins to look. */
static void profile_lines(struct kunit *test)
{
	struct ftrace_table *table = profile_kunit_table(test);
	unsigned int cpu = cpumask_first(cpu_possible_mask);
	struct ftrace_counts *counts, *before;
	u64 __percpu *group = NULL;

	guard(mutex)(&ftrace_lock);

	counts = ftrace_counts_alloc(1);
	if (counts)
		group = ftrace_counts_group(counts, table, 0);
	KUNIT_EXPECT_NOT_NULL(test, (__force void *)group);
	if (!group) {
		ftrace_counts_put(counts);
		return;
	}
	before = profile_ops.counts;
	profile_ops.counts = counts;
	for (unsigned int hit = 0; hit < BIT(PROFILE_KUNIT_NR); hit++) {
		for (unsigned int i = 0; i < PROFILE_KUNIT_NR; i++)
			per_cpu_ptr(group, cpu)[i] = hit & BIT(i) ? i + 1 : 0;
		profile_kunit_lines(test, table, cpu, hit);
	}
	profile_ops.counts = before;
	ftrace_counts_forget_table(table);
	ftrace_counts_put(counts);
}

static void profile_order(struct kunit *test)
{
	struct profile_line low = { .hits = 1 }, high = { .hits = 2 };

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/* By time alone, and by all of its bits. */
	low.hits = 3;
	low.time = U32_MAX;
	high.time = 1ULL << 32;
#endif
	KUNIT_EXPECT_LT(test, profile_stat_cmp(&low, &high), 0);
	KUNIT_EXPECT_GT(test, profile_stat_cmp(&high, &low), 0);
	KUNIT_EXPECT_EQ(test, profile_stat_cmp(&high, &high), 0);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static void profile_kunit_call(struct profile_line *count, u64 time)
{
	count->hits++;
	count->time += time;
	count->squares += time * time;
}

/* By the definition, where nothing is too large for it. */
static u64 profile_kunit_variance(const struct profile_line *count)
{
	u64 n = count->hits;

	return div64_u64(n * count->squares - count->time * count->time, n * (n - 1) * 1000);
}

/* Times on both sides of where the result becomes 1, and of a remainder. */
static void profile_small(struct kunit *test)
{
	static const u64 times[] = { 0, 1, 2, 44, 45, 63, 64, 999, 1000, 123457, 1000000 };

	for (unsigned int i = 0; i < int_pow(ARRAY_SIZE(times), 4); i++) {
		struct profile_line count = { };
		unsigned int rest = i;

		for (unsigned int n = 1; n <= 4; n++, rest /= ARRAY_SIZE(times)) {
			profile_kunit_call(&count, times[rest % ARRAY_SIZE(times)]);
			KUNIT_ASSERT_EQ(test, profile_average(&count), div64_ul(count.time, n));
			if (n > 1)
				KUNIT_ASSERT_EQ(test, profile_variance(&count),
						profile_kunit_variance(&count));
		}
	}
}

struct profile_kunit_row {
	const char		*name;
	u64			hits;
	u64			time;
	u64			squares;
	u64			average;
	u64			variance;
};

#define SEC	((u64)NSEC_PER_SEC)

static const struct profile_kunit_row profile_kunit_rows[] = {
	{ "one call",				1, 12345, 12345 * 12345,	12345, 0 },
	{ "one call, under way",		1, 0, 0,			0, 0 },
	{ "two equal calls",			2, 2000, 2000000,		1000, 0 },
	{ "1 us and 3 us",			2, 4000, 10000000,		2000, 2000 },
	{ "one of three under way",		3, 4000, 10000000,		1333, 2333 },
	{ "more returned than entered",		2, 3000, 3000000,		1500, 0 },
	{ "1 s and 3 s, twice the squares do not fit",
		2, 4 * SEC, 10 * SEC * SEC,		2 * SEC, 2 * SEC * (SEC / 1000) },
	{ "two of 3 s, the sum's square does not fit",
		2, 6 * SEC, 18 * SEC * SEC,		3 * SEC, 0 },
	{ "two of 4 s, the squares do not fit",
		2, 8 * SEC, 32 * SEC * SEC,		4 * SEC, 0 },
	{ "longest time",			2, U64_MAX, 1,		U64_MAX / 2, 0 },
	{ "most calls of 1 ns",
		ULONG_MAX, ULONG_MAX, ULONG_MAX,	1, 0 },
	{ "many calls, of 0 and 2 ms",
		1000000, 1000000 * 1000000ULL, 2000000ULL * 1000000 * 1000000,
		1000000, 1000001000 },
};

#undef SEC

KUNIT_ARRAY_PARAM_DESC(profile_kunit_rows, profile_kunit_rows, name);

static void profile_large(struct kunit *test)
{
	const struct profile_kunit_row *row = test->param_value;
	struct profile_line line = {
		.hits = row->hits, .time = row->time, .squares = row->squares,
	};

	KUNIT_EXPECT_EQ(test, profile_average(&line), row->average);
	KUNIT_EXPECT_EQ(test, profile_variance(&line), row->variance);
}
#endif

static struct kunit_case profile_kunit_cases[] = {
	KUNIT_CASE(profile_lines),
	KUNIT_CASE(profile_order),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(profile_small),
	KUNIT_CASE_PARAM(profile_large, profile_kunit_rows_gen_params),
#endif
	{ }
};

static struct kunit_suite profile_kunit_suite = {
	.name		= "ftrace_profile",
	.test_cases	= profile_kunit_cases,
};

kunit_test_suite(profile_kunit_suite);
