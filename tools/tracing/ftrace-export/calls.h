/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls and returns, put together.
 */
#ifndef EXPORT_CALLS_H
#define EXPORT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "format.h"

void calls_begin(const struct format *format, bool nanoseconds);
void calls_enter(struct task *t, uint64_t ts, uint64_t func, uint32_t name, uint32_t depth,
		 const struct arguments *a);
void calls_leave(struct task *t, uint64_t ts, const struct leave *l);
void calls_gone(struct task *t, uint64_t ts);
void calls_lost(void);
void calls_end(uint64_t ts);
uint64_t calls_count(void);
uint64_t calls_lone_returns(void);
uint64_t calls_unseen(void);

#endif
