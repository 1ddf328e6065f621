// SPDX-License-Identifier: GPL-2.0
/*
 * How often events happen for each one that is watched: with a tracefs whose buffer has the events
 * that are made up here.
 */
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "counter.h"
#include "hits.h"
#include "instance.h"
#include "measure.h"
#include "result.h"
#include "setup.h"
#include "util.h"

const char * const program_name = "test-hits";
struct setup setup;

/* The numbers of these events, and how often each happens in a run. The buffer has half of them. */
enum { EXEC = 5, SWITCH };
enum { EXECS = 10, SWITCHES = 90 };

static bool formats_of_task;

bool event_set(struct tracefs_instance *instance, const char *system, const char *name, bool on,
	       void (*problem)(const char *format, ...))
{
	(void)instance;
	(void)system;
	(void)name;
	(void)on;
	(void)problem;
	return true;
}

void file_set(struct tracefs_instance *instance, const char *file, const char *text)
{
	(void)instance;
	(void)file;
	(void)text;
}

bool file_clear(struct tracefs_instance *instance, const char *file)
{
	(void)instance;
	(void)file;
	return true;
}

/* They happen while the load is waited for: after the first two reads. */
char *file_read(struct tracefs_instance *instance, const char *file)
{
	static int reads;
	bool first = !strcmp(file, "per_cpu/cpu0/stats");

	(void)instance;
	return format_string("entries: %u\n", first && reads++ > 1 ? EXECS + SWITCHES : 0);
}

struct tep_handle *tracefs_local_events_system(const char *dir, const char * const *systems)
{
	(void)dir;
	for (; *systems; systems++)
		formats_of_task |= !strcmp(*systems, "task");
	return tep_alloc();
}

static void read_some(struct tep_handle *tep, int id, int nr,
		      int (*take)(struct tep_event *event, struct tep_record *record, int cpu,
				  void *context))
{
	static struct tep_event event;
	struct tep_record record = { .data = &id };

	(void)tep;
	while (nr--)
		take(&event, &record, 0, NULL);
}

int tep_data_type(struct tep_handle *tep, struct tep_record *record)
{
	(void)tep;
	return *(int *)record->data;
}

int tracefs_iterate_raw_events(struct tep_handle *tep, struct tracefs_instance *instance,
			       cpu_set_t *cpus, int cpu_size,
			       int (*take)(struct tep_event *event, struct tep_record *record,
					   int cpu, void *context), void *context)
{
	static bool done;

	(void)instance;
	(void)cpus;
	(void)cpu_size;
	(void)context;
	if (!done && formats_of_task)
		read_some(tep, EXEC, EXECS / 2, take);
	if (!done)
		read_some(tep, SWITCH, SWITCHES / 2, take);
	done = true;
	return 0;
}

unsigned int setup_event_id(const char *name, const char *system)
{
	(void)system;
	return strcmp(name, "exec") ? SWITCH : EXEC;
}

/* No function is traced. */

bool setup_traces(const char *function, const char *module)
{
	(void)function;
	(void)module;
	return false;
}

void setup_off(void)
{
}

const struct counter *counter_find(bool profiler)
{
	(void)profiler;
	return NULL;
}

const struct counter tracer_counter;

int main(void)
{
	struct load load = { .system = "task", .event = "exec", .ns = NSEC / 1000, .runs = 3 };
	static struct items items;
	char *text;

	items_add(&setup.events, ITEM_SWITCH, "switch", "sched")->id = SWITCH;
	measure_begin(&load, NULL);
	hits_count(NULL, &load, &items);
	text = format_string("%.1f switches for each exec", items.nr == 1 ? items.item[0].hits : 0);
	result(!strcmp(text, "9.0 switches for each exec"), "watched beside another event", text);
	free(text);
	return closing();
}
