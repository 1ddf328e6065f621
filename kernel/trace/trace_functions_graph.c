// SPDX-License-Identifier: GPL-2.0
/*
 * The function_graph tracer: records each call and each return.
 *
 * Recording is two callbacks, called for each function that the instance's
 * filter wants. trace_graph_print.c shows the records.
 *
 * Invariants:
 *  1. The callbacks take no lock, and rely on fgraph.c for the rest: preemption
 *     is disabled, a callback is not entered twice in one context, and the pid
 *     filters have been applied.
 *  2. If trace_graph_entry() returns 0, nothing was recorded, and it left no
 *     trace in the graph filter's state either.
 *  3. trace_graph_alone() and trace_graph_return_alone() record what trace_graph_entry()
 *     and trace_graph_return() would, without protection against recursion. The clock
 *     is all that they call that might be traced. The ring then has a writer: such a
 *     call goes through ftrace_graph_func(), which has that protection. So might the
 *     guard's sample, which is taken once the return is hooked, and starts the next
 *     countdown before it calls anything.
 *
 * The latency tracers record through here, too.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace_clock.h>
#include <linux/uaccess.h>

#include "fgraph_stack.h"
#include "ftrace_ops.h"
#include "ftrace_times.h"
#include "trace.h"
#include "trace_guard.h"
#include "trace_output.h"
#include "trace_record.h"

/* From max_graph_depth: deeper calls are not recorded. 0 is no limit. */
unsigned int fgraph_max_depth __read_mostly;

/* Do not record calls by interrupt handlers. */
static bool graph_skip_irqs __read_mostly;

static struct tracer_opt graph_opts[] = {
	{ "funcgraph-overrun", TRACE_GRAPH_PRINT_OVERRUN },
	{ "funcgraph-cpu", TRACE_GRAPH_PRINT_CPU },
	{ "funcgraph-overhead", TRACE_GRAPH_PRINT_OVERHEAD },
	{ "funcgraph-proc", TRACE_GRAPH_PRINT_PROC },
	{ "funcgraph-duration", TRACE_GRAPH_PRINT_DURATION },
	{ "funcgraph-abstime", TRACE_GRAPH_PRINT_ABS_TIME },
	{ "funcgraph-irqs", TRACE_GRAPH_PRINT_IRQS },
	{ "funcgraph-tail", TRACE_GRAPH_PRINT_TAIL },
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	{ "funcgraph-retval", TRACE_GRAPH_PRINT_RETVAL },
	{ "funcgraph-retval-hex", TRACE_GRAPH_PRINT_RETVAL_HEX },
#endif
	{ "sleep-time", TRACE_GRAPH_SLEEP_TIME },
#ifdef CONFIG_FUNCTION_PROFILER
	{ "graph-time", TRACE_GRAPH_GRAPH_TIME },
#endif
	{ }
};

static struct tracer_flags graph_flags = {
	.opts	= graph_opts,
	.val	= TRACE_GRAPH_PRINT_CPU | TRACE_GRAPH_PRINT_OVERHEAD | TRACE_GRAPH_PRINT_DURATION |
		  TRACE_GRAPH_PRINT_IRQS | TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME,
	/* All but those that are in force for all instances. */
	.own	= ~(TRACE_GRAPH_PRINT_IRQS | TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME),
	.slot	= TRACER_SLOT_GRAPH,
};

static int graph_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	switch (bit) {
	case TRACE_GRAPH_PRINT_IRQS:
		WRITE_ONCE(graph_skip_irqs, !set);
		ftrace_graph_look_closer(!set);
		break;
	case TRACE_GRAPH_SLEEP_TIME:
		ftrace_graph_sleep_time_control(set);
		ftrace_times_sleep_time_changed();
		break;
	case TRACE_GRAPH_GRAPH_TIME:
		ftrace_graph_graph_time_control(set);
		break;
	}
	return 0;
}

/* Recording */

static __always_inline int graph_record_entry(struct trace_array *tr,
					      const struct ftrace_graph_ent *trace,
					      u32 word)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ftrace_graph_ent_entry *entry;
	struct trace_record record;

	entry = trace_record_begin_at(&record, buffer, sizeof(*entry), NULL);
	if (!entry)
		return 0;
	trace_record_entry(&entry->ent, word);
	entry->graph_ent = *trace;
	trace_record_end(&record);
	return 1;
}

