// SPDX-License-Identifier: GPL-2.0
/*
 * Function commands: "function:command:parameters" in a filter file.
 *
 * A command (traceoff, stacktrace, enable_event, ...) puts a probe on sites:
 * something to do each time one of them is called. The subsystems define the
 * commands. Here is the list of them; the probe, one for each pair of a trace
 * array and a kind (struct ftrace_probe_ops), with an ops that is attached to the
 * probe's sites; and the mapper, where a kind can keep data of each site.
 *
 * Invariants:
 *
 * 1. A site is in probe->sites from its ->init to its ->free, and in
 *    ops.filter->only while it is attached. The second set is part of the first.
 * 2. A site gets its ->init before it is attached, and its ->free only when
 *    the wait that follows its detaching is over: a callback always finds the
 *    data of the site that was called.
 * 3. Sites of text that goes away leave ops.filter->only at once, and get their
 *    ->free later, from a worker. The probe gets no new sites before that.
 * 4. While ftrace_probe_mutex is free, each probe has sites.
 *
 * Lock order:
 *	ftrace_command_mutex > event_mutex > trace_types_lock >
 *	ftrace_probe_mutex > ftrace_lock
 * ftrace_command_mutex covers the list of commands, and lets one run at a time.
 * ftrace_probe_mutex covers the life of the probes and all changes of a mapper.
 * The lists of probes and their sites change under ftrace_lock too, so either of
 * the two is enough to read them. ->init is called under both. ->free is called
 * without ftrace_lock, as it may switch an event off, and with the locks of the
 * kind's own command.
 *
 * Contexts: ftrace_probe_func() and ftrace_func_mapper_find_ip() run wherever a
 * function is called, NMIs included, and take no lock. All the rest sleeps.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_hooks.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>
#include <linux/workqueue.h>

#include "attach.h"
#include "filter.h"
#include "ops.h"
#include "site_set.h"
#include "../trace.h"

/**
 * struct ftrace_probe - one kind of probe in one trace array
 * @ops: is attached to the sites
 * @tr: the trace array; clear_ftrace_function_probes() comes before its end
 * @kind: its callback, and how to set it up and print it
 * @data: of the kind: set by its ->init, released by its ->free of ip 0
 * @sites: those that had their ->init, and no ->free yet
 * @tr_node: in tr->func_probes
 * @node: in ftrace_probes
 */
struct ftrace_probe {
	struct ftrace_ops	ops;
	struct trace_array	*tr;
	struct ftrace_probe_ops	*kind;
	void			*data;
	struct ftrace_site_set	*sites;
	struct list_head	tr_node;
	struct list_head	node;
};

static LIST_HEAD(ftrace_commands);
static DEFINE_MUTEX(ftrace_command_mutex);

static LIST_HEAD(ftrace_probes);
static DEFINE_MUTEX(ftrace_probe_mutex);

/* The life of a probe */

static void ftrace_probe_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct ftrace_probe *probe = container_of(ops, struct ftrace_probe, ops);
	int bit;

	/*
	 * The stacktrace command skips a fixed number of frames: this function
	 * is one, and the trampoline calls it directly. So recursion is stopped
	 * here and not by a flag of the ops.
	 */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	if (rcu_is_watching())
		probe->kind->func(ip, parent_ip, probe->tr, probe->kind, probe->data);

	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_probe *command_probe_find(struct trace_array *tr,
					       struct ftrace_probe_ops *kind)
{
	struct ftrace_probe *probe;

	lockdep_assert_held(&ftrace_probe_mutex);

	list_for_each_entry(probe, &tr->func_probes, tr_node) {
		if (probe->kind == kind)
			return probe;
	}
	return NULL;
}

static struct ftrace_probe *command_probe_create(struct trace_array *tr,
						 struct ftrace_probe_ops *kind)
{
	struct ftrace_probe *probe = kzalloc_obj(*probe);

	if (!probe)
		return NULL;
	probe->tr = tr;
	probe->kind = kind;
	probe->ops.func = ftrace_probe_func;
	ftrace_ops_init(&probe->ops);

