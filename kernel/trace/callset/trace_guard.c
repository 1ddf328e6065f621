// SPDX-License-Identifier: GPL-2.0
/*
 * The guard: functions and events that an instance records too often leave its trace for a
 * time, so that tracing cannot bring the machine down. Documentation/trace/ftrace-callsets.rst
 * has its files and parameters.
 *
 * While an instance has a limit, each CPU takes a sample of about one in so many records,
 * where they are recorded: filtered tasks, CPUs and functions do not count. A sample is a
 * count in a small table of the instance and the CPU. Ten times a second a work scans the
 * tables of all CPUs, wherever it runs. It is queued while there are samples, and for a return that
 * is due, so it wakes no CPU of an idle machine otherwise; the first sample after that queues it.
 *
 * A function leaves by filter->throttled of the instance's ops, an event by a flag of its
 * file: see trace_event_throttle().
 *
 * Invariants:
 *  1. An instance has a struct trace_guard from its first limit until it goes.
 *  2. A function or event that is throttled has a row with @out set.
 *  3. A row's key is compared with live sites and files, and never followed. The site or file
 *     may go while it is throttled, and another may come to its address: guard_is_out() knows.
 *
 * Lock order:
 *	guard_mutex > event_mutex > trace_types_lock > ftrace_lock
 * guard_mutex covers the costs, which take long to measure; event_mutex the events that leave or
 * return; trace_types_lock limits, rows and the scans. Samples are the CPU's own; a scan reads them
 * and may lose one that is taken at that time.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "filter.h"
#include "ops.h"
#include "site_set.h"
#include "sites.h"
#include "../trace.h"
#include "trace_guard.h"

#define GUARD_PERIOD		(HZ / 10)
#define GUARD_PERIOD_NS		(NSEC_PER_SEC / 10)
/* A scan that has not come by then is queued by the next sample. */
#define GUARD_OVERDUE		(3 * GUARD_PERIOD / 2)
/* Something is back: is it still too much? */
#define GUARD_SOON		max(HZ / 100, 1)
/* Less says nothing of a rate. */
#define GUARD_MIN_NS		(5 * NSEC_PER_MSEC)
#define GUARD_MIN_PAUSE		(1ULL * NSEC_PER_SEC)
#define GUARD_MAX_PAUSE		(60ULL * NSEC_PER_SEC)

#define GUARD_MAX_STEP		128
/* So many samples of a scan are taken in each step. The next step is twice as long. */
#define GUARD_SAMPLES		64
#define GUARD_WAYS		8
#define GUARD_SLOTS		(64 * GUARD_WAYS)

enum guard_limit {
	GUARD_LIMIT_RATE,
	GUARD_LIMIT_OVERHEAD,
	GUARD_NR_LIMITS,
	GUARD_LIMIT_NONE = GUARD_NR_LIMITS,
	/* The files that are no limits. */
	GUARD_THROTTLED = GUARD_NR_LIMITS,
	GUARD_COSTS,
	GUARD_NR_FILES,
};

static const char * const guard_names[] = {
	[GUARD_LIMIT_RATE]	= "max_rate",
	[GUARD_LIMIT_OVERHEAD]	= "max_overhead",
	[GUARD_THROTTLED]	= "throttled",
	[GUARD_COSTS]		= "overhead_costs",
};

static const char * const guard_kinds[TRACE_GUARD_NONE] = {
	[TRACE_GUARD_FUNCTION]	= "function",
	[TRACE_GUARD_GRAPH]	= "function_graph",
	[TRACE_GUARD_EVENT]	= "event",
	[TRACE_GUARD_TIMES]	= "count-times",
};

/* The samples of a function or an event on a CPU */
struct guard_slot {
	unsigned long		key;	/* The site, or the address of the file; 0: it is free */
	enum trace_guard_kind	kind;	/* Of its records */
	u32			nr;	/* How many records the samples stand for, ever */
	u32			seen;	/* How many the scans have seen */
	u32			calls;	/* How many the last one saw first */
	u32			cost;	/* Nanoseconds that these took */
	enum guard_limit	over;	/* That for which it has to leave */
};

struct guard_cpu {
	struct guard_slot	slot[GUARD_SLOTS];
	struct guard_slot	rest[TRACE_GUARD_NONE];	/* That found no slot, by kind */
};

#define for_each_guard_slot(pos, gc)							\
	for ((pos) = (gc)->slot; (pos) < (gc)->slot + GUARD_SLOTS; (pos)++)

