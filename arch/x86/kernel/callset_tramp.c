// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines of function tracing on x86: their code, how it is written, and
 * where their memory comes from.
 *
 * Invariants:
 *  1. A trampoline calls the ops of its callset and no others, and is never
 *     written again except to silence an ops that is going away (CALL to NOP, or
 *     JMP to a JMP that returns for a direct one) or to follow a change of its
 *     function (CALL to CALL, or JMP to JMP), all through the live patcher.
 *  2. Trampolines are reached by direct calls, and from the breakpoint
 *     handler's IRET, neither of which IBT checks: they need no ENDBR and,
 *     having none, are no target for an indirect call.
 *  3. The stack pointer moves only where emit_sp() notes it, so that the ORC
 *     unwinder knows the frame at every instruction.
 *
 * A trampoline for callbacks that take struct ftrace_regs with arguments:
 *
 *	sub	$FRAME, %rsp
 *	mov	%rdi, RDI(%rsp)		and RSI, RDX, RCX, R8, R9, RBP
 *	mov	FRAME(%rsp), %rdi	return address into the function
 *	mov	%rdi, RIP(%rsp)
 *	lea	FRAME+8(%rsp), %rcx	the function's stack pointer
 *	mov	%rcx, RSP(%rsp)
 *	movq	$0, CS(%rsp)		no full pt_regs
 *   for each ops, after the first with RIP(%rsp) loaded again:
 *	lea	-5(%rdi), %rdi		ip, the site
 *	mov	FRAME+8(%rsp), %rsi	parent_ip, see below
 *	mov	$ops, %rdx
 *	mov	%rsp, %rcx		fregs
 *	incl	%gs:entered		if the ops has a gate (ftrace_gate.c)
 *	call	callback
 *	incl	%gs:left		in the same cases
 *   then:
 *	mov	RDI(%rsp), %rdi		and RSI, RDX, RCX, R8, R9
 *	add	$FRAME, %rsp
 *	ret
 *
 * RAX, R10 and R11 hold nothing that a C function expects at its entry (-pg
 * switches off the interprocedural register allocation that could change
 * that). A callset with FTRACE_OPS_FL_SAVE_REGS saves and restores all
 * registers and the flags, one with FTRACE_OPS_FL_IPMODIFY returns to where
 * the regs say:
 *
 *	lea	-24(%rsp), %rsp		SP, SS and the word for parent_ip
 *	pushfq				lands in EFLAGS
 *	sub	$EFLAGS, %rsp
 *	... as above with all registers, CS and SS ...
 *	mov	RIP(%rsp), %rax
 *	mov	%rax, FRAME(%rsp)
 *	... restore ...
 *	add	$EFLAGS, %rsp
 *	popfq
 *	lea	24(%rsp), %rsp
 *	ret
 *
 * Where an ops that is not the last may replace the address that the function returns
 * to, parent_ip is kept after the first load, in a word of the frame, from where it
 * is loaded for the other ones.
 *
 * Where the callset has graph users, ftrace_graph_func() is called after the
 * callbacks, with the site, the place of the return address and the callset. A
 * user that is the only one may have its own function instead. All gates of the
 * users are around the call.
 * Where it has a direct ops, a JMP to that ops' function stands in place of the
 * last RET.
 *
 * Between the pt_regs and the return address stand two frame records, of the parent and
 * of the function, with CONFIG_FRAME_POINTER, and the word for parent_ip.
 */
#include <linux/bitmap.h>
#include <linux/cleanup.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/wordpart.h>

#include <asm/ftrace.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/text-patch.h>
#include <asm/text-patching.h>

#include "callset_patch.h"

/* Registers by their number in instruction encodings. */
enum emit_reg {
	RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15,
};

#define REG_OFFSET(reg)	((int)offsetof(struct pt_regs, reg))

