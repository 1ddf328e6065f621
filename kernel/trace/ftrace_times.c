// SPDX-License-Identifier: GPL-2.0
/*
 * Times: how long the calls of each site took, for each CPU, and each user of times.
 *
 * A user hooks the returns of the functions that its filter wants. What was counted of a
 * site is found by its address when its function returns. The sites of a table are numbered
 * by its records, and text is cut into buckets, of which each knows the first record in it
 * or after it:
 *
 *	text	|. . A . .|. . . . .|B . . C .|	A, B, C: sites, records 0, 1, 2
 *	first	 0         1         1
 *
 * Functions are longer than a bucket on average, so the record is mostly the first that is
 * looked at. For the core kernel buckets take about as much memory as records do. A bitmap
 * with ranks would be half of that, but no faster.
 *
 * The time that a function spends in others is told from a variable of the task, the sum S
 * of the totals of calls that have returned and of which the caller has not. A function
 * that finds S as it is entered, and takes T, leaves S + T to its caller, whatever was
 * added by those that it called; what they added is not its own. The work of an interrupt
 * is that of a callee.
 *
 * Invariants:
 *  1. While a user is started, each table in the map that has sites has times for it,
 *     unless there was no memory for a module's, which was reported. They stay as long as
 *     the table and the user, to be read and used again.
 *  2. A time is written by its own CPU only, with preemption off. An interrupt between
 *     reading and writing it may cost a call where the CPU cannot add to memory at once.
 *  3. times_started[idx] are times of the user whose fgraph_ops has that index, or of none.
 *     What ftrace_times_return() finds there is freed after a grace period
 *     (ftrace_retire()).
 *
 * ftrace_lock covers the users' tables. Starting and stopping is serialized by the users.
 *
 * Where the architecture has times_return_to_handler(), a user hooks functions by itself
 * that it is the only graph user of. That takes less than half of the instructions, and no
 * clock but the CPU's cycles.
 *
 * Contexts: the callbacks run wherever a function is called, NMIs included. All the rest
 * sleeps.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/topology.h>

#include "fgraph_stack.h"
#include "ftrace_counts.h"
#include "ftrace_ops.h"
#include "ftrace_sites.h"
#include "ftrace_times.h"
#include "trace.h"

/**
 * struct ftrace_time_table - the times of a table's sites
 * @node: among those of the table
 * @times: whose they are
 * @table: the table
 * @base: the address that the records' offsets count from
 * @size: from there to the end of the last record, in bytes
 * @meta: its user's meta word, if that is started
 * @recs: the table's records
 * @first: for each bucket the first record that is not before it
 * @retiree: frees it
 * @time: for each possible CPU, the times by record
 */
struct ftrace_time_table {
	struct hlist_node		node;
	const struct ftrace_times	*times;
	const struct ftrace_table	*table;
	unsigned long			base;
	unsigned long			size;
	u64				meta;
	const struct ftrace_record	*recs;
	u32				*first;
	struct ftrace_retiree		retiree;
	struct ftrace_time		*time[];
};

#define TIMES_BUCKET	256

/* The users that are started, or about to. */
static LIST_HEAD(times_all);

/* Finding */

static __always_inline bool times_covers(const struct ftrace_time_table *tt, unsigned long ip)
{
	return ip - tt->base < tt->size;
}

/* The first record at @offset from the base or after it. The table covers it, so there is one. */
static __always_inline unsigned long times_index(const struct ftrace_time_table *tt, u32 offset)
{
	unsigned long i = tt->first[offset / TIMES_BUCKET];

	while (tt->recs[i].offset < offset)
		i++;
	return i;
}

/* The times of the site there on this CPU, or NULL if there is none. Preemption is off. */
static __always_inline struct ftrace_time *times_at(const struct ftrace_time_table *tt, u32 offset)
{
	unsigned long i = times_index(tt, offset);

	if (unlikely(tt->recs[i].offset != offset))
		return NULL;
	return &tt->time[raw_smp_processor_id()][i];
}

