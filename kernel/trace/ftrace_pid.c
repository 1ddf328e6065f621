// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing of some tasks only: set_ftrace_pid, set_ftrace_notrace_pid.
 *
 * A trace array has two lists of pids: tasks to trace, and tasks to leave out.
 * Where neither exists, all tasks are traced, and nothing is tested. Otherwise
 * the trace array owns a slot, and bit SLOT of task_struct::ftrace_pid_ignored
 * says that it leaves the task out. That bit, against the one in
 * trace_array::function_pid_bit, is all that a callback tests, and nobody looks
 * at the lists when tasks are switched: they are looked at when a task is made,
 * when two exchange their pids, and when a list is written.
 *
 * Each ops with FTRACE_OPS_FL_PID calls ftrace_pid_func(), which tests, instead
 * of its own callback as long as its trace array has a list. fgraph.c tests for
 * its users with ftrace_pid_wants_current().
 *
 * Invariants:
 *
 * 1. For each task on the task list, and each idle task, a bit follows from the
 *    task's pid and the lists of the slot's owner; it is 0 if there is none.
 * 2. Fork and release_task() change the lists of a trace array with the option
 *    function-fork, and no others. They add the child of a listed task, and drop
 *    the pids that are gone.
 * 3. What a user writes is added to a list as a whole, or not at all.
 * 4. ops->saved_func of a registered ops with FTRACE_OPS_FL_PID, unless it is a
 *    graph user's, is its own callback, and ops->func is that or
 *    ftrace_pid_func().
 *
 * A task that has been released, and runs on to its last switch, keeps its bits.
 *
 * Lock order:
 *	trace_types_lock > ftrace_pid_mutex > tasklist_lock > lock of an xarray
 *	ftrace_pid_mutex > ftrace_lock
 * The lists of a trace array come, are written to, and go under
 * ftrace_pid_mutex. What fork and release_task() read besides, and the bits of
 * the tasks, is changed by a writer of a list with tasklist_lock held for
 * reading, and by them, who hold it for writing anyway: they take no lock of
 * ours but the one of a list that they change. ftrace_lock covers which
 * function an ops calls.
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
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "ftrace_attach.h"
#include "ftrace_ops.h"
#include "ftrace_pid.h"
#include "trace.h"

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
 * @exists: for each kind, a bit: the list exists. It may be empty, if all tasks
 *	    in it are gone
 * @pids: for each kind, an entry at the index of each pid; changed in interrupts
 *	  off only, as the lock is taken inside of tasklist_lock
 */
struct ftrace_pid_lists {
	struct trace_array	*tr;
	unsigned int		slot;
	unsigned long		exists;
	struct xarray		pids[FTRACE_PID_KINDS];
};

/**
 * struct ftrace_pid_file - one of the two lists, opened
 * @tr: the trace array, to which the file holds a reference
 * @kind: which of its lists
 */
struct ftrace_pid_file {
	struct trace_array	*tr;
	enum ftrace_pid_kind	kind;
};

#define FTRACE_PID_SLOTS	BITS_PER_LONG

static DEFINE_MUTEX(ftrace_pid_mutex);

/* The slots in use, and their owners' lists; see the lock order. */
static unsigned long ftrace_pid_slots;
static struct ftrace_pid_lists *ftrace_pid_slot[FTRACE_PID_SLOTS];

/* The lists and the tasks */

static bool pid_lists_have(struct ftrace_pid_lists *lists, enum ftrace_pid_kind kind, pid_t pid)
{
	return (lists->exists & BIT(kind)) && xa_load(&lists->pids[kind], pid);
}

static bool pid_lists_ignore(struct ftrace_pid_lists *lists, pid_t pid)
{
	if (pid_lists_have(lists, FTRACE_PID_NOT, pid))
		return true;
	return (lists->exists & BIT(FTRACE_PID_ONLY)) &&
	       !pid_lists_have(lists, FTRACE_PID_ONLY, pid);
}

/* Nobody else writes the word now; callbacks read it at any time. */
static void pid_lists_judge(struct ftrace_pid_lists *lists, struct task_struct *task)
{
	unsigned long word = task->ftrace_pid_ignored;

	__assign_bit(lists->slot, &word, pid_lists_ignore(lists, task->pid));
	WRITE_ONCE(task->ftrace_pid_ignored, word);
}

/* A NULL @entry takes the pid away. In any context with tasklist_lock held. */
static int pid_list_store(struct xarray *pids, pid_t pid, void *entry)
{
	unsigned long flags;
	void *old;

	xa_lock_irqsave(pids, flags);
	old = __xa_store(pids, pid, entry, GFP_ATOMIC);
	xa_unlock_irqrestore(pids, flags);
	return xa_err(old);
}

static bool pid_lists_follow(const struct ftrace_pid_lists *lists)
{
	return READ_ONCE(lists->tr->trace_flags) & TRACE_ITER_FUNC_FORK;
}