/* Where each register lives in a pt_regs. */
static const u8 emit_slot[] = {
	[RAX] = REG_OFFSET(ax),		[RCX] = REG_OFFSET(cx),
	[RDX] = REG_OFFSET(dx),		[RBX] = REG_OFFSET(bx),
	[RSP] = REG_OFFSET(sp),		[RBP] = REG_OFFSET(bp),
	[RSI] = REG_OFFSET(si),		[RDI] = REG_OFFSET(di),
	[R8]  = REG_OFFSET(r8),		[R9]  = REG_OFFSET(r9),
	[R10] = REG_OFFSET(r10),	[R11] = REG_OFFSET(r11),
	[R12] = REG_OFFSET(r12),	[R13] = REG_OFFSET(r13),
	[R14] = REG_OFFSET(r14),	[R15] = REG_OFFSET(r15),
};

static const u8 emit_arg_regs[] = { RDI, RSI, RDX, RCX, R8, R9 };
static const u8 emit_other_regs[] = { RAX, RBX, R10, R11, R12, R13, R14, R15 };

/* Two frame records of two words each, and the word for parent_ip. */
#define EMIT_FRAME_OTHER	((IS_ENABLED(CONFIG_FRAME_POINTER) ? 4 * 8 : 0) + 8)
#define EMIT_FRAME		((int)sizeof(struct pt_regs) + EMIT_FRAME_OTHER)
#define EMIT_FRAME_PARENT	(EMIT_FRAME - 8)

/* Longest code of a prologue and an epilogue together, of one call, and of a gate. */
#define EMIT_MAX_FIXED		768
#define EMIT_MAX_CALL		64
#define EMIT_MAX_GATE		32

/* The most bytes that x86_call_depth_emit_accounting() writes. */
#define EMIT_MAX_ACCOUNTING	32

#define EMIT_MAX_ORC		8

/**
 * struct ftrace_tramp - the architecture's side of a trampoline
 * @text: the code
 * @nr_orc: number of @orc
 * @orc: unwind data; each holds from its offset on
 * @jmp: where the JMP to the direct function is, if there is one
 * @counted: which function of the callset the stubs count for; -1 without stubs
 * @ask: where it is asked whether to count
 * @asks: it is
 * @call: where the CALL of each function of the callset is, and the function that it
 *	  calls; NULL once it is silenced
 */
struct ftrace_tramp {
	u8		*text;
	unsigned int	nr_orc;
	struct {
		unsigned int		offset;
		struct orc_entry	entry;
	} orc[EMIT_MAX_ORC];
	unsigned int	jmp;
	int		counted;
	unsigned int	ask;
	bool		asks;
	struct {
		unsigned int		offset;
		ftrace_func_t		func;
	} call[];
};

/**
 * struct emit - an emitter's state
 * @tramp: the trampoline that is being made
 * @buf: where the code is written
 * @p: where the next byte goes
 * @end: the first byte after the buffer
 * @full: something did not fit
 * @depth: bytes that the stack pointer has moved down
 */
struct emit {
	struct ftrace_tramp	*tramp;
	u8			*buf;
	u8			*p;
	u8			*end;
	bool			full;
	int			depth;
};

static bool emit_fits(struct emit *e, size_t len)
{
	if (len > e->end - e->p)
		e->full = true;
	return !e->full;
}

static void emit_bytes(struct emit *e, const void *bytes, size_t len)
{
	if (!emit_fits(e, len))
		return;
	memcpy(e->p, bytes, len);
	e->p += len;
}

#define EMIT(e, ...)							\
	do {								\
		const u8 __code[] = { __VA_ARGS__ };			\
									\
		emit_bytes(e, __code, sizeof(__code));			\
	} while (0)

static void emit_32(struct emit *e, s32 value)
{
	emit_bytes(e, &value, sizeof(value));
}

static void emit_64(struct emit *e, u64 value)
{
	emit_bytes(e, &value, sizeof(value));
}

/* The address at which the next byte will run. */
static u8 *emit_ip(struct emit *e)
{
	return e->tramp->text + (e->p - e->buf);
}

