// SPDX-License-Identifier: GPL-2.0
/*
 * The processed profile of Firefox Profiler, version 57 of that format.
 *
 * A task is a thread. Whenever it enters or leaves a function there is a sample of its stack, whose
 * weight is the time up to the next one: the profiler calls that "tracing-ms". Other events,
 * and the times that a task had a CPU, are markers.
 *
 * The format has the columns of a table one after the other, for each thread, so that nothing can
 * be written before the end: 16 bytes of memory for each call and each return, more for a marker.
 */
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "calls.h"
#include "decode.h"
#include "format.h"
#include "names.h"
#include "output.h"
#include "stacks.h"
#include "util.h"

#define NONE	UINT64_MAX

struct sample {
	uint64_t ts;
	/* Its place among the nodes of the task, from 1 on; 0 where it is in no function. */
	uint32_t stack;
};

struct marker {
	uint64_t begin, end;
	uint32_t name;
	int cpu;
	/* Where the text is among all of them, unless NONE */
	uint64_t text;
};

struct thread {
	struct sample *samples;
	size_t nr_samples, room_samples;
	struct marker *markers;
	size_t nr_markers, room_markers;
	/* Since when it has this CPU, or NONE. */
	uint64_t running;
	int cpu;
};

static struct {
	uint64_t first;
	char *texts;
	size_t nr_texts, room_texts;
	uint32_t running, lost;
	/* The place of a name in the thread's functions, from 1 on. */
	uint32_t *function;
} profile = { .first = NONE };

/* Collecting */

static void *room_for(void *p, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return p;
	*room = *room ? 2 * *room : 64;
	return grow(p, *room, size);
}

static struct thread *thread_of(struct task *t)
{
	struct thread *th = t->format;

	if (!th) {
		th = alloc(1, sizeof(*th));
		th->running = NONE;
		t->format = th;
	}
	return th;
}

static void take_time(uint64_t ts)
{
	if (ts < profile.first)
		profile.first = ts;
}

static void sample(struct task *t, uint64_t ts, uint32_t node)
{
	struct thread *th = thread_of(t);
	struct node *n = stacks_node(node);

	take_time(ts);
	th->samples = room_for(th->samples, th->nr_samples, &th->room_samples,
			       sizeof(*th->samples));
	th->samples[th->nr_samples++] = (struct sample) {
		.ts = ts, .stack = n->parent ? n->place + 1 : 0,
	};
}

static uint64_t keep_text(const char *text)
{
	size_t len = strlen(text) + 1;
	uint64_t at = profile.nr_texts;

	if (at + len > profile.room_texts) {
		profile.room_texts = 2 * (at + len);
		profile.texts = grow(profile.texts, profile.room_texts, 1);
	}
	memcpy(profile.texts + at, text, len);
	profile.nr_texts += len;
	return at;
}

static void mark(struct task *t, struct marker marker)
{
	struct thread *th = thread_of(t);

	take_time(marker.begin);
	th->markers = room_for(th->markers, th->nr_markers, &th->room_markers,
			       sizeof(*th->markers));
	th->markers[th->nr_markers++] = marker;
}

static void firefox_begin(const char *release, const char *machine)
{
	(void)release;
	(void)machine;
	profile.running = name_of("running");
	profile.lost = name_of("lost events");
}

static void firefox_call(struct task *t, struct frame *f, const struct arguments *a)
{
	(void)a;
	sample(t, f->begin, stacks_call(t, f->name));
}

static void firefox_ret(struct task *t, struct frame *f, uint64_t ts, enum ending ending,
			const struct leave *l)
{
	(void)ending;
	(void)l;
	sample(t, ts, t->nr_frames > 1 ? f[-1].node : t->root);
}

static void firefox_event(const struct moment *m)
{
	mark(m->task, (struct marker) {
		.begin = m->ts, .end = NONE, .name = name_of(m->event->name), .cpu = m->cpu,
		.text = keep_text(moment_text(m)),
	});
}

static void stop_running(struct task *t, uint64_t ts)
{
	struct thread *th = thread_of(t);

	if (th->running == NONE)
		return;
	mark(t, (struct marker) {
		.begin = th->running, .end = ts > th->running ? ts : th->running,
		.name = profile.running, .cpu = th->cpu, .text = NONE,
	});
	th->running = NONE;
}

static void firefox_switched(uint64_t ts, int cpu, struct task *from, struct task *to)
{
	struct thread *th = thread_of(to);

	stop_running(from, ts);
	stop_running(to, ts);
	th->running = ts;
	th->cpu = cpu;
}

