// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of sites: how a site is found by its address, and how the sites get
 * their names. text.c makes the tables.
 *
 * Invariants:
 *  1. The tables in the map are ascending and do not overlap, and so are the
 *     records in each: to walk them next to another sorted list is to merge.
 *  2. All sites of a table that is in the map hold a NOP or a CALL to the
 *     target of their callset, or are quarantined.
 *  3. To the rest of the kernel, a site in quarantine is no site, but text that
 *     others have to leave alone (ftrace_text_reserved()): a kprobe or a livepatch
 *     is refused. The exception is a site that is marked as modified: a livepatch
 *     or an IPMODIFY ops that replaced its function has yet to detach from it.
 *
 * ftrace_lock covers everything but ftrace_site_find() and the data that it uses.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "ops.h"
#include "sites.h"
#include "../trace.h"

/**
 * struct ftrace_table_map - the tables there are
 * @retiree: frees the map once another one has taken its place
 * @nr: number of @table
 * @table: ascending by address
 */
struct ftrace_table_map {
	struct ftrace_retiree	retiree;
	unsigned int		nr;
	struct ftrace_table	*table[] __counted_by(nr);
};

static struct ftrace_table_map *sites_table_map;

/* Sites in all tables of the map. */
unsigned int ftrace_nr_sites;

/* Counts changes of the map, for readers that let go of the lock. */
unsigned long ftrace_sites_changed;

/* The file dyn_ftrace_total_info shows these: sites, pages of records, tables. */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;

/* And these: how long it took to make them, at boot and for all modules, in nanoseconds. */
u64 ftrace_update_time;
u64 ftrace_total_mod_time;

/* Lookup */

static __always_inline int sites_map_cmp(const void *ip, const void *entry)
{
	const struct ftrace_table *table = *(struct ftrace_table *const *)entry;

	if ((unsigned long)ip < table->start)
		return -1;
	return (unsigned long)ip >= table->end;
}

/* Where in the map the table of @ip is, or NULL. */
static __always_inline struct ftrace_table *const *
sites_map_find(const struct ftrace_table_map *map, unsigned long ip)
{
	return __inline_bsearch((void *)ip, map->table, map->nr, sizeof(*map->table),
				sites_map_cmp);
}

/**
 * ftrace_table_next - walk the tables
 * @table: the table before, or NULL for the first
 *
 * Context: ftrace_lock is held.
 * Return: the table after @table, or NULL.
 */
struct ftrace_table *ftrace_table_next(const struct ftrace_table *table)
{
	struct ftrace_table *const *next;

	lockdep_assert_held(&ftrace_lock);

	if (!sites_table_map)
		return NULL;
	next = table ? sites_map_find(sites_table_map, table->start) + 1 : sites_table_map->table;
	return next < sites_table_map->table + sites_table_map->nr ? *next : NULL;
}

/**
 * ftrace_table_find - find the table of an address
 * @ip: the address
 *
 * Context: any; ftrace_lock is held, or the caller is one that ftrace_retire()
 * waits for.
 * Return: the table whose text @ip is in, or NULL.
 */
struct ftrace_table *ftrace_table_find(unsigned long ip)
{
	/* Pairs with the release in sites_map_publish(). */
	struct ftrace_table_map *map = smp_load_acquire(&sites_table_map);
	struct ftrace_table *const *found = map ? sites_map_find(map, ip) : NULL;

	return found ? *found : NULL;
}

/* 2 KiB of text have about five sites: three steps are left of fourteen. */
#define SITES_INDEX_SHIFT	11
#define SITES_INDEX_MIN		16

static unsigned int sites_index_slot(const struct ftrace_table *table, unsigned long ip)
{
	return (ip - table->start) >> SITES_INDEX_SHIFT;
}

/* A table without an index is as good, but slower. */
static void sites_index(struct ftrace_table *table)
{
	unsigned int last = sites_index_slot(table, table->end - 1), slot = 0;
	u32 *index = kvmalloc_array(last + 2, sizeof(*index), GFP_KERNEL | __GFP_NOWARN);

	if (!index)
		return;
	for (unsigned int i = 0; i < table->nr; i++) {
		unsigned int at = sites_index_slot(table, ftrace_rec_ip(table, &table->recs[i]));

		while (slot <= at)
			index[slot++] = i;
	}
	while (slot <= last + 1)
		index[slot++] = table->nr;
	table->index = index;
}

/**
 * ftrace_table_lower_bound - find the first record at or after an address
 * @table: the table
 * @ip: the address
 *
 * Context: any.
 * Return: its index; the table's nr without such a record.
 */
