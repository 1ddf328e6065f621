# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of ftrace-export(1): options, formats, instances and files.

_ftrace_export()
{
	local word=$2 before=$3 words=

	# Bash takes --option=word for three words.
	[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD-2]}
	case $before in
	-f | --format) words='perfetto folded firefox' ;;
	-b | --buffer) words=$(cd /sys/kernel/tracing/instances 2>/dev/null && ls) ;;
	*)
		if [[ $word != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
		fi
		words=$(ftrace-export --help | sed -n 's/.*\(--[a-z-]*\)[= ].*/\1/p')
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _ftrace_export ftrace-export
