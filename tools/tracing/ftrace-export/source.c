// SPDX-License-Identifier: GPL-2.0
/*
 * Where events come from. Those of each CPU are in the order of their times; a heap of the next
 * one of each CPU puts all in order, so that no more than one event of each CPU is in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <trace-cmd/trace-cmd.h>
#include <traceevent/event-utils.h>
#include <traceevent/kbuffer.h>
#include <tracefs.h>

#include "cpus.h"
#include "instance.h"
#include "output.h"
#include "source.h"
#include "util.h"

/*
 * The library exports these two, and its header does not have them. Without them the clock is
 * taken to count nanoseconds, and the kernel is not known.
 */
const char *tracecmd_get_trace_clock(struct tracecmd_input *handle) __attribute__((weak));
const char *tracecmd_get_uname(struct tracecmd_input *handle) __attribute__((weak));
unsigned long tracecmd_page_size(struct tracecmd_input *handle) __attribute__((weak));
/* After a CPU's last event: a place in its last page, or in the file if a page cannot be read. */
unsigned long long tracecmd_get_cursor(struct tracecmd_input *handle, int cpu)
	__attribute__((weak));
unsigned long long tracecmd_get_cpu_file_size(struct tracecmd_input *handle, int cpu)
	__attribute__((weak));

/* A CPU of the running kernel. */
struct running {
	struct tracefs_cpu *file;
	struct kbuffer *kbuffer;
	void *data;
	struct tep_record record;
	/* How many of its events are to be read. */
	uint64_t left;
};

static struct {
	const char *name;
	struct tep_handle *tep;
	char *clock;
	char *release, *machine;
	/* Of a file. */
	struct tracecmd_input *input;
	/* Of the running kernel. */
	struct tracefs_instance *instance;
	struct running *running;

	unsigned int *cpus, nr_cpus;
	struct tep_record **heap;
	unsigned int nr_heap;
	volatile sig_atomic_t reading;
	uint64_t events;
} source;

/* The last message of the libraries that tells of a problem: where they fail, it is the reason. */

static char library_said[200];

/**
 * tep_vprint - messages of the libraries, in place of their own function
 * @name: the library
 * @level: how important it is
 * @print_err: whether errno says more
 * @fmt: the message
 * @ap: its arguments
 *
 * Returns: errno.
 */
int tep_vprint(const char *name, enum tep_loglevel level, bool print_err, const char *fmt,
	       va_list ap)
{
	int err = errno;
	size_t len;

	(void)name;
	if (level > TEP_LOG_WARNING)
		return err;
	vsnprintf(library_said, sizeof(library_said), fmt, ap);
	len = strlen(library_said);
	while (len && (library_said[len - 1] == '\n' || library_said[len - 1] == ' '))
		library_said[--len] = '\0';
	if (print_err && err)
		snprintf(library_said + len, sizeof(library_said) - len, ": %s", strerror(err));
	return err;
}

/*
 * A file may be made so that the library reads where nothing is, or become shorter while it is
 * read. There is no way back then; the message says where that was.
 */
static void fault(int sig)
{
	static const char text[] = ": it cannot be read on after event ";
	char digits[21], *p = digits + sizeof(digits);
	uint64_t n = source.events;
	ssize_t ignored;

	*--p = '\n';
	do {
		*--p = '0' + n % 10;
	} while (n /= 10);
	output_remove();
	if (!source.reading) {
		signal(sig, SIG_DFL);
		raise(sig);
		/* It is held back until then. */
		return;
	}
	ignored = write(STDERR_FILENO, source.name, strlen(source.name));
	ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	ignored = write(STDERR_FILENO, p, digits + sizeof(digits) - p);
	(void)ignored;
	_exit(STATUS_ERROR);
}

static void begin_reading(const char *name)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGTRAP };
	/* The fault may be that there is no more of the other one. */
	static char stack[1 << 16];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = fault, .sa_flags = SA_ONSTACK };

	source.name = name;
	sigaltstack(&other, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigaction(faults[i], &action, NULL);
	source.reading = 1;
}

/* Files */

static void __attribute__((noreturn)) bad_file(int fd)
{
	struct stat st;
	off_t at = lseek(fd, 0, SEEK_CUR);

	fstat(fd, &st);
	die("%s: byte %lld of %lld: this is no trace of trace-cmd, or it is damaged or cut off%s%s",
	    source.name, (long long)at, (long long)st.st_size, *library_said ? ": " : "",
	    library_said);
}

/* "Linux HOST RELEASE VERSION... MACHINE" */
static void take_uname(const char *uname)
{
	char machine[64], release[64];
	const char *last = uname ? strrchr(uname, ' ') : NULL;

	if (!last || sscanf(uname, "%*s %*s %63s", release) != 1 ||
	    sscanf(last, "%63s", machine) != 1)
		return;
	source.release = copy_string(release);
	source.machine = copy_string(machine);
}

