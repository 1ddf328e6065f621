// SPDX-License-Identifier: GPL-2.0
/*
 * Users of function tracing that stay attached, of every kind, and callers of their functions in
 * tasks, softirqs, hardirqs and NMIs, on all CPUs: each user must see each call once, while others
 * change the same sites.
 *
 * The argument of each call is a struct call on the caller's stack. A user finds it there, and
 * counts itself in it; the caller looks when the call has returned. So one call that is lost or
 * seen twice is found at once, and the warning comes in the middle of the transition that lost it.
 *
 * kprobes and fprobes may miss calls, and count these: where an interrupt comes in the middle of
 * another probe, or where they have no more room for pending returns.
 *
 * debugfs has every_call/counts: "CONTEXT calls", "USER unseen missed" (unseen calls, and those
 * that the user counts as missed) and "wrong N".
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/timer.h>

#include <asm/apic.h>
#include <asm/asm-offsets.h>
#include <asm/ibt.h>
#include <asm/nmi.h>
#include <asm/nospec-branch.h>

enum context { IN_TASK, IN_SOFTIRQ, IN_HARDIRQ, IN_NMI, CONTEXTS };

static const char * const context_names[CONTEXTS] = { "task", "softirq", "hardirq", "nmi" };

enum watcher {
	PLAIN, REGS, RECURSION, WATCHING, DIRECT, MODIFY,
	/* From here on, those that may miss calls. */
	FPROBE, FPROBE_EXIT, KPROBE, KRETPROBE, KRETPROBE_EXIT,
	USERS,
	MAY_MISS = FPROBE,
};

/* As in enum watcher */
static const char * const user_names[USERS] = {
	"plain", "regs", "recursion", "rcu", "direct", "ipmodify",
	"fprobe", "fprobe-exit", "kprobe", "kretprobe", "kretprobe-exit",
};

struct call {
	unsigned int ran;
	unsigned int seen[USERS];
};

/* The functions; each has a number, which is its result. */
enum { FUNCTIONS = 5, REPLACED = 4 };

#define DEFINE_FUNCTION(n)				\
int every_call_##n(struct call *call);			\
noinline __noclone int every_call_##n(struct call *call)	\
{							\
	call->ran++;					\
	barrier();					\
	return n;					\
}

DEFINE_FUNCTION(0)
DEFINE_FUNCTION(1)
DEFINE_FUNCTION(2)
DEFINE_FUNCTION(3)
DEFINE_FUNCTION(4)

static int (* const functions[FUNCTIONS])(struct call *call) = {
	every_call_0, every_call_1, every_call_2, every_call_3, every_call_4,
};

/* The users that each function has. */
static unsigned int users[FUNCTIONS] = {
	BIT(PLAIN),
	BIT(PLAIN) | BIT(REGS) | BIT(RECURSION) | BIT(WATCHING) | BIT(FPROBE) | BIT(FPROBE_EXIT),
	BIT(PLAIN) | BIT(WATCHING) | BIT(KPROBE) | BIT(KRETPROBE) | BIT(KRETPROBE_EXIT) |
		BIT(FPROBE) | BIT(FPROBE_EXIT),
	BIT(REGS) | BIT(RECURSION) | BIT(DIRECT),
	BIT(PLAIN) | BIT(MODIFY),
};

static atomic_long_t calls[CONTEXTS], unseen[USERS], wrong;

/* The users */
static notrace void ops_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	struct call *call = (struct call *)ftrace_regs_get_argument(fregs, 0);

	call->seen[(unsigned long)ops->private]++;
}

/* Is called in place of every_call_4(). */
static noinline int replacement(struct call *call)
{
	call->seen[MODIFY]++;
	return REPLACED;
}

static notrace void modify_callback(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)replacement);
}

#define USER_OPS(user, function, fl) \
	[user] = { .func = function, .flags = fl, .private = (void *)user }

static struct ftrace_ops ops[] = {
	USER_OPS(PLAIN, ops_callback, 0),
	USER_OPS(REGS, ops_callback, FTRACE_OPS_FL_SAVE_REGS),
	USER_OPS(RECURSION, ops_callback, FTRACE_OPS_FL_RECURSION),
	USER_OPS(WATCHING, ops_callback, FTRACE_OPS_FL_RCU),
	USER_OPS(DIRECT, NULL, 0),
	USER_OPS(MODIFY, modify_callback, FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS),
};

void every_call_direct(struct call *call);
notrace void every_call_direct(struct call *call)
{
	call->seen[DIRECT]++;
}

extern void every_call_trampoline(void);

asm ("	.pushsection	.text, \"ax\", @progbits\n"
"	.type		every_call_trampoline, @function\n"
"	.globl		every_call_trampoline\n"
	ASM_FUNC_ALIGN "\n"
"every_call_trampoline:\n"
	ASM_ENDBR
"	pushq %rbp\n"
"	movq %rsp, %rbp\n"
	CALL_DEPTH_ACCOUNT
"	pushq %rdi\n"
"	call every_call_direct\n"
"	popq %rdi\n"
"	leave\n"
	ASM_RET
"	.size		every_call_trampoline, .-every_call_trampoline\n"
"	.popsection\n"
);

