// SPDX-License-Identifier: GPL-2.0
/*
 * tramp: trampolines of function tracing, one instruction after the other.
 *
 *	tramp [-v]
 *
 * arch/x86/kernel/callset_tramp.c, as it is, makes a trampoline of each shape: with functions
 * and graph users, gates, counts and direct functions of both kinds, all sets of registers, and
 * each way to return. A site calls it with a value of its own in each register, and the CPU
 * stops at each of its instructions. Looked at are
 *
 * - the arguments of the functions, and the registers that they see,
 * - the registers, the flags and the stack of the function that is traced, of the direct
 *   function, and of the caller in the end,
 * - gates, counts, and returns by the thunk,
 * - that the ORC entry finds the site's return address at each instruction, or with frame
 *   pointers, that each function finds a record of the site and one of its caller.
 *
 * Then its functions are redirected and silenced, one after the other, its direct function is
 * silenced, and it is told to ask whether to count or not to: by the instructions that
 * callset_tramp.c makes for the live patcher. It is called again after each step.
 *
 * With -v each shape is shown.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "callset_tramp.c"

/* The tests; each is a line of the result. */
enum test { CALLED, REPLACED, ASKED, REDIRECTED, SILENCED, DIRECT_SILENCED, UNWOUND, FREED, TESTS };

static const char *const test_name[TESTS] = {
	[CALLED]		= "trampolines call what they should",
	[REPLACED]		= "all functions are told the same parent",
	[ASKED]			= "it is asked whether to count while it should be",
	[REDIRECTED]		= "functions are replaced by others",
	[SILENCED]		= "functions are silenced",
	[DIRECT_SILENCED]	= "direct functions are silenced",
	[UNWOUND]		= "unwinders find the site and its caller",
	[FREED]			= "free text is INT3s",
};

static enum test test;
static unsigned long times[TESTS], failures[TESTS];
static bool verbose;

/* How trampolines return. */
enum ret { BY_RET, BY_THUNK, BY_EITHER, RETS };

/* Whether calls are counted. */
enum count { NO_STUBS, NOT_ASKED, ASKED_YES, TASK_IGNORED, CPU_OFF, COUNTS };

#define MAX_CALLS	8
/* So many bytes below the stack an interrupt overwrites. */
#define BELOW		256

/**
 * struct shape - a kind of trampoline
 * @ret: how it returns
 * @depth: it counts calls for the return stack
 * @flags: of struct ftrace_tramp_desc
 * @nr_funcs: how many functions there are, with the one that is counted for
 * @nr_graph: how many graph users
 * @direct: 0, or a direct function: 1 is called by sites, 2 is jumped to
 * @gates: all have gates
 * @graph_regs: of struct ftrace_tramp_desc
 * @count: whether one function is counted for
 * @moves: functions change registers, and where to go on
 */
struct shape {
	unsigned int	ret, depth, flags, nr_funcs, nr_graph, direct, gates, graph_regs, count,
			moves;
};

/**
 * struct now - the changes of the trampoline since it was made
 * @other: bits of functions that another one was put in the place of
 * @silenced: bits of functions that are not called any more
 * @direct_silenced: nor is the direct function
 * @asks: it is asked whether to count
 * @replaces: the first function replaces the return address
 */
struct now {
	unsigned int	other, silenced;
	bool		direct_silenced, asks, replaces;
};

static struct shape shape;
static struct now now;
static struct x86_tramp *tramp;

static void say_where(void)
{
	printf("# ret %u depth %u flags %#x funcs %u graph %u direct %u gates %u graph_regs %u ",
	       shape.ret, shape.depth, shape.flags, shape.nr_funcs, shape.nr_graph, shape.direct,
	       shape.gates, shape.graph_regs);
	printf("count %u moves %u; other %#x silenced %#x direct_silenced %u asks %u replaces %u\n",
	       shape.count, shape.moves, now.other, now.silenced, now.direct_silenced, now.asks,
	       now.replaces);
}

static int result(void)
{
	unsigned int failed = 0;

	for (unsigned int i = 0; i < TESTS; i++) {
		/* It has to have been met, too. */
		bool ok = times[i] && !failures[i];

		failed += !ok;
		printf("%sok %u - %s: %lu times, %lu failed\n", ok ? "" : "not ", i + 1,
		       test_name[i], times[i], failures[i]);
	}
	printf("%u passed, %u failed\n", TESTS - failed, failed);
	return !!failed;
}