	guard(mutex)(&ftrace_lock);
	list_add(&probe->tr_node, &tr->func_probes);
	list_add(&probe->node, &ftrace_probes);
	return probe;
}

/*
 * Wait until no callback runs, nor will, for a site that was detached.
 *
 * If that was the last one, the ops is silenced, and its gate counts the calls inside.
 * Otherwise a call that left the site in time may be anywhere between the
 * trampoline's first instruction and the end of ftrace_probe_func(). A task can be
 * preempted there, but does not give up the CPU by itself: RCU-tasks waits until
 * each task has done so.
 */
static void command_probe_wait(struct ftrace_probe *probe)
{
	if (probe->ops.flags & FTRACE_OPS_FL_ENABLED)
		ftrace_wait_for_tasks();
	else
		ftrace_ops_wait(&probe->ops);
}

/* Undo the ->init of the first @nr of @sites; no callback comes from them. */
static void command_probe_free_sites(struct ftrace_probe *probe,
				     const struct ftrace_site_set *sites, unsigned int nr)
{
	struct ftrace_probe_ops *kind = probe->kind;

	lockdep_assert_held(&ftrace_probe_mutex);

	for (unsigned int i = 0; kind->free && i < nr; i++)
		kind->free(kind, probe->tr, sites->ip[i], probe->data);
}

/* Cannot fail: an instance goes away by this. */
static void command_probe_detach_all(struct ftrace_probe *probe)
{
	struct ftrace_filter *filter = probe->ops.filter;

	lockdep_assert_held(&ftrace_lock);

	if (!filter->only)
		return;
	ftrace_detach(&probe->ops);
	ftrace_site_set_free(no_free_ptr(filter->only));
}

/* Takes the sites that are not attached any more out of @probe. NULL: there is no such site. */
static struct ftrace_site_set *command_probe_take_gone(struct ftrace_probe *probe)
{
	struct ftrace_site_set *only = probe->ops.filter->only;
	struct ftrace_site_set *gone __free(site_set) = NULL;
	int ret;

	if (!only)
		return no_free_ptr(probe->sites);
	/* Without memory they stay, until the probe changes again. */
	gone = ftrace_site_set_minus(probe->sites, only);
	if (!gone || !gone->nr)
		return NULL;
	ret = ftrace_site_set_replace(&probe->sites, ftrace_site_set_dup(only));
	return ret ? NULL : no_free_ptr(gone);
}

/*
 * Finish off the sites that have been detached, and the probe, if it has no others.
 *
 * Return: whether the probe is still there.
 */
static bool command_probe_reap(struct ftrace_probe *probe)
{
	struct ftrace_site_set *gone __free(site_set) = NULL;
	struct ftrace_probe_ops *kind = probe->kind;
	bool is_last;

	lockdep_assert_held(&ftrace_probe_mutex);

	scoped_guard(mutex, &ftrace_lock) {
		if (!ftrace_site_set_nr(probe->ops.filter->only))
			command_probe_detach_all(probe);
		is_last = !probe->ops.filter->only;
		if (is_last) {
			list_del(&probe->tr_node);
			list_del(&probe->node);
		}
		gone = command_probe_take_gone(probe);
	}
	if (gone) {
		command_probe_wait(probe);
		command_probe_free_sites(probe, gone, gone->nr);
	}
	if (!is_last)
		return true;

	/* Each site that there ever was has been waited for, so the ops is idle. */
	if (kind->free)
		kind->free(kind, probe->tr, 0, probe->data);
	kfree(probe);
	return false;
}

/*
 * A kind whose ->free needs a lock needs event_mutex. All others that take sites
 * away hold it for such a kind; unloading a module does not, and leaves the work
 * to this.
 */
static void command_probe_reap_all(struct work_struct *work)
{
	struct ftrace_probe *probe, *next;

	guard(mutex)(&event_mutex);
	guard(mutex)(&ftrace_probe_mutex);

	list_for_each_entry_safe(probe, next, &ftrace_probes, node)
		command_probe_reap(probe);
}

