// SPDX-License-Identifier: GPL-2.0
/*
 * Filters: which sites an ops wants, by pattern or by address, from the files
 * set_ftrace_filter and set_ftrace_notrace, from the kernel command line, and
 * from other kernel code.
 *
 * A word of a filter file is one of
 *
 *	PATTERN			a name, or a glob with * ? [] (lib/glob.c)
 *	NUMBER			the NUMBERth line of available_filter_functions
 *	PATTERN:mod:MODULE	only in that module, loaded or not; both may be
 *				globs, an empty or * MODULE stands for any
 *	PATTERN:COMMAND[:ARGS]	see ftrace_command.c
 *
 * and a leading ! takes away instead of adding.
 *
 * Invariants:
 *  1. Site sets are sorted and never change; a filter gets another one.
 *  2. What is written to a file is collected as sites to add and sites to
 *     take away, and applied to the filter as it is when the file is closed:
 *     two writers both get what they wrote.
 *  3. A write() takes all of its words, or fails and takes none. A file to
 *     which nothing but failing writes went leaves its filter alone, even if
 *     it was opened to be truncated.
 *  4. A filter->only that becomes empty becomes NULL (every site), unless it
 *     waits for a module: an empty file has always meant that.
 *
 * ftrace_lock covers the filters, and the list of those in use.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "ftrace_internal.h"
#include "trace.h"

#define FILTER_WORD_MAX		(KSYM_NAME_LEN + MODULE_NAME_LEN + 128)

/* All filters that name sites or wait for modules. */
static LIST_HEAD(filters_in_use);

/* Site sets */

/**
 * ftrace_site_set_alloc - make room for a site set
 * @nr: number of addresses that the caller fills in
 *
 * Return: the set, or NULL.
 */
struct ftrace_site_set *ftrace_site_set_alloc(unsigned int nr)
{
	struct ftrace_site_set *set = kvmalloc(struct_size(set, ip, nr), GFP_KERNEL);

	if (set)
		set->nr = nr;
	return set;
}

/**
 * ftrace_site_set_free - free a site set
 * @set: the set, or NULL
 */
void ftrace_site_set_free(struct ftrace_site_set *set)
{
	kvfree(set);
}

static void site_set_cleanup(struct ftrace_site_set *set)
{
	if (!IS_ERR(set))
		ftrace_site_set_free(set);
}

DEFINE_FREE(site_set, struct ftrace_site_set *, site_set_cleanup(_T))

/**
 * ftrace_site_set_dup - copy a site set
 * @set: the set, or NULL
 *
 * Return: the copy; NULL if there is no memory, or no set.
 */
struct ftrace_site_set *ftrace_site_set_dup(const struct ftrace_site_set *set)
{
	struct ftrace_site_set *copy = set ? ftrace_site_set_alloc(set->nr) : NULL;

	if (copy)
		memcpy(copy->ip, set->ip, flex_array_size(set, ip, set->nr));
	return copy;
}

static unsigned int site_set_nr(const struct ftrace_site_set *set)
{
	return set ? set->nr : 0;
}

/**
 * ftrace_site_set_union - the sites of two sets
 * @a: a set, or NULL for the empty one
 * @b: another
 *
 * Return: a new set, or NULL if there is no memory.
 */
struct ftrace_site_set *ftrace_site_set_union(const struct ftrace_site_set *a,
					      const struct ftrace_site_set *b)
{
	unsigned int na = site_set_nr(a), nb = site_set_nr(b), i = 0, j = 0, nr = 0;
	struct ftrace_site_set *set = ftrace_site_set_alloc(na + nb);

	if (!set)
		return NULL;
	while (i < na || j < nb) {
		if (j == nb || (i < na && a->ip[i] < b->ip[j])) {
			set->ip[nr++] = a->ip[i++];
		} else {
			if (i < na && a->ip[i] == b->ip[j])
				i++;
			set->ip[nr++] = b->ip[j++];
		}
	}
	set->nr = nr;
	return set;
}

/**
 * ftrace_site_set_minus - the sites of one set that are not in another
 * @a: a set, or NULL for the empty one
 * @b: another
 *
 * Return: a new set, or NULL if there is no memory.
 */
struct ftrace_site_set *ftrace_site_set_minus(const struct ftrace_site_set *a,
					      const struct ftrace_site_set *b)
{
	unsigned int na = site_set_nr(a), nb = site_set_nr(b), j = 0, nr = 0;
	struct ftrace_site_set *set = ftrace_site_set_alloc(na);

	if (!set)
		return NULL;
	for (unsigned int i = 0; i < na; i++) {
		while (j < nb && b->ip[j] < a->ip[i])
			j++;
		if (j == nb || b->ip[j] != a->ip[i])
			set->ip[nr++] = a->ip[i];
	}
	set->nr = nr;
	return set;
}

/**
 * ftrace_site_set_lower_bound - find the first site at or after an address
 * @set: the set, or NULL for the empty one
 * @ip: the address
 *
 * Return: its index; the number of sites if there is none.
 */
