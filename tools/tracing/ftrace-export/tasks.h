/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tasks of a trace, each with the calls that it is in.
 *
 * The idle tasks all have the number 0: there is one for each CPU. A frame is a call that has
 * not returned; the depths of a task's frames grow strictly from the first one to the last one.
 * The depth of a call is that of the kernel's shadow stack, so there may be gaps.
 */
#ifndef EXPORT_TASKS_H
#define EXPORT_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame {
	uint64_t begin;
	uint64_t func;
	/* The time that calls from here have taken, for folded stacks. */
	uint64_t inner;
	uint32_t name;
	uint32_t depth;
	/* How often events had been lost when it was called. */
	uint32_t losses;
	/* The node of stacks.h, for those formats that use them. */
	uint32_t node;
};

struct task {
	int pid;
	/* The process; the task itself as long as nothing else is known. */
	int tgid;
	/* Of an idle task; -1 of others. */
	int cpu;
	/* As task_number() has it; several tasks may have had a pid, one after the other. */
	uint32_t number;
	uint32_t name;
	/* The time of its last event: its calls and returns never go back behind it. */
	uint64_t last;
	struct frame *frames;
	uint32_t nr_frames, room_frames;
	/* The format's own data of it. */
	void *format;
	/* Its nodes of stacks.h: the first, the last, and how many are below the root. */
	uint32_t root, last_node, nr_nodes;
};

struct task *task_find(int pid, int cpu);
struct task *task_make(int pid, int cpu);
struct task *task_number(size_t i);
size_t tasks_count(void);
struct frame *task_top(const struct task *t);
struct frame *task_push(struct task *t);

#endif
