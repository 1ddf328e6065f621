// SPDX-License-Identifier: GPL-2.0
/*
 * Object mode: records the sites of one relocatable object.
 *
 * The object gets
 *
 *	__mcount_loc         one entry a site, SHF_ALLOC, aligned to its size
 *	.rela__mcount_loc    one relocation an entry (.rel__mcount_loc with SHT_REL)
 *
 * An entry has 4 bytes. Once relocated it is the distance from itself to its site, so
 * that it needs no relocation when the kernel moves.
 *
 * Invariants:
 *  1. Entries are in order of section and offset, each site once.
 *  2. A site in a member of a section group has its entry in a __mcount_loc
 *     that is a member of the same group, and is discarded together with it.
 *
 * A call through the GOT (call *__fentry__@GOTPCREL(%rip)) has six bytes. As a
 * NOP it is a five-byte one, which is then an ordinary site, and a one-byte
 * one. Without the NOPs it is recorded as it is, and image mode will refuse it.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4 (object files) with the gABI's
 * extended section numbering and section groups; the psABI supplements.
 */
#include <stdlib.h>

#include "modes.h"
#include "object.h"

/* R_386_NONE and R_X86_64_NONE. */
#define RELOCATION_NONE	0

static int site_compare(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return COMPARE(x->group, y->group) ?: COMPARE(x->sec, y->sec) ?:
	       COMPARE(x->offset, y->offset);
}

static int sites_sort(struct object *o)
{
	size_t i;

	if (o->nr_site)
		qsort(o->site, o->nr_site, sizeof(*o->site), site_compare);
	for (i = 1; i < o->nr_site; i++) {
		if (!site_compare(&o->site[i - 1], &o->site[i]))
			return fail_section(o->f, o->site[i].sec, "two relocations at one site");
	}
	return 0;
}

/*
 * The relocations stay, of a type that does nothing: kpatch-build finds by them
 * which functions it can patch. The type is in the low 4 bytes of r_info, or in
 * the lowest one where the class has 32 bits.
 */
static void sites_nop(struct object *o)
{
	struct elf_file *f = o->f;
	const struct site *s;
	u8 *code, *info;

	for (s = o->site; s < o->site + o->nr_site; s++) {
		code = section_data(f, s->sec) + s->offset;
		memcpy(code, f->machine->nop, SITE_SIZE);
		memset(code + SITE_SIZE, 0x90, s->len - SITE_SIZE);
		info = f->base + s->rel + FIELD(f, Rel, r_info);
		memset(info, RELOCATION_NONE, f->is64 ? 4 : 1);
	}
}

/* Appends a section of zeroed bytes. */
static void section_append(struct elf_file *f, Elf64_Shdr sh)
{
	sh.sh_offset = file_extend(f, sh.sh_addralign, sh.sh_size);
	f->sec = mem_resize(f, f->sec, (f->nr_sec + 1) * sizeof(*f->sec));
	f->sec[f->nr_sec++] = (struct section) { .sh = sh };
}

static const char *table_rel_name(const struct elf_file *f)
{
	return f->machine->entry_rel == SHT_RELA ? ".rela" TABLE_NAME : ".rel" TABLE_NAME;
}

static void entries_fill(struct elf_file *f, const struct site *site, size_t nr, u32 table)
{
	u8 *entry = section_data(f, table), *rel = section_data(f, table + 1);
	const struct section *sec;
	u64 addend;
	size_t i;

	for (i = 0; i < nr; i++, rel += f->sec[table + 1].sh.sh_entsize) {
		sec = &f->sec[site[i].sec];
		addend = site[i].offset - sec->base_value;
		FIELD_PUT(f, rel, Rel, r_offset, i * ENTRY_SIZE);
		reloc_put_info(f, rel, sec->base_sym, f->machine->entry_type);
		if (f->machine->entry_rel == SHT_RELA)
			FIELD_PUT(f, rel, Rela, r_addend, addend);
		else
			put_u32(entry + i * ENTRY_SIZE, addend);
	}
}

/*
 * One __mcount_loc with its relocations, for the sites of one group, or those outside of groups.
 * Both names are one string, which object_apply() adds: the table's is its end.
 */
static void table_append(struct elf_file *f, const struct site *site, size_t nr)
{
	const u64 in_group = site->group ? SHF_GROUP : 0;
	const u32 names = f->sec[f->shstrndx].sh.sh_size, table = f->nr_sec;
	const bool rela = f->machine->entry_rel == SHT_RELA;
	const size_t rel_size = rela ? SIZE_OF(f, Rela) : SIZE_OF(f, Rel);
	u8 *member;

	section_append(f, (Elf64_Shdr) {
		.sh_name = names + strlen(table_rel_name(f)) - strlen(TABLE_NAME),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | in_group,
		.sh_size = nr * ENTRY_SIZE,
		.sh_addralign = ENTRY_SIZE,
	});
	section_append(f, (Elf64_Shdr) {
		.sh_name = names,
		.sh_type = f->machine->entry_rel,
		.sh_flags = SHF_INFO_LINK | in_group,
		.sh_size = nr * rel_size,
		.sh_link = f->symtab,
		.sh_info = table,
		.sh_addralign = f->is64 ? 8 : 4,
		.sh_entsize = rel_size,
	});
	entries_fill(f, site, nr, table);
	if (!in_group)
		return;
	member = section_extend(f, site->group, 4, 2 * sizeof(u32));
	put_u32(member, table);
	put_u32(member + sizeof(u32), table + 1);
}

