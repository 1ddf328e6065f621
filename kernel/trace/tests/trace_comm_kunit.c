// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the names of tasks that are saved for the trace: a task that has a slot keeps it
 * until the slots that come after it are taken.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/string.h>

/* The numbers of tasks that are not there, all below PID_MAX_DEFAULT. */
#define COMM_KUNIT_FIRST	16384

static void comm_kunit_save(struct kunit *test, struct task_struct *task, int pid)
{
	int saved = 0;

	task->pid = pid;
	snprintf(task->comm, sizeof(task->comm), "kunit-%d", pid);
	/* Others may have the lock. */
	for (unsigned int i = 0; i < 100000 && !saved; i++) {
		preempt_disable();
		saved = trace_save_cmdline(task);
		preempt_enable();
	}
	KUNIT_EXPECT_TRUE_MSG(test, saved, "pid %d", pid);
}

static void comm_kunit_expect(struct kunit *test, int pid)
{
	char comm[TASK_COMM_LEN], want[TASK_COMM_LEN];

	snprintf(want, sizeof(want), "kunit-%d", pid);
	trace_find_cmdline(pid, comm);
	KUNIT_EXPECT_STREQ(test, comm, want);
}

/* All slots change hands, and a task that had one comes back. */
static void comm_slots(struct kunit *test)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	unsigned int nr = savedcmd->cmdline_num;
	int last = COMM_KUNIT_FIRST + nr;

	KUNIT_ASSERT_NOT_NULL(test, task);
	if (last >= PID_MAX_DEFAULT)
		kunit_skip(test, "there are %u slots", nr);

	/* The last one takes the slot of the first. */
	for (int pid = COMM_KUNIT_FIRST; pid <= last; pid++)
		comm_kunit_save(test, task, pid);
	comm_kunit_save(test, task, COMM_KUNIT_FIRST);
	comm_kunit_expect(test, COMM_KUNIT_FIRST);
	comm_kunit_expect(test, last);
	comm_kunit_expect(test, last - 1);
}

/* Two whose numbers have the same place take one slot in turn, not all of them. */
static void comm_same_place(struct kunit *test)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	int other = COMM_KUNIT_FIRST + 1, pid[2] = { COMM_KUNIT_FIRST };

	KUNIT_ASSERT_NOT_NULL(test, task);
	pid[1] = pid[0] + PID_MAX_DEFAULT;
	comm_kunit_save(test, task, other);
	for (unsigned int i = 0; i < 2 * savedcmd->cmdline_num; i++)
		comm_kunit_save(test, task, pid[i % 2]);
	comm_kunit_expect(test, pid[1]);
	comm_kunit_expect(test, other);
}

static struct kunit_case comm_kunit_cases[] = {
	KUNIT_CASE(comm_slots),
	KUNIT_CASE(comm_same_place),
	{}
};

static struct kunit_suite comm_kunit_suite = {
	.name = "trace_saved_comm",
	.test_cases = comm_kunit_cases,
};

kunit_test_suite(comm_kunit_suite);
