// SPDX-License-Identifier: GPL-2.0
/*
 * A table as people read it, and as programs do.
 *
 * Both write the rows in the order that they have. Sorted, the highest count comes last:
 * that is where one looks on a terminal. The man page describes the form for programs; the
 * parts that it promises are not to change.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"
#include "util.h"

/* The width in bcc's funccount and others. */
#define NAME_WIDTH	36
#define COUNT_WIDTH	8

/* As tables name them, and JSON does. */
static const struct {
	const char *title;
	const char *member;
} latency_columns[] = {
	{ "MEAN", "mean" }, { "P50", "p50" }, { "P90", "p90" }, { "P99", "p99" }, { "MAX", "max" },
};

static size_t first_row(const struct report *r, const struct counts *c)
{
	return r->top && r->top < c->nr ? c->nr - r->top : 0;
}

static int digits(uint64_t n)
{
	return snprintf(NULL, 0, "%" PRIu64, n);
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

static uint64_t highest_number(const struct report *r, const struct counts *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (c->row[i].count > most)
			most = c->row[i].count;
		for (unsigned int j = 0; r->latency && j < c->nr_cpus; j++) {
			if (c->row[i].cpu[j] > most)
				most = c->row[i].cpu[j];
		}
	}
	return most;
}

/* Whether a CPU has a column. Each of the times has. */
static bool shown_cpu(const struct report *r, const struct counts *c, unsigned int cpu)
{
	if (r->latency || r->online[cpu])
		return true;
	for (size_t i = 0; i < c->nr; i++) {
		if (c->row[i].cpu[cpu])
			return true;
	}
	return false;
}

static const char *module_name(const struct row *row)
{
	return row->module ? row->module : "vmlinux";
}

static void text_name(FILE *f, const struct row *row)
{
	char *name;

	if (row->name && row->module)
		name = format_string("%s [%s]", row->name, row->module);
	else
		name = copy_string(row->name ? row->name : module_name(row));
	fprintf(f, "%-*s", NAME_WIDTH, name);
	free(name);
}

static void text_heading(FILE *f, const struct report *r, const struct counts *c,
			 const bool *shown, int width)
{
	if (r->timestamp) {
		time_t seconds = r->time / NSEC;
		char text[sizeof("00:00:00")];

		strftime(text, sizeof(text), "%H:%M:%S", localtime(&seconds));
		fprintf(f, "%s\n", text);
	}
	fprintf(f, "%-*s %*s", NAME_WIDTH, r->by_module ? "MODULE" : "FUNC", width, "COUNT");
	for (unsigned int i = 0; i < c->nr_cpus; i++) {
		if (r->latency)
			fprintf(f, " %*s", width, latency_columns[i].title);
		else if (shown[i])
			fprintf(f, " %*sCPU%u", width - 3 - digits(r->cpus[i]), "", r->cpus[i]);
	}
	fputc('\n', f);
}

/**
 * report_text - a table for people
 * @f: where to
 * @r: how
 * @c: the table
 */
void report_text(FILE *f, const struct report *r, const struct counts *c)
{
	int width = max_int(COUNT_WIDTH, digits(highest_number(r, c)));
	bool *shown = alloc(c->nr_cpus, sizeof(*shown));

	for (unsigned int i = 0; i < c->nr_cpus; i++)
		shown[i] = shown_cpu(r, c, i);
	text_heading(f, r, c, shown, width);
	for (size_t i = first_row(r, c); i < c->nr; i++) {
		const struct row *row = &c->row[i];

		text_name(f, row);
		fprintf(f, " %*" PRIu64, width, row->count);
		for (unsigned int j = 0; j < c->nr_cpus; j++) {
			if (shown[j])
				fprintf(f, " %*" PRIu64, width, row->cpu[j]);
		}
		fputc('\n', f);
	}
	free(shown);
}

static void json_cpus(FILE *f, const struct report *r, const struct row *row, unsigned int nr)
{
	const char *comma = "";

	fputs(",\"cpus\":{", f);
	for (unsigned int i = 0; i < nr; i++) {
		if (!row->cpu[i])
			continue;
		fprintf(f, "%s\"%u\":%" PRIu64, comma, r->cpus[i], row->cpu[i]);
		comma = ",";
	}
	fputc('}', f);
}

static void json_row(FILE *f, const struct report *r, const struct row *row, unsigned int nr_cpus)
{
	fputc('{', f);
	if (!r->by_module) {
		fputs("\"function\":", f);
		json_string(f, row->name);
		fputc(',', f);
	}
	fputs("\"module\":", f);
	json_string(f, row->module);
	fprintf(f, ",\"count\":%" PRIu64, row->count);
	for (unsigned int i = 0; r->latency && i < nr_cpus; i++)
		fprintf(f, ",\"%s\":%" PRIu64, latency_columns[i].member, row->cpu[i]);
	if (nr_cpus && !r->latency)
		json_cpus(f, r, row, nr_cpus);
	fputc('}', f);
}

/**
 * report_json - a table for programs, in one line
 * @f: where to
 * @r: how
 * @c: the table
 */
void report_json(FILE *f, const struct report *r, const struct counts *c)
{
	size_t first = first_row(r, c);

	fprintf(f, "{\"version\":%d,\"counter\":", REPORT_VERSION);
	json_string(f, r->counter);
	fprintf(f, ",\"time\":%" PRIu64 ".%09u,\"seconds\":%" PRIu64 ".%09u",
		(uint64_t)(r->time / NSEC), (unsigned int)(r->time % NSEC),
		(uint64_t)(r->ns / NSEC), (unsigned int)(r->ns % NSEC));
	fprintf(f, ",\"rows\":%zu,\"calls\":%" PRIu64 ",\"counts\":[", c->nr, counts_sum(c));
	for (size_t i = first; i < c->nr; i++) {
		if (i > first)
			fputc(',', f);
		json_row(f, r, &c->row[i], c->nr_cpus);
	}
	fputs("]}\n", f);
}

/**
 * report_differences - a table of the functions that differ
 * @f: where to
 * @c: the differences
 */
void report_differences(FILE *f, const struct comparison *c)
{
	if (c->nr)
		fprintf(f, "%-*s %12s %12s %9s %9s\n", NAME_WIDTH, "FUNC", "THEN", "NOW", "CHANGE",
			"+-");
	for (size_t i = 0; i < c->nr; i++) {
		const struct difference *d = &c->difference[i];

		text_name(f, d->row);
		fprintf(f, " %12.1f %12.1f ", d->then, d->now);
		if (d->then)
			fprintf(f, "%+8.1f%% %8.1f%%\n", 100 * difference_part(d),
				100 * d->half / d->then);
		else
			fprintf(f, "%9s %9s\n", "new", "-");
	}
}
