# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of ftrace-overhead(1) and of its modes bisect and hooks: the options of their help.

_ftrace_overhead()
{
	local word=$2 before=$3 i
	local functions=/sys/kernel/tracing/available_filter_functions words=
	local program=(ftrace-overhead)

	# Bash takes --option=word for three words.
	[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD-2]}
	[[ $COMP_CWORD == 1 || ${COMP_WORDS[1]} != @(bisect|hooks) ]] || program+=("${COMP_WORDS[1]}")
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
			return
		fi
	done
	if [[ ${program[1]-} == bisect ]]; then
		case $before in
		-f | --functions | -n | --notrace)
			if [[ -r $functions && ${#word} -gt 1 ]]; then
				words=$(grep -F -- "$word" $functions | cut -d' ' -f1)
			fi
			;;
		-t | --tracer) words=$'function\nfunction_graph' ;;
		-s | --state)
			compopt -o default
			return
			;;
		-T | --timeout | -S | --slower | -r | --repeat | -m | --most) return ;;
		esac
	fi
	if [[ $word == -* ]]; then
		words=$("${program[@]}" --help | sed -n 's/^ .*\(--[a-z-]*\)[= ].*/\1/p')
	elif [[ $COMP_CWORD == 1 ]]; then
		words=$'bisect\nhooks'
	fi
	# compgen runs commands that are in words: leave such names out.
	mapfile -t COMPREPLY < <(compgen -W "$(grep -x '[[:alnum:]_.-]*' <<<"$words")" -- "$word")
}
complete -F _ftrace_overhead ftrace-overhead
