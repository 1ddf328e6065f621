// SPDX-License-Identifier: GPL-2.0
/*
 * What a traced call costs on this machine, for the guard (trace_guard.c).
 *
 * The caller serializes the use of guard_buffer.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "ftrace_ops.h"
#include "trace.h"
#include "trace_guard_cost.h"
#include "trace_record.h"

/* Something that is traced, and does next to nothing. */
#define GUARD_EXAMPLE		jiffies_to_msecs
#define GUARD_CALLS		256
#define GUARD_TRIES		16

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

/* The least time of so many calls, in nanoseconds. */
static u64 guard_time_calls(void)
{
	unsigned int (*example)(unsigned long j) = GUARD_EXAMPLE;
	u64 least = U64_MAX;

	/* Called as it is, whatever the compiler knows of it. */
	OPTIMIZER_HIDE_VAR(example);
	for (unsigned int try = 0; try < GUARD_TRIES; try++) {
		u64 start, time;

		guard(irqsave)();
		start = ktime_get_mono_fast_ns();
		for (unsigned int i = 0; i < GUARD_CALLS; i++)
			example(i);
		time = ktime_get_mono_fast_ns() - start;
		least = min(least, time);
	}
	return least;
}

static u64 guard_picoseconds(u64 with, u64 without)
{
	return with > without ? div_u64((with - without) * 1000, GUARD_CALLS) : 0;
}

static int guard_measure_func(u64 without, u64 *cost)
{
	struct ftrace_ops *ops __free(kfree) = kzalloc(sizeof(*ops), GFP_KERNEL);
	int ret;

	if (!ops)
		return -ENOMEM;
	ops->func = guard_write_entry;
	ret = ftrace_set_filter_ip(ops, (unsigned long)GUARD_EXAMPLE, 0, 0) ?:
	      register_ftrace_function(ops);
	if (!ret) {
		*cost = guard_picoseconds(guard_time_calls(), without);
		unregister_ftrace_function(ops);
	}
	ftrace_free_filter(ops);
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

static int guard_measure_probe(u64 without, u64 *cost)
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
	*cost = guard_picoseconds(guard_time_calls(), without);
	unregister_kprobe(probe);
	return 0;
}
#else
static int guard_measure_probe(u64 without, u64 *cost)
{
	return 0;
}
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* By the tracer's own functions, as an instance that only has a buffer. */
static int guard_measure_graph(u64 without, u64 *cost)
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
	tr->gops->ops.guarded = FTRACE_GUARDED_NOT;
	ret = ftrace_set_filter_ip(ops, (unsigned long)GUARD_EXAMPLE, 0, 0) ?:
	      register_ftrace_graph(tr->gops);
	if (!ret) {
		*cost = guard_picoseconds(guard_time_calls(), without);
		unregister_ftrace_graph(tr->gops);
	}
	free_fgraph_ops(tr);
	ftrace_free_filter(ops);
	return ret;
}
#else
static int guard_measure_graph(u64 without, u64 *cost)
{
	return 0;
}
#endif

/**
 * trace_guard_measure - find out what an event of each kind costs on this machine
 * @cost: gets picoseconds of a call, by ops->guarded
 *
 * A function is called with and without tracing, into a buffer that nobody sees.
 *
 * Context: process context, sleeps; the caller lets one at a time in. Registers an ops, a
 * kprobe and a graph user.
 * Return: 0; -ENODEV where all tracing is switched off; or why one of these cannot be
 * registered. On failure @cost may have been written, but for FTRACE_GUARDED_FUNCTION's.
 */
int trace_guard_measure(u64 *cost)
{
	u64 without, func = 0;
	int ret;

	guard_buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	if (!guard_buffer)
		return -ENOMEM;
	without = guard_time_calls();
	ret = guard_measure_graph(without, &cost[FTRACE_GUARDED_GRAPH]) ?:
	      guard_measure_probe(without, &cost[FTRACE_GUARDED_PROBE]) ?:
	      guard_measure_func(without, &func);
	ring_buffer_free(guard_buffer);
	guard_buffer = NULL;
	if (ret)
		return ret;
	/* Nothing was called if all tracing is switched off. */
	if (!func)
		return -ENODEV;
	cost[FTRACE_GUARDED_FUNCTION] = func;
	pr_info("a traced call costs %llu ps, with its return %llu, a probe's event %llu\n",
		func, cost[FTRACE_GUARDED_GRAPH], cost[FTRACE_GUARDED_PROBE]);
	return 0;
}
