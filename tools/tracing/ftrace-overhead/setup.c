// SPDX-License-Identifier: GPL-2.0
/*
 * The tracing that is set up in the top instance, and its switches.
 *
 * Off means the tracer nop and no event. Functions are left out with set_ftrace_notrace,
 * beside its own functions. They are written as numbers (see functions.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "functions.h"
#include "instance.h"
#include "parse.h"
#include "saved.h"
#include "setup.h"
#include "util.h"

#define FILTER		"set_ftrace_filter"
#define NOTRACE		"set_ftrace_notrace"
#define TRACER		"current_tracer"

struct setup setup;
/* Sorted. */
static struct functions functions;

/* The functions */

/* Marks the functions that a filter lists, and returns how many lines there are. */
static size_t mark_listed(const char *file, bool traced)
{
	char *text = file_read(NULL, file), *next = text, *line, *name, *module;
	size_t lines = 0, nr;

	while ((line = strsep(&next, "\n"))) {
		struct function *function;

		if (!parse_function(line, &name, &module))
			continue;
		lines++;
		for (function = functions_find(&functions, name, module, &nr); nr; nr--)
			function++->traced = traced;
	}
	free(text);
	return lines;
}

static void find_functions(void)
{
	bool all;

	functions_read(&functions);
	functions_sort(&functions);
	all = !mark_listed(FILTER, true);
	for (size_t i = 0; all && i < functions.nr; i++)
		functions.function[i].traced = true;
	mark_listed(NOTRACE, false);
	for (size_t i = 0; i < functions.nr; i++)
		setup.nr_functions += functions.function[i].traced;
}

/**
 * setup_traces - whether the tracer traces a function
 * @function: its name; a star at its end stands for any characters
 * @module: its module, or NULL; "?" if it is not known
 *
 * Returns: true if it does, if the filters let it.
 */
bool setup_traces(const char *function, const char *module)
{
	struct function *found;
	size_t nr;

	/* The profiler's names are those of functions that the filters let through. */
	if (function[strlen(function) - 1] == '*' || (module && *module == '?'))
		return true;
	for (found = functions_find(&functions, function, module, &nr); nr; nr--) {
		if (found++->traced)
			return true;
	}
	return false;
}

/* The events */

static enum item_kind probe_kind(char type, bool user, bool at_end)
{
	switch (type) {
	case 'p':
		return user ? ITEM_UPROBE : ITEM_KPROBE;
	case 'r':
		return user ? ITEM_URETPROBE : ITEM_KRETPROBE;
	case 'f':
		return at_end ? ITEM_FRETPROBE : ITEM_FPROBE;
	default:
		return ITEM_EVENT;
	}
}

/*
 * The kind of an event that was made with a line of dynamic_events, such as
 * "r8:kprobes/name function" or "p:uprobes/name /bin/sh:0x1234".
 */
static enum item_kind dynamic_kind(const char *line, const char *name, const char *system)
{
	char *wanted = format_string(":%s/%s ", system, name);
	const char *at = strstr(line, wanted), *address = at ? at + strlen(wanted) : NULL;
	size_t len;

	free(wanted);
	if (!at || memchr(line, ' ', at - line))
		return ITEM_EVENT;
	len = strcspn(address, "\n ");
	return probe_kind(*line, *address == '/', memmem(address, len, "%return", 7));
}

static enum item_kind event_kind(const char *dynamic, const char *name, const char *system)
{
	enum item_kind kind = ITEM_EVENT;

	if (!strcmp(system, "syscalls") || !strcmp(system, "raw_syscalls"))
		return ITEM_SYSCALL;
	if (!strcmp(system, "sched") && !strcmp(name, "sched_switch"))
		return ITEM_SWITCH;
	while (kind == ITEM_EVENT && *dynamic) {
		kind = dynamic_kind(dynamic, name, system);
		dynamic += strcspn(dynamic, "\n");
		dynamic += *dynamic == '\n';
	}
	return kind;
}

static char *read_dynamic(void)
{
	return tracefs_file_exists(NULL, "dynamic_events") ? file_read(NULL, "dynamic_events") :
							     copy_string("");
}

/**
 * setup_event_kind - the kind of an event
 * @name: its name
 * @system: its system
 *
 * Returns: the kind.
 */
enum item_kind setup_event_kind(const char *name, const char *system)
{
	char *dynamic = read_dynamic();
	enum item_kind kind = event_kind(dynamic, name, system);

	free(dynamic);
	return kind;
}

