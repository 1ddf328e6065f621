// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of trace_guard.c: samples, decisions and measurements, on a clock that is made up.
 * Included there.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/prandom.h>

#define GUARD_KUNIT_NR	4

static struct guard_cpu guard_kunit_cpu;
static struct trace_guard guard_kunit_limits;

/* A scan after @time at slots with so many calls and nanoseconds each, and keys 1, 2, ... */
static struct guard_cpu *guard_kunit_make(u64 time, const u32 calls[GUARD_KUNIT_NR], u32 cost)
{
	struct guard_cpu *gc = &guard_kunit_cpu;

	memset(gc, 0, sizeof(*gc));
	guard_kunit_limits.time = time;
	for (unsigned int i = 0; i < GUARD_KUNIT_NR; i++) {
		gc->slot[i] = (struct guard_slot) {
			.key	= i + 1,
			.kind	= TRACE_GUARD_EVENT,
			.calls	= calls[i],
			.cost	= calls[i] * cost,
		};
	}
	return gc;
}

/* For which limits the keys have to leave: two bits for each, from the left. */
static unsigned int guard_kunit_over(struct guard_cpu *gc, unsigned int rate, unsigned int overhead)
{
	struct guard_slot *slot;
	unsigned int over = 0;

	guard_kunit_limits.max[GUARD_LIMIT_RATE] = rate;
	guard_kunit_limits.max[GUARD_LIMIT_OVERHEAD] = overhead;
	guard_decide(&guard_kunit_limits, gc, 1);
	for_each_guard_slot(slot, gc) {
		if (slot->over != GUARD_LIMIT_NONE)
			over |= (slot->over + 1) << (4 * (4 - slot->key));
	}
	return over;
}

static void guard_kunit_rate(struct kunit *test)
{
	static const u32 calls[] = { 100, 101, 0, 5000 };

	/* In a tenth of a second, 100 are not too many. */
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(NSEC_PER_SEC / 10, calls, 1),
					       1000, 0), 0x0101);
	/* In ten seconds, as many are. */
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(10ULL * NSEC_PER_SEC, calls, 1),
					       1000, 0), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(NSEC_PER_SEC / 10, calls, 1),
					       0, 0), 0);
}

/* A rate is of a tenth of a second at least. */
static void guard_kunit_burst(struct kunit *test)
{
	static const u32 calls[] = { 100, 101, 0, 5000 };

	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(NSEC_PER_SEC / 100, calls, 1),
					       1000, 0), 0x0101);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(NSEC_PER_SEC / 100, calls, 1),
					       2000, 0), 0x0001);
}

static void guard_kunit_overhead(struct kunit *test)
{
	static const u32 calls[] = { 1000, 4000, 3000, 2000 };
	struct guard_cpu *gc;

	/* 10,000 calls of 5,000 ns are 50 ms: 5 % of a second. */
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(NSEC_PER_SEC, calls, 5000), 0, 5),
			0);

	/* Of 60 ms 10 have to go. A call that costs much counts as many cheap ones. */
	gc = guard_kunit_make(NSEC_PER_SEC, calls, 5000);
	gc->slot[0].cost = 15 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, guard_kunit_over(gc, 0, 5), 0x0200);

	/* A function that leaves for its rate is not part of the overhead. */
	gc = guard_kunit_make(NSEC_PER_SEC, calls, 5000);
	gc->slot[0].cost = 15 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, guard_kunit_over(gc, 3500, 5), 0x0100);

	/* No other stays because one is to leave that is no function. */
	gc = guard_kunit_make(NSEC_PER_SEC, calls, 6000);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(gc, 0, 5), 0x0200);
	gc->slot[1].kind = TRACE_GUARD_FUNCTION;
	KUNIT_EXPECT_EQ(test, guard_kunit_over(gc, 0, 5), 0x0220);
}

static void guard_kunit_large(struct kunit *test)
{
	static const u32 calls[] = { U32_MAX, 1, 0, 0 };

	/* Nothing overflows within a week without a scan. */
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(7ULL * 86400 * NSEC_PER_SEC, calls,
								1), U32_MAX, 99), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_over(guard_kunit_make(NSEC_PER_SEC, calls, 1), 0, 99),
			0x2000);
}

static void guard_kunit_text(struct kunit *test)
{
	static const char * const wrong[] = { "", "x", "-1", "1 2", "1 x", "1,2" };
	unsigned int max = 7;

	KUNIT_EXPECT_TRUE(test, guard_parse(GUARD_LIMIT_RATE, "8", &max));
	KUNIT_EXPECT_EQ(test, max, 8);
	KUNIT_EXPECT_TRUE(test, guard_parse(GUARD_LIMIT_OVERHEAD, "99", &max));
	KUNIT_EXPECT_EQ(test, max, 99);
	KUNIT_EXPECT_FALSE(test, guard_parse(GUARD_LIMIT_OVERHEAD, "100", &max));
	KUNIT_EXPECT_FALSE(test, guard_parse(GUARD_LIMIT_OVERHEAD, "5%", &max));
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_FALSE_MSG(test, guard_parse(GUARD_LIMIT_RATE, wrong[i], &max),
				       "\"%s\"", wrong[i]);
}

/* How many keys had records when the table was looked at; @sum gets how many these had. */
static unsigned int guard_kunit_collect(struct guard_cpu *gc, u64 *sum)
{
	struct guard_slot *slot;
	unsigned int nr = 0;

	*sum = 0;
	guard_collect(gc);
	for_each_guard_slot(slot, gc) {
		nr += slot->calls > 0;
		*sum += slot->calls;
	}
	return nr;
}

