#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Tests ftrace-overhead with the running kernel, as root:
#
#	[only=NAME,...] [LOAD=PROGRAM] ./live.sh [FTRACE-OVERHEAD]
#
# Its predictions for four loads, of load.c, have to agree with its measurements; the line that it
# ends with has to be within the budget when another program writes it; in each case, tracefs has to
# be as it was before. judge.py looks at the files NAME.json. A machine that has other work makes
# predictions wrong: best is an emulator that counts instructions as time, as qemu -icount shift=0
# does.
load=$(command -v "${LOAD:-load}") && load=$(realpath "$load")
. "${0%/*}/../tracing-tools/lib.sh"
[ "$load" ] || skip_all "there is no ${LOAD:-load}: set LOAD"
mkdir -p /run
fo=${1:-ftrace-overhead}
tool_begin $fo 400
mode=ours
grep -qw count $tracing/available_tracers || mode=stock
work=(dd if=/dev/zero of=/dev/null bs=1 count=2000 status=none)
# To switch all functions takes stock as long as a thousand runs, so it gets fewer of them.
some='vfs_* ksys_* do_* __x64_sys_* *page* *folio* *lock* tcp_* ip_*'

# As a user of the top instance would; tracefs is to be like that after the next run.
trace() { # FILE WORDS
	echo "$2" >$tracing/$1 || result 1 "$1 takes $2"
	before=$(state)
}
nothing() { # is traced
	trace current_tracer nop
	trace set_event ''
	trace set_ftrace_notrace ''
	trace set_ftrace_filter ''
}
filter() { trace set_ftrace_filter "$([ $mode = ours ] || echo "$some")"; }

# json NAME ARGUMENT...
json() {
	run "$1" 0 -b 1000% --json "${@:2}"
	cp out "$results/$1.json"
	echo $mode >"$results/$1.wanted"
}
predictions() {
	filter
	trace current_tracer function
	json bytes -- "${work[@]}"
	json exec -C -- sh -c 'for i in 1 2 3 4 5 6; do /bin/true; done'
	json pipe -C -- $load switch 300
	json tcp -C -- $load tcp 20
	trace current_tracer nop
	filter
	trace current_tracer function_graph
	json graph -C -- "${work[@]}"
	trace current_tracer nop
	if [ $mode = ours ]; then
		# Of so little, the measurement is too far off to judge the prediction.
		trace current_tracer count
		run 'counted calls' 0 -C -b 1000% -r 3 -- "${work[@]}"
		check 'counted calls: what one costs' grep -qE \
			'^On this machine a call costs [3-6](\.[0-9]+)? ns\.$' out
		check 'counted calls: predicted' grep -qE '^Predicted: [1-9][0-9.]* %$' out
		trace current_tracer nop
	fi
	trace set_ftrace_filter ''
	trace set_event 'sched raw_syscalls'
	json events -C -- $load switch 300
	trace set_event ''
	trace kprobe_events 'p:mine vfs_read'
	trace events/kprobes/enable 1
	json probe -C -- "${work[@]}"
	trace events/kprobes/enable 0
	trace kprobe_events ''
	# Nothing is set up: this is the cost that the tracer would have.
	trace set_ftrace_filter 'vfs_* ksys_*'
	json tracer -C -t function -- "${work[@]}"
	trace set_ftrace_filter ''
	judge "$here/../../ftrace-overhead/judge.py" predicted
}

# The text that people read, and that the line it ends with holds.
budget() {
	local line
	trace set_ftrace_filter 'vfs_* ksys_* __x64_sys_* *_null *_zero fdget*'
	trace set_ftrace_notrace vfs_open
	trace current_tracer function
	run 'a budget' 0 -b 10% -- "${work[@]}"
	check 'a budget: predicted' grep -qE '^Predicted: [0-9.]+ %$' out
	check 'a budget: measured' grep -qE \
		'^Measured:  [0-9.]+ % \+- [0-9.]+ % \(of [0-9]+ runs' out
	check 'a budget: parts' grep -qE \
		'^ +[0-9]+ of [0-9]+ functions and events: predicted [0-9.]+ %, measured' out
	is 'a budget: each function is a line' 1 "$(grep -c '^read_zero  *2000 ' out)"
	line=$(grep '^echo ' out)
	check 'a budget: a line' grep -q "^echo '.*' >> $tracing/set_ftrace_notrace\$" <<<"$line"
	eval "$line"
	before=$(state)
	check 'the line leaves functions out' test "$(wc -l <$tracing/set_ftrace_notrace)" -gt 1
	check 'the line leaves what was there' grep -qx vfs_open $tracing/set_ftrace_notrace
	run 'with the line' 0 -C -b 10% -- "${work[@]}"
	check 'with the line it is within the budget' grep -q \
		'^This is within the budget of 10 %\.$' out
	nothing
	trace set_event raw_syscalls
	run 'a budget for events' 0 -C -b 5% -- "${work[@]}"
	check 'a budget for events: a line' grep -q \
		"^echo '!raw_syscalls:.*' >> $tracing/set_event\$" out
	eval "$(grep '^echo ' out)"
	check 'the line switches events off' test "$(wc -l <$tracing/set_event)" -lt 2
	trace set_event ''
}

