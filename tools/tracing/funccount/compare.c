// SPDX-License-Identifier: GPL-2.0
/*
 * The differences of two records.
 *
 * Neighbours among the samples are alike: a cache stays warm, other work goes on for a while. So
 * the samples of a record are put together in batches, as many as in the other one, and only
 * these are looked at. Where neighbours among the batches are still alike, they count for less.
 * The means of the batches are compared by Welch's test.
 *
 * Nor is the pace of a load the same on two days: the machine has other work, too. That is no
 * difference, but it changes the calls that come with time, such as a timer's, in a run of the
 * command, and those that come with work in a second. The samples tell which of both a function
 * is, as the pace varies among them, too. So the test is an analysis of covariance: a line is
 * laid through the batches of both records, by the pace, with one slope for both; the difference
 * is that of their heights. Its interval includes the uncertainty of the slope, and is wide where
 * the paces are far from each other.
 *
 * Some of the state that a function depends on stays as it is as long as a record is made, and is
 * another one the next day: where memory was had, say. The samples do not show it. Functions that
 * vary little from run to run have been found to vary little from day to day, too, so a part of
 * the one variance is taken for the other, however many samples there are. Where that is next to
 * nothing, such state still makes a few calls in each run: the allocator of per-CPU memory looks
 * for a page that is there once, or three times. So each run may have half a call more or less.
 *
 * A count may be the same in all samples and still not be certain. The least uncertainty that is
 * taken is that of a count of which one sample was off by its square root.
 *
 * There are thousands of functions, each of which may differ by chance. The intervals are so wide
 * (Bonferroni) that all of them together have the truth in them but for CHANCE.
 */
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "stats.h"
#include "util.h"

#define CHANCE		0.001
#define MOST_BATCHES	20
/* Beyond this the number of batches is no number any more. */
#define MOST_ALIKE	0.9
/* The variance from day to day, as a part of that from run to run. */
#define OTHER_DAY	0.25
/* The variance from day to day of the calls in a run, where it is not seen. */
#define OTHER_CALLS	0.25
/* Of fewer functions the median may well be the one that differs. */
#define LEAST_FUNCTIONS	20

/* A function, and its value in each batch of both records. */
struct pair {
	const struct row *row[2];
	double value[2][MOST_BATCHES];
	double mean[2];
};

static struct {
	const struct record *record[2];
	size_t nr_batches;
	struct pair *pair;
	size_t nr;
	double pace[2][MOST_BATCHES];
} all;

static double sum_batch(const uint64_t *number, size_t nr, size_t batch)
{
	uint64_t sum = 0;

	for (size_t i = batch * nr / all.nr_batches; i < (batch + 1) * nr / all.nr_batches; i++)
		sum += number[i];
	return sum;
}

/* The runs of the command in a batch, or its seconds. */
static double batch_size(const struct record *r, size_t batch)
{
	return record_is_of_runs(r) ? sum_batch(r->runs, r->nr, batch) :
				      sum_batch(r->ns, r->nr, batch) / NSEC;
}

static double mean(const double *value)
{
	double sum = 0;

	for (size_t i = 0; i < all.nr_batches; i++)
		sum += value[i];
	return sum / all.nr_batches;
}

/* Returns false if the function has no value in a batch: no call has a time. */
static bool set_values(struct pair *p, int which)
{
	const struct record *r = all.record[which];
	const struct row *row = p->row[which];
	bool times = record_has_times(r);

	for (size_t i = 0; i < all.nr_batches; i++) {
		double calls = row ? sum_batch(row->cpu, r->nr, i) : 0;

		if (times && !calls)
			return false;
		p->value[which][i] = times ? sum_batch(row->cpu + MOST_SAMPLES, r->nr, i) / calls :
					     calls / batch_size(r, i);
	}
	p->mean[which] = mean(p->value[which]);
	return true;
}

static void make_pairs(void)
{
	const struct counts *then = &all.record[0]->counts, *now = &all.record[1]->counts;
	size_t i = 0, j = 0;

	all.pair = alloc(then->nr + now->nr, sizeof(*all.pair));
	all.nr = 0;
	while (i < then->nr || j < now->nr) {
		struct pair *p = &all.pair[all.nr];
		int cmp = i == then->nr ? 1 : j == now->nr ? -1 :
			  counts_row_cmp(&then->row[i], &now->row[j]);

		p->row[0] = cmp <= 0 ? &then->row[i++] : NULL;
		p->row[1] = cmp >= 0 ? &now->row[j++] : NULL;
		if (set_values(p, 0) && set_values(p, 1))
			all.nr++;
	}
}