static DECLARE_WORK(command_probe_reap_work, command_probe_reap_all);

/* The sites of a probe */

/* Return: the sites that match and are not the probe's yet, or an ERR_PTR(). */
static struct ftrace_site_set *command_probe_match_new(struct ftrace_probe *probe, const char *glob)
{
	struct ftrace_site_set *match __free(site_set) = NULL;

	/* New text may stand where the old went away: invariant 3. */
	if (ftrace_site_set_nr(probe->sites) != ftrace_site_set_nr(probe->ops.filter->only))
		return ERR_PTR(-EAGAIN);
	match = ftrace_match_sites(glob, NULL);
	if (IS_ERR(match))
		return match;
	ftrace_site_set_drop_quarantined(match);
	return ftrace_site_set_minus(match, probe->sites) ?: ERR_PTR(-ENOMEM);
}

static int command_probe_attach_sites(struct ftrace_probe *probe, const struct ftrace_site_set *new)
{
	struct ftrace_site_set *sites __free(site_set) = ftrace_site_set_union(probe->sites, new);
	struct ftrace_site_set *only __free(site_set) = ftrace_site_set_dup(sites);
	struct ftrace_filter *filter = probe->ops.filter;
	int ret;

	if (!only)
		return -ENOMEM;
	if (filter->only) {
		ret = ftrace_refilter(filter, only, NULL);
	} else {
		filter->only = only;
		ret = ftrace_attach(&probe->ops);
		if (ret)
			filter->only = NULL;
	}
	if (!ret) {
		retain_and_null_ptr(only);
		swap(probe->sites, sites);
	}
	return ret;
}

static int command_probe_grow(struct ftrace_probe *probe, const char *glob, void *init_data)
{
	struct ftrace_site_set *new __free(site_set) = NULL;
	struct ftrace_probe_ops *kind = probe->kind;
	unsigned int nr;
	int ret = 0;

	/* From the match to the attaching, lest text go away or come in between. */
	scoped_guard(mutex, &ftrace_lock) {
		new = command_probe_match_new(probe, glob);
		if (IS_ERR(new))
			return PTR_ERR(new);
		if (!new->nr)
			return -EINVAL;
		for (nr = 0; nr < new->nr; nr++) {
			if (kind->init)
				ret = kind->init(kind, probe->tr, new->ip[nr], init_data,
						 &probe->data);
			if (ret < 0)
				break;
		}
		if (nr == new->nr)
			ret = command_probe_attach_sites(probe, new);
	}
	if (!ret)
		return new->nr;

	/* They were never attached, so there is nothing to wait for. */
	command_probe_free_sites(probe, new, nr);
	return ret;
}

/* On failure all sites stay attached. */
static int command_probe_shrink(struct ftrace_probe *probe, const char *glob)
{
	struct ftrace_site_set *remain __free(site_set) = NULL;
	struct ftrace_site_set *match __free(site_set) = NULL;
	struct ftrace_filter *filter = probe->ops.filter;
	int ret;

	guard(mutex)(&ftrace_lock);

	if (!ftrace_site_set_nr(filter->only))
		return -EINVAL;
	if (glob && *glob && strcmp(glob, "*")) {
		match = ftrace_match_sites(glob, NULL);
		if (IS_ERR(match))
			return PTR_ERR(match);
		remain = ftrace_site_set_minus(filter->only, match);
		if (!remain)
			return -ENOMEM;
		if (remain->nr == filter->only->nr)
			return -EINVAL;
	}
	if (!ftrace_site_set_nr(remain)) {
		command_probe_detach_all(probe);
		return 0;
	}
	ret = ftrace_refilter(filter, remain, NULL);
	if (!ret)
		retain_and_null_ptr(remain);
	return ret;
}

/* Probes, for the commands */