unsigned int ftrace_site_set_lower_bound(const struct ftrace_site_set *set, unsigned long ip)
{
	unsigned int lo = 0, hi = site_set_nr(set);

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (set->ip[mid] < ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * ftrace_site_set_has - whether a site is in a set
 * @set: the set, or NULL for the empty one
 * @ip: the site
 *
 * Return: true if it is.
 */
bool ftrace_site_set_has(const struct ftrace_site_set *set, unsigned long ip)
{
	unsigned int i = ftrace_site_set_lower_bound(set, ip);

	return i < site_set_nr(set) && set->ip[i] == ip;
}

/* Replaces *@set by @with, which may be the result of a failed allocation. */
static int site_set_replace(struct ftrace_site_set **set, struct ftrace_site_set *with)
{
	if (!with)
		return -ENOMEM;
	ftrace_site_set_free(*set);
	*set = with;
	return 0;
}

static int ip_cmp(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* Sorts what was collected in any order, and drops what came twice. */
static void site_set_sort(struct ftrace_site_set *set)
{
	unsigned int nr = 0;

	sort(set->ip, set->nr, sizeof(set->ip[0]), ip_cmp, NULL);
	for (unsigned int i = 0; i < set->nr; i++) {
		if (!nr || set->ip[nr - 1] != set->ip[i])
			set->ip[nr++] = set->ip[i];
	}
	set->nr = nr;
}

/* Patterns */

/**
 * struct site_pattern - a parsed pattern
 * @type: how to compare
 * @text: with what
 * @len: its length; an empty text matches everything
 * @not: a ! stood before it
 * @skip: for a text that may be anywhere: how far the end of @text moves on
 *	  in a name when it stands on each character; 0 for its own last one
 */
struct site_pattern {
	enum regex_type	type;
	char		*text;
	unsigned int	len;
	int		not;
	u8		skip[256];
};

/* The table of Horspool, "Practical fast searching in strings", 1980. */
static void pattern_index(struct site_pattern *pattern)
{
	memset(pattern->skip, min(pattern->len, 255), sizeof(pattern->skip));
	for (unsigned int i = 0; i < pattern->len; i++)
		pattern->skip[(u8)pattern->text[i]] = min(pattern->len - 1 - i, 255);
}

/* Changes @word. */
static void pattern_parse(struct site_pattern *pattern, char *word)
{
	pattern->type = filter_parse_regex(word, strlen(word), &pattern->text, &pattern->not);
	pattern->len = strlen(pattern->text);
	if (pattern->type == MATCH_MIDDLE_ONLY && pattern->len)
		pattern_index(pattern);
}

/* Most characters of a name are not looked at: this runs for every name. */
static bool pattern_is_inside(const struct site_pattern *pattern, const char *name,
			      unsigned int len)
{
	unsigned int last = pattern->len - 1, skip;

	for (unsigned int i = last; i < len; i += skip) {
		skip = pattern->skip[(u8)name[i]];
		if (skip)
			continue;
		if (!memcmp(name + i - last, pattern->text, last))
			return true;
		skip = 1;
	}
	return false;
}

static bool pattern_matches(const struct site_pattern *pattern, const char *name,
			    unsigned int len)
{
	if (!pattern->len)
		return true;
	switch (pattern->type) {
	case MATCH_FULL:
		return !strcmp(name, pattern->text);
	case MATCH_FRONT_ONLY:
		return !strncmp(name, pattern->text, pattern->len);
	case MATCH_MIDDLE_ONLY:
		return pattern_is_inside(pattern, name, len);
	case MATCH_END_ONLY:
		return len >= pattern->len && !strcmp(name + len - pattern->len, pattern->text);
	case MATCH_GLOB:
		return glob_match(pattern->text, name);
	default:
		return false;
	}
}

/* An empty module pattern stands for any module, but not for the kernel. */
static bool pattern_matches_module(const struct site_pattern *pattern, struct module *mod)
{
	const char *name = module_name(mod);
	bool matches = mod && pattern_matches(pattern, name, strlen(name));

	return matches != !!pattern->not;
}

/* Appends the sites of a table whose names match. */
static int match_table(struct ftrace_site_set *set, struct ftrace_table *table,
		       const struct site_pattern *pattern)
{
	struct ftrace_names *names __free(kfree) = kmalloc(sizeof(*names), GFP_KERNEL);
	const char *name;
	int ret;

	if (!names)
		return -ENOMEM;
	ret = ftrace_names_start(names, table);
	for (unsigned int i = 0; !ret && i < table->nr; i++) {
		name = ftrace_names_get(names, i);
		if (name && pattern_matches(pattern, name, names->len))
			set->ip[set->nr++] = ftrace_rec_ip(table, &table->recs[i]);
		if (i % 1024 == 1023)
			cond_resched();
	}
	ftrace_names_end(names);
	return ret;
}

static int match_symbol(void *data, unsigned long addr)
{
	struct ftrace_site_set *set = data;
	unsigned long ip = ftrace_location_any(addr);

	if (ip && set->nr < ftrace_nr_sites)
		set->ip[set->nr++] = ip;
	return 0;
}

static int match_all_tables(struct ftrace_site_set *set, const struct site_pattern *pattern,
			    const struct site_pattern *module)
{
	/* The kernel's own symbols are indexed by name. */
	bool exact = pattern->type == MATCH_FULL && pattern->len && !module;
	struct ftrace_table *table;
	int ret;

	if (exact)
		kallsyms_on_each_match_symbol(match_symbol, pattern->text, set);

	for_each_ftrace_table(table) {
		if (exact && !table->mod)
			continue;
		if (module && !pattern_matches_module(module, table->mod))
			continue;
		ret = match_table(set, table, pattern);
		if (ret)
			return ret;
	}
	if (exact)
		site_set_sort(set);
	return 0;
}

/* The record on a line of available_filter_functions, which has none in quarantine. */
static struct dyn_ftrace *match_line(struct ftrace_table *table, unsigned long *number)
{
	struct dyn_ftrace *rec;

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

static int match_number(struct ftrace_site_set *set, const struct site_pattern *pattern)
{
	struct ftrace_table *table;
	struct dyn_ftrace *rec;
	unsigned long number;

	if (kstrtoul(pattern->text, 0, &number) || !number)
		return -EINVAL;
	for_each_ftrace_table(table) {
		rec = match_line(table, &number);
		if (!rec)
			continue;
		set->ip[set->nr++] = ftrace_rec_ip(table, rec);
		break;
	}
	return 0;
}

static struct ftrace_site_set *match_parsed(const struct site_pattern *pattern,
					    const struct site_pattern *module)
{
	struct ftrace_site_set *all __free(site_set) = ftrace_site_set_alloc(ftrace_nr_sites);
	struct ftrace_site_set *set;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (!all)
		return ERR_PTR(-ENOMEM);
	all->nr = 0;
	ret = pattern->type == MATCH_INDEX ? match_number(all, pattern) :
					     match_all_tables(all, pattern, module);
	if (ret)
		return ERR_PTR(ret);
	set = ftrace_site_set_dup(all);
	return set ?: ERR_PTR(-ENOMEM);
}

/**
 * ftrace_site_set_drop_lost - leave sites in quarantine out of what is asked for
 * @set: just made, and seen by nobody else
 *
 * Those that have been repaired since are not in quarantine any more.
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_site_set_drop_lost(struct ftrace_site_set *set)
{
	const struct dyn_ftrace *rec;
	unsigned int nr = 0;

	lockdep_assert_held(&ftrace_lock);

	ftrace_release_repaired();
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
 * Those in quarantine are among them, for they may be in a filter from which
 * they are to be taken. See ftrace_site_set_drop_lost().
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: a new set, empty if nothing matches; ERR_PTR of -ENOMEM or -EINVAL
 * (a number that is none).
 */
struct ftrace_site_set *ftrace_match_sites(const char *glob, const char *module)
{
	char *glob_copy __free(kfree) = kstrdup(glob, GFP_KERNEL);
	char *module_copy __free(kfree) = kstrdup(module, GFP_KERNEL);
	struct site_pattern pattern, module_pattern;

	if (!glob_copy || (module && !module_copy))
		return ERR_PTR(-ENOMEM);
	pattern_parse(&pattern, glob_copy);
	if (!module)
		return match_parsed(&pattern, NULL);
	pattern_parse(&module_pattern, module_copy);
	return match_parsed(&pattern, &module_pattern);
}

/* Why nothing matches */

/**
 * struct why_no_site - a search for functions that match and have no site
 * @pattern: that they are to match
 * @why: what is known so far
 */
struct why_no_site {
	const struct site_pattern	*pattern;
	enum ftrace_word_error		why;
};

static bool function_is_quarantined(unsigned long addr)
{
	const struct dyn_ftrace *rec;

	guard(preempt_notrace)();
	rec = ftrace_site_find(ftrace_location_any(addr));
	return rec && ftrace_rec_quarantined(rec);
}

/* foo.isra.0, where foo is asked for. */
static bool pattern_is_stem(const struct site_pattern *pattern, const char *name)
{
	return pattern->type == MATCH_FULL && str_has_prefix(name, pattern->text) &&
	       name[pattern->len] == '.';
}

static enum ftrace_word_error why_function(const struct site_pattern *pattern, const char *name,
					   unsigned long addr)
{
	if (pattern_is_stem(pattern, name) && ftrace_location(addr))
		return FTRACE_WORD_VARIANT;
	if (!pattern_matches(pattern, name, strlen(name)))
		return FTRACE_WORD_NO_FUNCTION;
	if (function_is_quarantined(addr))
		return FTRACE_WORD_QUARANTINE;
	if (core_kernel_text(addr) || is_module_text_address(addr))
		return FTRACE_WORD_NO_SITE;
	return is_kernel_inittext(addr) ? FTRACE_WORD_FREED : FTRACE_WORD_NO_FUNCTION;
}

static int why_symbol(void *data, const char *name, unsigned long addr)
{
	struct why_no_site *w = data;

	w->why = max(w->why, why_function(w->pattern, name, addr));
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
	struct site_pattern pattern;
	struct why_no_site w = { .pattern = &pattern };

	if (!copy || !*glob || module)
		return FTRACE_WORD_NO_FUNCTION;
	pattern_parse(&pattern, copy);
	if (pattern.type == MATCH_INDEX)
		return FTRACE_WORD_NO_FUNCTION;
	kallsyms_on_each_symbol(why_symbol, &w);
	/* At boot ftrace_lock is held, and there are no modules. */
	if (system_state == SYSTEM_RUNNING)
		module_kallsyms_on_each_symbol(NULL, why_symbol, &w);
	return w.why;
}

/* Patterns for modules to come */

/**
 * struct filter_later - a pattern that waits for its module
 * @node: in a filter's or an edit's list
 * @remove: in an edit: take the pattern out of the filter's list
 * @func: pattern for the function
 * @module: pattern for the module
 */
struct filter_later {
	struct list_head	node;
	bool			remove;
	const char		*func;
	const char		*module;
};

static void later_free(struct filter_later *later)
{
	list_del(&later->node);
	kfree(later->func);
	kfree(later->module);
	kfree(later);
}

static void later_free_list(struct list_head *list)
{
	struct filter_later *later, *next;

	list_for_each_entry_safe(later, next, list, node)
		later_free(later);
}

static int later_add(struct list_head *list, const struct filter_later *what)
{
	struct filter_later *later = kzalloc(sizeof(*later), GFP_KERNEL);

	if (!later)
		return -ENOMEM;
	later->remove = what->remove;
	later->func = kstrdup(what->func, GFP_KERNEL);
	later->module = kstrdup(what->module, GFP_KERNEL);
	list_add_tail(&later->node, list);
	if (!later->func || !later->module) {
		later_free(later);
		return -ENOMEM;
	}
	return 0;
}

/* Whether @what takes @later away: of the same name, or any of the same module. */
static bool later_is_meant(const struct filter_later *later, const struct filter_later *what)
{
	if (strcmp(later->module, what->module))
		return false;
	return !strcmp(later->func, what->func) || (what->remove && !strcmp(what->func, "*"));
}

static void later_forget(struct list_head *list, const struct filter_later *what)
{
	struct filter_later *later, *next;

	list_for_each_entry_safe(later, next, list, node) {
		if (later_is_meant(later, what))
			later_free(later);
	}
}

/* Moves the edits to a filter's list, doing what they say. Cannot fail. */
static void later_apply(struct list_head *list, struct list_head *edits)
{
	struct filter_later *later, *next;

	list_for_each_entry_safe(later, next, edits, node) {
		later_forget(list, later);
		if (later->remove)
			later_free(later);
		else
			list_move_tail(&later->node, list);
	}
}

/* Whether text that a set has sites in can go away: a module's, or init text. */
static bool site_set_may_go(const struct ftrace_site_set *set)
{
	return set && set->nr && (!is_kernel_text(set->ip[0]) ||
				  !is_kernel_text(set->ip[set->nr - 1]));
}

/*
 * A filter that modules do not concern is not on the list: its owner may free
 * it, with what it holds, and never say so. One that stays keeps its place, as
 * the list may be walked now.
 */
static void filter_update_list(struct ftrace_filter *filter)
{
	bool wanted = site_set_may_go(filter->only) || site_set_may_go(filter->not) ||
		      !list_empty(&filter->later) || !list_empty(&filter->later_not);

	if (!wanted)
		list_del_init(&filter->pending);
	else if (list_empty(&filter->pending))
		list_add_tail(&filter->pending, &filters_in_use);
}

static struct list_head *filter_later_list(struct ftrace_filter *filter, bool exclude)
{
	return exclude ? &filter->later_not : &filter->later;
}

static void filter_free_content(struct ftrace_filter *filter)
{
	ftrace_site_set_free(filter->only);
	ftrace_site_set_free(filter->not);
	filter->only = NULL;
	filter->not = NULL;
	later_free_list(&filter->later);
	later_free_list(&filter->later_not);
	filter_update_list(filter);
}

/*
 * Moves what has sites in @mod from @list to @due, and the sites into *@set. What
 * is for @mod, and has none, goes on waiting where it can be seen.
 */
static int later_match(struct list_head *list, struct list_head *due, struct module *mod,
		       struct ftrace_site_set **set)
{
	struct filter_later *later, *next;
	struct ftrace_site_set *found;
	int ret;

	list_for_each_entry_safe(later, next, list, node) {
		char *copy __free(kfree) = kstrdup(later->module, GFP_KERNEL);
		struct site_pattern pattern;

		if (!copy)
			return -ENOMEM;
		pattern_parse(&pattern, copy);
		if (!pattern_matches_module(&pattern, mod))
			continue;
		found = ftrace_match_sites(later->func, module_name(mod));
		if (IS_ERR(found))
			return PTR_ERR(found);
		ftrace_site_set_drop_lost(found);
		ret = site_set_replace(set, ftrace_site_set_union(*set, found));
		if (found->nr)
			list_move_tail(&later->node, due);
		ftrace_site_set_free(found);
		if (ret)
			return ret;
	}
	return 0;
}

static int filter_module_coming(struct ftrace_filter *filter, struct module *mod)
{
	struct ftrace_site_set *only __free(site_set) = ftrace_site_set_dup(filter->only);
	struct ftrace_site_set *not __free(site_set) = ftrace_site_set_dup(filter->not);
	LIST_HEAD(due_not);
	LIST_HEAD(due);
	int ret;

	if ((filter->only && !only) || (filter->not && !not))
		return -ENOMEM;
	ret = later_match(&filter->later, &due, mod, &only);
	if (!ret)
		ret = later_match(&filter->later_not, &due_not, mod, &not);
	if (!ret)
		ret = ftrace_refilter(filter, only, not);
	if (ret) {
		list_splice(&due, &filter->later);
		list_splice(&due_not, &filter->later_not);
		return ret;
	}
	retain_and_null_ptr(only);
	retain_and_null_ptr(not);
	later_free_list(&due);
	later_free_list(&due_not);
	filter_update_list(filter);
	return 0;
}

/**
 * ftrace_filter_module_coming - apply what waits for a module
 * @mod: the module, whose tables are in place
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, or the first error of ftrace_refilter(); what failed still waits.
 */
int ftrace_filter_module_coming(struct module *mod)
{
	struct ftrace_filter *filter, *next;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(filter, next, &filters_in_use, pending) {
		int err = 0;

		if (!list_empty(&filter->later) || !list_empty(&filter->later_not))
			err = filter_module_coming(filter, mod);
		ret = ret ?: err;
	}
	return ret;
}

/* Filters */

/**
 * ftrace_filter_init - prepare a filter that wants every site
 * @filter: the filter
 */
void ftrace_filter_init(struct ftrace_filter *filter)
{
	INIT_LIST_HEAD(&filter->later);
	INIT_LIST_HEAD(&filter->later_not);
	INIT_LIST_HEAD(&filter->pending);
}

/* Sets shrink in place: what is taken away is going for good. */
static void site_set_forget(struct ftrace_site_set *set, unsigned long start, unsigned long end)
{
	unsigned int nr = 0;

	if (!set)
		return;
	for (unsigned int i = 0; i < set->nr; i++) {
		if (set->ip[i] < start || set->ip[i] >= end)
			set->ip[nr++] = set->ip[i];
	}
	set->nr = nr;
}

static void filter_forget(struct ftrace_filter *filter, unsigned long start, unsigned long end)
{
	site_set_forget(filter->only, start, end);
	site_set_forget(filter->not, start, end);
}

/**
 * ftrace_filter_forget_range - drop the sites of text that is going away
 * @start: first address of the text
 * @end: first address behind it
 *
 * A filter that wanted nothing else wants nothing from now on, not everything.
 *
 * Context: ftrace_lock is held; the sites are detached.
 */
void ftrace_filter_forget_range(unsigned long start, unsigned long end)
{
	struct ftrace_filter *filter;
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	/* The commands look up in their filters what they have to forget. */
	ftrace_command_forget_range(start, end);
	ftrace_graph_filter_forget_range(start, end);
	list_for_each_entry(filter, &filters_in_use, pending)
		filter_forget(filter, start, end);
	/* A filter that was set up by hand is not on the list. */
	list_for_each_entry(ops, &ftrace_ops_registered, list)
		filter_forget(ops->filter, start, end);
}

/**
 * ftrace_filter_forget_module - drop the filters that are part of a module
 * @mod: the module, whose memory is going away
 *
 * It may have left some behind that it should have freed.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_filter_forget_module(struct module *mod)
{
	struct ftrace_filter *filter, *next;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(filter, next, &filters_in_use, pending) {
		if (within_module((unsigned long)filter, mod))
			filter_free_content(filter);
	}
}

/* Edits */

/**
 * struct filter_edit - a change to a filter, being collected
 * @add: sites to add
 * @del: sites to take away
 * @later: patterns to wait with, or to stop waiting with
 * @clear: start from an empty filter
 */
struct filter_edit {
	struct ftrace_site_set	*add;
	struct ftrace_site_set	*del;
	struct list_head	later;
	bool			clear;
};

static void edit_init(struct filter_edit *edit, bool clear)
{
	*edit = (struct filter_edit) { .clear = clear };
	INIT_LIST_HEAD(&edit->later);
}

static void edit_destroy(struct filter_edit *edit)
{
	ftrace_site_set_free(edit->add);
	ftrace_site_set_free(edit->del);
	later_free_list(&edit->later);
}

/* What was said last about a site counts. */
static int edit_sites(struct filter_edit *edit, const struct ftrace_site_set *sites, bool remove)
{
	struct ftrace_site_set **to = remove ? &edit->del : &edit->add;
	struct ftrace_site_set **from = remove ? &edit->add : &edit->del;
	int ret = site_set_replace(from, ftrace_site_set_minus(*from, sites));

	return ret ?: site_set_replace(to, ftrace_site_set_union(*to, sites));
}

/* Whether a word of an edit, behind @word, takes @later away. */
static bool edit_takes_later(const struct filter_edit *edit, const struct list_head *word,
			     const struct filter_later *later)
{
	const struct filter_later *what;

	for (word = word->next; word != &edit->later; word = word->next) {
		what = list_entry(word, struct filter_later, node);
		if (what->remove && later_is_meant(later, what))
			return true;
	}
	return false;
}

/* Whether there is something to take away in @list, as the edit so far leaves it. */
static bool edit_finds_later(const struct filter_edit *edit, const struct list_head *list,
			     const struct filter_later *what)
{
	const struct filter_later *later;

	list_for_each_entry(later, &edit->later, node) {
		if (!later->remove && later_is_meant(later, what) &&
		    !edit_takes_later(edit, &later->node, later))
			return true;
	}
	if (edit->clear)
		return false;
	list_for_each_entry(later, list, node) {
		if (later_is_meant(later, what) && !edit_takes_later(edit, &edit->later, later))
			return true;
	}
	return false;
}

/* Whether a pattern is one to wait with, or to stop waiting with. */
static bool edit_waits(const struct filter_edit *edit, const struct list_head *list,
		       const struct filter_later *what, bool matches)
{
	/* A module that is named may still come, or come again. */
	if (!what->module || !*what->module || !strcmp(what->module, "*"))
		return false;
	return what->remove ? edit_finds_later(edit, list, what) : !matches;
}

/*
 * A word without a command; -EINVAL if nothing matches. @list is what waits in the
 * filter that the edit is for. Changes @func.
 */
static int edit_pattern(struct filter_edit *edit, char *func, const char *module,
			const struct list_head *list)
{
	bool remove = func[0] == '!';
	struct filter_later what = { .remove = remove, .module = module };
	struct ftrace_site_set *sites __free(site_set) = NULL;

	func += remove;
	if (!*func && !module)
		return -EINVAL;
	sites = ftrace_match_sites(func, module);
	if (IS_ERR(sites))
		return PTR_ERR(sites);
	if (!remove)
		ftrace_site_set_drop_lost(sites);

	what.func = *func ? func : "*";
	if (edit_waits(edit, list, &what, sites->nr)) {
		int ret = later_add(&edit->later, &what);

		if (ret)
			return ret;
	} else if (!sites->nr) {
		return -EINVAL;
	}
	return edit_sites(edit, sites, remove);
}

/* The set that a side of a filter becomes; NULL for none. */
static int edit_result(const struct filter_edit *edit, const struct ftrace_site_set *old,
		       struct ftrace_site_set **result)
{
	struct ftrace_site_set *rest __free(site_set) = NULL;

	rest = ftrace_site_set_minus(edit->clear ? NULL : old, edit->del);
	if (!rest)
		return -ENOMEM;
	*result = ftrace_site_set_union(rest, edit->add);
	return *result ? 0 : -ENOMEM;
}

static bool later_will_be_empty(const struct list_head *list, const struct filter_edit *edit)
{
	struct filter_later *later;

	list_for_each_entry(later, &edit->later, node) {
		if (!later->remove)
			return false;
	}
	return edit->clear || list_empty(list);
}

/**
 * struct filter_sides - what an edit makes of a filter
 * @only: its new @only, or NULL
 * @not: its new @not, or NULL
 */
struct filter_sides {
	struct ftrace_site_set	*only;
	struct ftrace_site_set	*not;
};

static void filter_sides_free(struct filter_sides *to)
{
	ftrace_site_set_free(to->only);
	ftrace_site_set_free(to->not);
}

/* What an edit makes of a filter. Even on failure, @to is to be freed. */
static int edit_plan(const struct filter_edit *edit, struct ftrace_filter *filter, bool exclude,
		     struct filter_sides *to)
{
	struct ftrace_site_set *old = exclude ? filter->not : filter->only;
	struct ftrace_site_set *other = exclude ? filter->only : filter->not;
	struct ftrace_site_set **set = exclude ? &to->not : &to->only;
	struct ftrace_site_set **keep = exclude ? &to->only : &to->not;
	int ret;

	*keep = ftrace_site_set_dup(other);
	if (other && !*keep)
		return -ENOMEM;
	ret = edit_result(edit, old, set);
	if (ret)
		return ret;
	/* An empty side is none, but for text that went away and may be back. */
	if (!(*set)->nr && later_will_be_empty(filter_later_list(filter, exclude), edit) &&
	    (edit->clear || site_set_nr(old) || !old)) {
		ftrace_site_set_free(*set);
		*set = NULL;
	}
	return 0;
}

/* Makes an edit one side of a filter. On failure the filter is as it was. */
static int edit_commit(struct filter_edit *edit, struct ftrace_filter *filter, bool exclude)
{
	struct list_head *list = filter_later_list(filter, exclude);
	struct filter_sides to = { };
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ret = edit_plan(edit, filter, exclude, &to) ?:
	      ftrace_refilter(filter, to.only, to.not);
	if (ret) {
		filter_sides_free(&to);
		return ret;
	}

	if (edit->clear)
		later_free_list(list);
	later_apply(list, &edit->later);
	filter_update_list(filter);
	return 0;
}

/* Filters set by other kernel code */

/**
 * struct owner_edit - what the owner of an ops wants its filter to be
 * @ops: the ops, registered or not
 * @buf: a pattern of functions to add, or NULL
 * @len: its length
 * @ips: addresses of sites or functions, or NULL
 * @cnt: how many
 * @remove: take @ips away instead of adding them
 * @reset: begin with an empty filter
 * @exclude: it is the sites to leave out that are edited
 */
struct owner_edit {
	struct ftrace_ops	*ops;
	const unsigned char	*buf;
	int			len;
	const unsigned long	*ips;
	unsigned int		cnt;
	bool			remove;
	bool			reset;
	bool			exclude;
};

static int owner_edit_pattern(const struct owner_edit *e, struct filter_edit *edit)
{
	char *word __free(kfree) = kstrndup((const char *)e->buf, e->len, GFP_KERNEL);

	return word ? edit_pattern(edit, strim(word), NULL, NULL) : -ENOMEM;
}

static int owner_edit_ips(const struct owner_edit *e, struct filter_edit *edit)
{
	struct ftrace_site_set *sites __free(site_set) = ftrace_site_set_alloc(e->cnt);
	unsigned int nr;

	if (!sites)
		return -ENOMEM;
	for (unsigned int i = 0; i < e->cnt; i++) {
		sites->ip[i] = ftrace_location_any(e->ips[i]);
		if (!sites->ip[i])
			return -EINVAL;
		if (e->remove && !ftrace_site_set_has(e->ops->filter->only, sites->ip[i]))
			return -ENOENT;
	}
	site_set_sort(sites);
	nr = sites->nr;
	if (!e->remove)
		ftrace_site_set_drop_lost(sites);
	return sites->nr == nr ? edit_sites(edit, sites, e->remove) : -EINVAL;
}

/* Even on failure, @edit is to be destroyed. */
static int owner_edit_start(const struct owner_edit *e, struct filter_edit *edit)
{
	lockdep_assert_held(&ftrace_lock);

	edit_init(edit, e->reset);
	if (ftrace_disabled)
		return -ENODEV;
	ftrace_ops_init(e->ops);
	if (e->ips)
		return owner_edit_ips(e, edit);
	return e->buf ? owner_edit_pattern(e, edit) : 0;
}

static int owner_edit_commit(const struct owner_edit *e)
{
	struct filter_edit edit;
	int ret;

	guard(mutex)(&ftrace_lock);

	ret = owner_edit_start(e, &edit) ?: edit_commit(&edit, e->ops->filter, e->exclude);
	edit_destroy(&edit);
	return ret;
}

/* The sites that an ops comes to and leaves when its filter becomes @to. */
static int filter_difference(const struct ftrace_filter *filter, const struct filter_sides *to,
			     struct ftrace_site_set **added, struct ftrace_site_set **removed)
{
	struct ftrace_site_set *old __free(site_set) =
		ftrace_site_set_minus(filter->only, filter->not);
	struct ftrace_site_set *new __free(site_set) = ftrace_site_set_minus(to->only, to->not);

	if (!old || !new)
		return -ENOMEM;
	*added = ftrace_site_set_minus(new, old);
	*removed = ftrace_site_set_minus(old, new);
	return *added && *removed ? 0 : -ENOMEM;
}

/* As registering it does, has a registered ops agree to what it comes to share. */
static int owner_edit_check(const struct owner_edit *e, struct ftrace_site_set **added,
			    struct ftrace_site_set **removed)
{
	struct filter_sides to = { };
	struct filter_edit edit;
	int ret;

	guard(mutex)(&ftrace_lock);

	ret = owner_edit_start(e, &edit) ?:
	      edit_plan(&edit, e->ops->filter, e->exclude, &to);
	/* Nobody can claim where all functions go on. */
	if (!ret && !to.only)
		ret = -EINVAL;
	if (!ret)
		ret = filter_difference(e->ops->filter, &to, added, removed);
	if (!ret && (e->ops->flags & FTRACE_OPS_FL_DIRECT))
		ret = ftrace_direct_ask_self(e->ops, *added);
	filter_sides_free(&to);
	edit_destroy(&edit);
	return ret;
}

/*
 * For a registered ops that may go around its functions. ftrace_lock is not held
 * while others are told, so the edit is made twice: it holds no site that has gone
 * meanwhile.
 */
static int owner_edit_around(const struct owner_edit *e)
{
	struct ftrace_site_set *removed __free(site_set) = NULL;
	struct ftrace_site_set *added __free(site_set) = NULL;
	bool peers = e->ops->flags & FTRACE_OPS_FL_IPMODIFY;
	int ret = owner_edit_check(e, &added, &removed);

	if (!ret && peers)
		ret = ftrace_direct_tell_peers(e->ops, added,
					       FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	if (!ret)
		ret = owner_edit_commit(e);
	if (!ret && peers)
		ftrace_direct_tell_peers(e->ops, removed,
					 FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
	return ret;
}

static int owner_edit(const struct owner_edit *e)
{
	int ret;

	if (!(e->ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)))
		return owner_edit_commit(e);

	ftrace_direct_lock();
	if (e->ops->flags & FTRACE_OPS_FL_ENABLED)
		ret = owner_edit_around(e);
	else
		ret = owner_edit_commit(e);
	ftrace_direct_unlock();
	return ret;
}

static int filter_set_pattern(struct ftrace_ops *ops, const unsigned char *buf, int len,
			      int reset, bool exclude)
{
	return owner_edit(&(struct owner_edit) {
		.ops = ops, .buf = buf, .len = len, .reset = reset, .exclude = exclude,
	});
}

/**
 * ftrace_set_filter - add the functions that match to what an ops wants
 * @ops: the ops, registered or not
 * @buf: a pattern; NULL for none
 * @len: its length
 * @reset: forget what the ops wanted before
 *
 * Context: process context, sleeps; takes ftrace_lock. For an ops that is direct, or
 * has FTRACE_OPS_FL_IPMODIFY, it takes direct_mutex, too.
 * Return: 0; -EINVAL if nothing matches, or if @ops is registered, is one of these two
 * kinds, and would want every function; -ENOMEM, -ENODEV, -EBUSY as from
 * register_ftrace_function(); for these two kinds, what a function that they come to
 * share with each other answers. On failure the filter is as it was.
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_pattern(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - add the functions that match to what an ops leaves out
 * @ops: the ops, registered or not
 * @buf: a pattern; NULL for none
 * @len: its length
 * @reset: forget what the ops left out before
 *
 * Context and Return: as for ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_pattern(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - ftrace_set_filter() for the top instance
 * @buf: as there
 * @len: as there
 * @reset: as there
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	filter_set_pattern(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - ftrace_set_notrace() for the top instance
 * @buf: as there
 * @len: as there
 * @reset: as there
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	filter_set_pattern(&global_ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/**
 * ftrace_set_filter_ips - add sites to what an ops wants, or take them away
 * @ops: the ops, registered or not
 * @ips: addresses of sites or of functions
 * @cnt: how many
 * @remove: nonzero to take them away
 * @reset: nonzero to forget what the ops wanted before
 *
 * Context: as for ftrace_set_filter().
 * Return: 0; -EINVAL if an address is no site, or one in quarantine that is to
 * be added; -ENOENT if one that is to be taken away was not wanted; -EFAULT if
 * they turn out to belong in quarantine; otherwise as for ftrace_set_filter(). On failure
 * the filter is as it was.
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt,
			  int remove, int reset)
{
	return owner_edit(&(struct owner_edit) {
		.ops = ops, .ips = ips, .cnt = cnt, .remove = remove, .reset = reset,
	});
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - ftrace_set_filter_ips() for one address
 * @ops: as there
 * @ip: the address
 * @remove: as there
 * @reset: as there
 *
 * Context and Return: as there.
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/**
 * ftrace_ops_set_global_filter - let an ops want what the top instance wants
 * @ops: not used before
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	ftrace_ops_init(ops);
	ops->filter = &global_ops.own_filter;
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);

/**
 * ftrace_free_filter - free what an ops' own filter holds
 * @ops: not registered
 *
 * Context: process context, sleeps; takes ftrace_lock.
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	struct ftrace_filter *filter = &ops->own_filter;

	guard(mutex)(&ftrace_lock);

	ftrace_ops_init(ops);
	if (WARN_ON_ONCE(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;
	filter_free_content(filter);
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/* Names to addresses */

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

/**
 * struct name_lookup - a search for the functions that have some names
 * @names: the names, ascending by strcmp()
 * @addrs: what was found for each; 0 for nothing
 * @nr: how many of them
 * @missing: how many are not found yet
 * @cursor: where the search is in the kernel's own symbols
 * @buf: a name of the symbol there
 */
struct name_lookup {
	const char		**names;
	unsigned long		*addrs;
	size_t			nr;
	size_t			missing;
	struct kallsyms_cursor	cursor;
	char			buf[KSYM_NAME_LEN + sizeof(u64)];
};

/* Where the address of a name goes; NULL if it is not asked for, or found already. */
static unsigned long *lookup_name(const struct name_lookup *l, const char *name)
{
	const char **found = bsearch(&name, l->names, l->nr, sizeof(name), name_cmp);
	unsigned long *addr = found ? &l->addrs[found - l->names] : NULL;

	return addr && !*addr ? addr : NULL;
}

static void lookup_found(struct name_lookup *l, unsigned long *to, unsigned long addr)
{
	*to = addr;
	l->missing--;
}

/* All names that the function of a site of the kernel itself has. */
static void lookup_site(struct name_lookup *l, unsigned long ip)
{
	unsigned int len = kallsyms_cursor_name(&l->cursor, ip, l->buf, sizeof(l->buf));

	if (ip - l->cursor.addr > FTRACE_MCOUNT_MAX_OFFSET)
		return;
	for (unsigned int i = 1; len; i++) {
		unsigned long *to = lookup_name(l, l->buf);

		if (to)
			lookup_found(l, to, l->cursor.addr);
		len = kallsyms_cursor_alias(&l->cursor, i, l->buf);
	}
}

static void lookup_table(struct name_lookup *l, const struct ftrace_table *table)
{
	if (!table->nr)
		return;
	kallsyms_cursor_init(&l->cursor, ftrace_rec_ip(table, &table->recs[0]));
	for (unsigned int i = 0; l->missing && i < table->nr; i++) {
		if (!ftrace_rec_quarantined(&table->recs[i]))
			lookup_site(l, ftrace_rec_ip(table, &table->recs[i]));
		if (i % 1024 == 1023)
			cond_resched();
	}
}

static int lookup_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct name_lookup *l = data;
	unsigned long *to = lookup_name(l, name);

	if (to && ftrace_location(addr) && !function_is_quarantined(addr))
		lookup_found(l, to, addr);
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
	struct name_lookup *l __free(kfree) = kmalloc(sizeof(*l), GFP_KERNEL);
	struct ftrace_table *table;

	if (!l)
		return -ENOMEM;
	l->names = sorted_syms;
	l->addrs = addrs;
	l->nr = cnt;
	l->missing = cnt;
	memset(addrs, 0, cnt * sizeof(*addrs));

	scoped_guard(mutex, &ftrace_lock) {
		ftrace_release_repaired();
		for_each_ftrace_table(table) {
			if (!table->mod)
				lookup_table(l, table);
		}
	}
	if (l->missing)
		module_kallsyms_on_each_symbol(NULL, lookup_module_symbol, l);
	return l->missing ? -ESRCH : 0;
}

/* Files */

/**
 * struct filter_file - an open set_ftrace_filter or set_ftrace_notrace
 * @lock: covers @edit, @wrote, @failed and @parser, as pwrite() is not one at a time;
 *	  is taken before ftrace_command_mutex and ftrace_lock
 * @tr: its instance, or NULL
 * @ops: whose filter it is
 * @exclude: it is set_ftrace_notrace
 * @probes: function commands are listed and accepted
 * @edit: what was written
 * @wrote: some word was taken
 * @failed: some write failed
 * @parser: holds a word that a write left unfinished
 * @shown: for reading: the sites as of when the file was opened
 */
struct filter_file {
	/* One write at a time */
	struct mutex		lock;
	struct trace_array	*tr;
	struct ftrace_ops	*ops;
	bool			exclude;
	bool			probes;
	struct filter_edit	edit;
	bool			wrote;
	bool			failed;
	struct trace_parser	parser;
	struct ftrace_site_set	*shown;
};

static const char *filter_file_name(const struct filter_file *f)
{
	return f->exclude ? "set_ftrace_notrace" : "set_ftrace_filter";
}

static void filter_file_log(struct filter_file *f, const char *word,
			    enum ftrace_word_error error, unsigned int pos)
{
	ftrace_report_word(f->tr, filter_file_name(f), word, error, pos);
}

/* No site that is matched by @func, which may have a ! before it. */
static void filter_file_log_func(struct filter_file *f, const char *word, const char *func,
				 const char *module)
{
	bool remove = func[0] == '!';
	enum ftrace_word_error why = FTRACE_WORD_NOT_LISTED;

	if (!remove || !module)
		why = ftrace_why_no_site(func + remove, module);
	filter_file_log(f, word, why, remove);
}

static bool filter_has_sites(const char *func)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	guard(mutex)(&ftrace_lock);
	sites = ftrace_match_sites(func, NULL);
	if (IS_ERR(sites))
		return false;
	ftrace_site_set_drop_lost(sites);
	return sites->nr;
}

static int filter_file_command(struct filter_file *f, char *func, char *command)
{
	if (!f->probes || !f->tr)
		return -EINVAL;
	return ftrace_command_run(f->tr, func, command, !f->exclude);
}

static int filter_file_word(void *data, char *word, bool cut)
{
	char *copy __free(kfree) = kstrdup(word, GFP_KERNEL);
	struct filter_file *f = data;
	char *func = word, *rest = strchr(word, ':');
	unsigned int pos = rest ? rest + 1 - word : 0;
	int ret;

	if (!copy)
		return -ENOMEM;
	if (cut) {
		filter_file_log(f, copy, FTRACE_WORD_TOO_LONG, 0);
		return -EINVAL;
	}
	if (rest)
		*rest++ = '\0';

	if (rest && strncmp(rest, "mod:", 4)) {
		ret = filter_file_command(f, func, rest);
		if (ret != -EINVAL)
			return ret;
		if (filter_has_sites(func + (func[0] == '!')))
			filter_file_log(f, copy, FTRACE_WORD_NO_COMMAND, pos);
		else
			filter_file_log_func(f, copy, func, NULL);
		return ret;
	}

	scoped_guard(mutex, &ftrace_lock)
		ret = edit_pattern(&f->edit, func, rest ? rest + 4 : NULL,
				   filter_later_list(f->ops->filter, f->exclude));
	if (ret == -EINVAL)
		filter_file_log_func(f, copy, func, rest);
	return ret;
}

static struct filter_file *filter_file_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;
	return file->private_data;
}

/**
 * ftrace_parse_words - hand the words of a write to a function, one by one
 * @parser: holds a word that a write left unfinished; empty after an error
 * @ubuf: what is written
 * @cnt: how much
 * @ppos: file position
 * @take: gets @data and each whole word, which it may change; or, with @cut set,
 *	  one that is too long, as far as there was room for it
 * @data: handed to @take
 * @took: set once a whole word was accepted
 *
 * Context: process context, sleeps.
 * Return: @cnt; or the first negative answer of @take; -EINVAL if a word is too long;
 * -EFAULT, -EINTR.
 */
ssize_t ftrace_parse_words(struct trace_parser *parser, const char __user *ubuf, size_t cnt,
			   loff_t *ppos, ftrace_word_func_t take, void *data, bool *took)
{
	ssize_t ret = 0;

	for (size_t done = 0; done < cnt; done += ret) {
		int err;

		ret = trace_get_user(parser, ubuf + done, cnt - done, ppos);
		if (ret < 0) {
			/* The word is cut where the buffer ends. */
			parser->buffer[parser->idx] = '\0';
			if (ret == -EINVAL)
				take(data, parser->buffer, true);
			goto fail;
		}
		if (!trace_parser_loaded(parser) || trace_parser_cont(parser))
			continue;
		err = take(data, parser->buffer, false);
		trace_parser_clear(parser);
		*took |= err >= 0;
		if (err >= 0 && fatal_signal_pending(current))
			err = -EINTR;
		if (err < 0) {
			ret = err;
			goto fail;
		}
		cond_resched();
	}
	return cnt;

fail:
	parser->fail = false;
	trace_parser_clear(parser);
	return ret;
}

/* Drops the patterns that were added behind @last. */
static void later_cut(struct list_head *list, struct list_head *last)
{
	while (last->next != list)
		later_free(list_entry(last->next, struct filter_later, node));
}

static ssize_t filter_file_write_locked(struct filter_file *f, const char __user *ubuf,
					size_t cnt, loff_t *ppos)
{
	struct ftrace_site_set *add __free(site_set) = ftrace_site_set_dup(f->edit.add);
	struct ftrace_site_set *del __free(site_set) = ftrace_site_set_dup(f->edit.del);
	struct list_head *last = f->edit.later.prev;
	bool took = false;
	ssize_t ret;

	lockdep_assert_held(&f->lock);

	if (!cnt)
		return 0;
	if (ftrace_disabled)
		return -ENODEV;
	if ((f->edit.add && !add) || (f->edit.del && !del))
		return -ENOMEM;

	ret = ftrace_parse_words(&f->parser, ubuf, cnt, ppos, filter_file_word, f, &took);
	if (ret >= 0) {
		f->wrote |= took;
		return ret;
	}

	swap(f->edit.add, add);
	swap(f->edit.del, del);
	later_cut(&f->edit.later, last);
	f->failed = true;
	return ret;
}

static ssize_t filter_file_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	struct filter_file *f = filter_file_of(file);

	guard(mutex)(&f->lock);
	return filter_file_write_locked(f, ubuf, cnt, ppos);
}

/**
 * ftrace_filter_write - write() of set_ftrace_filter and its like
 * @file: opened with ftrace_regex_open()
 * @ubuf: what is written
 * @cnt: how much
 * @ppos: file position
 *
 * Return: @cnt; or, with nothing of this write kept, -EINVAL if a word matches
 * no function or is no command, -ENOMEM, -EFAULT, -EINTR, -ENODEV, or what a
 * command returned.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	return filter_file_write(file, ubuf, cnt, ppos);
}

/**
 * ftrace_notrace_write - write() of set_ftrace_notrace and its like
 * @file: as for ftrace_filter_write()
 * @ubuf: as there
 * @cnt: as there
 * @ppos: as there
 *
 * Return: as there.
 */
ssize_t ftrace_notrace_write(struct file *file, const char __user *ubuf, size_t cnt,
			     loff_t *ppos)
{
	return filter_file_write(file, ubuf, cnt, ppos);
}

/*
 * Lines of a filter file: the sites or the line that says that there are none
 * (line 0), what waits for modules, and the function commands in one go.
 */
static void *filter_seq_start(struct seq_file *m, loff_t *pos)
{
	struct filter_file *f = m->private;

	mutex_lock(&ftrace_lock);
	if (*pos > max(site_set_nr(f->shown), 1u))
		return NULL;
	/* 0 must not be NULL. */
	return (void *)(unsigned long)(*pos + 1);
}

static void *filter_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct filter_file *f = m->private;

	++*pos;
	if (*pos > max(site_set_nr(f->shown), 1u))
		return NULL;
	return (void *)(unsigned long)(*pos + 1);
}

