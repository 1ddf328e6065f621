// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of edits: words that are taken back, and words that wait for modules.
 */
#include <kunit/test.h>

#include "site_set_kunit.h"

static void edit_kunit_add(struct kunit *test, struct ftrace_edit *edit, unsigned int bits,
			   bool remove, const char *module)
{
	struct ftrace_site_set *sites __free(site_set) = site_set_kunit_make(bits);
	struct ftrace_word word = {
		.sites = sites, .remove = remove, .func = module ? "f" : NULL, .module = module,
	};

	KUNIT_EXPECT_EQ(test, ftrace_edit_add(edit, &word), 0);
}

static int edit_kunit_bits(const struct ftrace_edit *edit, unsigned int old)
{
	struct ftrace_site_set *from __free(site_set) = site_set_kunit_make(old);
	struct ftrace_site_set *result __free(site_set) = ftrace_edit_result(edit, from);

	return site_set_kunit_bits(result);
}

/* Words before the mark stay, be they of the same kind as the words taken back or not. */
static void edit_back(struct kunit *test)
{
	for (unsigned int kinds = 0; kinds < 16; kinds++) {
		struct ftrace_edit edit;
		int before;

		ftrace_edit_init(&edit, false);
		edit_kunit_add(test, &edit, 3, kinds & 1, NULL);
		edit_kunit_add(test, &edit, 4, kinds & 2, NULL);
		before = edit_kunit_bits(&edit, 9);

		edit.mark = edit.words.prev;
		edit_kunit_add(test, &edit, 12, kinds & 4, NULL);
		edit_kunit_add(test, &edit, 1, kinds & 8, NULL);
		edit_kunit_add(test, &edit, 0, false, "m");
		KUNIT_EXPECT_TRUE(test, ftrace_edit_leaves_waiting(&edit, &edit.words));
		ftrace_words_free(&edit.words, edit.mark);
		KUNIT_EXPECT_EQ_MSG(test, edit_kunit_bits(&edit, 9), before, "kinds %x", kinds);

		/* Nothing is left to be taken back, and the next write begins here. */
		ftrace_words_free(&edit.words, edit.mark);
		KUNIT_EXPECT_EQ(test, edit_kunit_bits(&edit, 9), before);
		edit_kunit_add(test, &edit, 15, false, NULL);
		KUNIT_EXPECT_EQ(test, edit_kunit_bits(&edit, 9), 15);
		ftrace_words_free(&edit.words, edit.mark);
		KUNIT_EXPECT_EQ(test, edit_kunit_bits(&edit, 9), before);
		ftrace_edit_destroy(&edit);
		KUNIT_EXPECT_TRUE(test, list_empty(&edit.words));
	}
}

/* The sites that a list will have are known before it has them. */
static void edit_finds(struct kunit *test)
{
	for (unsigned int kinds = 0; kinds < 32; kinds++) {
		struct ftrace_site_set *old __free(site_set) = site_set_kunit_make(9);
		struct ftrace_edit edit;
		unsigned int bits;

		ftrace_edit_init(&edit, kinds & 1);
		edit_kunit_add(test, &edit, 3, kinds & 2, NULL);
		edit_kunit_add(test, &edit, 6, kinds & 4, NULL);
		edit_kunit_add(test, &edit, 0, kinds & 8, "m");
		edit_kunit_add(test, &edit, 5, kinds & 16, NULL);
		bits = edit_kunit_bits(&edit, 9);
		for (unsigned int i = 0; i < SITE_SET_KUNIT_SETS; i++) {
			struct ftrace_site_set *sites __free(site_set) = site_set_kunit_make(i);

			KUNIT_EXPECT_EQ_MSG(test, ftrace_edit_finds(&edit, old, sites),
					    !!(bits & i), "kinds %x, sites %x", kinds, i);
		}
		ftrace_edit_destroy(&edit);
	}
}

#define EDIT_KUNIT_SITES 29

static unsigned int edit_kunit_site(unsigned int i, bool up)
{
	return up ? i : EDIT_KUNIT_SITES - i;
}

/* Words for the first @nr sites, one in each; @up in ascending order. */
static void edit_kunit_add_many(struct kunit *test, struct ftrace_edit *edit, unsigned int nr,
				bool up, bool remove)
{
	struct ftrace_site_set *sites __free(site_set) = ftrace_site_set_alloc(1);
	struct ftrace_word word = { .sites = sites, .remove = remove };

	KUNIT_ASSERT_NOT_NULL(test, sites);
	for (unsigned int i = 0; i < nr; i++) {
		sites->ip[0] = edit_kunit_site(i, up);
		KUNIT_EXPECT_EQ(test, ftrace_edit_add(edit, &word), 0);
	}
}

