// SPDX-License-Identifier: GPL-2.0
/*
 * Function commands: what "function:command:parameters" in a filter file does.
 *
 * A command (traceoff, stacktrace, enable_event, ...) puts a probe on sites:
 * something to do each time one of them is called. The commands are defined
 * where the things are that they control. Here is the list of them; the probe,
 * one for each pair of a trace array and a kind (struct ftrace_probe_ops),
 * with an ops that is attached to the probe's sites; and the mapper, in which
 * the kinds keep what they know of each site.
 *
 * Invariants:
 *
 * 1. The sites of a probe are ops.filter->only, which is NULL while there are
 *    none. The ops is attached exactly while there are some.
 * 2. A site gets its ->init before it is attached, and its ->free only when
 *    the wait that follows its detaching is over: a callback always finds what
 *    its kind keeps of the site that was called.
 * 3. Sites of text that went away wait for their ->free in probe->gone. Nobody
 *    sets the probe on those addresses again before they had it.
 * 4. While ftrace_probe_mutex is free, each probe has sites, or gone ones.
 * 5. After ftrace_kill() no site is switched any more. The probes that are there
 *    do nothing from then on, and their memory is never freed.
 *
 * Lock order:
 *	ftrace_command_mutex > event_mutex > trace_types_lock >
 *	ftrace_probe_mutex > ftrace_lock
 * ftrace_command_mutex covers the list of commands, and lets one run at a time.
 * ftrace_probe_mutex covers the life of the probes and all changes of a mapper.
 * The lists of probes, their sites and the gone ones change under ftrace_lock
 * too, so either of the two is enough to read them. ->init is called under
 * both. ->free is called without ftrace_lock, for it may switch an event off,
 * and with whatever the kind's own command holds.
 *
 * Contexts: ftrace_probe_func() and ftrace_func_mapper_find_ip() run wherever
 * a function is called, NMIs included, and take no lock. All the rest sleeps.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
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

#include "ftrace_attach.h"
#include "ftrace_command.h"
#include "ftrace_match.h"
#include "ftrace_ops.h"
#include "ftrace_site_set.h"
#include "trace.h"

#define FTRACE_MAPPER_BITS	10

/**
 * struct ftrace_mapper_entry - what a kind of probe keeps of one site
 * @node: in the bucket
 * @ip: the site
 * @data: belongs to the kind; callbacks change it in place
 * @rcu: frees the entry after those who walk its bucket have left
 */
struct ftrace_mapper_entry {
	struct hlist_node	node;
	unsigned long		ip;
	void			*data;
	struct rcu_head		rcu;
};

struct ftrace_func_mapper {
	struct hlist_head	buckets[1 << FTRACE_MAPPER_BITS];
};

/**
 * struct ftrace_probe - one kind of probe in one trace array
 * @ops: is attached to the sites
 * @tr: the trace array; clear_ftrace_function_probes() comes before its end
 * @kind: what to do at a call, and how to set up and print it
 * @data: of the kind: set by its ->init, released by its ->free of ip 0
 * @gone: detached sites of text that went away, whose ->free is outstanding
 * @tr_node: in tr->func_probes
 * @node: in ftrace_probes
 */
struct ftrace_probe {
	struct ftrace_ops	ops;
	struct trace_array	*tr;
	struct ftrace_probe_ops	*kind;
	void			*data;
	struct ftrace_site_set	*gone;
	struct list_head	tr_node;
	struct list_head	node;
};

static void ftrace_probe_reap_all(struct work_struct *work);

static LIST_HEAD(ftrace_commands);
static DEFINE_MUTEX(ftrace_command_mutex);

static LIST_HEAD(ftrace_probes);
static DEFINE_MUTEX(ftrace_probe_mutex);
static DECLARE_WORK(ftrace_probe_reap_work, ftrace_probe_reap_all);

/* The mapper */

static struct hlist_head *ftrace_mapper_bucket(struct ftrace_func_mapper *mapper,
					       unsigned long ip)
{
	return &mapper->buckets[hash_long(ip, FTRACE_MAPPER_BITS)];
}

static struct ftrace_mapper_entry *
ftrace_mapper_find(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct ftrace_mapper_entry *entry;

	hlist_for_each_entry_rcu_notrace(entry, ftrace_mapper_bucket(mapper, ip), node) {
		if (entry->ip == ip)
			return entry;
	}
	return NULL;
}

