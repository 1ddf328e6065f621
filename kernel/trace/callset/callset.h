/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Callsets (callset.c), their numbers (callset_map.c), and the code that is made
 * for them: by its addresses (code.c), and stubs, which count the calls of one site
 * each (stubs.c).
 */
#ifndef _KERNEL_TRACE_CALLSET_CALLSET_H
#define _KERNEL_TRACE_CALLSET_CALLSET_H

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/rbtree_latch.h>
#include <linux/types.h>

#include "ops.h"
#include "sites.h"

/* callset.c */

/**
 * struct ftrace_callset_link - a callset's link to one of its ops
 * @node: in the ops' list of callsets; unhashed once the ops is silenced here
 * @cs: the callset
 * @gate: counts the tasks inside of the ops; NULL if nothing of the ops can go away
 */
struct ftrace_callset_link {
	struct hlist_node	node;
	struct ftrace_callset	*cs;
	struct ftrace_gate	*gate;
};

/**
 * struct ftrace_code - code that was made for a callset: its trampoline, or stubs
 * @tree: in the tree of all
 * @cs: the callset
 * @start: where it begins
 * @size: how many bytes it has
 * @name: its name
 */
struct ftrace_code {
	struct latch_tree_node	tree;
	struct ftrace_callset	*cs;
	unsigned long		start;
	unsigned int		size;
	const char		*name;
};

/**
 * struct ftrace_callset - the ops that a site calls, in order
 * @nr: its number, as in the records; never 0
 * @nr_sites: how many records name it; ftrace_lock
 * @flags: OR of its ops' FTRACE_OPS_FL_SAVE_REGS and _IPMODIFY
 * @gaining: a transaction that is being planned brings sites
 * @leaving: an ops of it is being detached
 * @pinned: altered text may lead to it, so it stays
 * @nr_ops: how many @ops
 * @nr_funcs: how many of them are functions to call, the first ones
 * @nr_graph: how many of them, after those, are of a struct fgraph_ops
 * @nr_gone: how many of them are silenced
 * @direct: the last one if that is direct, or NULL
 * @direct_addr: the function that is called for @direct; 0 without one
 * @graph_func: the function that is called for those of a struct fgraph_ops
 * @counting: one of its ops counts calls
 * @one: arch_ftrace_ops_list_func() calls its one ops as it is
 * @counts: where the stubs of its sites count on their way to @tramp, for the first
 *	    ops that does; NULL if the sites call @target
 * @stubs: the stubs
 * @successor: where its sites go, if @leaving; itself if they stay
 * @target: the code that its sites call
 * @tramp: its trampoline; 0 where @target is another's code
 * @tramp_size: bytes of code at @tramp
 * @arch: the trampoline as the architecture knows it
 * @hash: in the hash of callsets by their ops
 * @idle: in the list of those without sites
 * @code: its trampoline, to be found
 * @retiree: frees the callset and its trampoline
 * @entry: the word at a site points here, on an architecture that has such a word
 * @link: for each of @ops
 * @ops: functions, first one with FTRACE_OPS_FL_IPMODIFY, graph users, direct; each by
 *	 ascending ops->seq, that is, in the order of registration
 *
 * All that a trampoline or arch_ftrace_ops_list_func() uses is constant once the callset is
 * published, but for an ops that is silenced: see ftrace_callset_silence().
 *
 * Architectures do not know it: they are told by struct ftrace_tramp_desc.
 */
struct ftrace_callset {
	u32			nr;
	unsigned int		nr_sites;
	bool			gaining;
	bool			leaving;
	bool			pinned;
	bool			counting;
	bool			one;
	unsigned long		flags;
	unsigned int		nr_ops;
	unsigned int		nr_funcs;
	unsigned int		nr_graph;
	unsigned int		nr_gone;
	unsigned int		tramp_size;
	struct ftrace_ops	*direct;
	unsigned long		direct_addr;
	struct ftrace_counts	*counts;
	struct list_head	stubs;
	ftrace_graph_func_t	graph_func;
	struct ftrace_callset	*successor;
	unsigned long		target;
	unsigned long		tramp;
	struct ftrace_tramp	*arch;
	struct hlist_node	hash;
	struct list_head	idle;
	struct ftrace_code	code;
	struct ftrace_retiree	retiree;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
	struct ftrace_ops	entry;
#endif
	struct ftrace_callset_link *link;
	struct ftrace_ops	*ops[] __counted_by(nr_ops);
};

/**
 * ftrace_callset_is_plain - whether a site may call the one ops of a callset as it is
 * @cs: the callset
 *
 * Such an ops protects itself from recursion. It may have a gate.
 *
 * Context: ftrace_lock is held.
 * Return: whether that is all there is to call.
 */
