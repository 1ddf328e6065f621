// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the transactions: ops come and go on sites that are called,
 * and every ops sees each call of the sites that it wants exactly once.
 *
 * Ops that others attached to the same sites stay, and the tests check that they do.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "../attach.h"
#include "../counts.h"
#include "../filter.h"
#include "kunit.h"

#define TRANSACTION_KUNIT_OPS	4
/* Filters are written as bits, one for each site. */
#define TRANSACTION_KUNIT_ALL	(BIT(KUNIT_NR_SITES) - 1)

/**
 * struct transaction_kunit_ops - an ops that counts
 * @ops: the ops
 * @task: whose calls count
 * @hits: how often each site was seen
 * @odd: calls with wrong arguments
 */
struct transaction_kunit_ops {
	struct ftrace_ops	ops;
	struct task_struct	*task;
	unsigned long		hits[KUNIT_NR_SITES];
	unsigned long		odd;
};

static unsigned long transaction_kunit_ips[KUNIT_NR_SITES];

static void transaction_kunit_func(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct transaction_kunit_ops *u = container_of(ops, struct transaction_kunit_ops, ops);

	if (READ_ONCE(u->task) != current || !in_task())
		return;
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		if (transaction_kunit_ips[i] == ip) {
			u->hits[i]++;
			return;
		}
	}
	u->odd++;
}

static void transaction_kunit_func_too(unsigned long ip, unsigned long parent_ip,
				       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	transaction_kunit_func(ip, parent_ip, ops, fregs);
}

/* Part of the kernel's data: unregistering them waits for nothing. */
static struct transaction_kunit_ops transaction_kunit_ops[TRANSACTION_KUNIT_OPS];

static int transaction_kunit_filter(struct transaction_kunit_ops *u, unsigned int bits)
{
	unsigned long ips[KUNIT_NR_SITES];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		if (bits & BIT(i))
			ips[nr++] = kunit_site(i);
	}
	/* No address would stand for every site. */
	return nr ? ftrace_set_filter_ips(&u->ops, ips, nr, 0, 1) : -EINVAL;
}

static int transaction_kunit_attach(struct transaction_kunit_ops *u, unsigned int bits)
{
	return transaction_kunit_filter(u, bits) ?: register_ftrace_function(&u->ops);
}

static void transaction_kunit_call(unsigned int times)
{
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		for (unsigned int n = 0; n < times * (i + 1); n++)
			kunit_call_site(i);
	}
}

/* Calls each site, and expects that @u sees those of @bits and no others. */
static void transaction_kunit_expect(struct kunit *test, struct transaction_kunit_ops *u,
				     unsigned int bits)
{
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++)
		KUNIT_EXPECT_EQ_MSG(test, u->hits[i], bits & BIT(i) ? i + 1 : 0,
				    "site %u of ops %td, which wants %x", i,
				    u - transaction_kunit_ops, bits);
	KUNIT_EXPECT_EQ(test, u->odd, 0);
	memset(u->hits, 0, sizeof(u->hits));
}

static void transaction_kunit_expect_all(struct kunit *test, const unsigned int *bits,
					 unsigned int nr)
{
	transaction_kunit_call(1);
	for (unsigned int i = 0; i < nr; i++)
		transaction_kunit_expect(test, &transaction_kunit_ops[i], bits[i]);
}

/**
 * struct transaction_kunit_state - the ops attached to the test's sites
 * @callset: the callset of each
 * @nr_sites: how many sites each of these has
 * @ok: the text says the same
 */
struct transaction_kunit_state {
	struct ftrace_callset	*callset[KUNIT_NR_SITES];
	unsigned int		nr_sites[KUNIT_NR_SITES];
	bool			ok;
};

static struct transaction_kunit_state transaction_kunit_state(void)
{
	struct transaction_kunit_state state = { .ok = true };

	guard(mutex)(&ftrace_lock);

	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		struct ftrace_record *rec = ftrace_site_find(kunit_site(i));
		struct ftrace_callset *cs;

		if (!rec) {
			state.ok = false;
			continue;
		}
		cs = ftrace_callset_get(ftrace_rec_callset(rec));
		state.callset[i] = cs;
		state.nr_sites[i] = cs ? cs->nr_sites : 0;
		if (ftrace_rec_quarantined(rec) ||
		    arch_ftrace_check_site(kunit_site(i), ftrace_callset_target(cs)))
			state.ok = false;
	}
	return state;
}

