// SPDX-License-Identifier: GPL-2.0
/*
 * The function tracer: a line of the trace for each call of a site that the ops
 * of a trace array wants. And the function commands that switch a trace array
 * on and off, record a stack, or dump the trace.
 *
 * Each combination of the tracer's options is a callback of its own, so that a
 * call does not test them. Changing an option of a running tracer changes the
 * callback of its ops in place: each call reaches the old one or the new one.
 *
 * With func-no-repeats, a CPU's repeats (struct trace_func_repeats) say which
 * call the last line stands for, and how many like it came after.
 *
 * Invariants:
 *  1. While the tracer of a trace array runs, ops->saved_func is one of
 *     func_callbacks[]; its index there is the options of the trace array.
 *  2. A CPU's repeats are changed by the one that put FUNC_REPEATS_BUSY there as
 *     their ip. An interrupt meanwhile writes a line for each call.
 *
 * Lock order:
 *	trace_types_lock > ftrace_lock
 * trace_types_lock covers starting, stopping and the options of the tracer.
 * The callbacks take no lock and run wherever a function is called, NMIs
 * included, but once in each context: see ftrace_test_recursion_trylock().
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>

#include "ftrace_ops.h"
#include "ftrace_pid.h"
#include "trace.h"
#include "trace_count.h"
#include "trace_guard.h"
#include "trace_record.h"

/* Each option is a bit of the index into func_callbacks[]. */
enum {
	FUNC_OPT_STACK		= BIT(0),
	FUNC_OPT_NO_REPEATS	= BIT(1),
};

/* No site is there. */
#define FUNC_REPEATS_BUSY	1UL

/* Writing a line */

/*
 * trace_function(), in line. The context is looked at only if there is a line to
 * write.
 *
 * Return: whether there was.
 */
static __always_inline bool func_record(struct trace_array *tr, unsigned long ip,
					unsigned long parent_ip)
{
	if (static_branch_unlikely(&trace_function_exports_enabled)) {
		if (rb_is_off(tr->array_buffer.buffer))
			return false;
		trace_function(tr, ip, parent_ip, tracing_gen_ctx_dec());
	} else if (unlikely(!trace_record_function(tr->array_buffer.buffer, ip, parent_ip))) {
		return false;
	}
	trace_guard_count(tr, ip, TRACE_GUARD_FUNCTION);
	return true;
}

/*
 * The same for a call that needs no protection from recursion, as no writer is interrupted, and
 * the functions that it calls find a writer. Return: whether it was one.
 */
static __always_inline bool func_record_quick(struct trace_array *tr, unsigned long ip,
					      unsigned long parent_ip)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = NULL;
	bool quick = true;
	void *entry;

	if (static_branch_unlikely(&trace_function_exports_enabled))
		return false;

	preempt_disable_notrace();
	if (rb_is_off(buffer))
		goto out;
	/* A function that another callback calls is left out, as everywhere. */
	if (likely(rb_has_local_clock(buffer) && !READ_ONCE(current->trace_recursion)))
		cpu_buffer = rb_idle(buffer);
	quick = cpu_buffer;
	if (unlikely(!quick))
		goto out;
	rb_begin(buffer, cpu_buffer, sizeof(struct ftrace_entry), TRACE_RECORD_ALONE | RB_LOCAL,
		 NULL, &entry);
	if (unlikely(!entry))
		goto out;
	trace_record_fill_function(entry, ip, parent_ip);
	trace_record_end_alone(cpu_buffer);
	trace_guard_count(tr, ip, TRACE_GUARD_FUNCTION);
out:
	preempt_enable_notrace();
	return quick;
}

/* Repeats */

static noinline void func_repeats_write(struct trace_array *tr, unsigned long ip,
					struct trace_func_repeats *repeats, unsigned int ctx)
{
	struct trace_func_repeats line = *repeats;

	line.ip = ip;
	trace_last_func_repeats(tr, &line, ctx);
	repeats->count = 0;
}

