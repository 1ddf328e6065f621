#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Tests funccount with the running kernel, as root:
#
#	[mode=profiler] [only=NAME,...] ./live.sh [FUNCCOUNT]
#
# with the tracer count where the kernel has it, and with the function profiler elsewhere or where
# mode asks for it. The right counts are known: dd reads and writes byte by byte. After each test
# tracefs has to be as it was before. judge.py looks at the files NAME.json; NAME.wanted has the
# counts that it is to find there. Another machine, a virtual one, needs this directory and those
# that it names with ../, and funccount.
. "${0%/*}/../tracing-tools/lib.sh"
program=${1:-funccount} fc=${1:-funccount}
[ "${mode:-}" != profiler ] || fc="$fc --profiler"
grep -qw count available_tracers || mode=profiler
mode=${mode:-count}
calls=1500
work=(dd if=/dev/zero of=/dev/null bs=1 "count=$calls" status=none)
tool_begin "$fc" 60

counting() { [ $mode = count ]; }
of() { awk -v f="$1" '$1 == f { print $2 }' out; } # FUNCTION
# Until it counts; its table will be in began.out.
began() { in_background Hit 1 "$@"; }
exact() {
	run 'a command' 0 read_zero write_null -- "${work[@]}"
	is 'each call is counted once' "$calls $calls" "$(of read_zero) $(of write_null)"
	said 'how many functions' \
		'^Tracing 2 functions for "read_zero", "write_null"\.\.\. Hit Ctrl-C to end\.$'
	is 'the heading' 'FUNC COUNT' "$(awk 'NR == 1 { print $1, $2 }' out)"
	is 'nothing else is there' 3 "$(wc -l <out)"

	run 'every function' 0 '*' -- "${work[@]}"
	is 'each call is counted once, among all others' "$calls" "$(of read_zero)"
	check 'many are called' test "$(wc -l <out)" -gt 100
	awk 'NR > 1 { print $NF }' out >counts
	check 'the highest comes last' sort -c -n counts
	is 'none is named twice' '' "$(awk '{ print $1, $3 != "" ? $2 : "" }' out | sort | uniq -d)"

	run 'the top' 0 -t 2 read_zero write_null ksys_read -- "${work[@]}"
	is 'the top: so many lines' 3 "$(wc -l <out)"
	is 'the top: the highest' "ksys_read" "$(awk 'END { print $1 }' out)"

	run 'a time' 0 -d 0.5 -T 'vfs_*'
	check 'the time of day' grep -qE '^[0-9]{2}:[0-9]{2}:[0-9]{2}$' out
}

cpus() {
	local cpu
	for cpu in 0 1; do
		run "CPU $cpu" 0 -C read_zero -- taskset -c $cpu "${work[@]}"
		is "CPU $cpu: has all calls" "$calls" "$(awk -v cpu=CPU$cpu '
			/^FUNC/ { for (i = 1; i <= NF; i++) if ($i == cpu) at = i }
			$1 == "read_zero" { print $at }' out)"
	done
	run 'all CPUs' 0 -C '*' -- "${work[@]}"
	is 'the CPUs add up' '' "$(sed '1d; s/ \[.*\]//' out | awk '
		{ sum = 0; for (i = 3; i <= NF; i++) sum += $i }
		NF < 4 || sum != $2' | head -n 5)"
}

# json NAME "WANTED" ARGUMENT...: of read_zero in all lines together, or of which module's.
json() {
	run "JSON: $1" 0 -j "${@:3}"
	cp out "$results/$1.json"
	echo "$2" >"$results/$1.wanted"
}
intervals() {
	json once $calls read_zero write_null -- "${work[@]}"
	json intervals $((6 * calls)) -i 0.2 '*' -- sh -c \
		"for i in 1 2 3 4 5 6; do ${work[*]}; sleep 0.1; done"
	json cpus $((4 * calls)) -C -i 0.2 'read_*' 'vfs_*' -- sh -c "for i in 1 2; do
		taskset -c 0 ${work[*]}; taskset -c 1 ${work[*]}; sleep 0.1; done"
	json top $calls -t 1 read_zero read_null -- sh -c "${work[*]}; ${work[*]} if=/dev/null"
	json nothing 0 -d 0.3 read_zero

	run 'intervals for people' 0 -d 1.2 -i 0.5 'vfs_*'
	is 'intervals for people: three tables' 3 "$(grep -c '^FUNC' out)"
}

