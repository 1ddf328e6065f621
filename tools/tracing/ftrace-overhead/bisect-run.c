// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of the test.
 *
 * The test has a process group of its own, so that a signal of the terminal does not reach
 * it, and all of it can be ended.
 */
#include <stdio.h>
#include <string.h>

#include "bisect-run.h"
#include "command.h"
#include "signals.h"
#include "util.h"

/* As git bisect run has it. */
#define CANNOT_BE_TESTED	125

/* How often it has to be too slow, and how often its time is taken without tracing. */
#define SLOW_RUNS	3

static void fail(struct outcome *o, const char *format, int number)
{
	o->fails = true;
	snprintf(o->why, sizeof(o->why), format, number);
}

static void judge(struct outcome *o, int status)
{
	if (status == CANNOT_BE_TESTED)
		die("the test says that it cannot be run like this: its status is 125");
	if (command_signal())
		fail(o, "ended by signal %d", command_signal());
	else if (status)
		fail(o, "status %d", status);
}

/* Returns how long it took; 0 if a signal has stopped us. */
static uint64_t run_once(const struct test *test, struct outcome *o)
{
	unsigned int flags = COMMAND_DETACHED | COMMAND_OURS;
	uint64_t begin, ns;
	bool ended;

	flags |= test->verbose ? COMMAND_ASIDE : COMMAND_QUIET | COMMAND_SILENT;
	command_make(test->command, flags);
	begin = clock_ns(CLOCK_MONOTONIC);
	command_go();
	ended = command_wait(test->timeout ? begin + test->timeout : UINT64_MAX);
	ns = clock_ns(CLOCK_MONOTONIC) - begin;
	o->runs++;
	if (ended)
		judge(o, command_status());
	else
		command_kill();
	if (signal_came)
		return 0;
	if (!ended)
		fail(o, "takes too long", 0);
	if (o->runs == 1 || ns < o->shortest)
		o->shortest = ns;
	return ns;
}

static bool is_slow(const struct test *test, uint64_t untraced, uint64_t ns)
{
	return untraced && test->slower &&
	       (double)ns * NSEC > (double)untraced * (double)test->slower;
}

/* Returns false if a signal has stopped us. */
static bool run_until_sure(const struct test *test, uint64_t untraced, struct outcome *o)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < SLOW_RUNS; i++) {
		ns = run_once(test, o);
		if (!ns || o->fails)
			return ns;
		if (!is_slow(test, untraced, ns))
			return true;
	}
	fail(o, "slow", 0);
	return true;
}

/**
 * test_run - run the test as often as it takes to know whether it fails
 * @test: the test
 * @untraced: how long it takes without tracing, in nanoseconds; 0 if this finds out
 * @outcome: takes the result
 *
 * Ends the program if the test cannot be run.
 *
 * Returns: false if a signal has come meanwhile; the test is ended then, too.
 */
bool test_run(const struct test *test, uint64_t untraced, struct outcome *outcome)
{
	uint64_t times = test->repeat;

	*outcome = (struct outcome){ };
	if (!untraced && test->slower && times < SLOW_RUNS)
		times = SLOW_RUNS;
	while (times-- && !outcome->fails) {
		if (!run_until_sure(test, untraced, outcome))
			return false;
	}
	return true;
}
