// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of fprobe and rethook, of cases that lib/test_fprobe.c leaves out: nodes that change
 * CPUs, several hooks on one call, unwinding through hooks, and probes that go while tasks are
 * inside.
 *
 * The probes are allocated, so that KASAN sees a use after the free.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>

#include "ftrace_kunit.h"

/* Nodes */

#define FPROBE_KUNIT_NODES	5

struct fprobe_kunit_nodes {
	struct rethook		*rh;
	struct rethook_node	*node[FPROBE_KUNIT_NODES];
};

static void fprobe_kunit_no_exit(struct rethook_node *node, void *data, unsigned long ret_addr,
				 struct pt_regs *regs)
{
}

/* Takes all nodes; 0 if those were as many as there are, and no two the same. */
static int fprobe_kunit_take(void *data)
{
	struct fprobe_kunit_nodes *nodes = data;

	guard(preempt)();
	for (unsigned int i = 0; i < FPROBE_KUNIT_NODES; i++) {
		nodes->node[i] = rethook_try_get(nodes->rh);
		if (!nodes->node[i])
			return -ENOENT;
		for (unsigned int j = 0; j < i; j++) {
			if (nodes->node[j] == nodes->node[i])
				return -EEXIST;
		}
	}
	return rethook_try_get(nodes->rh) ? -E2BIG : 0;
}

static int fprobe_kunit_put(void *data)
{
	struct fprobe_kunit_nodes *nodes = data;

	guard(preempt)();
	for (unsigned int i = 0; i < FPROBE_KUNIT_NODES; i++)
		rethook_recycle(nodes->node[i]);
	return 0;
}

/* Nodes that one CPU puts back, to its cache and to the pool, can be taken by all other CPUs. */
static void fprobe_nodes_move(struct kunit *test)
{
	struct fprobe_kunit_nodes nodes = {};
	struct rethook_node *more;
	unsigned int cpu, other;

	nodes.rh = rethook_alloc(NULL, fprobe_kunit_no_exit, sizeof(struct rethook_node),
				 FPROBE_KUNIT_NODES);
	KUNIT_ASSERT_FALSE(test, IS_ERR(nodes.rh));

	for (unsigned int round = 0; round < 2; round++) {
		for_each_online_cpu(cpu) {
			KUNIT_ASSERT_EQ(test, 0, smp_call_on_cpu(cpu, fprobe_kunit_take,
								 &nodes, false));
			other = cpumask_any_but(cpu_online_mask, cpu);
			if (other >= nr_cpu_ids)
				other = cpu;
			smp_call_on_cpu(other, fprobe_kunit_put, &nodes, false);
		}
	}

	/* A rethook is freed with its last node, and gives no node once it is stopped. */
	KUNIT_ASSERT_EQ(test, 0, fprobe_kunit_take(&nodes));
	rethook_free(nodes.rh);
	scoped_guard(preempt)
		more = rethook_try_get(nodes.rh);
	KUNIT_EXPECT_NULL(test, more);
	rcu_barrier();
	fprobe_kunit_put(&nodes);
	rcu_barrier();
}

static void fprobe_alloc_errors(struct kunit *test)
{
	const int size = sizeof(struct rethook_node);

	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(rethook_alloc(NULL, NULL, size, 1)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(rethook_alloc(NULL, fprobe_kunit_no_exit, size, 0)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(rethook_alloc(NULL, fprobe_kunit_no_exit, size - 1, 1)));
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			PTR_ERR_OR_ZERO(rethook_alloc(NULL, fprobe_kunit_no_exit,
						      OBJPOOL_OBJECT_SIZE_MAX + 1, 1)));
}

/* Probes */

#define FPROBE_KUNIT_FRAMES	32

/**
 * struct fprobe_kunit - a probe, and the calls of one task that its handlers saw
 * @fp: the probe
 * @task: whose calls count
 * @entries: calls of the entry handler
 * @exits: calls of the exit handler
 * @cancel: the value that the entry handler returns
 * @ret_ip: where the last call returns to
 * @retval: the value that it returned
 * @unwound: the exit handler found @ret_ip in its own stack trace
 */
