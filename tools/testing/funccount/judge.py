#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges the tables that funccount --json has written in live.sh: judge.py DIRECTORY"""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tracing-tools"))
from judge_lib import members, results  # noqa: E402 the path is not known before


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


sys.exit(results("JSON", sys.argv[1], 1, funccount))
