/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of pages with kernel/trace/ring_buffer_write.c as it is, its reader, and a log of all
 * that is written: for the programs that interrupt writers.
 *
 * check() reads all pages and compares them with the log: each event is there once and whole,
 * before those that began after it was claimed; its time is one that the clock told between its
 * begin and its end, or that of the event before it, if the clock went back; each lost event
 * was counted; and nothing was lost while there was room.
 */
#include <stdarg.h>

#include "ring_buffer_write.c"

#define MAX_PAGES	8
#define MAX_EVENTS	2048
#define MAX_CAPACITY	112
#define MAX_LEVELS	4
#define MAX_TOLD	4096

/* A request for an event, and its outcome. */
struct logged {
	/* As ring_buffer_event_time_stamp() returned it; or 0 */
	u64		time;
	/* The times that the clock told while it was reserved: told[first] to told[end - 1] */
	unsigned int	first, end;
	/* The first event that began after it was reserved */
	unsigned int	after;
	unsigned int	length;
	enum { LOST, WRITTEN, DISCARDED } what;
	bool		seen;
};

struct body {
	u32		id;
	u32		fill[];
};

/*
 * All that a run changes, beside its stack: it is copied when an interrupt is to come, and
 * copied back when it has been.
 */
static struct state {
	struct trace_buffer		buffer;
	struct ring_buffer_per_cpu	cpu;
	struct buffer_page		pages[MAX_PAGES];
	unsigned char			memory[MAX_PAGES][MAX_CAPACITY + BUF_PAGE_HDR_SIZE];
	struct ring_buffer_per_cpu	*cpus[1];
	struct buffer_page		*taken;
	u64				now;
	/* By how much the clock goes on when it is looked at */
	unsigned int			tick;
	unsigned int			nr_told;
	/* Of the events that are read: the last time; the highest number; the last one told */
	u64				last_time;
	unsigned int			last_event;
	unsigned int			last_told;
	u64				page_time;
	/* How often the clock went back */
	unsigned int			backs;
	/* It did by more than an event can tell */
	bool				far_back;
	/*
	 * Bytes that events have wanted, at most; and when an outermost writer came last and all
	 * was published
	 */
	unsigned long			wanted;
	unsigned long			wanted_before;
	/* Looks at the events and leaves them where they are: see iterator_step() */
	struct {
		struct buffer_page	*page;
		enum { COMMIT, COPY, COMPARE } step;
		u64			stamp;
		u64			time;
		unsigned int		commit;
		unsigned int		head;
		unsigned int		size;
		unsigned char		event[MAX_CAPACITY];
	} iterator;
	/* Losses that are accounted for */
	long				overruns;
	long				drops;
	unsigned int			largest;
	int				level;
	/* How often each level is to be interrupted */
	unsigned int			interrupts[MAX_LEVELS];
	unsigned int			preempt_count;
	unsigned int			nr_events;
	/* The last, as only those in use are copied. */
	struct logged			events[MAX_EVENTS];
} st;

/* The times that the clock told. Each run writes its own part again: no need to copy this. */
static u64 told[MAX_TOLD];

static char complaint[512];

/* Interrupts may be disabled in any of them; that does not tell one from the other. */
static const unsigned int level_count[MAX_LEVELS] = {
	0, SOFTIRQ_OFFSET, HARDIRQ_OFFSET + HARDIRQ_DISABLE_OFFSET, NMI_OFFSET,
};

void shim_warn(const char *fmt, ...)
{
	va_list args;

	if (complaint[0])
		return;
	va_start(args, fmt);
	vsnprintf(complaint, sizeof(complaint), fmt, args);
	va_end(args);
}