/* The table of a CPU: each key's records are there once, and room for others comes back. */
static void guard_kunit_samples(struct kunit *test)
{
	struct guard_cpu *gc = kunit_kzalloc(test, sizeof(*gc), GFP_KERNEL);
	struct guard_slot *slot;
	unsigned int nr;
	u64 sum;

	KUNIT_ASSERT_NOT_NULL(test, gc);
	for (unsigned int n = 0; n < 3; n++) {
		for (unsigned long key = 1; key <= 20; key++)
			guard_note(gc, key << 4, TRACE_GUARD_FUNCTION, key);
	}
	KUNIT_EXPECT_EQ(test, guard_kunit_collect(gc, &sum), 20);
	for_each_guard_slot(slot, gc)
		KUNIT_EXPECT_EQ(test, slot->calls, 3 * (slot->key >> 4));
	KUNIT_EXPECT_EQ(test, guard_kunit_collect(gc, &sum), 0);

	/* More keys than there is room for. */
	for (unsigned long key = 1; key <= 10 * GUARD_SLOTS; key++)
		guard_note(gc, key << 4, TRACE_GUARD_EVENT, 64);
	nr = guard_kunit_collect(gc, &sum);
	KUNIT_EXPECT_GT(test, nr, GUARD_SLOTS / 2);
	KUNIT_EXPECT_EQ(test, sum, 64 * nr);
	KUNIT_EXPECT_EQ(test, sum + gc->rest[TRACE_GUARD_EVENT].calls, 64 * 10 * GUARD_SLOTS);
	KUNIT_EXPECT_EQ(test, guard_kunit_collect(gc, &sum), 0);
}

/* A key that finds all slots of its group taken has a slot after the next scan. */
static void guard_kunit_full(struct kunit *test)
{
	struct guard_cpu *gc = kunit_kzalloc(test, sizeof(*gc), GFP_KERNEL);
	unsigned long keys[GUARD_WAYS + 1] = {};
	struct guard_slot *slot;
	unsigned int nr = 0;
	u64 sum;

	KUNIT_ASSERT_NOT_NULL(test, gc);
	for (unsigned long key = 16; nr < ARRAY_SIZE(keys); key += 16) {
		if (hash_long(key, 6) == hash_long(16, 6))
			keys[nr++] = key;
	}
	/* The fourth has the fewest records. */
	for (unsigned int i = 0; i < nr; i++)
		guard_note(gc, keys[i], TRACE_GUARD_FUNCTION, i == 3 ? 5 : 10 + i);
	KUNIT_EXPECT_EQ(test, guard_kunit_collect(gc, &sum), GUARD_WAYS);
	for_each_guard_slot(slot, gc)
		KUNIT_EXPECT_NE(test, slot->key, keys[GUARD_WAYS]);
	guard_make_room(gc);
	for (unsigned int i = nr; i--;)
		guard_note(gc, keys[i], TRACE_GUARD_FUNCTION, 100 + i);
	KUNIT_EXPECT_EQ(test, guard_kunit_collect(gc, &sum), GUARD_WAYS);
	for_each_guard_slot(slot, gc) {
		KUNIT_EXPECT_NE(test, slot->key, keys[3]);
		if (slot->key == keys[GUARD_WAYS])
			KUNIT_EXPECT_EQ(test, slot->calls, 100 + GUARD_WAYS);
	}
	KUNIT_EXPECT_EQ(test, sum, (GUARD_WAYS + 1) * 100 + 36 - 103);
}

/* Of 100 samples in steps of 64, 80 are sure; of one sample, 0. */
static void guard_kunit_luck(struct kunit *test)
{
	struct trace_guard *guard = &guard_kunit_limits;
	const u32 calls[] = { 64, 6400, 0, 0 }, few[] = { 101, 127, 3 * 128, 8 * 128 };
	struct guard_cpu *gc = guard_kunit_make(NSEC_PER_SEC, calls, 1);

	guard->max[GUARD_LIMIT_OVERHEAD] = 0;
	guard->max[GUARD_LIMIT_RATE] = 80 * 64 - 1;
	guard_decide(guard, gc, 64);
	KUNIT_EXPECT_EQ(test, gc->slot[1].over, GUARD_LIMIT_RATE);
	guard->max[GUARD_LIMIT_RATE] = 80 * 64;
	guard_decide(guard, gc, 64);
	KUNIT_EXPECT_EQ(test, gc->slot[1].over, GUARD_LIMIT_NONE);
	guard->max[GUARD_LIMIT_RATE] = 1;
	guard_decide(guard, gc, 64);
	KUNIT_EXPECT_EQ(test, gc->slot[0].over, GUARD_LIMIT_NONE);
	KUNIT_EXPECT_EQ(test, gc->slot[1].over, GUARD_LIMIT_RATE);

	/* A sample of a long step, or three, may be of a function below the limit. */
	gc = guard_kunit_make(NSEC_PER_SEC / 10, few, 1);
	guard->max[GUARD_LIMIT_RATE] = 1000;
	guard_decide(guard, gc, GUARD_MAX_STEP);
	for (unsigned int i = 0; i < GUARD_KUNIT_NR; i++)
		KUNIT_EXPECT_EQ(test, gc->slot[i].over,
				i < 3 ? GUARD_LIMIT_NONE : GUARD_LIMIT_RATE);
}

static void guard_kunit_steps(struct kunit *test)
{
	for (u32 step = 1; step <= GUARD_MAX_STEP; step *= 2) {
		struct guard_steps steps = { };
		u64 sum = 0;

		for (unsigned int i = 0; i < 4096; i++) {
			int next = guard_next(&steps, step);

			KUNIT_EXPECT_GT(test, next, 0);
			KUNIT_EXPECT_LT(test, next, 2 * step);
			sum += next;
		}
		KUNIT_EXPECT_GT(test, sum, 4096 * step * 19 / 20);
		KUNIT_EXPECT_LT(test, sum, 4096 * step * 21 / 20);
	}
}

