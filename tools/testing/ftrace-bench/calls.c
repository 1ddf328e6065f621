// SPDX-License-Identifier: GPL-2.0
/*
 * calls CPUS SECONDS: calls getppid() for so long on each of so many CPUs, the first that it may
 * use, and prints how many calls a second all of them made, and how many nanoseconds one took, the
 * median. Without words, it prints the name that a hypervisor gives itself. For ftrace_bench.py.
 */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __has_include
#if __has_include("cpuid.h")
#include <cpuid.h>
#endif
#endif

enum { BATCH = 256, BATCHES = 65536, MOST = 4096, SET_SIZE = CPU_ALLOC_SIZE(MOST) };

struct result {
	double rate, ns;
};

/* Of the last batches. */
static double took[BATCHES];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int hypervisor(void)
{
	unsigned int leaf[5] = {};

#ifdef __cpuid
	__cpuid(1, leaf[0], leaf[1], leaf[2], leaf[3]);
	if (leaf[2] >> 31)
		__cpuid(0x40000000, leaf[0], leaf[1], leaf[2], leaf[3]);
	else
		leaf[1] = 0;
#endif
	return puts(leaf[1] ? (char *)&leaf[1] : "") < 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(double *)a, y = *(double *)b;

	return (x > y) - (x < y);
}

/* All begin at once. */
static int work(int cpu, double begin, double seconds, struct result *result)
{
	cpu_set_t *set = CPU_ALLOC(MOST);
	double first, t, next;
	size_t n = 0;

	CPU_ZERO_S(SET_SIZE, set);
	CPU_SET_S(cpu, SET_SIZE, set);
	if (sched_setaffinity(0, SET_SIZE, set))
		return 1;
	do {
		first = now();
	} while (first < begin);
	t = first;
	do {
		for (int i = 0; i < BATCH; i++)
			syscall(SYS_getppid);
		next = now();
		took[n++ % BATCHES] = next - t;
		t = next;
	} while (t < first + seconds * 1e9);
	result->rate = n * BATCH * 1e9 / (t - first);
	if (n > BATCHES)
		n = BATCHES;
	qsort(took, n, sizeof(*took), compare);
	result->ns = took[n / 2] / BATCH;
	return 0;
}

int main(int argc, char **argv)
{
	cpu_set_t *set = CPU_ALLOC(MOST);
	char *end = "", *rest = "";
	long cpus = argc == 3 ? strtol(argv[1], &end, 10) : 0;
	double seconds = argc == 3 ? strtod(argv[2], &rest) : 0, begin, rate = 0, ns = 0;
	struct result *results;
	int status, bad = 0;

	if (argc == 1)
		return hypervisor();
	if (*end || *rest || cpus < 1 || cpus > MOST || !(seconds > 0) || isinf(seconds)) {
		fputs("usage: calls [CPUS SECONDS]\n", stderr);
		return 2;
	}
	results = mmap(NULL, MOST * sizeof(*results), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED || sched_getaffinity(0, SET_SIZE, set)) {
		perror("calls");
		return 1;
	}
	begin = now() + 2e7 + cpus * 1e6;
	for (int cpu = 0, n = 0; cpu < MOST && n < cpus; cpu++) {
		if (!CPU_ISSET_S(cpu, SET_SIZE, set))
			continue;
		if (!fork())
			_exit(work(cpu, begin, seconds, &results[n]));
		n++;
	}
	while (wait(&status) > 0)
		bad |= status;
	for (int n = 0; n < cpus && !bad; n++) {
		bad = !results[n].rate;
		rate += results[n].rate;
		ns += results[n].ns / cpus;
	}
	if (bad) {
		fputs("calls: not all of these CPUs can be used\n", stderr);
		return 1;
	}
	printf("%.0f %.3f\n", rate, ns);
	return 0;
}
