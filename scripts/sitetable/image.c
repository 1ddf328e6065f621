// SPDX-License-Identifier: GPL-2.0
/*
 * Image mode: finishes the table of the linked vmlinux.
 *
 * The linker has gathered the entries between __start_mcount_loc and
 * __stop_mcount_loc. Each holds the distance to its site:
 *
 *	site = address of the entry + (s32)entry
 *
 * They become the table that boot uses, and ftrace_image_sites says so:
 *
 *	table[i] = (u32)(site - _text)    i < nr, strictly ascending, the rest zero
 *	ftrace_image_sites = { u32 version = 1, nr, dropped, reserved = 0 }
 *
 * Relocation sections that the link may have kept are not looked at.
 *
 * Invariants:
 *  1. A site that stays is the first instruction of a function that has a
 *     symbol with a size, or the second one, after an ENDBR64.
 *  2. A site that no such symbol covers belongs to a weak function that lost
 *     the link: its code is there, its name is another's. It is dropped. So is
 *     an entry whose section the linker discarded.
 *  3. Everything else is an error: a site inside of a function, in data, out
 *     of the image, twice, or with bytes that are neither a call nor the NOP.
 *  4. The same file again: success, and nothing changes.
 *
 * Formats: System V ABI, Edition 4.1, chapter 4; Intel SDM, volume 2.
 */
#include <stdlib.h>

#include "modes.h"

#define ENDBR_SIZE	4
#define TABLE_VERSION	1

/* Where the kernel is linked is far above; an offset from a section at zero is below. */
#define TOMBSTONE_LIMIT	(16UL << 20)

static const u8 endbr64[ENDBR_SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa };

struct func {
	u64 start;
	u64 end;
	u64 reach;
	const char *name;
};

/* The linked image, and its sites once they are decoded. */
struct image {
	struct elf_file *f;
	u64 text;
	u64 start;
	u8 *table;
	u8 *info;
	struct func *func;
	size_t nr_func;
	u64 *site;
	size_t nr_entry;
	size_t nr_site;
	size_t dropped;
};

/* struct ftrace_image_sites, as the kernel declares it. */
enum {
	INFO_VERSION = 0,
	INFO_NR = 4,
	INFO_DROPPED = 8,
	INFO_RESERVED = 12,
	INFO_SIZE = 16,
};

static bool section_covers(const struct section *sec, u64 addr, u64 len)
{
	return (sec->sh.sh_flags & SHF_ALLOC) && !(sec->sh.sh_flags & SHF_TLS) &&
	       sec->sh.sh_type != SHT_NULL && addr >= sec->sh.sh_addr &&
	       len <= sec->sh.sh_size && addr - sec->sh.sh_addr <= sec->sh.sh_size - len;
}

/* Index of the section at @addr, or 0. */
static size_t image_section(const struct image *m, u64 addr, u64 len)
{
	size_t i;

	for (i = 1; i < m->f->nr_sec; i++) {
		if (section_covers(&m->f->sec[i], addr, len))
			return i;
	}
	return 0;
}

static u8 *image_bytes(const struct image *m, u64 addr, u64 len)
{
	size_t index = image_section(m, addr, len);
	const Elf64_Shdr *sh = &m->f->sec[index].sh;

	if (!index || sh->sh_type == SHT_NOBITS)
		return NULL;
	return section_data(m->f, index) + (addr - sh->sh_addr);
}

static int image_symbol_find(struct image *m, const char *name, struct symbol *found)
{
	struct elf_file *f = m->f;
	struct symbol sym;
	int nr = 0;
	size_t i;

	for (i = 1; i < f->nr_sym; i++) {
		sym = symbol_get(f, i);
		if (strcmp(sym.name, name) || sym.shndx == SHN_UNDEF)
			continue;
		if (nr++)
			return fail(f, "symbol %s: defined twice", name);
		*found = sym;
	}
	return nr ? 0 : fail(f, "symbol %s: not defined", name);
}

/* Finds where things are: the text, the table, and the symbols that the kernel reads. */
static int image_symbols_find(struct image *m)
{
	struct symbol text, start, stop, info;
	struct elf_file *f = m->f;
	u64 len;

	if (image_symbol_find(m, "_text", &text) ||
	    image_symbol_find(m, "__start_mcount_loc", &start) ||
	    image_symbol_find(m, "__stop_mcount_loc", &stop) ||
	    image_symbol_find(m, "ftrace_image_sites", &info))
		return VERDICT_FAILED;
	if (info.size != INFO_SIZE)
		return fail(f, "symbol %s: %llu bytes, expected %d", info.name, info.size,
			    INFO_SIZE);
	m->text = text.value;
	m->start = start.value;
	m->info = image_bytes(m, info.value, INFO_SIZE);
	if (!m->info)
		return fail(f, "symbol %s: not in a section with data", info.name);
	len = stop.value - start.value;
	if (stop.value < start.value || len % ENTRY_SIZE || len / ENTRY_SIZE > UINT32_MAX)
		return fail(f, "symbol %s: 0x%llx ends no table at 0x%llx", stop.name, stop.value,
			    start.value);
	m->nr_entry = len / ENTRY_SIZE;
	m->table = image_bytes(m, m->start, len);
	if (!m->table)
		return fail(f, "symbol %s: no section holds the table", start.name);
	if (m->table < m->info + INFO_SIZE && m->info < m->table + len)
		return fail(f, "symbol %s: lies in the table", info.name);
	return 0;
}

