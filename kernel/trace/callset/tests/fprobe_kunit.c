// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of fprobes on callsets, of cases that lib/tests/test_fprobe.c leaves out: several
 * hooks on one call, unwinding through hooks, probes that go while tasks are inside, and the
 * quick way of a sole probe.
 *
 * The probes are allocated, so that KASAN sees a use after the free.
 */
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/stacktrace.h>

#include "../callset.h"
#include "../fgraph_stack.h"
#include "../ops.h"
#include "kunit.h"

#define FPROBE_KUNIT_FRAMES	32
/* The site's function returns another value. */
#define FPROBE_KUNIT_OTHER	77

/**
 * struct fprobe_kunit - a probe, and the calls of one task that its handlers saw
 * @fp: the probe
 * @task: whose calls count
 * @entries: calls of the entry handler
 * @exits: calls of the exit handler
 * @cancel: the value that the entry handler returns
 * @override: it has the function return FPROBE_KUNIT_OTHER at once
 * @ret_ip: where the last call returns to
 * @retval: the value that it returned
 * @unwound: the exit handler found @ret_ip in its own stack trace
 * @quick: the last return was hooked by the quick way
 * @frames: that trace. On the stack, the guess unwinder would take its words for more frames.
 */
struct fprobe_kunit {
	struct fprobe		fp;
	struct task_struct	*task;
	unsigned int		entries;
	unsigned int		exits;
	int			cancel;
	bool			override;
	unsigned long		ret_ip;
	unsigned long		retval;
	bool			unwound;
	bool			quick;
	unsigned long		frames[FPROBE_KUNIT_FRAMES];
};

/* Whether the return that runs in this task was hooked by the quick way. */
static bool fprobe_kunit_is_quick(void)
{
	return *fgraph_top(current->ret_stack, current->curr_ret_stack) & FGRAPH_META_SOLE;
}

static bool fprobe_kunit_is_hook(unsigned long ip)
{
	return ip == FTRACE_RETURN_HANDLER;
}

/* Counters outside of the probes: a handler that runs too late must not write to a probe. */
static unsigned int fprobe_kunit_after;

static int fprobe_kunit_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			      struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit *probe = container_of(fp, struct fprobe_kunit, fp);

	if (current != probe->task)
		return 1;
	if (data)
		*(unsigned long *)data = ip;
	probe->ret_ip = ret_ip;
	WRITE_ONCE(probe->entries, probe->entries + 1);
	if (probe->override) {
		ftrace_regs_set_return_value(fregs, FPROBE_KUNIT_OTHER);
		ftrace_override_function_with_return(fregs);
	}
	return probe->cancel;
}

static void fprobe_kunit_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			      struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit *probe = container_of(fp, struct fprobe_kunit, fp);
	unsigned int nr;

	fprobe_kunit_after++;
	if (current != probe->task || (data && *(unsigned long *)data != ip))
		return;
	probe->exits++;
	probe->ret_ip = ret_ip;
	probe->retval = ftrace_regs_get_return_value(fregs);
	probe->quick = fprobe_kunit_is_quick();
	nr = stack_trace_save(probe->frames, FPROBE_KUNIT_FRAMES, 0);
	for (unsigned int i = 0; i < nr; i++)
		probe->unwound |= probe->frames[i] == ret_ip;
}

static struct fprobe_kunit *fprobe_kunit_new(struct kunit *test)
{
	struct fprobe_kunit *probe = kunit_kzalloc(test, sizeof(*probe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, probe);
	probe->fp.entry_handler = fprobe_kunit_entry;
	probe->fp.exit_handler = fprobe_kunit_exit;
	probe->fp.entry_data_size = sizeof(unsigned long);
	probe->task = current;
	return probe;
}

/* Three hooks on one call: all see it, and all know where it returns to. */
static void fprobe_same_function(struct kunit *test)
{
	struct fprobe_kunit *probe[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		probe[i] = fprobe_kunit_new(test);
		KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe[i]->fp, "gcd", NULL));
	}
	/* The compiler believes that the functions called here depend on their arguments alone. */
	WRITE_ONCE(probe[1]->cancel, 1);
	kunit_call_site(0);
	WRITE_ONCE(probe[1]->cancel, 0);
	kunit_call_site(0);
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++)
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe[i]->fp));

	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		KUNIT_EXPECT_EQ(test, 2, probe[i]->entries);
		KUNIT_EXPECT_EQ(test, i == 1 ? 1 : 2, probe[i]->exits);
		KUNIT_EXPECT_EQ(test, kunit_result, probe[i]->retval);
		KUNIT_EXPECT_EQ(test, probe[0]->ret_ip, probe[i]->ret_ip);
		KUNIT_EXPECT_FALSE(test, fprobe_kunit_is_hook(probe[i]->ret_ip));
		KUNIT_EXPECT_TRUE(test, probe[i]->unwound);
		KUNIT_EXPECT_EQ(test, 0, probe[i]->fp.nmissed);
		KUNIT_EXPECT_FALSE(test, probe[i]->quick);
	}
}

