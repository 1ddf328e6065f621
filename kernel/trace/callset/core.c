// SPDX-License-Identifier: GPL-2.0
/*
 * The life cycle of ops: register, unregister, enable, disable, kill; and the ops
 * of trace arrays.
 *
 * Invariants:
 *  1. An ops is on ftrace_ops_registered exactly while FTRACE_OPS_FL_ENABLED
 *     is set, and only then do callsets name it.
 *  2. When unregister_ftrace_function() returns, no CPU enters the ops any
 *     more. Where its memory or code may go away (it is not part of the core
 *     kernel), no task is still inside either: its callers have counted the tasks.
 *
 * ftrace_lock covers all of it; see ops.h for the lock order.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>

#include "attach.h"
#include "ops.h"
#include "pid.h"
#include "register.h"
#include "../trace.h"

/* Whether direct ops have to know of it. */
static bool core_ops_is_shared(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_IPMODIFY;
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
	if (core_ops_is_shared(ops))
		return ftrace_share_register(ops);
	ftrace_retired_wait();
	guard(mutex)(&ftrace_lock);
	return ftrace_ops_register(ops);
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

/**
 * unregister_ftrace_function - stop calling an ops
 * @ops: the ops
 *
 * Context: process context, sleeps; takes ftrace_lock. If the ops or its callback
 * may be freed, being part of a module or allocated, waits until no task is inside
 * of the callback; not for any other task, unless it has FTRACE_OPS_FL_IPMODIFY.
 * Return: 0; -EBUSY if it is not registered.
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_ops_unregister(ops);
	if (ret)
		return ret;
	if (core_ops_is_shared(ops))
		ftrace_share_unregister(ops);
	ftrace_ops_wait(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

/* Switching it all off */

/**
 * ftrace_kill - stop function tracing until the next boot
 *
 * No ops is registered any more. Those that are can still go.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	ftrace_disabled = 1;
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
/* It reads as it was written; anything but 0 is on. */
static int ftrace_enabled_sysctl(const struct ctl_table *table, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	int enabled, ret;
	const struct ctl_table copy = { .data = &enabled, .maxlen = sizeof(enabled) };

	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return -ENODEV;
	enabled = ftrace_enabled;
	ret = proc_dointvec(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;
	if (!enabled) {
		pr_warn_once("kernel.ftrace_enabled is deprecated: tracing stays on\n");
		return -EOPNOTSUPP;
	}
	ftrace_enabled = enabled;
	return 0;
}

static const struct ctl_table ftrace_sysctls[] = {
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

/* Trace arrays */

/**
 * ftrace_init_global_array_ops - give the top instance its ops
 * @tr: the top instance
 */
void __init ftrace_init_global_array_ops(struct trace_array *tr)
{
	tr->ops = &global_ops;
	global_ops.private = tr;
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
	tr->ops->choose_func = ftrace_pid_update_ops;
	tr->ops->guarded = true;
}

/**
 * ftrace_reset_array_ops - take an instance's ops out of use
 * @tr: the instance, whose ops is not registered
 */
void ftrace_reset_array_ops(struct trace_array *tr)
{
	tr->ops->func = ftrace_stub;
	tr->ops->guarded = false;
}
