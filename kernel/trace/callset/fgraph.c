// SPDX-License-Identifier: GPL-2.0
/*
 * Entry and return hooks: the return stacks of tasks, and their users.
 *
 * A user (struct fgraph_ops) is part of the callsets of the sites that its
 * filter wants. The trampoline of such a callset calls fgraph_call() once,
 * however many users the callset has. If one of them wants to see the function
 * return, the return address goes to the task's return stack, and that of
 * return_to_handler() takes its place, which comes here. Both ways tell the users the
 * registers, in a struct ftrace_regs.
 *
 * A return stack grows upward, in words. Each entry is
 *
 *	+-----------------------------+  <- its start
 *	| struct ftrace_ret_stack     |
 *	+-----------------------------+
 *	| header: user, words         |  \ for each user that has
 *	| data                        |  / reserved some
 *	+-----------------------------+
 *	| meta: words of the entry,   |
 *	|       users to call,        |
 *	|       generation            |
 *	+-----------------------------+  <- task->curr_ret_stack, if the last
 *
 * and at the far end stands one variable for each user.
 *
 * Invariants:
 *  1. The word below task->curr_ret_stack is the meta word of the last entry
 *     whenever an interrupt, an NMI or another CPU's unwinder may look. So it is
 *     written before curr_ret_stack moves up to it, and again after that, as an
 *     interrupt between the two uses the words above.
 *  2. Only the task itself, and interrupts of it, move curr_ret_stack.
 *  3. fgraph_users[gops->idx] is gops exactly while gops is registered. Entries of
 *     tasks that sleep name users by their index, which may be another's by the time
 *     that they return. So each registering begins a generation. An entry has the
 *     latest one of its users, and concerns no user of a later one. ops->graph_meta has
 *     both, index and generation, as a meta word. A user is looked up and called
 *     inside of fgraph_gate (gate.c), which holds up the freeing of its memory.
 *  4. A user's callbacks run with preemption off, and not within another
 *     callback of the same context, for they are called under the protection
 *     against recursion that all function tracing shares. An ops->sole_func may do
 *     without that protection, and say in the meta word that the user's sole_ret is
 *     to be asked first, which does without it, too. The data of such an entry is the
 *     user's, and has no header.
 *
 * ftrace_lock covers the users; the stacks are their tasks'.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/ftrace_pid.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/trace_clock.h>

#include <asm/sections.h>

#include <trace/events/sched.h>

#include "fgraph_stack.h"
#include "attach.h"
#include "callset.h"
#include "gate.h"
#include "graph_quick.h"
#include "ops.h"
#include "pid.h"
#include "../trace.h"

/* All fprobes of a function share one user. */
#define FGRAPH_MAX_DATA_WORDS	128

/* The header of data. */
#define FGRAPH_DATA_WORDS	GENMASK(9, 0)
#define FGRAPH_DATA_USER	GENMASK(25, 10)

DEFINE_STATIC_KEY_FALSE(kill_ftrace_graph);

/* Has an index that is free. Its generation is never reached. */
static struct fgraph_ops fgraph_no_user = {
	.ops.graph_meta	= U64_MAX,
};

static struct fgraph_ops *fgraph_users[FGRAPH_MAX_USERS] __read_mostly = {
	[0 ... FGRAPH_MAX_USERS - 1] = &fgraph_no_user,
};

static unsigned int fgraph_nr_users;
/* The latest one, as in a meta word. */
static u64 fgraph_generation;

/* Return callbacks run inside, with preemption off. */
static DEFINE_PER_CPU(struct ftrace_gate_count, fgraph_gate);

static bool fgraph_watches_sleep;

static struct kmem_cache *fgraph_stack_cache;

/* Calling the users */

/* Returns the user's meta word, or 0 if it does not care for the return. */
static __always_inline u64 fgraph_ask(struct ftrace_ops *ops, struct ftrace_graph_ent *trace,
				      struct ftrace_regs *fregs)
{
	struct fgraph_ops *gops = container_of(ops, struct fgraph_ops, ops);
	/* First: a user that goes meanwhile, and comes back, has another index than its data. */
	u64 meta = READ_ONCE(ops->graph_meta);

	return gops->entryfunc(trace, gops, fregs) ? meta : 0;
}

