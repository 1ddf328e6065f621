// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the function profiler: from an address to its counter, the
 * lines of a file, and the arithmetic in them.
 *
 * The tables here are in no map, and lie on addresses without code.
 */
#include "ftrace_kunit.h"

#define PROFILE_KUNIT_BASE	0xffff123400000000UL
#define PROFILE_KUNIT_SKIP	0x1000UL
#define PROFILE_KUNIT_SIZE	(3 * PROFILE_BUCKET + 16)

/* In the text: the ends of buckets, one of them empty, and of the text. */
static const u32 profile_kunit_sites[] = {
	0, 1, PROFILE_BUCKET - 1, 2 * PROFILE_BUCKET, 2 * PROFILE_BUCKET + 5,
	3 * PROFILE_BUCKET - 1, 3 * PROFILE_BUCKET, 3 * PROFILE_BUCKET + 15,
};

#define PROFILE_KUNIT_NR	ARRAY_SIZE(profile_kunit_sites)
#define PROFILE_KUNIT_TEXT	(PROFILE_KUNIT_BASE + PROFILE_KUNIT_SKIP)

static void profile_kunit_free(void *table)
{
	ftrace_profile_free_table(table);
}

/* A table with its first @nr sites, whose text begins after its base. */
static struct ftrace_table *profile_kunit_table(struct kunit *test, unsigned int nr)
{
	struct ftrace_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	table->base = PROFILE_KUNIT_BASE;
	table->start = PROFILE_KUNIT_TEXT;
	table->end = table->start + PROFILE_KUNIT_SIZE;
	table->nr = nr;
	table->recs = kunit_kcalloc(test, nr, sizeof(*table->recs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table->recs);
	for (unsigned int i = 0; i < nr; i++)
		table->recs[i].offset = PROFILE_KUNIT_SKIP + profile_kunit_sites[i];

	table->profile = profile_alloc(table);
	KUNIT_ASSERT_NOT_NULL(test, table->profile);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, profile_kunit_free, table), 0);
	return table;
}

/* Each address of the text has its own counter, or none. */
static void profile_addresses(struct kunit *test)
{
	for (unsigned int nr = 1; nr <= PROFILE_KUNIT_NR; nr++) {
		struct ftrace_table *table = profile_kunit_table(test, nr);
		struct profile_count *want, *found;
		unsigned int at = 0;

		for (u32 offset = 0; offset < PROFILE_KUNIT_SIZE; offset++) {
			bool site = at < nr && profile_kunit_sites[at] == offset;
			unsigned long ip = PROFILE_KUNIT_TEXT + offset;

			/* No expectation while preemption is off: it may report, and sleep. */
			scoped_guard(preempt) {
				want = table->profile->count[smp_processor_id()] + at;
				found = profile_find_in(table->profile, ip);
			}
			KUNIT_EXPECT_PTR_EQ(test, found, site ? want : NULL);
			at += site;
		}
		KUNIT_EXPECT_EQ(test, at, nr);
	}
}

/* The sites with hits, in order, each once, wherever one begins to look. */
static void profile_lines(struct kunit *test)
{
	struct ftrace_table *table = profile_kunit_table(test, PROFILE_KUNIT_NR);
	unsigned int cpu = cpumask_first(cpu_possible_mask);

	for (unsigned int hit = 0; hit < BIT(PROFILE_KUNIT_NR); hit++) {
		unsigned long from = 0;
		struct profile_line *line;

		profile_reset(table->profile);
		for (unsigned int i = 0; i < PROFILE_KUNIT_NR; i++)
			table->profile->count[cpu][i].hits = hit & BIT(i) ? i + 1 : 0;

		for (unsigned int i = 0; i < PROFILE_KUNIT_NR; i++) {
			if (!(hit & BIT(i)))
				continue;
			line = profile_line_in(table, cpu, from);
			KUNIT_EXPECT_NOT_NULL(test, line);
			if (!line)
				return;
			KUNIT_EXPECT_EQ(test, line->ip,
					PROFILE_KUNIT_TEXT + profile_kunit_sites[i]);
			KUNIT_EXPECT_EQ(test, line->cpu, cpu);
			KUNIT_EXPECT_EQ(test, line->count.hits, i + 1);
			from = line->ip + 1;
			kfree(line);
		}
		KUNIT_EXPECT_NULL(test, profile_line_in(table, cpu, from));
	}
}

