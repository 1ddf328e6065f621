// SPDX-License-Identifier: GPL-2.0
/*
 * Torture of the ring buffer: writers in every context of every CPU against a reader and
 * all that changes the buffer. Loading the module runs it, and fails if the test does.
 *
 * Each event belongs to a stream: the events of one context of one CPU. It has its number in
 * the stream and a checksum. Events of one stream cannot interrupt each other, so
 *  - they are read in their order, and those of a CPU in the order of their time;
 *  - each one that was committed is either read or counted as overrun;
 *  - an event that could not be reserved is counted as dropped, or as lost to a full ring,
 *    unless recording was disabled.
 *
 * The phases differ in the other work beside the writing: see torture_phases[]. No other task may
 * let CPUs come or go meanwhile.
 */
#define pr_fmt(fmt) "ring_buffer_torture: " fmt

#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include <asm/local.h>

#ifdef CONFIG_X86_64
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "ring_buffer_internal.h"

#define TORTURE_PAGES		16
/* How many events one peek passes, at most. A writer may write faster. */
#define TORTURE_PEEKS		4096
#define TORTURE_MAX_WORDS	64

static unsigned int seconds = 2;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "How long each phase takes (default: 2)");

static unsigned long seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "Where the random numbers begin (default: 1)");

enum {
	TORTURE_OVERWRITE	= BIT(0),
	TORTURE_PAGE_READER	= BIT(1),
	TORTURE_RESIZE		= BIT(2),
	TORTURE_SWITCH		= BIT(3),
	TORTURE_RESET		= BIT(4),
	TORTURE_ORDER		= BIT(5),
	TORTURE_NO_READER	= BIT(6),
	TORTURE_SWAP		= BIT(7),
	TORTURE_HOTPLUG		= BIT(8),
	TORTURE_PEEK		= BIT(9),
};

/* Events are lost without being counted. */
#define TORTURE_UNCOUNTED	(TORTURE_RESET | TORTURE_ORDER)
/* While recording is disabled, losses are not counted. */
#define TORTURE_DISABLES	(TORTURE_SWITCH | TORTURE_RESIZE | TORTURE_SWAP)
/* Of these a phase has to do some. */
#define TORTURE_CHANGES		(TORTURE_RESIZE | TORTURE_ORDER | TORTURE_SWAP | TORTURE_PEEK)

static const struct {
	const char	*name;
	unsigned int	what;
} torture_phases[] = {
	{ "dropping, events consumed",		0 },
	{ "dropping, pages read",		TORTURE_PAGE_READER },
	{ "overwriting, events consumed",	TORTURE_OVERWRITE },
	{ "overwriting, pages read",		TORTURE_OVERWRITE | TORTURE_PAGE_READER },
	{ "overwriting, read at the end",	TORTURE_OVERWRITE | TORTURE_NO_READER },
	{ "overwriting, looked at meanwhile",	TORTURE_OVERWRITE | TORTURE_PEEK },
	{ "dropping, resized",			TORTURE_RESIZE },
	{ "overwriting, resized",		TORTURE_OVERWRITE | TORTURE_RESIZE },
	{ "overwriting, switched on and off",	TORTURE_OVERWRITE | TORTURE_SWITCH },
	{ "overwriting, reset",			TORTURE_OVERWRITE | TORTURE_RESET },
	{ "overwriting, other sizes of pages",	TORTURE_OVERWRITE | TORTURE_ORDER },
	{ "overwriting, rings swapped",		TORTURE_OVERWRITE | TORTURE_NO_READER |
						TORTURE_SWAP },
	{ "dropping, a CPU comes and goes",	TORTURE_HOTPLUG },
	{ "overwriting, all that is counted",	TORTURE_OVERWRITE | TORTURE_PAGE_READER |
						TORTURE_RESIZE | TORTURE_SWITCH |
						TORTURE_HOTPLUG },
};

/* Contexts; the last one is an event that is written while one of the task's is. */
enum {
	TORTURE_TASK, TORTURE_SOFTIRQ, TORTURE_HARDIRQ, TORTURE_NMI, TORTURE_NESTED,
	TORTURE_LEVELS
};

/* The last is the reader's, the others are the writer's. */
enum { TORTURE_COMMITTED, TORTURE_DISCARDED, TORTURE_FAILED, TORTURE_READ, TORTURE_COUNTS };

