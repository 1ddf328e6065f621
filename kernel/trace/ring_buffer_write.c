// SPDX-License-Identifier: GPL-2.0
/*
 * The write side of the ring buffer: how an event gets into it.
 *
 * Each CPU has a ring of pages, which only that CPU writes. Writers interrupt each
 * other there, NMIs included, and an interrupted one goes on when the other is done: they
 * nest like a stack. No writer waits. Readers, on any CPU, take the oldest page out of the
 * ring and put an empty one in its place.
 *
 *	             commit_page      tail_page
 *	                  |               |
 *	reader_page     +-v-+   +---+   +-v-+   +---+
 *	   +---+   ...->| P |-->| P |-->| P |-->|   |-->...
 *	   +---+        +---+   +---+   +---+   +-^-+
 *	                                          head: the oldest, when the ring is full
 *
 * A writer
 *
 *	enter	raises the number of writers
 *	clock	looks at the clock, once
 *	claim	claims bytes and a time in one local cmpxchg of the tail page's word. If it was
 *		interrupted since it read the word, that fails, and it tries again with the time
 *		that it has: where an interrupt's event has a later one, this event has that, too
 *		(if there is no room it closes the page and makes the next one the tail)
 *	        writes its event
 *	publish	if it is the outermost writer: says how far the readers may read. That is all
 *		up to the word, as those that wrote meanwhile have finished
 *	leave	lowers the number of writers, and if it was the outermost looks at the word
 *		again: one that came between the two has left publishing to it
 *
 * The word, buffer_page::write, is drawn in ring_buffer_internal.h.
 *
 * Invariants:
 *  1. The events of a page and their times are in the order of the claims; the time in
 *     the word is that of the last event. So each event's delta is right when it is
 *     claimed, and nothing is ever put right later.
 *  2. Only the outermost writer changes commit_page, and buffer_data_page::commit upwards. No
 *     writer makes commit_page the tail. So from the time that a writer looks at the tail
 *     until it publishes or leaves, no page is made the tail twice; and the outermost
 *     writer has to look at the tail again once it has published.
 *  3. Nothing is claimed in a closed page, and its word does not change until it is made
 *     the tail again. A page is closed before the next one is the tail, and all pages
 *     but those from commit_page to the tail are closed. So a claim fails that was
 *     interrupted after it looked at the word, if that has changed.
 *  4. The steps that make the next page the tail may be taken by a writer or by any writer
 *     that interrupts it, in part or all of them, once or again. Opening the page is one
 *     cmpxchg of its word, from closed to open with the other lap: with 2, it is done
 *     once. The steps before it store values that follow from the closed tail alone, or
 *     0 where only the outermost writer sets a value; the step after it is a cmpxchg of the
 *     tail.
 *  5. Counts are only added to. For a page that is overwritten, the writer that set UPDATE
 *     subtracts the counts that it had read before.
 *
 * The head is where both sides meet. The pointer to it in the page before has a flag:
 *
 *	HEAD	this is the oldest page. The reader may exchange it for its own, by a
 *		cmpxchg of the pointer; a writer that overwrites may set UPDATE
 *	UPDATE	a writer has counted this page as lost, and makes the next one the head. The
 *		reader waits. The writer that set it clears it
 *
 * Lock order: no lock is taken. Contexts: any, NMI included, but where said otherwise.
 */
#define pr_fmt(fmt) "ring_buffer: " fmt

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>

#include "ring_buffer_internal.h"
#include "ring_buffer_write.h"

/* How often a claim can fail before its event is given up. */
#define RB_MAX_TRIES	1000

