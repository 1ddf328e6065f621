// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of waiting for events of the ring buffer, with a writer and a waiter that do not
 * know of each other yet; of its limits; of the contexts that record; of iterators; and of a clock
 * that goes back.
 *
 * tools/testing/ring-buffer tests how events are written.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#define RB_KUNIT_TIMEOUT	(10 * HZ)

struct rb_kunit_waiter {
	struct trace_buffer	*buffer;
	int			cpu;
	struct task_struct	*task;
	struct completion	start;
	struct completion	woken;
	bool			give_up;
};

static int rb_kunit_write(struct trace_buffer *buffer)
{
	static u32 data;

	data++;
	return ring_buffer_write(buffer, sizeof(data), &data);
}

static bool rb_kunit_gives_up(void *data)
{
	struct rb_kunit_waiter *waiter = data;

	return READ_ONCE(waiter->give_up);
}

static int rb_kunit_wait(void *data)
{
	struct rb_kunit_waiter *waiter = data;

	wait_for_completion(&waiter->start);
	ring_buffer_wait(waiter->buffer, waiter->cpu, 0, rb_kunit_gives_up, waiter);
	complete(&waiter->woken);
	return 0;
}

/* A waiter for events of @cpu, which runs on @on. */
static struct rb_kunit_waiter *rb_kunit_waiter(struct kunit *test, int cpu, int on)
{
	struct rb_kunit_waiter *waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, waiter);
	waiter->cpu = cpu;
	init_completion(&waiter->start);
	init_completion(&waiter->woken);
	waiter->buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	KUNIT_ASSERT_NOT_NULL(test, waiter->buffer);
	waiter->task = kthread_create_on_cpu(rb_kunit_wait, waiter, on, "rb_kunit/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(waiter->task));
	wake_up_process(waiter->task);
	return waiter;
}

/* Whether it is woken. It is gone on return. */
static bool rb_kunit_is_woken(struct rb_kunit_waiter *waiter)
{
	bool woken = wait_for_completion_timeout(&waiter->woken, RB_KUNIT_TIMEOUT);

	WRITE_ONCE(waiter->give_up, true);
	ring_buffer_wake_waiters(waiter->buffer, waiter->cpu);
	if (!woken)
		wait_for_completion(&waiter->woken);
	ring_buffer_free(waiter->buffer);
	return woken;
}

static bool rb_kunit_sleeps(struct rb_kunit_waiter *waiter, struct ring_buffer_per_cpu *cpu_buffer)
{
	return READ_ONCE(cpu_buffer->publish_slow) && !task_is_running(waiter->task);
}

/*
 * The writer looks for the waiter before that is there, and its event is seen after the waiter
 * looked for it: that happens while the writer's CPU has the event still in its store buffer.
 */
static void rb_kunit_writer_reads_early(struct kunit *test)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct rb_kunit_waiter *waiter;
	int on, written;

	if (num_online_cpus() < 2)
		kunit_skip(test, "the writer and the waiter are on one CPU");
	migrate_disable();
	on = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	waiter = rb_kunit_waiter(test, RING_BUFFER_ALL_CPUS, on);
	cpu_buffer = waiter->buffer->buffers[raw_smp_processor_id()];
	WRITE_ONCE(cpu_buffer->publish_slow, false);

	/* From before the waiter says that it waits, so that no grace period is over. */
	preempt_disable();
	complete(&waiter->start);
	while (!rb_kunit_sleeps(waiter, cpu_buffer))
		cpu_relax();
	WRITE_ONCE(cpu_buffer->publish_slow, false);
	written = rb_kunit_write(waiter->buffer);
	WRITE_ONCE(cpu_buffer->publish_slow, true);
	preempt_enable();
	migrate_enable();

	KUNIT_EXPECT_EQ(test, written, 0);
	KUNIT_EXPECT_TRUE(test, rb_kunit_is_woken(waiter));
}