struct torture_stream {
	u64	count[TORTURE_COUNTS];
	/* The number of the event that was read last */
	u64	last;
};

struct torture_cpu {
	struct torture_stream	stream[TORTURE_LEVELS];
	struct rnd_state	random[TORTURE_LEVELS];
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	struct task_struct	*task;
	atomic_t		nmi_wanted;
	/* The spare ring has to be emptied. */
	bool			swapped;
	u64			last_time;
};

struct torture_event {
	u32	sum;
	u8	level;
	u8	words;
	u16	cpu;
	u64	number;
	u32	fill[];
};

static struct trace_buffer *torture_buffer;
/* Each CPU's interrupts swap its ring with the one there, which its task empties. */
static struct trace_buffer *torture_spare;
/* The CPUs of the test; the last one comes and goes. */
static struct cpumask torture_mask;
static DEFINE_PER_CPU(struct torture_cpu, torture_cpus);
static unsigned int torture_what;
/* An event that is being looked at stays, as trace_access_lock() sees to it elsewhere. */
static DEFINE_MUTEX(torture_access);
static bool torture_stops;
/* They can be sent. */
static bool torture_nmis;
static atomic_t torture_errors;
/* Swaps, changes of sizes, and events that were looked at, in a phase */
static atomic_t torture_changes;

#define torture_error(fmt, ...)						\
do {									\
	if (atomic_inc_return(&torture_errors) < 20)			\
		pr_err("error: " fmt, ##__VA_ARGS__);			\
} while (0)

/* Writing */

static u32 torture_sum(const struct torture_event *event)
{
	u32 sum = event->level + event->words * 31 + event->cpu * 1021 + (u32)event->number;

	for (unsigned int i = 0; i < event->words; i++)
		sum = rol32(sum, 5) ^ event->fill[i];
	return sum;
}

static void torture_write(struct torture_cpu *tc, unsigned int level)
{
	struct torture_stream *stream = &tc->stream[level];
	u32 random = prandom_u32_state(&tc->random[level]);
	/* Mostly short ones. */
	unsigned int words = random % 8 ? random / 8 % 16 : random / 8 % TORTURE_MAX_WORDS;
	struct ring_buffer_event *event;
	struct torture_event *data;

	event = ring_buffer_lock_reserve(torture_buffer, struct_size(data, fill, words));
	if (!event) {
		stream->count[TORTURE_FAILED]++;
		return;
	}
	data = ring_buffer_event_data(event);
	data->level = level;
	data->words = words;
	data->cpu = smp_processor_id();
	/* A discarded event has no number. */
	data->number = stream->count[TORTURE_COMMITTED] + 1;
	for (unsigned int i = 0; i < words; i++)
		data->fill[i] = random + i * 0x9e3779b9;
	data->sum = torture_sum(data);

	/* One that seems to be a recursion is let in: see rb_enter_nested(). */
	if (level == TORTURE_TASK && random >> 28 == 1)
		torture_write(tc, TORTURE_NESTED);
	if (random >> 28 == 2) {
		ring_buffer_discard_commit(torture_buffer, event);
		stream->count[TORTURE_DISCARDED]++;
	} else {
		ring_buffer_unlock_commit(torture_buffer);
		stream->count[TORTURE_COMMITTED]++;
	}
}

#ifdef CONFIG_X86_64
static int torture_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct torture_cpu *tc = this_cpu_ptr(&torture_cpus);

	if (!atomic_xchg(&tc->nmi_wanted, 0))
		return NMI_DONE;
	/* Off, and on again: both from here. */
	if (torture_what & TORTURE_SWITCH && !(prandom_u32_state(&tc->random[TORTURE_NMI]) % 64)) {
		ring_buffer_record_off(torture_buffer);
		torture_write(tc, TORTURE_NMI);
		ring_buffer_record_on(torture_buffer);
	}
	torture_write(tc, TORTURE_NMI);
	return NMI_HANDLED;
}

static bool torture_nmi_begin(void)
{
	return !register_nmi_handler(NMI_LOCAL, torture_nmi, 0, "ring_buffer_torture");
}

static void torture_nmi_end(void)
{
	unregister_nmi_handler(NMI_LOCAL, "ring_buffer_torture");
}

