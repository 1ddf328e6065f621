// SPDX-License-Identifier: GPL-2.0
/*
 * Hashes of (site, direct function): the arguments of update_ftrace_direct_add() and its
 * like. They are the caller's, and the engine does not keep them.
 */
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "../trace.h"

#define HASH_MAX_BITS	16

static struct hlist_head *hash_bucket(const struct ftrace_hash *hash, unsigned long ip)
{
	return &hash->buckets[hash->size_bits ? hash_long(ip, hash->size_bits) : 0];
}

/**
 * alloc_ftrace_hash - make an empty hash
 * @size_bits: binary logarithm of the number of buckets
 *
 * Context: sleeps.
 * Return: the hash, for free_ftrace_hash(); or NULL.
 */
struct ftrace_hash *alloc_ftrace_hash(int size_bits)
{
	struct ftrace_hash *hash = kzalloc_obj(*hash);

	if (!hash)
		return NULL;
	hash->size_bits = min(size_bits, HASH_MAX_BITS);
	hash->buckets = kvcalloc(1UL << hash->size_bits, sizeof(*hash->buckets), GFP_KERNEL);
	if (!hash->buckets) {
		kfree(hash);
		return NULL;
	}
	return hash;
}

/**
 * free_ftrace_hash - free a hash with its entries
 * @hash: the hash, or NULL
 */
void free_ftrace_hash(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *next;

	if (!hash)
		return;
	for (unsigned long i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry_safe(entry, next, &hash->buckets[i], hlist)
			kfree(entry);
	}
	kvfree(hash->buckets);
	kfree(hash);
}

/**
 * add_ftrace_hash_entry - add an entry to a hash
 * @hash: the hash, which has no entry of that site
 * @entry: the entry; free_ftrace_hash() frees it unless ftrace_hash_remove() comes first
 */
void add_ftrace_hash_entry(struct ftrace_hash *hash, struct ftrace_func_entry *entry)
{
	hlist_add_head(&entry->hlist, hash_bucket(hash, entry->ip));
	hash->count++;
}

/**
 * add_ftrace_hash_entry_direct - add a new entry to a hash
 * @hash: the hash, which has no entry of that site
 * @ip: the site
 * @direct: its direct function
 *
 * Context: sleeps.
 * Return: the entry, or NULL.
 */
struct ftrace_func_entry *add_ftrace_hash_entry_direct(struct ftrace_hash *hash, unsigned long ip,
						       unsigned long direct)
{
	struct ftrace_func_entry *entry = kmalloc_obj(*entry);

	if (entry) {
		*entry = (struct ftrace_func_entry) { .ip = ip, .direct = direct };
		add_ftrace_hash_entry(hash, entry);
	}
	return entry;
}

/**
 * ftrace_hash_remove - take all entries out of a hash, without freeing them
 * @hash: the hash, or NULL
 */
void ftrace_hash_remove(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *next;

	if (!hash)
		return;
	for (unsigned long i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry_safe(entry, next, &hash->buckets[i], hlist)
			hlist_del(&entry->hlist);
	}
	hash->count = 0;
}

/**
 * ftrace_hash_count - how many entries a hash has
 * @hash: the hash, or NULL
 *
 * Return: the number.
 */
unsigned long ftrace_hash_count(struct ftrace_hash *hash)
{
	return hash ? hash->count : 0;
}

/**
 * ftrace_lookup_ip - find the entry of a site
 * @hash: the hash
 * @ip: the site
 *
 * Return: the entry, or NULL.
 */
struct ftrace_func_entry *ftrace_lookup_ip(struct ftrace_hash *hash, unsigned long ip)
{
	struct ftrace_func_entry *entry;

	hlist_for_each_entry(entry, hash_bucket(hash, ip), hlist) {
		if (entry->ip == ip)
			return entry;
	}
	return NULL;
}
