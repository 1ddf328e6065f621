// SPDX-License-Identifier: GPL-2.0
/*
 * The files set_ftrace_filter and set_ftrace_notrace, and what the kernel command
 * line says in their place.
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
 * Invariants:
 *  1. What is written is collected in an edit, and the filter is changed when the
 *     file is closed: two writers both get what they wrote.
 *  2. A write() takes all of its words, or fails and takes none. A file to which
 *     nothing but failing writes went leaves its filter alone, even if it was
 *     opened to be truncated.
 *
 * Lock order:
 *	filter_file.lock > ftrace_command_mutex > ftrace_lock
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
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "ftrace_command.h"
#include "ftrace_filter.h"
#include "ftrace_filter_file.h"
#include "ftrace_match.h"
#include "ftrace_ops.h"
#include "ftrace_report.h"
#include "ftrace_site_set.h"
#include "ftrace_words.h"
#include "trace.h"

#define FILTER_WORD_MAX		(KSYM_NAME_LEN + MODULE_NAME_LEN + 128)

/**
 * struct filter_file - an open set_ftrace_filter or set_ftrace_notrace
 * @lock: covers @edit, @wrote, @failed and @parser, as pwrite() is not one at a time;
 *	  is taken before ftrace_command_mutex and ftrace_lock
 * @tr: its instance, or NULL
 * @ops: whose filter it is
 * @exclude: it is set_ftrace_notrace
 * @probes: function commands are listed and accepted
 * @edit: what was written
 * @wrote: some word was taken
 * @failed: some write failed
 * @parser: holds a word that a write left unfinished
 * @shown: for reading: the sites as of when the file was opened
 */
struct filter_file {
	/* One write at a time */
	struct mutex		lock;
	struct trace_array	*tr;
	struct ftrace_ops	*ops;
	bool			exclude;
	bool			probes;
	struct ftrace_edit	edit;
	bool			wrote;
	bool			failed;
	struct trace_parser	parser;
	struct ftrace_site_set	*shown;
};

static const char *filter_file_name(const struct filter_file *f)
{
	return f->exclude ? "set_ftrace_notrace" : "set_ftrace_filter";
}

static void filter_file_log(struct filter_file *f, const char *word,
			    enum ftrace_word_error error, unsigned int pos)
{
	ftrace_report_word(f->tr, filter_file_name(f), word, error, pos);
}

/* No site that is matched by @func, which may have a ! before it. */
static void filter_file_log_func(struct filter_file *f, const char *word, const char *func,
				 const char *module)
{
	bool remove = func[0] == '!';
	enum ftrace_word_error why = FTRACE_WORD_NOT_LISTED;

	if (!remove || !module)
		why = ftrace_why_no_site(func + remove, module);
	filter_file_log(f, word, why, remove);
}

static bool filter_has_sites(const char *func)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;

	guard(mutex)(&ftrace_lock);
	sites = ftrace_match_sites(func, NULL);
	if (IS_ERR(sites))
		return false;
	ftrace_site_set_drop_lost(sites);
	return sites->nr;
}

static int filter_file_command(struct filter_file *f, char *func, char *command)
{
	if (!f->probes || !f->tr)
		return -EINVAL;
	return ftrace_command_run(f->tr, func, command, !f->exclude);
}

static int filter_file_word(void *data, char *word, bool cut)
{
	char *copy __free(kfree) = kstrdup(word, GFP_KERNEL);
	struct filter_file *f = data;
	char *func = word, *rest = strchr(word, ':');
	unsigned int pos = rest ? rest + 1 - word : 0;
	int ret;

	if (!copy)
		return -ENOMEM;
	if (cut) {
		filter_file_log(f, copy, FTRACE_WORD_TOO_LONG, 0);
		return -EINVAL;
	}
	if (rest)
		*rest++ = '\0';

	if (rest && strncmp(rest, "mod:", 4)) {
		ret = filter_file_command(f, func, rest);
		if (ret != -EINVAL)
			return ret;
		if (filter_has_sites(func + (func[0] == '!')))
			filter_file_log(f, copy, FTRACE_WORD_NO_COMMAND, pos);
		else
			filter_file_log_func(f, copy, func, NULL);
		return ret;
	}

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_edit_pattern(&f->edit, func, rest ? rest + 4 : NULL,
					  ftrace_filter_later(f->ops->filter, f->exclude));
	if (ret == -EINVAL)
		filter_file_log_func(f, copy, func, rest);
	return ret;
}

