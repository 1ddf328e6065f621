# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The common part of the guests' jobs: that of the tests in the tree, and words. A word guest.NAME=VALUE of the command
# line or of /job/words sets the variable NAME; a result is a line of TAP. They begin in tracefs.
# shellcheck source=../../tools/testing/selftests/ftrace-torture/lib.sh
. /job/testing/selftests/ftrace-torture/lib.sh
for word in $(cat /proc/cmdline /job/words 2>/dev/null); do
	case $word in guest.*=*) export "${word#guest.}" ;; esac
done
