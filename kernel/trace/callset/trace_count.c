// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer "count": how often each function is called, and nothing else; with the
 * option count-callers, from where; with count-times, for how long; with count-latency, how often
 * for so long. trace_count_file.c has the files that show it.
 *
 * A call counts in the stub of its site (stubs.c), or in ftrace_count_call()
 * where it has no stub. Pairs of a function and its caller are counted by a second ops with the
 * same filter (callers.c), and times by a graph user (times.c), so that a call
 * costs no more without these options.
 *
 * Invariants:
 *  1. While the tracer of an instance runs, ops->saved_func is ftrace_count_call(), and
 *     ops->func is that or, if some calls are not to be counted, count_call_asked().
 *     The same holds for callers_ops with count_caller() while the option is set, too.
 *  2. An instance has counts from the first time that it counts until it goes. A part of
 *     it (count_parts[]) has its memory at least as long as it counts.
 *
 * Lock order:
 *	trace_types_lock > ftrace_lock
 * trace_types_lock covers the instances and all that starts, stops, empties or reads a part
 * of one, so that these never meet. Starting or stopping a part takes ftrace_lock itself.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "attach.h"
#include "callers.h"
#include "callset.h"
#include "counts.h"
#include "graph_quick.h"
#include "ops.h"
#include "sites.h"
#include "times.h"
#include "../trace.h"
#include "trace_count.h"

static struct tracer_opt count_opts[] = {
	{ .name = "count-sorted", .bit = COUNT_OPT_SORTED },
	{ .name = "count-cpus", .bit = COUNT_OPT_CPUS },
	{ .name = "count-callers", .bit = COUNT_OPT_CALLERS },
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	{ .name = "count-times", .bit = COUNT_OPT_TIMES },
	{ .name = "count-latency", .bit = COUNT_OPT_LATENCY },
#endif
	{ }
};

static struct tracer_flags count_flags = {
	.opts	= count_opts,
};

/**
 * trace_count_options - the options of the tracer
 * @tr: the instance whose options
 *
 * Return: bits COUNT_OPT_*.
 */
u32 trace_count_options(const struct trace_array *tr)
{
	return READ_ONCE(tr->callset.count_options);
}

/* The top instance's: a graph user that stays costs its calls less. */
static struct count_instance count_top;

static void count_free(struct ftrace_retiree *retiree)
{
	kfree(container_of(retiree, struct count_instance, retiree));
}

static struct count_instance *count_make(struct trace_array *tr)
{
	bool is_top = tr->flags & TRACE_ARRAY_FL_GLOBAL;
	struct count_instance *ci;

	lockdep_assert_held(&ftrace_lock);

	if (tr->callset.count)
		return tr->callset.count;
	ci = is_top ? &count_top : kzalloc_obj(*ci);
	if (!ci)
		return NULL;
	ci->counts = ftrace_counts_alloc(1);
	if (!ci->counts) {
		if (!is_top)
			kfree(ci);
		return NULL;
	}
	ci->tr = tr;
	ci->retiree.free = count_free;
	if (FTRACE_HAS_TIMES)
		ftrace_times_init(&ci->times, tr->ops);
	tr->callset.count = ci;
	return ci;
}

/* Tells the counts which CPUs do not count; returns whether there are any. */
static bool count_choose_cpus(const struct trace_array *tr, struct ftrace_counts *counts)
{
	bool any = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		bool off = !cpumask_test_cpu(cpu, tr->tracing_cpumask);

		WRITE_ONCE(*per_cpu_ptr(counts->off, cpu), off);
		any |= off;
	}
	return any;
}

/* Counting */

/* Whether the calls of this task on this CPU are. */
static __always_inline bool count_is_asked_for(const struct ftrace_counts *counts)
{
	return !(READ_ONCE(current->ftrace_pid_ignored) & READ_ONCE(counts->ignored)) &&
	       !this_cpu_read(*counts->off);
}

