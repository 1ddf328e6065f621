// SPDX-License-Identifier: GPL-2.0
/*
 * A setup of tracing that traces nothing, in place of the kernel's: the test of the program needs
 * neither root nor tracefs. While tracing is not as it was, there is a file "tracing".
 */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "bisect.h"
#include "calibrate.h"
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

void calibrate(struct tracefs_instance *instance, const struct items *items,
	       double cost[ITEM_KINDS])
{
	(void)instance;
	(void)items;
	for (int i = 0; i < ITEM_KINDS; i++)
		cost[i] = NAN;
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