static noinline u64 fgraph_ask_all(struct task_struct *task, struct ftrace_callset *cs,
				   struct ftrace_graph_ent *trace, struct ftrace_regs *fregs)
{
	u64 users = 0, wanted;
	int end = task->curr_ret_stack;

	for (unsigned int i = cs->nr_funcs; i < cs->nr_funcs + cs->nr_graph; i++) {
		wanted = fgraph_ask(READ_ONCE(cs->ops[i]), trace, fregs);
		users = max(users, wanted) | ((users | wanted) & FGRAPH_META_USERS);
		if (wanted) {
			end = task->curr_ret_stack;
		} else if (task->curr_ret_stack != end) {
			/* Its data goes, and the meta word comes down. */
			u64 meta = *fgraph_top(task->ret_stack, task->curr_ret_stack);

			meta -= FIELD_PREP(FGRAPH_META_WORDS, task->curr_ret_stack - end);
			fgraph_set_top(task, end, fgraph_top(task->ret_stack, end), meta);
		}
	}
	return users;
}

/*
 * Returns the users that want to see the function return, as in a meta word. If that is 0,
 * the caller drops the entry with all data.
 */
static __always_inline u64 fgraph_call_entry(struct task_struct *task, struct ftrace_callset *cs,
					     struct ftrace_graph_ent *trace,
					     struct ftrace_regs *fregs)
{
	if (likely(cs->nr_graph == 1))
		return fgraph_ask(READ_ONCE(cs->ops[cs->nr_funcs]), trace, fregs);
	return fgraph_ask_all(task, cs, trace, fregs);
}

/* Returns whether the function's return is to be hooked. */
static __always_inline bool fgraph_enter(struct task_struct *task, struct ftrace_callset *cs,
					 unsigned long ip, unsigned long *retp,
					 struct ftrace_regs *fregs)
{
	unsigned long start = task->curr_ret_stack, *stack = task->ret_stack;
	struct ftrace_ret_stack *frame;
	u64 users;

	if (unlikely(!fgraph_push(task, ip, retp, 0, FGRAPH_ENTRY_WORDS, &frame)))
		return false;

	users = fgraph_call_entry(task, cs, &(struct ftrace_graph_ent) {
		.func	= ip,
		.depth	= ++task->curr_ret_depth,
	}, fregs);
	if (unlikely(!users)) {
		task->curr_ret_depth--;
		fgraph_drop_to(task, start);
		return false;
	}

	*fgraph_top(stack, task->curr_ret_stack) |= users;
	return true;
}

/**
 * fgraph_call - call the graph users of a site
 * @ip: the site
 * @retp: where the address stands that its function returns to
 * @cs: the site's callset, or the one that it had when the task came to the
 *	trampoline
 * @fregs: the function's arguments, its address and its stack
 *
 * Each call of a function passes here and through ftrace_return_to_handler():
 * neither has an array on its stack that could overflow.
 *
 * Context: any that can be traced, NMI included.
 */
__no_stack_protector
void fgraph_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
		 struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	int bit;

	bit = fgraph_begin(task, ip, retp);
	if (bit < 0)
		return;
	if (fgraph_enter(task, cs, ip, retp, fregs))
		*retp = FTRACE_RETURN_HANDLER;
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(fgraph_call);

/* Whether an entry names a user that has one of the indexes in its meta word now. */
static __always_inline bool fgraph_names(u64 meta, const struct fgraph_ops *gops)
{
	return likely(meta >= gops->ops.graph_meta);
}

static __always_inline void fgraph_call_return(struct task_struct *task,
					       struct ftrace_ret_stack *frame, u64 meta,
					       struct ftrace_regs *fregs)
{
	struct ftrace_graph_ret trace = fgraph_make_ret(task, frame, fregs);
	unsigned long users = FIELD_GET(FGRAPH_META_USERS, meta);

	ftrace_regs_set_instruction_pointer(fregs, fgraph_caller(task, frame));
	ftrace_gate_enter(&fgraph_gate);
	for (; users; users &= users - 1) {
		struct fgraph_ops *gops = READ_ONCE(fgraph_users[__ffs(users)]);

		if (fgraph_names(meta, gops))
			gops->retfunc(&trace, gops, fregs);
	}
	ftrace_gate_leave(&fgraph_gate);
}

/*
 * Calls the users that wait for the return of the last entry's function. One that an
 * ops->sole_func has hooked comes here where the user's sole_ret cannot serve it.
 */
