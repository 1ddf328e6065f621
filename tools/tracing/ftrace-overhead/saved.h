/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of tracing before the run, and the way back.
 */
#ifndef OVERHEAD_SAVED_H
#define OVERHEAD_SAVED_H

#include <stdbool.h>
#include <stdio.h>

/* The system of the events that are made to calibrate with, and that of a probe. */
#define PROBES	"ftrace_overhead"
#define PROBE_NAME "calibrate"
#define PROBE	PROBES "/" PROBE_NAME

/**
 * struct saved - the files of the top instance that are changed meanwhile
 * @tracer: current_tracer
 * @notrace: set_ftrace_notrace, line by line
 * @events: set_event, line by line
 * @profiler: function_profile_enabled, or "" where there is no such file
 */
struct saved {
	char *tracer;
	char *profiler;
	char *notrace;
	char *events;
};

extern struct saved saved;

void saved_lock(void);
void saved_take(void);
void saved_forget(void);
void saved_put_back(void);
char *saved_next_event(char **next, char **system);
void saved_set_events(bool on);
void saved_write_notrace(FILE *f);
FILE *notrace_open(int flags);

#endif
