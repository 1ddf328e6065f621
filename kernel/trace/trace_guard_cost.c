// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a traced call on this machine, for the guard (trace_guard.c).
 *
 * The caller serializes the use of guard_buffer.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <kunit/static_stub.h>
#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "ftrace_ops.h"
#include "trace.h"
#include "trace_guard.h"
#include "trace_guard_cost.h"
#include "trace_record.h"

/* A function that is traced, and does next to nothing. */
#define GUARD_EXAMPLE		jiffies_to_msecs
#define GUARD_CALLS		256
#define GUARD_TRIES		16
#define GUARD_ROUNDS		3
#define GUARD_MAX_ROUNDS	16

static struct trace_buffer *guard_buffer;

static void guard_write_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct trace_record record;
	struct ftrace_entry *entry;

	preempt_disable_notrace();
	entry = trace_record_begin_at(&record, guard_buffer, sizeof(*entry), NULL);
	if (entry) {
		trace_record_entry(&entry->ent, trace_word_without(TRACE_FN, 1));
		entry->ip = ip;
		entry->parent_ip = parent_ip;
		trace_record_end(&record);
	}
	preempt_enable_notrace();
}

/**
 * trace_guard_clock - the clock that calls are timed with
 *
 * Context: any. KUnit tests put another clock here.
 * Return: nanoseconds since some time
 */
u64 trace_guard_clock(void)
{
	KUNIT_STATIC_STUB_REDIRECT(trace_guard_clock);
	return ktime_get_mono_fast_ns();
}

/* Time so many calls. @least: gets the time in nanoseconds if it is less. */
static void guard_time_calls(u64 *least)
{
	unsigned int (*example)(unsigned long j) = GUARD_EXAMPLE;

	/* Called as it is; the compiler knows its body. */
	OPTIMIZER_HIDE_VAR(example);
	for (unsigned int try = 0; try < GUARD_TRIES; try++) {
		u64 start, time;

		guard(irqsave)();
		start = trace_guard_clock();
		for (unsigned int i = 0; i < GUARD_CALLS; i++)
			example(i);
		time = trace_guard_clock() - start;
		*least = min(*least, time);
	}
}

static int guard_time_func(u64 *least)
{
	struct ftrace_ops *ops __free(kfree) = kzalloc(sizeof(*ops), GFP_KERNEL);
	int ret;

	if (!ops)
		return -ENOMEM;
	ops->func = guard_write_entry;
	ret = ftrace_set_filter_ip(ops, (unsigned long)GUARD_EXAMPLE, 0, 0) ?:
	      register_ftrace_function(ops);
	if (!ret) {
		guard_time_calls(least);
		unregister_ftrace_function(ops);
	}
	ftrace_free_filter(ops);
	/* All tracing is switched off. */
	if (!ret && !ring_buffer_entries(guard_buffer))
		ret = -ENODEV;
	return ret;
}

#ifdef CONFIG_KPROBES
/* In the way of an event that has to be asked whether to be recorded. */
static int guard_write_event(struct kprobe *probe, struct pt_regs *regs)
{
	struct kprobe_trace_entry_head *entry;
	struct ring_buffer_event *event;

	event = trace_buffer_lock_reserve(guard_buffer, TRACE_FN, sizeof(*entry),
					  tracing_gen_ctx());
	if (!event)
		return 0;
	entry = ring_buffer_event_data(event);
	entry->ip = (unsigned long)probe->addr;
	trace_buffer_unlock_commit_nostack(guard_buffer, event);
	return 0;
}

NOKPROBE_SYMBOL(guard_write_event);

