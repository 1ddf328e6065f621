// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace-overhead bisect: the functions whose tracing makes a test fail.
 *
 * This file has the options and the order of things. Functions are traced in an instance of
 * our own, so nothing that others have set changes, and a keeper removes it (see keeper.c).
 *
 * Floors, each of which calls those below it:
 *	bisect.c
 *	bisect-search.c		which set is next
 *	bisect-run.c		whether the test fails
 *	bisect-state.c		the state that survives a crash
 *	functions.c		the functions, and how a set of them is traced
 *	../lib
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bisect.h"
#include "bisect-search.h"
#include "bisect-state.h"
#include "instance.h"
#include "keeper.h"
#include "parse.h"
#include "signals.h"
#include "util.h"

#define DEFAULT_STATE	"ftrace-overhead.bisect"
#define JSON_VERSION	1

enum {
	STATUS_NOTHING_FOUND	= 3,
};

static struct {
	struct plan plan;
	struct globs with;
	struct globs without;
	const char *state;
	size_t most;
	bool resume;
	bool json;
	/* Something was given that the state file has. */
	bool has_plan;
} opt = {
	.plan = { .tracer = "function", .test = { .repeat = 1 } },
	.state = DEFAULT_STATE,
	.most = 16,
};

static const char help[] =
"Usage: ftrace-overhead bisect [OPTION]... -- TEST [ARGUMENT]...\n"
"       ftrace-overhead bisect --resume [OPTION]...\n"
"Finds the function whose tracing makes TEST fail, or the smallest set of functions.\n"
"TEST is a command. It fails if its exit status is not 0, or as the options say.\n"
"\n"
"  -f, --functions=GLOB    look among these functions only, not among all; may be repeated\n"
"  -n, --notrace=GLOB      leave these functions out; may be repeated\n"
"  -t, --tracer=NAME       trace with function (this is the default) or function_graph\n"
"  -T, --timeout=SECONDS   TEST fails if it takes longer, and is ended then\n"
"  -S, --slower=FACTOR     TEST fails if it takes FACTOR times as long as without tracing\n"
"  -r, --repeat=N          TEST passes only if it passes N times in a row\n"
"  -m, --most=N            give up when more than N functions are needed together (16)\n"
"  -s, --state=FILE        keep in FILE what is known (ftrace-overhead.bisect)\n"
"  -R, --resume            go on with what is in that file, after a crash or Ctrl-C\n"
"  -j, --json              write the result as a line of JSON\n"
"  -v, --verbose           show what TEST writes\n"
"  -V, --version           write the version, and end\n"
"  -h, --help              write this, and end\n"
"\n"
"The man page ftrace-overhead-bisect(1) has more, also what the exit status says.\n";

