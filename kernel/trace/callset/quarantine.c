// SPDX-License-Identifier: GPL-2.0
/*
 * Quarantine: sites whose text differs from their records. Other code has altered
 * them, and may do so again.
 *
 * Invariants:
 *  1. A site in quarantine has no callset, and its text is not written. It stays in
 *     quarantine until its text is freed.
 *  2. A callset that a site left for quarantine stays, too: the code that altered the
 *     site may have saved its CALL, and may write it back. Once it has no other sites,
 *     it passes over its direct function, which may be freed.
 *
 * sites.c says how other parts of the kernel see such a site.
 * ftrace_lock covers all of it.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/lockdep.h>

#include "callset.h"
#include "ops.h"
#include "quarantine.h"
#include "sites.h"

/* Whether there ever was a site in quarantine. */
bool ftrace_has_quarantine;

/**
 * ftrace_quarantine - leave a site alone from now on, and say why
 * @rec: its record
 * @ip: the site
 * @target: the target that its record says; 0 for a NOP
 *
 * Context: ftrace_lock is held.
 */
void ftrace_quarantine(struct ftrace_record *rec, unsigned long ip, unsigned long target)
{
	struct ftrace_callset *cs = ftrace_callset_get(ftrace_rec_callset(rec));

	lockdep_assert_held(&ftrace_lock);

	arch_ftrace_report_site(ip, target);
	ftrace_rec_set_callset(rec, 0, FTRACE_STATE_QUARANTINE);
	ftrace_has_quarantine = true;
	if (!cs)
		return;
	cs->pinned = true;
	ftrace_callset_add_sites(cs, -1);
}

/**
 * ftrace_quarantine_init - make the sites of new text NOPs
 * @table: its records. Those whose site cannot be one are in quarantine after it.
 *
 * Context: the text is writable and not executed yet.
 */
void __init_or_module ftrace_quarantine_init(struct ftrace_table *table)
{
	struct ftrace_record *rec;

	for_each_ftrace_rec(table, rec) {
		if (arch_ftrace_init_site(table->mod, ftrace_rec_ip(table, rec))) {
			ftrace_rec_quarantine(rec);
			ftrace_has_quarantine = true;
		}
	}
}

/**
 * ftrace_quarantine_report - log which sites of new text are in quarantine
 * @table: its records
 *
 * Context: ftrace_lock is held. The text has its symbols.
 */
void ftrace_quarantine_report(const struct ftrace_table *table)
{
	struct ftrace_record *rec;

	if (!ftrace_has_quarantine)
		return;
	for_each_ftrace_rec(table, rec) {
		if (ftrace_rec_quarantined(rec))
			arch_ftrace_report_site(ftrace_rec_ip(table, rec), 0);
	}
}
