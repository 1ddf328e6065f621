// SPDX-License-Identifier: GPL-2.0
/*
 * Counting with the tracer count, in an instance of our own.
 *
 * Nobody else sees our filter, and our counts are never set to zero: an interval is the
 * difference of two reads of function_counts. That file, unlike function_counts_raw, still has
 * what the functions of an unloaded module had.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "filter.h"
#include "instance.h"
#include "parse.h"
#include "util.h"

#define COUNTS		"function_counts"
#define COUNT_CPUS	"options/count-cpus"
#define COUNT_CALLERS	"options/count-callers"

static struct tracefs_instance *own;
static unsigned int nr_cpus;
static bool per_cpu;
static uint64_t *numbers;

/*
 * All instances share the option, and with it function_counts shows pairs. If it were
 * switched off for a moment, the user who has set it would miss calls.
 */
static void refuse_callers(void)
{
	if (tracefs_file_exists(own, COUNT_CALLERS) && file_is(own, COUNT_CALLERS, "1"))
		die("the tracer count is told to show callers: " COUNT_CALLERS " is 1");
}

static size_t tracer_prepare(const struct wanted *wanted)
{
	struct counts functions;
	size_t nr;

	nr_cpus = wanted->nr_cpus;
	per_cpu = wanted->per_cpu;
	/* The sum, and each CPU's. */
	numbers = alloc(nr_cpus + 1, sizeof(*numbers));
	own = instance_make(profiler_recover);
	refuse_callers();
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

/*
 * All instances share the option. It matters at the moment when the file is opened only,
 * so it is set for as long as that, while no other run does the same.
 */
static char *read_with_cpus(void)
{
	int lock = tracing_lock();
	bool was_set = file_is(own, COUNT_CPUS, "1");
	int fd, err;

	file_set(own, COUNT_CPUS, "1");
	fd = file_open(own, COUNTS);
	err = errno;
	if (!was_set)
		file_set(own, COUNT_CPUS, "0");
	tracing_unlock(lock);
	errno = err;
	return file_take(fd, COUNTS);
}

static void tracer_read(struct counts *counts)
{
	char *text = per_cpu ? read_with_cpus() : file_read(own, COUNTS);
	char *line, *next = text, *name, *module;
	int nr;

	while ((line = strsep(&next, "\n")) && *line) {
		nr = parse_count(line, &name, &module, numbers, nr_cpus + 1);
		if (nr < 1 || (per_cpu && (unsigned int)nr != nr_cpus + 1)) {
			refuse_callers();
			die(COUNTS " has a line for '%s' that is not understood", line);
		}
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
