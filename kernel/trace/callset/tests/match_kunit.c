// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of names and sites: patterns, numbers of lines, and many names.
 */
#include "kunit.h"

struct match_kunit_pattern {
	const char	*pattern;
	enum regex_type	type;
	const char	*yes[3];
	const char	*no[4];
};

static const struct match_kunit_pattern match_kunit_patterns[] = {
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

static void match_kunit_pattern_desc(const struct match_kunit_pattern *row, char *desc)
{
	strscpy(desc, row->pattern, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(match_kunit_patterns, match_kunit_patterns, match_kunit_pattern_desc);

static bool matches(const struct match_pattern *pattern, const char *name)
{
	return match_fits(pattern, name, strlen(name));
}

/* Each row as it is, and with a ! before it, which changes nothing else. */
static void match_patterns(struct kunit *test)
{
	const struct match_kunit_pattern *row = test->param_value;

	for (int not = 0; not < 2; not++) {
		struct match_pattern pattern;
		char word[32];

		snprintf(word, sizeof(word), "%s%s", not ? "!" : "", row->pattern);
		match_parse(&pattern, word);
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

struct match_kunit_module {
	const char	*pattern;
	bool		kernel;
	bool		this;
	bool		other;
};

/* For the kernel, and for modules named "this" and "other". */
static const struct match_kunit_module match_kunit_modules[] = {
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

static void match_kunit_module_desc(const struct match_kunit_module *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "\"%s\"", row->pattern);
}

KUNIT_ARRAY_PARAM(match_kunit_modules, match_kunit_modules, match_kunit_module_desc);

static void match_module_patterns(struct kunit *test)
{
	const struct match_kunit_module *row = test->param_value;
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	struct match_pattern pattern;
	char word[16];

	KUNIT_ASSERT_NOT_NULL(test, mod);
	strscpy(word, row->pattern);
	match_parse(&pattern, word);
	KUNIT_EXPECT_EQ(test, match_fits_module(&pattern, NULL), row->kernel);
	strscpy(mod->name, "this");
	KUNIT_EXPECT_EQ(test, match_fits_module(&pattern, mod), row->this);
	strscpy(mod->name, "other");
	KUNIT_EXPECT_EQ(test, match_fits_module(&pattern, mod), row->other);
}

struct match_kunit_match {
	const char	*glob;
	const char	*module;
	const char	*same;
	int		error;
};

/* Words that match the same sites, by different ways of finding them. */
static const struct match_kunit_match match_kunit_matches[] = {
	{ "int_sqrt",		NULL,	"int_sqr[t]" },
	{ "int_sqr*",		NULL,	"int_sqr[_a-zA-Z0-9.]*" },
	{ "*_sqrt",		NULL,	"*_sqr[t]" },
	{ "*mutex*",		NULL,	"*mute[x]*" },
	{ "*",			NULL,	"[!0]*" },
	{ "no_such_function",	NULL,	"no_such_[f]unction" },
	{ "int_sqrt",		"!none", "int_sqrt" },
	{ "int_sqrt",		"!*",	"int_sqrt" },
	{ "int_sqrt",		"none",	"no_such_function" },
	{ "4000000000",		NULL,	"no_such_function" },
	{ "0x1",		NULL,	"1" },
	{ "0",			NULL,	NULL, -EINVAL },
	{ "1st",		NULL,	NULL, -EINVAL },
	{ "99999999999999999999", NULL,	NULL, -EINVAL },
};

static void match_kunit_match_desc(const struct match_kunit_match *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s", row->glob, row->module ? ":mod:" : "",
		 row->module ?: "");
}

KUNIT_ARRAY_PARAM(match_kunit_matches, match_kunit_matches, match_kunit_match_desc);

static void match_sites_of(struct kunit *test)
{
	const struct match_kunit_match *row = test->param_value;

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
static void match_known(struct kunit *test)
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
/* @ip is 0 if there is no such line. */
static void match_kunit_expect_line(struct kunit *test, unsigned int line, unsigned long ip)
{
	struct ftrace_site_set *set;
	char word[16];

	snprintf(word, sizeof(word), "%u", line);
	set = ftrace_match_sites(word, NULL);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, set);
	if (IS_ERR_OR_NULL(set))
		return;
	KUNIT_EXPECT_EQ(test, set->nr, !!ip);
	KUNIT_EXPECT_EQ_MSG(test, set->nr ? set->ip[0] : 0, ip, "line %u", line);
	ftrace_site_set_free(set);
}

static void match_line_number(struct kunit *test)
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
		WRITE_ONCE(table->recs[lost].state,
			   table->recs[lost].state & ~FTRACE_STATE_QUARANTINE);
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

/* The site of a record is that of its line, in all tables; after the last line there is no site. */
static void match_line_numbers(struct kunit *test)
{
	struct ftrace_table *table;
	unsigned int line = 0;

	guard(mutex)(&ftrace_lock);

	for_each_ftrace_table(table) {
		struct ftrace_record *rec;

		for_each_ftrace_rec(table, rec) {
			bool ends = rec == table->recs || rec == table->recs + table->nr - 1;

			if (ftrace_rec_quarantined(rec))
				continue;
			if (++line % 1000 == 0 || ends)
				match_kunit_expect_line(test, line, ftrace_rec_ip(table, rec));
		}
	}
	match_kunit_expect_line(test, line + 1, 0);
}

struct match_kunit_symbol {
	char		*name;
	unsigned long	addr;
};

struct match_kunit_symbols {
	struct match_kunit_symbol	*symbol;
	unsigned int			nr;
	unsigned int			room;
};

static int match_kunit_collect(void *data, const char *name, unsigned long addr)
{
	struct match_kunit_symbols *s = data;

	if (!ftrace_location(addr))
		return 0;
	if (s->nr < s->room)
		s->symbol[s->nr] = (struct match_kunit_symbol) {
			.name = kstrdup(name, GFP_KERNEL),
			.addr = addr,
		};
	s->nr++;
	return 0;
}

static int match_kunit_symbol_cmp(const void *a, const void *b)
{
	const struct match_kunit_symbol *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ?: (x->addr > y->addr) - (x->addr < y->addr);
}

static void match_kunit_lookup(struct kunit *test, const struct match_kunit_symbol *symbol,
			       unsigned int nr)
{
	const char **names __free(kvfree) = kvmalloc_array(nr, sizeof(*names), GFP_KERNEL);
	unsigned long *addrs __free(kvfree) = kvmalloc_array(nr, sizeof(*addrs), GFP_KERNEL);
	unsigned int wrong = 0;
	ktime_t start;
	s64 us;

	if (!names || !addrs) {
		KUNIT_FAIL(test, "no memory");
		return;
	}
	for (unsigned int i = 0; i < nr; i++)
		names[i] = symbol[i].name;
	start = ktime_get();
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, nr, addrs), 0);
	us = ktime_us_delta(ktime_get(), start);
	kunit_info(test, "%u names: %lld us\n", nr, us);
	for (unsigned int i = 0; i < nr; i++) {
		if (addrs[i] != symbol[i].addr && !wrong++)
			KUNIT_FAIL(test, "%s: %lx, not %lx", names[i], addrs[i], symbol[i].addr);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Each name of each function: the first address that has the name and a site. */
static void match_lookup_all(struct kunit *test)
{
	struct match_kunit_symbols s = { };
	unsigned int nr = 0, found, aliases = 0;
	unsigned long last = 0;

	kallsyms_on_each_symbol(match_kunit_collect, &s);
	s.symbol = kvcalloc(s.nr, sizeof(*s.symbol), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s.symbol);
	s.room = s.nr;
	s.nr = 0;
	kallsyms_on_each_symbol(match_kunit_collect, &s);
	found = min(s.nr, s.room);
	for (unsigned int i = 0; i < found; i++) {
		aliases += s.symbol[i].addr == last;
		last = s.symbol[i].addr;
	}
	KUNIT_EXPECT_GT(test, aliases, 0);

	sort(s.symbol, found, sizeof(*s.symbol), match_kunit_symbol_cmp, NULL);
	for (unsigned int i = 0; i < found; i++) {
		if (nr && !strcmp(s.symbol[nr - 1].name, s.symbol[i].name))
			kfree(s.symbol[i].name);
		else
			s.symbol[nr++] = s.symbol[i];
	}
	KUNIT_EXPECT_GT(test, nr, 1000);
	match_kunit_lookup(test, s.symbol, nr);
	match_kunit_lookup(test, s.symbol + nr / 2, 1);
	for (unsigned int i = 0; i < nr; i++)
		kfree(s.symbol[i].name);
	kvfree(s.symbol);
}

/* One name that has no site that can be used, among others. */
static void match_lookup_missing(struct kunit *test)
{
	unsigned long addrs[2];
	const char *names[2];
	struct ftrace_record *rec;

	names[0] = "gcd";
	names[1] = "int_sqrt";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[0], (unsigned long)gcd);
	KUNIT_EXPECT_EQ(test, addrs[1], (unsigned long)int_sqrt);

	/* Built without sites. */
	names[0] = "match_lookup_missing";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);
	names[0] = "no_such_function";
	names[1] = "no_such_function";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);

	names[0] = "gcd";
	names[1] = "int_sqrt";
	scoped_guard(mutex, &ftrace_lock) {
		rec = ftrace_site_find(kunit_site(2));
		ftrace_rec_quarantine(rec);
	}
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);
	scoped_guard(mutex, &ftrace_lock) {
		WRITE_ONCE(rec->state, rec->state & ~FTRACE_STATE_QUARANTINE);
	}
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), 0);
}

static struct kunit_case match_kunit_cases[] = {
	KUNIT_CASE_PARAM(match_patterns, match_kunit_patterns_gen_params),
	KUNIT_CASE_PARAM(match_module_patterns, match_kunit_modules_gen_params),
	KUNIT_CASE_PARAM(match_sites_of, match_kunit_matches_gen_params),
	KUNIT_CASE(match_known),
	KUNIT_CASE(match_line_number),
	KUNIT_CASE(match_line_numbers),
	KUNIT_CASE(match_lookup_all),
	KUNIT_CASE(match_lookup_missing),
	{ }
};

static struct kunit_suite match_kunit_suite = {
	.name		= "ftrace_match",
	.test_cases	= match_kunit_cases,
};

kunit_test_suite(match_kunit_suite);
