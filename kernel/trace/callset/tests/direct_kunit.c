// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of direct calls: the code at the sites, the ops that may share them, and that the
 * functions still work.
 *
 * The trampolines of direct calls are one of the architecture's that goes back at
 * once, and another that counts its calls and jumps to it.
 */

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/delay.h>
#include <linux/fdtable.h>
#include <linux/filter.h>

#include "../attach.h"
#include "../callset.h"
#include "../sites.h"
#include "kunit.h"

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
#include <asm/unwind_hints.h>
#endif

#if defined(CONFIG_X86)
#define DIRECT_KUNIT_JUMP	ASM_ENDBR "incl direct_kunit_taken(%rip)\n\tjmp"
#elif defined(CONFIG_ARM64)
/* The first is BTI c. */
#define DIRECT_KUNIT_JUMP	"hint #34\n\tadrp x11, direct_kunit_taken\n\t"	\
				"add x11, x11, :lo12:direct_kunit_taken\n\t"	\
				"ldr w12, [x11]\n\tadd w12, w12, #1\n\tstr w12, [x11]\n\tb"
#elif defined(CONFIG_RISCV)
#define DIRECT_KUNIT_JUMP	"lla t1, direct_kunit_taken\n\tlw t2, 0(t1)\n\t"	\
				"addi t2, t2, 1\n\tsw t2, 0(t1)\n\ttail"
#elif defined(CONFIG_S390)
#define DIRECT_KUNIT_JUMP	"larl %r1, direct_kunit_taken\n\tasi 0(%r1), 1\n\tjg"
#else
#error "How does one go to another trampoline?"
#endif

extern void direct_kunit_tramp(void);

/* How often it was called. */
static unsigned int direct_kunit_taken __used;

asm(".pushsection .text, \"ax\", %progbits\n"
	".balign 16\n"
	".type direct_kunit_tramp, %function\n"
	".globl direct_kunit_tramp\n"
	"direct_kunit_tramp:\n"
	DIRECT_KUNIT_JUMP " ftrace_stub_direct_tramp\n"
	".size direct_kunit_tramp, . - direct_kunit_tramp\n"
	".popsection\n");

/* No result of the function. */
#define DIRECT_KUNIT_OTHER	4711

#define DIRECT_KUNIT_A	((unsigned long)ftrace_stub_direct_tramp)
#define DIRECT_KUNIT_B	((unsigned long)direct_kunit_tramp)

static struct ftrace_ops direct_kunit_ops;
static struct ftrace_ops direct_kunit_other;
static unsigned int direct_kunit_hits;
static enum ftrace_ops_cmd direct_kunit_cmd;
static unsigned int direct_kunit_asked;
static int direct_kunit_answer;
/* So many questions are answered by -EAGAIN. */
static unsigned int direct_kunit_again;

static void direct_kunit_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	direct_kunit_hits++;
}

static int direct_kunit_ops_func(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)
{
	direct_kunit_cmd = cmd;
	return direct_kunit_asked++ < direct_kunit_again ? -EAGAIN : direct_kunit_answer;
}

static int direct_kunit_init(struct kunit *test)
{
	memset(&direct_kunit_ops, 0, sizeof(direct_kunit_ops));
	memset(&direct_kunit_other, 0, sizeof(direct_kunit_other));
	direct_kunit_other.func = direct_kunit_func;
	direct_kunit_hits = 0;
	direct_kunit_asked = 0;
	direct_kunit_answer = 0;
	direct_kunit_again = 0;
	return ftrace_set_filter_ip(&direct_kunit_ops, kunit_site(0), 0, 1) ?:
	       ftrace_set_filter_ip(&direct_kunit_other, kunit_site(0), 0, 1);
}

static void direct_kunit_exit(struct kunit *test)
{
	unregister_ftrace_direct(&direct_kunit_ops, direct_kunit_ops.direct_call, true);
	if (direct_kunit_other.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&direct_kunit_other);
	ftrace_free_filter(&direct_kunit_other);
}