/* The quick way of a sole probe */

static void fprobe_kunit_expect(struct kunit *test, const struct fprobe_kunit *probe,
				unsigned int entries, unsigned int exits)
{
	KUNIT_EXPECT_EQ(test, READ_ONCE(probe->entries), entries);
	KUNIT_EXPECT_EQ(test, READ_ONCE(probe->exits), exits);
	KUNIT_EXPECT_EQ(test, probe->fp.nmissed, 0);
}

static int fprobe_kunit_graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
				    struct ftrace_regs *fregs)
{
	return 0;
}

/* A second graph user of the sites 0 and 1, which does nothing. */
static struct fgraph_ops fprobe_kunit_graph;

static void fprobe_kunit_graph_begin(struct kunit *test)
{
	unsigned long ip[2] = { kunit_site(0), kunit_site(1) };

	fprobe_kunit_graph = (struct fgraph_ops) { .entryfunc = fprobe_kunit_graph_entry };
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&fprobe_kunit_graph.ops, ip, 2, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&fprobe_kunit_graph), 0);
}

static void fprobe_kunit_graph_end(void)
{
	unregister_ftrace_graph(&fprobe_kunit_graph);
	ftrace_free_filter(&fprobe_kunit_graph.ops);
}

/* With and without data, and beside a probe that only looks at entries. */
static void fprobe_kunit_sole(struct kunit *test)
{
	struct fprobe_kunit *probe, *beside = fprobe_kunit_new(test);
	int stack = current->curr_ret_stack, depth = current->curr_ret_depth;
	unsigned long ip = kunit_site(0);

	beside->fp.exit_handler = NULL;
	beside->fp.entry_data_size = 0;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&beside->fp, &ip, 1), 0);
	for (unsigned int i = 0; i < 2; i++) {
		probe = fprobe_kunit_new(test);
		if (i)
			probe->fp.entry_data_size = 0;
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
		kunit_call_site(0);
		kunit_call_site(1);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe->fp), 0);
		KUNIT_EXPECT_EQ(test, probe->ret_ip, beside->ret_ip);
		kunit_call_site(0);

		fprobe_kunit_expect(test, probe, 1, 1);
		KUNIT_EXPECT_TRUE(test, probe->quick);
		KUNIT_EXPECT_TRUE(test, probe->unwound);
		KUNIT_EXPECT_EQ(test, probe->retval, kunit_result);
		KUNIT_EXPECT_FALSE(test, fprobe_kunit_is_hook(probe->ret_ip));
	}
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&beside->fp), 0);
	KUNIT_EXPECT_EQ(test, beside->entries, 4);
	KUNIT_EXPECT_EQ(test, current->curr_ret_stack, stack);
	KUNIT_EXPECT_EQ(test, current->curr_ret_depth, depth);
}

static void fprobe_sole_runs(struct kunit *test)
{
	fprobe_kunit_sole(test);
}

static void fprobe_sole_list(struct kunit *test)
{
	ftrace_kunit_forbid_tramps(true);
	fprobe_kunit_sole(test);
	ftrace_kunit_forbid_tramps(false);
}

static void fprobe_kunit_try_sole(struct kunit *test, struct fprobe_kunit *probe, bool quick)
{
	unsigned long ip = kunit_site(0);

	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe->fp), 0);
	fprobe_kunit_expect(test, probe, 1, 1);
	KUNIT_EXPECT_EQ(test, probe->quick, quick);
	KUNIT_EXPECT_EQ(test, probe->retval, kunit_result);
}

