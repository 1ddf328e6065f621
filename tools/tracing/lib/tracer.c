// SPDX-License-Identifier: GPL-2.0
/*
 * Counting with the tracer count, in an instance of our own.
 *
 * No other user sees our filter and our options, and our counts are never set to zero: an
 * interval is the difference of two reads of function_counts.
 */
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "filter.h"
#include "instance.h"
#include "parse.h"
#include "util.h"

#define COUNTS		"function_counts"
#define LATENCIES	"function_latency"
#define COUNT_CPUS	"options/count-cpus"
#define COUNT_TIMES	"options/count-times"
#define COUNT_LATENCY	"options/count-latency"

/* They put more into a line than is read here. */
static const char *const other_parts[] = {
	"options/count-callers", COUNT_TIMES, COUNT_LATENCY,
};

static struct tracefs_instance *own;
/* After the count. */
static unsigned int nr_columns;
static bool latency;
static uint64_t *numbers;

static size_t tracer_prepare(const struct wanted *wanted)
{
	const char *option = wanted->latency ? COUNT_LATENCY : wanted->times ? COUNT_TIMES : NULL;
	struct counts functions;
	size_t nr;

	latency = wanted->latency;
	if (latency)
		nr_columns = LATENCY_COLUMNS;
	else if (wanted->times)
		nr_columns = TIME_COLUMNS;
	else if (wanted->per_cpu)
		nr_columns = wanted->nr_cpus;
	numbers = alloc(nr_columns + 1, sizeof(*numbers));
	own = instance_make(profiler_recover);
	/* It begins with the options of the top instance. */
	file_set(own, COUNT_CPUS, wanted->per_cpu ? "1" : "0");
	for (unsigned int i = 0; i < ARRAY_SIZE(other_parts); i++)
		if (tracefs_file_exists(own, other_parts[i]))
			file_set(own, other_parts[i], "0");
	if (option && !tracefs_file_exists(own, option))
		die("the tracer count of this kernel does not tell how long calls take");
	if (option)
		file_set(own, option, "1");
	filter_set(own, wanted);
	counts_init(&functions, 0);
	filter_functions(own, wanted, &functions);
	nr = functions.nr;
	counts_free(&functions);
	filter_set_pids(own, wanted);
	return nr;
}

static void tracer_follow(pid_t pid)
{
	char *text = format_string("%d", (int)pid);

	file_set(own, "set_ftrace_pid", text);
	free(text);
}

static void tracer_start(void)
{
	file_set(own, "current_tracer", "count");
}

static void tracer_read(struct counts *counts)
{
	const char *file = latency ? LATENCIES : COUNTS;
	char *text = file_read(own, file);
	char *line, *next = text, *name, *module;
	int nr;

	while ((line = strsep(&next, "\n")) && *line) {
		if (*line == '#')
			continue;
		nr = parse_count(line, &name, &module, numbers, nr_columns + 1);
		if (nr != (int)nr_columns + 1)
			die("%s has a line for '%s' that is not understood", file, line);
		counts_add(counts, name, module, numbers[0], nr_columns ? numbers + 1 : NULL);
	}
	free(text);
	if (!latency)
		counts_merge(counts);
}

static void tracer_stop(void)
{
	file_set(own, "current_tracer", "nop");
}

const struct counter tracer_counter = {
	.name = "count",
	.prepare = tracer_prepare,
	.follow = tracer_follow,
	.start = tracer_start,
	.read = tracer_read,
	.stop = tracer_stop,
	.end = instance_remove,
};
