/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit suites of function tracing share.
 *
 * They are built into the file that they test, and run on a kernel that is in
 * use. So they
 *
 *  - attach only to the functions below, which nobody calls often, and count
 *    only the calls of the task that a test names;
 *  - hold ftrace_lock while objects exist that a transaction of somebody else
 *    would find. A KUNIT_ASSERT ends the test's task on the spot: there must
 *    be none while a lock is held.
 */
#ifndef _KERNEL_TRACE_TESTS_FTRACE_KUNIT_H
#define _KERNEL_TRACE_TESTS_FTRACE_KUNIT_H

#include <kunit/test.h>
#include <linux/gcd.h>
#include <linux/math.h>
#include <linux/types.h>

/* Three functions that are cheap, call no other site, and are never inlined. */
#define KUNIT_NR_SITES	3

static unsigned long kunit_operand = 12;
static unsigned long kunit_result;

/* gcd() is a const function: only an operand that may change makes it called. */
static __maybe_unused void kunit_call_site(unsigned int i)
{
	switch (i) {
	case 0:
		WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
		break;
	case 1:
		WRITE_ONCE(kunit_result, int_pow(READ_ONCE(kunit_operand), 2));
		break;
	case 2:
		WRITE_ONCE(kunit_result, int_sqrt(READ_ONCE(kunit_operand)));
		break;
	}
}

static __maybe_unused unsigned long kunit_site(unsigned int i)
{
	void *func[KUNIT_NR_SITES] = { gcd, int_pow, int_sqrt };

	return ftrace_location((unsigned long)func[i]);
}

/* ftrace_callset_kunit.c */

void ftrace_kunit_forbid_tramps(bool forbid);

#endif /* _KERNEL_TRACE_TESTS_FTRACE_KUNIT_H */
