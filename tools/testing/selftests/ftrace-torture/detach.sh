#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Users of function tracing in modules that are unloaded as soon as they are detached, again and
# again for $seconds (60), while a load runs into their callbacks on all CPUs, is delayed there at
# random, and is preempted there. Of the modules in test_modules, detach_watch.ko counts faults.
# seed=N repeats the choices. nowait=FUNCTION makes this function of the kernel return at once: if a
# detach waits by that function, tests fail.
. "${0%/*}/lib.sh"
random_seed
sum() { # COLUMN: of all kinds
	awk -v c="$1" 'NF > 2 { n += $c } END { print n + 0 }' $debug/counts
}

debug=/sys/kernel/debug/detach
echo 256 >buffer_size_kb
dmesg -n 4

# As in enum watch_kind
kinds=(plain regs recursion rcu all-help fprobe fprobe-exit kretprobe graph)
graph=$(graph_symbols)
# Functions that the load calls, and sleeps in; those that a detach calls; those with interrupts
# off; idle CPUs.
groups=('vfs_read,ksys_read' 'vfs_read,vfs_write,ksys_write' 'kmem_cache_free,kfree'
	'do_sys_openat2,vfs_open'
	'schedule' 'schedule,schedule_timeout' 'pipe_read,do_wait' 'do_nanosleep,hrtimer_nanosleep'
	'mutex_lock,mutex_unlock' 'wake_up_process,try_to_wake_up'
	'tick_nohz_idle_enter,tick_nohz_idle_exit'
	'hrtimer_interrupt')

load() { # NUMBER KIND FUNCTIONS ROUNDS
	insmod $mods/detach_user"$1".ko kind="$2" functions="$3" rounds="$4" $graph
}

# A task that is preempted in a callback, for as long as we like: the detach goes on no sooner than
# it.
held() {
	local k users hog
	for k in ${!kinds[*]}; do
		echo Y >$debug/hold
		load 0 "$k" read_zero 1
		taskset 2 chrt -i 0 dd if=/dev/zero of=/dev/null bs=1 count=10 status=none &
		for _ in $(seq 100); do
			grep -qx 'held 0' $debug/counts || break
			sleep 0.1
		done
		grep -qx 'held 1' $debug/counts; result $? "${kinds[$k]}: a task is in the callback"
		taskset 2 sh -c 'while :; do :; done' &
		hog=$!
		users=$(sum 2)
		rmmod detach_user0 &
		# A held callback may hold up other tasks, whose files are not to be looked at now.
		sleep 1
		[ "$(sum 2)" = "$users" ]; result $? "${kinds[$k]}: the detach waits for it"
		echo N >$debug/hold
		kill $hog
		wait
		[ "$(sum 2)" = $((users + 1)) ]
		result $? "${kinds[$k]}: it waits no longer than that"
	done
}

# Calls that are on their way when their user goes, and return later: no detach waits for them, and
# they reach no callback.
pending() {
	local k after calls
	for k in ${!kinds[*]}; do
		[ "$k" -ge 5 ] || continue
		if ! load 0 "$k" do_nanosleep 1; then
			result 1 "${kinds[$k]}: a module is loaded"
			continue
		fi
		for _ in 1 2 3 4; do sleep 1000 & done
		sleep 1
		rmmod detach_user0
		result $? "${kinds[$k]}: a module is unloaded while tasks sleep in the function"
		[ "$(jobs -r | wc -l)" = 4 ]; result $? "${kinds[$k]}: they still sleep after it"
		kill $(jobs -p)
		wait
	done
	after=$(sum 6)
	calls=$(sum 3)
	[ "$after" = 0 ] && [ "$calls" -gt 0 ]
	result $? "returns of sleeping tasks: $after of $calls calls after the detach"
}

