#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Everything that rewrites kernel text, and everything that changes tracing, at random and at the
# same time, for $seconds (60) while a load runs: tracers, options, filters, clocks, sizes, resets
# and readers, of the top and of instances; limits of the tracing's cost, probes, events (jump
# labels and static calls), live patches, modules, CPUs going down and coming up, NMIs, and a memory
# allocator that fails. every_call.ko watches that users that stay attached see each call once. Then
# looks whether all of it was undone, and the text is as it was, to the byte.
#
# Each operation is a line "torture: ..." on the console, before it begins: the last lines before a
# fault are how one gets there again. seed=N repeats the choices, without=WORKER,... leaves workers
# out.
. "${0%/*}/lib.sh"
random_seed
mkdir -p instances/one instances/two
for i in . instances/one instances/two; do echo 256 >$i/buffer_size_kb; done
# The backtraces that sysrq makes stay out; a stall is shown, and so are the operations.
dmesg -n 4
echo on >/proc/sys/kernel/printk_devkmsg
op() { # TEXT
	echo "$1" >"$dir/$me.last"
	echo "<3>torture: $me: $1" >/dev/kmsg
}
# Of the workers $failing, allocations fail in their writes, but not where they fork. To open files
# for the end of that may fail, too.
may_fail() { # COMMAND...
	local status
	case " $failing " in *" $me "*) ;; *) "$@"; return ;; esac
	echo 1 >/proc/self/make-it-fail
	"$@"
	status=$?
	until echo 0 >/proc/self/make-it-fail; do :; done
	return $status
}
write() { echo "$1" >"$2"; }
append() { echo "$1" >>"$2"; }
sure() { # VALUE FILE: with all the memory that it needs
	op "echo '$1' > $2"
	write "$1" "$2"
}
put() { # VALUE FILE
	op "echo '$1' > $2"
	may_fail write "$1" "$2"
}
add() { # VALUE FILE
	op "echo '$1' >> $2"
	may_fail append "$1" "$2"
}
some() { # COMMAND...: of its output, no more than a reader takes at once
	op "$*"
	"$@" | head -c 30000
}

functions='vfs_read vfs_write ksys_read ksys_write vfs_open do_sys_openat2 kmem_cache_free kfree
schedule dput path_openat wake_up_new_task handle_mm_fault do_exit rcu_read_unlock_strict
read_zero write_null every_call_0 every_call_1 every_call_2 every_call_3 every_call_4'
# Left out: those that leave threads that pin a CPU, where threads cannot be made and CPUs go down
# (stock's code).
tracers=
for t in $(cat available_tracers); do
	case $t in osnoise | timerlat) ;; *) tracers+=" $t" ;; esac
done
clocks=$(tr -d '[]' <trace_clock)
# Left out: a stack for each of all functions, and the one that is the top's only.
options=
for o in options/*; do
	case $o in
	*stack_trace | *userstacktrace | *trace_printk_dest) ;;
	*) options+=" ${o#*/}" ;;
	esac
