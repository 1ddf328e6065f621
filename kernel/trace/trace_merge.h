/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_MERGE_H
#define _TRACE_MERGE_H

#include "trace.h"
#include "trace_names.h"
#include "trace_output.h"

struct trace_entry;

/**
 * trace_peek_entry - look at the next event of a CPU
 * @iter: the reader, which gets the event's size
 * @cpu: the CPU
 * @ts: gets the event's time
 * @lost: gets how many were lost before it, -1 if that is not known; may be NULL
 *
 * Return: the event; NULL at the end.
 */
static __always_inline struct trace_entry *
trace_peek_entry(struct trace_iterator *iter, int cpu, u64 *ts, unsigned long *lost)
{
	struct ring_buffer_iter *buf_iter = trace_buffer_iter(iter, cpu);
	struct ring_buffer_event *event;

	if (buf_iter) {
		event = ring_buffer_iter_peek(buf_iter, ts);
		if (lost)
			*lost = ring_buffer_iter_dropped(buf_iter) ? -1UL : 0;
	} else {
		event = ring_buffer_peek(iter->array_buffer->buffer, cpu, ts, lost);
	}
	if (unlikely(!event)) {
		iter->ent_size = 0;
		return NULL;
	}
	return trace_event_data(event, &iter->ent_size);
}

bool trace_merge_alloc(struct trace_iterator *iter);
struct trace_entry *trace_merge_next(struct trace_iterator *iter, int *cpu, u64 *ts,
				     unsigned long *lost);

/**
 * trace_merge_usable - whether a reader can call trace_merge_next()
 * @iter: a reader
 *
 * It is not of one CPU, nor where the clock is not one of nanoseconds: then it is not known
 * whether an event is younger than a look at the other CPUs.
 *
 * Context: a file's iterator may sleep here.
 */
static inline bool trace_merge_usable(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	return reader && (likely(reader->merged) || trace_merge_alloc(iter));
}

#endif /* _TRACE_MERGE_H */
