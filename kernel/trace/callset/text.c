// SPDX-License-Identifier: GPL-2.0
/*
 * Text comes and goes: the sites of the image, of modules, and of init text.
 *
 * The build leaves one u32 a site in the section __mcount_loc:
 *
 *  - In a module, and in an image that scripts/sitetable has not finished,
 *    the distance from the entry itself to the site, in the order of the link.
 *  - In a finished image, the distance from _text, ascending; struct
 *    ftrace_image_sites says so, and how many entries count.
 *  - In objects from gcc -mrecord-mcount and in those of kpatch-build, a
 *    64-bit address. Read as two u32, the upper half of a kernel address would
 *    be the distance of a site that lies one byte before its own entry, where
 *    no text is: the two forms cannot be mistaken for each other, and the link
 *    of a module may mix them.
 *  - Where the architecture has no sitetable, a long that is the address of the site
 *    or, with -fpatchable-function-entry, of the room that the compiler left for each
 *    function. The architecture knows where the site is in it. There are no other
 *    entries then. scripts/sorttable may have sorted them, and cleared those of weak
 *    functions that lost the link. KASLR moves these away from zero, but not into text.
 *
 * A table is made of those that lie in one piece of text. When the text goes, all
 * that know its sites are told here, in this order: the callsets, the function
 * commands, the filters, and last the map of tables.
 *
 * Invariants:
 *  1. A table is in the map before its text is executed, and leaves the map before
 *     its text is freed.
 *
 * ftrace_lock is held throughout.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include <asm/sections.h>

#include "attach.h"
#include "callers.h"
#include "counts.h"
#include "filter.h"
#include "kallsyms.h"
#include "ops.h"
#include "quarantine.h"
#include "sites.h"
#include "../trace.h"

/* A table of addresses; see the top of the file. */
#define FTRACE_ENTRIES_ARE_PLACES (!IS_ENABLED(CONFIG_FTRACE_MCOUNT_USE_SITETABLE))
#define FTRACE_ENTRY_WORDS	(FTRACE_ENTRIES_ARE_PLACES ? sizeof(long) / sizeof(u32) : 1)

/**
 * struct ftrace_image_sites - the note of scripts/sitetable about the image
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

/* Written after the link, so the compiler must not know its contents. */
__visible struct ftrace_image_sites ftrace_image_sites __initdata = { };

static const struct ftrace_image_sites * __init text_image_sites(void)
{
	const struct ftrace_image_sites *sites = &ftrace_image_sites;

	OPTIMIZER_HIDE_VAR(sites);
	return sites;
}

/* Tables */

static void text_remove(struct ftrace_table *table)
{
	lockdep_assert_held(&ftrace_lock);

	ftrace_detach_table(table);
	ftrace_counts_forget_table(table);
	/* The commands look up in their filters the sites that they have to forget. */
	ftrace_command_forget_range(table->start, table->end);
	ftrace_graph_filter_forget_range(table->start, table->end);
	ftrace_filter_forget_range(table->start, table->end);
	ftrace_table_remove(table);
}

/* Boot */

/* How many entries of the image's table count. */
static unsigned int __init text_image_nr(void)
{
	if (text_image_sites()->version)
		return text_image_sites()->nr;
	return (__stop_mcount_loc - __start_mcount_loc) / FTRACE_ENTRY_WORDS;
}

/* Entry @i of the image's table as an address; 0 for one that was dropped. */
static unsigned long __init text_image_site(unsigned int i)
{
	u32 *entry = &__start_mcount_loc[i * FTRACE_ENTRY_WORDS];

	if (FTRACE_ENTRIES_ARE_PLACES) {
		unsigned long ip = *(unsigned long *)entry;

		/* The architecture may read what is there. */
		return is_kernel_text(ip) || is_kernel_inittext(ip) ? ftrace_call_adjust(ip) : 0;
	}

	if (text_image_sites()->version)
		return (unsigned long)_text + *entry;
	return *entry ? (unsigned long)entry + (s32)*entry : 0;
}

/* How many sites had no symbol at the head of their function, beside those that the build found. */
static u32 text_boot_dropped __initdata;

/*
 * The compiler's table, and one that the build has not finished, still have weak functions
 * that lost the link: such a site seems to belong to the function before it. That function
 * has a site before it, or its head is too far away.
 */
