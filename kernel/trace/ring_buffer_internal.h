/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures and functions that the two sides of the ring buffer share:
 * ring_buffer_write.c, which records, and ring_buffer.c, which reads and manages.
 *
 * Documentation/trace/ring-buffer-design.rst has the whole in pictures.
 */
#ifndef _KERNEL_TRACE_RING_BUFFER_INTERNAL_H
#define _KERNEL_TRACE_RING_BUFFER_INTERNAL_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/ring_buffer_types.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <asm/local.h>
#include <asm/local64.h>

/* Events */

#define RB_LEN_TIME_EXTEND	8
/* What the largest event takes beside its data, and a time extend before it. */
#define RB_EVENT_OVERHEAD	(RB_EVNT_HDR_SIZE + sizeof(u32) + RB_LEN_TIME_EXTEND)

/*
 * The time of a stamp, which has its lower 59 bits: that nearest to @near, a time before it. The
 * clock may have gone back since. Clocks that begin at 0 stay below those bits.
 */
static inline u64 rb_fix_abs_ts(u64 abs, u64 near)
{
	return near >> 59 ? near + sign_extend64(abs - near, 58) : abs;
}

/* Pages */

/*
 * In buffer_data_page::commit, beside the size: there are events missing before the page, and
 * how many stands after its events. A page in the ring has these only if it was found broken
 * after a reboot.
 */
#define RB_MISSED_EVENTS	((int)BIT(31))
#define RB_MISSED_STORED	((int)BIT(30))
#define RB_MISSED_MASK		(RB_MISSED_EVENTS | RB_MISSED_STORED)

/* Bits of buffer_page::id. */
#define RB_STATIC_BITS		30

/**
 * struct buffer_page - the state of a page of events
 * @list: the ring, with RB_PAGE_* in the lowest bits of @list.next; it is first, and
 *	  the struct is aligned, so that these bits are free
 * @write: how far the page is written, and the time of its last event: see RB_INDEX_MASK
 * @entries: the number of its events. It is only added to and subtracted from: a writer that
 *	     overwrites the page subtracts the events that it counts as lost
 * @read: how far it is read
 * @order: it has PAGE_SIZE << @order bytes
 * @id: which sub-buffer it is in a mapping
 * @range: its memory is not its own
 * @page: the events
 */
struct buffer_page {
	struct list_head	list;
	local64_t		write;
	local_t			entries;
	struct buffer_data_page	*page;
	unsigned int		read;
	unsigned int		order;
	u32			id:RB_STATIC_BITS;
	u32			range:1;
};

/*
 * buffer_page::write
 *
 *	63     27   26   25  21    20    19     0
 *	| time  | lap | base | closed | index  |
 *
 * index is the number of bytes written, time the nanoseconds (or the clock's units) from the
 * base to the page's last event. Base 0 is the page's time stamp; the others are in
 * ring_buffer_per_cpu::base. Nothing is written to a closed page, and all pages of a ring
 * are closed but the tail; a writer that makes a page the tail opens it, and flips lap.
 */
#define RB_INDEX_MASK		0xfffffULL
#define RB_CLOSED		BIT_ULL(20)
#define RB_BASE_SHIFT		21
#define RB_BASE_MASK		(0x1fULL << RB_BASE_SHIFT)
#define RB_LAP			BIT_ULL(26)
#define RB_TIME_SHIFT		27
#define RB_TIME_BITS		(64 - RB_TIME_SHIFT)
/*
 * The slow way goes up to here, and then takes another base. The rest is for the events of the
 * short way, which does not look: see rb_set_capacity().
 */
#define RB_TIME_MAX		((1ULL << (RB_TIME_BITS - 1)) - 1)

/*
 * In the pointer to a page in the ring: it is the head, which is read next; or it was,
 * and a writer is making the page after it the head. RB_PAGE_MOVED stands for a pointer to
 * another page.
 */