/* Return: whether the CPU's last line is of this call, and stands for it too. */
static __always_inline bool func_is_repeat(struct trace_array *tr, unsigned long ip,
					   unsigned long parent_ip)
{
	struct trace_func_repeats *last = this_cpu_ptr(tr->last_func_repeats);
	unsigned long last_ip;
	bool again;

	/* Only this CPU comes here: all barriers are against interrupts. */
	last_ip = this_cpu_xchg(tr->last_func_repeats->ip, FUNC_REPEATS_BUSY);
	if (unlikely(last_ip == FUNC_REPEATS_BUSY))
		return false;
	barrier();

	again = last_ip == ip && last->parent_ip == parent_ip && last->count < U16_MAX;
	if (again) {
		last->ts_last_call = ring_buffer_time_stamp(tr->array_buffer.buffer);
		last->count++;
	} else {
		if (last->count)
			func_repeats_write(tr, last_ip, last, tracing_gen_ctx_dec());
		last->parent_ip = parent_ip;
	}

	barrier();
	WRITE_ONCE(last->ip, ip);
	return again;
}

/* Sets all to zero; no callback uses the repeats yet. */
static int func_repeats_init(struct trace_array *tr)
{
	int cpu;

	if (!tr->last_func_repeats)
		tr->last_func_repeats = alloc_percpu(struct trace_func_repeats);
	if (!tr->last_func_repeats)
		return -ENOMEM;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(tr->last_func_repeats, cpu), 0, sizeof(*tr->last_func_repeats));
	return 0;
}

/* Write the rest of this CPU's repeats; no callback uses them. */
static void func_repeats_flush_cpu(void *data)
{
	struct trace_array *tr = data;
	struct trace_func_repeats *last = this_cpu_ptr(tr->last_func_repeats);

	if (last->count)
		func_repeats_write(tr, last->ip, last, tracing_gen_ctx());
}

/* The callbacks */

/*
 * The number of frames to skip in a stack: __trace_stack(), and those between it and
 * the function at @ip. Without trampolines that depends on whether the list function
 * was on the way, so look for the site in the stack, from the caller of this on. Where
 * it is not there, return @otherwise.
 */
static noinline int func_frames_to(unsigned long ip, int otherwise)
{
	unsigned long frame[8];
	unsigned int nr;

	if (IS_ENABLED(CONFIG_HAVE_FTRACE_TRAMPOLINES))
		return otherwise;
	nr = stack_trace_save(frame, ARRAY_SIZE(frame), 1);
	for (unsigned int i = 0; i < nr; i++) {
		if (frame[i] - ip <= arch_ftrace_stack_addr(ip) - ip)
			return i + 1;
	}
	return otherwise;
}

/*
 * With the ORC unwinder these frames are __ftrace_trace_stack() and the callback, as
 * __trace_stack() and ftrace_pid_func() end in jumps. Otherwise, __trace_stack(), the
 * callback and the trampoline; __ftrace_trace_stack() sees to itself.
 */
static __always_inline int func_stack_skip(struct ftrace_ops *ops, unsigned long ip)
{
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		return 2;
	return func_frames_to(ip, 3 + (IS_ENABLED(CONFIG_UNWINDER_FRAME_POINTER) &&
				       ftrace_pids_enabled(ops)));
}

/* Must be inlined: func_stack_skip() counts frames, and @opts is a constant. */
static __always_inline void func_trace(unsigned long ip, unsigned long parent_ip,
				       struct ftrace_ops *ops, u32 opts)
{
	struct trace_array *tr = ops->private;
	int bit;

	if (unlikely(!READ_ONCE(tr->function_enabled)))
		return;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (unlikely(bit < 0))
		return;

	if ((opts & FUNC_OPT_NO_REPEATS) && func_is_repeat(tr, ip, parent_ip))
		goto unlock;
	if (func_record(tr, ip, parent_ip) && (opts & FUNC_OPT_STACK))
		__trace_stack(tr, tracing_gen_ctx_dec(), func_stack_skip(ops, ip));
unlock:
	ftrace_test_recursion_unlock(bit);
}

#define DEFINE_FUNC_CALLBACK(name, opts)						\
static noinline void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,	\
		 struct ftrace_regs *fregs)						\
{											\
	func_trace(ip, parent_ip, ops, opts);						\
}

DEFINE_FUNC_CALLBACK(function_slow_trace_call, 0)
DEFINE_FUNC_CALLBACK(function_stack_trace_call, FUNC_OPT_STACK)
DEFINE_FUNC_CALLBACK(function_no_repeats_trace_call, FUNC_OPT_NO_REPEATS)
DEFINE_FUNC_CALLBACK(function_stack_no_repeats_trace_call, FUNC_OPT_STACK | FUNC_OPT_NO_REPEATS)

