// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the callsets, on ops that are never registered.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/delay.h>

#include "../report.h"
#include "kunit.h"

/**
 * ftrace_kunit_forbid_tramps - let callsets do without a trampoline
 * @forbid: true to begin with it, false to end it
 *
 * Callsets that exist keep their trampolines. To end it without a begin, as a suite's exit does,
 * changes nothing.
 */
void ftrace_kunit_forbid_tramps(bool forbid)
{
	static unsigned int max;

	guard(mutex)(&ftrace_lock);

	if (forbid == !callset_max_tramp_ops)
		return;
	swap(max, callset_max_tramp_ops);
}

/**
 * ftrace_kunit_count_tramps - pretend that there are as many trampolines as there may be
 * @many: true to begin with it, false to end it
 */
void ftrace_kunit_count_tramps(bool many)
{
	guard(mutex)(&ftrace_lock);
	callset_nr_tramps += many ? CALLSET_MAX_TRAMPS : -CALLSET_MAX_TRAMPS;
}

/**
 * ftrace_kunit_repair - take a site out of quarantine, which only tests do
 * @ip: the site
 * @nop: the bytes that stood there before
 */
void ftrace_kunit_repair(unsigned long ip, const void *nop)
{
	struct ftrace_record *rec;

	kunit_poke((void *)ip, nop);
	guard(mutex)(&ftrace_lock);
	rec = ftrace_site_find(ip);
	WRITE_ONCE(rec->state, rec->state & ~FTRACE_STATE_QUARANTINE);
}

static struct ftrace_ops **callset_kunit_no_list(const struct ftrace_callset *cs)
{
	return NULL;
}

/**
 * ftrace_kunit_forbid_lists - let the test's task find no memory for a list of ops
 * @test: the test
 * @forbid: true to begin with it, false to end it
 */
void ftrace_kunit_forbid_lists(struct kunit *test, bool forbid)
{
	if (forbid)
		kunit_activate_static_stub(test, callset_list_alloc, callset_kunit_no_list);
	else
		kunit_deactivate_static_stub(test, callset_list_alloc);
}

#define CALLSET_KUNIT_OPS	3
#define CALLSET_KUNIT_LISTS	BIT(CALLSET_KUNIT_OPS)

static void callset_kunit_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/* By ascending seq, which no registered ops reaches. */
static struct ftrace_ops callset_kunit_ops[CALLSET_KUNIT_OPS] = {
	{ .func = callset_kunit_func, .seq = UINT_MAX - 2 },
	{ .func = callset_kunit_func, .seq = UINT_MAX - 1 },
	{ .func = callset_kunit_func, .seq = UINT_MAX },
};

static const u8 callset_kunit_orders[][CALLSET_KUNIT_OPS] = {
	{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
};

/* The callset of the ops whose bits are set; NULL without a bit, or after an error. */
static struct ftrace_callset *callset_kunit_of(struct kunit *test, unsigned int bits)
{
	struct ftrace_callset *cs = NULL;

	for (unsigned int i = 0; i < CALLSET_KUNIT_OPS; i++) {
		if (!(bits & BIT(i)))
			continue;
		cs = ftrace_callset_with(cs, &callset_kunit_ops[i], 0);
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, cs);
		if (IS_ERR(cs))
			return NULL;
	}
	return cs;
}

static void callset_kunit_free(struct ftrace_retiree *retiree)
{
}

static bool callset_kunit_is_ours(const struct ftrace_callset *cs)
{
	return cs->ops[0]->func == callset_kunit_func;
}

/* Drops all callsets that can be found; says how many there were. */
static unsigned int callset_kunit_drop(void)
{
	struct ftrace_callset *cs;
	unsigned int count = 0;
	u32 nr;

	for_each_ftrace_callset(cs, nr) {
		if (hlist_unhashed(&cs->hash) || !callset_kunit_is_ours(cs))
			continue;
		callset_drop(cs);
		count++;
	}
	return count;
}