latency() {
	if ! counting; then
		fails '--latency with the profiler' 1 '--latency needs the tracer count' -L 'vfs_*'
		return
	fi
	run 'times' 0 -L read_zero vfs_read -- "${work[@]}"
	is 'times: the heading' 'FUNC COUNT MEAN P50 P90 P99 MAX' "$(sed -n '1s/  */ /gp' out)"
	is 'times: each call has one' $calls "$(of read_zero)"
	is 'times: percentiles rise' 2 \
		"$(awk 'NR > 1 && NF == 7 && $3 > 0 && $4 <= $5 && $5 <= $6 && $6 <= $7 &&
		$3 <= $7' out | wc -l)"
	run 'times of a sleep' 0 -L do_nanosleep -- sh -c 'sleep 0.3; sleep 0.3'
	check 'times of a sleep: as long as that' test \
		"$(awk '$1 == "do_nanosleep" { print int($3 / 1e8) }' out)" -ge 3
	fails 'times of intervals' 2 '--latency cannot be combined' -L -i 1 'vfs_*'
	fails 'times of CPUs' 2 '--latency cannot be combined' -L -C 'vfs_*'
}

# change FUNCTION: of a table of differences, in percent.
change() { awk -v f="$1" \
	'$1 == f { sub(/%/, "", $4); n = $4 + 0; print int(n + (n < 0 ? -0.5 : 0.5)) }' out; }
# damaged TEXT PATTERN SCRIPT: a record that sed has changed.
damaged() {
	sed "$3" saved >bad
	fails "$1" 125 "bad cannot be .*: $2" -D bad "${which[@]}" -- "${work[@]}"
}
# repeats=N: the same load is compared so often, with all functions. Some of these depend on the
# memory that an instance has: the man page names one.
differences() {
	local more=(dd if=/dev/zero of=/dev/null bs=1 "count=$((calls * 105 / 100))" status=none)
	local which=(read_zero write_null ksys_read) i
	! counting || which=(-f "${which[@]}" 'vfs_*' 'do_*')
	! counting || [ -z "${repeats:-}" ] || which=(-f '*')
	run 'save' 0 -s saved -d 15 "${which[@]}" -- "${work[@]}"
	is 'save: writes no table' '' "$(cat out)"
	is 'save: the version' $'funccount\t1' "$(head -n 1 saved)"
	is 'save: no other file is left' saved "$(ls saved*)"
	is 'save: each run has all calls' '' "$(awk -v calls=$calls '
		$1 == "runs" { for (i = 2; i <= NF; i++) runs[i + 1] = $i }
		$1 == "read_zero" { for (i = 3; i <= NF; i++)
			if ($i != calls * runs[i]) print }' saved)"
	check 'save: many runs' test "$(awk '$1 == "samples" { print $2 }' saved)" -ge 10
	for i in $(seq ${repeats:-1}); do
		run "the same load, $i" 0 -D saved -d 15 "${which[@]}" -- "${work[@]}"
		is "the same load, $i: no function differs" '' "$(cat out)"
		notes <$err
	done
	run '5 % more calls' 3 -D saved -d 15 -s saved2 "${which[@]}" -- "${more[@]}"
	is '5 % more calls: they are named' '5 5' "$(change read_zero) $(change write_null)"
	said '5 % more calls: how many' '[0-9]* of [0-9]* functions differ'
	said '5 % more calls: another command' 'saved: command was "dd".* then, and is "dd".* now'
	run '5 % less' 3 -D saved2 -d 15 "${which[@]}" -- "${work[@]}"
	is '5 % less: they are named' '-5 -5' "$(change read_zero) $(change write_null)"
	run 'intervals' 0 -s intervals -i 0.1 -d 1 read_zero
	run 'intervals of the same' 0 -D intervals read_zero

	damaged 'a record that is cut off' 'line 14: the file is cut off' '14,$d'
	damaged 'a record of another version' "line 1: it is of version '2'" '1s/1/2/'
	damaged 'a record of others' 'functions was .* then' 's/^functions\t.*/functions\tvfs_open/'
	damaged 'a record of intervals' 'interval was 1 then, and is - now' \
		's/^interval\t.*/interval\t1/; s/^command\t.*/command\t-/'
	fails 'a record that is not there' 1 'none cannot be used: No such file' -D none read_zero
	sed 's/^release\t.*/release\t1.0/' saved >bad
	run 'a record of another kernel' 0 -D bad -d 15 "${which[@]}" -- "${work[@]}"
	said 'a record of another kernel' 'release was 1.0 then'
	fails 'no such place' 1 'none/saved cannot be written: No such file' -s none/saved -d 1 \
		read_zero
	fails 'a directory' 1 "'.' is not a regular file" -s . -d 1 read_zero
	mkdir small
	mount -t tmpfs -o size=8k none small
	echo old >small/saved
	head -c 4096 /dev/zero >small/rest
	fails 'a full disk' 1 'small/saved cannot be written: No space' -s small/saved -i 0.1 \
		-d 1 '*'
	is 'a full disk: the old file stays' old "$(cat small/saved)"
	is 'a full disk: no other file is left' $'rest\nsaved' "$(ls small)"
	umount small
	fails 'a command that fails' 125 'false has failed' -s bad -d 1 read_zero -- false
	began -s new -i 100 read_zero
	kill $begun
	wait $begun
	is 'a signal at once: status 1' 1 $?
	check 'a signal at once: says so' grep -q \
		'there are only 0 samples; at least 5 are needed' began.err
	check 'a signal at once: no file' test ! -e new
	restored 'a signal at once'
	fails 'a sample of its own' 2 '--interval and a command cannot be combined' -s new -i 1 \
		read_zero -- true
	fails 'a top of samples' 2 '--save and --diff cannot be combined' -s new -t 1 read_zero
	counting || return 0
	run 'times' 0 -s times -L -d 5 -f do_nanosleep -- sleep 0.01
	run 'the same times' 0 -D times -L -f do_nanosleep -- sleep 0.01
	# So much longer that a busy host does not hide it.
	run 'longer times' 3 -D times -L -f do_nanosleep -- sleep 0.1
	check 'longer times: by how much' test "$(change do_nanosleep)" -ge 50
}

