/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions and events whose tracing costs time.
 */
#ifndef OVERHEAD_ITEMS_H
#define OVERHEAD_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * enum item_kind - the kind of an item; each kind has a cost of its own
 * @ITEM_FUNCTION: a function that is traced
 * @ITEM_EVENT: a tracepoint
 * @ITEM_SWITCH: sched_switch, with which the names of tasks are kept
 * @ITEM_SYSCALL: an event of the systems syscalls and raw_syscalls
 * @ITEM_KPROBE: an event of a kprobe
 * @ITEM_KRETPROBE: an event of a kretprobe
 * @ITEM_FPROBE: an event at a function's entry, by fprobe
 * @ITEM_FRETPROBE: an event at a function's end, by fprobe
 * @ITEM_UPROBE: an event of a uprobe
 * @ITEM_URETPROBE: an event of a uretprobe
 * @ITEM_KINDS: how many there are
 */
enum item_kind {
	ITEM_FUNCTION,
	ITEM_EVENT,
	ITEM_SWITCH,
	ITEM_SYSCALL,
	ITEM_KPROBE,
	ITEM_KRETPROBE,
	ITEM_FPROBE,
	ITEM_FRETPROBE,
	ITEM_UPROBE,
	ITEM_URETPROBE,
	ITEM_KINDS,
};

/**
 * struct item - a function or an event
 * @kind: its kind
 * @name: its name
 * @where: the module of a function, or NULL; the system of an event
 * @id: the number of an event
 * @hits: how often it is called, or happens, in one run
 * @cost: the cost of tracing it in one run, in seconds
 * @several: the name stands for several functions, so it cannot be left out alone
 * @off: it is left out
 */
struct item {
	enum item_kind kind;
	char *name;
	char *where;
	unsigned int id;
	double hits;
	double cost;
	bool several;
	bool off;
};

/* The part of a budget that is aimed at, as a measurement is uncertain. */
#define ITEMS_AIM	0.8

/**
 * struct items - the table
 * @item: the items
 * @nr: how many there are
 */
struct items {
	struct item *item;
	size_t nr;
};

struct item *items_add(struct items *items, enum item_kind kind, const char *name,
		       const char *where);
void items_sort(struct items *items);
void items_set(struct items *items, size_t first, size_t nr, bool off);
double items_cost(const struct items *items, size_t first, size_t nr);
double items_cost_on(const struct items *items);
double items_hits(const struct items *items, enum item_kind kind);
size_t items_half(const struct items *items, size_t first, size_t nr);
void items_scale(struct items *items, size_t first, size_t nr, double factor);
bool items_leave_out(struct items *items, double cost);
double items_next_aim(double aim, double budget, double cost);
bool is_function(const struct item *item);
char *item_word(const struct item *item);

#endif