/* A CPU that records little is asked for each record; one that records much, for few. */
static void guard_kunit_step(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, guard_step(0), 1);
	KUNIT_EXPECT_EQ(test, guard_step(GUARD_SAMPLES - 1), 1);
	KUNIT_EXPECT_EQ(test, guard_step(GUARD_SAMPLES), 2);
	KUNIT_EXPECT_EQ(test, guard_step(3 * GUARD_SAMPLES), 8);
	KUNIT_EXPECT_EQ(test, guard_step(20 * GUARD_SAMPLES), GUARD_MAX_STEP);
	KUNIT_EXPECT_EQ(test, guard_step(U32_MAX), GUARD_MAX_STEP);
}

/* Whatever their number, the samples between two scans stand for all records. */
static void guard_kunit_sum(struct kunit *test)
{
	for (unsigned int records = 50; records <= 5000000; records *= 10) {
		struct guard_steps steps = { };
		unsigned int at = 0, sum = 0;

		while (at < records) {
			sum += guard_step(steps.taken);
			at += guard_next(&steps, guard_step(++steps.taken));
		}
		KUNIT_EXPECT_GE(test, sum, records / 10 * 9);
		KUNIT_EXPECT_LE(test, sum, records / 10 * 11);
		KUNIT_EXPECT_LE(test, steps.taken, 10 * GUARD_SAMPLES + records / GUARD_MAX_STEP);
	}
}

static struct trace_guard *guard_kunit_guard(struct kunit *test)
{
	struct trace_guard *guard = kunit_kzalloc(test, sizeof(*guard), GFP_KERNEL);
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, guard);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_NOT_NULL(test, ops);
	ftrace_ops_init(ops);
	tr->ops = ops;
	INIT_LIST_HEAD(&tr->events);
	guard->tr = tr;
	guard->last = NSEC_PER_SEC;
	INIT_LIST_HEAD(&guard->rows);
	return guard;
}

/* The only row, or NULL. Locks are held: a test that fails must not end here. */
static struct guard_row *guard_kunit_row(struct kunit *test, struct trace_guard *guard)
{
	KUNIT_EXPECT_EQ(test, list_count_nodes(&guard->rows), 1);
	return list_first_entry_or_null(&guard->rows, struct guard_row, node);
}

/* Two CPUs find @key too frequent, @at seconds after boot. */
static void guard_kunit_take(struct trace_guard *guard, unsigned long key, unsigned int at)
{
	struct guard_cpu *gc = &guard_kunit_cpu;
	struct guard_slot *slot;

	guard->last = (u64)at * NSEC_PER_SEC;
	guard->time = NSEC_PER_SEC;
	for_each_guard_slot(slot, gc)
		slot->over = GUARD_LIMIT_NONE;
	gc->slot[0] = (struct guard_slot) {
		.key	= key,
		.calls	= 1000,
		.over	= GUARD_LIMIT_RATE,
	};
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		guard_take(guard, gc, cpu);
	guard_move(guard, true, guard->last);
}

static int guard_kunit_return(struct trace_guard *guard, unsigned int at)
{
	return guard_return(guard, NULL, (u64)at * NSEC_PER_SEC);
}

/* An event leaves for one second, for two, ... for a minute; and this is forgotten in time. */
static void guard_kunit_pauses(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	struct trace_event_class class = { .system = "guard" };
	struct trace_event_call call = { .class = &class, .name = "kunit" };
	struct trace_event_file file = { .event_call = &call, .tr = guard->tr };
	unsigned int pause = 1, at = 1;
	const struct guard_row *row;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	/* A file that has gone is left alone. */
	guard_kunit_take(guard, (unsigned long)&file, at);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));

	list_add(&file.list, &guard->tr->events);
	for (unsigned int i = 0; i < 8; i++) {
		guard_kunit_take(guard, (unsigned long)&file, at);
		row = guard_kunit_row(test, guard);
		if (!row)
			return;
		KUNIT_EXPECT_STREQ(test, row->name, "guard:kunit");
		KUNIT_EXPECT_EQ(test, row->times, i + 1);
		KUNIT_EXPECT_EQ(test, row->cpu, 0);
		KUNIT_EXPECT_EQ(test, row->rate, 1000);
		KUNIT_EXPECT_TRUE(test, row->out);
		KUNIT_EXPECT_TRUE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));
		KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, at + pause - 1), 0);
		at += pause;
		KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, at), 1);
		KUNIT_EXPECT_FALSE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));
		pause = min(2 * pause, 60);
	}
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, at + 59), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&guard->rows), 1);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, at + 60), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
}

/* A file that goes while it is throttled, and another that comes to its place, are not mixed up. */
static void guard_kunit_reuse(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	struct trace_event_class class = { .system = "guard" };
	struct trace_event_call call = { .class = &class, .name = "old" };
	struct trace_event_file file = { .event_call = &call, .tr = guard->tr };
	const struct guard_row *row;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	list_add(&file.list, &guard->tr->events);
	guard_kunit_take(guard, (unsigned long)&file, 1);
	row = guard_kunit_row(test, guard);
	if (!row)
		return;
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));
	list_del(&file.list);
	KUNIT_EXPECT_FALSE(test, guard_is_out(guard, row));

	/* One with the same name knows how often it left, and leaves at once. */
	file.flags = 0;
	list_add(&file.list, &guard->tr->events);
	KUNIT_EXPECT_FALSE(test, guard_is_out(guard, row));
	guard_kunit_take(guard, (unsigned long)&file, 1);
	KUNIT_EXPECT_EQ(test, row->times, 2);
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));

	file.flags = 0;
	call.name = "new";
	guard_kunit_take(guard, (unsigned long)&file, 1);
	row = guard_kunit_row(test, guard);
	if (!row)
		return;
	KUNIT_EXPECT_STREQ(test, row->name, "guard:new");
	KUNIT_EXPECT_EQ(test, row->times, 1);
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));

	list_del(&file.list);
	guard_return(guard, "", 1);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 61), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
}

