/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way into the buffer, in line: for tracers that record at each call of a function,
 * and for events that are always recorded. And the context that an entry tells of.
 */
#ifndef _KERNEL_TRACE_TRACE_RECORD_H
#define _KERNEL_TRACE_TRACE_RECORD_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/trace_events.h>
#include <linux/unroll.h>

#include "ring_buffer_write.h"
#include "trace.h"

#define TRACE_CTX_PREEMPT_MAX	0xfu

static __always_inline bool trace_ctx_may_migrate(void)
{
#ifdef CONFIG_SMP
	return !current->migration_disabled;
#else
	return true;
#endif
}

/* In one test; without lazy rescheduling both are the same flag. */
static __always_inline bool trace_ctx_may_resched(void)
{
	return READ_ONCE(current_thread_info()->flags) &
	       (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY);
}

/* Whether nothing is special about a context but interrupts and preemption being off. */
static __always_inline bool trace_ctx_is_plain(unsigned int count)
{
	/*
	 * A count in range has no bit of an interrupt, nor of those that are disabled by
	 * local_interrupt_disable(). PREEMPT_RT has softirqs elsewhere.
	 */
	return count <= TRACE_CTX_PREEMPT_MAX &&
	       !(IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count()) &&
	       !trace_ctx_may_resched() && !test_preempt_need_resched() &&
	       trace_ctx_may_migrate();
}

/* Of a plain context. */
static __always_inline unsigned int trace_ctx_plain_flags(void)
{
	return unlikely(irqs_disabled()) ? TRACE_FLAG_IRQS_OFF : 0;
}

/* The first word of an entry. */
static __always_inline u32 trace_make_word(unsigned short type, unsigned int flags,
					   unsigned int count)
{
#ifdef __LITTLE_ENDIAN
	return type | flags << 16 | count << 24;
#else
	return type << 16 | flags << 8 | count;
#endif
}

/* The same, of a plain context, if nothing else has to know that. */
static __always_inline u32 trace_plain_word(unsigned short type, unsigned int count)
{
	u32 word = trace_make_word(type, 0, count);

	if (unlikely(irqs_disabled())) {
		word |= trace_make_word(0, TRACE_FLAG_IRQS_OFF, 0);
		/* Left to itself, the compiler makes arithmetic of this, for all to pay. */
		OPTIMIZER_HIDE_VAR(word);
	}
	return word;
}

/* The same, with the context that tracing_gen_ctx() and the like returned. */
static __always_inline u32 trace_word(unsigned short type, unsigned int ctx)
{
	return trace_make_word(type, ctx >> 16 & 0xff, ctx & 0xff);
}

/* tracing_gen_ctx() if preemption were disabled @own times less, of any context. */
static __always_inline unsigned int trace_gen_ctx_any(unsigned int own)
{
	unsigned int ctx = tracing_gen_ctx();

	/*
	 * The depth is asked for again, so that no register has to keep it. It may be less than
	 * @own: uprobes record their events with preemption enabled.
	 */
	return (ctx & ~TRACE_CTX_PREEMPT_MAX) |
	       min(max(preempt_count() & PREEMPT_MASK, own) - own, TRACE_CTX_PREEMPT_MAX);
}

/* The same, quickly where the context is plain. */
static __always_inline unsigned int trace_gen_ctx_without(unsigned int own)
{
	unsigned int count = preempt_count() - own;

	if (likely(trace_ctx_is_plain(count)))
		return trace_ctx_plain_flags() << 16 | count;
	return trace_gen_ctx_any(own);
}

/* The first word of an entry of this context. */
static __always_inline u32 trace_word_without(unsigned short type, unsigned int own)
{
	unsigned int count = preempt_count() - own;

	if (likely(trace_ctx_is_plain(count)))
		return trace_plain_word(type, count);
	return trace_word(type, trace_gen_ctx_any(own));
}