static void pid_lists_add_child(struct ftrace_pid_lists *lists, pid_t parent, pid_t child)
{
	for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++) {
		if (!pid_lists_have(lists, kind, parent))
			continue;
		if (pid_list_store(&lists->pids[kind], child, xa_mk_value(1)))
			pr_warn_once("no memory to put a new task on the list of its parent\n");
	}
}

static void pid_lists_drop(struct ftrace_pid_lists *lists, pid_t pid)
{
	for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++) {
		if (pid_lists_have(lists, kind, pid))
			pid_list_store(&lists->pids[kind], pid, NULL);
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

	/* What was copied may be of a slot that somebody has given back since. */
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
	unsigned int slot;

	lockdep_assert_held_write(&tasklist_lock);

	for_each_set_bit(slot, &ftrace_pid_slots, FTRACE_PID_SLOTS) {
		if (pid_lists_follow(ftrace_pid_slot[slot]))
			pid_lists_drop(ftrace_pid_slot[slot], task->pid);
	}
}

/* What an ops calls */

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

	return (ops->flags & FTRACE_OPS_FL_PID) && tr && READ_ONCE(tr->function_pid_bit);
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

static void ftrace_pid_update_all_ops(void)
{
	struct ftrace_ops *ops;

	guard(mutex)(&ftrace_lock);

	/* Those that test go on doing so; what they read stays right. */
	if (ftrace_disabled)
		return;

	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		if (ops->choose_func)
			ops->choose_func(ops);
	}
}

/* Writing the lists */

static struct ftrace_pid_lists *pid_lists_alloc(struct trace_array *tr)
{
	unsigned int slot = find_first_zero_bit(&ftrace_pid_slots, FTRACE_PID_SLOTS);
	struct ftrace_pid_lists *lists;

	lockdep_assert_held(&ftrace_pid_mutex);

	if (slot == FTRACE_PID_SLOTS)
		return ERR_PTR(-ENOSPC);
	lists = kzalloc(sizeof(*lists), GFP_KERNEL);
	if (!lists)
		return ERR_PTR(-ENOMEM);

	lists->tr = tr;
	lists->slot = slot;
	for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++)
		xa_init_flags(&lists->pids[kind], XA_FLAGS_LOCK_IRQ);
	return lists;
}

static void pid_lists_free(struct ftrace_pid_lists *lists)
{
	for (unsigned int kind = 0; kind < FTRACE_PID_KINDS; kind++)
		xa_destroy(&lists->pids[kind]);
	kfree(lists);
}

/*
 * Make the lists of kinds @exists, as they are now, the ones that count.
 *
 * The task list stands still meanwhile: a task is either met here, or made
 * later, and then its maker sees what is written here.
 */
static void pid_lists_apply(struct ftrace_pid_lists *lists, unsigned long exists)
{
	struct task_struct *process, *task;
	int cpu;

	lockdep_assert_held(&ftrace_pid_mutex);

	read_lock(&tasklist_lock);
	lists->exists = exists;
	ftrace_pid_slot[lists->slot] = exists ? lists : NULL;
	__assign_bit(lists->slot, &ftrace_pid_slots, exists);

	for_each_process_thread(process, task)
		pid_lists_judge(lists, task);
	for_each_possible_cpu(cpu) {
		task = idle_task(cpu);
		if (task)
			pid_lists_judge(lists, task);
	}
	read_unlock(&tasklist_lock);

	/* Tested from now on, or not any more: the bits are right for both. */
	WRITE_ONCE(lists->tr->function_pid_bit, exists ? BIT(lists->slot) : 0);
	ftrace_pid_update_all_ops();
}

#define for_each_pid_in(list, pid)						\
	for (int __end = trace_pid_list_first((list), &(pid)); !__end;		\
	     __end = trace_pid_list_next((list), (pid) + 1, &(pid)))

/* No reader finds an entry that is only reserved. */
static int pid_list_reserve(struct xarray *pids, struct trace_pid_list *new)
{
	unsigned int pid;
	int ret;

	for_each_pid_in(new, pid) {
		ret = xa_reserve_irq(pids, pid, GFP_KERNEL);
		if (ret)
			return ret;
	}
	return 0;
}

static void pid_list_unreserve(struct xarray *pids, struct trace_pid_list *new)
{
	unsigned int pid;

	for_each_pid_in(new, pid)
		xa_cmpxchg_irq(pids, pid, XA_ZERO_ENTRY, NULL, GFP_KERNEL);
}

/* All have been reserved: memory can only lack for one that was dropped since. */
static void pid_list_fill(struct xarray *pids, struct trace_pid_list *new)
{
	unsigned int pid;

	for_each_pid_in(new, pid)
		xa_store_irq(pids, pid, xa_mk_value(1), GFP_KERNEL);
}

static int ftrace_pid_add(struct trace_array *tr, enum ftrace_pid_kind kind,
			  struct trace_pid_list *new)
{
	struct ftrace_pid_lists *lists;
	int ret;

	guard(mutex)(&ftrace_pid_mutex);

