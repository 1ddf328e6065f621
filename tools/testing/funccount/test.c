// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of funccount's work on text and tables. Each test is a line "ok - ..." or "not ok - ...";
 * the last line is "N passed, N failed".
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "counts.h"
#include "parse.h"
#include "record.h"
#include "report.h"
#include "stats.h"
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
	counts_add(&before, "a", NULL, 4, one_two);
	result(counts_subtract(&now, &before, &difference), "table", "a time without a call");
	expect("the time", &difference, "a/=0,1,0");
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

#define QUOTED	"\"function\":\"\xc3\xbc\\\"\\\\\\u000a\\ufffd\""
#define BIG	"\"count\":1234567890,\"cpus\":{\"0\":1234567890}"

static const uint64_t many[] = { 1234567890, 0 }, two_four[] = { 2, 4 };

static void test_cpu_reports(void)
{
	struct report r = plain;
	struct counts c;

	counts_init(&c, 2);
	counts_add(&c, "\xc3\xbc\"\\\n\xff", "m", 1234567890, many);
	expect_report("CPUs that are online have a column", report_of(&r, &c, report_text),
		      "FUNC                                      COUNT       CPU0\n"
		      "\xc3\xbc\"\\\n\xff [m]                           1234567890 1234567890\n");
	expect_report("JSON, quoted", report_of(&r, &c, report_json),
		      JSON("1", "1234567890", "{" QUOTED ",\"module\":\"m\"," BIG "}"));
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

static void test_quantiles(void)
{
	static const struct {
		size_t freedom;
		double alpha;
		double t;
	} cases[] = {
		/* As tables have them. */
		{ 1, 0.05, 12.7062 }, { 2, 0.05, 4.30265 }, { 3, 0.01, 5.84091 },
		{ 5, 0.001, 6.86883 }, { 10, 0.05, 2.22814 }, { 30, 0.05, 2.04227 },
		{ 120, 0.01, 2.61742 }, { 1, 0.000001, 636619.77 }, { 100000, 0.05, 1.95999 },
		/* 1 - t / sqrt(2 + t^2) is the tail of two degrees of freedom. */
		{ 2, 0.00000001, 9999.99993 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double t = t_quantile(cases[i].freedom, cases[i].alpha);
		char *text = format_string("%zu degrees of freedom, %g", cases[i].freedom,
					   cases[i].alpha);

		result(fabs(t / cases[i].t - 1) < 0.00001, "Student's t", text);
		free(text);
	}
}

/* Records */

static struct record record_of(const char *counted, const char *interval, const char *command)
{
	struct record r = { };

	for (int i = 0; i < NR_HEADS; i++)
		r.head[i] = copy_string(i == HEAD_COUNTED ? counted :
					i == HEAD_INTERVAL ? interval :
					i == HEAD_COMMAND ? command : "x\ty");
	record_begin(&r);
	return r;
}

static void add_sample(struct record *r, uint64_t a, uint64_t b, uint64_t ns)
{
	bool times = record_has_times(r);
	uint64_t total[] = { 100 * a, 0, 0 }, other[] = { 200 * b, 0, 0 };
	struct counts c;

	counts_init(&c, times ? 3 : 0);
	if (b)
		counts_add(&c, "b", "m", b, other);
	if (a)
		counts_add(&c, "a", NULL, a, total);
	record_add(r, &c, ns);
	counts_free(&c);
}

/* A record of two functions, as text. */
static const char record_text[] =
	"funccount\t1\nrelease\tx\ty\ncounter\tx\ty\ncounted\tcalls\ntasks\tx\ty\nmodule\tx\ty\n"
	"functions\tx\ty\ninterval\t-\ncommand\t\"true\"\n"
	"samples\t5\nruns\t1\t1\t1\t1\t1\nns\t7\t7\t7\t7\t7\n"
	"function\tmodule\tcalls1\tcalls2\tcalls3\tcalls4\tcalls5\n"
	"a\t-\t1\t2\t3\t4\t5\nb\tm\t0\t2\t4\t6\t8\nend\t2\n";

static void file_write_text(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		die("%s cannot be written", path);
}

static char *file_text(const char *path)
{
	char *text = alloc(1 << 16, 1);
	FILE *f = fopen(path, "re");

	if (!f || !fread(text, 1, (1 << 16) - 1, f))
		die("%s cannot be read", path);
	fclose(f);
	return text;
}

static void round_trip(const char *what, const struct record *r, const char *path)
{
	struct record again;
	char *problem, *first, *second;

	record_write(path, r);
	first = file_text(path);
	problem = record_read(path, &again);
	result(!problem, "record", what);
	if (problem)
		printf("# %s\n", problem);
	free(problem);
	record_write(path, &again);
	second = file_text(path);
	result(same(first, second) && again.nr == r->nr &&
	       record_runs(&again) == record_runs(r), "record, written again", what);
	record_free(&again);
	free(first);
	free(second);
}

static void test_record_files(const char *path)
{
	struct record r = record_of("calls", "-", "\"true\"");
	char *text;

	for (int i = 0; i < 5; i++)
		add_sample(&r, i + 1, 2 * i, 7);
	round_trip("calls", &r, path);
	text = file_text(path);
	expect_report("a record", text, record_text);
	record_free(&r);

	r = record_of("times", "1.0", "-");
	for (int i = 0; i < 300; i++)
		add_sample(&r, i, 1, 7);
	result(r.nr == 75 && record_runs(&r) == 300 && r.ns[74] == 28 &&
	       r.counts.row[0].cpu[1] == 4 + 5 + 6 + 7 && r.counts.row[0].count == 299 * 150 &&
	       r.counts.row[0].cpu[MOST_SAMPLES + 1] == 2200, "record", "many samples are folded");
	round_trip("times", &r, path);
	record_free(&r);

	/* Of five years each: the sum of 120 such samples would overflow. */
	r = record_of("times", "1.0", "-");
	for (int i = 0; i < 5; i++)
		add_sample(&r, 1000, 1, 160000000 * NSEC);
	round_trip("times of years", &r, path);
	record_free(&r);
}

/* A file is written by its name and by that of a link; before, it is there or not. */
static void test_record_link(const char *path)
{
	struct record r = record_of("calls", "-", "\"true\"");
	char *link = format_string("%s.link", path), target[64] = "";

	add_sample(&r, 1, 2, 7);
	unlink(path);
	if (symlink(strrchr(path, '/') + 1, link))
		die("no link");
	for (int i = 0; i < 2; i++) {
		record_write(link, &r);
		result(readlink(link, target, sizeof(target) - 1) > 0 && !access(path, F_OK),
		       "record", i ? "by a link" : "by a link to a file that is not there yet");
	}
	unlink(link);
	unlink(path);
	free(link);
	record_free(&r);
}

#define VALUE	"a tab and a value were expected, not "
#define ORDER	"the functions have to be in the order of their names, each once"

static void test_wrong_records(const char *path)
{
	/* The text is there in place of this line and the rest. */
	static const struct {
		unsigned int line;
		const char *text;
		const char *problem;
	} cases[] = {
		{ 1, "", "the file is cut off here" },
		{ 1, "funccount\t1", "the file is cut off here" },
		{ 1, "vfs_read\t1\n", "'funccount', " VALUE "'vfs_read\t1'" },
		{ 1, "funccount\n", "'funccount', " VALUE "'funccount'" },
		{ 1, "funccount\t\n", "'funccount', " VALUE "'funccount\t'" },
		{ 1, "funccount\t2\n", "it is of version '2', and this program reads 1" },
		{ 2, "counter\tx\n", "'release', " VALUE "'counter\tx'" },
		{ 8, "", "the file is cut off here" },
		{ 8, "interval\t-\ncommand\t-\n",
		  "either interval or command was expected to be '-'" },
		{ 8, "interval\t1\ncommand\t\"a\"\n",
		  "either interval or command was expected to be '-'" },
		{ 8, "interval\tx\ncommand\t-\n", "'x' is not an interval" },
		{ 10, "samples\tx\n", "5 to 120 samples were expected, not 'x'" },
		{ 10, "samples\t4\n", "5 to 120 samples were expected, not '4'" },
		{ 10, "samples\t121\n", "5 to 120 samples were expected, not '121'" },
		{ 11, "runs\t1\t1\n", "5 numbers were expected, not 2" },
		{ 11, "runs\t1\t1\t1\t1\t0\n", "a number was expected, not '0'" },
		{ 11, "runs\t1\t1\t1\t1\t1\t1\n", "5 numbers were expected, and no more" },
		{ 13, "function\n", "the names of 5 samples' columns were expected" },
		{ 14, "a\n", "a function, a module and numbers were expected" },
		{ 14, "a\t-\t1\n", "5 numbers were expected, not 1" },
		{ 14, "a\t-\t1\t2\t3\t4\t-5\n", "a number was expected, not '-5'" },
		{ 15, "Z\t-\t1\t2\t3\t4\t5\n", ORDER },
		{ 15, "a\t-\t1\t2\t3\t4\t5\n", ORDER },
		{ 16, "", "the file is cut off here" },
		{ 16, "end\t2", "the file is cut off here" },
		{ 15, "end\t2\n", "1 functions came, not '2'" },
		{ 16, "end\t2\n\n", "more follows the end" },
	};
	struct record r;
	char *problem, *text;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *end = record_text;

		for (unsigned int j = 1; j < cases[i].line; j++)
			end = strchr(end, '\n') + 1;
		text = format_string("%.*s%s", (int)(end - record_text), record_text,
				     cases[i].text);
		file_write_text(path, text, strlen(text));
		free(text);
		problem = record_read(path, &r);
		result(problem && same(strstr(problem, ": ") + 2, cases[i].problem), "record",
		       cases[i].problem);
		free(problem);
		record_free(&r);
	}
	file_write_text(path, "funccount\t1\nrelease\t\0\n", 22);
	problem = record_read(path, &r);
	expect_report("a zero byte", problem, "line 2: it has a zero byte");
	record_free(&r);
	problem = record_read(".", &r);
	expect_report("a directory", problem, "line 1: Is a directory");
	record_free(&r);
	unlink(path);
	problem = record_read(path, &r);
	expect_report("no file", problem, "No such file or directory");
	record_free(&r);
}

/* Comparisons */

/* The calls of a function in 30 samples: usual ones, and from @first on @nr others. */
struct shape {
	uint64_t usual;
	uint64_t other;
	size_t first;
	size_t nr;
};

#define ALWAYS(calls)	{ .usual = (calls) }

static struct record series(const struct shape *s)
{
	struct record r = record_of("calls", "-", "\"true\"");

	for (size_t i = 0; i < 30; i++)
		add_sample(&r, 1000, i >= s->first && i < s->first + s->nr ? s->other : s->usual,
			   NSEC);
	return r;
}

/* The table with single spaces, and without the heading. */
static char *differences_of(const struct record *then, const struct record *now)
{
	struct comparison c = compare(then, now);
	char *text = NULL, *from, *to;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	report_differences(f, &c);
	fclose(f);
	free(c.difference);
	to = text;
	for (from = text + strcspn(text, "\n"), from += !!*from; *from; from++) {
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	}
	*to = '\0';
	return text;
}

static void test_series(void)
{
	static const struct {
		const char *what;
		struct shape then;
		struct shape now;
		const char *wanted;
	} cases[] = {
		{ "the same", ALWAYS(1000), ALWAYS(1000), "" },
		{ "one more of 1000", ALWAYS(1000), ALWAYS(1001), "" },
		{ "5 % more", ALWAYS(1000), ALWAYS(1050), "b [m] 1000.0 1050.0 +5.0% 0.6%\n" },
		{ "5 % less", ALWAYS(1050), ALWAYS(1000), "b [m] 1050.0 1000.0 -4.8% 0.6%\n" },
		/* pcpu_block_refresh_hint() did, of the same load. */
		{ "as memory was had, in two records", ALWAYS(1), ALWAYS(3), "" },
		{ "the same, in two others", { 2, 3, 15, 15 }, ALWAYS(1), "" },
		{ "5 % more of 100", ALWAYS(100), ALWAYS(105), "b [m] 100.0 105.0 +5.0% 3.3%\n" },
		{ "a new one", ALWAYS(0), ALWAYS(10), "b [m] 0.0 10.0 new -\n" },
		{ "one that is gone", ALWAYS(100), ALWAYS(0), "b [m] 100.0 0.0 -100.0% 3.0%\n" },
		{ "a call by chance", ALWAYS(0), { 0, 1, 3, 1 }, "" },
		{ "a burst", ALWAYS(1000), { 1000, 1000000, 3, 1 }, "" },
		{ "one that changed meanwhile", ALWAYS(1000), { 1000, 1100, 15, 15 }, "" },
		{ "nothing at all", ALWAYS(0), ALWAYS(0), "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct record then = series(&cases[i].then), now = series(&cases[i].now);

		expect_report(cases[i].what, differences_of(&then, &now), cases[i].wanted);
		record_free(&then);
		record_free(&now);
	}
}

/*
 * A load of FUNCTIONS functions, of all kinds and frequencies. Its pace is another one each time,
 * and drifts in the meantime.
 */
#define FUNCTIONS	4000
#define SAMPLES_MADE	60
#define PLANTED		(FUNCTIONS / 2)

enum kind { ALWAYS_THE_SAME, BY_CHANCE, BY_TIME, DRIFTING, IN_BURSTS, NR_KINDS };

static unsigned short dice[3];

static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += erand48(dice);
	return sum;
}

static uint64_t by_chance(double wanted)
{
	uint64_t nr = 0;

	if (wanted > 50)
		return fmax(0, wanted + sqrt(wanted) * normal());
	for (double p = erand48(dice); p > exp(-wanted); p *= erand48(dice))
		nr++;
	return nr;
}

static uint64_t calls_made(enum kind kind, double usual, double pace, double *drift)
{
	switch (kind) {
	case ALWAYS_THE_SAME:
		/* Parts of a call come by chance. */
		return usual + (usual == floor(usual) ? 0 : erand48(dice));
	case BY_CHANCE:
		return by_chance(usual);
	case BY_TIME:
		return by_chance(usual * pace);
	case DRIFTING:
		*drift = 0.8 * *drift + 0.1 * normal();
		return by_chance(usual * exp(*drift));
	default:
		return erand48(dice) < 0.1 ? by_chance(10 * usual) : 0;
	}
}

/* Runs of a command; or with @intervals those, with less work where the pace is slow. */
static struct record load_made(double more, bool intervals)
{
	struct record r = record_of("calls", intervals ? "1" : "-", intervals ? "-" : "\"a\"");
	double usual_pace = 1 + 0.03 * normal(), slow = 0, pace[SAMPLES_MADE];

	for (r.nr = 0; r.nr < SAMPLES_MADE; r.nr++) {
		slow = 0.8 * slow + 0.01 * normal();
		pace[r.nr] = usual_pace * exp(slow);
		r.runs[r.nr] = 1;
		r.ns[r.nr] = intervals ? NSEC : pace[r.nr] * NSEC;
	}
	for (size_t i = 0; i < FUNCTIONS; i++) {
		double usual = floor(exp(11.0 * (i * 7919 % FUNCTIONS) / FUNCTIONS - 1));
		double drift = 0.17 * normal();
		char *name = format_string("f%04zu", i);
		struct row *row = counts_add(&r.counts, name, NULL, 0, NULL);

		if (i == PLANTED)
			usual = 5000 * more;
		for (size_t j = 0; j < r.nr; j++) {
			row->cpu[j] = calls_made(i % NR_KINDS, intervals ? usual / pace[j] : usual,
						 pace[j], &drift);
			row->count += row->cpu[j];
		}
		free(name);
	}
	return r;
}

static void test_load(bool intervals)
{
	const char *what = intervals ? "intervals of a load" : "runs of a load";
	struct record then = load_made(1, intervals), now = load_made(1.05, intervals);
	char *text = differences_of(&then, &now);

	result(!strncmp(text, "f2000 ", 6) && strchr(text, '\n')[1] == '\0', what,
	       "of all functions the one is found that is called 5 % more");
	printf("# %s", text);
	free(text);
	record_free(&now);
	for (int i = 0; i < 20; i++) {
		now = load_made(1, intervals);
		text = differences_of(&then, &now);
		result(!*text, what, "no false alarm");
		if (*text)
			printf("# %s", text);
		free(text);
		record_free(&now);
	}
	record_free(&then);
}

/* Calls of f00 take @first nanoseconds, those of others 200; in every other sample @slow times. */
static struct record times_made(size_t nr, double first, double slow)
{
	struct record r = record_of("times", "-", "\"a\"");
	struct counts c;

	for (size_t i = 0; i < 30; i++) {
		counts_init(&c, 3);
		for (size_t j = 0; j < nr; j++) {
			uint64_t ns[] = { 1000 * (j ? 200 : first) * (i % 2 ? slow : 1), 0, 0 };
			char *name = format_string("f%02zu", j);

			counts_add(&c, name, NULL, 1000, ns);
			free(name);
		}
		/* It has no time in most of the samples. */
		if (!i)
			counts_add(&c, "rare", NULL, 1, NULL);
		record_add(&r, &c, NSEC);
		counts_free(&c);
	}
	return r;
}

static void compare_times(const char *what, size_t nr, double first, double slow,
			  const char *wanted)
{
	struct record then = times_made(nr, 500, 1.1), now = times_made(nr, first, slow);

	expect_report(what, differences_of(&then, &now), wanted);
	record_free(&then);
	record_free(&now);
}

static void test_times(void)
{
	compare_times("the same times", 30, 500, 1.1, "");
	compare_times("a function takes longer", 30, 530, 1.1, "f00 525.0 556.5 +6.0% 0.5%\n");
	compare_times("all of them do", 30, 500, 1.15, "");
	compare_times("the only one does", 1, 2000, 1.1, "f00 525.0 2100.0 +300.0% 57.2%\n");
}

static void test_comparisons(void)
{
	test_series();
	test_times();
	test_load(false);
	test_load(true);
}

static void test_records(void)
{
	char *path = format_string("/tmp/funccount-test-%d", (int)getpid());

	test_record_files(path);
	test_record_link(path);
	test_wrong_records(path);
	free(path);
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
	test_quantiles();
	test_records();
	test_comparisons();
	test_random();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
