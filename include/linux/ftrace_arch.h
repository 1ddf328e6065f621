/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between function tracing and an architecture.
 *
 * Common code decides which target each site has, and when. The architecture knows
 * the bytes: it writes sites, makes trampolines and hooks returns. Files under
 * kernel/trace/ and arch/ include this header, and no others do.
 *
 * A target is the address that a site calls; 0 stands for no call, and the site is
 * a NOP then. To a target with ftrace_is_jmp() it jumps. Sites are given by their
 * address (ip), which is where the CALL, the JMP or the NOP begins.
 *
 * The architecture defines the names that begin with arch_ or say so, and calls the rest.
 * One that does not select HAVE_FTRACE_BATCHES defines arch_ftrace_check_site(), and
 * keeps the functions that ftrace.h asks of all architectures; the rest is common code
 * then. Trampolines are of those that select HAVE_FTRACE_TRAMPOLINES.
 * "Any context" includes NMIs. Documentation/trace/ftrace-design.rst is the guide
 * to a port.
 */
#ifndef _LINUX_FTRACE_ARCH_H
#define _LINUX_FTRACE_ARCH_H

#include <linux/ftrace.h>
#include <linux/types.h>
#include <asm/sections.h>

struct ftrace_record;
struct module;
struct orc_entry;

/* Gates */

/**
 * struct ftrace_gate_count - how often a gate was passed on one CPU
 * @entered: on the way in
 * @left: on the way out, which may be on another CPU
 */
struct ftrace_gate_count {
	unsigned int	entered;
	unsigned int	left;
};

#ifndef ftrace_stub_return
/**
 * ftrace_stub_return - return from a site as if nothing had been called there
 *
 * The architecture's. Trampolines whose direct function goes away jump here.
 */
void ftrace_stub_return(void);
#endif

/* Sites */

#ifdef CONFIG_HAVE_FTRACE_BATCHES
static inline int arch_ftrace_boot(void)
{
	return 0;
}
#else
/**
 * arch_ftrace_boot - make the targets of sites ready
 *
 * Context: boot, before the first site is looked at.
 * Return: 0, or a negative errno: no function can be traced then.
 */
int arch_ftrace_boot(void);
#endif

/**
 * enum ftrace_arch_check - result of arch_ftrace_check_site()
 * @FTRACE_SITE_OK: the text is as the record says
 * @FTRACE_SITE_ALTERED: it is not
 */
enum ftrace_arch_check {
	FTRACE_SITE_OK,
	FTRACE_SITE_ALTERED,
};

/**
 * arch_ftrace_init_site - make a site of new text a NOP
 * @mod: the module that the text is of, or NULL
 * @ip: the site, as the compiler or the link step left it
 *
 * Called once for each site, at boot and while a module is loaded.
 *
 * Context: the text is writable and not executed yet.
 * Return: 0, or -EINVAL if the site is neither a NOP nor a call of __fentry__.
 * The site is put in quarantine then.
 */
int arch_ftrace_init_site(struct module *mod, unsigned long ip);

/**
 * arch_ftrace_check_site - compare a site's text with the instruction that it should be
 * @ip: the site
 * @target: the function that it should call
 *
 * Context: the text is mapped and not written meanwhile.
 * Return: FTRACE_SITE_OK or FTRACE_SITE_ALTERED.
 */
enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target);

/**
 * arch_ftrace_check_sites - compare the text of sites with their instructions
 * @base: the address that the records' offsets count from
 * @rec: the first site's record
 * @nr: how many sites
 * @target: the function that the first of them should call
 * @step: how much farther each next one should
 *
 * Context: the text is mapped and not written meanwhile.
 * Return: how many are as they should be, before the first that is not.
 */
unsigned int arch_ftrace_check_sites(unsigned long base, const struct ftrace_record *rec,
				     unsigned int nr, unsigned long target, unsigned int step);

