/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals: they end the counting in an orderly way, wherever they come.
 */
#ifndef TRACING_SIGNALS_H
#define TRACING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool signal_ends(int number);
void signals_hold(void);
void signals_release(void);
void signals_default(void);
size_t signals_write(int fd, const char *text, size_t len);
bool signals_wait(uint64_t until);

/* The one that is to end the counting; 0 as long as no signal has come. */
extern volatile sig_atomic_t signal_came;
/* Whether a key of the terminal has sent it, and so to the command as well. */
extern volatile sig_atomic_t signal_of_terminal;

#endif
