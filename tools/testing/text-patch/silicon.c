// SPDX-License-Identifier: GPL-2.0
/*
 * silicon: the kernel's live patcher on the CPU that this runs on.
 *
 *	silicon [-s SECONDS] [-n FUNCTIONS] [-t THREADS] [-r SEED]
 *
 * arch/x86/kernel/text-patch.c, as it is, patches functions that threads call
 * all the time, through a second mapping of their text. Emulators do not show how a CPU runs text
 * that changes under it; this does. Each call counts in the code that it reached, and at the end
 * the counts must add up:
 *
 * KEPT		CALL a, CALL b: a counts X, b counts X and Y, as trampolines do
 *		when an ops comes and another one stays. X is the number of calls.
 *		The code after the CALL counts, too, in REST.
 * SITE		NOP, CALL a, CALL b: X is at most the number of calls, Y at most X.
 *		REST is the number of calls.
 * LABEL	NOP of two bytes, JMP rel8: each call counts in X or in Y.
 * TAIL		Jcc to a or b, six bytes, always taken: X is the number of calls.
 * STUB		JMP a, JMP b, or RET and four INT3: X and Y as in SITE.
 *
 * Functions lie at all distances from the borders of cache lines and pages.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "text-patch.c"

enum { KEPT, SITE, LABEL, TAIL, STUB, KINDS };

static const char *const kind_name[KINDS] = { "KEPT", "SITE", "LABEL", "TAIL", "STUB" };

/* Of a function, and of its instruction that is patched. */
#define STRIDE		61
#define TEXT_AT		0x20000000UL

static const unsigned char nop2[] = { 0x66, 0x90 };
static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
const unsigned char *const x86_nops[] = { [2] = nop2, [5] = nop5 };

__thread int shim_thread;

struct count {
	u64	x;
	u64	y;
	u64	rest;
	u64	calls;
};

/* In a line of its own for each thread. */
struct thread {
	pthread_t	id;
	u64		traps;
	u64		stale;
	struct count	count[KINDS];
} __aligned(64);

static struct thread threads[SHIM_THREADS];
static unsigned int nr_threads, nr_functions = 6000, seconds = 10;
static bool stop;

