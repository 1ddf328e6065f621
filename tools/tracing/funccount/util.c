// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, memory and the end of the program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

int error_status = STATUS_ERROR;

static void say(const char *format, va_list args)
{
	fputs("funccount: ", stderr);
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

void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fputs("Try 'funccount --help'.\n", stderr);
	exit(STATUS_USAGE);
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

uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}
