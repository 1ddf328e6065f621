// SPDX-License-Identifier: GPL-2.0
/*
 * Object mode: records the sites of one relocatable object.
 *
 * The relocations of the executable sections tell where the sites are; nothing
 * is disassembled. The object gets
 *
 *	__mcount_loc         one 4-byte entry a site, SHF_ALLOC, aligned to 4
 *	.rela__mcount_loc    one relocation an entry (.rel__mcount_loc on i386)
 *
 * and once relocated an entry is the distance from itself to its site, so that
 * it needs no relocation when the kernel moves.
 *
 * Invariants:
 *  1. A relocation makes a site only by its type, its symbol, its addend and
 *     the opcode in front of it, all four. Names of files play no part.
 *  2. An entry refers to the section symbol of its site's section, or else to
 *     another local symbol there, or else to a section symbol that is added;
 *     never to a symbol that another object can override. So static functions
 *     need nothing special, and a weak function that loses the link keeps its
 *     entry, for image mode to drop.
 *  3. Entries are in order of section and offset, each site once.
 *  4. A site in a member of a section group has its entry in a __mcount_loc
 *     that is a member of the same group, and is discarded together with it.
 *  5. Symbols that are added go after the last local one. Whoever numbers
 *     symbols is renumbered: relocations, groups, .symtab_shndx. An address
 *     significance table (LLVM) is detached, as objcopy does. An object with
 *     any other user of the symbol table is refused.
 *
 * A call through the GOT (call *__fentry__@GOTPCREL(%rip)) has six bytes. As a
 * NOP it is a five-byte one, which is then an ordinary site, and a one-byte
 * one. Without the NOPs it is recorded as it is, and image mode will refuse it.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4 (object files) with the gABI's
 * extended section numbering and section groups; the psABI supplements.
 */
#include <stdlib.h>

#include "recordmcount-elf.h"

#define MAX_DEFINED	8

/* R_386_NONE, R_X86_64_NONE, and so on. */
#define RELOCATION_NONE	0

#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG	0x6fff4c03
#endif

static const char *const target_names[] = { "__fentry__", "mcount", "_mcount" };

struct site {
	u32 sec;
	u32 group;
	u32 relsec;
	const struct call_form *form;
	u64 offset;
	size_t rel;
};

/* A target that is defined in the object itself. */
struct defined_target {
	u32 sec;
	u64 value;
};

/* What a symbol means to a relocation that uses it. */
enum symbol_role {
	ROLE_NONE,
	ROLE_TARGET,
	ROLE_SECTION,
};

/*
 * An object while it is processed. @site is in the order of the relocations,
 * @order in that of the entries.
 */
struct object {
	struct elf_file *f;
	u8 *role;
	struct defined_target defined[MAX_DEFINED];
	size_t nr_defined;
	struct site *site;
	struct site **order;
	size_t nr_site;
	size_t site_room;
	u32 *new_sym;
	size_t nr_new_sym;
};

/* Says what stands in front of a relocated field, and what should. */
static int fail_bytes(struct elf_file *f, const struct site *site,
		      const u8 *found, const char *expected)
{
	return fail(f, "section %u (%s)+0x%llx: not a call: found %02x %02x, expected %s",
		    site->sec, f->sec[site->sec].name,
		    (unsigned long long)site->offset, found[0], found[1], expected);
}

/* -- finding the sites ----------------------------------------------------- */

static bool name_is_target(const char *name)
{
	size_t i;

	if (name[0] != '_' && name[0] != 'm')
		return false;
	for (i = 0; i < ARRAY_SIZE(target_names); i++) {
		if (!strcmp(name, target_names[i]))
			return true;
	}
	return false;
}

static int target_add(struct object *o, size_t index, const Elf64_Sym *sym)
{
	struct elf_file *f = o->f;
	u32 sec = symbol_section(f, index, sym);

	o->role[index] = ROLE_TARGET;
	if (!sec)
		return 0;
	if (o->nr_defined == MAX_DEFINED)
		return fail_section(f, f->symtab, "too many definitions of __fentry__ or mcount");
	o->defined[o->nr_defined++] = (struct defined_target) { sec, sym->st_value };
	return 0;
}

