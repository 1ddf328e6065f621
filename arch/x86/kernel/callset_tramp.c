// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines of function tracing on x86: their code, how it is written, and
 * where their memory comes from.
 *
 * Invariants:
 *  1. A trampoline calls the functions of its descriptor and no others, and is never
 *     written again except to silence one that is going away (CALL to NOP, or
 *     JMP to a JMP that returns for a direct one) or to put another in its place
 *     (CALL to CALL, or JMP to JMP), all through the live patcher.
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
 *	movq	$0, SS(%rsp)		no full pt_regs
 *   for each ops, after the first with the return address loaded again:
 *	lea	-5(%rdi), %rdi		ip, the site
 *	mov	FRAME+8(%rsp), %rsi	parent_ip, see below
 *	mov	$ops, %rdx
 *	mov	%rsp, %rcx		fregs
 *	incl	%gs:entered		if the ops has a gate
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
 * Where there are graph users, one function for all of them is called after the
 * callbacks, with the site, the place of the return address, an argument of its
 * own and fregs. All gates of the users are around the call. If no user looks at the
 * registers, fregs lacks all but the arguments.
 *
 * Where there is a direct function, a JMP to it stands in place of the last RET. One
 * that the sites would jump to (ftrace_is_jmp()) returns to the parent. It finds the stack
 * as at the site if its address takes the place of the return address, before the
 * registers are restored:
 *
 *	movq	$direct, FRAME(%rsp)
 *
 * The RET then goes there, and uses up the prediction of the site's CALL.
 *
 * Between the pt_regs and the return address stand two frame records, of the parent and
 * of the function, with CONFIG_FRAME_POINTER, and the word for parent_ip.
 */
#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/string.h>

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

/* So long is movq $imm32, disp32(%rsp). */
#define EMIT_STORE_IMM_LEN	12

/* The most bytes that x86_call_depth_emit_accounting() writes. */
#define EMIT_MAX_ACCOUNTING	32

#define EMIT_MAX_ORC		8

/**
 * struct x86_tramp - a trampoline
 * @tramp: the code
 * @nr_orc: number of @orc
 * @orc: unwind data; each holds from its offset on
 * @direct: it goes on to a direct function
 * @direct_jmp: which returns to the parent
 * @leave: where the JMP to the direct function is, or the MOV that lets the RET go there
 * @ask: where it is asked whether to count; 0 if the stubs count nothing
 * @asks: it is
 * @nr_calls: number of @call
 * @call: where the CALL of each function is, and the function that it calls; NULL where
 *	  there is none, or once it is silenced
 */
struct x86_tramp {
	struct ftrace_tramp	tramp;
	unsigned int		nr_orc;
	struct {
		unsigned int		offset;
		struct orc_entry	entry;
	} orc[EMIT_MAX_ORC];
	bool			direct;
	bool			direct_jmp;
	bool			asks;
	unsigned int		leave;
	unsigned int		ask;
	unsigned int		nr_calls;
	struct {
		unsigned int		offset;
		ftrace_func_t		func;
	} call[] __counted_by(nr_calls);
};

/**
 * struct emit - an emitter's state
 * @tramp: the trampoline that is being made
 * @desc: its description
 * @buf: where the code is written
 * @p: where the next byte goes
 * @end: the first byte after the buffer
 * @full: something did not fit
 * @depth: bytes that the stack pointer has moved down
 */
struct emit {
	struct x86_tramp		*tramp;
	const struct ftrace_tramp_desc	*desc;
	u8				*buf;
	u8				*p;
	u8				*end;
	bool				full;
	int				depth;
};

static struct x86_tramp *x86_tramp_of(struct ftrace_tramp *tramp)
{
	return container_of(tramp, struct x86_tramp, tramp);
}

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
static u8 *emit_ip(const struct emit *e)
{
	return (u8 *)e->tramp->tramp.text + (e->p - e->buf);
}

