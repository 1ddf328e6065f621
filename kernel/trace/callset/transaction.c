// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions: changes of which ops is attached to which sites, made as a whole
 * or not at all.
 *
 *	plan	which records go from which callset to which; the text at each
 *		is compared with the record; trampolines of the
 *		callsets that are new
 *	apply	records, and the text in batches
 *	retire	callsets that no record names any more
 *
 * Invariants:
 *  1. Only planning can fail. It changes no text, and no record but those that it
 *     puts into quarantine.
 *  2. The mapping from callset to callset is computed once for each callset
 *     and each change of the transaction, not once for each record.
 *  3. A site whose text differs from its record is quarantined: reported,
 *     and left alone by this and all later transactions. An ops that wants such a
 *     site alone, or goes around its function, gets an error; others go on without
 *     the site.
 *  4. Through a transaction, an ops that stays attached to a site sees every
 *     call exactly once: both the old and the new target call it, and a CPU
 *     calls one of them.
 *  5. Detaching an ops cannot fail. Where there is no memory for a callset without
 *     it, the sites keep the callset, which passes over the ops from then on.
 *
 * ftrace_lock is held throughout.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "attach.h"
#include "callset.h"
#include "ops.h"
#include "quarantine.h"
#include "report.h"
#include "site_set.h"
#include "sites.h"
#include "../trace.h"

/**
 * struct transaction_cursor - tests ascending addresses against a site set
 * @set: the set
 * @i: its first address that is not below those tested so far
 */
struct transaction_cursor {
	const struct ftrace_site_set	*set;
	unsigned int			i;
};

/**
 * struct ftrace_change - the part of a transaction that is about one ops
 * @ops: the ops
 * @wanted: whether it is to be called at all after the transaction
 * @only: sites to attach to; no set means all
 * @not: sites to leave out, if there is a set
 * @out: more sites to leave out, as they are recorded too often
 * @each: for a direct ops whose sites have a function each: by the index in @only, the number
 *	  of the site's new callset plus one, or 0 if that is not known yet; or NULL
 * @map: from old to new callset: index = 2 * number + (the ops wants the site);
 *	 the number that it maps to plus one, or 0 if that is not known yet. An xarray
 *	 has no memory when the tracers that the command line names are attached
 * @nr_map: how many indexes it has
 * @last: the index that was looked up last
 * @last_to: the number that it maps to
 */
struct ftrace_change {
	struct ftrace_ops	*ops;
	bool			wanted;
	struct transaction_cursor only;
	struct transaction_cursor not;
	struct transaction_cursor out;
	u32			*each;
	u32			*map;
	unsigned int		nr_map;
	unsigned long		last;
	u32			last_to;
};

/**
 * struct transaction_side - the callset that a record comes from, or goes to
 * @nr: its number
 * @cs: the callset, NULL for number 0
 * @target: the target of its sites, unless they call a stub each
 * @mark: the flags that its records keep from then on
 * @stubs: its sites call a stub each
 */
struct transaction_side {
	u32			nr;
	u32			mark;
	bool			stubs;
	struct ftrace_callset	*cs;
	unsigned long		target;
};

/**
 * struct transaction - a transaction
 * @change: the changes, applied one after the other
 * @nr: number of @change
 * @table: if not NULL, only its records are concerned
 * @sites: if not NULL, only these sites are concerned
 * @asked: a caller asked for these sites, and gets an error if some are not to be had
 * @fresh: its ops are not attached anywhere yet
 * @moved: records that change their callset
 * @uniform: each change wants all records, or no record
 * @counting: some records go to a callset that counts
 * @quarantined: sites in quarantine that an ops wants, and does not get
 * @quarantined_ip: one of them
 * @from: where the record that was looked at last comes from
 * @to: where the record that was applied last goes
 */
struct transaction {
	struct ftrace_change	*change;
	unsigned int		nr;
	struct ftrace_table	*table;
	const struct ftrace_site_set *sites;
	bool			asked;
	bool			fresh;
	bool			uniform;
	bool			counting;
	unsigned int		moved;
	unsigned int		quarantined;
	unsigned long		quarantined_ip;
	struct transaction_side	from;
	struct transaction_side	to;
};

/*
 * Takes a stretch of records that have the same callset, and go to the same.
 * Inlined with its argument known: most of a transaction's time is spent there.
 */
typedef int (*transaction_func_t)(struct transaction *tx, struct ftrace_table *table,
				  struct ftrace_record *rec, unsigned int nr, void *data);