/* A reader of one CPU is not woken by another, and a reader of all is woken by any. */
static void rb_kunit_other_cpu(struct kunit *test)
{
	int cpu = cpumask_first(cpu_online_mask), other = cpumask_next(cpu, cpu_online_mask);
	struct rb_kunit_waiter *one, *all;

	if (other >= nr_cpu_ids)
		kunit_skip(test, "there is no other CPU");
	one = rb_kunit_waiter(test, other, other);
	all = rb_kunit_waiter(test, RING_BUFFER_ALL_CPUS, other);
	complete(&one->start);
	complete(&all->start);
	while (!READ_ONCE(one->buffer->buffers[other]->irq_work.waiters_pending) ||
	       !READ_ONCE(all->buffer->irq_work.waiters_pending))
		schedule_timeout_uninterruptible(1);

	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	KUNIT_EXPECT_EQ(test, rb_kunit_write(one->buffer), 0);
	KUNIT_EXPECT_EQ(test, rb_kunit_write(all->buffer), 0);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_EXPECT_TRUE(test, rb_kunit_is_woken(all));
	KUNIT_EXPECT_FALSE(test, completion_done(&one->woken));
	WRITE_ONCE(one->give_up, true);
	ring_buffer_wake_waiters(one->buffer, other);
	KUNIT_EXPECT_TRUE(test, rb_kunit_is_woken(one));
}

/* A page of which all events are discarded has bytes, and nothing to read. */
static void rb_kunit_discarded(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct ring_buffer_event *outer, *inner = NULL;
	bool empty;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	outer = ring_buffer_lock_reserve(buffer, ring_buffer_max_event_size(buffer));
	if (outer) {
		/* It goes to the next page, so the other one cannot be taken back. */
		ring_buffer_nest_start(buffer);
		inner = ring_buffer_lock_reserve(buffer, sizeof(u64));
		if (inner)
			ring_buffer_discard_commit(buffer, inner);
		ring_buffer_nest_end(buffer);
		ring_buffer_discard_commit(buffer, outer);
	}
	empty = ring_buffer_empty(buffer);
	KUNIT_EXPECT_NOT_NULL(test, outer);
	KUNIT_EXPECT_NOT_NULL(test, inner);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 0);
	KUNIT_EXPECT_TRUE(test, empty);

	KUNIT_EXPECT_EQ(test, rb_kunit_write(buffer), 0);
	KUNIT_EXPECT_FALSE(test, ring_buffer_empty(buffer));
	ring_buffer_free(buffer);
}

/* The largest event follows the size of the sub-buffers, and fits. */
static void rb_kunit_largest(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	for (int order = 0; order < 3; order++) {
		struct ring_buffer_event *event;
		unsigned long largest;

		KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(buffer, order), 0);
		largest = ring_buffer_max_event_size(buffer);
		KUNIT_EXPECT_GT(test, largest, (PAGE_SIZE << order) - 64);
		event = ring_buffer_lock_reserve(buffer, largest);
		if (event)
			ring_buffer_unlock_commit(buffer);
		KUNIT_EXPECT_NOT_NULL(test, event);
		event = ring_buffer_lock_reserve(buffer, largest + 1);
		if (event)
			ring_buffer_unlock_commit(buffer);
		KUNIT_EXPECT_NULL(test, event);
	}
	ring_buffer_free(buffer);
}

/* In the context of an interrupt, as writers see it. Interrupts of the CPU are disabled. */
static struct ring_buffer_event *rb_kunit_reserve_in(struct trace_buffer *buffer, int count)
{
	__preempt_count_add(count);
	return ring_buffer_lock_reserve(buffer, sizeof(u64));
}

static void rb_kunit_commit_in(struct trace_buffer *buffer, struct ring_buffer_event *event,
			       int count)
{
	if (event)
		ring_buffer_unlock_commit(buffer);
	__preempt_count_sub(count);
}

/*
 * An interrupt records while a writer is interrupted, each in its own context, whether
 * local_interrupt_disable() was called or not.
 */
