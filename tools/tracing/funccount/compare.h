/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences of two records.
 */
#ifndef FUNCCOUNT_COMPARE_H
#define FUNCCOUNT_COMPARE_H

#include <stddef.h>

#include "record.h"

/* Changes that are smaller than this part are not told: a system is never quite the same. */
#define LEAST_CHANGE	0.01
/* The size of a change of which is told for how many functions it would have been found. */
#define SHARP_CHANGE	0.05

/**
 * struct difference - a function that differs
 * @row: its name and module
 * @then: calls in a run of the command or a second, or nanoseconds of a call, in the first record
 * @now: the same in the second one
 * @change: the difference, without the part that the whole load has in common
 * @half: half of the interval that has its true value in it
 */
struct difference {
	const struct row *row;
	double then;
	double now;
	double change;
	double half;
};

/**
 * struct comparison - the differences
 * @difference: those that are no chance, the one that has changed most is the last
 * @nr: how many there are
 * @nr_functions: how many functions were compared
 * @nr_sharp: for how many of them a change by SHARP_CHANGE would have been found
 * @pace: the change of the whole load, as a part: of the time of a run, the calls in a second, or
 *	  the time of a call
 */
struct comparison {
	struct difference *difference;
	size_t nr;
	size_t nr_functions;
	size_t nr_sharp;
	double pace;
};

struct comparison compare(const struct record *then, const struct record *now);
double difference_part(const struct difference *d);

#endif