static void tables_append(struct object *o)
{
	size_t first, end;

	for (first = 0; first < o->nr_site; first = end) {
		end = first + 1;
		while (end < o->nr_site && o->site[end].group == o->site[first].group)
			end++;
		table_append(o->f, o->site + first, end - first);
	}
}

static void section_header_put(const struct elf_file *f, u8 *p, const Elf64_Shdr *sh)
{
	FIELD_PUT(f, p, Shdr, sh_name, sh->sh_name);
	FIELD_PUT(f, p, Shdr, sh_type, sh->sh_type);
	FIELD_PUT(f, p, Shdr, sh_flags, sh->sh_flags);
	FIELD_PUT(f, p, Shdr, sh_addr, sh->sh_addr);
	FIELD_PUT(f, p, Shdr, sh_offset, sh->sh_offset);
	FIELD_PUT(f, p, Shdr, sh_size, sh->sh_size);
	FIELD_PUT(f, p, Shdr, sh_link, sh->sh_link);
	FIELD_PUT(f, p, Shdr, sh_info, sh->sh_info);
	FIELD_PUT(f, p, Shdr, sh_addralign, sh->sh_addralign);
	FIELD_PUT(f, p, Shdr, sh_entsize, sh->sh_entsize);
}

/* From SHN_LORESERVE sections on, their number stands in the null section. */
static int headers_append(struct elf_file *f)
{
	const size_t size = SIZE_OF(f, Shdr);
	bool extended = f->nr_sec >= SHN_LORESERVE;
	u64 offset = file_extend(f, 8, f->nr_sec * size);
	size_t i;

	if (!f->is64 && f->size > UINT32_MAX)
		return fail(f, "section headers: beyond 4 GiB");
	if (extended)
		f->sec[0].sh.sh_size = f->nr_sec;
	for (i = 0; i < f->nr_sec; i++)
		section_header_put(f, f->base + offset + i * size, &f->sec[i].sh);
	FIELD_PUT(f, f->base, Ehdr, e_shoff, offset);
	FIELD_PUT(f, f->base, Ehdr, e_shnum, extended ? 0 : f->nr_sec);
	return 0;
}

static int object_apply(struct object *o, enum site_action action)
{
	struct elf_file *f = o->f;
	const char *name = table_rel_name(f);
	const size_t len = strlen(name) + 1;

	/* The old section headers go where they end the file, as is usual. */
	f->size = f->end;
	if (symbols_provide(o))
		return VERDICT_FAILED;
	if (action == SITE_RECORD_AND_NOP)
		sites_nop(o);
	tables_append(o);
	memcpy(section_extend(f, f->shstrndx, 1, len), name, len);
	return headers_append(f) ? VERDICT_FAILED : VERDICT_CHANGED;
}

static bool object_has_table(const struct elf_file *f)
{
	size_t i;

	for (i = 1; i < f->nr_sec; i++) {
		if (!strcmp(section_name(f, i), TABLE_NAME))
			return true;
	}
	return false;
}

int object_record(struct elf_file *f, enum site_action action)
{
	struct object o = { .f = f };
	int verdict = VERDICT_UNTOUCHED;

	if (f->type != ET_REL)
		return fail(f, "ELF header: type %u is not a relocatable object", f->type);
	if (object_has_table(f) || !f->symtab)
		return VERDICT_UNTOUCHED;
	if (sites_find(&o) || sites_sort(&o))
		verdict = VERDICT_FAILED;
	else if (o.nr_site)
		verdict = object_apply(&o, action);
	free(o.role);
	free(o.site);
	return verdict;
}

/* -- listing --------------------------------------------------------------- */

static void entries_print(const struct elf_file *f, const struct section *relsec, FILE *to)
{
	u64 at = relsec->sh.sh_offset, end = at + relsec->sh.sh_size, value;
	struct symbol sym;
	struct reloc rel;

	for (; at < end; at += relsec->sh.sh_entsize) {
		rel = reloc_get(f, relsec, at);
		if (rel.sym >= f->nr_sym)
			continue;
		sym = symbol_get(f, rel.sym);
		value = sym.value + rel.addend;
		fprintf(to, "%s+0x%llx\n", section_name(f, sym.sec), f->is64 ? value : (u32)value);
	}
}

static int entries_list(struct elf_file *f, FILE *to)
{
	const struct section *sec;
	u32 table;

	for (sec = f->sec + 1; sec < f->sec + f->nr_sec; sec++) {
		if (!section_is_rel(sec))
			continue;
		if (rel_section_check(f, sec - f->sec))
			return VERDICT_FAILED;
		table = sec->sh.sh_info;
		if (!strcmp(section_name(f, table), TABLE_NAME) &&
		    f->sec[table].sh.sh_type == SHT_PROGBITS)
			entries_print(f, sec, to);
	}
	return 0;
}

/* Prints the sites, those that an existing table names, or those to be recorded. */
int object_list(struct elf_file *f, FILE *to)
{
	struct object o = { .f = f };
	int verdict;
	size_t i;

	if (!f->symtab)
		return VERDICT_UNTOUCHED;
	verdict = object_has_table(f) ? entries_list(f, to) : sites_find(&o);
	for (i = 0; !verdict && i < o.nr_site; i++)
		fprintf(to, "%s+0x%llx\n", section_name(f, o.site[i].sec), o.site[i].offset);
	free(o.role);
	free(o.site);
	return verdict;
}
