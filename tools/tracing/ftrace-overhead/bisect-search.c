// SPDX-License-Identifier: GPL-2.0
/*
 * The search for the functions whose tracing makes a test fail.
 *
 * It knows nothing of tracing: it asks whether a set of numbers fails. The same answers
 * always lead to the same questions, so a search can be repeated up to where it was.
 *
 * First the set is halved. If the first half fails the search goes on in it, and otherwise
 * in the second half, without a question. So one culprit among n is found with log2(n)
 * questions, and few functions are traced in most of them. One more says whether it was
 * right. If not, several functions are needed together, and all of them are in the smallest
 * set that is known to fail. They are found from its end: the shortest beginning of the set
 * that still fails ends with a function that is needed. That one stays in all sets that
 * follow, and all functions after it are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect-search.h"
#include "util.h"

/**
 * struct answer - a question that was asked
 * @set: the functions
 * @nr: how many they are
 * @fails: the answer
 */
struct answer {
	unsigned int *set;
	size_t nr;
	bool fails;
};

/**
 * struct state - the state of a search
 * @search: the question and the result
 * @answer: the questions that were asked
 * @nr_answers: how often
 * @begin: the first function of the smallest range that is known to fail
 * @end: the first one after it
 * @needed: functions without which the test passes, in descending order
 * @nr_needed: how many they are
 */
struct state {
	struct bisect_search *search;
	struct answer *answer;
	size_t nr_answers;
	size_t begin, end;
	unsigned int *needed;
	size_t nr_needed;
};

static unsigned int log2_up(size_t n)
{
	unsigned int log = 0;

	while (((size_t)1 << log) < n)
		log++;
	return log;
}

/* Takes over @set. */
static bool ask(struct state *s, unsigned int *set, size_t nr)
{
	struct answer *a;

	for (size_t i = 0; i < s->nr_answers; i++) {
		a = &s->answer[i];
		if (a->nr == nr && !memcmp(a->set, set, nr * sizeof(*set))) {
			free(set);
			return a->fails;
		}
	}
	s->search->steps++;
	if (s->search->about < s->search->steps)
		s->search->about = s->search->steps;
	s->answer = grow(s->answer, s->nr_answers + 1, sizeof(*s->answer));
	a = &s->answer[s->nr_answers++];
	*a = (struct answer){ .set = set, .nr = nr };
	a->fails = s->search->fails(s->search, set, nr);
	return a->fails;
}

/* With the functions that are needed: all of them follow the range. */
static bool ask_range(struct state *s, size_t begin, size_t end)
{
	unsigned int *set = alloc(end - begin + s->nr_needed, sizeof(*set));
	size_t nr = 0;

	for (size_t i = begin; i < end; i++)
		set[nr++] = i;
	for (size_t i = s->nr_needed; i--; )
		set[nr++] = s->needed[i];
	return ask(s, set, nr);
}

/* Without the one at a place of @needed. */
static bool ask_without(struct state *s, size_t without)
{
	unsigned int *set = alloc(s->nr_needed, sizeof(*set));
	size_t nr = 0;

	for (size_t i = s->nr_needed; i--; ) {
		if (i != without)
			set[nr++] = s->needed[i];
	}
	return ask(s, set, nr);
}

static bool ask_rest(struct state *s)
{
	unsigned int *set = alloc(s->search->nr, sizeof(*set));
	size_t nr = 0, left = s->nr_needed;

	for (size_t i = 0; i < s->search->nr; i++) {
		if (left && s->needed[left - 1] == i)
			left--;
		else
			set[nr++] = i;
	}
	return ask(s, set, nr);
}

static void need(struct state *s, unsigned int function)
{
	s->needed = grow(s->needed, s->nr_needed + 1, sizeof(*s->needed));
	s->needed[s->nr_needed++] = function;
}

static size_t middle(size_t begin, size_t end)
{
	return begin + (end - begin + 1) / 2;
}

/* As if there were one culprit; says whether there is. */
static bool find_one(struct state *s)
{
	size_t begin = 0, end = s->search->nr;

	while (end - begin > 1) {
		size_t half = middle(begin, end);

		if (ask_range(s, begin, half)) {
			end = half;
			s->begin = begin;
			s->end = end;
		} else {
			begin = half;
		}
	}
	if (!ask_range(s, begin, end))
		return false;
	need(s, begin);
	return true;
}

/*
 * Adds the last function of the shortest beginning of the range that fails together with
 * the functions that are needed already. All of the range does.
 */
static void find_next(struct state *s)
{
	size_t passes = s->begin, fails = s->end;

	while (fails - passes > 1) {
		size_t half = middle(passes, fails);

		if (ask_range(s, s->begin, half))
			fails = half;
		else
			passes = half;
	}
	s->end = fails - 1;
	need(s, s->end);
}

static bool find_several(struct state *s)
{
	do {
		if (s->nr_needed == s->search->most)
			return false;
		/* As many again, one that says whether that was all, and the steps after it. */
		s->search->about = s->search->steps + 2 * log2_up(s->end - s->begin) + 4;
		find_next(s);
	} while (!ask_range(s, 0, 0));
	return true;
}

/* A test that does not always fail may have made functions look needed that are not. */
static void drop_what_can_be(struct state *s)
{
	size_t i = 0;

	while (i < s->nr_needed) {
		if (!ask_without(s, i)) {
			i++;
			continue;
		}
		memmove(s->needed + i, s->needed + i + 1,
			(s->nr_needed - i - 1) * sizeof(*s->needed));
		s->nr_needed--;
		i = 0;
	}
}

static enum bisect_result find(struct state *s)
{
	struct bisect_search *search = s->search;

	search->about = log2_up(search->nr) + 4;
	if (ask_range(s, 0, 0))
		return BISECT_FAILS_ALWAYS;
	if (!ask_range(s, 0, search->nr))
		return BISECT_PASSES;
	s->end = search->nr;
	if (!find_one(s) && !find_several(s))
		return BISECT_TOO_MANY;
	drop_what_can_be(s);
	search->rest_passes = !ask_rest(s);
	return BISECT_FOUND;
}

/**
 * bisect_search - find the smallest set that fails
 * @search: the functions to search; takes those that are found
 *
 * Each function of that set is needed; there may be other sets.
 *
 * Returns: how it has ended.
 */
enum bisect_result bisect_search(struct bisect_search *search)
{
	struct state s = { .search = search };
	enum bisect_result result = find(&s);

	search->nr_found = s.nr_needed;
	search->found = alloc(s.nr_needed, sizeof(*search->found));
	for (size_t i = 0; i < s.nr_needed; i++)
		search->found[i] = s.needed[s.nr_needed - 1 - i];
	for (size_t i = 0; i < s.nr_answers; i++)
		free(s.answer[i].set);
	free(s.answer);
	free(s.needed);
	return result;
}
