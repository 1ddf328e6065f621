// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing of the tasks of some cgroups only: set_ftrace_cgroup, set_ftrace_notrace_cgroup.
 *
 * An instance has two lists of cgroups of version 2: those whose tasks are traced, and
 * those whose tasks are left out. Their descendants are meant, too, also those that are
 * made later. As long as one of the lists exists, the instance owns a bit of
 * task_struct::ftrace_pid_ignored, beside the one of its lists of pids (pid.c), and all
 * that callbacks and events test is whether the task has one of both. The lists are read
 * when a task comes to a cgroup, by fork or by a move, and when a list is written.
 *
 * Invariants:
 *  1. For each task that is in a cgroup, and each idle task, the bit follows from its
 *     cgroup and the lists of the bit's owner; it is 0 if there is no owner.
 *  2. A write adds all of its cgroups to a list, or fails and adds none of them.
 *  3. A cgroup on a list is not freed, though it may have been removed.
 *
 * A task that exits leaves its cgroup and keeps its bits.
 *
 * Lock order: event_mutex > ftrace_pid_mutex > ftrace_cgroup_lock; css_set_lock >
 * ftrace_cgroup_lock. The lists change under the first two and the last one, and are read
 * under one of the latter two. The bits of a list are set under the last.
 */
#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_pid.h>
#include <linux/limits.h>
#include <linux/nsproxy.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "cgroup.h"
#include "pid.h"
#include "../trace.h"

/**
 * enum ftrace_cgroup_kind - which of an instance's two lists
 * @FTRACE_CGROUP_ONLY: the cgroups to trace, set_ftrace_cgroup
 * @FTRACE_CGROUP_NOT: the cgroups to leave out, set_ftrace_notrace_cgroup
 * @FTRACE_CGROUP_KINDS: how many there are
 */
enum ftrace_cgroup_kind {
	FTRACE_CGROUP_ONLY,
	FTRACE_CGROUP_NOT,
	FTRACE_CGROUP_KINDS,
};

static const char *const cgroup_file_name[FTRACE_CGROUP_KINDS] = {
	[FTRACE_CGROUP_ONLY]	= "set_ftrace_cgroup",
	[FTRACE_CGROUP_NOT]	= "set_ftrace_notrace_cgroup",
};

/* A fork or a move compares the task's cgroup with each, with interrupts off. */
#define CGROUP_LIST_MAX	1024

/**
 * struct cgroup_list - a list of cgroups
 * @nr: how many
 * @cgroup: the cgroups, with a reference each
 */
struct cgroup_list {
	unsigned int	nr;
	struct cgroup	*cgroup[] __counted_by(nr);
};

/**
 * struct ftrace_cgroup_lists - the lists of an instance, of which one exists
 * @slot: the bit of the tasks that it owns
 * @list: the list of each kind, or NULL
 */
struct ftrace_cgroup_lists {
	unsigned int		slot;
	struct cgroup_list	*list[FTRACE_CGROUP_KINDS];
};

static DEFINE_RAW_SPINLOCK(ftrace_cgroup_lock);
static struct ftrace_cgroup_lists *ftrace_cgroup_slot[FTRACE_PID_SLOTS];

/* The tasks */

static bool cgroup_list_has(const struct cgroup_list *list, struct cgroup *cgrp)
{
	for (unsigned int i = 0; i < list->nr; i++) {
		if (cgroup_is_descendant(cgrp, list->cgroup[i]))
			return true;
	}
	return false;
}

static void cgroup_lists_judge(const struct ftrace_cgroup_lists *lists, struct task_struct *task)
{
	const struct cgroup_list *only = lists->list[FTRACE_CGROUP_ONLY];
	const struct cgroup_list *not = lists->list[FTRACE_CGROUP_NOT];
	struct cgroup *cgrp = task_dfl_cgroup(task);

	lockdep_assert_held(&ftrace_cgroup_lock);

	assign_bit(lists->slot, &task->ftrace_pid_ignored,
		   (only && !cgroup_list_has(only, cgrp)) || (not && cgroup_list_has(not, cgrp)));
}

/**
 * ftrace_cgroup_move_task - tell whether a task that has come to a cgroup is traced
 * @task: the task, new or not
 *
 * Context: css_set_lock is held.
 */
