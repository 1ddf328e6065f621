// SPDX-License-Identifier: GPL-2.0
/*
 * textbytes: reads kernel text through /proc/kcore, for the demonstration and the
 * checks that look at the bytes of a call site.
 *
 *	textbytes show ADDRESS...     five bytes at each address, and their meaning
 *	textbytes sum                 standard input names one site a line, its address
 *	                              (hexadecimal) first, as available_filter_functions_addrs
 *	                              does: prints how many hold a NOP, a CALL, a breakpoint,
 *	                              or anything else, and a checksum of address and bytes
 *	textbytes list                the same input: each site that is not a NOP
 *	textbytes save FILE           copies the core kernel's text
 *	textbytes diff FILE           where the text differs from that copy: the first
 *	                              40 places, and how many bytes in all
 *
 * A CALL is shown with its destination, and the symbol of it from /proc/kallsyms.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SITE = 5 };

enum kind { KIND_NOP, KIND_CALL, KIND_JMP, KIND_INT3, KIND_OTHER, KIND_COUNT };

static const char *const kind_name[KIND_COUNT] = {
	"NOP", "CALL", "JMP", "breakpoint", "other",
};

static int kcore = -1;
static Elf64_Phdr *segments;
static int segment_count;

static int kcore_open(void)
{
	Elf64_Ehdr eh;

	kcore = open("/proc/kcore", O_RDONLY);
	if (kcore < 0 || pread(kcore, &eh, sizeof(eh), 0) != sizeof(eh)) {
		perror("textbytes: /proc/kcore");
		return -1;
	}
	segment_count = eh.e_phnum;
	segments = calloc(segment_count, sizeof(*segments));
	if (!segments)
		return -1;
	for (int i = 0; i < segment_count; i++)
		if (pread(kcore, &segments[i], sizeof(*segments),
			  eh.e_phoff + i * eh.e_phentsize) != sizeof(*segments))
			return -1;
	return 0;
}

static int text_read_len(uint64_t addr, uint8_t *to, size_t len)
{
	for (int i = 0; i < segment_count; i++) {
		const Elf64_Phdr *p = &segments[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr ||
		    addr - p->p_vaddr + len > p->p_memsz)
			continue;
		if (pread(kcore, to, len, p->p_offset + (addr - p->p_vaddr)) == (ssize_t)len)
			return 0;
	}
	return -1;
}

static int text_read(uint64_t addr, uint8_t *to)
{
	return text_read_len(addr, to, SITE);
}

static enum kind kind_of(const uint8_t *b)
{
	static const uint8_t nop5[SITE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	if (!memcmp(b, nop5, SITE))
		return KIND_NOP;
	if (b[0] == 0xe8)
		return KIND_CALL;
	if (b[0] == 0xe9)
		return KIND_JMP;
	return b[0] == 0xcc ? KIND_INT3 : KIND_OTHER;
}

static uint64_t target_of(uint64_t addr, const uint8_t *b)
{
	int32_t rel;

	memcpy(&rel, b + 1, sizeof(rel));
	return addr + SITE + rel;
}

/* The nearest symbol at or below addr, from one walk of /proc/kallsyms. */
static void symbol_print(uint64_t addr)
{
	char line[512], name[256], best[256] = "?", type;
	unsigned long long a, best_at = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255[^\n]", &a, &type, name) != 3)
			continue;
		if (a > addr || a < best_at || !strchr("tTwW", type))
			continue;
		best_at = a;
		name[strcspn(name, "\t")] = 0;
		strcpy(best, name);
	}
	if (f)
		fclose(f);
	if (addr == best_at)
		printf("%s", best);
	else if (addr - best_at < 1 << 20)
		printf("%s+0x%llx", best, (unsigned long long)addr - best_at);
	else
		printf("no symbol");
}

static void site_print(uint64_t addr, const uint8_t *b)
{
	enum kind k = kind_of(b);

	printf("%016llx: %02x %02x %02x %02x %02x  %s", (unsigned long long)addr,
	       b[0], b[1], b[2], b[3], b[4], kind_name[k]);
	if (k == KIND_CALL || k == KIND_JMP) {
		uint64_t to = target_of(addr, b);

		printf(" %llx ", (unsigned long long)to);
		symbol_print(to);
	}
	putchar('\n');
}