done
pick() { # WORDS...: sets picked; in a subshell the next one would be the same again
	shift $((RANDOM % $#))
	picked=$1
}
pick_instance() { pick . . instances/one instances/two instances/three; i=$picked; }
put_one() { # FILE VALUE...
	local file=$1
	shift
	pick "$@"
	put "$picked" $file
}

# Each worker does one of its operations, and says whether it came to anything.
tracer() {
	pick_instance
	case $((RANDOM % 12)) in
	0) put function $i/current_tracer ;;
	1) put function_graph $i/current_tracer ;;
	2 | 3) put_one $i/set_ftrace_filter '*' '*' 'vfs_*' '*lock*' 'ksys_* *mutex*' \
		'every_call_*' '' ;;
	4) put_one $i/set_ftrace_notrace '*mutex*' 'rcu_*' 'every_call_*' '' ;;
	5) put nop $i/current_tracer ;;
	6) put count $i/current_tracer ;;
	7) put_one $i/current_tracer $tracers ;;
	8) put_one set_graph_function 'vfs_*' 'every_call_*' schedule '' ;;
	9) put_one set_graph_notrace '*lock*' 'every_call_*' '' ;;
	10) put $((RANDOM % 4)) max_graph_depth ;;
	11) put_one $i/set_ftrace_pid '' '' $$ $BASHPID ;;
	esac
}
# Each is set twice: a setting must not be made twice. Or by two at once.
options() {
	local n option value=$((RANDOM % 2)) word
	pick_instance
	pick $options count-callers count-times count-latency
	option=$picked
	[ $value = 1 ] && word=$option || word=no$option
	case $((RANDOM % 3)) in
	0) for n in 1 2; do put $value $i/options/$option; done ;;
	1) for n in 1 2; do put $word $i/trace_options; done ;;
	2)
		put $word $i/trace_options &
		put $word $i/trace_options
		wait $!
		;;
	esac
}
clock() {
	pick_instance
	put_one $i/trace_clock $clocks && sleep 0.1
}
size() {
	pick_instance
	case $((RANDOM % 8)) in
	0 | 1) put $((8 << RANDOM % 7)) $i/buffer_size_kb ;;
	2 | 3) put $((8 << RANDOM % 7)) $i/per_cpu/cpu$((RANDOM % 4))/buffer_size_kb ;;
	4) put $((4 << RANDOM % 3)) $i/buffer_subbuf_size_kb ;;
	5) put $((RANDOM % 3)) $i/snapshot ;;
	6) put $((RANDOM % 101)) $i/buffer_percent ;;
	7) put $((64 << RANDOM % 6)) saved_cmdlines_size ;;
	esac
}
reset() {
	local n
	pick_instance
	case $((RANDOM % 8)) in
	0) put '' $i/trace ;;
	1) put '' $i/per_cpu/cpu$((RANDOM % 4))/trace ;;
	2 | 3) put '' $i/function_counts ;;
	4)
		for n in 1 2 3 4 5 6 7 8; do put $((n % 2)) function_profile_enabled; done
		put $((RANDOM % 2)) function_profile_enabled
		;;
	5)
		put 0 $i/tracing_on
		put 1 $i/tracing_on
		;;
	6)
		put $((1 + RANDOM % 15)) $i/tracing_cpumask
		put f $i/tracing_cpumask
		;;
	7) put $((RANDOM % 2)) /proc/sys/kernel/stack_tracer_enabled ;;
	esac
}
reader() {
	pick_instance
	case $((RANDOM % 7)) in
	0) some cat $i/trace ;;
	1) some cat $i/per_cpu/cpu$((RANDOM % 4))/trace ;;
	2) some timeout 0.5 cat $i/trace_pipe ;;
	3) some timeout 0.5 cat $i/per_cpu/cpu$((RANDOM % 4))/trace_pipe_raw ;;
	4) some cat $i/snapshot ;;
	5) some cat $i/function_counts $i/function_latency trace_stat/function$((RANDOM % 4)) ;;
	6) some cat callsets enabled_functions $i/throttled $i/error_log stack_trace ;;
	esac
}
instance() {
	local i=instances/three n
	op "mkdir $i"
	[ -d $i ] || mkdir $i || return
	put 128 $i/buffer_size_kb
	sleep 0.$((RANDOM % 10))
	for n in 1 2 3 4 5 6 7 8 9; do
		op "rmdir $i"
		rmdir $i && return
		put nop $i/current_tracer
		sleep 0.1
	done
	return 1
}
limits() {
	pick_instance
	case $((RANDOM % 4)) in
	0) put $((RANDOM % 2 * RANDOM)) $i/max_rate ;;
	1) put $((RANDOM % 2 * RANDOM * 10)) $i/max_rate ;;
	2) put $((RANDOM % 2 * RANDOM % 30)) $i/max_overhead ;;
	3) put '' $i/throttled ;;
	esac && sleep 0.1
}
# On the entry of a function, which function tracing serves, or after it, with INT3 or a jump; on
# its return.
probe() {
	local n=torture$((RANDOM % 8)) kind function group
	for group in kprobes fprobes; do [ ! -d events/$group/$n ] || break; done
	case $((RANDOM % 5)) in
	0 | 1)
		pick $functions
		function=$picked
		pick p p r f f
		kind=$picked
		case $kind in
		p) pick '' '' '' +4 +5 +9 +10 +12 +16 +20 +24 +30 ;;
		f) pick '' %return ;;
		*) picked= ;;
		esac
		add "$kind:$n $function$picked" dynamic_events
		;;
	2)
		# The kernel takes a breakpoint or a hook away only if there is memory, and warns.
		pick 'put 1' 'sure 0'
		[ ! -d events/$group/$n ] || $picked events/$group/$n/enable
		;;
	3)
		[ ! -d events/$group/$n ] || {
			sure 0 events/$group/$n/enable
			add "-:$group/$n" dynamic_events
		}
		;;
	4) put $((RANDOM % 2)) /proc/sys/debug/kprobes-optimization ;;
	esac
}
event() {
	pick_instance
	case $((RANDOM % 4)) in
	0 | 1)
		pick sched irq timer kmem syscalls raw_syscalls workqueue rcu
		put $((RANDOM % 2)) $i/events/$picked/enable
		;;
	2) put $((RANDOM % 2)) /proc/sys/kernel/sched_schedstats ;;
	3) put_one /sys/kernel/debug/sched/preempt full lazy ;;
	esac
}
livepatch() {
	op "modprobe livepatch-sample"
	modprobe livepatch-sample || return
	sleep 0.$((RANDOM % 5))
	cat /proc/cmdline
	livepatch_off
}
livepatch_off() {
	local lp=/sys/kernel/livepatch/livepatch_sample
	[ -d $lp ] || return 0
	put 0 $lp/enabled
	for _ in $(seq 200); do
		[ -d $lp ] || break
		sleep 0.1
	done
	modprobe -r livepatch-sample
}
modules=$(there trace-events-sample ftrace-direct ftrace-direct-too ftrace-direct-multi \
	ftrace-direct-modify ftrace-ops \
	sample-trace-array kprobe_example kretprobe_example fprobe_example)