struct fprobe_kunit {
	struct fprobe		fp;
	struct task_struct	*task;
	unsigned int		entries;
	unsigned int		exits;
	int			cancel;
	unsigned long		ret_ip;
	unsigned long		retval;
	bool			unwound;
};

/* Counters outside of the probes: a handler that runs too late must not write to a probe. */
static unsigned int fprobe_kunit_late;

static int fprobe_kunit_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			      struct pt_regs *regs, void *data)
{
	struct fprobe_kunit *probe = container_of(fp, struct fprobe_kunit, fp);

	if (current != probe->task)
		return 1;
	if (data)
		*(unsigned long *)data = ip;
	probe->ret_ip = ret_ip;
	WRITE_ONCE(probe->entries, probe->entries + 1);
	return probe->cancel;
}

static void fprobe_kunit_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			      struct pt_regs *regs, void *data)
{
	struct fprobe_kunit *probe = container_of(fp, struct fprobe_kunit, fp);
	unsigned long frames[FPROBE_KUNIT_FRAMES];
	unsigned int nr;

	fprobe_kunit_late++;
	if (current != probe->task || (data && *(unsigned long *)data != ip))
		return;
	probe->exits++;
	probe->ret_ip = ret_ip;
	probe->retval = regs_return_value(regs);
	nr = stack_trace_save(frames, FPROBE_KUNIT_FRAMES, 0);
	for (unsigned int i = 0; i < nr; i++)
		probe->unwound |= frames[i] == ret_ip;
}

static struct fprobe_kunit *fprobe_kunit_new(struct kunit *test)
{
	struct fprobe_kunit *probe = kunit_kzalloc(test, sizeof(*probe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, probe);
	probe->fp.entry_handler = fprobe_kunit_entry;
	probe->fp.exit_handler = fprobe_kunit_exit;
	probe->fp.entry_data_size = sizeof(unsigned long);
	probe->task = current;
	return probe;
}

/* Three hooks on one call: all see it, and all know where it returns to. */
static void fprobe_same_function(struct kunit *test)
{
	struct fprobe_kunit *probe[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		probe[i] = fprobe_kunit_new(test);
		KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe[i]->fp, "gcd", NULL));
	}
	/* The compiler believes that the functions called here depend on their arguments alone. */
	WRITE_ONCE(probe[1]->cancel, 1);
	kunit_call_site(0);
	WRITE_ONCE(probe[1]->cancel, 0);
	kunit_call_site(0);
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++)
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe[i]->fp));

	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		KUNIT_EXPECT_EQ(test, 2, probe[i]->entries);
		KUNIT_EXPECT_EQ(test, i == 1 ? 1 : 2, probe[i]->exits);
		KUNIT_EXPECT_EQ(test, kunit_result, probe[i]->retval);
		KUNIT_EXPECT_EQ(test, probe[0]->ret_ip, probe[i]->ret_ip);
		KUNIT_EXPECT_FALSE(test, is_rethook_trampoline(probe[i]->ret_ip));
		KUNIT_EXPECT_TRUE(test, probe[i]->unwound);
		KUNIT_EXPECT_EQ(test, 0, probe[i]->fp.nmissed);
	}
}

#ifdef CONFIG_KRETPROBES
/* A kretprobe, and the caller that it was told by its instance. */
struct fprobe_kunit_krp {
	struct kretprobe	rp;
	unsigned int		exits;
	unsigned long		ret_ip;
};

static struct task_struct *fprobe_kunit_krp_task;

static int fprobe_kunit_krp_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct fprobe_kunit_krp *krp = container_of(get_kretprobe(ri), struct fprobe_kunit_krp,
						    rp);

	if (current != fprobe_kunit_krp_task)
		return 0;
	krp->exits++;
	krp->ret_ip = get_kretprobe_retaddr(ri);
	return 0;
}

#define FPROBE_KUNIT_OWNERS	4