static void firefox_lost(struct task *t, uint64_t ts, int cpu, uint64_t nr)
{
	char text[32];

	snprintf(text, sizeof(text), nr ? "%llu" : "?", (unsigned long long)nr);
	mark(t, (struct marker) {
		.begin = ts, .end = NONE, .name = profile.lost, .cpu = cpu,
		.text = keep_text(text),
	});
}

/* Writing */

static void write_time(uint64_t ts)
{
	output_decimal(ts - profile.first, 6);
}

static void comma(size_t i)
{
	if (i)
		output_write(",", 1);
}

static void write_column(const char *before, size_t nr, const char *value)
{
	output_text(before);
	output_write("[", 1);
	for (size_t i = 0; i < nr; i++) {
		comma(i);
		output_text(value);
	}
	output_write("]", 1);
}

static void write_samples(const struct thread *th)
{
	output_text("\"samples\":{\"weightType\":\"tracing-ms\",\"length\":");
	output_number(th->nr_samples);
	output_text(",\"time\":[");
	for (size_t i = 0; i < th->nr_samples; i++) {
		comma(i);
		write_time(th->samples[i].ts);
	}
	output_text("],\"stack\":[");
	for (size_t i = 0; i < th->nr_samples; i++) {
		comma(i);
		if (th->samples[i].stack)
			output_number(th->samples[i].stack - 1);
		else
			output_text("null");
	}
	output_text("],\"weight\":[");
	for (size_t i = 0; i < th->nr_samples; i++) {
		comma(i);
		output_decimal(i + 1 < th->nr_samples ?
			       th->samples[i + 1].ts - th->samples[i].ts : 0, 6);
	}
	output_text("]}");
}

static void write_marker_data(const struct marker *m)
{
	output_text(m->text == NONE ? "{\"type\":\"running\",\"cpu\":" :
				      "{\"type\":\"event\",\"cpu\":");
	output_number(m->cpu);
	if (m->text != NONE) {
		output_text(",\"text\":");
		output_json(profile.texts + m->text);
	}
	output_write("}", 1);
}

static void write_markers(const struct thread *th)
{
	output_text(",\"markers\":{\"length\":");
	output_number(th->nr_markers);
	output_text(",\"name\":[");
	for (size_t i = 0; i < th->nr_markers; i++) {
		comma(i);
		output_number(th->markers[i].name - 1);
	}
	output_text("],\"startTime\":[");
	for (size_t i = 0; i < th->nr_markers; i++) {
		comma(i);
		write_time(th->markers[i].begin);
	}
	output_text("],\"endTime\":[");
	for (size_t i = 0; i < th->nr_markers; i++) {
		comma(i);
		if (th->markers[i].end == NONE)
			output_text("null");
		else
			write_time(th->markers[i].end);
	}
	output_text("],\"phase\":[");
	for (size_t i = 0; i < th->nr_markers; i++) {
		comma(i);
		output_text(th->markers[i].end == NONE ? "0" : "1");
	}
	output_text("],\"data\":[");
	for (size_t i = 0; i < th->nr_markers; i++) {
		comma(i);
		write_marker_data(&th->markers[i]);
	}
	write_column("],\"category\":", th->nr_markers, "0");
	output_write("}", 1);
}

/* A frame and a function for each name that is in one of the stacks. */
static size_t write_functions(const struct task *t)
{
	size_t nr = 0;

	output_text(",\"funcTable\":{\"name\":[");
	for (uint32_t n = t->root ? stacks_node(t->root)->next : 0; n; n = stacks_node(n)->next) {
		uint32_t name = stacks_node(n)->name;

		if (profile.function[name])
			continue;
		comma(nr);
		output_number(name - 1);
		profile.function[name] = ++nr;
	}
	output_text("],\"length\":");
	output_number(nr);
	write_column(",\"isJS\":", nr, "false");
	write_column(",\"relevantForJS\":", nr, "false");
	write_column(",\"resource\":", nr, "-1");
	write_column(",\"fileName\":", nr, "null");
	write_column(",\"lineNumber\":", nr, "null");
	write_column(",\"columnNumber\":", nr, "null");
	return nr;
}

static void write_frames(size_t nr)
{
	output_text("},\"frameTable\":{\"func\":[");
	for (size_t i = 0; i < nr; i++) {
		comma(i);
		output_number(i);
	}
	output_text("],\"length\":");
	output_number(nr);
	write_column(",\"address\":", nr, "-1");
	write_column(",\"inlineDepth\":", nr, "0");
	write_column(",\"category\":", nr, "1");
	write_column(",\"subcategory\":", nr, "0");
	write_column(",\"nativeSymbol\":", nr, "null");
	write_column(",\"innerWindowID\":", nr, "null");
	write_column(",\"line\":", nr, "null");
	write_column(",\"column\":", nr, "null");
}

