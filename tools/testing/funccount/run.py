#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests funccount as a whole, with the counter of fake.c: run.py PROGRAM. Each test is a line "ok - ..." or
"not ok - ..."; the last line is "N passed, N failed"."""
import contextlib
import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tracing-tools"))
from results import closing, same  # noqa: E402 the path is not known before
from runs import counting, ended, hang_up, run, until  # noqa: E402


def places():
    """Files that cannot be saved to are refused before anything is counted."""
    os.mkfifo("fifo")
    os.mkdir("directory")
    for path in "fifo", "directory", "":
        for status, more in (1, ["-d", "0.1", "-i", "0.01"]), (125, ["-d", "0.1", "--", "true"]):
            r = run("vfs_read", "-s", path, *more)
            same(f"'{path}' is not saved to, status {status}", (status, f"funccount: '{path}' is not a regular file\n"),
                 (r.returncode, r.stderr))
    same("the FIFO stays", True, stat.S_ISFIFO(os.stat("fifo").st_mode))
    # The new file has a longer name at first.
    for path, reason in ("none/", "No such file or directory"), ("n" * 249, "File name too long"):
        r = run("vfs_read", "-s", path, "-d", "0.1", "-i", "0.01")
        same(f"{path[:10]} is not saved to", (1, f"funccount: {path} cannot be written: {reason}\n"),
             (r.returncode, r.stderr))


def beside():
    """What stands beside a record stays as it is, and the mode of an old one stays."""
    with open("private", "w") as f:
        os.fchmod(f.fileno(), 0o600)
    with open("private.new", "w") as f:
        f.write("mine")
    os.symlink("target", "linked.new")
    umask = os.umask(0o027)
    for path in "private", "linked":
        run("vfs_read", "-s", path, "-i", "0.01", "-d", "0.1")
    os.umask(umask)
    with open("private.new") as f:
        same("another file of nearly the same name stays", "mine", f.read())
    same("a link of nearly the same name stays", (True, False), (os.path.islink("linked.new"), os.path.exists("target")))
    same("the mode of an old record, and of a new one", [0o600, 0o640],
         [os.stat(path).st_mode & 0o777 for path in ("private", "linked")])
    same("no other file is left", ["linked", "linked.new", "private", "private.new"],
         sorted(f for f in os.listdir() if f.startswith(("linked", "private"))))


def owners():
    """A new record has the owner and the group of an old one; where it cannot have them, no other user can read it."""
    mine, root = (os.geteuid(), os.getegid()), not os.geteuid()
    others = (mine[0] + 1, mine[1] + 1) if root else (mine[0], max(os.getgroups()))
    cases = ("it has them", [], (*others, 0o660)), ("it cannot", ["setpriv", "--bounding-set=-chown"], (*mine, 0o600))
    for text, first, wanted in cases if root else cases[:1]:
        with open("shared", "w") as f:
            os.fchown(f.fileno(), *others)
            os.fchmod(f.fileno(), 0o660)
        run("vfs_read", "-s", "shared", "-i", "0.01", "-d", "0.1", first=first)
        st = os.stat("shared")
        same(f"owner, group and mode of an old record: {text}", wanted, (st.st_uid, st.st_gid, st.st_mode & 0o777))


def both():
    """The differences are told before the new record is written, which may fail; it is written if telling fails."""
    samples = ["-i", "0.01", "-d", "0.1"]
    run("vfs_read", "-s", "saved", *samples)
    r = run("vfs_read", "-D", "saved", "-s", "new", *samples, env={"CALLS": "2"},
            first=["env", "--ignore-signal=XFSZ", "prlimit", "--fsize=0"])
    same("no room for the new record: status and message", (1, True),
         (r.returncode, "new cannot be written: File too large" in r.stderr))
    same("no room for the new record: the differences are told", (True, True),
         ("1 of 1 functions differ" in r.stderr, "vfs_read " in r.stdout))
    same("no room for the new record: no part of it is left", ["saved"],
         [f for f in os.listdir() if f.startswith(("saved", "new"))])
    with open("/dev/full", "w") as full:
        r = run("vfs_read", "-D", "saved", "-s", "new", *samples, stdout=full, env={"CALLS": "2"})
    same("no room for the differences: the record is written", (1, True), (r.returncode, os.path.exists("new")))


def while_writing():
    """A signal that comes while a record is written waits until it is there."""
    r = run("vfs_read", "-s", "whole", "-i", "0.01", "-d", "0.1", env={"SIGNAL": str(int(signal.SIGTERM))})
    same("while writing: SIGTERM ends it, and nothing is left but the record", (-signal.SIGTERM, ["whole"]),
         (r.returncode, [f for f in os.listdir() if f.startswith("whole")]))


def slow_reads():
    """Reads that take longer than an interval keep no signal from ending it, and lengthen that interval only."""
    # Such an interval is over whenever it is waited for.
    p = counting("vfs_read", "-i", "0.000000001", "-s", "slow", env={"READ_MS": "2"})
    p.terminate()
    status, counts, _ = ended(p)
    same("slow reads: SIGTERM ends the samples", (True, False), (status >= 0, counts))
    run("vfs_read", "-i", "0.1", "-d", "0.1", "-s", "slow", env={"READ_MS": "500", "SLOW_READS": "1"})
    with open("slow") as f:
        times = [int(ns) for line in f if line.startswith("ns\t") for ns in line.split()[1:]]
    same("slow reads: no interval is shorter for it", (5, True), (len(times), sum(times) >= 1000000000))


def slow_reader():
    """A reader that takes nothing keeps no signal from ending it; the rest is written when it reads."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"\n")
    os.set_blocking(write, True)
    p = counting("vfs_read", "-i", "0.01", stdout=write, stderr=subprocess.DEVNULL)
    os.close(write)
    until(lambda: not os.stat("tracing").st_mode & stat.S_IWUSR)
    p.terminate()
    until(lambda: not os.path.exists("tracing"))
    same("slow reader: SIGTERM ends the tables", False, os.path.exists("tracing"))
    p.stdout = open(read)
    _, _, out = ended(p)
    same("slow reader: no table is lost", ["FUNC", "vfs_read"] * 2,
         [line.split()[0] for line in out.splitlines() if line])


