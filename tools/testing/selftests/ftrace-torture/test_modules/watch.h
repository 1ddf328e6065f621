/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of detach_watch.ko for the modules that come and go. */
#ifndef DETACH_WATCH_H
#define DETACH_WATCH_H

#include <linux/types.h>

enum watch_kind {
	WATCH_PLAIN,
	WATCH_REGS,
	WATCH_RECURSION,
	WATCH_RCU,
	WATCH_ALL_HELP,
	WATCH_FPROBE,
	WATCH_FPROBE_EXIT,
	WATCH_KRETPROBE,
	WATCH_GRAPH,
	WATCH_KINDS,
};

struct watch;

struct watch *watch_open(enum watch_kind kind);
void watch_call(struct watch *watch);
void watch_stale(void);
void watch_detaching(struct watch *watch);
void watch_detached(struct watch *watch, u64 ns);

#endif