/* An assembler may refer to a local definition as section plus offset. */
static void target_sections_mark(struct object *o)
{
	struct elf_file *f = o->f;
	Elf64_Sym sym;
	u32 sec;
	size_t i, k;

	for (i = 1; o->nr_defined && i < f->first_global; i++) {
		sym = symbol_get(f, i);
		sec = symbol_section(f, i, &sym);
		if (ELF64_ST_TYPE(sym.st_info) != STT_SECTION)
			continue;
		for (k = 0; k < o->nr_defined; k++) {
			if (o->defined[k].sec == sec)
				o->role[i] = ROLE_SECTION;
		}
	}
}

static int targets_find(struct object *o)
{
	struct elf_file *f = o->f;
	size_t i, nr = 0;
	Elf64_Sym sym;
	bool local, among_globals;

	o->role = calloc(f->nr_sym, 1);
	if (!o->role)
		return fail_memory(f);
	for (i = 1; i < f->nr_sym; i++) {
		sym = symbol_get(f, i);
		local = ELF64_ST_BIND(sym.st_info) == STB_LOCAL;
		among_globals = i >= f->first_global;
		if (local == among_globals)
			return fail_section(f, f->symtab, "sh_info is not where the globals begin");
		if (!name_is_target(symbol_name(f, &sym)))
			continue;
		if (target_add(o, i, &sym))
			return VERDICT_FAILED;
		nr++;
	}
	target_sections_mark(o);
	return nr;
}

/* Kept code: what the kernel's and the modules' linker scripts throw away is not. */
static bool section_has_sites(const struct section *sec)
{
	const u64 text = SHF_ALLOC | SHF_EXECINSTR;

	return sec->sh.sh_type == SHT_PROGBITS && (sec->sh.sh_flags & text) == text &&
	       strncmp(sec->name, ".discard", 8);
}

static const struct call_form *form_find(const struct elf_file *f, u32 type)
{
	size_t i;

	for (i = 0; i < f->machine->nr_forms; i++) {
		if (f->machine->forms[i].type == type)
			return &f->machine->forms[i];
	}
	return NULL;
}

/* What the relocation adds to its symbol, so that a call has the right target. */
static s64 rel_addend(const struct elf_file *f, const struct section *relsec,
		      const u8 *rel, const u8 *field)
{
	if (relsec->sh.sh_type == SHT_REL)
		return (s32)get32(f, field);
	if (f->is64)
		return (s64)get64(f, rel + offsetof(Elf64_Rela, r_addend));
	return (s32)get32(f, rel + offsetof(Elf32_Rela, r_addend));
}

static bool section_offset_is_target(const struct object *o, u32 sym_index, u64 offset)
{
	const struct elf_file *f = o->f;
	Elf64_Sym sym = symbol_get(f, sym_index);
	u32 sec = symbol_section(f, sym_index, &sym);
	size_t i;

	for (i = 0; i < o->nr_defined; i++) {
		if (o->defined[i].sec == sec && o->defined[i].value == offset)
			return true;
	}
	return false;
}

static int site_add(struct object *o, const struct site *site)
{
	struct elf_file *f = o->f;
	size_t room = o->site_room ? o->site_room * 2 : 256;
	struct site *grown;

	if (o->nr_site == o->site_room) {
		grown = realloc(o->site, room * sizeof(*grown));
		if (!grown)
			return fail_memory(f);
		o->site = grown;
		o->site_room = room;
	}
	o->site[o->nr_site++] = *site;
	return 0;
}

static void warn_ignored(const struct elf_file *f, const struct section *sec, u64 offset,
			 const char *why)
{
	if (f->warn)
		fprintf(stderr, "recordmcount: %s: %s+0x%llx: ignored: %s\n", f->path, sec->name,
			(unsigned long long)offset, why);
}

