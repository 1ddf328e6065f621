// SPDX-License-Identifier: GPL-2.0
/*
 * The file that a bisection goes on from, also after a crash of the machine.
 *
 *	ftrace-overhead bisect 1
 *	release 6.12.117		these lines are written before the first run
 *	tracer function
 *	timeout 0			nanoseconds
 *	slower 0			billionths
 *	repeat 1
 *	word ./test			the command, a word a line
 *	function vfs_read
 *	function helper [module]
 *	begin 2				how many functions that were
 *	run 3f6c...			before each set: the identity of this boot of the machine
 *	pass 310000000 1		after it: the shortest run in nanoseconds, and how many runs
 *	run 3f6c...
 *	fail 280000000 1
 *	run 3f6c...
 *	void				it was stopped, and does not count
 *
 * Each line is on the disk before anything is traced. A set without an outcome has crashed the
 * machine if that was booted since. If not, only the program was killed, and the set is tried
 * again. An incomplete line at the end is cut off.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect-state.h"
#include "instance.h"
#include "parse.h"
#include "util.h"

#define HEADING		"ftrace-overhead bisect 1"

static int fd = -1;
static char *file, *this_boot;
static bool running;

static void cannot_write(const char *path)
{
	die("%s cannot be written: %s", path, strerror(errno));
}

/* Backslashes and ends of lines are the only characters that need it. */
static void put_word(FILE *f, const char *word)
{
	fputs("word ", f);
	for (; *word; word++) {
		if (*word == '\n')
			fputs("\\n", f);
		else if (*word == '\\')
			fputs("\\\\", f);
		else
			fputc(*word, f);
	}
	fputc('\n', f);
}

static void unescape(char *word)
{
	char *to = word;

	for (; *word; word++) {
		if (*word == '\\' && word[1])
			*to++ = *++word == 'n' ? '\n' : *word;
		else
			*to++ = *word;
	}
	*to = '\0';
}

static void put_plan(FILE *f, const void *data)
{
	const struct plan *plan = data;
	const struct functions *functions = &plan->functions;

	fprintf(f, HEADING "\nrelease %s\ntracer %s\n", plan->release, plan->tracer);
	fprintf(f, "timeout %" PRIu64 "\nslower %" PRIu64 "\nrepeat %" PRIu64 "\n",
		plan->test.timeout, plan->test.slower, plan->test.repeat);
	for (char **word = plan->test.command; *word; word++)
		put_word(f, *word);
	for (size_t i = 0; i < functions->nr; i++) {
		const struct function *function = &functions->function[i];

		fprintf(f, function->module ? "function %s [%s]\n" : "function %s\n",
			function->name, function->module);
	}
	fprintf(f, "begin %zu\n", functions->nr);
}

/* So that a file that was just made is still there after a crash. */
static void sync_directory(const char *path)
{
	char *copy = copy_string(path);
	int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || fsync(dir))
		cannot_write(path);
	close(dir);
	free(copy);
}

static void open_state(const char *path, const char *boot)
{
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		cannot_write(path);
	file = copy_string(path);
	this_boot = copy_string(boot);
}

/**
 * state_create - begin a file
 * @path: the file, which is complete as soon as it is there
 * @plan: the plan that it begins with
 * @boot: the identity of this boot
 */
void state_create(const char *path, const struct plan *plan, const char *boot)
{
	file_replace(path, put_plan, plan);
	sync_directory(path);
	open_state(path, boot);
}

static void append(const char *text)
{
	size_t len = strlen(text);

	if (write(fd, text, len) != (ssize_t)len || fsync(fd))
		cannot_write(file);
}

/**
 * state_begin - a set is about to be tried
 */
void state_begin(void)
{
	char *line = format_string("run %s\n", this_boot);

	append(line);
	free(line);
	running = true;
}

/**
 * state_end - a set was tried
 * @outcome: the result
 */
void state_end(const struct outcome *outcome)
{
	char *line = format_string("%s %" PRIu64 " %" PRIu64 "\n", outcome->fails ? "fail" : "pass",
				   outcome->shortest, outcome->runs);

	running = false;
	append(line);
	free(line);
}

/**
 * state_close - keep the file for another time; a set without an outcome does not count
 */
void state_close(void)
{
	if (fd < 0)
		return;
	if (running)
		append("void\n");
	running = false;
	close(fd);
	fd = -1;
	free(file);
	free(this_boot);
}

/**
 * state_remove - the file is not needed any more
 */
void state_remove(void)
{
	running = false;
	if (fd >= 0 && unlink(file))
		warn("%s cannot be removed: %s", file, strerror(errno));
	state_close();
}

/* Reading */

