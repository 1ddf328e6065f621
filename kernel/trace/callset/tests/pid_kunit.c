// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the pid lists and of the tasks' bits.
 *
 * The trace arrays here are of no use but to own lists: nothing is attached for
 * them. Lists that own no slot are known to the test alone; for those that do,
 * the bits of all tasks in the system are set, and no lists remain.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "kunit.h"

/* Neither the first nor the last bit, so that both neighbours show. */
#define PID_KUNIT_SLOT	5

static struct trace_array *pid_kunit_tr(struct kunit *test)
{
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	return tr;
}

static void pid_kunit_free_lists(void *data)
{
	struct ftrace_pid_lists *lists = data;

	for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++)
		trace_pid_list_free(lists->pids[kind]);
	kfree(lists);
}

/* Lists that no task is told of. */
static struct ftrace_pid_lists *pid_kunit_lists(struct kunit *test)
{
	struct trace_array *tr = pid_kunit_tr(test);
	struct ftrace_pid_lists *lists;

	scoped_guard(mutex, &ftrace_pid_mutex)
		lists = pid_lists_alloc(tr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, lists);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, pid_kunit_free_lists, lists), 0);
	lists->slot = PID_KUNIT_SLOT;
	return lists;
}

static struct trace_pid_list *pid_kunit_new(const unsigned int *pids, unsigned int nr)
{
	struct trace_pid_list *new = trace_pid_list_alloc();

	for (unsigned int i = 0; new && i < nr; i++) {
		if (trace_pid_list_set(new, pids[i])) {
			trace_pid_list_free(new);
			return NULL;
		}
	}
	return new;
}

/* Adds a pid to a list, which need not exist. */
static void pid_kunit_set(struct kunit *test, struct ftrace_pid_lists *lists,
			  enum ftrace_pid_kind kind, unsigned int pid)
{
	if (!lists->pids[kind])
		lists->pids[kind] = trace_pid_list_alloc();
	KUNIT_ASSERT_NOT_NULL(test, lists->pids[kind]);
	KUNIT_EXPECT_EQ(test, trace_pid_list_set(lists->pids[kind], pid), 0);
}

/* As if @nr pids had been written to a file. */
static int pid_kunit_add(struct trace_array *tr, enum ftrace_pid_kind kind,
			 const unsigned int *pids, unsigned int nr)
{
	struct trace_pid_list *new = pid_kunit_new(pids, nr);
	int ret = new ? ftrace_pid_add(tr, kind, new) : -ENOMEM;

	if (ret)
		trace_pid_list_free(new);
	return ret;
}

static bool pid_kunit_ignore(struct ftrace_pid_lists *lists, pid_t pid)
{
	static struct task_struct task;

	task.pid = pid;
	pid_lists_judge(lists, &task);
	return task.ftrace_pid_ignored & BIT(PID_KUNIT_SLOT);
}

/* Both lists may exist or not, and have the task's pid or another one's. */
static void pid_ignore(struct kunit *test)
{
	const pid_t pid = 100;

	for (unsigned int bits = 0; bits < 16; bits++) {
		struct ftrace_pid_lists *lists = pid_kunit_lists(test);
		bool only = bits & 1, not = bits & 2, in_only = bits & 4, in_not = bits & 8;

		if (only)
			pid_kunit_set(test, lists, FTRACE_PID_ONLY, in_only ? pid : pid + 1);
		if (not)
			pid_kunit_set(test, lists, FTRACE_PID_NOT, in_not ? pid : pid - 1);
		KUNIT_EXPECT_EQ_MSG(test, pid_kunit_ignore(lists, pid),
				    (only && !in_only) || (not && in_not), "case %u", bits);
	}
}

