/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracing on architectures that write one site after another.
 *
 * Such an architecture defines the functions below, and no more of ftrace_arch.h
 * than arch_ftrace_check_site(). kernel/trace/ftrace_generic.c does the rest by
 * calling them. Sites call FTRACE_ADDR, or FTRACE_REGS_ADDR where an ops asks for all
 * registers, and the code there calls the ops of the site.
 *
 * Included by ftrace.h, where HAVE_FTRACE_BATCHES is not selected.
 */
#ifndef _LINUX_FTRACE_GENERIC_H
#define _LINUX_FTRACE_GENERIC_H

#ifndef _LINUX_FTRACE_H
#error "include linux/ftrace.h"
#endif

struct module;

#ifndef FTRACE_ADDR
#define FTRACE_ADDR	((unsigned long)ftrace_caller)
#endif

#ifndef FTRACE_REGS_ADDR
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#define FTRACE_REGS_ADDR	((unsigned long)ftrace_regs_caller)
#else
#define FTRACE_REGS_ADDR	FTRACE_ADDR
#endif
#endif

/**
 * struct dyn_ftrace - a site, as the architecture's functions are told of it
 * @ip: the instruction that becomes a call
 * @flags: FTRACE_FL_CALL_OPS_EN if ftrace_find_unique_ops() knows the word at the site
 * @arch: the architecture's data
 *
 * It lasts for the call of the function. The site's record is a struct ftrace_record.
 */
struct dyn_ftrace {
	unsigned long		ip;
	unsigned long		flags;
	struct dyn_arch_ftrace	arch;
};

#define FTRACE_FL_CALL_OPS_EN		BIT(0)

/* For arch_ftrace_update_code(), which hands them on to ftrace_modify_all_code(). */
#define FTRACE_UPDATE_CALLS		BIT(0)
#define FTRACE_UPDATE_TRACE_FUNC	BIT(1)
#define FTRACE_MAY_SLEEP		BIT(2)

/*
 * The architecture's. Each compares the text with the instruction that should be there,
 * and returns 0 or a negative errno. ftrace_init_nop() makes a NOP of the compiler's
 * instruction; an architecture whose compiler leaves a call of MCOUNT_ADDR need not define it.
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr);
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr);
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr);
int ftrace_update_ftrace_func(ftrace_func_t func);

#ifndef ftrace_init_nop
static inline int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	return ftrace_make_nop(mod, rec, MCOUNT_ADDR);
}
#endif

#ifndef ftrace_need_init_nop
#define ftrace_need_init_nop()	(!__is_defined(CC_USING_NOP_MCOUNT))
#endif

/* The architecture's, if it does something there: else these are common code's. */
int ftrace_dyn_arch_init(void);
void ftrace_arch_code_modify_prepare(void);
void ftrace_arch_code_modify_post_process(void);
void arch_ftrace_update_code(int command);

/* The architecture calls it. */
void ftrace_modify_all_code(int command);

/* The ops that ftrace_caller passes on, without CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS. */
extern struct ftrace_ops *function_trace_op;

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/*
 * The word at a site points to an ops whose func ftrace_caller calls, or whose
 * direct_call it goes to. The one of a callset calls all ops of it.
 */
extern const struct ftrace_ops ftrace_nop_ops;
extern const struct ftrace_ops ftrace_list_ops;
const struct ftrace_ops *ftrace_find_unique_ops(const struct dyn_ftrace *rec);
#endif

#endif /* _LINUX_FTRACE_GENERIC_H */
