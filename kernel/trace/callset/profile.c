// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: how often each function is called on each CPU and,
 * with CONFIG_FUNCTION_GRAPH_TRACER, for how long.
 *
 *	function_profile_enabled	1 starts from zero, 0 stops
 *	trace_stat/function<cpu>	the counts, as they are when it is opened
 *
 * Calls are counted as those of the tracer count are (counts.c), and timed as its
 * are (times.c), for the filter of the top instance.
 *
 * Lock order:
 *	profile_mutex > ftrace_lock
 * profile_mutex covers enabling, and the buffer for text. ftrace_lock covers the counts.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include <asm/sections.h>

#include "counts.h"
#include "ops.h"
#include "profile.h"
#include "sites.h"
#include "times.h"
#include "../trace.h"
#include "../trace_stat.h"

/**
 * struct profile_line - a line of a file that is open
 * @ip: the site
 * @cpu: whose file it is
 * @hits: how often its function had been entered when the file was opened
 * @time: nanoseconds that it had taken, all calls that had returned together
 * @squares: the sum of their squares, modulo 2^64
 */
struct profile_line {
	unsigned long	ip;
	unsigned int	cpu;
	u64		hits;
	u64		time;
	u64		squares;
};

/**
 * struct profile_stat - one CPU's file
 * @stat: the file, for trace_stat.c
 * @cpu: the CPU
 */
struct profile_stat {
	struct tracer_stat	stat;
	unsigned int		cpu;
};

static DEFINE_MUTEX(profile_mutex);

static bool profile_enabled;

static DEFINE_PER_CPU(struct profile_stat, profile_stats);

static struct ftrace_ops profile_ops = {
	.func	= ftrace_count_call,
};

static struct ftrace_times profile_times = {
	.more	= FTRACE_TIMES_SQUARE_TOTAL,
};

/* Switching */

/* The counts of the last time stay as long as anything may fail. */
static int profile_enable(void)
{
	int ret = register_ftrace_function(&profile_ops);

	if (ret)
		return ret;
	ret = FTRACE_HAS_TIMES ? ftrace_times_start(&profile_times) : 0;
	if (ret) {
		unregister_ftrace_function(&profile_ops);
		return ret;
	}

	guard(mutex)(&ftrace_lock);
	ftrace_counts_reset(profile_ops.counts);
	if (FTRACE_HAS_TIMES)
		ftrace_times_reset(&profile_times);
	return 0;
}

static void profile_disable(void)
{
	WARN_ON_ONCE(unregister_ftrace_function(&profile_ops));
	if (FTRACE_HAS_TIMES)
		ftrace_times_stop(&profile_times);
}

static int profile_switch(bool enable)
{
	int ret = 0;

	guard(mutex)(&profile_mutex);

	if (enable == profile_enabled)
		return 0;
	if (enable)
		ret = profile_enable();
	else
		profile_disable();
	if (!ret)
		WRITE_ONCE(profile_enabled, enable);
	return ret;
}

static ssize_t profile_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val) ?: profile_switch(val);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static ssize_t profile_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char text[] = "0\n";

	text[0] += READ_ONCE(profile_enabled);
	return simple_read_from_buffer(ubuf, cnt, ppos, text, strlen(text));
}

static const struct file_operations profile_fops = {
	.open		= tracing_open_generic,
	.read		= profile_read,
	.write		= profile_write,
	.llseek		= default_llseek,
};

/* The arithmetic of a line */

static u64 profile_average(const struct profile_line *line)
{
	return div64_u64(line->time, line->hits);
}

static bool profile_line_shown(const struct profile_line *line)
{
	return !FTRACE_HAS_TIMES || !tracing_thresh || profile_average(line) >= tracing_thresh;
}