static unsigned long direct_kunit_target(void)
{
	struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);
	cs = ftrace_callset_at(kunit_site(0));
	if (arch_ftrace_check_site(kunit_site(0), ftrace_callset_target(cs)) != FTRACE_SITE_OK)
		return ULONG_MAX;
	return ftrace_callset_target(cs);
}

static int direct_kunit_unregister(unsigned long addr)
{
	return unregister_ftrace_direct(&direct_kunit_ops, addr, false);
}

static void direct_kunit_works(struct kunit *test)
{
	for (unsigned int i = 0; i < 10; i++) {
		kunit_operand = 12 + i;
		kunit_call_site(0);
		KUNIT_EXPECT_EQ(test, kunit_result, gcd(12 + i, 18));
	}
	kunit_operand = 12;
}

/* The site calls a direct call's trampoline at once where no other ops is attached. */
static void direct_sole(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
	/* It can come again. */
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
}

/* With others, a trampoline calls them and goes on to it. */
static void direct_with_function(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_NE(test, direct_kunit_target(), DIRECT_KUNIT_A);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, direct_kunit_hits, 20);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	WRITE_ONCE(direct_kunit_taken, 0);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, direct_kunit_hits, 40);
	KUNIT_EXPECT_GE(test, READ_ONCE(direct_kunit_taken), 10);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	direct_kunit_works(test);
}

static void direct_kunit_override(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	ftrace_regs_set_return_value(fregs, DIRECT_KUNIT_OTHER);
	ftrace_override_function_with_return(fregs);
}

/* A function that is overridden is not called, and its direct function neither. */
static void direct_overridden(struct kunit *test)
{
	/* Trampolines go on to the direct function, as stock's do. */
	if (IS_ENABLED(CONFIG_HAVE_FTRACE_TRAMPOLINES) ||
	    !IS_ENABLED(CONFIG_FUNCTION_ERROR_INJECTION))
		kunit_skip(test, "no callback overrides a function with a direct call");
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	WRITE_ONCE(direct_kunit_taken, 0);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, READ_ONCE(direct_kunit_taken), 10);
	direct_kunit_other.func = direct_kunit_override;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	WRITE_ONCE(direct_kunit_taken, 0);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(kunit_result), DIRECT_KUNIT_OTHER);
	KUNIT_EXPECT_EQ(test, READ_ONCE(direct_kunit_taken), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, READ_ONCE(direct_kunit_taken), 10);
}

static void direct_wrong_input(struct kunit *test)
{
	struct ftrace_ops *ops = &direct_kunit_ops;

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, DIRECT_KUNIT_A, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(ops, DIRECT_KUNIT_A), -EINVAL);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(ops, DIRECT_KUNIT_A), -EINVAL);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, DIRECT_KUNIT_B, false), -EINVAL);

	/* A second one on the same site. */
	direct_kunit_other.func = NULL;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_other, DIRECT_KUNIT_B), -EBUSY);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	KUNIT_EXPECT_NULL(test, direct_kunit_other.func);

	/* All functions. */
	ftrace_free_filter(&direct_kunit_other);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_other, DIRECT_KUNIT_B), -EINVAL);
}

/* A direct ops without ops_func shares no site with FTRACE_OPS_FL_IPMODIFY. */
static void direct_refuses_ipmodify(struct kunit *test)
{
	direct_kunit_other.flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), -EBUSY);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), -EBUSY);
	KUNIT_EXPECT_NULL(test, direct_kunit_ops.func);
}

