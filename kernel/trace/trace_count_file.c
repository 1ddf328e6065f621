// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the tracer "count" (trace_count.c):
 *
 *	function_counts		a line for each function that was called: its name, its
 *				module in brackets if it is in one, how often
 *	function_counts_raw	the same for programs: struct count_raw_head, and a
 *				struct count_raw_entry for each, by ascending address
 *
 * The options count-sorted and count-cpus say how: the most frequent first; with the
 * counts of each possible CPU after their sum. With count-times the times of the calls that
 * have returned follow, "total=NS self=NS max=NS", and entries are struct count_raw_timed.
 * With count-callers there is a line for each function and caller, "FUNCTION <- CALLER", and
 * a struct count_raw_pair; these have no times. What is written to function_counts, or opening
 * it to truncate it, sets all counts to zero. Starting the tracer does so, too; what it
 * counted can be read after it has stopped.
 *
 * Both are made when they are opened, with trace_types_lock and ftrace_lock held.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "ftrace_callers.h"
#include "ftrace_counts.h"
#include "ftrace_ops.h"
#include "ftrace_sites.h"
#include "ftrace_times.h"
#include "trace.h"
#include "trace_count.h"

/* Pairs of a function and its caller */

/**
 * struct count_pair - a pair that may have been called
 * @ip: the site
 * @caller: the address that its function returns to, or where the function is that this
 *	    is in
 * @slot: where its count is
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

/*
 * The pairs by ascending addresses, to be freed; ERR_PTR without memory. Those with the same
 * addresses are one pair. By function, all calls that one makes of another have the same.
 */
static struct count_pair *count_pairs_get(const struct ftrace_callers *callers, bool by_function,
					  unsigned int *nr)
{
	struct count_pair *pairs = kvmalloc_array(callers->nr, sizeof(*pairs), GFP_KERNEL);

	*nr = 0;
	if (!pairs)
		return ERR_PTR(-ENOMEM);
	for (unsigned int i = 0; i < callers->nr; i++) {
		u64 key = READ_ONCE(callers->key[i]);
		unsigned long caller = ftrace_callers_parent(key);

		if (!key)
			continue;
		pairs[(*nr)++] = (struct count_pair) {
			.ip	= ftrace_callers_ip(key),
			.caller	= by_function ? count_caller_start(caller) : caller,
			.slot	= i,
		};
	}
	sort(pairs, *nr, sizeof(*pairs), count_pair_cmp, NULL);
	return pairs;
}

/* Times */

/* Adds up what a function took on all CPUs; nothing, where that is not known. */
static void count_sum_times(const struct count_instance *ci, const struct ftrace_table *table,
			    unsigned int index, struct ftrace_time *sum)
{
	*sum = (struct ftrace_time) { };
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ci->times)
		ftrace_times_sum(ci->times, table, index, sum);
#endif
}

static bool count_shows_times(const struct trace_array *tr)
{
	return (trace_count_options(tr) & (COUNT_OPT_TIMES | COUNT_OPT_CALLERS)) == COUNT_OPT_TIMES;
}

/* The file: a line for each function, made when it is opened */

/**
 * struct count_line - a function that was called
 * @sum: how often
 * @name: where its name is in the names of the file
 * @nr: which line it was before they were sorted, by which the file has all else
 */
