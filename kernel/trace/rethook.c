// SPDX-License-Identifier: GPL-2.0
/*
 * Return hooks: a handler runs when a function returns. Kretprobes and the
 * exit side of fprobe stand on them.
 *
 * A node stands for one call whose return address was replaced by that of
 * arch_rethook_trampoline. A task's nodes are a stack, tsk->rethooks, the
 * latest call on top. Where several rethooks hook the same call, their nodes
 * are neighbours; the one that was hooked first is the lowest, and the only
 * one that knows the real return address: the others found the trampoline's,
 * and are given the real one before their handlers run.
 *
 *	tsk->rethooks -> node (trampoline) -> node (0x...) -> node (0x...)
 *			 `----- latest call, frame F ----'    `- outer call
 *
 * Invariants:
 *  1. A node is in one place: a CPU's cache, the pool, the hands of the caller
 *     of rethook_try_get(), or a task's stack.
 *  2. rh->handler is looked at, and a node is put back, with preemption
 *     disabled. Once a grace period has passed since rethook_stop(), nothing
 *     goes into the caches and the pool any more.
 *  3. A rethook is freed with the last of its nodes, so a node on a stack
 *     keeps its rethook, even if its owner is gone.
 *  4. Only the task itself changes its stack. An interrupt that hooks calls
 *     of its own finds every one of them returned before it ends.
 *
 * The caches: a CPU that puts back a node keeps it for the next call, one per
 * CPU and rethook, in a word that is exchanged as a whole. So there is no
 * next pointer that could be stale, NMIs need no exception, and a CPU that
 * finds nothing else may empty another one's cache: a call is missed only if
 * all nodes are in use.
 *
 * Contexts: from rethook_try_get() down to the trampoline's handler all runs
 * where probed functions are entered and left, NMI included, and takes no
 * lock. It cannot be hooked itself, which would never end: files in this
 * directory have no sites, NOKPROBE_SYMBOL() keeps kprobes away. Functions that
 * are called on rare occasions and can be probed (call_rcu(), the search for a
 * CPU) are not called while a node is half-way on or off a stack.
 */
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "ftrace_gate.h"
#include "rethook_internal.h"

static __always_inline struct rethook_node *rethook_node_of(struct llist_node *pos)
{
	return container_of(pos, struct rethook_node, llist);
}

/* A life time */

static int rethook_init_node(void *obj, void *context)
{
	struct rethook_node *node = obj;

	node->rethook = context;
	return 0;
}

static int rethook_release(struct objpool_head *pool, void *context)
{
	struct rethook *rh = context;

	/* A node on a stack has counted here until now. */
	free_percpu(rh->cpu);
	kfree(rh);
	return 0;
}

/**
 * rethook_alloc - make a rethook
 * @data: handed to @handler
 * @handler: called at each return that was hooked, with the node, @data, the
 *	     address that is returned to, and the registers, of which it may
 *	     change those that hold the function's result; preemption is disabled
 * @size: bytes of a node: struct rethook_node, and its owner's part
 * @num: how many calls can be hooked at the same time
 *
 * Context: process context, sleeps.
 * Return: the rethook, to be given back with rethook_free(); ERR_PTR of
 * -EINVAL if there is no handler, @num is not positive or @size is less than
 * a node's; of -ENOMEM, also for more than objpool can hold.
 */
struct rethook *rethook_alloc(void *data, rethook_handler_t handler, int size, int num)
{
	struct rethook *rh;

	if (!handler || num <= 0 || size < sizeof(struct rethook_node))
		return ERR_PTR(-EINVAL);

	rh = kzalloc(sizeof(*rh), GFP_KERNEL);
	if (!rh)
		return ERR_PTR(-ENOMEM);
	rh->cpu = alloc_percpu(struct rethook_cpu);
	if (!rh->cpu)
		goto free_rh;
	rh->data = data;
	rcu_assign_pointer(rh->handler, handler);
	if (!objpool_init(&rh->pool, num, size, GFP_KERNEL, rh, rethook_init_node,
			  rethook_release))
		return rh;

	free_percpu(rh->cpu);
free_rh:
	kfree(rh);
	return ERR_PTR(-ENOMEM);
}

/**
 * rethook_stop - call a rethook's handler no more
 * @rh: the rethook
 *
 * New calls are not hooked any more, and those that are return in silence. A
 * handler that is running goes on. A grace period of RCU waits for it; so does
 * ftrace_gate_wait_each() on @rh->cpu->gate, after ftrace_gate_close().
 *
 * Context: any.
 */
void rethook_stop(struct rethook *rh)
{
	rcu_assign_pointer(rh->handler, NULL);
}

static void rethook_free_rcu(struct rcu_head *head)
{
	struct rethook *rh = container_of(head, struct rethook, rcu);
	unsigned int cpu;

	/* An empty cache holds NULL, which is dropped without effect. */
	for_each_possible_cpu(cpu)
		objpool_drop(per_cpu_ptr(rh->cpu, cpu)->cache, &rh->pool);
	/* Frees the rethook, now or with its last node: do not touch it again. */
	objpool_fini(&rh->pool);
}

