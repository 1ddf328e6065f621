// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing of some tasks only: set_ftrace_pid, set_ftrace_notrace_pid.
 *
 * A trace array has two lists of pids (struct trace_pid_list): tasks to trace, and
 * tasks to leave out. Where neither exists, all tasks are traced, and nothing is
 * tested. Otherwise the trace array owns a slot, and bit SLOT of
 * task_struct::ftrace_pid_ignored says that it leaves the task out. That bit, and the
 * one of its lists of cgroups, are in callset_instance::pid_bit: a callback tests both at once.
 * The lists are read when a task is made, when two exchange their pids, and when a
 * list is written; a switch of tasks does not read them.
 *
 * Each ops with FTRACE_OPS_FL_PID calls ftrace_pid_func(), which tests, instead
 * of its own callback as long as its trace array has a list. fgraph.c tests for
 * its users with ftrace_pid_wants_current().
 *
 * Invariants:
 *
 * 1. For each task on the task list, and each idle task, a bit follows from the
 *    task's pid and the lists of the slot's owner; it is 0 if the slot is free.
 * 2. Fork and release_task() change the lists of a trace array with the option
 *    function-fork, and no others. They add the child of a listed task, and drop
 *    the pids that are gone.
 * 3. A write adds all of its pids to a list, or fails and adds no pid.
 * 4. ops->saved_func of a registered ops with FTRACE_OPS_FL_PID, unless it is a
 *    graph user's, is its own callback, and ops->func is that or
 *    ftrace_pid_func().
 *
 * A task that has been released, and runs on to its last switch, keeps its bits.
 *
 * Lock order:
 *	trace_types_lock > ftrace_pid_mutex > tasklist_lock > lock of a list
 *	ftrace_pid_mutex > ftrace_lock
 * The lists of a trace array come, are written to, and go under
 * ftrace_pid_mutex. A writer of a list puts it in place, and sets the bits of the
 * tasks, with tasklist_lock held for reading. Fork and release_task() hold it for
 * writing; they take no lock of ours but the one of a list. ftrace_lock covers
 * which function an ops calls.
 *
 * Contexts: ftrace_pid_func() and ftrace_pid_wants_current() run wherever a
 * function is called, NMIs included. The hooks of fork and release_task() run
 * with interrupts off. All the rest sleeps.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_pid.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "attach.h"
#include "ops.h"
#include "pid.h"
#include "../trace.h"

/**
 * enum ftrace_pid_kind - which of a trace array's two lists
 * @FTRACE_PID_ONLY: the tasks to trace, set_ftrace_pid
 * @FTRACE_PID_NOT: the tasks to leave out, set_ftrace_notrace_pid
 * @FTRACE_PID_KINDS: how many there are
 */
enum ftrace_pid_kind {
	FTRACE_PID_ONLY,
	FTRACE_PID_NOT,
	FTRACE_PID_KINDS,
};

/**
 * struct ftrace_pid_lists - the lists of a trace array, of which one exists
 * @tr: the trace array
 * @slot: which bit of the tasks it owns
 * @pids: the list of each kind, or NULL. It may be empty, if all tasks in it are gone
 */
struct ftrace_pid_lists {
	struct trace_array	*tr;
	unsigned int		slot;
	struct trace_pid_list	*pids[FTRACE_PID_KINDS];
};

/* The lists of pids and of cgroups. */
DEFINE_MUTEX(ftrace_pid_mutex);

/* The slots in use by lists of cgroups. */
unsigned long ftrace_cgroup_slots;

/* The slots in use by lists of pids, and their owners' lists; see the lock order. */
static unsigned long ftrace_pid_slots;
static struct ftrace_pid_lists *ftrace_pid_slot[FTRACE_PID_SLOTS];

/* The lists and the tasks */

/* A move between cgroups may set other bits meanwhile; callbacks read them at any time. */
static void pid_lists_judge(struct ftrace_pid_lists *lists, struct task_struct *task)
{
	assign_bit(lists->slot, &task->ftrace_pid_ignored,
		   trace_ignore_this_task(lists->pids[FTRACE_PID_ONLY],
					  lists->pids[FTRACE_PID_NOT], task));
}