static void count_call_asked(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	const struct ftrace_counts *counts = READ_ONCE(ops->counts);

	if (counts && count_is_asked_for(counts))
		ftrace_count_call(ip, parent_ip, ops, fregs);
}

static struct count_instance *count_of_callers(struct ftrace_ops *ops)
{
	return container_of(ops, struct count_instance, callers_ops);
}

static noinline void count_new_caller(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	/* A handler stands there if the function that jumped to this one has the last hook. */
	parent_ip = fgraph_true_parent(parent_ip, fregs);
	ftrace_callers_add(count_of_callers(ops)->callers, ip, parent_ip);
}

/*
 * Needs no protection against recursion: it calls nothing that could be traced, but to look behind
 * a kretprobe, and that has no kretprobe.
 */
static void count_caller(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	struct ftrace_callers *callers = count_of_callers(ops)->callers;

	if (unlikely(!ftrace_callers_count(callers, ip, parent_ip)))
		count_new_caller(ip, parent_ip, ops, fregs);
}

static void count_caller_asked(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	if (count_is_asked_for(count_of_callers(ops)->counts))
		count_caller(ip, parent_ip, ops, fregs);
}

static void count_choose(struct ftrace_ops *ops, struct ftrace_counts *counts, ftrace_func_t asked)
{
	const struct trace_array *tr = ops->private;
	ftrace_func_t func = ops->saved_func;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(counts->ignored, tr->callset.pid_bit);
	if (count_choose_cpus(tr, counts) || counts->ignored)
		func = asked;
	if (func != ops->func)
		ftrace_ops_set_func(ops, func);
}

/* The choose_func of the ops. */
static void count_choose_func(struct ftrace_ops *ops)
{
	count_choose(ops, ops->counts, count_call_asked);
}

/* The choose_func of the ops that counts pairs. */
static void count_choose_caller_func(struct ftrace_ops *ops)
{
	count_choose(ops, count_of_callers(ops)->counts, count_caller_asked);
}

/* Callers */

static bool count_has_callers(const struct count_instance *ci)
{
	return ci->callers_ops.flags & FTRACE_OPS_FL_ENABLED;
}

static void count_zero_callers(struct count_instance *ci, bool wanted)
{
	if (count_has_callers(ci)) {
		ftrace_callers_reset(ci->callers);
		return;
	}
	ftrace_callers_free(ci->callers);
	ci->callers = NULL;
}

static void count_stop_callers(struct count_instance *ci)
{
	unregister_ftrace_function(&ci->callers_ops);
}

static int count_start_callers(struct count_instance *ci, u32 options)
{
	struct ftrace_ops *ops = &ci->callers_ops;

	scoped_guard(mutex, &ftrace_lock) {
		ci->callers = ci->callers ?: ftrace_callers_alloc(FTRACE_CALLERS_BITS);
		if (!ci->callers)
			return -ENOMEM;
		ftrace_ops_init(ops);
		ops->filter = ci->tr->ops->filter;
	}
	/* Has unregistering wait for the callback wherever the instance's memory is. */
	ops->flags |= FTRACE_OPS_FL_DYNAMIC;
	ops->func = count_caller;
	ops->private = ci->tr;
	ops->choose_func = count_choose_caller_func;
	return register_ftrace_function(ops);
}

/* Times */

