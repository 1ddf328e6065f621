// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: random and half-right words for every file of function tracing, from several processes.
 *
 *	fuzz SEED SECONDS WORKERS [MODULE...]
 *
 * It is run in tracefs. First a tour writes to each file a word that must be taken, and reads it.
 * Then WORKERS processes open files of the top and of instances, write, read, seek, duplicate
 * descriptors and fork with them, and close them, in any order; one more makes and removes
 * instances and modules (a name for modprobe or a path for insmod). At the end each file gets back
 * its content. The same seed makes the same choices; when they are made depends on the machine.
 *
 * Every loop is bounded by a count and by the time. A process that is at one thing for STUCK
 * seconds is a finding: the kernel is asked for all stacks, and this ends. Before that a possible
 * hog goes: a latency tracer reports each stretch longer than tracing_thresh, with a stack and
 * under a lock, and may do nothing else if that is a few microseconds.
 *
 * Prints "ok - TEXT", "not ok - TEXT" and "# TEXT" lines; exit 1 where something is not ok, 3 where
 * a process is stuck.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_words.h"
#include "tap.h"

enum {
	STUCK = 240,		/* seconds at one thing */
	SLOW = 30,		/* seconds at one thing until it is asked for less */
	WORKERS_MAX = 16,
	LAST = 12,		/* things that a worker remembers */
	FILES_OPEN = 6,		/* of a worker */
	CHILDREN = 3,
	TOGETHER = 4,
	INSTANCES = 3,
	READ_MAX = 1 << 16,	/* bytes a step */
	OFTEN = 9,		/* of the targets, the first ones */
	STUCK_STATUS = 3,
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* The files */
struct target {
	const char *path;	/* with %u, one of eight or so */
	void (*words)(struct text *t);
	const char *plain;	/* is taken; NULL if this is read only */
	const char *off;	/* undoes it; NULL: the text read first */
	bool everywhere;	/* in instances, too */
	bool whole;		/* reads show the kernel's own code, too: fewer */
};

static const struct target targets[] = {
	{ "current_tracer", tracer_words, "function", "nop", true },
	{ "set_ftrace_filter", filter_words, "vfs_read", "", true },
	{ "set_ftrace_notrace", filter_words, "vfs_read", "", true },
	{ "set_graph_function", filter_words, "vfs_read", "" },
	{ "set_graph_notrace", filter_words, "vfs_read", "" },
	{ "set_ftrace_pid", pid_words, "1", "", true },
	{ "set_ftrace_notrace_pid", pid_words, "1", "", true },
	{ "set_ftrace_cgroup", cgroup_words, "/", "", true },
	{ "set_ftrace_notrace_cgroup", cgroup_words, "1", "", true },
	{ "/tmp/cgroup/fz%u/cgroup.procs", move_words },
	{ "/tmp/cgroup/cgroup.procs", move_words },
	{ "dynamic_events", probe_words, "p:fz/tour vfs_read", "" },
	/* Made by the one above, so it is not always there. */
	{ "events/fz/e%u/enable", switch_words },
	{ "stack_trace_filter", filter_words, "vfs_read", "" },
	{ "stack_max_size", number_words, "0", "0" },
	{ "/proc/sys/kernel/stack_tracer_enabled", switch_words, "0", "0" },
	{ "/proc/sys/kernel/ftrace_enabled", switch_words, "1", "1" },
	{ "function_profile_enabled", switch_words, "1", "0" },
	{ "trace_stat/function%u" },
	{ "max_graph_depth", number_words, "3" },
	{ "tracing_thresh", number_words, "0" },
	{ "tracing_on", switch_words, "1", "1", true },
	{ "trace", no_words, "", "", true, true },
	{ "function_counts", no_words, "0", "0", true },
	{ "function_latency", no_words, "0", "0", true },
	{ "max_rate", number_words, "1000000", "0", true },
	{ "max_overhead", percent_words, "0", "0", true },
	{ "throttled", no_words, "\n", "", true },
	{ "overhead_costs", no_words, "event 100000\n", "event 100000\n" },
	{ "trace_options", option_words, "noannotate", "annotate", true },
	{ "trace_clock", clock_words, "global", "local", true },
	{ "buffer_size_kb", size_words, "64", "64", true },
	{ "per_cpu/cpu%u/buffer_size_kb", size_words, .everywhere = true },
	{ "buffer_subbuf_size_kb", size_words, "4", "4", true },
	{ "buffer_percent", percent_words, "50", NULL, true },
	{ "saved_cmdlines_size", number_words, "128", "128" },
	{ "tracing_cpumask", size_words, "3", NULL, true },
	{ "snapshot", number_words, "0", "0", true, true },
	{ "trace_pipe", .everywhere = true, .whole = true },
	{ "per_cpu/cpu%u/trace_pipe_raw", .everywhere = true, .whole = true },
	{ "options/count-sorted", switch_words, "1", NULL },
	{ "options/count-cpus", switch_words, "1", NULL },
	{ "options/count-callers", switch_words, "1", NULL },
	{ "options/count-times", switch_words, "1", NULL },
	{ "options/count-latency", switch_words, "1", NULL },
	{ "options/func-no-repeats", switch_words, "1", NULL, true },
	{ "options/function-fork", switch_words, "1", NULL, true },
	{ "options/function-trace", switch_words, "1", NULL },
	{ "options/display-graph", switch_words, "1", NULL },
	{ "options/sleep-time", switch_words, "0", NULL },
	{ "options/graph-time", switch_words, "0", NULL },
	{ "options/funcgraph-irqs", switch_words, "0", NULL },
	{ "options/funcgraph-overrun", switch_words, "1", NULL },
	{ "options/funcgraph-tail", switch_words, "1", NULL },
	{ "options/funcgraph-proc", switch_words, "1", NULL },
	{ "options/funcgraph-retval", switch_words, "1", NULL },
	{ "callsets" },
	{ "enabled_functions" },
	{ "touched_functions" },
	{ "available_filter_functions" },
	{ "available_filter_functions_addrs" },
	{ "dyn_ftrace_total_info" },
	{ "error_log", no_words, "", "", true },
	{ "stack_trace" },
	{ "kprobe_events", probe_words, "r:fz/tour vfs_read", "" },
};

static bool sometimes_there(const struct target *g)
{
	return strchr(g->path, '%');
}

static char before[ARRAY_SIZE(targets)][64];
static bool missing[ARRAY_SIZE(targets)];

/* The state that the processes share */
struct worker {
	pid_t pid;
	double since;
	unsigned int steps;
	char last[LAST][96];
};

static struct shared {
	pthread_rwlock_t turn;
	double end;
	struct worker worker[WORKERS_MAX + 1];
	struct {
		unsigned int opened, taken, refused, reads;
		uint64_t us;
	} stat[ARRAY_SIZE(targets)];
	unsigned int instances, loads, stacks;
} *shared;
static struct worker *me;

#define count(n) __atomic_fetch_add(&(n), 1, __ATOMIC_RELAXED)

/* Tells the next step, so that one can see where a process is stuck. */
__attribute__((format(printf, 1, 2)))
static void at(const char *fmt, ...)
{
	char s[sizeof(me->last[0])];
	va_list args;

	if (!me)
		return;
	va_start(args, fmt);
	vsnprintf(s, sizeof(s), fmt, args);
	va_end(args);
	for (char *c = s; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '.';
	memcpy(me->last[++me->steps % LAST], s, sizeof(s));
	me->since = now();
}

static void put(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | flags);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		errno = 0;
	close(fd);
}

/* A worker's open files */
struct file {
	int fd;
	const struct target *target;
};

static struct file files[FILES_OPEN];
static unsigned int nr_files;
static pid_t children[CHILDREN];
static unsigned int nr_children;

static unsigned int number(const struct target *g)
{
	return g - targets;
}

static void spent(const struct target *g, double since)
{
	__atomic_fetch_add(&shared->stat[number(g)].us, (now() - since) * 1e6, __ATOMIC_RELAXED);
}

/* Of those that each worker opens once, the next one. */
static unsigned int due = ARRAY_SIZE(targets), workers;

static const struct target *any_target(void)
{
	const struct target *g = &targets[due];

	if (due < ARRAY_SIZE(targets)) {
		due += workers;
		return g;
	}
	/* Half of the time those that are read and written most. */
	return one_in(2) ? &targets[rnd(OFTEN)] : &pick(targets);
}

static void step_open(void)
{
	static const int modes[] = {
		O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND, O_RDWR, O_RDWR | O_TRUNC, O_WRONLY,
		O_RDONLY, O_RDONLY, O_RDWR | O_APPEND, O_WRONLY | O_TRUNC | O_APPEND,
		O_WRONLY | O_CREAT, O_RDONLY | O_TRUNC,
	};
	const struct target *g = any_target();
	char path[128], inside[96];
	int mode = pick(modes), fd;
	double start;

	snprintf(inside, sizeof(inside), g->path, rnd(8));
	if (g->everywhere && one_in(2))
		snprintf(path, sizeof(path), "instances/f%u/%s", rnd(INSTANCES), inside);
	else
		snprintf(path, sizeof(path), "%s", inside);
	at("open %s %#x", path, mode);
	start = now();
	fd = open(path, (g->words ? mode : O_RDONLY) | O_NONBLOCK, 0600);
	spent(g, start);
	if (fd < 0)
		return;
	count(shared->stat[number(g)].opened);
	files[nr_files++] = (struct file){ fd, g };
}

static void step_close(unsigned int i)
{
	at("close %s", files[i].target->path);
	close(files[i].fd);
	files[i] = files[--nr_files];
}

static void write_parts(const struct file *f, const struct text *words)
{
	size_t done = 0;

	do {
		size_t part = one_in(3) ? 1 + rnd(words->len - done + 1) : words->len - done;
		ssize_t n;

		if (part > words->len - done)
			part = words->len - done;
		at("write %s '%.*s'", f->target->path, part < 50 ? (int)part : 50, words->s + done);
		if (one_in(6))
			n = pwrite(f->fd, words->s + done, part, rnd(10000));
		else
			n = write(f->fd, words->s + done, part);
		if (n < 0) {
			if (errno != EBADF)
				count(shared->stat[number(f->target)].refused);
			return;
		}
		count(shared->stat[number(f->target)].taken);
		done += n;
		if (!n || one_in(5))
			return;
	} while (done < words->len);
}

/* Half of the time the same is written once more: a setting must not be made twice. */
static void step_write(const struct file *f)
{
	static struct text t;

	if (!f->target->words)
		return;
	t.len = 0;
	f->target->words(&t);
	if (one_in(6))
		spoil(&t);
	write_parts(f, &t);
	if (one_in(2))
		write_parts(f, &t);
}

static void step_read(const struct file *f)
{
	static char buf[4200];
	size_t most = f->target->whole ? 8192 : 1 + rnd(READ_MAX), done = 0;
	double end = now() + 2;

	at("read %s", f->target->path);
	while (done < most && now() < end) {
		ssize_t n = one_in(10) ? pread(f->fd, buf, 1 + rnd(4200), rnd(100000))
				       : read(f->fd, buf, 1 + rnd(sizeof(buf)));

		if (n <= 0)
			break;
		count(shared->stat[number(f->target)].reads);
		done += n;
	}
}

static void step_seek(const struct file *f)
{
	static const int whence[] = { SEEK_SET, SEEK_CUR, SEEK_END };

	at("seek %s", f->target->path);
	lseek(f->fd, (off_t)rnd(1 << 20) - (one_in(4) ? 1 << 19 : 0), pick(whence));
	if (one_in(20))
		lseek(f->fd, (off_t)rnd(1 << 20) << 40, SEEK_SET);
}

static void step_dup(const struct file *f)
{
	int fd = dup(f->fd);

	if (fd >= 0)
		files[nr_files++] = (struct file){ fd, f->target };
}

static void step(void);

/* The child has the parent's files, and no others that are told apart. */
static void step_fork(void)
{
	unsigned int seed = rnd(1 << 30);
	pid_t pid;

	at("fork");
	pid = fork();
	if (pid > 0) {
		children[nr_children++] = pid;
	} else if (!pid) {
		me = NULL;
		due = ARRAY_SIZE(targets);
		nr_children = CHILDREN;
		rnd_seed(seed, 0);
		for (unsigned int n = rnd(12); n && now() < shared->end; n--)
			step();
		_exit(0);
	}
}

static void reap(bool all)
{
	for (unsigned int i = 0; i < nr_children;) {
		if (all)
			at("wait for child %d", children[i]);
		if (waitpid(children[i], NULL, all ? 0 : WNOHANG) == children[i])
			children[i] = children[--nr_children];
		else
			i++;
	}
}

static void step_random(void)
{
	const struct file *f = nr_files ? &files[rnd(nr_files)] : NULL;
	const struct target *g = f ? f->target : NULL;
	unsigned int what = rnd(16);
	double start = now();

	if (!f || (what < 3 && nr_files < FILES_OPEN))
		step_open();
	else if (what < 8)
		step_write(f);
	else if (what < 10)
		step_read(f);
	else if (what == 10)
		step_seek(f);
	else if (what == 11 && nr_files < FILES_OPEN)
		step_dup(f);
	else if (what == 12 && nr_children < CHILDREN && one_in(4))
		step_fork();
	else
		step_close(f - files);
	if (g)
		spent(g, start);
}

static void step(void)
{
	pthread_rwlock_rdlock(&shared->turn);
	step_random();
	pthread_rwlock_unlock(&shared->turn);
}

/*
 * A stack for each function is too much if all are traced, and the option is all instances' at a
 * time: no other process has a turn meanwhile.
 */
static void stacks(void)
{
	char one[256];

	at("wait for the others");
	pthread_rwlock_wrlock(&shared->turn);
	at("stacks");
	for (int i = 0; i < INSTANCES; i++) {
		snprintf(one, sizeof(one), "instances/f%d/current_tracer", i);
		put(one, "nop", 0);
	}
	put("current_tracer", "nop", 0);
	snprintf(one, sizeof(one), "%s vfs_read", names[rnd(nr_names)]);
	put("set_ftrace_filter", one, O_TRUNC);
	put("options/func_stack_trace", "1", 0);
	put("current_tracer", "function", 0);
	for (int i = 0; i < 20; i++)
		put("/proc/self/comm", "fuzz", 0);
	usleep(20000);
	put("options/func-no-repeats", one_in(2) ? "1" : "0", 0);
	put("options/func_stack_trace", "0", 0);
	if (one_in(2))
		put("current_tracer", "nop", 0);
	count(shared->stacks);
	pthread_rwlock_unlock(&shared->turn);
}

static void work(unsigned int who, uint64_t seed)
{
	me = &shared->worker[who];
	rnd_seed(seed, who);
	due = who;
	while (now() < shared->end) {
		if (!who && one_in(400))
			stacks();
		step();
		reap(false);
	}
	while (nr_files)
		step_close(0);
	reap(true);
	at("done");
	_exit(0);
}

/* Instances and modules */
static bool run(const char *command, const char *arg, const char *arg2)
{
	pid_t pid;
	int status;

	at("%s %s %s", command, arg, arg2 ? arg2 : "");
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execlp(command, command, arg, arg2, NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static void unload(const char *module)
{
	const char *s = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
	char base[64];

	snprintf(base, sizeof(base), "%.*s", (int)strcspn(s, "."), s);
	/* A live patch can only go when no task is in it, so no longer than this. */
	put("/sys/kernel/livepatch/livepatch_sample/enabled", "0", 0);
	for (int i = 0; i < 100 && !access("/sys/kernel/livepatch/livepatch_sample", F_OK); i++)
		usleep(20000);
	run("rmmod", base, NULL);
}

static void step_module(void)
{
	const char *m = modules[rnd(nr_modules)];

	if (one_in(3)) {
		unload(m);
	} else if (run(*m == '/' ? "insmod" : "modprobe", m, NULL)) {
		count(shared->loads);
		if (one_in(2))
			unload(m);
	}
}

static void step_instance(void)
{
	unsigned int n = rnd(INSTANCES);
	char path[64];

	snprintf(path, sizeof(path), "instances/f%u", n);
	at("rmdir %s", path);
	if (one_in(2) && !rmdir(path))
		return;
	at("mkdir %s", path);
	if (mkdir(path, 0700))
		return;
	count(shared->instances);
	snprintf(path, sizeof(path), "instances/f%u/buffer_size_kb", n);
	put(path, "64", 0);
	/* If all functions are traced most of the time, little else happens. */
	snprintf(path, sizeof(path), "instances/f%u/set_ftrace_filter", n);
	put(path, "vfs_*", 0);
}

static void make_and_remove(unsigned int who, uint64_t seed)
{
	me = &shared->worker[who];
	rnd_seed(seed, who);
	while (now() < shared->end) {
		if (nr_modules && one_in(2))
			step_module();
		step_instance();
		at("sleep");
		usleep(rnd(100000));
	}
	for (int i = 0; i < nr_modules; i++)
		unload(modules[i]);
	at("done");
	_exit(0);
}

/* The tour, and the way back */
static bool tour_write(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | flags);
	bool ok;

	if (fd < 0)
		return false;
	ok = !*text || write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return !close(fd) && ok;
}

static bool tour_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	/* A pipe has nothing. */
	if (n < 0 && errno == EAGAIN)
		n = 0;
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return n >= 0;
}

static const char *off(const struct target *g)
{
	return g->off ? g->off : before[number(g)];
}

static void tour(void)
{
	unsigned int there = 0;

	for (const struct target *g = targets; g < targets + ARRAY_SIZE(targets); g++) {
		char path[96];

		snprintf(path, sizeof(path), g->path, 0);
		if (access(path, F_OK)) {
			missing[number(g)] = true;
			if (!sometimes_there(g))
				printf("# this kernel has no %s\n", path);
			continue;
		}
		there++;
		if (!tour_read(path, before[number(g)], sizeof(before[0])))
			result(false, "%s cannot be read: %s", path, strerror(errno));
		else if (g->plain && !tour_write(path, g->plain, 0))
			result(false, "%s does not take '%s': %s", path, g->plain, strerror(errno));
		else if (g->plain && !tour_write(path, off(g), O_TRUNC))
			result(false, "%s does not take '%s': %s", path, off(g), strerror(errno));
	}
	result(there > 15 && !failures, "%u files take a plain word and can be read", there);
}

/* write() to one open file is one at a time; pwrite() is not, nor are writes of io_uring. */
static void write_together(const char *path)
{
	static const char * const words[] = {
		"vfs_read ", "!vfs_read ", "vfs_wri", "te ", "ksys_* ", "no_such_function ",
		"!ksys_read ", "vfs_*:mod:never ",
	};
	int fd = open(path, O_WRONLY | O_TRUNC), status, bad = 0;
	double end = now() + 1;

	for (unsigned int i = 0; fd >= 0 && i < TOGETHER; i++) {
		if (fork())
			continue;
		rnd_seed(i, 0);
		for (int n = 2000; n && now() < end; n--) {
			const char *s = pick(words);

			if (pwrite(fd, s, strlen(s), 0) < 0)
				errno = 0;
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		bad += !!status;
	result(fd >= 0 && !bad && !close(fd), "%d write to one open %s", TOGETHER, path);
	put(path, "", O_TRUNC);
}

/* As each file was; probes before the files that make them, and every kind of command. */
static void restore(const char *directory)
{
	static const char * const commands[] = {
		"traceon", "traceoff", "snapshot", "stacktrace", "dump", "cpudump",
		"enable_event:sched:sched_switch", "disable_event:sched:sched_switch",
	};
	char path[160], word[96];

	snprintf(path, sizeof(path), "%sset_ftrace_filter", directory);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(word, sizeof(word), "!*:%s", commands[i]);
		put(path, word, O_APPEND);
		snprintf(word, sizeof(word), "!*:%s:1", commands[i]);
		put(path, word, O_APPEND);
	}
	snprintf(path, sizeof(path), "%sevents/enable", directory);
	put(path, "0", 0);
	for (const struct target *g = targets; g < targets + ARRAY_SIZE(targets); g++) {
		if (!g->words || missing[number(g)] || sometimes_there(g))
			continue;
		if (*directory && !g->everywhere)
			continue;
		snprintf(path, sizeof(path), "%s%s", *g->path == '/' ? "" : directory, g->path);
		if (!tour_write(path, off(g), O_TRUNC) && !*directory)
			result(false, "%s ends with '%s': %s", path, off(g), strerror(errno));
	}
}

static void restore_all(void)
{
	char path[64];

	for (int i = 0; i < INSTANCES; i++) {
		snprintf(path, sizeof(path), "instances/f%d/", i);
		if (access(path, F_OK))
			continue;
		restore(path);
		result(!rmdir(path), "%s can be removed at the end", path);
	}
	restore("");
}

/* Watching */
static void show_last(int nr)
{
	for (int i = 0; i < nr; i++) {
		const struct worker *w = &shared->worker[i];

		printf("# worker %d, pid %d, %u steps, at the last for %.0f s\n", i, w->pid,
		       w->steps, now() - w->since);
		for (unsigned int k = 1; k <= LAST; k++)
			if (w->last[(w->steps + k) % LAST][0])
				printf("#    %s\n", w->last[(w->steps + k) % LAST]);
	}
}

/* Whether the kernel has found fault with itself: KASAN or a bad page, an oops, a warning. */
static bool faults(void)
{
	char s[32] = "0";

	tour_read("/proc/sys/kernel/tainted", s, sizeof(s));
	return strtoul(s, NULL, 10) & (1 << 5 | 1 << 7 | 1 << 9);
}

static void give_up(int nr)
{
	result(false, "nobody is stuck");
	show_last(nr);
	printf("# stuck; the kernel is asked for the stacks of all tasks\n");
	fflush(stdout);
	put("/proc/sys/kernel/printk", "8", 0);
	put("/proc/sysrq-trigger", "l", 0);
	put("/proc/sysrq-trigger", "w", 0);
	put("/proc/sysrq-trigger", "t", 0);
	sleep(5);
	/* A task that is stuck cannot be waited for. */
	_exit(STUCK_STATUS);
}

/* By a child: the write may have to wait for a slow task. */
static void ask_for_less(void)
{
	static double asked;

	if (now() - asked < SLOW)
		return;
	asked = now();
	printf("# slow: no thresholds any more\n");
	fflush(stdout);
	if (fork())
		return;
	put("tracing_thresh", "0", 0);
	_exit(0);
}

/* How long the process that has been at one thing longest has been there. */
static double longest(int nr)
{
	double most = 0, t;

	for (int i = 0; i < nr; i++) {
		t = shared->worker[i].since ? now() - shared->worker[i].since : 0;
		most = t > most ? t : most;
	}
	return most;
}

static void watch(int nr)
{
	int left = nr, status;
	bool shown = false;

	while (left) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid > 0) {
			for (int i = 0; i < nr; i++)
				if (shared->worker[i].pid == pid) {
					left--;
					shared->worker[i].since = 0;
				}
			if (status)
				result(false, "process %d ended with status %#x", pid, status);
			continue;
		}
		if (longest(nr) > STUCK)
			give_up(nr);
		if (longest(nr) > SLOW)
			ask_for_less();
		if (!shown && faults()) {
			shown = true;
			result(false, "the kernel has nothing to complain of");
			show_last(nr);
			fflush(stdout);
		}
		usleep(200000);
	}
	result(true, "nobody is stuck");
}

