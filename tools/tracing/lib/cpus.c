// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs of this machine.
 *
 * Their numbers may have gaps, so how many there are does not say which.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpus.h"
#include "parse.h"
#include "util.h"

/* More than any kernel has. */
#define MOST_CPUS	65536

/**
 * cpus_read - the numbers of the CPUs that a file lists
 * @file: CPUS_POSSIBLE or CPUS_ONLINE
 * @nr: takes how many they are
 *
 * Ends the program if the file has no such list.
 *
 * Returns: the numbers, to be freed.
 */
unsigned int *cpus_read(const char *file, unsigned int *nr)
{
	unsigned int *cpus = alloc(MOST_CPUS, sizeof(*cpus));
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;
	int n = -1;

	if (f && getline(&line, &size, f) > 0)
		n = parse_cpus(line, cpus, MOST_CPUS);
	if (n < 1)
		die("%s has no list of CPUs: is sysfs mounted?", file);
	fclose(f);
	free(line);
	*nr = n;
	return cpus;
}
