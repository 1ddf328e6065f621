// SPDX-License-Identifier: GPL-2.0
/*
 * The files of instances, and the read-only ones of function tracing:
 *
 *	available_filter_functions	the name of every site's function
 *	available_filter_functions_addrs	the same, after the site's address
 *	enabled_functions	functions that are attached, and their ops
 *	touched_functions	functions that ever were
 *	callsets	the lists of ops in use, with their sites and trampoline
 *
 * Names come from one walk of the symbols beside each table. A reader lets go
 * of ftrace_lock between two buffers; the walk goes on where it was unless a
 * table came or went in between.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "callset.h"
#include "cgroup.h"
#include "hooks.h"
#include "ops.h"
#include "pid.h"
#include "profile.h"
#include "quarantine.h"
#include "sites.h"
#include "trace_count.h"
#include "trace_guard.h"
#include "../trace.h"

/* With the distance to the symbol before it, the name of a site without a symbol. */
#define FTRACE_INVALID_FUNCTION		"__ftrace_invalid_address__"

/* The files that list sites. The first two are for choosing functions. */
enum files_list {
	FILES_AVAILABLE,
	FILES_AVAILABLE_ADDRS,
	FILES_ENABLED,
	FILES_TOUCHED,
};

/**
 * struct files_users - how the end of a line was printed that others have, too
 * @callset: the callset of the line's site
 * @quarantined: the site is in quarantine
 * @modified: the site is or was modified
 * @at: where the text begins in the seq_file's buffer
 * @end: where it ends; 0 without a text
 */
struct files_users {
	u32			callset;
	bool			quarantined;
	bool			modified;
	size_t			at;
	size_t			end;
};

/**
 * struct files_reader - an open file that lists sites
 * @list: which file it is
 * @table: the table of the line that comes next
 * @index: its record
 * @pos: the number of that line
 * @changed: ftrace_sites_changed when @table was found
 * @names: the names of @table
 * @suffix: the module, which follows a name
 * @suffix_len: its length
 * @users: the text for the users of the last line's function
 */
struct files_reader {
	enum files_list		list;
	struct ftrace_table	*table;
	unsigned int		index;
	loff_t			pos;
	unsigned long		changed;
	struct ftrace_names	names;
	char			suffix[MODULE_NAME_LEN + 4];
	unsigned int		suffix_len;
	struct files_users	users;
};

static bool files_is_listed(enum files_list list, const struct ftrace_record *rec)
{
	switch (list) {
	case FILES_ENABLED:
		/* A site in quarantine says so here. */
		return ftrace_rec_callset(rec) || ftrace_rec_quarantined(rec);
	case FILES_TOUCHED:
		return ftrace_rec_touched(rec);
	default:
		return !ftrace_rec_quarantined(rec);
	}
}

static int files_reader_set_table(struct files_reader *r, struct ftrace_table *table)
{
	int ret;

	ftrace_names_end(&r->names);
	r->table = table;
	r->index = 0;
	r->suffix_len = 0;
	if (table && table->mod)
		r->suffix_len = scnprintf(r->suffix, sizeof(r->suffix), " [%s]",
					  module_name(table->mod));
	ret = table ? ftrace_names_start(&r->names, table) : 0;
	if (ret) {
		/* There are no names: the next read begins anew. */
		r->table = NULL;
		r->changed = ~ftrace_sites_changed;
	}
	return ret;
}

/* The reader at the next record that is listed, the present one included; or NULL. */
static struct files_reader *files_reader_find(struct files_reader *r)
{
	int ret;

	while (r->table) {
		for (; r->index < r->table->nr; r->index++) {
			if (files_is_listed(r->list, &r->table->recs[r->index]))
				return r;
		}
		ret = files_reader_set_table(r, ftrace_table_next(r->table));
		if (ret)
			return ERR_PTR(ret);
	}
	return NULL;
}

static void *files_seq_start(struct seq_file *m, loff_t *pos)
{
	struct files_reader *r = m->private, *at;
	int ret;

	mutex_lock(&ftrace_lock);
	/* Between two reads users come and go, and the buffer is used anew. */
	r->users.end = 0;
	if (r->changed != ftrace_sites_changed || *pos < r->pos) {
		r->changed = ftrace_sites_changed;
		r->pos = 0;
		ret = files_reader_set_table(r, ftrace_table_next(NULL));
		if (ret)
			return ERR_PTR(ret);
	}
	at = files_reader_find(r);
	for (; !IS_ERR_OR_NULL(at) && r->pos < *pos; r->pos++) {
		r->index++;
		at = files_reader_find(r);
	}
	return at;
}

static void *files_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct files_reader *r = m->private;

	++*pos;
	r->pos++;
	r->index++;
	return files_reader_find(r);
}

static void files_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