static void __init text_boot_drop_nameless(struct ftrace_table *table)
{
	static char name[KSYM_NAME_LEN + sizeof(u64)] __initdata;
	struct kallsyms_cursor cursor;
	unsigned long last = 0;
	unsigned int nr = 0;

	if (text_image_sites()->version || !table->nr)
		return;
	kallsyms_cursor_init(&cursor, ftrace_rec_ip(table, &table->recs[0]));
	for (unsigned int i = 0; i < table->nr; i++) {
		unsigned long ip = ftrace_rec_ip(table, &table->recs[i]);

		kallsyms_cursor_name(&cursor, ip, name, sizeof(name));
		if (cursor.addr == last || ip - cursor.addr > FTRACE_MCOUNT_MAX_OFFSET)
			continue;
		table->recs[nr++] = table->recs[i];
		last = cursor.addr;
	}
	text_boot_dropped += table->nr - nr;
	table->nr = nr;
}

static struct ftrace_table * __init text_boot_table(unsigned long start, unsigned long end,
						    unsigned int first, unsigned int nr)
{
	struct ftrace_table *table = ftrace_table_alloc(NULL, start, end, nr);

	if (!table)
		return NULL;

	/* An offset from _text fits all text of the image. */
	table->base = (unsigned long)_text;
	for (unsigned int i = first; table->nr < nr; i++) {
		unsigned long ip = text_image_site(i);

		if (ip >= start && ip < end)
			table->recs[table->nr++].offset = ip - table->base;
	}
	ftrace_table_sort(table);
	text_boot_drop_nameless(table);
	ftrace_quarantine_init(table);
	ftrace_quarantine_report(table);
	return table;
}

/* How many of the first @nr entries lie in [@start, @end), and the first. */
static unsigned int __init text_image_count(unsigned int nr, unsigned long start, unsigned long end,
					    unsigned int *first)
{
	unsigned int count = 0;

	*first = 0;
	for (unsigned int i = 0; i < nr; i++) {
		unsigned long ip = text_image_site(i);

		if (ip < start || ip >= end)
			continue;
		if (!count++)
			*first = i;
	}
	return count;
}

/* Init text is freed after boot, so it gets a table of its own. */
static void __init text_boot_add_table(unsigned int nr, void *start, void *end, bool init)
{
	unsigned int first;
	unsigned int count = text_image_count(nr, (unsigned long)start, (unsigned long)end, &first);
	struct ftrace_table *table = text_boot_table((unsigned long)start, (unsigned long)end,
						     first, count);

	if (table) {
		table->init = init;
		if (!ftrace_table_add(table))
			return;
		ftrace_table_free(table);
	}
	pr_err("no memory for the %u sites of the kernel's %stext: it cannot be traced\n", count,
	       init ? "init " : "");
}

/* Whether sites can be made to call anything. */
static bool text_ready __ro_after_init;

/**
 * ftrace_init - make records of the image's sites
 *
 * Context: boot, before any other CPU runs and before text is read-only.
 */
void __init ftrace_init(void)
{
	u64 start = ftrace_now(raw_smp_processor_id());
	unsigned int nr = text_image_nr();
	int ret;

	guard(mutex)(&ftrace_lock);

	ret = arch_ftrace_boot();
	if (ret) {
		pr_err("no function can be traced: the architecture is not ready: %pe\n",
		       ERR_PTR(ret));
		return;
	}
	text_ready = true;
	text_boot_add_table(nr, _stext, _etext, false);
	text_boot_add_table(nr, __init_begin, __init_end, true);
	ftrace_update_time = ftrace_now(raw_smp_processor_id()) - start;

	pr_info("%u sites, %zu bytes of records; %s, %u of weak functions dropped\n",
		ftrace_nr_sites, ftrace_nr_sites * sizeof(struct ftrace_record),
		text_image_sites()->version ? "sorted by the build" : "sorted at boot",
		text_image_sites()->dropped + text_boot_dropped);
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
	ftrace_free_mem(NULL, __init_begin, __init_end);
}

/* Modules */

#ifdef CONFIG_MODULES

/* 0 if the architecture finds no site in the room that the compiler left there. */
static unsigned long text_module_site(unsigned long ip)
{
	KUNIT_STATIC_STUB_REDIRECT(text_module_site, ip);
	return ftrace_call_adjust(ip);
}

/*
 * The next site between @start and @end, or 0. *@entry is where to look from, and
 * becomes where the next look begins. Entries of both forms may be mixed, with
 * zeroes between them: see the top of the file.
 */
