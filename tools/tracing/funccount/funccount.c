// SPDX-License-Identifier: GPL-2.0
/*
 * funccount - count the calls of kernel functions
 *
 * This file has the command line, and the order of things: choose the counter, choose the
 * functions, count, write a table now and then and at the end, put everything back.
 *
 * Floors, each of which calls those below it:
 *	funccount.c
 *	report.c		the output
 *	compare.c, record.c	the differences of two runs, and the file of one
 *	../lib			the counters, and the rest; its floors are in counter.h
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "compare.h"
#include "counter.h"
#include "cpus.h"
#include "instance.h"
#include "parse.h"
#include "record.h"
#include "report.h"
#include "signals.h"
#include "util.h"

const char * const program_name = "funccount";

/* Beside those of errors, so not as diff(1) has it. */
#define STATUS_DIFFERENT	3

static struct {
	struct wanted wanted;
	struct report report;
	const struct counter *counter;
	uint64_t duration;
	uint64_t interval;
	bool json;
	bool follow;
	bool profiler;
	bool sampling;
	const char *save;
	const char *diff;
	char **command;
} opt;

static const char help[] =
"Usage: funccount [OPTION]... GLOB... [-- COMMAND [ARGUMENT]...]\n"
"Counts how often kernel functions are called, until Ctrl-C, for a time, or while\n"
"COMMAND runs. GLOB is a name with *, ? and [], as in 'vfs_*'; quote it.\n"
"\n"
"  -d, --duration=SECONDS  count for so long\n"
"  -i, --interval=SECONDS  write a table each time that so much has passed\n"
"  -t, --top=N             write the N functions only that are called most often\n"
"  -m, --module=NAME       count functions of this module only\n"
"  -M, --by-module         write a line for each module, not for each function\n"
"  -C, --per-cpu           write the counts of each CPU, too\n"
"  -L, --latency           write how long the calls took, in nanoseconds, too\n"
"  -p, --pid=PID[,PID]...  count calls by these processes only, and by what they start\n"
"  -f, --follow            count calls by COMMAND only, and by what it starts\n"
"  -P, --profiler          count with the function profiler, which costs more\n"
"  -s, --save=FILE         run COMMAND again and again, and write the counts of each run\n"
"                          to FILE; without COMMAND, those of each interval\n"
"  -D, --diff=FILE         do the same, and write the functions that differ from FILE\n"
"  -T, --timestamp         write the time of day before each table\n"
"  -j, --json              write each table as a line of JSON\n"
"  -V, --version           write the version, and end\n"
"  -h, --help              write this, and end\n"
"\n"
"The man page funccount(1) has more, also what the exit status says.\n";