static void filter_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static void filter_show_later(struct seq_file *m, struct filter_file *f)
{
	struct filter_later *later;

	list_for_each_entry(later, filter_later_list(f->ops->filter, f->exclude), node)
		seq_printf(m, "%s:mod:%s\n", later->func, later->module);
}

static int filter_seq_show(struct seq_file *m, void *v)
{
	struct filter_file *f = m->private;
	unsigned long line = (unsigned long)v - 1;

	if (line < site_set_nr(f->shown)) {
		seq_printf(m, "%ps\n", (void *)f->shown->ip[line]);
	} else if (!f->shown) {
		if (line)
			goto tail;
		seq_puts(m, f->exclude ? "#### no functions disabled ####\n" :
					 "#### all functions enabled ####\n");
	} else if (line) {
		goto tail;
	}
	return 0;
tail:
	filter_show_later(m, f);
	if (f->probes && f->tr)
		ftrace_command_show(m, f->tr);
	return 0;
}

static const struct seq_operations filter_seq_ops = {
	.start	= filter_seq_start,
	.next	= filter_seq_next,
	.stop	= filter_seq_stop,
	.show	= filter_seq_show,
};

static void filter_file_free(struct filter_file *f)
{
	edit_destroy(&f->edit);
	trace_parser_put(&f->parser);
	ftrace_site_set_free(f->shown);
	if (f->tr)
		trace_array_put(f->tr);
	kfree(f);
}

