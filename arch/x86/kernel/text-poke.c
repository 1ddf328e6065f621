// SPDX-License-Identifier: GPL-2.0
/*
 * The entry points of asm/text-patching.h for writing text of a running
 * kernel, on top of windows (text-window.c) and batches (text-patch.c).
 *
 * text_poke() and its like just write: their caller has to think of other CPUs.
 * smp_text_poke_single() replaces an instruction that may be executed at the same
 * time. smp_text_poke_batch_add() collects such, and smp_text_poke_batch_finish()
 * replaces them, as one batch. Between text_batch_begin() and text_batch_end() the
 * writes of a task stay queued, so that several keys and static calls are switched
 * together. An instruction that the patcher does not know is refused, with a
 * warning: no caller has one.
 *
 * Invariants:
 *  1. The queue is a vector that text_patch_apply() takes as it is: ascending,
 *     nothing overlaps.
 *  2. Text that is compared with an expected instruction has no write
 *     to it in the queue: text_poke_settle() comes first.
 *  3. At most one task collects at a time. Other tasks switch at once the text that
 *     they queue, and the collected text with it, which may happen at any time.
 *     (The scheduler's three tracepoints are one batch then, one by one they are
 *     six.) So a reader of text holds text_mutex: a jump label that was
 *     collected is written without the lock of its key.
 *  4. Text of a module, and init text, is in the queue no longer than until
 *     smp_text_poke_batch_finish(): until then the caller holds a lock without
 *     which the text is not freed.
 *
 * Locks: text_mutex covers all of it, but for text_poke_kgdb(), which runs when
 * no other CPU does. Jump labels, static calls, kprobes and ftrace queue and
 * apply under cpus_read_lock() as well, as CPUs on their way up and down execute
 * their text; see text-patch.c. Order: cpus_read_lock(), text_mutex.
 */
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#include <asm/sections.h>
#include <asm/smap.h>
#include <asm/text-patch.h>
#include <asm/text-patching.h>

/* So much is copied in one go, with interrupts off. */
#define TEXT_POKE_CHUNK		(2 * PAGE_SIZE)

#define TEXT_POKE_QUEUE		256

static struct text_patch text_poke_vec[TEXT_POKE_QUEUE];
static unsigned int text_poke_nr;

/* Whether the queue has text that may be freed before the kernel ends. */
static bool text_poke_mortal;

/* The task that collects. */
static struct task_struct *text_batch_owner;

/* Copies @src, or fills with @c if that is NULL. */
static void text_poke_write(unsigned long addr, const u8 *src, u8 c, size_t len)
{
	while (len) {
		size_t n = min(len, TEXT_POKE_CHUNK);
		struct text_window window;

		text_window_begin(&window, addr);
		text_window_show(&window, addr, n);
		text_window_enter(&window);
		lass_stac();
		if (src)
			__inline_memcpy(text_window_at(&window, addr), src, n);
		else
			__inline_memset(text_window_at(&window, addr), c, n);
		lass_clac();
		text_window_end(&window);

		if (src) {
			WARN_ON_ONCE(memcmp((void *)addr, src, n));
			src += n;
		}
		addr += n;
		len -= n;
	}
}

/**
 * text_poke - write text
 * @addr: where
 * @opcode: the bytes
 * @len: how many bytes
 *
 * CPUs that execute the text at the same time must be able to do with any
 * mixture of the old and the new bytes, so either it is a single byte, or
 * no CPU executes it. They may go on with the old ones until
 * smp_text_poke_sync_each_cpu().
 *
 * Context: text_mutex is held; text of a module does not go away meanwhile.
 * Return: @addr
 */
void *text_poke(void *addr, const void *opcode, size_t len)
{
	lockdep_assert_held(&text_mutex);
	text_poke_write((unsigned long)addr, opcode, 0, len);
	return addr;
}

/**
 * text_poke_kgdb - write text while all other CPUs are stopped
 * @addr: where
 * @opcode: the bytes
 * @len: how many bytes
 *
 * Context: kgdb only, which has seen that text_mutex is not held.
 * Return: @addr
 */
