// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the live patcher: how it reads instructions, where a CPU goes
 * on from a breakpoint, and writes to text of all sorts.
 *
 * The text that is patched is memory of the test's own.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/execmem.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

/* More than two windows. */
#define KUNIT_TEXT_PAGES	150
#define KUNIT_TEXT_SIZE		(KUNIT_TEXT_PAGES * PAGE_SIZE)

/* Read-only and executable, full of INT3s. */
static u8 *kunit_text;

/* The text as it should be. */
static u8 *kunit_copy;

static int text_patch_kunit_init(struct kunit *test)
{
	kunit_copy = kunit_kzalloc(test, KUNIT_TEXT_SIZE, GFP_KERNEL);
	kunit_text = execmem_alloc_rw(EXECMEM_DEFAULT, KUNIT_TEXT_SIZE);
	if (!kunit_copy || !kunit_text)
		return -ENOMEM;
	memset(kunit_copy, INT3_INSN_OPCODE, KUNIT_TEXT_SIZE);
	memset(kunit_text, INT3_INSN_OPCODE, KUNIT_TEXT_SIZE);
	return set_memory_rox((unsigned long)kunit_text, KUNIT_TEXT_PAGES);
}

static void text_patch_kunit_exit(struct kunit *test)
{
	execmem_free(kunit_text);
	kunit_text = NULL;
}

static unsigned long kunit_addr(size_t offset)
{
	return (unsigned long)kunit_text + offset;
}

/* Puts bytes there, and notes that they should be. */
static void kunit_write(size_t offset, const u8 *bytes, size_t len)
{
	memcpy(kunit_copy + offset, bytes, len);
	text_poke_copy(kunit_text + offset, bytes, len);
}

static void kunit_expect_copy(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcmp(kunit_text, kunit_copy, KUNIT_TEXT_SIZE), 0);
}

static void kunit_apply(struct text_patch *vec, unsigned int nr)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	text_patch_apply(vec, nr);
}

/* The effects of instructions */

/**
 * struct set_row - an instruction and its properties
 * @name: for the log
 * @insn: its bytes
 * @len: how many
 * @emulate: the instruction to emulate at a breakpoint; all 0 for the same one
 * @ok: whether it can be patched
 * @act: its effect
 * @dest: where it goes, from its first byte
 */
struct set_row {
	const char		*name;
	u8			insn[8];
	size_t			len;
	u8			emulate[TEXT_PATCH_LEN];
	bool			ok;
	enum text_patch_act	act;
	int			dest;
};

#define ROW_JCC(cc)							\
	{ "jcc " #cc, { 0x0f, 0x80 + (cc), 0x10, 0, 0, 0 }, 6, {}, true,	\
	  TEXT_PATCH_ACT_JCC + (cc), 6 + 0x10 }

