// SPDX-License-Identifier: GPL-2.0
/*
 * Names of addresses that a reader of a trace has found before.
 *
 * A trace names few addresses many times, and to look one up in kallsyms costs more than
 * the rest of its line. So each reader keeps the text that it has printed for an address,
 * and copies it when the address comes again. So it does with the text between the values
 * of a function's arguments, which are found in BTF by the function's name.
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
#define FORMATS_BITS	5
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
 * @names: hashed by address; of those that share a slot, the last two stay, the newer first
 * @used: how much of @text is
 * @formats: formats that were parsed, of events that may be a module's; hashed, too
 * @text: the names, one after the other, each from a piece on; when it is full, all are forgotten
 */
struct trace_name_store {
	struct trace_name	names[1 << NAMES_BITS][2];
	u32			used;
	struct trace_text_parsed formats[1 << FORMATS_BITS];
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
	trace_head_begin(&reader->head);
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
	trace_head_begin(&reader->head);
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
	for (int i = 0; i < ARRAY_SIZE(store->formats); i++)
		store->formats[i].format = NULL;
	store->used = 0;
}

static void names_alloc(struct trace_reader *reader)
{
	/* The text is much to clear, and is only read where a slot says so. */
	reader->names = kvmalloc_obj(*reader->names, GFP_KERNEL_ACCOUNT);
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

/* Return: two of them. */
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
	slot[1] = slot[0];
	*slot = (struct trace_name) {
		.addr = addr,
		.at = store->used,
		.len = len,
		.kind = kind,
	};
	memcpy(&store->text[store->used], text, len);
	store->used += TRACE_TEXT_PIECES(len);
}

/* The last characters of a trace_seq have no room for a whole piece. */
static __always_inline void name_print(struct trace_seq *s, const char *text, unsigned int len)
{
	if (likely(s->seq.len + TRACE_TEXT_PIECES(len) < s->seq.size && !s->full))
		trace_seq_wrote(s, trace_text_pieces(s->buffer + s->seq.len, text, len));
	else
		trace_seq_putmem(s, text, len);
}

static void name_print_slow(struct trace_seq *s, unsigned long addr, enum trace_name_kind kind)
{
	char name[KSYM_SYMBOL_LEN] __uninitialized;

	if (kind != TRACE_NAME_MODULE) {
		trace_seq_print_sym(s, addr, kind == TRACE_NAME_OFFSET);
	} else if (IS_ENABLED(CONFIG_KALLSYMS)) {
		sprint_symbol_no_offset(name, addr);
		trace_seq_puts(s, name);
	} else {
		trace_seq_printf(s, "%ps", (void *)addr);
	}
}

static noinline void name_lookup(struct trace_iterator *iter, unsigned long addr,
				 enum trace_name_kind kind)
{
	struct trace_name_store *store = names_get(iter);
	struct trace_seq *s = &iter->seq;
	unsigned int start;
	bool stays;

	if (!store || !addr) {
		name_print_slow(s, addr, kind);
		return;
	}
	stays = name_stays(addr);
	start = trace_seq_used(s);
	name_print_slow(s, addr, kind);
	if (stays && !trace_seq_has_overflowed(s))
		name_keep(store, addr, kind, &s->buffer[start], trace_seq_used(s) - start);
}

/* Return: the names that hold; NULL if they have to be looked after first. */
static __always_inline struct trace_name_store *names_now(struct trace_iterator *iter)
{
	struct trace_reader *reader = trace_reader_of(iter);

	if (unlikely(!reader || reader->removals != module_text_removals()))
		return NULL;
	return reader->names;
}

/* Return: a name, if it is kept. */
static __always_inline const struct trace_name *
name_now(struct trace_name_store *store, unsigned long addr, enum trace_name_kind kind)
{
	const struct trace_name *slot = name_slot(store, addr);

	if (likely(slot->addr == addr && slot->kind == kind && addr))
		return slot;
	slot++;
	return slot->addr == addr && slot->kind == kind && addr ? slot : NULL;
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
	struct trace_name_store *store = names_now(iter);
	const struct trace_name *name = likely(store) ? name_now(store, addr, kind) : NULL;

	if (likely(name))
		name_print(&iter->seq, &store->text[name->at], name->len);
	else
		name_lookup(iter, addr, kind);
}

/**
 * trace_print_call - print a line's end: "FUNCTION <-CALLER" and a line feed
 * @iter: the reader; the text goes to its trace_seq
 * @ip: the function
 * @parent_ip: its caller
 * @kind: how both are written
 *
 * Return: false if the names have to be printed one by one, as they are not at hand.
 */
