// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of entry and return hooks: users come and go on sites that are
 * called, and each sees the calls and the returns that it asked for, once.
 */

#include <linux/completion.h>
#include <linux/kthread.h>

#include "kunit.h"

#define FGRAPH_KUNIT_USERS	3
#define FGRAPH_KUNIT_ALL	(BIT(KUNIT_NR_SITES) - 1)
/* The value that site 0 returns, and its second argument. */
#define FGRAPH_KUNIT_GCD	6
#define FGRAPH_KUNIT_OTHER	18

/**
 * struct fgraph_kunit_user - a user that counts
 * @gops: the user
 * @task: whose calls count
 * @refuse: sites whose return it does not want to see, as bits
 * @serve: sites whose return its sole_ret serves, as bits
 * @data: bytes that it reserves
 * @entries: how often each site was entered
 * @returns: how often each returned
 * @served: how often sole_ret was told so instead
 * @goes: its retfunc runs when it has been taken away
 * @odd: how many checks failed
 */
struct fgraph_kunit_user {
	struct fgraph_ops	gops;
	struct task_struct	*task;
	unsigned int		refuse;
	unsigned int		serve;
	int			data;
	unsigned int		entries[KUNIT_NR_SITES];
	unsigned int		returns[KUNIT_NR_SITES];
	unsigned int		served[KUNIT_NR_SITES];
	bool			goes;
	unsigned int		odd;
};

/* Part of the kernel's data: unregistering them waits for nothing. */
static struct fgraph_kunit_user fgraph_kunit_users[FGRAPH_KUNIT_USERS];
static unsigned long fgraph_kunit_ips[KUNIT_NR_SITES];

static int fgraph_kunit_index(unsigned long ip)
{
	for (int i = 0; i < KUNIT_NR_SITES; i++) {
		if (fgraph_kunit_ips[i] == ip)
			return i;
	}
	return -1;
}

static int fgraph_kunit_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			      struct ftrace_regs *fregs)
{
	struct fgraph_kunit_user *user = container_of(gops, struct fgraph_kunit_user, gops);
	int i = fgraph_kunit_index(trace->func);
	u8 *data;

	if (READ_ONCE(user->task) != current || !in_task())
		return 0;
	if (i < 0) {
		user->odd++;
		return 0;
	}
	user->entries[i]++;
	if (!i && ftrace_regs_get_argument(fregs, 1) != FGRAPH_KUNIT_OTHER)
		user->odd++;
	if (user->data) {
		data = fgraph_reserve_data(gops->idx, user->data);
		if (data)
			memset(data, i + 1, user->data);
		else
			user->odd++;
	}
	return !(user->refuse & BIT(i));
}

static void fgraph_kunit_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				struct ftrace_regs *fregs)
{
	struct fgraph_kunit_user *user = container_of(gops, struct fgraph_kunit_user, gops);
	int i = fgraph_kunit_index(trace->func), size = 0;
	u8 *data;

	if (i < 0) {
		user->odd++;
		return;
	}
	user->returns[i]++;
	if (user->goes)
		WRITE_ONCE(fgraph_users[gops->idx], &fgraph_no_user);
	data = fgraph_retrieve_data(gops->idx, &size);
	if (user->goes)
		WRITE_ONCE(fgraph_users[gops->idx], gops);
	if (!!data != !!user->data ||
	    ftrace_regs_get_instruction_pointer(fregs) != ftrace_graph_top_ret_addr(current))
		user->odd++;
	if (data && (size != round_up(user->data, sizeof(long)) ||
		     memchr_inv(data, i + 1, user->data)))
		user->odd++;
	if (!i && ftrace_regs_get_return_value(fregs) != FGRAPH_KUNIT_GCD)
		user->odd++;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	if (!i && trace->retval != FGRAPH_KUNIT_GCD)
		user->odd++;
#endif
}

/* An entry of a sole user has a word of data. */
#define FGRAPH_KUNIT_SOLE_WORDS	(FGRAPH_ENTRY_WORDS + FGRAPH_U64_WORDS)