static const struct set_row set_rows[] = {
	{ "call", { 0xe8, 0x10, 0, 0, 0 }, 5, {}, true, TEXT_PATCH_ACT_CALL, 0x15 },
	{ "call back", { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, {}, true, TEXT_PATCH_ACT_CALL, 0 },
	{ "jmp", { 0xe9, 0x00, 0x01, 0, 0 }, 5, {}, true, TEXT_PATCH_ACT_JUMP, 0x105 },
	{ "jmp back", { 0xe9, 0, 0xff, 0xff, 0xff }, 5, {}, true, TEXT_PATCH_ACT_JUMP, -0xfb },
	{ "jmp, padded", { 0xe9, 1, 0, 0, 0, 0xcc }, 6, {}, true, TEXT_PATCH_ACT_JUMP, 6 },
	{ "jmp8", { 0xeb, 0x7f }, 2, {}, true, TEXT_PATCH_ACT_JUMP, 0x81 },
	{ "jmp8 back", { 0xeb, 0x80 }, 2, {}, true, TEXT_PATCH_ACT_JUMP, -0x7e },
	{ "jmp8, padded", { 0xeb, 2, 0xcc, 0xcc, 0xcc }, 5, {}, true, TEXT_PATCH_ACT_JUMP, 4 },
	{ "ret", { 0xc3 }, 1, {}, true, TEXT_PATCH_ACT_RET, 1 },
	{ "ret, padded", { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc }, 5, {}, true, TEXT_PATCH_ACT_RET, 1 },
	{ "int3", { 0xcc }, 1, {}, true, TEXT_PATCH_ACT_PASS, 1 },
	{ "int3 and more", { 0xcc, 1, 2, 3, 4 }, 5, {}, true, TEXT_PATCH_ACT_PASS, 1 },
	{ "nop1", { BYTES_NOP1 }, 1, {}, true, TEXT_PATCH_ACT_JUMP, 1 },
	{ "nop2", { BYTES_NOP2 }, 2, {}, true, TEXT_PATCH_ACT_JUMP, 2 },
	{ "nop3", { BYTES_NOP3 }, 3, {}, true, TEXT_PATCH_ACT_JUMP, 3 },
	{ "nop4", { BYTES_NOP4 }, 4, {}, true, TEXT_PATCH_ACT_JUMP, 4 },
	{ "nop5", { BYTES_NOP5 }, 5, {}, true, TEXT_PATCH_ACT_JUMP, 5 },
	{ "nop6", { BYTES_NOP6 }, 6, {}, true, TEXT_PATCH_ACT_JUMP, 6 },
	/* A static call that returns 0 becomes this, and one that warns the next. */
	{ "xor, as call", { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 }, 5, { 0xe8, 0x20, 0, 0, 0 },
	  true, TEXT_PATCH_ACT_CALL, 0x25 },
	{ "ud1, as call", { 0x67, 0x48, 0x0f, 0xb9, 0x3a }, 5, { 0xe8, 0x20, 0, 0, 0 },
	  true, TEXT_PATCH_ACT_CALL, 0x25 },
	ROW_JCC(0), ROW_JCC(1), ROW_JCC(2), ROW_JCC(3),
	ROW_JCC(4), ROW_JCC(5), ROW_JCC(6), ROW_JCC(7),
	ROW_JCC(8), ROW_JCC(9), ROW_JCC(10), ROW_JCC(11),
	ROW_JCC(12), ROW_JCC(13), ROW_JCC(14), ROW_JCC(15),
	{ "nothing", { BYTES_NOP1 }, 0 },
	{ "xor alone", { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 }, 5 },
	{ "ud1 alone", { 0x67, 0x48, 0x0f, 0xb9, 0x3a }, 5 },
	{ "half a call", { 0xe8, 0x10, 0, 0 }, 4 },
	{ "half a jmp", { 0xe9, 0x10, 0, 0 }, 4 },
	{ "half a jmp8", { 0xeb }, 1 },
	{ "half a jcc", { 0x0f, 0x84, 0, 0, 0 }, 5 },
	{ "call and more", { 0xe8, 0x10, 0, 0, 0, 0xcc }, 6 },
	{ "ret and more", { 0xc3, 0x90 }, 2 },
	{ "jmp and more", { 0xe9, 0, 0, 0, 0, 0x90 }, 6 },
	{ "two nops", { 0x90, 0x90 }, 2 },
	{ "setcc", { 0x0f, 0x94, 0xc0, 0, 0, 0 }, 6 },
	{ "nop7", { BYTES_NOP7 }, 7 },
};

KUNIT_ARRAY_PARAM_DESC(set, set_rows, name);

static void text_patch_kunit_set(struct kunit *test)
{
	const struct set_row *row = test->param_value;
	unsigned long addr = kunit_addr(0x1000);
	struct text_patch patch;
	bool ok;

	ok = text_patch_set(&patch, addr, row->insn, row->len,
			    row->emulate[0] ? row->emulate : NULL);
	KUNIT_ASSERT_EQ(test, ok, row->ok);
	if (!ok)
		return;
	KUNIT_EXPECT_EQ(test, text_patch_addr(&patch), addr);
	KUNIT_EXPECT_EQ(test, (size_t)patch.len, row->len);
	KUNIT_EXPECT_EQ(test, (int)patch.act, (int)row->act);
	KUNIT_EXPECT_EQ(test, memcmp(patch.new, row->insn, row->len), 0);
	if (row->act != TEXT_PATCH_ACT_RET && row->act != TEXT_PATCH_ACT_PASS)
		KUNIT_EXPECT_EQ(test, text_patch_dest(&patch), addr + row->dest);
}

/* The short ways give the same. */
static void text_patch_kunit_set_short(struct kunit *test)
{
	unsigned long addr = kunit_addr(0x1ffd), dest = kunit_addr(0x40);
	s32 rel = dest - (addr + 5);
	u8 call[5] = { 0xe8 }, jump[5] = { 0xe9 };
	struct text_patch a = {}, b = {};

	memcpy(call + 1, &rel, 4);
	memcpy(jump + 1, &rel, 4);

	text_patch_set_call(&a, addr, dest);
	KUNIT_EXPECT_TRUE(test, text_patch_set(&b, addr, call, 5, NULL));
	KUNIT_EXPECT_EQ(test, memcmp(&a, &b, sizeof(a)), 0);
	text_patch_set_jump(&a, addr, dest);
	KUNIT_EXPECT_TRUE(test, text_patch_set(&b, addr, jump, 5, NULL));
	KUNIT_EXPECT_EQ(test, memcmp(&a, &b, sizeof(a)), 0);
	text_patch_set_nop(&a, addr);
	KUNIT_EXPECT_TRUE(test, text_patch_set(&b, addr, x86_nops[5], 5, NULL));
	KUNIT_EXPECT_EQ(test, memcmp(&a, &b, sizeof(a)), 0);
}

/* The handler, with batches that stand nowhere */

/**
 * struct kunit_trap - a trap, made by hand
 * @regs: the registers at the trap
 * @stack: the stack that its stack pointer points into
 */
struct kunit_trap {
	struct pt_regs	regs;
	unsigned long	stack[4];
};

#define KUNIT_RETURN	0x1234

static int kunit_trap(struct kunit_trap *trap, unsigned long addr, unsigned long flags)
{
	*trap = (struct kunit_trap) {
		.regs.ip	= addr + INT3_INSN_SIZE,
		.regs.cs	= __KERNEL_CS,
		.regs.flags	= flags,
		.stack[2]	= KUNIT_RETURN,
	};
	trap->regs.sp = (unsigned long)&trap->stack[2];
	return smp_text_poke_int3_handler(&trap->regs);
}

/* Traps at @addr while @batch is live. */
static int kunit_trap_in(struct text_patch_batch *batch, struct kunit_trap *trap,
			 unsigned long addr, unsigned long flags)
{
	int ret;

	guard(mutex)(&text_mutex);
	WRITE_ONCE(text_patch_live, batch);
	ret = kunit_trap(trap, addr, flags);
	WRITE_ONCE(text_patch_live, NULL);
	text_patch_drain();
	return ret;
}

static bool jcc_taken(unsigned int cc, unsigned long flags)
{
	bool cf = flags & X86_EFLAGS_CF, pf = flags & X86_EFLAGS_PF;
	bool zf = flags & X86_EFLAGS_ZF, sf = flags & X86_EFLAGS_SF;
	bool of = flags & X86_EFLAGS_OF;

	switch (cc) {
	case 0x0: return of;
	case 0x1: return !of;
	case 0x2: return cf;
	case 0x3: return !cf;
	case 0x4: return zf;
	case 0x5: return !zf;
	case 0x6: return cf || zf;
	case 0x7: return !cf && !zf;
	case 0x8: return sf;
	case 0x9: return !sf;
	case 0xa: return pf;
	case 0xb: return !pf;
	case 0xc: return sf != of;
	case 0xd: return sf == of;
	case 0xe: return zf || sf != of;
	default: return !zf && sf == of;
	}
}

static const unsigned long kunit_flags[] = {
	X86_EFLAGS_CF, X86_EFLAGS_PF, X86_EFLAGS_ZF, X86_EFLAGS_SF, X86_EFLAGS_OF,
};

static void text_patch_kunit_jcc(struct kunit *test)
{
	u8 insn[6] = { 0x0f, 0x80, 0x00, 0x01, 0, 0 };
	unsigned long addr = kunit_addr(0x123);
	struct text_patch patch;
	struct text_patch_batch batch = { &patch, 1 };
	struct kunit_trap trap;

	for (unsigned int cc = 0; cc < 16; cc++) {
		insn[1] = 0x80 + cc;
		KUNIT_ASSERT_TRUE(test, text_patch_set(&patch, addr, insn, 6, NULL));
		for (unsigned int set = 0; set < BIT(ARRAY_SIZE(kunit_flags)); set++) {
			unsigned long flags = X86_EFLAGS_FIXED;

			for (unsigned int i = 0; i < ARRAY_SIZE(kunit_flags); i++)
				flags |= set & BIT(i) ? kunit_flags[i] : 0;
			kunit_trap_in(&batch, &trap, addr, flags);
			KUNIT_EXPECT_EQ_MSG(test, trap.regs.ip,
					    addr + 6 + (jcc_taken(cc, flags) ? 0x100 : 0),
					    "condition %x, flags %lx", cc, flags);
			KUNIT_EXPECT_EQ(test, trap.regs.flags, flags);
		}
	}
}

static void text_patch_kunit_emulate(struct kunit *test)
{
	unsigned long addr = kunit_addr(0x2000), dest = kunit_addr(0x40);
	struct text_patch patch;
	struct text_patch_batch batch = { &patch, 1 };
	struct kunit_trap trap;

	text_patch_set_call(&patch, addr, dest);
	kunit_trap_in(&batch, &trap, addr, 0);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, dest);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)trap.regs.sp, &trap.stack[1]);
	KUNIT_EXPECT_EQ(test, trap.stack[1], addr + 5);
	KUNIT_EXPECT_EQ(test, trap.stack[2], KUNIT_RETURN);

	text_patch_set_jump(&patch, addr, dest);
	kunit_trap_in(&batch, &trap, addr, 0);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, dest);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)trap.regs.sp, &trap.stack[2]);

	text_patch_set_nop(&patch, addr);
	kunit_trap_in(&batch, &trap, addr, 0);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, addr + 5);

	KUNIT_ASSERT_TRUE(test, text_patch_set(&patch, addr, "\xc3\xcc\xcc\xcc\xcc", 5, NULL));
	kunit_trap_in(&batch, &trap, addr, 0);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, KUNIT_RETURN);
	KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)trap.regs.sp, &trap.stack[3]);
}

