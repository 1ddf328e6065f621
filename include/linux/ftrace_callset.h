/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of an ops and of a record, where callsets are the engine of function
 * tracing (CONFIG_FTRACE_CALLSETS). All that the two engines have in common is in
 * ftrace.h, which includes this header.
 */
#ifndef _LINUX_FTRACE_CALLSET_H
#define _LINUX_FTRACE_CALLSET_H

#ifndef _LINUX_FTRACE_H
#error "include linux/ftrace.h"
#endif

#include <linux/list.h>
#include <linux/types.h>

struct fgraph_ops;
struct ftrace_callset;
struct ftrace_counts;
struct ftrace_gate;
struct ftrace_hash;
struct ftrace_ret_stack;
struct ftrace_site_set;
struct task_struct;

/* Called for the graph users of a callset: @retp is where the return address stands. */
typedef void (*ftrace_graph_func_t)(unsigned long ip, unsigned long *retp,
				    struct ftrace_callset *cs, struct ftrace_regs *fregs);

/**
 * struct ftrace_filter - the sites that an ops wants
 * @only: the sites to attach to; NULL stands for every site
 * @not: sites to leave out of @only, or NULL
 * @waiting: words for @only that wait for their modules
 * @waiting_not: words for @not that do
 * @throttled: sites that its guarded ops do not get for a time, or NULL
 * @pending: on the list of filters that modules concern
 * @users: the registered ops whose filter it is
 *
 * Protected by ftrace_lock.
 */
struct ftrace_filter {
	struct ftrace_site_set	*only;
	struct ftrace_site_set	*not;
	struct ftrace_site_set	*throttled;
	struct list_head	waiting;
	struct list_head	waiting_not;
	struct list_head	pending;
	struct hlist_head	users;
};

/**
 * struct ftrace_ops - a subscriber to calls of functions
 * @func: the callback
 * @flags: FTRACE_OPS_FL_*
 * @private: the owner's
 * @ops_func: asked by a direct ops' sharing of a site, see enum ftrace_ops_cmd
 * @direct_call: the function that the sites of a direct ops call; 0 if each site has
 *		 a function of its own
 * @direct_hash: while a transaction gives sites such functions, the functions
 * @saved_func: the owner's callback while @func is another
 * @choose_func: chooses @func
 * @owner_func: the function by which it is listed, if that is not @func
 * @list: in the list of those that are registered
 * @guarded: it does not get the sites that its filter has as throttled
 * @moves: its callback may change where the function goes on, and so may others'
 * @own_filter: its filter, unless it uses another's
 * @filter: its filter
 * @filter_user: in the list of the users of @filter
 * @callsets: the callsets that call it, by their links
 * @gate: counts the tasks inside, if it may go away
 * @counts: where its sites count, or NULL
 * @seq: the number of its registration
 * @graph_func: called for callsets with this graph user
 * @sole_func: called instead where it is the sole graph user; its callback then may look at
 *	       no registers but the arguments, unless @sole_regs is set
 * @sole_ret: takes the return of a call that @sole_func has hooked; false if it cannot
 * @sole_regs: @sole_func gets the address and the stack, too, as @graph_func does
 * @quick: @sole_func may hook calls without asking the callback
 * @graph_meta: its index and generation, as in a meta word of return stacks
 *
 * An owner sets the first four. All others are private to kernel/trace/callset/.
 */
struct ftrace_ops {
	ftrace_func_t		func;
	unsigned long		flags;
	void			*private;
	ftrace_ops_func_t	ops_func;
	unsigned long		direct_call;
	struct ftrace_hash	*direct_hash;
	ftrace_func_t		saved_func;
	void			(*choose_func)(struct ftrace_ops *ops);
	void			*owner_func;
	struct list_head	list;
	bool			guarded;
	bool			moves;
	struct ftrace_filter	own_filter;
	struct ftrace_filter	*filter;
	struct hlist_node	filter_user;
	struct hlist_head	callsets;
	struct ftrace_gate	*gate;
	struct ftrace_counts	*counts;
	unsigned int		seq;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	ftrace_graph_func_t	graph_func;
	ftrace_graph_func_t	sole_func;
	bool			(*sole_ret)(struct task_struct *task,
					    const struct ftrace_ret_stack *frame,
					    struct ftrace_regs *fregs, struct fgraph_ops *gops);
	bool			sole_regs;
	bool			quick;
	u64			graph_meta;
#endif
};

/**
 * struct ftrace_record - a site at run time
 * @offset: of the site from the base of its table, in bytes
 * @state: callset number and flags, see kernel/trace/callset/sites.h
 */
struct ftrace_record {
	u32			offset;
	u32			state;
};

#endif /* _LINUX_FTRACE_CALLSET_H */
