# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of funccount(1): options, modules, processes, and functions where they can be read.

_funccount()
{
	local word=$2 before=$3 i
	local functions=/sys/kernel/tracing/available_filter_functions words=

	# Bash takes --option=word for three words.
	[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD-2]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
			return
		fi
	done
	case $before in
	-m | --module) words=$(cut -d' ' -f1 /proc/modules) ;;
	-p | --pid) words=$(cd /proc && printf '%s\n' [0-9]*) ;;
	-s | --save | -D | --diff)
		compopt -o default
		return
		;;
	-d | --duration | -i | --interval | -t | --top) ;;
	*)
		if [[ $word == -* ]]; then
			words=$(funccount --help | sed -n 's/.*\(--[a-z-]*\)[= ].*/\1/p')
		elif [[ -r $functions && ${#word} -gt 1 ]]; then
			words=$(grep -F -- "$word" $functions | cut -d' ' -f1)
		fi
		;;
	esac
	# compgen runs commands that are in words: leave such names out.
	mapfile -t COMPREPLY < <(compgen -W "$(grep -x '[[:alnum:]_.-]*' <<<"$words")" -- "$word")
}
complete -F _funccount funccount
