// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of function_counts: pairs that take several slots are one line, and sorted by
 * the sum of these; and of the percentiles of function_latency.
 */
#include "kunit.h"

#define COUNT_FILE_KUNIT_SIZE	512

/* A pair of test functions, by their numbers, and how often a slot of it was counted. */
struct count_file_kunit_slot {
	unsigned int	site;
	unsigned int	caller;
	u64		calls;
};

static const struct count_file_kunit_slot count_file_kunit_slots[] = {
	{ 0, 2, 2 },
	{ 1, 2, 4 },
	{ 0, 1, 1 },
	{ 1, 0, 0 },
	{ 0, 2, 3 },
};

#define COUNT_FILE_KUNIT_NR	ARRAY_SIZE(count_file_kunit_slots)

static unsigned int count_file_kunit_lines(struct count_line *lines, u64 __percpu *counts)
{
	unsigned int cpu = cpumask_first(cpu_possible_mask), nr = 0;

	for (unsigned int i = 0; i < COUNT_FILE_KUNIT_NR; i++) {
		const struct count_file_kunit_slot *slot = &count_file_kunit_slots[i];

		*per_cpu_ptr(&counts[i], cpu) = slot->calls;
		nr = count_line_add(lines, nr, (struct count_line) {
			.ip	= kunit_site(slot->site),
			.caller	= kunit_site(slot->caller),
			.count	= &counts[i],
		});
	}
	return nr;
}

static void count_file_pairs(struct kunit *test)
{
	struct seq_file m = { .size = COUNT_FILE_KUNIT_SIZE };
	struct count_line *lines;
	u64 __percpu *counts;
	unsigned int nr;

	m.buf = kunit_kzalloc(test, COUNT_FILE_KUNIT_SIZE, GFP_KERNEL);
	lines = kunit_kcalloc(test, COUNT_FILE_KUNIT_NR + 1, sizeof(*lines), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	KUNIT_ASSERT_NOT_NULL(test, lines);
	counts = __alloc_percpu(COUNT_FILE_KUNIT_NR * sizeof(u64), sizeof(u64));
	KUNIT_ASSERT_NOT_NULL(test, (__force void *)counts);

	nr = count_file_kunit_lines(lines, counts);
	KUNIT_EXPECT_EQ(test, nr, COUNT_FILE_KUNIT_NR - 1);
	sort(lines, nr, sizeof(*lines), count_line_cmp, NULL);
	count_sort_by_sum(lines, nr);
	/* The calls that there was no room for. */
	nr = count_line_add(lines, nr, (struct count_line) { .count = &counts[1] });
	KUNIT_EXPECT_EQ(test, count_show_lines(&m, lines, nr, COUNT_OPT_CALLERS), 0);
	KUNIT_EXPECT_STREQ(test, m.buf,
			   "5\tgcd\t-\tint_sqrt\t-\n"
			   "4\tint_pow\t-\tint_sqrt\t-\n"
			   "1\tgcd\t-\tint_pow\t-\n"
			   "4\t...\t...\t...\t...\n");
	free_percpu(counts);
}

static void count_file_percentiles(struct kunit *test)
{
	/* 90 calls of 64 to 127 ns, 9 of 1024 to 2047, one of 5000. */
	u64 bucket[FTRACE_LATENCY_BUCKETS] = { [2] = 90, [6] = 9, [8] = 1 };

	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 100, 5000, 45), 64 + 32);
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 100, 5000, 90), 128);
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 100, 5000, 93), 1024 + 1024 / 3);
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 100, 5000, 99), 2048);
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 100, 5000, 100), 5000);

	/* The only call has all times, and may be longer than the last bucket's beginning. */
	bucket[2] = 0;
	bucket[6] = 0;
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 1, 5000, 50), 5000);
	bucket[8] = 0;
	bucket[FTRACE_LATENCY_BUCKETS - 1] = 4;
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, 4, 1ULL << 33, 50),
			(1ULL << 31) + (3ULL << 31) / 2);

	/* No number is too large. */
	bucket[0] = U64_MAX - 4;
	KUNIT_EXPECT_EQ(test, count_percentile(bucket, U64_MAX, 1ULL << 33, 50), 16);
}

static struct kunit_case count_file_kunit_cases[] = {
	KUNIT_CASE(count_file_pairs),
	KUNIT_CASE(count_file_percentiles),
	{ }
};

static struct kunit_suite count_file_kunit_suite = {
	.name		= "trace_count_file",
	.test_cases	= count_file_kunit_cases,
};

kunit_test_suite(count_file_kunit_suite);
