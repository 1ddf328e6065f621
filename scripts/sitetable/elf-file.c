// SPDX-License-Identifier: GPL-2.0
/*
 * Loads an ELF file: its header and section headers are read and checked. The table of
 * machines says how a call looks on each. Reading symbols and relocations is here too, and the
 * growing of a file.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4; for the relocations the psABI
 * supplements of x86-64 and i386; for CALL and NOP the Intel SDM, volume 2.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "elf-file.h"

static const struct machine machines[] = {
	{
		.id = EM_X86_64,
		.elf_class = ELFCLASS64,
		.nop = { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		.entry_type = R_X86_64_PC32,
		.entry_rel = SHT_RELA,
		.forms = {
			{ R_X86_64_PLT32, 1, { 0xe8 } },
			{ R_X86_64_PC32, 1, { 0xe8 } },
			{ R_X86_64_GOTPCRELX, 2, { 0xff, 0x15 } },
			{ R_X86_64_REX_GOTPCRELX, 2, { 0xff, 0x15 } },
			{ R_X86_64_GOTPCREL, 2, { 0xff, 0x15 } },
		},
		.addresses = { R_X86_64_64, R_X86_64_32, R_X86_64_32S },
	},
	{
		.id = EM_386,
		.elf_class = ELFCLASS32,
		.nop = { 0x3e, 0x8d, 0x74, 0x26, 0x00 },
		.entry_type = R_386_PC32,
		.entry_rel = SHT_REL,
		.forms = {
			{ R_386_PC32, 1, { 0xe8 } },
			{ R_386_PLT32, 1, { 0xe8 } },
		},
		.addresses = { R_386_32 },
	},
};

int fail(struct elf_file *f, const char *fmt, ...)
{
	va_list args;
	char *c;

	va_start(args, fmt);
	vsnprintf(f->error, sizeof(f->error), fmt, args);
	va_end(args);

	/* Names come from the file; the message stays one line of text. */
	for (c = f->error; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return VERDICT_FAILED;
}

int fail_section(struct elf_file *f, size_t index, const char *what)
{
	return fail(f, "section %zu (%s): %s", index, section_name(f, index), what);
}

/* As realloc(). Without memory nothing else can be done, and no file has changed. */
void *mem_resize(const struct elf_file *f, void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p) {
		fprintf(stderr, "sitetable: %s: out of memory\n", f->path);
		exit(1);
	}
	return p;
}

/* -- loading --------------------------------------------------------------- */

static int machine_find(struct elf_file *f, u16 id, u8 class)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		f->machine = &machines[i];
		if (f->machine->id == id && f->machine->elf_class == class)
			return 0;
	}
	return fail(f, "ELF header: machine %u, class %u: not one whose calls are known", id,
		    class);
}

static int header_check(struct elf_file *f)
{
	const u8 *ident = f->base;
	u64 size;

	if (f->size < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG))
		return fail(f, "ELF header: not an ELF file, or truncated");
	f->is64 = ident[EI_CLASS] == ELFCLASS64;
	if ((!f->is64 && ident[EI_CLASS] != ELFCLASS32) || f->size < SIZE_OF(f, Ehdr))
		return fail(f, "ELF header: not an ELF file, or truncated");
	if (ident[EI_DATA] != ELFDATA2LSB)
		return fail(f, "ELF header: not little-endian");
	f->type = EHDR_GET(f, e_type);
	if (machine_find(f, EHDR_GET(f, e_machine), ident[EI_CLASS]))
		return VERDICT_FAILED;
	if (ident[EI_VERSION] != EV_CURRENT || EHDR_GET(f, e_version) != EV_CURRENT)
		return fail(f, "ELF header: unknown version");
	size = EHDR_GET(f, e_ehsize);
	if (size != SIZE_OF(f, Ehdr))
		return fail(f, "ELF header: e_ehsize is %llu", size);
	size = EHDR_GET(f, e_shentsize);
	if (size != SIZE_OF(f, Shdr))
		return fail(f, "ELF header: e_shentsize is %llu", size);
	return 0;
}

/* A string table in use ends in a NUL, so that no string runs out of it. */
static int strings_check(struct elf_file *f, size_t index)
{
	const Elf64_Shdr *sh;

	if (!index || index >= f->nr_sec)
		return fail(f, "section %zu: no such section, but it should hold names", index);
	sh = &f->sec[index].sh;
	if (sh->sh_type != SHT_STRTAB || !sh->sh_size)
		return fail_section(f, index, "not a string table");
	if (section_data(f, index)[sh->sh_size - 1])
		return fail_section(f, index, "the last string does not end");
	return 0;
}

