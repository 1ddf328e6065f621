// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches and detaches many users of function tracing and prints how long each step took. The
 * addresses of sites are written to debugfs's bench_detach, as longs, and orders to the parameter
 * run:
 *
 *	attach KIND COUNT SECONDS  registers COUNT users one by one, each at a site of its own,
 *				   until SECONDS are over; KIND is ops, fprobe or graph
 *	detach SECONDS             unregisters them one by one, until SECONDS are over
 *	stack COUNT                records the stack of a callback of a function that a callback of
 *				   a traced function has called, and so on, COUNT times
 *	spin COUNT SECONDS         registers and unregisters COUNT times, while a thread on each CPU
 *				   calls cond_resched() and never sleeps; the threads end after
 *				   SECONDS
 *
 * All users are allocated, and all callbacks are this module's: both may go away after the detach.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>

enum { MAX_SITES = 65536 };

enum kind { KIND_OPS, KIND_FPROBE, KIND_GRAPH };
static const char * const kind_names[] = { "ops", "fprobe", "graph" };

/* They are not exported: /proc/kallsyms has them. */
static unsigned long graph_register;
module_param(graph_register, ulong, 0);
MODULE_PARM_DESC(graph_register, "address of register_ftrace_graph()");
static unsigned long graph_unregister;
module_param(graph_unregister, ulong, 0);
MODULE_PARM_DESC(graph_unregister, "address of unregister_ftrace_graph()");

struct bench_user {
	union {
		struct ftrace_ops ops;
		struct fprobe fprobe;
		struct fgraph_ops graph;
	};
};

static unsigned long *sites;
static struct bench_user **users;
static unsigned int nr_users;
static enum kind kind;

static notrace void ops_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
}

static notrace int fprobe_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				struct ftrace_regs *fregs, void *data)
{
	return 0;
}

static notrace void fprobe_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				struct ftrace_regs *fregs, void *data)
{
}

static notrace int graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			       struct ftrace_regs *fregs)
{
	return 1;
}

static notrace void graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				 struct ftrace_regs *fregs)
{
}

static int register_ops(struct ftrace_ops *ops, unsigned long site)
{
	int ret = ftrace_set_filter_ip(ops, site, 0, 1);

	return ret ?: register_ftrace_function(ops);
}

static int register_graph(struct fgraph_ops *gops, unsigned long site)
{
	int (*func)(struct fgraph_ops *gops) = (void *)graph_register;
	int ret;

	/* A function that is not called by pointers may lack its ENDBR. */
	if (!graph_register || !graph_unregister || cpu_feature_enabled(X86_FEATURE_IBT))
		return -EOPNOTSUPP;
	gops->entryfunc = graph_entry;
	gops->retfunc = graph_return;
	ret = ftrace_set_filter_ip(&gops->ops, site, 0, 1);
	return ret ?: func(gops);
}

static int user_register(struct bench_user *user, unsigned long site)
{
	switch (kind) {
	case KIND_OPS:
		user->ops.func = ops_callback;
		return register_ops(&user->ops, site);
	case KIND_FPROBE:
		user->fprobe.entry_handler = fprobe_entry;
		user->fprobe.exit_handler = fprobe_exit;
		return register_fprobe_ips(&user->fprobe, &site, 1);
	case KIND_GRAPH:
		return register_graph(&user->graph, site);
	}
	return -EINVAL;
}

static void user_unregister(struct bench_user *user)
{
	void (*graph)(struct fgraph_ops *gops) = (void *)graph_unregister;

	switch (kind) {
	case KIND_OPS:
		unregister_ftrace_function(&user->ops);
		ftrace_free_filter(&user->ops);
		break;
	case KIND_FPROBE:
		unregister_fprobe(&user->fprobe);
		break;
	case KIND_GRAPH:
		graph(&user->graph);
		ftrace_free_filter(&user->graph.ops);
		break;
	}
	kfree(user);
}

static int user_new(unsigned long site)
{
	struct bench_user *user = kzalloc(sizeof(*user), GFP_KERNEL);
	int ret;

	if (!user)
		return -ENOMEM;
	ret = user_register(user, site);
	if (ret)
		kfree(user);
	else
		users[nr_users++] = user;
	return ret;
}

static void say(const char *what, unsigned int wanted, unsigned int done, u64 ns, int ret)
{
	pr_info("bench_detach: %s kind=%s wanted=%u done=%u ns=%llu ret=%d\n", what,
		kind_names[kind], wanted, done, ns, ret);
}

static int attach(unsigned int count, u64 seconds)
{
	u64 start = ktime_get_ns();
	int ret = 0;

	if (nr_users || count > MAX_SITES || (count && !sites[count - 1]))
		return -EINVAL;
	while (!ret && nr_users < count && ktime_get_ns() - start < seconds * NSEC_PER_SEC)
		ret = user_new(sites[nr_users]);
	say("attach", count, nr_users, ktime_get_ns() - start, ret);
	return ret;
}

static int detach(u64 seconds)
{
	unsigned int wanted = nr_users;
	u64 start = ktime_get_ns();

	while (nr_users && ktime_get_ns() - start < seconds * NSEC_PER_SEC)
		user_unregister(users[--nr_users]);
	say("detach", wanted, wanted - nr_users, ktime_get_ns() - start, 0);
	return 0;
}

