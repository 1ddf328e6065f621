// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of direct calls: what stands at the sites, who may share them,
 * and that the functions do what they did.
 *
 * Two functions that only return stand for trampolines.
 */
#include "ftrace_kunit.h"

#define DIRECT_KUNIT_A	((unsigned long)ftrace_stub_direct_tramp)
#define DIRECT_KUNIT_B	((unsigned long)ftrace_stub)

static struct ftrace_ops direct_kunit_ops;
static struct ftrace_ops direct_kunit_other;
static unsigned int direct_kunit_hits;
static enum ftrace_ops_cmd direct_kunit_cmd;
static unsigned int direct_kunit_asked;
static int direct_kunit_answer;

static void direct_kunit_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	direct_kunit_hits++;
}

static int direct_kunit_ops_func(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	direct_kunit_cmd = cmd;
	direct_kunit_asked++;
	return direct_kunit_answer;
}

static int direct_kunit_init(struct kunit *test)
{
	memset(&direct_kunit_ops, 0, sizeof(direct_kunit_ops));
	memset(&direct_kunit_other, 0, sizeof(direct_kunit_other));
	direct_kunit_other.func = direct_kunit_func;
	direct_kunit_hits = 0;
	direct_kunit_asked = 0;
	direct_kunit_answer = 0;
	return ftrace_set_filter_ip(&direct_kunit_ops, kunit_site(0), 0, 1) ?:
	       ftrace_set_filter_ip(&direct_kunit_other, kunit_site(0), 0, 1);
}

static void direct_kunit_exit(struct kunit *test)
{
	unregister_ftrace_direct(&direct_kunit_ops, direct_kunit_ops.direct_call, true);
	if (direct_kunit_other.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&direct_kunit_other);
	ftrace_free_filter(&direct_kunit_other);
}

static unsigned long direct_kunit_target(void)
{
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);
	cs = direct_callset_at(kunit_site(0));
	if (arch_ftrace_check_site(kunit_site(0), ftrace_callset_target(cs)) != FTRACE_SITE_OK)
		return ULONG_MAX;
	return ftrace_callset_target(cs);
}

static int direct_kunit_unregister(unsigned long addr)
{
	return unregister_ftrace_direct(&direct_kunit_ops, addr, false);
}

static void direct_kunit_works(struct kunit *test)
{
	for (unsigned int i = 0; i < 10; i++) {
		kunit_operand = 12 + i;
		kunit_call_site(0);
		KUNIT_EXPECT_EQ(test, kunit_result, gcd(12 + i, 18));
	}
	kunit_operand = 12;
}

/* Alone on a site, it is what the site calls. */
static void direct_alone(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
	/* It can come again. */
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
}

/* With others, a trampoline calls them and goes on to it. */
static void direct_with_function(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_NE(test, direct_kunit_target(), DIRECT_KUNIT_A);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, direct_kunit_hits, 20);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, direct_kunit_hits, 40);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	direct_kunit_works(test);
}

static void direct_wrong_input(struct kunit *test)
{
	struct ftrace_ops *ops = &direct_kunit_ops;

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, DIRECT_KUNIT_A, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(ops, DIRECT_KUNIT_A), -EINVAL);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(ops, DIRECT_KUNIT_A), -EINVAL);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, DIRECT_KUNIT_B, false), -EINVAL);

	/* A second one on the same site. */
	direct_kunit_other.func = NULL;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_other, DIRECT_KUNIT_B), -EBUSY);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	KUNIT_EXPECT_NULL(test, direct_kunit_other.func);

	/* All functions. */
	ftrace_free_filter(&direct_kunit_other);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_other, DIRECT_KUNIT_B), -EINVAL);
}

/* Nobody that cannot be asked shares a site with FTRACE_OPS_FL_IPMODIFY. */
static void direct_refuses_ipmodify(struct kunit *test)
{
	direct_kunit_other.flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), -EBUSY);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), -EBUSY);
	KUNIT_EXPECT_NULL(test, direct_kunit_ops.func);
}

static void direct_asks_before_sharing(struct kunit *test)
{
	direct_kunit_ops.ops_func = direct_kunit_ops_func;
	direct_kunit_other.flags |= FTRACE_OPS_FL_IPMODIFY;

	/* The one that modifies comes second: its peer may refuse. */
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 0);
	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), -EAGAIN);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	direct_kunit_answer = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);

	/* The direct one comes second: it is asked itself. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), -EAGAIN);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	direct_kunit_answer = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	direct_kunit_works(test);
}

static struct kunit_case direct_kunit_cases[] = {
	KUNIT_CASE(direct_alone),
	KUNIT_CASE(direct_with_function),
	KUNIT_CASE(direct_wrong_input),
	KUNIT_CASE(direct_refuses_ipmodify),
	KUNIT_CASE(direct_asks_before_sharing),
	{ }
};

static struct kunit_suite direct_kunit_suite = {
	.name		= "ftrace_direct",
	.init		= direct_kunit_init,
	.exit		= direct_kunit_exit,
	.test_cases	= direct_kunit_cases,
};

kunit_test_suite(direct_kunit_suite);