static struct ftrace_time_table *times_in(const struct ftrace_times *times,
					  const struct ftrace_table *table)
{
	struct ftrace_time_table *tt;

	hlist_for_each_entry_rcu(tt, &table->times, node, true) {
		if (tt->times == times)
			return tt;
	}
	return NULL;
}

static noinline const struct ftrace_time_table *times_search(const struct ftrace_times *times,
							     unsigned long ip)
{
	const struct ftrace_table *table = ftrace_table_find(ip);
	const struct ftrace_time_table *tt = table ? times_in(times, table) : NULL;

	return tt && times_covers(tt, ip) ? tt : NULL;
}

/* Preemption is off. NULL for a site that came when there was no memory. */
static __always_inline struct ftrace_time *times_of(const struct ftrace_times *times,
						    unsigned long ip)
{
	const struct ftrace_time_table *tt = READ_ONCE(times->core);

	if (unlikely(!tt || !times_covers(tt, ip))) {
		tt = times_search(times, ip);
		if (!tt)
			return NULL;
	}
	return times_at(tt, ip - tt->base);
}

/* Counting */

/* A call took @total ns, of which @self are its own. */
static __always_inline void times_add_to_site(const struct ftrace_times *times,
					      struct ftrace_time *time, u64 total, u64 self)
{
	u64 n;

	time->total += total;
	time->self += self;
	/* An interrupt may have found a longer one since it was read. */
	if (unlikely(total > time->max))
		time->max = total;
	if (unlikely(READ_ONCE(times->square))) {
		n = READ_ONCE(times->square) == FTRACE_TIMES_SQUARE_SELF ? self : total;
		time->squares += n * n;
	}
}

static __always_inline void times_add(const struct ftrace_times *times, unsigned long ip,
				      u64 total, u64 self)
{
	struct ftrace_time *time = times_of(times, ip);

	if (time)
		times_add_to_site(times, time, total, self);
}

static __always_inline bool times_is_off(const struct ftrace_times *times)
{
	return unlikely(READ_ONCE(times->some_off)) && this_cpu_read(*times->counts->off);
}

static int times_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	unsigned long *sum;

	if (times_is_off(container_of(gops, struct ftrace_times, gops)))
		return 0;
	sum = fgraph_reserve_data(gops->idx, sizeof(*sum));
	if (!sum)
		return 0;
	*sum = *fgraph_get_task_var(gops);
	return 1;
}

/* A call that began on another CPU counts where it ends. */
static void times_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	const struct ftrace_times *times = container_of(gops, struct ftrace_times, gops);
	unsigned long *sum = fgraph_retrieve_data(gops->idx, NULL);
	unsigned long *var = fgraph_get_task_var(gops), inside;
	u64 total;

	/* The last is so if the hook was interrupted, and the function returned, before its end. */
	if (!sum || !trace->calltime)
		return;
	total = trace->rettime - trace->calltime;
	inside = *var - *sum;
	*var = *sum + total;
	times_add(times, trace->func, total, total > inside ? total - inside : 0);
}

/* Where the architecture lets it be done quickly */

#ifdef FTRACE_TIMES_PATH
/* An entry has one word of data, without a header: what the task's variable was. */
#define TIMES_ENTRY_WORDS	(FGRAPH_ENTRY_WORDS + 1)

/* How long one of get_cycles() is, in 2^-32 ns. */
static u64 times_cycle __read_mostly;

/* Of a generation that is never reached. */
static struct ftrace_time_table times_none = {
	.meta	= U64_MAX,
};

/* The times of the core kernel of the users that are started. */
static struct ftrace_time_table *times_started[FGRAPH_MAX_USERS] __read_mostly = {
	[0 ... FGRAPH_MAX_USERS - 1] = &times_none,
};

static __always_inline unsigned long *times_sum(struct ftrace_ret_stack *frame)
{
	return (unsigned long *)(frame + 1);
}

static __always_inline unsigned long *times_var(unsigned long *stack, unsigned long idx)
{
	return &stack[FGRAPH_STACK_VARS + idx];
}