/**
 * rethook_free - stop a rethook, and free it when its last call has returned
 * @rh: the rethook; not to be used afterwards, but by calls that are in
 *	progress in a section with preemption disabled
 *
 * The object behind the handler's data may go once no handler runs any more, as
 * for rethook_stop(), however long a hooked function may still sleep.
 *
 * Context: any in which call_rcu() is possible. Does not wait.
 */
void rethook_free(struct rethook *rh)
{
	rethook_stop(rh);
	call_rcu(&rh->rcu, rethook_free_rcu);
}

/* Nodes */

static __always_inline bool rethook_rcu_is_watching(void)
{
	/* Otherwise no code that can be probed runs without RCU. */
	if (IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING) ||
	    IS_ENABLED(CONFIG_KPROBE_EVENTS_ON_NOTRACE))
		return rcu_is_watching();
	return true;
}

static noinline struct rethook_node *rethook_get_elsewhere(struct rethook *rh)
{
	struct rethook_node *node;
	unsigned int cpu;

	if (!rethook_handler(rh))
		return NULL;
	node = objpool_pop(&rh->pool);
	if (node)
		return node;

	for_each_possible_cpu(cpu) {
		struct rethook_node **cache = &per_cpu_ptr(rh->cpu, cpu)->cache;

		/* An exchange takes the line away from its owner, so look first. */
		node = READ_ONCE(*cache) ? xchg(cache, NULL) : NULL;
		if (node)
			return node;
	}
	return NULL;
}

NOKPROBE_SYMBOL(rethook_get_elsewhere);

/**
 * rethook_try_get - take a node to hook the return of a call
 * @rh: the rethook
 *
 * Context: any, NMI included; preemption is disabled, and stays so until the
 * node is given to rethook_hook() or rethook_recycle().
 * Return: the node; NULL if all are in use, if the rethook is stopped, or if
 * RCU is not watching, which rethook_recycle() would need.
 */
struct rethook_node *rethook_try_get(struct rethook *rh)
{
	struct rethook_node *node;

	if (unlikely(!rethook_rcu_is_watching()))
		return NULL;
	node = rethook_get_cached(rh);
	return likely(node) ? node : rethook_get_elsewhere(rh);
}

NOKPROBE_SYMBOL(rethook_try_get);

static void rethook_free_node_rcu(struct rcu_head *head)
{
	struct rethook_node *node = container_of(head, struct rethook_node, rcu);

	objpool_drop(node, &node->rethook->pool);
}

/* The cache has a node, or the rethook is stopped. */
static noinline void rethook_recycle_elsewhere(struct rethook_node *node)
{
	struct rethook *rh = node->rethook;

	/*
	 * Of a rethook that is stopped, this may be the last node. The handler
	 * of another of the same call may still run, and the pool cannot be
	 * freed in any context.
	 */
	if (rethook_handler(rh))
		objpool_push(node, &rh->pool);
	else
		call_rcu(&node->rcu, rethook_free_node_rcu);
}

NOKPROBE_SYMBOL(rethook_recycle_elsewhere);

static __always_inline void __rethook_recycle(struct rethook_node *node)
{
	struct rethook_node *empty = NULL;
	struct rethook *rh = node->rethook;

	if (unlikely(!rethook_handler(rh) ||
		     !try_cmpxchg(&this_cpu_ptr(rh->cpu)->cache, &empty, node)))
		rethook_recycle_elsewhere(node);
}

/**
 * rethook_recycle - put back a node
 * @node: from rethook_try_get(), and on no stack
 *
 * Context: any, NMI included; preemption is disabled.
 */
void rethook_recycle(struct rethook_node *node)
{
	__rethook_recycle(node);
}

NOKPROBE_SYMBOL(rethook_recycle);

/**
 * rethook_flush_task - put back the nodes of a task that is dead
 * @tk: the task; the functions that its nodes hooked never return
 *
 * Context: any in which call_rcu() is possible.
 */
void rethook_flush_task(struct task_struct *tk)
{
	struct llist_node *pos, *next;

	llist_for_each_safe(pos, next, __llist_del_all(&tk->rethooks)) {
		guard(preempt)();
		__rethook_recycle(rethook_node_of(pos));
	}
}

/* Hooking, and finding hooked calls */

/**
 * rethook_hook - hook the return of the current call
 * @node: from rethook_try_get()
 * @regs: the registers at the function's entry, or as many of them as the
 *	  architecture needs to find the return address
 * @mcount: called from a callback of ftrace, not from a kprobe
 *
 * Context: any, NMI included; preemption is disabled.
 */
void rethook_hook(struct rethook_node *node, struct pt_regs *regs, bool mcount)
{
	rethook_hook_inline(node, regs, mcount);
}