/* With more users than a sole probe, a return takes the common way. */
static void fprobe_not_quick(struct kunit *test)
{
	struct fprobe_kunit *probe[2] = { fprobe_kunit_new(test), fprobe_kunit_new(test) };

	probe[0]->fp.flags = FPROBE_FL_KPROBE_SHARED;
	fprobe_kunit_try_sole(test, probe[0], false);

	fprobe_kunit_graph_begin(test);
	fprobe_kunit_try_sole(test, probe[1], false);
	fprobe_kunit_graph_end();

	probe[1]->entries = 0;
	probe[1]->exits = 0;
	fprobe_kunit_try_sole(test, probe[1], true);
}

/* An entry handler that wants no exit. */
static void fprobe_sole_cancel(struct kunit *test)
{
	int stack = current->curr_ret_stack, depth = current->curr_ret_depth;
	struct fprobe_kunit *probe = fprobe_kunit_new(test);
	unsigned long ip = kunit_site(0);

	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
	WRITE_ONCE(probe->cancel, 1);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, current->curr_ret_stack, stack);
	KUNIT_EXPECT_EQ(test, current->curr_ret_depth, depth);
	fprobe_kunit_expect(test, probe, 1, 0);
	WRITE_ONCE(probe->cancel, 0);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe->fp), 0);
	fprobe_kunit_expect(test, probe, 2, 1);
	KUNIT_EXPECT_TRUE(test, probe->quick);
}

static void fprobe_sole_disabled(struct kunit *test)
{
	int stack = current->curr_ret_stack, depth = current->curr_ret_depth;
	struct fprobe_kunit *probe = fprobe_kunit_new(test);
	unsigned long ip = kunit_site(0);

	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
	disable_fprobe(&probe->fp);
	kunit_call_site(0);
	fprobe_kunit_expect(test, probe, 0, 0);
	KUNIT_EXPECT_EQ(test, current->curr_ret_stack, stack);
	KUNIT_EXPECT_EQ(test, current->curr_ret_depth, depth);
	enable_fprobe(&probe->fp);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe->fp), 0);
	fprobe_kunit_expect(test, probe, 1, 1);
}

#define FPROBE_KUNIT_DATA_WORDS	MAX_FPROBE_DATA_SIZE_WORD

/**
 * struct fprobe_kunit_data - a probe with data, and how much of it arrived
 * @fp: the probe
 * @task: whose calls count
 * @entries: calls with data as asked for at the entry
 * @exits: calls with all of it at the exit
 */
struct fprobe_kunit_data {
	struct fprobe		fp;
	struct task_struct	*task;
	unsigned int		entries;
	unsigned int		exits;
};

static int fprobe_kunit_data_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit_data *probe = container_of(fp, struct fprobe_kunit_data, fp);
	unsigned long *word = data;

	if (current != probe->task)
		return 1;
	probe->entries += !data == !fp->entry_data_size;
	for (unsigned int i = 0; data && i < fp->entry_data_size / sizeof(long); i++)
		word[i] = ip + i;
	return 0;
}

static void fprobe_kunit_data_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit_data *probe = container_of(fp, struct fprobe_kunit_data, fp);
	const unsigned long *word = data;
	bool right = !data == !fp->entry_data_size;

	for (unsigned int i = 0; data && i < fp->entry_data_size / sizeof(long); i++)
		right &= word[i] == ip + i;
	probe->exits += right && fprobe_kunit_is_quick();
}

/* The entry handler's data are there at the exit, of any size. */
static void fprobe_sole_data(struct kunit *test)
{
	struct fprobe_kunit_data *probe = kunit_kzalloc(test, sizeof(*probe), GFP_KERNEL);
	unsigned long ip = kunit_site(0);

	KUNIT_ASSERT_NOT_NULL(test, probe);
	for (unsigned int words = 0; words <= FPROBE_KUNIT_DATA_WORDS; words++) {
		*probe = (struct fprobe_kunit_data) {
			.fp.entry_handler	= fprobe_kunit_data_entry,
			.fp.exit_handler	= fprobe_kunit_data_exit,
			/* Rounded up by the register function. */
			.fp.entry_data_size	= words ? words * sizeof(long) - 1 : 0,
			.task			= current,
		};
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
		kunit_call_site(0);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe->fp), 0);
		KUNIT_EXPECT_EQ_MSG(test, probe->entries, 1, "%u words", words);
		KUNIT_EXPECT_EQ_MSG(test, probe->exits, 1, "%u words", words);
	}
}

