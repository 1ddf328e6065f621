// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the tables of sites.
 *
 * Tables made here lie on memory that no code is in. They are in the map only
 * while ftrace_lock is held, so that no transaction meets them.
 */
#include "../callset.h"
#include "kunit.h"

/* Offsets with gaps of one and of many, the highest that there is included. */
static const u32 sites_kunit_offsets[] = { 0x10, 0x11, 0x20, 0x400, 0xfffffff0 };

struct sites_kunit_bound {
	const char	*name;
	unsigned int	nr;
	unsigned long	at;
	unsigned int	index;
};

/* Positions count from the base; the base is where wrapping would show. */
static const struct sites_kunit_bound sites_kunit_bounds[] = {
	{ "no records, low",			0, 0, 0 },
	{ "no records, high",			0, U32_MAX, 0 },
	{ "one record, before",			1, 0xf, 0 },
	{ "one record, at",			1, 0x10, 0 },
	{ "one record, after it",			1, 0x11, 1 },
	{ "at the base",			5, 0, 0 },
	{ "before the first",			5, 0xf, 0 },
	{ "at the first",			5, 0x10, 0 },
	{ "at the next byte's",			5, 0x11, 1 },
	{ "after two",				5, 0x12, 2 },
	{ "between",				5, 0x21, 3 },
	{ "just before one",			5, 0x3ff, 3 },
	{ "at the last",			5, 0xfffffff0, 4 },
	{ "after the last",			5, 0xfffffff1, 5 },
	{ "the highest offset",			5, U32_MAX, 5 },
#ifdef CONFIG_64BIT
	{ "above what an offset can say",	5, 1UL << 32, 5 },
	{ "above, and equal to one modulo 2^32", 5, (1UL << 32) + 0x10, 5 },
	{ "below the base",			5, -1UL, 0 },
	{ "far below the base",			5, -(1UL << 32) + 0x20, 0 },
#endif
};

KUNIT_ARRAY_PARAM_DESC(sites_kunit_bounds, sites_kunit_bounds, name);

static void sites_lower_bound(struct kunit *test)
{
	const struct sites_kunit_bound *row = test->param_value;
	struct ftrace_record recs[ARRAY_SIZE(sites_kunit_offsets)] = { };
	struct ftrace_table table = {
		.base	= IS_ENABLED(CONFIG_64BIT) ? KUNIT_NOWHERE : 0,
		.recs	= recs,
		.nr	= row->nr,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i++)
		recs[i].offset = sites_kunit_offsets[i];
	KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, table.base + row->at), row->index);
}

/* Pieces of text of all kinds: without sites, with one at either end, with more than one. */
static void sites_index_finds_the_same(struct kunit *test)
{
	static const u32 at[] = {
		0, 1, 0x7ff, 0x800, 0x801, 0xfff, 0x1000, 0x2fff, 0x4000, 0x4001, 0x4002,
		0x4003, 0x4004, 0x67fe, 0x6801,
	};
	struct ftrace_record recs[ARRAY_SIZE(at)] = { };
	struct ftrace_table table = {
		.base	= 0x100000,
		.start	= 0x100000 + 0x234,
		.recs	= recs,
		.nr	= ARRAY_SIZE(at),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++)
		recs[i].offset = at[i] + 0x234;
	/* The last piece may be whole, begun, or have the last site only. */
	for (table.end = table.start + 0x6802; table.end <= table.start + 0x7001; table.end++) {
		sites_index(&table);
		KUNIT_ASSERT_NOT_NULL(test, table.index);
		for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
			unsigned long ip = ftrace_rec_ip(&table, &recs[i]);

			KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, ip), i);
			KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, ip + 1), i + 1);
			KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, ip - 1),
					i && at[i - 1] + 1 == at[i] ? i - 1 : i);
		}
		KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, table.start - 1), 0);
		KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, table.end - 1),
				table.end - 1 > table.start + 0x6801 ? table.nr : table.nr - 1);
		KUNIT_EXPECT_EQ(test, ftrace_table_lower_bound(&table, table.end), table.nr);
		kvfree(table.index);
	}
}

struct sites_kunit_order {
	const char	*name;
	unsigned int	nr;
	u32		offset[5];
};

