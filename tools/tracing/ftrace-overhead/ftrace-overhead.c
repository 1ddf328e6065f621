// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace-overhead - find the cost of tracing, and the functions that cost most
 *
 * This file has the command line, and the order of things: save the state of tracing, count
 * the calls of a run of the load, calibrate the cost of a call, predict, measure, measure
 * parts of it, and look for the functions to leave out. Of the modes bisect and hooks, bisect.c
 * and hooks.c have the same.
 *
 * Floors, each of which calls those below it:
 *	ftrace-overhead.c
 *	report.c		the output
 *	hits.c, calibrate.c	the two factors of the prediction
 *	measure.c		runs of the load
 *	setup.c			the tracing that is set up, and its switches
 *	saved.c			the state of tracing before, and the way back
 *	functions.c		the functions, and their numbers
 *	items.c			a table; knows nothing of the system
 *	../lib			tracefs, the command, the processes
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect.h"
#include "calibrate.h"
#include "hits.h"
#include "hooks.h"
#include "instance.h"
#include "keeper.h"
#include "measure.h"
#include "parse.h"
#include "report.h"
#include "saved.h"
#include "setup.h"
#include "signals.h"
#include "util.h"

const char * const program_name = "ftrace-overhead";

/* The rest costs more than the budget. */
#define STATUS_OVER_BUDGET	3
/* Halves, quarters and so on. */
#define MOST_CHECKS	4
#define MOST_TRIES	5

static struct {
	struct load load;
	const char *tracer;
	double budget;
	size_t top;
	bool no_check;
	bool json;
} opt = {
	.load = { .ns = 2 * NSEC, .runs = 10 },
	.budget = 0.02,
	.top = 20,
};

static const char help[] =
"Usage: ftrace-overhead [OPTION]... -- COMMAND [ARGUMENT]...\n"
"       ftrace-overhead [OPTION]... --watch EVENT\n"
"       ftrace-overhead bisect [OPTION]... -- TEST [ARGUMENT]...\n"
"       ftrace-overhead hooks [OPTION]...\n"
"Finds what tracing costs COMMAND, or each EVENT that happens, and which functions cost\n"
"most. Ends with a line that brings the cost below a budget, tried before it is written.\n"
"The tracing is the one that is set up; if none is, every function is traced.\n"
"The third form finds the function whose tracing makes TEST fail: see 'bisect --help'.\n"
"The last one lists the callbacks that functions have, and their cost: see 'hooks --help'.\n"
"\n"
"  -b, --budget=PERCENT    what tracing may cost (2%)\n"
"  -t, --tracer=NAME       what this tracer would cost, if none is set up\n"
"  -w, --watch=EVENT       watch an event, SYSTEM:NAME, and take the CPU time for each\n"
"  -s, --seconds=SECONDS   for how long it is watched each time (2)\n"
"  -r, --runs=N            run COMMAND so many times at most, each with and without (10)\n"
"  -n, --top=N             show the N functions and events only that cost most (20)\n"
"  -C, --no-check          do not measure parts of what is traced\n"
"  -i, --ignore-status     COMMAND may fail\n"
"  -j, --json              write one line of JSON at the end, and nothing else\n"
"  -V, --version           write the version, and end\n"
"  -h, --help              write this, and end\n"
"\n"
"The man page ftrace-overhead(1) has more, also what the exit status says.\n";

