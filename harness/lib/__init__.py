# SPDX-License-Identifier: GPL-2.0
"""The common part of the programs in harness/: places, and how a program ends.

kernels   those under build/ and how they are made; modules adds modules; machines has their emulators
vm        a guest; userspace and newc make its programs, guest has the options of its runs
tap       results: one reader, one writer; results has the outcome of a suite's guest
suites    the suites of check-guest, which configs and try run, too
beside    cases on stock and on ours, in one table; ftracecases has those of the ftrace selftests
counting  guests in which instructions are counted, for the benchmarks; insns reads and sums the figures, and
          profiling has those of commands, by chains of calls
charts    pictures of figures and of chains
figures   files of figures, and their changes between two days
"""
import hashlib
import os
import subprocess
import sys
from pathlib import Path

HARNESS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TOP = os.path.dirname(HARNESS)
BUILD = os.path.join(TOP, "build")
LOGS = os.path.join(BUILD, "logs")
# The guest's user space.
GUEST = os.path.join(BUILD, "guest")

# How many processes are to run at a time.
JOBS = int(os.environ.get("J") or os.cpu_count() or 1)

# How a program ends that could not do its work.
TROUBLE = 125


class Failure(Exception):
    """Something that hinders a run; the text names the remedy."""


def run(main):
    """A program: main() returns its status."""
    try:
        sys.exit(main())
    except Failure as e:
        print(f"{os.path.basename(sys.argv[0])}: {e}", file=sys.stderr)
    except KeyboardInterrupt:
        pass
    sys.exit(TROUBLE)


def job(name):
    """A script for a guest."""
    return os.path.join(HARNESS, "jobs", name)


def testing(name):
    """A test of the tree."""
    return os.path.join(TOP, "tools/testing", name)


def source(name):
    """A program's source for a guest."""
    return os.path.join(HARNESS, "guest-src", name)


def digest(*parts):
    """Of files (each a path) and of all else, as text."""
    h = hashlib.sha256()
    for part in map(str, parts):
        if os.path.isfile(part):
            part = hashlib.sha256(Path(part).read_bytes()).hexdigest()
        h.update(part.encode() + b"\0")
    return h.hexdigest()


def files_below(top):
    """The paths of all files under a directory, in an order that does not change."""
    return [str(path) for path in sorted(Path(top).rglob("*")) if not path.is_dir()]


def clean_environment():
    """For another make: ours, if a make started us, is not to be inherited."""
    return {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def logged(log, *commands):
    """Runs commands with their output in log, a path under build/logs. Raises Failure if one fails."""
    os.makedirs(LOGS, exist_ok=True)
    with open(os.path.join(LOGS, log), "w") as f:
        for command in commands:
            if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=f, stderr=f, env=clean_environment()).returncode:
                raise Failure(f"{command[0]} failed: see build/logs/{log}")
