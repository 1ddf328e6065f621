#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2013,SC2015,SC2016,SC2046,SC2048,SC2086,SC2317 # words are split on purpose
# shellcheck disable=SC2154 # variables that pokes() sets by eval
# perf's text_poke events: applied to the kernel's text of before, in their order, they give the
# text of after, and each has the bytes that stood there.
. "${0%/*}/lib.sh"
text=$dir/text
# Sets pokes, calls, descents and so on.
pokes() { # TEXT COMMAND
	local name=$1 said
	text_save $text || { result 1 "$name: the text is saved"; done_testing; }
	said=$(textbytes pokes $text sh -c "$2")
	result $? "$name: is done"
	eval "$said"
	echo "# $name: $said"
	[ "$wrong" = 0 ] && [ "$lost" = 0 ]
	result $? "$name: each event has the bytes that stood there"
	check "$name: the events give the text of afterwards" textbytes diff $text
}

pokes 'function on' 'echo function >current_tracer'
sites=$(grep -vc '^[^ ]* \[' enabled_functions)
[ "$sites" -gt 1000 ] && [ "$calls" -ge "$sites" ]
result $? "function on: an event for each of $sites sites"
# Before the sites come the tracepoints that a tracer needs, and after them other CPUs' keys.
[ "$descents" -lt 50 ]; result $? "function on: in the order of the addresses"
pokes 'function off' 'echo nop >current_tracer'
[ "$pokes" -ge "$sites" ]; result $? "function off: an event for each of $sites sites"
pokes 'function_graph on and off' 'echo function_graph >current_tracer && echo nop >current_tracer'

mkdir instances/one
echo 'vfs_*' >set_ftrace_filter
echo 'vfs_read' >instances/one/set_ftrace_filter
pokes 'two instances on and off' \
	'echo function >current_tracer && echo function >instances/one/current_tracer &&
	echo nop >current_tracer && echo nop >instances/one/current_tracer && sleep 3'
[ "$made" -gt 0 ] && [ "$elsewhere" -ge "$made" ]
result $? "two instances: each of $made trampolines has a symbol and an event"
[ "$gone" -gt 0 ] && [ "$erased" -ge "$gone" ]
result $? "two instances: each of $gone that are freed has an event, too"
rmdir instances/one
echo >set_ftrace_filter

pokes 'events on' 'echo 1 >events/sched/enable && echo 1 >events/kmem/enable'
[ "$pokes" -gt 10 ]; result $? "events on: there are events for static keys and calls"
pokes 'events off' 'echo 0 >events/enable'
[ "$pokes" -gt 10 ]; result $? "events off: there are events for static keys and calls"

# On the entry, which function tracing serves, and after it: those that can become jumps do so in a
# while.
pokes 'kprobes on' \
	'echo "p:entry vfs_read" >kprobe_events && echo 1 >events/kprobes/entry/enable || exit 1
	for n in 12 16 20 24 28 32 36 40; do
		echo "p:in$n vfs_write+$n" >>kprobe_events && echo 1 >events/kprobes/in$n/enable
	done 2>/dev/null
	grep -q in.. kprobe_events && sleep 1'
grep -c OPTIMIZED /sys/kernel/debug/kprobes/list | sed 's/^/# jumps: /'
pokes 'kprobes off' 'echo 0 >events/kprobes/enable && echo >kprobe_events && sleep 1'
done_testing
