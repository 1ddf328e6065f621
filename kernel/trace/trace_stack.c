// SPDX-License-Identifier: GPL-2.0
/*
 * The stack tracer: which function was called deepest on a task's stack, and how
 * much of the stack each of its callers took.
 *
 *	       high  +--------------------------+ top: task_stack_page() + THREAD_SIZE
 *		     | frame of the entry code  |
 *		     | return address into that |
 *		     | frame of caller          |
 *	fregs' sp -> | parent_ip, into caller   | as a function finds it at its entry
 *		     | ip, into function        | made by the CALL at its site
 *		     | the trampoline, this     |
 *		low  +--------------------------+
 *
 * The depth of a function is all that lies above the trampoline: its site's CALL is
 * counted, like any other call that the function makes, and the tracer is not.
 * As the trampoline says where the function's stack ends, nothing has to be known
 * of how much stack the trampoline and the callback take.
 *
 * The caller's part of the stack ends with the return address of its own call,
 * and so on up. An unwinder says which return addresses there are, not where:
 * they are looked for from parent_ip upwards. One that is not found, where
 * a probe has hooked the return, is left out, and its function's part
 * counts for the one below.
 *
 * Invariants:
 *  1. stack_max holds the last measurement, complete: it is changed and read
 *     under stack_max_lock, but for its size, which the callback compares with.
 *  2. While a CPU holds stack_max_lock its disable_stack_tracer is raised, so that
 *     functions that are traced there, and NMIs, pass over the lock.
 *
 * Lock order:
 *	stack_sysctl_mutex > ftrace_lock
 * stack_max_lock is taken with interrupts off, and nothing under it.
 * stack_sysctl_mutex covers stack_tracer_enabled and the registering.
 *
 * Contexts: stack_trace_call() runs wherever a function is called. It measures
 * where the CPU is on the stack of the current task, and never in NMIs, which can
 * begin there too. All the rest sleeps.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/panic.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

#include <asm/setup.h>

#include "ftrace_words.h"
#include "trace.h"

#define STACK_MAX_ENTRIES	500

/**
 * struct stack_max - the deepest stack so far
 * @size: bytes of it; can be set, and then says nothing about the rest
 * @nr: number of entries
 * @addr: return addresses, from the function that was called deepest
 * @depth: bytes from the top of the stack down to each of them, itself included
 */
struct stack_max {
	unsigned long	size;
	unsigned int	nr;
	unsigned long	addr[STACK_MAX_ENTRIES];
	unsigned int	depth[STACK_MAX_ENTRIES];
};

static struct stack_max stack_max;

/* Not a raw_spinlock_t, whose functions may be traced. */
static arch_spinlock_t stack_max_lock = (arch_spinlock_t)__ARCH_SPIN_LOCK_UNLOCKED;

/* How many reasons there are on a CPU not to measure. */
DEFINE_PER_CPU(int, disable_stack_tracer);

/* The sysctl, and "stacktrace" on the command line. */
int stack_tracer_enabled;
static DEFINE_MUTEX(stack_sysctl_mutex);

/* Where this may sleep: the callback has other things to look at first. */
static unsigned long stack_max_acquire(void)
{
	unsigned long flags;

	local_irq_save(flags);
	/* stack_tracer_disable() wants preemption off as well. */
	__this_cpu_inc(disable_stack_tracer);
	arch_spin_lock(&stack_max_lock);
	return flags;
}

static void stack_max_release(unsigned long flags)
{
	arch_spin_unlock(&stack_max_lock);
	__this_cpu_dec(disable_stack_tracer);
	local_irq_restore(flags);
}

/* Measuring */

/* A word of the stack as it was before a graph tracer hooked the return. */
static unsigned long stack_word(unsigned long *word)
{
	int idx = 0;

	/* Nothing says that it is not poisoned. */
	return ftrace_graph_ret_addr(current, &idx, READ_ONCE_NOCHECK(*word), word);
}

/* Return: the first place from @word on, up to @top, that holds @value; or @top. */
static unsigned long *stack_find(unsigned long *word, unsigned long *top, unsigned long value)
{
	while (word < top && stack_word(word) != value)
		word++;
	return word;
}

/*
 * Find where between @word and @top the first @nr of @addr are, in this order.
 * Those that are found move to the front, each with its depth.
 *
 * Return: how many were found.
 */
static unsigned int stack_locate(unsigned long *addr, unsigned int *depth, unsigned int nr,
				 unsigned long *word, unsigned long *top)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < nr; i++) {
		unsigned long *at = stack_find(word, top, addr[i]);

		if (at == top)
			continue;
		addr[found] = addr[i];
		depth[found++] = (top - at) * sizeof(*at);
		word = at + 1;
	}
	return found;
}

