#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests of ftrace-export on made traces: test.py DIR, where DIR has the program, and "sanitized", the same with
sanitizers. Each test is a line "ok - ..." or "not ok - ..."; the last line is "N passed, N failed"."""
import glob
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter

import decoded
import tracedat
from tracedat import PAGE, Trace

FORMATS = ("perfetto", "folded", "firefox")
READERS = {"perfetto": decoded.Perfetto, "folded": decoded.folded, "firefox": decoded.Firefox}
# Status, and what ASan and UBSan end a program with.
OK, ERROR, USAGE, SANITIZER = 0, 1, 2, 99
# A million events are exported in so many seconds of a CPU, and in so much memory where the format can be streamed.
# (Pages of the file, which the library maps, are not counted: the kernel can drop them.)
SPEED_EVENTS, SPEED_SECONDS = 1000000, 5
STREAM_BYTES = 4 << 20


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def result(self, good, text, *why):
        print(f"{'ok' if good else 'not ok'} - {text}")
        for line in why if not good else ():
            print(f"# {str(line)[:2000]}")
        self.passed += bool(good)
        self.failed += not good

    def same(self, text, wanted, got):
        self.result(wanted == got, text, f"wanted: {wanted}", f"got: {got}")


results = Results()
result, same = results.result, results.same
programs = {}


def run(*args, program="sanitized", leaks=1, **how):
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60} | how
    environment = os.environ | {"ASAN_OPTIONS": f"exitcode={SANITIZER}:allocator_may_return_null=1:handle_segv=0:"
                                                 f"detect_leaks={leaks}",
                                "UBSAN_OPTIONS": f"exitcode={SANITIZER}"}
    return subprocess.run([programs[program], *args], env=environment, **how)


def export(trace, form, *args, wanted_err=""):
    """What a reader makes of the output."""
    if trace is not None:
        trace.write("in.dat")
    if os.path.exists("out"):
        os.remove("out")
    r = run("-f", form, "-o", "out", *args, "in.dat")
    err = r.stderr.decode()
    if r.returncode or r.stdout or (wanted_err not in err if wanted_err else err):
        raise AssertionError(f"status {r.returncode}, stdout {r.stdout[:200]}, stderr {err[:1000]}")
    return READERS[form]("out")


def slices(p):
    """(task, function, depth, begin, end) of each."""
    return [(p.name(s["track"]), s["name"], s["depth"], s["begin"], s["end"]) for s in p.slices]


def calls():
    t = Trace(functions=["outer", "inner", "other"], comms={7: b"cat"})
    t.enter(0, 1000, 7, "outer", 0, (1, 1 << 63, 0xffffffffffffffff))
    t.enter(0, 1100, 7, "inner", 1)
    t.leave(0, 1500, 7, "inner", 1, 390, -22)
    t.enter(0, 1600, 7, "other", 1)
    t.leave(0, 1601, 7, "other", 1, 1, 0xffff888012345678)
    # An error that is an int.
    t.leave(0, 2000, 7, "outer", 0, 990, 0xfffffff4)
    p = export(t, "perfetto")
    same("calls: the slices", [("cat", "outer", 0, 1000, 2000), ("cat", "inner", 1, 1100, 1500),
                               ("cat", "other", 1, 1600, 1601)], slices(p))
    same("calls: arguments, return values and times",
         [{"arg0": 1, "arg1": 1 << 63, "arg2": 0xffffffffffffffff, "return value": -12, "time by the kernel (ns)": 990},
          {"return value": -22, "time by the kernel (ns)": 390},
          {"return value": 0xffff888012345678, "time by the kernel (ns)": 1}], [s["args"] for s in p.slices])
    same("calls: the kernel", "7.3.4", p.release)
    narrow = Trace(functions=["f"], comms={7: b"cat"}, uname="Linux host 7.3.4 #1 SMP i686", long=4)
    narrow.enter(0, 1000, 7, "f", 0, (1, 2, 0xffffffff))
    narrow.leave(0, 2000, 7, "f", 0, 1000, 12)
    same("calls: arguments of a kernel of 32 bits",
         [{"arg0": 1, "arg1": 2, "arg2": 0xffffffff, "return value": 12, "time by the kernel (ns)": 1000}],
         [s["args"] for s in export(narrow, "perfetto").slices])
    wanted = {"outer": 1000 - 400 - 1, "outer;inner": 400, "outer;other": 1}
    same("calls: folded", {f"cat-7;{stack}": n for stack, n in wanted.items()}, export(t, "folded"))
    same("calls: Firefox", {"cat-7": wanted}, export(t, "firefox").times)


def interrupts():
    """An interrupt, and another one in it: calls of the task, and of the idle task."""
    t = Trace(2, functions=["work", "irq", "softirq", "tick", "idle"], comms={7: b"cat"})
    t.enter(0, 100, 7, "work", 0)
    t.enter(0, 200, 7, "irq", 1)
    t.enter(0, 300, 7, "softirq", 2)
    t.enter(0, 400, 7, "tick", 3)
    t.leave(0, 500, 7, "tick", 3, 100)
    t.leave(0, 600, 7, "softirq", 2, 300)
    t.leave(0, 700, 7, "irq", 1, 500)
    t.leave(0, 800, 7, "work", 0, 700)
    for cpu in 0, 1:
        t.enter(cpu, 1000 + cpu, 0, "idle", 0)
    for cpu in 0, 1:
        t.enter(cpu, 1010 + cpu, 0, "irq", 1)
        t.leave(cpu, 1020 + cpu, 0, "irq", 1, 10)
        t.leave(cpu, 1030 + cpu, 0, "idle", 0, 30)
    wanted = {"cat-7;work": 200, "cat-7;work;irq": 200, "cat-7;work;irq;softirq": 200, "cat-7;work;irq;softirq;tick": 100,
              **{f"swapper/{cpu};idle{more}": n for cpu in (0, 1) for more, n in (("", 20), (";irq", 10))}}
    same("interrupts: folded", wanted, export(t, "folded"))
    p = export(t, "perfetto")
    same("interrupts: the idle task of each CPU has a track", {("swapper/0", 0, 0), ("swapper/1", 0, 0), ("cat", 7, 7)},
         {who for names in p.tracks.values() for who in names})
    same("interrupts: the depths", [0, 1, 2, 3], [s[2] for s in slices(p) if s[0] == "cat"])


def unmatched():
    t = Trace(functions=["a", "b", "c"], comms={7: b"cat"})
    # The trace begins in calls, and ends in calls.
    t.leave(0, 100, 7, "b", 1, 5000, -2)
    t.leave(0, 200, 7, "a", 0, 9000)
    t.enter(0, 300, 7, "a", 0)
    t.enter(0, 400, 7, "b", 1)
    # b's return is not there.
    t.enter(0, 500, 7, "c", 1)
    t.leave(0, 600, 7, "c", 1, 90)
    t.enter(0, 650, 7, "b", 1)
    # And neither is this b's: a returns.
    t.leave(0, 700, 7, "a", 0, 390)
    t.enter(0, 800, 7, "a", 0)
    # Another function's return at the same depth.
    t.leave(0, 900, 7, "c", 0, 10)
    t.enter(0, 1000, 7, "a", 0)
    t.enter(0, 1100, 7, "b", 3)
    p = export(t, "perfetto", wanted_err="of 3 calls, no return was recorded")
    same("unmatched: the slices", [("cat", "a", 0, 300, 700), ("cat", "b", 1, 400, 500), ("cat", "c", 1, 500, 600),
                                   ("cat", "b", 1, 650, 700), ("cat", "a", 0, 800, 900), ("cat", "a", 0, 1000, None),
                                   ("cat", "b", 1, 1100, None)], slices(p))
    same("unmatched: which ends were recorded", [None, "the return was not recorded", None, "the return was not recorded",
                                                 "the return was not recorded", None, None],
         [s["args"].get("end") for s in p.slices])
    same("unmatched: returns without calls",
         [("b", 100, -2, 5000), ("a", 200, 0, 9000), ("c", 900, 0, 10)],
         [(i["name"], i["begin"], i["args"]["return value"], i["args"]["time by the kernel (ns)"]) for i in p.instants])
    wanted = {"a": 100 + 50 + 100 + 100, "a;b": 100 + 50, "a;c": 100}
    same("unmatched: folded", {f"cat-7;{s}": n for s, n in wanted.items()},
         export(t, "folded", wanted_err="3 returns were recorded without their calls"))
    same("unmatched: Firefox", {"cat-7": wanted}, export(t, "firefox", wanted_err="returns").times)


def tail_calls():
    """The called function returns for both: two returns, one right after the other."""
    t = Trace(functions=["a", "b"], comms={7: b"cat"})
    t.enter(0, 100, 7, "a", 0)
    t.enter(0, 200, 7, "b", 1)
    t.leave(0, 300, 7, "b", 1, 100, 5)
    t.leave(0, 300, 7, "a", 0, 200, 5)
    t.enter(0, 300, 7, "a", 0)
    t.leave(0, 300, 7, "a", 0, 0)
    same("tail calls: the slices", [("cat", "a", 0, 100, 300), ("cat", "b", 1, 200, 300), ("cat", "a", 0, 300, 300)],
         slices(export(t, "perfetto")))
    same("tail calls: folded", {"cat-7;a": 100, "cat-7;a;b": 100}, export(t, "folded"))


def losses():
    t = Trace(2, functions=["a", "b"], comms={7: b"cat"})
    t.enter(0, 1000, 7, "a", 0)
    t.enter(0, 1100, 7, "b", 1)
    # This b is another one: it took 100, after a loss.
    t.leave(0, 1000000, 7, "b", 1, 100, missed=12)
    # This a is the one from before.
    t.leave(0, 1000200, 7, "a", 0, 999200)
    t.switch(0, 1000300, (b"cat", 7), (b"swapper/0", 0), missed=-1)
    t.switch(0, 1000400, (b"swapper/0", 0), (b"cat", 7))
    t.switch(1, 1000500, (b"swapper/1", 0), (b"dog", 8))
    p = export(t, "perfetto", wanted_err="events are missing, it is not known how many, and 12 more")
    same("losses: the slices", [("cat", "a", 0, 1000, 1000200), ("cat", "b", 1, 1100, 1000000)], slices(p))
    same("losses: the return of a lost call", [("b", 1000000)], [(i["name"], i["begin"]) for i in p.instants])
    same("losses: that of the call is not taken for it", "the return was not recorded", p.slices[1]["args"]["end"])
    same("losses: Perfetto knows the CPU", [0, 0], p.lost)
    f = export(t, "firefox", wanted_err="missing")
    same("losses: Firefox has them", ["12", "?"],
         [data["text"] for name, _, _, data in f.markers["cat-7"] if name == "lost events"])


def names():
    """Tasks get other names, by a rename, by an exec that only a switch tells of; threads have processes."""
    t = Trace(functions=["a"], comms={7: b"early", 9: b"nine"})
    t.enter(0, 100, 7, "a", 0)
    t.rename(0, 200, 7, b"early", b"later")
    t.leave(0, 300, 7, "a", 0, 200)
    t.fork(0, 400, 7, 8, b"later", 0x10000)
    t.fork(0, 401, 7, 10, b"later", 0)
    t.switch(0, 500, (b"later", 7), (b"thread", 8))
    t.switch(0, 600, (b"thread2", 8), (b"nine", 9))
    p = export(t, "perfetto")
    same("names: of each track", {7: [("early", 7, 7), ("later", 7, 7)],
                                  8: [("later", 7, 8), ("thread", 7, 8), ("thread2", 7, 8)], 9: [("nine", 9, 9)],
                                  10: [("later", 10, 10)]},
         {who[0][2]: who for who in p.tracks.values()})
    same("names: the events that tell of them", ["task_rename", "task_newtask", "task_newtask", "sched_switch",
                                                 "sched_switch"], [kind for _, _, kind, _ in p.ftrace])
    same("names: the last one, in folded stacks", {"later-7;a": 200}, export(t, "folded"))
    f = export(t, "firefox")
    same("names: threads and processes in Firefox", {("later", "7", "7"), ("thread2", "7", "8"), ("nine", "9", "9"),
                                                     ("later", "10", "10")},
         {(th["name"], th["pid"], th["tid"]) for th in f.threads.values()})


def reused():
    """A new task has the pid of one that is gone, which never returned from its last call."""
    t = Trace(functions=["a", "do_exit"], comms={7: b"shell"})
    t.fork(0, 100, 7, 8, b"old", 0x10000)
    t.enter(0, 200, 8, "do_exit", 0)
    t.fork(0, 300, 7, 8, b"new", 0)
    t.enter(0, 400, 8, "a", 0)
    t.leave(0, 500, 8, "a", 0, 400)
    seen = "of 1 calls, no return was recorded"
    p = export(t, "perfetto", wanted_err=seen)
    same("a pid again: each task has a track", [[("old", 7, 8)], [("new", 8, 8)]],
         [track for track in p.tracks.values() if track[0][2] == 8])
    same("a pid again: the slices", [("old", "do_exit", 0, 200, 300), ("new", "a", 0, 400, 500)], slices(p))
    same("a pid again: folded", {"old-8;do_exit": 100, "new-8;a": 100}, export(t, "folded", wanted_err=seen))
    same("a pid again: Firefox", {"old-8": {"do_exit": 100}, "new-8": {"a": 100}},
         {name: times for name, times in export(t, "firefox", wanted_err=seen).times.items() if times})
    # So many that the table of tasks grows.
    t = Trace(functions=["a"])
    for i in range(1000):
        t.fork(0, 100 * i, 7, 8 + i % 2, b"%d" % i, 0)
        t.enter(0, 100 * i + 10, 8 + i % 2, "a", 0)
        t.leave(0, 100 * i + 20, 8 + i % 2, "a", 0, 10)
    same("a pid again and again: folded", {f"{i}-{8 + i % 2};a": 10 for i in range(1000)}, export(t, "folded"))


def switches():
    t = Trace(2)
    t.switch(0, 100, (b"swapper/0", 0), (b"cat", 7), 0)
    t.add(1, 110, "sched_waking", 0, b"dog".ljust(16, b"\0") + bytes((8, 0, 0, 0, 0x88, 0xff, 0xff, 0xff, 1, 0, 0, 0)))
    t.switch(1, 120, (b"swapper/1", 0), (b"dog", 8), 0)
    t.switch(0, 200, (b"cat", 7), (b"swapper/0", 0), 2)
    t.switch(1, 300, (b"dog", 8), (b"cat", 7), 256)
    p = export(t, "perfetto")
    same("switches: by CPU, in order", [(0, 100), (0, 200), (1, 110), (1, 120), (1, 300)], [e[:2] for e in p.ftrace])
    same("switches: all fields", {"prev_comm": "dog", "prev_pid": 8, "prev_prio": 120, "prev_state": 256,
                                  "next_comm": "cat", "next_pid": 7, "next_prio": 120}, p.ftrace[-1][3])
    same("switches: a negative number", {"comm": "dog", "pid": 8, "prio": -120, "target_cpu": 1}, p.ftrace[2][3])
    f = export(t, "firefox")
    same("switches: when tasks run, in ms from the beginning",
         {"cat-7": [(0, 0.0001, 0), (0.0002, 0.0002, 1)], "dog-8": [(0.00002, 0.0002, 1)]},
         {task: [(b, e, d["cpu"]) for n, b, e, d in m if n == "running"] for task, m in f.markers.items()
          if task in ("cat-7", "dog-8")})


def odd_names():
    odd = b'a";\\\x01\xff\xc3\xbc\n{}'
    t = Trace(functions=['f"\\;\xfc'], comms={})
    t.switch(0, 100, (odd[:15], 7), (b"\xed\xa0\x80\xf0\x9f\x98\x80x", 8))
    t.enter(0, 200, 7, 'f"\\;\xfc', 0)
    t.leave(0, 300, 7, 'f"\\;\xfc', 0, 100)
    t.said(0, 400, 7, 1, b'"quoted" \\ \x07 \xfe\nend')
    clean = 'a";\\ \ufffd\xfc {}'
    p = export(t, "perfetto")
    same("odd names: tasks", [[(clean, 7, 7)], [("\ufffd\ufffd\ufffd\U0001f600x", 8, 8)]], list(p.tracks.values()))
    same("odd names: a function", ['f"\\;\xfc'], [s["name"] for s in p.slices])
    same("odd names: a text", ['n=1 text="quoted" \\   \ufffd end'], [i["args"]["text"] for i in p.instants])
    same("odd names: folded", {f'{clean.replace(";", ":")}-7;f"\\:\xfc': 100}, export(t, "folded"))
    f = export(t, "firefox")
    same("odd names: Firefox", {f"{clean}-7", "\ufffd\ufffd\ufffd\U0001f600x-8"}, {*f.threads})
    same("odd names: a text in Firefox", ['n=1 text="quoted" \\   \ufffd end'],
         [d["text"] for n, _, _, d in f.markers[f"{clean}-7"] if n == "said"])


def many_cpus():
    r = random.Random(64)
    t = Trace(64, functions=["f"])
    times = sorted(r.sample(range(1, 1 << 40), 3200))
    for i, ts in enumerate(times):
        t.said(i * 7 % 64, ts, 100 + i % 64, i, b"x")
    p = export(t, "perfetto")
    same("64 CPUs: in the order of their times", times, [i["begin"] for i in p.instants])
    same("64 CPUs: of each CPU", [i * 7 % 64 for i in range(3200)], [i["args"]["cpu"] for i in p.instants])
    # A buffer whose clock goes back: the task's time does not.
    t = Trace(functions=["f"], comms={7: b"cat"})
    t.enter(0, 1000, 7, "f", 0)
    t.leave(0, 900, 7, "f", 0, 100, missed=-1)
    t.enter(0, 1200, 7, "f", 0)
    t.leave(0, 1300, 7, "f", 0, 100)
    same("a clock that goes back: folded", {"cat-7;f": 100}, export(t, "folded", wanted_err="missing"))
    same("a clock that goes back: Firefox", {"cat-7": {"f": 100}}, export(t, "firefox", wanted_err="missing").times)


def large():
    """Lengths of one, two and three bytes."""
    t = Trace(functions=["f"])
    for i in range(2000):
        t.switch(0, 100 + i, (b"t", 7), (b"t", 7), i)
    t.said(0, 3000, 7, 1, b"x" * 300)
    t.enter(0, 4000, 7, "f", 0, [(1 << 64) - 1] * 16)
    p = export(t, "perfetto")
    same("large: many switches", [*range(2000)], [e["prev_state"] for _, _, _, e in p.ftrace])
    same("large: a text", ["n=1 text=" + "x" * 300], [i["args"]["text"] for i in p.instants])
    same("large: arguments", {f"arg{i}": (1 << 64) - 1 for i in range(16)}, p.slices[0]["args"])


def nothing():
    for cpus in 1, 64:
        for form in FORMATS:
            out = export(Trace(cpus), form, wanted_err="in.dat: there are no events")
            if form == "perfetto":
                same(f"empty buffers of {cpus} CPUs: {form}", ([], [], []), (out.slices, out.instants, out.ftrace))
            else:
                same(f"empty buffers of {cpus} CPUs: {form}", {}, out if form == "folded" else out.threads)
    t = Trace()
    t.said(0, 100, 7, 1, b"x")
    same("no call: nothing to fold, and a word on it", {}, export(t, "folded", wanted_err="no call of function_graph"))


def clocks():
    for clock, said in (("counter", True), ("x86-tsc", True), ("uptime", True), ("mono", False), ("local", False)):
        t = Trace(clock=clock, functions=["f"], comms={7: b"cat"})
        for i in range(3):
            t.enter(0, 10 * i + 1, 7, "f", 0)
            t.leave(0, 10 * i + 2, 7, "f", 0, 1)
        # A loss: times by the kernel are others than those of the clock, which says nothing then.
        t.enter(0, 100, 7, "f", 0)
        t.said(0, 101, 7, 1, b"x", missed=3)
        t.leave(0, 1000101, 7, "f", 0, 1)
        err = f"the clock {clock} may not count nanoseconds" if said else "3 events are missing"
        same(f"the clock {clock}: a tick is written as a nanosecond", {"cat-7;f": 3 + 1000001},
             export(t, "folded", wanted_err=err))
        got = export(t, "perfetto", wanted_err=err).slices[-1]["args"].get("end")
        same(f"the clock {clock}: durations {'cannot' if said else 'can'} be compared after a loss",
             None if said else "the return was not recorded", got)


def buffers():
    t = Trace(2, functions=["top", "deep"], comms={7: b"cat"})
    t.enter(0, 100, 7, "top", 0)
    t.leave(0, 200, 7, "top", 0, 100)
    t.enter(1, 150, 7, "deep", 0, buffer="mine")
    t.leave(1, 450, 7, "deep", 0, 300, buffer="mine")
    same("buffers: the top one, and a word on the others", {"cat-7;top": 100},
         export(t, "folded", wanted_err="has buffers of instances, too: --buffer exports one, as 'mine'"))
    same("buffers: an instance's", {"cat-7;deep": 300}, export(t, "folded", "-b", "mine"))
    refused("buffers: one that is not there", ERROR, "in.dat has no buffer 'other'", "-b", "other", "in.dat")


def refused(text, status, message, *args, form="perfetto"):
    """Refused with a message, and without an output."""
    with open("out", "w") as f:
        f.write("before")
    r = run("-f", form, "-o", "out", *args)
    with open("out") as f:
        before = f.read()
    err = r.stderr.decode()
    left = [f for f in os.listdir(".") if f.startswith("out.")]
    result(r.returncode == status and message in err and not r.stdout and before == "before" and not left, text,
           f"status {r.returncode}, out has '{before[:20]}', left: {left}", err[:2000])
    os.remove("out")


def some_trace():
    r = random.Random(3)
    t = Trace(3, functions=[f"f{i}" for i in range(20)], comms={100 + c: b"task" for c in range(3)})
    for cpu in range(3):
        depth, ts = [], 0
        for _ in range(400):
            ts += r.randrange(1, 1 << 28)
            if depth and r.random() < .5:
                t.leave(cpu, ts, 100 + cpu, depth.pop(), len(depth), 1)
            else:
                depth.append(f"f{r.randrange(20)}")
                t.enter(cpu, ts, 100 + cpu, depth[-1], len(depth) - 1, (1, 2))
            if r.random() < .2:
                t.said(cpu, ts, 100 + cpu, 3, b"x" * r.randrange(200))
            if r.random() < .2:
                t.switch(cpu, ts, (b"a", 100 + cpu), (b"b", 100 + cpu))
    return t


def sound(r, path):
    """Whether the program ended as it should on a damaged file, and its output is complete, or not there."""
    err = r.stderr.decode(errors="replace")
    if r.returncode not in (OK, ERROR) or [f for f in os.listdir(".") if f.startswith("out.")]:
        return f"status {r.returncode}: {err[:1500]}"
    if os.path.exists("out") != (r.returncode == OK):
        return f"status {r.returncode}, and the output is {'' if os.path.exists('out') else 'not '}there"
    if r.returncode == ERROR and not (path in err and ("byte" in err or "event" in err)):
        return f"it does not say where: {err[:500]}"
    return None


def damaged(data, form):
    with open("bad.dat", "wb") as f:
        f.write(data)
    if os.path.exists("out"):
        os.remove("out")
    try:
        # The libraries leak what they have parsed of a format that turns out to be wrong.
        r = run("-f", form, "-o", "out", "bad.dat", leaks=0)
    except subprocess.TimeoutExpired:
        return None, "it does not end"
    return r, sound(r, "bad.dat")


def truncated():
    data = some_trace().data()
    good, bad = 0, []
    places = [*range(0, 4096, 311), *range(4096, len(data), 3511), len(data) - 1]
    for place in places:
        r, problem = damaged(data[:place], FORMATS[place % 3])
        if problem or (r and r.returncode == OK):
            bad.append(f"{place} of {len(data)} bytes: {problem or 'it is taken for whole'}")
        good += not problem
    result(not bad, f"truncated at {len(places)} places: refused, with file and byte", *bad[:5])


def flipped():
    r = random.Random(5)
    data, bad, refusals = some_trace().data(), [], 0
    # What stands before the events: the library's work, mostly.
    rounds = 120
    for i in range(rounds):
        new = bytearray(data)
        for _ in range(r.choice((1, 1, 4))):
            new[r.randrange(8192 if i % 5 == 0 else len(new))] = r.randrange(256)
        got, problem = damaged(bytes(new), FORMATS[i % 3])
        if problem:
            bad.append(f"round {i}: {problem}")
        elif got.returncode == OK:
            try:
                READERS[FORMATS[i % 3]]("out")
            except (decoded.Wrong, ValueError, KeyError, IndexError) as e:
                bad.append(f"round {i}: the output is wrong: {type(e).__name__}: {e}")
        refusals += got is not None and got.returncode == ERROR
    result(not bad, f"{rounds} times some bytes that are others: exported or refused", *bad[:5])
    result(0 < refusals < rounds, f"of these, {refusals} were refused")


def wrong_formats():
    r, plain = random.Random(7), tracedat.format_text
    bad, refusals, rounds = [], 0, 120
    for i in range(rounds):
        changed = r.choice(sorted(tracedat.NUMBER))

        def wrong(name, *rest, changed=changed):
            text = plain(name, *rest)
            begin, end = r.choice([m.span(1) for m in re.finditer(rb"(?:offset|size):(\d+)", text)])
            number = r.choice((b"0", b"3", b"70000", b"2147483640", b"4294967295"))
            return text[:begin] + number + text[end:] if name == changed else text

        tracedat.format_text = wrong
        data = some_trace().data()
        tracedat.format_text = plain
        got, problem = damaged(data, FORMATS[i % 3])
        if problem:
            bad.append(f"round {i}, {changed}: {problem}")
        refusals += got is not None and got.returncode == ERROR
    result(not bad, f"{rounds} times a field of a format that is elsewhere: exported or refused", *bad[:5])
    result(0 < refusals < rounds, f"of these, {refusals} were refused")


def wrong_events():
    t = Trace(functions=["f"])
    t.said(0, 100, 7, 1, b"x")
    t.add(0, 200, "funcgraph_exit", 7, b"short")
    t.write("in.dat")
    refused("an event that is too short", ERROR, "in.dat: event 2, of CPU 0, byte ", "in.dat")
    t = Trace()
    t.add(0, 200, 777, 7, b"12345678")
    t.write("in.dat")
    refused("an event of no known number", ERROR, "its number is not that of an event", "in.dat")
    t = Trace()
    t.add(0, 200, "said", 7, b"\1\0\0\0" + (5000 << 16 | 16).to_bytes(4, "little") + b"text")
    t.write("in.dat")
    refused("a text that ends behind its event", ERROR, "a field ends behind it", "in.dat")
    t = Trace(functions=["f"])
    for i in range(300):
        t.said(0, 100 + i, 7, 1, b"x")
    data = bytearray(t.data())
    # The length of the last page.
    data[-PAGE + 8:-PAGE + 12] = (40000).to_bytes(4, "little")
    with open("in.dat", "wb") as f:
        f.write(data)
    refused("a page that says it is longer than it is", ERROR, "in.dat: CPU 0, after event ", "in.dat")
    with open("in.dat", "wb") as f:
        f.write(b"# tracer: nop\n")
    refused("a file that is no trace", ERROR, "in.dat: byte ", "in.dat")
    refused("a file that is not there", ERROR, "no.dat: No such file or directory", "no.dat")
    refused("a directory", ERROR, "this is not a regular file", ".")


def usage():
    some_trace().write("in.dat")
    refused("an unknown format", USAGE, "'svg' is not perfetto, folded or firefox", "-f", "svg", "in.dat")
    refused("two files", USAGE, "'b' is one file too many", "a", "b")
    refused("a file and the running kernel", USAGE, "--running and a file cannot be combined", "-r", "a")
    refused("an unknown option", USAGE, "Try 'ftrace-export --help'", "--no-such")
    r = run("--help")
    same("the help names each option", 6, r.stdout.decode().count("\n  -"))
    r = run("in.dat", cwd="/")
    result(r.returncode == ERROR and b"in.dat: No such file" in r.stderr, "a file of another directory", r.stderr)


def outputs():
    some_trace().write("trace.dat")
    run("-f", "folded", "-o", "out")
    r = run("-f", "folded")
    with open("out", "rb") as f:
        result(r.returncode == OK and f.read() == r.stdout != b"", "trace.dat, to standard output", r.stderr)
    r = run("-f", "folded", "-o", "/dev/full")
    result(r.returncode == ERROR and b"/dev/full cannot be written: No space left" in r.stderr, "a full disk", r.stderr)
    r = run("-f", "folded", "-o", "no/such/out")
    result(r.returncode == ERROR and b"no/such/out cannot be made: No such file" in r.stderr, "no such directory", r.stderr)
    r = run("-f", "folded", "-o", "large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)))
    result(r.returncode == ERROR and b"large cannot be written: File too large" in r.stderr, "a file too large", r.stderr)
    same("a file too large: nothing is left", [], glob.glob("large*"))
    with open("/dev/full", "w") as full:
        r = run("-f", "folded", stdout=full)
    result(r.returncode == ERROR and b"standard output cannot be written" in r.stderr, "a full standard output", r.stderr)
    read, write = os.pipe()
    os.close(read)
    r = run("-f", "perfetto", stdout=write)
    os.close(write)
    result(r.returncode == ERROR and not r.stderr, "a reader who has gone", r.stderr)
    os.mkdir("dir")
    umask = os.umask(0o027)
    run("-f", "folded", "-o", "dir/out")
    os.umask(umask)
    same("the output's mode", 0o640, os.stat("dir/out").st_mode & 0o777)
    os.chmod("dir/out", 0o600)
    run("-f", "folded", "-o", "dir/out")
    same("the output's mode is that of an old file", 0o600, os.stat("dir/out").st_mode & 0o777)
    same("nothing else is left", ["out"], os.listdir("dir"))
    # There is a message on it, and nothing to write.
    t = Trace()
    t.said(0, 100, 7, 1, b"x")
    t.write("said.dat")
    for closed in (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2):
        r = run("-f", "folded", "-o", "closed", "said.dat", stdin=None, stdout=None, stderr=None,
                preexec_fn=lambda closed=closed: [os.close(fd) for fd in closed])
        with open("closed") as f:
            same(f"descriptors {closed} are closed", (OK, ""), (r.returncode, f.read()))
        os.remove("closed")
    same("standard output is closed", ERROR, run("-f", "folded", stdout=None, preexec_fn=lambda: os.close(1)).returncode)
    os.mkdir("linked")
    os.symlink("linked/out", "link")
    for text in "a link to a file that is not there yet", "a link to a file":
        r = run("-f", "folded", "-o", "link")
        same(text, (OK, True, ["out"]), (r.returncode, os.path.islink("link"), os.listdir("linked")))


# While a file is read they are taken for its.
FAULTS = "SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGILL", "SIGTRAP"


def signals():
    """At any time; the output is whole, or not there."""
    write_big(100000)
    r, bad, killed = random.Random(11), [], 0
    whole = run("-f", "perfetto", "in.dat", program="ftrace-export").stdout
    for i in range(20):
        if os.path.exists("out"):
            os.remove("out")
        p = subprocess.Popen([programs["ftrace-export"], "-o", "out", "in.dat"], stderr=subprocess.DEVNULL)
        time.sleep(r.random() * 0.1)
        p.send_signal(r.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
        status = p.wait(timeout=60)
        killed += status < 0
        left = [f for f in os.listdir(".") if f.startswith("out.")]
        there = os.path.exists("out")
        if left or (there and open("out", "rb").read() != whole):
            bad.append(f"round {i}: status {status}, left: {left}")
    result(not bad, f"20 signals at any time, {killed} of which ended it", *bad)
    wrong = []
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU", "SIGUSR1",
                 "SIGUSR2", "SIGIO", "SIGPWR", "SIGSTKFLT", "SIGSYS", "SIGRTMIN", "SIGRTMAX", *FAULTS):
        # The sanitizers are no code for a handler that does not return. The others take longer with them.
        p = subprocess.Popen([programs["ftrace-export" if name in FAULTS else "sanitized"], "-o", "out", "in.dat"],
                             stderr=subprocess.DEVNULL)
        while not glob.glob("out.*") and p.poll() is None:
            time.sleep(0.001)
        p.send_signal(getattr(signal, name))
        if p.wait(timeout=60) != (ERROR if name in FAULTS else -getattr(signal, name)) or glob.glob("out.*"):
            wrong.append(name)
            for path in glob.glob("out.*"):
                os.remove(path)
    same("each signal that ends it removes the new file", [], wrong)


def faults():
    """Of the library while it reads, also where it has used up the stack; and others, which are signals as usual."""
    plain = tracedat.format_text
    tracedat.format_text = lambda name, number, fields, printed, *rest: \
        plain(name, number, fields, '"%d", ' + "(" * 200000 + "1" + ")" * 200000 if name == "said" else printed, *rest)
    some_trace().write("in.dat")
    tracedat.format_text = plain
    before = resource.getrlimit(resource.RLIMIT_STACK)
    r = run("-f", "folded", "in.dat", program="ftrace-export",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, before[1])))
    same("a format that takes too much stack", (ERROR, b"in.dat: it cannot be read on after event 0\n"),
         (r.returncode, r.stderr))
    some_trace().write("in.dat")
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    p = subprocess.Popen([programs["ftrace-export"], "-f", "folded", "in.dat"], stdout=write, stderr=subprocess.PIPE)
    time.sleep(1)
    p.send_signal(signal.SIGSEGV)
    same("a fault after all was read", (-signal.SIGSEGV, b""), (p.wait(timeout=60), p.stderr.read()))
    p.stderr.close()
    os.close(read)
    os.close(write)


def any_calls():
    """Calls of tasks that move between CPUs, against a model of them."""
    for seed in range(12):
        r = random.Random(seed)
        cpus, functions = r.choice((1, 2, 5)), [f"f{i}" for i in range(r.choice((2, 30)))]
        tasks = {100 + i: [] for i in range(6)}
        t = Trace(cpus, functions=functions, comms={pid: b"t" for pid in tasks})
        ts, self_time, calls, since = 0, Counter(), Counter(), {}
        for _ in range(2000):
            ts += r.choice((1, 10, 1000, 1 << 30))
            pid = r.choice(list(tasks))
            stack, key = tasks[pid], f"t-{pid}"
            if stack:
                self_time[";".join([key, *(f for f, _ in stack)])] += ts - since[pid]
            since[pid] = ts
            if stack and (r.random() < .5 or len(stack) > 12):
                f, begin = stack.pop()
                t.leave(r.randrange(cpus), ts, pid, f, len(stack), ts - begin, r.randrange(100))
            else:
                f = r.choice(functions)
                t.enter(r.randrange(cpus), ts, pid, f, len(stack), [r.randrange(9)] * r.randrange(7))
                stack.append((f, ts))
                calls[key, f, ts] += 1
        for pid, stack in tasks.items():
            if stack:
                self_time[";".join([f"t-{pid}", *(f for f, _ in stack)])] += ts - since[pid]
        wanted = {stack: n for stack, n in self_time.items() if n}
        got = export(t, "folded")
        f = export(t, "firefox")
        fire = {f"{task};{stack}": n for task, stacks in f.times.items() for stack, n in stacks.items()}
        p = export(t, "perfetto")
        result(got == wanted and fire.keys() == wanted.keys() and
               all(abs(fire[s] - n) <= 1 + n * 1e-9 for s, n in wanted.items()) and
               Counter((f"t-{p.tracks[s['track']][0][2]}", s["name"], s["begin"]) for s in p.slices) == calls,
               f"any calls, seed {seed}: all three say the same as the model")


def big_trace(nr):
    r = random.Random(1)
    functions = [f"f{i}" for i in range(500)]
    t = Trace(4, functions=functions, comms={100 + c: b"task" for c in range(4)})
    for cpu in range(4):
        ts, stack, pid = 1000 + cpu, [], 100 + cpu
        for i in range(nr // 4):
            ts += r.randrange(50, 800)
            if i % 20 == 0:
                t.said(cpu, ts, pid, i, b"hello")
            elif i % 20 == 10:
                t.switch(cpu, ts, (b"task", pid), (b"task", pid))
            elif stack and (r.random() < .5 or len(stack) > 6):
                f, begin = stack.pop()
                t.leave(cpu, ts, pid, f, len(stack), ts - begin)
            else:
                f = functions[r.randrange(500) % (3 + 2 * len(stack))]
                t.enter(cpu, ts, pid, f, len(stack), (1, 2, 3, 4, 5, 6))
                stack.append((f, ts))
    return t


def write_big(nr):
    """In a process of its own: the memory of this one would count as that of those that it starts."""
    pid = os.fork()
    if not pid:
        big_trace(nr).write("in.dat")
        os._exit(0)
    os.waitpid(pid, 0)


def speed():
    """CPU time, so that other load on the machine does not fail it; memory of a streamed format."""
    for nr in SPEED_EVENTS // 4, SPEED_EVENTS:
        write_big(nr)
        for form in FORMATS:
            limit = STREAM_BYTES if form == "perfetto" else resource.RLIM_INFINITY
            p = subprocess.Popen([programs["ftrace-export"], "-f", form, "-o", "out", "in.dat"],
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
            _, status, use = os.wait4(p.pid, 0)
            took = use.ru_utime + use.ru_stime
            text = f"{nr} events to {form}: {took:.2f} s, {nr / took / 1e6:.2f} M events a second" + \
                (f", in {limit >> 20} MB" if form == "perfetto" else f", {use.ru_maxrss} KB with the file")
            if nr == SPEED_EVENTS:
                result(not status and took < SPEED_SECONDS, text)
            else:
                print(f"# {text}")


TESTS = (calls, interrupts, unmatched, tail_calls, losses, names, reused, switches, odd_names, many_cpus, large, nothing,
         clocks, buffers, wrong_events, usage, outputs, any_calls, signals, faults, truncated, flipped, wrong_formats, speed)


def main():
    for name in "sanitized", "ftrace-export":
        programs[name] = os.path.abspath(os.path.join(sys.argv[1], name))
    only = sys.argv[2:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        for test in TESTS:
            if only and test.__name__ not in only:
                continue
            try:
                test()
            except Exception as e:  # whatever it is, the next tests run
                result(False, f"{test.__name__}: {type(e).__name__}: {str(e)[:1500]}",
                       traceback.format_exc().replace("\n", "\n# "))
        os.chdir("/")
    print(f"{results.passed} passed, {results.failed} failed")
    return 1 if results.failed or not results.passed else 0


sys.exit(main())
