// SPDX-License-Identifier: GPL-2.0
/*
 * The results, as people read them, and as programs do.
 *
 * People get them step by step, as soon as they are known. Programs get one line at the end;
 * the man page describes its form, and the parts that it promises are not to change.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "setup.h"
#include "util.h"

static const char * const kind_names[ITEM_KINDS] = {
	"call", "event", "sched_switch", "syscall event", "kprobe", "kretprobe", "fprobe",
	"fprobe at the end", "uprobe", "uretprobe",
};

/* 12.3 ms, and the like: three digits. One text of its own for each of a few calls. */
static const char *format_time(double seconds)
{
	static const char * const units[] = { "s", "ms", "us", "ns" };
	static char text[4][32];
	static unsigned int next;
	char *s = text[next++ % 4];
	size_t i = 0;
	int digits;

	while (i < 3 && fabs(seconds) < 1 && seconds) {
		seconds *= 1000;
		i++;
	}
	digits = fabs(seconds) < 10 ? 2 : fabs(seconds) < 100;
	snprintf(s, sizeof(text[0]), "%.*f %s", digits, seconds, units[i]);
	return s;
}

static double percent(double cost, double whole)
{
	return 100 * cost / whole;
}

/* 3.4 % +- 0.2 % of the time that a run takes without tracing. */
static void print_measured(const struct measured *m)
{
	printf("%.1f %% +- %.1f %%", percent(m->cost.mean, m->off.mean),
	       percent(m->cost.half, m->off.mean));
}

/**
 * is_within - whether a cost is within a budget, as far as one can tell
 * @m: the cost
 * @budget: the budget, as a part of a run
 *
 * Returns: true if all of the interval is.
 */
bool is_within(const struct measured *m, double budget)
{
	return m->cost.mean + m->cost.half <= budget * m->off.mean;
}

/* The word for a run. Hits and costs are told for each run. */
static const char *run_name(const struct result *r)
{
	return r->load->command ? "run" : r->load->event;
}

static void print_costs(const struct result *r)
{
	const char *separator = "On this machine";

	for (int kind = 0; kind < ITEM_KINDS; kind++) {
		if (isnan(r->cost[kind]))
			continue;
		printf("%s a %s costs %s", separator, kind_names[kind], format_time(r->cost[kind]));
		separator = ",";
	}
	puts(*separator == ',' ? "." : "No cost of a call or an event is known.");
}

static void print_item(const struct item *item, double off)
{
	char *name;

	if (item->kind != ITEM_FUNCTION)
		name = format_string("%s:%s", item->where, item->name);
	else if (item->where)
		name = format_string("%s [%s]", item->name, item->where);
	else
		name = copy_string(item->name);
	printf("%-40s %12.5g %10s %8.2f %%\n", name, item->hits, format_time(item->cost),
	       percent(item->cost, off));
	free(name);
}

/**
 * report_prediction - the expected cost of each function and event
 * @r: the results so far, with the cost of tracing in all
 */
void report_prediction(const struct result *r)
{
	double off = r->measured.off.mean;
	size_t nr = r->top && r->top < r->items.nr ? r->top : r->items.nr;

	print_costs(r);
	printf("A %s takes %s without tracing.\n\n", run_name(r), format_time(off));
	printf("%-40s %12s %10s %10s\n", "FUNCTION OR EVENT", "HITS", "COST", "OVERHEAD");
	for (size_t i = 0; i < nr; i++)
		print_item(&r->items.item[i], off);
	if (nr < r->items.nr)
		printf("(%zu more: %.2f %%)\n", r->items.nr - nr,
		       percent(items_cost(&r->items, nr, r->items.nr - nr), off));
}

/**
 * report_measured - the expected and the measured cost of tracing
 * @r: the results so far
 */
void report_measured(const struct result *r)
{
	printf("\nPredicted: %s%.1f %%%s\nMeasured:  ", setup.at_most ? "at most " : "",
	       percent(r->predicted, r->measured.off.mean),
	       r->unknown ? ", without what is not calibrated" : "");
	print_measured(&r->measured);
	printf(" (of %zu runs with tracing and as many without)\n", r->measured.cost.nr);
}

/**
 * report_check - the expected and the measured cost of a part of it
 * @r: the results so far
 * @check: the part
 */
void report_check(const struct result *r, const struct check *check)
{
	if (check == r->check)
		puts("\nParts of it, measured alone:");
	printf("%5zu of %zu functions and events: predicted %.1f %%, measured ", check->nr,
	       r->items.nr, percent(check->predicted, check->measured.off.mean));
	print_measured(&check->measured);
	putchar('\n');
	fflush(stdout);
}