void *text_poke_kgdb(void *addr, const void *opcode, size_t len)
{
	text_poke_write((unsigned long)addr, opcode, 0, len);
	return addr;
}

/**
 * text_poke_copy_locked - write text that no CPU executes yet
 * @addr: where
 * @opcode: the bytes
 * @len: how many bytes, any number
 * @core_ok: whether it may be text of the core kernel
 *
 * Context: text_mutex is held.
 * Return: @addr, or NULL if it is text that @core_ok excludes.
 */
void *text_poke_copy_locked(void *addr, const void *opcode, size_t len, bool core_ok)
{
	if (WARN_ON_ONCE(!core_ok && core_kernel_text((unsigned long)addr)))
		return NULL;
	return text_poke(addr, opcode, len);
}

/**
 * text_poke_copy - write text that no CPU executes yet
 * @addr: where, outside of the core kernel
 * @opcode: the bytes
 * @len: how many bytes, any number
 *
 * Context: sleeps.
 * Return: @addr, or NULL if that is text of the core kernel.
 */
void *text_poke_copy(void *addr, const void *opcode, size_t len)
{
	guard(mutex)(&text_mutex);
	return text_poke_copy_locked(addr, opcode, len, false);
}

/**
 * text_poke_set - fill text that no CPU executes
 * @addr: where, outside of the core kernel
 * @c: the byte to fill it with
 * @len: how many bytes, any number
 *
 * Context: sleeps.
 * Return: @addr, or NULL if that is text of the core kernel.
 */
void *text_poke_set(void *addr, int c, size_t len)
{
	if (WARN_ON_ONCE(core_kernel_text((unsigned long)addr)))
		return NULL;

	guard(mutex)(&text_mutex);
	text_poke_write((unsigned long)addr, NULL, c, len);
	return addr;
}

static void text_poke_flush(void)
{
	if (text_poke_nr)
		lockdep_assert_cpus_held();
	text_patch_apply(text_poke_vec, text_poke_nr);
	text_poke_nr = 0;
	text_poke_mortal = false;
}

