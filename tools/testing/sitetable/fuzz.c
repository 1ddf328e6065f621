// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes both modes of sitetable, in memory. For all bytes there must be a verdict, no access
 * out of bounds, a one-line message on failure, and an object that was changed is not changed by a
 * second run.
 *
 * Built as a libFuzzer target, or with FUZZ_MAIN by any compiler: then it makes
 * its own mutations, the same ones on each run, of the files that it is given:
 *
 *	fuzz SECONDS FILE...
 */
#include <stdlib.h>
#include <time.h>

#include "modes.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Exactly as large as the input, so that the sanitizer sees the first byte too many. */
static u8 *bytes_copy(const u8 *data, size_t size)
{
	u8 *copy = malloc(size);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	return copy;
}

static void message_check(const struct elf_file *f)
{
	if (!f->error[0] || strchr(f->error, '\n'))
		abort();
}

static void object_again(const struct elf_file *first)
{
	struct elf_file f = { .path = "again", .size = first->size };

	f.base = bytes_copy(first->base, first->size);
	if (!elf_file_load(&f) && object_record(&f, SITE_RECORD) == VERDICT_CHANGED)
		abort();
	elf_file_free(&f);
}

static void object_try(const u8 *data, size_t size, enum site_action action)
{
	struct elf_file f = { .path = "fuzz", .size = size };
	int verdict;

	f.base = bytes_copy(data, size);
	verdict = elf_file_load(&f) ? VERDICT_FAILED : object_record(&f, action);
	if (verdict == VERDICT_FAILED)
		message_check(&f);
	if (verdict == VERDICT_CHANGED)
		object_again(&f);
	elf_file_free(&f);
}

static void image_try(const u8 *data, size_t size)
{
	struct elf_file f = { .path = "fuzz", .size = size };

	f.base = bytes_copy(data, size);
	if (elf_file_load(&f) || image_finish(&f) == VERDICT_FAILED)
		message_check(&f);
	elf_file_free(&f);
}

static void list_try(const u8 *data, size_t size)
{
	static FILE *null;
	struct elf_file f = { .path = "fuzz", .size = size };

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null)
		abort();
	f.base = bytes_copy(data, size);
	if (!elf_file_load(&f)) {
		if (f.type == ET_REL)
			object_list(&f, null);
		else
			image_list(&f, null);
	}
	elf_file_free(&f);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (size > 16 && data[16] == ET_REL) {
		object_try(data, size, SITE_RECORD);
		object_try(data, size, SITE_RECORD_AND_NOP);
	} else {
		image_try(data, size);
	}
	list_try(data, size);
	return 0;
}

#ifdef FUZZ_MAIN

static u64 random_state = 0x9e3779b97f4a7c15;

/* xorshift64: the same sequence on every run. */
static u64 random_below(u64 limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

static const u64 interesting[] = {
	0, 1, 2, 3, 4, 7, 8, 16, 24, 0x7f, 0x80, 0xff, 0x100, 0xfeff, 0xff00, 0xfff1, 0xffff,
	0x10000, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff, 0x7fffffffffffffff,
	0x8000000000000000, 0xfffffffffffffff8, 0xffffffffffffffff,
};

static void value_mutate(u8 *data, size_t size, size_t at)
{
	size_t width = 1UL << random_below(4);
	u64 value = 0;

	if (at + width > size)
		return;
	memcpy(&value, data + at, width);
	switch (random_below(4)) {
	case 0:
		value = interesting[random_below(ARRAY_SIZE(interesting))];
		break;
	case 1:
		value += random_below(33) - 16;
		break;
	case 2:
		value ^= 1ULL << random_below(width * 8);
		break;
	default:
		value = random_below(size + 16);
	}
	memcpy(data + at, &value, width);
}

/* Half of the mutations hit the header or the section headers, the rest anything. */
static size_t place_pick(const u8 *data, size_t size)
{
	u64 shoff = 0;

	switch (random_below(6)) {
	case 0:
		return random_below(size < 64 ? size : 64);
	case 1:
	case 2:
		if (size < 64)
			break;
		memcpy(&shoff, data + (data[EI_CLASS] == ELFCLASS64 ? 40 : 32),
		       data[EI_CLASS] == ELFCLASS64 ? 8 : 4);
		if (shoff < size)
			return shoff + random_below(size - shoff) / 4 * 4;
		break;
	default:
		break;
	}
	return random_below(size);
}

static void one_mutant(const u8 *data, size_t size)
{
	u8 *copy = bytes_copy(data, size);
	u64 times = 1 + random_below(6);

	while (times--)
		value_mutate(copy, size, place_pick(copy, size));
	if (!random_below(16))
		size = 1 + random_below(size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static u8 *file_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	u8 *data;

	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*size = ftell(file);
	rewind(file);
	data = malloc(*size);
	if (data && fread(data, 1, *size, file) != *size)
		*size = 0;
	fclose(file);
	return data;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	unsigned long runs = 0;
	size_t size = 0;
	u8 *data;
	int i, k;

	if (argc < 3)
		return 2;
	while (time(NULL) < end) {
		for (i = 2; i < argc && time(NULL) < end; i++) {
			data = file_read(argv[i], &size);
			for (k = 0; data && size && k < 100; k++, runs++)
				one_mutant(data, size);
			free(data);
		}
	}
	printf("%lu mutants\n", runs);
	return 0;
}

#endif /* FUZZ_MAIN */