static void function_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;

	if (unlikely(!READ_ONCE(tr->function_enabled)))
		return;
	if (unlikely(!func_record_quick(tr, ip, parent_ip)))
		function_slow_trace_call(ip, parent_ip, ops, fregs);
}

static const ftrace_func_t func_callbacks[] = {
	[0]					= function_trace_call,
	[FUNC_OPT_STACK]			= function_stack_trace_call,
	[FUNC_OPT_NO_REPEATS]			= function_no_repeats_trace_call,
	[FUNC_OPT_STACK | FUNC_OPT_NO_REPEATS]	= function_stack_no_repeats_trace_call,
};

/* The tracer */

static struct tracer_opt func_opts[] = {
#ifdef CONFIG_STACKTRACE
	{ .name = "func_stack_trace", .bit = FUNC_OPT_STACK },
#endif
	{ .name = "func-no-repeats", .bit = FUNC_OPT_NO_REPEATS },
	{ }
};

static struct tracer_flags func_flags = {
	.opts	= func_opts,
	.own	= FUNC_OPT_STACK | FUNC_OPT_NO_REPEATS,
	.slot	= TRACER_SLOT_FUNCTION,
};

static int func_tracer_init(struct trace_array *tr)
{
	u32 opts = tracer_flags_of(tr, &func_flags);
	int ret;

	if (!tr->ops)
		return -ENOMEM;
	ret = opts & FUNC_OPT_NO_REPEATS ? func_repeats_init(tr) : 0;
	if (ret)
		return ret;

	ftrace_init_array_ops(tr, func_callbacks[opts]);
	tr->ops->guarded = true;
	tr->array_buffer.cpu = raw_smp_processor_id();
	tracing_start_cmdline_record();

	/* The calls of the attaching itself stay out of the trace. */
	WRITE_ONCE(tr->function_enabled, 0);
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tracing_stop_cmdline_record();
		ftrace_reset_array_ops(tr);
		return ret;
	}
	WRITE_ONCE(tr->function_enabled, 1);
	trace_guard_tell_start(tr);
	return 0;
}

static void func_tracer_reset(struct trace_array *tr)
{
	WRITE_ONCE(tr->function_enabled, 0);
	unregister_ftrace_function(tr->ops);
	tracing_stop_cmdline_record();
	ftrace_reset_array_ops(tr);
}

static void func_tracer_start(struct trace_array *tr)
{
	tracing_reset_online_cpus(&tr->array_buffer);
}

static struct tracer func_tracer;

static int func_tracer_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	int ret = 0;

	/* It will start with the options of then. */
	if (tr->current_trace != &func_tracer)
		return 0;

	if (set && bit == FUNC_OPT_NO_REPEATS)
		ret = func_repeats_init(tr);
	if (ret)
		return ret;
	scoped_guard(mutex, &ftrace_lock) {
		WRITE_ONCE(tr->ops->saved_func, func_callbacks[old_flags ^ bit]);
		ftrace_pid_update_ops(tr->ops);
	}
	if (!set && bit == FUNC_OPT_NO_REPEATS) {
		/*
		 * Callbacks disable preemption while they use the repeats. A task may
		 * still be on its way into one; the repeats leave out its call.
		 */
		synchronize_rcu();
		on_each_cpu(func_repeats_flush_cpu, tr, true);
	}
	return 0;
}

static struct tracer func_tracer __tracer_data = {
	.name			= "function",
	.init			= func_tracer_init,
	.reset			= func_tracer_reset,
	.start			= func_tracer_start,
	.flags			= &func_flags,
	.set_flag		= func_tracer_set_flag,
	.allow_instances	= true,
#ifdef CONFIG_FTRACE_SELFTEST
	.selftest		= trace_selftest_startup_function,
#endif
};

/* The ops and the files of each instance */

/**
 * ftrace_allocate_ftrace_ops - give an instance an ops and a graph user
 * @tr: the instance; the top one has global_ops already
 *
 * Both, for a bootconfig can start a tracer before the instance has files.
 *
 * Context: sleeps.
 * Return: 0, or -ENOMEM.
 */
int ftrace_allocate_ftrace_ops(struct trace_array *tr)
{
	struct ftrace_ops *ops __free(kfree) = NULL;

	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		return 0;

	ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	if (!ops)
		return -ENOMEM;
	ops->func = ftrace_stub;
	ops->flags = FTRACE_OPS_FL_PID;
	ops->private = tr;
	if (allocate_fgraph_ops(tr, ops))
		return -ENOMEM;
	tr->ops = no_free_ptr(ops);
	return 0;
}

