/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPUs of this machine.
 */
#ifndef TRACING_CPUS_H
#define TRACING_CPUS_H

/* Those for which tracefs has files: they may come online. */
#define CPUS_POSSIBLE	"/sys/devices/system/cpu/possible"
#define CPUS_ONLINE	"/sys/devices/system/cpu/online"

unsigned int *cpus_read(const char *file, unsigned int *nr);

#endif