static void start(int nr, uint64_t seed, double seconds)
{
	pid_t pid;

	fflush(stdout);
	workers = nr;
	shared->end = now() + seconds;
	for (int i = 0; i <= nr; i++) {
		shared->worker[i].since = now();
		pid = fork();
		if (!pid && i == nr)
			make_and_remove(i, seed);
		else if (!pid)
			work(i, seed);
		shared->worker[i].pid = pid;
	}
	watch(nr + 1);
}

static void report(void)
{
	unsigned int idle = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(targets); i++) {
		const struct target *g = &targets[i];

		if (missing[i] && !sometimes_there(g))
			continue;
		printf("# %-38s opened %6u, writes taken %6u, refused %6u, reads %6u, %4.0f s\n",
		       g->path, shared->stat[i].opened, shared->stat[i].taken,
		       shared->stat[i].refused, shared->stat[i].reads, shared->stat[i].us / 1e6);
		idle += !sometimes_there(g) && !shared->stat[i].opened;
	}
	printf("# %u instances made, %u modules loaded, %u turns with stacks\n",
	       shared->instances, shared->loads, shared->stacks);
	result(!idle, "every file was opened (%u were not)", idle);
	result(shared->instances, "instances were made");
	result(shared->loads || !nr_modules, "modules were loaded");
}

