# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The common part of the guests' jobs. A word guest.NAME=VALUE of the command line or of /job/words
# sets the variable NAME; a result is a line of TAP, with no number. They begin in tracefs.
cd /sys/kernel/tracing || exit 1
for word in $(cat /proc/cmdline /job/words 2>/dev/null); do
	case $word in guest.*=*) declare "${word#guest.}" ;; esac
done

result() { # STATUS TEXT
	if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; fi
}
notes() { head -n "${1:-25}" | sed 's/^/# /'; }
check() { # TEXT COMMAND...: the command's output is shown where it fails
	local text=$1 said status
	shift
	said=$("$@" 2>&1)
	status=$?
	result $status "$text"
	[ $status = 0 ] || notes <<<"$said"
}
same() { [ "$1" = "$2" ] || { printf 'wanted: %s\ngot: %s\n' "$1" "$2"; return 1; }; }
is() { check "$1" same "$2" "$3"; } # TEXT WANTED GOT
# Lines of a file, but for those that say that it has no lines.
nothing_in() { ! grep -v '^#' "$1"; }
off() { check "$2" nothing_in "$1"; } # FILE TEXT

config_has() {
	[ -e /tmp/config ] || zcat /proc/config.gz >/tmp/config || exit 1
	grep -q "^CONFIG_$1=y" /tmp/config
}
# The parameters of modules that call the graph's functions, which are not exported
graph_symbols() {
	sed -n 's/^\(\w*\) . \(un\|\)register_ftrace_graph$/graph_\2register=0x\1/p' /proc/kallsyms
}
there() { # MODULE...: those that the kernel has
	local m
	for m; do ! modprobe -n $m 2>/dev/null || echo $m; done
}

# The bytes of all sites; without them the comparison at the end would compare nothing with nothing.
sites() { textbytes sum <available_filter_functions_addrs; }
sites_save() {
	before=$(sites)
	case $before in *' unread=0 sum='*) return ;; esac
	result 1 "the sites' bytes can be read (CONFIG_PROC_KCORE): ${before:-nothing came}"
	exit 0
}
sites_compare() {
	local after
	after=$(sites)
	is "every byte of every site is as before" "$before" "$after"
	[ "$before" = "$after" ] || textbytes list <available_filter_functions_addrs | notes 20
}

# Copies the kernel's text. The TSC is calibrated in the background, a second after boot or later where the host
# is busy, and a static key of the tracers' clock is set then: that must not come between copy and comparison.
text_save() { # FILE
	local clock tenths
	for ((tenths = 0; tenths < 600; tenths++)); do
		read -r clock </sys/devices/system/clocksource/clocksource0/current_clocksource
		[ "$clock" = tsc ] && sleep .3 && textbytes save "$1" && return
		sleep .1
	done
	echo "no copy of the text, or no settled clock: it is $clock"
	return 1
}

