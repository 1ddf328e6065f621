#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reads the dump of a crash that crash.sh has caused: ./judge.sh VMCORE [FTRACE-VMCORE]. All of the
# small trace has to be there, and the last calls of the large one, with their names. It needs
# trace-cmd, and writes to this directory.
number=0 failed=0
report=trace.txt
result() { # STATUS TEXT
	number=$((number + 1))
	[ "$1" = 0 ] || { failed=1; printf 'not '; }
	echo "ok $number - $2"
}
lines() { # TEXT N REGEX: so many lines have it
	local n
	n=$(grep -aE -c "$3" $report)
	[ "$n" = "$2" ]
	result $? "$1 ($n of $2)"
}
has() { grep -aqE "$2" $report; result $? "$1"; } # TEXT REGEX
"${2:-ftrace-vmcore}" -o trace.dat "$1"
result $? 'the trace is in the dump'
trace-cmd report -i trace.dat >$report 2>trace.errors
result $? 'trace-cmd reads it'
lines 'an instance: each call once' 100 'crash: +dd-[0-9]+ .*: function: +vfs_write'
lines 'an instance: a marker' 1 'crash: .*before the crash'
lines 'an instance: an event, with its fields' 1 'crash: .*sched_process_exit: +comm=dd '
has 'the top instance: the command that crashed the machine' \
	': function: +(__handle_sysrq|write_sysrq_trigger)'
has 'the top instance: the crash itself' ': function: +(v?panic|sysrq_handle_crash)'
[ $failed = 0 ] || { head -n 5 trace.errors; tail -n 15 $report; } | sed 's/^/# /'
echo "1..$number"
exit $failed
