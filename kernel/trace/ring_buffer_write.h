/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of an event into the ring buffer, for callers that want it inline: most of what
 * it takes is constant where the size of the event is. See ring_buffer_write.c.
 */
#ifndef _KERNEL_TRACE_RING_BUFFER_WRITE_H
#define _KERNEL_TRACE_RING_BUFFER_WRITE_H

#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/trace_clock.h>

#include "ring_buffer_internal.h"

bool rb_enter_nested(struct ring_buffer_per_cpu *cpu_buffer);
struct ring_buffer_event *rb_reserve_slow(struct ring_buffer_per_cpu *cpu_buffer,
					  unsigned int size);
void rb_publish_slow(struct ring_buffer_per_cpu *cpu_buffer);
void rb_write_leave(struct ring_buffer_per_cpu *cpu_buffer);

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
	if (!length)
		length = 1;
	if (length > RB_MAX_SMALL_DATA || RB_FORCE_8BYTE_ALIGNMENT)
		length += sizeof(u32);
	return ALIGN(length + RB_EVNT_HDR_SIZE, RB_ARCH_ALIGNMENT);
}

/* The time of the last event of a page. */
static __always_inline u64 rb_page_time(const struct buffer_page *page, u64 write)
{
	return page->page->time_stamp + (write >> RB_TIME_SHIFT);
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
	/* What interrupts from here on leaves publishing to this writer. */
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
	barrier();
	WRITE_ONCE(cpu_buffer->writers,
		   cpu_buffer->saved[(cpu_buffer->writers & RB_DEPTH_MASK) - 1]);
}

static __always_inline struct ring_buffer_event *
rb_reserve_slow_data(struct ring_buffer_per_cpu *cpu_buffer, unsigned int size, void **data)
{
	struct ring_buffer_event *event = rb_reserve_slow(cpu_buffer, size);

	*data = event ? ring_buffer_event_data(event) : NULL;
	return event;
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
	u64 delta = now - rb_page_time(page, old);
	unsigned int index = old & (RB_CLOSED | RB_INDEX_MASK);
	u64 new = old + size + (delta << RB_TIME_SHIFT);
	void *events = page->page->data;
	struct ring_buffer_event *event;

	/* A closed page has no room. A sum that is less has run over the time. */
	if (unlikely(delta > TS_MASK || index + size > cpu_buffer->capacity || new < (u64)old))
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
	local_add(RB_ENTRY, &page->entries);
	local_add(size, &cpu_buffer->entries_bytes);
	return event;
}

/* The same in any case. NULL if there is no room. */
static __always_inline struct ring_buffer_event *
rb_reserve(struct ring_buffer_per_cpu *cpu_buffer, unsigned int size, u64 now, void **data)
{
	struct ring_buffer_event *event = rb_reserve_fast(cpu_buffer, size, now, data);

	return likely(event) ? event : rb_reserve_slow_data(cpu_buffer, size, data);
}

/*
 * The outermost writer lets readers have what is written, and leaves. Returns false if that
 * is left to rb_publish_slow().
 */
static __always_inline bool rb_publish_fast(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *page = cpu_buffer->commit_page;
	u64 write;

	write = local64_read(&page->write);
	if (unlikely(write & RB_CLOSED))
		return false;
	/* The events before the index. Pairs with the smp_rmb() of the readers. */
	smp_wmb();
	local_set(&page->page->commit, write & RB_INDEX_MASK);
	if (unlikely(cpu_buffer->awaited))
		return false;
	barrier();
	WRITE_ONCE(cpu_buffer->writers, 0);
	/* A writer that came after the index was read, and before this, left it to this one. */
	barrier();
	return likely(local64_read(&page->write) == write);
}

