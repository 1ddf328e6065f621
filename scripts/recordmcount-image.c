// SPDX-License-Identifier: GPL-2.0
/*
 * Image mode: finishes the table of the linked vmlinux.
 *
 * The linker has gathered the entries between __start_mcount_loc and
 * __stop_mcount_loc. Each holds the distance to its site:
 *
 *	site = address of the entry + (s32)entry
 *
 * They become what boot uses, and ftrace_image_sites says so:
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

#include "recordmcount-elf.h"

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
	u64 stop;
	u8 *table;
	u8 *info;
	struct func *func;
	size_t nr_func;
	u64 *site;
	size_t nr_entry;
	size_t nr_site;
	size_t dropped;
	const struct section *cached;
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

/* Sites come in runs from one section, so the last answer is tried first. */
static const struct section *image_section(struct image *m, u64 addr, u64 len)
{
	size_t i;

	if (m->cached && section_covers(m->cached, addr, len))
		return m->cached;
	for (i = 1; i < m->f->nr_sec; i++) {
		if (!section_covers(&m->f->sec[i], addr, len))
			continue;
		m->cached = &m->f->sec[i];
		return m->cached;
	}
	return NULL;
}

static u8 *image_bytes(struct image *m, u64 addr, u64 len)
{
	const struct section *sec = image_section(m, addr, len);

	if (!sec || sec->sh.sh_type == SHT_NOBITS)
		return NULL;
	return m->f->base + sec->sh.sh_offset + (addr - sec->sh.sh_addr);
}

enum image_symbol {
	IMAGE_TEXT,
	IMAGE_START,
	IMAGE_STOP,
	IMAGE_INFO,
	NR_IMAGE_SYMBOLS,
};

static const char *const image_symbol_names[] = {
	[IMAGE_TEXT] = "_text",
	[IMAGE_START] = "__start_mcount_loc",
	[IMAGE_STOP] = "__stop_mcount_loc",
	[IMAGE_INFO] = "ftrace_image_sites",
};

static int image_symbol_note(struct image *m, const Elf64_Sym *sym, u64 *value, u32 *seen)
{
	const char *name = symbol_name(m->f, sym);
	int i;

	if (name[0] != '_' && name[0] != 'f')
		return 0;
	for (i = 0; i < NR_IMAGE_SYMBOLS; i++) {
		if (strcmp(name, image_symbol_names[i]) || sym->st_shndx == SHN_UNDEF)
			continue;
		if (*seen & (1U << i))
			return fail(m->f, "symbol %s: defined twice", name);
		*seen |= 1U << i;
		value[i] = sym->st_value;
		if (i == IMAGE_INFO && sym->st_size != INFO_SIZE)
			return fail(m->f, "symbol %s: %llu bytes, expected %d", name,
				    (unsigned long long)sym->st_size, INFO_SIZE);
	}
	return 0;
}

static void func_note(struct image *m, size_t index, const Elf64_Sym *sym)
{
	const struct elf_file *f = m->f;
	u32 sec = symbol_section(f, index, sym);

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_size || !sec)
		return;
	if (!(f->sec[sec].sh.sh_flags & SHF_EXECINSTR) ||
	    sym->st_value + sym->st_size < sym->st_size)
		return;
	m->func[m->nr_func++] = (struct func) {
		.start = sym->st_value,
		.end = sym->st_value + sym->st_size,
		.name = symbol_name(f, sym),
	};
}

static int func_compare(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return 0;
}

/* @reach is the end of all functions so far, whichever of them is longest. */
static void funcs_sort(struct image *m)
{
	u64 reach = 0;
	size_t i;

	qsort(m->func, m->nr_func, sizeof(*m->func), func_compare);
	for (i = 0; i < m->nr_func; i++) {
		if (m->func[i].end > reach)
			reach = m->func[i].end;
		m->func[i].reach = reach;
	}
}

