/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tracers that record at each call of a function: whether to, in which
 * context the function was called, and the record.
 */
#ifndef _KERNEL_TRACE_TRACE_RECORD_H
#define _KERNEL_TRACE_TRACE_RECORD_H

#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "ring_buffer_write.h"
#include "trace.h"

/* Whether kdb or a dump has put off tracing on this CPU; preemption is disabled. */
static __always_inline bool trace_is_put_off(const struct trace_array *tr)
{
	return atomic_read(&this_cpu_ptr(tr->array_buffer.data)->disabled);
}

#define TRACE_CTX_PREEMPT_MAX	0xfu

static __always_inline bool trace_ctx_may_migrate(void)
{
#ifdef CONFIG_SMP
	return !current->migration_disabled;
#else
	return true;
#endif
}

/*
 * What tracing_gen_ctx() would say if preemption were disabled @own times less. It
 * tests one by one for each thing that can be special about a context; where none
 * is, which is the rule, what is left is the interrupt flag and the preemption
 * count. A count that is in range has no bit of an interrupt; with PREEMPT_RT, those
 * of softirqs are elsewhere.
 */
static __always_inline unsigned int trace_ctx_without(unsigned int own)
{
	unsigned int count = preempt_count() - own, ctx;

	if (likely(IS_ENABLED(CONFIG_TRACE_IRQFLAGS_SUPPORT) && count <= TRACE_CTX_PREEMPT_MAX &&
		   !(IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count()) && !tif_need_resched() &&
		   !test_preempt_need_resched() && trace_ctx_may_migrate()))
		return (irqs_disabled() ? TRACE_FLAG_IRQS_OFF << 16 : 0) + count;

	/* Asked again, so that no register has to keep it. */
	ctx = tracing_gen_ctx() & ~TRACE_CTX_PREEMPT_MAX;
	count = (preempt_count() & PREEMPT_MASK) - own;
	return ctx | min(count, TRACE_CTX_PREEMPT_MAX);
}

/*
 * Room for an entry of @size bytes, which is constant and not above RB_MAX_SMALL_DATA, or NULL.
 * Preemption is off until trace_record_end().
 */
static __always_inline void *trace_record_begin(struct trace_buffer *buffer, unsigned int size)
{
	struct ring_buffer_event *event = rb_write_begin(buffer, size);

	if (unlikely(!event))
		return NULL;
	if (unlikely(event->type_len == RINGBUF_TYPE_TIME_EXTEND))
		event = (void *)event + RB_LEN_TIME_EXTEND;
	return &event->array[RB_FORCE_8BYTE_ALIGNMENT];
}

static __always_inline void trace_record_end(struct trace_buffer *buffer)
{
	__this_cpu_write(trace_taskinfo_save, true);
	rb_write_end(buffer);
}

#endif /* _KERNEL_TRACE_TRACE_RECORD_H */