static void fgraph_kunit_sole(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs,
			      struct ftrace_regs *fregs)
{
	struct fgraph_ops *gops = container_of(cs->ops[cs->nr_funcs], struct fgraph_ops, ops);
	struct fgraph_kunit_user *user = container_of(gops, struct fgraph_kunit_user, gops);
	struct ftrace_ret_stack *frame;
	int i = fgraph_kunit_index(ip);

	if (READ_ONCE(user->task) != current || !in_task())
		return;
	if (i < 0 || !fgraph_can_hook(current, retp) ||
	    !fgraph_push(current, ip, retp, gops->ops.graph_meta | FGRAPH_META_SOLE,
			 FGRAPH_KUNIT_SOLE_WORDS, &frame)) {
		user->odd++;
		return;
	}
	user->entries[i]++;
	current->curr_ret_depth++;
	memset(fgraph_sole_data(frame), i + 1, sizeof(u64));
	*retp = FTRACE_RETURN_HANDLER;
}

static bool fgraph_kunit_sole_return(struct task_struct *task,
				     const struct ftrace_ret_stack *frame,
				     struct ftrace_regs *fregs, struct fgraph_ops *gops)
{
	struct fgraph_kunit_user *user = container_of(gops, struct fgraph_kunit_user, gops);
	int i = fgraph_kunit_index(frame->func);

	if (i < 0 || task != user->task) {
		user->odd++;
		return true;
	}
	if (!(user->serve & BIT(i)))
		return false;
	user->served[i]++;
	return true;
}

static int fgraph_kunit_attach(struct fgraph_kunit_user *user, unsigned int bits)
{
	unsigned long ips[KUNIT_NR_SITES];
	unsigned int nr = 0;
	int ret;

	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		if (bits & BIT(i))
			ips[nr++] = fgraph_kunit_ips[i];
	}
	ret = ftrace_set_filter_ips(&user->gops.ops, ips, nr, 0, 1);
	return ret ?: register_ftrace_graph(&user->gops);
}

static void fgraph_kunit_call(void)
{
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
		for (unsigned int n = 0; n <= i; n++)
			kunit_call_site(i);
	}
}

/* Calls each site, and expects that each user sees those of its bits. */
static void fgraph_kunit_expect(struct kunit *test, const unsigned int *bits, unsigned int nr)
{
	fgraph_kunit_call();
	for (unsigned int u = 0; u < nr; u++) {
		struct fgraph_kunit_user *user = &fgraph_kunit_users[u];

		for (unsigned int i = 0; i < KUNIT_NR_SITES; i++) {
			unsigned int calls = bits[u] & BIT(i) ? i + 1 : 0;

			KUNIT_EXPECT_EQ_MSG(test, user->entries[i], calls, "user %u site %u", u, i);
			KUNIT_EXPECT_EQ_MSG(test, user->returns[i],
					    user->refuse & BIT(i) ? 0 : calls,
					    "user %u site %u", u, i);
		}
		KUNIT_EXPECT_EQ(test, user->odd, 0);
		memset(user->entries, 0, sizeof(user->entries));
		memset(user->returns, 0, sizeof(user->returns));
		user->odd = 0;
	}
}

static int fgraph_kunit_init(struct kunit *test)
{
	memset(fgraph_kunit_users, 0, sizeof(fgraph_kunit_users));
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++)
		fgraph_kunit_ips[i] = kunit_site(i);
	for (unsigned int u = 0; u < FGRAPH_KUNIT_USERS; u++) {
		fgraph_kunit_users[u].task = current;
		fgraph_kunit_users[u].gops.entryfunc = fgraph_kunit_entry;
		fgraph_kunit_users[u].gops.retfunc = fgraph_kunit_return;
	}
	return 0;
}

