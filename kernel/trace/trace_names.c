// SPDX-License-Identifier: GPL-2.0
/*
 * Names of addresses that a reader of a trace has found before.
 *
 * A trace names few addresses many times, and to look one up in kallsyms costs more than
 * the rest of its line. So each reader keeps the text that it has printed for an address,
 * and copies it when the address comes again.
 *
 * Invariants:
 *  1. The text kept is the text that the lookup prints. It is taken from the reader's
 *     buffer, into which the lookup has written it.
 *  2. Kept are addresses of the kernel image, whose names never change, and of modules.
 *     A module's names end with the module, or with its init text; then
 *     module_text_removals() goes up, and a reader forgets all that it has kept.
 *  3. All others (BPF's programs and trampolines, ftrace's trampolines, addresses without
 *     a name) are looked up each time.
 *
 * A removal is counted after the addresses have left the modules' tree, and a reader
 * reads the count before its lookup. So a name found before the removal is not used
 * after it.
 *
 * A file's reader holds iter->mutex or the seq_file's lock. There is no other lock here.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/slab.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include "trace_names.h"
#include "trace_output.h"
#include "trace_text.h"

#define NAMES_BITS	11
#define NAMES_WAYS	2
#define NAMES_TEXT	(128 << 10)

/**
 * struct trace_name - the text that was printed for an address
 * @addr: the address; 0 if the slot is empty
 * @at: where in the text
 * @len: its length
 * @kind: how it is written
 */
struct trace_name {
	unsigned long		addr;
	u32			at;
	u16			len;
	u16			kind;
};

/**
 * struct trace_name_store - names of a reader
 * @names: hashed by address; of those that share a slot, the last ones stay, the newest first
 * @used: how much of @text is
 * @text: the names, one after the other, each from a piece on; when it is full, all are forgotten
 */
struct trace_name_store {
	struct trace_name	names[1 << NAMES_BITS][NAMES_WAYS];
	u32			used;
	char			text[NAMES_TEXT] __aligned(TRACE_TEXT_PIECE);
};

/* Its memory is freed by the address of the iterator. */
static_assert(offsetof(struct trace_reader, iter) == 0);

/**
 * trace_reader_init - let the iterator of a file keep names
 * @reader: cleared memory; or NULL
 *
 * Return: the iterator; NULL for NULL.
 */
struct trace_iterator *trace_reader_init(struct trace_reader *reader)
{
	if (!reader)
		return NULL;
	reader->iter.iter_flags = TRACE_FILE_NAMES;
	trace_head_init(&reader->head);
	return &reader->iter;
}

/**
 * trace_reader_begin - forget all that others may have changed
 * @iter: the reader, at the beginning of a read
 */
void trace_reader_begin(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	if (!reader)
		return;
	reader->event = NULL;
	reader->merged = false;
	trace_head_forget(&reader->head);
}

/**
 * trace_reader_free - free the memory of a reader
 * @iter: its iterator, which goes on without
 */
void trace_reader_free(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	if (!reader)
		return;
	kvfree(reader->names);
	reader->names = NULL;
	kfree(reader->merge);
	reader->merge = NULL;
}

static void names_forget(struct trace_name_store *store)
{
	memset(store->names, 0, sizeof(store->names));
	store->used = 0;
}

static void names_alloc(struct trace_reader *reader)
{
	/* The text is much to clear, and is only read where a slot says so. */
	reader->names = kvmalloc_obj(*reader->names);
	if (reader->names)
		names_forget(reader->names);
	else
		reader->no_memory = true;
}

/* Return: the names that still hold; NULL without memory for them. */
static struct trace_name_store *names_get(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);
	unsigned int removals;

	if (!reader)
		return NULL;
	removals = module_text_removals();
	if (likely(reader->names && removals == reader->removals))
		return reader->names;
	if (reader->names)
		names_forget(reader->names);
	else if (!reader->no_memory)
		names_alloc(reader);
	reader->removals = removals;
	return reader->names;
}