/* The first few tell all. */
static void failed(enum test in, const char *what, unsigned long is, unsigned long should)
{
	unsigned long all = 0;

	failures[in]++;
	for (unsigned int i = 0; i < TESTS; i++)
		all += failures[i];
	if (all > 20)
		exit(result());
	say_where();
	printf("# %s: is %#lx, should be %#lx\n", what, is, should);
}

static void expect_named(enum test in, const char *what, unsigned long is, unsigned long should)
{
	if (is != should)
		failed(in, what, is, should);
}

#define expect(is, should)						\
	expect_named(test, #is, (unsigned long)(is), (unsigned long)(should))

void shim_warn(const char *what)
{
	failed(test, what, 1, 0);
}

/* The kernel's functions that the source calls */

static const u8 nop5[] = { BYTES_NOP5 };
const unsigned char *const x86_nops[] = { [5] = nop5 };

static struct task_struct task;
struct task_struct *current_task = &task;

static unsigned long text_first = -1UL, text_end;

void *execmem_alloc_rw(int type, size_t size)
{
	void *text = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (text == MAP_FAILED)
		return NULL;
	if (text_first > (unsigned long)text)
		text_first = (unsigned long)text;
	if (text_end < (unsigned long)text + size)
		text_end = (unsigned long)text + size;
	return text;
}

void execmem_free(void *text)
{
}

void *text_poke_copy(void *addr, const void *code, size_t len)
{
	return memcpy(addr, code, len);
}

void *text_poke_set(void *addr, int c, size_t len)
{
	return memset(addr, c, len);
}

bool cpu_wants_rethunk_at(void *ip)
{
	return shape.ret == BY_THUNK || (shape.ret == BY_EITHER && !((unsigned long)ip & 0x20));
}

bool shim_call_depth(void)
{
	return shape.depth;
}

unsigned long depth;

/* incq depth(%rip), as it would be at @ip */
int x86_call_depth_emit_accounting(u8 **p, void *func, void *ip)
{
	static const u8 incq[] = { 0x48, 0xff, 0x05 };
	s32 disp = (long)&depth - ((long)ip + 7);

	memcpy(*p, incq, sizeof(incq));
	memcpy(*p + sizeof(incq), &disp, sizeof(disp));
	*p += 7;
	return 7;
}

struct ftrace_patch {
	struct text_patch	insn[MAX_CALLS];
	unsigned int		nr;
};

struct text_patch *ftrace_patch_insn(struct ftrace_patch *patch, unsigned long ip)
{
	return &patch->insn[patch->nr++];
}

void arch_ftrace_patch_add(struct ftrace_patch *patch, unsigned long ip, unsigned long to)
{
	if (to)
		text_patch_set_call(ftrace_patch_insn(patch, ip), ip, to);
	else
		text_patch_set_nop(ftrace_patch_insn(patch, ip), ip);
}

static void patch_end(struct ftrace_patch *patch, unsigned int nr)
{
	expect(patch->nr, nr);
	for (unsigned int i = 0; i < patch->nr; i++)
		memcpy((void *)text_patch_addr(&patch->insn[i]), patch->insn[i].new,
		       patch->insn[i].len);
}

/* The code that runs. The registers are those of enum emit_reg, by their number. */

/**
 * struct seen - the registers at a place
 * @regs: the registers
 * @flags: the flags
 * @top: the word on top of the stack
 * @times: how often it was reached
 */
struct seen {
	unsigned long	regs[16];
	unsigned long	flags;
	unsigned long	top;
	unsigned long	times;
};

struct seen body_seen, direct_seen, back_seen;
unsigned long given[16], given_flags, trap_flag;
unsigned long site_to_call, drive_sp, parent_kept, handled, thunked;

#define RECORD(to)				\
	"movq %rax, " to "(%rip)\n"		\
	"movq %rcx, " to "+0x08(%rip)\n"	\
	"movq %rdx, " to "+0x10(%rip)\n"	\
	"movq %rbx, " to "+0x18(%rip)\n"	\
	"movq %rsp, " to "+0x20(%rip)\n"	\
	"movq %rbp, " to "+0x28(%rip)\n"	\
	"movq %rsi, " to "+0x30(%rip)\n"	\
	"movq %rdi, " to "+0x38(%rip)\n"	\
	"movq %r8, " to "+0x40(%rip)\n"		\
	"movq %r9, " to "+0x48(%rip)\n"		\
	"movq %r10, " to "+0x50(%rip)\n"	\
	"movq %r11, " to "+0x58(%rip)\n"	\
	"movq %r12, " to "+0x60(%rip)\n"	\
	"movq %r13, " to "+0x68(%rip)\n"	\
	"movq %r14, " to "+0x70(%rip)\n"	\
	"movq %r15, " to "+0x78(%rip)\n"	\
	"movq (%rsp), %r11\n"			\
	"movq %r11, " to "+0x88(%rip)\n"	\
	"pushfq\n"				\
	"popq " to "+0x80(%rip)\n"		\
	"incq " to "+0x90(%rip)\n"

/* Adds one, and leaves the flags alone. */
#define COUNT(what)				\
	"pushq %rax\n"				\
	"movq " what "(%rip), %rax\n"		\
	"leaq 1(%rax), %rax\n"			\
	"movq %rax, " what "(%rip)\n"		\
	"popq %rax\n"

asm(".text\n"
	/* Calls the site; the trap flag is among the flags given. */
	"drive:\n"
	"pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
	"movq given(%rip), %rax\n"
	"movq given+0x08(%rip), %rcx\n"
	"movq given+0x10(%rip), %rdx\n"
	"movq given+0x18(%rip), %rbx\n"
	"movq given+0x28(%rip), %rbp\n"
	"movq given+0x30(%rip), %rsi\n"
	"movq given+0x38(%rip), %rdi\n"
	"movq given+0x40(%rip), %r8\n"
	"movq given+0x48(%rip), %r9\n"
	"movq given+0x50(%rip), %r10\n"
	"movq given+0x58(%rip), %r11\n"
	"movq given+0x60(%rip), %r12\n"
	"movq given+0x68(%rip), %r13\n"
	"movq given+0x70(%rip), %r14\n"
	"movq given+0x78(%rip), %r15\n"
	"movq %rsp, drive_sp(%rip)\n"
	"pushq given_flags(%rip)\n"
	"popfq\n"
	"call *site_to_call(%rip)\n"
	"drive_back:\n"
	RECORD("back_seen")
	"popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
	"ret\n"
	/* The function that is traced. */
	"body:\n"
	RECORD("body_seen")
	"ret\n"
	".balign 2\n"
	"direct:\n"
	RECORD("direct_seen")
	"ret\n"
	/* Where it returns to, if that was replaced. */
	"handler:\n"
	"subq $8, %rsp\n"
	"pushq %rax\n"
	"movq parent_kept(%rip), %rax\n"
	"movq %rax, 8(%rsp)\n"
	"popq %rax\n"
	COUNT("handled")
	"ret\n"
	".globl x86_return_thunk\n"
	"x86_return_thunk:\n"
	COUNT("thunked")
	"ret\n"
	".globl ftrace_stub_return, ftrace_caller\n"
	"ftrace_caller:\n"
	"ftrace_stub_return:\n"
	"ret\n"
	/*
	 * The callee: entered(), with two more arguments. All registers that may be altered
	 * are. The trap flag was cleared, and is set again before the instruction after the CALL.
	 */
	"func:\n"
	"movl $0, %r8d\n"
	"jmp 1f\n"
	"other_func:\n"
	"movl $1, %r8d\n"
	"jmp 1f\n"
	"graph_func:\n"
	"movl $2, %r8d\n"
	"1:\n"
	"pushq %rbp\n"
	"movq %rsp, %rbp\n"
	"movq %rsp, %r9\n"
	"andq $-16, %rsp\n"
	"cld\n"
	"call entered\n"
	"leave\n"
	"movq $0x5a5a5a01, %rax\n"
	"movq $0x5a5a5a02, %rcx\n"
	"movq $0x5a5a5a03, %rdx\n"
	"movq $0x5a5a5a04, %rsi\n"
	"movq $0x5a5a5a05, %rdi\n"
	"movq $0x5a5a5a06, %r8\n"
	"movq $0x5a5a5a07, %r9\n"
	"movq $0x5a5a5a08, %r10\n"
	"movq trap_flag(%rip), %r11\n"
	"cmpq %rax, %rcx\n"
	"pushfq\n"
	"orq %r11, (%rsp)\n"
	"popfq\n"
	"ret\n");

void drive(void);
extern const char drive_back[], body[], direct[], handler[];
void func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
	  struct ftrace_regs *fregs);