static noinline void fgraph_return_users(struct task_struct *task, struct ftrace_regs *fregs)
{
	unsigned long end = task->curr_ret_stack;
	u64 meta = *fgraph_top(task->ret_stack, end);
	struct ftrace_ret_stack *frame;
	int bit;

	frame = fgraph_frame(task, end - FIELD_GET(FGRAPH_META_WORDS, meta));
	bit = ftrace_test_recursion_trylock(frame->func, frame->ret);
	if (unlikely(bit < 0))
		return;
	fgraph_call_return(task, frame, meta, fregs);
	ftrace_test_recursion_unlock(bit);
}

/* Returns false where the user has gone, or cannot serve the return so. */
static __always_inline bool fgraph_return_sole(struct task_struct *task,
					       struct ftrace_ret_stack *frame, u64 meta,
					       struct ftrace_regs *fregs)
{
	struct fgraph_ops *gops;
	bool ret;

	preempt_disable_notrace();
	ftrace_gate_enter(&fgraph_gate);
	gops = READ_ONCE(fgraph_users[fgraph_meta_idx(meta)]);
	ret = fgraph_names(meta, gops) && gops->ops.sole_ret(task, frame, fregs, gops);
	ftrace_gate_leave(&fgraph_gate);
	preempt_enable_notrace();
	return ret;
}

/**
 * fgraph_lost - a hooked function returns, and there is no telling where to
 *
 * Return: the address of panic().
 */
noinline unsigned long fgraph_lost(void)
{
	ftrace_graph_stop();
	WARN_ON(1);
	return (unsigned long)panic;
}

/**
 * ftrace_return_to_handler - a hooked function returns
 * @fregs: its result
 *
 * Called by return_to_handler().
 *
 * Context: any that can be traced, NMI included.
 * Return: where the function was to return to.
 */
__no_stack_protector
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	unsigned long *stack = task->ret_stack;
	unsigned long end = task->curr_ret_stack, words, ret;
	struct ftrace_ret_stack *frame;
	u64 meta;

	if (unlikely(!stack || end - FGRAPH_ENTRY_WORDS >= FGRAPH_STACK_WORDS))
		return fgraph_lost();
	meta = *fgraph_top(stack, end);
	words = FIELD_GET(FGRAPH_META_WORDS, meta);
	if (unlikely(words - FGRAPH_ENTRY_WORDS > end - FGRAPH_ENTRY_WORDS))
		return fgraph_lost();
	frame = (struct ftrace_ret_stack *)&stack[end - words];
	ret = frame->ret;

	if (!(meta & FGRAPH_META_SOLE) || !fgraph_return_sole(task, frame, meta, fregs))
		fgraph_return_users(task, fregs);
	task->curr_ret_depth--;
	arch_ftrace_return_known(fregs, ret);
	fgraph_drop_to(task, end - words);
	return ret;
}

NOKPROBE_SYMBOL(ftrace_return_to_handler);

/* Data of users on the return stack */

/**
 * fgraph_reserve_data - make room for data that goes with a function's call
 * @idx: the user's index
 * @size_bytes: how much
 *
 * Context: an entryfunc, which may call this once. The data is dropped if the
 * entryfunc returns 0.
 * Return: the room, aligned like a long, until the function has returned; NULL
 * if it does not fit.
 */
void *fgraph_reserve_data(int idx, int size_bytes)
{
	struct task_struct *task = current;
	unsigned int end = task->curr_ret_stack;
	unsigned int words = DIV_ROUND_UP(size_bytes, sizeof(long));
	unsigned int new_end = end + words + 1, header = end - FGRAPH_U64_WORDS;
	u64 meta;

	if (size_bytes < 0 || words > FGRAPH_MAX_DATA_WORDS || new_end > FGRAPH_STACK_LIMIT)
		return NULL;

	/* The meta word moves up; a header takes its place. */
	meta = *fgraph_top(task->ret_stack, end);
	fgraph_set_top(task, new_end, fgraph_top(task->ret_stack, new_end),
		       meta + FIELD_PREP(FGRAPH_META_WORDS, words + 1));
	task->ret_stack[header] = FIELD_PREP(FGRAPH_DATA_WORDS, words) |
				  FIELD_PREP(FGRAPH_DATA_USER, idx);
	return &task->ret_stack[header + 1];
}