/**
 * register_ftrace_function_probe - put a probe on functions
 * @glob: which functions, as in the filter files, without a leading '!'
 * @tr: the trace array to which the probe belongs
 * @probe_ops: the kind of probe; is referred to until the probe is removed
 * @data: handed to @probe_ops->init for each function
 *
 * Functions that have this kind of probe in @tr keep theirs as it is. No
 * reference is taken on @tr, nor on the modules of the functions. @probe_ops->free
 * undoes each @probe_ops->init, on failure too; for a reference count in @data the
 * caller therefore holds one of its own.
 *
 * Context: Sleeps. Takes ftrace_probe_mutex and ftrace_lock. The caller holds
 * the locks that @probe_ops->free needs.
 * Return: The number of functions that got the probe, at least 1; -EINVAL if
 * no function gets it; -EAGAIN if text of the probe's functions has just
 * gone; -ENOMEM; an error of @probe_ops->init, or another one of attaching. After
 * an error all is as it was.
 */
int register_ftrace_function_probe(char *glob, struct trace_array *tr,
				   struct ftrace_probe_ops *probe_ops, void *data)
{
	struct ftrace_probe *probe;
	int ret;

	if (WARN_ON_ONCE(!tr) || *glob == '!')
		return -EINVAL;

	ftrace_retired_wait();
	guard(mutex)(&ftrace_probe_mutex);

	probe = command_probe_find(tr, probe_ops);
	if (!probe || !command_probe_reap(probe))
		probe = command_probe_create(tr, probe_ops);
	if (!probe)
		return -ENOMEM;

	ret = command_probe_grow(probe, glob, data);
	command_probe_reap(probe);
	return ret;
}

/**
 * unregister_ftrace_function_probe_func - take a probe off functions
 * @glob: which functions, without a leading '!'; NULL, "" or "*" for all
 * @tr: the trace array to which the probe belongs
 * @probe_ops: the kind of probe
 *
 * When this returns, @probe_ops->func neither runs for the functions nor will.
 *
 * Context: Sleeps, for some RCU grace periods. Takes ftrace_probe_mutex and
 * ftrace_lock. The caller holds the locks that @probe_ops->free needs.
 * Return: 0; -ENODEV if @tr has no probe of this kind at all; -EINVAL if no such
 * function has it; -ENOMEM or another error of detaching some of several functions.
 * After an error all is as it was.
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_probe *probe;
	int ret;

	if (glob && *glob == '!')
		return -EINVAL;

	guard(mutex)(&ftrace_probe_mutex);

	probe = command_probe_find(tr, probe_ops);
	if (!probe)
		return -ENODEV;

	ret = command_probe_shrink(probe, glob);
	if (!ret)
		command_probe_reap(probe);
	return ret;
}

/**
 * ftrace_init_trace_array - prepare a trace array to have probes
 * @tr: the trace array; nothing happens if it is prepared already
 */
void ftrace_init_trace_array(struct trace_array *tr)
{
	if (tr->flags & TRACE_ARRAY_FL_MOD_INIT)
		return;
	INIT_LIST_HEAD(&tr->func_probes);
	tr->flags |= TRACE_ARRAY_FL_MOD_INIT;
}

/**
 * clear_ftrace_function_probes - take all probes of a trace array off
 * @tr: the trace array, which is about to go
 *
 * When this returns, nothing here refers to @tr.
 *
 * Context: Sleeps, for some RCU grace periods. The caller holds event_mutex,
 * which keeps command_probe_reap_work out as well.
 */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct ftrace_probe *probe, *next;

	lockdep_assert_held(&event_mutex);
	guard(mutex)(&ftrace_probe_mutex);

	list_for_each_entry_safe(probe, next, &tr->func_probes, tr_node) {
		scoped_guard(mutex, &ftrace_lock)
			command_probe_detach_all(probe);
		WARN_ON_ONCE(command_probe_reap(probe));
	}
}

/**
 * ftrace_command_forget_range - take the probes off text that goes away
 * @start: first address of the text
 * @end: first address after it
 *
 * It runs before the range is dropped from the filters of all ops, as it looks
 * for a probe's sites in the probe's filter. Needs no memory.
 *
 * Context: The caller holds ftrace_lock. The probes' ->free are called later, from
 * a workqueue.
 */