void other_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		struct ftrace_regs *fregs);
void graph_func(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
		struct ftrace_regs *fregs);
void entered(unsigned long ip, unsigned long second, unsigned long third, struct pt_regs *regs,
	     unsigned int which, unsigned long *frame);

/* The arguments that functions were called with. */
static struct told {
	unsigned long	ip, second, third;
	unsigned int	which;
	struct pt_regs	regs;
} told[MAX_CALLS];

static unsigned int nr_told;
static u8 *site;

#define ARG			0x7abc00001000UL
#define GRAPH_ARG		0x7def00002000UL
#define MOVED_DI		0x123456789abcdef0UL
#define MOVED_R10		0x0fedcba987654321UL

/* Of the one CPU. Each other gate is far away, so that its offset takes a register. */
static struct ftrace_gate_count gate_near[MAX_CALLS], *gate_far;
static struct ftrace_gate_count *gates[MAX_CALLS];

static unsigned int counted(void)
{
	return shape.count && shape.nr_funcs ? min(1u, shape.nr_funcs - 1) : MAX_CALLS;
}

/* The gates that are open are those of the call or the calls given. */
static void expect_gates(unsigned int first, unsigned int nr)
{
	for (unsigned int i = 0; i < shape.nr_funcs + shape.nr_graph; i++) {
		const struct ftrace_gate_count *c = gates[i];

		expect(c->entered - c->left, shape.gates && i - first < nr);
	}
}