/*
 * The data of a user in the entry between @start and @end. Of its own call the caller has
 * seen that it is the user, which another CPU may be taking away since.
 */
static void *fgraph_entry_data(const struct task_struct *task, unsigned int start,
			       unsigned int end, unsigned int idx, bool parent,
			       unsigned int *words)
{
	u64 meta = *fgraph_top(task->ret_stack, end);
	unsigned int at = start + FGRAPH_FRAME_WORDS;

	/* An earlier user may have had the index. */
	if (parent && !fgraph_names(meta, READ_ONCE(fgraph_users[idx])))
		return NULL;
	end -= FGRAPH_U64_WORDS;
	if (meta & FGRAPH_META_SOLE) {
		*words = end - at;
		return fgraph_meta_idx(meta) == idx ? &task->ret_stack[at] : NULL;
	}
	for (; at < end; at += *words + 1) {
		unsigned long header = task->ret_stack[at];

		*words = FIELD_GET(FGRAPH_DATA_WORDS, header);
		if (FIELD_GET(FGRAPH_DATA_USER, header) == idx)
			return &task->ret_stack[at + 1];
	}
	return NULL;
}

/**
 * fgraph_retrieve_parent_data - find the data that goes with a call further out
 * @idx: the user's index
 * @size_bytes: if not NULL, gets its size, rounded up to words
 * @depth: how many of the calls to leave out that the task is in; 0 for the innermost
 *
 * Context: a retfunc, or an entryfunc, which has a call of its own.
 * Return: the room that the user reserved at the entry of that call, or NULL.
 */
void *fgraph_retrieve_parent_data(int idx, int *size_bytes, int depth)
{
	struct task_struct *task = current;
	int end = task->curr_ret_stack, start;
	bool parent = depth > 0;
	unsigned int words;
	void *data;

	while ((start = fgraph_entry_start(task, end)) >= 0 && depth-- > 0)
		end = start;
	data = start < 0 ? NULL : fgraph_entry_data(task, start, end, idx, parent,
							 &words);
	if (data && size_bytes)
		*size_bytes = words * sizeof(long);
	return data;
}

/**
 * fgraph_retrieve_data - find the data that goes with a function's call
 * @idx: the user's index
 * @size_bytes: if not NULL, gets its size, rounded up to words
 *
 * Context: a retfunc.
 * Return: the room from fgraph_reserve_data() of this call, or NULL.
 */
void *fgraph_retrieve_data(int idx, int *size_bytes)
{
	return fgraph_retrieve_parent_data(idx, size_bytes, 0);
}

/**
 * fgraph_get_task_var - a user's variable of the current task
 * @gops: the user
 *
 * Context: a callback of @gops.
 * Return: the variable, 0 when @gops is registered or the task made.
 */
unsigned long *fgraph_get_task_var(struct fgraph_ops *gops)
{
	return (unsigned long *)fgraph_var(current->ret_stack, gops->idx);
}

/* For unwinders */

/**
 * ftrace_graph_get_ret_stack - an entry of a task's return stack
 * @task: current, or a task that does not run
 * @skip: how many of the innermost entries to leave out
 *
 * Return: the entry, or NULL if there are not that many.
 */
struct ftrace_ret_stack *ftrace_graph_get_ret_stack(struct task_struct *task, int skip)
{
	int start = task->curr_ret_stack;

	do {
		start = fgraph_entry_start(task, start);
	} while (start >= 0 && skip-- > 0);

	return start < 0 ? NULL : fgraph_frame(task, start);
}

/**
 * ftrace_graph_top_ret_addr - where the innermost hooked call returns to
 * @task: current, or a task that does not run
 *
 * Return: the address, or 0 without such a call. Of functions that end in a jump to
 * another, where the first one returns to.
 */
unsigned long ftrace_graph_top_ret_addr(struct task_struct *task)
{
	const struct ftrace_ret_stack *frame;
	int start = task->curr_ret_stack;

	while ((start = fgraph_entry_start(task, start)) >= 0) {
		frame = fgraph_frame(task, start);
		if (!fgraph_is_handler(frame->ret))
			return fgraph_caller(task, frame);
	}
	return 0;
}

