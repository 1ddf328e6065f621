// SPDX-License-Identifier: GPL-2.0
/*
 * Shows the calls and returns that function_graph and the latency tracers have
 * recorded like C source, with how long each function took.
 *
 *	call, and its return is the CPU's next record:	    func();
 *	call, otherwise:				    func() {
 *	return:						    }
 *	any other record, an event for one:		      / * event * /
 *
 * Looking at the next record consumes the present one where a reader consumes
 * (trace_pipe). So it is looked at only if there is room for any line. That is room in
 * the buffer: a call whose line is longer than the rest that splice() asks for is lost.
 *
 * Invariants:
 *  1. The state of a reader (struct graph_cpu) changes only after a line was
 *     shown whole: a line that is shown again looks the same.
 */
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include <asm/sections.h>

#include "trace.h"
#include "trace_output.h"

/* Columns for each level of calls. */
#define GRAPH_INDENT		2

/* Up to this depth, a return is compared with the call that was shown. */
#define GRAPH_OPEN_MAX		50

/* Beside TRACE_GRAPH_PRINT_*, for the table of columns. */
#define GRAPH_LATENCY		BIT(31)

/* No call takes more: a switch, an interrupt and its end, and a long name deep down. */
#define GRAPH_LINE_MAX		SZ_2K

/* Digits of the highest CPU number. */
static int graph_cpu_digits __ro_after_init = 1;

/* The state of a reader, in its private */

/**
 * struct graph_cpu - the last line of a CPU
 * @last_pid: its task, or -1
 * @depth: where a comment goes
 * @irq_depth: in an interrupt that is not shown: its depth; otherwise -1
 * @func: the functions that were opened and not closed
 */
struct graph_cpu {
	pid_t		last_pid;
	int		depth;
	int		irq_depth;
	unsigned long	func[GRAPH_OPEN_MAX];
};

/**
 * struct graph_call - a call to show
 * @entry: the record; aligned as in the buffer
 * @ret: the record of its return, of a leaf
 * @is_leaf: its return followed at once
 */
struct graph_call {
	struct ftrace_graph_ent_entry	entry;
	struct ftrace_graph_ret_entry	ret;
	bool				is_leaf;
};

/* NULL where another tracer shows our records, or memory was short. */
static struct graph_cpu *graph_reader_cpu(const struct trace_iterator *iter)
{
	struct graph_cpu __percpu *cpus = (__force void __percpu *)iter->private;

	return cpus ? per_cpu_ptr(cpus, iter->cpu) : NULL;
}

static unsigned long *graph_cpu_func(struct graph_cpu *cpu, int depth)
{
	if (!cpu || WARN_ON_ONCE(depth < 0) || depth >= GRAPH_OPEN_MAX)
		return NULL;
	return &cpu->func[depth];
}

/**
 * graph_trace_open - prepare a reader
 * @iter: the reader
 *
 * Without memory, lines are shown without regard to those before.
 *
 * Context: any; ftrace_dump() may call it.
 */
void graph_trace_open(struct trace_iterator *iter)
{
	gfp_t gfp = preemptible() ? GFP_KERNEL : GFP_ATOMIC;
	struct graph_cpu __percpu *cpus = alloc_percpu_gfp(struct graph_cpu, gfp);
	int cpu;

	iter->private = (__force void *)cpus;
	if (!cpus) {
		pr_warn("function_graph: no memory to show calls in full\n");
		return;
	}
	for_each_possible_cpu(cpu) {
		per_cpu_ptr(cpus, cpu)->last_pid = -1;
		per_cpu_ptr(cpus, cpu)->irq_depth = -1;
	}
}

/**
 * graph_trace_close - free the state of a reader
 * @iter: the reader
 */
void graph_trace_close(struct trace_iterator *iter)
{
	free_percpu((__force void __percpu *)iter->private);
	iter->private = NULL;
}

/* Columns */

static void graph_print_cpu(struct trace_seq *s, int cpu)
{
	trace_seq_printf(s, " %*d) ", graph_cpu_digits, cpu);
}

/* Seven characters of the name, and the whole centered. */
static void graph_print_task(struct trace_seq *s, pid_t pid)
{
	char comm[TASK_COMM_LEN], task[7 + sizeof("--2147483648")];
	int space;

	trace_find_cmdline(pid, comm);
	space = max(14 - scnprintf(task, sizeof(task), "%.7s-%d", comm, pid), 0);
	trace_seq_printf(s, "%*s%s%*s", space / 2, "", task, space - space / 2, "");
}