static void write_stacks(const struct task *t)
{
	uint32_t first = t->root ? stacks_node(t->root)->next : 0;

	output_text("},\"stackTable\":{\"frame\":[");
	for (uint32_t n = first; n; n = stacks_node(n)->next) {
		comma(n != first);
		output_number(profile.function[stacks_node(n)->name] - 1);
	}
	output_text("],\"prefix\":[");
	for (uint32_t n = first; n; n = stacks_node(n)->next) {
		const struct node *parent = stacks_node(stacks_node(n)->parent);

		comma(n != first);
		if (parent->parent)
			output_number(parent->place);
		else
			output_text("null");
	}
	output_text("],\"length\":");
	output_number(t->nr_nodes);
	output_write("}", 1);
	for (uint32_t n = first; n; n = stacks_node(n)->next)
		profile.function[stacks_node(n)->name] = 0;
}

static const char * const lifetime[] = {
	",\"processType\":\"default\",\"processStartupTime\":0,\"registerTime\":0,",
	"\"processShutdownTime\":null,\"unregisterTime\":null,\"pausedRanges\":[],",
};

static const char * const unused[] = {
	",\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},",
	"\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],",
	"\"functionSize\":[]}}",
};

static void write_thread(struct task *t)
{
	const struct thread *th = thread_of(t);
	const struct task *process = task_find(t->tgid, t->cpu);

	output_text("{\"name\":");
	output_json(name_text(t->name));
	output_text(",\"processName\":");
	output_json(name_text(process ? process->name : t->name));
	output_text(",\"pid\":\"");
	output_number(t->tgid);
	output_text("\",\"tid\":\"");
	/* The profiler takes this for one of all threads. */
	if (!t->pid)
		output_text("idle ");
	output_number(t->pid ? t->pid : t->cpu);
	output_text("\",\"isMainThread\":");
	output_text(t->pid == t->tgid ? "true" : "false");
	for (size_t i = 0; i < ARRAY_SIZE(lifetime); i++)
		output_text(lifetime[i]);
	write_samples(th);
	write_markers(th);
	write_frames(write_functions(t));
	write_stacks(t);
	for (size_t i = 0; i < ARRAY_SIZE(unused); i++)
		output_text(unused[i]);
}

static const char * const meta[] = {
	"{\"meta\":{\"version\":27,\"preprocessedProfileVersion\":57,\"product\":\"ftrace-export\",",
	"\"processType\":0,\"stackwalk\":1,\"interval\":0.000001,\"startTime\":0,\"debug\":false,",
	"\"symbolicated\":true,",
	"\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},",
	"\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},",
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],",
	"\"markerSchema\":[{\"name\":\"event\",\"display\":[\"marker-chart\",\"marker-table\"],",
	"\"tableLabel\":\"{marker.data.text}\",",
	"\"fields\":[{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"},",
	"{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"}]},",
	"{\"name\":\"running\",",
	"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],",
	"\"chartLabel\":\"CPU {marker.data.cpu}\",\"tableLabel\":\"CPU {marker.data.cpu}\",",
	"\"fields\":[{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"}]}]},",
	"\"libs\":[],\"pages\":[],\"threads\":[",
};

static void write_strings(void)
{
	output_text("],\"shared\":{\"stringArray\":[");
	for (uint32_t i = 1; i <= names_count(); i++) {
		comma(i > 1);
		output_json(name_text(i));
	}
	output_text("]}}\n");
}

static void firefox_end(uint64_t ts)
{
	if (profile.first == NONE)
		profile.first = 0;
	profile.function = alloc(names_count() + 1, sizeof(*profile.function));
	for (size_t i = 0; i < ARRAY_SIZE(meta); i++)
		output_text(meta[i]);
	for (size_t i = 0; i < tasks_count(); i++) {
		stop_running(task_number(i), ts);
		comma(i);
		write_thread(task_number(i));
	}
	write_strings();
}

const struct format firefox_format = {
	.name		= "firefox",
	.begin		= firefox_begin,
	.call		= firefox_call,
	.ret		= firefox_ret,
	.event		= firefox_event,
	.switched	= firefox_switched,
	.lost		= firefox_lost,
	.end		= firefox_end,
};