static void emit_note_sp(struct emit *e)
{
	struct ftrace_tramp *tramp = e->tramp;
	unsigned int i = tramp->nr_orc;

	if (WARN_ON_ONCE(i == EMIT_MAX_ORC))
		return;
	tramp->orc[i].offset = e->p - e->buf;
	tramp->orc[i].entry = (struct orc_entry) {
		.sp_reg		= ORC_REG_SP,
		.sp_offset	= e->depth + 8,
		.bp_reg		= ORC_REG_UNDEFINED,
		.type		= ORC_TYPE_CALL,
	};
	tramp->nr_orc++;
}

/* op disp32(%rsp) with a register: MOV store, MOV load, LEA */
static void emit_rsp(struct emit *e, u8 op, enum emit_reg reg, s32 disp)
{
	u8 rex = 0x48 | (reg >= R8 ? 0x04 : 0);

	EMIT(e, rex, op, 0x84 | ((reg & 7) << 3), 0x24);
	emit_32(e, disp);
}

#define emit_store(e, reg, disp)	emit_rsp(e, 0x89, reg, disp)
#define emit_load(e, reg, disp)		emit_rsp(e, 0x8b, reg, disp)
#define emit_lea(e, reg, disp)		emit_rsp(e, 0x8d, reg, disp)

/* movq $imm32, disp32(%rsp) */
static void emit_store_imm(struct emit *e, s32 imm, s32 disp)
{
	EMIT(e, 0x48, 0xc7, 0x84, 0x24);
	emit_32(e, disp);
	emit_32(e, imm);
}

/* Moves the stack pointer by @bytes; with @flags they must survive. */
static void emit_move_sp(struct emit *e, int bytes, bool flags)
{
	if (flags) {
		emit_lea(e, RSP, bytes);
	} else {
		EMIT(e, 0x48, 0x81, 0xc4);		/* add $imm32, %rsp */
		emit_32(e, bytes);
	}
	e->depth -= bytes;
	emit_note_sp(e);
}

/* PUSHF or POPF, which moves the stack down or up by @bytes. */
static void emit_flags(struct emit *e, u8 op, int bytes)
{
	EMIT(e, op);
	e->depth += bytes;
	emit_note_sp(e);
}

static void emit_save(struct emit *e, const u8 *regs, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		emit_store(e, regs[i], emit_slot[regs[i]]);
}

static void emit_restore(struct emit *e, const u8 *regs, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		emit_load(e, regs[i], emit_slot[regs[i]]);
}

static void emit_branch(struct emit *e, u8 opcode, void *dest)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, opcode, emit_ip(e), dest, CALL_INSN_SIZE);
	emit_bytes(e, insn, sizeof(insn));
}

/* Every CALL is counted where the return stack is tracked in software. */
static void emit_call_depth(struct emit *e, void *func)
{
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) && emit_fits(e, EMIT_MAX_ACCOUNTING))
		x86_call_depth_emit_accounting(&e->p, func, emit_ip(e));
}

static void emit_ret(struct emit *e)
{
	if (cpu_feature_enabled(X86_FEATURE_RETHUNK))
		emit_branch(e, JMP32_INSN_OPCODE, x86_return_thunk);
	else
		EMIT(e, RET_INSN_OPCODE, INT3_INSN_OPCODE);
}

/* Frame records, so that a walk along RBP finds the function and its parent. */
static void emit_frame_records(struct emit *e)
{
	const int func = sizeof(struct pt_regs), parent = func + 16;

	emit_store(e, RBP, parent);
	emit_load(e, RSI, EMIT_FRAME + 8);
	emit_store(e, RSI, parent + 8);
	emit_lea(e, RSI, parent);
	emit_store(e, RSI, func);
	emit_load(e, RSI, EMIT_FRAME);
	emit_store(e, RSI, func + 8);
	emit_lea(e, RBP, func);
}

/* The members of struct ftrace_regs that functions get beside the arguments. */
static void emit_frame_regs(struct emit *e, bool full)
{
	emit_store(e, RBP, REG_OFFSET(bp));
	if (IS_ENABLED(CONFIG_FRAME_POINTER))
		emit_frame_records(e);
	emit_load(e, RDI, EMIT_FRAME);
	emit_store(e, RDI, REG_OFFSET(ip));
	emit_lea(e, RCX, EMIT_FRAME + 8);
	emit_store(e, RCX, REG_OFFSET(sp));
	emit_store_imm(e, full ? __KERNEL_CS : 0, REG_OFFSET(cs));
}

