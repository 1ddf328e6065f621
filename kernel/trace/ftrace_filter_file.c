// SPDX-License-Identifier: GPL-2.0
/*
 * The files set_ftrace_filter and set_ftrace_notrace, and the parameters of the
 * kernel command line in their place.
 *
 * A word is one of
 *
 *	PATTERN			a name, a glob, or the number of a line of
 *				available_filter_functions (ftrace_match.c)
 *	PATTERN:mod:MODULE	only in that module, loaded or not; both may be
 *				globs, an empty or * MODULE stands for any
 *	PATTERN:COMMAND[:ARGS]	see ftrace_command.c
 *
 * and a leading ! takes away instead of adding.
 *
 * ftrace_words.c has the files, this has the meaning of their words.
 *
 * Lock order:
 *	ftrace_word_file.lock > ftrace_command_mutex > ftrace_lock
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "ftrace_command.h"
#include "ftrace_filter.h"
#include "ftrace_filter_file.h"
#include "ftrace_match.h"
#include "ftrace_ops.h"
#include "ftrace_report.h"
#include "ftrace_site_set.h"
#include "ftrace_words.h"
#include "trace.h"

/* The list is a side of the filter of the owner, or of the instance's ops. */
static struct ftrace_filter *filter_of(const struct ftrace_word_file *f)
{
	struct ftrace_ops *ops = f->owner ?: f->tr->ops;

	lockdep_assert_held(&ftrace_lock);

	ftrace_ops_init(ops);
	return ops->filter;
}

static const struct list_head *filter_later_of(const struct ftrace_word_file *f)
{
	return ftrace_filter_later(filter_of(f), f->exclude);
}

/* Says why no site is matched by @func, which may have a ! before it. */
static int filter_no_site(struct ftrace_word_file *f, const char *func, const char *module)
{
	bool remove = func[0] == '!';

	f->pos = remove;
	if (remove && module)
		f->why = FTRACE_WORD_NOT_LISTED;
	else
		f->why = ftrace_why_no_site(func + remove, module);
	return -EINVAL;
}

static bool filter_has_sites(const char *func)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	guard(mutex)(&ftrace_lock);
	sites = ftrace_match_sites(func, NULL);
	if (IS_ERR(sites))
		return false;
	ftrace_site_set_drop_quarantined(sites);
	return sites->nr;
}

static int filter_take_command(struct ftrace_word_file *f, char *func, char *command)
{
	int ret = -EINVAL;

	f->why = FTRACE_WORD_NO_COMMAND;
	f->pos = command - func;
	if ((f->flags & FTRACE_ITER_DO_PROBES) && f->tr)
		ret = ftrace_command_run(f->tr, func, command, !f->exclude);
	if (ret == -EINVAL && !filter_has_sites(func + (func[0] == '!')))
		filter_no_site(f, func, NULL);
	return ret;
}

static int filter_take(struct ftrace_word_file *f, char *word)
{
	char *rest = strchr(word, ':');
	int ret;

	if (rest)
		*rest++ = '\0';
	if (rest && strncmp(rest, "mod:", 4))
		return filter_take_command(f, word, rest);

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_edit_pattern(&f->edit, word, rest ? rest + 4 : NULL,
					  filter_later_of(f));
	return ret == -EINVAL ? filter_no_site(f, word, rest) : ret;
}

static const struct ftrace_site_set *filter_sites(const struct ftrace_word_file *f)
{
	const struct ftrace_filter *filter = filter_of(f);

	return f->exclude ? filter->not : filter->only;
}

static int filter_commit(struct ftrace_word_file *f)
{
	return ftrace_edit_commit(&f->edit, filter_of(f), f->exclude);
}

/* The words that wait for modules, and the function commands. */
static void filter_show_rest(struct seq_file *m, const struct ftrace_word_file *f)
{
	const struct ftrace_word *later;

	list_for_each_entry(later, filter_later_of(f), node)
		seq_printf(m, "%s:mod:%s\n", later->func, later->module);
	if ((f->flags & FTRACE_ITER_DO_PROBES) && f->tr)
		ftrace_command_show(m, f->tr);
}