/**
 * struct fprobe_kunit_caller - a probe whose handlers call probed functions
 * @fp: the probe
 * @task: whose calls count
 * @entries: calls of the entry handler
 * @exits: calls of the exit handler
 */
struct fprobe_kunit_caller {
	struct fprobe		fp;
	struct task_struct	*task;
	unsigned int		entries;
	unsigned int		exits;
};

/* Where handlers stop calling, should nothing else stop them. */
#define FPROBE_KUNIT_DEPTH	16

static void fprobe_kunit_call_both(void)
{
	unsigned long result = READ_ONCE(kunit_result);

	kunit_call_site(0);
	kunit_call_site(1);
	WRITE_ONCE(kunit_result, result);
}

static int fprobe_kunit_caller_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				     struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit_caller *probe = container_of(fp, struct fprobe_kunit_caller, fp);

	if (current != probe->task)
		return 1;
	if (++probe->entries < FPROBE_KUNIT_DEPTH)
		fprobe_kunit_call_both();
	return 0;
}

static void fprobe_kunit_caller_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				     struct ftrace_regs *fregs, void *data)
{
	struct fprobe_kunit_caller *probe = container_of(fp, struct fprobe_kunit_caller, fp);

	if (++probe->exits < FPROBE_KUNIT_DEPTH)
		fprobe_kunit_call_both();
}

static void fprobe_kunit_recurse(struct kunit *test, struct fprobe_kunit_caller *caller,
				 struct fprobe_kunit *other)
{
	int stack = current->curr_ret_stack, depth = current->curr_ret_depth;
	unsigned long ip[2] = { kunit_site(0), kunit_site(1) };

	*caller = (struct fprobe_kunit_caller) {
		.fp.entry_handler	= fprobe_kunit_caller_entry,
		.fp.exit_handler	= fprobe_kunit_caller_exit,
		.task			= current,
	};
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&caller->fp, &ip[0], 1), 0);
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&other->fp, &ip[1], 1), 0);
	kunit_call_site(0);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&caller->fp), 0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&other->fp), 0);
	KUNIT_EXPECT_EQ(test, current->curr_ret_stack, stack);
	KUNIT_EXPECT_EQ(test, current->curr_ret_depth, depth);
}

/* Of the calls that handlers make, the same are seen on both ways. */
static void fprobe_sole_recursion(struct kunit *test)
{
	struct fprobe_kunit_caller *caller = kunit_kcalloc(test, 2, sizeof(*caller), GFP_KERNEL);
	struct fprobe_kunit *other[2] = { fprobe_kunit_new(test), fprobe_kunit_new(test) };

	KUNIT_ASSERT_NOT_NULL(test, caller);
	fprobe_kunit_recurse(test, &caller[0], other[0]);
	fprobe_kunit_graph_begin(test);
	fprobe_kunit_recurse(test, &caller[1], other[1]);
	fprobe_kunit_graph_end();

	KUNIT_EXPECT_TRUE(test, other[0]->quick);
	KUNIT_EXPECT_FALSE(test, other[1]->quick);
	KUNIT_EXPECT_LT(test, caller[0].entries, FPROBE_KUNIT_DEPTH);
	KUNIT_EXPECT_EQ(test, caller[0].entries, caller[1].entries);
	KUNIT_EXPECT_EQ(test, caller[0].exits, caller[1].exits);
	KUNIT_EXPECT_EQ(test, caller[0].exits, caller[0].entries);
	KUNIT_EXPECT_EQ(test, caller[0].fp.nmissed, caller[1].fp.nmissed);
	KUNIT_EXPECT_EQ(test, other[0]->entries, other[1]->entries);
	KUNIT_EXPECT_EQ(test, other[0]->exits, other[1]->exits);
}

/**
 * struct fprobe_kunit_other - an ops that does not hook returns
 * @ops: the ops
 * @task: whose calls count
 * @parent_ip: the caller that it was told last
 */
struct fprobe_kunit_other {
	struct ftrace_ops	ops;
	struct task_struct	*task;
	unsigned long		parent_ip;
};

static void fprobe_kunit_other_func(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe_kunit_other *other = container_of(ops, struct fprobe_kunit_other, ops);

	if (READ_ONCE(other->task) == current)
		other->parent_ip = parent_ip;
}

