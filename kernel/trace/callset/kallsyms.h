/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Symbols of trampolines and of freed init text. See kallsyms.c.
 */
#ifndef _KERNEL_TRACE_CALLSET_KALLSYMS_H
#define _KERNEL_TRACE_CALLSET_KALLSYMS_H

struct ftrace_table;
struct module;

#ifdef CONFIG_MODULES
void ftrace_kallsyms_save_init(const struct ftrace_table *table);
void ftrace_kallsyms_forget_module(const struct module *mod);
#else
static inline void ftrace_kallsyms_save_init(const struct ftrace_table *table)
{
}
#endif

#endif /* _KERNEL_TRACE_CALLSET_KALLSYMS_H */
