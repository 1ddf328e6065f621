// SPDX-License-Identifier: GPL-2.0
/*
 * Times: how long the calls of each site took, for each CPU, and each user of times.
 *
 * A user hooks the returns of the functions that its filter wants. The times of a site are
 * counts (counts.c), made for groups of sites of which one is hooked. When a function
 * returns they are found by its address. Sites of the core kernel are numbered by their
 * records, and its text is cut into buckets, of which each knows the first record in it or
 * after it:
 *
 *	text	|. . A . .|. . . . .|B . . C .|	A, B, C: sites, records 0, 1, 2
 *	first	 0         1         1
 *
 * Functions are longer than a bucket on average, so the record is mostly the first that is
 * looked at. The buckets take about as much memory as records do. A bitmap with ranks would
 * be half of that, but no faster.
 *
 * The time that a function spends in others is told from a variable of the task, the sum S
 * of the totals of calls that have returned and of which the caller has not. A function
 * that finds S as it is entered, and takes T, leaves S + T to its caller, however much its
 * callees added. The sum that they added is not its own time. The work of an interrupt is
 * that of a callee.
 *
 * Invariants:
 *  1. A site is hooked for a user after its times were made. They stay as long as the text
 *     and the user, to be read and used again.
 *  2. A time is added to by one instruction, on the CPU that the function returns on, or as
 *     this_cpu_add() does it elsewhere. The maximum is exchanged.
 *  3. times_started[idx] is the user whose fgraph_ops has that index, or &times_none. A
 *     user that ftrace_times_return() finds there is freed after a grace period
 *     (ftrace_retire()). A call that an earlier user of the index hooked has an earlier
 *     generation, and no times.
 *
 * ftrace_lock covers the list of users and their times. Starting and stopping is serialized
 * by the users.
 *
 * Where the architecture has times_return_to_handler(), a user hooks functions by itself
 * that it is the only graph user of. That takes less than half of the instructions, and no
 * clock but the CPU's cycles.
 *
 * Contexts: the callbacks run wherever a function is called, NMIs included. All the rest
 * sleeps.
 */
#include <linux/cleanup.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/syscore_ops.h>
#include <linux/trace_clock.h>
#include <linux/timex.h>
#include <linux/wordpart.h>
#include <linux/workqueue.h>

#include "fgraph_stack.h"
#include "callset.h"
#include "counts.h"
#include "ops.h"
#include "sites.h"
#include "times.h"
#include "trace_guard.h"
#include "../trace.h"

/* Of a site */
#define TIMES_WORDS		(offsetof(struct ftrace_time, squares) / sizeof(u64))
#define TIMES_WORDS_SQUARES	(TIMES_WORDS + 1)
#define TIMES_WORDS_LATENCY	(TIMES_WORDS + FTRACE_LATENCY_BUCKETS)

#define TIMES_BUCKET	256

/**
 * struct times_text - where the sites of text are
 * @base: the address that the records' offsets count from
 * @size: from there to the end of the last record, in bytes
 * @recs: the records
 * @first: for each bucket the first record that is not before it
 */
struct times_text {
	unsigned long			base;
	unsigned long			size;
	const struct ftrace_record	*recs;
	u32				*first;
};

/* The core kernel's; of no size until the first user starts. */
static struct times_text times_core __read_mostly;

/* The top instance's option sleep-time of function_graph is off. */
bool fprofile_no_sleep_time;

/* The users that are started, or about to. */
static LIST_HEAD(times_all);

/* Finding */

/* The first record at @offset from the base or after it. The text has one. */
static __always_inline unsigned long times_index(const struct times_text *text, u32 offset)
{
	unsigned long i = text->first[offset / TIMES_BUCKET];

	while (text->recs[i].offset < offset)
		i++;
	return i;
}

/* The times of a record of the core kernel; NULL if it has no times. */
static __always_inline struct ftrace_time __percpu *
times_in_core(const struct ftrace_count_table *core, unsigned long i)
{
	u64 __percpu *group = READ_ONCE(core->group[i / FTRACE_COUNT_GROUP]);
	struct ftrace_time __percpu *time;

	if (unlikely(!group))
		return NULL;
	time = (struct ftrace_time __percpu *)(group + i % FTRACE_COUNT_GROUP * core->words);
	/* So that the compiler does not ask. */
	if (!time)
		__builtin_unreachable();
	return time;
}

