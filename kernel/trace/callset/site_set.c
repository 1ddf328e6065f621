// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of sites: their union, difference and search.
 *
 * Invariants:
 *  1. The addresses of a set are strictly ascending.
 *  2. A set that others can find never changes, except that the addresses of text
 *     that is freed are dropped. To change a filter is to give it another set.
 *
 * The functions here take no lock and know no records: to them a site is an address.
 */
#include <linux/bsearch.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "site_set.h"

/**
 * ftrace_site_set_alloc - make room for a site set
 * @nr: number of addresses that the caller fills in
 *
 * Return: the set, or NULL.
 */
struct ftrace_site_set *ftrace_site_set_alloc(unsigned int nr)
{
	struct ftrace_site_set *set = kvmalloc(struct_size(set, ip, nr), ftrace_list_gfp());

	if (set) {
		set->nr = nr;
		set->room = nr;
		set->lost = false;
	}
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

/**
 * ftrace_site_set_dup - copy a site set
 * @set: the set, or NULL
 *
 * Return: the copy; NULL if there is no memory, or no set.
 */
struct ftrace_site_set *ftrace_site_set_dup(const struct ftrace_site_set *set)
{
	struct ftrace_site_set *copy = set ? ftrace_site_set_alloc(set->nr) : NULL;

	if (copy) {
		memcpy(copy->ip, set->ip, flex_array_size(set, ip, set->nr));
		copy->lost = set->lost;
	}
	return copy;
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
	unsigned int na = ftrace_site_set_nr(a), nb = ftrace_site_set_nr(b), i = 0, j = 0, nr = 0;
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
	set->lost = ftrace_site_set_lost(a) || ftrace_site_set_lost(b);
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
	unsigned int na = ftrace_site_set_nr(a), nb = ftrace_site_set_nr(b), j = 0, nr = 0;
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
	set->lost = ftrace_site_set_lost(a);
	return set;
}

/* @key is the first and the last address of a piece of text. */
static int site_set_range_cmp(const void *key, const void *elt)
{
	const unsigned long *range = key, ip = READ_ONCE(*(const unsigned long *)elt);

	return ip > range[1] ? -1 : ip < range[0];
}

/**
 * ftrace_site_set_meets - whether a set has a site in a piece of text
 * @set: the set, or NULL for the empty one
 * @start: first address of the text
 * @end: first address after it
 *
 * Context: any; the sites of other text may be dropped from @set meanwhile.
 * Return: true if it has.
 */
bool ftrace_site_set_meets(const struct ftrace_site_set *set, unsigned long start,
			   unsigned long end)
{
	unsigned long range[] = { start, end - 1 };

	return set && __inline_bsearch(range, set->ip, READ_ONCE(set->nr), sizeof(set->ip[0]),
				       site_set_range_cmp);
}

/**
 * ftrace_site_set_replace - put another set in place of one
 * @set: where the set is, which is freed; it may be NULL
 * @with: the new set, or NULL where there was no memory for it
 *
 * Return: 0; -ENOMEM, with *@set as it was, if @with is NULL.
 */
int ftrace_site_set_replace(struct ftrace_site_set **set, struct ftrace_site_set *with)
{
	if (!with)
		return -ENOMEM;
	ftrace_site_set_free(*set);
	*set = with;
	return 0;
}

/**
 * ftrace_site_set_append - add an address at the end of a set
 * @set: where the set is, which moves when it grows, and which nothing else knows
 * @ip: the address, above all others unless ftrace_site_set_sort() follows
 *
 * Return: 0; -ENOMEM, with the set as it was.
 */
int ftrace_site_set_append(struct ftrace_site_set **set, unsigned long ip)
{
	struct ftrace_site_set *more = *set;
	unsigned int nr = more->nr, room = 2 * max(nr, 1u);

	if (nr == more->room) {
		more = kvrealloc(more, struct_size(more, ip, room), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		more->room = room;
		*set = more;
	}
	more->nr = nr + 1;
	more->ip[nr] = ip;
	return 0;
}

static int site_set_cmp(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/**
 * ftrace_site_set_sort - make a set of addresses that were collected in any order
 * @set: just made, and known to its maker alone; an address may be there twice
 */
void ftrace_site_set_sort(struct ftrace_site_set *set)
{
	unsigned int nr = 0;

	sort(set->ip, set->nr, sizeof(set->ip[0]), site_set_cmp, NULL);
	for (unsigned int i = 0; i < set->nr; i++) {
		if (!nr || set->ip[nr - 1] != set->ip[i])
			set->ip[nr++] = set->ip[i];
	}
	set->nr = nr;
}

/**
 * ftrace_site_set_forget - drop the sites of text that is going away
 * @set: the set, or NULL; it shrinks in place, as these sites never come back
 * @start: first address of the text
 * @end: first address after it
 *
 * Needs no memory. A CPU that looks for another site meanwhile, without a lock, may
 * miss it: the sites above move down one by one.
 */
void ftrace_site_set_forget(struct ftrace_site_set *set, unsigned long start, unsigned long end)
{
	unsigned int nr = 0;

	if (!set)
		return;
	for (unsigned int i = 0; i < set->nr; i++) {
		if (set->ip[i] < start || set->ip[i] >= end)
			WRITE_ONCE(set->ip[nr++], set->ip[i]);
	}
	set->lost |= nr < set->nr;
	WRITE_ONCE(set->nr, nr);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/site_set_kunit.c"
#endif
