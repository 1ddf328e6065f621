// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a traced call, and of an event, on this machine.
 *
 * A loop sends a signal that is ignored. That takes a system call of some ten functions, and an
 * event of middling size. It is timed with and without tracing in an instance of our own, which
 * has the options of the top one. The records say how many calls or events it was. For
 * sched_switch, the loop sends a byte to another process, and takes it back.
 *
 * It runs on one CPU, so that the tasks of others do not record there meanwhile. Of several
 * rounds the fastest is taken: a disturbance makes a round slower, never faster.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate.h"
#include "counter.h"
#include "cpus.h"
#include "instance.h"
#include "measure.h"
#include "saved.h"
#include "setup.h"
#include "signals.h"
#include "util.h"

#define LOOPS	5000
#define ROUNDS	7
#define BUFFER_KB "64"

/**
 * struct round - one round of the loop
 * @seconds: how long it took
 * @records: how many records there were meanwhile
 */
struct round {
	double seconds;
	double records;
};

static struct tracefs_instance *own;
static int cpu;

/* The loop */

/* A uprobe may be here. */
static __attribute__((noinline)) void probed_function(void)
{
	asm volatile("");
}

/* One that is ignored without a word of ours: others end the program when they come. */
static void send_signal(void)
{
	kill(getpid(), SIGURG);
	probed_function();
}

static int there[2], back[2];

static void send_byte(void)
{
	char byte = 0;

	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		die("a pipe is broken: %s", strerror(errno));
}

static struct round run_loop(void (*work)(void))
{
	struct round round = { .records = recorded_events(own, cpu) };
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	for (unsigned int i = 0; i < LOOPS; i++)
		work();
	round.seconds = (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
	round.records = recorded_events(own, cpu) - round.records;
	return round;
}

static struct round fastest_round(void (*work)(void))
{
	struct round best = { .seconds = INFINITY };

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct round round = run_loop(work);

		if (round.seconds < best.seconds)
			best = round;
		/* One that was held back comes now. */
		signals_wait(clock_ns(CLOCK_MONOTONIC) + NSEC / 1000);
		if (signal_came)
			exit(STATUS_SIGNAL + signal_came);
	}
	return best;
}

/* The cost of a record; not a number if there were fewer than one in each loop. */
static double cost_of(struct round with, struct round without)
{
	if (with.records < LOOPS)
		return NAN;
	return fmax((with.seconds - without.seconds) / with.records, 0);
}

/* The tracer */

/* Gives a file of the instance the value of the top one, if both have the file. */
static void copy_file(const char *file)
{
	char *text;

	if (!tracefs_file_exists(NULL, file) || !tracefs_file_exists(own, file))
		return;
	text = file_read(NULL, file);
	text[strcspn(text, "\n")] = '\0';
	if (!file_is(own, file, text))
		file_write(own, file, text);
	free(text);
}

static void copy_options(void)
{
	char *path = tracefs_instance_get_file(own, "options");
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *file = format_string("options/%s", entry->d_name);

		/* These two take records from the top instance, or copy them. */
		if (*entry->d_name != '.' && strcmp(entry->d_name, "trace_printk_dest") &&
		    strcmp(entry->d_name, "copy_trace_marker"))
			copy_file(file);
		free(file);
	}
	if (dir)
		closedir(dir);
	tracefs_put_tracing_file(path);
}

/* trace_clock shows all of them, and the one in use in brackets. */
static void copy_clock(void)
{
	char *text = file_read(NULL, "trace_clock"), *clock = strchr(text, '[');

	if (clock) {
		clock[strcspn(clock, "]")] = '\0';
		file_write(own, "trace_clock", clock + 1);
	}
	free(text);
}

/* How many calls this CPU has made, as the tracer count says. */
static double counted_calls(const struct wanted *wanted)
{
	struct counts counts;
	double calls = 0;

	counts_init(&counts, wanted->nr_cpus);
	tracer_counter.read(&counts);
	for (unsigned int i = 0; i < wanted->nr_cpus; i++) {
		if (wanted->cpus[i] != (unsigned int)cpu)
			continue;
		for (size_t j = 0; j < counts.nr; j++)
			calls += counts.row[j].cpu[i];
	}
	counts_free(&counts);
	return calls;
}

/* It records nothing. All rounds are alike, so each has an equal part of the count. */
static double calibrate_count(struct round without)
{
	char *all = "*";
	struct wanted wanted = { .glob = &all, .nr_globs = 1, .per_cpu = true };
	struct round with;

	wanted.cpus = cpus_read(CPUS_POSSIBLE, &wanted.nr_cpus);
	tracer_counter.prepare(&wanted);
	tracer_counter.start();
	with = fastest_round(send_signal);
	tracer_counter.stop();
	/* From zero on, where it was started. */
	with.records = counted_calls(&wanted) / ROUNDS;
	free(wanted.cpus);
	return cost_of(with, without);
}

static double calibrate_tracer(struct round without)
{
	struct round with;

	if (!strcmp(setup.tracer, tracer_counter.name))
		return calibrate_count(without);
	if (!file_write(own, "current_tracer", setup.tracer)) {
		warn("the tracer %s cannot be used in an instance, so its calls are not calibrated",
		     setup.tracer);
		return NAN;
	}
	copy_options();
	with = fastest_round(send_signal);
	file_set(own, "current_tracer", "nop");
	/* A call and its end are two records. */
	if (!strcmp(setup.tracer, "function_graph"))
		with.records /= 2;
	return cost_of(with, without);
}