static struct filter_file *filter_file_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;
	return file->private_data;
}

static ssize_t filter_file_write_locked(struct filter_file *f, const char __user *ubuf,
					size_t cnt, loff_t *ppos)
{
	struct ftrace_edit_mark mark;
	bool took = false;
	ssize_t ret;

	lockdep_assert_held(&f->lock);

	if (!cnt)
		return 0;
	if (ftrace_disabled)
		return -ENODEV;
	ret = ftrace_edit_mark(&f->edit, &mark);
	if (ret)
		return ret;

	ret = ftrace_parse_words(&f->parser, ubuf, cnt, ppos, filter_file_word, f, &took);
	if (ret >= 0) {
		f->wrote |= took;
	} else {
		ftrace_edit_back(&f->edit, &mark);
		f->failed = true;
	}
	ftrace_edit_mark_free(&mark);
	return ret;
}

static ssize_t filter_file_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	struct filter_file *f = filter_file_of(file);

	guard(mutex)(&f->lock);
	return filter_file_write_locked(f, ubuf, cnt, ppos);
}

/**
 * ftrace_filter_write - write() of set_ftrace_filter and its like
 * @file: opened with ftrace_regex_open()
 * @ubuf: what is written
 * @cnt: how much
 * @ppos: file position
 *
 * Return: @cnt; or, with nothing of this write kept, -EINVAL if a word matches
 * no function or is no command, -ENOMEM, -EFAULT, -EINTR, -ENODEV, or what a
 * command returned.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	return filter_file_write(file, ubuf, cnt, ppos);
}

/**
 * ftrace_notrace_write - write() of set_ftrace_notrace and its like
 * @file: as for ftrace_filter_write()
 * @ubuf: as there
 * @cnt: as there
 * @ppos: as there
 *
 * Return: as there.
 */
ssize_t ftrace_notrace_write(struct file *file, const char __user *ubuf, size_t cnt,
			     loff_t *ppos)
{
	return filter_file_write(file, ubuf, cnt, ppos);
}

/*
 * Lines of a filter file: the sites or the line that says that there are none
 * (line 0), what waits for modules, and the function commands in one go.
 */
static void *filter_seq_start(struct seq_file *m, loff_t *pos)
{
	struct filter_file *f = m->private;

	mutex_lock(&ftrace_lock);
	if (*pos > max(ftrace_site_set_nr(f->shown), 1u))
		return NULL;
	/* 0 must not be NULL. */
	return (void *)(unsigned long)(*pos + 1);
}

static void *filter_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct filter_file *f = m->private;

	++*pos;
	if (*pos > max(ftrace_site_set_nr(f->shown), 1u))
		return NULL;
	return (void *)(unsigned long)(*pos + 1);
}

static void filter_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static void filter_show_later(struct seq_file *m, struct filter_file *f)
{
	struct ftrace_later *later;

	list_for_each_entry(later, ftrace_filter_later(f->ops->filter, f->exclude), node)
		seq_printf(m, "%s:mod:%s\n", later->func, later->module);
}

static int filter_seq_show(struct seq_file *m, void *v)
{
	struct filter_file *f = m->private;
	unsigned long line = (unsigned long)v - 1;

	if (line < ftrace_site_set_nr(f->shown)) {
		seq_printf(m, "%ps\n", (void *)f->shown->ip[line]);
	} else if (!f->shown) {
		if (line)
			goto tail;
		seq_puts(m, f->exclude ? "#### no functions disabled ####\n" :
					 "#### all functions enabled ####\n");
	} else if (line) {
		goto tail;
	}
	return 0;
tail:
	filter_show_later(m, f);
	if (f->probes && f->tr)
		ftrace_command_show(m, f->tr);
	return 0;
}

static const struct seq_operations filter_seq_ops = {
	.start	= filter_seq_start,
	.next	= filter_seq_next,
	.stop	= filter_seq_stop,
	.show	= filter_seq_show,
};

static void filter_file_free(struct filter_file *f)
{
	ftrace_edit_destroy(&f->edit);
	trace_parser_put(&f->parser);
	ftrace_site_set_free(f->shown);
	if (f->tr)
		trace_array_put(f->tr);
	kfree(f);
}