static bool pid_lists_follow(const struct ftrace_pid_lists *lists)
{
	return READ_ONCE(lists->tr->trace_flags) & TRACE_ITER(FUNC_FORK);
}

static void pid_lists_add_child(struct ftrace_pid_lists *lists, pid_t parent, pid_t child)
{
	for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++) {
		if (trace_pid_list_is_set(lists->pids[kind], parent) &&
		    trace_pid_list_set(lists->pids[kind], child))
			pr_warn_once("no memory to put a new task on the list of its parent\n");
	}
}

/**
 * ftrace_pid_fork_task - tell whether a new task is traced
 * @child: the task, a copy of current, with its pid, on the task list, not woken
 *
 * Its pid is looked up, as that may have been listed beforehand.
 *
 * Context: Any, with tasklist_lock held for writing. Takes no lock but that of a
 * list which the option function-fork makes it put @child on.
 */
void ftrace_pid_fork_task(struct task_struct *child)
{
	struct ftrace_pid_lists *lists;
	unsigned int slot;

	lockdep_assert_held_write(&tasklist_lock);

	/* A bit that was copied may be of a slot that was given back meanwhile. */
	child->ftrace_pid_ignored = 0;
	for_each_set_bit(slot, &ftrace_pid_slots, FTRACE_PID_SLOTS) {
		lists = ftrace_pid_slot[slot];
		if (pid_lists_follow(lists))
			pid_lists_add_child(lists, current->pid, child->pid);
		pid_lists_judge(lists, child);
	}
}

/**
 * ftrace_pid_release_task - take the pid of a task that is gone from the lists
 * @task: the task, just taken from the task list
 *
 * Context: Any, with tasklist_lock held for writing. Takes no lock but that of a
 * list that @task is on.
 */
void ftrace_pid_release_task(struct task_struct *task)
{
	struct ftrace_pid_lists *lists;
	unsigned int slot;

	lockdep_assert_held_write(&tasklist_lock);

	for_each_set_bit(slot, &ftrace_pid_slots, FTRACE_PID_SLOTS) {
		lists = ftrace_pid_slot[slot];
		for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++) {
			if (pid_lists_follow(lists))
				trace_filter_add_remove_task(lists->pids[kind], NULL, task);
		}
	}
}

/**
 * ftrace_pid_exchange_tasks - tell whether two tasks that have exchanged their pids are traced
 * @left: the one
 * @right: the other
 *
 * Context: any, with tasklist_lock held for writing.
 */
void ftrace_pid_exchange_tasks(struct task_struct *left, struct task_struct *right)
{
	unsigned int slot;

	lockdep_assert_held_write(&tasklist_lock);

	for_each_set_bit(slot, &ftrace_pid_slots, FTRACE_PID_SLOTS) {
		pid_lists_judge(ftrace_pid_slot[slot], left);
		pid_lists_judge(ftrace_pid_slot[slot], right);
	}
}

/**
 * ftrace_pid_follow_fork - tell that the option function-fork has changed
 * @tr: the trace array
 * @enable: the new value
 *
 * Fork and release_task() look at the option themselves.
 */
void ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
}

/* The callback */

static void ftrace_pid_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ftrace_pid_wants_current(ops->private))
		ops->saved_func(ip, parent_ip, ops, fregs);
}

/**
 * ftrace_pids_enabled - are there tasks that an ops is not to trace?
 * @ops: the ops
 *
 * Context: Any.
 * Return: Whether @ops heeds the pid lists, and its trace array has one.
 */
bool ftrace_pids_enabled(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;

	return (ops->flags & FTRACE_OPS_FL_PID) && tr && READ_ONCE(tr->callset.pid_bit);
}

/**
 * ftrace_pid_update_ops - have an ops test for pids, or not: its choose_func
 * @ops: the ops, registered or being registered, with its callback in saved_func
 *
 * Context: May sleep. The caller holds ftrace_lock.
 */