/* tracing_generic_entry_update(), in two stores. @word comes from the functions above. */
static __always_inline void trace_record_entry(struct trace_entry *entry, u32 word)
{
	BUILD_BUG_ON(offsetof(struct trace_entry, type) != 0 ||
		     offsetof(struct trace_entry, flags) != 2 ||
		     offsetof(struct trace_entry, preempt_count) != 3);
	*(u32 *)entry = word;
	entry->pid = current->pid;
}

/* An entry that is being written. */
struct trace_record {
	struct trace_buffer		*buffer;
	/* NULL if it is written within another one */
	struct ring_buffer_per_cpu	*cpu_buffer;
};

/* Nothing that is called between these leads to the caller again, but for a clock. */
#define TRACE_RECORD_LEAF	(RB_IDLE | RB_LEAF)

/*
 * Room for an entry of @size bytes, or NULL. @local is the time of trace_clock_local() just
 * before, or NULL. Preemption is disabled.
 */
static __always_inline void *trace_record_begin_at(struct trace_record *record,
						   struct trace_buffer *buffer,
						   unsigned int size, u64 *local)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ring_buffer_event *event;
	void *data;

	if (rb_is_off(buffer))
		return NULL;
	cpu_buffer = rb_idle(buffer);
	*record = (struct trace_record){ buffer, cpu_buffer };
	if (likely(cpu_buffer)) {
		if (local && rb_has_local_clock(buffer))
			rb_begin(buffer, cpu_buffer, size, TRACE_RECORD_LEAF | RB_TIMED, local,
				 &data);
		else
			rb_begin(buffer, cpu_buffer, size, TRACE_RECORD_LEAF, NULL, &data);
		return data;
	}
	event = ring_buffer_lock_reserve(buffer, size);
	return event ? ring_buffer_event_data(event) : NULL;
}

/* The end of an entry with TRACE_RECORD_LEAF. Returns false if rb_publish_slow() has to follow. */
static __always_inline bool trace_record_end_fast(struct ring_buffer_per_cpu *cpu_buffer)
{
	__this_cpu_write(trace_taskinfo_save, true);
	local_inc(&cpu_buffer->entries);
	return rb_publish_fast(cpu_buffer);
}

/* The same, which does that. */
static __always_inline void trace_record_finish(struct ring_buffer_per_cpu *cpu_buffer)
{
	if (unlikely(!trace_record_end_fast(cpu_buffer)))
		rb_publish_slow(cpu_buffer);
}

static __always_inline void trace_record_end(const struct trace_record *record)
{
	if (likely(record->cpu_buffer)) {
		trace_record_finish(record->cpu_buffer);
		return;
	}
	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_unlock_commit(record->buffer);
}

/* Functions */

/*
 * Whether a callback is busy with the task. The bit for graph filters stays after a call. What is
 * to be warned of is left to the other way.
 */
static __always_inline unsigned long trace_record_busy(const struct task_struct *task)
{
	if (IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING) && !rcu_is_watching())
		return 1;
	return READ_ONCE(task->trace_recursion) & ~BIT(TRACE_IRQ_BIT);
}

/* By how much preempt_count() is up while the call of a function is recorded. */
#define TRACE_FUNCTION_OWN	(IS_ENABLED(CONFIG_PREEMPT_COUNT) ? 1 : 0)

/**
 * enum trace_function_state - how far the record of a call has come
 * @TRACE_FUNCTION_OFF: nothing is to be recorded
 * @TRACE_FUNCTION_DONE: it is recorded
 * @TRACE_FUNCTION_BUSY: it has to be recorded in the other way
 * @TRACE_FUNCTION_BEGUN: trace_record_function_rest() has to follow
 * @TRACE_FUNCTION_WRITTEN: rb_write_leave() has to follow
 */
enum trace_function_state {
	TRACE_FUNCTION_OFF,
	TRACE_FUNCTION_DONE,
	TRACE_FUNCTION_BUSY,
	TRACE_FUNCTION_BEGUN,
	TRACE_FUNCTION_WRITTEN,
};

