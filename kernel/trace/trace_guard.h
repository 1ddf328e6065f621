/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tracing may cost. See trace_guard.c.
 */
#ifndef _KERNEL_TRACE_TRACE_GUARD_H
#define _KERNEL_TRACE_TRACE_GUARD_H

#include <linux/types.h>

struct dentry;
struct guard_round;

/**
 * struct trace_guard_probes - probes that are not ops, and count their events themselves
 * @any: whether there may be any; called without locks
 * @sample: calls trace_guard_add_probe() for each whose events go into a trace buffer,
 *	    with what it counted on this CPU since the last time
 * @name: puts a probe's name into a buffer of so many bytes
 * @leave: stops a probe
 * @come_back: lets those go on that were stopped
 *
 * Context: process context; event_mutex is held for the others.
 */
struct trace_guard_probes {
	bool (*any)(void);
	void (*sample)(struct guard_round *round);
	void (*name)(const void *probe, char *buf, size_t size);
	void (*leave)(void *probe);
	void (*come_back)(void);
};

#ifdef CONFIG_DYNAMIC_FTRACE
void trace_guard_register_probes(const struct trace_guard_probes *probes);
void trace_guard_add_probe(struct guard_round *round, void *probe, u64 calls);
void trace_guard_create_files(struct dentry *parent);
#else
static inline void trace_guard_register_probes(const struct trace_guard_probes *probes)
{
}

static inline void trace_guard_add_probe(struct guard_round *round, void *probe, u64 calls)
{
}
#endif

#endif /* _KERNEL_TRACE_TRACE_GUARD_H */
