// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the tracer "count" (trace_count.c). function_counts has a line for each function
 * that was called, and a first line that begins with "# " and names the columns. Tabs separate
 * these:
 *
 *	count		the number of calls
 *	function, module	the name; "-" stands for the kernel itself
 *	caller, caller_module	the function that it returns to, with count-callers
 *	total, self, max	nanoseconds of the calls that have returned, with count-times
 *	cpu0, ...	the calls on each possible CPU, with count-cpus
 *
 * There are no times of pairs. Calls of pairs that there was no room for are in a last line, where
 * names are "...". With count-sorted the most frequent come first. Any write, or opening the
 * file to truncate it, sets all counts to zero. Starting the tracer does so, too; its counts
 * can be read after it has stopped. Those of a module go with the module.
 *
 * function_latency has such lines with the option count-latency: the calls that have returned,
 * their mean time, the times that 50, 90 and 99 % of them did not exceed, and the longest, in
 * nanoseconds. Within a bucket of ftrace_time::latency calls are taken to be spread evenly.
 *
 * The text is made at once, with trace_types_lock and ftrace_lock held, when a reader begins.
 * If it does not fit into the buffer of the file, seq_file has it made again.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "callers.h"
#include "counts.h"
#include "ops.h"
#include "sites.h"
#include "times.h"
#include "../trace.h"
#include "trace_count.h"

/* The usual length of a line, and of a CPU's count on it; and the most to begin with. */
#define COUNT_LINE_TEXT		64
#define COUNT_NUMBER_TEXT	4
#define COUNT_TEXT_MAX		SZ_8M

/**
 * struct count_line - a function, or a function and a caller, that was called
 * @ip: the site; 0 for the calls that there was no room for
 * @caller: the address of the function that it returns to, or 0
 * @sum: the calls
 * @count: them, for each CPU
 * @time: the times of the calls, or NULL
 *
 * Neighbours of the same function and caller are shown as one.
 */
struct count_line {
	unsigned long				ip;
	unsigned long				caller;
	u64					sum;
	const u64 __percpu			*count;
	const struct ftrace_time __percpu	*time;
};

/* Finding the lines */

/* Adds up the buckets of all CPUs. Returns how many calls these have. */
static u64 count_sum_latency(const struct ftrace_time __percpu *times, struct ftrace_time *sum,
			     u64 bucket[FTRACE_LATENCY_BUCKETS])
{
	u64 nr = 0;
	int cpu;

	*sum = (struct ftrace_time) { };
	memset(bucket, 0, FTRACE_LATENCY_BUCKETS * sizeof(*bucket));
	for_each_possible_cpu(cpu) {
		const struct ftrace_time *time = per_cpu_ptr(times, cpu);

		sum->total += READ_ONCE(time->total);
		sum->max = max(sum->max, READ_ONCE(time->max));
		for (unsigned int i = 0; i < FTRACE_LATENCY_BUCKETS; i++) {
			u64 calls = READ_ONCE(time->latency[i]);

			bucket[i] += calls;
			nr += calls;
		}
	}
	return nr;
}

/* Adds a line if there was a call; returns the number of lines. */
static unsigned int count_line_add(struct count_line *lines, unsigned int nr,
				   struct count_line line)
{
	int cpu;

	for_each_possible_cpu(cpu)
		line.sum += READ_ONCE(*per_cpu_ptr(line.count, cpu));
	lines[nr] = line;
	return line.sum ? nr + 1 : nr;
}

/* The same for calls that have returned, and were timed. */
static unsigned int count_line_add_returned(struct count_line *lines, unsigned int nr,
					    struct count_line line)
{
	u64 bucket[FTRACE_LATENCY_BUCKETS];
	struct ftrace_time sum;

	if (line.time)
		line.sum = count_sum_latency(line.time, &sum, bucket);
	lines[nr] = line;
	return line.sum ? nr + 1 : nr;
}

static unsigned int count_find_functions(const struct count_instance *ci, struct count_line *lines,
					 bool returned)
{
	struct ftrace_table *table;
	unsigned int nr = 0;

	for_each_ftrace_table(table) {
		for (unsigned int i = 0; i < table->nr; i++) {
			struct count_line line = {
				.ip	= ftrace_rec_ip(table, &table->recs[i]),
				.count	= ftrace_counts_find(ci->counts, table, i),
			};

			if (FTRACE_HAS_TIMES)
				line.time = ftrace_times_find(&ci->times, table, i);

			if (returned)
				nr = count_line_add_returned(lines, nr, line);
			else if (line.count)
				nr = count_line_add(lines, nr, line);
			if (!(i % FTRACE_COUNT_GROUP))
				cond_resched();
		}
	}
	return nr;
}

/* A call may be the last of its function: it returns to the end. */
static unsigned long count_caller_start(unsigned long caller)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(caller - 1, &size, &offset))
		return caller;
	return caller - 1 - offset;
}

