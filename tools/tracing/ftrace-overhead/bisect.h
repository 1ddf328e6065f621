/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ftrace-overhead bisect: the functions whose tracing makes a test fail.
 */
#ifndef OVERHEAD_BISECT_H
#define OVERHEAD_BISECT_H

int bisect(int argc, char **argv);

#endif
