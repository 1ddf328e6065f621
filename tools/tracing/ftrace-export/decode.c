// SPDX-License-Identifier: GPL-2.0
/*
 * The events, taken apart: calls and returns, switches and names of tasks. The others go to the
 * format as they are.
 *
 * No byte outside of a record is read, also where the record is damaged: decode_record() looks
 * at the size before, and at the fields whose place is in the record itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "calls.h"
#include "decode.h"
#include "names.h"
#include "util.h"

enum kind { OTHER, ENTRY, EXIT, SWITCH, RENAME, NEW_TASK };

/* Which field of an event is which of a class's. */
enum { FUNC, DEPTH, ARGS, FIELDS_OF_ENTRY };
enum { RET_FUNC = FUNC, RET_DEPTH = DEPTH, RETVAL, CALLTIME, RETTIME, FIELDS_OF_EXIT };
enum { PREV_COMM, PREV_PID, NEXT_COMM, NEXT_PID, FIELDS_OF_SWITCH };
enum { PID, COMM, CLONE_FLAGS, FIELDS_OF_TASK };

#define FIELDS	FIELDS_OF_EXIT

/* An event's number, in a record, has 16 bits. */
#define EVENTS	(1 << 16)
/* No offset or size of a field is above. */
#define MOST_FIELD	(1 << 16)

struct class {
	enum kind kind;
	/* A record is not shorter. */
	int size;
	struct tep_event *event;
	struct field field[FIELDS];
	bool has[FIELDS];
};

static const struct {
	const char *system, *event;
	enum kind kind;
	/* The first ones are needed. */
	const char *field[FIELDS];
	unsigned int needed;
} known[] = {
	{ "ftrace", "funcgraph_entry", ENTRY, { "func", "depth", "args" }, 2 },
	{ "ftrace", "fgraph_retaddr_entry", ENTRY, { "func", "depth", "args" }, 2 },
	{ "ftrace", "funcgraph_exit", EXIT,
		{ "func", "depth", "retval", "calltime", "rettime" }, 2 },
	{ "sched", "sched_switch", SWITCH,
		{ "prev_comm", "prev_pid", "next_comm", "next_pid" }, 4 },
	{ "task", "task_rename", RENAME, { "pid", "newcomm" }, 2 },
	{ "task", "task_newtask", NEW_TASK, { "pid", "comm", "clone_flags" }, 3 },
};

static struct {
	struct tep_handle *tep;
	const struct format *to;
	struct class *class[EVENTS];
	struct trace_seq text;
	char *clean;
	size_t clean_room;
	uint64_t last, lost;
	bool lost_unknown;
} decode;

/* Function names by address: libtraceevent searches all functions for each. */
static struct {
	uint64_t *addr;
	uint32_t *name;
	size_t nr, size;
} functions;

/* Fields */

/**
 * field_find - where a field of an event is
 * @event: the event
 * @name: the field
 * @field: where to put it
 *
 * Returns: false if the event has no such field.
 */
bool field_find(struct tep_event *event, const char *name, struct field *field)
{
	struct tep_format_field *f = tep_find_any_field(event, name);

	if (!f)
		return false;
	*field = (struct field) {
		.offset = f->offset, .size = f->size,
		.is_signed = f->flags & TEP_FIELD_IS_SIGNED,
	};
	return true;
}

/**
 * field_read - the number in a field
 * @record: the record, which must not end before the field does
 * @field: the field
 *
 * Returns: the number, with the sign that it has.
 */
uint64_t field_read(const struct tep_record *record, const struct field *field)
{
	uint64_t n = tep_read_number(decode.tep, (char *)record->data + field->offset, field->size);
	unsigned int shift = field->size && field->size < 8 ? 64 - 8 * field->size : 0;

	return field->is_signed ? (uint64_t)((int64_t)(n << shift) >> shift) : n;
}

/**
 * field_name - the name in a field
 * @record: the record, which must not end before the field does
 * @field: the field
 *
 * Returns: the name's number.
 */
