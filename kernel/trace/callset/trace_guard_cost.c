// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a record on this machine, for the guard (trace_guard.c).
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>
#include <linux/types.h>

#include "ops.h"
#include "times.h"
#include "trace_guard.h"
#include "../trace.h"
#include "../trace_record.h"

/* A function that is traced for any HZ, and does next to nothing. */
#define GUARD_EXAMPLE		jiffies_to_clock_t
#define GUARD_CALLS		256
#define GUARD_ROUNDS		3
#define GUARD_MAX_ROUNDS	16

/**
 * trace_guard_measured - the time that counts for a measured one
 * @time: in nanoseconds
 *
 * Context: process. KUnit tests put another function here.
 * Return: @time
 */
u64 trace_guard_measured(u64 time)
{
	KUNIT_STATIC_STUB_REDIRECT(trace_guard_measured, time);
	return time;
}

/*
 * No trace is to get records of these calls: there are so many that they could fill it. This CPU's
 * rings come back when the same are let in; a snapshot may have swapped the instance's meanwhile.
 */
static void guard_keep_records_out(bool out)
{
	int cpu = smp_processor_id();
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (out) {
			tr->callset.kept_out = tr->array_buffer.buffer;
			ring_buffer_record_disable_cpu(tr->callset.kept_out, cpu);
		} else {
			ring_buffer_record_enable_cpu(tr->callset.kept_out, cpu);
		}
	}
}

/* Time so many calls. Returns nanoseconds. */
static u64 guard_time_once(void)
{
	clock_t (*example)(unsigned long x) = GUARD_EXAMPLE;
	u64 start, time;
	int left;

	/* Called as it is; the compiler knows its body. */
	OPTIMIZER_HIDE_VAR(example);
	guard(irqsave)();
	guard_keep_records_out(true);
	/* And no instance has a sample of them. */
	left = this_cpu_read(trace_guard_left);
	this_cpu_write(trace_guard_left, INT_MAX);
	start = ktime_get_mono_fast_ns();
	for (unsigned int i = 0; i < GUARD_CALLS; i++)
		example(i);
	time = ktime_get_mono_fast_ns() - start;
	this_cpu_write(trace_guard_left, left);
	guard_keep_records_out(false);
	return time;
}

/* @least: gets the time in nanoseconds if it is less. */
static void guard_time_calls(u64 *least)
{
	guard(mutex)(&trace_types_lock);

	for (unsigned int try = 0; try < TRACE_GUARD_TRIES; try++)
		*least = min(*least, trace_guard_measured(guard_time_once()));
}

/* As the function tracer does. */
static void guard_write_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer;
	enum trace_function_state state;
	struct ftrace_entry *entry;

	state = trace_record_function(buffer, ip, parent_ip, NULL, &cpu_buffer, &entry);
	if (state == TRACE_FUNCTION_BEGUN)
		trace_record_function_rest(buffer, ip, parent_ip, NULL, cpu_buffer, entry);
	else if (state == TRACE_FUNCTION_WRITTEN)
		rb_write_leave(cpu_buffer);
}

/* By the way of an event that has to be asked whether to be recorded. */
static void guard_write_event(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	struct ftrace_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_FN, sizeof(*entry), tracing_gen_ctx());
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	trace_buffer_unlock_commit_nostack(buffer, event);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* As the function_graph tracer does. */
static int guard_graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			     struct ftrace_regs *fregs)
{
	return __trace_graph_entry(gops->ops.private, trace, tracing_gen_ctx());
}

static void guard_graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
			       struct ftrace_regs *fregs)
{
	u64 now = trace_clock_local();

	__trace_graph_return(gops->ops.private, trace, tracing_gen_ctx(), now, now);
}

static int guard_time_graph(struct ftrace_ops *ops, u64 *least)
{
	struct fgraph_ops *gops __free(kfree) = kzalloc_obj(*gops);
	int ret;

	if (!gops)
		return -ENOMEM;
	gops->entryfunc = guard_graph_entry;
	gops->retfunc = guard_graph_return;
	fgraph_init_ops(&gops->ops, ops);
	ret = register_ftrace_graph(gops);
	if (ret)
		return ret;
	guard_time_calls(least);
	unregister_ftrace_graph(gops);
	return 0;
}

/* As the tracer count does with count-times. */
static int guard_time_times(struct ftrace_ops *ops, u64 *least)
{
	/* Calls that it timed may return after it has stopped. */
	static struct ftrace_times times;
	void *tr = ops->private;
	int ret;

	/* It outlives the instance. */
	ops->private = NULL;
	ftrace_times_init(&times, ops);
	ops->private = tr;
	ret = ftrace_times_start(&times);
	if (ret)
		return ret;
	guard_time_calls(least);
	ftrace_times_stop(&times);
	guard(mutex)(&ftrace_lock);
	ftrace_times_drop(&times);
	return 0;
}
#else
static int guard_time_graph(struct ftrace_ops *ops, u64 *least)
{
	return 0;
}

