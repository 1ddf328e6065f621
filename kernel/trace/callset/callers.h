/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of pairs: a site, and where its function was called. See callers.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_CALLERS_H
#define _KERNEL_TRACE_CALLSET_CALLERS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ftrace_arch.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include <asm/sections.h>

/* An allocation per CPU is limited to 32 KiB: so many counts are made at a time. */
#define FTRACE_CALLERS_CHUNK	((unsigned int)(SZ_32K / sizeof(u64)))
#define FTRACE_CALLERS_BITS	16
#define FTRACE_CALLERS_CHUNKS	(BIT(FTRACE_CALLERS_BITS) / FTRACE_CALLERS_CHUNK)

/* In so many slots a pair is looked for: two cache lines. */
#define FTRACE_CALLERS_WAYS	16

/**
 * struct ftrace_callers - pairs, and how often each was called
 * @node: in the list of all
 * @lost: how many calls have no slot, as all that theirs could be in are taken
 * @nr: number of @key
 * @mask: leaves of a hash the number of a slot
 * @count: the counts of FTRACE_CALLERS_CHUNK slots each
 * @key: the pair in each slot; 0 if the slot is free
 */
struct ftrace_callers {
	struct list_head	node;
	u64 __percpu		*lost;
	unsigned int		nr;
	unsigned long		mask;
	u64 __percpu		*count[FTRACE_CALLERS_CHUNKS];
	u64			key[] __counted_by(nr);
};

struct ftrace_callers *ftrace_callers_alloc(unsigned int bits);
void ftrace_callers_free(struct ftrace_callers *callers);
void ftrace_callers_reset(struct ftrace_callers *callers);
void ftrace_callers_add(struct ftrace_callers *callers, unsigned long ip, unsigned long parent);

#ifdef CONFIG_COUNT_TRACER
void ftrace_callers_forget_range(unsigned long start, unsigned long end);
#else
static inline void ftrace_callers_forget_range(unsigned long start, unsigned long end)
{
}
#endif

static __always_inline u64 ftrace_callers_key(unsigned long ip, unsigned long parent)
{
	return (u64)arch_ftrace_text_low(ip) << 32 | arch_ftrace_text_low(parent);
}

static __always_inline unsigned long ftrace_callers_ip(u64 key)
{
	return arch_ftrace_text_addr(key >> 32);
}

static __always_inline unsigned long ftrace_callers_parent(u64 key)
{
	return arch_ftrace_text_addr(key);
}

/* The first slot to look in. The others are those whose number differs in the lowest bits. */
static __always_inline unsigned long ftrace_callers_first(const struct ftrace_callers *callers,
							  u64 key)
{
	return hash_64(key, FTRACE_CALLERS_BITS) & callers->mask;
}

static __always_inline u64 __percpu *ftrace_callers_slot(const struct ftrace_callers *callers,
							 unsigned long i)
{
	return callers->count[i / FTRACE_CALLERS_CHUNK] + i % FTRACE_CALLERS_CHUNK;
}

/**
 * ftrace_callers_count - count a call
 * @callers: where
 * @ip: the site
 * @parent: the address that its function returns to
 *
 * Context: any that can be traced, NMI included.
 * Return: false if the pair is not where it is looked for first: nothing is counted then,
 * and ftrace_callers_add() counts it.
 */
static __always_inline bool ftrace_callers_count(const struct ftrace_callers *callers,
						 unsigned long ip, unsigned long parent)
{
	u64 key = ftrace_callers_key(ip, parent);
	unsigned long i = ftrace_callers_first(callers, key);

	if (unlikely(READ_ONCE(callers->key[i]) != key)) {
		i ^= 1;
		if (READ_ONCE(callers->key[i]) != key)
			return false;
	}
	this_cpu_inc(*ftrace_callers_slot(callers, i));
	return true;
}

#endif /* _KERNEL_TRACE_CALLSET_CALLERS_H */