# Another one that makes the same calls.
busy() {
	while :; do "${work[@]}"; done &
	other=$!
}
idle() {
	kill $other
	wait $other
} 2>/dev/null
pids() {
	local target
	if ! counting; then
		fails '--pid with the profiler' 1 '--pid needs the tracer count' -p 1 'vfs_*'
		fails '--follow with the profiler' 125 '--follow needs the tracer count' -f \
			'vfs_*' -- true
		return
	fi
	busy
	run '--follow' 0 -f read_zero -- "${work[@]}"
	is '--follow: the calls of the command only' $calls "$(of read_zero)"
	run '--follow a shell' 0 -f read_zero -- sh -c "${work[*]}; (${work[*]}) & wait"
	is '--follow: and of what it starts' $((2 * calls)) "$(of read_zero)"
	mkfifo go ready
	sh -c "read line <go; ${work[*]}; ${work[*]}; echo >ready; sleep 100" &
	target=$!
	began -p $target read_zero
	echo >go
	read -r _ <ready
	kill $begun
	wait $begun
	is '--pid: status 0' 0 $?
	cp began.out out
	is '--pid: the calls of what it starts' $((2 * calls)) "$(of read_zero)"
	restored '--pid'
	kill $target
	idle
	fails 'a process that is gone' 1 "process $target: No such process" -p $target 'vfs_*'
}

modules() {
	fails 'a module that is not there' 1 "no function of module 'trace_printk' matches '\\*'" \
		-m trace_printk '*'
	if ! modprobe -n trace-printk 2>/dev/null; then
		echo '# no module here to count'
		return
	fi
	if counting; then
		run 'a module that comes and goes' 0 -M '*' -- sh -c \
			'modprobe trace-printk; rmmod trace_printk'
		json unload trace_printk -i 0.2 '*' -- sh -c \
			'modprobe trace-printk; sleep 0.5; rmmod trace_printk; sleep 0.5
			modprobe trace-printk; sleep 0.5; rmmod trace_printk'
	fi
	modprobe trace-printk
	before=$(state)
	run 'a module' 0 -d 0.2 -m trace_printk '*'
	said 'a module: its functions' '^Tracing [1-9][0-9]* function.* for "\*"'
	fails 'no such function in a module' 1 \
		"no function of module 'trace_printk' matches 'vfs_\\*'" -m trace_printk 'vfs_*'
	rmmod trace_printk
	before=$(state)
}