/* Hooks the return of site 0 for one of several owners. */
static int fprobe_kunit_own(unsigned int owner, struct fprobe_kunit **probe,
			    struct fprobe_kunit_krp *krp)
{
	if (owner & 1)
		return register_fprobe(&probe[owner / 2]->fp, "gcd", NULL);
	krp[owner / 2].rp = (struct kretprobe) {
		.handler	= fprobe_kunit_krp_exit,
		.kp.symbol_name	= "gcd",
		.maxactive	= 16,
	};
	return register_kretprobe(&krp[owner / 2].rp);
}

static void fprobe_kunit_disown(unsigned int owner, struct fprobe_kunit **probe,
				struct fprobe_kunit_krp *krp)
{
	if (owner & 1)
		unregister_fprobe(&probe[owner / 2]->fp);
	else
		unregister_kretprobe(&krp[owner / 2].rp);
}

/* Kretprobes and fprobes hook one call, in either order of registering: all are told its caller. */
static void fprobe_same_caller(struct kunit *test)
{
	static struct fprobe_kunit_krp krp[FPROBE_KUNIT_OWNERS / 2];
	struct fprobe_kunit *probe[FPROBE_KUNIT_OWNERS / 2];

	fprobe_kunit_krp_task = current;
	for (unsigned int first = 0; first < FPROBE_KUNIT_OWNERS; first++) {
		memset(krp, 0, sizeof(krp));
		for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++)
			probe[i] = fprobe_kunit_new(test);
		for (unsigned int i = 0; i < FPROBE_KUNIT_OWNERS; i++)
			KUNIT_EXPECT_EQ(test, 0,
					fprobe_kunit_own((first + i) % FPROBE_KUNIT_OWNERS, probe,
							 krp));
		kunit_call_site(0);
		for (unsigned int i = 0; i < FPROBE_KUNIT_OWNERS; i++)
			fprobe_kunit_disown(i, probe, krp);

		for (unsigned int i = 0; i < FPROBE_KUNIT_OWNERS / 2; i++) {
			KUNIT_EXPECT_EQ(test, 1, probe[i]->exits);
			KUNIT_EXPECT_EQ(test, 1, krp[i].exits);
			KUNIT_EXPECT_EQ(test, probe[0]->ret_ip, probe[i]->ret_ip);
			KUNIT_EXPECT_EQ(test, probe[0]->ret_ip, krp[i].ret_ip);
		}
		KUNIT_EXPECT_FALSE(test, is_rethook_trampoline(probe[0]->ret_ip));
	}
}
#endif

/**
 * struct fprobe_kunit_other - an ops that does not hook returns
 * @ops: the ops
 * @task: whose calls count
 * @parent_ip: the caller that it was told last
 */
struct fprobe_kunit_other {
	struct ftrace_ops	ops;
	struct task_struct	*task;
	unsigned long		parent_ip;
};

static void fprobe_kunit_other_func(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe_kunit_other *other = container_of(ops, struct fprobe_kunit_other, ops);

	if (READ_ONCE(other->task) == current)
		other->parent_ip = parent_ip;
}

/* Ops between and after probes that hook the return are told the same caller as these. */
static void fprobe_kunit_parent(struct kunit *test, bool regs)
{
	static struct fprobe_kunit_other other[3];
	struct fprobe_kunit *probe[2];

	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = (struct fprobe_kunit_other) {
			.ops.func	= fprobe_kunit_other_func,
			.task		= current,
		};
		KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&other[i].ops, kunit_site(0), 0, 1));
		KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(&other[i].ops));
		if (i >= ARRAY_SIZE(probe))
			break;
		probe[i] = fprobe_kunit_new(test);
		/* Without this handler, the trampoline saves few registers. */
		if (!regs)
			probe[i]->fp.entry_handler = NULL;
		probe[i]->fp.entry_data_size = 0;
		KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe[i]->fp, "gcd", NULL));
	}
	kunit_call_site(0);
	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++) {
		KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&other[i].ops));
		ftrace_free_filter(&other[i].ops);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe[i]->fp));
		KUNIT_EXPECT_EQ(test, 1, probe[i]->exits);
		KUNIT_EXPECT_EQ(test, other[0].parent_ip, probe[i]->ret_ip);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++)
		KUNIT_EXPECT_EQ(test, other[0].parent_ip, other[i].parent_ip);
}