static void guard_kunit_function(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)jiffies_to_clock_t);
	struct trace_guard *guard = guard_kunit_guard(test);
	struct ftrace_filter *filter = guard->tr->ops->filter;
	struct guard_row *row;

	if (!ip)
		kunit_skip(test, "no site");
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	guard_kunit_take(guard, ip, 1);
	row = guard_kunit_row(test, guard);
	if (!row)
		return;
	KUNIT_EXPECT_TRUE(test, ftrace_site_set_has(filter->throttled, ip));
	KUNIT_EXPECT_EQ(test, guard_return(guard, "jiffies_to_clock_t_", 1), 0);
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));
	KUNIT_EXPECT_EQ(test, guard_return(guard, "jiffies_to_clock_t", 1), 1);
	KUNIT_EXPECT_FALSE(test, ftrace_site_set_has(filter->throttled, ip));
	KUNIT_EXPECT_FALSE(test, row->out);
	/* Once more is an error, and forgets nothing. */
	KUNIT_EXPECT_EQ(test, guard_return(guard, "jiffies_to_clock_t", 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, guard_kunit_row(test, guard), row);

	/* After it was called back it does not leave for longer than the first time. */
	guard_kunit_take(guard, ip, 2);
	KUNIT_EXPECT_EQ(test, row->pause, GUARD_MIN_PAUSE);
	KUNIT_EXPECT_EQ(test, guard_return(guard, "", 2), 1);
	KUNIT_EXPECT_FALSE(test, guard_is_out(guard, row));

	/* A key that is neither a site nor a file leaves no row. */
	guard_kunit_take(guard, (unsigned long)filter, 3);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&guard->rows), 1);

	/* One whose text goes before it is moved does not leave. */
	row->key = (unsigned long)filter;
	row->moves = true;
	KUNIT_EXPECT_EQ(test, guard_move(guard, true, 3ULL * NSEC_PER_SEC), 1);
	KUNIT_EXPECT_FALSE(test, row->out);
	KUNIT_EXPECT_EQ(test, row->times, 0);
	row->key = ip;

	/* A site that went is forgotten by the filter; another of that name leaves at once. */
	guard_kunit_take(guard, ip, 4);
	ftrace_site_set_forget(filter->throttled, ip, ip + 1);
	KUNIT_EXPECT_FALSE(test, guard_is_out(guard, row));
	guard_kunit_take(guard, ip, 4);
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));
	KUNIT_EXPECT_EQ(test, row->times, 2);
	KUNIT_EXPECT_EQ(test, guard_return(guard, "", 4), 1);
	KUNIT_EXPECT_EQ(test, guard_return(guard, "", 4), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 64), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
	ftrace_free_filter(guard->tr->ops);
}

static int guard_kunit_no_memory(struct trace_guard *guard, struct ftrace_site_set *sites,
				 bool out)
{
	return -ENOMEM;
}

/* Without memory functions stay as they are; events do not need it. */
static void guard_kunit_move_fails(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)jiffies_to_clock_t);
	struct trace_guard *guard = guard_kunit_guard(test);
	struct ftrace_filter *filter = guard->tr->ops->filter;
	struct trace_event_class class = { .system = "guard" };
	struct trace_event_call call = { .class = &class, .name = "kunit" };
	struct trace_event_file file = { .event_call = &call, .tr = guard->tr };
	struct guard_row *row;

	if (!ip)
		kunit_skip(test, "no site");
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	kunit_activate_static_stub(test, guard_move_sites, guard_kunit_no_memory);
	guard_kunit_take(guard, ip, 1);
	row = guard_kunit_row(test, guard);
	if (!row)
		return;
	KUNIT_EXPECT_FALSE(test, row->out);
	KUNIT_EXPECT_FALSE(test, row->moves);
	KUNIT_EXPECT_EQ(test, row->times, 0);
	list_add(&file.list, &guard->tr->events);
	guard_kunit_take(guard, (unsigned long)&file, 1);
	KUNIT_EXPECT_TRUE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));

	/* The next scan throttles it; a return fails, and comes late. */
	kunit_deactivate_static_stub(test, guard_move_sites);
	guard_kunit_take(guard, ip, 2);
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));
	kunit_activate_static_stub(test, guard_move_sites, guard_kunit_no_memory);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 3), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, guard_is_out(guard, row));
	KUNIT_EXPECT_FALSE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));
	kunit_deactivate_static_stub(test, guard_move_sites);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 4), 1);
	KUNIT_EXPECT_FALSE(test, ftrace_site_set_has(filter->throttled, ip));
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 64), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
	ftrace_free_filter(guard->tr->ops);
}

static int guard_kunit_probes, guard_kunit_refuse;

static int guard_kunit_reg(struct trace_event_call *call, enum trace_reg type, void *file)
{
	if (type == TRACE_REG_REGISTER && guard_kunit_refuse)
		return guard_kunit_refuse;
	guard_kunit_probes += type == TRACE_REG_REGISTER ? 1 : -1;
	return 0;
}

/* The probe of an event that is throttled leaves, unless a trigger needs it, and comes back. */
static void guard_kunit_probe(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	struct trace_event_class class = { .system = "guard", .reg = guard_kunit_reg };
	struct tracepoint tp = { .name = "kunit" };
	struct trace_event_call call = {
		.class = &class, .tp = &tp, .flags = TRACE_EVENT_FL_TRACEPOINT,
	};
	struct trace_event_call dynamic = {
		.class = &class, .name = "kunit", .flags = TRACE_EVENT_FL_DYNAMIC,
	};
	struct trace_event_file file = { .event_call = &call, .tr = guard->tr };

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	guard_kunit_probes = 0;
	guard_kunit_refuse = 0;
	list_add(&file.list, &guard->tr->events);
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 1);
	guard_kunit_take(guard, (unsigned long)&file, 1);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	KUNIT_EXPECT_TRUE(test, file.flags & EVENT_FILE_FL_ENABLED);

	/* Triggers come and go, and one without memory; the user changes his mind. */
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 1, 1), 0);
		KUNIT_EXPECT_EQ(test, guard_kunit_probes, 1);
		KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 0, 1), 0);
		KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	}
	guard_kunit_refuse = -ENOMEM;
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 1, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	KUNIT_EXPECT_TRUE(test, file.flags & EVENT_FILE_FL_ENABLED);

	/* It returns late. */
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 2), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));
	guard_kunit_refuse = 0;
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 2), 1);
	KUNIT_EXPECT_FALSE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 1);

	/* One that is off meanwhile stays off. */
	guard_kunit_take(guard, (unsigned long)&file, 3);
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, guard_return(guard, "", 3), 1);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);

	/* The probe of a kprobe is the event. */
	file.event_call = &dynamic;
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 1, 0), 0);
	guard_kunit_take(guard, (unsigned long)&file, 4);
	KUNIT_EXPECT_TRUE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file.flags));
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 1);
	KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	guard_return(guard, "", 4);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 64), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
}

