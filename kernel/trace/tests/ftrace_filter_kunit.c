// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the filters: site sets, patterns, and edits.
 *
 * The filters that are edited here belong to no registered ops.
 */
#include "ftrace_kunit.h"

/* Sets of up to four addresses, written as bits. */
#define FILTER_KUNIT_IPS	4
#define FILTER_KUNIT_SETS	BIT(FILTER_KUNIT_IPS)

/* The first and the last address are the ends of what an address can be. */
static const unsigned long filter_kunit_ips[FILTER_KUNIT_IPS] = {
	0, 0x1000, 0xffffffff81000004, ULONG_MAX,
};

static struct ftrace_site_set *filter_kunit_set(unsigned int bits)
{
	struct ftrace_site_set *set = ftrace_site_set_alloc(hweight32(bits));

	if (!set)
		return NULL;
	set->nr = 0;
	for (unsigned int i = 0; i < FILTER_KUNIT_IPS; i++) {
		if (bits & BIT(i))
			set->ip[set->nr++] = filter_kunit_ips[i];
	}
	return set;
}

/* The bits of a set; -1 if it is none, not sorted, or has something else in it. */
static int filter_kunit_bits(const struct ftrace_site_set *set)
{
	int bits = 0;

	if (IS_ERR_OR_NULL(set))
		return -1;
	for (unsigned int i = 0; i < set->nr; i++) {
		unsigned int bit = 0;

		while (bit < FILTER_KUNIT_IPS && filter_kunit_ips[bit] != set->ip[i])
			bit++;
		if (bit == FILTER_KUNIT_IPS || bits >= BIT(bit))
			return -1;
		bits |= BIT(bit);
	}
	return bits;
}

/* Every pair of sets: empty, equal, disjoint, overlapping, in both orders. */
static void filter_set_pairs(struct kunit *test)
{
	for (unsigned int i = 0; i < FILTER_KUNIT_SETS; i++) {
		struct ftrace_site_set *a __free(site_set) = filter_kunit_set(i);

		for (unsigned int j = 0; j < FILTER_KUNIT_SETS; j++) {
			struct ftrace_site_set *b __free(site_set) = filter_kunit_set(j);
			struct ftrace_site_set *both __free(site_set) =
				ftrace_site_set_union(a, b);
			struct ftrace_site_set *rest __free(site_set) =
				ftrace_site_set_minus(a, b);

			KUNIT_EXPECT_EQ(test, filter_kunit_bits(both), i | j);
			KUNIT_EXPECT_EQ(test, filter_kunit_bits(rest), i & ~j);
		}
		for (unsigned int bit = 0; bit < FILTER_KUNIT_IPS; bit++) {
			unsigned long ip = filter_kunit_ips[bit];

			KUNIT_EXPECT_EQ(test, ftrace_site_set_has(a, ip), !!(i & BIT(bit)));
			/* A neighbour, but for the pair at which addresses wrap. */
			if (ip != ULONG_MAX)
				KUNIT_EXPECT_FALSE(test, ftrace_site_set_has(a, ip + 1));
		}
	}
}

/* No set is as good as an empty one. */
static void filter_set_none(struct kunit *test)
{
	struct ftrace_site_set *a __free(site_set) = filter_kunit_set(5);
	struct ftrace_site_set *made;

	made = ftrace_site_set_union(NULL, NULL);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(made), 0);
	ftrace_site_set_free(made);
	made = ftrace_site_set_union(a, NULL);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(made), 5);
	ftrace_site_set_free(made);
	made = ftrace_site_set_union(NULL, a);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(made), 5);
	ftrace_site_set_free(made);
	made = ftrace_site_set_minus(a, NULL);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(made), 5);
	ftrace_site_set_free(made);
	made = ftrace_site_set_minus(NULL, a);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(made), 0);
	ftrace_site_set_free(made);
	made = ftrace_site_set_dup(a);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(made), 5);
	KUNIT_EXPECT_PTR_NE(test, made, a);
	ftrace_site_set_free(made);

	KUNIT_EXPECT_PTR_EQ(test, ftrace_site_set_dup(NULL), NULL);
	KUNIT_EXPECT_FALSE(test, ftrace_site_set_has(NULL, 0));
	ftrace_site_set_free(NULL);
}

