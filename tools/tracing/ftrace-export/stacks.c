// SPDX-License-Identifier: GPL-2.0
/*
 * The different stacks of calls: a table of nodes, and a hash over parent and function.
 */
#include <stdlib.h>

#include "stacks.h"
#include "util.h"

static struct {
	struct node *node;
	uint32_t nr, room;
	uint32_t *hash;
	size_t hash_size;
} stacks = { .nr = 1 };

static uint32_t *place_of(uint32_t parent, uint32_t name)
{
	uint64_t h = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15;
	size_t i = h >> 32 & (stacks.hash_size - 1);

	for (; stacks.hash[i]; i = (i + 1) & (stacks.hash_size - 1)) {
		const struct node *n = &stacks.node[stacks.hash[i]];

		if (n->parent == parent && n->name == name)
			break;
	}
	return &stacks.hash[i];
}

static void make_room(void)
{
	if (stacks.nr < stacks.room)
		return;
	if (stacks.room > UINT32_MAX / 2)
		die("the trace has too many different stacks of calls");
	stacks.room = stacks.room ? 2 * stacks.room : 1024;
	stacks.node = grow(stacks.node, stacks.room, sizeof(*stacks.node));
	free(stacks.hash);
	stacks.hash_size = 2 * (size_t)stacks.room;
	stacks.hash = alloc(stacks.hash_size, sizeof(*stacks.hash));
	for (uint32_t i = 1; i < stacks.nr; i++) {
		/* Roots are not looked for. */
		if (stacks.node[i].parent)
			*place_of(stacks.node[i].parent, stacks.node[i].name) = i;
	}
}

static uint32_t add(struct node node)
{
	stacks.node[stacks.nr] = node;
	return stacks.nr++;
}

static uint32_t root_of(struct task *t)
{
	if (!t->root) {
		make_room();
		t->root = add((struct node) { });
		t->last_node = t->root;
	}
	return t->root;
}

/**
 * stacks_node_of - the stack that a task is in
 * @t: the task
 *
 * Returns: the node of its innermost call; its root if it is in no call.
 */
uint32_t stacks_node_of(struct task *t)
{
	return t->nr_frames ? task_top(t)->node : root_of(t);
}

/**
 * stacks_call - give the frame on top of a task its node
 * @t: the task
 * @name: the function
 *
 * Returns: the node.
 */
uint32_t stacks_call(struct task *t, uint32_t name)
{
	struct frame *f = task_top(t);
	uint32_t parent = t->nr_frames > 1 ? f[-1].node : root_of(t);
	uint32_t *place;

	make_room();
	place = place_of(parent, name);
	if (!*place) {
		*place = add((struct node) {
			.parent = parent, .name = name, .place = t->nr_nodes++,
		});
		stacks.node[t->last_node].next = *place;
		t->last_node = *place;
	}
	f->node = *place;
	return f->node;
}

/**
 * stacks_node - a node
 * @node: its number
 *
 * Returns: the node; it moves when another one is added.
 */
struct node *stacks_node(uint32_t node)
{
	return &stacks.node[node];
}
