/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters: the tracer count, or where a kernel lacks it the function profiler.
 *
 * The floors of this directory, each of which calls those below it:
 *	tracer.c, profiler.c	the counters
 *	filter.c		which functions and tasks
 *	instance.c		tracefs
 *	command.c, keeper.c	the processes: the command, and the keeper, which puts things back
 *	cpus.c			the CPUs of this machine
 *	counts.c, parse.c, stats.c
 *				tables, words and numbers; know nothing of the system
 *	signals.c, util.c
 */
#ifndef TRACING_COUNTER_H
#define TRACING_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <tracefs.h>

#include "counts.h"

#define LATENCY_COLUMNS	5
#define TIME_COLUMNS	3

/**
 * struct wanted - the functions and tasks that are to be counted
 * @glob: the functions
 * @nr_globs: how many globs that are
 * @module: only functions of this module, or NULL
 * @pid: only calls by these processes
 * @nr_pids: how many they are; 0 for all
 * @cpus: the numbers of all possible CPUs
 * @nr_cpus: how many they are
 * @per_cpu: whether each CPU's calls are wanted
 * @latency: whether instead of these the LATENCY_COLUMNS times of calls are, in nanoseconds: mean,
 *	     p50, p90, p99, max
 * @times: whether instead of both the TIME_COLUMNS sums are, in nanoseconds: of the calls, of these
 *	   without the functions that they called, and the longest call, which is no sum
 * @set_up: the profiler is to count the functions that the top instance is set up to trace: its
 *	    filter stays
 */
struct wanted {
	char **glob;
	size_t nr_globs;
	const char *module;
	pid_t *pid;
	size_t nr_pids;
	unsigned int *cpus;
	unsigned int nr_cpus;
	bool per_cpu;
	bool latency;
	bool times;
	bool set_up;
};

/**
 * struct counter - something that counts
 * @name: as programs are told
 * @prepare: choose the functions; returns how many there are
 * @follow: count calls by one more process, where @wanted had any; NULL if it cannot
 * @start: begin to count; after this, calls are counted
 * @read: take the counts so far into an empty table; times are not merged
 * @stop: count no more; @read still works
 * @end: put everything back as it was before
 *
 * Each of them ends the program if it fails, and everything is then put back.
 */
struct counter {
	const char *name;
	size_t (*prepare)(const struct wanted *wanted);
	void (*follow)(pid_t pid);
	void (*start)(void);
	void (*read)(struct counts *counts);
	void (*stop)(void);
	void (*end)(void);
};

/* A run that used the profiler may be followed by one that does not. */
void profiler_recover(struct tracefs_instance *stale);

const struct counter *counter_find(bool profiler);

extern const struct counter tracer_counter;
extern const struct counter profiler_counter;

#endif
