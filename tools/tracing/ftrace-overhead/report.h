/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results, as people read them, and as programs do.
 */
#ifndef OVERHEAD_REPORT_H
#define OVERHEAD_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "items.h"
#include "measure.h"

/* Changes if a program that knows this one would not understand the next. */
#define REPORT_VERSION	1

/**
 * struct check - a part of the functions and events, measured alone
 * @nr: how many functions and events it is
 * @predicted: its expected cost, in seconds a run
 * @measured: its measured cost
 */
struct check {
	size_t nr;
	double predicted;
	struct measured measured;
};

/**
 * struct result - the results
 * @load: the load that was measured
 * @cost: the cost of one of each kind, in seconds; not a number where it is not known
 * @items: the functions that were called and the events that happened, sorted by cost
 * @predicted: the expected cost of all of them, in seconds a run
 * @unknown: some of them are of a kind whose cost is not known
 * @measured: the measured cost of all of them
 * @check: parts of it
 * @nr_checks: how many they are
 * @budget: the most that tracing may cost, as a part of a run
 * @tried: the cost without those that are off in @items, if that was tried
 * @was_tried: whether it was
 * @top: how many functions and events are shown
 */
struct result {
	const struct load *load;
	double cost[ITEM_KINDS];
	struct items items;
	double predicted;
	bool unknown;
	struct measured measured;
	struct check *check;
	size_t nr_checks;
	double budget;
	struct measured tried;
	bool was_tried;
	size_t top;
};

bool is_within(const struct measured *m, double budget);
void report_prediction(const struct result *r);
void report_measured(const struct result *r);
void report_check(const struct result *r, const struct check *check);
void report_tried(const struct result *r);
void report_json(const struct result *r);

#endif