static void fgraph_kunit_exit(struct kunit *test)
{
	for (unsigned int u = 0; u < FGRAPH_KUNIT_USERS; u++) {
		if (fgraph_kunit_users[u].gops.ops.flags & FTRACE_OPS_FL_GRAPH)
			unregister_ftrace_graph(&fgraph_kunit_users[u].gops);
		ftrace_free_filter(&fgraph_kunit_users[u].gops.ops);
	}
	ftrace_kunit_forbid_tramps(false);
}

static void fgraph_one_user(struct kunit *test)
{
	const unsigned int bits[] = { FGRAPH_KUNIT_ALL }, none[] = { 0 };

	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[0], bits[0]), 0);
	fgraph_kunit_expect(test, bits, 1);
	unregister_ftrace_graph(&fgraph_kunit_users[0].gops);
	fgraph_kunit_expect(test, none, 1);
}

/* Each is called for its own sites only, also where they share one. */
static void fgraph_several_users(struct kunit *test)
{
	const unsigned int bits[] = { 0x3, 0x6, 0x4 };

	for (unsigned int u = 0; u < FGRAPH_KUNIT_USERS; u++)
		KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[u], bits[u]), 0);
	fgraph_kunit_expect(test, bits, FGRAPH_KUNIT_USERS);
}

static void fgraph_without_trampolines(struct kunit *test)
{
	const unsigned int bits[] = { 0x3, 0x6, 0x4 };

	ftrace_kunit_forbid_tramps(true);
	for (unsigned int u = 0; u < FGRAPH_KUNIT_USERS; u++)
		KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[u], bits[u]), 0);
	fgraph_kunit_expect(test, bits, FGRAPH_KUNIT_USERS);
}

/*
 * Returns that sole_ret does not serve come to retfunc, and those of shared sites. Either way
 * the user finds its data.
 */
static void fgraph_sole(struct kunit *test)
{
	const unsigned int bits[] = { FGRAPH_KUNIT_ALL, 0x1 };
	struct fgraph_kunit_user *user = &fgraph_kunit_users[0];

	user->gops.ops.sole_func = fgraph_kunit_sole;
	user->gops.ops.sole_ret = fgraph_kunit_sole_return;
	user->data = sizeof(u64);
	/* Neither of them is seen by retfunc, for one reason or the other. */
	user->serve = 0x5;
	user->refuse = 0x5;
	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(user, bits[0]), 0);
	fgraph_kunit_expect(test, bits, 1);
	for (unsigned int i = 0; i < KUNIT_NR_SITES; i++)
		KUNIT_EXPECT_EQ(test, user->served[i], user->serve & BIT(i) ? i + 1 : 0);

	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[1], bits[1]), 0);
	fgraph_kunit_expect(test, bits, 2);
	KUNIT_EXPECT_EQ(test, user->served[0], 1);
	KUNIT_EXPECT_EQ(test, user->served[2], 6);
	user->gops.ops.sole_func = NULL;
}

/* A user that does not want the return of a call leaves no trace of it. */
static void fgraph_refused_returns(struct kunit *test)
{
	const unsigned int bits[] = { FGRAPH_KUNIT_ALL, FGRAPH_KUNIT_ALL };
	int depth = current->curr_ret_depth, top = current->curr_ret_stack;

	fgraph_kunit_users[0].refuse = 0x5;
	fgraph_kunit_users[0].data = 24;
	fgraph_kunit_users[1].refuse = 0x1;
	for (unsigned int u = 0; u < 2; u++)
		KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[u], bits[u]), 0);
	fgraph_kunit_expect(test, bits, 2);
	KUNIT_EXPECT_EQ(test, current->curr_ret_depth, depth);
	KUNIT_EXPECT_EQ(test, current->curr_ret_stack, top);
}

