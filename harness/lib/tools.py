# SPDX-License-Identifier: GPL-2.0
"""The programs of tools/tracing in guests, and the problems of the results that they have written there as JSON."""
import glob
import json
import os
import subprocess

from . import BUILD, HARNESS, Failure, modules, userspace

DISK_SIZE = 4 << 20


def program(name):
    """[(name in the guest, path here)] of the program, built, and the libraries that it needs."""
    where = os.path.join(BUILD, name)
    os.makedirs(where, exist_ok=True)
    made = subprocess.run(["make", "-s", "-C", os.path.join(BUILD, "tree/tools/tracing", name), f"O={where}"],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode:
        raise Failure(f"{name} does not build: {made.stdout.strip()}")
    path = os.path.join(where, name)
    return [(f"/job/{name}", path),
            *((f"/job/{os.path.basename(library)}", at) for library, at in userspace.libraries(path).items())]


def results(kind, out, least, problems, told=None):
    """Of each NAME.json that the guest has left, of which so many must be: "KIND: NAME", and its problems(text, and
    that of NAME.wanted); told(text) is printed where there are none."""
    names = sorted({os.path.splitext(os.path.basename(path))[0]
                    for ending in ("json", "wanted") for path in glob.glob(f"{out}/*.{ending}")})
    if len(names) < least:
        yield f"{kind}: some came", [f"there are {names}"]
    for name in names:
        text, wanted = (open(path).read() if os.path.exists(path) else ""
                        for path in (f"{out}/{name}.json", f"{out}/{name}.wanted"))
        try:
            wrong = list(problems(text, wanted))
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            wrong = [f"{type(e).__name__}: {e}"]
        yield f"{kind}: {name}", wrong
        if told and not wrong:
            print(f"# {name}: {told(text)}")


def members(got, **kinds):
    """What is missing or not of its kind."""
    return [f"{name} is {got.get(name)!r}" for name, kind in kinds.items() if not isinstance(got.get(name), kind)]


def funccount(text, wanted):
    """Tables, a line each. A number is that of read_zero's calls; a name is that of a module that was loaded twice, and
    calls the function once. (The counts of init text go with that text.)"""
    wanted = wanted.strip()
    function, calls = ("read_zero", int(wanted)) if wanted.isdigit() else (f"{wanted}_irq_work", 2)
    tables = [json.loads(line) for line in text.splitlines()]
    for table in tables:
        yield from members(table, version=int, counter=str, time=float, seconds=float, rows=int, calls=int, counts=list)
        counts = [row["count"] for row in table["counts"]]
        if table["version"] != 1 or counts != sorted(counts) or 0 in counts:
            yield "its version is not 1, or its rows are not in order"
        if len(counts) > table["rows"] or sum(counts) > table["calls"]:
            yield "it tells of fewer rows or calls than it has"
        yield from (f"the CPUs do not add up: {row}" for row in table["counts"]
                    if "cpus" in row and sum(row["cpus"].values()) != row["count"])
    got = sum(row["count"] for table in tables for row in table["counts"] if row["function"] == function)
    if not tables or got != calls:
        yield f"{got} calls of {function} in {len(tables)} tables, not {calls}"


def culprits(kernel):
    """For jobs/bisect: the module with its culprits."""
    where = os.path.join(BUILD, "bisect", kernel.replace("/", "-"))
    modules.sources(os.path.join(HARNESS, "bisect-modules"), where)
    return [("/job/bisect_planted.ko", modules.build(kernel, where, "bisect_planted.ko"))]


def disk(name):
    """An empty file, which is a disk of the guest."""
    path = os.path.join(BUILD, "bisect", name)
    with open(path, "wb") as f:
        f.truncate(DISK_SIZE)
    return path


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


def overhead(text, stock):
    """stock says whether the kernel is."""
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
    part = STOCK_GRAPH if stock and r["tracer"] == "function_graph" else TCP if "tcp" in r["command"] else TENTH
    if abs(r["predicted"] - cost) > max(part * cost + interval, LITTLE * run):
        wrong.append(f"predicted {r['predicted'] / run:.1%}, measured {cost / run:.1%}")
    return wrong


def told(text):
    """The two figures of a result of ftrace-overhead, for readers of the log."""
    r = json.loads(text)
    run = r["measured"]["seconds"]
    return (f"predicted {r['predicted'] / run:.1%}, measured {r['measured']['cost'] / run:.1%} +- "
            f"{r['measured']['interval'] / run:.1%} of {run * 1000:.1f} ms")
