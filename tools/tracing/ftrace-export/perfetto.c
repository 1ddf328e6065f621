// SPDX-License-Identifier: GPL-2.0
/*
 * Perfetto's protobuf: a file is a message Trace, which is packets one after the other.
 *
 * Calls are slices, and other events instants, on the track of their task. Those events that
 * Perfetto knows itself, of the scheduler and of tasks, are written as it has them, bundled by
 * CPU. A name of a function, a category or an argument is written once; later packets have its
 * number.
 *
 * The numbers of fields are those of protos/perfetto/trace in Perfetto's source.
 */
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "calls.h"
#include "decode.h"
#include "format.h"
#include "names.h"
#include "output.h"
#include "util.h"

enum {
	TRACE_PACKET = 1,

	PACKET_FTRACE_EVENTS = 1, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11, PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45, PACKET_TRACK_DESCRIPTOR = 60,

	SYSTEM_INFO_UTSNAME = 1,
	UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4,

	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,

	EVENT_CATEGORY_IIDS = 3, EVENT_ANNOTATIONS = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,

	ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,

	INTERNED_CATEGORIES = 1, INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_IID = 1, INTERNED_NAME = 2,

	BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3,
	FTRACE_TIMESTAMP = 1, FTRACE_PID = 2,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };

/* Values of PACKET_SEQUENCE_FLAGS: numbers of names begin here; this packet has such numbers. */
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };

/* All packets with numbers of names are of one sequence. */
#define SEQUENCE	1

/* A bundle that is as long as this is written. */
#define BUNDLE_BYTES	(1 << 14)

/* The events that Perfetto knows: the field of FtraceEvent, and those of the message in it. */
static const struct {
	const char *system, *event;
	unsigned int number;
	const char *field[8];
} known[] = {
	{ "sched", "sched_switch", 4, { NULL, "prev_comm", "prev_pid", "prev_prio", "prev_state",
					"next_comm", "next_pid", "next_prio" } },
	{ "sched", "sched_wakeup", 17, { NULL, "comm", "pid", "prio", "success", "target_cpu" } },
	{ "sched", "sched_waking", 20, { NULL, "comm", "pid", "prio", "success", "target_cpu" } },
	{ "sched", "sched_wakeup_new", 114,
		{ NULL, "comm", "pid", "prio", "success", "target_cpu" } },
	{ "task", "task_newtask", 235, { NULL, "pid", "comm", "clone_flags", "oom_score_adj" } },
	{ "task", "task_rename", 236, { NULL, "pid", "oldcomm", "newcomm", "oom_score_adj" } },
	{ "sched", "sched_process_exec", 237, { NULL, NULL, "pid", "old_pid" } },
	{ "sched", "sched_process_exit", 238, { NULL, "comm", "pid", NULL, "prio" } },
	{ "sched", "sched_process_free", 240, { NULL, "comm", "pid", "prio" } },
};

#define MOST_FIELDS	ARRAY_SIZE(known[0].field)

/* What is known of an event, by its number. */
struct event_class {
	bool is_known;
	size_t k;
	struct field field[MOST_FIELDS];
	bool has[MOST_FIELDS], is_text[MOST_FIELDS];
	uint32_t category, name;
};

struct buffer {
	unsigned char *data;
	size_t len, room;
};

static struct buffer packet;
static struct {
	struct buffer buffer;
	bool lost;
} *bundles;
static unsigned int nr_bundles;
static struct event_class *classes[1 << 16];
static bool cleared;

/* Messages */

static void reserve(struct buffer *b, size_t len)
{
	if (b->len + len <= b->room)
		return;
	b->room = 2 * (b->len + len);
	b->data = grow(b->data, b->room, 1);
}

static size_t put_varint(unsigned char *to, uint64_t n)
{
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		to[len++] = n | 0x80;
	to[len++] = n;
	return len;
}

static void add_varint(struct buffer *b, uint64_t n)
{
	reserve(b, 10);
	b->len += put_varint(b->data + b->len, n);
}

static void add_number(struct buffer *b, unsigned int field, uint64_t n)
{
	add_varint(b, field << 3);
	add_varint(b, n);
}