turn=(0 2 4 6)
user() { # NUMBER
	local kind=$((turn[$1]++ % ${#kinds[*]}))
	load "$1" $kind "${groups[RANDOM % ${#groups[*]}]}" $((1 + RANDOM % 6)) || return
	sleep 0.0$((RANDOM % 10))
	rmmod detach_user"$1"
}
user0() { user 0; }
user1() { user 1; }
user2() { user 2; }
user3() { user 3; }
either() { if [ $((RANDOM % 2)) = 0 ]; then echo function; else echo function_graph; fi; }
instance() {
	local i=instances/one
	mkdir $i || return
	echo 256 >$i/buffer_size_kb
	echo "${groups[RANDOM % ${#groups[*]}]//,/ }" >$i/set_ftrace_filter
	either >$i/current_tracer
	sleep 0.0$((RANDOM % 10))
	rmdir $i
}
tracer() {
	echo "${groups[RANDOM % ${#groups[*]}]//,/ }" >set_ftrace_filter
	either >current_tracer
	sleep 0.0$((RANDOM % 10))
	echo nop >current_tracer
}
direct() { modprobe ftrace-direct && modprobe -r ftrace-direct; }
cpu() {
	local c=/sys/devices/system/cpu/cpu$((1 + RANDOM % 3))/online
	[ -e $c ] || return 1
	echo 0 >$c
	sleep 0.5
	echo 1 >$c
	sleep 1
}
reads() { bytes 10000; }
idle_reads() { chrt -i 0 dd if=/dev/zero of=/dev/null bs=1 count=10000 status=none; }
urgent_reads() { chrt -f 10 dd if=/dev/zero of=/dev/null bs=1 count=250 status=none; sleep 0.02; }
forks() { /bin/true; }
sleeps() { sleep 0.2; }
pipes() { sleep 0.1 | cat; }
opens() { cat /proc/version; }

workers='user0 user1 user2 user3 instance tracer direct cpu reads idle_reads urgent_reads forks
	sleeps pipes opens'

[ -e $mods/detach_watch.ko ] || skip_all 'test_modules is not built'
if [ ! "$(there ftrace-direct)" ]; then
	result 0 'direct did something, and ended in time # SKIP there is no sample ftrace-direct'
	workers=${workers/ direct/}
fi
sites_save
insmod $mods/detach_watch.ko || { result 1 "detach_watch.ko is loaded"; done_testing; }
[ -z "$nowait" ] || insmod $mods/detach_nowait.ko function="$nowait" || exit 1
held
pending

# Whether each kind has come and gone three times. However slow the machine is, it gets so far.
all_came() { awk 'NF > 2 && $2 < 4 { few = 1 } END { exit few }' $debug/counts; }
start $workers
while more "${seconds:-60}" all_came; do
	sleep 5
	echo "at $((SECONDS - begun)) s: $(sum 2) users, $(sum 3) calls, $(sum 6) after one"
done
finish
for c in /sys/devices/system/cpu/cpu[1-9]*/online; do [ ! -e "$c" ] || echo 1 >"$c"; done

report $workers
while read -r kind users calls preempted found after inside longest; do
	[ "$longest" ] || continue
	echo "# $kind: $users users, $calls calls, $preempted of them preempted; a call was on" \
		"its way at $found detaches; $after were late, $inside detaches did not wait;" \
		"longest detach $longest us"
	[ "$users" -gt 0 ] && [ "$calls" -gt 0 ]
	result $? "$kind: users came, were called and went"
	[ "$after" = 0 ] && [ "$inside" = 0 ]
	result $? "$kind: no call was on its way, or began, after a detach"
done <$debug/counts
[ "$(sum 4)" -gt 0 ]; result $? "tasks were preempted in callbacks"
[ "$(sum 5)" -gt 0 ]; result $? "users went while a callback was on its way"
grep -qx 'stale 0' $debug/counts; result $? "no callback saw freed memory"
rmmod detach_watch
[ -z "$nowait" ] || rmmod detach_nowait
off enabled_functions "no function is left enabled"
sites_compare
[ "$nowait" ] || check "the kernel warned of nothing" no_faults
done_testing