/* Breakpoints that the batch is not for, or not any more. */
static void text_patch_kunit_not_ours(struct kunit *test)
{
	unsigned long addr = kunit_addr(0x3000);
	struct text_patch patch;
	struct text_patch_batch batch = { &patch, 1 };
	struct kunit_trap trap;
	unsigned int cpu;

	/* An INT3 stands there, and is not in the batch. */
	text_patch_set_nop(&patch, addr);
	kunit_trap_in(&batch, &trap, addr + 8, 0);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, addr + 9);
	KUNIT_EXPECT_EQ(test, kunit_trap(&trap, addr + 8, 0), 0);

	/* It is, and the trap is left to the code that planted it. */
	KUNIT_ASSERT_TRUE(test, text_patch_set(&patch, addr, "\xcc\x01", 2, NULL));
	KUNIT_EXPECT_EQ(test, kunit_trap_in(&batch, &trap, addr, 0), 0);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, addr + 1);

	/* It is gone: the CPU executes the text there, batch or no batch. */
	kunit_write(0x3000, "\x90\x90", 2);
	KUNIT_EXPECT_EQ(test, kunit_trap(&trap, addr, 0), 1);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, addr);
	KUNIT_EXPECT_EQ(test, kunit_trap_in(&batch, &trap, addr, 0), 1);
	KUNIT_EXPECT_EQ(test, trap.regs.ip, addr);

	/* Nothing of user space is the patcher's. */
	trap.regs.ip = addr + 1;
	trap.regs.cs = __USER_CS;
	KUNIT_EXPECT_EQ(test, smp_text_poke_int3_handler(&trap.regs), 0);

	/* No CPU is counted as inside any more. */
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_EQ(test, per_cpu(text_patch_inside, cpu), 0);
}

