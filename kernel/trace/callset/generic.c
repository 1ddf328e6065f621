// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracing on architectures that write one site after another, with the
 * functions that ftrace.h asks of each: the rest of ftrace_arch.h.
 *
 * A batch is a list of writes. It is handed to the architecture as a whole, which
 * may stop all CPUs for it, and gets it back write by write. There are no
 * trampolines. Sites call ftrace_caller or ftrace_regs_caller, and these
 * arch_ftrace_ops_list_func(), which looks up the site's callset, or the function that the word at
 * the site names (CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS). A struct dyn_ftrace lasts for the
 * call of one of these functions.
 *
 * Invariants:
 *  1. A write that fails leaves the site as it was. The next transaction finds that
 *     its text is not as its record says.
 *  2. No write is lost without a word: one that an architecture left out is reported
 *     like one that failed.
 *
 * ftrace_lock covers all of it.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <kunit/static_stub.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>

#include "callset.h"
#include "ops.h"

/* ftrace_caller passes it on; arch_ftrace_ops_list_func() does not look at it. */
static struct ftrace_ops generic_ops = {
	.func	= arch_ftrace_ops_list_func,
	.flags	= FTRACE_OPS_FL_STUB,
};

struct ftrace_ops *function_trace_op __read_mostly = &generic_ops;

/**
 * struct generic_site - a site, for the functions of the architecture
 * @rec: the argument that they take
 * @word: the new value of the word at the site
 */
struct generic_site {
	struct dyn_ftrace	rec;
	struct ftrace_ops	*word;
};

/* The word at a site */

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
const struct ftrace_ops ftrace_nop_ops = {
	.func	= ftrace_stub,
	.flags	= FTRACE_OPS_FL_STUB,
};

const struct ftrace_ops ftrace_list_ops = {
	.func	= arch_ftrace_ops_list_func,
	.flags	= FTRACE_OPS_FL_STUB,
};

static struct ftrace_ops *generic_word(struct ftrace_callset *cs)
{
	if (!cs)
		return (struct ftrace_ops *)&ftrace_nop_ops;
	/*
	 * A callset without ops is NULL. The word of a site whose text was altered stays, so the
	 * ops has to: that of a live patch goes, though it has no gate.
	 */
	return ftrace_callset_is_plain(cs) && ftrace_ops_is_permanent(cs->ops[0]) ? cs->ops[0] :
										     &cs->entry;
}

/**
 * ftrace_find_unique_ops - the new value of the word at a site
 * @rec: the site, as the architecture got it from here
 *
 * Context: ftrace_lock is held.
 * Return: the entry of its callset, or the ops itself where that will do.
 */
struct ftrace_ops *ftrace_find_unique_ops(struct dyn_ftrace *rec)
{
	return container_of(rec, struct generic_site, rec)->word;
}
#else
static struct ftrace_ops *generic_word(struct ftrace_callset *cs)
{
	return NULL;
}
#endif

/* Sites */

int __init_or_module arch_ftrace_init_site(struct module *mod, unsigned long ip)
{
	struct generic_site site = {
		.rec.ip	= ip,
		.word	= generic_word(NULL),
	};

	return ftrace_need_init_nop() ? ftrace_init_nop(mod, &site.rec) : 0;
}

unsigned int arch_ftrace_check_sites(unsigned long base, const struct ftrace_record *rec,
				     unsigned int nr, unsigned long target, unsigned int step)
{
	unsigned int i;

	for (i = 0; i < nr; i++, target += step) {
		if (arch_ftrace_check_site(base + rec[i].offset, target) != FTRACE_SITE_OK)
			break;
	}
	return i;
}

void arch_ftrace_report_site(unsigned long ip, unsigned long target)
{
	if (target)
		pr_warn("%pS (%lx) holds %*ph, expected a call of %pS; it will not be traced\n",
			(void *)ip, ip, MCOUNT_INSN_SIZE, (void *)ip, (void *)target);
	else
		pr_warn("%pS (%lx) holds %*ph, expected a NOP; it will not be traced\n",
			(void *)ip, ip, MCOUNT_INSN_SIZE, (void *)ip);
}

/* Batches */

/**
 * struct generic_write - a site to be written
 * @ip: the site
 * @from: its target; 0 for a NOP
 * @to: its new target
 * @word: the new value of the word there
 */
struct generic_write {
	unsigned long		ip;
	unsigned long		from;
	unsigned long		to;
	struct ftrace_ops	*word;
};

/**
 * struct ftrace_patch - a batch that is being filled
 * @vec: the writes
 * @nr: how many there are
 * @max: how many there can be
 * @from: the target of the sites that are added next
 * @word: the new value of the words there
 */
struct ftrace_patch {
	struct generic_write	*vec;
	unsigned int		nr;
	unsigned int		max;
	unsigned long		from;
	struct ftrace_ops	*word;
};

#define GENERIC_BATCH_MAX	4096

/* Detaching must not fail, so a batch that finds no memory goes on in small steps. */
static struct generic_write generic_spare[16];
static struct ftrace_patch generic_batch;

static bool generic_write_failed;

/* Which parts of an update have not been done yet. */
static int generic_pending;

