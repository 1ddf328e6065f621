// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the tracer count: each call is counted, in each context, on its CPU, and with its
 * caller, under all interrupts and while sites are switched.
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/trace.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "kunit.h"

enum {
	COUNT_KUNIT_TASK,
	COUNT_KUNIT_SOFTIRQ,
	COUNT_KUNIT_HARDIRQ,
	COUNT_KUNIT_NMI,
	COUNT_KUNIT_CONTEXTS,
};

#define COUNT_KUNIT_ROUNDS	500
#define COUNT_KUNIT_SWITCHES	8

/**
 * struct count_kunit_cpu - the callers of gcd() on a CPU
 * @done: its task has
 * @hardirq: interrupts the task, again and again
 * @softirq: runs after that
 * @nmi_wanted: set before an NMI is sent that is ours
 * @calls: how often gcd() was called in each context
 */
struct count_kunit_cpu {
	struct completion	done;
	struct irq_work		hardirq;
	struct tasklet_struct	softirq;
	atomic_t		nmi_wanted;
	u64			calls[COUNT_KUNIT_CONTEXTS];
};

static DEFINE_PER_CPU(struct count_kunit_cpu, count_kunit_cpus);

/* The callers: in each context another one, which is not inlined and returns. */
#define DEFINE_COUNT_KUNIT_CALLER(name, context)					\
static noinline void name(struct count_kunit_cpu *cpu, unsigned int nr)			\
{											\
	for (unsigned int i = 0; i < nr; i++)						\
		WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));		\
	cpu->calls[context] += nr;							\
}

DEFINE_COUNT_KUNIT_CALLER(count_kunit_in_task, COUNT_KUNIT_TASK)
DEFINE_COUNT_KUNIT_CALLER(count_kunit_in_softirq, COUNT_KUNIT_SOFTIRQ)
DEFINE_COUNT_KUNIT_CALLER(count_kunit_in_hardirq, COUNT_KUNIT_HARDIRQ)
DEFINE_COUNT_KUNIT_CALLER(count_kunit_in_nmi, COUNT_KUNIT_NMI)

static void (* const count_kunit_callers[])(struct count_kunit_cpu *cpu, unsigned int nr) = {
	[COUNT_KUNIT_TASK]	= count_kunit_in_task,
	[COUNT_KUNIT_SOFTIRQ]	= count_kunit_in_softirq,
	[COUNT_KUNIT_HARDIRQ]	= count_kunit_in_hardirq,
	[COUNT_KUNIT_NMI]	= count_kunit_in_nmi,
};

#ifdef CONFIG_X86_LOCAL_APIC
static int count_kunit_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct count_kunit_cpu *cpu = this_cpu_ptr(&count_kunit_cpus);

	if (!atomic_xchg(&cpu->nmi_wanted, 0))
		return NMI_DONE;
	count_kunit_in_nmi(cpu, 2);
	return NMI_HANDLED;
}

static bool count_kunit_nmi_begin(void)
{
	return !register_nmi_handler(NMI_LOCAL, count_kunit_nmi, 0, "count_kunit");
}

static void count_kunit_nmi_end(void)
{
	unregister_nmi_handler(NMI_LOCAL, "count_kunit");
}

static void count_kunit_send_nmi(struct count_kunit_cpu *cpu)
{
	atomic_set(&cpu->nmi_wanted, 1);
	__apic_send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
}
#else
static bool count_kunit_nmi_begin(void) { return false; }
static void count_kunit_nmi_end(void) { }
static void count_kunit_send_nmi(struct count_kunit_cpu *cpu) { }
#endif

static bool count_kunit_nmis;
/* The tasks do not end yet. */
static bool count_kunit_goes_on;

static void count_kunit_hardirq(struct irq_work *work)
{
	struct count_kunit_cpu *cpu = container_of(work, struct count_kunit_cpu, hardirq);

	if (count_kunit_nmis)
		count_kunit_send_nmi(cpu);
	count_kunit_in_hardirq(cpu, 3);
	tasklet_schedule(&cpu->softirq);
}

