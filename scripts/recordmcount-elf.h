/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RECORDMCOUNT_ELF_H
#define _RECORDMCOUNT_ELF_H
/*
 * What the two modes of recordmcount share: an ELF file in memory, checked when
 * it is loaded, and read and written through accessors in its own byte order.
 *
 * Invariants:
 *  1. After elf_file_load() the data of each section lies within the file, each
 *     section has a name, the symbol table is a whole number of symbols, and a
 *     string that starts within a table in use ends within it.
 *  2. All else that a file says (indices, offsets, lengths) is checked where it
 *     is used. Nothing in a file is assumed to be aligned.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4 (object files) with the gABI's
 * extended section numbering.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define TABLE_NAME	"__mcount_loc"
#define ENTRY_SIZE	4
#define SITE_SIZE	5

enum verdict {
	VERDICT_FAILED = -1,
	VERDICT_UNTOUCHED,
	VERDICT_CHANGED,
};

enum site_action {
	SITE_RECORD,
	SITE_RECORD_AND_NOP,
};

/* One way to call: a relocation type, and the opcode before its field. */
struct call_form {
	u32 type;
	u8 opcode_len;
	u8 opcode[2];
};

struct machine {
	u16 id;
	u8 elf_class;
	u8 nop[SITE_SIZE];
	u32 entry_type;
	u32 entry_sht;
	const char *entry_rel_name;
	size_t nr_forms;
	struct call_form forms[5];
};

/*
 * A section as the file has it, and what object mode learns of it: the local
 * symbol that stands for it (0: none yet), and the group that it belongs to.
 */
struct section {
	Elf64_Shdr sh;
	const char *name;
	u64 base_value;
	u32 base_sym;
	u32 group;
};

struct buffer {
	u8 *data;
	size_t len;
	size_t room;
};

/*
 * One file in memory. The result is the first @keep bytes of @base, edited in
 * place, and after them @tail.
 */
struct elf_file {
	const char *path;
	u8 *base;
	size_t size;
	bool warn;
	char error[400];

	const struct machine *machine;
	bool is64;
	bool swap;
	u16 type;
	u64 shoff;

	struct section *sec;
	size_t nr_sec;
	size_t shstrndx;

	size_t symtab;
	size_t symtab_shndx;
	size_t nr_sym;
	size_t first_global;
	size_t sym_size;
	const u8 *syms;
	const u8 *xindex;
	const char *strtab;
	size_t strtab_size;

	size_t keep;
	struct buffer tail;
};

/* recordmcount-elf.c */
__printf(2, 3) int fail(struct elf_file *f, const char *fmt, ...);
int fail_memory(struct elf_file *f);
int fail_section(struct elf_file *f, size_t index, const char *what);
int elf_file_load(struct elf_file *f);
void elf_file_free(struct elf_file *f);
int rel_section_check(struct elf_file *f, size_t index);

/* recordmcount-object.c */
int object_record(struct elf_file *f, enum site_action action);
int object_list(struct elf_file *f, FILE *to);

/* recordmcount-image.c */
int image_finish(struct elf_file *f);
int image_list(struct elf_file *f, FILE *to);

static inline u16 get16(const struct elf_file *f, const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return f->swap ? __builtin_bswap16(v) : v;
}

static inline u32 get32(const struct elf_file *f, const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return f->swap ? __builtin_bswap32(v) : v;
}

static inline u64 get64(const struct elf_file *f, const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return f->swap ? __builtin_bswap64(v) : v;
}

static inline void put16(const struct elf_file *f, void *p, u16 v)
{
	v = f->swap ? __builtin_bswap16(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void put32(const struct elf_file *f, void *p, u32 v)
{
	v = f->swap ? __builtin_bswap32(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void put64(const struct elf_file *f, void *p, u64 v)
{
	v = f->swap ? __builtin_bswap64(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline u64 get_word(const struct elf_file *f, const void *p)
{
	return f->is64 ? get64(f, p) : get32(f, p);
}

static inline void put_word(const struct elf_file *f, void *p, u64 v)
{
	if (f->is64)
		put64(f, p, v);
	else
		put32(f, p, v);
}

/* Where a field lies in the structure of the file's class. */
#define FIELD(f, type, field) \
	((f)->is64 ? offsetof(Elf64_##type, field) : offsetof(Elf32_##type, field))
#define SIZE_OF(f, type) \
	((f)->is64 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static inline Elf64_Sym symbol_get(const struct elf_file *f, size_t index)
{
	const u8 *p = f->syms + index * f->sym_size;

	return (Elf64_Sym) {
		.st_name = get32(f, p + FIELD(f, Sym, st_name)),
		.st_info = p[FIELD(f, Sym, st_info)],
		.st_other = p[FIELD(f, Sym, st_other)],
		.st_shndx = get16(f, p + FIELD(f, Sym, st_shndx)),
		.st_value = get_word(f, p + FIELD(f, Sym, st_value)),
		.st_size = get_word(f, p + FIELD(f, Sym, st_size)),
	};
}

/* The section that defines a symbol, or 0: undefined, absolute, common. */
static inline u32 symbol_section(const struct elf_file *f, size_t index, const Elf64_Sym *sym)
{
	u32 sec = sym->st_shndx;

	if (sec == SHN_XINDEX && f->xindex)
		sec = get32(f, f->xindex + index * sizeof(u32));
	else if (sec >= SHN_LORESERVE)
		sec = SHN_UNDEF;
	return sec < f->nr_sec ? sec : SHN_UNDEF;
}

static inline const char *symbol_name(const struct elf_file *f, const Elf64_Sym *sym)
{
	return sym->st_name < f->strtab_size ? f->strtab + sym->st_name : "";
}

static inline u32 rel_sym(const struct elf_file *f, const u8 *rel)
{
	u64 info = get_word(f, rel + FIELD(f, Rel, r_info));

	return f->is64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
}

static inline u32 rel_type(const struct elf_file *f, const u8 *rel)
{
	u64 info = get_word(f, rel + FIELD(f, Rel, r_info));

	return f->is64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info);
}

static inline void rel_put_info(const struct elf_file *f, u8 *rel, u32 sym, u32 type)
{
	u64 info = f->is64 ? ELF64_R_INFO((u64)sym, type) : ELF32_R_INFO(sym, type);

	put_word(f, rel + FIELD(f, Rel, r_info), info);
}

static inline u8 *section_data(const struct elf_file *f, size_t index)
{
	return f->base + f->sec[index].sh.sh_offset;
}

static inline bool section_is_rel(const struct section *sec)
{
	return sec->sh.sh_type == SHT_REL || sec->sh.sh_type == SHT_RELA;
}

static inline size_t section_rel_size(const struct elf_file *f, const struct section *sec)
{
	return sec->sh.sh_type == SHT_RELA ? SIZE_OF(f, Rela) : SIZE_OF(f, Rel);
}

#endif /* _RECORDMCOUNT_ELF_H */