/* Addresses come in ascending order between two transaction_rewind(). */
static bool transaction_cursor_has(struct transaction_cursor *cursor, unsigned long ip)
{
	const struct ftrace_site_set *set = cursor->set;

	while (cursor->i < set->nr && set->ip[cursor->i] < ip)
		cursor->i++;
	return cursor->i < set->nr && set->ip[cursor->i] == ip;
}

static bool transaction_wants(struct ftrace_change *change, unsigned long ip)
{
	if (!change->wanted)
		return false;
	if (change->only.set && !transaction_cursor_has(&change->only, ip))
		return false;
	if (change->out.set && transaction_cursor_has(&change->out, ip))
		return false;
	return !change->not.set || !transaction_cursor_has(&change->not, ip);
}

static void transaction_rewind(struct transaction *tx)
{
	/* Trampolines are made between two walks: targets are looked up again. */
	tx->from = (struct transaction_side) { };
	tx->to = (struct transaction_side) { };
	tx->uniform = true;
	for (unsigned int i = 0; i < tx->nr; i++) {
		struct ftrace_change *change = &tx->change[i];

		change->only.i = 0;
		change->not.i = 0;
		change->out.i = 0;
		if (change->only.set || change->not.set || change->out.set)
			tx->uniform = false;
	}
}

static int transaction_map_grow(struct ftrace_change *change, unsigned long index)
{
	unsigned int nr = roundup_pow_of_two(max(index + 1, 64UL));
	u32 *map = kvrealloc(change->map, nr * sizeof(*map), ftrace_list_gfp() | __GFP_ZERO);

	if (!map)
		return -ENOMEM;
	change->map = map;
	change->nr_map = nr;
	return 0;
}

/*
 * Looks @index up, and keeps it as the last one; makes the callset if needed. @ip
 * is the site for which it is asked.
 */
static noinline int transaction_map_change(struct ftrace_change *change, unsigned long index,
					   unsigned long ip)
{
	struct ftrace_callset *from, *to;

	if (index >= change->nr_map && transaction_map_grow(change, index))
		return -ENOMEM;
	if (!change->map[index]) {
		from = ftrace_callset_get(index / 2);
		to = index % 2 ? ftrace_callset_with(from, change->ops, change->ops->direct_call) :
				 ftrace_callset_without(from, change->ops);
		if (to == ERR_PTR(-EBUSY))
			ftrace_report_conflict(ip, change->ops, from);
		if (IS_ERR(to))
			return PTR_ERR(to);
		change->map[index] = to ? to->nr + 1 : 1;
	}
	change->last = index;
	change->last_to = change->map[index] - 1;
	return 0;
}

/* The function that a direct ops wants a site to call; 0 if it has none for it. */
static unsigned long transaction_direct(const struct ftrace_change *change,
					const struct ftrace_callset *from, unsigned long ip)
{
	const struct ftrace_ops *ops = change->ops;
	struct ftrace_func_entry *entry = NULL;

	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && ops->direct_hash)
		entry = ftrace_lookup_ip(ops->direct_hash, ip);
	if (entry)
		return entry->direct;
	return from && from->direct == ops ? from->direct_addr : 0;
}

/* Where the ops is direct with another function for each site, the callset is of this site. */
static noinline long transaction_map_each(struct ftrace_change *change, u32 nr, unsigned long ip)
{
	struct ftrace_callset *from = ftrace_callset_get(nr), *to = from;
	u32 *known = &change->each[change->only.i];
	unsigned long addr;

	if (*known)
		return *known - 1;
	/* There is none for new text of which its owner has not been told. */
	addr = transaction_direct(change, from, ip);
	if (addr)
		to = ftrace_callset_with(from, change->ops, addr);
	if (to == ERR_PTR(-EBUSY))
		ftrace_report_conflict(ip, change->ops, from);
	if (IS_ERR(to))
		return PTR_ERR(to);
	*known = to ? to->nr + 1 : 1;
	return *known - 1;
}

/*
 * The new callset of a record, or an error from making it. Neighbours mostly
 * have the same callset, so the last answer mostly serves.
 */
static __always_inline long transaction_map(struct transaction *tx, unsigned long ip, u32 nr)
{
	for (unsigned int i = 0; i < tx->nr; i++) {
		struct ftrace_change *change = &tx->change[i];
		bool wants = transaction_wants(change, ip);
		unsigned long index = 2UL * nr + wants;

		if (unlikely(change->each && wants)) {
			long to = transaction_map_each(change, nr, ip);

			if (to < 0)
				return to;
			nr = to;
			continue;
		}
		if (unlikely(index != change->last)) {
			int ret = transaction_map_change(change, index, ip);

			if (ret)
				return ret;
		}
		nr = change->last_to;
	}
	return nr;
}