static void direct_asks_before_sharing(struct kunit *test)
{
	direct_kunit_ops.ops_func = direct_kunit_ops_func;
	direct_kunit_other.flags |= FTRACE_OPS_FL_IPMODIFY;

	/* The one that modifies comes second: its peer may refuse. */
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 0);
	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), -EAGAIN);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	direct_kunit_answer = 0;
	/* It is asked again, and not by the clock only. */
	direct_kunit_asked = 0;
	direct_kunit_again = 2;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 3);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);

	/* The direct one comes second: it is asked itself. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), -EAGAIN);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	direct_kunit_answer = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	direct_kunit_works(test);
}

/* Ten calls, no more. */
static void direct_kunit_call(struct kunit *test)
{
	for (unsigned int i = 0; i < 10; i++) {
		kunit_call_site(0);
		KUNIT_EXPECT_EQ(test, kunit_result, 6);
	}
}

/*
 * Without memory for a callset of the ops that stay, the one that leaves is passed over; later
 * changes work as ever.
 */
static void direct_detach_without_memory(struct kunit *test)
{
	static struct ftrace_ops third;
	unsigned long target;
	unsigned int hits;

	memset(&third, 0, sizeof(third));
	third.func = direct_kunit_func;
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&third, kunit_site(0), 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&third), 0);
	target = direct_kunit_target();

	ftrace_kunit_forbid_tramps(true);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&third), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), target);
	hits = direct_kunit_hits;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_hits, hits + 10);
	ftrace_kunit_forbid_tramps(false);

	/* It comes back, to a trampoline that is whole. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&third), 0);
	if (IS_ENABLED(CONFIG_HAVE_FTRACE_TRAMPOLINES))
		KUNIT_EXPECT_NE(test, direct_kunit_target(), target);
	hits = direct_kunit_hits;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_hits, hits + 20);

	/* The direct ops itself may be the one that leaves. */
	ftrace_kunit_forbid_tramps(true);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&third), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
	ftrace_kunit_forbid_tramps(false);
	ftrace_free_filter(&third);
}

/* A direct function cannot do without a trampoline, however many there are. */
static void direct_beside_many(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	ftrace_kunit_count_tramps(true);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	ftrace_kunit_count_tramps(false);
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);
}

/* A site that calls the direct function itself has nothing else to keep it from there. */
static void direct_sole_detach_without_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	ftrace_kunit_forbid_lists(test, true);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_A), 0);
	ftrace_kunit_forbid_lists(test, false);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
	direct_kunit_call(test);
}

/* Beside others, the trampoline leads nowhere from then on, and the others are called. */
static void direct_detach_without_lists(struct kunit *test)
{
	unsigned int hits;

	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	ftrace_kunit_forbid_lists(test, true);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_B), 0);
	WRITE_ONCE(direct_kunit_taken, 0);
	hits = direct_kunit_hits;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_hits, hits + 10);
	KUNIT_EXPECT_EQ(test, READ_ONCE(direct_kunit_taken), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	ftrace_kunit_forbid_lists(test, false);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_hits, hits + 10);
}

#ifdef CONFIG_X86_64
/* Counts its calls, and returns. */
extern void direct_kunit_image(void);
static unsigned int direct_kunit_entered __used;

asm(".pushsection .text, \"ax\", @progbits\n"
	".balign 16\n"
	".type direct_kunit_image, @function\n"
	".globl direct_kunit_image\n"
	"direct_kunit_image:\n"
	ASM_ENDBR
	"incl direct_kunit_entered(%rip)\n"
	ASM_RET
	".size direct_kunit_image, . - direct_kunit_image\n"
	".popsection\n");

/* A CALL that leads to the image of an ops which is gone is written back. */
static void direct_altered_site(struct kunit *test)
{
	const unsigned long image = (unsigned long)direct_kunit_image;
	u8 nop[MCOUNT_INSN_SIZE], call[MCOUNT_INSN_SIZE];
	void *ip = (void *)kunit_site(0);
	unsigned int entered;

	memcpy(nop, ip, sizeof(nop));
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, image), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	entered = direct_kunit_entered;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_entered, entered + 10);

	memcpy(call, ip, sizeof(call));
	kunit_poke(ip, kunit_other);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(image), 0);
	kunit_poke(ip, call);
	entered = direct_kunit_entered;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_entered, entered);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	ftrace_kunit_repair((unsigned long)ip, nop);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location(kunit_site(0)), (unsigned long)ip);
}
#endif

