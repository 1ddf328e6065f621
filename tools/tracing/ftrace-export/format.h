/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls that an output format gets for a trace, in the order of the times.
 *
 * Each operation may be missing. Times are in nanoseconds, or in ticks of a clock that counts
 * something else.
 */
#ifndef EXPORT_FORMAT_H
#define EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "tasks.h"

struct tep_event;
struct tep_record;

/* A return. */
struct leave {
	uint64_t func, retval, calltime, rettime;
	uint32_t depth, name;
	bool has_retval, has_times;
};

enum ending {
	/* The return was recorded. */
	RETURNED,
	/* It was not, and a later event shows that the call is over. */
	UNSEEN,
	/* The trace ends in the call. */
	UNFINISHED,
};

struct arguments {
	unsigned int nr;
	uint64_t value[16];
};

/* An event other than a call or a return. */
struct moment {
	uint64_t ts;
	int cpu;
	struct task *task;
	struct tep_event *event;
	struct tep_record *record;
};

struct format {
	const char *name;
	/* Whether it is nothing that a terminal could show. */
	bool binary;
	/* The kernel, where it is known: else NULL. */
	void (*begin)(const char *release, const char *machine);
	/* A new task, or one with another name. */
	void (*named)(struct task *t);
	/* The frame is the task's top already, or still. */
	void (*call)(struct task *t, struct frame *f, const struct arguments *a);
	void (*ret)(struct task *t, struct frame *f, uint64_t ts, enum ending ending,
		    const struct leave *l);
	/* A return from a call that was not recorded. */
	void (*lone_return)(struct task *t, uint64_t ts, const struct leave *l);
	void (*event)(const struct moment *m);
	void (*switched)(uint64_t ts, int cpu, struct task *from, struct task *to);
	/* Events of a CPU were lost before one of this task; how many: 0 if that is not known. */
	void (*lost)(struct task *t, uint64_t ts, int cpu, uint64_t nr);
	void (*end)(uint64_t ts);
};

extern const struct format perfetto_format, folded_format, firefox_format;

#endif
