// SPDX-License-Identifier: GPL-2.0
/*
 * Graph filters: from which functions on the call graph is recorded, and from
 * which on it is not. They come from the files set_graph_function and
 * set_graph_notrace, and from the kernel command line.
 *
 * They are no filters of an ops: what is attached stays attached. They decide,
 * call by call, by the function that a task is in. What is known of that is in
 * one word for each task and graph user (fgraph_get_task_var()):
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
 *  1. Site sets are sorted and never change; a list gets another one.
 *  2. A list without sites has no filter (NULL), and then every function starts,
 *     or none hides. The exception is a list whose functions were all in text
 *     that went away: it keeps an empty set, so that what named a few functions
 *     does not come to mean all of them.
 *  3. While ftrace_graph_filtered is false there are no filters, there never
 *     were any, and all words are 0. It is never reset, for a task may be in a
 *     function, and have its bits set, long after the list was emptied.
 *  4. STARTED and HIDDEN are set for a function of which the return is asked
 *     for, as that clears them. Should the return be lost, the next call or
 *     return that is no deeper tells.
 *  5. What is written to a file is collected, and applied to the list as it is
 *     when the file is closed: two writers both get what they wrote.
 *  6. A write() takes all of its words, or fails and takes none. A file to
 *     which nothing but failing writes went leaves its list alone, even if it
 *     was opened to be truncated.
 *
 * Lock order: graph_file.lock > ftrace_lock. The former covers what is written to
 * one open file: write() is one at a time, but pwrite() and io_uring are not.
 * ftrace_lock covers the lists. The callbacks read them without it, wherever a
 * function is called: in NMIs, and where RCU is not watching. So a filter that
 * is replaced is retired, see ftrace_retire().
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
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "ftrace_graph_filter.h"
#include "ftrace_match.h"
#include "ftrace_ops.h"
#include "ftrace_report.h"
#include "ftrace_site_set.h"
#include "ftrace_words.h"
#include "trace.h"

#define GRAPH_STARTED		BIT(0)
#define GRAPH_HIDDEN		BIT(1)
#define GRAPH_IN_IRQ		BIT(2)
#define GRAPH_STARTED_DEPTH	GENMASK(16, 3)
#define GRAPH_HIDDEN_DEPTH	GENMASK(30, 17)

#define GRAPH_WORD_MAX		(KSYM_NAME_LEN + 128)

/**
 * struct graph_filter - the sites of a list, published
 * @sites: the sites
 * @retiree: frees both
 */
struct graph_filter {
	struct ftrace_site_set	*sites;
	struct ftrace_retiree	retiree;
};

/**
 * struct graph_list - one of the two lists
 * @name: of its file
 * @none: what the file shows where there is no filter
 * @filter: what is in it, or NULL; changes under ftrace_lock
 */
struct graph_list {
	const char			*name;
	const char			*none;
	struct graph_filter __rcu	*filter;
};

static struct graph_list graph_only = {
	.name	= "set_graph_function",
	.none	= "#### all functions enabled ####\n",
};

static struct graph_list graph_not = {
	.name	= "set_graph_notrace",
	.none	= "#### no functions disabled ####\n",
};

/* Whether there is, or ever was, a graph filter or the like; see trace.h. */
bool ftrace_graph_filtered __read_mostly;

/* The tests */

