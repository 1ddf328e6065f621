/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ops by themselves, and retiring. See ops.c.
 *
 * Words: a site is one compiler-made call at the head of a function; a record
 * (struct ftrace_record) is a site at run time; a table holds the sorted records
 * of one piece of text; a callset is the ordered list of ops that a site
 * calls; a transaction changes the callsets of many sites as a whole.
 *
 * ftrace_lock covers the list of ops, all filters, the tables, the callsets and
 * every transaction. arch_ftrace_ops_list_func() and ftrace_site_find() run without it:
 * retired objects are freed only after the grace periods that ftrace_retire()
 * names. Documentation/trace/ftrace-internals.rst has the order of all locks.
 */
#ifndef _KERNEL_TRACE_CALLSET_OPS_H
#define _KERNEL_TRACE_CALLSET_OPS_H

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

/**
 * enum ftrace_refusal - why an ops is not attached to a site
 * @FTRACE_REFUSED_NOT: it is
 * @FTRACE_REFUSED_IPMODIFY: both it and the holder have FTRACE_OPS_FL_IPMODIFY
 * @FTRACE_REFUSED_DIRECT: both it and the holder are direct
 * @FTRACE_REFUSED_SHARE: one is direct, the other has FTRACE_OPS_FL_IPMODIFY
 * @FTRACE_REFUSED_QUARANTINE: the text of the site differs from its record
 */
enum ftrace_refusal {
	FTRACE_REFUSED_NOT,
	FTRACE_REFUSED_IPMODIFY,
	FTRACE_REFUSED_DIRECT,
	FTRACE_REFUSED_SHARE,
	FTRACE_REFUSED_QUARANTINE,
};

/**
 * struct ftrace_retiree - something that readers without a lock may still use
 * @node: links the ones that wait
 * @hide: if not NULL, called with ftrace_lock held once no task or CPU can be
 *	  in code that is going away; makes the object unfindable
 * @free: called once no reader is left
 * @text: how many bytes of code go with it
 */
struct ftrace_retiree {
	struct list_head	node;
	size_t			text;
	void			(*hide)(struct ftrace_retiree *retiree);
	void			(*free)(struct ftrace_retiree *retiree);
};

extern struct mutex ftrace_lock;
extern struct ftrace_ops global_ops;
extern struct list_head ftrace_ops_registered;
extern int ftrace_disabled;

void ftrace_ops_init(struct ftrace_ops *ops);
bool ftrace_ops_is_active(const struct ftrace_ops *ops);
bool ftrace_ops_is_permanent(const struct ftrace_ops *ops);
void ftrace_retire(struct ftrace_retiree *retiree);
bool ftrace_retired_is_full(void);
void ftrace_retired_wait(void);
void ftrace_wait_for_tasks(void);
void *ftrace_ops_callback(const struct ftrace_ops *ops);
enum ftrace_refusal ftrace_ops_conflict(const struct ftrace_ops *a, const struct ftrace_ops *b);

/*
 * For the functions that call several ops; its protection is the caller's. A site that
 * still calls ftrace_caller, while its record names a callset with FTRACE_OPS_FL_SAVE_REGS,
 * has no registers for an ops that asks for them. Such an ops is not attached yet.
 */
static __always_inline void ftrace_ops_call(unsigned long ip, unsigned long parent_ip,
					    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	unsigned long flags = ops->flags & (FTRACE_OPS_FL_RCU | FTRACE_OPS_FL_SAVE_REGS);

	if (unlikely(flags)) {
		if ((flags & FTRACE_OPS_FL_RCU) && !rcu_is_watching())
			return;
		if ((flags & FTRACE_OPS_FL_SAVE_REGS) && !ftrace_get_regs(fregs))
			return;
	}
	ops->func(ip, parent_ip, ops, fregs);
}

/* A filter that wants every site. */
static inline void ftrace_filter_init(struct ftrace_filter *filter)
{
	INIT_LIST_HEAD(&filter->waiting);
	INIT_LIST_HEAD(&filter->waiting_not);
	INIT_LIST_HEAD(&filter->pending);
}

static inline void ftrace_ops_init_filter(struct ftrace_ops *ops)
{
	ftrace_filter_init(&ops->own_filter);
	ops->filter = &ops->own_filter;
}

/* Whether nothing says which sites an ops is for. */
static inline bool ftrace_ops_is_everywhere(const struct ftrace_ops *ops)
{
	return !ops->filter->only;
}

#endif /* _KERNEL_TRACE_CALLSET_OPS_H */
