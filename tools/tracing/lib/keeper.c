// SPDX-License-Identifier: GPL-2.0
/*
 * The process that puts everything back.
 *
 * A program that changes settings of others has two processes. One does the work. The
 * other, the keeper, does nothing but wait for the first one's end, and then puts everything
 * back. So it does not matter where the work ends, nor whether by an error of ours.
 *
 * The one that works is killed if the keeper is. The next run then puts everything back.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"
#include "signals.h"
#include "util.h"

/* Waits for the end of the process that works, and returns how it has ended. */
static int keep(pid_t worker)
{
	int status;
	pid_t ret;

	while ((ret = waitpid(worker, &status, WNOHANG)) != worker) {
		if (ret < 0 && errno != EINTR)
			die("process %d cannot be waited for: %s", (int)worker, strerror(errno));
		signals_wait(clock_ns(CLOCK_MONOTONIC) + 3600 * NSEC);
		/* A key of the terminal sends it to both. */
		if (signal_came && !signal_of_terminal)
			kill(worker, signal_came);
		signal_came = 0;
	}
	return status;
}

/**
 * keeper_start - go on in a new process, and let the old one be the keeper
 * @put_back: the keeper calls it when the new process has ended
 *
 * Called after signals_hold(). It returns in the new process. The program's status is the
 * one that the new process ends with.
 */
void keeper_start(void (*put_back)(void))
{
	pid_t keeper = getpid(), worker;
	int status;

	fflush(NULL);
	worker = fork();
	if (worker < 0)
		die("no process can be made: %s", strerror(errno));
	if (!worker) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != keeper)
			_exit(STATUS_ERROR);
		return;
	}
	status = keep(worker);
	put_back();
	if (WIFSIGNALED(status)) {
		warn("ended by signal %d (%s); the tracing is as it was before", WTERMSIG(status),
		     strsignal(WTERMSIG(status)));
		exit(STATUS_SIGNAL + WTERMSIG(status));
	}
	exit(WEXITSTATUS(status));
}
