// SPDX-License-Identifier: GPL-2.0
/*
 * The life cycle of ops: register, unregister, enable, disable, kill; the
 * functions that call an ops which needs help; and what waits for a grace
 * period before it is freed.
 *
 * Invariants:
 *  1. An ops is on ftrace_ops_registered exactly while FTRACE_OPS_FL_ENABLED
 *     is set, and only then do callsets name it.
 *  2. When unregister_ftrace_function() returns, no CPU enters the ops any
 *     more. Where its memory or code may go away (it is not part of the core
 *     kernel), no task is still inside either: its callers have counted who is.
 *
 * ftrace_lock covers all of it; see ftrace_internal.h for the lock order.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>

#include <asm/sections.h>

#include "ftrace_internal.h"
#include "trace.h"

/* Covers all state of function tracing; see ftrace_internal.h. */
DEFINE_MUTEX(ftrace_lock);

/* All ops that are attached or would be, were ftrace_enabled set; ftrace_lock. */
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
 * ftrace_ops_get_func - what a trampoline calls for an ops
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

/* Retiring */

static LIST_HEAD(ftrace_retired);

/**
 * ftrace_wait_for_tasks - wait until nobody is in code that can't be entered
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
	list_for_each_entry_safe(retiree, next, &list, node)
		retiree->free(retiree);
}

static DECLARE_WORK(ftrace_retire_work, ftrace_retire_work_func);

/**
 * ftrace_retire - free something once nobody can be using it
 * @retiree: part of an object that no new reader can find
 *
 * Context: ftrace_lock is held. Does not wait.
 */
