// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of filters that guarded ops share: these leave sites for a time, others stay.
 *
 * Included after transaction_kunit.c, with whose ops this is tested.
 */
#include "../filter.h"

static void throttle_kunit_set(struct kunit *test, struct transaction_kunit_ops *u,
			       unsigned int bits, bool out)
{
	DEFINE_FLEX(struct ftrace_site_set, set, ip, nr, KUNIT_NR_SITES);

	guard(mutex)(&ftrace_lock);

	set->nr = 0;
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		if (bits & BIT(i))
			set->ip[set->nr++] = transaction_kunit_ips[i];
	}
	ftrace_site_set_sort(set);
	KUNIT_EXPECT_EQ(test, ftrace_filter_throttle(u->ops.filter, set, out), 0);
}

static void throttle_leave_and_return(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct transaction_kunit_state before = transaction_kunit_state();
	unsigned int bits[3] = { 3, 6, 4 };

	u[0].ops.guarded = true;
	u[2].ops.guarded = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++)
		KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[i], bits[i]), 0);

	/* Neither an ops with another filter nor one that is not guarded is concerned. */
	throttle_kunit_set(test, &u[0], 6, true);
	throttle_kunit_set(test, &u[1], 6, true);
	bits[0] = 1;
	transaction_kunit_expect_all(test, bits, 3);

	/* They stay away when the filter changes, and also if the ops comes anew. */
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[0], TRANSACTION_KUNIT_ALL), 0);
	bits[0] = TRANSACTION_KUNIT_ALL & ~6;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[0].ops), 0);
	transaction_kunit_expect_all(test, bits, 3);

	throttle_kunit_set(test, &u[0], 2, false);
	bits[0] |= 2;
	transaction_kunit_expect_all(test, bits, 3);
	throttle_kunit_set(test, &u[0], 6, false);
	bits[0] = TRANSACTION_KUNIT_ALL;
	transaction_kunit_expect_all(test, bits, 3);

	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[i].ops), 0);
	transaction_kunit_expect_state(test, &before);
}

static struct kunit_case throttle_kunit_cases[] = {
	KUNIT_CASE_PARAM(throttle_leave_and_return, transaction_kunit_ways_gen_params),
	{ }
};

static struct kunit_suite throttle_kunit_suite = {
	.name		= "ftrace_throttle",
	.init		= transaction_kunit_init,
	.exit		= transaction_kunit_exit,
	.test_cases	= throttle_kunit_cases,
};

kunit_test_suite(throttle_kunit_suite);
