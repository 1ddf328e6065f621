/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of s390 to linux/ftrace_arch.h. asm/ftrace.h includes it with
 * CONFIG_FTRACE_CALLSETS.
 */
#ifndef _ASM_S390_FTRACE_CALLSET_H
#define _ASM_S390_FTRACE_CALLSET_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/sizes.h>

#include <asm/ptrace.h>
#include <asm/sections.h>

/* A site is the first instruction of its function. */
#define FTRACE_MCOUNT_MAX_OFFSET	0

/* Goes back to the site, too. */
#define ftrace_stub_return	ftrace_stub_direct_tramp

/* At a site, no function has saved %r14 yet. */
static __always_inline unsigned long *arch_ftrace_return_slot(struct ftrace_regs *fregs)
{
	return &arch_ftrace_regs(fregs)->regs.gprs[14];
}

#define arch_ftrace_return_slot arch_ftrace_return_slot

/* Unwinders know a hooked call by the stack pointer of its caller. */
static __always_inline unsigned long *arch_ftrace_return_place(unsigned long *slot)
{
	return (unsigned long *)container_of(slot, struct pt_regs, gprs[14])->gprs[15];
}

#define arch_ftrace_return_place arch_ftrace_return_place

/* Modules are below the kernel, anywhere in 2 GiB. */
static __always_inline unsigned long arch_ftrace_text_middle(void)
{
	return (unsigned long)_text - SZ_1G;
}

#define arch_ftrace_text_middle arch_ftrace_text_middle

#endif /* _ASM_S390_FTRACE_CALLSET_H */