/* A list whose tasks are all gone still is one. */
static void pid_ignore_empty(struct kunit *test)
{
	struct ftrace_pid_lists *lists = pid_kunit_lists(test);

	pid_kunit_set(test, lists, FTRACE_PID_NOT, 2);
	trace_pid_list_clear(lists->pids[FTRACE_PID_NOT], 2);
	KUNIT_EXPECT_FALSE(test, pid_kunit_ignore(lists, 1));
	pid_kunit_set(test, lists, FTRACE_PID_ONLY, 2);
	trace_pid_list_clear(lists->pids[FTRACE_PID_ONLY], 2);
	KUNIT_EXPECT_TRUE(test, pid_kunit_ignore(lists, 1));
}

/* One bit follows the lists, and the others stay. */
static void pid_judge(struct kunit *test)
{
	static const unsigned long words[] = {
		0, ULONG_MAX, BIT(PID_KUNIT_SLOT), ~BIT(PID_KUNIT_SLOT),
		BIT(PID_KUNIT_SLOT - 1), BIT(PID_KUNIT_SLOT + 1),
	};
	struct ftrace_pid_lists *lists = pid_kunit_lists(test);
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, task);
	pid_kunit_set(test, lists, FTRACE_PID_NOT, 7);

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		task->ftrace_pid_ignored = words[i];
		task->pid = 7;
		pid_lists_judge(lists, task);
		KUNIT_EXPECT_EQ(test, task->ftrace_pid_ignored, words[i] | BIT(PID_KUNIT_SLOT));

		task->pid = 8;
		pid_lists_judge(lists, task);
		KUNIT_EXPECT_EQ(test, task->ftrace_pid_ignored, words[i] & ~BIT(PID_KUNIT_SLOT));
	}
}

static void pid_kunit_expect(struct kunit *test, struct ftrace_pid_lists *lists, pid_t pid,
			     bool only, bool not)
{
	KUNIT_EXPECT_EQ(test, trace_pid_list_is_set(lists->pids[FTRACE_PID_ONLY], pid), only);
	KUNIT_EXPECT_EQ(test, trace_pid_list_is_set(lists->pids[FTRACE_PID_NOT], pid), not);
}

/* A child goes where its parent is. */
static void pid_follow(struct kunit *test)
{
	for (unsigned int bits = 0; bits < 16; bits++) {
		struct ftrace_pid_lists *lists = pid_kunit_lists(test);

		for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++) {
			if (bits & BIT(kind))
				pid_kunit_set(test, lists, kind, bits & BIT(kind + 2) ? 10 : 9);
		}
		pid_lists_add_child(lists, 10, 11);
		pid_kunit_expect(test, lists, 11, (bits & 5) == 5, (bits & 10) == 10);
		pid_lists_add_child(lists, 12, 13);
		pid_kunit_expect(test, lists, 13, false, false);
	}
}

/* Pids that cannot be added take nothing with them. */
static void pid_add_fails(struct kunit *test)
{
	const unsigned int first = current->pid;
	struct trace_array *tr = pid_kunit_tr(test);
	struct trace_pid_list *new;
	unsigned long bit;

	KUNIT_EXPECT_EQ(test, pid_kunit_add(tr, FTRACE_PID_ONLY, &first, 1), 0);
	bit = tr->callset.pid_bit;

	/* One without memory for a pid. */
	new = kzalloc_obj(*new);
	KUNIT_EXPECT_NOT_NULL(test, new);
	if (new) {
		raw_spin_lock_init(&new->lock);
		seqcount_raw_spinlock_init(&new->seqcount, &new->lock);
		KUNIT_EXPECT_EQ(test, ftrace_pid_add(tr, FTRACE_PID_ONLY, new), -ENOMEM);
		kfree(new);
	}
	KUNIT_EXPECT_EQ(test, tr->callset.pid_bit, bit);
	KUNIT_EXPECT_TRUE(test, ftrace_pid_wants_current(tr));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(kthreadd_task->ftrace_pid_ignored) & bit);
	ftrace_clear_pids(tr);
}