static void transaction_kunit_expect_state(struct kunit *test,
					   const struct transaction_kunit_state *was)
{
	struct transaction_kunit_state is = transaction_kunit_state();

	KUNIT_EXPECT_TRUE(test, is.ok);
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		KUNIT_EXPECT_PTR_EQ(test, is.callset[i], was->callset[i]);
		KUNIT_EXPECT_EQ(test, is.nr_sites[i], was->nr_sites[i]);
	}
}

/**
 * struct transaction_kunit_way - under which circumstances a case runs
 * @name: the circumstances, in words
 * @flags: of the first three ops
 * @forbid: callsets get no trampolines
 */
struct transaction_kunit_way {
	const char	*name;
	unsigned long	flags[3];
	bool		forbid;
};

static const struct transaction_kunit_way transaction_kunit_ways[] = {
	{ "with trampolines" },
	{ "without trampolines", .forbid = true },
};

KUNIT_ARRAY_PARAM_DESC(transaction_kunit_ways, transaction_kunit_ways, name);

/* Flags that change the code of a trampoline, alone and mixed. */
static const struct transaction_kunit_way transaction_kunit_flags[] = {
	{ "all registers", { FTRACE_OPS_FL_SAVE_REGS } },
	{ "all registers for the last", { 0, 0, FTRACE_OPS_FL_SAVE_REGS } },
	{ "all registers, without trampolines", { 0, FTRACE_OPS_FL_SAVE_REGS }, true },
	{ "one may go elsewhere", { 0, FTRACE_OPS_FL_IPMODIFY } },
	{ "one may go elsewhere, with all registers",
	  { 0, FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS } },
	{ "recursion and RCU", { FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU } },
	{ "recursion and RCU, without trampolines",
	  { FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU }, true },
	{ "a bit of all", { FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_SAVE_REGS,
			    FTRACE_OPS_FL_IPMODIFY } },
};

KUNIT_ARRAY_PARAM_DESC(transaction_kunit_flags, transaction_kunit_flags, name);

static int transaction_kunit_init(struct kunit *test)
{
	const struct transaction_kunit_way *way = test->param_value;

	memset(transaction_kunit_ops, 0, sizeof(transaction_kunit_ops));
	for (unsigned int i = 0; i < TRANSACTION_KUNIT_OPS; i++) {
		transaction_kunit_ops[i].ops.func = transaction_kunit_func;
		transaction_kunit_ops[i].ops.flags = i < ARRAY_SIZE(way->flags) ? way->flags[i] : 0;
		transaction_kunit_ops[i].task = current;
	}
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		transaction_kunit_ips[i] = kunit_site(i);
		if (!transaction_kunit_ips[i])
			return -ENOENT;
	}
	if (way->forbid)
		ftrace_kunit_forbid_tramps(true);
	return 0;
}

static void transaction_kunit_exit(struct kunit *test)
{
	const struct transaction_kunit_way *way = test->param_value;

	for (unsigned int i = 0; i < TRANSACTION_KUNIT_OPS; i++) {
		unregister_ftrace_function(&transaction_kunit_ops[i].ops);
		ftrace_free_filter(&transaction_kunit_ops[i].ops);
	}
	if (way->forbid)
		ftrace_kunit_forbid_tramps(false);
}

/*
 * Two ops, each pair of filters, each order of coming and of going; and the sites are as they were
 * before.
 */
static void transaction_two_ops(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct transaction_kunit_state before = transaction_kunit_state();

	KUNIT_EXPECT_TRUE(test, before.ok);
	for (unsigned int n = 0; n < 4 * TRANSACTION_KUNIT_ALL * TRANSACTION_KUNIT_ALL; n++) {
		unsigned int first = n & 1, leaver = (n >> 1) & 1;
		unsigned int a = 1 + (n >> 2) % TRANSACTION_KUNIT_ALL;
		unsigned int b = 1 + (n >> 2) / TRANSACTION_KUNIT_ALL;
		unsigned int bits[2] = { };

		bits[first] = first ? b : a;
		KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[first], bits[first]), 0);
		transaction_kunit_expect_all(test, bits, 2);
		bits[!first] = first ? a : b;
		KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[!first], bits[!first]), 0);
		transaction_kunit_expect_all(test, bits, 2);
		bits[leaver] = 0;
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[leaver].ops), 0);
		transaction_kunit_expect_all(test, bits, 2);
		bits[!leaver] = 0;
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[!leaver].ops), 0);
		transaction_kunit_expect_all(test, bits, 2);
	}
	transaction_kunit_expect_state(test, &before);
}