/* The data that a user reserves at the entry is there at the return, beside other users' data. */
static void fgraph_reserved_data(struct kunit *test)
{
	const unsigned int bits[] = { FGRAPH_KUNIT_ALL, 0x5, FGRAPH_KUNIT_ALL };
	const int data[] = { 1, 0, FGRAPH_MAX_DATA_WORDS * sizeof(long) };

	for (unsigned int u = 0; u < FGRAPH_KUNIT_USERS; u++) {
		fgraph_kunit_users[u].data = data[u];
		KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[u], bits[u]), 0);
	}
	fgraph_kunit_expect(test, bits, FGRAPH_KUNIT_USERS);
	/* Not within a call: there is no entry to put it in, but also no room. */
	KUNIT_EXPECT_NULL(test, fgraph_reserve_data(0, data[2] + 1));
	KUNIT_EXPECT_NULL(test, fgraph_reserve_data(0, -1));
}

/* A retfunc that runs while its user is taken away has its data still. */
static void fgraph_data_of_leaver(struct kunit *test)
{
	const unsigned int bits[] = { FGRAPH_KUNIT_ALL, 0x5 };

	fgraph_kunit_users[0].data = sizeof(long);
	fgraph_kunit_users[0].goes = true;
	for (unsigned int u = 0; u < 2; u++)
		KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[u], bits[u]), 0);
	fgraph_kunit_expect(test, bits, 2);
}

/* A task that was prepared before the first user came gets its stack when it is on the list. */
static void fgraph_forked_meanwhile(struct kunit *test)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(&fgraph_kunit_users[0], 1), 0);
	ftrace_graph_fork_task(task);
	KUNIT_EXPECT_NOT_NULL(test, task->ret_stack);
	KUNIT_EXPECT_EQ(test, task->curr_ret_depth, -1);
	ftrace_graph_exit_task(task);
	KUNIT_EXPECT_NULL(test, task->ret_stack);
	unregister_ftrace_graph(&fgraph_kunit_users[0].gops);
}

static void fgraph_wrong_users(struct kunit *test)
{
	struct fgraph_kunit_user *user = &fgraph_kunit_users[0];
	const unsigned int bits[] = { 0x1 };

	user->gops.entryfunc = NULL;
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&user->gops), -EINVAL);
	user->gops.entryfunc = fgraph_kunit_entry;
	/* After that it can still be registered. */
	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(user, bits[0]), 0);
	fgraph_kunit_expect(test, bits, 1);
}

/* As many as there is room for, and one more. */
static void fgraph_too_many_users(struct kunit *test)
{
	static struct fgraph_ops gops[FGRAPH_MAX_USERS + 1];
	unsigned int nr;
	int ret = 0;

	for (nr = 0; nr < ARRAY_SIZE(gops); nr++) {
		gops[nr] = (struct fgraph_ops) {
			.entryfunc	= fgraph_kunit_entry,
			.retfunc	= fgraph_kunit_return,
		};
		if (ftrace_set_filter_ip(&gops[nr].ops, fgraph_kunit_ips[0], 0, 1))
			break;
		ret = register_ftrace_graph(&gops[nr]);
		if (ret)
			break;
	}
	KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
	for (unsigned int i = 0; i < nr; i++) {
		unregister_ftrace_graph(&gops[i]);
		ftrace_free_filter(&gops[i].ops);
	}
	if (nr < ARRAY_SIZE(gops))
		ftrace_free_filter(&gops[nr].ops);
}

