/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of an event into the ring buffer, for callers that want it inline: most of the
 * work is constant where the size of the event is. See ring_buffer_write.c.
 */
#ifndef _KERNEL_TRACE_RING_BUFFER_WRITE_H
#define _KERNEL_TRACE_RING_BUFFER_WRITE_H

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/trace_clock.h>

#include "ring_buffer_internal.h"

bool rb_enter_nested(struct ring_buffer_per_cpu *cpu_buffer);
struct ring_buffer_event *rb_reserve_slow(struct ring_buffer_per_cpu *cpu_buffer,
					  unsigned int size, u64 now);
void rb_publish_slow(struct ring_buffer_per_cpu *cpu_buffer);
void rb_write_leave(struct ring_buffer_per_cpu *cpu_buffer);
void rb_wake_readers(struct ring_buffer_per_cpu *cpu_buffer);

/* Of struct ring_buffer_event */
#define RB_TYPE_LEN_BITS	5

static __always_inline u64 rb_clock(const struct trace_buffer *buffer)
{
	if (likely(buffer->clock == trace_clock_local))
		return trace_clock_local_inline();
	return buffer->clock();
}

/* The bytes that @length bytes of data take as an event. */
static __always_inline unsigned int rb_event_size(unsigned int length)
{
	/* Room for two words: see rb_padding_delta(). */
	if (length <= sizeof(u32))
		length = sizeof(u32) + 1;
	if (length > RB_MAX_SMALL_DATA || RB_FORCE_8BYTE_ALIGNMENT)
		length += sizeof(u32);
	return ALIGN(length + RB_EVNT_HDR_SIZE, RB_ARCH_ALIGNMENT);
}

static __always_inline void rb_set_header(struct ring_buffer_event *event, unsigned int size,
					  u32 delta)
{
	u32 type_len = 0;

	size -= RB_EVNT_HDR_SIZE;
	if (size > RB_MAX_SMALL_DATA || RB_FORCE_8BYTE_ALIGNMENT)
		event->array[0] = size;
	else
		type_len = size / RB_ALIGNMENT;
#ifdef __LITTLE_ENDIAN_BITFIELD
	/* Bit fields would be two stores. */
	*(u32 *)event = delta << RB_TYPE_LEN_BITS | type_len;
#else
	event->type_len = type_len;
	event->time_delta = delta;
#endif
}

/* @context: see RB_CONTEXT_MASK. */
static __always_inline void rb_enter_first(struct ring_buffer_per_cpu *cpu_buffer,
					   unsigned int context)
{
	WRITE_ONCE(cpu_buffer->writers, context + 1);
	/* A writer that interrupts from here on leaves publishing to this one. */
	barrier();
}

/* Becomes a writer. False if this is a recursion. Preemption is off. */
static __always_inline bool rb_enter(struct ring_buffer_per_cpu *cpu_buffer)
{
	if (unlikely(cpu_buffer->writers))
		return rb_enter_nested(cpu_buffer);
	rb_enter_first(cpu_buffer, preempt_count() & RB_CONTEXT_MASK);
	return true;
}

/* Stops being a writer without having written. */
static __always_inline void rb_leave(struct ring_buffer_per_cpu *cpu_buffer)
{
	/* After all that it did as a writer. */
	barrier();
	WRITE_ONCE(cpu_buffer->writers,
		   cpu_buffer->saved[(cpu_buffer->writers & RB_DEPTH_MASK) - 1]);
}

/*
 * Claims space and time. Returns the event with its header, and where its data is; or NULL if
 * this is for rb_reserve_slow().
 */
static __always_inline struct ring_buffer_event *
rb_reserve_fast(struct ring_buffer_per_cpu *cpu_buffer, unsigned int size, u64 now, void **data)
{
	struct buffer_page *page = READ_ONCE(cpu_buffer->tail_page);
	s64 old = local64_read(&page->write);
	u64 delta = now - page->page->time_stamp - ((u64)old >> RB_TIME_SHIFT);
	unsigned int index = old & (RB_BASE_MASK | RB_CLOSED | RB_INDEX_MASK);
	u64 new = old + size + (delta << RB_TIME_SHIFT);
	void *events = page->page->data;
	struct ring_buffer_event *event;

	/* A page that is closed or has another base has no room. */
	if (unlikely(delta > cpu_buffer->max_delta || index + size > cpu_buffer->capacity))
		return NULL;
	if (unlikely(!local64_try_cmpxchg(&page->write, &old, new)))
		return NULL;

	event = events + index;
	*data = &event->array[size > RB_EVNT_HDR_SIZE + RB_MAX_SMALL_DATA ||
			      RB_FORCE_8BYTE_ALIGNMENT];
	/* So that the compiler does not ask. */
	if (!event || !*data)
		__builtin_unreachable();
	rb_set_header(event, size, delta);
	local_inc(&page->entries);
	local_add(size, &cpu_buffer->entries_bytes);
	return event;
}