static void rb_kunit_contexts(struct kunit *test)
{
	static const int counts[] = {
		HARDIRQ_DISABLE_OFFSET, SOFTIRQ_OFFSET, HARDIRQ_OFFSET + HARDIRQ_DISABLE_OFFSET,
		NMI_OFFSET,
	};
	struct trace_buffer *buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct ring_buffer_event *events[ARRAY_SIZE(counts)];
	unsigned long flags;
	bool no_nmi;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	local_irq_save(flags);
	for (int i = 0; i < ARRAY_SIZE(counts); i++)
		events[i] = rb_kunit_reserve_in(buffer, counts[i]);
	no_nmi = rb_cannot_write();
	for (int i = ARRAY_SIZE(counts) - 1; i >= 0; i--)
		rb_kunit_commit_in(buffer, events[i], counts[i]);
	local_irq_restore(flags);

	for (int i = 0; i < ARRAY_SIZE(counts); i++)
		KUNIT_EXPECT_EQ_MSG(test, !events[i], no_nmi && counts[i] == NMI_OFFSET,
				    "context %d", i);
	ring_buffer_free(buffer);
}

/* Interrupts being disabled makes no other context: the second event there is a recursion. */
static void rb_kunit_recursion(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct ring_buffer_event *outer, *inner[2];
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	local_irq_save(flags);
	outer = rb_kunit_reserve_in(buffer, 0);
	inner[0] = rb_kunit_reserve_in(buffer, HARDIRQ_DISABLE_OFFSET);
	inner[1] = rb_kunit_reserve_in(buffer, HARDIRQ_DISABLE_OFFSET);
	rb_kunit_commit_in(buffer, inner[1], HARDIRQ_DISABLE_OFFSET);
	rb_kunit_commit_in(buffer, inner[0], HARDIRQ_DISABLE_OFFSET);
	rb_kunit_commit_in(buffer, outer, 0);
	local_irq_restore(flags);

	KUNIT_EXPECT_NOT_NULL(test, outer);
	/* This may be one at the border of an interrupt. */
	KUNIT_EXPECT_NOT_NULL(test, inner[0]);
	KUNIT_EXPECT_NULL(test, inner[1]);
	ring_buffer_free(buffer);
}

/* Up to the next page, if this CPU writes all. */
static void rb_kunit_write_page(struct trace_buffer *buffer)
{
	const struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[raw_smp_processor_id()];
	const struct buffer_page *page = cpu_buffer->commit_page;

	for (unsigned int i = 0; page == cpu_buffer->commit_page && i < PAGE_SIZE; i++)
		rb_kunit_write(buffer);
}

/* An event that a reader of all CPUs waits for */
static void rb_kunit_write_awaited(struct trace_buffer *buffer)
{
	ring_buffer_poll_wait(buffer, RING_BUFFER_ALL_CPUS, NULL, NULL, 0);
	rb_kunit_write(buffer);
	irq_work_sync(&buffer->irq_work.work);
}

/* The event that is awaited starts a timer, and a page that is full does not wait for it. */
static void rb_kunit_woken_delayed(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * PAGE_SIZE, RB_FL_OVERWRITE);
	ktime_t begin = ktime_get();
	struct rb_irq_work *rbwork;
	bool delayed;
	int seq;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	rbwork = &buffer->irq_work;
	seq = atomic_read(&rbwork->seq);
	migrate_disable();
	rb_kunit_write_awaited(buffer);
	delayed = rbwork->armed && atomic_read(&rbwork->seq) == seq;
	KUNIT_EXPECT_TRUE(test, delayed || ktime_ms_delta(ktime_get(), begin) >= 10);

	rb_kunit_write_page(buffer);
	migrate_enable();
	irq_work_sync(&rbwork->work);
	KUNIT_EXPECT_FALSE(test, rbwork->armed);
	KUNIT_EXPECT_NE(test, atomic_read(&rbwork->seq), seq);
	ring_buffer_free(buffer);
}

/* No event waits longer than 10 ms. More events, or another reader, do not change that. */
static void rb_kunit_woken_in_time(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct rb_irq_work *rbwork;
	ktime_t expires, end;
	int seq;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	rbwork = &buffer->irq_work;
	seq = atomic_read(&rbwork->seq);
	rb_kunit_write_awaited(buffer);
	expires = hrtimer_get_expires(&rbwork->timer);
	end = ktime_add_ms(ktime_get(), 10);
	KUNIT_EXPECT_LE(test, expires, end);
	KUNIT_EXPECT_TRUE(test, expires || atomic_read(&rbwork->seq) != seq);

	mdelay(1);
	rb_kunit_write_awaited(buffer);
	if (ktime_before(ktime_get(), expires))
		KUNIT_EXPECT_EQ(test, hrtimer_get_expires(&rbwork->timer), expires);

	/* A guest may stand still for long, so the timer's time was looked at. It fires. */
	for (int i = 0; i < 500 && atomic_read(&rbwork->seq) == seq; i++)
		msleep(20);
	KUNIT_EXPECT_NE(test, atomic_read(&rbwork->seq), seq);
	ring_buffer_free(buffer);
}

