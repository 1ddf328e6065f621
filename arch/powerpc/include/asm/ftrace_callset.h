/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of PowerPC to linux/ftrace_arch.h. asm/ftrace.h includes it with
 * CONFIG_FTRACE_CALLSETS.
 */
#ifndef _ASM_POWERPC_FTRACE_CALLSET_H
#define _ASM_POWERPC_FTRACE_CALLSET_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

#include <asm/page.h>
#include <asm/pgtable.h>
#include <asm/ptrace.h>

/* At a site, no function has saved its link register yet. */
static __always_inline unsigned long *arch_ftrace_return_slot(struct ftrace_regs *fregs)
{
	return &arch_ftrace_regs(fregs)->regs.link;
}

#define arch_ftrace_return_slot arch_ftrace_return_slot

/* Unwinders know a hooked call by the frame of its caller. */
static __always_inline unsigned long *arch_ftrace_return_place(unsigned long *slot)
{
	return (unsigned long *)container_of(slot, struct pt_regs, link)->gpr[1];
}

#define arch_ftrace_return_place arch_ftrace_return_place

/*
 * The kernel is at the beginning of the linear mapping, and modules are at that of vmalloc(),
 * which is far away: 2 GiB of each. All text beyond that counts as one address, which is odd.
 */
static __always_inline u32 arch_ftrace_text_low(unsigned long addr)
{
	if (addr < VMALLOC_START)
		return addr;
	return min(addr - VMALLOC_START, (unsigned long)S32_MAX) | BIT(31);
}

static __always_inline unsigned long arch_ftrace_text_addr(u32 low)
{
	return low & BIT(31) ? VMALLOC_START + (low & ~BIT(31)) : PAGE_OFFSET + low;
}

#define arch_ftrace_text_addr arch_ftrace_text_addr

#endif /* _ASM_POWERPC_FTRACE_CALLSET_H */
