// SPDX-License-Identifier: GPL-2.0
/*
 * The file of the tracer "count" (trace_count.c): function_counts has a line for each function
 * that was called, with its name, its module in brackets if it is in one, and the number of
 * calls.
 *
 * The options count-sorted and count-cpus change that: the most frequent first; with the
 * counts of each possible CPU after their sum. With count-times the times of the calls that
 * have returned follow, "total=NS self=NS max=NS". With count-callers there is a line for each
 * function and caller, "FUNCTION <- CALLER"; these have no times. Any write, or opening the
 * file to truncate it, sets all counts to zero. Starting the tracer does so, too; its counts
 * can be read after it has stopped. Those of a module go with the module.
 *
 * The text is made when the file is opened, with trace_types_lock and ftrace_lock held.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/sprintf.h>

#include "ftrace_callers.h"
#include "ftrace_counts.h"
#include "ftrace_ops.h"
#include "ftrace_sites.h"
#include "ftrace_times.h"
#include "trace.h"
#include "trace_count.h"

/**
 * struct count_line - a line of the file
 * @sum: the calls
 * @text: the offset of its text
 */
struct count_line {
	u64	sum;
	size_t	text;
};

/**
 * struct count_file - function_counts, opened
 * @tr: the instance
 * @options: of the instance, when the file was opened
 * @nr: number of lines
 * @line: the lines
 * @text: their text, each with a zero at the end
 * @len: bytes of @text in use
 * @size: bytes of @text
 * @sum: of the line that is being made
 * @cpu: likewise, of each possible CPU, by its number
 */
struct count_file {
	struct trace_array	*tr;
	u32			options;
	unsigned int		nr;
	struct count_line	*line;
	char			*text;
	size_t			len;
	size_t			size;
	u64			sum;
	u64			cpu[];
};

/* Making the lines */

/* Adds a count to the line that is being made; returns whether the line has any. */
static bool count_add(struct count_file *file, const u64 __percpu *count)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		u64 n = READ_ONCE(*per_cpu_ptr(count, cpu));

		file->sum += n;
		file->cpu[cpu] += n;
	}
	return file->sum;
}

static __printf(2, 3) void count_print(struct count_file *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	file->len += vsprintf(file->text + file->len, format, args);
	va_end(args);
}

/* Makes room for any line, which then begins with a name. */
static int count_line_start(struct count_file *file)
{
	size_t max = 2 * KSYM_SYMBOL_LEN + (nr_cpu_ids + 4) * sizeof(" total=18446744073709551615");
	size_t size = max(2 * file->size, SZ_64K + max);
	char *text;

	if (file->size - file->len >= max)
		return 0;
	text = kvrealloc(file->text, size, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	file->text = text;
	file->size = size;
	return 0;
}

/* @start: file->len at its start. @time: NULL if the line has no times. */
static void count_line_end(struct count_file *file, size_t start, const struct ftrace_time *time)
{
	int cpu;

	count_print(file, " %llu", file->sum);
	for_each_possible_cpu(cpu) {
		if (file->options & COUNT_OPT_CPUS)
			count_print(file, " %llu", file->cpu[cpu]);
		file->cpu[cpu] = 0;
	}
	if (time)
		count_print(file, " total=%llu self=%llu max=%llu", time->total, time->self,
			    time->max);
	count_print(file, "\n");
	file->len++;
	file->line[file->nr++] = (struct count_line) { .sum = file->sum, .text = start };
	file->sum = 0;
}

/* Functions */

/* The times of a function on all CPUs: zeroes where these are unknown, NULL if not wanted. */
static const struct ftrace_time *count_times(const struct count_file *file,
					     const struct ftrace_table *table, unsigned int index,
					     struct ftrace_time *sum)
{
	if (!(file->options & COUNT_OPT_TIMES))
		return NULL;
	*sum = (struct ftrace_time) { };
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (file->tr->count->times)
		ftrace_times_sum(file->tr->count->times, table, index, sum);
#endif
	return sum;
}

static int count_add_table(struct count_file *file, struct ftrace_table *table)
{
	struct ftrace_names names;
	struct ftrace_time sum;
	int ret = ftrace_names_start(&names, table);

	for (unsigned int i = 0; !ret && i < table->nr; i++) {
		const u64 __percpu *count = ftrace_counts_find(file->tr->count->counts, table, i);
		size_t start = file->len;

		if (!count || !count_add(file, count))
			continue;
		ret = count_line_start(file);
		if (ret)
			break;
		count_print(file, "%s", ftrace_names_get(&names, i) ?: "?");
		if (table->mod)
			count_print(file, " [%s]", module_name(table->mod));
		count_line_end(file, start, count_times(file, table, i, &sum));
	}
	ftrace_names_end(&names);
	return ret;
}

static int count_add_functions(struct count_file *file)
{
	struct ftrace_table *table;
	int ret = 0;

	file->line = kvmalloc_array(ftrace_nr_sites, sizeof(*file->line), GFP_KERNEL);
	if (!file->line)
		return -ENOMEM;
	for_each_ftrace_table(table) {
		ret = ret ?: count_add_table(file, table);
		cond_resched();
	}
	return ret;
}

/* Pairs of a function and its caller */

/**
 * struct count_pair - a pair that may have been called
 * @ip: the site
 * @caller: the address of the function that it returns to
 * @slot: the place of its count
 */
struct count_pair {
	unsigned long	ip;
	unsigned long	caller;
	unsigned int	slot;
};

static int count_pair_cmp(const void *a, const void *b)
{
	const struct count_pair *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

/* A call may be the last of its function: it returns to the end. */
static unsigned long count_caller_start(unsigned long caller)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(caller - 1, &size, &offset))
		return caller;
	return caller - 1 - offset;
}