void ftrace_cgroup_move_task(struct task_struct *task)
{
	unsigned int slot;

	/* The task's cgroup before the slots. Pairs with cgroup_lists_apply(). */
	smp_mb();
	if (!READ_ONCE(ftrace_cgroup_slots))
		return;

	guard(raw_spinlock_irqsave)(&ftrace_cgroup_lock);
	for_each_set_bit(slot, &ftrace_cgroup_slots, FTRACE_PID_SLOTS)
		cgroup_lists_judge(ftrace_cgroup_slot[slot], task);
}

static void cgroup_lists_apply_task(const struct ftrace_cgroup_lists *lists,
				    struct task_struct *task)
{
	guard(raw_spinlock_irqsave)(&ftrace_cgroup_lock);
	cgroup_lists_judge(lists, task);
}

/*
 * Says the lists to all tasks. A task that comes to another cgroup meanwhile sees them
 * itself, and so does one that is made meanwhile.
 */
static void cgroup_lists_apply(const struct ftrace_cgroup_lists *lists)
{
	struct task_struct *process, *task;
	int cpu;

	/* The slots before the tasks' cgroups. Pairs with ftrace_cgroup_move_task(). */
	smp_mb();
	guard(rcu)();
	for_each_process_thread(process, task)
		cgroup_lists_apply_task(lists, task);
	for_each_possible_cpu(cpu) {
		task = idle_task(cpu);
		if (task)
			cgroup_lists_apply_task(lists, task);
	}
}

/* The lists */

static void cgroup_list_free(struct cgroup_list *list)
{
	for (unsigned int i = 0; list && i < list->nr; i++)
		cgroup_put(list->cgroup[i]);
	kfree(list);
}

DEFINE_FREE(cgroup_list, struct cgroup_list *, cgroup_list_free(_T))

/* Takes over the reference of @cgrp, also on failure. */
static int cgroup_list_add(struct cgroup_list **list, struct cgroup *cgrp)
{
	unsigned int nr = *list ? (*list)->nr : 0;
	struct cgroup_list *new;

	for (unsigned int i = 0; i < nr; i++) {
		if ((*list)->cgroup[i] == cgrp) {
			cgroup_put(cgrp);
			return 0;
		}
	}
	new = nr == CGROUP_LIST_MAX ? ERR_PTR(-ENOSPC) :
	      krealloc(*list, struct_size(new, cgroup, nr + 1), GFP_KERNEL);
	if (IS_ERR_OR_NULL(new)) {
		cgroup_put(cgrp);
		return PTR_ERR(new) ?: -ENOMEM;
	}
	new->nr = nr + 1;
	new->cgroup[nr] = cgrp;
	*list = new;
	return 0;
}

static int cgroup_list_copy(struct cgroup_list **to, const struct cgroup_list *from)
{
	int ret = 0;

	for (unsigned int i = 0; from && i < from->nr && !ret; i++) {
		cgroup_get(from->cgroup[i]);
		ret = cgroup_list_add(to, from->cgroup[i]);
	}
	return ret;
}

static struct ftrace_cgroup_lists *cgroup_lists_get(struct trace_array *tr)
{
	struct ftrace_cgroup_lists *lists = tr->callset.cgroups;
	int slot;

	lockdep_assert_held(&ftrace_pid_mutex);

	if (lists)
		return lists;
	slot = ftrace_pid_free_slot();
	if (slot < 0)
		return ERR_PTR(slot);
	lists = kzalloc_obj(*lists);
	if (!lists)
		return ERR_PTR(-ENOMEM);
	lists->slot = slot;
	return lists;
}

/* Puts @new, or NULL, in the place of a list. Context: event_mutex is held, too. */
static void cgroup_lists_replace(struct trace_array *tr, struct ftrace_cgroup_lists *lists,
				 enum ftrace_cgroup_kind kind, struct cgroup_list *new)
{
	struct cgroup_list *old = lists->list[kind];
	bool exist = new || lists->list[!kind];

	lockdep_assert_held(&ftrace_pid_mutex);

	scoped_guard(raw_spinlock_irq, &ftrace_cgroup_lock) {
		lists->list[kind] = new;
		ftrace_cgroup_slot[lists->slot] = exist ? lists : NULL;
		__assign_bit(lists->slot, &ftrace_cgroup_slots, exist);
	}
	cgroup_lists_apply(lists);
	cgroup_list_free(old);