/* How many functions are called: the one that is counted for is not. */
static unsigned int emit_nr_calls(const struct emit *e, const struct ftrace_callset *cs)
{
	return cs->nr_funcs - (e->tramp->counted >= 0);
}

static void emit_prologue(struct emit *e, const struct ftrace_callset *cs)
{
	bool full = cs->flags & FTRACE_OPS_FL_SAVE_REGS;

	emit_note_sp(e);
	emit_call_depth(e, NULL);
	if (full) {
		emit_move_sp(e, -(16 + EMIT_FRAME_OTHER), true);
		emit_flags(e, 0x9c, 8);					/* pushfq */
		emit_move_sp(e, -REG_OFFSET(flags), false);
		emit_save(e, emit_other_regs, ARRAY_SIZE(emit_other_regs));
		emit_store_imm(e, 0, REG_OFFSET(orig_ax));
		emit_store_imm(e, __KERNEL_DS, REG_OFFSET(ss));
	} else {
		emit_move_sp(e, -EMIT_FRAME, false);
		if (cs->flags & FTRACE_OPS_FL_IPMODIFY)
			emit_store(e, RAX, REG_OFFSET(ax));
	}
	emit_save(e, emit_arg_regs, ARRAY_SIZE(emit_arg_regs));
	/* Graph users see no registers, but the epilogue may want the address. */
	if (emit_nr_calls(e, cs) || cs->flags || IS_ENABLED(CONFIG_FRAME_POINTER))
		emit_frame_regs(e, full);
}

/* Adds one to a counter of this CPU. */
static void emit_count(struct emit *e, const unsigned int __percpu *counter)
{
	unsigned long offset = (__force unsigned long)counter;
	bool near = offset == (s32)offset;

	if (!near) {
		EMIT(e, 0x49, 0xbb);				/* movabs $offset, %r11 */
		emit_64(e, offset);
	}
	if (IS_ENABLED(CONFIG_SMP))
		EMIT(e, 0x65);					/* %gs: */
	if (near) {
		EMIT(e, 0xff, 0x04, 0x25);			/* incl offset */
		emit_32(e, offset);
	} else {
		EMIT(e, 0x41, 0xff, 0x03);			/* incl (%r11) */
	}
}

/* Opcode of one byte, with %gs: where there is one and (@reg) as operand. */
static void emit_percpu_reg(struct emit *e, u8 rex, u8 op, u8 modrm)
{
	if (IS_ENABLED(CONFIG_SMP))
		EMIT(e, 0x65);
	EMIT(e, rex, op, modrm);
}

/*
 * Where stubs come from: %r11 is the count, as an offset from the CPU's base. The NOP
 * becomes a JMP to the code of emit_count_ask(), as long as it has to be asked. All of
 * %rax, %r10 and %r11 are free at the head of a function.
 */
static void emit_count_site(struct emit *e)
{
	if (e->tramp->asks)
		emit_branch(e, JMP32_INSN_OPCODE, e->tramp->text + e->tramp->ask);
	else
		emit_bytes(e, x86_nops[CALL_INSN_SIZE], CALL_INSN_SIZE);
	emit_percpu_reg(e, 0x49, 0xff, 0x03);			/* incq %gs:(%r11) */
}

static void emit_skip_if_not_zero(struct emit *e, u8 *dest)
{
	EMIT(e, 0x0f, 0x85);					/* jne */
	emit_32(e, dest - (emit_ip(e) + sizeof(s32)));
}