/* Ops between and after probes that hook the return are told the same caller as these. */
static void fprobe_kunit_parent(struct kunit *test, bool entry)
{
	static struct fprobe_kunit_other other[3];
	struct fprobe_kunit *probe[2];

	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = (struct fprobe_kunit_other) {
			.ops.func	= fprobe_kunit_other_func,
			.task		= current,
		};
		KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&other[i].ops, kunit_site(0), 0, 1));
		KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(&other[i].ops));
		if (i >= ARRAY_SIZE(probe))
			break;
		probe[i] = fprobe_kunit_new(test);
		if (!entry)
			probe[i]->fp.entry_handler = NULL;
		probe[i]->fp.entry_data_size = 0;
		KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe[i]->fp, "gcd", NULL));
	}
	kunit_call_site(0);
	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++) {
		KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&other[i].ops));
		ftrace_free_filter(&other[i].ops);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe[i]->fp));
		KUNIT_EXPECT_EQ(test, 1, probe[i]->exits);
		KUNIT_EXPECT_EQ(test, other[0].parent_ip, probe[i]->ret_ip);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(other); i++)
		KUNIT_EXPECT_EQ(test, other[0].parent_ip, other[i].parent_ip);
}

static void fprobe_same_parent(struct kunit *test)
{
	fprobe_kunit_parent(test, true);
	fprobe_kunit_parent(test, false);
}

static void fprobe_same_parent_list(struct kunit *test)
{
	ftrace_kunit_forbid_tramps(true);
	fprobe_kunit_parent(test, true);
	fprobe_kunit_parent(test, false);
	ftrace_kunit_forbid_tramps(false);
}

/* Either handler may be missing. */
static void fprobe_one_side(struct kunit *test)
{
	struct fprobe_kunit *entry = fprobe_kunit_new(test), *exit = fprobe_kunit_new(test);

	entry->fp.exit_handler = NULL;
	exit->fp.entry_handler = NULL;
	exit->fp.entry_data_size = 0;
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&entry->fp, "gcd", NULL));
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&exit->fp, "int_pow", NULL));
	kunit_call_site(0);
	kunit_call_site(1);
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&entry->fp));
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&exit->fp));

	KUNIT_EXPECT_EQ(test, 1, entry->entries);
	KUNIT_EXPECT_EQ(test, 1, exit->exits);
	KUNIT_EXPECT_EQ(test, kunit_result, exit->retval);
	KUNIT_EXPECT_TRUE(test, exit->unwound);
}

/* Tasks that sleep in a probed function */

static int fprobe_kunit_sleeper(void *data)
{
	wait_for_completion(data);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

/* True once the task sleeps in there. */
static bool fprobe_kunit_wait_for_entry(struct fprobe_kunit *probe)
{
	for (unsigned int i = 0; i < 250; i++) {
		/* Zero while it is still on its way from the entry to its sleep. */
		if (READ_ONCE(probe->entries) &&
		    wait_task_inactive(probe->task, TASK_UNINTERRUPTIBLE))
			return true;
		msleep(20);
	}
	return false;
}

/* Whether a trace of the task shows the hooked call's real caller, and no hook. */
static bool fprobe_kunit_unwinds(struct task_struct *task, unsigned long ret_ip)
{
	unsigned long frames[FPROBE_KUNIT_FRAMES];
	bool found = false;
	unsigned int nr;

	nr = stack_trace_save_tsk(task, frames, FPROBE_KUNIT_FRAMES, 0);
	for (unsigned int i = 0; i < nr; i++) {
		if (fprobe_kunit_is_hook(frames[i]))
			return false;
		found |= frames[i] == ret_ip;
	}
	return found;
}

/* Unregisters before or after the call returns; either way it has to return. */
static void fprobe_kunit_sleep(struct kunit *test, bool leave_first, bool async)
{
	struct fprobe_kunit *probe = fprobe_kunit_new(test);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;
	unsigned long ret_ip;
	unsigned int after;

	task = kthread_create(fprobe_kunit_sleeper, &wake, "fprobe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	probe->task = task;
	KUNIT_EXPECT_EQ(test, 0, register_fprobe(&probe->fp, "wait_for_completion", NULL));
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_wait_for_entry(probe));
	ret_ip = probe->ret_ip;
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, ret_ip));

	if (leave_first) {
		complete(&wake);
		kthread_stop(task);
		KUNIT_EXPECT_EQ(test, 1, probe->exits);
	}
	if (async) {
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe_async(&probe->fp));
		synchronize_rcu();
	} else {
		KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&probe->fp));
	}
	after = fprobe_kunit_after;
	kunit_kfree(test, probe);
	if (!leave_first) {
		KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, ret_ip));
		complete(&wake);
		kthread_stop(task);
	}
	KUNIT_EXPECT_EQ(test, after, fprobe_kunit_after);
}

