# SPDX-License-Identifier: GPL-2.0
"""Runs of the program that the first argument names, which has a fake.c in place of the kernel: there is a file "tracing"
while it traces."""
import contextlib
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time

from results import same

PROGRAM = os.path.abspath(sys.argv[1])


def options(first, args, env, how):
    # At its end it leaves its tables to the kernel.
    env = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"} | (env or {})
    return {"args": [*first, PROGRAM, *args], "text": True, "env": env, "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how


def run(*args, first=(), env=None, **how):
    return subprocess.run(timeout=20, **options(first, args, env, how))


def counting(*args, first=(), env=None, **how):
    """The program when it counts already: it holds signals back then."""
    with contextlib.suppress(FileNotFoundError):
        os.remove("tracing")
    p = subprocess.Popen(**options(first, args, env, how))
    until(lambda: os.path.exists("tracing") or p.poll() is not None)
    return p


def until(ready):
    end = time.monotonic() + 20
    while not ready() and time.monotonic() < end:
        time.sleep(0.01)


def ended(p):
    """Its status, whether it still counts, and its output. One that does not end is killed."""
    try:
        out, _ = p.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        p.kill()
        out, _ = p.communicate()
    return p.returncode, os.path.exists("tracing"), out


def hang_up(*args):
    """A terminal that goes tells the leader of its session only, which has to tell its processes."""
    here, there = pty.openpty()
    p = counting(*args, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(there, termios.TIOCSCTTY, 0))
    os.close(there)
    os.close(here)
    same("a hang-up ends the tracing and the command", (128 + signal.SIGHUP, False), ended(p)[:2])
