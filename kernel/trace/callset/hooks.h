/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lines of the file hooks, and the file. See hooks.c and hooks_file.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_HOOKS_H
#define _KERNEL_TRACE_CALLSET_HOOKS_H

#include <linux/limits.h>
#include <linux/list.h>
#include <linux/types.h>

struct dentry;

/* No calls a second are known. */
#define HOOK_NO_RATE	U64_MAX
#define HOOK_NO_COST	(-1)

/**
 * struct ftrace_hook - a line
 * @addr: the site, or another address
 * @text: where its text begins: kind, tab and name
 * @cost: the kind of record that it makes, enum trace_guard_kind, for its cost
 * @rate: calls a second
 * @records: those of them that it records or times, or more
 */
struct ftrace_hook {
	unsigned long		addr;
	unsigned int		text;
	int			cost;
	u64			rate;
	u64			records;
};

/**
 * struct ftrace_hooks - an open file
 * @hook: the lines
 * @nr: their number
 * @room: how many there is memory for
 * @text: texts, each ends with a NUL; neighbours share one
 * @last: the last one
 * @used: bytes of texts
 * @size: bytes that there is memory for
 * @failed: there was no memory for a line
 */
struct ftrace_hooks {
	struct ftrace_hook	*hook;
	unsigned int		nr;
	unsigned int		room;
	char			*text;
	unsigned int		last;
	unsigned int		used;
	unsigned int		size;
	bool			failed;
};

extern struct list_head ftrace_hook_listers;

void ftrace_hooks_create_file(struct dentry *d_tracer);

#endif /* _KERNEL_TRACE_CALLSET_HOOKS_H */