wrong() {
	fails 'nothing matches' 1 "no function matches 'no_such_\\*'" 'no_such_*'
	fails 'one of two does not match' 1 "no function matches 'no_such_\\*'" 'vfs_*' 'no_such_*'
	fails 'no glob' 2 'no function is named'
	fails 'a command for the filter' 2 'it has a colon in it' 'vfs_read:traceoff'
	fails 'an exception' 2 "it begins with '!'" '!vfs_read'
	fails 'two words in one' 2 'it has a space in it' 'vfs_read vfs_write'
	fails 'a number' 2 'it is a number' 12
	fails 'no duration' 2 "--duration: 'x' is not a number of seconds" -d x 'vfs_*'
	fails 'no interval' 2 "--interval: '0' is not" -i 0 'vfs_*'
	fails 'no top' 2 "--top: '-3' is not" -t -3 'vfs_*'
	fails 'no process' 2 "--pid: '1x' is not" -p 1x 'vfs_*'
	fails 'an unknown option' 2 'Try .funccount --help' --no-such 'vfs_*'
	fails 'a time and a command' 2 'cannot be combined' -d 1 'vfs_*' -- true
	fails 'no command' 2 "no command follows '--'" 'vfs_*' --
	fails '--follow whom' 2 '--follow needs a command' -f 'vfs_*'
	fails 'no such command' 127 'no_such cannot be run: No such file' 'vfs_*' -- no_such
	fails 'not a command' 126 'passwd cannot be run: Permission denied' 'vfs_*' -- /etc/passwd
	run "the command's status" 7 read_zero -- sh -c 'exit 7'
	run "the command's signal" 137 read_zero -- sh -c 'kill -9 $$'
	version_and_help funccount 16
}

# Where the table cannot go.
outputs() {
	local status
	timeout 20 $fc -d 0.3 'vfs_*' >/dev/full 2>$err
	is 'a full disk: status 1' 1 $?
	said 'a full disk' 'cannot write: No space left on device'
	restored 'a full disk'
	timeout 20 $fc -i 0.2 'vfs_*' 2>$err | head -n 1 >out
	status=${PIPESTATUS[0]}
	is 'a reader who goes away: status 1' 1 "$status"
	is 'a reader who goes away: no message' 0 \
		"$(grep -vcE '^Tracing|this kernel has no tracer count' $err)"
	restored 'a reader who goes away'
	timeout 20 $fc -d 0.3 'vfs_*' >&- 2>$err
	is 'no output at all: status 1' 1 $?
	restored 'no output at all'

	# A pipe is full after a few tables, and the writer waits for a reader that does nothing.
	mkfifo pipe
	sleep 1000 <>pipe &
	local reader=$! writer
	$fc -i 0.05 '*' >pipe 2>$err &
	writer=$!
	# The profiler of stock takes seconds to begin.
	for _ in $(seq 120); do
		grep -q pipe_write /proc/$writer/wchan && break
		sleep 0.5
	done
	kill $writer
	for _ in $(seq 60); do
		[ -d $tracing/instances/funccount-$writer ] || break
		sleep 0.5
	done
	restored 'a reader who does not read, after a signal'
	check 'a reader who does not read: it is still waited for' kill -0 $writer
	kill $writer
	wait $writer 2>/dev/null
	is 'a reader who does not read: the second signal ends it' 143 $?
	kill $reader
	wait $reader 2>/dev/null
}

# Signals at any time: while it starts, counts, writes and ends.
signals() {
	local signal bad=0
	random_seed
	RANDOM=$seed
	for signal in INT TERM INT TERM INT TERM; do
		interrupt $signal 700 -i 0.05 -C '*'
		interrupt $signal 700 'vfs_*' 'ksys_*'
		interrupt $signal 700 'vfs_*' -- sleep 5
	done
	is 'signals at any time: tracefs is as before' 0 $bad

	began 'vfs_*'
	kill -INT $begun
	wait $begun
	is 'Ctrl-C: status 0' 0 $?
	is 'Ctrl-C: there is a table' FUNC "$(head -n 1 began.out | cut -d' ' -f1)"
	restored 'Ctrl-C'
	mkfifo trapped
	began 'vfs_*' -- sh -c 'trap "exit 9" TERM; echo >trapped; while :; do sleep 0.1; done'
	read -r _ <trapped
	kill $begun
	wait $begun
	is 'the command gets the signal, and has its say' 9 $?
	is 'a command that is ended: there is a table' FUNC "$(head -n 1 began.out | cut -d' ' -f1)"
	restored 'a command that is ended'
}

