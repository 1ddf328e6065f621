/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the load takes.
 */
#ifndef OVERHEAD_MEASURE_H
#define OVERHEAD_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

#include "items.h"
#include "stats.h"

/**
 * struct load - the load that is measured
 * @command: a command, each run of which is one; or NULL
 * @ignore_status: its status does not matter
 * @event: the event that is watched; each that happens is one run
 * @system: the system of that event
 * @ns: how long it is watched each time
 * @runs: how often at most each set of functions and events is measured
 */
struct load {
	char **command;
	bool ignore_status;
	char *event;
	char *system;
	uint64_t ns;
	size_t runs;
};

/**
 * struct measured - the cost of tracing some functions and events
 * @off: how long a run takes without it, in seconds
 * @cost: how much longer it takes with it
 */
struct measured {
	struct estimate off;
	struct estimate cost;
};

/**
 * struct counted_run - a run in which hits are counted
 * @begun: called when it is about to begin, with the process of the command, or 0
 * @meanwhile: called about ten times a second until it has ended
 */
struct counted_run {
	void (*begun)(pid_t pid);
	void (*meanwhile)(void);
};

void measure_begin(const struct load *wanted, struct tracefs_instance *instance);
double recorded_events(struct tracefs_instance *instance, long cpu);
double measure_count(const struct counted_run *run);
struct measured measure_cost(const struct items *items, void (*on)(const struct items *items));
double measure_parallel(void);
void measure_progress_end(void);

#endif