/**
 * arch_ftrace_report_site - log the bytes at a site and those that should be there
 * @ip: the site
 * @target: the function that it should call
 *
 * Context: any.
 */
void arch_ftrace_report_site(unsigned long ip, unsigned long target);

#ifndef arch_ftrace_stack_addr
/**
 * arch_ftrace_stack_addr - the address that stack traces have for the call at a site
 * @ip: the site
 *
 * The architecture defines it in asm/ftrace.h, if that is not the byte after the site.
 *
 * Context: any.
 */
static __always_inline unsigned long arch_ftrace_stack_addr(unsigned long ip)
{
	return ip + MCOUNT_INSN_SIZE;
}
#endif

#ifndef arch_ftrace_text_middle
/**
 * arch_ftrace_text_middle - an address in the middle of the kernel's and modules' text
 *
 * The architecture defines it in asm/ftrace.h, if modules may be more than 2 GiB away
 * from the beginning of the kernel's text.
 *
 * Context: any.
 * Return: an address that all text is within 2 GiB of.
 */
static __always_inline unsigned long arch_ftrace_text_middle(void)
{
	return (unsigned long)_text;
}
#endif

#ifndef arch_ftrace_text_addr
/**
 * arch_ftrace_text_low - name an address of text by 32 bits
 * @addr: the address
 *
 * The architecture defines this and arch_ftrace_text_addr() in asm/ftrace.h, if modules may
 * be more than 4 GiB away from the kernel's text.
 *
 * Context: any.
 */
static __always_inline u32 arch_ftrace_text_low(unsigned long addr)
{
	return addr;
}

/**
 * arch_ftrace_text_addr - the address of text that 32 bits name
 * @low: from arch_ftrace_text_low()
 *
 * Context: any.
 * Return: the address; another one for an address that is not near other text.
 */
static __always_inline unsigned long arch_ftrace_text_addr(u32 low)
{
	unsigned long middle = arch_ftrace_text_middle();

	return middle + (long)(s32)(low - (u32)middle);
}
#endif

/* Batches of instructions to replace. The architecture defines struct ftrace_patch. */

struct ftrace_patch;

/**
 * arch_ftrace_patch_begin - start a batch
 * @nr: how many instructions will be added, at most
 *
 * There is one batch at a time. It must not fail: where memory is short, the
 * batch is applied in several parts.
 *
 * Context: sleeps; ftrace_lock is held. Where HAVE_FTRACE_BATCHES is selected it leaves
 * cpus_read_lock() and text_mutex held until arch_ftrace_patch_end(). Elsewhere the
 * architecture takes its own locks while it writes.
 * Return: the batch to fill.
 */
struct ftrace_patch *arch_ftrace_patch_begin(unsigned int nr);

/**
 * arch_ftrace_patch_add - add one instruction to a batch
 * @patch: from arch_ftrace_patch_begin()
 * @ip: a site, or the address of another CALL or NOP
 * @to: its new target
 *
 * Context: may apply the instructions added so far, so both the old and the new target
 * must be ready to be called.
 */
void arch_ftrace_patch_add(struct ftrace_patch *patch, unsigned long ip, unsigned long to);

/**
 * arch_ftrace_patch_sites - add sites to a batch that get the same target, or a row of them
 * @patch: from arch_ftrace_patch_begin()
 * @base: the address that the records' offsets count from
 * @rec: the first site's record
 * @nr: how many sites
 * @to: the new target of the first one
 * @step: how much farther each next one's is
 *
 * Context: as arch_ftrace_patch_add().
 */
void arch_ftrace_patch_sites(struct ftrace_patch *patch, unsigned long base,
			     const struct ftrace_record *rec, unsigned int nr, unsigned long to,
			     unsigned int step);

