/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table as people read it, and as programs do.
 */
#ifndef FUNCCOUNT_REPORT_H
#define FUNCCOUNT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compare.h"
#include "counts.h"

/* Changes if a program that knows this one would not understand the next. */
#define REPORT_VERSION	1

/**
 * struct report - how tables are written, and when
 * @counter: the counter's name: "count" or "profiler"
 * @top: how many rows to write; 0 for all
 * @cpus: the numbers of the CPUs of the tables
 * @online: whether each of them has a column even if nothing was called there
 * @by_module: the rows are modules
 * @latency: the rows have times in place of counts of CPUs
 * @timestamp: write the time of day first
 * @time: when the table was read, in nanoseconds since 1970
 * @ns: how long it was counted, in nanoseconds
 */
struct report {
	const char *counter;
	size_t top;
	const unsigned int *cpus;
	const bool *online;
	bool by_module;
	bool latency;
	bool timestamp;
	uint64_t time;
	uint64_t ns;
};

void report_text(FILE *f, const struct report *r, const struct counts *c);
void report_json(FILE *f, const struct report *r, const struct counts *c);
void report_differences(FILE *f, const struct comparison *c);

#endif
