/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The live patcher: replaces many instructions of running kernel text.
 * See arch/x86/kernel/text-patch.c for the protocol.
 */
#ifndef _ASM_X86_TEXT_PATCH_H
#define _ASM_X86_TEXT_PATCH_H

#include <linux/build_bug.h>
#include <linux/types.h>

struct pt_regs;

#define TEXT_PATCH_LEN		5

/**
 * struct text_patch - one instruction to replace
 * @addr: low 32 bits of its address; text lies in the top 2 GiB
 * @len: its length and that of its replacement, 1 to TEXT_PATCH_LEN
 * @old: the bytes that stand there
 * @new: the bytes that shall stand there: one CALL rel32 or JMP rel32, or
 *	 any instruction of @len bytes that does nothing (a NOP)
 */
struct text_patch {
	s32	addr;
	u8	len;
	u8	old[TEXT_PATCH_LEN];
	u8	new[TEXT_PATCH_LEN];
};

static_assert(sizeof(struct text_patch) == 16);

/*
 * How many breakpoints may stand at a time. A batch costs three broadcasts
 * whatever its size, and for as long as a batch takes, other CPUs trap where
 * they meet one of its instructions.
 */
#define TEXT_PATCH_BATCH	32768

static __always_inline unsigned long text_patch_addr(const struct text_patch *patch)
{
	return (unsigned long)(long)patch->addr;
}

void text_patch_init(void);
bool text_patch_matches(const struct text_patch *patch);
void text_patch_apply(const struct text_patch *vec, unsigned int nr);
bool text_patch_int3(struct pt_regs *regs);

#endif /* _ASM_X86_TEXT_PATCH_H */
