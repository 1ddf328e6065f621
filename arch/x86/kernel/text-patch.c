// SPDX-License-Identifier: GPL-2.0
/*
 * The live patcher: replaces many instructions of running kernel text at a
 * time, while other CPUs execute them.
 *
 * Protocol, for a batch of at most TEXT_PATCH_BATCH instructions (Intel SDM
 * volume 3, "Handling Self- and Cross-Modifying Code", and the requirement
 * that a CPU never fetches a mixture of two instructions):
 *
 *	1. publish the batch
 *	2. write INT3 over the first byte of every instruction;	sync all CPUs
 *	3. write the other bytes;				sync all CPUs
 *	4. write the first byte; withdraw the batch;		sync all CPUs
 *
 * Invariants:
 *  1. While any byte of a batch differs from both the old and the new
 *     instruction, its first byte is INT3.
 *  2. A CPU that meets an INT3 of a published batch does what the new
 *     instruction does. So the new one must be right as soon as the batch
 *     is published, and the old one until it is withdrawn.
 *  3. A CPU that traps on a byte which is no longer INT3 executes again what
 *     now stands there. So a breakpoint that arrives late, after step 4, is
 *     harmless, whoever planted it. If the byte is INT3 again, that is for the
 *     batch to answer that planted it: text_patch_seq tells whether one came
 *     while the CPU was looking.
 *  4. The vector of a batch may be freed once text_patch_apply() returns: the
 *     handler runs with interrupts off, and the last sync interrupts every
 *     CPU after the batch was withdrawn.
 *  5. Text is written through an alias in poking_mm only, with interrupts
 *     off and for at most TEXT_PATCH_WINDOW pages at a time; no alias is left
 *     behind.
 *
 * Locks: the caller holds cpus_read_lock() (a CPU on its way up or down gets
 * no sync) and text_mutex. The handler takes none, and may interrupt anything:
 * NMIs, other handlers, code where RCU is not watching.
 */
#include <linux/bug.h>
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/debugreg.h>
#include <asm/mmu_context.h>
#include <asm/sections.h>
#include <asm/text-patch.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

/*
 * Pages that are written in one go with interrupts off: some 400 sites of
 * function tracing, a few microseconds.
 */
#define TEXT_PATCH_WINDOW	64

/* Where poking_mm maps a window; one page table covers it. */
static unsigned long text_patch_window __ro_after_init;

/**
 * struct text_patch_batch - what the breakpoint handler looks at
 * @vec: ascending by address
 * @nr: number of elements of @vec
 */
struct text_patch_batch {
	const struct text_patch	*vec;
	unsigned int		nr;
};

/* Either NULL or a batch whose INT3s may be in the text. */
static struct text_patch_batch *text_patch_live;

/* Counts the batches that were published. */
static unsigned int text_patch_seq;

enum text_patch_step {
	TEXT_PATCH_STEP_INT3,
	TEXT_PATCH_STEP_TAIL,
	TEXT_PATCH_STEP_HEAD,
};

/**
 * text_patch_init - reserve the window's address range and page table
 *
 * Context: once, after poking_init().
 */
void __init text_patch_init(void)
{
	pte_t *ptep;
	/* Of poking_mm's page table. */
	spinlock_t *ptl;

	/*
	 * poking_addr is random and above TASK_UNMAPPED_BASE: the range of the
	 * page table below the one that it uses is free, and as random.
	 */
	text_patch_window = (poking_addr & PMD_MASK) - PMD_SIZE;

	ptep = get_locked_pte(poking_mm, text_patch_window, &ptl);
	if (!ptep)
		panic("text-patch: no memory for a page table\n");
	pte_unmap_unlock(ptep, ptl);
}

/**
 * text_patch_matches - whether the text holds the old instruction
 * @patch: what is going to be replaced
 *
 * Context: the text is mapped; text_mutex keeps the answer true.
 * Return: true if all bytes are as @patch->old says.
 */
bool text_patch_matches(const struct text_patch *patch)
{
	return !memcmp((void *)text_patch_addr(patch), patch->old, patch->len);
}

static struct page *text_patch_page(unsigned long addr)
{
	if (core_kernel_text(addr))
		return virt_to_page((void *)addr);
	return vmalloc_to_page((void *)addr);
}

/*
 * Maps what elements of @vec touch at its place in the window, up to the first
 * one that does not fit. Returns how many elements did; *@pages of the window
 * may be in use.
 */
