// SPDX-License-Identifier: GPL-2.0
/*
 * Samples, and the estimate of the mean from them.
 *
 * The interval is that of Student's t distribution: it assumes nothing of how much the samples
 * vary, which a few of them tell only roughly.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats.h"
#include "util.h"

/*
 * The part of the t distribution that is farther from zero than @t, on both sides: Abramowitz and
 * Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
 */
static double t_tails(double t, size_t freedom)
{
	double angle = atan(t / sqrt(freedom)), cosine = cos(angle), sum = 0;
	bool odd = freedom % 2;
	double term = odd ? cosine : 1;

	for (size_t k = 1 + odd; k < freedom; k += 2) {
		sum += term;
		term *= cosine * cosine * k / (k + 1);
	}
	sum *= sin(angle);
	return 1 - (odd ? (angle + sum) * M_2_PI : sum);
}

/**
 * t_quantile - the bound that few values of Student's t distribution are beyond
 * @freedom: its degrees of freedom, at least one
 * @alpha: the part of them that is, on both sides together; at least a trillionth
 *
 * Returns: the bound.
 */
double t_quantile(size_t freedom, double alpha)
{
	double low = 0, high = 1;

	while (t_tails(high, freedom) > alpha)
		high *= 2;
	while (high - low > 0.000001 * high) {
		double middle = (low + high) / 2;

		if (t_tails(middle, freedom) > alpha)
			low = middle;
		else
			high = middle;
	}
	return high;
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
 * More of them may be taken until the interval is short. Those that are short by chance end it, and
 * have the truth in them less often: with a bound of 5 %, only 90 of 100 do.
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
		e.half = t_quantile(s->nr - 1, 0.025) * sqrt(squares / (s->nr - 1) / s->nr);
	return e;
}