killed() {
	local living status
	began 'vfs_*'
	kill -9 $begun
	wait $begun 2>/dev/null
	check 'SIGKILL leaves an instance' test "$(ls $tracing/instances)" = funccount-$begun
	mkdir $tracing/instances/funccount-mine
	run_beside 'after SIGKILL' funccount-mine
	rmdir $tracing/instances/funccount-mine
	restored 'after SIGKILL and the next run'
	began '*'
	kill -9 $begun
	wait $begun 2>/dev/null
	# On ours this one does not use the profiler, even if the killed one has.
	tool=$program run 'the next run after SIGKILL, with all functions' 0 read_zero -- \
		"${work[@]}"
	is 'and it counts' $calls "$(of read_zero)"

	began read_zero
	living=$begun
	if counting; then
		began write_null
		kill -9 $begun
		wait $begun 2>/dev/null
	fi
	"${work[@]}"
	timeout 20 $fc -d 0.2 write_null >out 2>$err
	status=$?
	if counting; then
		is 'beside a living one and a killed one: status 0' 0 $status
		is 'the living one stays, the killed one goes' funccount-$living \
			"$(ls $tracing/instances)"
	else
		is 'beside a living one: status 1' 1 $status
		said 'beside a living one' 'function_profile_enabled is 1'
	fi
	"${work[@]}"
	kill $living
	wait $living
	cp began.out out
	is 'the living one has counted on' $((2 * calls)) "$(of read_zero)"
	restored 'after all of them'
}
run_beside() { # TEXT INSTANCE
	timeout 20 $fc read_zero -- "${work[@]}" >out 2>$err
	is "$1: the next run counts" $calls "$(of read_zero)"
	is "$1: what it left is removed, and nothing else" "$2" "$(ls $tracing/instances)"
}

# Two at a time know nothing of each other.
beside() {
	local living
	counting || return
	began -C read_zero
	living=$begun
	timeout 20 $fc -C -i 0.1 read_zero -- "${work[@]}" >out 2>$err
	is 'one beside another: status 0' 0 $?
	is 'one beside another: each counts all' $calls \
		"$(awk '$1 == "read_zero" { n += $2 } END { print n }' out)"
	kill $living
	wait $living
	is 'the other one: counts all' $calls "$(awk '$1 == "read_zero" { print $2 }' began.out)"
	restored 'two at a time'
	if [ -e $tracing/options/count-callers ]; then
		echo 1 >$tracing/options/count-callers
		run 'beside the top with callers' 0 -C read_zero -- "${work[@]}"
		is 'beside the top with callers: each call' $calls "$(of read_zero)"
		echo 0 >$tracing/options/count-callers
	fi
	echo vfs_read >$tracing/set_ftrace_filter
	echo function >$tracing/current_tracer
	echo 1 >$tracing/options/count-cpus
	before=$(state)
	run 'beside a function tracer' 0 -C read_zero vfs_read -- "${work[@]}"
	is 'beside a function tracer: each call' $calls "$(of read_zero)"
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	echo 0 >$tracing/options/count-cpus
	before=$(state)
}

# in_use FILE VALUE IDLE PATTERN: the profiler is not to be used then.
in_use() {
	echo "$2" >$tracing/$1
	before=$(state)
	fails "$1 is in use" 1 "$4" read_zero
	echo "$3" >$tracing/$1
	before=$(state)
}
refusals() {
	! counting || return 0
	in_use function_profile_enabled 1 0 'function_profile_enabled is 1'
	in_use set_ftrace_filter vfs_read '' "set_ftrace_filter has 'vfs_read' in it"
	in_use set_ftrace_notrace vfs_read '' "set_ftrace_notrace has 'vfs_read' in it"
	in_use current_tracer function nop 'current_tracer is function'
	in_use tracing_thresh 100 0 'tracing_thresh is 100'
	run 'the profiler' 0 -d 0.2 read_zero
	grep -qw count $tracing/available_tracers ||
		said 'the profiler' 'no tracer count; the function profiler costs more'
}

terminal() {
	timeout 20 script -qc "$fc -d 2.5 read_zero" /dev/null >out 2>&1
	check 'a terminal: progress' grep -q '1 of 2 s' out
	timeout 20 $fc -d 1.5 read_zero >out 2>$err
	is 'no terminal: no progress' 0 "$(grep -c ' of ' $err)"
	restored 'a terminal'
}

access() {
	no_access "'vfs_*'"
	timeout 60 $fc read_zero -- "${work[@]}" >out 2>$err
	is 'no tracefs: status 0' 0 $?
	is 'no tracefs: it is mounted, and calls are counted' "$calls" "$(of read_zero)"
	check 'no tracefs: it stays mounted' test -e $tracing/set_ftrace_filter
	restored 'no tracefs'
}

echo "# counting with the ${mode/count/tracer count}"
for test in exact cpus intervals latency differences pids modules wrong outputs signals killed \
	beside refusals terminal access; do
	[[ ,${only:-$test}, != *,$test,* ]] || $test
done
[ -n "${only:-}" ] || judge "$here/../../funccount/judge.py"
done_testing