/* Those of CPUs that do not count are left out. */
static void count_choose_times(struct count_instance *ci)
{
	bool off = count_choose_cpus(ci->tr, ci->counts);

	if (FTRACE_HAS_TIMES)
		ftrace_times_set_off(&ci->times, off ? ci->counts->off : NULL);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static bool count_has_times(const struct count_instance *ci)
{
	return ftrace_times_is_started(&ci->times);
}

/* Times that are wanted next stay allocated. */
static void count_zero_times(struct count_instance *ci, bool wanted)
{
	if (wanted || count_has_times(ci))
		ftrace_times_reset(&ci->times);
	else
		ftrace_times_drop(&ci->times);
}

static void count_stop_times(struct count_instance *ci)
{
	ftrace_times_stop(&ci->times);
}

static int count_start_times(struct count_instance *ci, u32 options)
{
	scoped_guard(mutex, &ftrace_lock) {
		count_choose_times(ci);
		ci->times.more = options & COUNT_OPT_LATENCY ? FTRACE_TIMES_LATENCY :
							       FTRACE_TIMES_NO_MORE;
	}
	return ftrace_times_start(&ci->times);
}
#endif

/* Calls */

static bool count_has_calls(const struct count_instance *ci)
{
	return ci->tr->ops->counts;
}

static void count_zero_calls(struct count_instance *ci, bool wanted)
{
	ftrace_counts_reset(ci->counts);
	ci->since = ktime_get_ns();
}

static void count_stop_calls(struct count_instance *ci)
{
	unregister_ftrace_function(ci->tr->ops);
	WRITE_ONCE(ci->tr->ops->counts, NULL);
	ftrace_reset_array_ops(ci->tr);
}

static int count_start_calls(struct count_instance *ci, u32 options)
{
	struct trace_array *tr = ci->tr;
	int ret;

	tr->ops->counts = ci->counts;
	ftrace_init_array_ops(tr, ftrace_count_call);
	/* Complete: the limits are for the calls that are timed. */
	tr->ops->guarded = false;
	tr->ops->choose_func = count_choose_func;
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tr->ops->counts = NULL;
		ftrace_reset_array_ops(tr);
	}
	return ret;
}

/* All parts */

/**
 * struct count_part - a part of what an instance counts
 * @options: those that ask for it
 * @runs: whether it counts. Context of this and the rest: trace_types_lock is held
 * @start: begin to count, with these of its options; takes ftrace_lock
 * @stop: end that; the counts stay; takes ftrace_lock
 * @zero: set the counts to zero, or free them unless it runs or is @wanted; ftrace_lock is held
 */
struct count_part {
	u32	options;
	bool	(*runs)(const struct count_instance *ci);
	int	(*start)(struct count_instance *ci, u32 options);
	void	(*stop)(struct count_instance *ci);
	void	(*zero)(struct count_instance *ci, bool wanted);
};

static const struct count_part count_parts[] = {
	{ COUNT_OPT_CALLS, count_has_calls, count_start_calls, count_stop_calls,
	  count_zero_calls },
	{ COUNT_OPT_CALLERS, count_has_callers, count_start_callers, count_stop_callers,
	  count_zero_callers },
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	{ COUNT_OPT_TIMES | COUNT_OPT_LATENCY, count_has_times, count_start_times,
	  count_stop_times, count_zero_times },
#endif
};

#define for_each_count_part(part)							\
	for ((part) = count_parts; (part) < count_parts + ARRAY_SIZE(count_parts); (part)++)

/* A part that is asked for in another way stops, and starts if it is asked for. Its counts stay. */
static int count_change_part(struct count_instance *ci, const struct count_part *part, u32 from,
			     u32 to)
{
	u32 wanted = to & part->options;

	if (wanted == (from & part->options))
		return 0;
	if (part->runs(ci))
		part->stop(ci);
	return wanted ? part->start(ci, wanted) : 0;
}

/* From the options @from to the options @to. If a part cannot start, back to those before. */
static int count_change_parts(struct count_instance *ci, u32 from, u32 to)
{
	const struct count_part *part;
	int ret = 0;

	lockdep_assert_held(&trace_types_lock);

	for_each_count_part(part)
		ret = ret ?: count_change_part(ci, part, from, to);
	if (!ret)
		return 0;
	/* A part that cannot start again stays stopped. */
	for_each_count_part(part)
		count_change_part(ci, part, to, from);
	return ret;
}

/* @wanted: the options for counting from now on */
static void count_zero(struct count_instance *ci, u32 wanted)
{
	const struct count_part *part;

	lockdep_assert_held(&trace_types_lock);
	lockdep_assert_held(&ftrace_lock);

	for_each_count_part(part)
		part->zero(ci, wanted & part->options);
}

