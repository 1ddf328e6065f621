/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages, memory and the end of the program.
 *
 * A function that changes something in the system registers with atexit() a function that
 * puts it back; so die() may be called anywhere.
 */
#ifndef TRACING_UTIL_H
#define TRACING_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum {
	STATUS_ERROR	= 1,
	STATUS_USAGE	= 2,
	/* As timeout(1) and env(1) have it: other numbers are the command's. */
	STATUS_ERROR_WITH_COMMAND = 125,
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL	= 128,
};

#define NSEC	1000000000ULL

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Each program has its name here: messages begin with it, those of getopt_long() by argv[0]. */
extern const char * const program_name;

/* The words after it that choose one of its modes, or NULL. */
extern const char *program_mode;

/* The exit status of die(). */
extern int error_status;

void standard_open(void);
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

void common_option(int c, const char *help) __attribute__((noreturn));
size_t utf8_length(const unsigned char *s, size_t most);
void json_string(FILE *f, const char *s);

void *alloc(size_t nr, size_t size);
void *grow(void *p, size_t nr, size_t size);
char *copy_string(const char *s);
char *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

char *file_target(const char *path);
int file_beside(const char *path, char **name);
void file_replace(const char *path, void (*put)(FILE *f, const void *data), const void *data);

int string_cmp(const char *a, const char *b);

uint64_t clock_ns(clockid_t clock);

#endif
