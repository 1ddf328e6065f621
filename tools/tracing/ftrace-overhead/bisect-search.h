/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The search for the functions whose tracing makes a test fail.
 */
#ifndef OVERHEAD_BISECT_SEARCH_H
#define OVERHEAD_BISECT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * enum bisect_result - how a search has ended
 * @BISECT_FOUND: there is a set, and each of its functions is needed
 * @BISECT_FAILS_ALWAYS: the test fails with nothing traced
 * @BISECT_PASSES: the test passes with everything traced
 * @BISECT_TOO_MANY: more functions are needed than was allowed
 */
enum bisect_result {
	BISECT_FOUND,
	BISECT_FAILS_ALWAYS,
	BISECT_PASSES,
	BISECT_TOO_MANY,
};

/**
 * struct bisect_search - a search
 * @nr: among how many functions; they are numbered from 0
 * @most: give up when more than so many are needed together
 * @fails: whether the test fails while these functions are traced; ascending numbers
 * @data: for @fails
 * @steps: how many sets were tried
 * @about: how many that will be in the end, as far as one can tell
 * @found: the set that was found; allocated
 * @nr_found: how many functions it has
 * @rest_passes: whether the test passes with all others traced
 */
struct bisect_search {
	size_t nr;
	size_t most;
	bool (*fails)(struct bisect_search *search, const unsigned int *set, size_t nr);
	void *data;
	unsigned int steps;
	unsigned int about;
	unsigned int *found;
	size_t nr_found;
	bool rest_passes;
};

enum bisect_result bisect_search(struct bisect_search *search);

#endif
