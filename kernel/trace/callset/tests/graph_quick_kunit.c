// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the events of function_graph, in an instance made for the test: the quick
 * way and the common one write the same.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "kunit.h"

#define GRAPH_KUNIT_MAX		8
/* The value that site 0 returns. */
#define GRAPH_KUNIT_GCD		6

static struct trace_array *graph_kunit_tr;

/* The context is upstream's, but for the bits that may change in between. */
static bool graph_kunit_same_context(void)
{
	unsigned int changing = (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_NEED_RESCHED_LAZY |
				 TRACE_FLAG_PREEMPT_RESCHED) << 16;
	struct trace_entry entry;

	trace_record_entry(&entry, trace_word_without(TRACE_GRAPH_ENT, 0));
	return !((ftrace_kunit_entry_ctx(&entry) ^ tracing_gen_ctx()) & ~changing);
}

static void graph_contexts(struct kunit *test)
{
	bool preempt, irq, bh, migrate;
	unsigned long flags;

	preempt_disable();
	preempt = graph_kunit_same_context();
	local_irq_save(flags);
	irq = graph_kunit_same_context();
	local_irq_restore(flags);
	preempt_enable();
	local_bh_disable();
	bh = graph_kunit_same_context();
	local_bh_enable();
	migrate_disable();
	migrate = graph_kunit_same_context();
	migrate_enable();

	KUNIT_EXPECT_TRUE(test, graph_kunit_same_context());
	KUNIT_EXPECT_TRUE(test, preempt);
	KUNIT_EXPECT_TRUE(test, irq);
	KUNIT_EXPECT_TRUE(test, bh);
	KUNIT_EXPECT_TRUE(test, migrate);
}

/**
 * struct graph_kunit_event - an event of the test's task
 * @type: its type
 * @size: its size in bytes
 * @ret: of a return; of a call, func is set
 * @took: of a return, between its two times
 */
struct graph_kunit_event {
	int			type;
	unsigned int		size;
	struct ftrace_graph_ret	ret;
	s64			took;
};

static void graph_kunit_take(struct graph_kunit_event *to, struct ring_buffer_event *event)
{
	struct ftrace_graph_ret_entry *ret = ring_buffer_event_data(event);
	struct ftrace_graph_ent_entry *call = ring_buffer_event_data(event);

	to->type = ret->ent.type;
	to->size = ring_buffer_event_length(event);
	if (to->type == TRACE_GRAPH_RET) {
		to->ret = ret->ret;
		to->took = ret->rettime - ret->calltime;
	} else {
		to->ret.func = call->graph_ent.func;
		to->ret.depth = call->graph_ent.depth;
	}
}

/* Takes the events of the test's task out of the buffer, up to GRAPH_KUNIT_MAX of them. */
static unsigned int graph_kunit_read(struct graph_kunit_event *events)
{
	struct trace_buffer *buffer = graph_kunit_tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	struct trace_entry *ent;
	unsigned int nr = 0;
	int cpu;

	memset(events, 0, GRAPH_KUNIT_MAX * sizeof(*events));
	for_each_online_cpu(cpu) {
		while ((event = ring_buffer_consume(buffer, cpu, NULL, NULL))) {
			ent = ring_buffer_event_data(event);
			if (ent->pid == current->pid && nr < GRAPH_KUNIT_MAX)
				graph_kunit_take(&events[nr++], event);
		}
	}
	return nr;
}

static void graph_kunit_call(void)
{
	guard(preempt)();
	kunit_call_site(0);
	kunit_call_site(1);
}

static void graph_kunit_expect(struct kunit *test, const char *name, unsigned int how)
{
	int type = how & GRAPH_QUICK_RETADDR ? TRACE_GRAPH_RETADDR_ENT : TRACE_GRAPH_ENT;
	unsigned int size = graph_quick_size(how);
	struct graph_kunit_event events[GRAPH_KUNIT_MAX];

	graph_kunit_call();
	KUNIT_EXPECT_EQ_MSG(test, graph_kunit_read(events), 4, "%s", name);
	for (unsigned int i = 0; i < 4; i += 2) {
		const struct graph_kunit_event *call = &events[i], *ret = &events[i + 1];

		KUNIT_EXPECT_EQ_MSG(test, call->type, type, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, call->ret.func, kunit_site(i / 2), "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, call->size, size, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, ret->type, TRACE_GRAPH_RET, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, ret->ret.func, kunit_site(i / 2), "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, ret->ret.depth, call->ret.depth, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, ret->size, sizeof(struct ftrace_graph_ret_entry),
				    "%s", name);
		KUNIT_EXPECT_GE_MSG(test, ret->took, 0, "%s", name);
		KUNIT_EXPECT_LT_MSG(test, ret->took, NSEC_PER_SEC, "%s", name);
	}
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	KUNIT_EXPECT_EQ_MSG(test, events[1].ret.retval, GRAPH_KUNIT_GCD, "%s", name);
#endif
}

static unsigned int graph_kunit_how(void)
{
	return graph_kunit_tr->graph_quick;
}

static int graph_kunit_option(const char *option)
{
	char buf[32];

	strscpy(buf, option);
	return trace_set_options(graph_kunit_tr, buf);
}