#define RB_PAGE_NORMAL		0UL
#define RB_PAGE_HEAD		1UL
#define RB_PAGE_UPDATE		2UL
#define RB_FLAG_MASK		3UL
#define RB_PAGE_MOVED		4UL

/* Buffers */

/**
 * struct rb_irq_work - the tasks that wait for events
 * @work: wakes them
 * @waiters: those that wait for any event
 * @full_waiters: those that wait for a number of pages
 * @seq: how often they were woken
 * @recheck: checks whether the events that they wait for are there already
 * @rechecks: 1 if @recheck is on its way, 2 if it is to go again
 * @cpu: whose events, or RING_BUFFER_ALL_CPUS
 * @waiters_pending: the next event is to wake the former
 * @full_waiters_pending: the next page is to wake the latter, if it is enough
 * @wakeup_full: @work is to wake the latter
 * @deferred: @work is to start @timer, which wakes the former
 * @now: @work is to wake them all the same
 * @armed: @timer runs; a page that is full wakes them before
 * @timer: wakes the former. If each event did, it would cost more than the event
 */
struct rb_irq_work {
	bool			waiters_pending;
	wait_queue_head_t	waiters;
	bool			full_waiters_pending;
	bool			wakeup_full;
	bool			deferred;
	bool			now;
	bool			armed;
	wait_queue_head_t	full_waiters;
	struct hrtimer		timer;
	struct irq_work		work;
	atomic_t		seq;
	struct rcu_head		recheck;
	atomic_t		rechecks;
	int			cpu;
};

/**
 * struct buffer_data_read_page - a page for a reader
 * @order: as in struct buffer_page
 * @data: the page
 */
struct buffer_data_read_page {
	unsigned int		order;
	struct buffer_data_page	*data;
};

/* Nesting of writers on one CPU: the contexts, each interrupted once while that is not told. */
#define RB_MAX_DEPTH		15

/**
 * struct ring_buffer_per_cpu - one CPU's ring of pages
 * @record_disabled: nothing is recorded unless it is 0
 * @writers: the writers at work: see RB_DEPTH_MASK
 * @busy: both; not 0 if an event cannot be recorded at once
 * @tail_page: where events are written
 * @commit_page: where the outermost writer has published last
 * @max_delta: the largest time between two events of the short way
 * @buffer: whose it is; ring_buffer_swap_cpu() changes that
 * @entries: events published, plus those of writers that have not left
 * @entries_bytes: bytes of events in the ring
 * @capacity: bytes of events in a page
 * @publish_slow: not 0 if the next outermost writer has more to do than to publish in one page:
 *	     the tail has moved, or a task may wait for an event, here or on any CPU; some
 *	     architectures cannot xchg() a byte
 * @cpu: the CPU
 * @irq_work: the tasks that wait for this CPU's events
 * @nest: how many ring_buffer_nest_start() there are without an end
 * @saved: the old values of @writers, by depth
 * @base: the origins of times, in pages with RB_BASE_MASK. Writers of depth d, from 1 on, have
 *	  2d - 1 and 2d: a base that a page names is not changed while that page is the tail
 * @overrun: events that were overwritten
 * @commit_overrun: events lost as the ring was full of unpublished ones
 * @dropped_events: events lost as the ring was full and nothing is overwritten
 * @pages_touched: pages that were started
 * @pages_lost: pages that were overwritten
 *
 * These are the write side's, and changed by this CPU only, but for @record_disabled and
 * @publish_slow, and when no writer is there. The members below are the read side's.
 */
