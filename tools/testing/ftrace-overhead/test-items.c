// SPDX-License-Identifier: GPL-2.0
/*
 * The computations of ftrace-overhead: means, and the functions to leave out. Each
 * test is a line "ok - ..." or "not ok - ..."; the last line is "N passed, N failed".
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"
#include "stats.h"
#include "util.h"

const char * const program_name = "test-items";

/* How many tables are made up. */
#define ROUNDS	2000

static unsigned int passed, failed;

static void result(bool ok, const char *what)
{
	printf("%s - %s\n", ok ? "ok" : "not ok", what);
	if (ok)
		passed++;
	else
		failed++;
}

static struct estimate estimate(const double *value, size_t nr)
{
	struct samples s = { };
	struct estimate e;

	for (size_t i = 0; i < nr; i++)
		samples_add(&s, value[i]);
	e = samples_estimate(&s);
	samples_free(&s);
	return e;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 0.001;
}

static void test_stats(void)
{
	static const double same[] = { 5, 5, 5 }, three[] = { 1, 2, 3 }, one[] = { 7 };
	struct estimate e;

	e = estimate(same, 3);
	result(e.mean == 5 && e.half == 0 && e.nr == 3, "samples that are the same are certain");
	/* 6.205 times a standard error of 1 / sqrt(3), by any table of Student's t. */
	e = estimate(three, 3);
	result(e.mean == 2 && near(e.half, 3.583), "three samples: the interval of a textbook");
	e = estimate(one, 1);
	result(e.mean == 7 && isinf(e.half), "one sample says nothing of the interval");
	e = estimate(one, 0);
	result(e.mean == 0 && isinf(e.half), "nor does none");
}

/* Samples are taken as measure_cost() takes them, and vary so that their number varies most. */
static void test_interval(void)
{
	unsigned int inside = 0;

	srandom(1);
	for (unsigned int i = 0; i < 5000; i++) {
		struct samples s = { };
		struct estimate e;

		do {
			double value = 0;

			/* The sum of twelve of them is close enough to a normal distribution. */
			for (unsigned int k = 0; k < 12; k++)
				value += random() / (RAND_MAX + 1.0) - 0.5;
			samples_add(&s, 1 + 0.2 * value);
			e = samples_estimate(&s);
		} while (e.nr < 3 || (e.nr < 30 && e.half > 0.1 * fabs(e.mean)));
		samples_free(&s);
		inside += fabs(e.mean - 1) <= e.half;
	}
	result(inside > 4700 && inside < 4800, "95 of 100 intervals have the truth in them");
}

static void items_free(struct items *items)
{
	for (size_t i = 0; i < items->nr; i++) {
		free(items->item[i].name);
		free(items->item[i].where);
	}
	free(items->item);
}

static void add(struct items *items, enum item_kind kind, const char *name, double cost)
{
	struct item *item = items_add(items, kind, name, kind == ITEM_FUNCTION ? NULL : "sys");

	item->cost = cost;
	item->hits = 10 * cost;
}

static const char *left_out(const struct items *items)
{
	static char names[64];

	*names = '\0';
	for (size_t i = 0; i < items->nr; i++) {
		if (items->item[i].off)
			strcat(names, items->item[i].name);
	}
	return names;
}

static void test_choice(void)
{
	struct items items = { };
	char *word;

	add(&items, ITEM_FUNCTION, "b", 3);
	add(&items, ITEM_EVENT, "e", 10);
	add(&items, ITEM_FUNCTION, "a", 5);
	add(&items, ITEM_FUNCTION, "c", 2);
	add(&items, ITEM_FUNCTION, "d", 1);
	items_sort(&items);
	result(!strcmp(items.item[0].name, "e") && !strcmp(items.item[4].name, "d"),
	       "what costs most comes first");
	result(items_hits(&items, ITEM_FUNCTION) == 110, "hits of a kind are added up");
	result(items_half(&items, 0, 5) == 2 && items_half(&items, 1, 4) == 2, "half of the cost");
	result(items_half(&items, 0, 2) == 1, "half of two is one, however much it costs");
	result(items_leave_out(&items, 30) && !*left_out(&items), "what is cheap enough stays");
	result(items_leave_out(&items, 16) && !strcmp(left_out(&items), "a"),
	       "the function that costs most goes first, and no event");
	result(items_leave_out(&items, 12) && !strcmp(left_out(&items), "abc"), "then the next");
	result(items_leave_out(&items, 5) && !strcmp(left_out(&items), "eabcd"),
	       "an event goes where functions do not suffice");
	items.item[1].several = true;
	result(!items_leave_out(&items, 4) && items_cost_on(&items) == 5,
	       "what stands for several functions stays");
	items_scale(&items, 0, 1, 0.5);
	result(items_cost(&items, 0, 2) == 10, "a cost is corrected");
	word = item_word(&items.item[0]);
	result(!strcmp(word, "sys:e"), "an event as a word");
	free(word);
	items.item[1].where = copy_string("mod");
	word = item_word(&items.item[1]);
	result(!strcmp(word, "a:mod:mod"), "a function of a module as a word");
	free(word);
	items_free(&items);
}

/* Noise may make a cost negative that is not certain to be within the budget. */
static void test_next_aim(void)
{
	result(items_next_aim(10, 2, 4) == 5, "a cost twice too high halves the aim");
	result(items_next_aim(10, 2, 2.1) == 8 && items_next_aim(10, 2, 1) == 8,
	       "but lower in any case");
	result(items_next_aim(10, 2, -0.1) == 8 && items_next_aim(10, 2, 0) == 8,
	       "also where the cost came out below nothing");
}

/* For all costs, the items left are within the budget, or everything is left out. */
static void test_any_choice(void)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct items items = { };
		size_t nr = random() % 60, half;
		double budget = random() % 1000;
		bool within;

		for (size_t j = 0; j < nr; j++)
			add(&items, random() % 9 ? ITEM_FUNCTION : ITEM_EVENT, "x", random() % 100);
		items_sort(&items);
		within = items_leave_out(&items, budget);
		wrong += within != (items_cost_on(&items) <= budget);
		for (size_t j = 0; j < nr && !within; j++)
			wrong += !items.item[j].off;
		half = nr > 1 ? items_half(&items, 0, nr) : 1;
		wrong += !half || (nr > 1 && half >= nr);
		items_free(&items);
	}
	result(!wrong, "random tables: what is left is within the budget");
}

int main(void)
{
	test_stats();
	test_interval();
	test_choice();
	test_any_choice();
	test_next_aim();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
