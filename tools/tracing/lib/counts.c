// SPDX-License-Identifier: GPL-2.0
/*
 * A table of functions and how often each was called.
 *
 * A function is known by its name and its module. Functions that share both, as static
 * ones do, are one row once the table is merged. So an interval can be the difference of
 * two tables: the row of a module that is unloaded and loaded again goes on.
 */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "util.h"

/**
 * counts_init - begin an empty table
 * @c: the table
 * @nr_cpus: for how many CPUs each row has a count
 */
void counts_init(struct counts *c, unsigned int nr_cpus)
{
	*c = (struct counts){ .nr_cpus = nr_cpus };
}

static void row_free(struct row *row)
{
	free(row->name);
	free(row->module);
	free(row->cpu);
}

/**
 * counts_free - free the rows of a table
 * @c: the table
 */
void counts_free(struct counts *c)
{
	for (size_t i = 0; i < c->nr; i++)
		row_free(&c->row[i]);
	free(c->row);
	counts_init(c, c->nr_cpus);
}

/**
 * counts_add - add a row
 * @c: the table
 * @name: as in struct row
 * @module: as in struct row
 * @count: as in struct row
 * @cpu: the counts of the CPUs of the table; NULL: zero each
 *
 * Returns: the row, until the next one is added.
 */
struct row *counts_add(struct counts *c, const char *name, const char *module, uint64_t count,
		       const uint64_t *cpu)
{
	struct row *row;

	if (c->nr == c->max) {
		c->max = c->max ? 2 * c->max : 64;
		c->row = grow(c->row, c->max, sizeof(*c->row));
	}
	row = &c->row[c->nr++];
	row->name = name ? copy_string(name) : NULL;
	row->module = module ? copy_string(module) : NULL;
	row->count = count;
	row->cpu = NULL;
	if (c->nr_cpus) {
		row->cpu = alloc(c->nr_cpus, sizeof(*row->cpu));
		if (cpu)
			memcpy(row->cpu, cpu, c->nr_cpus * sizeof(*cpu));
	}
	return row;
}

/**
 * counts_row_cmp - the order of the rows of a merged table: by name, then by module
 * @x: a row
 * @y: another
 *
 * Returns: as qsort() wants it.
 */
int counts_row_cmp(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	int ret = string_cmp(a->name, b->name);

	return ret ? ret : string_cmp(a->module, b->module);
}

static void row_add(struct row *to, const struct row *row, unsigned int nr_cpus)
{
	to->count += row->count;
	for (unsigned int i = 0; i < nr_cpus; i++)
		to->cpu[i] += row->cpu[i];
}

/**
 * counts_merge - sort by name, and make one row of those that share name and module
 * @c: the table
 */
void counts_merge(struct counts *c)
{
	size_t nr = 0;

	if (c->nr)
		qsort(c->row, c->nr, sizeof(*c->row), counts_row_cmp);
	for (size_t i = 0; i < c->nr; i++) {
		if (nr && !counts_row_cmp(&c->row[nr - 1], &c->row[i])) {
			row_add(&c->row[nr - 1], &c->row[i], c->nr_cpus);
			row_free(&c->row[i]);
		} else {
			c->row[nr++] = c->row[i];
		}
	}
	c->nr = nr;
}

/* Whether no count has become smaller. */
static bool row_subtract(struct row *row, const struct row *before, unsigned int nr_cpus)
{
	if (row->count < before->count)
		return false;
	row->count -= before->count;
	for (unsigned int i = 0; i < nr_cpus; i++) {
		if (row->cpu[i] < before->cpu[i])
			return false;
		row->cpu[i] -= before->cpu[i];
	}
	return true;
}

/* A call of before may have ended since: its time is there, and no call. */
static bool row_is_zero(const struct row *row, unsigned int nr_cpus)
{
	uint64_t any = row->count;

	for (unsigned int i = 0; row->cpu && i < nr_cpus; i++)
		any |= row->cpu[i];
	return !any;
}

/**
 * counts_subtract - the calls between two tables
 * @now: the later table, merged
 * @before: the earlier one, merged, with the same CPUs
 * @diff: an empty table that takes the counts that are not zero
 *
 * The counts of a module go with it, and begin anew when it is loaded.
 *
 * Returns: false if a count of the kernel has become smaller, or a row is gone: the counts
 * have been reset.
 */
bool counts_subtract(struct counts *now, const struct counts *before, struct counts *diff)
{
	size_t j = 0;

	for (size_t i = 0; i < now->nr; i++) {
		const struct row *row = &now->row[i];
		struct row *left;
		int cmp = 1;

		for (; j < before->nr; j++) {
			cmp = counts_row_cmp(&before->row[j], row);
			if (cmp >= 0)
				break;
			if (!before->row[j].module)
				return false;
		}
		if (j == before->nr)
			cmp = 1;
		left = counts_add(diff, row->name, row->module, row->count, row->cpu);
		if (!cmp && !row_subtract(left, &before->row[j++], now->nr_cpus)) {
			if (!row->module)
				return false;
			/* It has been loaded again. */
			left->count = row->count;
			if (row->cpu)
				memcpy(left->cpu, row->cpu, now->nr_cpus * sizeof(*row->cpu));
		}
		if (row_is_zero(left, now->nr_cpus)) {
			row_free(left);
			diff->nr--;
		}
	}
	while (j < before->nr) {
		if (!before->row[j++].module)
			return false;
	}
	return true;
}

/**
 * counts_by_module - add up the functions of each module
 * @c: the table of functions
 * @modules: an empty table with the same CPUs
 */
void counts_by_module(const struct counts *c, struct counts *modules)
{
	for (size_t i = 0; i < c->nr; i++)
		counts_add(modules, NULL, c->row[i].module, c->row[i].count, c->row[i].cpu);
	counts_merge(modules);
}

static int count_cmp(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return counts_row_cmp(x, y);
}

/**
 * counts_sort - put the row with the highest count last
 * @c: the table
 */
void counts_sort(struct counts *c)
{
	if (c->nr)
		qsort(c->row, c->nr, sizeof(*c->row), count_cmp);
}

/**
 * counts_sum - all calls
 * @c: the table
 *
 * Returns: the sum of all rows.
 */
uint64_t counts_sum(const struct counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->nr; i++)
		sum += c->row[i].count;
	return sum;
}