/* Events that share a probe leave together for their cost, and alone for their rate. */
static void guard_kunit_shared(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	struct trace_event_class class = { .system = "guard", .reg = guard_kunit_reg };
	struct trace_event_call call[] = {
		{ .class = &class, .name = "hot" }, { .class = &class, .name = "rare" },
	};
	struct trace_event_file file[ARRAY_SIZE(call)] = { };

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	/* No other slot is over a limit. */
	guard_kunit_make(NSEC_PER_SEC, (const u32[GUARD_KUNIT_NR]) { }, 1);
	for (unsigned int i = 0; i < GUARD_SLOTS; i++)
		guard_kunit_cpu.slot[i].over = GUARD_LIMIT_NONE;
	guard_kunit_probes = 0;
	guard_kunit_refuse = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(file); i++) {
		file[i].event_call = &call[i];
		file[i].tr = guard->tr;
		list_add(&file[i].list, &guard->tr->events);
		KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file[i], 1, 0), 0);
	}
	KUNIT_EXPECT_EQ(test, trace_event_throttle(&file[0], true, false), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 1);
	KUNIT_EXPECT_EQ(test, trace_event_throttle(&file[0], true, true), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	KUNIT_EXPECT_EQ(test, trace_event_throttle(&file[0], false, true), 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 2);

	/* One that returns brings no other back before the end of its own pause. */
	guard->time = NSEC_PER_SEC;
	for (unsigned int i = 0; i < ARRAY_SIZE(file); i++) {
		struct guard_slot *slot = &guard_kunit_cpu.slot[i];

		*slot = (struct guard_slot) { .key = (unsigned long)&file[i], .calls = 1000 };
		slot->over = i ? GUARD_LIMIT_RATE : GUARD_LIMIT_OVERHEAD;
	}
	guard_take(guard, &guard_kunit_cpu, 0);
	guard_move(guard, true, NSEC_PER_SEC);
	guard_find(guard, (unsigned long)&file[1])->pause = GUARD_MAX_PAUSE;
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 0);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 2), 1);
	KUNIT_EXPECT_FALSE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file[0].flags));
	KUNIT_EXPECT_TRUE(test, test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file[1].flags));
	KUNIT_EXPECT_EQ(test, guard_return(guard, "", 2), 1);
	KUNIT_EXPECT_EQ(test, guard_kunit_probes, 2);
	guard_return(guard, NULL, 122ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
	for (unsigned int i = 0; i < ARRAY_SIZE(file); i++)
		KUNIT_EXPECT_EQ(test, trace_event_enable_disable(&file[i], 0, 0), 0);
}

#define GUARD_KUNIT_CPUS	64
#define GUARD_KUNIT_HOT		8

/* How often ftrace_lock is taken for a name, and for a move. */
static unsigned int guard_kunit_names, guard_kunit_moves;

static int guard_kunit_count_name(const struct trace_guard *guard, unsigned long key,
				  char name[KSYM_SYMBOL_LEN])
{
	guard_kunit_names++;
	return scnprintf(name, KSYM_SYMBOL_LEN, "%lx", key);
}

static int guard_kunit_count_move(struct trace_guard *guard, struct ftrace_site_set *sites,
				  bool out)
{
	guard_kunit_moves++;
	return 0;
}

/*
 * A minute of 64 CPUs on which the same events are too frequent whenever they are recorded. Each
 * is named once when it leaves, not by each CPU, and all move together: at 0, 1, 3, 7, 15 and 31
 * seconds, and between that back. No other scan takes ftrace_lock.
 */