/* Looks up a callset for transaction_apply_recs(); the last one is kept. */
static __always_inline void transaction_side_set(struct transaction_side *side, u32 nr)
{
	if (likely(side->nr == nr))
		return;
	side->nr = nr;
	side->cs = ftrace_callset_get(nr);
	side->target = ftrace_callset_target(side->cs);
	side->stubs = side->cs && side->cs->counts;
	side->mark = side->cs ? FTRACE_STATE_TOUCHED : 0;
	if (side->cs && (side->cs->direct || side->cs->flags & FTRACE_OPS_FL_IPMODIFY))
		side->mark |= FTRACE_STATE_MODIFIED;
}

/*
 * Gets the target of a record's site, and how much farther the sites of the next ones call.
 * Returns for how many of the records this holds, at least 1.
 */
static __always_inline unsigned int transaction_side_targets(const struct transaction_side *side,
							     struct ftrace_table *table,
							     struct ftrace_record *rec,
							     unsigned int nr, unsigned long *target,
							     unsigned int *step)
{
	if (ARCH_FTRACE_STUB_SIZE && unlikely(side->stubs)) {
		*step = ARCH_FTRACE_STUB_SIZE;
		return ftrace_stubs_target(side->cs, table, rec, nr, target);
	}
	*target = side->target;
	*step = 0;
	return nr;
}

/* How many sites are as they should be, before the first that is not. */
static __always_inline unsigned int transaction_side_check(const struct transaction_side *side,
							   struct ftrace_table *table,
							   struct ftrace_record *rec,
							   unsigned int nr)
{
	unsigned int done = 0, n, ok, step;
	unsigned long target;

	do {
		n = transaction_side_targets(side, table, rec + done, nr - done, &target, &step);
		ok = arch_ftrace_check_sites(table->base, rec + done, n, target, step);
		done += ok;
	} while (ok == n && done < nr);
	return done;
}

static noinline void transaction_side_quarantine(const struct transaction_side *side,
						 struct ftrace_table *table,
						 struct ftrace_record *rec)
{
	unsigned long target;
	unsigned int step;

	transaction_side_targets(side, table, rec, 1, &target, &step);
	ftrace_quarantine(rec, ftrace_rec_ip(table, rec), target);
}

static __always_inline int transaction_for_sites(struct transaction *tx, transaction_func_t fn,
						 void *data)
{
	struct ftrace_table *table = NULL;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < tx->sites->nr; i++) {
		unsigned long ip = tx->sites->ip[i];
		unsigned int at;

		if (!table || ip < table->start || ip >= table->end)
			table = ftrace_table_find(ip);
		if (!table || table->forming)
			continue;
		at = ftrace_table_lower_bound(table, ip);
		if (at < table->nr && ftrace_rec_ip(table, &table->recs[at]) == ip)
			ret = fn(tx, table, &table->recs[at], 1, data);
	}
	return ret;
}

/* How many records from @i on are in the same state, and are treated alike. */
static __always_inline unsigned int transaction_stretch(const struct transaction *tx,
							const struct ftrace_table *table,
							unsigned int i)
{
	const u32 same = FTRACE_STATE_CALLSET | FTRACE_STATE_QUARANTINE;
	u32 state = table->recs[i].state;
	unsigned int end = i + 1;

	while (tx->uniform && end < table->nr && !((table->recs[end].state ^ state) & same))
		end++;
	return end - i;
}

static __always_inline int transaction_for_table(struct transaction *tx, struct ftrace_table *table,
						 transaction_func_t fn, void *data)
{
	unsigned int nr;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < table->nr; i += nr) {
		nr = transaction_stretch(tx, table, i);
		ret = fn(tx, table, &table->recs[i], nr, data);
	}
	return ret;
}

/* Calls @fn for every record concerned, ascending by address. */
static __always_inline int transaction_for_each(struct transaction *tx, transaction_func_t fn,
						void *data)
{
	struct ftrace_table *table;
	int ret = 0;

	transaction_rewind(tx);
	if (tx->table)
		return transaction_for_table(tx, tx->table, fn, data);
	if (tx->sites)
		return transaction_for_sites(tx, fn, data);
	for_each_ftrace_table(table) {
		if (table->forming)
			continue;
		ret = transaction_for_table(tx, table, fn, data);
		if (ret)
			break;
		cond_resched();
	}
	return ret;
}

