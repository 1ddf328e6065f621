/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sites whose text differs from their records. See quarantine.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_QUARANTINE_H
#define _KERNEL_TRACE_CALLSET_QUARANTINE_H

#include <linux/types.h>

struct ftrace_record;
struct ftrace_table;

extern bool ftrace_has_quarantine;

void ftrace_quarantine(struct ftrace_record *rec, unsigned long ip, unsigned long target);
void ftrace_quarantine_init(struct ftrace_table *table);
void ftrace_quarantine_report(const struct ftrace_table *table);

#endif /* _KERNEL_TRACE_CALLSET_QUARANTINE_H */
