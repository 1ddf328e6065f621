/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of callset.c that callset_tramp.c uses.
 */
#ifndef _ARCH_X86_KERNEL_CALLSET_PATCH_H
#define _ARCH_X86_KERNEL_CALLSET_PATCH_H

struct ftrace_patch;
struct text_patch;

struct text_patch *ftrace_patch_insn(struct ftrace_patch *patch, unsigned long ip);

#endif /* _ARCH_X86_KERNEL_CALLSET_PATCH_H */