/* Notes that a site in quarantine would have been attached. */
static noinline void transaction_note_quarantined(struct transaction *tx, unsigned long ip)
{
	for (unsigned int i = 0; i < tx->nr; i++) {
		if (!transaction_wants(&tx->change[i], ip))
			continue;
		tx->quarantined++;
		tx->quarantined_ip = ip;
	}
}

static __always_inline int transaction_plan_recs(struct transaction *tx, struct ftrace_table *table,
						 struct ftrace_record *rec, unsigned int nr,
						 void *data)
{
	struct ftrace_record *end = rec + nr;
	u32 from = ftrace_rec_callset(rec);
	long to;

	if (ftrace_rec_quarantined(rec)) {
		for (; tx->fresh && rec < end; rec++)
			transaction_note_quarantined(tx, ftrace_rec_ip(table, rec));
		return 0;
	}
	to = transaction_map(tx, ftrace_rec_ip(table, rec), from);
	if (to < 0)
		return to;
	if (to == from)
		return 0;

	transaction_side_set(&tx->from, from);
	transaction_side_set(&tx->to, to);
	if (tx->to.cs && !tx->to.target)
		tx->to.cs->gaining = true;
	if (tx->to.cs && tx->to.cs->counting)
		tx->counting = true;
	for (; rec < end; rec++) {
		nr = transaction_side_check(&tx->from, table, rec, end - rec);
		tx->moved += nr;
		rec += nr;
		if (rec == end)
			break;
		transaction_side_quarantine(&tx->from, table, rec);
		transaction_note_quarantined(tx, ftrace_rec_ip(table, rec));
	}
	return 0;
}

/* Moves records from tx->from to tx->to. */
static __always_inline void transaction_move_recs(struct transaction *tx,
						  struct ftrace_table *table,
						  struct ftrace_record *rec, unsigned int nr,
						  struct ftrace_patch *patch)
{
	u32 to = tx->to.nr, mark = tx->to.mark;

	ftrace_callset_add_sites(tx->from.cs, -(int)nr);
	ftrace_callset_add_sites(tx->to.cs, nr);
	for (unsigned int i = 0; i < nr; i++)
		ftrace_rec_set_callset(&rec[i], to, mark);
	/* Two callsets never share their stubs, nor the word at a site that names one. */
	if (tx->from.target == tx->to.target && !tx->from.stubs && !tx->to.stubs &&
	    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		return;
	arch_ftrace_patch_move(patch, tx->from.target, tx->to.cs);
	for (unsigned int n; nr; rec += n, nr -= n) {
		unsigned long target;
		unsigned int step;

		n = transaction_side_targets(&tx->to, table, rec, nr, &target, &step);
		arch_ftrace_patch_sites(patch, table->base, rec, n, target, step);
	}
}

/* Makes the counts and stubs for records that go to a callset that counts. */
static int transaction_reserve_recs(struct transaction *tx, struct ftrace_table *table,
				    struct ftrace_record *rec, unsigned int nr, void *data)
{
	u32 from = ftrace_rec_callset(rec);
	long to;

	if (ftrace_rec_quarantined(rec))
		return 0;
	to = transaction_map(tx, ftrace_rec_ip(table, rec), from);
	if (to == from)
		return 0;
	transaction_side_set(&tx->to, to);
	if (!tx->to.cs || !tx->to.cs->counting)
		return 0;
	return ftrace_callset_reserve(tx->to.cs, table, rec, nr);
}

static __always_inline int transaction_apply_recs(struct transaction *tx,
						  struct ftrace_table *table,
						  struct ftrace_record *rec, unsigned int nr,
						  void *patch)
{
	u32 from = ftrace_rec_callset(rec);
	long to;

	if (ftrace_rec_quarantined(rec))
		return 0;
	to = transaction_map(tx, ftrace_rec_ip(table, rec), from);
	if (to == from || WARN_ON_ONCE(to < 0))
		return 0;

	transaction_side_set(&tx->from, from);
	transaction_side_set(&tx->to, to);
	transaction_move_recs(tx, table, rec, nr, patch);
	return 0;
}

/* No owner is to believe that a function is watched, or replaced, that is not. */
static int transaction_check_quarantined(struct transaction *tx)
{
	for (unsigned int i = 0; tx->asked && tx->quarantined && i < tx->nr; i++) {
		struct ftrace_ops *ops = tx->change[i].ops;

		if (tx->moved && !(ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)))
			continue;
		ftrace_report_refusal(FTRACE_REFUSED_QUARANTINE, tx->quarantined_ip, ops, NULL);
		return -EFAULT;
	}
	return 0;
}