bool trace_print_call(struct trace_iterator *iter, unsigned long ip, unsigned long parent_ip,
		      enum trace_name_kind kind)
{
	struct trace_name_store *store = names_now(iter);
	const struct trace_name *name, *caller;
	char *p;

	if (unlikely(!store))
		return false;
	name = name_now(store, ip, kind);
	caller = name_now(store, parent_ip, kind);
	if (unlikely(!name || !caller))
		return false;
	p = trace_seq_room(&iter->seq, name->len + 3 + TRACE_TEXT_PIECES(caller->len) +
				       TRACE_TEXT_PIECE);
	if (unlikely(!p))
		return false;
	p = trace_text_pieces(p, &store->text[name->at], name->len);
	p = trace_text_put(p, " <-");
	p = trace_text_pieces(p, &store->text[caller->at], caller->len);
	trace_seq_wrote(&iter->seq, trace_text_put(p, "\n"));
	return true;
}

#ifdef CONFIG_FUNCTION_TRACE_ARGS
/* So that arguments do not share the slot of the function's name */
static unsigned long args_key(unsigned long func)
{
	return ~func;
}

/* The most that one value writes */
#define VALUE_MAX		(sizeof("0x") + TRACE_TEXT_DEC_MAX)

static char *put_args(char *p, const char *text, unsigned int len, const unsigned long *args)
{
	for (const char *end = text + len; text < end; text++) {
		if (likely(*text >= ' ')) {
			*p++ = *text;
		} else if (*text == TRACE_ARG_HEX) {
			p = trace_text_hex(trace_text_put(p, "0x"), *args++, 0);
		} else if ((long)*args < 0) {
			*p++ = '-';
			p = trace_text_dec(p, -*args++, 0, ' ');
		} else {
			p = trace_text_dec(p, *args++, 0, ' ');
		}
	}
	return p;
}

/**
 * trace_print_args - print a function's arguments, if it is known how
 * @iter: the reader; the text goes to its trace_seq
 * @func: the function
 * @args: FTRACE_REGS_MAX_ARGS values
 *
 * Context: as trace_print_name().
 * Return: false if their types have to be found.
 */
bool trace_print_args(struct trace_iterator *iter, unsigned long func, const unsigned long *args)
{
	struct trace_name_store *store = names_get(iter);
	const struct trace_name *name;
	char *p;

	name = likely(store) ? name_now(store, args_key(func), TRACE_NAME_ARGS) : NULL;
	if (unlikely(!name))
		return false;
	p = trace_seq_room(&iter->seq, name->len + FTRACE_REGS_MAX_ARGS * VALUE_MAX);
	if (likely(p))
		trace_seq_wrote(&iter->seq, put_args(p, &store->text[name->at], name->len, args));
	return true;
}

/**
 * trace_args_stay - ask whether a function's arguments may be kept
 * @iter: the reader, for which trace_print_args() has returned false
 * @func: the function, whose type has not been looked for yet
 *
 * Return: false if they have to be found each time.
 */
bool trace_args_stay(struct trace_iterator *iter, unsigned long func)
{
	return names_now(iter) && name_stays(func) && !trace_seq_has_overflowed(&iter->seq);
}

/**
 * trace_keep_args - keep how a function's arguments are printed
 * @iter: the reader, for which trace_args_stay() has returned true
 * @func: the function
 * @start: from where on its trace_seq has the text, each value at most once and in order
 */
void trace_keep_args(struct trace_iterator *iter, unsigned long func, unsigned int start)
{
	struct trace_name_store *store = names_now(iter);
	struct trace_seq *s = &iter->seq;

	if (store && !trace_seq_has_overflowed(s))
		name_keep(store, args_key(func), TRACE_NAME_ARGS, &s->buffer[start],
			  trace_seq_used(s) - start);
}
#endif

/**
 * trace_print_format - print an event's text, if its format is simple
 * @iter: the reader; the text goes to its trace_seq
 * @format: the format, which stays where it is as long as its module
 * @args: its arguments, which the caller does not use after this
 *
 * Context: as trace_print_name().
 * Return: whether it was printed. Else trace_seq_vprintf() has to.
 */
bool trace_print_format(struct trace_iterator *iter, const char *format, va_list args)
{
	struct trace_name_store *store = names_get(iter);
	struct trace_text_parsed *kept;

	if (unlikely(!store))
		return trace_seq_format(&iter->seq, NULL, format, args);
	kept = &store->formats[hash_ptr(format, FORMATS_BITS)];
	if (unlikely(kept->format != format))
		trace_text_keep(kept, format);
	return trace_seq_format(&iter->seq, kept, format, args);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_names_kunit.c"
#endif
