/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples, and the estimate of the mean from them.
 */
#ifndef TRACING_STATS_H
#define TRACING_STATS_H

#include <stddef.h>

/**
 * struct samples - the measured values
 * @value: the values
 * @nr: how many they are
 */
struct samples {
	double *value;
	size_t nr;
};

/**
 * struct estimate - a mean, and how far the truth may be from it
 * @mean: the mean of the samples
 * @half: half of the interval that has the truth in it in 95 of 100 cases; infinite for one sample
 * @nr: how many samples there are
 */
struct estimate {
	double mean;
	double half;
	size_t nr;
};

void samples_add(struct samples *s, double value);
void samples_free(struct samples *s);
struct estimate samples_estimate(const struct samples *s);
double t_quantile(size_t freedom, double alpha);

#endif