module() {
	pick $modules
	op "modprobe $picked, and -r"
	modprobe $picked && sleep 0.$((RANDOM % 3)) && modprobe -r $picked
}
# Of any kind, on the functions of every_call.ko: see watch.h.
graph=$(graph_symbols)
user() { # NUMBER
	local kind=$((RANDOM % 9))
	pick every_call_0 every_call_1,every_call_2 every_call_2,every_call_0,vfs_read \
		every_call_3 every_call_4,kfree
	op "insmod detach_user$1.ko kind=$kind functions=$picked, and rmmod"
	insmod $mods/detach_user"$1".ko kind=$kind functions="$picked" rounds=$((1 + RANDOM % 4)) \
		$graph || return
	sleep 0.0$((RANDOM % 10))
	rmmod detach_user"$1"
}
user0() { user 0; }
user1() { user 1; }
cpu() {
	local c=/sys/devices/system/cpu/cpu$((1 + RANDOM % 3))/online
	[ -e $c ] || return 1
	put 0 $c
	sleep 0.$((RANDOM % 3))
	put 1 $c
}
nmi() {
	put l /proc/sysrq-trigger
	sleep 0.2
}
# One allocation in so many fails, of those that the workers make which change tracing.
fail=/sys/kernel/debug/failslab
memory() {
	sleep $((RANDOM % 3))
	put $((1 + RANDOM % 10)) $fail/probability
	sleep 0.$((RANDOM % 10))
	put 0 $fail/probability
}
failing='tracer options clock size reset limits probe event'
reads() { bytes 10000; }
forks() { /bin/true; }
# Those that are asleep in functions whose return is hooked.
sleeps() { sleep $((RANDOM % 8)); }

# Without their modules these do nothing.
absent=
[ "$(there livepatch-sample)" ] || absent=livepatch
[ "$modules" ] || absent+=' module'
for w in $absent; do
	result 0 "$w did something, and ended in time # SKIP there are no samples"
	without+=,$w
done
workers=
for w in tracer options clock size reset reader instance limits probe event livepatch module \
	user0 user1 cpu nmi memory \
	reads forks sleeps; do
	case ",${without:=}," in *",$w,"*) ;; *) workers+=" $w" ;; esac
done
if [ -d $fail ]; then
	echo Y >$fail/task-filter
	echo N >$fail/ignore-gfp-wait
	echo -1 >$fail/times
	echo 0 >$fail/verbose
else
	workers=${workers/ memory/} failing=
fi
undo() {
	local i f o
	me=undo
	[ ! -d $fail ] || echo 0 >$fail/probability
	for f in set_graph_function set_graph_notrace; do put '' $f; done
	for f in max_graph_depth /proc/sys/kernel/stack_tracer_enabled function_profile_enabled; do
		put 0 $f
	done
	for i in . instances/*; do
		put nop $i/current_tracer
		for f in events/enable max_rate max_overhead; do put 0 $i/$f; done
		for f in throttled set_ftrace_filter set_ftrace_notrace set_ftrace_pid
			do put '' $i/$f; done
		for o in $options; do [ ! -e $i/options/$o ] ||
			put $(cat $dir/was/$o) $i/options/$o; done
		put 0 $i/snapshot
		put 4 $i/buffer_subbuf_size_kb
		put 256 $i/buffer_size_kb
		put local $i/trace_clock
		put f $i/tracing_cpumask
		put 1 $i/tracing_on
		put '' $i/trace
	done
	check "dynamic events can be removed" put '' dynamic_events
	put 1 /proc/sys/debug/kprobes-optimization
	put 0 /proc/sys/kernel/sched_schedstats
	# For all instances the one that was set last decides, and it may be gone.
	for o in 0 "$(cat $dir/was/trace_printk)"; do put "$o" options/trace_printk; done
	put full /sys/kernel/debug/sched/preempt
	livepatch_off
	for m in $modules; do modprobe -r "$m"; done
	for c in /sys/devices/system/cpu/cpu[1-9]*/online; do put 1 "$c"; done
	# Changes that are undone later: optimised probes, work on a timer.
	sleep 2
} 2>$dir/undo.errors