# Workers: each does one operation again and again, the function of its name, which says whether it came to
# anything, until the file $stop is there.
stop=/tmp/stop dir=/tmp/workers
mkdir -p $dir
random_seed() {
	seed=${seed:-$RANDOM}
	echo "# guest.seed=$seed repeats the choices"
}
# at_random MS: sets $at to less than that, in seconds. timeout(1) takes 0 for no end.
# shellcheck disable=SC2034 # for the callers
at_random() {
	local ms=$((1 + RANDOM % ($1 - 1)))
	at=$((ms / 1000)).$(printf '%03d' $((ms % 1000)))
}
worker() { # NAME
	local did=0 not=0 me=$1
	RANDOM=$((${seed:-0} + $(printf '%d' "'$1") + ${#1} + ${1//[^0-9]/}0))
	while [ ! -e $stop ]; do
		if "$1"; then did=$((did + 1)); else not=$((not + 1)); fi >/dev/null 2>>$dir/$1.errors
	done
	echo "$did $not" >$dir/$me
}
start() { # NAME...
	local w
	for w; do worker "$w" & done
}
finish() {
	: >$stop
	wait
}
times_done() { cut -d' ' -f1 $dir/$1; } # NAME: how often it came to something
report() { # NAME...
	local w did not
	for w; do
		did='' not=''
		read -r did not <$dir/$w
		echo "# $w: $did times, $not refused $(tail -n 1 $dir/$w.errors)"
		[ "${did:-0}" -gt 0 ]; result $? "$w did something, and ended in time"
	done
}

# Where the console shows errors only, a warning of the kernel shows in its taint: a bad page, an oops, a warning.
no_faults() {
	[ $(($(cat /proc/sys/kernel/tainted) & (1 << 5 | 1 << 7 | 1 << 9))) = 0 ] && return
	dmesg | grep -m 1 -A 40 -e 'WARNING: ' -e 'BUG: '
	return 1
}

# A program that uses tracefs, and has to leave it as it was: tool_begin COMMAND SECONDS sets the
# command to run, and for how long at most. Its output is in /tmp/out and $err.
tool_begin() {
	tool=$1 tool_seconds=$2 tracing=/sys/kernel/tracing err=/tmp/err
	export LD_LIBRARY_PATH=/job
	cd /tmp || exit 1
	before=$(state)
}
# The state of tracefs as others see it.
state() {
	(
		cd $tracing || exit
		ls instances
		grep -v '^#' set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_event
		cat current_tracer tracing_on function_profile_enabled
		cut -d' ' -f1 enabled_functions
		[ ! -e dynamic_events ] || cat dynamic_events
		[ ! -e options/count-cpus ] || cat options/count-cpus
	)
}
restored() { is "$1: tracefs is as before" "$before" "$(state)"; }
run() { # TEXT STATUS ARGUMENT...
	local text=$1 wanted=$2 status
	shift 2
	# shellcheck disable=SC2086 # the command may have words
	timeout $tool_seconds $tool "$@" >out 2>$err </dev/null
	status=$?
	is "$text: status $wanted" "$wanted" $status
	[ $status = "$wanted" ] || notes <$err
	restored "$text"
}
# The last of its processes may outlive the one that was killed for a moment.
gone_after_kill() { # NAME
	while grep -qsx "$1" /proc/[0-9]*/comm; do sleep 0.05; done
}
said() { check "$1: says so" grep -qe "$2" $err; } # TEXT PATTERN
# in_background PATTERN N ARGUMENT...: until its messages have so many such lines; its process is $begun, its output in
# began.out and began.err. Bash would have it ignore SIGINT.
# shellcheck disable=SC2034 # for the callers
in_background() {
	local pattern=$1 n=$2
	shift 2
	: >began.err
	env --default-signal=INT $tool "$@" >began.out 2>began.err </dev/null &
	begun=$!
	for _ in $(seq 100); do
		[ "$(grep -c "$pattern" began.err)" -lt $n ] || return
		sleep 0.1
	done
	result 1 "$tool $* begins"
	notes <began.err
}
# interrupt SIGNAL MS ARGUMENT...: the signal comes before so many ms are over; $bad counts the faults.
interrupt() {
	local signal=$1 status
	at_random $2
	shift 2
	timeout -s $signal --preserve-status $at $tool "$@" >out 2>$err </dev/null
	status=$?
	# 143 and 130 before it is ready, or as a command's.
	case $status in 0 | 130 | 143) ;; *) bad=$((bad + 1)); echo "# SIG$signal at $at: status $status"; notes <$err ;; esac
	[ "$(state)" = "$before" ] || { bad=$((bad + 1)); echo "# SIG$signal at $at, $*:"; state | notes; }
}
# no_access ARGUMENT...: without privileges, with tracefs and without it.
no_access() {
	local text
	for text in 'no privileges' 'no tracefs and no privileges'; do
		[ "$text" = 'no privileges' ] || umount -l $tracing
		su -s /bin/bash nobody -c "LD_LIBRARY_PATH=/job $tool $*" >out 2>$err
		is "$text: status 1" 1 $?
		said "$text" 'run this as root'
		[ "$text" != 'no privileges' ] || restored "$text"
	done
}
version_and_help() { # NAME, and how many options it has
	run 'the version' 0 --version
	is 'the version is a number' "$1 $(uname -r | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')" "$(sed 's/\.[0-9]*$//' out)"
	run 'the help' 0 --help
	check 'the help names each option' test "$(grep -c '^  -., --' out)" = $2
}
fails() { # TEXT STATUS PATTERN ARGUMENT...
	run "$1" "$2" "${@:4}"
	said "$1" "$3"
	is "$1: writes nothing" "" "$(cat out)"
}
