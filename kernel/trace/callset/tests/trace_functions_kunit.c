// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the function tracer: the events it writes.
 *
 * They trace the functions of kunit.h in an instance of their own, and
 * look at the events that the test's task wrote there, on one CPU.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "kunit.h"
#include "../../trace.h"
#include "../../trace_record.h"

#define FUNC_KUNIT_MAX	16

/**
 * struct func_kunit_event - the fields of an event that the tests look at
 * @type: TRACE_FN or TRACE_STACK
 * @ip: the function; of a stack, the first word
 * @next: of a stack, the second word
 * @size: of a function, in bytes
 */
struct func_kunit_event {
	int		type;
	unsigned long	ip;
	unsigned long	next;
	unsigned int	size;
};

static struct trace_array *func_kunit_tr;

static void func_kunit_take(struct func_kunit_event *to, struct ring_buffer_event *event)
{
	struct trace_entry *ent = ring_buffer_event_data(event);
	struct ftrace_entry *fn = (struct ftrace_entry *)ent;
	struct stack_entry *stack = (struct stack_entry *)ent;

	to->type = ent->type;
	switch (ent->type) {
	case TRACE_FN:
		to->ip = fn->ip;
		to->size = ring_buffer_event_length(event);
		break;
	case TRACE_STACK:
		to->ip = stack->size > 0 ? stack->caller[0] : 0;
		to->next = stack->size > 1 ? stack->caller[1] : 0;
		break;
	}
}

/* Takes the events of the test's task out of the buffer, up to FUNC_KUNIT_MAX of them. */
static unsigned int func_kunit_read(struct func_kunit_event *events)
{
	struct trace_buffer *buffer = func_kunit_tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	struct trace_entry *ent;
	unsigned int nr = 0;
	int cpu;

	memset(events, 0, FUNC_KUNIT_MAX * sizeof(*events));
	for_each_online_cpu(cpu) {
		while ((event = ring_buffer_consume(buffer, cpu, NULL, NULL))) {
			ent = ring_buffer_event_data(event);
			if (ent->pid == current->pid && nr < FUNC_KUNIT_MAX)
				func_kunit_take(&events[nr++], event);
		}
	}
	return nr;
}

/*
 * No other task on this CPU calls one of the functions in between. All calls of one
 * come from the same place.
 */
static noinline __noclone void func_kunit_call(unsigned int site, unsigned int times)
{
	guard(preempt)();

	while (times--)
		kunit_call_site(site);
}

static void func_kunit_expect(struct kunit *test, const struct func_kunit_event *want,
			      unsigned int nr)
{
	struct func_kunit_event events[FUNC_KUNIT_MAX];

	KUNIT_EXPECT_EQ(test, func_kunit_read(events), nr);
	for (unsigned int i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ_MSG(test, events[i].type, want[i].type, "event %u", i);
		if (want[i].ip)
			KUNIT_EXPECT_EQ_MSG(test, events[i].ip, want[i].ip, "event %u", i);
		if (want[i].next)
			KUNIT_EXPECT_EQ_MSG(test, events[i].next, want[i].next, "event %u", i);
		KUNIT_EXPECT_EQ_MSG(test, events[i].size, want[i].size, "event %u", i);
	}
}

#define func_kunit_expect_events(test, ...)					\
	do {									\
		const struct func_kunit_event want[] = { __VA_ARGS__ };		\
										\
		func_kunit_expect(test, want, ARRAY_SIZE(want));		\
	} while (0)

#define FUNC_KUNIT_SIZE(args)	(sizeof(struct ftrace_entry) + (args) * sizeof(long))
#define FUNC_KUNIT_FN(site)	\
	{ .type = TRACE_FN, .ip = kunit_site(site), .size = FUNC_KUNIT_SIZE(0) }
#define FUNC_KUNIT_ARGS(site)	\
	{ .type = TRACE_FN, .ip = kunit_site(site), .size = FUNC_KUNIT_SIZE(FTRACE_REGS_MAX_ARGS) }