static int filter_file_open_for_read(struct filter_file *f, struct file *file)
{
	struct ftrace_filter *filter = f->ops->filter;
	int ret = seq_open(file, &filter_seq_ops);

	if (ret)
		return ret;
	((struct seq_file *)file->private_data)->private = f;

	guard(mutex)(&ftrace_lock);
	if (f->exclude ? !filter->not : !filter->only)
		return 0;
	f->shown = ftrace_site_set_dup(f->exclude ? filter->not : filter->only);
	if (f->shown)
		return 0;
	seq_release(NULL, file);
	return -ENOMEM;
}

/**
 * ftrace_regex_open - open a file that shows and sets a filter
 * @tr: the instance; NULL to take it from the ops
 * @ops: whose filter it is; NULL for the instance's
 * @flag: FTRACE_ITER_NOTRACE for the sites to leave out; FTRACE_ITER_DO_PROBES
 *	  if function commands are shown and accepted
 * @inode: not used
 * @file: the file
 *
 * Context: process context, sleeps.
 * Return: 0, -ENODEV, -EPERM when locked down, or -ENOMEM.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	struct filter_file *f;
	int ret;

	if (ftrace_disabled)
		return -ENODEV;
	if (!tr) {
		ops = ops ?: &global_ops;
		tr = ops->private;
	}
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		if (tr)
			trace_array_put(tr);
		return -ENOMEM;
	}
	mutex_init(&f->lock);
	f->tr = tr;
	f->ops = ops ?: tr->ops;
	f->exclude = flag & FTRACE_ITER_NOTRACE;
	f->probes = flag & FTRACE_ITER_DO_PROBES;
	edit_init(&f->edit, (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC));
	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_init(f->ops);

	ret = trace_parser_get_init(&f->parser, FILTER_WORD_MAX) ? -ENOMEM : 0;
	if (!ret) {
		if (file->f_mode & FMODE_READ)
			ret = filter_file_open_for_read(f, file);
		else
			file->private_data = f;
	}
	if (ret)
		filter_file_free(f);
	return ret;
}

static void filter_file_commit(struct filter_file *f)
{
	int ret;

	/* The last word may come without a newline. */
	if (trace_parser_loaded(&f->parser)) {
		if (filter_file_word(f, f->parser.buffer, false))
			f->failed = true;
		else
			f->wrote = true;
	}
	if (f->failed && !f->wrote)
		return;
	if (!f->wrote && !f->edit.clear)
		return;

	guard(mutex)(&ftrace_lock);
	ret = edit_commit(&f->edit, f->ops->filter, f->exclude);
	if (ret)
		pr_warn("%s is unchanged: %pe\n", filter_file_name(f), ERR_PTR(ret));
}

