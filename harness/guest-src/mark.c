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
 * and the usual work of a kernel for programs, after three turns in front of the window:
 *
 *	mark loop COUNT          one-byte reads of /dev/zero
 *	mark switch COUNT        a byte to another task on this CPU, and back
 *	mark syscall COUNT       the cheapest system call
 *	mark exec COUNT          a child that executes another program, and its end
 *	mark file COUNT          a file of 64 KiB made, written, read, and removed
 *	mark tcp COUNT           a connection to this machine, a question and an answer
 *	mark run PROGRAM...      a program, once; and once before
 *
 * Prints "NAME ns=GUEST_TIME result=BYTES cpu=NS", the last being this task's own time on
 * a CPU; exit 1 and the error's text where a call failed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 3, PIECE = 4096, PIECES = 16, PORT = 7777 };

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

/* /dev/zero is opened and touched before the window, so that only the reads are in it. */
static int zero;

static long turn_loop(char **words)
{
	char c;

	return read(zero, &c, 1) == 1 ? 0 : -1;
}

static long turn_switch(char **words)
{
	char c = 0;

	return write(to_other[1], &c, 1) == 1 && read(from_other[0], &c, 1) == 1 ? 0 : -1;
}

static long start_switch(char **words)
{
	cpu_set_t one;
	char c;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(to_other) || pipe(from_other))
		return -1;
	if (!fork()) {
		close(to_other[1]);
		while (read(to_other[0], &c, 1) == 1 && write(from_other[1], &c, 1) == 1)
			;
		_exit(0);
	}
	return 0;
}

static long turn_syscall(char **words)
{
	return syscall(SYS_getuid) < 0 ? -1 : 0;
}

static long ended(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	errno = ECHILD;
	return status ? -1 : 0;
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

/* A shell forks before it executes. */
static long turn_exec(char **words)
{
	static char *const nothing[] = { "/bin/true", NULL };
	pid_t pid = fork();

	if (!pid) {
		execv(nothing[0], nothing);
		_exit(127);
	}
	return ended(pid);
}

static long turn_file(char **words)
{
	int fd = open("/tmp/load", O_RDWR | O_CREAT | O_TRUNC, 0600), bad = fd < 0;

	for (int i = 0; !bad && i < PIECES; i++)
		bad = write(fd, buf, PIECE) != PIECE;
	bad = bad || lseek(fd, 0, SEEK_SET);
	for (int i = 0; !bad && i < PIECES; i++)
		bad = read(fd, buf, PIECE) != PIECE;
	return bad || close(fd) || unlink("/tmp/load") ? -1 : 0;
}

static struct sockaddr_in address = { .sin_family = AF_INET };
static pid_t server;

static void answer(int listening)
{
	char text[64];
	int fd;

	while ((fd = accept(listening, NULL, NULL)) >= 0) {
		if (read(fd, text, sizeof(text)) > 0 && write(fd, text, sizeof(text)) < 0)
			break;
		close(fd);
	}
	_exit(1);
}

static long start_tcp(char **words)
{
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	address.sin_port = htons(PORT);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &up) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 16))
		return -1;
	server = fork();
	if (!server)
		answer(fd);
	return server < 0 || close(fd) ? -1 : 0;
}

static long turn_tcp(char **words)
{
	char text[64] = "question";
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	       write(fd, text, sizeof(text)) != sizeof(text) ||
	       read(fd, text, sizeof(text)) != sizeof(text) || close(fd) ? -1 : 0;
}

/* An act that is done once, or a turn of one that is done COUNT times */
static const struct act {
	const char *name;
	int words;
	long (*start)(char **words);
	long (*once)(char **words);
	long (*turn)(char **words);
} acts[] = {
	{ "write", 2, NULL, do_write },
	{ "read", 1, NULL, do_read },
	{ "load", 1, NULL, do_load },
	{ "words", 2, start_words, do_words },
	{ "shell", 1, start_shell, do_shell },
	{ "run", 1, do_run, do_run },
	{ "loop", 1, .turn = turn_loop },
	{ "switch", 1, start_switch, .turn = turn_switch },
	{ "syscall", 1, .turn = turn_syscall },
	{ "exec", 1, .turn = turn_exec },
	{ "file", 1, .turn = turn_file },
	{ "tcp", 1, start_tcp, .turn = turn_tcp },
};

static long repeat(const struct act *a, long count, char **words)
{
	for (long i = 0; i < count; i++)
		if (a->turn(words))
			return -1;
	return count;
}

int main(int argc, char **argv)
{
	long long start, end, cpu;
	const struct act *a = NULL;
	char **words = argv + 2;
	long result = 0;
	int err;

	for (size_t i = 0; argc > 2 && i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(argv[1], acts[i].name) && argc - 2 >= acts[i].words)
			a = &acts[i];
	if (!a) {
		fputs("usage: mark write FILE TEXT | read|load|shell FILE |\n"
		      "	words FILE COUNT | loop|switch|syscall|exec|file|tcp COUNT |\n"
		      "	run PROGRAM...\n", stderr);
		return 2;
	}
	zero = open("/dev/zero", O_RDONLY);
	memset(buf, 1, sizeof(buf));
	errno = 0;
	if ((a->start && a->start(words) < 0) || (a->turn && repeat(a, WARM_UP, words) < 0)) {
		perror(argv[2]);
		return 1;
	}
	now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	getpgid(0);
	start = now(CLOCK_MONOTONIC);
	result = a->turn ? repeat(a, atol(words[0]), words) : a->once(words);
	err = errno;
	end = now(CLOCK_MONOTONIC);
	getpgid(0);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (server)
		kill(server, SIGKILL);
	if (result < 0) {
		printf("%s %s: %s\n", argv[1], argv[2], strerror(err));
		return 1;
	}
	printf("%s ns=%lld result=%ld cpu=%lld\n", argv[1], end - start, result, cpu);
	return 0;
}