static u64 profile_key(const struct profile_line *line)
{
	return FTRACE_HAS_TIMES ? line->time : line->hits;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/**
 * ftrace_graph_graph_time_control - say whether the time of callees counts
 * @enable: whether it is part of the time of a function
 *
 * The sum of all calls obeys at once. The squares of those that were counted before stay.
 */
void ftrace_graph_graph_time_control(bool enable)
{
	WRITE_ONCE(profile_times.more, enable ? FTRACE_TIMES_SQUARE_TOTAL :
						FTRACE_TIMES_SQUARE_SELF);
}

/*
 * The sample variance of the times, in ns * us:
 *
 *	(squares - time^2 / hits) / (hits - 1) / 1000
 *
 * The whole is rounded down. If time^2 / hits is rounded up first, the number is the
 * same, and nothing larger than the sum of squares has to fit into 64 bits.
 *
 * A result that cannot be, as that sum did not fit or calls are under way, is 0.
 */
static u64 profile_variance(const struct profile_line *line)
{
	u64 n = line->hits, least;

	/* The second: where a division that does not fit would trap. */
	if (n < 2 || mul_u64_u64_shr(line->time, line->time, 64) >= n)
		return 0;

	/* The squares of as many equal times. A remainder shows in the lower half. */
	least = mul_u64_u64_div_u64(line->time, line->time, n);
	least += least * n != line->time * line->time;
	if (line->squares < least)
		return 0;
	return div64_u64(line->squares - least, (n - 1) * 1000);
}

static void profile_show_times(struct seq_file *m, const struct profile_line *line)
{
	const u64 times[] = { line->time, profile_average(line), profile_variance(line) };
	/* Too large for the stack. */
	static struct trace_seq text;

	guard(mutex)(&profile_mutex);

	trace_seq_init(&text);
	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		trace_seq_puts(&text, "    ");
		trace_print_graph_duration(times[i], &text);
	}
	trace_print_seq(m, &text);
}
#else
static void profile_show_times(struct seq_file *m, const struct profile_line *line)
{
}
#endif

/* The files under trace_stat: lines are made when one is opened */

static u64 profile_hits(const struct ftrace_table *table, unsigned int index, unsigned int cpu)
{
	const u64 __percpu *count = ftrace_counts_find(profile_ops.counts, table, index);

	return count ? READ_ONCE(*per_cpu_ptr(count, cpu)) : 0;
}

static void profile_line_add_times(struct profile_line *line, const struct ftrace_table *table,
				   unsigned int index)
{
	const struct ftrace_time __percpu *times = ftrace_times_find(&profile_times, table, index);
	const struct ftrace_time *time;

	if (!times)
		return;
	time = per_cpu_ptr(times, line->cpu);
	line->time = READ_ONCE(profile_times.more) == FTRACE_TIMES_SQUARE_SELF ? time->self :
										   time->total;
	line->squares = time->squares;
}

static struct profile_line *profile_line_in(const struct ftrace_table *table, unsigned int cpu,
					    unsigned long from)
{
	struct profile_line *line;
	unsigned int i;
	u64 hits = 0;

	for (i = ftrace_table_lower_bound(table, from); i < table->nr; i++) {
		hits = profile_hits(table, i, cpu);
		if (hits)
			break;
	}
	if (!hits)
		return NULL;

	line = kzalloc_obj(*line);
	if (!line)
		return NULL;
	line->ip = ftrace_rec_ip(table, &table->recs[i]);
	line->cpu = cpu;
	line->hits = hits;
	if (FTRACE_HAS_TIMES)
		profile_line_add_times(line, table, i);
	return line;
}

/* The first line at or after @from; trace_stat.c knows no errors, but an end. */
static struct profile_line *profile_line_from(unsigned int cpu, unsigned long from)
{
	struct profile_line *line;
	struct ftrace_table *table;

	guard(mutex)(&ftrace_lock);

	table = ftrace_table_find(from) ?: ftrace_table_next(NULL);
	for (; table; table = ftrace_table_next(table)) {
		line = profile_line_in(table, cpu, from);
		if (line)
			return line;
	}
	return NULL;
}

static void *profile_stat_start(struct tracer_stat *stat)
{
	return profile_line_from(container_of(stat, struct profile_stat, stat)->cpu, 0);
}