/* The limits of an instance */
struct trace_guard {
	struct trace_array		*tr;
	unsigned int			max[GUARD_NR_LIMITS];	/* 0 stands for no limit */
	u64				last;	/* When the samples were scanned last */
	u64				time;	/* How long this was after the scan before */
	struct list_head		rows;
	struct guard_cpu __percpu	*cpu;
};

/* A function or event that is throttled, or was not long ago */
struct guard_row {
	struct list_head	node;
	unsigned long		key;	/* As in a slot */
	bool			out;	/* It is throttled, as long as it is there */
	bool			moves;	/* It is to leave, or to return */
	u64			since;	/* When it left or returned */
	u64			pause;	/* For how long it leaves */
	u64			rate;	/* Records a second when it left, */
	unsigned int		cpu;	/* on this CPU, */
	u32			cost;	/* and hundredths of a percent of its time, if known */
	unsigned int		times;	/* How often it left */
	enum guard_limit	over;
	char			name[];	/* With its module in brackets; or the event */
};

/* How a CPU takes samples */
struct guard_steps {
	u32	random;		/* The last random number */
	u32	taken;		/* Samples since the last scan */
	bool	limited;	/* Some of them are of an instance with a limit */
};

static DEFINE_PER_CPU(struct guard_steps, guard_steps);

static DEFINE_MUTEX(guard_mutex);
/* Picoseconds of a record, less than 2^32; 0 until they are asked for. */
static u64 guard_cost[TRACE_GUARD_KINDS];

static struct workqueue_struct *guard_wq;
static void guard_scan(struct work_struct *work);
/*
 * While there are samples; the other is for a return. Where all is traced a scan is traced as well,
 * and is to wake no CPU for its own records; a sample elsewhere queues it if this one is put off.
 */
static DECLARE_DEFERRABLE_WORK(guard_work, guard_scan);
static DECLARE_DELAYED_WORK(guard_return_work, guard_scan);
/* In jiffies: until then the scans go on by themselves. */
static unsigned long guard_until;

/* Samples */

/* Also long after it, when jiffies have wrapped. */
static bool guard_asleep(void)
{
	return !time_in_range(jiffies, READ_ONCE(guard_until) - GUARD_OVERDUE,
			      READ_ONCE(guard_until));
}

static void guard_kick(struct irq_work *work)
{
	if (!guard_asleep())
		return;
	WRITE_ONCE(guard_until, jiffies + GUARD_OVERDUE);
	mod_delayed_work(guard_wq, &guard_work, 0);
}

/* Of each CPU, as one that keeps interrupts off runs its own only after that. */
static DEFINE_PER_CPU(struct irq_work, guard_kick_work) = IRQ_WORK_INIT_HARD(guard_kick);

static bool guard_has_limit(const struct trace_guard *guard)
{
	return READ_ONCE(guard->max[GUARD_LIMIT_RATE]) ||
	       READ_ONCE(guard->max[GUARD_LIMIT_OVERHEAD]);
}

/* So many records, in the mean, are between two samples: more where there are many. */
static u32 guard_step(u32 taken)
{
	return 1 << min(taken / GUARD_SAMPLES, ilog2(GUARD_MAX_STEP));
}

/* Records to the next sample: @step in the mean, so that no loop keeps time with it. */
static int guard_next(struct guard_steps *steps, u32 step)
{
	steps->random = steps->random * 1664525 + 1013904223;
	return 1 + (((u64)steps->random * (2 * step - 1)) >> 32);
}

/* The GUARD_WAYS slots of which a key can have one. */
static struct guard_slot *guard_ways(struct guard_cpu *gc, unsigned long key)
{
	return &gc->slot[hash_long(key, ilog2(GUARD_SLOTS / GUARD_WAYS)) * GUARD_WAYS];
}

static void guard_note(struct guard_cpu *gc, unsigned long key, enum trace_guard_kind kind, u32 nr)
{
	struct guard_slot *way = guard_ways(gc, key), *slot = NULL;

	for (unsigned int i = 0; i < GUARD_WAYS; i++) {
		if (READ_ONCE(way[i].key) == key) {
			slot = &way[i];
			break;
		}
		if (!slot && !READ_ONCE(way[i].key))
			slot = &way[i];
	}
	/* Each scan makes room for one: see guard_make_room(). */
	if (!slot)
		slot = &gc->rest[kind];
	WRITE_ONCE(slot->kind, kind);
	WRITE_ONCE(slot->key, key);
	WRITE_ONCE(slot->nr, slot->nr + nr);
}

