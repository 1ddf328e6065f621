// SPDX-License-Identifier: GPL-2.0
/*
 * The live patcher: replaces many instructions of running kernel text at a
 * time, while other CPUs execute them.
 *
 * Protocol, for a batch of at most text_patch_max instructions (Intel SDM
 * volume 3, "Handling Self- and Cross-Modifying Code", and the requirement
 * that a CPU never fetches a mixture of two instructions):
 *
 *	1. publish the batch
 *	2. write INT3 over the first byte of every instruction;	sync all CPUs
 *	3. write the other bytes; if any changed,		sync all CPUs
 *	4. write the first byte
 *	5. withdraw the batch; wait until no CPU looks at it
 *
 * From the sync of step 2 on, every CPU acts as the new instructions do. So
 * nothing is left for a sync after step 4 to do: a CPU that still holds an INT3
 * which it fetched before traps, and is told to fetch again.
 *
 * Invariants:
 *  1. While any byte of a batch differs from both the old and the new
 *     instruction, its first byte is INT3.
 *  2. A CPU that meets an INT3 of a published batch acts as the batch says,
 *     the same as the new instruction. So the new one must be right as soon as
 *     the batch is published, and the old one until all CPUs were synced.
 *  3. A CPU that traps on a byte which is no longer INT3 executes the
 *     instruction that now stands there, with RF set. So a breakpoint that arrives late, after
 *     step 4, is harmless, also one that is not the patcher's. If the byte is INT3 again, that
 *     is for the batch to answer that planted it: text_patch_seq tells whether
 *     one came while the CPU was looking.
 *  4. The vector of a batch may be freed once text_patch_apply() returns: no
 *     handler that has seen the batch is inside any more. Each CPU counts the
 *     handlers that are, in a word of its own.
 *  5. Text is written through windows only (text-window.c), of at most
 *     TEXT_PATCH_WINDOW instructions at a time with interrupts off.
 *
 * Locks: the caller holds text_mutex, and cpus_read_lock() unless no CPU
 * executes the text before it is online: one on its way up or down gets
 * no sync. The handler takes no lock, and may interrupt anything: NMIs, other
 * handlers, code where RCU is not watching.
 */
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/smap.h>
#include <asm/text-patch.h>
#include <asm/text-patching.h>

/*
 * So many writes with interrupts off take a few microseconds. The
 * window itself takes about as long to set up as 50 instructions to write.
 */
#define TEXT_PATCH_WINDOW	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 64 : 512)

/*
 * How many breakpoints may stand at a time: the parameter text_patch.batch. A
 * batch costs two broadcasts of any size, and for as long as it takes,
 * other CPUs trap where they meet one of its instructions.
 */
static unsigned int text_patch_max = 8192;

static int text_patch_max_set(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, TEXT_PATCH_BATCH_MAX);
}

static const struct kernel_param_ops text_patch_max_ops = {
	.set	= text_patch_max_set,
	.get	= param_get_uint,
};
module_param_cb(batch, &text_patch_max_ops, &text_patch_max, 0644);

/**
 * struct text_patch_batch - a batch, for the breakpoint handler
 * @vec: ascending by address
 * @nr: number of elements of @vec
 */
struct text_patch_batch {
	struct text_patch	*vec;
	unsigned int		nr;
};

/* Either NULL or a batch whose INT3s may be in the text. */
static struct text_patch_batch *text_patch_live;

/* Counts the batches that were published. */
static unsigned int text_patch_seq;

/* Handlers that are inside: an NMI may bring another one. */
static DEFINE_PER_CPU(unsigned int, text_patch_inside);

enum text_patch_step {
	TEXT_PATCH_STEP_INT3,
	TEXT_PATCH_STEP_TAIL,
	TEXT_PATCH_STEP_HEAD,
};

/* Whether @insn is followed by INT3s up to @len. */
static bool text_patch_padded(const u8 *insn, size_t size, size_t len)
{
	for (; size < len; size++) {
		if (insn[size] != INT3_INSN_OPCODE)
			return false;
	}
	return true;
}

static s32 text_patch_rel32(const u8 *bytes)
{
	s32 rel;

	memcpy(&rel, bytes, sizeof(rel));
	return rel;
}