static void fprobe_unregister_after(struct kunit *test)
{
	fprobe_kunit_sleep(test, true, false);
	fprobe_kunit_sleep(test, true, true);
}

static void fprobe_unregister_inside(struct kunit *test)
{
	fprobe_kunit_sleep(test, false, false);
	fprobe_kunit_sleep(test, false, true);
}

/* The first of so many probes overrides the function. Those of @exits have exit handlers. */
static void fprobe_kunit_override(struct kunit *test, unsigned int nr, unsigned int exits,
				  int cancel)
{
	unsigned long ip = kunit_site(0);
	struct fprobe_kunit *probe[2];
	int depth = current->curr_ret_stack;

	for (unsigned int i = 0; i < nr; i++) {
		probe[i] = fprobe_kunit_new(test);
		probe[i]->override = !i;
		probe[i]->cancel = cancel;
		if (!(exits & BIT(i))) {
			probe[i]->fp.exit_handler = NULL;
			probe[i]->fp.entry_data_size = 0;
		}
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&probe[i]->fp, &ip, 1), 0);
	}
	/* None says for good where the function goes on, as a live patch does. */
	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_FALSE(test, ftrace_callset_at(ip)->flags & FTRACE_OPS_FL_IPMODIFY);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(kunit_result), FPROBE_KUNIT_OTHER);
	KUNIT_EXPECT_EQ(test, current->curr_ret_stack, depth);
	probe[0]->override = false;
	kunit_call_site(0);
	KUNIT_EXPECT_NE(test, READ_ONCE(kunit_result), FPROBE_KUNIT_OTHER);
	for (unsigned int i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[i]->fp), 0);
		fprobe_kunit_expect(test, probe[i], 2, (exits & BIT(i)) && !cancel ? 2 : 0);
	}
}

/* As a live patch is, for one task. */
static struct task_struct *fprobe_kunit_patch_task;

static notrace unsigned long fprobe_kunit_patched(unsigned long a, unsigned long b)
{
	return FPROBE_KUNIT_OTHER + 1;
}

static void fprobe_kunit_patch_func(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (current == fprobe_kunit_patch_task)
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)fprobe_kunit_patched);
}

/* A probe overrides a function that has a live patch already, or gets one then. */
static void fprobe_kunit_override_patched(struct kunit *test, bool then)
{
	static struct ftrace_ops ops = {
		.func	= fprobe_kunit_patch_func,
		.flags	= FTRACE_OPS_FL_IPMODIFY,
	};
	unsigned long ip = kunit_site(0);
	struct fprobe_kunit *probe = fprobe_kunit_new(test);

	probe->fp.exit_handler = NULL;
	probe->fp.entry_data_size = 0;
	fprobe_kunit_patch_task = current;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops, ip, 0, 0), 0);
	if (!then)
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
	if (then)
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), 0);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(kunit_result), FPROBE_KUNIT_OTHER + 1);
	WRITE_ONCE(probe->override, true);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(kunit_result), FPROBE_KUNIT_OTHER);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe->fp), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
	fprobe_kunit_expect(test, probe, 2, 0);
}

static void fprobe_overrides(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_HAVE_FTRACE_TRAMPOLINES) && !IS_ENABLED(CONFIG_BPF_KPROBE_OVERRIDE))
		kunit_skip(test, "no kprobe overrides a function");
	for (unsigned int list = 0; list < 2; list++) {
		ftrace_kunit_forbid_tramps(list);
		for (unsigned int nr = 1; nr <= 2; nr++) {
			for (unsigned int exits = 0; exits < BIT(nr); exits++)
				fprobe_kunit_override(test, nr, exits, 0);
			fprobe_kunit_override(test, nr, BIT(nr) - 1, 1);
		}
		fprobe_kunit_override_patched(test, false);
		fprobe_kunit_override_patched(test, true);
	}
	ftrace_kunit_forbid_tramps(false);
}

