/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that is made at run time. See ftrace_code.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_CODE_H
#define _KERNEL_TRACE_FTRACE_CODE_H

#include <linux/ftrace_arch.h>

/* The names in /proc/kallsyms and perf of a trampoline, of stubs, and of their module. */
#define FTRACE_TRAMPOLINE_SYM	"ftrace_trampoline"
#define FTRACE_STUB_SYM		"ftrace_counting_stubs"
#define FTRACE_TRAMPOLINE_MOD	"__builtin__ftrace"

void ftrace_code_add(struct ftrace_code *code);
void ftrace_code_remove(struct ftrace_code *code);
struct ftrace_code *ftrace_code_find(unsigned long addr);

#endif /* _KERNEL_TRACE_FTRACE_CODE_H */