/* Decodes one instruction of at most @patch->len bytes. */
static bool text_patch_decode(struct text_patch *patch, const u8 *insn)
{
	size_t len = patch->len, size = text_opcode_size(insn[0]);

	patch->dest = patch->addr + size;
	switch (insn[0]) {
	case CALL_INSN_OPCODE:
		patch->act = TEXT_PATCH_ACT_CALL;
		patch->dest += text_patch_rel32(insn + 1);
		return len == size;
	case JMP32_INSN_OPCODE:
		patch->act = TEXT_PATCH_ACT_JUMP;
		patch->dest += text_patch_rel32(insn + 1);
		return text_patch_padded(insn, size, len);
	case JMP8_INSN_OPCODE:
		patch->act = TEXT_PATCH_ACT_JUMP;
		patch->dest += (s8)insn[1];
		return text_patch_padded(insn, size, len);
	case RET_INSN_OPCODE:
		patch->act = TEXT_PATCH_ACT_RET;
		return text_patch_padded(insn, size, len);
	case INT3_INSN_OPCODE:
		/* The bytes after it are those of the code that plants it. */
		patch->act = TEXT_PATCH_ACT_PASS;
		return true;
	}

	patch->dest = patch->addr + len;
	if (len == TEXT_PATCH_LEN && insn[0] == 0x0f && (insn[1] & 0xf0) == 0x80) {
		patch->act = TEXT_PATCH_ACT_JCC + (insn[1] & 0xf);
		patch->dest += text_patch_rel32(insn + 2);
		return true;
	}
	patch->act = TEXT_PATCH_ACT_JUMP;
	return !memcmp(insn, x86_nops[len], len);
}

/**
 * text_patch_set - describe any instruction that can be patched
 * @patch: is filled
 * @addr: where
 * @insn: CALL, JMP, Jcc rel32, RET, INT3 or one of x86_nops; a JMP or RET may be
 *	  followed by INT3s, an INT3 by anything
 * @len: of @insn with the padding: 1 to TEXT_PATCH_LEN
 * @emulate: an instruction of the same length, to act on at a breakpoint, if
 *	     @insn is not one of the above; otherwise NULL
 *
 * Context: any.
 * Return: false if the instruction cannot be emulated, or @addr is outside of the upper
 * 2 GiB, where all text is.
 */
bool text_patch_set(struct text_patch *patch, unsigned long addr, const u8 *insn, size_t len,
		    const u8 *emulate)
{
	if ((long)addr != (s32)addr)
		return false;
	if (!len || len > TEXT_PATCH_LEN || len < text_opcode_size(emulate ? *emulate : *insn))
		return false;
	patch->addr = addr;
	patch->len = len;
	memcpy(patch->new, insn, len);
	return text_patch_decode(patch, emulate ?: insn);
}

/*
 * Access through a window, for which text_window_at() has the rules. It is all in
 * text_patch_write(): what is inlined there has its attributes.
 */

/* Returns the byte that stood there. */
static __always_inline u8 text_patch_write_head(u8 *text, u8 byte)
{
	u8 old = *text;

	WRITE_ONCE(*text, byte);
	return old;
}

/*
 * Returns whether it was not there yet. No call is made, neither of memcmp() nor of
 * memcpy(), nor for an index that UBSAN would check.
 */
static __always_inline bool text_patch_write_tail(const struct text_patch *patch, u8 *text)
{
	const u8 *new = patch->new;
	bool changed = false;

	/* The length of nearly all: this is one comparison and one store. */
	if (likely(patch->len == CALL_INSN_SIZE)) {
		u32 tail = get_unaligned((const u32 *)(new + 1));

		changed = get_unaligned((u32 *)(text + 1)) != tail;
		put_unaligned(tail, (u32 *)(text + 1));
		return changed;
	}
	for (unsigned int i = 1; i < patch->len; i++) {
		changed |= text[i] != new[i];
		text[i] = new[i];
	}
	return changed;
}

/* Writes the patches from @vec on, before @end. Returns whether anything has changed. */
static __no_sanitize_or_inline bool text_patch_write(const struct text_window *window,
						     struct text_patch *vec,
						     const struct text_patch *end,
						     enum text_patch_step step)
{
	/* For all of them: the compiler would read the window again after each store. */
	u8 *at = text_window_at(window, 0);
	bool changed = true;

