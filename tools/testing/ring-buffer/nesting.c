// SPDX-License-Identifier: GPL-2.0
/*
 * nesting: the write side of the ring buffer, interrupted at every instruction.
 *
 *	nesting [-a]
 *
 * kernel/trace/ring_buffer_write.c, as it is, runs with the trap flag set. The handler of
 * SIGTRAP counts instructions, and at the one that it is told it does what an interrupt
 * would do: it records events of its own, or it is the reader on another CPU. All that a
 * CPU can interrupt has the shape of a stack, so trying each instruction tries all there is
 * for one interrupt; what interrupts that is tried at each pair of instructions. Without -a
 * it begins with fewer states of the ring.
 *
 * After each run all pages are read and compared with a log: each event is there once and
 * whole, in the order of its time; its time is one that the clock told between its begin and
 * its end; and whatever was lost was counted.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <ucontext.h>

#include "ring_buffer_write.c"

#define MAX_PAGES	8
#define MAX_EVENTS	512
#define MAX_CAPACITY	112
#define MAX_LEVELS	4

/* What was asked for, and what became of it. */
struct logged {
	u64		begin;
	u64		time;
	u64		end;
	unsigned int	length;
	enum { LOST, WRITTEN, DISCARDED } what;
	bool		seen;
};

struct body {
	u32		id;
	u32		fill[];
};

/*
 * All that a run changes, beside its stack: what is copied when an interrupt is to come, and
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
	u64				last_seen;
	u64				page_time;
	bool				clock_goes_back;
	int				level;
	unsigned int			preempt_count;
	unsigned int			nr_events;
	/* The last, as only those in use are copied. */
	struct logged			events[MAX_EVENTS];
} st;

static const char *const *scripts;
static char complaint[512];
static unsigned long runs;

static const unsigned int level_count[MAX_LEVELS] = { 0, SOFTIRQ_OFFSET, 1U << 16, 1U << 20 };

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

/* What the read side gives to the write side */

/* In one instruction, as it may be interrupted, too. */
static u64 advance(u64 by)
{
	return __atomic_add_fetch(&st.now, by, __ATOMIC_RELAXED);
}

unsigned int preempt_count(void)
{
	return st.preempt_count;
}

static u64 tick(void)
{
	return advance(3);
}

u64 trace_clock_local(void)
{
	return tick();
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
	if (event->type_len == RINGBUF_TYPE_TIME_EXTEND)
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
	st.buffer.max_data_size = capacity - 8;
	st.cpu.buffer = &st.buffer;
	st.cpu.capacity = capacity;
	st.cpu.nr_pages = nr;
	for (unsigned int i = 0; i <= nr; i++) {
		st.pages[i].page = (void *)st.memory[i];
		st.pages[i].page->commit.a = 0;
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
	st.pages[0].page->time_stamp = st.now;
	st.nr_events = 0;
	st.last_seen = 0;
	st.clock_goes_back = false;
	complaint[0] = 0;
}

/* Reading */

static void see(const struct ring_buffer_event *event, u64 time)
{
	const struct body *body = (const void *)&event->array[!event->type_len];
	struct logged *l = &st.events[body->id];

	if (body->id >= st.nr_events) {
		shim_warn("an event has the number %#x", body->id);
		return;
	}
	expect(l->what == WRITTEN, "event %u", body->id);
	expect(!l->seen, "event %u", body->id);
	l->seen = true;
	for (unsigned int i = 0; i < l->length / 4 - 1; i++)
		expect(body->fill[i] == body->id * 0x01010101 + i, "event %u", body->id);
	expect(time == l->time, "event %u: %llu, when it was written %llu", body->id,
	       (unsigned long long)time, (unsigned long long)l->time);
	if (!st.clock_goes_back) {
		expect(time >= st.last_seen, "event %u: %llu after %llu", body->id,
		       (unsigned long long)time, (unsigned long long)st.last_seen);
		expect(time > l->begin && time <= l->end, "event %u: %llu", body->id,
		       (unsigned long long)time);
	}
	st.last_seen = time;
}

/* The events of a page from @from on; st.page_time is the time there. Returns how many. */
static unsigned int read_page(struct buffer_page *page, unsigned int from)
{
	unsigned int end = rb_page_commit(page), nr = 0;
	const struct ring_buffer_event *event;

	expect(end <= st.cpu.capacity, "commit %u", end);
	if (!from)
		st.page_time = page->page->time_stamp;
	while (from < end && !complaint[0]) {
		event = (void *)&page->page->data[from];
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			st.page_time += event->time_delta + ((u64)event->array[0] << TS_SHIFT);
			from += RB_LEN_TIME_EXTEND;
		} else if (event->type_len == RINGBUF_TYPE_PADDING) {
			expect(event->time_delta, "at %u", from);
			if (event->time_delta != 1)
				st.page_time += event->time_delta;
			from += RB_EVNT_HDR_SIZE + event->array[0];
		} else {
			st.page_time += event->time_delta;
			see(event, st.page_time);
			from += rb_data_size(event);
			nr++;
		}
	}
	expect(from == end || complaint[0], "%u and %u", from, end);
	return nr;
}