/**
 * ftrace_free_ftrace_ops - free the ops and the graph user of an instance
 * @tr: the instance, not the top one
 *
 * Context: sleeps. No tracer of the instance runs.
 */
void ftrace_free_ftrace_ops(struct trace_array *tr)
{
	free_fgraph_ops(tr);
	kfree(tr->ops);
	tr->ops = NULL;
}

/**
 * ftrace_create_function_files - make the files of an instance for its ops
 * @tr: the instance; those of the top one are made elsewhere
 * @parent: its directory
 *
 * Context: sleeps.
 * Return: 0, or -EINVAL if the instance has no ops. A file that could not be made is
 * missing; tracefs says so.
 */
int ftrace_create_function_files(struct trace_array *tr, struct dentry *parent)
{
	trace_count_create_files(tr, parent);
	trace_guard_create_files(tr, parent);
	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		return 0;
	if (!tr->ops)
		return -EINVAL;

	ftrace_create_filter_files(tr, parent);
	return 0;
}

/**
 * ftrace_destroy_function_files - undo ftrace_create_function_files(), and free
 *				   the ops
 * @tr: the instance, which is about to go
 *
 * Context: sleeps. No tracer of the instance runs.
 */
void ftrace_destroy_function_files(struct trace_array *tr)
{
	trace_count_forget(tr);
	trace_guard_forget(tr);
	if (!tr->ops)
		return;

	ftrace_destroy_filter_files(tr->ops);
	ftrace_free_ftrace_ops(tr);
}

/* The function commands */

#ifdef CONFIG_DYNAMIC_FTRACE

/* The actions of commands. */
enum func_action {
	FUNC_TRACEON,
	FUNC_TRACEOFF,
	FUNC_STACKTRACE,
	FUNC_DUMP,
	FUNC_CPUDUMP,
};

/**
 * struct func_command - a function command
 * @cmd: for the list of commands
 * @action: its action
 * @once: it is always counted, and acts one time
 * @unlimited: the kind of probe that acts at each call
 * @counted: the kind of probe that acts a number of times
 */
struct func_command {
	struct ftrace_func_command	cmd;
	enum func_action		action;
	bool				once;
	struct ftrace_probe_ops		unlimited;
	struct ftrace_probe_ops		counted;
};

static struct func_command *func_command_of(struct ftrace_probe_ops *ops)
{
	if (ops->init)
		return container_of(ops, struct func_command, counted);
	return container_of(ops, struct func_command, unlimited);
}

/* Return: whether there was a time left, and is taken; or times are not counted. */
static bool func_count_take(long *count)
{
	long left;

	if (!count)
		return true;
	left = READ_ONCE(*count);
	do {
		if (left <= 0)
			return false;
	} while (!try_cmpxchg(count, &left, left - 1));
	return true;
}

static void func_switch(struct trace_array *tr, long *count, bool on)
{
	long left = 0;

	if (count) {
		/* A: pairs with B, which wrote the switch before the rest of the count. */
		left = smp_load_acquire(count);
		if (left <= 0)
			return;
	}
	if (!!tracer_tracing_is_on(tr) == on)
		return;

	if (on)
		tracer_tracing_on(tr);
	else
		tracer_tracing_off(tr);

	/* B: comes after the switch. If others switched too, it counts once. */
	if (count)
		cmpxchg(count, left, left - 1);
}

/*
 * The frames to skip: this one, ftrace_probe_func() and the trampoline; and
 * __trace_stack(), or with the ORC unwinder __ftrace_trace_stack() in its place,
 * as in func_stack_skip().
 */
#define FUNC_PROBE_STACK_SKIP	4

static void func_probe_call(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
			    struct ftrace_probe_ops *ops, void *data)
{
	/* How many times are left for the site; NULL where they are not counted. */
	long *count = (long *)ftrace_func_mapper_find_ip(data, ip);
	enum func_action action = func_command_of(ops)->action;