/* trace_guard_sample() */
static void guard_sample(struct trace_array *tr, unsigned long key, enum trace_guard_kind kind)
{
	struct trace_guard *guard;
	struct guard_steps *steps;
	u32 taken;

	preempt_disable_notrace();
	steps = this_cpu_ptr(&guard_steps);
	taken = READ_ONCE(steps->taken);
	WRITE_ONCE(steps->taken, taken + 1);
	this_cpu_write(trace_guard_left, guard_next(steps, guard_step(taken + 1)));
	/* Its content before the pointer. Pairs with guard_get(). */
	guard = tr ? smp_load_acquire(&tr->callset.guard) : NULL;
	if (guard && guard_has_limit(guard)) {
		WRITE_ONCE(steps->limited, true);
		guard_note(this_cpu_ptr(guard->cpu), key, kind, guard_step(taken));
		/* One that goes offline runs no work. The next sample of another queues it. */
		if (guard_asleep() && cpu_online(raw_smp_processor_id()))
			irq_work_queue(this_cpu_ptr(&guard_kick_work));
	}
	preempt_enable_notrace();
}

/* Decisions */

static void guard_collect_slot(struct guard_slot *slot)
{
	u64 cost = READ_ONCE(guard_cost[READ_ONCE(slot->kind)]);

	slot->calls = READ_ONCE(slot->nr) - slot->seen;
	slot->seen += slot->calls;
	slot->cost = min(mul_u64_u64_div_u64(slot->calls, cost, 1000), U32_MAX);
	if (!slot->calls)
		WRITE_ONCE(slot->key, 0);
}

static void guard_collect(struct guard_cpu *gc)
{
	struct guard_slot *slot;

	for_each_guard_slot(slot, gc)
		guard_collect_slot(slot);
	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++)
		guard_collect_slot(&gc->rest[kind]);
}

/* Of each full group of slots, the one with the fewest records makes room for another. */
static void guard_make_room(struct guard_cpu *gc)
{
	for (unsigned int i = 0; i < GUARD_SLOTS; i += GUARD_WAYS) {
		struct guard_slot *least = &gc->slot[i];

		for (unsigned int way = 1; way < GUARD_WAYS; way++) {
			if (gc->slot[i + way].calls < least->calls)
				least = &gc->slot[i + way];
		}
		if (!least->calls)
			continue;
		WRITE_ONCE(least->key, 0);
		/* Those since then are not the other's. */
		least->seen = READ_ONCE(least->nr);
	}
}

/* What irqsoff records about sections has addresses that are no function's. */
static bool guard_can_leave(const struct guard_slot *slot)
{
	return slot->kind == TRACE_GUARD_EVENT || ftrace_location_range(slot->key, slot->key);
}

/*
 * The most expensive ones leave until the rest costs no more than @max. Part of that are those that
 * found no slot: if they alone cost more, all others make room for them.
 */
static void guard_shed(struct guard_cpu *gc, u64 max)
{
	struct guard_slot *slot;
	u64 sum = 0;

	for_each_guard_slot(slot, gc)
		sum += slot->over == GUARD_LIMIT_NONE ? slot->cost : 0;
	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++)
		sum += gc->rest[kind].cost;
	while (sum > max) {
		struct guard_slot *most = NULL;

		for_each_guard_slot(slot, gc) {
			if (slot->over == GUARD_LIMIT_NONE && slot->cost > (most ? most->cost : 0))
				most = slot;
		}
		if (!most)
			return;
		most->over = GUARD_LIMIT_OVERHEAD;
		if (guard_can_leave(most))
			sum -= most->cost;
	}
}

/* Of 40 slots that have to leave, one may have had bad luck with samples. */
static void guard_decide(const struct trace_guard *guard, struct guard_cpu *gc, u32 step)
{
	const unsigned int *max = guard->max;
	struct guard_slot *slot;
	/* Short bursts are no rate. */
	u64 most = mul_u64_u64_div_u64(max[GUARD_LIMIT_RATE], max(guard->time, GUARD_PERIOD_NS),
				       NSEC_PER_SEC);

	for_each_guard_slot(slot, gc) {
		u64 luck = step > 1 ? 2 * int_sqrt64((u64)slot->calls * step) : 0;

		slot->over = max[GUARD_LIMIT_RATE] && slot->calls > most + luck ?
			     GUARD_LIMIT_RATE : GUARD_LIMIT_NONE;
	}
	if (max[GUARD_LIMIT_OVERHEAD])
		guard_shed(gc, mul_u64_u64_div_u64(guard->time, max[GUARD_LIMIT_OVERHEAD], 100));
}

/* Leaving and returning */

static struct guard_row *guard_find(struct trace_guard *guard, unsigned long key)
{
	struct guard_row *row;

	list_for_each_entry(row, &guard->rows, node) {
		if (row->key == key)
			return row;
	}
	return NULL;
}

