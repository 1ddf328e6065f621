// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of how calls and returns are shown, character by character, for a
 * reader of an instance that is made up.
 */
#include "ftrace_kunit.h"

/* Durations and return values */

struct graph_kunit_time {
	u64		ns;
	const char	*text;
};

static const struct graph_kunit_time graph_kunit_times[] = {
	{ 0,			"0.000 us    " },
	{ 1,			"0.001 us    " },
	{ 999,			"0.999 us    " },
	{ 1000,			"1.000 us    " },
	{ 99999,		"99.999 us   " },
	{ 100000,		"100.000 us  " },
	{ 9999999,		"9999.999 us " },
	{ 10000999,		"10000.99 us " },
	{ 99999999,		"99999.99 us " },
	{ 100000999,		"100000.9 us " },
	{ 999999999,		"999999.9 us " },
	{ 1000000999,		"1000000 us  " },
	{ 9999999999,		"9999999 us  " },
	{ 10000000999,		"10000000 us " },
	{ 100000000999,		"100000000 us " },
	{ U64_MAX,		"18446744073709551 us " },
};

KUNIT_ARRAY_PARAM_DESC(graph_kunit_times, graph_kunit_times, text);

static void graph_expect_seq(struct kunit *test, struct trace_seq *s, const char *text)
{
	s->buffer[min_t(unsigned int, trace_seq_used(s), TRACE_SEQ_BUFFER_SIZE - 1)] = '\0';
	KUNIT_EXPECT_STREQ(test, s->buffer, text);
	trace_seq_init(s);
}

static struct trace_seq *graph_kunit_seq(struct kunit *test)
{
	struct trace_seq *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	trace_seq_init(s);
	return s;
}

static void graph_durations(struct kunit *test)
{
	const struct graph_kunit_time *row = test->param_value;
	struct trace_seq *s = graph_kunit_seq(test);

	trace_print_graph_duration(row->ns, s);
	graph_expect_seq(test, s, row->text);
}

struct graph_kunit_retval {
	unsigned long	retval;
	u32		flags;
	const char	*text;
};

static const struct graph_kunit_retval graph_kunit_retvals[] = {
	{ 0,				0,	"= 0x0 */\n" },
	{ 10,				0,	"= 0xa */\n" },
	{ -1UL,				0,	"= -1 */\n" },
	{ -MAX_ERRNO,			0,	"= -4095 */\n" },
	{ (u32)-EIO,			0,	"= -5 */\n" },
	{ (u32)-MAX_ERRNO,		0,	"= -4095 */\n" },
	{ (u32)-MAX_ERRNO - 1,		0,	"= 0xfffff000 */\n" },
	{ 0x80000000,			0,	"= 0x80000000 */\n" },
	{ -EIO & U32_MAX,		TRACE_GRAPH_PRINT_RETVAL_HEX, "= 0xfffffffb */\n" },
	{ 0,				TRACE_GRAPH_PRINT_RETVAL_HEX, "= 0x0 */\n" },
#ifdef CONFIG_64BIT
	{ -EIO,				TRACE_GRAPH_PRINT_RETVAL_HEX, "= 0xfffffffffffffffb */\n" },
	{ -MAX_ERRNO - 1UL,		0,	"= 0xfffffffffffff000 */\n" },
	{ BIT(32) | (u32)-EIO,		0,	"= 0x1fffffffb */\n" },
#endif
};

static void graph_retvals(struct kunit *test)
{
	struct trace_seq *s = graph_kunit_seq(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(graph_kunit_retvals); i++) {
		graph_print_retval(s, graph_kunit_retvals[i].retval, graph_kunit_retvals[i].flags);
		graph_expect_seq(test, s, graph_kunit_retvals[i].text);
	}
}

/* Beyond any pid: its name is never known. */
#define GRAPH_KUNIT_PID		9999999

static void graph_tasks(struct kunit *test)
{
	struct trace_seq *s = graph_kunit_seq(test);

	graph_print_task(s, 0);
	graph_expect_seq(test, s, "   <idle>-0   ");
	graph_print_task(s, GRAPH_KUNIT_PID);
	graph_expect_seq(test, s, "<...>-9999999 ");
}

/* Lines */

struct graph_kunit {
	struct trace_iterator	iter;
	struct trace_array	tr;
	struct graph_call	call;
	struct ftrace_graph_ret_entry ret;
};