unsigned int ftrace_table_lower_bound(const struct ftrace_table *table, unsigned long ip)
{
	unsigned int lo = 0, hi = table->nr;
	u32 offset;

	if (ip < table->base)
		return 0;
	if (ip - table->base > U32_MAX)
		return table->nr;
	offset = ip - table->base;

	if (table->index && ip >= table->start && ip < table->end) {
		unsigned int slot = sites_index_slot(table, ip);

		lo = table->index[slot];
		hi = table->index[slot + 1];
	}
	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (table->recs[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first site in [@start, @end] of a table, with its record; or 0. @table may be NULL. */
static unsigned long sites_first_in(const struct ftrace_table *table, unsigned long start,
				    unsigned long end, const struct ftrace_record **rec)
{
	unsigned int i = table ? ftrace_table_lower_bound(table, start) : 0;
	unsigned long ip;

	if (!table || i == table->nr)
		return 0;
	*rec = &table->recs[i];
	ip = ftrace_rec_ip(table, *rec);
	return ip <= end ? ip : 0;
}

/* The same in any table. The range may begin before the table that it ends in, but spans none. */
static unsigned long sites_first(unsigned long start, unsigned long end,
				 const struct ftrace_record **rec)
{
	return sites_first_in(ftrace_table_find(start), start, end, rec) ?:
	       sites_first_in(ftrace_table_find(end), start, end, rec);
}

/* Those in quarantine included. */
static unsigned long sites_first_any(unsigned long start, unsigned long end)
{
	const struct ftrace_record *rec;
	unsigned long ip;

	preempt_disable_notrace();
	ip = sites_first(start, end, &rec);
	preempt_enable_notrace();
	return ip;
}

/**
 * ftrace_site_find - find the record of a site
 * @ip: the site
 *
 * Context: as for ftrace_table_find().
 * Return: the record, or NULL.
 */
struct ftrace_record *ftrace_site_find(unsigned long ip)
{
	struct ftrace_table *table = ftrace_table_find(ip);
	unsigned int i;

	if (!table)
		return NULL;
	i = ftrace_table_lower_bound(table, ip);
	if (i == table->nr || ftrace_rec_ip(table, &table->recs[i]) != ip)
		return NULL;
	return &table->recs[i];
}

/**
 * ftrace_location_range - find a site in a range
 * @start: first address
 * @end: last address, itself part of the range
 *
 * Context: any.
 * Return: the first site in the range that can be used, or 0.
 */
unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	const struct ftrace_record *rec;
	unsigned long ip;

	preempt_disable_notrace();
	ip = sites_first(start, end, &rec);
	/* See the third invariant. */
	while (ip && unlikely(ftrace_rec_quarantined(rec)) && !ftrace_rec_modified(rec))
		ip = sites_first(ip + 1, end, &rec);
	preempt_enable_notrace();
	return ip;
}

/* @site, if any, is the first one from @ip on, but it may be the next function's. */
static unsigned long sites_of_function(unsigned long ip, unsigned long site)
{
	unsigned long size, offset;

	if (!site || site == ip)
		return site;
	if (!kallsyms_lookup_size_offset(ip, &size, &offset) || offset || site >= ip + size)
		return 0;
	return site;
}

/**
 * ftrace_location - find the site of a function
 * @ip: the site, or the first byte of the function
 *
 * Context: any.
 * Return: the site; 0 if @ip is neither, or if the site is in quarantine.
 */
unsigned long ftrace_location(unsigned long ip)
{
	return sites_of_function(ip, ftrace_location_range(ip, ip + FTRACE_MCOUNT_MAX_OFFSET));
}

/**
 * ftrace_location_any - ftrace_location() that finds sites in quarantine, too
 * @ip: as there
 *
 * Context: any.
 * Return: the site, or 0.
 */
unsigned long ftrace_location_any(unsigned long ip)
{
	return sites_of_function(ip, sites_first_any(ip, ip + FTRACE_MCOUNT_MAX_OFFSET));
}

/**
 * ftrace_text_reserved - whether a range holds a site
 * @start: first address
 * @end: last address, itself part of the range
 *
 * Context: any.
 * Return: 1 if a byte of a site's instruction is in the range.
 */
int ftrace_text_reserved(const void *start, const void *end)
{
	return !!sites_first_any((unsigned long)start - MCOUNT_INSN_SIZE + 1, (unsigned long)end);
}

/* Names */

#ifdef CONFIG_MODULES
/* Symbols mostly come in the order of their addresses: @at is a good guess. */
static unsigned int sites_names_seek(const struct ftrace_table *table, unsigned int at,
				     unsigned long addr)
{
	if (at < table->nr && ftrace_rec_ip(table, &table->recs[at]) < addr)
		at++;
	if ((at < table->nr && ftrace_rec_ip(table, &table->recs[at]) < addr) ||
	    (at && ftrace_rec_ip(table, &table->recs[at - 1]) >= addr))
		return ftrace_table_lower_bound(table, addr);
	return at;
}

static void sites_names_index_module(struct ftrace_names *names, const struct mod_kallsyms *syms)
{
	struct ftrace_table *table = names->table;
	unsigned int at = 0;

	names->syms = syms;
	memset32(names->sym, U32_MAX, table->nr);
	for (unsigned int i = 1; i < syms->num_symtab; i++) {
		const Elf_Sym *sym = &syms->symtab[i];

		if (sym->st_value < table->start || sym->st_value >= table->end)
			continue;
		at = sites_names_seek(table, at, sym->st_value);
		if (at == table->nr || names->sym[at] != U32_MAX ||
		    ftrace_rec_ip(table, &table->recs[at]) - sym->st_value >
		    FTRACE_MCOUNT_MAX_OFFSET)
			continue;
		if (sym->st_shndx != SHN_UNDEF && syms->strtab[sym->st_name] &&
		    !is_mapping_symbol(syms->strtab + sym->st_name))
			names->sym[at] = i;
	}
}

/*
 * The caller is an RCU reader: that keeps the symbols. When the module's init function has
 * returned, fewer symbols, in other places, take the place of those that the module
 * was loaded with, and ftrace_lock does not prevent it.
 */
static const char *sites_names_of_module(struct ftrace_names *names, unsigned int index)
{
	struct mod_kallsyms *syms = rcu_dereference(names->table->mod->kallsyms);
	u32 sym;

	if (names->syms != syms)
		sites_names_index_module(names, syms);
	sym = names->sym[index];
	return sym == U32_MAX ? NULL : syms->strtab + syms->symtab[sym].st_name;
}
#else /* !CONFIG_MODULES */
static const char *sites_names_of_module(struct ftrace_names *names, unsigned int index)
{
	return NULL;
}
#endif /* !CONFIG_MODULES */

/**
 * ftrace_names_start - start to walk the names of a table's sites
 * @names: the walk
 * @table: the table
 *
 * One pass over the symbols beside the table, instead of a search for each.
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0 or -ENOMEM. In either case call ftrace_names_end().
 */
int ftrace_names_start(struct ftrace_names *names, struct ftrace_table *table)
{
	names->table = table;
	names->syms = NULL;
	names->sym = NULL;
	if (!table->mod) {
		if (table->nr)
			kallsyms_cursor_init(&names->cursor,
					     ftrace_rec_ip(table, &table->recs[0]));
		return 0;
	}

	/* Filled when the first name is asked for. */
	names->sym = kvmalloc_array(table->nr, sizeof(*names->sym), GFP_KERNEL);
	return names->sym ? 0 : -ENOMEM;
}

/**
 * ftrace_names_get - the name of a site's function
 * @names: the walk
 * @index: of the record; not below that of the call before
 *
 * Context: ftrace_lock is held.
 * Return: the name, until the next call, with its length in @names; NULL if
 * there is no symbol.
 */
const char *ftrace_names_get(struct ftrace_names *names, unsigned int index)
{
	unsigned long ip = ftrace_rec_ip(names->table, &names->table->recs[index]);

	if (names->table->mod) {
		const char *name;
		ssize_t len;

		rcu_read_lock();
		name = sites_names_of_module(names, index);
		if (name) {
			len = strscpy(names->buf, name);
			names->len = len < 0 ? sizeof(names->buf) - 1 : len;
		}
		rcu_read_unlock();
		return name ? names->buf : NULL;
	}
	names->len = kallsyms_cursor_name(&names->cursor, ip, names->buf, sizeof(names->buf));
	return names->buf;
}

/**
 * ftrace_names_end - stop to walk the names
 * @names: the walk
 */
void ftrace_names_end(struct ftrace_names *names)
{
	kvfree(names->sym);
	names->sym = NULL;
}

/* Adding and removing tables */

static void sites_map_free(struct ftrace_retiree *retiree)
{
	kfree(container_of(retiree, struct ftrace_table_map, retiree));
}

static void sites_map_publish(struct ftrace_table_map *map)
{
	struct ftrace_table_map *old = sites_table_map;
	struct ftrace_table *table;

	ftrace_nr_sites = 0;
	ftrace_number_of_pages = 0;
	for (unsigned int i = 0; i < map->nr; i++) {
		table = map->table[i];
		ftrace_nr_sites += table->nr;
		ftrace_number_of_pages += DIV_ROUND_UP(table->nr * sizeof(*table->recs), PAGE_SIZE);
	}
	ftrace_update_tot_cnt = ftrace_nr_sites;
	ftrace_number_of_groups = map->nr;
	ftrace_sites_changed++;

	/* Pairs with ftrace_table_find(). */
	smp_store_release(&sites_table_map, map);
	if (old)
		ftrace_retire(&old->retiree);
}

static struct ftrace_table_map *sites_map_alloc(unsigned int nr, gfp_t gfp)
{
	struct ftrace_table_map *map = kzalloc(struct_size(map, table, nr), gfp);

	if (map) {
		map->nr = nr;
		map->retiree.free = sites_map_free;
	}
	return map;
}

/**
 * ftrace_table_add - put a table into the map
 * @table: the table, which overlaps no other
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0 or -ENOMEM.
 */
int ftrace_table_add(struct ftrace_table *table)
{
	unsigned int nr = sites_table_map ? sites_table_map->nr : 0, at = 0;
	struct ftrace_table_map *map = sites_map_alloc(nr + 1, GFP_KERNEL);

	lockdep_assert_held(&ftrace_lock);

	if (!map)
		return -ENOMEM;
	if (FTRACE_CALLS_SEARCH && table->nr >= SITES_INDEX_MIN)
		sites_index(table);
	for (; at < nr && sites_table_map->table[at]->start < table->start; at++)
		map->table[at] = sites_table_map->table[at];
	map->table[at] = table;
	for (; at < nr; at++)
		map->table[at + 1] = sites_table_map->table[at];
	sites_map_publish(map);
	return 0;
}

/**
 * ftrace_table_remove - take a table out of the map, and free it in the background
 * @table: the table, whose sites have no callset
 *
 * The instructions at its sites do not matter any more.
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_table_remove(struct ftrace_table *table)
{
	struct ftrace_table_map *map;
	unsigned int nr = 0;

	lockdep_assert_held(&ftrace_lock);

	/* A few pointers; and the text goes away in any case. */
	map = sites_map_alloc(sites_table_map->nr - 1, GFP_KERNEL | __GFP_NOFAIL);
	for (unsigned int i = 0; i < sites_table_map->nr; i++) {
		if (sites_table_map->table[i] != table)
			map->table[nr++] = sites_table_map->table[i];
	}
	sites_map_publish(map);
	ftrace_retire(&table->retiree);
}

/**
 * ftrace_table_free - free a table
 * @table: the table, which is not in the map
 */
void ftrace_table_free(struct ftrace_table *table)
{
	kvfree(table->index);
	kvfree(table->recs);
	kfree(table);
}

static void sites_free_retired(struct ftrace_retiree *retiree)
{
	ftrace_table_free(container_of(retiree, struct ftrace_table, retiree));
}

/**
 * ftrace_table_alloc - make a table without records
 * @mod: the module whose text it is about, or NULL
 * @start: first address of the text
 * @end: first address after it
 * @nr: how many records there is room for
 *
 * Return: the table, or NULL.
 */
struct ftrace_table *ftrace_table_alloc(struct module *mod, unsigned long start,
					unsigned long end, unsigned int nr)
{
	struct ftrace_table *table = kzalloc_obj(*table);

	if (!table)
		return NULL;
	table->recs = kvcalloc(nr, sizeof(*table->recs), GFP_KERNEL);
	if (!table->recs) {
		kfree(table);
		return NULL;
	}
	table->mod = mod;
	table->base = start;
	table->start = start;
	table->end = end;
	table->retiree.free = sites_free_retired;
	return table;
}

static int sites_rec_cmp(const void *a, const void *b)
{
	const struct ftrace_record *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/**
 * ftrace_table_sort - put the records of a table in order
 * @table: the table, which is not in the map yet
 */
void ftrace_table_sort(struct ftrace_table *table)
{
	for (unsigned int i = 1; i < table->nr; i++) {
		if (table->recs[i - 1].offset >= table->recs[i].offset) {
			sort(table->recs, table->nr, sizeof(*table->recs), sites_rec_cmp, NULL);
			return;
		}
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/sites_kunit.c"
#endif