void ftrace_command_forget_range(unsigned long start, unsigned long end)
{
	struct ftrace_probe *probe;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(probe, &ftrace_probes, node) {
		if (ftrace_site_set_meets(probe->ops.filter->only, start, end))
			schedule_work(&command_probe_reap_work);
	}
}

/**
 * ftrace_command_show - print the probes, as set_ftrace_filter shows them
 * @m: where to
 * @tr: whose probes, a line for each site
 *
 * Context: The caller holds ftrace_lock.
 */
void ftrace_command_show(struct seq_file *m, struct trace_array *tr)
{
	struct ftrace_probe *probe;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(probe, &tr->func_probes, tr_node) {
		const struct ftrace_site_set *sites = probe->ops.filter->only;
		struct ftrace_probe_ops *kind = probe->kind;

		for (unsigned int i = 0; i < ftrace_site_set_nr(sites); i++) {
			unsigned long ip = sites->ip[i];

			if (kind->print)
				kind->print(m, ip, kind, probe->data);
			else
				seq_printf(m, "%ps:%ps\n", (void *)ip, (void *)kind->func);
		}
	}
}

/* In the file hooks */

static void command_show_hook(struct ftrace_hooks *hooks, unsigned long addr, void *object)
{
	const struct ftrace_probe *probe = container_of(object, struct ftrace_probe, ops);
	const char *instance = probe->tr->name;

	ftrace_hooks_add(hooks, addr, "command", "%s%s%ps", instance ?: "", instance ? ":" : "",
			 probe->kind->func);
}

DEFINE_FTRACE_HOOK_KIND(command_hook_kind, ftrace_probe_func, command_show_hook);

/* The mapper: data of each site */

#define COMMAND_DATA_BITS	10

/**
 * struct command_data - data of one site
 * @node: in the bucket
 * @ip: the site
 * @data: belongs to the kind of probe
 * @rcu: frees the entry a grace period after it left its bucket: a callback from
 *	 another site may be on it, with preemption disabled
 */
struct command_data {
	struct hlist_node	node;
	unsigned long		ip;
	void			*data;
	struct rcu_head		rcu;
};

struct ftrace_func_mapper {
	DECLARE_HASHTABLE(entries, COMMAND_DATA_BITS);
};

static struct command_data *command_data_find(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct command_data *entry;

	if (!mapper)
		return NULL;
	hash_for_each_possible_rcu_notrace(mapper->entries, entry, node, ip) {
		if (entry->ip == ip)
			return entry;
	}
	return NULL;
}

/**
 * allocate_ftrace_func_mapper - make an empty map from sites to data
 *
 * Context: sleeps.
 * Return: the map, for free_ftrace_func_mapper(), or NULL without memory.
 */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	return kzalloc_obj(struct ftrace_func_mapper);
}

/**
 * ftrace_func_mapper_find_ip - find the data of a site
 * @mapper: the map, or NULL for one without entries
 * @ip: the site
 *
 * The caller sees to it that @ip is not removed while it uses the result: a
 * callback does so by being called from @ip.
 *
 * Context: any, NMI included, where RCU is watching.
 * Return: the place of the data, which can be changed there if it is no larger than
 * a pointer; NULL if there is none.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct command_data *entry;

	/* For the others in the bucket, which may be removed meanwhile. */
	rcu_read_lock_sched_notrace();
	entry = command_data_find(mapper, ip);
	rcu_read_unlock_sched_notrace();

	return entry ? &entry->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - add the data of a site
 * @mapper: the map
 * @ip: the site
 * @data: the data
 *
 * Context: sleeps. Only from a probe's ->init, which serializes the changes.
 * Return: 0; -EBUSY if there is an entry for @ip already; -ENOMEM. An error
 * leaves the map as it was.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper, unsigned long ip, void *data)
{
	struct command_data *entry;

	if (command_data_find(mapper, ip))
		return -EBUSY;

	entry = kmalloc_obj(*entry);
	if (!entry)
		return -ENOMEM;
	entry->ip = ip;
	entry->data = data;
	hash_add_rcu(mapper->entries, &entry->node, ip);
	return 0;
}