/* The order and the ends of a file's lines. */
static void pid_seq(struct kunit *test)
{
	static const unsigned int pids[] = { 0, 1, 63, 64, PID_MAX_LIMIT, (1 << 30) - 1 };
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct ftrace_pid_lists *lists = pid_kunit_lists(test);
	struct seq_file m = { .size = 64, .private = lists->tr, .file = file };
	char want[64];
	int len = 0;

	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	KUNIT_ASSERT_NOT_NULL(test, file);
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++) {
		len += scnprintf(want + len, sizeof(want) - len, "%u\n", pids[i]);
		pid_kunit_set(test, lists, FTRACE_PID_NOT, pids[i]);
	}

	lists->tr->callset.pids = lists;
	file->f_op = &ftrace_pid_fops[FTRACE_PID_NOT];
	KUNIT_EXPECT_EQ(test, ftrace_pid_show(&m, NULL), 0);
	KUNIT_EXPECT_STREQ(test, m.buf, want);

	memset(m.buf, 0, m.count);
	m.count = 0;
	file->f_op = &ftrace_pid_fops[FTRACE_PID_ONLY];
	KUNIT_EXPECT_EQ(test, ftrace_pid_show(&m, NULL), 0);
	KUNIT_EXPECT_STREQ(test, m.buf, "no pid\n");
	lists->tr->callset.pids = NULL;
}

static bool pid_kunit_ignored(const struct trace_array *tr, const struct task_struct *task)
{
	return READ_ONCE(task->ftrace_pid_ignored) & tr->callset.pid_bit;
}

/* Tasks that exist learn of lists that come and go. */
static void pid_lists_come_and_go(struct kunit *test)
{
	struct trace_array *tr = pid_kunit_tr(test);
	unsigned int pid = current->pid, idle = 0;
	struct task_struct *idler = idle_task(0);
	unsigned long bit;

	KUNIT_EXPECT_TRUE(test, ftrace_pid_wants_current(tr));

	KUNIT_EXPECT_EQ(test, pid_kunit_add(tr, FTRACE_PID_ONLY, &pid, 1), 0);
	bit = tr->callset.pid_bit;
	KUNIT_EXPECT_EQ(test, hweight_long(bit), 1);
	KUNIT_EXPECT_TRUE(test, ftrace_pid_wants_current(tr));
	KUNIT_EXPECT_TRUE(test, pid_kunit_ignored(tr, kthreadd_task));
	KUNIT_EXPECT_TRUE(test, pid_kunit_ignored(tr, idler));

	KUNIT_EXPECT_EQ(test, pid_kunit_add(tr, FTRACE_PID_ONLY, &idle, 1), 0);
	KUNIT_EXPECT_FALSE(test, pid_kunit_ignored(tr, idler));
	KUNIT_EXPECT_TRUE(test, ftrace_pid_wants_current(tr));

	/* A task on both lists is left out. */
	KUNIT_EXPECT_EQ(test, pid_kunit_add(tr, FTRACE_PID_NOT, &pid, 1), 0);
	KUNIT_EXPECT_FALSE(test, ftrace_pid_wants_current(tr));

	ftrace_pid_clear(tr, FTRACE_PID_ONLY, false);
	KUNIT_EXPECT_FALSE(test, ftrace_pid_wants_current(tr));
	KUNIT_EXPECT_FALSE(test, pid_kunit_ignored(tr, kthreadd_task));

	/* It is not empty, so it stays. */
	ftrace_pid_clear(tr, FTRACE_PID_NOT, true);
	KUNIT_EXPECT_FALSE(test, ftrace_pid_wants_current(tr));

	ftrace_clear_pids(tr);
	KUNIT_EXPECT_TRUE(test, ftrace_pid_wants_current(tr));
	KUNIT_EXPECT_EQ(test, tr->callset.pid_bit, 0);
	KUNIT_EXPECT_NULL(test, tr->callset.pids);
	KUNIT_EXPECT_EQ(test, current->ftrace_pid_ignored & bit, 0);
}

