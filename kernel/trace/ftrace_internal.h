/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of function tracing share, and nobody else sees.
 *
 * Words: a site is one compiler-made call at the head of a function; a record
 * (struct dyn_ftrace) is a site at run time; a table holds the sorted records
 * of one piece of text; a callset is the ordered list of ops that a site
 * calls; a transaction changes the callsets of many sites, or of none.
 *
 * Lock order:
 *	event_mutex > trace_types_lock > ftrace_lock > text_mutex
 * ftrace_lock covers the list of ops, all filters, the tables, the callsets
 * and every transaction. ftrace_list_func() and ftrace_site_find() run without it:
 * retired objects are freed only after the grace periods that ftrace_retire()
 * names.
 */
#ifndef _KERNEL_TRACE_FTRACE_INTERNAL_H
#define _KERNEL_TRACE_FTRACE_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rbtree_latch.h>
#include <linux/rcupdate.h>

#include "ftrace_gate.h"

struct mod_kallsyms;
struct module;
struct orc_entry;
struct ftrace_profile;
struct ftrace_site_set;
struct seq_file;
struct trace_array;

/**
 * struct ftrace_retiree - something that readers without a lock may still use
 * @node: links the ones that wait
 * @hide: if not NULL, called with ftrace_lock held once no task or CPU can be
 *	  in code that is going away; makes the object unfindable
 * @free: called once no reader is left
 */
struct ftrace_retiree {
	struct list_head	node;
	void			(*hide)(struct ftrace_retiree *retiree);
	void			(*free)(struct ftrace_retiree *retiree);
};

/* ftrace_ops.c */

extern struct mutex ftrace_lock;
extern struct ftrace_ops global_ops;
extern struct list_head ftrace_ops_registered;
extern int ftrace_disabled;

void ftrace_ops_init(struct ftrace_ops *ops);
bool ftrace_ops_is_active(const struct ftrace_ops *ops);
bool ftrace_ops_is_permanent(const struct ftrace_ops *ops);
void ftrace_retire(struct ftrace_retiree *retiree);
void ftrace_wait_for_tasks(void);
void *ftrace_ops_callback(const struct ftrace_ops *ops);

/* ftrace_attach.c */

int ftrace_ops_register(struct ftrace_ops *ops);
int ftrace_ops_unregister(struct ftrace_ops *ops);

/* For the functions that call several ops; its protection is the caller's. */
static __always_inline void ftrace_ops_call(unsigned long ip, unsigned long parent_ip,
					    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (!(ops->flags & FTRACE_OPS_FL_RCU) || rcu_is_watching())
		ops->func(ip, parent_ip, ops, fregs);
}

/* ftrace_pid.c */

void ftrace_pid_update_ops(struct ftrace_ops *ops);
bool ftrace_pids_enabled(struct ftrace_ops *ops);

/* ftrace_update.c or, without sites to switch, ftrace_static.c */

int ftrace_attach(struct ftrace_ops *ops);
void ftrace_detach(struct ftrace_ops *ops);
int ftrace_update_all(void);
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);

/* ftrace_callset.c or, without sites to switch, ftrace_static.c */

void ftrace_list_func(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *op, struct ftrace_regs *fregs);

#ifdef CONFIG_DYNAMIC_FTRACE

/*
 * A record's state word:
 *
 *	 31          30        29        28        24 23               0
 *	+-----------+---------+---------+------------+------------------+
 *	| quarantine| touched | modified| (reserved) |  callset number  |
 *	+-----------+---------+---------+------------+------------------+
 *
 * Callset 0 has no ops: the site is a NOP. A site that ever had some has been
 * touched, and one that had any which may go around its function, modified.
 */
#define FTRACE_STATE_CALLSET	GENMASK(23, 0)
#define FTRACE_STATE_MODIFIED	BIT(29)
#define FTRACE_STATE_TOUCHED	BIT(30)
#define FTRACE_STATE_QUARANTINE	BIT(31)

static_assert(!(FTRACE_STATE_CALLSET &
		(FTRACE_STATE_MODIFIED | FTRACE_STATE_TOUCHED | FTRACE_STATE_QUARANTINE)));
static_assert(sizeof(struct dyn_ftrace) == 8);

static inline u32 ftrace_rec_callset(const struct dyn_ftrace *rec)
{
	return FIELD_GET(FTRACE_STATE_CALLSET, READ_ONCE(rec->state));
}

static inline bool ftrace_rec_touched(const struct dyn_ftrace *rec)
{
	return READ_ONCE(rec->state) & FTRACE_STATE_TOUCHED;
}