/**
 * ftrace_times_find - the times of a record
 * @times: the user
 * @table: the record's table
 * @index: where the record is in the table
 *
 * Context: as for ftrace_counts_find().
 * Return: the times, which may change at any time; NULL if the record has no times.
 */
const struct ftrace_time __percpu *ftrace_times_find(const struct ftrace_times *times,
						     const struct ftrace_table *table,
						     unsigned int index)
{
	const struct ftrace_counts *counts = READ_ONCE(times->counts);

	return (void __percpu *)(counts ? ftrace_counts_find(counts, table, index) : NULL);
}

static noinline struct ftrace_time __percpu *times_search(const struct ftrace_counts *counts,
							  unsigned long ip)
{
	const struct ftrace_table *table = ftrace_table_find(ip);
	unsigned int i;

	if (!table || !counts)
		return NULL;
	i = ftrace_table_lower_bound(table, ip);
	return (void __percpu *)ftrace_counts_find(counts, table, i);
}

/* Counting */

/* An interrupt may have found a longer one since it was read. */
static noinline void times_set_max(u64 __percpu *max, u64 total)
{
	u64 old = 0, was;

	for (; total > old; old = was) {
		was = this_cpu_cmpxchg(*max, old, total);
		if (was == old)
			return;
	}
}
NOKPROBE_SYMBOL(times_set_max);

/* Of a call that took so long. */
static __always_inline unsigned long times_bucket(u64 total)
{
	const unsigned long first = FTRACE_LATENCY_FIRST - 1;
	unsigned long bit;

	total |= BIT_ULL(first);
	/* The first takes fewer instructions. */
	bit = BITS_PER_LONG == 64 ? __fls(total) : fls64(total) - 1;
	return min(bit, first + FTRACE_LATENCY_BUCKETS - 1) - first;
}

/*
 * A call took @total ns, of which @self are its own. A site has so many @words: these tell what is
 * counted besides, as they cannot change under a call. times_is_longest() is to be asked.
 */
static __always_inline void times_add_to_site(const struct ftrace_times *times,
					      struct ftrace_time __percpu *time,
					      unsigned int words, u64 total, u64 self)
{
	this_cpu_add(time->total, total);
	this_cpu_add(time->self, self);
	if (likely(words == TIMES_WORDS))
		return;
	if (words == TIMES_WORDS_LATENCY) {
		this_cpu_inc(time->latency[times_bucket(total)]);
	} else {
		u64 n = READ_ONCE(times->more) == FTRACE_TIMES_SQUARE_SELF ? self : total;

		this_cpu_add(time->squares, n * n);
	}
}

/* Whether times_set_max() has to follow. It looks again. */
static __always_inline bool times_is_longest(struct ftrace_time __percpu *time, u64 total)
{
	return unlikely(total > raw_cpu_read(time->max));
}

/* Preemption is off. @ip is a site. */
static void times_add(const struct ftrace_times *times, unsigned long ip, u64 total, u64 self)
{
	const struct ftrace_count_table *core = READ_ONCE(times->core);
	const struct ftrace_counts *counts = READ_ONCE(times->counts);
	struct ftrace_time __percpu *time;
	unsigned int words = 0;

	if (likely(core && ip - times_core.base < times_core.size)) {
		time = times_in_core(core, times_index(&times_core, ip - times_core.base));
		words = core->words;
	} else {
		time = times_search(counts, ip);
		if (time)
			words = counts->words;
	}
	if (!time)
		return;
	times_add_to_site(times, time, words, total, self);
	if (times_is_longest(time, total))
		times_set_max(&time->max, total);
}
NOKPROBE_SYMBOL(times_add);

static __always_inline u64 times_minus(u64 a, u64 b)
{
	u64 diff;

	return unlikely(check_sub_overflow(a, b, &diff)) ? 0 : diff;
}

static __always_inline bool times_is_off(const struct ftrace_times *times)
{
	u32 __percpu *off = READ_ONCE(times->off);

	return unlikely(off) && this_cpu_read(*off);
}

/**
 * struct times_begin - the state of the task when a function was entered
 * @sum: its variable
 * @slept: how long it had slept
 * @time: the time
 */
struct times_begin {
	u64	sum;
	u64	slept;
	u64	time;
} __packed __aligned(sizeof(long));

