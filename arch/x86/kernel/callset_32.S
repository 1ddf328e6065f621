/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The static trampolines of function tracing on 32 bits, where there are no others.
 *
 * All sites call ftrace_caller or ftrace_regs_caller, and these call
 * arch_ftrace_ops_list_func. The stack frame is a struct pt_regs. The word above it, or
 * above the frame records that follow it, is where the CALL at the site has put
 * the address to go on at, and the next one the traced function's return address. SS is 0
 * unless all registers are saved: see arch_ftrace_get_regs(). The flags are 0 then, too:
 * user_mode() looks at one of them.
 */
#include <linux/export.h>
#include <linux/linkage.h>

#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>

	.section .text, "ax"

SYM_FUNC_START(ftrace_stub)
	RET
SYM_FUNC_END(ftrace_stub)

#ifdef CONFIG_FRAME_POINTER
# define RECORDS	(4 * 4)
#else
# define RECORDS	0
#endif
/* From the stack pointer to the return address into the traced function. */
#define TOP		(PTREGS_SIZE + RECORDS)

/* C takes three arguments in these; it leaves EBX, ESI and EDI as they are. */
.macro STORE_ARGS
	movl	%eax, PT_EAX(%esp)
	movl	%edx, PT_EDX(%esp)
	movl	%ecx, PT_ECX(%esp)
	movl	%ebp, PT_EBP(%esp)
#ifdef CONFIG_FRAME_POINTER
	/* Two frame records: the parent's, and below it the function's. */
	movl	%ebp, PTREGS_SIZE+8(%esp)
	movl	TOP+4(%esp), %eax
	movl	%eax, PTREGS_SIZE+12(%esp)
	leal	PTREGS_SIZE+8(%esp), %eax
	movl	%eax, PTREGS_SIZE(%esp)
	movl	TOP(%esp), %eax
	movl	%eax, PTREGS_SIZE+4(%esp)
	leal	PTREGS_SIZE(%esp), %ebp
#endif
.endm

/* The callback takes ip, parent_ip, ops, and fregs on the stack. */
.macro CALL_LIST_FUNC
	movl	TOP(%esp), %eax
	movl	%eax, PT_EIP(%esp)
	subl	$MCOUNT_INSN_SIZE, %eax
	leal	TOP+4(%esp), %edx
	movl	%edx, PT_OLDESP(%esp)
	movl	(%edx), %edx
	xorl	%ecx, %ecx
	movl	%ecx, PT_ORIG_EAX(%esp)
	pushl	%esp
	call	arch_ftrace_ops_list_func
	addl	$4, %esp
.endm

.macro LOAD_ARGS
	/* A callback may have changed where to go on. */
	movl	PT_EIP(%esp), %eax
	movl	%eax, TOP(%esp)
	movl	PT_EBP(%esp), %ebp
	movl	PT_ECX(%esp), %ecx
	movl	PT_EDX(%esp), %edx
	movl	PT_EAX(%esp), %eax
	addl	$TOP, %esp
.endm

/* Written as 32 bits: a store of the segment register itself is one of 16. */
.macro STORE_SEGMENT reg, offset
	movl	%\reg, %eax
	movl	%eax, \offset(%esp)
.endm

SYM_FUNC_START(ftrace_caller)
	subl	$TOP, %esp
	STORE_ARGS
	movl	$0, PT_EFLAGS(%esp)
	movl	$0, PT_OLDSS(%esp)
	CALL_LIST_FUNC
	LOAD_ARGS
	RET
SYM_FUNC_END(ftrace_caller)

SYM_FUNC_START(ftrace_regs_caller)
	/* PUSHF puts the flags where pt_regs has them, and LEA leaves them as they are. */
	leal	PT_EFLAGS+4-TOP(%esp), %esp
	pushfl
	subl	$PT_EFLAGS, %esp
	STORE_ARGS
	movl	%ebx, PT_EBX(%esp)
	movl	%esi, PT_ESI(%esp)
	movl	%edi, PT_EDI(%esp)
	STORE_SEGMENT ds, PT_DS
	STORE_SEGMENT es, PT_ES
	STORE_SEGMENT fs, PT_FS
	STORE_SEGMENT gs, PT_GS
	STORE_SEGMENT ss, PT_OLDSS
	movl	$__KERNEL_CS, PT_CS(%esp)
	CALL_LIST_FUNC
	movl	PT_EBX(%esp), %ebx
	movl	PT_ESI(%esp), %esi
	movl	PT_EDI(%esp), %edi
	/* No function expects flags at its entry: they are not put back. */
	LOAD_ARGS
	RET
SYM_FUNC_END(ftrace_regs_caller)

/* For sites that the build left as calls, until boot or the module loader has made them NOPs. */
SYM_FUNC_START(__fentry__)
	RET
SYM_FUNC_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * Where hooked functions return to. The RET that led here has used up the
 * prediction of the true return, so the way there is a jump.
 *
 * Unwinders know the hook by this code's address in the word that the RET has taken it from.
 * With CONFIG_FRAME_POINTER they come to the word by a record as the function had it.
 */
#define RETURN_WORD	(PTREGS_SIZE + FRAME_OFFSET)

SYM_CODE_START(return_to_handler)
	subl	$(RETURN_WORD + 4), %esp
	/* An interrupt since the RET may have written there. */
	movl	$return_to_handler, RETURN_WORD(%esp)

	/* The part of struct ftrace_regs that is set for a function that returns. */
	movl	%eax, PT_EAX(%esp)
	movl	%edx, PT_EDX(%esp)
	movl	%ebp, PT_EBP(%esp)
	leal	RETURN_WORD+4(%esp), %eax
	movl	%eax, PT_OLDESP(%esp)
	movl	$0, PT_EFLAGS(%esp)
	movl	$0, PT_OLDSS(%esp)
#ifdef CONFIG_FRAME_POINTER
	movl	%ebp, RETURN_WORD-4(%esp)
	leal	RETURN_WORD-4(%esp), %ebp
#endif
	movl	%esp, %eax
	call	ftrace_return_to_handler
	movl	%eax, %ecx
	movl	PT_EDX(%esp), %edx
	movl	PT_EAX(%esp), %eax
#ifdef CONFIG_FRAME_POINTER
	movl	RETURN_WORD-4(%esp), %ebp
#endif
	addl	$(RETURN_WORD + 4), %esp
	JMP_NOSPEC ecx
SYM_CODE_END(return_to_handler)
#endif