static int image_symbols_load(struct image *m)
{
	u64 value[NR_IMAGE_SYMBOLS] = { 0 };
	struct elf_file *f = m->f;
	u32 seen = 0;
	Elf64_Sym sym;
	size_t i;

	m->func = malloc((f->nr_sym + 1) * sizeof(*m->func));
	if (!m->func)
		return fail_memory(f);
	for (i = 1; i < f->nr_sym; i++) {
		sym = symbol_get(f, i);
		if (image_symbol_note(m, &sym, value, &seen))
			return VERDICT_FAILED;
		func_note(m, i, &sym);
	}
	for (i = 0; i < NR_IMAGE_SYMBOLS; i++) {
		if (!(seen & (1U << i)))
			return fail(f, "symbol %s: not defined", image_symbol_names[i]);
	}
	m->text = value[IMAGE_TEXT];
	m->start = value[IMAGE_START];
	m->stop = value[IMAGE_STOP];
	m->info = image_bytes(m, value[IMAGE_INFO], INFO_SIZE);
	if (!m->info)
		return fail(f, "symbol %s: not in a section with data",
			    image_symbol_names[IMAGE_INFO]);
	funcs_sort(m);
	return 0;
}

static int image_table_find(struct image *m)
{
	u64 len = m->stop - m->start;

	if (m->stop < m->start || len % ENTRY_SIZE || len / ENTRY_SIZE > UINT32_MAX)
		return fail(m->f, "symbol __stop_mcount_loc: 0x%llx ends no table at 0x%llx",
			    (unsigned long long)m->stop, (unsigned long long)m->start);
	m->nr_entry = len / ENTRY_SIZE;
	m->table = image_bytes(m, m->start, len);
	if (!m->table)
		return fail(m->f, "symbol __start_mcount_loc: no section holds the table");
	if (m->table < m->info + INFO_SIZE && m->info < m->table + len)
		return fail(m->f, "symbol ftrace_image_sites: lies in the table");
	return 0;
}

static int image_load(struct image *m)
{
	struct elf_file *f = m->f;

	if (elf_file_load(f))
		return VERDICT_FAILED;
	if (!f->is64)
		return fail(f, "ELF header: not an image of x86-64");
	if (f->type != ET_EXEC && f->type != ET_DYN)
		return fail(f, "ELF header: type %u is not a linked image", f->type);
	if (!f->symtab)
		return fail(f, "section .symtab: missing");
	if (image_symbols_load(m))
		return VERDICT_FAILED;
	return image_table_find(m);
}

static bool image_is_finished(const struct image *m)
{
	return get32(m->f, m->info + INFO_VERSION) == TABLE_VERSION &&
	       get32(m->f, m->info + INFO_NR) <= m->nr_entry;
}

static bool image_is_fresh(const struct image *m)
{
	static const u8 zero[INFO_SIZE];

	return !memcmp(m->info, zero, INFO_SIZE);
}

/* -- judging the sites ----------------------------------------------------- */

