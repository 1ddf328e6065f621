// SPDX-License-Identifier: GPL-2.0
/*
 * Torture of the ring buffer: writers in every context of every CPU against a reader and
 * whatever changes the buffer. Loading the module runs it, and fails if the test does.
 *
 * Each event belongs to a stream: what one context of one CPU writes. It has its number in
 * the stream and a checksum. Events of one stream cannot interrupt each other, so
 *  - they are read in their order, and those of a CPU in the order of their time;
 *  - each one that was committed is either read or counted as overrun;
 *  - what could not be reserved is counted as dropped, or as lost to a full ring, unless
 *    recording was disabled.
 *
 * The phases differ in what happens beside the writing: see torture_phases[]. No CPU may come or
 * go meanwhile.
 */
#define pr_fmt(fmt) "ring_buffer_torture: " fmt

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
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

#define TORTURE_PAGES		16
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
};

/* What is lost without being counted. */
#define TORTURE_UNCOUNTED	(TORTURE_RESET | TORTURE_ORDER)

static const struct {
	const char	*name;
	unsigned int	what;
} torture_phases[] = {
	{ "dropping, events consumed",		0 },
	{ "dropping, pages read",		TORTURE_PAGE_READER },
	{ "overwriting, events consumed",	TORTURE_OVERWRITE },
	{ "overwriting, pages read",		TORTURE_OVERWRITE | TORTURE_PAGE_READER },
	{ "overwriting, read at the end",	TORTURE_OVERWRITE | TORTURE_NO_READER },
	{ "dropping, resized",			TORTURE_RESIZE },
	{ "overwriting, resized",		TORTURE_OVERWRITE | TORTURE_RESIZE },
	{ "overwriting, switched on and off",	TORTURE_OVERWRITE | TORTURE_SWITCH },
	{ "overwriting, reset",			TORTURE_OVERWRITE | TORTURE_RESET },
	{ "overwriting, other sizes of pages",	TORTURE_OVERWRITE | TORTURE_ORDER },
	{ "all but those two",			TORTURE_OVERWRITE | TORTURE_PAGE_READER |
						TORTURE_RESIZE | TORTURE_SWITCH },
};

/* Contexts; the last one is an event that is written while one of the task's is. */
enum {
	TORTURE_TASK, TORTURE_SOFTIRQ, TORTURE_HARDIRQ, TORTURE_NMI, TORTURE_NESTED,
	TORTURE_LEVELS
};

struct torture_stream {
	/* The writer's */
	u64	number;
	u64	committed;
	u64	discarded;
	u64	failed;
	/* The reader's: the last number, and how many */
	u64	last;
	u64	read;
};

struct torture_cpu {
	struct torture_stream	stream[TORTURE_LEVELS];
	struct rnd_state	random[TORTURE_LEVELS];
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	struct task_struct	*task;
	atomic_t		nmi_wanted;
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
static DEFINE_PER_CPU(struct torture_cpu, torture_cpus);
static unsigned int torture_what;
static bool torture_stops;
/* They can be sent. */
static bool torture_nmis;
static atomic_t torture_errors;

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

	stream->number++;
	event = ring_buffer_lock_reserve(torture_buffer, struct_size(data, fill, words));
	if (!event) {
		stream->failed++;
		return;
	}
	data = ring_buffer_event_data(event);
	data->level = level;
	data->words = words;
	data->cpu = smp_processor_id();
	data->number = stream->number;
	for (unsigned int i = 0; i < words; i++)
		data->fill[i] = random + i * 0x9e3779b9;
	data->sum = torture_sum(data);