static int filter_file_open_for_read(struct filter_file *f, struct file *file)
{
	struct ftrace_filter *filter = f->ops->filter;
	int ret = seq_open(file, &filter_seq_ops);

	if (ret)
		return ret;
	((struct seq_file *)file->private_data)->private = f;

	guard(mutex)(&ftrace_lock);
	if (f->exclude ? !filter->not : !filter->only)
		return 0;
	f->shown = ftrace_site_set_dup(f->exclude ? filter->not : filter->only);
	if (f->shown)
		return 0;
	seq_release(NULL, file);
	return -ENOMEM;
}

/**
 * ftrace_regex_open - open a file that shows and sets a filter
 * @tr: the instance; NULL to take it from the ops
 * @ops: whose filter it is; NULL for the instance's
 * @flag: FTRACE_ITER_NOTRACE for the sites to leave out; FTRACE_ITER_DO_PROBES
 *	  if function commands are shown and accepted
 * @inode: not used
 * @file: the file
 *
 * Context: process context, sleeps.
 * Return: 0, -ENODEV, -EPERM when locked down, or -ENOMEM.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	struct filter_file *f;
	int ret;

	if (ftrace_disabled)
		return -ENODEV;
	if (!tr) {
		ops = ops ?: &global_ops;
		tr = ops->private;
	}
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		if (tr)
			trace_array_put(tr);
		return -ENOMEM;
	}
	mutex_init(&f->lock);
	f->tr = tr;
	f->ops = ops ?: tr->ops;
	f->exclude = flag & FTRACE_ITER_NOTRACE;
	f->probes = flag & FTRACE_ITER_DO_PROBES;
	ftrace_edit_init(&f->edit, (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC));
	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_init(f->ops);

	ret = trace_parser_get_init(&f->parser, FILTER_WORD_MAX) ? -ENOMEM : 0;
	if (!ret) {
		if (file->f_mode & FMODE_READ)
			ret = filter_file_open_for_read(f, file);
		else
			file->private_data = f;
	}
	if (ret)
		filter_file_free(f);
	return ret;
}

static void filter_file_commit(struct filter_file *f)
{
	int ret;

	/* The last word may come without a newline. */
	if (trace_parser_loaded(&f->parser)) {
		if (filter_file_word(f, f->parser.buffer, false))
			f->failed = true;
		else
			f->wrote = true;
	}
	if (f->failed && !f->wrote)
		return;
	if (!f->wrote && !f->edit.clear)
		return;

	guard(mutex)(&ftrace_lock);
	ret = ftrace_edit_commit(&f->edit, f->ops->filter, f->exclude);
	if (ret)
		pr_warn("%s is unchanged: %pe\n", filter_file_name(f), ERR_PTR(ret));
}

/**
 * ftrace_regex_release - close a file that shows and sets a filter, and apply
 * what was written
 * @inode: not used
 * @file: the file
 *
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	struct filter_file *f = filter_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		filter_file_commit(f);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	filter_file_free(f);
	return 0;
}

static int filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL,
				 FTRACE_ITER_FILTER | FTRACE_ITER_DO_PROBES, inode, file);
}

static int notrace_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE, inode, file);
}

static const struct file_operations filter_fops = {
	.open		= filter_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.read		= seq_read,
	.write		= ftrace_notrace_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_create_filter_files - make the filter files of an instance
 * @tr: the instance; NULL for the top one
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr, &filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr, &notrace_fops);
}

/**
 * ftrace_destroy_filter_files - forget the filter of an ops that will be freed
 * @ops: the ops
 *
 * The files are gone already.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	ops->flags |= FTRACE_OPS_FL_DELETED;
	ftrace_free_filter(ops);
}

/* The kernel command line */

static char filter_param[COMMAND_LINE_SIZE] __initdata;
static char notrace_param[COMMAND_LINE_SIZE] __initdata;

/* The startup tests leave alone what the command line asked for. */
bool ftrace_filter_param __initdata;

static int __init filter_setup(char *str)
{
	ftrace_filter_param = true;
	ftrace_early_list(filter_param, str, "ftrace_filter");
	return 1;
}
__setup("ftrace_filter=", filter_setup);

static int __init notrace_setup(char *str)
{
	ftrace_filter_param = true;
	ftrace_early_list(notrace_param, str, "ftrace_notrace");
	return 1;
}
__setup("ftrace_notrace=", notrace_setup);

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
	if (filter_param[0])
		set_early_filter_locked(&global_ops, filter_param, false);
	if (notrace_param[0])
		set_early_filter_locked(&global_ops, notrace_param, true);
}
