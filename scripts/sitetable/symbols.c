// SPDX-License-Identifier: GPL-2.0
/*
 * Gives each section with sites a symbol that the entries can refer to, and
 * adds section symbols to the object where it has no symbol that serves.
 *
 * Invariants:
 *  1. An entry refers to the section symbol of its site's section, or else to
 *     another local symbol there, or else to a section symbol that is added;
 *     never to a symbol that another object can override. So static functions
 *     need nothing special, and a weak function that loses the link keeps its
 *     entry, for image mode to drop.
 *  2. Symbols that are added go after the last local one. All that numbers
 *     symbols is renumbered: relocations, groups, .symtab_shndx. An address
 *     significance table (LLVM) is detached, as objcopy does. An object with
 *     any other user of the symbol table is refused.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4 (object files) with the gABI's
 * extended section numbering and section groups.
 */
#include <stdlib.h>

#include "object.h"

#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG	0x6fff4c03
#endif
/* Weights alone: their functions are in a section of relocations. */
#define SHT_LLVM_CALL_GRAPH_PROFILE	0x6fff4c09

/* The sections that get a symbol. */
struct insertion {
	struct elf_file *f;
	u32 *sec;
	size_t nr;
};

/* The types up to STT_SECTION have an address in their section as value. */
static void bases_find(struct elf_file *f)
{
	struct section *sec;
	struct symbol sym;
	size_t i;

	for (i = 1; i < f->first_global; i++) {
		sym = symbol_get(f, i);
		sec = &f->sec[sym.sec];
		if (!sym.sec || sym.type > STT_SECTION)
			continue;
		if (sec->base_sym && sym.type != STT_SECTION)
			continue;
		sec->base_sym = i;
		sec->base_value = sym.value;
	}
}

/* Says which symbol each section without one will have. */
static int insertion_plan(struct insertion *in, const struct object *o)
{
	struct elf_file *f = in->f;
	const struct site *s;

	for (s = o->site; s < o->site + o->nr_site; s++) {
		if (f->sec[s->sec].base_sym)
			continue;
		if (s->sec >= SHN_LORESERVE && !f->symtab_shndx)
			return fail_section(f, s->sec, "no .symtab_shndx to name it in");
		f->sec[s->sec].base_sym = f->first_global + in->nr;
		in->sec[in->nr++] = s->sec;
	}
	if (!f->is64 && f->nr_sym + in->nr > 0xffffff)
		return fail_section(f, f->symtab, "more symbols than relocations can name");
	return 0;
}

static void rel_section_shift(struct insertion *in, const struct section *relsec)
{
	struct elf_file *f = in->f;
	u64 at = relsec->sh.sh_offset, end = at + relsec->sh.sh_size;
	struct reloc rel;

	for (; at < end; at += relsec->sh.sh_entsize) {
		rel = reloc_get(f, relsec, at);
		if (rel.sym >= f->first_global)
			reloc_put_info(f, f->base + at, rel.sym + in->nr, rel.type);
	}
}

static int symbol_user_shift(struct insertion *in, struct section *sec)
{
	const u32 type = sec->sh.sh_type;

	if (section_is_rel(sec))
		rel_section_shift(in, sec);
	else if (type == SHT_GROUP && sec->sh.sh_info >= in->f->first_global)
		sec->sh.sh_info += in->nr;
	else if (type == SHT_LLVM_ADDRSIG)
		sec->sh.sh_link = 0;
	else if (type != SHT_GROUP && type != SHT_SYMTAB_SHNDX &&
		 type != SHT_LLVM_CALL_GRAPH_PROFILE)
		return fail_section(in->f, sec - in->f->sec,
				    "uses the symbol table in an unknown way");
	return 0;
}

/* Makes room after the local symbols in the symbol table, or in the sections that go with it. */
static u8 *symbols_part(struct insertion *in, size_t index, size_t entsize)
{
	size_t head = in->f->first_global * entsize, gap = in->nr * entsize;
	u8 *end = section_extend(in->f, index, 8, gap);
	u8 *at = section_data(in->f, index) + head;

	memmove(at + gap, at, end - at);
	memset(at, 0, gap);
	return at;
}

static int symbols_insert(struct insertion *in)
{
	struct elf_file *f = in->f;
	const size_t size = SIZE_OF(f, Sym);
	size_t i;
	u8 *p;

	for (i = 1; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_link == f->symtab && symbol_user_shift(in, &f->sec[i]))
			return VERDICT_FAILED;
	}
	p = symbols_part(in, f->symtab, size);
	for (i = 0; i < in->nr; i++, p += size) {
		FIELD_PUT(f, p, Sym, st_info, ELF64_ST_INFO(STB_LOCAL, STT_SECTION));
		FIELD_PUT(f, p, Sym, st_shndx,
			  in->sec[i] < SHN_LORESERVE ? in->sec[i] : SHN_XINDEX);
	}
	f->sec[f->symtab].sh.sh_info += in->nr;
	if (!f->symtab_shndx)
		return 0;
	p = symbols_part(in, f->symtab_shndx, sizeof(u32));
	for (i = 0; i < in->nr; i++, p += sizeof(u32))
		put_u32(p, in->sec[i] < SHN_LORESERVE ? 0 : in->sec[i]);
	return 0;
}

/* Gives each section with sites its @base_sym and @base_value. */
int symbols_provide(struct object *o)
{
	struct insertion in = { .f = o->f };
	int ret;

	bases_find(o->f);
	in.sec = mem_resize(o->f, NULL, o->nr_site * sizeof(*in.sec));
	ret = insertion_plan(&in, o);
	if (!ret && in.nr)
		ret = symbols_insert(&in);
	free(in.sec);
	return ret;
}