/* The first in the queue that ends after @addr; text_poke_nr if all end before. */
static unsigned int text_poke_find(unsigned long addr)
{
	unsigned int lo = 0, hi = text_poke_nr;

	/* Most come in ascending order. */
	if (hi && text_patch_next(&text_poke_vec[hi - 1]) <= addr)
		return hi;
	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (text_patch_next(&text_poke_vec[mid]) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * text_poke_settle - apply the queue if it holds a write to an instruction
 * @addr: the instruction, that is going to be looked at
 * @len: its length
 *
 * Context: as smp_text_poke_batch_finish().
 */
void text_poke_settle(const void *addr, size_t len)
{
	unsigned int at = text_poke_find((unsigned long)addr);

	lockdep_assert_held(&text_mutex);
	if (at < text_poke_nr &&
	    text_patch_addr(&text_poke_vec[at]) < (unsigned long)addr + len)
		text_poke_flush();
}

/**
 * text_poke_pending - whether the queue holds a write to an instruction
 * @addr: a byte of it
 *
 * It was compared already, so a debugger must not alter it.
 *
 * Context: kgdb only, while all other CPUs are stopped.
 */
bool text_poke_pending(unsigned long addr)
{
	unsigned int at = text_poke_find(addr);

	return at < text_poke_nr && text_patch_addr(&text_poke_vec[at]) <= addr;
}

static bool text_poke_prepare(struct text_patch *patch, void *addr, const void *opcode, size_t len,
			      const void *emulate)
{
	lockdep_assert_held(&text_mutex);
	text_poke_settle(addr, len);
	return !WARN(!text_patch_set(patch, (unsigned long)addr, opcode, len, emulate),
		     "text-poke: %pS stays as it is: %*ph cannot be emulated\n", addr,
		     (int)min_t(size_t, len, TEXT_PATCH_LEN), opcode);
}

/**
 * smp_text_poke_batch_add - replace an instruction by smp_text_poke_batch_finish()
 * @addr: where
 * @opcode: the new instruction, one that text_patch_set() knows
 * @len: its length and the old one's
 * @emulate: the instruction that a CPU executes meanwhile, if that is another one;
 *	     otherwise NULL
 *
 * The queue may be applied at any time, so both the old and the new
 * instruction must be right from now on.
 *
 * Context: process context, may wait for other CPUs; text_mutex and
 * cpus_read_lock() are held. The caller has verified the text, after
 * text_poke_settle() where it may be in the queue.
 */
void smp_text_poke_batch_add(void *addr, const void *opcode, size_t len, const void *emulate)
{
	struct text_patch patch;
	unsigned int at;

	if (!text_poke_prepare(&patch, addr, opcode, len, emulate))
		return;
	if (text_poke_nr == TEXT_POKE_QUEUE)
		text_poke_flush();

	at = text_poke_find((unsigned long)addr);
	memmove(&text_poke_vec[at + 1], &text_poke_vec[at],
		(text_poke_nr - at) * sizeof(*text_poke_vec));
	text_poke_vec[at] = patch;
	text_poke_nr++;
	text_poke_mortal |= !__is_kernel_text((unsigned long)addr);
}

/**
 * smp_text_poke_batch_finish - replace the instructions in the queue
 *
 * Between text_batch_begin() and text_batch_end() of the same task this does
 * nothing, unless some of it may be freed: text of a module, or init text.
 *
 * Context: process context, may wait for other CPUs; text_mutex and
 * cpus_read_lock() are held. The caller keeps the text from being freed.
 */
void smp_text_poke_batch_finish(void)
{
	lockdep_assert_held(&text_mutex);
	if (text_batch_owner != current || text_poke_mortal)
		text_poke_flush();
}

/**
 * text_batch_begin - start to switch text together
 *
 * Until text_batch_end(), the keys and static calls that this task switches may
 * keep their old text: both the old and the new one must be right, in any
 * combination.
 *
 * Context: sleeps; tracepoints_mutex is held until text_batch_end(). It keeps others
 * from collecting, and from switching the same text or relying on it.
 */
void text_batch_begin(void)
{
	guard(mutex)(&text_mutex);
	WARN_ON_ONCE(text_batch_owner);
	text_batch_owner = current;
}

/**
 * text_batch_flush - switch the text that is collected so far
 *
 * Context: sleeps; cpus_read_lock() is not held.
 */
void text_batch_flush(void)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	text_poke_flush();
}

/**
 * text_batch_end - switch the text that was collected since text_batch_begin()
 *
 * Context: sleeps; cpus_read_lock() is not held.
 */
void text_batch_end(void)
{
	scoped_guard(mutex, &text_mutex)
		text_batch_owner = NULL;
	text_batch_flush();
}

/**
 * smp_text_poke_single - replace an instruction of running text
 * @addr: where
 * @opcode: the new instruction, one that text_patch_set() knows
 * @len: its length and the old one's
 * @emulate: the instruction that a CPU executes meanwhile, if that is another one;
 *	     otherwise NULL
 *
 * When this returns, no CPU will execute the old instruction; see
 * text_patch_apply().
 *
 * Context: process context, may wait for other CPUs; text_mutex is held, and
 * cpus_read_lock() too unless no CPU executes the text before it is online. The
 * caller has verified the text.
 */
void smp_text_poke_single(void *addr, const void *opcode, size_t len, const void *emulate)
{
	struct text_patch patch;

	if (text_poke_prepare(&patch, addr, opcode, len, emulate))
		text_patch_apply(&patch, 1);
}

/**
 * smp_text_poke_int3_handler - exc_int3() calls it first
 * @regs: of the trap
 *
 * Context: any, NMI included; interrupts are off. Calls nothing that could be
 * traced or hit a breakpoint.
 * Return: not 0 if the breakpoint was the patcher's, or is gone.
 */
noinstr int smp_text_poke_int3_handler(struct pt_regs *regs)
{
	return text_patch_int3(regs);
}
