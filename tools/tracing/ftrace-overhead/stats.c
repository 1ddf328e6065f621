// SPDX-License-Identifier: GPL-2.0
/*
 * Samples, and the estimate of the mean from them.
 *
 * The interval is that of Student's t distribution: it assumes nothing of how much the samples
 * vary, which a few of them tell only roughly.
 */
#include <math.h>
#include <stdlib.h>

#include "stats.h"
#include "util.h"

/* The 0.975 quantile, by the degrees of freedom; beyond these it is close to the normal one. */
static double t_quantile(size_t freedom)
{
	static const double t[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};

	return freedom <= ARRAY_SIZE(t) ? t[freedom - 1] : 1.96 + 2.5 / freedom;
}

/**
 * samples_add - add one more value
 * @s: the samples; all zero at first
 * @value: the value
 */
void samples_add(struct samples *s, double value)
{
	s->value = grow(s->value, s->nr + 1, sizeof(*s->value));
	s->value[s->nr++] = value;
}

/**
 * samples_free - forget all samples
 * @s: the samples
 */
void samples_free(struct samples *s)
{
	free(s->value);
	*s = (struct samples){ };
}

/**
 * samples_estimate - the mean of the samples
 * @s: the samples
 *
 * Returns: the estimate; zero, and infinitely uncertain, without samples.
 */
struct estimate samples_estimate(const struct samples *s)
{
	struct estimate e = { .half = INFINITY, .nr = s->nr };
	double squares = 0;

	for (size_t i = 0; i < s->nr; i++)
		e.mean += s->value[i] / s->nr;
	for (size_t i = 0; i < s->nr; i++)
		squares += (s->value[i] - e.mean) * (s->value[i] - e.mean);
	if (s->nr > 1)
		e.half = t_quantile(s->nr - 1) * sqrt(squares / (s->nr - 1) / s->nr);
	return e;
}