static void find_events(void)
{
	char *dynamic = read_dynamic();
	char *text = copy_string(saved.events), *next = text, *name, *system, *file, *id;
	struct item *event;

	while ((name = saved_next_event(&next, &system))) {
		event = items_add(&setup.events, event_kind(dynamic, name, system), name, system);
		file = format_string("events/%s/%s/id", system, name);
		id = file_read(NULL, file);
		event->id = atoi(id);
		free(id);
		free(file);
	}
	free(text);
	free(dynamic);
}

/* The tracing that is set up */

static void choose_tracer(const char *wanted)
{
	bool idle = !strcmp(saved.tracer, "nop");

	if (wanted && !idle)
		die("somebody traces: " TRACER " is %s; without --tracer this says what that costs",
		    saved.tracer);
	if (!wanted)
		wanted = idle && !setup.events.nr ? "function" : saved.tracer;
	/* The one that is set is there; some versions of the library do not find the last, nop. */
	if (strcmp(wanted, saved.tracer) &&
	    !tracefs_tracer_available(tracefs_tracing_dir(), wanted)) {
		char *available = file_read(NULL, "available_tracers");

		die("this kernel does not have the tracer %s, only: %.*s", wanted,
		    (int)strcspn(available, "\n"), available);
	}
	setup.tracer = copy_string(wanted);
}

static bool is_limited(void)
{
	char *text;
	bool limited;

	if (strcmp(setup.tracer, "function_graph"))
		return false;
	text = file_read(NULL, "set_graph_function");
	limited = *text && *text != '#';
	free(text);
	return limited || !file_is(NULL, "max_graph_depth", "0");
}

/* What leaves the trace by itself would be measured as if it cost nothing. */
static void check_limit(const char *file)
{
	if (tracefs_file_exists(NULL, file) && !file_is(NULL, file, "0"))
		die("%s is set, so functions and events may leave the trace meanwhile; set it to 0",
		    file);
}

/**
 * setup_find - find the tracer, the functions and the events that are set up
 * @tracer: the tracer that is wanted; NULL: the one that is set up, and if nothing is, function
 *
 * Called after saved_take(). Ends the program if something keeps it from being measured.
 */
void setup_find(const char *tracer)
{
	if (!file_is(NULL, "tracing_on", "1"))
		die("tracing_on is 0, so nothing is recorded; what the buffer has would be lost");
	check_limit("max_rate");
	check_limit("max_overhead");
	find_events();
	choose_tracer(tracer);
	setup.at_most = is_limited();
	if (strcmp(setup.tracer, "nop") && tracefs_file_exists(NULL, AVAILABLE))
		find_functions();
}

/* The switches */

/**
 * setup_off - trace nothing
 */
void setup_off(void)
{
	file_set(NULL, TRACER, "nop");
	saved_set_events(false);
}

static void write_numbers(FILE *f, const struct item *item)
{
	size_t nr;
	struct function *found = functions_find(&functions, item->name, item->where, &nr);

	for (; nr; nr--) {
		/* The kernel takes a word a write. */
		fprintf(f, "%u ", found++->number);
		fflush(f);
	}
}

/* Has the tracer leave out the functions that are off, and switches the events. */
static void apply(const struct items *items, bool names)
{
	FILE *f = setup.nr_functions ? notrace_open(names ? O_APPEND : O_TRUNC) : NULL;

	if (setup.nr_functions && !f)
		die(NOTRACE " cannot be opened: %s", strerror(errno));
	if (f && !names)
		saved_write_notrace(f);
	for (size_t i = 0; i < items->nr; i++) {
		const struct item *item = &items->item[i];

		if (!is_function(item)) {
			event_set(NULL, item->where, item->name, !item->off, warn);
		} else if (item->off && names) {
			char *word = item_word(item);

			fprintf(f, "%s ", word);
			fflush(f);
			free(word);
		} else if (item->off) {
			write_numbers(f, item);
		}
	}
	if (f && fclose(f))
		die(NOTRACE " cannot be written: %s", strerror(errno));
}

/**
 * setup_on - trace all that is set up, but for the items that are left out
 * @items: the functions and events
 */
void setup_on(const struct items *items)
{
	apply(items, false);
	file_set(NULL, TRACER, setup.tracer);
}

/**
 * setup_try_line - as setup_on(), but with the names that the user is going to write
 * @items: the functions and events
 */
void setup_try_line(const struct items *items)
{
	struct items none = { };

	apply(&none, false);
	apply(items, true);
	file_set(NULL, TRACER, setup.tracer);
}