static int guard_time_probe(u64 *least)
{
	struct kprobe *probe __free(kfree) = kzalloc(sizeof(*probe), GFP_KERNEL);
	int ret;

	if (!probe)
		return -ENOMEM;
	probe->addr = (kprobe_opcode_t *)GUARD_EXAMPLE;
	probe->pre_handler = guard_write_event;
	ret = register_kprobe(probe);
	if (ret)
		return ret;
	guard_time_calls(least);
	unregister_kprobe(probe);
	return 0;
}
#else
static int guard_time_probe(u64 *least)
{
	return 0;
}
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* By the tracer's own functions, as an instance that only has a buffer. */
static int guard_time_graph(u64 *least)
{
	struct trace_array *tr __free(kfree) = kzalloc(sizeof(*tr), GFP_KERNEL);
	struct ftrace_ops *ops __free(kfree) = kzalloc(sizeof(*ops), GFP_KERNEL);
	int ret;

	if (!tr || !ops)
		return -ENOMEM;
	tr->array_buffer.buffer = guard_buffer;
	ret = allocate_fgraph_ops(tr, ops);
	if (ret)
		return ret;
	tr->gops->ops.guarded = false;
	ret = ftrace_set_filter_ip(ops, (unsigned long)GUARD_EXAMPLE, 0, 0) ?:
	      register_ftrace_graph(tr->gops);
	if (!ret) {
		guard_time_calls(least);
		unregister_ftrace_graph(tr->gops);
	}
	free_fgraph_ops(tr);
	ftrace_free_filter(ops);
	return ret;
}
#else
static int guard_time_graph(u64 *least)
{
	return 0;
}
#endif

/* Each kind of event takes time. A kind that is not built has U64_MAX here. */
static bool guard_told_apart(const u64 *least)
{
	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++) {
		if (least[kind] <= least[TRACE_GUARD_NONE])
			return false;
	}
	return true;
}

/*
 * Fill in the times of calls without tracing (@least[TRACE_GUARD_NONE]) and with each kind of
 * event. All are taken again in each round, as other work of the machine may slow one of them
 * down for longer than its tries take.
 */
static int guard_time_all(u64 *least)
{
	for (unsigned int round = 0; round < GUARD_MAX_ROUNDS; round++) {
		int ret;

		guard_time_calls(&least[TRACE_GUARD_NONE]);
		ret = guard_time_func(&least[TRACE_GUARD_FUNCTION]) ?:
		      guard_time_graph(&least[TRACE_GUARD_GRAPH]) ?:
		      guard_time_probe(&least[TRACE_GUARD_EVENT]);
		if (ret)
			return ret;
		if (round + 1 >= GUARD_ROUNDS && guard_told_apart(least))
			return 0;
	}
	return -EAGAIN;
}

static u64 guard_picoseconds(u64 with, u64 without)
{
	return with < U64_MAX ? div_u64((with - without) * 1000, GUARD_CALLS) : 0;
}

/**
 * trace_guard_measure - find out the cost of an event of each kind on this machine
 * @cost: gets picoseconds of a call, by enum trace_guard_kind; 0 for a kind that is not built
 *
 * A function is called with and without tracing, into a buffer of its own.
 *
 * Context: process context, sleeps; the caller lets one at a time in. Registers an ops, a
 * kprobe and a graph user.
 * Return: 0; -ENODEV where all tracing is switched off; -EAGAIN if by the clock a traced call
 * took no longer than another; or why one of the users cannot be registered. On failure @cost
 * is as before.
 */
int trace_guard_measure(u64 *cost)
{
	u64 least[TRACE_GUARD_KINDS];
	int ret;

	memset64(least, U64_MAX, ARRAY_SIZE(least));
	guard_buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	if (!guard_buffer)
		return -ENOMEM;
	ret = guard_time_all(least);
	ring_buffer_free(guard_buffer);
	guard_buffer = NULL;
	if (ret)
		return ret;
	for (unsigned int kind = 0; kind < ARRAY_SIZE(least); kind++)
		cost[kind] = guard_picoseconds(least[kind], least[TRACE_GUARD_NONE]);
	pr_info("a traced call costs %llu ps, with its return %llu, a probe's event %llu\n",
		cost[TRACE_GUARD_FUNCTION], cost[TRACE_GUARD_GRAPH],
		cost[TRACE_GUARD_EVENT]);
	return 0;
}