/* NULL if @key belongs to no event, or to one that is gone. */
static struct trace_event_file *guard_file(const struct trace_guard *guard, unsigned long key)
{
	struct trace_event_file *file;

	list_for_each_entry(file, &guard->tr->events, list) {
		if ((unsigned long)file == key)
			return file;
	}
	return NULL;
}

/* Whether a row is in force. Context: ftrace_lock is held. */
static bool guard_is_out(const struct trace_guard *guard, const struct guard_row *row)
{
	const struct trace_event_file *file;

	if (!row->out)
		return false;
	file = guard_file(guard, row->key);
	return file ? test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file->flags) :
		      ftrace_site_set_has(guard->tr->ops->filter->throttled, row->key);
}

/* Returns 0 if the function or event is gone. Context: ftrace_lock is held. */
static int guard_name(const struct trace_guard *guard, unsigned long key,
		      char name[KSYM_SYMBOL_LEN])
{
	const struct trace_event_file *file = guard_file(guard, key);

	KUNIT_STATIC_STUB_REDIRECT(guard_name, guard, key, name);
	if (file)
		return scnprintf(name, KSYM_SYMBOL_LEN, "%s:%s", file->event_call->class->system,
				 trace_event_name(file->event_call));
	return ftrace_site_find(key) ? scnprintf(name, KSYM_SYMBOL_LEN, "%ps", (void *)key) : 0;
}

static void guard_free_row(struct guard_row *row)
{
	list_del(&row->node);
	kfree(row);
}

/*
 * The row of what is to leave, made if there is none. NULL if it has left or is marked, if @key is
 * gone, or without memory. One that came to the address of another begins anew.
 */
static struct guard_row *guard_row(struct trace_guard *guard, unsigned long key)
{
	struct guard_row *row = guard_find(guard, key);
	char name[KSYM_SYMBOL_LEN];
	int len;

	/* Another CPU was first. Names take long to find. */
	if (row && row->moves)
		return NULL;

	guard(mutex)(&ftrace_lock);

	len = guard_name(guard, key, name);
	if (!len)
		return NULL;
	if (row && strcmp(row->name, name)) {
		guard_free_row(row);
		row = NULL;
	}
	if (!row) {
		row = kzalloc(struct_size(row, name, len + 1), GFP_KERNEL);
		if (!row)
			return NULL;
		row->key = key;
		memcpy(row->name, name, len);
		list_add_tail(&row->node, &guard->rows);
	}
	row->out = guard_is_out(guard, row);
	return row->out ? NULL : row;
}

static __printf(2, 3) void guard_tell(struct trace_guard *guard, const char *fmt, ...)
{
	char line[KSYM_SYMBOL_LEN + 128];
	va_list args;

	va_start(args, fmt);
	__trace_array_puts(guard->tr, _THIS_IP_, line, vscnprintf(line, sizeof(line), fmt, args));
	va_end(args);
}

static void guard_take(struct trace_guard *guard, struct guard_cpu *gc, unsigned int cpu)
{
	struct guard_slot *slot;

	for_each_guard_slot(slot, gc) {
		struct guard_row *row;

		row = slot->over == GUARD_LIMIT_NONE ? NULL : guard_row(guard, slot->key);
		if (!row)
			continue;
		row->moves = true;
		row->rate = mul_u64_u64_div_u64(slot->calls, NSEC_PER_SEC, guard->time);
		row->cost = mul_u64_u64_div_u64(slot->cost, 10000, guard->time);
		row->cpu = cpu;
		row->over = slot->over;
	}
}

/* Context: ftrace_lock is held. */
static int guard_move_sites(struct trace_guard *guard, struct ftrace_site_set *sites, bool out)
{
	struct ftrace_filter *filter = guard->tr->ops->filter;
	const struct guard_row *row;

	KUNIT_STATIC_STUB_REDIRECT(guard_move_sites, guard, sites, out);
	sites->nr = 0;
	list_for_each_entry(row, &guard->rows, node) {
		if (row->moves && (out ? !!ftrace_site_find(row->key) :
					 ftrace_site_set_has(filter->throttled, row->key)))
			sites->ip[sites->nr++] = row->key;
	}
	ftrace_site_set_sort(sites);
	return sites->nr ? ftrace_filter_throttle(filter, sites, out) : 0;
}