/* "[local] global counter": the one in brackets; or only its name. */
static void take_clock(const char *clocks)
{
	const char *begin = clocks ? strchr(clocks, '[') : NULL;

	if (begin)
		source.clock = strndup(begin + 1, strcspn(begin + 1, "]"));
	else if (clocks)
		source.clock = strndup(clocks, strcspn(clocks, "\n "));
}

static void choose_buffer(struct tracecmd_input *top, const char *buffer)
{
	int nr = tracecmd_buffer_instances(top);

	source.input = top;
	for (int i = 0; buffer && i < nr; i++) {
		const char *name = tracecmd_buffer_instance_name(top, i);

		if (name && !strcmp(name, buffer)) {
			source.input = tracecmd_buffer_instance_handle(top, i);
			return;
		}
	}
	if (buffer)
		die("%s has no buffer '%s'", source.name, buffer);
	if (nr)
		warn("%s has buffers of instances, too: --buffer exports one, as '%s'", source.name,
		     tracecmd_buffer_instance_name(top, 0));
}

/**
 * source_file - take the events from a file
 * @path: the file
 * @buffer: the instance whose buffer it is; NULL for the top one
 *
 * Ends the program if the file cannot be used.
 */
void source_file(const char *path, const char *buffer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), copy;
	struct stat st;
	struct tracecmd_input *input;

	begin_reading(path);
	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		die("%s: this is not a regular file", path);
	/* The library closes its own, and both have one position. */
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	input = tracecmd_open_fd(copy, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!input)
		bad_file(fd);
	close(fd);
	choose_buffer(input, buffer);
	source.tep = tracecmd_get_tep(source.input);
	if (tracecmd_get_trace_clock)
		take_clock(tracecmd_get_trace_clock(source.input));
	if (tracecmd_get_uname)
		take_uname(tracecmd_get_uname(input));
	source.nr_cpus = tep_get_cpus(source.tep);
	source.cpus = alloc(source.nr_cpus, sizeof(*source.cpus));
	for (unsigned int i = 0; i < source.nr_cpus; i++)
		source.cpus[i] = i;
}

/* The running kernel */

static void take_symbols(void)
{
	char *text;
	int fd;

	if (tep_get_function_count(source.tep))
		return;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	text = file_take(fd, "/proc/kallsyms");
	if (tep_parse_kallsyms(source.tep, text))
		die("/proc/kallsyms: the names of functions cannot be taken from it");
	free(text);
}

static void take_printks(void)
{
	int fd = file_open(NULL, "printk_formats");
	char *text;

	if (fd < 0)
		return;
	text = file_take(fd, "printk_formats");
	tep_parse_printk_formats(source.tep, text);
	free(text);
}

static uint64_t entries_of(unsigned int cpu)
{
	char *file = format_string("per_cpu/cpu%u/stats", cpu);
	char *text = file_read(source.instance, file);
	const char *entries = strstr(text, "entries:");
	unsigned long long n = 0;

	if (!entries || sscanf(entries, "entries: %llu", &n) != 1)
		die("%s does not say how many entries there are", file);
	free(text);
	free(file);
	return n;
}

static void open_cpu(struct running *r, unsigned int cpu)
{
	r->left = entries_of(cpu);
	if (!r->left)
		return;
	r->file = tracefs_cpu_open(source.instance, cpu, true);
	if (!r->file)
		die("per_cpu/cpu%u/trace_pipe_raw cannot be opened: %s", cpu, strerror(errno));
	r->kbuffer = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!r->kbuffer)
		die("out of memory");
	if (tep_is_old_format(source.tep))
		kbuffer_set_old_format(r->kbuffer);
	r->data = alloc(tracefs_cpu_read_size(r->file), 1);
}

/**
 * source_running - take the events from the running kernel, which then has them no more
 * @buffer: the instance; NULL for the top one
 *
 * Ends the program if that cannot be.
 */
void source_running(const char *buffer)
{
	struct utsname kernel;

	tracing_open();
	begin_reading(buffer ? buffer : tracefs_tracing_dir());
	if (buffer && !tracefs_instance_exists(buffer))
		die("there is no instance '%s'", buffer);
	if (buffer)
		source.instance = tracefs_instance_alloc(NULL, buffer);
	source.tep = tracefs_local_events(NULL);
	if (!source.tep || (buffer && !source.instance))
		die("the formats of the events cannot be read: %s", strerror(errno));
	tracefs_load_cmdlines(NULL, source.tep);
	take_symbols();
	take_printks();
	source.clock = tracefs_get_clock(source.instance);
	if (!uname(&kernel)) {
		source.release = copy_string(kernel.release);
		source.machine = copy_string(kernel.machine);
	}
	source.cpus = cpus_read(CPUS_POSSIBLE, &source.nr_cpus);
	source.running = alloc(source.nr_cpus, sizeof(*source.running));
	for (unsigned int i = 0; i < source.nr_cpus; i++)
		open_cpu(&source.running[i], source.cpus[i]);
}

/* The next page of a CPU; false after the last one. */
static bool next_page(struct running *r)
{
	int n = tracefs_cpu_read(r->file, r->data, true);

	if (n <= 0)
		return false;
	if (kbuffer_load_subbuffer(r->kbuffer, r->data))
		die("%s: the kernel's buffer cannot be read on after event %llu", source.name,
		    (unsigned long long)source.events);
	return true;
}