#define expect(cond, fmt, ...)							\
	do {									\
		if (!(cond))							\
			shim_warn("%s: " fmt, #cond, ##__VA_ARGS__);		\
	} while (0)

/* The functions of the read side that the write side calls */

/* In one instruction, as it may be interrupted, too. */
static u64 advance(u64 by)
{
	u64 before = by;

	asm volatile("xaddq %0,%1" : "+r" (before), "+m" (st.now));
	return before + by;
}

static unsigned int next_told(void)
{
	unsigned int nr = 1;

	asm volatile("xaddl %0,%1" : "+r" (nr), "+m" (st.nr_told));
	if (nr >= MAX_TOLD)
		abort();
	return nr;
}

unsigned int preempt_count(void)
{
	return st.preempt_count;
}

static u64 tick(void)
{
	u64 now = advance(st.tick);

	told[next_told()] = now;
	return now;
}

u64 trace_clock_local(void)
{
	return tick();
}

bool rb_irq_work_queue(struct rb_irq_work *irq_work)
{
	irq_work->work.queued++;
	return true;
}

bool rb_full_hit(struct ring_buffer_per_cpu *cpu_buffer, int full)
{
	return false;
}

/* No ring here is in memory that outlives a reboot. */
void rb_update_meta_head(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page)
{
	abort();
}

void rb_update_meta_commit(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page)
{
	abort();
}

void *ring_buffer_event_data(struct ring_buffer_event *event)
{
	if (event->type_len > RINGBUF_TYPE_PADDING)
		event = (void *)event + RB_LEN_TIME_EXTEND;
	return &event->array[!event->type_len];
}

/* The ring */

static void ring_make(unsigned int nr, unsigned int capacity, unsigned int flags)
{
	memset(&st.cpu, 0, sizeof(st.cpu));
	memset(&st.buffer, 0, sizeof(st.buffer));
	memset(st.pages, 0, sizeof(st.pages));
	memset(st.memory, 0x55, sizeof(st.memory));
	st.cpus[0] = &st.cpu;
	st.buffer.buffers = st.cpus;
	st.buffer.clock = tick;
	st.buffer.flags = flags;
	st.cpu.buffer = &st.buffer;
	rb_set_capacity(&st.cpu, capacity);
	st.cpu.nr_pages = nr;
	for (unsigned int i = 0; i <= nr; i++) {
		st.pages[i].page = (void *)st.memory[i];
		st.pages[i].page->commit.a = 0;
		st.pages[i].write.a = RB_CLOSED;
		st.pages[i].list.next = &st.pages[i + 1 < nr ? i + 1 : 0].list;
		st.pages[i].list.prev = &st.pages[i ? i - 1 : nr - 1].list;
	}
	st.pages[nr].list.next = &st.pages[nr].list;
	st.pages[nr].list.prev = &st.pages[nr].list;
	st.pages[nr - 1].list.next = (void *)((unsigned long)&st.pages[0].list | RB_PAGE_HEAD);
	st.cpu.reader_page = &st.pages[nr];
	st.cpu.head_page = &st.pages[0];
	st.cpu.tail_page = &st.pages[0];
	st.cpu.commit_page = &st.pages[0];
	st.now = 1000;
	st.tick = 3;
	st.pages[0].write.a = 0;
	st.pages[0].page->time_stamp = st.now;
	st.nr_events = 0;
	st.nr_told = 0;
	st.last_time = 0;
	st.last_event = 0;
	st.last_told = 0;
	st.backs = 0;
	st.far_back = false;
	st.wanted = 0;
	st.wanted_before = 0;
	st.iterator.page = NULL;
	st.overruns = 0;
	st.drops = 0;
	st.largest = 0;
	st.level = 0;
	st.preempt_count = 0;
	memset(st.interrupts, 0, sizeof(st.interrupts));
	complaint[0] = 0;
}

/* Reading */

/* When the clock told @time, while the event was reserved; or its end. */
static unsigned int when_told(const struct logged *l, unsigned int first, u64 time)
{
	while (first < l->end && told[first] != time)
		first++;
	return first;
}

/*
 * An event that finds a later one before it has the time of that. There is one only if the clock
 * went back, or the later one interrupted it: then its time, too, was told.
 */
static bool is_behind(const struct logged *l, u64 time)
{
	for (unsigned int i = l->first; st.backs && i < l->end; i++)
		if (told[i] < time && time - told[i] <= TS_MASK)
			return true;
	return false;
}

/* @before: the time before the event; @stamped: it does not count from there. */
static void see(const struct ring_buffer_event *event, u64 time, u64 before, bool stamped)
{
	const struct body *body = (const void *)&event->array[!event->type_len];
	struct logged *l = &st.events[body->id];
	unsigned int when;

	if (body->id >= st.nr_events) {
		shim_warn("an event has the number %#x", body->id);
		return;
	}
	expect(l->what == WRITTEN, "event %u", body->id);
	expect(!l->seen, "event %u", body->id);
	l->seen = true;
	for (unsigned int i = 0; i < l->length / 4 - 1; i++)
		expect(body->fill[i] == body->id * 0x01010101 + i, "event %u", body->id);
	expect(st.last_event < l->after, "event %u after %u", body->id, st.last_event);
	if (body->id > st.last_event)
		st.last_event = body->id;

	expect(!l->time || time == l->time, "event %u: %llu, when it was written %llu", body->id,
	       (unsigned long long)time, (unsigned long long)l->time);
	expect(time >= st.last_time, "event %u: %llu after %llu", body->id,
	       (unsigned long long)time, (unsigned long long)st.last_time);
	/* Before a time stamp the clock was looked at after the event before it was claimed. */
	when = when_told(l, stamped && l->first < st.last_told ? st.last_told : l->first, time);
	expect(when < l->end || (!stamped && time == before && is_behind(l, time)),
	       "event %u: %llu", body->id, (unsigned long long)time);
	if (time != before && when > st.last_told)
		st.last_told = when;
	st.last_time = time;
}

/* The events of a page from @from on; st.page_time is the time there. Returns how many. */
static unsigned int read_page(struct buffer_page *page, unsigned int from)
{
	unsigned int end = rb_page_commit(page), nr = 0;
	const struct ring_buffer_event *event;
	bool stamped = false;
	u64 before;

	expect(end <= st.cpu.capacity, "commit %u", end);
	if (!from)
		st.page_time = page->page->time_stamp;
	/* The clock may have gone back in a page that was overwritten. */
	if (!from && st.far_back)
		st.last_time = st.page_time;
	before = st.page_time;
	while (from < end && !complaint[0]) {
		event = (void *)&page->page->data[from];
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			st.page_time += event->time_delta + ((u64)event->array[0] << TS_SHIFT);
			from += RB_LEN_TIME_EXTEND;
			continue;
		}
		if (event->type_len == RINGBUF_TYPE_TIME_STAMP) {
			st.page_time = event->time_delta | (u64)event->array[0] << TS_SHIFT;
			st.last_time = st.page_time;
			expect(st.far_back && st.page_time + TS_MASK < before, "at %u: %llu, %llu",
			       from, (unsigned long long)st.page_time, (unsigned long long)before);
			stamped = true;
			from += RB_LEN_TIME_EXTEND;
			continue;
		}
		if (event->type_len == RINGBUF_TYPE_PADDING) {
			expect(event->time_delta, "at %u", from);
			st.page_time += rb_padding_delta(event);
			from += RB_EVNT_HDR_SIZE + event->array[0];
		} else {
			st.page_time += event->time_delta;
			see(event, st.page_time, before, stamped);
			from += rb_data_size(event);
			nr++;
		}
		before = st.page_time;
		stamped = false;
	}
	expect(from == end || complaint[0], "%u and %u", from, end);
	return nr;
}

