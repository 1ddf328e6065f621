#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Tests ftrace-overhead bisect with the running kernel, as root:
#
#	[only=NAME,...] ./live-bisect.sh [FTRACE-OVERHEAD]
#	crash=/dev/DISK ./live-bisect.sh [FTRACE-OVERHEAD]
#
# It finds functions of planted/bisect_planted.ko that fail, are slow or reset the machine while
# they are traced. After each test tracefs has to be as it was before. judge.py looks at the files
# NAME.json; NAME.wanted has the functions that it is to name. With crash= the machine is reset, and
# this is to be run again: the disk, an empty one of some MB that is overwritten, keeps the state
# over it.
. "${0%/*}/../tracing-tools/lib.sh"
fo=${1:-ftrace-overhead}
planted_ko=$here/../../ftrace-overhead/planted/bisect_planted.ko
planted=/sys/module/bisect_planted/parameters
insmod $planted_ko || skip_all "there is no $planted_ko for this kernel"
trap 'rmmod bisect_planted; at_exit' EXIT
n=$(grep -vc __ftrace_invalid available_filter_functions)
limit=$(awk -v n="$n" 'BEGIN { for (l = 0; 2 ^ (l + 1) <= n; l++); print l + 5 }')

tool_begin "$fo bisect" 400
kept() { check "$1: the state is kept" test -s ftrace-overhead.bisect; }
gone() { check "$1: no state is left" test ! -e ftrace-overhead.bisect; }
named() { sed -n 's/^\t\(planted[a-z_]*\) \[bisect_planted\]$/\1/p' out | paste -sd' '; }
steps() { grep -c '^\[ *[0-9]* of about' $err; }