/* Another task may begin a grace period, and end it, meanwhile: but not each time. */
static void fprobe_unregister_at_once(struct kunit *test)
{
	unsigned long ip = kunit_site(0);
	bool waited = true;

	for (unsigned int i = 0; i < 16 && waited; i++) {
		struct fprobe_kunit *probe = fprobe_kunit_new(test);
		unsigned long state;

		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe->fp, &ip, 1), 0);
		state = get_state_synchronize_rcu();
		KUNIT_EXPECT_EQ(test, unregister_fprobe_async(&probe->fp), 0);
		waited = poll_state_synchronize_rcu(state);
		KUNIT_EXPECT_EQ(test, unregister_fprobe_async(&probe->fp), -EINVAL);
		kunit_call_site(0);
		fprobe_kunit_expect(test, probe, 0, 0);
		synchronize_rcu();
		kunit_kfree(test, probe);
	}
	KUNIT_EXPECT_FALSE(test, waited);
}

/* The change of a sleeper's probe, or beside it, before the sleeper returns. */
enum fprobe_kunit_between {
	FPROBE_KUNIT_SECOND,	/* A second probe comes. */
	FPROBE_KUNIT_GOES,	/* One comes, and the first goes. */
	FPROBE_KUNIT_DISABLED,	/* It is disabled. */
	FPROBE_KUNIT_ENABLED,	/* It is disabled, and enabled again. */
};

static void fprobe_kunit_between(struct kunit *test, enum fprobe_kunit_between what)
{
	struct fprobe_kunit *probe[2] = { fprobe_kunit_new(test), fprobe_kunit_new(test) };
	unsigned long ip = ftrace_location((unsigned long)wait_for_completion);
	bool second = what <= FPROBE_KUNIT_GOES;
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;

	task = kthread_create(fprobe_kunit_sleeper, &wake, "fprobe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	probe[0]->task = task;
	probe[1]->task = task;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[0]->fp, &ip, 1), 0);
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_wait_for_entry(probe[0]));
	if (second)
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[1]->fp, &ip, 1), 0);
	else
		disable_fprobe(&probe[0]->fp);
	if (what == FPROBE_KUNIT_GOES)
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[0]->fp), 0);
	else if (what == FPROBE_KUNIT_ENABLED)
		enable_fprobe(&probe[0]->fp);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_unwinds(task, probe[0]->ret_ip));
	complete(&wake);
	kthread_stop(task);
	if (what != FPROBE_KUNIT_GOES)
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[0]->fp), 0);
	if (second)
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[1]->fp), 0);

	/* The first is told of the return while it is there and enabled; the second never is. */
	if (what == FPROBE_KUNIT_SECOND || what == FPROBE_KUNIT_ENABLED) {
		fprobe_kunit_expect(test, probe[0], 1, 1);
		KUNIT_EXPECT_TRUE(test, probe[0]->quick);
		KUNIT_EXPECT_TRUE(test, probe[0]->unwound);
	} else {
		fprobe_kunit_expect(test, probe[0], 1, 0);
	}
	fprobe_kunit_expect(test, probe[1], 0, 0);
}

static void fprobe_second_inside(struct kunit *test)
{
	fprobe_kunit_between(test, FPROBE_KUNIT_SECOND);
	fprobe_kunit_between(test, FPROBE_KUNIT_GOES);
}

static void fprobe_disabled_inside(struct kunit *test)
{
	fprobe_kunit_between(test, FPROBE_KUNIT_DISABLED);
	fprobe_kunit_between(test, FPROBE_KUNIT_ENABLED);
}

/* Of two probes of a call, one goes. */
static void fprobe_one_goes_inside(struct kunit *test)
{
	struct fprobe_kunit *probe[2] = { fprobe_kunit_new(test), fprobe_kunit_new(test) };
	unsigned long ip = ftrace_location((unsigned long)wait_for_completion);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;

	task = kthread_create(fprobe_kunit_sleeper, &wake, "fprobe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++) {
		probe[i]->task = task;
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[i]->fp, &ip, 1), 0);
	}
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_wait_for_entry(probe[0]));
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[0]->fp), 0);
	complete(&wake);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[1]->fp), 0);
	fprobe_kunit_expect(test, probe[0], 1, 0);
	fprobe_kunit_expect(test, probe[1], 1, 1);
	KUNIT_EXPECT_FALSE(test, probe[1]->quick);
}

