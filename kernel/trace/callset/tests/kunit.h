/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers that the KUnit suites of function tracing share.
 *
 * They are built into the file that they test, and run on a kernel that is in
 * use. So they
 *
 *  - attach only to the functions below, which are called seldom, and count
 *    only the calls of the task that a test names;
 *  - hold ftrace_lock while objects exist that a transaction of another task
 *    would find. A KUNIT_ASSERT ends the test's task on the spot: no lock may
 *    be held at one.
 */
#ifndef _KERNEL_TRACE_TESTS_FTRACE_KUNIT_H
#define _KERNEL_TRACE_TESTS_FTRACE_KUNIT_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/math.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/types.h>

#ifdef CONFIG_X86
#include <asm/text-patching.h>
#endif

/* Three functions that are cheap, call no other site, and are never inlined. */
#define KUNIT_NR_SITES	3

static unsigned long kunit_operand = 12;
static unsigned long kunit_result;

/* gcd() is a const function: only an operand that may change makes it called. */
static __maybe_unused void kunit_call_site(unsigned int i)
{
	switch (i) {
	case 0:
		WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
		break;
	case 1:
		WRITE_ONCE(kunit_result, int_pow(READ_ONCE(kunit_operand), 2));
		break;
	case 2:
		WRITE_ONCE(kunit_result, int_sqrt(READ_ONCE(kunit_operand)));
		break;
	}
}

/* Addresses without code, for tables that are in no map. */
#define KUNIT_NOWHERE	((unsigned long)(IS_ENABLED(CONFIG_64BIT) ?			\
				 0xffff123400000000ULL : 0xf0000000))

/* A module that is nowhere: it has a name, and the members that the test sets. */
static __maybe_unused struct module *kunit_module(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	strscpy(mod->name, "ftrace_kunit");
	return mod;
}

static __maybe_unused unsigned long kunit_site(unsigned int i)
{
	void *func[KUNIT_NR_SITES] = { gcd, int_pow, int_sqrt };

	return ftrace_location((unsigned long)func[i]);
}

/* Bytes that neither the compiler nor the tracer leaves at a site. */
static const u8 kunit_other[MCOUNT_INSN_SIZE] __maybe_unused = {
	[0 ... MCOUNT_INSN_SIZE - 1] = 0x90
};

/* Before a test that writes text. Each architecture does that in another way. */
static __maybe_unused void kunit_needs_poke(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "the test writes the text of x86 only");
}

/*
 * Puts bytes where a site is. It may run meanwhile: both are NOPs, or calls that
 * return. While the site is in quarantine kunit_site() does not find it.
 */
static __maybe_unused void kunit_poke(void *site, const void *bytes)
{
#ifdef CONFIG_X86
	guard(mutex)(&text_mutex);
	text_poke(site, bytes, MCOUNT_INSN_SIZE);
	smp_text_poke_sync_each_cpu();
#endif
}

/* A guest stays inside of a callback for a while. */

/**
 * struct kunit_guest - a task that calls site 0 once, and its progress
 * @task: the task
 * @until: it stays until then, in jiffies. A timer could not tell it to leave where
 *	   preemption is off, with PREEMPT_RT
 * @inside: it has entered
 * @left: it leaves
 */
struct kunit_guest {
	struct task_struct	*task;
	unsigned long		until;
	bool			inside;
	bool			left;
};

/* The callback calls this, in any task. */
static __maybe_unused void kunit_guest_stay(struct kunit_guest *guest)
{
	if (READ_ONCE(guest->task) != current || !in_task())
		return;
	WRITE_ONCE(guest->inside, true);
	while (time_before(jiffies, guest->until))
		cpu_relax();
	WRITE_ONCE(guest->left, true);
}

static __maybe_unused int kunit_guest_thread(void *data)
{
	struct kunit_guest *guest = data;

	guest->until = jiffies + HZ / 5;
	WRITE_ONCE(guest->task, current);
	kunit_call_site(0);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/* Returns once the guest is inside; the task is to be given to kunit_guest_end(). */
static __maybe_unused struct task_struct *kunit_guest_begin(struct kunit *test,
							    struct kunit_guest *guest)
{
	struct task_struct *task;

	task = kthread_run(kunit_guest_thread, guest, "ftrace_kunit_guest");
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, task);
	if (IS_ERR(task))
		return NULL;
	for (unsigned int i = 0; i < 500 && !READ_ONCE(guest->inside); i++)
		msleep(20);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(guest->inside));
	return task;
}

static __maybe_unused void kunit_guest_end(struct task_struct *task)
{
	if (task)
		kthread_stop(task);
}

/* callset_kunit.c */

void ftrace_kunit_forbid_tramps(bool forbid);
void ftrace_kunit_forbid_lists(struct kunit *test, bool forbid);
void ftrace_kunit_count_tramps(bool many);
void ftrace_kunit_repair(unsigned long ip, const void *nop);

/* The context of an entry, as tracing_gen_ctx() returns it. */
static inline unsigned int ftrace_kunit_entry_ctx(const struct trace_entry *entry)
{
	return entry->flags << 16 | entry->preempt_count;
}

#endif /* _KERNEL_TRACE_TESTS_FTRACE_KUNIT_H */
