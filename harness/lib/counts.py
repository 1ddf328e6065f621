# SPDX-License-Identifier: GPL-2.0
"""The problems of tables that tools/tracing/funccount has written as JSON in jobs/funccount, one a line."""
import json
import os

MEMBERS = {"version": int, "counter": str, "time": float, "seconds": float, "rows": int, "calls": int, "counts": list}


def table_problem(table):
    """How a table differs from the man page's description; None if it does not."""
    for name, kind in MEMBERS.items():
        if not isinstance(table.get(name), kind):
            return f"{name} is {table.get(name)!r}"
    counts = [row["count"] for row in table["counts"]]
    if table["version"] != 1 or counts != sorted(counts) or 0 in counts:
        return "its version is not 1, or its rows are not in order"
    if len(counts) > table["rows"] or sum(counts) > table["calls"]:
        return "it tells of fewer rows or calls than it has"
    for row in table["counts"]:
        if "cpus" in row and sum(row["cpus"].values()) != row["count"]:
            return f"the CPUs do not add up: {row}"
    return None


def wanted_calls(text):
    """(function, calls) that a file of the guest's asks for: a number is that of read_zero's calls; a name is that of
    a module that was loaded twice, and calls it once. (The counts of init text go with that text.)"""
    return ("read_zero", int(text)) if text.isdigit() else (f"{text}_irq_work", 2)


def problems(lines, wanted):
    """The problems of the tables of one run."""
    function, calls = wanted_calls(wanted)
    try:
        tables = [json.loads(line) for line in lines]
        wrong = [problem for problem in map(table_problem, tables) if problem]
        got = sum(row["count"] for table in tables for row in table["counts"] if row["function"] == function)
    except (ValueError, KeyError, TypeError) as e:
        return [f"{type(e).__name__}: {e}"]
    if not tables:
        wrong.append("there is no table")
    if got != calls:
        wrong.append(f"{got} calls of {function} in {len(tables)} tables, not {calls}")
    return wrong


def tables(out):
    """Of each NAME.json that the guest has left: NAME, and its problems."""
    names = sorted(f.removesuffix(".wanted") for f in os.listdir(out) if f.endswith(".wanted")) \
        if os.path.isdir(out) else []
    if not names:
        yield "some came", ["none is there"]
    for name in names:
        with open(os.path.join(out, f"{name}.json")) as f, open(os.path.join(out, f"{name}.wanted")) as wanted:
            yield name, problems(f.read().splitlines(), wanted.read().strip())