static void torture_send_nmi(struct torture_cpu *tc)
{
	atomic_set(&tc->nmi_wanted, 1);
	__apic_send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
}
#else
static bool torture_nmi_begin(void) { return false; }
static void torture_nmi_end(void) { }
static void torture_send_nmi(struct torture_cpu *tc) { }
#endif

/* From an interrupt, as the latency tracers do it: a writer may be about to begin. */
static void torture_swap(struct torture_cpu *tc)
{
	int ret = ring_buffer_swap_cpu(torture_buffer, torture_spare, smp_processor_id());

	if (!ret) {
		WRITE_ONCE(tc->swapped, true);
		atomic_inc(&torture_changes);
	} else if (ret != -EBUSY && ret != -EAGAIN) {
		torture_error("the rings cannot be swapped: %d\n", ret);
	}
}

static enum hrtimer_restart torture_timer(struct hrtimer *timer)
{
	struct torture_cpu *tc = container_of(timer, struct torture_cpu, timer);
	u32 random = prandom_u32_state(&tc->random[TORTURE_HARDIRQ]);

	if (READ_ONCE(torture_stops))
		return HRTIMER_NORESTART;
	if (random & 1)
		tasklet_schedule(&tc->tasklet);
	if (torture_nmis && random & 2)
		torture_send_nmi(tc);
	if (torture_spare && !tc->swapped)
		torture_swap(tc);
	torture_write(tc, TORTURE_HARDIRQ);
	hrtimer_forward_now(timer, ns_to_ktime(2000 + (random >> 2) % 100000));
	return HRTIMER_RESTART;
}

static void torture_softirq(struct tasklet_struct *tasklet)
{
	struct torture_cpu *tc = container_of(tasklet, struct torture_cpu, tasklet);
	unsigned int n = prandom_u32_state(&tc->random[TORTURE_SOFTIRQ]) % 8;

	while (n--)
		torture_write(tc, TORTURE_SOFTIRQ);
}

static bool torture_read(struct trace_buffer *buffer, int cpu);

/* A page of discarded events is there to be read, too. */
static void torture_read_all(struct trace_buffer *buffer, int cpu)
{
	for (unsigned int nothing = 0; nothing < 3;)
		nothing = torture_read(buffer, cpu) ? 0 : nothing + 1;
}

static int torture_task(void *data)
{
	struct torture_cpu *tc = this_cpu_ptr(&torture_cpus);

	hrtimer_start(&tc->timer, ns_to_ktime(1000), HRTIMER_MODE_REL_PINNED_HARD);
	while (!kthread_should_stop()) {
		unsigned int n = prandom_u32_state(&tc->random[TORTURE_TASK]) % 64;

		while (n--)
			torture_write(tc, TORTURE_TASK);
		if (READ_ONCE(tc->swapped)) {
			torture_read_all(torture_spare, smp_processor_id());
			WRITE_ONCE(tc->swapped, false);
		}
		/* Readers come nowhere otherwise, if there is one CPU. */
		usleep_range(50, 200);
	}
	hrtimer_cancel(&tc->timer);
	tasklet_kill(&tc->tasklet);
	return 0;
}

/* Reading */

static bool torture_is_event(int cpu, const struct torture_event *event, unsigned int length)
{
	if (length >= sizeof(*event) && length >= struct_size(event, fill, event->words) &&
	    event->cpu == cpu && event->level < TORTURE_LEVELS &&
	    event->sum == torture_sum(event))
		return true;
	torture_error("CPU %d: not what was written: %*ph\n", cpu, (int)min(length, 32U), event);
	return false;
}

static void torture_check(int cpu, const struct torture_event *event, unsigned int length, u64 time)
{
	struct torture_cpu *tc = per_cpu_ptr(&torture_cpus, cpu);
	struct torture_stream *stream;

	if (!torture_is_event(cpu, event, length))
		return;
	stream = &tc->stream[event->level];
	if (event->number <= stream->last)
		torture_error("CPU %d, level %u: %llu after %llu\n", cpu, event->level,
			      event->number, stream->last);
	if (time < tc->last_time)
		torture_error("CPU %d: time %llu after %llu\n", cpu, time, tc->last_time);
	tc->last_time = time;
	stream->last = event->number;
	stream->count[TORTURE_READ]++;
}

#define TORTURE_COMMIT_MASK	0xfffffffUL