/**
 * arch_ftrace_patch_end - apply the rest of a batch
 * @patch: from arch_ftrace_patch_begin()
 *
 * Context: sleeps; releases the locks of arch_ftrace_patch_begin(). Where
 * HAVE_FTRACE_BATCHES is selected, all CPUs execute the new instructions on return, as
 * trampolines rely on. Elsewhere a CPU may go on with an old one until it is
 * interrupted: that leads to ftrace_caller, which stays and looks up the site's ops, or
 * to a direct function, whose owner waits for RCU-tasks.
 */
void arch_ftrace_patch_end(struct ftrace_patch *patch);

#ifdef CONFIG_HAVE_FTRACE_BATCHES
static inline bool arch_ftrace_wrote_all(void)
{
	return true;
}
#else
/**
 * arch_ftrace_wrote_all - whether each site got its instruction of a batch
 *
 * A site that did not may lead to ftrace_caller against its record.
 *
 * Context: ftrace_lock is held.
 * Return: false for ever after a write has failed.
 */
bool arch_ftrace_wrote_all(void);
#endif

struct ftrace_callset;

#ifdef CONFIG_HAVE_FTRACE_BATCHES
static inline void arch_ftrace_patch_move(struct ftrace_patch *patch, unsigned long from,
					  struct ftrace_callset *cs)
{
}
#else
/**
 * arch_ftrace_patch_move - describe the sites that are added next
 * @patch: from arch_ftrace_patch_begin()
 * @from: their present target
 * @cs: the callset that they will have, or NULL
 *
 * Context: between arch_ftrace_patch_begin() and arch_ftrace_patch_end().
 */
void arch_ftrace_patch_move(struct ftrace_patch *patch, unsigned long from,
			    struct ftrace_callset *cs);
#endif

/* Trampolines */

/**
 * struct ftrace_tramp_call - a function that a trampoline calls
 * @func: the function; NULL if the stubs count in its place
 * @arg: its third argument, the ops
 * @gate: counts the tasks inside; NULL if nothing of the ops can go away
 */
struct ftrace_tramp_call {
	ftrace_func_t				func;
	struct ftrace_ops			*arg;
	struct ftrace_gate_count __percpu	*gate;
};

/**
 * struct ftrace_tramp_desc - what a trampoline must do
 * @flags: FTRACE_OPS_FL_SAVE_REGS if a function gets all registers, _IPMODIFY if one may
 *	   change where to go on
 * @nr_funcs: how many functions are called, in their order; all are told the same
 *	      parent_ip, that from before the first one, which may replace the address
 *	      on the stack
 * @nr_graph: how many graph users there are
 * @calls: the functions, and after them the graph users, which have gates only
 * @graph_func: called after the functions, inside the gates of all graph users, if there
 *		are any
 * @graph_arg: its third argument
 * @graph_regs: it looks at the registers; otherwise no more than the function's arguments
 *		are sure to be there
 * @direct: the function to go on to in the end, as it is given to
 *	    arch_ftrace_patch_add(); 0 to go back to the site
 * @counts: the stubs of the sites count; one of @calls has no function then
 * @asks: it is asked whether to count; only with @counts
 * @ignored: which bits of task_struct::ftrace_pid_ignored keep a task's calls from being
 *	     counted, where it is asked
 * @off: not 0 on CPUs whose calls are not counted, where it is asked
 */
struct ftrace_tramp_desc {
	unsigned long			flags;
	unsigned int			nr_funcs;
	unsigned int			nr_graph;
	const struct ftrace_tramp_call	*calls;
	ftrace_graph_func_t		graph_func;
	struct ftrace_callset		*graph_arg;
	bool				graph_regs;
	unsigned long			direct;
	bool				counts;
	bool				asks;
	const unsigned long		*ignored;
	const u32 __percpu		*off;
};

/**
 * struct ftrace_tramp - a trampoline, of which the architecture may know more
 * @text: the code
 * @size: how many bytes
 */
struct ftrace_tramp {
	unsigned long	text;
	unsigned int	size;
};

