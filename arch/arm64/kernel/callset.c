// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing on arm64 with callsets: the room that the compiler leaves at a function,
 * and the instructions that are written there.
 *
 *		word			(with DYNAMIC_FTRACE_WITH_CALL_OPS, aligned)
 *	func:	BTI	C		(where the compiler puts one)
 *		MOV	X9, LR
 *		NOP, or BL		(the site)
 *
 * The compiler fills the room for the word, the MOV and the site with NOPs. ftrace_caller
 * finds the callset by the word, or looks the site up where there is no word.
 *
 * Invariants:
 *  1. A site holds a NOP or a BL. These may change while other CPUs execute them, so no
 *     CPU is stopped or interrupted: it goes on with the old one for a while.
 *  2. From before its site is first a BL, a word names an ops. One that a CPU may read is
 *     not freed: a CPU that calls ftrace_caller finds the old word, or the new one.
 *
 * kernel/trace/callset/generic.c makes batches, and the entries are in entry-callset.S.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <asm/ftrace.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

/* Registers */

#define FREGS_OFFSET(member)	offsetof(struct __arch_ftrace_regs, member)

/* entry-callset.S stores them in pairs. */
static_assert(FREGS_OFFSET(direct_tramp) == FREGS_OFFSET(regs[8]) + sizeof(long));
static_assert(FREGS_OFFSET(lr) == FREGS_OFFSET(fp) + sizeof(long));
static_assert(FREGS_OFFSET(pc) == FREGS_OFFSET(sp) + sizeof(long));
static_assert(sizeof(struct __arch_ftrace_regs) % 16 == 0);

/**
 * ftrace_regs_query_register_offset - find a register in struct ftrace_regs
 * @name: its name
 *
 * Context: any.
 * Return: the offset; -EINVAL if there is no such register, or it is not saved.
 */
int ftrace_regs_query_register_offset(const char *name)
{
	static const struct {
		const char	*name;
		int		offset;
	} others[] = {
		{ "x29", FREGS_OFFSET(fp) },
		{ "x30", FREGS_OFFSET(lr) },
		{ "lr",  FREGS_OFFSET(lr) },
		{ "sp",  FREGS_OFFSET(sp) },
		{ "pc",  FREGS_OFFSET(pc) },
	};

	if (name[0] == 'x' && name[1] >= '0' && name[1] <= '8' && !name[2])
		return FREGS_OFFSET(regs) + (name[1] - '0') * sizeof(long);
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i].name, name))
			return others[i].offset;
	}
	return -EINVAL;
}

/* Finding sites */

/**
 * ftrace_call_adjust - find the site of a function
 * @addr: the room that the compiler left, as its table has it
 *
 * Called more than once for each site, also after some are in use.
 *
 * Context: the text is mapped.
 * Return: the site; 0 if there cannot be one.
 */
unsigned long ftrace_call_adjust(unsigned long addr)
{
	/* Without a word the compiler's address is that of the MOV. */
	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		return addr + AARCH64_INSN_SIZE;

	if (!IS_ALIGNED(addr, sizeof(u64))) {
		pr_warn_ratelimited("%pS cannot be traced: it is not aligned\n",
				    (void *)addr + sizeof(u64));
		return 0;
	}
	addr += sizeof(u64);
	if (aarch64_insn_is_bti(le32_to_cpup((__le32 *)addr)))
		addr += AARCH64_INSN_SIZE;
	return addr + AARCH64_INSN_SIZE;
}

/**
 * arch_ftrace_get_symaddr - find the function of a site
 * @fentry_ip: the site
 *
 * Context: any.
 * Return: the address of the function's symbol.
 */
unsigned long arch_ftrace_get_symaddr(unsigned long fentry_ip)
{
	unsigned long mov = fentry_ip - AARCH64_INSN_SIZE;
	__le32 *bti = (__le32 *)mov - 1, insn;

	if (!IS_ENABLED(CONFIG_ARM64_BTI_KERNEL))
		return mov;
	/* There may be no page before the first function. */
	if (offset_in_page(mov))
		insn = *bti;
	else if (get_kernel_nofault(insn, bti))
		return mov;
	return aarch64_insn_is_bti(le32_to_cpu(insn)) ? (unsigned long)bti : mov;
}

/* The instruction at a site */

static __always_inline bool site_reaches(unsigned long ip, unsigned long to)
{
	return to - ip + SZ_128M < 2UL * SZ_128M;
}

/* The way to ftrace_caller from the text of a module that is too far away; or 0. */
static unsigned long site_plt(unsigned long ip)
{
#ifdef CONFIG_MODULES
	struct plt_entry *plt;
	struct module *mod;

	guard(rcu)();
	mod = __module_text_address(ip);
	if (!mod)
		return 0;
	plt = within_module_mem_type(ip, mod, MOD_INIT_TEXT) ?
	      mod->arch.init_ftrace_trampolines : mod->arch.ftrace_trampolines;
	return plt ? (unsigned long)&plt[FTRACE_PLT_IDX] : 0;
#else
	return 0;
#endif
}

