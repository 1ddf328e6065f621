#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Switches tracing of everything on and off, again and again, while reads, forks and module
# loads go on, for $seconds (40); then looks whether every site is as it was.
. "${0%/*}/lib.sh"

reads() { bytes 10000; }
forks() { /bin/true; }
modules() { modprobe "$module" && modprobe -r "$module" && sleep 0.1; }

echo 512 >buffer_size_kb
sites_save
# Functions leave the trace, and all come back.
limits() {
	echo 20000 >max_rate && echo 10 >max_overhead && sleep 0.2 &&
		echo 0 >max_rate && echo 0 >max_overhead && echo >throttled
}
module=$(there trace-events-sample trace-printk sample-trace-array ftrace-direct | head -n 1)
limit=$(ls max_rate 2>/dev/null)
start reads forks ${limit:+limits} ${module:+modules}

switches=0 failed=0 silent=0
mkdir instances/load
# Four turns make one of each kind, however slow the machine is.
while more "${seconds:-40}" || [ $switches -lt 4 ]; do
	echo >trace
	echo function >current_tracer || failed=$((failed + 1))
	case $((switches % 4)) in
	1) echo 'vfs_* *lock*' >set_ftrace_filter || failed=$((failed + 1)) ;;
	2)
		echo 'vfs_* ksys_*' >instances/load/set_ftrace_filter
		echo function >instances/load/current_tracer || failed=$((failed + 1))
		;;
	3) echo '*mutex*' >set_ftrace_notrace ;;
	esac
	sleep 0.05
	# Recorded calls: entries-written of the buffers' statistics.
	entries=$(cat per_cpu/cpu*/stats |
		awk '/^(entries|overrun):/ { n += $2 } END { print n + 0 }')
	[ "$entries" -gt 0 ] || silent=$((silent + 1))
	echo nop >current_tracer || failed=$((failed + 1))
	echo nop >instances/load/current_tracer
	echo >set_ftrace_filter
	echo >set_ftrace_notrace
	switches=$((switches + 1))
	[ $((switches % 10)) != 4 ] || echo "turn $switches at $SECONDS s"
done
finish
rmdir instances/load

echo "# $switches turns; the load did $(times_done reads) times 10,000 reads and writes," \
	"$(times_done forks) forks," \
	"$([ -z "$limit" ] || times_done limits) times limits," \
	"$([ -z "$module" ] || times_done modules) loads of ${module:-no module}"
[ $failed = 0 ]; result $? "everything switched on and off $switches times, $failed errors"
[ $silent = 0 ]; result $? "every turn recorded calls ($silent did not)"
if [ "$module" ]; then
	[ "$(times_done modules)" -gt 0 ]; result $? "a module was loaded and unloaded meanwhile"
else
	result 0 "a module was loaded and unloaded meanwhile # SKIP no sample module is installed"
fi
[ "$(times_done reads)" -gt 0 ] && [ "$(times_done forks)" -gt 0 ]; result $? "the load went on"
if [ "$limit" ]; then
	[ "$(times_done limits)" -gt 0 ]; result $? "limits came and went meanwhile"
fi
off enabled_functions "no function is left enabled"
sites_compare
done_testing
