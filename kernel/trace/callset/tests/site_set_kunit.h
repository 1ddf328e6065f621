/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of sites that KUnit suites make and compare.
 */
#ifndef _KERNEL_TRACE_TESTS_FTRACE_SITE_SET_KUNIT_H
#define _KERNEL_TRACE_TESTS_FTRACE_SITE_SET_KUNIT_H

#include <linux/bits.h>
#include <linux/bitops.h>

#include "../site_set.h"

/* Sets of up to four addresses, written as bits. */
#define SITE_SET_KUNIT_IPS	4
#define SITE_SET_KUNIT_SETS	BIT(SITE_SET_KUNIT_IPS)

/* The first and the last are the lowest and the highest address that there is. */
static const unsigned long site_set_kunit_ips[SITE_SET_KUNIT_IPS] = {
	0, 0x1000, -0x7efffffcUL, ULONG_MAX,
};

static __maybe_unused struct ftrace_site_set *site_set_kunit_make(unsigned int bits)
{
	struct ftrace_site_set *set = ftrace_site_set_alloc(hweight32(bits));

	if (!set)
		return NULL;
	set->nr = 0;
	for (unsigned int i = 0; i < SITE_SET_KUNIT_IPS; i++) {
		if (bits & BIT(i))
			set->ip[set->nr++] = site_set_kunit_ips[i];
	}
	return set;
}

/* The bits of a set; -1 if it is an error, not sorted, or has something else in it. */
static __maybe_unused int site_set_kunit_bits(const struct ftrace_site_set *set)
{
	int bits = 0;

	if (IS_ERR_OR_NULL(set))
		return -1;
	for (unsigned int i = 0; i < set->nr; i++) {
		unsigned int bit = 0;

		while (bit < SITE_SET_KUNIT_IPS && site_set_kunit_ips[bit] != set->ip[i])
			bit++;
		if (bit == SITE_SET_KUNIT_IPS || bits >= BIT(bit))
			return -1;
		bits |= BIT(bit);
	}
	return bits;
}

#endif /* _KERNEL_TRACE_TESTS_FTRACE_SITE_SET_KUNIT_H */