static void add_bytes(struct buffer *b, const void *data, size_t len)
{
	reserve(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void add_text(struct buffer *b, unsigned int field, const char *text)
{
	size_t len = strlen(text);

	add_varint(b, field << 3 | 2);
	add_varint(b, len);
	add_bytes(b, text, len);
}

/* A message in another one; its length comes before it, and most have one byte of that. */
static size_t message_begin(struct buffer *b, unsigned int field)
{
	add_varint(b, field << 3 | 2);
	reserve(b, 1);
	return b->len++;
}

static void message_end(struct buffer *b, size_t begin)
{
	unsigned char length[10];
	size_t len = b->len - begin - 1;
	size_t more = put_varint(length, len) - 1;

	if (more) {
		reserve(b, more);
		memmove(b->data + begin + 1 + more, b->data + begin + 1, len);
		b->len += more;
	}
	memcpy(b->data + begin, length, more + 1);
}

static void write_packet(void)
{
	unsigned char tag[11];
	size_t len;

	tag[0] = TRACE_PACKET << 3 | 2;
	len = 1 + put_varint(tag + 1, packet.len);
	output_write(tag, len);
	output_write(packet.data, packet.len);
	packet.len = 0;
}

/* Names: which have been written, a bit for each of the three kinds of them */

static unsigned char *written;
static size_t nr_written;

static void write_name(unsigned int kind, uint32_t name)
{
	size_t in, of;

	if (name >= nr_written) {
		size_t nr = 2 * (size_t)names_count();

		written = grow(written, nr, 1);
		memset(written + nr_written, 0, nr - nr_written);
		nr_written = nr;
	}
	if (written[name] & 1 << kind)
		return;
	written[name] |= 1 << kind;
	add_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	add_number(&packet, PACKET_SEQUENCE_FLAGS, cleared ? FLAG_NEEDED : FLAG_CLEARED);
	cleared = true;
	in = message_begin(&packet, PACKET_INTERNED_DATA);
	of = message_begin(&packet, kind);
	add_number(&packet, INTERNED_IID, name);
	add_text(&packet, INTERNED_NAME, name_text(name));
	message_end(&packet, of);
	message_end(&packet, in);
	write_packet();
}

static uint32_t annotation_name(const char *text)
{
	uint32_t name = name_of(text);

	write_name(INTERNED_ANNOTATION_NAMES, name);
	return name;
}

static struct {
	uint32_t category, args[16], ret, time, end, text, cpu;
} fixed;

static void name_fixed(void)
{
	char text[16];

	fixed.category = name_of("function_graph");
	write_name(INTERNED_CATEGORIES, fixed.category);
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed.args); i++) {
		snprintf(text, sizeof(text), "arg%u", i);
		fixed.args[i] = annotation_name(text);
	}
	fixed.ret = annotation_name("return value");
	fixed.time = annotation_name("time by the kernel (ns)");
	fixed.end = annotation_name("end");
	fixed.text = annotation_name("text");
	fixed.cpu = annotation_name("cpu");
}

/* Track events */

/* Perfetto has no track 0. */
static uint64_t uuid_of(const struct task *t)
{
	return t->number + 1ULL;
}

static size_t event_begin(const struct task *t, uint64_t ts, unsigned int type)
{
	size_t begin;

	add_number(&packet, PACKET_TIMESTAMP, ts);
	add_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	add_number(&packet, PACKET_SEQUENCE_FLAGS, FLAG_NEEDED);
	begin = message_begin(&packet, PACKET_TRACK_EVENT);
	add_number(&packet, EVENT_TYPE, type);
	add_number(&packet, EVENT_TRACK_UUID, uuid_of(t));
	return begin;
}

static void event_end(size_t begin)
{
	message_end(&packet, begin);
	write_packet();
}

static void add_names(uint32_t category, uint32_t name)
{
	add_number(&packet, EVENT_CATEGORY_IIDS, category);
	add_number(&packet, EVENT_NAME_IID, name);
}

