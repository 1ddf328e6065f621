/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A record: how often each function was called in each of several samples, to compare with later.
 */
#ifndef FUNCCOUNT_RECORD_H
#define FUNCCOUNT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counts.h"

/* Of fewer nothing is to be learned. More are put together, so that a record stays small. */
#define LEAST_SAMPLES	5
#define MOST_SAMPLES	120

/**
 * enum head - the words that say how a record was made, in the order of the file
 * @HEAD_RELEASE: the kernel
 * @HEAD_COUNTER: the name of the counter
 * @HEAD_COUNTED: "calls" or "times"
 * @HEAD_TASKS: whose calls: "all", "command" or "processes"
 * @HEAD_MODULE: only functions of this module, or "-"
 * @HEAD_FUNCTIONS: the globs, with tabs between them
 * @HEAD_INTERVAL: the seconds of a sample, or "-": a sample is a run of the command
 * @HEAD_COMMAND: the words of the command, each as a string of JSON, with tabs between them; or "-"
 */
enum head {
	HEAD_RELEASE,
	HEAD_COUNTER,
	HEAD_COUNTED,
	HEAD_TASKS,
	HEAD_MODULE,
	HEAD_FUNCTIONS,
	HEAD_INTERVAL,
	HEAD_COMMAND,
	NR_HEADS,
};

extern const char *const record_heads[NR_HEADS];

/**
 * struct record - the samples
 * @head: by enum head
 * @counts: a merged table: in place of the CPUs each row has its calls in MOST_SAMPLES samples,
 *	    then, if times are counted, the nanoseconds of these calls
 * @nr: how many samples there are
 * @most_runs: how many runs of the command (or intervals) are put together in one
 * @runs: how many are, in each of the samples
 * @ns: how long each of the samples was, in nanoseconds
 */
struct record {
	char *head[NR_HEADS];
	struct counts counts;
	size_t nr;
	uint64_t most_runs;
	uint64_t runs[MOST_SAMPLES];
	uint64_t ns[MOST_SAMPLES];
};

void record_begin(struct record *r);
void record_free(struct record *r);
bool record_has_times(const struct record *r);
bool record_is_of_runs(const struct record *r);
uint64_t record_runs(const struct record *r);
void record_add(struct record *r, const struct counts *c, uint64_t ns);
void record_write(const char *path, const struct record *r);
char *record_read(const char *path, struct record *r);

#endif