	lass_stac();
	switch (step) {
	case TEXT_PATCH_STEP_INT3:
		for (; vec < end; vec++)
			vec->head = text_patch_write_head(at + text_patch_addr(vec),
							  INT3_INSN_OPCODE);
		break;
	case TEXT_PATCH_STEP_TAIL:
		for (changed = false; vec < end; vec++)
			changed |= text_patch_write_tail(vec, at + text_patch_addr(vec));
		break;
	case TEXT_PATCH_STEP_HEAD:
		for (; vec < end; vec++)
			text_patch_write_head(at + text_patch_addr(vec), vec->new[0]);
		break;
	}
	lass_clac();
	return changed;
}

static __always_inline bool text_patch_show(struct text_window *window,
					    const struct text_patch *patch)
{
	/* None is longer. Only where a page ends the length is looked at. */
	if (likely(text_patch_addr(patch) + TEXT_PATCH_LEN <= window->mapped))
		return true;
	return text_window_show(window, text_patch_addr(patch), patch->len);
}

/* Returns whether anything has changed. */
static bool text_patch_write_all(const struct text_patch_batch *batch, enum text_patch_step step)
{
	struct text_patch *vec = batch->vec, *end = vec + batch->nr;
	bool changed = false;

	while (vec < end) {
		struct text_patch *next = vec;
		struct text_patch *last = vec + min_t(size_t, end - vec, TEXT_PATCH_WINDOW);
		struct text_window window;

		text_window_begin(&window, text_patch_addr(vec));
		while (next < last && text_patch_show(&window, next))
			next++;
		text_window_enter(&window);
		changed |= text_patch_write(&window, vec, next, step);
		text_window_end(&window);
		vec = next;
	}
	return changed;
}

/*
 * The breakpoints stand, and no CPU executes an old instruction any more or a
 * new one yet: now tracers of instructions learn of the change.
 */
static void text_patch_tell_perf(const struct text_patch_batch *batch)
{
	if (!perf_event_text_poke_wanted())
		return;

	for (unsigned int i = 0; i < batch->nr; i++) {
		const struct text_patch *patch = &batch->vec[i];
		void *text = (void *)text_patch_addr(patch);
		u8 old[TEXT_PATCH_LEN];

		memcpy(old, text, patch->len);
		old[0] = patch->head;
		perf_event_text_poke(text, old, patch->len, patch->new, patch->len);
	}
}

/*
 * Waits for the handlers that may have seen a batch. A CPU need not be online
 * to be in one. Handlers wait for nothing, so this takes no longer than they.
 */
static void text_patch_drain(void)
{
	unsigned int cpu;

	/*
	 * Pairs with the barrier after the count in text_patch_int3(): either
	 * the handler is seen here, or it sees that the batch is gone.
	 */
	smp_mb();
	for_each_possible_cpu(cpu) {
		/* Pairs with text_patch_int3(): all that it read, it has read. */
		smp_cond_load_acquire(per_cpu_ptr(&text_patch_inside, cpu), !VAL);
	}
}

static void text_patch_batch_apply(struct text_patch_batch *batch)
{
	/* A handler that finds the batch finds it filled in. */
	smp_store_release(&text_patch_live, batch);
	/* Pairs with text_patch_answer(): a handler that reads the new number finds the batch. */
	smp_store_release(&text_patch_seq, text_patch_seq + 1);
	/* Pairs with text_patch_answer(): a CPU that meets an INT3 reads both. */
	smp_wmb();

	text_patch_write_all(batch, TEXT_PATCH_STEP_INT3);
	smp_text_poke_sync_each_cpu();

	text_patch_tell_perf(batch);
	if (text_patch_write_all(batch, TEXT_PATCH_STEP_TAIL))
		smp_text_poke_sync_each_cpu();

	text_patch_write_all(batch, TEXT_PATCH_STEP_HEAD);
	/* The bytes before there is no batch. Pairs with text_patch_answer(). */
	smp_wmb();
	WRITE_ONCE(text_patch_live, NULL);
	text_patch_drain();
}

/**
 * text_patch_apply - replace instructions of running text
 * @vec: the instructions, strictly ascending by address, not overlapping; the
 *	 caller has verified the old ones, and keeps @vec alive until return
 * @nr: how many
 *
 * When this returns, no CPU will execute an old instruction. A CPU may still
 * meet a breakpoint that it fetched before, and then executes the instruction there.
 *
 * Context: process context, may wait for other CPUs; text_mutex is held, and
 * cpus_read_lock() too unless no CPU executes the text before it is online.
 */