/**
 * ftrace_regex_release - close a file that shows and sets a filter, and apply
 * what was written
 * @inode: not used
 * @file: the file
 *
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	struct filter_file *f = filter_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		filter_file_commit(f);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	filter_file_free(f);
	return 0;
}

static int filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL,
				 FTRACE_ITER_FILTER | FTRACE_ITER_DO_PROBES, inode, file);
}

static int notrace_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE, inode, file);
}

static const struct file_operations filter_fops = {
	.open		= filter_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.read		= seq_read,
	.write		= ftrace_notrace_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_create_filter_files - make the filter files of an instance
 * @tr: the instance; NULL for the top one
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr, &filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr, &notrace_fops);
}

/**
 * ftrace_destroy_filter_files - forget the filter of an ops that will be freed
 * @ops: the ops
 *
 * The files are gone already.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	ops->flags |= FTRACE_OPS_FL_DELETED;
	ftrace_free_filter(ops);
}

/* The kernel command line */

static char filter_param[COMMAND_LINE_SIZE] __initdata;
static char notrace_param[COMMAND_LINE_SIZE] __initdata;

/* The startup tests leave alone what the command line asked for. */
bool ftrace_filter_param __initdata;

/**
 * ftrace_early_list - keep a list from the command line until it can be used
 * @to: COMMAND_LINE_SIZE bytes
 * @list: words with commas between; may come from a bootconfig, and be longer
 * @param: what the user calls it
 *
 * Context: boot.
 */