static int func_kunit_option(const char *option)
{
	char buf[32];

	strscpy(buf, option);
	return trace_set_options(func_kunit_tr, buf);
}

static void func_lines(struct kunit *test)
{
	func_kunit_call(0, 1);
	func_kunit_call(1, 2);
	func_kunit_expect_events(test, FUNC_KUNIT_FN(0), FUNC_KUNIT_FN(1), FUNC_KUNIT_FN(1));
}

/* Each of the reasons not to write leaves the tracer as it was. */
static void func_no_lines(struct kunit *test)
{
	struct trace_buffer *buffer = func_kunit_tr->array_buffer.buffer;
	int cpu;

	func_kunit_tr->function_enabled = 0;
	func_kunit_call(0, 1);
	func_kunit_tr->function_enabled = 1;

	/* As tracing_cpumask does, and kdb. */
	for_each_online_cpu(cpu)
		ring_buffer_record_disable_cpu(buffer, cpu);
	func_kunit_call(0, 1);
	for_each_online_cpu(cpu)
		ring_buffer_record_enable_cpu(buffer, cpu);
	ring_buffer_record_disable(buffer);
	func_kunit_call(0, 1);
	ring_buffer_record_enable(buffer);

	tracer_tracing_off(func_kunit_tr);
	func_kunit_call(0, 1);
	tracer_tracing_on(func_kunit_tr);

	func_kunit_call(1, 1);
	func_kunit_expect_events(test, FUNC_KUNIT_FN(1));
}

/* A task that a callback is busy with takes the common way, and so does an option. */
static void func_common_way(struct kunit *test)
{
	/* A bit that no callback uses, which would not record the call then. */
	const unsigned long busy = BIT(TRACE_RECORD_RECURSION_BIT + 1);
	/* With these, which say that it is recording, the common way records nothing. */
	const unsigned long all = GENMASK(TRACE_FTRACE_TRANSITION_BIT, TRACE_FTRACE_BIT);

	scoped_guard(preempt) {
		current->trace_recursion |= all;
		func_kunit_call(0, 1);
		current->trace_recursion &= ~all;
		current->trace_recursion |= busy;
		func_kunit_call(0, 1);
		current->trace_recursion &= ~busy;
	}
	func_kunit_call(1, 1);
	func_kunit_expect_events(test, FUNC_KUNIT_FN(0), FUNC_KUNIT_FN(1));
#ifdef CONFIG_FUNCTION_TRACE_ARGS
	KUNIT_EXPECT_EQ(test, func_kunit_option("func-args"), 0);
	func_kunit_call(0, 1);
	KUNIT_EXPECT_EQ(test, func_kunit_option("nofunc-args"), 0);
	func_kunit_call(1, 1);
	func_kunit_expect_events(test, FUNC_KUNIT_ARGS(0), FUNC_KUNIT_FN(1));
#endif
}

/* The function itself comes first, or with the ORC unwinder after its trampoline. */
static void func_stacks(struct kunit *test)
{
	unsigned long ip = arch_ftrace_stack_addr(kunit_site(0));

	KUNIT_EXPECT_EQ(test, func_kunit_option("func_stack_trace"), 0);
	func_kunit_call(0, 1);
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		func_kunit_expect_events(test, FUNC_KUNIT_FN(0),
					 { TRACE_STACK, FTRACE_TRAMPOLINE_MARKER, ip });
	else if (IS_ENABLED(CONFIG_RISCV) || IS_ENABLED(CONFIG_UNWINDER_GUESS))
		/*
		 * The frames of the callback and of ftrace_caller() come first, or any word
		 * that looks like a return address.
		 */
		func_kunit_expect_events(test, FUNC_KUNIT_FN(0), { TRACE_STACK });
	else if (IS_ENABLED(CONFIG_X86_64) || IS_ENABLED(CONFIG_PPC))
		func_kunit_expect_events(test, FUNC_KUNIT_FN(0), { TRACE_STACK, ip });
	else	/* The frame of ftrace_caller() comes first. */
		func_kunit_expect_events(test, FUNC_KUNIT_FN(0), { TRACE_STACK, 0, ip });
	KUNIT_EXPECT_EQ(test, func_kunit_option("nofunc_stack_trace"), 0);
}