static void graph_print_columns(struct trace_iterator *iter, u32 flags)
{
	struct trace_seq *s = &iter->seq;

	if (!(iter->tr->trace_flags & TRACE_ITER_CONTEXT_INFO))
		return;
	if (flags & TRACE_GRAPH_PRINT_ABS_TIME) {
		u64 sec = iter->ts;
		unsigned long rem = do_div(sec, NSEC_PER_SEC);

		trace_seq_printf(s, "%5llu.%06lu |  ", sec, rem / NSEC_PER_USEC);
	}
	if (flags & TRACE_GRAPH_PRINT_REL_TIME)
		trace_seq_printf(s, "%9llu us |  ",
				 div_u64(iter->ts - iter->array_buffer->time_start, NSEC_PER_USEC));
	if (flags & TRACE_GRAPH_PRINT_CPU)
		graph_print_cpu(s, iter->cpu);
	if (flags & TRACE_GRAPH_PRINT_PROC) {
		graph_print_task(s, iter->ent->pid);
		trace_seq_puts(s, " | ");
	}
	if (iter->tr->trace_flags & TRACE_ITER_LATENCY_FMT) {
		trace_seq_putc(s, ' ');
		trace_print_lat_fmt(s, iter->ent);
		trace_seq_puts(s, " | ");
	}
}

/**
 * trace_print_graph_duration - print a time in microseconds
 * @duration: the time, in nanoseconds
 * @s: where to
 *
 * Three digits after the point, or as many as leave no more than seven in
 * all; microseconds are never cut. Then " us ", and spaces that line it up.
 */
void trace_print_graph_duration(unsigned long long duration, struct trace_seq *s)
{
	u32 rem = do_div(duration, NSEC_PER_USEC);
	char buf[sizeof("18446744073709551.615")];
	int whole, len;

	len = scnprintf(buf, sizeof(buf), "%llu.%03u", duration, rem);
	whole = len - strlen(".000");
	len = whole < 7 ? min(len, 8) : whole;
	trace_seq_printf(s, "%.*s us %*s", len, buf, max(8 - len, 0), "");
}

static bool graph_has_duration(const struct trace_iterator *iter, u32 flags)
{
	return (flags & TRACE_GRAPH_PRINT_DURATION) &&
	       (iter->tr->trace_flags & TRACE_ITER_CONTEXT_INFO);
}

/* The column stays empty without @ret. */
static void graph_print_duration(struct trace_iterator *iter, const struct ftrace_graph_ret *ret,
				 u32 flags)
{
	u64 duration = ret ? ret->rettime - ret->calltime : 0;
	struct trace_seq *s = &iter->seq;

	if (!graph_has_duration(iter, flags))
		return;
	if (!ret) {
		trace_seq_puts(s, "              |  ");
		return;
	}
	trace_seq_putc(s, flags & TRACE_GRAPH_PRINT_OVERHEAD ? trace_find_mark(duration) : ' ');
	trace_seq_putc(s, ' ');
	trace_print_graph_duration(duration, s);
	trace_seq_puts(s, "|  ");
}

/* Lines beside the calls */

static bool graph_is_irq_entry(const struct trace_iterator *iter, unsigned long func)
{
	func += iter->tr->text_delta;
	return func >= (unsigned long)__irqentry_text_start &&
	       func < (unsigned long)__irqentry_text_end;
}

static void graph_print_irq(struct trace_iterator *iter, const char *arrow, u32 flags)
{
	struct trace_seq *s = &iter->seq;

	graph_print_columns(iter, flags);
	trace_seq_printf(s, graph_has_duration(iter, flags) ? "  %s |\n" : "%s\n", arrow);
}

/* Every line begins here, after a note if the CPU has switched; see graph_line_end(). */
static void graph_line_begin(struct trace_iterator *iter)
{
	static const char rule[] = " ------------------------------------------\n";
	const struct graph_cpu *cpu = graph_reader_cpu(iter);
	struct trace_seq *s = &iter->seq;

	if (!cpu || cpu->last_pid == -1 || cpu->last_pid == iter->ent->pid)
		return;
	trace_seq_puts(s, rule);
	graph_print_cpu(s, iter->cpu);
	graph_print_task(s, cpu->last_pid);
	trace_seq_puts(s, " => ");
	graph_print_task(s, iter->ent->pid);
	trace_seq_printf(s, "\n%s\n", rule);
}

static enum print_line_t graph_line_end(struct trace_iterator *iter)
{
	struct graph_cpu *cpu = graph_reader_cpu(iter);

