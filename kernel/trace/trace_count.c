// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer "count": how often each function is called, and nothing else.
 *
 *	function_counts		a line for each function that was called: its name, its
 *				module in brackets if it is in one, how often
 *	function_counts_raw	the same for programs: struct count_raw_head, and a
 *				struct count_raw_entry for each, by ascending address
 *
 * The options count-sorted and count-cpus say how: the most frequent first; with the
 * counts of each possible CPU after their sum. What is written there, or opening it to
 * truncate it, sets all counts to zero. Starting the tracer does so, too; what it
 * counted can be read after it has stopped.
 *
 * A call counts in the stub of its site (ftrace_stubs.c), or in count_call() where
 * there is none.
 *
 * Invariants:
 *  1. While the tracer of an instance runs, ops->saved_func is count_call(), and
 *     ops->func is that or, if some calls are not to be counted, count_call_asked().
 *  2. An instance has counts from the first time that it counts until it goes.
 *
 * Lock order:
 *	trace_types_lock > ftrace_lock
 * ftrace_lock covers the list of instances and their counts.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "ftrace_attach.h"
#include "ftrace_counts.h"
#include "ftrace_ops.h"
#include "ftrace_sites.h"
#include "trace.h"
#include "trace_count.h"

enum {
	COUNT_OPT_SORTED	= BIT(0),
	COUNT_OPT_CPUS		= BIT(1),
};

/**
 * struct count_instance - an instance that counts, or did
 * @node: in the list of all
 * @tr: the instance
 * @counts: what it counted
 */
struct count_instance {
	struct list_head	node;
	struct trace_array	*tr;
	struct ftrace_counts	*counts;
};

static LIST_HEAD(count_instances);

static struct count_instance *count_find(const struct trace_array *tr)
{
	struct count_instance *ci;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(ci, &count_instances, node) {
		if (ci->tr == tr)
			return ci;
	}
	return NULL;
}

static struct ftrace_counts *count_counts(struct trace_array *tr)
{
	struct count_instance *ci = count_find(tr);

	if (ci)
		return ci->counts;
	ci = kzalloc(sizeof(*ci), GFP_KERNEL);
	if (!ci)
		return NULL;
	ci->tr = tr;
	ci->counts = ftrace_counts_alloc();
	if (!ci->counts) {
		kfree(ci);
		return NULL;
	}
	list_add(&ci->node, &count_instances);
	return ci->counts;
}

/* Counting */

static void count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	const struct ftrace_counts *counts = READ_ONCE(ops->counts);
	const struct ftrace_table *table;
	u64 __percpu *count = NULL;

	/* Holds up the freeing of the table and the counts. */
	preempt_disable_notrace();
	table = ftrace_table_find(ip);
	/* After ftrace_kill() it is called for ever. */
	if (table && counts)
		count = ftrace_counts_find(counts, table, ftrace_table_lower_bound(table, ip));
	if (count)
		this_cpu_inc(*count);
	preempt_enable_notrace();
}

static void count_call_asked(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	const struct ftrace_counts *counts = READ_ONCE(ops->counts);

	if (counts && !(READ_ONCE(current->ftrace_pid_ignored) & READ_ONCE(counts->ignored)) &&
	    !this_cpu_read(*counts->off))
		count_call(ip, parent_ip, ops, fregs);
}

/* Tells the counts which CPUs do not count; returns whether there are any. */
static bool count_choose_cpus(const struct trace_array *tr, struct ftrace_counts *counts)
{
	bool any = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		bool off = !cpumask_test_cpu(cpu, tr->tracing_cpumask);

		WRITE_ONCE(*per_cpu_ptr(counts->off, cpu), off);
		any |= off;
	}
	return any;
}

/* The choose_func of the ops. */
static void count_choose_func(struct ftrace_ops *ops)
{
	const struct trace_array *tr = ops->private;
	struct ftrace_counts *counts = ops->counts;
	ftrace_func_t func = count_call;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(counts->ignored, tr->function_pid_bit);
	if (count_choose_cpus(tr, counts) || counts->ignored)
		func = count_call_asked;
	if (func != ops->func)
		ftrace_ops_set_func(ops, func);
}

