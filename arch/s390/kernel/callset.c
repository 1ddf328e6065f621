// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing on s390 with callsets: the instruction at a site.
 *
 * A site is the first instruction of its function, and has six bytes. With the
 * sequential-instruction-fetching facility it is
 *
 *	BRCL	0,0			which is a NOP, or
 *	BRASL	%r0,target
 *
 * On older machines only the mask of an instruction may change while other CPUs execute
 * it. So a site has a trampoline of its own, where the target is a variable:
 *
 *	BRCL	0,trampoline		which is a NOP, or
 *	BRCL	15,trampoline
 *
 *	trampoline:
 *	BRASL	%r1,shared		(loads %r0 and %r1 from the next words, and goes to %r1)
 *	the address after the site
 *	the target
 *
 * Either way the target is called with the address after the site in %r0, and with that
 * of the function's caller in %r14; %r1 is free.
 *
 * Invariants:
 *  1. Sites of one system are all of the same form.
 *  2. A site that branches to its trampoline finds a target there that was a target of
 *     the site: it is written before the mask, and stays when the mask is cleared.
 *
 * kernel/trace/callset/generic.c makes batches, and the entries are in mcount.S.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/cpufeature.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <asm/ftrace.lds.h>
#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#include "ftrace.h"

/* ftrace_caller calls the function that it finds here. */
void *ftrace_func __ro_after_init = arch_ftrace_ops_list_func;

/* The instruction at a site: an opcode with a mask or a register, and a distance in halfwords. */

#define INSN_NOP	0xc004
#define INSN_BRANCH	0xc0f4
#define INSN_BRASL_R0	0xc005
#define INSN_BRASL_R1	0xc015

/* An instruction is the upper bytes of a doubleword, and this is what follows it. */
#define INSN_BEHIND	GENMASK_ULL(15, 0)

static __always_inline u64 insn_make(u16 opcode, unsigned long ip, unsigned long to)
{
	return (u64)opcode << 48 | (u64)(u32)((long)(to - ip) / 2) << 16;
}

static __always_inline bool insn_reaches(unsigned long ip, unsigned long to)
{
	return to - ip + SZ_4G < 2 * SZ_4G;
}

/* In line: it is done for each site, and most functions that it could call are traced. */
static __always_inline bool text_read(const void *addr, u64 *word)
{
	__get_kernel_nofault(word, addr, u64, failed);
	return true;
failed:
	return false;
}

static __always_inline bool insn_is(unsigned long ip, u64 insn)
{
	u64 found;

	return text_read((void *)ip, &found) && (found & ~INSN_BEHIND) == insn;
}

/* Sites that branch to the target */

/* A direct function that is too far away is called by way of ftrace_caller. */
static u64 branch_insn(unsigned long ip, unsigned long target)
{
	if (!target)
		return insn_make(INSN_NOP, ip, ip);
	return insn_make(INSN_BRASL_R0, ip, insn_reaches(ip, target) ? target : FTRACE_ADDR);
}

static bool branch_holds(unsigned long ip, unsigned long target)
{
	/* The instruction is replaced by one store. */
	return IS_ALIGNED(ip, sizeof(u64)) && insn_is(ip, branch_insn(ip, target));
}

static int branch_change(unsigned long ip, unsigned long from, unsigned long to)
{
	u64 insn = branch_insn(ip, to);

	if (!branch_holds(ip, from))
		return -EINVAL;
	s390_kernel_write((void *)ip, &insn, MCOUNT_INSN_SIZE);
	return 0;
}

/* Sites with a trampoline */

static_assert(sizeof(struct ftrace_hotpatch_trampoline) == SIZEOF_FTRACE_HOTPATCH_TRAMPOLINE);

/* The instructions that all trampolines go on at. */
static const char *hotpatch_shared(void)
{
	return nospec_uses_trampoline() ? ftrace_shared_hotpatch_trampoline_exrl :
	       ftrace_shared_hotpatch_trampoline_br;
}

