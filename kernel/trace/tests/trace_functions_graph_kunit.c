// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the events that the function_graph tracer records, in an instance
 * made for the test.
 */
#include <linux/bottom_half.h>
#include <linux/irqflags.h>

#include "ftrace_kunit.h"

/* The word of the context is upstream's, but for the bits that may change in between. */
static bool graph_kunit_same_context(void)
{
	unsigned int changing = (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 16;
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

static unsigned long graph_kunit_records(struct trace_array *tr)
{
	return ring_buffer_entries(tr->array_buffer.buffer);
}

static int graph_kunit_call(struct fgraph_ops *gops)
{
	struct ftrace_graph_ret ret = { .func = (unsigned long)int_sqrt, .depth = 1 };
	struct ftrace_graph_ent ent = { .func = (unsigned long)int_sqrt, .depth = 1 };
	int wants;

	preempt_disable_notrace();
	wants = trace_graph_entry(&ent, gops);
	if (wants)
		trace_graph_return(&ret, gops);
	preempt_enable_notrace();
	return wants;
}

static void graph_records(struct kunit *test)
{
	struct trace_array *tr;
	int cpu;

	if (ftrace_graph_is_filtered() || fgraph_max_depth || tracing_thresh || graph_skip_irqs)
		kunit_skip(test, "the tracer is in use");
	tr = trace_array_get_by_name("ftrace_kunit_graph", NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);

	KUNIT_EXPECT_PTR_EQ(test, tr->gops->private, (void *)tr);
	KUNIT_EXPECT_EQ(test, graph_kunit_call(tr->gops), 1);
	KUNIT_EXPECT_EQ(test, graph_kunit_records(tr), 2);

	for_each_online_cpu(cpu)
		ring_buffer_record_disable_cpu(tr->array_buffer.buffer, cpu);
	KUNIT_EXPECT_EQ(test, graph_kunit_call(tr->gops), 0);
	for_each_online_cpu(cpu)
		ring_buffer_record_enable_cpu(tr->array_buffer.buffer, cpu);
	KUNIT_EXPECT_EQ(test, graph_kunit_records(tr), 2);

	ring_buffer_record_off(tr->array_buffer.buffer);
	KUNIT_EXPECT_EQ(test, graph_kunit_call(tr->gops), 0);
	ring_buffer_record_on(tr->array_buffer.buffer);
	KUNIT_EXPECT_EQ(test, graph_kunit_records(tr), 2);

	preempt_disable_notrace();
	trace_graph_function(tr, (unsigned long)int_sqrt, 0, tracing_gen_ctx());
	preempt_enable_notrace();
	KUNIT_EXPECT_EQ(test, graph_kunit_records(tr), 4);

	trace_array_put(tr);
	trace_array_destroy(tr);
}

static void graph_depths(struct kunit *test)
{
	unsigned int max = fgraph_max_depth;

	if (max)
		kunit_skip(test, "max_graph_depth is set");
	KUNIT_EXPECT_FALSE(test, ftrace_graph_is_too_deep(0));
	KUNIT_EXPECT_FALSE(test, ftrace_graph_is_too_deep(INT_MAX));
	WRITE_ONCE(fgraph_max_depth, 1);
	KUNIT_EXPECT_FALSE(test, ftrace_graph_is_too_deep(0));
	KUNIT_EXPECT_TRUE(test, ftrace_graph_is_too_deep(1));
	WRITE_ONCE(fgraph_max_depth, max);
}

/*
 * An event holds the fields that events/ftrace/funcgraph_exit/format describes, and nothing else.
 */
static void graph_event_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct ftrace_graph_ent_entry),
			sizeof(struct trace_entry) + sizeof(struct ftrace_graph_ent));
	KUNIT_EXPECT_EQ(test, sizeof(struct ftrace_graph_ret_entry),
			sizeof(struct trace_entry) + sizeof(struct ftrace_graph_ret));
}

static struct kunit_case graph_kunit_cases[] = {
	KUNIT_CASE(graph_contexts),
	KUNIT_CASE(graph_records),
	KUNIT_CASE(graph_depths),
	KUNIT_CASE(graph_event_sizes),
	{ }
};

static struct kunit_suite graph_kunit_suite = {
	.name		= "trace_functions_graph",
	.test_cases	= graph_kunit_cases,
};

kunit_test_suite(graph_kunit_suite);
