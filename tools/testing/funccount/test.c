// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of funccount's work on text and tables. Each test is a line "ok - ..." or "not ok - ...";
 * the last line is "N passed, N failed".
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "parse.h"
#include "report.h"
#include "util.h"

const char * const program_name = "test";

/* How many lines are made up. */
#define ROUNDS	300000

static unsigned int passed, failed;

static void result(bool ok, const char *test, const char *what)
{
	printf("%s - %s: %.*s\n", ok ? "ok" : "not ok", test, (int)strcspn(what, "\n"), what);
	if (ok)
		passed++;
	else
		failed++;
}

static void test_seconds(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "1", NSEC }, { "0.5", NSEC / 2 }, { ".25", NSEC / 4 }, { "00012", 12 * NSEC },
		{ "10.000000001", 10 * NSEC + 1 }, { "1.0000000009", NSEC },
		{ "31622400", 31622400 * NSEC },
		/* These are no times. */
		{ "0", 0 }, { "0.0", 0 }, { "", 0 }, { ".", 0 }, { "1.", 0 }, { "-1", 0 },
		{ "+1", 0 }, { " 1", 0 }, { "1 ", 0 }, { "1s", 0 }, { "1e3", 0 }, { "0x10", 0 },
		{ "nan", 0 }, { "inf", 0 }, { "1,5", 0 }, { "1.5.5", 0 }, { "0.0000000001", 0 },
		{ "31622401", 0 }, { "99999999999999999999999", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = 0;
		bool ok = parse_seconds(cases[i].text, &ns);

		result(ok == !!cases[i].ns && (!ok || ns == cases[i].ns), "seconds", cases[i].text);
	}
}

static void test_numbers(void)
{
	static const char * const wrong[] = {
		"", "-1", "+1", " 1", "1 ", "1x", "0x1", "101", "18446744073709551616",
	};
	uint64_t n;

	result(parse_number("0", 100, &n) && n == 0, "number", "0");
	result(parse_number("100", 100, &n) && n == 100, "number", "the highest");
	result(parse_number("18446744073709551615", UINT64_MAX, &n) && n == UINT64_MAX, "number",
	       "64 bits");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		result(!parse_number(wrong[i], 100, &n), "not a number", wrong[i]);
}