/* Return: NAMES_WAYS of them. */
static struct trace_name *name_slot(struct trace_name_store *store, unsigned long addr)
{
	return store->names[hash_long(addr, NAMES_BITS)];
}

/* See invariant 2. */
static bool name_stays(unsigned long addr)
{
	return is_ksym_addr(addr) || is_module_address(addr);
}

static void name_keep(struct trace_name_store *store, unsigned long addr,
		      enum trace_name_kind kind, const char *text, unsigned int len)
{
	struct trace_name *slot;

	if (TRACE_TEXT_PIECES(len) > NAMES_TEXT - store->used)
		names_forget(store);
	slot = name_slot(store, addr);
	memmove(slot + 1, slot, (NAMES_WAYS - 1) * sizeof(*slot));
	*slot = (struct trace_name) {
		.addr = addr,
		.at = store->used,
		.len = len,
		.kind = kind,
	};
	memcpy(&store->text[store->used], text, len);
	store->used += TRACE_TEXT_PIECES(len);
}

static __always_inline void name_print(struct trace_seq *s, const char *text, unsigned int len)
{
	char *to = trace_seq_room(s, TRACE_TEXT_PIECES(len));

	if (likely(to))
		trace_seq_wrote(s, trace_text_pieces(to, text, len));
}

static void name_print_slow(struct trace_seq *s, unsigned long addr, enum trace_name_kind kind)
{
	if (kind == TRACE_NAME_MODULE)
		trace_seq_printf(s, "%ps", (void *)addr);
	else
		trace_seq_print_sym(s, addr, kind == TRACE_NAME_OFFSET);
}

/* Not at the first place of its slot, if anywhere. */
static noinline void name_find(struct trace_iterator *iter, unsigned long addr,
			       enum trace_name_kind kind)
{
	struct trace_name_store *store = names_get(iter);
	struct trace_seq *s = &iter->seq;
	const struct trace_name *slot;
	unsigned int start;
	bool stays;

	if (!store || !addr) {
		name_print_slow(s, addr, kind);
		return;
	}
	slot = name_slot(store, addr);
	for (unsigned int i = 0; i < NAMES_WAYS; i++) {
		if (slot[i].addr == addr && slot[i].kind == kind) {
			name_print(s, &store->text[slot[i].at], slot[i].len);
			return;
		}
	}
	stays = name_stays(addr);
	start = trace_seq_used(s);
	name_print_slow(s, addr, kind);
	if (stays && !trace_seq_has_overflowed(s))
		name_keep(store, addr, kind, &s->buffer[start], trace_seq_used(s) - start);
}

/**
 * trace_print_name - print the name of an address
 * @iter: the reader; the name goes to its trace_seq
 * @addr: the address, adjusted to this boot
 * @kind: how it is written
 *
 * Context: a file's iterator may sleep here; others print in any context.
 */
void trace_print_name(struct trace_iterator *iter, unsigned long addr,
		      enum trace_name_kind kind)
{
	struct trace_reader *reader = trace_reader_of(iter);
	const struct trace_name *slot;

	if (likely(reader && reader->names && reader->removals == module_text_removals())) {
		slot = name_slot(reader->names, addr);
		if (likely(slot->addr == addr && slot->kind == kind && addr)) {
			name_print(&iter->seq, &reader->names->text[slot->at], slot->len);
			return;
		}
	}
	name_find(iter, addr, kind);
}

/**
 * trace_reader_event - how events of a type are printed
 * @iter: the reader
 * @type: the type
 *
 * Context: trace_event_sem is held since trace_reader_begin().
 * Return: as ftrace_find_event().
 */
struct trace_event *trace_reader_event(struct trace_iterator *iter, int type)
{
	struct trace_reader *reader = trace_reader_of(iter);

	if (!reader)
		return ftrace_find_event(type);
	if (!reader->event || reader->event->type != type)
		reader->event = ftrace_find_event(type);
	return reader->event;
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_names_kunit.c"
#endif