/* They are the subops of the function that calls them. */
static void files_print_graph_users(struct seq_file *m, const struct ftrace_callset *cs)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (cs->nr_graph)
		seq_printf(m, " ->%pS\tsubops:", cs->graph_func);
	for (unsigned int i = cs->nr_funcs; i < cs->nr_funcs + cs->nr_graph; i++) {
		const struct fgraph_ops *gops = container_of_const(cs->ops[i], struct fgraph_ops,
								   ops);

		seq_printf(m, " {ent:%pS ret:%pS}", gops->entryfunc, gops->retfunc);
	}
#endif
}

static void files_print_trampoline(struct seq_file *m, const struct ftrace_callset *cs)
{
	if (!ftrace_callset_is_direct(cs)) {
		seq_printf(m, "\ttramp: %pS (%pS)", (void *)ftrace_callset_target(cs),
			   ftrace_ops_callback(cs->ops[0]));
		for (unsigned int i = 0; i < cs->nr_funcs; i++)
			seq_printf(m, " ->%pS", ftrace_ops_get_func(cs->ops[i]));
	}
	files_print_graph_users(m, cs);
	if (cs->direct)
		seq_printf(m, "\n\tdirect%s-->%pS", ftrace_is_jmp(cs->direct_addr) ? "(jmp)" : "",
			   (void *)ftrace_jmp_get(cs->direct_addr));
}

/*
 * The number of ops, R for all registers, I for changing where to go on, D for a
 * direct call, M if there ever was one of the last two, Q for quarantine. A direct
 * call has always been shown as one for which all registers are saved, where they can be.
 */
static void files_print_users(struct seq_file *m, const struct files_users *users)
{
	const struct ftrace_callset *cs = ftrace_callset_get(users->callset);
	unsigned long flags = cs ? cs->flags : 0;
	bool direct = cs && cs->direct;
	bool regs = flags & FTRACE_OPS_FL_SAVE_REGS ||
		    (direct && IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS));

	seq_printf(m, " (%u)%s%s%s%s%s", cs ? cs->nr_ops - cs->nr_gone : 0,
		   regs ? " R" : "  ",
		   flags & FTRACE_OPS_FL_IPMODIFY ? " I" : "  ",
		   direct ? " D" : "  ",
		   users->quarantined ? " Q" : "  ",
		   users->modified ? " M " : "   ");
	if (cs)
		files_print_trampoline(m, cs);
}

/*
 * Most lines end as the one before. @line is where this one begins: behind the text of that one,
 * unless seq_file has thrown the lines before away.
 */
static void files_print_attached(struct seq_file *m, struct files_users *last, size_t line,
				 const struct ftrace_record *rec)
{
	struct files_users users = {
		.callset = ftrace_rec_callset(rec),
		.quarantined = ftrace_rec_quarantined(rec),
		.modified = ftrace_rec_modified(rec),
		.at = m->count,
	};

	if (last->end && last->end <= line && last->callset == users.callset &&
	    last->quarantined == users.quarantined && last->modified == users.modified) {
		seq_write(m, m->buf + last->at, last->end - last->at);
		return;
	}
	files_print_users(m, &users);
	users.end = m->count;
	*last = users;
}

