// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the table that the build makes of a module's sites.
 *
 * The modules made here lie on memory that no code is in, and their tables are
 * never in the map.
 */
#include "kunit.h"

/* Their sites are at odd addresses, which other architectures do not have. */
#ifdef CONFIG_X86_64

/* A module that is nowhere: only its addresses are looked at. */
#define TEXT_KUNIT_TEXT	(MODULES_VADDR + 0x10000)
#define TEXT_KUNIT_TEXT_END	(TEXT_KUNIT_TEXT + PAGE_SIZE)

struct text_kunit_form {
	const char	*name;
	unsigned int	nr;
	u64		first;
	bool		site;
};

/* Whether the first eight bytes of a module's entries are the address of a site. */
static const struct text_kunit_form text_kunit_forms[] = {
	{ "nothing there",			0, TEXT_KUNIT_TEXT, false },
	{ "one compact entry",			1, TEXT_KUNIT_TEXT, false },
	{ "one address, and one that is compact", 3, TEXT_KUNIT_TEXT, true },
	{ "one address, the first of the text",	2, TEXT_KUNIT_TEXT, true },
	{ "one address, and zeroes",		4, TEXT_KUNIT_TEXT + 1, true },
	{ "the last of the text",		2, TEXT_KUNIT_TEXT_END - 1, true },
	{ "before the text",			2, TEXT_KUNIT_TEXT - 1, false },
	{ "after the text",			2, TEXT_KUNIT_TEXT_END, false },
	{ "two distances, both backwards",	2, 0xfffff000fffff000, false },
	{ "two distances, both forwards",	2, 0x0000100000001000, false },
	{ "the second site four bytes back",	2, 0xfffffffc00001000, false },
};

KUNIT_ARRAY_PARAM_DESC(text_kunit_forms, text_kunit_forms, name);

static void text_module_form(struct kunit *test)
{
	const struct text_kunit_form *row = test->param_value;
	u32 entries[8] = { };
	const u32 *entry = entries;

	memcpy(entries, &row->first, sizeof(row->first));
	KUNIT_EXPECT_EQ(test, text_module_next_site(&entry, entries + row->nr, TEXT_KUNIT_TEXT,
						    TEXT_KUNIT_TEXT_END),
			row->site ? row->first : 0);
	KUNIT_EXPECT_EQ(test, entry - entries, row->site ? 2 : row->nr);
}

/*
 * Why the two forms cannot be mistaken: wherever a module is, compact entries
 * that look like an address of it would need a second entry of -1, and so a
 * site inside of the first entry, which is not text.
 */
static void text_module_forms_differ(struct kunit *test)
{
	const u32 entries[] = { upper_32_bits(MODULES_VADDR), 0 }, *entry = entries;

	KUNIT_EXPECT_EQ(test, upper_32_bits(MODULES_VADDR), upper_32_bits(MODULES_END - 1));
	KUNIT_EXPECT_EQ(test, text_module_next_site(&entry, entries + 1, 1, ULONG_MAX),
			(unsigned long)entries - 1);
}

#define TEXT_KUNIT_MOD_NR	4

/*
 * A module in data memory: entries in front, its text, and its init text, with
 * two sites each, named in no order.
 */
struct text_kunit_image {
	u64	entry[TEXT_KUNIT_MOD_NR];
	u8	text[0x40];
	u8	init[0x40];
};

static const u16 text_kunit_mod_sites[TEXT_KUNIT_MOD_NR] = {
	offsetof(struct text_kunit_image, text) + 0x30,
	offsetof(struct text_kunit_image, init) + 0x3b,
	offsetof(struct text_kunit_image, text),
	offsetof(struct text_kunit_image, init) + 0x10,
};

static void text_kunit_expect_module(struct kunit *test, struct module *mod,
				     enum mod_mem_type type, u32 first, u32 second)
{
	struct ftrace_table *table = text_module_table(mod, type);

	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, table);
	if (IS_ERR_OR_NULL(table))
		return;
	KUNIT_EXPECT_EQ(test, table->start, (unsigned long)mod->mem[type].base);
	KUNIT_EXPECT_EQ(test, table->end, table->start + mod->mem[type].size);
	KUNIT_EXPECT_EQ(test, table->init, type == MOD_INIT_TEXT);
	KUNIT_EXPECT_TRUE(test, table->forming);
	KUNIT_EXPECT_PTR_EQ(test, table->mod, mod);
	KUNIT_EXPECT_EQ(test, table->nr, 2);
	KUNIT_EXPECT_EQ(test, table->recs[0].offset, first);
	KUNIT_EXPECT_EQ(test, table->recs[1].offset, second);
	KUNIT_EXPECT_EQ(test, table->recs[0].state, 0);
	KUNIT_EXPECT_EQ(test, table->recs[1].state, 0);
	ftrace_table_free(table);
}

