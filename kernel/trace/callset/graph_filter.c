// SPDX-License-Identifier: GPL-2.0
/*
 * Graph filters: from which functions on the call graph is recorded, and from
 * which on it is not. They come from the files set_graph_function and
 * set_graph_notrace, and from the kernel command line.
 *
 * They are no filters of an ops: the sites stay attached. They decide, call by
 * call, by the function that a task is in, which the tracers keep in a word for each task
 * (trace.h).
 *
 * Invariants:
 *  1. A change of a list gives it another set of sites. The sites of text that
 *     goes away leave the set in place; a CPU that looks for another site then may
 *     miss it once.
 *  2. A list without sites has no set (NULL), and then every function starts,
 *     and hides no call. The exception is a list that has lost functions whose text
 *     went away: it keeps an empty set until it is cleared, so that a list of a few
 *     functions does not come to mean all of them.
 *  3. While ftrace_graph_filtered is false no list has a set, and no list is read. A CPU
 *     that sees it change later than the set misses a call, and nothing worse.
 *
 * words.c has the files. ftrace_lock covers the lists. The callbacks read
 * them without it, wherever a function is called: in NMIs, and where RCU is not
 * watching. So a set that is replaced is retired, see ftrace_retire().
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>

#include "filter.h"
#include "ops.h"
#include "report.h"
#include "site_set.h"
#include "words.h"
#include "../trace.h"

/**
 * struct graph_filter_list - one of the two lists
 * @sites: its sites, or NULL; changes under ftrace_lock
 */
struct graph_filter_list {
	struct ftrace_site_set __rcu	*sites;
};

static struct graph_filter_list graph_filter_only, graph_filter_not;

/* Whether one of them has a set. */
bool ftrace_graph_filtered __read_mostly;

/* The tests */

/* Disabled preemption keeps the set; RCU may not be watching. */
static const struct ftrace_site_set *graph_filter_list_sites(const struct graph_filter_list *list)
{
	return rcu_dereference_raw_check(list->sites);
}

static bool graph_filter_starts_at(const struct ftrace_site_set *only, unsigned long *task_var,
				   const struct ftrace_graph_ent *trace)
{
	if (!only)
		return true;
	if (!ftrace_site_set_has(only, trace->func))
		return false;
	*task_var |= TRACE_GRAPH_FL;
	ftrace_graph_set_depth(task_var, trace->depth);
	/* An interrupt that is asked for is recorded anyway. */
	if (in_hardirq())
		trace_recursion_set(TRACE_IRQ_BIT);
	else
		trace_recursion_clear(TRACE_IRQ_BIT);
	return true;
}

/**
 * ftrace_graph_starts - whether the call graph is recorded from a function on
 * @task_var: the task's word of the graph user; notes the function if it is listed
 * @trace: the function and its depth
 *
 * Context: an entryfunc; any context that can be traced, preemption disabled.
 * Return: true if the function is in set_graph_function, or that is empty.
 */
bool ftrace_graph_starts(unsigned long *task_var, const struct ftrace_graph_ent *trace)
{
	return graph_filter_starts_at(graph_filter_list_sites(&graph_filter_only), task_var, trace);
}

/**
 * ftrace_graph_hides - whether a function is in set_graph_notrace
 * @ip: its site
 *
 * Context: as for ftrace_graph_starts().
 * Return: true if it is.
 */
bool ftrace_graph_hides(unsigned long ip)
{
	return ftrace_site_set_has(graph_filter_list_sites(&graph_filter_not), ip);
}

/* Changing the lists */

static void graph_filter_sites_free(struct ftrace_retiree *retiree)
{
	ftrace_site_set_free(container_of(retiree, struct ftrace_site_set, retiree));
}

static void graph_filter_list_forget(struct graph_filter_list *list, unsigned long start,
				     unsigned long end)
{
	ftrace_site_set_forget(rcu_dereference_protected(list->sites,
							 lockdep_is_held(&ftrace_lock)),
			       start, end);
}

/**
 * ftrace_graph_filter_forget_range - drop the sites of text that is going away
 * @start: first address of the text
 * @end: first address after it
 *
 * A list of these sites alone names no function from now on, and not every one.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end)
{
	graph_filter_list_forget(&graph_filter_only, start, end);
	graph_filter_list_forget(&graph_filter_not, start, end);
}

/* Words */

/* -EINVAL if nothing matches; -ENOENT if no site of it is in the list to be taken away. */
static int graph_filter_edit_word(struct ftrace_edit *edit, const struct graph_filter_list *list,
				  const char *word)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	if (*word != '!')
		return ftrace_edit_pattern(edit, word, NULL, NULL);
	if (!*++word)
		return -EINVAL;
	sites = ftrace_match_sites(word, NULL);
	if (IS_ERR(sites))
		return PTR_ERR(sites);
	if (!sites->nr)
		return -EINVAL;
	if (!ftrace_edit_finds(edit, graph_filter_list_sites(list), sites))
		return -ENOENT;
	return ftrace_edit_add(edit, &(struct ftrace_word) { .sites = sites, .remove = true });
}

