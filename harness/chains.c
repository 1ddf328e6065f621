// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains of the guest's kernel, told from which blocks run and where the stack pointer
 * then is.
 *
 * Each kernel stack has its frames: a function, and the stack pointer at its entry. A function
 * is left when the pointer is above that. So it needs not be seen how a function ends: a jump
 * out of an interrupt, a return that was redirected, a task that never comes back. A task that
 * runs again finds the frames that it left. A function that ends in a jump to another stays as
 * the other's caller, though its frame is gone.
 *
 * The chains are the branches of one tree; a frame and the CPU, of which there is one, know their
 * node in it, where instructions are counted.
 *
 * Firmware that interrupts the kernel, as x86's SMM does, looks like user space. But then the
 * kernel goes on at a place that is no entry, with the stack that it had.
 *
 * The file of ranges tells the kind of each address. A line is "ADDRESS KIND", in order, and the
 * range reaches to the next one's address. KIND is
 *	f	a function; its first address is its entry
 *	e	one that the CPU enters from user space
 *	s	stubs that interrupts enter anywhere
 *	w	the function that switches from one task's stack to another's
 *	m	code without names
 *	u	no code of the kernel's
 */
#include "chains.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Stacks are told apart by these bits of their addresses; x86-64 aligns a task's stack so. Other
 * stacks may lie anywhere, two in the same place even, but each is one CPU's.
 */
enum { STACK_SHIFT = 14, STACK_BUCKETS = 4096 };
/* The CPUs' entry areas: a stack there is empty whenever an exception comes to it. */
#define ENTRY_AREAS 0xfffffe0000000000ull
#define ENTRY_AREAS_END 0xfffffe8000000000ull

struct range {
	uint64_t addr;
	char kind;
};

/* A function as it was called along one chain. */
struct node {
	struct node *parent, *children, *sibling;
	unsigned int range;
	uint64_t insns;
};

/* One that was under way when its stack was seen first is open: its entry was not seen. */
struct frame {
	struct node *node;
	uint64_t sp;
	bool open;
};

struct stack {
	struct stack *next;
	uint64_t key;
	bool task;			/* whose it is, if it is not the CPU's */
	struct node *base;		/* the code that was running when it was entered */
	struct stack *from;		/* to which it returns, if it is not a task's own */
	struct frame *frames;
	unsigned int depth, room;
};

struct cpu {
	struct node *node;		/* of the running code */
	struct node *entry;		/* the kernel's code that still has the user's stack */
	struct stack *stack;
	struct stack *before;		/* the last one of the kernel */
	bool from_user;			/* and not yet on the task's stack */
	unsigned int range;
	enum block_end end;
};

static struct range *ranges;
static unsigned int range_count;
static struct node root = { .range = -1 };
static struct stack *stacks[STACK_BUCKETS];
static struct cpu cpu;

static void *grown(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		abort();
	return p;
}

/* 0, or -1 if the file is not as it is to be. */
int chains_read_ranges(const char *file)
{
	FILE *f = fopen(file, "r");
	struct range r;
	int got = EOF;

	while (f && (got = fscanf(f, "%" SCNx64 " %c", &r.addr, &r.kind)) == 2) {
		if (range_count ? r.addr <= ranges[range_count - 1].addr : r.addr != 0)
			break;
		ranges = grown(ranges, (range_count + 1) * sizeof(r));
		ranges[range_count++] = r;
	}
	if (f)
		fclose(f);
	return got == EOF && range_count ? 0 : -1;
}