/* Events whose pause goes on may have come back with one that they share a probe with. */
static void guard_keep_out(struct trace_guard *guard)
{
	const struct guard_row *row;

	list_for_each_entry(row, &guard->rows, node) {
		struct trace_event_file *file = row->out ? guard_file(guard, row->key) : NULL;
		char name[KSYM_SYMBOL_LEN] = "";

		if (!file || test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file->flags))
			continue;
		/* It may be another one. */
		scoped_guard(mutex, &ftrace_lock)
			guard_name(guard, row->key, name);
		if (!strcmp(row->name, name))
			trace_event_throttle(file, true, false);
	}
}

/*
 * The rows that are marked leave or return. Returns how many there are, or an error: then the
 * functions, or some events, stay as they are until the next scan.
 */
static int guard_move(struct trace_guard *guard, bool out, u64 now)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;
	struct guard_row *row;
	int nr = 0, failed, ret;

	list_for_each_entry(row, &guard->rows, node)
		nr += row->moves;
	if (!nr)
		return 0;
	sites = ftrace_site_set_alloc(nr);

	scoped_guard(mutex, &ftrace_lock)
		failed = sites ? guard_move_sites(guard, sites, out) : -ENOMEM;
	ret = failed;
	list_for_each_entry(row, &guard->rows, node) {
		struct trace_event_file *file;
		int err = failed;

		if (!row->moves)
			continue;
		row->moves = false;
		file = guard_file(guard, row->key);
		if (file)
			err = trace_event_throttle(file, out, row->over == GUARD_LIMIT_OVERHEAD);
		/* A site's text may have gone since the row was marked. */
		else if (out && !ftrace_site_set_has(sites, row->key))
			continue;
		ret = err ?: ret;
		if (err)
			continue;
		row->out = out;
		row->since = now;
		if (!out)
			continue;
		row->pause = clamp(2 * row->pause, GUARD_MIN_PAUSE, GUARD_MAX_PAUSE);
		row->times++;
		guard_tell(guard, "%s is throttled: %llu records a second on CPU %u exceed %s",
			   row->name, row->rate, row->cpu, guard_names[row->over]);
	}
	if (!out)
		guard_keep_out(guard);
	return ret ?: nr;
}

/* When a row that is out returns, or another goes. */
static u64 guard_due(const struct guard_row *row)
{
	return row->since + (row->out ? row->pause : GUARD_MAX_PAUSE);
}

/*
 * Functions and events return: those of the name, if there is one ("" is all), otherwise those
 * whose pause is over. A row that need not be remembered any more goes. Returns as guard_move().
 */
static int guard_return(struct trace_guard *guard, const char *name, u64 now)
{
	struct guard_row *row, *next;

	list_for_each_entry_safe(row, next, &guard->rows, node) {
		row->moves = name ? row->out && (!*name || !strcmp(name, row->name)) :
				    now >= guard_due(row);
		if (row->moves && !row->out) {
			guard_free_row(row);
		} else if (row->moves && name) {
			/* The user's word counts for more than how often it left. */
			row->pause = 0;
			row->times = 0;
		}
	}
	return guard_move(guard, false, now);
}

/* Scans */

/* At the user's word. The records of before are judged by that, and count no more. */
static int guard_return_now(struct trace_guard *guard, const char *name)
{
	int cpu;

	for_each_possible_cpu(cpu)
		guard_collect(per_cpu_ptr(guard->cpu, cpu));
	return guard_return(guard, name, ktime_get_mono_fast_ns());
}

/* Scans the records of all CPUs. Returns the jiffies until the next return, if any. */
static unsigned long guard_scan_instance(struct trace_guard *guard, u64 now)
{
	unsigned long next = MAX_JIFFY_OFFSET;
	const struct guard_row *row;
	int cpu, ret;

	/* The clock may go back a little. */
	guard->time = now > guard->last ? now - guard->last : 0;
	if (guard->time >= GUARD_MIN_NS) {
		guard->last = now;
		for_each_possible_cpu(cpu) {
			struct guard_cpu *gc = per_cpu_ptr(guard->cpu, cpu);

			guard_collect(gc);
			guard_decide(guard, gc,
				     guard_step(READ_ONCE(per_cpu(guard_steps, cpu).taken)));
			guard_take(guard, gc, cpu);
			guard_make_room(gc);
			cond_resched();
		}
		guard_move(guard, true, now);
	}
	ret = guard_return(guard, NULL, now);
	if (ret)
		return ret > 0 ? GUARD_SOON : GUARD_PERIOD;
	list_for_each_entry(row, &guard->rows, node)
		next = min(next, nsecs_to_jiffies(guard_due(row) - now) + 1);
	return next;
}

/**
 * trace_guard_rate - how often a function is recorded
 * @tr: an instance
 * @ip: the function's site
 * @rate: set to the records a second at the last scan
 *
 * Context: trace_types_lock is held.
 * Return: whether the instance has limits, and had samples of the function.
 */
