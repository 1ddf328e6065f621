// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the filters and of their edits.
 *
 * The filters that are edited here belong to no registered ops.
 */
#include "kunit.h"
#include "site_set_kunit.h"

/* A filter without a set. */
#define FILTER_KUNIT_NONE	-1

struct filter_kunit_edit {
	const char	*name;
	int		old;
	bool		clear;
	struct {
		u8	bits;
		bool	remove;
	} step[3];
	unsigned int	nr;
	int		result;
};

static const struct filter_kunit_edit filter_kunit_edits[] = {
	{ "nothing said of all",	FILTER_KUNIT_NONE, false, { }, 0, FILTER_KUNIT_NONE },
	{ "nothing said of some",	5, false, { }, 0, 5 },
	{ "cleared",			5, true, { }, 0, FILTER_KUNIT_NONE },
	{ "added to none",		FILTER_KUNIT_NONE, false, { { 1 } }, 1, 1 },
	{ "added to some",		1, false, { { 2 } }, 1, 3 },
	{ "added what is there",	3, false, { { 2 } }, 1, 3 },
	{ "added after clearing",	5, true, { { 2 } }, 1, 2 },
	{ "added in pieces",		FILTER_KUNIT_NONE, false, { { 8 }, { 1 }, { 9 } }, 3, 9 },
	{ "taken away",			7, false, { { 2, true } }, 1, 5 },
	{ "taken away what is not there", 5, false, { { 2, true } }, 1, 5 },
	{ "taken away from all",	FILTER_KUNIT_NONE, false, { { 2, true } }, 1,
	  FILTER_KUNIT_NONE },
	{ "taken away the last one",	2, false, { { 2, true } }, 1, FILTER_KUNIT_NONE },
	{ "taken away more",		2, false, { { 15, true } }, 1, FILTER_KUNIT_NONE },
	{ "added, then taken away",	1, false, { { 6 }, { 2, true } }, 2, 5 },
	{ "taken away, then added",	2, false, { { 6, true }, { 2 } }, 2, 2 },
	{ "added, taken away, added",	8, false, { { 1 }, { 1, true }, { 1 } }, 3, 9 },
	{ "taken away, added, taken away", 9, false, { { 1, true }, { 1 }, { 1, true } }, 3, 8 },
	{ "added and taken away, of none", FILTER_KUNIT_NONE, false, { { 1 }, { 1, true } }, 2,
	  FILTER_KUNIT_NONE },
	{ "an empty one stays empty",	0, false, { { 1, true } }, 1, 0 },
	{ "an empty one is cleared",	0, true, { }, 0, FILTER_KUNIT_NONE },
	{ "an empty one is added to",	0, false, { { 4 } }, 1, 4 },
};

KUNIT_ARRAY_PARAM_DESC(filter_kunit_edits, filter_kunit_edits, name);

static struct ftrace_site_set **filter_kunit_side(struct ftrace_filter *filter, bool exclude)
{
	return exclude ? &filter->not : &filter->only;
}

/* Each row on either side of a filter, of which the other must not change. */
static void filter_edits(struct kunit *test)
{
	const struct filter_kunit_edit *row = test->param_value;

	guard(mutex)(&ftrace_lock);

	for (int exclude = 0; exclude < 2; exclude++) {
		struct ftrace_filter filter = { };
		struct ftrace_edit edit;

		ftrace_filter_init(&filter);
		if (row->old != FILTER_KUNIT_NONE)
			*filter_kunit_side(&filter, exclude) = site_set_kunit_make(row->old);
		*filter_kunit_side(&filter, !exclude) = site_set_kunit_make(6);

		ftrace_edit_init(&edit, row->clear);
		for (unsigned int i = 0; i < row->nr; i++) {
			struct ftrace_site_set *sites __free(site_set) =
				site_set_kunit_make(row->step[i].bits);

			struct ftrace_word word = {
				.sites = sites, .remove = row->step[i].remove,
			};

			KUNIT_EXPECT_EQ(test, ftrace_edit_add(&edit, &word), 0);
		}
		KUNIT_EXPECT_EQ(test, filter_edit_commit(&edit, &filter, exclude), 0);
		KUNIT_EXPECT_EQ(test, site_set_kunit_bits(*filter_kunit_side(&filter, exclude)),
				row->result);
		KUNIT_EXPECT_EQ(test, site_set_kunit_bits(*filter_kunit_side(&filter, !exclude)),
				6);
		KUNIT_EXPECT_EQ(test, list_empty(&filter.pending), !filter.only && !filter.not);
		list_del_init(&filter.pending);

		ftrace_edit_destroy(&edit);
		ftrace_site_set_free(filter.only);
		ftrace_site_set_free(filter.not);
	}
}

