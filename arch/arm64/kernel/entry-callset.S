/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The static entries of function tracing with callsets.
 *
 * A function that is traced begins with
 *
 *	MOV	X9, LR
 *	BL	ftrace_caller
 *
 * so at a site LR is the address to go on at, and X9 the one that the function returns to.
 * X0 to X8, X18 (the shadow call stack) and X19 to X29 are in use; X10 to X17 are free.
 * Modules may come here through a BR X16, so each entry is a landing pad.
 */
#include <linux/cfi_types.h>
#include <linux/linkage.h>

#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/ftrace.h>
#include <asm/insn.h>

/* The frame record of the function, whose prologue is still to come, and that of ftrace_caller. */
#define RECORDS		32

/* That of return_to_handler. */
#define RETURN_RECORD	16

	.macro	save_args
	stp	x0, x1, [sp, #FREGS_X0]
	stp	x2, x3, [sp, #FREGS_X2]
	stp	x4, x5, [sp, #FREGS_X4]
	stp	x6, x7, [sp, #FREGS_X6]
	.endm

	.macro	load_args
	ldp	x0, x1, [sp, #FREGS_X0]
	ldp	x2, x3, [sp, #FREGS_X2]
	ldp	x4, x5, [sp, #FREGS_X4]
	ldp	x6, x7, [sp, #FREGS_X6]
	.endm

SYM_CODE_START(ftrace_caller)
	bti	c
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
	/* LR is 16 or, after a BTI, 20 bytes beyond the word. */
	bic	x11, x30, #7
	ldr	x11, [x11, #-16]
	ldr	x17, [x11, #FTRACE_OPS_DIRECT_CALL]
	cbnz	x17, .Ldirect
#endif
	mov	x10, sp
	sub	sp, sp, #FREGS_SIZE + RECORDS
	save_args
	/* DIRECT_TRAMP comes after X8, LR after FP, and PC after SP: see callset.c. */
	stp	x8, xzr, [sp, #FREGS_X8]
	stp	x29, x9, [sp, #FREGS_FP]
	stp	x10, x30, [sp, #FREGS_SP]

	stp	x29, x9, [sp, #FREGS_SIZE + 16]
	add	x29, sp, #FREGS_SIZE + 16
	stp	x29, x30, [sp, #FREGS_SIZE]
	add	x29, sp, #FREGS_SIZE

	/* ip, parent_ip, ops, fregs */
	sub	x0, x30, #AARCH64_INSN_SIZE
	mov	x1, x9
	mov	x3, sp
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
	mov	x2, x11
	ldr	x11, [x11, #FTRACE_OPS_FUNC]
	blr	x11
#else
	mov	x2, xzr
	bl	arch_ftrace_ops_list_func
#endif

	/* Callbacks may have changed any of these. */
	load_args
	ldp	x8, x17, [sp, #FREGS_X8]
	ldp	x29, x9, [sp, #FREGS_FP]
	ldr	x10, [sp, #FREGS_PC]
	add	sp, sp, #FREGS_SIZE + RECORDS
	cbnz	x17, .Ldirect_last
	mov	x30, x9
	ret	x10

	/* A direct function finds the registers as at the site. */
.Ldirect_last:
	mov	x30, x10
.Ldirect:
	br	x17
SYM_CODE_END(ftrace_caller)
NOKPROBE(ftrace_caller)

/* A direct function that does nothing. */
SYM_CODE_START(ftrace_stub_direct_tramp)
	bti	c
	mov	x10, x30
	mov	x30, x9
	ret	x10
SYM_CODE_END(ftrace_stub_direct_tramp)

SYM_TYPED_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * Where hooked functions return to. Of the registers, X0 to X7 may be the result. The PC
 * is filled in when it is known. Unwinders know the hook by its address, so the frame record
 * has it: they ask for the true return address then.
 */
SYM_CODE_START(return_to_handler)
	mov	x10, sp
	sub	sp, sp, #FREGS_SIZE + RETURN_RECORD
	save_args
	stp	x8, xzr, [sp, #FREGS_X8]
	stp	x29, x30, [sp, #FREGS_FP]
	stp	x10, x30, [sp, #FREGS_SP]

	adr	x9, return_to_handler
	stp	x29, x9, [sp, #FREGS_SIZE]
	add	x29, sp, #FREGS_SIZE

	mov	x0, sp
	bl	ftrace_return_to_handler
	mov	x30, x0

	load_args
	ldr	x29, [sp, #FREGS_SIZE]
	add	sp, sp, #FREGS_SIZE + RETURN_RECORD
	ret
SYM_CODE_END(return_to_handler)
NOKPROBE(return_to_handler)
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