static unsigned long flag_of(const struct buffer_page *page)
{
	unsigned long link = (unsigned long)page->list.prev->next;

	return (link & ~RB_FLAG_MASK) == (unsigned long)&page->list ? link & RB_FLAG_MASK : 0;
}

/* The work of rb_get_reader_page() of ring_buffer.c; its two halves at different times. */
static bool reader_swap(void)
{
	struct buffer_page *r = st.cpu.reader_page, *head;
	unsigned long link;

	if (r->read < rb_page_commit(r) || st.cpu.commit_page == r)
		return false;
	r->write.a = RB_CLOSED;
	r->entries.a = 0;
	r->page->commit.a = 0;
	r->read = 0;
	/* From the last head that was seen on; one that a writer is moving is not to be had. */
	head = st.cpu.head_page;
	for (unsigned int i = 0; i < 3 * st.cpu.nr_pages && !flag_of(head); i++)
		head = rb_page_after(head);
	if (flag_of(list_entry(head->list.prev, struct buffer_page, list)) == RB_PAGE_UPDATE)
		head = list_entry(head->list.prev, struct buffer_page, list);
	st.cpu.head_page = head;
	r->list.next = (void *)((unsigned long)rb_list_head(head->list.next) | RB_PAGE_HEAD);
	r->list.prev = head->list.prev;
	link = (unsigned long)&head->list | RB_PAGE_HEAD;
	if (!try_cmpxchg(&head->list.prev->next, &link, &r->list))
		return false;
	st.taken = head;
	/* As ring_buffer_iter_peek(). */
	st.iterator.page = NULL;
	return true;
}

