// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing on x86: the instruction at a site, and how many of them are replaced.
 *
 * Invariants:
 *  1. A site holds a 5-byte NOP, or a CALL to the target of its callset, or a JMP if
 *     the target is a direct function that returns to the caller (ftrace_is_jmp()).
 *
 * callset_tramp.c makes the trampolines.
 */
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/math64.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include <asm/ftrace.h>
#include <asm/nops.h>
#include <asm/text-patch.h>
#include <asm/text-patching.h>
#include <asm/tsc.h>

#include "callset_patch.h"

/* Sites */

/**
 * struct site_insn - the instruction at a site: an opcode and four more bytes
 * @op: CALL_INSN_OPCODE, JMP32_INSN_OPCODE, or the first byte of the NOP
 * @arg: where the CALL or JMP goes, relative to its end, or the rest of the NOP
 */
struct site_insn {
	u8	op;
	u32	arg;
} __packed;

static_assert(sizeof(struct site_insn) == MCOUNT_INSN_SIZE);

/* This runs for each site that is switched. */
static __always_inline struct site_insn ftrace_gen_site(unsigned long ip, unsigned long target)
{
	if (!target)
		return *(const struct site_insn *)x86_nops[MCOUNT_INSN_SIZE];
	return (struct site_insn) {
		.op	= ftrace_is_jmp(target) ? JMP32_INSN_OPCODE : CALL_INSN_OPCODE,
		.arg	= ftrace_jmp_get(target) - (ip + MCOUNT_INSN_SIZE),
	};
}

enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target)
{
	const struct site_insn *text = (const struct site_insn *)ip;
	struct site_insn insn = ftrace_gen_site(ip, target);

	return text->op == insn.op && text->arg == insn.arg ? FTRACE_SITE_OK :
							      FTRACE_SITE_ALTERED;
}

unsigned int arch_ftrace_check_sites(unsigned long base, const struct ftrace_record *rec,
				     unsigned int nr, unsigned long target, unsigned int step)
{
	unsigned int i;

	for (i = 0; i < nr; i++, target += step) {
		unsigned long ip = base + rec[i].offset;

		if (unlikely(arch_ftrace_check_site(ip, target) != FTRACE_SITE_OK))
			break;
	}
	return i;
}

void arch_ftrace_report_site(unsigned long ip, unsigned long target)
{
	struct site_insn insn = ftrace_gen_site(ip, target);

	pr_warn("ftrace: %pS (%lx) holds %*ph, expected %*ph; it will not be traced\n",
		(void *)ip, ip, MCOUNT_INSN_SIZE, (void *)ip, MCOUNT_INSN_SIZE, &insn);
}

