// SPDX-License-Identifier: GPL-2.0
/*
 * The state of tracing before the run, and the way back.
 *
 * It is kept in memory, where the keeper (see keeper.c) finds it, and in a file, where the
 * next run finds it if the keeper was killed. A run holds a lock on that file as long as
 * it lives: there is one top instance, so there is one run.
 *
 * The first line of the file is the process. Each other line is the name of a setting, and
 * its text. A run that changes no setting has no other line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instance.h"
#include "parse.h"
#include "saved.h"
#include "util.h"

#define SAVED	"/run/ftrace-overhead"
#define TRACER	"current_tracer"
#define NOTRACE	"set_ftrace_notrace"
#define EVENTS	"set_event"
#define PROFILER "function_profile_enabled"

struct saved saved;
static int saved_file = -1;

static char *first_line(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* A kernel without functions to trace has no filter, and one without events no list. */
static char *read_if_there(const char *file)
{
	return tracefs_file_exists(NULL, file) ? file_read(NULL, file) : copy_string("");
}

static void refuse_second(void)
{
	char text[64] = "";
	ssize_t n = read(saved_file, text, sizeof(text) - 1);

	text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
	die("another one is measuring already: process %s", *text ? text : "unknown");
}

/* Whether the open file is still the one of that name: a run that ends removes it. */
static bool is_current(void)
{
	struct stat here, there;

	return !fstat(saved_file, &here) && !stat(SAVED, &there) && here.st_ino == there.st_ino;
}

static void lock_file(void)
{
	do {
		if (saved_file >= 0)
			close(saved_file);
		saved_file = open(SAVED, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (saved_file < 0)
			die(SAVED " cannot be written: %s", strerror(errno));
		if (flock(saved_file, LOCK_EX | LOCK_NB))
			refuse_second();
	} while (!is_current());
}

static void write_lines(FILE *f, const char *what, const char *lines)
{
	for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n')
		fprintf(f, "%s %.*s\n", what, (int)strcspn(lines, "\n"), lines);
}

static void write_file(void)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		die("out of memory");
	fprintf(f, "%d\ntracer %s\nprofiler %s\n", (int)getpid(), saved.tracer, saved.profiler);
	write_lines(f, "notrace", saved.notrace);
	write_lines(f, "event", saved.events);
	/* Without this line it is cut off, and then nothing was changed yet. */
	fputs("end\n", f);
	if (fclose(f))
		die("out of memory");
	if (ftruncate(saved_file, 0) || pwrite(saved_file, text, len, 0) != (ssize_t)len ||
	    fsync(saved_file))
		die(SAVED " cannot be written: %s", strerror(errno));
	free(text);
}

/* The lines of a kind, without the word. */
static char *lines_of(const char *text, const char *what)
{
	size_t len = strlen(what), size, n;
	char *lines;
	FILE *f = open_memstream(&lines, &size);

	if (!f)
		die("out of memory");
	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n > len && !strncmp(text, what, len) && text[len] == ' ')
			fprintf(f, "%.*s\n", (int)(n - len - 1), text + len + 1);
	}
	if (fclose(f))
		die("out of memory");
	return lines;
}

static void recover_from_file(void)
{
	struct stat st;
	char *text;

	if (fstat(saved_file, &st) || !st.st_size)
		return;
	text = alloc(st.st_size + 1, 1);
	if (pread(saved_file, text, st.st_size, 0) != st.st_size)
		die(SAVED " cannot be read: %s", strerror(errno));
	if (strstr(text, "\nend\n")) {
		saved.tracer = first_line(lines_of(text, "tracer"));
		saved.profiler = first_line(lines_of(text, "profiler"));
		saved.notrace = lines_of(text, "notrace");
		saved.events = lines_of(text, "event");
		warn("a run that was killed has left its changes; they are taken back first");
		saved_put_back();
	} else {
		saved_forget();
	}
	lock_file();
	free(text);
}

/**
 * saved_lock - keep other runs from measuring, for a run that makes probes and changes no more
 *
 * The changes of a killed run are put back first. Ends the program if another run is alive.
 */
void saved_lock(void)
{
	lock_file();
	recover_from_file();
	dprintf(saved_file, "%d\n", (int)getpid());
}

