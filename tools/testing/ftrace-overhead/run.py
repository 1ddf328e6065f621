#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests ftrace-overhead as a whole, with the tracing of fake.c: run.py PROGRAM. Each test is a line "ok - ..." or
"not ok - ..."; the last line is "N passed, N failed"."""
import contextlib
import os
import signal
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tracing-tools"))
from results import closing, same  # noqa: E402 the path is not known before
from runs import counting, ended, hang_up, run, until  # noqa: E402

MEASURE = "-C", "-r", "2", "--", "sh", "-c"
# A cost of nothing is within the budget or not, as chance has it.
MEASURED = 0, 3


def closed():
    """Pipes to the command, and a file of ours, do not take the places of closed descriptors."""
    for fds in (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2):
        # Without standard output the result cannot be written.
        wanted = (1,) if 1 in fds else MEASURED
        r = run(*MEASURE, "echo; exec 2>/dev/null; read line; true",
                preexec_fn=lambda fds=fds: [os.close(fd) for fd in fds])
        same(f"descriptors {fds} are closed", (True, False), (r.returncode in wanted, os.path.exists("tracing")))


def inputs():
    """Each run of the command has the same standard input: from the same place, or nothing."""
    with open("lines", "w") as f:
        f.write("first\nsecond\n" + "more\n" * 10000)
    with open("lines") as f:
        os.lseek(f.fileno(), 6, os.SEEK_SET)
        r = run(*MEASURE, 'read line; test "$line" = second', stdin=f)
    same("a file is read again from where it was", True, r.returncode in MEASURED)
    r = run(*MEASURE, 'read line; test -z "$line"', stdin=None, input="more\n" * 10000)
    same("a pipe cannot be read again", (True, 1),
         (r.returncode in MEASURED, r.stderr.count("standard input cannot be read again: sh has none\n")))


def measuring(command, **how):
    """The program when it runs its command, which makes a file "ran"; so it has calibrated."""
    for name in "ran", "told":
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)
    p = counting(*MEASURE, command, **how)
    until(lambda: os.path.exists("ran") or p.poll() is not None)
    return p


def signals():
    """A signal ends it in order, and the command has it, too; one that it was told to ignore ends nothing."""
    for name in "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2":
        p = measuring("trap 'echo >told' TERM HUP USR1 USR2; echo >ran; until test -e told; do sleep 0.1; done")
        p.send_signal(getattr(signal, name))
        status, traces, _ = ended(p)
        same(f"{name} ends the tracing, and the command has it", (128 + getattr(signal, name), False, True),
             (status, traces, os.path.exists("told")))
        p = measuring("test -e ran || { echo >ran; sleep 1; }", start_new_session=True,
                      preexec_fn=lambda name=name: signal.signal(getattr(signal, name), signal.SIG_IGN))
        os.killpg(p.pid, getattr(signal, name))
        status, traces, _ = ended(p)
        same(f"{name} that is ignored ends nothing", (True, False), (status in MEASURED, traces))


def main():
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        closed()
        inputs()
        signals()
        hang_up("--", "sleep", "10")
        os.chdir("/")
    return closing()


sys.exit(main())