static void reader_finish(void)
{
	struct buffer_page *r = st.cpu.reader_page;

	if (!st.taken)
		return;
	rb_list_head(st.taken->list.next)->prev = &r->list;
	st.cpu.head_page = list_entry(rb_list_head(st.taken->list.next), struct buffer_page, list);
	st.cpu.reader_page = st.taken;
	st.taken->read = 0;
	st.taken = NULL;
}

static void reader_read(void)
{
	struct buffer_page *r = st.cpu.reader_page;
	unsigned int end = rb_page_commit(r);

	st.cpu.read += read_page(r, r->read);
	st.cpu.read_bytes += end - r->read;
	r->read = end;
}

static void iterator_begin_page(struct buffer_page *page)
{
	st.iterator.page = page;
	st.iterator.step = COMMIT;
	st.iterator.stamp = page->page->time_stamp;
	st.iterator.time = st.iterator.stamp;
	st.iterator.head = 0;
}

/* An event that has not been overwritten, as the page says. */
static void iterator_see(const struct ring_buffer_event *event)
{
	unsigned int size;
	u64 delta;
	const struct ring_buffer_event *data = rb_skip_time((void *)event, &size, &delta);
	const struct body *body = (const void *)&data->array[!data->type_len];

	if (event->type_len == RINGBUF_TYPE_TIME_STAMP)
		st.iterator.time = event->time_delta | (u64)event->array[0] << TS_SHIFT;
	st.iterator.time += delta;
	if (data->type_len == RINGBUF_TYPE_PADDING)
		return;
	expect(body->id < st.nr_events && st.events[body->id].time == st.iterator.time,
	       "the iterator's event %u: %llu", body->id, (unsigned long long)st.iterator.time);
}

/*
 * The work of rb_iter_head_event() and rb_advance_iter() of ring_buffer.c, in three steps. They
 * know a page that was overwritten by its time stamp: the clock has to go on.
 */
