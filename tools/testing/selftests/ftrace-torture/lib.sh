# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# The common part of tests of function tracing that run as root on the kernel that they test. They
# begin in tracefs. Results are lines of TAP; each test ends with done_testing.
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
grep -q ' /sys/kernel/tracing ' /proc/mounts ||
	mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
cd /sys/kernel/tracing || exit 1
# shellcheck disable=SC2034 # for the tests
mods=$here/test_modules

# A directory of the test's own. Workers see that it goes, and end however the test does.
dir=$(mktemp -d /tmp/ftrace-torture.XXXXXX) || exit 1
at_exit() { kill $(jobs -p) 2>/dev/null; rm -rf "$dir"; }
trap at_exit EXIT

tap_number=0 tap_failed=0
result() { # STATUS TEXT
	tap_number=$((tap_number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_number - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_number - $2"
	fi
}
# Results of another program, with its remarks; returns its status. Not every system has /dev/fd.
take() { # COMMAND...
	local line
	[ -p "$dir/taken" ] || mkfifo "$dir/taken"
	"$@" >"$dir/taken" &
	while IFS= read -r line; do
		case $line in
		'ok - '*) result 0 "${line#ok - }" ;;
		'not ok - '*) result 1 "${line#not ok - }" ;;
		*) echo "$line" ;;
		esac
	done <"$dir/taken"
	wait $!
}
done_testing() {
	echo "1..$tap_number"
	exit $((tap_failed > 0))
}
skip_all() { # WHY
	echo "1..0 # SKIP $1"
	exit 4
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

# The parameters of modules that call the graph's functions, which are not exported
graph_symbols() {
	sed -n 's/^\(\w*\) . \(un\|\)register_ftrace_graph$/graph_\2register=0x\1/p' /proc/kallsyms
}
there() { # MODULE...: those that the kernel has
	local m
	for m; do ! modprobe -n $m 2>/dev/null || echo $m; done
}

config_has() {
	[ -e "$dir/config" ] || zcat /proc/config.gz >"$dir/config"
	grep -q "^CONFIG_$1=y" "$dir/config"
}

# The bytes of all sites, and the modules that are loaded; without the bytes the comparison at the
# end would compare nothing with nothing.
textbytes() { perl "$here/textbytes.pl" "$@"; }
sites() { textbytes sum <available_filter_functions_addrs; }
loaded() { cut -d' ' -f1 /proc/modules | sort; }
sites_save() {
	before=$(sites)
	loaded_before=$(loaded)
	case $before in *' unread=0 sum='*) return ;; esac
	result 1 "the sites' bytes can be read (CONFIG_PROC_KCORE): ${before:-nothing came}"
	done_testing
}
sites_compare() {
	local after
	is 'no module is left' "$loaded_before" "$(loaded)"
	after=$(sites)
	is "every byte of every site is as before" "$before" "$after"
	[ "$before" = "$after" ] || textbytes list <available_filter_functions_addrs | notes 20
}

# Copies the kernel's text. The TSC is calibrated in the background, a second after boot or later
# where the machine is busy, and a static key of the tracers' clock is set then: that must not come
# between copy and comparison. Another clock is settled when it has been the same for 5 s.
text_save() { # FILE
	local clock last='' same=0 tenths
	for ((tenths = 0; tenths < 600; tenths++)); do
		read -r clock </sys/devices/system/clocksource/clocksource0/current_clocksource
		[ "$clock" = "$last" ] && same=$((same + 1)) || same=0
		last=$clock
		case $same.$clock in
		*.tsc-early) ;;
		*.tsc | [5-9]?.*) sleep .3 && textbytes save "$1" && return ;;
		esac
		sleep .1
	done
	echo "no copy of the text, or no settled clock: it is $clock"
	return 1
}

# Workers: each does one operation again and again, the function of its name, which says whether it
# came to anything, until the file $stop is there.
stop=$dir/stop
random_seed() {
	seed=${seed:-$RANDOM}
	echo "# seed=$seed repeats the choices"
}
# at_random MS: sets $at to less than that, in seconds. timeout(1) takes 0 for no end.
# shellcheck disable=SC2034 # for the tests
at_random() {
	local ms=$((1 + RANDOM % ($1 - 1)))
	at=$((ms / 1000)).$(printf '%03d' $((ms % 1000)))
}
worker() { # NAME
	local did=0 not=0 me=$1
	RANDOM=$((${seed:-0} + $(printf '%d' "'$1") + ${#1} + ${1//[^0-9]/}0))
	while [ -d "$dir" ] && [ ! -e $stop ]; do
		if "$1"; then
			did=$((did + 1))
			[ $did != 1 ] || : >$dir/$me.did
		else
			not=$((not + 1))
		fi >/dev/null 2>>$dir/$1.errors
	done
	echo "$did $not" >$dir/$me
}
start() { # NAME...
	local w
	workers=$* begun=$SECONDS
	for w; do worker "$w" & done
}
finish() {
	: >$stop
	wait
}
# more FOR [TEST]: it is time to go on, as less than FOR seconds have gone since the workers began.
# Or less than eight times as many, and a worker has come to nothing or TEST fails: a slow machine
more() {
	local w gone=$((SECONDS - begun))
	[ $gone -ge $1 ] || return 0
	[ $gone -lt $((8 * $1)) ] || return 1
	for w in $workers; do [ -e $dir/$w.did ] || return 0; done
	[ "$2" ] && ! $2
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
# A load of many workers: so many reads and writes of one byte
bytes() { dd if=/dev/zero of=/dev/null bs=1 count=$1 status=none; } # COUNT

# Where the console shows errors only, a warning of the kernel shows in its taint: a bad page, an
# oops, a warning.
no_faults() {
	# Not each warning taints: lockdep's of RCU does not, nor do the unwinders'.
	! dmesg | grep -m 1 -A 40 -e 'WARNING: ' -e 'BUG: ' &&
		[ $(($(cat /proc/sys/kernel/tainted) & (1 << 5 | 1 << 7 | 1 << 9))) = 0 ]
}
