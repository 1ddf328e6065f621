// SPDX-License-Identifier: GPL-2.0
/*
 * threads: a process whose threads call write_null() when they are told to.
 *
 *	threads COUNT    prints the numbers of COUNT threads in a line. Then it reads lines
 *	                 "N TIMES": the Nth thread, from 0 on, writes TIMES single bytes to
 *	                 /dev/null; then a line "done" is printed
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64 };

/* For each thread; the answers of all come through one pipe. */
static int orders[MOST][2], answers[2], null;

static void *work(void *order)
{
	int *from = order, times = gettid();

	do {
		if (write(answers[1], &times, sizeof(times)) != sizeof(times) ||
		    read(from[0], &times, sizeof(times)) != sizeof(times))
			break;
		for (int i = 0; i < times; i++)
			if (write(null, "", 1) != 1)
				exit(1);
	} while (1);
	exit(1);
}

static int answer(void)
{
	int got;

	if (read(answers[0], &got, sizeof(got)) != sizeof(got))
		exit(1);
	return got;
}

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0, n, times;

	if (count < 1 || count > MOST) {
		fputs("usage: threads COUNT\n", stderr);
		return 2;
	}
	null = open("/dev/null", O_WRONLY);
	if (null < 0 || pipe(answers))
		return 1;
	setlinebuf(stdout);
	for (n = 0; n < count; n++) {
		pthread_t thread;

		if (pipe(orders[n]) || pthread_create(&thread, NULL, work, orders[n]))
			return 1;
		printf("%d%c", answer(), n < count - 1 ? ' ' : '\n');
	}
	while (scanf("%d %d", &n, &times) == 2) {
		if (n < 0 || n >= count || write(orders[n][1], &times, sizeof(times)) < 0)
			return 1;
		answer();
		puts("done");
	}
	return 0;
}