static void iterator_step(void)
{
	struct buffer_page *page = st.iterator.page;
	struct ring_buffer_event *event = (void *)st.iterator.event, *data;
	u64 delta;

	if (!page) {
		if (!rb_is_readers(st.cpu.commit_page))
			iterator_begin_page(rb_page_after(st.cpu.commit_page));
		return;
	}
	switch (st.iterator.step) {
	case COMMIT:
		st.iterator.commit = rb_page_commit(page);
		if (st.iterator.head < st.iterator.commit)
			st.iterator.step = COPY;
		else if (page != st.cpu.commit_page)
			iterator_begin_page(rb_page_after(page));
		break;
	case COPY:
		memcpy(event, page->page->data + st.iterator.head,
		       st.cpu.capacity - st.iterator.head);
		data = rb_skip_time(event, &st.iterator.size, &delta);
		st.iterator.size += rb_data_size(data);
		st.iterator.step = COMPARE;
		break;
	case COMPARE:
		if (st.iterator.stamp != page->page->time_stamp ||
		    st.iterator.commit > rb_page_commit(page)) {
			iterator_begin_page(page);
			break;
		}
		iterator_see(event);
		st.iterator.head += st.iterator.size;
		st.iterator.step = COMMIT;
	}
}

/* Writing */

/*
 * An event may be lost for want of pages only if others have filled them. Unpublished events
 * keep pages only from writers that interrupt others, as the outermost one can publish them.
 * The bytes that were read before this event began, @read_bytes, do not keep any. At the end of
 * each page some bytes can be left.
 */
static void may_be_lost(bool outermost, unsigned long read_bytes)
{
	unsigned long room = (st.cpu.nr_pages - 1) * (st.cpu.capacity - (st.largest - 4));
	unsigned long wanted = st.wanted - st.wanted_before;

	if (st.cpu.commit_overrun.a != st.overruns)
		expect(!outermost && wanted > room, "%lu bytes, room for %lu", wanted, room);
	if (st.cpu.dropped_events.a != st.drops)
		expect(st.wanted - read_bytes > room, "%lu - %lu bytes, room for %lu", st.wanted,
		       read_bytes, room);
	st.overruns = st.cpu.commit_overrun.a;
	st.drops = st.cpu.dropped_events.a;
}

/* From here on, accesses to the memory of the write side may be interrupted. */
static void interrupts_on(void);
static void interrupts_off(void);

/* The ways into the ring: as any caller; as tracers do; as the function tracer and events do. */
enum way { ANY, TRACER, FUNCTION, EVENT };

/* Writes an event; its end is the caller's. */
static struct ring_buffer_event *begin(unsigned int length, struct logged **log, enum way *way)
{
	unsigned int size = rb_event_size(length) + (st.backs ? RB_LEN_TIME_EXTEND : 0);
	struct ring_buffer_per_cpu *idle = *way == ANY ? NULL : rb_idle(&st.buffer);
	struct ring_buffer_event *event = NULL;
	bool outermost = !st.cpu.writers;
	unsigned int backs = st.backs;
	unsigned long wanted_before, read_bytes = st.cpu.read_bytes;
	struct body *body;
	struct logged *l;
	void *data;
	u64 now;

	*log = l = &st.events[st.nr_events++];
	if (st.nr_events > MAX_EVENTS)
		abort();
	memset(l, 0, sizeof(*l));
	l->first = st.nr_told;
	l->length = length;
	/* One that has just left may have something to publish: then this goes on from there. */
	if (outermost && st.cpu.commit_page == st.cpu.tail_page)
		st.wanted_before = st.wanted;
	wanted_before = st.wanted_before;
	st.wanted += size;
	if (size > st.largest)
		st.largest = size;

	if (!idle)
		*way = ANY;
	interrupts_on();
	switch (*way) {
	case TRACER:
		event = rb_begin(&st.buffer, idle, length, RB_IDLE | RB_LEAF, NULL, &data);
		break;
	case FUNCTION:
		event = rb_begin(&st.buffer, idle, length,
				 RB_IDLE | RB_LEAF | RB_LOCAL | RB_SIMPLE, NULL, &data);
		if (!event)
			event = rb_claim(&st.buffer, idle, length, RB_IDLE | RB_LEAF | RB_LOCAL,
					 NULL, &data);
		break;
	case EVENT:
		now = tick();
		event = rb_begin(&st.buffer, idle, length, RB_IDLE | RB_TIMED | RB_SIMPLE, &now,
				 &data);
		if (event)
			break;
		rb_write_leave(idle);
		event = rb_write_begin(&st.buffer, length, &data);
		break;
	case ANY:
		event = rb_write_begin(&st.buffer, length, &data);
	}
	if (event)
		l->time = ring_buffer_event_time_stamp(&st.buffer, event);
	interrupts_off();

