// SPDX-License-Identifier: GPL-2.0
/*
 * cycles [seconds] - the cost of an event on this machine's CPU
 *
 * The objects of a kernel's ring buffer, as kbuild made them, linked into a program: events of 16
 * bytes are reserved, written and committed by one thread, then by two, each on a CPU of its own.
 * Prints the nanoseconds an event takes each of them.
 *
 * The kernel's per-CPU variables, which the objects find by their addresses and the register GS,
 * are in memory of each thread: its CPU's number, its preempt count, a task, the stack protector's
 * word. Memory comes from an arena. The clock is the TSC, asked by a call; thunks are plain jumps,
 * so that both kernels' code runs without the mitigations for a CPU's leaks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <asm/prctl.h>
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define CPUS		2
#define EVENT_BYTES	16
#define BUFFER_BYTES	(1024 * 1024)
#define ROUND		100000
#define PAGE		4096UL
#define ARENA		(64 * BUFFER_BYTES)
/* Of the kernel's struct page. */
#define PAGE_STRUCT	64

/* The per-CPU variables that are used. A thread's are as far from these as GS says. */
#define PER_CPU		__attribute__((section("per_cpu")))

static uint64_t some_task[2048];
void *const_current_task PER_CPU = some_task;
/* So that no context switch is asked for: the bit is inverted. */
unsigned long __preempt_count PER_CPU = 1UL << 63;
int cpu_number PER_CPU;
unsigned long __ref_stack_chk_guard PER_CPU;
extern char __start_per_cpu[], __stop_per_cpu[];

/* The buffer's interface */
struct trace_buffer;
struct ring_buffer_event;

struct trace_buffer *__ring_buffer_alloc(unsigned long size, unsigned int flags, void *key);
struct ring_buffer_event *ring_buffer_lock_reserve(struct trace_buffer *b, unsigned long length);
void *ring_buffer_event_data(struct ring_buffer_event *event);
int ring_buffer_unlock_commit(struct trace_buffer *buffer);
unsigned long ring_buffer_entries(struct trace_buffer *buffer);
unsigned long ring_buffer_overruns(struct trace_buffer *buffer);
int trace_rb_cpu_prepare(unsigned int cpu, void *node);

#define RB_FL_OVERWRITE	1

/* The functions and variables that the objects ask of a kernel */

unsigned long page_offset_base, vmemmap_base = 1UL << 40;
unsigned int nr_cpu_ids = CPUS;
/* The kernel boots: no other CPU has to hear of a new ring. */
int system_state;
void *kmalloc_caches[1024];
/* Only the size of a cache line is read. */
unsigned int boot_cpu_data[256] = { [0 ... 255] = 64 };
static unsigned long arena_used;

static void *arena_alloc(unsigned long size)
{
	unsigned long at = __atomic_fetch_add(&arena_used, (size + 63) & ~63UL, __ATOMIC_RELAXED);

	if (at + size > ARENA)
		errx(2, "the arena is too small");
	return (void *)(page_offset_base + at);
}

void *__kmalloc_cache_noprof(void *cache, unsigned int flags, unsigned long size)
{
	return arena_alloc(size);
}

void *__kmalloc_noprof(unsigned long size, unsigned int flags)
{
	return arena_alloc(size);
}

void *__kmalloc_node_noprof(unsigned long size, unsigned int flags, int node)
{
	return arena_alloc(size);
}

void *alloc_pages_node_noprof(int node, unsigned int flags, unsigned int order)
{
	arena_used = (arena_used + PAGE - 1) & ~(PAGE - 1);
	arena_used += PAGE << order;
	return (void *)(vmemmap_base + ((arena_used >> 12) - (1UL << order)) * PAGE_STRUCT);
}

long si_mem_available(void)
{
	return ARENA / PAGE;
}

/* CPU 0 has its ring when this is called. */
int __cpuhp_state_add_instance(int state, void *node, bool invoke)
{
	for (unsigned int cpu = 1; cpu < CPUS; cpu++) {
		if (trace_rb_cpu_prepare(cpu, node))
			return -1;
	}
	return 0;
}

uint64_t sched_clock(void)
{
	return __rdtsc();
}

uint64_t trace_clock_local(void)
{
	return __rdtsc();
}

/* Only one thread is there when they are called. */
void mutex_init_generic(void) { }
void __init_waitqueue_head(void) { }
void __init_swait_queue_head(void) { }
void mutex_lock(void) { }
void mutex_unlock(void) { }
void cpus_read_lock(void) { }
void cpus_read_unlock(void) { }
unsigned long _raw_spin_lock_irqsave(void) { return 0; }
void _raw_spin_unlock_irqrestore(void) { }
void preempt_count_add(void) { }
void preempt_count_sub(void) { }