/*
 * What ftrace_graph_func() and times_entry() do, in line, for sites that no other graph user
 * has. As this calls nothing that can be traced there is no recursion to guard against, and
 * what interrupts it leaves the return stack as it was.
 */
__no_stack_protector
static void times_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs)
{
	struct ftrace_ops *ops = READ_ONCE(cs->ops[cs->nr_funcs]);
	struct ftrace_times *times = container_of(ops, struct ftrace_times, gops.ops);
	struct task_struct *task = current;
	struct ftrace_ret_stack *frame;
	unsigned long idx;

	/* It is another one if there are pids, and if the user has just gone. */
	if (unlikely(times->gops.entryfunc != times_entry || !READ_ONCE(times->quick))) {
		ftrace_graph_func(ip, retp, cs);
		return;
	}
	idx = times->gops.idx;
	if (unlikely(!fgraph_can_hook(task, retp) ||
		     !fgraph_push(task, ip, retp, times->gops.meta, TIMES_ENTRY_WORDS,
				  &frame)))
		return;
	*times_sum(frame) = *times_var(task->ret_stack, idx);
	*retp = (unsigned long)times_return_to_handler;
	frame->calltime = get_cycles();
}

NOKPROBE_SYMBOL(times_call);

static __always_inline unsigned long times_leave(struct task_struct *task,
						 struct ftrace_ret_stack *frame)
{
	unsigned long ret = frame->ret;

	preempt_enable_notrace();
	fgraph_drop_to(task, task->curr_ret_stack - TIMES_ENTRY_WORDS);
	return ret;
}

/* Of a function that is not the core kernel's; and there is nothing to save for a call. */
__no_stack_protector
static noinline unsigned long times_return_elsewhere(const struct ftrace_times *times,
						     struct ftrace_ret_stack *frame,
						     u64 total, u64 self)
{
	times_add(times, frame->func, total, self);
	return times_leave(current, frame);
}

NOKPROBE_SYMBOL(times_return_elsewhere);

/**
 * ftrace_times_return - a function returns that times_call() has hooked
 *
 * Called by times_return_to_handler().
 *
 * Context: any that can be traced, NMI included.
 * Return: where the function was to return to.
 */
__no_stack_protector
unsigned long ftrace_times_return(void)
{
	u64 cycles = get_cycles(), total, self;
	struct task_struct *task = current;
	unsigned long *stack = task->ret_stack, *var, sum, offset;
	unsigned long start = task->curr_ret_stack - TIMES_ENTRY_WORDS, idx;
	const struct ftrace_time_table *tt;
	struct ftrace_ret_stack *frame;
	u64 meta;

	if (unlikely(start > FGRAPH_STACK_WORDS - TIMES_ENTRY_WORDS))
		return fgraph_lost();
	frame = (struct ftrace_ret_stack *)&stack[start];
	meta = *fgraph_top((unsigned long *)frame, TIMES_ENTRY_WORDS);
	/* Only such entries lead here. */
	if (unlikely(FIELD_GET(FGRAPH_META_WORDS, meta) != TIMES_ENTRY_WORDS))
		return fgraph_lost();
	idx = fgraph_meta_idx(meta);
	var = times_var(stack, idx);

	preempt_disable_notrace();
	tt = READ_ONCE(times_started[idx]);
	/* It may have been stopped since the function was entered, and another started. */
	if (unlikely(meta < tt->meta))
		return times_leave(task, frame);

	total = mul_u64_u64_shr(cycles - frame->calltime, READ_ONCE(times_cycle), 32);
	sum = *times_sum(frame) + total;
	/* What they that it called have left, if that can be. */
	self = sum > *var ? sum - *var : 0;
	*var = sum;
	offset = frame->func - tt->base;
	if (unlikely(offset >= tt->size))
		return times_return_elsewhere(tt->times, frame, total, self);
	/* What was hooked is a site. */
	times_add_to_site(tt->times, &tt->time[raw_smp_processor_id()][times_index(tt, offset)],
			  total, self);
	return times_leave(task, frame);
}