static void func_note(struct image *m, const struct symbol *sym)
{
	if (sym->type != STT_FUNC || !sym->size || !sym->sec ||
	    !(m->f->sec[sym->sec].sh.sh_flags & SHF_EXECINSTR) ||
	    sym->value + sym->size < sym->size)
		return;
	m->func[m->nr_func++] = (struct func) {
		.start = sym->value,
		.end = sym->value + sym->size,
		.name = sym->name,
	};
}

/* Of numbers, and of structures that begin with one. */
static int number_compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return COMPARE(*x, *y);
}

/*
 * @reach is the end of all functions so far, whichever of them is longest. One
 * after the last ends the search.
 */
static void funcs_load(struct image *m)
{
	struct elf_file *f = m->f;
	struct symbol sym;
	u64 reach = 0;
	size_t i;

	m->func = mem_resize(f, NULL, f->nr_sym * sizeof(*m->func));
	for (i = 1; i < f->nr_sym; i++) {
		sym = symbol_get(f, i);
		func_note(m, &sym);
	}
	qsort(m->func, m->nr_func, sizeof(*m->func), number_compare);
	for (i = 0; i < m->nr_func; i++) {
		if (m->func[i].end > reach)
			reach = m->func[i].end;
		m->func[i].reach = reach;
	}
	m->func[m->nr_func] = (struct func) { .start = UINT64_MAX };
}

static int image_load(struct image *m)
{
	struct elf_file *f = m->f;

	if (f->type != ET_EXEC && f->type != ET_DYN)
		return fail(f, "ELF header: type %u is not a linked image", f->type);
	if (!f->symtab)
		return fail(f, "section .symtab: missing");
	if (image_symbols_find(m))
		return VERDICT_FAILED;
	m->site = mem_resize(f, NULL, m->nr_entry * sizeof(*m->site));
	funcs_load(m);
	return 0;
}

static bool image_is_finished(const struct image *m)
{
	return get_u32(m->info + INFO_VERSION) == TABLE_VERSION &&
	       get_u32(m->info + INFO_NR) <= m->nr_entry;
}

/* -- judging the sites ----------------------------------------------------- */

/* bsearch: is the address before, from, or after one function's start to the next's? */
static int func_place(const void *key, const void *element)
{
	const u64 *addr = key;
	const struct func *func = element;

	return *addr < func[0].start ? -1 : *addr >= func[1].start;
}

/* The last function that starts at @addr or before, or NULL. */
static const struct func *func_before(const struct image *m, u64 addr)
{
	return bsearch(&addr, m->func, m->nr_func, sizeof(*m->func), func_place);
}

static bool func_starts(const struct image *m, u64 addr)
{
	const struct func *func = func_before(m, addr);

	return func && func->start == addr;
}

/* The innermost function around @addr, or NULL. The first one's reach is its own end. */
static const struct func *func_around(const struct image *m, u64 addr)
{
	const struct func *func = func_before(m, addr);

	while (func && func->reach > addr && func->end <= addr)
		func--;
	return func && func->reach > addr ? func : NULL;
}

/* Is it a function's first instruction, or the second one, after an ENDBR64? */
static bool addr_is_head(const struct image *m, u64 addr)
{
	const u8 *before;

	if (func_starts(m, addr))
		return true;
	before = image_bytes(m, addr - ENDBR_SIZE, ENDBR_SIZE);
	return before && !memcmp(before, endbr64, ENDBR_SIZE) &&
	       func_starts(m, addr - ENDBR_SIZE);
}

static int fail_site(struct image *m, u64 addr, const char *what)
{
	const struct func *func = func_around(m, addr);
	size_t sec = image_section(m, addr, 1);

	return fail(m->f, "site at 0x%llx (%s+0x%llx, section %s): %s", addr,
		    func ? func->name : "no function", func ? addr - func->start : 0,
		    sec ? section_name(m->f, sec) : "none", what);
}

static int site_bytes_check(struct image *m, u64 addr)
{
	const u8 *nop = m->f->machine->nop;
	const u8 *b = image_bytes(m, addr, SITE_SIZE);
	char what[120];

	if (!b)
		return fail_site(m, addr, "its bytes are not in the image");
	if (b[0] == 0xe8 || !memcmp(b, nop, SITE_SIZE))
		return 0;
	snprintf(what, sizeof(what),
		 "found %02x %02x %02x %02x %02x, expected %02x %02x %02x %02x %02x or e8",
		 b[0], b[1], b[2], b[3], b[4], nop[0], nop[1], nop[2], nop[3], nop[4]);
	return fail_site(m, addr, what);
}