static unsigned int count_find_pairs(const struct ftrace_callers *callers, struct count_line *lines)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < callers->nr; i++) {
		u64 key = READ_ONCE(callers->key[i]);

		if (!key)
			continue;
		nr = count_line_add(lines, nr, (struct count_line) {
			.ip	= ftrace_callers_ip(key),
			.caller	= count_caller_start(ftrace_callers_parent(key)),
			.count	= ftrace_callers_slot(callers, i),
		});
		cond_resched();
	}
	return nr;
}

/* Sorting them */

static int count_line_cmp(const void *a, const void *b)
{
	const struct count_line *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static int count_line_cmp_sum(const void *a, const void *b)
{
	const struct count_line *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return count_line_cmp(a, b);
}

/* Those that are shown as one stay neighbours: they get the same sum. */
static void count_sort_by_sum(struct count_line *lines, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		if (!count_line_cmp(&lines[i - 1], &lines[i]))
			lines[i].sum += lines[i - 1].sum;
	}
	for (unsigned int i = nr; i-- > 1;) {
		if (!count_line_cmp(&lines[i - 1], &lines[i]))
			lines[i - 1].sum = lines[i].sum;
	}
	sort(lines, nr, sizeof(*lines), count_line_cmp_sum, NULL);
}

/* Showing them */

static bool count_has_times_column(u32 options)
{
	return (options & COUNT_OPT_TIMES) && !(options & COUNT_OPT_CALLERS);
}

static const unsigned int count_percents[] = { 50, 90, 99 };

static void count_show_columns(struct seq_file *m, u32 options)
{
	int cpu;

	seq_puts(m, "# count\tfunction\tmodule");
	if (options & COUNT_OPT_CALLERS)
		seq_puts(m, "\tcaller\tcaller_module");
	if (count_has_times_column(options))
		seq_puts(m, "\ttotal\tself\tmax");
	if (options & COUNT_OPT_CPUS) {
		for_each_possible_cpu(cpu)
			seq_printf(m, "\tcpu%d", cpu);
	}
	seq_putc(m, '\n');
}

static void count_show_times(struct seq_file *m, const struct ftrace_time __percpu *times)
{
	struct ftrace_time sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ftrace_time *time;

		if (!times)
			break;
		time = per_cpu_ptr(times, cpu);
		sum.total += READ_ONCE(time->total);
		sum.self += READ_ONCE(time->self);
		sum.max = max(sum.max, READ_ONCE(time->max));
	}
	seq_printf(m, "\t%llu\t%llu\t%llu", sum.total, sum.self, sum.max);
}

static void count_show_name(struct seq_file *m, unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN], *module;

	/* Text may go that is a caller. */
	guard(rcu)();
	if (!ip)
		seq_puts(m, "\t...\t...");
	else if (kallsyms_lookup(ip, NULL, NULL, &module, name))
		seq_printf(m, "\t%s\t%s", name, module ?: "-");
	else
		seq_printf(m, "\t0x%lx\t-", ip);
}

static void count_show_line(struct seq_file *m, const struct count_line *line, u32 options,
			    const u64 *counts)
{
	/* That by which the line was sorted. */
	bool sorted = (options & (COUNT_OPT_SORTED | COUNT_OPT_CPUS)) == COUNT_OPT_SORTED;
	u64 sum = sorted ? line->sum : 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += sorted ? 0 : counts[cpu];
	seq_printf(m, "%llu", sum);
	count_show_name(m, line->ip);
	if (options & COUNT_OPT_CALLERS)
		count_show_name(m, line->caller);
	if (count_has_times_column(options))
		count_show_times(m, line->time);
	if (options & COUNT_OPT_CPUS) {
		for_each_possible_cpu(cpu)
			seq_printf(m, "\t%llu", counts[cpu]);
	}
	seq_putc(m, '\n');
}

/* The counts are read anew, so that those of the CPUs add up to the sum. */
static int count_show_lines(struct seq_file *m, const struct count_line *lines, unsigned int nr,
			    u32 options)
{
	u64 *counts __free(kfree) = kcalloc(nr_cpu_ids, sizeof(*counts), GFP_KERNEL);
	int cpu;

	if (!counts)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr && !seq_has_overflowed(m); i++) {
		for_each_possible_cpu(cpu)
			counts[cpu] += READ_ONCE(*per_cpu_ptr(lines[i].count, cpu));
		if (i + 1 < nr && !count_line_cmp(&lines[i], &lines[i + 1]))
			continue;
		count_show_line(m, &lines[i], options, counts);
		memset(counts, 0, nr_cpu_ids * sizeof(*counts));
		cond_resched();
	}
	return 0;
}

/* The time that the @percent of the @nr calls with the shortest times did not exceed. */
static u64 count_percentile(const u64 bucket[FTRACE_LATENCY_BUCKETS], u64 nr, u64 max,
			    unsigned int percent)
{
	u64 rank = nr - mul_u64_u64_div_u64(nr, 100 - percent, 100), from = 0;

	for (unsigned int i = 0; i < FTRACE_LATENCY_BUCKETS; i++) {
		u64 to = BIT_ULL(FTRACE_LATENCY_FIRST + i);

		if (i == FTRACE_LATENCY_BUCKETS - 1 || to > max)
			to = max;
		if (rank <= bucket[i] && bucket[i])
			return from + mul_u64_u64_div_u64(to - from, rank, bucket[i]);
		rank -= bucket[i];
		from = to;
	}
	return max;
}