static void count_kunit_softirq(struct tasklet_struct *tasklet)
{
	count_kunit_in_softirq(container_of(tasklet, struct count_kunit_cpu, softirq), 5);
}

static int count_kunit_task(void *data)
{
	struct count_kunit_cpu *cpu = data;

	for (unsigned int round = 0;
	     round < COUNT_KUNIT_ROUNDS || READ_ONCE(count_kunit_goes_on); round++) {
		irq_work_queue(&cpu->hardirq);
		count_kunit_in_task(cpu, 16);
		cond_resched();
	}
	irq_work_sync(&cpu->hardirq);
	tasklet_kill(&cpu->softirq);
	/* The last NMI, which is not masked. */
	while (atomic_read(&cpu->nmi_wanted))
		cpu_relax();
	complete(&cpu->done);
	return 0;
}

static void count_kunit_start(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct count_kunit_cpu *ck = per_cpu_ptr(&count_kunit_cpus, cpu);

		memset(ck->calls, 0, sizeof(ck->calls));
		init_completion(&ck->done);
		ck->hardirq = IRQ_WORK_INIT_HARD(count_kunit_hardirq);
		tasklet_setup(&ck->softirq, count_kunit_softirq);
		/* Without a task there are no calls, and the test fails. */
		if (IS_ERR(kthread_run_on_cpu(count_kunit_task, ck, cpu, "count_kunit/%u")))
			complete(&ck->done);
	}
}

static void count_kunit_wait(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		wait_for_completion(&per_cpu_ptr(&count_kunit_cpus, cpu)->done);
}

/* The calls of gcd() counted on a CPU. */
static u64 count_kunit_counted(const struct count_instance *ci, int cpu)
{
	unsigned long ip = ftrace_location((unsigned long)gcd);
	struct ftrace_table *table = ftrace_table_find(ip);
	u64 __percpu *count;

	count = ftrace_counts_find(ci->counts, table, ftrace_table_lower_bound(table, ip));
	return count ? *per_cpu_ptr(count, cpu) : 0;
}

/* The same for calls from @caller only. */
static u64 count_kunit_from(const struct count_instance *ci, int cpu, void *caller)
{
	unsigned long ip = ftrace_location((unsigned long)gcd), size, offset;
	u64 sum = 0;

	for (unsigned int i = 0; ci->callers && i < ci->callers->nr; i++) {
		u64 key = ci->callers->key[i];
		unsigned long parent = ftrace_callers_parent(key) - 1;

		if (key && ftrace_callers_ip(key) == ip &&
		    kallsyms_lookup_size_offset(parent, &size, &offset) &&
		    parent - offset == (unsigned long)caller)
			sum += *per_cpu_ptr(ftrace_callers_slot(ci->callers, i), cpu);
	}
	return sum;
}

static void count_kunit_expect(struct kunit *test, const struct trace_array *tr)
{
	struct count_instance *ci;
	int cpu;

	guard(mutex)(&ftrace_lock);

	ci = tr->callset.count;
	KUNIT_EXPECT_NOT_NULL(test, ci);
	for_each_online_cpu(cpu) {
		const struct count_kunit_cpu *ck = per_cpu_ptr(&count_kunit_cpus, cpu);
		u64 calls = 0;

		for (unsigned int i = 0; i < COUNT_KUNIT_CONTEXTS; i++) {
			/* There may be no way to send NMIs. */
			if (i != COUNT_KUNIT_NMI || count_kunit_nmis)
				KUNIT_EXPECT_GT(test, ck->calls[i], 0);
			calls += ck->calls[i];
			if (!ci || !ci->callers)
				continue;
			KUNIT_EXPECT_EQ(test, count_kunit_from(ci, cpu, count_kunit_callers[i]),
					ck->calls[i]);
		}
		if (ci)
			KUNIT_EXPECT_EQ(test, count_kunit_counted(ci, cpu), calls);
	}
}