static int sections_check(struct elf_file *f)
{
	const Elf64_Shdr *sh;
	size_t i;

	f->end = sizeof(Elf64_Ehdr);
	for (i = 0; i < f->nr_sec; i++) {
		sh = &f->sec[i].sh;
		if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS)
			continue;
		if (sh->sh_offset > f->size || sh->sh_size > f->size - sh->sh_offset)
			return fail_section(f, i, "its data reaches beyond the end of the file");
		if (f->end < sh->sh_offset + sh->sh_size)
			f->end = sh->sh_offset + sh->sh_size;
	}
	if (strings_check(f, f->shstrndx))
		return VERDICT_FAILED;
	for (i = 0; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_name >= f->sec[f->shstrndx].sh.sh_size)
			return fail_section(f, i, "its name is outside of the string table");
	}
	sh = &f->sec[f->shstrndx].sh;
	f->names = mem_resize(f, NULL, sh->sh_size);
	memcpy(f->names, f->base + sh->sh_offset, sh->sh_size);
	return 0;
}

static Elf64_Shdr section_header_get(const struct elf_file *f, const u8 *p)
{
	return (Elf64_Shdr) {
		.sh_name = FIELD_GET(f, p, Shdr, sh_name),
		.sh_type = FIELD_GET(f, p, Shdr, sh_type),
		.sh_flags = FIELD_GET(f, p, Shdr, sh_flags),
		.sh_addr = FIELD_GET(f, p, Shdr, sh_addr),
		.sh_offset = FIELD_GET(f, p, Shdr, sh_offset),
		.sh_size = FIELD_GET(f, p, Shdr, sh_size),
		.sh_link = FIELD_GET(f, p, Shdr, sh_link),
		.sh_info = FIELD_GET(f, p, Shdr, sh_info),
		.sh_addralign = FIELD_GET(f, p, Shdr, sh_addralign),
		.sh_entsize = FIELD_GET(f, p, Shdr, sh_entsize),
	};
}

/* Numbers that the header has no room for stand in the null section. */
static int sections_load(struct elf_file *f)
{
	const size_t size = SIZE_OF(f, Shdr);
	u64 shoff = EHDR_GET(f, e_shoff);
	Elf64_Shdr null;
	size_t i;

	if (!shoff || shoff > f->size || f->size - shoff < size)
		return fail(f, "section headers: none, or outside of the file");
	null = section_header_get(f, f->base + shoff);
	f->nr_sec = EHDR_GET(f, e_shnum) ?: null.sh_size;
	f->shstrndx = EHDR_GET(f, e_shstrndx);
	if (f->shstrndx == SHN_XINDEX)
		f->shstrndx = null.sh_link;
	if (f->nr_sec < 2 || f->nr_sec > (f->size - shoff) / size)
		return fail(f, "section headers: %zu of them, outside of the file", f->nr_sec);
	f->sec = mem_resize(f, NULL, f->nr_sec * sizeof(*f->sec));
	for (i = 0; i < f->nr_sec; i++)
		f->sec[i] = (struct section) {
			.sh = section_header_get(f, f->base + shoff + i * size),
		};
	return sections_check(f);
}

static int symtab_set(struct elf_file *f, size_t index)
{
	const Elf64_Shdr *sh = &f->sec[index].sh;

	if (f->symtab)
		return fail_section(f, index, "a second symbol table");
	if (sh->sh_entsize != SIZE_OF(f, Sym) || sh->sh_size % sh->sh_entsize)
		return fail_section(f, index, "size is not a number of symbols");
	f->symtab = index;
	f->nr_sym = sh->sh_size / sh->sh_entsize;
	f->first_global = sh->sh_info;
	if (!f->first_global || f->first_global > f->nr_sym)
		return fail_section(f, index, "sh_info is not a number of local symbols");
	return strings_check(f, sh->sh_link);
}

static int symtab_load(struct elf_file *f)
{
	const Elf64_Shdr *sh;
	size_t i;

	for (i = 1; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_type == SHT_SYMTAB && symtab_set(f, i))
			return VERDICT_FAILED;
	}
	for (i = 1; f->symtab && i < f->nr_sec; i++) {
		sh = &f->sec[i].sh;
		if (sh->sh_type != SHT_SYMTAB_SHNDX)
			continue;
		if (sh->sh_link != f->symtab || f->symtab_shndx ||
		    sh->sh_size / sizeof(u32) != f->nr_sym)
			return fail_section(f, i, "does not match the symbol table");
		f->symtab_shndx = i;
	}
	return 0;
}