static int times_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		       struct ftrace_regs *fregs)
{
	struct times_begin *begin;

	if (times_is_off(container_of(gops, struct ftrace_times, gops)))
		return 0;
	/* First, as it may have an interrupt come. */
	trace_guard_count(gops->ops.private, trace->func, TRACE_GUARD_TIMES);
	begin = fgraph_reserve_data(gops->idx, sizeof(*begin));
	if (!begin)
		return 0;
	begin->sum = *fgraph_var(current->ret_stack, gops->idx);
	begin->slept = current->ftrace_sleeptime;
	begin->time = trace_clock_local_inline();
	return 1;
}

/* Clocks may go back. */
static u64 times_since(const struct times_begin *begin, u64 now)
{
	u64 total = now - begin->time;

	/* That of a task which was moved has the same step of the clocks. */
	if (unlikely(READ_ONCE(fprofile_no_sleep_time)))
		total -= current->ftrace_sleeptime - begin->slept;
	return (s64)total < 0 ? 0 : total;
}

/* A call that began on another CPU counts where it ends. */
static void times_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
			 struct ftrace_regs *fregs)
{
	u64 now = trace_clock_local_inline();
	const struct times_begin *begin = fgraph_retrieve_data(gops->idx, NULL);
	u64 *var = fgraph_var(current->ret_stack, gops->idx);
	u64 total, inside;

	if (!begin)
		return;
	total = times_since(begin, now);
	inside = *var - begin->sum;
	*var = begin->sum + total;
	times_add(container_of(gops, struct ftrace_times, gops), trace->func, total,
		  times_minus(total, inside));
}

/* Where the architecture lets it be done quickly */

/* How long one of get_cycles() is, in 2^-31 ns; 0 if it must not be used for times. */
static u64 times_cycle __read_mostly;

static void times_choose(struct ftrace_times *times)
{
	/* Only times_return() subtracts the time that a task sleeps. */
	WRITE_ONCE(times->gops.ops.quick, !fprofile_no_sleep_time && times_cycle && !times->off);
}

#ifdef FTRACE_TIMES_PATH
/* The data of an entry: the cycles, and the task's variable as it was. */
#define TIMES_ENTRY_WORDS	(FGRAPH_ENTRY_WORDS + 2 * FGRAPH_U64_WORDS)

/* The meta word of an entry. */
static u64 times_meta(const struct ftrace_times *times)
{
	return times->gops.ops.graph_meta | FGRAPH_META_SOLE |
	       FIELD_PREP(FGRAPH_META_WORDS, TIMES_ENTRY_WORDS);
}

/* No entry has its meta word. */
static const struct ftrace_times times_none = {
	.meta = U64_MAX,
};

/* The users that are started, by index. */
static const struct ftrace_times *times_started[FGRAPH_MAX_USERS] __read_mostly = {
	[0 ... FGRAPH_MAX_USERS - 1] = &times_none,
};

/* The clock may be set back: while the machine is suspended, or on its way to another CPU. */
static __always_inline u64 times_elapsed(u64 from, u64 to)
{
	u64 cycles = to - from;

	if (likely(!(cycles >> 32)))
		return cycles * READ_ONCE(times_cycle) >> 31;
	if ((s64)cycles < 0)
		return 0;
	return ((u64)lower_32_bits(cycles) * READ_ONCE(times_cycle) >> 31) +
	       (cycles >> 32) * 2 * READ_ONCE(times_cycle);
}

static __always_inline void times_hook(unsigned long ip, unsigned long *retp,
				       struct ftrace_ops *ops)
{
	struct ftrace_times *times = container_of(ops, struct ftrace_times, gops.ops);
	struct task_struct *task = current;
	unsigned long *stack = task->ret_stack;
	struct ftrace_ret_stack *frame;
	u64 *data;

	if (unlikely(!fgraph_can_hook(task, retp) ||
		     !fgraph_push(task, ip, retp, ops->graph_meta | FGRAPH_META_SOLE,
				  TIMES_ENTRY_WORDS, &frame)))
		return;
	data = fgraph_sole_data(frame);
	data[1] = *fgraph_var(stack, times->gops.idx);
	*retp = (unsigned long)times_return_to_handler;
	data[0] = get_cycles();
}

/* The sample may have an interrupt come, so it is taken first. */
__no_stack_protector
static noinline void times_call_sampled(unsigned long ip, unsigned long *retp,
					struct ftrace_ops *ops)
{
	trace_guard_sample(ops->private, ip, TRACE_GUARD_TIMES);
	times_hook(ip, retp, ops);
}
NOKPROBE_SYMBOL(times_call_sampled);

