// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a 32-bit guest, where the guest's own programs do not run:
 * tests the users of text patching (static keys, static calls, kprobes, KUnit's suites) while other
 * tasks execute the text. Results as TAP, a failed one after its output, as "# " lines; then
 * "GUEST-EXIT 0". Built on the kernel's own tools/include/nolibc, so that no 32-bit libc is needed.
 */
#include "tap.h"

#define TRACING		"/sys/kernel/tracing/"
#define EVENTS		TRACING "events/"
#define CALLS		50
#define ROUNDS		20
#define READERS		3

static char buf[1 << 18];

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), len = strlen(text), done;

	done = fd < 0 ? -1 : write(fd, text, len);
	if (done != len)
		printf("# writing '%s' to %s failed: %d\n", text, path, errno);
	if (fd >= 0)
		close(fd);
	return done == len;
}

/* Leaves the file in buf; a rest that does not fit is lost. */
static int get(const char *path)
{
	int fd = open(path, O_RDONLY), len = 0, n;

	buf[0] = 0;
	if (fd < 0)
		return printf("# cannot open %s: %d\n", path, errno) < 0;
	while ((n = read(fd, buf + len, sizeof(buf) - 1 - len)) > 0)
		len += n;
	buf[len] = 0;
	close(fd);
	return 1;
}

static int count(const char *word)
{
	int len = strlen(word), n = 0;

	for (const char *at = buf; *at; at++)
		n += !strncmp(at, word, len);
	return n;
}

/* Of the trace, which is emptied. Reading it is not recorded. */
static int traced(const char *word, int want)
{
	int n;

	put(TRACING "tracing_on", "0");
	get(TRACING "trace");
	n = count(word);
	put(TRACING "trace", "\n");
	put(TRACING "tracing_on", "1");
	if (n != want)
		printf("# %d lines have '%s', not %d\n", n, word, want);
	return n == want;
}

/* Records this task, and not the readers. */
static int only_me(const char *path)
{
	char filter[40] = "common_pid==";

	itoa_r(getpid(), filter + strlen(filter));
	return put(path, filter);
}

static void reads(int fd)
{
	char byte;

	for (int i = 0; i < CALLS; i++) {
		lseek(fd, 0, SEEK_SET);
		read(fd, &byte, 1);
	}
}

/* They execute the code that the tests switch. */
static void readers_start(int *pids)
{
	for (int i = 0; i < READERS; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			int fd = open("/proc/version", O_RDONLY);

			for (;;) {
				reads(fd);
				getppid();
			}
		}
	}
}

/* Whether they had not died of something else before. */
static int readers_stop(const int *pids)
{
	int status, well = 0;

	for (int i = 0; i < READERS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		well += (status & 0x7f) == SIGKILL;
	}
	return well == READERS;
}

static int events(void)
{
	const char *enable = EVENTS "syscalls/sys_enter_getppid/enable";
	int ok = only_me(EVENTS "syscalls/sys_enter_getppid/filter");

	for (int i = 0; i < ROUNDS; i++) {
		ok &= put(enable, "1");
		for (int k = 0; k < CALLS; k++)
			getppid();
		ok &= put(enable, "0");
		for (int k = 0; k < CALLS; k++)
			getppid();
		ok &= traced("sys_getppid(", CALLS);
	}
	return ok;
}

static int all_events(void)
{
	int ok = 1;

	for (int i = 0; i < 3; i++) {
		ok &= put(EVENTS "enable", "1");
		usleep(100000);
		/* Before events go off one by one: the last ones would overwrite all others. */
		put(TRACING "tracing_on", "0");
		ok &= put(EVENTS "enable", "0");
		get(TRACING "trace");
		ok &= count(" sys_") > 0;
		put(TRACING "trace", "\n");
		put(TRACING "tracing_on", "1");
	}
	usleep(100000);
	return ok & traced(" sys_", 0);
}

