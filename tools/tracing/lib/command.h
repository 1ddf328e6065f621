/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that runs while functions are traced.
 */
#ifndef TRACING_COMMAND_H
#define TRACING_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * enum command_flags - how the command runs
 * @COMMAND_QUIET: its standard output is thrown away
 * @COMMAND_DETACHED: it has no standard input, and a process group of its own
 * @COMMAND_OURS: it is killed if we end before it does
 * @COMMAND_SILENT: its standard error is thrown away
 * @COMMAND_ASIDE: its standard output goes to standard error
 * @COMMAND_AGAIN: it runs again and again: its standard input is at the same place each time
 */
enum command_flags {
	COMMAND_QUIET	= 1 << 0,
	COMMAND_DETACHED	= 1 << 1,
	COMMAND_OURS	= 1 << 2,
	COMMAND_SILENT	= 1 << 3,
	COMMAND_ASIDE	= 1 << 4,
	COMMAND_AGAIN	= 1 << 5,
};

pid_t command_make(char **argv, unsigned int how);
void command_go(void);
bool command_ended(void);
bool command_wait(uint64_t until);
void command_kill(void);
int command_status(void);
int command_signal(void);

#endif
