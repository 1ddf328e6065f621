// SPDX-License-Identifier: GPL-2.0
/*
 * A counter in place of the kernel's: the test of the program needs neither root nor tracefs.
 * While it counts there is a file "tracing", which has no write bit after the first read. READ_MS
 * says how long a read takes, of the first SLOW_READS, and CALLS how many calls a microsecond has.
 * SIGNAL is sent while a file is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counter.h"
#include "instance.h"
#include "util.h"

#define TRACING	"tracing"

static uint64_t begin;

void tracing_open(void)
{
}

bool tracefs_tracer_available(const char *dir, const char *tracer)
{
	(void)dir;
	(void)tracer;
	return true;
}

static void fake_end(void)
{
	unlink(TRACING);
}

/* As calls of a counter fail or not, and errno says why: the process of the command shares it. */
static size_t fake_prepare(const struct wanted *wanted)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + NSEC / 20;

	(void)wanted;
	errno = 0;
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (__atomic_load_n(&errno, __ATOMIC_RELAXED))
			die("errno is changed to %d", errno);
	}
	atexit(fake_end);
	return 1;
}

static void fake_follow(pid_t pid)
{
	(void)pid;
}

static void fake_start(void)
{
	close(open(TRACING, O_CREAT | O_WRONLY, 0600));
	begin = clock_ns(CLOCK_MONOTONIC);
}

static int setting(const char *name, int usual)
{
	const char *value = getenv(name);

	return value ? atoi(value) : usual;
}

int fsync(int fd)
{
	(void)fd;
	return raise(setting("SIGNAL", 0));
}

static void fake_read(struct counts *counts)
{
	uint64_t us = (clock_ns(CLOCK_MONOTONIC) - begin) / 1000;
	static int reads;

	counts_add(counts, "vfs_read", NULL, us * setting("CALLS", 1), NULL);
	chmod(TRACING, 0400);
	if (reads++ < setting("SLOW_READS", INT_MAX))
		usleep(1000 * setting("READ_MS", 0));
}

static void fake_stop(void)
{
}

const struct counter tracer_counter = {
	"count", fake_prepare, fake_follow, fake_start, fake_read, fake_stop, fake_end,
};

const struct counter *counter_find(bool profiler)
{
	(void)profiler;
	return &tracer_counter;
}