watching() {
	local other
	trace set_ftrace_filter 'vfs_* ksys_* __x64_sys_*'
	trace current_tracer function
	while :; do "${work[@]}"; done &
	other=$!
	run 'an event is watched' 0 -C -b 1000% -s 0.3 -r 4 -w sched:sched_process_exec
	check 'an event is watched: what a run is' grep -q '^A sched_process_exec takes ' out
	trace current_tracer nop
	trace set_event sched:sched_switch
	run 'an event beside another' 0 -C -b 1000% -s 0.3 -r 4 -j -w sched:sched_process_exec
	# A process that is made ends with a switch, at least.
	check 'an event beside another: switches for each exec' awk \
		'match($0, /"sched_switch","system":"sched","hits":[0-9.e+-]+/) {
			split(substr($0, RSTART, RLENGTH), part, ":"); n = part[3] }
		END { exit !(n >= 1 && n < 1000) }' out
	trace set_event ''
	kill $other
	wait $other || :
	fails 'too short a time' 1 \
		'the CPUs were idle for all of 0.02 seconds: give a longer time' \
		-C -s 0.02 -r 2 -w sched:sched_switch
	trace current_tracer function
	fails 'an event that does not happen' 1 'sched:sched_kthread_stop has not happened' \
		-s 0.2 -w sched:sched_kthread_stop
	nothing
	fails 'an event that is not there' 1 'has no event no:such' -w no:such
	fails 'no event' 2 "'such' is not an event: SYSTEM:NAME" -w such
}

commands() {
	trace set_ftrace_filter 'vfs_*'
	trace current_tracer function
	fails 'a command that fails' 1 \
		'false has failed: its status is 1; --ignore-status takes that' -- false
	run 'a command that may fail' 0 -C -i -b 1000% -r 2 -- false
	fails 'a command that is killed' 1 'sh was ended by signal 9' -- sh -c 'kill -9 $$'
	fails 'a high status' 1 'sh has failed: its status is 200' -- sh -c 'exit 200'
	fails 'no such command' 127 'no_such cannot be run: No such file' -- no_such
	fails 'not a command' 126 'passwd cannot be run: Permission denied' -- /etc/passwd
	run 'what the command writes is not shown' 0 -C -b 1000% -r 2 -- echo hello
	is 'what the command writes is not shown: so it is' 0 "$(grep -c hello out)"
	trace buffer_size_kb 4
	run 'a buffer that is full' 0 -C -b 1000% -r 3 -- "${work[@]}"
	trace buffer_size_kb 1024
	timeout 60 $fo -C -r 2 -- true >/dev/full 2>$err
	is 'a full disk: status 1' 1 $?
	said 'a full disk' 'cannot write: No space left on device'
	restored 'a full disk'
	nothing
}

wrong() {
	fails 'nothing to measure' 2 'no command to run, and no event to watch'
	fails 'two things to measure' 2 'cannot be combined' -w a:b -- true
	fails 'no budget' 2 "--budget: 'x' is not a percentage above 0" -b x -- true
	fails 'a budget below 0' 2 "--budget: '-1%' is not" -b -1% -- true
	fails 'one run' 2 "--runs: '1' is not a number from 2 on" -r 1 -- true
	fails 'no seconds' 2 "--seconds: '0' is not" -s 0 -- true
	fails 'an unknown option' 2 'Try .ftrace-overhead --help' --no-such -- true
	version_and_help ftrace-overhead 11
}

