// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the graph filters. Included by graph_filter.c.
 *
 * They use lists of their own, which no callback reads.
 */
#include "kunit.h"

/* A function that the graph starts from is noted, at any depth, until its return. */
static void graph_filter_starts(struct kunit *test)
{
	struct ftrace_site_set *only __free(site_set) = ftrace_site_set_alloc(1);
	struct ftrace_graph_ent listed = { .func = 1 }, other = { .func = 2 };
	bool was_irq = trace_recursion_test(TRACE_IRQ_BIT);
	unsigned long word = 0;

	KUNIT_ASSERT_NOT_NULL(test, only);
	only->ip[0] = listed.func;

	KUNIT_EXPECT_TRUE(test, graph_filter_starts_at(NULL, &word, &other));
	KUNIT_EXPECT_FALSE(test, graph_filter_starts_at(only, &word, &other));
	KUNIT_EXPECT_EQ(test, word, 0);
	for (listed.depth = 0; listed.depth < FTRACE_RETFUNC_DEPTH; listed.depth++) {
		KUNIT_EXPECT_TRUE(test, graph_filter_starts_at(only, &word, &listed));
		KUNIT_EXPECT_TRUE(test, word & TRACE_GRAPH_FL);
		KUNIT_EXPECT_FALSE(test, word & TRACE_GRAPH_NOTRACE);
		KUNIT_EXPECT_EQ(test, ftrace_graph_depth(&word), listed.depth);
		KUNIT_EXPECT_FALSE(test, trace_recursion_test(TRACE_IRQ_BIT));
	}
	if (was_irq)
		trace_recursion_set(TRACE_IRQ_BIT);
}

static unsigned int graph_kunit_nr(const struct graph_filter_list *list)
{
	const struct ftrace_site_set *sites = graph_filter_list_sites(list);

	return sites ? sites->nr : 0;
}

static int graph_kunit_write(struct graph_filter_list *list, bool clear, const char *words)
{
	struct ftrace_edit edit;
	char copy[64], *rest = copy, *word;
	int ret = 0;

	strscpy(copy, words);
	ftrace_edit_init(&edit, clear);
	while (!ret && (word = strsep(&rest, " ")))
		ret = graph_filter_edit_word(&edit, list, word);
	ret = ret ?: graph_filter_edit_commit(&edit, list);
	ftrace_edit_destroy(&edit);
	return ret;
}

struct graph_kunit_word {
	const char	*words;
	bool		clear;
	int		error;
	unsigned int	nr;
};

/* In order, to one list. */
static const struct graph_kunit_word graph_kunit_words[] = {
	{ "no_such_function",		true,	-EINVAL, 0 },
	{ "int_sqrt",			true,	0,	 1 },
	{ "no_such_function",		true,	-EINVAL, 1 },
	{ "gcd no_such_function",	false,	-EINVAL, 1 },
	{ "gcd",			false,	0,	 2 },
	{ "gcd int_pow",		false,	0,	 3 },
	{ "!int_sqr*",			false,	0,	 2 },
	{ "!int_sqrt",			false,	-ENOENT, 2 },
	{ "!no_such_function",		false,	-EINVAL, 2 },
	{ "!",				false,	-EINVAL, 2 },
	{ "int_sqrt !int_sqrt",		false,	0,	 2 },
	{ "!gcd gcd",			false,	0,	 2 },
	{ "!gcd",			true,	-ENOENT, 2 },
	{ "gcd !gcd",			true,	0,	 0 },
	{ "int_pow",			false,	0,	 1 },
	{ "!int_pow",			false,	0,	 0 },
};

static void graph_filter_words(struct kunit *test)
{
	struct graph_filter_list list = { };

	guard(mutex)(&ftrace_lock);

	for (unsigned int i = 0; i < ARRAY_SIZE(graph_kunit_words); i++) {
		const struct graph_kunit_word *row = &graph_kunit_words[i];

		KUNIT_EXPECT_EQ_MSG(test, graph_kunit_write(&list, row->clear, row->words),
				    row->error, "\"%s\"", row->words);
		KUNIT_EXPECT_EQ_MSG(test, graph_kunit_nr(&list), row->nr, "\"%s\"", row->words);
		/* An empty list has no filter. */
		KUNIT_EXPECT_EQ_MSG(test, !rcu_access_pointer(list.sites), !row->nr, "\"%s\"",
				    row->words);
	}
}

/* Two writers that began with the same list both find their words in it. */
static void graph_filter_two_writers(struct kunit *test)
{
	struct graph_filter_list list = { };
	struct ftrace_edit a, b;

	guard(mutex)(&ftrace_lock);

	ftrace_edit_init(&a, false);
	ftrace_edit_init(&b, false);
	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd"), 0);
	KUNIT_EXPECT_EQ(test, graph_filter_edit_word(&a, &list, "int_sqrt"), 0);
	KUNIT_EXPECT_EQ(test, graph_filter_edit_word(&b, &list, "int_pow"), 0);
	KUNIT_EXPECT_EQ(test, graph_filter_edit_word(&b, &list, "!gcd"), 0);
	KUNIT_EXPECT_EQ(test, graph_filter_edit_commit(&a, &list), 0);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 2);
	KUNIT_EXPECT_EQ(test, graph_filter_edit_commit(&b, &list), 0);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 2);
	KUNIT_EXPECT_TRUE(test, ftrace_site_set_has(graph_filter_list_sites(&list), kunit_site(1)));
	KUNIT_EXPECT_TRUE(test, ftrace_site_set_has(graph_filter_list_sites(&list), kunit_site(2)));
	ftrace_edit_destroy(&a);
	ftrace_edit_destroy(&b);
	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd !gcd"), 0);
}

/* Functions that are gone leave a list that names nothing. */
static void graph_filter_forgets(struct kunit *test)
{
	struct graph_filter_list list = { };

	guard(mutex)(&ftrace_lock);

	graph_filter_list_forget(&list, 0, ~0UL);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(list.sites), NULL);

	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd int_sqrt"), 0);
	graph_filter_list_forget(&list, kunit_site(1), kunit_site(1) + 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 2);
	graph_filter_list_forget(&list, kunit_site(0), kunit_site(0) + 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 1);
	graph_filter_list_forget(&list, kunit_site(2), kunit_site(2) + 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 0);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(list.sites));
	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd !gcd"), 0);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(list.sites), NULL);
}

static struct kunit_case graph_filter_kunit_cases[] = {
	KUNIT_CASE(graph_filter_starts),
	KUNIT_CASE(graph_filter_words),
	KUNIT_CASE(graph_filter_two_writers),
	KUNIT_CASE(graph_filter_forgets),
	{ }
};

static struct kunit_suite graph_filter_kunit_suite = {
	.name		= "ftrace_graph_filter",
	.test_cases	= graph_filter_kunit_cases,
};

kunit_test_suite(graph_filter_kunit_suite);