static const struct sites_kunit_order sites_kunit_orders[] = {
	{ "none",		0, { } },
	{ "one",		1, { 7 } },
	{ "sorted",		5, { 1, 2, 3, 4, 5 } },
	{ "reversed",		5, { 5, 4, 3, 2, 1 } },
	{ "first at the end",	5, { 2, 3, 4, 5, 1 } },
	{ "last in front",	5, { 5, 1, 2, 3, 4 } },
	{ "two exchanged",	5, { 1, 2, 4, 3, 5 } },
	{ "above the sign bit",	3, { 0x80000000, U32_MAX, 1 } },
};

KUNIT_ARRAY_PARAM_DESC(sites_kunit_orders, sites_kunit_orders, name);

static void sites_sort(struct kunit *test)
{
	const struct sites_kunit_order *row = test->param_value;
	struct ftrace_record recs[ARRAY_SIZE(row->offset)] = { };
	struct ftrace_table table = { .recs = recs, .nr = row->nr };
	u64 sum = 0, sorted = 0;

	for (unsigned int i = 0; i < row->nr; i++) {
		recs[i].offset = row->offset[i];
		sum += row->offset[i];
	}
	ftrace_table_sort(&table);
	for (unsigned int i = 0; i < row->nr; i++) {
		sorted += recs[i].offset;
		if (i)
			KUNIT_EXPECT_LT(test, recs[i - 1].offset, recs[i].offset);
	}
	KUNIT_EXPECT_EQ(test, table.nr, row->nr);
	KUNIT_EXPECT_EQ(test, sorted, sum);
}

#define SITES_KUNIT_SIZE	0x100
#define SITES_KUNIT_STEP	0x10

/* A table of two sites: at its first byte, and at its last. */
static struct ftrace_table *sites_kunit_table(unsigned long start)
{
	struct ftrace_table *table = ftrace_table_alloc(NULL, start, start + SITES_KUNIT_SIZE, 2);

	if (!table)
		return NULL;
	table->nr = 2;
	table->recs[0].offset = 0;
	table->recs[1].offset = SITES_KUNIT_SIZE - 1;
	return table;
}

static void sites_kunit_expect_table(struct kunit *test, struct ftrace_table *table)
{
	unsigned long start = table->start, end = table->end;
	struct ftrace_record *first = &table->recs[0], *last = &table->recs[1];

	KUNIT_EXPECT_PTR_EQ(test, ftrace_table_find(start), table);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_table_find(end - 1), table);
	KUNIT_EXPECT_PTR_NE(test, ftrace_table_find(start - 1), table);
	KUNIT_EXPECT_PTR_NE(test, ftrace_table_find(end), table);

	KUNIT_EXPECT_PTR_EQ(test, ftrace_site_find(start), first);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_site_find(end - 1), last);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_site_find(start + 1), NULL);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_site_find(end - 2), NULL);

	/* The end of a range is part of it. */
	KUNIT_EXPECT_EQ(test, ftrace_location_range(start, start), start);
	KUNIT_EXPECT_EQ(test, ftrace_location_range(start, end), start);
	KUNIT_EXPECT_EQ(test, ftrace_location_range(start + 1, end - 2), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location_range(start + 1, end - 1), end - 1);
	KUNIT_EXPECT_EQ(test, ftrace_location_range(end - 1, end - 1), end - 1);

	/* All bytes of the instruction are taken, also where no text comes before it. */
	KUNIT_EXPECT_EQ(test, ftrace_text_reserved((void *)start, (void *)start), 1);
	KUNIT_EXPECT_EQ(test, ftrace_text_reserved((void *)start + 1, (void *)start + 1), 1);
}

