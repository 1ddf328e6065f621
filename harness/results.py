# SPDX-License-Identifier: GPL-2.0
"""What the scripts share that run tests in a guest: results and totals, a suite's run and its
verdict, and the kernel's ftracetest's lines and logs."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import vm  # noqa: E402

# Patterns of console lines that look like a fault of the kernel's and are none; a script may add some.
ALLOWED = []


class Totals:
    """The results so far, printed as they come, with a prefix."""

    def __init__(self):
        self.number = self.passed = self.failed = self.skipped = 0
        self.prefix = ""

    def _line(self, word, name, note=""):
        self.number += 1
        print(f"{word} {self.number} - {self.prefix}{name}{note}", flush=True)

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


def job(name):
    with open(os.path.join(HERE, "jobs", name), "rb") as f:
        return f.read()


def run_suite(suite, kernel, logs="check-guest", **how):
    """One guest; its console and /out go to build/logs/LOGS/SUITE, with LOGS a configuration's own
    name. Returns (Result, that directory)."""
    where = os.path.join(vm.TOP, "build/logs", kernel if kernel.startswith("configs/") else logs, suite)
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    r = vm.run(kernel, echo=False, out=os.path.join(where, "out"), allow=ALLOWED,
               log=os.path.join(where, "console"), **how)
    print(f"# {suite}: {r.seconds:.0f} s", flush=True)
    return r, where


def verdict(suite, r, totals, where, under_way=""):
    """The guest's own test: that it stayed sound to the end."""
    name = f"{suite}: the guest ends without oops or warning"
    if r.ok:
        totals.ok(name)
        return
    bad = r.status in (vm.PANIC, vm.OOPS, vm.WARNING)
    first = next((i for i, line in enumerate(r.console) for s in vm.SYMPTOMS if s[2].search(line)), None)
    log = r.console[first:first + 40] if bad and first is not None else r.both[-15:]
    totals.fail(name, r.verdict + (f", during: {under_way}" if under_way else "")
                + f" (console: {os.path.relpath(where, vm.TOP)}/console)", log)


class Case:
    """One run of one ftracetest case: from its result line and its log."""

    LINE = re.compile(r"\[(\d+)\]( \(instance\) )?(.*?)\t\[([A-Z]+)\]")

    def __init__(self, match, logs):
        self.number, self.instance = int(match.group(1)), bool(match.group(2))
        self.title, self.result = match.group(3).strip(), match.group(4)
        self.log, self.path = logs.get(self.number, []), ""
        if self.log and (m := re.match(r"execute.*: .*test\.d/(\S+)", self.log[0])):
            self.path = m.group(1)

    @property
    def name(self):
        return (self.path or self.title) + (" (instance)" if self.instance else "")

    def reason(self):
        for line in self.log:
            if re.match(r"Required .* (is not|doesn't)", line):
                return line
        said = [line for line in self.log[1:] if not line.startswith("+")]
        return said[-1] if said else "no reason in its log"


def case_logs(where):
    """{case number: lines of its log}."""
    top, logs = os.path.join(where, "out/logs"), {}
    for name in os.listdir(top) if os.path.isdir(top) else []:
        if m := re.match(r"(\d+)-.*-log\.", name):
            with open(os.path.join(top, name), errors="replace") as f:
                logs[int(m.group(1))] = f.read().splitlines()
    return logs
