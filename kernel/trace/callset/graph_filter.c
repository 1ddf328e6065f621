// SPDX-License-Identifier: GPL-2.0
/*
 * Graph filters: from which functions on the call graph is recorded, and from
 * which on it is not. They come from the files set_graph_function and
 * set_graph_notrace, and from the kernel command line.
 *
 * They are no filters of an ops: the sites stay attached. They decide, call by
 * call, by the function that a task is in. One word for each task and graph user
 * (fgraph_get_task_var()) says which that is:
 *
 *	 30        17 16         3     2        1         0
 *	+------------+------------+--------+--------+---------+
 *	| its depth  | its depth  |        |        |         |
 *	| if HIDDEN  | if STARTED | IN_IRQ | HIDDEN | STARTED |
 *	+------------+------------+--------+--------+---------+
 *
 *	STARTED	the task is in a function of set_graph_function,
 *	IN_IRQ	which was called by an interrupt handler
 *	HIDDEN	the task is in a function of set_graph_notrace
 *
 * Invariants:
 *  1. A change of a list gives it another set of sites. The sites of text that
 *     goes away leave the set in place; a CPU that looks for another site then may
 *     miss it once.
 *  2. A list without sites has no set (NULL), and then every function starts,
 *     and hides no call. The exception is a list whose functions were all in text
 *     that went away: it keeps an empty set, so that a list of a few functions
 *     does not come to mean all of them.
 *  3. While ftrace_graph_filtered is false there are no filters, there never
 *     were any, and all words are 0. It is never reset, for a task may be in a
 *     function, and have its bits set, long after the list was emptied.
 *  4. STARTED and HIDDEN are set for a function of which the return is asked
 *     for, as that clears them. Should the return be lost, the next call or
 *     return that is no deeper clears them.
 *
 * ftrace_words.c has the files. ftrace_lock covers the lists. The callbacks read
 * them without it, wherever a function is called: in NMIs, and where RCU is not
 * watching. So a set that is replaced is retired, see ftrace_retire().
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bitfield.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "filter.h"
#include "ops.h"
#include "report.h"
#include "site_set.h"
#include "words.h"
#include "../trace.h"

#define GRAPH_STARTED		BIT(0)
#define GRAPH_HIDDEN		BIT(1)
#define GRAPH_IN_IRQ		BIT(2)
#define GRAPH_STARTED_DEPTH	GENMASK(16, 3)
#define GRAPH_HIDDEN_DEPTH	GENMASK(30, 17)

/**
 * struct graph_list - one of the two lists
 * @sites: its sites, or NULL; changes under ftrace_lock
 */
struct graph_list {
	struct ftrace_site_set __rcu	*sites;
};

static struct graph_list graph_only, graph_not;

/* Whether there is, or ever was, a graph filter or the like; see trace.h. */
bool ftrace_graph_filtered __read_mostly;

/* The tests */

/* Disabled preemption keeps the set; RCU may not be watching. */
static const struct ftrace_site_set *graph_list_sites(const struct graph_list *list)
{
	return rcu_dereference_raw_check(list->sites);
}

static bool graph_word_enter(unsigned long *word, const struct ftrace_site_set *only,
			     unsigned long ip, int depth)
{
	if (!only || (*word & GRAPH_STARTED))
		return true;
	if (!ftrace_site_set_has(only, ip))
		return false;
	*word &= ~(GRAPH_IN_IRQ | GRAPH_STARTED_DEPTH);
	*word |= GRAPH_STARTED | FIELD_PREP(GRAPH_STARTED_DEPTH, depth) |
		 (in_hardirq() ? GRAPH_IN_IRQ : 0);
	return true;
}

/* A function at @depth has returned, and with it those that it called. */
static void graph_word_leave(unsigned long *word, int depth)
{
	if ((*word & GRAPH_STARTED) && depth <= FIELD_GET(GRAPH_STARTED_DEPTH, *word))
		*word &= ~(GRAPH_STARTED | GRAPH_IN_IRQ | GRAPH_STARTED_DEPTH);
	if ((*word & GRAPH_HIDDEN) && depth <= FIELD_GET(GRAPH_HIDDEN_DEPTH, *word))
		*word &= ~(GRAPH_HIDDEN | GRAPH_HIDDEN_DEPTH);
}