def errors():
    """The process of the command leaves errno alone, which it shares until it runs the command."""
    same("the command's process changes no errno", [(0, "")] * 5,
         [(r.returncode, "".join(line for line in r.stderr.splitlines() if "errno" in line))
          for r in (run("vfs_read", "--", "true") for _ in range(5))])


def signals():
    """All but SIGKILL and faults end the counting in order, and a command has the ones that it was given."""
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU", "SIGUSR1",
                 "SIGUSR2", "SIGIO", "SIGPWR", "SIGSTKFLT", "SIGSYS", "SIGRTMIN", "SIGRTMAX"):
        p = counting("vfs_read")
        p.send_signal(getattr(signal, name))
        status, counts, out = ended(p)
        same(f"{name} ends the counting", (0, False, True), (status, counts, "vfs_read " in out))
    with open("table", "w") as table:
        r = run("vfs_read", "-i", "0.01", first=["prlimit", "--fsize=100"], stdout=table)
    same("a file that must not grow: status, message", (1, "funccount: cannot write: File too large"),
         (r.returncode, r.stderr.splitlines()[-1]))
    same("a file that must not grow: it counts no more", False, os.path.exists("tracing"))
    r = run("vfs_read", "--", "sh", "-c", "kill -XFSZ $$", stdout=subprocess.DEVNULL)
    same("a command is ended by SIGXFSZ", 128 + signal.SIGXFSZ, r.returncode)
    read, write = os.pipe()
    p = counting("vfs_read", "--", "sleep", "10")
    fcntl.fcntl(read, fcntl.F_SETOWN, p.pid)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
    os.write(write, b"x")
    same("a command gets a signal of the kernel that is for funccount", 128 + signal.SIGIO, ended(p)[0])
    os.close(read)
    os.close(write)
    hang_up("vfs_read", "--", "sleep", "10")


def closed():
    """Pipes to the command do not take the places of closed descriptors."""
    for fds in (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2):
        r = run("vfs_read", "-s", "closed", "-d", "0.1", "--", "sh", "-c", "echo; exec 2>/dev/null; read line; true",
                stdin=None, stdout=None, stderr=None, preexec_fn=lambda fds=fds: [os.close(fd) for fd in fds])
        same(f"descriptors {fds} are closed", (0, True), (r.returncode, os.path.exists("closed")))
        os.remove("closed")


def inputs():
    """Each run of a command has the same standard input: from its beginning, or nothing."""
    samples = ["vfs_read", "-s", "input", "-d", "0.1", "--", "sh", "-c", 'read line; test "$line" = "$1"', "sh"]
    with open("lines", "w") as f:
        f.write("first\nsecond\n" + "more\n" * 10000)
    with open("lines") as f:
        r = run(*samples, "first", stdin=f)
        same("a file is read again", (0, 1), (r.returncode, len(r.stderr.splitlines())))
    with open("lines") as f:
        os.lseek(f.fileno(), 6, os.SEEK_SET)
        same("a file is read again from where it was", 0, run(*samples, "second", stdin=f).returncode)
    r = run(*samples, "", stdin=None, input="more\n" * 10000)
    same("a pipe cannot be read again", (0, 1),
         (r.returncode, r.stderr.count("funccount: standard input cannot be read again: sh has none\n")))
    r = run("vfs_read", "--", "cat", stdin=None, input="more\n")
    same("a single run has the pipe", (0, True), (r.returncode, r.stdout.startswith("more\n")))


def words():
    """A script without a first line that says how: the library makes another list of all words for the shell."""
    with open("script", "w") as f:
        f.write("exit 3\n")
    os.chmod("script", 0o755)
    same("a script with 140,000 words is run", 3, run("vfs_read", "--", "./script", *["a"] * 140000).returncode)


def main():
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        for test in (places, beside, owners, both, while_writing, slow_reads, slow_reader, errors, signals, closed, inputs,
                     words):
            test()
        os.chdir("/")
    return closing()


sys.exit(main())