int __init_or_module arch_ftrace_init_site(struct module *mod, unsigned long ip)
{
	if (likely(arch_ftrace_check_site(ip, 0) == FTRACE_SITE_OK))
		return 0;
	if (arch_ftrace_check_site(ip, (unsigned long)__fentry__) != FTRACE_SITE_OK)
		return -EINVAL;
	text_poke_early((void *)ip, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
	return 0;
}

#ifdef FTRACE_TIMES_PATH
u64 arch_ftrace_cycle(void)
{
	if (!tsc_khz || check_tsc_unstable())
		return 0;
	if (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && !tsc_clocksource_reliable)
		return 0;
	/* For times.c it has 32 bits. */
	return tsc_khz > 500000 ? div_u64((u64)NSEC_PER_MSEC << 31, tsc_khz) : 0;
}
#endif

/* Patch batches */

/**
 * struct ftrace_patch - a batch that is being filled
 * @vec: the instructions to change
 * @nr: how many there are
 * @max: how many there can be
 * @ascending: how many there are before the first that is out of order
 */
struct ftrace_patch {
	struct text_patch	*vec;
	unsigned int		nr;
	unsigned int		max;
	unsigned int		ascending;
};

/* So many out of order are put in their places one by one. */
#define FTRACE_PATCH_FEW	32

/*
 * Detaching must not fail, so a batch that finds no memory goes on in small
 * steps. cpus_read_lock() and text_mutex are held while a batch is built.
 */
static struct text_patch ftrace_patch_spare[64];
static struct ftrace_patch ftrace_patch_batch;

struct ftrace_patch *arch_ftrace_patch_begin(unsigned int nr)
{
	struct ftrace_patch *patch = &ftrace_patch_batch;
	unsigned int max = clamp(nr, 1u, TEXT_PATCH_BATCH_MAX);
	struct text_patch *vec;

	vec = kvmalloc_array(max, sizeof(*vec), GFP_KERNEL | __GFP_NOWARN);

	cpus_read_lock();
	mutex_lock(&text_mutex);
	patch->vec = vec ?: ftrace_patch_spare;
	patch->max = vec ? max : ARRAY_SIZE(ftrace_patch_spare);
	patch->nr = 0;
	patch->ascending = 0;
	return patch;
}

static int ftrace_patch_cmp(const void *a, const void *b)
{
	unsigned long x = text_patch_addr(a), y = text_patch_addr(b);

	return x < y ? -1 : x > y;
}

/* Sites come in order, and mostly a trampoline or two after them. */
static void ftrace_patch_sort(struct ftrace_patch *patch)
{
	if (patch->nr - patch->ascending > FTRACE_PATCH_FEW) {
		sort(patch->vec, patch->nr, sizeof(*patch->vec), ftrace_patch_cmp, NULL);
		return;
	}
	while (patch->ascending < patch->nr) {
		struct text_patch *p = &patch->vec[patch->ascending++], insn = *p;

		for (; p > patch->vec && text_patch_addr(p - 1) > text_patch_addr(&insn); p--)
			*p = p[-1];
		*p = insn;
	}
}

static void ftrace_patch_flush(struct ftrace_patch *patch)
{
	ftrace_patch_sort(patch);
	text_patch_apply(patch->vec, patch->nr);
	patch->nr = 0;
	patch->ascending = 0;
}

/* Makes room for the instruction at @ip, which the caller describes. */
static __always_inline struct text_patch *ftrace_patch_next(struct ftrace_patch *patch,
							    unsigned long ip)
{
	struct text_patch *p;

	if (patch->nr == patch->max)
		ftrace_patch_flush(patch);

	p = &patch->vec[patch->nr];
	if (patch->ascending == patch->nr && (!patch->nr || text_patch_addr(p - 1) < ip))
		patch->ascending++;
	patch->nr++;
	return p;
}

/**
 * ftrace_patch_insn - make room in a batch for an instruction that is at no site
 * @patch: the batch
 * @ip: where the instruction is
 *
 * Context: between arch_ftrace_patch_begin() and arch_ftrace_patch_end().
 * Return: the instruction, to be described before the next one is added.
 */
struct text_patch *ftrace_patch_insn(struct ftrace_patch *patch, unsigned long ip)
{
	return ftrace_patch_next(patch, ip);
}

static __always_inline void ftrace_patch_set(struct text_patch *p, unsigned long ip,
					     unsigned long to)
{
	if (!to)
		text_patch_set_nop(p, ip);
	else if (ftrace_is_jmp(to))
		text_patch_set_jump(p, ip, ftrace_jmp_get(to));
	else
		text_patch_set_call(p, ip, to);
}

void arch_ftrace_patch_add(struct ftrace_patch *patch, unsigned long ip, unsigned long to)
{
	ftrace_patch_set(ftrace_patch_next(patch, ip), ip, to);
}

void arch_ftrace_patch_sites(struct ftrace_patch *patch, unsigned long base,
			     const struct ftrace_record *rec, unsigned int nr, unsigned long to,
			     unsigned int step)
{
	while (nr) {
		struct text_patch *p = ftrace_patch_next(patch, base + rec->offset);
		unsigned int n = min(nr, patch->max - patch->nr + 1);

		for (unsigned int i = 0; i < n; i++, to += step)
			ftrace_patch_set(&p[i], base + rec[i].offset, to);
		if (patch->ascending == patch->nr)
			patch->ascending += n - 1;
		patch->nr += n - 1;
		rec += n;
		nr -= n;
	}
}

void arch_ftrace_patch_end(struct ftrace_patch *patch)
{
	struct text_patch *vec = patch->vec;

	ftrace_patch_flush(patch);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
	if (vec != ftrace_patch_spare)
		kvfree(vec);
}
