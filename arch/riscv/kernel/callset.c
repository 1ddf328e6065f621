// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing on riscv with callsets: the room that the compiler leaves at a function,
 * and what is written there.
 *
 *		word
 *	func:	AUIPC	t0, upper part of the way to ftrace_caller
 *		NOP, or JALR t0, lower part(t0)		(the site)
 *
 * The compiler fills the room with NOPs. The AUIPC is written once, and so a site can call
 * nothing but ftrace_caller. That finds the callset by the word, a direct function, too.
 *
 * Invariants:
 *  1. A site holds the NOP or the JALR. One store replaces it while other CPUs execute it:
 *     no CPU is stopped. Once an update is over, all CPUs execute the new one.
 *  2. From before its site is first a JALR, a word names an ops. One that a CPU may read is
 *     not freed: a CPU that calls ftrace_caller finds the old word, or the new one.
 *
 * kernel/trace/callset/generic.c makes batches, and the entries are in mcount-dyn.S and
 * mcount.S.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>

#include <asm/barrier.h>
#include <asm/cacheflush.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

/**
 * struct site_room - the room at a function
 * @word: names the callset, or the ops
 * @auipc: the first instruction of the function
 * @site: the site
 */
struct site_room {
	const struct ftrace_ops	*word;
	u32			auipc;
	u32			site;
};

/* mcount-dyn.S finds the word so far before the address behind the site. */
static_assert(sizeof(struct site_room) == 16);

/* The compiler's NOPs fill four bytes so. */
#define SITE_NOPS	(IS_ENABLED(CONFIG_RISCV_ISA_C) ? 0x00010001 : RISCV_INSN_NOP4)

static __always_inline struct site_room *site_room(unsigned long ip)
{
	return (void *)ip - offsetof(struct site_room, site);
}

/* Finding sites */

/**
 * ftrace_call_adjust - find the site of a function
 * @addr: the room that the compiler left, as its table has it
 *
 * Context: any.
 * Return: the site; 0 if there cannot be one.
 */
unsigned long ftrace_call_adjust(unsigned long addr)
{
	if (!IS_ALIGNED(addr, sizeof(long))) {
		pr_warn_ratelimited("%pS cannot be traced: it is not aligned\n",
				    (void *)addr + offsetof(struct site_room, auipc));
		return 0;
	}
	return addr + offsetof(struct site_room, site);
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
	return (unsigned long)&site_room(fentry_ip)->auipc;
}

/* The instructions */

static __always_inline u32 site_auipc(unsigned long ip)
{
	u32 way = FTRACE_ADDR - (unsigned long)&site_room(ip)->auipc;

	return to_auipc_t0(way);
}

/* Whichever the target is, ftrace_caller goes on to it. */
static __always_inline u32 site_insn(unsigned long ip, unsigned long target)
{
	u32 way = FTRACE_ADDR - (unsigned long)&site_room(ip)->auipc;

	return target ? to_jalr_t0(way) : RISCV_INSN_NOP4;
}

/* In line: it is done for each site, and most functions that it could call are traced. */
static __always_inline bool site_read(unsigned long ip, u32 *auipc, u32 *insn)
{
	__get_kernel_nofault(auipc, &site_room(ip)->auipc, u32, failed);
	__get_kernel_nofault(insn, &site_room(ip)->site, u32, failed);
	return true;
failed:
	return false;
}

static __always_inline bool site_holds(unsigned long ip, unsigned long target)
{
	u32 auipc, insn;

	if (!site_read(ip, &auipc, &insn) || insn != site_insn(ip, target))
		return false;
	/* A debugger's breakpoint may be there, or that of a kprobe, which does as the AUIPC. */
	return auipc == site_auipc(ip) || riscv_insn_is_ebreak(auipc) ||
	       riscv_insn_is_c_ebreak(auipc);
}

enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target)
{
	return site_holds(ip, target) ? FTRACE_SITE_OK : FTRACE_SITE_ALTERED;
}

/* Writing; text_mutex is held */

static int site_prepare(unsigned long ip, const struct ftrace_ops *word)
{
	u32 insns[] = { site_auipc(ip), site_insn(ip, 0) }, auipc, insn;

	if (!site_read(ip, &auipc, &insn) || auipc != SITE_NOPS || insn != SITE_NOPS)
		return -EINVAL;
	return patch_insn_write(&site_room(ip)->word, &word, sizeof(word)) ?:
	       patch_insn_write(&site_room(ip)->auipc, insns, sizeof(insns));
}

static int site_change(unsigned long ip, const struct ftrace_ops *word, unsigned long from,
		       unsigned long to)
{
	u32 insn = site_insn(ip, to);
	int ret;

	if (!site_holds(ip, from))
		return -EINVAL;
	ret = patch_insn_write(&site_room(ip)->word, &word, sizeof(word));
	/* The word is all that two callsets differ in. */
	if (ret || !from == !to)
		return ret;
	return patch_insn_write(&site_room(ip)->site, &insn, sizeof(insn));
}

/* Since the last update of sites, and no other CPU was told. */
static bool site_prepared;

/**
 * ftrace_init_nop - prepare the room that the compiler left
 * @mod: ignored
 * @rec: the site
 *
 * Context: the text is not executed yet, or by no other CPU; sleeps.
 * Return: 0; -EINVAL if anything but NOPs is there; or the error of the write.
 */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	guard(mutex)(&text_mutex);
	site_prepared = true;
	return site_prepare(rec->ip, ftrace_find_unique_ops(rec));
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
	return site_change(rec->ip, ftrace_find_unique_ops(rec), 0, addr);
}

/**
 * ftrace_make_nop - let a site call nothing
 * @mod: ignored
 * @rec: the site
 * @addr: the function that it calls
 *
 * Context: as ftrace_make_call().
 * Return: as there.
 */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	return site_change(rec->ip, ftrace_find_unique_ops(rec), addr, 0);
}

/**
 * ftrace_modify_call - let a site call another function, or that with another word
 * @rec: the site
 * @old_addr: the function that it calls
 * @addr: the new one
 *
 * Context: as ftrace_make_call().
 * Return: as there.
 */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	return site_change(rec->ip, ftrace_find_unique_ops(rec), old_addr, addr);
}

/* ftrace_caller takes the function from the word. */
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
	guard(mutex)(&text_mutex);
	/* Pairs with the address dependency in ftrace_caller: an ops is seen before its word. */
	smp_wmb();
	/* A module's text may have been fetched before. No JALR is to come without its AUIPC. */
	if (site_prepared)
		flush_icache_all();
	site_prepared = false;
	ftrace_modify_all_code(command | FTRACE_MAY_SLEEP);
	flush_icache_all();
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callset_kunit.c"
#endif