static int kprobes_list(const char *word)
{
	for (int i = 0; i < 100; i++) {
		get("/sys/kernel/debug/kprobes/list");
		if (count(word))
			return 1;
		usleep(100000);
	}
	printf("# no '%s' in kprobes/list:\n# %s\n", word, buf);
	return 0;
}

/* With a breakpoint at first, and with a jump once that has taken its place. */
static int kprobe(int fd)
{
	int ok = put(TRACING "kprobe_events", "p:entry vfs_read\n");

	ok &= only_me(EVENTS "kprobes/entry/filter");
	for (int i = 0; i < 5; i++) {
		ok &= put(EVENTS "kprobes/entry/enable", "1");
		reads(fd);
		ok &= traced(" entry: (vfs_read", CALLS) && kprobes_list("[OPTIMIZED]");
		put(TRACING "trace", "\n");
		reads(fd);
		ok &= traced(" entry: (vfs_read", CALLS);
		ok &= put(EVENTS "kprobes/entry/enable", "0");
		reads(fd);
		ok &= traced(" entry: (vfs_read", 0);
	}
	return ok & put(TRACING "kprobe_events", "\n");
}

static int kretprobe(int fd)
{
	int ok = put(TRACING "kprobe_events", "r:return vfs_read ret=$retval\n");

	ok &= only_me(EVENTS "kprobes/return/filter");
	for (int i = 0; i < ROUNDS; i++) {
		ok &= put(EVENTS "kprobes/return/enable", "1");
		reads(fd);
		ok &= put(EVENTS "kprobes/return/enable", "0");
		reads(fd);
		ok &= traced(" ret=0x1\n", CALLS);
	}
	return ok & put(TRACING "kprobe_events", "\n");
}

/* Its event is a kprobe, and there are keys in its text. */
static int module(void)
{
	int fd = open("/module.ko", O_RDONLY), ok, n;

	for (n = 0; n < 5; n++) {
		ok = !syscall(__NR_finit_module, fd, "", 0);
		if (ok)
			close(open("/proc/version", O_RDONLY));
		if (!ok || syscall(__NR_delete_module, "kprobe_event_gen_test", 0)) {
			printf("# %s: errno %d\n", ok ? "unloading" : "loading", errno);
			break;
		}
	}
	close(fd);
	return n == 5;
}

static int kunit(const char *path)
{
	int ok = get(path) && count("ok ") && !count("not ok ");

	if (!ok)
		printf("# %s\n", buf);
	return ok;
}

static void run_tests(void)
{
	int fd = open("/proc/version", O_RDONLY), pids[READERS];

	readers_start(pids);
	result(events(), "static keys: an event on and off, each call of it recorded");
	result(all_events(), "static keys: all events on and off");
	result(kprobe(fd), "kprobe: breakpoint and jump, each call recorded");
	result(kretprobe(fd), "kretprobe: each return recorded, with its value");
	result(module(), "a module with keys and kprobes comes and goes");
	result(readers_stop(pids), "the tasks that executed all this are well");
	result(kunit("/sys/kernel/debug/kunit/text_patch/results"), "KUnit: text_patch");
	result(kunit("/sys/kernel/debug/kunit/kprobes_test/results"), "KUnit: kprobes_test");
}

int main(void)
{
	mkdir("/dev", 0755);
	mount("dev", "/dev", "devtmpfs", 0, 0);
	mount("proc", "/proc", "proc", 0, 0);
	mount("sys", "/sys", "sysfs", 0, 0);
	mount("debug", "/sys/kernel/debug", "debugfs", 0, 0);
	mount("tracing", "/sys/kernel/tracing", "tracefs", 0, 0);
	dup2(open("/dev/ttyS1", O_RDWR), 1);
	run_tests();
	printf("GUEST-EXIT %d\n", !!failures);
	sleep(1);
	reboot(LINUX_REBOOT_CMD_RESTART);
	return 1;
}