static unsigned int range_find(uint64_t addr)
{
	unsigned int low = 0, high = range_count;

	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (ranges[mid].addr <= addr)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static enum block_end end_of(const uint8_t *insn, size_t len)
{
	/* Prefixes of branches: of segments, BND, and the size's. */
	while (len > 1 && (*insn == 0x2e || *insn == 0x3e || (*insn & 0xfe) == 0xf2 ||
			   (*insn & 0xf0) == 0x40)) {
		insn++;
		len--;
	}
	if (!len)
		return END_PLAIN;
	if (insn[0] == 0xe8 || (insn[0] == 0xff && len > 1 && (insn[1] >> 3 & 7) == 2))
		return END_CALL;
	if (insn[0] == 0xc3 || insn[0] == 0xc2)
		return END_RETURN;
	/* IRET and SYSRET */
	if (insn[0] == 0xcf || (insn[0] == 0x0f && len > 1 && insn[1] == 0x07))
		return END_EXCEPTION_RETURN;
	return END_PLAIN;
}

/* A block at addr, the last instruction of which are these bytes. */
void chains_place(struct place *p, uint64_t addr, const uint8_t *last, size_t len)
{
	p->range = range_find(addr);
	p->entry = strchr("few", ranges[p->range].kind) && ranges[p->range].addr == addr;
	p->end = end_of(last, len);
}

static struct node *child(struct node *parent, unsigned int range)
{
	struct node **link = &parent->children, *n;

	for (; (n = *link); link = &n->sibling)
		if (n->range == range)
			break;
	if (n) {
		*link = n->sibling;
	} else {
		n = grown(NULL, sizeof(*n));
		*n = (struct node){ .parent = parent, .range = range };
	}
	/* It will be asked for again. */
	n->sibling = parent->children;
	parent->children = n;
	return n;
}

/* The stack that sp is in. A new one is a task's if it says so. */
static struct stack *stack_of(uint64_t sp, bool task)
{
	uint64_t key = sp >> STACK_SHIFT;
	struct stack **bucket = &stacks[(key * 0x9e3779b97f4a7c15ull) >> 52], *s;

	for (s = *bucket; s; s = s->next)
		if (s->key == key && (s->task || !task))
			return s;
	s = grown(NULL, sizeof(*s));
	*s = (struct stack){ .next = *bucket, .key = key, .task = task, .base = &root };
	*bucket = s;
	return s;
}

static struct frame *top(struct stack *s)
{
	return s->depth ? &s->frames[s->depth - 1] : NULL;
}

static struct node *running(struct stack *s)
{
	return s->depth ? top(s)->node : s->base;
}

static void push(struct stack *s, unsigned int range, uint64_t sp, bool open)
{
	struct node *n = child(running(s), range);

	if (s->depth == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->frames = grown(s->frames, s->room * sizeof(*s->frames));
	}
	s->frames[s->depth++] = (struct frame){ .node = n, .sp = sp, .open = open };
}

static void empty(struct stack *s, struct node *base, struct stack *from)
{
	s->depth = 0;
	s->base = base;
	s->from = from;
}

/* Leaves the functions that the stack pointer is above of. */
static void settle(struct stack *s, uint64_t sp)
{
	while (s->depth && !top(s)->open && top(s)->sp < sp)
		s->depth--;
}

static bool in_entry_area(uint64_t sp)
{
	return sp >= ENTRY_AREAS && sp < ENTRY_AREAS_END;
}

/*
 * Whose stack is changed: the caller of the code that runs there now, or the code that went there
 * itself.
 */
static struct node *caller(const struct cpu *c, const struct place *p)
{
	struct node *n = c->node;

	if (c->end == END_RETURN)
		while (n != &root && n->range != p->range)
			n = n->parent;
	return n == &root ? c->node : n;
}

/* The next code on a kernel stack has come from user space, by way of entry. */
static void leave_kernel(struct cpu *c, struct node *entry)
{
	c->entry = entry;
	if (c->stack)
		c->before = c->stack;
	c->stack = NULL;
	c->from_user = true;
}

static void change_stack(struct cpu *c, const struct place *p, uint64_t sp)
{
	bool switched = ranges[c->range].kind == 'w', entry_area = in_entry_area(sp);
	bool task = switched || !c->node || (c->from_user && !entry_area);
	struct stack *left = c->stack, *to = stack_of(sp, task);

	c->stack = to;
	if (c->from_user) {
		empty(to, left ? caller(c, p) : c->entry, NULL);
		c->from_user = entry_area;
	} else if (switched) {
		settle(to, sp);
		/* A task that did not leave by this function is dead, and another has its stack. */
		if (!to->depth || ranges[top(to)->node->range].kind != 'w')
			empty(to, &root, NULL);
	} else if (!to->task && !(left && left->from == to)) {
		empty(to, left ? caller(c, p) : &root, left);
	}
}

/* A function is entered; or jumped to by one that has this place on the stack, itself perhaps. */
static void enter(struct stack *s, unsigned int range, uint64_t sp)
{
	for (unsigned int i = s->depth; i-- && s->frames[i].sp == sp;)
		if (s->frames[i].node->range == range) {
			s->depth = i + 1;
			return;
		}
	push(s, range, sp, false);
}

/* The middle of a function runs, which is not the one that ran. */
static void resume(struct stack *s, unsigned int range, uint64_t sp, bool returned)
{
	if (returned && s->depth && top(s)->open) {
		s->depth--;
		push(s, range, sp, true);
		return;
	}
	for (unsigned int i = s->depth; i--;)
		if (s->frames[i].node->range == range) {
			s->depth = i + 1;
			return;
		}
	if (s->base->range == range)
		s->depth = 0;
	else
		push(s, range, sp, !s->depth);
}

static void on_stack(struct cpu *c, struct stack *s, const struct place *p, uint64_t sp)
{
	bool stub = ranges[p->range].kind == 's';

	settle(s, sp);
	if (p->entry || stub)
		enter(s, p->range, sp);
	else if (c->end == END_CALL && (!s->depth || sp < top(s)->sp))
		push(s, p->range, sp, false);
	else if (running(s)->range != p->range)
		resume(s, p->range, sp, c->end == END_RETURN);
}

/*
 * Whether the block that is about to run only goes on in the function that ran before it, so that
 * its chain is the same. Where not, it is a step.
 */
bool chains_go_on(const struct place *p)
{
	struct cpu *c = &cpu;

	if (!c->node || c->range != p->range || p->entry || c->end != END_PLAIN ||
	    ranges[p->range].kind == 's')
		return false;
	c->end = p->end;
	return true;
}

/* Code that seemed to be user space has not entered the kernel, but gone back to it. */
static void resume_kernel(struct cpu *c)
{
	c->stack = c->before;
	c->from_user = false;
	c->end = END_PLAIN;
}

/* A block is about to run on a CPU with this stack pointer. */
void chains_step(const struct place *p, uint64_t sp)
{
	struct cpu *c = &cpu;
	bool user = ranges[p->range].kind == 'u';

	if (user || !(sp >> 63)) {
		c->node = child(&root, p->range);
		leave_kernel(c, user ? &root : c->node);
	} else {
		/* It returned to user space, which faulted before a block of it ran. */
		if (c->end == END_EXCEPTION_RETURN && p->entry && in_entry_area(sp))
			leave_kernel(c, &root);
		if (c->from_user && !c->stack && c->entry == &root && c->before &&
		    !strchr("es", ranges[p->range].kind))
			resume_kernel(c);
		if (!c->stack || c->stack->key != sp >> STACK_SHIFT)
			change_stack(c, p, sp);
		on_stack(c, c->stack, p, sp);
		c->node = running(c->stack);
	}
	c->range = p->range;
	c->end = p->end;
}

/* The block that is about to run has so many instructions. */
void chains_count(uint32_t insns)
{
	cpu.node->insns += insns;
}

static void clear(struct node *n)
{
	n->insns = 0;
	for (n = n->children; n; n = n->sibling)
		clear(n);
}

void chains_clear(void)
{
	clear(&root);
}

static bool counted(const struct node *n)
{
	if (n->insns)
		return true;
	for (n = n->children; n; n = n->sibling)
		if (counted(n))
			return true;
	return false;
}

static void write_below(FILE *out, unsigned int window, const struct node *n, unsigned int depth)
{
	for (n = n->children; n; n = n->sibling) {
		if (!counted(n))
			continue;
		fprintf(out, "N %u %u %" PRIx64 " %" PRIu64 "\n",
			window, depth, ranges[n->range].addr, n->insns);
		write_below(out, window, n, depth + 1);
	}
}

/* Lines "N WINDOW DEPTH FUNCTION INSTRUCTIONS", each caller before its callees. */
void chains_write(FILE *out, unsigned int window)
{
	write_below(out, window, &root, 0);
}
