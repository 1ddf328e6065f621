// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of sites: where they come from at boot and with modules, how a site
 * is found by its address, and how the sites get their names.
 *
 * The build leaves one u32 a site in the section __mcount_loc:
 *
 *  - In a module, and in an image that scripts/recordmcount has not finished,
 *    the distance from the entry itself to the site, in the order of the link.
 *  - In a finished image, the distance from _text, ascending; struct
 *    ftrace_image_sites says so, and how many entries count.
 *  - In objects from gcc -mrecord-mcount and in what kpatch-build makes, a
 *    64-bit address. Read as two u32, the upper half of a kernel address would
 *    be the distance of a site that lies one byte before its own entry, where
 *    no text is: the two forms cannot be mistaken for each other, and the link
 *    of a module may mix them.
 *
 * Invariants:
 *  1. The tables in the map are ascending and do not overlap, and so are the
 *     records in each: whoever walks them next to another sorted list merges.
 *  2. All sites of a table that is in the map hold a NOP or a CALL to the
 *     target of their callset, or are quarantined.
 *  3. To the rest of the kernel, a site in quarantine is no site, but text that
 *     others have to leave alone (ftrace_text_reserved()): a kprobe or a livepatch
 *     is refused. The exception is one that is marked as modified, for whoever
 *     went around its function still comes to detach from it.
 *  4. It is a site again once its text is a NOP or a CALL of ours that stood
 *     there (ftrace_release_repaired()).
 *
 * ftrace_lock covers everything but ftrace_site_find() and what it uses.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#include <asm/sections.h>

#include "ftrace_filter.h"
#include "ftrace_internal.h"
#include "trace.h"

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

static struct ftrace_table_map *table_map;

/* Sites in all tables of the map. */
unsigned int ftrace_nr_sites;

/* Counts changes of the map, for readers that let go of the lock. */
unsigned long ftrace_sites_changed;

/* Whether there ever was a site in quarantine; ftrace_lock. */
bool ftrace_has_quarantine;

/* What dyn_ftrace_total_info shows: sites, pages of records, tables. */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;

/**
 * struct ftrace_image_sites - what scripts/recordmcount says of the image
 * @version: 1 if the table is finished, 0 if it is as the linker left it
 * @nr: number of entries that count
 * @dropped: entries of weak functions that lost the link
 * @reserved: 0
 */
struct ftrace_image_sites {
	u32	version;
	u32	nr;
	u32	dropped;
	u32	reserved;
};

/* Written after the link, so the compiler must not know what is in it. */
__visible struct ftrace_image_sites ftrace_image_sites __initdata = { };

static const struct ftrace_image_sites * __init image_sites(void)
{
	const struct ftrace_image_sites *sites = &ftrace_image_sites;

	OPTIMIZER_HIDE_VAR(sites);
	return sites;
}

/* Lookup */

/**
 * ftrace_table_next - walk the tables
 * @table: the table before, or NULL for the first
 *
 * Context: ftrace_lock is held.
 * Return: the table behind @table, or NULL.
 */
struct ftrace_table *ftrace_table_next(const struct ftrace_table *table)
{
	lockdep_assert_held(&ftrace_lock);

	for (unsigned int i = 0; table_map && i < table_map->nr; i++) {
		if (!table || table_map->table[i]->start > table->start)
			return table_map->table[i];
	}
	return NULL;
}