struct count_line {
	u64	sum;
	u32	name;
	u32	nr;
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
 * @time: times, for one line after the other; NULL if not wanted
 */
struct count_file {
	struct trace_array	*tr;
	unsigned int		nr;
	struct count_line	*line;
	char			*names;
	size_t			names_len;
	size_t			names_size;
	u64			*cpu;
	struct ftrace_time	*time;
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

static u64 *count_line_cpus(const struct count_file *file, const struct count_line *line)
{
	return &file->cpu[line->nr * num_possible_cpus()];
}

static void count_line_start(struct count_file *file)
{
	struct count_line *line = &file->line[file->nr];

	line->sum = 0;
	line->nr = file->nr;
	if (file->cpu)
		memset(count_line_cpus(file, line), 0,
		       array_size(num_possible_cpus(), sizeof(u64)));
}

/* Adds to the line that was started; returns whether there is anything in it. */
static bool count_line_add(struct count_file *file, const u64 __percpu *count, const u64 *plain)
{
	struct count_line *line = &file->line[file->nr];
	unsigned int i = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		u64 n = plain ? plain[cpu] : READ_ONCE(*per_cpu_ptr(count, cpu));

		line->sum += n;
		if (file->cpu)
			count_line_cpus(file, line)[i++] += n;
	}
	return line->sum;
}

static bool count_sum(struct count_file *file, const u64 __percpu *count, const u64 *plain)
{
	count_line_start(file);
	return count_line_add(file, count, plain);
}

static int count_add_gone(struct count_file *file, const struct list_head *list)
{
	const struct ftrace_count_gone *gone;
	int ret = 0;

	list_for_each_entry(gone, list, node) {
		if (ret || !count_sum(file, NULL, gone->count))
			continue;
		if (file->time)
			file->time[file->nr] = gone->time;
		ret = count_add_name(file, gone->name, NULL);
		file->nr++;
	}
	return ret;
}

static int count_add_table(struct count_file *file, const struct count_instance *ci,
			   struct ftrace_table *table)
{
	struct ftrace_names names;
	int ret = ftrace_names_start(&names, table);

