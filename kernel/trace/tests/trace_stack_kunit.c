// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack tracer: where return addresses are found on a stack, and the stack of a
 * called function as trampolines report it.
 */
#include <linux/kallsyms.h>

#include "ftrace_kunit.h"

#define STACK_KUNIT_WORDS	8

/**
 * struct stack_kunit_row - a stack, and the return addresses expected there
 * @name: the case, in words
 * @words: the stack, growing down to word 0
 * @addr: return addresses, up to a 0
 * @depth: of each that is found, in bytes where a word has eight; 0 for one that is not
 */
struct stack_kunit_row {
	const char	*name;
	unsigned long	words[STACK_KUNIT_WORDS];
	unsigned long	addr[STACK_KUNIT_WORDS + 1];
	unsigned int	depth[STACK_KUNIT_WORDS];
};

static const struct stack_kunit_row stack_kunit_rows[] = {
	{ "nothing to find",		{ 1, 2, 3 },
	  { },				{ } },
	{ "first and last word",	{ 1, 0, 0, 0, 0, 0, 0, 2 },
	  { 1, 2 },			{ 64, 8 } },
	{ "each word",			{ 1, 2, 3, 4, 5, 6, 7, 8 },
	  { 1, 2, 3, 4, 5, 6, 7, 8 },	{ 64, 56, 48, 40, 32, 24, 16, 8 } },
	{ "frames of several words",	{ 9, 1, 9, 9, 2, 9, 3, 9 },
	  { 1, 2, 3 },			{ 56, 32, 16 } },
	{ "one that is not there",	{ 1, 9, 3, 9 },
	  { 1, 2, 3 },			{ 64, 0, 48 } },
	{ "the last is not there",	{ 1, 9, 2, 9 },
	  { 1, 2, 3 },			{ 64, 48, 0 } },
	{ "none is there",		{ 9, 9, 9 },
	  { 1, 2, 3 },			{ 0, 0, 0 } },
	{ "one below the one before",	{ 2, 1, 9, 9 },
	  { 1, 2 },			{ 56, 0 } },
	{ "recursion",			{ 1, 9, 1, 9, 1, 9, 2, 9 },
	  { 1, 1, 1, 2 },		{ 64, 48, 32, 16 } },
	{ "one more than there are",	{ 1, 9, 1, 9, 9, 9, 2, 9 },
	  { 1, 1, 1, 2 },		{ 64, 48, 0, 16 } },
};

KUNIT_ARRAY_PARAM_DESC(stack_kunit_rows, stack_kunit_rows, name);

static void stack_finds(struct kunit *test)
{
	const struct stack_kunit_row *row = test->param_value;
	unsigned long words[STACK_KUNIT_WORDS], addr[STACK_KUNIT_WORDS];
	unsigned int depth[STACK_KUNIT_WORDS];
	unsigned int nr = 0, found, want = 0;

	while (nr < STACK_KUNIT_WORDS && row->addr[nr])
		nr++;
	memcpy(words, row->words, sizeof(words));
	memcpy(addr, row->addr, sizeof(addr));
	found = stack_locate(addr, depth, nr, words, words + STACK_KUNIT_WORDS);

	for (unsigned int i = 0; i < nr; i++) {
		if (!row->depth[i])
			continue;
		if (want < found) {
			KUNIT_EXPECT_EQ(test, addr[want], row->addr[i]);
			KUNIT_EXPECT_EQ(test, depth[want], row->depth[i] / 8 * sizeof(long));
		}
		want++;
	}
	KUNIT_EXPECT_EQ(test, found, want);
}