	st.wanted_before = wanted_before;
	l->end = st.nr_told;
	l->after = st.nr_events;
	/*
	 * ring_buffer_event_time_stamp() counts back from the last event. It cannot count past
	 * the time stamp of an interrupt for which the clock went far back meanwhile.
	 */
	if (st.far_back && st.backs != backs)
		l->time = 0;
	if (!event) {
		may_be_lost(outermost, read_bytes);
		return NULL;
	}
	l->what = WRITTEN;
	body = data;
	body->id = l - st.events;
	for (unsigned int i = 0; i < length / 4 - 1; i++)
		body->fill[i] = body->id * 0x01010101 + i;
	return event;
}

static void write_one(unsigned int length, enum way way, bool discard, bool nest)
{
	struct ring_buffer_event *event;
	struct logged *log;

	event = begin(length, &log, &way);
	if (nest) {
		ring_buffer_nest_start(&st.buffer);
		write_one(8, ANY, false, false);
		ring_buffer_nest_end(&st.buffer);
	}
	if (!event)
		return;
	if (discard)
		log->what = DISCARDED;
	interrupts_on();
	if (discard)
		ring_buffer_discard_commit(&st.buffer, event);
	else if (way == TRACER || way == FUNCTION)
		rb_end(&st.cpu, RB_IDLE | RB_LEAF);
	else
		rb_write_end(&st.buffer);
	interrupts_off();
}

static void go_back(u64 by)
{
	st.backs++;
	st.far_back |= by > TS_MASK;
	/* Not before it began. */
	advance(st.now > by ? -by : 0);
}

static void reader_step(void)
{
	if (!st.taken) {
		reader_swap();
		return;
	}
	reader_finish();
	reader_read();
}

static void reader_all(void)
{
	reader_finish();
	reader_swap();
	reader_finish();
	reader_read();
}

/* A time between events. */
static void wait(u64 time)
{
	/* Each event may need a time extend. */
	st.wanted += 8 * 8;
	st.largest = st.largest < 36 ? 36 : st.largest;
	advance(time);
}

/* Longer than a page can count from one time. */
#define LONG		(73 * 60 * 1000000000ULL)

/* Until shortly before the tail cannot count any more from that time. */
static void wait_until_over(void)
{
	struct buffer_page *tail = st.cpu.tail_page;
	u64 write = tail->write.a;
	s64 left = rb_last_time(&st.cpu, tail, write) - (write >> RB_TIME_SHIFT) + RB_TIME_MAX -
		   st.now;

	if (left > 8)
		wait(left - 8);
}

/*
 * w: write 8 bytes, as function_graph does; W: 24 bytes, as the function tracer does; e: as
 * events do; d, D: discard such; n: one within another; t, T: the clock goes on by more than an
 * event can tell, or 73 minutes; m: by a time that the page can still tell; b, B: it goes back a
 * bit, or much; 0: it stands still, 1: it ticks slowly, 3: again as at the beginning; r: the
 * reader; s: the reader in two steps; i: a step of the iterator, I: ten.
 */