bool trace_guard_rate(const struct trace_array *tr, unsigned long ip, u64 *rate)
{
	const struct trace_guard *guard = tr->callset.guard;
	u64 calls = 0;
	int cpu;

	if (!guard || !guard_has_limit(guard) || guard->time < GUARD_MIN_NS)
		return false;
	for_each_possible_cpu(cpu) {
		const struct guard_slot *way = guard_ways(per_cpu_ptr(guard->cpu, cpu), ip);

		for (unsigned int i = 0; i < GUARD_WAYS; i++)
			calls += READ_ONCE(way[i].key) == ip ? way[i].calls : 0;
	}
	*rate = mul_u64_u64_div_u64(calls, NSEC_PER_SEC, guard->time);
	return calls;
}

/**
 * trace_guard_cost - the time that a record takes
 * @kind: its kind
 *
 * Return: picoseconds; 0 if they have not been measured.
 */
u64 trace_guard_cost(enum trace_guard_kind kind)
{
	return READ_ONCE(guard_cost[kind]);
}

/* Begins with short steps again. Returns whether there were samples, or it is too early to say. */
static bool guard_restart_steps(u64 now)
{
	static u64 last;
	bool any = false;
	int cpu;

	if (now < last + GUARD_MIN_NS)
		return true;
	for_each_possible_cpu(cpu) {
		struct guard_steps *steps = per_cpu_ptr(&guard_steps, cpu);

		any |= READ_ONCE(steps->limited);
		WRITE_ONCE(steps->limited, false);
		/* A sample that is taken now may undo this until the next scan. */
		WRITE_ONCE(steps->taken, 0);
	}
	last = now;
	return any;
}

static void guard_scan(struct work_struct *work)
{
	unsigned long next = MAX_JIFFY_OFFSET;
	struct trace_array *tr;
	u64 now;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	now = ktime_get_mono_fast_ns();
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->callset.guard)
			next = min(next, guard_scan_instance(tr->callset.guard, now));
	}
	if (guard_restart_steps(now)) {
		WRITE_ONCE(guard_until, jiffies + GUARD_OVERDUE);
		queue_delayed_work(guard_wq, &guard_work, GUARD_PERIOD);
	} else {
		WRITE_ONCE(guard_until, jiffies - 1);
	}
	if (next < MAX_JIFFY_OFFSET)
		mod_delayed_work(guard_wq, &guard_return_work, next);
}

/* Costs */

/* Measures the costs: all of them, or those that are not known yet, if there are any. */
static int guard_measure(bool all)
{
	u64 cost[TRACE_GUARD_KINDS] = { };
	bool unknown = false;
	int ret = 0;

	lockdep_assert_held(&guard_mutex);

	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++)
		unknown |= !guard_cost[kind] && trace_guard_has_kind(kind);
	if (all || unknown)
		ret = trace_guard_measure(cost);
	for (unsigned int kind = 0; !ret && kind < TRACE_GUARD_NONE; kind++) {
		if (all || !guard_cost[kind])
			WRITE_ONCE(guard_cost[kind], min(cost[kind], U32_MAX));
	}
	return ret;
}

/* @text: "KIND PICOSECONDS", or empty to measure all */
static int guard_set_cost(const char *text)
{
	char *copy __free(kfree) = kstrdup(text, GFP_KERNEL), *rest = copy;
	const char *word = strsep(&rest, " ");
	unsigned int cost;
	int kind;

	if (!word)
		return -ENOMEM;

	guard(mutex)(&guard_mutex);

	if (!*word)
		return guard_measure(true);
	kind = match_string(guard_kinds, TRACE_GUARD_NONE, word);
	if (kind < 0 || !rest || kstrtouint(skip_spaces(rest), 10, &cost) || !cost)
		return -EINVAL;
	WRITE_ONCE(guard_cost[kind], cost);
	return 0;
}

/* On and off */

/* The instance's guard, made with its first limit. Context: trace_types_lock is held. */
static struct trace_guard *guard_get(struct trace_array *tr)
{
	struct trace_guard *guard = tr->callset.guard;

	if (guard || !guard_wq)
		return guard;
	guard = kzalloc_obj(*guard);
	if (guard)
		guard->cpu = alloc_percpu(struct guard_cpu);
	if (!guard || !guard->cpu) {
		kfree(guard);
		return NULL;
	}
	guard->tr = tr;
	INIT_LIST_HEAD(&guard->rows);
	/* An instance that has traced no function yet. */
	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_init(tr->ops);
	/* Pairs with guard_sample(). */
	smp_store_release(&tr->callset.guard, guard);
	return guard;
}

