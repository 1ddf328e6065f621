// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the function tracer: the events it writes, and that no call is lost
 * while its options change; and of the function commands.
 *
 * They trace the functions of ftrace_kunit.h in an instance of their own, and
 * look at the events that the test's task wrote there, on one CPU.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/sched.h>

#include "../ftrace_callset.h"
#include "../ftrace_filter.h"
#include "ftrace_kunit.h"

#define FUNC_KUNIT_MAX	16

/**
 * struct func_kunit_event - the fields of an event that the tests look at
 * @type: TRACE_FN, TRACE_STACK or TRACE_FUNC_REPEATS
 * @ip: the function; of a stack, the first word
 * @next: of a stack, the second word
 * @count: of repeats
 */
struct func_kunit_event {
	int		type;
	unsigned long	ip;
	unsigned long	next;
	unsigned int	count;
};

static struct trace_array *func_kunit_tr;

static void func_kunit_take(struct func_kunit_event *to, struct trace_entry *ent)
{
	struct ftrace_entry *fn = (struct ftrace_entry *)ent;
	struct stack_entry *stack = (struct stack_entry *)ent;
	struct func_repeats_entry *repeats = (struct func_repeats_entry *)ent;

	to->type = ent->type;
	switch (ent->type) {
	case TRACE_FN:
		to->ip = fn->ip;
		break;
	case TRACE_STACK:
		to->ip = stack->size > 0 ? stack->caller[0] : 0;
		to->next = stack->size > 1 ? stack->caller[1] : 0;
		break;
	case TRACE_FUNC_REPEATS:
		to->ip = repeats->ip;
		to->count = repeats->count;
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
				func_kunit_take(&events[nr++], ent);
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
		KUNIT_EXPECT_EQ_MSG(test, events[i].count, want[i].count, "event %u", i);
	}
}

#define func_kunit_expect_events(test, ...)					\
	do {									\
		const struct func_kunit_event want[] = { __VA_ARGS__ };		\
										\
		func_kunit_expect(test, want, ARRAY_SIZE(want));		\
	} while (0)

#define FUNC_KUNIT_FN(site)		{ .type = TRACE_FN, .ip = kunit_site(site) }
#define FUNC_KUNIT_REPEATS(site, n)	\
	{ .type = TRACE_FUNC_REPEATS, .ip = kunit_site(site), .count = (n) }
#define FUNC_KUNIT_STACK		{ .type = TRACE_STACK }

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

static void func_kunit_skip_stacks(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_MIPS))
		kunit_skip(test, "stack traces end at ftrace_caller");
}

/* The function itself comes first, or with the ORC unwinder after its trampoline. */
static void func_stacks(struct kunit *test)
{
	unsigned long ip = arch_ftrace_stack_addr(kunit_site(0));

	func_kunit_skip_stacks(test);
	KUNIT_EXPECT_EQ(test, func_kunit_option("func_stack_trace"), 0);
	func_kunit_call(0, 1);
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		func_kunit_expect_events(test, FUNC_KUNIT_FN(0),
					 { TRACE_STACK, FTRACE_TRAMPOLINE_MARKER, ip });
	else
		func_kunit_expect_events(test, FUNC_KUNIT_FN(0), { TRACE_STACK, ip });
}

static void func_repeats(struct kunit *test)
{
	struct trace_func_repeats __percpu *repeats;

	KUNIT_EXPECT_EQ(test, func_kunit_option("func-no-repeats"), 0);
	func_kunit_call(0, 1);
	func_kunit_call(1, 3);
	func_kunit_call(0, 2);
	func_kunit_expect_events(test, FUNC_KUNIT_FN(0), FUNC_KUNIT_FN(1),
				 FUNC_KUNIT_REPEATS(1, 2), FUNC_KUNIT_FN(0));

	/* An interrupt in the midst of the callback. */
	repeats = func_kunit_tr->last_func_repeats;
	scoped_guard(preempt) {
		unsigned long ip = this_cpu_xchg(repeats->ip, FUNC_REPEATS_BUSY);

		func_kunit_call(0, 2);
		func_kunit_call(1, 1);
		ip = this_cpu_xchg(repeats->ip, ip);
		KUNIT_EXPECT_EQ(test, ip, FUNC_REPEATS_BUSY);
	}
	func_kunit_call(0, 1);
	func_kunit_call(2, 1);
	func_kunit_expect_events(test, FUNC_KUNIT_FN(0), FUNC_KUNIT_FN(0), FUNC_KUNIT_FN(1),
				 FUNC_KUNIT_REPEATS(0, 2), FUNC_KUNIT_FN(2));
}