int elf_file_load(struct elf_file *f)
{
	if (!f->size)
		return fail(f, "empty file");
	if (header_check(f) || sections_load(f))
		return VERDICT_FAILED;
	return symtab_load(f);
}

void elf_file_free(struct elf_file *f)
{
	free(f->sec);
	free(f->names);
	free(f->base);
}

/* -- growing --------------------------------------------------------------- */

/* Adds @len zeroed bytes at the end, and returns where they are in the file. */
u64 file_extend(struct elf_file *f, size_t align, size_t len)
{
	size_t start = (f->size + align - 1) & ~(align - 1);

	f->base = mem_resize(f, f->base, start + len);
	memset(f->base + f->size, 0, start + len - f->size);
	f->size = start + len;
	return start;
}

/* Moves a section to the end, @len zeroed bytes longer, which are returned. */
u8 *section_extend(struct elf_file *f, size_t index, size_t align, size_t len)
{
	Elf64_Shdr *sh = &f->sec[index].sh;
	u64 offset = file_extend(f, align, sh->sh_size + len);
	u8 *end = f->base + offset + sh->sh_size;

	memcpy(f->base + offset, section_data(f, index), sh->sh_size);
	sh->sh_offset = offset;
	sh->sh_size += len;
	return end;
}

/* -- symbols and relocations ----------------------------------------------- */

static u32 symbol_section(const struct elf_file *f, size_t index, u32 sec)
{
	if (sec == SHN_XINDEX && f->symtab_shndx)
		sec = get_u32(section_data(f, f->symtab_shndx) + index * sizeof(u32));
	else if (sec >= SHN_LORESERVE)
		sec = SHN_UNDEF;
	return sec < f->nr_sec ? sec : SHN_UNDEF;
}

struct symbol symbol_get(const struct elf_file *f, size_t index)
{
	const Elf64_Shdr *symtab = &f->sec[f->symtab].sh, *strings = &f->sec[symtab->sh_link].sh;
	const u8 *p = f->base + symtab->sh_offset + index * symtab->sh_entsize;
	u32 name = FIELD_GET(f, p, Sym, st_name);
	u16 shndx = FIELD_GET(f, p, Sym, st_shndx);
	u8 info = FIELD_GET(f, p, Sym, st_info);

	return (struct symbol) {
		.name = name < strings->sh_size ? (char *)f->base + strings->sh_offset + name : "",
		.value = FIELD_GET(f, p, Sym, st_value),
		.size = FIELD_GET(f, p, Sym, st_size),
		.sec = symbol_section(f, index, shndx),
		.shndx = shndx,
		.type = ELF64_ST_TYPE(info),
		.bind = ELF64_ST_BIND(info),
	};
}

int rel_section_check(struct elf_file *f, size_t index)
{
	const Elf64_Shdr *sh = &f->sec[index].sh;
	size_t size = sh->sh_type == SHT_RELA ? SIZE_OF(f, Rela) : SIZE_OF(f, Rel);

	if (sh->sh_entsize != size || sh->sh_size % size)
		return fail_section(f, index, "size is not a number of relocations");
	if (sh->sh_link != f->symtab)
		return fail_section(f, index, "sh_link is not the symbol table");
	if (!sh->sh_info || sh->sh_info >= f->nr_sec)
		return fail_section(f, index, "sh_info is not a section");
	return 0;
}

/*
 * The relocation at @at in the file; rel_section_check() accepted its section.
 * Without a field of its own, the addend is in the word that is to be relocated.
 */
struct reloc reloc_get(const struct elf_file *f, const struct section *relsec, u64 at)
{
	const u8 *p = f->base + at, *word;
	u64 info = FIELD_GET(f, p, Rel, r_info);
	struct reloc rel = {
		.offset = FIELD_GET(f, p, Rel, r_offset),
		.sym = f->is64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info),
		.type = f->is64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info),
	};

	word = section_word(f, relsec->sh.sh_info, rel.offset);
	if (relsec->sh.sh_type == SHT_RELA)
		rel.addend = FIELD_GET(f, p, Rela, r_addend);
	else if (word)
		rel.addend = (s32)get_u32(word);
	if (!f->is64)
		rel.addend = (s32)rel.addend;
	return rel;
}