static void emit_count_ask(struct emit *e, const struct ftrace_counts *counts)
{
	u8 *count = e->tramp->text + CALL_INSN_SIZE;
	u8 *rest = count + (IS_ENABLED(CONFIG_SMP) ? 4 : 3);

	e->tramp->ask = e->p - e->buf;
	EMIT(e, 0x49, 0xba);					/* movabs $current, %r10 */
	emit_64(e, (__force unsigned long)&pcpu_hot.current_task);
	emit_percpu_reg(e, 0x4d, 0x8b, 0x12);			/* mov %gs:(%r10), %r10 */
	EMIT(e, 0x4d, 0x8b, 0x92);				/* mov ignored(%r10), %r10 */
	emit_32(e, offsetof(struct task_struct, ftrace_pid_ignored));
	EMIT(e, 0x48, 0xb8);					/* movabs $ignored, %rax */
	emit_64(e, (unsigned long)&counts->ignored);
	EMIT(e, 0x4c, 0x85, 0x10);				/* test %r10, (%rax) */
	emit_skip_if_not_zero(e, rest);
	EMIT(e, 0x48, 0xb8);					/* movabs $off, %rax */
	emit_64(e, (__force unsigned long)counts->off);
	if (IS_ENABLED(CONFIG_SMP))
		EMIT(e, 0x65);
	EMIT(e, 0x83, 0x38, 0x00);				/* cmpl $0, %gs:(%rax) */
	emit_skip_if_not_zero(e, rest);
	emit_branch(e, JMP32_INSN_OPCODE, count);
}

/*
 * Calls @func with @arg as third argument, inside of the gates of @nr ops; returns where
 * the CALL is.
 */
static unsigned int emit_call(struct emit *e, const void *arg, void *func,
			      const struct ftrace_callset_link *link, unsigned int nr)
{
	unsigned int offset, i;

	for (i = 0; i < nr; i++) {
		if (link[i].gate)
			emit_count(e, &link[i].gate->count->entered);
	}
	EMIT(e, 0x48, 0xba);					/* movabs $arg, %rdx */
	emit_64(e, (unsigned long)arg);
	emit_call_depth(e, func);
	offset = e->p - e->buf;
	emit_branch(e, CALL_INSN_OPCODE, func);
	for (i = 0; i < nr; i++) {
		if (link[i].gate)
			emit_count(e, &link[i].gate->count->left);
	}
	return offset;
}

static void emit_site(struct emit *e)
{
	EMIT(e, 0x48, 0x8d, 0x7f, (u8)-MCOUNT_INSN_SIZE);	/* lea -5(%rdi), %rdi */
}

static void emit_func_call(struct emit *e, const struct ftrace_callset *cs, unsigned int i,
			   bool first)
{
	ftrace_func_t func = ftrace_ops_get_func(cs->ops[i]);
	/* An ops may find the address replaced that its function returns to. */
	bool keep = emit_nr_calls(e, cs) > 1 &&
		    cs->flags & (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RETHOOK);

	/* The function called before it may have altered the register. */
	if (!first)
		emit_load(e, RDI, EMIT_FRAME);
	emit_site(e);
	emit_load(e, RSI, keep && !first ? EMIT_FRAME_PARENT : EMIT_FRAME + 8);
	if (keep && first)
		emit_store(e, RSI, EMIT_FRAME_PARENT);
	EMIT(e, 0x48, 0x89, 0xe1);				/* mov %rsp, %rcx */
	e->tramp->call[i].func = func;
	e->tramp->call[i].offset = emit_call(e, cs->ops[i], func, &cs->link[i], 1);
}

static void emit_graph_call(struct emit *e, const struct ftrace_callset *cs)
{
	emit_load(e, RDI, EMIT_FRAME);
	emit_site(e);
	emit_lea(e, RSI, EMIT_FRAME + 8);
	emit_call(e, cs, cs->graph_func, &cs->link[cs->nr_funcs], cs->nr_graph);
}

static void emit_leave(struct emit *e, const struct ftrace_callset *cs)
{
	if (cs->direct) {
		e->tramp->jmp = e->p - e->buf;
		emit_branch(e, JMP32_INSN_OPCODE, (void *)ftrace_ops_direct(cs->direct));
	} else {
		emit_ret(e);
	}
}