static const struct ftrace_word_ops filter_word_ops = {
	.name		= { "set_ftrace_filter", "set_ftrace_notrace" },
	.take		= filter_take,
	.sites		= filter_sites,
	.commit		= filter_commit,
	.show_rest	= filter_show_rest,
};

/**
 * ftrace_regex_open - open a file that shows and sets a filter
 * @tr: the instance; NULL to take it from the ops
 * @ops: whose filter it is; NULL for the instance's
 * @flag: FTRACE_ITER_NOTRACE for the sites to leave out; FTRACE_ITER_DO_PROBES
 *	  if function commands are shown and accepted
 * @inode: not used
 * @file: the file, written with ftrace_word_file_write() and closed with
 *	  ftrace_word_file_release()
 *
 * Context: process context, sleeps.
 * Return: 0, -ENODEV, -EPERM when locked down, or -ENOMEM.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	if (!tr) {
		ops = ops ?: &global_ops;
		tr = ops->private;
	}
	return ftrace_word_file_open(file, &filter_word_ops, tr, ops, flag);
}

/* set_ftrace_filter and set_ftrace_notrace */
static const struct file_operations filter_fops[2];

static int filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, file->f_op == &filter_fops[1] ?
				 FTRACE_ITER_NOTRACE : FTRACE_ITER_FILTER | FTRACE_ITER_DO_PROBES,
				 inode, file);
}

static const struct file_operations filter_fops[] = {
	[0 ... 1] = {
		.open		= filter_open,
		.read		= seq_read,
		.write		= ftrace_word_file_write,
		.llseek		= tracing_lseek,
		.release	= ftrace_word_file_release,
	},
};

/**
 * ftrace_create_filter_files - make the filter files of an instance
 * @tr: the instance; NULL for the top one
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr, &filter_fops[0]);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr, &filter_fops[1]);
}

/**
 * ftrace_destroy_filter_files - forget the filter of an ops that will be freed
 * @ops: the ops
 *
 * The files are gone already.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	ops->flags |= FTRACE_OPS_FL_DELETED;
	/* After ftrace_kill() it goes on, and with it the filter. */
	if ((ops->flags & FTRACE_OPS_FL_ENABLED) && unregister_ftrace_function(ops))
		return;
	ftrace_free_filter(ops);
}

/* The kernel command line */

DEFINE_EARLY_LIST(filter_param, "ftrace_filter");
DEFINE_EARLY_LIST(notrace_param, "ftrace_notrace");

/* The startup tests leave a filter of the command line alone. */
bool ftrace_filter_param __initdata;

static void __init set_early_filter_locked(struct ftrace_ops *ops, char *buf, bool exclude)
{
	struct ftrace_edit edit;
	char *word;

	lockdep_assert_held(&ftrace_lock);

	ftrace_ops_init(ops);
	ftrace_edit_init(&edit, false);
	while ((word = strsep(&buf, ","))) {
		char *module = strstr(word, ":mod:");

		if (!*word)
			continue;
		if (module) {
			*module = '\0';
			module += strlen(":mod:");
		}
		if (ftrace_edit_pattern(&edit, word, module,
					ftrace_filter_later(ops->filter, exclude)))
			pr_warn("command line: \"%s\": %s\n", word,
				ftrace_word_errors[ftrace_why_no_site(word, module)]);
	}
	if (ftrace_edit_commit(&edit, ops->filter, exclude))
		pr_warn("filters of the command line are not applied\n");
	ftrace_edit_destroy(&edit);
}

/**
 * ftrace_set_early_filter - set a filter from the command line
 * @ops: whose filter it is
 * @buf: patterns with commas between; changed
 * @enable: nonzero for the sites that it wants, 0 for those to leave out
 *
 * Context: boot, after ftrace_init().
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	guard(mutex)(&ftrace_lock);
	set_early_filter_locked(ops, buf, !enable);
}

/**
 * ftrace_set_early_filters - apply ftrace_filter= and ftrace_notrace=
 *
 * Context: boot, ftrace_lock is held.
 */
void __init ftrace_set_early_filters(void)
{
	ftrace_filter_param = filter_param[0] || notrace_param[0];
	if (filter_param[0])
		set_early_filter_locked(&global_ops, filter_param, false);
	if (notrace_param[0])
		set_early_filter_locked(&global_ops, notrace_param, true);
}