/* An ops gets each filter after each other one, beside one that stays as it is. */
static void transaction_refilter(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct transaction_kunit_state before = transaction_kunit_state();
	unsigned int bits[2] = { 1, 3 };

	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], bits[0]), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[1], bits[1]), 0);
	for (unsigned int from = 1; from <= TRANSACTION_KUNIT_ALL; from++) {
		for (unsigned int to = 1; to <= TRANSACTION_KUNIT_ALL; to++) {
			KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[0], from), 0);
			KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[0], to), 0);
			bits[0] = to;
			transaction_kunit_expect_all(test, bits, 2);
		}
	}

	/* A site that the filter takes and the notrace list leaves out. */
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&u[0].ops, "gcd", strlen("gcd"), 1), 0);
	bits[0] = TRANSACTION_KUNIT_ALL & ~1;
	transaction_kunit_expect_all(test, bits, 2);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&u[0].ops, NULL, 0, 1), 0);
	bits[0] = TRANSACTION_KUNIT_ALL;
	transaction_kunit_expect_all(test, bits, 2);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[1].ops), 0);
	transaction_kunit_expect_state(test, &before);
}

/*
 * The sites of a module without a form are left alone, and get later what they missed. Here they
 * are the kernel's: nothing else may attach meanwhile.
 */
static void transaction_forming(struct kunit *test)
{
	struct transaction_kunit_state before = transaction_kunit_state();
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct ftrace_table *table;
	unsigned int bits = 0;

	scoped_guard(mutex, &ftrace_lock) {
		table = ftrace_table_find(kunit_site(0));
		if (table)
			table->forming = true;
	}
	KUNIT_ASSERT_NOT_NULL(test, table);
	KUNIT_EXPECT_EQ(test, transaction_kunit_attach(u, TRANSACTION_KUNIT_ALL), 0);
	transaction_kunit_expect_all(test, &bits, 1);
	scoped_guard(mutex, &ftrace_lock) {
		table->forming = false;
		KUNIT_EXPECT_EQ(test, ftrace_update_table(table), 0);
	}
	bits = TRANSACTION_KUNIT_ALL;
	transaction_kunit_expect_all(test, &bits, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u->ops), 0);
	transaction_kunit_expect_state(test, &before);
}

static u64 __percpu *transaction_no_counts(struct ftrace_counts *counts,
					   struct ftrace_table *table, unsigned int group)
{
	return NULL;
}

/* One that cannot have the new sites does not keep them from another. */
static void transaction_forming_refused(struct kunit *test)
{
	struct transaction_kunit_state before = transaction_kunit_state();
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct ftrace_table *table;
	unsigned int bits = TRANSACTION_KUNIT_ALL;

	scoped_guard(mutex, &ftrace_lock)
		u[1].ops.counts = ftrace_counts_alloc(1);
	KUNIT_ASSERT_NOT_NULL(test, u[1].ops.counts);
	scoped_guard(mutex, &ftrace_lock) {
		table = ftrace_table_find(kunit_site(0));
		if (table)
			table->forming = true;
	}
	KUNIT_ASSERT_NOT_NULL(test, table);
	KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[0], TRANSACTION_KUNIT_ALL), 0);
	u[1].ops.func = ftrace_count_call;
	u[1].ops.flags = 0;
	KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[1], TRANSACTION_KUNIT_ALL), 0);
	kunit_activate_static_stub(test, ftrace_counts_group, transaction_no_counts);
	scoped_guard(mutex, &ftrace_lock) {
		table->forming = false;
		KUNIT_EXPECT_EQ(test, ftrace_update_table(table), -ENOMEM);
	}
	kunit_deactivate_static_stub(test, ftrace_counts_group);
	transaction_kunit_expect_all(test, &bits, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[1].ops), 0);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_counts_put(u[1].ops.counts);
	u[1].ops.counts = NULL;
	transaction_kunit_expect_state(test, &before);
}