/* A relocation uses a target's symbol: is it a site, none, or an error? */
static int site_consider(struct object *o, struct site *site, const u8 *rel)
{
	struct elf_file *f = o->f;
	const struct section *sec = &f->sec[site->sec];
	u64 field = get_word(f, rel + FIELD(f, Rel, r_offset));
	u32 sym = rel_sym(f, rel);
	const u8 *code;
	s64 addend;

	site->offset = field;
	site->form = form_find(f, rel_type(f, rel));
	if (!site->form) {
		warn_ignored(f, sec, field, "a relocation type that no call has");
		return 0;
	}
	if (field < site->form->opcode_len || sec->sh.sh_size < 4 || field > sec->sh.sh_size - 4)
		return fail(f, "section %u (%s): relocation at 0x%llx, outside of it",
			    site->sec, sec->name, (unsigned long long)field);
	code = section_data(f, site->sec) + field - site->form->opcode_len;
	addend = rel_addend(f, &f->sec[site->relsec], rel, code + site->form->opcode_len);
	if (o->role[sym] == ROLE_SECTION && !section_offset_is_target(o, sym, (u64)addend + 4))
		return 0;
	if (memcmp(code, site->form->opcode, site->form->opcode_len))
		return fail_bytes(f, site, code, site->form->opcode_len == 1 ? "e8" : "ff 15");
	if (o->role[sym] == ROLE_TARGET && addend != -4)
		return fail(f, "section %u (%s)+0x%llx: call with addend %lld, expected -4",
			    site->sec, sec->name, (unsigned long long)field, (long long)addend);
	site->offset = field - site->form->opcode_len;
	return site_add(o, site);
}

static int rel_section_scan(struct object *o, size_t index)
{
	struct elf_file *f = o->f;
	const struct section *sec = &f->sec[index];
	const size_t size = section_rel_size(f, sec);
	const u8 *rel = section_data(f, index);
	struct site site = { .sec = sec->sh.sh_info, .relsec = index };
	const size_t nr = sec->sh.sh_size / size;
	bool kept = section_has_sites(&f->sec[site.sec]);
	u32 sym;

	if (!kept && !(f->warn && (f->sec[site.sec].sh.sh_flags & SHF_EXECINSTR)))
		return 0;
	for (site.rel = 0; site.rel < nr; site.rel++, rel += size) {
		sym = rel_sym(f, rel);
		if (sym >= f->nr_sym)
			return fail_section(f, index, "a relocation without a symbol");
		if (o->role[sym] == ROLE_NONE)
			continue;
		if (!kept)
			warn_ignored(f, &f->sec[site.sec],
				     get_word(f, rel + FIELD(f, Rel, r_offset)),
				     "the section is not kept");
		else if (site_consider(o, &site, rel))
			return VERDICT_FAILED;
	}
	return 0;
}

static int sites_find(struct object *o)
{
	struct elf_file *f = o->f;
	int nr = targets_find(o);
	size_t i;

	if (nr <= 0)
		return nr;
	for (i = 1; i < f->nr_sec; i++) {
		if (!section_is_rel(&f->sec[i]))
			continue;
		if (rel_section_check(f, i) || rel_section_scan(o, i))
			return VERDICT_FAILED;
	}
	return 0;
}

/* -- planning what to add -------------------------------------------------- */

static int group_members_note(struct elf_file *f, u32 index)
{
	const u8 *word = section_data(f, index);
	size_t i, nr = f->sec[index].sh.sh_size / sizeof(u32);
	u32 member;

	if (!nr || f->sec[index].sh.sh_size % sizeof(u32))
		return fail_section(f, index, "size is not a number of members");
	for (i = 1; i < nr; i++) {
		member = get32(f, word + i * sizeof(u32));
		if (!member || member >= f->nr_sec)
			return fail_section(f, index, "a member that is no section");
		f->sec[member].group = index;
	}
	return 0;
}

/* Which group each site belongs to: 0 for the many that are in none. */
static int groups_find(struct object *o)
{
	struct elf_file *f = o->f;
	bool any = false;
	struct site *s;
	size_t i;

	for (i = 0; i < o->nr_site && !any; i++)
		any = f->sec[o->site[i].sec].sh.sh_flags & SHF_GROUP;
	for (i = 1; any && i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_type == SHT_GROUP && group_members_note(f, i))
			return VERDICT_FAILED;
	}
	for (s = o->site; any && s < o->site + o->nr_site; s++) {
		if (!(f->sec[s->sec].sh.sh_flags & SHF_GROUP))
			continue;
		s->group = f->sec[s->sec].group;
		if (!s->group)
			return fail_section(f, s->sec, "member of no section group");
	}
	return 0;
}