void __init ftrace_early_list(char *to, const char *list, const char *param)
{
	char *cut;

	if (strscpy(to, list, COMMAND_LINE_SIZE) >= 0)
		return;
	/* Half a word may match what nobody asked for. */
	cut = strrchr(to, ',');
	*(cut ?: to) = '\0';
	pr_warn("%s= is too long: all behind \"%s\" is ignored\n", param,
		strrchr(to, ',') ? strrchr(to, ',') + 1 : to);
}

static int __init filter_setup(char *str)
{
	ftrace_filter_param = true;
	ftrace_early_list(filter_param, str, "ftrace_filter");
	return 1;
}
__setup("ftrace_filter=", filter_setup);

static int __init notrace_setup(char *str)
{
	ftrace_filter_param = true;
	ftrace_early_list(notrace_param, str, "ftrace_notrace");
	return 1;
}
__setup("ftrace_notrace=", notrace_setup);

static void __init set_early_filter_locked(struct ftrace_ops *ops, char *buf, bool exclude)
{
	struct filter_edit edit;
	char *word;

	lockdep_assert_held(&ftrace_lock);

	ftrace_ops_init(ops);
	edit_init(&edit, false);
	while ((word = strsep(&buf, ","))) {
		char *module = strstr(word, ":mod:");

		if (!*word)
			continue;
		if (module) {
			*module = '\0';
			module += strlen(":mod:");
		}
		if (edit_pattern(&edit, word, module, filter_later_list(ops->filter, exclude)))
			pr_warn("command line: \"%s\": %s\n", word,
				ftrace_word_errors[ftrace_why_no_site(word, module)]);
	}
	if (edit_commit(&edit, ops->filter, exclude))
		pr_warn("filters of the command line are not applied\n");
	edit_destroy(&edit);
}

/**
 * ftrace_set_early_filter - set a filter from the command line
 * @ops: whose filter it is
 * @buf: patterns with commas between; changed
 * @enable: nonzero for the sites that it wants, 0 for those to leave out
 *
 * Context: boot, after ftrace_init().
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	guard(mutex)(&ftrace_lock);
	set_early_filter_locked(ops, buf, !enable);
}

/**
 * ftrace_set_early_filters - apply ftrace_filter= and ftrace_notrace=
 *
 * Context: boot, ftrace_lock is held.
 */
void __init ftrace_set_early_filters(void)
{
	if (filter_param[0])
		set_early_filter_locked(&global_ops, filter_param, false);
	if (notrace_param[0])
		set_early_filter_locked(&global_ops, notrace_param, true);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_filter_kunit.c"
#endif
