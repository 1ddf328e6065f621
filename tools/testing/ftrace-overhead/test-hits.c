// SPDX-License-Identifier: GPL-2.0
/*
 * How often events happen for each one that is watched: with two instances, whose stats and
 * records are made up here.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include "counter.h"
#include "hits.h"
#include "instance.h"
#include "measure.h"
#include "result.h"
#include "setup.h"
#include "util.h"

const char * const program_name = "test-hits";
struct setup setup;

/* The number of an event, and how often it happens for so many watched ones. Half can be read. */
enum { SWITCH = 6 };
enum { EXECS = 10, SWITCHES = 90 };

static struct tracefs_instance *const counting = (void *)"counting";
static struct tracefs_instance *const watching = (void *)"watching";

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

/*
 * They happen while the load is waited for: between two reads; or all the time. A read is slow with
 * tracing.
 */
static bool traced, steady;

char *file_read(struct tracefs_instance *instance, const char *file)
{
	static int reads[2];
	bool watched = instance == watching;

	if (strcmp(file, "per_cpu/cpu0/stats"))
		return copy_string("entries: 0\n");
	if (traced)
		usleep(200000);
	if (steady)
		return format_string("entries: %llu\n", clock_ns(CLOCK_MONOTONIC) / 1000ULL);
	return format_string("entries: %u\n", reads[watched]++ * (watched ? EXECS : SWITCHES));
}

struct tep_handle *tracefs_local_events_system(const char *dir, const char * const *systems)
{
	(void)dir;
	(void)systems;
	return tep_alloc();
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
	static struct tep_event event;
	static int nr, id = SWITCH;
	struct tep_record record = { .data = &id };

	(void)tep;
	(void)cpus;
	(void)cpu_size;
	while (instance == counting && nr++ < SWITCHES / 2)
		take(&event, &record, 0, context);
	return 0;
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
	traced = false;
}

static void setup_traced(const struct items *items)
{
	(void)items;
	traced = true;
}

const struct counter *counter_find(bool profiler)
{
	(void)profiler;
	return NULL;
}

const struct counter tracer_counter;

/*
 * Where no CPU is idle, each is busy for the time in which it is watched, and no longer. Events are
 * counted for longer.
 */
static void watched_busy(struct load *load, struct items *items)
{
	unsigned int nr = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t *spinner = alloc(nr, sizeof(*spinner));
	struct measured m;
	char *text;

	for (unsigned int i = 0; i < nr; i++) {
		spinner[i] = fork();
		if (spinner[i] < 0)
			die("no process: %s", strerror(errno));
		if (!spinner[i]) {
			/* It ends with this one, at the latest. */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				;
		}
	}
	steady = true;
	load->ns = NSEC / 5;
	m = measure_cost(items, setup_traced);
	for (unsigned int i = 0; i < nr; i++)
		kill(spinner[i], SIGKILL);
	free(spinner);
	text = format_string("%.0f %% more", 100 * m.cost.mean / m.off.mean);
	result(fabs(m.cost.mean) < m.off.mean / 3, "slow reads are no work of the CPUs", text);
	free(text);
}

int main(void)
{
	struct load load = { .system = "task", .event = "exec", .ns = NSEC / 1000, .runs = 3 };
	static struct items items;
	char *text;

	items_add(&setup.events, ITEM_SWITCH, "switch", "sched")->id = SWITCH;
	measure_begin(&load, watching);
	hits_count(counting, &items);
	text = format_string("%.1f switches for each exec", items.nr == 1 ? items.item[0].hits : 0);
	result(!strcmp(text, "9.0 switches for each exec"), "watched beside another event", text);
	free(text);
	watched_busy(&load, &items);
	return closing();
}
