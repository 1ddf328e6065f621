// SPDX-License-Identifier: GPL-2.0
/*
 * Ops by themselves, and objects that wait for a grace period before they are freed.
 *
 * Nothing here knows sites. Files above leave functions in an ops that are called
 * here and below: choose_func (pid.c, fgraph.c), owner_func, graph_func
 * and sole_func (fgraph.c).
 *
 * ftrace_lock covers all of it; see ops.h for the lock order.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/trace_recursion.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <asm/sections.h>

#include "ops.h"

/* Covers all state of function tracing; see ops.h. */
DEFINE_MUTEX(ftrace_lock);

/* All ops that are attached; ftrace_lock. */
LIST_HEAD(ftrace_ops_registered);

/* The sysctl; changed under ftrace_lock, but for kexec and the self-tests. */
int ftrace_enabled __read_mostly = 1;

/* Set by ftrace_kill(), never cleared. */
int ftrace_disabled __read_mostly;

/* The ops of the top instance; others share its filter. */
struct ftrace_ops global_ops = {
	.func	= ftrace_stub,
	.flags	= FTRACE_OPS_FL_PID,
};

/* Calling an ops */

/* For an ops that asked for recursion protection, or for RCU to be watching. */
static void ftrace_assist_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);

	if (bit < 0)
		return;
	ftrace_ops_call(ip, parent_ip, ops, fregs);
	trace_clear_recursion(bit);
}

NOKPROBE_SYMBOL(ftrace_assist_func);

/**
 * ftrace_ops_get_func - the function that a trampoline calls for an ops
 * @ops: the ops
 *
 * Context: any.
 * Return: the callback itself, or a function that gives it the help that its
 * flags ask for.
 */
ftrace_func_t ftrace_ops_get_func(struct ftrace_ops *ops)
{
	if (ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU))
		return ftrace_assist_func;
	return ops->func;
}

/* Ops */

/**
 * ftrace_ops_init - make an ops ready for a filter
 * @ops: zeroed but for the public fields, or initialized before
 *
 * Context: any; serialized by the caller.
 */
void ftrace_ops_init(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	INIT_LIST_HEAD(&ops->list);
	ftrace_ops_init_filter(ops);
	ops->flags |= FTRACE_OPS_FL_INITIALIZED;
}

/**
 * ftrace_ops_is_active - whether an ops is to be called at all
 * @ops: the ops
 *
 * Context: ftrace_lock is held.
 * Return: true if it is registered, and no place holder.
 */
bool ftrace_ops_is_active(const struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	return (ops->flags & (FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_STUB)) == FTRACE_OPS_FL_ENABLED;
}

/**
 * ftrace_ops_is_permanent - whether nothing of an ops can go away
 * @ops: the ops
 *
 * Of a graph user, register_ftrace_graph() has told with FTRACE_OPS_FL_DYNAMIC.
 * No trampoline names the memory of a direct ops, so it is its code that
 * counts. BPF's may go away, but BPF waits for the tasks in its images itself,
 * as only it knows the programs in them.
 *
 * Return: true if its memory and its code are there as long as the kernel.
 */
bool ftrace_ops_is_permanent(const struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return !is_module_text_address(ftrace_jmp_get(ops->direct_call));
	if (ops->flags & FTRACE_OPS_FL_DYNAMIC)
		return false;
	if (ops->flags & FTRACE_OPS_FL_GRAPH)
		return true;
	return is_kernel_core_data((unsigned long)ops->func) ||
	       core_kernel_text((unsigned long)ops->func);
}

/**
 * ftrace_ops_callback - the function by which an ops is listed
 * @ops: the ops
 *
 * Return: the callback that its owner knows, or the function that it calls directly; the
 * ops itself if that is another one for each site.
 */
void *ftrace_ops_callback(const struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return ops->direct_call ? (void *)ftrace_jmp_get(ops->direct_call) : (void *)ops;
	return ops->owner_func ?: ops->func;
}

/* Whether @direct is, and would have to know of the other one, and does not. */
static bool ops_is_blind_to(const struct ftrace_ops *direct, const struct ftrace_ops *other)
{
	return (direct->flags & FTRACE_OPS_FL_DIRECT) && (other->flags & FTRACE_OPS_FL_IPMODIFY) &&
	       !direct->ops_func;
}