static void emit_epilogue(struct emit *e, const struct ftrace_callset *cs)
{
	bool full = cs->flags & FTRACE_OPS_FL_SAVE_REGS;

	/* A callback that gets all registers may have changed where to go on. */
	if (full || (cs->flags & FTRACE_OPS_FL_IPMODIFY)) {
		emit_load(e, RAX, REG_OFFSET(ip));
		emit_store(e, RAX, EMIT_FRAME);
		emit_load(e, RAX, REG_OFFSET(ax));
	}
	if (full)
		emit_restore(e, emit_other_regs + 1, ARRAY_SIZE(emit_other_regs) - 1);
	if (full || IS_ENABLED(CONFIG_FRAME_POINTER))
		emit_load(e, RBP, REG_OFFSET(bp));
	emit_restore(e, emit_arg_regs, ARRAY_SIZE(emit_arg_regs));
	if (full) {
		emit_move_sp(e, REG_OFFSET(flags), false);
		emit_flags(e, 0x9d, -8);				/* popfq */
		emit_move_sp(e, 16 + EMIT_FRAME_OTHER, true);
	} else {
		emit_move_sp(e, EMIT_FRAME, false);
	}
	emit_leave(e, cs);
}

/* Calls all ops, but for the one that is counted for. */
static void emit_ops(struct emit *e, const struct ftrace_callset *cs)
{
	bool first = true;

	emit_prologue(e, cs);
	for (int i = 0; i < cs->nr_funcs; i++) {
		if (i == e->tramp->counted)
			continue;
		emit_func_call(e, cs, i, first);
		first = false;
	}
	if (cs->nr_graph)
		emit_graph_call(e, cs);
	emit_epilogue(e, cs);
}

/* Returns the size of the code; 0 if it does not fit, which would be a mistake here. */
static unsigned int emit_tramp(struct ftrace_tramp *tramp, const struct ftrace_callset *cs,
			       u8 *buf, size_t max)
{
	struct emit e = { .tramp = tramp, .buf = buf, .p = buf, .end = buf + max };

	tramp->nr_orc = 0;

	if (tramp->counted >= 0)
		emit_count_site(&e);
	if (emit_nr_calls(&e, cs) + cs->nr_graph) {
		emit_ops(&e, cs);
	} else {
		emit_note_sp(&e);
		emit_call_depth(&e, NULL);
		emit_leave(&e, cs);
	}
	if (tramp->counted >= 0)
		emit_count_ask(&e, cs->counts);
	return WARN_ON_ONCE(e.full) ? 0 : e.p - e.buf;
}

/*
 * Trampolines and stubs share areas of pages, that are filled with INT3 and made
 * read-only and executable once: changing a page's protection interrupts all CPUs. An
 * area goes back to the system when all in it is free, but TRAMP_SPARE stays for the next
 * user.
 */
#define TRAMP_UNIT		32
#define TRAMP_AREA_FIRST	SZ_16K
#define TRAMP_AREA		SZ_64K
#define TRAMP_SPARE		SZ_1M

/**
 * struct tramp_area - pages of text
 * @node: in tramp_areas
 * @text: the first byte
 * @nr: how many units of TRAMP_UNIT bytes there are
 * @nr_used: how many of them are in use
 * @used: which
 */
struct tramp_area {
	struct list_head	node;
	u8			*text;
	unsigned int		nr;
	unsigned int		nr_used;
	unsigned long		used[];
};

static LIST_HEAD(tramp_areas);

/* Covers the list and all areas: text is freed without ftrace_lock. */
static DEFINE_MUTEX(tramp_mutex);

static struct tramp_area *tramp_area_add(size_t size)
{
	unsigned int nr = size / TRAMP_UNIT;
	struct tramp_area *area = kzalloc(struct_size(area, used, BITS_TO_LONGS(nr)), GFP_KERNEL);
	void *text = area ? execmem_alloc(EXECMEM_FTRACE, size) : NULL;

	if (text) {
		memset64(text, REPEAT_BYTE(INT3_INSN_OPCODE), size / sizeof(u64));
		set_vm_flush_reset_perms(text);
	}
	if (!text || set_memory_rox((unsigned long)text, size >> PAGE_SHIFT)) {
		execmem_free(text);
		kfree(area);
		return NULL;
	}
	area->text = text;
	area->nr = nr;
	list_add_tail(&area->node, &tramp_areas);
	return area;
}

