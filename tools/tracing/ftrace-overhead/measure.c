// SPDX-License-Identifier: GPL-2.0
/*
 * How long the load takes, with tracing and without.
 *
 * Of a command, that is the time until it ends. Of a system on which an event is watched, it
 * is the time for which its CPUs are busy, for each time that the event happens: where they
 * are not busy all the time, tracing makes them busier, not slower.
 *
 * Runs with and without follow each other in turn, so that the other work of the system is
 * the same for both. They end when the difference is known well enough.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command.h"
#include "cpus.h"
#include "instance.h"
#include "measure.h"
#include "setup.h"
#include "signals.h"
#include "util.h"

/* Below these the interval says nothing; a cost that is known to a tenth is good enough. */
#define LEAST_RUNS	3
#define GOOD_ENOUGH	0.1
/* Nor does a difference matter that is less than this part of the run. */
#define TOO_LITTLE	0.002

static const struct load *load;
static struct tracefs_instance *own;
static size_t nr_runs;
static double seconds_off, cpu_off;

static void end_if_told(void)
{
	if (signal_came)
		exit(STATUS_SIGNAL + signal_came);
}

static void progress(const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Krun %zu: %s ", nr_runs + 1, what);
}

/* A command */

static double seconds_of(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static double children_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static void check_status(int status)
{
	end_if_told();
	if (!status || load->ignore_status)
		return;
	if (command_signal())
		die("%s was ended by signal %d", *load->command, command_signal());
	die("%s has failed: its status is %d; --ignore-status takes that", *load->command, status);
}

static double run_command(const struct counted_run *counted, double *cpu)
{
	double cpu_before = children_cpu(), seconds;
	uint64_t begin, next;
	bool ended;
	pid_t pid = command_make(load->command, COMMAND_QUIET | COMMAND_OURS | COMMAND_AGAIN);

	if (counted)
		counted->begun(pid);
	begin = clock_ns(CLOCK_MONOTONIC);
	command_go();
	do {
		next = clock_ns(CLOCK_MONOTONIC) + (counted ? NSEC / 10 : 3600 * NSEC);
		ended = command_wait(next);
		if (counted)
			counted->meanwhile();
	} while (!ended && !signal_came);
	seconds = (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
	check_status(command_status());
	*cpu = children_cpu() - cpu_before;
	return seconds;
}

/* An event */

/* How long all CPUs have been idle since boot. */
static double idle_seconds(void)
{
	unsigned long long idle = 0, waiting = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (!f || fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &waiting) != 2)
		die("/proc/stat has no idle time");
	fclose(f);
	return (double)(idle + waiting) / sysconf(_SC_CLK_TCK);
}

static double recorded_on(struct tracefs_instance *instance, unsigned int cpu)
{
	char *file = format_string("per_cpu/cpu%u/stats", cpu);
	char *text = file_read(instance, file), *next = text, *line;
	unsigned long long n;
	double sum = 0;

	while ((line = strsep(&next, "\n"))) {
		if (sscanf(line, "entries: %llu", &n) == 1 ||
		    sscanf(line, "overrun: %llu", &n) == 1 ||
		    sscanf(line, "dropped events: %llu", &n) == 1 ||
		    sscanf(line, "read events: %llu", &n) == 1)
			sum += n;
	}
	free(text);
	free(file);
	return sum;
}

/**
 * recorded_events - how much was ever recorded in an instance
 * @instance: the instance
 * @cpu: on this CPU; -1: on all
 *
 * Returns: the number of events, also of those that are there no longer.
 */
double recorded_events(struct tracefs_instance *instance, long cpu)
{
	static unsigned int *cpus, nr_cpus;
	double sum = 0;

	if (cpu >= 0)
		return recorded_on(instance, cpu);
	if (!cpus)
		cpus = cpus_read(CPUS_POSSIBLE, &nr_cpus);
	for (unsigned int i = 0; i < nr_cpus; i++)
		sum += recorded_on(instance, cpus[i]);
	return sum;
}

/* How long all CPUs have been busy since boot, together. */
static double busy_seconds(unsigned int nr_cpus)
{
	double now = clock_ns(CLOCK_MONOTONIC) / 1e9;

	return now * nr_cpus - idle_seconds();
}

/* Takes the number of events that were watched until now. Returns the middle of the time, in s. */
static double watched_events(double *events)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	*events = recorded_events(own, -1);
	return (begin + clock_ns(CLOCK_MONOTONIC)) / 2e9;
}

