/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The return stacks of tasks. Four files put entries there: fgraph.c, which has their
 * layout and rules, fprobe_quick.c, graph_quick.c and times.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_FGRAPH_STACK_H
#define _KERNEL_TRACE_CALLSET_FGRAPH_STACK_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/trace_recursion.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#define FGRAPH_MAX_USERS	16

#define FGRAPH_STACK_BYTES	SZ_4K
#define FGRAPH_STACK_WORDS	(FGRAPH_STACK_BYTES / sizeof(long))
/* Meta words, users' variables and times have 64 bits everywhere. */
#define FGRAPH_U64_WORDS	(sizeof(u64) / sizeof(long))
#define FGRAPH_STACK_VARS	(FGRAPH_STACK_WORDS - FGRAPH_MAX_USERS * FGRAPH_U64_WORDS)
#define FGRAPH_STACK_LIMIT	FGRAPH_STACK_VARS

#define FGRAPH_FRAME_WORDS	(sizeof(struct ftrace_ret_stack) / sizeof(long))
#define FGRAPH_ENTRY_WORDS	(FGRAPH_FRAME_WORDS + FGRAPH_U64_WORDS)

static_assert(sizeof(struct ftrace_ret_stack) % sizeof(long) == 0);

/* A meta word. */
#define FGRAPH_META_WORDS	GENMASK_ULL(9, 0)
#define FGRAPH_META_USERS	GENMASK_ULL(25, 10)
/* A sole_func made the entry: there is one user, and its data has no header. */
#define FGRAPH_META_SOLE	BIT_ULL(26)
/* The latest one of these users; on top, for comparing. */
#define FGRAPH_META_GENERATION	GENMASK_ULL(63, 32)

static_assert(FGRAPH_META_WORDS + 1 >= FGRAPH_STACK_WORDS);

unsigned long fgraph_lost(void);
void fgraph_sleep_time_changed(void);

typedef void (*fgraph_task_func_t)(struct task_struct *task, unsigned long value);
void fgraph_visit_tasks(fgraph_task_func_t func, unsigned long value);

void fgraph_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
		 struct ftrace_regs *fregs);

/* The meta word of the entry below @end. */
static __always_inline u64 *fgraph_top(unsigned long *stack, unsigned long end)
{
	return (u64 *)&stack[end - FGRAPH_U64_WORDS];
}

/* @top is fgraph_top(), @end words up the stack. */
static __always_inline void fgraph_set_top(struct task_struct *task, unsigned int end, u64 *top,
					   u64 meta)
{
	/*
	 * The word is there before an interrupt can find it by the end. One that came before that
	 * has put its own calls there: the word is written again after the end, which keeps
	 * interrupts off it.
	 */
	WRITE_ONCE(*top, meta);
	barrier();
	WRITE_ONCE(task->curr_ret_stack, end);
	barrier();
	WRITE_ONCE(*top, meta);
}

/* A user's variable of the task whose stack it is. */
static __always_inline u64 *fgraph_var(unsigned long *stack, unsigned long idx)
{
	return (u64 *)&stack[FGRAPH_STACK_VARS + idx * FGRAPH_U64_WORDS];
}

/* The data of an entry with FGRAPH_META_SOLE. */
static __always_inline u64 *fgraph_sole_data(const struct ftrace_ret_stack *frame)
{
	return (u64 *)(frame + 1);
}

/* The report of a return to users; @frame is the task's entry of the call. */
static __always_inline struct ftrace_graph_ret
fgraph_make_ret(struct task_struct *task, const struct ftrace_ret_stack *frame,
		struct ftrace_regs *fregs)
{
	return (struct ftrace_graph_ret) {
		.func		= frame->func,
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
		.retval		= ftrace_regs_get_return_value(fregs),
#endif
		.depth		= task->curr_ret_depth,
		.overrun	= atomic_read(&task->trace_overrun),
	};
}

