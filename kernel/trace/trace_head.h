/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_HEAD_H
#define _TRACE_HEAD_H

#include <linux/types.h>

#include "trace_text.h"

struct trace_iterator;

#define TRACE_HEAD_BITS		6
/* "%16s-%-7d (%7d) [%03d] d..1.  1234.", of numbers of up to 11 characters, and of 20 */
#define TRACE_HEAD_TEXT		TRACE_TEXT_PIECES(16 + 1 + 11 + 14 + 15 + 5 + 22)

/**
 * struct trace_head_line - the beginning of a line, up to the point in front of its microseconds
 * @key: the read, the task and its context; 0 if there is no beginning
 * @second: the first microsecond of the second; 0 for a clock without seconds
 * @cpu: the CPU
 * @len: of @text
 * @text: the beginning
 */
struct trace_head_line {
	u64	key;
	u64	second;
	int	cpu;
	u8	len;
	char	text[TRACE_HEAD_TEXT];
};

/**
 * struct trace_head - beginnings of lines that were written
 * @read: the number of the read that they were written in, and hold for; from 1 on
 * @shape: the options that they were written with
 * @lines: hashed by task, context and CPU; of those that share a slot, the last one
 */
struct trace_head {
	u16			read;
	u64			shape;
	struct trace_head_line	lines[1 << TRACE_HEAD_BITS];
};

void trace_head_begin(struct trace_head *head);
int trace_print_context(struct trace_iterator *iter);
void trace_print_time(struct trace_iterator *iter, u64 ts);

#endif /* _TRACE_HEAD_H */