static __always_inline unsigned int trace_function_size(const struct ftrace_regs *fregs)
{
	return sizeof(struct ftrace_entry) + (fregs ? FTRACE_REGS_MAX_ARGS * sizeof(long) : 0);
}

/* On 32 bits, some arguments are on the stack, and what reads these may be traced. */
#define TRACE_RECORD_ARGS	IS_ENABLED(CONFIG_64BIT)

/* The arguments of a call, unless @fregs is NULL. */
static __always_inline void trace_record_args(unsigned long *args, struct ftrace_regs *fregs)
{
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
	int i = 0;

	if (!fregs)
		return;
	/* Then each register is known. */
	unrolled_full
	do {
		args[i] = ftrace_regs_get_argument(fregs, i);
	} while (++i < FTRACE_REGS_MAX_ARGS);
#endif
}

/*
 * trace_function() without exporters, for a call that needs no protection from recursion, as no
 * writer is interrupted, and the functions that it calls find a writer. @cpu_buffer gets the ring
 * and @entry the entry, or NULL. Nothing is called here, so that the caller saves no registers.
 */
static __always_inline enum trace_function_state
trace_record_function(struct trace_buffer *buffer, unsigned long ip, unsigned long parent_ip,
		      struct ftrace_regs *fregs, struct ring_buffer_per_cpu **cpu_buffer,
		      struct ftrace_entry **entry)
{
	enum trace_function_state state = TRACE_FUNCTION_OFF;
	unsigned int count;
	void *data;

	*cpu_buffer = NULL;
	*entry = NULL;
	preempt_disable_notrace();
	if (rb_is_off(buffer))
		goto out;
	/* A function that another callback calls is left out, as everywhere. */
	if (likely(rb_has_local_clock(buffer) && !trace_record_busy(current)))
		*cpu_buffer = rb_idle(buffer);
	if (unlikely(!*cpu_buffer)) {
		state = TRACE_FUNCTION_BUSY;
		goto out;
	}
	rb_begin(buffer, *cpu_buffer, trace_function_size(fregs),
		 TRACE_RECORD_LEAF | RB_LOCAL | RB_SIMPLE, NULL, &data);
	if (unlikely(!data))
		return TRACE_FUNCTION_BEGUN;
	*entry = data;
	(*entry)->ip = ip;
	(*entry)->parent_ip = parent_ip;
	trace_record_args((*entry)->args, fregs);
	count = preempt_count() - TRACE_FUNCTION_OWN;
	if (unlikely(!trace_ctx_is_plain(count)))
		return TRACE_FUNCTION_BEGUN;
	trace_record_entry(&(*entry)->ent, trace_plain_word(TRACE_FN, count));
	if (unlikely(!trace_record_end_fast(*cpu_buffer)))
		return TRACE_FUNCTION_WRITTEN;
	state = TRACE_FUNCTION_DONE;
out:
	preempt_enable_notrace();
	return state;
}

/* Returns whether the call is recorded. */
static __always_inline bool
trace_record_function_rest(struct trace_buffer *buffer, unsigned long ip, unsigned long parent_ip,
			   struct ftrace_regs *fregs, struct ring_buffer_per_cpu *cpu_buffer,
			   struct ftrace_entry *entry)
{
	void *data = entry;

	if (!entry)
		rb_claim(buffer, cpu_buffer, trace_function_size(fregs),
			 TRACE_RECORD_LEAF | RB_LOCAL, NULL, &data);
	if (likely(data)) {
		entry = data;
		entry->ip = ip;
		entry->parent_ip = parent_ip;
		trace_record_args(entry->args, fregs);
		trace_record_entry(&entry->ent, trace_word_without(TRACE_FN, TRACE_FUNCTION_OWN));
		trace_record_finish(cpu_buffer);
	}
	preempt_enable_notrace();
	return data;
}

/* Events */