/* One stack through three trampolines: a function's callback calls the next function. */
static unsigned long stack[64];
static unsigned int stack_turns, stack_depth;
static u64 stack_ns;

static noinline void stack_one(void)
{
	barrier();
}

static noinline void stack_two(void)
{
	barrier_data(&stack_two);
}

static noinline void stack_three(void)
{
	barrier_data(&stack_three);
}

static notrace void stack_save(void)
{
	u64 start = ktime_get_ns();

	for (unsigned int i = 0; i < stack_turns; i++)
		stack_depth = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
	stack_ns = ktime_get_ns() - start;
}

static void (*const stack_next[])(void) = { stack_two, stack_three, stack_save };
static struct ftrace_ops stack_ops[ARRAY_SIZE(stack_next)];

static notrace void stack_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	stack_next[ops - stack_ops]();
	/* Where callbacks are not called from callbacks, this is as deep as it gets. */
	if (!stack_depth)
		stack_save();
}

static int stack_measure(unsigned int count)
{
	static void (*const traced[])(void) = { stack_one, stack_two, stack_three };
	int ret = 0;

	stack_turns = count;
	stack_depth = 0;
	for (int i = 0; i < ARRAY_SIZE(stack_ops) && !ret; i++) {
		stack_ops[i].func = stack_callback;
		ret = register_ops(&stack_ops[i], (unsigned long)traced[i]);
	}
	stack_one();
	say("stack", count, stack_depth, stack_ns, ret);
	for (int i = 0; i < ARRAY_SIZE(stack_ops); i++)
		unregister_ftrace_function(&stack_ops[i]);
	return ret;
}

static u64 spin_end;

static int spin_thread(void *unused)
{
	while (!kthread_should_stop()) {
		if (ktime_get_ns() < spin_end)
			cond_resched();
		else
			msleep(20);
	}
	return 0;
}

static void spin_start(struct task_struct **threads)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct task_struct *t = kthread_create(spin_thread, NULL, "bench_spin/%d", cpu);

		threads[cpu] = IS_ERR(t) ? NULL : t;
		if (!threads[cpu])
			continue;
		kthread_bind(t, cpu);
		wake_up_process(t);
	}
}

static int spin_turn(void)
{
	int ret = user_new(sites[0]);

	if (!ret)
		user_unregister(users[--nr_users]);
	return ret;
}

static int spin(unsigned int count, u64 seconds)
{
	struct task_struct **threads = kcalloc(nr_cpu_ids, sizeof(*threads), GFP_KERNEL);
	u64 start = ktime_get_ns(), last = start;
	unsigned int done = 0;
	int ret = 0;

	if (!threads)
		return -ENOMEM;
	spin_end = start + seconds * NSEC_PER_SEC;
	spin_start(threads);
	/* A turn that ended after the threads did says nothing. */
	while (!ret && done < count) {
		ret = spin_turn();
		if (ktime_get_ns() >= spin_end)
			break;
		last = ktime_get_ns();
		done++;
	}
	for (int cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (threads[cpu])
			kthread_stop(threads[cpu]);
	kfree(threads);
	say("spin", count, done, last - start, ret);
	return ret;
}

static int attach_kind(const char *word, unsigned int count, u64 seconds)
{
	int which = match_string(kind_names, ARRAY_SIZE(kind_names), word);

	if (which < 0 || nr_users)
		return -EINVAL;
	kind = which;
	return attach(count, seconds);
}

static int run(const char *text, const struct kernel_param *kp)
{
	unsigned int count, seconds;
	char word[8];

	if (!sites || !sites[0])
		return -EINVAL;
	if (sscanf(text, "attach %7s %u %u", word, &count, &seconds) == 3)
		return attach_kind(word, count, seconds);
	if (sscanf(text, "detach %u", &seconds) == 1)
		return detach(seconds);
	if (sscanf(text, "stack %u", &count) == 1)
		return stack_measure(count);
	if (sscanf(text, "spin %u %u", &count, &seconds) == 2)
		return spin(count, seconds);
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);

static struct debugfs_blob_wrapper blob = { .size = MAX_SITES * sizeof(*sites) };
static struct dentry *file;

static int __init bench_detach_init(void)
{
	sites = kvcalloc(MAX_SITES, sizeof(*sites), GFP_KERNEL);
	users = kvcalloc(MAX_SITES, sizeof(*users), GFP_KERNEL);
	if (!sites || !users) {
		kvfree(sites);
		kvfree(users);
		return -ENOMEM;
	}
	blob.data = sites;
	file = debugfs_create_blob("bench_detach", 0200, NULL, &blob);
	return 0;
}
module_init(bench_detach_init);

static void __exit bench_detach_exit(void)
{
	debugfs_remove(file);
	while (nr_users)
		user_unregister(users[--nr_users]);
	kvfree(users);
	kvfree(sites);
}
module_exit(bench_detach_exit);

MODULE_DESCRIPTION("Cost of attaching and detaching users of function tracing");
MODULE_LICENSE("GPL");
