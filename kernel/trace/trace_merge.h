/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_MERGE_H
#define _TRACE_MERGE_H

#include "trace_names.h"

struct trace_entry;

bool trace_merge_alloc(struct trace_iterator *iter);
struct trace_entry *trace_merge_next(struct trace_iterator *iter, int *cpu, u64 *ts,
				     unsigned long *lost);

/**
 * trace_merge_usable - whether a reader can call trace_merge_next()
 * @iter: the reader, of all CPUs
 *
 * It is not where the clock is not one of nanoseconds: then it is not known whether
 * an event is younger than a look at the other CPUs.
 *
 * Context: a file's iterator may sleep here.
 */
static inline bool trace_merge_usable(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	return reader && (reader->merged || trace_merge_alloc(iter));
}

/* In trace.c */
struct trace_entry *trace_peek_entry(struct trace_iterator *iter, int cpu, u64 *ts,
				     unsigned long *lost);

#endif /* _TRACE_MERGE_H */