/* The address in whose place a kretprobe's trampoline stands; @ret if it is another address. */
static __always_inline unsigned long fgraph_behind_kretprobe(struct task_struct *task,
							     unsigned long ret,
							     unsigned long *place)
{
	struct llist_node *node = NULL;

	if (likely(!is_kretprobe_trampoline(ret)))
		return ret;
	return kretprobe_find_ret_addr(task, place, &node) ?: ret;
}

/* Where a function returns to in the end, if a kretprobe has hooked its return, too. */
static __always_inline unsigned long fgraph_caller(struct task_struct *task,
						   const struct ftrace_ret_stack *frame)
{
	return fgraph_behind_kretprobe(task, frame->ret, frame->retp);
}

static __always_inline struct ftrace_ret_stack *fgraph_frame(struct task_struct *task,
							     unsigned int start)
{
	return (struct ftrace_ret_stack *)&task->ret_stack[start];
}

/* Where the entry below @end starts, or -1 without one. */
static __always_inline int fgraph_entry_start(struct task_struct *task, long end)
{
	long words;

	if (unlikely(end <= 0 || !task->ret_stack))
		return -1;
	words = FIELD_GET(FGRAPH_META_WORDS, READ_ONCE(*fgraph_top(task->ret_stack, end)));
	if (WARN_ON_ONCE(words < FGRAPH_ENTRY_WORDS || words > end))
		return -1;
	return end - words;
}

/* The index of the user of a meta word that has one, or of its first one. */
static __always_inline unsigned long fgraph_meta_idx(u64 meta)
{
	return __ffs((unsigned long)meta & FGRAPH_META_USERS) - __bf_shf(FGRAPH_META_USERS);
}

static __always_inline void fgraph_drop_to(struct task_struct *task, unsigned int end)
{
	/* The entry has been read. */
	barrier();
	WRITE_ONCE(task->curr_ret_stack, end);
}

/* Whether the address at @retp may be replaced by that of a handler. */
static __always_inline bool fgraph_can_hook(struct task_struct *task, unsigned long *retp)
{
	if (unlikely(ftrace_graph_is_dead() || !task->ret_stack))
		return false;
	if (unlikely(atomic_read(&task->tracing_graph_pause)))
		return false;
	return likely(arch_ftrace_can_hook(retp));
}

/* For ftrace_test_recursion_unlock(), or negative if the call is not to be hooked. */
static __always_inline int fgraph_begin(struct task_struct *task, unsigned long ip,
					unsigned long *retp)
{
	if (unlikely(!fgraph_can_hook(task, retp)))
		return -1;
	return ftrace_test_recursion_trylock(ip, *retp);
}

/*
 * Adds an entry of @words, FGRAPH_ENTRY_WORDS at least, with @meta in its meta word: that of
 * a user that is known, or 0. If there is no room for it, this counts.
 */
static __always_inline bool fgraph_push(struct task_struct *task, unsigned long ip,
					unsigned long *retp, u64 meta, unsigned int words,
					struct ftrace_ret_stack **framep)
{
	unsigned int start = task->curr_ret_stack, end = start + words;
	struct ftrace_ret_stack *frame = (struct ftrace_ret_stack *)&task->ret_stack[start];

	if (unlikely(end > FGRAPH_STACK_LIMIT)) {
		atomic_inc(&task->trace_overrun);
		return false;
	}

	/* An unwinder takes it for an entry from now on, but finds nothing. */
	WRITE_ONCE(frame->retp, NULL);
	fgraph_set_top(task, end, fgraph_top((unsigned long *)frame, words),
		       meta | FIELD_PREP(FGRAPH_META_WORDS, words));
	frame->func = ip;
	frame->ret = *retp;
	/* An interrupt's unwinder that finds retp finds the address to return to. */
	barrier();
	WRITE_ONCE(frame->retp, arch_ftrace_return_place(retp));
	*framep = frame;
	return true;
}

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#endif /* _KERNEL_TRACE_CALLSET_FGRAPH_STACK_H */