static void torture_check_page(int cpu, const struct buffer_data_page *page, unsigned int from)
{
	unsigned int end = local_read(&page->commit) & TORTURE_COMMIT_MASK, at = 0, size;
	struct ring_buffer_event *event, *data;
	u64 time = page->time_stamp, delta;

	while (at < end) {
		event = (struct ring_buffer_event *)&page->data[at];
		data = rb_skip_time(event, &size, &delta);
		if (event->type_len == RINGBUF_TYPE_TIME_STAMP)
			time = rb_fix_abs_ts(event->time_delta |
					     (u64)event->array[0] << TS_SHIFT, time);
		time += delta;
		/* The page says that the rest of it is empty. */
		if (data->type_len == RINGBUF_TYPE_PADDING && !data->time_delta)
			break;
		if (data->type_len != RINGBUF_TYPE_PADDING && at >= from)
			torture_check(cpu, ring_buffer_event_data(data),
				      ring_buffer_event_length(data), time);
		at += size + rb_data_size(data);
	}
	if (at != end)
		torture_error("CPU %d: a page ends at %u, not %u\n", cpu, at, end);
}

static bool torture_read_page(struct trace_buffer *buffer, int cpu)
{
	struct buffer_data_read_page *page;
	int from;

	if (ring_buffer_alloc_read_page(buffer, cpu, &page))
		return false;
	from = ring_buffer_read_page(buffer, page, ring_buffer_subbuf_size_get(buffer), cpu, 0);
	if (from >= 0)
		torture_check_page(cpu, ring_buffer_read_page_data(page), from);
	ring_buffer_free_read_page(buffer, cpu, page);
	return from >= 0;
}

static bool torture_read(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_event *event;
	u64 time;

	if (torture_what & TORTURE_PAGE_READER)
		return torture_read_page(buffer, cpu);
	guard(mutex)(&torture_access);
	event = ring_buffer_consume(buffer, cpu, &time, NULL);
	if (event)
		torture_check(cpu, ring_buffer_event_data(event), ring_buffer_event_length(event),
			      time);
	return event;
}

/* The last events that were looked at. */
struct torture_peek {
	u64	number[TORTURE_LEVELS];
	u64	time;
};

/* They come in their order, without a gap, except where the writer has come to the page. */
static void torture_check_peek(struct torture_peek *last, int cpu,
			       const struct torture_event *event, unsigned int length, u64 time)
{
	u64 before;
	bool strict;

	if (!torture_is_event(cpu, event, length))
		return;
	before = last->number[event->level];
	/* Nothing else changes the ring. */
	strict = before && torture_what == (TORTURE_OVERWRITE | TORTURE_PEEK);
	if (event->number <= before || (strict && event->number != before + 1))
		torture_error("CPU %d, level %u: %llu looked at after %llu\n", cpu, event->level,
			      event->number, before);
	if (time < last->time)
		torture_error("CPU %d: time %llu looked at after %llu\n", cpu, time, last->time);
	last->number[event->level] = event->number;
	last->time = time;
}

