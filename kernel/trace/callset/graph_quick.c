// SPDX-License-Identifier: GPL-2.0
/*
 * The quick way of the tracer function_graph: calls and returns of functions that no other
 * graph user has hooked are recorded in line.
 *
 * The tracer (trace_functions_graph.c) says when its options ask for events of all calls, and
 * for which. With other options, and within the writing of another event, a call takes the
 * common way: fgraph_call() with trace_graph_entry(), and
 * trace_graph_return().
 *
 * Invariants:
 *  1. The events are those that trace_graph_entry() and trace_graph_return() write. A call
 *     that took one way may return by the other, so the time of the call is where
 *     fgraph_retrieve_data() finds it.
 *  2. There is no protection against recursion. The clock is all that is called and might be
 *     traced. The ring then has a writer: such a call takes the common way, which has that
 *     protection. So might the guard's sample, which is taken once the return is hooked. It
 *     calls nothing that is traced before it has claimed its irq_work, and no further sample
 *     does then.
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
#include "callset.h"
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

static __always_inline unsigned int graph_quick_size(unsigned int how)
{
	return (how & GRAPH_QUICK_RETADDR ? sizeof(struct fgraph_retaddr_ent_entry) :
					    sizeof(struct ftrace_graph_ent_entry)) +
	       (how & GRAPH_QUICK_ARGS ? FTRACE_REGS_MAX_ARGS * sizeof(long) : 0);
}

/*
 * Writes the address, if it is asked for. Returns where the arguments belong. A function that
 * was called last by one that is hooked returns to that one's caller, and so does one whose return
 * a kretprobe has hooked before.
 */
static __always_inline unsigned long *
graph_quick_write_retaddr(struct task_struct *task, const struct ftrace_ret_stack *frame,
			  void *data, unsigned int how)
{
	struct ftrace_graph_ent_entry *entry = data;
#ifdef CONFIG_FUNCTION_GRAPH_RETADDR
	struct fgraph_retaddr_ent_entry *with_address = data;

	/* All before the address is in the same place. */
	static_assert(offsetof(typeof(*entry), graph_ent) ==
		      offsetof(typeof(*with_address), graph_rent));
	if (how & GRAPH_QUICK_RETADDR) {
		with_address->graph_rent.retaddr = unlikely(fgraph_is_handler(frame->ret)) ?
						   ftrace_graph_top_ret_addr(task) :
						   fgraph_caller(task, frame);
		return with_address->args;
	}
#endif
	return entry->args;
}

/* Returns whether the function's return is to be hooked. */
static __always_inline bool graph_quick_enter(struct task_struct *task, struct fgraph_ops *gops,
					      struct trace_buffer *buffer,
					      struct ring_buffer_per_cpu *cpu_buffer,
					      unsigned int how, unsigned long ip,
					      unsigned long *retp, struct ftrace_regs *fregs)
{
	int type = how & GRAPH_QUICK_RETADDR ? TRACE_GRAPH_RETADDR_ENT : TRACE_GRAPH_ENT;
	u64 meta = gops->ops.graph_meta | FGRAPH_META_SOLE;
	struct ftrace_graph_ent_entry *entry;
	struct ftrace_ret_stack *frame;
	unsigned long *args;
	void *data;
	int depth;

	if (unlikely(!fgraph_push(task, ip, retp, meta, GRAPH_QUICK_WORDS, &frame)))
		return false;
	/* Before others see that the ring has a writer: an interrupt's functions are deeper. */
	depth = ++task->curr_ret_depth;
	rb_begin(buffer, cpu_buffer, graph_quick_size(how), TRACE_RECORD_LEAF, NULL, &data);
	if (unlikely(!data)) {
		task->curr_ret_depth--;
		fgraph_drop_to(task, task->curr_ret_stack - GRAPH_QUICK_WORDS);
		return false;
	}
	entry = data;
	trace_record_entry(&entry->ent, trace_word_without(type, 0));
	entry->graph_ent.func = ip;
	entry->graph_ent.depth = depth;
	args = graph_quick_write_retaddr(task, frame, data, how);
	if (how & GRAPH_QUICK_ARGS)
		trace_record_args(args, fregs);
	/*
	 * Late, so that the time that this takes is not the function's; but while this is a
	 * writer, as the clock may be traced.
	 */
	*fgraph_sole_data(frame) = trace_clock_local_inline();
	trace_record_finish(cpu_buffer);
	return true;
}

