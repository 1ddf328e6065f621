#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Random input to every file of function tracing (fuzz.pl), for $seconds (60) from $workers (6)
# processes, while modules come and go; then looks whether all of it is off, the text is as it was,
# and functions can be traced. seed=N repeats the choices; extra=FILE.ko is a module more.
. "${0%/*}/lib.sh"
seed=${seed:-$((RANDOM * 32768 + RANDOM))}
random_seed
# lockdep watches until the first thing that it has to say, or until its tables are full.
lockdep_watches() { grep -q '^ *debug_locks: *1$' /proc/lockdep_stats; }

if config_has KASAN; then
	grep -q ' __asan_load8$' /proc/kallsyms; result $? "KASAN watches"
fi
if config_has PROVE_LOCKING; then
	lockdep_watches; result $? "lockdep watches"
fi

modules="$(there trace-events-sample trace-printk sample-trace-array ftrace-direct \
	ftrace-direct-too ftrace-direct-multi ftrace-direct-modify ftrace-ops kprobe_example \
	kretprobe_example fprobe_example livepatch-sample | tr '\n' ' ')"
modules+=${extra:-}

# For set_ftrace_cgroup
mkdir -p /tmp/cgroup && mount -t cgroup2 none /tmp/cgroup && mkdir -p /tmp/cgroup/fz{0..7}/b
stall=/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
was=$(grep -H . $stall /proc/sys/kernel/{panic_on_rcu_stall,panic_print,printk} 2>/dev/null)
restore() {
	local file text
	while IFS=: read -r file text; do echo "$text" >"$file"; done <<<"$was"
	rmdir /tmp/cgroup/fz{0..7}/{b,} && umount /tmp/cgroup && rmdir /tmp/cgroup
	at_exit
}
trap restore EXIT

echo 64 >buffer_size_kb
# Some modules print, and sysrq does, too: the console is slow. Warnings are shown.
dmesg -n 4
# A CPU that does nothing else any more ends the test before the time is over, with the stacks of
# all CPUs and all that the console did not show. With everything traced, a CPU may take longer than
# the usual 21 s.
if [ -w $stall ] && [ -w /proc/sys/kernel/panic_on_rcu_stall ] &&
	[ -w /proc/sys/kernel/panic_print ]; then
	echo 120 >$stall
	echo $((0x20 | 0x40)) >/proc/sys/kernel/panic_print
	echo 1 >/proc/sys/kernel/panic_on_rcu_stall
fi
sites_save
echo "# modules: $modules"
take perl "$here/fuzz.pl" "$seed" "${seconds:-60}" "${workers:-6}" $modules
status=$?
is "the random input ends" 0 $status
# The console is not told.
check "the kernel warned of nothing" no_faults
# What a stuck process holds, the rest of this would wait for.
[ $status != 3 ] || done_testing

for m in $modules; do
	m=${m##*/}
	rmmod "${m%.ko}"
done 2>/dev/null
# Objects that are freed later: trampolines and all that waits for RCU.
sleep 2
off enabled_functions "no function is left enabled"
[ ! -e callsets ] || off callsets "no callset is left"
off dynamic_events "no probe is left"
off set_ftrace_filter "no filter is left"
is "the tracer is off" nop "$(cat current_tracer)"
is "no instance is left" "" "$(ls instances)"
sites_compare

traced() { # TRACER PATTERN
	echo vfs_read >set_ftrace_filter && echo "$1" >current_tracer && echo 1 >tracing_on ||
		return
	echo >trace
	cat /proc/version >/dev/null
	grep -q "$2" trace
	set -- $?
	echo nop >current_tracer
	echo >set_ftrace_filter
	return "$1"
}
traced function 'vfs_read <-'; result $? "function traces"
traced function_graph 'vfs_read()'; result $? "function_graph traces"
if config_has PROVE_LOCKING; then
	lockdep_watches; result $? "lockdep still watches"
fi
check "the kernel warned of nothing afterwards" no_faults
done_testing