/* Index after the last function that starts at or before @addr. */
static size_t func_after(const struct image *m, u64 addr)
{
	size_t low = 0, high = m->nr_func, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (m->func[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct func *func_starting(const struct image *m, u64 addr)
{
	size_t i = func_after(m, addr);

	return i && m->func[i - 1].start == addr ? &m->func[i - 1] : NULL;
}

/* The innermost function around @addr, or NULL. */
static const struct func *func_around(const struct image *m, u64 addr)
{
	size_t i = func_after(m, addr);

	while (i-- && m->func[i].reach > addr) {
		if (m->func[i].end > addr)
			return &m->func[i];
	}
	return NULL;
}

static const struct func *func_of_site(struct image *m, u64 addr)
{
	const struct func *func = func_starting(m, addr);
	const u8 *head;

	if (func)
		return func;
	func = func_starting(m, addr - ENDBR_SIZE);
	if (!func)
		return NULL;
	head = image_bytes(m, addr - ENDBR_SIZE, ENDBR_SIZE);
	return head && !memcmp(head, endbr64, ENDBR_SIZE) ? func : NULL;
}

static int fail_site(struct image *m, u64 addr, const char *what)
{
	const struct func *func = func_around(m, addr);
	const struct section *sec = image_section(m, addr, 1);

	return fail(m->f, "site at 0x%llx (%s+0x%llx, section %s): %s", (unsigned long long)addr,
		    func ? func->name : "no function",
		    (unsigned long long)(func ? addr - func->start : 0),
		    sec ? sec->name : "none", what);
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
	const struct section *sec = image_section(m, addr, 1);

	if (!sec)
		return fail_site(m, addr, "outside of the image");
	if (!(sec->sh.sh_flags & SHF_EXECINSTR))
		return fail_site(m, addr, "not in executable code");
	if (!func_of_site(m, addr)) {
		if (func_around(m, addr))
			return fail_site(m, addr, "not at the head of the function");
		return 0;
	}
	if (addr < m->text || addr - m->text > UINT32_MAX)
		return fail_site(m, addr, "too far from _text");
	return site_bytes_check(m, addr) ? VERDICT_FAILED : 1;
}

/* What relocating against a discarded section leaves: nothing, or a mere offset. */
static bool entry_is_tombstone(const struct image *m, u32 entry, u64 addr)
{
	return !entry || (addr < TOMBSTONE_LIMIT && addr < m->text);
}

static int addr_compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	if (*x != *y)
		return *x < *y ? -1 : 1;
	return 0;
}

static int sites_decode(struct image *m)
{
	u64 addr;
	u32 entry;
	size_t i;

	m->site = malloc((m->nr_entry + 1) * sizeof(*m->site));
	if (!m->site)
		return fail_memory(m->f);
	for (i = 0; i < m->nr_entry; i++) {
		entry = get32(m->f, m->table + i * ENTRY_SIZE);
		addr = m->start + i * ENTRY_SIZE + (s64)(s32)entry;
		if (entry_is_tombstone(m, entry, addr))
			m->dropped++;
		else
			m->site[m->nr_site++] = addr;
	}
	qsort(m->site, m->nr_site, sizeof(*m->site), addr_compare);
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

static void image_write_table(struct image *m)
{
	struct elf_file *f = m->f;
	size_t i;

	for (i = 0; i < m->nr_site; i++)
		put32(f, m->table + i * ENTRY_SIZE, m->site[i] - m->text);
	memset(m->table + i * ENTRY_SIZE, 0, (m->nr_entry - i) * ENTRY_SIZE);
	put32(f, m->info + INFO_VERSION, TABLE_VERSION);
	put32(f, m->info + INFO_NR, m->nr_site);
	put32(f, m->info + INFO_DROPPED, m->dropped);
	put32(f, m->info + INFO_RESERVED, 0);
	f->keep = f->size;
}

static int image_steps(struct image *m)
{
	if (image_load(m))
		return VERDICT_FAILED;
	if (image_is_finished(m))
		return VERDICT_UNTOUCHED;
	if (!image_is_fresh(m))
		return fail(m->f, "symbol ftrace_image_sites: neither zero nor version %d",
			    TABLE_VERSION);
	if (sites_decode(m) || sites_filter(m))
		return VERDICT_FAILED;
	image_write_table(m);
	return VERDICT_CHANGED;
}

static void image_free(struct image *m)
{
	free(m->func);
	free(m->site);
}

/* Returns a verdict; with VERDICT_CHANGED the image is in @f, edited in place. */
int image_finish(struct elf_file *f)
{
	struct image m = { .f = f };
	int verdict = image_steps(&m);

	image_free(&m);
	return verdict;
}

/* -- listing --------------------------------------------------------------- */

static int image_list_steps(struct image *m, FILE *to)
{
	size_t i, nr;

	if (image_load(m))
		return VERDICT_FAILED;
	if (!image_is_finished(m)) {
		if (sites_decode(m))
			return VERDICT_FAILED;
		for (i = 0; i < m->nr_site; i++)
			fprintf(to, "0x%llx\n", (unsigned long long)m->site[i]);
		return 0;
	}
	nr = get32(m->f, m->info + INFO_NR);
	for (i = 0; i < nr; i++)
		fprintf(to, "0x%llx\n", (unsigned long long)
			(m->text + get32(m->f, m->table + i * ENTRY_SIZE)));
	return 0;
}

/* Prints the addresses of the sites, those of a finished table or of a fresh one. */
int image_list(struct elf_file *f, FILE *to)
{
	struct image m = { .f = f };
	int verdict = image_list_steps(&m, to);

	image_free(&m);
	return verdict;
}