/* Called by the trampoline, with the stack pointer at @frame + 2 before. */
__used void entered(unsigned long ip, unsigned long second, unsigned long third,
		    struct pt_regs *regs, unsigned int which, unsigned long *frame)
{
	struct told *t = &told[nr_told++];
	const unsigned long *record = (unsigned long *)frame[0];

	if (nr_told == MAX_CALLS) {
		failed(test, "number of calls", nr_told, 0);
		exit(result());
	}
	*t = (struct told) { ip, second, third, which, *regs };
	expect(regs, frame + 2);
	if (which == 2)
		expect_gates(shape.nr_funcs, shape.nr_graph);
	else
		expect_gates(third - ARG, 1);

	if (IS_ENABLED(CONFIG_FRAME_POINTER)) {
		times[UNWOUND]++;
		expect_named(UNWOUND, "the function's record", record[1], (unsigned long)site + 5);
		record = (unsigned long *)record[0];
		expect_named(UNWOUND, "the caller's record", record[1],
			     (unsigned long)drive_back);
		expect_named(UNWOUND, "the end", record[0], given[RBP]);
	} else {
		expect(frame[0], given[RBP]);
	}

	if (which < 2 && shape.moves) {
		regs->ip = (unsigned long)body;
		regs->di = MOVED_DI;
		if (shape.flags & FTRACE_OPS_FL_SAVE_REGS)
			regs->r10 = MOVED_R10;
	}
	if (which == 2 || (now.replaces && nr_told == 1)) {
		unsigned long *retp = (unsigned long *)(which == 2 ? second : regs->sp);

		parent_kept = *retp;
		*retp = (unsigned long)handler;
	}
}

static void unwind(unsigned long ip, unsigned long sp)
{
	const struct orc_entry *orc = arch_ftrace_tramp_orc(&tramp->tramp, ip);
	unsigned long *cfa = (unsigned long *)(sp + orc->sp_offset);
	unsigned long to = cfa[-1];

	times[UNWOUND]++;
	expect_named(UNWOUND, "type", orc->type, ORC_TYPE_CALL);
	expect_named(UNWOUND, "base", orc->sp_reg, ORC_REG_SP);
	expect_named(UNWOUND, "base of RBP", orc->bp_reg, ORC_REG_UNDEFINED);
	if ((unsigned long)cfa != drive_sp - 8) {
		failed(UNWOUND, "CFA", (unsigned long)cfa, drive_sp - 8);
		exit(result());
	}
	/* Both are functions that RET goes on to. */
	if (!(shape.moves && to == (unsigned long)body) &&
	    !(shape.direct == 2 && to == (unsigned long)direct))
		expect_named(UNWOUND, "return address", to, (unsigned long)site + 5);
	if (cfa[0] != (unsigned long)handler)
		expect_named(UNWOUND, "parent", cfa[0], (unsigned long)drive_back);
}