/* The data of calls further out, of users with a header and without. */
static void fgraph_data_of_parents(struct kunit *test)
{
	struct fgraph_kunit_user *user = &fgraph_kunit_users[0], *other = &fgraph_kunit_users[1];
	unsigned long *stack = kunit_kcalloc(test, FGRAPH_STACK_WORDS, sizeof(*stack), GFP_KERNEL);
	int size[4] = { }, end = 3 * FGRAPH_KUNIT_SOLE_WORDS + 1;
	void *data[5];
	u64 meta;

	KUNIT_ASSERT_NOT_NULL(test, stack);
	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(user, 1), 0);
	KUNIT_ASSERT_EQ(test, fgraph_kunit_attach(other, 1), 0);
	meta = user->gops.ops.graph_meta;
	/* From the outermost: a sole user's, one of before it came, and one with a header. */
	*fgraph_top(stack, FGRAPH_KUNIT_SOLE_WORDS) = meta | FGRAPH_META_SOLE |
		FIELD_PREP(FGRAPH_META_WORDS, FGRAPH_KUNIT_SOLE_WORDS);
	*fgraph_top(stack, 2 * FGRAPH_KUNIT_SOLE_WORDS) = (meta & FGRAPH_META_USERS) |
		FGRAPH_META_SOLE | FIELD_PREP(FGRAPH_META_WORDS, FGRAPH_KUNIT_SOLE_WORDS);
	*fgraph_top(stack, end) = meta |
		FIELD_PREP(FGRAPH_META_WORDS, FGRAPH_KUNIT_SOLE_WORDS + 1);
	stack[2 * FGRAPH_KUNIT_SOLE_WORDS + FGRAPH_FRAME_WORDS] =
		FIELD_PREP(FGRAPH_DATA_WORDS, FGRAPH_U64_WORDS) |
		FIELD_PREP(FGRAPH_DATA_USER, user->gops.idx);

	scoped_guard(irqsave) {
		swap(current->ret_stack, stack);
		swap(current->curr_ret_stack, end);
		for (int depth = 0; depth < 4; depth++)
			data[depth] = fgraph_retrieve_parent_data(user->gops.idx, &size[depth],
								  depth);
		data[4] = fgraph_retrieve_parent_data(other->gops.idx, NULL, 2);
		swap(current->ret_stack, stack);
		swap(current->curr_ret_stack, end);
	}
	KUNIT_EXPECT_PTR_EQ(test, data[0], (void *)&stack[2 * FGRAPH_KUNIT_SOLE_WORDS +
							  FGRAPH_FRAME_WORDS + 1]);
	KUNIT_EXPECT_NULL(test, data[1]);
	KUNIT_EXPECT_PTR_EQ(test, data[2], (void *)&stack[FGRAPH_FRAME_WORDS]);
	KUNIT_EXPECT_NULL(test, data[3]);
	KUNIT_EXPECT_NULL(test, data[4]);
	KUNIT_EXPECT_EQ(test, size[0], sizeof(u64));
	KUNIT_EXPECT_EQ(test, size[2], sizeof(u64));
}

/* The entries of a return stack, by hand. */
static void fgraph_walk_entries(struct kunit *test, unsigned long handler, unsigned long other)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct ftrace_ret_stack *frame;
	unsigned long stack[64] = { };
	int idx = 0;

	KUNIT_ASSERT_NOT_NULL(test, task);
	task->ret_stack = stack;
	/* The second one ends in a jump to the third. */
	for (unsigned int i = 0; i < 3; i++) {
		frame = (struct ftrace_ret_stack *)&stack[i * FGRAPH_ENTRY_WORDS];
		frame->ret = i == 2 ? other : 0x1000 + i;
		frame->retp = &stack[60 + min(i, 1U)];
		*fgraph_top(stack, (i + 1) * FGRAPH_ENTRY_WORDS) =
			FIELD_PREP(FGRAPH_META_WORDS, FGRAPH_ENTRY_WORDS);
	}
	task->curr_ret_stack = 3 * FGRAPH_ENTRY_WORDS;

	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, 0x42, &stack[61]), 0x42);
	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, handler, &stack[61]), 0x1001);
	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, handler, &stack[60]), 0x1000);
	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, handler, &stack[59]), handler);
	idx = 0;
	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, handler, NULL), 0x1001);
	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, handler, NULL), 0x1000);
	KUNIT_EXPECT_EQ(test, ftrace_graph_ret_addr(task, &idx, handler, NULL), handler);
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_PTR_EQ(test, (void *)ftrace_graph_get_ret_stack(task, i),
				    (void *)&stack[(2 - i) * FGRAPH_ENTRY_WORDS]);
	KUNIT_EXPECT_NULL(test, ftrace_graph_get_ret_stack(task, 3));
	KUNIT_EXPECT_EQ(test, ftrace_graph_top_ret_addr(task), 0x1001);
	task->curr_ret_stack = 0;
	KUNIT_EXPECT_EQ(test, ftrace_graph_top_ret_addr(task), 0);
}