/* At boot, so that no tracer has to wait for it; unless one came earlier. */
static int __init tramp_area_init(void)
{
	guard(mutex)(&tramp_mutex);
	if (list_empty(&tramp_areas))
		tramp_area_add(TRAMP_AREA_FIRST);
	return 0;
}
early_initcall(tramp_area_init);

static u8 *tramp_text_alloc(size_t size)
{
	unsigned int nr = DIV_ROUND_UP(size, TRAMP_UNIT);
	struct tramp_area *area;
	unsigned long at;

	guard(mutex)(&tramp_mutex);

	list_for_each_entry(area, &tramp_areas, node) {
		if (nr > area->nr - area->nr_used)
			continue;
		at = bitmap_find_next_zero_area(area->used, area->nr, 0, nr, 0);
		if (at < area->nr)
			goto found;
	}
	area = tramp_area_add(max(TRAMP_AREA, PAGE_ALIGN(size)));
	if (!area)
		return NULL;
	at = 0;
found:
	bitmap_set(area->used, at, nr);
	area->nr_used += nr;
	return area->text + at * TRAMP_UNIT;
}

/* No task or CPU is in the text, nor can come there. */
static void tramp_text_free(unsigned long text, size_t size)
{
	unsigned int nr = DIV_ROUND_UP(size, TRAMP_UNIT), spare = 0;
	struct tramp_area *area, *next;

	text_poke_set((void *)text, INT3_INSN_OPCODE, size);

	guard(mutex)(&tramp_mutex);

	list_for_each_entry_safe(area, next, &tramp_areas, node) {
		unsigned long at = (text - (unsigned long)area->text) / TRAMP_UNIT;

		if (at < area->nr) {
			bitmap_clear(area->used, at, nr);
			area->nr_used -= nr;
		}
		if (area->nr_used)
			continue;
		spare += area->nr;
		if (spare > TRAMP_SPARE / TRAMP_UNIT) {
			list_del(&area->node);
			execmem_free(area->text);
			kfree(area);
		}
	}
}

/* Which of a callset's functions its stubs count for, or -1. */
static int tramp_counted(const struct ftrace_callset *cs)
{
	int i = 0;

	if (!cs->counts)
		return -1;
	while (cs->ops[i]->counts != cs->counts)
		i++;
	return i;
}

/* Whether some calls are not to be counted. */
static bool tramp_asks(const struct ftrace_ops *ops)
{
	return ops->func != ops->saved_func;
}

int arch_ftrace_tramp_alloc(struct ftrace_callset *cs)
{
	size_t max = EMIT_MAX_FIXED + (cs->nr_funcs + 1) * EMIT_MAX_CALL +
		     cs->nr_ops * EMIT_MAX_GATE;
	struct ftrace_tramp *tramp __free(kfree) = NULL;
	u8 *buf __free(kvfree) = NULL;
	unsigned int size;

	buf = kvmalloc(max, GFP_KERNEL);
	tramp = kzalloc(struct_size(tramp, call, cs->nr_funcs), GFP_KERNEL);
	if (!buf || !tramp)
		return -ENOMEM;

	tramp->counted = tramp_counted(cs);
	tramp->asks = tramp->counted >= 0 && tramp_asks(cs->ops[tramp->counted]);
	/* Once for the size, which is the same everywhere, and once for good. */
	tramp->text = (u8 *)ftrace_caller;
	size = emit_tramp(tramp, cs, buf, max);
	tramp->text = size ? tramp_text_alloc(size) : NULL;
	if (!tramp->text)
		return -ENOMEM;
	emit_tramp(tramp, cs, buf, max);
	text_poke_copy(tramp->text, buf, size);

	cs->tramp = (unsigned long)tramp->text;
	cs->tramp_size = size;
	cs->arch = no_free_ptr(tramp);
	return 0;
}

void arch_ftrace_tramp_free(struct ftrace_callset *cs)
{
	struct ftrace_tramp *tramp = cs->arch;

	if (!tramp)
		return;
	tramp_text_free(cs->tramp, cs->tramp_size);
	kfree(tramp);
}

