// SPDX-License-Identifier: GPL-2.0
/*
 * insnprof: a QEMU plugin that counts the guest's instructions, by translated block,
 * inside windows; and how often chosen functions are entered.
 *
 *	mark=0xADDR          executions of ADDR open and close windows by turns. It is
 *	                     the entry of a system call that no other code makes.
 *	begin=0xADDR         opens a window, and
 *	end=0xADDR           closes it: for code without a mark, as a stretch of boot.
 *	count=NAME:0xADDR    entries of ADDR, per window, under NAME. May be repeated.
 *	ranges=FILE          call chains, too, of the functions in FILE (chains.c). For
 *	                     -icount, and from QEMU 9.1 on.
 *	out=FILE             where the figures go.
 *
 * Per window, one line "W WINDOW ORIGIN KERNEL USER" (ORIGIN mark or range,
 * instructions executed above and below the canonical hole), "C WINDOW NAME ENTRIES"
 * for each counter, "B WINDOW ADDRESS INSTRUCTIONS EXECUTIONS" for each block, and with
 * ranges= "N WINDOW DEPTH FUNCTION INSTRUCTIONS" for each function of each chain, its
 * callees after it, one deeper. lib/insns.py reads them.
 *
 * An address named above must be a function's entry, which always begins a block.
 */
#include "chains.h"
#include "plugin.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The first interface with qemu_plugin_insn_data() as plugin.h has it */
enum { CHAINS_API = 3 };
enum { LONGEST_INSN = 15 };

EXPORT int qemu_plugin_version = PLUGIN_API;

enum role { ROLE_PLAIN, ROLE_MARK, ROLE_BEGIN, ROLE_END };

struct counter {
	char name[48];
	uint64_t addr;
	atomic_ullong entries;
};

struct block {
	struct block *next;
	struct counter *counter;
	uint64_t addr;
	uint32_t insns;
	enum role role;
	struct place place;
	atomic_ullong executions;
};

enum { BUCKETS = 1 << 16, COUNTERS = 32 };

static struct block *_Atomic blocks[BUCKETS];
static struct counter counters[COUNTERS];
static int counter_count;
static uint64_t role_addr[4];
static atomic_uint window, window_open;

static bool with_chains;
static struct qemu_plugin_register *stack_pointer;
static struct array *register_value;

static int is_kernel(uint64_t addr)
{
	return addr >> 63;
}

static void counters_clear(void)
{
	for (int i = 0; i < counter_count; i++)
		atomic_store(&counters[i].entries, 0);
}

static void window_begin(void)
{
	counters_clear();
	chains_clear();
	for (int i = 0; i < BUCKETS; i++)
		for (struct block *b = blocks[i]; b; b = b->next)
			atomic_store(&b->executions, 0);
	atomic_fetch_add(&window, 1);
	atomic_store(&window_open, 1);
}

static void blocks_write(unsigned int w, unsigned long long sum[2])
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct block *b = blocks[i]; b; b = b->next) {
			unsigned long long n = atomic_exchange(&b->executions, 0);

			if (!n)
				continue;
			sum[is_kernel(b->addr)] += n * b->insns;
			fprintf(out, "B %u %" PRIx64 " %u %llu\n", w, b->addr, b->insns, n);
		}
}

static void window_end(const char *origin)
{
	unsigned int w = atomic_load(&window);
	unsigned long long sum[2] = { 0, 0 };

	if (!atomic_exchange(&window_open, 0))
		return;
	blocks_write(w, sum);
	chains_write(out, w);
	for (int i = 0; i < counter_count; i++)
		fprintf(out, "C %u %s %llu\n", w, counters[i].name,
			(unsigned long long)atomic_load(&counters[i].entries));
	fprintf(out, "W %u %s %llu %llu\n", w, origin, sum[1], sum[0]);
	fflush(out);
}

static void block_role(const struct block *b)
{
	if (b->role == ROLE_BEGIN)
		window_begin();
	else if (b->role == ROLE_END)
		window_end("range");
	else if (atomic_load(&window_open))
		window_end("mark");
	else
		window_begin();
}

