// SPDX-License-Identifier: GPL-2.0
/*
 * A setup of tracing that traces nothing, in place of the kernel's: the test of the program needs
 * neither root nor tracefs. While tracing is not as it was, there is a file "tracing".
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "bisect.h"
#include "counter.h"
#include "hits.h"
#include "hooks.h"
#include "instance.h"
#include "saved.h"
#include "setup.h"
#include "util.h"

#define TRACING	"tracing"

struct setup setup = { .tracer = "nop" };

void tracing_open(void)
{
}

struct tracefs_instance *instance_make(void (*recover)(struct tracefs_instance *stale))
{
	(void)recover;
	return NULL;
}

struct tracefs_instance *instance_make_other(void)
{
	return NULL;
}

void instance_remove(void)
{
}

/* The file stays open, as the one of saved.c. */
void saved_take(void)
{
	if (open(TRACING, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) < 0)
		die("no " TRACING);
}

void saved_put_back(void)
{
	unlink(TRACING);
}

void setup_find(const char *tracer)
{
	(void)tracer;
}

void setup_off(void)
{
}

void setup_on(const struct items *items)
{
	(void)items;
}

void setup_try_line(const struct items *items)
{
	(void)items;
}

void hits_count(struct tracefs_instance *instance, struct items *items)
{
	(void)instance;
	(void)items;
}

/* There is nothing to calibrate but the loop. */

const struct counter tracer_counter;

bool file_write(struct tracefs_instance *instance, const char *file, const char *text)
{
	(void)instance;
	(void)file;
	(void)text;
	return true;
}

void file_set(struct tracefs_instance *instance, const char *file, const char *text)
{
	file_write(instance, file, text);
}

bool file_clear(struct tracefs_instance *instance, const char *file)
{
	return file_write(instance, file, "");
}

bool file_is(struct tracefs_instance *instance, const char *file, const char *text)
{
	return file_write(instance, file, text);
}

char *tracefs_instance_get_file(struct tracefs_instance *instance, const char *file)
{
	(void)instance;
	return copy_string(file);
}

void tracefs_put_tracing_file(char *name)
{
	free(name);
}

/* No event is watched. */

bool event_set(struct tracefs_instance *instance, const char *system, const char *name, bool on,
	       void (*problem)(const char *format, ...))
{
	(void)instance;
	(void)system;
	(void)name;
	(void)on;
	(void)problem;
	return true;
}

char *file_read(struct tracefs_instance *instance, const char *file)
{
	(void)instance;
	return copy_string(file);
}

int bisect(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return STATUS_ERROR;
}

int hooks(int argc, char **argv)
{
	return bisect(argc, argv);
}