/**
 * ftrace_ops_conflict - whether two ops can be on one site
 * @a: an ops
 * @b: another
 *
 * Only one ops can say where the function goes on, and only one be called
 * directly, as that one may call the function itself. Both together need one
 * that knows how (see share.c).
 *
 * Return: why they cannot; FTRACE_REFUSED_NOT, which is 0, if they can.
 */
enum ftrace_refusal ftrace_ops_conflict(const struct ftrace_ops *a, const struct ftrace_ops *b)
{
	unsigned long both = a->flags & b->flags;

	if (both & FTRACE_OPS_FL_IPMODIFY)
		return FTRACE_REFUSED_IPMODIFY;
	if (both & FTRACE_OPS_FL_DIRECT)
		return FTRACE_REFUSED_DIRECT;
	if (ops_is_blind_to(a, b) || ops_is_blind_to(b, a))
		return FTRACE_REFUSED_SHARE;
	return FTRACE_REFUSED_NOT;
}

/* Retiring */

static LIST_HEAD(ftrace_retired);

/* How much code is retired and not freed yet; and tasks that wait for it to be less. */
static size_t ftrace_retired_text;
static DECLARE_WAIT_QUEUE_HEAD(ftrace_retired_less);

#define FTRACE_RETIRED_MAX	SZ_4M

/**
 * ftrace_wait_for_tasks - wait until no task is in code that can't be entered
 *
 * Readers are traced functions, and code called by them, in three kinds of
 * places. Tasks may be preempted there: RCU-tasks waits until each has gone
 * through a voluntary switch or user space. Idle loops and the kernel's entry
 * run with RCU not watching, and RCU-tasks does not wait for idle tasks: the
 * rude flavour makes every CPU schedule.
 *
 * Context: sleeps; ftrace_lock is not held.
 */
void ftrace_wait_for_tasks(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}

static void ftrace_retire_work_func(struct work_struct *work)
{
	struct ftrace_retiree *retiree, *next;
	size_t text = 0;
	LIST_HEAD(list);

	scoped_guard(mutex, &ftrace_lock)
		list_splice_init(&ftrace_retired, &list);

	ftrace_wait_for_tasks();

	scoped_guard(mutex, &ftrace_lock) {
		list_for_each_entry(retiree, &list, node) {
			if (retiree->hide)
				retiree->hide(retiree);
		}
	}

	/* An unwinder may just have found one. */
	synchronize_rcu();
	list_for_each_entry_safe(retiree, next, &list, node) {
		text += retiree->text;
		retiree->free(retiree);
	}
	scoped_guard(mutex, &ftrace_lock)
		WRITE_ONCE(ftrace_retired_text, ftrace_retired_text - text);
	wake_up_all(&ftrace_retired_less);
}

static DECLARE_WORK(ftrace_retire_work, ftrace_retire_work_func);

/**
 * ftrace_retire - free something once no task or CPU can be using it
 * @retiree: part of an object that no new reader can find
 *
 * Context: ftrace_lock is held. Does not wait.
 */
void ftrace_retire(struct ftrace_retiree *retiree)
{
	lockdep_assert_held(&ftrace_lock);

	list_add_tail(&retiree->node, &ftrace_retired);
	WRITE_ONCE(ftrace_retired_text, ftrace_retired_text + retiree->text);
	/* Early in boot there are no workqueues; a later call takes it along. */
	if (system_dfl_wq)
		queue_work(system_dfl_wq, &ftrace_retire_work);
}

/**
 * ftrace_retired_is_full - whether too much code waits to be freed to make more
 *
 * Beside a task that never sleeps, nothing is freed. Callsets do without trampolines then.
 *
 * Context: any.
 */
bool ftrace_retired_is_full(void)
{
	return READ_ONCE(ftrace_retired_text) > FTRACE_RETIRED_MAX;
}

/**
 * ftrace_retired_wait - wait a little until new code can be made
 *
 * Context: process context, sleeps; ftrace_lock is not held.
 */
void ftrace_retired_wait(void)
{
	wait_event_timeout(ftrace_retired_less, !ftrace_retired_is_full(), HZ);
}