/**
 * allocate_ftrace_func_mapper - make an empty map from sites to data
 *
 * Context: Sleeps.
 * Return: The map, for free_ftrace_func_mapper(), or NULL without memory.
 */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	return kzalloc(sizeof(struct ftrace_func_mapper), GFP_KERNEL);
}

/**
 * ftrace_func_mapper_find_ip - find what is kept of a site
 * @mapper: the map, or NULL for one without entries
 * @ip: the site
 *
 * The caller sees to it that @ip is not removed while it uses the result: a
 * callback does so by being called from @ip.
 *
 * Context: Any, NMI included, where RCU is watching. Takes no lock, and calls
 * nothing that is traced.
 * Return: Where the data of @ip is kept, so that data no larger than a pointer
 * can be changed in place; NULL if there is none.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper,
				  unsigned long ip)
{
	struct ftrace_mapper_entry *entry;

	if (!mapper)
		return NULL;

	/* For the others in the bucket, which may be removed meanwhile. */
	rcu_read_lock_sched_notrace();
	entry = ftrace_mapper_find(mapper, ip);
	rcu_read_unlock_sched_notrace();

	return entry ? &entry->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - keep something of a site
 * @mapper: the map
 * @ip: the site
 * @data: what to keep
 *
 * Context: Sleeps. Only from a probe's ->init, which serializes the changes.
 * Return: 0; -EBUSY if there is an entry for @ip already; -ENOMEM. An error
 * leaves the map as it was.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper,
			      unsigned long ip, void *data)
{
	struct ftrace_mapper_entry *entry;

	lockdep_assert_held(&ftrace_probe_mutex);

	if (ftrace_mapper_find(mapper, ip))
		return -EBUSY;

	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;

	entry->ip = ip;
	entry->data = data;
	hlist_add_head_rcu(&entry->node, ftrace_mapper_bucket(mapper, ip));
	return 0;
}

/**
 * ftrace_func_mapper_remove_ip - forget what is kept of a site
 * @mapper: the map
 * @ip: the site, from which no callback comes any more
 *
 * Context: Only from a probe's ->free, which serializes the changes.
 * Return: The data of @ip, which is the caller's again; NULL if there is no
 * entry, or if the data was NULL.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper,
				   unsigned long ip)
{
	struct ftrace_mapper_entry *entry;
	void *data;

	lockdep_assert_held(&ftrace_probe_mutex);

	entry = mapper ? ftrace_mapper_find(mapper, ip) : NULL;
	if (!entry)
		return NULL;

	data = entry->data;
	hlist_del_rcu(&entry->node);

	/*
	 * Callbacks from other sites may be on this entry, on their way down
	 * the bucket. They have preemption off and RCU watching, see
	 * ftrace_probe_func(), so a plain grace period is enough for them.
	 */
	kfree_rcu(entry, rcu);
	return data;
}

/**
 * free_ftrace_func_mapper - free a map and its entries
 * @mapper: the map, which no callback uses any more, or NULL
 * @free_func: called with the data of each entry that is left, or NULL
 *
 * Context: That of @free_func; sleeping is no problem here.
 */
void free_ftrace_func_mapper(struct ftrace_func_mapper *mapper,
			     ftrace_mapper_func free_func)
{
	struct ftrace_mapper_entry *entry;
	struct hlist_node *next;

	if (!mapper)
		return;

	for (unsigned int i = 0; i < ARRAY_SIZE(mapper->buckets); i++) {
		hlist_for_each_entry_safe(entry, next, &mapper->buckets[i], node) {
			if (free_func)
				free_func(entry->data);
			kfree(entry);
		}
	}
	kfree(mapper);
}

/* The life of a probe */

static void ftrace_probe_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct ftrace_probe *probe = container_of(ops, struct ftrace_probe, ops);
	int bit;

	/*
	 * The stacktrace command leaves out a fixed number of frames: this
	 * function has to be one, and to be called without one in between.
	 * That is why recursion is stopped here and not by a flag of the ops.
	 */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	if (rcu_is_watching() && !ftrace_disabled)
		probe->kind->func(ip, parent_ip, probe->tr, probe->kind, probe->data);

	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_site_set *ftrace_probe_sites(const struct ftrace_probe *probe)
{
	return probe->ops.filter->only;
}