	if (trace_seq_has_overflowed(&iter->seq))
		return TRACE_TYPE_PARTIAL_LINE;
	if (cpu)
		cpu->last_pid = iter->ent->pid;
	return TRACE_TYPE_HANDLED;
}

/* With funcgraph-irqs off, the calls from the entry of an interrupt to its return are left out. */
static bool graph_skips_call(const struct trace_iterator *iter, const struct ftrace_graph_ent *call,
			     u32 flags)
{
	struct graph_cpu *cpu = graph_reader_cpu(iter);

	if (!cpu || (flags & TRACE_GRAPH_PRINT_IRQS))
		return false;
	if (cpu->irq_depth < 0 && graph_is_irq_entry(iter, call->func))
		cpu->irq_depth = call->depth;
	return cpu->irq_depth >= 0;
}

/* A return from further up ends it, too: the interrupt's own may be lost. */
static bool graph_skips_return(const struct trace_iterator *iter,
			       const struct ftrace_graph_ret *ret, u32 flags)
{
	struct graph_cpu *cpu = graph_reader_cpu(iter);

	if (!cpu || (flags & TRACE_GRAPH_PRINT_IRQS) || cpu->irq_depth < 0)
		return false;
	if (ret->depth <= cpu->irq_depth)
		cpu->irq_depth = -1;
	return true;
}

static unsigned long graph_retval(const struct ftrace_graph_ret *ret)
{
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	return ret->retval;
#else
	return 0;
#endif
}

static void graph_print_retval(struct trace_seq *s, unsigned long retval, u32 flags)
{
	/* The type is not known: 32 bits that would be an error as an int are one. */
	long error = retval == (u32)retval ? (s32)retval : (long)retval;

	if (IS_ERR_VALUE(error) && !(flags & TRACE_GRAPH_PRINT_RETVAL_HEX))
		trace_seq_printf(s, "= %ld */\n", error);
	else
		trace_seq_printf(s, "= 0x%lx */\n", retval);
}

/* Calls */

/* A leaf's return is on the same line. */
static void graph_print_call_line(struct trace_iterator *iter, const struct graph_call *call,
				  u32 flags)
{
	const struct ftrace_graph_ret *ret = call->is_leaf ? &call->ret.ret : NULL;
	const struct ftrace_graph_ent *ent = &call->entry.graph_ent;
	bool is_irq = graph_is_irq_entry(iter, ent->func);
	struct trace_seq *s = &iter->seq;

	if (is_irq)
		graph_print_irq(iter, "==========>", flags);
	graph_print_columns(iter, flags);
	graph_print_duration(iter, ret, flags);
	trace_seq_printf(s, "%*s%ps()%s", max(ent->depth, 0) * GRAPH_INDENT, "",
			 (void *)(ent->func + iter->tr->text_delta), ret ? ";" : " {");
	if (ret && (flags & TRACE_GRAPH_PRINT_RETVAL)) {
		trace_seq_puts(s, " /* ");
		graph_print_retval(s, graph_retval(ret), flags);
	} else {
		trace_seq_putc(s, '\n');
	}
	if (ret && is_irq)
		graph_print_irq(iter, "<==========", flags);
}

/* The iterator may have gone on from the call: its record may even be overwritten. */
static enum print_line_t graph_print_call(struct trace_iterator *iter, struct graph_call *call,
					  u32 flags)
{
	const struct ftrace_graph_ent *graph = &call->entry.graph_ent;
	struct trace_entry *ent = iter->ent;
	struct graph_cpu *state;
	enum print_line_t ret;
	unsigned long *func;

	iter->ent = &call->entry.ent;
	graph_line_begin(iter);
	graph_print_call_line(iter, call, flags);
	ret = graph_line_end(iter);
	state = graph_reader_cpu(iter);
	if (ret == TRACE_TYPE_HANDLED && state) {
		func = graph_cpu_func(state, graph->depth);
		if (func)
			*func = call->is_leaf ? 0 : graph->func;
		/* A comment goes below a function that was opened, but beside a leaf. */
		state->depth = call->is_leaf ? graph->depth - 1 : graph->depth;
	}

	iter->ent = ent;
	return ret;
}

/*
 * Looks for the return of a leaf in the record after the call. A reader that
 * does not consume moves on to it if it is; one that does has consumed the
 * call, and is left to consume the return.
 */