/* The link step leaves room for as many trampolines as there are sites, and so do modules. */
static struct ftrace_hotpatch_trampoline *hotpatch_alloc(struct module *mod)
{
	static struct ftrace_hotpatch_trampoline *next = __ftrace_hotpatch_trampolines_start;

#ifdef CONFIG_MODULES
	if (mod) {
		if (mod->arch.next_trampoline >= mod->arch.trampolines_end)
			return NULL;
		return mod->arch.next_trampoline++;
	}
#endif
	return next < __ftrace_hotpatch_trampolines_end ? next++ : NULL;
}

/* Makes a NOP without a trampoline one that has @tramp. */
static void hotpatch_init(struct ftrace_hotpatch_trampoline *tramp, unsigned long ip)
{
	u64 insn = insn_make(INSN_NOP, ip, (unsigned long)tramp);
	struct ftrace_hotpatch_trampoline code = {
		.brasl_opc	= INSN_BRASL_R1,
		.brasl_disp	= (hotpatch_shared() - (const char *)tramp) / 2,
		.rest_of_intercepted_function = ip + MCOUNT_INSN_SIZE,
		.interceptor	= FTRACE_ADDR,
	};

	s390_kernel_write(tramp, &code, sizeof(code));
	s390_kernel_write((void *)ip, &insn, MCOUNT_INSN_SIZE);
}

/* The trampoline of a site with @opcode; NULL if it has another, or leads to another site's. */
static struct ftrace_hotpatch_trampoline *hotpatch_find(unsigned long ip, u16 opcode)
{
	struct ftrace_hotpatch_trampoline *tramp;
	u64 insn, rest;

	if (!text_read((void *)ip, &insn) || insn >> 48 != opcode)
		return NULL;
	tramp = (void *)ip + 2L * (s32)(insn >> 16);
	if (!text_read(&tramp->rest_of_intercepted_function, &rest) ||
	    rest != ip + MCOUNT_INSN_SIZE)
		return NULL;
	return tramp;
}

/* The trampoline of a site that calls @target, or is a NOP if that is 0; NULL if it is not so. */
static struct ftrace_hotpatch_trampoline *hotpatch_with(unsigned long ip, unsigned long target)
{
	struct ftrace_hotpatch_trampoline *tramp;
	u64 found;

	if (!target)
		return hotpatch_find(ip, INSN_NOP);
	tramp = hotpatch_find(ip, INSN_BRANCH);
	if (!tramp || !text_read(&tramp->interceptor, &found) || found != target)
		return NULL;
	return tramp;
}

static int hotpatch_change(unsigned long ip, unsigned long from, unsigned long to)
{
	struct ftrace_hotpatch_trampoline *tramp = hotpatch_with(ip, from);
	u8 byte = (to ? INSN_BRANCH : INSN_NOP) & 0xff;

	if (!tramp)
		return -EINVAL;
	if (to)
		s390_kernel_write(&tramp->interceptor, &to, sizeof(to));
	if (!from == !to)
		return 0;
	/* The mask is in the second byte, with the rest of the opcode. */
	s390_kernel_write((void *)ip + 1, &byte, sizeof(byte));
	return 0;
}

/* Either form */

enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target)
{
	bool ok = cpu_has_seq_insn() ? branch_holds(ip, target) : !!hotpatch_with(ip, target);

	return ok ? FTRACE_SITE_OK : FTRACE_SITE_ALTERED;
}

static int site_change(unsigned long ip, unsigned long from, unsigned long to)
{
	return cpu_has_seq_insn() ? branch_change(ip, from, to) : hotpatch_change(ip, from, to);
}

/**
 * ftrace_need_init_nop - whether sites of new text are to be prepared
 *
 * Context: any.
 * Return: true: a site that cannot be used is found in time.
 */
bool ftrace_need_init_nop(void)
{
	return true;
}

