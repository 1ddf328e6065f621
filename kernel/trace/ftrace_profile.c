// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: how often each function is called on each CPU and,
 * with CONFIG_FUNCTION_GRAPH_TRACER, for how long.
 *
 *	function_profile_enabled	1 starts from zero, 0 stops
 *	trace_stat/function<cpu>	what was counted, as it is when opened
 *
 * The sites of a table are numbered by its records, so each CPU has an array of
 * counters per table, and a call costs the way from its address to that number.
 * For this, text is cut into buckets, and a bucket knows the first record in it
 * or after it:
 *
 *	text	|. . A . .|. . . . .|B . . C .|	A, B, C: sites, records 0, 1, 2
 *	first	 0         1         1
 *
 * Functions are longer than a bucket on average, so the record is mostly the
 * first that is looked at. For the core kernel buckets take about as much memory
 * as records do. A bitmap with ranks would be half of that, but no faster.
 *
 * Invariants:
 *  1. While the profiler is enabled, each table in the map that has sites has a
 *     profile, unless there was no memory for a module's, which was reported.
 *     A profile stays as long as its table, to be read and used again.
 *  2. A counter is written by its own CPU only, with preemption off, and set to
 *     zero only while nothing is attached. An interrupt between reading and
 *     writing it may cost a call where the CPU cannot add to memory at once.
 *
 * Lock order:
 *	profile_mutex > ftrace_lock
 * profile_mutex covers enabling, and the buffer for text. ftrace_lock covers the
 * tables and so the life of a profile; the callbacks run without, on tables that
 * ftrace_retire() keeps for them.
 *
 * Where the architecture has profile_return_to_handler(), the profiler hooks the
 * core kernel's functions by itself if it is their only graph user: that takes
 * less than half of the instructions, and no clock but the CPU's cycles.
 *
 * Contexts: the callbacks run wherever a function is called, NMIs included. All
 * the rest sleeps.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/topology.h>
#include <linux/trace_seq.h>

#include "fgraph_stack.h"
#include "ftrace_ops.h"
#include "ftrace_profile.h"
#include "ftrace_sites.h"
#include "trace.h"
#include "trace_stat.h"

/**
 * struct profile_count - what is known of a site on one CPU
 * @hits: how often its function was entered
 * @time: nanoseconds that it took, all calls that returned together
 * @squares: the sum of their squares, modulo 2^64
 */
struct profile_count {
	unsigned long	hits;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	u64		time;
	u64		squares;
#endif
};

/**
 * struct ftrace_profile - the counters of a table's sites
 * @base: the address that the records' offsets count from
 * @size: from there to the end of the last record, in bytes
 * @recs: the table's records
 * @first: for each bucket the first record that is not before it
 * @table: the table
 * @cycle: how long one of get_cycles() is, in 2^-32 ns
 * @count: for each possible CPU, the counters by record
 */
struct ftrace_profile {
	unsigned long			base;
	unsigned long			size;
	const struct ftrace_record		*recs;
	u32				*first;
	const struct ftrace_table	*table;
	u64				cycle;
	struct profile_count		*count[];
};

/**
 * struct profile_line - a line of a file that is open
 * @ip: the site
 * @cpu: whose file it is
 * @count: what was counted when the file was opened
 */
struct profile_line {
	unsigned long		ip;
	unsigned int		cpu;
	struct profile_count	count;
};

/**
 * struct profile_stat - one CPU's file
 * @stat: what trace_stat.c needs to know
 * @cpu: the CPU
 */
struct profile_stat {
	struct tracer_stat	stat;
	unsigned int		cpu;
};

#define PROFILE_BUCKET	256

static DEFINE_MUTEX(profile_mutex);

/* Changed with profile_mutex and ftrace_lock held. */
static bool profile_enabled;

/* The core kernel's, whose table is never freed: most calls need no search. */
static struct ftrace_profile *profile_core __read_mostly;

#ifdef FTRACE_PROFILE_PATH
/* The same while ftrace_profile_func() may count, or NULL. */
static struct ftrace_profile *profile_quick __read_mostly;
#endif