single() {
	run 'a function that fails' 0 -- cat $planted/fails
	is 'a function that fails: it is found' planted_fails "$(named)"
	echo "# $(steps) sets, of $n functions; $limit are allowed"
	check 'a function that fails: in log2(n) + 5 runs' test "$(steps)" -le "$limit"
	check 'a function that fails: and what to do' grep -q \
		"echo 'planted_fails' >> $tracing/set_ftrace_notrace" out
	check 'a function that fails: tried without it' grep -q \
		'With all others traced TEST passes' out
	said 'progress' '^\[ 1 of about [0-9]*\] no functions: passes ([0-9.]* s)$'
	said 'progress: why it fails' 'functions: fails: status 1 ('
	gone 'a function that fails'
	run 'JSON' 0 -j -f 'planted_*' -f 'vfs_*' -- cat $planted/fails
	cp out $results/one.json
	echo planted_fails >$results/one.wanted
	run 'another tracer' 0 -t function_graph -f 'planted_*' -f 'vfs_*' -- cat $planted/fails
	is 'another tracer: it is found' planted_fails "$(named)"
}
pair() {
	# Of all functions this takes minutes in an emulator: most sets are large.
	run 'two functions' 0 -j -f 'planted_*' -f 'sys*' -- cat $planted/both
	echo "# $(steps) sets"
	cp out $results/two.json
	echo planted_one planted_other >$results/two.wanted
	run 'two functions, of a few' 0 -f 'planted_*' -f 'vfs_*' -- cat $planted/both
	is 'two functions, of a few' 'planted_one planted_other' "$(named)"
	run 'one of two culprits' 0 -f 'planted_*' -- sh -c \
		"cat $planted/fails && cat $planted/both"
	check 'one of two culprits: there is another' grep -q 'there is another culprit' out
	fails 'more than are allowed' 1 'more than 1 functions are needed' -m 1 -f 'planted_*' -- \
		cat $planted/both
	kept 'more than are allowed'
	run 'more are allowed later' 0 -R
	is 'more are allowed later' 'planted_one planted_other' "$(named)"
}
slow() {
	# 0.3 seconds, or 1.8: what else is busy on the host is not three times as slow.
	run 'a slow function' 0 -S 3 -f 'planted_*' -f 'vfs_*' -- \
		sh -c "sleep 0.3; cat $planted/slow"
	is 'a slow function: it is found' planted_slow "$(named)"
	said 'a slow function: why' 'fails: slow ('
	run 'a test that takes too long' 0 -T 1.2 -f 'planted_*' -f 'vfs_*' -- cat $planted/slow
	is 'a test that takes too long: it is found' planted_slow "$(named)"
	said 'a test that takes too long: why' 'fails: takes too long ('
	# Passes each second time, with any function traced.
	run 'a test that fails now and then' 0 -r 2 -f 'planted_*' -- sh -c \
		"[ -e now ] && rm now || : >now; [ -e now ] || cat $planted/fails"
	is 'a test that fails now and then: it is found' planted_fails "$(named)"
}
nothing() {
	run 'a test that passes' 3 -f 'vfs_*' -- true
	check 'a test that passes: says so' grep -q 'TEST passes with everything traced' out
	gone 'a test that passes'
	run 'a test that passes, as JSON' 3 -j -f 'vfs_*' -- true
	cp out $results/none.json
	: >$results/none.wanted
	fails 'a test that fails always' 1 'TEST fails without tracing' -f 'vfs_*' -- false
	gone 'a test that fails always'
	fails 'a test that cannot be run' 1 'its status is 125' -- sh -c 'exit 125'
	gone 'a test that cannot be run'
	run 'functions that are left out' 3 -f 'planted_*' -n planted_fails -- cat $planted/fails
}
wrong() {
	fails 'no such command' 127 'no_such cannot be run: No such file' -- no_such
	gone 'no such command'
	fails 'not a command' 126 'passwd cannot be run: Permission denied' -- /etc/passwd
	fails 'no test' 2 'there is no TEST'
	fails 'no test after --' 2 'there is no TEST' --
	fails 'a word before --' 2 "'true' is not an option" true
	fails 'an unknown option' 2 'Try .ftrace-overhead bisect --help' --no-such -- true
	fails 'no time' 2 "--timeout: '0' is not" -T 0 -- true
	fails 'no factor' 2 "--slower: '1' is not a number above 1" -S 1 -- true
	fails 'no number of times' 2 "--repeat: 'x' is not" -r x -- true
	fails 'no tracer' 2 "--tracer: 'nop' is neither" -t nop -- true
	fails 'a glob that is none' 2 'it has a space in it' -f 'a b' -- true
	fails 'no such function' 1 "no function matches 'no_such'" -f no_such -- true
	fails 'no function is left' 1 'no function is left' -f vfs_read -n 'vfs_*' -- true
	fails 'nothing to go on with' 1 'there is nothing to go on with' --resume
	fails '--resume with a test' 2 '--resume takes TEST' --resume -- true
	fails '--resume with options' 2 '--resume takes TEST' --resume -f 'vfs_*'
	fails 'a directory that is not there' 1 'cannot be written: No such file' -s no_such/x -- \
		true
	version_and_help ftrace-overhead 13
}