static const struct option options[] = {
	{ "functions", required_argument, NULL, 'f' },
	{ "notrace", required_argument, NULL, 'n' },
	{ "tracer", required_argument, NULL, 't' },
	{ "timeout", required_argument, NULL, 'T' },
	{ "slower", required_argument, NULL, 'S' },
	{ "repeat", required_argument, NULL, 'r' },
	{ "most", required_argument, NULL, 'm' },
	{ "state", required_argument, NULL, 's' },
	{ "resume", no_argument, NULL, 'R' },
	{ "json", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* The command line */

static void add_glob(struct globs *globs, char *glob)
{
	const char *problem = glob_problem(glob);

	if (problem)
		usage_error("'%s' is not a glob of functions: %s", glob, problem);
	globs->glob = grow(globs->glob, globs->nr + 1, sizeof(*globs->glob));
	globs->glob[globs->nr++] = glob;
}

static uint64_t take_factor(const char *text)
{
	uint64_t factor;

	/* Both have decimals. */
	if (!parse_seconds(text, &factor) || factor <= NSEC)
		usage_error("--slower: '%s' is not a number above 1", text);
	return factor;
}

static char *take_tracer(char *name)
{
	if (strcmp(name, "function") && strcmp(name, "function_graph"))
		usage_error("--tracer: '%s' is neither function nor function_graph", name);
	return name;
}

/* The options in the state file; returns false if the option is not one of them. */
static bool take_plan_option(int c)
{
	struct test *test = &opt.plan.test;

	switch (c) {
	case 'f':
		add_glob(&opt.with, optarg);
		break;
	case 'n':
		add_glob(&opt.without, optarg);
		break;
	case 't':
		opt.plan.tracer = take_tracer(optarg);
		break;
	case 'T':
		test->timeout = option_seconds("timeout", optarg);
		break;
	case 'S':
		test->slower = take_factor(optarg);
		break;
	case 'r':
		test->repeat = option_number("repeat", optarg);
		break;
	default:
		return false;
	}
	opt.has_plan = true;
	return true;
}

static void take_option(int c)
{
	switch (c) {
	case 'm':
		opt.most = option_number("most", optarg);
		break;
	case 's':
		opt.state = optarg;
		break;
	case 'R':
		opt.resume = true;
		break;
	case 'j':
		opt.json = true;
		break;
	case 'v':
		opt.plan.test.verbose = true;
		break;
	default:
		common_option(c, help);
	}
}

static void take_command_line(int argc, char **argv)
{
	int i, c;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		;
	argv[0] = (char *)program_name;
	while ((c = getopt_long(i, argv, "f:n:t:T:S:r:m:s:RjvVh", options, NULL)) != -1) {
		if (!take_plan_option(c))
			take_option(c);
	}
	if (optind < i)
		usage_error("'%s' is not an option; TEST follows after '--'", argv[optind]);
	if (opt.resume && (opt.has_plan || i < argc))
		usage_error("--resume takes TEST, and what is traced, from the file of the state");
	if (!opt.resume && i + 1 >= argc)
		usage_error("there is no TEST, after '--'");
	if (!opt.resume)
		opt.plan.test.command = argv + i + 1;
}

/* The state that is kept */

static struct tracefs_instance *instance;
static struct history history;
static uint64_t begin, untraced, runs;
/* Whether anything is known that is worth keeping. */
static bool worth_keeping;

static void keep_state(void)
{
	if (!worth_keeping) {
		state_remove();
		return;
	}
	state_close();
	fprintf(stderr, "What is known so far is in %s.\nTo go on: %s bisect --resume", opt.state,
		program_name);
	fprintf(stderr, strcmp(opt.state, DEFAULT_STATE) ? " --state %s\n" : "\n", opt.state);
}

static char *boot_identity(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char *line = NULL;
	size_t size = 0;

	if (!f || getline(&line, &size, f) < 2)
		die("/proc/sys/kernel/random/boot_id cannot be read: is /proc mounted?");
	line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return line;
}

static void refuse_if_begun(void)
{
	bool there = !access(opt.state, F_OK);

	if (there && !opt.resume)
		die("%s is there, from a bisection that has not ended: use --resume, or remove it",
		    opt.state);
	if (!there && opt.resume)
		die("there is nothing to go on with: %s: %s", opt.state, strerror(errno));
}

static void resume(const char *boot)
{
	struct utsname now;
	const char *problem;

	opt.plan.tracer = NULL;
	problem = state_load(opt.state, &opt.plan, &history, boot);
	if (problem)
		die("%s cannot be used: %s; remove it, and begin anew", opt.state, problem);
	worth_keeping = true;
	uname(&now);
	if (strcmp(now.release, opt.plan.release))
		die("%s is of the kernel %s, and this is %s: boot that one, or remove the file",
		    opt.state, opt.plan.release, now.release);
	fprintf(stderr, "Resumed after %zu sets%s.\n", history.nr,
		history.crashes ? "; the last one has crashed the machine" : "");
}

static void prepare(void)
{
	struct plan *plan = &opt.plan;
	char *boot = boot_identity();
	struct utsname now;

	if (opt.resume) {
		resume(boot);
	} else {
		uname(&now);
		plan->release = copy_string(now.release);
		functions_read(&plan->functions);
		functions_choose(&plan->functions, &opt.with, &opt.without);
		state_create(opt.state, plan, boot);
	}
	atexit(keep_state);
	free(boot);
	if (!tracefs_tracer_available(tracefs_tracing_dir(), plan->tracer))
		die("this kernel has no tracer %s", plan->tracer);
}

/* Trying */

/* As people write it: 22,163. */
static char *number_text(size_t n)
{
	char *rest, *text;

	if (n < 1000)
		return format_string("%zu", n);
	rest = number_text(n / 1000);
	text = format_string("%s,%03zu", rest, n % 1000);
	free(rest);
	return text;
}

static void say_set(const struct bisect_search *search, size_t nr, const char *what)
{
	char *number = number_text(nr);
	int width = search->about < 100 ? 2 : 3;

	fprintf(stderr, "[%*u of about %*u] %s function%s: %s", width, search->steps, width,
		search->about, nr ? number : "no", nr == 1 ? "" : "s", what);
	free(number);
}

static void say_outcome(const struct bisect_search *search, size_t nr, const struct outcome *o)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	say_set(search, nr, o->fails ? "fails: " : "passes");
	fprintf(stderr, "%s (%" PRIu64 ".%02u s)\n", o->fails ? o->why : "",
		(uint64_t)(o->shortest / NSEC), (unsigned int)(o->shortest % NSEC / (NSEC / 100)));
}

static void stopped(void)
{
	if (isatty(STDERR_FILENO))
		fputc('\n', stderr);
	exit(STATUS_SIGNAL + signal_came);
}

static void try_set(struct bisect_search *search, const unsigned int *set, size_t nr,
		    struct outcome *o)
{
	bool done;

	if (isatty(STDERR_FILENO))
		say_set(search, nr, "");
	state_begin();
	if (nr) {
		functions_trace(instance, &opt.plan.functions, set, nr);
		file_set(instance, "current_tracer", opt.plan.tracer);
	}
	done = test_run(&opt.plan.test, untraced, o);
	file_set(instance, "current_tracer", "nop");
	if (!done)
		stopped();
	state_end(o);
	say_outcome(search, nr, o);
}

static bool fails(struct bisect_search *search, const unsigned int *set, size_t nr)
{
	struct outcome o;

	if (search->steps <= history.nr) {
		o = history.outcome[search->steps - 1];
	} else {
		try_set(search, set, nr, &o);
		worth_keeping |= nr;
	}
	if (search->steps == 1)
		untraced = o.shortest;
	runs += o.runs;
	return o.fails;
}

/* The result */

static void write_json(const struct bisect_search *search)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC) - begin;

	printf("{\"version\":%d,\"tracer\":\"%s\",\"functions\":%zu,\"sets\":%u,\"runs\":%" PRIu64,
	       JSON_VERSION, opt.plan.tracer, search->nr, search->steps, runs);
	printf(",\"seconds\":%" PRIu64 ".%09u,\"set\":[", (uint64_t)(ns / NSEC),
	       (unsigned int)(ns % NSEC));
	for (size_t i = 0; i < search->nr_found; i++) {
		const struct function *f = &opt.plan.functions.function[search->found[i]];

		/* The kernel's names need no quoting. */
		printf("%s{\"function\":\"%s\",\"module\":", i ? "," : "", f->name);
		printf(f->module ? "\"%s\"}" : "null}", f->module);
	}
	printf("],\"notrace_passes\":%s}\n",
	       !search->nr_found ? "null" : search->rest_passes ? "true" : "false");
}

