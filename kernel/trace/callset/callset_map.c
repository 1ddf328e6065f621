// SPDX-License-Identifier: GPL-2.0
/*
 * Which callset has which number.
 *
 * Numbers lead to callsets through chunks of a page, which are never freed, in a
 * table that never moves. No tree of the kernel's will do: their functions are traced.
 *
 * Invariants:
 *  1. __ftrace_callset_only is a callset only if no other has a number: no task is on
 *     the way from a site of another one then, as each keeps its number until a grace
 *     period after its last site (see ftrace_retire()), and each site calls the callset
 *     that its record names.
 *  2. It is NULL for all CPUs before another callset gets its first site.
 *
 * ftrace_lock covers everything but ftrace_callset_get() and ftrace_callset_only(),
 * which any context may call.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/idr.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "callset.h"

#define CALLSET_CHUNK_SIZE	(PAGE_SIZE / sizeof(void *))
#define CALLSET_MAX		SZ_1M
#define CALLSET_CHUNKS		(CALLSET_MAX / CALLSET_CHUNK_SIZE)

static_assert(CALLSET_MAX - 1 <= FTRACE_STATE_CALLSET);

static struct ftrace_callset **callset_map_chunk[CALLSET_CHUNKS];
static DEFINE_IDA(callset_map_ida);

/* No number was ever as high. */
u32 ftrace_callset_limit;

/* How many numbers are in use. */
static unsigned int callset_map_nr;

struct ftrace_callset *__ftrace_callset_only;

/**
 * ftrace_callset_get - find a callset by its number
 * @nr: from a record
 *
 * Context: any; ftrace_lock is held, or ftrace_retire() waits for the caller.
 * Return: the callset; NULL for 0 and for numbers not in use.
 */
struct ftrace_callset *ftrace_callset_get(u32 nr)
{
	struct ftrace_callset **chunk;

	/*
	 * Number 0 is of no callset, and its entry is empty. Nothing would order a load of the
	 * limit after that of the record, and an older limit may be below the number.
	 */
	if (nr >= CALLSET_MAX)
		return NULL;
	/* Pairs with the release in callset_map_add_chunk(). */
	chunk = smp_load_acquire(&callset_map_chunk[nr / CALLSET_CHUNK_SIZE]);
	/* Pairs with the release in ftrace_callset_number(). */
	return chunk ? smp_load_acquire(&chunk[nr % CALLSET_CHUNK_SIZE]) : NULL;
}

/**
 * ftrace_callset_next - walk the callsets
 * @nr: the number of the callset before, 0 for the first; gets the number
 *	of the one returned
 *
 * Context: as for ftrace_callset_get().
 * Return: the callset with the next number in use, or NULL.
 */
struct ftrace_callset *ftrace_callset_next(u32 *nr)
{
	struct ftrace_callset *cs;

	while (++*nr < READ_ONCE(ftrace_callset_limit)) {
		cs = ftrace_callset_get(*nr);
		if (cs)
			return cs;
	}
	return NULL;
}

static struct ftrace_callset **callset_map_entry(u32 nr)
{
	return &callset_map_chunk[nr / CALLSET_CHUNK_SIZE][nr % CALLSET_CHUNK_SIZE];
}

static int callset_map_add_chunk(u32 nr)
{
	struct ftrace_callset **chunk;

	if (callset_map_chunk[nr / CALLSET_CHUNK_SIZE])
		return 0;
	chunk = kcalloc(CALLSET_CHUNK_SIZE, sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	/* Pairs with ftrace_callset_get(): the entries are seen to be empty. */
	smp_store_release(&callset_map_chunk[nr / CALLSET_CHUNK_SIZE], chunk);
	return 0;
}

/* It is the only one as long as there is no other. See ftrace_callset_only(). */
static void callset_map_count(int more)
{
	u32 nr = 0;

	callset_map_nr += more;
	if (!FTRACE_CALLS_SEARCH)
		return;
	if (callset_map_nr == 1 && arch_ftrace_wrote_all()) {
		/* Pairs with the address dependency in arch_ftrace_ops_list_func(). */
		smp_store_release(&__ftrace_callset_only, ftrace_callset_next(&nr));
	} else if (__ftrace_callset_only) {
		WRITE_ONCE(__ftrace_callset_only, NULL);
		/* Before the first site of another one is written. Without one, no call asks. */
		if (callset_map_nr)
			kick_all_cpus_sync();
	}
}

/**
 * ftrace_callset_has_numbers - whether many callsets may be made
 * @nr: how many
 *
 * A callset keeps its number for a grace period. A quarter of the numbers is left to take
 * functions away with: that is not to fail.
 *
 * Context: ftrace_lock is held.
 */
bool ftrace_callset_has_numbers(u32 nr)
{
	return callset_map_nr + nr <= CALLSET_MAX / 4 * 3;
}

/**
 * ftrace_callset_number - give a callset a number
 * @cs: the callset, complete
 *
 * It can be found by it at once.
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0; -ENOMEM, or -ENOSPC if there are too many callsets.
 */
int ftrace_callset_number(struct ftrace_callset *cs)
{
	int nr = ida_alloc_range(&callset_map_ida, 1, CALLSET_MAX - 1, GFP_KERNEL), ret;

	if (nr < 0)
		return nr;
	ret = callset_map_add_chunk(nr);
	if (ret) {
		ida_free(&callset_map_ida, nr);
		return ret;
	}
	cs->nr = nr;
	/* Pairs with ftrace_callset_get(): the callset's members are seen. */
	smp_store_release(callset_map_entry(nr), cs);
	/* Before a record has the number. Pairs with the address dependency on that at calls. */
	smp_wmb();
	WRITE_ONCE(ftrace_callset_limit, max(ftrace_callset_limit, (u32)nr + 1));
	callset_map_count(1);
	return 0;
}

/**
 * ftrace_callset_free_number - take the number of a callset back
 * @cs: the callset; no task is on the way from one of its sites any more
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_callset_free_number(const struct ftrace_callset *cs)
{
	WRITE_ONCE(*callset_map_entry(cs->nr), NULL);
	ida_free(&callset_map_ida, cs->nr);
	callset_map_count(-1);
}