static void annotate(uint32_t name, unsigned int kind, uint64_t n)
{
	size_t begin = message_begin(&packet, EVENT_ANNOTATIONS);

	add_number(&packet, ANNOTATION_NAME_IID, name);
	add_number(&packet, kind, n);
	message_end(&packet, begin);
}

static void annotate_text(uint32_t name, const char *text)
{
	size_t begin = message_begin(&packet, EVENT_ANNOTATIONS);

	add_number(&packet, ANNOTATION_NAME_IID, name);
	add_text(&packet, ANNOTATION_STRING, text);
	message_end(&packet, begin);
}

/* Errors are small negative numbers, of an int or of a long. */
static void annotate_return(const struct leave *l)
{
	int64_t error = (int64_t)l->retval;

	if (l->retval >> 32 == 0)
		error = (int32_t)l->retval;
	if (l->has_retval && error < 0 && error >= -4095)
		annotate(fixed.ret, ANNOTATION_INT, error);
	else if (l->has_retval)
		annotate(fixed.ret, ANNOTATION_POINTER, l->retval);
	if (l->has_times)
		annotate(fixed.time, ANNOTATION_UINT, l->rettime - l->calltime);
}

static void perfetto_begin(const char *release, const char *machine)
{
	size_t in, of;

	if (release) {
		in = message_begin(&packet, PACKET_SYSTEM_INFO);
		of = message_begin(&packet, SYSTEM_INFO_UTSNAME);
		add_text(&packet, UTSNAME_SYSNAME, "Linux");
		add_text(&packet, UTSNAME_RELEASE, release);
		add_text(&packet, UTSNAME_MACHINE, machine);
		message_end(&packet, of);
		message_end(&packet, in);
		write_packet();
	}
	name_fixed();
}

static void perfetto_named(struct task *t)
{
	size_t track = message_begin(&packet, PACKET_TRACK_DESCRIPTOR), thread;

	add_number(&packet, TRACK_UUID, uuid_of(t));
	/* Idle tasks have tracks of their own: no thread of Perfetto's is one. */
	if (t->pid) {
		thread = message_begin(&packet, TRACK_THREAD);
		add_number(&packet, THREAD_PID, t->tgid);
		add_number(&packet, THREAD_TID, t->pid);
		add_text(&packet, THREAD_NAME, name_text(t->name));
		message_end(&packet, thread);
	} else {
		add_text(&packet, TRACK_NAME, name_text(t->name));
	}
	message_end(&packet, track);
	write_packet();
}

static void perfetto_call(struct task *t, struct frame *f, const struct arguments *a)
{
	size_t begin;

	write_name(INTERNED_EVENT_NAMES, f->name);
	begin = event_begin(t, f->begin, TYPE_BEGIN);
	add_names(fixed.category, f->name);
	for (unsigned int i = 0; i < a->nr; i++)
		annotate(fixed.args[i], ANNOTATION_POINTER, a->value[i]);
	event_end(begin);
}

static void perfetto_ret(struct task *t, struct frame *f, uint64_t ts, enum ending ending,
			 const struct leave *l)
{
	size_t begin;

	(void)f;
	/* Perfetto shows a slice without an end as one that goes on. */
	if (ending == UNFINISHED)
		return;
	begin = event_begin(t, ts, TYPE_END);
	if (ending == RETURNED)
		annotate_return(l);
	else
		annotate_text(fixed.end, "the return was not recorded");
	event_end(begin);
}

static void perfetto_lone_return(struct task *t, uint64_t ts, const struct leave *l)
{
	size_t begin;

	write_name(INTERNED_EVENT_NAMES, l->name);
	begin = event_begin(t, ts, TYPE_INSTANT);
	add_names(fixed.category, l->name);
	annotate_text(fixed.text, "a return, whose call was not recorded");
	annotate_return(l);
	event_end(begin);
}

/* Bundles */