/* The same list of ops on two sites is one callset; different lists are not. */
static void transaction_shares_callsets(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct transaction_kunit_state state = transaction_kunit_state();
	bool alike = state.callset[0] == state.callset[1] && state.callset[1] == state.callset[2];

	if (!alike)
		kunit_skip(test, "somebody else makes the sites differ");
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], TRANSACTION_KUNIT_ALL), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[1], 3), 0);
	state = transaction_kunit_state();
	KUNIT_EXPECT_TRUE(test, state.ok);
	KUNIT_EXPECT_PTR_EQ(test, state.callset[0], state.callset[1]);
	KUNIT_EXPECT_PTR_NE(test, state.callset[0], state.callset[2]);

	/* The later one by order of coming, not by its place in memory. */
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[0].ops), 0);
	state = transaction_kunit_state();
	scoped_guard(mutex, &ftrace_lock) {
		struct ftrace_callset *cs = state.callset[0];

		KUNIT_EXPECT_NOT_NULL(test, cs);
		if (cs && cs->nr_ops >= 2) {
			KUNIT_EXPECT_PTR_EQ(test, cs->ops[cs->nr_ops - 2], &u[1].ops);
			KUNIT_EXPECT_PTR_EQ(test, cs->ops[cs->nr_ops - 1], &u[0].ops);
		}
	}
}

/* A failed request leaves everything as it was: the ops, its filter, and the sites. */
static void transaction_failure_changes_nothing(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct transaction_kunit_state before, attached;
	unsigned int bits[3] = { 1, 2, 0 };

	before = transaction_kunit_state();
	u[0].ops.flags = FTRACE_OPS_FL_IPMODIFY;
	u[1].ops.flags = FTRACE_OPS_FL_IPMODIFY;
	u[2].ops.flags = FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], bits[0]), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[1], bits[1]), 0);
	attached = transaction_kunit_state();

	/* One more, whose last site is the one that is free. */
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[2], TRANSACTION_KUNIT_ALL), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[2].ops), -EBUSY);
	KUNIT_EXPECT_FALSE(test, u[2].ops.flags & FTRACE_OPS_FL_ENABLED);
	KUNIT_EXPECT_TRUE(test, list_empty(&u[2].ops.list));
	transaction_kunit_expect_state(test, &attached);
	transaction_kunit_expect_all(test, bits, 3);

	/* A filter that wants a site which another ops holds for itself. */
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[1], 6), 0);
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[1], 2), 0);
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[1], 5), -EBUSY);
	KUNIT_EXPECT_EQ(test, u[1].ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, u[1].ops.filter->only->ip[0], kunit_site(1));
	transaction_kunit_expect_state(test, &attached);
	transaction_kunit_expect_all(test, bits, 3);

	/* Registered is registered, and not registered is not. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[0].ops), -EBUSY);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[2].ops), -EBUSY);
	transaction_kunit_expect_state(test, &attached);

	/* Once the place is free, it can be had. */
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[1], 5), 0);
	bits[0] = 0;
	bits[1] = 5;
	transaction_kunit_expect_all(test, bits, 3);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[1].ops), 0);
	transaction_kunit_expect_state(test, &before);
}

/* Nor does a callset name the ops that was made for a site before the one that is taken. */
static void transaction_failure_leaves_no_callset(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;

	u[0].ops.flags = FTRACE_OPS_FL_IPMODIFY;
	u[1].ops.flags = FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, transaction_kunit_filter(&u[1], TRANSACTION_KUNIT_ALL), 0);
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[0], BIT(i)), 0);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[1].ops), -EBUSY);
		KUNIT_EXPECT_TRUE(test, hlist_empty(&u[1].ops.callsets));
		KUNIT_EXPECT_TRUE(test, hlist_unhashed(&u[1].ops.filter_user));
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	}
}

static void transaction_flags(struct kunit *test)
{
	static const unsigned int bits[3] = { 7, 3, 6 };
	struct transaction_kunit_ops *u = transaction_kunit_ops;

	for (unsigned int i = 0; i < 3; i++) {
		if ((u[i].ops.flags & FTRACE_OPS_FL_SAVE_REGS) &&
		    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
			kunit_skip(test, "no callback gets all registers here");
	}
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[i], bits[i]), 0);
	transaction_kunit_expect_all(test, bits, 3);

	/* The functions' results came through. */
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, kunit_result, 6);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, kunit_result, 144);
	kunit_call_site(2);
	KUNIT_EXPECT_EQ(test, kunit_result, 3);
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[i].ops), 0);
}

