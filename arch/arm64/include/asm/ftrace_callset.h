/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of arm64 to linux/ftrace_arch.h. asm/ftrace.h includes it with
 * CONFIG_FTRACE_CALLSETS.
 */
#ifndef _ASM_ARM64_FTRACE_CALLSET_H
#define _ASM_ARM64_FTRACE_CALLSET_H

#include <linux/compiler.h>
#include <linux/container_of.h>

#include <asm/insn.h>

/* A BTI and the MOV of the link register may come before a site. */
#define FTRACE_MCOUNT_MAX_OFFSET	(2 * AARCH64_INSN_SIZE)

/* Goes back to the site, too. */
#define ftrace_stub_return	ftrace_stub_direct_tramp

/* At a site, no function has saved its link register yet. */
static __always_inline unsigned long *arch_ftrace_return_slot(struct ftrace_regs *fregs)
{
	return &arch_ftrace_regs(fregs)->lr;
}

#define arch_ftrace_return_slot arch_ftrace_return_slot

/* Unwinders know a hooked call by the frame of its caller. */
static __always_inline unsigned long *arch_ftrace_return_place(unsigned long *slot)
{
	return (unsigned long *)container_of(slot, struct __arch_ftrace_regs, lr)->fp;
}

#define arch_ftrace_return_place arch_ftrace_return_place

/* The record of return_to_handler, above the registers: the caller's frame, and the address. */
static __always_inline void arch_ftrace_return_known(struct ftrace_regs *fregs, unsigned long ret)
{
	unsigned long *record = (unsigned long *)(arch_ftrace_regs(fregs) + 1);

	WRITE_ONCE(record[1], ret);
}

#define arch_ftrace_return_known arch_ftrace_return_known

#endif /* _ASM_ARM64_FTRACE_CALLSET_H */