static int transaction_plan(struct transaction *tx)
{
	int ret;

	ret = transaction_for_each(tx, transaction_plan_recs, NULL) ?:
	      transaction_check_quarantined(tx) ?: ftrace_callsets_establish();
	if (!ret && tx->counting)
		ret = transaction_for_each(tx, transaction_reserve_recs, NULL);
	return ret;
}

static int transaction_run(struct transaction *tx)
{
	struct ftrace_patch *patch;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ret = transaction_plan(tx);
	if (!ret && tx->moved) {
		patch = arch_ftrace_patch_begin(tx->moved);
		transaction_for_each(tx, transaction_apply_recs, patch);
		arch_ftrace_patch_end(patch);
	}
	ftrace_callsets_drop_idle();
	return ret;
}

/* Adds the change of an ops; transaction_finish() frees it. */
static int transaction_add(struct transaction *tx, struct ftrace_ops *ops)
{
	bool has_each = (ops->flags & FTRACE_OPS_FL_DIRECT) && !ops->direct_call;
	struct ftrace_change *change = tx->change;
	u32 *each = NULL;

	/* The room for them doubles. */
	if (!(tx->nr & (tx->nr - 1))) {
		change = kvrealloc(change, array3_size(max(tx->nr, 1u), 2, sizeof(*change)),
				   GFP_KERNEL);
		if (!change)
			return -ENOMEM;
		tx->change = change;
	}
	if (has_each && ops->filter->only) {
		each = kvcalloc(ops->filter->only->nr, sizeof(*each), ftrace_list_gfp());
		if (!each)
			return -ENOMEM;
	}
	change[tx->nr++] = (struct ftrace_change) {
		.ops		= ops,
		.wanted		= ftrace_ops_is_active(ops),
		.only.set	= ops->filter->only,
		.not.set	= ops->filter->not,
		.out.set	= ops->guarded ? ops->filter->throttled : NULL,
		.each		= each,
		.last		= ULONG_MAX,
	};
	return 0;
}

/* Runs a transaction, unless @ret says that its changes are not all there. */
static int transaction_finish(struct transaction *tx, int ret)
{
	if (!ret && tx->nr)
		ret = transaction_run(tx);
	for (unsigned int i = 0; i < tx->nr; i++) {
		kvfree(tx->change[i].map);
		kvfree(tx->change[i].each);
	}
	kvfree(tx->change);
	return ret;
}

/**
 * ftrace_update_attach - attach an ops that is attached nowhere yet
 * @ops: the ops, on the list of those that are registered
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, or as for ftrace_attach(), with callsets left over that
 * ftrace_update_detach() drops.
 */
int ftrace_update_attach(struct ftrace_ops *ops)
{
	struct transaction tx = { .sites = ops->filter->only, .asked = true, .fresh = true };

	return transaction_finish(&tx, transaction_add(&tx, ops));
}

/**
 * ftrace_update_filter - bring all ops with a filter to where they want to be
 * @filter: the filter
 * @sites: if not NULL, no other site is concerned
 * @asked: the caller asked for these sites, and gets an error if some are not to be had
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0, or as for ftrace_attach(), with nothing changed.
 */
int ftrace_update_filter(struct ftrace_filter *filter, const struct ftrace_site_set *sites,
			 bool asked)
{
	struct transaction tx = { .sites = sites, .asked = asked };
	struct ftrace_ops *ops;
	int ret = 0;

	hlist_for_each_entry(ops, &filter->users, filter_user)
		ret = ret ?: transaction_add(&tx, ops);
	return transaction_finish(&tx, ret);
}

/* Whether an ops may want a site in [@start, @end). */
static bool transaction_ops_may_want(const struct ftrace_ops *ops, unsigned long start,
				     unsigned long end)
{
	const struct ftrace_site_set *set = ops->filter->only;

	return ftrace_ops_is_active(ops) && (!set || ftrace_site_set_meets(set, start, end));
}