# Until it has tried some sets
began() { in_background '^\[ *[0-9]* of' 3 "$@"; }
ended() { wait $begun 2>/dev/null; }
# Its worker holds the instance for a moment longer.
killed() {
	kill -9 $begun
	ended
	gone_after_kill ftrace-overhead
}
again=(-f 'planted_*' -f 'vfs_*' -- sh -c "sleep 0.3; cat $planted/fails")
# The one that the keeper, $begun, has started.
worker_of() { awk -v keeper=$begun '$4 == keeper { print $1 }' /proc/[0-9]*/stat 2>/dev/null; }
resumed() {
	run "$1" 0 --resume
	is "$1: it is found" planted_fails "$(named)"
	gone "$1"
}
states() {
	began "${again[@]}"
	kill -INT $begun
	ended
	is 'Ctrl-C: status 130' 130 $?
	check 'Ctrl-C: says how to go on' grep -q 'To go on: ftrace-overhead bisect --resume$' \
		began.err
	restored 'Ctrl-C'
	kept 'Ctrl-C'
	fails 'a state is there' 1 'use --resume, or remove it' -- true
	kept 'a state is there'
	resumed 'after Ctrl-C'
	said 'after Ctrl-C: what is known is not tried again' '^\[ [4-9] of'
	is 'after Ctrl-C: the first set is not tried again' 0 "$(grep -c '^\[ 1 of' $err)"

	began "${again[@]}"
	kill -9 "$(worker_of)"
	ended
	is 'the worker is killed: status 137' 137 $?
	restored 'the worker is killed'
	resumed 'after the worker was killed'

	began "${again[@]}"
	killed
	check 'SIGKILL leaves an instance' test -d $tracing/instances/ftrace-overhead-$begun
	rm -f out
	resumed 'after SIGKILL, with what it left'

	# As a machine that has crashed would leave it: another boot.
	began "${again[@]}"
	killed
	sed 's/./0/g' /proc/sys/kernel/random/boot_id >boot_id
	mount --bind boot_id /proc/sys/kernel/random/boot_id
	# The set had nothing to do with it, so the outcome may be anything.
	timeout 400 $fo bisect --resume -m 1 >out 2>$err </dev/null
	restored 'another boot'
	said 'another boot: the run without an outcome is a crash' \
		'Resumed after [0-9]* sets; the last one has crashed'
	umount /proc/sys/kernel/random/boot_id

	rm -f ftrace-overhead.bisect
	began -s here "${again[@]}"
	kill $begun
	ended
	sed -i 's/^release .*/release 5.0/' here
	fails 'another kernel' 1 'is of the kernel 5.0, and this is' --resume --state here
	sed -i "s/^release .*/release $(uname -r)/; s/^function vfs_read$/function no_such_read/" \
		here
	fails 'a function is gone' 1 'function no_such_read is not there any more' --resume \
		--state here
	sed -i 's/^function no_such_read$/function vfs_read/' here
	rmmod bisect_planted
	before=$(state)
	fails 'a module is gone' 1 'of module bisect_planted is not there any more: load it' \
		--resume --state here
	insmod $planted_ko
	before=$(state)
	run 'the module is back' 0 --resume --state here
	is 'the module is back: it is found' planted_fails "$(named)"
	echo hello >here
	fails 'a state that is none' 1 'here cannot be used: it is not the state' --resume \
		--state here
	rm here
}

# Signals at any time: while it starts, traces, tests and ends.
signals() {
	local at signal bad=0
	random_seed
	RANDOM=$seed
	for signal in INT TERM INT TERM INT TERM INT TERM; do
		for _ in 1 2; do
			rm -f ftrace-overhead.bisect
			interrupt $signal 3000 "${again[@]}"
		done
	done
	is 'signals at any time: tracefs is as before' 0 $bad
	bad=0
	for _ in $(seq 8); do
		at_random 3000
		rm -f ftrace-overhead.bisect
		timeout -s KILL $at $fo bisect "${again[@]}" >out 2>$err </dev/null
		gone_after_kill ftrace-overhead
		# Those that were killed leave an instance, which this one removes.
		rm -f ftrace-overhead.bisect
		$fo bisect -f vfs_read -- true >out 2>$err </dev/null
		unchanged "SIGKILL at $at"
	done
	is 'SIGKILL at any time: the next run removes what was left' 0 $bad
	rm -f ftrace-overhead.bisect
}
access() {
	no_access -- true
	timeout 100 $fo bisect -f 'planted_*' -- cat $planted/fails >out 2>$err
	is 'no tracefs: status 0' 0 $?
	is 'no tracefs: it is mounted, and it is found' planted_fails "$(named)"
	restored 'no tracefs'
}

# The test copies the state to the disk, and then resets the machine if planted_crash is traced.
crash() {
	local text='a function that resets the machine' status
	local keep="dd if=ftrace-overhead.bisect of=$crash conv=sync,fsync status=none"
	tr -d '\0' <$crash >ftrace-overhead.bisect
	if [ -s ftrace-overhead.bisect ]; then
		$fo bisect --resume >out 2>$err </dev/null
	else
		rm ftrace-overhead.bisect
		$fo bisect -f 'planted_*' -f 'vfs_*' -- \
			sh -c "$keep; cat $planted/crash" >out 2>$err </dev/null
	fi
	status=$?
	is "$text: status 0" 0 $status
	is "$text: it is found" planted_crash "$(named)"
	[ "$(named)" = planted_crash ] || notes <$err
	said "$text" 'the last one has crashed the machine'
	restored "$text"
}

if [ -n "${crash:-}" ]; then
	crash
	done_testing
fi
for test in single pair slow nothing wrong states signals access; do
	[[ ,${only:-$test}, != *,$test,* ]] || $test
done
[ -n "${only:-}" ] || judge "$here/../../ftrace-overhead/judge.py" bisect
done_testing
