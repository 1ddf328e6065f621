// SPDX-License-Identifier: GPL-2.0
/*
 * The guard: what is called too often while it is traced leaves the traced functions by
 * itself, so that tracing cannot bring the machine down.
 *
 *	tracing_max_rate	how many calls a second and CPU may be traced: of one
 *				function and, if there is a second number, of all
 *	max_overhead		how many percent of each CPU's time tracing may cost
 *	throttled_functions	what left, and why; writing lets all come back
 *
 * It guards the ops with ops->guarded: the tracers function and function_graph and the
 * probes of events, in all instances together. An ops of the guard goes with them to each
 * site (ftrace_guarded.c), and its calls are counted there by the stub of the site. Each
 * CPU looks at its own counts ten times a second, takes them away, and decides for
 * itself. Probes of events that are no ops are sampled through struct trace_guard_probes.
 *
 * Invariants:
 *  1. While a limit is set, the guard is registered and each CPU that is online has its
 *     work queued or running. A CPU that sleeps is not woken for it.
 *  2. What has left stays out until throttled_functions is written, also if the limits
 *     are taken back, and is listed there; so is what left with its module.
 *
 * Lock order:
 *	guard_mutex > event_mutex > trace_types_lock > ftrace_lock
 * guard_mutex covers setting the limits, ftrace_lock their values and the list. A CPU's
 * samples are those of its work.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "ftrace_attach.h"
#include "ftrace_callset.h"
#include "ftrace_counts.h"
#include "ftrace_guarded.h"
#include "ftrace_ops.h"
#include "ftrace_site_set.h"
#include "ftrace_sites.h"
#include "trace.h"
#include "trace_guard.h"
#include "trace_guard_cost.h"

#define GUARD_PERIOD	(HZ / 10)

/**
 * enum guard_limit - which limit was exceeded
 * @GUARD_LIMIT_NONE: none
 * @GUARD_LIMIT_RATE: tracing_max_rate, by the function
 * @GUARD_LIMIT_RATE_ALL: its second number, by all
 * @GUARD_LIMIT_OVERHEAD: max_overhead
 */
enum guard_limit {
	GUARD_LIMIT_NONE,
	GUARD_LIMIT_RATE,
	GUARD_LIMIT_RATE_ALL,
	GUARD_LIMIT_OVERHEAD,
};

static const char * const guard_limit_names[] = {
	[GUARD_LIMIT_RATE]	= "tracing_max_rate",
	[GUARD_LIMIT_RATE_ALL]	= "tracing_max_rate of all",
	[GUARD_LIMIT_OVERHEAD]	= "max_overhead",
};

/**
 * struct guard_limits - the limits; 0 stands for none
 * @rate: calls a second and CPU of one function
 * @rate_all: of all functions
 * @overhead: percent of a CPU's time
 */
struct guard_limits {
	unsigned int	rate;
	unsigned int	rate_all;
	unsigned int	overhead;
};

/**
 * struct guard_sample - what was called on a CPU since the last sample
 * @ip: the site, or 0
 * @probe: the probe, or NULL
 * @calls: how often
 * @cost: nanoseconds that tracing this took
 * @over: the limit for which it has to leave
 */
struct guard_sample {
	unsigned long		ip;
	void			*probe;
	u64			calls;
	u64			cost;
	enum guard_limit	over;
};

/**
 * struct guard_round - one look of a CPU
 * @time: nanoseconds since the last one
 * @nr: number of samples
 * @max: how many there is memory for
 * @sample: the samples
 */
struct guard_round {
	u64			time;
	unsigned int		nr;
	unsigned int		max;
	struct guard_sample	*sample;
};

/**
 * struct guard_cpu - what a CPU does for the guard
 * @work: looks
 * @cpu: the CPU
 * @last: when it looked last, by local_clock(); 0 if never since the guard is on
 * @round: the memory for its samples
 * @count: what it counted in a group of records
 */
struct guard_cpu {
	struct delayed_work	work;
	unsigned int		cpu;
	u64			last;
	struct guard_round	round;
	u64			count[FTRACE_COUNT_GROUP];
};

