/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of sites. See site_set.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_SITE_SET_H
#define _KERNEL_TRACE_CALLSET_SITE_SET_H

#include <linux/cleanup.h>
#include <linux/compiler_attributes.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/sched/signal.h>
#include <linux/types.h>

#include "ops.h"

/**
 * struct ftrace_site_set - sorted addresses of sites
 * @retiree: frees a set that is read without a lock
 * @nr: number of addresses
 * @room: number of those that it has memory for
 * @lost: it, or a set that it was made of, had sites of text that is gone
 * @ip: strictly ascending
 */
struct ftrace_site_set {
	struct ftrace_retiree	retiree;
	unsigned int		nr;
	unsigned int		room;
	bool			lost;
	unsigned long		ip[] __counted_by(nr);
};

/*
 * For lists of sites. Few callers expect that to take sites away fails, and a task that is killed
 * does so, too: vmalloc() gives up there, unless it must not.
 */
static inline gfp_t ftrace_list_gfp(void)
{
	return GFP_KERNEL | (fatal_signal_pending(current) ? __GFP_NOFAIL : 0);
}

struct ftrace_site_set *ftrace_site_set_alloc(unsigned int nr);
void ftrace_site_set_free(struct ftrace_site_set *set);
struct ftrace_site_set *ftrace_site_set_dup(const struct ftrace_site_set *set);
struct ftrace_site_set *ftrace_site_set_union(const struct ftrace_site_set *a,
					      const struct ftrace_site_set *b);
struct ftrace_site_set *ftrace_site_set_minus(const struct ftrace_site_set *a,
					      const struct ftrace_site_set *b);
bool ftrace_site_set_meets(const struct ftrace_site_set *set, unsigned long start,
			   unsigned long end);
int ftrace_site_set_replace(struct ftrace_site_set **set, struct ftrace_site_set *with);
int ftrace_site_set_append(struct ftrace_site_set **set, unsigned long ip);
void ftrace_site_set_sort(struct ftrace_site_set *set);
void ftrace_site_set_forget(struct ftrace_site_set *set, unsigned long start, unsigned long end);

/* A variable with __free(site_set) may also hold an ERR_PTR. Mostly it is NULL by then. */
static inline void ftrace_site_set_cleanup(struct ftrace_site_set *set)
{
	if (!IS_ERR_OR_NULL(set))
		ftrace_site_set_free(set);
}

DEFINE_FREE(site_set, struct ftrace_site_set *, ftrace_site_set_cleanup(_T))

static inline bool ftrace_site_set_has(const struct ftrace_site_set *set, unsigned long ip)
{
	return ftrace_site_set_meets(set, ip, ip + 1);
}

static inline unsigned int ftrace_site_set_nr(const struct ftrace_site_set *set)
{
	return set ? set->nr : 0;
}

static inline bool ftrace_site_set_lost(const struct ftrace_site_set *set)
{
	return set && set->lost;
}

#endif /* _KERNEL_TRACE_CALLSET_SITE_SET_H */
