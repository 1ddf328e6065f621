// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the sites of a relocatable object. The relocations of the executable
 * sections tell where they are; nothing is disassembled.
 *
 * Invariants:
 *  1. A relocation makes a site only by its type, its symbol, its addend and the
 *     instruction there, all four. Names of files play no part.
 *  2. No call is passed over. A relocation of neither a call nor an address that code takes is an
 *     error, and so are relocations in a form that is not read here.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4; the psABI supplements.
 */
#include <stdio.h>

#include "object.h"

#ifndef SHT_CREL
#define SHT_CREL	0x40000014
#endif

static const char *const target_names[] = { "__fentry__", "mcount", "_mcount" };

/*
 * The meaning of a symbol to a relocation that uses it. An assembler may refer to a
 * target that the object defines as section plus offset.
 */
enum symbol_role {
	ROLE_NONE,
	ROLE_TARGET,
	ROLE_SECTION,
};

static bool name_is_target(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(target_names); i++) {
		if (!strcmp(name, target_names[i]))
			return true;
	}
	return false;
}

/* Returns how many symbols name a target. */
static int targets_find(struct object *o)
{
	struct elf_file *f = o->f;
	struct symbol sym;
	int nr = 0;
	size_t i;

	o->role = mem_resize(f, NULL, f->nr_sym);
	memset(o->role, ROLE_NONE, f->nr_sym);
	for (i = 1; i < f->nr_sym; i++) {
		sym = symbol_get(f, i);
		if (sym.bind == STB_LOCAL ? i >= f->first_global : i < f->first_global)
			return fail_section(f, f->symtab, "sh_info is not where the globals begin");
		if (name_is_target(sym.name)) {
			o->role[i] = ROLE_TARGET;
			o->defined |= sym.sec != SHN_UNDEF;
			nr++;
		} else if (sym.type == STT_SECTION) {
			o->role[i] = ROLE_SECTION;
		}
	}
	return nr;
}

/* The addend of a call's relocation: a distance counts from the end of its field. */
#define CALL_ADDEND	(-4)

/* Is the call of a section plus an offset one of a target there? */
static bool offset_is_target(const struct object *o, const struct reloc *rel)
{
	const u32 sec = symbol_get(o->f, rel->sym).sec;
	struct symbol sym;
	size_t i;

	for (i = 1; i < o->f->nr_sym; i++) {
		if (o->role[i] != ROLE_TARGET)
			continue;
		sym = symbol_get(o->f, i);
		if (sym.sec == sec && sym.value == (u64)rel->addend - CALL_ADDEND)
			return true;
	}
	return false;
}

static bool reloc_uses_target(const struct object *o, const struct reloc *rel)
{
	if (o->role[rel->sym] == ROLE_SECTION)
		return o->defined && offset_is_target(o, rel);
	return o->role[rel->sym] == ROLE_TARGET;
}

/* Kept code: sections that the kernel's and the modules' linker scripts throw away are not. */
static bool section_has_sites(const struct elf_file *f, size_t index)
{
	const u64 text = SHF_ALLOC | SHF_EXECINSTR;
	const Elf64_Shdr *sh = &f->sec[index].sh;

	return sh->sh_type == SHT_PROGBITS && (sh->sh_flags & text) == text &&
	       strncmp(section_name(f, index), ".discard", 8);
}

static const struct call_form *form_find(const struct machine *machine, u32 type)
{
	const struct call_form *form = machine->forms;

	while (form->type && form->type != type)
		form++;
	return form->type ? form : NULL;
}

/* Types that take an address, and 0, which does nothing: a call that was recorded has it. */
static bool type_is_no_call(const struct machine *machine, u32 type)
{
	const u32 *address = machine->addresses;

	while (*address && *address != type)
		address++;
	return *address == type;
}

static void warn_ignored(const struct elf_file *f, u32 sec, u64 offset, const char *why)
{
	if (f->warn)
		fprintf(stderr, "sitetable: %s: %s+0x%llx: ignored: %s\n", f->path,
			section_name(f, sec), offset, why);
}

/* Is it the opcode of a call that is before the field at @code? */
static int opcode_check(struct object *o, const struct call_form *form, const u8 *code, u32 sec,
			const struct reloc *rel)
{
	code -= form->opcode_len;
	if (!memcmp(code, form->opcode, form->opcode_len))
		return 0;
	return fail(o->f, "section %u (%s)+0x%llx: not a call: found %02x %02x, expected %s", sec,
		    section_name(o->f, sec), rel->offset, code[0], code[1],
		    form->opcode_len == 1 ? "e8" : "ff 15");
}