struct filter_kunit_bad {
	const char	*word;
	const char	*module;
};

static const struct filter_kunit_bad filter_kunit_bads[] = {
	{ "no_such_function" }, { "!no_such_function" }, { "no_such_*" }, { "" }, { "!" },
	{ "0" }, { "1st" }, { "!0" }, { "int_sqrt", "" }, { "no_such_function", "*" },
	{ "!int_sqrt", "kunit_none" }, { "!*", "kunit_none" }, { "!", "kunit_none" },
};

static void filter_kunit_bad_desc(const struct filter_kunit_bad *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "\"%s\"%s%s", row->word,
		 row->module ? ":mod:" : "", row->module ?: "");
}

KUNIT_ARRAY_PARAM(filter_kunit_bads, filter_kunit_bads, filter_kunit_bad_desc);

/* A word that is refused leaves the words collected before it. */
static void filter_bad_words(struct kunit *test)
{
	const struct filter_kunit_bad *row = test->param_value;
	struct ftrace_site_set *old __free(site_set) = site_set_kunit_make(10);
	struct ftrace_site_set *add __free(site_set) = site_set_kunit_make(5);
	struct ftrace_site_set *del __free(site_set) = site_set_kunit_make(2);
	struct ftrace_site_set *result __free(site_set) = NULL;
	struct ftrace_edit edit;
	LIST_HEAD(none);

	guard(mutex)(&ftrace_lock);

	ftrace_edit_init(&edit, false);
	KUNIT_EXPECT_EQ(test, ftrace_edit_add(&edit, &(struct ftrace_word) { .sites = add }), 0);
	KUNIT_EXPECT_EQ(test, ftrace_edit_add(&edit, &(struct ftrace_word) {
		.sites = del, .remove = true }), 0);
	KUNIT_EXPECT_EQ(test, ftrace_edit_pattern(&edit, row->word, row->module, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&edit.words), 2);
	result = ftrace_edit_result(&edit, old);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(result), 13);
	ftrace_edit_destroy(&edit);
}

static int filter_kunit_edit(struct ftrace_filter *filter, const char *func, const char *module,
			     bool clear)
{
	struct ftrace_edit edit;
	int ret;

	ftrace_edit_init(&edit, clear);
	ret = ftrace_edit_pattern(&edit, func, module, &filter->waiting) ?:
	      filter_edit_commit(&edit, filter, false);
	ftrace_edit_destroy(&edit);
	return ret;
}

/* A module that is not there is waited for; meanwhile, nothing is wanted. */
static void filter_waits_for_module(struct kunit *test)
{
	struct ftrace_filter filter = { };

	guard(mutex)(&ftrace_lock);
	ftrace_filter_init(&filter);

	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "one", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(filter.only), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 1);
	KUNIT_EXPECT_FALSE(test, list_empty(&filter.pending));

	/* Said twice is said once. */
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "one", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "two", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 2);

	/* A site beside them does not end the waiting. */
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "int_sqrt", NULL, false), 0);
	KUNIT_EXPECT_EQ(test, filter.only ? filter.only->nr : 0, 1);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 2);

	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!one", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!int_sqrt", NULL, false), 0);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(filter.only), 0);

	/* Nothing is left to want, nor to wait for: back to everything. */
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "three", "kunit_none", true), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "int_sqrt", NULL, true), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&filter.waiting));
	/* Modules do not concern it any more. */
	KUNIT_EXPECT_TRUE(test, list_empty(&filter.pending));
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!int_sqrt", NULL, false), 0);
	KUNIT_EXPECT_PTR_EQ(test, filter.only, NULL);

	ftrace_words_free(&filter.waiting, &filter.waiting);
	ftrace_filter_track(&filter);
	ftrace_site_set_free(filter.only);
}

/* A pattern of all functions takes away all that waits for this module. */
static void filter_waits_no_more(struct kunit *test)
{
	static const char * const all[] = { "!*", "!" };

	guard(mutex)(&ftrace_lock);

	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		struct ftrace_filter filter = { };

		ftrace_filter_init(&filter);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "one", "kunit_none", false), 0);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "two*", "kunit_none", false), 0);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "one", "kunit_other", false), 0);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 3);

		/* Of another name, or of another module, nothing waits. */
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!t*", "kunit_none", false),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_*", false),
				-EINVAL);
		/* A site that is about to be cleared is not there to be taken away. */
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_none", true),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 3);

		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_none", false), 0);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.waiting), 1);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_none", false),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_other", false), 0);
		KUNIT_EXPECT_TRUE(test, list_empty(&filter.waiting));
		filter_free_content(&filter);
	}
}

