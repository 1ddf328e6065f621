// SPDX-License-Identifier: GPL-2.0
/* pty COMMAND [ARGUMENT]...: runs the command on a terminal, and copies its output from there. */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char buffer[4096];
	int master, status;
	ssize_t n;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: pty COMMAND [ARGUMENT]...\n", stderr);
		return 2;
	}
	pid = forkpty(&master, NULL, NULL, NULL);
	if (pid < 0) {
		perror("forkpty");
		return 1;
	}
	if (!pid) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	/* It ends with an error when the last one has closed the terminal. */
	while ((n = read(master, buffer, sizeof(buffer))) > 0) {
		if (fwrite(buffer, 1, n, stdout) < (size_t)n)
			return 1;
	}
	fflush(stdout);
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
