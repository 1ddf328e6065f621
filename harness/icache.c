// SPDX-License-Identifier: GPL-2.0
/*
 * icache: a QEMU plugin that models the instruction cache and the instruction TLB of a CPU,
 * so that code which does nothing is not for free. For one CPU.
 *
 *	mark=0xADDR	executions of ADDR open and close windows by turns
 *	out=FILE	where the figures go
 *
 * For each window N a line "N INSNS FETCHES CACHE-MISSES TLB-MISSES": instructions, lines
 * of the cache that were asked for, and how many of these were not there.
 *
 * The cache is that of many an x86 CPU of the last ten years: 32 KiB, 8 ways, lines of 64
 * bytes, the one that was used the longest ago goes. Its TLB has 64 entries of 4 KiB in 8
 * ways and, for the kernel's image, 8 of 2 MiB. Addresses are virtual, and of processes the
 * same ones are taken for the same memory: a load is one program. The TLB keeps the kernel's
 * entries and those of a process over each switch. There is no prefetching, which would hide
 * misses, and no buffer of decoded instructions.
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdlib.h>

EXPORT int qemu_plugin_version = PLUGIN_API;

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12, HUGE_SHIFT = 21, MOST_SETS = 64, MOST_WAYS = 8 };
#define KERNEL_IMAGE 0xffffffff80000000ull
#define KERNEL_IMAGE_END 0xffffffffc0000000ull

/*
 * A store whose entries are looked up by a number, the set being its low bits. Entries are from the
 * last used on.
 */
struct store {
	unsigned int sets, ways;
	uint64_t entry[MOST_SETS][MOST_WAYS];
	uint64_t misses;
};

/* A block: its lines follow each other. */
struct block {
	uint64_t line, last;
	uint32_t insns;
	bool mark;
};

static struct store cache = { .sets = 64, .ways = 8 };
static struct store tlb = { .sets = 8, .ways = 8 };
static struct store huge = { .sets = 1, .ways = 8 };
static uint64_t insns, fetches, mark;
static unsigned int window;
static bool open_now;

/* Numbers are stored plus one: 0 is empty. */
static void lookup(struct store *s, uint64_t number)
{
	uint64_t *set = s->entry[number % s->sets], key = number + 1;
	unsigned int i;

	for (i = 0; i < s->ways - 1 && set[i] != key; i++)
		;
	s->misses += set[i] != key;
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = key;
}

static void fetch(uint64_t line)
{
	uint64_t addr = line << LINE_SHIFT;

	fetches++;
	lookup(&cache, line);
	if (addr >= KERNEL_IMAGE && addr < KERNEL_IMAGE_END)
		lookup(&huge, addr >> HUGE_SHIFT);
	else
		lookup(&tlb, addr >> PAGE_SHIFT);
}

static void window_switch(void)
{
	open_now = !open_now;
	if (!open_now) {
		window++;
		fprintf(out, "%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", window, insns,
			fetches, cache.misses, tlb.misses + huge.misses);
	}
	insns = 0;
	fetches = 0;
	cache.misses = 0;
	tlb.misses = 0;
	huge.misses = 0;
}

static void block_executed(unsigned int cpu, void *data)
{
	const struct block *b = data;

	if (b->mark)
		window_switch();
	insns += b->insns;
	for (uint64_t line = b->line; line <= b->last; line++)
		fetch(line);
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	const struct qemu_plugin_insn *end = qemu_plugin_tb_get_insn(tb, n - 1);
	struct block *b = malloc(sizeof(*b));

	if (!b)
		abort();
	b->line = qemu_plugin_tb_vaddr(tb) >> LINE_SHIFT;
	b->last = (qemu_plugin_insn_vaddr(end) + qemu_plugin_insn_size(end) - 1) >> LINE_SHIFT;
	b->insns = n;
	b->mark = qemu_plugin_tb_vaddr(tb) == mark;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_executed, NO_REGISTERS, b);
}

static bool option(const char *arg)
{
	return sscanf(arg, "mark=%" SCNx64, &mark) == 1;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	if (!out_and_options("icache", argc, argv, option) || !mark)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_atexit_cb(id, out_close, NULL);
	return 0;
}