/* The functions that other kernel code calls, on an ops that is not registered. */
static void filter_of_ops(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ftrace_stub };
	unsigned long bad[2] = { (unsigned long)int_sqrt, 1 };
	unsigned long good[2] = { (unsigned long)int_sqrt, kunit_site(1) };

	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "int_sqrt", strlen("int_sqrt"), 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "no_such_function", 16, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);

	/* With one bad address, all are refused. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, bad, 2, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, good, 2, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 2);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(1), 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);

	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "gcd", 3, 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->not->nr, 1);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, NULL, 0, 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, ops.filter->only, NULL);

	ftrace_free_filter(&ops);
	KUNIT_EXPECT_PTR_EQ(test, ops.filter->not, NULL);
}

static int filter_kunit_set(struct ftrace_ops *ops, const char *word, int reset)
{
	return ftrace_set_filter(ops, (unsigned char *)word, strlen(word), reset);
}

static int filter_kunit_set_not(struct ftrace_ops *ops, const char *word)
{
	return ftrace_set_notrace(ops, (unsigned char *)word, strlen(word), 0);
}

/* They may name functions of a module that is not there, on either side of the filter. */
static void filter_of_ops_waits(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ftrace_stub };

	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "*:mod:kunit_none", 0), 0);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(ops.filter->only), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ops.filter->waiting), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "int_sqrt", 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ops.filter->waiting), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_set_not(&ops, "one:mod:kunit_none"), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ops.filter->waiting_not), 1);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ops.filter->waiting), 1);

	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "!one:mod:kunit_none", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "!*:mod:kunit_none", 0), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops.filter->waiting));
	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "!*:mod:kunit_none", 0), -EINVAL);
	/* No module, so there is nothing to wait for. */
	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "one:mod:!*", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "int_sqrt:traceoff", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);

	KUNIT_EXPECT_EQ(test, filter_kunit_set(&ops, "two:mod:kunit_none", 1), 0);
	KUNIT_EXPECT_EQ(test, site_set_kunit_bits(ops.filter->only), 0);
	ftrace_free_filter(&ops);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops.filter->waiting));
	KUNIT_EXPECT_TRUE(test, list_empty(&ops.filter->waiting_not));
	KUNIT_EXPECT_TRUE(test, list_empty(&ops.filter->pending));
}

/*
 * The owner of an ops that is not registered may free it when it has taken back the
 * last site, so that leaves nothing on the list.
 */
static void filter_of_ops_taken_back(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ftrace_stub };
	unsigned long ips[2] = { kunit_site(1), kunit_site(1) };

	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(1), 0, 0), 0);
	/* As if one were in a module. */
	scoped_guard(mutex, &ftrace_lock)
		list_add_tail(&ops.filter->pending, &filter_in_use);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, ips, 2, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->only ? ops.filter->only->nr : 0, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 1, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, ops.filter->only, NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops.filter->pending));
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 1, 0), -ENOENT);
	ftrace_free_filter(&ops);
}

/* A filter of which a site is gone wants no function, and not every one, when the last leaves. */
static void filter_of_ops_gone(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ftrace_stub };

	for (unsigned int registered = 0; registered < 2; registered++) {
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 0, 1), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(1), 0, 0), 0);
		/* As if that were in a module. */
		scoped_guard(mutex, &ftrace_lock)
			filter_forget(ops.filter, kunit_site(1), kunit_site(1) + 1);
		if (registered)
			KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 1, 0), 0);
		KUNIT_ASSERT_NOT_NULL(test, ops.filter->only);
		KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(2), 0, 0), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(2), 1, 0), 0);
		KUNIT_EXPECT_NOT_NULL(test, ops.filter->only);
	}
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, NULL, 0, 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, ops.filter->only, NULL);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
}

static struct kunit_case filter_kunit_cases[] = {
	KUNIT_CASE_PARAM(filter_edits, filter_kunit_edits_gen_params),
	KUNIT_CASE_PARAM(filter_bad_words, filter_kunit_bads_gen_params),
	KUNIT_CASE(filter_waits_for_module),
	KUNIT_CASE(filter_waits_no_more),
	KUNIT_CASE(filter_of_ops),
	KUNIT_CASE(filter_of_ops_waits),
	KUNIT_CASE(filter_of_ops_taken_back),
	KUNIT_CASE(filter_of_ops_gone),
	{ }
};

static struct kunit_suite filter_kunit_suite = {
	.name		= "ftrace_filter",
	.test_cases	= filter_kunit_cases,
};

kunit_test_suite(filter_kunit_suite);
