// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of sites on PowerPC: which instruction is there, and how it changes. The
 * functions are data, which nothing executes.
 */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

/**
 * struct site_kunit_func - the beginning of a function, and entries that it reaches
 * @mflr: its first instruction
 * @site: the second one
 * @entry: two functions to be called
 */
struct site_kunit_func {
	u32	mflr;
	u32	site;
	u32	entry[2];
};

/* The text patching code writes to pages that vmalloc() has mapped. */
static struct site_kunit_func *site_kunit_func;

static unsigned long site_kunit_ip(void)
{
	return (unsigned long)&site_kunit_func->site;
}

static int site_kunit_init(struct kunit *test)
{
	site_kunit_func = vmalloc(sizeof(*site_kunit_func));
	if (!site_kunit_func)
		return -ENOMEM;
	*site_kunit_func = (struct site_kunit_func) {
		.mflr	= PPC_RAW_MFLR(_R0),
		.site	= PPC_RAW_BL(-SZ_1M),
	};
	return 0;
}

static void site_kunit_exit(struct kunit *test)
{
	vfree(site_kunit_func);
}

static u32 site_kunit_found(void)
{
	return READ_ONCE(site_kunit_func->site);
}

/* From the first to the last address that a BL reaches; the kernel's stub beyond. */
static void site_reaches_targets(struct kunit *test)
{
	unsigned long ip = (unsigned long)ftrace_tramp_text + SZ_4K;
	u32 stub = PPC_RAW_BL(-SZ_4K);

	KUNIT_EXPECT_EQ(test, site_insn(ip, 0), PPC_RAW_NOP());
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip + SZ_4K), 0x48001001);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip + SZ_32M - MCOUNT_INSN_SIZE), 0x49fffffd);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip - SZ_32M), 0x4a000001);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip + SZ_32M), stub);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip - SZ_32M - MCOUNT_INSN_SIZE), stub);
}

/* A stub loads the address of ftrace_regs_caller, as the link step has it, and goes there. */
static void site_stub_leads_to_entry(struct kunit *test)
{
	const u32 *stub = (const u32 *)ftrace_tramp_text;
	long way = FTRACE_REGS_ADDR - kernel_toc_addr();

	KUNIT_EXPECT_EQ(test, stub[0],
			PPC_RAW_LD(_R12, _R13, offsetof(struct paca_struct, kernel_toc)));
	KUNIT_EXPECT_EQ(test, stub[1], PPC_RAW_ADDIS(_R12, _R12, PPC_HA(way)));
	KUNIT_EXPECT_EQ(test, stub[2], PPC_RAW_ADDI(_R12, _R12, PPC_LO(way)));
	KUNIT_EXPECT_EQ(test, stub[3], PPC_RAW_MTCTR(_R12));
	KUNIT_EXPECT_EQ(test, stub[4], PPC_RAW_BCTR());
	KUNIT_EXPECT_EQ(test, READ_ONCE(get_paca()->kernel_toc), kernel_toc_addr());
}

/* The instructions of the compiler become a NOP, and others stay. */
static void site_begins(struct kunit *test)
{
	struct dyn_ftrace rec = { .ip = site_kunit_ip() };

	if (site_reaches(rec.ip, MCOUNT_ADDR))
		site_kunit_func->site = PPC_RAW_BL(MCOUNT_ADDR - rec.ip);
	KUNIT_EXPECT_EQ(test, ftrace_init_nop(NULL, &rec), 0);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_NOP());
	KUNIT_EXPECT_EQ(test, ftrace_init_nop(NULL, &rec), -EINVAL);

	site_kunit_func->site = PPC_RAW_BRANCH(-SZ_1M);
	KUNIT_EXPECT_EQ(test, ftrace_init_nop(NULL, &rec), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_BRANCH(-SZ_1M));

	site_kunit_func->site = PPC_RAW_BL(-SZ_1M);
	site_kunit_func->mflr = PPC_RAW_NOP();
	KUNIT_EXPECT_EQ(test, ftrace_init_nop(NULL, &rec), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_BL(-SZ_1M));
}

