/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files and lists of words. See ftrace_words.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_WORDS_H
#define _KERNEL_TRACE_FTRACE_WORDS_H

#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <asm/setup.h>

#include "ftrace_edit.h"
#include "ftrace_report.h"
#include "trace.h"

struct file;
struct inode;
struct seq_file;
struct ftrace_word_file;

/**
 * struct ftrace_word_ops - what the files of words of one kind do
 * @name: name of the file that says what is wanted, and of the one that says what
 *	  is left out
 * @max: how long a word can be, with the NUL after it
 * @take: adds what a word, which it may change, says to the file's edit. Returns 0
 *	  or more; or a negative errno, of which -EINVAL is logged with the
 *	  file's @why and @pos. No lock but that of the file is held.
 * @sites: the sites that are listed, or NULL if there is no list; ftrace_lock is held
 * @commit: does to the list what the file's edit says; ftrace_lock is held
 * @show_rest: shows what is listed besides sites; ftrace_lock is held. May be NULL
 */
struct ftrace_word_ops {
	const char	*name[2];
	int		max;
	int		(*take)(struct ftrace_word_file *f, char *word);
	const struct ftrace_site_set *(*sites)(const struct ftrace_word_file *f);
	int		(*commit)(struct ftrace_word_file *f);
	void		(*show_rest)(struct seq_file *m, const struct ftrace_word_file *f);
};

/**
 * struct ftrace_word_file - an open file of words
 * @ops: what kind of file it is
 * @tr: its instance, which is not freed before the file is closed; or NULL
 * @owner: what the list belongs to, as the file's open function said
 * @flags: FTRACE_ITER_NOTRACE if it lists what is left out; others as @ops has it
 * @lock: covers what follows, as pwrite() is not one at a time; is taken before any
 *	  other lock of function tracing
 * @edit: what was written
 * @wrote: some word was taken
 * @failed: some write failed
 * @why: what is wrong with a word that was refused
 * @pos: where in the word
 * @parser: holds a word that a write left unfinished
 * @shown: for reading: the sites as of when the file was opened
 */
struct ftrace_word_file {
	const struct ftrace_word_ops	*ops;
	struct trace_array		*tr;
	void				*owner;
	int				flags;
	/* One write at a time */
	struct mutex			lock;
	struct ftrace_edit		edit;
	bool				wrote;
	bool				failed;
	enum ftrace_word_error		why;
	unsigned int			pos;
	struct trace_parser		parser;
	struct ftrace_site_set		*shown;
};

bool ftrace_word_file_excludes(const struct ftrace_word_file *f);
int ftrace_word_file_open(struct file *file, const struct ftrace_word_ops *ops,
			  struct trace_array *tr, void *owner, int flags);
ssize_t ftrace_word_file_write(struct file *file, const char __user *ubuf, size_t cnt,
			       loff_t *ppos);
int ftrace_word_file_release(struct inode *inode, struct file *file);

void __init ftrace_early_list(char *to, const char *list, const char *param);

/* A list of words from the kernel command line, empty unless @param is there. */
#define DEFINE_EARLY_LIST(list, param)				\
static char list[COMMAND_LINE_SIZE] __initdata;			\
static int __init list##_setup(char *str)			\
{								\
	ftrace_early_list(list, str, param);			\
	return 1;						\
}								\
__setup(param "=", list##_setup)

#endif /* _KERNEL_TRACE_FTRACE_WORDS_H */