static inline bool ftrace_rec_modified(const struct dyn_ftrace *rec)
{
	return READ_ONCE(rec->state) & FTRACE_STATE_MODIFIED;
}

static inline bool ftrace_rec_quarantined(const struct dyn_ftrace *rec)
{
	return READ_ONCE(rec->state) & FTRACE_STATE_QUARANTINE;
}

/*
 * Callers hold ftrace_lock: readers without it see the old or the new word.
 * @mark is what the record remembers of its new callset, from now on.
 */
static inline void ftrace_rec_set_callset(struct dyn_ftrace *rec, u32 nr, u32 mark)
{
	u32 flags = rec->state & ~FTRACE_STATE_CALLSET;

	WRITE_ONCE(rec->state, flags | mark | FIELD_PREP(FTRACE_STATE_CALLSET, nr));
}

static inline void ftrace_rec_quarantine(struct dyn_ftrace *rec)
{
	WRITE_ONCE(rec->state, rec->state | FTRACE_STATE_QUARANTINE);
}

static inline void ftrace_rec_release(struct dyn_ftrace *rec)
{
	WRITE_ONCE(rec->state, rec->state & ~FTRACE_STATE_QUARANTINE);
}

/**
 * struct ftrace_table - the records of one piece of text
 * @base: the address that the records' offsets count from
 * @start: first address of the text
 * @end: first address after the text
 * @recs: records, strictly ascending by offset
 * @nr: number of @recs
 * @init: the text is freed after initialization
 * @mod: the module, NULL for the core kernel
 * @profile: counts calls; NULL until the profiler is first enabled
 * @retiree: frees the table
 */
struct ftrace_table {
	unsigned long		base;
	unsigned long		start;
	unsigned long		end;
	struct dyn_ftrace	*recs;
	unsigned int		nr;
	bool			init;
	struct module		*mod;
	struct ftrace_profile	*profile;
	struct ftrace_retiree	retiree;
};

static inline unsigned long ftrace_rec_ip(const struct ftrace_table *table,
					  const struct dyn_ftrace *rec)
{
	return table->base + rec->offset;
}

/**
 * struct ftrace_callset_link - what a callset keeps of one of its ops
 * @node: in the ops' list of callsets; unhashed once the ops is silenced here
 * @cs: the callset
 * @gate: counts who is inside of the ops; NULL if nothing of the ops can go away
 */
struct ftrace_callset_link {
	struct hlist_node	node;
	struct ftrace_callset	*cs;
	struct ftrace_gate	*gate;
};

/**
 * struct ftrace_callset - the ops that a site calls, in order
 * @nr: its number, as in the records; never 0
 * @nr_sites: how many records name it; ftrace_lock
 * @flags: OR of its ops' FTRACE_OPS_FL_SAVE_REGS and FTRACE_OPS_FL_IPMODIFY
 * @coming: a transaction that is being planned brings sites
 * @leaving: an ops of it is being detached
 * @nr_ops: how many @ops
 * @nr_funcs: how many of them are functions to call, the first ones
 * @nr_graph: how many of them, after those, are of a struct fgraph_ops
 * @nr_gone: how many of them are silenced
 * @direct: the last one if that is direct, or NULL
 * @graph_func: what is called for those of a struct fgraph_ops
 * @successor: where its sites go, if @leaving; itself if they stay
 * @target: what its sites call
 * @tramp: its trampoline; 0 where @target is another's code
 * @tramp_size: bytes of code at @tramp
 * @arch: what the architecture keeps of the trampoline
 * @hash: in the hash of callsets by their ops
 * @idle: in the list of those without sites
 * @pinned: in the list of those that altered text may lead to; these stay
 * @tree: in the tree of trampolines
 * @retiree: frees the callset and its trampoline
 * @link: for each of @ops
 * @ops: functions, graph users, direct; each by ascending ops->seq, that is, in
 *	 the order of registration
 *
 * What a trampoline or ftrace_list_func() uses is constant once the callset is
 * published, but for an ops that is silenced: see ftrace_callset_silence().
 */
struct ftrace_callset {
	u32			nr;
	unsigned int		nr_sites;
	bool			coming;
	bool			leaving;
	unsigned long		flags;
	unsigned int		nr_ops;
	unsigned int		nr_funcs;
	unsigned int		nr_graph;
	unsigned int		nr_gone;
	unsigned int		tramp_size;
	struct ftrace_ops	*direct;
	ftrace_graph_func_t	graph_func;
	struct ftrace_callset	*successor;
	unsigned long		target;
	unsigned long		tramp;
	void			*arch;
	struct hlist_node	hash;
	struct list_head	idle;
	struct list_head	pinned;
	struct latch_tree_node	tree;
	struct ftrace_retiree	retiree;
	struct ftrace_callset_link *link;
	struct ftrace_ops	*ops[] __counted_by(nr_ops);
};