static void fprobe_same_parent(struct kunit *test)
{
	fprobe_kunit_parent(test, true);
	fprobe_kunit_parent(test, false);
}

static void fprobe_same_parent_list(struct kunit *test)
{
	ftrace_kunit_forbid_tramps(true);
	fprobe_kunit_parent(test, true);
	fprobe_kunit_parent(test, false);
	ftrace_kunit_forbid_tramps(false);
}

/* Either handler may be missing; without one for the entry, few registers are saved. */
static void fprobe_one_side(struct kunit *test)
{
	struct fprobe_kunit *entry = fprobe_kunit_new(test), *exit = fprobe_kunit_new(test);

	entry->fp.exit_handler = NULL;
	exit->fp.entry_handler = NULL;
	exit->fp.entry_data_size = 0;
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&entry->fp, "gcd", NULL));
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&exit->fp, "int_pow", NULL));
	if (IS_ENABLED(CONFIG_X86_64))
		KUNIT_EXPECT_FALSE(test, exit->fp.ops.flags & FTRACE_OPS_FL_SAVE_REGS);
	kunit_call_site(0);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&entry->fp));
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&exit->fp));

	KUNIT_EXPECT_EQ(test, 1, entry->entries);
	KUNIT_EXPECT_EQ(test, 1, exit->exits);
	KUNIT_EXPECT_EQ(test, kunit_result, exit->retval);
	KUNIT_EXPECT_TRUE(test, exit->unwound);
}

static void fprobe_register_errors(struct kunit *test)
{
	struct fprobe_kunit *probe = fprobe_kunit_new(test);
	struct fprobe *fp = &probe->fp;
	unsigned long no_site = (unsigned long)&fprobe_kunit_late;
	const char *names[2] = {};

	names[0] = "gcd";
	names[1] = "no_such_function";
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fprobe(fp, "no_such_function", NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fprobe(fp, "gcd", "gc*"));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fprobe(fp, "gcd", "no_such_function"));
	KUNIT_EXPECT_EQ(test, -ENOENT, register_fprobe_syms(fp, names, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fprobe_ips(fp, &no_site, 1));
	fp->nr_maxactive = -1;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fprobe(fp, "gcd", NULL));
	fp->nr_maxactive = 0;
	KUNIT_EXPECT_FALSE(test, fprobe_is_registered(fp));

	/* After all that it can still be registered, once. */
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(fp, "gcd", NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, register_fprobe(fp, "int_pow", NULL));
	KUNIT_EXPECT_TRUE(test, fprobe_is_registered(fp));
	kunit_call_site(0);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, 1, probe->exits);
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(fp));
	KUNIT_EXPECT_FALSE(test, fprobe_is_registered(fp));
	KUNIT_EXPECT_EQ(test, -EINVAL, unregister_fprobe(fp));

	fp->entry_handler = NULL;
	fp->exit_handler = NULL;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fprobe(fp, "gcd", NULL));
}

/* Tasks that sleep in a probed function */