/* In each order of attaching, one list of ops is one callset. */
static void callset_is_canonical(struct kunit *test)
{
	struct ftrace_callset *first = NULL, *cs;

	guard(mutex)(&ftrace_lock);

	for (unsigned int o = 0; o < ARRAY_SIZE(callset_kunit_orders); o++) {
		cs = NULL;
		for (unsigned int i = 0; i < CALLSET_KUNIT_OPS && !IS_ERR(cs); i++)
			cs = ftrace_callset_with(cs,
						 &callset_kunit_ops[callset_kunit_orders[o][i]], 0);
		first = first ?: cs;
		KUNIT_EXPECT_PTR_EQ(test, cs, first);
	}
	if (!IS_ERR_OR_NULL(first)) {
		KUNIT_EXPECT_EQ(test, first->nr_ops, CALLSET_KUNIT_OPS);
		KUNIT_EXPECT_EQ(test, first->nr_sites, 0);
		for (unsigned int i = 0; i < first->nr_ops; i++)
			KUNIT_EXPECT_PTR_EQ(test, first->ops[i], &callset_kunit_ops[i]);
	}
	/* Each list of one, each of two, and the one of three. */
	KUNIT_EXPECT_EQ(test, callset_kunit_drop(), CALLSET_KUNIT_LISTS - 1);
}

/* From each list, each ops: with adds just it, without takes just it away. */
static void callset_with_and_without_are_inverse(struct kunit *test)
{
	guard(mutex)(&ftrace_lock);

	for (unsigned int bits = 0; bits < CALLSET_KUNIT_LISTS; bits++) {
		struct ftrace_callset *from = callset_kunit_of(test, bits);

		for (unsigned int i = 0; i < CALLSET_KUNIT_OPS; i++) {
			struct ftrace_callset *with, *without;
			struct ftrace_ops *ops = &callset_kunit_ops[i];

			with = ftrace_callset_with(from, ops, 0);
			without = ftrace_callset_without(from, ops);
			KUNIT_EXPECT_EQ(test, ftrace_callset_has(from, ops), !!(bits & BIT(i)));
			KUNIT_EXPECT_PTR_EQ(test, with, callset_kunit_of(test, bits | BIT(i)));
			KUNIT_EXPECT_PTR_EQ(test, without,
					    callset_kunit_of(test, bits & ~BIT(i)));
			KUNIT_EXPECT_TRUE(test, ftrace_callset_has(with, ops));
			KUNIT_EXPECT_FALSE(test, ftrace_callset_has(without, ops));
		}
	}
	callset_kunit_drop();
}

struct callset_kunit_flags {
	const char	*name;
	unsigned long	flags[CALLSET_KUNIT_OPS];
	unsigned long	result;
	int		error;
};

#define CALLSET_KUNIT_REGS	FTRACE_OPS_FL_SAVE_REGS
#define CALLSET_KUNIT_IPMOD	FTRACE_OPS_FL_IPMODIFY

static const struct callset_kunit_flags callset_kunit_flags[] = {
	{ "none", { 0, 0, 0 }, 0 },
	{ "others do not count", { FTRACE_OPS_FL_RCU, 0, FTRACE_OPS_FL_PID }, 0 },
	{ "the first has one", { CALLSET_KUNIT_REGS, 0, 0 }, CALLSET_KUNIT_REGS },
	{ "the last has one", { 0, 0, CALLSET_KUNIT_IPMOD }, CALLSET_KUNIT_IPMOD },
	{ "all have one", { CALLSET_KUNIT_REGS, CALLSET_KUNIT_REGS, CALLSET_KUNIT_REGS },
	  CALLSET_KUNIT_REGS },
	{ "different ones", { CALLSET_KUNIT_REGS, CALLSET_KUNIT_IPMOD, 0 },
	  CALLSET_KUNIT_REGS | CALLSET_KUNIT_IPMOD },
	{ "two of the exclusive one, first and last",
	  { CALLSET_KUNIT_IPMOD, 0, CALLSET_KUNIT_IPMOD }, 0, -EBUSY },
	{ "two of the exclusive one, side by side",
	  { 0, CALLSET_KUNIT_IPMOD, CALLSET_KUNIT_IPMOD }, 0, -EBUSY },
};

KUNIT_ARRAY_PARAM_DESC(callset_kunit_flags, callset_kunit_flags, name);

static unsigned int callset_kunit_count(void)
{
	struct ftrace_callset *cs;
	unsigned int count = 0;
	u32 nr;

	for_each_ftrace_callset(cs, nr)
		count++;
	return count;
}

