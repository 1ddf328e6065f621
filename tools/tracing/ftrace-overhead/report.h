/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was found, as people read it, and as programs do.
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
 * struct check - a part of what is traced, measured alone
 * @nr: how many functions and events it is
 * @predicted: what it was expected to cost, in seconds a run
 * @measured: what it does
 */
struct check {
	size_t nr;
	double predicted;
	struct measured measured;
};

/**
 * struct result - what was found
 * @load: what was measured
 * @cost: what one of each kind costs, in seconds; not a number where it is not known
 * @items: what was called and what happened, sorted by cost
 * @predicted: what all of it was expected to cost, in seconds a run
 * @unknown: some of it is of a kind whose cost is not known
 * @measured: what it does
 * @check: parts of it
 * @nr_checks: how many they are
 * @budget: what it may cost, as a part of a run
 * @tried: what it costs without those that are off in @items, if that was tried
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
