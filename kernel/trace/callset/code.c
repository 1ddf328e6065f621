// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is made at run time: the trampolines of callsets, and stubs. It is found
 * by an address in it, and perf is told that it comes and goes.
 *
 * Invariants:
 *  1. No two pieces of code overlap.
 *
 * ftrace_lock covers everything but ftrace_code_find(), which any context may call.
 */
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>
#include <linux/perf_event.h>
#include <linux/rbtree_latch.h>

#include "callset.h"
#include "ops.h"

static struct latch_tree_root code_tree __cacheline_aligned;

static bool code_tree_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return container_of(a, struct ftrace_code, tree)->start <
	       container_of(b, struct ftrace_code, tree)->start;
}

static int code_tree_comp(void *key, struct latch_tree_node *node)
{
	const struct ftrace_code *code = container_of(node, struct ftrace_code, tree);
	unsigned long addr = (unsigned long)key;

	if (addr < code->start)
		return -1;
	return addr - code->start >= code->size;
}

static const struct latch_tree_ops code_tree_ops = {
	.less	= code_tree_less,
	.comp	= code_tree_comp,
};

static void code_tell_perf_symbol(const struct ftrace_code *code, bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, code->start, code->size, gone, code->name);
}

/**
 * ftrace_code_add - make code known
 * @code: the code, of which all but @code->tree is filled in
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_code_add(struct ftrace_code *code)
{
	void *text = (void *)code->start;

	lockdep_assert_held(&ftrace_lock);

	latch_tree_insert(&code->tree, &code_tree, &code_tree_ops);
	/* Tracers of instructions decode the code that they are told of, and name it. */
	code_tell_perf_symbol(code, false);
	perf_event_text_poke(text, NULL, 0, text, code->size);
}

/**
 * ftrace_code_remove - let code be found no more
 * @code: the code, which no task or CPU is in
 *
 * Context: ftrace_lock is held; sleeps. A reader that has found it may use it until a
 * grace period of RCU has passed.
 */
void ftrace_code_remove(struct ftrace_code *code)
{
	void *text = (void *)code->start;

	lockdep_assert_held(&ftrace_lock);

	perf_event_text_poke(text, text, code->size, NULL, 0);
	code_tell_perf_symbol(code, true);
	latch_tree_erase(&code->tree, &code_tree, &code_tree_ops);
}

/**
 * ftrace_code_find - find the code that an address is in
 * @addr: the address
 *
 * Context: any; ftrace_lock is held, or ftrace_retire() waits for the caller.
 * Return: the code, or NULL.
 */
struct ftrace_code *ftrace_code_find(unsigned long addr)
{
	struct latch_tree_node *node;

	node = latch_tree_find((void *)addr, &code_tree, &code_tree_ops);
	return node ? container_of(node, struct ftrace_code, tree) : NULL;
}
