/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of riscv to linux/ftrace_arch.h. asm/ftrace.h includes it with
 * CONFIG_FTRACE_CALLSETS.
 */
#ifndef _ASM_RISCV_FTRACE_CALLSET_H
#define _ASM_RISCV_FTRACE_CALLSET_H

#include <linux/compiler.h>
#include <linux/container_of.h>

/* The AUIPC that begins a function comes before its site. */
#define FTRACE_MCOUNT_MAX_OFFSET	MCOUNT_AUIPC_SIZE

/* Goes back to the site, too. */
#define ftrace_stub_return	ftrace_stub_direct_tramp

/* At a site, no function has saved ra yet. */
static __always_inline unsigned long *arch_ftrace_return_slot(struct ftrace_regs *fregs)
{
	return &arch_ftrace_regs(fregs)->ra;
}

#define arch_ftrace_return_slot arch_ftrace_return_slot

/* Unwinders find it where the function will have saved it: at the top of its frame. */
static __always_inline unsigned long *arch_ftrace_return_place(unsigned long *slot)
{
	return (unsigned long *)container_of(slot, struct __arch_ftrace_regs, ra)->sp - 1;
}

#define arch_ftrace_return_place arch_ftrace_return_place

/* In the frame record below the stack at the return, which has return_to_handler. */
static __always_inline void arch_ftrace_return_known(struct ftrace_regs *fregs, unsigned long ret)
{
	WRITE_ONCE(((unsigned long *)ftrace_regs_get_stack_pointer(fregs))[-1], ret);
}

#define arch_ftrace_return_known arch_ftrace_return_known

#endif /* _ASM_RISCV_FTRACE_CALLSET_H */
