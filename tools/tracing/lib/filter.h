/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which functions and tasks an instance traces.
 */
#ifndef TRACING_FILTER_H
#define TRACING_FILTER_H

#include <stdbool.h>
#include <tracefs.h>

#include "counter.h"
#include "counts.h"

bool filter_is_all(const struct wanted *wanted);
void filter_set(struct tracefs_instance *instance, const struct wanted *wanted);
void filter_functions(struct tracefs_instance *instance, const struct wanted *wanted,
		      struct counts *functions);
void filter_set_pids(struct tracefs_instance *instance, const struct wanted *wanted);

#endif
