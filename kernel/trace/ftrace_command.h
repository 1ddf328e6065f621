/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "function:command:parameter" in the filter files. See ftrace_command.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_COMMAND_H
#define _KERNEL_TRACE_FTRACE_COMMAND_H

#include <linux/types.h>

struct seq_file;
struct trace_array;

int ftrace_command_run(struct trace_array *tr, char *func, char *command, bool enable);
void ftrace_command_show(struct seq_file *m, struct trace_array *tr);
void ftrace_command_forget_range(unsigned long start, unsigned long end);

#endif /* _KERNEL_TRACE_FTRACE_COMMAND_H */
