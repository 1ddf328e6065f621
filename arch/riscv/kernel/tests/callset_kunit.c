// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of sites on riscv: which instructions are there, and how they change. The
 * rooms are data, which nothing executes.
 */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#define SITE_KUNIT_OTHER	((unsigned long)ftrace_stub_direct_tramp)

/* The text patching code writes to pages that vmalloc() has mapped. */
static struct site_room *site_kunit_room;

static unsigned long site_kunit_ip(void)
{
	return (unsigned long)&site_kunit_room->site;
}

static int site_kunit_init(struct kunit *test)
{
	site_kunit_room = vmalloc(sizeof(*site_kunit_room));
	if (!site_kunit_room)
		return -ENOMEM;
	*site_kunit_room = (struct site_room) {
		.auipc	= SITE_NOPS,
		.site	= SITE_NOPS,
	};
	return 0;
}

static void site_kunit_exit(struct kunit *test)
{
	vfree(site_kunit_room);
}

static void site_kunit_expect(struct kunit *test, const struct ftrace_ops *word, u32 auipc,
			      u32 insn)
{
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(site_kunit_room->word), word);
	KUNIT_EXPECT_EQ(test, READ_ONCE(site_kunit_room->auipc), auipc);
	KUNIT_EXPECT_EQ(test, READ_ONCE(site_kunit_room->site), insn);
}

static void site_finds_function(struct kunit *test)
{
	unsigned long addr = (unsigned long)site_kunit_room, ip = site_kunit_ip();

	KUNIT_EXPECT_EQ(test, ftrace_call_adjust(addr), ip);
	KUNIT_EXPECT_EQ(test, arch_ftrace_get_symaddr(ip), addr + sizeof(long));
	KUNIT_EXPECT_EQ(test, ip - arch_ftrace_get_symaddr(ip),
			(unsigned long)FTRACE_MCOUNT_MAX_OFFSET);
	/* No word can be written there in one go. */
	KUNIT_EXPECT_EQ(test, ftrace_call_adjust(addr + 4), 0UL);
}

/* The two instructions lead to ftrace_caller, whichever bits of the way are set. */
static void site_leads_to_caller(struct kunit *test)
{
	static const long ways[] = { 8, 0x7fc, 0x800, 0xffc, 0x1000, SZ_1G, SZ_2G - SZ_4K };

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		long way = i % 2 ? ways[i / 2] : -ways[i / 2];
		unsigned long func = FTRACE_ADDR - way, ip = func + MCOUNT_AUIPC_SIZE;
		u32 auipc = site_auipc(ip), jalr = site_insn(ip, FTRACE_ADDR);

		KUNIT_EXPECT_EQ(test, auipc & 0xfff, AUIPC_T0);
		KUNIT_EXPECT_EQ(test, jalr & 0xfffff, JALR_T0);
		KUNIT_EXPECT_EQ(test, (long)(s32)(auipc & ~0xfffU) + ((s32)jalr >> 20), way);
		KUNIT_EXPECT_EQ(test, site_insn(ip, SITE_KUNIT_OTHER), jalr);
	}
}

static void site_changes(struct kunit *test)
{
	const struct ftrace_ops *one = &ftrace_list_ops, *other = &ftrace_nop_ops;
	unsigned long ip = site_kunit_ip();
	u32 auipc = site_auipc(ip), call = site_insn(ip, FTRACE_ADDR), nop = RISCV_INSN_NOP4;

	guard(mutex)(&text_mutex);
	KUNIT_EXPECT_EQ(test, site_prepare(ip, one), 0);
	site_kunit_expect(test, one, auipc, nop);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, 0), FTRACE_SITE_OK);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, FTRACE_ADDR), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, site_change(ip, other, FTRACE_ADDR, 0), -EINVAL);
	site_kunit_expect(test, one, auipc, nop);

	KUNIT_EXPECT_EQ(test, site_change(ip, other, 0, FTRACE_ADDR), 0);
	site_kunit_expect(test, other, auipc, call);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, FTRACE_ADDR), FTRACE_SITE_OK);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, 0), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, site_change(ip, one, 0, FTRACE_ADDR), -EINVAL);
	site_kunit_expect(test, other, auipc, call);

	KUNIT_EXPECT_EQ(test, site_change(ip, one, FTRACE_ADDR, SITE_KUNIT_OTHER), 0);
	site_kunit_expect(test, one, auipc, call);
	KUNIT_EXPECT_EQ(test, site_change(ip, other, SITE_KUNIT_OTHER, 0), 0);
	site_kunit_expect(test, other, auipc, nop);
}

/* A room with anything else than the compiler's NOPs is left alone. */
static void site_has_room(struct kunit *test)
{
	unsigned long ip = site_kunit_ip();

	guard(mutex)(&text_mutex);
	site_kunit_room->site = site_insn(ip, FTRACE_ADDR);
	KUNIT_EXPECT_EQ(test, site_prepare(ip, &ftrace_nop_ops), -EINVAL);
	site_kunit_expect(test, NULL, SITE_NOPS, site_insn(ip, FTRACE_ADDR));
	site_kunit_room->site = SITE_NOPS;
	site_kunit_room->auipc = site_auipc(ip);
	KUNIT_EXPECT_EQ(test, site_prepare(ip, &ftrace_nop_ops), -EINVAL);
	site_kunit_expect(test, NULL, site_auipc(ip), SITE_NOPS);
}

/* The breakpoint of a kprobe on the function stays; another instruction is not called after. */
static void site_with_breakpoint(struct kunit *test)
{
	const struct ftrace_ops *word = &ftrace_nop_ops;
	unsigned long ip = site_kunit_ip();

	guard(mutex)(&text_mutex);
	KUNIT_EXPECT_EQ(test, site_prepare(ip, word), 0);
	site_kunit_room->auipc = RVG_MATCH_EBREAK;
	KUNIT_EXPECT_EQ(test, site_change(ip, word, 0, FTRACE_ADDR), 0);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, FTRACE_ADDR), FTRACE_SITE_OK);
	site_kunit_expect(test, word, RVG_MATCH_EBREAK, site_insn(ip, FTRACE_ADDR));

	site_kunit_room->auipc = RISCV_INSN_NOP4;
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, FTRACE_ADDR), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, site_change(ip, word, FTRACE_ADDR, 0), -EINVAL);
}

static struct kunit_case site_kunit_cases[] = {
	KUNIT_CASE(site_finds_function),
	KUNIT_CASE(site_leads_to_caller),
	KUNIT_CASE(site_changes),
	KUNIT_CASE(site_has_room),
	KUNIT_CASE(site_with_breakpoint),
	{ }
};

static struct kunit_suite site_kunit_suite = {
	.name		= "ftrace-riscv",
	.init		= site_kunit_init,
	.exit		= site_kunit_exit,
	.test_cases	= site_kunit_cases,
};

kunit_test_suite(site_kunit_suite);
