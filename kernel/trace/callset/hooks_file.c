// SPDX-License-Identifier: GPL-2.0
/*
 * The file hooks: a line for each callback of each function, by address. Tabs separate the
 * columns; the first line begins with "# " and names them:
 *
 *	function, module	the name, with an offset inside of the function; "-" stands for the
 *			kernel itself
 *	calls/s		how often the function is called, as far as an instance counts its
 *			calls or has limits for its records; or "-"
 *	cpu%		the time of one CPU that the hook takes with them, if overhead_costs has
 *			its costs; or "-"
 *	kind		tracer, command, kprobe, kretprobe, fprobe, bpf, livepatch, direct, or
 *			callback for any other ops
 *	hook		its name: INSTANCE:TRACER, GROUP:EVENT, number and name of a program, ...
 *
 * Here the callbacks of sites are found. Those that stand for several hooks, as that of all kprobes
 * does, and their names are the business of the subsystems, which register listers and kinds
 * (hooks.c).
 *
 * The text is made when the file is opened. A hook that comes or goes at that time may be
 * missing.
 *
 * Lock order: that of the listers, which hold their own locks; and here
 *	trace_types_lock > ftrace_lock
 */
#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_hooks.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "callset.h"
#include "hooks.h"
#include "ops.h"
#include "sites.h"
#include "times.h"
#include "../trace.h"
#include "trace_count.h"
#include "trace_guard.h"

/* The ops of sites */

/* The instance that an ops works for, or NULL. Context: trace_types_lock is held. */
static struct trace_array *hooks_instance(const struct ftrace_ops *ops)
{
	const void *private = ops->private;
	struct trace_array *tr;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ops->flags & FTRACE_OPS_FL_GRAPH)
		private = container_of_const(ops, struct fgraph_ops, ops)->private ?: private;
#endif
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr == private)
			return tr;
	}
	return NULL;
}

static int hooks_cost(const struct ftrace_ops *ops)
{
	if (!ops->guarded)
		return HOOK_NO_COST;
	if (!(ops->flags & FTRACE_OPS_FL_GRAPH))
		return TRACE_GUARD_FUNCTION;
	return FTRACE_HAS_TIMES && ftrace_is_of_times(ops) ? TRACE_GUARD_TIMES : TRACE_GUARD_GRAPH;
}

/* How often an instance records or times a function; U64_MAX for each call. */
static u64 hooks_records(struct trace_array *tr, unsigned long ip)
{
	u64 rate;

	if (trace_count_rate(tr, ip, &rate) || trace_guard_rate(tr, ip, &rate))
		return rate;
	/* Those of latencies, too, record some calls only. */
	return !tr->callset.pid_bit && tracer_tracing_is_on(tr) && !tr->current_trace->print_max &&
	       cpumask_subset(cpu_online_mask, tr->tracing_cpumask) ? U64_MAX : 0;
}

static void hooks_list_ops(struct ftrace_hooks *hooks, unsigned long ip,
			   const struct ftrace_callset *cs, struct ftrace_ops *ops)
{
	struct trace_array *tr = hooks_instance(ops);

	/* In place of one that is gone. */
	if (ftrace_ops_callback(ops) == ftrace_stub)
		return;
	if (ops == cs->direct) {
		ftrace_hooks_found(hooks, ip, "direct",
				   ops->ops_func ?: (void *)ftrace_jmp_get(cs->direct_addr), ops);
	} else if (tr) {
		ftrace_hooks_add(hooks, ip, "tracer", "%s%s%s", tr->name ?: "",
				 tr->name ? ":" : "", tr->current_trace->name);
		if (hooks->nr) {
			hooks->hook[hooks->nr - 1].cost = hooks_cost(ops);
			hooks->hook[hooks->nr - 1].records = hooks_records(tr, ip);
		}
	} else {
		ftrace_hooks_found(hooks, ip, "callback", ftrace_ops_callback(ops), ops);
	}
}

static void hooks_list_sites(struct ftrace_hooks *hooks)
{
	struct ftrace_callset *cs;
	struct ftrace_table *table;
	struct ftrace_record *rec;

	for_each_ftrace_table(table) {
		for_each_ftrace_rec(table, rec) {
			cs = ftrace_callset_get(ftrace_rec_callset(rec));
			if (cs)
				cond_resched();
			for (unsigned int i = 0; cs && i < cs->nr_ops; i++)
				hooks_list_ops(hooks, ftrace_rec_ip(table, rec), cs, cs->ops[i]);
		}
	}
}

/* Lines by address, those of a function as they came */

static int hooks_cmp(const void *a, const void *b)
{
	const struct ftrace_hook *x = a, *y = b;

	return cmp_int(x->addr, y->addr) ?: cmp_int(x->text, y->text);
}