/* The rest of a line after a word and a space; NULL if it begins differently. */
static char *after(char *line, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(line, word, len) && line[len] == ' ' ? line + len + 1 : NULL;
}

static bool take_function(struct functions *f, char *text)
{
	char *name, *module;

	if (!parse_function(text, &name, &module))
		return false;
	functions_add(f, name, module, 0);
	return true;
}

static void take_word(struct test *test, char *text)
{
	size_t nr = 0;

	while (test->command && test->command[nr])
		nr++;
	unescape(text);
	test->command = grow(test->command, nr + 2, sizeof(*test->command));
	test->command[nr] = copy_string(text);
	test->command[nr + 1] = NULL;
}

/* Returns false if the line does not belong to the plan. */
static bool take_plan_line(struct plan *plan, char *line)
{
	struct test *test = &plan->test;
	char *word = strsep(&line, " ");

	if (!line)
		return false;
	if (!strcmp(word, "timeout"))
		return parse_number(line, UINT64_MAX, &test->timeout);
	if (!strcmp(word, "slower"))
		return parse_number(line, UINT64_MAX, &test->slower);
	if (!strcmp(word, "repeat"))
		return parse_number(line, UINT64_MAX, &test->repeat);
	if (!strcmp(word, "function"))
		return take_function(&plan->functions, line);
	if (!strcmp(word, "release"))
		plan->release = copy_string(line);
	else if (!strcmp(word, "tracer"))
		plan->tracer = copy_string(line);
	else if (!strcmp(word, "word"))
		take_word(test, line);
	else
		return false;
	return true;
}

/* The next line, ended with a zero; NULL if there is no complete one. */
static char *next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

static const char *take_plan(struct plan *plan, char **text)
{
	char *line = next_line(text), *nr;
	uint64_t number;

	if (!line || strcmp(line, HEADING))
		return "it is not the state of a bisection of this version";
	while ((line = next_line(text))) {
		nr = after(line, "begin");
		if (!nr) {
			if (!take_plan_line(plan, line))
				return "it has a line that is not understood";
			continue;
		}
		if (!parse_number(nr, SIZE_MAX, &number) || number != plan->functions.nr ||
		    !number || !plan->test.command || !plan->release || !plan->tracer ||
		    !plan->test.repeat)
			return "it is damaged";
		return NULL;
	}
	return "it is cut off";
}

static void add_outcome(struct history *h, const struct outcome *outcome)
{
	h->outcome = grow(h->outcome, h->nr + 1, sizeof(*h->outcome));
	h->outcome[h->nr++] = *outcome;
}

static bool take_outcome(struct history *h, char *line)
{
	struct outcome o = { };
	char *numbers = after(line, "pass"), *runs;

	if (!numbers) {
		numbers = after(line, "fail");
		o.fails = true;
	}
	runs = numbers ? strchr(numbers, ' ') : NULL;
	if (!runs)
		return false;
	*runs++ = '\0';
	if (!parse_number(numbers, UINT64_MAX, &o.shortest) ||
	    !parse_number(runs, UINT64_MAX, &o.runs))
		return false;
	add_outcome(h, &o);
	return true;
}

/* @boot is that of the run without an outcome, or NULL. */
static const char *take_history(struct history *h, char **text, char **boot)
{
	char *line, *run;

	*boot = NULL;
	while ((line = next_line(text))) {
		run = after(line, "run");
		if (!run == !*boot)
			return "it is damaged";
		if (!run && strcmp(line, "void") && !take_outcome(h, line))
			return "it has a line that is not understood";
		*boot = run;
	}
	return NULL;
}

/**
 * state_load - go on with a file
 * @path: the file
 * @plan: takes the plan that it begins with
 * @history: takes the results so far
 * @boot: the identity of this boot
 *
 * Returns: NULL, or the fault of the file, in words.
 */
const char *state_load(const char *path, struct plan *plan, struct history *history,
		       const char *boot)
{
	static const struct outcome crash = { .fails = true, .runs = 1 };
	/* The file has no zero bytes; the bytes after one that a crash has left are not ours. */
	char *text = file_take(open(path, O_RDONLY | O_CLOEXEC), path), *at = text, *last;
	const char *problem = take_plan(plan, &at);
	bool same;

	if (!problem)
		problem = take_history(history, &at, &last);
	if (problem) {
		free(text);
		return problem;
	}
	same = last && !strcmp(last, boot);
	open_state(path, boot);
	if (ftruncate(fd, at - text))
		cannot_write(path);
	if (same) {
		append("void\n");
	} else if (last) {
		add_outcome(history, &crash);
		history->crashes++;
		state_end(&crash);
	}
	free(text);
	return NULL;
}
