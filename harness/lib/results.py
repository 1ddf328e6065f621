# SPDX-License-Identifier: GPL-2.0
"""The outcome of a suite's guest: where it is kept, whether the guest stayed sound, and the results and logs
of the kernel's ftracetest."""
import os
import re
import shutil

from . import LOGS, TOP, job, vm

# Tests that were not run, by ftracetest's words and others'.
NOT_RUN = ("UNSUPPORTED", "UNRESOLVED", "UNTESTED")


def run_suite(suite, kernel, script, logs, **how):
    """One guest that runs jobs/SCRIPT; its console and /out go to build/logs/LOGS/SUITE. Returns (Result, that
    directory)."""
    where = os.path.join(LOGS, logs, suite)
    for again in (kernel == "stock", False):
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        r = vm.run(kernel, script and job(script), echo=False, out=os.path.join(where, "out"),
                   log=os.path.join(where, "console"), **how)
        print(f"# {suite}: {r.seconds:.0f} s", flush=True)
        # While it changes text, stock may not know a breakpoint of its own: seldom, and no result of a test.
        if not again or r.status not in (vm.PANIC, vm.OOPS):
            break
        print(f"# {suite}: {r.verdict}; once more", flush=True)
    return r, where


def verdict(r, totals, where, under_way=""):
    """The guest's own test: that it stayed sound to the end."""
    name = "the guest ends without oops or warning"
    if r.ok:
        totals.ok(name)
        return
    bad = r.status in (vm.PANIC, vm.OOPS, vm.WARNING)
    first = next((i for i, line in enumerate(r.console) for s in vm.SYMPTOMS if s[2].search(line)), None)
    log = r.console[first:first + 40] if bad and first is not None else r.both[-15:]
    # The job's next step, where it says so on the console.
    log = [line for line in r.console[:first] if "torture: " in line][-15:] + log
    totals.fail(name, r.verdict + (f", during: {under_way}" if under_way else "")
                + f" (console: {os.path.relpath(where, TOP)}/console)", log)


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
        # Our cases call fail() with the reason, which then prints more and cleans up.
        said = [m.group(1) for line in self.log if (m := re.match(r"\++ fail (.+)", line))]
        said = said or [line for line in self.log[1:] if not line.startswith("+")]
        return said[-1] if said else "no reason in its log"


def case_logs(where):
    """{case number: lines of its log}."""
    top, logs = os.path.join(where, "out/logs"), {}
    for name in os.listdir(top) if os.path.isdir(top) else []:
        if m := re.match(r"(\d+)-.*-log\.", name):
            with open(os.path.join(top, name), errors="replace") as f:
                logs[int(m.group(1))] = f.read().splitlines()
    return logs
