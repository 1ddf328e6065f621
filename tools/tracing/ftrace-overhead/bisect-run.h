/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of the test.
 */
#ifndef OVERHEAD_BISECT_RUN_H
#define OVERHEAD_BISECT_RUN_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct test - a command to run, and when it fails
 * @command: the command, with its arguments
 * @timeout: it fails if it takes longer, in nanoseconds; 0 for no limit
 * @slower: it fails if it takes so many times as long as without tracing, in billionths;
 *	    0 for no limit
 * @repeat: it passes if it passes so often
 * @verbose: its output is shown
 */
struct test {
	char **command;
	uint64_t timeout;
	uint64_t slower;
	uint64_t repeat;
	bool verbose;
};

/**
 * struct outcome - the result of the test for one set of functions
 * @fails: the answer
 * @shortest: how long the shortest run took, in nanoseconds
 * @runs: how often the test was run
 * @why: why it fails, in a few words
 */
struct outcome {
	bool fails;
	uint64_t shortest;
	uint64_t runs;
	char why[48];
};

bool test_run(const struct test *test, uint64_t untraced, struct outcome *outcome);

#endif
