/* SPDX-License-Identifier: GPL-2.0 */
/* Results of tests, as jobs/lib.sh writes them. Needs stdio.h and stdarg.h. */
static int failures;

__attribute__((format(printf, 2, 3)))
static void result(int ok, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("%s - ", ok ? "ok" : "not ok");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	failures += !ok;
}