/* What /proc/kallsyms and perf call a trampoline, and the module it is in. */
#define FTRACE_TRAMPOLINE_SYM	"ftrace_trampoline"
#define FTRACE_TRAMPOLINE_MOD	"__builtin__ftrace"

/* ftrace_sites.c, and what the linker script puts around its input */

extern u32 __start_mcount_loc[];
extern u32 __stop_mcount_loc[];
extern unsigned int ftrace_nr_sites;
extern unsigned long ftrace_sites_changed;
extern bool ftrace_has_quarantine;

struct ftrace_table *ftrace_table_next(const struct ftrace_table *table);
struct ftrace_table *ftrace_table_find(unsigned long ip);
struct dyn_ftrace *ftrace_site_find(unsigned long ip);
unsigned long ftrace_location_any(unsigned long ip);
void ftrace_quarantine(struct dyn_ftrace *rec, unsigned long ip, unsigned long target);
unsigned int ftrace_table_lower_bound(const struct ftrace_table *table, unsigned long ip);
struct ftrace_table *ftrace_table_alloc(struct module *mod, unsigned long start,
					unsigned long end, unsigned int nr,
					void (*free)(struct ftrace_retiree *retiree));
void ftrace_table_sort(struct ftrace_table *table);
int ftrace_table_add(struct ftrace_table *table);
void ftrace_table_remove(struct ftrace_table *table);
void ftrace_table_free(struct ftrace_table *table);

#define for_each_ftrace_table(table)				\
	for ((table) = ftrace_table_next(NULL); (table);	\
	     (table) = ftrace_table_next(table))

#define for_each_ftrace_rec(table, rec)				\
	for ((rec) = (table)->recs; (rec) < (table)->recs + (table)->nr; (rec)++)

/**
 * struct ftrace_names - walks the names of a table's sites, in order
 * @table: the table
 * @cursor: where the walk is in the core kernel's symbols
 * @syms: for a module, the symbols that @sym counts in
 * @sym: for a module, the index of each record's symbol
 * @len: length of the name that was found last
 * @buf: holds it
 */
struct ftrace_names {
	struct ftrace_table	*table;
	struct kallsyms_cursor	cursor;
	const struct mod_kallsyms *syms;
	u32			*sym;
	unsigned int		len;
	char			buf[KSYM_NAME_LEN + 16];
};

int ftrace_names_start(struct ftrace_names *names, struct ftrace_table *table);
const char *ftrace_names_get(struct ftrace_names *names, unsigned int index);
void ftrace_names_end(struct ftrace_names *names);

/* ftrace_report.c */

/**
 * enum ftrace_refusal - why an ops is not attached to a site
 * @FTRACE_REFUSED_NOT: it is
 * @FTRACE_REFUSED_IPMODIFY: both it and the holder have FTRACE_OPS_FL_IPMODIFY
 * @FTRACE_REFUSED_DIRECT: both it and the holder are direct
 * @FTRACE_REFUSED_SHARE: one is direct, the other has FTRACE_OPS_FL_IPMODIFY
 * @FTRACE_REFUSED_QUARANTINE: the text of the site is not what it should be
 */
enum ftrace_refusal {
	FTRACE_REFUSED_NOT,
	FTRACE_REFUSED_IPMODIFY,
	FTRACE_REFUSED_DIRECT,
	FTRACE_REFUSED_SHARE,
	FTRACE_REFUSED_QUARANTINE,
};

/**
 * enum ftrace_word_error - why a word written to a filter file is refused
 * @FTRACE_WORD_NO_FUNCTION: nothing is known by that name
 * @FTRACE_WORD_FREED: the functions were init text, which is freed
 * @FTRACE_WORD_NO_SITE: the functions that match have no site
 * @FTRACE_WORD_VARIANT: the compiler made only variants, with a suffix
 * @FTRACE_WORD_QUARANTINE: the sites that match are in quarantine
 * @FTRACE_WORD_NOT_LISTED: the list has nothing of it, to be taken away
 * @FTRACE_WORD_NO_COMMAND: the command after the colon cannot be run
 * @FTRACE_WORD_TOO_LONG: longer than any word can be
 *
 * The reasons why a name has no site come first; where functions differ in that,
 * the highest is told.
 */