/* 1: the site stays. 0: it goes, its function has no symbol any more. */
static int site_judge(struct image *m, u64 addr)
{
	size_t sec = image_section(m, addr, 1);

	if (!sec)
		return fail_site(m, addr, "outside of the image");
	if (!(m->f->sec[sec].sh.sh_flags & SHF_EXECINSTR))
		return fail_site(m, addr, "not in executable code");
	if (!addr_is_head(m, addr)) {
		if (func_around(m, addr))
			return fail_site(m, addr, "not at the head of the function");
		return 0;
	}
	if (addr < m->text || addr - m->text > UINT32_MAX)
		return fail_site(m, addr, "too far from _text");
	return site_bytes_check(m, addr) ? VERDICT_FAILED : 1;
}

/* An address of 32 bits wraps around as such. */
static u64 entry_site(const struct image *m, size_t i, u32 entry)
{
	u64 addr = m->start + i * ENTRY_SIZE + (s64)(s32)entry;

	return m->f->is64 ? addr : (u32)addr;
}

/* The entry that relocating against a discarded section leaves: nothing, or a mere offset. */
static bool entry_is_tombstone(const struct image *m, u32 entry, u64 addr)
{
	return !entry || (addr < TOMBSTONE_LIMIT && addr < m->text);
}

static int sites_decode(struct image *m)
{
	u64 addr;
	u32 entry;
	size_t i;

	for (i = 0; i < m->nr_entry; i++) {
		entry = get_u32(m->table + i * ENTRY_SIZE);
		addr = entry_site(m, i, entry);
		if (entry_is_tombstone(m, entry, addr))
			m->dropped++;
		else
			m->site[m->nr_site++] = addr;
	}
	qsort(m->site, m->nr_site, sizeof(*m->site), number_compare);
	for (i = 1; i < m->nr_site; i++) {
		if (m->site[i - 1] == m->site[i])
			return fail_site(m, m->site[i], "recorded twice");
	}
	return 0;
}

static int sites_filter(struct image *m)
{
	size_t i, kept = 0;
	int stays;

	for (i = 0; i < m->nr_site; i++) {
		stays = site_judge(m, m->site[i]);
		if (stays < 0)
			return VERDICT_FAILED;
		if (stays)
			m->site[kept++] = m->site[i];
		else
			m->dropped++;
	}
	m->nr_site = kept;
	return 0;
}

static void table_write(struct image *m)
{
	size_t i;

	for (i = 0; i < m->nr_site; i++)
		put_u32(m->table + i * ENTRY_SIZE, m->site[i] - m->text);
	memset(m->table + i * ENTRY_SIZE, 0, (m->nr_entry - i) * ENTRY_SIZE);
	put_u32(m->info + INFO_VERSION, TABLE_VERSION);
	put_u32(m->info + INFO_NR, m->nr_site);
	put_u32(m->info + INFO_DROPPED, m->dropped);
	put_u32(m->info + INFO_RESERVED, 0);
}

static int table_finish(struct image *m)
{
	static const u8 zero[INFO_SIZE];

	if (memcmp(m->info, zero, INFO_SIZE))
		return fail(m->f, "symbol ftrace_image_sites: neither zero nor version %d",
			    TABLE_VERSION);
	if (sites_decode(m) || sites_filter(m))
		return VERDICT_FAILED;
	table_write(m);
	return VERDICT_CHANGED;
}

static void image_free(struct image *m)
{
	free(m->func);
	free(m->site);
}

int image_finish(struct elf_file *f)
{
	struct image m = { .f = f };
	int verdict = image_load(&m);

	if (!verdict && !image_is_finished(&m))
		verdict = table_finish(&m);
	image_free(&m);
	return verdict;
}

/* -- listing --------------------------------------------------------------- */

static void sites_read(struct image *m)
{
	m->nr_site = get_u32(m->info + INFO_NR);
	for (size_t i = 0; i < m->nr_site; i++)
		m->site[i] = m->text + get_u32(m->table + i * ENTRY_SIZE);
}

/* Prints the addresses of the sites, those of a finished table or of a fresh one. */
int image_list(struct elf_file *f, FILE *to)
{
	struct image m = { .f = f };
	int verdict = image_load(&m);
	size_t i;

	if (!verdict && image_is_finished(&m))
		sites_read(&m);
	else if (!verdict)
		verdict = sites_decode(&m);
	for (i = 0; !verdict && i < m.nr_site; i++)
		fprintf(to, "0x%llx\n", m.site[i]);
	image_free(&m);
	return verdict;
}