static int graph_kunit_init(struct kunit *test)
{
	struct graph_kunit *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, k);
	k->tr.trace_flags = TRACE_ITER_CONTEXT_INFO;
	k->iter.tr = &k->tr;
	k->iter.array_buffer = &k->tr.array_buffer;
	k->tr.array_buffer.time_start = 1000000000;
	k->iter.ts = 1234567890;
	trace_seq_init(&k->iter.seq);
	graph_trace_open(&k->iter);
	KUNIT_ASSERT_NOT_NULL(test, k->iter.private);
	test->priv = k;
	return 0;
}

static void graph_kunit_exit(struct kunit *test)
{
	struct graph_kunit *k = test->priv;

	if (k)
		graph_trace_close(&k->iter);
}

static enum print_line_t graph_kunit_print_call(struct graph_kunit *k, int depth, bool is_leaf,
						pid_t pid, u32 flags)
{
	unsigned long func = (unsigned long)int_sqrt;

	k->call.is_leaf = is_leaf;
	k->call.entry.ent.type = TRACE_GRAPH_ENT;
	k->call.entry.ent.pid = pid;
	k->call.entry.graph_ent.func = func;
	k->call.entry.graph_ent.depth = depth;
	k->call.ret.ret.func = func;
	k->call.ret.ret.depth = depth;
	k->call.ret.ret.calltime = 1000;
	k->call.ret.ret.rettime = 13345;
	return graph_print_call(&k->iter, &k->call, flags);
}

static enum print_line_t graph_kunit_print_return(struct graph_kunit *k, unsigned long func,
						  int depth, pid_t pid, u32 flags)
{
	k->ret.ent.type = TRACE_GRAPH_RET;
	k->ret.ent.pid = pid;
	k->ret.ret.func = func;
	k->ret.ret.depth = depth;
	k->ret.ret.overrun = 7;
	k->ret.ret.calltime = 1000;
	k->ret.ret.rettime = 1000 + 1234567;
	k->iter.ent = &k->ret.ent;
	return print_graph_function_flags(&k->iter, flags);
}

struct graph_kunit_line {
	const char	*name;
	u32		flags;
	bool		is_leaf;
	int		depth;
	const char	*text;
};

#define PRINT(flag)	TRACE_GRAPH_PRINT_##flag

static const struct graph_kunit_line graph_kunit_lines[] = {
	{ "bare leaf", 0, true, 0, "int_sqrt();\n" },
	{ "bare nested", 0, false, 0, "int_sqrt() {\n" },
	{ "indented", 0, true, 3, "      int_sqrt();\n" },
	{ "duration", PRINT(DURATION), true, 1, "  12.345 us   |    int_sqrt();\n" },
	{ "no duration", PRINT(DURATION), false, 1, "              |    int_sqrt() {\n" },
	{ "overhead", PRINT(DURATION) | PRINT(OVERHEAD), true, 0,
	  "+ 12.345 us   |  int_sqrt();\n" },
	{ "absolute time", PRINT(ABS_TIME), true, 0, "    1.234567 |  int_sqrt();\n" },
	{ "relative time", PRINT(REL_TIME), true, 0, "   234567 us |  int_sqrt();\n" },
	{ "task", PRINT(PROC), false, 0, "   <idle>-0    | int_sqrt() {\n" },
	{ "times and task", PRINT(ABS_TIME) | PRINT(REL_TIME) | PRINT(PROC) | PRINT(DURATION),
	  true, 0,
	  "    1.234567 |     234567 us |     <idle>-0    |   12.345 us   |  int_sqrt();\n" },
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	{ "return value", PRINT(RETVAL), true, 0, "int_sqrt(); /* = 0x0 */\n" },
	{ "no return value", PRINT(RETVAL), false, 0, "int_sqrt() {\n" },
#endif
};

KUNIT_ARRAY_PARAM_DESC(graph_kunit_lines, graph_kunit_lines, name);

static void graph_lines(struct kunit *test)
{
	const struct graph_kunit_line *row = test->param_value;
	struct graph_kunit *k = test->priv;

	KUNIT_EXPECT_EQ(test, graph_kunit_print_call(k, row->depth, row->is_leaf, 0, row->flags),
			TRACE_TYPE_HANDLED);
	graph_expect_seq(test, &k->iter.seq, row->text);
}