/* Many words of a kind are kept as few, with the same meaning. */
static void edit_kunit_join(struct kunit *test, bool up)
{
	for (unsigned int nr = 1; nr <= EDIT_KUNIT_SITES; nr++) {
		struct ftrace_site_set *result __free(site_set) = NULL;
		unsigned int removed = nr / 2;
		struct ftrace_edit edit;

		ftrace_edit_init(&edit, true);
		edit_kunit_add_many(test, &edit, nr, up, false);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&edit.words), up ? 1 : hweight32(nr));
		edit_kunit_add_many(test, &edit, removed, up, true);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&edit.words),
				up ? 1 + !!removed : hweight32(nr) + hweight32(removed));

		result = ftrace_edit_result(&edit, NULL);
		KUNIT_EXPECT_EQ(test, ftrace_site_set_nr(result), nr - removed);
		for (unsigned int i = removed; i < nr; i++) {
			KUNIT_EXPECT_TRUE(test, ftrace_site_set_has(result,
								    edit_kunit_site(i, up)));
		}
		ftrace_edit_destroy(&edit);
	}
}

static void edit_joins(struct kunit *test)
{
	edit_kunit_join(test, true);
	edit_kunit_join(test, false);
}

/* Words between which a module is named stay in their order. */
static void edit_order(struct kunit *test)
{
	struct ftrace_edit edit;
	LIST_HEAD(waiting);

	ftrace_edit_init(&edit, true);
	edit_kunit_add(test, &edit, 6, false, NULL);
	edit_kunit_add(test, &edit, 2, true, NULL);
	edit_kunit_add(test, &edit, 8, false, "m");
	edit_kunit_add(test, &edit, 3, false, NULL);
	edit_kunit_add(test, &edit, 9, true, NULL);
	KUNIT_EXPECT_EQ(test, edit_kunit_bits(&edit, 15), 6);

	ftrace_edit_apply_waiting(&edit, &waiting);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&waiting), 1);
	ftrace_edit_destroy(&edit);
	ftrace_words_free(&waiting, &waiting);
}

/* Of the words that wait, each name is kept once, and a cleared list forgets them all. */
static void edit_waiting(struct kunit *test)
{
	const struct ftrace_word what = { .remove = true, .func = "f", .module = "m" };
	struct ftrace_edit edit;
	LIST_HEAD(waiting);

	for (unsigned int i = 0; i < 2; i++) {
		ftrace_edit_init(&edit, false);
		KUNIT_EXPECT_EQ(test, ftrace_edit_finds_waiting(&edit, &waiting, &what), i);
		edit_kunit_add(test, &edit, 0, false, "m");
		edit_kunit_add(test, &edit, 0, false, "m");
		edit_kunit_add(test, &edit, 0, false, "n");
		KUNIT_EXPECT_TRUE(test, ftrace_edit_finds_waiting(&edit, &waiting, &what));
		ftrace_edit_apply_waiting(&edit, &waiting);
		ftrace_edit_destroy(&edit);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&waiting), 2);
	}

	ftrace_edit_init(&edit, false);
	edit_kunit_add(test, &edit, 0, true, "m");
	KUNIT_EXPECT_FALSE(test, ftrace_edit_finds_waiting(&edit, &waiting, &what));
	ftrace_edit_apply_waiting(&edit, &waiting);
	ftrace_edit_destroy(&edit);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&waiting), 1);

	ftrace_edit_init(&edit, true);
	KUNIT_EXPECT_FALSE(test, ftrace_edit_leaves_waiting(&edit, &waiting));
	ftrace_edit_apply_waiting(&edit, &waiting);
	ftrace_edit_destroy(&edit);
	KUNIT_EXPECT_TRUE(test, list_empty(&waiting));
}

static struct kunit_case edit_kunit_cases[] = {
	KUNIT_CASE(edit_back),
	KUNIT_CASE(edit_finds),
	KUNIT_CASE(edit_joins),
	KUNIT_CASE(edit_order),
	KUNIT_CASE(edit_waiting),
	{ }
};

static struct kunit_suite edit_kunit_suite = {
	.name		= "ftrace_edit",
	.test_cases	= edit_kunit_cases,
};

kunit_test_suite(edit_kunit_suite);