static const struct option options[] = {
	{ "budget", required_argument, NULL, 'b' },
	{ "tracer", required_argument, NULL, 't' },
	{ "watch", required_argument, NULL, 'w' },
	{ "seconds", required_argument, NULL, 's' },
	{ "runs", required_argument, NULL, 'r' },
	{ "top", required_argument, NULL, 'n' },
	{ "no-check", no_argument, NULL, 'C' },
	{ "ignore-status", no_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* The command line */

static double take_percent(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(value > 0) || value > 1000)
		usage_error("--budget: '%s' is not a percentage above 0", text);
	return value / 100;
}

static size_t take_number(const char *name, const char *text, uint64_t least)
{
	uint64_t n;

	if (!parse_number(text, INT_MAX, &n) || n < least)
		usage_error("--%s: '%s' is not a number from %d on", name, text, (int)least);
	return n;
}

static void take_event(char *text)
{
	char *name = strpbrk(text, ":/");

	if (!name || name == text || !name[1] || strpbrk(name + 1, ":/"))
		usage_error("--watch: '%s' is not an event: SYSTEM:NAME", text);
	*name = '\0';
	opt.load.system = text;
	opt.load.event = name + 1;
}

static void take_option(int c)
{
	switch (c) {
	case 'b':
		opt.budget = take_percent(optarg);
		break;
	case 't':
		opt.tracer = optarg;
		break;
	case 'w':
		take_event(optarg);
		break;
	case 's':
		opt.load.ns = option_seconds("seconds", optarg);
		break;
	case 'r':
		opt.load.runs = take_number("runs", optarg, 2);
		break;
	case 'n':
		opt.top = take_number("top", optarg, 1);
		break;
	case 'C':
		opt.no_check = true;
		break;
	case 'i':
		opt.load.ignore_status = true;
		break;
	case 'j':
		opt.json = true;
		break;
	default:
		common_option(c, help);
	}
}

static void take_command_line(int argc, char **argv)
{
	int c;

	argv[0] = (char *)program_name;
	/* The first word that is no option begins the command. */
	while ((c = getopt_long(argc, argv, "+b:t:w:s:r:n:CijVh", options, NULL)) != -1)
		take_option(c);
	if (argv[optind])
		opt.load.command = argv + optind;
	if (!opt.load.command && !opt.load.event)
		usage_error("no command to run, and no event to watch");
	if (opt.load.command && opt.load.event)
		usage_error("--watch and a command cannot be combined");
}

/* The prediction */

static struct result result;

static void predict(void)
{
	double parallel = opt.load.command ? measure_parallel() : 1, known = 0, hits = 0;
	struct items *items = &result.items;

	for (size_t i = 0; i < items->nr; i++) {
		struct item *item = &items->item[i];

		if (isnan(result.cost[item->kind])) {
			hits += item->hits;
			continue;
		}
		item->cost = item->hits * result.cost[item->kind] / parallel;
		known += item->cost;
	}
	result.predicted = known;
	result.unknown = hits;
	/* Items of unknown cost share the rest of the measured cost. */
	for (size_t i = 0; i < items->nr; i++) {
		struct item *item = &items->item[i];

		if (isnan(result.cost[item->kind]) && hits)
			item->cost = fmax(result.measured.cost.mean - known, 0) * item->hits / hits;
	}
	items_sort(items);
}

/* Parts of it */

/* Believes the measured cost of a range where it surely differs from the expected one. */
static void correct(size_t first, size_t nr, double measured, double uncertain)
{
	double predicted = items_cost(&result.items, first, nr);

	if (predicted && fabs(measured - predicted) > uncertain)
		items_scale(&result.items, first, nr, fmax(measured, 0) / predicted);
}

static struct check *check_part(size_t first, size_t nr)
{
	struct items *items = &result.items;
	struct check *check;

	result.check = grow(result.check, result.nr_checks + 1, sizeof(*result.check));
	check = &result.check[result.nr_checks++];
	items_set(items, 0, items->nr, true);
	items_set(items, first, nr, false);
	*check = (struct check){ .nr = nr, .predicted = items_cost(items, first, nr) };
	check->measured = measure_cost(items, setup_on);
	items_set(items, 0, items->nr, false);
	if (!opt.json) {
		measure_progress_end();
		report_check(&result, check);
	}
	return check;
}

/*
 * Halves the functions and events by their expected cost, and goes on with the half of which
 * the prediction is worse.
 */
static void check_parts(void)
{
	struct items *items = &result.items;
	size_t first = 0, nr = items->nr, half;
	double whole = result.measured.cost.mean, uncertain = result.measured.cost.half;

	for (int i = 0; i < MOST_CHECKS && nr > 1 && whole > 2 * uncertain; i++) {
		double a, b, left = items_cost(items, first, nr);
		struct check *check;

		if (!left)
			break;
		half = items_half(items, first, nr);
		check = check_part(first, half);
		a = check->measured.cost.mean;
		b = whole - a;
		left -= check->predicted;
		uncertain = fmax(uncertain, check->measured.cost.half);
		correct(first + half, nr - half, b, 2 * uncertain);
		correct(first, half, a, uncertain);
		if (fabs(a - check->predicted) >= fabs(b - left)) {
			nr = half;
			whole = a;
		} else {
			first += half;
			nr -= half;
			whole = b;
		}
	}
	items_sort(items);
}

/* The budget */

static void try_budget(void)
{
	struct items *items = &result.items;
	double budget = opt.budget * result.measured.off.mean, aim = ITEMS_AIM * budget;
	double sum = items_cost(items, 0, items->nr);

	if (is_within(&result.measured, opt.budget))
		return;
	if (sum && result.measured.cost.mean > 0)
		items_scale(items, 0, items->nr, result.measured.cost.mean / sum);
	for (int i = 0; i < MOST_TRIES; i++) {
		bool possible = items_leave_out(items, aim);

		result.tried = measure_cost(items, setup_try_line);
		result.was_tried = true;
		if (!possible || is_within(&result.tried, opt.budget))
			return;
		aim = items_next_aim(aim, budget, result.tried.cost.mean);
	}
}

/* The order of things */

static void check_load(void)
{
	if (opt.load.event &&
	    !tracefs_event_file_exists(NULL, opt.load.system, opt.load.event, "enable"))
		die("this kernel has no event %s:%s", opt.load.system, opt.load.event);
}

static void say_begin(void)
{
	fprintf(stderr, "Measuring the tracer %s with %zu functions, and %zu events", setup.tracer,
		setup.nr_functions, setup.events.nr);
	fputs(". Hit Ctrl-C to end; tracing is then as before.\n", stderr);
}

static void measure_all(struct tracefs_instance *own)
{
	setup_off();
	hits_count(own, &result.items);
	calibrate(own, &result.items, result.cost);
	result.measured = measure_cost(&result.items, setup_on);
	predict();
	if (opt.json)
		return;
	measure_progress_end();
	report_prediction(&result);
	report_measured(&result);
	fflush(stdout);
}

static void put_back(void)
{
	/* While an event is on there, its probe stays. */
	instance_remove();
	saved_put_back();
}

int main(int argc, char **argv)
{
	struct tracefs_instance *own;

	standard_open();
	if (argc > 1 && !strcmp(argv[1], "bisect"))
		return bisect(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "hooks"))
		return hooks(argc - 1, argv + 1);
	take_command_line(argc, argv);
	signals_hold();
	tracing_open();
	check_load();
	own = instance_make(NULL);
	measure_begin(&opt.load, opt.load.event ? instance_make_other() : NULL);
	saved_take();
	keeper_start(put_back);
	setup_find(opt.tracer);
	say_begin();
	result.load = &opt.load;
	result.budget = opt.budget;
	result.top = opt.top;
	measure_all(own);
	if (!opt.no_check)
		check_parts();
	try_budget();
	measure_progress_end();
	if (opt.json)
		report_json(&result);
	else
		report_tried(&result);
	if (fflush(stdout))
		die("cannot write: %s", strerror(errno));
	if (!is_within(result.was_tried ? &result.tried : &result.measured, opt.budget))
		return STATUS_OVER_BUDGET;
	return 0;
}