NOKPROBE_SYMBOL(ftrace_times_return);

static void times_choose(struct ftrace_times *times)
{
	/* What a task sleeps is told from a function's time by fgraph.c only. */
	times->quick = fgraph_sleep_time && times_cycle && !times->some_off;
}

static void times_choose_path(void)
{
	struct ftrace_times *times;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(times_cycle, arch_ftrace_cycle());
	list_for_each_entry(times, &times_all, node)
		times_choose(times);
}

static void times_set_started(const struct ftrace_times *times, bool started)
{
	if (started)
		times->core->meta = times->gops.meta;
	/* For returns, which compare with the meta word as soon as they see the table. */
	smp_store_release(&times_started[times->gops.idx], started ? times->core : &times_none);
}

static void times_set_call(struct ftrace_times *times)
{
	times->gops.ops.alone_func = times_call;
}
#else
static void times_choose(struct ftrace_times *times)
{
}

static void times_choose_path(void)
{
}

static void times_set_started(const struct ftrace_times *times, bool started)
{
}

static void times_set_call(struct ftrace_times *times)
{
}
#endif

/**
 * ftrace_times_set_off - say whether there are CPUs whose calls are left out
 * @times: the user, which has counts
 * @some_off: there are
 *
 * Context: ftrace_lock is held.
 */
void ftrace_times_set_off(struct ftrace_times *times, bool some_off)
{
	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(times->some_off, some_off);
	times_choose(times);
}

/**
 * ftrace_times_sleep_time_changed - fgraph_sleep_time is another one
 *
 * Calls under way are counted by either rule, or without their time.
 *
 * Context: sleeps; takes ftrace_lock.
 */
void ftrace_times_sleep_time_changed(void)
{
	guard(mutex)(&ftrace_lock);
	times_choose_path();
}

/* Tables */

static void time_table_free(struct ftrace_time_table *tt)
{
	unsigned int cpu;

	if (!tt)
		return;
	for_each_possible_cpu(cpu)
		kvfree(tt->time[cpu]);
	kvfree(tt->first);
	kfree(tt);
}

static void time_table_free_retired(struct ftrace_retiree *retiree)
{
	time_table_free(container_of(retiree, struct ftrace_time_table, retiree));
}

DEFINE_FREE(time_table, struct ftrace_time_table *, time_table_free(_T))

static void time_table_fill_buckets(struct ftrace_time_table *tt, unsigned int nr_buckets)
{
	const struct ftrace_table *table = tt->table;
	unsigned int at = 0;

	for (unsigned int i = 0; i < nr_buckets; i++) {
		unsigned long start = tt->base + (unsigned long)i * TIMES_BUCKET;

		while (at < table->nr && ftrace_rec_ip(table, &table->recs[at]) < start)
			at++;
		tt->first[i] = at;
	}
}

static struct ftrace_time_table *time_table_alloc(const struct ftrace_times *times,
						  const struct ftrace_table *table)
{
	struct ftrace_time_table *tt __free(time_table) =
		kzalloc(struct_size(tt, time, nr_cpu_ids), GFP_KERNEL);
	unsigned int nr_buckets, cpu;

	if (!tt)
		return NULL;
	tt->times = times;
	tt->table = table;
	tt->base = table->base;
	tt->size = table->recs[table->nr - 1].offset + 1;
	tt->recs = table->recs;
	tt->retiree.free = time_table_free_retired;

	nr_buckets = DIV_ROUND_UP(tt->size, TIMES_BUCKET);
	tt->first = kvmalloc_array(nr_buckets, sizeof(*tt->first), GFP_KERNEL);
	if (!tt->first)
		return NULL;
	time_table_fill_buckets(tt, nr_buckets);

	for_each_possible_cpu(cpu) {
		tt->time[cpu] = kvcalloc_node(table->nr, sizeof(*tt->time[cpu]), GFP_KERNEL,
					      cpu_to_node(cpu));
		if (!tt->time[cpu])
			return NULL;
	}
	return_ptr(tt);
}