static void fgraph_walks_entries(struct kunit *test)
{
	unsigned long handler = FTRACE_RETURN_HANDLER;

	fgraph_walk_entries(test, handler, handler);
#ifdef FTRACE_TIMES_PATH
	fgraph_walk_entries(test, handler, (unsigned long)times_return_to_handler);
	fgraph_walk_entries(test, (unsigned long)times_return_to_handler, handler);
#endif
}

/* A task that sleeps in a function that was hooked when the first user was there. */

static int fgraph_kunit_sleeper(void *data)
{
	wait_for_completion(data);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

/* Registers the second user until it has the index that the first one had. */
static bool fgraph_kunit_take_over(struct kunit *test, int idx)
{
	struct fgraph_kunit_user *user = &fgraph_kunit_users[1];

	for (unsigned int i = 0; i < FGRAPH_MAX_USERS; i++) {
		if (fgraph_kunit_attach(user, 1))
			return false;
		if (user->gops.idx == idx)
			return true;
		unregister_ftrace_graph(&user->gops);
	}
	return false;
}

static void fgraph_kunit_succeed(struct kunit *test)
{
	struct fgraph_kunit_user *user = &fgraph_kunit_users[0], *next = &fgraph_kunit_users[1];
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;

	fgraph_kunit_ips[2] = ftrace_location((unsigned long)wait_for_completion);
	task = kthread_create(fgraph_kunit_sleeper, &wake, "fgraph_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	user->task = task;
	next->task = task;
	KUNIT_EXPECT_EQ(test, fgraph_kunit_attach(user, BIT(2)), 0);
	wake_up_process(task);
	for (unsigned int i = 0; i < 250; i++) {
		if (READ_ONCE(user->entries[2]) &&
		    wait_task_inactive(task, TASK_UNINTERRUPTIBLE))
			break;
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, user->entries[2], 1);
	unregister_ftrace_graph(&user->gops);
	KUNIT_EXPECT_TRUE(test, fgraph_kunit_take_over(test, user->gops.idx));
	complete(&wake);
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, user->returns[2] + user->served[2] + user->odd, 0);
	KUNIT_EXPECT_EQ(test, next->returns[2] + next->served[2] + next->odd, 0);
}

/*
 * A user that gets the index of an earlier user is not told of calls which the earlier one hooked.
 */
static void fgraph_same_index(struct kunit *test)
{
	fgraph_kunit_succeed(test);
}

static void fgraph_same_index_sole(struct kunit *test)
{
	struct fgraph_kunit_user *user = &fgraph_kunit_users[0];

	user->gops.ops.sole_func = fgraph_kunit_sole;
	user->gops.ops.sole_ret = fgraph_kunit_sole_return;
	fgraph_kunit_succeed(test);
	user->gops.ops.sole_func = NULL;
}

struct fgraph_kunit_host {
	struct fgraph_ops	gops;
	struct kunit_guest	guest;
	bool			at_return;
};

static int fgraph_kunit_host_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
				   struct ftrace_regs *fregs)
{
	struct fgraph_kunit_host *host = container_of(gops, struct fgraph_kunit_host, gops);

	if (!host->at_return)
		kunit_guest_stay(&host->guest);
	return 1;
}

static void fgraph_kunit_host_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				     struct ftrace_regs *fregs)
{
	struct fgraph_kunit_host *host = container_of(gops, struct fgraph_kunit_host, gops);

	if (host->at_return)
		kunit_guest_stay(&host->guest);
}