/* Outside of the text that was made there is nothing to see, and the flag is cleared. */
static void stepped(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned long ip = g[REG_RIP];

	if (sig != SIGTRAP || info->si_code != TRAP_TRACE) {
		failed(test, "signal", sig, 0);
		printf("# at %#lx, trampoline %#lx of %#x bytes\n", ip, tramp->tramp.text,
		       tramp->tramp.size);
		exit(result());
	}
	if (ip - text_first >= text_end - text_first) {
		g[REG_EFL] &= ~X86_EFLAGS_TF;
		return;
	}
	/* As an interrupt does; this signal has a stack of its own. */
	memset((void *)g[REG_RSP] - BELOW, 0x5a, BELOW);
	if (!IS_ENABLED(CONFIG_FRAME_POINTER) && ip - tramp->tramp.text < tramp->tramp.size)
		unwind(ip, g[REG_RSP]);
}

/* The expected values */

static const char *const reg_name[] = {
	"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12",
	"R13", "R14", "R15",
};

static bool is_full(void)
{
	return shape.flags & FTRACE_OPS_FL_SAVE_REGS;
}

static bool is_called(unsigned int i)
{
	return i < shape.nr_funcs && i != counted() && !(now.silenced & BIT(i));
}

/* With those that were silenced. */
static unsigned int nr_calls(void)
{
	return shape.nr_funcs - !!shape.count;
}

/* With @full all registers and the flags are those that the site was called with. */
static void expect_regs(const struct seen *s, bool full)
{
	/* Arguments are in the first six, and C functions leave the others alone. */
	static const u8 kept[] = { RDI, RSI, RDX, RCX, R8, R9, RBX, RBP, R12, R13, R14, R15 };
	bool moved = shape.moves && nr_told - !!shape.nr_graph;

	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++)
		expect_named(test, reg_name[kept[i]], s->regs[kept[i]],
			     moved && kept[i] == RDI ? MOVED_DI : given[kept[i]]);
	/* Code that counts alters these, and the flags. */
	if (shape.count)
		return;
	if (full || (shape.flags & FTRACE_OPS_FL_IPMODIFY && s == &body_seen && !shape.direct))
		expect(s->regs[RAX], given[RAX]);
	if (!full)
		return;
	expect(s->regs[R10], moved ? MOVED_R10 : given[R10]);
	expect(s->regs[R11], given[R11]);
	if (!shape.depth)
		expect(s->flags & ~X86_EFLAGS_TF, given_flags & ~X86_EFLAGS_TF);
}

/* Those that a function is told. */
static void expect_told_regs(const struct pt_regs *regs, bool moved)
{
	expect(regs->di, moved ? MOVED_DI : given[RDI]);
	expect(regs->si, given[RSI]);
	expect(regs->dx, given[RDX]);
	expect(regs->cx, given[RCX]);
	expect(regs->r8, given[R8]);
	expect(regs->r9, given[R9]);
}

static void expect_told_more(const struct pt_regs *regs, bool moved)
{
	expect(regs->bp, given[RBP]);
	expect(regs->sp, drive_sp - 8);
	expect(regs->ip, moved ? (unsigned long)body : (unsigned long)site + 5);
	expect(regs->ss, is_full() ? __KERNEL_DS : 0);
	if (!is_full())
		return;
	expect(regs->cs, __KERNEL_CS);
	expect(regs->orig_ax, 0);
	expect(regs->bx, given[RBX]);
	expect(regs->r12, given[R12]);
	expect(regs->r13, given[R13]);
	expect(regs->r14, given[R14]);
	expect(regs->r15, given[R15]);
	if (shape.count)
		return;
	expect(regs->ax, given[RAX]);
	expect(regs->r10, moved ? MOVED_R10 : given[R10]);
	expect(regs->r11, given[R11]);
	if (!shape.depth)
		expect(regs->flags & ~X86_EFLAGS_TF, given_flags & ~X86_EFLAGS_TF);
}