/**
 * ftrace_init_nop - prepare the NOP that the compiler left
 * @mod: the module that the text is of, or NULL
 * @rec: the site
 *
 * Context: the text is not executed yet.
 * Return: 0; -EINVAL if anything but the NOP is there, or that cannot be replaced at once;
 * -ENOMEM if the trampolines are used up.
 */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	struct ftrace_hotpatch_trampoline *tramp;

	if (cpu_has_seq_insn())
		return branch_holds(rec->ip, 0) ? 0 : -EINVAL;
	if (!insn_is(rec->ip, insn_make(INSN_NOP, 0, 0)))
		return -EINVAL;
	tramp = hotpatch_alloc(mod);
	if (WARN_ON_ONCE(!tramp))
		return -ENOMEM;
	hotpatch_init(tramp, rec->ip);
	return 0;
}

/**
 * ftrace_make_call - let a site call a function
 * @rec: the site, which is a NOP
 * @addr: the function
 *
 * Context: ftrace_modify_all_code() calls it.
 * Return: 0; -EINVAL if the site is something else.
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	return site_change(rec->ip, 0, addr);
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
	return site_change(rec->ip, addr, 0);
}

/**
 * ftrace_modify_call - let a site call another function
 * @rec: the site
 * @old_addr: the function that it calls
 * @addr: the new one
 *
 * Context, return: as ftrace_make_call().
 */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	return site_change(rec->ip, old_addr, addr);
}

/* ftrace_func is never another one. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	return 0;
}

/**
 * arch_ftrace_update_code - write many sites
 * @command: for ftrace_modify_all_code()
 *
 * All CPUs execute the new instructions on return.
 *
 * Context: ftrace_lock is held; sleeps.
 */
void arch_ftrace_update_code(int command)
{
	ftrace_modify_all_code(command | FTRACE_MAY_SLEEP);
	if (command & FTRACE_UPDATE_CALLS)
		text_poke_sync_lock();
}

/* Kprobes at sites */

#ifdef CONFIG_KPROBES_ON_FTRACE
static void site_hit_kprobe(struct kprobe *p, unsigned long ip, struct pt_regs *regs)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	unsigned long next = instruction_pointer(regs);

	__this_cpu_write(current_kprobe, p);
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;
	instruction_pointer_set(regs, ip);

	/* A handler that says so has decided where to go on. */
	if (!p->pre_handler || !p->pre_handler(p, regs)) {
		/* Behind the site, or where an ops before this one has sent the call. */
		instruction_pointer_set(regs, next);
		if (unlikely(p->post_handler)) {
			kcb->kprobe_status = KPROBE_HIT_SSDONE;
			p->post_handler(p, regs, 0);
		}
	}
	__this_cpu_write(current_kprobe, NULL);
}

NOKPROBE_SYMBOL(site_hit_kprobe);

/**
 * kprobe_ftrace_handler - call the handlers of a kprobe at a site
 * @ip: the site
 * @parent_ip: where its function returns to
 * @ops: ignored
 * @fregs: the registers at the site
 *
 * Context: any that can be traced, NMI included.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	struct kprobe *p;
	int bit;

	/* A call that was on its way when the ops was attached brings no more than arguments. */
	if (unlikely(!regs || kprobe_ftrace_disabled))
		return;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	p = get_kprobe((kprobe_opcode_t *)ip);
	if (likely(p) && !kprobe_disabled(p)) {
		if (kprobe_running())
			kprobes_inc_nmissed_count(p);
		else
			site_hit_kprobe(p, ip, regs);
	}
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(kprobe_ftrace_handler);

/**
 * arch_prepare_kprobe_ftrace - prepare a kprobe at a site
 * @p: the kprobe
 *
 * Context: process context.
 * Return: 0.
 */
int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	/* It has no copy of an instruction to step over. */
	p->ainsn.insn = NULL;
	return 0;
}
#endif

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callset_kunit.c"
#endif
