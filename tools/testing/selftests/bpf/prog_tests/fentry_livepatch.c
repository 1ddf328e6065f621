// SPDX-License-Identifier: GPL-2.0
/*
 * A live patch and programs at the entry and exit of the same function: whichever comes first and
 * whichever goes first, the patch holds as long as it is there, and each call is counted as long as
 * the programs are there.
 */
#include <test_progs.h>
#include "fentry_livepatch.skel.h"

#define LIVEPATCH "/sys/kernel/livepatch/livepatch_sample"

static bool text_is_patched(void)
{
	char text[4096];
	ssize_t len;
	int fd;

	fd = open("/proc/cmdline", O_RDONLY);
	if (!ASSERT_OK_FD(fd, "open /proc/cmdline"))
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (!ASSERT_GT(len, 0, "read /proc/cmdline"))
		return false;
	text[len] = '\0';
	return strstr(text, "live patched");
}

/* Checks which function answers a call now, and how often each program counts it. */
static void check_call(struct fentry_livepatch *skel, bool patched, int seen)
{
	skel->bss->entries = 0;
	skel->bss->exits = 0;
	ASSERT_EQ(text_is_patched(), patched, "patched");
	ASSERT_EQ(skel->bss->entries, seen, "entries");
	ASSERT_EQ(skel->bss->exits, seen, "exits");
}

static bool patch(void)
{
	return ASSERT_OK(system("modprobe livepatch-sample"), "load livepatch-sample");
}

static void unpatch(void)
{
	int i;

	system("echo 0 >" LIVEPATCH "/enabled");
	for (i = 0; i < 600 && !access(LIVEPATCH, F_OK); i++)
		usleep(100000);
	ASSERT_OK(system("modprobe -r livepatch-sample"), "unload livepatch-sample");
}

static void patch_first(struct fentry_livepatch *skel)
{
	if (!patch())
		return;
	check_call(skel, true, 0);
	if (ASSERT_OK(fentry_livepatch__attach(skel), "attach"))
		check_call(skel, true, 1);
	fentry_livepatch__detach(skel);
	check_call(skel, true, 0);
	unpatch();
	check_call(skel, false, 0);
}

static void program_first(struct fentry_livepatch *skel)
{
	if (!ASSERT_OK(fentry_livepatch__attach(skel), "attach"))
		return;
	check_call(skel, false, 1);
	if (patch()) {
		check_call(skel, true, 1);
		unpatch();
	}
	check_call(skel, false, 1);
	fentry_livepatch__detach(skel);
	check_call(skel, false, 0);
}

/* The function is patched while a program comes, and a program is on while the patch goes. */
static void crossed(struct fentry_livepatch *skel)
{
	if (!patch())
		return;
	if (ASSERT_OK(fentry_livepatch__attach(skel), "attach"))
		check_call(skel, true, 1);
	unpatch();
	check_call(skel, false, 1);
	if (patch()) {
		fentry_livepatch__detach(skel);
		check_call(skel, true, 0);
		unpatch();
	}
	check_call(skel, false, 0);
}

void serial_test_fentry_livepatch(void)
{
	struct fentry_livepatch *skel;

	if (system("modprobe -n livepatch-sample")) {
		test__skip();
		return;
	}
	skel = fentry_livepatch__open_and_load();
	if (!ASSERT_OK_PTR(skel, "open and load"))
		return;
	skel->bss->caller = getpid();
	if (test__start_subtest("patch_first"))
		patch_first(skel);
	if (test__start_subtest("program_first"))
		program_first(skel);
	if (test__start_subtest("crossed"))
		crossed(skel);
	fentry_livepatch__destroy(skel);
}