static void expect_calls(void)
{
	const struct told *t = told;

	for (unsigned int i = 0; i < shape.nr_funcs; i++) {
		bool moved = shape.moves && t > told;

		if (!is_called(i))
			continue;
		expect(t->ip, site);
		expect(t->second, drive_back);
		expect(t->third, ARG + i);
		expect(t->which, !!(now.other & BIT(i)));
		expect_told_regs(&t->regs, moved);
		expect_told_more(&t->regs, moved);
		t++;
	}
	if (shape.nr_graph) {
		bool moved = shape.moves && t > told;

		expect(t->ip, site);
		expect(t->second, drive_sp - 8);
		expect(t->third, GRAPH_ARG);
		expect(t->which, 2);
		expect_told_regs(&t->regs, moved);
		if (nr_calls() || shape.graph_regs || shape.flags)
			expect_told_more(&t->regs, moved);
		t++;
	}
	expect(nr_told, t - told);
}

/* Where the function, a direct function, and the caller found themselves. */
static void expect_way(void)
{
	unsigned long parent = shape.nr_graph || now.replaces ? (unsigned long)handler :
								(unsigned long)drive_back;
	bool direct_called = shape.direct && !now.direct_silenced;
	bool moved = shape.moves && nr_told - !!shape.nr_graph;

	expect(back_seen.times, 1);
	expect(back_seen.regs[RSP], drive_sp);
	expect(handled, parent == (unsigned long)handler);

	expect(direct_seen.times, direct_called);
	if (direct_called) {
		expect_regs(&direct_seen, is_full());
		expect(direct_seen.regs[RSP], shape.direct == 2 ? drive_sp - 8 : drive_sp - 16);
		expect(direct_seen.top, shape.direct == 2 ? parent :
					moved ? (unsigned long)body : (unsigned long)site + 5);
	}
	expect(body_seen.times, !(direct_called && shape.direct == 2));
	if (body_seen.times) {
		expect_regs(&body_seen, is_full() && !direct_called);
		expect(body_seen.regs[RSP], drive_sp - 8);
		expect(body_seen.top, parent);
	}

	/* A JMP takes the place of the RET. */
	if (shape.ret != BY_EITHER)
		expect(thunked, shape.ret == BY_THUNK && shape.direct != 1);
	expect(depth, shape.depth ? 1 + nr_calls() + !!shape.nr_graph : 0);
}

static unsigned long counter[3];

static void expect_counts(void)
{
	bool left_out = shape.count == TASK_IGNORED || shape.count == CPU_OFF;

	expect(counter[1], shape.count && !(now.asks && left_out));
	expect(counter[0] + counter[2], 0);
	expect_gates(0, 0);
	for (unsigned int i = 0; i < shape.nr_funcs + shape.nr_graph; i++)
		expect(gates[i]->entered, shape.gates && i != counted());
}

/*
 * Calls the site, which calls @entry. With @step the CPU stops at each instruction, which takes a
 * thousand times as long. For a walk along frame pointers it is enough to do so in functions.
 */
static void run(enum test what, unsigned long entry, bool step)
{
	trap_flag = step && !IS_ENABLED(CONFIG_FRAME_POINTER) ? X86_EFLAGS_TF : 0;
	given_flags = trap_flag | X86_EFLAGS_CF | X86_EFLAGS_AF | X86_EFLAGS_SF | X86_EFLAGS_OF |
		      BIT(1) | BIT(9);
	test = what;
	times[test]++;
	__text_gen_insn(site, CALL_INSN_OPCODE, site, (void *)entry, CALL_INSN_SIZE);
	memset(&body_seen, 0, sizeof(body_seen));
	memset(&direct_seen, 0, sizeof(direct_seen));
	memset(&back_seen, 0, sizeof(back_seen));
	memset(counter, 0, sizeof(counter));
	memset(gate_near, 0, sizeof(gate_near));
	memset(gate_far, 0, sizeof(gate_near));
	nr_told = 0;
	handled = 0;
	thunked = 0;
	depth = 0;

	/* If it never comes back. */
	alarm(20);
	drive();

	expect_calls();
	expect_way();
	expect_counts();
}

/* The states that a trampoline may get into */

