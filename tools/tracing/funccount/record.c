// SPDX-License-Identifier: GPL-2.0
/*
 * A record: how often each function was called in each of several samples, and its file.
 *
 *	funccount	1
 *	release	6.12.117		the heads, see enum head
 *	...
 *	samples	30
 *	runs	1	1	...		of the command, or intervals, in each sample
 *	ns	20145023	...		its time
 *	function	module	calls1	...	the names of the columns
 *	vfs_read	-	231	...
 *	...
 *	end	1723			how many functions that were
 *
 * All columns are separated by tabs. With times, the columns ns1 and so on follow the calls.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "record.h"
#include "util.h"

#define MAGIC		"funccount"
#define VERSION_TEXT	"1"

const char *const record_heads[NR_HEADS] = {
	"release", "counter", "counted", "tasks", "module", "functions", "interval", "command",
};

/**
 * record_begin - begin without samples
 * @r: the record, with its heads
 */
void record_begin(struct record *r)
{
	counts_init(&r->counts, (1 + record_has_times(r)) * MOST_SAMPLES);
	r->nr = 0;
	r->most_runs = 1;
}

/**
 * record_free - free heads and samples
 * @r: the record
 */
void record_free(struct record *r)
{
	for (int i = 0; i < NR_HEADS; i++)
		free(r->head[i]);
	counts_free(&r->counts);
	*r = (struct record){ };
}

bool record_has_times(const struct record *r)
{
	return !strcmp(r->head[HEAD_COUNTED], "times");
}

/* Whether a sample is a run of the command, and not an interval. */
bool record_is_of_runs(const struct record *r)
{
	return !strcmp(r->head[HEAD_INTERVAL], "-");
}

/* How many runs or intervals there are in all samples. */
uint64_t record_runs(const struct record *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->nr; i++)
		sum += r->runs[i];
	return sum;
}

static void fold(uint64_t *number)
{
	for (size_t i = 0; i < MOST_SAMPLES; i++)
		number[i] = i < MOST_SAMPLES / 2 ? number[2 * i] + number[2 * i + 1] : 0;
}

/* Puts each two samples together. */
static void fold_all(struct record *r)
{
	for (size_t i = 0; i < r->counts.nr; i++) {
		for (unsigned int j = 0; j < r->counts.nr_cpus; j += MOST_SAMPLES)
			fold(r->counts.row[i].cpu + j);
	}
	fold(r->runs);
	fold(r->ns);
	r->nr /= 2;
	r->most_runs *= 2;
}

/**
 * record_add - add a run of the command, or an interval
 * @r: the record
 * @c: the calls; the first of its columns are their times, if the record has these
 * @ns: how long it took
 */
void record_add(struct record *r, const struct counts *c, uint64_t ns)
{
	size_t at;

	if (!r->nr || r->runs[r->nr - 1] == r->most_runs) {
		if (r->nr == MOST_SAMPLES)
			fold_all(r);
		r->runs[r->nr] = 0;
		r->ns[r->nr++] = 0;
	}
	at = r->nr - 1;
	r->runs[at]++;
	r->ns[at] += ns;
	for (size_t i = 0; i < c->nr; i++) {
		const struct row *from = &c->row[i];
		struct row *row = counts_add(&r->counts, from->name, from->module, from->count,
					     NULL);

		row->cpu[at] = from->count;
		if (record_has_times(r))
			row->cpu[MOST_SAMPLES + at] = from->cpu[0];
	}
	counts_merge(&r->counts);
}

/* Writing */

static void put_numbers(FILE *f, const uint64_t *number, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "\t%" PRIu64, number[i]);
}

static void put_columns(FILE *f, const struct record *r)
{
	fputs("function\tmodule", f);
	for (size_t i = 1; i <= r->nr; i++)
		fprintf(f, "\tcalls%zu", i);
	for (size_t i = 1; record_has_times(r) && i <= r->nr; i++)
		fprintf(f, "\tns%zu", i);
}

