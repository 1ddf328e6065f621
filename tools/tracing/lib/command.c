// SPDX-License-Identifier: GPL-2.0
/*
 * The command that runs while functions are traced.
 *
 * Its process is made early, so that it can be named in set_ftrace_pid, and waits for a byte
 * in a pipe. If we end before, it reads the end of the pipe instead, and ends as well.
 *
 * Until it runs the command it shares our memory. It would have to take down a copy, and that would
 * count as its work, the more of it the more memory we have. errno is shared, too: we wait while it
 * does anything but wait for us.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "signals.h"
#include "util.h"

/* How long a command that is killed has to end by itself. */
#define KILL_AFTER	(2 * NSEC)
/* execvp() has the directories of PATH on it, and pointers to the words of the command. */
#define STACK_SIZE	(1024 * 1024)

static pid_t child;
static char *name;
/* We write to the first one; the second says that the process waits, or why there is no command. */
static int go_pipe[2], error_pipe[2];
static unsigned int flags;
static bool ended, no_input;
static int wait_status;

static void use_null(int fd)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0)
		dup2(null, fd);
}

/* A terminal cannot be read again either, but has something new for each run. */
static void begin_input(void)
{
	static bool begun;
	static off_t place;

	if (begun && place >= 0)
		lseek(STDIN_FILENO, place, SEEK_SET);
	if (begun)
		return;
	begun = true;
	place = lseek(STDIN_FILENO, 0, SEEK_CUR);
	no_input = place < 0 && !isatty(STDIN_FILENO);
	if (no_input)
		warn("standard input cannot be read again: %s has none", name);
}

static int run(void *arg)
{
	char byte, **argv = arg;
	int err;

	close(go_pipe[1]);
	close(error_pipe[0]);
	signals_default();
	if (flags & COMMAND_QUIET)
		use_null(STDOUT_FILENO);
	if (flags & COMMAND_SILENT)
		use_null(STDERR_FILENO);
	if (flags & COMMAND_ASIDE)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (flags & COMMAND_DETACHED)
		setpgid(0, 0);
	if (flags & COMMAND_DETACHED || no_input)
		use_null(STDIN_FILENO);
	if (flags & COMMAND_OURS)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(error_pipe[1], "", 1) != 1 || read(go_pipe[0], &byte, 1) != 1)
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
 * @how: of enum command_flags
 *
 * Another one may follow after command_status().
 *
 * Returns: the process.
 */
pid_t command_make(char **argv, unsigned int how)
{
	static void *stack;
	static size_t size;
	unsigned int argc = 0;
	char byte;

	while (argv[argc])
		argc++;
	if (stack)
		munmap(stack, size);
	/* A pointer to each word, and the stack stays aligned. */
	size = STACK_SIZE + argc * 16;
	stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
		     -1, 0);
	if (stack == MAP_FAILED)
		die("no process can be made: %s", strerror(errno));
	name = argv[0];
	flags = how;
	ended = false;
	if (flags & COMMAND_AGAIN)
		begin_input();
	if (pipe2(go_pipe, O_CLOEXEC) || pipe2(error_pipe, O_CLOEXEC))
		die("no pipe can be made: %s", strerror(errno));
	child = clone(run, (char *)stack + size, CLONE_VM | SIGCHLD, argv);
	if (child < 0)
		die("no process can be made: %s", strerror(errno));
	close(go_pipe[0]);
	close(error_pipe[1]);
	while (read(error_pipe[0], &byte, 1) < 0 && errno == EINTR)
		;
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
 * command_wait - wait for the command's end, for a time, or a signal
 * @until: the time, by CLOCK_MONOTONIC
 *
 * Returns: whether the command has ended.
 */
bool command_wait(uint64_t until)
{
	while (!command_ended() && !signal_came && clock_ns(CLOCK_MONOTONIC) < until)
		signals_wait(until);
	return ended;
}

/**
 * command_kill - end a command that has a process group of its own, with all of the group
 *
 * It is asked first, and has some time to end in good order.
 */
void command_kill(void)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + KILL_AFTER;

	kill(-child, SIGTERM);
	while (!command_ended() && clock_ns(CLOCK_MONOTONIC) < until)
		signals_wait(until);
	kill(-child, SIGKILL);
	command_status();
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

/**
 * command_signal - which signal has ended the command, after command_status()
 *
 * Returns: its number; 0 if the command has ended by itself.
 */
int command_signal(void)
{
	return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
}