static int site_compare(const struct site *a, const struct site *b)
{
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->sec != b->sec)
		return a->sec < b->sec ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return 0;
}

static int site_compare_indirect(const void *a, const void *b)
{
	return site_compare(*(struct site *const *)a, *(struct site *const *)b);
}

/* @order is the order of the entries; @site stays in that of the relocations. */
static int sites_sort(struct object *o)
{
	struct elf_file *f = o->f;
	bool sorted = true;
	size_t i;

	o->order = malloc(o->nr_site * sizeof(*o->order));
	if (!o->order)
		return fail_memory(f);
	for (i = 0; i < o->nr_site; i++) {
		o->order[i] = &o->site[i];
		sorted &= !i || site_compare(&o->site[i - 1], &o->site[i]) < 0;
	}
	if (sorted)
		return 0;
	qsort(o->order, o->nr_site, sizeof(*o->order), site_compare_indirect);
	for (i = 1; i < o->nr_site; i++) {
		if (!site_compare(o->order[i - 1], o->order[i]))
			return fail_section(f, o->order[i]->sec, "two relocations at one site");
	}
	return 0;
}

static bool symbol_can_be_base(const Elf64_Sym *sym)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_NOTYPE:
	case STT_OBJECT:
	case STT_FUNC:
	case STT_SECTION:
		return ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
	default:
		return false;
	}
}

static void bases_find(struct elf_file *f)
{
	struct section *sec;
	bool is_section;
	Elf64_Sym sym;
	size_t i;

	for (i = 1; i < f->first_global; i++) {
		sym = symbol_get(f, i);
		sec = &f->sec[symbol_section(f, i, &sym)];
		is_section = ELF64_ST_TYPE(sym.st_info) == STT_SECTION;
		if (sec == f->sec || !symbol_can_be_base(&sym))
			continue;
		if (sec->base_sym && !is_section)
			continue;
		sec->base_sym = i;
		sec->base_value = sym.st_value;
	}
}

/* New local symbols go after the old ones, and shift the global ones. */
static int new_symbols_plan(struct object *o)
{
	struct elf_file *f = o->f;
	struct section *sec;
	size_t i;

	o->new_sym = malloc(o->nr_site * sizeof(*o->new_sym));
	if (!o->new_sym)
		return fail_memory(f);
	for (i = 0; i < o->nr_site; i++) {
		sec = &f->sec[o->order[i]->sec];
		if (sec->base_sym)
			continue;
		if (o->order[i]->sec >= SHN_LORESERVE && !f->symtab_shndx)
			return fail_section(f, o->order[i]->sec, "no .symtab_shndx to name it in");
		sec->base_sym = f->first_global + o->nr_new_sym;
		o->new_sym[o->nr_new_sym++] = o->order[i]->sec;
	}
	if (!f->is64 && f->nr_sym + o->nr_new_sym > 0xffffff)
		return fail_section(f, f->symtab, "more symbols than relocations can name");
	return 0;
}

/* Whoever numbers symbols must be known when the numbers change. */
static int symbol_users_check(struct object *o)
{
	struct elf_file *f = o->f;
	size_t i;

	for (i = 1; o->nr_new_sym && i < f->nr_sec; i++) {
		if (f->sec[i].sh.sh_link != f->symtab)
			continue;
		switch (f->sec[i].sh.sh_type) {
		case SHT_REL:
		case SHT_RELA:
		case SHT_GROUP:
		case SHT_SYMTAB_SHNDX:
		case SHT_LLVM_ADDRSIG:
			break;
		default:
			return fail_section(f, i, "uses the symbol table in an unknown way");
		}
	}
	return 0;
}

static int object_plan(struct object *o)
{
	struct elf_file *f = o->f;

	if (groups_find(o) || sites_sort(o))
		return VERDICT_FAILED;
	bases_find(f);
	if (new_symbols_plan(o))
		return VERDICT_FAILED;
	return symbol_users_check(o);
}

/* -- applying -------------------------------------------------------------- */