/* A reader is not woken again by an event that a full page has woken it for, or that is read. */
static void rb_kunit_woken_once(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct rb_irq_work *rbwork;
	int seq;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	rbwork = &buffer->irq_work;
	migrate_disable();
	rb_kunit_write_awaited(buffer);
	rb_kunit_write_page(buffer);
	irq_work_sync(&rbwork->work);
	migrate_enable();
	/* The readers look again once. */
	while (atomic_read(&rbwork->rechecks))
		rcu_barrier();
	irq_work_sync(&rbwork->work);
	seq = atomic_read(&rbwork->seq);
	KUNIT_EXPECT_FALSE(test, rbwork->waiters_pending);
	msleep(30);
	KUNIT_EXPECT_EQ(test, atomic_read(&rbwork->seq), seq);
	ring_buffer_free(buffer);
}

/* Those that are to wake at once do not wait for the timer of an event. */
static void rb_kunit_woken_at_once(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct rb_irq_work *rbwork;
	wait_queue_entry_t entry;
	int seq;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	rbwork = &buffer->irq_work;
	init_waitqueue_entry(&entry, current);
	add_wait_queue(&rbwork->waiters, &entry);
	ring_buffer_poll_wait(buffer, RING_BUFFER_ALL_CPUS, NULL, NULL, 0);
	scoped_guard(irqsave) {
		rb_kunit_write(buffer);
		ring_buffer_wake_waiters(buffer, RING_BUFFER_ALL_CPUS);
		seq = atomic_read(&rbwork->seq);
	}
	irq_work_sync(&rbwork->work);
	KUNIT_EXPECT_GT(test, atomic_read(&rbwork->seq), seq);
	remove_wait_queue(&rbwork->waiters, &entry);
	ring_buffer_free(buffer);
}

/* A wait for half of the pages does not end with the first one, though there was no event. */
static void rb_kunit_woken_half(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(8 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct rb_irq_work *rbwork;
	unsigned int pages = 1;
	int cpu, seq;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	migrate_disable();
	cpu = smp_processor_id();
	rbwork = &buffer->buffers[cpu]->irq_work;
	seq = atomic_read(&rbwork->seq);
	KUNIT_EXPECT_FALSE(test, !!ring_buffer_poll_wait(buffer, cpu, NULL, NULL, 50));
	for (; pages < 8; pages++) {
		rb_kunit_write_page(buffer);
		irq_work_sync(&rbwork->work);
		if (atomic_read(&rbwork->seq) != seq)
			break;
	}
	migrate_enable();
	KUNIT_EXPECT_GE(test, pages, 3);
	KUNIT_EXPECT_LE(test, pages, 4);
	ring_buffer_free(buffer);
}

/* Iterators */

static u64 rb_kunit_time;

static u64 rb_kunit_clock(void)
{
	return rb_kunit_time += 5;
}

/* Passes @nr events, each of a later time than @time, which goes on. Returns how many were. */
static unsigned int rb_kunit_pass(struct ring_buffer_iter *iter, unsigned int nr, u64 *time)
{
	unsigned int found = 0;
	u64 last = *time;

	while (found < nr && ring_buffer_iter_peek(iter, time) && *time > last) {
		last = *time;
		ring_buffer_iter_advance(iter);
		found++;
	}
	return found;
}

/* The event that was looked at stays as it is when its page is written anew, until the next one. */
static void rb_kunit_overtake(struct kunit *test, struct trace_buffer *buffer,
			      struct ring_buffer_iter *iter)
{
	struct ring_buffer_event *event;
	u64 last, time;
	u32 number;

	event = ring_buffer_iter_peek(iter, &last);
	KUNIT_EXPECT_NOT_NULL(test, event);
	KUNIT_EXPECT_FALSE(test, ring_buffer_iter_dropped(iter));
	if (!event)
		return;
	number = *(u32 *)ring_buffer_event_data(event);
	for (unsigned int i = 0; i < 6; i++)
		rb_kunit_write_page(buffer);
	ring_buffer_iter_advance(iter);
	KUNIT_EXPECT_EQ(test, *(u32 *)ring_buffer_event_data(event), number);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, &time));
	KUNIT_EXPECT_GT(test, time, last);
}