struct ring_buffer_per_cpu {
	union {
		struct {
			atomic_t	record_disabled;
			unsigned int	writers;
		};
		u64			busy;
	};
	struct buffer_page		*tail_page;
	struct buffer_page		*commit_page;
	u64				max_delta;
	struct trace_buffer		*buffer;
	local_t				entries;
	local_t				entries_bytes;
	unsigned int			capacity;
	int				publish_slow;
	/* Up to here, in one cache line of 64 bytes, is what each event needs. */
	int				cpu;
	struct rb_irq_work		irq_work;
	unsigned int			nest;
	unsigned int			saved[RB_MAX_DEPTH];
	u64				base[2 * RB_MAX_DEPTH + 1];
	local_t				overrun;
	local_t				commit_overrun;
	local_t				dropped_events;
	local_t				pages_touched;
	local_t				pages_lost;

	/* private: the read side's */
	atomic_t			resize_disabled;
	raw_spinlock_t			reader_lock;
	arch_spinlock_t			lock;
	struct lock_class_key		lock_key;
	struct buffer_data_read_page	free_page;
	unsigned long			nr_pages;
	struct list_head		*pages;
	/* Changes when the ring does */
	unsigned long			cnt;
	struct buffer_page		*head_page;
	struct buffer_page		*reader_page;
	unsigned long			lost_events;
	unsigned long			last_overrun;
	local_t				pages_read;
	size_t				shortest_full;
	unsigned long			read;
	unsigned long			read_bytes;
	u64				read_stamp;
	unsigned long			pages_removed;

	unsigned int			user_mapped;
	/* Covers the member before it and the two after it */
	struct mutex			mapping_lock;
	struct buffer_page		**subbuf_ids;
	struct trace_buffer_meta	*meta_page;
	struct ring_buffer_cpu_meta	*ring_meta;
	/* The last page of the last boot, until writers leave it: its word has no time */
	struct buffer_page		*old_page;
	/* Writes the pages in place of this CPU: then the write side is never entered */
	struct ring_buffer_remote	*remote;

	long				nr_pages_to_update;
	struct list_head		new_pages;
	struct work_struct		update_pages_work;
	struct completion		update_done;
};

/*
 * ring_buffer_per_cpu::writers is 0 without a writer. Else its lowest byte is how many
 * writers there are, one interrupting the other; RB_CONTEXT_MASK has the interrupt bits of
 * preempt_count() of the last one, or 0 if nothing that it calls can be traced; and bits 16 to
 * 23, where preempt_count() says how often interrupts are disabled, are how many of the writers
 * were not told from the one that they interrupted by these.
 */
#define RB_DEPTH_MASK		0xffU
#define RB_CONTEXT_MASK		((unsigned int)(SOFTIRQ_MASK | HARDIRQ_MASK | NMI_MASK))
#define RB_OVERLAP_SHIFT	16
#define RB_OVERLAP_MASK		(0xffU << RB_OVERLAP_SHIFT)

static_assert(!(RB_CONTEXT_MASK & (RB_DEPTH_MASK | RB_OVERLAP_MASK)));

/**
 * struct trace_buffer - the rings of all CPUs
 * @record_disabled: nothing is recorded unless it is 0
 * @flags: RB_FL_*
 * @buffers: by CPU; NULL for one that has not been there yet
 * @clock: tells the time
 * @irq_work: the tasks that wait for any CPU's events
 */
struct trace_buffer {
	atomic_t			record_disabled;
	unsigned int			flags;
	struct ring_buffer_per_cpu	**buffers;
	u64				(*clock)(void);
	struct rb_irq_work		irq_work;

	/* private: the read side's */
	atomic_t			resizing;
	cpumask_var_t			cpumask;
	/* CPUs to be disabled once they are in cpumask */
	cpumask_var_t			disabled_cpus;
	struct lock_class_key		*reader_lock_key;
	/* Sizes, and the buffers of CPUs */
	struct mutex			mutex;
	struct ring_buffer_remote	*remote;
	struct hlist_node		node;
	unsigned int			subbuf_order;
	/* Memory that outlives a reboot */
	struct notifier_block		flush_nb;
	unsigned long			range_addr_start;
	unsigned long			range_addr_end;
	struct ring_buffer_meta		*meta;
};