/* fgraph_call() and trace_graph_entry(), in line; plain events alone, unless @any. */
static __always_inline void graph_quick_hook(unsigned long ip, unsigned long *retp,
					     struct ftrace_callset *cs, struct ftrace_regs *fregs,
					     bool any)
{
	struct ftrace_ops *ops = READ_ONCE(cs->ops[cs->nr_funcs]);
	struct fgraph_ops *gops = container_of(ops, struct fgraph_ops, ops);
	struct ring_buffer_per_cpu *cpu_buffer = NULL;
	struct task_struct *task = current;
	struct trace_buffer *buffer;
	struct trace_array *tr;
	unsigned int how;

	if (unlikely(!fgraph_can_hook(task, retp)))
		return;
	preempt_disable_notrace();
	/* If the user has just gone, another one stands here, without an instance. */
	tr = gops->private;
	if (any)
		how = likely(tr) ? READ_ONCE(tr->graph_quick) : 0;
	else
		how = READ_ONCE(ops->quick) ? GRAPH_QUICK : 0;
	/* The callback is another one if there are pids. */
	if (likely(how) &&
	    likely(gops->entryfunc == (any ? gops->saved_func : trace_graph_entry))) {
		buffer = tr->array_buffer.buffer;
		cpu_buffer = graph_quick_ring(task, buffer);
	}
	if (likely(cpu_buffer) &&
	    likely(graph_quick_enter(task, gops, buffer, cpu_buffer, how, ip, retp, fregs))) {
		*retp = FTRACE_RETURN_HANDLER;
		trace_guard_count(tr, ip, TRACE_GUARD_GRAPH);
	}
	preempt_enable_notrace();
	if (unlikely(!cpu_buffer))
		fgraph_call(ip, retp, cs, fregs);
}

__no_stack_protector
static void graph_quick_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
			     struct ftrace_regs *fregs)
{
	graph_quick_hook(ip, retp, cs, fregs, false);
}
NOKPROBE_SYMBOL(graph_quick_call);

__no_stack_protector
static void graph_quick_call_any(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
				 struct ftrace_regs *fregs)
{
	graph_quick_hook(ip, retp, cs, fregs, true);
}
NOKPROBE_SYMBOL(graph_quick_call_any);

/* trace_graph_return(), in line. Preemption is off. */
__no_stack_protector
static bool graph_quick_return(struct task_struct *task, const struct ftrace_ret_stack *frame,
			       struct ftrace_regs *fregs, struct fgraph_ops *gops)
{
	struct trace_array *tr = gops->private;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
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
 * @how: bits of enum graph_quick; 0 if a call has to be asked whether it is recorded, or the
 *	 time that a task sleeps does not count for its functions
 *
 * Called before the user is registered, too. A user that is registered already records calls
 * with arguments or return addresses by the common way, if it was registered for plain ones.
 *
 * Context: sleeps; takes ftrace_lock.
 */
void graph_quick_choose(struct fgraph_ops *gops, unsigned int how)
{
	struct trace_array *tr = gops->private;

	if (!TRACE_RECORD_ARGS && how & GRAPH_QUICK_ARGS)
		how = 0;
	gops->ops.guarded = true;
	gops->ops.sole_func = how & ~GRAPH_QUICK ? graph_quick_call_any : graph_quick_call;
	gops->ops.sole_ret = graph_quick_return;
	WRITE_ONCE(gops->ops.quick, how == GRAPH_QUICK);
	WRITE_ONCE(tr->graph_quick, how);
	fgraph_sleep_time_changed();
	ftrace_times_sleep_time_changed();
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/graph_quick_kunit.c"
#endif
