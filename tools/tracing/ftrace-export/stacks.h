/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The different stacks of calls of a trace, as a tree.
 *
 * A node is a function called by its parent's. Each task has a root, which stands for the task.
 * No node has the number 0.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include <stdint.h>

#include "tasks.h"

struct node {
	/* The time in this function itself. */
	uint64_t self;
	/* 0 of a root. */
	uint32_t parent;
	/* Of the function; 0 of a root. */
	uint32_t name;
	/* The next node of the same task, in the order in which they came. */
	uint32_t next;
	/* The place among those of its task, but for roots. */
	uint32_t place;
};

uint32_t stacks_node_of(struct task *t);
uint32_t stacks_call(struct task *t, uint32_t name);
struct node *stacks_node(uint32_t node);

#endif
