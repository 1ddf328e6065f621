// SPDX-License-Identifier: GPL-2.0
/*
 * Names and sites: the sites whose functions match a pattern, the reason why no
 * function does, and the addresses of many names.
 *
 * A pattern is a name, a glob with * ? [] (lib/glob.c), or the number of a line of
 * available_filter_functions.
 *
 * ftrace_lock is held while sites are looked for.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/sections.h>

#include "filter.h"
#include "ops.h"
#include "quarantine.h"
#include "report.h"
#include "site_set.h"
#include "sites.h"
#include "../trace.h"

/* Patterns */

/**
 * struct match_pattern - a parsed pattern
 * @type: how to compare
 * @text: with which text
 * @len: its length; an empty text matches everything
 * @not: a ! stood before it
 * @skip: for MATCH_MIDDLE_ONLY, a text that may be anywhere: how far the end of @text moves on
 *	  in a name when it stands on each character; 0 for its own last one
 */
struct match_pattern {
	enum regex_type	type;
	char		*text;
	unsigned int	len;
	int		not;
	u8		skip[256];
};

/* Changes @word. The table is that of Horspool, "Practical fast searching in strings", 1980. */
static void match_parse(struct match_pattern *pattern, char *word)
{
	pattern->type = filter_parse_regex(word, strlen(word), &pattern->text, &pattern->not);
	pattern->len = strlen(pattern->text);
	if (pattern->type != MATCH_MIDDLE_ONLY)
		return;
	memset(pattern->skip, min(pattern->len, 255), sizeof(pattern->skip));
	for (unsigned int i = 0; i < pattern->len; i++)
		pattern->skip[(u8)pattern->text[i]] = min(pattern->len - 1 - i, 255);
}

/*
 * This runs for every name. A search from each character takes 2.5 times as many
 * instructions, strstr() 7 times: the write of *lock* would take a quarter more.
 */
static bool match_is_inside(const struct match_pattern *pattern, const char *name,
			    unsigned int len)
{
	unsigned int last = pattern->len - 1, skip;

	for (unsigned int i = last; i < len; i += skip ?: 1) {
		skip = pattern->skip[(u8)name[i]];
		if (!skip && !memcmp(name + i - last, pattern->text, last))
			return true;
	}
	return false;
}

static bool match_fits(const struct match_pattern *pattern, const char *name,
		       unsigned int len)
{
	const char *text = pattern->text;

	if (!pattern->len)
		return true;
	switch (pattern->type) {
	case MATCH_FULL:
		return !strcmp(name, text);
	case MATCH_FRONT_ONLY:
		return !strncmp(name, text, pattern->len);
	case MATCH_MIDDLE_ONLY:
		return match_is_inside(pattern, name, len);
	case MATCH_END_ONLY:
		return len >= pattern->len && !strcmp(name + len - pattern->len, text);
	case MATCH_GLOB:
		return glob_match(text, name);
	default:
		return false;
	}
}

/* An empty module pattern stands for any module, but not for the kernel. */
static bool match_fits_module(const struct match_pattern *pattern, struct module *mod)
{
	const char *name = module_name(mod);
	bool matches = mod && match_fits(pattern, name, strlen(name));

	return matches != !!pattern->not;
}

/* Appends the sites of a table whose names match. */
static int match_table(struct ftrace_site_set **set, struct ftrace_table *table,
		       const struct match_pattern *pattern)
{
	struct ftrace_names *names __free(kfree) = kmalloc_obj(*names);
	const char *name;
	int ret;

	if (!names)
		return -ENOMEM;
	ret = ftrace_names_start(names, table);
	for (unsigned int i = 0; !ret && i < table->nr; i++) {
		name = ftrace_names_get(names, i);
		if (name && match_fits(pattern, name, names->len))
			ret = ftrace_site_set_append(set, ftrace_rec_ip(table, &table->recs[i]));
		if (i % 1024 == 1023)
			cond_resched();
	}
	ftrace_names_end(names);
	return ret;
}

static int match_symbol(void *set, unsigned long addr)
{
	unsigned long ip = ftrace_location_any(addr);

	return ip ? ftrace_site_set_append(set, ip) : 0;
}

static int match_all_tables(struct ftrace_site_set **set, const struct match_pattern *pattern,
			    const struct match_pattern *module)
{
	/* The kernel's own symbols are indexed by name. With "!*" no module is meant. */
	bool exact = pattern->type == MATCH_FULL && pattern->len &&
		     (!module || (module->not && !module->len));
	struct ftrace_table *table;
	int ret;

	if (exact) {
		ret = kallsyms_on_each_match_symbol(match_symbol, pattern->text, set);
		if (ret)
			return ret;
	}
	for_each_ftrace_table(table) {
		if (exact && !table->mod)
			continue;
		if (module && !match_fits_module(module, table->mod))
			continue;
		ret = match_table(set, table, pattern);
		if (ret)
			return ret;
	}
	if (exact)
		ftrace_site_set_sort(*set);
	return 0;
}

/* Counts @number down by the lines of a table. Return: the record that has that line, or NULL. */
static struct ftrace_record *match_line(struct ftrace_table *table, unsigned long *number)
{
	struct ftrace_record *rec;