/* Each call is either a line, or one of the repeats of the line before. */
static void func_option_changes(struct kunit *test)
{
	func_kunit_call(0, 1);
	KUNIT_EXPECT_EQ(test, func_kunit_option("func_stack_trace"), 0);
	func_kunit_call(0, 1);
	KUNIT_EXPECT_EQ(test, func_kunit_option("func-no-repeats"), 0);
	func_kunit_call(0, 3);
	KUNIT_EXPECT_EQ(test, func_kunit_option("nofunc_stack_trace"), 0);
	func_kunit_call(0, 1);
	KUNIT_EXPECT_EQ(test, func_kunit_option("nofunc-no-repeats"), 0);
	func_kunit_call(0, 1);

	func_kunit_expect_events(test, FUNC_KUNIT_FN(0),
				 FUNC_KUNIT_FN(0), FUNC_KUNIT_STACK,
				 FUNC_KUNIT_FN(0), FUNC_KUNIT_STACK,
				 FUNC_KUNIT_REPEATS(0, 3),
				 FUNC_KUNIT_FN(0));
}

/* A repeat that is pending when the tracer stops does not show in the next run. */
static void func_repeats_again(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, func_kunit_option("func-no-repeats"), 0);
	func_kunit_call(0, 3);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(func_kunit_tr, "nop"), 0);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(func_kunit_tr, "function"), 0);
	func_kunit_call(0, 1);
	func_kunit_call(1, 1);
	func_kunit_expect_events(test, FUNC_KUNIT_FN(0), FUNC_KUNIT_FN(1));
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

/* Commands */

static int func_kunit_command(const char *glob, const char *name, const char *param)
{
	char globbuf[16], namebuf[16], parambuf[16];

	strscpy(globbuf, glob);
	strscpy(namebuf, name);
	strscpy(parambuf, param ?: "");
	return func_command_run(func_kunit_tr, NULL, globbuf, namebuf, param ? parambuf : NULL, 1);
}

static void func_counts(struct kunit *test)
{
	long count = 2;

	KUNIT_EXPECT_TRUE(test, func_count_take(&count));
	KUNIT_EXPECT_TRUE(test, func_count_take(&count));
	KUNIT_EXPECT_FALSE(test, func_count_take(&count));
	KUNIT_EXPECT_EQ(test, count, 0);
}

static void func_bad_commands(struct kunit *test)
{
	char glob[] = "gcd", name[] = "traceon";

	KUNIT_EXPECT_EQ(test, func_command_run(NULL, NULL, glob, name, NULL, 1), -ENODEV);
	KUNIT_EXPECT_EQ(test, func_command_run(func_kunit_tr, NULL, glob, name, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, func_kunit_command("gcd", "traceon", "-1"), -EINVAL);
	KUNIT_EXPECT_EQ(test, func_kunit_command("gcd", "traceon", "two"), -EINVAL);
	KUNIT_EXPECT_EQ(test, func_kunit_command("no_such_site", "traceon", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, func_kunit_command("!gcd", "traceon", NULL), -ENODEV);
}

/* Turned on again by hand, the trace is turned off as often as was asked for. */
static void func_command_traceoff(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, func_kunit_command("gcd", "traceoff", "2"), 0);
	for (unsigned int i = 0; i < 4; i++) {
		tracer_tracing_on(func_kunit_tr);
		func_kunit_call(0, 3);
		KUNIT_EXPECT_EQ(test, tracer_tracing_is_on(func_kunit_tr), i >= 2);
	}
	KUNIT_EXPECT_EQ(test, func_kunit_command("!gcd", "traceoff", "0"), 0);

	KUNIT_EXPECT_EQ(test, func_kunit_command("gcd", "traceoff", ""), 0);
	KUNIT_EXPECT_EQ(test, func_kunit_command("int_pow", "traceon", NULL), 0);
	for (unsigned int i = 0; i < 3; i++) {
		func_kunit_call(0, 1);
		KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(func_kunit_tr));
		func_kunit_call(1, 1);
		KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(func_kunit_tr));
	}
	KUNIT_EXPECT_EQ(test, func_kunit_command("!gcd", "traceoff", NULL), 0);
	KUNIT_EXPECT_EQ(test, func_kunit_command("!int_pow", "traceon", NULL), 0);
}