static void try_asking(unsigned long entry)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct ftrace_patch patch = { };

		now.asks = !now.asks;
		arch_ftrace_tramp_ask(&patch, &tramp->tramp, now.asks);
		arch_ftrace_tramp_ask(&patch, &tramp->tramp, now.asks);
		patch_end(&patch, 1);
		run(ASKED, entry, false);
	}
}

/* Redirects function @i, or silences it: nothing happens to one that is not called. */
static void try_function(enum test what, unsigned int i, ftrace_func_t to, unsigned long entry)
{
	bool is = is_called(i);
	struct ftrace_patch patch = { };

	if (!to)
		now.silenced |= BIT(i);
	if (to == other_func)
		now.other |= BIT(i);
	else
		now.other &= ~BIT(i);
	test = what;
	arch_ftrace_tramp_retarget(&patch, &tramp->tramp, i, to);
	arch_ftrace_tramp_retarget(&patch, &tramp->tramp, i, to);
	patch_end(&patch, is);
	run(what, entry, false);
}

static void try_redirecting(unsigned long entry)
{
	for (unsigned int i = 0; i < shape.nr_funcs; i++)
		try_function(REDIRECTED, i, other_func, entry);
	if (shape.nr_funcs)
		try_function(REDIRECTED, 0, func, entry);
}

static void try_silencing(unsigned long entry)
{
	for (unsigned int i = 0; i < shape.nr_funcs; i++)
		try_function(SILENCED, i, NULL, entry);
	if (shape.nr_funcs)
		try_function(SILENCED, shape.nr_funcs - 1, other_func, entry);
}

static void try_silencing_direct(unsigned long entry)
{
	struct ftrace_patch patch = { };

	if (!shape.direct)
		return;
	test = DIRECT_SILENCED;
	now.direct_silenced = true;
	arch_ftrace_tramp_silence_direct(&patch, &tramp->tramp);
	patch_end(&patch, 1);
	run(DIRECT_SILENCED, entry, true);
}

static void try_free(unsigned long text, size_t size)
{
	test = FREED;
	times[FREED]++;
	for (unsigned int i = 0; i < size; i++) {
		if (((u8 *)text)[i] != INT3_INSN_OPCODE) {
			failed(FREED, "byte", ((u8 *)text)[i], INT3_INSN_OPCODE);
			return;
		}
	}
}

static void try_states(unsigned long entry)
{
	run(CALLED, entry, true);
	if (is_full() && nr_calls() > 1 && !shape.nr_graph) {
		now.replaces = true;
		run(REPLACED, entry, false);
		now.replaces = false;
	}
	if (shape.count)
		try_asking(entry);
	try_redirecting(entry);
	/* In either order. */
	if (shape.gates)
		try_silencing_direct(entry);
	try_silencing(entry);
	if (!shape.gates)
		try_silencing_direct(entry);
}

static void try_shape(void)
{
	struct ftrace_tramp_call calls[MAX_CALLS] = { };
	u32 off = shape.count == CPU_OFF;
	unsigned long ignored = BIT(5);
	struct ftrace_tramp_desc desc = {
		.flags		= shape.flags,
		.nr_funcs	= shape.nr_funcs,
		.nr_graph	= shape.nr_graph,
		.calls		= calls,
		.graph_func	= graph_func,
		.graph_arg	= (void *)GRAPH_ARG,
		.graph_regs	= shape.graph_regs,
		.counts		= shape.count,
		.asks		= shape.count > NOT_ASKED,
		.ignored	= &ignored,
		.off		= &off,
	};
	unsigned long entry, stubs = 0, text;
	struct ftrace_tramp *made;
	unsigned int size;

	for (unsigned int i = 0; i < shape.nr_funcs + shape.nr_graph; i++) {
		if (i < shape.nr_funcs && i != counted())
			calls[i].func = func;
		calls[i].arg = (void *)(ARG + i);
		calls[i].gate = shape.gates ? gates[i] : NULL;
	}
	if (shape.direct)
		desc.direct = (unsigned long)direct + shape.direct - 1;
	task.ftrace_pid_ignored = shape.count == TASK_IGNORED ? BIT(5) | BIT(6) : BIT(6);
	now = (struct now) { .asks = desc.asks };
	test = CALLED;

	made = arch_ftrace_tramp_alloc(&desc);
	if (!made) {
		failed(test, "no trampoline", 0, 1);
		return;
	}
	tramp = x86_tramp_of(made);
	text = made->text;
	size = made->size;
	entry = text;
	if (shape.count) {
		stubs = arch_ftrace_stubs_alloc(made, (u64 *)counter, ARRAY_SIZE(counter));
		entry = stubs + ARCH_FTRACE_STUB_SIZE;
	}
	try_states(entry);
	if (stubs) {
		arch_ftrace_stubs_free(stubs, ARRAY_SIZE(counter));
		try_free(stubs, ARRAY_SIZE(counter) * ARCH_FTRACE_STUB_SIZE);
	}
	arch_ftrace_tramp_free(made);
	try_free(text, size);
}

