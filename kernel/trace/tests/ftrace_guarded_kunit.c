// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the guarded ops: the guard comes to the sites that they have,
 * and they stay away from those that they were told to leave.
 *
 * Included after ftrace_update_kunit.c, with whose ops this is tested.
 */
#include "../ftrace_attach.h"
#include "../ftrace_counts.h"
#include "../ftrace_guarded.h"

static struct ftrace_ops guarded_kunit_guard = {
	.func	= ftrace_count_call,
};

/* The sites at which the guard is expected, and calls since the last time. */
static void guarded_kunit_expect(struct kunit *test, unsigned int bits, unsigned int calls)
{
	u64 *n = kunit_kcalloc(test, FTRACE_COUNT_GROUP, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	guard(mutex)(&ftrace_lock);

	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		unsigned long ip = update_kunit_ips[i];
		struct ftrace_table *table = ftrace_table_find(ip);
		unsigned int at = ftrace_table_lower_bound(table, ip);
		u64 sum = 0;
		int cpu;

		KUNIT_EXPECT_EQ_MSG(test, ftrace_callset_has(ftrace_callset_at(ip),
							     &guarded_kunit_guard),
				    !!(bits & BIT(i)), "site %u", i);
		for_each_possible_cpu(cpu) {
			u64 __percpu *count = ftrace_counts_find(guarded_kunit_guard.counts, table,
								 at);

			sum += count ? *per_cpu_ptr(count, cpu) : 0;
		}
		KUNIT_EXPECT_EQ_MSG(test, sum, calls & BIT(i) ? i + 1 : 0, "site %u", i);
	}
	ftrace_counts_reset(guarded_kunit_guard.counts);

	/* What a CPU takes it does not have any more. */
	guard(migrate)();
	ftrace_counts_take(guarded_kunit_guard.counts, ftrace_table_find(update_kunit_ips[0]), 0,
			   n);
	KUNIT_EXPECT_EQ(test, n[0], 0);
}

static int guarded_kunit_set(bool on)
{
	struct ftrace_counts *counts = guarded_kunit_guard.counts;

	guard(mutex)(&ftrace_lock);

	if (!on) {
		ftrace_guard_detach();
		guarded_kunit_guard.counts = NULL;
		ftrace_counts_put(counts);
		return 0;
	}
	guarded_kunit_guard.counts = ftrace_counts_alloc(1);
	return guarded_kunit_guard.counts ? ftrace_guard_attach(&guarded_kunit_guard) : -ENOMEM;
}

/* All guarded ops leave the sites of @bits, or come back. */
static void guarded_kunit_leave(struct kunit *test, unsigned int bits)
{
	DEFINE_FLEX(struct ftrace_site_set, set, ip, nr, KUNIT_NR_SITES);

	guard(mutex)(&ftrace_lock);

	if (!bits) {
		KUNIT_EXPECT_EQ(test, ftrace_guarded_return(), 0);
		return;
	}
	set->nr = 0;
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		if (bits & BIT(i))
			set->ip[set->nr++] = update_kunit_ips[i];
	}
	ftrace_site_set_sort(set);
	KUNIT_EXPECT_EQ(test, ftrace_guarded_leave(set), 0);
}

/* What a site calls that is counted has a name. */
static void guarded_kunit_expect_stub(struct kunit *test, unsigned int i)
{
	struct ftrace_table *table = ftrace_table_find(update_kunit_ips[i]);
	struct ftrace_record *rec = ftrace_site_find(update_kunit_ips[i]);
	char name[KSYM_SYMBOL_LEN];
	unsigned long target;
	unsigned int step;

	guard(mutex)(&ftrace_lock);

	ftrace_callset_targets(ftrace_callset_at(update_kunit_ips[i]), table, rec, 1, &target,
			       &step);
	if (!step)
		return;
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(target));
	sprint_symbol_no_offset(name, target + 1);
	KUNIT_EXPECT_STREQ(test, name, FTRACE_STUB_SYM " [" FTRACE_TRAMPOLINE_MOD "]");
}

/* The guard is where guarded ops are, and these are not where they must not be. */
static void guarded_leave_and_return(struct kunit *test)
{
	struct update_kunit_ops *u = update_kunit_ops;
	struct update_kunit_state before = update_kunit_state();
	unsigned int bits[3] = { 3, 6, 0 };

	if (ftrace_guard)
		kunit_skip(test, "somebody has set a limit");
	u[0].ops.guarded = FTRACE_GUARDED_FUNCTION;
	u[2].ops.guarded = FTRACE_GUARDED_FUNCTION;
	KUNIT_ASSERT_EQ(test, update_kunit_attach(&u[0], bits[0]), 0);
	KUNIT_ASSERT_EQ(test, update_kunit_attach(&u[1], bits[1]), 0);
	KUNIT_ASSERT_EQ(test, guarded_kunit_set(true), 0);
	update_kunit_expect_all(test, bits, 3);
	guarded_kunit_expect(test, 3, 3);
	guarded_kunit_expect_stub(test, 0);

	bits[2] = 4;
	KUNIT_EXPECT_EQ(test, update_kunit_attach(&u[2], bits[2]), 0);
	update_kunit_expect_all(test, bits, 3);
	guarded_kunit_expect(test, 7, 7);

	guarded_kunit_leave(test, 6);
	bits[0] = 1;
	bits[2] = 0;
	update_kunit_expect_all(test, bits, 3);
	guarded_kunit_expect(test, 1, 1);

	/* Neither by a new filter nor by coming anew. */
	KUNIT_EXPECT_EQ(test, update_kunit_filter(&u[0], UPDATE_KUNIT_ALL), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[2].ops), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[2].ops), 0);
	update_kunit_expect_all(test, bits, 3);
	guarded_kunit_expect(test, 1, 1);

	guarded_kunit_leave(test, 0);
	bits[0] = UPDATE_KUNIT_ALL;
	bits[2] = 4;
	update_kunit_expect_all(test, bits, 3);
	guarded_kunit_expect(test, 7, 7);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	bits[0] = 0;
	update_kunit_expect_all(test, bits, 3);
	guarded_kunit_expect(test, 4, 4);
	KUNIT_EXPECT_EQ(test, guarded_kunit_set(false), 0);
	update_kunit_expect_all(test, bits, 3);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[1].ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[2].ops), 0);
	update_kunit_expect_state(test, &before);
}

static struct kunit_case guarded_kunit_cases[] = {
	KUNIT_CASE_PARAM(guarded_leave_and_return, update_kunit_ways_gen_params),
	{ }
};

static struct kunit_suite guarded_kunit_suite = {
	.name		= "ftrace_guarded",
	.init		= update_kunit_init,
	.exit		= update_kunit_exit,
	.test_cases	= guarded_kunit_cases,
};

kunit_test_suite(guarded_kunit_suite);
