# SPDX-License-Identifier: GPL-2.0
# Adds up the last lines, "N passed, N failed", of so many programs: awk -v programs=N -f sum.awk
# One that ends early has no such line. One that fails after it, as a sanitizer may, is told by a line "ended: STATUS".
/passed, .* failed$/ {
	n++
	passed += $1
	failed += $3
	next
}
/^ended: / { ended++ }
1
END {
	failed += programs - n
	if (!failed)
		failed = ended + 0
	print passed " passed, " failed " failed"
	exit failed != 0
}