void text_patch_apply(struct text_patch *vec, unsigned int nr)
{
	/*
	 * The functions that are called from here, over and over, are at the beginning of the
	 * image: they get calls with the last batch, and lose them with the first.
	 */
	bool down = nr && vec->new[0] == CALL_INSN_OPCODE;

	struct text_patch_batch batch;

	lockdep_assert_held(&text_mutex);

	for (unsigned int done = 0; done < nr; done += batch.nr) {
		batch.nr = min(nr - done, READ_ONCE(text_patch_max));
		batch.vec = vec + (down ? nr - done - batch.nr : done);
		text_patch_batch_apply(&batch);
		cond_resched();
	}
}

static __always_inline int text_patch_cmp(const void *addr, const void *patch)
{
	unsigned long at = text_patch_addr(patch);

	return (unsigned long)addr < at ? -1 : (unsigned long)addr > at;
}

static __always_inline const struct text_patch *
text_patch_find(const struct text_patch_batch *batch, unsigned long addr)
{
	return __inline_bsearch((void *)addr, batch->vec, batch->nr, sizeof(*batch->vec),
				text_patch_cmp);
}

/* Returns whether the breakpoint is answered. */
static __always_inline bool text_patch_emulate(const struct text_patch *patch,
					       struct pt_regs *regs)
{
	unsigned long dest = text_patch_dest(patch), next = text_patch_next(patch);

	switch (patch->act) {
	case TEXT_PATCH_ACT_JUMP:
		int3_emulate_jmp(regs, dest);
		return true;
	case TEXT_PATCH_ACT_CALL:
		int3_emulate_call(regs, next, dest);
		return true;
	case TEXT_PATCH_ACT_RET:
		int3_emulate_ret(regs);
		return true;
	case TEXT_PATCH_ACT_PASS:
		return false;
	default:
		int3_emulate_jcc(regs, patch->act - TEXT_PATCH_ACT_JCC, next, dest - next);
		return true;
	}
}

static __always_inline bool text_patch_answer(struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;
	const struct text_patch_batch *batch;
	const struct text_patch *patch;
	unsigned int seq;
	u8 byte;

	do {
		/* Pairs with text_patch_batch_apply(): its batch is seen below. */
		seq = smp_load_acquire(&text_patch_seq);
		/* Pairs with text_patch_batch_apply(): its instructions are seen. */
		batch = smp_load_acquire(&text_patch_live);
		patch = batch ? text_patch_find(batch, addr) : NULL;
		if (patch && text_patch_emulate(patch, regs))
			return true;
		byte = READ_ONCE(*(u8 *)addr);
		/* The same pairing: an INT3 of a batch that came meanwhile has its number. */
		smp_rmb();
	} while (READ_ONCE(text_patch_seq) != seq);

	if (byte == INT3_INSN_OPCODE)
		return false;

	/*
	 * Late: IRET serializes, so the next fetch gets the new byte.
	 * ERETS, with FRED, does not: if the INT3 is fetched again all the same,
	 * it traps again, and is answered again. That ends, as no CPU keeps
	 * fetched bytes for good. But QEMU before 8.1 may have translated
	 * the INT3 while it was taken away, and does: a translation is valid
	 * for one state of RF, so that this one is not found. A CPU's RF keeps
	 * an instruction breakpoint at @addr, reported before the INT3, from
	 * being reported twice.
	 */
	regs->ip = addr;
	regs->flags |= X86_EFLAGS_RF;
	return true;
}

/**
 * text_patch_int3 - the breakpoint handler of the live patcher
 * @regs: of the trap
 *
 * Context: any, NMI included; interrupts are off. Calls nothing.
 * Return: true if the breakpoint was the patcher's, or is gone.
 */
noinstr bool text_patch_int3(struct pt_regs *regs)
{
	bool answered;

	if (user_mode(regs))
		return false;

	this_cpu_inc(text_patch_inside);
	/* Pairs with text_patch_drain(): counted before the batch is looked for. */
	smp_mb();
	answered = text_patch_answer(regs);
	/*
	 * Pairs with text_patch_drain(): the batch is read
	 * before. x86 does not delay a load past a store; the compiler might.
	 */
	barrier();
	this_cpu_dec(text_patch_inside);
	return answered;
}

#ifdef CONFIG_TEXT_PATCH_KUNIT_TEST
#include "tests/text_patch_kunit.c"
#include "tests/text_patch_executed_kunit.c"
#endif