static void site_changes(struct kunit *test)
{
	unsigned long ip = site_kunit_ip(), one = (unsigned long)&site_kunit_func->entry[0];
	unsigned long other = (unsigned long)&site_kunit_func->entry[1];
	struct dyn_ftrace rec = { .ip = ip };

	site_kunit_func->site = PPC_RAW_NOP();
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, 0), FTRACE_SITE_OK);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, one), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, ftrace_make_nop(NULL, &rec, one), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_modify_call(&rec, one, other), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_NOP());

	KUNIT_EXPECT_EQ(test, ftrace_make_call(&rec, one), 0);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_BL(4));
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, one), FTRACE_SITE_OK);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, other), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, 0), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, ftrace_make_call(&rec, other), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_BL(4));

	KUNIT_EXPECT_EQ(test, ftrace_modify_call(&rec, one, other), 0);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_BL(8));
	KUNIT_EXPECT_EQ(test, ftrace_make_nop(NULL, &rec, other), 0);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_NOP());
}

/* A site that cannot call holds no call: it is in no text, so there is no stub. */
static void site_without_way(struct kunit *test)
{
	unsigned long ip = site_kunit_ip();
	struct dyn_ftrace rec = { .ip = ip };

	if (site_reaches(ip, FTRACE_ADDR))
		kunit_skip(test, "data is near");
	site_kunit_func->site = 0;
	KUNIT_EXPECT_EQ(test, site_insn(ip, FTRACE_ADDR), 0);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, FTRACE_ADDR), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, ftrace_make_nop(NULL, &rec, FTRACE_ADDR), -EINVAL);
	site_kunit_func->site = PPC_RAW_NOP();
	KUNIT_EXPECT_EQ(test, ftrace_make_call(&rec, FTRACE_ADDR), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_kunit_found(), PPC_RAW_NOP());
}

/* The addresses of kernel and modules have halves of their own. */
static void site_halves(struct kunit *test)
{
	const unsigned long base[] = { PAGE_OFFSET, VMALLOC_START };
	const u32 distance[] = { 0, 4, SZ_1G, SZ_2G - 4 };

	for (unsigned int i = 0; i < ARRAY_SIZE(base); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(distance); j++) {
			u32 low = arch_ftrace_text_low(base[i] + distance[j]);

			KUNIT_EXPECT_EQ(test, low, i << 31 | distance[j]);
			KUNIT_EXPECT_EQ(test, arch_ftrace_text_addr(low), base[i] + distance[j]);
		}
		KUNIT_EXPECT_NE(test, base[i] + SZ_2G,
				arch_ftrace_text_addr(arch_ftrace_text_low(base[i] + SZ_2G)));
	}
}

#ifdef CONFIG_LIVEPATCH_64
static struct task_struct *site_kunit_task;

static void site_kunit_override(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	if (current != site_kunit_task)
		return;
	ftrace_regs_set_return_value(fregs, 42);
	ftrace_override_function_with_return(fregs);
}

/* An overridden function leaves nothing on the stack of live patches. */
static void site_override_returns(struct kunit *test)
{
	static struct ftrace_ops ops = {
		.func	= site_kunit_override,
		.flags	= FTRACE_OPS_FL_IPMODIFY,
	};
	unsigned long ip = ftrace_location((unsigned long)nsec_to_clock_t);
	unsigned long *sp = current_thread_info()->livepatch_sp;

	site_kunit_task = current;
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, ip, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_EQ(test, nsec_to_clock_t(0), 42);
	KUNIT_EXPECT_PTR_EQ(test, current_thread_info()->livepatch_sp, sp);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
	KUNIT_EXPECT_EQ(test, nsec_to_clock_t(0), 0);
}
#endif

static struct kunit_case site_kunit_cases[] = {
	KUNIT_CASE(site_reaches_targets),
	KUNIT_CASE(site_stub_leads_to_entry),
	KUNIT_CASE(site_begins),
	KUNIT_CASE(site_changes),
	KUNIT_CASE(site_without_way),
	KUNIT_CASE(site_halves),
#ifdef CONFIG_LIVEPATCH_64
	KUNIT_CASE(site_override_returns),
#endif
	{ }
};

static struct kunit_suite site_kunit_suite = {
	.name		= "ftrace-powerpc",
	.init		= site_kunit_init,
	.exit		= site_kunit_exit,
	.test_cases	= site_kunit_cases,
};

kunit_test_suite(site_kunit_suite);