# Some keys are switched on once and for all, by the first user: now. Some modules do, too: the
# first that has a trace_printk().
warm_up() {
	local w n
	me=warm-up
	mkdir $dir/was
	for n in $options; do cat options/$n >$dir/was/$n; done
	for n in $modules; do modprobe $n && modprobe -r $n; done
	for n in $tracers; do put $n current_tracer; done
	for n in 1 2 3 4 5 6 7 8; do
		for w in tracer options clock size reset probe event module cpu nmi; do
			case ",${without:=}," in *",$w,"*) ;; *) $w ;; esac
		done
	done
	echo 1 >events/enable
	livepatch
	undo
} >/dev/null 2>&1

# A worker that is at one operation for minutes, or calls that were not seen once: no more is to be
# learnt. To disable all events of a system takes a grace period for each, which is minutes under
# KASAN; modules wait for that.
counts=/sys/kernel/debug/every_call/counts
sound() {
	local late
	late=$(find $dir -name '*.last' -mmin +10 | head -n 1)
	if [ "$late" ]; then
		result 1 "${late##*/} goes on for more than 10 minutes: $(cat "$late")"
		dmesg -n 8
		echo w >/proc/sysrq-trigger
		echo l >/proc/sysrq-trigger
		sleep 5
		exit 1
	fi
	{ memory_fails || no_faults >/dev/null; } && grep -qx 'wrong 0' $counts
}
# Stock's code warns in some places where an allocation fails: of a kprobe's hook, of a ring for a
# CPU.
memory_fails() { [[ " $workers " == *" memory "* ]]; }

[ -e $mods/every_call.ko ] || skip_all 'test_modules is not built'
sites_save
RANDOM=$seed
warm_up
check "the text was saved" text_save $dir/text
insmod $mods/detach_watch.ko; result $? "detach_watch.ko is loaded"
insmod $mods/every_call.ko; result $? "every_call.ko is loaded"

rm -f $dir/*.last
start $workers
while more "${seconds:-60}" && sound; do
	sleep 5
	echo "at $((SECONDS - begun)) s: $(tr '\n' ' ' <$counts)"
done
finish
undo
# Why something stays.
{ cat $dir/undo.errors; grep . dynamic_events set_event instances/*/set_event; } | notes 60

report $workers
check "every user that stayed saw each call once" grep -x 'wrong 0' $counts
for context in task softirq hardirq nmi; do
	check "there were calls in $context" grep -x "$context [1-9].*" $counts
done
# A count of missed calls is no RMW, so it may fall short where calls were missed at the same time.
# fprobe counts none of those that the graph's test of recursion leaves out: an NMI at the border of
# an interrupt.
calls=$(awk 'NF == 2 && $1 != "wrong" { n += $2 } END { print n + 0 }' $counts)
while read -r user unseen missed; do
	[ "$missed" ] || continue
	case $user in
	fprobe*) [ "$unseen" -ge "$missed" ] && [ $((unseen * 1000)) -le "$calls" ] ;;
	*) [ "$unseen" -ge "$missed" ] && { [ "$unseen" = 0 ] || [ "$missed" -gt 0 ]; } ;;
	esac
	result $? "$user: $unseen unseen calls of $calls, $missed counted as missed"
done <$counts
check "no user was called after its detach" awk \
	'NF > 2 { n += $6 + $7 } $1 == "stale" { n += $2 } END { exit n > 0 }' \
	/sys/kernel/debug/detach/counts
rmmod every_call; result $? "every_call.ko is unloaded"
rmmod detach_watch
off enabled_functions "no function is left enabled"
off /sys/kernel/debug/kprobes/list "no probe is left"
sites_compare
check "every byte of the kernel's text is as before" textbytes diff $dir/text
check "instances can be removed" rmdir instances/*
if memory_fails; then
	no_faults | notes 40
else
	check "the kernel warned of nothing" no_faults
fi
done_testing