/* Disabled preemption keeps the set; RCU may not be watching. */
static const struct ftrace_site_set *graph_list_sites(const struct graph_list *list)
{
	const struct graph_filter *filter = rcu_dereference_raw_check(list->filter);

	return filter ? filter->sites : NULL;
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

static void graph_word_leave(unsigned long *word, int depth)
{
	if ((*word & GRAPH_STARTED) && depth <= FIELD_GET(GRAPH_STARTED_DEPTH, *word))
		*word &= ~(GRAPH_STARTED | GRAPH_IN_IRQ | GRAPH_STARTED_DEPTH);
}

static void graph_word_show(unsigned long *word, int depth)
{
	if ((*word & GRAPH_HIDDEN) && depth <= FIELD_GET(GRAPH_HIDDEN_DEPTH, *word))
		*word &= ~(GRAPH_HIDDEN | GRAPH_HIDDEN_DEPTH);
}

static enum ftrace_graph_verdict graph_word_judge(unsigned long *word,
						  const struct ftrace_site_set *only,
						  const struct ftrace_site_set *not,
						  unsigned long ip, int depth)
{
	/* Whatever was entered at this depth has returned. */
	graph_word_leave(word, depth);
	graph_word_show(word, depth);

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
	graph_word_show(word, depth);
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

static const struct ftrace_site_set *graph_list_sites_locked(const struct graph_list *list)
{
	lockdep_assert_held(&ftrace_lock);

	return graph_list_sites(list);
}

static void graph_filter_free(struct ftrace_retiree *retiree)
{
	struct graph_filter *filter = container_of(retiree, struct graph_filter, retiree);

	ftrace_site_set_free(filter->sites);
	kfree(filter);
}

/* Owns @sites, unless it fails. NULL leaves the list without a filter. */
static int graph_list_publish(struct graph_list *list, struct ftrace_site_set *sites)
{
	struct graph_filter *filter = NULL;

	lockdep_assert_held(&ftrace_lock);

	if (sites) {
		filter = kzalloc(sizeof(*filter), GFP_KERNEL);
		if (!filter)
			return -ENOMEM;
		filter->sites = sites;
		filter->retiree.free = graph_filter_free;
		/* A CPU that sees this later than the filter misses a call, and nothing worse. */
		WRITE_ONCE(ftrace_graph_filtered, true);
	}
	filter = rcu_replace_pointer(list->filter, filter, lockdep_is_held(&ftrace_lock));
	if (filter)
		ftrace_retire(&filter->retiree);
	return 0;
}

static int graph_list_forget(struct graph_list *list, unsigned long start, unsigned long end)
{
	const struct ftrace_site_set *sites = graph_list_sites_locked(list);
	struct ftrace_site_set *rest __free(site_set) = NULL;
	unsigned int nr = 0;
	int ret;

	if (!sites)
		return 0;
	rest = ftrace_site_set_alloc(sites->nr);
	if (!rest)
		return -ENOMEM;
	for (unsigned int i = 0; i < sites->nr; i++) {
		if (sites->ip[i] < start || sites->ip[i] >= end)
			rest->ip[nr++] = sites->ip[i];
	}
	if (nr == sites->nr)
		return 0;
	rest->nr = nr;
	ret = graph_list_publish(list, rest);
	if (!ret)
		retain_and_null_ptr(rest);
	return ret;
}

/**
 * ftrace_graph_filter_forget_range - drop the sites of text that is going away
 * @start: first address of the text
 * @end: first address after it
 *
 * A list that named nothing else names nothing from now on, not everything.
 *
 * Context: ftrace_lock is held; sleeps.
 */
void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end)
{
	int ret = graph_list_forget(&graph_only, start, end);

	ret = ret ?: graph_list_forget(&graph_not, start, end);
	if (ret)
		pr_warn("graph filters still name text that is gone: %pe\n", ERR_PTR(ret));
}

/* Edits */

/**
 * struct graph_edit - a change to a list, being collected
 * @add: sites to add
 * @del: sites to take away
 * @clear: start from an empty list
 */
struct graph_edit {
	struct ftrace_site_set	*add;
	struct ftrace_site_set	*del;
	bool			clear;
};

static void graph_edit_destroy(struct graph_edit *edit)
{
	ftrace_site_set_free(edit->add);
	ftrace_site_set_free(edit->del);
}

/* The sites that the list would have if the edit were applied to @old. */
static struct ftrace_site_set *graph_edit_result(const struct graph_edit *edit,
						 const struct ftrace_site_set *old)
{
	struct ftrace_site_set *rest __free(site_set) =
		ftrace_site_set_minus(edit->clear ? NULL : old, edit->del);

	return rest ? ftrace_site_set_union(rest, edit->add) : NULL;
}

/* What was said last about a site counts. */
static int graph_edit_sites(struct graph_edit *edit, const struct ftrace_site_set *sites,
			    bool remove)
{
	struct ftrace_site_set **to = remove ? &edit->del : &edit->add;
	struct ftrace_site_set **from = remove ? &edit->add : &edit->del;
	struct ftrace_site_set *more __free(site_set) = ftrace_site_set_union(*to, sites);
	struct ftrace_site_set *less __free(site_set) = ftrace_site_set_minus(*from, sites);

	if (!more || !less)
		return -ENOMEM;
	swap(*to, more);
	swap(*from, less);
	return 0;
}

static bool graph_sets_meet(const struct ftrace_site_set *a, const struct ftrace_site_set *b)
{
	for (unsigned int i = 0; i < a->nr; i++) {
		if (ftrace_site_set_has(b, a->ip[i]))
			return true;
	}
	return false;
}

/* -EINVAL if nothing matches; -ENOENT if nothing of it is in the list to be taken away. */
static int graph_edit_word(struct graph_edit *edit, const struct graph_list *list,
			   const char *word)
{
	bool remove = *word == '!';
	struct ftrace_site_set *sites __free(site_set) = NULL;
	struct ftrace_site_set *present __free(site_set) = NULL;

	word += remove;
	if (!*word)
		return -EINVAL;
	sites = ftrace_match_sites(word, NULL);
	if (IS_ERR(sites))
		return PTR_ERR(sites);
	if (!remove)
		ftrace_site_set_drop_lost(sites);
	if (!sites->nr)
		return -EINVAL;
	if (remove) {
		present = graph_edit_result(edit, graph_list_sites_locked(list));
		if (!present)
			return -ENOMEM;
		if (!graph_sets_meet(sites, present))
			return -ENOENT;
	}
	return graph_edit_sites(edit, sites, remove);
}

/* On failure the list is as it was. */
static int graph_edit_commit(const struct graph_edit *edit, struct graph_list *list)
{
	const struct ftrace_site_set *old = graph_list_sites_locked(list);
	struct ftrace_site_set *sites __free(site_set) = graph_edit_result(edit, old);
	int ret;

	if (!sites)
		return -ENOMEM;
	ret = graph_list_publish(list, sites->nr ? sites : NULL);
	if (!ret && sites->nr)
		retain_and_null_ptr(sites);
	return ret;
}

/* Files */

/**
 * struct graph_file - an open set_graph_function or set_graph_notrace
 * @list: which one
 * @lock: covers @edit, @wrote, @failed and @parser
 * @edit: what was written
 * @wrote: some word was taken
 * @failed: some write failed
 * @parser: holds a word that a write left unfinished
 * @shown: for reading: the sites as of when the file was opened
 */
struct graph_file {
	struct graph_list	*list;
	/* One write at a time */
	struct mutex		lock;
	struct graph_edit	edit;
	bool			wrote;
	bool			failed;
	struct trace_parser	parser;
	struct ftrace_site_set	*shown;
};

static void graph_file_log(struct graph_file *f, enum ftrace_word_error error, unsigned int pos)
{
	ftrace_report_word(NULL, f->list->name, f->parser.buffer, error, pos);
}

static int graph_file_word(void *data, char *word, bool cut)
{
	struct graph_file *f = data;
	bool remove = *word == '!';
	int ret;

	if (cut) {
		graph_file_log(f, FTRACE_WORD_TOO_LONG, 0);
		return -EINVAL;
	}
	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_disabled ? -ENODEV : graph_edit_word(&f->edit, f->list, word);

	if (ret == -EINVAL) {
		graph_file_log(f, ftrace_why_no_site(word + remove, NULL), remove);
	} else if (ret == -ENOENT) {
		graph_file_log(f, FTRACE_WORD_NOT_LISTED, 1);
		/* To the user, it is one more word that matches nothing. */
		ret = -EINVAL;
	}
	return ret;
}

static struct graph_file *graph_file_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;
	return file->private_data;
}

