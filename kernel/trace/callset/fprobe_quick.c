// SPDX-License-Identifier: GPL-2.0
/*
 * The quick way of fprobes: where a function has one fprobe with an exit handler, and no other
 * graph user, its return is hooked in line, and the entry on the return stack is the fprobe's.
 *
 * Several fprobes of a function, and one that shares its handlers with kprobes, take the common
 * way: fgraph_call() with the callbacks of fprobe.c. That file includes this one, so that its
 * tables are searched in line.
 *
 * Invariants:
 *  1. Handlers run as on the common way: with preemption off, RCU watching, and under the
 *     protection against recursion. They may be traced, and call functions that are probed.
 *  2. An fprobe may go while its function is inside, and come again with data of another size.
 *     The entry goes on to name it, and the return asks whether it is still there, as it was.
 *     fprobe.c frees nothing while preemption is off.
 *  3. A call that is hooked here returns here: the common way does not know the data of the
 *     entry.
 */
#include <linux/compiler.h>
#include <linux/context_tracking.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kconfig.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/trace_recursion.h>

#include "fgraph_stack.h"
#include "callset.h"

/**
 * struct fprobe_quick - the data of an entry
 * @fp: the fprobe
 * @size: of @data, in bytes
 * @data: the room that it shares with its exit handler
 */
struct fprobe_quick {
	struct fprobe	*fp;
	unsigned long	size;
	unsigned long	data[];
};

#define FPROBE_QUICK_WORDS	(FGRAPH_ENTRY_WORDS + sizeof(struct fprobe_quick) / sizeof(long))

static __always_inline struct fprobe_quick *fprobe_quick_of(const struct ftrace_ret_stack *frame)
{
	return (struct fprobe_quick *)fgraph_sole_data(frame);
}

/* rcu_is_watching() without its call; preemption is off. */
static __always_inline bool fprobe_quick_rcu(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	return rcu_is_watching_curr_cpu();
#else
	return rcu_is_watching();
#endif
}

/* The fprobe of a function, if no other one there hooks the return. Preemption is off. */
static __always_inline struct fprobe *fprobe_quick_find(unsigned long ip)
{
	struct fprobe_hlist_node *node;
	struct rhlist_head *head, *pos;
	struct fprobe *fp, *sole = NULL;

	head = rhltable_lookup_likely(&fprobe_ip_table, &ip, fprobe_rht_params);
	rhl_for_each_entry_rcu(node, pos, head, hlist) {
		fp = READ_ONCE(node->fp);
		if (unlikely(!fp || fprobe_is_ftrace(fp)))
			continue;
		if (unlikely(sole))
			return NULL;
		sole = fp;
	}
	return sole;
}

/* Returns false where the call is for the common way. */
static __always_inline bool fprobe_quick_enter(struct task_struct *task, unsigned long ip,
					       unsigned long *retp, struct ftrace_regs *fregs)
{
	const unsigned long flags = FPROBE_FL_DISABLED | FPROBE_FL_KPROBE_SHARED;
	struct ftrace_ret_stack *frame;
	struct fprobe_quick *quick;
	unsigned long size;
	unsigned int words;
	struct fprobe *fp;
	u64 meta;

	if (unlikely(!fprobe_quick_rcu()))
		return true;
	fp = fprobe_quick_find(ip);
	if (unlikely(!fp || fp->flags & flags))
		return false;

	/* The common way counts it as missed. */
	size = fp->entry_data_size;
	words = FPROBE_QUICK_WORDS + size / sizeof(long);
	if (unlikely(task->curr_ret_stack + words > FGRAPH_STACK_LIMIT))
		return false;
	/* First, as the entry handler may write to the data. */
	meta = fprobe_graph_ops.ops.graph_meta | FGRAPH_META_SOLE;
	if (unlikely(!fgraph_push(task, ip, retp, meta, words, &frame)))
		return true;
	task->curr_ret_depth++;
	quick = fprobe_quick_of(frame);
	quick->fp = fp;
	quick->size = size;
	if (fp->entry_handler &&
	    fp->entry_handler(fp, ip, ftrace_regs_get_return_address(fregs), fregs,
			      size ? quick->data : NULL)) {
		task->curr_ret_depth--;
		fgraph_drop_to(task, task->curr_ret_stack - words);
		return true;
	}
	*retp = FTRACE_RETURN_HANDLER;
	return true;
}

/* fgraph_call() and fprobe_fgraph_entry() for one fprobe. */
__no_stack_protector
static void fprobe_quick_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
			      struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	int bit;

	bit = fgraph_begin(task, ip, retp);
	if (bit < 0)
		return;
	/* It is another one if the user has just gone. */
	if (unlikely(READ_ONCE(cs->ops[cs->nr_funcs]) != &fprobe_graph_ops.ops ||
		     !fprobe_quick_enter(task, ip, retp, fregs))) {
		ftrace_test_recursion_unlock(bit);
		fgraph_call(ip, retp, cs, fregs);
		return;
	}
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(fprobe_quick_call);

/* fprobe_return() for the fprobe of an entry. Preemption is off. */
__no_stack_protector
static bool fprobe_quick_return(struct task_struct *task, const struct ftrace_ret_stack *frame,
				struct ftrace_regs *fregs, struct fgraph_ops *gops)
{
	struct fprobe_quick *quick = fprobe_quick_of(frame);
	struct fprobe *fp = quick->fp;
	unsigned long ret;
	int bit;

	bit = ftrace_test_recursion_trylock(frame->func, frame->ret);
	if (bit < 0)
		return true;
	if (likely(fprobe_quick_rcu() && fprobe_registered(fp) && fp->exit_handler &&
		   !(fp->flags & FPROBE_FL_DISABLED) && fp->entry_data_size == quick->size)) {
		ret = fgraph_caller(task, frame);
		ftrace_regs_set_instruction_pointer(fregs, ret);
		fp->exit_handler(fp, frame->func, ret, fregs, quick->size ? quick->data : NULL);
	}
	ftrace_test_recursion_unlock(bit);
	return true;
}

NOKPROBE_SYMBOL(fprobe_quick_return);

static void __init fprobe_quick_init(void)
{
	fprobe_graph_ops.ops.sole_func = fprobe_quick_call;
	fprobe_graph_ops.ops.sole_ret = fprobe_quick_return;
	fprobe_graph_ops.ops.sole_regs = true;
	/* Programs of kprobe.multi may call bpf_override_return(); all users are taken for them. */
	fprobe_graph_ops.ops.moves = IS_ENABLED(CONFIG_BPF_KPROBE_OVERRIDE);
	fprobe_ftrace_ops.moves = IS_ENABLED(CONFIG_BPF_KPROBE_OVERRIDE);
}
