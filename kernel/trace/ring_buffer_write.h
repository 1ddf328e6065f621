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
void rb_wake_waiters(struct ring_buffer_per_cpu *cpu_buffer);

/* Of struct ring_buffer_event */
#define RB_TYPE_LEN_BITS	5

static __always_inline u64 rb_clock(const struct trace_buffer *buffer)
{
	/* A direct call is cheaper where indirect ones go through a thunk. */
	if (IS_ENABLED(CONFIG_MITIGATION_RETPOLINE) && likely(buffer->clock == trace_clock_local))
		return trace_clock_local();
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

/* Becomes a writer. False if this is a recursion. Preemption is off. */
static __always_inline bool rb_enter(struct ring_buffer_per_cpu *cpu_buffer)
{
	if (unlikely(cpu_buffer->writers))
		return rb_enter_nested(cpu_buffer);
	WRITE_ONCE(cpu_buffer->writers, (preempt_count() & RB_CONTEXT_MASK) + 1);
	/* What interrupts from here on leaves publishing to this writer. */
	barrier();
	return true;
}

/* Stops being a writer without having written. */
static __always_inline void rb_leave(struct ring_buffer_per_cpu *cpu_buffer)
{
	barrier();
	WRITE_ONCE(cpu_buffer->writers,
		   cpu_buffer->saved[(cpu_buffer->writers & RB_DEPTH_MASK) - 1]);
}

/* Claims space and time. Returns the event with its header, or NULL. */
static __always_inline struct ring_buffer_event *
rb_reserve(struct ring_buffer_per_cpu *cpu_buffer, unsigned int size)
{
	struct buffer_page *page = READ_ONCE(cpu_buffer->tail_page);
	s64 old = local64_read(&page->write);
	u64 delta = rb_clock(cpu_buffer->buffer) - rb_page_time(page, old);
	unsigned int index = old & (RB_CLOSED | RB_INDEX_MASK);
	u64 new = old + size + (delta << RB_TIME_SHIFT);
	struct ring_buffer_event *event;

	/* A closed page has no room. A sum that is less has run over the time. */
	if (unlikely(delta > TS_MASK || index + size > cpu_buffer->capacity || new < (u64)old))
		return rb_reserve_slow(cpu_buffer, size);
	if (unlikely(!local64_try_cmpxchg(&page->write, &old, new)))
		return rb_reserve_slow(cpu_buffer, size);

	event = (void *)&page->page->data[index];
	rb_set_header(event, size, delta);
	local_add(RB_ENTRY, &page->entries);
	local_add(size, &cpu_buffer->entries_bytes);
	return event;
}

/* Lets readers have what is written, if this is the outermost writer; and leaves. */
static __always_inline void rb_publish(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *page = cpu_buffer->commit_page;
	u64 write;

	if (unlikely((cpu_buffer->writers & RB_DEPTH_MASK) != 1)) {
		rb_leave(cpu_buffer);
		return;
	}

	write = local64_read(&page->write);
	if (unlikely(write & RB_CLOSED)) {
		rb_publish_slow(cpu_buffer);
		return;
	}
	/* The events before the index. Pairs with the smp_rmb() of the readers. */
	smp_wmb();
	local_set(&page->page->commit, write & RB_INDEX_MASK);
	if (unlikely(cpu_buffer->irq_work.waiters_pending ||
		     cpu_buffer->buffer->irq_work.waiters_pending))
		rb_wake_waiters(cpu_buffer);
	barrier();
	WRITE_ONCE(cpu_buffer->writers, 0);
	/* Who wrote since the index was read, and before this, left it to us. */
	barrier();
	if (unlikely(local64_read(&page->write) != write))
		rb_publish_slow(cpu_buffer);
}

/**
 * rb_write_begin - reserve room for an event
 * @buffer: where to
 * @length: bytes of data
 *
 * Context: any, NMI included. Leaves preemption off, unless it fails.
 * Return: the event, for rb_write_end(); NULL if it is not to be recorded, or is lost.
 */
static __always_inline struct ring_buffer_event *
rb_write_begin(struct trace_buffer *buffer, unsigned long length)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ring_buffer_event *event;

	/* Neither local_cmpxchg() nor 64 bits can be had in an NMI everywhere. */
	if ((!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) ||
	     IS_ENABLED(CONFIG_GENERIC_ATOMIC64)) && in_nmi())
		return NULL;

	preempt_disable_notrace();
	if (unlikely(atomic_read(&buffer->record_disabled)))
		goto out;
	/* A page holds any small one. */
	if (!(__builtin_constant_p(length) && length <= RB_MAX_SMALL_DATA) &&
	    unlikely(length > buffer->max_data_size))
		goto out;
	cpu_buffer = buffer->buffers[raw_smp_processor_id()];
	if (unlikely(!cpu_buffer || atomic_read(&cpu_buffer->record_disabled)))
		goto out;
	if (unlikely(!rb_enter(cpu_buffer)))
		goto out;
	/* From here on it is not swapped any more; it may have been before. */
	if (IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP) &&
	    unlikely(READ_ONCE(cpu_buffer->buffer) != buffer))
		goto leave;
	event = rb_reserve(cpu_buffer, rb_event_size(length));
	if (likely(event))
		return event;
leave:
	rb_publish(cpu_buffer);
out:
	preempt_enable_notrace();
	return NULL;
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
	rb_publish(cpu_buffer);
	preempt_enable_notrace();
}

#endif /* _KERNEL_TRACE_RING_BUFFER_WRITE_H */