/*
 * A breakpoint that is gone: the CPU executes any instruction that stands there.
 * It fetches the instruction anew where translations are kept by the state of RF.
 */
static void text_patch_kunit_stale(struct kunit *test)
{
	static const char * const rows[] = {
		/* CALL, NOP, JE, RET; and MOV, UD2, which no batch leaves */
		"\xe8\x10", "\x66\x90", "\x0f\x84", "\xc3", "\x48\x89\xe5", "\x0f\x0b",
	};
	unsigned long addr = kunit_addr(0x3100);
	struct kunit_trap trap;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		kunit_write(0x3100, rows[i], strlen(rows[i]));
		/* As often as it comes. */
		for (unsigned int times = 0; times < 3; times++) {
			KUNIT_EXPECT_EQ(test, kunit_trap(&trap, addr, X86_EFLAGS_ZF), 1);
			KUNIT_EXPECT_EQ(test, trap.regs.ip, addr);
			KUNIT_EXPECT_EQ(test, trap.regs.flags, X86_EFLAGS_ZF | X86_EFLAGS_RF);
			KUNIT_EXPECT_PTR_EQ(test, (unsigned long *)trap.regs.sp, &trap.stack[2]);
		}
	}
}

static void text_patch_kunit_search(struct kunit *test)
{
	struct text_patch *vec = kunit_kcalloc(test, 100, sizeof(*vec), GFP_KERNEL);
	struct kunit_trap trap;

	KUNIT_ASSERT_NOT_NULL(test, vec);
	for (unsigned int i = 0; i < 100; i++)
		text_patch_set_jump(&vec[i], kunit_addr(16 * i), kunit_addr(0x2000 + i));

	for (unsigned int nr = 0; nr <= 100; nr += nr < 4 ? 1 : 32) {
		struct text_patch_batch batch = { vec, nr };

		for (unsigned int i = 0; i < 100; i++) {
			kunit_trap_in(&batch, &trap, kunit_addr(16 * i), 0);
			KUNIT_EXPECT_EQ(test, trap.regs.ip, i < nr ? kunit_addr(0x2000 + i) :
								     kunit_addr(16 * i + 1));
			kunit_trap_in(&batch, &trap, kunit_addr(16 * i + 1), 0);
			KUNIT_EXPECT_EQ(test, trap.regs.ip, kunit_addr(16 * i + 2));
		}
	}
}