/* The value of each option, to be so again at the end. */
static char option_was[OPTIONS_MAX][2];

static void option_path(unsigned int i, char *path, size_t size)
{
	snprintf(path, size, "options/%s", options[i]);
}

/* But for those that cost a stack with each function. */
static void read_options(void)
{
	DIR *d = opendir("options");
	struct dirent *e;
	char path[300];

	while (d && (e = readdir(d)) && nr_options < OPTIONS_MAX) {
		if (*e->d_name == '.' || strstr(e->d_name, "stack") || strstr(e->d_name, "dest"))
			continue;
		options[nr_options] = strdup(e->d_name);
		option_path(nr_options, path, sizeof(path));
		tour_read(path, option_was[nr_options], sizeof(option_was[0]));
		nr_options++;
	}
	if (d)
		closedir(d);
}

static void restore_options(void)
{
	char path[300];

	for (unsigned int i = 0; i < nr_options; i++) {
		option_path(i, path, sizeof(path));
		put(path, option_was[i], 0);
	}
}

static void read_names(void)
{
	FILE *f = fopen("available_filter_functions", "r");
	unsigned int lines = 0, every;
	char line[600];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		lines++;
	every = lines / NAMES_MAX + 1;
	rewind(f);
	for (lines = 0; fgets(line, sizeof(line), f) && nr_names < NAMES_MAX; lines++) {
		if (lines % every)
			continue;
		line[strcspn(line, " \t\n")] = 0;
		names[nr_names++] = strdup(line);
	}
	fclose(f);
}

static bool share(void)
{
	pthread_rwlockattr_t attr;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return false;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	/* Otherwise some process always reads, and stacks() waits for ever. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	return !pthread_rwlock_init(&shared->turn, &attr);
}

int main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[3]) : 0;

	if (nr < 1 || nr > WORKERS_MAX || !share()) {
		fputs("usage: fuzz SEED SECONDS WORKERS [MODULE...]\n", stderr);
		return 2;
	}
	modules = argv + 4;
	nr_modules = argc - 4;
	read_names();
	read_options();
	result(nr_names > 100, "there are functions to name (%u)", nr_names);
	if (failures)
		return 1;
	tour();
	write_together("set_ftrace_filter");
	write_together("set_graph_function");
	put("set_ftrace_filter", "vfs_*", 0);
	start(nr, strtoull(argv[1], NULL, 0), atof(argv[2]));
	restore_options();
	restore_all();
	report();
	return !!failures;
}
