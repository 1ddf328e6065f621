/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ftrace-overhead hooks: the callbacks that functions have now, and their cost.
 */
#ifndef OVERHEAD_HOOKS_H
#define OVERHEAD_HOOKS_H

int hooks(int argc, char **argv);

#endif