/**
 * ftrace_graph_ret_addr - the return address that a hook has replaced
 * @task: the task whose stack is walked
 * @idx: state of the walk, 0 at its begin; may be NULL
 * @ret: the return address that stands on the stack
 * @retp: where it stands; NULL takes the entries in turn
 *
 * Context: any.
 * Return: where the function will return to in the end; @ret if that is it.
 */
unsigned long ftrace_graph_ret_addr(struct task_struct *task, int *idx, unsigned long ret,
				    unsigned long *retp)
{
	struct ftrace_ret_stack *frame;
	int at;

	if (!fgraph_is_handler(ret) || !idx || *idx < 0)
		return ret;

	at = *idx ?: task->curr_ret_stack;
	while ((at = fgraph_entry_start(task, at)) >= 0) {
		frame = fgraph_frame(task, at);
		/* A function that ends in a jump to another has one place for both. */
		if ((retp && frame->retp != retp) || fgraph_is_handler(frame->ret))
			continue;
		/* After the outermost entry, 0 would begin anew. */
		*idx = at ?: -1;
		return frame->ret;
	}
	return ret;
}

/**
 * fgraph_true_parent - the caller of a function at whose site a callback was called
 * @parent_ip: the address that the callback was told
 * @fregs: the registers that it was given
 *
 * Return: @parent_ip, or the address in whose place a hook's handler stands.
 */
unsigned long fgraph_true_parent(unsigned long parent_ip, struct ftrace_regs *fregs)
{
	unsigned long *place = arch_ftrace_return_place(arch_ftrace_return_slot(fregs));
	int idx = 0;

	parent_ip = ftrace_graph_ret_addr(current, &idx, parent_ip, place);
	return fgraph_behind_kretprobe(current, parent_ip, place);
}

/* The stacks of tasks */

static bool fgraph_has_users(void)
{
	/* Then there is fgraph_stack_cache. Pairs with fgraph_start(). */
	return smp_load_acquire(&fgraph_nr_users);
}

static unsigned long *fgraph_stack_alloc(gfp_t gfp)
{
	return kmem_cache_alloc(fgraph_stack_cache, gfp);
}

static void fgraph_task_reset(struct task_struct *task)
{
	task->curr_ret_stack = 0;
	task->curr_ret_depth = -1;
}

static void fgraph_clear_vars(unsigned long *stack)
{
	memset(&stack[FGRAPH_STACK_VARS], 0,
	       (FGRAPH_STACK_WORDS - FGRAPH_STACK_VARS) * sizeof(long));
}

/* Without memory for a stack the task is not traced. */
static void fgraph_task_set_stack(struct task_struct *task, unsigned long *stack)
{
	if (!stack)
		return;
	fgraph_clear_vars(stack);
	atomic_set(&task->trace_overrun, 0);
	task->ftrace_timestamp = 0;
	fgraph_task_reset(task);
	/* The task may run already. That the stack is empty is to be seen before the stack. */
	smp_store_release(&task->ret_stack, stack);
}

/* The stack of an idle task is never freed, as the task is not. */
static void fgraph_start_idle_task(struct task_struct *task)
{
	if (fgraph_nr_users && !task->ret_stack)
		fgraph_task_set_stack(task, fgraph_stack_alloc(GFP_KERNEL));
}

/**
 * ftrace_graph_init_idle_task - prepare the idle task of a CPU
 * @task: the idle task, not running yet
 * @cpu: its CPU
 *
 * Context: sleeps.
 */
void ftrace_graph_init_idle_task(struct task_struct *task, int cpu)
{
	fgraph_task_reset(task);
	fgraph_start_idle_task(task);
}

/**
 * ftrace_graph_init_task - prepare a new task
 * @task: a copy of its parent, not running yet
 *
 * Context: sleeps.
 */
void ftrace_graph_init_task(struct task_struct *task)
{
	task->ret_stack = NULL;
	fgraph_task_reset(task);
	if (fgraph_has_users())
		fgraph_task_set_stack(task, fgraph_stack_alloc(GFP_KERNEL));
}

/**
 * ftrace_graph_fork_task - give a new task a stack if the first user came since it was prepared
 * @task: the task, which is on the list of tasks now, and not running yet
 *
 * Context: tasklist_lock is held for writing: fgraph_hand_out() has not found the task, and will
 * find it from here on.
 */
