// SPDX-License-Identifier: GPL-2.0
/*
 * Loads an ELF file: libelf reads the header and the section headers, and they
 * are checked here. The table of machines says what a call looks like on each.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4; for the relocations the psABI
 * supplements of x86-64 and i386; for CALL and NOP the Intel SDM, volume 2.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdlib.h>

#include "recordmcount-elf.h"

static const struct machine machines[] = {
	{
		.id = EM_X86_64,
		.elf_class = ELFCLASS64,
		.nop = { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		.entry_type = R_X86_64_PC32,
		.entry_sht = SHT_RELA,
		.entry_rel_name = ".rela" TABLE_NAME,
		.nr_forms = 5,
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
		.nop = { 0x3e, 0x8d, 0x74, 0x26, 0x00 },
		.entry_type = R_386_PC32,
		.entry_sht = SHT_REL,
		.entry_rel_name = ".rel" TABLE_NAME,
		.nr_forms = 2,
		.forms = {
			{ R_386_PC32, 1, { 0xe8 } },
			{ R_386_PLT32, 1, { 0xe8 } },
		},
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

int fail_memory(struct elf_file *f)
{
	return fail(f, "out of memory");
}

int fail_section(struct elf_file *f, size_t index, const char *what)
{
	const char *name = f->sec[index].name;

	return fail(f, "section %zu (%s): %s", index, name ? name : "?", what);
}

static int machine_find(struct elf_file *f, const GElf_Ehdr *ehdr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		if (machines[i].id != ehdr->e_machine)
			continue;
		if (machines[i].elf_class != ehdr->e_ident[EI_CLASS])
			continue;
		f->machine = &machines[i];
		return 0;
	}
	return fail(f, "ELF header: machine %u, class %u: neither x86-64 nor i386",
		    ehdr->e_machine, ehdr->e_ident[EI_CLASS]);
}

static int header_check(struct elf_file *f, const GElf_Ehdr *ehdr)
{
	const u16 probe = 1;
	bool host_lsb = *(const u8 *)&probe;

	f->type = ehdr->e_type;
	f->shoff = ehdr->e_shoff;
	f->is64 = ehdr->e_ident[EI_CLASS] == ELFCLASS64;
	f->swap = (ehdr->e_ident[EI_DATA] == ELFDATA2LSB) != host_lsb;
	if (machine_find(f, ehdr))
		return VERDICT_FAILED;
	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail(f, "ELF header: not little-endian, as its machine is");
	if (ehdr->e_ident[EI_VERSION] != EV_CURRENT || ehdr->e_version != EV_CURRENT)
		return fail(f, "ELF header: unknown version");
	if (ehdr->e_ehsize != SIZE_OF(f, Ehdr))
		return fail(f, "ELF header: e_ehsize is %u", ehdr->e_ehsize);
	if (ehdr->e_shentsize != SIZE_OF(f, Shdr))
		return fail(f, "ELF header: e_shentsize is %u", ehdr->e_shentsize);
	return 0;
}

static int section_check(struct elf_file *f, size_t index)
{
	const Elf64_Shdr *sh = &f->sec[index].sh;

	if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS)
		return 0;
	if (sh->sh_offset > f->size || sh->sh_size > f->size - sh->sh_offset)
		return fail_section(f, index, "its data reaches beyond the end of the file");
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

static int names_load(struct elf_file *f)
{
	const char *names;
	size_t i;

	if (strings_check(f, f->shstrndx))
		return VERDICT_FAILED;
	names = (const char *)section_data(f, f->shstrndx);
	for (i = 0; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_name >= f->sec[f->shstrndx].sh.sh_size)
			return fail_section(f, i, "its name is outside of the string table");
		f->sec[i].name = names + f->sec[i].sh.sh_name;
	}
	return 0;
}

static int sections_load(struct elf_file *f, Elf *elf)
{
	size_t i;

	if (elf_getshdrnum(elf, &f->nr_sec) || f->nr_sec < 2)
		return fail(f, "section headers: none, or outside of the file");
	if (f->shoff > f->size ||
	    f->nr_sec > (f->size - f->shoff) / SIZE_OF(f, Shdr))
		return fail(f, "section headers: %zu of them, outside of the file", f->nr_sec);
	if (elf_getshdrstrndx(elf, &f->shstrndx))
		return fail(f, "ELF header: e_shstrndx: %s", elf_errmsg(-1));
	f->sec = calloc(f->nr_sec, sizeof(*f->sec));
	if (!f->sec)
		return fail_memory(f);
	for (i = 0; i < f->nr_sec; i++) {
		if (!gelf_getshdr(elf_getscn(elf, i), &f->sec[i].sh))
			return fail(f, "section %zu: header: %s", i, elf_errmsg(-1));
		if (section_check(f, i))
			return VERDICT_FAILED;
	}
	return names_load(f);
}

static int symtab_set(struct elf_file *f, size_t index)
{
	const Elf64_Shdr *sh = &f->sec[index].sh;

	if (f->symtab)
		return fail_section(f, index, "a second symbol table");
	f->sym_size = SIZE_OF(f, Sym);
	if (sh->sh_entsize != f->sym_size || sh->sh_size % f->sym_size)
		return fail_section(f, index, "size is not a number of symbols");
	f->symtab = index;
	f->nr_sym = sh->sh_size / f->sym_size;
	f->first_global = sh->sh_info;
	f->syms = section_data(f, index);
	if (!f->first_global || f->first_global > f->nr_sym)
		return fail_section(f, index, "sh_info is not a number of local symbols");
	if (strings_check(f, sh->sh_link))
		return VERDICT_FAILED;
	f->strtab = (const char *)section_data(f, sh->sh_link);
	f->strtab_size = f->sec[sh->sh_link].sh.sh_size;
	return 0;
}

static int symtab_load(struct elf_file *f)
{
	size_t i;

	for (i = 1; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_type == SHT_SYMTAB && symtab_set(f, i))
			return VERDICT_FAILED;
	}
	for (i = 1; f->symtab && i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_type != SHT_SYMTAB_SHNDX)
			continue;
		if (f->sec[i].sh.sh_link != f->symtab || f->symtab_shndx ||
		    f->sec[i].sh.sh_size / sizeof(u32) != f->nr_sym)
			return fail_section(f, i, "does not match the symbol table");
		f->symtab_shndx = i;
		f->xindex = section_data(f, i);
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
		ret = sections_load(f, elf);
	elf_end(elf);
	return ret ? ret : symtab_load(f);
}

void elf_file_free(struct elf_file *f)
{
	free(f->sec);
	free(f->tail.data);
}

int rel_section_check(struct elf_file *f, size_t index)
{
	const struct section *sec = &f->sec[index];
	size_t size = section_rel_size(f, sec);

	if (sec->sh.sh_entsize != size || sec->sh.sh_size % size)
		return fail_section(f, index, "size is not a number of relocations");
	if (sec->sh.sh_link != f->symtab)
		return fail_section(f, index, "sh_link is not the symbol table");
	if (!sec->sh.sh_info || sec->sh.sh_info >= f->nr_sec)
		return fail_section(f, index, "sh_info is not a section");
	return 0;
}