/* Writing */

static void text_patch_kunit_copy(struct kunit *test)
{
	u8 *bytes = kunit_kmalloc(test, 5 * PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (unsigned int i = 0; i < 5 * PAGE_SIZE; i++)
		bytes[i] = i * 7 + (i >> 8);

	/* Within a page, up to its end, over it by a byte, and over many. */
	kunit_write(10, bytes, 20);
	kunit_write(PAGE_SIZE - 20, bytes, 20);
	kunit_write(2 * PAGE_SIZE - 20, bytes, 21);
	kunit_write(4 * PAGE_SIZE - 1, bytes, 2);
	kunit_write(10 * PAGE_SIZE - 100, bytes, 5 * PAGE_SIZE);
	kunit_write(KUNIT_TEXT_SIZE - 3 * PAGE_SIZE, bytes, 3 * PAGE_SIZE);
	kunit_expect_copy(test);

	text_poke_set(kunit_text + 11 * PAGE_SIZE - 1, 0x5a, 3 * PAGE_SIZE);
	memset(kunit_copy + 11 * PAGE_SIZE - 1, 0x5a, 3 * PAGE_SIZE);
	text_poke_set(kunit_text + 20, 0x1a5, 1);
	kunit_copy[20] = 0xa5;
	text_poke_set(kunit_text, 0, 0);
	kunit_expect_copy(test);
}

/* No CPU is left in the mask: a flush of the next window would send it an interrupt. */
static void text_patch_kunit_unloaded(struct kunit *test)
{
	kunit_write(0, "\x90", 1);
	kunit_write(PAGE_SIZE - 1, "\x66\x90", 2);
	kunit_expect_copy(test);

	guard(mutex)(&text_mutex);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(mm_cpumask(text_poke_mm)));
}