static void act(char c)
{
	switch (c) {
	case 'w':
		write_one(8, TRACER, false, false);
		break;
	case 'W':
		write_one(24, FUNCTION, false, false);
		break;
	case 'e':
		write_one(8, EVENT, false, false);
		break;
	case 'd':
		write_one(8, ANY, true, false);
		break;
	case 'D':
		write_one(24, ANY, true, false);
		break;
	case 'n':
		write_one(8, ANY, false, true);
		break;
	case 'N':
		write_one(12, ANY, true, true);
		break;
	case 't':
		wait(TS_MASK + 10);
		break;
	case 'T':
		wait(LONG);
		break;
	case 'm':
		wait_until_over();
		break;
	case 'b':
		go_back(20);
		break;
	case 'B':
		go_back(2 * TS_MASK);
		break;
	case '0':
	case '1':
	case '3':
		st.tick = c - '0';
		break;
	case 'r':
		reader_all();
		break;
	case 's':
		reader_step();
		break;
	case 'i':
		iterator_step();
		break;
	case 'I':
		for (unsigned int i = 0; i < 10; i++)
			iterator_step();
	}
}

/* Checking */

static void check(void)
{
	/* Those in the ring, and the reader's. */
	unsigned long written = 0, lost = 0, rest = 0, flagged = 0, bytes = 0, laps;
	struct buffer_page *page, *head = NULL;
	struct logged *l;

	expect(!st.cpu.writers, "%#x", st.cpu.writers);
	expect(!st.cpu.nest, "%u", st.cpu.nest);
	reader_finish();
	expect(st.cpu.commit_page == st.cpu.tail_page, "page %td", st.cpu.commit_page - st.pages);
	for (unsigned int i = 0; i <= st.cpu.nr_pages; i++) {
		unsigned long link = (unsigned long)st.pages[i].list.next;

		if (&st.pages[i] == st.cpu.reader_page)
			continue;
		expect((link & RB_FLAG_MASK) != RB_PAGE_UPDATE, "page %u", i);
		expect(!(st.pages[i].write.a & RB_CLOSED) == (&st.pages[i] == st.cpu.tail_page),
		       "page %u", i);
		flagged += (link & RB_FLAG_MASK) == RB_PAGE_HEAD;
		if ((link & RB_FLAG_MASK) == RB_PAGE_HEAD)
			head = list_entry(rb_list_head((void *)link), struct buffer_page, list);
	}
	expect(flagged == 1, "%lu", flagged);
	if (complaint[0])
		return;

	/* The events that the reader has not got. */
	reader_read();
	laps = st.cpu.commit_page == st.cpu.reader_page ? 0 : st.cpu.nr_pages + 1;
	for (page = head; laps--; page = rb_page_after(page)) {
		unsigned int nr = read_page(page, 0);

		expect(nr == rb_page_entries(page), "page %td: %u, %lu", page - st.pages, nr,
		       rb_page_entries(page));
		expect(rb_page_commit(page) == (page->write.a & RB_INDEX_MASK), "page %td",
		       page - st.pages);
		bytes += rb_page_commit(page);
		rest += nr;
		if (page == st.cpu.commit_page)
			break;
	}
	for (l = st.events; l < st.events + st.nr_events; l++) {
		written += l->what == WRITTEN;
		lost += l->what == LOST;
	}
	expect(written == st.cpu.read + rest + st.cpu.overrun.a, "%lu, %lu + %lu + %ld", written,
	       st.cpu.read, rest, st.cpu.overrun.a);
	expect(lost == st.cpu.commit_overrun.a + st.cpu.dropped_events.a, "%lu, %ld + %ld", lost,
	       st.cpu.commit_overrun.a, st.cpu.dropped_events.a);
	expect(st.cpu.entries.a == written, "%ld, %lu", st.cpu.entries.a, written);
	/* As ring_buffer_bytes_cpu(). */
	expect(st.cpu.entries_bytes.a - st.cpu.read_bytes == bytes, "%ld - %lu, %lu",
	       st.cpu.entries_bytes.a, st.cpu.read_bytes, bytes);
	/* Only events that were overwritten may be missing, and these are the oldest. */
	for (l = st.events; !st.cpu.overrun.a && l < st.events + st.nr_events; l++)
		expect(l->what != WRITTEN || l->seen, "event %td", l - st.events);
}