/*
 * fgraph_call() and times_entry() in line, for sites that no other graph user has. There is no
 * recursion to guard against: of all that this calls, only a sample calls functions that can be
 * traced, and these only after it has claimed its irq_work: no further sample does. An interrupt
 * leaves the return stack as it was.
 */
__no_stack_protector
static void times_call(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
		       struct ftrace_regs *fregs)
{
	struct ftrace_ops *ops = READ_ONCE(cs->ops[cs->nr_funcs]);

	/* It is another one if there are pids, and if the user has just gone. */
	if (unlikely(!READ_ONCE(ops->quick) ||
		     container_of(ops, struct fgraph_ops, ops)->entryfunc != times_entry))
		fgraph_call(ip, retp, cs, fregs);
	else if (trace_guard_is_due())
		times_call_sampled(ip, retp, ops);
	else
		times_hook(ip, retp, ops);
}
NOKPROBE_SYMBOL(times_call);

/* The index of the user of a meta word; of a word that is not of an entry, any index. */
static __always_inline unsigned long times_idx(u64 meta)
{
	return __ffs((unsigned long)meta >> __bf_shf(FGRAPH_META_USERS)) % FGRAPH_MAX_USERS;
}

/* Returns where the function was to return to. */
static __always_inline unsigned long times_drop(const struct ftrace_ret_stack *frame)
{
	unsigned long ret = READ_ONCE(frame->ret);

	fgraph_drop_to(current, current->curr_ret_stack - TIMES_ENTRY_WORDS);
	return ret;
}

/*
 * The ends of ftrace_times_return() that take a call, or are seldom. Each is the last that it
 * calls, so that no register has to be saved.
 */

/* The user was stopped since the function was entered, and another may have been started. */
__no_stack_protector
static noinline unsigned long times_return_stopped(const struct ftrace_ret_stack *frame, u64 meta)
{
	/* Only such entries lead here. */
	if (FIELD_GET(FGRAPH_META_WORDS, meta) != TIMES_ENTRY_WORDS)
		return fgraph_lost();
	return times_drop(frame);
}
NOKPROBE_SYMBOL(times_return_stopped);

/* Of a function that is not the core kernel's. */
__no_stack_protector
static noinline unsigned long times_return_elsewhere(const struct ftrace_times *times,
						     const struct ftrace_ret_stack *frame,
						     u64 total, u64 self)
{
	preempt_disable_notrace();
	times_add(times, frame->func, total, self);
	preempt_enable_notrace();
	return times_drop(frame);
}
NOKPROBE_SYMBOL(times_return_elsewhere);

/* Of the longest call so far. */
__no_stack_protector
static noinline unsigned long times_return_longest(u64 __percpu *max, u64 total, unsigned long ret)
{
	times_set_max(max, total);
	return ret;
}
NOKPROBE_SYMBOL(times_return_longest);

/**
 * ftrace_times_return - a function returns that times_call() has hooked
 *
 * Called by times_return_to_handler(). Objects that are retired stay until a task that is
 * preempted here goes on.
 *
 * Context: any that can be traced, NMI included.
 * Return: where the function was to return to.
 */
__no_stack_protector
unsigned long ftrace_times_return(void)
{
	u64 cycles = get_cycles(), total, self, sum, meta, *var, *data;
	struct task_struct *task = current;
	unsigned long *stack = task->ret_stack, offset, idx, i, ret;
	unsigned int start = task->curr_ret_stack - TIMES_ENTRY_WORDS;
	const struct ftrace_count_table *core;
	struct ftrace_time __percpu *time;
	const struct ftrace_times *times;
	struct ftrace_ret_stack *frame;

	if (unlikely(start > FGRAPH_STACK_WORDS - TIMES_ENTRY_WORDS))
		return fgraph_lost();
	frame = (struct ftrace_ret_stack *)&stack[start];
	meta = *fgraph_top((unsigned long *)frame, TIMES_ENTRY_WORDS);
	idx = times_idx(meta);
	times = READ_ONCE(times_started[idx]);
	if (unlikely(meta != times->meta))
		return times_return_stopped(frame, meta);

	var = fgraph_var(stack, idx);
	data = fgraph_sole_data(frame);
	total = times_elapsed(data[0], cycles);
	sum = data[1] + total;
	/* Without the totals of its callees, if that can be. */
	self = times_minus(sum, *var);
	*var = sum;
	offset = frame->func - times_core.base;
	if (unlikely(offset >= times_core.size))
		return times_return_elsewhere(times, frame, total, self);
	i = times_index(&times_core, offset);
	core = READ_ONCE(times->core);
	time = times_in_core(core, i);
	if (unlikely(!time))
		return times_drop(frame);
	times_add_to_site(times, time, core->words, total, self);
	ret = times_drop(frame);
	if (times_is_longest(time, total))
		return times_return_longest(&time->max, total, ret);
	return ret;
}
NOKPROBE_SYMBOL(ftrace_times_return);