/* Whether an event has to be looked at before it is known that it is recorded. */
#define TRACE_EVENT_CONDITIONS	(EVENT_FILE_FL_PID_FILTER | EVENT_FILE_FL_SOFT_DISABLED | \
				 EVENT_FILE_FL_FILTERED | EVENT_FILE_FL_TRIGGER_COND)

/* Or something is recorded with it. */
#define TRACE_EVENT_STACKS	(TRACE_ITER(STACKTRACE) | TRACE_ITER(USERSTACKTRACE))

/* The event's probe has disabled preemption once. tracing_gen_ctx_dec() asks no more, either. */
#define TRACE_EVENT_PREEMPT_OFF	(IS_ENABLED(CONFIG_PREEMPTION) ? 1 : 0)
/* And the event once more, while it is written. */
#define TRACE_EVENT_OWN		(TRACE_EVENT_PREEMPT_OFF + IS_ENABLED(CONFIG_PREEMPT_COUNT))

static __always_inline bool trace_event_is_plain(const struct trace_event_file *file)
{
	return likely(!(READ_ONCE(file->flags) & TRACE_EVENT_CONDITIONS));
}

/* trace_event_make_entry() in any context. */
void *trace_event_make_entry_slow(struct trace_event_buffer *fbuffer);

/* The entry of an event, once preemption is off for it, too. Returns it. */
static __always_inline void *trace_event_make_entry(struct trace_event_buffer *fbuffer)
{
	unsigned int count = preempt_count() - TRACE_EVENT_OWN, flags;

	if (unlikely(!trace_ctx_is_plain(count)))
		return trace_event_make_entry_slow(fbuffer);
	flags = trace_ctx_plain_flags();
	trace_record_entry(fbuffer->entry,
			   trace_make_word(fbuffer->trace_file->event_call->event.type, flags,
					   count));
	fbuffer->trace_ctx = flags << 16 | count;
	return fbuffer->entry;
}

/*
 * trace_event_buffer_reserve() for an event that is always recorded. Calls nothing, so that
 * nothing has to be saved. Leaves preemption off until the event is committed. Returns
 * false if the event has to be reserved in the other way; *@cpu_buffer then is NULL, or this is
 * still a writer there.
 */
static __always_inline bool trace_event_reserve_fast(struct trace_event_buffer *fbuffer,
						     struct trace_event_file *file,
						     unsigned long len,
						     struct ring_buffer_per_cpu **cpu_buffer)
{
	struct trace_buffer *buffer = file->tr->array_buffer.buffer;
	void *entry;
	u64 now;

	/* The header of a small event is simple. */
	if (unlikely(len - 1 >= RB_MAX_SMALL_DATA || !rb_has_local_clock(buffer)))
		return false;
	preempt_disable_notrace();
	if (likely(!rb_is_off(buffer)) && trace_clock_local_fast(&now))
		*cpu_buffer = rb_idle(buffer);
	if (unlikely(!*cpu_buffer)) {
		preempt_enable_no_resched_notrace();
		return false;
	}
	fbuffer->event = rb_begin(buffer, *cpu_buffer, len, RB_IDLE | RB_TIMED | RB_SIMPLE, &now,
				  &entry);
	if (unlikely(!fbuffer->event))
		return false;
	fbuffer->buffer = buffer;
	fbuffer->trace_file = file;
	fbuffer->entry = entry;
	fbuffer->regs = NULL;
	return true;
}

/*
 * trace_event_buffer_commit() if there is nothing to look at any more, and nothing to record
 * with the event. Returns whether this was so.
 */
static __always_inline bool trace_event_commit_plain(struct trace_event_buffer *fbuffer)
{
	const struct trace_event_file *file = fbuffer->trace_file;

	if (unlikely(!trace_event_is_plain(file) ||
		     file->tr->trace_flags & TRACE_EVENT_STACKS ||
		     this_cpu_read(trace_buffered_event) == fbuffer->event))
		return false;
	__this_cpu_write(trace_taskinfo_save, true);
	rb_write_end(fbuffer->buffer);
	return true;
}

#endif /* _KERNEL_TRACE_TRACE_RECORD_H */