static int direct_kunit_set_site(struct ftrace_ops *ops, unsigned int site, bool remove)
{
	return ftrace_set_filter_ip(ops, kunit_site(site), remove, 0);
}

/*
 * A change of the filter is refused where registering with it is, and then changes nothing.
 */
static void direct_kunit_stays(struct kunit *test, struct ftrace_ops *ops)
{
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(ops, 0, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(ops, NULL, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(ops, NULL, 0, 1), 0);
	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_NOT_NULL(test, ops->filter->only);
	if (ops->filter->only)
		KUNIT_EXPECT_EQ(test, ops->filter->only->nr, 1);
	KUNIT_EXPECT_NULL(test, ftrace_callset_at(kunit_site(1)));
}

static void direct_refilter_to_all(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_A), 0);
	direct_kunit_stays(test, &direct_kunit_ops);
	KUNIT_ASSERT_NOT_NULL(test, direct_kunit_ops.filter->only);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_B), 0);
	/* An ops that is not registered may want any site. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&direct_kunit_ops, NULL, 0, 1), 0);

	direct_kunit_other.flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	direct_kunit_stays(test, &direct_kunit_other);
}

/* An ops is asked to share a site that is added later, as it is at the start. */
static void direct_refilter_asks(struct kunit *test)
{
	struct ftrace_ops *ops = &direct_kunit_ops, *other = &direct_kunit_other;

	ops->ops_func = direct_kunit_ops_func;
	other->flags |= FTRACE_OPS_FL_IPMODIFY;

	/* The one that modifies comes to the direct one's site. */
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(ops, DIRECT_KUNIT_A), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(other, kunit_site(1), 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(other, 2, false), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 0);
	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(other, 0, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
	KUNIT_EXPECT_EQ(test, other->filter->only->nr, 2);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	direct_kunit_answer = 0;
	/* It is asked again, as where the other one is registered. */
	direct_kunit_asked = 0;
	direct_kunit_again = 2;
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(other, 0, false), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 3);
	direct_kunit_works(test);
	/* It is there already. */
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(other, 0, false), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 3);
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(other, 0, true), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 4);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);

	/* A site that it left out, and does no more, is added as well. */
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(other, "gcd", 3, 0), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(other, 0, false), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 4);
	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(other, NULL, 0, 1), -EAGAIN);
	KUNIT_EXPECT_GT(test, direct_kunit_asked, 5);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	direct_kunit_answer = 0;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);
}

static void direct_refilter_asks_self(struct kunit *test)
{
	struct ftrace_ops *ops = &direct_kunit_ops, *other = &direct_kunit_other;

	ops->ops_func = direct_kunit_ops_func;
	other->flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(ops, kunit_site(1), 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(ops, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(ops, 2, false), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 0);

	direct_kunit_answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(ops, 0, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, direct_kunit_asked, 1);
	KUNIT_EXPECT_EQ(test, direct_kunit_cmd, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	KUNIT_EXPECT_EQ(test, ops->filter->only->nr, 2);
	direct_kunit_answer = 0;
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(ops, 0, false), 0);
	KUNIT_EXPECT_EQ(test, ops->filter->only->nr, 3);
	direct_kunit_works(test);

	/* One that cannot be asked is refused, as ever. */
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(ops, 0, true), 0);
	ops->ops_func = NULL;
	KUNIT_EXPECT_EQ(test, direct_kunit_set_site(ops, 0, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, ops->filter->only->nr, 2);
}

/* A function for each site */

static struct ftrace_ops direct_kunit_many;

static struct ftrace_hash *direct_kunit_hash(struct kunit *test, unsigned int first,
					     unsigned int nr, unsigned long addr)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);

	KUNIT_ASSERT_NOT_NULL(test, hash);
	for (unsigned int i = first; i < first + nr; i++)
		KUNIT_EXPECT_NOT_NULL(test, add_ftrace_hash_entry_direct(hash, kunit_site(i),
									 addr));
	KUNIT_EXPECT_EQ(test, ftrace_hash_count(hash), nr);
	return hash;
}

