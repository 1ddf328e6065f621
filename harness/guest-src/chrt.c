// SPDX-License-Identifier: GPL-2.0
/*
 * chrt: as much of util-linux's program as the kernel's cases of the wakeup tracers use, for
 * architectures whose guests have busybox alone.
 *
 *	chrt -f PRIORITY COMMAND [ARGUMENT...]
 *
 * Runs COMMAND under SCHED_FIFO.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param param;

	if (argc < 4 || strcmp(argv[1], "-f")) {
		fputs("usage: chrt -f PRIORITY COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	param.sched_priority = atoi(argv[2]);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("chrt: SCHED_FIFO");
		return 1;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
