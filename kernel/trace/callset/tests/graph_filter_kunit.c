// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the graph filters. Included by ftrace_graph_filter.c.
 *
 * The tests of the verdicts use sets of made-up addresses, of which each number
 * has one bit, and a word of their own. The tests of the lists use lists of
 * their own, which no callback reads, and leave ftrace_graph_filtered as it was.
 */
#include "kunit.h"

static struct ftrace_site_set *graph_kunit_set(unsigned int bits)
{
	struct ftrace_site_set *set = ftrace_site_set_alloc(hweight32(bits));
	unsigned int nr = 0;

	for (unsigned int bit = 0; set && bit < 32; bit++) {
		if (bits & BIT(bit))
			set->ip[nr++] = bit;
	}
	return set;
}

/* A call of a function, and whether its return comes before the next call. */
struct graph_kunit_call {
	u8				ip;
	u8				depth;
	bool				returns;
	enum ftrace_graph_verdict	verdict;
	bool				recorded;
};

#define ENTER(ip, depth, verdict)	{ ip, depth, false, FTRACE_GRAPH_##verdict }
#define LEAVE(depth, recorded)		{ 0, depth, true, 0, recorded }

struct graph_kunit_walk {
	const char		*name;
	unsigned int		only;
	unsigned int		not;
	unsigned int		nr;
	struct graph_kunit_call	call[8];
};

static const struct graph_kunit_walk graph_kunit_walks[] = {
	{ "no lists", 0, 0, 4, {
		ENTER(1, 0, TRACE), ENTER(2, 1, TRACE), LEAVE(1, true), LEAVE(0, true) } },
	{ "not listed", BIT(3), 0, 2, {
		ENTER(1, 0, SKIP), ENTER(2, 0, SKIP) } },
	{ "listed, and what it calls", BIT(1), 0, 5, {
		ENTER(1, 0, TRACE), ENTER(2, 1, TRACE), LEAVE(1, true), LEAVE(0, true),
		ENTER(2, 0, SKIP) } },
	{ "listed, below others", BIT(2), 0, 6, {
		ENTER(1, 0, SKIP), ENTER(2, 7, TRACE), ENTER(3, 8, TRACE), LEAVE(8, true),
		LEAVE(7, true), ENTER(3, 7, SKIP) } },
	{ "listed, calls itself", BIT(1), 0, 5, {
		ENTER(1, 4, TRACE), ENTER(1, 5, TRACE), LEAVE(5, true), LEAVE(4, true),
		ENTER(2, 4, SKIP) } },
	{ "hidden, and what it calls", 0, BIT(2), 6, {
		ENTER(1, 0, TRACE), ENTER(2, 1, HIDE), ENTER(3, 2, SKIP), LEAVE(1, false),
		ENTER(3, 1, TRACE), LEAVE(1, true) } },
	{ "hidden in a listed one", BIT(1), BIT(2), 7, {
		ENTER(1, 0, TRACE), ENTER(2, 1, HIDE), ENTER(1, 2, SKIP), LEAVE(1, false),
		ENTER(3, 1, TRACE), LEAVE(1, true), LEAVE(0, true) } },
	{ "listed in a hidden one", BIT(1), BIT(2), 5, {
		ENTER(2, 0, HIDE), ENTER(1, 1, SKIP), LEAVE(0, false), ENTER(1, 0, TRACE),
		LEAVE(0, true) } },
	{ "listed and hidden", BIT(1), BIT(1), 3, {
		ENTER(1, 0, HIDE), ENTER(2, 1, SKIP), LEAVE(0, false) } },
	{ "listed, the return is lost", BIT(1), 0, 3, {
		ENTER(1, 2, TRACE), ENTER(2, 3, TRACE), ENTER(2, 2, SKIP) } },
	{ "hidden, the return is lost", 0, BIT(2), 4, {
		ENTER(2, 2, HIDE), ENTER(3, 3, SKIP), ENTER(3, 2, TRACE), LEAVE(2, true) } },
	{ "hidden, the return is lost, and its caller returns", BIT(1), BIT(2), 3, {
		ENTER(1, 0, TRACE), ENTER(2, 1, HIDE), LEAVE(0, true) } },
	{ "listed, deeper than any stack", BIT(1), 0, 3, {
		ENTER(1, 200, TRACE), LEAVE(200, true), ENTER(2, 200, SKIP) } },
};