static void filter_set_sort(struct kunit *test)
{
	struct ftrace_site_set *set __free(site_set) = ftrace_site_set_alloc(6);

	KUNIT_ASSERT_NOT_NULL(test, set);
	set->ip[0] = filter_kunit_ips[3];
	set->ip[1] = filter_kunit_ips[1];
	set->ip[2] = filter_kunit_ips[3];
	set->ip[3] = filter_kunit_ips[0];
	set->ip[4] = filter_kunit_ips[0];
	set->ip[5] = filter_kunit_ips[1];
	site_set_sort(set);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(set), 0xb);
}

/* The range's first address goes, the one behind its last stays. */
static void filter_set_forget(struct kunit *test)
{
	struct ftrace_site_set *set __free(site_set) = filter_kunit_set(0xf);

	KUNIT_ASSERT_NOT_NULL(test, set);
	site_set_forget(set, 1, 0x1000);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(set), 0xf);
	site_set_forget(set, 0x1000, 0x1001);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(set), 0xd);
	site_set_forget(set, 0, 0xffffffff81000005);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(set), 0x8);
	site_set_forget(NULL, 0, ULONG_MAX);
}

struct filter_kunit_pattern {
	const char	*pattern;
	enum regex_type	type;
	const char	*yes[3];
	const char	*no[4];
};

static const struct filter_kunit_pattern filter_kunit_patterns[] = {
	{ "lock",	MATCH_FULL,		{ "lock" }, { "loc", "locks", "xlock", "" } },
	{ "l",		MATCH_FULL,		{ "l" }, { "", "ll", "L" } },
	{ "lock*",	MATCH_FRONT_ONLY,	{ "lock", "locks" }, { "loc", "xlock", "" } },
	{ "l*",		MATCH_FRONT_ONLY,	{ "l", "lock" }, { "", "al" } },
	{ "*lock",	MATCH_END_ONLY,		{ "lock", "lolock" }, { "ock", "locks", "" } },
	{ "*k",		MATCH_END_ONLY,		{ "k", "lock", "kk" }, { "", "ka" } },
	{ "*lock*",	MATCH_MIDDLE_ONLY,	{ "lock", "xlocks", "lolock" },
						{ "loc", "lo_ck", "" } },
	{ "*aab*",	MATCH_MIDDLE_ONLY,	{ "aaab", "baaba", "abaab" },
						{ "aaaa", "abab", "ba" } },
	{ "*k*",	MATCH_MIDDLE_ONLY,	{ "k", "lock", "kl" }, { "", "loc" } },
	{ "*",		MATCH_END_ONLY,		{ "", "lock" }, { } },
	{ "**",		MATCH_MIDDLE_ONLY,	{ "", "lock" }, { } },
	{ "l*k",	MATCH_GLOB,		{ "lk", "lock", "lockk" }, { "l", "lok_", "alk" } },
	{ "*l*k",	MATCH_GLOB,		{ "lk", "alock" }, { "l", "lka" } },
	{ "l*c*",	MATCH_GLOB,		{ "lc", "lock" }, { "lok", "alc" } },
	{ "l?ck",	MATCH_GLOB,		{ "lock", "l?ck" }, { "lck", "loock", "lockk" } },
	{ "lock?",	MATCH_GLOB,		{ "locks" }, { "lock", "lockss" } },
	{ "l[ou]ck",	MATCH_GLOB,		{ "lock", "luck" }, { "lick", "lck", "loock" } },
	{ "l[!o]ck",	MATCH_GLOB,		{ "luck" }, { "lock", "lck" } },
	{ "[a-m]ock",	MATCH_GLOB,		{ "lock", "mock" }, { "nock", "ock" } },
	{ "*[0-9]",	MATCH_GLOB,		{ "lock0", "9" }, { "lock", "0lock", "" } },
	{ "12",		MATCH_INDEX,		{ }, { } },
	{ "1lock*",	MATCH_INDEX,		{ }, { } },
};

