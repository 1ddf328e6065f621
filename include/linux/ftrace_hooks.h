/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file hooks of tracefs lists the callbacks of each function. Each subsystem that hooks
 * functions lists its own. See kernel/trace/callset/hooks.c.
 */
#ifndef _LINUX_FTRACE_HOOKS_H
#define _LINUX_FTRACE_HOOKS_H

#include <linux/compiler_attributes.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/types.h>

struct ftrace_hooks;

/**
 * struct ftrace_hook_lister - lists hooks that share callbacks, so that no ops tells them apart
 * @node: private
 * @list: calls ftrace_hooks_found() or ftrace_hooks_add() for each of them. It may sleep, and
 *	  takes the locks that its hooks are registered under
 */
struct ftrace_hook_lister {
	struct list_head	node;
	void			(*list)(struct ftrace_hooks *hooks);
};

/**
 * struct ftrace_hook_kind - names the hooks that have one callback
 * @node: private
 * @callback: the callback; of a direct ops, its ops_func if it has one
 * @show: calls ftrace_hooks_add() for a hook that was found; under the locks of its lister, for an
 *	  ops under ftrace_lock. NULL if a lister of its own has these hooks
 */
struct ftrace_hook_kind {
	struct list_head	node;
	const void		*callback;
	void			(*show)(struct ftrace_hooks *hooks, unsigned long addr,
					void *object);
};

/* They are built into the kernel, and stay registered. */
#ifdef CONFIG_FTRACE_CALLSETS
#define DEFINE_FTRACE_HOOK_LISTER(name, fn)					\
static struct ftrace_hook_lister name = { .list = (fn) };			\
static int __init name##_init(void)						\
{										\
	ftrace_hook_lister_register(&(name));					\
	return 0;								\
}										\
core_initcall(name##_init)

#define DEFINE_FTRACE_HOOK_KIND(name, fn, show_fn)				\
static struct ftrace_hook_kind name = { .callback = (fn), .show = (show_fn) };	\
static int __init name##_init(void)						\
{										\
	ftrace_hook_kind_register(&(name));					\
	return 0;								\
}										\
core_initcall(name##_init)

void __init ftrace_hook_lister_register(struct ftrace_hook_lister *lister);
void __init ftrace_hook_kind_register(struct ftrace_hook_kind *kind);
void ftrace_hooks_found(struct ftrace_hooks *hooks, unsigned long addr, const char *kind,
			const void *callback, void *object);
void __printf(4, 5) ftrace_hooks_add(struct ftrace_hooks *hooks, unsigned long addr,
				     const char *kind, const char *fmt, ...);
#else
/* The functions compile, and are dropped. */
#define DEFINE_FTRACE_HOOK_LISTER(name, fn)					\
static const struct ftrace_hook_lister name __maybe_unused = { .list = (fn) }

#define DEFINE_FTRACE_HOOK_KIND(name, fn, show_fn)				\
static const struct ftrace_hook_kind name __maybe_unused = {			\
	.callback = (fn), .show = (show_fn)					\
}

static inline void ftrace_hooks_found(struct ftrace_hooks *hooks, unsigned long addr,
				      const char *kind, const void *callback, void *object)
{
}

static inline void __printf(4, 5) ftrace_hooks_add(struct ftrace_hooks *hooks, unsigned long addr,
						   const char *kind, const char *fmt, ...)
{
}
#endif

#endif /* _LINUX_FTRACE_HOOKS_H */
