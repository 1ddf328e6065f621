// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that can be traced.
 *
 * A set of them is written to a filter as numbers of lines of available_filter_functions:
 * kernels look up thousands of names in a time that is quadratic. The numbers change when
 * modules come and go, so bisect looks them up again then. A function is known by its name, its
 * module, and which of those of one name it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "functions.h"
#include "instance.h"
#include "parse.h"
#include "util.h"

#define FILTER		"set_ftrace_filter"
/* Kernels give this name to functions that are no more, but have a line. */
#define INVALID		"__ftrace_invalid_address__"

/**
 * functions_add - add a function
 * @f: the list
 * @name: as in struct function
 * @module: as in struct function
 * @number: as in struct function
 */
void functions_add(struct functions *f, const char *name, const char *module,
		   unsigned int number)
{
	/* The sizes for which there is room are the powers of two. */
	if (!(f->nr & (f->nr - 1)))
		f->function = grow(f->function, f->nr ? 2 * f->nr : 1, sizeof(*f->function));
	f->function[f->nr++] = (struct function){
		.name = copy_string(name),
		.module = module ? copy_string(module) : NULL,
		.number = number,
	};
}

static void function_free(struct function *f)
{
	free(f->name);
	free(f->module);
}

/**
 * functions_free - free a list
 * @f: the list, which is empty then
 */
void functions_free(struct functions *f)
{
	for (size_t i = 0; i < f->nr; i++)
		function_free(&f->function[i]);
	free(f->function);
	*f = (struct functions){ };
}

/**
 * functions_parse - the functions of available_filter_functions
 * @f: takes them
 * @text: the text of the file; changed
 */
void functions_parse(struct functions *f, char *text)
{
	unsigned int number = 0;
	char *line, *name, *module;

	while ((line = strsep(&text, "\n"))) {
		number++;
		if (parse_function(line, &name, &module) &&
		    strncmp(name, INVALID, strlen(INVALID)))
			functions_add(f, name, module, number);
	}
}

static bool matches(const struct globs *globs, const char *name)
{
	for (size_t i = 0; i < globs->nr; i++) {
		if (!fnmatch(globs->glob[i], name, 0))
			return true;
	}
	return false;
}

/* A glob that matches nothing is taken for a mistake. */
static void check_globs(const struct functions *f, const struct globs *globs)
{
	for (size_t i = 0; i < globs->nr; i++) {
		struct globs one = { .glob = &globs->glob[i], .nr = 1 };
		size_t j = 0;

		while (j < f->nr && !matches(&one, f->function[j].name))
			j++;
		if (j == f->nr)
			die("no function matches '%s'", globs->glob[i]);
	}
}

/**
 * functions_choose - leave those that are wanted
 * @f: the list
 * @with: the globs that they match
 * @without: the globs that they do not match
 *
 * Ends the program if no function is left, or if one of the globs matches nothing.
 */
void functions_choose(struct functions *f, const struct globs *with, const struct globs *without)
{
	size_t nr = 0;

	check_globs(f, with);
	check_globs(f, without);
	for (size_t i = 0; i < f->nr; i++) {
		struct function *function = &f->function[i];

		if ((with->nr && !matches(with, function->name)) ||
		    matches(without, function->name))
			function_free(function);
		else
			f->function[nr++] = *function;
	}
	f->nr = nr;
	if (!nr)
		die("no function is left to be traced");
}

static int function_cmp(const void *x, const void *y)
{
	const struct function *a = x, *b = y;
	int ret = strcmp(a->name, b->name);

	return ret ? ret : string_cmp(a->module, b->module);
}

/**
 * functions_sort - sort a list by names and modules, as functions_find() needs it
 * @f: the list
 */
void functions_sort(struct functions *f)
{
	if (f->nr)
		qsort(f->function, f->nr, sizeof(*f->function), function_cmp);
}

/**
 * functions_find - the functions that share a name and a module
 * @f: the list, sorted
 * @name: the name
 * @module: the module; NULL for the kernel itself
 * @nr: takes how many they are
 *
 * Returns: the first of them, which the others follow; NULL if there is no such function.
 */