void ftrace_graph_fork_task(struct task_struct *task)
{
	if (unlikely(fgraph_has_users() && !task->ret_stack))
		fgraph_task_set_stack(task, fgraph_stack_alloc(GFP_ATOMIC | __GFP_NOWARN));
}

/**
 * ftrace_graph_exit_task - free the return stack of a task
 * @task: a task that does not run any more, or never did
 */
void ftrace_graph_exit_task(struct task_struct *task)
{
	unsigned long *stack = task->ret_stack;

	task->ret_stack = NULL;
	/* An interrupt may be looking for it. */
	barrier();
	if (stack)
		kmem_cache_free(fgraph_stack_cache, stack);
}

#define FGRAPH_STACK_BATCH	32

/* Gives up to @nr tasks a stack; returns how many it gave. */
static unsigned int fgraph_hand_out(unsigned long **stack, unsigned int nr)
{
	struct task_struct *process, *task;
	unsigned int given = 0;

	/* A task that is being forked gets its stack by ftrace_graph_fork_task(), or here. */
	guard(read_lock)(&tasklist_lock);
	for_each_process_thread(process, task) {
		if (given == nr)
			return given;
		if (!task->ret_stack)
			fgraph_task_set_stack(task, stack[given++]);
	}
	return given;
}

static void fgraph_start_idle_tasks(void)
{
	int cpu;

	/* CPUs that come online do so themselves, and an idle task must not get two stacks. */
	guard(cpus_read_lock)();
	for_each_online_cpu(cpu)
		fgraph_start_idle_task(idle_task(cpu));
}

static int fgraph_alloc_stacks(void)
{
	unsigned long *stack[FGRAPH_STACK_BATCH];
	unsigned int nr, given;

	fgraph_start_idle_tasks();
	do {
		for (nr = 0; nr < FGRAPH_STACK_BATCH; nr++) {
			stack[nr] = fgraph_stack_alloc(GFP_KERNEL);
			if (!stack[nr])
				break;
		}
		given = fgraph_hand_out(stack, nr);
		for (unsigned int i = given; i < nr; i++)
			kmem_cache_free(fgraph_stack_cache, stack[i]);
	} while (given == FGRAPH_STACK_BATCH);

	/* All that could be allocated was needed, and more. */
	return given == nr && nr < FGRAPH_STACK_BATCH ? -ENOMEM : 0;
}

/**
 * fgraph_visit_tasks - call a function for each task
 * @func: gets each task, those of CPUs that are offline, too, and @value; does not sleep
 * @value: for @func
 *
 * Context: any but NMIs. Tasks may come and go, if others run.
 */
void fgraph_visit_tasks(fgraph_task_func_t func, unsigned long value)
{
	struct task_struct *process, *task;
	int cpu;

	/* The idle task of a CPU that is offline keeps its stack. */
	for_each_possible_cpu(cpu) {
		task = idle_task(cpu);
		if (task)
			func(task, value);
	}
	guard(rcu)();
	for_each_process_thread(process, task)
		func(task, value);
}

static void fgraph_clear_var(struct task_struct *task, unsigned long idx)
{
	unsigned long *stack = READ_ONCE(task->ret_stack);

	if (stack)
		*fgraph_var(stack, idx) = 0;
}

/*
 * Called before a CPU comes up: its idle task may be new. Functions that it was in when the CPU
 * went down have not returned, and never do.
 */
static int fgraph_cpu_prepare(unsigned int cpu)
{
	struct task_struct *task = idle_task(cpu);

	fgraph_task_reset(task);
	if (task->ret_stack)
		fgraph_clear_vars(task->ret_stack);
	fgraph_start_idle_task(task);
	return 0;
}

/* Time that tasks sleep */

static void fgraph_sched_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	u64 now = trace_clock_local();

	prev->ftrace_timestamp = now;
	/* One that went to sleep before anybody looked. */
	if (next->ftrace_timestamp)
		next->ftrace_sleeptime += now - next->ftrace_timestamp;
}

static void fgraph_clear_timestamp(struct task_struct *task, unsigned long idx)
{
	task->ftrace_timestamp = 0;
}