static bool graph_take_leaf(struct trace_iterator *iter, struct graph_call *call)
{
	struct ring_buffer_iter *ring_iter = trace_buffer_iter(iter, iter->cpu);
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	struct ftrace_graph_ret_entry *next;
	struct ring_buffer_event *event;

	if (ring_iter) {
		event = ring_buffer_iter_peek(ring_iter, NULL);
	} else {
		ring_buffer_consume(buffer, iter->cpu, NULL, NULL);
		event = ring_buffer_peek(buffer, iter->cpu, NULL, NULL);
	}
	if (!event)
		return false;

	next = ring_buffer_event_data(event);
	if (next->ent.type != TRACE_GRAPH_RET || next->ent.pid != call->entry.ent.pid ||
	    next->ret.func != call->entry.graph_ent.func)
		return false;
	call->ret = *next;
	if (ring_iter)
		ring_buffer_iter_advance(ring_iter);
	return true;
}

/* The size in the trace_seq is 0 until something is written to it. */
static bool graph_has_room(struct trace_iterator *iter)
{
	return trace_buffer_iter(iter, iter->cpu) ||
	       TRACE_SEQ_BUFFER_SIZE - trace_seq_used(&iter->seq) >= GRAPH_LINE_MAX;
}

static enum print_line_t graph_print_entry(struct trace_iterator *iter, u32 flags)
{
	struct graph_call call = { };
	struct ftrace_graph_ent_entry *entry;
	enum print_line_t ret;

	if (!graph_has_room(iter))
		return TRACE_TYPE_PARTIAL_LINE;

	trace_assign_type(entry, iter->ent);
	if (graph_skips_call(iter, &entry->graph_ent, flags))
		return TRACE_TYPE_HANDLED;

	call.entry = *entry;
	call.is_leaf = graph_take_leaf(iter, &call);
	ret = graph_print_call(iter, &call, flags);
	if (ret == TRACE_TYPE_PARTIAL_LINE)
		return ret;
	/* The call is consumed; of a leaf, the return is not. */
	return call.is_leaf ? ret : TRACE_TYPE_NO_CONSUME;
}

static enum print_line_t graph_print_return(struct trace_iterator *iter, u32 flags)
{
	struct graph_cpu *cpu = graph_reader_cpu(iter);
	struct ftrace_graph_ret_entry *entry;
	struct trace_seq *s = &iter->seq;
	struct ftrace_graph_ret *trace;
	enum print_line_t ret;
	unsigned long *opened;
	void *func;

	trace_assign_type(entry, iter->ent);
	trace = &entry->ret;
	if (graph_skips_return(iter, trace, flags))
		return TRACE_TYPE_HANDLED;
	opened = graph_cpu_func(cpu, trace->depth);
	func = (void *)(trace->func + iter->tr->text_delta);

	graph_line_begin(iter);
	graph_print_columns(iter, flags);
	graph_print_duration(iter, trace, flags);
	trace_seq_printf(s, "%*s", max(trace->depth, 0) * GRAPH_INDENT, "");
	/* A brace that closes nothing that was shown needs a name. */
	if (flags & TRACE_GRAPH_PRINT_RETVAL) {
		trace_seq_printf(s, "} /* %ps ", func);
		graph_print_retval(s, graph_retval(trace), flags);
	} else if ((flags & TRACE_GRAPH_PRINT_TAIL) || (opened && *opened != trace->func)) {
		trace_seq_printf(s, "} /* %ps */\n", func);
	} else {
		trace_seq_puts(s, "}\n");
	}
	if (flags & TRACE_GRAPH_PRINT_OVERRUN)
		trace_seq_printf(s, " (Overruns: %u)\n", trace->overrun);
	if (graph_is_irq_entry(iter, trace->func))
		graph_print_irq(iter, "<==========", flags);

	ret = graph_line_end(iter);
	if (ret == TRACE_TYPE_HANDLED && cpu) {
		cpu->depth = trace->depth - 1;
		if (opened)
			*opened = 0;
	}
	return ret;
}

/* Comments: the records of others */

static enum print_line_t graph_print_message(struct trace_iterator *iter)
{
	struct trace_event *event;

	switch (iter->ent->type) {
	case TRACE_BPUTS:
		return trace_print_bputs_msg_only(iter);
	case TRACE_BPRINT:
		return trace_print_bprintk_msg_only(iter);
	case TRACE_PRINT:
		return trace_print_printk_msg_only(iter);
	}
	event = ftrace_find_event(iter->ent->type);
	if (!event)
		return TRACE_TYPE_UNHANDLED;
	return event->funcs->trace(iter, iter->tr->trace_flags & TRACE_ITER_SYM_MASK, event);
}