static void chains_executed(const struct block *b)
{
	uint64_t sp = 0;

	if (!chains_go_on(&b->place)) {
		g_byte_array_set_size(register_value, 0);
		if (qemu_plugin_read_register(stack_pointer, register_value) != sizeof(sp))
			abort();
		memcpy(&sp, register_value->data, sizeof(sp));
		chains_step(&b->place, sp);
	}
	if (atomic_load_explicit(&window_open, memory_order_relaxed))
		chains_count(b->insns);
}

static void block_executed(unsigned int cpu, void *data)
{
	struct block *b = data;

	if (b->role != ROLE_PLAIN)
		block_role(b);
	if (with_chains)
		chains_executed(b);
	if (!atomic_load_explicit(&window_open, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&b->executions, 1, memory_order_relaxed);
	if (b->counter)
		atomic_fetch_add_explicit(&b->counter->entries, 1, memory_order_relaxed);
}

static enum role role_of(uint64_t addr)
{
	for (enum role r = ROLE_MARK; r <= ROLE_END; r++)
		if (role_addr[r] && role_addr[r] == addr)
			return r;
	return ROLE_PLAIN;
}

static struct counter *counter_of(uint64_t addr)
{
	for (int i = 0; i < counter_count; i++)
		if (counters[i].addr == addr)
			return &counters[i];
	return NULL;
}

/* QEMU translates under a lock of its own; readers only follow the list. */
static struct block *block_get(uint64_t addr, uint32_t insns)
{
	unsigned int bucket = (addr * 0x9e3779b97f4a7c15ull) >> 48;
	struct block *b;

	for (b = blocks[bucket]; b; b = b->next)
		if (b->addr == addr && b->insns == insns)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->addr = addr;
	b->insns = insns;
	b->role = role_of(addr);
	b->counter = counter_of(addr);
	b->next = blocks[bucket];
	blocks[bucket] = b;
	return b;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t insns = qemu_plugin_tb_n_insns(tb);
	struct block *b = block_get(qemu_plugin_tb_vaddr(tb), insns);
	uint8_t last[LONGEST_INSN];
	size_t len;

	if (with_chains) {
		len = qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, insns - 1),
					    last, sizeof(last));
		chains_place(&b->place, b->addr, last, len);
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_executed,
					     with_chains ? READ_REGISTERS : NO_REGISTERS, b);
}

static void vcpu_started(qemu_plugin_id_t id, unsigned int cpu)
{
	struct array *found = qemu_plugin_get_registers();
	const struct reg_descriptor *r = (void *)found->data;

	for (unsigned int i = 0; i < found->len; i++)
		if (!strcmp(r[i].name, "rsp"))
			stack_pointer = r[i].handle;
}

static int chains_start(qemu_plugin_id_t id, const struct qemu_info *info)
{
	if (info->version.cur < CHAINS_API) {
		fprintf(stderr, "insnprof: ranges= needs QEMU 9.1 or newer\n");
		return -1;
	}
	register_value = g_byte_array_new();
	qemu_plugin_register_vcpu_init_cb(id, vcpu_started);
	return 0;
}

static bool counter_add(const char *text)
{
	struct counter *c = &counters[counter_count];

	return counter_count < COUNTERS &&
	       sscanf(text, "%47[^:]:%" SCNx64, c->name, &c->addr) == 2 && ++counter_count;
}

static bool option(const char *arg)
{
	if (!strncmp(arg, "count=", 6))
		return counter_add(arg + 6);
	if (!strncmp(arg, "ranges=", 7)) {
		with_chains = true;
		return !chains_read_ranges(arg + 7);
	}
	return sscanf(arg, "mark=%" SCNx64, &role_addr[ROLE_MARK]) == 1 ||
	       sscanf(arg, "begin=%" SCNx64, &role_addr[ROLE_BEGIN]) == 1 ||
	       sscanf(arg, "end=%" SCNx64, &role_addr[ROLE_END]) == 1;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	if (!out_and_options("insnprof", argc, argv, option))
		return -1;
	if (with_chains && chains_start(id, info))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_atexit_cb(id, out_close, NULL);
	return 0;
}
