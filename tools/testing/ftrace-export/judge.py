#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges what ftrace-export has written in live.sh: judge.py DIRECTORY"""
import os
import sys

import decoded

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tracing-tools"))
from judge_lib import result  # noqa: E402 the path is not known before

CALLS = 500
# The kernel knows a task by the name that it had at a switch: dd may not have been switched since it was the shell of live.sh.
NAMES = ("dd", "live.sh")
# The kernel takes the time of a call before it records the call, and that of its return before it records the return.
# An interrupt between the two, of a few calls in a hundred, makes the times of the records differ from the kernel's.
MOMENT = 100000
INTERRUPTED = CALLS // 50


def is_dd(task):
    return task.rpartition("-")[0] in NAMES


def slices_of(p, function):
    return [s for s in p.slices if s["name"] == function and p.name(s["track"]) in NAMES]


def told_of_calls(out):
    """The arguments of slices that the kernel has an option for."""
    path = os.path.join(out, "missing")
    missing = open(path).read().split() if os.path.exists(path) else []
    options = {"return value": "options/funcgraph-retval", "arg2": "options/funcgraph-args"}
    return [arg for arg, option in options.items() if option not in missing]


def perfetto(path):
    """Each call of dd's is a slice, within that of ksys_read where it is one of reading, with what it got and said."""
    p, told = decoded.Perfetto(path), told_of_calls(os.path.dirname(path))
    for function, depth in (("read_zero", 1), ("write_null", 0)):
        found = slices_of(p, function)
        if len(found) != CALLS:
            yield f"{len(found)} calls of {function}"
        differ = []
        for s in found:
            args = s["args"]
            if s["end"] is None or s["depth"] != depth or any(args.get(arg) != 1 for arg in told):
                yield f"a call of {function} is {s}"
            elif not 0 < args["time by the kernel (ns)"] <= s["end"] - s["begin"] + MOMENT:
                differ.append(s)
        if len(differ) > INTERRUPTED:
            yield f"{len(differ)} calls of {function} take another time: {differ[:3]}"
    if not any(kind == "sched_switch" for _, _, kind, _ in p.ftrace):
        yield "there are no switches"


def folded(path):
    stacks = decoded.folded(path)
    for stack in ("ksys_read;read_zero", "write_null"):
        if not any(is_dd(s.partition(";")[0]) and s.endswith(f";{stack}") for s in stacks):
            yield f"no task dd has {stack}: {sorted(stacks)[:10]}"


def firefox(path):
    f = decoded.Firefox(path)
    tasks = [task for task in f.times if is_dd(task)]
    if not any(f.times[task].get("ksys_read;read_zero") for task in tasks):
        yield f"no task dd has ksys_read;read_zero: {[*f.times]}"
    if not any(name == "running" for task in tasks for name, *_ in f.markers[task]):
        yield "dd never runs"


def lost(path):
    """The beginning has gone; what is there is as it should be."""
    p = decoded.Perfetto(path)
    if not 0 < len(slices_of(p, "read_zero")) < CALLS:
        yield f"{len(slices_of(p, 'read_zero'))} calls of read_zero"


def some(path):
    if not decoded.Perfetto(path).slices:
        yield "there is no call"


FILES = {"calls.perfetto": perfetto, "calls.folded": folded, "calls.firefox": firefox, "lost.perfetto": lost,
         "busy.perfetto": some}


def main(out):
    failed = 0
    for name, check in FILES.items():
        try:
            wrong = list(check(os.path.join(out, name)))
        except (OSError, ValueError, KeyError, IndexError, decoded.Wrong) as e:
            wrong = [f"{type(e).__name__}: {e}"]
        failed += result(f"exported: {name}", wrong)
    return failed > 0


sys.exit(main(sys.argv[1]))