static DEFINE_PER_CPU(struct profile_stat, profile_stats);

/* Counting */

static __always_inline bool profile_covers(const struct ftrace_profile *profile, unsigned long ip)
{
	return ip - profile->base < profile->size;
}

/*
 * The index of the site at @offset from the base. The profile covers it, so
 * there is a record to stop at. Returns false if there is no such site.
 */
static __always_inline bool profile_index(const struct ftrace_profile *profile, u32 offset,
					  unsigned long *index)
{
	unsigned long i = profile->first[offset / PROFILE_BUCKET];

	while (profile->recs[i].offset < offset)
		i++;
	*index = i;
	return likely(profile->recs[i].offset == offset);
}

static __always_inline struct profile_count *
profile_find_in(const struct ftrace_profile *profile, unsigned long ip)
{
	unsigned long i;

	if (!profile_covers(profile, ip) || !profile_index(profile, ip - profile->base, &i))
		return NULL;
	return &profile->count[raw_smp_processor_id()][i];
}

/* Preemption is off. NULL for a site that came when there was no memory. */
static __always_inline struct profile_count *profile_find(unsigned long ip)
{
	const struct ftrace_profile *profile = READ_ONCE(profile_core);
	const struct ftrace_table *table;

	if (unlikely(!profile || !profile_covers(profile, ip))) {
		table = ftrace_table_find(ip);
		profile = table ? READ_ONCE(table->profile) : NULL;
		if (!profile)
			return NULL;
	}
	return profile_find_in(profile, ip);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* The option graph-time: the time of a function includes that of its callees. */
static bool profile_graph_time __read_mostly = true;
#endif

#ifdef FTRACE_PROFILE_PATH
/*
 * Decides how calls are counted from now on. What a task sleeps, and what callees
 * take, is told from a function's own time by fgraph.c's users only.
 */
static void profile_choose_path(void)
{
	struct ftrace_profile *profile = profile_core;

	lockdep_assert_held(&ftrace_lock);

	if (profile)
		profile->cycle = arch_ftrace_cycle();
	if (profile && profile->cycle && profile_enabled && profile_graph_time && fgraph_sleep_time)
		/* The factor before the pointer. Pairs with the dependency on the pointer. */
		smp_store_release(&profile_quick, profile);
	else
		WRITE_ONCE(profile_quick, NULL);
}
#else
static void profile_choose_path(void)
{
}
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static __always_inline void profile_add_time(struct profile_count *count, u64 time)
{
	count->time += time;
	count->squares += time * time;
}

/**
 * ftrace_profile_sleep_time_changed - fgraph_sleep_time is another one
 *
 * Calls under way are counted by either rule, or without their time.
 *
 * Context: sleeps; takes ftrace_lock.
 */
void ftrace_profile_sleep_time_changed(void)
{
	guard(mutex)(&ftrace_lock);
	profile_choose_path();
}

/**
 * ftrace_graph_graph_time_control - set what the time of a function includes
 * @enable: the time that its callees take, too
 *
 * Calls under way are counted by either rule, or without their time.
 *
 * Context: sleeps; takes ftrace_lock.
 */
void ftrace_graph_graph_time_control(bool enable)
{
	guard(mutex)(&ftrace_lock);

	profile_graph_time = enable;
	profile_choose_path();
}

/*
 * The task's variable is the time spent in callees of the function that it is
 * in. What it was for the caller is put aside until this function returns. The
 * work of an interrupt is that of a callee.
 */
static noinline void profile_enter(struct fgraph_ops *gops)
{
	unsigned long *callees = fgraph_get_task_var(gops);
	unsigned long *callers = fgraph_reserve_data(gops->idx, sizeof(*callers));

	if (callers) {
		*callers = *callees;
		*callees = 0;
	}
}

/* Returns what remains of @time without the callees. */
static noinline u64 profile_leave(struct fgraph_ops *gops, u64 time)
{
	unsigned long *callers = fgraph_retrieve_data(gops->idx, NULL);
	unsigned long *callees = fgraph_get_task_var(gops);
	unsigned long inside = *callees;

	if (!callers)
		return time;

	*callees = *callers + time;
	return time > inside ? time - inside : 0;
}

static int profile_graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	struct profile_count *count = profile_find(trace->func);

	if (!count)
		return 0;
	count->hits++;
	if (!READ_ONCE(profile_graph_time))
		profile_enter(gops);
	return 1;
}