static unsigned long text_module_next_site(const u32 **entry, const u32 *stop, unsigned long start,
					   unsigned long end)
{
	while (*entry < stop) {
		const u32 *at = *entry;
		unsigned long ip = 0;

		if (FTRACE_ENTRIES_ARE_PLACES || (IS_ENABLED(CONFIG_64BIT) && stop - at > 1))
			memcpy(&ip, at, sizeof(ip));
		if (ip >= start && ip < end) {
			*entry += sizeof(ip) / sizeof(**entry);
			ip = text_module_site(ip);
		} else {
			*entry += FTRACE_ENTRY_WORDS;
			ip = FTRACE_ENTRIES_ARE_PLACES ? 0 : (unsigned long)at + (s32)*at;
			if (ip < start || ip >= end)
				continue;
		}
		if (ip)
			return ip;
	}
	return 0;
}

/* Makes the table of one text of a module; NULL if that has no sites. */
static struct ftrace_table *text_module_table(struct module *mod, enum mod_mem_type type)
{
	const u32 *first = (u32 *)mod->ftrace_callsites, *stop = first + mod->num_ftrace_callsites;
	unsigned long start = (unsigned long)mod->mem[type].base;
	unsigned long end = start + mod->mem[type].size, ip;
	struct ftrace_table *table;
	unsigned int nr = 0;
	const u32 *entry;

	for (entry = first; text_module_next_site(&entry, stop, start, end);)
		nr++;
	if (!nr)
		return NULL;

	table = ftrace_table_alloc(mod, start, end, nr);
	if (!table)
		return ERR_PTR(-ENOMEM);
	for (entry = first; (ip = text_module_next_site(&entry, stop, start, end));)
		table->recs[table->nr++].offset = ip - start;
	ftrace_table_sort(table);
	table->init = type == MOD_INIT_TEXT;
	table->forming = true;
	ftrace_quarantine_init(table);
	return table;
}

static void text_module_add_table(struct module *mod, enum mod_mem_type type)
{
	struct ftrace_table *table = text_module_table(mod, type);

	if (!table)
		return;
	if (IS_ERR(table) || ftrace_table_add(table)) {
		pr_warn("no memory for the sites of module %s: it cannot be traced\n", mod->name);
		if (!IS_ERR(table))
			ftrace_table_free(table);
	}
}

/**
 * ftrace_module_init - make records of a module's sites
 * @mod: the module, whose text is still writable and not executed
 *
 * It has no form yet: architectures find no stub of it, so no site is attached before
 * ftrace_module_enable(). Kprobes find the records.
 *
 * Context: process context, sleeps.
 */
void ftrace_module_init(struct module *mod)
{
	u64 start;

	guard(mutex)(&ftrace_lock);

	if (!text_ready)
		return;
	start = ftrace_now(raw_smp_processor_id());
	text_module_add_table(mod, MOD_TEXT);
	text_module_add_table(mod, MOD_INIT_TEXT);
	ftrace_total_mod_time += ftrace_now(raw_smp_processor_id()) - start;
}

static void text_module_enable_table(struct module *mod, enum mod_mem_type type)
{
	struct ftrace_table *table = ftrace_table_find((unsigned long)mod->mem[type].base);
	int ret;

	if (!table)
		return;
	table->forming = false;
	ftrace_quarantine_report(table);
	ret = ftrace_update_table(table);
	if (ret)
		pr_warn("sites of module %s are not attached to all that want them: %pe\n",
			mod->name, ERR_PTR(ret));
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

	text_module_enable_table(mod, MOD_TEXT);
	text_module_enable_table(mod, MOD_INIT_TEXT);
	ret = ftrace_filter_module_loading(mod);
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

	for_class_mod_mem_type(type, text) {
		unsigned long start = (unsigned long)mod->mem[type].base;

		/* Text without sites calls others, too. */
		ftrace_callers_forget_range(start, start + mod->mem[type].size);
		table = ftrace_table_find(start);
		if (table)
			text_remove(table);
	}
	ftrace_filter_forget_module(mod);
	ftrace_kallsyms_forget_module(mod);
}
#endif /* CONFIG_MODULES */

/**
 * ftrace_free_mem - forget the sites of init text
 * @mod: the module, or NULL for the kernel
 * @start: first address of the text
 * @end: first address after it
 *
 * Context: process context, sleeps.
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);

	ftrace_callers_forget_range((unsigned long)start, (unsigned long)end);
	table = ftrace_table_find((unsigned long)start);
	if (!table || !table->init)
		return;
	ftrace_kallsyms_save_init(table);
	text_remove(table);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/text_kunit.c"
#endif