/* The tracer */

static struct tracer_opt count_opts[] = {
	{ .name = "count-sorted", .bit = COUNT_OPT_SORTED },
	{ .name = "count-cpus", .bit = COUNT_OPT_CPUS },
	{ }
};

static struct tracer_flags count_flags = {
	.opts	= count_opts,
};

static int count_prepare(struct trace_array *tr)
{
	struct ftrace_counts *counts;

	guard(mutex)(&ftrace_lock);

	counts = count_counts(tr);
	if (!counts)
		return -ENOMEM;
	ftrace_counts_reset(counts);
	tr->ops->counts = counts;
	return 0;
}

static void count_tracer_reset(struct trace_array *tr)
{
	unregister_ftrace_function(tr->ops);
	WRITE_ONCE(tr->ops->counts, NULL);
	ftrace_reset_array_ops(tr);
}

static int count_tracer_init(struct trace_array *tr)
{
	int ret;

	if (!tr->ops)
		return -ENOMEM;
	ret = count_prepare(tr);
	if (ret)
		return ret;
	ftrace_init_array_ops(tr, count_call);
	tr->ops->choose_func = count_choose_func;
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tr->ops->counts = NULL;
		ftrace_reset_array_ops(tr);
	}
	return ret;
}

static void count_cpumask_changed(struct trace_array *tr)
{
	guard(mutex)(&ftrace_lock);

	if (!ftrace_disabled)
		count_choose_func(tr->ops);
}

static struct tracer count_tracer __tracer_data = {
	.name			= "count",
	.init			= count_tracer_init,
	.reset			= count_tracer_reset,
	.cpumask_changed	= count_cpumask_changed,
	.flags			= &count_flags,
	.allow_instances	= true,
};

/* The file: a line for each function, made when it is opened */

/**
 * struct count_line - a function that was called
 * @sum: how often
 * @name: where its name is in the names of the file
 * @cpu: where its counts are in those of the file
 */
struct count_line {
	u64	sum;
	u32	name;
	u32	cpu;
};

/**
 * struct count_file - function_counts, opened
 * @tr: the instance
 * @nr: number of @line
 * @line: the lines
 * @names: their names, each with a zero at the end
 * @names_len: bytes of @names in use
 * @names_size: bytes of @names
 * @cpu: counts of each possible CPU, for one line after the other; NULL if not wanted
 */
struct count_file {
	struct trace_array	*tr;
	unsigned int		nr;
	struct count_line	*line;
	char			*names;
	size_t			names_len;
	size_t			names_size;
	u64			*cpu;
};

static int count_add_name(struct count_file *file, const char *name, struct module *mod)
{
	size_t max = strlen(name) + MODULE_NAME_LEN + sizeof(" []");
	char *names;

	if (file->names_size - file->names_len < max) {
		size_t size = max(2 * file->names_size, SZ_64K);

		names = kvrealloc(file->names, size, GFP_KERNEL);
		if (!names)
			return -ENOMEM;
		file->names = names;
		file->names_size = size;
	}
	names = file->names + file->names_len;
	file->line[file->nr].name = file->names_len;
	if (mod)
		file->names_len += sprintf(names, "%s [%s]", name, module_name(mod)) + 1;
	else
		file->names_len += sprintf(names, "%s", name) + 1;
	return 0;
}

/* Starts a line with what @count says of a CPU; counts nothing if all are zero. */
static bool count_sum(struct count_file *file, const u64 __percpu *count, const u64 *plain)
{
	struct count_line *line = &file->line[file->nr];
	unsigned int i = 0;
	int cpu;

	line->sum = 0;
	line->cpu = file->nr * num_possible_cpus();
	for_each_possible_cpu(cpu) {
		u64 n = plain ? plain[cpu] : READ_ONCE(*per_cpu_ptr(count, cpu));

		line->sum += n;
		if (file->cpu)
			file->cpu[line->cpu + i++] = n;
	}
	return line->sum;
}

static int count_add_table(struct count_file *file, const struct ftrace_counts *counts,
			   struct ftrace_table *table)
{
	struct ftrace_names names;
	int ret = ftrace_names_start(&names, table);

