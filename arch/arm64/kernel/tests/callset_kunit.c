// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of sites on arm64: where they are in the room that the compiler leaves, and
 * which instruction is there. The rooms are data. Nothing is written.
 */
#include <kunit/test.h>

#define SITE_KUNIT_BTI_C	0xd503245f

/**
 * struct site_kunit_room - the room of a function
 * @room: of a word, a BTI, a MOV, a site and the function's next instruction
 */
struct site_kunit_room {
	__le32	room[6];
} __aligned(sizeof(u64));

/* Fills in the words that compilers leave, with @bti or not; returns the address in its table. */
static unsigned long site_kunit_fill(struct site_kunit_room *f, bool bti)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(f->room); i++)
		f->room[i] = cpu_to_le32(aarch64_insn_gen_nop());
	if (bti)
		f->room[2] = cpu_to_le32(SITE_KUNIT_BTI_C);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		return (unsigned long)&f->room[0];
	return (unsigned long)&f->room[bti ? 3 : 2];
}

/* The site is found, from there the function, and again when the MOV is there. */
static void site_finds_function(struct kunit *test)
{
	u32 mov = aarch64_insn_gen_move_reg(AARCH64_INSN_REG_9, AARCH64_INSN_REG_LR,
					    AARCH64_INSN_VARIANT_64BIT);
	struct site_kunit_room f;

	for (unsigned int bti = 0; bti <= IS_ENABLED(CONFIG_ARM64_BTI_KERNEL); bti++) {
		unsigned long addr = site_kunit_fill(&f, bti);
		unsigned long site = (unsigned long)&f.room[3 + bti];

		KUNIT_EXPECT_EQ(test, ftrace_call_adjust(addr), site);
		KUNIT_EXPECT_EQ(test, arch_ftrace_get_symaddr(site), (unsigned long)&f.room[2]);
		KUNIT_EXPECT_LE(test, site - (unsigned long)&f.room[2],
				(unsigned long)FTRACE_MCOUNT_MAX_OFFSET);
		f.room[2 + bti] = cpu_to_le32(mov);
		KUNIT_EXPECT_EQ(test, ftrace_call_adjust(addr), site);
		KUNIT_EXPECT_EQ(test, arch_ftrace_get_symaddr(site), (unsigned long)&f.room[2]);
	}
}

/* Where no word can be written in one go, there is no site. */
static void site_word_is_aligned(struct kunit *test)
{
	struct site_kunit_room f;
	unsigned long addr = site_kunit_fill(&f, false);

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		kunit_skip(test, "there is no word");
	KUNIT_EXPECT_EQ(test, ftrace_call_adjust(addr + AARCH64_INSN_SIZE), 0UL);
}

/* From the first to the last address that a BL reaches; ftrace_caller beyond. */
static void site_reaches_targets(struct kunit *test)
{
	unsigned long ip = FTRACE_ADDR + SZ_4K;
	u32 last = aarch64_insn_gen_branch_imm(ip, ip + SZ_128M - AARCH64_INSN_SIZE,
					       AARCH64_INSN_BRANCH_LINK);
	u32 first = aarch64_insn_gen_branch_imm(ip, ip - SZ_128M, AARCH64_INSN_BRANCH_LINK);
	u32 caller = aarch64_insn_gen_branch_imm(ip, FTRACE_ADDR, AARCH64_INSN_BRANCH_LINK);

	KUNIT_EXPECT_EQ(test, site_insn(ip, 0), aarch64_insn_gen_nop());
	KUNIT_EXPECT_EQ(test, site_insn(ip, FTRACE_ADDR), caller);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip + SZ_128M - AARCH64_INSN_SIZE), last);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip - SZ_128M), first);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip + SZ_128M), caller);
	KUNIT_EXPECT_EQ(test, site_insn(ip, ip - SZ_128M - AARCH64_INSN_SIZE), caller);
}

/* A site that cannot call holds no call. */
static void site_without_way(struct kunit *test)
{
	/* In no text, so there is no PLT, and farther from all text than a BL reaches. */
	__le32 *room = kunit_kzalloc(test, sizeof(*room), GFP_KERNEL);
	unsigned long ip = (unsigned long)room;
	struct dyn_ftrace rec = { .ip = ip };

	KUNIT_ASSERT_NOT_NULL(test, room);
	if (site_reaches(ip, FTRACE_ADDR))
		kunit_skip(test, "data is near");
	KUNIT_EXPECT_EQ(test, site_insn(ip, FTRACE_ADDR), 0);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, FTRACE_ADDR), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, 0), FTRACE_SITE_ALTERED);
	KUNIT_EXPECT_EQ(test, ftrace_make_nop(NULL, &rec, FTRACE_ADDR), -EINVAL);
	*room = cpu_to_le32(aarch64_insn_gen_nop());
	KUNIT_EXPECT_EQ(test, arch_ftrace_check_site(ip, 0), FTRACE_SITE_OK);
	KUNIT_EXPECT_EQ(test, ftrace_make_call(&rec, FTRACE_ADDR), -EINVAL);
}

static void site_registers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ftrace_regs_query_register_offset("x0"), 0);
	KUNIT_EXPECT_EQ(test, ftrace_regs_query_register_offset("x8"), FREGS_OFFSET(regs[8]));
	KUNIT_EXPECT_EQ(test, ftrace_regs_query_register_offset("x9"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_regs_query_register_offset("x30"), FREGS_OFFSET(lr));
	KUNIT_EXPECT_EQ(test, ftrace_regs_query_register_offset("sp"), FREGS_OFFSET(sp));
	KUNIT_EXPECT_EQ(test, ftrace_regs_query_register_offset("x"), -EINVAL);
}

static struct kunit_case site_kunit_cases[] = {
	KUNIT_CASE(site_finds_function),
	KUNIT_CASE(site_word_is_aligned),
	KUNIT_CASE(site_reaches_targets),
	KUNIT_CASE(site_without_way),
	KUNIT_CASE(site_registers),
	{ }
};

static struct kunit_suite site_kunit_suite = {
	.name		= "ftrace-arm64",
	.test_cases	= site_kunit_cases,
};

kunit_test_suite(site_kunit_suite);
