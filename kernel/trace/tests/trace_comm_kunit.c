// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the names of tasks that are saved for the trace: a task that has a slot keeps it
 * until the slots that come after it are taken; and of the events and options that have them saved.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace.h>

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

static void comm_kunit_option(struct trace_array *tr, u64 option, int on)
{
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	set_tracer_flag(tr, option, on);
}

static void comm_kunit_event(struct kunit *test, struct trace_array *tr, bool on)
{
	KUNIT_EXPECT_EQ(test, trace_array_set_clr_event(tr, "sched", "sched_process_exec", on), 0);
}

static struct trace_array *comm_kunit_instance(struct kunit *test, const char *name)
{
	struct trace_array *tr = trace_array_get_by_name(name, NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	return tr;
}

static void comm_kunit_remove(struct kunit *test, struct trace_array *tr)
{
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

/* However often it is set, an event is counted once. @all: the option is for all events. */
static void comm_kunit_instances(struct kunit *test, u64 option, bool all, int *users)
{
	struct trace_array *one = comm_kunit_instance(test, "comm_kunit_1");
	struct trace_array *two = comm_kunit_instance(test, "comm_kunit_2");
	int before = *users;

	comm_kunit_option(one, option, 1);
	comm_kunit_option(two, option, 0);
	comm_kunit_event(test, one, true);
	KUNIT_EXPECT_EQ(test, *users, before + 1);
	comm_kunit_option(two, option, 1);
	KUNIT_EXPECT_EQ(test, *users, before + 1);
	comm_kunit_option(two, option, 0);
	KUNIT_EXPECT_EQ(test, *users, before + !all);
	comm_kunit_option(one, option, 0);
	KUNIT_EXPECT_EQ(test, *users, before);
	comm_kunit_option(one, option, 1);
	KUNIT_EXPECT_EQ(test, *users, before + 1);
	comm_kunit_event(test, one, false);
	KUNIT_EXPECT_EQ(test, *users, before);
	comm_kunit_remove(test, one);
	comm_kunit_remove(test, two);
	KUNIT_EXPECT_EQ(test, *users, before);
}

static void comm_record_cmd(struct kunit *test)
{
	/* The option is for the events of all: others' would be counted down. */
	if (sched_cmdline_ref)
		kunit_skip(test, "somebody else has names recorded");
	comm_kunit_instances(test, TRACE_ITER(RECORD_CMD), true, &sched_cmdline_ref);
}

static void comm_record_tgid(struct kunit *test)
{
	comm_kunit_instances(test, TRACE_ITER(RECORD_TGID), false, &sched_tgid_ref);
}

/* trace_printk() is one user, of one instance or of more. */
static void comm_printk(struct kunit *test)
{
	struct trace_array *tr = comm_kunit_instance(test, "comm_kunit_1");
	int before = sched_cmdline_ref;
	bool first;

	/* As the first module with a trace_printk() does. */
	trace_printk_init_buffers();
	first = sched_cmdline_ref != before;
	comm_kunit_option(tr, TRACE_ITER(PRINTK), 0);
	comm_kunit_option(tr, TRACE_ITER(PRINTK), 1);
	before = sched_cmdline_ref;
	trace_printk_start_comm();
	KUNIT_EXPECT_EQ(test, sched_cmdline_ref, before);
	comm_kunit_option(tr, TRACE_ITER(PRINTK), 0);
	trace_printk_start_stop_comm(false);
	KUNIT_EXPECT_EQ(test, sched_cmdline_ref, before - 1);
	trace_printk_start_comm();
	KUNIT_EXPECT_EQ(test, sched_cmdline_ref, before);
	comm_kunit_option(tr, TRACE_ITER(PRINTK), 1);
	KUNIT_EXPECT_EQ(test, sched_cmdline_ref, before);
	if (first)
		trace_printk_start_stop_comm(false);
	comm_kunit_remove(test, tr);
}

static struct kunit_case comm_kunit_cases[] = {
	KUNIT_CASE(comm_slots),
	KUNIT_CASE(comm_same_place),
	KUNIT_CASE(comm_record_cmd),
	KUNIT_CASE(comm_record_tgid),
	KUNIT_CASE(comm_printk),
	{}
};

static struct kunit_suite comm_kunit_suite = {
	.name = "trace_saved_comm",
	.test_cases = comm_kunit_cases,
};

kunit_test_suite(comm_kunit_suite);