/* Makes room for @len zeroed bytes. Returns their file offset, or 0: no memory. */
static u64 tail_reserve(struct elf_file *f, size_t align, size_t len)
{
	size_t start = (f->tail.len + align - 1) & ~(align - 1);
	size_t room = f->tail.room ? f->tail.room : 4096;
	u8 *grown;

	while (room < start + len)
		room *= 2;
	if (room != f->tail.room) {
		grown = realloc(f->tail.data, room);
		if (!grown)
			return 0;
		f->tail.data = grown;
		f->tail.room = room;
	}
	memset(f->tail.data + f->tail.len, 0, start + len - f->tail.len);
	f->tail.len = start + len;
	return f->keep + start;
}

static u8 *tail_at(const struct elf_file *f, u64 offset)
{
	return f->tail.data + (offset - f->keep);
}

/* The old section headers are dropped where they end the file, as is usual. */
static size_t keep_find(const struct elf_file *f)
{
	u64 end = sizeof(Elf64_Ehdr);
	const Elf64_Shdr *sh;
	size_t i;

	for (i = 1; i < f->nr_sec; i++) {
		sh = &f->sec[i].sh;
		if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS)
			continue;
		if (sh->sh_offset + sh->sh_size > end)
			end = sh->sh_offset + sh->sh_size;
	}
	return end;
}

static void sites_nop(struct object *o)
{
	struct elf_file *f = o->f;
	const struct site *s;
	u8 *code;

	for (s = o->site; s < o->site + o->nr_site; s++) {
		code = section_data(f, s->sec) + s->offset;
		memcpy(code, f->machine->nop, SITE_SIZE);
		if (s->form->opcode_len == 2)
			code[SITE_SIZE] = 0x90;
	}
}

/*
 * The relocations stay, of a type that does nothing: kpatch-build finds by them
 * which functions it can patch.
 */
static void sites_disarm(struct object *o)
{
	struct elf_file *f = o->f;
	const struct site *s;
	u8 *rel;

	for (s = o->site; s < o->site + o->nr_site; s++) {
		rel = section_data(f, s->relsec) + s->rel * section_rel_size(f, &f->sec[s->relsec]);
		rel_put_info(f, rel, rel_sym(f, rel), RELOCATION_NONE);
	}
}

static void rel_section_shift(struct object *o, size_t index)
{
	struct elf_file *f = o->f;
	const struct section *sec = &f->sec[index];
	const size_t size = section_rel_size(f, sec);
	u8 *rel = section_data(f, index);
	const u8 *end = rel + sec->sh.sh_size;
	u32 sym;

	for (; rel < end; rel += size) {
		sym = rel_sym(f, rel);
		if (sym >= f->first_global)
			rel_put_info(f, rel, sym + o->nr_new_sym, rel_type(f, rel));
	}
}

static void symbol_users_shift(struct object *o)
{
	struct elf_file *f = o->f;

	Elf64_Shdr *sh;
	size_t i;

	for (i = 1; i < f->nr_sec; i++) {
		sh = &f->sec[i].sh;
		if (sh->sh_link != f->symtab)
			continue;
		if (section_is_rel(&f->sec[i]))
			rel_section_shift(o, i);
		else if (sh->sh_type == SHT_GROUP && sh->sh_info >= f->first_global)
			sh->sh_info += o->nr_new_sym;
		else if (sh->sh_type == SHT_LLVM_ADDRSIG)
			sh->sh_link = 0;
	}
}

/* Moves a table to the tail, with room for the new symbols in its middle. */
static u8 *symbols_move(struct object *o, size_t index, size_t entsize)
{
	struct elf_file *f = o->f;
	size_t head = f->first_global * entsize, gap = o->nr_new_sym * entsize;
	size_t rest = f->nr_sym * entsize - head;
	u64 offset = tail_reserve(f, 8, head + gap + rest);
	const u8 *old = section_data(f, index);
	u8 *moved;

	if (!offset)
		return NULL;
	moved = tail_at(f, offset);
	memcpy(moved, old, head);
	memcpy(moved + head + gap, old + head, rest);
	f->sec[index].sh.sh_offset = offset;
	f->sec[index].sh.sh_size = head + gap + rest;
	return moved + head;
}

