/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often each function is called, and each event happens, in one run.
 */
#ifndef OVERHEAD_HITS_H
#define OVERHEAD_HITS_H

#include <tracefs.h>

#include "items.h"

void hits_count(struct tracefs_instance *instance, struct items *items);

#endif
