/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_NAMES_H
#define _TRACE_NAMES_H

#include <linux/module_symbol.h>
#include <linux/trace_events.h>
#include <asm/barrier.h>

#include "trace_head.h"

/**
 * enum trace_name_kind - how an address is written
 * @TRACE_NAME_PLAIN: the symbol alone, as without the option sym-offset
 * @TRACE_NAME_OFFSET: with the offset, the size and the module, as sym-offset and "%pS" do
 * @TRACE_NAME_MODULE: the symbol and its module, as "%ps" does
 * @TRACE_NAME_ARGS: not a name: the arguments of a function, each value as TRACE_ARG_HEX or
 *	TRACE_ARG_DEC
 */
enum trace_name_kind {
	TRACE_NAME_PLAIN,
	TRACE_NAME_OFFSET,
	TRACE_NAME_MODULE,
	TRACE_NAME_ARGS,
};

/* "0x%lx" and "%ld" of the next argument */
#define TRACE_ARG_HEX	'\1'
#define TRACE_ARG_DEC	'\2'

struct trace_merge;
struct trace_name_store;

/**
 * struct trace_reader - the iterator of an open file
 * @iter: the iterator; its flag TRACE_FILE_NAMES says that it is one of these
 * @names: the names that it has printed; NULL until the first, or without memory
 * @removals: module_text_removals() when they were looked up
 * @no_memory: the names got no memory
 * @event: of the last line; NULL if the read begins
 * @merged: @merge has been filled since the read began
 * @merge: the CPUs' next events; NULL until they are needed, or without memory
 * @head: the beginning of a line, as the last ones had it
 *
 * Iterators that dump the buffers in any context are not: they look each name up.
 */
struct trace_reader {
	struct trace_iterator	iter;
	struct trace_name_store	*names;
	unsigned int		removals;
	bool			no_memory;
	bool			merged;
	struct trace_event	*event;
	struct trace_merge	*merge;
	struct trace_head	head;
};

/* Beside the flags of enum trace_file_flags. */
#define TRACE_FILE_NAMES	BIT(16)

/* The reader that an iterator is part of; NULL if it is not that of a file. */
static inline struct trace_reader *trace_reader_of(struct trace_iterator *iter)
{
	if (!(iter->iter_flags & TRACE_FILE_NAMES))
		return NULL;
	return container_of(iter, struct trace_reader, iter);
}

/*
 * How often names of modules have ended. It is read before a name is looked up, which holds as
 * long as it stays.
 */
static inline unsigned int module_text_removals(void)
{
#ifdef CONFIG_MODULES
	/* Before the lookup. Pairs with count_removal(). */
	return smp_load_acquire(&module_removals);
#else
	return 0;
#endif
}

struct trace_iterator *trace_reader_init(struct trace_reader *reader);
void trace_reader_begin(struct trace_iterator *iter);
void trace_reader_free(struct trace_iterator *iter);
void trace_print_name(struct trace_iterator *iter, unsigned long addr,
		      enum trace_name_kind kind);
bool trace_print_call(struct trace_iterator *iter, unsigned long ip, unsigned long parent_ip,
		      enum trace_name_kind kind);
bool trace_print_args(struct trace_iterator *iter, unsigned long func, const unsigned long *args);
bool trace_args_stay(struct trace_iterator *iter, unsigned long func);
void trace_keep_args(struct trace_iterator *iter, unsigned long func, unsigned int start);
__printf(2, 0)
bool trace_print_format(struct trace_iterator *iter, const char *format, va_list args);

#endif /* _TRACE_NAMES_H */