static int direct_kunit_add(struct kunit *test, unsigned int first, unsigned int nr,
			    unsigned long addr)
{
	struct ftrace_hash *hash = direct_kunit_hash(test, first, nr, addr);
	int ret = update_ftrace_direct_add(&direct_kunit_many, hash);

	free_ftrace_hash(hash);
	return ret;
}

static int direct_kunit_del(struct kunit *test, unsigned int first, unsigned int nr,
			    unsigned long addr)
{
	struct ftrace_hash *hash = direct_kunit_hash(test, first, nr, addr);
	int ret = update_ftrace_direct_del(&direct_kunit_many, hash);

	free_ftrace_hash(hash);
	return ret;
}

static int direct_kunit_mod(struct kunit *test, unsigned int first, unsigned int nr,
			    unsigned long addr)
{
	struct ftrace_hash *hash = direct_kunit_hash(test, first, nr, addr);
	int ret = update_ftrace_direct_mod(&direct_kunit_many, hash, true);

	free_ftrace_hash(hash);
	return ret;
}

/* The function that a site calls directly, alone or after others; 0 for none. */
static unsigned long direct_kunit_addr(unsigned int site)
{
	const struct ftrace_callset *cs;

	guard(mutex)(&ftrace_lock);
	cs = ftrace_callset_at(kunit_site(site));
	if (arch_ftrace_check_site(kunit_site(site), ftrace_callset_target(cs)) != FTRACE_SITE_OK)
		return ULONG_MAX;
	return cs ? cs->direct_addr : 0;
}

static void direct_kunit_forget_many(void *unused)
{
	if (direct_kunit_many.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&direct_kunit_many);
	ftrace_free_filter(&direct_kunit_many);
}

static void direct_many(struct kunit *test)
{
	memset(&direct_kunit_many, 0, sizeof(direct_kunit_many));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, direct_kunit_forget_many, NULL), 0);

	KUNIT_ASSERT_EQ(test, direct_kunit_add(test, 0, 1, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_add(test, 1, 2, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_A);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(1), DIRECT_KUNIT_B);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(2), DIRECT_KUNIT_B);
	direct_kunit_works(test);

	/* All or nothing: the first site has one already. */
	KUNIT_EXPECT_EQ(test, direct_kunit_del(test, 2, 1, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_add(test, 1, 2, DIRECT_KUNIT_A), -EINVAL);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(2), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_del(test, 0, 2, DIRECT_KUNIT_A), -EINVAL);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(0), DIRECT_KUNIT_A);

	/* Sites that are not of the ops are passed over. */
	KUNIT_EXPECT_EQ(test, direct_kunit_mod(test, 0, 3, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(2), 0);
	direct_kunit_works(test);

	/* With the last site it is unregistered, and can come again. */
	KUNIT_EXPECT_EQ(test, direct_kunit_del(test, 0, 2, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_FALSE(test, direct_kunit_many.flags & FTRACE_OPS_FL_ENABLED);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(0), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_mod(test, 0, 1, DIRECT_KUNIT_B), -EINVAL);
	KUNIT_EXPECT_EQ(test, direct_kunit_add(test, 0, 1, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_del(test, 0, 1, DIRECT_KUNIT_A), 0);
}

/* Beside a function, each site has a trampoline that goes on to its own one. */
static void direct_many_with_function(struct kunit *test)
{
	memset(&direct_kunit_many, 0, sizeof(direct_kunit_many));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, direct_kunit_forget_many, NULL), 0);

	KUNIT_ASSERT_EQ(test, direct_kunit_add(test, 0, 1, DIRECT_KUNIT_A), 0);
	KUNIT_ASSERT_EQ(test, direct_kunit_add(test, 1, 1, DIRECT_KUNIT_B), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_NE(test, direct_kunit_target(), DIRECT_KUNIT_A);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(0), DIRECT_KUNIT_A);
	direct_kunit_works(test);
	KUNIT_EXPECT_GE(test, direct_kunit_hits, 10);
	KUNIT_EXPECT_EQ(test, direct_kunit_mod(test, 0, 1, DIRECT_KUNIT_B), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(0), DIRECT_KUNIT_B);
	direct_kunit_works(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_B);
	KUNIT_EXPECT_EQ(test, direct_kunit_del(test, 0, 2, DIRECT_KUNIT_B), 0);
}

