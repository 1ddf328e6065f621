/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refusals, and where users can see the reasons. See report.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_REPORT_H
#define _KERNEL_TRACE_CALLSET_REPORT_H

#include <linux/ftrace.h>

#include "ops.h"

struct ftrace_callset;

/**
 * enum ftrace_word_error - the note in the log about a word written to a filter file
 * @FTRACE_WORD_NO_FUNCTION: nothing is known by that name
 * @FTRACE_WORD_FREED: the functions were init text, which is freed
 * @FTRACE_WORD_NO_SITE: the functions that match have no site
 * @FTRACE_WORD_VARIANT: the compiler made only variants, with a suffix
 * @FTRACE_WORD_QUARANTINE: the sites that match are in quarantine
 * @FTRACE_WORD_NOT_LISTED: the list has nothing of it, to be taken away
 * @FTRACE_WORD_NO_COMMAND: the command after the colon cannot be run
 * @FTRACE_WORD_TOO_LONG: longer than any word can be
 * @FTRACE_WORD_THROTTLED: no refusal: the instance's guard holds the function back
 * @FTRACE_WORD_ERRORS: how many there are
 *
 * The reasons why a name has no site come first; where functions differ in that,
 * the highest is told.
 */
enum ftrace_word_error {
	FTRACE_WORD_NO_FUNCTION,
	FTRACE_WORD_FREED,
	FTRACE_WORD_NO_SITE,
	FTRACE_WORD_VARIANT,
	FTRACE_WORD_QUARANTINE,
	FTRACE_WORD_NOT_LISTED,
	FTRACE_WORD_NO_COMMAND,
	FTRACE_WORD_TOO_LONG,
	FTRACE_WORD_THROTTLED,
	FTRACE_WORD_ERRORS,
};

extern const char * const ftrace_word_errors[];

void ftrace_report_refusal(enum ftrace_refusal why, unsigned long ip,
			   const struct ftrace_ops *ops, const struct ftrace_ops *holder);
void ftrace_report_conflict(unsigned long ip, const struct ftrace_ops *ops,
			    const struct ftrace_callset *cs);

#endif /* _KERNEL_TRACE_CALLSET_REPORT_H */