/* A call that began on another CPU counts where its function is known here. */
static void profile_graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	struct profile_count *count = profile_find(trace->func);
	u64 time = trace->calltime ? trace->rettime - trace->calltime : 0;

	if (!READ_ONCE(profile_graph_time))
		time = profile_leave(gops, time);
	if (count && count->hits)
		profile_add_time(count, time);
}

static struct fgraph_ops profile_gops = {
	.entryfunc	= profile_graph_entry,
	.retfunc	= profile_graph_return,
};

#ifdef FTRACE_PROFILE_PATH
/**
 * ftrace_profile_func - count the call of a function that only the profiler hooks
 * @ip: the site
 * @retp: where the address stands that its function returns to
 * @cs: the site's callset
 *
 * As this calls nothing that can be traced there is no recursion to guard
 * against, and what interrupts it leaves the return stack as it was.
 *
 * Context: any that can be traced, NMI included.
 */
__no_stack_protector
static void ftrace_profile_func(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs)
{
	const struct ftrace_profile *profile = READ_ONCE(profile_quick);
	struct task_struct *task = current;
	struct ftrace_ret_stack *frame;
	unsigned long i;

	if (unlikely(!profile || !profile_covers(profile, ip))) {
		ftrace_graph_func(ip, retp, cs);
		return;
	}
	if (unlikely(!fgraph_can_hook(task, retp) ||
		     !profile_index(profile, ip - profile->base, &i) ||
		     !fgraph_push(task, ip, retp, 0, &frame)))
		return;
	*retp = (unsigned long)profile_return_to_handler;

	preempt_disable_notrace();
	profile->count[raw_smp_processor_id()][i].hits++;
	preempt_enable_notrace();

	frame->calltime = get_cycles();
}

NOKPROBE_SYMBOL(ftrace_profile_func);

/**
 * ftrace_profile_return - a function returns that only the profiler has hooked
 *
 * Called by profile_return_to_handler().
 *
 * Context: any that can be traced, NMI included.
 * Return: where the function was to return to.
 */
__no_stack_protector
unsigned long ftrace_profile_return(void)
{
	u64 cycles = get_cycles();
	const struct ftrace_profile *profile = READ_ONCE(profile_quick);
	struct task_struct *task = current;
	unsigned long start = task->curr_ret_stack - FGRAPH_ENTRY_WORDS, ret, i;
	struct ftrace_ret_stack *frame;

	if (unlikely(start > FGRAPH_STACK_WORDS - FGRAPH_ENTRY_WORDS))
		return fgraph_lost();
	frame = (struct ftrace_ret_stack *)&task->ret_stack[start];
	/* Only its own entries lead here. */
	if (unlikely(*fgraph_frame_meta(frame) != FGRAPH_ENTRY_WORDS))
		return fgraph_lost();
	cycles -= frame->calltime;

	/* It may have been switched off since the function was entered. */
	if (likely(profile && profile_index(profile, frame->func - profile->base, &i))) {
		preempt_disable_notrace();
		profile_add_time(&profile->count[raw_smp_processor_id()][i],
				 mul_u64_u64_shr(cycles, profile->cycle, 32));
		preempt_enable_notrace();
	}

	ret = frame->ret;
	fgraph_drop_frame(task);
	return ret;
}

NOKPROBE_SYMBOL(ftrace_profile_return);
#endif

static int profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_gops.ops);
#ifdef FTRACE_PROFILE_PATH
	profile_gops.ops.alone_func = ftrace_profile_func;
#endif
	return register_ftrace_graph(&profile_gops);
}

static void profile_detach(void)
{
	unregister_ftrace_graph(&profile_gops);
}
#else
static void profile_call(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct profile_count *count;

	preempt_disable_notrace();
	count = profile_find(ip);
	if (count)
		count->hits++;
	preempt_enable_notrace();
}

