# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # variables are for those that source it
# Shared by the harness's scripts, which source it: places, messages, logged commands with a progress
# line, and which files of the repository and of patches/ make up the tree.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ $top != *[[:space:]:]* ]] || { echo "error: kbuild takes no path with blanks or colons: move $top" >&2; exit 1; }
build=$top/build
logs=$build/logs
jobs=${J:-$(nproc)}
patches=$top/patches

# Files that go into packages and into /etc are for all.
umask 022

# The makes started from here are others' makes: they are not to inherit our command line.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# lock NAME: one of us at a time; held until the script ends.
lock() {
	mkdir -p "$build"
	exec 9>"$build/.$1.lock"
	if ! flock -n 9; then
		say "$1: waiting for another run to finish"
		flock 9
	fi
}

# progress TEXT: on a terminal the line is rewritten; elsewhere one line in ten seconds is enough.
progress_said=-10
progress() {
	if [ -t 1 ]; then
		printf '\r\033[K%.*s' "$((${COLUMNS:-80} - 1))" "$1"
	elif [ $((SECONDS - progress_said)) -ge 10 ]; then
		printf '%s\n' "$1"
		progress_said=$SECONDS
	fi
}
progress_end() { [ ! -t 1 ] || printf '\r\033[K'; }

# thousands N: 1430 as 1,430.
thousands() { sed -E ':a; s/([0-9])([0-9]{3})\b/\1,\2/; ta' <<<"$1"; }

# logged LOG WORD COMMAND...: runs COMMAND with its output appended to LOG, and shows how many lines it has
# written, called WORD, and the last of them. Returns COMMAND's status.
logged() {
	local log=$1 word=$2 first pid status=0 n
	shift 2
	touch "$log"
	first=$(wc -l <"$log")
	# A process group of its own, so that all of it ends with us. Descriptor 9 is the lock:
	# processes that the command leaves running must not hold it.
	set -m
	"$@" >>"$log" 2>&1 </dev/null 9>&- &
	pid=$!
	set +m
	trap 'kill -- -"$pid" 2>/dev/null; wait "$pid"; progress_end; exit 130' INT TERM HUP
	# To start sleep ten times a second takes a tenth of some machines.
	local turn=0 pause=0.1
	while kill -0 "$pid" 2>/dev/null; do
		sleep "$pause"
		turn=$((turn + 1))
		[ "$turn" -ge 20 ] || continue
		pause=1
		n=$(($(wc -l <"$log") - first))
		progress "  $(thousands "$n") $word  $(tail -n 1 "$log" | tr -s ' \t' ' ')"
	done
	wait "$pid" || status=$?
	trap - INT TERM HUP
	progress_end
	return "$status"
}

# result STATUS NAME [OUTPUT]: the result of a test, in one piece: others may be writing, too.
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		printf 'not ok - %s\n# %s\n' "$2" "${3//$'\n'/$'\n# '}"
	fi
}
# closing LOG: the closing line of the results in it. Returns whether all have passed.
closing() {
	local passed failed skipped
	passed=$(grep -c '^ok ' "$1" || true)
	failed=$(grep -c '^not ok ' "$1" || true)
	skipped=$(grep -c '^skip ' "$1" || true)
	echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
	[ "$failed" -eq 0 ]
}

# log_errors LOG: the lines of a build's log with the errors, or its last ones.
log_errors() {
	grep -nE '(error|undefined reference|No rule to make|cannot find|multiple definition)' "$1" |
		grep -v 'Error [0-9]' | tail -n 15 >&2 || tail -n 15 "$1" >&2
}

tree_version() {
	awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { p = $3 }
	     $1 == "SUBLEVEL" { print v "." p "." $3; exit }' "$1/Makefile" 2>/dev/null || true
}

# The base's origin and version, one line each; both are written when build/base is complete.
base_info=$build/base.info
base_version() { sed -n 's/^version=//p' "$base_info"; }

# The repository's files that are laid over the base, one path a line.
overlay_files() {
	local d dirs=()
	for d in "$top"/*/; do
		d=$(basename "$d")
		[ "$d" = build ] || [ ! -d "$build/base/$d" ] || dirs+=("$d")
	done
	[ ${#dirs[@]} -gt 0 ] || return 0
	(
		cd "$top" || exit
		if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
			git ls-files -co --exclude-standard -- "${dirs[@]}"
		else
			find "${dirs[@]}" -type f
		fi | grep -vE '(\.o|\.orig|\.rej|\.swp|~)$|(^|/)(\.checkpatch-|__pycache__/)' | sort -u | while read -r f; do
			[ ! -f "$f" ] || printf '%s\n' "$f"
		done
	)
}

# The patches, in the order in which they are applied, one name a line.
series_patches() {
	[ ! -f "$patches/series" ] || sed 's/#.*//' "$patches/series" | awk 'NF { print $1 }'
}

# patch_files NAME: the files that a patch touches, one path a line.
patch_files() {
	sed -n 's/^\(---\|+++\) [^/\t ]*\/\([^\t ]*\).*/\2/p' "$patches/$1" | grep -v '^null$' | sort -u
}

# try_patch NAME DIR [OPTION]: without fuzz, so that a patch never lands at an unseen place, and to its last line.
try_patch() {
	local out
	out=$(patch -d "$2" -p1 ${3:+"$3"} --verbose --fuzz=0 --force --no-backup-if-mismatch -r - <"$patches/$1" 2>&1) &&
		[[ $out != *"trailing garbage"* ]] && return
	printf '%s\n' "$out" >&2
	return 1
}
# not_applied NAME...: the end, where patches do not apply.
not_applied() {
	die "not to be applied to the base ($(base_version)): ${*/#/patches/}; refresh against build/base, or give a KSRC= they were made for"
}
apply_patch() { try_patch "$1" "$2" || not_applied "$1"; }

# copy_changed SRC DST PATH...: makes DST/PATH equal to SRC/PATH, writing only files that differ, so that kbuild
# rebuilds only those that changed; a path that SRC lacks is removed. Counts in $changed.
changed=0
copy_changed() {
	local src=$1 dst=$2 f
	shift 2
	for f; do
		if [ ! -e "$src/$f" ]; then
			[ ! -e "$dst/$f" ] || { rm -f "$dst/$f"; changed=$((changed + 1)); }
		elif ! cmp -s "$src/$f" "$dst/$f" || ! same_mode "$src/$f" "$dst/$f"; then
			mkdir -p "$dst/$(dirname "$f")"
			rm -f "$dst/$f"
			cp "$src/$f" "$dst/$f"
			changed=$((changed + 1))
		fi
	done
}
same_mode() { { [ -x "$1" ] && [ -x "$2" ]; } || { [ ! -x "$1" ] && [ ! -x "$2" ]; }; }