/* One that may go away is waited for, and after that its memory is not looked at. */
static void fgraph_waits_for_guest(struct kunit *test)
{
	struct fgraph_kunit_host *host;
	struct task_struct *task;

	for (unsigned int i = 0; i < 2; i++) {
		host = kzalloc_obj(*host);
		KUNIT_ASSERT_NOT_NULL(test, host);
		host->at_return = i;
		host->gops.entryfunc = fgraph_kunit_host_entry;
		host->gops.retfunc = fgraph_kunit_host_return;
		KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&host->gops.ops, kunit_site(0),
							      0, 0));
		KUNIT_EXPECT_EQ(test, register_ftrace_graph(&host->gops), 0);
		task = kunit_guest_begin(test, &host->guest);
		unregister_ftrace_graph(&host->gops);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(host->guest.left));
		kunit_guest_end(task);
		ftrace_free_filter(&host->gops.ops);
		memset(host, 0x6b, sizeof(*host));
		kfree(host);
		fgraph_kunit_call();
	}
}

/* A user of site 0 whose memory goes: to look at it afterwards is noticed. */
static struct fgraph_kunit_user *fgraph_kunit_come(struct kunit *test)
{
	struct fgraph_kunit_user *user = kzalloc_obj(*user);

	KUNIT_ASSERT_NOT_NULL(test, user);
	user->gops.entryfunc = fgraph_kunit_entry;
	user->gops.retfunc = fgraph_kunit_return;
	KUNIT_EXPECT_EQ(test, fgraph_kunit_attach(user, 1), 0);
	return user;
}

static void fgraph_kunit_go(struct fgraph_kunit_user *user)
{
	unregister_ftrace_graph(&user->gops);
	ftrace_free_filter(&user->gops.ops);
	memset(user, 0x6b, sizeof(*user));
	kfree(user);
}

/* A CALL of a user that is gone is written back: it is not entered, nor looked at. */
static void fgraph_altered_site(struct kunit *test)
{
	u8 nop[MCOUNT_INSN_SIZE], call[MCOUNT_INSN_SIZE];
	void *ip = (void *)kunit_site(0);
	struct fgraph_kunit_user *user;

	kunit_needs_poke(test);
	memcpy(nop, ip, sizeof(nop));
	user = fgraph_kunit_come(test);
	memcpy(call, ip, sizeof(call));
	kunit_poke(ip, kunit_other);
	fgraph_kunit_go(user);

	kunit_poke(ip, call);
	kunit_call_site(0);
	KUNIT_EXPECT_EQ(test, kunit_result, FGRAPH_KUNIT_GCD);
	ftrace_kunit_repair((unsigned long)ip, nop);
}

#if defined(CONFIG_X86_64) && defined(CONFIG_UNWINDER_ORC)
#include "fgraph_steps_kunit.c"
#endif

static struct kunit_case fgraph_kunit_cases[] = {
	KUNIT_CASE(fgraph_one_user),
	KUNIT_CASE(fgraph_several_users),
	KUNIT_CASE(fgraph_without_trampolines),
	KUNIT_CASE(fgraph_sole),
	KUNIT_CASE(fgraph_refused_returns),
	KUNIT_CASE(fgraph_reserved_data),
	KUNIT_CASE(fgraph_data_of_leaver),
	KUNIT_CASE(fgraph_data_of_parents),
	KUNIT_CASE(fgraph_forked_meanwhile),
	KUNIT_CASE(fgraph_wrong_users),
	KUNIT_CASE(fgraph_too_many_users),
	KUNIT_CASE(fgraph_walks_entries),
	KUNIT_CASE(fgraph_same_index),
	KUNIT_CASE(fgraph_same_index_sole),
	KUNIT_CASE(fgraph_waits_for_guest),
	KUNIT_CASE(fgraph_altered_site),
#if defined(CONFIG_X86_64) && defined(CONFIG_UNWINDER_ORC)
	KUNIT_CASE(fgraph_steps_unwind),
#endif
	{ }
};

static struct kunit_suite fgraph_kunit_suite = {
	.name		= "ftrace_fgraph",
	.init		= fgraph_kunit_init,
	.exit		= fgraph_kunit_exit,
	.test_cases	= fgraph_kunit_cases,
};

kunit_test_suite(fgraph_kunit_suite);
