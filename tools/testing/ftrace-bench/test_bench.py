#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of ftrace_bench.py, turns.py and calls on the host: test_bench.py CALLS, the program's path. The machine that
turns.py is given is made up, with its kernels, figures and medium. Each test is a line "ok - ..." or "not ok - ...";
the last line is "N passed, N failed"."""
import errno
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types

HERE = os.path.dirname(os.path.realpath(__file__))
PROGRAM = os.path.join(HERE, "ftrace_bench.py")
MACHINE = {"cpu": "made up", "cpus": 2, "microcode": "1", "hypervisor": "", "emulated": False, "governor": "none",
           "firmware": "BIOS"}
# One round of two kernels.
TURNS = ["stock", "ours", "stock", "ours"]
counts = [0, 0]


def result(good, text, *why):
    print(f"{'ok' if good else 'not ok'} - {text}", flush=True)
    for line in why if not good else ():
        print("# " + str(line).strip()[:2000].replace("\n", "\n# "))
    counts[not good] += 1


def same(text, wanted, got):
    result(wanted == got, text, f"wanted: {wanted}", f"got: {got}")


def source(name, **known):
    """(a module that finds these names before Python's own, its last part: that of a program)"""
    with open(os.path.join(HERE, name + ".py"), encoding="utf-8") as f:
        first, last = f.read().split('if __name__ == "__main__":')
    module = types.ModuleType(name)
    module.__dict__.update(known, __file__=os.path.join(HERE, name + ".py"))
    exec(compile(first, name, "exec"), module.__dict__)
    return module, compile("if True:" + last, name, "exec")


def instead(module, **names):
    """A module of Python's with other things by these names."""
    return types.SimpleNamespace(**vars(module) | names)


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def run(kernel="stock", mitigations="on", version="7.3", **figures):
    return {"kernel": kernel, "version": version, "mitigations": mitigations, "seconds": 1, "functions": 1,
            "vulnerabilities": {}, "figures": {name: {"unit": "ns", "values": v} for name, v in figures.items()}}


def results(*runs):
    return {"machine": MACHINE, "runs": list(runs)}


def program(*words):
    return subprocess.run([sys.executable, "-B", PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=60)


def reported(*runs):
    """The report's lines, by words, of a file with these."""
    write("file.json", json.dumps(results(*runs)))
    r = program("report", "file.json")
    if r.returncode or r.stderr:
        raise AssertionError(f"status {r.returncode}: {r.stderr}")
    return [line.split() for line in r.stdout.splitlines()]


class Kexec(BaseException):
    """The next kernel's command line."""


class PowerCut(BaseException):
    pass


class Computer:
    """Boots turns.py, and keeps its medium. in_turn(N) is called within the Nth measurement."""

    def __init__(self, *words):
        self.where = tempfile.mkdtemp(dir=".")
        self.medium, self.job = os.path.abspath(self.where + "/medium"), os.path.abspath(self.where + "/job")
        self.line = " ".join(["bench.id=0", "bench.wait=0", "bench.rounds=1", "bench.times=1", "bench.end", *words])
        os.makedirs(self.job + "/kernels")
        os.makedirs(self.medium)
        for kernel in set(TURNS):
            write(f"{self.job}/kernels/{kernel}", "")
        self.said, self.measured, self.in_turn, self.fault = "", [], lambda n: None, None
        self.devices, self.good, self.protected, self.mounted = ["one"], ["one"], False, []

    def check(self, path):
        if self.fault and str(path).startswith(self.medium):
            raise OSError(self.fault, os.strerror(self.fault), path)

    def open(self, path, mode="r", **how):
        # The second one is a serial line that is not there.
        made = {"/proc/cmdline": self.line, "/proc/consoles": "null -W- (EC p a) 1:3\nfull -W- (EC p a) 1:7\n",
                "/sys/firmware/initrd": ""}
        if path in made:
            write(self.where + "/made", made[path])
            path = self.where + "/made"
        elif path == "/dev/null" and mode == "w":
            path, mode = self.where + "/said", "a"
        elif mode[0] != "r":
            self.check(path)
        return open(path, mode, **how)

    def run(self, command, **_):
        if command[0] == "perl":
            raise Kexec(command[-1])
        if command[0] == "mount":
            self.mounted.append(os.path.basename(command[-2]))
            self.fault = self.fault or (errno.EROFS if self.protected else None)
            return types.SimpleNamespace(returncode=self.mounted[-1] not in self.good)
        return types.SimpleNamespace(returncode=0)

    def rename(self, old, new):
        self.check(new)
        os.rename(old, new)

    def bench(self):
        computer = self

        class Measurement:
            def __init__(self, seconds, module):
                self.figures = {"a call": {"unit": "ns", "values": [10.0, 12.0]}}
                self.kernel = os.path.basename(module).removesuffix(".ko")

            def cost_of_calls(self):
                computer.measured.append(self.kernel)
                computer.in_turn(len(computer.measured))

            def other(self):
                pass
            modules = switches = events = wakeups = other
        fb, _ = source("ftrace_bench", open=self.open)
        fb.HERE, fb.Measurement, fb.reset, fb.machine = self.job, Measurement, lambda: None, lambda: dict(MACHINE)
        fb.read = lambda path: self.line if path == "/proc/cmdline" else ""
        fb.os = instead(os, replace=self.rename)
        return fb

    def boot(self):
        """Whether another kernel was started."""
        sys.modules["ftrace_bench"] = self.bench()
        turns, program = source("turns", open=self.open)
        turns.MOUNT, turns.INITRD, turns.RESULTS = self.medium, self.where + "/initrd", self.job + "/results.json"
        turns.KEPT, turns.PAGE = self.medium + "/results.json", self.medium + "/report.html"
        turns.is_medium = lambda device: True
        turns.glob = instead(turns.glob, glob=lambda pattern: ["/sys/class/block/" + name for name in self.devices])
        flags = os.ST_RDONLY if self.protected else 0
        turns.os = instead(os, rename=self.rename, statvfs=lambda path: types.SimpleNamespace(f_flag=flags))
        turns.subprocess = instead(subprocess, run=self.run)
        try:
            exec(program, turns.__dict__)
        except Kexec as e:
            self.line = str(e)
            return True
        except SystemExit:
            pass
        return False

    def begin(self):
        """From the loader to the end; returns the consoles' text."""
        line = self.line
        for path in self.job + "/results.json", self.where + "/said":
            if os.path.exists(path):
                os.remove(path)
        try:
            while self.boot():
                pass
        except PowerCut:
            pass
        self.line = line
        with open(self.where + "/said", encoding="utf-8") as f:
            return f.read()

    def runs(self, name="results.json"):
        return ["figures" in r for r in read_json(f"{self.medium}/{name}")["runs"]]


def reports(said):
    """Whether a report of all turns is among it."""
    return said.count("stock / ours") == 2 and "4 boots" in said


def one_kernel():
    lines = reported(run(a=[1]), run("ours", a=[2]), run(mitigations="off", a=[3]))
    same("one kernel of two was measured without mitigations", [["a", "ns", "1.0", "±", "?", "2.0", "±", "?", "0.50"],
         ["a", "ns", "3.0", "±", "?"]], [line for line in lines if line[:1] == ["a"]])
    lines = reported(run(a=[1], b=[1]), run("ours", a=[0]))
    same("no quotient of 0, or of nothing", [["0.00", "±", "?", "-"], ["1.0", "±", "?", "-", "-"]],
         [line[5:] if line[0] == "a" else line[2:] for line in lines if line[:1] in (["a"], ["b"])])


def versions():
    lines = reported(run("k", version="7.3"), run("k", version="7.4"), run("k", version="7.4", a=[1]))
    head = next(line for line in lines if line[:1] == ["unit"])
    same("kernels of one name are told from each other by their versions", "unit k 7.3 k 7.4 7.3 / 7.4".split(), head)


def numbers():
    fb, _ = source("ftrace_bench")
    same("small figures have two digits, and no -0", ["0.04", "0.00", "0.00", "-0.50", "1.0", "123", "?"],
         [fb.number(x) for x in (0.04, 0.0, -0.001, -0.5, 1.0, 123.4, float("nan"))])


def files():
    good, bad = json.dumps(results(run(a=[1]))), json.dumps(results({"kernel": 1}))
    write("good.json", good)
    os.mkdir("directory")
    for name, text in (("missing", None), ("directory", None), ("cut off", good[:-9]), ("empty", ""), ("a list", "[]"),
                       ("another program's", bad), ("no text", "\udcff")):
        if text is not None:
            with open(name, "wb") as f:
                f.write(text.encode("utf-8", "surrogateescape"))
        r = program("report", "good.json", name)
        result(r.returncode == 1 and name in r.stderr and "Traceback" not in r.stderr, f"report names a file: {name}",
               f"status {r.returncode}", r.stdout, r.stderr)
    r = program("report", "good.json", "--html", "directory")
    result(r.returncode == 1 and "Mitigations on" in r.stdout and "Traceback" not in r.stderr,
           "the report is printed where the page cannot be written", r.stdout, r.stderr)


def arguments():
    for words in (["--seconds", "0"], ["--seconds", "nan"], ["--seconds", "inf"], ["--times", "0"], ["--times", "-1"]):
        r = program("measure", "new.json", *words)
        result(r.returncode == 2 and words[0] in r.stderr, f"measure refuses {' '.join(words)}", r.returncode, r.stderr)


def measured(path):
    """(measurements, the text of the error or none) of measure in a made-up machine."""
    computer = Computer()
    try:
        computer.bench().measure(path, "ours", 1, 1)
    except (OSError, ValueError) as e:
        return computer.measured, str(e)
    return computer.measured, None


def measure():
    got, error = measured("none/new.json")
    result(not got and error, "measure tries FILE before it measures", got, error)
    write("other.json", json.dumps({"machine": MACHINE | {"cpu": "another"}, "runs": []}))
    got, error = measured("other.json")
    result(not got and error and "cpu" in error, "measure refuses another machine's FILE", got, error)
    for _ in range(2):
        measured("this.json")
    same("measure adds runs to this machine's", 2, len(read_json("this.json")["runs"]))


def cpus():
    for usable, wanted in ({0, 2, 5}, [1, 2, 3]), ({1}, [1]), ({*range(8)}, [1, 2, 4, 8]), ({*range(5)}, [1, 2, 4, 5]):
        fb, _ = source("ftrace_bench")
        fb.os = instead(os, cpu_count=lambda: 8, sched_getaffinity=lambda pid: usable)
        fb.trace_with, fb.reset, fb.calls = lambda *_: 0, lambda: None, lambda n, seconds: iter([n])
        m = object.__new__(fb.Measurement)
        m.seconds, m.function, m.figures = 1, "f", {}
        m.events()
        same(f"events on 1 to all of the CPUs {sorted(usable)}", wanted, [f["values"][0] for f in m.figures.values()])


def program_calls():
    calls = os.path.abspath(CALLS)
    for words in ("1 nan", "1 inf", "2x 1", "1 1x", "0 1", "1 0", "1"):
        r = subprocess.run([calls, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        same(f"calls refuses {words}", (2, b""), (r.returncode, r.stdout))
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(mine)})
    try:
        status = [subprocess.run([calls, n, "0.01"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
                  for n in ("1", "2")]
    finally:
        os.sched_setaffinity(0, mine)
    same("calls uses the CPUs that it may", [0, 1], status)


def tracefs(**others):
    """A module with a tracefs of plain files, as after boot but for others, and the list of its writes."""
    fb, _ = source("ftrace_bench")
    fb.TRACING = tempfile.mkdtemp(dir=".")
    files = {"current_tracer": "nop", "set_ftrace_filter": "#### all functions enabled ####\n",
             "set_ftrace_notrace": "#### no functions disabled ####\n", "available_tracers": "function nop",
             "available_filter_functions": "__x64_sys_getppid\n", "tracing_on": "1\n", "set_ftrace_pid": "no pid\n",
             "tracing_cpumask": "f" * os.cpu_count() + "\n"}
    for name, text in (files | others).items():
        os.makedirs(os.path.dirname(f"{fb.TRACING}/{name}"), exist_ok=True)
        write(f"{fb.TRACING}/{name}", text)
    writes, real = [], fb.write
    fb.write = lambda path, text, *how: writes.append((path, text)) or real(path, text, *how)
    return fb, writes


def tracing():
    fb, writes = tracefs()
    fb.reset()
    same("the tracer is stopped before its filter goes", [("current_tracer", "nop"), ("set_ftrace_filter", "")], writes)
    for name, text in (("current_tracer", "function\n"), ("set_ftrace_filter", "schedule\n"),
                       ("set_ftrace_filter", "schedule:traceoff:unlimited\n"), ("set_ftrace_notrace", "schedule\n"),
                       ("events/raw_syscalls/enable", "1\n"), ("events/raw_syscalls/enable", "X\n"), ("tracing_on", "0\n"),
                       ("set_ftrace_pid", "1\n"), ("set_event_notrace_pid", "1\n"), ("tracing_cpumask", "0,00000000\n")):
        fb, writes = tracefs(**{name: text})
        try:
            fb.measured("ours", 1, 1)
            result(False, f"no measurement where {name} is {text}")
        except SystemExit as e:
            same(f"no measurement where {name} is {text.strip()}, which stays", ([], True), (writes, f" {name} " in str(e)))
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        fb, writes = tracefs()

        def fails(m, number=number):
            fb.trace_with("function", "f")
            signal.raise_signal(number)
        fb.Measurement.cost_of_calls = fails
        try:
            fb.measured("ours", 1, 1)
        except (KeyboardInterrupt, SystemExit):
            pass
        same(f"nothing is traced after {number.name}", [("current_tracer", "nop"), ("set_ftrace_filter", "")], writes[-2:])


def modules():
    """The log: others' lines come later, and not all kinds say something."""
    fb, _ = tracefs()
    log = ["Attempted 1 calls to x in 5ns"]

    def insmod(command, **_):
        kind = command[2].removeprefix("kind=")
        if kind in ("none", "fprobe"):
            log.append(f"[1.0] Attempted 10 calls to x in {dict(none=10, fprobe=50)[kind]}ns, 0 missed")
        log.append("[1.0] another's line")

    class Log:
        def __enter__(self):
            return types.SimpleNamespace(write=log.append)

        def __exit__(self, *_):
            pass
    fb.open = lambda path, *how, **more: Log() if path == "/dev/kmsg" else open(path, *how, **more)
    fb.subprocess, fb.output = instead(subprocess, run=insmod), lambda *_: "\n".join(log)
    m = fb.Measurement(1, __file__)
    m.modules()
    same("a probe's figure is from its own lines of the log", {"an empty fprobe": [4.0]},
         {name: f["values"] for name, f in m.figures.items()})


def wakeups():
    """Of 1,000 CPUs, which is more than a pipe holds."""
    fb, _ = tracefs()
    os.mkdir("bin")
    write("bin/cyclictest", f"""#!{sys.executable}
import sys
import time
time.sleep(0.2)
# No number of loops is without end.
assert int(sys.argv[sys.argv.index("-l") + 1]) > 0
for cpu in range(1000):
    print(f"T:{{cpu:2}} (1) P:95 I:500 C: 1000 Min: 1 Act: 2 Avg: {{cpu:5}} Max: 9" + " " * 100)
""")
    os.chmod("bin/cyclictest", 0o755)
    m = fb.Measurement(0.0004, "")
    path = os.environ["PATH"]
    os.environ["PATH"] = os.path.abspath("bin") + ":" + path
    try:
        m.wakeups()
    finally:
        os.environ["PATH"] = path
    same("cyclictest's output is read", [499.5, 9, 499.5, 9], [f["values"][0] for f in m.figures.values()])


def whole():
    computer = Computer()
    said = computer.begin()
    result(reports(said) and computer.measured == TURNS, "each kernel has its turns", computer.measured, said)
    result(os.path.exists(computer.medium + "/report.html") and computer.runs() == [True] * 4, "the medium has both")
    write(computer.medium + "/results-1.json", "kept")
    computer.begin()
    same("each measurement is kept", "report-2.html report.html results-1.json results-2.json results.json".split(),
         sorted(os.listdir(computer.medium)))
    with open(computer.medium + "/results-1.json", encoding="utf-8") as f:
        same("nothing takes another's name", "kept", f.read())


def cut_off():
    for last in 2, 4:
        computer = Computer()

        def power_cut(n, last=last):
            if n == last:
                raise PowerCut
        computer.in_turn = power_cut
        computer.begin()
        said = computer.begin()
        same(f"it goes on after turn {last} was cut off", TURNS, computer.measured)
        result("3 boots; 1 did not end" in said, "and says so", said)
        computer.begin()
        same("the next one begins anew", TURNS * 2, computer.measured)


def failing():
    for error in ValueError, OSError, SystemExit, KeyError:
        computer = Computer()

        def fail(n, error=error):
            if n == 1:
                raise error("made up")
        computer.in_turn = fail
        said = computer.begin()
        good = computer.measured == TURNS and computer.runs() == [False, True, True, True]
        result(good and "made up" in said and "1 did not end" in said, f"a turn that ends in {error.__name__}",
               computer.measured, said)


def unplugged():
    for turn in range(1, 5):
        computer = Computer()

        def unplug(n, turn=turn):
            if n == turn:
                computer.fault = errno.EIO
        computer.in_turn = unplug
        said = computer.begin()
        result(reports(said) and "only report" in said and computer.measured == TURNS and "Traceback" not in said,
               f"unplugged in turn {turn}: all figures are on the screen", computer.measured, said)
        same("each turn from then on says so once", 5 - turn, said.count("not written to any more"))
    computer = Computer()
    computer.fault = errno.ENOSPC
    said = computer.begin()
    result(reports(said) and "only report" in said, "a full medium", computer.measured, said)


def protected():
    computer = Computer()
    computer.protected = True
    said = computer.begin()
    result(reports(said) and "only report" in said and computer.measured == TURNS, "a medium that is write-protected",
           computer.measured, said)


def others():
    computer = Computer()
    computer.devices, computer.good = ["one", "two"], ["two"]
    said = computer.begin()
    result(reports(said) and computer.runs() == [True] * 4, "the second partition, as the first is damaged", said)


def damaged():
    for text in "", '{"machine": ', "[]", '{"machine": {}, "runs": []}', '{"machine": 1, "runs": [{}]}':
        computer = Computer()
        write(computer.medium + "/results.json", text)
        said = computer.begin()
        kept = computer.medium + "/results-1.json"
        result(reports(said) and computer.runs() == [True] * 4 and os.path.exists(kept), f"damaged results: {text!r}",
               computer.measured, os.listdir(computer.medium), said)


def words():
    for word in "rounds=0", "times=x", "seconds=0", "seconds=nan", "wait=x", "turms=1":
        word = "bench." + word
        computer = Computer(word)
        said = computer.begin()
        result(not computer.measured and word in said, f"{word} is refused", computer.measured, said)


def silent():
    computer = Computer()
    os.rename(computer.job + "/kernels", computer.job + "/gone")
    said = computer.begin()
    result("Traceback" in said and "FileNotFoundError" in said, "an error is said with bench.end, too", said)


def enter():
    """The second console's, as the first has no keyboard."""
    sys.modules["ftrace_bench"] = source("ftrace_bench")[0]
    turns, _ = source("turns")
    ends = [pty.openpty() for _ in range(2)]
    turns.consoles = lambda: [os.ttyname(end) for _, end in ends]
    said = []
    turns.say = said.append
    thread = threading.Thread(target=turns.leaf_through, args=([str(n) for n in range(15)],), daemon=True)
    thread.start()
    for n in 1, 2:
        time.sleep(0.2)
        same(f"page {n} waits", 2 * n, len(said))
        os.write(ends[1][0], b"\n")
    thread.join(10)
    result(not thread.is_alive(), "Enter is taken from any console")


TESTS = (one_kernel, versions, numbers, files, arguments, measure, cpus, program_calls, tracing, modules, wakeups,
         whole, cut_off, failing, unplugged, protected, others, damaged, words, silent, enter)


def too_long(*_):
    raise TimeoutError


if __name__ == "__main__":
    CALLS = os.path.abspath(sys.argv[1])
    signal.signal(signal.SIGALRM, too_long)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for test in TESTS:
            signal.alarm(60)
            try:
                test()
            except (Exception, SystemExit):
                result(False, test.__name__, traceback.format_exc())
            signal.alarm(0)
        os.chdir("/")
    print(f"{counts[0]} passed, {counts[1]} failed")
    sys.exit(counts[1] > 0)
