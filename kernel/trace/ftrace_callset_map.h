/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which callset has which number. See ftrace_callset_map.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_CALLSET_MAP_H
#define _KERNEL_TRACE_FTRACE_CALLSET_MAP_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "ftrace_sites.h"

struct ftrace_callset;

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

#endif /* _KERNEL_TRACE_FTRACE_CALLSET_MAP_H */
