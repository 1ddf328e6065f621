/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's plugin interface that the plugins here use. It is declared here as not
 * every distribution ships the header. A declaration without a remark is the same since the
 * interface's version 1, of QEMU 8. PLUGIN_API is the version of the QEMU at hand that is asked
 * for.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef PLUGIN_API
#define PLUGIN_API 2
#endif
#define EXPORT __attribute__((visibility("default")))
/* For functions that an older QEMU has not. */
#define WEAK __attribute__((weak))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_register;
/* The use of registers by a callback, and the accesses that one is for. */
enum { NO_REGISTERS, READ_REGISTERS };
enum { MEM_WRITE = 2 };

struct qemu_info {
	const char *target;
	struct {
		int min, cur;
	} version;
};

/* GLib's GArray and GByteArray */
struct array {
	char *data;
	unsigned int len;
};

struct reg_descriptor {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
};

struct mem_value {
	int type;
	union {
		uint8_t u8;
		uint64_t u128[2];
	} data;
};

typedef void (*tb_trans_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*exec_fn)(unsigned int cpu, void *data);
typedef void (*mem_fn)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data);
typedef void (*vcpu_fn)(qemu_plugin_id_t id, unsigned int cpu);
typedef void (*atexit_fn)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, vcpu_fn cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_fn cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_fn cb, int flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_fn cb, int flags,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_fn cb, int flags, int rw,
				      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, atexit_fn cb, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
/* Version 3; before it took no buffer and gave one. */
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
/* Version 2 */
WEAK struct array *qemu_plugin_get_registers(void);
WEAK int qemu_plugin_read_register(struct qemu_plugin_register *reg, struct array *to);
/* Version 4 */
struct mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t info);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t addr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *hwaddr);

struct array *g_byte_array_new(void);
struct array *g_byte_array_set_size(struct array *a, unsigned int len);

/* Where the figures go: out=FILE, which each of the plugins has. */
static FILE *out;

static void out_close(qemu_plugin_id_t id, void *data)
{
	fclose(out);
}

/* Hands the other arguments to option(). Whether all are understood; if not, it says so. */
static bool out_and_options(const char *plugin, int argc, char **argv,
			    bool (*option)(const char *arg))
{
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) {
			out = fopen(argv[i] + 4, "w");
		} else if (!option(argv[i])) {
			fprintf(stderr, "%s: argument '%s' is not understood\n", plugin, argv[i]);
			return false;
		}
	}
	if (!out)
		fprintf(stderr, "%s: needs out=FILE, which can be written\n", plugin);
	return out;
}

#endif