static void count_show_latency(struct seq_file *m, const struct ftrace_time __percpu *times,
			       unsigned long ip)
{
	u64 bucket[FTRACE_LATENCY_BUCKETS];
	struct ftrace_time sum;
	u64 nr = count_sum_latency(times, &sum, bucket);

	if (!nr)
		return;
	seq_printf(m, "%llu", nr);
	count_show_name(m, ip);
	seq_printf(m, "\t%llu", div64_u64(sum.total, nr));
	for (unsigned int i = 0; i < ARRAY_SIZE(count_percents); i++)
		seq_printf(m, "\t%llu", count_percentile(bucket, nr, sum.max, count_percents[i]));
	seq_printf(m, "\t%llu\n", sum.max);
}

static int count_latency_show(struct seq_file *m, void *v)
{
	const struct trace_array *tr = m->private;
	struct count_line *lines __free(kvfree) = NULL;
	const struct count_instance *ci;
	unsigned int nr;

	seq_puts(m, "# count\tfunction\tmodule\tmean\tp50\tp90\tp99\tmax\n");

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	ci = tr->callset.count;
	if (!ci || !FTRACE_HAS_TIMES || !ftrace_times_has_latency(&ci->times))
		return 0;
	lines = kvmalloc_array(ftrace_nr_sites + 1, sizeof(*lines), GFP_KERNEL);
	if (!lines)
		return -ENOMEM;
	nr = count_find_functions(ci, lines, true);
	if (trace_count_options(tr) & COUNT_OPT_SORTED)
		count_sort_by_sum(lines, nr);
	for (unsigned int i = 0; i < nr && !seq_has_overflowed(m); i++) {
		count_show_latency(m, lines[i].time, lines[i].ip);
		cond_resched();
	}
	return 0;
}

static int count_show(struct seq_file *m, void *v)
{
	const struct trace_array *tr = m->private;
	struct count_line *lines __free(kvfree) = NULL;
	const struct ftrace_callers *callers = NULL;
	unsigned int nr;
	u32 options;

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	options = trace_count_options(tr);
	count_show_columns(m, options);
	if (tr->callset.count && (options & COUNT_OPT_CALLERS))
		callers = tr->callset.count->callers;
	if (!tr->callset.count || (!callers && (options & COUNT_OPT_CALLERS)))
		return 0;

	nr = callers ? callers->nr : ftrace_nr_sites;
	lines = kvmalloc_array(nr + 1, sizeof(*lines), GFP_KERNEL);
	if (!lines)
		return -ENOMEM;
	if (callers) {
		nr = count_find_pairs(callers, lines);
		sort(lines, nr, sizeof(*lines), count_line_cmp, NULL);
	} else {
		nr = count_find_functions(tr->callset.count, lines, false);
	}
	if (options & COUNT_OPT_SORTED)
		count_sort_by_sum(lines, nr);
	/* The last line, however the others are sorted. */
	if (callers)
		nr = count_line_add(lines, nr, (struct count_line) { .count = callers->lost });
	return count_show_lines(m, lines, nr, options);
}

/* The files */

static const struct file_operations count_latency_fops;

/*
 * A guess at the length of the text, so that it is hardly ever made twice: most sites are never
 * called, and a table of pairs runs short of slots when more than half of them are taken.
 */
static size_t count_text_size(const struct trace_array *tr)
{
	u32 options = trace_count_options(tr);
	size_t nr, line = COUNT_LINE_TEXT;

	nr = options & COUNT_OPT_CALLERS ? BIT(FTRACE_CALLERS_BITS) / 2 : ftrace_nr_sites / 4;
	if (options & COUNT_OPT_CPUS)
		line += num_possible_cpus() * COUNT_NUMBER_TEXT;
	return clamp(nr * line, PAGE_SIZE, COUNT_TEXT_MAX);
}

static int count_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	size_t size = PAGE_SIZE;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC))
		trace_count_zero(tr);
	if (filp->f_mode & FMODE_READ)
		size = count_text_size(tr);
	ret = single_open_size(filp, filp->f_op == &count_latency_fops ? count_latency_show :
							       count_show, tr, size);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static int count_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);
	return single_release(inode, filp);
}

static ssize_t count_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	/* The text that is written does not matter: there is nothing else to ask for. */
	trace_count_zero(file_inode(filp)->i_private);
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

static const struct file_operations count_latency_fops = {
	.open		= count_open,
	.read		= seq_read,
	.write		= count_write,
	.llseek		= tracing_lseek,
	.release	= count_release,
};

/**
 * trace_count_create_files - make the files of an instance
 * @tr: the instance
 * @parent: its directory
 */
void trace_count_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_counts", TRACE_MODE_WRITE, parent, tr, &count_fops);
	if (FTRACE_HAS_TIMES)
		trace_create_file("function_latency", TRACE_MODE_WRITE, parent, tr,
				  &count_latency_fops);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_count_file_kunit.c"
#endif