static unsigned int text_patch_map(pte_t *ptep, const struct text_patch *vec, unsigned int nr,
				   unsigned int *pages)
{
	/* Not global, so that the flush of poking_mm's range reaches it. */
	pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);
	unsigned long base = text_patch_addr(vec) & PAGE_MASK;
	/* What ends at or below this is mapped. */
	unsigned long mapped = base;
	unsigned int i;

	*pages = 0;
	for (i = 0; i < nr; i++) {
		unsigned long addr = text_patch_addr(&vec[i]);
		unsigned long end = addr + vec[i].len;

		if (likely(end <= mapped))
			continue;
		if (end > base + TEXT_PATCH_WINDOW * PAGE_SIZE)
			break;
		for (mapped = max(mapped, addr & PAGE_MASK); mapped < end; mapped += PAGE_SIZE) {
			unsigned int page = (mapped - base) >> PAGE_SHIFT;

			set_pte_at(poking_mm, text_patch_window + page * PAGE_SIZE, ptep + page,
				   mk_pte(text_patch_page(mapped), prot));
			*pages = page + 1;
		}
	}
	return i;
}

static void text_patch_unmap(pte_t *ptep, unsigned int pages)
{
	for (unsigned int page = 0; page < pages; page++)
		pte_clear(poking_mm, text_patch_window + page * PAGE_SIZE, ptep + page);
}

/* @shift leads from the address of an instruction to its alias. */
static void text_patch_write(const struct text_patch *vec, unsigned int nr,
			     enum text_patch_step step, unsigned long shift)
{
	const struct text_patch *end = vec + nr;

	switch (step) {
	case TEXT_PATCH_STEP_INT3:
		for (; vec < end; vec++)
			WRITE_ONCE(*(u8 *)(text_patch_addr(vec) + shift), INT3_INSN_OPCODE);
		break;
	case TEXT_PATCH_STEP_TAIL:
		for (; vec < end; vec++) {
			u8 *text = (u8 *)(text_patch_addr(vec) + shift);

			if (likely(vec->len == TEXT_PATCH_LEN))
				memcpy(text + 1, vec->new + 1, TEXT_PATCH_LEN - 1);
			else
				memcpy(text + 1, vec->new + 1, vec->len - 1);
		}
		break;
	case TEXT_PATCH_STEP_HEAD:
		for (; vec < end; vec++)
			WRITE_ONCE(*(u8 *)(text_patch_addr(vec) + shift), vec->new[0]);
		break;
	}
}

/*
 * Watchpoints of user space must not fire on the alias, whose address user
 * space may be using for something of its own.
 */
static struct mm_struct *text_patch_enter_mm(void)
{
	struct mm_struct *prev;

	/* A lazy CPU would come back to an mm that it only pretends to use. */
	if (this_cpu_read(cpu_tlbstate_shared.is_lazy))
		leave_mm();

	prev = this_cpu_read(cpu_tlbstate.loaded_mm);
	switch_mm_irqs_off(NULL, poking_mm, current);
	if (hw_breakpoint_active())
		hw_breakpoint_disable();
	return prev;
}

static void text_patch_leave_mm(struct mm_struct *prev)
{
	switch_mm_irqs_off(NULL, prev, current);
	if (hw_breakpoint_active())
		hw_breakpoint_restore();
}

/* Returns how many elements of @vec it did. */
static unsigned int text_patch_write_window(const struct text_patch *vec, unsigned int nr,
					    enum text_patch_step step)
{
	unsigned long base = text_patch_addr(vec) & PAGE_MASK;
	struct mm_struct *prev;
	unsigned long flags;
	unsigned int pages;
	pte_t *ptep;
	/* Of poking_mm's page table; nobody else uses it. */
	spinlock_t *ptl;

	ptep = get_locked_pte(poking_mm, text_patch_window, &ptl);
	local_irq_save(flags);

	nr = text_patch_map(ptep, vec, nr, &pages);
	prev = text_patch_enter_mm();
	kasan_disable_current();
	text_patch_write(vec, nr, step, text_patch_window - base);
	kasan_enable_current();
	/* The writes come before the page table entries go. */
	barrier();
	text_patch_unmap(ptep, pages);
	text_patch_leave_mm(prev);
	/* Nobody uses poking_mm now, so this flushes without an interrupt. */
	flush_tlb_mm_range(poking_mm, text_patch_window,
			   text_patch_window + pages * PAGE_SIZE, PAGE_SHIFT, false);

	local_irq_restore(flags);
	pte_unmap_unlock(ptep, ptl);
	return nr;
}