	/* Sites in quarantine have no line. Without such, this is no search. */
	if (!ftrace_has_quarantine) {
		if (*number <= table->nr)
			return &table->recs[*number - 1];
		*number -= table->nr;
		return NULL;
	}
	for_each_ftrace_rec(table, rec) {
		if (!ftrace_rec_quarantined(rec) && !--*number)
			return rec;
	}
	return NULL;
}

/* Appends the site on a line of available_filter_functions. */
static int match_number(struct ftrace_site_set **set, const char *text)
{
	struct ftrace_table *table;
	struct ftrace_record *rec;
	unsigned long number;

	if (kstrtoul(text, 0, &number) || !number)
		return -EINVAL;
	for_each_ftrace_table(table) {
		rec = match_line(table, &number);
		if (rec)
			return ftrace_site_set_append(set, ftrace_rec_ip(table, rec));
	}
	return 0;
}

/* Appends the sites of the functions that match, ascending. */
static int match_names(struct ftrace_site_set **set, const char *glob, const char *module)
{
	char *glob_copy __free(kfree) = kstrdup(glob, GFP_KERNEL);
	char *module_copy __free(kfree) = kstrdup(module, GFP_KERNEL);
	struct match_pattern pattern __uninitialized, module_pattern __uninitialized;

	if (!glob_copy || (module && !module_copy))
		return -ENOMEM;
	match_parse(&pattern, glob_copy);
	/* The sign before a word is not here any more. No name begins with another. */
	if (pattern.not)
		return 0;
	if (module)
		match_parse(&module_pattern, module_copy);
	return match_all_tables(set, &pattern, module ? &module_pattern : NULL);
}

/**
 * ftrace_site_set_drop_quarantined - take the sites in quarantine out of a set
 * @set: just made; no other CPU sees it
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_site_set_drop_quarantined(struct ftrace_site_set *set)
{
	const struct ftrace_record *rec;
	unsigned int nr = 0;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_has_quarantine)
		return;
	for (unsigned int i = 0; i < set->nr; i++) {
		rec = ftrace_site_find(set->ip[i]);
		if (rec && !ftrace_rec_quarantined(rec))
			set->ip[nr++] = set->ip[i];
	}
	set->nr = nr;
}

/**
 * ftrace_match_sites - the sites of the functions that match
 * @glob: pattern for the function's name
 * @module: pattern for its module's name, or NULL for any place
 *
 * Sites in quarantine are among them: they may be in a filter from which they are to
 * be taken. See ftrace_site_set_drop_quarantined().
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: a new set, empty if nothing matches; ERR_PTR of -ENOMEM or -EINVAL
 * (not a number).
 */
struct ftrace_site_set *ftrace_match_sites(const char *glob, const char *module)
{
	struct ftrace_site_set *set __free(site_set) = ftrace_site_set_alloc(1);
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (!set)
		return ERR_PTR(-ENOMEM);
	set->nr = 0;
	ret = isdigit(*glob) ? match_number(&set, glob) : match_names(&set, glob, module);
	return ret ? ERR_PTR(ret) : no_free_ptr(set);
}

/**
 * ftrace_match_module - whether a module's name matches
 * @glob: the pattern; an empty one matches every module
 * @mod: the module
 *
 * Context: process context, sleeps.
 * Return: 1 if it does, 0, or -ENOMEM.
 */
int ftrace_match_module(const char *glob, struct module *mod)
{
	char *copy __free(kfree) = kstrdup(glob, GFP_KERNEL);
	struct match_pattern pattern;

	if (!copy)
		return -ENOMEM;
	match_parse(&pattern, copy);
	return match_fits_module(&pattern, mod);
}

/* Why nothing matches */

/**
 * struct match_why - a search for functions that match and have no site
 * @pattern: that they are to match
 * @why: the best reason so far
 */
struct match_why {
	const struct match_pattern	*pattern;
	enum ftrace_word_error		why;
};

static bool match_is_quarantined(unsigned long addr)
{
	const struct ftrace_record *rec;

	guard(preempt_notrace)();
	rec = ftrace_site_find(ftrace_location_any(addr));
	return rec && ftrace_rec_quarantined(rec);
}

static int match_why_symbol(void *data, const char *name, unsigned long addr)
{
	struct match_why *w = data;
	const struct match_pattern *pattern = w->pattern;
	enum ftrace_word_error why = FTRACE_WORD_NO_FUNCTION;

	/* foo.isra.0, where foo is asked for. */
	if (pattern->type == MATCH_FULL && str_has_prefix(name, pattern->text) &&
	    name[pattern->len] == '.' && ftrace_location(addr))
		why = FTRACE_WORD_VARIANT;
	else if (!match_fits(pattern, name, strlen(name)))
		return 0;
	else if (match_is_quarantined(addr))
		why = FTRACE_WORD_QUARANTINE;
	else if (core_kernel_text(addr) || is_module_text_address(addr))
		why = FTRACE_WORD_NO_SITE;
	else if (is_kernel_inittext(addr))
		why = FTRACE_WORD_FREED;
	w->why = max(w->why, why);
	return 0;
}

