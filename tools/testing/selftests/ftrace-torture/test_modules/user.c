// SPDX-License-Identifier: GPL-2.0
/*
 * A user of function tracing that goes away as soon as it is detached: its memory is poisoned and
 * freed after each of several rounds of attach and detach, and its text after the last, when the
 * module is unloaded.
 */
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "watch.h"

enum { MAX_FUNCTIONS = 8 };
enum { MAGIC = 0x11fe11fe, POISON = 0x0dead0de };

static unsigned int kind;
module_param(kind, uint, 0);
MODULE_PARM_DESC(kind, "an enum watch_kind");

static char *functions[MAX_FUNCTIONS];
static int nr_functions;
module_param_array(functions, charp, &nr_functions, 0);
MODULE_PARM_DESC(functions, "names of functions; a kretprobe takes the first");

static unsigned int rounds = 1;
module_param(rounds, uint, 0);
MODULE_PARM_DESC(rounds, "how often it is attached; the last detach is that of the unloading");

/* They are not exported: the tests read them from /proc/kallsyms. */
static unsigned long graph_register;
module_param(graph_register, ulong, 0);
MODULE_PARM_DESC(graph_register, "address of register_ftrace_graph()");
static unsigned long graph_unregister;
module_param(graph_unregister, ulong, 0);
MODULE_PARM_DESC(graph_unregister, "address of unregister_ftrace_graph()");

struct detach_user {
	u32 magic;
	struct watch *watch;
	union {
		struct ftrace_ops ops;
		struct fprobe fprobe;
		struct kretprobe kretprobe;
		struct fgraph_ops graph;
	};
	u32 magic_too;
};

static bool is_fresh(struct detach_user *u)
{
	return READ_ONCE(u->magic) == MAGIC && READ_ONCE(u->magic_too) == MAGIC;
}

static void called(struct detach_user *u)
{
	if (!is_fresh(u)) {
		watch_stale();
		return;
	}
	watch_call(u->watch);
	if (!is_fresh(u))
		watch_stale();
}

static void ops_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	called(container_of(ops, struct detach_user, ops));
}

static int filter_set(struct ftrace_ops *ops)
{
	int ret = 0;

	for (int i = 0; i < nr_functions && !ret; i++)
		ret = ftrace_set_filter(ops, functions[i], strlen(functions[i]), 0);
	return ret;
}

static int ops_register(struct detach_user *u)
{
	static const unsigned long flags[] = {
		[WATCH_REGS]		= FTRACE_OPS_FL_SAVE_REGS,
		[WATCH_RECURSION]	= FTRACE_OPS_FL_RECURSION,
		[WATCH_RCU]		= FTRACE_OPS_FL_RCU,
		[WATCH_ALL_HELP]	= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION |
					  FTRACE_OPS_FL_RCU,
	};

	u->ops.func = ops_callback;
	u->ops.flags = flags[kind];
	return filter_set(&u->ops) ?: register_ftrace_function(&u->ops);
}

static void ops_unregister(struct detach_user *u)
{
	unregister_ftrace_function(&u->ops);
}

static int fprobe_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			struct ftrace_regs *fregs, void *data)
{
	called(container_of(fp, struct detach_user, fprobe));
	return 0;
}

static void fprobe_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			struct ftrace_regs *fregs, void *data)
{
	called(container_of(fp, struct detach_user, fprobe));
}

static int user_fprobe_register(struct detach_user *u)
{
	/* The names are sorted in place. */
	const char *names[MAX_FUNCTIONS];

	memcpy(names, functions, sizeof(names));
	if (kind == WATCH_FPROBE)
		u->fprobe.entry_handler = fprobe_entry;
	u->fprobe.exit_handler = fprobe_exit;
	return register_fprobe_syms(&u->fprobe, names, nr_functions);
}

static void user_fprobe_unregister(struct detach_user *u)
{
	unregister_fprobe(&u->fprobe);
}

static int kretprobe_any(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		called(container_of(rp, struct detach_user, kretprobe));
	return 0;
}

static int user_kretprobe_register(struct detach_user *u)
{
	u->kretprobe.kp.symbol_name = functions[0];
	u->kretprobe.entry_handler = kretprobe_any;
	u->kretprobe.handler = kretprobe_any;
	u->kretprobe.maxactive = 64;
	return register_kretprobe(&u->kretprobe);
}

static void user_kretprobe_unregister(struct detach_user *u)
{
	unregister_kretprobe(&u->kretprobe);
}

static int graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		       struct ftrace_regs *fregs)
{
	called(container_of(gops, struct detach_user, graph));
	return 1;
}

static void graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
			 struct ftrace_regs *fregs)
{
	called(container_of(gops, struct detach_user, graph));
}

static int user_graph_register(struct detach_user *u)
{
	int (*func)(struct fgraph_ops *gops) = (void *)graph_register;

	/* A function that is not called by pointers may lack its ENDBR. */
	if (!graph_register || !graph_unregister || cpu_feature_enabled(X86_FEATURE_IBT))
		return -EOPNOTSUPP;
	u->graph.entryfunc = graph_entry;
	u->graph.retfunc = graph_return;
	return filter_set(&u->graph.ops) ?: func(&u->graph);
}

static void user_graph_unregister(struct detach_user *u)
{
	void (*func)(struct fgraph_ops *gops) = (void *)graph_unregister;

	func(&u->graph);
	ftrace_free_filter(&u->graph.ops);
}

static const struct {
	int (*attach)(struct detach_user *u);
	void (*detach)(struct detach_user *u);
} kinds[WATCH_KINDS] = {
	[WATCH_PLAIN ... WATCH_ALL_HELP]	= { ops_register, ops_unregister },
	[WATCH_FPROBE ... WATCH_FPROBE_EXIT]	= { user_fprobe_register, user_fprobe_unregister },
	[WATCH_KRETPROBE]			= { user_kretprobe_register,
						    user_kretprobe_unregister },
	[WATCH_GRAPH]				= { user_graph_register, user_graph_unregister },
};

static struct detach_user *user_attach(void)
{
	struct detach_user *u = kzalloc(sizeof(*u), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!u)
		return ERR_PTR(ret);
	u->watch = watch_open(kind);
	if (!u->watch)
		goto free;
	u->magic = MAGIC;
	u->magic_too = MAGIC;
	ret = kinds[kind].attach(u);
	if (!ret)
		return u;
free:
	kfree(u);
	return ERR_PTR(ret);
}

static void user_detach(struct detach_user *u)
{
	u64 start;

	watch_detaching(u->watch);
	start = ktime_get_ns();
	kinds[kind].detach(u);
	watch_detached(u->watch, ktime_get_ns() - start);
	if (kind <= WATCH_ALL_HELP)
		ftrace_free_filter(&u->ops);
	u->magic = POISON;
	u->magic_too = POISON;
	kfree(u);
}

static struct detach_user *last;

static int __init user_init(void)
{
	if (kind >= WATCH_KINDS || !nr_functions)
		return -EINVAL;
	for (;;) {
		last = user_attach();
		if (IS_ERR(last))
			return PTR_ERR(last);
		if (!--rounds)
			return 0;
		usleep_range(100, 200 + get_random_u32_below(4000));
		user_detach(last);
	}
}
module_init(user_init);

static void __exit user_exit(void)
{
	user_detach(last);
}
module_exit(user_exit);

MODULE_DESCRIPTION("A user of function tracing that goes away");
MODULE_LICENSE("GPL");
