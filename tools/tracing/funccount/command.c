// SPDX-License-Identifier: GPL-2.0
/*
 * The command that runs while functions are counted.
 *
 * Its process is made early, so that it can be named in set_ftrace_pid, and waits for a byte
 * in a pipe. If we end before, it reads the end of the pipe instead, and ends as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "signals.h"
#include "util.h"

static pid_t child;
static char *name;
/* We write to the first one; what the second gives is why the command cannot be run. */
static int go_pipe[2], error_pipe[2];
static bool ended;
static int wait_status;

static void run(char **argv)
{
	char byte;
	int err;

	close(go_pipe[1]);
	close(error_pipe[0]);
	signals_default();
	if (read(go_pipe[0], &byte, 1) != 1)
		_exit(STATUS_ERROR);
	execvp(argv[0], argv);
	err = errno;
	if (write(error_pipe[1], &err, sizeof(err)) < 0)
		_exit(STATUS_ERROR);
	_exit(err == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN);
}

/**
 * command_make - make the process of the command, which does not run it yet
 * @argv: the command
 *
 * Returns: the process.
 */
pid_t command_make(char **argv)
{
	name = argv[0];
	if (pipe2(go_pipe, O_CLOEXEC) || pipe2(error_pipe, O_CLOEXEC))
		die("no pipe can be made: %s", strerror(errno));
	child = fork();
	if (child < 0)
		die("no process can be made: %s", strerror(errno));
	if (!child)
		run(argv);
	close(go_pipe[0]);
	close(error_pipe[1]);
	return child;
}

/**
 * command_go - run the command
 *
 * Ends the program if it cannot be run, with the status that shells have for that.
 */
void command_go(void)
{
	int err;

	if (write(go_pipe[1], "", 1) == 1 &&
	    read(error_pipe[0], &err, sizeof(err)) == sizeof(err)) {
		error_status = err == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
		die("%s cannot be run: %s", name, strerror(err));
	}
	close(go_pipe[1]);
	close(error_pipe[0]);
}

/**
 * command_ended - whether the command has ended
 *
 * Returns: true if it has.
 */
bool command_ended(void)
{
	if (!ended)
		ended = waitpid(child, &wait_status, WNOHANG) == child;
	return ended;
}

/**
 * command_status - wait for the command's end
 *
 * A signal that has ended the counting is passed on to it first, unless it had it anyway.
 *
 * Returns: its status, as a shell has it.
 */
int command_status(void)
{
	if (!ended && signal_came && !signal_of_terminal)
		kill(child, signal_came);
	while (!ended && waitpid(child, &wait_status, 0) < 0) {
		if (errno != EINTR)
			die("%s cannot be waited for: %s", name, strerror(errno));
	}
	return WIFSIGNALED(wait_status) ? STATUS_SIGNAL + WTERMSIG(wait_status) :
					  WEXITSTATUS(wait_status);
}
