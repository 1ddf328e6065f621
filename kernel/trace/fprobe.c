// SPDX-License-Identifier: GPL-2.0
/*
 * Function probes: handlers for the entry and the exit of functions, for BPF's
 * kprobe.multi, for fprobe events and for modules.
 *
 * A probe is an ops, and where it has an exit handler a rethook. Its callback
 * runs at its own sites only; it takes a node, calls the entry handler, and
 * hooks the return with the node. The node carries the site and the entry's
 * data over to the exit.
 *
 * Invariants:
 *  1. Handlers run with preemption disabled and the context's ftrace recursion
 *     bit taken. A handler that calls a probed function does not get there
 *     again: the call is counted in nmissed.
 *  2. fp->rethook is set exactly while the probe is registered with an exit
 *     handler. An entry handler is called only with a node at hand, if there
 *     is an exit to come: both or neither.
 *  3. When unregister_fprobe() has returned no handler runs, and nothing looks
 *     at the probe, though tasks may still be inside of probed functions. They
 *     need the rethook, which goes with the last of them. CPUs in a
 *     handler are counted: at entries by the trampoline, at exits by the rethook.
 *
 * Registers: an entry handler is promised a whole struct pt_regs, so a probe
 * with one asks for FTRACE_OPS_FL_SAVE_REGS, which makes the trampoline almost
 * twice as long. Hooking a return takes less (see FPROBE_HOOK_NEEDS_REGS), and
 * an exit handler gets those that arch_rethook_trampoline saved.
 *
 * Locks: this file has no own. Registering takes ftrace_lock; callers see to it
 * that they do not register and unregister one probe at the same time.
 *
 * Contexts: code of entries and exits may run anywhere, in NMIs too. This
 * directory has no sites, and NOKPROBE_SYMBOL() keeps kprobes away: one in
 * here would be hit inside of its own handler's calls.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/fprobe.h>
#include <linux/kprobes.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>

#include "ftrace_gate.h"
#include "ftrace_ops.h"
#include "ftrace_site_set.h"
#include "rethook_internal.h"

/*
 * Whether arch_rethook_prepare() reads more than every struct ftrace_regs has. On x86-64 it
 * reads the stack pointer.
 */
#define FPROBE_HOOK_NEEDS_REGS	(!IS_ENABLED(CONFIG_X86_64))

/**
 * struct fprobe_node - a call that was hooked
 * @node: the rethook's part
 * @ip: the site
 * @data: for the handlers to share, entry_data_size bytes
 */
struct fprobe_node {
	struct rethook_node	node;
	unsigned long		ip;
	char			data[];
};

/* Entry and exit */

/* Any CPU may miss a call at the same time as this one. */
static noinline void fprobe_count_missed(struct fprobe *fp)
{
	unsigned long old = READ_ONCE(fp->nmissed);

	while (!try_cmpxchg(&fp->nmissed, &old, old + 1))
		;
}

NOKPROBE_SYMBOL(fprobe_count_missed);

static __always_inline void *fprobe_node_data(struct fprobe *fp, struct fprobe_node *node)
{
	return fp->entry_data_size ? node->data : NULL;
}

/* Every callback: protection around @enter, one of the functions below. */
static __always_inline void fprobe_guarded(unsigned long ip, unsigned long parent_ip,
					   struct ftrace_ops *ops, struct ftrace_regs *fregs,
					   void (*enter)(struct fprobe *fp, unsigned long ip,
							 unsigned long parent_ip,
							 struct pt_regs *regs))
{
	struct fprobe *fp = container_of(ops, struct fprobe, ops);
	int bit;

	if (fp->flags & FPROBE_FL_DISABLED)
		return;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (unlikely(bit < 0)) {
		fprobe_count_missed(fp);
		return;
	}
	/* All registers, or no more than hooking needs: see the flags of the ops. */
	enter(fp, ip, parent_ip, &arch_ftrace_regs(fregs)->regs);
	ftrace_test_recursion_unlock(bit);
}

/* Entry only */

static __always_inline void fprobe_enter(struct fprobe *fp, unsigned long ip,
					 unsigned long parent_ip, struct pt_regs *regs)
{
	fp->entry_handler(fp, ip, parent_ip, regs, NULL);
}

static void fprobe_entry_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fprobe_guarded(ip, parent_ip, ops, fregs, fprobe_enter);
}

NOKPROBE_SYMBOL(fprobe_entry_func);

/* With an exit to come */

static __always_inline void fprobe_enter_with_node(struct fprobe *fp, struct rethook_node *rhn,
						   unsigned long ip, unsigned long parent_ip,
						   struct pt_regs *regs)
{
	struct fprobe_node *node = container_of(rhn, struct fprobe_node, node);
	int cancel = 0;

	node->ip = ip;
	if (fp->entry_handler)
		cancel = fp->entry_handler(fp, ip, parent_ip, regs, fprobe_node_data(fp, node));
	if (unlikely(cancel))
		rethook_recycle(rhn);
	else
		rethook_hook_inline(rhn, regs, true);
}