static bool guard_parse(enum guard_limit limit, const char *text, unsigned int *max)
{
	return !kstrtouint(text, 10, max) && (limit != GUARD_LIMIT_OVERHEAD || *max <= 99);
}

static int guard_set(struct trace_array *tr, enum guard_limit limit, const char *text)
{
	struct trace_guard *guard;
	unsigned int max;
	bool had;
	int ret;

	if (!guard_parse(limit, text, &max))
		return -EINVAL;

	guard(mutex)(&guard_mutex);

	ret = limit == GUARD_LIMIT_OVERHEAD && max ? guard_measure(false) : 0;
	if (ret)
		return ret;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	guard = guard_get(tr);
	if (!guard)
		return -ENOMEM;
	had = guard_has_limit(guard);
	/*
	 * What left for a limit that goes returns. Samples from before a time without limits are
	 * not of the one that begins now.
	 */
	if (max ? !had : guard->max[limit]) {
		ret = guard_return_now(guard, "");
		if (ret < 0)
			return ret;
		guard->last = ktime_get_mono_fast_ns();
	}
	WRITE_ONCE(guard->max[limit], max);
	if (guard_has_limit(guard) > had)
		static_branch_inc(&trace_guard_on);
	else if (guard_has_limit(guard) < had)
		static_branch_dec(&trace_guard_on);
	return 0;
}

/**
 * trace_guard_forget - free the guard of an instance
 * @tr: the instance, which records nothing any more: no callback of it runs
 *
 * Context: trace_types_lock is held; sleeps.
 */
void trace_guard_forget(struct trace_array *tr)
{
	struct trace_guard *guard = tr->callset.guard;
	struct guard_row *row, *next;

	if (!guard)
		return;
	if (guard_has_limit(guard))
		static_branch_dec(&trace_guard_on);
	tr->callset.guard = NULL;
	list_for_each_entry_safe(row, next, &guard->rows, node)
		guard_free_row(row);
	free_percpu(guard->cpu);
	kfree(guard);
}

/**
 * trace_guard_tell_start - let the trace say that functions and events are missing from it
 * @tr: the instance, whose tracer starts
 *
 * Context: trace_types_lock is held.
 */
void trace_guard_tell_start(struct trace_array *tr)
{
	struct trace_guard *guard = tr->callset.guard;
	const struct guard_row *row;
	unsigned int nr = 0;

	if (!guard)
		return;
	scoped_guard(mutex, &ftrace_lock) {
		list_for_each_entry(row, &guard->rows, node)
			nr += guard_is_out(guard, row);
	}
	if (nr)
		guard_tell(guard, "%u functions and events are throttled", nr);
}

/* Files */

enum guard_error {
	GUARD_ERR_CLOCK = GUARD_NR_FILES,
	GUARD_ERR_OFF,
	GUARD_ERR_OTHER,
};

static const char * const guard_errs[] = {
	[GUARD_LIMIT_RATE]	= "Expected records a second",
	[GUARD_LIMIT_OVERHEAD]	= "Expected a percentage from 0 to 99",
	[GUARD_THROTTLED]	= "Not throttled",
	[GUARD_COSTS]		= "Expected one of the kinds, and picoseconds",
	[GUARD_ERR_CLOCK]	= "The clock is too coarse to measure the cost of a record",
	[GUARD_ERR_OFF]		= "All tracing is off: the cost of a record cannot be measured",
	[GUARD_ERR_OTHER]	= "It failed, and nothing is changed: see the error",
};

static const struct file_operations guard_fops[GUARD_NR_FILES];

static void guard_show_rows(struct seq_file *m, const struct trace_guard *guard)
{
	const struct guard_row *row;

	seq_puts(m, "# since until records-a-second percent CPU times name: limit\n");
	if (!guard)
		return;

	guard(mutex)(&ftrace_lock);

	list_for_each_entry(row, &guard->rows, node) {
		struct timespec64 since = ns_to_timespec64(row->since);
		struct timespec64 until = ns_to_timespec64(guard_due(row));

		if (guard_is_out(guard, row))
			seq_printf(m, "%lld.%06ld %lld.%06ld %llu %u.%02u %u %u %s: %s\n",
				   since.tv_sec, since.tv_nsec / NSEC_PER_USEC,
				   until.tv_sec, until.tv_nsec / NSEC_PER_USEC, row->rate,
				   row->cost / 100, row->cost % 100, row->cpu, row->times,
				   row->name, guard_names[row->over]);
	}
}

