/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The live patcher: replaces many instructions of running kernel text.
 *
 * text-window.c	text shown at another address, where it can be written
 * text-patch.c		batches of instructions, and the breakpoint handler
 * text-poke.c		the entry points of asm/text-patching.h on top of both
 */
#ifndef _ASM_X86_TEXT_PATCH_H
#define _ASM_X86_TEXT_PATCH_H

#include <linux/build_bug.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

struct mm_struct;
struct pt_regs;

/* The longest instruction that is replaced: Jcc rel32. */
#define TEXT_PATCH_LEN		6

/*
 * How a CPU goes on that meets the breakpoint of a patch:
 *
 * JUMP		goes on at the destination (JMP, and NOP with the next instruction)
 * CALL		calls the destination, which returns to the next instruction
 * RET		returns
 * PASS		nothing here: the breakpoint is not the patcher's (INT3)
 * JCC		jumps to the destination if a condition holds; 16 of them, in the
 *		order of their encodings
 */
enum text_patch_act {
	TEXT_PATCH_ACT_JUMP,
	TEXT_PATCH_ACT_CALL,
	TEXT_PATCH_ACT_RET,
	TEXT_PATCH_ACT_PASS,
	TEXT_PATCH_ACT_JCC,
	TEXT_PATCH_ACT_END = TEXT_PATCH_ACT_JCC + 16,
};

/**
 * struct text_patch - one instruction to replace
 * @addr: low 32 bits of its address; text lies in the top 2 GiB
 * @dest: low 32 bits of where @act goes
 * @len: its length and that of its replacement, 1 to TEXT_PATCH_LEN
 * @act: enum text_patch_act
 * @head: for the patcher: the byte that the breakpoint took the place of
 * @new: the bytes that are to stand there. A JMP, RET or INT3 may be shorter
 *	 than @len.
 */
struct text_patch {
	s32	addr;
	s32	dest;
	u8	len:3;
	u8	act:5;
	u8	head;
	u8	new[TEXT_PATCH_LEN];
};

static_assert(sizeof(struct text_patch) == 16);
static_assert(TEXT_PATCH_LEN < 1 << 3 && TEXT_PATCH_ACT_END <= 1 << 5);

static __always_inline unsigned long text_patch_addr(const struct text_patch *patch)
{
	return (unsigned long)(long)patch->addr;
}

static __always_inline unsigned long text_patch_dest(const struct text_patch *patch)
{
	return (unsigned long)(long)patch->dest;
}

/* Where the next instruction is. */
static __always_inline unsigned long text_patch_next(const struct text_patch *patch)
{
	return text_patch_addr(patch) + patch->len;
}

static __always_inline void __text_patch_set_rel32(struct text_patch *patch, unsigned long addr,
						   u8 opcode, unsigned long dest,
						   enum text_patch_act act)
{
	s32 rel = dest - (addr + CALL_INSN_SIZE);

	patch->addr = addr;
	patch->dest = dest;
	patch->len = CALL_INSN_SIZE;
	patch->act = act;
	patch->new[0] = opcode;
	memcpy(patch->new + 1, &rel, sizeof(rel));
}

/**
 * text_patch_set_call - let five bytes become a CALL
 * @patch: is filled
 * @addr: where
 * @dest: the function to call, within reach
 */
static __always_inline void text_patch_set_call(struct text_patch *patch, unsigned long addr,
						unsigned long dest)
{
	__text_patch_set_rel32(patch, addr, CALL_INSN_OPCODE, dest, TEXT_PATCH_ACT_CALL);
}

/**
 * text_patch_set_jump - let five bytes become a JMP
 * @patch: is filled
 * @addr: where
 * @dest: where it is to go, within reach
 */
static __always_inline void text_patch_set_jump(struct text_patch *patch, unsigned long addr,
						unsigned long dest)
{
	__text_patch_set_rel32(patch, addr, JMP32_INSN_OPCODE, dest, TEXT_PATCH_ACT_JUMP);
}

/**
 * text_patch_set_nop - let five bytes become a NOP
 * @patch: is filled
 * @addr: where
 */
static __always_inline void text_patch_set_nop(struct text_patch *patch, unsigned long addr)
{
	patch->addr = addr;
	patch->dest = addr + CALL_INSN_SIZE;
	patch->len = CALL_INSN_SIZE;
	patch->act = TEXT_PATCH_ACT_JUMP;
	memcpy(patch->new, x86_nops[CALL_INSN_SIZE], CALL_INSN_SIZE);
}

/* The highest value of the parameter text_patch.batch. */
#define TEXT_PATCH_BATCH_MAX	32768

bool text_patch_set(struct text_patch *patch, unsigned long addr, const u8 *insn, size_t len,
		    const u8 *emulate);
void text_patch_apply(struct text_patch *vec, unsigned int nr);
bool text_patch_int3(struct pt_regs *regs);

/**
 * struct text_window - pages of text, shown at another address
 * @base: the first of them
 * @mapped: text that ends at or below this is shown, or was passed over
 * @alias: where @base is shown
 * @pages: how many entries of the page table may be in use
 * @ptep: the first of these
 * @first: what it is to be, if the text is the kernel image's, whose pages follow each
 *	   other in memory
 * @image: it is
 * @prev: the mm that was loaded before
 * @flags: whether interrupts were on
 * @locked: whether init_mm's mmap_lock is held
 */
struct text_window {
	unsigned long		base;
	unsigned long		mapped;
	unsigned long		alias;
	unsigned int		pages;
	pte_t			*ptep;
	pte_t			first;
	struct mm_struct	*prev;
	unsigned long		flags;
	bool			image;
	bool			locked;
};

void text_window_begin(struct text_window *window, unsigned long addr);
bool __text_window_show(struct text_window *window, unsigned long addr, size_t len);
void text_window_enter(struct text_window *window);
void text_window_end(struct text_window *window);

/**
 * text_window_show - add text to a window
 * @window: from text_window_begin(), not entered yet
 * @addr: the text; not below that of the call before
 * @len: its length in bytes
 *
 * Return: false if it does not fit. The TEXT_WINDOW_PAGES pages from that of
 * text_window_begin() on do.
 */
static __always_inline bool text_window_show(struct text_window *window, unsigned long addr,
					     size_t len)
{
	return likely(addr + len <= window->mapped) || __text_window_show(window, addr, len);
}

/*
 * Where the text at @addr can be written; the window is entered.
 *
 * This is an address of user space's half. LASS keeps the kernel away from that, so
 * each access stands between lass_stac() and lass_clac(), where objtool allows no
 * call. Nor have sanitizers shadow memory for it: their checks, where they are compiled in,
 * would fault. So code that reads or writes there is not instrumented: it is
 * __no_sanitize_or_inline with what that inlines, or __inline_memcpy() and its like.
 */
static __always_inline u8 *text_window_at(const struct text_window *window, unsigned long addr)
{
	return (u8 *)(addr - window->base + window->alias);
}

#endif /* _ASM_X86_TEXT_PATCH_H */