enum ftrace_word_error {
	FTRACE_WORD_NO_FUNCTION,
	FTRACE_WORD_FREED,
	FTRACE_WORD_NO_SITE,
	FTRACE_WORD_VARIANT,
	FTRACE_WORD_QUARANTINE,
	FTRACE_WORD_NOT_LISTED,
	FTRACE_WORD_NO_COMMAND,
	FTRACE_WORD_TOO_LONG,
	FTRACE_WORD_ERRORS,
};

extern const char * const ftrace_word_errors[];

void ftrace_report_refusal(enum ftrace_refusal why, unsigned long ip,
			   const struct ftrace_ops *ops, const struct ftrace_ops *holder);
void ftrace_report_conflict(unsigned long ip, const struct ftrace_ops *ops,
			    const struct ftrace_callset *cs);
void ftrace_report_word(struct trace_array *tr, const char *file, const char *word,
			enum ftrace_word_error error, unsigned int pos);

/* ftrace_callset.c */

struct ftrace_patch;

extern struct list_head ftrace_callsets_pinned;

struct ftrace_callset *ftrace_callset_get(u32 nr);
struct ftrace_callset *ftrace_callset_at(unsigned long ip);
struct ftrace_callset *ftrace_callset_next(u32 *nr);
u32 ftrace_callset_limit(void);
struct ftrace_callset *ftrace_callset_with(struct ftrace_callset *cs, struct ftrace_ops *ops);
struct ftrace_callset *ftrace_callset_without(struct ftrace_callset *cs, struct ftrace_ops *ops);
bool ftrace_callset_has(const struct ftrace_callset *cs, const struct ftrace_ops *ops);
enum ftrace_refusal ftrace_ops_conflict(const struct ftrace_ops *a, const struct ftrace_ops *b);
void ftrace_callset_add_sites(struct ftrace_callset *cs, int nr);
int ftrace_callsets_establish(void);
int ftrace_callset_establish(struct ftrace_callset *cs);
void ftrace_callset_pin(struct ftrace_callset *cs);
void ftrace_callset_silence(struct ftrace_callset_link *link, struct ftrace_patch *patch);
void ftrace_callset_drop(struct ftrace_callset *cs);
void ftrace_callsets_drop_idle(void);
unsigned long ftrace_callset_target(const struct ftrace_callset *cs);
struct ftrace_callset *ftrace_callset_by_tramp(unsigned long addr);

#define for_each_ftrace_callset(cs, nr)					\
	for ((nr) = 0, (cs) = ftrace_callset_next(&(nr)); (cs);		\
	     (cs) = ftrace_callset_next(&(nr)))

/* The callsets that call an ops, with what each keeps of it; ftrace_lock is held. */
#define for_each_ftrace_link(link, ops)					\
	hlist_for_each_entry(link, &(ops)->callsets, node)

#define for_each_ftrace_link_safe(link, next, ops)			\
	hlist_for_each_entry_safe(link, next, &(ops)->callsets, node)

static inline unsigned long ftrace_ops_direct(const struct ftrace_ops *ops)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	return ops->direct_call;
#else
	return 0;
#endif
}

/* Whether the callset's sites call the direct function without a trampoline. */
static inline bool ftrace_callset_is_direct(const struct ftrace_callset *cs)
{
	return cs->direct && !cs->tramp;
}

/* fgraph.c */

void ftrace_graph_func(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs);

/* ftrace_update.c */

int ftrace_refilter(struct ftrace_filter *filter, struct ftrace_site_set *only,
		    struct ftrace_site_set *not);
void ftrace_release_repaired(void);
void ftrace_ops_wait(struct ftrace_ops *ops);
int ftrace_attach_table(struct ftrace_table *table);
void ftrace_detach_table(struct ftrace_table *table);
void ftrace_update_direct(struct ftrace_ops *ops, unsigned long addr);

/* A filter that wants every site. */
static inline void ftrace_filter_init(struct ftrace_filter *filter)
{
	INIT_LIST_HEAD(&filter->later);
	INIT_LIST_HEAD(&filter->later_not);
	INIT_LIST_HEAD(&filter->pending);
}

static inline void ftrace_ops_init_filter(struct ftrace_ops *ops)
{
	ftrace_filter_init(&ops->own_filter);
	ops->filter = &ops->own_filter;
}

/* Whether nothing says which sites an ops is for. */
static inline bool ftrace_ops_is_everywhere(const struct ftrace_ops *ops)
{
	return !ops->filter->only;
}

/* ftrace_filter_file.c */

void __init ftrace_set_early_filters(void);

/* ftrace_graph_filter.c */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end);
#else
static inline void ftrace_graph_filter_forget_range(unsigned long start, unsigned long end)
{
}
#endif