static void filter_kunit_pattern_desc(const struct filter_kunit_pattern *row, char *desc)
{
	strscpy(desc, row->pattern, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(filter_kunit_patterns, filter_kunit_patterns, filter_kunit_pattern_desc);

static bool matches(const struct site_pattern *pattern, const char *name)
{
	return pattern_matches(pattern, name, strlen(name));
}

/* Each row as it is, and with a ! before it, which changes nothing else. */
static void filter_patterns(struct kunit *test)
{
	const struct filter_kunit_pattern *row = test->param_value;

	for (int not = 0; not < 2; not++) {
		struct site_pattern pattern;
		char word[32];

		snprintf(word, sizeof(word), "%s%s", not ? "!" : "", row->pattern);
		pattern_parse(&pattern, word);
		KUNIT_EXPECT_EQ(test, pattern.not, not);
		KUNIT_EXPECT_EQ(test, pattern.type, row->type);
		for (unsigned int i = 0; i < ARRAY_SIZE(row->yes) && row->yes[i]; i++)
			KUNIT_EXPECT_TRUE_MSG(test, matches(&pattern, row->yes[i]),
					      "\"%s\"", row->yes[i]);
		for (unsigned int i = 0; i < ARRAY_SIZE(row->no) && row->no[i]; i++)
			KUNIT_EXPECT_FALSE_MSG(test, matches(&pattern, row->no[i]),
					       "\"%s\"", row->no[i]);
	}
}

struct filter_kunit_module {
	const char	*pattern;
	bool		kernel;
	bool		this;
	bool		other;
};

/* For the kernel, and for modules named "this" and "other". */
static const struct filter_kunit_module filter_kunit_modules[] = {
	{ "",		false,	true,	true },
	{ "*",		false,	true,	true },
	{ "this",	false,	true,	false },
	{ "th*",	false,	true,	false },
	{ "*th*",	false,	true,	true },
	{ "none",	false,	false,	false },
	{ "!this",	true,	false,	true },
	{ "!none",	true,	true,	true },
	{ "!*",		true,	false,	false },
};

static void filter_kunit_module_desc(const struct filter_kunit_module *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "\"%s\"", row->pattern);
}

KUNIT_ARRAY_PARAM(filter_kunit_modules, filter_kunit_modules, filter_kunit_module_desc);

static void filter_module_patterns(struct kunit *test)
{
	const struct filter_kunit_module *row = test->param_value;
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	struct site_pattern pattern;
	char word[16];

	KUNIT_ASSERT_NOT_NULL(test, mod);
	strscpy(word, row->pattern);
	pattern_parse(&pattern, word);
	KUNIT_EXPECT_EQ(test, pattern_matches_module(&pattern, NULL), row->kernel);
	strscpy(mod->name, "this");
	KUNIT_EXPECT_EQ(test, pattern_matches_module(&pattern, mod), row->this);
	strscpy(mod->name, "other");
	KUNIT_EXPECT_EQ(test, pattern_matches_module(&pattern, mod), row->other);
}

struct filter_kunit_match {
	const char	*glob;
	const char	*module;
	const char	*same;
	int		error;
};

/* Words that match the same sites, by different ways of finding them. */
static const struct filter_kunit_match filter_kunit_matches[] = {
	{ "int_sqrt",		NULL,	"int_sqr[t]" },
	{ "int_sqr*",		NULL,	"int_sqr[_a-zA-Z0-9.]*" },
	{ "*_sqrt",		NULL,	"*_sqr[t]" },
	{ "*mutex*",		NULL,	"*mute[x]*" },
	{ "*",			NULL,	"[!0]*" },
	{ "no_such_function",	NULL,	"no_such_[f]unction" },
	{ "int_sqrt",		"!none", "int_sqrt" },
	{ "int_sqrt",		"none",	"no_such_function" },
	{ "4000000000",		NULL,	"no_such_function" },
	{ "0x1",		NULL,	"1" },
	{ "0",			NULL,	NULL, -EINVAL },
	{ "1st",		NULL,	NULL, -EINVAL },
	{ "99999999999999999999", NULL,	NULL, -EINVAL },
};

static void filter_kunit_match_desc(const struct filter_kunit_match *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s", row->glob, row->module ? ":mod:" : "",
		 row->module ?: "");
}

KUNIT_ARRAY_PARAM(filter_kunit_matches, filter_kunit_matches, filter_kunit_match_desc);

