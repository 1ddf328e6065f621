/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names and sites. See ftrace_match.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_MATCH_H
#define _KERNEL_TRACE_FTRACE_MATCH_H

#include "ftrace_report.h"

struct ftrace_site_set;
struct module;

struct ftrace_site_set *ftrace_match_sites(const char *glob, const char *module);
int ftrace_match_module(const char *glob, struct module *mod);
void ftrace_site_set_drop_quarantined(struct ftrace_site_set *set);
enum ftrace_word_error ftrace_why_no_site(const char *glob, const char *module);

#endif /* _KERNEL_TRACE_FTRACE_MATCH_H */