/*
 * As many events as a page holds at most, each @max_delta after the one before, take less time than
 * RB_TIME_MAX. An event has more than 8 bytes.
 */
static inline void rb_set_capacity(struct ring_buffer_per_cpu *cpu_buffer, unsigned int capacity)
{
	cpu_buffer->capacity = capacity;
	cpu_buffer->max_delta = min(TS_MASK, RB_TIME_MAX >> fls(capacity / 8));
}

/* The pointer without RB_PAGE_*. */
static inline struct list_head *rb_list_head(struct list_head *list)
{
	return (struct list_head *)((unsigned long)list & ~RB_FLAG_MASK);
}

static inline struct buffer_page *rb_page_after(const struct buffer_page *page)
{
	return list_entry(rb_list_head(READ_ONCE(page->list.next)), struct buffer_page, list);
}

static inline unsigned long rb_page_entries(struct buffer_page *page)
{
	return local_read(&page->entries);
}

static __always_inline long rb_data_page_commit(struct buffer_data_page *data)
{
	return local_read(&data->commit);
}

static __always_inline long rb_data_page_size(struct buffer_data_page *data)
{
	return rb_data_page_commit(data) & ~RB_MISSED_MASK;
}

/* With RB_MISSED_EVENTS and RB_MISSED_STORED. */
static __always_inline unsigned int rb_page_commit(struct buffer_page *page)
{
	return rb_data_page_commit(page->page);
}

/* How many bytes of events readers may look at. */
static __always_inline unsigned int rb_page_size(struct buffer_page *page)
{
	return rb_data_page_size(page->page);
}

/* The bytes of an event that is not a time extend or a time stamp, its header included. */
static inline unsigned int rb_data_size(const struct ring_buffer_event *event)
{
	if (event->type_len && event->type_len <= RINGBUF_TYPE_DATA_TYPE_LEN_MAX)
		return RB_EVNT_HDR_SIZE + event->type_len * RB_ALIGNMENT;
	return RB_EVNT_HDR_SIZE + event->array[0];
}

/* The bytes of a discarded event, at least. */
#define RB_PADDING_MIN		(RB_EVNT_HDR_SIZE + 2 * sizeof(u32))

/*
 * The time delta of a discarded event. The header of padding cannot say 0; the first word of
 * the former data can. There is one, as no event has less than 8 bytes of data.
 */
static inline u32 rb_padding_delta(const struct ring_buffer_event *event)
{
	return event->array[1];
}

/*
 * Returns the event itself, where a time extend or a time stamp comes before it. Tells the size
 * of that, and how long after the event before it this one was: 0 after a time stamp.
 */
static inline struct ring_buffer_event *rb_skip_time(struct ring_buffer_event *event,
						     unsigned int *size, u64 *delta)
{
	*size = 0;
	*delta = 0;
	if (event->type_len == RINGBUF_TYPE_TIME_EXTEND)
		*delta = event->time_delta + ((u64)event->array[0] << TS_SHIFT);
	if (event->type_len == RINGBUF_TYPE_TIME_EXTEND ||
	    event->type_len == RINGBUF_TYPE_TIME_STAMP) {
		*size = RB_LEN_TIME_EXTEND;
		event = (void *)event + RB_LEN_TIME_EXTEND;
	}
	*delta += event->type_len == RINGBUF_TYPE_PADDING ? rb_padding_delta(event) :
							    event->time_delta;
	return event;
}

/* Wakes the tasks, from any context. */
bool rb_irq_work_queue(struct rb_irq_work *irq_work);

/* Whether at least @full percent of the pages have events that are not read. */
bool rb_full_hit(struct ring_buffer_per_cpu *cpu_buffer, int full);

/*
 * For memory that outlives a reboot: the head moves on from @page, unless it has moved already;
 * @page is the one that is published last.
 */
void rb_update_meta_head(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page);
void rb_update_meta_commit(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page);

#endif /* _KERNEL_TRACE_RING_BUFFER_INTERNAL_H */