	for (unsigned int i = 0; !ret && i < table->nr; i++) {
		const u64 __percpu *count = ftrace_counts_find(counts, table, i);
		const char *name;

		if (!count || !count_sum(file, count, NULL))
			continue;
		name = ftrace_names_get(&names, i);
		ret = count_add_name(file, name ?: "?", table->mod);
		file->nr++;
	}
	ftrace_names_end(&names);
	return ret;
}

static int count_add_all(struct count_file *file, const struct ftrace_counts *counts)
{
	struct ftrace_count_gone *gone;
	struct ftrace_table *table;
	int ret = 0;

	for_each_ftrace_table(table) {
		ret = ret ?: count_add_table(file, counts, table);
		cond_resched();
	}
	list_for_each_entry(gone, &counts->gone, node) {
		if (ret || !count_sum(file, NULL, gone->count))
			continue;
		ret = count_add_name(file, gone->name, NULL);
		file->nr++;
	}
	return ret;
}

static int count_line_cmp(const void *a, const void *b)
{
	const struct count_line *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return x->name < y->name ? -1 : 1;
}

static int count_file_fill(struct count_file *file)
{
	unsigned int max = ftrace_nr_sites;
	struct ftrace_counts *counts;
	struct count_instance *ci;
	int ret;

	guard(mutex)(&ftrace_lock);

	ci = count_find(file->tr);
	if (!ci)
		return 0;
	counts = ci->counts;
	max += list_count_nodes(&counts->gone);
	file->line = kvmalloc_array(max, sizeof(*file->line), GFP_KERNEL);
	if (count_flags.val & COUNT_OPT_CPUS)
		file->cpu = kvmalloc_array(max, num_possible_cpus() * sizeof(u64), GFP_KERNEL);
	if (!file->line || (count_flags.val & COUNT_OPT_CPUS && !file->cpu))
		return -ENOMEM;
	ret = count_add_all(file, counts);
	if (!ret && (count_flags.val & COUNT_OPT_SORTED))
		sort(file->line, file->nr, sizeof(*file->line), count_line_cmp, NULL);
	return ret;
}

static void count_file_free(struct count_file *file)
{
	trace_array_put(file->tr);
	kvfree(file->line);
	kvfree(file->names);
	kvfree(file->cpu);
	kfree(file);
}

static void *count_seq_start(struct seq_file *m, loff_t *pos)
{
	const struct count_file *file = m->private;

	return *pos < file->nr ? &file->line[*pos] : NULL;
}

static void *count_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return count_seq_start(m, pos);
}

static void count_seq_stop(struct seq_file *m, void *v)
{
}

static int count_seq_show(struct seq_file *m, void *v)
{
	const struct count_file *file = m->private;
	const struct count_line *line = v;

	seq_printf(m, "%s %llu", file->names + line->name, line->sum);
	for (unsigned int i = 0; file->cpu && i < num_possible_cpus(); i++)
		seq_printf(m, " %llu", file->cpu[line->cpu + i]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations count_seq_ops = {
	.start	= count_seq_start,
	.next	= count_seq_next,
	.stop	= count_seq_stop,
	.show	= count_seq_show,
};

static void count_zero(struct trace_array *tr)
{
	struct count_instance *ci;

	guard(mutex)(&ftrace_lock);

	ci = count_find(tr);
	if (ci)
		ftrace_counts_reset(ci->counts);
}

static int count_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	struct count_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->tr = tr;

	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC))
		count_zero(tr);
	if (filp->f_mode & FMODE_READ)
		ret = count_file_fill(file);
	ret = ret ?: seq_open(filp, &count_seq_ops);
	if (ret) {
		count_file_free(file);
		return ret;
	}
	((struct seq_file *)filp->private_data)->private = file;
	return 0;
}

static int count_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;

	count_file_free(m->private);
	return seq_release(inode, filp);
}

static ssize_t count_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct seq_file *m = filp->private_data;
	struct count_file *file = m->private;

	/* Whatever is written: there is nothing else to ask for. */
	count_zero(file->tr);
	*ppos += cnt;
	return cnt;
}

