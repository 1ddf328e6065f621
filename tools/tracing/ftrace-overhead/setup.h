/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracing that is set up in the top instance, and its switches.
 */
#ifndef OVERHEAD_SETUP_H
#define OVERHEAD_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "counts.h"
#include "items.h"

/**
 * struct setup - the tracing whose cost is asked for
 * @tracer: the tracer, "nop" if functions are not traced
 * @nr_functions: how many functions it traces
 * @at_most: a limit of the graph tracer makes it trace fewer calls than are counted
 * @events: the events that are enabled
 */
struct setup {
	char *tracer;
	size_t nr_functions;
	bool at_most;
	struct items events;
};

extern struct setup setup;

void setup_find(const char *tracer);
enum item_kind setup_event_kind(const char *name, const char *system);
bool setup_traces(const char *function, const char *module);
void setup_off(void);
void setup_on(const struct items *items);
void setup_try_line(const struct items *items);

#endif