/**
 * struct guard_gone - what has left
 * @node: in the list of all
 * @time: when, by local_clock()
 * @rate: calls a second then
 * @cpu: the CPU on which it was called so often
 * @over: the limit
 * @name: the function, with its module in brackets, or the event
 */
struct guard_gone {
	struct list_head	node;
	u64			time;
	u64			rate;
	unsigned int		cpu;
	enum guard_limit	over;
	char			name[KSYM_SYMBOL_LEN];
};

static DEFINE_MUTEX(guard_mutex);
static struct guard_limits guard_limits;
static LIST_HEAD(guard_gone);
static DEFINE_PER_CPU(struct guard_cpu *, guard_cpus);
static const struct trace_guard_probes *guard_probes;

/* Read by CPUs that come online. */
static bool guard_runs;

static struct ftrace_ops guard_ops = {
	.func	= ftrace_count_call,
};

/* Picoseconds of a call, by ops->guarded; 0 as long as nobody asked. */
static u64 guard_cost[FTRACE_NR_GUARDED];

/* Decisions */

static u64 guard_rate(u64 calls, u64 time)
{
	return mul_u64_u64_div_u64(calls, NSEC_PER_SEC, time);
}

static int guard_cmp_calls(const void *a, const void *b)
{
	const struct guard_sample *x = a, *y = b;

	return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
}

static int guard_cmp_cost(const void *a, const void *b)
{
	const struct guard_sample *x = a, *y = b;

	return x->cost < y->cost ? 1 : x->cost > y->cost ? -1 : 0;
}

/* What a limit for all together counts. */
static u64 guard_amount(const struct guard_sample *sample, enum guard_limit over)
{
	return over == GUARD_LIMIT_OVERHEAD ? sample->cost : sample->calls;
}

/* Those with the largest amounts leave until the rest is not more than @max. */
static void guard_shed(struct guard_round *round, enum guard_limit over, u64 max)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < round->nr; i++) {
		if (!round->sample[i].over)
			sum += guard_amount(&round->sample[i], over);
	}
	if (sum <= max)
		return;
	sort(round->sample, round->nr, sizeof(*round->sample),
	     over == GUARD_LIMIT_OVERHEAD ? guard_cmp_cost : guard_cmp_calls, NULL);
	for (unsigned int i = 0; i < round->nr && sum > max; i++) {
		struct guard_sample *sample = &round->sample[i];

		if (sample->over)
			continue;
		sample->over = over;
		sum -= guard_amount(sample, over);
	}
}

/* Says of each sample whether it has to leave. Returns whether any has. */
static bool guard_decide(struct guard_round *round, const struct guard_limits *limits)
{
	bool any = false;

	for (unsigned int i = 0; i < round->nr; i++) {
		struct guard_sample *sample = &round->sample[i];

		if (limits->rate && guard_rate(sample->calls, round->time) > limits->rate)
			sample->over = GUARD_LIMIT_RATE;
	}
	if (limits->rate_all)
		guard_shed(round, GUARD_LIMIT_RATE_ALL,
			   mul_u64_u64_div_u64(limits->rate_all, round->time, NSEC_PER_SEC));
	if (limits->overhead)
		guard_shed(round, GUARD_LIMIT_OVERHEAD,
			   mul_u64_u64_div_u64(round->time, limits->overhead, 100));
	for (unsigned int i = 0; i < round->nr; i++)
		any |= round->sample[i].over;
	return any;
}

/* Samples */

/* Without memory, what does not fit is looked at the next time. */
static void guard_add(struct guard_round *round, const struct guard_sample *sample)
{
	if (round->nr == round->max) {
		unsigned int max = max(2 * round->max, 256);
		void *p = kvrealloc(round->sample, max * sizeof(*sample), GFP_KERNEL);

		if (!p)
			return;
		round->sample = p;
		round->max = max;
	}
	round->sample[round->nr++] = *sample;
}

static u64 guard_price(u64 calls, u64 picoseconds)
{
	return mul_u64_u64_div_u64(calls, picoseconds, 1000);
}