#ifdef CONFIG_X86_64
/* A site that turns out to be altered keeps the others neither attached nor as they were. */
static void direct_many_altered_site(struct kunit *test)
{
	struct ftrace_hash *hash = direct_kunit_hash(test, 0, 3, DIRECT_KUNIT_B);
	void *ip = (void *)kunit_site(0);
	u8 nop[MCOUNT_INSN_SIZE];

	memset(&direct_kunit_many, 0, sizeof(direct_kunit_many));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, direct_kunit_forget_many, NULL), 0);

	memcpy(nop, ip, sizeof(nop));
	KUNIT_EXPECT_EQ(test, direct_kunit_add(test, 0, 3, DIRECT_KUNIT_A), 0);
	kunit_poke(ip, kunit_other);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&direct_kunit_many, hash, true), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(1), DIRECT_KUNIT_B);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(2), DIRECT_KUNIT_B);
	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_TRUE(test,
				  ftrace_rec_quarantined(ftrace_site_find((unsigned long)ip)));
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&direct_kunit_many, hash), 0);
	KUNIT_EXPECT_FALSE(test, direct_kunit_many.flags & FTRACE_OPS_FL_ENABLED);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(1), 0);
	free_ftrace_hash(hash);
	ftrace_kunit_repair((unsigned long)ip, nop);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
}

static int direct_kunit_del_image(struct kunit *test)
{
	return direct_kunit_del(test, 0, 1, (unsigned long)direct_kunit_image);
}

static int direct_kunit_mod_image(struct kunit *test)
{
	return direct_kunit_mod(test, 0, 1, DIRECT_KUNIT_B);
}

/*
 * A CALL that leads to an image is written back after @change, by which its owner was told that
 * no site calls it any more. The ops itself stays.
 */
static void direct_kunit_write_back(struct kunit *test, int (*change)(struct kunit *test), int ret)
{
	u8 nop[MCOUNT_INSN_SIZE], call[MCOUNT_INSN_SIZE];
	void *ip = (void *)kunit_site(0);
	unsigned int entered;

	memcpy(nop, ip, sizeof(nop));
	KUNIT_EXPECT_EQ(test, direct_kunit_add(test, 0, 1, (unsigned long)direct_kunit_image), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_add(test, 1, 1, DIRECT_KUNIT_A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	entered = direct_kunit_entered;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_entered, entered + 10);

	memcpy(call, ip, sizeof(call));
	kunit_poke(ip, kunit_other);
	KUNIT_EXPECT_EQ(test, change(test), ret);
	KUNIT_EXPECT_EQ(test, direct_kunit_addr(1), DIRECT_KUNIT_A);
	kunit_poke(ip, call);
	entered = direct_kunit_entered;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_entered, entered);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	direct_kunit_forget_many(NULL);
	ftrace_kunit_repair((unsigned long)ip, nop);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
}

static void direct_many_written_back(struct kunit *test)
{
	memset(&direct_kunit_many, 0, sizeof(direct_kunit_many));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, direct_kunit_forget_many, NULL), 0);

	direct_kunit_write_back(test, direct_kunit_del_image, 0);
	memset(&direct_kunit_many, 0, sizeof(direct_kunit_many));
	direct_kunit_write_back(test, direct_kunit_mod_image, -EFAULT);
}
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
/*
 * Notes the address that its RET would use, and goes on behind the site. Only a RET may go
 * there: no ENDBR is there.
 */
