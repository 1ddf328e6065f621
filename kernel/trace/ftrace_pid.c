// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing of some tasks only: set_ftrace_pid, set_ftrace_notrace_pid.
 *
 * A trace array has two lists of pids: tasks to trace, and tasks to leave out.
 * Where neither exists, all tasks are traced, and nothing is tested. Otherwise
 * each ops with FTRACE_OPS_FL_PID calls ftrace_pid_func(), which tests, instead
 * of its own callback. The lists themselves are looked at only when a CPU
 * switches tasks; what came out is one number per CPU, for the callbacks to
 * read: array_buffer.data->ftrace_ignore_pid of the trace array. It is
 *
 *	FTRACE_PID_TRACE	there are no lists
 *	FTRACE_PID_IGNORE	the CPU's task is not traced
 *	a pid			the task with this pid is traced; another one is
 *				not, for it is about to leave the CPU to this one
 *
 * Invariants:
 *
 * 1. ftrace_pid_sched_switch() is registered for a trace array exactly while
 *    that has a list.
 * 2. A list that is published is changed by fork and exit alone. What a user
 *    writes makes a new list.
 * 3. ops->saved_func of a registered ops with FTRACE_OPS_FL_PID is its own
 *    callback, and ops->func is that or ftrace_pid_func().
 *
 * Lock order:
 *	trace_types_lock > ftrace_pid_mutex > ftrace_lock
 * ftrace_pid_mutex covers the lists and the registering of the sched_switch
 * probe; it may be held while user memory is read, or a grace period waited
 * for, and so is not ftrace_lock. The latter covers which function an ops
 * calls. The scheduler's tracepoints read the lists under RCU.
 *
 * Contexts: ftrace_pid_func() runs wherever a function is called, NMIs
 * included, and takes no lock. The tracepoint probes run with preemption off,
 * and take the lock of a list. All the rest sleeps.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "ftrace_internal.h"
#include "trace.h"

/* What the files show while there is no list: beyond any pid plus one. */
#define FTRACE_PID_NO_LIST	((void *)(PID_MAX_LIMIT + 1UL))

/**
 * struct ftrace_pid_file - one of the two lists, opened
 * @tr: the trace array, to which the file holds a reference
 * @list: which of its lists
 */
struct ftrace_pid_file {
	struct trace_array		*tr;
	struct trace_pid_list __rcu	**list;
};

static DEFINE_MUTEX(ftrace_pid_mutex);

/* What the callbacks test */

static bool ftrace_pid_has_lists(struct trace_array *tr)
{
	return rcu_access_pointer(tr->function_pids) ||
	       rcu_access_pointer(tr->function_no_pids);
}

/* On the CPU that runs, or is about to run, @task. */
static void ftrace_pid_note_task(struct trace_array *tr, struct task_struct *task)
{
	bool ignore;

	ignore = trace_ignore_this_task(rcu_dereference_sched(tr->function_pids),
					rcu_dereference_sched(tr->function_no_pids),
					task);
	this_cpu_write(tr->array_buffer.data->ftrace_ignore_pid,
		       ignore ? FTRACE_PID_IGNORE : task->pid);
}

static void ftrace_pid_note_current(void *tr)
{
	ftrace_pid_note_task(tr, current);
}

/* The same for every CPU, also those that are to come online. */
static void ftrace_pid_note_none(struct trace_array *tr)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(tr->array_buffer.data, cpu)->ftrace_ignore_pid = FTRACE_PID_TRACE;
}

static bool ftrace_pid_wants_current(struct trace_array *tr)
{
	int pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);

	return pid == FTRACE_PID_TRACE || pid == current->pid;
}

static void ftrace_pid_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ftrace_pid_wants_current(ops->private))
		ops->saved_func(ip, parent_ip, ops, fregs);
}

/* What an ops calls */

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

	return (ops->flags & FTRACE_OPS_FL_PID) && tr && ftrace_pid_has_lists(tr);
}

