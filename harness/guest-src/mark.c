// SPDX-License-Identifier: GPL-2.0
/*
 * mark: does one thing to a file between two marks that the host's plugin counts by.
 * A mark is a call of getpgid(), which nothing else in the guest makes. The window has the system
 * calls of that one thing only: no fork, no shell.
 *
 *	mark write FILE TEXT     open (truncating), write, close
 *	mark append FILE TEXT    the same, without truncating
 *	mark read FILE           open, read to the end, close
 *	mark load FILE           load a module
 *	mark loop COUNT          COUNT one-byte reads of /dev/zero, one pread each
 *	mark switch COUNT        COUNT times a byte to another task on this CPU, and back
 *	mark words FILE COUNT    COUNT writes of 16 bytes, one write each
 *	mark shell FILE          a shell reads the commands of FILE, in the window
 *	mark here                a single mark
 *
 * Prints "NAME ns=GUEST_TIME result=BYTES cpu=NS", the last being this task's own time on
 * a CPU; exit 1 and the error's text where a call failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void mark(void)
{
	getpgid(0);
}

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* A filter of stock's takes one word of those that a write() has. */
static long put(const char *file, const char *text, int flags)
{
	size_t len = strlen(text), done = 0;
	ssize_t n = 1;
	int fd = open(file, O_WRONLY | flags);

	if (fd < 0)
		return -1;
	for (; done < len && n > 0; done += n)
		n = write(fd, text + done, len - done);
	return close(fd) || n <= 0 ? -1 : (long)len;
}

static char buf[1 << 16];

static long get(const char *file)
{
	long total = 0;
	ssize_t n;
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		total += n;
	close(fd);
	return n < 0 ? -1 : total;
}

static long load(const char *file)
{
	int fd = open(file, O_RDONLY);
	long ret;

	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

/* /dev/zero is opened and touched before the window, so that only the reads are in it. */
static int zero = -1;

static long loop(long count)
{
	char c;

	for (long i = 0; i < count; i++)
		if (read(zero, &c, 1) != 1)
			return -1;
	return count;
}

/* The other task, and its file, are made before the window, too. */
static int to_other[2], from_other[2];

static long pass(int from, int to, long count)
{
	char c = 0;

	for (long i = 0; i < count; i++)
		if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
			return -1;
	return count;
}

static int start_other(long count)
{
	cpu_set_t one;
	char c = 0;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(to_other) || pipe(from_other))
		return -1;
	if (!fork())
		_exit(pass(to_other[0], from_other[1], count) < 0);
	/* The first byte is on its way. */
	return write(from_other[1], &c, 1) == 1 ? 0 : -1;
}

static int words_file = -1;

static long words(long count)
{
	for (long i = 0; i < count; i++)
		if (write(words_file, "sixteen letters\n", 16) != 16)
			return -1;
	return count;
}

/*
 * The shell is there before the window, and ends after it: it waits for a line of a pipe, and says
 * on another how the commands ended. In the window, beside them, are these two lines.
 */
static int to_shell, from_shell;

static int start_shell(const char *file)
{
	char text[512];
	int in[2], out[2];

	if (access(file, R_OK) || pipe(in) || pipe(out))
		return -1;
	snprintf(text, sizeof(text), "read -r go <&%d; . %s; echo $? >&%d; read -r go <&%d",
		 in[0], file, out[1], in[0]);
	if (!fork()) {
		close(in[1]);
		execl("/bin/bash", "bash", "-c", text, NULL);
		_exit(127);
	}
	close(out[1]);
	to_shell = in[1];
	from_shell = out[0];
	/* It is to have come to its first line. */
	sleep(1);
	return 0;
}

static long shell(void)
{
	ssize_t n;

	if (write(to_shell, "\n", 1) != 1)
		return -1;
	n = read(from_shell, buf, sizeof(buf) - 1);
	if (n <= 0) {
		errno = EPIPE;
		return -1;
	}
	buf[n] = 0;
	return atol(buf);
}

static int usage(void)
{
	fputs("usage: mark write|append FILE TEXT | read|load|shell FILE | loop|switch COUNT |\n"
	      "	words FILE COUNT | here\n", stderr);
	return 2;
}

static long act(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		return put(argv[2], argv[3], O_TRUNC);
	if (argc == 4 && !strcmp(argv[1], "append"))
		return put(argv[2], argv[3], 0);
	if (argc == 3 && !strcmp(argv[1], "read"))
		return get(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "load"))
		return load(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "loop"))
		return loop(atol(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "switch"))
		return pass(from_other[0], to_other[1], atol(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "words"))
		return words(atol(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "shell"))
		return shell();
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	long long start, end, cpu;
	long result;
	int err;

	if (argc == 2 && !strcmp(argv[1], "here")) {
		mark();
		return 0;
	}
	if (argc < 3)
		return usage();
	zero = open("/dev/zero", O_RDONLY);
	memset(buf, 1, sizeof(buf));
	if (!strcmp(argv[1], "switch") && start_other(atol(argv[2]))) {
		perror("mark switch");
		return 1;
	}
	if (!strcmp(argv[1], "shell") && start_shell(argv[2])) {
		perror(argv[2]);
		return 1;
	}
	if (!strcmp(argv[1], "words"))
		words_file = open(argv[2], O_WRONLY);
	loop(10);
	now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	mark();
	start = now(CLOCK_MONOTONIC);
	result = act(argc, argv);
	err = errno;
	end = now(CLOCK_MONOTONIC);
	mark();
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (result < 0) {
		printf("%s %s: %s\n", argv[1], argv[2], strerror(err));
		return 1;
	}
	printf("%s ns=%lld result=%ld cpu=%lld\n", argv[1], end - start, result, cpu);
	return 0;
}