/* Functions by which the objects warn, or ask for a part of the kernel that is not here. */
#define DEFINE_TRAP(name)	void name(void) { errx(2, #name "() was called"); }
DEFINE_TRAP(__warn_printk)
DEFINE_TRAP(_printk)
DEFINE_TRAP(__stack_chk_fail)
DEFINE_TRAP(irq_work_queue)
DEFINE_TRAP(irq_work_queue_on)
DEFINE_TRAP(__SCT__preempt_schedule_notrace)
DEFINE_TRAP(__SCT__WARN_trap)

#define DEFINE_CODE(name, code)	asm(".globl " #name "\n" #name ": " code)
DEFINE_CODE(__SCT__cond_resched, "xor %eax, %eax; ret");
DEFINE_CODE(__SCT__might_resched, "xor %eax, %eax; ret");
DEFINE_CODE(__x86_return_thunk, "ret");
DEFINE_CODE(__x86_indirect_thunk_rax, "jmp *%rax");
DEFINE_CODE(__x86_indirect_thunk_rcx, "jmp *%rcx");
DEFINE_CODE(__x86_indirect_thunk_rdx, "jmp *%rdx");
DEFINE_CODE(__x86_indirect_thunk_r14, "jmp *%r14");
DEFINE_CODE(__x86_indirect_thunk_r15, "jmp *%r15");

/* CPUs */

static void become_cpu(unsigned int cpu)
{
	cpu_set_t set;
	char *area;

	area = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		err(2, "mmap");
	memcpy(area, __start_per_cpu, __stop_per_cpu - __start_per_cpu);
	memcpy((char *)&cpu_number + (area - __start_per_cpu), &cpu, sizeof(cpu));
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, area - (unsigned long)__start_per_cpu))
		err(2, "arch_prctl");
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* Where there is one CPU only, the threads share it, and say so by their times. */
	sched_setaffinity(0, sizeof(set), &set);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

struct writer {
	struct trace_buffer	*buffer;
	pthread_barrier_t	*start;
	unsigned int		cpu;
	double			seconds;
	double			ns;
	unsigned long		events;
};

static void write_round(struct trace_buffer *buffer)
{
	for (int i = 0; i < ROUND; i++) {
		struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, EVENT_BYTES);
		uint64_t *data;

		if (!event)
			errx(2, "an event is lost");
		data = ring_buffer_event_data(event);
		data[0] = i;
		data[1] = ~i;
		ring_buffer_unlock_commit(buffer);
	}
}

/* The fastest round counts: no interrupt came into it. */
static void *writer_run(void *arg)
{
	struct writer *w = arg;
	double begin, took, end;

	become_cpu(w->cpu);
	pthread_barrier_wait(w->start);
	end = now() + w->seconds;
	w->ns = 1e9;
	while ((begin = now()) < end) {
		write_round(w->buffer);
		took = (now() - begin) / ROUND * 1e9;
		w->ns = took < w->ns ? took : w->ns;
		w->events += ROUND;
	}
	return NULL;
}

static void run(struct trace_buffer *buffer, unsigned int nr, double seconds)
{
	struct writer w[CPUS] = { };
	pthread_t thread[CPUS];
	pthread_barrier_t start;
	unsigned long before, events = 0;

	before = ring_buffer_entries(buffer) + ring_buffer_overruns(buffer);
	pthread_barrier_init(&start, NULL, nr);
	for (unsigned int i = 0; i < nr; i++) {
		w[i].buffer = buffer;
		w[i].start = &start;
		w[i].cpu = i;
		w[i].seconds = seconds;
		if (pthread_create(&thread[i], NULL, writer_run, &w[i]))
			errx(2, "no thread");
	}
	for (unsigned int i = 0; i < nr; i++) {
		pthread_join(thread[i], NULL);
		printf(" %.2f", w[i].ns);
		events += w[i].events;
	}
	/* The events written are there, or were overwritten. */
	if (ring_buffer_entries(buffer) + ring_buffer_overruns(buffer) - before != events)
		errx(1, "%lu events were written, and the buffer counts others", events);
}

int main(int argc, char *argv[])
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct trace_buffer *buffer;

	page_offset_base = (unsigned long)mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	become_cpu(0);
	buffer = __ring_buffer_alloc(BUFFER_BYTES, RB_FL_OVERWRITE, NULL);
	if (!buffer)
		errx(2, "no buffer");
	run(buffer, 1, seconds);
	run(buffer, CPUS, seconds);
	printf("\n");
	return 0;
}