static notrace int fprobe_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				struct ftrace_regs *fregs, void *data)
{
	struct call *call = (struct call *)ftrace_regs_get_argument(fregs, 0);

	call->seen[FPROBE]++;
	*(struct call **)data = call;
	return 0;
}

static notrace void fprobe_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				struct ftrace_regs *fregs, void *data)
{
	(*(struct call **)data)->seen[FPROBE_EXIT]++;
}

static struct fprobe fprobe = {
	.entry_handler		= fprobe_entry,
	.exit_handler		= fprobe_exit,
	.entry_data_size	= sizeof(struct call *),
};

static notrace int kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)regs_get_kernel_argument(regs, 0);

	call->seen[KRETPROBE]++;
	*(struct call **)ri->data = call;
	return 0;
}

static notrace int kretprobe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	(*(struct call **)ri->data)->seen[KRETPROBE_EXIT]++;
	return 0;
}

static struct kretprobe kretprobe = {
	.kp.symbol_name	= "every_call_2",
	.entry_handler	= kretprobe_entry,
	.handler	= kretprobe_exit,
	.data_size	= sizeof(struct call *),
	.maxactive	= 1024,
};

static notrace int kprobe_entry(struct kprobe *p, struct pt_regs *regs)
{
	((struct call *)regs_get_kernel_argument(regs, 0))->seen[KPROBE]++;
	return 0;
}

static struct kprobe kprobe = {
	.symbol_name	= "every_call_2",
	.pre_handler	= kprobe_entry,
};

static unsigned long missed(enum watcher user)
{
	if (user == KPROBE)
		return kprobe.nmissed;
	if (user == FPROBE || user == FPROBE_EXIT)
		return fprobe.nmissed;
	return kretprobe.kp.nmissed + kretprobe.nmissed;
}

/* The callers */
static void is_wrong(int n, enum context context, const char *name, unsigned int seen)
{
	if (atomic_long_inc_return(&wrong) > 20)
		return;
	pr_err("every_call_%d() in %s: %s %u times\n", n, context_names[context], name, seen);
	WARN_ONCE(1, "a call was not seen once by each user");
}

static void examine(int n, enum context context, const struct call *call)
{
	for (enum watcher user = 0; user < USERS; user++) {
		unsigned int wanted = !!(users[n] & BIT(user)), seen = call->seen[user];

		if (seen == wanted)
			continue;
		if (user >= MAY_MISS && !seen)
			atomic_long_inc(&unseen[user]);
		else
			is_wrong(n, context, user_names[user], seen);
	}
	if (call->seen[FPROBE] != call->seen[FPROBE_EXIT])
		is_wrong(n, context, "fprobe's exit", call->seen[FPROBE_EXIT]);
	if (call->seen[KRETPROBE] != call->seen[KRETPROBE_EXIT])
		is_wrong(n, context, "kretprobe's exit", call->seen[KRETPROBE_EXIT]);
	if (call->ran != !(users[n] & BIT(MODIFY)))
		is_wrong(n, context, "its body", call->ran);
}

static void call_all(enum context context)
{
	for (int n = 0; n < FUNCTIONS; n++) {
		struct call call = {};
		int ret = functions[n](&call);

		atomic_long_inc(&calls[context]);
		examine(n, context, &call);
		if (ret != n)
			is_wrong(n, context, "its result", ret);
	}
}

static DEFINE_PER_CPU(atomic_t, nmi_wanted);

static int in_nmi_handler(unsigned int cmd, struct pt_regs *regs)
{
	if (!atomic_xchg(this_cpu_ptr(&nmi_wanted), 0))
		return NMI_DONE;
	call_all(IN_NMI);
	return NMI_HANDLED;
}

/* With preemption off. */
static void send_nmi(void)
{
	atomic_set(this_cpu_ptr(&nmi_wanted), 1);
	__apic_send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
}

enum { CALLERS = 4 };

static struct caller {
	struct task_struct *task;
	struct timer_list timer;
	struct hrtimer hrtimer;
	struct rnd_state random;
} callers[CALLERS];

static int in_task_loop(void *unused)
{
	while (!kthread_should_stop()) {
		call_all(IN_TASK);
		if (!get_random_u32_below(4)) {
			guard(preempt)();
			send_nmi();
			call_all(IN_TASK);
		}
		usleep_range(200, 4000);
	}
	return 0;
}

static void in_timer(struct timer_list *timer)
{
	call_all(IN_SOFTIRQ);
	mod_timer(timer, jiffies + 1);
}