static int kunit_write_thread(void *data)
{
	kunit_write(10, "\x90", 1);
	complete(data);
	return 0;
}

/* Page tables of text are exchanged under init_mm's lock: a window waits for it. */
static void text_patch_kunit_collapse(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(written);
	struct task_struct *task;

	task = kthread_create(kunit_write_thread, &written, "text-patch-kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	mmap_write_lock(&init_mm);
	wake_up_process(task);
	msleep(30);
	KUNIT_EXPECT_FALSE(test, completion_done(&written));
	mmap_write_unlock(&init_mm);
	wait_for_completion(&written);
	kunit_expect_copy(test);
}

/* Instructions of each length, by turns. */
static const u8 kunit_insns[][TEXT_PATCH_LEN] = {
	{ 0xc3 }, { 0xeb, 0x10 }, { BYTES_NOP3 }, { BYTES_NOP4 }, { 0xe8, 1, 2, 3, 4 },
	{ 0x0f, 0x8f, 5, 6, 7, 8 },
};

/* Puts the bytes of @vec in the copy. */
static void kunit_note(const struct text_patch *vec, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		memcpy(kunit_copy + (text_patch_addr(&vec[i]) - kunit_addr(0)), vec[i].new,
		       vec[i].len);
}

/*
 * Lengths by turns at a distance of @step, so that over some page's end there
 * lies one, and over many windows and batches.
 */
static unsigned int kunit_mixed(struct kunit *test, struct text_patch *vec, unsigned int max,
				size_t step, unsigned int shift)
{
	unsigned int nr = 0;

	for (size_t at = 0; nr < max && at + TEXT_PATCH_LEN <= KUNIT_TEXT_SIZE; at += step) {
		unsigned int len = 1 + (nr + shift) % ARRAY_SIZE(kunit_insns);

		KUNIT_ASSERT_TRUE(test, text_patch_set(&vec[nr++], kunit_addr(at),
						       kunit_insns[len - 1], len, NULL));
	}
	return nr;
}

static const size_t kunit_steps[] = { 6, 7, 61, 2045, PAGE_SIZE - 2, 63 * PAGE_SIZE - 1 };

static void kunit_step_desc(const size_t *step, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "every %zu bytes", *step);
}

KUNIT_ARRAY_PARAM(steps, kunit_steps, kunit_step_desc);

#define KUNIT_MAX	3000

static void text_patch_kunit_batches(struct kunit *test)
{
	const size_t *step = test->param_value;
	struct text_patch *vec = kunit_kcalloc(test, KUNIT_MAX, sizeof(*vec), GFP_KERNEL);
	static const unsigned int bounds[] = { 1, 2, 511, 512, 513, TEXT_PATCH_BATCH_MAX };
	unsigned int kept = text_patch_max;

	KUNIT_ASSERT_NOT_NULL(test, vec);
	for (unsigned int i = 0; i < ARRAY_SIZE(bounds); i++) {
		/* One broadcast or two for each is enough. */
		unsigned int max = min(KUNIT_MAX, 20 * bounds[i]);
		unsigned int nr = kunit_mixed(test, vec, max, *step, i);

		WRITE_ONCE(text_patch_max, bounds[i]);
		kunit_apply(vec, nr);
		kunit_note(vec, nr);
		kunit_expect_copy(test);
	}
	WRITE_ONCE(text_patch_max, kept);
	KUNIT_EXPECT_NULL(test, text_patch_live);
}

/* Queueing */

static void kunit_queue(size_t offset, const u8 *insn, size_t len)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	smp_text_poke_batch_add(kunit_text + offset, insn, len, NULL);
}

static void kunit_finish(void)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	smp_text_poke_batch_finish();
}