static struct ftrace_ops profile_ops = {
	.func	= profile_call,
};

static int profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

static void profile_detach(void)
{
	int ret = unregister_ftrace_function(&profile_ops);

	/* After ftrace_kill() the sites stay as they are. */
	WARN_ON_ONCE(ret && !ftrace_disabled);
}
#endif

/* Profiles and tables */

static void profile_free(struct ftrace_profile *profile)
{
	unsigned int cpu;

	if (!profile)
		return;
	for_each_possible_cpu(cpu)
		kvfree(profile->count[cpu]);
	kvfree(profile->first);
	kfree(profile);
}

DEFINE_FREE(profile, struct ftrace_profile *, profile_free(_T))

static void profile_fill_buckets(struct ftrace_profile *profile, unsigned int nr_buckets)
{
	const struct ftrace_table *table = profile->table;
	unsigned int at = 0;

	for (unsigned int i = 0; i < nr_buckets; i++) {
		unsigned long start = profile->base + (unsigned long)i * PROFILE_BUCKET;

		while (at < table->nr && ftrace_rec_ip(table, &table->recs[at]) < start)
			at++;
		profile->first[i] = at;
	}
}

static struct ftrace_profile *profile_alloc(const struct ftrace_table *table)
{
	struct ftrace_profile *profile __free(profile) =
		kzalloc(struct_size(profile, count, nr_cpu_ids), GFP_KERNEL);
	unsigned int nr_buckets, cpu;

	if (!profile)
		return NULL;
	profile->table = table;
	profile->base = table->base;
	profile->size = table->recs[table->nr - 1].offset + 1;
	profile->recs = table->recs;

	nr_buckets = DIV_ROUND_UP(profile->size, PROFILE_BUCKET);
	profile->first = kvmalloc_array(nr_buckets, sizeof(*profile->first), GFP_KERNEL);
	if (!profile->first)
		return NULL;
	profile_fill_buckets(profile, nr_buckets);

	for_each_possible_cpu(cpu) {
		profile->count[cpu] = kvcalloc_node(table->nr, sizeof(*profile->count[cpu]),
						    GFP_KERNEL, cpu_to_node(cpu));
		if (!profile->count[cpu])
			return NULL;
	}
	return_ptr(profile);
}

static void profile_reset(struct ftrace_profile *profile)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(profile->count[cpu], 0,
		       array_size(profile->table->nr, sizeof(*profile->count[cpu])));
}

static int profile_alloc_for(struct ftrace_table *table)
{
	struct ftrace_profile *profile;

	lockdep_assert_held(&ftrace_lock);

	if (table->profile || !table->nr)
		return 0;
	profile = profile_alloc(table);
	if (!profile)
		return -ENOMEM;

	/* Nothing is attached, or nobody finds the table yet: no order to keep. */
	WRITE_ONCE(table->profile, profile);
	if (!profile_core && !table->mod && !table->init)
		WRITE_ONCE(profile_core, profile);
	return 0;
}

/**
 * ftrace_profile_add_table - prepare to count the calls of new text
 * @table: about to enter the map
 *
 * Without memory its functions will be missing from the profile.
 *
 * Context: ftrace_lock is held; sleeps if the profiler is enabled.
 */
void ftrace_profile_add_table(struct ftrace_table *table)
{
	lockdep_assert_held(&ftrace_lock);

	if (profile_enabled && profile_alloc_for(table))
		pr_warn("no memory to profile %u functions of %s\n", table->nr,
			module_name(table->mod));
}

/**
 * ftrace_profile_free_table - free what was counted in text that is gone
 * @table: not in the map, and not in use any more
 *
 * Context: process context.
 */
void ftrace_profile_free_table(struct ftrace_table *table)
{
	profile_free(table->profile);
	table->profile = NULL;
}

/* Switching */

static void profile_set_enabled(bool enabled)
{
	lockdep_assert_held(&ftrace_lock);

	profile_enabled = enabled;
	profile_choose_path();
}

