// SPDX-License-Identifier: GPL-2.0
/*
 * Loads an ELF file: libelf reads the header and the section headers, and they
 * are checked here. The table of machines says what a call looks like on each.
 * What is read of symbols and relocations is here too, and how a file grows.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4; for the relocations the psABI
 * supplements of x86-64, i386, MIPS and PowerPC, the Power Architecture 64-Bit ELF V2
 * ABI, SGI's 64-bit ELF Object File Specification, Arm's AAELF32 and AAELF64, the SPARC
 * Compliance Definition 2.4.1, and binutils' include/elf/sh.h; for CALL and NOP the Intel
 * SDM, volume 2, for BL the Arm ARM (A5.1, A6.3.4 and C6.2) and the Power ISA, book I, 2.4,
 * for JAL and LUI the MIPS64 Architecture, volume II, for SPARC's CALL the SPARC
 * Architecture Manual, version 9, A.8, for JMP, LDS and NOP of SuperH the SH-4 Software
 * Manual.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "recordmcount-elf.h"

/* Their addend is in the instruction where relocations have none: -8, or -4 in Thumb. */
static const struct machine machines[] = {
	{
		.id = EM_X86_64,
		.elf_class = ELFCLASS64,
		.in_image = true,
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
	},
	{
		.id = EM_386,
		.elf_class = ELFCLASS32,
		.in_image = true,
		.nop = { 0x3e, 0x8d, 0x74, 0x26, 0x00 },
		.entry_type = R_386_PC32,
		.entry_rel = SHT_REL,
		.forms = {
			{ R_386_PC32, 1, { 0xe8 } },
			{ R_386_PLT32, 1, { 0xe8 } },
		},
	},
	{
		.id = EM_ARM,
		.elf_class = ELFCLASS32,
		.entry_type = R_ARM_ABS32,
		.entry_rel = SHT_REL,
		.forms = {
			{ R_ARM_CALL, .insn = 0xebfffffe },
			{ R_ARM_PC24, .insn = 0xebfffffe },
			{ R_ARM_THM_PC22, .halves = true, .insn = 0xf7fffffe },
		},
	},
	{
		.id = EM_AARCH64,
		.elf_class = ELFCLASS64,
		.little_insns = true,
		.entry_type = R_AARCH64_ABS64,
		.entry_rel = SHT_RELA,
		.forms = { { R_AARCH64_CALL26, .insn = 0x94000000 } },
	},
	/* LUI begins the call of a module: the site is there, and its LO16 is none. */
	{
		.id = EM_MIPS,
		.elf_class = ELFCLASS32,
		.entry_type = R_MIPS_32,
		.entry_rel = SHT_REL,
		.forms = {
			{ R_MIPS_26, .insn = 0x0c000000 },
			{ R_MIPS_HI16, .insn = 0x3c030000 },
		},
	},
	{
		.id = EM_MIPS,
		.elf_class = ELFCLASS64,
		.mips_info = true,
		.entry_type = R_MIPS_64,
		.entry_rel = SHT_RELA,
		.forms = {
			{ R_MIPS_26, .insn = 0x0c000000 },
			{ R_MIPS_HI16, .insn = 0x3c030000 },
		},
	},
	{
		.id = EM_PPC,
		.elf_class = ELFCLASS32,
		.entry_type = R_PPC_ADDR32,
		.entry_rel = SHT_RELA,
		.forms = {
			{ R_PPC_REL24, .insn = 0x48000001 },
			{ R_PPC_PLTREL24, .insn = 0x48000001 },
		},
	},
	{
		.id = EM_PPC64,
		.elf_class = ELFCLASS64,
		.entry_type = R_PPC64_ADDR64,
		.entry_rel = SHT_RELA,
		.forms = { { R_PPC64_REL24, .insn = 0x48000001 } },
	},
	{
		.id = EM_SPARCV9,
		.elf_class = ELFCLASS64,
		.entry_type = R_SPARC_64,
		.entry_rel = SHT_RELA,
		.forms = {
			{ R_SPARC_WDISP30, .insn = 0x40000000 },
			{ R_SPARC_WPLT30, .insn = 0x40000000 },
		},
	},
	/* JMP @r1 with LDS r0,pr after it; the word that r1 was loaded from is the site. */
	{
		.id = EM_SH,
		.elf_class = ELFCLASS32,
		.in_place = true,
		.entry_type = R_SH_DIR32,
		.entry_rel = SHT_RELA,
		.forms = { { R_SH_DIR32, .before = 0x412b402a, .pad = 0x0009 } },
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
		fprintf(stderr, "recordmcount: %s: out of memory\n", f->path);
		exit(1);
	}
	return p;
}

