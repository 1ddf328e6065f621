// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of fprobes on callsets, of cases that lib/tests/test_fprobe.c leaves out: several
 * hooks on one call, unwinding through hooks, and probes that go while tasks are inside.
 *
 * The probes are allocated, so that KASAN sees a use after the free.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kthread.h>
#include <linux/stacktrace.h>

#include "kunit.h"

#define FPROBE_KUNIT_FRAMES	32

/**
 * struct fprobe_kunit - a probe, and the calls of one task that its handlers saw
 * @fp: the probe
 * @task: whose calls count
 * @entries: calls of the entry handler
 * @exits: calls of the exit handler
 * @cancel: the value that the entry handler returns
 * @ret_ip: where the last call returns to
 * @retval: the value that it returned
 * @unwound: the exit handler found @ret_ip in its own stack trace
 */
struct fprobe_kunit {
	struct fprobe		fp;
	struct task_struct	*task;
	unsigned int		entries;
	unsigned int		exits;
	int			cancel;
	unsigned long		ret_ip;
	unsigned long		retval;
	bool			unwound;
};

static bool fprobe_kunit_is_hook(unsigned long ip)
{
	return ip == FTRACE_RETURN_HANDLER;
}

/* Counters outside of the probes: a handler that runs too late must not write to a probe. */
static unsigned int fprobe_kunit_late;

static int fprobe_kunit_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			      struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit *probe = container_of(fp, struct fprobe_kunit, fp);

	if (current != probe->task)
		return 1;
	if (data)
		*(unsigned long *)data = ip;
	probe->ret_ip = ret_ip;
	WRITE_ONCE(probe->entries, probe->entries + 1);
	return probe->cancel;
}

static void fprobe_kunit_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			      struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit *probe = container_of(fp, struct fprobe_kunit, fp);
	unsigned long frames[FPROBE_KUNIT_FRAMES];
	unsigned int nr;

	fprobe_kunit_late++;
	if (current != probe->task || (data && *(unsigned long *)data != ip))
		return;
	probe->exits++;
	probe->ret_ip = ret_ip;
	probe->retval = ftrace_regs_get_return_value(fregs);
	nr = stack_trace_save(frames, FPROBE_KUNIT_FRAMES, 0);
	for (unsigned int i = 0; i < nr; i++)
		probe->unwound |= frames[i] == ret_ip;
}

static struct fprobe_kunit *fprobe_kunit_new(struct kunit *test)
{
	struct fprobe_kunit *probe = kunit_kzalloc(test, sizeof(*probe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, probe);
	probe->fp.entry_handler = fprobe_kunit_entry;
	probe->fp.exit_handler = fprobe_kunit_exit;
	probe->fp.entry_data_size = sizeof(unsigned long);
	probe->task = current;
	return probe;
}

/* Three hooks on one call: all see it, and all know where it returns to. */
static void fprobe_same_function(struct kunit *test)
{
	struct fprobe_kunit *probe[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		probe[i] = fprobe_kunit_new(test);
		KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe[i]->fp, "gcd", NULL));
	}
	/* The compiler believes that the functions called here depend on their arguments alone. */
	WRITE_ONCE(probe[1]->cancel, 1);
	kunit_call_site(0);
	WRITE_ONCE(probe[1]->cancel, 0);
	kunit_call_site(0);
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++)
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe[i]->fp));

	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		KUNIT_EXPECT_EQ(test, 2, probe[i]->entries);
		KUNIT_EXPECT_EQ(test, i == 1 ? 1 : 2, probe[i]->exits);
		KUNIT_EXPECT_EQ(test, kunit_result, probe[i]->retval);
		KUNIT_EXPECT_EQ(test, probe[0]->ret_ip, probe[i]->ret_ip);
		KUNIT_EXPECT_FALSE(test, fprobe_kunit_is_hook(probe[i]->ret_ip));
		KUNIT_EXPECT_TRUE(test, probe[i]->unwound);
		KUNIT_EXPECT_EQ(test, 0, probe[i]->fp.nmissed);
	}
}

/**
 * struct fprobe_kunit_other - an ops that does not hook returns
 * @ops: the ops
 * @task: whose calls count
 * @parent_ip: the caller that it was told last
 */
struct fprobe_kunit_other {
	struct ftrace_ops	ops;
	struct task_struct	*task;
	unsigned long		parent_ip;
};

static void fprobe_kunit_other_func(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe_kunit_other *other = container_of(ops, struct fprobe_kunit_other, ops);

	if (READ_ONCE(other->task) == current)
		other->parent_ip = parent_ip;
}

/* Ops between and after probes that hook the return are told the same caller as these. */
static void fprobe_kunit_parent(struct kunit *test, bool entry)
{
	static struct fprobe_kunit_other other[3];
	struct fprobe_kunit *probe[2];

	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = (struct fprobe_kunit_other) {
			.ops.func	= fprobe_kunit_other_func,
			.task		= current,
		};
		KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&other[i].ops, kunit_site(0), 0, 1));
		KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(&other[i].ops));
		if (i >= ARRAY_SIZE(probe))
			break;
		probe[i] = fprobe_kunit_new(test);
		if (!entry)
			probe[i]->fp.entry_handler = NULL;
		probe[i]->fp.entry_data_size = 0;
		KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe[i]->fp, "gcd", NULL));
	}
	kunit_call_site(0);
	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++) {
		KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&other[i].ops));
		ftrace_free_filter(&other[i].ops);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe[i]->fp));
		KUNIT_EXPECT_EQ(test, 1, probe[i]->exits);
		KUNIT_EXPECT_EQ(test, other[0].parent_ip, probe[i]->ret_ip);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++)
		KUNIT_EXPECT_EQ(test, other[0].parent_ip, other[i].parent_ip);
}