/* Events */

static double calibrate_event(const char *system, const char *name, void (*work)(void),
			      struct round without)
{
	double cost;

	if (!event_set(own, system, name, true, NULL))
		return NAN;
	cost = cost_of(fastest_round(work), without);
	event_set(own, system, name, false, NULL);
	return cost;
}

/* The other process: on the same CPU, so that each byte is a switch to it and one back. */
static void answer(void)
{
	char byte;

	close(there[1]);
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	_exit(0);
}

static double calibrate_switch(void)
{
	double cost;
	pid_t pid;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		die("no pipe can be made: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("no process can be made: %s", strerror(errno));
	if (!pid)
		answer();
	cost = calibrate_event("sched", "sched_switch", send_byte, fastest_round(send_byte));
	/* It ends when it finds the pipe closed. */
	close(there[1]);
	waitpid(pid, NULL, 0);
	close(there[0]);
	close(back[0]);
	close(back[1]);
	return cost;
}

/* A new line of dynamic_events is beside those of others: nothing is truncated. */
static bool probe_change(const char *line)
{
	return file_write(NULL, "dynamic_events", line);
}

static double calibrate_probe(const char *line, struct round without)
{
	double cost = NAN;

	if (probe_change(line)) {
		cost = calibrate_event(PROBES, PROBE_NAME, send_signal, without);
		probe_change("-:" PROBE);
	}
	return cost;
}

static double calibrate_function_probe(const char *type, const char *suffix,
				       struct round without)
{
	/* Functions that kill() calls. The first one that is called, and not inlined, will do. */
	static const char * const functions[] = {
		"do_send_sig_info", "__send_signal_locked", "send_signal_locked",
		"group_send_sig_info", "kill_pid_info", "check_kill_permission",
	};
	double cost = NAN;

	for (size_t i = 0; isnan(cost) && i < ARRAY_SIZE(functions); i++) {
		char *line = format_string("%s" PROBE " %s%s", type, functions[i], suffix);

		cost = calibrate_probe(line, without);
		free(line);
	}
	return cost;
}

static int find_offset(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t *at = data, address = *at - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		__auto_type segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_memsz) {
			*at = address - segment->p_vaddr + segment->p_offset;
			break;
		}
	}
	/* The program itself comes first. */
	return 1;
}

static double calibrate_uprobe(char type, struct round without)
{
	uintptr_t offset = (uintptr_t)probed_function;
	double cost;
	char *line;

	dl_iterate_phdr(find_offset, &offset);
	line = format_string("%c:" PROBE " /proc/%d/exe:0x%lx", type, (int)getpid(),
			     (unsigned long)offset);
	cost = calibrate_probe(line, without);
	free(line);
	return cost;
}

static double calibrate_kind(enum item_kind kind, struct round without)
{
	switch (kind) {
	case ITEM_FUNCTION:
		return calibrate_tracer(without);
	case ITEM_EVENT:
		return calibrate_event("signal", "signal_generate", send_signal, without);
	case ITEM_SYSCALL:
		return calibrate_event("raw_syscalls", NULL, send_signal, without);
	case ITEM_SWITCH:
		return calibrate_switch();
	case ITEM_KPROBE:
		return calibrate_function_probe("p:", "", without);
	case ITEM_KRETPROBE:
		return calibrate_function_probe("r:", "", without);
	case ITEM_FPROBE:
		return calibrate_function_probe("f:", "", without);
	case ITEM_FRETPROBE:
		return calibrate_function_probe("f:", "%return", without);
	case ITEM_UPROBE:
		return calibrate_uprobe('p', without);
	case ITEM_URETPROBE:
		return calibrate_uprobe('r', without);
	default:
		return NAN;
	}
}

/**
 * calibrate - find out the cost of each kind of function or event that is traced
 * @instance: an instance of our own
 * @items: the functions and events: kinds that have no hits there are not looked at
 * @cost: takes the cost of one of each kind, in seconds; not a number where it is not known
 */
void calibrate(struct tracefs_instance *instance, const struct items *items,
	       double cost[ITEM_KINDS])
{
	/* As many CPUs as a kernel may have */
	enum { SIZE = CPU_ALLOC_SIZE(8192) };
	cpu_set_t *before = alloc(1, SIZE), *one = alloc(1, SIZE);
	struct round without;

	own = instance;
	cpu = sched_getcpu();
	CPU_SET_S(cpu, SIZE, one);
	if (sched_getaffinity(0, SIZE, before) < 0 || sched_setaffinity(0, SIZE, one))
		die("cannot stay on CPU %d: %s", cpu, strerror(errno));
	file_set(own, "buffer_size_kb", BUFFER_KB);
	copy_options();
	copy_clock();
	without = fastest_round(send_signal);
	for (int kind = 0; kind < ITEM_KINDS; kind++)
		cost[kind] = items_hits(items, kind) ? calibrate_kind(kind, without) : NAN;
	sched_setaffinity(0, SIZE, before);
	free(before);
	free(one);
}