/* @sole: attach this one, or, if it is NULL, all. */
static int transaction_table(struct ftrace_table *table, const struct ftrace_ops *sole)
{
	struct transaction tx = { .table = table };
	struct ftrace_ops *ops;
	int ret = 0;

	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		if ((!sole || ops == sole) &&
		    transaction_ops_may_want(ops, table->start, table->end))
			ret = ret ?: transaction_add(&tx, ops);
	}
	return transaction_finish(&tx, ret);
}

/**
 * ftrace_update_table - attach the sites of new text to all that want them
 * @table: the new records, all with callset 0
 *
 * Context: ftrace_lock is held; sleeps.
 * Return: 0; or the first error, as for ftrace_attach(), of those that cannot be attached.
 */
int ftrace_update_table(struct ftrace_table *table)
{
	struct ftrace_ops *ops;
	int ret = 0;

	if (!transaction_table(table, NULL))
		return 0;
	/* One of them is not to keep the others away. */
	list_for_each_entry(ops, &ftrace_ops_registered, list) {
		int err = transaction_table(table, ops);

		ret = ret ?: err;
	}
	return ret;
}

/*
 * Where the sites of the callsets of an ops go. Those for which there is no memory
 * stay. Returns how many there may be. *@counting tells whether some go to a callset
 * that counts.
 */
static unsigned int transaction_leave_plan(struct ftrace_ops *ops, bool *counting)
{
	struct ftrace_callset_link *link;
	unsigned int nr = 0;

	for_each_ftrace_link(link, ops) {
		struct ftrace_callset *cs = link->cs, *to;

		if (!cs->nr_sites)
			continue;
		to = ftrace_callset_without(cs, ops);
		if (IS_ERR(to) || (to && ftrace_callset_establish(to)))
			to = cs;
		cs->successor = to;
		cs->leaving = true;
		*counting |= to && to != cs && to->counting;
		nr += cs->nr_sites;
	}
	return nr;
}

static __always_inline int transaction_leave_recs(struct transaction *tx,
						  struct ftrace_table *table,
						  struct ftrace_record *rec, unsigned int nr,
						  void *patch)
{
	struct ftrace_callset *cs;
	unsigned int ok;

	transaction_side_set(&tx->from, ftrace_rec_callset(rec));
	cs = tx->from.cs;
	if (!cs || !cs->leaving || cs->successor == cs)
		return 0;

	transaction_side_set(&tx->to, cs->successor ? cs->successor->nr : 0);
	while (nr) {
		ok = transaction_side_check(&tx->from, table, rec, nr);
		transaction_move_recs(tx, table, rec, ok, patch);
		rec += ok;
		nr -= ok;
		if (!nr)
			break;
		transaction_side_quarantine(&tx->from, table, rec);
		rec++;
		nr--;
	}
	return 0;
}

/* The sites of a callset stay where there is no memory for them to leave. */
static int transaction_leave_reserve_recs(struct transaction *tx, struct ftrace_table *table,
					  struct ftrace_record *rec, unsigned int nr, void *data)
{
	struct ftrace_callset *cs = ftrace_callset_get(ftrace_rec_callset(rec));

	if (!cs || !cs->leaving || !cs->successor || !cs->successor->counting)
		return 0;
	if (ftrace_callset_reserve(cs->successor, table, rec, nr))
		cs->successor = cs;
	return 0;
}

/**
 * ftrace_update_detach - take an ops away from all its sites and callsets
 * @ops: the ops
 *
 * Context: ftrace_lock is held; sleeps. On return no trampoline calls the ops, and no
 * callset names it.
 */
void ftrace_update_detach(struct ftrace_ops *ops)
{
	struct transaction tx = { .sites = ops->filter->only };
	struct ftrace_callset_link *link;
	struct ftrace_patch *patch;
	struct hlist_node *next;
	bool counting = false;
	unsigned int nr;

	lockdep_assert_held(&ftrace_lock);

	if (hlist_empty(&ops->callsets))
		return;
	nr = transaction_leave_plan(ops, &counting);
	if (counting)
		transaction_for_each(&tx, transaction_leave_reserve_recs, NULL);
	/* With some room for the CALLs of trampolines. */
	patch = arch_ftrace_patch_begin(nr + 16);
	if (nr)
		transaction_for_each(&tx, transaction_leave_recs, patch);
	for_each_ftrace_link_safe(link, next, ops) {
		link->cs->leaving = false;
		ftrace_callset_silence(link, patch);
	}
	arch_ftrace_patch_end(patch);
	ftrace_callsets_drop_idle();
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/transaction_kunit.c"
#include "tests/throttle_kunit.c"
#endif