static void callset_flags(struct kunit *test)
{
	const struct callset_kunit_flags *row = test->param_value;
	struct ftrace_callset *two, *three;
	unsigned int count;

	guard(mutex)(&ftrace_lock);

	for (unsigned int i = 0; i < CALLSET_KUNIT_OPS; i++)
		callset_kunit_ops[i].flags = row->flags[i];

	/* The two at the end first: the last one is the one refused. */
	two = ftrace_callset_with(NULL, &callset_kunit_ops[2], 0);
	three = ftrace_callset_with(two, &callset_kunit_ops[0], 0);
	count = callset_kunit_count();
	if (!IS_ERR(three)) {
		three = ftrace_callset_with(three, &callset_kunit_ops[1], 0);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(three), row->error);
	}
	if (row->error) {
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(three), row->error);
		KUNIT_EXPECT_EQ(test, callset_kunit_count(), count);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_with(NULL, &callset_kunit_ops[2], 0), two);
	} else if (!IS_ERR(three)) {
		KUNIT_EXPECT_EQ(test, three->flags, row->result);
	}

	callset_kunit_drop();
	for (unsigned int i = 0; i < CALLSET_KUNIT_OPS; i++)
		callset_kunit_ops[i].flags = 0;
}

struct callset_kunit_conflict {
	const char		*name;
	unsigned long		flags[2];
	bool			knows;
	enum ftrace_refusal	why;
};

static const struct callset_kunit_conflict callset_kunit_conflicts[] = {
	{ "nothing special", { 0, 0 } },
	{ "all registers twice", { FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_SAVE_REGS } },
	{ "one may go elsewhere", { CALLSET_KUNIT_IPMOD, 0 } },
	{ "one is direct", { 0, FTRACE_OPS_FL_DIRECT } },
	{ "both may go elsewhere", { CALLSET_KUNIT_IPMOD, CALLSET_KUNIT_IPMOD }, false,
	  FTRACE_REFUSED_IPMODIFY },
	{ "both are direct", { FTRACE_OPS_FL_DIRECT, FTRACE_OPS_FL_DIRECT }, false,
	  FTRACE_REFUSED_DIRECT },
	{ "both are direct, and know of it", { FTRACE_OPS_FL_DIRECT, FTRACE_OPS_FL_DIRECT }, true,
	  FTRACE_REFUSED_DIRECT },
	{ "one of each", { CALLSET_KUNIT_IPMOD, FTRACE_OPS_FL_DIRECT }, false,
	  FTRACE_REFUSED_SHARE },
	{ "one of each, and the direct one knows", { CALLSET_KUNIT_IPMOD, FTRACE_OPS_FL_DIRECT },
	  true, FTRACE_REFUSED_NOT },
};

KUNIT_ARRAY_PARAM_DESC(callset_kunit_conflicts, callset_kunit_conflicts, name);

static int callset_kunit_ops_func(struct ftrace_ops *ops, unsigned long ip,
				  enum ftrace_ops_cmd cmd)
{
	return 0;
}

/* Whichever of the two was there first. */
static void callset_conflicts(struct kunit *test)
{
	const struct callset_kunit_conflict *row = test->param_value;
	struct ftrace_ops a = { .flags = row->flags[0] };
	struct ftrace_ops b = { .flags = row->flags[1] };

	if (row->knows)
		b.ops_func = callset_kunit_ops_func;
	KUNIT_EXPECT_EQ(test, ftrace_ops_conflict(&a, &b), row->why);
	KUNIT_EXPECT_EQ(test, ftrace_ops_conflict(&b, &a), row->why);
}

