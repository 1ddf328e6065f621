// SPDX-License-Identifier: GPL-2.0
/*
 * The mapper: what a kind of function probe keeps of each of its sites.
 *
 * Callbacks look their own site up, and change what is kept in place. Only a
 * probe's ->init and ->free add and remove entries; ftrace_command.c calls one of
 * them at a time.
 *
 * Invariants:
 *  1. An entry is freed a grace period after it left its bucket, for callbacks
 *     from other sites may be on it, on their way down the bucket. They have
 *     preemption off and RCU watching (see ftrace_probe_func()), so a plain grace
 *     period is enough for them.
 *
 * Contexts: ftrace_func_mapper_find_ip() runs wherever a function is called, NMIs
 * included, takes no lock, and calls nothing that is traced. All the rest sleeps.
 */
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "trace.h"

#define MAPPER_BITS	10

/**
 * struct mapper_entry - what is kept of one site
 * @node: in the bucket
 * @ip: the site
 * @data: belongs to the kind of probe
 * @rcu: frees the entry after those who walk its bucket have left
 */
struct mapper_entry {
	struct hlist_node	node;
	unsigned long		ip;
	void			*data;
	struct rcu_head		rcu;
};

struct ftrace_func_mapper {
	DECLARE_HASHTABLE(entries, MAPPER_BITS);
};

static struct mapper_entry *mapper_find(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapper_entry *entry;

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
 * Context: any, NMI included, where RCU is watching.
 * Return: where the data of @ip is kept, so that data no larger than a pointer
 * can be changed in place; NULL if there is none.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapper_entry *entry;

	if (!mapper)
		return NULL;

	/* For the others in the bucket, which may be removed meanwhile. */
	rcu_read_lock_sched_notrace();
	entry = mapper_find(mapper, ip);
	rcu_read_unlock_sched_notrace();

	return entry ? &entry->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - keep something of a site
 * @mapper: the map
 * @ip: the site
 * @data: what to keep
 *
 * Context: sleeps. Only from a probe's ->init, which serializes the changes.
 * Return: 0; -EBUSY if there is an entry for @ip already; -ENOMEM. An error
 * leaves the map as it was.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper, unsigned long ip, void *data)
{
	struct mapper_entry *entry;

	if (mapper_find(mapper, ip))
		return -EBUSY;

	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->ip = ip;
	entry->data = data;
	hash_add_rcu(mapper->entries, &entry->node, ip);
	return 0;
}

/**
 * ftrace_func_mapper_remove_ip - forget what is kept of a site
 * @mapper: the map, or NULL for one without entries
 * @ip: the site, from which no callback comes any more
 *
 * Context: only from a probe's ->free, which serializes the changes.
 * Return: the data of @ip, which is the caller's again; NULL if there is no
 * entry, or if the data was NULL.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapper_entry *entry = mapper ? mapper_find(mapper, ip) : NULL;
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
	struct mapper_entry *entry;
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
