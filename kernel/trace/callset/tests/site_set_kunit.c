// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the sets of sites.
 */
#include <kunit/test.h>

#include "site_set_kunit.h"

/* Every pair of sets: empty, equal, disjoint, overlapping, in both orders. */
static void site_set_pairs(struct kunit *test)
{
	for (unsigned int i = 0; i < SITE_SET_KUNIT_SETS; i++) {
		struct ftrace_site_set *a __free(site_set) = site_set_kunit_make(i);

		for (unsigned int j = 0; j < SITE_SET_KUNIT_SETS; j++) {
			struct ftrace_site_set *b __free(site_set) = site_set_kunit_make(j);
			struct ftrace_site_set *both __free(site_set) =
				ftrace_site_set_union(a, b);
			struct ftrace_site_set *rest __free(site_set) =
				ftrace_site_set_minus(a, b);

			KUNIT_EXPECT_EQ(test, site_set_kunit_bits(both), i | j);
			KUNIT_EXPECT_EQ(test, site_set_kunit_bits(rest), i & ~j);
		}
		for (unsigned int bit = 0; bit < SITE_SET_KUNIT_IPS; bit++) {
			unsigned long ip = site_set_kunit_ips[bit];

			KUNIT_EXPECT_EQ(test, ftrace_site_set_has(a, ip), !!(i & BIT(bit)));
			/* A neighbour, but for the pair at which addresses wrap. */
			if (ip != ULONG_MAX)
				KUNIT_EXPECT_FALSE(test, ftrace_site_set_has(a, ip + 1));
		}
	}
}

/* No set is as good as an empty one. */
static void site_set_none(struct kunit *test)
{
	struct ftrace_site_set *a __free(site_set) = site_set_kunit_make(5);
	struct ftrace_site_set *made;

	made = ftrace_site_set_union(NULL, NULL);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(made), 0);
	ftrace_site_set_free(made);
	made = ftrace_site_set_union(a, NULL);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(made), 5);
	ftrace_site_set_free(made);
	made = ftrace_site_set_union(NULL, a);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(made), 5);
	ftrace_site_set_free(made);
	made = ftrace_site_set_minus(a, NULL);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(made), 5);
	ftrace_site_set_free(made);
	made = ftrace_site_set_minus(NULL, a);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(made), 0);
	ftrace_site_set_free(made);
	made = ftrace_site_set_dup(a);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(made), 5);
	KUNIT_EXPECT_PTR_NE(test, made, a);
	ftrace_site_set_free(made);

	KUNIT_EXPECT_PTR_EQ(test, ftrace_site_set_dup(NULL), NULL);
	KUNIT_EXPECT_FALSE(test, ftrace_site_set_has(NULL, 0));
	ftrace_site_set_free(NULL);
}

static void site_set_sort(struct kunit *test)
{
	struct ftrace_site_set *set __free(site_set) = ftrace_site_set_alloc(6);

	KUNIT_ASSERT_NOT_NULL(test, set);
	set->ip[0] = site_set_kunit_ips[3];
	set->ip[1] = site_set_kunit_ips[1];
	set->ip[2] = site_set_kunit_ips[3];
	set->ip[3] = site_set_kunit_ips[0];
	set->ip[4] = site_set_kunit_ips[0];
	set->ip[5] = site_set_kunit_ips[1];
	ftrace_site_set_sort(set);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(set), 0xb);
}

/* As the set grows, its members stay. */
static void site_set_append(struct kunit *test)
{
	struct ftrace_site_set *set __free(site_set) = ftrace_site_set_alloc(0);

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (unsigned int nr = 0; nr < 1030; nr++) {
		unsigned int wrong = 0;

		KUNIT_ASSERT_EQ(test, ftrace_site_set_append(&set, 3 * nr), 0);
		KUNIT_ASSERT_EQ(test, set->nr, nr + 1);
		for (unsigned int i = 0; i <= nr; i++)
			wrong += set->ip[i] != 3 * i;
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "of %u", nr + 1);
	}
}

/* The range's first address goes, the one after its last stays. */
static void site_set_forget(struct kunit *test)
{
	struct ftrace_site_set *set __free(site_set) = site_set_kunit_make(0xf);

	KUNIT_ASSERT_NOT_NULL(test, set);
	ftrace_site_set_forget(set, 1, 0x1000);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(set), 0xf);
	ftrace_site_set_forget(set, 0x1000, 0x1001);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(set), 0xd);
	ftrace_site_set_forget(set, 0, site_set_kunit_ips[2] + 1);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(set), 0x8);
	ftrace_site_set_forget(NULL, 0, ULONG_MAX);
}

/* Sets that are made of one that has lost sites know of it. */
static void site_set_loses(struct kunit *test)
{
	struct ftrace_site_set *a __free(site_set) = site_set_kunit_make(3);
	struct ftrace_site_set *b __free(site_set) = site_set_kunit_make(5);
	struct ftrace_site_set *sum __free(site_set) = NULL;
	struct ftrace_site_set *rest __free(site_set) = NULL;
	struct ftrace_site_set *copy __free(site_set) = NULL;
	struct ftrace_site_set *other __free(site_set) = NULL;

	KUNIT_ASSERT_TRUE(test, a && b);
	ftrace_site_set_forget(a, 1, 0x1000);
	KUNIT_EXPECT_FALSE(test, a->lost);
	ftrace_site_set_forget(a, 0x1000, 0x1001);
	KUNIT_EXPECT_TRUE(test, a->lost);
	sum = ftrace_site_set_union(b, a);
	rest = ftrace_site_set_minus(a, b);
	copy = ftrace_site_set_dup(a);
	other = ftrace_site_set_minus(b, a);
	KUNIT_ASSERT_TRUE(test, sum && rest && copy && other);
	KUNIT_EXPECT_TRUE(test, sum->lost && rest->lost && copy->lost);
	KUNIT_EXPECT_FALSE(test, other->lost);
}

static struct kunit_case site_set_kunit_cases[] = {
	KUNIT_CASE(site_set_pairs),
	KUNIT_CASE(site_set_none),
	KUNIT_CASE(site_set_sort),
	KUNIT_CASE(site_set_append),
	KUNIT_CASE(site_set_forget),
	KUNIT_CASE(site_set_loses),
	{ }
};

static struct kunit_suite site_set_kunit_suite = {
	.name		= "ftrace_site_set",
	.test_cases	= site_set_kunit_cases,
};

kunit_test_suite(site_set_kunit_suite);