static unsigned long flag_of(const struct buffer_page *page)
{
	unsigned long link = (unsigned long)page->list.prev->next;

	return (link & ~RB_FLAG_MASK) == (unsigned long)&page->list ? link & RB_FLAG_MASK : 0;
}

/* What rb_get_reader_page() of ring_buffer.c does; its two halves at different times. */
static bool reader_swap(void)
{
	struct buffer_page *r = st.cpu.reader_page, *head;
	unsigned long link;

	if (r->read < rb_page_commit(r) || st.cpu.commit_page == r)
		return false;
	r->write.a = 0;
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
	r->read = end;
}

/* Writing */

/* Writes an event; its end is the caller's. If nobody else writes, then as tracers do. */
static struct ring_buffer_event *begin(unsigned int length, struct logged **log,
				       struct ring_buffer_per_cpu *idle)
{
	struct ring_buffer_event *event;
	void *data;
	struct body *body;
	struct logged *l;

	*log = l = &st.events[__atomic_fetch_add(&st.nr_events, 1, __ATOMIC_RELAXED)];
	if (l >= &st.events[MAX_EVENTS])
		abort();
	*l = (struct logged){ .begin = st.now, .length = length };
	if (idle) {
		data = rb_begin_alone(&st.buffer, idle, length, trace_clock_local());
		event = data ? container_of(data, struct ring_buffer_event, array) : NULL;
	} else {
		event = rb_write_begin(&st.buffer, length, &data);
	}
	l->end = st.now;
	if (!event)
		return NULL;
	l->what = WRITTEN;
	l->time = ring_buffer_event_time_stamp(&st.buffer, event);
	body = data;
	body->id = l - st.events;
	for (unsigned int i = 0; i < length / 4 - 1; i++)
		body->fill[i] = body->id * 0x01010101 + i;
	return event;
}

static void write_one(unsigned int length, bool discard, bool nest)
{
	/* Not if a recursion is to be told from an interrupt, or an event to be taken back. */
	struct ring_buffer_per_cpu *idle = nest || discard ? NULL : rb_idle(&st.buffer);
	struct ring_buffer_event *event;
	struct logged *log;

	event = begin(length, &log, idle);
	if (nest) {
		ring_buffer_nest_start(&st.buffer);
		write_one(8, false, false);
		ring_buffer_nest_end(&st.buffer);
	}
	if (!event)
		return;
	if (discard) {
		log->what = DISCARDED;
		ring_buffer_discard_commit(&st.buffer, event);
	} else if (idle) {
		rb_end_alone(idle);
	} else {
		rb_write_end(&st.buffer);
	}
}

