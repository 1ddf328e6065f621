/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Each test is a line "ok - ..." or "not ok - ..."; the last line is "N passed, N failed".
 */
#ifndef TEST_RESULT_H
#define TEST_RESULT_H

#include <stdbool.h>
#include <stdio.h>

static unsigned int passed, failed;

static void result(bool ok, const char *test, const char *what)
{
	printf("%s - %s: %s\n", ok ? "ok" : "not ok", test, what);
	if (ok)
		passed++;
	else
		failed++;
}

/* Returns the program's status. */
static int closing(void)
{
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}

#endif