#ifdef CONFIG_HAVE_FTRACE_TRAMPOLINES
/**
 * arch_ftrace_tramp_alloc - make a trampoline
 * @desc: what it must do
 *
 * Context: sleeps; ftrace_lock is held.
 * Return: the trampoline, or NULL without memory.
 */
struct ftrace_tramp *arch_ftrace_tramp_alloc(const struct ftrace_tramp_desc *desc);

/**
 * arch_ftrace_tramp_free - free a trampoline
 * @tramp: the trampoline, or NULL
 *
 * Context: sleeps. No CPU and no task is in it.
 */
void arch_ftrace_tramp_free(struct ftrace_tramp *tramp);

/**
 * arch_ftrace_tramp_retarget - let a trampoline call another function
 * @patch: the batch that does it
 * @tramp: the trampoline
 * @i: in place of which of the functions; nothing happens if that is none or not called
 * @to: the new function; NULL to call none there any more
 *
 * Context: ftrace_lock is held.
 */
void arch_ftrace_tramp_retarget(struct ftrace_patch *patch, struct ftrace_tramp *tramp,
				unsigned int i, ftrace_func_t to);

/**
 * arch_ftrace_tramp_ask - change whether a trampoline asks whether to count
 * @patch: the batch that does it
 * @tramp: the trampoline, with stubs that count
 * @asks: whether it is to
 *
 * Context: ftrace_lock is held.
 */
void arch_ftrace_tramp_ask(struct ftrace_patch *patch, struct ftrace_tramp *tramp, bool asks);

/**
 * arch_ftrace_tramp_silence_direct - let a trampoline go back to the site in the end
 * @patch: the batch that does it
 * @tramp: the trampoline, which goes on to a direct function
 *
 * Context: ftrace_lock is held.
 */
void arch_ftrace_tramp_silence_direct(struct ftrace_patch *patch, struct ftrace_tramp *tramp);

#else /* !CONFIG_HAVE_FTRACE_TRAMPOLINES */
static inline struct ftrace_tramp *arch_ftrace_tramp_alloc(const struct ftrace_tramp_desc *desc)
{
	return NULL;
}

static inline void arch_ftrace_tramp_free(struct ftrace_tramp *tramp)
{
}

static inline void arch_ftrace_tramp_retarget(struct ftrace_patch *patch,
					      struct ftrace_tramp *tramp, unsigned int i,
					      ftrace_func_t to)
{
}

static inline void arch_ftrace_tramp_ask(struct ftrace_patch *patch, struct ftrace_tramp *tramp,
					 bool asks)
{
}

static inline void arch_ftrace_tramp_silence_direct(struct ftrace_patch *patch,
						    struct ftrace_tramp *tramp)
{
}
#endif /* !CONFIG_HAVE_FTRACE_TRAMPOLINES */

/**
 * arch_ftrace_tramp_orc - unwind data of a trampoline
 * @tramp: the trampoline
 * @ip: an address in it
 *
 * Only with CONFIG_UNWINDER_ORC.
 *
 * Context: any. The unwinder keeps no pointer beyond one step.
 * Return: the entry for @ip.
 */
struct orc_entry *arch_ftrace_tramp_orc(struct ftrace_tramp *tramp, unsigned long ip);

/* Return hooks */

#ifndef arch_ftrace_return_slot
/**
 * arch_ftrace_return_slot - where the address stands that a function returns to
 * @fregs: the registers at the function's site
 *
 * The architecture defines it in asm/ftrace.h, if that is not the top of the stack.
 *
 * Context: any.
 * Return: the place from which ftrace_caller restores the address.
 */
static __always_inline unsigned long *arch_ftrace_return_slot(struct ftrace_regs *fregs)
{
	return (unsigned long *)ftrace_regs_get_stack_pointer(fregs);
}

#define FTRACE_RETURN_ON_STACK	true
#else
#define FTRACE_RETURN_ON_STACK	false
#endif