/* Two instances, of which the second counts without a stub. */
static struct trace_array *count_kunit_tr[2];

static int count_kunit_begin_one(struct trace_array **trp, const char *name)
{
	struct trace_array *tr = trace_array_get_by_name(name, NULL);

	*trp = tr;
	if (!tr)
		return -ENOMEM;
	return ftrace_set_filter_ip(tr->ops, ftrace_location((unsigned long)gcd), 0, 1) ?:
	       tracing_set_tracer(tr, "count");
}

static int count_kunit_init(struct kunit *test)
{
	count_kunit_nmis = count_kunit_nmi_begin();
	return count_kunit_begin_one(&count_kunit_tr[0], "count_kunit") ?:
	       count_kunit_begin_one(&count_kunit_tr[1], "count_kunit2");
}

/* Of both; written twice, of which the second time is to change nothing. */
static int count_kunit_option(bool on, const char *option)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < 2 * ARRAY_SIZE(count_kunit_tr); i++) {
		char word[32];

		snprintf(word, sizeof(word), "%s%s", on ? "" : "no", option);
		ret = trace_set_options(count_kunit_tr[i / 2], word);
	}
	return ret;
}

static int count_kunit_callers_option(bool on)
{
	return count_kunit_option(on, "count-callers");
}

static void count_kunit_exit(struct kunit *test)
{
	if (count_kunit_nmis)
		count_kunit_nmi_end();
	count_kunit_callers_option(false);
	for (unsigned int i = 0; i < ARRAY_SIZE(count_kunit_tr); i++) {
		if (!count_kunit_tr[i])
			continue;
		tracing_set_tracer(count_kunit_tr[i], "nop");
		trace_array_put(count_kunit_tr[i]);
		trace_array_destroy(count_kunit_tr[i]);
		count_kunit_tr[i] = NULL;
	}
}

static void count_kunit_expect_both(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(count_kunit_tr); i++)
		count_kunit_expect(test, count_kunit_tr[i]);
}

static void count_contexts(struct kunit *test)
{
	count_kunit_start();
	count_kunit_wait();
	count_kunit_expect_both(test);
}

static void count_caller_contexts(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, count_kunit_callers_option(true), 0);
	count_kunit_start();
	count_kunit_wait();
	count_kunit_expect_both(test);
}

static void count_kunit_other(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
}

static struct ftrace_ops count_kunit_other_ops = {
	.func = count_kunit_other,
};

/* With another ops that comes and goes at the same site, and with the option, if @option. */
static void count_kunit_switch(struct kunit *test, bool option)
{
	struct ftrace_ops *ops = &count_kunit_other_ops;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(ops, ftrace_location((unsigned long)gcd), 0, 0),
			0);
	WRITE_ONCE(count_kunit_goes_on, true);
	count_kunit_start();
	for (unsigned int i = 0; i < COUNT_KUNIT_SWITCHES; i++) {
		KUNIT_EXPECT_EQ(test, register_ftrace_function(ops), 0);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
		if (option)
			KUNIT_EXPECT_EQ(test, count_kunit_callers_option(!(i & 1)), 0);
	}
	WRITE_ONCE(count_kunit_goes_on, false);
	count_kunit_wait();
	ftrace_free_filter(ops);
}

static void count_while_switching(struct kunit *test)
{
	count_kunit_switch(test, false);
	count_kunit_expect_both(test);
}

static void count_callers_while_switching(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, count_kunit_callers_option(true), 0);
	count_kunit_switch(test, false);
	count_kunit_expect_both(test);
}

