// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing on 64-bit PowerPC with callsets: the instruction at a site.
 *
 * With -mprofile-kernel a function begins so, at its local entry:
 *
 *	MFLR	r0
 *	NOP, or BL		(the site)
 *
 * The compiler leaves a BL to _mcount, by way of a stub where that is far away. A BL reaches
 * 32 MB, so text that is farther from an entry than that calls it by a stub, too: a module by
 * one of its two, the kernel by one that ftrace_entry.S has in its text, and another for the
 * init text.
 *
 * Invariants:
 *  1. A site holds the NOP or a BL. One store replaces it while other CPUs execute it: no CPU
 *     is stopped or interrupted, and each goes on with the old one for a while.
 *  2. Whichever entry is called, it looks the callset up by the site.
 *
 * kernel/trace/callset/generic.c makes batches, and the entries are in trace/ftrace_entry.S.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include <asm/ftrace.h>
#include <asm/inst.h>
#include <asm/ppc-opcode.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

/* Finding sites */

/**
 * ftrace_call_adjust - find the site of a function
 * @addr: the BL that the compiler left
 *
 * Context: any.
 * Return: the site; 0 for the kernel's exit text, which is never executed.
 */
unsigned long ftrace_call_adjust(unsigned long addr)
{
	bool exits = addr >= (unsigned long)__exittext_begin &&
		     addr < (unsigned long)__exittext_end;

	return exits ? 0 : addr;
}

/* The instruction at a site */

static __always_inline bool site_reaches(unsigned long ip, unsigned long to)
{
	return is_offset_in_branch_range((long)(to - ip));
}

/* The stub by which far-off text calls @target; or 0. */
static unsigned long site_stub(unsigned long ip, unsigned long target)
{
#ifdef CONFIG_MODULES
	struct module *mod;
#endif

	/* These two lead to ftrace_regs_caller, which does for either. */
	if (is_kernel_inittext(ip))
		return (unsigned long)ftrace_tramp_init;
	if (is_kernel_text(ip))
		return (unsigned long)ftrace_tramp_text;
#ifdef CONFIG_MODULES
	guard(rcu)();
	mod = __module_text_address(ip);
	if (mod && target == FTRACE_ADDR)
		return mod->arch.tramp;
	if (mod && target == FTRACE_REGS_ADDR)
		return mod->arch.tramp_regs;
#endif
	return 0;
}

/* The instruction by which a site calls @target; 0, which is no instruction, if it is too far. */
static __always_inline u32 site_insn(unsigned long ip, unsigned long target)
{
	if (!target)
		return PPC_RAW_NOP();
	if (unlikely(!site_reaches(ip, target))) {
		target = site_stub(ip, target);
		if (!target || !site_reaches(ip, target))
			return 0;
	}
	return PPC_RAW_BL(target - ip);
}

/* In line: it is done for each site, and most functions that it could call are traced. */
static __always_inline bool site_read(unsigned long ip, u32 *insn)
{
	__get_kernel_nofault(insn, (u32 *)ip, u32, failed);
	return true;
failed:
	return false;
}

static __always_inline bool site_holds(unsigned long ip, u32 insn)
{
	u32 found;

	return site_read(ip, &found) && found == insn;
}

/* Whether the compiler's instructions are there. */
static bool site_is_new(unsigned long ip)
{
	u32 insn;

	if (!site_holds(ip - MCOUNT_INSN_SIZE, PPC_RAW_MFLR(_R0)) || !site_read(ip, &insn))
		return false;
	if (site_reaches(ip, MCOUNT_ADDR))
		return insn == PPC_RAW_BL(MCOUNT_ADDR - ip);
	return (insn & ~PPC_LI_MASK) == PPC_RAW_BL(0);
}

enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target)
{
	u32 insn = site_insn(ip, target);

	return insn && site_holds(ip, insn) ? FTRACE_SITE_OK : FTRACE_SITE_ALTERED;
}

/* Writing */

static int site_change(unsigned long ip, unsigned long from, unsigned long to)
{
	u32 old = site_insn(ip, from), new = site_insn(ip, to);

	if (!old || !new || !site_holds(ip, old))
		return -EINVAL;
	/* The kernel's stubs lead to either entry. */
	if (old == new)
		return 0;
	return patch_instruction((u32 *)ip, ppc_inst(new));
}

/**
 * ftrace_init_nop - make the BL that the compiler left a NOP
 * @mod: ignored
 * @rec: the site
 *
 * Context: the text is not executed yet, or by no other CPU.
 * Return: 0; -EINVAL if anything else is there, or if no entry is in reach; or the error of
 * the write.
 */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	if (!site_is_new(rec->ip))
		return -EINVAL;
	/* A module's stubs are not known yet. */
	if (core_kernel_text(rec->ip) && !site_insn(rec->ip, FTRACE_REGS_ADDR))
		return -EINVAL;
	return patch_instruction((u32 *)rec->ip, ppc_inst(PPC_RAW_NOP()));
}

/**
 * ftrace_make_call - let a site call an entry
 * @rec: the site, which is a NOP
 * @addr: the entry
 *
 * Context: ftrace_modify_all_code() calls it.
 * Return: 0; -EINVAL if the site is something else, or the entry out of reach; or the error
 * of the write.
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	return site_change(rec->ip, 0, addr);
}

/**
 * ftrace_make_nop - let a site call nothing
 * @mod: ignored
 * @rec: the site
 * @addr: the entry that it calls
 *
 * Context, return: as ftrace_make_call().
 */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	return site_change(rec->ip, addr, 0);
}

/**
 * ftrace_modify_call - let a site call another entry
 * @rec: the site
 * @old_addr: the entry that it calls
 * @addr: the new one
 *
 * Context, return: as ftrace_make_call().
 */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	return site_change(rec->ip, old_addr, addr);
}

/* The entries call that function always. */
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
	ftrace_modify_all_code(command | FTRACE_MAY_SLEEP);
}

/* The stub of the init text goes with the sites that may use it. */
void ftrace_free_init_tramp(void)
{
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callset_kunit.c"
#endif