struct graph_kunit_option {
	const char	*set;
	const char	*unset;
	unsigned int	how;
};

static const struct graph_kunit_option graph_kunit_options[] = {
	{ "funcgraph-tail",	"nofuncgraph-tail",	GRAPH_QUICK },
	{ "nosleep-time",	"sleep-time",		0 },
	{ "nofuncgraph-irqs",	"funcgraph-irqs",	0 },
#ifdef CONFIG_FUNCTION_TRACE_ARGS
	{ "funcgraph-args",	"nofuncgraph-args",	GRAPH_QUICK | GRAPH_QUICK_ARGS },
#endif
#ifdef CONFIG_FUNCTION_GRAPH_RETADDR
	{ "funcgraph-retaddr",	"nofuncgraph-retaddr",	GRAPH_QUICK | GRAPH_QUICK_RETADDR },
#endif
};

/* Each option of a running tracer, set and unset again. */
static void graph_options(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, graph_kunit_how(), GRAPH_QUICK);
	graph_kunit_expect(test, "nothing", GRAPH_QUICK);
	for (unsigned int i = 0; i < ARRAY_SIZE(graph_kunit_options); i++) {
		const struct graph_kunit_option *row = &graph_kunit_options[i];

		KUNIT_EXPECT_EQ(test, graph_kunit_option(row->set), 0);
		KUNIT_EXPECT_EQ_MSG(test, graph_kunit_how(), row->how, "%s", row->set);
		graph_kunit_expect(test, row->set, row->how);
		KUNIT_EXPECT_EQ(test, graph_kunit_option(row->unset), 0);
		KUNIT_EXPECT_EQ_MSG(test, graph_kunit_how(), GRAPH_QUICK, "%s", row->unset);
		graph_kunit_expect(test, row->unset, GRAPH_QUICK);
	}
}

/* A task that a callback is busy with takes the common way. */
static void graph_common_way(struct kunit *test)
{
	/* A bit that no callback uses, which would not record the call then. */
	const unsigned long busy = BIT(TRACE_RECORD_RECURSION_BIT + 1);
	/* With these, which say that it is recording, the common way records nothing. */
	const unsigned long all = GENMASK(TRACE_FTRACE_TRANSITION_BIT, TRACE_FTRACE_BIT);

	current->trace_recursion |= all;
	graph_kunit_call();
	current->trace_recursion = (current->trace_recursion & ~all) | busy;
	graph_kunit_expect(test, "the common way", GRAPH_QUICK);
	current->trace_recursion &= ~busy;
}

/* Each of the reasons not to write leaves the tracer as it was. */
static void graph_no_events(struct kunit *test)
{
	struct trace_buffer *buffer = graph_kunit_tr->array_buffer.buffer;
	int cpu;

	for_each_online_cpu(cpu)
		ring_buffer_record_disable_cpu(buffer, cpu);
	graph_kunit_call();
	for_each_online_cpu(cpu)
		ring_buffer_record_enable_cpu(buffer, cpu);
	ring_buffer_record_disable(buffer);
	graph_kunit_call();
	ring_buffer_record_enable(buffer);
	tracer_tracing_off(graph_kunit_tr);
	graph_kunit_call();
	tracer_tracing_on(graph_kunit_tr);
	graph_kunit_expect(test, "on again", GRAPH_QUICK);
}

static int graph_kunit_suite_init(struct kunit_suite *suite)
{
	unsigned long ips[KUNIT_NR_SITES];

	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++)
		ips[i] = kunit_site(i);
	graph_kunit_tr = trace_array_get_by_name("ftrace_kunit_graph", NULL);
	if (!graph_kunit_tr)
		return -ENOMEM;
	return ftrace_set_filter_ips(graph_kunit_tr->ops, ips, KUNIT_NR_SITES, 0, 1);
}

static void graph_kunit_suite_exit(struct kunit_suite *suite)
{
	if (!graph_kunit_tr)
		return;
	trace_array_put(graph_kunit_tr);
	trace_array_destroy(graph_kunit_tr);
}

static int graph_kunit_init(struct kunit *test)
{
	int ret;

	if (READ_ONCE(ftrace_graph_filtered) || fgraph_max_depth || tracing_thresh)
		kunit_skip(test, "the tracer is in use");
	ret = tracing_set_tracer(graph_kunit_tr, "function_graph");
	/* The task is the test's own, and ends with it. */
	return ret ?: set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

static void graph_kunit_exit(struct kunit *test)
{
	tracing_set_tracer(graph_kunit_tr, "nop");
}

static struct kunit_case graph_kunit_cases[] = {
	KUNIT_CASE(graph_contexts),
	KUNIT_CASE(graph_options),
	KUNIT_CASE(graph_common_way),
	KUNIT_CASE(graph_no_events),
	{ }
};

static struct kunit_suite graph_kunit_suite = {
	.name		= "ftrace_graph_quick",
	.suite_init	= graph_kunit_suite_init,
	.suite_exit	= graph_kunit_suite_exit,
	.init		= graph_kunit_init,
	.exit		= graph_kunit_exit,
	.test_cases	= graph_kunit_cases,
};

kunit_test_suite(graph_kunit_suite);