static size_t print_words(const struct result *r, bool functions, const char *prefix)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->items.nr; i++) {
		const struct item *item = &r->items.item[i];
		char *word;

		if (!item->off || is_function(item) != functions)
			continue;
		word = item_word(item);
		printf("%s%s%s", nr++ ? " " : "", prefix, word);
		free(word);
	}
	return nr;
}

static size_t count_off(const struct result *r, bool functions)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->items.nr; i++)
		nr += r->items.item[i].off && is_function(&r->items.item[i]) == functions;
	return nr;
}

static void print_lines(const struct result *r)
{
	const char *dir = tracefs_tracing_dir();

	if (count_off(r, true)) {
		fputs("echo '", stdout);
		print_words(r, true, "");
		printf("' >> %s/set_ftrace_notrace\n", dir);
	}
	if (count_off(r, false)) {
		fputs("echo '", stdout);
		print_words(r, false, "!");
		printf("' >> %s/set_event\n", dir);
	}
}

/**
 * report_tried - how to get below the budget
 * @r: the results
 */
void report_tried(const struct result *r)
{
	double budget = 100 * r->budget;

	if (!r->was_tried && is_within(&r->measured, r->budget)) {
		printf("\nThis is within the budget of %.3g %%.\n", budget);
		return;
	}
	printf("\nWithout %zu functions and %zu events it costs ", count_off(r, true),
	       count_off(r, false));
	print_measured(&r->tried);
	if (is_within(&r->tried, r->budget))
		printf(", within the budget of %.3g %%:\n", budget);
	else
		printf(",\nstill more than the budget of %.3g %%, or not surely less:\n", budget);
	print_lines(r);
}

/* For programs */

static void json_number(const char *name, double value)
{
	if (isfinite(value))
		printf(",\"%s\":%.9g", name, value);
	else
		printf(",\"%s\":null", name);
}

static void json_measured(const char *name, const struct measured *m)
{
	printf(",\"%s\":{\"runs\":%zu", name, m->cost.nr);
	json_number("seconds", m->off.mean);
	json_number("cost", m->cost.mean);
	json_number("interval", m->cost.half);
	putchar('}');
}

static void json_item(const struct item *item)
{
	printf("{\"kind\":\"%s\",\"name\":", kind_names[item->kind]);
	json_string(stdout, item->name);
	fputs(item->kind == ITEM_FUNCTION ? ",\"module\":" : ",\"system\":", stdout);
	json_string(stdout, item->where);
	json_number("hits", item->hits);
	json_number("cost", item->cost);
	printf(",\"left_out\":%s}", item->off ? "true" : "false");
}

static void json_load(const struct load *load)
{
	fputs(",\"command\":", stdout);
	if (!load->command)
		fputs("null", stdout);
	for (char **word = load->command; word && *word; word++) {
		putchar(word == load->command ? '[' : ',');
		json_string(stdout, *word);
	}
	fputs(load->command ? "],\"event\":" : ",\"event\":", stdout);
	if (load->command)
		fputs("null", stdout);
	else
		printf("\"%s:%s\"", load->system, load->event);
}

/**
 * report_json - everything, in one line
 * @r: the results
 */
void report_json(const struct result *r)
{
	printf("{\"version\":%d,\"tracer\":", REPORT_VERSION);
	json_string(stdout, setup.tracer);
	printf(",\"functions\":%zu,\"events\":%zu", setup.nr_functions, setup.events.nr);
	json_load(r->load);
	fputs(",\"costs\":{", stdout);
	for (int kind = 0; kind < ITEM_KINDS; kind++) {
		printf("%s\"%s\":", kind ? "," : "", kind_names[kind]);
		printf(isnan(r->cost[kind]) ? "null" : "%.9g", r->cost[kind]);
	}
	putchar('}');
	json_number("predicted", r->predicted);
	json_measured("measured", &r->measured);
	fputs(",\"checks\":[", stdout);
	for (size_t i = 0; i < r->nr_checks; i++) {
		printf("%s{\"items\":%zu", i ? "," : "", r->check[i].nr);
		json_number("predicted", r->check[i].predicted);
		json_measured("measured", &r->check[i].measured);
		putchar('}');
	}
	putchar(']');
	json_number("budget", r->budget);
	if (r->was_tried)
		json_measured("tried", &r->tried);
	else
		fputs(",\"tried\":null", stdout);
	printf(",\"within\":%s,\"items\":[",
	       is_within(r->was_tried ? &r->tried : &r->measured, r->budget) ? "true" : "false");
	for (size_t i = 0; i < r->items.nr; i++) {
		if (i)
			putchar(',');
		json_item(&r->items.item[i]);
	}
	puts("]}");
}