extern void direct_kunit_jumped(void);
static unsigned long direct_kunit_parent __used;
static unsigned long direct_kunit_rest __used;

asm(".pushsection .text, \"ax\", @progbits\n"
	".balign 16\n"
	".type direct_kunit_jumped, @function\n"
	".globl direct_kunit_jumped\n"
	"direct_kunit_jumped:\n"
	ASM_ENDBR
	"incl direct_kunit_entered(%rip)\n"
	"mov (%rsp), %rax\n"
	"mov %rax, direct_kunit_parent(%rip)\n"
	"pushq direct_kunit_rest(%rip)\n"
	UNWIND_HINT_FUNC "\n"
	ASM_RET
	".size direct_kunit_jumped, . - direct_kunit_jumped\n"
	".popsection\n");

#define DIRECT_KUNIT_JUMPED	ftrace_jmp_set((unsigned long)direct_kunit_jumped)

/* The function is entered as from its caller, to which it returns. */
static void direct_kunit_jumps(struct kunit *test)
{
	unsigned int entered = direct_kunit_entered;

	direct_kunit_parent = 0;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_entered, entered + 10);
	KUNIT_EXPECT_NE(test, direct_kunit_parent, 0);
	KUNIT_EXPECT_NE(test, direct_kunit_parent, direct_kunit_rest);
}

static void direct_jmp(struct kunit *test)
{
	const unsigned long image = (unsigned long)direct_kunit_image;

	direct_kunit_rest = kunit_site(0) + MCOUNT_INSN_SIZE;
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_JUMPED), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_JUMPED);
	direct_kunit_jumps(test);

	/* A site can be changed from one to the other. */
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, image), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), image);
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_JUMPED), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), DIRECT_KUNIT_JUMPED);
	direct_kunit_jumps(test);

	/* Its owner may forget that it was a jump. */
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(image), -EINVAL);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(ftrace_jmp_get(DIRECT_KUNIT_JUMPED)), 0);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
}

static void direct_kunit_jmp_beside(struct kunit *test, unsigned long flags)
{
	unsigned int hits = direct_kunit_hits, entered;

	direct_kunit_other.flags |= flags;
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct_kunit_ops, DIRECT_KUNIT_JUMPED), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&direct_kunit_other), 0);
	KUNIT_EXPECT_NE(test, direct_kunit_target(), DIRECT_KUNIT_JUMPED);
	direct_kunit_jumps(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_hits, hits + 10);

	/* The trampoline may stay, and then goes back to the site in the end. */
	ftrace_kunit_forbid_lists(test, true);
	KUNIT_EXPECT_EQ(test, direct_kunit_unregister(DIRECT_KUNIT_JUMPED), 0);
	entered = direct_kunit_entered;
	direct_kunit_call(test);
	KUNIT_EXPECT_EQ(test, direct_kunit_entered, entered);
	KUNIT_EXPECT_EQ(test, direct_kunit_hits, hits + 20);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&direct_kunit_other), 0);
	ftrace_kunit_forbid_lists(test, false);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
}

static void direct_jmp_with_function(struct kunit *test)
{
	direct_kunit_rest = kunit_site(0) + MCOUNT_INSN_SIZE;
	direct_kunit_jmp_beside(test, 0);
	direct_kunit_jmp_beside(test, FTRACE_OPS_FL_SAVE_REGS);
}
#endif

#if defined(CONFIG_BPF_JIT) && defined(CONFIG_DEBUG_INFO_BTF)
/* Its users are light skeletons, which declare it themselves. */
int kern_sys_bpf(int cmd, union bpf_attr *attr, unsigned int size);

static int direct_kunit_bpf(int cmd, const union bpf_attr *attr)
{
	union bpf_attr copy = *attr;

	return kern_sys_bpf(cmd, &copy, sizeof(copy));
}