/**
 * ftrace_pid_update_ops - have an ops test for pids, or not
 * @ops: the ops, registered or being registered, with its callback in saved_func
 *
 * Context: May sleep. The caller holds ftrace_lock.
 */
void ftrace_pid_update_ops(struct ftrace_ops *ops)
{
	ftrace_func_t func;

	lockdep_assert_held(&ftrace_lock);

	if (!(ops->flags & FTRACE_OPS_FL_PID))
		return;

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

	list_for_each_entry(ops, &ftrace_ops_registered, list)
		ftrace_pid_update_ops(ops);
}

/* What the scheduler tells */

static void ftrace_pid_sched_switch(void *tr, bool preempt, struct task_struct *prev,
				    struct task_struct *next, unsigned int prev_state)
{
	ftrace_pid_note_task(tr, next);
}

static void ftrace_pid_sched_fork(void *data, struct task_struct *parent,
				  struct task_struct *child)
{
	struct trace_array *tr = data;

	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_pids),
				     parent, child);
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_no_pids),
				     parent, child);
}

static void ftrace_pid_sched_free(void *data, struct task_struct *task)
{
	struct trace_array *tr = data;

	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_pids),
				     NULL, task);
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_no_pids),
				     NULL, task);
}

/**
 * ftrace_pid_follow_fork - have the lists follow the tasks in them, or not
 * @tr: the trace array
 * @enable: put the children of a listed task on its list, and take tasks that
 *          are gone from it. Otherwise the lists stay as they were written
 *
 * For the function-fork option: called when that changes, not otherwise.
 *
 * Context: Sleeps. When it disabled, no tracepoint refers to @tr any more.
 */
void ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
	int ret;

	if (!enable) {
		unregister_trace_sched_process_fork(ftrace_pid_sched_fork, tr);
		unregister_trace_sched_process_free(ftrace_pid_sched_free, tr);
		tracepoint_synchronize_unregister();
		return;
	}

	ret = register_trace_sched_process_fork(ftrace_pid_sched_fork, tr);
	if (!ret)
		ret = register_trace_sched_process_free(ftrace_pid_sched_free, tr);
	if (ret)
		pr_warn("ftrace: pid lists will not follow forks and exits: %d\n", ret);
}

/* The lists */

static struct trace_pid_list *ftrace_pid_list(struct trace_pid_list __rcu **list)
{
	return rcu_dereference_protected(*list, lockdep_is_held(&ftrace_pid_mutex));
}

/*
 * Put @new, which may be NULL, into the place of what @list points to.
 *
 * Those who read the old list are tracepoint probes, and interrupts of
 * on_each_cpu(). The latter have returned; one wait for the former serves both
 * the list and, if it was the last one, the number of each CPU: a late
 * sched_switch does not overwrite it.
 */
static void ftrace_pid_publish(struct trace_array *tr, struct trace_pid_list __rcu **list,
			       struct trace_pid_list *new)
{
	struct trace_pid_list *old = ftrace_pid_list(list);

	rcu_assign_pointer(*list, new);

	if (old && !ftrace_pid_has_lists(tr))
		unregister_trace_sched_switch(ftrace_pid_sched_switch, tr);
	if (old)
		tracepoint_synchronize_unregister();

	/* The tasks that run have been switched to by the old lists. */
	if (ftrace_pid_has_lists(tr))
		on_each_cpu(ftrace_pid_note_current, tr, true);
	else
		ftrace_pid_note_none(tr);

	ftrace_pid_update_all_ops();
	trace_pid_list_free(old);
}

static void ftrace_pid_clear(struct trace_array *tr, struct trace_pid_list __rcu **list)
{
	guard(mutex)(&ftrace_pid_mutex);

	if (ftrace_pid_list(list))
		ftrace_pid_publish(tr, list, NULL);
}