static int guard_time_times(struct ftrace_ops *ops, u64 *least)
{
	return 0;
}
#endif

static int guard_time(struct ftrace_ops *ops, enum trace_guard_kind kind, u64 *least)
{
	int ret;

	if (kind == TRACE_GUARD_GRAPH)
		return guard_time_graph(ops, least);
	if (kind == TRACE_GUARD_TIMES)
		return guard_time_times(ops, least);
	ops->func = kind == TRACE_GUARD_EVENT ? guard_write_event : guard_write_entry;
	ret = register_ftrace_function(ops);
	if (ret)
		return ret;
	guard_time_calls(least);
	unregister_ftrace_function(ops);
	return 0;
}

static bool guard_is_shorter(u64 time, u64 before)
{
	return time < before - before / 8;
}

/*
 * Fill in the times of calls without tracing (@least[TRACE_GUARD_NONE]) and with each kind of
 * record. All are taken again in each round, as other work of the machine may slow one of them
 * down for longer than its tries take; until a round has made no time shorter by an eighth, or
 * there were enough. A kind that is not built keeps U64_MAX.
 */
static int guard_time_all(struct trace_array *tr, u64 *least)
{
	for (unsigned int round = 1; round <= GUARD_MAX_ROUNDS; round++) {
		bool told_apart = true, shorter = round < GUARD_ROUNDS;
		u64 before = least[TRACE_GUARD_NONE];

		guard_time_calls(&least[TRACE_GUARD_NONE]);
		shorter |= guard_is_shorter(least[TRACE_GUARD_NONE], before);
		for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++) {
			int ret;

			before = least[kind];
			if (!trace_guard_has_kind(kind))
				continue;
			ret = guard_time(tr->ops, kind, &least[kind]);
			if (ret)
				return ret;
			told_apart &= least[kind] > least[TRACE_GUARD_NONE];
			shorter |= guard_is_shorter(least[kind], before);
		}
		if (told_apart && (!shorter || round == GUARD_MAX_ROUNDS))
			return 0;
		/* All tracing is switched off. */
		if (!ring_buffer_entries(tr->array_buffer.buffer))
			return -ENODEV;
	}
	return -EAGAIN;
}

/**
 * trace_guard_measure - find out the cost of a record of each kind on this machine
 * @cost: gets picoseconds, by enum trace_guard_kind; 0 for a kind that is not built
 *
 * A function is called with and without tracing, for an instance that only has a buffer. Tracers
 * call the guard, so these callbacks are not theirs.
 *
 * Context: sleeps; takes trace_types_lock and ftrace_lock. The caller sees to it that there is one
 * at a time.
 * Return: 0; -ENOENT if the function cannot be traced; -ENODEV where all tracing is switched off;
 * -EAGAIN if by the clock a traced call took no longer than another; or why one of the users cannot
 * be registered. On failure @cost is as before.
 */
int trace_guard_measure(u64 *cost)
{
	struct trace_array *tr __free(kfree) = kzalloc_obj(*tr);
	struct ftrace_ops *ops __free(kfree) = kzalloc_obj(*ops);
	u64 least[] = { [0 ... TRACE_GUARD_KINDS - 1] = U64_MAX };
	int ret;

	if (!tr || !ops)
		return -ENOMEM;
	tr->array_buffer.buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	if (!tr->array_buffer.buffer)
		return -ENOMEM;
	tr->ops = ops;
	ops->private = tr;

	ret = ftrace_set_filter_ip(ops, (unsigned long)GUARD_EXAMPLE, 0, 0) ? -ENOENT :
	      guard_time_all(tr, least);
	ftrace_free_filter(ops);
	ring_buffer_free(tr->array_buffer.buffer);
	if (ret)
		return ret;
	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++) {
		u64 time = least[kind] - least[TRACE_GUARD_NONE];

		cost[kind] = least[kind] == U64_MAX ? 0 : div_u64(time * 1000, GUARD_CALLS);
	}
	pr_info("a traced call costs %llu ps, with its return %llu, an event %llu, a timed call %llu\n",
		cost[TRACE_GUARD_FUNCTION], cost[TRACE_GUARD_GRAPH], cost[TRACE_GUARD_EVENT],
		cost[TRACE_GUARD_TIMES]);
	return 0;
}