/**
 * trace_guard_add_probe - tell the guard of a probe
 * @round: what struct trace_guard_probes' sample() got
 * @probe: the probe
 * @calls: how often it was hit on this CPU since the last time
 *
 * Context: in sample(), with event_mutex held.
 */
void trace_guard_add_probe(struct guard_round *round, void *probe, u64 calls)
{
	guard_add(round, &(struct guard_sample) {
		.probe	= probe,
		.calls	= calls,
		.cost	= guard_price(calls, guard_cost[FTRACE_GUARDED_PROBE]),
	});
}

/* What a call of a site costs, in picoseconds; -1 if nothing there is guarded. */
static long guard_site_cost(const struct ftrace_record *rec)
{
	const struct ftrace_callset *cs = ftrace_callset_get(ftrace_rec_callset(rec));
	bool any = false;
	long cost = 0;

	for (unsigned int i = 0; cs && i < cs->nr_ops; i++) {
		any |= cs->ops[i]->guarded;
		cost += guard_cost[cs->ops[i]->guarded];
	}
	return any ? cost : -1;
}

static void guard_sample_group(struct guard_cpu *gc, const struct ftrace_table *table,
			       unsigned int group)
{
	const struct ftrace_record *rec = &table->recs[group * FTRACE_COUNT_GROUP];
	unsigned int nr = ftrace_counts_take(guard_ops.counts, table, group, gc->count);

	for (unsigned int i = 0; i < nr; i++) {
		long cost = gc->count[i] ? guard_site_cost(&rec[i]) : -1;

		if (cost < 0)
			continue;
		guard_add(&gc->round, &(struct guard_sample) {
			.ip	= ftrace_rec_ip(table, &rec[i]),
			.calls	= gc->count[i],
			.cost	= guard_price(gc->count[i], cost),
		});
	}
}

/* Context: the CPU's work; ftrace_lock is held, and event_mutex if @probes. */
static void guard_sample_all(struct guard_cpu *gc, bool probes)
{
	struct ftrace_table *table;
	u64 now = local_clock();

	gc->round.nr = 0;
	gc->round.time = max(now - gc->last, 1);
	for_each_ftrace_table(table) {
		for (unsigned int i = 0; i < ftrace_count_groups(table); i++)
			guard_sample_group(gc, table, i);
	}
	if (probes)
		guard_probes->sample(&gc->round);
	/* What was called before the guard was on is not known. */
	if (!gc->last)
		gc->round.nr = 0;
	gc->last = now;
}

/* Leaving */

static void guard_remember(const struct guard_cpu *gc, const struct guard_sample *sample)
{
	struct guard_gone *gone = kzalloc(sizeof(*gone), GFP_KERNEL);

	if (!gone)
		return;
	gone->time = gc->last;
	gone->rate = guard_rate(sample->calls, gc->round.time);
	gone->cpu = gc->cpu;
	gone->over = sample->over;
	if (sample->ip)
		snprintf(gone->name, sizeof(gone->name), "%ps", (void *)sample->ip);
	else
		guard_probes->name(sample->probe, gone->name, sizeof(gone->name));
	list_add_tail(&gone->node, &guard_gone);
}

/* One line in each trace that a function may be missing from. */
static void guard_tell(const struct guard_gone *gone)
{
	struct trace_array *tr;
	char line[KSYM_SYMBOL_LEN + 128];
	int len;

	len = scnprintf(line, sizeof(line),
			"%s is not traced any more: %llu calls a second on CPU %u exceed %s",
			gone->name, gone->rate, gone->cpu, guard_limit_names[gone->over]);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->flags & TRACE_ARRAY_FL_GLOBAL || tr->current_trace != &nop_trace)
			__trace_array_puts(tr, _THIS_IP_, line, len);
	}
}

