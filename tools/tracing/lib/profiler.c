// SPDX-License-Identifier: GPL-2.0
/*
 * Counting with the function profiler, above all on kernels that lack the tracer count.
 *
 * There is one profiler, and it takes the filter of the top instance. So this refuses to
 * run where either is in use, and always puts back the same state: profiler off, filter
 * empty. For a run that was killed the next one does it. It knows by the instance that the
 * killed one has left (see instance.c): tracing_on is 0 there if the profiler was about to be
 * used, and the filter there is the one that the top instance was given.
 *
 * The profiler's files cut names after 30 characters, and show no modules. The list of
 * the functions that are traced has both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "filter.h"
#include "instance.h"
#include "parse.h"
#include "util.h"

#define ENABLED		"function_profile_enabled"
#define FILTER		"set_ftrace_filter"
#define NAME_LEN	30

static struct tracefs_instance *own;
static const struct wanted *want;
static struct counts functions;
static int lock;
static bool in_use;

/* The reason not to use a file of the top instance; NULL if it can be used. */
static char *used_list(const char *file)
{
	char *text = file_read(NULL, file);
	char *line, *next = text, *used = NULL;

	while (!used && (line = strsep(&next, "\n"))) {
		if (*line && *line != '#')
			used = format_string("%s has '%s' in it", file, line);
	}
	free(text);
	return used;
}

static char *used_value(const char *file, const char *idle)
{
	char *text = file_read(NULL, file), *used = NULL;

	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, idle))
		used = format_string("%s is %s", file, text);
	free(text);
	return used;
}

static void refuse_if_used(void)
{
	char *used = used_value(ENABLED, "0");

	if (!used)
		used = used_value("current_tracer", "nop");
	if (!used && !want->set_up)
		used = used_list(FILTER);
	if (!used && !want->set_up)
		used = used_list("set_ftrace_notrace");
	/* The profiler would leave out calls that are faster. */
	if (!used && tracefs_file_exists(NULL, "tracing_thresh"))
		used = used_value("tracing_thresh", "0");
	if (used)
		die("the function profiler would disturb somebody else, or be disturbed: %s", used);
}

static void put_back(void)
{
	if (!in_use)
		return;
	in_use = false;
	if (!file_write(NULL, ENABLED, "0"))
		warn(ENABLED " cannot be set to 0: %s", strerror(errno));
	if (!filter_is_all(want) && !file_clear(NULL, FILTER))
		warn(FILTER " cannot be emptied: %s", strerror(errno));
}

/**
 * profiler_recover - put the profiler back that a killed run has left on
 * @stale: the instance that it has left, too
 */
void profiler_recover(struct tracefs_instance *stale)
{
	char *filter, *text;

	if (!file_is(stale, "tracing_on", "0"))
		return;
	filter = file_read(stale, FILTER);
	text = file_read(NULL, FILTER);
	if (!strcmp(filter, text)) {
		if (!file_write(NULL, ENABLED, "0") || !file_clear(NULL, FILTER))
			die("what a killed run has left in " ENABLED " and " FILTER
			    " cannot be put back: %s", strerror(errno));
	}
	free(filter);
	free(text);
}

static size_t profiler_prepare(const struct wanted *wanted)
{
	want = wanted;
	own = instance_make(profiler_recover);
	lock = tracing_lock();
	refuse_if_used();
	/* Errors are found here, where they change nothing for others. */
	filter_set(own, wanted);
	counts_init(&functions, 0);
	filter_functions(own, wanted, &functions);
	return functions.nr;
}

static void profiler_start(void)
{
	file_set(own, "tracing_on", "0");
	atexit(put_back);
	in_use = true;
	filter_set(NULL, want);
	file_set(NULL, ENABLED, "1");
	tracing_unlock(lock);
}

/* The first of the functions that is not before the name. */
static size_t first_function(const char *name)
{
	size_t low = 0, high = functions.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(functions.row[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Adds a function by the profiler's name of it. If several are meant, their name ends
 * with a star, and their module is "?" unless they share it.
 */
static void add_function(struct counts *counts, const char *name, uint64_t count,
			 const uint64_t *cpu)
{
	bool cut = strlen(name) == NAME_LEN, several = cut;
	const char *module = "?", *whole = name;
	size_t i = first_function(name), first = i;
	char *text;

	for (; i < functions.nr; i++) {
		const struct row *row = &functions.row[i];

		if (cut ? strncmp(row->name, name, NAME_LEN) : strcmp(row->name, name))
			break;
		if (i == first) {
			whole = row->name;
			module = row->module;
			several = false;
			continue;
		}
		several = several || strcmp(row->name, whole);
		if (string_cmp(row->module, module))
			module = "?";
	}
	text = several ? format_string("%s*", name) : copy_string(whole);
	counts_add(counts, text, module, count, cpu);
	free(text);
}

static void read_cpu(struct counts *counts, unsigned int i)
{
	uint64_t count, *cpu = alloc(want->nr_cpus, sizeof(*cpu));
	char *file = format_string("trace_stat/function%u", want->cpus[i]);
	char *text = file_read(NULL, file);
	char *line, *next = text, *name;

	while ((line = strsep(&next, "\n"))) {
		if (!parse_stat(line, &name, &count))
			continue;
		cpu[i] = count;
		add_function(counts, name, count, cpu);
	}
	free(text);
	free(file);
	free(cpu);
}

static void profiler_read(struct counts *counts)
{
	for (unsigned int i = 0; i < want->nr_cpus; i++)
		read_cpu(counts, i);
	counts_merge(counts);
}

static void profiler_stop(void)
{
	file_set(NULL, ENABLED, "0");
}

static void profiler_end(void)
{
	put_back();
	instance_remove();
	counts_free(&functions);
}

/**
 * counter_find - the counter for this kernel
 * @profiler: the profiler, even if there is the tracer
 *
 * Ends the program if the kernel has nothing that counts.
 *
 * Returns: the tracer count, or the profiler.
 */
const struct counter *counter_find(bool profiler)
{
	bool has_tracer = tracefs_tracer_available(tracefs_tracing_dir(), "count");

	if (has_tracer && !profiler)
		return &tracer_counter;
	if (!tracefs_file_exists(NULL, ENABLED))
		die("this kernel has %s function profiler (CONFIG_FUNCTION_PROFILER)",
		    has_tracer ? "no" : "neither the tracer count nor the");
	return &profiler_counter;
}

const struct counter profiler_counter = {
	.name = "profiler",
	.prepare = profiler_prepare,
	.start = profiler_start,
	.read = profiler_read,
	.stop = profiler_stop,
	.end = profiler_end,
};