	tr->callset.cgroups = exist ? lists : NULL;
	WRITE_ONCE(tr->callset.cgroup_bit, exist ? BIT(lists->slot) : 0);
	ftrace_pid_test_slot(tr, lists->slot, exist);
	trace_events_ask_for_task(tr);
	if (!exist)
		kfree(lists);
}

/* Adds cgroups to a list, unless they are a new one. */
static int cgroup_lists_add(struct trace_array *tr, enum ftrace_cgroup_kind kind,
			    const struct cgroup_list *more, bool fresh)
{
	struct cgroup_list *new __free(cgroup_list) = NULL;
	struct ftrace_cgroup_lists *lists;
	int ret = 0;

	guard(mutex)(&event_mutex);
	guard(mutex)(&ftrace_pid_mutex);

	if (tr->callset.cgroups && !fresh)
		ret = cgroup_list_copy(&new, tr->callset.cgroups->list[kind]);
	ret = ret ?: cgroup_list_copy(&new, more);
	if (ret)
		return ret;
	lists = cgroup_lists_get(tr);
	if (IS_ERR(lists))
		return PTR_ERR(lists);
	cgroup_lists_replace(tr, lists, kind, no_free_ptr(new));
	return 0;
}

static void cgroup_lists_clear(struct trace_array *tr, enum ftrace_cgroup_kind kind)
{
	guard(mutex)(&ftrace_pid_mutex);

	if (tr->callset.cgroups && tr->callset.cgroups->list[kind])
		cgroup_lists_replace(tr, tr->callset.cgroups, kind, NULL);
}

/**
 * ftrace_cgroup_forget - drop both lists of an instance that goes away
 * @tr: the instance, whose events are off
 *
 * Context: sleeps; event_mutex is held.
 */
void ftrace_cgroup_forget(struct trace_array *tr)
{
	cgroup_lists_clear(tr, FTRACE_CGROUP_ONLY);
	cgroup_lists_clear(tr, FTRACE_CGROUP_NOT);
}

/* The files: a path in each line */

static const struct file_operations ftrace_cgroup_fops[FTRACE_CGROUP_KINDS];

static enum ftrace_cgroup_kind cgroup_file_kind(const struct file *file)
{
	return file->f_op - ftrace_cgroup_fops;
}

/* The path from the reader's root on, or the number where a write would not take the path. */
static void cgroup_show(struct seq_file *m, struct cgroup *cgrp, char *path)
{
	int len = cgroup_path_ns(cgrp, path, PATH_MAX, current->nsproxy->cgroup_ns);

	/* A path that is cut fills the buffer, and may be another's. A blank makes it two words. */
	if (len < 0 || len >= PATH_MAX - 1 || strpbrk(path, " \t\v\f\r\xa0"))
		seq_printf(m, "%llu", cgroup_id(cgrp));
	else
		seq_puts(m, path);
	seq_puts(m, READ_ONCE(cgrp->self.flags) & CSS_ONLINE ? "\n" : " (deleted)\n");
}

static int ftrace_cgroup_show(struct seq_file *m, void *v)
{
	char *path __free(kfree) = kmalloc(PATH_MAX, GFP_KERNEL);
	enum ftrace_cgroup_kind kind = cgroup_file_kind(m->file);
	struct cgroup_list *list __free(cgroup_list) = NULL;
	struct trace_array *tr = file_inode(m->file)->i_private;
	int ret = 0;

	if (!path)
		return -ENOMEM;
	/* The paths are looked up under cgroup_mutex, for which a long move may make us wait. */
	scoped_guard(mutex, &ftrace_pid_mutex) {
		if (tr->callset.cgroups)
			ret = cgroup_list_copy(&list, tr->callset.cgroups->list[kind]);
	}
	if (ret)
		return ret;
	if (!list)
		seq_puts(m, "no cgroup\n");
	for (unsigned int i = 0; list && i < list->nr; i++)
		cgroup_show(m, list->cgroup[i], path);
	return 0;
}

/*
 * The private pointer of the seq_file. The first words that are right may begin a new list. The
 * old one stays until then; where others were wrong, also after the file is closed.
 */
#define CGROUP_FILE_ADDS	NULL
#define CGROUP_FILE_BEGINS	((void *)1)
#define CGROUP_FILE_FAILED	((void *)2)