#ifdef CONFIG_HAVE_FTRACE_TRAMPOLINES
static void callset_target(struct kunit *test)
{
	struct ftrace_callset *cs, *regs;
	unsigned long tramp, end;

	guard(mutex)(&ftrace_lock);

	KUNIT_EXPECT_EQ(test, ftrace_callset_target(NULL), 0);
	cs = callset_kunit_of(test, BIT(0));
	callset_kunit_ops[1].flags = FTRACE_OPS_FL_SAVE_REGS;
	regs = callset_kunit_of(test, BIT(0) | BIT(1));
	if (cs && regs) {
		/* Nothing is settled yet. */
		KUNIT_EXPECT_EQ(test, ftrace_callset_target(cs), 0);
		KUNIT_EXPECT_EQ(test, ftrace_callset_establish(cs), 0);
		tramp = cs->tramp;
		end = tramp + cs->tramp_size;
		KUNIT_EXPECT_NE(test, tramp, 0);
		KUNIT_EXPECT_EQ(test, ftrace_callset_target(cs), tramp);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_code_find(tramp), &cs->code);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_code_find(end - 1), &cs->code);
		KUNIT_EXPECT_PTR_NE(test, ftrace_code_find(tramp - 1), &cs->code);
		KUNIT_EXPECT_PTR_NE(test, ftrace_code_find(end), &cs->code);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_code_find(0), NULL);
		KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(tramp));
		KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline((unsigned long)ftrace_caller));
		/* A second one for the same callset would be lost. */
		KUNIT_EXPECT_EQ(test, ftrace_callset_establish(cs), 0);
		KUNIT_EXPECT_EQ(test, cs->tramp, tramp);

		/* Without trampolines, and that stays. */
		callset_nr_tramps += CALLSET_MAX_TRAMPS;
		KUNIT_EXPECT_EQ(test, ftrace_callset_establish(regs), 0);
		callset_nr_tramps -= CALLSET_MAX_TRAMPS;
		KUNIT_EXPECT_EQ(test, ftrace_callset_establish(regs), 0);
		KUNIT_EXPECT_EQ(test, ftrace_callset_target(regs),
				(unsigned long)ftrace_regs_caller);
	}
	callset_kunit_drop();
	callset_kunit_ops[1].flags = 0;
}
#else
/* Without trampolines all sites call the same. */
static void callset_target(struct kunit *test)
{
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);

	KUNIT_EXPECT_EQ(test, ftrace_callset_target(NULL), 0);
	cs = callset_kunit_of(test, BIT(0));
	if (cs) {
		KUNIT_EXPECT_EQ(test, ftrace_callset_target(cs), 0);
		KUNIT_EXPECT_EQ(test, ftrace_callset_establish(cs), 0);
		KUNIT_EXPECT_EQ(test, ftrace_callset_target(cs), (unsigned long)ftrace_caller);
		KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline((unsigned long)ftrace_caller));
	}
	callset_kunit_drop();
}
#endif

/* Waits for the work that ftrace_retire() does in the background. */
static bool callset_kunit_is_gone(u32 nr)
{
	for (unsigned int i = 0; i < 3000; i++) {
		/* With the lock, so that those that go with it are gone, too. */
		scoped_guard(mutex, &ftrace_lock) {
			if (!ftrace_callset_get(nr))
				return true;
		}
		msleep(20);
	}
	return false;
}

/* A number is not given away while a task may still come with it; then it is. */
static void callset_number_is_free_after_release(struct kunit *test)
{
	struct ftrace_callset *cs, *next;
	u32 old = 0, limit;

	scoped_guard(mutex, &ftrace_lock) {
		cs = callset_kunit_of(test, BIT(0));
		if (cs) {
			old = cs->nr;
			callset_drop(cs);
			KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_get(old), cs);

			/* The same list again is another callset. */
			next = callset_kunit_of(test, BIT(0));
			KUNIT_EXPECT_PTR_NE(test, next, cs);
			KUNIT_EXPECT_NE(test, next ? next->nr : old, old);
		}
		callset_kunit_drop();
		limit = ftrace_callset_limit;
	}
	KUNIT_ASSERT_NE(test, old, 0);
	KUNIT_EXPECT_TRUE(test, callset_kunit_is_gone(old));

	scoped_guard(mutex, &ftrace_lock) {
		cs = callset_kunit_of(test, BIT(0));
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_get(cs ? cs->nr : 0), cs);
		KUNIT_EXPECT_EQ(test, ftrace_callset_limit, limit);
		callset_kunit_drop();
	}
}

/*
 * Stubs that go before their callset are not in its text any more, unless it is retired: it
 * would be freed with less text than it was retired with.
 */
static void callset_retired_text_stays(struct kunit *test)
{
	struct ftrace_record rec = { };
	struct ftrace_table table = { .recs = &rec, .nr = 1 };
	struct ftrace_callset *cs;
	size_t text;

	guard(mutex)(&ftrace_lock);

	callset_kunit_ops[0].counts = ftrace_counts_alloc(1);
	KUNIT_EXPECT_NOT_NULL(test, callset_kunit_ops[0].counts);
	cs = callset_kunit_of(test, BIT(0));
	if (cs && !ftrace_callset_establish(cs) && ftrace_stubs_used(cs)) {
		for (unsigned int retired = 0; retired < 2; retired++) {
			KUNIT_EXPECT_EQ(test, ftrace_callset_reserve(cs, &table, &rec, 1), 0);
			text = cs->retiree.text;
			KUNIT_EXPECT_EQ(test, text, cs->tramp_size + ARCH_FTRACE_STUB_SIZE);
			if (retired)
				callset_drop(cs);
			ftrace_stubs_forget_table(cs, &table);
			KUNIT_EXPECT_EQ(test, cs->retiree.text, retired ? text : cs->tramp_size);
		}
	} else if (ARCH_FTRACE_STUB_SIZE) {
		KUNIT_FAIL(test, "an ops counts, and there are no stubs");
	}
	callset_kunit_drop();
	ftrace_counts_forget_table(&table);
	ftrace_counts_put(callset_kunit_ops[0].counts);
	callset_kunit_ops[0].counts = NULL;
}