/* Looks at events that stay where they are. Returns whether there was one. */
static bool torture_peek(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(buffer, cpu, GFP_KERNEL);
	struct torture_peek last = { };
	struct ring_buffer_event *event;
	unsigned int nr = 0;
	u64 time;

	if (!iter)
		return false;
	for (; nr < TORTURE_PEEKS; nr++) {
		event = ring_buffer_iter_peek(iter, &time);
		if (!event)
			break;
		if (ring_buffer_iter_dropped(iter))
			last = (struct torture_peek) { };
		torture_check_peek(&last, cpu, ring_buffer_event_data(event),
				   ring_buffer_event_length(event), time);
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
	atomic_add(nr, &torture_changes);
	return nr;
}

static int torture_reader(void *data)
{
	int cpu;

	while (!kthread_should_stop()) {
		bool any = false;

		for_each_cpu(cpu, &torture_mask)
			any |= torture_what & TORTURE_PEEK ? torture_peek(torture_buffer, cpu) :
							     torture_read(torture_buffer, cpu);
		if (!any)
			usleep_range(20, 100);
		cond_resched();
	}
	return 0;
}

/* CPUs */

static int torture_start_cpu(int cpu)
{
	struct task_struct *task = kthread_run_on_cpu(torture_task, NULL, cpu, "rb_torture/%u");

	per_cpu(torture_cpus.task, cpu) = task;
	return PTR_ERR_OR_ZERO(task);
}

static void torture_stop_cpu(int cpu)
{
	struct task_struct *task = per_cpu(torture_cpus.task, cpu);

	if (!IS_ERR_OR_NULL(task))
		kthread_stop(task);
	per_cpu(torture_cpus.task, cpu) = NULL;
}

/* Its ring stays, and is read. One that a buffer was made without comes with its CPU. */
static void torture_hotplug(void)
{
	unsigned int cpu = cpumask_last(&torture_mask);
	int ret;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		return;
	if (cpu_online(cpu)) {
		torture_stop_cpu(cpu);
		ret = remove_cpu(cpu);
	} else {
		ret = add_cpu(cpu) ?: torture_start_cpu(cpu);
	}
	if (ret)
		torture_error("CPU %u does not come or go: %d\n", cpu, ret);
}

/* Work beside the writing */

static void torture_disturb(struct rnd_state *random)
{
	/* A page holds less than its size: two of them at least */
	unsigned long pages = 1 + prandom_u32_state(random) % (2 * TORTURE_PAGES);
	int cpu = cpumask_nth(prandom_u32_state(random) % num_online_cpus(), cpu_online_mask);

	if (torture_what & TORTURE_RESIZE &&
	    ring_buffer_resize(torture_buffer, pages * PAGE_SIZE,
			       pages % 2 ? cpu : RING_BUFFER_ALL_CPUS) >= 0)
		atomic_inc(&torture_changes);
	if (torture_what & TORTURE_SWITCH) {
		ring_buffer_record_disable_cpu(torture_buffer, cpu);
		ring_buffer_record_disable(torture_buffer);
		ring_buffer_record_enable_cpu(torture_buffer, cpu);
		ring_buffer_record_enable(torture_buffer);
	}
	if (torture_what & TORTURE_RESET)
		ring_buffer_reset_cpu(torture_buffer, cpu);
	if (torture_what & TORTURE_ORDER) {
		guard(mutex)(&torture_access);
		if (!ring_buffer_subbuf_order_set(torture_buffer, pages % 3))
			atomic_inc(&torture_changes);
	}
	if (torture_what & TORTURE_HOTPLUG)
		torture_hotplug();
}

/* Judging */

static unsigned long torture_count(unsigned long (*count)(struct trace_buffer *, int), int cpu)
{
	return count(torture_buffer, cpu) + (torture_spare ? count(torture_spare, cpu) : 0);
}

static void torture_add(int cpu, u64 sum[TORTURE_COUNTS])
{
	const struct torture_stream *stream = per_cpu_ptr(&torture_cpus, cpu)->stream;

	for (unsigned int i = 0; i < TORTURE_LEVELS; i++)
		for (unsigned int c = 0; c < TORTURE_COUNTS; c++)
			sum[c] += stream[i].count[c];
}

static void torture_sums(int cpu)
{
	const struct torture_stream *stream = per_cpu_ptr(&torture_cpus, cpu)->stream;
	unsigned long overrun = torture_count(ring_buffer_overrun_cpu, cpu);
	unsigned long dropped = torture_count(ring_buffer_dropped_events_cpu, cpu);
	unsigned long full = torture_count(ring_buffer_commit_overrun_cpu, cpu);
	unsigned long left = torture_count(ring_buffer_entries_cpu, cpu);
	u64 sum[TORTURE_COUNTS] = { };

	torture_add(cpu, sum);
	for (unsigned int i = 0; i < TORTURE_LEVELS; i++)
		if (!stream[i].count[TORTURE_COMMITTED] && (i != TORTURE_NMI || torture_nmis))
			torture_error("CPU %d, level %u: nothing was written\n", cpu, i);
	if (sum[TORTURE_COMMITTED] != sum[TORTURE_READ] + overrun)
		torture_error("CPU %d: %llu committed, %llu read, %lu overrun\n", cpu,
			      sum[TORTURE_COMMITTED], sum[TORTURE_READ], overrun);
	if (!(torture_what & TORTURE_DISABLES) && sum[TORTURE_FAILED] != dropped + full)
		torture_error("CPU %d: %llu failed, %lu dropped, %lu as the ring was full\n", cpu,
			      sum[TORTURE_FAILED], dropped, full);
	if (left)
		torture_error("CPU %d: %lu entries in an empty ring\n", cpu, left);
}

static void torture_tell(const char *name)
{
	u64 sum[TORTURE_COUNTS] = { };
	int cpu;

	for_each_cpu(cpu, &torture_mask)
		torture_add(cpu, sum);
	pr_info("%s: %llu events, %llu read, %llu discarded, %llu not recorded\n", name,
		sum[TORTURE_COMMITTED], sum[TORTURE_READ], sum[TORTURE_DISCARDED],
		sum[TORTURE_FAILED]);
}

static void torture_init_cpu(int cpu)
{
	struct torture_cpu *tc = per_cpu_ptr(&torture_cpus, cpu);

	memset(tc, 0, sizeof(*tc));
	for (unsigned int i = 0; i < TORTURE_LEVELS; i++)
		prandom_seed_state(&tc->random[i], seed++);
	hrtimer_setup(&tc->timer, torture_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	tasklet_setup(&tc->tasklet, torture_softirq);
}

static int torture_run(void)
{
	unsigned long end = jiffies + seconds * HZ;
	struct task_struct *reader = NULL;
	struct rnd_state random;
	int cpu, ret = 0;

	for_each_cpu(cpu, &torture_mask)
		torture_init_cpu(cpu);
	if (!(torture_what & TORTURE_NO_READER)) {
		reader = kthread_run(torture_reader, NULL, "rb_torture_reader");
		ret = PTR_ERR_OR_ZERO(reader);
	}
	for_each_online_cpu(cpu)
		ret = ret ?: torture_start_cpu(cpu);
	prandom_seed_state(&random, seed++);
	while (!ret && time_before(jiffies, end)) {
		torture_disturb(&random);
		usleep_range(1000, 10000);
	}

	WRITE_ONCE(torture_stops, true);
	for_each_cpu(cpu, &torture_mask)
		torture_stop_cpu(cpu);
	if (!IS_ERR_OR_NULL(reader))
		kthread_stop(reader);
	torture_stops = false;
	return ret;
}

static int torture_phase(const char *name, unsigned int what)
{
	unsigned int flags = what & TORTURE_OVERWRITE ? RB_FL_OVERWRITE : 0;
	int cpu, ret = -ENOMEM;

	torture_what = what;
	/* The buffer is made without it. */
	if (what & TORTURE_HOTPLUG)
		torture_hotplug();
	torture_buffer = ring_buffer_alloc(TORTURE_PAGES * PAGE_SIZE, flags);
	if (what & TORTURE_SWAP)
		torture_spare = ring_buffer_alloc(TORTURE_PAGES * PAGE_SIZE, flags);
	if (torture_buffer && (torture_spare || !(what & TORTURE_SWAP)))
		ret = torture_run();
	if (!cpu_online(cpumask_last(&torture_mask)))
		torture_hotplug();
	torture_stop_cpu(cpumask_last(&torture_mask));
	for_each_cpu(cpu, &torture_mask) {
		if (ret)
			break;
		if (torture_spare)
			torture_read_all(torture_spare, cpu);
		torture_read_all(torture_buffer, cpu);
		if (!(what & TORTURE_UNCOUNTED))
			torture_sums(cpu);
	}
	torture_tell(name);
	if (!atomic_xchg(&torture_changes, 0) && what & TORTURE_CHANGES && !ret)
		torture_error("%s: nothing has changed\n", name);
	if (torture_buffer)
		ring_buffer_free(torture_buffer);
	if (torture_spare)
		ring_buffer_free(torture_spare);
	torture_spare = NULL;
	return ret;
}

static int __init torture_init(void)
{
	int ret = 0;

	cpumask_copy(&torture_mask, cpu_online_mask);
	torture_nmis = torture_nmi_begin();
	for (unsigned int i = 0; !ret && i < ARRAY_SIZE(torture_phases); i++)
		ret = torture_phase(torture_phases[i].name, torture_phases[i].what);
	if (torture_nmis)
		torture_nmi_end();

	if (!ret && atomic_read(&torture_errors))
		ret = -EIO;
	pr_info("%s\n", ret ? "FAILED" : "PASSED");
	return ret;
}
module_init(torture_init);

static void __exit torture_exit(void)
{
}
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture test of the ring buffer");
MODULE_LICENSE("GPL");
