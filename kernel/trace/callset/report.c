// SPDX-License-Identifier: GPL-2.0
/*
 * Refusals and their reasons: the texts, and where they can be read.
 *
 * A refusal is an errno, which says little. The reason in words is
 *
 *	a word in a filter file		in the error_log of the instance, with
 *					a caret under the wrong part
 *	an ops				in the kernel log and in the top
 *					instance's error_log, with the site,
 *					the ops and the one in its place
 *
 * Invariants:
 *  1. A code and its text are one line of one table.
 *  2. Reports cannot fail, and change nothing.
 *
 * Lock order:
 *	ftrace_lock > the lock of tracing_log_err()
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "callset.h"
#include "ops.h"
#include "report.h"
#include "../trace.h"

/* By enum ftrace_word_error. */
const char * const ftrace_word_errors[FTRACE_WORD_ERRORS] = {
	[FTRACE_WORD_NO_FUNCTION]	= "No function matches",
	[FTRACE_WORD_FREED]		= "What matches was freed after boot",
	[FTRACE_WORD_NO_SITE]		= "What matches cannot be traced",
	[FTRACE_WORD_VARIANT]		= "The compiler made variants of it only, NAME.*",
	[FTRACE_WORD_QUARANTINE]	= "What matches is in quarantine, see enabled_functions",
	[FTRACE_WORD_NOT_LISTED]	= "No function that matches is listed",
	[FTRACE_WORD_NO_COMMAND]	= "Command not found, or not possible here",
	[FTRACE_WORD_TOO_LONG]		= "Word is too long",
	[FTRACE_WORD_THROTTLED]		= "Function is throttled for now, see the file throttled",
};

/* By enum ftrace_refusal. */
static const char * const report_refusals[] = {
	[FTRACE_REFUSED_NOT]		= "",
	[FTRACE_REFUSED_IPMODIFY]	= "Only one can say where a function goes on",
	[FTRACE_REFUSED_DIRECT]		= "Only one direct call can be on a function",
	[FTRACE_REFUSED_SHARE]		=
		"This direct call cannot be where a function goes elsewhere",
	[FTRACE_REFUSED_QUARANTINE]	= "The function is in quarantine",
};

/**
 * ftrace_report_refusal - log that an ops is not attached
 * @why: the reason
 * @ip: the site, or one of them
 * @ops: the ops
 * @holder: the ops that is there already, or NULL
 *
 * Context: process context, sleeps.
 */
void ftrace_report_refusal(enum ftrace_refusal why, unsigned long ip,
			   const struct ftrace_ops *ops, const struct ftrace_ops *holder)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 10);
	char *text;
	int pos;

	if (!__ratelimit(&limit))
		return;
	if (holder)
		text = kasprintf(GFP_KERNEL, "%ps: %ps refused, %ps is there", (void *)ip,
				 ftrace_ops_callback(ops), ftrace_ops_callback(holder));
	else
		text = kasprintf(GFP_KERNEL, "%ps: %ps refused", (void *)ip,
				 ftrace_ops_callback(ops));
	if (!text)
		return;

	pr_warn("%s: %s\n", text, report_refusals[why]);
	pos = strcspn(text, ":") + strlen(": ");
	/* The log comes to be early in boot, but after function tracing. */
	if (system_state != SYSTEM_BOOTING)
		tracing_log_err(NULL, "ftrace", text, (const char **)report_refusals, why, pos);
	kfree(text);
}

/**
 * ftrace_report_conflict - ftrace_report_refusal() for an ops that meets others
 * @ip: the site
 * @ops: the ops
 * @cs: the callset of the site, which has an ops that @ops conflicts with
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_report_conflict(unsigned long ip, const struct ftrace_ops *ops,
			    const struct ftrace_callset *cs)
{
	enum ftrace_refusal why;

	for (unsigned int i = 0; cs && i < cs->nr_ops; i++) {
		why = ftrace_ops_conflict(cs->ops[i], ops);
		if (why) {
			ftrace_report_refusal(why, ip, ops, cs->ops[i]);
			return;
		}
	}
}
