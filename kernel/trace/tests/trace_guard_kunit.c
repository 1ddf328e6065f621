// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of trace_guard.c: what it decides and measures, on a clock that is made up.
 * Included there.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>

#define GUARD_KUNIT_NR	4

/* A round with samples of so many calls and nanoseconds each, and sites 1, 2, ... */
static void guard_kunit_round(struct guard_round *round, u64 time, const u64 calls[GUARD_KUNIT_NR],
			      u64 cost)
{
	round->time = time;
	round->nr = GUARD_KUNIT_NR;
	for (unsigned int i = 0; i < GUARD_KUNIT_NR; i++) {
		round->sample[i] = (struct guard_sample) {
			.ip	= i + 1,
			.calls	= calls[i],
			.cost	= calls[i] * cost,
		};
	}
}

/* For which limit the site @ip has to leave: the samples may have been sorted. */
static enum guard_limit guard_kunit_over(const struct guard_round *round, unsigned long ip)
{
	for (unsigned int i = 0; i < round->nr; i++) {
		if (round->sample[i].ip == ip)
			return round->sample[i].over;
	}
	return -1;
}

static void guard_kunit_rate(struct kunit *test)
{
	static const u64 calls[] = { 100, 101, 0, 5000 };
	const struct guard_limits limits = { .rate = 1000 };
	struct guard_sample sample[GUARD_KUNIT_NR];
	struct guard_round round = { .sample = sample };

	/* In a tenth of a second, 100 are not too many. */
	guard_kunit_round(&round, NSEC_PER_SEC / 10, calls, 1);
	KUNIT_EXPECT_TRUE(test, guard_decide(&round, &limits));
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 1), GUARD_LIMIT_NONE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 2), GUARD_LIMIT_RATE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 3), GUARD_LIMIT_NONE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 4), GUARD_LIMIT_RATE);

	/* In ten seconds, as many are. */
	guard_kunit_round(&round, 10ULL * NSEC_PER_SEC, calls, 1);
	KUNIT_EXPECT_FALSE(test, guard_decide(&round, &limits));
}

static void guard_kunit_rate_all(struct kunit *test)
{
	static const u64 calls[] = { 10, 40, 30, 20 };
	struct guard_limits limits = { .rate_all = 100 };
	struct guard_sample sample[GUARD_KUNIT_NR];
	struct guard_round round = { .sample = sample };

	guard_kunit_round(&round, NSEC_PER_SEC, calls, 1);
	KUNIT_EXPECT_FALSE(test, guard_decide(&round, &limits));

	/* The most frequent ones, as few as it takes. */
	limits.rate_all = 59;
	guard_kunit_round(&round, NSEC_PER_SEC, calls, 1);
	KUNIT_EXPECT_TRUE(test, guard_decide(&round, &limits));
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 1), GUARD_LIMIT_NONE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 2), GUARD_LIMIT_RATE_ALL);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 3), GUARD_LIMIT_RATE_ALL);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 4), GUARD_LIMIT_NONE);
}

/* What leaves for its rate does not count for what all may have together. */
static void guard_kunit_both(struct kunit *test)
{
	static const u64 calls[] = { 10, 40, 30, 20 };
	const struct guard_limits limits = { .rate = 35, .rate_all = 60 };
	struct guard_sample sample[GUARD_KUNIT_NR];
	struct guard_round round = { .sample = sample };

	guard_kunit_round(&round, NSEC_PER_SEC, calls, 1);
	KUNIT_EXPECT_TRUE(test, guard_decide(&round, &limits));
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 2), GUARD_LIMIT_RATE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 3), GUARD_LIMIT_NONE);
}

static void guard_kunit_overhead(struct kunit *test)
{
	static const u64 calls[] = { 1000, 4000, 3000, 2000 };
	const struct guard_limits limits = { .overhead = 5 };
	struct guard_sample sample[GUARD_KUNIT_NR];
	struct guard_round round = { .sample = sample };

	/* 10,000 calls of 5,000 ns are 50 ms: 5 % of a second. */
	guard_kunit_round(&round, NSEC_PER_SEC, calls, 5000);
	KUNIT_EXPECT_FALSE(test, guard_decide(&round, &limits));

	/* Of 60 ms 10 have to go. A call that costs much counts as many cheap ones. */
	guard_kunit_round(&round, NSEC_PER_SEC, calls, 5000);
	round.sample[0].cost = 15 * NSEC_PER_MSEC;
	KUNIT_EXPECT_TRUE(test, guard_decide(&round, &limits));
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 1), GUARD_LIMIT_NONE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 2), GUARD_LIMIT_OVERHEAD);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 3), GUARD_LIMIT_NONE);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 4), GUARD_LIMIT_NONE);
}