static void put_record(FILE *f, const void *data)
{
	const struct record *r = data;

	fputs(MAGIC "\t" VERSION_TEXT "\n", f);
	for (int i = 0; i < NR_HEADS; i++)
		fprintf(f, "%s\t%s\n", record_heads[i], r->head[i]);
	fprintf(f, "samples\t%zu\nruns", r->nr);
	put_numbers(f, r->runs, r->nr);
	fputs("\nns", f);
	put_numbers(f, r->ns, r->nr);
	fputc('\n', f);
	put_columns(f, r);
	fputc('\n', f);
	for (size_t i = 0; i < r->counts.nr; i++) {
		const struct row *row = &r->counts.row[i];

		fprintf(f, "%s\t%s", row->name, row->module ? row->module : "-");
		for (unsigned int j = 0; j < r->counts.nr_cpus; j += MOST_SAMPLES)
			put_numbers(f, row->cpu + j, r->nr);
		fputc('\n', f);
	}
	fprintf(f, "end\t%zu\n", r->counts.nr);
}

/**
 * record_write - write the file
 * @path: the file; an older one stays if this one cannot be written
 * @r: the record
 */
void record_write(const char *path, const struct record *r)
{
	char *target = file_target(path);

	file_replace(target, put_record, r);
	free(target);
}

/* Reading */

/* The file, the line that was read last, and the fault, if there is one. */
struct reader {
	FILE *f;
	char *line;
	size_t size;
	unsigned int nr;
	char *problem;
};

static bool __attribute__((format(printf, 2, 3))) wrong(struct reader *in, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		die("out of memory");
	va_end(args);
	in->problem = format_string("line %u: %s", in->nr, text);
	free(text);
	return false;
}

/* Reads a line, without its end. */
static bool take_line(struct reader *in)
{
	ssize_t n;

	in->nr++;
	errno = 0;
	n = getline(&in->line, &in->size, in->f);
	if (n < 0 && errno)
		return wrong(in, "%s", strerror(errno));
	if (n < 1 || in->line[n - 1] != '\n')
		return wrong(in, "the file is cut off here");
	in->line[n - 1] = '\0';
	return strlen(in->line) == (size_t)n - 1 || wrong(in, "it has a zero byte");
}

/* Reads a line that begins with @key and a tab, and has @rest after them. */
static bool take_key(struct reader *in, const char *key, char **rest)
{
	size_t len = strlen(key);

	if (!take_line(in))
		return false;
	*rest = in->line + len + 1;
	return (!strncmp(in->line, key, len) && in->line[len] == '\t' && **rest) ||
	       wrong(in, "'%s', a tab and a value were expected, not '%.40s'", key, in->line);
}

/*
 * Takes @nr numbers from @text, each at least @least, and of a size that the sum of the record's
 * samples does not overflow.
 */
static bool take_numbers(struct reader *in, const struct record *r, char *text, size_t nr,
			 uint64_t least, uint64_t *number)
{
	for (size_t i = 0; i < nr; i++) {
		char *word = strsep(&text, "\t");

		if (!word)
			return wrong(in, "%zu numbers were expected, not %zu", nr, i);
		if (!parse_number(word, UINT64_MAX / r->nr, &number[i]) || number[i] < least)
			return wrong(in, "a number was expected, not '%.40s'", word);
	}
	return !text || wrong(in, "%zu numbers were expected, and no more", nr);
}

