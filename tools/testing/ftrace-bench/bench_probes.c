// SPDX-License-Identifier: GPL-2.0
/*
 * Calls a function many times with an empty probe on it, prints how long that
 * took, and refuses to stay loaded. With kind=printk each turn is a
 * trace_printk(), and the module stays, as its name is printed. With kind=every
 * it stays, and has an empty callback at every function.
 */
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>

static char *kind = "none";
module_param(kind, charp, 0);
MODULE_PARM_DESC(kind, "none, fprobe, fprobe-entry, kprobe, kretprobe, printk or every");

static unsigned int calls = 100000;
module_param(calls, uint, 0);
MODULE_PARM_DESC(calls, "how often the function is called");

static noinline void bench_probed(void)
{
	barrier();
}

static int fprobe_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			struct ftrace_regs *fregs, void *data)
{
	return 0;
}

static void fprobe_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			struct ftrace_regs *fregs, void *data)
{
}

static struct fprobe fprobe = {
	.entry_handler	= fprobe_entry,
};

static int kprobe_handler(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe kprobe = {
	.symbol_name	= "bench_probed",
	.pre_handler	= kprobe_handler,
};

static int kretprobe_handler_func(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static struct kretprobe kretprobe = {
	.kp.symbol_name	= "bench_probed",
	.handler	= kretprobe_handler_func,
	.maxactive	= 16,
};

static notrace void empty_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
}

static struct ftrace_ops empty_ops = {
	.func = empty_call,
};

/* Not of the module's beginning: its name is to be there when the trace is read. */
static noinline void bench_print(void)
{
	for (unsigned int i = 0; i < calls; i++)
		trace_printk("turn %u of %u\n", i, calls);
}

static int bench_register(void)
{
	if (!strcmp(kind, "kprobe"))
		return register_kprobe(&kprobe);
	if (!strcmp(kind, "kretprobe"))
		return register_kretprobe(&kretprobe);
	if (!strcmp(kind, "fprobe"))
		fprobe.exit_handler = fprobe_exit;
	if (!strncmp(kind, "fprobe", 6))
		return register_fprobe(&fprobe, "bench_probed", NULL);
	return strcmp(kind, "none") ? -EINVAL : 0;
}

static void bench_unregister(void)
{
	if (!strcmp(kind, "kprobe"))
		unregister_kprobe(&kprobe);
	if (!strcmp(kind, "kretprobe"))
		unregister_kretprobe(&kretprobe);
	if (!strncmp(kind, "fprobe", 6))
		unregister_fprobe(&fprobe);
}

static int __init bench_init(void)
{
	u64 start, ns;
	int ret;

	if (!strcmp(kind, "every"))
		return register_ftrace_function(&empty_ops);
	if (!strcmp(kind, "printk")) {
		bench_print();
		return 0;
	}
	ret = bench_register();
	if (ret) {
		pr_info("bench_probes: no %s: %d\n", kind, ret);
		return ret;
	}
	start = ktime_get_ns();
	for (unsigned int i = 0; i < calls; i++)
		bench_probed();
	ns = ktime_get_ns() - start;
	bench_unregister();
	pr_info("Attempted %u calls to %ps in %lluns, %lu missed\n", calls, bench_probed, ns,
		kprobe.nmissed + kretprobe.nmissed + fprobe.nmissed);
	/* Nothing is left to do. */
	return -EAGAIN;
}
module_init(bench_init);

MODULE_DESCRIPTION("Cost of an empty probe");
MODULE_LICENSE("GPL");