static void test_cpus(void)
{
	static const struct {
		const char *text;
		int nr;
		unsigned int last;
	} cases[] = {
		{ "0\n", 1, 0 }, { "0-3\n", 4, 3 }, { "0-1,4,6-7\n", 5, 7 }, { "0-7", 8, 7 },
		{ "", -1, 0 }, { "\n", -1, 0 }, { "0-8\n", -1, 0 }, { "8\n", -1, 0 },
		{ "3-1\n", -1, 0 }, { "0-\n", -1, 0 }, { "0,\n", -1, 0 }, { "0-7,0\n", -1, 0 },
		{ "a\n", -1, 0 }, { "0 1\n", -1, 0 }, { "-1\n", -1, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int cpus[8];
		int nr = parse_cpus(cases[i].text, cpus, 8);

		result(nr == cases[i].nr && (nr < 1 || cpus[nr - 1] == cases[i].last), "CPUs",
		       cases[i].text);
	}
}

static void test_words(void)
{
	static const char * const good[] = {
		"*", "vfs_*", "vfs_read", "a?b", "[a-c]*", "x.constprop.0", "1a", "a!",
	};
	static const char * const bad[] = {
		"", "!vfs_*", "a b", "a\tb", "a\n", "vfs_read:traceoff", "*:mod:ext4", "12", "#",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		result(!glob_problem(good[i]), "glob", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		result(glob_problem(bad[i]), "not a glob", bad[i]);
	result(!module_problem("ext4") && module_problem("!ext4") && module_problem("a:b") &&
	       module_problem(""), "module", "good and bad ones");
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_function(const char *text, const char *name, const char *module)
{
	char *line = copy_string(text), *n, *m;
	bool ok = parse_function(line, &n, &m);

	result(name ? ok && same(n, name) && same(m, module) : !ok, "function", text);
	free(line);
}

static void test_functions(void)
{
	test_function("vfs_read", "vfs_read", NULL);
	test_function("xfs_open [xfs]", "xfs_open", "xfs");
	test_function("xfs_open [xfs", "xfs_open", "xfs");
	test_function("", NULL, NULL);
	test_function("  ", NULL, NULL);
	test_function("#### all functions enabled ####", NULL, NULL);
	test_function("schedule:traceoff:unlimited", NULL, NULL);
	test_function("*:mod:ext4", NULL, NULL);
}

/* The numbers of a line of function_counts, or -1. */
static int count_line(const char *text, uint64_t *number, const char *name, const char *module)
{
	char *line = copy_string(text), *n, *m;
	int nr = parse_count(line, &n, &m, number, 3);

	if (nr > 0 && (!same(n, name) || !same(m, module)))
		nr = -2;
	free(line);
	return nr;
}

static void test_count_lines(void)
{
	uint64_t number[3];

	result(count_line("12\tvfs_read\t-", number, "vfs_read", NULL) == 1 && number[0] == 12,
	       "counts", "a function");
	result(count_line("3\ta\tm\t1\t2", number, "a", "m") == 3 && number[2] == 2,
	       "counts", "one of a module, with CPUs");
	result(count_line("18446744073709551615\t?\t-", number, "?", NULL) == 1 &&
	       number[0] == UINT64_MAX, "counts", "the highest");
	result(count_line("4\ta\t-\t10\t20", number, "a", NULL) == 3 && number[1] == 10,
	       "counts", "one with times");
	result(count_line("1", number, NULL, NULL) == -1, "counts", "no function");
	result(count_line("1\ta", number, "a", NULL) == -1, "counts", "no module");
	result(count_line("b\ta\t-", number, "a", NULL) == -1, "counts", "a word for a count");
	result(count_line("# count\tfunction\tmodule", number, NULL, NULL) == -1, "counts",
	       "the names of the columns");
	result(count_line("6\ta\t-\t1\t2\t3", number, "a", NULL) == -1, "counts",
	       "too many CPUs");
	result(count_line("18446744073709551616\ta\t-", number, "a", NULL) == -1, "counts",
	       "more than 64 bits");
	result(count_line("", number, NULL, NULL) == -1, "counts", "nothing");
}

static bool stat_line(const char *text, const char *name, uint64_t count)
{
	char *line = copy_string(text), *n;
	uint64_t number = 0;
	bool ok = parse_stat(line, &n, &number);

	ok = name ? ok && same(n, name) && number == count : !ok;
	free(line);
	return ok;
}

static void test_stat_lines(void)
{
	result(stat_line("  Function                 Hit    Time            Avg", NULL, 0),
	       "profile", "the heading");
	result(stat_line("  --------                 ---    ----            ---", NULL, 0),
	       "profile", "the line below it");
	result(stat_line("  vfs_read                  12    1.5 us    0.1 us", "vfs_read", 12),
	       "profile", "a function with times");
	result(stat_line("  vfs_read                  12", "vfs_read", 12),
	       "profile", "a function without");
	result(stat_line("", NULL, 0), "profile", "nothing");
}

static void test_errors(void)
{
	char *why = parse_error("[ 1.5] file: error: No function matches\n  Command: a\n");

	result(same(why, "No function matches"), "error_log", "the reason");
	free(why);
	result(!parse_error("nothing"), "error_log", "none");
}

static const uint64_t one_two[] = { 1, 2 }, two_two[] = { 2, 2 }, none_four[] = { 0, 4 };

/* The rows of a table, as text. */
static char *dump(const struct counts *c)
{
	char *text = copy_string("");

	for (size_t i = 0; i < c->nr; i++) {
		const struct row *row = &c->row[i];
		char *more = format_string("%s%s%s/%s=%" PRIu64, text, i ? " " : "",
					   row->name ?: "", row->module ?: "", row->count);

		free(text);
		text = more;
		for (unsigned int j = 0; j < c->nr_cpus; j++) {
			more = format_string("%s,%" PRIu64, text, row->cpu[j]);
			free(text);
			text = more;
		}
	}
	return text;
}

static void expect(const char *what, const struct counts *c, const char *wanted)
{
	char *text = dump(c);

	result(same(text, wanted), "table", what);
	if (!same(text, wanted))
		printf("# wanted: %s\n# got: %s\n", wanted, text);
	free(text);
}

static void test_merge(void)
{
	struct counts c, modules;

	counts_init(&c, 2);
	counts_add(&c, "b", NULL, 3, one_two);
	counts_add(&c, "a", "m", 4, two_two);
	counts_add(&c, "b", NULL, 4, none_four);
	counts_add(&c, "a", NULL, 0, NULL);
	counts_add(&c, "b", "m", 3, one_two);
	counts_merge(&c);
	expect("those that share name and module are one", &c,
	       "a/=0,0,0 a/m=4,2,2 b/=7,1,6 b/m=3,1,2");
	result(counts_sum(&c) == 14, "table", "the sum");
	counts_init(&modules, 2);
	counts_by_module(&c, &modules);
	expect("by module", &modules, "/=7,1,6 /m=7,3,4");
	counts_sort(&c);
	expect("the highest comes last", &c, "a/=0,0,0 b/m=3,1,2 a/m=4,2,2 b/=7,1,6");
	counts_free(&c);
	counts_free(&modules);
	counts_merge(&c);
	counts_sort(&c);
	expect("an empty one", &c, "");
}

static struct counts table(uint64_t a, uint64_t b, uint64_t c)
{
	struct counts t;

	counts_init(&t, 0);
	if (a)
		counts_add(&t, "a", NULL, a, NULL);
	if (b)
		counts_add(&t, "b", NULL, b, NULL);
	if (c)
		counts_add(&t, "c", NULL, c, NULL);
	return t;
}

static struct counts of_module(uint64_t a, uint64_t b)
{
	struct counts t;

	counts_init(&t, 0);
	if (a)
		counts_add(&t, "a", "m", a, NULL);
	counts_add(&t, "b", NULL, b, NULL);
	return t;
}

static void subtract(const char *what, struct counts now, struct counts before, const char *wanted)
{
	struct counts difference;
	bool ok;

	counts_init(&difference, 0);
	ok = counts_subtract(&now, &before, &difference);
	if (ok && wanted)
		expect(what, &difference, wanted);
	else
		result(ok == !!wanted, "table", what);
	counts_free(&now);
	counts_free(&before);
	counts_free(&difference);
}

static void test_subtract(void)
{
	struct counts now, before, difference;

	subtract("from nothing", table(1, 2, 3), table(0, 0, 0), "a/=1 b/=2 c/=3");
	subtract("what has not changed is left out", table(1, 5, 3), table(1, 2, 3), "b/=3");
	subtract("rows that are new", table(1, 2, 3), table(0, 2, 0), "a/=1 c/=3");
	subtract("nothing at all", table(1, 2, 3), table(1, 2, 3), "");
	subtract("a row that is gone", table(1, 0, 3), table(1, 2, 3), NULL);
	subtract("the last row is gone", table(1, 2, 0), table(1, 2, 3), NULL);
	subtract("a count that is smaller", table(1, 1, 3), table(1, 2, 3), NULL);
	subtract("a module that is gone", of_module(0, 5), of_module(4, 2), "b/=3");
	subtract("a module that is loaded again", of_module(3, 2), of_module(4, 1), "a/m=3 b/=1");

	counts_init(&now, 2);
	counts_init(&before, 2);
	counts_init(&difference, 2);
	counts_add(&now, "a", NULL, 4, two_two);
	counts_add(&before, "a", NULL, 3, one_two);
	result(counts_subtract(&now, &before, &difference), "table", "with CPUs");
	expect("the CPUs' counts", &difference, "a/=1,1,0");
	counts_free(&difference);
	counts_free(&before);
	counts_add(&before, "a", NULL, 4, none_four);
	result(!counts_subtract(&now, &before, &difference), "table", "a CPU's that is smaller");
	counts_free(&now);
	counts_free(&before);
	counts_free(&difference);
}

static char *report_of(struct report *r, const struct counts *c,
		       void (*write)(FILE *f, const struct report *r, const struct counts *c))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	write(f, r, c);
	fclose(f);
	return text;
}

static void expect_report(const char *what, char *text, const char *wanted)
{
	result(same(text, wanted), "report", what);
	if (!same(text, wanted))
		printf("# wanted: %s\n# got: %s\n", wanted, text);
	free(text);
}

/* The members of an object before its counts, with the time that these tests have. */
#define JSON(rows, calls, counts)						\
	"{\"version\":1,\"counter\":\"count\",\"time\":7.000000005,\"seconds\":0.500000000,"	\
	"\"rows\":" rows ",\"calls\":" calls ",\"counts\":[" counts "]}\n"

static const unsigned int cpus[] = { 0, 5 };
static const bool online[] = { true, false };

static const struct report plain = {
	.counter = "count", .cpus = cpus, .online = online, .time = 7 * NSEC + 5, .ns = NSEC / 2,
};

#define HEADING	"FUNC                                    COUNT"

static void test_reports(void)
{
	struct counts c = table(1, 20, 300);
	struct report r = plain;

	expect_report("text", report_of(&r, &c, report_text),
		      HEADING "\n"
		      "a                                           1\n"
		      "b                                          20\n"
		      "c                                         300\n");
	r.top = 1;
	expect_report("the top", report_of(&r, &c, report_text),
		      HEADING "\n"
		      "c                                         300\n");
	expect_report("JSON", report_of(&r, &c, report_json),
		      JSON("3", "321", "{\"function\":\"c\",\"module\":null,\"count\":300}"));
	counts_free(&c);
	expect_report("JSON of nothing", report_of(&r, &c, report_json), JSON("0", "0", ""));
}

#define BIG	"\"count\":1234567890,\"cpus\":{\"0\":1234567890}"

static const uint64_t many[] = { 1234567890, 0 }, two_four[] = { 2, 4 };

static void test_cpu_reports(void)
{
	struct report r = plain;
	struct counts c;

	counts_init(&c, 2);
	counts_add(&c, "q\"\\\n\xff", "m", 1234567890, many);
	expect_report("CPUs that are online have a column", report_of(&r, &c, report_text),
		      "FUNC                                      COUNT       CPU0\n"
		      "q\"\\\n\xff [m]                            1234567890 1234567890\n");
	expect_report("JSON, quoted", report_of(&r, &c, report_json),
		      JSON("1", "1234567890",
			   "{\"function\":\"q\\\"\\\\\\u000a\\u00ff\",\"module\":\"m\"," BIG "}"));
	counts_free(&c);
	counts_add(&c, NULL, NULL, 6, two_four);
	r.by_module = true;
	expect_report("modules, and CPUs that have counts", report_of(&r, &c, report_text),
		      "MODULE                                  COUNT     CPU0     CPU5\n"
		      "vmlinux                                     6        2        4\n");
	expect_report("JSON of modules", report_of(&r, &c, report_json),
		      JSON("1", "6",
			   "{\"module\":null,\"count\":6,\"cpus\":{\"0\":2,\"5\":4}}"));
	counts_free(&c);
}

#define SHORT	"\"mean\":40,\"p50\":31,\"p90\":62,\"p99\":99,\"max\":120"

static void test_latency_reports(void)
{
	static const uint64_t short_ones[] = { 40, 31, 62, 99, 120 };
	static const uint64_t long_ones[] = { 3, 2, 1234567890, 1234567891, 1234567892 };
	struct report r = plain;
	struct counts c;

	r.latency = true;
	counts_init(&c, 5);
	counts_add(&c, "a", NULL, 7, short_ones);
	expect_report("times", report_of(&r, &c, report_text),
		      "FUNC                                    COUNT     MEAN      P50      P90      P99      MAX\n"
		      "a                                           7       40       31       62       99      120\n");
	expect_report("JSON of times", report_of(&r, &c, report_json),
		      JSON("1", "7", "{\"function\":\"a\",\"module\":null,\"count\":7," SHORT "}"));
	counts_free(&c);
	counts_add(&c, "b", NULL, 7, long_ones);
	expect_report("long times", report_of(&r, &c, report_text),
		      "FUNC                                      COUNT       MEAN        P50        P90        P99        MAX\n"
		      "b                                             7          3          2 1234567890 1234567891 1234567892\n");
	counts_free(&c);
}

/* Random lines of the usual characters: nothing is read that is not there. */
static void test_random(void)
{
	static const char pieces[] = "a_[]:#! \t\n0123456789-,.*?";
	unsigned int seed = 1;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		size_t len = rand_r(&seed) % 24;
		char *line = alloc(len + 1, 1), *copy, *name, *module;
		unsigned int numbers[4];
		uint64_t number[4];

		for (size_t j = 0; j < len; j++)
			line[j] = pieces[rand_r(&seed) % (sizeof(pieces) - 1)];
		parse_seconds(line, number);
		parse_number(line, 100, number);
		parse_cpus(line, numbers, 4);
		glob_problem(line);
		free(parse_error(line));
		copy = copy_string(line);
		parse_function(copy, &name, &module);
		free(copy);
		copy = copy_string(line);
		parse_count(copy, &name, &module, number, 4);
		free(copy);
		parse_stat(line, &name, number);
		free(line);
	}
	result(true, "random lines", "no sanitizer has said a word");
}

int main(void)
{
	test_seconds();
	test_numbers();
	test_cpus();
	test_words();
	test_functions();
	test_count_lines();
	test_stat_lines();
	test_errors();
	test_merge();
	test_subtract();
	test_reports();
	test_cpu_reports();
	test_latency_reports();
	test_random();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