	/* One that seems to be a recursion is let in: see rb_enter_nested(). */
	if (level == TORTURE_TASK && random >> 28 == 1)
		torture_write(tc, TORTURE_NESTED);
	if (random >> 28 == 2) {
		ring_buffer_discard_commit(torture_buffer, event);
		stream->discarded++;
	} else {
		ring_buffer_unlock_commit(torture_buffer);
		stream->committed++;
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

static int torture_task(void *data)
{
	struct torture_cpu *tc = this_cpu_ptr(&torture_cpus);

	hrtimer_start(&tc->timer, ns_to_ktime(1000), HRTIMER_MODE_REL_PINNED_HARD);
	while (!kthread_should_stop()) {
		unsigned int n = prandom_u32_state(&tc->random[TORTURE_TASK]) % 64;

		while (n--)
			torture_write(tc, TORTURE_TASK);
		/* Readers come nowhere otherwise, if there is one CPU. */
		usleep_range(50, 200);
	}
	hrtimer_cancel(&tc->timer);
	tasklet_kill(&tc->tasklet);
	return 0;
}

/* Reading */

static void torture_check(int cpu, const struct torture_event *event, unsigned int length, u64 time)
{
	struct torture_cpu *tc = per_cpu_ptr(&torture_cpus, cpu);
	struct torture_stream *stream;

	if (length < sizeof(*event) || length < struct_size(event, fill, event->words) ||
	    event->cpu != cpu || event->level >= TORTURE_LEVELS ||
	    event->sum != torture_sum(event)) {
		torture_error("CPU %d: not what was written: %*ph\n", cpu, (int)min(length, 32U),
			      event);
		return;
	}
	stream = &tc->stream[event->level];
	if (event->number <= stream->last)
		torture_error("CPU %d, level %u: %llu after %llu\n", cpu, event->level,
			      event->number, stream->last);
	if (time < tc->last_time)
		torture_error("CPU %d: time %llu after %llu\n", cpu, time, tc->last_time);
	tc->last_time = time;
	stream->last = event->number;
	stream->read++;
}

static bool torture_consume(int cpu)
{
	struct ring_buffer_event *event;
	u64 time;

	event = ring_buffer_consume(torture_buffer, cpu, &time, NULL);
	if (!event)
		return false;
	torture_check(cpu, ring_buffer_event_data(event), ring_buffer_event_length(event), time);
	return true;
}

/* The page as trace-cmd gets it: see ring_buffer_print_page_header(). */
struct torture_page {
	u64		time;
	local_t		commit;
	unsigned char	data[];
};

#define TORTURE_COMMIT_MASK	0xfffffffUL

static void torture_check_page(int cpu, const struct torture_page *page, unsigned int from)
{
	unsigned int end = local_read(&page->commit) & TORTURE_COMMIT_MASK, at = 0, length;
	struct ring_buffer_event *event;
	u64 time = page->time;

	while (at < end) {
		event = (struct ring_buffer_event *)&page->data[at];
		length = sizeof(u32);
		switch (event->type_len) {
		case RINGBUF_TYPE_PADDING:
			if (!event->time_delta) {
				torture_error("CPU %d: a page ends at %u, not %u\n", cpu, at, end);
				return;
			}
			time += event->time_delta == 1 ? 0 : event->time_delta;
			length += event->array[0];
			break;
		case RINGBUF_TYPE_TIME_EXTEND:
			time += event->time_delta + ((u64)event->array[0] << 27);
			length += sizeof(u32);
			break;
		case RINGBUF_TYPE_TIME_STAMP:
			time = (time & ~GENMASK_ULL(58, 0)) | event->time_delta |
			       (u64)event->array[0] << 27;
			length += sizeof(u32);
			break;
		default:
			time += event->time_delta;
			length += event->type_len ? event->type_len * 4 : event->array[0];
			if (at >= from)
				torture_check(cpu, ring_buffer_event_data(event),
					      ring_buffer_event_length(event), time);
		}
		at += length;
	}
	if (at != end)
		torture_error("CPU %d: a page ends at %u, not %u\n", cpu, at, end);
}

static bool torture_read_page(int cpu)
{
	struct buffer_data_read_page *page;
	int from;

	if (ring_buffer_alloc_read_page(torture_buffer, cpu, &page))
		return false;
	from = ring_buffer_read_page(torture_buffer, page,
				     ring_buffer_subbuf_size_get(torture_buffer), cpu, 0);
	if (from >= 0)
		torture_check_page(cpu, ring_buffer_read_page_data(page), from);
	ring_buffer_free_read_page(torture_buffer, cpu, page);
	return from >= 0;
}

static bool torture_read(int cpu)
{
	return torture_what & TORTURE_PAGE_READER ? torture_read_page(cpu) : torture_consume(cpu);
}

static int torture_reader(void *data)
{
	int cpu;

	while (!kthread_should_stop()) {
		bool any = false;

		for_each_online_cpu(cpu)
			any |= torture_read(cpu);
		if (!any)
			usleep_range(20, 100);
		cond_resched();
	}
	return 0;
}

/* What else happens */

static void torture_disturb(struct rnd_state *random)
{
	unsigned long pages = 2 + prandom_u32_state(random) % (2 * TORTURE_PAGES);
	int cpu = cpumask_any_distribute(cpu_online_mask);

	if (torture_what & TORTURE_RESIZE)
		ring_buffer_resize(torture_buffer, pages * PAGE_SIZE,
				   pages % 2 ? cpu : RING_BUFFER_ALL_CPUS);
	if (torture_what & TORTURE_SWITCH) {
		ring_buffer_record_disable_cpu(torture_buffer, cpu);
		ring_buffer_record_disable(torture_buffer);
		ring_buffer_record_enable_cpu(torture_buffer, cpu);
		ring_buffer_record_enable(torture_buffer);
	}
	if (torture_what & TORTURE_RESET)
		ring_buffer_reset_cpu(torture_buffer, cpu);
	if (torture_what & TORTURE_ORDER)
		ring_buffer_subbuf_order_set(torture_buffer, pages % 3);
}

/* Judging */

static void torture_sums(int cpu)
{
	struct torture_cpu *tc = per_cpu_ptr(&torture_cpus, cpu);
	unsigned long overrun = ring_buffer_overrun_cpu(torture_buffer, cpu);
	unsigned long dropped = ring_buffer_dropped_events_cpu(torture_buffer, cpu);
	unsigned long full = ring_buffer_commit_overrun_cpu(torture_buffer, cpu);
	u64 committed = 0, failed = 0, read = 0;

	for (unsigned int i = 0; i < TORTURE_LEVELS; i++) {
		committed += tc->stream[i].committed;
		failed += tc->stream[i].failed;
		read += tc->stream[i].read;
		if (!tc->stream[i].committed && (i != TORTURE_NMI || torture_nmis))
			torture_error("CPU %d, level %u: nothing was written\n", cpu, i);
	}
	if (committed != read + overrun)
		torture_error("CPU %d: %llu committed, %llu read, %lu overrun\n", cpu, committed,
			      read, overrun);
	if (!(torture_what & (TORTURE_SWITCH | TORTURE_RESIZE)) && failed != dropped + full)
		torture_error("CPU %d: %llu failed, %lu dropped, %lu as the ring was full\n", cpu,
			      failed, dropped, full);
	if (ring_buffer_entries_cpu(torture_buffer, cpu))
		torture_error("CPU %d: %lu entries in an empty ring\n", cpu,
			      ring_buffer_entries_cpu(torture_buffer, cpu));
}

static void torture_tell(const char *name)
{
	u64 sum[4] = { };
	int cpu;

	for_each_online_cpu(cpu) {
		struct torture_stream *stream = per_cpu_ptr(&torture_cpus, cpu)->stream;

		for (unsigned int i = 0; i < TORTURE_LEVELS; i++) {
			sum[0] += stream[i].committed;
			sum[1] += stream[i].read;
			sum[2] += stream[i].discarded;
			sum[3] += stream[i].failed;
		}
	}
	pr_info("%s: %llu events, %llu read, %llu discarded, %llu not recorded\n", name, sum[0],
		sum[1], sum[2], sum[3]);
}

static void torture_init_cpu(int cpu)
{
	struct torture_cpu *tc = per_cpu_ptr(&torture_cpus, cpu);

	memset(tc, 0, sizeof(*tc));
	for (unsigned int i = 0; i < TORTURE_LEVELS; i++)
		prandom_seed_state(&tc->random[i], seed++);
	hrtimer_init(&tc->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	tc->timer.function = torture_timer;
	tasklet_setup(&tc->tasklet, torture_softirq);
	tc->task = kthread_create_on_cpu(torture_task, NULL, cpu, "rb_torture/%u");
}

static int torture_run(void)
{
	unsigned long end = jiffies + seconds * HZ;
	struct task_struct *reader = NULL;
	struct rnd_state random;
	int cpu, ret = 0;

	for_each_online_cpu(cpu) {
		torture_init_cpu(cpu);
		if (IS_ERR(per_cpu(torture_cpus, cpu).task))
			ret = PTR_ERR(per_cpu(torture_cpus, cpu).task);
	}
	if (!ret && !(torture_what & TORTURE_NO_READER)) {
		reader = kthread_run(torture_reader, NULL, "rb_torture_reader");
		ret = PTR_ERR_OR_ZERO(reader);
	}
	for_each_online_cpu(cpu) {
		if (!ret)
			wake_up_process(per_cpu(torture_cpus, cpu).task);
	}
	prandom_seed_state(&random, seed++);
	while (!ret && time_before(jiffies, end)) {
		torture_disturb(&random);
		usleep_range(1000, 10000);
	}

	WRITE_ONCE(torture_stops, true);
	for_each_online_cpu(cpu) {
		if (!IS_ERR(per_cpu(torture_cpus, cpu).task))
			kthread_stop(per_cpu(torture_cpus, cpu).task);
	}
	if (!IS_ERR_OR_NULL(reader))
		kthread_stop(reader);
	torture_stops = false;
	return ret;
}

static int torture_phase(const char *name, unsigned int what)
{
	int cpu, ret;

	torture_what = what;
	torture_buffer = ring_buffer_alloc(TORTURE_PAGES * PAGE_SIZE,
					   what & TORTURE_OVERWRITE ? RB_FL_OVERWRITE : 0);
	if (!torture_buffer)
		return -ENOMEM;
	ret = torture_run();
	for_each_online_cpu(cpu) {
		/* A page that was closed without an event is there to be read, too. */
		for (unsigned int nothing = 0; !ret && nothing < 3;)
			nothing = torture_read(cpu) ? 0 : nothing + 1;
		if (!ret && !(what & TORTURE_UNCOUNTED))
			torture_sums(cpu);
	}
	torture_tell(name);
	ring_buffer_free(torture_buffer);
	return ret;
}

static int __init torture_init(void)
{
	int ret = 0;

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
