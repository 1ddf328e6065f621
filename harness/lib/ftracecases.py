# SPDX-License-Identifier: GPL-2.0
"""The cases of tools/testing/selftests/ftrace as parts of a suite of beside.py: ftrace-1 and ftrace-2, each about
half of them. A guest that dies is started again with the cases that it had not come to.
"""
import fnmatch
import os
import re
import subprocess
from pathlib import Path

from . import kernels, machines
from .beside import DEATHS, GOOD, SELFTESTS, kernel_died
from .results import Case, case_logs

# Directories of the ftrace suite that a guest of its own runs; about half of the time.
APART = ("kprobe", "preemptirq", "selftest", "tracer", "trigger")


def poll(results, tests):
    """The program that the case of histograms runs."""
    path = os.path.join(results.suite.out, f"poll-{results.kernel.replace('/', '-')}-{results.part}")
    machine = kernels.machine(results.kernel)
    cc = os.environ.get("HOSTCC", "gcc") if machine == machines.PC else machines.compiler(machine)
    subprocess.run([cc, "-O2", "-static", "-o", path, os.path.join(tests, "poll.c")], check=True)
    return path


def lacks_callsets(kernel, name, result):
    """Whether a case of callsets asks for more than a kernel without these has. The others of them hold there, too."""
    return name.startswith("callset/") and result == "UNSUPPORTED" and not kernels.has(kernel, "FTRACE_CALLSETS")


def boot(results, tests, cases):
    """Runs cases in one guest. Returns those that another guest has to run."""
    r, where = results.boot("ftracetest", cases, [("/job/ftrace", tests), ("/job/ftrace/poll", poll(results, tests))])
    runs = [(c, "") for c in cases]
    for c in cases:
        if re.search(r"^#[ \t]*flags:.*instance", Path(tests, "test.d", c).read_text(), re.M):
            runs.append((c, " (instance)"))
    logs, broken, done = case_logs(where), kernel_died(r), 0
    for at, line in enumerate(r.both):
        if at < broken and (m := Case.LINE.match(line)):
            case = Case(m, logs)
            name = "".join(runs[done])
            if not lacks_callsets(results.kernel, name, case.result):
                results.add(name, case.result, case.reason() if case.result not in GOOD else "", case.log)
            done += 1
    if done == len(runs) and r.status not in DEATHS:
        return []
    died = DEATHS.get(r.status, "ENDED")
    if done < len(runs):
        results.add("".join(runs[done]), died, r.verdict, r.both[max(0, broken - 5):broken + 25])
    culprit = runs[done][0] if done < len(runs) else None
    left = {c for c, _ in runs[done:]} - {culprit}
    return [c for c in cases if c in left]


def run(found, tree, only, wanted):
    """The cases for which wanted() is true."""
    tests = os.path.join(tree, SELFTESTS, "ftrace")
    top = os.path.join(tests, "test.d")
    cases = sorted(str(path.relative_to(top)) for path in Path(top).rglob("*.tc"))
    cases = [c for c in cases if wanted(c) and (not only or any(fnmatch.fnmatch(c, g) for g in only))]
    while cases:
        cases = boot(found, tests, cases)


def results(found, tree, only):
    """Half of the suite: APART, or the rest."""
    run(found, tree, only, lambda c: c.startswith(APART) == (found.part == "ftrace-2"))