KUNIT_ARRAY_PARAM_DESC(graph_kunit_walks, graph_kunit_walks, name);

static void graph_filter_walks(struct kunit *test)
{
	const struct graph_kunit_walk *row = test->param_value;
	struct ftrace_site_set *only __free(site_set) = row->only ? graph_kunit_set(row->only) :
								     NULL;
	struct ftrace_site_set *not __free(site_set) = row->not ? graph_kunit_set(row->not) :
								   NULL;
	unsigned long word = 0;

	for (unsigned int i = 0; i < row->nr; i++) {
		const struct graph_kunit_call *call = &row->call[i];

		if (call->returns)
			KUNIT_EXPECT_EQ_MSG(test, graph_word_return(&word, call->depth),
					    call->recorded, "at %u", i);
		else
			KUNIT_EXPECT_EQ_MSG(test,
					    graph_word_judge(&word, only, not, call->ip,
							     call->depth),
					    call->verdict, "at %u", i);
	}
	KUNIT_EXPECT_EQ(test, word, 0);
}

/* A call that began is not affected when a list changes in the middle. */
static void graph_filter_changes(struct kunit *test)
{
	struct ftrace_site_set *one __free(site_set) = graph_kunit_set(BIT(1));
	struct ftrace_site_set *two __free(site_set) = graph_kunit_set(BIT(2));
	unsigned long word = 0;

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);

	KUNIT_EXPECT_EQ(test, graph_word_judge(&word, one, NULL, 1, 0), FTRACE_GRAPH_TRACE);
	KUNIT_EXPECT_EQ(test, graph_word_judge(&word, two, NULL, 3, 1), FTRACE_GRAPH_TRACE);
	KUNIT_EXPECT_TRUE(test, graph_word_return(&word, 1));
	KUNIT_EXPECT_TRUE(test, graph_word_return(&word, 0));
	KUNIT_EXPECT_EQ(test, graph_word_judge(&word, two, NULL, 1, 0), FTRACE_GRAPH_SKIP);

	KUNIT_EXPECT_EQ(test, graph_word_judge(&word, NULL, one, 1, 0), FTRACE_GRAPH_HIDE);
	KUNIT_EXPECT_EQ(test, graph_word_judge(&word, NULL, NULL, 2, 1), FTRACE_GRAPH_SKIP);
	KUNIT_EXPECT_FALSE(test, graph_word_return(&word, 0));
	KUNIT_EXPECT_EQ(test, graph_word_judge(&word, NULL, NULL, 1, 0), FTRACE_GRAPH_TRACE);
	KUNIT_EXPECT_EQ(test, word, 0);
}

/* A call that is not recorded after all takes back its own effects, and no more. */
static void graph_filter_takes_back(struct kunit *test)
{
	struct ftrace_site_set *only __free(site_set) = graph_kunit_set(BIT(1));
	unsigned long word = 0;

	KUNIT_ASSERT_NOT_NULL(test, only);
	KUNIT_EXPECT_TRUE(test, graph_word_enter(&word, only, 1, 3));
	graph_word_leave(&word, 4);
	KUNIT_EXPECT_TRUE(test, graph_word_enter(&word, only, 2, 4));
	graph_word_leave(&word, 3);
	KUNIT_EXPECT_FALSE(test, graph_word_enter(&word, only, 2, 4));
	KUNIT_EXPECT_EQ(test, word, 0);
}

static unsigned int graph_kunit_nr(const struct graph_list *list)
{
	const struct ftrace_site_set *sites = graph_list_sites(list);

	return sites ? sites->nr : 0;
}