/* Frames of the tracer are left out, those of the function are not. */
static void func_command_stacktrace(struct kunit *test)
{
	unsigned long ip = arch_ftrace_stack_addr(kunit_site(0));

	func_kunit_skip_stacks(test);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(func_kunit_tr, "nop"), 0);
	KUNIT_EXPECT_EQ(test, func_kunit_command("gcd", "stacktrace", "1"), 0);
	func_kunit_call(0, 2);
	KUNIT_EXPECT_EQ(test, func_kunit_command("!gcd", "stacktrace", "1"), 0);
	func_kunit_expect_events(test, { TRACE_STACK, ip });

	KUNIT_EXPECT_EQ(test, func_kunit_command("gcd", "stacktrace", NULL), 0);
	func_kunit_call(0, 2);
	KUNIT_EXPECT_EQ(test, func_kunit_command("!gcd", "stacktrace", NULL), 0);
	func_kunit_expect_events(test, { TRACE_STACK, ip }, { TRACE_STACK, ip });
}

struct func_kunit_text {
	const char	*name;
	const char	*param;
	const char	*text;
};

static const struct func_kunit_text func_kunit_texts[] = {
	{ "traceon",	NULL,	"int_pow:traceon:unlimited\n" },
	{ "traceoff",	"",	"int_pow:traceoff:unlimited\n" },
	{ "traceoff",	"0",	"int_pow:traceoff:count=0\n" },
	{ "stacktrace",	"0x10",	"int_pow:stacktrace:count=16\n" },
	{ "stacktrace",	"5:x",	"int_pow:stacktrace:count=5\n" },
	{ "dump",	NULL,	"int_pow:dump:count=1\n" },
	{ "cpudump",	"7",	"int_pow:cpudump:count=1\n" },
};

KUNIT_ARRAY_PARAM_DESC(func_kunit_texts, func_kunit_texts, text);

static void func_command_text(struct kunit *test)
{
	const struct func_kunit_text *row = test->param_value;
	struct seq_file m = { .size = 256 };

	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);

	KUNIT_EXPECT_EQ(test, func_kunit_command("int_pow", row->name, row->param), 0);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_command_show(&m, func_kunit_tr);
	KUNIT_EXPECT_EQ(test, func_kunit_command("!int_pow", row->name, row->param), 0);
	KUNIT_EXPECT_STREQ(test, m.buf, row->text);
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
	func_kunit_tr->own_flags[TRACER_SLOT_FUNCTION] = 0;
	tracer_tracing_on(func_kunit_tr);
}

static struct kunit_case func_kunit_cases[] = {
	KUNIT_CASE(func_lines),
	KUNIT_CASE(func_no_lines),
	KUNIT_CASE(func_stacks),
	KUNIT_CASE(func_repeats),
	KUNIT_CASE(func_option_changes),
	KUNIT_CASE(func_repeats_again),
	KUNIT_CASE(func_contexts),
	KUNIT_CASE(func_counts),
	KUNIT_CASE(func_bad_commands),
	KUNIT_CASE(func_command_traceoff),
	KUNIT_CASE(func_command_stacktrace),
	KUNIT_CASE_PARAM(func_command_text, func_kunit_texts_gen_params),
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