/*
 * The outermost writer lets readers have the events, and leaves. Returns false if that is
 * left to rb_publish_slow().
 */
static __always_inline bool rb_publish_fast(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *page = cpu_buffer->commit_page;
	u64 write = local64_read(&page->write);

	/* The events before the index. Pairs with the smp_rmb() of the readers. */
	smp_wmb();
	local_set(&page->page->commit, write & RB_INDEX_MASK);
	if (unlikely(cpu_buffer->publish_slow))
		return false;
	/* An interrupt that finds no writer finds the index published. */
	barrier();
	WRITE_ONCE(cpu_buffer->writers, 0);
	/* A writer that came after the index was read, and before this, left it to this one. */
	barrier();
	return likely(local64_read(&page->write) == write);
}

static __always_inline bool rb_is_off(const struct trace_buffer *buffer)
{
	return unlikely(atomic_read(&buffer->record_disabled));
}

/* Neither local_cmpxchg() nor 64 bits can be had in an NMI everywhere. */
static __always_inline bool rb_cannot_write(void)
{
	return (!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) ||
		IS_ENABLED(CONFIG_GENERIC_ATOMIC64)) && in_nmi();
}

/* This CPU's ring, if an event of @length bytes may be recorded; or NULL. Preemption is off. */
static __always_inline struct ring_buffer_per_cpu *rb_writable(struct trace_buffer *buffer,
							       unsigned long length)
{
	struct ring_buffer_per_cpu *cpu_buffer;

	if (rb_cannot_write() || rb_is_off(buffer))
		return NULL;
	cpu_buffer = buffer->buffers[raw_smp_processor_id()];
	if (unlikely(!cpu_buffer || atomic_read(&cpu_buffer->record_disabled)))
		return NULL;
	/* A page holds any small one. */
	if (!(__builtin_constant_p(length) && length <= RB_MAX_SMALL_DATA) &&
	    unlikely(length > cpu_buffer->capacity - RB_EVENT_OVERHEAD))
		return NULL;
	return cpu_buffer;
}

static __always_inline bool rb_has_local_clock(const struct trace_buffer *buffer)
{
	return likely(buffer->clock == trace_clock_local);
}

/*
 * This CPU's ring, if nothing is being written there and events are recorded; or NULL.
 * Preemption is off.
 */
static __always_inline struct ring_buffer_per_cpu *rb_idle(struct trace_buffer *buffer)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[raw_smp_processor_id()];

	if (rb_cannot_write() || unlikely(!cpu_buffer || READ_ONCE(cpu_buffer->busy)))
		return NULL;
	return cpu_buffer;
}

/* Asked by a writer: from there on it is not swapped any more. */
static __always_inline bool rb_is_swapped(const struct trace_buffer *buffer,
					  const struct ring_buffer_per_cpu *cpu_buffer)
{
	return IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP) &&
	       unlikely(READ_ONCE(cpu_buffer->buffer) != buffer);
}

/* How an event is begun and ended. */
enum {
	/* rb_idle() returned the ring. */
	RB_IDLE		= BIT(0),
	/* And of all that is called until the end, only a clock can be traced. */
	RB_LEAF	= BIT(1),
	/* The caller has looked at the local clock, and that is the buffer's. */
	RB_TIMED	= BIT(2),
	/* The caller has seen that the buffer's clock is the local one. */
	RB_LOCAL	= BIT(3),
	/*
	 * Nothing is called. If the event cannot be recorded so, the caller is a writer all the
	 * same, and has to call rb_claim() or rb_write_leave().
	 */
	RB_SIMPLE	= BIT(4),
};

/* The outermost writer leaves, or one within another. */
static __always_inline void rb_leave_writers(struct ring_buffer_per_cpu *cpu_buffer,
					     unsigned int how)
{
	if (!(how & RB_IDLE) && unlikely((cpu_buffer->writers & RB_DEPTH_MASK) > 1))
		rb_leave(cpu_buffer);
	else if (unlikely(!rb_publish_fast(cpu_buffer)))
		rb_publish_slow(cpu_buffer);
}

