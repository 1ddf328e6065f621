/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists of words. See ftrace_words.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_WORDS_H
#define _KERNEL_TRACE_FTRACE_WORDS_H

#include <linux/init.h>
#include <linux/types.h>

struct trace_parser;

/**
 * typedef ftrace_word_func_t - take a word
 * @data: the caller's
 * @word: the word, which may be changed
 * @cut: there was no room for all of it
 *
 * Return: 0 or more if the word is accepted, or a negative errno.
 */
typedef int (*ftrace_word_func_t)(void *data, char *word, bool cut);

ssize_t ftrace_parse_words(struct trace_parser *parser, const char __user *ubuf, size_t cnt,
			   loff_t *ppos, ftrace_word_func_t take, void *data, bool *took);
void __init ftrace_early_list(char *to, const char *list, const char *param);

#endif /* _KERNEL_TRACE_FTRACE_WORDS_H */
