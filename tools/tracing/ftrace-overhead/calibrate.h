/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call that is traced costs on this machine, and what an event.
 */
#ifndef OVERHEAD_CALIBRATE_H
#define OVERHEAD_CALIBRATE_H

#include <tracefs.h>

#include "items.h"

void calibrate(struct tracefs_instance *instance, const struct items *items,
	       double cost[ITEM_KINDS]);

#endif
