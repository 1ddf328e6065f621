// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the live patcher, of text that another CPU executes meanwhile.
 *
 * Included after text_patch_kunit.c, whose memory is patched here.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>

/**
 * struct kunit_caller - a task that calls the text without end
 * @func: the text; after so many changes it returns their number modulo @ways
 * @ways: how many there are
 * @done: how many changes are complete
 * @begun: how many have begun
 * @calls: how often it was called
 * @odd: how often it returned the number from before a change that was complete,
 *	 or from after one that had not begun
 */
struct kunit_caller {
	unsigned int	(*func)(void);
	unsigned int	ways;
	unsigned int	done;
	unsigned int	begun;
	unsigned long	calls;
	unsigned long	odd;
};

/* CFI does not check the call, as no type stands before the text. */
static noinline __nocfi unsigned int kunit_call(const struct kunit_caller *caller)
{
	return caller->func();
}

static bool kunit_call_ok(const struct kunit_caller *caller, unsigned int done, unsigned int got,
			  unsigned int begun)
{
	for (; done <= begun; done++) {
		if (done % caller->ways == got)
			return true;
	}
	return false;
}

static int kunit_caller_thread(void *data)
{
	struct kunit_caller *caller = data;

	while (!kthread_should_stop()) {
		for (unsigned int i = 0; i < 100; i++) {
			unsigned int done, begun, got;

			/* Pairs with kunit_change_end(): no older text is seen below. */
			done = smp_load_acquire(&caller->done);
			got = kunit_call(caller);
			/* Pairs with kunit_change_begin(): new text has its number. */
			smp_rmb();
			begun = READ_ONCE(caller->begun);
			if (!kunit_call_ok(caller, done, got, begun))
				caller->odd++;
			WRITE_ONCE(caller->calls, caller->calls + 1);
		}
		cond_resched();
	}
	return 0;
}

static void kunit_change_begin(struct kunit_caller *caller, unsigned int nr)
{
	WRITE_ONCE(caller->begun, nr);
	/* Pairs with kunit_caller_thread(): before the text. */
	smp_wmb();
}

static void kunit_change_end(struct kunit_caller *caller, unsigned int nr)
{
	/* Pairs with kunit_caller_thread(): after the text. */
	smp_store_release(&caller->done, nr);
}

/* Where the parts of the text are. */
#define KUNIT_FUNC	0
#define KUNIT_OTHER	0x200
#define KUNIT_CALLEE	0x300

/*
 * Each way to replace the five bytes at the site, in the order in which they
 * follow each other, returns its own number:
 *
 *	endbr64; xor %edx, %edx; mov $3, %eax; SITE; mov %edx, %eax; ret
 *	other:	mov $1, %eax; ret
 *	callee:	mov $2, %edx; ret
 */
static const u8 kunit_func[] = {
	0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xd2, 0xb8, 3, 0, 0, 0, BYTES_NOP5, 0x89, 0xd0, 0xc3,
};

static const u8 kunit_other[] = { 0xb8, 1, 0, 0, 0, 0xc3 };
static const u8 kunit_callee[] = { 0xba, 2, 0, 0, 0, 0xc3 };

#define KUNIT_SITE	11

static void kunit_set_way(struct text_patch *patch, unsigned long func, unsigned int way)
{
	unsigned long site = func + KUNIT_SITE;

	switch (way) {
	case 0:
		text_patch_set_nop(patch, site);
		break;
	case 1:
		text_patch_set_jump(patch, site, kunit_addr(KUNIT_OTHER));
		break;
	case 2:
		text_patch_set_call(patch, site, kunit_addr(KUNIT_CALLEE));
		break;
	default:
		text_patch_set(patch, site, "\xc3\xcc\xcc\xcc\xcc", 5, NULL);
	}
}

static struct task_struct *kunit_caller_start(struct kunit *test, struct kunit_caller *caller)
{
	struct task_struct *task = kthread_run(kunit_caller_thread, caller, "text-patch-kunit");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	return task;
}

/* Each of its calls went one of the ways that were there. */
static void kunit_caller_stop(struct kunit *test, struct kunit_caller *caller,
			      struct task_struct *task)
{
	while (READ_ONCE(caller->calls) < 1000)
		msleep(20);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, caller->odd, 0);
}

/* @at is where the function begins: its site may lie over the end of a page. */
static void kunit_executed(struct kunit *test, size_t at)
{
	struct kunit_caller caller = { .func = (void *)kunit_addr(at), .ways = 4 };
	struct task_struct *task;

	kunit_write(at, kunit_func, sizeof(kunit_func));
	kunit_write(KUNIT_OTHER, kunit_other, sizeof(kunit_other));
	kunit_write(KUNIT_CALLEE, kunit_callee, sizeof(kunit_callee));

	task = kunit_caller_start(test, &caller);

	for (unsigned int i = 1; i < 1000; i++) {
		unsigned int way = i % caller.ways;
		struct text_patch patch;

		kunit_set_way(&patch, kunit_addr(at), way);
		kunit_change_begin(&caller, i);
		kunit_apply(&patch, 1);
		kunit_change_end(&caller, i);
		KUNIT_EXPECT_EQ(test, kunit_call(&caller), way);
	}
	kunit_caller_stop(test, &caller, task);
}

static void executed_ways(struct kunit *test)
{
	kunit_executed(test, KUNIT_FUNC);
	for (unsigned int over = 1; over < 5; over++)
		kunit_executed(test, 2 * PAGE_SIZE - KUNIT_SITE - over);
}

/* A conditional jump of six bytes that is always taken changes where it goes. */
static void executed_jcc(struct kunit *test)
{
	/* endbr64; xor %edx, %edx; je 1f; ret; 1: mov $0, %eax; ret; mov $1, %eax; ret */
	static const u8 func[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xd2, 0x0f, 0x84, 1, 0, 0, 0, 0xc3,
		0xb8, 0, 0, 0, 0, 0xc3, 0xb8, 1, 0, 0, 0, 0xc3,
	};
	struct kunit_caller caller = { .func = (void *)kunit_addr(0), .ways = 2 };
	u8 insn[] = { 0x0f, 0x84, 0, 0, 0, 0 };
	struct task_struct *task;

	kunit_write(0, func, sizeof(func));
	task = kunit_caller_start(test, &caller);
	for (unsigned int i = 1; i < 1000; i++) {
		unsigned int way = i % caller.ways;

		insn[2] = way ? 7 : 1;
		kunit_change_begin(&caller, i);
		mutex_lock(&text_mutex);
		smp_text_poke_single(kunit_text + 6, insn, sizeof(insn), NULL);
		mutex_unlock(&text_mutex);
		kunit_change_end(&caller, i);
		KUNIT_EXPECT_EQ(test, kunit_call(&caller), way);
	}
	kunit_caller_stop(test, &caller, task);
}

static struct kunit_case text_patch_executed_cases[] = {
	KUNIT_CASE(executed_ways),
	KUNIT_CASE(executed_jcc),
	{ }
};

static struct kunit_suite text_patch_executed_suite = {
	.name		= "text_patch_executed",
	.init		= text_patch_kunit_init,
	.exit		= text_patch_kunit_exit,
	.test_cases	= text_patch_executed_cases,
};

kunit_test_suite(text_patch_executed_suite);