/* While too much code waits to be freed, no more is made. */
static void callset_retired_is_full(struct kunit *test)
{
	static struct ftrace_retiree retiree;
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);

	KUNIT_EXPECT_FALSE(test, ftrace_retired_is_full());
	retiree.free = callset_kunit_free;
	retiree.text = SZ_8M;
	ftrace_retire(&retiree);
	KUNIT_EXPECT_TRUE(test, ftrace_retired_is_full());
	cs = callset_kunit_of(test, BIT(0));
	if (cs) {
		KUNIT_EXPECT_EQ(test, ftrace_callset_establish(cs), 0);
		KUNIT_EXPECT_EQ(test, cs->tramp, 0);
		KUNIT_EXPECT_NE(test, ftrace_callset_target(cs), 0);
	}
	callset_kunit_drop();
}

/* It is over once that is freed. */
static void callset_retired_gets_less(struct kunit *test)
{
	for (unsigned int i = 0; i < 60 && ftrace_retired_is_full(); i++)
		ftrace_retired_wait();
	KUNIT_EXPECT_FALSE(test, ftrace_retired_is_full());
}

/* One that has sites stays when idle ones are dropped. */
static void callset_with_sites_stays(struct kunit *test)
{
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);

	cs = callset_kunit_of(test, BIT(0) | BIT(1));
	if (cs) {
		ftrace_callset_add_sites(cs, 2);
		ftrace_callset_add_sites(cs, -1);
		ftrace_callsets_drop_idle();
		KUNIT_EXPECT_FALSE(test, hlist_unhashed(&cs->hash));
		KUNIT_EXPECT_PTR_EQ(test, callset_kunit_of(test, BIT(0) | BIT(1)), cs);
		ftrace_callset_add_sites(cs, -1);
		KUNIT_EXPECT_FALSE(test, hlist_unhashed(&cs->hash));
		ftrace_callsets_drop_idle();
		KUNIT_EXPECT_TRUE(test, hlist_unhashed(&cs->hash));
	}
	callset_kunit_drop();
}

/* An ops that is silenced is in no callset, and comes into no other from there. */
static void callset_silence(struct kunit *test)
{
	struct ftrace_ops *ops = callset_kunit_ops;
	struct ftrace_callset *cs, *to;
	struct ftrace_patch *patch;

	guard(mutex)(&ftrace_lock);

	cs = callset_kunit_of(test, CALLSET_KUNIT_LISTS - 1);
	if (!cs)
		return;
	KUNIT_EXPECT_EQ(test, ftrace_callset_establish(cs), 0);
	patch = arch_ftrace_patch_begin(1);
	ftrace_callset_silence(&cs->link[1], patch);
	arch_ftrace_patch_end(patch);

	KUNIT_EXPECT_TRUE(test, ftrace_callset_has(cs, &ops[0]));
	KUNIT_EXPECT_FALSE(test, ftrace_callset_has(cs, &ops[1]));
	KUNIT_EXPECT_TRUE(test, ftrace_callset_has(cs, &ops[2]));
	KUNIT_EXPECT_TRUE(test, hlist_unhashed(&cs->hash));
	KUNIT_EXPECT_TRUE(test, hlist_unhashed(&cs->link[1].node));

	/* The callset made of it has no gap. */
	to = ftrace_callset_without(cs, &ops[0]);
	KUNIT_EXPECT_PTR_EQ(test, to, callset_kunit_of(test, BIT(2)));
	to = ftrace_callset_with(cs, &ops[1], 0);
	KUNIT_EXPECT_PTR_NE(test, to, cs);
	KUNIT_EXPECT_PTR_EQ(test, to, callset_kunit_of(test, CALLSET_KUNIT_LISTS - 1));

	callset_drop(cs);
	callset_kunit_drop();
}