struct function *functions_find(const struct functions *f, const char *name, const char *module,
				size_t *nr)
{
	struct function key = { .name = (char *)name, .module = (char *)module }, *first;

	*nr = 0;
	first = f->nr ? bsearch(&key, f->function, f->nr, sizeof(key), function_cmp) : NULL;
	if (!first)
		return NULL;
	while (first > f->function && !function_cmp(first - 1, &key))
		first--;
	while (first + *nr < f->function + f->nr && !function_cmp(first + *nr, &key))
		++*nr;
	return first;
}

/* Where they are one and the same, the order of the list is kept: they are elements of it. */
static int place_cmp(const void *x, const void *y)
{
	const struct function *a = *(struct function *const *)x, *b = *(struct function *const *)y;
	int ret = function_cmp(a, b);

	return ret ? ret : (a > b) - (a < b);
}

static struct function **sorted(const struct functions *f)
{
	struct function **place = alloc(f->nr, sizeof(*place));

	for (size_t i = 0; i < f->nr; i++)
		place[i] = &f->function[i];
	qsort(place, f->nr, sizeof(*place), place_cmp);
	return place;
}

/**
 * functions_number - give the functions the numbers that they have now
 * @f: the functions
 * @there: those that there are
 *
 * Returns: one that is not there; NULL if all are.
 */
const struct function *functions_number(struct functions *f, const struct functions *there)
{
	struct function **want = sorted(f), **have = sorted(there);
	const struct function *missing = NULL;
	size_t j = 0;

	for (size_t i = 0; i < f->nr && !missing; i++) {
		while (j < there->nr && function_cmp(have[j], want[i]) < 0)
			j++;
		if (j == there->nr || function_cmp(have[j], want[i]))
			missing = want[i];
		else
			want[i]->number = have[j++]->number;
	}
	free(want);
	free(have);
	return missing;
}

/**
 * functions_read - the functions that can be traced now
 * @f: an empty list, which takes them
 */
void functions_read(struct functions *f)
{
	char *text = file_read(NULL, AVAILABLE);

	functions_parse(f, text);
	free(text);
}

/* The modules and where they are: the numbers are the same as long as these are. */
static char *loaded_modules(void)
{
	FILE *f = fopen("/proc/modules", "re");
	char *text = copy_string(""), *line = NULL, *more;
	char name[64], state[16], where[32];
	size_t size = 0;

	/* There is no such file on a kernel that has no modules. */
	while (f && getline(&line, &size, f) > 0) {
		/* While one is loading, its init functions have numbers, too. */
		if (sscanf(line, "%63s %*s %*s %*s %15s %31s", name, state, where) != 3)
			continue;
		more = format_string("%s%s %s %s\n", text, name, state, where);
		free(text);
		text = more;
	}
	free(line);
	if (f)
		fclose(f);
	return text;
}

static void update_numbers(struct functions *f)
{
	static char *modules;
	char *now = loaded_modules();
	struct functions there = { };
	const struct function *missing;

	if (modules && !strcmp(modules, now)) {
		free(now);
		return;
	}
	free(modules);
	modules = now;
	functions_read(&there);
	missing = functions_number(f, &there);
	if (missing && missing->module)
		die("function %s of module %s is not there any more: load it, and use --resume",
		    missing->name, missing->module);
	if (missing)
		die("function %s is not there any more: is this the same kernel?", missing->name);
	functions_free(&there);
}

/**
 * functions_trace - have an instance trace some functions, once a tracer is set there
 * @instance: the instance
 * @f: the functions
 * @set: places in @f of those that are wanted
 * @nr: how many they are; not 0, since no filter means all
 */
void functions_trace(struct tracefs_instance *instance, struct functions *f,
		     const unsigned int *set, size_t nr)
{
	char word[16];
	int fd, err;

	update_numbers(f);
	fd = tracefs_instance_file_open(instance, FILTER, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		die(FILTER " cannot be opened: %s", strerror(errno));
	for (size_t i = 0; i < nr; i++) {
		int len = sprintf(word, "%u ", f->function[set[i]].number);

		/* A write takes one word, and its end. */
		if (write(fd, word, len) < 0) {
			err = errno;
			close(fd);
			die("function %s, number %s, cannot be written to " FILTER ": %s",
			    f->function[set[i]].name, word, strerror(err));
		}
	}
	if (close(fd))
		die(FILTER " cannot be written: %s", strerror(errno));
}
