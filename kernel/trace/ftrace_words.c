// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of words: those that are written to the filter files, with white space
 * between them, and those on the kernel command line, with commas.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "ftrace_words.h"
#include "trace.h"

/**
 * ftrace_parse_words - hand the words of a write to a function, one by one
 * @parser: holds a word that a write left unfinished; empty after an error
 * @ubuf: what is written
 * @cnt: how much
 * @ppos: file position
 * @take: gets @data and each whole word, which it may change; or, with @cut set,
 *	  one that is too long, as far as there was room for it
 * @data: handed to @take
 * @took: set once a whole word was accepted
 *
 * Context: process context, sleeps.
 * Return: @cnt; or the first negative answer of @take; -EINVAL if a word is too long;
 * -EFAULT, -EINTR.
 */
ssize_t ftrace_parse_words(struct trace_parser *parser, const char __user *ubuf, size_t cnt,
			   loff_t *ppos, ftrace_word_func_t take, void *data, bool *took)
{
	ssize_t ret = 0;

	for (size_t done = 0; done < cnt; done += ret) {
		int err;

		ret = trace_get_user(parser, ubuf + done, cnt - done, ppos);
		if (ret < 0) {
			/* The word is cut where the buffer ends. */
			parser->buffer[parser->idx] = '\0';
			if (ret == -EINVAL)
				take(data, parser->buffer, true);
			goto fail;
		}
		if (!trace_parser_loaded(parser) || trace_parser_cont(parser))
			continue;
		err = take(data, parser->buffer, false);
		trace_parser_clear(parser);
		*took |= err >= 0;
		if (err >= 0 && fatal_signal_pending(current))
			err = -EINTR;
		if (err < 0) {
			ret = err;
			goto fail;
		}
		cond_resched();
	}
	return cnt;

fail:
	parser->fail = false;
	trace_parser_clear(parser);
	return ret;
}

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