static ssize_t ftrace_pid_append(struct trace_array *tr, struct trace_pid_list __rcu **list,
				 const char __user *ubuf, size_t cnt)
{
	struct trace_pid_list *new;
	ssize_t read;
	int ret;

	guard(mutex)(&ftrace_pid_mutex);

	read = trace_pid_write(ftrace_pid_list(list), &new, ubuf, cnt);
	if (read < 0)
		return read;

	/* Without a list this notes pids that nothing asks for yet. */
	if (new && !ftrace_pid_has_lists(tr)) {
		ret = register_trace_sched_switch(ftrace_pid_sched_switch, tr);
		if (ret) {
			ftrace_pid_note_none(tr);
			trace_pid_list_free(new);
			return ret;
		}
	}

	ftrace_pid_publish(tr, list, new);
	return read;
}

/**
 * ftrace_clear_pids - drop both lists of a trace array
 * @tr: the trace array
 *
 * Context: Sleeps, for RCU grace periods. Takes ftrace_pid_mutex and
 * ftrace_lock. When it returns, sched_switch does not refer to @tr any more.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	ftrace_pid_clear(tr, &tr->function_pids);
	ftrace_pid_clear(tr, &tr->function_no_pids);
}

/* The files: a pid per line */

static void *ftrace_pid_seq_start(struct seq_file *m, loff_t *pos)
{
	struct ftrace_pid_file *file = m->private;
	struct trace_pid_list *list;

	mutex_lock(&ftrace_pid_mutex);

	list = ftrace_pid_list(file->list);
	if (list)
		return trace_pid_start(list, pos);
	return *pos ? NULL : FTRACE_PID_NO_LIST;
}

static void *ftrace_pid_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct ftrace_pid_file *file = m->private;

	if (v != FTRACE_PID_NO_LIST)
		return trace_pid_next(ftrace_pid_list(file->list), v, pos);

	(*pos)++;
	return NULL;
}

static void ftrace_pid_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_pid_mutex);
}

static int ftrace_pid_seq_show(struct seq_file *m, void *v)
{
	if (v != FTRACE_PID_NO_LIST)
		return trace_pid_show(m, v);

	seq_puts(m, "no pid\n");
	return 0;
}

static const struct seq_operations ftrace_pid_seq_ops = {
	.start	= ftrace_pid_seq_start,
	.next	= ftrace_pid_seq_next,
	.stop	= ftrace_pid_seq_stop,
	.show	= ftrace_pid_seq_show,
};

static int ftrace_pid_file_open(struct trace_array *tr, struct trace_pid_list __rcu **list,
				struct file *filp)
{
	struct ftrace_pid_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	/* For writers too: where they may write is in there. */
	file = __seq_open_private(filp, &ftrace_pid_seq_ops, sizeof(*file));
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}

	file->tr = tr;
	file->list = list;

	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC))
		ftrace_pid_clear(tr, list);
	return 0;
}

static int ftrace_pid_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;

	return ftrace_pid_file_open(tr, &tr->function_pids, filp);
}

static int ftrace_no_pid_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;

	return ftrace_pid_file_open(tr, &tr->function_no_pids, filp);
}

static ssize_t ftrace_pid_file_write(struct file *filp, const char __user *ubuf,
				     size_t cnt, loff_t *ppos)
{
	struct seq_file *m = filp->private_data;
	struct ftrace_pid_file *file = m->private;
	ssize_t ret;

	if (!cnt)
		return 0;

	ret = ftrace_pid_append(file->tr, file->list, ubuf, cnt);
	if (ret > 0)
		*ppos += ret;
	return ret;
}

static int ftrace_pid_file_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);
	return seq_release_private(inode, filp);
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
 * ftrace_pid_init - make the files of a trace array's pid lists
 * @tr: the trace array
 * @parent: the directory of @tr
 *
 * Context: Sleeps. A file that could not be made is missing; tracefs says so.
 */
void ftrace_pid_init(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, parent, tr,
			  &ftrace_pid_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, parent, tr,
			  &ftrace_no_pid_fops);
}
