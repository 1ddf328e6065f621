/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of a traced call. See trace_guard_cost.c.
 */
#ifndef _KERNEL_TRACE_TRACE_GUARD_COST_H
#define _KERNEL_TRACE_TRACE_GUARD_COST_H

#include <linux/types.h>

u64 trace_guard_clock(void);
int trace_guard_measure(u64 *cost);

#endif /* _KERNEL_TRACE_TRACE_GUARD_COST_H */
