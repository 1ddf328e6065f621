#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# Tests ftrace-export with the running kernel, as root:
#
#	./live.sh [FTRACE-EXPORT]
#
# Calls of known number are recorded in an instance, and exported. judge.py looks at the files
# NAME.FORMAT.
. "${0%/*}/../tracing-tools/lib.sh"
calls=500
work=(dd if=/dev/zero of=/dev/null bs=1 "count=$calls" status=none)
tool_begin "${1:-ftrace-export}" 120
mine=$tracing/instances/mine

# record FUNCTIONS [SETTING...]: the work's calls of these functions, and its switches. Returns with
# tracing off.
begin() {
	local setting
	mkdir $mine && cd $mine || exit 1
	echo 0 >tracing_on
	echo "$1" >set_ftrace_filter
	for setting in "${@:2}"; do
		if [ -e "${setting%%=*}" ]; then
			echo "${setting#*=}" >"${setting%%=*}"
		else
			echo "# $setting: no such setting"
			echo "${setting%%=*}" >>"$results/missing"
		fi
	done
	echo function_graph >current_tracer
	cd "$dir" || exit 1
}
record() {
	begin "$@"
	echo 1 >$mine/tracing_on
	"${work[@]}"
	echo 0 >$mine/tracing_on
}
finish() {
	rmdir $mine
	before=$(state)
}
export_to() { # TEXT FORMAT NAME ARGUMENT...
	before=$(state)
	run "$1" 0 -f "$2" -o "$results/$3" -b mine -r "${@:4}"
	# But of calls that were under way when tracing was switched on.
	is "$1: nothing to say" '' "$(grep -v 'returns were recorded without their calls' $err)"
	is "$1: the buffers are empty" 0 \
		"$(cat $mine/per_cpu/cpu*/stats | awk '/^entries:/ { n += $2 } END { print n }')"
}

options=(options/funcgraph-retval=1 options/funcgraph-args=1)
for format in perfetto folded firefox; do
	record 'read_zero write_null ksys_read' "${options[@]}" set_event=sched:sched_switch
	export_to "to $format" $format calls.$format
	finish
done

# The clock is none of time.
record read_zero trace_clock=counter
before=$(state)
run 'the clock counter' 0 -f folded -o out.folded -b mine -r
said 'the clock counter' 'the clock counter may not count nanoseconds'
check 'the clock counter: there are calls' grep -q ';read_zero ' out.folded
finish

# Buffers that are too small.
record 'read_zero write_null ksys_read' buffer_size_kb=4 "${options[@]}"
before=$(state)
run 'events that were lost' 0 -f perfetto -o "$results/lost.perfetto" -b mine -r
finish

# While it goes on: as many events as there were when it began.
begin '*' buffer_size_kb=256
echo 1 >$mine/tracing_on
"${work[@]}"
before=$(state)
run 'while recording goes on' 0 -f perfetto -o "$results/busy.perfetto" -b mine -r
check 'while recording goes on: a file came' test -s "$results/busy.perfetto"
check 'while recording goes on: it still does' grep -q 1 $mine/tracing_on
finish

# Nothing there.
begin read_zero
before=$(state)
run 'nothing is there' 0 -f firefox -o out.firefox -b mine -r
said 'nothing is there' 'there are no events'
finish

fails 'no such instance' 1 "there is no instance 'other'" -r -b other
fails 'no file' 1 'trace.dat: No such file or directory'
fails 'a file and the running kernel' 2 'cannot be combined' -r trace.dat
run 'the version' 0 --version
su -s /bin/bash nobody -c "LD_LIBRARY_PATH=$LD_LIBRARY_PATH $tool -f folded -r" >out 2>$err
is 'no privileges: status 1' 1 $?
said 'no privileges' 'run this as root'
judge "$here/../../ftrace-export/judge.py"
done_testing