/*
 * The instruction by which a site calls @target: a direct function that is too far away by
 * way of ftrace_caller, which goes on to it. 0, which is no instruction, if that is too far, too.
 */
static __always_inline u32 site_insn(unsigned long ip, unsigned long target)
{
	if (!target)
		return aarch64_insn_gen_nop();
	if (unlikely(!site_reaches(ip, target))) {
		target = FTRACE_ADDR;
		if (!site_reaches(ip, target))
			target = site_plt(ip);
		if (!target)
			return 0;
	}
	return aarch64_insn_get_bl_value() | ((target - ip) / AARCH64_INSN_SIZE & GENMASK(25, 0));
}

/* In line: it is done for each site, and most functions that it could call are traced. */
static __always_inline bool site_holds(unsigned long ip, u32 insn)
{
	__le32 found;

	__get_kernel_nofault(&found, (__le32 *)ip, __le32, failed);
	return le32_to_cpu(found) == insn;
failed:
	return false;
}

enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target)
{
	u32 insn = site_insn(ip, target);

	return insn && site_holds(ip, insn) ? FTRACE_SITE_OK : FTRACE_SITE_ALTERED;
}

/* Writing */

/* The writes of an update; ftrace_lock covers it. All others are made one by one. */
static struct aarch64_insn_batch site_batch;
static bool site_batch_open;

static int site_write(unsigned long ip, u32 insn)
{
	if (site_batch_open) {
		aarch64_insn_batch_add(&site_batch, (void *)ip, insn);
		return 0;
	}
	return aarch64_insn_patch_text_nosync((void *)ip, insn);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
static int site_write_word(struct dyn_ftrace *rec)
{
	/* A BTI moves the site by half a word. */
	void *word = (void *)ALIGN_DOWN(rec->ip - 3 * AARCH64_INSN_SIZE, sizeof(u64));
	u64 ops = (unsigned long)ftrace_find_unique_ops(rec);

	if (site_batch_open) {
		aarch64_insn_batch_add_u64(&site_batch, word, ops);
		return 0;
	}
	return aarch64_insn_write_literal_u64(word, ops);
}
#else
static int site_write_word(struct dyn_ftrace *rec)
{
	return 0;
}
#endif

static int site_change(struct dyn_ftrace *rec, unsigned long from, unsigned long to)
{
	u32 old = site_insn(rec->ip, from), new = site_insn(rec->ip, to);
	int ret;

	if (!old || !new || !site_holds(rec->ip, old))
		return -EINVAL;
	ret = site_write_word(rec);
	/* The word is all that two callsets differ in, mostly. */
	if (ret || old == new)
		return ret;
	return site_write(rec->ip, new);
}

/**
 * ftrace_init_nop - prepare the room that the compiler left
 * @mod: the module that the text is of, or NULL
 * @rec: the site
 *
 * Context: the text is not executed yet.
 * Return: 0; -EINVAL if anything but NOPs is there, or ftrace_caller is too far away; or the
 * error of the write.
 */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	unsigned long mov = rec->ip - AARCH64_INSN_SIZE;
	u32 nop = aarch64_insn_gen_nop();

	if (!site_holds(mov, nop) || !site_holds(rec->ip, nop))
		return -EINVAL;
	/* The image may be larger than a BL reaches. Of a module the way is not known yet. */
	if (!mod && !site_insn(rec->ip, FTRACE_ADDR))
		return -EINVAL;
	return site_write_word(rec) ?:
	       site_write(mov, aarch64_insn_gen_move_reg(AARCH64_INSN_REG_9, AARCH64_INSN_REG_LR,
							 AARCH64_INSN_VARIANT_64BIT));
}

/**
 * ftrace_make_call - let a site call a function
 * @rec: the site, which is a NOP
 * @addr: the function
 *
 * Context: ftrace_modify_all_code() calls it.
 * Return: 0; -EINVAL if the site is something else; or the error of the write.
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	return site_change(rec, 0, addr);
}

/**
 * ftrace_make_nop - let a site call nothing
 * @mod: ignored
 * @rec: the site
 * @addr: the function that it calls
 *
 * Context, return: as ftrace_make_call().
 */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	return site_change(rec, addr, 0);
}

/**
 * ftrace_modify_call - let a site call another function, or that with another word
 * @rec: the site
 * @old_addr: the function that it calls
 * @addr: the new one
 *
 * Context, return: as ftrace_make_call().
 */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	return site_change(rec, old_addr, addr);
}

/* ftrace_caller takes the function from the word, or calls that one always. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	return 0;
}

/**
 * arch_ftrace_update_code - write many sites
 * @command: for ftrace_modify_all_code()
 *
 * Context: ftrace_lock is held; sleeps.
 */
void arch_ftrace_update_code(int command)
{
	aarch64_insn_batch_begin(&site_batch);
	site_batch_open = true;
	ftrace_modify_all_code(command | FTRACE_MAY_SLEEP);
	site_batch_open = false;
	aarch64_insn_batch_end(&site_batch);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callset_kunit.c"
#endif