void ftrace_pid_update_ops(struct ftrace_ops *ops)
{
	ftrace_func_t func;

	lockdep_assert_held(&ftrace_lock);

	func = ftrace_pids_enabled(ops) ? ftrace_pid_func : ops->saved_func;
	if (func != ops->func)
		ftrace_ops_set_func(ops, func);
}

/* Writing the lists */

/**
 * ftrace_pid_free_slot - find a bit of the tasks that has no owner
 *
 * Context: ftrace_pid_mutex is held.
 * Return: its number; -ENOSPC if there is none.
 */
int ftrace_pid_free_slot(void)
{
	unsigned long used = ftrace_pid_slots | ftrace_cgroup_slots;

	lockdep_assert_held(&ftrace_pid_mutex);

	return ~used ? ffz(used) : -ENOSPC;
}

static struct ftrace_pid_lists *pid_lists_alloc(struct trace_array *tr)
{
	struct ftrace_pid_lists *lists;
	int slot = ftrace_pid_free_slot();

	if (slot < 0)
		return ERR_PTR(slot);
	lists = kzalloc_obj(*lists);
	if (!lists)
		return ERR_PTR(-ENOMEM);

	lists->tr = tr;
	lists->slot = slot;
	return lists;
}

/* Says @lists to all tasks, and to fork. */
static void pid_lists_apply(struct ftrace_pid_lists *lists, bool exist)
{
	struct task_struct *process, *task;
	int cpu;

	lockdep_assert_held(&tasklist_lock);

	ftrace_pid_slot[lists->slot] = exist ? lists : NULL;
	__assign_bit(lists->slot, &ftrace_pid_slots, exist);
	for_each_process_thread(process, task)
		pid_lists_judge(lists, task);
	for_each_possible_cpu(cpu) {
		task = idle_task(cpu);
		if (task)
			pid_lists_judge(lists, task);
	}
}

/* On failure @to may have some of the pids of @from. */
static int pid_list_copy(struct trace_pid_list *to, struct trace_pid_list *from)
{
	unsigned int pid;
	int ret = 0;

	for (int end = trace_pid_list_first(from, &pid); !end && !ret;
	     end = trace_pid_list_next(from, pid + 1, &pid))
		ret = trace_pid_list_set(to, pid);
	return ret;
}

/**
 * ftrace_pid_test_slot - test a bit of the tasks from now on, or not any more
 * @tr: its owner
 * @slot: the bit, which is right for both
 * @test: whether to test it
 *
 * Context: sleeps; ftrace_pid_mutex is held. Takes ftrace_lock.
 */
void ftrace_pid_test_slot(struct trace_array *tr, unsigned int slot, bool test)
{
	unsigned long word = tr->callset.pid_bit;
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_pid_mutex);

	__assign_bit(slot, &word, test);
	WRITE_ONCE(tr->callset.pid_bit, word);
	guard(mutex)(&ftrace_lock);
	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		if (ops->choose_func)
			ops->choose_func(ops);
	}
}

/*
 * Put @new, with the pids of the old list added, in the place of a list; or take the
 * list away, if @new is NULL. That cannot fail.
 *
 * The task list stands still meanwhile: a task is either met here, or made later,
 * and then its maker sees the new list.
 */
static int pid_lists_replace(struct trace_array *tr, struct ftrace_pid_lists *lists,
			     enum ftrace_pid_kind kind, struct trace_pid_list *new)
{
	struct trace_pid_list *old = lists->pids[kind];
	bool exist = new || lists->pids[!kind];
	int ret = 0;

	lockdep_assert_held(&ftrace_pid_mutex);

	scoped_guard(read_lock, &tasklist_lock) {
		if (new && old)
			ret = pid_list_copy(new, old);
		if (!ret) {
			lists->pids[kind] = new;
			pid_lists_apply(lists, exist);
		}
	}
	if (!ret) {
		trace_pid_list_free(old);
		tr->callset.pids = lists;
		ftrace_pid_test_slot(tr, lists->slot, exist);
	}
	if (!lists->pids[kind] && !lists->pids[!kind]) {
		tr->callset.pids = NULL;
		kfree(lists);
	}
	return ret;
}