static bool graph_filter_has_sites(const struct graph_filter_list *list)
{
	return rcu_access_pointer(list->sites);
}

/* On failure the list is as it was. */
static int graph_filter_edit_commit(const struct ftrace_edit *edit, struct graph_filter_list *list)
{
	struct ftrace_site_set *sites = ftrace_edit_result(edit, graph_filter_list_sites(list));

	if (!sites)
		return -ENOMEM;
	if (!sites->nr && !sites->lost) {
		ftrace_site_set_free(sites);
		sites = NULL;
	}
	sites = rcu_replace_pointer(list->sites, sites, lockdep_is_held(&ftrace_lock));
	WRITE_ONCE(ftrace_graph_filtered,
		   graph_filter_has_sites(&graph_filter_only) ||
		   graph_filter_has_sites(&graph_filter_not));
	if (sites) {
		sites->retiree = (struct ftrace_retiree) { .free = graph_filter_sites_free };
		ftrace_retire(&sites->retiree);
	}
	return 0;
}

static int graph_filter_take(struct ftrace_word_file *f, char *word)
{
	int ret;

	f->pos = *word == '!';
	scoped_guard(mutex, &ftrace_lock)
		ret = graph_filter_edit_word(&f->edit, f->owner, word);

	if (ret == -ENOENT) {
		/* To the user, it is one more word that matches nothing. */
		f->why = FTRACE_WORD_NOT_LISTED;
		return -EINVAL;
	}
	if (ret == -EINVAL)
		f->why = ftrace_why_no_site(word + f->pos, NULL);
	return ret;
}

static const struct ftrace_site_set *graph_filter_sites(const struct ftrace_word_file *f)
{
	return graph_filter_list_sites(f->owner);
}

static int graph_filter_commit(struct ftrace_word_file *f)
{
	return graph_filter_edit_commit(&f->edit, f->owner);
}

static const struct ftrace_word_ops graph_filter_word_ops = {
	.name	= { "set_graph_function", "set_graph_notrace" },
	.take	= graph_filter_take,
	.sites	= graph_filter_sites,
	.commit	= graph_filter_commit,
};

static int graph_filter_open(struct inode *inode, struct file *file)
{
	return ftrace_word_file_open(file, &graph_filter_word_ops, NULL, inode->i_private,
				     inode->i_private == &graph_filter_not ?
				     FTRACE_ITER_NOTRACE : 0);
}

static const struct file_operations graph_filter_fops = {
	.open		= graph_filter_open,
	.read		= seq_read,
	.write		= ftrace_word_file_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_word_file_release,
};

static int __init graph_filter_init_tracefs(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, NULL, &graph_filter_only,
			  &graph_filter_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, NULL, &graph_filter_not,
			  &graph_filter_fops);
	return 0;
}
fs_initcall(graph_filter_init_tracefs);

/* The kernel command line */

DEFINE_EARLY_LIST(graph_filter_only_param, "ftrace_graph_filter");
DEFINE_EARLY_LIST(graph_filter_not_param, "ftrace_graph_notrace");

static void __init graph_filter_set_early(struct graph_filter_list *list, char *words,
					  const char *name)
{
	struct ftrace_edit edit;
	char *word;

	guard(mutex)(&ftrace_lock);

	ftrace_edit_init(&edit, false);
	while ((word = strsep(&words, ","))) {
		if (*word && graph_filter_edit_word(&edit, list, word))
			pr_warn("command line: \"%s\": %s\n", word,
				ftrace_word_errors[ftrace_why_no_site(word, NULL)]);
	}
	if (graph_filter_edit_commit(&edit, list))
		pr_warn("%s of the command line is not applied\n", name);
	ftrace_edit_destroy(&edit);
}

/* The tracer that ftrace= names starts with the core_initcalls. */
static int __init graph_filter_init(void)
{
	graph_filter_set_early(&graph_filter_only, graph_filter_only_param,
			       graph_filter_word_ops.name[0]);
	graph_filter_set_early(&graph_filter_not, graph_filter_not_param,
			       graph_filter_word_ops.name[1]);
	return 0;
}
early_initcall(graph_filter_init);

/* As written to max_graph_depth */
static int __init graph_filter_max_depth_param(char *text)
{
	return !kstrtouint(text, 0, &fgraph_max_depth);
}
__setup("ftrace_graph_max_depth=", graph_filter_max_depth_param);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/graph_filter_kunit.c"
#endif
