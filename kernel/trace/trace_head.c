// SPDX-License-Identifier: GPL-2.0
/*
 * The beginning of a line of the trace:
 *
 *	"            task-123     [001] d..1.  1234.567890: "
 *
 * Most lines begin like those before: with the same task on the same CPU, in the same context
 * and second. A reader keeps these texts. Lines that are printed without a reader, in any context,
 * are written anew.
 *
 * Invariant: names of tasks are forgotten when a read begins, as tasks are renamed, and their
 * numbers used again.
 *
 * The locks are those of the reader.
 */
#include <linux/align.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include "trace.h"
#include "trace_head.h"
#include "trace_names.h"
#include "trace_output.h"
#include "trace_text.h"

/* A blank, the time and ": ", in whole pieces */
#define TIME_MAX	TRACE_TEXT_PIECES(1 + TRACE_TEXT_DEC_MAX + 1 + 6 + 2)
/* The task, the context, the time */
#define HEAD_MAX	(TRACE_HEAD_TASK_MAX + TRACE_TEXT_PIECE + TIME_MAX)

/**
 * trace_head_init - begin to keep the beginnings of lines
 * @head: zeroed
 */
void trace_head_init(struct trace_head *head)
{
	/* The first second */
	head->second_len = trace_text_put(head->second_text, "     0.") - head->second_text;
	trace_lat_text(head->context_text, &(struct trace_entry) { });
}

/**
 * trace_head_forget - have tasks looked up again
 * @head: the beginnings of lines
 */
void trace_head_forget(struct trace_head *head)
{
	for (unsigned int i = 0; i < TRACE_HEAD_TASKS; i++)
		head->tasks[i].len = 0;
}

static struct trace_head *head_of(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	return reader ? &reader->head : NULL;
}

static char *put_new_task(char *p, int pid, int cpu, bool with_tgid)
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

static char *put_task(char *p, struct trace_head *head, int pid, int cpu, bool tgid)
{
	struct trace_head_task *task;

	if (!head)
		return put_new_task(p, pid, cpu, tgid);
	task = &head->tasks[(unsigned int)cpu % TRACE_HEAD_TASKS];
	if (unlikely(!task->len || task->pid != pid || task->cpu != cpu || task->tgid != tgid)) {
		task->pid = pid;
		task->cpu = cpu;
		task->tgid = tgid;
		task->len = put_new_task(task->text, pid, cpu, tgid) - task->text;
	}
	return trace_text_pieces(p, task->text, task->len);
}

static char *put_context(char *p, struct trace_head *head, const struct trace_entry *entry)
{
	u16 context = entry->flags << 8 | entry->preempt_count;

	if (!head)
		return trace_lat_text(p, entry);
	if (context != head->context) {
		head->context = context;
		trace_lat_text(head->context_text, entry);
	}
	return trace_text_pieces(p, head->context_text, TRACE_LAT_TEXT);
}

/* Of a time in microseconds. */
static char *put_new_second(char *p, u64 *usecs)
{
	u32 rest;
	u64 seconds = div_u64_rem(*usecs, USEC_PER_SEC, &rest);

	*usecs -= rest;
	*p++ = ' ';
	p = trace_text_dec(p, (unsigned long)seconds, 5, ' ');
	*p++ = '.';
	return p;
}

static __always_inline char *put_time(char *p, struct trace_head *head,
				      struct trace_iterator *iter, u64 ts)
{
	u64 usecs, second;

	if (!(iter->iter_flags & TRACE_FILE_TIME_IN_NS)) {
		*p++ = ' ';
		return trace_text_dec(p, ts, 12, ' ');
	}
	usecs = ns2usecs(ts);
	if (!head) {
		second = usecs;
		p = put_new_second(p, &second);
		return trace_text_usecs(p, usecs - second);
	}
	if (unlikely(usecs - head->second >= USEC_PER_SEC)) {
		head->second = usecs;
		head->second_len = put_new_second(head->second_text, &head->second) -
				   head->second_text;
	}
	p = trace_text_pieces(p, head->second_text, head->second_len);
	return trace_text_usecs(p, usecs - head->second);
}

/**
 * trace_print_time - print a time as lines do
 * @iter: the reader; the time goes to its trace_seq
 * @ts: the time, by the clock of the trace
 */
void trace_print_time(struct trace_iterator *iter, u64 ts)
{
	char *to = trace_seq_room(&iter->seq, TIME_MAX);

	if (to)
		trace_seq_wrote(&iter->seq, put_time(to, head_of(iter), iter, ts));
}

/**
 * trace_print_context - print the beginning of an event's line
 * @iter: the reader; its entry is the event
 *
 * Return: 0 if the reader's buffer is full.
 */
int trace_print_context(struct trace_iterator *iter)
{
	unsigned long flags = iter->tr->trace_flags;
	struct trace_head *head = head_of(iter);
	struct trace_entry *entry = iter->ent;
	char *p = trace_seq_room(&iter->seq, HEAD_MAX);

	if (unlikely(!p))
		return 0;
	p = put_task(p, head, entry->pid, iter->cpu, flags & TRACE_ITER(RECORD_TGID));
	if (flags & TRACE_ITER(IRQ_INFO))
		p = put_context(p, head, entry);
	p = put_time(p, head, iter, iter->ts);
	trace_seq_wrote(&iter->seq, trace_text_put(p, ": "));
	return 1;
}