/* The callback is exchanged while it is attached, alone and beside another. */
static void transaction_set_func(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	unsigned int bits[2] = { TRANSACTION_KUNIT_ALL, 0 };

	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], bits[0]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		scoped_guard(mutex, &ftrace_lock)
			ftrace_ops_set_func(&u[0].ops, transaction_kunit_func_too);
		transaction_kunit_expect_all(test, bits, 2);
		scoped_guard(mutex, &ftrace_lock)
			ftrace_ops_set_func(&u[0].ops, ftrace_stub);
		bits[0] = 0;
		transaction_kunit_expect_all(test, bits, 2);
		scoped_guard(mutex, &ftrace_lock)
			ftrace_ops_set_func(&u[0].ops, transaction_kunit_func);
		bits[0] = TRANSACTION_KUNIT_ALL;
		transaction_kunit_expect_all(test, bits, 2);

		/* The second time with company. */
		if (!i) {
			bits[1] = 5;
			KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[1], bits[1]), 0);
		}
	}
}

/* One in memory that is freed: unregistering it waits until no task is inside. */
static void transaction_dynamic_ops(struct kunit *test)
{
	struct transaction_kunit_ops *u = kzalloc(sizeof(*u), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, u);
	u->ops.func = transaction_kunit_func;
	u->task = current;
	ret = transaction_kunit_attach(u, TRANSACTION_KUNIT_ALL);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		KUNIT_EXPECT_TRUE(test, u->ops.flags & FTRACE_OPS_FL_DYNAMIC);
		transaction_kunit_call(1);
		for (unsigned int i = 0; i < KUNIT_NR_SITES; i++)
			KUNIT_EXPECT_EQ(test, u->hits[i], i + 1);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u->ops), 0);
	}
	ftrace_free_filter(&u->ops);
	kfree(u);
	transaction_kunit_call(1);
}

struct transaction_kunit_host {
	struct ftrace_ops	ops;
	struct kunit_guest	guest;
};

static void transaction_kunit_host_func(unsigned long ip, unsigned long parent_ip,
					struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	kunit_guest_stay(&container_of(ops, struct transaction_kunit_host, ops)->guest);
}

/* Unregistering returns as soon as the last one has left the callback, not before. */
static void transaction_waits_for_guest(struct kunit *test)
{
	struct transaction_kunit_host *host = kzalloc(sizeof(*host), GFP_KERNEL);
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, host);
	host->ops.func = transaction_kunit_host_func;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&host->ops, kunit_site(0), 0, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&host->ops), 0);
	KUNIT_EXPECT_NOT_NULL(test, host->ops.gate);
	task = kunit_guest_begin(test, &host->guest);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&host->ops), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(host->guest.left));
	KUNIT_EXPECT_NULL(test, host->ops.gate);
	kunit_guest_end(task);
	ftrace_free_filter(&host->ops);
	kfree(host);
}

#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
static struct transaction_kunit_host *transaction_kunit_detourist;

/* Where the functions go on that the next callback sends elsewhere: it stays there. */
static noinline notrace unsigned long transaction_kunit_detour(unsigned long a, unsigned long b)
{
	kunit_guest_stay(&transaction_kunit_detourist->guest);
	return 6;
}

static void transaction_kunit_detour_func(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct transaction_kunit_host *host = container_of(ops, struct transaction_kunit_host, ops);

	if (READ_ONCE(host->guest.task) == current && in_task())
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)transaction_kunit_detour);
}

/* A task that was sent elsewhere may be in code that goes with the ops. */
static void transaction_waits_for_detour(struct kunit *test)
{
	struct transaction_kunit_host *host = kzalloc(sizeof(*host), GFP_KERNEL);
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, host);
	transaction_kunit_detourist = host;
	host->ops.func = transaction_kunit_detour_func;
	host->ops.flags = FTRACE_OPS_FL_IPMODIFY;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&host->ops, kunit_site(0), 0, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&host->ops), 0);
	task = kunit_guest_begin(test, &host->guest);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&host->ops), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(host->guest.left));
	kunit_guest_end(task);
	ftrace_free_filter(&host->ops);
	kfree(host);
}
#endif

