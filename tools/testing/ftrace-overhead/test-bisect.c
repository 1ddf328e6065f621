// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the parts of ftrace-overhead bisect that need no kernel.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect-run.h"
#include "bisect-search.h"
#include "bisect-state.h"
#include "result.h"
#include "signals.h"
#include "util.h"

const char * const program_name = "test-bisect";

#define FILE_NAME		"bisect.state"
#define MOST_CULPRITS		8

/* The search */

/* A test that fails if all of one group of functions are traced. */
struct planted {
	unsigned int group[2][MOST_CULPRITS];
	size_t nr[2];
	bool sorted;
};

static bool has(const unsigned int *set, size_t nr, unsigned int function)
{
	for (size_t i = 0; i < nr; i++) {
		if (set[i] == function)
			return true;
	}
	return false;
}

static bool group_fails(const struct planted *p, int group, const unsigned int *set, size_t nr)
{
	for (size_t i = 0; i < p->nr[group]; i++) {
		if (!has(set, nr, p->group[group][i]))
			return false;
	}
	return p->nr[group];
}

static bool planted_fails(struct bisect_search *search, const unsigned int *set, size_t nr)
{
	struct planted *p = search->data;

	for (size_t i = 1; i < nr; i++)
		p->sorted &= set[i - 1] < set[i];
	p->sorted &= !nr || set[nr - 1] < search->nr;
	return group_fails(p, 0, set, nr) || group_fails(p, 1, set, nr);
}

static enum bisect_result search_for(struct bisect_search *search, struct planted *p, size_t nr)
{
	p->sorted = true;
	*search = (struct bisect_search){
		.nr = nr, .most = MOST_CULPRITS, .fails = planted_fails, .data = p,
	};
	return bisect_search(search);
}

static unsigned int log2_down(size_t n)
{
	unsigned int log = 0;

	while (n >>= 1)
		log++;
	return log;
}

static bool is_group(const struct bisect_search *search, const struct planted *p, int group)
{
	return search->nr_found == p->nr[group] &&
	       group_fails(p, group, search->found, search->nr_found);
}

/* Whether one culprit is found, in as few steps as is promised. */
static bool finds_one(size_t nr, unsigned int culprit)
{
	struct planted p = { .group = { { culprit } }, .nr = { 1 } };
	struct bisect_search search;
	bool ok = search_for(&search, &p, nr) == BISECT_FOUND && is_group(&search, &p, 0) &&
		  p.sorted && search.rest_passes && search.steps <= log2_down(nr) + 5 &&
		  search.about >= search.steps;

	if (!ok)
		printf("# %u of %zu: %zu found, %u steps\n", culprit, nr, search.nr_found,
		       search.steps);
	free(search.found);
	return ok;
}

static void test_one(void)
{
	static const size_t sizes[] = { 4095, 4096, 4097, 22163, 32768, 32769, 50000 };
	unsigned int seed = 1;
	bool ok = true;

	for (size_t nr = 1; nr <= 130; nr++) {
		for (unsigned int i = 0; i < nr; i++)
			ok &= finds_one(nr, i);
	}
	result(ok, "one culprit", "each of up to 130 functions, in log2(n) + 5 steps");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *text = format_string("first, last and 20 others of %zu", sizes[i]);

		ok = finds_one(sizes[i], 0) && finds_one(sizes[i], sizes[i] - 1);
		for (unsigned int j = 0; j < 20; j++)
			ok &= finds_one(sizes[i], rand_r(&seed) % sizes[i]);
		result(ok, "one culprit", text);
		free(text);
	}
}