static double run_watch(const struct counted_run *counted, double *events)
{
	double busy, before, from, to, seconds;
	unsigned int nr_cpus;
	uint64_t end, next;

	free(cpus_read(CPUS_ONLINE, &nr_cpus));
	if (counted)
		counted->begun(0);
	event_set(own, load->system, load->event, true, die);
	from = watched_events(&before);
	seconds = clock_ns(CLOCK_MONOTONIC) / 1e9;
	busy = busy_seconds(nr_cpus);
	end = clock_ns(CLOCK_MONOTONIC) + load->ns;
	do {
		next = clock_ns(CLOCK_MONOTONIC) + NSEC / 10;
		signals_wait(!counted || next > end ? end : next);
		if (counted)
			counted->meanwhile();
		end_if_told();
	} while (clock_ns(CLOCK_MONOTONIC) < end);
	/* Without the time of the reads of the event, and without its events meanwhile. */
	busy = busy_seconds(nr_cpus) - busy;
	seconds = clock_ns(CLOCK_MONOTONIC) / 1e9 - seconds;
	to = watched_events(events);
	*events -= before;
	event_set(own, load->system, load->event, false, die);
	/* Each CPU's idle time is told in ticks. */
	if (!counted && busy * sysconf(_SC_CLK_TCK) < 2 * nr_cpus)
		die("the CPUs were idle for all of %.3g seconds: give a longer time",
		    load->ns / 1e9);
	if (*events < 1)
		die("%s:%s has not happened in %.3g seconds", load->system, load->event,
		    load->ns / 1e9);
	return busy / *events * (to - from) / seconds;
}

static double run_once(double *cpu)
{
	double seconds, events;

	end_if_told();
	if (load->command) {
		seconds = run_command(NULL, cpu);
	} else {
		seconds = run_watch(NULL, &events);
		*cpu = seconds;
	}
	nr_runs++;
	return seconds;
}

/* Measurements */

/**
 * measure_begin - take the load that is to be measured
 * @wanted: the load
 * @instance: where an event is watched; of no other use, so that each record is one of it
 */
void measure_begin(const struct load *wanted, struct tracefs_instance *instance)
{
	load = wanted;
	own = instance;
}

/**
 * measure_count - run the load while hits are counted
 * @run: the callbacks for its phases
 *
 * Returns: how many runs that is.
 */
double measure_count(const struct counted_run *run)
{
	double events = 1, cpu;

	progress("counting");
	if (load->command)
		run_command(run, &cpu);
	else
		run_watch(run, &events);
	nr_runs++;
	return events;
}

static bool is_enough(const struct samples *off, const struct samples *cost)
{
	struct estimate e = samples_estimate(cost);

	if (cost->nr < LEAST_RUNS || cost->nr >= load->runs)
		return cost->nr >= load->runs;
	return e.half <= fmax(GOOD_ENOUGH * fabs(e.mean),
			      TOO_LITTLE * samples_estimate(off).mean);
}

/**
 * measure_cost - run the load with tracing and without, until the difference is known
 * @items: the functions and events, each traced or left out
 * @on: switches that on
 *
 * Returns: the cost.
 */
struct measured measure_cost(const struct items *items, void (*on)(const struct items *items))
{
	struct samples off = { }, cost = { };
	struct measured m;
	double without, cpu;

	do {
		setup_off();
		progress("not traced");
		without = run_once(&cpu);
		samples_add(&off, without);
		seconds_off += without;
		cpu_off += cpu;
		on(items);
		progress("traced");
		samples_add(&cost, run_once(&cpu) - without);
	} while (!is_enough(&off, &cost));
	setup_off();
	m.off = samples_estimate(&off);
	m.cost = samples_estimate(&cost);
	samples_free(&off);
	samples_free(&cost);
	return m;
}

/**
 * measure_parallel - on how many CPUs the load runs at a time
 *
 * Returns: the mean of all runs without tracing so far, 1 at least.
 */
double measure_parallel(void)
{
	return seconds_off && cpu_off > seconds_off ? cpu_off / seconds_off : 1;
}

/**
 * measure_progress_end - remove the line that says how far it is
 */
void measure_progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