refusals() {
	trace current_tracer function
	fails 'a tracer is in use' 1 'somebody traces: current_tracer is function;' -t \
		function_graph -- true
	trace current_tracer nop
	fails 'no such tracer' 1 'does not have the tracer no_such, only: ' -t no_such -- true
	trace tracing_on 0
	fails 'nothing is recorded' 1 'tracing_on is 0' -- true
	trace tracing_on 1
	if [ $mode = stock ]; then
		trace function_profile_enabled 1
		fails 'the profiler is in use' 1 'function_profile_enabled is 1' -- true
		trace function_profile_enabled 0
	fi
	$fo -C -- sleep 1000 >/dev/null 2>began.err &
	local other=$!
	until grep -q ^Measuring began.err; do sleep 0.1; done
	timeout 20 $fo -- true >out 2>$err
	is 'another one: status 1' 1 $?
	said 'another one: who' "another one is measuring already: process $other"
	kill $other
	wait $other
	is 'SIGTERM: status' 143 $?
	restored 'SIGTERM'
	check 'SIGTERM: nothing of it runs on' test -z "$(grep -lsx sleep /proc/[0-9]*/comm)"
}

# Signals at any time: to both processes, as from a terminal, and to each of them.
signals() {
	local i at signal bad=0 pid child left=0
	random_seed
	RANDOM=$seed
	trace set_ftrace_filter 'vfs_* ksys_*'
	trace set_ftrace_notrace 'vfs_open'
	trace set_event 'sched:sched_switch'
	trace current_tracer function
	for i in $(seq 12); do
		at=0.$(printf '%03d' $((RANDOM % 900)))
		set -- INT TERM KILL SEGV
		shift $((i % 4))
		signal=$1
		$fo -b 0.1% -- "${work[@]}" >out 2>$err &
		pid=$!
		sleep $at
		child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
		if [ $((i % 3)) = 0 ] && [ -n "$child" ]; then
			kill -$signal $child
		else
			kill -$signal $pid
		fi 2>/dev/null
		wait $pid 2>/dev/null
		gone_after_kill ftrace-overhead
		[ "$(state)" != "$before" ] || continue
		# Only a keeper that was killed leaves anything, and then the next run takes it
		# back.
		case $signal in
		KILL | SEGV) left=$((left + 1)) ;;
		*) unchanged "SIG$signal at $at" ;;
		esac
		timeout 60 $fo -C -r 2 -b 1000% -- true >out 2>$err ||
			{ bad=$((bad + 1)); notes <$err; }
		unchanged "after SIG$signal at $at and another run"
	done
	is 'signals at any time: tracefs is as before' 0 $bad
	check 'some have killed the keeper' test $left -gt 0
	nothing
	check 'no file is left' test ! -e /run/ftrace-overhead
}

