// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the lines of a trace: numbers and heads of lines against vsnprintf(),
 * and names kept by a reader against kallsyms.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/prandom.h>

#include "../trace_text.h"

/* Fails unless the text that ends at @end is @want, and nothing behind it was written. */
static void text_is(struct kunit *test, const char *got, const char *end, const char *want)
{
	unsigned int len = strlen(want);

	if (end - got == len && !memcmp(got, want, len) && end[0] == '#' && end[1] == '#')
		return;
	KUNIT_FAIL(test, "\"%.*s\", not \"%s\"", (int)(end - got), got, want);
}

static void numbers_are(struct kunit *test, u64 value, unsigned int width)
{
	char got[64], want[64], *end;

#define CHECK(function, format, ...)					\
	do {								\
		memset(got, '#', sizeof(got));				\
		snprintf(want, sizeof(want), format, ##__VA_ARGS__);	\
		end = function;						\
		KUNIT_EXPECT_EQ(test, *max(end, got + TRACE_TEXT_LEAST), '#'); \
		memset(end, '#', 2);					\
		text_is(test, got, end, want);				\
	} while (0)
	CHECK(trace_text_dec(got, value, width, ' '), "%*llu", width, value);
	CHECK(trace_text_dec(got, value, width, '0'), "%0*llu", width, value);
	CHECK(trace_text_hex(got, value, width), "%0*llx", width, value);
	CHECK(trace_text_int(got, value, width), "%*d", width, (int)value);
	CHECK(trace_text_int_left(got, value, width), "%-*d", width, (int)value);
#undef CHECK
}

static void names_numbers(struct kunit *test)
{
	static const u64 step[] = { 0, 1, 9, 10, 99, 100, 999, 1000, 99999, 100000, 999999999,
		1000000000, INT_MAX, U32_MAX, 9999999999, 99999999999999, S64_MAX, U64_MAX };
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (unsigned int width = 0; width < 24; width++) {
		for (int i = 0; i < ARRAY_SIZE(step); i++) {
			numbers_are(test, step[i] - 1, width);
			numbers_are(test, step[i], width);
			numbers_are(test, step[i] + 1, width);
		}
		for (int i = 0; i < 1000; i++) {
			u64 value = (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);

			numbers_are(test, value >> (prandom_u32_state(&rnd) % 64), width);
		}
	}
}

static struct trace_text_parsed parsed;

static __printf(2, 3) void format_is(struct kunit *test, const char *format, ...)
{
	char got[256], want[256];
	u32 binary[64];
	va_list args;
	int len, done;

	va_start(args, format);
	len = vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	va_start(args, format);
	vbin_printf(binary, ARRAY_SIZE(binary), format, args);
	va_end(args);
	trace_text_keep(&parsed, format);
	for (int i = 0; i < 3 * (TRACE_TEXT_SPARE + 6); i++) {
		int room = max(0, len - 3 + i / 3);

		memset(got, '#', sizeof(got));
		va_start(args, format);
		done = i % 3 == 2 ? trace_text_binary(got, room, format, binary) :
		       trace_text_format(got, room, i % 3 ? &parsed : NULL, format, args);
		va_end(args);
		if (got[room] != '#')
			KUNIT_FAIL(test, "\"%s\" writes beyond %d", format, room);
		if (done >= 0) {
			memset(got + done, '#', 2);
			text_is(test, got, got + done, want);
		} else if (room > len + TRACE_TEXT_SPARE && !strpbrk(format, "p0z#+.*")) {
			KUNIT_FAIL(test, "\"%s\" is simple", format);
		}
	}
}

static void names_formats(struct kunit *test)
{
	static const char * const text[] = { "", "a", "sixteen letters" };
	/* Not standard C, but of probes' events. */
	const char kprobe[] = { '0', 'x', '%', 'L', 'x', '\0' };
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 2);
	for (int i = 0; i < 3000; i++) {
		u64 v = ((u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd)) >>
			(prandom_u32_state(&rnd) % 64);
		const char *s = text[i % ARRAY_SIZE(text)];

		format_is(test, "NR %ld (%lx, %lx)\n", (long)v, (long)v, ~(long)v);
		format_is(test, "%d|%i|%u|%x", (int)v, (int)v, (int)v, (int)v);
		format_is(test, "%5d|%-5d|%8x|%-12llx|%16llx", (int)v, (int)v, (int)v, v, v);
		format_is(test, "%lld %llu %lu", v, v, (long)v);
		format_is(test, kprobe, v);
		format_is(test, "%s=%20s|%-20s|%c%%", s, s, s, 'x');
		format_is(test, "%05d %08x", (int)v, (int)v);
		format_is(test, "%#x %+d %zu %.3s", (int)v, (int)v, (size_t)v, s);
		format_is(test, "%*d", 7, (int)v);
		format_is(test, "%.3s %s", s, (char *)NULL);
	}
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Seven digits at most: the decimals give way. */
static void names_durations(struct kunit *test)
{
	struct trace_seq *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	char want[64], digits[32];
	u64 duration = 1;
	u32 rest;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (int i = 0; i < 200; i++, duration += div_u64(duration, 3) + 1) {
		int whole = snprintf(digits, sizeof(digits), "%llu",
				     div_u64_rem(duration, 1000, &rest));

		snprintf(digits + whole, sizeof(digits) - whole, ".%03u", rest);
		if (whole >= 7)
			digits[whole] = '\0';
		else if (whole > 4)
			digits[8] = '\0';
		snprintf(want, sizeof(want), "%s us %*s", digits,
			 max(0, 8 - (int)strlen(digits)), "");
		trace_seq_init(s);
		memset(s->buffer, '#', sizeof(want) + 2);
		trace_print_graph_duration(duration, s);
		memset(trace_seq_buffer_ptr(s), '#', 2);
		text_is(test, s->buffer, s->buffer + trace_seq_used(s), want);
	}
}
#endif

static struct trace_iterator *new_reader(struct kunit *test)
{
	struct trace_iterator *iter;

	iter = trace_reader_init(kunit_kzalloc(test, sizeof(struct trace_reader), GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, iter);
	trace_seq_init(&iter->seq);
	return iter;
}

static void context_is(struct kunit *test, struct trace_iterator *iter, const char *want)
{
	trace_seq_init(&iter->seq);
	trace_print_context(iter);
	/* Whole pieces are written. */
	memset(trace_seq_buffer_ptr(&iter->seq), '#', 2);
	text_is(test, iter->seq.buffer, trace_seq_buffer_ptr(&iter->seq), want);
}

static void names_context(struct kunit *test)
{
	static const int pid[] = { 0, 1, 12345, 1234567, 12345678 };
	struct trace_iterator *iter = new_reader(test);
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);
	struct trace_entry entry = { .flags = TRACE_FLAG_HARDIRQ, .preempt_count = 0xa3 };
	struct trace_head *head;
	char want[128], comm[TASK_COMM_LEN];

	KUNIT_ASSERT_NOT_NULL(test, tr);
	iter->tr = tr;
	iter->ent = &entry;
	iter->cpu = 7;
	/* Each twice: the second time, a text that was kept. */
	for (int n = 0; n < 16 * ARRAY_SIZE(pid); n++) {
		int i = n / 2;
		bool ns = i & 1, irq = i & 2, soft = i & 4;

		entry.pid = pid[i / 8];
		entry.flags = soft ? TRACE_FLAG_SOFTIRQ : TRACE_FLAG_HARDIRQ;
		iter->iter_flags = TRACE_FILE_NAMES | (ns ? TRACE_FILE_TIME_IN_NS : 0);
		tr->trace_flags = irq ? TRACE_ITER(IRQ_INFO) : 0;
		iter->ts = 987654321ULL * (i * i * i + 1);
		trace_find_cmdline(entry.pid, comm);
		snprintf(want, sizeof(want), "%16s-%-7d [007] %s ", comm, entry.pid,
			 !irq ? "" : soft ? "..s3a" : "..h3a");
		if (ns) {
			u64 us = div_u64(iter->ts + 500, 1000);
			u32 rest;
			u64 sec = div_u64_rem(us, USEC_PER_SEC, &rest);

			snprintf(want + strlen(want), 64, "%5llu.%06u: ", sec, rest);
		} else {
			snprintf(want + strlen(want), 64, "%12llu: ", iter->ts);
		}
		context_is(test, iter, want);
	}
	/* Names of tasks are told anew by each read. */
	head = &trace_reader_of(iter)->head;
	for (int i = 0; i < ARRAY_SIZE(head->lines); i++)
		head->lines[i].text[0] = '?';
	trace_seq_init(&iter->seq);
	trace_print_context(iter);
	KUNIT_EXPECT_EQ(test, iter->seq.buffer[0], '?');
	trace_reader_begin(iter);
	context_is(test, iter, want);
	trace_reader_free(iter);
}

static void name_is(struct kunit *test, struct trace_iterator *iter, unsigned long addr,
		    enum trace_name_kind kind)
{
	char want[KSYM_SYMBOL_LEN];

	if (kind == TRACE_NAME_OFFSET)
		sprint_symbol(want, addr);
	else if (kind == TRACE_NAME_MODULE)
		sprint_symbol_no_offset(want, addr);
	else if (!kallsyms_lookup(addr, NULL, NULL, NULL, want))
		snprintf(want, sizeof(want), "0x%08lx", addr);
	if (is_kretprobe_trampoline(addr) && kind != TRACE_NAME_MODULE)
		strscpy(want, "[unknown/kretprobe'd]");

	trace_seq_init(&iter->seq);
	memset(iter->seq.buffer, '#', sizeof(want) + 2);
	trace_print_name(iter, addr, kind);
	/* A lookup may end its text in a NUL, and whole pieces are written. */
	memset(trace_seq_buffer_ptr(&iter->seq), '#', 2);
	text_is(test, iter->seq.buffer, trace_seq_buffer_ptr(&iter->seq), want);
}

struct each_symbol {
	struct kunit		*test;
	struct trace_iterator	*iter;
	unsigned int		nr;
};

static int names_of_symbol(void *data, const char *name, unsigned long addr)
{
	struct each_symbol *each = data;

	/* A prime, so that neighbours are seen too; all would take half a minute. */
	if (each->nr++ % 13 && each->nr > 500)
		return 0;
	for (int i = 0; i < 2; i++) {
		for (int kind = TRACE_NAME_PLAIN; kind <= TRACE_NAME_MODULE; kind++) {
			name_is(each->test, each->iter, addr, kind);
			name_is(each->test, each->iter, addr + 5, kind);
		}
	}
	/* Failures are many alike. */
	return each->test->status == KUNIT_FAILURE;
}

static void names_all(struct kunit *test)
{
	struct each_symbol each = { .test = test, .iter = new_reader(test) };

	kallsyms_on_each_symbol(names_of_symbol, &each);
	KUNIT_EXPECT_GT(test, each.nr, 10000);
	/* Addresses without a name. */
	for (int i = 0; i < 2; i++) {
		for (int kind = TRACE_NAME_PLAIN; kind <= TRACE_NAME_MODULE; kind++) {
			name_is(test, each.iter, 0, kind);
			name_is(test, each.iter, 1, kind);
			name_is(test, each.iter, (unsigned long)&each, kind);
			name_is(test, each.iter, ULONG_MAX, kind);
		}
	}
	trace_reader_free(each.iter);
}

/* Whether a name comes from the reader's memory is seen by changing it there. */
static void names_forgotten(struct kunit *test)
{
	unsigned long addr = (unsigned long)trace_reader_init;
	struct trace_iterator *iter = new_reader(test);
	struct trace_name_store *store;

	name_is(test, iter, addr, TRACE_NAME_PLAIN);
	store = trace_reader_of(iter)->names;
	KUNIT_ASSERT_NOT_NULL(test, store);
	store->text[name_slot(store, addr)->at] = '?';
	trace_seq_init(&iter->seq);
	trace_print_name(iter, addr, TRACE_NAME_PLAIN);
	KUNIT_EXPECT_EQ(test, iter->seq.buffer[0], '?');
	/* Another kind moves it to the second place, where it is found, too. */
	name_is(test, iter, addr, TRACE_NAME_OFFSET);
	trace_seq_init(&iter->seq);
	trace_print_name(iter, addr, TRACE_NAME_PLAIN);
	KUNIT_EXPECT_EQ(test, iter->seq.buffer[0], '?');
	/* A third one takes that place. */
	name_is(test, iter, addr, TRACE_NAME_MODULE);
	name_is(test, iter, addr, TRACE_NAME_PLAIN);

	store->text[name_slot(store, addr)->at] = '?';
	if (IS_ENABLED(CONFIG_MODULES)) {
		trace_reader_of(iter)->removals--;
		name_is(test, iter, addr, TRACE_NAME_PLAIN);
		KUNIT_EXPECT_EQ(test, trace_reader_of(iter)->removals, module_text_removals());
	}
	/* A free address may be used soon. */
	name_is(test, iter, ULONG_MAX - 1, TRACE_NAME_PLAIN);
	KUNIT_EXPECT_NE(test, name_slot(store, ULONG_MAX - 1)->addr, ULONG_MAX - 1);
	trace_reader_free(iter);
}

/* Where the name does not fit, nothing is printed or kept, whether it was kept before or not. */
static void names_full(struct kunit *test)
{
	unsigned long addr = (unsigned long)trace_reader_init;
	unsigned int len = strlen("trace_reader_init");
	struct trace_iterator *iter = new_reader(test);

	for (int kept = 0; kept < 2; kept++) {
		/* The one that fits would be kept from then on. */
		for (unsigned int room = 0; room < len + kept; room++) {
			bool fits = room == len;

			trace_seq_init(&iter->seq);
			iter->seq.seq.len = iter->seq.seq.size - room;
			trace_print_name(iter, addr, TRACE_NAME_PLAIN);
			KUNIT_EXPECT_EQ(test, iter->seq.full, !fits);
			KUNIT_EXPECT_EQ(test, trace_seq_used(&iter->seq),
					iter->seq.seq.size - room + (fits ? len : 0));
		}
		name_is(test, iter, addr, TRACE_NAME_PLAIN);
	}
	trace_reader_free(iter);
}

#ifdef CONFIG_FUNCTION_TRACE_ARGS
struct each_function {
	struct each_symbol	each;
	struct trace_iterator	*plain;
	struct rnd_state	rnd;
	unsigned int		kept;
};

/* The arguments as a reader prints them, the first time and from its memory, and as a dump does. */
static int args_of_symbol(void *data, const char *name, unsigned long addr)
{
	struct each_function *f = data;
	unsigned long args[FTRACE_REGS_MAX_ARGS];

	if (f->each.nr++ % 13 && f->each.nr > 500)
		return 0;
	for (int n = 0; n < 2; n++) {
		/* Some are those of enumerators. */
		for (int i = 0; i < FTRACE_REGS_MAX_ARGS; i++) {
			args[i] = (u64)prandom_u32_state(&f->rnd) << 32 |
				  prandom_u32_state(&f->rnd);
			args[i] >>= prandom_u32_state(&f->rnd) % BITS_PER_LONG;
		}
		trace_seq_init(&f->plain->seq);
		print_function_args(f->plain, args, addr);
		trace_seq_putc(&f->plain->seq, '\0');
		trace_seq_init(&f->each.iter->seq);
		if (n)
			f->kept += trace_print_args(f->each.iter, addr, args);
		trace_seq_init(&f->each.iter->seq);
		print_function_args(f->each.iter, args, addr);
		memset(trace_seq_buffer_ptr(&f->each.iter->seq), '#', 2);
		text_is(f->each.test, f->each.iter->seq.buffer,
			trace_seq_buffer_ptr(&f->each.iter->seq), f->plain->seq.buffer);
	}
	return f->each.test->status == KUNIT_FAILURE;
}

static void names_args(struct kunit *test)
{
	struct trace_iterator *iter = new_reader(test);
	struct each_function f = { .each = { .test = test, .iter = iter } };
	unsigned long addr = (unsigned long)trace_keep_args;
	unsigned long args[FTRACE_REGS_MAX_ARGS] = { 0x123, 0x45 };
	unsigned int len;

	prandom_seed_state(&f.rnd, 1);
	f.plain = new_reader(test);
	f.plain->iter_flags = 0;
	kallsyms_on_each_symbol(args_of_symbol, &f);
	KUNIT_EXPECT_GT(test, f.kept, 1000);

	trace_seq_init(&iter->seq);
	print_function_args(iter, args, addr);
	len = trace_seq_used(&iter->seq);
	KUNIT_EXPECT_GT(test, len, strlen("(iter=0x123, func=0x45, start=0x0)") - 1);
	/* No letters are left in a line that is full. */
	for (unsigned int room = 0; room < len; room++) {
		trace_reader_of(iter)->removals--;
		trace_seq_init(&iter->seq);
		iter->seq.seq.len = iter->seq.seq.size - room;
		print_function_args(iter, args, addr);
		KUNIT_EXPECT_TRUE(test, iter->seq.full);
		for (unsigned int i = iter->seq.seq.size - room; i < iter->seq.seq.len; i++)
			KUNIT_EXPECT_GE(test, iter->seq.buffer[i], ' ');
	}
	trace_reader_free(iter);
}
#endif

static struct kunit_case trace_names_cases[] = {
	KUNIT_CASE_SLOW(names_numbers),
	KUNIT_CASE_SLOW(names_formats),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(names_durations),
#endif
	KUNIT_CASE(names_context),
	KUNIT_CASE_SLOW(names_all),
	KUNIT_CASE(names_forgotten),
	KUNIT_CASE(names_full),
#ifdef CONFIG_FUNCTION_TRACE_ARGS
	KUNIT_CASE_SLOW(names_args),
#endif
	{}
};

static struct kunit_suite trace_names_suite = {
	.name		= "trace_names",
	.test_cases	= trace_names_cases,
};

kunit_test_suite(trace_names_suite);