static void write_text(const struct bisect_search *search)
{
	char *functions = number_text(search->nr);
	bool one = search->nr_found == 1;

	if (one)
		printf("TEST fails while this function is traced:\n");
	else
		printf("TEST fails while these %zu functions are traced together:\n",
		       search->nr_found);
	for (size_t i = 0; i < search->nr_found; i++) {
		const struct function *f = &opt.plan.functions.function[search->found[i]];

		printf(f->module ? "\t%s [%s]\n" : "\t%s\n", f->name, f->module);
	}
	printf("Found among %s functions: %u sets were tried, in %" PRIu64 " runs of TEST.\n",
	       functions, search->steps, runs);
	if (!one)
		printf("With any one of them left out, TEST passes.\n");
	if (search->rest_passes)
		printf("With all others traced TEST passes. To leave %s out of tracing:\n",
		       one ? "it" : "them");
	else
		printf("With all others traced TEST still fails: there is another culprit.\n"
		       "To find it, begin again with these left out:\n\t");
	for (size_t i = 0; i < search->nr_found; i++) {
		const char *name = opt.plan.functions.function[search->found[i]].name;

		if (search->rest_passes)
			printf("\techo '%s' >> %s/set_ftrace_notrace\n", name,
			       tracefs_tracing_dir());
		else
			printf("--notrace='%s' ", name);
	}
	if (!search->rest_passes)
		putchar('\n');
	free(functions);
}

static void write_result(const struct bisect_search *search)
{
	if (opt.json)
		write_json(search);
	else if (search->nr_found)
		write_text(search);
	else
		printf("TEST passes with everything traced: there is nothing to be found.\n");
	/* A result that could not be written is found again with the state. */
	if (fflush(stdout))
		die("cannot write: %s", strerror(errno));
	state_remove();
}

static int find(void)
{
	struct bisect_search search = {
		.nr = opt.plan.functions.nr, .most = opt.most, .fails = fails,
	};

	switch (bisect_search(&search)) {
	case BISECT_FAILS_ALWAYS:
		worth_keeping = false;
		die("TEST fails without tracing, too: it has to pass then");
	case BISECT_TOO_MANY:
		die("more than %zu functions are needed together; --most allows for more, and %s",
		    opt.most, "a cost that many functions share is not found like this");
	case BISECT_PASSES:
		write_result(&search);
		return STATUS_NOTHING_FOUND;
	default:
		write_result(&search);
		return 0;
	}
}

/**
 * bisect - the program, if its first word is bisect
 * @argc: how many words there are
 * @argv: the words, bisect being the first
 *
 * Returns: the exit status.
 */
int bisect(int argc, char **argv)
{
	int status;

	program_mode = "bisect";
	take_command_line(argc, argv);
	signals_hold();
	tracing_open();
	refuse_if_begun();
	instance = instance_make(NULL);
	keeper_start(instance_remove);
	begin = clock_ns(CLOCK_MONOTONIC);
	prepare();
	status = find();
	worth_keeping = false;
	return status;
}