static void times_watch(struct work_struct *work);
static DECLARE_DEFERRABLE_WORK(times_watch_work, times_watch);

static void times_choose_path(void)
{
	struct ftrace_times *times;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(times_cycle, arch_ftrace_cycle());
	list_for_each_entry(times, &times_all, node)
		times_choose(times);
	/* The cycles may turn out not to be constant, and no call asks that. */
	if (times_cycle && !list_empty(&times_all) && system_dfl_wq)
		queue_delayed_work(system_dfl_wq, &times_watch_work, HZ);
}

static void times_watch(struct work_struct *work)
{
	guard(mutex)(&ftrace_lock);
	times_choose_path();
}

#ifdef CONFIG_PM_SLEEP
/*
 * While the machine is suspended its cycles go on, or begin anew. Calls from before that return
 * afterwards have taken no time meanwhile: they begin so much later. Only this CPU runs. In a
 * suspend to idle both clocks go on, and its time counts.
 */

/* When the machine was suspended, by both clocks */
static u64 times_suspend_cycles, times_suspend_time;
/* The only function that is entered after that, and has not returned when times_resume() runs */
static unsigned long times_resume_ip __ro_after_init;

static void times_delay_task(struct task_struct *task, unsigned long cycles)
{
	int end = task->curr_ret_stack, start;

	for (; (start = fgraph_entry_start(task, end)) >= 0; end = start) {
		struct ftrace_ret_stack *frame = fgraph_frame(task, start);
		u64 meta = *fgraph_top(task->ret_stack, end);

		if (meta == times_started[times_idx(meta)]->meta && frame->func != times_resume_ip)
			*fgraph_sole_data(frame) += cycles;
	}
}

static int times_suspend(void *data)
{
	times_suspend_cycles = get_cycles();
	times_suspend_time = trace_clock_local();
	return 0;
}

static void times_resume(void *data)
{
	/* The clock of a virtual machine may go back, if it is resumed elsewhere. */
	u64 awake = times_minus(trace_clock_local(), times_suspend_time);

	if (times_cycle)
		fgraph_visit_tasks(times_delay_task, get_cycles() - times_suspend_cycles -
				   mul_u64_u64_div_u64(awake, BIT_ULL(31), times_cycle));
}

static const struct syscore_ops times_syscore_ops = {
	.suspend	= times_suspend,
	.resume		= times_resume,
};

static struct syscore times_syscore = { .ops = &times_syscore_ops };

static int __init times_init_suspend(void)
{
	times_resume_ip = ftrace_location((unsigned long)syscore_resume);
	register_syscore(&times_syscore);
	return 0;
}
core_initcall(times_init_suspend);
#endif

static void times_set_started(struct ftrace_times *times, bool started)
{
	times->meta = times_meta(times);
	/* For returns, which compare with it as soon as they see the user. */
	smp_store_release(&times_started[times->gops.idx], started ? times : &times_none);
}
#else
#define times_call	NULL

static void times_choose_path(void)
{
}

static void times_set_started(struct ftrace_times *times, bool started)
{
}
#endif

/**
 * ftrace_times_set_off - say on which CPUs calls are left out
 * @times: the user
 * @off: not 0 on these; NULL to leave out no CPU
 *
 * Context: ftrace_lock is held.
 */
void ftrace_times_set_off(struct ftrace_times *times, u32 __percpu *off)
{
	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(times->off, off);
	times_choose(times);
}

/**
 * ftrace_times_sleep_time_changed - fprofile_no_sleep_time is another one
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

/**
 * ftrace_times_reset - set all times to zero
 * @times: the user
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_times_reset(struct ftrace_times *times)
{
	if (times->counts)
		ftrace_counts_reset(times->counts);
}

/* Users */

/**
 * ftrace_times_has_latency - whether there are counts of calls by their time
 * @times: the user
 *
 * Context: ftrace_lock is held.
 * Return: whether what ftrace_times_find() finds has struct ftrace_time::latency.
 */