/* More callsets than the map had room for: it grows, and loses no callset. */
static void callset_map_grows(struct kunit *test)
{
	/* One more than whole chunks of the map have */
	u32 limit = round_up(max(ftrace_callset_limit, 1), PAGE_SIZE / sizeof(void *)) + 1, nr = 0;
	struct ftrace_callset **cs;
	struct ftrace_ops *ops;

	ops = kunit_kcalloc(test, limit, sizeof(*ops), GFP_KERNEL);
	cs = kunit_kcalloc(test, limit, sizeof(*cs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ops);
	KUNIT_ASSERT_NOT_NULL(test, cs);

	scoped_guard(mutex, &ftrace_lock) {
		for (u32 i = 0; i < limit; i++) {
			ops[i].func = callset_kunit_func;
			ops[i].seq = UINT_MAX;
			cs[i] = ftrace_callset_with(NULL, &ops[i], 0);
			KUNIT_EXPECT_NOT_ERR_OR_NULL(test, cs[i]);
		}
		/* No callset has number 0. */
		KUNIT_EXPECT_GT(test, ftrace_callset_limit, limit);
		for (u32 i = 0; i < limit; i++) {
			if (IS_ERR_OR_NULL(cs[i]))
				continue;
			KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_get(cs[i]->nr), cs[i]);
			KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_with(NULL, &ops[i], 0), cs[i]);
			nr = max(nr, cs[i]->nr);
		}
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_get(0), NULL);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_get(ftrace_callset_limit), NULL);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_get(U32_MAX), NULL);
		KUNIT_EXPECT_EQ(test, callset_kunit_drop(), limit);
	}
	/* The ops are freed with the test. */
	KUNIT_EXPECT_TRUE(test, callset_kunit_is_gone(nr));
}

/* Wherever calls search for their callset, they need not while there is one. */
static void callset_kunit_expect_only(struct kunit *test)
{
	struct ftrace_callset *cs, *last = NULL;
	unsigned int count = 0;
	u32 nr;

	for_each_ftrace_callset(cs, nr) {
		last = cs;
		count++;
	}
	KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_only(),
			    FTRACE_CALLS_SEARCH && arch_ftrace_wrote_all() && count == 1 ?
			    last : NULL);
}

static void callset_only(struct kunit *test)
{
	bool none = false;

	/* Others' may be there for some time after their last site. */
	for (unsigned int i = 0; i < 500 && !none; i++) {
		scoped_guard(mutex, &ftrace_lock) {
			callset_kunit_expect_only(test);
			none = !ftrace_callset_next(&(u32){ 0 });
		}
		if (!none)
			msleep(20);
	}
	scoped_guard(mutex, &ftrace_lock) {
		struct ftrace_callset *cs = callset_kunit_of(test, BIT(0));

		if (none)
			KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_only(),
					    FTRACE_CALLS_SEARCH && arch_ftrace_wrote_all() ?
					    cs : NULL);
		callset_kunit_of(test, BIT(1));
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_only(), NULL);
		callset_kunit_expect_only(test);
		callset_kunit_drop();
		KUNIT_EXPECT_PTR_EQ(test, ftrace_callset_only(), NULL);
	}
	if (!none)
		kunit_skip(test, "there are callsets of others");
}

static struct kunit_case callset_kunit_cases[] = {
	KUNIT_CASE(callset_is_canonical),
	KUNIT_CASE(callset_with_and_without_are_inverse),
	KUNIT_CASE_PARAM(callset_flags, callset_kunit_flags_gen_params),
	KUNIT_CASE_PARAM(callset_conflicts, callset_kunit_conflicts_gen_params),
	KUNIT_CASE(callset_target),
	KUNIT_CASE(callset_number_is_free_after_release),
	KUNIT_CASE(callset_retired_text_stays),
	KUNIT_CASE(callset_retired_is_full),
	KUNIT_CASE(callset_retired_gets_less),
	KUNIT_CASE(callset_with_sites_stays),
	KUNIT_CASE(callset_silence),
	KUNIT_CASE(callset_map_grows),
	KUNIT_CASE(callset_only),
	{ }
};

static struct kunit_suite callset_kunit_suite = {
	.name		= "ftrace_callset",
	.test_cases	= callset_kunit_cases,
};

kunit_test_suite(callset_kunit_suite);