static void go_back(u64 by)
{
	st.clock_goes_back = true;
	advance(-by);
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

/*
 * w, W: write 8 or 24 bytes; d, D: discard them; n: one within another; t, T: the clock goes
 * on by more than an event can tell, or a page; b, B: it goes back a bit, or much; r: the
 * reader; s: the reader in two steps.
 */
static void play(const char *script)
{
	for (const char *c = script; *c; c++) {
		switch (*c) {
		case 'w':
		case 'd':
			write_one(8, *c == 'd', false);
			break;
		case 'W':
		case 'D':
			write_one(24, *c == 'D', false);
			break;
		case 'n':
			write_one(8, false, true);
			break;
		case 't':
			advance(TS_MASK + 10);
			break;
		case 'T':
			advance(RB_TIME_MAX + 10);
			break;
		case 'b':
			go_back(20);
			break;
		case 'B':
			go_back(2 * TS_MASK);
			break;
		case 'r':
			reader_all();
			break;
		case 's':
			reader_step();
			break;
		}
	}
}

/*
 * Stepping
 *
 * At each instruction of a level that another one may interrupt, the handler keeps the state
 * and the stack, lets that one run, and the interrupted one go on without traps to its end.
 * When that is checked, state and stack are put back, and the next instruction's turn comes.
 */

#define STACK_SIZE	(256 * 1024)
#define TRAP_FLAG	0x100

struct checkpoint {
	jmp_buf		jump;
	struct state	state;
	size_t		stack_size;
	unsigned char	stack[STACK_SIZE];
	unsigned long	step;
};

static unsigned char run_stack[STACK_SIZE] __attribute__((aligned(64)));
static struct checkpoint checkpoints[MAX_LEVELS];
static unsigned int nr_checkpoints;
/* Where each level is interrupted in this run. */
static unsigned long steps[MAX_LEVELS], ips[MAX_LEVELS];
static jmp_buf driver;

static void copy_state(struct state *to, const struct state *from)
{
	size_t size = offsetof(struct state, events) + from->nr_events * sizeof(from->events[0]);

	memcpy(to, from, size);
}

static __always_inline void trap_on(void)
{
	asm volatile("pushfq\n\torq $0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static __always_inline void trap_off(void)
{
	asm volatile("pushfq\n\tandq $~0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static void run_level(int l)
{
	unsigned int count = st.preempt_count;

	st.level = l;
	st.preempt_count = count + level_count[l];
	steps[l] = 0;
	if (l + 1 < MAX_LEVELS && scripts[l + 1]) {
		trap_on();
		play(scripts[l]);
		trap_off();
	} else {
		play(scripts[l]);
	}
	st.preempt_count = count;
	st.level = l - 1;
}

static noinline void put_back(struct checkpoint *c)
{
	copy_state(&st, &c->state);
	memcpy(run_stack + STACK_SIZE - c->stack_size, c->stack, c->stack_size);
	longjmp(c->jump, 1);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
	struct checkpoint *c = &checkpoints[nr_checkpoints];
	int l = st.level;

	steps[l]++;
	if (setjmp(c->jump)) {
		steps[l] = c->step;
		return;
	}
	c->step = steps[l];
	ips[l] = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	/* All of the stack down to here, and what setjmp() keeps of it. */
	c->stack_size = run_stack + STACK_SIZE - (unsigned char *)__builtin_frame_address(0) + 1024;
	copy_state(&c->state, &st);
	memcpy(c->stack, run_stack + STACK_SIZE - c->stack_size, c->stack_size);
	nr_checkpoints++;

	run_level(l + 1);
	*flags &= ~TRAP_FLAG;
}

static void start(void)
{
	run_level(0);
	longjmp(driver, 1);
}

/* Checking */

static void check(void)
{
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
		flagged += (link & RB_FLAG_MASK) == RB_PAGE_HEAD;
		if ((link & RB_FLAG_MASK) == RB_PAGE_HEAD)
			head = list_entry(rb_list_head((void *)link), struct buffer_page, list);
	}
	expect(flagged == 1, "%lu", flagged);
	if (complaint[0])
		return;

	/* What the reader has not got. */
	reader_read();
	bytes = rb_page_commit(st.cpu.reader_page);
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
	if (!st.cpu.read)
		expect(st.cpu.entries_bytes.a == bytes, "%ld, %lu", st.cpu.entries_bytes.a, bytes);
	/* Only what was overwritten may be missing, and that is the oldest. */
	for (l = st.events; !st.cpu.overrun.a && l < st.events + st.nr_events; l++)
		expect(l->what != WRITTEN || l->seen, "event %td", l - st.events);
}

struct scene {
	unsigned int	pages;
	unsigned int	capacity;
	unsigned int	flags;
	const char	*before;
	const char	*script[MAX_LEVELS];
};

static void describe(const struct scene *s)
{
	fprintf(stderr, "# %u pages of %u, %s, \"%s\", then", s->pages, s->capacity,
		s->flags & RB_FL_OVERWRITE ? "overwriting" : "dropping", s->before);
	for (int l = 0; l < MAX_LEVELS && s->script[l]; l++)
		fprintf(stderr, " \"%s\" at %#lx (%ld)", s->script[l], l ? ips[l - 1] : 0UL,
			l ? (long)steps[l - 1] : 0L);
	fprintf(stderr, "\n# %s\n", complaint);
}

/* Every instruction of each level. Returns false at the first that is wrong. */
static bool try_all(const struct scene *s)
{
	static ucontext_t context;

	ring_make(s->pages, s->capacity, s->flags);
	scripts = s->script;
	play(s->before);
	nr_checkpoints = 0;
	if (!setjmp(driver)) {
		getcontext(&context);
		context.uc_stack.ss_sp = run_stack;
		context.uc_stack.ss_size = sizeof(run_stack);
		makecontext(&context, start, 0);
		setcontext(&context);
	}
	runs++;
	check();
	if (complaint[0])
		return false;
	if (nr_checkpoints)
		put_back(&checkpoints[--nr_checkpoints]);
	return true;
}

/* What is in the ring before: the first FEW without -a. */
static const char *const befores[] = {
	"", "www", "WW", "wwwwwwwwwwww", "WWWWWWWWWWWWWWWWWWWWWWWWWw", "wrwrwr", "wwwwwwrrww",
	"w", "ww", "wwww", "wwwww", "Ww", "WWw", "WWWWWWWWWWWW", "wwwwwwwwwwwwwwwwwwwwwwwwwwww",
	"wwwrwww", "wrwrwrwwwwwwwwwwwwwww", "dw", "wd",
};

#define FEW	7

static const char *const outers[] = {
	"w", "W", "d", "wd", "tw", "Tw", "n", "ww", "WW", "Bw", "bw",
};

static const char *const inners[] = {
	"w", "W", "d", "wd", "dw", "WWW", "wwwwwwwwwwwwwwwwwwwwwwww", "tw", "Td", "n", "r", "s",
	"rw", "wr", "Wsw", "Bw",
};

/* Pages and bytes in each: the first two without -a. */
static const unsigned int sizes[][2] = { { 2, 48 }, { 4, 40 }, { 3, 48 }, { 3, 100 } };

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static unsigned int passed, failed;
static bool all;

static void report(bool ok, const struct scene *s, const char *fmt, ...)
{
	va_list args;

	printf("%s %u - ", ok ? "ok" : "not ok", passed + failed + 1);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	if (ok)
		passed++;
	else
		failed++;
	if (!ok)
		describe(s);
}

static void one_interrupt(const char *outer)
{
	struct scene s = { .script = { outer } };
	unsigned long before = runs;
	bool ok = true;

	for (unsigned int z = 0; ok && z < (all ? ARRAY_SIZE(sizes) : 2); z++) {
		for (unsigned int b = 0; ok && b < (all ? ARRAY_SIZE(befores) : FEW); b++) {
			for (unsigned int i = 0; ok && i < ARRAY_SIZE(inners); i++) {
				for (unsigned int f = 0; ok && f < 2; f++) {
					s.pages = sizes[z][0];
					s.capacity = sizes[z][1];
					s.flags = f ? RB_FL_OVERWRITE : 0;
					s.before = befores[b];
					s.script[1] = inners[i];
					ok = try_all(&s);
				}
			}
		}
	}
	report(ok, &s, "\"%s\", interrupted at every instruction (%lu runs)", outer, runs - before);
}

/* Two interrupts, one in the other, at each pair of instructions. */
static void two_interrupts(const char *outer, const char *middle, const char *inner)
{
	static const char *const some[] = { "wwwwwwwwwwww", "ww", "", "wrwrwrwwwwww", "wwww" };
	struct scene s = { .script = { outer, middle, inner } };
	unsigned long before = runs;
	bool ok = true;

	for (unsigned int z = 0; ok && z < (all ? ARRAY_SIZE(sizes) : 1); z++) {
		for (unsigned int b = 0; ok && b < (all ? ARRAY_SIZE(some) : 2); b++) {
			for (unsigned int f = 0; ok && f < 2; f++) {
				s.pages = sizes[z][0];
				s.capacity = sizes[z][1];
				s.flags = f ? RB_FL_OVERWRITE : 0;
				s.before = some[b];
				ok = try_all(&s);
			}
		}
	}
	report(ok, &s, "\"%s\", \"%s\" and \"%s\", at every pair of instructions (%lu runs)",
	       outer, middle, inner, runs - before);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	all = argc > 1 && !strcmp(argv[1], "-a");
	sigaction(SIGTRAP, &act, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(outers); i++)
		one_interrupt(outers[i]);
	two_interrupts("w", "w", "w");
	two_interrupts("w", "W", "d");
	two_interrupts("d", "w", "r");
	two_interrupts("w", "s", "WWW");
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