static void stack_drops(struct kunit *test)
{
	unsigned long addr[] = { 5, 6, 7, 8 };

	KUNIT_EXPECT_EQ(test, stack_drop_until(addr, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, stack_drop_until(addr, 4, 5), 4);
	KUNIT_EXPECT_EQ(test, addr[0], 5);
	KUNIT_EXPECT_EQ(test, stack_drop_until(addr, 4, 7), 2);
	KUNIT_EXPECT_EQ(test, addr[0], 7);
	KUNIT_EXPECT_EQ(test, addr[1], 8);
	KUNIT_EXPECT_EQ(test, stack_drop_until(addr, 2, 8), 1);
	KUNIT_EXPECT_EQ(test, addr[0], 8);
	KUNIT_EXPECT_EQ(test, stack_drop_until(addr, 1, 9), 0);
}

static void stack_parts(struct kunit *test)
{
	struct stack_max *max = kunit_kzalloc(test, sizeof(*max), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, max);
	max->nr = 3;
	max->depth[0] = 100;
	max->depth[1] = 92;
	max->depth[2] = 40;
	KUNIT_EXPECT_EQ(test, stack_part(max, 0), 8);
	KUNIT_EXPECT_EQ(test, stack_part(max, 1), 52);
	KUNIT_EXPECT_EQ(test, stack_part(max, 2), 40);
}

#ifdef CONFIG_X86

/**
 * struct stack_kunit_call - a callback's findings about its calls
 * @task: whose calls are looked at
 * @hits: how many there were
 * @odd: how many at which the words of the stack were wrong
 * @max: the last one, measured
 */
struct stack_kunit_call {
	struct task_struct	*task;
	unsigned int		hits;
	unsigned int		odd;
	struct stack_max	max;
};

static struct stack_kunit_call stack_kunit_call;

static void stack_kunit_func(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct stack_kunit_call *call = &stack_kunit_call;
	unsigned long *sp = (unsigned long *)stack_at_entry(fregs);
	unsigned long top;

	if (READ_ONCE(call->task) != current || !in_task())
		return;
	top = (unsigned long)task_stack_page(current) + THREAD_SIZE;
	call->hits++;
	if (!object_is_on_stack(sp) || (unsigned long)&top >= (unsigned long)(sp - 1) ||
	    (IS_ENABLED(CONFIG_X86) && (READ_ONCE_NOCHECK(sp[-1]) != ip + MCOUNT_INSN_SIZE ||
					stack_word(sp) != parent_ip)))
		call->odd++;
	else
		stack_measure(&call->max, ip + MCOUNT_INSN_SIZE, sp, (unsigned long *)top);
}

/* Part of the kernel's data: unregistering them waits for nothing. */
static struct ftrace_ops stack_kunit_ops[] = {
	{ .func = stack_kunit_func },
	{ .func = stack_kunit_func, .flags = FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED },
};

static bool stack_kunit_is_in(unsigned long addr, const char *name)
{
	char buf[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(buf, addr);
	return !strcmp(buf, name);
}

/* A call of the first site: gcd, called by this, called by the test. */
static noinline __noclone void stack_kunit_measure(struct kunit *test, struct ftrace_ops *ops)
{
	struct stack_max *max = &stack_kunit_call.max;

	memset(&stack_kunit_call, 0, sizeof(stack_kunit_call));
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(ops, kunit_site(0), 0, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(ops), 0);
	WRITE_ONCE(stack_kunit_call.task, current);
	WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
	WRITE_ONCE(stack_kunit_call.task, NULL);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);

	KUNIT_EXPECT_EQ(test, stack_kunit_call.hits, 1);
	KUNIT_EXPECT_EQ(test, stack_kunit_call.odd, 0);
	KUNIT_EXPECT_GT(test, max->nr, 3);
	KUNIT_EXPECT_EQ(test, max->addr[0], kunit_site(0) + MCOUNT_INSN_SIZE);
	KUNIT_EXPECT_TRUE(test, stack_kunit_is_in(max->addr[1], "stack_kunit_measure"));
	KUNIT_EXPECT_TRUE(test, stack_kunit_is_in(max->addr[2], "stack_trampolines"));
	KUNIT_EXPECT_EQ(test, max->size, max->depth[0]);
	KUNIT_EXPECT_LE(test, max->size, THREAD_SIZE);
	/* Nothing of the tracer stands between the function and its caller. */
	if (IS_ENABLED(CONFIG_X86))
		KUNIT_EXPECT_EQ(test, stack_part(max, 0), sizeof(long));
	for (unsigned int i = 1; i < max->nr; i++)
		KUNIT_EXPECT_LT(test, max->depth[i], max->depth[i - 1]);
}

static void stack_trampolines(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(stack_kunit_ops); i++)
		stack_kunit_measure(test, &stack_kunit_ops[i]);
	ftrace_kunit_forbid_tramps(true);
	for (unsigned int i = 0; i < ARRAY_SIZE(stack_kunit_ops); i++)
		stack_kunit_measure(test, &stack_kunit_ops[i]);
	ftrace_kunit_forbid_tramps(false);
}

#else

static void stack_trampolines(struct kunit *test)
{
	kunit_skip(test, "trampolines do not say");
}

#endif /* CONFIG_X86 */

static struct kunit_case stack_kunit_cases[] = {
	KUNIT_CASE_PARAM(stack_finds, stack_kunit_rows_gen_params),
	KUNIT_CASE(stack_drops),
	KUNIT_CASE(stack_parts),
	KUNIT_CASE(stack_trampolines),
	{ }
};

static struct kunit_suite stack_kunit_suite = {
	.name		= "ftrace_stack_tracer",
	.test_cases	= stack_kunit_cases,
};

kunit_test_suite(stack_kunit_suite);