static inline bool ftrace_callset_is_plain(const struct ftrace_callset *cs)
{
	return cs->nr_ops == 1 && cs->nr_funcs == 1 && !cs->ops[0]->counts &&
	       !(cs->ops[0]->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU));
}

struct ftrace_callset *ftrace_callset_at(unsigned long ip);
struct ftrace_callset *ftrace_callset_with(struct ftrace_callset *cs, struct ftrace_ops *ops,
					   unsigned long addr);
struct ftrace_callset *ftrace_callset_without(struct ftrace_callset *cs, struct ftrace_ops *ops);
bool ftrace_callset_has(const struct ftrace_callset *cs, const struct ftrace_ops *ops);
void ftrace_callset_add_sites(struct ftrace_callset *cs, int nr);
int ftrace_callsets_establish(void);
int ftrace_callset_establish(struct ftrace_callset *cs);
void ftrace_callset_retarget(struct ftrace_callset_link *link, struct ftrace_patch *patch,
			     ftrace_func_t to);
void ftrace_callset_silence(struct ftrace_callset_link *link, struct ftrace_patch *patch);
void ftrace_callsets_drop_idle(void);
int ftrace_callset_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			   const struct ftrace_record *rec, unsigned int nr);
unsigned long ftrace_callset_target(const struct ftrace_callset *cs);

/* The callsets that call an ops, by their links to it; ftrace_lock is held. */
#define for_each_ftrace_link(link, ops)					\
	hlist_for_each_entry(link, &(ops)->callsets, node)

#define for_each_ftrace_link_safe(link, next, ops)			\
	hlist_for_each_entry_safe(link, next, &(ops)->callsets, node)

/* Whether the callset's sites call the direct function without a trampoline. */
static inline bool ftrace_callset_is_direct(const struct ftrace_callset *cs)
{
	return cs->direct && cs->nr_ops == 1;
}

/* callset_map.c */
extern u32 ftrace_callset_limit;

/* Read it with ftrace_callset_only(). */
extern struct ftrace_callset *__ftrace_callset_only;

struct ftrace_callset *ftrace_callset_get(u32 nr);
struct ftrace_callset *ftrace_callset_next(u32 *nr);
bool ftrace_callset_has_numbers(u32 nr);
int ftrace_callset_number(struct ftrace_callset *cs);
void ftrace_callset_free_number(const struct ftrace_callset *cs);

#define for_each_ftrace_callset(cs, nr)					\
	for ((nr) = 0, (cs) = ftrace_callset_next(&(nr)); (cs);		\
	     (cs) = ftrace_callset_next(&(nr)))

/**
 * ftrace_callset_only - the callset of all sites that call something
 *
 * For code that each of these calls, where to search for the site's would take longer.
 *
 * Context: on the way from a site, in any context.
 * Return: the callset; NULL if there are more, or where calls do not search.
 */
static __always_inline struct ftrace_callset *ftrace_callset_only(void)
{
	return FTRACE_CALLS_SEARCH ? READ_ONCE(__ftrace_callset_only) : NULL;
}

/* code.c */

/* The names in /proc/kallsyms and perf of a trampoline, of stubs, and of their module. */
#define FTRACE_TRAMPOLINE_SYM	"ftrace_trampoline"
#define FTRACE_STUB_SYM		"ftrace_counting_stubs"
#define FTRACE_TRAMPOLINE_MOD	"__builtin__ftrace"

void ftrace_code_add(struct ftrace_code *code);
void ftrace_code_remove(struct ftrace_code *code);
struct ftrace_code *ftrace_code_find(unsigned long addr);

/* stubs.c */
#ifndef ARCH_FTRACE_STUB_SIZE
#define ARCH_FTRACE_STUB_SIZE	0
#endif

/* Where there are no stubs, the compiler sees that all functions below are not called. */
static inline bool ftrace_stubs_used(const struct ftrace_callset *cs)
{
	return ARCH_FTRACE_STUB_SIZE && cs->counts;
}

int ftrace_stubs_reserve(struct ftrace_callset *cs, struct ftrace_table *table,
			 const struct ftrace_record *rec, unsigned int nr);
unsigned int ftrace_stubs_target(const struct ftrace_callset *cs, const struct ftrace_table *table,
				 const struct ftrace_record *rec, unsigned int nr,
				 unsigned long *target);
void ftrace_stubs_hide(struct ftrace_callset *cs);
void ftrace_stubs_free(struct ftrace_callset *cs);
void ftrace_stubs_forget_table(struct ftrace_callset *cs, const struct ftrace_table *table);

#endif /* _KERNEL_TRACE_CALLSET_CALLSET_H */
