// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions and tasks an instance traces.
 *
 * The kernel matches the globs. It takes all of them in one go when the file is closed, so
 * a filter is either as it was, or as it is wanted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "instance.h"
#include "parse.h"
#include "util.h"

#define FILTER	"set_ftrace_filter"

/**
 * filter_is_all - whether every function is wanted, also of modules to come
 * @wanted: the functions that are wanted
 *
 * Returns: true if the filter is to stay empty.
 */
bool filter_is_all(const struct wanted *wanted)
{
	if (wanted->module)
		return false;
	for (size_t i = 0; i < wanted->nr_globs; i++) {
		if (!strcmp(wanted->glob[i], "*"))
			return true;
	}
	return false;
}

static char *describe(const struct wanted *wanted, const char *glob)
{
	if (wanted->module)
		return format_string("no function of module '%s' matches '%s'", wanted->module,
				     glob);
	return format_string("no function matches '%s'", glob);
}

/* The kernel's own words, if it has any: an instance of our own has no older ones. */
static void refused(struct tracefs_instance *instance, const struct wanted *wanted,
		    const char *glob, int err)
{
	char *log, *why;

	if (err != EINVAL)
		die("'%s' cannot be written to " FILTER ": %s", glob, strerror(err));
	log = instance ? tracefs_error_last(instance) : NULL;
	why = log ? parse_error(log) : NULL;
	die("%s%s%s%s", describe(wanted, glob), why ? " (" : "", why ? why : "", why ? ")" : "");
}

/**
 * filter_set - choose the functions
 * @instance: the instance; NULL for the top one
 * @wanted: the functions that are wanted
 *
 * Ends the program if a glob matches nothing.
 */
void filter_set(struct tracefs_instance *instance, const struct wanted *wanted)
{
	int fd;

	if (filter_is_all(wanted))
		return;
	fd = tracefs_instance_file_open(instance, FILTER, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		die(FILTER " cannot be opened: %s", strerror(errno));
	for (size_t i = 0; i < wanted->nr_globs; i++) {
		char *word = wanted->module ?
			format_string("%s:mod:%s ", wanted->glob[i], wanted->module) :
			format_string("%s ", wanted->glob[i]);

		/* The space ends the word, and has the kernel look at it now. */
		if (write(fd, word, strlen(word)) < 0) {
			int err = errno;

			/* An instance with an open file cannot be removed. */
			close(fd);
			refused(instance, wanted, wanted->glob[i], err);
		}
		free(word);
	}
	if (close(fd))
		die(FILTER " cannot be written: %s", strerror(errno));
}

/* A word for a module that is not there yet is kept by the kernel for later. */
static void check_module_globs(const struct wanted *wanted, const struct counts *functions)
{
	for (size_t i = 0; i < wanted->nr_globs; i++) {
		size_t j = 0;

		while (j < functions->nr && fnmatch(wanted->glob[i], functions->row[j].name, 0))
			j++;
		if (j == functions->nr)
			die("%s", describe(wanted, wanted->glob[i]));
	}
}

/**
 * filter_functions - the functions that are traced
 * @instance: the instance, after filter_set(); NULL for the top one
 * @wanted: the functions that are wanted
 * @functions: an empty table, which takes them in the order of their names
 *
 * Ends the program without such a function.
 */
void filter_functions(struct tracefs_instance *instance, const struct wanted *wanted,
		      struct counts *functions)
{
	bool all = filter_is_all(wanted);
	char *text = file_read(all ? NULL : instance, all ? "available_filter_functions" : FILTER);
	char *line, *next = text, *name, *module;

	while ((line = strsep(&next, "\n"))) {
		if (parse_function(line, &name, &module))
			counts_add(functions, name, module, 0, NULL);
	}
	free(text);
	if (wanted->module)
		check_module_globs(wanted, functions);
	if (!functions->nr)
		die("%s", describe(wanted, wanted->glob[0]));
	counts_merge(functions);
}

/* Adds the threads of a process to the list, and returns how many there are. */
static size_t add_threads(struct tracefs_instance *instance, pid_t pid)
{
	char *path = format_string("/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t nr = 0;

	if (!dir)
		die("process %d: %s", (int)pid, strerror(errno == ENOENT ? ESRCH : errno));
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		file_set(instance, "set_ftrace_pid", entry->d_name);
		nr++;
	}
	closedir(dir);
	free(path);
	return nr;
}

/**
 * filter_set_pids - choose the tasks, if not all are wanted
 * @instance: the instance
 * @wanted: the tasks that are wanted
 *
 * The children of these tasks are traced, too.
 */
void filter_set_pids(struct tracefs_instance *instance, const struct wanted *wanted)
{
	if (!wanted->nr_pids)
		return;
	/* Before the tasks are known: a child of theirs is then either listed or followed. */
	file_set(instance, "options/function-fork", "1");
	for (size_t i = 0; i < wanted->nr_pids; i++) {
		size_t nr = 0, before;

		/* A thread that was not listed yet may have started one while we looked. */
		do {
			before = nr;
			nr = add_threads(instance, wanted->pid[i]);
		} while (nr > before);
	}
}