static __always_inline void graph_record_return(struct trace_array *tr,
						const struct ftrace_graph_ret *trace,
						u32 word)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ftrace_graph_ret_entry *entry;
	struct trace_record record;
	u64 now = trace->rettime;

	entry = trace_record_begin_at(&record, buffer, sizeof(*entry), &now);
	if (!entry)
		return;
	trace_record_entry(&entry->ent, word);
	entry->ret = *trace;
	trace_record_end(&record);
}

static __always_inline bool graph_skips_irq(void)
{
	return unlikely(READ_ONCE(graph_skip_irqs)) && in_hardirq();
}

/* With a threshold, only returns are recorded: of functions that took longer. */
static __always_inline int graph_trace_entry(struct trace_array *tr,
					     const struct ftrace_graph_ent *trace)
{
	if (unlikely(READ_ONCE(tracing_thresh)))
		return 1;
	if (!graph_record_entry(tr, trace, trace_word_without(TRACE_GRAPH_ENT, 0)))
		return 0;
	trace_guard_count(tr, trace->func, TRACE_GUARD_GRAPH);
	return 1;
}

static noinline int graph_trace_entry_filtered(const struct ftrace_graph_ent *trace,
					       struct fgraph_ops *gops)
{
	int ret = 0;

	if (ftrace_graph_is_too_deep(trace->depth))
		return 0;
	switch (ftrace_graph_filter_entry(gops, trace)) {
	case FTRACE_GRAPH_SKIP:
		return 0;
	case FTRACE_GRAPH_HIDE:
		return 1;
	case FTRACE_GRAPH_TRACE:
		break;
	}
	/* An interrupt that set_graph_function asks for is recorded anyway. */
	if (!graph_skips_irq() || ftrace_graph_in_irq(gops))
		ret = graph_trace_entry(gops->private, trace);
	if (!ret)
		ftrace_graph_leave(gops, trace->depth);
	return ret;
}

/**
 * trace_graph_entry - record a call
 * @trace: the function and its depth
 * @gops: the graph user; its private is the instance
 *
 * Context: called by fgraph.c as an entryfunc: any context that can be traced,
 * preemption disabled.
 * Return: nonzero if the return of the function is of interest.
 */
int trace_graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	if (ftrace_graph_is_filtered())
		return graph_trace_entry_filtered(trace, gops);
	return graph_trace_entry(gops->private, trace);
}

/*
 * The ring that a call is to be recorded in, if nothing but this call and this user has to be
 * looked at, and it has no writer. Preemption is off.
 */
static __always_inline struct ring_buffer_per_cpu *
graph_simple(const struct task_struct *task, struct trace_buffer *buffer)
{
	if (unlikely(READ_ONCE(tracing_thresh) | ftrace_graph_is_filtered() |
		     READ_ONCE(task->trace_recursion)))
		return NULL;
	return rb_is_off(buffer) ? NULL : rb_idle(buffer);
}

static __always_inline struct trace_buffer *graph_buffer(const struct fgraph_ops *gops)
{
	const struct trace_array *tr = gops->private;

	return tr->array_buffer.buffer;
}

/* Returns whether the function's return is to be hooked. */
static __always_inline bool graph_enter_alone(struct task_struct *task, struct fgraph_ops *gops,
					      struct trace_buffer *buffer,
					      struct ring_buffer_per_cpu *cpu_buffer,
					      unsigned long ip, unsigned long *retp)
{
	u64 meta = gops->meta | FGRAPH_META_ALONE;
	struct ftrace_graph_ent_entry *entry;
	struct ftrace_ret_stack *frame;
	void *data;

	if (unlikely(!fgraph_push(task, ip, retp, meta, FGRAPH_ENTRY_WORDS, &frame)))
		return false;
	rb_begin(buffer, cpu_buffer, sizeof(*entry), TRACE_RECORD_ALONE, NULL, &data);
	if (unlikely(!data)) {
		fgraph_drop_top(task, FGRAPH_ENTRY_WORDS);
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
	frame->calltime = trace_clock_local_inline() - fgraph_slept(task->ret_stack);
	trace_record_end_alone(cpu_buffer);
	return true;
}

/*
 * ftrace_graph_func() and trace_graph_entry(), in line, for sites without another graph user.
 * Calls that are not simple go there.
 */
__no_stack_protector
static void trace_graph_alone(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs)
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
	if (likely(gops->entryfunc == trace_graph_entry)) {
		buffer = graph_buffer(gops);
		cpu_buffer = graph_simple(task, buffer);
	}
	if (likely(cpu_buffer) &&
	    likely(graph_enter_alone(task, gops, buffer, cpu_buffer, ip, retp))) {
		*retp = FTRACE_RETURN_HANDLER;
		trace_guard_count(gops->private, ip, TRACE_GUARD_GRAPH);
	}
	preempt_enable_notrace();
	if (unlikely(!cpu_buffer))
		ftrace_graph_func(ip, retp, cs);
}

