// SPDX-License-Identifier: GPL-2.0
/*
 * disturb: a QEMU plugin that tells how other CPUs are delayed while kernel text is patched. For
 * -icount, where one thread runs all CPUs by turns and an instruction is a nanosecond.
 *
 *	mark=0xADDR          executions of ADDR open and close windows by turns
 *	int3=0xADDR          the entry of the breakpoint exception
 *	turn=0xADDR          a function that a loop on CPU 1 enters once a turn
 *	text=0xADDR:0xADDR   the kernel's text, at its addresses without KASLR
 *	out=FILE             where the figures go
 *
 * For each window N, lines "N NAME VALUE":
 *
 *	int3s        breakpoints taken
 *	irqsoff      the longest stretch, in instructions of CPU 0, from a CLI to the next
 *	             STI, POPF, IRET or SYSRET. Waiting for another CPU, in a loop with
 *	             PAUSE, is left out: the CPU that is waited for does not run until
 *	             the other's turn is over, as long as that may be
 *	planted      the longest time, in instructions of all CPUs, that an INT3 stood in
 *	             the text, from the store that wrote it to the one that took it away
 *	turns        entries of turn= on CPU 1
 *	insns        instructions of CPU 1
 *
 * It needs version 4 of the plugin interface (QEMU 9.2).
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdlib.h>

EXPORT int qemu_plugin_version = 4;

enum { CPUS = 8, INT3 = 0xcc };
/* Two PAUSE that are no further apart are of one loop. */
enum { PAUSE_LOOP = 64 };

/* Where the kernel's image is mapped; without KASLR it is loaded where it was linked. */
#define KERNEL_MAP 0xffffffff80000000ull

static struct {
	uint64_t mark, int3, turn, text, text_end;
} at;

static unsigned int window;
static bool open_now;
/* Instructions so far: of each CPU, and of all. */
static uint64_t insns[CPUS], now;

static uint64_t int3s, turns, planted_longest, insns_before;

static struct {
	bool off;
	uint64_t since, longest, paused;
} irqs;

/* When an INT3 was written to each byte of the text; 0 where there is no INT3. */
static uint64_t *planted;

static void window_begin(void)
{
	int3s = 0;
	turns = 0;
	planted_longest = 0;
	insns_before = insns[1];
	irqs.longest = 0;
	irqs.off = false;
	memset(planted, 0, (at.text_end - at.text) * sizeof(*planted));
	window++;
}

static void put(const char *name, uint64_t value)
{
	fprintf(out, "%u %s %" PRIu64 "\n", window, name, value);
}

static void window_end(void)
{
	put("int3s", int3s);
	put("irqsoff", irqs.longest);
	put("planted", planted_longest);
	put("turns", turns);
	put("insns", insns[1] - insns_before);
	fflush(out);
}

static void special_executed(unsigned int cpu, void *data)
{
	uint64_t addr = (uintptr_t)data;

	if (addr == at.mark) {
		if (open_now)
			window_end();
		else
			window_begin();
		open_now = !open_now;
	} else if (addr == at.int3) {
		int3s++;
	} else if (cpu == 1) {
		turns++;
	}
}

static void block_executed(unsigned int cpu, void *data)
{
	insns[cpu % CPUS] += (uintptr_t)data;
	now += (uintptr_t)data;
}

static void irqs_off(unsigned int cpu, void *data)
{
	if (cpu || irqs.off)
		return;
	irqs.off = true;
	irqs.since = insns[0];
}

static void irqs_paused(unsigned int cpu, void *data)
{
	if (cpu)
		return;
	if (irqs.off && irqs.paused > irqs.since && insns[0] - irqs.paused < PAUSE_LOOP)
		irqs.since += insns[0] - irqs.paused;
	irqs.paused = insns[0];
}

static void irqs_on(unsigned int cpu, void *data)
{
	if (cpu || !irqs.off)
		return;
	irqs.off = false;
	if (insns[0] - irqs.since > irqs.longest)
		irqs.longest = insns[0] - irqs.since;
}

static void stored(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
	struct qemu_plugin_hwaddr *hwaddr;
	uint64_t text;

	if (!open_now || qemu_plugin_mem_size_shift(info))
		return;
	hwaddr = qemu_plugin_get_hwaddr(info, addr);
	if (!hwaddr)
		return;
	/* Text is written through another mapping. */
	text = qemu_plugin_hwaddr_phys_addr(hwaddr) + KERNEL_MAP;
	if (text < at.text || text >= at.text_end)
		return;
	text -= at.text;
	if (qemu_plugin_mem_get_value(info).data.u8 == INT3) {
		planted[text] = now;
	} else if (planted[text]) {
		if (now - planted[text] > planted_longest)
			planted_longest = now - planted[text];
		planted[text] = 0;
	}
}

static bool is_pause(const uint8_t *code, size_t len)
{
	return len == 2 && code[0] == 0xf3 && code[1] == 0x90;
}

static bool switches_irqs(const uint8_t *code, size_t len, bool *on)
{
	static const uint8_t iretq[] = { 0x48, 0xcf }, sysretq[] = { 0x48, 0x0f, 0x07 };

	*on = code[0] == 0xfb || code[0] == 0x9d || code[0] == 0xcf ||
	      (len == sizeof(iretq) && !memcmp(code, iretq, len)) ||
	      (len == sizeof(sysretq) && !memcmp(code, sysretq, len));
	return *on || code[0] == 0xfa;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	size_t n = qemu_plugin_tb_n_insns(tb);

	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_executed, NO_REGISTERS,
					     (void *)(uintptr_t)n);
	if (addr >> 63 == 0)
		return;
	if (addr == at.mark || addr == at.int3 || addr == at.turn)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, special_executed, NO_REGISTERS,
						     (void *)(uintptr_t)addr);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t code[16];
		size_t len = qemu_plugin_insn_data(insn, code, sizeof(code));
		bool on;

		qemu_plugin_register_vcpu_mem_cb(insn, stored, NO_REGISTERS, MEM_WRITE, NULL);
		if (is_pause(code, len))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, irqs_paused, NO_REGISTERS,
							       NULL);
		if (!len || !switches_irqs(code, len, &on))
			continue;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on ? irqs_on : irqs_off, NO_REGISTERS,
						       NULL);
	}
}

static bool option(const char *arg)
{
	return sscanf(arg, "mark=%" SCNx64, &at.mark) == 1 ||
	       sscanf(arg, "int3=%" SCNx64, &at.int3) == 1 ||
	       sscanf(arg, "turn=%" SCNx64, &at.turn) == 1 ||
	       sscanf(arg, "text=%" SCNx64 ":%" SCNx64, &at.text, &at.text_end) == 2;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	if (!out_and_options("disturb", argc, argv, option) || at.text_end <= at.text)
		return -1;
	planted = calloc(at.text_end - at.text, sizeof(*planted));
	if (!planted)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	qemu_plugin_register_atexit_cb(id, out_close, NULL);
	return 0;
}
