// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks of a trace: a table in the order of their first events, and a hash over it.
 */
#include <stdlib.h>

#include "tasks.h"
#include "util.h"

static struct {
	struct task **task;
	size_t nr, room;
	/* Places in the table, from 1 on. */
	size_t *hash, hash_size;
} tasks;

static size_t *place_of(int pid, int cpu)
{
	size_t i = ((uint32_t)pid * 2654435761u ^ (uint32_t)cpu * 40503u) & (tasks.hash_size - 1);

	for (; tasks.hash[i]; i = (i + 1) & (tasks.hash_size - 1)) {
		const struct task *t = tasks.task[tasks.hash[i] - 1];

		if (t->pid == pid && t->cpu == cpu)
			break;
	}
	return &tasks.hash[i];
}

static void make_room(void)
{
	if (tasks.nr < tasks.room)
		return;
	tasks.room = tasks.room ? 2 * tasks.room : 256;
	tasks.task = grow(tasks.task, tasks.room, sizeof(*tasks.task));
	free(tasks.hash);
	tasks.hash_size = 2 * tasks.room;
	tasks.hash = alloc(tasks.hash_size, sizeof(*tasks.hash));
	for (size_t i = 0; i < tasks.nr; i++)
		*place_of(tasks.task[i]->pid, tasks.task[i]->cpu) = i + 1;
}

/**
 * task_find - a task that has had an event
 * @pid: its number
 * @cpu: the CPU where it runs, which tells idle tasks apart
 *
 * Returns: the task; NULL if it is not known.
 */
struct task *task_find(int pid, int cpu)
{
	size_t place = tasks.nr ? *place_of(pid, pid ? -1 : cpu) : 0;

	return place ? tasks.task[place - 1] : NULL;
}

/**
 * task_make - add a task
 * @pid: its number; task_find() no longer finds an older one that had it
 * @cpu: the CPU where it runs
 *
 * Returns: the task, without a name.
 */
struct task *task_make(int pid, int cpu)
{
	struct task *t = alloc(1, sizeof(*t));

	t->pid = pid;
	t->tgid = pid;
	t->cpu = pid ? -1 : cpu;
	t->number = tasks.nr;
	make_room();
	*place_of(t->pid, t->cpu) = tasks.nr + 1;
	tasks.task[tasks.nr++] = t;
	return t;
}

/**
 * task_number - the tasks one after the other
 * @i: which one, from 0 on
 *
 * Returns: the task.
 */
struct task *task_number(size_t i)
{
	return tasks.task[i];
}

/**
 * tasks_count - how many tasks there are
 *
 * Returns: their number.
 */
size_t tasks_count(void)
{
	return tasks.nr;
}

/**
 * task_top - the call that a task is in
 * @t: the task
 *
 * Returns: the innermost frame; NULL if it is in no call.
 */
struct frame *task_top(const struct task *t)
{
	return t->nr_frames ? &t->frames[t->nr_frames - 1] : NULL;
}

/**
 * task_push - let a task be in one more call
 * @t: the task
 *
 * Returns: the frame, to be filled in. Other frames of the task may have moved.
 */
struct frame *task_push(struct task *t)
{
	if (t->nr_frames == t->room_frames) {
		t->room_frames = t->room_frames ? 2 * t->room_frames : 16;
		t->frames = grow(t->frames, t->room_frames, sizeof(*t->frames));
	}
	return &t->frames[t->nr_frames++];
}