static int fprobe_kunit_sleeper(void *data)
{
	wait_for_completion(data);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

/* True once the task sleeps in there. */
static bool fprobe_kunit_wait_for_entry(struct fprobe_kunit *probe)
{
	for (unsigned int i = 0; i < 250; i++) {
		/* Zero while it is still on its way from the entry to its sleep. */
		if (READ_ONCE(probe->entries) &&
		    wait_task_inactive(probe->task, TASK_UNINTERRUPTIBLE))
			return true;
		msleep(20);
	}
	return false;
}

/* Whether a trace of the task shows the hooked call's real caller, and no hook. */
static bool fprobe_kunit_unwinds(struct task_struct *task, unsigned long ret_ip)
{
	unsigned long frames[FPROBE_KUNIT_FRAMES];
	bool found = false;
	unsigned int nr;

	/* PowerPC's traces have the words of the stack, hooked or not. */
	if (IS_ENABLED(CONFIG_PPC))
		return true;
	nr = stack_trace_save_tsk(task, frames, FPROBE_KUNIT_FRAMES, 0);
	for (unsigned int i = 0; i < nr; i++) {
		if (is_rethook_trampoline(frames[i]))
			return false;
		found |= frames[i] == ret_ip;
	}
	return found;
}

/* Unregisters before or after the call returns; either way it has to return. */
static void fprobe_kunit_sleep(struct kunit *test, bool leave_first)
{
	struct fprobe_kunit *probe = fprobe_kunit_new(test);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;
	unsigned long ret_ip;
	unsigned int late;

	task = kthread_create(fprobe_kunit_sleeper, &wake, "fprobe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	probe->task = task;
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe->fp, "wait_for_completion", NULL));
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_wait_for_entry(probe));
	ret_ip = probe->ret_ip;
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, ret_ip));

	if (leave_first) {
		complete(&wake);
		kthread_stop(task);
		KUNIT_EXPECT_EQ(test, 1, probe->exits);
	}
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe->fp));
	late = fprobe_kunit_late;
	kunit_kfree(test, probe);
	if (!leave_first) {
		KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, ret_ip));
		complete(&wake);
		kthread_stop(task);
	}
	KUNIT_EXPECT_EQ(test, late, fprobe_kunit_late);
}

static void fprobe_unregister_after(struct kunit *test)
{
	fprobe_kunit_sleep(test, true);
}

static void fprobe_unregister_inside(struct kunit *test)
{
	fprobe_kunit_sleep(test, false);
}

struct fprobe_kunit_host {
	struct fprobe		fp;
	struct kunit_guest	guest;
};

static int fprobe_kunit_host_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct pt_regs *regs, void *data)
{
	kunit_guest_stay(&container_of(fp, struct fprobe_kunit_host, fp)->guest);
	return 0;
}

static void fprobe_kunit_host_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct pt_regs *regs, void *data)
{
	kunit_guest_stay(&container_of(fp, struct fprobe_kunit_host, fp)->guest);
}

/* Handlers that run, at entries and at exits, are waited for. */
static void fprobe_waits_for_guest(struct kunit *test)
{
	struct fprobe_kunit_host *host;
	struct task_struct *task;
	unsigned long ip;

	for (unsigned int i = 0; i < 2; i++) {
		host = kzalloc(sizeof(*host), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, host);
		if (i)
			host->fp.exit_handler = fprobe_kunit_host_exit;
		else
			host->fp.entry_handler = fprobe_kunit_host_entry;
		ip = kunit_site(0);
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&host->fp, &ip, 1), 0);
		task = kunit_guest_begin(test, &host->guest);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&host->fp), 0);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(host->guest.left));
		kunit_guest_end(task);
		memset(host, 0x6b, sizeof(*host));
		kfree(host);
	}
}

static struct kunit_case fprobe_kunit_cases[] = {
	KUNIT_CASE(fprobe_nodes_move),
	KUNIT_CASE(fprobe_alloc_errors),
	KUNIT_CASE(fprobe_same_function),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(fprobe_same_caller),
#endif
	KUNIT_CASE(fprobe_same_parent),
	KUNIT_CASE(fprobe_same_parent_list),
	KUNIT_CASE(fprobe_one_side),
	KUNIT_CASE(fprobe_register_errors),
	KUNIT_CASE(fprobe_unregister_after),
	KUNIT_CASE(fprobe_unregister_inside),
	KUNIT_CASE(fprobe_waits_for_guest),
	{}
};

static struct kunit_suite fprobe_kunit_suite = {
	.name		= "fprobe_rethook",
	.test_cases	= fprobe_kunit_cases,
};

kunit_test_suite(fprobe_kunit_suite);