/* The context switch is watched only where a user leaves its time out. */
static void fgraph_update_sleep(void)
{
	bool wanted = fgraph_nr_users && READ_ONCE(fgraph_no_sleep_time);

	lockdep_assert_held(&ftrace_lock);

	if (wanted == fgraph_watches_sleep)
		return;
	if (!wanted) {
		unregister_trace_sched_switch(fgraph_sched_switch, NULL);
	} else {
		fgraph_visit_tasks(fgraph_clear_timestamp, 0);
		if (register_trace_sched_switch(fgraph_sched_switch, NULL)) {
			pr_warn("ftrace: sleep-time=0 not in effect: out of memory\n");
			return;
		}
	}
	fgraph_watches_sleep = wanted;
}

/**
 * fgraph_sleep_time_changed - a user counts the time for which tasks sleep, or stops to
 *
 * That is, fgraph_no_sleep_time has changed. Users ask task_struct::ftrace_sleeptime.
 *
 * Context: sleeps; takes ftrace_lock.
 */
void fgraph_sleep_time_changed(void)
{
	guard(mutex)(&ftrace_lock);
	fgraph_update_sleep();
}

/* Users */

/**
 * ftrace_graph_stop - stop hooking returns until the next boot
 *
 * Context: any that may switch a static key, or one that is lost anyway.
 */
void ftrace_graph_stop(void)
{
	static_branch_enable(&kill_ftrace_graph);
}

/**
 * fgraph_init_ops - prepare the ops of a graph user
 * @dst_ops: the ops in the struct fgraph_ops, zeroed
 * @src_ops: an ops whose filter and trace array it shares, or NULL
 */
void fgraph_init_ops(struct ftrace_ops *dst_ops, struct ftrace_ops *src_ops)
{
	ftrace_ops_init(dst_ops);
	dst_ops->flags |= FTRACE_OPS_FL_PID;
	if (src_ops) {
		ftrace_ops_init(src_ops);
		dst_ops->filter = src_ops->filter;
		dst_ops->private = src_ops->private;
	}
}

static int fgraph_pid_func(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			   struct ftrace_regs *fregs)
{
	if (!ftrace_pid_wants_current(gops->ops.private))
		return 0;
	return gops->saved_func(trace, gops, fregs);
}

/* The user is new, or the lists of pids have come or gone. */
static void fgraph_choose_func(struct ftrace_ops *ops)
{
	struct fgraph_ops *gops = container_of(ops, struct fgraph_ops, ops);

	WRITE_ONCE(gops->entryfunc, ftrace_pids_enabled(ops) ? fgraph_pid_func : gops->saved_func);
}

static int fgraph_pm_notify(struct notifier_block *nb, unsigned long state, void *unused)
{
	/* The task that hibernates comes back in another image's time. */
	if (state == PM_HIBERNATION_PREPARE)
		pause_graph_tracing();
	else if (state == PM_POST_HIBERNATION)
		unpause_graph_tracing();
	return NOTIFY_DONE;
}

static struct notifier_block fgraph_pm_notifier = {
	.notifier_call	= fgraph_pm_notify,
};

static int fgraph_start(void)
{
	static bool hooked;
	int ret;

	if (!fgraph_stack_cache)
		fgraph_stack_cache = kmem_cache_create("fgraph_stack", FGRAPH_STACK_BYTES,
						       FGRAPH_STACK_BYTES, 0, NULL);
	if (!fgraph_stack_cache)
		return -ENOMEM;
	if (!hooked) {
		ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "fgraph:prepare",
						fgraph_cpu_prepare, NULL);
		if (ret < 0)
			return ret;
		register_pm_notifier(&fgraph_pm_notifier);
		hooked = true;
	}
	/* Tasks that are made from now on bring their own. Pairs with fgraph_has_users(). */
	smp_store_release(&fgraph_nr_users, 1);
	ret = fgraph_alloc_stacks();
	if (ret)
		WRITE_ONCE(fgraph_nr_users, 0);
	return ret;
}

static bool fgraph_may_go(const struct fgraph_ops *gops)
{
	return !is_kernel_core_data((unsigned long)gops) ||
	       !core_kernel_text((unsigned long)gops->saved_func) ||
	       (gops->retfunc && !core_kernel_text((unsigned long)gops->retfunc));
}

/*
 * The one that was free for longest, more or less: a task that was preempted in a timed return may
 * yet write to the variable of a user that is gone.
 */
