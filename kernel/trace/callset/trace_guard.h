/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits on the cost of tracing. See trace_guard.c and trace_guard_cost.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_TRACE_GUARD_H
#define _KERNEL_TRACE_CALLSET_TRACE_GUARD_H

#include <linux/jump_label.h>
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/types.h>

#ifdef CONFIG_X86
#include <asm/rmwcc.h>
#endif

struct dentry;
struct trace_array;

/* Kinds of records, by their cost */
enum trace_guard_kind {
	TRACE_GUARD_FUNCTION,	/* An entry of the function tracer */
	TRACE_GUARD_GRAPH,	/* Two of them, and a hooked return */
	TRACE_GUARD_EVENT,
	TRACE_GUARD_TIMES,	/* No record: a call that the tracer count has timed */
	TRACE_GUARD_NONE,	/* No record */
	TRACE_GUARD_KINDS,
};

/* Whether there can be records of a kind. */
static inline bool trace_guard_has_kind(enum trace_guard_kind kind)
{
	if (kind == TRACE_GUARD_TIMES && !IS_ENABLED(CONFIG_COUNT_TRACER))
		return false;
	return IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER) ||
	       (kind != TRACE_GUARD_GRAPH && kind != TRACE_GUARD_TIMES);
}

DECLARE_STATIC_KEY_FALSE(trace_guard_on);
DECLARE_PER_CPU(int, trace_guard_left);

#ifdef CONFIG_TRACING_GUARD
/* trace_guard_due.c */
typedef void (*trace_guard_sample_t)(struct trace_array *tr, unsigned long key,
				     enum trace_guard_kind kind);

void trace_guard_register(trace_guard_sample_t take);
void trace_guard_sample(struct trace_array *tr, unsigned long key, enum trace_guard_kind kind);

/* trace_guard.c */
bool trace_guard_rate(const struct trace_array *tr, unsigned long ip, u64 *rate);
u64 trace_guard_cost(enum trace_guard_kind kind);
void trace_guard_tell_start(struct trace_array *tr);
void trace_guard_create_files(struct trace_array *tr, struct dentry *parent);
void trace_guard_forget(struct trace_array *tr);

/* trace_guard_cost.c */

/* How often in a round calls of a kind are timed */
#define TRACE_GUARD_TRIES	16

u64 trace_guard_measured(u64 time);
int trace_guard_measure(u64 *cost);
#else
static inline void trace_guard_sample(struct trace_array *tr, unsigned long key,
				      enum trace_guard_kind kind) { }
static inline bool trace_guard_rate(const struct trace_array *tr, unsigned long ip, u64 *rate)
{
	return false;
}

static inline u64 trace_guard_cost(enum trace_guard_kind kind) { return 0; }
static inline void trace_guard_tell_start(struct trace_array *tr) { }
static inline void trace_guard_create_files(struct trace_array *tr, struct dentry *parent) { }
static inline void trace_guard_forget(struct trace_array *tr) { }
#endif

/* Returns whether a sample is due. */
static __always_inline bool trace_guard_count_down(void)
{
#ifdef CONFIG_X86
	/* One instruction, which leaves the answer in the flags. */
	return GEN_UNARY_RMWcc("decl", __my_cpu_var(trace_guard_left), le, __percpu_arg([var]));
#else
	this_cpu_dec(trace_guard_left);
	return this_cpu_read(trace_guard_left) <= 0;
#endif
}

/* Counts a record. Returns whether trace_guard_sample() has to follow. */
static __always_inline bool trace_guard_is_due(void)
{
	return IS_ENABLED(CONFIG_TRACING_GUARD) && static_branch_likely(&trace_guard_on) &&
	       unlikely(trace_guard_count_down());
}

/* Something is recorded: @key is the function's site, or the event's file; @tr may be NULL. */
static __always_inline void trace_guard_count(struct trace_array *tr, unsigned long key,
					      enum trace_guard_kind kind)
{
	if (trace_guard_is_due())
		trace_guard_sample(tr, key, kind);
}

#endif /* _KERNEL_TRACE_CALLSET_TRACE_GUARD_H */