/* Contexts */

/* The caller's context does not change, but that the task may have to give way. */
static void func_kunit_expect_ctx(struct kunit *test, const char *name)
{
	unsigned int before, after;
	struct trace_entry entry;

	do {
		before = tracing_gen_ctx();
		preempt_disable_notrace();
		trace_record_entry(&entry, trace_word_without(TRACE_FN, TRACE_FUNCTION_OWN));
		preempt_enable_no_resched_notrace();
		after = tracing_gen_ctx();
	} while (before != after);
	KUNIT_EXPECT_EQ_MSG(test, ftrace_kunit_entry_ctx(&entry), before, "with %s", name);
	KUNIT_EXPECT_EQ(test, entry.type, TRACE_FN);
	KUNIT_EXPECT_EQ(test, entry.pid, current->pid);
}

static void func_contexts(struct kunit *test)
{
	unsigned long flags;

	/* All from here on is at least this deep. */
	preempt_disable();
	func_kunit_expect_ctx(test, "preemption off");
	local_bh_disable();
	func_kunit_expect_ctx(test, "softirqs off");
	local_bh_enable();
	local_irq_save(flags);
	func_kunit_expect_ctx(test, "interrupts off");
	local_irq_restore(flags);

	/* One less and no more than fits in the digit. */
	for (unsigned int i = 1; i < 14; i++)
		preempt_disable();
	func_kunit_expect_ctx(test, "preemption off 14 times");
	preempt_disable();
	func_kunit_expect_ctx(test, "preemption off 15 times");
	preempt_disable();
	func_kunit_expect_ctx(test, "preemption off 16 times");
	for (unsigned int i = 0; i < 16; i++)
		preempt_enable();

	migrate_disable();
	preempt_disable();
	func_kunit_expect_ctx(test, "migration off");
	preempt_enable();
	migrate_enable();
}

static int func_kunit_suite_init(struct kunit_suite *suite)
{
	unsigned long ips[KUNIT_NR_SITES];

	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++)
		ips[i] = kunit_site(i);

	func_kunit_tr = trace_array_get_by_name("ftrace_kunit_function", NULL);
	if (!func_kunit_tr)
		return -ENOMEM;
	return ftrace_set_filter_ips(func_kunit_tr->ops, ips, KUNIT_NR_SITES, 0, 1);
}

static void func_kunit_suite_exit(struct kunit_suite *suite)
{
	if (!func_kunit_tr)
		return;
	trace_array_put(func_kunit_tr);
	trace_array_destroy(func_kunit_tr);
}

static int func_kunit_init(struct kunit *test)
{
	int ret = tracing_set_tracer(func_kunit_tr, "function");

	/* The task is the test's own, and ends with it. */
	return ret ?: set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

static void func_kunit_exit(struct kunit *test)
{
	tracing_set_tracer(func_kunit_tr, "nop");
	tracer_tracing_on(func_kunit_tr);
}

static struct kunit_case func_kunit_cases[] = {
	KUNIT_CASE(func_lines),
	KUNIT_CASE(func_no_lines),
	KUNIT_CASE(func_common_way),
	KUNIT_CASE(func_stacks),
	KUNIT_CASE(func_contexts),
	{ }
};

static struct kunit_suite func_kunit_suite = {
	.name		= "ftrace_function_tracer",
	.suite_init	= func_kunit_suite_init,
	.suite_exit	= func_kunit_suite_exit,
	.init		= func_kunit_init,
	.exit		= func_kunit_exit,
	.test_cases	= func_kunit_cases,
};

kunit_test_suite(func_kunit_suite);
