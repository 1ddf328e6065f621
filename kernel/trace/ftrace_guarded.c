// SPDX-License-Identifier: GPL-2.0
/*
 * Guarded ops, whose calls are counted by an ops of its own, the guard; and the sites
 * that they had to leave because they are called too often (trace_guard.c).
 *
 * Invariants:
 *  1. A callset calls the guard exactly if it calls a guarded ops, while the guard is
 *     registered. That is so whichever of them comes or goes first.
 *  2. No guarded ops is attached to a site in ftrace_guarded_out.
 *
 * ftrace_lock covers all of it.
 */
#include <linux/ftrace.h>
#include <linux/lockdep.h>

#include "ftrace_guarded.h"
#include "ftrace_ops.h"
#include "ftrace_site_set.h"

/* Registered, or NULL. It wants every site, and gets those of guarded ops. */
struct ftrace_ops *ftrace_guard;

/* NULL if there are none. */
struct ftrace_site_set *ftrace_guarded_out;

/**
 * ftrace_guarded_list - put the guard into a list of ops, or take it out
 * @list: the ops of a callset that is wanted; the guard, if it is there, is the first
 * @nr: how many; there is room for one more
 *
 * Context: ftrace_lock is held.
 * Return: how many there are now.
 */
unsigned int ftrace_guarded_list(struct ftrace_ops **list, unsigned int nr)
{
	bool guarded = false, has;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_guard)
		return nr;
	has = nr && list[0] == ftrace_guard;
	for (unsigned int i = 0; i < nr; i++)
		guarded |= !!list[i]->guarded;
	if (guarded == has)
		return nr;
	if (guarded) {
		memmove(list + 1, list, nr * sizeof(*list));
		list[0] = ftrace_guard;
		return nr + 1;
	}
	memmove(list, list + 1, (nr - 1) * sizeof(*list));
	return nr - 1;
}

/**
 * ftrace_guarded_forget_range - forget sites whose text is going away
 * @start: the first address
 * @end: the first one after it
 *
 * Context: ftrace_lock is held.
 */
void ftrace_guarded_forget_range(unsigned long start, unsigned long end)
{
	lockdep_assert_held(&ftrace_lock);

	ftrace_site_set_forget(ftrace_guarded_out, start, end);
}