/* Not all that can be told can be wanted. */
static bool makes_sense(void)
{
	unsigned int funcs = shape.nr_funcs;

	if (!funcs && !shape.nr_graph && !shape.direct)
		return false;
	/* Flags are those of functions. */
	if (shape.flags && !funcs)
		return false;
	if (shape.moves && !(shape.flags & FTRACE_OPS_FL_IPMODIFY))
		return false;
	if (shape.count && !funcs)
		return false;
	if (shape.gates && !funcs && !shape.nr_graph)
		return false;
	return !shape.graph_regs || shape.nr_graph;
}

/* The way of returning, with its counts, matters at few places of a trampoline. */
static bool is_worth_it(void)
{
	if (!shape.ret && !shape.depth)
		return true;
	return shape.nr_funcs < 3 && shape.nr_graph < 2 && shape.count <= NOT_ASKED &&
	       !shape.gates && !shape.graph_regs;
}

/* Takes a value below @nr out of a number. */
static unsigned int take(unsigned int *from, unsigned int nr)
{
	unsigned int value = *from % nr;

	*from /= nr;
	return value;
}

/* The shape of number @nr. Returns false if there are less. */
static bool shape_set(unsigned int nr)
{
	shape.moves = take(&nr, 2);
	shape.flags = take(&nr, 2) * FTRACE_OPS_FL_SAVE_REGS;
	shape.flags |= take(&nr, 2) * FTRACE_OPS_FL_IPMODIFY;
	shape.count = take(&nr, COUNTS);
	shape.graph_regs = take(&nr, 2);
	shape.gates = take(&nr, 2);
	shape.direct = take(&nr, 3);
	shape.nr_graph = take(&nr, 3);
	shape.nr_funcs = take(&nr, 4);
	shape.depth = take(&nr, 2);
	shape.ret = take(&nr, RETS);
	return !nr;
}

static unsigned int try_all(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; shape_set(i); i++) {
		if (!makes_sense() || !is_worth_it())
			continue;
		if (verbose)
			say_where();
		try_shape();
		nr++;
	}
	return nr;
}

static void prepare(void)
{
	static const int signals[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGALRM };
	struct sigaction sa = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static u8 signal_stack[SZ_256K];
	stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };

	gate_far = calloc(MAX_CALLS, sizeof(*gate_far));
	site = tramp_text_alloc(2 * CALL_INSN_SIZE);
	if (!gate_far || !site || sigaltstack(&stack, NULL)) {
		perror("memory");
		exit(2);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, NULL);

	__text_gen_insn(site + CALL_INSN_SIZE, JMP32_INSN_OPCODE, site + CALL_INSN_SIZE, body,
			JMP32_INSN_SIZE);
	site_to_call = (unsigned long)site;
	for (unsigned int i = 0; i < MAX_CALLS; i++)
		gates[i] = i & 1 ? &gate_far[i] : &gate_near[i];
	for (unsigned int i = 0; i < ARRAY_SIZE(given); i++)
		given[i] = 0x1111111111111111UL * i + 0xabc000 + i;
}

int main(int argc, char **argv)
{
	unsigned int nr;

	verbose = argc == 2 && !strcmp(argv[1], "-v");
	if (argc > 1 && !verbose) {
		fputs("usage: tramp [-v]\n", stderr);
		return 2;
	}
	setbuf(stdout, NULL);
	prepare();
	tramp_area_init();
	nr = try_all();
	printf("# %u trampolines, %s\n", nr,
	       IS_ENABLED(CONFIG_FRAME_POINTER) ? "with frame pointers, for one CPU" :
						  "without frame pointers, for many CPUs");
	return result();
}