/* Three tables, the first two side by side; each order of adding them. */
static void sites_map(struct kunit *test)
{
	static const u8 orders[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	u8 *space = kunit_kzalloc(test, 4 * SITES_KUNIT_SIZE, GFP_KERNEL);
	const unsigned long start[3] = {
		(unsigned long)space,
		(unsigned long)space + SITES_KUNIT_SIZE,
		(unsigned long)space + 3 * SITES_KUNIT_SIZE,
	};

	KUNIT_ASSERT_NOT_NULL(test, space);
	guard(mutex)(&ftrace_lock);

	for (unsigned int o = 0; o < ARRAY_SIZE(orders); o++) {
		unsigned int sites = ftrace_nr_sites, tables = sites_table_map->nr;
		unsigned long changed = ftrace_sites_changed;
		struct ftrace_table *table[3] = { }, *at, *before = NULL;

		for (unsigned int i = 0; i < 3; i++) {
			table[orders[o][i]] = sites_kunit_table(start[orders[o][i]]);
			if (!table[orders[o][i]] || ftrace_table_add(table[orders[o][i]]))
				KUNIT_FAIL(test, "no memory");
		}
		KUNIT_EXPECT_EQ(test, sites_table_map->nr, tables + 3);
		KUNIT_EXPECT_EQ(test, ftrace_nr_sites, sites + 6);
		KUNIT_EXPECT_NE(test, ftrace_sites_changed, changed);
		for_each_ftrace_table(at) {
			if (before)
				KUNIT_EXPECT_LE(test, before->end, at->start);
			before = at;
		}
		for (unsigned int i = 0; i < 3; i++)
			sites_kunit_expect_table(test, table[i]);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_table_find(start[2] - 1), NULL);
		KUNIT_EXPECT_EQ(test, ftrace_location_range(start[2] - 1, start[2] + 1), start[2]);
		KUNIT_EXPECT_EQ(test, ftrace_location_range(start[2] - 1, start[2] - 1), 0);

		for (unsigned int i = 0; i < 3; i++)
			ftrace_table_remove(table[orders[o][i]]);
		for (unsigned int i = 0; i < 3; i++) {
			KUNIT_EXPECT_PTR_EQ(test, ftrace_table_find(start[i]), NULL);
			KUNIT_EXPECT_PTR_EQ(test, ftrace_site_find(start[i]), NULL);
		}
		KUNIT_EXPECT_EQ(test, sites_table_map->nr, tables);
		KUNIT_EXPECT_EQ(test, ftrace_nr_sites, sites);
	}
}

/* The invariants of the file, on the tables that there are. */
static void sites_hold_what_they_should(struct kunit *test)
{
	struct ftrace_table *table, *before = NULL;
	unsigned int sites = 0, bad = 0, lost = 0;
	struct ftrace_record *rec;

	guard(mutex)(&ftrace_lock);

	for_each_ftrace_table(table) {
		unsigned long last = 0;

		if (before)
			KUNIT_EXPECT_LE(test, before->end, table->start);
		before = table;
		for_each_ftrace_rec(table, rec) {
			unsigned long ip = ftrace_rec_ip(table, rec);
			struct ftrace_callset *cs = ftrace_callset_get(ftrace_rec_callset(rec));

			bad += ip <= last || ip < table->start || ip >= table->end;
			last = ip;
			lost += ftrace_site_find(ip) != rec || ftrace_site_find(ip + 1) == rec;
			if (!ftrace_rec_quarantined(rec))
				bad += arch_ftrace_check_site(ip, ftrace_callset_target(cs)) !=
				       FTRACE_SITE_OK;
		}
		sites += table->nr;
	}
	KUNIT_EXPECT_GT(test, sites, 1000);
	KUNIT_EXPECT_EQ(test, sites, ftrace_nr_sites);
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_EQ(test, lost, 0);
}

/* A function's own site, by its first byte and by the site; not the next one's. */
static void sites_location(struct kunit *test)
{
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		unsigned long site = kunit_site(i);

		KUNIT_EXPECT_NE(test, site, 0);
		KUNIT_EXPECT_EQ(test, ftrace_location(site), site);
		KUNIT_EXPECT_EQ(test, ftrace_location(site + 1), 0);
		KUNIT_EXPECT_EQ(test, ftrace_location(site + MCOUNT_INSN_SIZE), 0);
		KUNIT_EXPECT_EQ(test, ftrace_location_range(site, site), site);

		/* Each byte of the instruction is taken, and no byte beside it. */
		KUNIT_EXPECT_EQ(test, ftrace_text_reserved((void *)site, (void *)site), 1);
		KUNIT_EXPECT_EQ(test, ftrace_text_reserved((void *)site + MCOUNT_INSN_SIZE - 1,
							   (void *)site + MCOUNT_INSN_SIZE - 1), 1);
		KUNIT_EXPECT_EQ(test, ftrace_text_reserved((void *)site + MCOUNT_INSN_SIZE,
							   (void *)site + MCOUNT_INSN_SIZE), 0);
		KUNIT_EXPECT_EQ(test, ftrace_text_reserved((void *)site - 1,
							   (void *)site - 1), 0);
	}
	KUNIT_EXPECT_EQ(test, ftrace_location(0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location(-1UL), 0);
	/* Built without sites. */
	KUNIT_EXPECT_EQ(test, ftrace_location((unsigned long)sites_location), 0);
}