/**
 * saved_take - as saved_lock(), and save the state of tracing, before it is changed
 */
void saved_take(void)
{
	saved_lock();
	saved.tracer = first_line(file_read(NULL, TRACER));
	saved.profiler = first_line(read_if_there(PROFILER));
	saved.notrace = read_if_there(NOTRACE);
	saved.events = read_if_there(EVENTS);
	write_file();
}

/*
 * Whether a line of set_ftrace_notrace or set_event waits for a module. It is a word as it was
 * written, and goes on waiting unless the file is truncated.
 */
static bool word_waits(const char *line)
{
	return strstr(line, ":mod:");
}

/**
 * saved_write_notrace - write the text that set_ftrace_notrace had
 * @f: that file, open
 */
void saved_write_notrace(FILE *f)
{
	char *text = copy_string(saved.notrace), *next = text, *line, *name, *module;

	while ((line = strsep(&next, "\n"))) {
		/* The kernel takes a word a write, and all of them when the file is closed. */
		if (word_waits(line))
			fprintf(f, "%s ", line);
		else if (parse_function(line, &name, &module))
			fprintf(f, "%s:mod:%s ", name, module ? module : "!*");
		fflush(f);
	}
	free(text);
}

/**
 * notrace_open - open set_ftrace_notrace to write to it
 * @flags: O_TRUNC or O_APPEND
 *
 * Returns: the file; NULL, with errno, if it cannot be opened.
 */
FILE *notrace_open(int flags)
{
	int fd = tracefs_instance_file_open(NULL, NOTRACE, O_WRONLY | O_CLOEXEC | flags);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

static void put_back_notrace(void)
{
	char *now = read_if_there(NOTRACE);
	bool same = !strcmp(now, saved.notrace);
	FILE *f;

	free(now);
	if (same)
		return;
	f = notrace_open(O_TRUNC);
	if (f)
		saved_write_notrace(f);
	if (!f || fclose(f))
		warn(NOTRACE " cannot be put back: %s", strerror(errno));
}

/**
 * saved_next_event - take the next event from a copy of saved.events
 * @next: the rest of the copy, which is cut into pieces
 * @system: gets the system of the event
 *
 * Returns: its name; NULL at the end.
 */
char *saved_next_event(char **next, char **system)
{
	char *line;

	while ((line = strsep(next, "\n"))) {
		if (word_waits(line))
			continue;
		*system = strsep(&line, ":");
		if (line)
			return line;
	}
	return NULL;
}

/**
 * saved_set_events - switch all events that were enabled
 * @on: whether they are to be recorded
 */
void saved_set_events(bool on)
{
	char *text = copy_string(saved.events), *next = text, *name, *system;

	while ((name = saved_next_event(&next, &system)))
		event_set(NULL, system, name, on, warn);
	free(text);
}

static void remove_probes(void)
{
	struct tracefs_dynevent **all, **probe;

	all = tracefs_dynevent_get_all(TRACEFS_DYNEVENT_ALL, PROBES);
	for (probe = all; probe && *probe; probe++)
		tracefs_dynevent_destroy(*probe, true);
	tracefs_dynevent_list_free(all);
	/* The library does not know fprobes. */
	if (tracefs_file_exists(NULL, "dynamic_events"))
		file_write(NULL, "dynamic_events", "-:" PROBE);
}

/**
 * saved_forget - remove the probes of this run, and let others measure
 */
void saved_forget(void)
{
	remove_probes();
	unlink(SAVED);
	close(saved_file);
	saved_file = -1;
}

/**
 * saved_put_back - put everything back, and forget it
 *
 * It goes on if something fails, and says so.
 */
void saved_put_back(void)
{
	char *now = first_line(file_read(NULL, TRACER));

	if (!strcmp(saved.profiler, "0"))
		file_write(NULL, PROFILER, "0");
	put_back_notrace();
	if (strcmp(now, saved.tracer) && !file_write(NULL, TRACER, saved.tracer))
		warn(TRACER " cannot be set to %s again: %s", saved.tracer, strerror(errno));
	saved_set_events(true);
	free(now);
	saved_forget();
}
