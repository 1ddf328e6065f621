/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of sites, their records and their names. See sites.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_SITES_H
#define _KERNEL_TRACE_CALLSET_SITES_H

#include <linux/bitfield.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/kconfig.h>
#include <linux/types.h>

#include "ops.h"

struct mod_kallsyms;
struct module;

/*
 * A record's state word:
 *
 *	 31          30        29        28        24 23               0
 *	+-----------+---------+---------+------------+------------------+
 *	| quarantine| touched | modified| (reserved) |  callset number  |
 *	+-----------+---------+---------+------------+------------------+
 *
 * Callset 0 has no ops: the site is a NOP. A site that ever had some has been
 * touched, and one that had any which may go around its function, modified.
 */
#define FTRACE_STATE_CALLSET	GENMASK(23, 0)
#define FTRACE_STATE_MODIFIED	BIT(29)
#define FTRACE_STATE_TOUCHED	BIT(30)
#define FTRACE_STATE_QUARANTINE	BIT(31)

static_assert(!(FTRACE_STATE_CALLSET &
		(FTRACE_STATE_MODIFIED | FTRACE_STATE_TOUCHED | FTRACE_STATE_QUARANTINE)));
static_assert(sizeof(struct ftrace_record) == 8);

static inline u32 ftrace_rec_callset(const struct ftrace_record *rec)
{
	return FIELD_GET(FTRACE_STATE_CALLSET, READ_ONCE(rec->state));
}

static inline bool ftrace_rec_touched(const struct ftrace_record *rec)
{
	return READ_ONCE(rec->state) & FTRACE_STATE_TOUCHED;
}

static inline bool ftrace_rec_modified(const struct ftrace_record *rec)
{
	return READ_ONCE(rec->state) & FTRACE_STATE_MODIFIED;
}

static inline bool ftrace_rec_quarantined(const struct ftrace_record *rec)
{
	return READ_ONCE(rec->state) & FTRACE_STATE_QUARANTINE;
}

/*
 * Callers hold ftrace_lock: readers without it see the old or the new word.
 * @mark is the mark of its new callset, which the record keeps from now on.
 */
static inline void ftrace_rec_set_callset(struct ftrace_record *rec, u32 nr, u32 mark)
{
	u32 flags = rec->state & ~FTRACE_STATE_CALLSET;

	WRITE_ONCE(rec->state, flags | mark | FIELD_PREP(FTRACE_STATE_CALLSET, nr));
}

static inline void ftrace_rec_quarantine(struct ftrace_record *rec)
{
	WRITE_ONCE(rec->state, rec->state | FTRACE_STATE_QUARANTINE);
}

/*
 * Without trampolines, and without a word at the site, each call of a traced function
 * searches for its site's callset.
 */
#define FTRACE_CALLS_SEARCH	(!IS_ENABLED(CONFIG_HAVE_FTRACE_TRAMPOLINES) &&	\
				 !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))

/**
 * struct ftrace_table - the records of one piece of text
 * @base: the address that the records' offsets count from
 * @start: first address of the text
 * @end: first address after the text
 * @recs: records, strictly ascending by offset
 * @nr: number of @recs
 * @index: for each 2 KiB of the text, how many records are before; and their number.
 *	   NULL if a search has to do without
 * @init: the text is freed after initialization
 * @forming: of a module without a form: its sites cannot be written everywhere, and are left alone
 * @mod: the module, NULL for the core kernel
 * @counts: of its sites, for each of those that count (struct ftrace_count_table)
 * @retiree: frees the table
 */
struct ftrace_table {
	unsigned long		base;
	unsigned long		start;
	unsigned long		end;
	struct ftrace_record	*recs;
	unsigned int		nr;
	u32			*index;
	bool			init;
	bool			forming;
	struct module		*mod;
	struct hlist_head	counts;
	struct ftrace_retiree	retiree;
};

static inline unsigned long ftrace_rec_ip(const struct ftrace_table *table,
					  const struct ftrace_record *rec)
{
	return table->base + rec->offset;
}

/* The linker script puts these around the offsets of the sites of the kernel. */
extern u32 __start_mcount_loc[];
extern u32 __stop_mcount_loc[];

extern unsigned int ftrace_nr_sites;
extern unsigned long ftrace_sites_changed;

struct ftrace_table *ftrace_table_next(const struct ftrace_table *table);
struct ftrace_table *ftrace_table_find(unsigned long ip);
struct ftrace_record *ftrace_site_find(unsigned long ip);
unsigned long ftrace_location_any(unsigned long ip);
unsigned int ftrace_table_lower_bound(const struct ftrace_table *table, unsigned long ip);
struct ftrace_table *ftrace_table_alloc(struct module *mod, unsigned long start,
					unsigned long end, unsigned int nr);
void ftrace_table_sort(struct ftrace_table *table);
int ftrace_table_add(struct ftrace_table *table);
void ftrace_table_remove(struct ftrace_table *table);
void ftrace_table_free(struct ftrace_table *table);

#define for_each_ftrace_table(table)				\
	for ((table) = ftrace_table_next(NULL); (table);	\
	     (table) = ftrace_table_next(table))

#define for_each_ftrace_rec(table, rec)				\
	for ((rec) = (table)->recs; (rec) < (table)->recs + (table)->nr; (rec)++)

/**
 * struct ftrace_names - walks the names of a table's sites, in order
 * @table: the table
 * @cursor: where the walk is in the core kernel's symbols
 * @syms: for a module, the symbols that @sym counts in
 * @sym: for a module, the index of each record's symbol
 * @len: length of the name that was found last
 * @buf: holds it
 */
struct ftrace_names {
	struct ftrace_table	*table;
	struct kallsyms_cursor	cursor;
	const struct mod_kallsyms *syms;
	u32			*sym;
	unsigned int		len;
	char			buf[KSYM_NAME_LEN + 16];
};

int ftrace_names_start(struct ftrace_names *names, struct ftrace_table *table);
const char *ftrace_names_get(struct ftrace_names *names, unsigned int index);
void ftrace_names_end(struct ftrace_names *names);

#endif /* _KERNEL_TRACE_CALLSET_SITES_H */