static struct tep_record *next_running(struct running *r, unsigned int cpu)
{
	unsigned long long ts = 0;
	void *data;

	if (!r->left)
		return NULL;
	data = r->record.data ? kbuffer_next_event(r->kbuffer, &ts) : NULL;
	while (!data && next_page(r))
		data = kbuffer_read_event(r->kbuffer, &ts);
	r->left = data ? r->left - 1 : 0;
	r->record = (struct tep_record) {
		.ts = ts, .data = data, .cpu = cpu, .size = kbuffer_event_size(r->kbuffer),
		.missed_events = kbuffer_missed_events(r->kbuffer),
	};
	return data ? &r->record : NULL;
}

/* All of them, in order */

static void bad_event(const struct tep_record *r, const char *problem)
{
	if (source.input)
		die("%s: event %llu, of CPU %d, byte %llu: %s", source.name,
		    (unsigned long long)source.events, r->cpu, (unsigned long long)r->offset,
		    problem);
	die("%s: event %llu, of CPU %d: %s", source.name, (unsigned long long)source.events,
	    r->cpu, problem);
}

/* A part that cannot be decompressed ends a CPU's events without a word. */
static bool has_broken_off(unsigned int i)
{
	return tracecmd_get_cursor && tracecmd_page_size && tracecmd_get_cpu_file_size &&
	       tracecmd_get_cpu_file_size(source.input, i) &&
	       tracecmd_get_cursor(source.input, i) > tracecmd_page_size(source.input);
}

static struct tep_record *next_of(unsigned int i)
{
	struct tep_record *r;

	if (source.running)
		return next_running(&source.running[i], source.cpus[i]);
	/* A message on the format of an event is no reason to stop: this is. */
	*library_said = '\0';
	r = tracecmd_read_data(source.input, i);
	if (*library_said)
		die("%s: CPU %u, after event %llu: %s", source.name, i,
		    (unsigned long long)source.events, library_said);
	if (!r && has_broken_off(i))
		die("%s: CPU %u, after event %llu: the rest cannot be read", source.name, i,
		    (unsigned long long)source.events);
	return r;
}

static bool before(const struct tep_record *a, const struct tep_record *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->cpu < b->cpu;
}

static void sift_down(unsigned int i)
{
	struct tep_record *r = source.heap[i];
	unsigned int child;

	for (; (child = 2 * i + 1) < source.nr_heap; i = child) {
		if (child + 1 < source.nr_heap &&
		    before(source.heap[child + 1], source.heap[child]))
			child++;
		if (!before(source.heap[child], r))
			break;
		source.heap[i] = source.heap[child];
	}
	source.heap[i] = r;
}

static void fill_heap(void)
{
	source.heap = alloc(source.nr_cpus, sizeof(*source.heap));
	for (unsigned int i = 0; i < source.nr_cpus; i++) {
		struct tep_record *r = next_of(i);

		if (r)
			source.heap[source.nr_heap++] = r;
	}
	for (unsigned int i = source.nr_heap / 2; i--; )
		sift_down(i);
}

/* The record's CPU has its place among the CPUs: they are in order. */
static unsigned int place_of(unsigned int cpu)
{
	unsigned int i = 0;

	if (source.input)
		return cpu;
	while (source.cpus[i] != cpu)
		i++;
	return i;
}

/**
 * source_read - read all events, in the order of their times
 * @take: takes one; returns NULL, or the fault of it
 *
 * Ends the program if they cannot be read.
 *
 * Returns: how many there were.
 */
uint64_t source_read(const char *(*take)(struct tep_record *record))
{
	fill_heap();
	while (source.nr_heap) {
		struct tep_record *r = source.heap[0];
		unsigned int i = place_of(r->cpu);
		const char *problem;

		source.events++;
		problem = take(r);
		if (problem)
			bad_event(r, problem);
		if (source.input)
			tracecmd_free_record(r);
		source.heap[0] = next_of(i);
		if (!source.heap[0])
			source.heap[0] = source.heap[--source.nr_heap];
		sift_down(0);
	}
	source.reading = 0;
	return source.events;
}

/**
 * source_tep - the formats of the events
 *
 * Returns: the library's handle for them.
 */
struct tep_handle *source_tep(void)
{
	return source.tep;
}

/**
 * source_name - the name of the source in messages
 *
 * Returns: the file's or the instance's name.
 */
const char *source_name(void)
{
	return source.name;
}

/**
 * source_clock - the clock of the trace
 *
 * Returns: its name in trace_clock; NULL if it is not known.
 */
const char *source_clock(void)
{
	return source.clock;
}

/**
 * source_release - the kernel that was traced
 *
 * Returns: its release, as of uname(1); NULL if it is not known.
 */
const char *source_release(void)
{
	return source.release;
}

/**
 * source_machine - the machine that was traced
 *
 * Returns: its kind, as of uname(1); NULL if it is not known.
 */
const char *source_machine(void)
{
	return source.machine;
}