/* Stops recording, as the state of the ring contradicts itself. */
#define rb_corrupt(rb, at, fmt, ...)						\
do {										\
	atomic_inc(&(rb)->buffer->record_disabled);				\
	WARN(1, "ring buffer of CPU %d, page %p, written %#llx: " fmt,		\
	     (rb)->cpu, (at)->page,						\
	     (unsigned long long)local64_read(&(at)->write), ##__VA_ARGS__);	\
} while (0)

/* Events that are there */

/* The page that has an event which is not published. */
static struct buffer_page *rb_page_of(const struct ring_buffer_per_cpu *cpu_buffer,
				      const struct ring_buffer_event *event)
{
	struct buffer_page *page = cpu_buffer->commit_page;

	/* An event that is in none of them is not to hold the CPU for ever. */
	for (unsigned long left = cpu_buffer->nr_pages; left; left--) {
		if ((unsigned long)event - (unsigned long)page->page->data < cpu_buffer->capacity)
			break;
		page = rb_page_after(page);
	}
	return page;
}

/* Nesting */

/* As interrupt_context_level(), of an earlier preempt_count(). */
static unsigned int rb_context_level(unsigned int count)
{
	if (count & NMI_MASK)
		return 3;
	if (count & HARDIRQ_MASK)
		return 2;
	return !!(count & SOFTIRQ_OFFSET);
}

/**
 * rb_enter_nested - become a writer while there is one
 * @cpu_buffer: where
 *
 * An interrupt is told from a recursion by preempt_count(). That lags at the borders of
 * interrupts, so one writer that seems to be a recursion is let in; and two more for each
 * ring_buffer_nest_start().
 *
 * Context: preemption is off.
 * Return: false if this is a recursion.
 */
bool rb_enter_nested(struct ring_buffer_per_cpu *cpu_buffer)
{
	unsigned int outer = cpu_buffer->writers;
	unsigned int depth = outer & RB_DEPTH_MASK;
	unsigned int overlaps = (outer & RB_OVERLAP_MASK) >> RB_OVERLAP_SHIFT;
	unsigned int context = preempt_count() & RB_CONTEXT_MASK;

	if (rb_context_level(context) <= rb_context_level(outer))
		overlaps++;
	if (overlaps > 1 + 2 * cpu_buffer->nest || depth == RB_MAX_DEPTH) {
#ifdef CONFIG_RING_BUFFER_RECORD_RECURSION
		do_ftrace_record_recursion(_THIS_IP_, _RET_IP_);
#endif
		return false;
	}
	/* A writer that interrupts this one writes the same there. */
	cpu_buffer->saved[depth] = outer;
	/* Only now is this a writer, and before it claims anything. */
	barrier();
	WRITE_ONCE(cpu_buffer->writers,
		   overlaps << RB_OVERLAP_SHIFT | context | (depth + 1));
	barrier();
	return true;
}

static bool rb_is_outermost(const struct ring_buffer_per_cpu *cpu_buffer)
{
	return (cpu_buffer->writers & RB_DEPTH_MASK) == 1;
}

/**
 * ring_buffer_nest_start - let an event be recorded while another one is written
 * @buffer: where both go
 *
 * Without it the second one is a recursion, and not recorded.
 *
 * Context: any. Leaves preemption off until ring_buffer_nest_end().
 */
void ring_buffer_nest_start(struct trace_buffer *buffer)
{
	preempt_disable_notrace();
	buffer->buffers[raw_smp_processor_id()]->nest++;
}

/**
 * ring_buffer_nest_end - the second event is written
 * @buffer: as for ring_buffer_nest_start()
 *
 * Context: that of ring_buffer_nest_start().
 */
void ring_buffer_nest_end(struct trace_buffer *buffer)
{
	buffer->buffers[raw_smp_processor_id()]->nest--;
	preempt_enable_notrace();
}

/* Publishing */

#ifdef CONFIG_RING_BUFFER_VALIDATE_TIME_DELTAS
/* A page that is complete ends when the next one begins. */
static void rb_check_times(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page,
			   u64 write)
{
	unsigned int at = 0, size, end = write & RB_INDEX_MASK;
	u64 time = page->page->time_stamp, delta;
	struct ring_buffer_event *event, *data;

	while (at < end) {
		event = (void *)&page->page->data[at];
		data = rb_skip_time(event, &size, &delta);
		if (event->type_len == RINGBUF_TYPE_TIME_STAMP)
			time = rb_fix_abs_ts(event->time_delta |
					     (u64)event->array[0] << TS_SHIFT, time);
		time += delta;
		at += size + rb_data_size(data);
	}
	if (at != end || time != rb_page_after(page)->page->time_stamp)
		rb_corrupt(cpu_buffer, page, "the events end at %u and %llu, not %llu", at,
			   (unsigned long long)time,
			   (unsigned long long)rb_page_after(page)->page->time_stamp);
}
#else
static void rb_check_times(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page,
			   u64 write)
{
}
#endif

/* Where it is the function tracer that writes, it is not to trace this. */
static void rb_queue(struct rb_irq_work *irq_work)
{
	int bit = ftrace_test_recursion_trylock(_THIS_IP_, _RET_IP_);

	rb_irq_work_queue(irq_work);
	if (bit >= 0)
		ftrace_test_recursion_unlock(bit);
}

/* Wakes those that wait for an event that has come already. */
static void rb_wake_armed(struct rb_irq_work *irq_work)
{
	if (!irq_work->armed)
		return;
	irq_work->armed = false;
	WRITE_ONCE(irq_work->now, true);
	rb_queue(irq_work);
}

/* A page more is full. */
static void rb_wake_full_waiters(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_irq_work *irq_work = &cpu_buffer->irq_work;

	rb_wake_armed(&cpu_buffer->buffer->irq_work);
	rb_wake_armed(irq_work);
	if (!irq_work->full_waiters_pending || cpu_buffer->reader_page == cpu_buffer->commit_page)
		return;
	if (!rb_full_hit(cpu_buffer, cpu_buffer->shortest_full))
		return;
	irq_work->wakeup_full = true;
	irq_work->full_waiters_pending = false;
	rb_queue(irq_work);
}

/*
 * Publishes up to the tail as it is now. Returns the page that is published last, with its word
 * as it was then; or NULL if the pages make no ring.
 */
static struct buffer_page *rb_publish_pages(struct ring_buffer_per_cpu *cpu_buffer, u64 *write)
{
	struct buffer_page *page = cpu_buffer->commit_page;
	struct buffer_page *tail = READ_ONCE(cpu_buffer->tail_page);

	/* After the tail: a page that is not the tail any more is complete. */
	barrier();
	for (unsigned long left = cpu_buffer->nr_pages + 1; left; left--) {
		bool old = page == cpu_buffer->old_page;

		*write = local64_read(&page->write);
		/* As in rb_publish_fast(). */
		smp_wmb();
		if (!old)
			local_set(&page->page->commit, *write & RB_INDEX_MASK);
		if (page == tail)
			return page;

		if (old)
			cpu_buffer->old_page = NULL;
		else
			rb_check_times(cpu_buffer, page, *write);
		page = rb_page_after(page);
		/* A reader that finds another page here finds the last one's commit, too. */
		smp_store_release(&cpu_buffer->commit_page, page);
		if (cpu_buffer->ring_meta)
			rb_update_meta_commit(cpu_buffer, page);
		rb_wake_full_waiters(cpu_buffer);
	}
	rb_corrupt(cpu_buffer, page, "there is no way to the tail");
	return NULL;
}

/* Has those woken that wait for an event: soon, as more events may follow. */
static void rb_wake_awaiting(struct rb_irq_work *irq_work)
{
	if (!irq_work->waiters_pending)
		return;
	irq_work->waiters_pending = false;
	WRITE_ONCE(irq_work->deferred, true);
	rb_queue(irq_work);
}

static void rb_wake_waiters(struct ring_buffer_per_cpu *cpu_buffer)
{
	/* Before the flags are read. A task sets one, and then this. Pairs with rb_await(). */
	if (!xchg(&cpu_buffer->publish_slow, 0))
		return;
	rb_wake_awaiting(&cpu_buffer->buffer->irq_work);
	rb_wake_awaiting(&cpu_buffer->irq_work);
}

/**
 * rb_wake_readers - wake those that wait for events that another than this side has written
 * @cpu_buffer: of a remote buffer
 *
 * Context: any.
 */
void rb_wake_readers(struct ring_buffer_per_cpu *cpu_buffer)
{
	rb_wake_waiters(cpu_buffer);
	rb_wake_full_waiters(cpu_buffer);
}

/**
 * rb_publish_slow - publish where the tail has moved, an interrupt wrote, or a task waits
 * @cpu_buffer: where
 *
 * Context: that of the outermost writer, whether it has left or not. It has on return.
 */
void rb_publish_slow(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *page;
	u64 write;

	do {
		/*
		 * Interrupts leave their events to this writer from here on until it has left, and
		 * the tail is looked at after that: an event that was left to it is seen here.
		 */
		WRITE_ONCE(cpu_buffer->writers, (preempt_count() & RB_CONTEXT_MASK) + 1);
		barrier();
		page = rb_publish_pages(cpu_buffer, &write);
		rb_wake_waiters(cpu_buffer);
		barrier();
		WRITE_ONCE(cpu_buffer->writers, 0);
		barrier();
	} while (page && (page != READ_ONCE(cpu_buffer->tail_page) ||
			  local64_read(&page->write) != write));
}

/**
 * rb_write_leave - end the writing that rb_write_begin() or rb_begin() began
 * @cpu_buffer: where
 *
 * The event is counted already, and rb_publish_fast() may have been tried.
 *
 * Context: that of the writer. Preemption is on again if it was before.
 */
void rb_write_leave(struct ring_buffer_per_cpu *cpu_buffer)
{
	if ((cpu_buffer->writers & RB_DEPTH_MASK) > 1)
		rb_leave(cpu_buffer);
	else
		rb_publish_slow(cpu_buffer);
	preempt_enable_notrace();
}

/* The next page */

/* The flag of a pointer to @to: RB_PAGE_*. */
static unsigned long rb_link_flag(unsigned long link, const struct buffer_page *to)
{
	if ((link & ~RB_FLAG_MASK) != (unsigned long)&to->list)
		return RB_PAGE_MOVED;
	return link & RB_FLAG_MASK;
}

/* Sets the flag of a pointer if it is @old. Returns the flag that it had. */
static unsigned long rb_link_change(struct buffer_page *from, struct buffer_page *to,
				    unsigned long old, unsigned long new)
{
	unsigned long page = (unsigned long)&to->list;

	return rb_link_flag(cmpxchg((unsigned long *)&from->list.next, page | old, page | new),
			    to);
}

/* The reader has taken the page out of the ring, and a writer is still on it. */
static bool rb_is_readers(const struct buffer_page *page)
{
	return rb_list_head(page->list.prev->next) != &page->list;
}

/*
 * The head moves from @next to the page after it. Returns false if there is another page
 * after the tail, or another tail: all has to be looked at again.
 */
static bool rb_push_head(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *tail,
			 struct buffer_page *next)
{
	struct buffer_page *after = rb_page_after(next), *tail_now;
	/* Before the flag says that they are counted: an interrupt may go on from there. */
	unsigned long entries = rb_page_entries(next);
	unsigned int bytes = rb_page_size(next);
	unsigned long was, head;

	was = rb_link_change(tail, next, RB_PAGE_HEAD, RB_PAGE_UPDATE);
	if (was == RB_PAGE_NORMAL || was == RB_PAGE_MOVED)
		return false;
	if (was == RB_PAGE_HEAD) {
		local_add(entries, &cpu_buffer->overrun);
		local_sub(entries, &next->entries);
		local_sub(bytes, &cpu_buffer->entries_bytes);
		local_inc(&cpu_buffer->pages_lost);
		if (cpu_buffer->ring_meta)
			rb_update_meta_head(cpu_buffer, next);
	}

	head = rb_link_change(next, after, RB_PAGE_NORMAL, RB_PAGE_HEAD);
	/* A writer in between may have pushed the head farther: then this was not to be set. */
	tail_now = READ_ONCE(cpu_buffer->tail_page);
	if (head == RB_PAGE_NORMAL && tail_now != tail && tail_now != next)
		rb_link_change(next, after, RB_PAGE_HEAD, RB_PAGE_NORMAL);

	if (was == RB_PAGE_HEAD &&
	    rb_link_change(tail, next, RB_PAGE_UPDATE, RB_PAGE_NORMAL) != RB_PAGE_UPDATE)
		rb_corrupt(cpu_buffer, next, "the head moved while it was being moved");
	return true;
}

/* The time of the last event of the tail. For another page the value has no meaning. */
static u64 rb_last_time(const struct ring_buffer_per_cpu *cpu_buffer,
			const struct buffer_page *tail, u64 write)
{
	unsigned int base = (write & RB_BASE_MASK) >> RB_BASE_SHIFT;

	return (base ? READ_ONCE(cpu_buffer->base[base]) : tail->page->time_stamp) +
	       (write >> RB_TIME_SHIFT);
}

/* Opens @next and makes it the tail, unless @tail, which is closed, is not any more. */
static void rb_open(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *tail,
		    struct buffer_page *next)
{
	u64 time = rb_last_time(cpu_buffer, tail, local64_read(&tail->write));
	s64 write = local64_read(&next->write);

	/* A writer that moved the tail may have changed these two before they were read. */
	barrier();
	if (READ_ONCE(cpu_buffer->tail_page) != tail)
		return;

	if (write & RB_CLOSED) {
		local_set(&next->page->commit, 0);
		/* A reader that looks at old events sees that first: see rb_iter_head_event(). */
		smp_wmb();
		next->page->time_stamp = time;
		/* Before an interrupt can claim there: it finds the time of the page. */
		barrier();
		(void)local64_cmpxchg(&next->write, write, ~write & RB_LAP);
	}
	/* Also orders a reader's loads from the page after the flag of the head. */
	if (try_cmpxchg(&cpu_buffer->tail_page, &tail, next))
		local_inc(&cpu_buffer->pages_touched);
}

/*
 * There is no room in @tail, whose word was @write: makes the page after it the tail. On return
 * all has to be looked at again. Returns false if there is no page to be had: the event is lost,
 * and counted.
 */
static bool rb_next_page(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *tail,
			 s64 write)
{
	struct buffer_page *next, *commit = READ_ONCE(cpu_buffer->commit_page);
	unsigned long link;
	bool readers;

	/* Events that are complete need not keep pages from being overwritten. */
	if (commit != tail && rb_is_outermost(cpu_buffer)) {
		u64 published;

		return rb_publish_pages(cpu_buffer, &published);
	}

	/* First: then nothing is read any more, and the flag of the link stays. */
	readers = rb_is_readers(commit);
	/* An interrupt may do all of the following, and move the tail, before the link is read. */
	barrier();
	next = rb_page_after(tail);
	if (next == commit) {
		local_inc(&cpu_buffer->commit_overrun);
		return false;
	}
	link = rb_link_flag((unsigned long)READ_ONCE(tail->list.next), next);
	if (link == RB_PAGE_MOVED)
		return true;
	if (link != RB_PAGE_NORMAL) {
		/* The ring is full of events from after the reader's page. */
		if (readers) {
			local_inc(&cpu_buffer->commit_overrun);
			return false;
		}
		if (!(cpu_buffer->buffer->flags & RB_FL_OVERWRITE)) {
			local_inc(&cpu_buffer->dropped_events);
			return false;
		}
		if (!rb_push_head(cpu_buffer, tail, next))
			return true;
	}
	/* Before that can be seen: one that publishes on the closed page goes on from there. */
	WRITE_ONCE(cpu_buffer->publish_slow, 1);
	barrier();
	if (write & RB_CLOSED || local64_try_cmpxchg(&tail->write, &write, write | RB_CLOSED))
		rb_open(cpu_buffer, tail, next);
	return true;
}

/* Reserving */

/* The word before an event's header, if the event's delta cannot tell its time. */
static void rb_set_time(struct ring_buffer_event *event, unsigned int type, u64 time)
{
	event->type_len = type;
	event->time_delta = time & TS_MASK;
	event->array[0] = time >> TS_SHIFT;
}

/* One of a writer's two bases: the one that the tail does not name. */
static unsigned int rb_free_base(const struct ring_buffer_per_cpu *cpu_buffer, u64 write)
{
	unsigned int base = 2 * (cpu_buffer->writers & RB_DEPTH_MASK);

	return (write & RB_BASE_MASK) >> RB_BASE_SHIFT == base ? base - 1 : base;
}

/**
 * rb_reserve_slow - claim space and time where it is not simple
 * @cpu_buffer: where
 * @size: of the event, its header included
 * @now: the time, now or a moment ago
 *
 * Simple is: there is room, the clock went on, by less than an event can tell, and there was no
 * interrupt.
 *
 * Context: that of a writer.
 * Return: the event with its header, after a time stamp if need be; or NULL, and the loss is
 * counted.
 */
struct ring_buffer_event *rb_reserve_slow(struct ring_buffer_per_cpu *cpu_buffer,
					  unsigned int size, u64 now)
{
	struct buffer_page *page, *seen_page = NULL;
	struct ring_buffer_event *event;
	unsigned int index, all;
	s64 old, new, seen = 0;
	u64 last, delta;
	bool back, again = false;

	for (int tries = 0; tries < RB_MAX_TRIES; tries++) {
		page = READ_ONCE(cpu_buffer->tail_page);
		old = local64_read(&page->write);
		again = page == seen_page && old == seen;
		seen_page = page;
		seen = old;
		last = rb_last_time(cpu_buffer, page, old);
		delta = now - last;

		/* An interrupt's event may be later: then this one is as late. */
		back = (s64)delta < -(s64)TS_MASK;
		if (back && !again) {
			/* The clock went back, unless there is an event since it was looked at. */
			now = rb_clock(cpu_buffer->buffer);
			continue;
		}
		if ((s64)delta < 0)
			delta = 0;
		all = size + (back || delta > TS_MASK ? RB_LEN_TIME_EXTEND : 0);

		index = old & RB_INDEX_MASK;
		if (old & RB_CLOSED || index + all > cpu_buffer->capacity) {
			if (!rb_next_page(cpu_buffer, page, old))
				return NULL;
			continue;
		}

		if (back || ((u64)old >> RB_TIME_SHIFT) + delta > RB_TIME_MAX) {
			unsigned int base = rb_free_base(cpu_buffer, old);

			WRITE_ONCE(cpu_buffer->base[base], back ? now : last + delta);
			/* Before the word that names it, by which interrupts find it. */
			barrier();
			new = (old & (RB_LAP | RB_INDEX_MASK)) + all +
			      ((u64)base << RB_BASE_SHIFT);
		} else {
			new = old + all + (delta << RB_TIME_SHIFT);
		}
		if (!local64_try_cmpxchg(&page->write, &old, new))
			continue;

		event = (void *)&page->page->data[index];
		if (back)
			rb_set_time(event, RINGBUF_TYPE_TIME_STAMP, now);
		else if (delta > TS_MASK)
			rb_set_time(event, RINGBUF_TYPE_TIME_EXTEND, delta);
		rb_set_header((void *)event + (all - size), size, all > size ? 0 : delta);
		local_inc(&page->entries);
		local_add(all, &cpu_buffer->entries_bytes);
		return event;
	}
	/* Interrupts may come faster than a claim ends. They leave events, and so are progress. */
	if (again)
		rb_corrupt(cpu_buffer, cpu_buffer->tail_page, "no room in %d tries", RB_MAX_TRIES);
	else
		local_inc(&cpu_buffer->dropped_events);
	return NULL;
}

/**
 * ring_buffer_lock_reserve - reserve room for an event
 * @buffer: where to
 * @length: bytes of data
 *
 * Context: any, NMI included. Leaves preemption off until ring_buffer_unlock_commit() or
 * ring_buffer_discard_commit(), unless it fails.
 * Return: the event; NULL if it is not to be recorded, or is lost.
 */
struct ring_buffer_event *ring_buffer_lock_reserve(struct trace_buffer *buffer,
						   unsigned long length)
{
	void *data;

	return rb_write_begin(buffer, length, &data);
}
EXPORT_SYMBOL_GPL(ring_buffer_lock_reserve);

/**
 * ring_buffer_unlock_commit - an event is written
 * @buffer: as for ring_buffer_lock_reserve()
 *
 * Context: as that left it.
 * Return: 0.
 */
int ring_buffer_unlock_commit(struct trace_buffer *buffer)
{
	rb_write_end(buffer);
	return 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_unlock_commit);

/**
 * ring_buffer_write - record an event
 * @buffer: where to
 * @length: bytes of data
 * @data: the data
 *
 * Context: any, NMI included.
 * Return: 0; -EBUSY if it is not recorded, or is lost.
 */
int ring_buffer_write(struct trace_buffer *buffer, unsigned long length, void *data)
{
	void *to;

	if (!rb_write_begin(buffer, length, &to))
		return -EBUSY;
	memcpy(to, data, length);
	rb_write_end(buffer);
	return 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_write);

/* An event that is reserved */

/*
 * Makes the last claim undone, unless there was another one after it, or the time before it is
 * not in the word any more.
 */
static bool rb_take_back(struct ring_buffer_per_cpu *cpu_buffer, struct ring_buffer_event *event)
{
	struct buffer_page *page = READ_ONCE(cpu_buffer->tail_page);
	unsigned long at = (unsigned long)event - (unsigned long)page->page->data;
	s64 old = local64_read(&page->write);
	unsigned int size;
	u64 delta;

	if (event->type_len == RINGBUF_TYPE_TIME_STAMP)
		return false;
	event = rb_skip_time(event, &size, &delta);
	size += rb_data_size(event);
	if (at > cpu_buffer->capacity || (old & (RB_CLOSED | RB_INDEX_MASK)) != at + size ||
	    delta > (u64)old >> RB_TIME_SHIFT)
		return false;
	if (!local64_try_cmpxchg(&page->write, &old, old - size - (delta << RB_TIME_SHIFT)))
		return false;
	local_dec(&page->entries);
	local_sub(size, &cpu_buffer->entries_bytes);
	return true;
}

/* Readers are to pass over the event, but not over the time that it took. */
static void rb_make_padding(struct ring_buffer_per_cpu *cpu_buffer,
			    struct ring_buffer_event *event)
{
	struct ring_buffer_event *data;
	unsigned int size;
	u64 delta;

	local_dec(&rb_page_of(cpu_buffer, event)->entries);

	data = rb_skip_time(event, &size, &delta);
	data->array[0] = rb_data_size(data) - RB_EVNT_HDR_SIZE;
	data->array[1] = data->time_delta;
	data->type_len = RINGBUF_TYPE_PADDING;
	/* 0 would say that the rest of the page is empty. */
	if (!data->time_delta)
		data->time_delta = 1;
}

/**
 * ring_buffer_discard_commit - an event is not to be recorded after all
 * @buffer: as for ring_buffer_lock_reserve()
 * @event: the event that it returned
 *
 * Context: as that left it.
 */
void ring_buffer_discard_commit(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[raw_smp_processor_id()];

	if (!rb_take_back(cpu_buffer, event))
		rb_make_padding(cpu_buffer, event);
	rb_write_leave(cpu_buffer);
}
EXPORT_SYMBOL_GPL(ring_buffer_discard_commit);

/**
 * ring_buffer_event_time_stamp - the time of an event that is reserved
 * @buffer: where
 * @event: the event that ring_buffer_lock_reserve() returned
 *
 * It is not right if the clock has gone back since, by more than an event can tell, and an
 * interrupt has recorded an event: a time stamp does not tell the time before it.
 *
 * Context: as that left it.
 * Return: the time, as the buffer's clock counts it.
 */
u64 ring_buffer_event_time_stamp(struct trace_buffer *buffer, struct ring_buffer_event *event)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[raw_smp_processor_id()];
	struct buffer_page *page = rb_page_of(cpu_buffer, event);
	struct ring_buffer_event *end;
	unsigned int size;
	u64 write, time, delta;

	/* The word of the tail shows each change by an interrupt. */
	do {
		write = local64_read(&page->write);
		time = rb_last_time(cpu_buffer, page, write);
		/* The bases are read before the word is compared. */
		barrier();
	} while (page == READ_ONCE(cpu_buffer->tail_page) && local64_read(&page->write) != write);
	if (page != READ_ONCE(cpu_buffer->tail_page)) {
		write = local64_read(&page->write);
		time = rb_page_after(page)->page->time_stamp;
	}
	end = (void *)&page->page->data[write & RB_INDEX_MASK];

	/* The page tells the time of its last event. The events after @event are complete. */
	event = rb_skip_time(event, &size, &delta);
	for (;;) {
		event = (void *)event + rb_data_size(event);
		if (event >= end)
			return time;
		event = rb_skip_time(event, &size, &delta);
		time -= delta;
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ring_buffer_kunit.c"
#endif