static void test_several(void)
{
	unsigned int seed = 2;

	for (size_t nr = 2; nr <= 5; nr++) {
		char *text = format_string("%zu that fail together only", nr);
		unsigned int most = 0;
		bool ok = true;

		for (unsigned int round = 0; round < 200; round++) {
			unsigned int large = 1000 + rand_r(&seed) % 20000;
			unsigned int n = round < 100 ? 6 + round % 20 : large;
			struct planted p = { .nr = { nr } };
			struct bisect_search search;

			for (size_t i = 0; i < nr; ) {
				unsigned int f = rand_r(&seed) % n;

				if (!has(p.group[0], i, f))
					p.group[0][i++] = f;
			}
			ok &= search_for(&search, &p, n) == BISECT_FOUND && p.sorted &&
			      is_group(&search, &p, 0) && search.rest_passes &&
			      search.steps <= (nr + 1) * (log2_down(n) + 2) + nr + 4;
			if (search.steps > most)
				most = search.steps;
			free(search.found);
		}
		result(ok, "several culprits", text);
		printf("# %u steps at most\n", most);
		free(text);
	}
}

static void test_two_groups(void)
{
	struct planted p = { .group = { { 70 }, { 3, 900 } }, .nr = { 1, 2 } };
	struct bisect_search search;
	bool ok = search_for(&search, &p, 1000) == BISECT_FOUND;

	result(ok && is_group(&search, &p, 0) && !search.rest_passes, "two groups",
	       "one is found, and that there is another");
	free(search.found);
}

static bool nothing_but(enum bisect_result wanted, struct planted *p, unsigned int steps)
{
	struct bisect_search search;
	bool ok = search_for(&search, p, 1000) == wanted && search.steps == steps &&
		  (wanted == BISECT_TOO_MANY || !search.nr_found);

	free(search.found);
	return ok;
}

static bool always(struct bisect_search *search, const unsigned int *set, size_t nr)
{
	(void)search;
	(void)set;
	(void)nr;
	return true;
}

/* Fails at random. */
static bool sometimes(struct bisect_search *search, const unsigned int *set, size_t nr)
{
	unsigned int *seed = search->data;

	(void)set;
	return nr && (nr == search->nr || rand_r(seed) % 2);
}

static void test_others(void)
{
	struct planted none = { }, many = { .nr = { MOST_CULPRITS } };
	struct bisect_search search = { .nr = 100, .fails = always };
	bool ok = true;

	result(nothing_but(BISECT_PASSES, &none, 2), "search", "nothing fails: two steps");
	result(bisect_search(&search) == BISECT_FAILS_ALWAYS && search.steps == 1, "search",
	       "it fails always: one step");
	free(search.found);
	for (unsigned int i = 0; i < MOST_CULPRITS; i++)
		many.group[0][i] = 10 * i;
	search = (struct bisect_search){
		.nr = 1000, .most = MOST_CULPRITS - 1, .fails = planted_fails, .data = &many,
	};
	result(bisect_search(&search) == BISECT_TOO_MANY, "search", "more than are allowed");
	free(search.found);
	search.most++;
	search.steps = 0;
	result(bisect_search(&search) == BISECT_FOUND && is_group(&search, &many, 0), "search",
	       "as many as are allowed");
	free(search.found);
	for (unsigned int seed = 0; seed < 500; seed++) {
		unsigned int s = seed;

		search = (struct bisect_search){
			.nr = 64, .most = 64, .fails = sometimes, .data = &s,
		};
		ok &= bisect_search(&search) == BISECT_FOUND && search.nr_found;
		free(search.found);
	}
	result(ok, "search", "one that fails at random comes to an end, too");
}

/* The state */

static char *words[] = { "sh", "-c", "echo \\n a\nb\\", "", NULL };

static void plan_init(struct plan *plan)
{
	*plan = (struct plan){
		.release = "6.12.1", .tracer = "function",
		.test = { .command = words, .timeout = 5, .slower = 6, .repeat = 7 },
	};
	functions_add(&plan->functions, "vfs_read", NULL, 3);
	functions_add(&plan->functions, "vfs_read", NULL, 4);
	functions_add(&plan->functions, "helper", "mod", 5);
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
	size_t i;

	if (strcmp(a->release, b->release) || strcmp(a->tracer, b->tracer) ||
	    a->test.timeout != b->test.timeout || a->test.slower != b->test.slower ||
	    a->test.repeat != b->test.repeat || a->functions.nr != b->functions.nr)
		return false;
	for (i = 0; a->test.command[i] && b->test.command[i]; i++) {
		if (strcmp(a->test.command[i], b->test.command[i]))
			return false;
	}
	if (a->test.command[i] || b->test.command[i])
		return false;
	for (i = 0; i < a->functions.nr; i++) {
		struct function *f = &a->functions.function[i], *g = &b->functions.function[i];

		if (strcmp(f->name, g->name) || !f->module != !g->module ||
		    (f->module && strcmp(f->module, g->module)))
			return false;
	}
	return true;
}

