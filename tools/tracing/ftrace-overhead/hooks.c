// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace-overhead hooks: the callbacks that functions have now, how often each is called, and the
 * part of a CPU that it takes.
 *
 * The file hooks of tracefs has a line for each. The tracer count, in the instance of our own,
 * counts the calls of these functions for some seconds, and the file then says how many they are.
 * The costs are those of calibrate.c, for each kind that there is.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "hooks.h"
#include "instance.h"
#include "keeper.h"
#include "parse.h"
#include "saved.h"
#include "setup.h"
#include "signals.h"
#include "util.h"

#define HOOKS	"hooks"
#define COLUMNS	6

/**
 * struct hook - a line of the file
 * @function: the function
 * @module: its module, "-" for the kernel itself
 * @kind: the kind of the hook
 * @name: its name
 * @like: the kind that calibrate() measures for it; ITEM_KINDS if nothing is like it
 * @rate: calls a second; not a number if they cannot be counted
 * @cost: seconds that one takes; not a number where it is not known
 */
struct hook {
	char *function;
	char *module;
	char *kind;
	char *name;
	enum item_kind like;
	double rate;
	double cost;
};

struct hook_list {
	struct hook *hook;
	size_t nr;
};

static struct {
	uint64_t ns;
	size_t top;
} opt = {
	.ns = 2 * NSEC,
	.top = 20,
};

static const char help[] =
"Usage: ftrace-overhead hooks [OPTION]...\n"
"Lists the callbacks that functions have now: of tracers, probes, BPF programs, live patches.\n"
"Those that take most of a CPU's time come first.\n"
"\n"
"  -s, --seconds=SECONDS   for how long calls are counted (2)\n"
"  -n, --top=N             show the N callbacks only that cost most (20)\n"
"  -V, --version           write the version, and end\n"
"  -h, --help              write this, and end\n"
"\n"
"The man page ftrace-overhead-hooks(1) has more.\n";