static enum ftrace_graph_verdict graph_word_judge(unsigned long *word,
						  const struct ftrace_site_set *only,
						  const struct ftrace_site_set *not,
						  unsigned long ip, int depth)
{
	graph_word_leave(word, depth);
	if (*word & GRAPH_HIDDEN)
		return FTRACE_GRAPH_SKIP;
	if (ftrace_site_set_has(not, ip)) {
		*word |= GRAPH_HIDDEN | FIELD_PREP(GRAPH_HIDDEN_DEPTH, depth);
		return FTRACE_GRAPH_HIDE;
	}
	return graph_word_enter(word, only, ip, depth) ? FTRACE_GRAPH_TRACE : FTRACE_GRAPH_SKIP;
}

/* The return of the hidden function itself is not recorded, but any further up is. */
static bool graph_word_return(unsigned long *word, int depth)
{
	bool is_hidden = (*word & GRAPH_HIDDEN) &&
			 depth >= FIELD_GET(GRAPH_HIDDEN_DEPTH, *word);

	graph_word_leave(word, depth);
	return !is_hidden;
}

/**
 * ftrace_graph_filter_entry - judge a call by both lists
 * @gops: the graph user
 * @trace: the function and its depth
 *
 * After FTRACE_GRAPH_TRACE, the caller asks for the return of the function, or
 * calls ftrace_graph_leave().
 *
 * Context: an entryfunc; any context that can be traced, preemption disabled.
 * Return: FTRACE_GRAPH_SKIP to ignore the call; FTRACE_GRAPH_HIDE to ask for
 * its return, and not to record it; FTRACE_GRAPH_TRACE to record it.
 */
enum ftrace_graph_verdict ftrace_graph_filter_entry(struct fgraph_ops *gops,
						    const struct ftrace_graph_ent *trace)
{
	return graph_word_judge(fgraph_get_task_var(gops), graph_list_sites(&graph_only),
				graph_list_sites(&graph_not), trace->func, trace->depth);
}

/**
 * ftrace_graph_filter_return - note a return, and judge it
 * @gops: the graph user
 * @trace: the function and its depth
 *
 * Context: a retfunc; any context that can be traced, preemption disabled.
 * Return: true if the return is to be recorded.
 */
bool ftrace_graph_filter_return(struct fgraph_ops *gops, const struct ftrace_graph_ret *trace)
{
	return graph_word_return(fgraph_get_task_var(gops), trace->depth);
}

/**
 * ftrace_graph_enter - judge a call by set_graph_function alone
 * @gops: the graph user
 * @trace: the function and its depth
 *
 * Context: as for ftrace_graph_filter_entry().
 * Return: true if the function is in the list, or was called from one that is.
 */
bool ftrace_graph_enter(struct fgraph_ops *gops, const struct ftrace_graph_ent *trace)
{
	return graph_word_enter(fgraph_get_task_var(gops), graph_list_sites(&graph_only),
				trace->func, trace->depth);
}

/**
 * ftrace_graph_leave - take back ftrace_graph_enter()
 * @gops: the graph user
 * @depth: of the function that returns, or is not recorded
 *
 * Context: as for ftrace_graph_filter_return().
 */
void ftrace_graph_leave(struct fgraph_ops *gops, int depth)
{
	graph_word_leave(fgraph_get_task_var(gops), depth);
}

/**
 * ftrace_graph_in_irq - whether set_graph_function asked for an interrupt
 * @gops: the graph user
 *
 * Context: as for ftrace_graph_filter_entry().
 * Return: true if the graph started from a function in an interrupt handler.
 */
bool ftrace_graph_in_irq(struct fgraph_ops *gops)
{
	return *fgraph_get_task_var(gops) & GRAPH_IN_IRQ;
}

/**
 * ftrace_graph_hides - whether a function is in set_graph_notrace
 * @ip: its site
 *
 * Context: as for ftrace_graph_filter_entry().
 * Return: true if it is.
 */
bool ftrace_graph_hides(unsigned long ip)
{
	return ftrace_site_set_has(graph_list_sites(&graph_not), ip);
}

/* Changing the lists */

static void graph_sites_free(struct ftrace_retiree *retiree)
{
	ftrace_site_set_free(container_of(retiree, struct ftrace_site_set, retiree));
}

static void graph_list_forget(struct graph_list *list, unsigned long start, unsigned long end)
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
	graph_list_forget(&graph_only, start, end);
	graph_list_forget(&graph_not, start, end);
}

/* Words */