static void guard_show_costs(struct seq_file *m)
{
	seq_puts(m, "# kind picoseconds\n");
	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++)
		if (trace_guard_has_kind(kind))
			seq_printf(m, "%s %llu\n", guard_kinds[kind], READ_ONCE(guard_cost[kind]));
}

static int guard_show(struct seq_file *m, void *v)
{
	unsigned int file = m->file->f_op - guard_fops;
	const struct trace_array *tr = m->private;

	guard(mutex)(&trace_types_lock);

	if (file == GUARD_COSTS)
		guard_show_costs(m);
	else if (file == GUARD_THROTTLED)
		guard_show_rows(m, tr->callset.guard);
	else
		seq_printf(m, "%u\n", tr->callset.guard ? tr->callset.guard->max[file] : 0);
	return 0;
}

static int guard_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	ret = single_open(filp, guard_show, tr);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static int guard_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);
	return single_release(inode, filp);
}

static unsigned int guard_error(unsigned int file, int ret)
{
	if (ret == -EINVAL)
		return file;
	if (ret == -EAGAIN)
		return GUARD_ERR_CLOCK;
	return ret == -ENODEV ? GUARD_ERR_OFF : GUARD_ERR_OTHER;
}

static ssize_t guard_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char *buf __free(kfree) = cnt < KSYM_SYMBOL_LEN + 2 ? memdup_user_nul(ubuf, cnt) :
							      ERR_PTR(-E2BIG);
	struct trace_array *tr = file_inode(filp)->i_private;
	unsigned int file = filp->f_op - guard_fops;
	char *text;
	int ret;

	/* Nothing written is no empty line. */
	if (IS_ERR(buf) || !cnt)
		return PTR_ERR_OR_ZERO(buf);
	text = strim(buf);
	if (file == GUARD_THROTTLED) {
		guard(mutex)(&event_mutex);
		guard(mutex)(&trace_types_lock);
		ret = tr->callset.guard ? guard_return_now(tr->callset.guard, text) : 0;
		ret = ret || !*text ? ret : -EINVAL;
	} else if (file == GUARD_COSTS) {
		ret = guard_set_cost(text);
	} else {
		ret = guard_set(tr, file, text);
	}
	if (ret < 0) {
		tracing_log_err(tr, guard_names[file], text, (const char **)guard_errs,
				guard_error(file, ret), 0);
		return ret;
	}
	*ppos += cnt;
	return cnt;
}

static const struct file_operations guard_fops[] = {
	[0 ... GUARD_NR_FILES - 1] = {
		.open		= guard_open,
		.read		= seq_read,
		.write		= guard_write,
		.llseek		= tracing_lseek,
		.release	= guard_release,
	},
};

/**
 * trace_guard_create_files - make the files of the guard
 * @tr: the instance
 * @parent: its directory
 *
 * Context: sleeps.
 */
void trace_guard_create_files(struct trace_array *tr, struct dentry *parent)
{
	unsigned int nr = tr->flags & TRACE_ARRAY_FL_GLOBAL ? GUARD_NR_FILES : GUARD_COSTS;

	for (unsigned int i = 0; i < nr; i++)
		trace_create_file(guard_names[i], TRACE_MODE_WRITE, parent, tr, &guard_fops[i]);
}

/* Boot */

static char *guard_boot_text[GUARD_NR_LIMITS];

core_param(trace_max_rate, guard_boot_text[GUARD_LIMIT_RATE], charp, 0);
core_param(trace_max_overhead, guard_boot_text[GUARD_LIMIT_OVERHEAD], charp, 0);

/* @word: "[INSTANCE:]LIMIT" */
static void __init guard_set_at_boot(enum guard_limit limit, char *word)
{
	struct trace_array *tr = trace_get_global_array();
	char *max = strrchr(word, ':');
	int ret;

	if (max) {
		*max++ = '\0';
		tr = trace_array_find_get(word);
	}
	ret = tr ? guard_set(tr, limit, max ?: word) : -ENOENT;
	if (max)
		trace_array_put(tr);
	if (ret)
		pr_warn("no trace_%s=%s: %pe\n", guard_names[limit], word, ERR_PTR(ret));
}

/* By now time is told by a clock that is fine enough to measure with. */
static int __init guard_init(void)
{
	char *word;

	trace_guard_register(guard_sample);
	guard_wq = alloc_workqueue("trace_guard", WQ_UNBOUND | WQ_HIGHPRI, 1);
	for (unsigned int limit = 0; limit < GUARD_NR_LIMITS; limit++) {
		while ((word = strsep(&guard_boot_text[limit], ",")))
			guard_set_at_boot(limit, word);
	}
	return 0;
}
fs_initcall_sync(guard_init);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_guard_kunit.c"
#endif