/**
 * trace_count_zero - set all that an instance counted to zero
 * @tr: the instance
 *
 * Context: sleeps; takes trace_types_lock and ftrace_lock.
 */
void trace_count_zero(struct trace_array *tr)
{
	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	if (tr->callset.count)
		count_zero(tr->callset.count, 0);
}

/**
 * trace_count_rate - how often a function is called
 * @tr: an instance
 * @ip: the function's site
 * @rate: set to the calls a second since the counts were zero
 *
 * Context: trace_types_lock and ftrace_lock are held.
 * Return: whether the instance counts the calls of the function.
 */
bool trace_count_rate(const struct trace_array *tr, unsigned long ip, u64 *rate)
{
	const struct count_instance *ci = tr->callset.count;
	const struct ftrace_callset *cs;
	const struct ftrace_table *table;
	const u64 __percpu *count;
	u64 sum = 0;
	int cpu;

	if (!ci || !count_has_calls(ci))
		return false;
	table = ftrace_table_find(ip);
	cs = ftrace_callset_at(ip);
	if (!table || !cs || !ftrace_callset_has(cs, tr->ops))
		return false;
	count = ftrace_counts_find(ci->counts, table, ftrace_table_lower_bound(table, ip));
	if (!count)
		return false;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(count, cpu));
	*rate = mul_u64_u64_div_u64(sum, NSEC_PER_SEC, max(ktime_get_ns() - ci->since, 1));
	return true;
}

/* The tracer */

static void count_tracer_reset(struct trace_array *tr)
{
	count_change_parts(tr->callset.count, ~0, 0);
}

static int count_tracer_init(struct trace_array *tr)
{
	u32 options = tr->current_trace_flags->val;
	struct count_instance *ci;

	if (!tr->ops)
		return -ENOMEM;
	/* A new instance has those of the top one, and count_set_flag() has not been told. */
	WRITE_ONCE(tr->callset.count_options, options);
	scoped_guard(mutex, &ftrace_lock) {
		ci = count_make(tr);
		if (!ci)
			return -ENOMEM;
		count_zero(ci, options);
	}
	return count_change_parts(ci, 0, options | COUNT_OPT_CALLS);
}

static void count_cpumask_changed(struct trace_array *tr)
{
	struct count_instance *ci = tr->callset.count;

	guard(mutex)(&ftrace_lock);

	count_choose_func(tr->ops);
	if (count_has_callers(ci))
		count_choose_caller_func(&ci->callers_ops);
	count_choose_times(ci);
}

static struct tracer count_tracer;

/* A tracer that does not run will start with the options that are set by then. */
static int count_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	bool runs = tr->current_trace == &count_tracer;
	u32 options = trace_count_options(tr);
	int ret = 0;

	if (!set == !(options & bit))
		return 0;
	if (runs)
		ret = count_change_parts(tr->callset.count, options, options ^ bit);
	if (!ret)
		WRITE_ONCE(tr->callset.count_options, options ^ bit);
	return ret;
}

static struct tracer count_tracer __tracer_data = {
	.name			= "count",
	.init			= count_tracer_init,
	.reset			= count_tracer_reset,
	.cpumask_changed	= count_cpumask_changed,
	.default_flags		= &count_flags,
	.set_flag		= count_set_flag,
	.allow_instances	= true,
};

/**
 * trace_count_forget - free the counts of an instance
 * @tr: the instance, which is about to go; its tracer does not run
 *
 * Context: sleeps; trace_types_lock is held; takes ftrace_lock.
 */
void trace_count_forget(struct trace_array *tr)
{
	struct count_instance *ci = tr->callset.count;

	guard(mutex)(&ftrace_lock);

	tr->callset.count = NULL;
	if (!ci)
		return;
	count_zero(ci, 0);
	ftrace_counts_put(ci->counts);
	ftrace_retire(&ci->retiree);
}

static int __init count_register(void)
{
	return register_tracer(&count_tracer);
}
core_initcall(count_register);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_count_kunit.c"
#endif