/* ftrace_files.c */

void ftrace_files_init(struct trace_array *tr, struct dentry *parent);

/* ftrace_kallsyms.c */

#ifdef CONFIG_MODULES
void ftrace_kallsyms_save_init(const struct ftrace_table *table);
void ftrace_kallsyms_forget_module(const struct module *mod);
#else
static inline void ftrace_kallsyms_save_init(const struct ftrace_table *table)
{
}
#endif

/* ftrace_command.c: "function:command:parameter" in the filter files */

int ftrace_command_run(struct trace_array *tr, char *func, char *command, bool enable);
void ftrace_command_show(struct seq_file *m, struct trace_array *tr);
void ftrace_command_forget_range(unsigned long start, unsigned long end);

/* ftrace_profile.c */

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_add_table(struct ftrace_table *table);
void ftrace_profile_free_table(struct ftrace_table *table);
void ftrace_profile_init_tracefs(struct dentry *parent);
void ftrace_profile_sleep_time_changed(void);
#else
static inline void ftrace_profile_add_table(struct ftrace_table *table)
{
}

static inline void ftrace_profile_free_table(struct ftrace_table *table)
{
}

static inline void ftrace_profile_init_tracefs(struct dentry *parent)
{
}

static inline void ftrace_profile_sleep_time_changed(void)
{
}
#endif

/* With a handler that the architecture has for the profiler. */
#if defined(CONFIG_FUNCTION_PROFILER) && defined(CONFIG_FUNCTION_GRAPH_TRACER) && \
	defined(profile_return_to_handler)
#define FTRACE_PROFILE_PATH

u64 arch_ftrace_cycle(void);
void ftrace_profile_func(unsigned long ip, unsigned long *retp, struct ftrace_callset *cs);
unsigned long ftrace_profile_return(void);

static inline bool ftrace_profile_is_handler(unsigned long addr)
{
	return addr == (unsigned long)profile_return_to_handler;
}
#else
static inline bool ftrace_profile_is_handler(unsigned long addr)
{
	return false;
}
#endif

/* arch */

/**
 * enum ftrace_arch_check - what arch_ftrace_check_site() found
 * @FTRACE_SITE_OK: the text is what the record says
 * @FTRACE_SITE_ALTERED: it is something else
 */
enum ftrace_arch_check {
	FTRACE_SITE_OK,
	FTRACE_SITE_ALTERED,
};

enum ftrace_arch_check arch_ftrace_check_site(unsigned long ip, unsigned long target);
unsigned int arch_ftrace_check_sites(unsigned long base, const struct dyn_ftrace *rec,
				     unsigned int nr, unsigned long target);
int arch_ftrace_init_site(unsigned long ip);
void arch_ftrace_report_site(unsigned long ip, unsigned long target);

struct ftrace_patch *arch_ftrace_patch_begin(unsigned int nr);
void arch_ftrace_patch_add(struct ftrace_patch *patch, unsigned long ip, unsigned long to);
void arch_ftrace_patch_sites(struct ftrace_patch *patch, unsigned long base,
			     const struct dyn_ftrace *rec, unsigned int nr, unsigned long to);
void arch_ftrace_patch_end(struct ftrace_patch *patch);

int arch_ftrace_tramp_alloc(struct ftrace_callset *cs);
void arch_ftrace_tramp_free(struct ftrace_callset *cs);
void arch_ftrace_tramp_retarget(struct ftrace_patch *patch, struct ftrace_callset *cs,
				unsigned int i, ftrace_func_t to);
void arch_ftrace_tramp_redirect(struct ftrace_patch *patch, struct ftrace_callset *cs,
				unsigned long to);
struct orc_entry *arch_ftrace_tramp_orc(const struct ftrace_callset *cs, unsigned long ip);
/* Returns from a site, as if nothing had been called there. */
void ftrace_stub_return(void);

#else /* !CONFIG_DYNAMIC_FTRACE */

/* ftrace_static.c */

extern ftrace_func_t ftrace_trace_function;

/* ftrace_detach() has waited. */
static inline void ftrace_ops_wait(struct ftrace_ops *ops)
{
}

static inline void ftrace_ops_init_filter(struct ftrace_ops *ops)
{
}

static inline bool ftrace_ops_is_everywhere(const struct ftrace_ops *ops)
{
	return true;
}

static inline unsigned long ftrace_ops_direct(const struct ftrace_ops *ops)
{
	return 0;
}

#endif /* !CONFIG_DYNAMIC_FTRACE */
#endif /* _KERNEL_TRACE_FTRACE_INTERNAL_H */
