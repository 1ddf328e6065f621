# SPDX-License-Identifier: GPL-2.0
"""The outcome of a suite's guest: where it is kept, whether the guest stayed sound, and the results and logs
of the kernel's ftracetest."""
import os
import re
import shutil
import time
from pathlib import Path

from . import LOGS, TOP, job, vm

# Tests that were not run, by ftracetest's words and others'.
NOT_RUN = ("UNSUPPORTED", "UNRESOLVED", "UNTESTED")
# Of a console, those that are shown of what the kernel says of a fault.
LINES = 60


def run_suite(suite, kernel, script, logs, **how):
    """One guest that runs jobs/SCRIPT; its console and /out go to build/logs/LOGS/SUITE. Returns (Result, that
    directory). The console of one that was not sound, or stuck, is in build/logs/LOGS/failed, too, where the next run
    leaves it."""
    where = os.path.join(LOGS, logs, suite)
    for again in (kernel == "stock", False):
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        r = vm.run(kernel, job(script), echo=False, out=os.path.join(where, "out"),
                   log=os.path.join(where, "console"), **how)
        print(f"# {suite}: {r.seconds:.0f} s", flush=True)
        # While it changes text, stock may not know a breakpoint of its own: seldom, and no result of a test.
        if not again or r.status not in (vm.PANIC, vm.OOPS):
            break
        print(f"# {suite}: {r.verdict}; once more", flush=True)
    if not r.ok:
        failed = os.path.join(LOGS, logs, "failed")
        os.makedirs(failed, exist_ok=True)
        shutil.copy(os.path.join(where, "console"), os.path.join(failed, f"{suite}-{time.strftime('%m%d-%H%M%S')}"))
    return r, where


def report(console):
    """Where the console has its first symptom, and the lines that tell most of it. A stall is told again and again;
    and a kernel that panics may print all of its messages once more, those among them that the console had left
    out."""
    first = next((i for i, line in enumerate(console) for s in vm.SYMPTOMS if s[2].search(line)), None)
    if first is None:
        return None, []
    text = re.sub(r"^\[ *[\d.]+\] ?", "", console[first])
    at = max((i for i in range(first, len(console))
              if text in console[i] and any("Call Trace" in line for line in console[i:i + LINES])), default=first)
    return first, console[at:at + LINES]


def verdict(r, totals, where, under_way=""):
    """The guest's own test: that it stayed sound to the end."""
    name = "the guest ends without oops or warning"
    if r.ok:
        totals.ok(name)
        return
    first, log = report(r.console)
    if r.status == vm.TIMEOUT and first is not None:
        log += ["...", *r.both[-15:]]
    elif r.status not in (vm.PANIC, vm.OOPS, vm.WARNING) or first is None:
        log = r.both[-15:]
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
    return {int(path.name.split("-")[0]): path.read_text(errors="replace").splitlines()
            for path in Path(where, "out/logs").glob("[0-9]*-*-log.*")}
