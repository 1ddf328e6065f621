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
#define COUNT_CPUS	"options/count-cpus"

/* They put more into a line than is read here. */
static const char *const other_parts[] = {
	"options/count-callers", "options/count-times", "options/count-latency",
};

static struct tracefs_instance *own;
static unsigned int nr_cpus;
static bool per_cpu;
static uint64_t *numbers;

static size_t tracer_prepare(const struct wanted *wanted)
{
	struct counts functions;
	size_t nr;

	nr_cpus = wanted->nr_cpus;
	per_cpu = wanted->per_cpu;
	/* The sum, and each CPU's. */
	numbers = alloc(nr_cpus + 1, sizeof(*numbers));
	own = instance_make(profiler_recover);
	/* It begins with the options of the top instance. */
	file_set(own, COUNT_CPUS, per_cpu ? "1" : "0");
	for (unsigned int i = 0; i < ARRAY_SIZE(other_parts); i++)
		if (tracefs_file_exists(own, other_parts[i]))
			file_set(own, other_parts[i], "0");
	filter_set(own, wanted);
	counts_init(&functions, 0);
	filter_functions(own, wanted, &functions);
	nr = functions.nr;
	counts_free(&functions);
	filter_set_pids(own, wanted);
	return nr;
}

static void tracer_start(void)
{
	file_set(own, "current_tracer", "count");
}

static void tracer_read(struct counts *counts)
{
	char *text = file_read(own, COUNTS);
	char *line, *next = text, *name, *module;
	int nr;

	while ((line = strsep(&next, "\n")) && *line) {
		if (*line == '#')
			continue;
		nr = parse_count(line, &name, &module, numbers, nr_cpus + 1);
		if (nr < 1 || (per_cpu && (unsigned int)nr != nr_cpus + 1))
			die(COUNTS " has a line for '%s' that is not understood", line);
		counts_add(counts, name, module, numbers[0], per_cpu ? numbers + 1 : NULL);
	}
	free(text);
	counts_merge(counts);
}

static void tracer_stop(void)
{
	file_set(own, "current_tracer", "nop");
}

const struct counter tracer_counter = {
	.name = "count",
	.prepare = tracer_prepare,
	.start = tracer_start,
	.read = tracer_read,
	.stop = tracer_stop,
	.end = instance_remove,
};
