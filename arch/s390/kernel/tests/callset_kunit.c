// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of sites on s390, of both forms on any machine. The sites are data, which
 * nothing executes.
 */
#include <kunit/test.h>

#define SITE_KUNIT_OTHER	((unsigned long)ftrace_stub_direct_tramp)

/**
 * struct site_kunit_text - a site and its trampoline
 * @site: the site's instruction, and the next ones of the function
 * @next: more of the function
 * @tramp: the trampoline
 */
struct site_kunit_text {
	u64					site;
	u64					next;
	struct ftrace_hotpatch_trampoline	tramp;
} __aligned(sizeof(u64));

/* As near to ftrace_caller as text is. */
static struct site_kunit_text site_kunit_text;

static unsigned long site_kunit_ip(void)
{
	return (unsigned long)&site_kunit_text.site;
}

static int site_kunit_init(struct kunit *test)
{
	memset(&site_kunit_text, 0, sizeof(site_kunit_text));
	site_kunit_text.site = (u64)INSN_NOP << 48 | 0xabcd;
	site_kunit_text.next = U64_MAX;
	return 0;
}

/* The site holds @insn, and all else of the function is as it was. */
static void site_kunit_expect(struct kunit *test, u64 insn)
{
	KUNIT_EXPECT_EQ(test, READ_ONCE(site_kunit_text.site), insn | 0xabcd);
	KUNIT_EXPECT_EQ(test, READ_ONCE(site_kunit_text.next), U64_MAX);
}

static void site_branches(struct kunit *test)
{
	unsigned long ip = site_kunit_ip();
	u64 call = insn_make(INSN_BRASL_R0, ip, FTRACE_ADDR);

	KUNIT_EXPECT_TRUE(test, branch_holds(ip, 0));
	KUNIT_EXPECT_FALSE(test, branch_holds(ip, FTRACE_ADDR));
	KUNIT_EXPECT_EQ(test, branch_change(ip, FTRACE_ADDR, 0), -EINVAL);

	KUNIT_EXPECT_EQ(test, branch_change(ip, 0, FTRACE_ADDR), 0);
	site_kunit_expect(test, call);
	KUNIT_EXPECT_TRUE(test, branch_holds(ip, FTRACE_ADDR));
	KUNIT_EXPECT_FALSE(test, branch_holds(ip, SITE_KUNIT_OTHER));
	KUNIT_EXPECT_FALSE(test, branch_holds(ip, 0));

	KUNIT_EXPECT_EQ(test, branch_change(ip, 0, SITE_KUNIT_OTHER), -EINVAL);
	site_kunit_expect(test, call);
	KUNIT_EXPECT_EQ(test, branch_change(ip, FTRACE_ADDR, SITE_KUNIT_OTHER), 0);
	KUNIT_EXPECT_TRUE(test, branch_holds(ip, SITE_KUNIT_OTHER));
	KUNIT_EXPECT_EQ(test, branch_change(ip, SITE_KUNIT_OTHER, 0), 0);
	site_kunit_expect(test, (u64)INSN_NOP << 48);
}

/* From the first to the last address that a BRASL reaches; ftrace_caller beyond. */
static void site_reaches(struct kunit *test)
{
	unsigned long ip = FTRACE_ADDR + SZ_4K;
	u64 caller = (u64)INSN_BRASL_R0 << 48 | (u64)(u32)(-(long)SZ_4K / 2) << 16;

	KUNIT_EXPECT_EQ(test, branch_insn(ip, FTRACE_ADDR), caller);
	KUNIT_EXPECT_EQ(test, branch_insn(ip, ip + SZ_4G - 2),
			(u64)INSN_BRASL_R0 << 48 | (u64)S32_MAX << 16);
	KUNIT_EXPECT_EQ(test, branch_insn(ip, ip - SZ_4G),
			(u64)INSN_BRASL_R0 << 48 | BIT_ULL(31) << 16);
	KUNIT_EXPECT_EQ(test, branch_insn(ip, ip + SZ_4G), caller);
	KUNIT_EXPECT_EQ(test, branch_insn(ip, ip - SZ_4G - 2), caller);
}