/**
 * ftrace_func_mapper_remove_ip - forget the data of a site
 * @mapper: the map, or NULL for one without entries
 * @ip: the site, from which no callback comes any more
 *
 * Context: only from a probe's ->free, which serializes the changes.
 * Return: the data of @ip, which is the caller's again; NULL if there is no
 * entry, or if the data was NULL.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct command_data *entry = command_data_find(mapper, ip);
	void *data;

	if (!entry)
		return NULL;
	data = entry->data;
	hash_del_rcu(&entry->node);
	kfree_rcu(entry, rcu);
	return data;
}

/**
 * free_ftrace_func_mapper - free a map and its entries
 * @mapper: the map, which no callback uses any more, or NULL
 * @free_func: called with the data of each entry that is left, or NULL
 *
 * Context: that of @free_func; sleeping is no problem here.
 */
void free_ftrace_func_mapper(struct ftrace_func_mapper *mapper, ftrace_mapper_func free_func)
{
	struct command_data *entry;
	struct hlist_node *next;
	unsigned int i;

	if (!mapper)
		return;
	hash_for_each_safe(mapper->entries, i, next, entry, node) {
		if (free_func)
			free_func(entry->data);
		kfree(entry);
	}
	kfree(mapper);
}

/* Commands */

static struct ftrace_func_command *ftrace_command_find(const char *name)
{
	struct ftrace_func_command *cmd;

	lockdep_assert_held(&ftrace_command_mutex);

	list_for_each_entry(cmd, &ftrace_commands, list) {
		if (!strcmp(cmd->name, name))
			return cmd;
	}
	return NULL;
}

/**
 * register_ftrace_command - make a command known
 * @cmd: the command; belongs to the list until it is unregistered
 *
 * Context: Sleeps. Takes ftrace_command_mutex.
 * Return: 0, or -EBUSY if there is a command of that name.
 */
__init int register_ftrace_command(struct ftrace_func_command *cmd)
{
	guard(mutex)(&ftrace_command_mutex);

	if (ftrace_command_find(cmd->name))
		return -EBUSY;

	list_add(&cmd->list, &ftrace_commands);
	return 0;
}

/**
 * unregister_ftrace_command - forget a command
 * @cmd: the command; the probes that it set stay
 *
 * Context: Sleeps. Takes ftrace_command_mutex, so that the command does not run
 * any more when this returns.
 * Return: 0, or -ENODEV if there is no command of that name.
 */
__init int unregister_ftrace_command(struct ftrace_func_command *cmd)
{
	struct ftrace_func_command *known;

	guard(mutex)(&ftrace_command_mutex);

	known = ftrace_command_find(cmd->name);
	if (!known)
		return -ENODEV;

	list_del_init(&known->list);
	return 0;
}

/**
 * ftrace_command_run - run a command of a filter file
 * @tr: the trace array of the file; NULL if it has none
 * @func: the text before the first colon
 * @command: the text after it, "name[:parameters]"; is cut up
 * @enable: whether the file is the one of functions to trace
 *
 * Context: Sleeps. Takes ftrace_command_mutex, and the command more: the caller
 * holds no lock of those named at the top.
 * Return: 0; -EINVAL if there is no such command; or the command's error, such as
 * -ENODEV without a trace array.
 */
int ftrace_command_run(struct trace_array *tr, char *func, char *command, bool enable)
{
	struct ftrace_func_command *cmd;
	char *params = command;
	char *name = strsep(&params, ":");

	guard(mutex)(&ftrace_command_mutex);

	cmd = ftrace_command_find(name);
	if (!cmd)
		return -EINVAL;

	return cmd->func(tr, NULL, func, name, params, enable);
}
