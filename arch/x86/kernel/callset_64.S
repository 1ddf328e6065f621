/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The static trampolines of function tracing.
 *
 * ftrace_caller and ftrace_regs_caller serve the sites of callsets that have
 * no trampoline of their own, and call arch_ftrace_ops_list_func. The stack frame is a
 * struct pt_regs, as in the trampolines that callset_tramp.c emits. SS is 0 there
 * unless all registers are saved: see arch_ftrace_get_regs().
 */
#include <linux/cfi_types.h>
#include <linux/export.h>
#include <linux/linkage.h>

#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace.h>
#include <asm/unwind_hints.h>

	.code64
	.section .text, "ax"

SYM_TYPED_FUNC_START(ftrace_stub)
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(ftrace_stub)

/* A trampoline goes on here once its direct function is gone. */
SYM_FUNC_START(ftrace_stub_return)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(ftrace_stub_return)

#ifdef CONFIG_FRAME_POINTER
# define RECORDS	(5 * 8)
#else
# define RECORDS	0
#endif
/* From the stack pointer to the return address into the traced function. */
#define TOP		(FRAME_SIZE + RECORDS)

.macro STORE_ARGS
	movq	%rdi, RDI(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	movq	%rax, RAX(%rsp)
	movq	%rbp, RBP(%rsp)
#ifdef CONFIG_FRAME_POINTER
	/* Two frame records: the parent's, and below it the function's. */
	movq	%rbp, FRAME_SIZE+16(%rsp)
	movq	TOP+8(%rsp), %rax
	movq	%rax, FRAME_SIZE+24(%rsp)
	leaq	FRAME_SIZE+16(%rsp), %rax
	movq	%rax, FRAME_SIZE(%rsp)
	movq	TOP(%rsp), %rax
	movq	%rax, FRAME_SIZE+8(%rsp)
	leaq	FRAME_SIZE(%rsp), %rbp
#endif
.endm

/* Arguments of the callback: ip, parent_ip, ops, fregs. */
.macro CALLBACK_ARGS ss
	movq	TOP(%rsp), %rdi
	movq	%rdi, RIP(%rsp)
	leaq	TOP+8(%rsp), %rcx
	movq	%rcx, RSP(%rsp)
	leaq	-MCOUNT_INSN_SIZE(%rdi), %rdi
	movq	TOP+8(%rsp), %rsi
	movq	$0, ORIG_RAX(%rsp)
	movq	$\ss, SS(%rsp)
	xorl	%edx, %edx
	movq	%rsp, %rcx
.endm

.macro LOAD_ARGS
	/* A callback may have changed where to go on. */
	movq	RIP(%rsp), %rax
	movq	%rax, TOP(%rsp)
	movq	RBP(%rsp), %rbp
	movq	RAX(%rsp), %rax
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
.endm

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* A direct function that does nothing, for the self-tests. */
SYM_FUNC_START(ftrace_stub_direct_tramp)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(ftrace_stub_direct_tramp)
#endif

SYM_FUNC_START(ftrace_caller)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
	subq	$TOP, %rsp
	STORE_ARGS
	CALLBACK_ARGS 0
	CALL_DEPTH_ACCOUNT
	call	arch_ftrace_ops_list_func
	LOAD_ARGS
	addq	$TOP, %rsp
	RET
SYM_FUNC_END(ftrace_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_caller)

SYM_FUNC_START(ftrace_regs_caller)
	ANNOTATE_NOENDBR
	/* The flags survive LEA, and PUSHF puts them where pt_regs has them. */
	leaq	-(16+RECORDS)(%rsp), %rsp
	pushfq
	CALL_DEPTH_ACCOUNT
	subq	$EFLAGS, %rsp
	STORE_ARGS
	movq	%rbx, RBX(%rsp)
	movq	%r10, R10(%rsp)
	movq	%r11, R11(%rsp)
	movq	%r12, R12(%rsp)
	movq	%r13, R13(%rsp)
	movq	%r14, R14(%rsp)
	movq	%r15, R15(%rsp)
	movq	$__KERNEL_CS, CS(%rsp)
	CALLBACK_ARGS __KERNEL_DS
	CALL_DEPTH_ACCOUNT
	call	arch_ftrace_ops_list_func
	LOAD_ARGS
	movq	R15(%rsp), %r15
	movq	R14(%rsp), %r14
	movq	R13(%rsp), %r13
	movq	R12(%rsp), %r12
	movq	R11(%rsp), %r11
	movq	R10(%rsp), %r10
	movq	RBX(%rsp), %rbx
	addq	$EFLAGS, %rsp
	popfq
	leaq	16+RECORDS(%rsp), %rsp
	RET
SYM_FUNC_END(ftrace_regs_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_regs_caller)

/* For sites that the build left as calls, until boot or the module loader has made them NOPs. */
SYM_FUNC_START(__fentry__)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * Where hooked functions return to. The RET that led here has taken the address
 * off the stack, and an interrupt may have written there. It goes back, for unwinders,
 * until the true one takes its place. With CONFIG_FRAME_POINTER they find it by a frame
 * record as the function had it.
 */
.macro HANDLER_BEGIN handler
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
	pushq	$\handler
	UNWIND_HINT_FUNC
.endm

/*
 * Returns to the address at the top of the stack. The RET that led here has also
 * used up a prediction, so there is a CALL to make for the RET that follows; the
 * address that it pushes is dropped. Until then the true address is the return address of the
 * frame, which objtool notes at each instruction. RBP has its value of the return:
 * its place in the frame, which is below the stack pointer here, is not to be looked at. A
 * JMP would be an indirect one, that IBT wants to end at an ENDBR, which no return address
 * is. Call depth accounting has to know of no return here.
 */
.macro HANDLER_END
	UNWIND_HINT_FUNC
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lto_parent\@
	int3
.Lto_parent\@:
	addq	$8, %rsp
	ALTERNATIVE __stringify(RET), \
		__stringify(ANNOTATE_UNRET_SAFE; ret; int3), X86_FEATURE_CALL_DEPTH
.endm

SYM_CODE_START(return_to_handler)
	HANDLER_BEGIN return_to_handler
	subq	$(FRAME_SIZE + FRAME_OFFSET), %rsp

	/* The part of struct ftrace_regs that a return has. */
	movq	%rbp, RBP(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rax, RAX(%rsp)
	leaq	FRAME_SIZE+FRAME_OFFSET+8(%rsp), %rdi
	movq	%rdi, RSP(%rsp)
	movq	$0, SS(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	%rbp, FRAME_SIZE(%rsp)
	leaq	FRAME_SIZE(%rsp), %rbp
#endif
	movq	%rsp, %rdi
	call	ftrace_return_to_handler
	movq	%rax, FRAME_SIZE+FRAME_OFFSET(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	FRAME_SIZE(%rsp), %rbp
#endif
	movq	RAX(%rsp), %rax
	movq	RDX(%rsp), %rdx
	addq	$(FRAME_SIZE + FRAME_OFFSET), %rsp
	HANDLER_END
SYM_CODE_END(return_to_handler)

/* The same for functions that only kernel/trace/callset/times.c has hooked. */
SYM_CODE_START(times_return_to_handler)
	HANDLER_BEGIN times_return_to_handler
	FRAME_BEGIN
	pushq	%rax
	pushq	%rdx
	call	ftrace_times_return
	movq	%rax, FRAME_OFFSET+16(%rsp)
	popq	%rdx
	popq	%rax
	FRAME_END
	HANDLER_END
SYM_CODE_END(times_return_to_handler)
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
