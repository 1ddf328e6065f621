// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks, as flame graphs are drawn of: "TASK;FUNCTION;FUNCTION TIME" in each line.
 *
 * The time is that of the clock, in the last function of the line without the calls that it made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "format.h"
#include "names.h"
#include "output.h"
#include "stacks.h"
#include "util.h"

static void folded_call(struct task *t, struct frame *f, const struct arguments *a)
{
	(void)a;
	stacks_call(t, f->name);
}

static void folded_ret(struct task *t, struct frame *f, uint64_t ts, enum ending ending,
		       const struct leave *l)
{
	uint64_t whole = ts - f->begin;

	(void)ending;
	(void)l;
	stacks_node(f->node)->self += whole - f->inner;
	if (t->nr_frames > 1)
		f[-1].inner += whole;
}

/* A semicolon in the name of a task would be taken for the end of it. */
static void write_name(const char *name)
{
	while (*name) {
		size_t len = strcspn(name, ";");

		output_write(name, len);
		name += len;
		if (*name++ != ';')
			break;
		output_write(":", 1);
	}
}

static void write_task(const struct task *t)
{
	char number[16];

	write_name(name_text(t->name));
	if (t->pid) {
		snprintf(number, sizeof(number), "-%d", t->pid);
		output_text(number);
	}
}

static void write_stack(const struct task *t, uint32_t node)
{
	static uint32_t *path;
	static size_t room;
	size_t depth = 0;

	for (uint32_t n = node; stacks_node(n)->parent; n = stacks_node(n)->parent) {
		if (depth == room) {
			room = room ? 2 * room : 64;
			path = grow(path, room, sizeof(*path));
		}
		path[depth++] = stacks_node(n)->name;
	}
	write_task(t);
	while (depth--) {
		output_write(";", 1);
		write_name(name_text(path[depth]));
	}
	output_write(" ", 1);
	output_number(stacks_node(node)->self);
	output_write("\n", 1);
}

static void folded_end(uint64_t ts)
{
	(void)ts;
	for (size_t i = 0; i < tasks_count(); i++) {
		const struct task *t = task_number(i);

		if (!t->root)
			continue;
		for (uint32_t n = stacks_node(t->root)->next; n; n = stacks_node(n)->next) {
			if (stacks_node(n)->self)
				write_stack(t, n);
		}
	}
	if (!calls_count())
		warn("there is no call of function_graph, and so no stack");
}

const struct format folded_format = {
	.name	= "folded",
	.call	= folded_call,
	.ret	= folded_ret,
	.end	= folded_end,
};