/* One more owner than there are slots is refused, and the others are not hurt. */
static void pid_slots(struct kunit *test)
{
	struct trace_array **trs = kunit_kcalloc(test, FTRACE_PID_SLOTS + 1, sizeof(*trs),
						 GFP_KERNEL);
	unsigned int pid = current->pid, nr, i;
	int ret = 0;

	KUNIT_ASSERT_NOT_NULL(test, trs);
	for (i = 0; i <= FTRACE_PID_SLOTS; i++)
		trs[i] = pid_kunit_tr(test);

	for (nr = 0; !ret && nr <= FTRACE_PID_SLOTS; nr++)
		ret = pid_kunit_add(trs[nr], FTRACE_PID_NOT, &pid, 1);
	KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
	nr--;
	KUNIT_EXPECT_NULL(test, trs[nr]->callset.pids);
	KUNIT_EXPECT_TRUE(test, ftrace_pid_wants_current(trs[nr]));

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_FALSE(test, ftrace_pid_wants_current(trs[i]));
	if (nr) {
		KUNIT_EXPECT_EQ(test, pid_kunit_add(trs[0], FTRACE_PID_ONLY, &pid, 1), 0);
		ftrace_clear_pids(trs[0]);
		KUNIT_EXPECT_EQ(test, pid_kunit_add(trs[nr], FTRACE_PID_NOT, &pid, 1), 0);
		KUNIT_EXPECT_FALSE(test, ftrace_pid_wants_current(trs[nr]));
	}
	for (i = 0; i <= nr; i++)
		ftrace_clear_pids(trs[i]);
}

static int pid_kunit_thread(void *unused)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static bool pid_kunit_listed(struct trace_array *tr, pid_t pid)
{
	guard(mutex)(&ftrace_pid_mutex);

	return trace_pid_list_is_set(tr->callset.pids->pids[FTRACE_PID_ONLY], pid);
}

/* A task is released a little after kthread_stop() has returned. */
static bool pid_kunit_dropped(struct trace_array *tr, pid_t pid)
{
	for (unsigned int i = 0; i < 500; i++) {
		if (!pid_kunit_listed(tr, pid))
			return true;
		msleep(20);
	}
	return false;
}

/* The parent is kthreadd. */
static void pid_fork(struct kunit *test)
{
	struct trace_array *tr = pid_kunit_tr(test);
	unsigned int parent = kthreadd_task->pid;
	struct task_struct *task;
	pid_t pid;

	for (unsigned int follow = 0; follow < 2; follow++) {
		tr->trace_flags = follow ? TRACE_ITER(FUNC_FORK) : 0;
		KUNIT_EXPECT_EQ(test, pid_kunit_add(tr, FTRACE_PID_ONLY, &parent, 1), 0);
		task = kthread_run(pid_kunit_thread, NULL, "ftrace_pid_kunit");
		KUNIT_EXPECT_FALSE(test, IS_ERR(task));
		if (!IS_ERR(task)) {
			pid = task->pid;
			KUNIT_EXPECT_EQ(test, pid_kunit_listed(tr, pid), follow);
			KUNIT_EXPECT_EQ(test, pid_kunit_ignored(tr, task), !follow);
			kthread_stop(task);
			KUNIT_EXPECT_TRUE(test, pid_kunit_dropped(tr, pid));
		}
		KUNIT_EXPECT_TRUE(test, pid_kunit_listed(tr, parent));
		ftrace_clear_pids(tr);
	}
}

static struct kunit_case pid_kunit_cases[] = {
	KUNIT_CASE(pid_ignore),
	KUNIT_CASE(pid_ignore_empty),
	KUNIT_CASE(pid_judge),
	KUNIT_CASE(pid_follow),
	KUNIT_CASE(pid_add_fails),
	KUNIT_CASE(pid_seq),
	KUNIT_CASE(pid_lists_come_and_go),
	KUNIT_CASE(pid_slots),
	KUNIT_CASE(pid_fork),
	{ }
};

static struct kunit_suite pid_kunit_suite = {
	.name		= "ftrace_pid",
	.test_cases	= pid_kunit_cases,
};

kunit_test_suite(pid_kunit_suite);