static const struct option options[] = {
	{ "seconds", required_argument, NULL, 's' },
	{ "top", required_argument, NULL, 'n' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void take_command_line(int argc, char **argv)
{
	uint64_t top;
	int c;

	argv[0] = (char *)program_name;
	while ((c = getopt_long(argc, argv, "s:n:Vh", options, NULL)) != -1) {
		switch (c) {
		case 's':
			opt.ns = option_seconds("seconds", optarg);
			break;
		case 'n':
			if (!parse_number(optarg, INT_MAX, &top) || !top)
				usage_error("--top: '%s' is not a number from 1 on", optarg);
			opt.top = top;
			break;
		default:
			common_option(c, help);
		}
	}
	if (argv[optind])
		usage_error("'%s' is one word too many", argv[optind]);
}

/* Reading them */

/* Of the instance of our own there is only the counter. */
static bool is_own(struct tracefs_instance *own, const struct hook *hook)
{
	const char *name = tracefs_instance_get_name(own);
	size_t len = strlen(name);

	return !strcmp(hook->kind, "tracer") && !strncmp(hook->name, name, len) &&
	       hook->name[len] == ':';
}

static struct hook_list read_hooks(struct tracefs_instance *own)
{
	struct hook_list list = { };
	char *text = file_read(NULL, HOOKS), *next = text, *line;

	while ((line = strsep(&next, "\n"))) {
		char *column[COLUMNS] = { };
		struct hook *hook;

		for (size_t i = 0; i < COLUMNS && line; i++)
			column[i] = strsep(&line, "\t");
		if (!column[COLUMNS - 1] || *column[0] == '#')
			continue;
		list.hook = grow(list.hook, list.nr + 1, sizeof(*list.hook));
		hook = &list.hook[list.nr];
		*hook = (struct hook) {
			.function = column[0],
			.module = column[1],
			.rate = *column[2] == '-' ? NAN : strtod(column[2], NULL),
			.kind = column[4],
			.name = column[5],
			.cost = NAN,
		};
		list.nr += !is_own(own, hook);
	}
	/* The hooks are made of @text, which stays. */
	return list;
}

/* Counting */

static void count(struct tracefs_instance *own, const struct hook_list *list)
{
	FILE *filter;
	bool any = false;
	char *path = tracefs_instance_get_file(own, "set_ftrace_filter");

	filter = fopen(path, "w");
	if (!filter)
		die("%s cannot be opened: %s", path, strerror(errno));
	for (size_t i = 0; i < list->nr; i++) {
		const struct hook *hook = &list->hook[i];

		/* Lines of one function are neighbours; a probe inside of one has no calls. */
		if ((i && !strcmp(hook[-1].function, hook->function) &&
		     !strcmp(hook[-1].module, hook->module)) || strchr(hook->function, '+'))
			continue;
		if (strcmp(hook->module, "-"))
			fprintf(filter, "%s:mod:%s\n", hook->function, hook->module);
		else
			fprintf(filter, "%s\n", hook->function);
		/* The kernel takes a word a write. One that cannot be traced has no rate. */
		any |= !fflush(filter);
		clearerr(filter);
	}
	fclose(filter);
	tracefs_put_tracing_file(path);
	/* Without a filter, all functions would be counted. */
	if (!any)
		return;
	file_set(own, "current_tracer", "count");
	signals_wait(clock_ns(CLOCK_MONOTONIC) + opt.ns);
	if (signal_came)
		exit(STATUS_SIGNAL + signal_came);
}

/* Their costs */

static double cost_of_kind(struct tracefs_instance *own, enum item_kind kind)
{
	double cost[ITEM_KINDS];
	struct items items = { };

	items_add(&items, kind, "", NULL)->hits = 1;
	calibrate(own, &items, cost);
	free(items.item);
	return cost[kind];
}

/* For hook::like. */
static enum item_kind kind_of(const struct hook *hook)
{
	char *event = copy_string(hook->name), *name = strchr(event, ':');
	enum item_kind kind = ITEM_KINDS;

	if (!strcmp(hook->kind, "tracer")) {
		kind = ITEM_FUNCTION;
	} else if (name && strcmp(hook->kind, "bpf")) {
		*name++ = '\0';
		kind = setup_event_kind(name, event);
	}
	free(event);
	return kind == ITEM_EVENT ? ITEM_KINDS : kind;
}

static void find_costs(struct tracefs_instance *own, struct hook_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct hook *hook = &list->hook[i], *like = list->hook;
		enum item_kind kind = kind_of(hook);

		hook->like = kind;
		if (kind == ITEM_KINDS)
			continue;
		/* One measurement does for all of a kind, and of a tracer. */
		while (like < hook && (like->like != kind ||
				       (kind == ITEM_FUNCTION && strcmp(like->name, hook->name))))
			like++;
		if (kind == ITEM_FUNCTION) {
			const char *tracer = strrchr(hook->name, ':');

			setup.tracer = copy_string(tracer ? tracer + 1 : hook->name);
		}
		hook->cost = like < hook ? like->cost : cost_of_kind(own, kind);
	}
}

/* The output */

static int cmp_part(const void *a, const void *b)
{
	const struct hook *x = a, *y = b;
	double px = x->rate * x->cost, py = y->rate * y->cost;

	if (isnan(px) || isnan(py))
		return isnan(px) - isnan(py);
	return (px < py) - (px > py);
}

static void write_number(int width, double value, int decimals, const char *unit)
{
	char text[32] = "-";

	if (!isnan(value))
		snprintf(text, sizeof(text), "%.*f%s", decimals, value, unit);
	printf("%*s ", width, text);
}

static void write_hooks(const struct hook_list *list)
{
	printf("%10s %8s %8s  %-9s %s\n", "CALLS/S", "NS/CALL", "CPU", "KIND", "FUNCTION: HOOK");
	for (size_t i = 0; i < list->nr && i < opt.top; i++) {
		const struct hook *hook = &list->hook[i];
		bool module = strcmp(hook->module, "-");

		write_number(10, hook->rate, 0, "");
		write_number(8, hook->cost * NSEC, 0, "");
		write_number(8, hook->rate * hook->cost * 100, 2, "%");
		printf(" %-9s %s%s%s%s: %s\n", hook->kind, hook->function, module ? " [" : "",
		       module ? hook->module : "", module ? "]" : "", hook->name);
	}
	if (list->nr > opt.top)
		printf("%zu more are not shown; --top=%zu shows all\n", list->nr - opt.top,
		       list->nr);
	if (fflush(stdout))
		die("cannot write: %s", strerror(errno));
}

static void put_back(void)
{
	/* While an event is on there, its probe stays. */
	instance_remove();
	saved_forget();
}

/**
 * hooks - the program, if its first word is hooks
 * @argc: how many words there are
 * @argv: the words, hooks being the first
 *
 * Returns: the exit status.
 */
int hooks(int argc, char **argv)
{
	struct tracefs_instance *own;
	struct hook_list list;

	program_mode = "hooks";
	take_command_line(argc, argv);
	signals_hold();
	tracing_open();
	if (!tracefs_file_exists(NULL, HOOKS))
		die("this kernel does not list callbacks: it has no file " HOOKS
		    ", which CONFIG_FTRACE_CALLSETS brings");
	own = instance_make(NULL);
	saved_lock();
	keeper_start(put_back);
	list = read_hooks(own);
	if (list.nr) {
		count(own, &list);
		list = read_hooks(own);
		file_set(own, "current_tracer", "nop");
		file_clear(own, "set_ftrace_filter");
		find_costs(own, &list);
		qsort(list.hook, list.nr, sizeof(*list.hook), cmp_part);
	}
	write_hooks(&list);
	return 0;
}
