/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names that arch/x86/kernel/callset_tramp.c and the headers that it shares with the kernel
 * need beside tools/include, for a user-space program. Segment bases are 0 there, so that a
 * per-CPU variable of the one CPU is an ordinary one.
 */
#ifndef SHIM_H
#define SHIM_H

#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

/* As the kernel has them. */
struct pt_regs {
	unsigned long	r15, r14, r13, r12, bp, bx;
	unsigned long	r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long	orig_ax, ip, cs, flags, sp, ss;
};

#define __KERNEL_CS		0x10
#define __KERNEL_DS		0x18
#define X86_EFLAGS_CF		BIT(0)
#define X86_EFLAGS_PF		BIT(2)
#define X86_EFLAGS_AF		BIT(4)
#define X86_EFLAGS_ZF		BIT(6)
#define X86_EFLAGS_SF_BIT	7
#define X86_EFLAGS_SF		BIT(7)
#define X86_EFLAGS_TF		BIT(8)
#define X86_EFLAGS_OF_BIT	11
#define X86_EFLAGS_OF		BIT(11)

#ifndef __percpu
#define __percpu
#endif
#ifndef __counted_by
#define __counted_by(member)
#endif
#ifndef __packed
#define __packed		__attribute__((__packed__))
#endif
#define __ro_after_init

#define pte_t			unsigned long
#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(size)	ALIGN(size, PAGE_SIZE)
#define PAGE_OFFSET		0xc0000000UL

void shim_warn(const char *what);
#undef WARN_ON_ONCE
#define WARN_ON_ONCE(cond)						\
	({								\
		bool __warn = (cond);					\
									\
		if (__warn)						\
			shim_warn(#cond);				\
		__warn;							\
	})

/* That of tools/include takes no two types. */
#undef max
#define max(a, b)		((a) > (b) ? (a) : (b))

#define early_initcall(fn)
#define DEFINE_MUTEX(name)	int name
#define guard(class)		(void)
#define __free(how)		__attribute__((__cleanup__(shim_##how)))
#define kmalloc(size, gfp)	malloc(size)
#define kzalloc(size, gfp)	calloc(1, size)
#define kvmalloc(size, gfp)	malloc(size)
#define kfree(p)		free(p)

static inline void shim_kvfree(void *p)
{
	free(*(void **)p);
}

static inline void bitmap_set(unsigned long *map, unsigned long start, unsigned int nr)
{
	for (; nr; nr--, start++)
		map[BIT_WORD(start)] |= BIT_MASK(start);
}

static inline void bitmap_clear(unsigned long *map, unsigned long start, unsigned int nr)
{
	for (; nr; nr--, start++)
		map[BIT_WORD(start)] &= ~BIT_MASK(start);
}

static inline unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size,
						       unsigned long start, unsigned int nr,
						       unsigned long align_mask)
{
	for (unsigned long i = start; i < size; i++) {
		if (map[BIT_WORD(i)] & BIT_MASK(i))
			start = i + 1;
		else if (i + 1 - start == nr)
			return start;
	}
	return size;
}

#define EXECMEM_FTRACE		0
void *execmem_alloc_rw(int type, size_t size);
void execmem_free(void *text);
#define set_memory_rox(addr, pages)	0

/* linux/ftrace.h and the headers that it includes */

#define CONFIG_HAVE_FTRACE_BATCHES	1
#define CONFIG_HAVE_FTRACE_TRAMPOLINES	1
#define MCOUNT_INSN_SIZE		5
#define FTRACE_OPS_FL_SAVE_REGS		BIT(2)
#define FTRACE_OPS_FL_RECURSION		BIT(4)
#define FTRACE_OPS_FL_IPMODIFY		BIT(13)
#define FTRACE_OPS_FL_RCU		BIT(14)

struct ftrace_callset;
struct ftrace_counts;
struct ftrace_ops;
struct ftrace_regs;

typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);
typedef void (*ftrace_graph_func_t)(unsigned long ip, unsigned long *retp,
				    struct ftrace_callset *cs, struct ftrace_regs *fregs);

struct ftrace_ops {
	unsigned long		flags;
	struct ftrace_counts	*counts;
};

struct latch_tree_node {
	int			unused;
};

#define ftrace_is_jmp(addr)		((addr) & 1)
#define ftrace_jmp_get(addr)		((addr) & ~1UL)
#define ftrace_regs_get_stack_pointer(fregs)	((struct pt_regs *)(fregs))->sp

extern const char _text[];
void ftrace_caller(void);

#include <asm/ftrace_callset.h>

/* linux/sched.h */

struct task_struct {
	unsigned long		other[3];
	unsigned long		ftrace_pid_ignored;
};

extern struct task_struct *current_task;

/* asm/nospec-branch.h */

extern char x86_return_thunk[];
bool cpu_wants_rethunk_at(void *ip);
bool shim_call_depth(void);
#define cpu_feature_enabled(feature)	shim_call_depth()
int x86_call_depth_emit_accounting(u8 **p, void *func, void *ip);

#endif /* SHIM_H */