static void filter_match_sites(struct kunit *test)
{
	const struct filter_kunit_match *row = test->param_value;

	guard(mutex)(&ftrace_lock);
	struct ftrace_site_set *a __free(site_set) = ftrace_match_sites(row->glob, row->module);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(a), row->error);
	if (row->error || IS_ERR(a))
		return;
	struct ftrace_site_set *b __free(site_set) = ftrace_match_sites(row->same, NULL);

	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, b);
	if (IS_ERR_OR_NULL(b))
		return;
	KUNIT_EXPECT_EQ(test, a->nr, b->nr);
	if (a->nr == b->nr)
		KUNIT_EXPECT_MEMEQ(test, a->ip, b->ip, flex_array_size(a, ip, a->nr));
	for (unsigned int i = 1; i < a->nr; i++) {
		if (a->ip[i - 1] >= a->ip[i])
			KUNIT_FAIL(test, "not ascending at %u", i);
	}
}

/* One name, one site; the first number, the first site; and no number less. */
static void filter_match_known(struct kunit *test)
{
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);
	struct ftrace_site_set *name __free(site_set) = ftrace_match_sites("int_sqrt", NULL);
	struct ftrace_site_set *number __free(site_set) = ftrace_match_sites("1", NULL);

	KUNIT_EXPECT_FALSE(test, IS_ERR(name) || IS_ERR(number));
	if (IS_ERR(name) || IS_ERR(number))
		return;
	KUNIT_EXPECT_EQ(test, name->nr, 1);
	KUNIT_EXPECT_EQ(test, name->ip[0], ftrace_location((unsigned long)int_sqrt));
	table = ftrace_table_next(NULL);
	KUNIT_EXPECT_EQ(test, number->nr, 1);
	KUNIT_EXPECT_EQ(test, number->ip[0], ftrace_rec_ip(table, &table->recs[0]));
}

/* A number counts the lines of available_filter_functions, which have no quarantine. */
static void filter_match_number(struct kunit *test)
{
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);
	table = ftrace_table_next(NULL);

	for (unsigned int lost = 0; lost < 3; lost++) {
		bool has_quarantine = ftrace_has_quarantine;
		struct ftrace_site_set *second;

		if (ftrace_rec_quarantined(&table->recs[lost]))
			continue;
		ftrace_rec_quarantine(&table->recs[lost]);
		ftrace_has_quarantine = true;
		second = ftrace_match_sites("2", NULL);
		ftrace_rec_release(&table->recs[lost]);
		ftrace_has_quarantine = has_quarantine;

		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, second);
		if (IS_ERR_OR_NULL(second))
			continue;
		KUNIT_EXPECT_EQ(test, second->nr, 1);
		KUNIT_EXPECT_EQ(test, second->ip[0],
				ftrace_rec_ip(table, &table->recs[lost < 2 ? 2 : 1]));
		ftrace_site_set_free(second);
	}
}

/* Edits. A filter without a set is FILTER_KUNIT_NONE. */
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
		struct filter_edit edit;

		ftrace_filter_init(&filter);
		if (row->old != FILTER_KUNIT_NONE)
			*filter_kunit_side(&filter, exclude) = filter_kunit_set(row->old);
		*filter_kunit_side(&filter, !exclude) = filter_kunit_set(6);

		edit_init(&edit, row->clear);
		for (unsigned int i = 0; i < row->nr; i++) {
			struct ftrace_site_set *sites __free(site_set) =
				filter_kunit_set(row->step[i].bits);

			KUNIT_EXPECT_EQ(test, edit_sites(&edit, sites, row->step[i].remove), 0);
		}
		KUNIT_EXPECT_EQ(test, edit_commit(&edit, &filter, exclude), 0);
		KUNIT_EXPECT_EQ(test, filter_kunit_bits(*filter_kunit_side(&filter, exclude)),
				row->result);
		KUNIT_EXPECT_EQ(test, filter_kunit_bits(*filter_kunit_side(&filter, !exclude)), 6);
		KUNIT_EXPECT_EQ(test, list_empty(&filter.pending), !filter.only && !filter.not);
		list_del_init(&filter.pending);

		edit_destroy(&edit);
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

/* A word that is refused leaves what was collected before. */
static void filter_bad_words(struct kunit *test)
{
	const struct filter_kunit_bad *row = test->param_value;
	struct filter_edit edit;
	LIST_HEAD(none);
	char word[32];

	guard(mutex)(&ftrace_lock);

	edit_init(&edit, false);
	edit.add = filter_kunit_set(5);
	edit.del = filter_kunit_set(2);
	strscpy(word, row->word);
	KUNIT_EXPECT_EQ(test, edit_pattern(&edit, word, row->module, &none), -EINVAL);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(edit.add), 5);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(edit.del), 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&edit.later));
	edit_destroy(&edit);
}