/* Fills in the pairs by ascending addresses; returns their number. Equal ones are one pair. */
static unsigned int count_pairs_get(const struct ftrace_callers *callers, struct count_pair *pairs)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < callers->nr; i++) {
		u64 key = READ_ONCE(callers->key[i]);

		if (!key)
			continue;
		pairs[nr++] = (struct count_pair) {
			.ip	= ftrace_callers_ip(key),
			.caller	= count_caller_start(ftrace_callers_parent(key)),
			.slot	= i,
		};
	}
	sort(pairs, nr, sizeof(*pairs), count_pair_cmp, NULL);
	return nr;
}

static int count_add_pairs(struct count_file *file)
{
	const struct ftrace_callers *callers = file->tr->count->callers;
	struct count_pair *pairs __free(kvfree) = NULL;
	unsigned int nr;
	bool any;
	int ret;

	if (!callers)
		return 0;
	pairs = kvmalloc_array(callers->nr, sizeof(*pairs), GFP_KERNEL);
	file->line = kvmalloc_array(callers->nr + 1, sizeof(*file->line), GFP_KERNEL);
	if (!pairs || !file->line)
		return -ENOMEM;
	nr = count_pairs_get(callers, pairs);
	for (unsigned int i = 0; i < nr; i++) {
		size_t start = file->len;

		any = count_add(file, ftrace_callers_slot(callers, pairs[i].slot));
		if (!any || (i + 1 < nr && !count_pair_cmp(&pairs[i], &pairs[i + 1])))
			continue;
		ret = count_line_start(file);
		if (ret)
			return ret;
		count_print(file, "%ps <- %ps", (void *)pairs[i].ip, (void *)pairs[i].caller);
		count_line_end(file, start, NULL);
		cond_resched();
	}
	return 0;
}

/* The last line, however the others are sorted. */
static int count_add_lost(struct count_file *file)
{
	const struct ftrace_callers *callers = file->tr->count->callers;
	size_t start = file->len;
	int ret;

	if (!callers || !count_add(file, callers->lost))
		return 0;
	ret = count_line_start(file);
	if (ret)
		return ret;
	count_print(file, "... <- ...");
	count_line_end(file, start, NULL);
	return 0;
}

static int count_line_cmp(const void *a, const void *b)
{
	const struct count_line *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return x->text < y->text ? -1 : 1;
}

static int count_file_fill(struct count_file *file)
{
	bool pairs;
	int ret;

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	if (!file->tr->count)
		return 0;
	file->options = trace_count_options(file->tr);
	pairs = file->options & COUNT_OPT_CALLERS;
	ret = pairs ? count_add_pairs(file) : count_add_functions(file);
	if (!ret && (file->options & COUNT_OPT_SORTED))
		sort(file->line, file->nr, sizeof(*file->line), count_line_cmp, NULL);
	return ret ?: pairs ? count_add_lost(file) : 0;
}

/* The file */

static void count_file_free(struct count_file *file)
{
	trace_array_put(file->tr);
	kvfree(file->line);
	kvfree(file->text);
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

	seq_puts(m, file->text + line->text);
	return 0;
}

static const struct seq_operations count_seq_ops = {
	.start	= count_seq_start,
	.next	= count_seq_next,
	.stop	= count_seq_stop,
	.show	= count_seq_show,
};

static int count_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	struct count_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	file = kzalloc(struct_size(file, cpu, nr_cpu_ids), GFP_KERNEL);
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->tr = tr;

	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC))
		trace_count_zero(tr);
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
	trace_count_zero(file->tr);
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

/**
 * trace_count_create_files - make the file of an instance
 * @tr: the instance
 * @parent: its directory
 */
void trace_count_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_counts", TRACE_MODE_WRITE, parent, tr, &count_fops);
}
