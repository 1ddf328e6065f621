# SPDX-License-Identifier: GPL-2.0
"""Results of tests as lines, "ok 1 - NAME", "not ok 2 - NAME" or "ok 3 - NAME # SKIP WHY", and "# " lines
among them: the one reader, and the host's writer. Guests write with lib.sh of selftests/ftrace-torture."""
import contextlib
import dataclasses
import re

LINE = re.compile(r"( *)(not ok|ok)\b(?: \d+)?(?: -)? (.*?)(?: # SKIP ?(.*))?$")


@dataclasses.dataclass
class Result:
    ok: bool
    name: str
    skip: str | None    # why; empty where no reason was given
    depth: int          # of KTAP's subtests


def read(line):
    """The result that a line is, or None."""
    m = LINE.match(line)
    return m and Result(m.group(2) == "ok", m.group(3), m.group(4), len(m.group(1)) // 4)


class Totals:
    """The results so far, printed as they come, each under the names of its parts."""

    def __init__(self):
        self.number = self.passed = self.failed = self.skipped = 0
        self.above = []

    @contextlib.contextmanager
    def under(self, name):
        """Results in a with statement are part of name."""
        self.above.append(name)
        try:
            yield
        finally:
            self.above.pop()

    def _line(self, word, name, note=""):
        self.number += 1
        print(f"{word} {self.number} - {': '.join([*self.above, name])}{note}", flush=True)

    def ok(self, name):
        self.passed += 1
        self._line("ok", name)

    def fail(self, name, why="", log=()):
        self.failed += 1
        self._line("not ok", name, f": {why}" if why else "")
        for line in log:
            print("    | " + line)

    def skip(self, name, why):
        self.skipped += 1
        self._line("ok", name, f" # SKIP {why}")

    def add(self, result, log=()):
        if result.skip is not None:
            self.skip(result.name, result.skip or "no reason given")
        elif result.ok:
            self.ok(result.name)
        else:
            self.fail(result.name, "", log)

    def judge(self, name, wrong):
        """A test that passes if nothing is wrong."""
        if wrong:
            self.fail(name, wrong[0], wrong[1:20])
        else:
            self.ok(name)

    def take(self, lines):
        """Counts a job's results, and prints its remarks. At least one has to come."""
        before = self.number
        for line in lines:
            if result := read(line):
                self.add(result)
            elif line.startswith("# "):
                print(line)
        if self.number == before:
            self.fail("tests have run", "no result came")

    def close(self):
        """The closing line, and the program's status."""
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return 1 if self.failed else 0
