/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of a traced call, and of an event, on this machine.
 */
#ifndef OVERHEAD_CALIBRATE_H
#define OVERHEAD_CALIBRATE_H

#include <tracefs.h>

#include "items.h"

void calibrate(struct tracefs_instance *instance, const struct items *items,
	       double cost[ITEM_KINDS]);

#endif