NOKPROBE_SYMBOL(rethook_hook);

/* The lowest node of the call at @frame, which has the real return address. */
static __always_inline struct llist_node *rethook_find(struct llist_node *pos,
						       unsigned long frame)
{
	for (; pos; pos = pos->next) {
		struct rethook_node *node = rethook_node_of(pos);

		if (node->frame == frame && !is_rethook_trampoline(node->ret_addr))
			break;
	}
	return pos;
}

/**
 * rethook_find_ret_addr - the address that a hooked call really returns to
 * @tsk: current, or a task that does not run
 * @frame: the architecture's mark of the call: on x86 the address of its
 *	   return address
 * @cur: where the search is; NULL is stored there by the caller before the
 *	 first, latest call of an unwinding
 *
 * Context: any, NMI included.
 * Return: the address; 0 if the call is not hooked, or if @tsk runs.
 */
unsigned long rethook_find_ret_addr(struct task_struct *tsk, unsigned long frame,
				    struct llist_node **cur)
{
	struct llist_node *pos;

	if (WARN_ON_ONCE(!cur))
		return 0;
	if (tsk != current && task_is_running(tsk))
		return 0;

	pos = rethook_find(*cur ? (*cur)->next : tsk->rethooks.first, frame);
	if (!pos)
		return 0;
	*cur = pos;
	return rethook_node_of(pos)->ret_addr;
}

NOKPROBE_SYMBOL(rethook_find_ret_addr);

/* Returning */

/**
 * arch_rethook_fixup_return - put the real return address where unwinders look
 * @regs: the registers at the trampoline
 * @correct_ret_addr: the address
 *
 * For architectures whose trampoline leaves a frame with its own address; the
 * others do nothing.
 */
void __weak arch_rethook_fixup_return(struct pt_regs *regs, unsigned long correct_ret_addr)
{
}

static __always_inline void rethook_call_handler(struct rethook_node *node, struct pt_regs *regs,
						 unsigned long ret_addr)
{
	struct rethook *rh = node->rethook;
	rethook_handler_t handler;

	/* For unregistering, which waits. The node keeps the counts. */
	ftrace_gate_enter(&rh->cpu->gate);
	handler = rethook_handler(rh);
	if (likely(handler))
		handler(node, rh->data, ret_addr, regs);
	ftrace_gate_leave(&rh->cpu->gate);
}

static __always_inline void rethook_pop(struct llist_head *stack)
{
	struct llist_node *top = stack->first;

	stack->first = top->next;
	__rethook_recycle(rethook_node_of(top));
}

/*
 * The nodes above a call's lowest, which is the only one that unwinders need:
 * the call's others, or left by calls that were abandoned instead of returning.
 */
static noinline void rethook_return_above(struct llist_node *lowest, struct pt_regs *regs)
{
	const struct rethook_node *end = rethook_node_of(lowest);
	struct llist_head *stack = &current->rethooks;

	while (stack->first != lowest) {
		struct rethook_node *node = rethook_node_of(stack->first);

		if (!WARN_ON_ONCE(node->frame != end->frame)) {
			/* Handlers of kretprobes look for their caller here. */
			node->ret_addr = end->ret_addr;
			rethook_call_handler(node, regs, end->ret_addr);
		}
		rethook_pop(stack);
	}
}

NOKPROBE_SYMBOL(rethook_return_above);

/**
 * rethook_trampoline_handler - call the handlers of a call that returns
 * @regs: the registers, as far as the architecture's trampoline has them
 * @frame: the mark of the call that arch_rethook_prepare() has left in its node
 *
 * Context: called by the trampoline, in whatever context the function returns.
 * Return: the address to go on at, which is also @regs' instruction pointer.
 */
unsigned long rethook_trampoline_handler(struct pt_regs *regs, unsigned long frame)
{
	struct llist_head *stack = &current->rethooks;
	struct llist_node *lowest = rethook_find(stack->first, frame);
	unsigned long ret_addr;

	if (unlikely(!lowest)) {
		WARN(1, "rethook: no return address for the call at %lx\n", frame);
		/* The way back is lost. */
		make_task_dead(SIGSEGV);
	}
	ret_addr = rethook_node_of(lowest)->ret_addr;
	instruction_pointer_set(regs, ret_addr);

	/* Holds up the freeing of the nodes' rethooks, as for invariant 2. */
	preempt_disable_notrace();

	if (unlikely(stack->first != lowest))
		rethook_return_above(lowest, regs);
	rethook_call_handler(rethook_node_of(lowest), regs, ret_addr);
	/* While the handlers ran, unwinders needed the node; now they do not. */
	arch_rethook_fixup_return(regs, ret_addr);
	rethook_pop(stack);

	preempt_enable_notrace();
	return ret_addr;
}

NOKPROBE_SYMBOL(rethook_trampoline_handler);