/* A branch that cannot be written at once is no site. */
static void site_is_aligned(struct kunit *test)
{
	unsigned long ip = site_kunit_ip() + 4;
	u64 nop = insn_make(INSN_NOP, ip, ip);

	memcpy((void *)ip, &nop, MCOUNT_INSN_SIZE);
	KUNIT_EXPECT_FALSE(test, branch_holds(ip, 0));
	KUNIT_EXPECT_EQ(test, branch_change(ip, 0, FTRACE_ADDR), -EINVAL);
}

static void site_has_trampoline(struct kunit *test)
{
	struct ftrace_hotpatch_trampoline *tramp = &site_kunit_text.tramp;
	unsigned long ip = site_kunit_ip();
	u64 nop = insn_make(INSN_NOP, ip, (unsigned long)tramp);
	u64 call = insn_make(INSN_BRANCH, ip, (unsigned long)tramp);

	hotpatch_init(tramp, ip);
	site_kunit_expect(test, nop);
	KUNIT_EXPECT_EQ(test, tramp->brasl_opc, INSN_BRASL_R1);
	KUNIT_EXPECT_PTR_EQ(test, (const char *)tramp + 2L * tramp->brasl_disp, hotpatch_shared());
	KUNIT_EXPECT_EQ(test, tramp->rest_of_intercepted_function, ip + MCOUNT_INSN_SIZE);

	KUNIT_EXPECT_PTR_EQ(test, hotpatch_with(ip, 0), tramp);
	KUNIT_EXPECT_NULL(test, hotpatch_with(ip, FTRACE_ADDR));
	KUNIT_EXPECT_EQ(test, hotpatch_change(ip, 0, SITE_KUNIT_OTHER), 0);
	site_kunit_expect(test, call);
	KUNIT_EXPECT_EQ(test, tramp->interceptor, SITE_KUNIT_OTHER);
	KUNIT_EXPECT_PTR_EQ(test, hotpatch_with(ip, SITE_KUNIT_OTHER), tramp);
	KUNIT_EXPECT_NULL(test, hotpatch_with(ip, FTRACE_ADDR));
	KUNIT_EXPECT_NULL(test, hotpatch_with(ip, 0));

	KUNIT_EXPECT_EQ(test, hotpatch_change(ip, FTRACE_ADDR, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, hotpatch_change(ip, SITE_KUNIT_OTHER, FTRACE_ADDR), 0);
	site_kunit_expect(test, call);
	KUNIT_EXPECT_EQ(test, tramp->interceptor, FTRACE_ADDR);

	/* A CPU in the trampoline goes on to the target that was there. */
	KUNIT_EXPECT_EQ(test, hotpatch_change(ip, FTRACE_ADDR, 0), 0);
	site_kunit_expect(test, nop);
	KUNIT_EXPECT_EQ(test, tramp->interceptor, FTRACE_ADDR);
}

/* One that has no trampoline, or that of another, is no site. */
static void site_lacks_trampoline(struct kunit *test)
{
	unsigned long ip = site_kunit_ip();

	KUNIT_EXPECT_NULL(test, hotpatch_with(ip, 0));
	KUNIT_EXPECT_EQ(test, hotpatch_change(ip, 0, FTRACE_ADDR), -EINVAL);
	site_kunit_expect(test, (u64)INSN_NOP << 48);

	hotpatch_init(&site_kunit_text.tramp, ip);
	site_kunit_text.tramp.rest_of_intercepted_function += sizeof(u64);
	KUNIT_EXPECT_NULL(test, hotpatch_with(ip, 0));
	KUNIT_EXPECT_EQ(test, hotpatch_change(ip, 0, FTRACE_ADDR), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_kunit_text.tramp.interceptor, FTRACE_ADDR);
}

static struct kunit_case site_kunit_cases[] = {
	KUNIT_CASE(site_branches),
	KUNIT_CASE(site_reaches),
	KUNIT_CASE(site_is_aligned),
	KUNIT_CASE(site_has_trampoline),
	KUNIT_CASE(site_lacks_trampoline),
	{ }
};

static struct kunit_suite site_kunit_suite = {
	.name		= "ftrace-s390",
	.init		= site_kunit_init,
	.test_cases	= site_kunit_cases,
};

kunit_test_suite(site_kunit_suite);