/* Not inline, so that the usual way saves no registers for it. */
static noinline void fprobe_enter_slow(struct fprobe *fp, unsigned long ip,
				       unsigned long parent_ip, struct pt_regs *regs)
{
	struct rethook_node *rhn = rethook_try_get(fp->rethook);

	if (rhn)
		fprobe_enter_with_node(fp, rhn, ip, parent_ip, regs);
	else
		fprobe_count_missed(fp);
}

NOKPROBE_SYMBOL(fprobe_enter_slow);

static __always_inline void fprobe_enter_hooking(struct fprobe *fp, unsigned long ip,
						 unsigned long parent_ip, struct pt_regs *regs)
{
	struct rethook_node *rhn = rethook_get_cached(fp->rethook);

	if (likely(rhn))
		fprobe_enter_with_node(fp, rhn, ip, parent_ip, regs);
	else
		fprobe_enter_slow(fp, ip, parent_ip, regs);
}

static void fprobe_hook_func(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fprobe_guarded(ip, parent_ip, ops, fregs, fprobe_enter_hooking);
}

NOKPROBE_SYMBOL(fprobe_hook_func);

/* For handlers that rely on not being called while a kprobe's is */

static void fprobe_enter_shared(struct fprobe *fp, unsigned long ip,
				unsigned long parent_ip, struct pt_regs *regs)
{
	if (kprobe_running()) {
		fprobe_count_missed(fp);
		return;
	}
	kprobe_busy_begin();
	if (fp->rethook)
		fprobe_enter_slow(fp, ip, parent_ip, regs);
	else
		fprobe_enter(fp, ip, parent_ip, regs);
	kprobe_busy_end();
}

NOKPROBE_SYMBOL(fprobe_enter_shared);

static void fprobe_shared_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fprobe_guarded(ip, parent_ip, ops, fregs, fprobe_enter_shared);
}

NOKPROBE_SYMBOL(fprobe_shared_func);

/* The exit */

/* Called only while the rethook is not stopped, so the probe is there. */
static void fprobe_exit_func(struct rethook_node *rhn, void *data, unsigned long ret_ip,
			     struct pt_regs *regs)
{
	struct fprobe_node *node = container_of(rhn, struct fprobe_node, node);
	struct fprobe *fp = data;
	int bit;

	if (fp->flags & FPROBE_FL_DISABLED)
		return;

	bit = ftrace_test_recursion_trylock(node->ip, ret_ip);
	if (unlikely(bit < 0)) {
		fprobe_count_missed(fp);
		return;
	}
	fp->exit_handler(fp, node->ip, ret_ip, regs, fprobe_node_data(fp, node));
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(fprobe_exit_func);

/* Registering */

/**
 * fprobe_is_registered - whether a probe is registered
 * @fp: the probe, or NULL
 *
 * Context: any; stale by the time it is used, unless the caller serializes.
 * Return: true from a register function's success to unregister_fprobe().
 */
bool fprobe_is_registered(struct fprobe *fp)
{
	return fp && (READ_ONCE(fp->ops.flags) & FTRACE_OPS_FL_ENABLED);
}

static int fprobe_init(struct fprobe *fp)
{
	if (fprobe_is_registered(fp))
		return -EBUSY;
	if (!fp->entry_handler && !fp->exit_handler)
		return -EINVAL;

	fp->nmissed = 0;
	fp->rethook = NULL;
	if (fprobe_shared_with_kprobes(fp))
		fp->ops.func = fprobe_shared_func;
	else
		fp->ops.func = fp->exit_handler ? fprobe_hook_func : fprobe_entry_func;
	/* Has unregistering wait for the callback wherever the probe's memory is. */
	fp->ops.flags |= FTRACE_OPS_FL_DYNAMIC;
	if (fp->entry_handler || FPROBE_HOOK_NEEDS_REGS)
		fp->ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	if (fp->exit_handler)
		fp->ops.flags |= FTRACE_OPS_FL_RETHOOK;
	return 0;
}

/* How many sites the filter leaves; with 0 the probe could never fire. */
static int fprobe_nr_sites(struct fprobe *fp)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;
	struct ftrace_filter *filter = fp->ops.filter;

	guard(mutex)(&ftrace_lock);

	sites = ftrace_site_set_minus(filter->only, filter->not);
	if (!sites)
		return -ENOMEM;
	return sites->nr ?: -EINVAL;
}

static int fprobe_alloc_rethook(struct fprobe *fp, int nr_sites)
{
	size_t size = min_t(size_t, fp->entry_data_size, OBJPOOL_OBJECT_SIZE_MAX) +
		      sizeof(struct fprobe_node);
	int num = fp->nr_maxactive;
	struct rethook *rh;

	if (!num && check_mul_overflow(nr_sites, 2 * (int)num_possible_cpus(), &num))
		return -EINVAL;
	rh = rethook_alloc(fp, fprobe_exit_func, size, num);
	if (IS_ERR(rh))
		return PTR_ERR(rh);
	fp->rethook = rh;
	return 0;
}

static void fprobe_release(struct fprobe *fp)
{
	if (fp->rethook)
		rethook_free(fp->rethook);
	fp->rethook = NULL;
	ftrace_free_filter(&fp->ops);
}