/* It goes on where the writer goes on, and begins anew where that has come to its page. */
static void rb_kunit_iterate(struct kunit *test, struct trace_buffer *buffer,
			     struct ring_buffer_iter *iter)
{
	u64 time = 0, last;

	KUNIT_EXPECT_EQ(test, rb_kunit_pass(iter, 2, &time), 2);
	ring_buffer_reset_cpu(buffer, smp_processor_id());
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));

	for (unsigned int i = 0; i < 3; i++)
		rb_kunit_write(buffer);
	KUNIT_EXPECT_EQ(test, rb_kunit_pass(iter, 4, &time), 3);
	last = time;
	rb_kunit_write(buffer);
	rb_kunit_write(buffer);
	KUNIT_EXPECT_EQ(test, rb_kunit_pass(iter, 1, &time), 1);
	KUNIT_EXPECT_GT(test, time, last);
	rb_kunit_overtake(test, buffer, iter);
}

/*
 * The copy of a page can be read to its end where the writer has come to the page again. All that
 * was written since follows, if the writer stays there; if it goes on, there is a gap.
 */
static void rb_kunit_lapped(struct kunit *test, struct trace_buffer *buffer,
			    struct ring_buffer_iter *iter, bool goes_on)
{
	const struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[smp_processor_id()];
	const struct buffer_page *page;
	struct ring_buffer_event *event;
	u64 time = 0, stamp;
	u32 number;

	ring_buffer_reset_cpu(buffer, smp_processor_id());
	page = cpu_buffer->commit_page;
	while (page == cpu_buffer->commit_page)
		rb_kunit_write(buffer);
	stamp = page->page->time_stamp;
	KUNIT_EXPECT_EQ(test, rb_kunit_pass(iter, 9, &time), 9);
	event = ring_buffer_iter_peek(iter, NULL);
	KUNIT_EXPECT_NOT_NULL(test, event);
	if (!event)
		return;
	number = *(u32 *)ring_buffer_event_data(event);
	ring_buffer_iter_advance(iter);
	for (unsigned int i = 0; page->page->time_stamp == stamp && i < 3 * PAGE_SIZE; i++)
		rb_kunit_write(buffer);
	KUNIT_EXPECT_PTR_EQ(test, page, (const struct buffer_page *)cpu_buffer->commit_page);
	KUNIT_EXPECT_FALSE(test, ring_buffer_iter_empty(iter));
	event = ring_buffer_iter_peek(iter, NULL);
	KUNIT_EXPECT_NOT_NULL(test, event);
	if (event)
		KUNIT_EXPECT_EQ(test, *(u32 *)ring_buffer_event_data(event), number + 1);

	while (goes_on && page == cpu_buffer->commit_page)
		rb_kunit_write(buffer);
	for (; event; event = ring_buffer_iter_peek(iter, NULL)) {
		if (*(u32 *)ring_buffer_event_data(event) != ++number)
			break;
		KUNIT_EXPECT_FALSE(test, ring_buffer_iter_dropped(iter));
		ring_buffer_iter_advance(iter);
	}
	KUNIT_EXPECT_EQ(test, !!event, goes_on);
	if (goes_on) {
		KUNIT_EXPECT_TRUE(test, ring_buffer_iter_dropped(iter));
		return;
	}
	rb_kunit_write(buffer);
	event = ring_buffer_iter_peek(iter, NULL);
	KUNIT_EXPECT_NOT_NULL(test, event);
	if (event)
		KUNIT_EXPECT_EQ(test, *(u32 *)ring_buffer_event_data(event), number + 1);
}