static const struct option options[] = {
	{ "duration", required_argument, NULL, 'd' },
	{ "interval", required_argument, NULL, 'i' },
	{ "top", required_argument, NULL, 't' },
	{ "module", required_argument, NULL, 'm' },
	{ "by-module", no_argument, NULL, 'M' },
	{ "per-cpu", no_argument, NULL, 'C' },
	{ "latency", no_argument, NULL, 'L' },
	{ "pid", required_argument, NULL, 'p' },
	{ "follow", no_argument, NULL, 'f' },
	{ "profiler", no_argument, NULL, 'P' },
	{ "save", required_argument, NULL, 's' },
	{ "diff", required_argument, NULL, 'D' },
	{ "timestamp", no_argument, NULL, 'T' },
	{ "json", no_argument, NULL, 'j' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* The command line */

static void add_pid(pid_t pid)
{
	struct wanted *w = &opt.wanted;

	w->pid = grow(w->pid, w->nr_pids + 1, sizeof(*w->pid));
	w->pid[w->nr_pids++] = pid;
}

static void add_pids(char *list)
{
	char *word;
	uint64_t pid;

	while ((word = strsep(&list, ","))) {
		if (!parse_number(word, INT_MAX, &pid) || !pid)
			usage_error("--pid: '%s' is not the number of a process", word);
		add_pid(pid);
	}
}

static void take_option(int c)
{
	switch (c) {
	case 'd':
		opt.duration = option_seconds("duration", optarg);
		break;
	case 'i':
		opt.interval = option_seconds("interval", optarg);
		break;
	case 't':
		opt.report.top = option_number("top", optarg);
		break;
	case 'm':
		opt.wanted.module = optarg;
		break;
	case 'M':
		opt.report.by_module = true;
		break;
	case 'C':
		opt.wanted.per_cpu = true;
		break;
	case 'L':
		opt.wanted.latency = true;
		opt.report.latency = true;
		break;
	case 'p':
		add_pids(optarg);
		break;
	case 'f':
		opt.follow = true;
		break;
	case 'P':
		opt.profiler = true;
		break;
	case 's':
		opt.save = optarg;
		break;
	case 'D':
		opt.diff = optarg;
		break;
	case 'T':
		opt.report.timestamp = true;
		break;
	case 'j':
		opt.json = true;
		break;
	default:
		common_option(c, help);
	}
}

static void check_words(void)
{
	struct wanted *w = &opt.wanted;
	const char *problem;

	if (!w->nr_globs)
		usage_error("no function is named; '*' is all of them");
	for (size_t i = 0; i < w->nr_globs; i++) {
		problem = glob_problem(w->glob[i]);
		if (problem)
			usage_error("'%s' is not a glob of functions: %s", w->glob[i], problem);
	}
	problem = w->module ? module_problem(w->module) : NULL;
	if (problem)
		usage_error("--module: '%s' is not a module: %s", w->module, problem);
}

static void check_sampling(void)
{
	if (opt.report.top || opt.report.by_module || opt.wanted.per_cpu || opt.report.timestamp ||
	    opt.json)
		usage_error("--save and --diff cannot be combined with -t, -M, -C, -T, -j");
	if (opt.command && opt.interval)
		usage_error("--interval and a command cannot be combined: each run is a sample");
	/* Of sums the difference can be taken, of percentiles not. */
	opt.wanted.times = opt.wanted.latency;
	opt.wanted.latency = false;
}

static void take_command_line(int argc, char **argv)
{
	int i, c;

	/* getopt_long() moves the options before the words, but not over a "--". */
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		;
	argv[0] = (char *)program_name;
	while ((c = getopt_long(i, argv, "d:i:t:m:MCLp:fPs:D:TjVh", options, NULL)) != -1)
		take_option(c);
	opt.wanted.glob = argv + optind;
	opt.wanted.nr_globs = i - optind;
	check_words();
	opt.sampling = opt.save || opt.diff;
	if (i < argc) {
		opt.command = argv + i + 1;
		error_status = STATUS_ERROR_WITH_COMMAND;
		if (!*opt.command)
			usage_error("no command follows '--'");
		if (opt.duration && !opt.sampling)
			usage_error("--duration and a command cannot be combined: see timeout(1)");
	} else if (opt.follow) {
		usage_error("--follow needs a command, after '--'");
	}
	if (opt.follow && opt.wanted.nr_pids)
		usage_error("--follow and --pid cannot be combined");
	if (opt.sampling)
		check_sampling();
	if (opt.wanted.latency && (opt.interval || opt.report.by_module || opt.wanted.per_cpu))
		usage_error("--latency cannot be combined with --interval, --by-module, --per-cpu");
}

/* The counters of this system */

static void find_cpus(void)
{
	struct wanted *w = &opt.wanted;
	unsigned int nr, *online = cpus_read(CPUS_ONLINE, &nr);
	bool *has_column;

	w->cpus = cpus_read(CPUS_POSSIBLE, &w->nr_cpus);
	has_column = alloc(w->nr_cpus, sizeof(*has_column));
	for (unsigned int i = 0; i < w->nr_cpus; i++) {
		for (unsigned int j = 0; j < nr; j++)
			has_column[i] |= online[j] == w->cpus[i];
	}
	free(online);
	opt.report.cpus = w->cpus;
	opt.report.online = has_column;
}

static void find_counter(void)
{
	bool has_tracer = tracefs_tracer_available(tracefs_tracing_dir(), "count");

	opt.counter = counter_find(opt.profiler);
	opt.report.counter = opt.counter->name;
	if (opt.counter == &tracer_counter)
		return;
	if (opt.follow || opt.wanted.nr_pids || opt.wanted.latency || opt.wanted.times)
		die("%s needs the tracer count, %s",
		    opt.follow ? "--follow" : opt.wanted.nr_pids ? "--pid" : "--latency",
		    has_tracer ? "not the profiler" : "which this kernel does not have");
	if (!has_tracer)
		warn("this kernel has no tracer count; the function profiler costs more");
}

/* The records */

static struct record then, now;

/* The words with tabs between them; NULL ends the words. */
static char *join_words(char **word, size_t nr, bool quoted)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		die("out of memory");
	for (size_t i = 0; i < nr && word[i]; i++) {
		if (i)
			fputc('\t', f);
		if (quoted)
			json_string(f, word[i]);
		else
			fputs(word[i], f);
	}
	if (fclose(f))
		die("out of memory");
	return text;
}

static void set_heads(void)
{
	const struct wanted *w = &opt.wanted;
	uint64_t ns = opt.interval ? opt.interval : NSEC;
	struct utsname system;

	uname(&system);
	now.head[HEAD_RELEASE] = copy_string(system.release);
	now.head[HEAD_COUNTER] = copy_string(opt.counter->name);
	now.head[HEAD_COUNTED] = copy_string(w->times ? "times" : "calls");
	now.head[HEAD_TASKS] = copy_string(opt.follow ? "command" : w->nr_pids ? "processes" :
					   "all");
	now.head[HEAD_MODULE] = copy_string(w->module ? w->module : "-");
	now.head[HEAD_FUNCTIONS] = join_words(w->glob, w->nr_globs, false);
	now.head[HEAD_INTERVAL] = opt.command ? copy_string("-") :
		format_string("%llu.%09llu", ns / NSEC, ns % NSEC);
	now.head[HEAD_COMMAND] = opt.command ? join_words(opt.command, SIZE_MAX, true) :
					       copy_string("-");
	record_begin(&now);
}

/* Other kernels and commands may be compared, but nothing that was counted in another way. */
static void check_heads(void)
{
	for (int i = 0; i < NR_HEADS; i++) {
		const char *a = then.head[i], *b = now.head[i];

		if (!strcmp(a, b))
			continue;
		if (i == HEAD_RELEASE || (i == HEAD_COMMAND && *a == '"' && *b == '"'))
			warn("%s: %s was %s then, and is %s now", opt.diff, record_heads[i], a, b);
		else
			die("%s cannot be compared with: %s was %s then, and is %s now", opt.diff,
			    record_heads[i], a, b);
	}
}

static void check_place(const char *path)
{
	char *target = file_target(path), *new;
	struct stat st;
	int fd;

	if (!*path || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		die("'%s' is not a regular file", path);
	fd = file_beside(target, &new);
	if (fd < 0)
		die("%s cannot be written: %s", path, strerror(errno));
	close(fd);
	unlink(new);
	free(new);
	free(target);
}

static void begin_records(void)
{
	char *problem = opt.diff ? record_read(opt.diff, &then) : NULL;

	if (problem)
		die("%s cannot be used: %s", opt.diff, problem);
	if (opt.diff && !opt.command && !opt.interval)
		parse_seconds(then.head[HEAD_INTERVAL], &opt.interval);
	set_heads();
	if (opt.diff)
		check_heads();
	/* It would be a pity to know this only after minutes. */
	if (opt.save)
		check_place(opt.save);
}

/* Counting */

static struct counts last;
static uint64_t last_time;
static bool reported;

/* Reads the counters, and returns the calls since the last time. */
static struct counts read_difference(void)
{
	uint64_t time = clock_ns(CLOCK_MONOTONIC);
	struct counts now, difference;

	counts_init(&now, last.nr_cpus);
	counts_init(&difference, last.nr_cpus);
	opt.report.time = clock_ns(CLOCK_REALTIME);
	opt.report.ns = time - last_time;
	opt.counter->read(&now);
	if (!counts_subtract(&now, &last, &difference))
		die("the counts have become smaller: somebody else has set them to zero");
	counts_free(&last);
	last = now;
	last_time = time;
	return difference;
}

static char *format_report(struct counts *c, size_t *len)
{
	struct counts modules;
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		die("out of memory");
	if (opt.report.by_module) {
		counts_init(&modules, c->nr_cpus);
		counts_by_module(c, &modules);
		counts_free(c);
		*c = modules;
	}
	counts_sort(c);
	if (reported && !opt.json)
		fputc('\n', f);
	if (opt.json)
		report_json(f, &opt.report, c);
	else
		report_text(f, &opt.report, c);
	if (fclose(f))
		die("out of memory");
	reported = true;
	return text;
}

/* A table that a signal has kept from being written is not lost: it is written at the end. */
static char *unwritten;

static void output_error(void)
{
	/* Readers such as head(1) go away when they have enough. */
	if (errno == EPIPE)
		exit(error_status);
	die("cannot write: %s", strerror(errno));
}

static void report(struct counts c)
{
	size_t len, done;
	char *text = format_report(&c, &len);

	counts_free(&c);
	done = signals_write(STDOUT_FILENO, text, len);
	if (done < len) {
		if (errno != EINTR)
			output_error();
		unwritten = format_string("%s", text + done);
	}
	free(text);
}

static void write_rest(const char *text)
{
	while (text && *text) {
		ssize_t n = write(STDOUT_FILENO, text, strlen(text));

		if (n < 0 && errno != EINTR)
			output_error();
		text += n > 0 ? n : 0;
	}
}

static void progress(uint64_t begin, uint64_t end)
{
	uint64_t elapsed = (clock_ns(CLOCK_MONOTONIC) - begin) / NSEC;

	if (!elapsed)
		return;
	if (end != UINT64_MAX)
		fprintf(stderr, "\r%llu of %llu s ", (unsigned long long)elapsed,
			(unsigned long long)((end - begin) / NSEC));
	else
		fprintf(stderr, "\r%llu s ", (unsigned long long)elapsed);
}

static bool is_over(void)
{
	return signal_came || (opt.command && command_ended());
}

/* Waits for a time, unless all is over before. */
static void wait_until(uint64_t until, uint64_t begin, uint64_t end)
{
	bool terminal = isatty(STDERR_FILENO);

	while (!is_over()) {
		uint64_t second = clock_ns(CLOCK_MONOTONIC) + NSEC;

		if (terminal)
			progress(begin, end);
		if (signals_wait(terminal && second < until ? second : until) &&
		    clock_ns(CLOCK_MONOTONIC) >= until)
			break;
	}
	if (terminal)
		fputs("\r\033[K", stderr);
}

/* What takes longer than an interval lengthens only that interval. */
static uint64_t next_interval(uint64_t last, uint64_t interval)
{
	return last + ((clock_ns(CLOCK_MONOTONIC) - last) / interval + 1) * interval;
}

/* Writes tables until the end is near: the last one is left to the caller. */
static void count(uint64_t begin, uint64_t end)
{
	uint64_t next = opt.interval ? begin + opt.interval : end;

	while (1) {
		wait_until(next < end ? next : end, begin, end);
		if (is_over() || clock_ns(CLOCK_MONOTONIC) >= end)
			return;
		report(read_difference());
		next = next_interval(next, opt.interval);
	}
}

/* Whether there are as many samples as are wanted. */
static bool is_enough(uint64_t end)
{
	if (now.nr < LEAST_SAMPLES)
		return false;
	return opt.duration ? clock_ns(CLOCK_MONOTONIC) >= end :
			      opt.diff && record_runs(&now) >= record_runs(&then);
}

static void sample_intervals(uint64_t begin, uint64_t end)
{
	uint64_t interval, next = begin;
	struct counts c;

	parse_seconds(now.head[HEAD_INTERVAL], &interval);
	while (!is_enough(end)) {
		next = next_interval(next, interval);
		wait_until(next, begin, end);
		if (is_over())
			return;
		c = read_difference();
		record_add(&now, &c, opt.report.ns);
		counts_free(&c);
	}
}

/* The process of the first run is there. It warms the caches up, and does not count. */
static void sample_runs(uint64_t begin, uint64_t end)
{
	struct counts c;
	int status;

	for (bool warm = false; !warm || !is_enough(end); warm = true) {
		if (warm) {
			pid_t pid = command_make(opt.command, COMMAND_QUIET | COMMAND_AGAIN);

			if (opt.follow)
				opt.counter->follow(pid);
		}
		c = read_difference();
		counts_free(&c);
		command_go();
		wait_until(UINT64_MAX, begin, end);
		c = read_difference();
		status = command_status();
		/* A signal that the command has had, too, may still be held back. */
		signals_wait(clock_ns(CLOCK_MONOTONIC) + NSEC / 1000);
		if (signal_came)
			return;
		if (status)
			die("%s has failed: its status is %d", *opt.command, status);
		if (warm)
			record_add(&now, &c, opt.report.ns);
		counts_free(&c);
	}
}

static void say_differences(const struct comparison *c)
{
	const char *pace = record_has_times(&now) ? "the time of all calls" :
			   opt.command ? "the time of a run" : "the number of all calls";

	if (fabs(c->pace) > LEAST_CHANGE)
		warn("%s has changed by %+.1f %%, which is no difference of a function", pace,
		     100 * c->pace);
	warn("%zu of %zu functions differ; a change by %.0f %% would be found in %zu", c->nr,
	     c->nr_functions, 100 * SHARP_CHANGE, c->nr_sharp);
}

/* Returns the exit status. */
static int report_record(void)
{
	struct comparison c = { };
	int err = 0;

	if (now.nr < LEAST_SAMPLES)
		die("there are only %zu samples; at least %d are needed", now.nr, LEAST_SAMPLES);
	if (opt.diff) {
		c = compare(&then, &now);
		report_differences(stdout, &c);
		err = fflush(stdout) ? errno : 0;
		say_differences(&c);
	}
	/* If one of the two cannot be written, the other one is. */
	if (opt.save)
		record_write(opt.save, &now);
	errno = err;
	if (err)
		output_error();
	return c.nr ? STATUS_DIFFERENT : 0;
}

static void say_begin(size_t nr)
{
	fprintf(stderr, "Tracing %zu function%s", nr, nr == 1 ? "" : "s");
	for (size_t i = 0; i < opt.wanted.nr_globs; i++)
		fprintf(stderr, "%s\"%s\"", i ? ", " : " for ", opt.wanted.glob[i]);
	fprintf(stderr, "... Hit Ctrl-C to end.\n");
}

int main(int argc, char **argv)
{
	uint64_t begin, end = UINT64_MAX;
	struct counts difference;
	size_t nr, len;
	char *text;

	standard_open();
	take_command_line(argc, argv);
	signals_hold();
	tracing_open();
	find_counter();
	find_cpus();
	if (opt.sampling)
		begin_records();
	if (opt.command) {
		pid_t pid = command_make(opt.command,
					 opt.sampling ? COMMAND_QUIET | COMMAND_AGAIN : 0);

		if (opt.follow)
			add_pid(pid);
	}
	nr = opt.counter->prepare(&opt.wanted);
	if (opt.wanted.latency)
		counts_init(&last, LATENCY_COLUMNS);
	else if (opt.wanted.times)
		counts_init(&last, TIME_COLUMNS);
	else
		counts_init(&last, opt.wanted.per_cpu ? opt.wanted.nr_cpus : 0);
	opt.counter->start();
	begin = clock_ns(CLOCK_MONOTONIC);
	last_time = begin;
	say_begin(nr);
	if (opt.duration)
		end = begin + opt.duration;
	if (opt.sampling) {
		if (opt.command)
			sample_runs(begin, end);
		else
			sample_intervals(begin, end);
		opt.counter->stop();
		opt.counter->end();
		signals_release();
		return report_record();
	}
	if (opt.command)
		command_go();
	count(begin, end);
	opt.counter->stop();
	difference = read_difference();
	opt.counter->end();
	signals_release();
	text = format_report(&difference, &len);
	write_rest(unwritten);
	write_rest(text);
	return opt.command ? command_status() : 0;
}