static void guard_kunit_many_cpus(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	struct trace_event_class class = { .system = "guard" };
	struct trace_event_call call = { .class = &class, .name = "kunit" };
	struct trace_event_file file[GUARD_KUNIT_HOT] = { };
	static const u32 calls[GUARD_KUNIT_NR];
	struct guard_cpu *gc = guard_kunit_make(GUARD_PERIOD_NS, calls, 1);

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	kunit_activate_static_stub(test, guard_name, guard_kunit_count_name);
	kunit_activate_static_stub(test, guard_move_sites, guard_kunit_count_move);
	guard_kunit_names = 0;
	guard_kunit_moves = 0;
	guard->time = GUARD_PERIOD_NS;
	for (unsigned int i = 0; i < GUARD_KUNIT_HOT; i++) {
		file[i].event_call = &call;
		file[i].tr = guard->tr;
		list_add(&file[i].list, &guard->tr->events);
	}
	for (u64 now = 0; now < 60ULL * NSEC_PER_SEC; now += GUARD_PERIOD_NS) {
		struct guard_slot *slot;

		for_each_guard_slot(slot, gc)
			slot->over = GUARD_LIMIT_NONE;
		for (unsigned int i = 0; i < GUARD_KUNIT_HOT; i++) {
			gc->slot[i].key = (unsigned long)&file[i];
			gc->slot[i].calls = 1000;
			if (!test_bit(EVENT_FILE_FL_THROTTLED_BIT, &file[i].flags))
				gc->slot[i].over = GUARD_LIMIT_RATE;
		}
		for (unsigned int cpu = 0; cpu < GUARD_KUNIT_CPUS; cpu++)
			guard_take(guard, gc, cpu);
		guard_move(guard, true, now);
		guard_return(guard, NULL, now);
	}
	KUNIT_EXPECT_EQ(test, list_count_nodes(&guard->rows), GUARD_KUNIT_HOT);
	KUNIT_EXPECT_EQ(test, guard_kunit_names, 6 * GUARD_KUNIT_HOT);
	KUNIT_EXPECT_EQ(test, guard_kunit_moves, 6 + 5);
	kunit_deactivate_static_stub(test, guard_move_sites);
	kunit_deactivate_static_stub(test, guard_name);
	guard_return(guard, "", 60ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, guard_kunit_return(guard, 120), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
}

#define GUARD_KUNIT_EVENTS	24
#define GUARD_KUNIT_MOST	100
#define GUARD_KUNIT_NS		1000
#define GUARD_KUNIT_PERCENT	5
/* Records of a scan that cost so much. */
#define GUARD_KUNIT_BUDGET	(GUARD_PERIOD_NS / 100 * GUARD_KUNIT_PERCENT / GUARD_KUNIT_NS)

struct guard_kunit_event {
	struct trace_event_class	class;
	struct trace_event_call		call;
	struct trace_event_file		file;
	char				name[16];
	int				cpu;
	u32				usual;
	u32				records;
	u64				left;
	bool				was_out;
};

static bool guard_kunit_is_out(const struct guard_kunit_event *event)
{
	return test_bit(EVENT_FILE_FL_THROTTLED_BIT, &event->file.flags);
}

/* For five seconds an event is rare or frequent. Some have a burst of a tenth of a second. */
static void guard_kunit_record(struct trace_guard *guard, struct guard_kunit_event *events,
			       struct rnd_state *rnd, bool changes)
{
	for (unsigned int i = 0; i < GUARD_KUNIT_EVENTS; i++) {
		struct guard_kunit_event *event = &events[i];
		u32 random = prandom_u32_state(rnd);

		if (changes) {
			event->cpu = cpumask_nth(random / 4 % num_possible_cpus(),
						 cpu_possible_mask);
			event->usual = random % 4 ? random % 40 : 200 + random % 5000;
		}
		event->records = random % 512 == i ? 50000 : event->usual;
		event->was_out = guard_kunit_is_out(event);
		if (event->was_out)
			event->records = 0;
		if (event->records)
			guard_note(per_cpu_ptr(guard->cpu, event->cpu), (unsigned long)&event->file,
				   TRACE_GUARD_EVENT, event->records);
	}
}

/* Those leave that are too frequent, and no others. */
static void guard_kunit_judge_rate(struct kunit *test, struct guard_kunit_event *events)
{
	for (unsigned int i = 0; i < GUARD_KUNIT_EVENTS; i++) {
		if (!events[i].was_out)
			KUNIT_EXPECT_EQ(test, guard_kunit_is_out(&events[i]),
					events[i].records > GUARD_KUNIT_MOST);
	}
}

/* Those that stay cost no more than they may. None leaves of a CPU where all cost no more. */
static void guard_kunit_judge_overhead(struct kunit *test, struct guard_kunit_event *events)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		unsigned int all = 0, stay = 0, leave = 0;

		for (unsigned int i = 0; i < GUARD_KUNIT_EVENTS; i++) {
			bool out = guard_kunit_is_out(&events[i]);

			if (events[i].cpu != cpu)
				continue;
			all += events[i].records;
			stay += out ? 0 : events[i].records;
			leave += out && !events[i].was_out;
		}
		KUNIT_EXPECT_LE(test, stay, GUARD_KUNIT_BUDGET);
		if (all <= GUARD_KUNIT_BUDGET)
			KUNIT_EXPECT_EQ(test, leave, 0);
	}
}

/* Each has one row at most, and is back when its pause is over. */
static void guard_kunit_judge_rows(struct kunit *test, struct trace_guard *guard, u64 now)
{
	struct guard_row *row, *other;

	list_for_each_entry(row, &guard->rows, node) {
		unsigned int same = 0;

		list_for_each_entry(other, &guard->rows, node)
			same += other->key == row->key;
		KUNIT_EXPECT_EQ(test, same, 1);
		KUNIT_EXPECT_EQ(test, row->out, guard_is_out(guard, row));
		if (row->out)
			KUNIT_EXPECT_LT(test, now, guard_due(row));
	}
}

/* A minute and a half of random loads on a clock that is made up, under one limit. */
static void guard_kunit_load(struct kunit *test, struct trace_guard *guard,
			     struct guard_kunit_event *events, enum guard_limit limit)
{
	u64 now = guard->last;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, limit);
	for (unsigned int scan = 0; scan < 900; scan++) {
		now += GUARD_PERIOD_NS;
		guard_kunit_record(guard, events, &rnd, scan % 50 == 0);
		guard_scan_instance(guard, now);
		if (limit == GUARD_LIMIT_RATE)
			guard_kunit_judge_rate(test, events);
		else
			guard_kunit_judge_overhead(test, events);
		guard_kunit_judge_rows(test, guard, now);
	}
	guard_return(guard, "", now);
	guard_scan_instance(guard, now + GUARD_MAX_PAUSE);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
}

