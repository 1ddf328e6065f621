// SPDX-License-Identifier: GPL-2.0
/*
 * The words that ftrace-overhead writes to tracefs to switch the tracing set up there, and its
 * reading of that setup: with a directory of plain files instead of a tracefs. And which CPUs it
 * sees.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpus.h"
#include "functions.h"
#include "instance.h"
#include "result.h"
#include "saved.h"
#include "setup.h"
#include "util.h"

const char * const program_name = "test-setup";

#define TRACEFS	"tracefs"

/* Some versions of the library look for files elsewhere than in the directory they are told. */
bool tracefs_file_exists(struct tracefs_instance *instance, const char *name)
{
	char *path = format_string(TRACEFS "/%s", name);
	bool there = !access(path, F_OK);

	(void)instance;
	free(path);
	return there;
}

static void file_make(const char *file, const char *text)
{
	char *path = format_string(TRACEFS "/%s", file);
	FILE *f;

	/* All directories on the way to it. */
	for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			die("%s cannot be made: %s", path, strerror(errno));
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) == EOF || fclose(f))
		die("%s cannot be written: %s", path, strerror(errno));
	free(path);
}

/* A write to a plain file does not cut off its old end. */
static bool begins(const char *file, const char *wanted)
{
	char *text = file_read(NULL, file);
	bool ok = !strncmp(text, wanted, strlen(wanted));

	if (!ok)
		printf("# %s: wanted %s, got %s\n", file, wanted, text);
	free(text);
	return ok;
}

static void test_find(void)
{
	static const struct {
		const char *name, *module;
		bool traced;
	} asked[] = {
		{ "a", NULL, true }, { "b", NULL, true }, { "c", "m", true }, { "a", "?", true },
		{ "x*", NULL, true },
		{ "d", NULL, false }, { "c", NULL, false }, { "a", "m", false },
		{ "e", NULL, false }, { "zz", "z", false },
	};
	struct functions none = { };
	size_t nr = 1;

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		result(setup_traces(asked[i].name, asked[i].module) == asked[i].traced,
		       asked[i].traced ? "traced" : "not traced", asked[i].name);
	}
	functions_sort(&none);
	result(!functions_find(&none, "a", NULL, &nr) && !nr, "not found", "in an empty list");
}

static void items_free(struct items *items)
{
	for (size_t i = 0; i < items->nr; i++) {
		free(items->item[i].name);
		free(items->item[i].where);
	}
	free(items->item);
}

static void leave_out(struct items *items, enum item_kind kind, const char *name,
		      const char *where)
{
	items_add(items, kind, name, where)->off = true;
}

static void test_switches(void)
{
	struct items items = { };

	leave_out(&items, ITEM_FUNCTION, "b", NULL);
	leave_out(&items, ITEM_EVENT, "e", "s");
	leave_out(&items, ITEM_FUNCTION, "c", "m");
	leave_out(&items, ITEM_FUNCTION, "d", NULL);
	items_add(&items, ITEM_FUNCTION, "a", NULL);
	items_add(&items, ITEM_EVENT, "f", "s");
	setup_on(&items);
	/*
	 * Those that share a name come in any order. A line that is no function has a number, too.
	 */
	result(begins("set_ftrace_notrace", "d:mod:!* w*:mod:later 1 3 4 6 ") ||
	       begins("set_ftrace_notrace", "d:mod:!* w*:mod:later 3 1 4 6 "),
	       "on", "functions are left out by their numbers, beside what was there");
	result(begins("events/s/e/enable", "0") && begins("events/s/f/enable", "1"), "on",
	       "the events");
	result(begins("current_tracer", "function"), "on", "the tracer");
	setup_try_line(&items);
	result(begins("set_ftrace_notrace", "d:mod:!* w*:mod:later b c:mod:m d "), "the line",
	       "names, as a user has them");
	setup_off();
	result(begins("current_tracer", "nop") && begins("events/s/e/enable", "0") &&
	       begins("events/s/f/enable", "0"), "off", "the tracer and the events");
	saved_set_events(true);
	result(begins("events/s/e/enable", "1") && begins("events/s/f/enable", "1"), "events",
	       "those that were saved");
	items_free(&items);
}

static void test_events(void)
{
	result(event_set(NULL, "s", NULL, true, NULL) && begins("events/s/enable", "1") &&
	       begins("events/s/e/enable", "1"), "events", "all of a system");
	result(!event_set(NULL, "s", "none", true, NULL) && errno == ENOENT, "events",
	       "one that is not there");
}

/* As /sys has them on a machine whose numbers have gaps. */
static void test_cpus(void)
{
	static const unsigned int wanted[] = { 0, 1, 2, 3, 8, 10, 11 };
	int fd = memfd_create("cpus", 0);
	char *path = format_string("/proc/self/fd/%d", fd);
	unsigned int *there, nr;

	if (dprintf(fd, "0-3,8,10-11\n") < 0)
		die("no file");
	there = cpus_read(path, &nr);
	result(nr == ARRAY_SIZE(wanted) && !memcmp(there, wanted, sizeof(wanted)), "CPUs",
	       "numbers with gaps");
	close(fd);
	free(there);
	free(path);
}

int main(void)
{
	file_make("available_filter_functions",
		  "b\na\nb\nc [m]\n__ftrace_invalid_address___8\nd\n");
	file_make("available_tracers", "function nop\n");
	file_make("current_tracer", "nop\n");
	file_make("set_ftrace_filter", "#### all functions enabled ####\n");
	file_make("set_ftrace_notrace", "d\nw*:mod:later\n");
	file_make("tracing_on", "1\n");
	file_make("events/s/enable", "0\n");
	file_make("events/s/e/enable", "1\n");
	file_make("events/s/e/id", "12\n");
	file_make("events/s/f/enable", "1\n");
	file_make("events/s/f/id", "13\n");
	if (tracefs_set_tracing_dir(TRACEFS))
		die("out of memory");
	saved = (struct saved){ "nop", "0", "d\nw*:mod:later\n", "s:e\n*:*:mod:later\ns:f\n" };
	setup_find(NULL);
	result(!strcmp(setup.tracer, "nop") && !setup.nr_functions, "set up",
	       "events, and no tracer");
	items_free(&setup.events);
	free(setup.tracer);
	setup = (struct setup){ };
	setup_find("function");
	result(setup.nr_functions == 4, "set up", "the functions that the filters let through");
	result(setup.events.nr == 2 && setup.events.item[1].id == 13, "set up", "the events");
	test_find();
	test_switches();
	test_events();
	test_cpus();
	return closing();
}