static void text_patch_write_all(const struct text_patch *vec, unsigned int nr,
				 enum text_patch_step step)
{
	while (nr) {
		unsigned int n = text_patch_write_window(vec, nr, step);

		vec += n;
		nr -= n;
	}
}

static void text_patch_tell_perf(const struct text_patch *vec, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		perf_event_text_poke((void *)text_patch_addr(&vec[i]), vec[i].old, vec[i].len,
				     vec[i].new, vec[i].len);
}

static void text_patch_batch_apply(struct text_patch_batch *batch)
{
	/* Who sees the batch sees what is in it. */
	smp_store_release(&text_patch_live, batch);
	/* Pairs with text_patch_int3(): who sees the new number sees the batch. */
	smp_store_release(&text_patch_seq, text_patch_seq + 1);
	/* Pairs with text_patch_int3(): who sees an INT3 sees both. */
	smp_wmb();

	text_patch_write_all(batch->vec, batch->nr, TEXT_PATCH_STEP_INT3);
	text_poke_sync();

	text_patch_write_all(batch->vec, batch->nr, TEXT_PATCH_STEP_TAIL);
	/* As the tail changes, tracers of instructions learn of it. */
	text_patch_tell_perf(batch->vec, batch->nr);
	text_poke_sync();

	text_patch_write_all(batch->vec, batch->nr, TEXT_PATCH_STEP_HEAD);
	/* Pairs with text_patch_int3(): who sees no batch sees no INT3. */
	smp_wmb();
	WRITE_ONCE(text_patch_live, NULL);
	text_poke_sync();
}

/**
 * text_patch_apply - replace instructions of running text
 * @vec: the instructions, strictly ascending by address, not overlapping; the
 *	 caller has verified the old bytes and keeps @vec alive until return
 * @nr: how many
 *
 * When this returns, every CPU executes the new instructions, and none will
 * execute an old one.
 *
 * Context: process context, may wait for other CPUs; cpus_read_lock() and
 * text_mutex are held.
 */
void text_patch_apply(const struct text_patch *vec, unsigned int nr)
{
	lockdep_assert_held(&text_mutex);
	lockdep_assert_cpus_held();

	while (nr) {
		struct text_patch_batch batch = {
			.vec	= vec,
			.nr	= min(nr, TEXT_PATCH_BATCH),
		};

		text_patch_batch_apply(&batch);
		vec += batch.nr;
		nr -= batch.nr;
	}
}

static __always_inline const struct text_patch *
text_patch_find(const struct text_patch_batch *batch, unsigned long addr)
{
	unsigned int lo = 0, hi = batch->nr;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;
		unsigned long at = text_patch_addr(&batch->vec[mid]);

		if (at == addr)
			return &batch->vec[mid];
		if (at < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static __always_inline void text_patch_emulate(const struct text_patch *patch,
					       struct pt_regs *regs)
{
	unsigned long next = text_patch_addr(patch) + patch->len;
	s32 disp = *(const s32 *)(patch->new + 1);

	switch (patch->new[0]) {
	case CALL_INSN_OPCODE:
		int3_emulate_call(regs, next + disp);
		break;
	case JMP32_INSN_OPCODE:
		int3_emulate_jmp(regs, next + disp);
		break;
	default:
		int3_emulate_jmp(regs, next);
		break;
	}
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
	const struct text_patch_batch *batch;
	const struct text_patch *patch;
	unsigned long addr;
	unsigned int seq;
	u8 byte;

	if (user_mode(regs))
		return false;

	addr = regs->ip - INT3_INSN_SIZE;

	do {
		/* Pairs with text_patch_batch_apply(): its batch is seen below. */
		seq = smp_load_acquire(&text_patch_seq);
		/* Pairs with text_patch_batch_apply(): what is in it is seen. */
		batch = smp_load_acquire(&text_patch_live);
		patch = batch ? text_patch_find(batch, addr) : NULL;
		if (patch) {
			text_patch_emulate(patch, regs);
			return true;
		}
		byte = READ_ONCE(*(u8 *)addr);
		/* Likewise: an INT3 of a batch that came meanwhile has its number. */
		smp_rmb();
	} while (byte == INT3_INSN_OPCODE && READ_ONCE(text_patch_seq) != seq);

	if (byte == INT3_INSN_OPCODE)
		return false;

	/* Late: IRET serializes, so the next fetch gets what is there now. */
	regs->ip = addr;
	return true;
}