static void graph_cpu_column(struct kunit *test)
{
	struct graph_kunit *k = test->priv;
	char text[32];

	snprintf(text, sizeof(text), " %*d) int_sqrt();\n", graph_cpu_digits, 0);
	graph_kunit_print_call(k, 0, true, 0, PRINT(CPU));
	graph_expect_seq(test, &k->iter.seq, text);

	/* Without the context there are no columns at all. */
	k->tr.trace_flags = 0;
	graph_kunit_print_call(k, 0, true, 0, PRINT(CPU) | PRINT(DURATION) | PRINT(PROC));
	graph_expect_seq(test, &k->iter.seq, "int_sqrt();\n");
}

/* A brace is named if its function was not opened, or if that is asked for. */
static void graph_returns(struct kunit *test)
{
	unsigned long func = (unsigned long)int_sqrt;
	struct graph_kunit *k = test->priv;
	struct trace_seq *s = &k->iter.seq;

	graph_kunit_print_call(k, 1, false, 0, 0);
	trace_seq_init(s);
	KUNIT_EXPECT_EQ(test, graph_kunit_print_return(k, func, 1, 0, PRINT(DURATION)),
			TRACE_TYPE_HANDLED);
	graph_expect_seq(test, s, "  1234.567 us |    }\n");
	graph_kunit_print_return(k, func, 1, 0, PRINT(DURATION) | PRINT(OVERHEAD));
	graph_expect_seq(test, s, "# 1234.567 us |    } /* int_sqrt */\n");

	graph_kunit_print_call(k, 1, false, 0, 0);
	trace_seq_init(s);
	graph_kunit_print_return(k, func, 1, 0, PRINT(TAIL));
	graph_expect_seq(test, s, "  } /* int_sqrt */\n");

	/* A leaf closes its call itself, so that the call is not open. */
	graph_kunit_print_call(k, 1, false, 0, 0);
	graph_kunit_print_call(k, 1, true, 0, 0);
	trace_seq_init(s);
	graph_kunit_print_return(k, func, 1, 0, PRINT(OVERRUN));
	graph_expect_seq(test, s, "  } /* int_sqrt */\n (Overruns: 7)\n");

	/* Deeper than the calls that are kept: nothing is known. */
	graph_kunit_print_return(k, func, GRAPH_OPEN_MAX, 0, 0);
	KUNIT_EXPECT_STREQ(test, strim(s->buffer), "}");
}

/* A CPU that goes on with another task says so, once. */
static void graph_switches(struct kunit *test)
{
	static const char rule[] = " ------------------------------------------\n";
	struct graph_kunit *k = test->priv;
	struct trace_seq *s = &k->iter.seq;
	char text[256];

	graph_kunit_print_call(k, 0, true, 0, 0);
	graph_expect_seq(test, s, "int_sqrt();\n");
	graph_kunit_print_call(k, 0, true, GRAPH_KUNIT_PID, 0);
	snprintf(text, sizeof(text), "%s %*d)    <idle>-0    => <...>-%d %s%s%s", rule,
		 graph_cpu_digits, 0, GRAPH_KUNIT_PID, "\n", rule, "\nint_sqrt();\n");
	graph_expect_seq(test, s, text);
	graph_kunit_print_call(k, 0, true, GRAPH_KUNIT_PID, 0);
	graph_expect_seq(test, s, "int_sqrt();\n");
}

/* A line that does not fit is the same when it is printed again. */
static void graph_lines_again(struct kunit *test)
{
	unsigned long func = (unsigned long)int_sqrt;
	struct graph_kunit *k = test->priv;
	struct trace_seq *s = &k->iter.seq;
	u32 flags = PRINT(DURATION);

	graph_kunit_print_call(k, 1, false, 0, 0);
	graph_kunit_print_call(k, 2, false, 0, 0);
	trace_seq_init(s);

	/* Room for the switch, and for half of the line that comes then. */
	while (TRACE_SEQ_BUFFER_SIZE - trace_seq_used(s) > 135)
		trace_seq_putc(s, '.');
	KUNIT_EXPECT_EQ(test, graph_kunit_print_return(k, func, 2, GRAPH_KUNIT_PID, flags),
			TRACE_TYPE_PARTIAL_LINE);
	trace_seq_init(s);
	KUNIT_EXPECT_EQ(test, graph_kunit_print_return(k, func, 2, GRAPH_KUNIT_PID, flags),
			TRACE_TYPE_HANDLED);
	s->buffer[trace_seq_used(s)] = '\0';
	KUNIT_EXPECT_NOT_NULL(test, strstr(s->buffer, " => "));
	KUNIT_EXPECT_NOT_NULL(test, strstr(s->buffer, "|      }\n"));
}

