// SPDX-License-Identifier: GPL-2.0
/*
 * The beginning of a line of the trace:
 *
 *	"            task-123     [001] d..1.  1234.567890: "
 *
 * Most lines begin like one before, but for the microseconds: with the same task on the same CPU,
 * in the same context and second. A reader keeps these texts. Lines that are printed without a
 * reader, in any context, are written anew.
 *
 * Invariant: all is forgotten when a read begins, as tasks are renamed, and their numbers used
 * again.
 *
 * The locks are those of the reader.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include "trace.h"
#include "trace_head.h"
#include "trace_names.h"
#include "trace_output.h"
#include "trace_text.h"

/* A blank, the time and ": ", in whole pieces */
#define TIME_MAX	TRACE_TEXT_PIECES(1 + TRACE_TEXT_DEC_MAX + 1 + TRACE_TEXT_LEAST + 2)
#define HEAD_MAX	(TRACE_HEAD_TEXT + TIME_MAX)

/* The options that a beginning depends on. */
#define SHAPE_FLAGS	(TRACE_ITER(RECORD_TGID) | TRACE_ITER(IRQ_INFO))
#define SHAPE_NS	BIT_ULL(63)

static_assert(!(SHAPE_FLAGS & SHAPE_NS));

/**
 * trace_head_begin - have the beginnings of lines written anew
 * @head: the beginnings; zeroed before the first read
 */
void trace_head_begin(struct trace_head *head)
{
	head->read++;
	if (unlikely(!head->read)) {
		memset(head, 0, sizeof(*head));
		head->read = 1;
	}
}

static char *put_task(char *p, int pid, int cpu, bool with_tgid)
{
	char comm[TASK_COMM_LEN];
	unsigned int len;
	int tgid;

	trace_find_cmdline(pid, comm);
	len = strlen(comm);
	memset(p, ' ', TASK_COMM_LEN);
	memcpy(p + TASK_COMM_LEN - len, comm, len);
	p += TASK_COMM_LEN;
	*p++ = '-';
	p = trace_text_int_left(p, pid, 7);
	if (with_tgid) {
		tgid = trace_find_tgid(pid);
		p = trace_text_put(p, " (");
		p = tgid ? trace_text_int(p, tgid, 7) : trace_text_put(p, "-------");
		*p++ = ')';
	}
	p = trace_text_put(p, " [");
	p = trace_text_dec(p, cpu, 3, '0');
	return trace_text_put(p, "] ");
}

/* @second: in microseconds */
static char *put_second(char *p, u64 second)
{
	*p++ = ' ';
	p = trace_text_dec(p, (unsigned long)div_u64(second, USEC_PER_SEC), 5, ' ');
	*p++ = '.';
	return p;
}

/* Where the clock counts something else. */
static char *put_ticks(char *p, u64 ts)
{
	*p++ = ' ';
	return trace_text_dec(p, ts, 12, ' ');
}

static noinline char *put_head(char *p, struct trace_iterator *iter, u64 shape, u64 second)
{
	p = put_task(p, iter->ent->pid, iter->cpu, shape & TRACE_ITER(RECORD_TGID));
	if (shape & TRACE_ITER(IRQ_INFO))
		p = trace_lat_text(p, iter->ent);
	return shape & SHAPE_NS ? put_second(p, second) : p;
}

/* Return: the microseconds of a second, which the time is shortened to. */
static u64 cut_second(u64 *usecs)
{
	u32 rest;

	div_u64_rem(*usecs, USEC_PER_SEC, &rest);
	*usecs -= rest;
	return rest;
}

static noinline struct trace_head_line *
keep_head(struct trace_head *head, struct trace_head_line *line, u64 key,
	  struct trace_iterator *iter, u64 shape, u64 usecs)
{
	if (head->shape != shape) {
		memset(head->lines, 0, sizeof(head->lines));
		head->shape = shape;
	}
	cut_second(&usecs);
	line->key = key;
	line->cpu = iter->cpu;
	line->second = usecs;
	line->len = put_head(line->text, iter, shape, usecs) - line->text;
	return line;
}

/* Return: the line's beginning, which is kept. */
static __always_inline struct trace_head_line *
find_head(struct trace_head *head, struct trace_iterator *iter, u64 shape, u64 usecs)
{
	const struct trace_entry *entry = iter->ent;
	u64 key = (u64)head->read << 48 | (u64)(u32)entry->pid << 16 | entry->flags << 8 |
		  entry->preempt_count;
	struct trace_head_line *line = &head->lines[hash_64(key + iter->cpu, TRACE_HEAD_BITS)];

	/* The address is not worked out for each member. */
	OPTIMIZER_HIDE_VAR(line);
	if (unlikely(line->key != key || line->cpu != iter->cpu || head->shape != shape ||
		     usecs - line->second >= USEC_PER_SEC))
		return keep_head(head, line, key, iter, shape, usecs);
	return line;
}

/**
 * trace_print_time - print a time as lines do
 * @iter: the reader; the time goes to its trace_seq
 * @ts: the time, by the clock of the trace
 */
void trace_print_time(struct trace_iterator *iter, u64 ts)
{
	char *p = trace_seq_room(&iter->seq, TIME_MAX);
	u64 usecs = ns2usecs(ts), rest;

	if (!p)
		return;
	if (iter->iter_flags & TRACE_FILE_TIME_IN_NS) {
		rest = cut_second(&usecs);
		p = trace_text_padded(put_second(p, usecs), rest, 6);
	} else {
		p = put_ticks(p, ts);
	}
	trace_seq_wrote(&iter->seq, p);
}

/**
 * trace_print_context - print the beginning of an event's line
 * @iter: the reader; its entry is the event
 *
 * Return: 0 if the reader's buffer is full.
 */
int trace_print_context(struct trace_iterator *iter)
{
	char *p = trace_seq_room(&iter->seq, HEAD_MAX);
	struct trace_reader *reader = trace_reader_of(iter);
	u64 shape = iter->tr->trace_flags & SHAPE_FLAGS;
	struct trace_head_line *line;
	u64 usecs = 0;

	if (unlikely(!p))
		return 0;
	if (iter->iter_flags & TRACE_FILE_TIME_IN_NS) {
		shape |= SHAPE_NS;
		/* As ns2usecs(), which is a call */
		usecs = div_u64(iter->ts + 500, NSEC_PER_USEC);
	}
	if (likely(reader)) {
		line = find_head(&reader->head, iter, shape, usecs);
		p = trace_text_pieces(p, line->text, line->len);
		usecs -= line->second;
	} else {
		u64 second = usecs;

		usecs = cut_second(&second);
		p = put_head(p, iter, shape, second);
	}
	p = shape & SHAPE_NS ? trace_text_padded(p, usecs, 6) : put_ticks(p, iter->ts);
	trace_seq_wrote(&iter->seq, trace_text_put(p, ": "));
	return 1;
}