NOKPROBE_SYMBOL(trace_graph_alone);

/**
 * trace_graph_return - record a return
 * @trace: the function, its depth and its times
 * @gops: the graph user; its private is the instance
 *
 * Context: as for trace_graph_entry(), as a retfunc.
 */
void trace_graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	struct trace_array *tr = gops->private;
	unsigned long threshold = READ_ONCE(tracing_thresh);

	if (ftrace_graph_is_filtered() && !ftrace_graph_filter_return(gops, trace))
		return;
	if (unlikely(threshold)) {
		if (trace->rettime - trace->calltime < threshold)
			return;
		trace_guard_count(tr, trace->func, TRACE_GUARD_GRAPH);
	}
	graph_record_return(tr, trace, trace_word_without(TRACE_GRAPH_RET, 0));
}

/* The same at the return, in place of trace_graph_return(). */
__no_stack_protector
static bool trace_graph_return_alone(struct task_struct *task,
				     const struct ftrace_ret_stack *frame,
				     struct ftrace_regs *fregs, struct fgraph_ops *gops)
{
	struct trace_buffer *buffer = graph_buffer(gops);
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ftrace_graph_ret_entry *entry;
	void *data;
	u64 now;

	cpu_buffer = graph_simple(task, buffer);
	if (unlikely(!cpu_buffer))
		return false;
	rb_begin(buffer, cpu_buffer, sizeof(*entry), TRACE_RECORD_ALONE, &now, &data);
	if (unlikely(!data))
		return true;
	entry = data;
	trace_record_entry(&entry->ent, trace_word_without(TRACE_GRAPH_RET, 0));
	entry->ret = fgraph_make_ret(task, frame, fregs, now);
	trace_record_end_alone(cpu_buffer);
	return true;
}

NOKPROBE_SYMBOL(trace_graph_return_alone);

/**
 * __trace_graph_entry - record a call without asking
 * @tr: the instance
 * @trace: the function and its depth
 * @trace_ctx: from tracing_gen_ctx() and the like
 *
 * Context: any; preemption disabled.
 * Return: 1, or 0 if the buffer takes nothing.
 */
int __trace_graph_entry(struct trace_array *tr, struct ftrace_graph_ent *trace,
			unsigned int trace_ctx)
{
	return graph_record_entry(tr, trace, trace_word(TRACE_GRAPH_ENT, trace_ctx));
}

/**
 * __trace_graph_return - record a return without asking
 * @tr: the instance
 * @trace: the function, its depth and its times
 * @trace_ctx: from tracing_gen_ctx() and the like
 *
 * Context: any; preemption disabled.
 */
void __trace_graph_return(struct trace_array *tr, struct ftrace_graph_ret *trace,
			  unsigned int trace_ctx)
{
	graph_record_return(tr, trace, trace_word(TRACE_GRAPH_RET, trace_ctx));
}

/**
 * trace_graph_function - record a place in a function as a call that took no time
 * @tr: the instance
 * @ip: the place
 * @parent_ip: not shown
 * @trace_ctx: from tracing_gen_ctx() and the like
 *
 * Context: any; preemption disabled.
 */
void trace_graph_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
			  unsigned int trace_ctx)
{
	struct ftrace_graph_ent call = { .func = ip };
	struct ftrace_graph_ret ret = { .func = ip };

	ret.calltime = trace_clock_local();
	ret.rettime = ret.calltime;
	graph_record_entry(tr, &call, trace_word(TRACE_GRAPH_ENT, trace_ctx));
	graph_record_return(tr, &ret, trace_word(TRACE_GRAPH_RET, trace_ctx));
}

/* Showing */

static enum print_line_t graph_print_line(struct trace_iterator *iter)
{
	return print_graph_function_flags(iter, tracer_flags_of(iter->tr, &graph_flags));
}

static enum print_line_t graph_print_event(struct trace_iterator *iter, int flags,
					   struct trace_event *event)
{
	return graph_print_line(iter);
}

static void graph_print_headers(struct seq_file *m)
{
	const struct trace_iterator *iter = m->private;

	print_graph_headers_flags(m, tracer_flags_of(iter->tr, &graph_flags));
}

/* The tracer and its instances */

