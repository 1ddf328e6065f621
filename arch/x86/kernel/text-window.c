// SPDX-License-Identifier: GPL-2.0
/*
 * Text is mapped read-only. To write it, a window shows some pages of it,
 * writable, in an address space that only this uses:
 *
 *	text_window_begin(&window, addr);
 *	text_window_show(&window, addr, len);	any number of them, ascending
 *	text_window_enter(&window);
 *	... write at text_window_at(&window, addr) ...
 *	text_window_end(&window);
 *
 * After that, other CPUs may still execute old instructions, until
 * smp_text_poke_sync_each_cpu().
 *
 * Invariants:
 *  1. No writable alias of text is mapped outside of a window, and no
 *     other CPU can reach one.
 *  2. Interrupts are off from begin to end: a handler that runs amok cannot
 *     write text, and no flush of another CPU's is needed.
 *  3. Nothing is left in the TLB: when its range is flushed, text_poke_mm is not
 *     loaded, and its cpumask is empty. So the next use of it starts with the
 *     mappings of that time, and the flush, with interrupts off, waits for no CPU.
 *
 * Locks: text_mutex is held (kgdb, with all other CPUs stopped, has only seen
 * that it is free). It covers text_poke_mm's page table, too: the lock
 * of that sleeps with PREEMPT_RT, and must not where all CPUs are stopped.
 * Outside of the image, init_mm's mmap_lock is held for reading as long as a window
 * shows text: set_memory_rox() may turn the page tables of neighbouring text into
 * a large page, and frees them under that lock. Order: text_mutex, mmap_lock.
 */
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/kgdb.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mmu_context.h>
#include <linux/panic.h>
#include <linux/smp.h>
#include <linux/sync_core.h>
#include <linux/vmalloc.h>

#include <asm/mmu_context.h>
#include <asm/text-patch.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

/* Where windows are mapped: see poking_init(). */
__ro_after_init struct mm_struct *text_poke_mm;
__ro_after_init unsigned long text_poke_mm_addr;

/* One page table, that of text_poke_mm_addr, has to cover a window. */
#define TEXT_WINDOW_PAGES	64

/* Not global, so that the flush of text_poke_mm's range reaches it. */
static pgprot_t text_window_prot(void)
{
	return __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);
}

static noinline pte_t text_window_module_pte(unsigned long addr)
{
	struct page *page = vmalloc_to_page((void *)addr);

	/* Going on would write to other memory. */
	if (unlikely(!page))
		panic("text-window: there is no text at %pS\n", (void *)addr);
	return mk_pte(page, text_window_prot());
}

/**
 * text_window_begin - start to show text
 * @window: is filled
 * @addr: in the first page to show
 *
 * Context: after poking_init(). Process context, may sleep; text_mutex is held. Or
 * kgdb, where no other CPU runs. Disables interrupts until text_window_end().
 */
void text_window_begin(struct text_window *window, unsigned long addr)
{
	/* As random as text_poke_mm_addr, and with its page table. */
	unsigned long page = pte_index(text_poke_mm_addr) % (PTRS_PER_PTE - TEXT_WINDOW_PAGES);

	window->base = addr & PAGE_MASK;
	window->mapped = window->base;
	window->alias = (text_poke_mm_addr & PMD_MASK) + page * PAGE_SIZE;
	window->pages = 0;
	/* A window that begins in the image ends there: the modules are far away. */
	window->image = core_kernel_text(addr);
	if (window->image)
		window->first = pfn_pte(PHYS_PFN(__pa_symbol(window->base)), text_window_prot());
	window->locked = !window->image && !in_dbg_master();
	if (window->locked)
		mmap_read_lock(&init_mm);
	/* poking_init() has made the table, which stays. */
	window->ptep = pte_offset_kernel(pmd_off(text_poke_mm, window->alias), window->alias);
	local_irq_save(window->flags);
}

/* The half of text_window_show() that has something to do, where a page begins. */
bool __text_window_show(struct text_window *window, unsigned long addr, size_t len)
{
	unsigned long end = addr + len;

	if (end > window->base + TEXT_WINDOW_PAGES * PAGE_SIZE)
		return false;

	window->mapped = max(window->mapped, addr & PAGE_MASK);
	for (; window->mapped < end; window->mapped += PAGE_SIZE) {
		unsigned int i = (window->mapped - window->base) >> PAGE_SHIFT;
		pte_t pte = likely(window->image) ? pte_advance_pfn(window->first, i) :
						    text_window_module_pte(window->mapped);

		set_pte_at(text_poke_mm, window->alias + i * PAGE_SIZE, window->ptep + i, pte);
		window->pages = i + 1;
	}
	return true;
}

/**
 * text_window_enter - make the text that is shown writable here
 * @window: with all that is to be written
 */
void text_window_enter(struct text_window *window)
{
	window->prev = use_temporary_mm(text_poke_mm);
}

/**
 * text_window_end - stop showing text
 * @window: that was entered
 */
void text_window_end(struct text_window *window)
{
	unsigned long size = window->pages * PAGE_SIZE;

	/* The writes come before the page table entries go. */
	barrier();
	for (unsigned int i = 0; i < window->pages; i++)
		pte_clear(text_poke_mm, window->alias + i * PAGE_SIZE, window->ptep + i);

	unuse_temporary_mm(window->prev);
	/* text_poke_mm is loaded nowhere now, so this interrupts no CPU. */
	flush_tlb_mm_range(text_poke_mm, window->alias, window->alias + size, PAGE_SHIFT, false);

	local_irq_restore(window->flags);
	if (window->locked)
		mmap_read_unlock(&init_mm);
}

static void text_poke_sync_core(void *unused)
{
	sync_core();
}

/**
 * smp_text_poke_sync_each_cpu - let all CPUs fetch text anew
 *
 * On return each online CPU has executed a serializing instruction, and
 * executes the text that was written before the call.
 *
 * Context: interrupts are on.
 */
void smp_text_poke_sync_each_cpu(void)
{
	on_each_cpu(text_poke_sync_core, NULL, 1);
}