static enum hrtimer_restart in_hrtimer(struct hrtimer *hrtimer)
{
	struct caller *c = container_of(hrtimer, struct caller, hrtimer);
	/* get_random_u32_below() takes a lock that an interrupt may not take, for PREEMPT_RT. */
	u64 us = 1000 + prandom_u32_state(&c->random) % 10000;

	if (us & 1)
		send_nmi();
	call_all(IN_HARDIRQ);
	hrtimer_forward_now(hrtimer, ns_to_ktime(us * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void callers_stop(void)
{
	for (struct caller *c = callers; c < callers + CALLERS && c->task; c++) {
		hrtimer_cancel(&c->hrtimer);
		timer_shutdown_sync(&c->timer);
		kthread_stop(c->task);
	}
	unregister_nmi_handler(NMI_LOCAL, "every_call");
}

static int callers_start(void)
{
	int ret = register_nmi_handler(NMI_LOCAL, in_nmi_handler, 0, "every_call");

	if (ret)
		return ret;
	for (struct caller *c = callers; c < callers + CALLERS; c++) {
		struct task_struct *task = kthread_run(in_task_loop, NULL, "every_call");

		if (IS_ERR(task)) {
			callers_stop();
			return PTR_ERR(task);
		}
		c->task = task;
		prandom_seed_state(&c->random, c - callers + 1);
		timer_setup(&c->timer, in_timer, 0);
		mod_timer(&c->timer, jiffies + 1);
		hrtimer_setup(&c->hrtimer, in_hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
		hrtimer_start(&c->hrtimer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
	}
	return 0;
}

static int counts_show(struct seq_file *m, void *unused)
{
	for (enum context context = 0; context < CONTEXTS; context++)
		seq_printf(m, "%s %ld\n", context_names[context],
			   atomic_long_read(&calls[context]));
	for (enum watcher user = MAY_MISS; user < USERS; user++)
		seq_printf(m, "%s %ld %lu\n", user_names[user], atomic_long_read(&unseen[user]),
			   missed(user));
	seq_printf(m, "wrong %ld\n", atomic_long_read(&wrong));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

/* The addresses of those that a user has. */
static int addresses(enum watcher user, unsigned long *ips)
{
	int nr = 0;

	for (int n = 0; n < FUNCTIONS; n++)
		if (users[n] & BIT(user))
			ips[nr++] = (unsigned long)functions[n];
	return nr;
}

static int ops_attach(enum watcher user)
{
	unsigned long ips[FUNCTIONS];
	int ret = ftrace_set_filter_ips(&ops[user], ips, addresses(user, ips), 0, 1);

	if (ret)
		return ret;
	if (user == DIRECT)
		return register_ftrace_direct(&ops[user], (unsigned long)every_call_trampoline);
	return register_ftrace_function(&ops[user]);
}

static void ops_detach(enum watcher user)
{
	unsigned long to = (unsigned long)every_call_trampoline;
	int ret = user == DIRECT ? unregister_ftrace_direct(&ops[user], to, true) :
				   unregister_ftrace_function(&ops[user]);

	WARN(ret, "%s cannot be detached: %d\n", user_names[user], ret);
	ftrace_free_filter(&ops[user]);
}

static int user_attach(enum watcher user)
{
	unsigned long ips[FUNCTIONS];

	if (user == FPROBE)
		return register_fprobe_ips(&fprobe, ips, addresses(user, ips));
	if (user == KPROBE)
		return register_kprobe(&kprobe);
	if (user == KRETPROBE)
		return register_kretprobe(&kretprobe);
	return user < MAY_MISS ? ops_attach(user) : 0;
}

static void user_detach(enum watcher user)
{
	if (user == FPROBE)
		unregister_fprobe(&fprobe);
	else if (user == KPROBE)
		unregister_kprobe(&kprobe);
	else if (user == KRETPROBE)
		unregister_kretprobe(&kretprobe);
	else if (user < MAY_MISS)
		ops_detach(user);
}

static void detach_before(enum watcher end)
{
	for (enum watcher user = 0; user < end; user++)
		user_detach(user);
}

static struct dentry *directory;

static int __init every_call_init(void)
{
	int ret;

	for (enum watcher user = 0; user < USERS; user++) {
		ret = user_attach(user);
		if (ret) {
			pr_err("%s cannot be attached: %d\n", user_names[user], ret);
			detach_before(user);
			return ret;
		}
	}
	ret = callers_start();
	if (ret) {
		detach_before(USERS);
		return ret;
	}
	directory = debugfs_create_dir("every_call", NULL);
	debugfs_create_file("counts", 0400, directory, NULL, &counts_fops);
	return 0;
}
module_init(every_call_init);

static void __exit every_call_exit(void)
{
	debugfs_remove(directory);
	callers_stop();
	detach_before(USERS);
}
module_exit(every_call_exit);

MODULE_DESCRIPTION("Users of function tracing that have to see every call once");
MODULE_LICENSE("GPL");
