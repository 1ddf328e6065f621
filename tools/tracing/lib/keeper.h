/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that puts everything back.
 */
#ifndef TRACING_KEEPER_H
#define TRACING_KEEPER_H

void keeper_start(void (*put_back)(void));

#endif
