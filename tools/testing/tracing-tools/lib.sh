# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# The common part of the tests of programs in tools/tracing on the running kernel. Results for
# programs are files in $results: OUT says where, if they are to be judged elsewhere, and else
# python3 judges them here.
[ ! -e "${1:-}" ] || set -- "$(realpath "$1")"
# shellcheck source=../selftests/ftrace-torture/lib.sh
. "${BASH_SOURCE[0]%/*}/../selftests/ftrace-torture/lib.sh"
results=${OUT:-$dir/results}
mkdir -p "$results"
chmod 1777 "$dir"
judge() { # PROGRAM ARGUMENT...: at the end
	[ -z "${OUT:-}" ] || return 0
	take python3 -B "$@" "$results"
	[ $? -le 1 ] || result 1 "$1 judges the results"
}

# A program that uses tracefs, and has to leave it as it was: tool_begin COMMAND SECONDS sets the
# command to run, and for how long at most. Its output is in out and $err.
tool_begin() {
	local name=${1%% *}
	tool=$(command -v "$name")${1#"$name"} || skip_all "there is no $name"
	tool_seconds=$2 tracing=/sys/kernel/tracing err=$dir/err
	cd "$dir" || exit 1
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
unchanged() { # TEXT: tracefs is as before; $bad counts the faults
	[ "$(state)" = "$before" ] && return
	bad=$((bad + 1))
	echo "# $1:"
	state | notes
}
# in_background PATTERN N ARGUMENT...: until its messages have so many such lines; its process is
# $begun, its output in began.out and began.err. Bash would have it ignore SIGINT.
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
# interrupt SIGNAL MS ARGUMENT...: the signal comes before so many ms are over; $bad counts the
# faults.
interrupt() {
	local signal=$1 status
	at_random $2
	shift 2
	timeout -s $signal --preserve-status $at $tool "$@" >out 2>$err </dev/null
	status=$?
	# 143 and 130 before it is ready, or as a command's.
	case $status in
	0 | 130 | 143) ;;
	*)
		bad=$((bad + 1))
		echo "# SIG$signal at $at: status $status"
		notes <$err
		;;
	esac
	unchanged "SIG$signal at $at, $*"
}
# no_access ARGUMENT...: without privileges, with tracefs and without it.
no_access() {
	local text
	for text in 'no privileges' 'no tracefs and no privileges'; do
		[ "$text" = 'no privileges' ] || umount -l $tracing
		su -s /bin/bash nobody -c "LD_LIBRARY_PATH=$LD_LIBRARY_PATH $tool $*" >out 2>$err
		is "$text: status 1" 1 $?
		said "$text" 'run this as root'
		[ "$text" != 'no privileges' ] || restored "$text"
	done
}
version_and_help() { # NAME, and how many options it has
	run 'the version' 0 --version
	is 'the version is a number' "$1 $(uname -r | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')" \
		"$(sed 's/\.[0-9]*$//' out)"
	run 'the help' 0 --help
	check 'the help names each option' test "$(grep -c '^  -., --' out)" = $2
}
fails() { # TEXT STATUS PATTERN ARGUMENT...
	run "$1" "$2" "${@:4}"
	said "$1" "$3"
	is "$1: writes nothing" "" "$(cat out)"
}
