# SPDX-License-Identifier: GPL-2.0
"""The results of tests: each is a line "ok - ..." or "not ok - ..."; the last line is "N passed, N failed"."""
tests = [0, 0]


def same(text, wanted, got):
    print(f"{'ok' if got == wanted else 'not ok'} - {text}")
    if got != wanted:
        print(f"# wanted: {wanted!r}\n# got: {got!r}")
    tests[got != wanted] += 1


def closing():
    """The exit status"""
    print("{} passed, {} failed".format(*tests))
    return tests[1] > 0