static int double_cmp(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/* The median, over all functions, of a batch's value as a part of the function's mean. */
static double common_part(int which, size_t batch, double *part)
{
	size_t nr = 0;

	for (size_t i = 0; i < all.nr; i++) {
		const struct pair *p = &all.pair[i];

		if (p->mean[0] && p->mean[1])
			part[nr++] = 2 * p->value[which][batch] / (p->mean[0] + p->mean[1]);
	}
	if (nr < LEAST_FUNCTIONS)
		return 1;
	qsort(part, nr, sizeof(*part), double_cmp);
	return part[nr / 2];
}

static void set_paces(void)
{
	double *part = alloc(all.nr, sizeof(*part));

	for (int which = 0; which < 2; which++) {
		const struct record *r = all.record[which];
		bool by_time = record_is_of_runs(r) && !record_has_times(r);

		for (size_t i = 0; i < all.nr_batches; i++)
			all.pace[which][i] = by_time ?
				sum_batch(r->ns, r->nr, i) / batch_size(r, i) :
				common_part(which, i, part);
	}
	free(part);
}

/* The least variance of the difference of means that is taken. */
static double least_variance(const struct pair *p)
{
	bool of_calls = record_is_of_runs(all.record[0]) && !record_has_times(all.record[0]);
	double sum = of_calls ? 2 * OTHER_CALLS : 0;

	for (int i = 0; i < 2; i++) {
		const struct record *r = all.record[i];
		double size = 0;

		for (size_t j = 0; j < all.nr_batches; j++)
			size += batch_size(r, j);
		if (p->row[i] && !record_has_times(r))
			sum += p->row[i]->count / (size * size * r->nr);
	}
	return sum;
}

/* The line through the batches of a function, by the pace. */
struct line {
	double slope;
	double xx;		/* the squares of the pace's distances from its means */
	double square[2];	/* those of the values from the line, in each record */
	double alike;		/* the correlation of neighbours among these distances */
};

static struct line lay_line(const struct pair *p, const double *pace)
{
	struct line l = { };
	double xy = 0, both = 0, sum;

	for (size_t i = 0; i < 2 * all.nr_batches; i++) {
		size_t which = i / all.nr_batches, batch = i % all.nr_batches;
		double x = all.pace[which][batch] - pace[which];

		l.xx += x * x;
		xy += x * (p->value[which][batch] - p->mean[which]);
	}
	l.slope = l.xx > 0 ? xy / l.xx : 0;
	for (int which = 0; which < 2; which++) {
		double before = 0;

		for (size_t i = 0; i < all.nr_batches; i++) {
			double rest = p->value[which][i] - p->mean[which] -
				      l.slope * (all.pace[which][i] - pace[which]);

			l.square[which] += rest * rest;
			both += rest * before;
			before = rest;
		}
	}
	sum = l.square[0] + l.square[1];
	l.alike = sum > 0 ? fmax(both / sum, 0) : 0;
	/* Around a mean that is not known it looks lower, by Kendall and others by this much. */
	l.alike = fmin(l.alike + (1 + 3 * l.alike) / all.nr_batches, MOST_ALIKE);
	return l;
}

static struct difference estimate(const struct pair *p)
{
	struct difference d = {
		.row = p->row[0] ? p->row[0] : p->row[1], .then = p->mean[0], .now = p->mean[1],
	};
	double pace[2] = { mean(all.pace[0]), mean(all.pace[1]) }, apart = pace[1] - pace[0];
	struct line l = lay_line(p, pace);
	double sum = l.square[0] + l.square[1], n = all.nr_batches;
	/* So many batches count for one. */
	double longer = (1 + l.alike) / (1 - l.alike);
	/* Of the 2 n values two means and the slope are known. */
	double variance = longer * sum / (2 * n - 3), of_means, runs, freedom = 2 * n - 3;

	/* The variance of a run is that of a batch, times the runs of the batch. */
	runs = record_runs(all.record[0]) + record_runs(all.record[1]);
	of_means = fmax(variance * (2 + OTHER_DAY * runs) / n, least_variance(p));
	if (sum > 0)
		freedom = (n - 1) * sum * sum / (l.square[0] * l.square[0] +
						 l.square[1] * l.square[1]) - 1;
	if (l.xx > 0)
		variance *= apart * apart / l.xx;
	d.change = d.now - d.then - l.slope * apart;
	d.half = t_quantile(fmax(freedom / longer, 1), CHANCE / all.nr) *
		 sqrt(of_means + variance);
	return d;
}

/**
 * difference_part - how much a function has changed
 * @d: the function
 *
 * Returns: the change as a part of the value then; infinite if that was zero.
 */
double difference_part(const struct difference *d)
{
	return d->then ? d->change / d->then : INFINITY;
}

static int difference_cmp(const void *x, const void *y)
{
	double a = fabs(difference_part(x)), b = fabs(difference_part(y));

	if (a != b)
		return a < b ? -1 : 1;
	return counts_row_cmp(((const struct difference *)x)->row,
			      ((const struct difference *)y)->row);
}

/**
 * compare - find the functions that are called more or less often, or take another time
 * @then: the record that is compared with
 * @now: the other one, made in the same way
 *
 * Returns: the differences, to be freed, which point into both records.
 */
struct comparison compare(const struct record *then, const struct record *now)
{
	struct comparison c = { };

	all.record[0] = then;
	all.record[1] = now;
	all.nr_batches = then->nr < now->nr ? then->nr : now->nr;
	if (all.nr_batches > MOST_BATCHES)
		all.nr_batches = MOST_BATCHES;
	make_pairs();
	set_paces();
	c.pace = mean(all.pace[1]) / mean(all.pace[0]) - 1;
	c.nr_functions = all.nr;
	c.difference = alloc(all.nr, sizeof(*c.difference));
	for (size_t i = 0; i < all.nr; i++) {
		struct difference d = estimate(&all.pair[i]);
		double least = LEAST_CHANGE * fmax(d.then, d.now);

		c.nr_sharp += d.then && d.half + least < SHARP_CHANGE * d.then;
		if (fabs(d.change) - d.half > least)
			c.difference[c.nr++] = d;
	}
	qsort(c.difference, c.nr, sizeof(*c.difference), difference_cmp);
	free(all.pair);
	return c;
}