/* The sums do not care for the option. Of the callers there are as many calls at most. */
static void count_while_option_changes(struct kunit *test)
{
	struct count_instance *ci;
	int cpu;

	count_kunit_switch(test, true);
	KUNIT_EXPECT_EQ(test, count_kunit_callers_option(false), 0);

	guard(mutex)(&ftrace_lock);
	ci = count_kunit_tr[0]->callset.count;
	for_each_online_cpu(cpu) {
		const struct count_kunit_cpu *ck = per_cpu_ptr(&count_kunit_cpus, cpu);
		u64 calls = 0;

		for (unsigned int i = 0; i < COUNT_KUNIT_CONTEXTS; i++) {
			calls += ck->calls[i];
			KUNIT_EXPECT_LE(test, count_kunit_from(ci, cpu, count_kunit_callers[i]),
					ck->calls[i]);
		}
		KUNIT_EXPECT_EQ(test, count_kunit_counted(ci, cpu), calls);
	}
}

/* Each part is started and stopped by one task, while another one sets it to zero. */

static int count_kunit_zero_task(void *data)
{
	while (!kthread_should_stop()) {
		trace_count_zero(count_kunit_tr[0]);
		cond_resched();
	}
	return 0;
}

static void count_zero_while_option_changes(struct kunit *test)
{
	struct task_struct *task = kthread_run(count_kunit_zero_task, NULL, "count_kunit_zero");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	WRITE_ONCE(count_kunit_goes_on, true);
	count_kunit_start();
	for (unsigned int i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, count_kunit_option(!(i & 1), "count-callers"), 0);
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
		KUNIT_EXPECT_EQ(test, count_kunit_option(!(i & 1), "count-times"), 0);
#endif
	}
	WRITE_ONCE(count_kunit_goes_on, false);
	count_kunit_wait();
	kthread_stop(task);
}

static __always_inline void count_kunit_4_calls(void)
{
	WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
	WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
	WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
	WRITE_ONCE(kunit_result, gcd(READ_ONCE(kunit_operand), 18));
}

/* 24 pairs, of which a table of one row has room for 16. */
static noinline void count_kunit_overflow(void)
{
	count_kunit_4_calls();
	count_kunit_4_calls();
	count_kunit_4_calls();
	count_kunit_4_calls();
	count_kunit_4_calls();
	count_kunit_4_calls();
}

static void count_callers_overflow(struct kunit *test)
{
	struct count_instance *ci;
	u64 sum = 0, lost = 0;
	int cpu;

	/* While the option is off, no CPU counts there. */
	scoped_guard(mutex, &ftrace_lock) {
		ci = count_kunit_tr[0]->callset.count;
		ftrace_callers_free(ci->callers);
		ci->callers = ftrace_callers_alloc(ilog2(FTRACE_CALLERS_WAYS));
	}
	KUNIT_ASSERT_EQ(test, count_kunit_callers_option(true), 0);
	for (unsigned int n = 0; n < 100; n++)
		count_kunit_overflow();

	guard(mutex)(&ftrace_lock);
	for_each_possible_cpu(cpu) {
		sum += count_kunit_from(ci, cpu, count_kunit_overflow);
		lost += *per_cpu_ptr(ci->callers->lost, cpu);
	}
	KUNIT_EXPECT_EQ(test, ci->callers->nr, FTRACE_CALLERS_WAYS);
	KUNIT_EXPECT_EQ(test, sum, 100 * FTRACE_CALLERS_WAYS);
	KUNIT_EXPECT_EQ(test, lost, 100 * (24 - FTRACE_CALLERS_WAYS));
}

static struct kunit_case count_kunit_cases[] = {
	KUNIT_CASE(count_contexts),
	KUNIT_CASE(count_caller_contexts),
	KUNIT_CASE(count_while_switching),
	KUNIT_CASE(count_callers_while_switching),
	KUNIT_CASE(count_while_option_changes),
	KUNIT_CASE(count_zero_while_option_changes),
	KUNIT_CASE(count_callers_overflow),
	{ }
};

static struct kunit_suite count_kunit_suite = {
	.name		= "trace_count",
	.init		= count_kunit_init,
	.exit		= count_kunit_exit,
	.test_cases	= count_kunit_cases,
};

kunit_test_suite(count_kunit_suite);