static enum print_line_t graph_print_comment(struct trace_iterator *iter, u32 flags)
{
	const struct graph_cpu *cpu = graph_reader_cpu(iter);
	struct trace_seq *s = &iter->seq;
	enum print_line_t ret;

	graph_line_begin(iter);
	graph_print_columns(iter, flags);
	graph_print_duration(iter, NULL, flags);
	trace_seq_printf(s, "%*s/* ", cpu && cpu->depth > 0 ? (cpu->depth + 1) * GRAPH_INDENT : 0,
			 "");
	ret = graph_print_message(iter);
	if (ret != TRACE_TYPE_HANDLED)
		return ret;
	/* Messages bring their own end of line. */
	if (!trace_seq_has_overflowed(s) && s->buffer[s->seq.len - 1] == '\n')
		s->buffer[--s->seq.len] = '\0';
	trace_seq_puts(s, " */\n");
	return graph_line_end(iter);
}

/**
 * print_graph_function_flags - show a record as part of the graph
 * @iter: stands at the record
 * @flags: TRACE_GRAPH_PRINT_*: the columns
 *
 * Context: as the print_line() of a tracer.
 * Return: as print_line(); TRACE_TYPE_NO_CONSUME where the record was consumed
 * already.
 */
enum print_line_t print_graph_function_flags(struct trace_iterator *iter, u32 flags)
{
	switch (iter->ent->type) {
	case TRACE_GRAPH_ENT:
		return graph_print_entry(iter, flags);
	case TRACE_GRAPH_RET:
		return graph_print_return(iter, flags);
	case TRACE_STACK:
	case TRACE_FN:
		return TRACE_TYPE_UNHANDLED;
	default:
		return graph_print_comment(iter, flags);
	}
}

/* Headers */

static const struct {
	u32		flag;
	const char	*title;
	const char	*below;
} graph_columns[] = {
	{ TRACE_GRAPH_PRINT_ABS_TIME,	"     TIME       ",  "      |         " },
	{ TRACE_GRAPH_PRINT_REL_TIME,	"   REL TIME     ",  "      |         " },
	{ TRACE_GRAPH_PRINT_CPU,	" CPU",		    " |  " },
	{ TRACE_GRAPH_PRINT_PROC,	"  TASK/PID       ", "   |    |        " },
	{ GRAPH_LATENCY,		"||||   ",	    "||||   " },
	{ TRACE_GRAPH_PRINT_DURATION,	"  DURATION   ",	    "   |   |      " },
};

/* The characters of the latency column; it begins at an indent. */
static const char * const graph_latency_legend[] = {
	"  _-----=> irqs-off        ",
	" / _----=> need-resched    ",
	"| / _---=> hardirq/softirq ",
	"|| / _--=> preempt-depth   ",
	"||| /                      ",
};

/**
 * print_graph_headers_flags - print the lines above a graph
 * @m: the file; its private is the iterator
 * @flags: TRACE_GRAPH_PRINT_*: the columns
 */
void print_graph_headers_flags(struct seq_file *m, u32 flags)
{
	struct trace_iterator *iter = m->private;
	int indent = 0;

	if (!(iter->tr->trace_flags & TRACE_ITER_CONTEXT_INFO))
		return;
	if (iter->tr->trace_flags & TRACE_ITER_LATENCY_FMT) {
		if (trace_empty(iter))
			return;
		print_trace_header(m, iter);
		flags |= GRAPH_LATENCY;
		for (unsigned int i = 0; graph_columns[i].flag != GRAPH_LATENCY; i++) {
			if (flags & graph_columns[i].flag)
				indent += strlen(graph_columns[i].title);
		}
		for (unsigned int i = 0; i < ARRAY_SIZE(graph_latency_legend); i++)
			seq_printf(m, "#%*s%s\n", indent, "", graph_latency_legend[i]);
	}

	seq_putc(m, '#');
	for (unsigned int i = 0; i < ARRAY_SIZE(graph_columns); i++) {
		if (flags & graph_columns[i].flag)
			seq_puts(m, graph_columns[i].title);
	}
	seq_puts(m, "               FUNCTION CALLS\n#");
	for (unsigned int i = 0; i < ARRAY_SIZE(graph_columns); i++) {
		if (flags & graph_columns[i].flag)
			seq_puts(m, graph_columns[i].below);
	}
	seq_puts(m, "               |   |   |   |\n");
}

static int __init graph_print_init(void)
{
	graph_cpu_digits = snprintf(NULL, 0, "%u", nr_cpu_ids - 1);
	return 0;
}
core_initcall(graph_print_init);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_graph_print_kunit.c"
#endif