/* The sites that the list would have if the edit were made now; or -ENOMEM. */
static int graph_edit_nr(const struct ftrace_edit *edit, const struct graph_list *list)
{
	struct ftrace_site_set *sites __free(site_set) =
		ftrace_edit_result(edit, graph_list_sites(list));

	return sites ? sites->nr : -ENOMEM;
}

/* -EINVAL if nothing matches; -ENOENT if no site of it is in the list to be taken away. */
static int graph_edit_word(struct ftrace_edit *edit, const struct graph_list *list,
			   const char *word)
{
	int before = *word == '!' ? graph_edit_nr(edit, list) : 0, after;
	int ret = before < 0 ? before : ftrace_edit_pattern(edit, word, NULL, NULL);

	if (ret || *word != '!')
		return ret;
	after = graph_edit_nr(edit, list);
	return after == before ? -ENOENT : min(after, 0);
}

/* On failure the list is as it was. */
static int graph_edit_commit(const struct ftrace_edit *edit, struct graph_list *list)
{
	struct ftrace_site_set *sites = ftrace_edit_result(edit, graph_list_sites(list));

	if (!sites)
		return -ENOMEM;
	if (sites->nr || edit->lost) {
		/* A CPU that sees this later than the list misses a call, and nothing worse. */
		WRITE_ONCE(ftrace_graph_filtered, true);
	} else {
		ftrace_site_set_free(sites);
		sites = NULL;
	}
	sites = rcu_replace_pointer(list->sites, sites, lockdep_is_held(&ftrace_lock));
	if (sites) {
		sites->retiree = (struct ftrace_retiree) { .free = graph_sites_free };
		ftrace_retire(&sites->retiree);
	}
	return 0;
}

static int graph_take(struct ftrace_word_file *f, char *word)
{
	int ret;

	f->pos = *word == '!';
	scoped_guard(mutex, &ftrace_lock)
		ret = graph_edit_word(&f->edit, f->owner, word);

	if (ret == -ENOENT) {
		/* To the user, it is one more word that matches nothing. */
		f->why = FTRACE_WORD_NOT_LISTED;
		return -EINVAL;
	}
	if (ret == -EINVAL)
		f->why = ftrace_why_no_site(word + f->pos, NULL);
	return ret;
}

static const struct ftrace_site_set *graph_sites(const struct ftrace_word_file *f)
{
	return graph_list_sites(f->owner);
}

static int graph_commit(struct ftrace_word_file *f)
{
	return graph_edit_commit(&f->edit, f->owner);
}

static const struct ftrace_word_ops graph_word_ops = {
	.name	= { "set_graph_function", "set_graph_notrace" },
	.take	= graph_take,
	.sites	= graph_sites,
	.commit	= graph_commit,
};

static int graph_file_open(struct inode *inode, struct file *file)
{
	return ftrace_word_file_open(file, &graph_word_ops, NULL, inode->i_private,
				     inode->i_private == &graph_not ? FTRACE_ITER_NOTRACE : 0);
}

static const struct file_operations graph_list_fops = {
	.open		= graph_file_open,
	.read		= seq_read,
	.write		= ftrace_word_file_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_word_file_release,
};

static int __init graph_filter_init_tracefs(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, NULL, &graph_only,
			  &graph_list_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, NULL, &graph_not,
			  &graph_list_fops);
	return 0;
}
fs_initcall(graph_filter_init_tracefs);

/* The kernel command line */

DEFINE_EARLY_LIST(graph_only_param, "ftrace_graph_filter");
DEFINE_EARLY_LIST(graph_not_param, "ftrace_graph_notrace");

static void __init graph_list_set_early(struct graph_list *list, char *words, const char *name)
{
	struct ftrace_edit edit;
	char *word;

	guard(mutex)(&ftrace_lock);

	ftrace_edit_init(&edit, false);
	while ((word = strsep(&words, ","))) {
		if (*word && graph_edit_word(&edit, list, word))
			pr_warn("command line: \"%s\": %s\n", word,
				ftrace_word_errors[ftrace_why_no_site(word, NULL)]);
	}
	if (graph_edit_commit(&edit, list))
		pr_warn("%s of the command line is not applied\n", name);
	ftrace_edit_destroy(&edit);
}

/* The tracer that ftrace= names starts with the core_initcalls. */
static int __init graph_filter_init(void)
{
	graph_list_set_early(&graph_only, graph_only_param, graph_word_ops.name[0]);
	graph_list_set_early(&graph_not, graph_not_param, graph_word_ops.name[1]);
	return 0;
}
early_initcall(graph_filter_init);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/graph_filter_kunit.c"
#endif