static void *profile_stat_next(void *prev, int idx)
{
	const struct profile_line *line = prev;

	return profile_line_from(line->cpu, line->ip + 1);
}

static int profile_stat_cmp(const void *a, const void *b)
{
	u64 x = profile_key(a), y = profile_key(b);

	return x < y ? -1 : x > y;
}

static void profile_stat_release(void *line)
{
	kfree(line);
}

static int profile_stat_headers(struct seq_file *m)
{
	const char *titles = FTRACE_HAS_TIMES ? "    Time            Avg             s^2" : "";
	const char *rules = FTRACE_HAS_TIMES ? "    ----            ---             ---" : "";

	seq_printf(m, "  Function                               Hit%s\n", titles);
	seq_printf(m, "  --------                               ---%s\n", rules);
	return 0;
}

/* With the option prof-text-offset; false if the text is not there any more. */
static bool profile_print_offset(unsigned long ip, char *name, size_t size)
{
	const struct module *mod;

	if (core_kernel_text(ip)) {
		scnprintf(name, size, "  _text+%#lx", ip - (unsigned long)_text);
		return true;
	}
	guard(rcu)();
	mod = __module_text_address(ip);
	if (mod)
		scnprintf(name, size, "  %s+%#lx", mod->name,
			  ip - (unsigned long)mod->mem[MOD_TEXT].base);
	return mod;
}

static void profile_print_name(unsigned long ip, bool offset, char name[KSYM_SYMBOL_LEN])
{
	if (offset && profile_print_offset(ip, name, KSYM_SYMBOL_LEN))
		return;
	/* The module may be gone by now. */
	if (!kallsyms_lookup(ip, NULL, NULL, NULL, name))
		scnprintf(name, KSYM_SYMBOL_LEN, "0x%lx", ip);
}

static int profile_stat_show(struct seq_file *m, void *p)
{
	u64 flags = READ_ONCE(trace_get_global_array()->trace_flags);
	const struct profile_line *line = p;
	char name[KSYM_SYMBOL_LEN];

	if (!profile_line_shown(line))
		return 0;

	profile_print_name(line->ip, flags & TRACE_ITER(PROF_TEXT_OFFSET), name);
	seq_printf(m, "  %-30.30s  %10llu", name, line->hits);
	profile_show_times(m, line);
	seq_putc(m, '\n');
	return 0;
}

static int __init profile_create_stat(unsigned int cpu)
{
	struct profile_stat *profile = per_cpu_ptr(&profile_stats, cpu);
	int ret;

	profile->cpu = cpu;
	profile->stat = (struct tracer_stat) {
		.name		= kasprintf(GFP_KERNEL, "function%u", cpu),
		.stat_start	= profile_stat_start,
		.stat_next	= profile_stat_next,
		.stat_cmp	= profile_stat_cmp,
		.stat_show	= profile_stat_show,
		.stat_release	= profile_stat_release,
		.stat_headers	= profile_stat_headers,
	};
	if (!profile->stat.name)
		return -ENOMEM;

	ret = register_stat_tracer(&profile->stat);
	if (ret)
		kfree(profile->stat.name);
	return ret;
}

/**
 * ftrace_profile_init_tracefs - make the files of the profiler
 * @parent: the directory of the top instance
 *
 * Context: boot.
 */
void __init ftrace_profile_init_tracefs(struct dentry *parent)
{
	unsigned int cpu;
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		profile_ops.counts = ftrace_counts_alloc(1);
	if (!profile_ops.counts) {
		pr_warn("no function profiler: out of memory\n");
		return;
	}
	ftrace_ops_set_global_filter(&profile_ops);
	if (FTRACE_HAS_TIMES)
		ftrace_times_init(&profile_times, NULL);
	for_each_possible_cpu(cpu) {
		ret = profile_create_stat(cpu);
		if (ret) {
			pr_warn("no file for the profile of CPU %u: %pe\n", cpu, ERR_PTR(ret));
			return;
		}
	}
	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, parent, NULL,
			  &profile_fops);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/profile_kunit.c"
#endif
