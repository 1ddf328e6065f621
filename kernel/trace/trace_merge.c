// SPDX-License-Identifier: GPL-2.0
/*
 * The next event of all CPUs, without asking each CPU for each line.
 *
 * A reader remembers in a heap when the next event of each CPU was recorded. Only the
 * CPU at the top is looked at: its event may have been read since, and then its next one
 * finds its place in the heap.
 *
 * Invariants:
 *  1. The entry returned was looked at in the same call. The heap has times only, so
 *     nothing in it goes stale when a buffer is reset, consumed or overwritten.
 *  2. CPUs that had no event are not in the heap. They are asked again before an event
 *     is returned that may be younger than one that they have got since.
 *  3. Of two events of one time, that of the lower CPU comes first.
 *
 * The heap is forgotten when a read begins, as others may have read in between. Context
 * and locks are those of the reader.
 */
#include <linux/min_heap.h>
#include <linux/overflow.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "trace.h"
#include "trace_merge.h"
#include "trace_names.h"

/* A writer that was interrupted publishes an event so much later than its time, at most. */
#define MERGE_DELAY	NSEC_PER_MSEC

/**
 * struct merge_head - the next event of a CPU
 * @ts: its time
 * @cpu: the CPU
 */
struct merge_head {
	u64	ts;
	int	cpu;
};

DEFINE_MIN_HEAP(struct merge_head, merge_heap);

/**
 * struct trace_merge - the next event of each CPU
 * @heap: of @heads
 * @until: CPUs that are not in the heap have no event that is older than this
 * @heads: room for each CPU
 */
struct trace_merge {
	struct merge_heap	heap;
	u64			until;
	struct merge_head	heads[];
};

static bool head_less(const void *a, const void *b, void *args)
{
	const struct merge_head *left = a, *right = b;

	return left->ts != right->ts ? left->ts < right->ts : left->cpu < right->cpu;
}

static void head_swap(void *a, void *b, void *args)
{
	swap(*(struct merge_head *)a, *(struct merge_head *)b);
}

static const struct min_heap_callbacks head_order = {
	.less	= head_less,
	.swp	= head_swap,
};

/* For trace_merge_usable(). */
bool trace_merge_alloc(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	if (iter->cpu_file != RING_BUFFER_ALL_CPUS ||
	    !(iter->iter_flags & TRACE_FILE_TIME_IN_NS))
		return false;
	if (!reader->merge) {
		reader->merge = kzalloc_flex(*reader->merge, heads, nr_cpu_ids);
		if (reader->merge)
			min_heap_init_inline(&reader->merge->heap, reader->merge->heads,
					     nr_cpu_ids);
	}
	return reader->merge;
}

/* A CPU gave no event. If it has one, a writer was in the way: the next line asks it again. */
static void merge_missed(struct trace_iterator *iter, struct trace_merge *merge, int cpu)
{
	if (!trace_cpu_empty(iter, cpu))
		merge->until = 0;
}

static void merge_fill(struct trace_iterator *iter, struct trace_merge *merge)
{
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	u64 now = ring_buffer_time_stamp(buffer), ts;
	int cpu;

	merge->until = now > MERGE_DELAY ? now - MERGE_DELAY : 0;
	merge->heap.nr = 0;
	for_each_tracing_cpu(cpu) {
		if (trace_cpu_empty(iter, cpu))
			continue;
		if (!trace_peek_entry(iter, cpu, &ts, NULL)) {
			merge_missed(iter, merge, cpu);
			continue;
		}
		merge->heads[merge->heap.nr++] = (struct merge_head) { .ts = ts, .cpu = cpu };
	}
	min_heapify_all_inline(&merge->heap, &head_order, NULL);
}

/* Whether the head at the top is in its place. */
static bool merge_is_first(const struct trace_merge *merge)
{
	const struct merge_head *heads = merge->heads;

	for (size_t i = 1; i <= 2 && i < merge->heap.nr; i++) {
		if (head_less(&heads[i], heads, NULL))
			return false;
	}
	return true;
}

static noinline void merge_sink(struct trace_merge *merge)
{
	min_heap_sift_down_inline(&merge->heap, 0, &head_order, NULL);
}

static noinline void merge_pop(struct trace_iterator *iter, struct trace_merge *merge)
{
	int cpu = merge->heads->cpu;

	min_heap_pop_inline(&merge->heap, &head_order, NULL);
	merge_missed(iter, merge, cpu);
}

/* The event of the CPU at the top, after all that were read are passed. */
static __always_inline struct trace_entry *
merge_top(struct trace_iterator *iter, struct trace_merge *merge, u64 *ts, unsigned long *lost)
{
	struct merge_head *top = merge->heads;
	struct trace_entry *entry;
	int cpu;

	while (likely(merge->heap.nr)) {
		cpu = top->cpu;
		entry = trace_peek_entry(iter, cpu, ts, lost);
		if (unlikely(!entry)) {
			merge_pop(iter, merge);
			continue;
		}
		if (*ts == top->ts)
			return entry;
		/* Of another buffer, as after a snapshot, or another clock: ask all again. */
		if (unlikely(*ts < top->ts))
			merge->until = 0;
		top->ts = *ts;
		/* Mostly the next event is of the same CPU. */
		if (merge_is_first(merge))
			return entry;
		merge_sink(merge);
		if (top->cpu == cpu)
			return entry;
	}
	return NULL;
}

/* Asks the CPUs that are not in the heap, too. */
static noinline struct trace_entry *
merge_all(struct trace_iterator *iter, struct trace_merge *merge, u64 *ts, unsigned long *lost)
{
	struct trace_entry *entry;

	merge_fill(iter, merge);
	trace_reader_of(iter)->merged = true;
	entry = merge_top(iter, merge, ts, lost);
	if (!entry) {
		*ts = 0;
		*lost = 0;
		iter->ent_size = 0;
	}
	return entry;
}

/**
 * trace_merge_next - look at the oldest of the CPUs' next events
 * @iter: the reader, for which trace_merge_usable() holds; its @ent_size is set
 * @cpu: gets the event's CPU, or -1
 * @ts: gets its time, or 0
 * @lost: gets how many were lost before it, or 0
 *
 * Return: the event; NULL at the end.
 */
struct trace_entry *trace_merge_next(struct trace_iterator *iter, int *cpu, u64 *ts,
				     unsigned long *lost)
{
	struct trace_reader *reader = trace_reader_of(iter);
	struct trace_merge *merge = reader->merge;
	struct trace_entry *entry = NULL;

	if (likely(reader->merged))
		entry = merge_top(iter, merge, ts, lost);
	if (unlikely(!entry || *ts >= merge->until))
		entry = merge_all(iter, merge, ts, lost);
	*cpu = likely(entry) ? merge->heads->cpu : -1;
	return entry;
}