uint32_t field_name(const struct tep_record *record, const struct field *field)
{
	return name_of_part((char *)record->data + field->offset, field->size);
}

/**
 * moment_text - the text of an event
 * @m: the event
 *
 * Returns: the text as text_clean() makes it, valid until the next one is asked for.
 */
const char *moment_text(const struct moment *m)
{
	size_t room;

	trace_seq_reset(&decode.text);
	tep_print_event(decode.tep, &decode.text, m->record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&decode.text);
	room = decode.text.len * CLEAN_BYTES + 1;
	if (room > decode.clean_room) {
		decode.clean_room = 2 * room;
		decode.clean = grow(decode.clean, decode.clean_room, 1);
	}
	text_clean(decode.clean, decode.text.buffer, decode.text.len);
	return decode.clean;
}

/* Classes */

static const char *fill_class(struct class *c, size_t k)
{
	static char problem[160];

	for (unsigned int i = 0; i < FIELDS && known[k].field[i]; i++) {
		c->has[i] = field_find(c->event, known[k].field[i], &c->field[i]);
		if (!c->has[i] && i < known[k].needed) {
			snprintf(problem, sizeof(problem), "the format of %s:%s has no field %s",
				 known[k].system, known[k].event, known[k].field[i]);
			return problem;
		}
		if (c->has[i] && c->field[i].offset + c->field[i].size > c->size)
			c->size = c->field[i].offset + c->field[i].size;
	}
	c->kind = known[k].kind;
	return NULL;
}

/* The size that an event has at least, by its format. */
static int least_size(struct tep_event *event)
{
	/* Their last fields are arrays that a record may have less of than the format says. */
	bool cut = !strcmp(event->system, "ftrace");
	int size = 0;

	for (struct tep_format_field *f = event->format.fields; f; f = f->next) {
		if ((f->next || !cut) && f->offset + f->size > size)
			size = f->offset + f->size;
	}
	return size;
}

/* Whether sums of these numbers of a format can be trusted. A record is no longer than this. */
static bool in_place(const struct tep_format_field *f)
{
	for (; f; f = f->next) {
		if (f->offset < 0 || f->offset > MOST_FIELD || f->size < 0 || f->size > MOST_FIELD)
			return false;
	}
	return true;
}

static const char *make_class(int id, struct class **class)
{
	struct tep_event *event = tep_find_event(decode.tep, id);
	struct class *c;

	if (!event)
		return "its number is not that of an event";
	if (!in_place(event->format.common_fields) || !in_place(event->format.fields))
		return "a field of its format has no place in a record";
	c = alloc(1, sizeof(*c));
	c->kind = OTHER;
	c->event = event;
	c->size = least_size(event);
	for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
		const char *problem = NULL;

		if (!strcmp(known[k].system, event->system) && !strcmp(known[k].event, event->name))
			problem = fill_class(c, k);
		if (problem) {
			free(c);
			return problem;
		}
	}
	decode.class[id] = c;
	*class = c;
	return NULL;
}

/* Names */

static size_t function_place(uint64_t addr)
{
	size_t i = (addr * 0x9e3779b97f4a7c15) >> 32 & (functions.size - 1);

	while (functions.name[i] && functions.addr[i] != addr)
		i = (i + 1) & (functions.size - 1);
	return i;
}

static void functions_grow(void)
{
	size_t old = functions.size;
	uint64_t *addr = functions.addr;
	uint32_t *name = functions.name;

	functions.size = old ? 2 * old : 4096;
	functions.addr = alloc(functions.size, sizeof(*addr));
	functions.name = alloc(functions.size, sizeof(*name));
	for (size_t i = 0; i < old; i++) {
		size_t place = name[i] ? function_place(addr[i]) : 0;

		if (!name[i])
			continue;
		functions.addr[place] = addr[i];
		functions.name[place] = name[i];
	}
	free(addr);
	free(name);
}