static int show(int argc, char **argv)
{
	uint8_t b[SITE];

	for (int i = 0; i < argc; i++) {
		uint64_t addr = strtoull(argv[i], NULL, 16);

		if (text_read(addr, b)) {
			printf("%016llx: cannot be read\n", (unsigned long long)addr);
			return 1;
		}
		site_print(addr, b);
	}
	return 0;
}

static uint64_t mix(uint64_t sum, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n--)
		sum = (sum ^ *b++) * 0x100000001b3ull;
	return sum;
}

static int each_site(int list)
{
	unsigned long count[KIND_COUNT] = { 0 }, unread = 0;
	uint64_t sum = 0xcbf29ce484222325ull;
	char line[1024];
	uint8_t b[SITE];

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t addr = strtoull(line, NULL, 16);
		enum kind k;

		if (text_read(addr, b)) {
			unread++;
			continue;
		}
		k = kind_of(b);
		count[k]++;
		sum = mix(mix(sum, &addr, sizeof(addr)), b, SITE);
		if (list && k != KIND_NOP) {
			line[strcspn(line, "\n")] = 0;
			printf("%s: %02x %02x %02x %02x %02x %s\n", line,
			       b[0], b[1], b[2], b[3], b[4], kind_name[k]);
		}
	}
	if (list)
		return 0;
	for (int k = 0; k < KIND_COUNT; k++)
		printf("%s=%lu ", kind_name[k], count[k]);
	printf("unread=%lu sum=%016llx\n", unread, (unsigned long long)sum);
	return 0;
}

static uint64_t symbol_address(const char *want)
{
	char line[512], name[256], type;
	unsigned long long addr = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &addr, &type, name) == 3 && !strcmp(name, want))
			break;
		addr = 0;
	}
	if (f)
		fclose(f);
	return addr;
}

/* The core kernel's text, in memory of the caller's. */
static uint8_t *whole_text(uint64_t *start, size_t *len)
{
	uint64_t end = symbol_address("_etext");
	uint8_t *text;

	*start = symbol_address("_stext");
	*len = end - *start;
	text = *start && end > *start ? malloc(*len) : NULL;
	for (size_t at = 0; text && at < *len; at += 4096) {
		size_t n = *len - at < 4096 ? *len - at : 4096;

		if (text_read_len(*start + at, text + at, n)) {
			free(text);
			text = NULL;
		}
	}
	if (!text)
		fputs("textbytes: the kernel's text cannot be read\n", stderr);
	return text;
}

static int save(const char *path)
{
	uint64_t start;
	size_t len;
	uint8_t *text = whole_text(&start, &len);
	FILE *f = text ? fopen(path, "wb") : NULL;

	return !f || fwrite(text, 1, len, f) != len || fclose(f);
}

static int diff(const char *path)
{
	unsigned long bytes = 0, places = 0;
	uint64_t start;
	size_t len, last = 0;
	uint8_t *text = whole_text(&start, &len), *old = text ? malloc(len) : NULL;
	FILE *f = old ? fopen(path, "rb") : NULL;

	if (!f || fread(old, 1, len, f) != len) {
		fprintf(stderr, "textbytes: %s is no copy of the text\n", path);
		return 2;
	}
	for (size_t i = 0; i < len; i++) {
		if (text[i] == old[i])
			continue;
		bytes++;
		/* One line for an instruction. */
		if (places && i - last < SITE)
			continue;
		last = i;
		if (++places <= 40) {
			printf("%016llx was %02x is %02x ", (unsigned long long)start + i,
			       old[i], text[i]);
			symbol_print(start + i);
			putchar('\n');
		}
	}
	printf("%lu bytes differ\n", bytes);
	return bytes != 0;
}

int main(int argc, char **argv)
{
	if (argc < 2 || kcore_open())
		return 2;
	if (!strcmp(argv[1], "show"))
		return show(argc - 2, argv + 2);
	if (!strcmp(argv[1], "sum"))
		return each_site(0);
	if (!strcmp(argv[1], "list"))
		return each_site(1);
	if (!strcmp(argv[1], "save") && argc == 3)
		return save(argv[2]);
	if (!strcmp(argv[1], "diff") && argc == 3)
		return diff(argv[2]);
	fputs("usage: textbytes show ADDRESS... | sum | list | save FILE | diff FILE\n", stderr);
	return 2;
}
