#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Crashes the machine, as root, while functions are traced: all by the top instance, one by
# another. kdump has to be ready. judge.sh looks at the dump, on any machine.
[ "$(cat /sys/kernel/kexec_crash_loaded)" = 1 ] ||
	{ echo 'no kernel is loaded that would take the dump'; exit 1; }
cd /sys/kernel/tracing && mkdir instances/crash || exit 1
echo vfs_write >instances/crash/set_ftrace_filter
echo function >instances/crash/current_tracer
echo 1 >instances/crash/events/sched/sched_process_exit/enable
echo >set_ftrace_filter
echo function >current_tracer
echo 'before the crash' >instances/crash/trace_marker
dd if=/dev/zero of=/dev/null bs=1 count=100 status=none
sync
echo 1 >/proc/sys/kernel/sysrq
echo c >/proc/sysrq-trigger