static u8 *alias;
static size_t text_len;
static unsigned long target_a, target_b;
static u8 *state;
static u64 rng;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Marsaglia, "Xorshift RNGs" (2003). */
static u64 random_next(u64 *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* The kernel's functions that the patcher calls */

void smp_text_poke_sync_each_cpu(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		die("membarrier");
}

void text_window_begin(struct text_window *window, unsigned long addr)
{
	window->base = addr;
	/* All of the text, and as much as an instruction may have after its last byte. */
	window->mapped = TEXT_AT + text_len + TEXT_PATCH_LEN;
	window->alias = (unsigned long)alias + (addr - TEXT_AT);
}

bool __text_window_show(struct text_window *window, unsigned long addr, size_t len)
{
	fprintf(stderr, "not text: %lx\n", addr);
	abort();
}

void text_window_enter(struct text_window *window)
{
}

void text_window_end(struct text_window *window)
{
}

/* Functions */

static unsigned int kind_of(unsigned int i)
{
	return i % KINDS;
}

static unsigned int states_of(unsigned int i)
{
	return kind_of(i) == SITE || kind_of(i) == STUB ? 3 : 2;
}

static unsigned long function_of(unsigned int i)
{
	return TEXT_AT + 64 + (unsigned long)i * STRIDE;
}

/* A TAIL begins with an instruction that makes its condition true. */
static unsigned long insn_of(unsigned int i)
{
	return function_of(i) + (kind_of(i) == TAIL ? 2 : 0);
}

static size_t put_rel32(u8 *insn, unsigned long next, unsigned long dest)
{
	s32 rel = dest - next;

	memcpy(insn, &rel, sizeof(rel));
	return sizeof(rel);
}

/* The bytes of a function's instruction in a state. Returns the length. */
static size_t insn_in_state(unsigned int i, unsigned int s, u8 *insn)
{
	unsigned long addr = insn_of(i), dest = s == 1 ? target_b : target_a;

	switch (kind_of(i)) {
	case LABEL:
		memcpy(insn, s ? (const u8[]){ JMP8_INSN_OPCODE, 4 } : nop2, 2);
		return 2;
	case TAIL:
		insn[0] = 0x0f;
		insn[1] = 0x84;
		return 2 + put_rel32(insn + 2, addr + 6, dest);
	case STUB:
		if (s == 2) {
			memset(insn, INT3_INSN_OPCODE, 5);
			insn[0] = RET_INSN_OPCODE;
			return 5;
		}
		insn[0] = JMP32_INSN_OPCODE;
		return 1 + put_rel32(insn + 1, addr + 5, dest);
	default:
		if (s == 2) {
			memcpy(insn, nop5, sizeof(nop5));
			return 5;
		}
		insn[0] = CALL_INSN_OPCODE;
		return 1 + put_rel32(insn + 1, addr + 5, dest);
	}
}

static void make_function(unsigned int i)
{
	static const u8 count_x[] = { 0x48, 0xff, 0x07, 0xc3 };
	static const u8 count_y[] = { 0x48, 0xff, 0x47, 0x08, 0xc3 };
	static const u8 count_rest[] = { 0x48, 0xff, 0x47, 0x10, 0xc3 };
	u8 *p = alias + (function_of(i) - TEXT_AT);

	if (kind_of(i) == TAIL) {
		*p++ = 0x31;		/* xor %eax, %eax */
		*p++ = 0xc0;
	}
	p += insn_in_state(i, 0, p);
	if (kind_of(i) == LABEL) {
		memcpy(p, count_x, sizeof(count_x));
		memcpy(p + sizeof(count_x), count_y, sizeof(count_y));
	} else {
		memcpy(p, count_rest, sizeof(count_rest));
	}
}

static void make_text(void)
{
	static const u8 a[] = { 0x48, 0xff, 0x07, 0xc3 };
	static const u8 b[] = { 0x48, 0xff, 0x07, 0x48, 0xff, 0x47, 0x08, 0xc3 };
	int fd = memfd_create("text", 0);

	text_len = (function_of(nr_functions) - TEXT_AT + 4095) & ~4095UL;
	if (fd < 0 || ftruncate(fd, text_len))
		die("memfd");
	alias = mmap(NULL, text_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (alias == MAP_FAILED ||
	    mmap((void *)TEXT_AT, text_len, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE,
		 fd, 0) == MAP_FAILED)
		die("mmap");
	close(fd);

	memset(alias, INT3_INSN_OPCODE, text_len);
	target_a = TEXT_AT;
	target_b = TEXT_AT + 16;
	memcpy(alias, a, sizeof(a));
	memcpy(alias + 16, b, sizeof(b));
	state = calloc(nr_functions, 1);
	if (!state)
		die("calloc");
	for (unsigned int i = 0; i < nr_functions; i++)
		make_function(i);
}

/* The threads that call them */

/* Compiled without a red zone, as an emulated CALL pushes below the stack pointer. */
static void call_function(unsigned long function, struct count *count)
{
	asm volatile("call *%[f]"
		     : "+D" (count)
		     : [f] "r" (function)
		     : "rax", "cc", "memory");
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct pt_regs regs = { .ip = g[REG_RIP], .sp = g[REG_RSP], .flags = g[REG_EFL] };
	struct thread *t = &threads[shim_thread];

	if (!text_patch_int3(&regs)) {
		fprintf(stderr, "a breakpoint at %lx is nobody's\n", regs.ip - 1);
		_exit(3);
	}
	t->traps++;
	t->stale += regs.ip == (unsigned long)g[REG_RIP] - 1;
	g[REG_RIP] = regs.ip;
	g[REG_RSP] = regs.sp;
	g[REG_EFL] = regs.flags;
}

static void *caller(void *arg)
{
	struct thread *t = arg;
	stack_t stack = { .ss_size = 1 << 16 };
	u64 seed;

	shim_thread = t - threads;
	seed = rng + shim_thread * 0x9e3779b97f4a7c15;
	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		die("sigaltstack");

	while (!READ_ONCE(stop)) {
		/* Some are called often, so that they are in all caches, some seldom. */
		u64 r = random_next(&seed);
		unsigned int first = (r >> 8) % nr_functions, nr = 1 + (r >> 40) % 64;
		unsigned int times = r & 3 ? 1 : 32;

		while (times--) {
			for (unsigned int i = first; i < first + nr && i < nr_functions; i++) {
				struct count *c = &t->count[kind_of(i)];

				c->calls++;
				call_function(function_of(i), c);
			}
		}
	}
	return NULL;
}

/* The thread that switches them */

/* One transaction. Returns how many instructions it replaced. */
static unsigned int switch_some(struct text_patch *vec)
{
	u64 r = random_next(&rng);
	unsigned int one_of = 1u << (r & 7), nr = 0;

	/* The patcher's own parameter. */
	text_patch_max = 1u << (r >> 8 & 15);
	/* Now and then only one. */
	if (!(r >> 12 & 3))
		one_of = nr_functions;

	for (unsigned int i = 0; i < nr_functions; i++) {
		u64 q = random_next(&rng);
		unsigned int s = (state[i] + 1 + (q >> 32) % (states_of(i) - 1)) % states_of(i);
		u8 insn[TEXT_PATCH_LEN];

		if ((u32)q % one_of)
			continue;
		if (!text_patch_set(&vec[nr], insn_of(i), insn, insn_in_state(i, s, insn), NULL)) {
			fprintf(stderr, "text_patch_set() does not know a %s\n",
				kind_name[kind_of(i)]);
			exit(1);
		}
		nr++;
		state[i] = s;
	}
	text_patch_apply(vec, nr);
	return nr;
}

static unsigned int wrong_bytes(void)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < nr_functions; i++) {
		u8 insn[TEXT_PATCH_LEN];
		size_t len = insn_in_state(i, state[i], insn);

		if (memcmp((void *)insn_of(i), insn, len)) {
			fprintf(stderr, "function %u, %s: not what it should be\n", i,
				kind_name[kind_of(i)]);
			wrong++;
		}
	}
	return wrong;
}