static int ftrace_cgroup_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	/* For writers, too. */
	ret = single_open(file, ftrace_cgroup_show,
			  (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC) ?
			  CGROUP_FILE_BEGINS : CGROUP_FILE_ADDS);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static struct cgroup *cgroup_get_from_word(const char *word)
{
	u64 id;

	if (*word == '/')
		return cgroup_get_from_path(word);
	if (kstrtou64(word, 0, &id))
		return ERR_PTR(-EINVAL);
	return cgroup_get_from_id(id);
}

static const char *const cgroup_errors[] = {
	"There is no cgroup of this path or number",
	"Neither the path of a cgroup, from the root on, nor its number",
};

static int cgroup_list_add_word(struct trace_array *tr, enum ftrace_cgroup_kind kind,
				struct cgroup_list **list, const char *word)
{
	struct cgroup *cgrp = cgroup_get_from_word(word);

	if (!IS_ERR(cgrp))
		return cgroup_list_add(list, cgrp);
	tracing_log_err(tr, cgroup_file_name[kind], word, (const char **)cgroup_errors,
			PTR_ERR(cgrp) == -EINVAL, 0);
	return PTR_ERR(cgrp);
}

/* Adds the words at @ubuf to a list. Returns how many bytes were read. */
static ssize_t cgroup_list_read(struct trace_array *tr, enum ftrace_cgroup_kind kind,
				struct cgroup_list **list, const char __user *ubuf, size_t cnt)
{
	struct trace_parser parser;
	ssize_t read = 0, ret = 0;

	if (trace_parser_get_init(&parser, PATH_MAX))
		return -ENOMEM;
	while (read < cnt && ret >= 0) {
		loff_t pos = 0;

		ret = trace_get_user(&parser, ubuf + read, cnt - read, &pos);
		if (ret < 0)
			break;
		read += ret;
		if (!trace_parser_loaded(&parser))
			break;
		ret = cgroup_list_add_word(tr, kind, list, parser.buffer);
		trace_parser_clear(&parser);
	}
	trace_parser_put(&parser);
	return ret < 0 ? ret : read;
}

static ssize_t ftrace_cgroup_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	enum ftrace_cgroup_kind kind = cgroup_file_kind(file);
	struct cgroup_list *list __free(cgroup_list) = NULL;
	struct seq_file *m = file->private_data;
	ssize_t read;
	int ret;

	/* Two may write by one descriptor: one list begins. */
	guard(mutex)(&m->lock);
	read = cgroup_list_read(tr, kind, &list, ubuf, cnt);
	if (!read || (read > 0 && !list))
		return read;
	ret = read < 0 ? read : cgroup_lists_add(tr, kind, list, m->private != CGROUP_FILE_ADDS);
	if (ret) {
		if (m->private == CGROUP_FILE_BEGINS)
			m->private = CGROUP_FILE_FAILED;
		return ret;
	}
	m->private = CGROUP_FILE_ADDS;
	*ppos += read;
	return read;
}

static int ftrace_cgroup_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	/* A new list without words */
	if (m->private == CGROUP_FILE_BEGINS) {
		guard(mutex)(&event_mutex);
		cgroup_lists_clear(inode->i_private, cgroup_file_kind(file));
	}
	trace_array_put(inode->i_private);
	return single_release(inode, file);
}

static const struct file_operations ftrace_cgroup_fops[FTRACE_CGROUP_KINDS] = {
	[FTRACE_CGROUP_ONLY ... FTRACE_CGROUP_NOT] = {
		.open		= ftrace_cgroup_open,
		.read		= seq_read,
		.write		= ftrace_cgroup_write,
		.llseek		= tracing_lseek,
		.release	= ftrace_cgroup_release,
	},
};

/**
 * ftrace_cgroup_init_tracefs - make the files of the cgroups of an instance
 * @tr: the instance
 * @parent: its directory
 *
 * Context: sleeps. A file that could not be made is missing; tracefs says so.
 */
void ftrace_cgroup_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	for (unsigned int kind = 0; kind < FTRACE_CGROUP_KINDS; kind++)
		trace_create_file(cgroup_file_name[kind], TRACE_MODE_WRITE, parent, tr,
				  &ftrace_cgroup_fops[kind]);
}