/* Callbacks of other users may be looking through those of the table. */
static int times_add_to(struct ftrace_times *times, struct ftrace_table *table)
{
	struct ftrace_time_table *tt;

	if (!table->nr || times_in(times, table))
		return 0;
	tt = time_table_alloc(times, table);
	if (!tt)
		return -ENOMEM;
	hlist_add_head_rcu(&tt->node, &table->times);
	if (!times->core && !table->mod && !table->init)
		WRITE_ONCE(times->core, tt);
	return 0;
}

/**
 * ftrace_times_add_table - prepare to time the calls of new text
 * @table: about to enter the map
 *
 * Without memory the times of its functions will be missing.
 *
 * Context: ftrace_lock is held; sleeps if a user is started.
 */
void ftrace_times_add_table(struct ftrace_table *table)
{
	struct ftrace_times *times;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(times, &times_all, node) {
		if (times_add_to(times, table))
			pr_warn("no memory for the times of %u functions of %s\n", table->nr,
				module_name(table->mod));
	}
}

/* What all CPUs have of a record. */
static void time_table_sum(const struct ftrace_time_table *tt, unsigned int index,
			   struct ftrace_time *sum)
{
	int cpu;

	*sum = (struct ftrace_time) { };
	for_each_possible_cpu(cpu) {
		const struct ftrace_time *time = &tt->time[cpu][index];

		sum->total += READ_ONCE(time->total);
		sum->self += READ_ONCE(time->self);
		sum->max = max(sum->max, READ_ONCE(time->max));
		sum->squares += READ_ONCE(time->squares);
	}
}

/**
 * ftrace_times_sum - what the calls of a site took on all CPUs
 * @times: the user
 * @table: the record's table
 * @index: where the record is in the table
 * @sum: gets the times; zeroes if there are none of the table
 *
 * Context: ftrace_lock is held.
 */
void ftrace_times_sum(const struct ftrace_times *times, const struct ftrace_table *table,
		      unsigned int index, struct ftrace_time *sum)
{
	const struct ftrace_time_table *tt = times_in(times, table);

	if (tt)
		time_table_sum(tt, index, sum);
	else
		*sum = (struct ftrace_time) { };
}

static void time_table_keep(const struct ftrace_time_table *tt)
{
	const struct ftrace_table *table = tt->table;
	struct ftrace_count_gone *gone;

	list_for_each_entry_reverse(gone, &tt->times->counts->gone, node) {
		if (!gone->ip)
			break;
		time_table_sum(tt, ftrace_table_lower_bound(table, gone->ip), &gone->time);
	}
}

/**
 * ftrace_times_forget_table - keep with the counts what the sites of text took that goes
 * @table: the records; ftrace_counts_forget_table() has just done the same
 *
 * Context: ftrace_lock is held.
 */
void ftrace_times_forget_table(struct ftrace_table *table)
{
	struct ftrace_time_table *tt;

	lockdep_assert_held(&ftrace_lock);

	hlist_for_each_entry(tt, &table->times, node) {
		if (tt->times->counts)
			time_table_keep(tt);
	}
}

/**
 * ftrace_times_free_table - free what is known of text that is gone
 * @table: not in the map, and not in use any more
 *
 * Context: process context.
 */
void ftrace_times_free_table(struct ftrace_table *table)
{
	struct ftrace_time_table *tt;
	struct hlist_node *next;

	hlist_for_each_entry_safe(tt, next, &table->times, node)
		time_table_free(tt);
	INIT_HLIST_HEAD(&table->times);
}

/**
 * ftrace_times_find - the times of a record
 * @times: the user
 * @table: the record's table
 * @index: where the record is in the table
 * @cpu: on which CPU
 *
 * Context: ftrace_lock is held.
 * Return: the times, which may change at any time; NULL if there are none of the table.
 */
const struct ftrace_time *ftrace_times_find(const struct ftrace_times *times,
					    const struct ftrace_table *table, unsigned int index,
					    int cpu)
{
	const struct ftrace_time_table *tt = times_in(times, table);

	return tt ? &tt->time[cpu][index] : NULL;
}

