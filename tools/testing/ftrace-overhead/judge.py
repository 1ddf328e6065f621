#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges what ftrace-overhead --json has written in live.sh, or live-bisect.sh: judge.py predicted|bisect DIRECTORY"""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tracing-tools"))
from judge_lib import members, results  # noqa: E402 the path is not known before


def bisect(text, wanted):
    got, wanted = json.loads(text), wanted.split()
    yield from members(got, version=int, tracer=str, functions=int, sets=int, runs=int, seconds=float, set=list)
    functions = [f["function"] for f in got["set"]]
    yield from (f"{f['function']} is of {f['module']}" for f in got["set"] if f["module"] != "bisect_planted")
    if functions != wanted:
        yield f"it names {functions}, not {wanted}"
    if got.get("notrace_passes", 0) is not (True if wanted else None):
        yield f"notrace_passes is {got.get('notrace_passes')!r}"
    if got["version"] != 1 or got["runs"] < got["sets"] or len(text.splitlines()) != 1:
        yield "its version is not 1, or it has fewer runs than sets, or several lines"


# How far a prediction of ftrace-overhead may be from the measurement, as a part of it, beyond the measurement's own
# interval; small measurements may be off by more.
TENTH = 0.1
LITTLE = 0.01
# The time of stock's function_graph depends on how deep the calls of the load are nested: 1.4 us in
# the loop that calibrates, 1.6 here.
STOCK_GRAPH = 1 / 8
# The load of TCP is traced five times as long as it is counted, so it has more timer interrupts; and other tasks,
# which are not counted, free its sockets. Counted: 76,000 calls; by the measured time they are 87,000.
TCP = 1 / 6


def overhead(text, wanted):
    """wanted has the kind of kernel, stock or ours."""
    r = json.loads(text)
    if wrong := members(r, version=int, tracer=str, functions=int, events=int, command=list, costs=dict, predicted=float,
                        measured=dict, checks=list, budget=(int, float), within=bool, items=list):
        return wrong
    run, cost, interval = (r["measured"][name] for name in ("seconds", "cost", "interval"))
    sums, hits = (sum(item[name] for item in r["items"]) for name in ("cost", "hits"))
    if hits < 10 or cost <= 0 or r["measured"]["runs"] < 3:
        wrong.append(f"{hits} hits cost {cost}, in {r['measured']['runs']} runs")
    # The measurement corrects the costs of the items.
    if not r["checks"] and not r["tried"] and abs(sums - r["predicted"]) > 1e-6 * sums:
        wrong.append(f"the items cost {sums}, and all {r['predicted']}")
    part = STOCK_GRAPH if wanted.strip() == "stock" and r["tracer"] == "function_graph" else TCP if "tcp" in r["command"] else TENTH
    if abs(r["predicted"] - cost) > max(part * cost + interval, LITTLE * run):
        wrong.append(f"predicted {r['predicted'] / run:.1%}, measured {cost / run:.1%}")
    return wrong


def told(text):
    """The two figures of a result of ftrace-overhead, for readers of the log."""
    r = json.loads(text)
    run = r["measured"]["seconds"]
    return (f"predicted {r['predicted'] / run:.1%}, measured {r['measured']['cost'] / run:.1%} +- "
            f"{r['measured']['interval'] / run:.1%} of {run * 1000:.1f} ms")


KINDS = {"predicted": ("predicted", sys.argv[2], 1, overhead, told), "bisect": ("JSON", sys.argv[2], 3, bisect)}
sys.exit(results(*KINDS[sys.argv[1]]))