static uint32_t function_name(uint64_t addr)
{
	const char *text;
	char number[24];
	size_t i;

	if (2 * functions.nr >= functions.size)
		functions_grow();
	i = function_place(addr);
	if (functions.name[i])
		return functions.name[i];
	text = tep_find_function(decode.tep, addr);
	if (!text) {
		snprintf(number, sizeof(number), "0x%llx", (unsigned long long)addr);
		text = number;
	}
	functions.nr++;
	functions.addr[i] = addr;
	functions.name[i] = name_of(text);
	return functions.name[i];
}

static void set_name(struct task *t, uint32_t name)
{
	if (t->name == name || !t->pid)
		return;
	t->name = name;
	if (decode.to->named)
		decode.to->named(t);
}

static uint32_t first_name(int pid, int cpu)
{
	char text[24];
	const char *comm = tep_data_comm_from_pid(decode.tep, pid);

	if (!pid) {
		snprintf(text, sizeof(text), "swapper/%d", cpu);
		return name_of(text);
	}
	return name_of(comm ? comm : "<...>");
}

/* A name that is known already saves the format from being told of two. */
static struct task *task_of(int pid, int cpu, uint32_t name)
{
	struct task *t = task_find(pid, cpu);

	if (t)
		return t;
	t = task_make(pid, cpu);
	t->name = name && pid ? name : first_name(pid, cpu);
	if (decode.to->named)
		decode.to->named(t);
	return t;
}

/* Events */

static void take_entry(const struct class *c, struct task *t, struct tep_record *r)
{
	uint64_t func = field_read(r, &c->field[FUNC]);
	struct arguments a = { };
	int at = c->field[ARGS].offset;
	/* They are longs of the kernel. */
	int size = tep_get_long_size(decode.tep) == 4 ? 4 : 8;

	while (c->has[ARGS] && a.nr < ARRAY_SIZE(a.value) && at + size <= r->size) {
		a.value[a.nr++] = tep_read_number(decode.tep, (char *)r->data + at, size);
		at += size;
	}
	calls_enter(t, r->ts, func, function_name(func), field_read(r, &c->field[DEPTH]), &a);
}

static uint64_t read_if(const struct class *c, const struct tep_record *r, int i)
{
	return c->has[i] ? field_read(r, &c->field[i]) : 0;
}

static void take_exit(const struct class *c, struct task *t, struct tep_record *r)
{
	struct leave l = {
		.func = field_read(r, &c->field[RET_FUNC]),
		.depth = field_read(r, &c->field[RET_DEPTH]),
		.retval = read_if(c, r, RETVAL),
		.calltime = read_if(c, r, CALLTIME),
		.rettime = read_if(c, r, RETTIME),
		.has_retval = c->has[RETVAL],
		.has_times = c->has[CALLTIME] && c->has[RETTIME],
	};

	l.name = function_name(l.func);
	calls_leave(t, r->ts, &l);
}

static void take_switch(const struct class *c, const struct moment *m)
{
	int pid[2];
	uint32_t name[2];
	struct task *t[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = field_read(m->record, &c->field[i ? NEXT_PID : PREV_PID]);
		name[i] = field_name(m->record, &c->field[i ? NEXT_COMM : PREV_COMM]);
		t[i] = task_of(pid[i], m->cpu, name[i]);
		set_name(t[i], name[i]);
	}
	if (decode.to->switched)
		decode.to->switched(m->ts, m->cpu, t[0], t[1]);
}

static void take_new_task(const struct class *c, const struct moment *m)
{
	/* CLONE_THREAD of the kernel's interface. */
	const uint64_t thread = 0x00010000;
	int pid = field_read(m->record, &c->field[PID]);
	uint32_t name = field_name(m->record, &c->field[COMM]);
	struct task *t;

	if (!pid)
		return;
	t = task_find(pid, m->cpu);
	if (t)
		calls_gone(t, m->ts);
	t = task_make(pid, m->cpu);
	t->name = name;
	t->tgid = field_read(m->record, &c->field[CLONE_FLAGS]) & thread ? m->task->tgid : pid;
	if (decode.to->named)
		decode.to->named(t);
}