/* In any order, more than fit, and some of them twice. */
static void text_patch_kunit_queue(struct kunit *test)
{
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int len = 1 + i % ARRAY_SIZE(kunit_insns);
		size_t at = 8 * (i * 37 % 700);

		kunit_queue(at, kunit_insns[len - 1], len);
		memcpy(kunit_copy + at, kunit_insns[len - 1], len);
	}
	kunit_finish();
	kunit_expect_copy(test);

	/* Changes that overlap are written later. */
	kunit_queue(6001, kunit_insns[4], 5);
	kunit_queue(6005, kunit_insns[1], 2);
	kunit_queue(5997, kunit_insns[4], 5);
	memcpy(kunit_copy + 6001, kunit_insns[4], 5);
	memcpy(kunit_copy + 6005, kunit_insns[1], 2);
	memcpy(kunit_copy + 5997, kunit_insns[4], 5);
	kunit_finish();
	kunit_expect_copy(test);
}

static void text_patch_kunit_bp(struct kunit *test)
{
	mutex_lock(&text_mutex);
	/* Its second half only, and an INT3 that stays. */
	smp_text_poke_single(kunit_text + 4094, "\xcc\x90\x91\x92\x93", 5, NULL);
	smp_text_poke_single(kunit_text + 8190, x86_nops[5], 5, NULL);
	smp_text_poke_single(kunit_text + 100, "\x2e\x2e\x2e\x31\xc0", 5, "\xe8\0\0\0\0");
	/* The same again. */
	smp_text_poke_single(kunit_text + 8190, x86_nops[5], 5, NULL);
	text_poke(kunit_text + 200, "\x90", 1);
	smp_text_poke_sync_each_cpu();
	mutex_unlock(&text_mutex);

	memcpy(kunit_copy + 4094, "\xcc\x90\x91\x92\x93", 5);
	memcpy(kunit_copy + 8190, x86_nops[5], 5);
	memcpy(kunit_copy + 100, "\x2e\x2e\x2e\x31\xc0", 5);
	kunit_copy[200] = 0x90;
	kunit_expect_copy(test);
}

/* Text of the core kernel, which stays. This is never called. */
static noinline void text_patch_kunit_core(void)
{
	asm volatile(".fill 1024, 1, 0xcc");
}

/* Past the code that the compiler puts at the head of a function. */
static u8 *kunit_core(void)
{
	u8 *text = (u8 *)text_patch_kunit_core;

	/* With IBT, objtool wants an ENDBR at an address that is a constant. */
	OPTIMIZER_HIDE_VAR(text);
	return text + 128;
}

static void kunit_core_queue(size_t offset, const u8 *insn, size_t len)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	smp_text_poke_batch_add(kunit_core() + offset, insn, len, NULL);
}

/*
 * A batch puts off the changes that its task finishes, unless a caller has to read
 * the text. (Or switches a key in these microseconds, which hardly happens at boot.)
 */
static void text_patch_kunit_collect(struct kunit *test)
{
	const u8 *text = kunit_core();

	text_batch_begin();
	kunit_core_queue(0, "\xc3", 1);
	kunit_finish();
	KUNIT_EXPECT_EQ(test, text[0], INT3_INSN_OPCODE);

	kunit_core_queue(100, x86_nops[2], 2);
	KUNIT_EXPECT_EQ(test, text[100], INT3_INSN_OPCODE);

	/* Before it, after it, and at its last byte. */
	scoped_guard(cpus_read_lock) {
		guard(mutex)(&text_mutex);
		text_poke_settle(text + 95, 5);
		text_poke_settle(text + 102, 5);
		KUNIT_EXPECT_EQ(test, text[100], INT3_INSN_OPCODE);
		text_poke_settle(text + 101, 5);
		KUNIT_EXPECT_EQ(test, text[100], x86_nops[2][0]);
	}
	KUNIT_EXPECT_EQ(test, text[0], 0xc3);

	kunit_core_queue(200, "\xc3", 1);
	text_batch_flush();
	KUNIT_EXPECT_EQ(test, text[200], 0xc3);
	kunit_core_queue(300, "\xc3", 1);
	kunit_finish();
	KUNIT_EXPECT_EQ(test, text[300], INT3_INSN_OPCODE);
	text_batch_end();
	KUNIT_EXPECT_EQ(test, text[300], 0xc3);

	kunit_core_queue(400, "\xc3", 1);
	KUNIT_EXPECT_EQ(test, text[400], INT3_INSN_OPCODE);
	kunit_finish();
	KUNIT_EXPECT_EQ(test, text[400], 0xc3);
}

