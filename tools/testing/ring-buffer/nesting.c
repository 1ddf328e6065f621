// SPDX-License-Identifier: GPL-2.0
/*
 * nesting: the write side of the ring buffer, interrupted at every instruction.
 *
 *	nesting [-a]
 *
 * kernel/trace/ring_buffer_write.c, as it is, runs with the trap flag set. The handler of
 * SIGTRAP acts as an interrupt would, at one instruction after the other: it records events
 * of its own, or it is the reader on another CPU. All that a CPU can interrupt has the shape of a
 * stack, so trying each instruction tries all there is for one interrupt. Interrupts of the same
 * writer, and of its interrupts, are tried at each pair of instructions. Without -a it begins
 * with fewer states of the ring.
 */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "ring.h"

/*
 * Stepping
 *
 * At each instruction of a level that another one may interrupt, the handler keeps the state
 * and the stack, lets that one run, and the interrupted one go on, until it has been interrupted
 * as often as it is to be; then without traps to its end. When that is checked, state and stack
 * are put back, and the next instruction's turn comes.
 */

#define STACK_SIZE	(128 * 1024)
#define TRAP_FLAG	0x100
#define MAX_INTERRUPTS	4

struct checkpoint {
	jmp_buf		jump;
	struct state	state;
	size_t		stack_size;
	unsigned char	stack[STACK_SIZE];
	int		level;
	unsigned long	ip;
};

static unsigned char run_stack[STACK_SIZE] __attribute__((aligned(64)));
static struct checkpoint checkpoints[MAX_INTERRUPTS];
static unsigned int nr_checkpoints;
/* By level; those of interrupts that come one after the other have '|' between them. */
static const char *const *scripts;
static jmp_buf driver;
/* Before every "cmpxchg", until an event is lost, comes an interrupt. */
static bool storm;
static unsigned long runs;

static void copy_state(struct state *to, const struct state *from)
{
	size_t size = offsetof(struct state, events) + from->nr_events * sizeof(from->events[0]);

	memcpy(to, from, size);
}

