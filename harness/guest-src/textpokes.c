// SPDX-License-Identifier: GPL-2.0
/*
 * textpokes: perf's text_poke events during a command that has kernel text written.
 *
 *	textpokes TEXT COMMAND...
 *
 * TEXT is a copy of the core kernel's text, from textbytes save. While COMMAND runs, the
 * events of all CPUs are collected (struct perf_event_attr's text_poke and ksymbol); then
 * those of the core kernel are applied to the copy, in the order of their times. A
 * decoder of an instruction trace does the same. Printed is one line:
 *
 *	pokes=N       events of the core kernel
 *	calls=N       those that leave a CALL
 *	wrong=N       those whose old bytes are not those of the text
 *	descents=N    how often the next address was a lower one
 *	elsewhere=N   events of other text: modules, trampolines
 *	erased=N      those of them that leave nothing there
 *	made=N gone=N trampolines of ftrace's that got a symbol, and lost it
 *	lost=N        events for which there was no room
 *
 * Exit status: COMMAND's.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CPUS = 64, PAGES = 1024, PAGE = 4096 };

struct record {
	uint64_t time;
	size_t order;
	struct perf_event_header *header;
};

struct text_poke {
	struct perf_event_header header;
	uint64_t addr;
	uint16_t old_len;
	uint16_t new_len;
	uint8_t bytes[];
};

struct ksymbol {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type;
	uint16_t flags;
	char name[];
};

static struct perf_event_mmap_page *ring[CPUS];
static struct record *records;
static size_t nr_records;
static unsigned long lost;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void ring_open(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.text_poke = 1,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("textpokes: perf_event_open");
	ring[cpu] = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring[cpu] == MAP_FAILED)
		die("textpokes: mmap");
}

/* The ring holds all that there is: nothing was consumed, so nothing wraps. */
static void ring_read(struct perf_event_mmap_page *page)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint8_t *data = (uint8_t *)page + page->data_offset;

	for (uint64_t at = 0; at < head;) {
		struct perf_event_header *h = (void *)(data + at);
		struct record *r;

		if (!(nr_records & (nr_records + 1))) {
			records = realloc(records, 2 * (nr_records + 1) * sizeof(*records));
			if (!records)
				die("textpokes");
		}
		r = &records[nr_records];
		*r = (struct record) { .header = h, .order = nr_records++ };
		/* The only field of the sample id is the record's last. */
		memcpy(&r->time, (uint8_t *)h + h->size - sizeof(r->time), sizeof(r->time));
		at += h->size;
	}
}

static int record_cmp(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static uint64_t text_start(void)
{
	char line[512], name[256], type;
	unsigned long long addr;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &addr, &type, name) == 3 &&
		    !strcmp(name, "_stext"))
			return addr;
	}
	die("textpokes: _stext");
	return 0;
}

static void replay(uint8_t *text, size_t len)
{
	unsigned long pokes = 0, calls = 0, wrong = 0, descents = 0, elsewhere = 0;
	unsigned long made = 0, gone = 0, erased = 0;
	uint64_t start = text_start(), last = 0;

	for (size_t i = 0; i < nr_records; i++) {
		struct ksymbol *sym = (void *)records[i].header;
		struct text_poke *poke = (void *)records[i].header;
		uint64_t at = poke->addr - start;

		if (sym->header.type == PERF_RECORD_KSYMBOL &&
		    strstr(sym->name, "ftrace_trampoline")) {
			if (sym->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
				gone++;
			else
				made++;
		}
		if (poke->header.type == PERF_RECORD_LOST)
			lost++;
		if (poke->header.type != PERF_RECORD_TEXT_POKE)
			continue;
		if (at >= len || poke->new_len > len - at) {
			elsewhere++;
			erased += poke->old_len && !poke->new_len;
			continue;
		}
		pokes++;
		calls += poke->new_len == 5 && poke->bytes[poke->old_len] == 0xe8;
		descents += poke->addr < last;
		last = poke->addr;
		if (poke->old_len != poke->new_len ||
		    memcmp(text + at, poke->bytes, poke->old_len)) {
			if (!wrong++)
				fprintf(stderr, "textpokes: first wrong one: %llx, %d bytes\n",
					(unsigned long long)poke->addr, poke->old_len);
		}
		memcpy(text + at, poke->bytes + poke->old_len, poke->new_len);
	}
	printf("pokes=%lu calls=%lu wrong=%lu descents=%lu ", pokes, calls, wrong, descents);
	printf("elsewhere=%lu erased=%lu ", elsewhere, erased);
	printf("made=%lu gone=%lu lost=%lu\n", made, gone, lost);
}

static uint8_t *text_map(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r+");
	uint8_t *text;

	if (!f || fseek(f, 0, SEEK_END))
		die(path);
	*len = ftell(f);
	text = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	if (text == MAP_FAILED)
		die(path);
	return text;
}

int main(int argc, char **argv)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), status;
	uint8_t *text;
	size_t len;
	pid_t pid;

	if (argc < 3 || cpus > CPUS) {
		fputs("usage: textpokes TEXT COMMAND...\n", stderr);
		return 2;
	}
	text = text_map(argv[1], &len);
	for (int i = 0; i < cpus; i++)
		ring_open(i);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("textpokes: fork");
	for (int i = 0; i < cpus; i++)
		ring_read(ring[i]);
	qsort(records, nr_records, sizeof(*records), record_cmp);
	replay(text, len);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