static void guard_kunit_large(struct kunit *test)
{
	static const u64 calls[] = { 1ULL << 50, 1, 0, 0 };
	const struct guard_limits limits = { .rate_all = U32_MAX, .overhead = 99 };
	struct guard_sample sample[GUARD_KUNIT_NR];
	struct guard_round round = { .sample = sample };

	/* Nothing overflows within what a week without a look can bring. */
	guard_kunit_round(&round, 7ULL * 86400 * NSEC_PER_SEC, calls, 1);
	KUNIT_EXPECT_TRUE(test, guard_decide(&round, &limits));
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 1), GUARD_LIMIT_OVERHEAD);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(&round, 2), GUARD_LIMIT_NONE);
}

static void guard_kunit_text(struct kunit *test)
{
	static const char * const wrong[] = { "", "x", "-1", "1 2 3", "1 x", "1,2" };
	struct guard_limits limits = { };

	KUNIT_EXPECT_EQ(test, guard_parse_rates("7", &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.rate, 7);
	KUNIT_EXPECT_EQ(test, guard_parse_rates("8 \t 9", &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.rate, 8);
	KUNIT_EXPECT_EQ(test, limits.rate_all, 9);
	KUNIT_EXPECT_EQ(test, guard_parse_overhead("99", &limits), 0);
	KUNIT_EXPECT_EQ(test, limits.overhead, 99);
	KUNIT_EXPECT_EQ(test, guard_parse_overhead("100", &limits), -EINVAL);
	KUNIT_EXPECT_EQ(test, guard_parse_overhead("5%", &limits), -EINVAL);
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, guard_parse_rates(wrong[i], &limits), -EINVAL, "\"%s\"",
				    wrong[i]);
}

#define GUARD_KUNIT_SLOW	80

static unsigned int guard_kunit_looks;

static u64 guard_kunit_stands(void)
{
	return 1;
}

/* What is timed first takes a second: whatever ran beside it slowed it down. */
static u64 guard_kunit_slow_at_first(void)
{
	unsigned int look = guard_kunit_looks++;

	return ktime_get_mono_fast_ns() + min(look, GUARD_KUNIT_SLOW) * NSEC_PER_SEC;
}

static void guard_kunit_measure(struct kunit *test)
{
	u64 cost[FTRACE_NR_GUARDED] = { [FTRACE_GUARDED_FUNCTION] = 7 };

	/* Nobody else measures. */
	guard(mutex)(&guard_mutex);

	kunit_activate_static_stub(test, trace_guard_clock, guard_kunit_stands);
	KUNIT_EXPECT_EQ(test, trace_guard_measure(cost), -EAGAIN);
	KUNIT_EXPECT_EQ(test, cost[FTRACE_GUARDED_FUNCTION], 7);

	guard_kunit_looks = 0;
	kunit_activate_static_stub(test, trace_guard_clock, guard_kunit_slow_at_first);
	KUNIT_EXPECT_EQ(test, trace_guard_measure(cost), 0);
	KUNIT_EXPECT_GT(test, guard_kunit_looks, GUARD_KUNIT_SLOW);
	for (unsigned int kind = FTRACE_GUARDED_FUNCTION; kind < FTRACE_NR_GUARDED; kind++)
		KUNIT_EXPECT_LT_MSG(test, cost[kind], NSEC_PER_SEC, "kind %u", kind);
	KUNIT_EXPECT_GT(test, cost[FTRACE_GUARDED_FUNCTION], 0);
	kunit_deactivate_static_stub(test, trace_guard_clock);
}

static struct kunit_case guard_kunit_cases[] = {
	KUNIT_CASE(guard_kunit_rate),
	KUNIT_CASE(guard_kunit_rate_all),
	KUNIT_CASE(guard_kunit_both),
	KUNIT_CASE(guard_kunit_overhead),
	KUNIT_CASE(guard_kunit_large),
	KUNIT_CASE(guard_kunit_text),
	KUNIT_CASE(guard_kunit_measure),
	{ }
};

static struct kunit_suite guard_kunit_suite = {
	.name		= "trace_guard",
	.test_cases	= guard_kunit_cases,
};

kunit_test_suite(guard_kunit_suite);