static void take_rename(const struct class *c, const struct moment *m)
{
	int pid = field_read(m->record, &c->field[PID]);
	uint32_t name = field_name(m->record, &c->field[COMM]);

	set_name(task_of(pid, m->cpu, name), name);
}

static void take_event(const struct class *c, const struct moment *m)
{
	switch (c->kind) {
	case SWITCH:
		take_switch(c, m);
		break;
	case NEW_TASK:
		take_new_task(c, m);
		break;
	case RENAME:
		take_rename(c, m);
		break;
	default:
		break;
	}
	if (decode.to->event)
		decode.to->event(m);
}

/* The size of a field whose place the record itself has: low 16 bits of where, high of how long. */
static bool dynamic_ends(const struct tep_format_field *f, const struct tep_record *r)
{
	uint64_t place, end;

	if (!(f->flags & TEP_FIELD_IS_DYNAMIC) || f->size < 4)
		return true;
	place = tep_read_number(decode.tep, (char *)r->data + f->offset, 4);
	end = (place & 0xffff) + (place >> 16);
	if (f->flags & TEP_FIELD_IS_RELATIVE)
		end += f->offset + f->size;
	return end <= (uint64_t)r->size;
}

static const char *check_fields(const struct class *c, const struct tep_record *r)
{
	if (r->size < c->size)
		return "it is too short";
	for (struct tep_format_field *f = c->event->format.fields; f; f = f->next) {
		if (f->offset + f->size > r->size)
			continue;
		if (!dynamic_ends(f, r))
			return "a field ends behind it";
	}
	return NULL;
}

static void take_losses(struct task *t, const struct tep_record *r)
{
	if (!r->missed_events)
		return;
	if (r->missed_events > 0)
		decode.lost += r->missed_events;
	else
		decode.lost_unknown = true;
	calls_lost();
	if (decode.to->lost)
		decode.to->lost(t, r->ts, r->cpu, r->missed_events > 0 ? r->missed_events : 0);
}

/**
 * decode_begin - begin with a trace
 * @tep: its events
 * @format: the format that is told of it
 */
void decode_begin(struct tep_handle *tep, const struct format *format)
{
	decode.tep = tep;
	decode.to = format;
	trace_seq_init(&decode.text);
}

/**
 * decode_record - take the next event
 * @record: the event
 *
 * Returns: NULL, or a message that says why it is damaged.
 */
const char *decode_record(struct tep_record *record)
{
	int id, pid;
	struct class *c;
	const char *problem;
	uint32_t name;
	struct moment m;

	/* The number of the event, flags and the task, which all records begin with. */
	if (record->size < 8)
		return "it is too short";
	id = tep_data_type(decode.tep, record) & (EVENTS - 1);
	c = decode.class[id];
	problem = c ? NULL : make_class(id, &c);
	if (!problem)
		problem = check_fields(c, record);
	if (problem)
		return problem;
	if (record->ts > decode.last)
		decode.last = record->ts;
	pid = tep_data_pid(decode.tep, record);
	/* The task that is switched from is the one that does it. */
	name = c->kind == SWITCH ? field_name(record, &c->field[PREV_COMM]) : 0;
	m = (struct moment) {
		.ts = record->ts, .cpu = record->cpu, .event = c->event, .record = record,
		.task = task_of(pid, record->cpu, name),
	};
	take_losses(m.task, record);
	if (c->kind == ENTRY)
		take_entry(c, m.task, record);
	else if (c->kind == EXIT)
		take_exit(c, m.task, record);
	else
		take_event(c, &m);
	return NULL;
}

/**
 * decode_lost - how many events are missing
 * @unknown: whether there are more, whose number is not known
 *
 * Returns: their number.
 */
uint64_t decode_lost(bool *unknown)
{
	*unknown = decode.lost_unknown;
	return decode.lost;
}

/**
 * decode_end - the trace is over
 */
void decode_end(void)
{
	calls_end(decode.last);
	if (decode.to->end)
		decode.to->end(decode.last);
	trace_seq_destroy(&decode.text);
	free(decode.clean);
}
