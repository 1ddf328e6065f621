// SPDX-License-Identifier: GPL-2.0
/*
 * Watches callbacks of modules that are unloaded: whether one runs after it was detached. It
 * stays loaded, and its memory for a user of function tracing is kept until it goes itself,
 * so that a late callback finds it. debugfs has detach/counts, a line for each kind of user:
 *
 *	KIND users calls preempted found after inside longest
 *
 *	users      attached and detached
 *	calls      of their callbacks
 *	preempted  calls in which the task lost its CPU
 *	found      detaches that began while a call was on its way
 *	after      calls that began or ended after the detach had returned
 *	inside     detaches that returned while a call was on its way
 *	longest    time that a detach took, in us
 *
 * and lines "stale N", callbacks that found their own memory freed, and "held N", tasks that are in
 * a callback now because of detach/hold: as long as this file has Y, callbacks do not end.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include "watch.h"

/* As in enum watch_kind */
static const char * const kind_names[WATCH_KINDS] = {
	"plain", "regs", "recursion", "rcu", "all-help",
	"fprobe", "fprobe-exit", "kretprobe", "graph",
};

static struct {
	atomic_t users, calls, preempted, found, after, inside;
	u64 longest;
} counts[WATCH_KINDS];
static atomic_t stale, held;
static bool hold;

/* One user that was attached at some time; live until its detach has returned. */
struct watch {
	struct list_head list;
	enum watch_kind kind;
	atomic_t inside;
	bool live;
	/* Set while a detach waits for a call to linger. */
	atomic_t wanted;
};

static LIST_HEAD(watches);
static DEFINE_MUTEX(watches_lock);

/* One call in so many takes its time, long if its task can be preempted meanwhile. */
static unsigned int often = 32;
module_param(often, uint, 0);
MODULE_PARM_DESC(often, "one call in so many is delayed");

enum { DELAY_US = 3000, SHORT_US = 10, STEP_US = 20 };
/* How long a call lingers while its user is detached: longer than it takes to switch the sites. */
enum { LINGER_MS = 300, LINGER_ATOMIC_MS = 50 };

/* Has no state that others write: nothing is to order the callers. */
static u32 random_bits(void)
{
	return hash_64(get_cycles() ^ (unsigned long)current, 32);
}

static void delay(void)
{
	u32 random = random_bits();
	unsigned int us;

	if (random % often)
		return;
	us = (random >> 8) % (preemptible() ? DELAY_US : SHORT_US);
	for (; us > STEP_US; us -= STEP_US)
		udelay(STEP_US);
	udelay(us);
}

/* Stays in the callback until it is time to go, or the detach has returned, which it must not. */
static void linger(struct watch *watch)
{
	u64 ms = preemptible() ? LINGER_MS : LINGER_ATOMIC_MS;
	u64 end = ktime_get_mono_fast_ns() + ms * NSEC_PER_MSEC;

	while (READ_ONCE(watch->live) && ktime_get_mono_fast_ns() < end)
		cpu_relax();
}

static bool lingers(struct watch *watch)
{
	if (!atomic_read(&watch->wanted) || !in_task() || irqs_disabled() || rt_task(current))
		return false;
	return atomic_cmpxchg(&watch->wanted, 1, 0) == 1;
}

/* Called before a user is attached. */
struct watch *watch_open(enum watch_kind kind)
{
	struct watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);

	if (!watch)
		return NULL;
	watch->kind = kind;
	watch->live = true;
	guard(mutex)(&watches_lock);
	list_add(&watch->list, &watches);
	return watch;
}
EXPORT_SYMBOL_GPL(watch_open);

static void stay(void)
{
	atomic_inc(&held);
	while (READ_ONCE(hold))
		cpu_relax();
	atomic_dec(&held);
}

/* Called by a callback, in any context. */
void watch_call(struct watch *watch)
{
	unsigned long switches = current->nivcsw;
	bool after = !READ_ONCE(watch->live);

	atomic_inc(&watch->inside);
	if (READ_ONCE(hold) && in_task() && !irqs_disabled())
		stay();
	else if (lingers(watch))
		linger(watch);
	else
		delay();
	after |= !READ_ONCE(watch->live);
	atomic_dec(&watch->inside);

	atomic_inc(&counts[watch->kind].calls);
	if (in_task() && current->nivcsw != switches)
		atomic_inc(&counts[watch->kind].preempted);
	if (after)
		atomic_inc(&counts[watch->kind].after);
}
EXPORT_SYMBOL_GPL(watch_call);

/* Called by a callback that finds its memory freed. */
void watch_stale(void)
{
	atomic_inc(&stale);
}
EXPORT_SYMBOL_GPL(watch_stale);

static bool has_call(struct watch *watch, bool lingering)
{
	return lingering ? !atomic_read(&watch->wanted) : atomic_read(&watch->inside);
}

/* Called before a detach; waits until a call is on its way, every other time one that lingers. */
void watch_detaching(struct watch *watch)
{
	bool lingering = random_bits() % 2;

	atomic_set(&watch->wanted, lingering);
	for (int i = 0; i < 100 && !has_call(watch, lingering); i++)
		usleep_range(100, 500);
	if (atomic_read(&watch->inside))
		atomic_inc(&counts[watch->kind].found);
}
EXPORT_SYMBOL_GPL(watch_detaching);

/* Called as soon as a detach has returned; it took so long. */
void watch_detached(struct watch *watch, u64 ns)
{
	WRITE_ONCE(watch->live, false);
	if (atomic_read(&watch->inside))
		atomic_inc(&counts[watch->kind].inside);

	guard(mutex)(&watches_lock);
	atomic_inc(&counts[watch->kind].users);
	counts[watch->kind].longest = max(counts[watch->kind].longest, ns);
}
EXPORT_SYMBOL_GPL(watch_detached);

static int counts_show(struct seq_file *m, void *unused)
{
	for (int k = 0; k < WATCH_KINDS; k++)
		seq_printf(m, "%s %d %d %d %d %d %d %llu\n", kind_names[k],
			   atomic_read(&counts[k].users), atomic_read(&counts[k].calls),
			   atomic_read(&counts[k].preempted), atomic_read(&counts[k].found),
			   atomic_read(&counts[k].after), atomic_read(&counts[k].inside),
			   counts[k].longest / NSEC_PER_USEC);
	seq_printf(m, "stale %d\nheld %d\n", atomic_read(&stale), atomic_read(&held));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static struct dentry *directory;

static int __init watch_init(void)
{
	directory = debugfs_create_dir("detach", NULL);
	debugfs_create_file("counts", 0400, directory, NULL, &counts_fops);
	debugfs_create_bool("hold", 0600, directory, &hold);
	return 0;
}
module_init(watch_init);

static void __exit watch_exit(void)
{
	struct watch *watch, *next;

	debugfs_remove(directory);
	list_for_each_entry_safe(watch, next, &watches, list)
		kfree(watch);
}
module_exit(watch_exit);

MODULE_DESCRIPTION("Watches callbacks for calls after their detach");
MODULE_LICENSE("GPL");
