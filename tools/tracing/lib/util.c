// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, memory and the end of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

#ifndef VERSION
#define VERSION	"unknown"
#endif

const char *program_mode;
int error_status = STATUS_ERROR;

/**
 * standard_open - have the three standard descriptors, so that no other file gets their numbers
 *
 * Called first of all. A descriptor that is closed still cannot be read, or written to.
 */
void standard_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			exit(STATUS_ERROR);
	}
}

static void say(const char *format, va_list args)
{
	fprintf(stderr, "%s: ", program_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(error_status);
}

static void __attribute__((noreturn)) see_help(void)
{
	fprintf(stderr, "Try '%s%s%s --help'.\n", program_name, program_mode ? " " : "",
		program_mode ? program_mode : "");
	exit(STATUS_USAGE);
}

void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	see_help();
}

static void __attribute__((noreturn)) write_and_end(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout))
		die("cannot write: %s", strerror(errno));
	exit(0);
}

/**
 * common_option - an option that is not one of the program's own: each of them ends it
 * @c: the value that getopt_long() has returned: 'h', 'V', or an error
 * @help: the text of --help
 */
void common_option(int c, const char *help)
{
	if (c == 'h')
		write_and_end(help);
	if (c == 'V')
		write_and_end(format_string("%s %s\n", program_name, VERSION));
	/* getopt_long() has named the mistake. */
	see_help();
}

/**
 * utf8_length - the length of a character of UTF-8
 * @s: where it begins
 * @most: how many bytes there are, at most; a 0 ends them, too
 *
 * Returns: its length in bytes; 0 if it is invalid.
 */
size_t utf8_length(const unsigned char *s, size_t most)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 :
		     s[0] < 0xf5 ? 4 : 0;

	if (!len || len > most)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* These are longer than they need to be, are halves of pairs, or too high. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/**
 * json_string - write a string as JSON has it
 * @f: where to
 * @s: the string, of which bytes that are no UTF-8 become U+FFFD; NULL: null
 */
void json_string(FILE *f, const char *s)
{
	if (!s) {
		fputs("null", f);
		return;
	}
	fputc('"', f);
	while (*s) {
		size_t len = utf8_length((const unsigned char *)s, SIZE_MAX);

		if (!len)
			fputs("\\ufffd", f);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (len == 1 && *s < 0x20)
			fprintf(f, "\\u%04x", *s);
		else
			fwrite(s, 1, len, f);
		s += len ? len : 1;
	}
	fputc('"', f);
}

void *alloc(size_t nr, size_t size)
{
	/* calloc(0) may return NULL. */
	void *p = calloc(nr ? nr : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

void *grow(void *p, size_t nr, size_t size)
{
	p = reallocarray(p, nr, size);
	if (!p)
		die("out of memory");
	return p;
}

char *copy_string(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		die("out of memory");
	return copy;
}

char *format_string(const char *format, ...)
{
	va_list args;
	char *s;
	int ret;

	va_start(args, format);
	ret = vasprintf(&s, format, args);
	va_end(args);
	if (ret < 0)
		die("out of memory");
	return s;
}

/**
 * file_target - the file that is meant where a name may be that of a link
 * @path: the name; there need not be such a file yet
 *
 * Returns: the name that rename() takes in its place, to be freed.
 */
char *file_target(const char *path)
{
	char *target = realpath(path, NULL), *copy, *next, link[PATH_MAX];
	ssize_t len;

	if (target)
		return target;
	/* One that leads to itself is another error. */
	len = errno == ENOENT ? readlink(path, link, sizeof(link) - 1) : -1;
	copy = copy_string(path);
	if (len < 0)
		return copy;
	link[len] = '\0';
	next = *link == '/' ? copy_string(link) : format_string("%s/%s", dirname(copy), link);
	target = file_target(next);
	free(next);
	free(copy);
	return target;
}

/**
 * file_beside - make a file that is to take the place of another one
 * @path: the other one; if it is there, its owner, group and mode are taken, or the mode for its
 *	  owner only
 * @name: takes the name of the new file, to be freed; NULL without one
 *
 * Returns: its descriptor; -1, with errno, if it cannot be made.
 */
int file_beside(const char *path, char **name)
{
	mode_t mask = umask(0);
	struct stat st;
	int fd;

	umask(mask);
	*name = format_string("%s.XXXXXX", path);
	fd = mkostemp(*name, O_CLOEXEC);
	if (fd >= 0) {
		if (stat(path, &st))
			fchmod(fd, 0666 & ~mask);
		else
			fchmod(fd, st.st_mode & (fchown(fd, st.st_uid, st.st_gid) ? 0700 : 0777));
	} else {
		free(*name);
		*name = NULL;
	}
	return fd;
}

/**
 * file_replace - write a file, which is complete as soon as it is there
 * @path: the file; one of that name stays as it is until then
 * @put: writes the contents
 * @data: is given to @put
 *
 * Signals wait until the file is there. Ends the program if it cannot be written.
 */
void file_replace(const char *path, void (*put)(FILE *f, const void *data), const void *data)
{
	sigset_t all, before;
	char *new;
	FILE *f;
	int fd;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = file_beside(path, &new);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		die("%s cannot be written: %s", path, strerror(errno));
	put(f, data);
	if (ferror(f) || fflush(f) || fsync(fd) || fclose(f) || rename(new, path)) {
		int err = errno;

		unlink(new);
		die("%s cannot be written: %s", path, strerror(err));
	}
	free(new);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/**
 * string_cmp - compare two strings, which may be NULL
 * @a: one
 * @b: the other
 *
 * Returns: as strcmp() does; NULL comes before all others.
 */
int string_cmp(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}