static int symbols_insert(struct object *o)
{
	struct elf_file *f = o->f;
	u8 *sym, *xindex;
	u32 sec;
	size_t i;

	symbol_users_shift(o);
	sym = symbols_move(o, f->symtab, f->sym_size);
	if (!sym)
		return fail_memory(f);
	for (i = 0; i < o->nr_new_sym; i++, sym += f->sym_size) {
		sec = o->new_sym[i];
		sym[FIELD(f, Sym, st_info)] = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
		put16(f, sym + FIELD(f, Sym, st_shndx), sec < SHN_LORESERVE ? sec : SHN_XINDEX);
	}
	f->sec[f->symtab].sh.sh_info += o->nr_new_sym;
	if (!f->symtab_shndx)
		return 0;
	xindex = symbols_move(o, f->symtab_shndx, sizeof(u32));
	if (!xindex)
		return fail_memory(f);
	for (i = 0; i < o->nr_new_sym; i++, xindex += sizeof(u32)) {
		sec = o->new_sym[i];
		put32(f, xindex, sec < SHN_LORESERVE ? 0 : sec);
	}
	return 0;
}

/* Appends a section header; data of @len bytes is reserved in the tail. */
static struct section *section_append(struct elf_file *f, u32 type, size_t align, size_t len)
{
	struct section *sec = &f->sec[f->nr_sec];
	u64 offset = tail_reserve(f, align, len);

	if (!offset)
		return NULL;
	*sec = (struct section) {
		.sh.sh_type = type,
		.sh.sh_offset = offset,
		.sh.sh_size = len,
		.sh.sh_addralign = align,
	};
	f->nr_sec++;
	return sec;
}

static void entries_fill(struct elf_file *f, struct site **order, size_t nr,
			 const struct section *table, const struct section *rels)
{
	u8 *entry = tail_at(f, table->sh.sh_offset);
	u8 *rel = tail_at(f, rels->sh.sh_offset);
	const struct section *sec;
	u64 addend;
	size_t i;

	for (i = 0; i < nr; i++, rel += rels->sh.sh_entsize) {
		sec = &f->sec[order[i]->sec];
		addend = order[i]->offset - sec->base_value;
		put_word(f, rel + FIELD(f, Rel, r_offset), i * ENTRY_SIZE);
		rel_put_info(f, rel, sec->base_sym, f->machine->entry_type);
		if (rels->sh.sh_type == SHT_RELA)
			put_word(f, rel + FIELD(f, Rela, r_addend), addend);
		else
			put32(f, entry + i * ENTRY_SIZE, addend);
	}
}

/* Appends two members to a group, which moves to the tail for it. */
static int group_extend(struct elf_file *f, u32 group, u32 first_member)
{
	Elf64_Shdr *sh = &f->sec[group].sh;
	u64 offset = tail_reserve(f, 4, sh->sh_size + 2 * sizeof(u32));
	u8 *word;

	if (!offset)
		return fail_memory(f);
	word = tail_at(f, offset);
	memcpy(word, section_data(f, group), sh->sh_size);
	put32(f, word + sh->sh_size, first_member);
	put32(f, word + sh->sh_size + sizeof(u32), first_member + 1);
	sh->sh_offset = offset;
	sh->sh_size += 2 * sizeof(u32);
	return 0;
}

/* One __mcount_loc with its relocations, for the sites of one group, or of none. */
static int table_append(struct elf_file *f, struct site **order, size_t nr)
{
	size_t rel_size = f->machine->entry_sht == SHT_RELA ? SIZE_OF(f, Rela) : SIZE_OF(f, Rel);
	u64 in_group = order[0]->group ? SHF_GROUP : 0;
	u32 index = f->nr_sec;
	struct section *table, *rels;

	table = section_append(f, SHT_PROGBITS, ENTRY_SIZE, nr * ENTRY_SIZE);
	if (!table)
		return fail_memory(f);
	rels = section_append(f, f->machine->entry_sht, f->is64 ? 8 : 4, nr * rel_size);
	if (!rels)
		return fail_memory(f);
	table->sh.sh_flags = SHF_ALLOC | in_group;
	rels->sh.sh_flags = SHF_INFO_LINK | in_group;
	rels->sh.sh_link = f->symtab;
	rels->sh.sh_info = index;
	rels->sh.sh_entsize = rel_size;
	entries_fill(f, order, nr, table, rels);
	return in_group ? group_extend(f, order[0]->group, index) : 0;
}