static void plan_free(struct plan *plan)
{
	functions_free(&plan->functions);
	free(plan->release);
	free(plan->tracer);
	for (char **word = plan->test.command; word && *word; word++)
		free(*word);
	free(plan->test.command);
}

/* Loads the file; the outcomes as letters, C for a crash. NULL if the file is refused. */
static const char *loaded(const char *boot, const struct plan *wanted)
{
	static char letters[32];
	struct history h = { };
	struct plan plan = { };
	const char *problem = state_load(FILE_NAME, &plan, &h, boot);
	size_t i;

	for (i = 0; i < h.nr && i < sizeof(letters) - 1; i++)
		letters[i] = h.outcome[i].fails ? h.outcome[i].shortest ? 'F' : 'C' : 'P';
	letters[i] = '\0';
	if (!problem && wanted && !same_plan(&plan, wanted))
		problem = "another plan";
	state_close();
	plan_free(&plan);
	free(h.outcome);
	return problem ? NULL : letters;
}

static bool is(const char *text, const char *wanted)
{
	bool ok = text && wanted ? !strcmp(text, wanted) : text == wanted;

	if (!ok)
		printf("# wanted %s, got %s\n", wanted ?: "nothing", text ?: "nothing");
	return ok;
}

static void test_state(void)
{
	struct outcome pass = { .shortest = 9, .runs = 1 };
	struct outcome fail = { .shortest = 8, .runs = 2, .fails = true };
	struct plan plan;

	plan_init(&plan);
	state_create(FILE_NAME, &plan, "boot1");
	state_begin();
	state_end(&pass);
	state_begin();
	state_end(&fail);
	state_close();
	result(is(loaded("boot1", &plan), "PF"), "state", "it is read as it was written");
	state_create(FILE_NAME, &plan, "boot1");
	state_begin();
	state_end(&pass);
	state_begin();
	state_close();
	result(is(loaded("boot2", &plan), "P"), "state", "a set that was stopped does not count");

	state_create(FILE_NAME, &plan, "boot1");
	state_begin();
	state_end(&pass);
	state_begin();
	/* As if it was killed: nothing is added. */
	if (rename(FILE_NAME, FILE_NAME ".kept"))
		die("no file");
	state_remove();
	if (rename(FILE_NAME ".kept", FILE_NAME))
		die("no file");
	result(is(loaded("boot1", &plan), "P"), "state", "killed in the same boot: tried again");
	state_create(FILE_NAME, &plan, "boot1");
	state_begin();
	if (rename(FILE_NAME, FILE_NAME ".kept"))
		die("no file");
	state_remove();
	if (rename(FILE_NAME ".kept", FILE_NAME))
		die("no file");
	result(is(loaded("boot2", &plan), "C"), "state", "the machine has crashed: it fails");
	result(is(loaded("boot3", &plan), "C"), "state", "and that is remembered");
	functions_free(&plan.functions);
	unlink(FILE_NAME);
}

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(FILE_NAME, "w");

	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		die("no file");
}

#define PLAN	"ftrace-overhead bisect 1\nrelease 6\ntracer function\ntimeout 0\nslower 0\n"	\
		"repeat 1\nword true\nfunction a\nbegin 1\n"