	lists = tr->function_pids ?: pid_lists_alloc(tr);
	if (IS_ERR(lists))
		return PTR_ERR(lists);

	ret = pid_list_reserve(&lists->pids[kind], new);
	if (ret) {
		pid_list_unreserve(&lists->pids[kind], new);
		if (!tr->function_pids)
			pid_lists_free(lists);
		return ret;
	}

	pid_list_fill(&lists->pids[kind], new);
	pid_lists_apply(lists, lists->exists | BIT(kind));
	tr->function_pids = lists;
	return 0;
}

/* With @if_empty, only a list that names no pid. */
static void ftrace_pid_clear(struct trace_array *tr, enum ftrace_pid_kind kind, bool if_empty)
{
	struct ftrace_pid_lists *lists;

	guard(mutex)(&ftrace_pid_mutex);

	lists = tr->function_pids;
	if (!lists || !(lists->exists & BIT(kind)))
		return;
	if (if_empty && !xa_empty(&lists->pids[kind]))
		return;

	pid_lists_apply(lists, lists->exists & ~BIT(kind));
	if (lists->exists) {
		xa_destroy(&lists->pids[kind]);
		return;
	}
	tr->function_pids = NULL;
	pid_lists_free(lists);
}

/**
 * ftrace_clear_pids - drop both lists of a trace array
 * @tr: the trace array
 *
 * Context: Sleeps. Takes ftrace_pid_mutex, tasklist_lock and ftrace_lock. When
 * it returns, neither fork nor release_task() refers to @tr any more.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	ftrace_pid_clear(tr, FTRACE_PID_ONLY, false);
	ftrace_pid_clear(tr, FTRACE_PID_NOT, false);
}

/* The files: a pid per line */

static int ftrace_pid_show(struct seq_file *m, void *v)
{
	struct ftrace_pid_file *file = m->private;
	struct ftrace_pid_lists *lists;
	unsigned long pid;
	void *entry;

	guard(mutex)(&ftrace_pid_mutex);

	lists = file->tr->function_pids;
	if (!lists || !(lists->exists & BIT(file->kind))) {
		seq_puts(m, "no pid\n");
		return 0;
	}
	xa_for_each(&lists->pids[file->kind], pid, entry)
		seq_printf(m, "%lu\n", pid);
	return 0;
}

static int ftrace_pid_file_open(struct trace_array *tr, enum ftrace_pid_kind kind,
				struct file *filp)
{
	struct ftrace_pid_file *file __free(kfree) = kmalloc(sizeof(*file), GFP_KERNEL);
	int ret;

	if (!file)
		return -ENOMEM;
	file->tr = tr;
	file->kind = kind;
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	/* For writers too: where they may write is in there. */
	ret = single_open(filp, ftrace_pid_show, file);
	if (ret) {
		trace_array_put(tr);
		return ret;
	}
	retain_and_null_ptr(file);

	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC))
		ftrace_pid_clear(tr, kind, false);
	return 0;
}

static int ftrace_pid_open(struct inode *inode, struct file *filp)
{
	return ftrace_pid_file_open(inode->i_private, FTRACE_PID_ONLY, filp);
}

static int ftrace_no_pid_open(struct inode *inode, struct file *filp)
{
	return ftrace_pid_file_open(inode->i_private, FTRACE_PID_NOT, filp);
}

static ssize_t ftrace_pid_file_write(struct file *filp, const char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	struct seq_file *m = filp->private_data;
	struct ftrace_pid_file *file = m->private;
	struct trace_pid_list *new = NULL;
	ssize_t read;
	int ret = 0;

	if (!cnt)
		return 0;

	read = trace_pid_write(NULL, &new, ubuf, cnt);
	if (read < 0)
		return read;

	if (new)
		ret = ftrace_pid_add(file->tr, file->kind, new);
	else
		/* A write that names no pid does away with a list that names none either. */
		ftrace_pid_clear(file->tr, file->kind, true);
	trace_pid_list_free(new);
	if (ret)
		return ret;

	*ppos += read;
	return read;
}

static int ftrace_pid_file_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;

	trace_array_put(inode->i_private);
	kfree(m->private);
	return single_release(inode, filp);
}

static const struct file_operations ftrace_pid_fops = {
	.open		= ftrace_pid_open,
	.read		= seq_read,
	.write		= ftrace_pid_file_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_pid_file_release,
};

static const struct file_operations ftrace_no_pid_fops = {
	.open		= ftrace_no_pid_open,
	.read		= seq_read,
	.write		= ftrace_pid_file_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_pid_file_release,
};

/**
 * ftrace_init_tracefs - make the files that every trace array has, those of its pid lists
 * @tr: the trace array
 * @parent: the directory of @tr
 *
 * Context: Sleeps. A file that could not be made is missing; tracefs says so.
 */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, parent, tr, &ftrace_pid_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, parent, tr,
			  &ftrace_no_pid_fops);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_pid_kunit.c"
#endif