static void guard_take_sites(struct guard_cpu *gc)
{
	const struct guard_round *round = &gc->round;
	struct ftrace_site_set *set __free(site_set) = ftrace_site_set_alloc(round->nr);

	if (!set)
		return;
	set->nr = 0;
	for (unsigned int i = 0; i < round->nr; i++) {
		const struct guard_sample *sample = &round->sample[i];

		/* Its module may be gone. */
		if (sample->over && sample->ip && ftrace_site_find(sample->ip))
			set->ip[set->nr++] = sample->ip;
	}
	if (!set->nr)
		return;
	ftrace_site_set_sort(set);
	/* The next round tries again. */
	if (ftrace_guarded_leave(set))
		return;
	for (unsigned int i = 0; i < round->nr; i++) {
		if (round->sample[i].over && ftrace_site_set_has(set, round->sample[i].ip))
			guard_remember(gc, &round->sample[i]);
	}
}

static void guard_take_probes(struct guard_cpu *gc)
{
	for (unsigned int i = 0; i < gc->round.nr; i++) {
		struct guard_sample *sample = &gc->round.sample[i];

		if (!sample->over || !sample->probe)
			continue;
		guard_probes->leave(sample->probe);
		guard(mutex)(&ftrace_lock);
		guard_remember(gc, sample);
	}
}

/* Context: event_mutex is held if a probe has to leave. */
static void guard_take(struct guard_cpu *gc)
{
	struct list_head *last;
	struct guard_gone *gone;

	guard(mutex)(&trace_types_lock);

	scoped_guard(mutex, &ftrace_lock) {
		last = guard_gone.prev;
		guard_take_sites(gc);
	}
	guard_take_probes(gc);
	guard(mutex)(&ftrace_lock);
	gone = list_entry(last, struct guard_gone, node);
	list_for_each_entry_continue(gone, &guard_gone, node)
		guard_tell(gone);
}

/* Returns whether something has to leave. */
static bool guard_look(struct guard_cpu *gc, bool probes)
{
	guard(mutex)(&ftrace_lock);
	guard(migrate)();

	/* If the CPU has gone offline, its counts wait for it. */
	if (smp_processor_id() != gc->cpu)
		return false;
	guard_sample_all(gc, probes);
	return guard_decide(&gc->round, &guard_limits);
}

static void guard_work(struct work_struct *work)
{
	struct guard_cpu *gc = container_of(to_delayed_work(work), struct guard_cpu, work);
	bool probes = guard_probes && guard_probes->any();

	if (probes)
		mutex_lock(&event_mutex);
	if (guard_look(gc, probes))
		guard_take(gc);
	if (probes)
		mutex_unlock(&event_mutex);

	guard(cpus_read_lock)();
	if (READ_ONCE(guard_runs) && cpu_online(gc->cpu))
		queue_delayed_work_on(gc->cpu, system_highpri_wq, &gc->work, GUARD_PERIOD);
}

/* On and off */

static void guard_free_cpus(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct guard_cpu *gc = per_cpu(guard_cpus, cpu);

		if (gc)
			kvfree(gc->round.sample);
		kfree(gc);
		per_cpu(guard_cpus, cpu) = NULL;
	}
}

static int guard_alloc_cpus(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct guard_cpu *gc = kzalloc_node(sizeof(*gc), GFP_KERNEL, cpu_to_node(cpu));

		if (!gc) {
			guard_free_cpus();
			return -ENOMEM;
		}
		gc->cpu = cpu;
		INIT_DEFERRABLE_WORK(&gc->work, guard_work);
		per_cpu(guard_cpus, cpu) = gc;
	}
	return 0;
}

static int guard_attach(void)
{
	struct ftrace_counts *counts;
	int ret;

	guard(mutex)(&ftrace_lock);

	counts = ftrace_counts_alloc(1);
	if (!counts)
		return -ENOMEM;
	guard_ops.counts = counts;
	ret = ftrace_guard_attach(&guard_ops);
	if (ret) {
		guard_ops.counts = NULL;
		ftrace_counts_put(counts);
	}
	return ret;
}

static void guard_detach(void)
{
	struct ftrace_counts *counts = guard_ops.counts;

	scoped_guard(mutex, &ftrace_lock) {
		ftrace_guard_detach();
		WRITE_ONCE(guard_ops.counts, NULL);
	}
	/* Somebody may be in the function of the ops. */
	ftrace_wait_for_tasks();
	guard(mutex)(&ftrace_lock);
	ftrace_counts_put(counts);
}

