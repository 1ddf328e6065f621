// SPDX-License-Identifier: GPL-2.0
/*
 * Signals: they end the counting in an orderly way, wherever they come.
 *
 * They are blocked but for two places, the waiting and the writing of output, which may
 * block for as long as a terminal or a reader likes. So no change of the system is ever
 * cut in two. Once the system is as it was, they have their usual effect again.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "signals.h"
#include "util.h"

/*
 * All signals but these end the counting. Those of the first line end no program, those of the
 * second cannot wait, as faults, and those of the third are of_writes.
 */
static const int others[] = {
	SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
	SIGKILL, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP,
	SIGPIPE, SIGXFSZ,
};

/* The next write gets an error: the reader has gone away, or the file must not grow. */
static const int of_writes[] = { SIGPIPE, SIGXFSZ };

volatile sig_atomic_t signal_came;
volatile sig_atomic_t signal_of_terminal;

static sigset_t before;
static struct sigaction old_action[NSIG], old_of_writes[ARRAY_SIZE(of_writes)];

/**
 * signal_ends - whether a signal ends a program, and can be held back
 * @number: the signal; the C library takes no action for those of its own
 *
 * Returns: true if it does.
 */
bool signal_ends(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (others[i] == number)
			return false;
	}
	return true;
}

static void note(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGCHLD)
		return;
	signal_came = number;
	/*
	 * A key of the terminal sends these to the command as well. Others of the kernel are ours
	 * only, SIGHUP among them: a hang-up sends it to the leader of the session.
	 */
	signal_of_terminal = info->si_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT);
}

/**
 * signals_hold - from now on, signals are noted instead of ending the program
 *
 * A signal that the shell has told us to ignore stays ignored.
 */
void signals_hold(void)
{
	struct sigaction action = { .sa_sigaction = note, .sa_flags = SA_SIGINFO };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	for (int i = 1; i < NSIG; i++) {
		if (!signal_ends(i))
			continue;
		sigaddset(&held, i);
		sigaction(i, NULL, &old_action[i]);
		if (old_action[i].sa_handler != SIG_IGN)
			sigaction(i, &action, NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_writes); i++)
		sigaction(of_writes[i], &ignore, &old_of_writes[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
}

static void restore(void)
{
	for (int i = 1; i < NSIG; i++) {
		if (signal_ends(i))
			sigaction(i, &old_action[i], NULL);
	}
}

/**
 * signals_release - signals end the program again
 *
 * One that has been held back is noted first: the counts are still to be written.
 */
void signals_release(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
	restore();
}

/**
 * signals_default - give a new process the signals that we were given
 *
 * It may share our memory: nothing is noted there.
 */
void signals_default(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &plain, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(of_writes); i++)
		sigaction(of_writes[i], &old_of_writes[i], NULL);
	restore();
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/**
 * signals_write - write to a file; a signal that ends the counting interrupts it
 * @fd: the file
 * @text: the text to write
 * @len: how long it is
 *
 * Returns: how much is written; if not all, errno says why.
 */
size_t signals_write(int fd, const char *text, size_t len)
{
	size_t done = 0;
	sigset_t held;
	ssize_t n;
	int err;

	sigprocmask(SIG_SETMASK, &before, &held);
	while (done < len) {
		errno = EINTR;
		if (signal_came)
			break;
		n = write(fd, text + done, len - done);
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			break;
	}
	err = errno;
	sigprocmask(SIG_SETMASK, &held, NULL);
	errno = err;
	return done;
}

/**
 * signals_wait - wait for a time, or a signal
 * @until: the time, by CLOCK_MONOTONIC
 *
 * Returns: whether the time has come.
 */
bool signals_wait(uint64_t until)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct timespec left;

	/* Where time is always up, signals would never be taken without the call. */
	if (now > until)
		now = until;
	left.tv_sec = (until - now) / NSEC;
	left.tv_nsec = (until - now) % NSEC;
	return !ppoll(NULL, 0, &left, &before);
}
