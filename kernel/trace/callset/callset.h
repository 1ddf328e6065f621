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
#include <linux/types.h>

#include "sites.h"

/* callset.c */
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
