/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The usual work of a kernel for programs, in turns:
 *
 *	loop	one-byte reads of /dev/zero
 *	switch	a byte to another task on this CPU, and back
 *	syscall	the cheapest system call
 *	exec	a child that executes another program, and its end
 *	file	a file of 64 KiB made, written, read, and removed
 *	tcp	a connection to this machine, a question and an answer
 */
#ifndef LOADS_H
#define LOADS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM_UP = 3, PIECE = 4096, PIECES = 16, PORT = 7777 };

static char piece[PIECE];

/* /dev/zero is opened and touched before the window, so that only the reads are in it. */
static int zero;

static int turn_loop(void)
{
	char c;

	return read(zero, &c, 1) == 1 ? 0 : -1;
}

static int to_partner[2], from_partner[2];

static int turn_switch(void)
{
	char c = 0;

	return write(to_partner[1], &c, 1) == 1 && read(from_partner[0], &c, 1) == 1 ? 0 : -1;
}

static int start_switch(void)
{
	cpu_set_t one;
	char c;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(to_partner) || pipe(from_partner))
		return -1;
	if (!fork()) {
		close(to_partner[1]);
		while (read(to_partner[0], &c, 1) == 1 && write(from_partner[1], &c, 1) == 1)
			;
		_exit(0);
	}
	return 0;
}

static int turn_syscall(void)
{
	return syscall(SYS_getuid) < 0 ? -1 : 0;
}

static int ended(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	errno = ECHILD;
	return status ? -1 : 0;
}

/* A shell forks before it executes. */
static int turn_exec(void)
{
	static char *const nothing[] = { "/bin/true", NULL };
	pid_t pid = fork();

	if (!pid) {
		execv(nothing[0], nothing);
		_exit(127);
	}
	return ended(pid);
}

static int turn_file(void)
{
	int fd = open("/tmp/load", O_RDWR | O_CREAT | O_TRUNC, 0600), bad = fd < 0;

	for (int i = 0; !bad && i < PIECES; i++)
		bad = write(fd, piece, PIECE) != PIECE;
	bad = bad || lseek(fd, 0, SEEK_SET);
	for (int i = 0; !bad && i < PIECES; i++)
		bad = read(fd, piece, PIECE) != PIECE;
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

static int start_tcp(void)
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

static int turn_tcp(void)
{
	char text[64] = "question";
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	       write(fd, text, sizeof(text)) != sizeof(text) ||
	       read(fd, text, sizeof(text)) != sizeof(text) || close(fd) ? -1 : 0;
}

static const struct load {
	const char *name;
	int (*start)(void);
	int (*turn)(void);
} loads[] = {
	{ "loop", NULL, turn_loop },
	{ "switch", start_switch, turn_switch },
	{ "syscall", NULL, turn_syscall },
	{ "exec", NULL, turn_exec },
	{ "file", NULL, turn_file },
	{ "tcp", start_tcp, turn_tcp },
};

static const struct load *load_find(const char *name)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (!strcmp(name, loads[i].name))
			return &loads[i];
	return NULL;
}

static long load_turns(const struct load *load, long count)
{
	for (long i = 0; i < count; i++)
		if (load->turn())
			return -1;
	return count;
}

/* All that comes before the turns that count; returns -1 where it fails. */
static long load_start(const struct load *load)
{
	zero = open("/dev/zero", O_RDONLY);
	memset(piece, 1, sizeof(piece));
	return load->start && load->start() ? -1 : load_turns(load, WARM_UP);
}

static void load_end(void)
{
	if (server)
		kill(server, SIGKILL);
}

#endif
