/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tracing was like before, and the way back.
 */
#ifndef OVERHEAD_SAVED_H
#define OVERHEAD_SAVED_H

#include <stdbool.h>
#include <stdio.h>

/* The system of the events that are made to calibrate with. */
#define PROBES	"ftrace_overhead"

/**
 * struct saved - what of the top instance is changed meanwhile
 * @tracer: current_tracer
 * @notrace: what set_ftrace_notrace shows, line by line
 * @events: what set_event shows, line by line
 * @profiler: function_profile_enabled, or "" where there is none
 */
struct saved {
	char *tracer;
	char *profiler;
	char *notrace;
	char *events;
};

extern struct saved saved;

void saved_take(void);
void saved_put_back(void);
void saved_set_events(bool on);
void saved_write_notrace(FILE *f);
FILE *notrace_open(int flags);

#endif