/* Drop the tracer's own, which are before @ip; all of them if @ip is not there. */
static unsigned int stack_drop_until(unsigned long *addr, unsigned int nr, unsigned long ip)
{
	unsigned int i = 0;

	while (i < nr && addr[i] != ip)
		i++;
	nr -= i;
	memmove(addr, addr + i, nr * sizeof(*addr));
	return nr;
}

/* The depth of a function that finds the words from @sp up to @top at its entry. */
static __always_inline unsigned long stack_depth(unsigned long sp, unsigned long top)
{
	return top - sp + sizeof(long);
}

/* The words that a function finds at its entry begin at @sp; @ip is its site's in traces. */
static void stack_measure(struct stack_max *max, unsigned long ip, unsigned long *sp,
			  unsigned long *top)
{
	unsigned int nr;

	nr = stack_trace_save(max->addr, ARRAY_SIZE(max->addr), 0);
	nr = stack_drop_until(max->addr, nr, ip);

	max->addr[0] = ip;
	max->depth[0] = stack_depth((unsigned long)sp, (unsigned long)top);
	WRITE_ONCE(max->size, max->depth[0]);
	max->nr = 1;
	if (nr)
		max->nr += stack_locate(max->addr + 1, max->depth + 1, nr - 1, sp, top);
}

/* Printing */

#define STACK_HEADER	"        Depth    Size   Location    (%u entries)\n" \
			"        -----    ----   --------\n"
#define STACK_LINE	"%3u) %8u   %5u   %pS\n"

/* The size of a function's part: from the end of its caller's to its own end. */
static unsigned int stack_part(const struct stack_max *max, unsigned int i)
{
	return i + 1 < max->nr ? max->depth[i] - max->depth[i + 1] : max->depth[i];
}

/* As schedule() does, where it is configured to look. */
static void stack_panic(const struct stack_max *max)
{
	pr_emerg(STACK_HEADER, max->nr);
	for (unsigned int i = 0; i < max->nr; i++)
		pr_emerg(STACK_LINE, i, max->depth[i], stack_part(max, i), (void *)max->addr[i]);
	panic("stack tracer: the end of the stack is corrupted");
}

/* The callback */

/* Whether the trampoline says where the words begin that a function finds at its entry. */
#define STACK_SP_IS_KNOWN	IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)

/* Where they begin, or somewhere below. */
static __always_inline unsigned long stack_at_entry(struct ftrace_regs *fregs)
{
	return STACK_SP_IS_KNOWN ? ftrace_regs_get_stack_pointer(fregs) :
				   (unsigned long)__builtin_frame_address(0);
}

static void stack_measure_if_deeper(unsigned long ip, unsigned long parent_ip,
				    unsigned long sp, unsigned long top)
{
	unsigned long flags;

	if (!STACK_SP_IS_KNOWN)
		sp = (unsigned long)stack_find((unsigned long *)sp, (unsigned long *)top,
					       parent_ip);

	local_irq_save(flags);
	arch_spin_lock(&stack_max_lock);
	if (stack_depth(sp, top) > stack_max.size) {
		stack_measure(&stack_max, arch_ftrace_stack_addr(ip), (unsigned long *)sp,
			      (unsigned long *)top);
		if (unlikely(task_stack_end_corrupted(current)))
			stack_panic(&stack_max);
	}
	arch_spin_unlock(&stack_max_lock);
	local_irq_restore(flags);
}

static noinline void stack_check(unsigned long ip, unsigned long parent_ip,
				 unsigned long sp, unsigned long top)
{
	preempt_disable_notrace();

	/* An NMI must not wait for the lock, and unwinders rely on RCU. */
	if (this_cpu_inc_return(disable_stack_tracer) == 1 && !in_nmi() && rcu_is_watching())
		stack_measure_if_deeper(ip, parent_ip, sp, top);

	this_cpu_dec(disable_stack_tracer);
	preempt_enable_notrace();
}

static void stack_trace_call(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	unsigned long top = (unsigned long)task_stack_page(current) + THREAD_SIZE;
	unsigned long sp = stack_at_entry(fregs);
	unsigned long depth = stack_depth(sp, top);

	/* On any other stack than the task's own, depth is out of range. */
	if (unlikely(depth > READ_ONCE(stack_max.size) && depth <= THREAD_SIZE))
		stack_check(ip, parent_ip, sp, top);
}

static struct ftrace_ops stack_ops __read_mostly = {
	.func	= stack_trace_call,
};

/* stack_max_size */

static ssize_t stack_size_read(struct file *file, char __user *ubuf, size_t count,
			       loff_t *ppos)
{
	char buf[24];
	int len = scnprintf(buf, sizeof(buf), "%ld\n", READ_ONCE(stack_max.size));

	return simple_read_from_buffer(ubuf, count, ppos, buf, len);
}