static int filter_kunit_edit(struct ftrace_filter *filter, const char *func, const char *module,
			     bool clear)
{
	struct filter_edit edit;
	char word[32];
	int ret;

	strscpy(word, func);
	edit_init(&edit, clear);
	ret = edit_pattern(&edit, word, module, &filter->later) ?:
	      edit_commit(&edit, filter, false);
	edit_destroy(&edit);
	return ret;
}

/* A module that is not there is waited for; meanwhile, nothing is wanted. */
static void filter_waits_for_module(struct kunit *test)
{
	struct ftrace_filter filter = { };

	guard(mutex)(&ftrace_lock);
	ftrace_filter_init(&filter);

	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "one", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(filter.only), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 1);
	KUNIT_EXPECT_FALSE(test, list_empty(&filter.pending));

	/* Said twice is said once. */
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "one", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "two", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 2);

	/* A site beside them does not end the waiting. */
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "int_sqrt", NULL, false), 0);
	KUNIT_EXPECT_EQ(test, filter.only ? filter.only->nr : 0, 1);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 2);

	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!one", "kunit_none", false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!int_sqrt", NULL, false), 0);
	KUNIT_EXPECT_EQ(test, filter_kunit_bits(filter.only), 0);

	/* Nothing is left to want, nor to wait for: back to everything. */
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "three", "kunit_none", true), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 1);
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "int_sqrt", NULL, true), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&filter.later));
	/* Modules do not concern it any more. */
	KUNIT_EXPECT_TRUE(test, list_empty(&filter.pending));
	KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!int_sqrt", NULL, false), 0);
	KUNIT_EXPECT_PTR_EQ(test, filter.only, NULL);

	later_free_list(&filter.later);
	filter_update_list(&filter);
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
		KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 3);

		/* Of another name, or of another module, nothing waits. */
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, "!t*", "kunit_none", false),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_*", false),
				-EINVAL);
		/* What is about to be cleared is not there to be taken away. */
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_none", true),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 3);

		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_none", false), 0);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&filter.later), 1);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_none", false),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, filter_kunit_edit(&filter, all[i], "kunit_other", false), 0);
		KUNIT_EXPECT_TRUE(test, list_empty(&filter.later));
		filter_free_content(&filter);
	}
}

/* What other kernel code calls, on an ops that is not registered. */
static void filter_of_ops(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ftrace_stub };
	unsigned long bad[2] = { (unsigned long)int_sqrt, 1 };
	unsigned long good[2] = { (unsigned long)int_sqrt, kunit_site(1) };

	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "int_sqrt", strlen("int_sqrt"), 0), 0);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "no_such_function", 16, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ops.filter->only->nr, 1);

	/* One bad address, and none is taken. */
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

struct filter_kunit_symbol {
	char		*name;
	unsigned long	addr;
};

struct filter_kunit_symbols {
	struct filter_kunit_symbol	*symbol;
	unsigned int			nr;
	unsigned int			room;
};

static int filter_kunit_collect(void *data, const char *name, unsigned long addr)
{
	struct filter_kunit_symbols *s = data;

	if (!ftrace_location(addr))
		return 0;
	if (s->nr < s->room)
		s->symbol[s->nr] = (struct filter_kunit_symbol) {
			.name = kstrdup(name, GFP_KERNEL),
			.addr = addr,
		};
	s->nr++;
	return 0;
}

static int filter_kunit_symbol_cmp(const void *a, const void *b)
{
	const struct filter_kunit_symbol *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ?: ip_cmp(&x->addr, &y->addr);
}

