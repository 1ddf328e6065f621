// SPDX-License-Identifier: GPL-2.0
/*
 * Static function tracing: the sites are not switched. Each function calls
 * __fentry__ at all times, which returns at once while ftrace_trace_function is
 * ftrace_stub, and otherwise calls that function. There are no records, no
 * filters and no trampolines; every ops that is registered gets every call.
 *
 * Invariants:
 *  1. ftrace_trace_function is ftrace_list_func() while an active ops is
 *     registered, and ftrace_stub otherwise.
 *  2. An ops that has left ftrace_ops_registered leads on to its rest until
 *     all walks of the list that may have met it are over. Only then is it used
 *     again.
 *
 * ftrace_lock covers the list and ftrace_trace_function. ftrace_list_func()
 * runs without it, wherever a function is called, NMIs included.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/trace_recursion.h>

#include <asm/sections.h>

#include "attach.h"
#include "gate.h"
#include "ops.h"
#include "../trace.h"

/* The function that __fentry__ calls. It looks here for each call of each function. */
ftrace_func_t ftrace_trace_function __read_mostly = ftrace_stub;

/**
 * ftrace_list_func - call all ops
 * @ip: the site
 * @parent_ip: where its function returns to
 * @op: ignored
 * @fregs: ignored; no registers are saved
 *
 * Context: any that can be traced, NMI included.
 */
void ftrace_list_func(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_ops *ops;
	int bit;

	/* Disables preemption, as the gate wants it. */
	bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	if (bit < 0)
		return;

	ftrace_gate_enter(&ftrace_list_gate);
	list_for_each_entry_lockless(ops, &ftrace_ops_registered, list)
		ftrace_ops_call(ip, parent_ip, ops, NULL);
	ftrace_gate_leave(&ftrace_list_gate);

	trace_clear_recursion(bit);
}

NOKPROBE_SYMBOL(ftrace_list_func);

static void static_update(void)
{
	ftrace_func_t func = ftrace_stub;
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		if (ftrace_ops_is_active(ops))
			func = ftrace_list_func;
	}
	WRITE_ONCE(ftrace_trace_function, func);
}

/**
 * ftrace_attach - register an ops, which gets every call from now on
 * @ops: initialized and not registered
 *
 * Context: ftrace_lock is held.
 * Return: 0.
 */
int ftrace_attach(struct ftrace_ops *ops)
{
	if (!is_kernel_core_data((unsigned long)ops))
		ops->flags |= FTRACE_OPS_FL_DYNAMIC;
	ops->saved_func = ops->func;
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	if (ops->choose_func)
		ops->choose_func(ops);
	list_add_tail_rcu(&ops->list, &ftrace_ops_registered);
	static_update();
	return 0;
}

/**
 * ftrace_detach - unregister an ops
 * @ops: registered
 *
 * Context: ftrace_lock is held; sleeps. On return no CPU is in the ops any more.
 */
void ftrace_detach(struct ftrace_ops *ops)
{
	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	list_del_rcu(&ops->list);
	static_update();

	/* A walk of the list may be anywhere in it. */
	ftrace_gate_close();
	ftrace_gate_wait_each(&ftrace_list_gate);
	INIT_LIST_HEAD(&ops->list);
	ops->func = ops->saved_func;
}

/**
 * ftrace_ops_wait - wait until no task is inside of an ops
 * @ops: detached; ftrace_detach() has waited
 *
 * Context: any.
 */
void ftrace_ops_wait(struct ftrace_ops *ops)
{
}

/**
 * ftrace_update_all - call all ops or stop calling them, as ftrace_enabled says
 *
 * Context: ftrace_lock is held.
 * Return: 0.
 */
int ftrace_update_all(void)
{
	static_update();
	return 0;
}

/**
 * ftrace_ops_set_func - change the callback of an ops
 * @ops: the ops
 * @func: its new callback
 *
 * Context: ftrace_lock is held. A CPU may still be in the old callback on return.
 */
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(ops->func, func);
}

/**
 * ftrace_init_tracefs_toplevel - make the files that only the top instance has
 * @tr: the top instance
 * @d_tracer: its directory
 *
 * They are about sites, of which there are no records here.
 */
void __init ftrace_init_tracefs_toplevel(struct trace_array *tr, struct dentry *d_tracer)
{
}