static const struct file_operations count_fops = {
	.open		= count_open,
	.read		= seq_read,
	.write		= count_write,
	.llseek		= tracing_lseek,
	.release	= count_release,
};

/* The same for programs. The format is in Documentation/trace/ftrace-callsets.rst. */

#define COUNT_RAW_VERSION	1

/**
 * struct count_raw_head - what function_counts_raw begins with
 * @version: changes if what follows is not understood by who knows this one
 * @head_size: bytes before the first entry
 * @entry_size: bytes from one entry to the next
 * @nr: how many entries
 */
struct count_raw_head {
	u32	version;
	u32	head_size;
	u32	entry_size;
	u32	nr;
};

/**
 * struct count_raw_entry - a function that was called
 * @ip: its address, as in available_filter_functions_addrs
 * @count: how often
 */
struct count_raw_entry {
	u64	ip;
	u64	count;
};

/**
 * struct count_raw - function_counts_raw, opened
 * @size: bytes from @head on
 * @head: what is read
 * @entry: likewise
 */
struct count_raw {
	size_t			size;
	struct count_raw_head	head;
	struct count_raw_entry	entry[];
};

static void count_raw_add_table(struct count_raw *raw, const struct ftrace_counts *counts,
				const struct ftrace_table *table)
{
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(table, rec) {
		const u64 __percpu *count = ftrace_counts_find(counts, table, rec - table->recs);
		struct count_raw_entry *entry = &raw->entry[raw->head.nr];
		int cpu;

		if (!count)
			continue;
		*entry = (struct count_raw_entry){ .ip = ftrace_rec_ip(table, rec) };
		for_each_possible_cpu(cpu)
			entry->count += READ_ONCE(*per_cpu_ptr(count, cpu));
		if (entry->count)
			raw->head.nr++;
	}
}

static struct count_raw *count_raw_make(const struct trace_array *tr)
{
	struct count_instance *ci;
	struct ftrace_table *table;
	struct count_raw *raw;

	guard(mutex)(&ftrace_lock);

	raw = kvmalloc(struct_size(raw, entry, ftrace_nr_sites), GFP_KERNEL);
	if (!raw)
		return NULL;
	raw->head = (struct count_raw_head) {
		.version	= COUNT_RAW_VERSION,
		.head_size	= sizeof(raw->head),
		.entry_size	= sizeof(raw->entry[0]),
	};
	ci = count_find(tr);
	if (ci) {
		for_each_ftrace_table(table)
			count_raw_add_table(raw, ci->counts, table);
	}
	raw->size = sizeof(raw->head) + raw->head.nr * sizeof(raw->entry[0]);
	return raw;
}

static int count_raw_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	filp->private_data = count_raw_make(tr);
	trace_array_put(tr);
	return filp->private_data ? 0 : -ENOMEM;
}

static ssize_t count_raw_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const struct count_raw *raw = filp->private_data;

	return simple_read_from_buffer(ubuf, cnt, ppos, &raw->head, raw->size);
}

static int count_raw_release(struct inode *inode, struct file *filp)
{
	kvfree(filp->private_data);
	return 0;
}

static const struct file_operations count_raw_fops = {
	.open		= count_raw_open,
	.read		= count_raw_read,
	.llseek		= default_llseek,
	.release	= count_raw_release,
};

/**
 * trace_count_create_files - make the files of an instance
 * @tr: the instance
 * @parent: its directory
 */
void trace_count_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_counts", TRACE_MODE_WRITE, parent, tr, &count_fops);
	trace_create_file("function_counts_raw", TRACE_MODE_READ, parent, tr, &count_raw_fops);
}

/**
 * trace_count_forget - free what an instance counted
 * @tr: the instance, which is about to go; its tracer does not run
 *
 * Context: sleeps; takes ftrace_lock.
 */
void trace_count_forget(struct trace_array *tr)
{
	struct count_instance *ci;

	guard(mutex)(&ftrace_lock);

	ci = count_find(tr);
	if (!ci)
		return;
	list_del(&ci->node);
	ftrace_counts_put(ci->counts);
	kfree(ci);
}

static int __init count_register(void)
{
	return register_tracer(&count_tracer);
}
core_initcall(count_register);