# The mode hooks: a hook's predicted time of a call is within a tenth of the one by which the work
# gets longer.
took() { # us, of the fastest run: a disturbance makes one slower, never faster
	local begin us least=
	for _ in 1 2 3 4 5; do
		begin=${EPOCHREALTIME/./}
		"${reads[@]}"
		us=$((${EPOCHREALTIME/./} - begin))
		[ "${least:-$us}" -lt $us ] || least=$us
	done
	echo $least
}
hook() { # KIND PATTERN FILE ON OFF
	local without with predicted measured
	without=$(took)
	trace "$3" "$4"
	with=$(took)
	run "hooks: $1" 0 hooks -s .1
	predicted=$(awk -v p="$2" '$0 ~ p { print $2 }' out)
	trace "$3" "$5"
	measured=$(((with - without) * 1000 / calls))
	check "hooks: $1: ${predicted:--} ns are predicted, and $measured measured" \
		test $((predicted * 10)) -ge $((measured * 9)) -a $((predicted * 10)) -le \
			$((measured * 11))
}
# Waits until a probe is measured.
until_probed() { # PID
	while ! grep -q ftrace_overhead $tracing/dynamic_events && kill -0 $1; do :; done
}
# Others change their tracing meanwhile, and signals come at any place.
hooks_beside() {
	local pid
	trace dynamic_events 'p:hooks/mine vfs_read'
	trace events/hooks/mine/enable 1
	trace set_ftrace_notrace vfs_write
	$fo hooks -s 1 >out 2>$err &
	pid=$!
	while ! grep -q count $tracing/instances/ftrace-overhead-*/current_tracer 2>/dev/null &&
		kill -0 $pid; do sleep .05; done
	trace set_ftrace_filter 'vfs_read vfs_write'
	trace current_tracer function
	trace set_ftrace_notrace ''
	trace events/hooks/mine/enable 0
	wait $pid
	is 'hooks: others change their tracing: status 0' 0 $?
	is 'hooks: others change their tracing: the tracer' function \
		"$(cat $tracing/current_tracer)"
	is 'hooks: others change their tracing: no function is left out' '' \
		"$(grep -v '^#' $tracing/set_ftrace_notrace)"
	is 'hooks: others change their tracing: the event is off' 0 \
		"$(cat $tracing/events/hooks/mine/enable)"
	nothing
	trace events/hooks/mine/enable 1
	$fo hooks -s .1 >out 2>$err &
	pid=$!
	until_probed $pid
	kill $pid
	wait $pid
	is 'hooks: a signal while costs are measured: status' 143 $?
	restored 'hooks: a signal while costs are measured'
	trace set_ftrace_filter vfs_read
	local idle=$before
	trace current_tracer function
	$fo hooks -s .1 >out 2>$err &
	pid=$!
	until_probed $pid
	kill -KILL $pid
	gone_after_kill ftrace-overhead
	trace current_tracer nop
	before=$idle
	run 'hooks: after one that was killed' 0 hooks -s .1
	trace current_tracer function
	run 'hooks: two of a function' 0 hooks -s .1
	check 'hooks: two of a function: lines' test "$(wc -l <out)" = 3
	trace current_tracer nop
	trace set_ftrace_filter ''
	trace events/hooks/mine/enable 0
	trace dynamic_events ''
}
# Where no function can be counted, none is: without a filter it would be all of them.
hooks_inside() {
	local pid most=0 now offset
	# After the five bytes of the site, and an ENDBR where there is one.
	for offset in 9 5; do
		echo "p:hooks/mine vfs_read+$offset" >$tracing/dynamic_events && break
	done 2>/dev/null
	[ -d $tracing/events/hooks ] || return
	trace events/hooks/mine/enable 1
	before=$(state)
	$fo hooks -s .5 >out 2>$err &
	pid=$!
	while [ -d /proc/$pid ] && [ "$(cut -d' ' -f3 /proc/$pid/stat)" != Z ]; do
		now=$(wc -l <$tracing/enabled_functions)
		[ "$now" -le $most ] || most=$now
		sleep .05
	done
	wait $pid
	is 'hooks: a probe inside: status 0' 0 $?
	check 'hooks: a probe inside: it is listed below the titles' \
		awk 'NR == 1 { at = index($0, "KIND") }
			/ kprobe .*vfs_read\+/ { ok = index($0, "kprobe") == at }
			END { exit !ok }' out
	check "hooks: a probe inside: no function is counted ($most)" test $most -le 2
	trace events/hooks/mine/enable 0
	trace dynamic_events ''
}
hooks() {
	local calls=20000 reads=(dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none)
	if [ $mode != ours ]; then
		fails 'hooks of a kernel that lists none' 1 'has no file hooks' hooks
		return
	fi
	run 'hooks: none' 0 hooks -s .1
	is 'hooks: none' 1 "$(wc -l <out)"
	trace set_ftrace_filter vfs_read
	hook function 'tracer +vfs_read: function$' current_tracer function nop
	hook function_graph 'tracer +vfs_read: function_graph$' current_tracer function_graph nop
	trace set_ftrace_filter ''
	local kind line
	for kind in kprobe:p: kretprobe:r: fprobe:f: fretprobe:f:%return; do
		IFS=: read -r kind line suffix <<<"$kind"
		trace dynamic_events "$line:hooks/mine vfs_read$suffix"
		hook $kind "${kind/fret/f} +vfs_read: hooks:mine\$" events/hooks/mine/enable 1 0
		trace dynamic_events ''
	done
	trace dynamic_events 'p:hooks/mine vfs_read'
	trace events/hooks/mine/enable 1
	"${reads[@]}" count=1000000000 &
	run 'hooks: calls' 0 hooks -s .5
	kill $!
	check 'hooks: calls a second' awk \
		'/hooks:mine$/ { found = $1 > 10000 && $3 ~ /^[1-9].*%$/ } END { exit !found }' out
	trace events/hooks/mine/enable 0
	trace dynamic_events ''
	hooks_beside
	hooks_inside
	fails 'hooks: a word too many' 2 "'x' is one word too many" hooks x
	fails 'hooks: no time' 2 '--seconds' hooks -s 0
	fails 'hooks: none to show' 2 '--top' hooks -n 0
}

access() {
	# The filter is still there when tracefs is again.
	trace set_ftrace_filter 'vfs_*'
	no_access -- true
	timeout 200 $fo -C -r 2 -b 1000% -- true >out 2>$err
	is 'no tracefs: status 0' 0 $?
	check 'no tracefs: it stays mounted' test -e $tracing/set_ftrace_filter
	restored 'no tracefs'
}

for test in predictions budget watching commands wrong refusals signals hooks access; do
	[[ ,${only:-$test}, != *,$test,* ]] || $test
done
done_testing
