// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace-export - write a trace in the formats of viewers
 *
 * This file has the command line, and the order of things.
 *
 * Floors, each of which calls those below it:
 *	ftrace-export.c
 *	decode.c, calls.c	the events, taken apart and put together
 *	perfetto.c, folded.c, firefox.c	the formats, which decode.c calls by format.h only
 *	stacks.c, tasks.c, names.c	tables
 *	source.c		the libraries that read events
 *	output.c
 *	../lib
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "decode.h"
#include "format.h"
#include "output.h"
#include "source.h"
#include "util.h"

const char * const program_name = "ftrace-export";

static struct {
	const struct format *format;
	const char *output;
	const char *buffer;
	bool running;
	const char *file;
} opt = { .format = &perfetto_format, .file = "trace.dat" };

static const char help[] =
"Usage: ftrace-export [OPTION]... [FILE]\n"
"       ftrace-export [OPTION]... --running\n"
"Writes a trace in a format that a viewer reads. FILE is one of trace-cmd(1), and\n"
"trace.dat if none is named.\n"
"\n"
"  -f, --format=FORMAT  perfetto, for ui.perfetto.dev: this is the default\n"
"                       folded, for flame graphs of function_graph's calls\n"
"                       firefox, for profiler.firefox.com\n"
"  -o, --output=FILE    write to FILE, which appears when all is written\n"
"  -b, --buffer=NAME    read the buffer of this instance, not the top one\n"
"  -r, --running        read the buffers of the running kernel, and so empty them\n"
"  -V, --version        write the version, and end\n"
"  -h, --help           write this, and end\n"
"\n"
"The man page ftrace-export(1) says what becomes of which event.\n";

static const struct option options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "output", required_argument, NULL, 'o' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "running", no_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void take_format(const char *name)
{
	static const struct format * const formats[] = {
		&perfetto_format, &folded_format, &firefox_format,
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i]->name, name)) {
			opt.format = formats[i];
			return;
		}
	}
	usage_error("--format: '%s' is not perfetto, folded or firefox", name);
}

static void take_option(int c)
{
	switch (c) {
	case 'f':
		take_format(optarg);
		break;
	case 'o':
		opt.output = optarg;
		break;
	case 'b':
		opt.buffer = optarg;
		break;
	case 'r':
		opt.running = true;
		break;
	default:
		common_option(c, help);
	}
}

static void take_command_line(int argc, char **argv)
{
	int c;

	argv[0] = (char *)program_name;
	while ((c = getopt_long(argc, argv, "f:o:b:rVh", options, NULL)) != -1)
		take_option(c);
	if (optind + 1 < argc)
		usage_error("'%s' is one file too many", argv[optind + 1]);
	if (opt.running && optind < argc)
		usage_error("--running and a file cannot be combined");
	if (optind < argc)
		opt.file = argv[optind];
	if (!opt.output && opt.format->binary && isatty(STDOUT_FILENO))
		usage_error("a terminal cannot show the format %s: --output names a file",
			    opt.format->name);
}

/* Whether times are nanoseconds, as far as that is known. */
static bool check_clock(void)
{
	static const char * const others[] = {
		"counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod",
	};
	const char *clock = source_clock();

	for (size_t i = 0; clock && i < ARRAY_SIZE(others); i++) {
		if (strcmp(clock, others[i]))
			continue;
		warn("the clock %s may not count nanoseconds: a tick is written as one", clock);
		return false;
	}
	return true;
}

static void say_losses(void)
{
	bool unknown;
	uint64_t lost = decode_lost(&unknown);

	if (unknown)
		warn("events are missing, it is not known how many, and %llu more",
		     (unsigned long long)lost);
	else if (lost)
		warn("%llu events are missing", (unsigned long long)lost);
	if (calls_unseen())
		warn("of %llu calls, no return was recorded: a later event shows the end",
		     (unsigned long long)calls_unseen());
	if (calls_lone_returns())
		warn("%llu returns were recorded without their calls",
		     (unsigned long long)calls_lone_returns());
}

int main(int argc, char **argv)
{
	standard_open();
	take_command_line(argc, argv);
	if (opt.running)
		source_running(opt.buffer);
	else
		source_file(opt.file, opt.buffer);
	output_open(opt.output);
	calls_begin(opt.format, check_clock());
	decode_begin(source_tep(), opt.format);
	if (opt.format->begin)
		opt.format->begin(source_release(), source_machine());
	if (!source_read(decode_record))
		warn("%s: there are no events", source_name());
	decode_end();
	output_close();
	say_losses();
	return 0;
}
