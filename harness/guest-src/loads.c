// SPDX-License-Identifier: GPL-2.0
/*
 * loads: the usual work of a kernel for programs, again and again, between two marks that the
 * host's plugin counts by (see mark.c).
 *
 *	loads syscall COUNT	the cheapest system call
 *	loads exec COUNT	a child that executes another program, and its end
 *	loads pipe COUNT	a byte to another task and back
 *	loads file COUNT	a file of 64 KiB made, written, read, and removed
 *	loads tcp COUNT		a connection to this machine, a question and an answer
 *	loads run PROGRAM...	a program, once
 *
 * Each is done a few times before the first mark. Exit 1 and the error's text if anything
 * failed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM_UP = 3, PIECE = 4096, PIECES = 16, PORT = 7777 };

static int do_syscall(char **words)
{
	(void)words;
	return syscall(SYS_getuid) < 0;
}

static int do_run(char **words)
{
	int status;
	pid_t pid = vfork();

	if (pid < 0)
		return 1;
	if (!pid) {
		execv(words[0], words);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	errno = ECHILD;
	return status != 0;
}

/* A shell forks before it executes. */
static int do_exec(char **words)
{
	static char *const nothing[] = { "/bin/true", NULL };
	int status;
	pid_t pid = fork();

	(void)words;
	if (pid < 0)
		return 1;
	if (!pid) {
		execv(nothing[0], nothing);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	errno = ECHILD;
	return status != 0;
}

static int there[2], back[2];

static int start_pipe(void)
{
	char c;

	if (pipe(there) || pipe(back))
		return 1;
	switch (fork()) {
	case -1:
		return 1;
	case 0:
		close(there[1]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	return 0;
}

static int do_pipe(char **words)
{
	char c = 0;

	(void)words;
	return write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1;
}

static int do_file(char **words)
{
	static char piece[PIECE];
	int fd = open("/tmp/load", O_RDWR | O_CREAT | O_TRUNC, 0600), bad = fd < 0;

	(void)words;
	for (int i = 0; !bad && i < PIECES; i++)
		bad = write(fd, piece, sizeof(piece)) != sizeof(piece);
	bad = bad || lseek(fd, 0, SEEK_SET);
	for (int i = 0; !bad && i < PIECES; i++)
		bad = read(fd, piece, sizeof(piece)) != sizeof(piece);
	return bad || close(fd) || unlink("/tmp/load");
}

static struct sockaddr_in address = { .sin_family = AF_INET };

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

static int server;

static int start_tcp(void)
{
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	address.sin_port = htons(PORT);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &up) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 16))
		return 1;
	server = fork();
	if (!server)
		answer(fd);
	return server < 0 || close(fd);
}

static int do_tcp(char **words)
{
	char text[64] = "question";
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)words;
	return fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	       write(fd, text, sizeof(text)) != sizeof(text) ||
	       read(fd, text, sizeof(text)) != sizeof(text) || close(fd);
}

static const struct load {
	const char *name;
	int (*start)(void);
	int (*turn)(char **words);
} loads[] = {
	{ "syscall", NULL, do_syscall },
	{ "exec", NULL, do_exec },
	{ "pipe", start_pipe, do_pipe },
	{ "file", NULL, do_file },
	{ "tcp", start_tcp, do_tcp },
	{ "run", NULL, do_run },
};

static int repeat(const struct load *l, long count, char **words)
{
	for (long i = 0; i < count; i++)
		if (l->turn(words))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const struct load *l = NULL;
	long count;
	int bad;

	for (size_t i = 0; argc > 2 && i < sizeof(loads) / sizeof(*loads); i++)
		if (!strcmp(argv[1], loads[i].name))
			l = &loads[i];
	if (!l) {
		fputs("usage: loads syscall|exec|pipe|file|tcp COUNT | run PROGRAM...\n", stderr);
		return 2;
	}
	count = l->turn == do_run ? 1 : atol(argv[2]);
	errno = 0;
	bad = (l->start && l->start()) || repeat(l, l->turn == do_run ? 1 : WARM_UP, argv + 2);
	if (!bad) {
		getpgid(0);
		bad = repeat(l, count, argv + 2);
		getpgid(0);
	}
	if (bad)
		perror(argv[1]);
	if (server)
		kill(server, 9);
	return bad;
}
