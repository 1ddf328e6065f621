/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of functions and how often each was called.
 */
#ifndef TRACING_COUNTS_H
#define TRACING_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct row - a function, or all functions of a module
 * @name: the function; NULL if the row is a whole module
 * @module: the module; NULL for the kernel itself, "?" where it is not known
 * @count: how often it was called
 * @cpu: the same for each CPU of the table, or its times (struct wanted); NULL if it has neither
 */
struct row {
	char *name;
	char *module;
	uint64_t count;
	uint64_t *cpu;
};

/**
 * struct counts - the table
 * @row: the rows
 * @nr: how many there are
 * @max: for how many there is room
 * @nr_cpus: for how many CPUs each row has a count, or how many times; 0 if only in all
 */
struct counts {
	struct row *row;
	size_t nr;
	size_t max;
	unsigned int nr_cpus;
};

void counts_init(struct counts *c, unsigned int nr_cpus);
void counts_free(struct counts *c);
struct row *counts_add(struct counts *c, const char *name, const char *module, uint64_t count,
		       const uint64_t *cpu);
int counts_row_cmp(const void *x, const void *y);
void counts_merge(struct counts *c);
bool counts_subtract(struct counts *now, const struct counts *before, struct counts *diff);
void counts_by_module(const struct counts *c, struct counts *modules);
void counts_sort(struct counts *c);
uint64_t counts_sum(const struct counts *c);

#endif