static __always_inline void interrupts_on(void)
{
	if (st.interrupts[st.level])
		asm volatile("pushfq\n\torq $0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static __always_inline void interrupts_off(void)
{
	asm volatile("pushfq\n\tandq $~0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
}

/* How many interrupts' scripts there are. */
static unsigned int count(const char *script)
{
	unsigned int nr = 1;

	for (; script && *script; script++)
		nr += *script == '|';
	return script ? nr : 0;
}

/* The @nr-th of them from the end. */
static void play(const char *script, unsigned int nr)
{
	for (nr = count(script) - nr; nr; nr--)
		script = strchr(script, '|') + 1;
	for (; *script && *script != '|'; script++)
		act(*script);
}

static void run_level(int l, unsigned int nr)
{
	unsigned int preempt = st.preempt_count;

	st.level = l;
	st.preempt_count = preempt + level_count[l];
	st.interrupts[l] = l + 1 < MAX_LEVELS ? count(scripts[l + 1]) : 0;
	play(scripts[l], nr);
	st.preempt_count = preempt;
	st.level = l - 1;
}

static noinline void put_back(struct checkpoint *c)
{
	copy_state(&st, &c->state);
	memcpy(run_stack + STACK_SIZE - c->stack_size, c->stack, c->stack_size);
	longjmp(c->jump, 1);
}

/* With a prefix for 64 bits. */
static bool is_cmpxchg(const unsigned char *code)
{
	return code[1] == 0x0f && code[2] == 0xb1;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	struct checkpoint *c = &checkpoints[nr_checkpoints];
	int l = st.level;

	c->ip = interrupted->uc_mcontext.gregs[REG_RIP];
	if (storm) {
		if (!st.cpu.dropped_events.a && is_cmpxchg((void *)c->ip))
			run_level(l + 1, 1);
		return;
	}
	if (setjmp(c->jump))
		return;
	c->level = l;
	/* All of the stack down to here, and the registers that setjmp() keeps. */
	c->stack_size = run_stack + STACK_SIZE - (unsigned char *)__builtin_frame_address(0) + 1024;
	copy_state(&c->state, &st);
	memcpy(c->stack, run_stack + STACK_SIZE - c->stack_size, c->stack_size);
	nr_checkpoints++;

	run_level(l + 1, st.interrupts[l]--);
	if (!st.interrupts[l])
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void start(void)
{
	run_level(0, 1);
	longjmp(driver, 1);
}

struct scene {
	unsigned int	pages;
	unsigned int	capacity;
	unsigned int	flags;
	const char	*before;
	const char	*script[MAX_LEVELS];
};

static void describe(const struct scene *s)
{
	fprintf(stderr, "# %u pages of %u, %s, \"%s\", then \"%s\"", s->pages, s->capacity,
		s->flags & RB_FL_OVERWRITE ? "overwriting" : "dropping", s->before, s->script[0]);
	for (unsigned int i = 0; i < nr_checkpoints; i++)
		fprintf(stderr, ", \"%s\" at %#lx", s->script[checkpoints[i].level + 1],
			checkpoints[i].ip);
	fprintf(stderr, "\n# %s\n", complaint);
}

/* Every instruction of each level. Returns false at the first that is wrong. */
static bool try_all(const struct scene *s)
{
	static ucontext_t context;

	ring_make(s->pages, s->capacity, s->flags);
	scripts = s->script;
	for (const char *c = s->before; *c; c++)
		act(*c);
	nr_checkpoints = 0;
	if (!setjmp(driver)) {
		getcontext(&context);
		context.uc_stack.ss_sp = run_stack;
		context.uc_stack.ss_size = sizeof(run_stack);
		makecontext(&context, start, 0);
		setcontext(&context);
	}
	runs++;
	check();
	if (complaint[0])
		return false;
	if (nr_checkpoints)
		put_back(&checkpoints[--nr_checkpoints]);
	return true;
}

/* The content of the ring before: the first FEW without -a. */
static const char *const befores[] = {
	"", "www", "WW", "wwwwwwwwwwww", "WWWWWWWWWWWWWWWWWWWWWWWWWw", "wrwrwr", "wwwwwwrrww",
	"w", "ww", "wwww", "wwwww", "Ww", "WWw", "WWWWWWWWWWWW", "wwwwwwwwwwwwwwwwwwwwwwwwwwww",
	"wwwrwww", "wrwrwrwwwwwwwwwwwwwww", "dw", "wd", "0www", "Twww", "wBww",
};

#define FEW	7

static const char *const outers[] = {
	"w", "W", "d", "wd", "tw", "Tw", "n", "ww", "WW", "Bw", "bw", "e", "N", "0w",
};

static const char *const inners[] = {
	"w", "W", "d", "wd", "dw", "WWW", "wwwwwwwwwwwwwwwwwwwwwwww", "tw", "Td", "n", "r", "s",
	"rw", "wr", "Wsw", "Bw", "TwTw",
};

/* Pages and bytes in each: the first two without -a. */
static const unsigned int sizes[][2] = { { 2, 48 }, { 4, 40 }, { 3, 48 }, { 3, 100 } };

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static unsigned int passed, failed;
static bool all;

static void report(bool ok, const struct scene *s, const char *fmt, ...)
{
	va_list args;

	printf("%s %u - ", ok ? "ok" : "not ok", passed + failed + 1);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	if (ok)
		passed++;
	else
		failed++;
	if (!ok)
		describe(s);
}

static void one_interrupt(const char *outer)
{
	struct scene s = { .script = { outer } };
	unsigned long before = runs;
	bool ok = true;

	for (unsigned int z = 0; ok && z < (all ? ARRAY_SIZE(sizes) : 2); z++) {
		for (unsigned int b = 0; ok && b < (all ? ARRAY_SIZE(befores) : FEW); b++) {
			for (unsigned int i = 0; ok && i < ARRAY_SIZE(inners); i++) {
				for (unsigned int f = 0; ok && f < 2; f++) {
					s.pages = sizes[z][0];
					s.capacity = sizes[z][1];
					s.flags = f ? RB_FL_OVERWRITE : 0;
					s.before = befores[b];
					s.script[1] = inners[i];
					ok = try_all(&s);
				}
			}
		}
	}
	report(ok, &s, "\"%s\", interrupted at every instruction (%lu runs)", outer, runs - before);
}

/* Interrupts of interrupts, and one after the other, at each pair of instructions. */
static void interrupts(const char *outer, const char *middle, const char *inner)
{
	static const char *const some[] = { "0wwwwwwwwwwww", "ww", "", "wrwrwrwwwwww", "wwww" };
	struct scene s = { .script = { outer, middle, inner } };
	unsigned long before = runs;
	bool ok = true;

	for (unsigned int z = 0; ok && z < (all ? ARRAY_SIZE(sizes) : 1); z++) {
		for (unsigned int b = 0; ok && b < (all ? ARRAY_SIZE(some) : 2); b++) {
			for (unsigned int f = 0; ok && f < 2; f++) {
				s.pages = sizes[z][0];
				s.capacity = sizes[z][1];
				s.flags = f ? RB_FL_OVERWRITE : 0;
				s.before = some[b];
				ok = try_all(&s);
			}
		}
	}
	report(ok, &s, "\"%s\", \"%s\"%s%s%s, at every pair of instructions (%lu runs)", outer,
	       middle, inner ? ", \"" : "", inner ?: "", inner ? "\"" : "", runs - before);
}

/* An event that interrupts do not let be is lost; the next one is not. */
static void interrupts_without_end(void)
{
	struct scene s = { 4, 100, RB_FL_OVERWRITE, "", { "ww", "w" } };

	ring_make(s.pages, s.capacity, s.flags);
	scripts = s.script;
	nr_checkpoints = 0;
	storm = true;
	run_level(0, 1);
	storm = false;
	expect(st.cpu.dropped_events.a == 1, "%ld", st.cpu.dropped_events.a);
	check();
	report(!complaint[0], &s, "interrupts without end (%u events)", st.nr_events);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	all = argc > 1 && !strcmp(argv[1], "-a");
	sigaction(SIGTRAP, &act, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(outers); i++)
		one_interrupt(outers[i]);
	interrupts("w", "w", "w");
	interrupts("w", "W", "d");
	interrupts("d", "w", "r");
	interrupts("w", "s", "WWW");
	interrupts("w", "w|w", NULL);
	interrupts("w", "ww|s", NULL);
	interrupts("w", "s|W", NULL);
	interrupts("Tw", "w|d", NULL);
	interrupts_without_end();
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
