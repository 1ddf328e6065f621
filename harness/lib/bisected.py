# SPDX-License-Identifier: GPL-2.0
"""For jobs/bisect: the module with its culprits, and the problems of the results that ftrace-overhead
bisect has written as JSON."""
import json
import os

from . import BUILD, modules

DISK_SIZE = 4 << 20
MEMBERS = {"version": int, "tracer": str, "functions": int, "sets": int, "runs": int, "seconds": float, "set": list}


def culprits(kernel):
    where = os.path.join(BUILD, "bisect", kernel.replace("/", "-"))
    modules.sources("bisect-modules", where)
    return [("/job/bisect_planted.ko", modules.build(kernel, where, "bisect_planted.ko"))]


def disk(name):
    """An empty file, which is a disk of the guest."""
    path = os.path.join(BUILD, "bisect", name)
    with open(path, "wb") as f:
        f.truncate(DISK_SIZE)
    return path


def problems(text, wanted):
    """The problems of one result."""
    try:
        got = json.loads(text)
        wrong = [f"{name} is {got.get(name)!r}" for name, kind in MEMBERS.items() if not isinstance(got.get(name), kind)]
        functions = [f["function"] for f in got["set"]]
        wrong += [f"{f['function']} is of {f['module']}" for f in got["set"] if f["module"] != "bisect_planted"]
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        return [f"{type(e).__name__}: {e}"]
    if functions != wanted:
        wrong.append(f"it names {functions}, not {wanted}")
    if got.get("notrace_passes", 0) is not (True if wanted else None):
        wrong.append(f"notrace_passes is {got.get('notrace_passes')!r}")
    if got["version"] != 1 or got["runs"] < got["sets"] or len(text.splitlines()) != 1:
        wrong.append("its version is not 1, or it has fewer runs than sets, or several lines")
    return wrong


def tables(out):
    """Of each NAME.json that the guest has left: NAME, and its problems."""
    names = sorted(f.removesuffix(".wanted") for f in os.listdir(out) if f.endswith(".wanted")) \
        if os.path.isdir(out) else []
    if len(names) < 3:
        yield "all came", [f"there are {names}"]
    for name in names:
        with open(os.path.join(out, f"{name}.json")) as f, open(os.path.join(out, f"{name}.wanted")) as wanted:
            yield name, problems(f.read(), wanted.read().split())
