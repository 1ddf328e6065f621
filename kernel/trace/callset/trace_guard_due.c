// SPDX-License-Identifier: GPL-2.0
/*
 * Which record is due for a sample of the guard. The files that ask are below
 * trace_guard.c, which takes it.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>

#include "trace_guard.h"

DEFINE_STATIC_KEY_FALSE(trace_guard_on);
/* Records until the next sample */
DEFINE_PER_CPU(int, trace_guard_left);

static trace_guard_sample_t trace_guard_taker __ro_after_init;

/**
 * trace_guard_register - say which function takes samples
 * @take: the function, for any context
 */
void __init trace_guard_register(trace_guard_sample_t take)
{
	trace_guard_taker = take;
}

/**
 * trace_guard_sample - take a sample
 * @tr: the instance that has recorded something, or NULL
 * @key: the function's site, or the event's file
 * @kind: the kind of record
 *
 * Context: wherever something is recorded, NMIs included, where trace_guard_is_due() says so.
 */
void trace_guard_sample(struct trace_array *tr, unsigned long key, enum trace_guard_kind kind)
{
	trace_guard_taker(tr, key, kind);
}