static int files_seq_show(struct seq_file *m, void *v)
{
	struct files_reader *r = m->private;
	const struct ftrace_record *rec = &r->table->recs[r->index];
	unsigned long ip = ftrace_rec_ip(r->table, rec);
	const char *name = ftrace_names_get(&r->names, r->index);
	unsigned long offset = 0;
	size_t line = m->count;

	if (r->list == FILES_AVAILABLE_ADDRS)
		seq_printf(m, "%lx ", ip);
	if (name) {
		seq_write(m, name, r->names.len);
	} else {
		/* In a module; that of an overridden weak function, for instance. */
		kallsyms_lookup(ip, NULL, &offset, NULL, r->names.buf);
		seq_printf(m, FTRACE_INVALID_FUNCTION "_%lu", offset);
	}
	if (r->suffix_len)
		seq_write(m, r->suffix, r->suffix_len);
	if (r->list >= FILES_ENABLED)
		files_print_attached(m, &r->users, line, rec);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations files_seq_ops = {
	.start	= files_seq_start,
	.next	= files_seq_next,
	.stop	= files_seq_stop,
	.show	= files_seq_show,
};

/*
 * The files of attached functions can be read at any time: they matter on a kernel
 * that is locked down, or whose tracing has been killed.
 */
static int files_list_open(struct inode *inode, struct file *file)
{
	enum files_list list = (unsigned long)inode->i_private;
	int ret = list < FILES_ENABLED ? security_locked_down(LOCKDOWN_TRACEFS) : 0;
	struct files_reader *r;

	if (ret)
		return ret;
	r = __seq_open_private(file, &files_seq_ops, sizeof(*r));
	if (!r)
		return -ENOMEM;
	trace_seq_file_room(file->private_data);
	r->list = list;
	/* No table yet: the first read looks for one. */
	r->changed = ~READ_ONCE(ftrace_sites_changed);
	return 0;
}

static int files_list_release(struct inode *inode, struct file *file)
{
	struct files_reader *r = ((struct seq_file *)file->private_data)->private;

	ftrace_names_end(&r->names);
	return seq_release_private(inode, file);
}

static const struct file_operations files_list_fops = {
	.open		= files_list_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= files_list_release,
};

/* callsets */

/* The flags that concern other ops of the same function stand before the name. */
static void files_show_ops(struct seq_file *m, const struct ftrace_callset *cs,
			   const struct ftrace_ops *ops)
{
	unsigned long flags = ops->flags & (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY |
					    FTRACE_OPS_FL_DIRECT);

	seq_printf(m, " %s%s%s%s%ps", flags & FTRACE_OPS_FL_SAVE_REGS ? "R" : "",
		   flags & FTRACE_OPS_FL_IPMODIFY ? "I" : "",
		   flags & FTRACE_OPS_FL_DIRECT ? "D" : "", flags ? ":" : "",
		   ops == cs->direct ? (void *)ftrace_jmp_get(cs->direct_addr) :
				       ftrace_ops_callback(ops));
}

static void files_show_callset(struct seq_file *m, const struct ftrace_callset *cs)
{
	seq_printf(m, "%u %u ", cs->nr, cs->nr_sites);
	if (cs->tramp)
		seq_printf(m, "%lx %u", cs->tramp, cs->tramp_size);
	else
		seq_printf(m, "%ps -", (void *)ftrace_jmp_get(ftrace_callset_target(cs)));
	for (unsigned int i = 0; i < cs->nr_ops; i++)
		files_show_ops(m, cs, cs->ops[i]);
	seq_putc(m, '\n');
}

static int files_callsets_show(struct seq_file *m, void *v)
{
	unsigned int quarantined = 0;
	struct ftrace_table *table;
	struct ftrace_record *rec;
	struct ftrace_callset *cs;
	u32 nr;

	guard(mutex)(&ftrace_lock);

	if (ftrace_has_quarantine) {
		for_each_ftrace_table(table) {
			for_each_ftrace_rec(table, rec)
				quarantined += ftrace_rec_quarantined(rec);
		}
	}
	seq_puts(m, "# callset sites trampoline size ops\n");
	if (quarantined)
		seq_printf(m, "# %u in quarantine, marked Q in enabled_functions\n", quarantined);
	for_each_ftrace_callset(cs, nr) {
		if (cs->nr_sites)
			files_show_callset(m, cs);
	}
	return 0;
}

/* It says where trampolines are. */
static int files_callsets_open(struct inode *inode, struct file *file)
{
	return security_locked_down(LOCKDOWN_TRACEFS) ?:
	       single_open(file, files_callsets_show, NULL);
}

static const struct file_operations files_callsets_fops = {
	.open		= files_callsets_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * ftrace_init_tracefs_toplevel - make the files that only the top instance has
 * @tr: the top instance
 * @d_tracer: its directory
 */
void __init ftrace_init_tracefs_toplevel(struct trace_array *tr, struct dentry *d_tracer)
{
	static const char * const lists[] = {
		[FILES_AVAILABLE]	= "available_filter_functions",
		[FILES_AVAILABLE_ADDRS]	= "available_filter_functions_addrs",
		[FILES_ENABLED]		= "enabled_functions",
		[FILES_TOUCHED]		= "touched_functions",
	};

	for (unsigned long i = 0; i < ARRAY_SIZE(lists); i++)
		trace_create_file(lists[i], TRACE_MODE_READ, d_tracer, (void *)i, &files_list_fops);
	trace_create_file("callsets", TRACE_MODE_READ, d_tracer, NULL, &files_callsets_fops);
	ftrace_hooks_create_file(d_tracer);
	ftrace_create_filter_files(NULL, d_tracer);
	ftrace_profile_init_tracefs(d_tracer);
}

/**
 * ftrace_init_tracefs - make the files that each instance with function tracing has
 * @tr: the instance
 * @parent: its directory
 *
 * Context: sleeps. A file that could not be made is missing; tracefs says so.
 */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	ftrace_pid_init_tracefs(tr, parent);
	ftrace_cgroup_init_tracefs(tr, parent);
	trace_count_create_files(tr, parent);
	trace_guard_create_files(tr, parent);
}

/**
 * ftrace_clear_pids - forget the state of an instance that goes away
 * @tr: the instance, whose tracers are off
 *
 * The pids and cgroups that it traces, its counts, and its limits.
 *
 * Context: sleeps; event_mutex and trace_types_lock are held.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	ftrace_pid_forget(tr);
	ftrace_cgroup_forget(tr);
	trace_count_forget(tr);
	trace_guard_forget(tr);
}

#ifdef CONFIG_FTRACE_KUNIT_TEST
#include "tests/files_kunit.c"
#endif