static void guard_kunit_loads(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	struct guard_kunit_event *events;
	u64 cost;

	guard->cpu = alloc_percpu(struct guard_cpu);
	events = kunit_kcalloc(test, GUARD_KUNIT_EVENTS, sizeof(*events), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, guard->cpu && events);
	for (unsigned int i = 0; i < GUARD_KUNIT_EVENTS; i++) {
		struct guard_kunit_event *event = &events[i];

		snprintf(event->name, sizeof(event->name), "kunit%u", i);
		event->class.system = "guard";
		event->call.class = &event->class;
		event->call.name = event->name;
		event->file.event_call = &event->call;
		event->file.tr = guard->tr;
		list_add_tail(&event->file.list, &guard->tr->events);
	}

	guard(mutex)(&guard_mutex);
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	guard->max[GUARD_LIMIT_RATE] = GUARD_KUNIT_MOST * (NSEC_PER_SEC / GUARD_PERIOD_NS);
	guard_kunit_load(test, guard, events, GUARD_LIMIT_RATE);

	cost = guard_cost[TRACE_GUARD_EVENT];
	WRITE_ONCE(guard_cost[TRACE_GUARD_EVENT], GUARD_KUNIT_NS * 1000);
	guard->max[GUARD_LIMIT_RATE] = 0;
	guard->max[GUARD_LIMIT_OVERHEAD] = GUARD_KUNIT_PERCENT;
	guard_kunit_load(test, guard, events, GUARD_LIMIT_OVERHEAD);
	WRITE_ONCE(guard_cost[TRACE_GUARD_EVENT], cost);
	free_percpu(guard->cpu);
}

#define GUARD_KUNIT_CROWD	3000
/* Nanoseconds that their records take of each scan: more than half of the time */
#define GUARD_KUNIT_LOAD	(56 * NSEC_PER_MSEC)

/* As ftrace_filter_throttle() does, for functions that are not there */
static int guard_kunit_move_crowd(struct trace_guard *guard, struct ftrace_site_set *sites,
				  bool out)
{
	struct ftrace_filter *filter = guard->tr->ops->filter;
	struct ftrace_site_set *old = filter->throttled;
	const struct guard_row *row;

	sites->nr = 0;
	list_for_each_entry(row, &guard->rows, node) {
		if (row->moves)
			sites->ip[sites->nr++] = row->key;
	}
	ftrace_site_set_sort(sites);
	filter->throttled = out ? ftrace_site_set_union(old, sites) :
				  ftrace_site_set_minus(old, sites);
	ftrace_site_set_free(old);
	return 0;
}

/*
 * Far more functions than there is room for, of which the n-th is called 1/n times as often as the
 * first: their records cost no more than they may, though not all of them can be seen.
 */
static void guard_kunit_crowd(struct kunit *test)
{
	struct trace_guard *guard = guard_kunit_guard(test);
	const struct ftrace_filter *filter = guard->tr->ops->filter;
	u64 cost, stays = 0, now = guard->last;
	struct guard_cpu *gc;

	guard->cpu = alloc_percpu(struct guard_cpu);
	KUNIT_ASSERT_TRUE(test, !!guard->cpu);
	gc = per_cpu_ptr(guard->cpu, cpumask_first(cpu_possible_mask));

	guard(mutex)(&guard_mutex);
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	kunit_activate_static_stub(test, guard_name, guard_kunit_count_name);
	kunit_activate_static_stub(test, guard_move_sites, guard_kunit_move_crowd);
	cost = guard_cost[TRACE_GUARD_FUNCTION];
	WRITE_ONCE(guard_cost[TRACE_GUARD_FUNCTION], GUARD_KUNIT_NS * 1000);
	guard->max[GUARD_LIMIT_OVERHEAD] = GUARD_KUNIT_PERCENT;
	for (unsigned int scan = 0; scan < 300; scan++) {
		now += GUARD_PERIOD_NS;
		for (unsigned long n = 1; n <= GUARD_KUNIT_CROWD; n++) {
			/* The sum of 1/n is between 8 and 9. */
			u32 nr = GUARD_KUNIT_LOAD / GUARD_KUNIT_NS * 10 / 86 / n;

			if (ftrace_site_set_has(filter->throttled, n << 4))
				continue;
			guard_note(gc, n << 4, TRACE_GUARD_FUNCTION, nr);
			/* Between the returns of the first ones */
			stays += scan >= 250 ? nr : 0;
		}
		guard_scan_instance(guard, now);
	}
	KUNIT_EXPECT_LE(test, stays / 50, GUARD_KUNIT_BUDGET * 5 / 4);
	KUNIT_EXPECT_GE(test, stays / 50, GUARD_KUNIT_BUDGET * 3 / 4);

	guard_return(guard, "", now);
	guard_scan_instance(guard, now + GUARD_MAX_PAUSE);
	KUNIT_EXPECT_TRUE(test, list_empty(&guard->rows));
	WRITE_ONCE(guard_cost[TRACE_GUARD_FUNCTION], cost);
	kunit_deactivate_static_stub(test, guard_move_sites);
	kunit_deactivate_static_stub(test, guard_name);
	free_percpu(guard->cpu);
	ftrace_free_filter(guard->tr->ops);
}

/* While a CPU with samples keeps interrupts off, those of others queue the scan. */
static void guard_kunit_kick(struct kunit *test)
{
	struct trace_array *tr = guard_kunit_guard(test)->tr;
	struct irq_work *kick;
	bool asleep;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	KUNIT_EXPECT_NOT_NULL(test, guard_get(tr));
	if (!tr->callset.guard)
		return;
	tr->callset.guard->max[GUARD_LIMIT_RATE] = 1;
	scoped_guard(irqsave) {
		WRITE_ONCE(guard_until, jiffies - 1);
		kick = this_cpu_ptr(&guard_kick_work);
		trace_guard_sample(tr, 16, TRACE_GUARD_EVENT);
		asleep = guard_asleep();
	}
	KUNIT_EXPECT_TRUE(test, asleep);
	irq_work_sync(kick);
	KUNIT_EXPECT_FALSE(test, guard_asleep());
	tr->callset.guard->max[GUARD_LIMIT_RATE] = 0;
	trace_guard_forget(tr);
	ftrace_free_filter(tr->ops);
}

