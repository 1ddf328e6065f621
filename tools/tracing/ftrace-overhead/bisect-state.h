/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that a bisection goes on from, also after a crash of the machine.
 */
#ifndef OVERHEAD_BISECT_STATE_H
#define OVERHEAD_BISECT_STATE_H

#include "bisect-run.h"
#include "functions.h"

/**
 * struct plan - the settings that stay the same in all of a bisection
 * @release: the kernel's release
 * @tracer: the tracer
 * @test: the test
 * @functions: among which functions
 */
struct plan {
	char *release;
	char *tracer;
	struct test test;
	struct functions functions;
};

/**
 * struct history - the results of earlier runs
 * @outcome: the result of each set, in the order in which they were tried
 * @nr: how many
 * @crashes: how many of them ended with the machine
 */
struct history {
	struct outcome *outcome;
	size_t nr;
	size_t crashes;
};

void state_create(const char *path, const struct plan *plan, const char *boot);
const char *state_load(const char *path, struct plan *plan, struct history *history,
		       const char *boot);
void state_begin(void);
void state_end(const struct outcome *outcome);
void state_close(void);
void state_remove(void);

#endif
