/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of x86 to linux/ftrace_arch.h. asm/ftrace.h includes it with
 * CONFIG_FTRACE_CALLSETS.
 */
#ifndef _ASM_X86_FTRACE_CALLSET_H
#define _ASM_X86_FTRACE_CALLSET_H

#include <linux/compiler.h>

#include <asm/page_types.h>

struct orc_entry;

/* Some functions of the way out of suspend run on a stack that is not mapped. */
static __always_inline bool arch_ftrace_can_hook(const unsigned long *slot)
{
	return IS_ENABLED(CONFIG_X86_64) ? (long)slot < 0 : (unsigned long)slot >= PAGE_OFFSET;
}

#define arch_ftrace_can_hook arch_ftrace_can_hook

struct orc_entry *ftrace_tramp_orc(unsigned long ip);

#ifdef CONFIG_X86_64
/* A stub for each site of those that count calls. */
#define ARCH_FTRACE_STUB_SIZE	16

void times_return_to_handler(void);
#define times_return_to_handler times_return_to_handler
#else
/* The word below the stack at the return, where return_to_handler() has put its address. */
static __always_inline void arch_ftrace_return_known(struct ftrace_regs *fregs, unsigned long ret)
{
	WRITE_ONCE(((unsigned long *)ftrace_regs_get_stack_pointer(fregs))[-1], ret);
}

#define arch_ftrace_return_known arch_ftrace_return_known
#endif

#endif /* _ASM_X86_FTRACE_CALLSET_H */