	switch (action) {
	case FUNC_TRACEON:
	case FUNC_TRACEOFF:
		func_switch(tr, count, action == FUNC_TRACEON);
		break;
	case FUNC_STACKTRACE:
		if (tracer_tracing_is_on(tr) && func_count_take(count))
			__trace_stack(tr, tracing_gen_ctx_dec(),
				      func_frames_to(ip, FUNC_PROBE_STACK_SKIP));
		break;
	case FUNC_DUMP:
	case FUNC_CPUDUMP:
		if (func_count_take(count))
			ftrace_dump(action == FUNC_DUMP ? DUMP_ALL : DUMP_ORIG);
		break;
	}
	/* Not to be left by a jump: this frame is counted. */
	barrier();
}

static int func_probe_print(struct seq_file *m, unsigned long ip, struct ftrace_probe_ops *ops,
			    void *data)
{
	long *count = (long *)ftrace_func_mapper_find_ip(data, ip);

	seq_printf(m, "%ps:%s:", (void *)ip, func_command_of(ops)->cmd.name);
	if (count)
		seq_printf(m, "count=%ld\n", READ_ONCE(*count));
	else
		seq_puts(m, "unlimited\n");
	return 0;
}

static int func_probe_init(struct ftrace_probe_ops *ops, struct trace_array *tr,
			   unsigned long ip, void *count, void **data)
{
	if (!*data)
		*data = allocate_ftrace_func_mapper();
	return *data ? ftrace_func_mapper_add_ip(*data, ip, count) : -ENOMEM;
}

static void func_probe_free(struct ftrace_probe_ops *ops, struct trace_array *tr,
			    unsigned long ip, void *data)
{
	if (ip)
		ftrace_func_mapper_remove_ip(data, ip);
	else
		free_ftrace_func_mapper(data, NULL);
}

static struct func_command func_commands[] = {
	{ .cmd.name = "traceon",	.action = FUNC_TRACEON },
	{ .cmd.name = "traceoff",	.action = FUNC_TRACEOFF },
	{ .cmd.name = "stacktrace",	.action = FUNC_STACKTRACE },
	{ .cmd.name = "dump",		.action = FUNC_DUMP,	.once = true },
	{ .cmd.name = "cpudump",	.action = FUNC_CPUDUMP,	.once = true },
};

/* "function:command[:count]", or the same with a '!' to take it back. */
static int func_command_run(struct trace_array *tr, struct ftrace_hash *hash, char *glob,
			    char *name, char *param, int enable)
{
	struct func_command *command = func_commands;
	char *number = strsep(&param, ":");
	struct ftrace_probe_ops *ops;
	long count = 1;
	bool counted;
	int ret;

	while (strcmp(command->cmd.name, name))
		command++;
	counted = command->once || (number && *number);
	ops = counted ? &command->counted : &command->unlimited;

	if (!tr)
		return -ENODEV;
	if (!enable)
		return -EINVAL;
	if (*glob == '!')
		return unregister_ftrace_function_probe_func(glob + 1, tr, ops);

	if (counted && !command->once) {
		ret = kstrtol(number, 0, &count);
		if (ret)
			return ret;
		if (count < 0)
			return -EINVAL;
	}
	ret = register_ftrace_function_probe(glob, tr, ops, (void *)count);
	return min(ret, 0);
}

static void __init func_commands_init(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(func_commands); i++) {
		struct func_command *command = &func_commands[i];

		command->cmd.func = func_command_run;
		command->unlimited.func = func_probe_call;
		command->unlimited.print = func_probe_print;
		command->counted = command->unlimited;
		command->counted.init = func_probe_init;
		command->counted.free = func_probe_free;
		WARN_ON(register_ftrace_command(&command->cmd));
	}
}

#else

static inline void func_commands_init(void)
{
}

#endif /* CONFIG_DYNAMIC_FTRACE */

/**
 * ftrace_init_global_array_ops - give the top instance its ops
 * @tr: the top instance
 *
 * Context: boot.
 */
void __init ftrace_init_global_array_ops(struct trace_array *tr)
{
	ftrace_ops_init(&global_ops);
	tr->ops = &global_ops;
	tr->ops->private = tr;
	ftrace_init_trace_array(tr);
	init_array_fgraph_ops(tr, tr->ops);
}

/**
 * init_function_trace - make the function tracer and its commands known
 *
 * Context: boot. Starts the tracer if the command line asks for it.
 * Return: 0, or as from register_tracer().
 */
int __init init_function_trace(void)
{
	func_commands_init();
	return register_tracer(&func_tracer);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/trace_functions_kunit.c"
#endif