	for (unsigned int i = 0; !ret && i < table->nr; i++) {
		const u64 __percpu *count = ftrace_counts_find(ci->counts, table, i);
		const char *name;

		if (!count || !count_sum(file, count, NULL))
			continue;
		if (file->time)
			count_sum_times(ci, table, i, &file->time[file->nr]);
		name = ftrace_names_get(&names, i);
		ret = count_add_name(file, name ?: "?", table->mod);
		file->nr++;
	}
	ftrace_names_end(&names);
	return ret;
}

static int count_add_all(struct count_file *file, const struct count_instance *ci)
{
	struct ftrace_table *table;
	int ret = 0;

	for_each_ftrace_table(table) {
		ret = ret ?: count_add_table(file, ci, table);
		cond_resched();
	}
	return ret ?: count_add_gone(file, &ci->counts->gone);
}

/* Adds the line of the first pairs, which are one; says how many. */
static int count_add_pair(struct count_file *file, const struct ftrace_callers *callers,
			  const struct count_pair *pair, unsigned int nr, unsigned int *same)
{
	unsigned int i = 0;
	bool any;
	int ret;

	count_line_start(file);
	do {
		any = count_line_add(file, ftrace_callers_slot(callers, pair[i].slot), NULL);
		i++;
	} while (i < nr && !count_pair_cmp(pair, &pair[i]));
	*same = i;
	if (!any)
		return 0;

	char *name __free(kfree) = ftrace_callers_name(pair->ip, pair->caller);

	ret = name ? count_add_name(file, name, NULL) : -ENOMEM;
	file->nr++;
	return ret;
}

static int count_add_pairs(struct count_file *file, const struct ftrace_callers *callers)
{
	unsigned int nr, same;
	struct count_pair *pairs = count_pairs_get(callers, true, &nr);
	int ret = PTR_ERR_OR_ZERO(pairs);

	for (unsigned int i = 0; !ret && i < nr; i += same) {
		ret = count_add_pair(file, callers, &pairs[i], nr - i, &same);
		cond_resched();
	}
	if (!IS_ERR(pairs))
		kvfree(pairs);
	return ret ?: count_add_gone(file, &callers->gone);
}

/* Last, wherever the others are. */
static int count_add_lost(struct count_file *file, const struct ftrace_callers *callers)
{
	int ret = 0;

	if (count_sum(file, callers->lost, NULL)) {
		ret = count_add_name(file, "... <- ...", NULL);
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

/* How many lines there can be. */
static unsigned int count_max_lines(const struct count_instance *ci,
				    const struct ftrace_callers *callers)
{
	if (callers)
		return callers->nr + list_count_nodes(&ci->callers->gone) + 1;
	return ftrace_nr_sites + list_count_nodes(&ci->counts->gone);
}

static int count_file_alloc(struct count_file *file, unsigned int max)
{
	bool cpus = trace_count_options(file->tr) & COUNT_OPT_CPUS;
	bool times = count_shows_times(file->tr);

	file->line = kvmalloc_array(max, sizeof(*file->line), GFP_KERNEL);
	if (cpus)
		file->cpu = kvmalloc_array(max, num_possible_cpus() * sizeof(u64), GFP_KERNEL);
	if (times)
		file->time = kvcalloc(max, sizeof(*file->time), GFP_KERNEL);
	return file->line && !file->cpu == !cpus && !file->time == !times ? 0 : -ENOMEM;
}

static int count_file_fill(struct count_file *file)
{
	u32 options = trace_count_options(file->tr);
	bool pairs = options & COUNT_OPT_CALLERS;
	struct ftrace_callers *callers;
	struct count_instance *ci;
	int ret;

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	ci = file->tr->count;
	callers = ci && pairs ? ci->callers : NULL;
	if (!ci || (pairs && !callers))
		return 0;
	ret = count_file_alloc(file, count_max_lines(ci, callers));
	if (ret)
		return ret;
	ret = callers ? count_add_pairs(file, callers) : count_add_all(file, ci);
	if (!ret && (options & COUNT_OPT_SORTED))
		sort(file->line, file->nr, sizeof(*file->line), count_line_cmp, NULL);
	if (!ret && callers)
		ret = count_add_lost(file, callers);
	return ret;
}

static void count_file_free(struct count_file *file)
{
	trace_array_put(file->tr);
	kvfree(file->line);
	kvfree(file->names);
	kvfree(file->cpu);
	kvfree(file->time);
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
		seq_printf(m, " %llu", count_line_cpus(file, line)[i]);
	if (file->time) {
		const struct ftrace_time *time = &file->time[line->nr];

		seq_printf(m, " total=%llu self=%llu max=%llu", time->total, time->self,
			   time->max);
	}
	seq_putc(m, '\n');
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
	file = kzalloc(sizeof(*file), GFP_KERNEL);
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

/* The same for programs. The format is in Documentation/trace/ftrace-callsets.rst. */

/* Functions, pairs of a function and a caller, and functions with times. */
#define COUNT_RAW_VERSION	1
#define COUNT_RAW_PAIRS_VERSION	2
#define COUNT_RAW_TIMES_VERSION	3

/**
 * struct count_raw_head - what function_counts_raw begins with
 * @version: changes if what follows is not understood by who knows this one
 * @head_size: bytes before the first entry
 * @entry_size: bytes from one entry to the next
 * @nr: how many entries
 * @lost: how many calls are in no pair; in version 2 only
 */
struct count_raw_head {
	u32	version;
	u32	head_size;
	u32	entry_size;
	u32	nr;
	u64	lost[];
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
 * struct count_raw_timed - the same with what its calls took that have returned, in ns
 * @entry: the function
 * @total: all of them together
 * @self: the same without the totals of others that it called
 * @max: the one that took the longest
 */
struct count_raw_timed {
	struct count_raw_entry	entry;
	u64			total;
	u64			self;
	u64			max;
};

/**
 * struct count_raw_pair - a function that was called from one place
 * @ip: its address, likewise
 * @caller: the address that it returned to
 * @count: how often
 */
struct count_raw_pair {
	u64	ip;
	u64	caller;
	u64	count;
};

/**
 * struct count_raw - function_counts_raw, opened
 * @size: bytes from @head on
 * @head: what is read; the entries follow
 */
struct count_raw {
	size_t			size;
	struct count_raw_head	head;
};

static struct count_raw *count_raw_alloc(u32 version, size_t head_size, size_t entry_size,
					 unsigned int max)
{
	struct count_raw *raw = kvmalloc(offsetof(struct count_raw, head) + head_size +
					 array_size(max, entry_size), GFP_KERNEL);

	if (!raw)
		return ERR_PTR(-ENOMEM);
	raw->head = (struct count_raw_head) {
		.version	= version,
		.head_size	= head_size,
		.entry_size	= entry_size,
	};
	return raw;
}

static void *count_raw_next(struct count_raw *raw)
{
	return (void *)&raw->head + raw->head.head_size + raw->head.nr * raw->head.entry_size;
}

static u64 count_raw_sum(const u64 __percpu *count)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(count, cpu));
	return sum;
}

static void count_raw_add_times(struct count_raw_timed *timed, const struct count_instance *ci,
				const struct ftrace_table *table, unsigned int index)
{
	struct ftrace_time sum;

	count_sum_times(ci, table, index, &sum);
	timed->total = sum.total;
	timed->self = sum.self;
	timed->max = sum.max;
}

static void count_raw_add_table(struct count_raw *raw, const struct count_instance *ci,
				const struct ftrace_table *table)
{
	bool times = raw->head.version == COUNT_RAW_TIMES_VERSION;

	for (unsigned int i = 0; i < table->nr; i++) {
		const u64 __percpu *count = ftrace_counts_find(ci->counts, table, i);
		struct count_raw_entry *entry = count_raw_next(raw);

		if (!count)
			continue;
		*entry = (struct count_raw_entry) {
			.ip	= ftrace_rec_ip(table, &table->recs[i]),
			.count	= count_raw_sum(count),
		};
		if (!entry->count)
			continue;
		if (times)
			count_raw_add_times(container_of(entry, struct count_raw_timed, entry), ci,
					    table, i);
		raw->head.nr++;
	}
}

static struct count_raw *count_raw_functions(const struct count_instance *ci, bool times)
{
	struct ftrace_table *table;
	struct count_raw *raw;

	raw = count_raw_alloc(times ? COUNT_RAW_TIMES_VERSION : COUNT_RAW_VERSION,
			      sizeof(raw->head), times ? sizeof(struct count_raw_timed) :
							 sizeof(struct count_raw_entry),
			      ftrace_nr_sites);
	if (IS_ERR(raw) || !ci)
		return raw;
	for_each_ftrace_table(table)
		count_raw_add_table(raw, ci, table);
	return raw;
}

/* The pairs are sorted: those that are one follow each other. */
static void count_raw_add_pair(struct count_raw *raw, const struct ftrace_callers *callers,
			       const struct count_pair *pair)
{
	u64 count = count_raw_sum(ftrace_callers_slot(callers, pair->slot));
	struct count_raw_pair *entry = count_raw_next(raw);

	if (!count)
		return;
	if (raw->head.nr && entry[-1].ip == pair->ip && entry[-1].caller == pair->caller) {
		entry[-1].count += count;
		return;
	}
	*entry = (struct count_raw_pair) {
		.ip = pair->ip, .caller = pair->caller, .count = count,
	};
	raw->head.nr++;
}

static struct count_raw *count_raw_pairs(const struct ftrace_callers *callers)
{
	struct count_pair *pairs = NULL;
	struct count_raw *raw;
	unsigned int nr = 0;

	if (callers)
		pairs = count_pairs_get(callers, false, &nr);
	if (IS_ERR(pairs))
		return ERR_CAST(pairs);
	raw = count_raw_alloc(COUNT_RAW_PAIRS_VERSION, struct_size(&raw->head, lost, 1),
			      sizeof(struct count_raw_pair), nr);
	if (!IS_ERR(raw)) {
		raw->head.lost[0] = callers ? count_raw_sum(callers->lost) : 0;
		for (unsigned int i = 0; i < nr; i++)
			count_raw_add_pair(raw, callers, &pairs[i]);
	}
	kvfree(pairs);
	return raw;
}

static struct count_raw *count_raw_make(const struct trace_array *tr)
{
	struct count_instance *ci;
	struct count_raw *raw;

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	ci = tr->count;
	if (trace_count_options(tr) & COUNT_OPT_CALLERS)
		raw = count_raw_pairs(ci ? ci->callers : NULL);
	else
		raw = count_raw_functions(ci, count_shows_times(tr));
	if (!IS_ERR(raw))
		raw->size = count_raw_next(raw) - (void *)&raw->head;
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
	return PTR_ERR_OR_ZERO(filp->private_data);
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
