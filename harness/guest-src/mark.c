// SPDX-License-Identifier: GPL-2.0
/*
 * mark: does one thing between two marks that the host's plugins count by. A mark is a call of
 * getpgid(), which nothing else in the guest makes. The window has the system calls of that one
 * thing only: no fork, no shell.
 *
 *	mark write FILE TEXT     open (truncating), write, close
 *	mark read FILE           open, read to the end, close
 *	mark load FILE           load a module
 *	mark words FILE COUNT    COUNT writes of 16 bytes, one write each
 *	mark shell FILE          a shell reads the commands of FILE, in the window
 *
 *	mark run PROGRAM...      a program, once; and once before
 *	mark LOAD COUNT          turns of a load of loads.h, after three in front of the window
 *
 * Prints "NAME ns=GUEST_TIME result=BYTES cpu=NS", the last being this task's own time on
 * a CPU; exit 1 and the error's text where a call failed.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "../../tools/testing/ftrace-overhead/loads.h"

static char buf[1 << 16];

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* A filter of stock's takes one word of those that a write() has. */
static long do_write(char **words)
{
	size_t len = strlen(words[1]), done = 0;
	ssize_t n = 1;
	int fd = open(words[0], O_WRONLY | O_TRUNC);

	if (fd < 0)
		return -1;
	for (; done < len && n > 0; done += n)
		n = write(fd, words[1] + done, len - done);
	return close(fd) || n <= 0 ? -1 : (long)len;
}

static long do_read(char **words)
{
	long total = 0;
	ssize_t n;
	int fd = open(words[0], O_RDONLY);

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		total += n;
	close(fd);
	return n < 0 ? -1 : total;
}

static long do_open(char **words)
{
	return close(open(words[0], O_RDONLY));
}

static long do_load(char **words)
{
	int fd = open(words[0], O_RDONLY);
	long ret;

	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

static int file;

static long start_words(char **words)
{
	file = open(words[0], O_WRONLY);
	return 0;
}

static long do_words(char **words)
{
	long count = atol(words[1]);

	for (long i = 0; i < count; i++)
		if (write(file, "sixteen letters\n", 16) != 16)
			return -1;
	return count;
}

/*
 * The shell is there before the window, and ends after it: it waits for a line of a pipe, and says
 * on another how the commands ended. In the window, beside them, are these two lines.
 */
static int to_other[2], from_other[2];

static long start_shell(char **words)
{
	char text[512];

	if (access(words[0], R_OK) || pipe(to_other) || pipe(from_other))
		return -1;
	snprintf(text, sizeof(text), "read -r go <&%d; . %s; echo $? >&%d; read -r go <&%d",
		 to_other[0], words[0], from_other[1], to_other[0]);
	if (!fork()) {
		close(to_other[1]);
		execl("/bin/bash", "bash", "-c", text, NULL);
		_exit(127);
	}
	close(from_other[1]);
	/* It is to have come to its first line. */
	sleep(1);
	return 0;
}

static long do_shell(char **words)
{
	ssize_t n;

	if (write(to_other[1], "\n", 1) != 1)
		return -1;
	n = read(from_other[0], buf, sizeof(buf) - 1);
	if (n <= 0) {
		errno = EPIPE;
		return -1;
	}
	buf[n] = 0;
	return atol(buf);
}

static long do_run(char **words)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(words[0], words);
		_exit(127);
	}
	return ended(pid);
}

static const struct act {
	const char *name;
	int words;
	long (*start)(char **words);
	long (*once)(char **words);
} acts[] = {
	{ "write", 2, NULL, do_write },
	{ "read", 1, NULL, do_read },
	{ "open", 1, NULL, do_open },
	{ "load", 1, NULL, do_load },
	{ "words", 2, start_words, do_words },
	{ "shell", 1, start_shell, do_shell },
	{ "run", 1, do_run, do_run },
};

int main(int argc, char **argv)
{
	long long start, end, cpu;
	const struct load *load = argc > 2 ? load_find(argv[1]) : NULL;
	const struct act *a = NULL;
	char **words = argv + 2;
	long result = 0;
	int err;

	for (size_t i = 0; argc > 2 && i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(argv[1], acts[i].name) && argc - 2 >= acts[i].words)
			a = &acts[i];
	if (!a && !load) {
		fputs("usage: mark write FILE TEXT | read|open|load|shell FILE |\n"
		      "	words FILE COUNT | loop|switch|syscall|exec|file|tcp COUNT |\n"
		      "	run PROGRAM...\n", stderr);
		return 2;
	}
	memset(buf, 1, sizeof(buf));
	errno = 0;
	if (load ? load_start(load) < 0 : a->start && a->start(words) < 0) {
		perror(argv[2]);
		return 1;
	}
	now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	getpgid(0);
	start = now(CLOCK_MONOTONIC);
	result = load ? load_turns(load, atol(words[0])) : a->once(words);
	err = errno;
	end = now(CLOCK_MONOTONIC);
	getpgid(0);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	load_end();
	if (result < 0) {
		printf("%s %s: %s\n", argv[1], argv[2], strerror(err));
		return 1;
	}
	printf("%s ns=%lld result=%ld cpu=%lld\n", argv[1], end - start, result, cpu);
	return 0;
}