static void emit_note_sp(struct emit *e)
{
	struct x86_tramp *tramp = e->tramp;
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

/* As long at every address: the first run of the emitter does not know its own. */
static void emit_ret(struct emit *e)
{
	if (cpu_wants_rethunk_at(emit_ip(e)))
		emit_branch(e, JMP32_INSN_OPCODE, x86_return_thunk);
	else
		EMIT(e, RET_INSN_OPCODE, INT3_INSN_OPCODE, INT3_INSN_OPCODE, INT3_INSN_OPCODE,
		     INT3_INSN_OPCODE);
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
	if (full)
		emit_store_imm(e, __KERNEL_CS, REG_OFFSET(cs));
	/* See arch_ftrace_get_regs(). */
	emit_store_imm(e, full ? __KERNEL_DS : 0, REG_OFFSET(ss));
}

/* How many functions are called: the one that the stubs count for is not. */
static unsigned int emit_nr_calls(const struct emit *e)
{
	return e->desc->nr_funcs - e->desc->counts;
}

static void emit_prologue(struct emit *e)
{
	const struct ftrace_tramp_desc *desc = e->desc;
	bool full = desc->flags & FTRACE_OPS_FL_SAVE_REGS;

	emit_note_sp(e);
	emit_call_depth(e, NULL);
	if (full) {
		emit_move_sp(e, -(16 + EMIT_FRAME_OTHER), true);
		emit_flags(e, 0x9c, 8);					/* pushfq */
		emit_move_sp(e, -REG_OFFSET(flags), false);
		emit_save(e, emit_other_regs, ARRAY_SIZE(emit_other_regs));
		emit_store_imm(e, 0, REG_OFFSET(orig_ax));
	} else {
		emit_move_sp(e, -EMIT_FRAME, false);
		if (desc->flags & FTRACE_OPS_FL_IPMODIFY)
			emit_store(e, RAX, REG_OFFSET(ax));
	}
	emit_save(e, emit_arg_regs, ARRAY_SIZE(emit_arg_regs));
	/* Functions get them. The epilogue may want the address, and unwinders the frame. */
	if (emit_nr_calls(e) || desc->graph_regs || desc->flags || IS_ENABLED(CONFIG_FRAME_POINTER))
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
		emit_branch(e, JMP32_INSN_OPCODE, (u8 *)e->tramp->tramp.text + e->tramp->ask);
	else
		emit_bytes(e, x86_nops[CALL_INSN_SIZE], CALL_INSN_SIZE);
	emit_percpu_reg(e, 0x49, 0xff, 0x03);			/* incq %gs:(%r11) */
}

static void emit_skip_if_not_zero(struct emit *e, u8 *dest)
{
	EMIT(e, 0x0f, 0x85);					/* jne */
	emit_32(e, dest - (emit_ip(e) + sizeof(s32)));
}

static void emit_count_ask(struct emit *e)
{
	u8 *count = (u8 *)e->tramp->tramp.text + CALL_INSN_SIZE;
	u8 *rest = count + (IS_ENABLED(CONFIG_SMP) ? 4 : 3);

	e->tramp->ask = e->p - e->buf;
	EMIT(e, 0x49, 0xba);					/* movabs $current, %r10 */
	emit_64(e, (__force unsigned long)&current_task);
	emit_percpu_reg(e, 0x4d, 0x8b, 0x12);			/* mov %gs:(%r10), %r10 */
	EMIT(e, 0x4d, 0x8b, 0x92);				/* mov ignored(%r10), %r10 */
	emit_32(e, offsetof(struct task_struct, ftrace_pid_ignored));
	EMIT(e, 0x48, 0xb8);					/* movabs $ignored, %rax */
	emit_64(e, (unsigned long)e->desc->ignored);
	EMIT(e, 0x4c, 0x85, 0x10);				/* test %r10, (%rax) */
	emit_skip_if_not_zero(e, rest);
	EMIT(e, 0x48, 0xb8);					/* movabs $off, %rax */
	emit_64(e, (__force unsigned long)e->desc->off);
	if (IS_ENABLED(CONFIG_SMP))
		EMIT(e, 0x65);
	EMIT(e, 0x83, 0x38, 0x00);				/* cmpl $0, %gs:(%rax) */
	emit_skip_if_not_zero(e, rest);
	emit_branch(e, JMP32_INSN_OPCODE, count);
}

/*
 * Calls @func with @arg as third argument and the registers as fourth, inside of the gates of
 * @nr calls; returns where the CALL is.
 */
static unsigned int emit_call(struct emit *e, void *func, const void *arg,
			      const struct ftrace_tramp_call *call, unsigned int nr)
{
	unsigned int offset, i;

	for (i = 0; i < nr; i++) {
		if (call[i].gate)
			emit_count(e, &call[i].gate->entered);
	}
	EMIT(e, 0x48, 0x89, 0xe1);				/* mov %rsp, %rcx */
	EMIT(e, 0x48, 0xba);					/* movabs $arg, %rdx */
	emit_64(e, (unsigned long)arg);
	emit_call_depth(e, func);
	offset = e->p - e->buf;
	emit_branch(e, CALL_INSN_OPCODE, func);
	for (i = 0; i < nr; i++) {
		if (call[i].gate)
			emit_count(e, &call[i].gate->left);
	}
	return offset;
}

static void emit_site(struct emit *e)
{
	EMIT(e, 0x48, 0x8d, 0x7f, (u8)-MCOUNT_INSN_SIZE);	/* lea -5(%rdi), %rdi */
}

static void emit_func_call(struct emit *e, unsigned int i, bool first)
{
	const struct ftrace_tramp_call *call = &e->desc->calls[i];
	/* It may find the address replaced that its function returns to. */
	bool keep = emit_nr_calls(e) > 1 && e->desc->flags & FTRACE_OPS_FL_SAVE_REGS;

	/* The function called before it may have altered the register. */
	if (!first)
		emit_load(e, RDI, EMIT_FRAME);
	emit_site(e);
	emit_load(e, RSI, keep && !first ? EMIT_FRAME_PARENT : EMIT_FRAME + 8);
	if (keep && first)
		emit_store(e, RSI, EMIT_FRAME_PARENT);
	e->tramp->call[i].func = call->func;
	e->tramp->call[i].offset = emit_call(e, call->func, call->arg, call, 1);
}

static void emit_graph_call(struct emit *e)
{
	const struct ftrace_tramp_desc *desc = e->desc;

	emit_load(e, RDI, EMIT_FRAME);
	emit_site(e);
	emit_lea(e, RSI, EMIT_FRAME + 8);
	emit_call(e, desc->graph_func, desc->graph_arg, &desc->calls[desc->nr_funcs],
		  desc->nr_graph);
}

/* The RET will go there. Text lies in the top 2 GiB, so the operand has all of the address. */
static void emit_direct_jmp(struct emit *e)
{
	e->tramp->leave = e->p - e->buf;
	emit_store_imm(e, ftrace_jmp_get(e->desc->direct), e->depth);
}

static void emit_leave(struct emit *e)
{
	if (e->tramp->direct && !e->tramp->direct_jmp) {
		e->tramp->leave = e->p - e->buf;
		emit_branch(e, JMP32_INSN_OPCODE, (void *)e->desc->direct);
	} else {
		emit_ret(e);
	}
}

static void emit_epilogue(struct emit *e)
{
	unsigned long flags = e->desc->flags;
	bool full = flags & FTRACE_OPS_FL_SAVE_REGS;

	/* A callback that gets all registers may have changed where to go on. */
	if (full || (flags & FTRACE_OPS_FL_IPMODIFY)) {
		emit_load(e, RAX, REG_OFFSET(ip));
		emit_store(e, RAX, EMIT_FRAME);
		emit_load(e, RAX, REG_OFFSET(ax));
	}
	if (e->tramp->direct_jmp)
		emit_direct_jmp(e);
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
	emit_leave(e);
}

/* Calls all functions, but for the one that is counted for. */
static void emit_calls(struct emit *e)
{
	bool first = true;

	emit_prologue(e);
	for (unsigned int i = 0; i < e->desc->nr_funcs; i++) {
		if (!e->desc->calls[i].func)
			continue;
		emit_func_call(e, i, first);
		first = false;
	}
	if (e->desc->nr_graph)
		emit_graph_call(e);
	emit_epilogue(e);
}

/* Where nothing is called, the stack stays as it is. */
static void emit_no_calls(struct emit *e)
{
	emit_note_sp(e);
	emit_call_depth(e, NULL);
	if (e->tramp->direct_jmp)
		emit_direct_jmp(e);
	emit_leave(e);
}

/* Returns the size of the code; 0 if it does not fit, which would be a mistake here. */
static unsigned int emit_tramp(struct x86_tramp *tramp, const struct ftrace_tramp_desc *desc,
			       u8 *buf, size_t max)
{
	struct emit e = { .tramp = tramp, .desc = desc, .buf = buf, .p = buf, .end = buf + max };

	tramp->nr_orc = 0;

	if (desc->counts)
		emit_count_site(&e);
	if (emit_nr_calls(&e) + desc->nr_graph)
		emit_calls(&e);
	else
		emit_no_calls(&e);
	if (desc->counts)
		emit_count_ask(&e);
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
	void *text = area ? execmem_alloc_rw(EXECMEM_FTRACE, size) : NULL;

	if (text)
		memset(text, INT3_INSN_OPCODE, size);
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

static struct x86_tramp *tramp_make(const struct ftrace_tramp_desc *desc)
{
	struct x86_tramp *tramp;

	tramp = kzalloc(struct_size(tramp, call, desc->nr_funcs), GFP_KERNEL);
	if (!tramp)
		return NULL;
	tramp->nr_calls = desc->nr_funcs;
	tramp->direct = desc->direct;
	tramp->direct_jmp = ftrace_is_jmp(desc->direct);
	tramp->asks = desc->asks;
	return tramp;
}

static bool tramp_write(struct x86_tramp *tramp, const struct ftrace_tramp_desc *desc)
{
	size_t max = EMIT_MAX_FIXED + (desc->nr_funcs + 1) * EMIT_MAX_CALL +
		     (desc->nr_funcs + desc->nr_graph) * EMIT_MAX_GATE;
	u8 *buf __free(kvfree) = kvmalloc(max, GFP_KERNEL);
	u8 *text;

	if (!buf)
		return false;
	/* Once for the size, which is the same everywhere, and once for good. */
	tramp->tramp.text = (unsigned long)ftrace_caller;
	tramp->tramp.size = emit_tramp(tramp, desc, buf, max);
	text = tramp->tramp.size ? tramp_text_alloc(tramp->tramp.size) : NULL;
	if (!text)
		return false;
	tramp->tramp.text = (unsigned long)text;
	emit_tramp(tramp, desc, buf, max);
	text_poke_copy(text, buf, tramp->tramp.size);
	return true;
}

struct ftrace_tramp *arch_ftrace_tramp_alloc(const struct ftrace_tramp_desc *desc)
{
	struct x86_tramp *tramp = tramp_make(desc);

	if (!tramp)
		return NULL;
	if (!tramp_write(tramp, desc)) {
		kfree(tramp);
		return NULL;
	}
	return &tramp->tramp;
}

void arch_ftrace_tramp_free(struct ftrace_tramp *tramp)
{
	if (!tramp)
		return;
	tramp_text_free(tramp->text, tramp->size);
	kfree(x86_tramp_of(tramp));
}

void arch_ftrace_tramp_ask(struct ftrace_patch *patch, struct ftrace_tramp *tramp, bool asks)
{
	struct x86_tramp *x86 = x86_tramp_of(tramp);
	struct text_patch *insn;

	if (!x86->ask || x86->asks == asks)
		return;
	x86->asks = asks;
	insn = ftrace_patch_insn(patch, tramp->text);
	if (asks)
		text_patch_set_jump(insn, tramp->text, tramp->text + x86->ask);
	else
		text_patch_set_nop(insn, tramp->text);
}

void arch_ftrace_tramp_retarget(struct ftrace_patch *patch, struct ftrace_tramp *tramp,
				unsigned int i, ftrace_func_t to)
{
	struct x86_tramp *x86 = x86_tramp_of(tramp);

	if (i >= x86->nr_calls || !x86->call[i].func || x86->call[i].func == to)
		return;
	arch_ftrace_patch_add(patch, tramp->text + x86->call[i].offset, (unsigned long)to);
	x86->call[i].func = to;
}

/* The JMP goes to a RET then, and the MOV of the address that the RET is to go to is skipped. */
void arch_ftrace_tramp_silence_direct(struct ftrace_patch *patch, struct ftrace_tramp *tramp)
{
	struct x86_tramp *x86 = x86_tramp_of(tramp);
	unsigned long ip = tramp->text + x86->leave;

	text_patch_set_jump(ftrace_patch_insn(patch, ip), ip,
			    x86->direct_jmp ? ip + EMIT_STORE_IMM_LEN :
					      (unsigned long)ftrace_stub_return);
}

struct orc_entry *arch_ftrace_tramp_orc(struct ftrace_tramp *tramp, unsigned long ip)
{
	struct x86_tramp *x86 = x86_tramp_of(tramp);
	unsigned int i;

	for (i = 1; i < x86->nr_orc; i++) {
		if (ip - tramp->text < x86->orc[i].offset)
			break;
	}
	return &x86->orc[i - 1].entry;
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

unsigned long arch_ftrace_stubs_alloc(const struct ftrace_tramp *tramp, u64 __percpu *counts,
				      unsigned int nr)
{
	size_t size = nr * sizeof(struct tramp_stub);
	struct tramp_stub *stub = kmalloc(size, GFP_KERNEL);
	u8 *text = stub ? tramp_text_alloc(size) : NULL;

	if (text) {
		stubs_fill(stub, nr, counts, (unsigned long)text, tramp->text);
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