static int graph_kunit_write(struct graph_list *list, bool clear, const char *words)
{
	struct ftrace_edit edit;
	char copy[64], *rest = copy, *word;
	int ret = 0;

	strscpy(copy, words);
	ftrace_edit_init(&edit, clear);
	while (!ret && (word = strsep(&rest, " ")))
		ret = graph_edit_word(&edit, list, word);
	ret = ret ?: graph_edit_commit(&edit, list);
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
	struct graph_list list = { };
	bool filtered;

	guard(mutex)(&ftrace_lock);
	filtered = ftrace_graph_filtered;

	for (unsigned int i = 0; i < ARRAY_SIZE(graph_kunit_words); i++) {
		const struct graph_kunit_word *row = &graph_kunit_words[i];

		KUNIT_EXPECT_EQ_MSG(test, graph_kunit_write(&list, row->clear, row->words),
				    row->error, "\"%s\"", row->words);
		KUNIT_EXPECT_EQ_MSG(test, graph_kunit_nr(&list), row->nr, "\"%s\"", row->words);
		/* An empty list has no filter. */
		KUNIT_EXPECT_EQ_MSG(test, !rcu_access_pointer(list.sites), !row->nr, "\"%s\"",
				    row->words);
	}
	WRITE_ONCE(ftrace_graph_filtered, filtered);
}

/* Two writers that began with the same list both find their words in it. */
static void graph_filter_two_writers(struct kunit *test)
{
	struct graph_list list = { };
	struct ftrace_edit a, b;
	bool filtered;

	guard(mutex)(&ftrace_lock);
	filtered = ftrace_graph_filtered;

	ftrace_edit_init(&a, false);
	ftrace_edit_init(&b, false);
	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd"), 0);
	KUNIT_EXPECT_EQ(test, graph_edit_word(&a, &list, "int_sqrt"), 0);
	KUNIT_EXPECT_EQ(test, graph_edit_word(&b, &list, "int_pow"), 0);
	KUNIT_EXPECT_EQ(test, graph_edit_word(&b, &list, "!gcd"), 0);
	KUNIT_EXPECT_EQ(test, graph_edit_commit(&a, &list), 0);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 2);
	KUNIT_EXPECT_EQ(test, graph_edit_commit(&b, &list), 0);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 2);
	KUNIT_EXPECT_TRUE(test, ftrace_site_set_has(graph_list_sites(&list), kunit_site(1)));
	KUNIT_EXPECT_TRUE(test, ftrace_site_set_has(graph_list_sites(&list), kunit_site(2)));
	ftrace_edit_destroy(&a);
	ftrace_edit_destroy(&b);
	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd !gcd"), 0);
	WRITE_ONCE(ftrace_graph_filtered, filtered);
}

/* Functions that are gone leave a list that names nothing. */
static void graph_filter_forgets(struct kunit *test)
{
	struct graph_list list = { };
	bool filtered;

	guard(mutex)(&ftrace_lock);
	filtered = ftrace_graph_filtered;

	graph_list_forget(&list, 0, ~0UL);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(list.sites), NULL);

	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd int_sqrt"), 0);
	graph_list_forget(&list, kunit_site(1), kunit_site(1) + 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 2);
	graph_list_forget(&list, kunit_site(0), kunit_site(0) + 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 1);
	graph_list_forget(&list, kunit_site(2), kunit_site(2) + 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_nr(&list), 0);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(list.sites));
	KUNIT_EXPECT_EQ(test, graph_kunit_write(&list, true, "gcd !gcd"), 0);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(list.sites), NULL);
	WRITE_ONCE(ftrace_graph_filtered, filtered);
}

static struct kunit_case graph_filter_kunit_cases[] = {
	KUNIT_CASE_PARAM(graph_filter_walks, graph_kunit_walks_gen_params),
	KUNIT_CASE(graph_filter_changes),
	KUNIT_CASE(graph_filter_takes_back),
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