static bool adds_up(unsigned int kind, const struct count *c)
{
	switch (kind) {
	case KEPT:
		return c->x == c->calls && c->y <= c->x && c->rest == c->calls;
	case SITE:
		return c->x <= c->calls && c->y <= c->x && c->rest == c->calls;
	case LABEL:
		return c->x + c->y == c->calls;
	case TAIL:
		return c->x == c->calls && c->y <= c->x && !c->rest;
	default:
		return c->x <= c->calls && c->y <= c->x && !c->rest;
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static bool sync_core_works(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

static void start(void)
{
	struct sigaction sa = { .sa_sigaction = trapped,
				.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	if (sigaction(SIGTRAP, &sa, NULL))
		die("sigaction");
	for (unsigned int i = 0; i < nr_threads; i++) {
		/* 0 is the one that patches. */
		if (pthread_create(&threads[i + 1].id, NULL, caller, &threads[i + 1]))
			die("pthread_create");
	}
}

int main(int argc, char **argv)
{
	u64 replaced = 0, transactions = 0, traps = 0, stale = 0;
	struct count sum[KINDS] = { };
	unsigned int failed = 0;
	struct text_patch *vec;
	double end;
	int opt;

	nr_threads = sysconf(_SC_NPROCESSORS_ONLN);
	rng = time(NULL);
	while ((opt = getopt(argc, argv, "s:n:t:r:")) != -1) {
		unsigned long value = optarg ? strtoul(optarg, NULL, 0) : 0;

		if (opt == 's')
			seconds = value;
		else if (opt == 'n')
			nr_functions = value;
		else if (opt == 't')
			nr_threads = value;
		else if (opt == 'r')
			rng = value;
		if (opt == '?' || !value) {
			fputs("usage: silicon [-s SECONDS] [-n FUNCTIONS] [-t THREADS] [-r SEED]\n",
			      stderr);
			return 2;
		}
	}
	nr_threads = min(nr_threads, SHIM_THREADS - 1U);
	if (!sync_core_works()) {
		puts("# membarrier() of this kernel has no SYNC_CORE");
		puts("0 passed, 0 failed, 1 skipped");
		return 0;
	}
	printf("# -r %llu, %u threads, %u functions\n", (unsigned long long)rng, nr_threads,
	       nr_functions);

	make_text();
	vec = calloc(nr_functions, sizeof(*vec));
	if (!vec)
		die("calloc");
	start();
	for (end = now() + seconds; now() < end; transactions++)
		replaced += switch_some(vec);
	WRITE_ONCE(stop, true);

	for (unsigned int i = 1; i <= nr_threads; i++) {
		pthread_join(threads[i].id, NULL);
		traps += threads[i].traps;
		stale += threads[i].stale;
		for (unsigned int k = 0; k < KINDS; k++) {
			sum[k].x += threads[i].count[k].x;
			sum[k].y += threads[i].count[k].y;
			sum[k].rest += threads[i].count[k].rest;
			sum[k].calls += threads[i].count[k].calls;
		}
	}

	printf("# %llu instructions replaced in %llu transactions\n",
	       (unsigned long long)replaced, (unsigned long long)transactions);
	printf("# %llu breakpoints, %llu of them late\n", (unsigned long long)traps,
	       (unsigned long long)stale);
	for (unsigned int k = 0; k < KINDS; k++) {
		bool ok = sum[k].calls && adds_up(k, &sum[k]);

		failed += !ok;
		printf("%sok %u - %s: %llu calls, %llu X, %llu Y, %llu REST\n", ok ? "" : "not ",
		       k + 1, kind_name[k], (unsigned long long)sum[k].calls,
		       (unsigned long long)sum[k].x, (unsigned long long)sum[k].y,
		       (unsigned long long)sum[k].rest);
	}
	opt = !traps || wrong_bytes();
	failed += opt;
	printf("%sok %u - breakpoints were met, and all text is as it should be\n",
	       opt ? "not " : "", KINDS + 1);
	printf("%u passed, %u failed\n", KINDS + 1 - failed, failed);
	return !!failed;
}