static void filter_kunit_look_up(struct kunit *test, const struct filter_kunit_symbol *symbol,
				 unsigned int nr)
{
	const char **names __free(kvfree) = kvmalloc_array(nr, sizeof(*names), GFP_KERNEL);
	unsigned long *addrs __free(kvfree) = kvmalloc_array(nr, sizeof(*addrs), GFP_KERNEL);
	unsigned int wrong = 0;
	u64 start, end;

	if (!names || !addrs) {
		KUNIT_FAIL(test, "no memory");
		return;
	}
	for (unsigned int i = 0; i < nr; i++)
		names[i] = symbol[i].name;
	start = ktime_get_ns();
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, nr, addrs), 0);
	end = ktime_get_ns();
	kunit_info(test, "%u names: %llu us\n", nr, (end - start) / NSEC_PER_USEC);
	for (unsigned int i = 0; i < nr; i++) {
		if (addrs[i] != symbol[i].addr && !wrong++)
			KUNIT_FAIL(test, "%s: %lx, not %lx", names[i], addrs[i], symbol[i].addr);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Each name of each function: the first address that has the name and a site. */
static void filter_look_up_all(struct kunit *test)
{
	struct filter_kunit_symbols s = { };
	unsigned int nr = 0, found, aliases = 0;
	unsigned long last = 0;

	kallsyms_on_each_symbol(filter_kunit_collect, &s);
	s.symbol = kvcalloc(s.nr, sizeof(*s.symbol), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s.symbol);
	s.room = s.nr;
	s.nr = 0;
	kallsyms_on_each_symbol(filter_kunit_collect, &s);
	found = min(s.nr, s.room);
	for (unsigned int i = 0; i < found; i++) {
		aliases += s.symbol[i].addr == last;
		last = s.symbol[i].addr;
	}
	KUNIT_EXPECT_GT(test, aliases, 0);

	sort(s.symbol, found, sizeof(*s.symbol), filter_kunit_symbol_cmp, NULL);
	for (unsigned int i = 0; i < found; i++) {
		if (nr && !strcmp(s.symbol[nr - 1].name, s.symbol[i].name))
			kfree(s.symbol[i].name);
		else
			s.symbol[nr++] = s.symbol[i];
	}
	KUNIT_EXPECT_GT(test, nr, 1000);
	filter_kunit_look_up(test, s.symbol, nr);
	filter_kunit_look_up(test, s.symbol + nr / 2, 1);
	for (unsigned int i = 0; i < nr; i++)
		kfree(s.symbol[i].name);
	kvfree(s.symbol);
}

/* One name that has no site that can be used, among others. */
static void filter_look_up_missing(struct kunit *test)
{
	unsigned long addrs[2];
	const char *names[2];
	struct dyn_ftrace *rec;
	bool has_quarantine;

	names[0] = "gcd";
	names[1] = "int_sqrt";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[0], (unsigned long)gcd);
	KUNIT_EXPECT_EQ(test, addrs[1], (unsigned long)int_sqrt);

	/* Built without sites. */
	names[0] = "filter_look_up_missing";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);
	names[0] = "no_such_function";
	names[1] = "no_such_function";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);

	/* As if there were no quarantine, for nobody is to look whether it is repaired. */
	names[0] = "gcd";
	names[1] = "int_sqrt";
	scoped_guard(mutex, &ftrace_lock) {
		rec = ftrace_site_find(kunit_site(2));
		has_quarantine = ftrace_has_quarantine;
		ftrace_has_quarantine = false;
		ftrace_rec_quarantine(rec);
	}
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);
	scoped_guard(mutex, &ftrace_lock) {
		ftrace_rec_release(rec);
		ftrace_has_quarantine = has_quarantine;
	}
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), 0);
}

static struct kunit_case filter_kunit_cases[] = {
	KUNIT_CASE(filter_set_pairs),
	KUNIT_CASE(filter_set_none),
	KUNIT_CASE(filter_set_sort),
	KUNIT_CASE(filter_set_forget),
	KUNIT_CASE_PARAM(filter_patterns, filter_kunit_patterns_gen_params),
	KUNIT_CASE_PARAM(filter_module_patterns, filter_kunit_modules_gen_params),
	KUNIT_CASE_PARAM(filter_match_sites, filter_kunit_matches_gen_params),
	KUNIT_CASE(filter_match_known),
	KUNIT_CASE(filter_match_number),
	KUNIT_CASE_PARAM(filter_edits, filter_kunit_edits_gen_params),
	KUNIT_CASE_PARAM(filter_bad_words, filter_kunit_bads_gen_params),
	KUNIT_CASE(filter_waits_for_module),
	KUNIT_CASE(filter_waits_no_more),
	KUNIT_CASE(filter_of_ops),
	KUNIT_CASE(filter_look_up_all),
	KUNIT_CASE(filter_look_up_missing),
	{ }
};

static struct kunit_suite filter_kunit_suite = {
	.name		= "ftrace_filter",
	.test_cases	= filter_kunit_cases,
};

kunit_test_suite(filter_kunit_suite);
