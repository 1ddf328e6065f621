/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_HEAD_H
#define _TRACE_HEAD_H

#include <linux/sched.h>
#include <linux/types.h>

#include "trace_text.h"

struct trace_iterator;

#define TRACE_HEAD_TASKS	8
/* "%16s-%-7d (%7d) [%03d] ", of numbers of up to 11 characters; whole pieces */
#define TRACE_HEAD_TASK_MAX	64

/**
 * struct trace_head_task - a task on a CPU, as a line begins with it
 * @pid: the task
 * @cpu: the CPU
 * @tgid: whether the thread group is told
 * @len: of @text; 0 without one
 * @text: the text
 */
struct trace_head_task {
	int	pid;
	int	cpu;
	bool	tgid;
	u8	len;
	char	text[TRACE_HEAD_TASK_MAX];
};

/**
 * struct trace_head - the beginnings of lines that were written
 * @second: the first microsecond of the second of the last line
 * @second_len: of @second_text
 * @second_text: that second, with the blank before and the point behind it
 * @context: the flags and the preempt count of @context_text
 * @context_text: the 5 characters of the context
 * @tasks: the last task of a CPU, of those with the same remainder
 */
struct trace_head {
	u64			second;
	u8			second_len;
	char			second_text[2 * TRACE_TEXT_PIECE];
	u16			context;
	char			context_text[TRACE_TEXT_PIECE];
	struct trace_head_task	tasks[TRACE_HEAD_TASKS];
};

void trace_head_init(struct trace_head *head);
void trace_head_forget(struct trace_head *head);
int trace_print_context(struct trace_iterator *iter);
void trace_print_time(struct trace_iterator *iter, u64 ts);

#endif /* _TRACE_HEAD_H */
