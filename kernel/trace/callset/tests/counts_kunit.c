// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the counts: each has a place of its own.
 */
#include "kunit.h"

#define COUNTS_KUNIT_NR		(2 * FTRACE_COUNT_GROUP + 3)

/* A table that no lookup finds, of as many records. */
static struct ftrace_table *counts_kunit_table(struct kunit *test)
{
	struct ftrace_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	table->recs = kunit_kcalloc(test, COUNTS_KUNIT_NR, sizeof(*table->recs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table->recs);
	table->nr = COUNTS_KUNIT_NR;
	table->base = (unsigned long)_text;
	for (unsigned int i = 0; i < table->nr; i++)
		table->recs[i].offset = (unsigned long)gcd - table->base + i;
	return table;
}

static u64 counts_kunit_sum(const struct ftrace_counts *counts, const struct ftrace_table *table,
			    unsigned int index)
{
	u64 __percpu *count = ftrace_counts_find(counts, table, index);
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += count ? *per_cpu_ptr(count, cpu) : 0;
	return sum;
}

static void counts_kunit_end(struct ftrace_counts *counts, struct ftrace_table *table)
{
	ftrace_counts_forget_table(table);
	ftrace_counts_put(counts);
}

/* Groups are made where they are asked for, once, and no two counts are the same. */
static void counts_groups(struct kunit *test)
{
	struct ftrace_table *table = counts_kunit_table(test);
	const unsigned int last = 2 * FTRACE_COUNT_GROUP;
	struct ftrace_counts *counts;
	u64 __percpu *const *group;
	u64 __percpu *first;

	guard(mutex)(&ftrace_lock);
	counts = ftrace_counts_alloc(1);
	KUNIT_EXPECT_NOT_NULL(test, counts);
	if (!counts)
		return;
	KUNIT_EXPECT_EQ(test, ftrace_count_groups(table), 3);
	KUNIT_EXPECT_EQ(test, ftrace_count_group_size(table, 1), FTRACE_COUNT_GROUP);
	KUNIT_EXPECT_EQ(test, ftrace_count_group_size(table, 2), 3);
	KUNIT_EXPECT_TRUE(test, !ftrace_counts_find(counts, table, 0));

	first = ftrace_counts_group(counts, table, 2);
	KUNIT_EXPECT_TRUE(test, first);
	KUNIT_EXPECT_TRUE(test, ftrace_counts_group(counts, table, 2) == first);
	KUNIT_EXPECT_TRUE(test, !ftrace_counts_find(counts, table, last - 1));
	for (unsigned int i = 0; i < 3 && first; i++) {
		KUNIT_EXPECT_TRUE(test, ftrace_counts_find(counts, table, last + i) == first + i);
		this_cpu_add(first[i], i + 1);
	}
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, counts_kunit_sum(counts, table, last + i), i + 1);
	/* Up to a word of the last group, and all. */
	group = counts_find_table(counts, table)->group;
	ftrace_counts_zero(group, FTRACE_COUNT_GROUP, last + 1);
	KUNIT_EXPECT_EQ(test, counts_kunit_sum(counts, table, last), 0);
	KUNIT_EXPECT_EQ(test, counts_kunit_sum(counts, table, last + 1), 2);
	ftrace_counts_zero(group, FTRACE_COUNT_GROUP, table->nr);
	for (unsigned int i = 0; i < COUNTS_KUNIT_NR; i++)
		KUNIT_EXPECT_EQ(test, counts_kunit_sum(counts, table, i), 0);
	counts_kunit_end(counts, table);
}

/* Two counts of the same table are apart, each with its own numbers for a record. */
static void counts_words(struct kunit *test)
{
	struct ftrace_table *table = counts_kunit_table(test);
	struct ftrace_counts *one, *four;
	u64 __percpu *first;

	guard(mutex)(&ftrace_lock);
	one = ftrace_counts_alloc(1);
	four = ftrace_counts_alloc(4);
	first = four ? ftrace_counts_group(four, table, 0) : NULL;
	KUNIT_EXPECT_TRUE(test, first);
	if (first) {
		KUNIT_EXPECT_TRUE(test, !ftrace_counts_find(one, table, 0));
		KUNIT_EXPECT_TRUE(test, ftrace_counts_find(four, table, 3) == first + 12);
	}
	ftrace_counts_forget_table(table);
	KUNIT_EXPECT_TRUE(test, hlist_empty(&table->counts));
	ftrace_counts_put(one);
	ftrace_counts_put(four);
}

static unsigned int counts_kunit_hits;

static void counts_kunit_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	WRITE_ONCE(counts_kunit_hits, counts_kunit_hits + 1);
}

static struct ftrace_ops counts_kunit_counter = { .func = ftrace_count_call };
static struct ftrace_ops counts_kunit_plain = { .func = counts_kunit_func };

static u64 __percpu *counts_kunit_no_group(struct ftrace_counts *counts,
					   struct ftrace_table *table, unsigned int group)
{
	return NULL;
}

static u64 counts_kunit_calls(unsigned long ip)
{
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);
	table = ftrace_table_find(ip);
	return table ? counts_kunit_sum(counts_kunit_counter.counts, table,
					ftrace_table_lower_bound(table, ip)) : 0;
}

/* Memory is short: an ops that counts is refused, and one beside it leaves all the same. */
static void counts_without_memory(struct kunit *test)
{
	unsigned long ip = kunit_site(0);
	u64 calls;

	scoped_guard(mutex, &ftrace_lock)
		counts_kunit_counter.counts = ftrace_counts_alloc(1);
	KUNIT_ASSERT_NOT_NULL(test, counts_kunit_counter.counts);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&counts_kunit_counter, ip, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&counts_kunit_plain, ip, 0, 0), 0);

	kunit_activate_static_stub(test, ftrace_counts_group, counts_kunit_no_group);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&counts_kunit_counter), -ENOMEM);
	kunit_deactivate_static_stub(test, ftrace_counts_group);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&counts_kunit_counter), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&counts_kunit_plain), 0);
	counts_kunit_hits = 0;
	kunit_call_site(0);
	KUNIT_EXPECT_GE(test, READ_ONCE(counts_kunit_hits), 1);
	KUNIT_EXPECT_GE(test, counts_kunit_calls(ip), 1);

	/* The site stays where it is, and the ops is not called there any more. */
	kunit_activate_static_stub(test, ftrace_counts_group, counts_kunit_no_group);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&counts_kunit_plain), 0);
	WRITE_ONCE(counts_kunit_hits, 0);
	calls = counts_kunit_calls(ip);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(counts_kunit_hits), 0);
	KUNIT_EXPECT_GE(test, counts_kunit_calls(ip), calls + 1);
	kunit_deactivate_static_stub(test, ftrace_counts_group);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&counts_kunit_counter), 0);
	ftrace_free_filter(&counts_kunit_counter);
	ftrace_free_filter(&counts_kunit_plain);
	scoped_guard(mutex, &ftrace_lock) {
		ftrace_counts_put(counts_kunit_counter.counts);
		counts_kunit_counter.counts = NULL;
	}
}

static struct kunit_case counts_kunit_cases[] = {
	KUNIT_CASE(counts_groups),
	KUNIT_CASE(counts_words),
	KUNIT_CASE(counts_without_memory),
	{ }
};

static struct kunit_suite counts_kunit_suite = {
	.name		= "ftrace_counts",
	.test_cases	= counts_kunit_cases,
};

kunit_test_suite(counts_kunit_suite);
