// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of the consequences of a site that cannot be written.
 */
#include "../callset.h"
#include "../sites.h"
#include "kunit.h"

/**
 * struct generic_kunit_ops - an ops that counts the calls of a task
 * @ops: the ops
 * @task: the task
 * @hits: how many there were
 */
struct generic_kunit_ops {
	struct ftrace_ops	ops;
	struct task_struct	*task;
	unsigned int		hits;
};

static void generic_kunit_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	struct generic_kunit_ops *g = container_of(ops, struct generic_kunit_ops, ops);

	if (g->task == current && in_task())
		g->hits++;
}

static struct generic_kunit_ops generic_kunit_lost = { .ops.func = generic_kunit_func };
static struct generic_kunit_ops generic_kunit_next = { .ops.func = generic_kunit_func };

static int generic_kunit_refuse(const struct generic_write *write)
{
	return -EIO;
}

static int generic_kunit_attach(struct generic_kunit_ops *g, unsigned long ip)
{
	g->task = current;
	g->hits = 0;
	return ftrace_set_filter_ip(&g->ops, ip, 0, 0) ?:
	       register_ftrace_function(&g->ops);
}

/* Until the callsets that go have gone. */
static void generic_kunit_wait(void)
{
	for (unsigned int i = 0; i < 500; i++) {
		unsigned int count = 0;
		struct ftrace_callset *cs;
		u32 nr;

		scoped_guard(mutex, &ftrace_lock) {
			for_each_ftrace_callset(cs, nr)
				count++;
		}
		if (count <= 1)
			return;
		msleep(20);
	}
}

/* Site 0, at @ip, goes on calling, though its record says that it is a NOP. */
static void generic_kunit_expect_left(struct kunit *test, unsigned long ip)
{
	struct generic_kunit_ops *lost = &generic_kunit_lost, *next = &generic_kunit_next;

	KUNIT_EXPECT_EQ(test, generic_kunit_attach(next, kunit_site(1)), 0);
	generic_kunit_wait();
	lost->hits = 0;
	kunit_call_site(0);
	/* It must not be taken for a site of the only callset. A word there leads to the old. */
	KUNIT_EXPECT_EQ(test, next->hits, 0);
	if (FTRACE_CALLS_SEARCH)
		KUNIT_EXPECT_EQ(test, lost->hits, 0);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, next->hits, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&next->ops), 0);

	KUNIT_EXPECT_EQ(test, register_ftrace_function(&lost->ops), -EFAULT);
	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_TRUE(test, ftrace_rec_quarantined(ftrace_site_find(ip)));
}

static void generic_kunit_write_nop(unsigned long ip)
{
	struct ftrace_patch *patch;

	guard(mutex)(&ftrace_lock);
	patch = arch_ftrace_patch_begin(1);
	arch_ftrace_patch_move(patch, FTRACE_ADDR, NULL);
	arch_ftrace_patch_add(patch, ip, 0);
	arch_ftrace_patch_end(patch);
}

/* A site that cannot be written is told apart from others, and in quarantine from then on. */
static void generic_failed_write(struct kunit *test)
{
	struct generic_kunit_ops *lost = &generic_kunit_lost;
	bool failed = generic_write_failed, refused;
	unsigned long ip = kunit_site(0);

	if (ftrace_callset_at(ip) || ftrace_callset_at(kunit_site(1)))
		kunit_skip(test, "somebody else is attached");
	KUNIT_ASSERT_EQ(test, generic_kunit_attach(lost, ip), 0);
	WRITE_ONCE(generic_write_failed, false);
	kunit_activate_static_stub(test, generic_write_site, generic_kunit_refuse);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&lost->ops), 0);
	kunit_deactivate_static_stub(test, generic_write_site);
	refused = !arch_ftrace_wrote_all();
	if (refused) {
		generic_kunit_expect_left(test, ip);
		generic_kunit_write_nop(ip);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&lost->ops), -EFAULT);
		ftrace_kunit_repair(ip, NULL);
		lost->hits = 0;
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&lost->ops), 0);
		kunit_call_site(0);
		KUNIT_EXPECT_EQ(test, lost->hits, 1);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&lost->ops), 0);
	}
	ftrace_free_filter(&lost->ops);
	ftrace_free_filter(&generic_kunit_next.ops);
	WRITE_ONCE(generic_write_failed, failed);
	if (!refused)
		kunit_skip(test, "another task writes, to which the stub does not apply");
}

static struct kunit_case generic_kunit_cases[] = {
	KUNIT_CASE(generic_failed_write),
	{ }
};

static struct kunit_suite generic_kunit_suite = {
	.name		= "ftrace_generic",
	.test_cases	= generic_kunit_cases,
};

kunit_test_suite(generic_kunit_suite);
