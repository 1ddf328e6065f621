/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The return stacks of tasks, for those who put entries there: fgraph.c, which
 * says how they are laid out and which rules hold, the graph tracer and times.
 */
#ifndef _KERNEL_TRACE_FGRAPH_STACK_H
#define _KERNEL_TRACE_FGRAPH_STACK_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#define FGRAPH_MAX_USERS	16

#define FGRAPH_STACK_WORDS	(SZ_4K / sizeof(long))
#define FGRAPH_STACK_VARS	(FGRAPH_STACK_WORDS - FGRAPH_MAX_USERS)
#define FGRAPH_STACK_SLEPT	(FGRAPH_STACK_VARS - sizeof(u64) / sizeof(long))
#define FGRAPH_STACK_LIMIT	FGRAPH_STACK_SLEPT

#define FGRAPH_FRAME_WORDS	(sizeof(struct ftrace_ret_stack) / sizeof(long))
#define FGRAPH_ENTRY_WORDS	(FGRAPH_FRAME_WORDS + 1)

static_assert(sizeof(struct ftrace_ret_stack) % sizeof(long) == 0);

/* A meta word. */
#define FGRAPH_META_WORDS	GENMASK(9, 0)
#define FGRAPH_META_USERS	GENMASK(25, 10)
/* There is one user, and it has an alone_ret. */
#define FGRAPH_META_ALONE	BIT(26)
/* Instead of the users: the index of the one that hooked the function by itself. */
#define FGRAPH_META_IDX		GENMASK(BITS_PER_LONG - 1, BITS_PER_LONG - 4)

static_assert((FGRAPH_META_IDX >> __bf_shf(FGRAPH_META_IDX)) + 1 >= FGRAPH_MAX_USERS);

static_assert(FGRAPH_META_WORDS + 1 >= FGRAPH_STACK_WORDS);

/* Whether the time that a task sleeps counts for its functions. */
extern bool fgraph_sleep_time;

unsigned long fgraph_lost(void);
void ftrace_graph_func(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs);

/* The meta word of an entry of so many words. */
static __always_inline unsigned long *fgraph_frame_top(struct ftrace_ret_stack *frame,
						       unsigned int words)
{
	return (unsigned long *)frame + words - 1;
}

/* @top is the word below @end. */
static __always_inline void fgraph_set_top(struct task_struct *task, unsigned int end,
					   unsigned long *top, unsigned long meta)
{
	WRITE_ONCE(*top, meta);
	barrier();
	WRITE_ONCE(task->curr_ret_stack, end);
	barrier();
	WRITE_ONCE(*top, meta);
}

static __always_inline u64 fgraph_slept(const unsigned long *stack)
{
	return READ_ONCE(*(const u64 *)&stack[FGRAPH_STACK_SLEPT]);
}

/* What users are told of a function that returns; the task's entry of it is @frame. */
static __always_inline struct ftrace_graph_ret
fgraph_make_ret(struct task_struct *task, const struct ftrace_ret_stack *frame,
		struct ftrace_regs *fregs, u64 now)
{
	return (struct ftrace_graph_ret) {
		.func		= frame->func,
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
		.retval		= ftrace_regs_get_return_value(fregs),
#endif
		.depth		= task->curr_ret_depth,
		.overrun	= atomic_read(&task->trace_overrun),
		.calltime	= frame->calltime + fgraph_slept(task->ret_stack),
		.rettime	= now,
	};
}

/* In the meta word. */
static __always_inline unsigned long fgraph_user_bit(const struct fgraph_ops *gops)
{
	return BIT(__bf_shf(FGRAPH_META_USERS) + gops->idx);
}

static __always_inline void fgraph_drop_to(struct task_struct *task, unsigned int end)
{
	/* What was there has been read. */
	barrier();
	WRITE_ONCE(task->curr_ret_stack, end);
}

/* The last entry, which has no data. */
static __always_inline void fgraph_drop_frame(struct task_struct *task)
{
	/* Likewise. And what interrupts this puts back what it found. */
	barrier();
	task->curr_ret_stack -= FGRAPH_ENTRY_WORDS;
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

/*
 * Adds an entry of @words, FGRAPH_ENTRY_WORDS at least, with @users in its meta word. If there is
 * no room for it, this counts.
 */
static __always_inline bool fgraph_push(struct task_struct *task, unsigned long ip,
					unsigned long *retp, unsigned long users,
					unsigned int words, struct ftrace_ret_stack **framep)
{
	unsigned long start = task->curr_ret_stack, end = start + words;
	struct ftrace_ret_stack *frame = (struct ftrace_ret_stack *)&task->ret_stack[start];

	if (unlikely(end > FGRAPH_STACK_LIMIT)) {
		atomic_inc(&task->trace_overrun);
		return false;
	}

	/* An unwinder takes it for an entry from now on, but finds nothing. */
	WRITE_ONCE(frame->retp, NULL);
	fgraph_set_top(task, end, fgraph_frame_top(frame, words),
		       users | FIELD_PREP(FGRAPH_META_WORDS, words));
	frame->func = ip;
	frame->ret = *retp;
	barrier();
	WRITE_ONCE(frame->retp, arch_ftrace_return_place(retp));
	*framep = frame;
	return true;
}

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#endif /* _KERNEL_TRACE_FGRAPH_STACK_H */