static void transaction_kunit_list_func(unsigned long ip, struct ftrace_regs *fregs)
{
	/* As ftrace_caller does. */
	preempt_disable_notrace();
	arch_ftrace_ops_list_func(ip, _THIS_IP_, NULL, fregs);
	preempt_enable_notrace();
}

/*
 * Between the time that a record gets a callset and the time that its site calls
 * ftrace_regs_caller, a call comes without registers: an ops that asks for these is not
 * called. It has not been attached yet.
 */
static void transaction_list_func_without_regs(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct pt_regs regs = { };
	struct ftrace_regs *fregs = (struct ftrace_regs *)&regs;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) || ftrace_get_regs(fregs))
		kunit_skip(test, "no callback is without registers here");
	u[1].ops.flags = FTRACE_OPS_FL_SAVE_REGS;
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[1], 1), 0);
	transaction_kunit_list_func(kunit_site(0), fregs);
	KUNIT_EXPECT_EQ(test, u[1].hits[0], 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], 1), 0);
	transaction_kunit_list_func(kunit_site(0), fregs);
	KUNIT_EXPECT_EQ(test, u[0].hits[0], 1);
	KUNIT_EXPECT_EQ(test, u[1].hits[0], 0);
	/* With registers, it is. */
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, u[0].hits[0], 2);
	KUNIT_EXPECT_EQ(test, u[1].hits[0], 1);
}

/* So long that a wait for the tasks below would be seen. */
#define TRANSACTION_KUNIT_RESTLESS	(15 * HZ)

static int transaction_kunit_restless(void *data)
{
	unsigned long end = jiffies + TRANSACTION_KUNIT_RESTLESS;

	while (!kthread_should_stop()) {
		if (time_after(jiffies, end))
			msleep(20);
		else
			cond_resched();
	}
	return 0;
}

static struct task_struct *transaction_kunit_restless_on(unsigned int cpu)
{
	return kthread_run_on_cpu(transaction_kunit_restless, NULL, cpu, "ftrace_kunit/%u");
}

/* Tasks that never sleep are no reason to wait. */
static void transaction_beside_restless_tasks(struct kunit *test)
{
	struct transaction_kunit_ops *u = kzalloc(sizeof(*u), GFP_KERNEL);
	struct task_struct **task;
	unsigned long begin;
	unsigned int cpu;

	task = kunit_kcalloc(test, nr_cpu_ids, sizeof(*task), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_ASSERT_NOT_NULL(test, u);
	u->ops.func = transaction_kunit_func;
	u->task = current;
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(u, TRANSACTION_KUNIT_ALL), 0);

	for_each_online_cpu(cpu) {
		task[cpu] = transaction_kunit_restless_on(cpu);
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, task[cpu]);
	}
	begin = jiffies;
	for (unsigned int i = 0; i < 20; i++) {
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&u->ops), 0);
		transaction_kunit_call(1);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u->ops), 0);
	}
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begin + TRANSACTION_KUNIT_RESTLESS));
	KUNIT_EXPECT_EQ(test, u->hits[0], 20);

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!IS_ERR_OR_NULL(task[cpu]))
			kthread_stop(task[cpu]);
	}
	ftrace_free_filter(&u->ops);
	kfree(u);
}

/* Also where its sites were taken before, no callset names an ops that has gone. */
static void transaction_leaves_nothing(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct ftrace_callset *cs;
	unsigned int count = 0;
	u32 nr;

	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[1], 7), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], 1), 0);
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[0], 2), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[1].ops), 0);
	KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[0], 4), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_callset(cs, nr)
		count += ftrace_callset_has(cs, &u[0].ops) || ftrace_callset_has(cs, &u[1].ops);
	KUNIT_EXPECT_EQ(test, count, 0);
}

/**
 * struct transaction_kunit_caller - a task that calls the sites all the time
 * @calls: how many calls of each site it has finished
 */
struct transaction_kunit_caller {
	unsigned long	calls[KUNIT_NR_SITES];
};

static int transaction_kunit_caller(void *data)
{
	struct transaction_kunit_caller *caller = data;

	while (!kthread_should_stop()) {
		for (unsigned int n = 0; n < 100; n++) {
			for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
				kunit_call_site(i);
				WRITE_ONCE(caller->calls[i], caller->calls[i] + 1);
			}
		}
		cond_resched();
	}
	return 0;
}