static ssize_t graph_file_write_locked(struct graph_file *f, const char __user *ubuf,
				       size_t cnt, loff_t *ppos)
{
	struct graph_edit before = {
		.add	= ftrace_site_set_dup(f->edit.add),
		.del	= ftrace_site_set_dup(f->edit.del),
		.clear	= f->edit.clear,
	};
	bool took = false;
	ssize_t ret = -ENOMEM;

	lockdep_assert_held(&f->lock);

	if ((!before.add && f->edit.add) || (!before.del && f->edit.del)) {
		trace_parser_clear(&f->parser);
		goto out;
	}
	ret = ftrace_parse_words(&f->parser, ubuf, cnt, ppos, graph_file_word, f, &took);
	if (ret < 0)
		swap(f->edit, before);
	else
		f->wrote |= took;
out:
	f->failed |= ret < 0;
	graph_edit_destroy(&before);
	return ret;
}

static ssize_t graph_file_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	struct graph_file *f = graph_file_of(file);

	guard(mutex)(&f->lock);
	return graph_file_write_locked(f, ubuf, cnt, ppos);
}

/* Without a filter, there is one line to show. Positions count from 1: NULL ends. */
static void *graph_seq_start(struct seq_file *m, loff_t *pos)
{
	const struct graph_file *f = m->private;

	return *pos < (f->shown ? f->shown->nr : 1) ? (void *)(unsigned long)(*pos + 1) : NULL;
}

static void *graph_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return graph_seq_start(m, pos);
}

static void graph_seq_stop(struct seq_file *m, void *v)
{
}

static int graph_seq_show(struct seq_file *m, void *v)
{
	const struct graph_file *f = m->private;

	if (f->shown)
		seq_printf(m, "%ps\n", (void *)f->shown->ip[(unsigned long)v - 1]);
	else
		seq_puts(m, f->list->none);
	return 0;
}