static int guard_start(void)
{
	int ret = guard_alloc_cpus(), cpu;

	if (ret)
		return ret;
	ret = guard_attach();
	if (ret) {
		guard_free_cpus();
		return ret;
	}
	guard(cpus_read_lock)();
	WRITE_ONCE(guard_runs, true);
	for_each_online_cpu(cpu)
		queue_delayed_work_on(cpu, system_highpri_wq, &per_cpu(guard_cpus, cpu)->work, 0);
	return 0;
}

static void guard_stop(void)
{
	int cpu;

	scoped_guard(cpus_read_lock)
		WRITE_ONCE(guard_runs, false);
	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu(guard_cpus, cpu)->work);
	guard_detach();
	guard_free_cpus();
}

static int guard_cpu_online(unsigned int cpu)
{
	if (guard_runs)
		queue_delayed_work_on(cpu, system_highpri_wq, &per_cpu(guard_cpus, cpu)->work, 0);
	return 0;
}

static bool guard_wants(const struct guard_limits *limits)
{
	return limits->rate || limits->rate_all || limits->overhead;
}

static int guard_set(const struct guard_limits *limits)
{
	int ret = 0;

	lockdep_assert_held(&guard_mutex);

	if (limits->overhead && !guard_cost[FTRACE_GUARDED_FUNCTION])
		ret = trace_guard_measure(guard_cost);
	if (!ret && guard_wants(limits) && !guard_runs)
		ret = guard_start();
	if (ret)
		return ret;
	scoped_guard(mutex, &ftrace_lock)
		guard_limits = *limits;
	if (!guard_wants(limits) && guard_runs)
		guard_stop();
	return 0;
}

/* All come back. */
static int guard_reset(void)
{
	struct guard_gone *gone, *next;
	int ret;

	guard(mutex)(&event_mutex);

	if (guard_probes)
		guard_probes->come_back();

	/* Nobody is about to tell of what is forgotten here. */
	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	ret = ftrace_guarded_return();
	if (ret)
		return ret;
	list_for_each_entry_safe(gone, next, &guard_gone, node) {
		list_del(&gone->node);
		kfree(gone);
	}
	return 0;
}

/**
 * trace_guard_register_probes - let the guard look after probes that are no ops
 * @probes: how
 *
 * Context: boot.
 */
void __init trace_guard_register_probes(const struct trace_guard_probes *probes)
{
	guard_probes = probes;
}

/* Files */

#define GUARD_MAX_TEXT	64

enum {
	GUARD_ERR_RATE,
	GUARD_ERR_OVERHEAD,
};

static const char * const guard_errs[] = {
	[GUARD_ERR_RATE]	= "Expected calls a second, of one function or of one and of all",
	[GUARD_ERR_OVERHEAD]	= "Expected a percentage from 0 to 99",
};

static char *guard_get_text(const char __user *ubuf, size_t cnt, char *text)
{
	if (cnt >= GUARD_MAX_TEXT)
		return ERR_PTR(-E2BIG);
	if (copy_from_user(text, ubuf, cnt))
		return ERR_PTR(-EFAULT);
	text[cnt] = '\0';
	return strim(text);
}

static int guard_refuse(const char *file, const char *text, u8 err, const char *at)
{
	tracing_log_err(NULL, file, text, (const char **)guard_errs, err, at - text);
	return -EINVAL;
}

static int guard_parse_rates(const char *text, struct guard_limits *limits)
{
	char copy[GUARD_MAX_TEXT], *rest = copy, *word;
	unsigned int *rate[] = { &limits->rate, &limits->rate_all };

	limits->rate_all = 0;
	strscpy(copy, text);
	for (unsigned int i = 0; i < ARRAY_SIZE(rate); i++) {
		word = strsep(&rest, " \t");
		if (kstrtouint(word, 10, rate[i]))
			return guard_refuse("tracing_max_rate", text, GUARD_ERR_RATE,
					    text + (word - copy));
		if (!rest)
			return 0;
		rest = skip_spaces(rest);
	}
	return guard_refuse("tracing_max_rate", text, GUARD_ERR_RATE, text + (rest - copy));
}

