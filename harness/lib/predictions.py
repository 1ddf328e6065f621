# SPDX-License-Identifier: GPL-2.0
"""The problems of results that tools/tracing/ftrace-overhead has written as JSON in jobs/ftrace-overhead."""
import json
import os

MEMBERS = {"version": int, "tracer": str, "functions": int, "events": int, "command": list, "costs": dict,
           "predicted": float, "measured": dict, "checks": list, "budget": (int, float), "within": bool,
           "items": list}
# How far the prediction may be from the measurement, as a part of it, beyond the measurement's own
# interval; small measurements may be off by more.
TENTH = 0.1
LITTLE = 0.01
# The time of stock's function_graph depends on how deep the calls of the load are nested: 1.4 us in
# the loop that calibrates, 1.6 here.
STOCK_GRAPH = 1 / 8
# The load of TCP is traced five times as long as it is counted, so it has more timer interrupts; and other tasks,
# which are not counted, free its sockets. Counted: 76,000 calls; by the measured time they are 87,000.
TCP = 1 / 6


def problems(text, stock):
    """The problems of one result; stock says whether the kernel is."""
    try:
        r = json.loads(text)
        wrong = [f"{name} is {r.get(name)!r}" for name, kind in MEMBERS.items() if not isinstance(r.get(name), kind)]
        if wrong:
            return wrong
        run, cost, interval = (r["measured"][name] for name in ("seconds", "cost", "interval"))
        sums = sum(item["cost"] for item in r["items"])
        hits = sum(item["hits"] for item in r["items"])
    except (ValueError, KeyError, TypeError) as e:
        return [f"{type(e).__name__}: {e}"]
    if hits < 10 or cost <= 0 or r["measured"]["runs"] < 3:
        wrong.append(f"{hits} hits cost {cost}, in {r['measured']['runs']} runs")
    # The measurement corrects the costs of the items.
    if not r["checks"] and not r["tried"] and abs(sums - r["predicted"]) > 1e-6 * sums:
        wrong.append(f"the items cost {sums}, and all {r['predicted']}")
    part = STOCK_GRAPH if stock and r["tracer"] == "function_graph" else TCP if "tcp" in r["command"] else TENTH
    if abs(r["predicted"] - cost) > max(part * cost + interval, LITTLE * run):
        wrong.append(f"predicted {r['predicted'] / run:.1%}, measured {cost / run:.1%}")
    return wrong


def told(text):
    """The two figures of a result, for readers of the log."""
    r = json.loads(text)
    run = r["measured"]["seconds"]
    return (f"predicted {r['predicted'] / run:.1%}, measured {r['measured']['cost'] / run:.1%} +- "
            f"{r['measured']['interval'] / run:.1%} of {run * 1000:.1f} ms")


def results(out, stock):
    """Of each NAME.json that the guest has left: NAME, its text, and its problems."""
    names = sorted(f.removesuffix(".json") for f in os.listdir(out) if f.endswith(".json")) if os.path.isdir(out) else []
    if not names:
        yield "some came", "", ["none is there"]
    for name in names:
        with open(os.path.join(out, f"{name}.json")) as f:
            text = f.read()
        yield name, text, problems(text, stock)