static int generic_write_site(const struct generic_write *write)
{
	struct generic_site site = {
		.rec.ip		= write->ip,
		.rec.flags	= FTRACE_FL_CALL_OPS_EN,
		.word		= write->word,
	};

	KUNIT_STATIC_STUB_REDIRECT(generic_write_site, write);
	if (!write->from)
		return ftrace_make_call(&site.rec, write->to);
	if (!write->to)
		return ftrace_make_nop(NULL, &site.rec, write->from);
	return ftrace_modify_call(&site.rec, write->from, write->to);
}

static void generic_write(const struct generic_write *write)
{
	int ret = generic_write_site(write);

	if (!ret)
		return;
	generic_write_failed = true;
	pr_warn("%pS cannot be written: %pe\n", (void *)write->ip, ERR_PTR(ret));
}

/**
 * ftrace_modify_all_code - do the parts of an update
 * @command: from arch_ftrace_update_code()
 *
 * Context: as the architecture's arch_ftrace_update_code() calls it.
 */
void ftrace_modify_all_code(int command)
{
	int ret = 0;

	if (command & FTRACE_UPDATE_TRACE_FUNC)
		ret = ftrace_update_ftrace_func(arch_ftrace_ops_list_func);
	if (ret)
		pr_warn("ftrace_caller cannot be written: %pe\n", ERR_PTR(ret));
	else
		generic_pending &= ~FTRACE_UPDATE_TRACE_FUNC;
	if (!(command & FTRACE_UPDATE_CALLS))
		return;
	for (unsigned int i = 0; i < generic_batch.nr; i++) {
		generic_write(&generic_batch.vec[i]);
		if (command & FTRACE_MAY_SLEEP)
			cond_resched();
	}
	generic_pending &= ~FTRACE_UPDATE_CALLS;
}

static int generic_update_stopped(void *command)
{
	ftrace_modify_all_code(*(int *)command);
	return 0;
}

/**
 * arch_ftrace_update_code - call ftrace_modify_all_code() where no other CPU minds
 * @command: its argument
 *
 * This one is for architectures that do not say how.
 *
 * Context: process context, sleeps.
 */
void __weak arch_ftrace_update_code(int command)
{
	stop_machine(generic_update_stopped, &command, NULL);
}

/**
 * ftrace_arch_code_modify_prepare - before an update
 *
 * The architecture's, if it has something to do there.
 */
void __weak ftrace_arch_code_modify_prepare(void)
{
}

/**
 * ftrace_arch_code_modify_post_process - after an update
 *
 * The architecture's, if it has something to do there.
 */
void __weak ftrace_arch_code_modify_post_process(void)
{
}

/**
 * ftrace_dyn_arch_init - the architecture's part of ftrace_init()
 *
 * Return: 0, or a negative errno: no function can be traced then.
 */
int __init __weak ftrace_dyn_arch_init(void)
{
	return 0;
}

static int generic_update(int command)
{
	generic_pending = command;
	ftrace_arch_code_modify_prepare();
	arch_ftrace_update_code(command);
	ftrace_arch_code_modify_post_process();
	return generic_pending ? -EIO : 0;
}

int __init arch_ftrace_boot(void)
{
	return ftrace_dyn_arch_init() ?: generic_update(FTRACE_UPDATE_TRACE_FUNC);
}

static void generic_flush(struct ftrace_patch *patch)
{
	if (patch->nr && generic_update(FTRACE_UPDATE_CALLS)) {
		generic_write_failed = true;
		pr_warn("%u sites from %pS on are not all written\n", patch->nr,
			(void *)patch->vec->ip);
	}
	patch->nr = 0;
}

struct ftrace_patch *arch_ftrace_patch_begin(unsigned int nr)
{
	struct ftrace_patch *patch = &generic_batch;
	unsigned int max = clamp(nr, 1u, GENERIC_BATCH_MAX);
	struct generic_write *vec;

	lockdep_assert_held(&ftrace_lock);

	vec = kvmalloc_array(max, sizeof(*vec), GFP_KERNEL | __GFP_NOWARN);
	*patch = (struct ftrace_patch) {
		.vec	= vec ?: generic_spare,
		.max	= vec ? max : ARRAY_SIZE(generic_spare),
		.word	= generic_word(NULL),
	};
	return patch;
}

void arch_ftrace_patch_move(struct ftrace_patch *patch, unsigned long from,
			    struct ftrace_callset *cs)
{
	patch->from = from;
	patch->word = generic_word(cs);
}

void arch_ftrace_patch_add(struct ftrace_patch *patch, unsigned long ip, unsigned long to)
{
	if (patch->nr == patch->max)
		generic_flush(patch);
	patch->vec[patch->nr++] = (struct generic_write) {
		.ip	= ip,
		.from	= patch->from,
		.to	= to,
		.word	= patch->word,
	};
}

void arch_ftrace_patch_sites(struct ftrace_patch *patch, unsigned long base,
			     const struct ftrace_record *rec, unsigned int nr, unsigned long to,
			     unsigned int step)
{
	for (unsigned int i = 0; i < nr; i++, to += step)
		arch_ftrace_patch_add(patch, base + rec[i].offset, to);
}

void arch_ftrace_patch_end(struct ftrace_patch *patch)
{
	struct generic_write *vec = patch->vec;

	generic_flush(patch);
	if (vec != generic_spare)
		kvfree(vec);
}

bool arch_ftrace_wrote_all(void)
{
	return !generic_write_failed;
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/generic_kunit.c"
#endif
