// SPDX-License-Identifier: GPL-2.0
/*
 * The lines of the file hooks, which hooks_file.c has. Subsystems whose hooks share a callback
 * register listers and kinds at boot, and are asked when the file is opened
 * (include/linux/ftrace_hooks.h).
 */
#include <linux/ftrace.h>
#include <linux/ftrace_hooks.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/stdarg.h>
#include <linux/string.h>

#include "hooks.h"

/* The longest text of a hook; an instance has the name of a file, a callback that of a symbol. */
#define HOOK_TEXT_MAX	(KSYM_SYMBOL_LEN + NAME_MAX)

/* They grow at boot only, by one initcall after the other. */
LIST_HEAD(ftrace_hook_listers);
static LIST_HEAD(hooks_kinds);

/**
 * ftrace_hook_lister_register - have hooks listed by their subsystem
 * @lister: the lister, for ever
 *
 * Context: an initcall.
 */
void __init ftrace_hook_lister_register(struct ftrace_hook_lister *lister)
{
	list_add_tail(&lister->node, &ftrace_hook_listers);
}

/**
 * ftrace_hook_kind_register - have hooks named by their subsystem
 * @kind: the kind, for ever
 *
 * Context: an initcall.
 */
void __init ftrace_hook_kind_register(struct ftrace_hook_kind *kind)
{
	list_add_tail(&kind->node, &hooks_kinds);
}

/* Adding lines */

/* Memory for @need elements; returns whether there is. */
static bool hooks_grow(void **mem, unsigned int *room, unsigned int need, size_t size)
{
	unsigned int more = max(2 * *room, 64u);
	void *new;

	if (need <= *room)
		return true;
	new = kvrealloc(*mem, size_mul(max(more, need), size), GFP_KERNEL);
	if (!new)
		return false;
	*mem = new;
	*room = max(more, need);
	return true;
}

/**
 * ftrace_hooks_add - add a line
 * @hooks: the file
 * @addr: an address in the function: its start, its site, or that of a probe
 * @kind: the text of the column kind
 * @fmt: the text of the column hook, as for printf()
 *
 * Context: sleeps; of the functions that @hooks is given to.
 */
void ftrace_hooks_add(struct ftrace_hooks *hooks, unsigned long addr, const char *kind,
		      const char *fmt, ...)
{
	unsigned int len;
	va_list args;
	char *text;

	if (!hooks_grow((void **)&hooks->text, &hooks->size, hooks->used + HOOK_TEXT_MAX, 1) ||
	    !hooks_grow((void **)&hooks->hook, &hooks->room, hooks->nr + 1, sizeof(*hooks->hook))) {
		hooks->failed = true;
		return;
	}
	text = hooks->text + hooks->used;
	len = scnprintf(text, HOOK_TEXT_MAX, "%s\t", kind);
	va_start(args, fmt);
	len += vscnprintf(text + len, HOOK_TEXT_MAX - len, fmt, args);
	va_end(args);
	/* One tracer may be on all functions. */
	if (!hooks->used || strcmp(hooks->text + hooks->last, text)) {
		hooks->last = hooks->used;
		hooks->used += len + 1;
	}
	hooks->hook[hooks->nr++] = (struct ftrace_hook) {
		.addr = ftrace_location(addr) ?: addr,
		.text = hooks->last,
		.cost = HOOK_NO_COST,
		.rate = HOOK_NO_RATE,
	};
}

/**
 * ftrace_hooks_found - add the lines of a hook, as its kind names it
 * @hooks: the file
 * @addr: as for ftrace_hooks_add()
 * @kind: the text of the column kind, if no kind is registered for @callback
 * @callback: the callback, which tells of which kind the hook is
 * @object: the hook, as ftrace_hook_kind::show() expects it
 *
 * Context: sleeps; of the functions that @hooks is given to.
 */
void ftrace_hooks_found(struct ftrace_hooks *hooks, unsigned long addr, const char *kind,
			const void *callback, void *object)
{
	const struct ftrace_hook_kind *k;

	list_for_each_entry(k, &hooks_kinds, node) {
		if (k->callback != callback)
			continue;
		if (k->show)
			k->show(hooks, addr, object);
		return;
	}
	ftrace_hooks_add(hooks, addr, kind, "%ps", callback);
}