/* -- loading --------------------------------------------------------------- */

static int machine_find(struct elf_file *f, const GElf_Ehdr *ehdr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		f->machine = &machines[i];
		if (f->machine->id == ehdr->e_machine &&
		    f->machine->elf_class == ehdr->e_ident[EI_CLASS])
			return 0;
	}
	return fail(f, "ELF header: machine %u, class %u: not one whose calls are known",
		    ehdr->e_machine, ehdr->e_ident[EI_CLASS]);
}

static int header_check(struct elf_file *f, const GElf_Ehdr *ehdr)
{
	f->type = ehdr->e_type;
	f->is64 = ehdr->e_ident[EI_CLASS] == ELFCLASS64;
	f->big_endian = ehdr->e_ident[EI_DATA] == ELFDATA2MSB;
	if (machine_find(f, ehdr))
		return VERDICT_FAILED;
	if (f->big_endian && f->machine->in_image)
		return fail(f, "ELF header: not little-endian, as its machine is");
	if (ehdr->e_ident[EI_VERSION] != EV_CURRENT || ehdr->e_version != EV_CURRENT)
		return fail(f, "ELF header: unknown version");
	if (ehdr->e_ehsize != SIZE_OF(f, Ehdr))
		return fail(f, "ELF header: e_ehsize is %u", ehdr->e_ehsize);
	if (ehdr->e_shentsize != SIZE_OF(f, Shdr))
		return fail(f, "ELF header: e_shentsize is %u", ehdr->e_shentsize);
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

static int sections_load(struct elf_file *f, Elf *elf, u64 shoff)
{
	size_t i;

	if (elf_getshdrnum(elf, &f->nr_sec) || f->nr_sec < 2)
		return fail(f, "section headers: none, or outside of the file");
	if (shoff > f->size || f->nr_sec > (f->size - shoff) / SIZE_OF(f, Shdr))
		return fail(f, "section headers: %zu of them, outside of the file", f->nr_sec);
	if (elf_getshdrstrndx(elf, &f->shstrndx))
		return fail(f, "ELF header: e_shstrndx: %s", elf_errmsg(-1));
	f->sec = mem_resize(f, NULL, f->nr_sec * sizeof(*f->sec));
	for (i = 0; i < f->nr_sec; i++) {
		f->sec[i] = (struct section) { 0 };
		if (!gelf_getshdr(elf_getscn(elf, i), &f->sec[i].sh))
			return fail(f, "section %zu: header: %s", i, elf_errmsg(-1));
	}
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
	GElf_Ehdr ehdr;
	Elf *elf;
	int ret;

	if (!f->size)
		return fail(f, "empty file");
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)f->base, f->size);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		ret = fail(f, "ELF header: not an ELF file, or truncated");
	else
		ret = header_check(f, &ehdr);
	if (!ret)
		ret = sections_load(f, elf, ehdr.e_shoff);
	elf_end(elf);
	return ret ? ret : symtab_load(f);
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
		sec = get_u32(f, section_data(f, f->symtab_shndx) + index * sizeof(u32));
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
	u64 info = reloc_get_info(f, p);
	struct reloc rel = {
		.offset = FIELD_GET(f, p, Rel, r_offset),
		.sym = f->is64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info),
		.type = f->is64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info),
	};

	word = section_word(f, relsec->sh.sh_info, rel.offset);
	if (relsec->sh.sh_type == SHT_RELA && !f->machine->in_place)
		rel.addend = FIELD_GET(f, p, Rela, r_addend);
	else if (word)
		rel.addend = (s32)get_u32(f, word);
	if (!f->is64)
		rel.addend = (s32)rel.addend;
	return rel;
}