static const struct seq_operations graph_seq_ops = {
	.start	= graph_seq_start,
	.next	= graph_seq_next,
	.stop	= graph_seq_stop,
	.show	= graph_seq_show,
};

static int graph_file_show(struct graph_file *f)
{
	const struct ftrace_site_set *sites;

	guard(mutex)(&ftrace_lock);
	sites = graph_list_sites_locked(f->list);
	f->shown = ftrace_site_set_dup(sites);
	return sites && !f->shown ? -ENOMEM : 0;
}

static int graph_file_init(struct graph_file *f, struct file *file)
{
	int ret;

	if (trace_parser_get_init(&f->parser, GRAPH_WORD_MAX))
		return -ENOMEM;
	if (!(file->f_mode & FMODE_READ)) {
		file->private_data = f;
		return 0;
	}
	ret = graph_file_show(f) ?: seq_open(file, &graph_seq_ops);
	if (!ret)
		((struct seq_file *)file->private_data)->private = f;
	return ret;
}

static void graph_file_free(struct graph_file *f)
{
	graph_edit_destroy(&f->edit);
	trace_parser_put(&f->parser);
	ftrace_site_set_free(f->shown);
	kfree(f);
}

static int graph_file_open(struct inode *inode, struct file *file)
{
	struct graph_file *f;
	int ret;

	if (ftrace_disabled)
		return -ENODEV;
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;

	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	f->list = inode->i_private;
	mutex_init(&f->lock);
	f->edit.clear = (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC);
	ret = graph_file_init(f, file);
	if (ret)
		graph_file_free(f);
	return ret;
}

static void graph_file_commit(struct graph_file *f)
{
	int ret;

	/* The last word may come without a newline. */
	if (trace_parser_loaded(&f->parser)) {
		if (graph_file_word(f, f->parser.buffer, false))
			f->failed = true;
		else
			f->wrote = true;
	}
	if (!f->wrote && (f->failed || !f->edit.clear))
		return;

	guard(mutex)(&ftrace_lock);
	ret = graph_edit_commit(&f->edit, f->list);
	if (ret)
		pr_warn("%s is unchanged: %pe\n", f->list->name, ERR_PTR(ret));
}

static int graph_file_release(struct inode *inode, struct file *file)
{
	struct graph_file *f = graph_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		graph_file_commit(f);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	graph_file_free(f);
	return 0;
}

static const struct file_operations graph_list_fops = {
	.open		= graph_file_open,
	.read		= seq_read,
	.write		= graph_file_write,
	.llseek		= tracing_lseek,
	.release	= graph_file_release,
};

static int __init graph_filter_init_tracefs(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file(graph_only.name, TRACE_MODE_WRITE, NULL, &graph_only, &graph_list_fops);
	trace_create_file(graph_not.name, TRACE_MODE_WRITE, NULL, &graph_not, &graph_list_fops);
	return 0;
}
fs_initcall(graph_filter_init_tracefs);

/* The kernel command line */

static char graph_only_param[COMMAND_LINE_SIZE] __initdata;
static char graph_not_param[COMMAND_LINE_SIZE] __initdata;

static int __init graph_only_setup(char *str)
{
	ftrace_early_list(graph_only_param, str, "ftrace_graph_filter");
	return 1;
}
__setup("ftrace_graph_filter=", graph_only_setup);

static int __init graph_not_setup(char *str)
{
	ftrace_early_list(graph_not_param, str, "ftrace_graph_notrace");
	return 1;
}
__setup("ftrace_graph_notrace=", graph_not_setup);

static void __init graph_list_set_early(struct graph_list *list, char *words)
{
	struct graph_edit edit = { };
	char *word;

	guard(mutex)(&ftrace_lock);

	while ((word = strsep(&words, ","))) {
		if (*word && graph_edit_word(&edit, list, word))
			pr_warn("command line: \"%s\": %s\n", word,
				ftrace_word_errors[ftrace_why_no_site(word, NULL)]);
	}
	if (graph_edit_commit(&edit, list))
		pr_warn("%s of the command line is not applied\n", list->name);
	graph_edit_destroy(&edit);
}

/* The tracer that ftrace= names starts with the core_initcalls. */
static int __init graph_filter_init(void)
{
	if (ftrace_disabled)
		return 0;
	if (graph_only_param[0])
		graph_list_set_early(&graph_only, graph_only_param);
	if (graph_not_param[0])
		graph_list_set_early(&graph_not, graph_not_param);
	return 0;
}
early_initcall(graph_filter_init);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/ftrace_graph_filter_kunit.c"
#endif
