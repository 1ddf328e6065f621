/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words about lists of functions. See words.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_WORDS_H
#define _KERNEL_TRACE_CALLSET_WORDS_H

#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <asm/setup.h>

#include "report.h"
#include "../trace.h"

struct file;
struct inode;
struct ftrace_site_set;
struct ftrace_word_file;
struct seq_file;

/**
 * struct ftrace_word - a word about a list of functions
 * @node: in an edit, or in a filter's list of words that wait for their modules
 * @sites: the sites that match, or NULL
 * @remove: take away instead of adding
 * @func: pattern for the function; NULL if @module is
 * @module: pattern for the module that the word waits for, or no longer waits
 *	    for; NULL for a word about @sites alone
 */
struct ftrace_word {
	struct list_head	node;
	struct ftrace_site_set	*sites;
	bool			remove;
	const char		*func;
	const char		*module;
};

/**
 * struct ftrace_edit - a change to a list, being collected
 * @words: the words, in order
 * @mark: the last word before the present write, or @words
 * @clear: start from an empty list
 */
struct ftrace_edit {
	struct list_head	words;
	struct list_head	*mark;
	bool			clear;
};

/**
 * struct ftrace_word_ops - the files of words of one kind
 * @name: name of the file for the functions to trace, and of the one for those to
 *	  leave out
 * @take: adds a word, which it may cut up, to the file's edit. Returns 0 or more; or
 *	  a negative errno, of which -EINVAL is logged with the file's @why and @pos;
 *	  %FTRACE_WORD_THROTTLED is also logged if the word is taken.
 *	  Only the lock of the file is held.
 * @sites: the sites that are listed, or NULL if there is no list; ftrace_lock is held
 * @commit: makes the file's edit to the list; ftrace_lock is held
 * @show_rest: shows the list beside its sites; ftrace_lock is held. May be NULL
 */
struct ftrace_word_ops {
	const char	*name[2];
	int		(*take)(struct ftrace_word_file *f, char *word);
	const struct ftrace_site_set *(*sites)(const struct ftrace_word_file *f);
	int		(*commit)(struct ftrace_word_file *f);
	void		(*show_rest)(struct seq_file *m, const struct ftrace_word_file *f);
};

/**
 * struct ftrace_word_file - an open file of words
 * @node: in the list of open files
 * @ops: the kind of file
 * @tr: its instance, which is not freed before the file is closed; or NULL
 * @owner: the owner of the list, for the ops
 * @exclude: it lists functions to leave out
 * @flags: for the ops
 * @lock: covers the members below it, as pwrite() is not one at a time; is taken
 *	  before any other lock of function tracing
 * @edit: its words
 * @wrote: some word was taken
 * @failed: some write failed
 * @why: why a word was refused
 * @pos: where in the word
 * @parser: holds a word that a write left unfinished
 * @shown: for reading: the sites as of when the file was opened
 * @cursor: where the names of the kernel's own are
 * @word: a copy of the word, to be cut up
 */
struct ftrace_word_file {
	struct list_head		node;
	const struct ftrace_word_ops	*ops;
	struct trace_array		*tr;
	void				*owner;
	bool				exclude;
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
	struct kallsyms_cursor		cursor;
	char				word[];
};

void ftrace_words_free(struct list_head *words, const struct list_head *mark);
void ftrace_words_forget_range(unsigned long start, unsigned long end);
void ftrace_edit_init(struct ftrace_edit *edit, bool clear);
void ftrace_edit_destroy(struct ftrace_edit *edit);
int ftrace_edit_add(struct ftrace_edit *edit, const struct ftrace_word *said);
struct ftrace_site_set *ftrace_edit_result(const struct ftrace_edit *edit,
					   const struct ftrace_site_set *old);
bool ftrace_edit_finds(const struct ftrace_edit *edit, const struct ftrace_site_set *old,
		       const struct ftrace_site_set *sites);
bool ftrace_edit_finds_waiting(const struct ftrace_edit *edit, const struct list_head *list,
			       const struct ftrace_word *said);
bool ftrace_edit_leaves_waiting(const struct ftrace_edit *edit, const struct list_head *list);
void ftrace_edit_apply_waiting(struct ftrace_edit *edit, struct list_head *list);

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

#endif /* _KERNEL_TRACE_CALLSET_WORDS_H */