static void profile_order(struct kunit *test)
{
	struct profile_line low = { .count.hits = 1 }, high = { .count.hits = 2 };

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/* By time alone, and by all of its bits. */
	low.count.hits = 3;
	low.count.time = U32_MAX;
	high.count.time = 1ULL << 32;
#endif
	KUNIT_EXPECT_LT(test, profile_stat_cmp(&low, &high), 0);
	KUNIT_EXPECT_GT(test, profile_stat_cmp(&high, &low), 0);
	KUNIT_EXPECT_EQ(test, profile_stat_cmp(&high, &high), 0);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static void profile_kunit_call(struct profile_count *count, u64 time)
{
	count->hits++;
	count->time += time;
	count->squares += time * time;
}

/* By the definition, where nothing is too large for it. */
static u64 profile_kunit_variance(const struct profile_count *count)
{
	u64 n = count->hits;

	return div64_u64(n * count->squares - count->time * count->time, n * (n - 1) * 1000);
}

/* Times on both sides of where the result becomes 1, and of a remainder. */
static void profile_small(struct kunit *test)
{
	static const u64 times[] = { 0, 1, 2, 44, 45, 63, 64, 999, 1000, 123457, 1000000 };

	for (unsigned int i = 0; i < int_pow(ARRAY_SIZE(times), 4); i++) {
		struct profile_count count = { };
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
	struct profile_count	count;
	u64			average;
	u64			variance;
};

#define SEC	((u64)NSEC_PER_SEC)

static const struct profile_kunit_row profile_kunit_rows[] = {
	{ "one call",				{ 1, 12345, 12345 * 12345 },	12345, 0 },
	{ "one call, under way",		{ 1, 0, 0 },			0, 0 },
	{ "two equal calls",			{ 2, 2000, 2000000 },		1000, 0 },
	{ "1 us and 3 us",			{ 2, 4000, 10000000 },		2000, 2000 },
	{ "one of three under way",		{ 3, 4000, 10000000 },		1333, 2333 },
	{ "more returned than entered",		{ 2, 3000, 3000000 },		1500, 0 },
	{ "1 s and 3 s, twice the squares do not fit",
		{ 2, 4 * SEC, 10 * SEC * SEC },		2 * SEC, 2 * SEC * (SEC / 1000) },
	{ "two of 3 s, the sum's square does not fit",
		{ 2, 6 * SEC, 18 * SEC * SEC },		3 * SEC, 0 },
	{ "two of 4 s, the squares do not fit",
		{ 2, 8 * SEC, 32 * SEC * SEC },		4 * SEC, 0 },
	{ "longest time",			{ 2, U64_MAX, 1 },		U64_MAX / 2, 0 },
	{ "most calls of 1 ns",
		{ ULONG_MAX, ULONG_MAX, ULONG_MAX },	1, 0 },
	{ "many calls, of 0 and 2 ms",
		{ 1000000, 1000000 * 1000000ULL, 2000000ULL * 1000000 * 1000000 },
		1000000, 1000001000 },
};

#undef SEC

KUNIT_ARRAY_PARAM_DESC(profile_kunit_rows, profile_kunit_rows, name);

static void profile_large(struct kunit *test)
{
	const struct profile_kunit_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, profile_average(&row->count), row->average);
	KUNIT_EXPECT_EQ(test, profile_variance(&row->count), row->variance);
}
#endif

static struct kunit_case profile_kunit_cases[] = {
	KUNIT_CASE(profile_addresses),
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