#ifndef arch_ftrace_return_known
/**
 * arch_ftrace_return_known - where a function whose return was hooked goes on is known
 * @fregs: the registers at its return
 * @ret: the address
 *
 * The architecture defines it in asm/ftrace.h, if return_to_handler() has a frame record with its
 * own address: unwinders will not find the entry of the call any longer.
 *
 * Context: ftrace_return_to_handler(), before the entry goes.
 */
static __always_inline void arch_ftrace_return_known(struct ftrace_regs *fregs, unsigned long ret)
{
}
#endif

/* The code of return_to_handler(). asm/ftrace.h defines it where that is another. */
#ifndef FTRACE_RETURN_HANDLER
#define FTRACE_RETURN_HANDLER	((unsigned long)return_to_handler)
#endif

#ifndef arch_ftrace_return_place
/**
 * arch_ftrace_return_place - the place by which unwinders know a hooked call
 * @slot: from arch_ftrace_return_slot()
 *
 * The architecture defines it in asm/ftrace.h, if that is not @slot.
 *
 * Context: any.
 * Return: the last argument of ftrace_graph_ret_addr() for this call.
 */
static __always_inline unsigned long *arch_ftrace_return_place(unsigned long *slot)
{
	return slot;
}
#endif

#ifndef arch_ftrace_can_hook
/**
 * arch_ftrace_can_hook - whether the return address may be replaced there
 * @slot: from arch_ftrace_return_slot()
 *
 * The architecture defines it in asm/ftrace.h, if functions run with a stack or a
 * mapping that the handler cannot go on with.
 *
 * Context: any.
 */
static __always_inline bool arch_ftrace_can_hook(const unsigned long *slot)
{
	return true;
}
#endif

/* Stubs, where the architecture has them: then it defines ARCH_FTRACE_STUB_SIZE, in bytes */

#ifdef ARCH_FTRACE_STUB_SIZE
/**
 * arch_ftrace_stubs_alloc - make stubs of a callset with counts
 * @tramp: where they lead to
 * @counts: the count of the first stub's site, which those of the next ones follow
 * @nr: how many stubs
 *
 * A stub is ARCH_FTRACE_STUB_SIZE bytes of code, which a site calls instead of the
 * trampoline. The two together add one to the site's count of the CPU, in any
 * context, by one instruction, in place of calling the first ops that counts.
 *
 * Context: sleeps; ftrace_lock is held.
 * Return: the address of the first stub; 0 without memory.
 */
unsigned long arch_ftrace_stubs_alloc(const struct ftrace_tramp *tramp, u64 __percpu *counts,
				      unsigned int nr);

/**
 * arch_ftrace_stubs_free - free stubs
 * @text: from arch_ftrace_stubs_alloc()
 * @nr: how many stubs
 *
 * Context: sleeps. No CPU and no task is in one of them.
 */
void arch_ftrace_stubs_free(unsigned long text, unsigned int nr);
#endif

/* Times of calls, where the architecture returns to a handler of its own for them */

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(times_return_to_handler)
#define FTRACE_TIMES_PATH

/**
 * arch_ftrace_cycle - how long one of get_cycles() is
 *
 * Context: any.
 * Return: the time in 2^-31 ns, of 32 bits; 0 if it is not constant, or not the same on
 * all CPUs, or too long for that.
 */
u64 arch_ftrace_cycle(void);

/*
 * The architecture's times_return_to_handler calls it, in any context that can
 * be traced, with the function's return value saved, and goes on at its result.
 */
unsigned long ftrace_times_return(void);

static inline bool ftrace_times_is_handler(unsigned long addr)
{
	return addr == (unsigned long)times_return_to_handler;
}
#else
static inline bool ftrace_times_is_handler(unsigned long addr)
{
	return false;
}
#endif

#endif /* _LINUX_FTRACE_ARCH_H */