static void rb_kunit_iterator(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(4 * PAGE_SIZE, RB_FL_OVERWRITE);
	struct ring_buffer_iter *iter;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	ring_buffer_set_clock(buffer, rb_kunit_clock);
	migrate_disable();
	for (unsigned int i = 0; i < 3; i++)
		rb_kunit_write(buffer);
	iter = ring_buffer_read_start(buffer, smp_processor_id(), GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, iter);
	if (iter) {
		rb_kunit_iterate(test, buffer, iter);
		rb_kunit_lapped(test, buffer, iter, true);
		rb_kunit_lapped(test, buffer, iter, false);
		ring_buffer_read_finish(iter);
	}
	migrate_enable();
	ring_buffer_free(buffer);
}

/* The clock */

#define RB_KUNIT_TIMES	6

/* Readers tell the times of the clock, each time that they are asked. */
static void rb_kunit_times(struct kunit *test, struct trace_buffer *buffer, const u64 *times)
{
	int cpu = smp_processor_id();
	struct ring_buffer_iter *iter = ring_buffer_read_start(buffer, cpu, GFP_KERNEL);
	u64 time;

	KUNIT_EXPECT_NOT_NULL(test, iter);
	for (int i = 0; iter && i < RB_KUNIT_TIMES; i++) {
		for (int again = 0; again < 2; again++) {
			KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, &time));
			KUNIT_EXPECT_EQ(test, time, times[i]);
		}
		ring_buffer_iter_advance(iter);
	}
	if (iter)
		ring_buffer_read_finish(iter);
	for (int i = 0; i < RB_KUNIT_TIMES; i++) {
		for (int again = 0; again < 2; again++) {
			KUNIT_EXPECT_NOT_NULL(test, ring_buffer_peek(buffer, cpu, &time, NULL));
			KUNIT_EXPECT_EQ(test, time, times[i]);
		}
		ring_buffer_consume(buffer, cpu, NULL, NULL);
	}
}

/* A time stamp has not all bits of a clock that counts from 1970. */
static void rb_kunit_clock_back(struct kunit *test)
{
	static const u64 begin[] = {
		10 * NSEC_PER_SEC, 3ULL << 59, (3ULL << 59) + 86400 * NSEC_PER_SEC,
	};
	struct trace_buffer *buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	u64 times[RB_KUNIT_TIMES];

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	ring_buffer_set_clock(buffer, rb_kunit_clock);
	migrate_disable();
	for (int n = 0; n < ARRAY_SIZE(begin); n++) {
		rb_kunit_time = begin[n];
		ring_buffer_reset_cpu(buffer, smp_processor_id());
		for (int i = 0; i < RB_KUNIT_TIMES; i++) {
			if (i == 2)
				rb_kunit_time -= NSEC_PER_SEC;
			if (i == 4)
				rb_kunit_time += 2 * NSEC_PER_SEC;
			rb_kunit_write(buffer);
			times[i] = rb_kunit_time;
		}
		rb_kunit_times(test, buffer, times);
	}
	migrate_enable();
	ring_buffer_free(buffer);
}

static struct kunit_case rb_kunit_cases[] = {
	KUNIT_CASE(rb_kunit_writer_reads_early),
	KUNIT_CASE(rb_kunit_other_cpu),
	KUNIT_CASE(rb_kunit_discarded),
	KUNIT_CASE(rb_kunit_largest),
	KUNIT_CASE(rb_kunit_contexts),
	KUNIT_CASE(rb_kunit_recursion),
	KUNIT_CASE(rb_kunit_woken_delayed),
	KUNIT_CASE(rb_kunit_woken_in_time),
	KUNIT_CASE(rb_kunit_woken_once),
	KUNIT_CASE(rb_kunit_woken_at_once),
	KUNIT_CASE(rb_kunit_woken_half),
	KUNIT_CASE(rb_kunit_iterator),
	KUNIT_CASE(rb_kunit_clock_back),
	{ }
};

static struct kunit_suite rb_kunit_suite = {
	.name		= "ring_buffer",
	.test_cases	= rb_kunit_cases,
};

kunit_test_suite(rb_kunit_suite);