static size_t table_end(const struct object *o, size_t first)
{
	size_t end = first;

	while (end < o->nr_site && o->order[end]->group == o->order[first]->group)
		end++;
	return end;
}

static int tables_append(struct object *o)
{
	struct elf_file *f = o->f;
	size_t first, nr = 0;
	struct section *grown;

	for (first = 0; first < o->nr_site; first = table_end(o, first))
		nr += 2;
	grown = realloc(f->sec, (f->nr_sec + nr) * sizeof(*grown));
	if (!grown)
		return fail_memory(f);
	f->sec = grown;
	for (first = 0; first < o->nr_site; first = table_end(o, first)) {
		if (table_append(f, o->order + first, table_end(o, first) - first))
			return VERDICT_FAILED;
	}
	return 0;
}

/* The new names' string is that of the relocations; the table's is its end. */
static int names_append(struct elf_file *f, size_t old_nr_sec)
{
	const char *name = f->machine->entry_rel_name;
	Elf64_Shdr *sh = &f->sec[f->shstrndx].sh;
	size_t len = strlen(name) + 1, old = sh->sh_size, i;
	u64 offset = tail_reserve(f, 1, old + len);
	u32 table_name = old + len - sizeof(TABLE_NAME);

	if (!offset)
		return fail_memory(f);
	memcpy(tail_at(f, offset), section_data(f, f->shstrndx), old);
	memcpy(tail_at(f, offset) + old, name, len);
	sh->sh_offset = offset;
	sh->sh_size = old + len;
	for (i = old_nr_sec; i < f->nr_sec; i += 2) {
		f->sec[i].sh.sh_name = table_name;
		f->sec[i + 1].sh.sh_name = old;
	}
	return 0;
}

static void section_header_put(const struct elf_file *f, u8 *p, const Elf64_Shdr *sh)
{
	put32(f, p + FIELD(f, Shdr, sh_name), sh->sh_name);
	put32(f, p + FIELD(f, Shdr, sh_type), sh->sh_type);
	put_word(f, p + FIELD(f, Shdr, sh_flags), sh->sh_flags);
	put_word(f, p + FIELD(f, Shdr, sh_addr), sh->sh_addr);
	put_word(f, p + FIELD(f, Shdr, sh_offset), sh->sh_offset);
	put_word(f, p + FIELD(f, Shdr, sh_size), sh->sh_size);
	put32(f, p + FIELD(f, Shdr, sh_link), sh->sh_link);
	put32(f, p + FIELD(f, Shdr, sh_info), sh->sh_info);
	put_word(f, p + FIELD(f, Shdr, sh_addralign), sh->sh_addralign);
	put_word(f, p + FIELD(f, Shdr, sh_entsize), sh->sh_entsize);
}

/* From SHN_LORESERVE sections on, their number stands in the null section. */
static int headers_append(struct elf_file *f)
{
	size_t size = SIZE_OF(f, Shdr), i;
	bool extended = f->nr_sec >= SHN_LORESERVE;
	u64 offset = tail_reserve(f, 8, f->nr_sec * size);

	if (!offset)
		return fail_memory(f);
	if (!f->is64 && f->keep + f->tail.len > UINT32_MAX)
		return fail(f, "section headers: beyond 4 GiB");
	if (extended)
		f->sec[0].sh.sh_size = f->nr_sec;
	for (i = 0; i < f->nr_sec; i++)
		section_header_put(f, tail_at(f, offset) + i * size, &f->sec[i].sh);
	put_word(f, f->base + FIELD(f, Ehdr, e_shoff), offset);
	put16(f, f->base + FIELD(f, Ehdr, e_shnum), extended ? 0 : f->nr_sec);
	return 0;
}

/* The tail starts at a multiple of 16, so that what is aligned in it is so in the file. */
static int tail_start(struct elf_file *f)
{
	size_t end = keep_find(f), rest = end % 16;

	f->keep = end - rest;
	if (!tail_reserve(f, 1, rest))
		return fail_memory(f);
	memcpy(f->tail.data, f->base + f->keep, rest);
	return 0;
}