/* A probe goes, and is registered again with more data: an entry from before has too little. */
static void fprobe_kunit_again(struct kunit *test, bool quick)
{
	struct fprobe_kunit *probe[2] = { fprobe_kunit_new(test), fprobe_kunit_new(test) };
	unsigned long ip = ftrace_location((unsigned long)wait_for_completion);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;

	task = kthread_create(fprobe_kunit_sleeper, &wake, "fprobe_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	probe[0]->task = task;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[0]->fp, &ip, 1), 0);
	if (!quick)
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[1]->fp, &ip, 1), 0);
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, fprobe_kunit_wait_for_entry(probe[0]));
	if (quick)
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[1]->fp, &ip, 1), 0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[0]->fp), 0);
	probe[0]->fp.entry_data_size = 3 * sizeof(long);
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe[0]->fp, &ip, 1), 0);
	complete(&wake);
	kthread_stop(task);
	for (unsigned int i = 0; i < ARRAY_SIZE(probe); i++)
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe[i]->fp), 0);
	fprobe_kunit_expect(test, probe[0], 1, 0);
}

static void fprobe_again_inside(struct kunit *test)
{
	fprobe_kunit_again(test, true);
	fprobe_kunit_again(test, false);
}

struct fprobe_kunit_host {
	struct fprobe		fp;
	struct kunit_guest	guest;
};

static int fprobe_kunit_host_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct ftrace_regs *fregs, void *data)
{
	kunit_guest_stay(&container_of(fp, struct fprobe_kunit_host, fp)->guest);
	return 0;
}

static void fprobe_kunit_host_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				   struct ftrace_regs *fregs, void *data)
{
	kunit_guest_stay(&container_of(fp, struct fprobe_kunit_host, fp)->guest);
}

/* Handlers that run, at entries and at exits, are waited for. */
static void fprobe_waits_for_guest(struct kunit *test)
{
	struct fprobe_kunit_host *host;
	struct task_struct *task;
	unsigned long ip;

	for (unsigned int i = 0; i < 2; i++) {
		host = kzalloc_obj(*host);
		KUNIT_ASSERT_NOT_NULL(test, host);
		if (i)
			host->fp.exit_handler = fprobe_kunit_host_exit;
		else
			host->fp.entry_handler = fprobe_kunit_host_entry;
		ip = kunit_site(0);
		KUNIT_EXPECT_EQ(test, register_fprobe_ips(&host->fp, &ip, 1), 0);
		task = kunit_guest_begin(test, &host->guest);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&host->fp), 0);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(host->guest.left));
		kunit_guest_end(task);
		memset(host, 0x6b, sizeof(*host));
		kfree(host);
	}
}

static struct kunit_case fprobe_kunit_cases[] = {
	KUNIT_CASE(fprobe_same_function),
	KUNIT_CASE(fprobe_sole_runs),
	KUNIT_CASE(fprobe_sole_list),
	KUNIT_CASE(fprobe_not_quick),
	KUNIT_CASE(fprobe_sole_cancel),
	KUNIT_CASE(fprobe_sole_disabled),
	KUNIT_CASE(fprobe_sole_data),
	KUNIT_CASE(fprobe_sole_recursion),
	KUNIT_CASE(fprobe_same_parent),
	KUNIT_CASE(fprobe_same_parent_list),
	KUNIT_CASE(fprobe_one_side),
	KUNIT_CASE(fprobe_unregister_after),
	KUNIT_CASE(fprobe_unregister_inside),
	KUNIT_CASE(fprobe_unregister_at_once),
	KUNIT_CASE(fprobe_overrides),
	KUNIT_CASE(fprobe_second_inside),
	KUNIT_CASE(fprobe_disabled_inside),
	KUNIT_CASE(fprobe_one_goes_inside),
	KUNIT_CASE(fprobe_again_inside),
	KUNIT_CASE(fprobe_waits_for_guest),
	{ }
};

static struct kunit_suite fprobe_kunit_suite = {
	.name		= "ftrace_fprobe",
	.test_cases	= fprobe_kunit_cases,
};

kunit_test_suite(fprobe_kunit_suite);