static void fprobe_same_parent(struct kunit *test)
{
	fprobe_kunit_parent(test, true);
	fprobe_kunit_parent(test, false);
}

static void fprobe_same_parent_list(struct kunit *test)
{
	ftrace_kunit_forbid_tramps(true);
	fprobe_kunit_parent(test, true);
	fprobe_kunit_parent(test, false);
	ftrace_kunit_forbid_tramps(false);
}

/* Either handler may be missing. */
static void fprobe_one_side(struct kunit *test)
{
	struct fprobe_kunit *entry = fprobe_kunit_new(test), *exit = fprobe_kunit_new(test);

	entry->fp.exit_handler = NULL;
	exit->fp.entry_handler = NULL;
	exit->fp.entry_data_size = 0;
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&entry->fp, "gcd", NULL));
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&exit->fp, "int_pow", NULL));
	kunit_call_site(0);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&entry->fp));
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&exit->fp));

	KUNIT_EXPECT_EQ(test, 1, entry->entries);
	KUNIT_EXPECT_EQ(test, 1, exit->exits);
	KUNIT_EXPECT_EQ(test, kunit_result, exit->retval);
	KUNIT_EXPECT_TRUE(test, exit->unwound);
}

/* Tasks that sleep in a probed function */

static int fprobe_kunit_sleeper(void *data)
{
	wait_for_completion(data);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

/* True once the task sleeps in there. */
static bool fprobe_kunit_wait_for_entry(struct fprobe_kunit *probe)
{
	for (unsigned int i = 0; i < 250; i++) {
		/* Zero while it is still on its way from the entry to its sleep. */
		if (READ_ONCE(probe->entries) &&
		    wait_task_inactive(probe->task, TASK_UNINTERRUPTIBLE))
			return true;
		msleep(20);
	}
	return false;
}

/* Whether a trace of the task shows the hooked call's real caller, and no hook. */
static bool fprobe_kunit_unwinds(struct task_struct *task, unsigned long ret_ip)
{
	unsigned long frames[FPROBE_KUNIT_FRAMES];
	bool found = false;
	unsigned int nr;

	nr = stack_trace_save_tsk(task, frames, FPROBE_KUNIT_FRAMES, 0);
	for (unsigned int i = 0; i < nr; i++) {
		if (fprobe_kunit_is_hook(frames[i]))
			return false;
		found |= frames[i] == ret_ip;
	}
	return found;
}

/* Unregisters before or after the call returns; either way it has to return. */
static void fprobe_kunit_sleep(struct kunit *test, bool leave_first)
{
	struct fprobe_kunit *probe = fprobe_kunit_new(test);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;
	unsigned long ret_ip;
	unsigned int late;

	task = kthread_create(fprobe_kunit_sleeper, &wake, "fprobe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	probe->task = task;
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe->fp, "wait_for_completion", NULL));
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_wait_for_entry(probe));
	ret_ip = probe->ret_ip;
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, ret_ip));

	if (leave_first) {
		complete(&wake);
		kthread_stop(task);
		KUNIT_EXPECT_EQ(test, 1, probe->exits);
	}
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe->fp));
	late = fprobe_kunit_late;
	kunit_kfree(test, probe);
	if (!leave_first) {
		KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, ret_ip));
		complete(&wake);
		kthread_stop(task);
	}
	KUNIT_EXPECT_EQ(test, late, fprobe_kunit_late);
}

static void fprobe_unregister_after(struct kunit *test)
{
	fprobe_kunit_sleep(test, true);
}

static void fprobe_unregister_inside(struct kunit *test)
{
	fprobe_kunit_sleep(test, false);
}

struct fprobe_kunit_host {
	struct fprobe		fp;
	struct kunit_guest	guest;
};

static int fprobe_kunit_host_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct ftrace_regs *fregs, void *data)
{
	kunit_guest_stay(&container_of(fp, struct fprobe_kunit_host, fp)->guest);
	return 0;
}

static void fprobe_kunit_host_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct ftrace_regs *fregs, void *data)
{
	kunit_guest_stay(&container_of(fp, struct fprobe_kunit_host, fp)->guest);
}

/* Handlers that run, at entries and at exits, are waited for. */
static void fprobe_waits_for_guest(struct kunit *test)
{
	struct fprobe_kunit_host *host;
	struct task_struct *task;
	unsigned long ip;

	for (unsigned int i = 0; i < 2; i++) {
		host = kzalloc_obj(*host);
		KUNIT_ASSERT_NOT_NULL(test, host);
		if (i)
			host->fp.exit_handler = fprobe_kunit_host_exit;
		else
			host->fp.entry_handler = fprobe_kunit_host_entry;
		ip = kunit_site(0);
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&host->fp, &ip, 1), 0);
		task = kunit_guest_begin(test, &host->guest);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&host->fp), 0);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(host->guest.left));
		kunit_guest_end(task);
		memset(host, 0x6b, sizeof(*host));
		kfree(host);
	}
}

static struct kunit_case fprobe_kunit_cases[] = {
	KUNIT_CASE(fprobe_same_function),
	KUNIT_CASE(fprobe_same_parent),
	KUNIT_CASE(fprobe_same_parent_list),
	KUNIT_CASE(fprobe_one_side),
	KUNIT_CASE(fprobe_unregister_after),
	KUNIT_CASE(fprobe_unregister_inside),
	KUNIT_CASE(fprobe_waits_for_guest),
	{ }
};

static struct kunit_suite fprobe_kunit_suite = {
	.name		= "ftrace_fprobe",
	.test_cases	= fprobe_kunit_cases,
};

kunit_test_suite(fprobe_kunit_suite);
