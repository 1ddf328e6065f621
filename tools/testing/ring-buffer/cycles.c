// SPDX-License-Identifier: GPL-2.0
/*
 * cycles [seconds] - the cost of an event on this machine's CPU
 *
 * The objects of a kernel's ring buffer, as kbuild made them, linked into a program: events of 16
 * bytes are reserved, written and committed by one thread, then by two, each on a CPU of its own.
 * Then the callback of the function tracer records calls. Prints the nanoseconds that the CPU takes
 * to read the TSC, that an event takes each of the threads, and a call. The trampoline is not part
 * of a call: where it leads to, and where its frame is, no object says.
 *
 * The tracer's clock is in line where the kernel has it so, as it is once the TSC has settled. Its
 * instance and its ops are memory that is full of one pointer each: they have a buffer and an
 * instance wherever one is looked for, and no flag is 0.
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
/* The kernel's own where its file is linked. */
__attribute__((weak)) char trace_taskinfo_save PER_CPU;
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

/* The function tracer's callback */
void function_trace_call(unsigned long ip, unsigned long parent_ip, void *ops, void *fregs);

/* An instruction that is a NOP or a jump, and the switch that says which. */
struct jump_entry {
	int32_t	code;
	int32_t	target;
	int64_t	key;
};

#define JUMP_IS_NOP	2
#define JUMP_FLAGS	3

extern struct jump_entry __start___jump_table[], __stop___jump_table[];
/* The switches of other files, all off, but for the one that is set below. */
long trace_tsc_fixed[4], trace_guard_on[4];
__attribute__((weak)) long trace_function_exports_enabled[4];
/* A factor of 2^-31 or 2^-32, and twice that or an offset: any do. */
uint64_t trace_tsc_scale[3] = { 1UL << 30, 1UL << 31 };

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

	area = mmap(NULL, __stop_per_cpu - __start_per_cpu, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

static void time_tsc(double seconds)
{
	double least = 1e9, begin, took, end = now() + seconds;

	while ((begin = now()) < end) {
		for (int i = 0; i < ROUND; i++)
			__rdtsc();
		took = (now() - begin) / ROUND * 1e9;
		least = took < least ? took : least;
	}
	printf("%.2f", least);
}

/* Does what objtool and the boot do: writes the NOPs. */
static void set_jumps(void)
{
	static const uint8_t nop2[] = { 0x66, 0x90 }, nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	for (struct jump_entry *e = __start___jump_table; e < __stop___jump_table; e++) {
		uint8_t *code = (uint8_t *)&e->code + e->code;
		char *key = (char *)&e->key + (e->key & ~JUMP_FLAGS);
		char *page = (char *)((unsigned long)code & -PAGE);

		if (!(e->key & JUMP_IS_NOP) && key != (char *)trace_tsc_fixed)
			continue;
		if (mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
			err(2, "mprotect");
		if (*code == 0xeb)
			memcpy(code, nop2, sizeof(nop2));
		else if (*code == 0xe9)
			memcpy(code, nop5, sizeof(nop5));
	}
}

/* In one thread, that which has become CPU 0. */
static void time_function(struct trace_buffer *buffer, double seconds)
{
	static void *tr[2048], *ops[512], *fregs[64];
	double least = 1e9, begin, took, end = now() + seconds;
	unsigned long before, calls = 0;

	for (unsigned int i = 0; i < 2048; i++)
		tr[i] = buffer;
	for (unsigned int i = 0; i < 512; i++)
		ops[i] = tr;
	before = ring_buffer_entries(buffer) + ring_buffer_overruns(buffer);
	while ((begin = now()) < end) {
		for (int i = 0; i < ROUND; i++)
			function_trace_call(0x1000, 0x2000, ops, fregs);
		took = (now() - begin) / ROUND * 1e9;
		least = took < least ? took : least;
		calls += ROUND;
	}
	printf(" %.2f", least);
	if (ring_buffer_entries(buffer) + ring_buffer_overruns(buffer) - before != calls)
		errx(1, "%lu calls were recorded, and the buffer counts others", calls);
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
	time_tsc(seconds);
	run(buffer, 1, seconds);
	run(buffer, CPUS, seconds);
	set_jumps();
	time_function(buffer, seconds);
	printf("\n");
	return 0;
}