/* Takes over @new, but not on failure. */
static int ftrace_pid_add(struct trace_array *tr, enum ftrace_pid_kind kind,
			  struct trace_pid_list *new)
{
	struct ftrace_pid_lists *lists;

	guard(mutex)(&ftrace_pid_mutex);

	lists = tr->callset.pids ?: pid_lists_alloc(tr);
	return IS_ERR(lists) ? PTR_ERR(lists) : pid_lists_replace(tr, lists, kind, new);
}

/* With @if_empty, only a list that names no pid. */
static void ftrace_pid_clear(struct trace_array *tr, enum ftrace_pid_kind kind, bool if_empty)
{
	struct ftrace_pid_lists *lists;
	unsigned int pid;

	guard(mutex)(&ftrace_pid_mutex);

	lists = tr->callset.pids;
	if (lists && lists->pids[kind] &&
	    !(if_empty && !trace_pid_list_first(lists->pids[kind], &pid)))
		pid_lists_replace(tr, lists, kind, NULL);
}

/**
 * ftrace_pid_forget - drop both lists of a trace array
 * @tr: the trace array
 *
 * Context: Sleeps. Takes ftrace_pid_mutex, tasklist_lock and ftrace_lock. When
 * it returns, neither fork nor release_task() refers to @tr any more.
 */
void ftrace_pid_forget(struct trace_array *tr)
{
	ftrace_pid_clear(tr, FTRACE_PID_ONLY, false);
	ftrace_pid_clear(tr, FTRACE_PID_NOT, false);
}

/* The files: a pid per line */

static const struct file_operations ftrace_pid_fops[FTRACE_PID_KINDS];

static enum ftrace_pid_kind pid_file_kind(const struct file *file)
{
	return file->f_op - ftrace_pid_fops;
}

static int ftrace_pid_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	struct trace_pid_list *list = NULL;
	unsigned int pid;

	guard(mutex)(&ftrace_pid_mutex);

	if (tr->callset.pids)
		list = tr->callset.pids->pids[pid_file_kind(m->file)];
	if (!list)
		seq_puts(m, "no pid\n");
	for (int end = trace_pid_list_first(list, &pid); !end;
	     end = trace_pid_list_next(list, pid + 1, &pid))
		seq_printf(m, "%u\n", pid);
	return 0;
}

static int ftrace_pid_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	/* For writers too: they find the trace array there. */
	ret = single_open(file, ftrace_pid_show, tr);
	if (ret)
		trace_array_put(tr);
	else if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		ftrace_pid_clear(tr, pid_file_kind(file), false);
	return ret;
}

static ssize_t ftrace_pid_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	struct trace_array *tr = ((struct seq_file *)file->private_data)->private;
	struct trace_pid_list *new = NULL;
	ssize_t read;
	int ret = 0;

	if (!cnt)
		return 0;

	read = trace_pid_write(NULL, &new, ubuf, cnt);
	if (read < 0)
		return read;

	if (new)
		ret = ftrace_pid_add(tr, pid_file_kind(file), new);
	else
		/* A write that names no pid removes a list that is empty, too. */
		ftrace_pid_clear(tr, pid_file_kind(file), true);
	if (ret) {
		trace_pid_list_free(new);
		return ret;
	}
	*ppos += read;
	return read;
}

static int ftrace_pid_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return single_release(inode, file);
}

static const struct file_operations ftrace_pid_fops[FTRACE_PID_KINDS] = {
	[FTRACE_PID_ONLY ... FTRACE_PID_NOT] = {
		.open		= ftrace_pid_open,
		.read		= seq_read,
		.write		= ftrace_pid_write,
		.llseek		= tracing_lseek,
		.release	= ftrace_pid_release,
	},
};

/**
 * ftrace_pid_init_tracefs - make the files of the pid lists of a trace array
 * @tr: the trace array
 * @parent: the directory of @tr
 *
 * Context: Sleeps. A file that could not be made is missing; tracefs says so.
 */
void ftrace_pid_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, parent, tr,
			  &ftrace_pid_fops[FTRACE_PID_ONLY]);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, parent, tr,
			  &ftrace_pid_fops[FTRACE_PID_NOT]);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/pid_kunit.c"
#endif