static int guard_parse_overhead(const char *text, struct guard_limits *limits)
{
	if (kstrtouint(text, 10, &limits->overhead) || limits->overhead > 99)
		return guard_refuse("max_overhead", text, GUARD_ERR_OVERHEAD, text);
	return 0;
}

static ssize_t guard_write(const char __user *ubuf, size_t cnt, loff_t *ppos,
			   int (*parse)(const char *text, struct guard_limits *limits))
{
	struct guard_limits limits;
	char buf[GUARD_MAX_TEXT];
	char *text = guard_get_text(ubuf, cnt, buf);
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);

	guard(mutex)(&guard_mutex);

	limits = guard_limits;
	ret = parse(text, &limits) ?: guard_set(&limits);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static ssize_t guard_rate_write(struct file *filp, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	return guard_write(ubuf, cnt, ppos, guard_parse_rates);
}

static ssize_t guard_overhead_write(struct file *filp, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	return guard_write(ubuf, cnt, ppos, guard_parse_overhead);
}

static ssize_t guard_rate_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[GUARD_MAX_TEXT];
	int len;

	scoped_guard(mutex, &ftrace_lock)
		len = scnprintf(buf, sizeof(buf), "%u %u\n", guard_limits.rate,
				guard_limits.rate_all);
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t guard_overhead_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[GUARD_MAX_TEXT];
	int len;

	scoped_guard(mutex, &ftrace_lock)
		len = scnprintf(buf, sizeof(buf), "%u\n", guard_limits.overhead);
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static const struct file_operations guard_rate_fops = {
	.open	= tracing_open_generic,
	.read	= guard_rate_read,
	.write	= guard_rate_write,
	.llseek	= default_llseek,
};

static const struct file_operations guard_overhead_fops = {
	.open	= tracing_open_generic,
	.read	= guard_overhead_read,
	.write	= guard_overhead_write,
	.llseek	= default_llseek,
};

static int guard_gone_show(struct seq_file *m, void *v)
{
	const struct guard_gone *gone;

	guard(mutex)(&ftrace_lock);

	seq_puts(m, "# time calls-a-second CPU function: limit\n");
	list_for_each_entry(gone, &guard_gone, node) {
		u64 us = div_u64(gone->time, NSEC_PER_USEC);
		u32 rest;
		u64 sec = div_u64_rem(us, USEC_PER_SEC, &rest);

		seq_printf(m, "%llu.%06u %llu %u %s: %s\n", sec, rest, gone->rate, gone->cpu,
			   gone->name, guard_limit_names[gone->over]);
	}
	return 0;
}

static int guard_gone_open(struct inode *inode, struct file *filp)
{
	int ret = tracing_check_open_get_tr(NULL);

	if (!ret && (filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC))
		ret = guard_reset();
	return ret ?: single_open(filp, guard_gone_show, NULL);
}

static ssize_t guard_gone_write(struct file *filp, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	/* Whatever is written: there is nothing else to ask for. */
	int ret = guard_reset();

	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static const struct file_operations guard_gone_fops = {
	.open		= guard_gone_open,
	.read		= seq_read,
	.write		= guard_gone_write,
	.llseek		= tracing_lseek,
	.release	= single_release,
};

/**
 * trace_guard_create_files - make the files of the guard
 * @parent: the directory of the top instance
 *
 * Context: boot.
 */
void __init trace_guard_create_files(struct dentry *parent)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "trace/guard:online",
					    guard_cpu_online, NULL);

	if (ret < 0) {
		pr_warn("no guard: CPUs that come online cannot be told of: %pe\n", ERR_PTR(ret));
		return;
	}
	trace_create_file("tracing_max_rate", TRACE_MODE_WRITE, parent, NULL, &guard_rate_fops);
	trace_create_file("max_overhead", TRACE_MODE_WRITE, parent, NULL, &guard_overhead_fops);
	trace_create_file("throttled_functions", TRACE_MODE_WRITE, parent, NULL, &guard_gone_fops);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_guard_kunit.c"
#endif