static bool take_heads(struct reader *in, struct record *r)
{
	const char *counted;
	uint64_t ns;
	char *rest;

	if (!take_key(in, MAGIC, &rest))
		return false;
	if (strcmp(rest, VERSION_TEXT))
		return wrong(in, "it is of version '%.40s', and this program reads " VERSION_TEXT,
			     rest);
	for (int i = 0; i < NR_HEADS; i++) {
		if (!take_key(in, record_heads[i], &rest))
			return false;
		r->head[i] = copy_string(rest);
	}
	counted = r->head[HEAD_COUNTED];
	if (strcmp(counted, "calls") && strcmp(counted, "times"))
		return wrong(in, "'calls' or 'times' are counted, not '%.40s'", counted);
	if (record_is_of_runs(r) == !strcmp(r->head[HEAD_COMMAND], "-"))
		return wrong(in, "either interval or command was expected to be '-'");
	return record_is_of_runs(r) || parse_seconds(r->head[HEAD_INTERVAL], &ns) ||
	       wrong(in, "'%.40s' is not an interval", r->head[HEAD_INTERVAL]);
}

static bool take_samples(struct reader *in, struct record *r)
{
	uint64_t nr;
	char *rest;

	if (!take_key(in, "samples", &rest))
		return false;
	if (!parse_number(rest, MOST_SAMPLES, &nr) || nr < LEAST_SAMPLES)
		return wrong(in, "%d to %d samples were expected, not '%.40s'", LEAST_SAMPLES,
			     MOST_SAMPLES, rest);
	r->nr = nr;
	return take_key(in, "runs", &rest) && take_numbers(in, r, rest, nr, 1, r->runs) &&
	       take_key(in, "ns", &rest) && take_numbers(in, r, rest, nr, 1, r->ns);
}

static bool take_columns(struct reader *in, const struct record *r)
{
	char *wanted;
	size_t len;
	FILE *f = open_memstream(&wanted, &len);
	bool same;

	if (!f)
		die("out of memory");
	put_columns(f, r);
	if (fclose(f))
		die("out of memory");
	same = take_line(in) && !strcmp(in->line, wanted);
	free(wanted);
	return same || in->problem ||
	       wrong(in, "the names of %zu samples' columns were expected", r->nr);
}

static bool take_row(struct reader *in, struct record *r)
{
	struct counts *c = &r->counts;
	uint64_t number[2 * MOST_SAMPLES];
	char *rest = in->line, *name = strsep(&rest, "\t"), *module = strsep(&rest, "\t");
	struct row *row;

	if (!rest || !*name || !*module)
		return wrong(in, "a function, a module and numbers were expected");
	if (!take_numbers(in, r, rest, c->nr_cpus / MOST_SAMPLES * r->nr, 0, number))
		return false;
	row = counts_add(c, name, strcmp(module, "-") ? module : NULL, 0, NULL);
	for (size_t i = 0; i < r->nr; i++) {
		row->count += number[i];
		row->cpu[i] = number[i];
		if (record_has_times(r))
			row->cpu[MOST_SAMPLES + i] = number[r->nr + i];
	}
	return c->nr == 1 || counts_row_cmp(row - 1, row) < 0 ||
	       wrong(in, "the functions have to be in the order of their names, each once");
}

static bool take_rows(struct reader *in, struct record *r)
{
	char *nr;
	uint64_t number;

	while (take_line(in) && strncmp(in->line, "end\t", 4)) {
		if (!take_row(in, r))
			return false;
	}
	if (in->problem)
		return false;
	nr = in->line + 4;
	if (!parse_number(nr, SIZE_MAX, &number) || number != r->counts.nr)
		return wrong(in, "%zu functions came, not '%.40s'", r->counts.nr, nr);
	return fgetc(in->f) == EOF || wrong(in, "more follows the end");
}

/**
 * record_read - read the file
 * @path: the file
 * @r: takes the record
 *
 * Returns: NULL, or the fault of the file in words, to be freed.
 */
char *record_read(const char *path, struct record *r)
{
	struct reader in = { .f = fopen(path, "re") };

	*r = (struct record){ };
	if (!in.f)
		return copy_string(strerror(errno));
	if (take_heads(&in, r)) {
		record_begin(r);
		if (take_samples(&in, r) && take_columns(&in, r))
			take_rows(&in, r);
	}
	fclose(in.f);
	free(in.line);
	return in.problem;
}