/*
 * Text that may be freed is not left in the queue for the end of the batch: the
 * lock that keeps it is released after smp_text_poke_batch_finish().
 */
static void text_patch_kunit_collect_mortal(struct kunit *test)
{
	const u8 *core = kunit_core();

	text_batch_begin();
	kunit_core_queue(500, "\xc3", 1);
	kunit_finish();
	KUNIT_EXPECT_EQ(test, core[500], INT3_INSN_OPCODE);
	kunit_queue(500, "\xc3", 1);
	KUNIT_EXPECT_EQ(test, kunit_text[500], INT3_INSN_OPCODE);
	kunit_finish();
	KUNIT_EXPECT_EQ(test, kunit_text[500], 0xc3);
	KUNIT_EXPECT_EQ(test, core[500], 0xc3);

	/* Nothing of that kind is left, and core text waits again. */
	kunit_core_queue(501, "\xc3", 1);
	kunit_finish();
	KUNIT_EXPECT_EQ(test, core[501], INT3_INSN_OPCODE);
	text_batch_end();
	KUNIT_EXPECT_EQ(test, core[501], 0xc3);
}

/* Handlers that are inside */

struct kunit_inside {
	struct completion	entered;
	bool			left;
};

static int kunit_inside_thread(void *data)
{
	struct kunit_inside *inside = data;

	/* As a handler does, and another one that interrupts it. */
	preempt_disable();
	this_cpu_inc(text_patch_inside);
	this_cpu_inc(text_patch_inside);
	complete(&inside->entered);
	this_cpu_dec(text_patch_inside);
	mdelay(30);
	WRITE_ONCE(inside->left, true);
	barrier();
	this_cpu_dec(text_patch_inside);
	preempt_enable();
	return 0;
}

static void text_patch_kunit_drain(struct kunit *test)
{
	struct kunit_inside inside = { };
	struct task_struct *task;

	init_completion(&inside.entered);
	task = kthread_run(kunit_inside_thread, &inside, "text-patch-kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wait_for_completion(&inside.entered);
	text_patch_drain();
	KUNIT_EXPECT_TRUE(test, READ_ONCE(inside.left));
	kthread_stop(task);
	put_task_struct(task);
}

static struct kunit_case text_patch_kunit_cases[] = {
	KUNIT_CASE_PARAM(text_patch_kunit_set, set_gen_params),
	KUNIT_CASE(text_patch_kunit_set_short),
	KUNIT_CASE(text_patch_kunit_jcc),
	KUNIT_CASE(text_patch_kunit_emulate),
	KUNIT_CASE(text_patch_kunit_not_ours),
	KUNIT_CASE(text_patch_kunit_stale),
	KUNIT_CASE(text_patch_kunit_search),
	KUNIT_CASE(text_patch_kunit_copy),
	KUNIT_CASE(text_patch_kunit_unloaded),
	KUNIT_CASE(text_patch_kunit_collapse),
	KUNIT_CASE_PARAM(text_patch_kunit_batches, steps_gen_params),
	KUNIT_CASE(text_patch_kunit_queue),
	KUNIT_CASE(text_patch_kunit_bp),
	KUNIT_CASE(text_patch_kunit_collect),
	KUNIT_CASE(text_patch_kunit_collect_mortal),
	KUNIT_CASE(text_patch_kunit_drain),
	{ }
};

static struct kunit_suite text_patch_kunit_suite = {
	.name		= "text_patch",
	.init		= text_patch_kunit_init,
	.exit		= text_patch_kunit_exit,
	.test_cases	= text_patch_kunit_cases,
};

kunit_test_suite(text_patch_kunit_suite);