/* Looks at the clock, for rb_claim(). Returns false if that takes a call, and nothing is called. */
static __always_inline bool rb_ask_clock(struct trace_buffer *buffer, unsigned int how, u64 *local,
					 u64 *now)
{
	if (how & RB_TIMED) {
		*now = *local;
	} else if (how & RB_LOCAL) {
		if (how & RB_SIMPLE)
			return likely(trace_clock_local_fast(now));
		*now = trace_clock_local_inline();
	} else if (local) {
		*local = trace_clock_local_inline();
		*now = rb_has_local_clock(buffer) ? *local : buffer->clock();
	} else {
		*now = rb_clock(buffer);
	}
	return true;
}

/* What rb_begin() does for a writer. */
static __always_inline struct ring_buffer_event *
rb_claim(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer,
	 unsigned long length, unsigned int how, u64 *local, void **data)
{
	unsigned int size = rb_event_size(length);
	struct ring_buffer_event *event;
	u64 now;

	*data = NULL;
	if (unlikely(!rb_ask_clock(buffer, how, local, &now)))
		return NULL;
	event = NULL;
	if (!rb_is_swapped(buffer, cpu_buffer)) {
		event = rb_reserve_fast(cpu_buffer, size, now, data);
		if (likely(event) || how & RB_SIMPLE)
			return event;
		event = rb_reserve_slow(cpu_buffer, size, now);
		if (likely(event)) {
			*data = ring_buffer_event_data(event);
			return event;
		}
	}
	if (!(how & RB_SIMPLE))
		/* A writer that interrupted this one may have left it to this one to publish. */
		rb_leave_writers(cpu_buffer, how);
	return NULL;
}

/*
 * Enters, looks at the clock and claims, in this order: a clock that can be traced finds a writer,
 * and an event of the clock's functions has its place before this one. @how: RB_*, constant.
 * @local is the time of the local clock, if RB_TIMED; else it gets that, unless it is NULL.
 * Returns NULL if the event is not to be recorded, or is lost; *@data then is NULL, too.
 */
static __always_inline struct ring_buffer_event *
rb_begin(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer,
	 unsigned long length, unsigned int how, u64 *local, void **data)
{
	*data = NULL;
	if (how & RB_IDLE)
		rb_enter_first(cpu_buffer,
			       how & RB_LEAF ? 0 : preempt_count() & RB_CONTEXT_MASK);
	else if (unlikely(!rb_enter(cpu_buffer)))
		return NULL;
	return rb_claim(buffer, cpu_buffer, length, how, local, data);
}

/* The event is written. @how: as for rb_begin(). */
static __always_inline void rb_end(struct ring_buffer_per_cpu *cpu_buffer, unsigned int how)
{
	local_inc(&cpu_buffer->entries);
	rb_leave_writers(cpu_buffer, how);
}

/**
 * rb_write_begin - reserve room for an event
 * @buffer: where to
 * @length: bytes of data
 * @data: gets where the data is to be written, or NULL
 *
 * Context: any, NMI included. Leaves preemption off, unless it fails.
 * Return: the event, for rb_write_end(); NULL if it is not to be recorded, or is lost.
 */
static __always_inline struct ring_buffer_event *
rb_write_begin(struct trace_buffer *buffer, unsigned long length, void **data)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ring_buffer_event *event = NULL;

	*data = NULL;
	preempt_disable_notrace();
	cpu_buffer = rb_writable(buffer, length);
	if (likely(cpu_buffer))
		event = rb_begin(buffer, cpu_buffer, length, 0, NULL, data);
	if (unlikely(!event))
		preempt_enable_notrace();
	return event;
}

/**
 * rb_write_end - an event is written
 * @buffer: as for rb_write_begin()
 *
 * Context: as rb_write_begin() left it, with which it is paired. Preemption is on again
 * if it was before.
 */
static __always_inline void rb_write_end(struct trace_buffer *buffer)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[raw_smp_processor_id()];

	local_inc(&cpu_buffer->entries);
	if (likely((cpu_buffer->writers & RB_DEPTH_MASK) == 1 && rb_publish_fast(cpu_buffer)))
		preempt_enable_notrace();
	else
		rb_write_leave(cpu_buffer);
}

#endif /* _KERNEL_TRACE_RING_BUFFER_WRITE_H */