/* The number of tables that start at or below @ip. */
static unsigned int table_map_upper_bound(const struct ftrace_table_map *map, unsigned long ip)
{
	unsigned int lo = 0, hi = map->nr;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (map->table[mid]->start <= ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * ftrace_table_find - find the table of an address
 * @ip: the address
 *
 * Context: any; ftrace_lock is held, or the caller is one whom ftrace_retire()
 * waits for.
 * Return: the table whose text @ip is in, or NULL.
 */
struct ftrace_table *ftrace_table_find(unsigned long ip)
{
	/* Pairs with the release in table_map_publish(). */
	struct ftrace_table_map *map = smp_load_acquire(&table_map);
	struct ftrace_table *table;
	unsigned int i;

	if (!map)
		return NULL;
	i = table_map_upper_bound(map, ip);
	if (!i)
		return NULL;
	table = map->table[i - 1];
	return ip < table->end ? table : NULL;
}

/**
 * ftrace_table_lower_bound - find the first record at or behind an address
 * @table: the table
 * @ip: the address
 *
 * Context: any.
 * Return: its index; the table's nr if there is none.
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

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (table->recs[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first site in [@start, @end], with its record, or 0. */
static unsigned long site_first(unsigned long start, unsigned long end,
				const struct dyn_ftrace **rec)
{
	struct ftrace_table *table = ftrace_table_find(start);
	unsigned long ip;
	unsigned int i;

	if (!table)
		return 0;
	i = ftrace_table_lower_bound(table, start);
	if (i == table->nr)
		return 0;
	*rec = &table->recs[i];
	ip = ftrace_rec_ip(table, *rec);
	return ip <= end ? ip : 0;
}

/* See the third invariant. */
static bool site_is_lost(const struct dyn_ftrace *rec)
{
	return unlikely(ftrace_rec_quarantined(rec)) && !ftrace_rec_modified(rec);
}

/* Those in quarantine included. */
static unsigned long site_first_any(unsigned long start, unsigned long end)
{
	const struct dyn_ftrace *rec;
	unsigned long ip;

	preempt_disable_notrace();
	ip = site_first(start, end, &rec);
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
struct dyn_ftrace *ftrace_site_find(unsigned long ip)
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
 * Return: the first site in the range; 0 if there is none that can be used.
 */
unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	const struct dyn_ftrace *rec;
	unsigned long ip;

	preempt_disable_notrace();
	ip = site_first(start, end, &rec);
	while (ip && site_is_lost(rec))
		ip = site_first(ip + 1, end, &rec);
	preempt_enable_notrace();
	return ip;
}

/* @site, if any, is the first one behind @ip, but it may be the next function's. */
static unsigned long site_of_function(unsigned long ip, unsigned long site)
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
	return site_of_function(ip, ftrace_location_range(ip, ip + FTRACE_MCOUNT_MAX_OFFSET));
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
	return site_of_function(ip, site_first_any(ip, ip + FTRACE_MCOUNT_MAX_OFFSET));
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
	return !!site_first_any((unsigned long)start - MCOUNT_INSN_SIZE + 1, (unsigned long)end);
}

/**
 * ftrace_quarantine - leave a site alone until it is repaired, and say why
 * @rec: its record
 * @ip: the site
 * @target: what it should have called; 0 for a NOP
 *
 * Context: ftrace_lock is held.
 */
void ftrace_quarantine(struct dyn_ftrace *rec, unsigned long ip, unsigned long target)
{
	lockdep_assert_held(&ftrace_lock);

	arch_ftrace_report_site(ip, target);
	ftrace_rec_quarantine(rec);
	ftrace_has_quarantine = true;
}

/* Names */

#ifdef CONFIG_MODULES
/* Symbols mostly come in the order of their addresses: @at is a good guess. */
static unsigned int names_seek(const struct ftrace_table *table, unsigned int at,
			       unsigned long addr)
{
	if (at < table->nr && ftrace_rec_ip(table, &table->recs[at]) < addr)
		at++;
	if ((at < table->nr && ftrace_rec_ip(table, &table->recs[at]) < addr) ||
	    (at && ftrace_rec_ip(table, &table->recs[at - 1]) >= addr))
		return ftrace_table_lower_bound(table, addr);
	return at;
}

static void names_index_module(struct ftrace_names *names, const struct mod_kallsyms *syms)
{
	struct ftrace_table *table = names->table;
	unsigned int at = 0;

	names->syms = syms;
	memset32(names->sym, U32_MAX, table->nr);
	for (unsigned int i = 1; i < syms->num_symtab; i++) {
		const Elf_Sym *sym = &syms->symtab[i];

		if (sym->st_value < table->start || sym->st_value >= table->end)
			continue;
		at = names_seek(table, at, sym->st_value);
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
 * Preemption is disabled: it keeps the symbols. When the module's init function has
 * returned, fewer symbols, in other places, take the place of those that the module
 * was loaded with, and ftrace_lock does not prevent it.
 */
static const char *names_of_module(struct ftrace_names *names, unsigned int index)
{
	struct mod_kallsyms *syms = rcu_dereference_sched(names->table->mod->kallsyms);
	u32 sym;

	if (names->syms != syms)
		names_index_module(names, syms);
	sym = names->sym[index];
	return sym == U32_MAX ? NULL : syms->strtab + syms->symtab[sym].st_name;
}
#else /* !CONFIG_MODULES */
static const char *names_of_module(struct ftrace_names *names, unsigned int index)
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

		preempt_disable();
		name = names_of_module(names, index);
		if (name) {
			len = strscpy(names->buf, name);
			names->len = len < 0 ? sizeof(names->buf) - 1 : len;
		}
		preempt_enable();
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

static void table_map_free(struct ftrace_retiree *retiree)
{
	kfree(container_of(retiree, struct ftrace_table_map, retiree));
}

static void table_map_publish(struct ftrace_table_map *map)
{
	struct ftrace_table_map *old = table_map;
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
	smp_store_release(&table_map, map);
	if (old)
		ftrace_retire(&old->retiree);
}

static struct ftrace_table_map *table_map_alloc(unsigned int nr, gfp_t gfp)
{
	struct ftrace_table_map *map = kzalloc(struct_size(map, table, nr), gfp);

	if (map) {
		map->nr = nr;
		map->retiree.free = table_map_free;
	}
	return map;
}

static int table_add(struct ftrace_table *table)
{
	unsigned int nr = table_map ? table_map->nr : 0, at;
	struct ftrace_table_map *map = table_map_alloc(nr + 1, GFP_KERNEL);

	lockdep_assert_held(&ftrace_lock);

	if (!map)
		return -ENOMEM;
	at = table_map ? table_map_upper_bound(table_map, table->start) : 0;
	for (unsigned int i = 0; i < nr; i++)
		map->table[i + (i >= at)] = table_map->table[i];
	map->table[at] = table;
	ftrace_profile_add_table(table);
	table_map_publish(map);
	return 0;
}

static void table_free(struct ftrace_retiree *retiree)
{
	struct ftrace_table *table = container_of(retiree, struct ftrace_table, retiree);

	ftrace_profile_free_table(table);
	kvfree(table->recs);
	kfree(table);
}

/* Takes a table out of the map. What its text holds does not matter any more. */
static void table_remove(struct ftrace_table *table)
{
	struct ftrace_table_map *map;
	unsigned int nr = 0;

	lockdep_assert_held(&ftrace_lock);

	ftrace_detach_table(table);
	ftrace_filter_forget_range(table->start, table->end);

	/* A few pointers; and the text is going away whatever happens. */
	map = table_map_alloc(table_map->nr - 1, GFP_KERNEL | __GFP_NOFAIL);
	for (unsigned int i = 0; i < table_map->nr; i++) {
		if (table_map->table[i] != table)
			map->table[nr++] = table_map->table[i];
	}
	table_map_publish(map);
	ftrace_retire(&table->retiree);
}

static struct ftrace_table *table_alloc(struct module *mod, unsigned long start,
					unsigned long end, unsigned int nr)
{
	struct ftrace_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

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
	table->retiree.free = table_free;
	return table;
}

/* Makes every site a NOP; most are already. The text is not executed yet. */
static void __init_or_module table_init_sites(struct ftrace_table *table)
{
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(table, rec) {
		if (arch_ftrace_init_site(ftrace_rec_ip(table, rec))) {
			ftrace_rec_quarantine(rec);
			ftrace_has_quarantine = true;
		}
	}
}

/* Of the table of a module that is being loaded, when its functions have names. */
static void table_report_quarantine(struct ftrace_table *table)
{
	struct dyn_ftrace *rec;

	if (!ftrace_has_quarantine)
		return;
	for_each_ftrace_rec(table, rec) {
		if (ftrace_rec_quarantined(rec))
			arch_ftrace_report_site(ftrace_rec_ip(table, rec), 0);
	}
}

static int rec_cmp(const void *a, const void *b)
{
	const struct dyn_ftrace *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void table_sort(struct ftrace_table *table)
{
	for (unsigned int i = 1; i < table->nr; i++) {
		if (table->recs[i - 1].offset >= table->recs[i].offset) {
			sort(table->recs, table->nr, sizeof(*table->recs), rec_cmp, NULL);
			return;
		}
	}
}

/* Boot */

static struct ftrace_table *init_table __initdata;

/* Entry @i of the image's table as an address; 0 for one that was dropped. */
static unsigned long __init image_site(unsigned int i)
{
	u32 *entry = &__start_mcount_loc[i];

	if (image_sites()->version)
		return (unsigned long)_text + *entry;
	return *entry ? (unsigned long)entry + (s32)*entry : 0;
}

static struct ftrace_table * __init boot_table(unsigned long start, unsigned long end,
					       unsigned int first, unsigned int nr)
{
	struct ftrace_table *table = table_alloc(NULL, start, end, nr);

	if (!table)
		panic("ftrace: no memory for %u sites\n", nr);

	/* An offset from _text fits all text of the image. */
	table->base = (unsigned long)_text;
	for (unsigned int i = first; table->nr < nr; i++) {
		unsigned long ip = image_site(i);

		if (ip >= start && ip < end)
			table->recs[table->nr++].offset = ip - table->base;
	}
	table_sort(table);
	table_init_sites(table);
	table_report_quarantine(table);
	return table;
}

/* How many of the first @nr entries lie in [@start, @end), and the first. */
static unsigned int __init image_count(unsigned int nr, unsigned long start, unsigned long end,
				       unsigned int *first)
{
	unsigned int count = 0;

	*first = 0;
	for (unsigned int i = 0; i < nr; i++) {
		unsigned long ip = image_site(i);

		if (ip < start || ip >= end)
			continue;
		if (!count++)
			*first = i;
	}
	return count;
}

static struct ftrace_table * __init boot_table_range(unsigned int nr, void *start, void *end)
{
	unsigned int first;
	unsigned int count = image_count(nr, (unsigned long)start, (unsigned long)end, &first);

	return boot_table((unsigned long)start, (unsigned long)end, first, count);
}

/**
 * ftrace_init - make records of the image's sites
 *
 * Context: boot, before any other CPU runs and before text is read-only.
 */
void __init ftrace_init(void)
{
	unsigned int nr = image_sites()->version ? image_sites()->nr :
			  __stop_mcount_loc - __start_mcount_loc;
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);

	table = boot_table_range(nr, _stext, _etext);
	/* Freed after boot, so it gets a table of its own. */
	init_table = boot_table_range(nr, __init_begin, __init_end);
	init_table->init = true;
	if (table_add(table) || table_add(init_table))
		panic("ftrace: no memory for the tables\n");

	pr_info("%u sites, %zu bytes of records; %s, %u of weak functions dropped\n",
		ftrace_nr_sites, ftrace_nr_sites * sizeof(struct dyn_ftrace),
		image_sites()->version ? "sorted by the build" : "sorted at boot",
		image_sites()->dropped);
	ftrace_set_early_filters();
}

/**
 * ftrace_free_init_mem - forget the sites of the kernel's init text
 *
 * Context: process context at the end of boot, before the text is freed.
 */
void __init ftrace_free_init_mem(void)
{
	ftrace_boot_snapshot();

	guard(mutex)(&ftrace_lock);
	table_remove(init_table);
}

/* Modules */

#ifdef CONFIG_MODULES

/*
 * The next site between @start and @end, or 0. *@entry is where to look from, and
 * becomes where the next look begins. Entries of both forms may be mixed, with
 * zeroes between them: see the top of the file.
 */
static unsigned long module_next_site(const u32 **entry, const u32 *stop, unsigned long start,
				      unsigned long end)
{
	for (; *entry < stop; ++*entry) {
		unsigned long ip;

		if (IS_ENABLED(CONFIG_64BIT) && stop - *entry > 1) {
			memcpy(&ip, *entry, sizeof(ip));
			if (ip >= start && ip < end) {
				*entry += 2;
				return ip;
			}
		}
		ip = (unsigned long)*entry + (s32)**entry;
		if (ip >= start && ip < end) {
			++*entry;
			return ip;
		}
	}
	return 0;
}

/* Makes the table of one text of a module; NULL if that has no sites. */
static struct ftrace_table *module_table(struct module *mod, enum mod_mem_type type)
{
	const u32 *first = (u32 *)mod->ftrace_callsites, *stop = first + mod->num_ftrace_callsites;
	unsigned long start = (unsigned long)mod->mem[type].base;
	unsigned long end = start + mod->mem[type].size, ip;
	struct ftrace_table *table;
	unsigned int nr = 0;
	const u32 *entry;

	for (entry = first; module_next_site(&entry, stop, start, end);)
		nr++;
	if (!nr)
		return NULL;

	table = table_alloc(mod, start, end, nr);
	if (!table)
		return ERR_PTR(-ENOMEM);
	for (entry = first; (ip = module_next_site(&entry, stop, start, end));)
		table->recs[table->nr++].offset = ip - start;
	table_sort(table);
	table->init = type == MOD_INIT_TEXT;
	table_init_sites(table);
	return table;
}

static void module_add_table(struct module *mod, enum mod_mem_type type)
{
	struct ftrace_table *table = module_table(mod, type);

	if (!table)
		return;
	if (IS_ERR(table) || table_add(table)) {
		pr_warn("no memory for the sites of module %s: it cannot be traced\n", mod->name);
		if (!IS_ERR(table))
			table_free(&table->retiree);
	}
}

/**
 * ftrace_module_init - make records of a module's sites
 * @mod: the module, whose text is still writable and not executed
 *
 * Context: process context, sleeps.
 */
void ftrace_module_init(struct module *mod)
{
	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return;
	module_add_table(mod, MOD_TEXT);
	module_add_table(mod, MOD_INIT_TEXT);
}

static struct ftrace_table *module_table_find(struct module *mod, bool init)
{
	struct ftrace_table *table;

	for_each_ftrace_table(table) {
		if (table->mod == mod && table->init == init)
			return table;
	}
	return NULL;
}

static void module_enable_table(struct module *mod, bool init)
{
	struct ftrace_table *table = module_table_find(mod, init);
	int ret;

	if (!table)
		return;
	table_report_quarantine(table);
	ret = ftrace_attach_table(table);
	if (ret)
		pr_warn("sites of module %s are not attached: %pe\n", mod->name, ERR_PTR(ret));
}

/**
 * ftrace_module_enable - attach a module's sites to all ops that want them
 * @mod: the module, whose text is read-only now and about to be executed
 *
 * Context: process context, sleeps.
 */
void ftrace_module_enable(struct module *mod)
{
	int ret;

	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return;
	module_enable_table(mod, false);
	module_enable_table(mod, true);
	ret = ftrace_filter_module_coming(mod);
	if (ret)
		pr_warn("filters for module %s are not applied: %pe\n", mod->name, ERR_PTR(ret));
}

/**
 * ftrace_release_mod - forget all sites of a module
 * @mod: the module, which is not executed any more or never was
 *
 * Context: process context, sleeps.
 */
void ftrace_release_mod(struct module *mod)
{
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);

	for (int init = 0; init < 2; init++) {
		table = module_table_find(mod, init);
		if (table)
			table_remove(table);
	}
	ftrace_filter_forget_module(mod);
	ftrace_kallsyms_forget_module(mod);
	/* It may have altered sites, and put back what it found. */
	ftrace_release_repaired();
}
#endif /* CONFIG_MODULES */

/**
 * ftrace_free_mem - forget the sites of init text
 * @mod: the module, or NULL for the kernel
 * @start: first address of the text
 * @end: first address behind it
 *
 * Context: process context, sleeps.
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);

	for_each_ftrace_table(table) {
		if (table->mod == mod && table->start == (unsigned long)start) {
			ftrace_kallsyms_save_init(table);
			table_remove(table);
			return;
		}
	}
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_sites_kunit.c"
#endif