static ssize_t stack_size_write(struct file *file, const char __user *ubuf, size_t count,
				loff_t *ppos)
{
	unsigned long size, flags;
	int ret;

	ret = kstrtoul_from_user(ubuf, count, 10, &size);
	if (ret)
		return ret;

	flags = stack_max_acquire();
	WRITE_ONCE(stack_max.size, size);
	stack_max_release(flags);
	return count;
}

static const struct file_operations stack_size_fops = {
	.open		= tracing_open_generic,
	.read		= stack_size_read,
	.write		= stack_size_write,
	.llseek		= default_llseek,
};

/* stack_trace: all of it at a time, from a copy */

static int stack_trace_show(struct seq_file *m, void *v)
{
	struct stack_max *max __free(kfree) = kmalloc(sizeof(*max), GFP_KERNEL);
	unsigned long flags;

	if (!max)
		return -ENOMEM;
	flags = stack_max_acquire();
	memcpy(max, &stack_max, sizeof(*max));
	stack_max_release(flags);

	seq_printf(m, STACK_HEADER, max->nr);
	if (!stack_tracer_enabled && !max->size)
		seq_puts(m,
			 "#\n#  Stack tracer disabled\n#\n"
			 "# To enable the stack tracer, either add 'stacktrace' to the\n"
			 "# kernel command line\n"
			 "# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n#\n");
	for (unsigned int i = 0; i < max->nr; i++)
		seq_printf(m, STACK_LINE, i, max->depth[i], stack_part(max, i),
			   (void *)max->addr[i]);
	return 0;
}

static int stack_trace_open(struct inode *inode, struct file *file)
{
	return security_locked_down(LOCKDOWN_TRACEFS) ?: single_open(file, stack_trace_show, NULL);
}

static const struct file_operations stack_trace_fops = {
	.open		= stack_trace_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* stack_trace_filter */

static int stack_filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(NULL, inode->i_private, FTRACE_ITER_FILTER, inode, file);
}

static const struct file_operations stack_filter_fops = {
	.open		= stack_filter_open,
	.read		= seq_read,
	.write		= ftrace_word_file_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_word_file_release,
};

static char stack_boot_filter[COMMAND_LINE_SIZE] __initdata;

/* On and off */

static int stack_tracer_switch(bool on)
{
	return on ? register_ftrace_function(&stack_ops) : unregister_ftrace_function(&stack_ops);
}

/**
 * stack_trace_sysctl - read or write kernel.stack_tracer_enabled
 * @table: its entry, with stack_tracer_enabled as its data
 * @write: nonzero to write
 * @buffer: the words that are written, or room for those that are read
 * @lenp: its length
 * @ppos: position in the file
 *
 * Context: sleeps. Takes stack_sysctl_mutex and ftrace_lock.
 * Return: 0; as from proc_dointvec(), register_ftrace_function() or
 * unregister_ftrace_function(), with nothing changed.
 */
int stack_trace_sysctl(const struct ctl_table *table, int write, void *buffer,
		       size_t *lenp, loff_t *ppos)
{
	struct ctl_table copy = *table;
	int enabled, ret;

	guard(mutex)(&stack_sysctl_mutex);

	enabled = stack_tracer_enabled;
	copy.data = &enabled;
	ret = proc_dointvec(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;

	if (!enabled != !stack_tracer_enabled)
		ret = stack_tracer_switch(enabled);
	if (!ret)
		stack_tracer_enabled = enabled;
	return ret;
}

/* "stacktrace", or "stacktrace_filter=" with words as for stack_trace_filter. */
static int __init stack_boot_setup(char *str)
{
	size_t prefix = str_has_prefix(str, "_filter=");

	if (prefix && IS_ENABLED(CONFIG_DYNAMIC_FTRACE))
		ftrace_early_list(stack_boot_filter, str + prefix, "stacktrace_filter");
	stack_tracer_enabled = 1;
	return 1;
}
__setup("stacktrace", stack_boot_setup);

static int __init stack_trace_init(void)
{
	if (tracing_init_dentry())
		return 0;

	trace_create_file("stack_max_size", TRACE_MODE_WRITE, NULL, NULL, &stack_size_fops);
	trace_create_file("stack_trace", TRACE_MODE_READ, NULL, NULL, &stack_trace_fops);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE))
		trace_create_file("stack_trace_filter", TRACE_MODE_WRITE, NULL, &stack_ops,
				  &stack_filter_fops);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE) && stack_boot_filter[0])
		ftrace_set_early_filter(&stack_ops, stack_boot_filter, 1);

	if (stack_tracer_enabled && stack_tracer_switch(true)) {
		pr_warn("stack tracer: cannot be started\n");
		stack_tracer_enabled = 0;
	}
	return 0;
}
device_initcall(stack_trace_init);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_stack_kunit.c"
#endif