#if defined(CONFIG_MODULES) && defined(CONFIG_64BIT)

/* Symbols of a module: the names in the order in which the table has them. */
static void sites_kunit_symbols(struct mod_kallsyms *syms, Elf_Sym *sym, char *strings,
				const char * const *name, const unsigned long *value)
{
	unsigned int at = 1;

	syms->symtab = sym;
	syms->strtab = strings;
	syms->num_symtab = 1;
	for (; *name; name++, value++) {
		sym[syms->num_symtab++] = (Elf_Sym) {
			.st_name	= at,
			.st_shndx	= 1,
			.st_value	= *value,
		};
		at += sprintf(strings + at, "%s", *name) + 1;
	}
}

/*
 * When a module's init function has returned, another table of symbols takes the
 * place of the one that it was loaded with. A walk of the names that is under way
 * goes on with the right ones.
 */
static void sites_names_while_loading(struct kunit *test)
{
	struct ftrace_names *names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	u8 *text = kunit_kzalloc(test, SITES_KUNIT_SIZE, GFP_KERNEL);
	struct module *mod = kunit_module(test);
	unsigned long base = (unsigned long)text;
	const char * const all[] = { "an_object", "first", "another", "second", NULL };
	const char * const core[] = { "second", "first", NULL };
	const unsigned long all_at[] = { 0, base, 0, base + 0x40 };
	const unsigned long core_at[] = { base + 0x40, base };
	struct ftrace_record recs[] = { { .offset = 0 }, { .offset = 0x40 }, { .offset = 0x80 } };
	struct ftrace_table table = {
		.base = base, .start = base, .end = base + SITES_KUNIT_SIZE,
		.recs = recs, .nr = ARRAY_SIZE(recs), .mod = mod,
	};
	struct mod_kallsyms full = { };
	char strings[2][64] = { };
	Elf_Sym syms[2][8] = { };

	KUNIT_ASSERT_NOT_NULL(test, names);
	KUNIT_ASSERT_NOT_NULL(test, text);
	sites_kunit_symbols(&full, syms[0], strings[0], all, all_at);
	sites_kunit_symbols(&mod->core_kallsyms, syms[1], strings[1], core, core_at);
	RCU_INIT_POINTER(mod->kallsyms, &full);

	guard(mutex)(&ftrace_lock);

	for (unsigned int when = 0; when < 4; when++) {
		static const char * const expected[] = { "first", "second", "none" };

		RCU_INIT_POINTER(mod->kallsyms, &full);
		KUNIT_EXPECT_EQ(test, ftrace_names_start(names, &table), 0);
		for (unsigned int i = 0; names->sym && i < table.nr; i++) {
			if (i == when) {
				rcu_assign_pointer(mod->kallsyms, &mod->core_kallsyms);
				/* As if the memory were freed, and in use again. */
				memset(strings[0], 'x', sizeof(strings[0]) - 1);
			}
			KUNIT_EXPECT_STREQ(test, ftrace_names_get(names, i) ?: "none",
					   expected[i]);
		}
		ftrace_names_end(names);
		sites_kunit_symbols(&full, syms[0], strings[0], all, all_at);
	}
}

#endif /* CONFIG_MODULES && CONFIG_64BIT */

static struct kunit_case sites_kunit_cases[] = {
	KUNIT_CASE_PARAM(sites_lower_bound, sites_kunit_bounds_gen_params),
	KUNIT_CASE(sites_index_finds_the_same),
	KUNIT_CASE_PARAM(sites_sort, sites_kunit_orders_gen_params),
	KUNIT_CASE(sites_map),
	KUNIT_CASE(sites_hold_what_they_should),
	KUNIT_CASE(sites_location),
#if defined(CONFIG_MODULES) && defined(CONFIG_64BIT)
	KUNIT_CASE(sites_names_while_loading),
#endif
	{ }
};

static struct kunit_suite sites_kunit_suite = {
	.name		= "ftrace_sites",
	.test_cases	= sites_kunit_cases,
};

kunit_test_suite(sites_kunit_suite);
