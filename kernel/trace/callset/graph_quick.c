// SPDX-License-Identifier: GPL-2.0
/*
 * The quick way of the tracer function_graph: calls and returns of functions that no other
 * graph user has hooked are recorded in line.
 *
 * The tracer (trace_functions_graph.c) says when its options ask for nothing but the plain
 * events. With other options, and within the writing of another event, a call takes the
 * common way: fgraph_call() with trace_graph_entry(), and
 * trace_graph_return().
 *
 * Invariants:
 *  1. The events are those that trace_graph_entry() and trace_graph_return() write. A call
 *     that took one way may return by the other, so the time of the call is where
 *     fgraph_retrieve_data() finds it.
 *  2. There is no protection against recursion. The clock is all that is called and might be
 *     traced. The ring then has a writer: such a call takes the common way, which has that
 *     protection. So might the guard's sample, which is taken once the return is hooked, and
 *     starts the next countdown before it calls anything.
 */
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/trace_clock.h>

#include "fgraph_stack.h"
#include "graph_quick.h"
#include "times.h"
#include "trace_guard.h"
#include "../trace.h"
#include "../trace_record.h"

/* The data of an entry is the time of the call. */
#define GRAPH_QUICK_WORDS	(FGRAPH_ENTRY_WORDS + FGRAPH_U64_WORDS)

/*
 * The ring to record in, if nothing but this call and this user has to be looked at, and it
 * has no writer. Preemption is off.
 */
static __always_inline struct ring_buffer_per_cpu *
graph_quick_ring(const struct task_struct *task, struct trace_buffer *buffer)
{
	if (unlikely(READ_ONCE(tracing_thresh) | READ_ONCE(fgraph_max_depth) |
		     READ_ONCE(ftrace_graph_filtered) | trace_record_busy(task)))
		return NULL;
	return rb_is_off(buffer) ? NULL : rb_idle(buffer);
}

static __always_inline struct trace_buffer *graph_quick_buffer(const struct fgraph_ops *gops)
{
	const struct trace_array *tr = gops->private;

	return tr->array_buffer.buffer;
}

/* Returns whether the function's return is to be hooked. */
static __always_inline bool graph_quick_enter(struct task_struct *task, struct fgraph_ops *gops,
					      struct trace_buffer *buffer,
					      struct ring_buffer_per_cpu *cpu_buffer,
					      unsigned long ip, unsigned long *retp)
{
	u64 meta = gops->ops.graph_meta | FGRAPH_META_SOLE;
	struct ftrace_graph_ent_entry *entry;
	struct ftrace_ret_stack *frame;
	void *data;

	if (unlikely(!fgraph_push(task, ip, retp, meta, GRAPH_QUICK_WORDS, &frame)))
		return false;
	rb_begin(buffer, cpu_buffer, sizeof(*entry), TRACE_RECORD_LEAF, NULL, &data);
	if (unlikely(!data)) {
		fgraph_drop_to(task, task->curr_ret_stack - GRAPH_QUICK_WORDS);
		return false;
	}
	entry = data;
	trace_record_entry(&entry->ent, trace_word_without(TRACE_GRAPH_ENT, 0));
	entry->graph_ent.func = ip;
	entry->graph_ent.depth = ++task->curr_ret_depth;
	/*
	 * Late, so that the time that this takes is not the function's; but while this is a
	 * writer, as the clock may be traced.
	 */
	*fgraph_sole_data(frame) = trace_clock_local_inline();
	trace_record_finish(cpu_buffer);
	return true;
}

/* fgraph_call() and trace_graph_entry(), in line. */
__no_stack_protector
static void graph_quick_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
			     struct ftrace_regs *fregs)
{
	struct ftrace_ops *ops = READ_ONCE(cs->ops[cs->nr_funcs]);
	struct fgraph_ops *gops = container_of(ops, struct fgraph_ops, ops);
	struct ring_buffer_per_cpu *cpu_buffer = NULL;
	struct task_struct *task = current;
	struct trace_buffer *buffer;

	if (unlikely(!fgraph_can_hook(task, retp)))
		return;
	preempt_disable_notrace();
	/* It is another one if there are pids, and if the user has just gone. */
	if (likely(READ_ONCE(ops->quick) && gops->entryfunc == trace_graph_entry)) {
		buffer = graph_quick_buffer(gops);
		cpu_buffer = graph_quick_ring(task, buffer);
	}
	if (likely(cpu_buffer) &&
	    likely(graph_quick_enter(task, gops, buffer, cpu_buffer, ip, retp))) {
		*retp = FTRACE_RETURN_HANDLER;
		trace_guard_count(gops->private, ip, TRACE_GUARD_GRAPH);
	}
	preempt_enable_notrace();
	if (unlikely(!cpu_buffer))
		fgraph_call(ip, retp, cs, fregs);
}

NOKPROBE_SYMBOL(graph_quick_call);

/* trace_graph_return(), in line. Preemption is off. */
__no_stack_protector
static bool graph_quick_return(struct task_struct *task, const struct ftrace_ret_stack *frame,
			       struct ftrace_regs *fregs, struct fgraph_ops *gops)
{
	struct trace_buffer *buffer = graph_quick_buffer(gops);
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ftrace_graph_ret_entry *entry;
	void *data;
	u64 now;

	cpu_buffer = graph_quick_ring(task, buffer);
	if (unlikely(!cpu_buffer))
		return false;
	rb_begin(buffer, cpu_buffer, sizeof(*entry), TRACE_RECORD_LEAF, &now, &data);
	if (unlikely(!data))
		return true;
	entry = data;
	trace_record_entry(&entry->ent, trace_word_without(TRACE_GRAPH_RET, 0));
	entry->ret = fgraph_make_ret(task, frame, fregs);
	entry->calltime = *fgraph_sole_data(frame);
	entry->rettime = now;
	trace_record_finish(cpu_buffer);
	return true;
}

NOKPROBE_SYMBOL(graph_quick_return);

/**
 * graph_quick_choose - the options of a function_graph tracer are about to change
 * @gops: the graph user of its instance
 * @plain: all calls are recorded, by events of constant size, and the time that a task
 *	   sleeps counts for its functions
 *
 * Called before the user is registered, too.
 *
 * Context: sleeps; takes ftrace_lock.
 */
void graph_quick_choose(struct fgraph_ops *gops, bool plain)
{
	gops->ops.guarded = true;
	gops->ops.sole_func = graph_quick_call;
	gops->ops.sole_ret = graph_quick_return;
	WRITE_ONCE(gops->ops.quick, plain);
	fgraph_sleep_time_changed();
	ftrace_times_sleep_time_changed();
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/graph_quick_kunit.c"
#endif