/* Until the call that is under way has returned: it may have seen users that are gone. */
static void transaction_kunit_await_call(struct transaction_kunit_caller *caller)
{
	unsigned long *last = &caller->calls[KUNIT_NR_SITES - 1], before = READ_ONCE(*last);

	while (READ_ONCE(*last) == before)
		msleep(20);
}

/* Sites are called on another CPU, and others come and go: nothing is lost. */
static void transaction_while_called(struct kunit *test)
{
	struct transaction_kunit_caller caller = { };
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct task_struct *task;

	task = kthread_create(transaction_kunit_caller, &caller, "ftrace_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	for (unsigned int i = 0; i < TRANSACTION_KUNIT_OPS; i++)
		u[i].task = task;

	/* The first one stays attached from before the first call to the last. */
	KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[0], TRANSACTION_KUNIT_ALL), 0);
	get_task_struct(task);
	wake_up_process(task);

	for (unsigned int n = 0; n < 40; n++) {
		unsigned int bits = 1 + n % TRANSACTION_KUNIT_ALL;

		KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[1], bits), 0);
		KUNIT_EXPECT_EQ(test, transaction_kunit_attach(&u[2], TRANSACTION_KUNIT_ALL), 0);
		KUNIT_EXPECT_EQ(test, transaction_kunit_filter(&u[1], 8 - bits), 0);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[2].ops), 0);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[1].ops), 0);
		if (!(n % 8))
			msleep(20);
	}

	/* Nothing reaches one that is not registered. */
	transaction_kunit_await_call(&caller);
	memset(u[1].hits, 0, sizeof(u[1].hits));
	memset(u[2].hits, 0, sizeof(u[2].hits));
	msleep(50);
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		KUNIT_EXPECT_EQ(test, u[1].hits[i], 0);
		KUNIT_EXPECT_EQ(test, u[2].hits[i], 0);
	}

	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		KUNIT_EXPECT_GT(test, caller.calls[i], 0);
		KUNIT_EXPECT_EQ(test, u[0].hits[i], caller.calls[i]);
	}
	KUNIT_EXPECT_EQ(test, u[0].odd, 0);
	put_task_struct(task);
}

static struct ftrace_record *transaction_kunit_quarantined(void)
{
	struct ftrace_record *rec;

	guard(mutex)(&ftrace_lock);
	rec = ftrace_site_find(transaction_kunit_ips[0]);
	return rec && ftrace_rec_quarantined(rec) ? rec : NULL;
}

/* Only the marks: it has no callset. */
static u32 transaction_kunit_mark(struct ftrace_record *rec, u32 marks)
{
	u32 old = rec->state;

	guard(mutex)(&ftrace_lock);
	WRITE_ONCE(rec->state, marks);
	return old;
}

static void transaction_kunit_expect_quarantine(struct kunit *test)
{
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	unsigned int bits[3] = { 0, 0, TRANSACTION_KUNIT_ALL & ~1 };
	unsigned long ip = transaction_kunit_ips[0];

	/* Every other ops gets an error. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[0].ops), -EFAULT);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[1].ops), -EFAULT);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[2].ops), 0);
	transaction_kunit_expect_all(test, bits, 3);

	/* It is no site, but can be taken away. */
	KUNIT_EXPECT_EQ(test, ftrace_location(ip), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location_any(ip), ip);
	KUNIT_EXPECT_TRUE(test, ftrace_text_reserved((void *)ip, (void *)ip));
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[3].ops, ip, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&u[3].ops, "gcd", strlen("gcd"), 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_why_no_site("gcd", NULL), FTRACE_WORD_QUARANTINE);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[2].ops, ip, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[2].ops, ip, 1, 0), -ENOENT);
	transaction_kunit_expect_all(test, bits, 3);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[2].ops), 0);
}

