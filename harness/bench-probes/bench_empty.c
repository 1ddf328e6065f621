// SPDX-License-Identifier: GPL-2.0
/*
 * Calls a function that does nothing at each call of each function, as long as it is loaded.
 */
#include <linux/ftrace.h>
#include <linux/module.h>

static void notrace empty_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
}

static struct ftrace_ops empty_ops = {
	.func = empty_call,
};

static int __init empty_init(void)
{
	return register_ftrace_function(&empty_ops);
}

static void __exit empty_exit(void)
{
	unregister_ftrace_function(&empty_ops);
}

module_init(empty_init);
module_exit(empty_exit);
MODULE_DESCRIPTION("Empty callback at every function");
MODULE_LICENSE("GPL");