static int object_apply(struct object *o, enum site_action action)
{
	struct elf_file *f = o->f;
	size_t old_nr_sec = f->nr_sec;

	if (action == SITE_RECORD_AND_NOP) {
		sites_nop(o);
		sites_disarm(o);
	}
	if (tail_start(f))
		return VERDICT_FAILED;
	if (o->nr_new_sym && symbols_insert(o))
		return VERDICT_FAILED;
	if (tables_append(o) || names_append(f, old_nr_sec) || headers_append(f))
		return VERDICT_FAILED;
	return VERDICT_CHANGED;
}

static size_t table_section_find(const struct elf_file *f)
{
	size_t i;

	for (i = 1; i < f->nr_sec; i++) {
		if (!strcmp(f->sec[i].name, TABLE_NAME))
			return i;
	}
	return 0;
}

static int object_load(struct elf_file *f)
{
	if (elf_file_load(f))
		return VERDICT_FAILED;
	if (f->type != ET_REL)
		return fail(f, "ELF header: type %u is not a relocatable object", f->type);
	return 0;
}

static int object_steps(struct object *o, enum site_action action)
{
	struct elf_file *f = o->f;

	if (object_load(f))
		return VERDICT_FAILED;
	if (table_section_find(f) || !f->symtab)
		return VERDICT_UNTOUCHED;
	if (sites_find(o))
		return VERDICT_FAILED;
	if (!o->nr_site)
		return VERDICT_UNTOUCHED;
	if (object_plan(o))
		return VERDICT_FAILED;
	return object_apply(o, action);
}

static void object_free(struct object *o)
{
	free(o->role);
	free(o->site);
	free(o->order);
	free(o->new_sym);
}

/* Returns a verdict; with VERDICT_CHANGED the new object is in @f. */
int object_record(struct elf_file *f, enum site_action action)
{
	struct object o = { .f = f };
	int verdict = object_steps(&o, action);

	object_free(&o);
	return verdict;
}

/* -- listing --------------------------------------------------------------- */

static void entry_print(const struct elf_file *f, const struct section *relsec, const u8 *rel,
			FILE *to)
{
	u64 offset = get_word(f, rel + FIELD(f, Rel, r_offset)), addend = 0;
	const struct section *table = &f->sec[relsec->sh.sh_info];
	u32 index = rel_sym(f, rel);
	u64 value;
	Elf64_Sym sym;

	if (index >= f->nr_sym)
		return;
	if (relsec->sh.sh_type == SHT_RELA)
		addend = get_word(f, rel + FIELD(f, Rela, r_addend));
	else if (table->sh.sh_size >= 4 && offset <= table->sh.sh_size - 4)
		addend = get32(f, f->base + table->sh.sh_offset + offset);
	sym = symbol_get(f, index);
	value = sym.st_value + addend;
	fprintf(to, "%s+0x%llx\n", f->sec[symbol_section(f, index, &sym)].name,
		(unsigned long long)(f->is64 ? value : (u32)value));
}

static int entries_list(struct elf_file *f, FILE *to)
{
	const struct section *sec;
	size_t i, off;

	for (i = 1; i < f->nr_sec; i++) {
		sec = &f->sec[i];
		if (!section_is_rel(sec))
			continue;
		if (rel_section_check(f, i))
			return VERDICT_FAILED;
		if (strcmp(f->sec[sec->sh.sh_info].name, TABLE_NAME) ||
		    f->sec[sec->sh.sh_info].sh.sh_type != SHT_PROGBITS)
			continue;
		for (off = 0; off < sec->sh.sh_size; off += section_rel_size(f, sec))
			entry_print(f, sec, section_data(f, i) + off, to);
	}
	return 0;
}

static int sites_list(struct object *o, FILE *to)
{
	size_t i;

	if (sites_find(o))
		return VERDICT_FAILED;
	for (i = 0; i < o->nr_site; i++)
		fprintf(to, "%s+0x%llx\n", o->f->sec[o->site[i].sec].name,
			(unsigned long long)o->site[i].offset);
	return 0;
}

/* Prints the sites, those that an existing table names, or those to be recorded. */
int object_list(struct elf_file *f, FILE *to)
{
	struct object o = { .f = f };
	int verdict = object_load(f);

	if (verdict || !f->symtab)
		return verdict;
	verdict = table_section_find(f) ? entries_list(f, to) : sites_list(&o, to);
	object_free(&o);
	return verdict;
}