static int profile_enable(void)
{
	struct ftrace_table *table;
	int ret;

	scoped_guard(mutex, &ftrace_lock) {
		/* Nothing counted before is lost unless all can be counted now. */
		for_each_ftrace_table(table) {
			ret = profile_alloc_for(table);
			if (ret)
				return ret;
		}
		for_each_ftrace_table(table) {
			if (table->profile)
				profile_reset(table->profile);
		}
		profile_set_enabled(true);
	}

	/* It takes ftrace_lock itself. Tables that come in between are prepared. */
	return profile_attach();
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
		profile_detach();
	if (ret || !enable) {
		guard(mutex)(&ftrace_lock);
		profile_set_enabled(false);
	}
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

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static u64 profile_average(const struct profile_count *count)
{
	return div64_ul(count->time, count->hits);
}

/*
 * The sample variance of the times, in ns * us:
 *
 *	(squares - time^2 / hits) / (hits - 1) / 1000
 *
 * The whole is rounded down. Whoever rounds up time^2 / hits first gets the same
 * number, and nothing larger than the sum of squares has to fit into 64 bits.
 *
 * What cannot be, as that sum did not fit or calls are under way, is 0.
 */
static u64 profile_variance(const struct profile_count *count)
{
	u64 n = count->hits, least;

	/* The second: where a division that does not fit would trap. */
	if (n < 2 || mul_u64_u64_shr(count->time, count->time, 64) >= n)
		return 0;

	/* The squares of as many equal times. A remainder shows in the lower half. */
	least = mul_u64_u64_div_u64(count->time, count->time, n);
	least += least * n != count->time * count->time;
	if (count->squares < least)
		return 0;
	return div64_u64(count->squares - least, (n - 1) * 1000);
}

static bool profile_line_shown(const struct profile_line *line)
{
	return !tracing_thresh || profile_average(&line->count) >= tracing_thresh;
}

static u64 profile_key(const struct profile_line *line)
{
	return line->count.time;
}

static void profile_show_times(struct seq_file *m, const struct profile_count *count)
{
	const u64 times[] = { count->time, profile_average(count), profile_variance(count) };
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

#define PROFILE_HEADER								\
	"  Function                               Hit    Time            Avg             s^2\n" \
	"  --------                               ---    ----            ---             ---\n"
#else
static bool profile_line_shown(const struct profile_line *line)
{
	return true;
}

static u64 profile_key(const struct profile_line *line)
{
	return line->count.hits;
}

static void profile_show_times(struct seq_file *m, const struct profile_count *count)
{
}

#define PROFILE_HEADER						\
	"  Function                               Hit\n"	\
	"  --------                               ---\n"
#endif

/* The files under trace_stat: lines are made when one is opened */

static struct profile_line *profile_line_in(const struct ftrace_table *table, unsigned int cpu,
					    unsigned long from)
{
	const struct profile_count *counts;
	struct profile_line *line;
	unsigned int i;

	if (!table->profile)
		return NULL;
	counts = table->profile->count[cpu];
	for (i = ftrace_table_lower_bound(table, from); i < table->nr; i++) {
		if (READ_ONCE(counts[i].hits))
			break;
	}
	if (i == table->nr)
		return NULL;

	line = kmalloc(sizeof(*line), GFP_KERNEL);
	if (!line)
		return NULL;
	line->ip = ftrace_rec_ip(table, &table->recs[i]);
	line->cpu = cpu;
	line->count = counts[i];
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
	seq_puts(m, PROFILE_HEADER);
	return 0;
}

static int profile_stat_show(struct seq_file *m, void *p)
{
	const struct profile_line *line = p;
	char name[KSYM_SYMBOL_LEN];

	if (!profile_line_shown(line))
		return 0;

	/* The module may be gone by now. */
	if (!kallsyms_lookup(line->ip, NULL, NULL, NULL, name))
		scnprintf(name, sizeof(name), "0x%lx", line->ip);
	seq_printf(m, "  %-30.30s  %10lu", name, line->count.hits);
	profile_show_times(m, &line->count);
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
#include "tests/ftrace_profile_kunit.c"
#endif