void ftrace_retire(struct ftrace_retiree *retiree)
{
	lockdep_assert_held(&ftrace_lock);

	list_add_tail(&retiree->node, &ftrace_retired);
	/* Early in boot there are no workqueues; a later call takes it along. */
	if (system_unbound_wq)
		queue_work(system_unbound_wq, &ftrace_retire_work);
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
 * Return: true if it is registered and not switched off by the sysctl.
 */
bool ftrace_ops_is_active(const struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	if (!(ops->flags & FTRACE_OPS_FL_ENABLED) || (ops->flags & FTRACE_OPS_FL_STUB))
		return false;
	return ftrace_enabled || (ops->flags & FTRACE_OPS_FL_PERMANENT);
}

static bool ftrace_in_core_kernel(unsigned long addr)
{
	return is_kernel_core_data(addr) || core_kernel_text(addr);
}

/**
 * ftrace_ops_is_permanent - whether nothing of an ops can go away
 * @ops: the ops
 *
 * No trampoline names the memory of a direct ops, so it is its code that
 * counts. BPF's may go away, but BPF waits for the tasks in its images itself,
 * as only it knows what they call.
 *
 * Return: true if its memory and its code are there as long as the kernel.
 */
bool ftrace_ops_is_permanent(const struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return !is_module_text_address(ftrace_ops_direct(ops));
	if (ops->flags & FTRACE_OPS_FL_DYNAMIC)
		return false;
	if (ops->flags & FTRACE_OPS_FL_GRAPH)
		return fgraph_ops_in_core_kernel(ops);
	return ftrace_in_core_kernel((unsigned long)ops->func);
}

static int ftrace_ops_check(struct ftrace_ops *ops)
{
	if (ftrace_disabled)
		return -ENODEV;
	if (ops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	if (!ops->func)
		return -EINVAL;
	if ((ops->flags & FTRACE_OPS_FL_PERMANENT) && !ftrace_enabled)
		return -EBUSY;

	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED &&
	    IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		ops->flags |= FTRACE_OPS_FL_SAVE_REGS;
	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS &&
	    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return -EINVAL;

	/* Nobody can claim where all functions go on. */
	if ((ops->flags & FTRACE_OPS_FL_IPMODIFY) && ftrace_ops_is_everywhere(ops))
		return -EINVAL;
	return 0;
}

/**
 * ftrace_ops_register - check an ops and attach it
 * @ops: the ops, as for register_ftrace_function()
 *
 * Context: process context, sleeps; takes ftrace_lock. Where there are direct calls,
 * an ops that is one or has FTRACE_OPS_FL_IPMODIFY comes here through
 * ftrace_direct.c, which holds its own mutex.
 * Return: as for register_ftrace_function().
 */
int ftrace_ops_register(struct ftrace_ops *ops)
{
	int ret;

	guard(mutex)(&ftrace_lock);

	ftrace_ops_init(ops);
	ret = ftrace_ops_check(ops);
	if (ret)
		return ret;
	return ftrace_attach(ops);
}

/**
 * register_ftrace_function - call an ops at every site that its filter wants
 * @ops: the ops; its func and flags do not change while it is registered, and
 *	 its memory stays until unregister_ftrace_function() has returned
 *
 * Context: process context, sleeps; takes ftrace_lock.
 * Return: 0; -EBUSY if it is registered already, or if a site is taken by
 * another ops with FTRACE_OPS_FL_IPMODIFY, or if it is permanent and the
 * sysctl kernel.ftrace_enabled is 0; -EINVAL for flags that do not go
 * together; -ENODEV after ftrace_kill(); -ENOMEM. On failure nothing changed.
 */
int register_ftrace_function(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
		return ftrace_direct_register_peer(ops);
	return ftrace_ops_register(ops);
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

/**
 * ftrace_ops_unregister - detach an ops
 * @ops: the ops
 *
 * Context: process context, sleeps; takes ftrace_lock. Does not wait for tasks
 * that are in what @ops calls.
 * Return: as unregister_ftrace_function().
 */
int ftrace_ops_unregister(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return -ENODEV;
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;
	ftrace_detach(ops);
	return 0;
}

/**
 * unregister_ftrace_function - stop calling an ops
 * @ops: the ops
 *
 * Context: process context, sleeps; takes ftrace_lock. If the ops or its callback
 * may be freed, being part of a module or allocated, waits until nobody is inside
 * of the callback; not for any other task.
 * Return: 0; -EBUSY if it is not registered; -ENODEV after ftrace_kill(), for
 * then the sites cannot be switched any more.
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret = ftrace_ops_unregister(ops);

	if (ret)
		return ret;
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
		ftrace_direct_unregister_peer(ops);
	ftrace_ops_wait(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

/* Switching it all off */

/**
 * ftrace_kill - stop function tracing until the next boot
 *
 * What is attached stays attached, as switching may be what went wrong. No
 * transaction begins from now on; one that is under way ends.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	ftrace_disabled = 1;
	ftrace_enabled = 0;
	kprobe_ftrace_kill();
}

/**
 * ftrace_is_dead - whether ftrace_kill() was called
 *
 * Return: nonzero if it was.
 */
int ftrace_is_dead(void)
{
	return ftrace_disabled;
}

#ifdef CONFIG_SYSCTL
static bool ftrace_has_permanent_ops(void)
{
	struct ftrace_ops *ops;

	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		if (ops->flags & FTRACE_OPS_FL_PERMANENT)
			return true;
	}
	return false;
}

static int ftrace_enabled_sysctl(const struct ctl_table *table, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	int enabled, ret;
	struct ctl_table copy = *table;

	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return -ENODEV;

	enabled = ftrace_enabled;
	copy.data = &enabled;
	ret = proc_dointvec(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;
	if (!enabled && ftrace_has_permanent_ops())
		return -EBUSY;

	/* It reads as it was written; anything but 0 is on. */
	swap(ftrace_enabled, enabled);
	if (!!enabled == !!ftrace_enabled)
		return 0;
	ret = ftrace_update_all();
	if (ret) {
		ftrace_enabled = enabled;
		ftrace_update_all();
	}
	return ret;
}

static struct ctl_table ftrace_sysctls[] = {
	{
		.procname	= "ftrace_enabled",
		.data		= &ftrace_enabled,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= ftrace_enabled_sysctl,
	},
};

static int __init ftrace_sysctl_init(void)
{
	register_sysctl_init("kernel", ftrace_sysctls);
	return 0;
}
late_initcall(ftrace_sysctl_init);
#endif

/* The ops of trace arrays */

/**
 * ftrace_init_global_array_ops - give the top instance its ops
 * @tr: the top instance
 *
 * Context: boot.
 */
void __init ftrace_init_global_array_ops(struct trace_array *tr)
{
	ftrace_ops_init(&global_ops);
	tr->ops = &global_ops;
	tr->ops->private = tr;
	ftrace_init_trace_array(tr);
	init_array_fgraph_ops(tr, tr->ops);
}

/**
 * ftrace_init_array_ops - set the callback of an instance's ops
 * @tr: the instance, whose ops is not registered
 * @func: the callback
 */
void ftrace_init_array_ops(struct trace_array *tr, ftrace_func_t func)
{
	WARN_ONCE(tr->ops->flags & FTRACE_OPS_FL_ENABLED, "%s: %pS is still registered\n",
		  tr->name ?: "top", tr->ops->func);
	tr->ops->func = func;
	tr->ops->private = tr;
}

/**
 * ftrace_reset_array_ops - take an instance's ops out of use
 * @tr: the instance, whose ops is not registered
 */
void ftrace_reset_array_ops(struct trace_array *tr)
{
	tr->ops->func = ftrace_stub;
}