/* A program for the entry of function @name that does nothing. Returns its file descriptor. */
static int direct_kunit_bpf_load(const char *name)
{
	const struct bpf_insn insns[] = { BPF_MOV64_IMM(BPF_REG_0, 0), BPF_EXIT_INSN() };
	s32 id = btf_find_by_name_kind(bpf_get_btf_vmlinux(), name, BTF_KIND_FUNC);
	union bpf_attr attr = {
		.prog_type		= BPF_PROG_TYPE_TRACING,
		.expected_attach_type	= BPF_TRACE_FENTRY,
		.attach_btf_id		= id,
		.insns			= (unsigned long)insns,
		.insn_cnt		= ARRAY_SIZE(insns),
		.license		= (unsigned long)"GPL",
	};

	return id < 0 ? id : direct_kunit_bpf(BPF_PROG_LOAD, &attr);
}

/* Text that is sound again is still no text to patch for BPF: others have written it. */
static void direct_bpf_in_quarantine(struct kunit *test)
{
	union bpf_attr attr = { .raw_tracepoint.prog_fd = direct_kunit_bpf_load("gcd") };
	struct ftrace_record *rec;
	u32 state;
	int link;

	KUNIT_ASSERT_GE(test, (int)attr.raw_tracepoint.prog_fd, 0);
	/* As if no direct call had been there: those may come back, and find the site. */
	scoped_guard(mutex, &ftrace_lock) {
		rec = ftrace_site_find(kunit_site(0));
		state = rec->state;
		WRITE_ONCE(rec->state, FTRACE_STATE_QUARANTINE);
	}
	link = direct_kunit_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	KUNIT_EXPECT_EQ(test, link, -EBUSY);
	if (link >= 0)
		close_fd(link);
	WRITE_ONCE(rec->state, state);

	link = direct_kunit_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	KUNIT_EXPECT_GE(test, link, 0);
	KUNIT_EXPECT_NE(test, direct_kunit_target(), 0);
	direct_kunit_works(test);
	if (link >= 0)
		close_fd(link);
	close_fd(attr.raw_tracepoint.prog_fd);
	/* Another task releases the file. */
	for (unsigned int i = 0; i < 500 && direct_kunit_target(); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, direct_kunit_target(), 0);
}
#endif

static struct kunit_case direct_kunit_cases[] = {
	KUNIT_CASE(direct_sole),
	KUNIT_CASE(direct_with_function),
	KUNIT_CASE(direct_overridden),
	KUNIT_CASE(direct_wrong_input),
	KUNIT_CASE(direct_refuses_ipmodify),
	KUNIT_CASE(direct_asks_before_sharing),
	KUNIT_CASE(direct_detach_without_memory),
	KUNIT_CASE(direct_beside_many),
	KUNIT_CASE(direct_sole_detach_without_memory),
	KUNIT_CASE(direct_detach_without_lists),
#ifdef CONFIG_X86_64
	KUNIT_CASE(direct_altered_site),
#endif
	KUNIT_CASE(direct_refilter_to_all),
	KUNIT_CASE(direct_refilter_asks),
	KUNIT_CASE(direct_refilter_asks_self),
	KUNIT_CASE(direct_many),
	KUNIT_CASE(direct_many_with_function),
#ifdef CONFIG_X86_64
	KUNIT_CASE(direct_many_altered_site),
	KUNIT_CASE(direct_many_written_back),
#endif
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
	KUNIT_CASE(direct_jmp),
	KUNIT_CASE(direct_jmp_with_function),
#endif
#if defined(CONFIG_BPF_JIT) && defined(CONFIG_DEBUG_INFO_BTF)
	KUNIT_CASE(direct_bpf_in_quarantine),
#endif
	{ }
};

static struct kunit_suite direct_kunit_suite = {
	.name		= "ftrace_direct",
	.init		= direct_kunit_init,
	.exit		= direct_kunit_exit,
	.test_cases	= direct_kunit_cases,
};

kunit_test_suite(direct_kunit_suite);