static void write_bundle(unsigned int cpu)
{
	struct buffer *b = &bundles[cpu].buffer;
	size_t begin;

	if (!b->len && !bundles[cpu].lost)
		return;
	begin = message_begin(&packet, PACKET_FTRACE_EVENTS);
	add_number(&packet, BUNDLE_CPU, cpu);
	if (bundles[cpu].lost)
		add_number(&packet, BUNDLE_LOST, 1);
	if (b->len)
		add_bytes(&packet, b->data, b->len);
	message_end(&packet, begin);
	write_packet();
	b->len = 0;
	bundles[cpu].lost = false;
}

static void find_bundle(unsigned int cpu)
{
	if (cpu < nr_bundles)
		return;
	bundles = grow(bundles, cpu + 1, sizeof(*bundles));
	memset(bundles + nr_bundles, 0, (cpu + 1 - nr_bundles) * sizeof(*bundles));
	nr_bundles = cpu + 1;
}

static void perfetto_lost(struct task *t, uint64_t ts, int cpu, uint64_t nr)
{
	(void)t;
	(void)ts;
	(void)nr;
	find_bundle(cpu);
	write_bundle(cpu);
	bundles[cpu].lost = true;
}

static void add_known(const struct event_class *c, const struct moment *m)
{
	struct buffer *b = &bundles[m->cpu].buffer;
	size_t event = message_begin(b, BUNDLE_EVENT), of;

	add_number(b, FTRACE_TIMESTAMP, m->ts);
	add_number(b, FTRACE_PID, m->task->pid);
	of = message_begin(b, known[c->k].number);
	for (unsigned int i = 0; i < MOST_FIELDS; i++) {
		if (c->has[i] && c->is_text[i])
			add_text(b, i, name_text(field_name(m->record, &c->field[i])));
		else if (c->has[i])
			add_number(b, i, field_read(m->record, &c->field[i]));
	}
	message_end(b, of);
	message_end(b, event);
	if (b->len >= BUNDLE_BYTES)
		write_bundle(m->cpu);
}

static void find_fields(struct event_class *c, struct tep_event *event)
{
	for (unsigned int i = 0; i < MOST_FIELDS; i++) {
		const char *name = known[c->k].field[i];
		struct tep_format_field *f = name ? tep_find_any_field(event, name) : NULL;

		c->has[i] = f && !(f->flags & TEP_FIELD_IS_DYNAMIC) &&
			    field_find(event, name, &c->field[i]);
		c->is_text[i] = f && f->flags & TEP_FIELD_IS_ARRAY;
	}
}

static struct event_class *class_of(struct tep_event *event)
{
	struct event_class *c = classes[event->id];

	if (c)
		return c;
	c = alloc(1, sizeof(*c));
	classes[event->id] = c;
	for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
		if (!strcmp(known[k].system, event->system) &&
		    !strcmp(known[k].event, event->name)) {
			c->is_known = true;
			c->k = k;
		}
	}
	if (c->is_known) {
		find_fields(c, event);
		return c;
	}
	c->category = name_of(event->system);
	c->name = name_of(event->name);
	write_name(INTERNED_CATEGORIES, c->category);
	write_name(INTERNED_EVENT_NAMES, c->name);
	return c;
}

static void write_instant(const struct event_class *c, const struct moment *m)
{
	size_t begin = event_begin(m->task, m->ts, TYPE_INSTANT);

	add_names(c->category, c->name);
	annotate_text(fixed.text, moment_text(m));
	annotate(fixed.cpu, ANNOTATION_UINT, m->cpu);
	event_end(begin);
}

static void perfetto_event(const struct moment *m)
{
	const struct event_class *c = class_of(m->event);

	if (!c->is_known) {
		write_instant(c, m);
		return;
	}
	find_bundle(m->cpu);
	add_known(c, m);
}

static void perfetto_end(uint64_t ts)
{
	(void)ts;
	for (unsigned int cpu = 0; cpu < nr_bundles; cpu++)
		write_bundle(cpu);
}

const struct format perfetto_format = {
	.name		= "perfetto",
	.binary		= true,
	.begin		= perfetto_begin,
	.named		= perfetto_named,
	.call		= perfetto_call,
	.ret		= perfetto_ret,
	.lone_return	= perfetto_lone_return,
	.event		= perfetto_event,
	.lost		= perfetto_lost,
	.end		= perfetto_end,
};
