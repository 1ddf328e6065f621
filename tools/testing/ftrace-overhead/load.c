// SPDX-License-Identifier: GPL-2.0
/* load NAME COUNT: so many turns of a load of loads.h. Exit 1 where one fails. */
#define _GNU_SOURCE
#include <stdio.h>

#include "loads.h"

int main(int argc, char **argv)
{
	const struct load *load = argc == 3 ? load_find(argv[1]) : NULL;
	long result;

	if (!load) {
		fputs("usage: load loop|switch|syscall|exec|file|tcp COUNT\n", stderr);
		return 2;
	}
	result = load_start(load) < 0 ? -1 : load_turns(load, atol(argv[2]));
	if (result < 0)
		perror(argv[1]);
	load_end();
	return result < 0;
}