static int fgraph_free_idx(void)
{
	static unsigned int last = FGRAPH_MAX_USERS - 1;

	for (unsigned int i = 1; i <= FGRAPH_MAX_USERS; i++) {
		unsigned int idx = (last + i) % FGRAPH_MAX_USERS;

		if (fgraph_users[idx] == &fgraph_no_user) {
			last = idx;
			return idx;
		}
	}
	return -ENOSPC;
}

static int fgraph_add_user(struct fgraph_ops *gops)
{
	int idx = fgraph_free_idx(), ret;

	if (idx < 0)
		return idx;
	if (!fgraph_nr_users) {
		ret = fgraph_start();
		if (ret)
			return ret;
	} else {
		fgraph_nr_users++;
	}

	gops->idx = idx;
	fgraph_generation += FIELD_PREP(FGRAPH_META_GENERATION, 1);
	gops->ops.graph_meta = fgraph_generation | BIT(__bf_shf(FGRAPH_META_USERS) + idx);
	fgraph_visit_tasks(fgraph_clear_var, idx);
	gops->saved_func = gops->entryfunc;
	fgraph_choose_func(&gops->ops);
	/* For returns, which compare with the meta word as soon as they see gops. */
	smp_store_release(&fgraph_users[idx], gops);
	fgraph_update_sleep();
	return 0;
}

static void fgraph_remove_user(struct fgraph_ops *gops)
{
	WRITE_ONCE(fgraph_users[gops->idx], &fgraph_no_user);
	fgraph_nr_users--;
	fgraph_update_sleep();
	gops->entryfunc = gops->saved_func;
}

/**
 * register_ftrace_graph - call a user at the entry and the return of functions
 * @gops: the user, with its callbacks and, in @gops->ops, its filter; its memory
 *	  stays until unregister_ftrace_graph() has returned
 *
 * Context: process context, sleeps; takes ftrace_lock.
 * Return: 0; -ENOSPC if there are too many users; -EBUSY if it is one already;
 * -EINVAL without an entry callback; -ENOMEM; or as register_ftrace_function().
 * On failure nothing changed.
 */
int register_ftrace_graph(struct fgraph_ops *gops)
{
	int ret;

	ftrace_retired_wait();
	guard(mutex)(&ftrace_lock);

	if (ftrace_graph_is_dead())
		return -ENODEV;
	if (!gops->entryfunc)
		return -EINVAL;
	if (WARN_ONCE(gops->ops.flags & FTRACE_OPS_FL_GRAPH, "%ps is a graph user already\n",
		      gops->saved_func))
		return -EBUSY;
	ftrace_ops_init(&gops->ops);

	ret = fgraph_add_user(gops);
	if (ret)
		return ret;
	gops->ops.flags |= FTRACE_OPS_FL_GRAPH;
	gops->ops.flags &= ~FTRACE_OPS_FL_DYNAMIC;
	if (fgraph_may_go(gops))
		gops->ops.flags |= FTRACE_OPS_FL_DYNAMIC;
	gops->ops.func = ftrace_stub;
	gops->ops.owner_func = gops->saved_func;
	gops->ops.choose_func = fgraph_choose_func;
	gops->ops.graph_func = fgraph_call;
	ret = ftrace_attach(&gops->ops);
	if (ret) {
		fgraph_remove_user(gops);
		gops->ops.flags &= ~FTRACE_OPS_FL_GRAPH;
	}
	return ret;
}

/**
 * unregister_ftrace_graph - stop calling a user
 * @gops: the user
 *
 * Functions that are inside now return without the user.
 *
 * Context: process context, sleeps; takes ftrace_lock. If the user or its callbacks
 * may be freed, waits until no CPU is inside of them, like
 * unregister_ftrace_function().
 */
void unregister_ftrace_graph(struct fgraph_ops *gops)
{
	scoped_guard(mutex, &ftrace_lock) {
		if (WARN_ONCE(!(gops->ops.flags & FTRACE_OPS_FL_GRAPH),
			      "%ps is no graph user\n", gops->entryfunc))
			return;
		ftrace_detach(&gops->ops);
		fgraph_remove_user(gops);
	}
	ftrace_ops_wait(&gops->ops);
	if (fgraph_may_go(gops))
		ftrace_gate_wait_each(&fgraph_gate);
	/* Last, as the ops is known for a graph user's by it. */
	gops->ops.flags &= ~FTRACE_OPS_FL_GRAPH;
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/fgraph_kunit.c"
#endif
