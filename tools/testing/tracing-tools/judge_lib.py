# SPDX-License-Identifier: GPL-2.0
"""Judges what a program of tools/tracing has written for programs, in live.sh on a kernel; prints results as TAP."""
import glob
import os


def result(name, wrong):
    """Prints one; returns whether it failed. wrong: what is, one a line."""
    print(f"not ok - {name}" if wrong else f"ok - {name}")
    for line in wrong[:20]:
        print(f"# {line}")
    return bool(wrong)


def results(kind, out, least, problems, told=None):
    """Judges each NAME.json in the directory, of which so many must be, by its problems(text, and that of NAME.wanted);
    told(text) is printed where there are none. Returns the status of the program."""
    failed = 0
    names = sorted({os.path.splitext(os.path.basename(path))[0]
                    for ending in ("json", "wanted") for path in glob.glob(f"{out}/*.{ending}")})
    if len(names) < least:
        failed += result(f"{kind}: some came", [f"there are {names}"])
    for name in names:
        text, wanted = (open(path).read() if os.path.exists(path) else ""
                        for path in (f"{out}/{name}.json", f"{out}/{name}.wanted"))
        try:
            wrong = list(problems(text, wanted))
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            wrong = [f"{type(e).__name__}: {e}"]
        failed += result(f"{kind}: {name}", wrong)
        if told and not wrong:
            print(f"# {name}: {told(text)}")
    return failed > 0


def members(got, **kinds):
    """What is missing or not of its kind."""
    return [f"{name} is {got.get(name)!r}" for name, kind in kinds.items() if not isinstance(got.get(name), kind)]