/**
 * ftrace_why_no_site - why a pattern matches no site
 * @glob: the pattern for the function's name, as it was written
 * @module: that for its module's name, or NULL
 *
 * Looks at all symbols there are.
 *
 * Context: process context, sleeps.
 * Return: one of the reasons up to FTRACE_WORD_QUARANTINE.
 */
enum ftrace_word_error ftrace_why_no_site(const char *glob, const char *module)
{
	char *copy __free(kfree) = kstrdup(glob, GFP_KERNEL);
	struct match_pattern pattern;
	struct match_why w = { .pattern = &pattern };

	if (!copy || !*glob || module)
		return FTRACE_WORD_NO_FUNCTION;
	match_parse(&pattern, copy);
	if (pattern.type == MATCH_INDEX || pattern.not)
		return FTRACE_WORD_NO_FUNCTION;
	kallsyms_on_each_symbol(match_why_symbol, &w);
	/* At boot ftrace_lock is held, and there are no modules. */
	if (system_state == SYSTEM_RUNNING)
		module_kallsyms_on_each_symbol(NULL, match_why_symbol, &w);
	return w.why;
}

/* Names to addresses */

static int match_name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

/**
 * struct match_lookup - a search for the functions that have some names
 * @names: the names, ascending by strcmp()
 * @addrs: the address of each; 0 for one that is not found yet
 * @nr: the number of names
 * @missing: how many are not found yet
 * @cursor: where the search is in the kernel's own symbols
 * @buf: a name of the symbol there
 */
struct match_lookup {
	const char		**names;
	unsigned long		*addrs;
	size_t			nr;
	size_t			missing;
	struct kallsyms_cursor	cursor;
	char			buf[KSYM_NAME_LEN + sizeof(u64)];
};

static bool match_lookup_is_found(unsigned long addr)
{
	return addr && ftrace_location(addr) && !match_is_quarantined(addr);
}

/* By a search of the names. Where several functions have the name, it may not be that one. */
static bool match_lookup_first(const char *name, unsigned long *addr)
{
	*addr = kallsyms_lookup_name(name);
	return match_lookup_is_found(*addr);
}

/* @addr has @name. */
static void match_lookup_take(struct match_lookup *l, const char *name, unsigned long addr)
{
	/* The names first: there are many symbols, and few are asked for. */
	const char **found = bsearch(&name, l->names, l->nr, sizeof(name), match_name_cmp);
	unsigned long *to = found ? &l->addrs[found - l->names] : NULL;

	if (!to || *to || !match_lookup_is_found(addr))
		return;
	*to = addr;
	l->missing--;
}

/* All names that the function of a site of the kernel itself has. */
static void match_lookup_site(struct match_lookup *l, unsigned long ip)
{
	unsigned int len = kallsyms_cursor_name(&l->cursor, ip, l->buf, sizeof(l->buf));

	if (ip - l->cursor.addr > FTRACE_MCOUNT_MAX_OFFSET)
		return;
	for (unsigned int i = 1; len; i++) {
		match_lookup_take(l, l->buf, l->cursor.addr);
		len = kallsyms_cursor_alias(&l->cursor, i, l->buf);
	}
}

static void match_lookup_table(struct match_lookup *l, const struct ftrace_table *table)
{
	if (!table->nr)
		return;
	kallsyms_cursor_init(&l->cursor, ftrace_rec_ip(table, &table->recs[0]));
	for (unsigned int i = 0; l->missing && i < table->nr; i++) {
		match_lookup_site(l, ftrace_rec_ip(table, &table->recs[i]));
		if (i % 1024 == 1023)
			cond_resched();
	}
}

static int match_lookup_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct match_lookup *l = data;

	match_lookup_take(l, name, addr);
	return !l->missing;
}

/**
 * ftrace_lookup_symbols - find many functions by their names
 * @sorted_syms: names, ascending by strcmp()
 * @cnt: how many
 * @addrs: gets the address of each function, which is that of its symbol
 *
 * Only functions that have a site, which is not in quarantine, are found.
 *
 * Context: process context, sleeps; takes ftrace_lock and module_mutex, one after
 * the other.
 * Return: 0; -ESRCH if a name has no such function, or is there twice; -ENOMEM.
 */
int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt, unsigned long *addrs)
{
	struct match_lookup *l __free(kfree) = NULL;
	struct ftrace_table *table;

	if (cnt == 1 && match_lookup_first(sorted_syms[0], addrs))
		return 0;
	l = kmalloc_obj(*l);
	if (!l)
		return -ENOMEM;
	l->names = sorted_syms;
	l->addrs = addrs;
	l->nr = cnt;
	l->missing = cnt;
	memset(addrs, 0, cnt * sizeof(*addrs));

	scoped_guard(mutex, &ftrace_lock) {
		for_each_ftrace_table(table) {
			if (!table->mod)
				match_lookup_table(l, table);
		}
	}
	if (l->missing)
		module_kallsyms_on_each_symbol(NULL, match_lookup_module_symbol, l);
	return l->missing ? -ESRCH : 0;
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/match_kunit.c"
#endif