static void test_files(void)
{
	static const struct {
		const char *what, *text, *wanted;
	} cases[] = {
		{ "nothing was run", PLAN, "" },
		{ "a run", PLAN "run 1\nfail 5 1\n", "F" },
		{ "an outcome that is cut off", PLAN "run 1\npass 5 1\nrun 1\nfail 5", "P" },
		{ "a run that is cut off", PLAN "run 1\npass 5 1\nru", "P" },
		{ "empty", "", NULL },
		{ "another file", "hello\n", NULL },
		{ "another version", "ftrace-overhead bisect 2\n", NULL },
		{ "a word that is not known", PLAN "jump 1\n", NULL },
		{ "an outcome without a run", PLAN "pass 5 1\n", NULL },
		{ "two runs", PLAN "run 1\nrun 1\n", NULL },
		{ "no number", PLAN "run 1\npass x 1\n", NULL },
		{ "one number", PLAN "run 1\npass 1\n", NULL },
		{ "another number of functions",
		  "ftrace-overhead bisect 1\nrelease 6\ntracer function\nrepeat 1\nword true\n"
		  "function a\nbegin 2\n", NULL },
		{ "no command",
		  "ftrace-overhead bisect 1\nrelease 6\ntracer function\nrepeat 1\n"
		  "function a\nbegin 1\n", NULL },
		{ "a line without a word", "ftrace-overhead bisect 1\nrelease\n", NULL },
	};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_file(cases[i].text, strlen(cases[i].text));
		result(is(loaded("1", NULL), cases[i].wanted), "file", cases[i].what);
	}
	for (size_t len = 0; len < strlen(PLAN); len++) {
		write_file(PLAN, len);
		ok &= !loaded("1", NULL);
	}
	result(ok, "file", "a plan that is cut off anywhere is refused");
	write_file(PLAN "run 1\npass 5 1\n\0\0\0run 1\n", strlen(PLAN) + 15 + 9);
	result(is(loaded("1", NULL), "P"), "file", "zero bytes at the end");
	unlink(FILE_NAME);
}

/* The functions */

static struct functions parsed(const char *text)
{
	struct functions f = { };
	char *copy = copy_string(text);

	functions_parse(&f, copy);
	free(copy);
	return f;
}

static void numbers(const char *what, const char *there, const char *wanted)
{
	struct functions f = parsed("b\na\nb\na [m]\n"), now = parsed(there);
	const struct function *missing = functions_number(&f, &now);
	char *text = missing ? format_string("no %s [%s]", missing->name, missing->module ?: "") :
			       format_string("%u %u %u %u", f.function[0].number,
					     f.function[1].number, f.function[2].number,
					     f.function[3].number);

	result(is(text, wanted), "numbers", what);
	free(text);
	functions_free(&f);
	functions_free(&now);
}

static void test_functions(void)
{
	struct globs with = { (char *[]){ "a*" }, 1 }, without = { (char *[]){ "?b" }, 1 };
	struct functions f = parsed("a\nab\nb\n__ftrace_invalid_address___16\nac [m]\n");

	result(f.nr == 4 && f.function[3].number == 5, "functions", "one that is none has a line");
	functions_choose(&f, &with, &without);
	result(f.nr == 2 && !strcmp(f.function[0].name, "a") && f.function[1].number == 5 &&
	       !strcmp(f.function[1].module, "m"), "functions", "globs");
	functions_free(&f);
	numbers("the same", "b\na\nb\na [m]\n", "1 2 3 4");
	numbers("others before", "x [n]\nb\nc\na\nb\nc\na [m]\n", "2 4 5 7");
	numbers("a module is gone", "b\na\nb\na\n", "no a [m]");
	numbers("one of two is gone", "b\na\na [m]\n", "no b []");
	numbers("all are gone", "", "no a []");
}

/* The runs */

static void test_runs(void)
{
	static const struct {
		char *command;
		const char *why;
	} cases[] = {
		{ "exit 0", "" },
		{ "exit 1", "status 1" },
		{ "exit 200", "status 200" },
		{ "kill -9 $$", "ended by signal 9" },
		{ "sleep 9", "takes too long" },
	};

	signals_hold();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct test test = {
			.command = (char *[]){ "sh", "-c", cases[i].command, NULL },
			.timeout = NSEC, .repeat = 1,
		};
		struct outcome o;

		result(test_run(&test, 0, &o) && o.fails == !!*cases[i].why &&
		       is(o.why, cases[i].why), "run", cases[i].command);
	}
}

int main(void)
{
	test_one();
	test_several();
	test_two_groups();
	test_others();
	test_state();
	test_files();
	test_functions();
	test_runs();
	return closing();
}