static void tramp_set_ask(struct ftrace_patch *patch, struct ftrace_callset *cs, bool asks)
{
	struct ftrace_tramp *tramp = cs->arch;
	struct text_patch *insn;

	if (tramp->asks == asks)
		return;
	tramp->asks = asks;
	insn = ftrace_patch_insn(patch, cs->tramp);
	if (asks)
		text_patch_set_jump(insn, cs->tramp, cs->tramp + tramp->ask);
	else
		text_patch_set_nop(insn, cs->tramp);
}

void arch_ftrace_tramp_retarget(struct ftrace_patch *patch, struct ftrace_callset *cs,
				unsigned int i, ftrace_func_t to)
{
	struct ftrace_tramp *tramp = cs->arch;

	if (!tramp || i >= cs->nr_funcs)
		return;
	if (i == tramp->counted) {
		/* One that is going away counts on: its counts stay as long as the code. */
		tramp_set_ask(patch, cs, to && tramp_asks(cs->ops[i]));
		return;
	}
	if (!tramp->call[i].func || tramp->call[i].func == to)
		return;
	arch_ftrace_patch_add(patch, cs->tramp + tramp->call[i].offset, (unsigned long)to);
	tramp->call[i].func = to;
}

void arch_ftrace_tramp_redirect(struct ftrace_patch *patch, struct ftrace_callset *cs,
				unsigned long to)
{
	struct ftrace_tramp *tramp = cs->arch;
	unsigned long ip;

	if (!tramp)
		return;
	ip = cs->tramp + tramp->jmp;
	text_patch_set_jump(ftrace_patch_insn(patch, ip), ip, to);
}

struct orc_entry *arch_ftrace_tramp_orc(const struct ftrace_callset *cs, unsigned long ip)
{
	struct ftrace_tramp *tramp = cs->arch;
	unsigned int i;

	for (i = 1; i < tramp->nr_orc; i++) {
		if (ip - cs->tramp < tramp->orc[i].offset)
			break;
	}
	return &tramp->orc[i - 1].entry;
}

/**
 * struct tramp_stub - a stub: movabs $count, %r11; jmp trampoline
 * @movabs: the first opcode
 * @count: its operand, an offset from the CPU's base
 * @jmp: the second opcode
 * @rel: its operand, relative to the address of @pad
 * @pad: nothing comes here
 */
struct tramp_stub {
	u8	movabs[2];
	u64	count;
	u8	jmp;
	s32	rel;
	u8	pad;
} __packed;

static_assert(sizeof(struct tramp_stub) == ARCH_FTRACE_STUB_SIZE);

/* This runs for each site that is switched. */
static void stubs_fill(struct tramp_stub *stub, unsigned int nr, const u64 __percpu *counts,
		       unsigned long text, unsigned long tramp)
{
	s32 rel = tramp - text - offsetof(struct tramp_stub, pad);

	for (unsigned int i = 0; i < nr; i++) {
		stub[i] = (struct tramp_stub) {
			.movabs	= { 0x49, 0xbb },
			.count	= (__force unsigned long)(counts + i),
			.jmp	= JMP32_INSN_OPCODE,
			.rel	= rel - (s32)(i * sizeof(*stub)),
			.pad	= INT3_INSN_OPCODE,
		};
	}
}

unsigned long arch_ftrace_stubs_alloc(const struct ftrace_callset *cs, u64 __percpu *counts,
				      unsigned int nr)
{
	size_t size = nr * sizeof(struct tramp_stub);
	struct tramp_stub *stub = kmalloc(size, GFP_KERNEL);
	u8 *text = stub ? tramp_text_alloc(size) : NULL;

	if (text) {
		stubs_fill(stub, nr, counts, (unsigned long)text, cs->tramp);
		text_poke_copy(text, stub, size);
	}
	kfree(stub);
	return (unsigned long)text;
}

void arch_ftrace_stubs_free(unsigned long text, unsigned int nr)
{
	tramp_text_free(text, nr * ARCH_FTRACE_STUB_SIZE);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/callset_tramp_kunit.c"
#endif