static __always_inline void rb_publish_outermost(struct ring_buffer_per_cpu *cpu_buffer)
{
	if (unlikely(!rb_publish_fast(cpu_buffer)))
		rb_publish_slow(cpu_buffer);
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
	/* A page holds any small one. */
	if (!(__builtin_constant_p(length) && length <= RB_MAX_SMALL_DATA) &&
	    unlikely(length > buffer->max_data_size))
		return NULL;
	cpu_buffer = buffer->buffers[raw_smp_processor_id()];
	if (unlikely(!cpu_buffer || atomic_read(&cpu_buffer->record_disabled)))
		return NULL;
	return cpu_buffer;
}

static __always_inline void rb_publish(struct ring_buffer_per_cpu *cpu_buffer)
{
	if (likely((cpu_buffer->writers & RB_DEPTH_MASK) == 1))
		rb_publish_outermost(cpu_buffer);
	else
		rb_leave(cpu_buffer);
}

static __always_inline bool rb_has_local_clock(const struct trace_buffer *buffer)
{
	return likely(buffer->clock == trace_clock_local);
}

/* This CPU's ring, if nobody writes there and events are recorded; or NULL. Preemption is off. */
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

/* A writer claims. If it returns NULL, it is none any more. */
static __always_inline struct ring_buffer_event *
rb_claim(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer,
	 unsigned long length, u64 now, void **data)
{
	struct ring_buffer_event *event;

	if (rb_is_swapped(buffer, cpu_buffer))
		goto publish;
	event = rb_reserve(cpu_buffer, rb_event_size(length), now, data);
	if (likely(event))
		return event;
publish:
	/* Of those that interrupted this. */
	rb_publish(cpu_buffer);
	*data = NULL;
	return NULL;
}

/* Becomes a writer and claims. */
static __always_inline struct ring_buffer_event *
rb_begin(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer,
	 unsigned long length, void **data)
{
	if (unlikely(!rb_enter(cpu_buffer)))
		return NULL;
	return rb_claim(buffer, cpu_buffer, length, rb_clock(buffer), data);
}

/*
 * As rb_begin() for what rb_idle() returned, without a call. @now is what the clock says. If it
 * returns NULL, the caller is a writer all the same, and has to call rb_write_leave().
 */
static __always_inline struct ring_buffer_event *
rb_begin_fast(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer,
	      unsigned long length, u64 now, void **data)
{
	rb_enter_first(cpu_buffer, preempt_count() & RB_CONTEXT_MASK);
	if (rb_is_swapped(buffer, cpu_buffer))
		return NULL;
	return rb_reserve_fast(cpu_buffer, rb_event_size(length), now, data);
}

/*
 * The same if nothing that is called from here to rb_end_alone() can be traced. @now is what the
 * clock said just before. Returns where the data is.
 */
static __always_inline void *rb_begin_alone(struct trace_buffer *buffer,
					    struct ring_buffer_per_cpu *cpu_buffer,
					    unsigned long length, u64 now)
{
	void *data;

	rb_enter_first(cpu_buffer, 0);
	rb_claim(buffer, cpu_buffer, length, now, &data);
	return data;
}

/*
 * The same whatever the clock is. Only that may be traced; where it is, the call finds a writer.
 * @local is what the local clock said just before, or NULL.
 */
static __always_inline void *rb_begin_alone_at(struct trace_buffer *buffer,
					       struct ring_buffer_per_cpu *cpu_buffer,
					       unsigned long length, const u64 *local)
{
	void *data;
	u64 now;

	if (likely(rb_has_local_clock(buffer))) {
		now = local ? *local : trace_clock_local_inline();
		rb_enter_first(cpu_buffer, 0);
	} else {
		rb_enter_first(cpu_buffer, preempt_count() & RB_CONTEXT_MASK);
		now = buffer->clock();
	}
	rb_claim(buffer, cpu_buffer, length, now, &data);
	return data;
}

static __always_inline void rb_end_alone(struct ring_buffer_per_cpu *cpu_buffer)
{
	local_inc(&cpu_buffer->entries);
	rb_publish_outermost(cpu_buffer);
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
		event = rb_begin(buffer, cpu_buffer, length, data);
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