/* A relocation uses a target's symbol: is it a site, no site, or an error? */
static int site_consider(struct object *o, struct site *site, const struct reloc *rel)
{
	struct elf_file *f = o->f;
	const u8 *code = section_word(f, site->sec, rel->offset);
	const struct call_form *form = form_find(f->machine, rel->type);

	if (!form && !type_is_no_call(f->machine, rel->type))
		return fail(f, "section %u (%s)+0x%llx: relocation type %u of a call is not known",
			    site->sec, section_name(f, site->sec), rel->offset, rel->type);
	if (!form) {
		warn_ignored(f, site->sec, rel->offset, "a relocation type that no call has");
		return 0;
	}
	if (!code || rel->offset < form->opcode_len)
		return fail(f, "section %u (%s): relocation at 0x%llx, outside of it",
			    site->sec, section_name(f, site->sec), rel->offset);
	if (opcode_check(o, form, code, site->sec, rel))
		return VERDICT_FAILED;
	if (o->role[rel->sym] == ROLE_TARGET && rel->addend != CALL_ADDEND)
		return fail(f, "section %u (%s)+0x%llx: call with addend %lld, expected %d",
			    site->sec, section_name(f, site->sec), rel->offset, rel->addend,
			    CALL_ADDEND);
	site->offset = rel->offset - form->opcode_len;
	site->len = form->opcode_len + 4;
	/* Room for twice as many, whenever their number is a power of two. */
	if (!(o->nr_site & (o->nr_site - 1)))
		o->site = mem_resize(f, o->site, (2 * o->nr_site + 1) * sizeof(*site));
	o->site[o->nr_site++] = *site;
	return 0;
}

static int rel_section_scan(struct object *o, const struct section *relsec)
{
	struct elf_file *f = o->f;
	const struct section *sec = &f->sec[relsec->sh.sh_info];
	struct site site = { .sec = sec - f->sec, .rel = relsec->sh.sh_offset };
	const u64 end = site.rel + relsec->sh.sh_size, size = relsec->sh.sh_entsize;
	bool kept = section_has_sites(f, site.sec);
	struct reloc rel;

	if (!kept && !(f->warn && (sec->sh.sh_flags & SHF_EXECINSTR)))
		return 0;
	if (kept && (sec->sh.sh_flags & SHF_GROUP) && !sec->group)
		return fail_section(f, site.sec, "member of no section group");
	site.group = sec->sh.sh_flags & SHF_GROUP ? sec->group : 0;
	for (; site.rel < end; site.rel += size) {
		rel = reloc_get(f, relsec, site.rel);
		if (rel.sym >= f->nr_sym)
			return fail_section(f, relsec - f->sec, "a relocation without a symbol");
		if (!reloc_uses_target(o, &rel))
			continue;
		if (!kept)
			warn_ignored(f, site.sec, rel.offset, "the section is not kept");
		else if (site_consider(o, &site, &rel))
			return VERDICT_FAILED;
	}
	return 0;
}

static int group_members_note(struct elf_file *f, u32 index)
{
	const u8 *word = section_data(f, index);
	const u8 *end = word + f->sec[index].sh.sh_size;
	u32 member;

	if (word == end || (end - word) % sizeof(u32))
		return fail_section(f, index, "size is not a number of members");
	for (word += sizeof(u32); word < end; word += sizeof(u32)) {
		member = get_u32(word);
		if (!member || member >= f->nr_sec)
			return fail_section(f, index, "a member that is no section");
		f->sec[member].group = index;
	}
	return 0;
}

int sites_find(struct object *o)
{
	struct elf_file *f = o->f;
	int nr = targets_find(o);
	size_t i;

	if (nr <= 0)
		return nr;
	for (i = 1; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_type == SHT_GROUP && group_members_note(f, i))
			return VERDICT_FAILED;
	}
	for (i = 1; i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_type == SHT_CREL)
			return fail_section(f, i, "compact relocations (CREL) cannot be read");
		if (!section_is_rel(&f->sec[i]))
			continue;
		if (rel_section_check(f, i) || rel_section_scan(o, &f->sec[i]))
			return VERDICT_FAILED;
	}
	return 0;
}