/* A call is looked at only if its line fits: a reader that consumes would lose it otherwise. */
static void graph_no_room(struct kunit *test)
{
	struct graph_kunit *k = test->priv;
	struct trace_seq *s = &k->iter.seq;
	unsigned int used;

	while (TRACE_SEQ_BUFFER_SIZE - trace_seq_used(s) >= GRAPH_LINE_MAX)
		trace_seq_putc(s, '.');
	used = trace_seq_used(s);
	k->call.entry.ent.type = TRACE_GRAPH_ENT;
	k->iter.ent = &k->call.entry.ent;
	KUNIT_EXPECT_EQ(test, print_graph_function_flags(&k->iter, 0), TRACE_TYPE_PARTIAL_LINE);
	KUNIT_EXPECT_EQ(test, trace_seq_used(s), used);
	/* As where a dump begins a line. */
	memset(s, 0, sizeof(*s));
	KUNIT_EXPECT_TRUE(test, graph_has_room(&k->iter));
}

/* The longest line of a call. */
static void graph_longest(struct kunit *test)
{
	const u32 flags = ~(u32)PRINT(RETVAL_HEX);
	struct graph_kunit *k = test->priv;
	struct trace_seq *s = &k->iter.seq;

	k->tr.trace_flags |= TRACE_ITER_LATENCY_FMT;
	k->iter.ts = U64_MAX;
	graph_kunit_print_call(k, 0, true, 0, flags);
	trace_seq_init(s);
	/* Deeper than a return stack. */
	graph_kunit_print_call(k, SZ_4K / (4 * sizeof(long)), true, GRAPH_KUNIT_PID, flags);
	KUNIT_EXPECT_LT(test, trace_seq_used(s) + KSYM_SYMBOL_LEN, GRAPH_LINE_MAX);
}

/* funcgraph-irqs off: the interrupt is left out, with all its calls. */
static void graph_irqs(struct kunit *test)
{
	unsigned long irq = (unsigned long)__irqentry_text_start;
	unsigned long func = (unsigned long)int_sqrt;
	struct ftrace_graph_ent call = { .func = func, .depth = 1 };
	struct ftrace_graph_ret ret = { .func = func, .depth = 2 };
	struct graph_kunit *k = test->priv;

	if (!graph_is_irq_entry(&k->iter, irq))
		kunit_skip(test, "no interrupt entries");

	KUNIT_EXPECT_FALSE(test, graph_skips_call(&k->iter, &call, 0));
	call.func = irq;
	KUNIT_EXPECT_FALSE(test, graph_skips_call(&k->iter, &call, PRINT(IRQS)));
	KUNIT_EXPECT_TRUE(test, graph_skips_call(&k->iter, &call, 0));
	call.func = func;
	call.depth = 2;
	KUNIT_EXPECT_TRUE(test, graph_skips_call(&k->iter, &call, 0));
	KUNIT_EXPECT_TRUE(test, graph_skips_return(&k->iter, &ret, 0));
	ret.depth = 1;
	KUNIT_EXPECT_TRUE(test, graph_skips_return(&k->iter, &ret, 0));
	KUNIT_EXPECT_FALSE(test, graph_skips_return(&k->iter, &ret, 0));
	KUNIT_EXPECT_FALSE(test, graph_skips_call(&k->iter, &call, 0));

	graph_kunit_print_return(k, irq, 0, 0, PRINT(DURATION) | PRINT(IRQS));
	KUNIT_EXPECT_NOT_NULL(test, strstr(k->iter.seq.buffer, "\n  <========== |\n"));
}

static struct kunit_case graph_kunit_cases[] = {
	KUNIT_CASE_PARAM(graph_durations, graph_kunit_times_gen_params),
	KUNIT_CASE(graph_retvals),
	KUNIT_CASE(graph_tasks),
	KUNIT_CASE_PARAM(graph_lines, graph_kunit_lines_gen_params),
	KUNIT_CASE(graph_cpu_column),
	KUNIT_CASE(graph_returns),
	KUNIT_CASE(graph_switches),
	KUNIT_CASE(graph_lines_again),
	KUNIT_CASE(graph_no_room),
	KUNIT_CASE(graph_longest),
	KUNIT_CASE(graph_irqs),
	{ }
};

static struct kunit_suite graph_kunit_suite = {
	.name		= "trace_graph_print",
	.init		= graph_kunit_init,
	.exit		= graph_kunit_exit,
	.test_cases	= graph_kunit_cases,
};

kunit_test_suite(graph_kunit_suite);