/* An instance goes with a limit, and with an event that is throttled. */
static void guard_kunit_forget(struct kunit *test)
{
	struct trace_array *tr = guard_kunit_guard(test)->tr;
	struct trace_event_class class = { .system = "guard" };
	struct trace_event_call call = { .class = &class, .name = "kunit" };
	struct trace_event_file file = { .event_call = &call, .tr = tr };
	int users;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	/* Without a guard there is nothing to forget. */
	users = static_key_count(&trace_guard_on.key);
	trace_guard_forget(tr);
	for (unsigned int max = 0; max < 2; max++) {
		KUNIT_EXPECT_NOT_NULL(test, guard_get(tr));
		if (!tr->callset.guard)
			return;
		tr->callset.guard->max[GUARD_LIMIT_RATE] = max;
		if (max)
			static_branch_inc(&trace_guard_on);
		list_add(&file.list, &tr->events);
		guard_kunit_take(tr->callset.guard, (unsigned long)&file, 1);
		guard_kunit_row(test, tr->callset.guard);
		list_del(&file.list);
		trace_guard_forget(tr);
		KUNIT_EXPECT_NULL(test, tr->callset.guard);
		KUNIT_EXPECT_EQ(test, static_key_count(&trace_guard_on.key), users);
	}
	ftrace_free_filter(tr->ops);
}

#define GUARD_KUNIT_SLOW	40

static unsigned int guard_kunit_measured;

/* By a clock that stands still. */
static u64 guard_kunit_stands(u64 time)
{
	return 0;
}

/* The calls that are timed first take a second, as if others had slowed them down. */
static u64 guard_kunit_slow_at_first(u64 time)
{
	return guard_kunit_measured++ < GUARD_KUNIT_SLOW ? NSEC_PER_SEC : time;
}

#define GUARD_KUNIT_ROUNDS	6

/* The place of the slow calls in a round: 0 for those without tracing, 1 for traced ones */
static unsigned int guard_kunit_slow;

static unsigned int guard_kunit_places(void)
{
	unsigned int places = 1;

	for (unsigned int kind = 0; kind < TRACE_GUARD_NONE; kind++)
		places += trace_guard_has_kind(kind);
	return places;
}

/* Calls take half as long in each of the first rounds, as if others slowed them down. */
static u64 guard_kunit_slow_rounds(u64 time)
{
	unsigned int try = guard_kunit_measured++ / TRACE_GUARD_TRIES;
	unsigned int places = guard_kunit_places();

	if (try % places == guard_kunit_slow && try / places < GUARD_KUNIT_ROUNDS)
		return NSEC_PER_SEC >> (try / places);
	/* Traced ones take longer than those without tracing. */
	return guard_kunit_slow ? time : 2 * NSEC_PER_SEC;
}

static void guard_kunit_measure(struct kunit *test)
{
	u64 cost[TRACE_GUARD_KINDS] = { [TRACE_GUARD_FUNCTION] = 7 };

	/* It measures alone. */
	guard(mutex)(&guard_mutex);

	kunit_activate_static_stub(test, trace_guard_measured, guard_kunit_stands);
	KUNIT_EXPECT_EQ(test, trace_guard_measure(cost), -EAGAIN);
	KUNIT_EXPECT_EQ(test, cost[TRACE_GUARD_FUNCTION], 7);

	guard_kunit_measured = 0;
	kunit_activate_static_stub(test, trace_guard_measured, guard_kunit_slow_at_first);
	KUNIT_EXPECT_EQ(test, trace_guard_measure(cost), 0);
	KUNIT_EXPECT_GT(test, guard_kunit_measured, GUARD_KUNIT_SLOW);
	for (unsigned int kind = TRACE_GUARD_FUNCTION; kind < TRACE_GUARD_NONE; kind++)
		KUNIT_EXPECT_LT_MSG(test, cost[kind], NSEC_PER_SEC, "kind %u", kind);
	KUNIT_EXPECT_GT(test, cost[TRACE_GUARD_FUNCTION], 0);

	/* It goes on as long as that brings something new. */
	kunit_activate_static_stub(test, trace_guard_measured, guard_kunit_slow_rounds);
	for (guard_kunit_slow = 0; guard_kunit_slow < 2; guard_kunit_slow++) {
		guard_kunit_measured = 0;
		KUNIT_EXPECT_EQ(test, trace_guard_measure(cost), 0);
		KUNIT_EXPECT_GT_MSG(test, guard_kunit_measured,
				    GUARD_KUNIT_ROUNDS * guard_kunit_places() * TRACE_GUARD_TRIES,
				    "place %u", guard_kunit_slow);
	}
	KUNIT_EXPECT_LT(test, cost[TRACE_GUARD_FUNCTION], 100 * NSEC_PER_MSEC);
	kunit_deactivate_static_stub(test, trace_guard_measured);
}

static struct kunit_case guard_kunit_cases[] = {
	KUNIT_CASE(guard_kunit_rate),
	KUNIT_CASE(guard_kunit_burst),
	KUNIT_CASE(guard_kunit_overhead),
	KUNIT_CASE(guard_kunit_large),
	KUNIT_CASE(guard_kunit_text),
	KUNIT_CASE(guard_kunit_samples),
	KUNIT_CASE(guard_kunit_full),
	KUNIT_CASE(guard_kunit_luck),
	KUNIT_CASE(guard_kunit_steps),
	KUNIT_CASE(guard_kunit_step),
	KUNIT_CASE(guard_kunit_sum),
	KUNIT_CASE(guard_kunit_pauses),
	KUNIT_CASE(guard_kunit_reuse),
	KUNIT_CASE(guard_kunit_function),
	KUNIT_CASE(guard_kunit_move_fails),
	KUNIT_CASE(guard_kunit_probe),
	KUNIT_CASE(guard_kunit_shared),
	KUNIT_CASE(guard_kunit_many_cpus),
	KUNIT_CASE(guard_kunit_loads),
	KUNIT_CASE(guard_kunit_crowd),
	KUNIT_CASE(guard_kunit_kick),
	KUNIT_CASE(guard_kunit_forget),
	KUNIT_CASE(guard_kunit_measure),
	{ }
};

static struct kunit_suite guard_kunit_suite = {
	.name		= "trace_guard",
	.test_cases	= guard_kunit_cases,
};

kunit_test_suite(guard_kunit_suite);