static struct ftrace_probe *ftrace_probe_find(struct trace_array *tr,
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

static struct ftrace_probe *ftrace_probe_create(struct trace_array *tr,
						struct ftrace_probe_ops *kind)
{
	struct ftrace_probe *probe;

	probe = kzalloc(sizeof(*probe), GFP_KERNEL);
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
 * If that was the last one, the ops is silenced, and its gate tells who is inside.
 * Otherwise a call that left the site in time may be anywhere between the
 * trampoline's first instruction and the end of ftrace_probe_func(). A task can be
 * preempted there, but does not give up the CPU by itself: RCU-tasks waits until
 * each task has done so.
 */
static void ftrace_probe_wait(struct ftrace_probe *probe)
{
	if (probe->ops.flags & FTRACE_OPS_FL_ENABLED)
		ftrace_wait_for_tasks();
	else
		ftrace_ops_wait(&probe->ops);
}

/* Undo the ->init of the first @nr of @sites; no callback comes from them. */
static void ftrace_probe_free_sites(struct ftrace_probe *probe,
				    const struct ftrace_site_set *sites, unsigned int nr)
{
	struct ftrace_probe_ops *kind = probe->kind;

	lockdep_assert_held(&ftrace_probe_mutex);

	if (!kind->free)
		return;

	for (unsigned int i = 0; i < nr; i++)
		kind->free(kind, probe->tr, sites->ip[i], probe->data);
}

/* Finish off sites that have just been detached; takes @sites. */
static void ftrace_probe_retire_sites(struct ftrace_probe *probe,
				      struct ftrace_site_set *sites)
{
	if (!sites)
		return;

	ftrace_probe_wait(probe);
	ftrace_probe_free_sites(probe, sites, sites->nr);
	ftrace_site_set_free(sites);
}

static struct ftrace_site_set *ftrace_probe_take_gone(struct ftrace_probe *probe)
{
	struct ftrace_site_set *gone;

	guard(mutex)(&ftrace_lock);

	gone = probe->gone;
	probe->gone = NULL;
	return gone;
}

static bool ftrace_probe_unlink_unused(struct ftrace_probe *probe)
{
	guard(mutex)(&ftrace_lock);

	if (ftrace_probe_sites(probe) || probe->gone)
		return false;

	list_del(&probe->tr_node);
	list_del(&probe->node);
	return true;
}

/* Return: whether the probe is still there. */
static bool ftrace_probe_reap(struct ftrace_probe *probe)
{
	struct ftrace_probe_ops *kind = probe->kind;

	lockdep_assert_held(&ftrace_probe_mutex);

	ftrace_probe_retire_sites(probe, ftrace_probe_take_gone(probe));

	if (!ftrace_probe_unlink_unused(probe))
		return true;

	/* Each site that there ever was has been waited for, so the ops is idle. */
	if (kind->free)
		kind->free(kind, probe->tr, 0, probe->data);
	kfree(probe);
	return false;
}

/*
 * A kind whose ->free needs a lock needs event_mutex. Those who take sites away
 * one way or another hold it for such a kind; only unloading does not, and
 * leaves the work to this.
 */
static void ftrace_probe_reap_all(struct work_struct *work)
{
	struct ftrace_probe *probe, *next;

	guard(mutex)(&event_mutex);
	guard(mutex)(&ftrace_probe_mutex);

	list_for_each_entry_safe(probe, next, &ftrace_probes, node)
		ftrace_probe_reap(probe);
}

static struct ftrace_probe *ftrace_probe_find_or_create(struct trace_array *tr,
							struct ftrace_probe_ops *kind)
{
	struct ftrace_probe *probe = ftrace_probe_find(tr, kind);

	/* New text may stand where the old went away: invariant 3. */
	if (probe && ftrace_probe_reap(probe))
		return probe;
	return ftrace_probe_create(tr, kind);
}

/* The sites of a probe */

static struct ftrace_site_set *ftrace_probe_match_new(struct ftrace_probe *probe,
						      const char *glob)
{
	struct ftrace_site_set *match __free(site_set) = NULL;
	struct ftrace_site_set *new;

	match = ftrace_match_sites(glob, NULL);
	if (!IS_ERR(match))
		ftrace_site_set_drop_lost(match);
	if (IS_ERR(match) || !ftrace_probe_sites(probe))
		return_ptr(match);

	new = ftrace_site_set_minus(match, ftrace_probe_sites(probe));
	return IS_ERR_OR_NULL(new) ? ERR_PTR(-ENOMEM) : new;
}

static int ftrace_probe_init_sites(struct ftrace_probe *probe, void *init_data,
				   const struct ftrace_site_set *sites, unsigned int *nr)
{
	struct ftrace_probe_ops *kind = probe->kind;
	int ret;

	if (!kind->init) {
		*nr = sites->nr;
		return 0;
	}

	for (*nr = 0; *nr < sites->nr; (*nr)++) {
		ret = kind->init(kind, probe->tr, sites->ip[*nr], init_data, &probe->data);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int ftrace_probe_attach_sites(struct ftrace_probe *probe,
				     const struct ftrace_site_set *new)
{
	struct ftrace_site_set *only __free(site_set) = NULL;
	struct ftrace_filter *filter = probe->ops.filter;
	int ret;

	if (filter->only)
		only = ftrace_site_set_union(filter->only, new);
	else
		only = ftrace_site_set_dup(new);
	if (IS_ERR_OR_NULL(only))
		return -ENOMEM;

	if (filter->only) {
		ret = ftrace_refilter(filter, only, NULL);
	} else {
		filter->only = only;
		ret = ftrace_attach(&probe->ops);
		if (ret)
			filter->only = NULL;
	}
	if (!ret)
		retain_and_null_ptr(only);
	return ret;
}

/*
 * From the match to the attaching in one go, lest text go away or come in
 * between. An error leaves @nr_init of @new with an ->init that is to be undone.
 */
static int ftrace_probe_grow_locked(struct ftrace_probe *probe, const char *glob,
				    void *init_data, struct ftrace_site_set **new,
				    unsigned int *nr_init)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (ftrace_disabled)
		return -ENODEV;

	*new = ftrace_probe_match_new(probe, glob);
	if (IS_ERR(*new))
		return PTR_ERR(*new);
	if (!(*new)->nr)
		return -EINVAL;

	ret = ftrace_probe_init_sites(probe, init_data, *new, nr_init);
	if (ret)
		return ret;
	return ftrace_probe_attach_sites(probe, *new);
}

static int ftrace_probe_grow(struct ftrace_probe *probe, const char *glob, void *init_data)
{
	struct ftrace_site_set *new __free(site_set) = NULL;
	unsigned int nr_init = 0;
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_probe_grow_locked(probe, glob, init_data, &new, &nr_init);
	mutex_unlock(&ftrace_lock);

	if (!ret)
		return new->nr;

	/* They were never attached, so there is nothing to wait for. */
	if (nr_init)
		ftrace_probe_free_sites(probe, new, nr_init);
	return ret;
}

/* The caller takes the sites over. Cannot fail: an instance goes away by this. */
static struct ftrace_site_set *ftrace_probe_detach_all(struct ftrace_probe *probe)
{
	struct ftrace_site_set *sites = ftrace_probe_sites(probe);

	lockdep_assert_held(&ftrace_lock);

	if (sites)
		ftrace_detach(&probe->ops);
	probe->ops.filter->only = NULL;
	return sites;
}

/* @sites are some of the probe's; -errno leaves all of them attached. */
static int ftrace_probe_detach_sites(struct ftrace_probe *probe,
				     const struct ftrace_site_set *sites)
{
	struct ftrace_site_set *keep __free(site_set) = NULL;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	keep = ftrace_site_set_minus(ftrace_probe_sites(probe), sites);
	if (IS_ERR_OR_NULL(keep))
		return -ENOMEM;

	if (!keep->nr) {
		ftrace_site_set_free(ftrace_probe_detach_all(probe));
		return 0;
	}

	ret = ftrace_refilter(probe->ops.filter, keep, NULL);
	if (!ret)
		retain_and_null_ptr(keep);
	return ret;
}

/* Return: those of the probe's sites whose functions match, or an ERR_PTR(). */
static struct ftrace_site_set *ftrace_probe_match_own(struct ftrace_probe *probe,
						      const char *glob)
{
	struct ftrace_site_set *match __free(site_set) = NULL;
	struct ftrace_site_set *others __free(site_set) = NULL;
	struct ftrace_site_set *own;

	match = ftrace_match_sites(glob, NULL);
	if (IS_ERR(match))
		return_ptr(match);

	others = ftrace_site_set_minus(ftrace_probe_sites(probe), match);
	if (IS_ERR_OR_NULL(others))
		return ERR_PTR(-ENOMEM);

	own = ftrace_site_set_minus(ftrace_probe_sites(probe), others);
	return IS_ERR_OR_NULL(own) ? ERR_PTR(-ENOMEM) : own;
}

static bool ftrace_glob_is_all(const char *glob)
{
	return !glob || !*glob || !strcmp(glob, "*");
}

/* Return: the sites that were detached, the caller's now, or an ERR_PTR(). */
static struct ftrace_site_set *ftrace_probe_detach_glob(struct ftrace_probe *probe,
							const char *glob)
{
	struct ftrace_site_set *sites __free(site_set) = NULL;
	int ret;

	guard(mutex)(&ftrace_lock);

	if (ftrace_disabled)
		return ERR_PTR(-ENODEV);
	if (!ftrace_probe_sites(probe))
		return ERR_PTR(-EINVAL);
	if (ftrace_glob_is_all(glob))
		return ftrace_probe_detach_all(probe);

	sites = ftrace_probe_match_own(probe, glob);
	if (IS_ERR(sites))
		return_ptr(sites);
	if (!sites->nr)
		return ERR_PTR(-EINVAL);

	ret = ftrace_probe_detach_sites(probe, sites);
	if (ret)
		return ERR_PTR(ret);
	return_ptr(sites);
}

/* Return: the members of @set from @start up to @end, or NULL without memory. */
static struct ftrace_site_set *ftrace_probe_sites_within(const struct ftrace_site_set *set,
							 unsigned long start, unsigned long end)
{
	struct ftrace_site_set *within;
	unsigned int first = 0, last;

	while (first < set->nr && set->ip[first] < start)
		first++;
	for (last = first; last < set->nr && set->ip[last] < end; last++)
		;

	within = ftrace_site_set_alloc(last - first);
	if (IS_ERR_OR_NULL(within))
		return NULL;

	for (unsigned int i = 0; i < within->nr; i++)
		within->ip[i] = set->ip[first + i];
	return within;
}

/*
 * Return: whether sites wait for their ->free. Without memory the probe keeps
 * what it has: addresses where nothing is, until new text comes to stand there.
 */
static bool ftrace_probe_forget_range(struct ftrace_probe *probe,
				      unsigned long start, unsigned long end)
{
	struct ftrace_site_set *within __free(site_set) = NULL;
	struct ftrace_site_set *gone __free(site_set) = NULL;

	if (!ftrace_probe_sites(probe))
		return false;

	within = ftrace_probe_sites_within(ftrace_probe_sites(probe), start, end);
	if (!within || !within->nr)
		return false;

	if (probe->gone)
		gone = ftrace_site_set_union(probe->gone, within);
	else
		gone = ftrace_site_set_dup(within);
	if (IS_ERR_OR_NULL(gone) || ftrace_probe_detach_sites(probe, within))
		return false;

	swap(probe->gone, gone);
	return true;
}

static void ftrace_probe_remove(struct ftrace_probe *probe)
{
	struct ftrace_site_set *sites;

	mutex_lock(&ftrace_lock);
	sites = ftrace_probe_detach_all(probe);
	mutex_unlock(&ftrace_lock);

	ftrace_probe_retire_sites(probe, sites);
	WARN_ON_ONCE(ftrace_probe_reap(probe));
}

/* For when sites cannot be switched: they call the probe for ever. */
static void ftrace_probe_abandon(struct ftrace_probe *probe)
{
	mutex_lock(&ftrace_lock);
	list_del(&probe->tr_node);
	list_del(&probe->node);
	mutex_unlock(&ftrace_lock);

	/* A CPU that read ftrace_disabled before ftrace_kill() may be using probe->tr. */
	ftrace_probe_wait(probe);
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
 * reference is taken on @tr, nor on the modules of the functions. What
 * @probe_ops->init took of @data is given back by @probe_ops->free, on failure
 * too; for a reference count in @data the caller therefore holds one of its own.
 *
 * Context: Sleeps. Takes ftrace_probe_mutex and ftrace_lock. The caller holds
 * what @probe_ops->free needs.
 * Return: The number of functions that got the probe, at least 1; -EINVAL if
 * there are none to get it; -ENODEV after ftrace_kill(); -ENOMEM; what
 * @probe_ops->init returned; or another error of attaching. After an error all
 * is as it was.
 */
int register_ftrace_function_probe(char *glob, struct trace_array *tr,
				   struct ftrace_probe_ops *probe_ops, void *data)
{
	struct ftrace_probe *probe;
	int ret;

	if (WARN_ON_ONCE(!tr) || *glob == '!')
		return -EINVAL;

	guard(mutex)(&ftrace_probe_mutex);

	probe = ftrace_probe_find_or_create(tr, probe_ops);
	if (!probe)
		return -ENOMEM;

	ret = ftrace_probe_grow(probe, glob, data);
	ftrace_probe_reap(probe);
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
 * ftrace_lock. The caller holds what @probe_ops->free needs.
 * Return: 0; -ENODEV if @tr has no probe of this kind at all, or after
 * ftrace_kill(); -EINVAL if none of the functions has it; -ENOMEM or another
 * error of detaching some of several functions. After an error all is as it was.
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_site_set *sites;
	struct ftrace_probe *probe;

	if (glob && *glob == '!')
		return -EINVAL;

	guard(mutex)(&ftrace_probe_mutex);

	probe = ftrace_probe_find(tr, probe_ops);
	if (!probe)
		return -ENODEV;

	sites = ftrace_probe_detach_glob(probe, glob);
	if (IS_ERR(sites))
		return PTR_ERR(sites);

	ftrace_probe_retire_sites(probe, sites);
	ftrace_probe_reap(probe);
	return 0;
}

/**
 * ftrace_init_trace_array - prepare a trace array to have probes
 * @tr: the trace array
 */
void ftrace_init_trace_array(struct trace_array *tr)
{
	INIT_LIST_HEAD(&tr->func_probes);
	INIT_LIST_HEAD(&tr->mod_trace);
	INIT_LIST_HEAD(&tr->mod_notrace);
}

/**
 * clear_ftrace_function_probes - take all probes of a trace array off
 * @tr: the trace array, which is about to go
 *
 * When this returns, nothing here refers to @tr.
 *
 * Context: Sleeps, for some RCU grace periods. The caller holds event_mutex,
 * which keeps ftrace_probe_reap_work out as well.
 */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct ftrace_probe *probe, *next;

	lockdep_assert_held(&event_mutex);
	guard(mutex)(&ftrace_probe_mutex);

	list_for_each_entry_safe(probe, next, &tr->func_probes, tr_node) {
		if (ftrace_disabled)
			ftrace_probe_abandon(probe);
		else
			ftrace_probe_remove(probe);
	}
}

/**
 * ftrace_command_forget_range - take the probes off text that goes away
 * @start: first address of the text
 * @end: first address after it
 *
 * Comes before whoever else drops the range from the filters of all ops: a
 * site is known by its being in the probe's filter.
 *
 * Context: Sleeps. The caller holds ftrace_lock. The probes' ->free are called
 * later, from a workqueue.
 */
void ftrace_command_forget_range(unsigned long start, unsigned long end)
{
	struct ftrace_probe *probe;
	bool some = false;

	lockdep_assert_held(&ftrace_lock);

	if (ftrace_disabled)
		return;

	list_for_each_entry(probe, &ftrace_probes, node) {
		if (ftrace_probe_forget_range(probe, start, end))
			some = true;
	}

	if (some)
		schedule_work(&ftrace_probe_reap_work);
}

static void ftrace_probe_show_site(struct seq_file *m, struct ftrace_probe *probe,
				   unsigned long ip)
{
	struct ftrace_probe_ops *kind = probe->kind;

	if (kind->print)
		kind->print(m, ip, kind, probe->data);
	else
		seq_printf(m, "%ps:%ps\n", (void *)ip, (void *)kind->func);
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
	struct ftrace_site_set *sites;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(probe, &tr->func_probes, tr_node) {
		sites = ftrace_probe_sites(probe);
		for (unsigned int i = 0; sites && i < sites->nr; i++)
			ftrace_probe_show_site(m, probe, sites->ip[i]);
	}
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
 * ftrace_command_run - do what a line of a filter file asks for
 * @tr: the trace array of the file; NULL if it has none
 * @func: what stood before the first colon
 * @command: what came after it, "name[:parameters]"; is cut up
 * @enable: whether the file is the one of functions to trace
 *
 * Context: Sleeps. Takes ftrace_command_mutex, and under it whatever the
 * command takes: the caller holds none of the locks named at the top.
 * Return: 0; -EINVAL if there is no such command; or what the command returned,
 * such as -ENODEV without a trace array.
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