static void graph_init_gops(struct fgraph_ops *gops, struct trace_array *tr, struct ftrace_ops *ops)
{
	gops->entryfunc = trace_graph_entry;
	gops->retfunc = trace_graph_return;
	gops->alone_ret = trace_graph_return_alone;
	gops->private = tr;
	gops->ops.alone_func = trace_graph_alone;
	gops->ops.guarded = true;
	fgraph_init_ops(&gops->ops, ops);
	tr->gops = gops;
}

/**
 * init_array_fgraph_ops - give the top instance its graph user
 * @tr: the top instance
 * @ops: whose filter the graph user goes by
 *
 * Context: boot.
 */
__init void init_array_fgraph_ops(struct trace_array *tr, struct ftrace_ops *ops)
{
	static struct fgraph_ops top;

	graph_init_gops(&top, tr, ops);
}

/**
 * allocate_fgraph_ops - give an instance its graph user
 * @tr: the instance
 * @ops: whose filter the graph user goes by
 *
 * Context: process context, sleeps.
 * Return: 0 or -ENOMEM.
 */
int allocate_fgraph_ops(struct trace_array *tr, struct ftrace_ops *ops)
{
	struct fgraph_ops *gops = kzalloc(sizeof(*gops), GFP_KERNEL);

	if (!gops)
		return -ENOMEM;
	graph_init_gops(gops, tr, ops);
	return 0;
}

/**
 * free_fgraph_ops - take back allocate_fgraph_ops()
 * @tr: the instance, which does not trace
 */
void free_fgraph_ops(struct trace_array *tr)
{
	kfree(tr->gops);
	tr->gops = NULL;
}

static int graph_trace_init(struct trace_array *tr)
{
	int ret = register_ftrace_graph(tr->gops);

	if (ret)
		return ret;
	tracing_start_cmdline_record();
	trace_guard_tell_start(tr);
	return 0;
}

static void graph_trace_reset(struct trace_array *tr)
{
	tracing_stop_cmdline_record();
	unregister_ftrace_graph(tr->gops);
}

static struct tracer graph_tracer __tracer_data = {
	.name		= "function_graph",
	.init		= graph_trace_init,
	.reset		= graph_trace_reset,
	.open		= graph_trace_open,
	.close		= graph_trace_close,
	.pipe_open	= graph_trace_open,
	.pipe_close	= graph_trace_close,
	.print_header	= graph_print_headers,
	.print_line	= graph_print_line,
	.set_flag	= graph_set_flag,
	.flags		= &graph_flags,
	.allow_instances = true,
#ifdef CONFIG_FTRACE_SELFTEST
	.selftest	= trace_selftest_startup_function_graph,
#endif
};

static struct trace_event_functions graph_event_funcs = {
	.trace	= graph_print_event,
};

static struct trace_event graph_events[] = {
	{ .type = TRACE_GRAPH_ENT, .funcs = &graph_event_funcs },
	{ .type = TRACE_GRAPH_RET, .funcs = &graph_event_funcs },
};

static int __init graph_init(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(graph_events); i++) {
		if (!register_trace_event(&graph_events[i])) {
			pr_warn("function_graph: event type %d is taken\n", graph_events[i].type);
			return -EBUSY;
		}
	}
	return register_tracer(&graph_tracer);
}
core_initcall(graph_init);

/* max_graph_depth */

static ssize_t graph_depth_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[sizeof("4294967295\n")];
	int len = scnprintf(buf, sizeof(buf), "%u\n", READ_ONCE(fgraph_max_depth));

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t graph_depth_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	unsigned int depth;
	int ret = kstrtouint_from_user(ubuf, cnt, 10, &depth);

	if (ret)
		return ret;
	WRITE_ONCE(fgraph_max_depth, depth);
	ftrace_graph_look_closer(depth);
	*ppos += cnt;
	return cnt;
}

static const struct file_operations graph_depth_fops = {
	.open	= tracing_open_generic,
	.read	= graph_depth_read,
	.write	= graph_depth_write,
	.llseek	= generic_file_llseek,
};

static int __init graph_init_tracefs(void)
{
	if (!tracing_init_dentry())
		trace_create_file("max_graph_depth", TRACE_MODE_WRITE, NULL, NULL,
				  &graph_depth_fops);
	return 0;
}
fs_initcall(graph_init_tracefs);

static int __init graph_depth_setup(char *str)
{
	int ret = kstrtouint(str, 0, &fgraph_max_depth);

	ftrace_graph_look_closer(fgraph_max_depth);
	return !ret;
}
__setup("ftrace_graph_max_depth=", graph_depth_setup);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_functions_graph_kunit.c"
#endif
