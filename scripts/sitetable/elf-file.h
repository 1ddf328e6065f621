/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SITETABLE_ELF_FILE_H
#define _SITETABLE_ELF_FILE_H
/*
 * The common part of the modes of sitetable: an ELF file of x86 in memory, checked when it is
 * loaded, and read and written through accessors that know its class.
 *
 * Invariants:
 *  1. After elf_file_load() the data of each section lies within the file, each
 *     section has a name, the symbol table is a whole number of symbols, and a
 *     string that starts within a table in use ends within it.
 *  2. All else that a file says (indices, offsets, lengths) is checked where it
 *     is used. Nothing in a file is assumed to be aligned.
 *  3. The file's bytes move when it grows: file_extend() and section_extend()
 *     make each pointer into them invalid.
 *
 * There is no library below this. A package of headers has the tool built for the
 * machine that it is for, where no other program of scripts/ needs one. And libelf
 * would lay the file out anew, and copy data that is not aligned.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4 (object files) with the gABI's
 * extended section numbering.
 */
#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int32_t s32;
typedef long long s64;

#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define COMPARE(a, b)	((a) < (b) ? -1 : (a) > (b))

#define TABLE_NAME	"__mcount_loc"
#define SITE_SIZE	5
#define ENTRY_SIZE	4

enum verdict {
	VERDICT_FAILED = -1,
	VERDICT_UNTOUCHED,
	VERDICT_CHANGED,
};

/* One way to call: a relocation type, and the opcode before its field. */
struct call_form {
	u32 type;
	u8 opcode_len;
	u8 opcode[2];
};

/*
 * @entry_type is the relocation of an entry, and @entry_rel the type of its section.
 * @addresses are the relocations of code that only takes the address. An empty one ends
 * @forms, and 0 @addresses.
 */
struct machine {
	u16 id;
	u8 elf_class;
	u8 nop[SITE_SIZE];
	u32 entry_type;
	u32 entry_rel;
	struct call_form forms[6];
	u32 addresses[4];
};

/*
 * A section as the file has it, and the findings of object mode: the local symbol that stands for
 * it (0: not known yet), and the group that it belongs to.
 */
struct section {
	Elf64_Shdr sh;
	u64 base_value;
	u32 base_sym;
	u32 group;
};

/* @sec defines it. It is 0 for a symbol that is undefined, absolute or common. */
struct symbol {
	const char *name;
	u64 value;
	u64 size;
	u32 sec;
	u16 shndx;
	u8 type;
	u8 bind;
};

struct reloc {
	u64 offset;
	s64 addend;
	u32 sym;
	u32 type;
};

/*
 * One file in memory, edited in place. @base comes from malloc(). @names is a
 * copy of the sections' names, which no edit can change, and NULL before they
 * are checked. @end is where the data of the last section ends.
 */
struct elf_file {
	const char *path;
	u8 *base;
	size_t size;
	bool warn;
	char error[400];

	const struct machine *machine;
	bool is64;
	u16 type;

	struct section *sec;
	size_t nr_sec;
	size_t shstrndx;
	char *names;
	u64 end;

	size_t symtab;
	size_t symtab_shndx;
	size_t nr_sym;
	size_t first_global;
};

__printf(2, 3) int fail(struct elf_file *f, const char *fmt, ...);
int fail_section(struct elf_file *f, size_t index, const char *what);
void *mem_resize(const struct elf_file *f, void *old, size_t size);
int elf_file_load(struct elf_file *f);
void elf_file_free(struct elf_file *f);
u64 file_extend(struct elf_file *f, size_t align, size_t len);
u8 *section_extend(struct elf_file *f, size_t index, size_t align, size_t len);
struct symbol symbol_get(const struct elf_file *f, size_t index);
int rel_section_check(struct elf_file *f, size_t index);
struct reloc reloc_get(const struct elf_file *f, const struct section *relsec, u64 at);

/* The first bytes of a number are its low ones, however long it is. */
static inline u64 get_num(const u8 *p, size_t size)
{
	u64 v = 0;

	memcpy(&v, p, size);
	return le64toh(v);
}

static inline void put_num(u8 *p, size_t size, u64 v)
{
	v = htole64(v);
	memcpy(p, &v, size);
}

static inline u32 get_u32(const u8 *p)
{
	return get_num(p, sizeof(u32));
}

static inline void put_u32(u8 *p, u32 v)
{
	put_num(p, sizeof(u32), v);
}

/* Where a field lies in the structure of the file's class, and how long it is. */
#define SIZE_OF(f, type) \
	((f)->is64 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define FIELD(f, type, field) \
	((f)->is64 ? offsetof(Elf64_##type, field) : offsetof(Elf32_##type, field))
#define FIELD_SIZE(f, type, field) \
	((f)->is64 ? sizeof((*(Elf64_##type *)0).field) : sizeof((*(Elf32_##type *)0).field))
#define FIELD_GET(f, p, type, field) \
	get_num((p) + FIELD(f, type, field), FIELD_SIZE(f, type, field))
#define FIELD_PUT(f, p, type, field, v) \
	put_num((p) + FIELD(f, type, field), FIELD_SIZE(f, type, field), v)
#define EHDR_GET(f, field) \
	FIELD_GET(f, (f)->base, Ehdr, field)

static inline void reloc_put_info(const struct elf_file *f, u8 *rel, u32 sym, u32 type)
{
	FIELD_PUT(f, rel, Rel, r_info,
		  f->is64 ? ELF64_R_INFO((u64)sym, type) : ELF32_R_INFO(sym, type));
}

static inline const char *section_name(const struct elf_file *f, size_t index)
{
	return f->names ? f->names + f->sec[index].sh.sh_name : "?";
}

static inline u8 *section_data(const struct elf_file *f, size_t index)
{
	return f->base + f->sec[index].sh.sh_offset;
}

/* The four bytes that a relocation changes, or NULL: they are not in the section. */
static inline u8 *section_word(const struct elf_file *f, size_t index, u64 offset)
{
	const Elf64_Shdr *sh = &f->sec[index].sh;

	if (sh->sh_type != SHT_PROGBITS || sh->sh_size < 4 || offset > sh->sh_size - 4)
		return NULL;
	return f->base + sh->sh_offset + offset;
}

static inline bool section_is_rel(const struct section *sec)
{
	return sec->sh.sh_type == SHT_REL || sec->sh.sh_type == SHT_RELA;
}

#endif /* _SITETABLE_ELF_FILE_H */
