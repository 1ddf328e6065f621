// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of stack traces in the middle of a return: a hooked call is executed in
 * single steps, and at each instruction of return_to_handler() the unwinder must find
 * the caller. Memory below the stack, which an interrupt would use, is overwritten
 * before each step. Included by fgraph_kunit.c, where there are ORC entries.
 */
#include <linux/kdebug.h>
#include <linux/stacktrace.h>

#include <asm/debugreg.h>

#define FGRAPH_STEPS_FRAMES	4
/* So many bytes below the stack an interrupt overwrites. */
#define FGRAPH_STEPS_BELOW	256

/**
 * struct fgraph_kunit_steps - the findings of the single steps
 * @task: whose steps they are
 * @caller: the function that makes the hooked call
 * @caller_size: its size in bytes
 * @handler_size: and that of return_to_handler()
 * @steps: how many instructions of return_to_handler() were executed
 * @lost: how many of them had a trace without @caller
 * @lost_at: the offset of the last such one
 */
static struct fgraph_kunit_steps {
	struct task_struct	*task;
	unsigned long		caller;
	unsigned long		caller_size;
	unsigned long		handler_size;
	unsigned int		steps;
	unsigned int		lost;
	unsigned long		lost_at;
} fgraph_kunit_steps;

static bool fgraph_steps_finds_caller(const struct fgraph_kunit_steps *s, struct pt_regs *regs)
{
	unsigned long frames[FGRAPH_STEPS_FRAMES];
	unsigned int nr = stack_trace_save_regs(regs, frames, FGRAPH_STEPS_FRAMES, 0);

	for (unsigned int i = 1; i < nr; i++) {
		if (frames[i] - s->caller < s->caller_size)
			return true;
	}
	return false;
}

static int fgraph_steps_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct fgraph_kunit_steps *s = &fgraph_kunit_steps;
	struct die_args *args = data;
	unsigned long *dr6 = ERR_PTR(args->err);
	unsigned long offset;

	if (val != DIE_DEBUG || READ_ONCE(s->task) != current || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	*dr6 &= ~DR_STEP;
	/* Steps have a stack of their own. KASAN knows no owner of this memory. */
	__memset((void *)args->regs->sp - FGRAPH_STEPS_BELOW, 0x5a, FGRAPH_STEPS_BELOW);
	offset = args->regs->ip - (unsigned long)return_to_handler;
	/* At the first instruction the address is below the stack, and nothing is known. */
	if (!offset || offset >= s->handler_size)
		return NOTIFY_STOP;
	s->steps++;
	if (!fgraph_steps_finds_caller(s, args->regs)) {
		s->lost++;
		s->lost_at = offset;
	}
	return NOTIFY_STOP;
}

/* The flag is the CPU's: preemption would hand it to another task. */
static noinline void fgraph_steps_call(void)
{
	guard(preempt)();
	asm volatile("pushfq; orq %0, (%%rsp); popfq" : : "i" (X86_EFLAGS_TF) : "cc", "memory");
	kunit_call_site(0);
	asm volatile("pushfq; andq %0, (%%rsp); popfq" : : "i" (~X86_EFLAGS_TF) : "cc", "memory");
}

static unsigned long fgraph_steps_size(unsigned long addr)
{
	unsigned long size = 0, offset;

	return kallsyms_lookup_size_offset(addr, &size, &offset) ? size : 0;
}

static void fgraph_steps_unwind(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = fgraph_steps_notify, .priority = INT_MAX };
	struct fgraph_kunit_steps *s = &fgraph_kunit_steps;
	const unsigned int bits[] = { 0x1 };

	*s = (struct fgraph_kunit_steps) {
		.task		= current,
		.caller		= (unsigned long)fgraph_steps_call,
		.caller_size	= fgraph_steps_size((unsigned long)fgraph_steps_call),
		.handler_size	= fgraph_steps_size((unsigned long)return_to_handler),
	};
	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[0], bits[0]), 0);
	KUNIT_ASSERT_EQ(test, register_die_notifier(&nb), 0);
	fgraph_steps_call();
	WRITE_ONCE(s->task, NULL);
	unregister_die_notifier(&nb);
	KUNIT_EXPECT_EQ(test, fgraph_kunit_users[0].returns[0], 1);
	KUNIT_EXPECT_GT(test, s->steps, 10);
	/*
	 * Between the return of ftrace_return_to_handler() and the next store, the address
	 * is in a register only.
	 */
	KUNIT_EXPECT_LE_MSG(test, s->lost, 1, "last at return_to_handler+0x%lx", s->lost_at);
}