/* That of the instance that sees most of the calls. */
static u64 hooks_rate(unsigned long ip)
{
	u64 rate, most = HOOK_NO_RATE;
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if ((trace_count_rate(tr, ip, &rate) || trace_guard_rate(tr, ip, &rate)) &&
		    (most == HOOK_NO_RATE || rate > most))
			most = rate;
	}
	return most;
}

static void hooks_find_rates(struct ftrace_hooks *hooks)
{
	struct ftrace_hook *hook = hooks->hook;

	for (unsigned int i = 0; i < hooks->nr; i++) {
		cond_resched();
		if (i && hook[i].addr == hook[i - 1].addr)
			hook[i].rate = hook[i - 1].rate;
		else if (ftrace_site_find(hook[i].addr))
			hook[i].rate = hooks_rate(hook[i].addr);
	}
}

static int hooks_collect(struct ftrace_hooks *hooks)
{
	const struct ftrace_hook_lister *lister;

	list_for_each_entry(lister, &ftrace_hook_listers, node)
		lister->list(hooks);

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);

	hooks_list_sites(hooks);
	if (hooks->failed)
		return -ENOMEM;
	sort(hooks->hook, hooks->nr, sizeof(*hooks->hook), hooks_cmp, NULL);
	hooks_find_rates(hooks);
	return 0;
}

/* The file */

static void *hooks_seq_start(struct seq_file *m, loff_t *pos)
{
	struct ftrace_hooks *hooks = m->private;

	if (!*pos)
		return SEQ_START_TOKEN;
	return *pos <= hooks->nr ? &hooks->hook[*pos - 1] : NULL;
}

static void *hooks_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return hooks_seq_start(m, pos);
}

static void hooks_seq_stop(struct seq_file *m, void *v)
{
}

static void hooks_show_cost(struct seq_file *m, const struct ftrace_hook *hook)
{
	u64 cost = hook->cost == HOOK_NO_COST ? 0 : trace_guard_cost(hook->cost), part;

	if (hook->rate == HOOK_NO_RATE) {
		seq_puts(m, "\t-\t-");
		return;
	}
	seq_printf(m, "\t%llu\t", hook->rate);
	if (!cost) {
		seq_putc(m, '-');
		return;
	}
	/* Hundredths, of picoseconds */
	part = mul_u64_u64_div_u64(min(hook->records, hook->rate), cost, 100000000);
	seq_printf(m, "%llu.%02u", div_u64(part, 100), (u32)(part % 100));
}

static int hooks_seq_show(struct seq_file *m, void *v)
{
	const struct ftrace_hooks *hooks = m->private;
	const struct ftrace_hook *hook = v;
	char name[KSYM_SYMBOL_LEN], *module;
	unsigned long offset;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# function\tmodule\tcalls/s\tcpu%\tkind\thook\n");
		return 0;
	}
	/* The module may go. */
	guard(rcu)();
	if (!kallsyms_lookup(hook->addr, NULL, &offset, &module, name))
		return SEQ_SKIP;
	seq_puts(m, name);
	if (offset && !ftrace_location(hook->addr))
		seq_printf(m, "+%#lx", offset);
	seq_printf(m, "\t%s", module ?: "-");
	hooks_show_cost(m, hook);
	seq_putc(m, '\t');
	/* An instance may have any name. */
	seq_escape(m, hooks->text + hook->text, "\n");
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations hooks_seq_ops = {
	.start	= hooks_seq_start,
	.next	= hooks_seq_next,
	.stop	= hooks_seq_stop,
	.show	= hooks_seq_show,
};

static int hooks_release(struct inode *inode, struct file *file)
{
	struct ftrace_hooks *hooks = ((struct seq_file *)file->private_data)->private;

	kvfree(hooks->hook);
	kvfree(hooks->text);
	return seq_release_private(inode, file);
}

static int hooks_open(struct inode *inode, struct file *file)
{
	struct ftrace_hooks *hooks;
	int ret;

	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;
	hooks = __seq_open_private(file, &hooks_seq_ops, sizeof(*hooks));
	if (!hooks)
		return -ENOMEM;
	ret = hooks_collect(hooks);
	if (ret)
		hooks_release(inode, file);
	return ret;
}

static const struct file_operations hooks_fops = {
	.open		= hooks_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= hooks_release,
};

/**
 * ftrace_hooks_create_file - make the file hooks
 * @d_tracer: the top directory of tracefs
 */
void __init ftrace_hooks_create_file(struct dentry *d_tracer)
{
	trace_create_file("hooks", TRACE_MODE_READ, d_tracer, NULL, &hooks_fops);
}