static void time_table_reset_cpu(void *data, int cpu)
{
	const struct ftrace_time_table *tt = data;

	memset(tt->time[cpu], 0, array_size(tt->table->nr, sizeof(*tt->time[cpu])));
}

/**
 * ftrace_times_reset - set all times to zero
 * @times: the user
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_times_reset(struct ftrace_times *times)
{
	struct ftrace_time_table *tt;
	struct ftrace_table *table;

	/* Tables are walked here, where the lock is held, and not on each CPU. */
	for_each_ftrace_table(table) {
		tt = times_in(times, table);
		if (tt)
			ftrace_counts_reset_cpus(time_table_reset_cpu, tt);
	}
}

/* Users */

static void times_free(struct ftrace_retiree *retiree)
{
	kfree(container_of(retiree, struct ftrace_times, retiree));
}

/**
 * ftrace_times_init - make a user of times
 * @times: zeroed; one that is not static is allocated by itself
 * @like: whose filter and instance it shares; NULL for the filter of the top instance,
 *	  whatever its pids
 */
void ftrace_times_init(struct ftrace_times *times, struct ftrace_ops *like)
{
	times->gops.entryfunc = times_entry;
	times->gops.retfunc = times_return;
	times->retiree.free = times_free;
	times_set_call(times);
	if (like)
		fgraph_init_ops(&times->gops.ops, like);
	else
		ftrace_ops_set_global_filter(&times->gops.ops);
}

/**
 * ftrace_times_is_started - whether functions are hooked for a user
 * @times: the user
 *
 * Return: true from ftrace_times_start() to ftrace_times_stop(). After ftrace_kill() it is
 * as it was then for ever.
 */
bool ftrace_times_is_started(const struct ftrace_times *times)
{
	return times->gops.ops.flags & FTRACE_OPS_FL_ENABLED;
}

/* No tables are prepared for it any more. */
static void times_forget(struct ftrace_times *times)
{
	guard(mutex)(&ftrace_lock);
	list_del(&times->node);
}

/**
 * ftrace_times_start - begin to add up times
 * @times: the user
 *
 * Context: sleeps; takes ftrace_lock. Serialized for each user.
 * Return: 0, -ENOMEM, or as register_ftrace_graph(). On failure nothing is hooked, and
 * what was counted before is still there.
 */
int ftrace_times_start(struct ftrace_times *times)
{
	struct ftrace_table *table;
	int ret;

	scoped_guard(mutex, &ftrace_lock) {
		for_each_ftrace_table(table) {
			ret = times_add_to(times, table);
			if (ret)
				return ret;
		}
		/* It takes ftrace_lock itself. Tables that come in between are prepared. */
		list_add(&times->node, &times_all);
		times_choose_path();
	}
	ret = register_ftrace_graph(&times->gops);
	if (ret)
		times_forget(times);
	else
		times_set_started(times, true);
	return ret;
}

/**
 * ftrace_times_stop - end adding up times; what was counted stays
 * @times: the user, started
 *
 * Context: sleeps; takes ftrace_lock. Serialized for each user.
 */
void ftrace_times_stop(struct ftrace_times *times)
{
	times_set_started(times, false);
	unregister_ftrace_graph(&times->gops);
	times_forget(times);
}

/**
 * ftrace_times_drop - free what was counted, and the user unless it is static
 * @times: the user, stopped
 *
 * Context: ftrace_lock is held.
 */
void ftrace_times_drop(struct ftrace_times *times)
{
	struct ftrace_time_table *tt;
	struct ftrace_table *table;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(times->core, NULL);
	for_each_ftrace_table(table) {
		tt = times_in(times, table);
		if (!tt)
			continue;
		hlist_del_rcu(&tt->node);
		ftrace_retire(&tt->retiree);
	}
	if (!is_kernel_core_data((unsigned long)times))
		ftrace_retire(&times->retiree);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_times_kunit.c"
#endif