/* The filter is set. On failure it is freed. */
static int fprobe_attach(struct fprobe *fp)
{
	int ret = fprobe_nr_sites(fp);

	if (ret > 0)
		ret = fp->exit_handler ? fprobe_alloc_rethook(fp, ret) : 0;
	if (!ret)
		ret = register_ftrace_function(&fp->ops);
	if (ret)
		fprobe_release(fp);
	return ret;
}

static int fprobe_set_patterns(struct fprobe *fp, const char *filter, const char *notfilter)
{
	/* Patterns are copied before they are parsed. */
	int ret = ftrace_set_filter(&fp->ops, (unsigned char *)filter, strlen(filter), 0);

	if (ret || !notfilter)
		return ret;
	ret = ftrace_set_notrace(&fp->ops, (unsigned char *)notfilter, strlen(notfilter), 0);
	if (ret)
		ftrace_free_filter(&fp->ops);
	return ret;
}

/**
 * register_fprobe - probe the functions that match a pattern
 * @fp: the probe, with its handlers, flags, entry_data_size and nr_maxactive;
 *	its memory stays until unregister_fprobe() has returned
 * @filter: pattern of the functions to probe, as in set_ftrace_filter
 * @notfilter: pattern of those to leave out, or NULL
 *
 * nr_maxactive is how many calls can be on their way at the same time, if there
 * is an exit handler; with 0 two for each site and CPU. More are counted in
 * nmissed, and neither handler is called.
 *
 * Context: process context, sleeps; takes ftrace_lock.
 * Return: 0; -EINVAL if @fp or @filter is NULL, if there is no handler, if a
 * pattern matches nothing, if nothing is left to probe, or for an nr_maxactive
 * that is negative; -EBUSY if the probe is registered; -ENOMEM; otherwise as
 * for register_ftrace_function(). On failure nothing is probed.
 */
int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter)
{
	int ret;

	if (!fp || !filter)
		return -EINVAL;
	ret = fprobe_init(fp);
	if (!ret)
		ret = fprobe_set_patterns(fp, filter, notfilter);
	return ret ?: fprobe_attach(fp);
}
EXPORT_SYMBOL_GPL(register_fprobe);

/**
 * register_fprobe_ips - probe functions by their addresses
 * @fp: the probe, as for register_fprobe()
 * @addrs: addresses of sites, or of functions
 * @num: how many
 *
 * Context: process context, sleeps; takes ftrace_lock.
 * Return: 0; -EINVAL for NULL, if @num is not positive, or if one of @addrs is
 * no site; otherwise as for register_fprobe(). On failure nothing is probed.
 */
int register_fprobe_ips(struct fprobe *fp, unsigned long *addrs, int num)
{
	int ret;

	if (!fp || !addrs || num <= 0)
		return -EINVAL;
	ret = fprobe_init(fp);
	if (!ret)
		ret = ftrace_set_filter_ips(&fp->ops, addrs, num, 0, 0);
	return ret ?: fprobe_attach(fp);
}
EXPORT_SYMBOL_GPL(register_fprobe_ips);

static int fprobe_name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

/**
 * register_fprobe_syms - probe functions by their names
 * @fp: the probe, as for register_fprobe()
 * @syms: names; sorted on return
 * @num: how many
 *
 * Context: process context, sleeps; takes ftrace_lock.
 * Return: 0; -ENOENT if a name is not that of a function with a site, or is
 * there twice; -EINVAL for NULL, or if @num is not positive; otherwise as for
 * register_fprobe(). On failure nothing is probed.
 */
int register_fprobe_syms(struct fprobe *fp, const char **syms, int num)
{
	unsigned long *addrs __free(kvfree) = NULL;
	int ret;

	if (!fp || !syms || num <= 0)
		return -EINVAL;

	addrs = kvmalloc_array(num, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	sort(syms, num, sizeof(*syms), fprobe_name_cmp, NULL);
	ret = ftrace_lookup_symbols(syms, num, addrs);
	if (ret)
		return ret == -ESRCH ? -ENOENT : ret;
	return register_fprobe_ips(fp, addrs, num);
}
EXPORT_SYMBOL_GPL(register_fprobe_syms);

/**
 * unregister_fprobe - stop a probe
 * @fp: the probe
 *
 * Tasks may be inside of probed functions, for any time to come; they return
 * from there unnoticed.
 *
 * Context: process context, sleeps; takes ftrace_lock, and waits for handlers that
 * are running.
 * Return: 0; -EINVAL if the probe is not registered; otherwise as for
 * unregister_ftrace_function(), with the exit handler stopped.
 */
int unregister_fprobe(struct fprobe *fp)
{
	int ret;

	if (!fprobe_is_registered(fp))
		return -EINVAL;

	/* First, so that every CPU sees it once the ops is gone. */
	if (fp->rethook)
		rethook_stop(fp->rethook);
	ret = unregister_ftrace_function(&fp->ops);
	if (ret)
		return ret;

	if (fp->rethook)
		ftrace_gate_wait_each(&fp->rethook->cpu->gate);
	fprobe_release(fp);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_fprobe);

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/fprobe_kunit.c"
#endif