static struct module *text_kunit_module_on(struct kunit *test, struct text_kunit_image *image)
{
	struct module *mod = kunit_module(test);

	mod->mem[MOD_TEXT].base = image->text;
	mod->mem[MOD_TEXT].size = sizeof(image->text);
	mod->mem[MOD_INIT_TEXT].base = image->init;
	mod->mem[MOD_INIT_TEXT].size = sizeof(image->init);
	mod->ftrace_callsites = (void *)image->entry;

	/* A site that is a NOP now serves as the model of one. */
	for (unsigned int i = 0; i < TEXT_KUNIT_MOD_NR; i++)
		memcpy((u8 *)image + text_kunit_mod_sites[i], (void *)kunit_site(0),
		       MCOUNT_INSN_SIZE);
	return mod;
}

/* Writes the entries; those in @addresses, a bit each, are addresses, at 8 bytes if @align. */
static void text_kunit_fill(struct module *mod, struct text_kunit_image *image,
			    unsigned int addresses, bool align)
{
	u32 *entry = (u32 *)image->entry;

	memset(image->entry, 0, sizeof(image->entry));
	for (unsigned int i = 0; i < TEXT_KUNIT_MOD_NR; i++) {
		unsigned long ip = (unsigned long)image + text_kunit_mod_sites[i];

		if (!(addresses & BIT(i))) {
			*entry = ip - (unsigned long)entry;
			entry++;
			continue;
		}
		if (align)
			entry = PTR_ALIGN(entry, sizeof(ip));
		memcpy(entry, &ip, sizeof(ip));
		entry += 2;
	}
	mod->num_ftrace_callsites = entry - (u32 *)image->entry;
}

static void text_module_tables(struct kunit *test)
{
	static const struct {
		unsigned int	addresses;
		bool		align;
		unsigned int	nr;
	} rows[] = {
		{ 0x0, false, TEXT_KUNIT_MOD_NR },
		{ 0xf, false, 2 * TEXT_KUNIT_MOD_NR },
		/* One that is compact, zeroes that align the rest, and addresses. */
		{ 0xe, true, 2 * TEXT_KUNIT_MOD_NR },
		/* Compact ones, and an address that is not aligned. */
		{ 0x8, false, TEXT_KUNIT_MOD_NR + 1 },
	};
	struct text_kunit_image *image = kunit_kzalloc(test, sizeof(*image), GFP_KERNEL);
	struct module *mod;

	KUNIT_ASSERT_NOT_NULL(test, image);
	if (arch_ftrace_check_site(kunit_site(0), 0) != FTRACE_SITE_OK)
		kunit_skip(test, "somebody traces the function that is the model");
	mod = text_kunit_module_on(test, image);

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		text_kunit_fill(mod, image, rows[i].addresses, rows[i].align);
		KUNIT_EXPECT_EQ(test, mod->num_ftrace_callsites, rows[i].nr);
		text_kunit_expect_module(test, mod, MOD_TEXT, 0, 0x30);
		text_kunit_expect_module(test, mod, MOD_INIT_TEXT, 0x10, 0x3b);
	}

	/* Nor is there a table where there is no site. */
	mod->num_ftrace_callsites = 0;
	KUNIT_EXPECT_PTR_EQ(test, text_module_table(mod, MOD_TEXT), NULL);
}

/* An architecture that finds no site in the second place that the compiler left. */
static unsigned long text_kunit_refuse_second(unsigned long ip)
{
	return ip == TEXT_KUNIT_TEXT + 0x10 ? 0 : ip;
}

/* It is left out, and the sites after it are not. */
static void text_module_odd_place(struct kunit *test)
{
	const u64 places[] = { TEXT_KUNIT_TEXT, TEXT_KUNIT_TEXT + 0x10, TEXT_KUNIT_TEXT + 0x20 };
	const unsigned long found[] = { places[0], places[2], 0 };
	const u32 *entry = (u32 *)places, *stop = (u32 *)(places + ARRAY_SIZE(places));

	kunit_activate_static_stub(test, text_module_site, text_kunit_refuse_second);
	for (unsigned int i = 0; i < ARRAY_SIZE(found); i++)
		KUNIT_EXPECT_EQ(test, text_module_next_site(&entry, stop, TEXT_KUNIT_TEXT,
							    TEXT_KUNIT_TEXT_END), found[i]);
	kunit_deactivate_static_stub(test, text_module_site);
}

static struct kunit_case text_kunit_cases[] = {
	KUNIT_CASE_PARAM(text_module_form, text_kunit_forms_gen_params),
	KUNIT_CASE(text_module_forms_differ),
	KUNIT_CASE(text_module_tables),
	KUNIT_CASE(text_module_odd_place),
	{ }
};

static struct kunit_suite text_kunit_suite = {
	.name		= "ftrace_text",
	.test_cases	= text_kunit_cases,
};

kunit_test_suite(text_kunit_suite);

#endif /* CONFIG_X86_64 */
