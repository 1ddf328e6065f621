/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filter files, and filters of the command line. See ftrace_filter_file.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_FILTER_FILE_H
#define _KERNEL_TRACE_FTRACE_FILTER_FILE_H

#include <linux/init.h>

void __init ftrace_set_early_filters(void);

#endif /* _KERNEL_TRACE_FTRACE_FILTER_FILE_H */
