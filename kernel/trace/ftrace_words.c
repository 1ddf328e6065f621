// SPDX-License-Identifier: GPL-2.0
/*
 * Files of words: what is written to one is cut into words, of which each says
 * something about a list of functions, and what is read is the list. And lists of
 * words on the kernel command line, with commas between.
 *
 * What the words mean, and where the list is, is the affair of those who open
 * the files (struct ftrace_word_ops).
 *
 * Invariants:
 *  1. What is written is collected in an edit, and the list is changed when the
 *     file is closed: two writers both get what they wrote.
 *  2. A write() takes all of its words, or fails and takes none. A file to which
 *     nothing but failing writes went leaves its list alone, even if it was
 *     opened to be truncated.
 *
 * Lock order: ftrace_word_file.lock > ftrace_lock, and whatever the ops take.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ftrace_edit.h"
#include "ftrace_ops.h"
#include "ftrace_report.h"
#include "ftrace_site_set.h"
#include "ftrace_words.h"
#include "trace.h"

static struct ftrace_word_file *word_file_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;
	return file->private_data;
}

/**
 * ftrace_word_file_excludes - whether a file lists what is left out
 * @f: the file
 *
 * Context: any.
 * Return: true for the one that the second name of its kind is for.
 */
bool ftrace_word_file_excludes(const struct ftrace_word_file *f)
{
	return f->flags & FTRACE_ITER_NOTRACE;
}

static const char *word_file_name(const struct ftrace_word_file *f)
{
	return f->ops->name[ftrace_word_file_excludes(f)];
}

/* Writing */

/* The log shows the word as it was written, so a copy is what is cut up. */
static int word_file_take(struct ftrace_word_file *f, bool cut)
{
	char *word __free(kfree) = kstrdup(f->parser.buffer, GFP_KERNEL);
	int ret = -EINVAL;

	if (!word)
		return -ENOMEM;
	f->why = FTRACE_WORD_TOO_LONG;
	f->pos = 0;
	if (!cut)
		ret = f->ops->take(f, word);
	if (ret == -EINVAL)
		ftrace_report_word(f->tr, word_file_name(f), f->parser.buffer, f->why, f->pos);
	return ret;
}

static ssize_t word_file_parse(struct ftrace_word_file *f, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct trace_parser *parser = &f->parser;
	ssize_t read;
	int ret;

	for (size_t done = 0; done < cnt; done += read) {
		read = trace_get_user(parser, ubuf + done, cnt - done, ppos);
		if (read < 0) {
			/* The word is cut where the buffer ends. */
			parser->buffer[parser->idx] = '\0';
			if (read == -EINVAL)
				word_file_take(f, true);
			return read;
		}
		if (!trace_parser_loaded(parser) || trace_parser_cont(parser))
			continue;
		ret = word_file_take(f, false);
		if (ret < 0)
			return ret;
		trace_parser_clear(parser);
		f->wrote = true;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return cnt;
}

/* Undoes what was added to the edit since it was marked. */
static void word_file_fail(struct ftrace_word_file *f)
{
	ftrace_edit_back(&f->edit);
	f->parser.fail = false;
	trace_parser_clear(&f->parser);
	f->failed = true;
}

/**
 * ftrace_word_file_write - write() of a file of words
 * @file: opened with ftrace_word_file_open()
 * @ubuf: what is written
 * @cnt: how much
 * @ppos: file position
 *
 * Return: @cnt; or, with nothing of this write kept, -EINVAL if a word is too long,
 * -ENODEV after ftrace_kill(), -ENOMEM, -EFAULT, -EINTR, or what the file's ops
 * answer to a word, -EINVAL for one that means nothing.
 */
ssize_t ftrace_word_file_write(struct file *file, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct ftrace_word_file *f = word_file_of(file);
	bool wrote;
	ssize_t ret;

	if (cnt && ftrace_disabled)
		return -ENODEV;

	guard(mutex)(&f->lock);

	wrote = f->wrote;
	ftrace_edit_mark(&f->edit);
	ret = word_file_parse(f, ubuf, cnt, ppos);
	if (ret < 0) {
		word_file_fail(f);
		f->wrote = wrote;
	}
	return ret;
}

static void word_file_commit(struct ftrace_word_file *f)
{
	int ret;

	/* The last word may come without a newline. */
	if (trace_parser_loaded(&f->parser)) {
		ftrace_edit_mark(&f->edit);
		if (word_file_take(f, false) < 0)
			word_file_fail(f);
		else
			f->wrote = true;
	}
	if (!f->wrote && (f->failed || !f->edit.clear))
		return;

	guard(mutex)(&ftrace_lock);
	ret = f->ops->commit(f);
	if (ret)
		pr_warn("%s is unchanged: %pe\n", word_file_name(f), ERR_PTR(ret));
}

/*
 * Reading: the sites, or the line that says that there is no list; then the rest
 * in one go.
 */
static void *word_seq_line(const struct ftrace_word_file *f, loff_t line)
{
	/* 0 must not be NULL. */
	return line <= (f->shown ? f->shown->nr : 1) ? (void *)(unsigned long)(line + 1) : NULL;
}

static void *word_seq_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&ftrace_lock);
	return word_seq_line(m->private, *pos);
}

