// SPDX-License-Identifier: GPL-2.0
/*
 * How often each function is called, and each event happens, in one run.
 *
 * Functions are counted by the counter of this kernel (see counter.h). Events are recorded
 * once more, in the instance of our own, and read while the command runs. Where the kernel
 * can tell, only those of the command and of its children are counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "counter.h"
#include "cpus.h"
#include "hits.h"
#include "instance.h"
#include "measure.h"
#include "setup.h"
#include "util.h"

#define BUFFER_KB	"4096"

static struct tracefs_instance *own;
static const struct counter *counter;
static struct counts before;
static struct tep_handle *tep;
/* For each event of the setup. */
static double *hits, read_hits, recorded;

/* Functions */

static void functions_begin(pid_t pid)
{
	static struct wanted wanted = { .nr_globs = 1, .set_up = true };
	static char *glob;
	static pid_t pids[1];

	counter = counter_find(false);
	glob = copy_string("*");
	wanted.glob = &glob;
	wanted.cpus = cpus_read(CPUS_POSSIBLE, &wanted.nr_cpus);
	if (pid && counter == &tracer_counter) {
		pids[0] = pid;
		wanted.pid = pids;
		wanted.nr_pids = 1;
	}
	counter->prepare(&wanted);
	counts_init(&before, 0);
	counter->start();
	/* The profiler has marked the instance with a 0; we have saved.c, and events to record. */
	file_set(own, "tracing_on", "1");
	counter->read(&before);
}

static void functions_end(struct items *items)
{
	struct counts now, difference;

	counts_init(&now, 0);
	counts_init(&difference, 0);
	counter->stop();
	counter->read(&now);
	if (!counts_subtract(&now, &before, &difference))
		die("the counts have become smaller: somebody else has set them to zero");
	for (size_t i = 0; i < difference.nr; i++) {
		const struct row *row = &difference.row[i];
		struct item *item;

		if (!setup_traces(row->name, row->module))
			continue;
		item = items_add(items, ITEM_FUNCTION, row->name, row->module);
		item->hits = row->count;
		item->several = row->name[strlen(row->name) - 1] == '*' ||
				(row->module && *row->module == '?');
	}
	counts_free(&before);
	counts_free(&now);
	counts_free(&difference);
}

/* Events */

static void each_event(bool on)
{
	for (size_t i = 0; i < setup.events.nr; i++) {
		const struct item *event = &setup.events.item[i];

		event_set(own, event->where, event->name, on, die);
	}
}

static int one_event(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	unsigned int id = tep_data_type(tep, record);

	(void)event;
	(void)cpu;
	(void)context;
	read_hits++;
	for (size_t i = 0; i < setup.events.nr; i++) {
		if (setup.events.item[i].id == id) {
			hits[i]++;
			break;
		}
	}
	return 0;
}

/* The library passes over events whose format it does not know. */
static struct tep_handle *read_formats(void)
{
	const char **systems = alloc(setup.events.nr + 1, sizeof(*systems));
	struct tep_handle *formats;
	size_t nr = 0, j;

	for (size_t i = 0; i < setup.events.nr; i++) {
		for (j = 0; j < nr && strcmp(systems[j], setup.events.item[i].where); j++)
			;
		if (j == nr)
			systems[nr++] = setup.events.item[i].where;
	}
	formats = tracefs_local_events_system(NULL, systems);
	if (!formats)
		die("the format of events cannot be read: %s", strerror(errno));
	free(systems);
	return formats;
}

static void events_begin(pid_t pid)
{
	char *text;

	tep = read_formats();
	hits = alloc(setup.events.nr, sizeof(*hits));
	file_set(own, "buffer_size_kb", BUFFER_KB);
	if (pid) {
		text = format_string("%d", (int)pid);
		file_set(own, "options/event-fork", "1");
		file_set(own, "set_event_pid", text);
		free(text);
	}
	recorded = recorded_events(own, -1);
	each_event(true);
}

static void events_read(void)
{
	if (tep)
		tracefs_iterate_raw_events(tep, own, NULL, 0, one_event, NULL);
}

static void events_end(struct items *items)
{
	double all;

	events_read();
	/* There was no room for some: they are taken to be like the others. */
	all = recorded_events(own, -1) - recorded;
	for (size_t i = 0; i < setup.events.nr; i++) {
		const struct item *event = &setup.events.item[i];
		struct item *item = items_add(items, event->kind, event->name, event->where);

		item->id = event->id;
		item->hits = read_hits ? hits[i] * all / read_hits : 0;
	}
	file_clear(own, "set_event_pid");
	file_set(own, "options/event-fork", "0");
	tep_free(tep);
	tep = NULL;
	free(hits);
}

/* A run */

static void begun(pid_t pid)
{
	if (setup.nr_functions)
		functions_begin(pid);
	if (setup.events.nr)
		events_begin(pid);
}

/**
 * hits_count - run the load once, and count
 * @instance: an instance of our own
 * @items: an empty table, which takes the functions that were called, and all events
 */
void hits_count(struct tracefs_instance *instance, struct items *items)
{
	static const struct counted_run run = { begun, events_read };
	double runs;

	own = instance;
	runs = measure_count(&run);
	each_event(false);
	if (setup.nr_functions)
		functions_end(items);
	if (setup.events.nr)
		events_end(items);
	for (size_t i = 0; i < items->nr; i++)
		items->item[i].hits /= runs;
	file_clear(own, "set_ftrace_pid");
}
