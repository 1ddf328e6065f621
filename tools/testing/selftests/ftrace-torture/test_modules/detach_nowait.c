// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a function of the kernel return at once, to show that the test of detaching fails if a
 * detach does not wait: nowait=FUNCTION has it loaded.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function;
module_param(function, charp, 0);
MODULE_PARM_DESC(function, "the function; it has no result, and holds nothing at its end");

static noinline void nothing(void)
{
	barrier();
}

static int instead(struct kprobe *p, struct pt_regs *regs)
{
	instruction_pointer_set(regs, (unsigned long)nothing);
	return 1;
}

static struct kprobe kprobe;

static int __init nowait_init(void)
{
	kprobe.symbol_name = function;
	kprobe.pre_handler = instead;
	return register_kprobe(&kprobe);
}
module_init(nowait_init);

static void __exit nowait_exit(void)
{
	unregister_kprobe(&kprobe);
}
module_exit(nowait_exit);

MODULE_DESCRIPTION("Takes the waiting out of a detach");
MODULE_LICENSE("GPL");