static void *word_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return word_seq_line(m->private, *pos);
}

static void word_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int word_seq_show(struct seq_file *m, void *v)
{
	const struct ftrace_word_file *f = m->private;
	unsigned long line = (unsigned long)v - 1;

	if (line < ftrace_site_set_nr(f->shown))
		seq_printf(m, "%ps\n", (void *)f->shown->ip[line]);
	else if (!f->shown && !line)
		seq_puts(m, ftrace_word_file_excludes(f) ? "#### no functions disabled ####\n" :
							   "#### all functions enabled ####\n");
	else if (f->ops->show_rest)
		f->ops->show_rest(m, f);
	return 0;
}

static const struct seq_operations word_seq_ops = {
	.start	= word_seq_start,
	.next	= word_seq_next,
	.stop	= word_seq_stop,
	.show	= word_seq_show,
};

static int word_file_keep_sites(struct ftrace_word_file *f)
{
	const struct ftrace_site_set *sites;

	guard(mutex)(&ftrace_lock);
	sites = f->ops->sites(f);
	f->shown = ftrace_site_set_dup(sites);
	return sites && !f->shown ? -ENOMEM : 0;
}

/* Opening and closing */

static int word_file_init(struct ftrace_word_file *f, struct file *file)
{
	int ret;

	if (trace_parser_get_init(&f->parser, f->ops->max))
		return -ENOMEM;
	if (!(file->f_mode & FMODE_READ)) {
		file->private_data = f;
		return 0;
	}
	ret = word_file_keep_sites(f) ?: seq_open(file, &word_seq_ops);
	if (!ret)
		((struct seq_file *)file->private_data)->private = f;
	return ret;
}

static void word_file_free(struct ftrace_word_file *f)
{
	ftrace_edit_destroy(&f->edit);
	trace_parser_put(&f->parser);
	ftrace_site_set_free(f->shown);
	if (f->tr)
		trace_array_put(f->tr);
	kfree(f);
}

/**
 * ftrace_word_file_open - open a file of words
 * @file: the file
 * @ops: what kind of file it is
 * @tr: its instance, or NULL
 * @owner: for the ops
 * @flags: FTRACE_ITER_NOTRACE if it lists what is left out; more for the ops
 *
 * Context: process context, sleeps.
 * Return: 0, -ENODEV, -EPERM when locked down, or -ENOMEM.
 */
int ftrace_word_file_open(struct file *file, const struct ftrace_word_ops *ops,
			  struct trace_array *tr, void *owner, int flags)
{
	int ret = ftrace_disabled ? -ENODEV : tracing_check_open_get_tr(tr);
	struct ftrace_word_file *f;

	if (ret)
		return ret;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		if (tr)
			trace_array_put(tr);
		return -ENOMEM;
	}
	f->ops = ops;
	f->tr = tr;
	f->owner = owner;
	f->flags = flags;
	mutex_init(&f->lock);
	ftrace_edit_init(&f->edit, (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC));
	ret = word_file_init(f, file);
	if (ret)
		word_file_free(f);
	return ret;
}

/**
 * ftrace_word_file_release - close a file of words, and apply what was written
 * @inode: not used
 * @file: the file
 *
 * Return: 0.
 */
int ftrace_word_file_release(struct inode *inode, struct file *file)
{
	struct ftrace_word_file *f = word_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		word_file_commit(f);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	word_file_free(f);
	return 0;
}

/* The kernel command line */

/**
 * ftrace_early_list - keep a list from the command line until it can be used
 * @to: COMMAND_LINE_SIZE bytes
 * @list: words with commas between; may come from a bootconfig, and be longer
 * @param: what the user calls it
 *
 * Context: boot.
 */
void __init ftrace_early_list(char *to, const char *list, const char *param)
{
	char *cut;

	if (strscpy(to, list, COMMAND_LINE_SIZE) >= 0)
		return;
	/* Half a word may match what nobody asked for. */
	cut = strrchr(to, ',');
	*(cut ?: to) = '\0';
	pr_warn("%s= is too long: what follows \"%s\" is ignored\n", param,
		strrchr(to, ',') ? strrchr(to, ',') + 1 : to);
}