bool ftrace_times_has_latency(const struct ftrace_times *times)
{
	return times->counts && times->counts->words == TIMES_WORDS_LATENCY;
}

/**
 * ftrace_times_init - make a user of times
 * @times: zeroed, or stopped and without times; its memory stays for a grace period after the
 *	   last ftrace_times_stop(), as ftrace_retire() waits for
 * @like: the ops whose filter and instance it shares; NULL for the filter of the top
 *	  instance, without regard to its pids
 */
void ftrace_times_init(struct ftrace_times *times, struct ftrace_ops *like)
{
	times->gops.entryfunc = times_entry;
	times->gops.retfunc = times_return;
	times->gops.ops.sole_func = times_call;
	times->gops.ops.guarded = like;
	if (like)
		fgraph_init_ops(&times->gops.ops, like);
	else
		ftrace_ops_set_global_filter(&times->gops.ops);
}

/**
 * ftrace_times_is_started - whether functions are hooked for a user
 * @times: the user
 *
 * Return: true from ftrace_times_start() to ftrace_times_stop().
 */
bool ftrace_times_is_started(const struct ftrace_times *times)
{
	return times->gops.ops.flags & FTRACE_OPS_FL_ENABLED;
}

/**
 * ftrace_is_of_times - whether a graph user is one of times
 * @ops: its ops
 *
 * Context: any.
 */
bool ftrace_is_of_times(const struct ftrace_ops *ops)
{
	return container_of(ops, struct fgraph_ops, ops)->retfunc == times_return;
}

static int times_fill_buckets(struct times_text *text, const struct ftrace_table *table)
{
	unsigned long size = table->recs[table->nr - 1].offset + 1;
	unsigned int nr = DIV_ROUND_UP(size, TIMES_BUCKET), at = 0;

	text->base = table->base;
	text->recs = table->recs;
	text->first = kvmalloc_array(nr, sizeof(*text->first), GFP_KERNEL);
	if (!text->first)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		while (table->recs[at].offset < i * TIMES_BUCKET)
			at++;
		text->first[i] = at;
	}
	text->size = size;
	return 0;
}

static struct ftrace_table *times_core_table(void)
{
	struct ftrace_table *table;

	for_each_ftrace_table(table) {
		if (!table->mod && !table->init)
			return table;
	}
	return NULL;
}

/* Makes the counts that the callbacks find; they stay. */
static int times_prepare(struct ftrace_times *times)
{
	unsigned int words = times->more == FTRACE_TIMES_LATENCY ? TIMES_WORDS_LATENCY :
			     times->more ? TIMES_WORDS_SQUARES : TIMES_WORDS;
	struct ftrace_table *table = times_core_table();

	lockdep_assert_held(&ftrace_lock);

	BUILD_BUG_ON(FTRACE_COUNT_GROUP * TIMES_WORDS_LATENCY * sizeof(u64) > SZ_32K);

	/* The architecture was not ready at boot, or there was no memory. */
	if (!table || !table->nr)
		return -ENODEV;
	if (!times_core.size && times_fill_buckets(&times_core, table))
		return -ENOMEM;
	if (times->counts && times->counts->words != words)
		ftrace_times_drop(times);
	times->counts = times->counts ?: ftrace_counts_alloc(words);
	if (!times->counts)
		return -ENOMEM;
	WRITE_ONCE(times->core, ftrace_counts_table(times->counts, table));
	/* The transaction that attaches sites to it makes their times. */
	times->gops.ops.counts = times->counts;
	return times->core ? 0 : -ENOMEM;
}

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
 * Return: 0, -ENOMEM, -ENODEV (no site of the core kernel is known), or as
 * register_ftrace_graph(). On failure nothing is hooked, and the times from before are
 * still there, unless @times->more asks for another size: they begin anew then.
 */
int ftrace_times_start(struct ftrace_times *times)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock) {
		ret = times_prepare(times);
		if (ret)
			return ret;
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
 * ftrace_times_stop - end adding up times; the sums stay
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
 * ftrace_times_drop - free the times of a user
 * @times: the user, stopped or never started
 *
 * Context: ftrace_lock is held.
 */
void ftrace_times_drop(struct ftrace_times *times)
{
	lockdep_assert_held(&ftrace_lock);

	ftrace_counts_put(times->counts);
	times->counts = NULL;
	times->gops.ops.counts = NULL;
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/times_kunit.c"
#endif
