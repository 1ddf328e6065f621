// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the areas that trampolines and stubs live in.
 *
 * Others may make and free trampolines meanwhile: the tests rely only on the text that
 * they took.
 */
#include <kunit/test.h>
#include <linux/string.h>

/* More areas than may be spare. */
#define TRAMP_KUNIT_NR	(TRAMP_SPARE / TRAMP_AREA + 4)

static struct tramp_area *tramp_kunit_area_of(unsigned long text)
{
	struct tramp_area *area;

	list_for_each_entry(area, &tramp_areas, node) {
		if ((text - (unsigned long)area->text) / TRAMP_UNIT < area->nr)
			return area;
	}
	return NULL;
}

static size_t tramp_kunit_spare(void)
{
	struct tramp_area *area;
	size_t size = 0;

	list_for_each_entry(area, &tramp_areas, node)
		size += area->nr_used ? 0 : area->nr * TRAMP_UNIT;
	return size;
}

/*
 * Areas whose text is all free go back to the system, but for TRAMP_SPARE. All spare ones that
 * are as large are taken here before the first is freed, so one at least of these stays.
 */
static void tramp_areas_go_back(struct kunit *test)
{
	unsigned long text[TRAMP_KUNIT_NR];
	unsigned int nr = 0, left = 0;

	/* Each of these fills an area. */
	for (; nr < TRAMP_KUNIT_NR; nr++) {
		text[nr] = (unsigned long)tramp_text_alloc(TRAMP_AREA);
		if (!text[nr])
			break;
		KUNIT_EXPECT_NULL(test, memchr_inv((void *)text[nr], INT3_INSN_OPCODE, TRAMP_AREA));
	}
	KUNIT_EXPECT_EQ(test, nr, TRAMP_KUNIT_NR);

	for (unsigned int i = 0; i < nr; i++) {
		scoped_guard(mutex, &tramp_mutex)
			KUNIT_EXPECT_NOT_NULL(test, tramp_kunit_area_of(text[i]));
		tramp_text_free(text[i], TRAMP_AREA);
		scoped_guard(mutex, &tramp_mutex)
			KUNIT_EXPECT_LE(test, tramp_kunit_spare(), TRAMP_SPARE);
	}
	scoped_guard(mutex, &tramp_mutex) {
		for (unsigned int i = 0; i < nr; i++)
			left += !!tramp_kunit_area_of(text[i]);
	}
	KUNIT_EXPECT_GE(test, left, 1);
	KUNIT_EXPECT_LT(test, left, nr);
}

/* An area stays while some of its text is in use, and its free bytes hold INT3s. */
static void tramp_area_stays(struct kunit *test)
{
	const size_t size = TRAMP_UNIT + 1;
	u8 *first = tramp_text_alloc(size), *second = tramp_text_alloc(size);
	u8 code[TRAMP_UNIT + 1];

	if (first && second) {
		KUNIT_EXPECT_GE(test, abs(first - second), 2 * TRAMP_UNIT);
		memset(code, BYTES_NOP1, size);
		text_poke_copy(first, code, size);
		text_poke_copy(second, code, size);
		tramp_text_free((unsigned long)first, size);
		KUNIT_EXPECT_MEMEQ(test, second, code, size);
		scoped_guard(mutex, &tramp_mutex)
			KUNIT_EXPECT_NOT_NULL(test, tramp_kunit_area_of((unsigned long)second));
		first = NULL;
	}
	KUNIT_EXPECT_NOT_NULL(test, second);
	if (first)
		tramp_text_free((unsigned long)first, size);
	if (second)
		tramp_text_free((unsigned long)second, size);
}

static struct kunit_case ftrace_tramp_cases[] = {
	KUNIT_CASE(tramp_areas_go_back),
	KUNIT_CASE(tramp_area_stays),
	{ }
};

static struct kunit_suite ftrace_tramp_suite = {
	.name		= "ftrace-tramp",
	.test_cases	= ftrace_tramp_cases,
};

kunit_test_suite(ftrace_tramp_suite);
