// SPDX-License-Identifier: GPL-2.0
/*
 * The functions and events whose tracing costs time: a table of them, and the choices that
 * are made from their costs. Knows nothing of the system.
 *
 * Sorted, the item that costs most comes first. Ranges are of a sorted table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"
#include "util.h"

/**
 * items_add - add a function or an event
 * @items: the table; all zero at first
 * @kind: as in struct item
 * @name: as in struct item
 * @where: as in struct item
 *
 * Returns: the item, until the next one is added.
 */
struct item *items_add(struct items *items, enum item_kind kind, const char *name,
		       const char *where)
{
	struct item *item;

	items->item = grow(items->item, items->nr + 1, sizeof(*items->item));
	item = &items->item[items->nr++];
	*item = (struct item){ .kind = kind, .name = copy_string(name) };
	item->where = where ? copy_string(where) : NULL;
	return item;
}

static int cost_cmp(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->name, b->name);
}

/**
 * items_sort - put the items that cost most first
 * @items: the table
 */
void items_sort(struct items *items)
{
	if (items->nr)
		qsort(items->item, items->nr, sizeof(*items->item), cost_cmp);
}

/**
 * items_set - leave out a range, or do not
 * @items: the table
 * @first: where the range begins
 * @nr: how many items it has
 * @off: whether they are left out
 */
void items_set(struct items *items, size_t first, size_t nr, bool off)
{
	for (size_t i = first; i < first + nr; i++)
		items->item[i].off = off && !items->item[i].several;
}

/**
 * items_cost - the cost of a range
 * @items: the table
 * @first: where the range begins
 * @nr: how many items it has
 *
 * Returns: the sum of their costs, in seconds a run.
 */
double items_cost(const struct items *items, size_t first, size_t nr)
{
	double cost = 0;

	for (size_t i = first; i < first + nr; i++)
		cost += items->item[i].cost;
	return cost;
}

/**
 * items_cost_on - the cost of all items that are not left out
 * @items: the table
 *
 * Returns: the sum of their costs, in seconds a run.
 */
double items_cost_on(const struct items *items)
{
	double cost = 0;

	for (size_t i = 0; i < items->nr; i++)
		cost += items->item[i].off ? 0 : items->item[i].cost;
	return cost;
}

/**
 * items_hits - how often anything of a kind happens
 * @items: the table
 * @kind: the kind
 *
 * Returns: the sum of their hits, in one run.
 */
double items_hits(const struct items *items, enum item_kind kind)
{
	double hits = 0;

	for (size_t i = 0; i < items->nr; i++)
		hits += items->item[i].kind == kind ? items->item[i].hits : 0;
	return hits;
}

/**
 * items_half - how many of a range, from its beginning on, make up half of its cost
 * @items: the table, sorted
 * @first: where the range begins
 * @nr: how many items it has, two at least
 *
 * Returns: a number that leaves at least one item on either side.
 */
size_t items_half(const struct items *items, size_t first, size_t nr)
{
	double half = items_cost(items, first, nr) / 2, sum = 0;
	size_t n = 0;

	while (n < nr - 1 && sum < half)
		sum += items->item[first + n++].cost;
	return n ? n : 1;
}

/**
 * items_scale - correct the costs of a range
 * @items: the table
 * @first: where the range begins
 * @nr: how many items it has
 * @factor: their costs are multiplied by it
 */
void items_scale(struct items *items, size_t first, size_t nr, double factor)
{
	for (size_t i = first; i < first + nr; i++)
		items->item[i].cost *= factor;
}

/**
 * is_function - whether an item is a function
 * @item: the item
 *
 * Returns: false if it is an event.
 */
bool is_function(const struct item *item)
{
	return item->kind == ITEM_FUNCTION;
}

/* Leaves out functions, or events, until the rest costs no more. */
static bool leave_out(struct items *items, double cost, bool functions)
{
	double on = items_cost_on(items);

	for (size_t i = 0; i < items->nr && on > cost; i++) {
		struct item *item = &items->item[i];

		if (is_function(item) != functions || item->several || item->off)
			continue;
		item->off = true;
		on -= item->cost;
	}
	return on <= cost;
}

/**
 * items_leave_out - leave out the items that cost most, until the rest is cheap enough
 * @items: the table, sorted
 * @cost: the most that the rest may cost, in seconds a run
 *
 * Events are left out only if it is not enough to leave out functions: the user has chosen
 * them one by one.
 *
 * Returns: false if the rest costs more, even with all left out that can be.
 */
bool items_leave_out(struct items *items, double cost)
{
	items_set(items, 0, items->nr, false);
	return leave_out(items, cost, true) || leave_out(items, cost, false);
}

/**
 * items_next_aim - the predicted cost to try next, after one that was not cheap enough
 * @aim: the predicted cost of that try
 * @budget: the most that the items may cost
 * @cost: the measured cost of that try, which noise may make negative
 *
 * Returns: less than @aim, and more than 0.
 */
double items_next_aim(double aim, double budget, double cost)
{
	return aim * (cost > 0 ? fmin(ITEMS_AIM, budget / cost) : ITEMS_AIM);
}

/**
 * item_word - the word for a function or an event in a file of tracefs
 * @item: the item
 *
 * Returns: a word for set_ftrace_notrace, or set_event; to be freed.
 */
char *item_word(const struct item *item)
{
	if (item->kind != ITEM_FUNCTION)
		return format_string("%s:%s", item->where, item->name);
	if (item->where)
		return format_string("%s:mod:%s", item->name, item->where);
	return copy_string(item->name);
}
