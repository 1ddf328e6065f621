// SPDX-License-Identifier: GPL-2.0
/*
 * Calls and returns, put together.
 *
 * A task's calls nest, and both events have the depth. So a call at some depth shows that all
 * calls of this depth and deeper are over, even if their returns were not recorded; and a
 * return belongs to the frame of its depth, if that is of the same function. Interrupts need
 * nothing of their own: they are calls of the task that they interrupt.
 *
 * After a loss a frame may be of an earlier call of the same function at the same depth. The
 * return says how long its call has taken. A frame that is older is not its.
 */
#include <stddef.h>

#include "calls.h"

/*
 * The event of a call is written a moment after the time that the return tells of, and that of a
 * return later still. This is more than that takes, in nanoseconds.
 */
#define MOMENT	50000

static const struct format *to;
static bool in_nanoseconds;
static uint32_t losses;
static uint64_t count, lone_returns, unseen;

/**
 * calls_begin - begin with a trace
 * @format: the format that is told of it
 * @nanoseconds: whether its clock counts these
 */
void calls_begin(const struct format *format, bool nanoseconds)
{
	to = format;
	in_nanoseconds = nanoseconds;
}

/* Clocks of several CPUs may differ a little, and tasks move between them. */
static uint64_t time_of(struct task *t, uint64_t ts)
{
	if (ts < t->last)
		return t->last;
	t->last = ts;
	return ts;
}

static void pop(struct task *t, uint64_t ts, enum ending ending, const struct leave *l)
{
	if (to->ret)
		to->ret(t, task_top(t), ts, ending, l);
	t->nr_frames--;
}

static void pop_unseen(struct task *t, uint64_t ts, uint32_t depth)
{
	while (t->nr_frames && task_top(t)->depth >= depth) {
		pop(t, ts, UNSEEN, NULL);
		unseen++;
	}
}

/**
 * calls_enter - a function is called
 * @t: the task
 * @ts: when
 * @func: its address
 * @name: its name
 * @depth: how many calls it is in
 * @a: its arguments
 */
void calls_enter(struct task *t, uint64_t ts, uint64_t func, uint32_t name, uint32_t depth,
		 const struct arguments *a)
{
	struct frame *f;

	ts = time_of(t, ts);
	pop_unseen(t, ts, depth);
	f = task_push(t);
	*f = (struct frame) {
		.begin = ts, .func = func, .name = name, .depth = depth, .losses = losses,
	};
	count++;
	if (to->call)
		to->call(t, f, a);
}

static bool belongs(const struct frame *f, uint64_t ts, const struct leave *l)
{
	if (f->depth != l->depth || f->func != l->func)
		return false;
	return f->losses == losses || !in_nanoseconds || !l->has_times ||
	       ts - f->begin <= l->rettime - l->calltime + MOMENT;
}

/**
 * calls_leave - a function returns
 * @t: the task
 * @ts: when
 * @l: what the event says
 */
void calls_leave(struct task *t, uint64_t ts, const struct leave *l)
{
	ts = time_of(t, ts);
	pop_unseen(t, ts, l->depth + 1);
	if (t->nr_frames && belongs(task_top(t), ts, l)) {
		pop(t, ts, RETURNED, l);
		return;
	}
	pop_unseen(t, ts, l->depth);
	lone_returns++;
	if (to->lone_return)
		to->lone_return(t, ts, l);
}

/**
 * calls_gone - a task is gone, and its pid is that of a new one
 * @t: the task
 * @ts: when that was seen
 */
void calls_gone(struct task *t, uint64_t ts)
{
	pop_unseen(t, time_of(t, ts), 0);
}

/**
 * calls_lost - events are missing here
 */
void calls_lost(void)
{
	losses++;
}

/**
 * calls_end - the trace is over
 * @ts: the time of its last event
 */
void calls_end(uint64_t ts)
{
	for (size_t i = 0; i < tasks_count(); i++) {
		struct task *t = task_number(i);

		while (t->nr_frames)
			pop(t, ts > t->last ? ts : t->last, UNFINISHED, NULL);
	}
}

/**
 * calls_count - how many calls there were
 *
 * Returns: their number.
 */
uint64_t calls_count(void)
{
	return count;
}

/**
 * calls_lone_returns - how many returns had no call
 *
 * Returns: their number.
 */
uint64_t calls_lone_returns(void)
{
	return lone_returns;
}

/**
 * calls_unseen - how many calls ended without a return
 *
 * Returns: their number; those that the trace ends in are not among them.
 */
uint64_t calls_unseen(void)
{
	return unseen;
}
