// SPDX-License-Identifier: GPL-2.0
/*
 * Names for addresses that no other symbol table has: trampolines, stubs, and functions
 * of modules' init text that is gone. A trace that is read later names the last.
 *
 * Invariants:
 *  1. The names of a module's init text are kept from when the text is freed until
 *     the module goes, if an ops was registered when it was freed.
 *
 * Changes are made with ftrace_lock held; readers run anywhere without it, and an
 * entry that they found stays until they enable preemption.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "callset.h"
#include "kallsyms.h"
#include "ops.h"
#include "sites.h"

#ifdef CONFIG_MODULES

/**
 * struct kallsyms_init_func - a function of init text that is gone
 * @start: where it began
 * @size: its size, in bytes
 * @name: its name
 */
struct kallsyms_init_func {
	unsigned long	start;
	unsigned long	size;
	char		*name;
};

/**
 * struct kallsyms_init_names - the functions of a module's init text
 * @node: in kallsyms_init_list
 * @rcu: frees it
 * @mod: the module
 * @nr: how many of @func there are
 * @func: those that could be traced
 */
struct kallsyms_init_names {
	struct list_head	node;
	struct rcu_head		rcu;
	struct module		*mod;
	unsigned int		nr;
	struct kallsyms_init_func func[];
};

static LIST_HEAD(kallsyms_init_list);

static void kallsyms_init_names_free(struct rcu_head *rcu)
{
	struct kallsyms_init_names *names = container_of(rcu, struct kallsyms_init_names, rcu);

	for (unsigned int i = 0; i < names->nr; i++)
		kfree(names->func[i].name);
	kfree(names);
}

static bool kallsyms_init_func_save(struct kallsyms_init_func *func, unsigned long ip)
{
	char name[KSYM_NAME_LEN];
	unsigned long offset;

	if (!kallsyms_lookup(ip, &func->size, &offset, NULL, name))
		return false;
	func->start = ip - offset;
	func->name = kstrdup(name, GFP_KERNEL);
	return func->name;
}

/**
 * ftrace_kallsyms_save_init - keep the names of init text that goes away
 * @table: its records
 *
 * Context: ftrace_lock is held; sleeps. The module's symbols still have them.
 * Without memory, a reader of the trace sees numbers.
 */
void ftrace_kallsyms_save_init(const struct ftrace_table *table)
{
	struct kallsyms_init_names *names;
	struct ftrace_record *rec;

	lockdep_assert_held(&ftrace_lock);

	/* Without an ops no trace has them. */
	if (!table->mod || list_empty(&ftrace_ops_registered))
		return;

	names = kzalloc(struct_size(names, func, table->nr), GFP_KERNEL);
	if (!names)
		return;
	names->mod = table->mod;
	for_each_ftrace_rec(table, rec)
		names->nr += kallsyms_init_func_save(&names->func[names->nr],
						     ftrace_rec_ip(table, rec));
	list_add_rcu(&names->node, &kallsyms_init_list);
}

/**
 * ftrace_kallsyms_forget_module - drop the names of a module's init text
 * @mod: the module
 *
 * Context: ftrace_lock is held.
 */
void ftrace_kallsyms_forget_module(const struct module *mod)
{
	struct kallsyms_init_names *names, *next;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(names, next, &kallsyms_init_list, node) {
		if (names->mod != mod)
			continue;
		list_del_rcu(&names->node);
		call_rcu(&names->rcu, kallsyms_init_names_free);
	}
}

/* Return: the names that have @addr, with the function in @func; or NULL. */
static struct kallsyms_init_names *kallsyms_init_names_find(unsigned long addr,
							    struct kallsyms_init_func **func)
{
	struct kallsyms_init_names *names;

	list_for_each_entry_lockless(names, &kallsyms_init_list, node) {
		for (unsigned int i = 0; i < names->nr; i++) {
			*func = &names->func[i];
			if (addr - (*func)->start < (*func)->size)
				return names;
		}
	}
	return NULL;
}

/**
 * ftrace_mod_address_lookup - name the trampoline or function that an address is in
 * @addr: the address
 * @size: gets the size of the trampoline or function; or NULL
 * @off: gets the offset of @addr in it; or NULL
 * @modname: gets the name of its module, or FTRACE_TRAMPOLINE_MOD; or NULL
 * @modbuildid: gets the build ID of its module, or NULL; or NULL
 * @sym: gets its name, of at most KSYM_NAME_LEN bytes
 *
 * Context: any; preemption is disabled for as long as *@modname is used.
 * Return: the length of the name; 0 if there is no such name here.
 */
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size, unsigned long *off,
			      char **modname, const unsigned char **modbuildid, char *sym)
{
	struct kallsyms_init_names *names = NULL;
	const struct ftrace_code *code;
	struct kallsyms_init_func *func;

	guard(preempt_notrace)();

	/* First the text that is there now: it may be where init text was. */
	code = ftrace_code_find(addr);
	if (!code)
		names = kallsyms_init_names_find(addr, &func);
	if (!code && !names)
		return 0;
	if (size)
		*size = code ? code->size : func->size;
	if (off)
		*off = addr - (code ? code->start : func->start);
	if (modname)
		*modname = names ? names->mod->name : FTRACE_TRAMPOLINE_MOD;
	if (modbuildid)
		*modbuildid = names ? module_buildid(names->mod) : NULL;
	return strscpy(sym, code ? code->name : func->name, KSYM_NAME_LEN);
}

#endif /* CONFIG_MODULES */

static void kallsyms_fill(char *name, const char *from, char *module_name, const char *module)
{
	strscpy(name, from, KSYM_NAME_LEN);
	strscpy(module_name, module, MODULE_NAME_LEN);
}

/**
 * ftrace_mod_get_kallsym - walk the names for /proc/kallsyms
 * @symnum: which one, from 0
 * @value: gets its address
 * @type: gets the letter of its type
 * @name: gets its name, of KSYM_NAME_LEN bytes
 * @module_name: gets its module, or FTRACE_TRAMPOLINE_MOD, of MODULE_NAME_LEN bytes
 * @exported: gets whether the letter is to be a capital
 *
 * Context: any.
 * Return: 0, or -ERANGE after the last one.
 */
int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *name,
			   char *module_name, int *exported)
{
	struct ftrace_callset *cs;
	u32 nr;

	guard(preempt_notrace)();

#ifdef CONFIG_MODULES
	struct kallsyms_init_names *names;

	list_for_each_entry_lockless(names, &kallsyms_init_list, node) {
		if (symnum >= names->nr) {
			symnum -= names->nr;
			continue;
		}
		*value = names->func[symnum].start;
		*type = 'T';
		*exported = 1;
		kallsyms_fill(name, names->func[symnum].name, module_name, names->mod->name);
		return 0;
	}
#endif
	for_each_ftrace_callset(cs, nr) {
		if (!cs->tramp || symnum--)
			continue;
		*value = cs->tramp;
		*type = 't';
		*exported = 0;
		kallsyms_fill(name, FTRACE_TRAMPOLINE_SYM, module_name, FTRACE_TRAMPOLINE_MOD);
		return 0;
	}
	return -ERANGE;
}
