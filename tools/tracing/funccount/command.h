/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that runs while functions are counted.
 */
#ifndef FUNCCOUNT_COMMAND_H
#define FUNCCOUNT_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

pid_t command_make(char **argv);
void command_go(void);
bool command_ended(void);
int command_status(void);

#endif
