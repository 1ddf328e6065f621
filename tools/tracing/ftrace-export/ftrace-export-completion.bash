# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of ftrace-export(1): options, formats, instances and files.

# The names that begin as the word does, quoted. compgen -W would run what is in them.
_ftrace_export_names()
{
	local name quoted

	while IFS= read -r name; do
		printf -v quoted %q "$name"
		[[ $name == "$word"* || $quoted == "$word"* ]] || continue
		# Within quotes a backslash would be a character, and some names would be run.
		if [[ ${COMP_WORDS[COMP_CWORD]} == *[\'\"]* ]]; then
			[[ $name != *[\'\"\$\`\\!]* ]] || continue
			quoted=$name
		fi
		COMPREPLY+=("$quoted")
	done
}

_ftrace_export()
{
	local word=$2 before=$3

	# Bash takes --option=word for three words.
	[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD-2]}
	COMPREPLY=()
	case $before in
	-f | --format) _ftrace_export_names <<<$'perfetto\nfolded\nfirefox' ;;
	-b | --buffer)
		_ftrace_export_names < <(cd /sys/kernel/tracing/instances 2>/dev/null && command ls)
		;;
	*)
		if [[ $word == -* ]]; then
			_ftrace_export_names < <(ftrace-export --help |
				sed -n 's/.*\(--[a-z-]*\)[= ].*/\1/p')
		else
			compopt -o default
		fi
		;;
	esac
}
complete -F _ftrace_export ftrace-export