/* A site differs from its record: a request for it, or for all sites or nothing, fails. */
static void transaction_quarantine(struct kunit *test)
{
	struct transaction_kunit_state before = transaction_kunit_state();
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	struct ftrace_record *rec;
	u8 bytes[MCOUNT_INSN_SIZE];
	u32 marks = 0;

	kunit_needs_poke(test);
	if (before.callset[0])
		kunit_skip(test, "somebody else is attached");
	u[1].ops.flags = FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, transaction_kunit_filter(&u[0], 1), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_filter(&u[1], TRANSACTION_KUNIT_ALL), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_filter(&u[2], TRANSACTION_KUNIT_ALL), 0);
	/* In use, it gets one more site. */
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[3], 2), 0);

	memcpy(bytes, (void *)transaction_kunit_ips[0], sizeof(bytes));
	kunit_poke((void *)transaction_kunit_ips[0], kunit_other);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[3].ops, transaction_kunit_ips[0], 0, 0),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, u[3].ops.filter->only->nr, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[3].ops), 0);
	rec = transaction_kunit_quarantined();
	KUNIT_EXPECT_NOT_NULL(test, rec);
	if (rec) {
		marks = transaction_kunit_mark(rec, FTRACE_STATE_QUARANTINE);
		transaction_kunit_expect_quarantine(test);
		/* An ops that replaced it before still finds it, but no other may replace it. */
		transaction_kunit_mark(rec, FTRACE_STATE_QUARANTINE | FTRACE_STATE_MODIFIED);
		KUNIT_EXPECT_EQ(test, ftrace_location(transaction_kunit_ips[0]),
				transaction_kunit_ips[0]);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&u[3].ops, transaction_kunit_ips[0],
							   0, 0), -EINVAL);
	}

	if (rec)
		transaction_kunit_mark(rec, marks);
	ftrace_kunit_repair(transaction_kunit_ips[0], bytes);
	transaction_kunit_expect_state(test, &before);
}

/* Our CALL was saved, and is written back: it leads to where no ops waits any more. */
static void transaction_call_comes_back(struct kunit *test)
{
	struct transaction_kunit_state before = transaction_kunit_state();
	struct transaction_kunit_ops *u = transaction_kunit_ops;
	unsigned int bits[3] = { 0, 0, TRANSACTION_KUNIT_ALL & ~1 };
	u8 nop[MCOUNT_INSN_SIZE], call[MCOUNT_INSN_SIZE];

	kunit_needs_poke(test);
	if (before.callset[0])
		kunit_skip(test, "somebody else is attached");
	memcpy(nop, (void *)transaction_kunit_ips[0], sizeof(nop));
	KUNIT_ASSERT_EQ(test, transaction_kunit_filter(&u[2], TRANSACTION_KUNIT_ALL), 0);
	KUNIT_ASSERT_EQ(test, transaction_kunit_attach(&u[0], 1), 0);
	memcpy(call, (void *)transaction_kunit_ips[0], sizeof(call));
	kunit_poke((void *)transaction_kunit_ips[0], kunit_other);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[0].ops), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&u[2].ops), 0);

	kunit_poke((void *)transaction_kunit_ips[0], call);
	KUNIT_EXPECT_NOT_NULL(test, transaction_kunit_quarantined());
	transaction_kunit_expect_all(test, bits, 3);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&u[2].ops), 0);
	ftrace_kunit_repair(transaction_kunit_ips[0], nop);
	transaction_kunit_expect_state(test, &before);
}

static struct kunit_case transaction_kunit_cases[] = {
	KUNIT_CASE_PARAM(transaction_two_ops, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_refilter, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_forming, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_forming_refused, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_shares_callsets, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_failure_changes_nothing, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_failure_leaves_no_callset, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_flags, transaction_kunit_flags_gen_params),
	KUNIT_CASE_PARAM(transaction_set_func, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_dynamic_ops, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_waits_for_guest, transaction_kunit_ways_gen_params),
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
	KUNIT_CASE_PARAM(transaction_waits_for_detour, transaction_kunit_ways_gen_params),
#endif
	KUNIT_CASE_PARAM(transaction_list_func_without_regs, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_beside_restless_tasks, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_leaves_nothing, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_while_called, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_quarantine, transaction_kunit_ways_gen_params),
	KUNIT_CASE_PARAM(transaction_call_comes_back, transaction_kunit_ways_gen_params),
	{ }
};

static struct kunit_suite transaction_kunit_suite = {
	.name		= "ftrace_transaction",
	.init		= transaction_kunit_init,
	.exit		= transaction_kunit_exit,
	.test_cases	= transaction_kunit_cases,
};

kunit_test_suite(transaction_kunit_suite);
