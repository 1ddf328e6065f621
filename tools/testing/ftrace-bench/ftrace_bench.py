#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measures what function tracing costs on the running kernel, in time, and puts kernels and machines side by side.

	ftrace_bench.py measure FILE.json [--kernel NAME] [--seconds S] [--times N]
	ftrace_bench.py report FILE.json... [--html PAGE.html]

measure, as root, adds a run of the running kernel to this machine's FILE: each figure N times, each load for S
seconds. Run it in several boots, as the places of functions in memory change with them. A call is one of getppid(), and
its cost the difference to one that nothing traces. "make calls" makes the program that calls; bench_probes.ko and
cyclictest are used where they are beside this file and in PATH. Events of others falsify the figures.

report prints means with intervals of 95 % confidence, by Student's t over the means of boots, or over the repetitions
where there is one boot. Of FILE, nothing tells the machine from others of its model.
"""
import argparse
import glob
import html
import json
import math
import os
import re
import select
import signal
import subprocess
import sys
import time

HERE, TRACING = os.path.dirname(os.path.realpath(__file__)), "/sys/kernel/tracing"
CALLS = os.path.join(HERE, "calls")
# Of a confidence of 95 %, by the degrees of freedom; the last for more, too.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
PROBES = {"a kprobe": "p", "a kretprobe": "r", "an fprobe": "f", "an fprobe's exit": "f"}
# Files of tracefs, a pattern of a line that is not as after boot, and what then is to do.
AT_BOOT = (
    ("current_tracer", r"^(?!nop$).", "write nop to it"),
    *((f"set_ftrace_{name}", r"^[^#\s]", "empty it") for name in ("filter", "notrace")),
    *((f"set_{name}_pid", r"^\d", "empty it") for name in ("ftrace", "ftrace_notrace", "event", "event_notrace")),
    ("events/raw_syscalls/enable", "^[1X]", "write 0 to it"),
    *((path, "^0", "write 1 to it") for path in ("tracing_on", "/proc/sys/kernel/ftrace_enabled")),
)
MODULE_KINDS = ("none", "kprobe", "kretprobe", "fprobe-entry", "fprobe")


def read(path):
    try:
        with open(os.path.join(TRACING, path)) as f:
            return f.read()
    except OSError:
        return ""


def write(path, text, how=os.O_TRUNC):
    """How many nanoseconds it took."""
    fd = os.open(os.path.join(TRACING, path), os.O_WRONLY | how)
    try:
        start = time.perf_counter_ns()
        os.write(fd, text.encode() + b"\n")
        return time.perf_counter_ns() - start
    finally:
        os.close(fd)


def output(*command):
    got = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if got.returncode:
        raise OSError(f"{command[0]}: {got.stderr.strip()}")
    return got.stdout


def calls(cpus, seconds):
    """(calls a second, nanoseconds of one)"""
    return map(float, output(CALLS, str(cpus), str(seconds)).split())


def ipis():
    """x86's, of function calls and of flushes of the TLB."""
    lines = re.findall(r"^ *(?:CAL|TLB):([ \d]*)", read("/proc/interrupts"), re.M)
    return sum(int(n) for line in lines for n in line.split())


def trace_with(tracer, function):
    write("set_ftrace_filter", function)
    write("current_tracer", tracer)


def probe(kind, function):
    place = function + ("%return" if kind.endswith("exit") else "")
    write("dynamic_events", f"{PROBES[kind]}:ftrace_bench/probe {place}", os.O_APPEND)
    write("events/ftrace_bench/probe/enable", "1")


def reset():
    write("current_tracer", "nop")
    write("set_ftrace_filter", "")
    for event in "raw_syscalls", "ftrace_bench/probe":
        if read(f"events/{event}/enable"):
            write(f"events/{event}/enable", "0")
    if read("events/ftrace_bench/probe/enable"):
        write("dynamic_events", "-:ftrace_bench/probe", os.O_APPEND)


class Measurement:
    def __init__(self, seconds, module):
        self.seconds, self.module, self.figures = seconds, module, {}
        self.tracers = [t for t in ("function", "function_graph", "count") if t in read("available_tracers").split()]
        found = re.search(r"^(?:__(?!ia32|compat)\w+_)?sys_getppid$", read("available_filter_functions"), re.M)
        if not self.tracers or not found:
            raise SystemExit("ftrace_bench: function tracing or getppid() is not to be had: mount tracefs, and be root")
        for path, other, mend in AT_BOOT:
            if re.search(other, read(path), re.M):
                raise SystemExit(f"ftrace_bench: {path} is not as after boot: {mend}")
        if bin(int("0" + read("tracing_cpumask").strip().replace(",", ""), 16)).count("1") < os.cpu_count():
            raise SystemExit("ftrace_bench: tracing_cpumask leaves CPUs out: write f for each four CPUs to it")
        self.function = found.group()

    def add(self, name, unit, value):
        self.figures.setdefault(name, {"unit": unit, "values": []})["values"].append(round(value, 2))

    def cost_of_calls(self):
        users = {f"a call recorded by {t}": lambda t=t: trace_with(t, self.function) for t in self.tracers}
        users["an event of raw_syscalls:sys_enter"] = lambda: write("events/raw_syscalls/sys_enter/enable", "1")
        users |= {f"an event of {kind}": lambda kind=kind: probe(kind, self.function) for kind in PROBES}
        _, alone = calls(1, self.seconds)
        self.add("a call of getppid(), not traced", "ns", alone)
        for name, begin in users.items():
            try:
                begin()
                self.add(name, "ns", list(calls(1, self.seconds))[1] - alone)
            except OSError:
                # This kernel has no such users.
                pass
            reset()

    def modules(self):
        took = {}
        for kind in MODULE_KINDS if os.path.exists(self.module) else ():
            mark = f"ftrace_bench: {kind}, {time.monotonic_ns()}"
            with open("/dev/kmsg", "w") as log:
                log.write(mark)
            # It does not stay.
            subprocess.run(["insmod", self.module, f"kind={kind}"], stderr=subprocess.DEVNULL)
            if found := re.search(r"Attempted (\d+) calls .* in (\d+)ns", output("dmesg").partition(mark)[2]):
                took[kind] = int(found.group(2)) / int(found.group(1))
                if "none" in took and kind != "none":
                    self.add(f"an empty {kind}", "ns", took[kind] - took["none"])

    def switches(self):
        for tracer in self.tracers:
            for text, word in ("on", tracer), ("off", "nop"):
                before = ipis()
                self.add(f"{tracer} {text}, every function", "ns", write("current_tracer", word))
                self.add(f"... interrupts between CPUs, {tracer} {text}", "IPIs", ipis() - before)

    def events(self):
        trace_with("function", self.function)
        most = len(os.sched_getaffinity(0))
        for n in sorted({most, *(1 << i for i in range((most - 1).bit_length()))}):
            self.add(f"function on {n} CPU{'s' * (n > 1)}", "events/s", next(calls(n, self.seconds)))

    def wakeups(self):
        """How late a task of a high priority wakes, as interrupts are off, or the kernel cannot be preempted."""
        for text, switch in ("tracing is off", False), ("function goes on and off", True):
            try:
                with subprocess.Popen(["cyclictest", "-qmNS", "-p", "95", "-i", "500", "-l", str(max(1, round(self.seconds * 2000)))],
                                      text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as test:
                    # It says nothing until its end.
                    while switch and not select.select([test.stdout], [], [], 0)[0]:
                        write("current_tracer", "function")
                        write("current_tracer", "nop")
                    found = re.findall(r"Avg:\s*(\d+) Max:\s*(\d+)", test.stdout.read())
            except FileNotFoundError:
                return
            if found:
                mean, most = zip(*(map(int, pair) for pair in found))
                self.add(f"a wakeup is late while {text}, mean", "ns", sum(mean) / len(mean))
                self.add(f"a wakeup is late while {text}, largest", "ns", max(most))


def machine():
    said = dict(re.findall(r"^(.*?)\s*: (.*)$", read("/proc/cpuinfo"), re.M))
    name = output(CALLS).strip()
    virtual = "hypervisor" in said.get("flags", "").split()
    return {"cpu": said.get("model name", os.uname().machine), "cpus": os.cpu_count(),
            "microcode": said.get("microcode", "unknown"), "hypervisor": name or ("unknown" if virtual else ""),
            "emulated": name.startswith("TCG") or not name and read("/sys/class/dmi/id/sys_vendor").strip() == "QEMU",
            "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip() or "none",
            "firmware": "UEFI" if os.path.isdir("/sys/firmware/efi") else "BIOS"}


def load(path):
    """The results; ValueError if there are none in the file."""
    with open(path, "rb") as f:
        text = f.read()
    try:
        results = json.loads(text)
        report({path: results})
        return results
    except Exception as e:
        raise ValueError(f"{path} is damaged, or not of this program") from e


def save(path, text):
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".new", path)


def as_json(results):
    return json.dumps(results, indent=1)


def measured(kernel, seconds, times, module=os.path.join(HERE, "bench_probes.ko")):
    """A run of the running kernel."""
    for number in signal.SIGTERM, signal.SIGHUP:
        # Not under nohup.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    m, faults = Measurement(seconds, module), glob.glob("/sys/devices/system/cpu/vulnerabilities/*")
    try:
        for _ in range(times):
            for part in m.cost_of_calls, m.modules, m.switches, m.events, m.wakeups:
                reset()
                part()
    finally:
        reset()
    off = "mitigations=off" in read("/proc/cmdline").split()
    return {
        "kernel": kernel, "version": os.uname().release, "mitigations": "off" if off else "on", "seconds": seconds,
        "functions": len(read("available_filter_functions").splitlines()),
        "vulnerabilities": {os.path.basename(p): read(p).strip() for p in sorted(faults)},
        "figures": m.figures}


def measure(path, kernel, seconds, times):
    """Adds a run to a file. It is written before, too: that it cannot be is to be known at once."""
    results = {"machine": machine(), "runs": []}
    if os.path.exists(path):
        old = load(path)
        differs = [name for name, value in results["machine"].items() if old["machine"].get(name) != value]
        if differs:
            raise ValueError(f"{path} is of another machine, or of other settings: {', '.join(differs)}")
        results = old
    save(path, as_json(results))
    results["runs"].append(measured(kernel, seconds, times))
    save(path, as_json(results))


def interval(runs, name):
    """(mean, half of the interval's width or nan), or None."""
    found = [run["figures"][name]["values"] for run in runs if name in run["figures"]]
    if not found:
        return None
    values = [sum(v) / len(v) for v in found] if len(found) > 1 else found[0]
    n, mean = len(values), sum(values) / len(values)
    if n < 2:
        return mean, math.nan
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, STUDENT[min(n - 1, len(STUDENT)) - 1] * deviation / math.sqrt(n)


def number(x):
    # The sum has no -0.0.
    return "?" if math.isnan(x) else f"{x:,.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 1 else \
        f"{round(x, 2) + 0:.2f}"


def said_of(name, results):
    m = results["machine"]
    how = f"an EMULATED CPU ({m['hypervisor'] or 'QEMU'}): these figures are no times of a real CPU" if m["emulated"] else \
        f"a virtual machine ({m['hypervisor']})" if m["hypervisor"] else "a real CPU, without a hypervisor"
    done = [run for run in results["runs"] if "figures" in run]
    text = f"{name}: measured on {how}. {m['cpu']}, {m['cpus']} CPUs, microcode {m['microcode']}, governor " \
           f"{m['governor']}, {m['firmware']}; {len(done)} boots"
    failed = [f"{run['kernel']}, mitigations {run['mitigations']}" for run in results["runs"] if "figures" not in run]
    return text + (f"; {len(failed)} did not end: " + "; ".join(failed) if failed else "")


def tables(files):
    """[(title, head, rows)]: for mitigations on and off, a column for each kernel of each file."""
    found = []
    for mitigations in "on", "off":
        head, columns, names = ["", "unit"], [], {}
        for path, results in files.items():
            runs = [run for run in results["runs"] if run["mitigations"] == mitigations and "figures" in run]
            kernels = {}
            for run in runs:
                kernels.setdefault((run["kernel"], run["version"]), []).append(run)
            prefix = f"{path}: " if len(files) > 1 else ""
            head += [f"{prefix}{' '.join(k)}" + ", emulated" * results["machine"]["emulated"] for k in kernels]
            pair = len(kernels) == 2
            if pair:
                called, versions = zip(*kernels)
                head.append(prefix + " / ".join(versions if called[0] == called[1] else called))
            columns.append((list(kernels.values()), pair))
            names |= {name: f["unit"] for run in runs for name, f in run["figures"].items()}
        rows = []
        for name, unit in names.items():
            row = [name, unit]
            for kernels, pair in columns:
                figures = [interval(its, name) for its in kernels]
                row += [f"{number(f[0])} ± {number(f[1])}" if f else "-" for f in figures]
                if pair:
                    row.append(f"{figures[0][0] / figures[1][0]:.2f}" if all(figures) and figures[1][0] else "-")
            rows.append(row)
        if rows:
            found.append((f"Mitigations {mitigations}", head, rows))
    return found


def as_text(notes, parts):
    lines = list(notes)
    for title, head, rows in parts:
        widths = [max(map(len, column)) for column in zip(head, *rows)]
        lines += ["", title]
        lines += ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in [head, *rows]]
    return "\n".join(lines) + "\n"


def as_html(notes, parts):
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    lines = ["<!DOCTYPE html><meta charset=utf-8><title>Costs of function tracing</title>",
             "<style>body{font-family:sans-serif}td,th{padding:2px 9px;text-align:right}td:first-child{text-align:left}"
             "tr:nth-child(even){background:#eee}</style><h1>Costs of function tracing</h1>"]
    lines += [f"<p>{html.escape(note)}" for note in notes]
    for title, head, rows in parts:
        lines += [f"<h2>{title}</h2><table>", row(head, "th"), *(row(r, "td") for r in rows), "</table>"]
    return "\n".join(lines) + "\n"


def report(files):
    """(notes, tables) of {name: results}, for as_text() and as_html()."""
    notes = [said_of(name, results) for name, results in files.items()]
    return [*notes, "Means ± half of the interval of 95 % confidence."], tables(files)


def seconds(text):
    if not 0 < float(text) < math.inf:
        raise ValueError(text)
    return float(text)


def times(text):
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("measure")
    command.add_argument("file")
    command.add_argument("--kernel", default="kernel", metavar="NAME")
    command.add_argument("--seconds", type=seconds, default=1)
    command.add_argument("--times", type=times, default=5)
    command = commands.add_parser("report")
    command.add_argument("files", nargs="+", metavar="file")
    command.add_argument("--html")
    args = parser.parse_args()
    try:
        if args.command == "measure":
            return measure(args.file, args.kernel, args.seconds, args.times)
        same = len({*map(os.path.basename, args.files)}) < len(args.files)
        found = report({p if same else os.path.basename(p): load(p) for p in args.files})
        sys.stdout.write(as_text(*found))
        if args.html:
            with open(args.html, "w", encoding="utf-8") as f:
                f.write(as_html(*found))
    except (OSError, ValueError) as e:
        return f"ftrace_bench: {e}"


if __name__ == "__main__":
    sys.exit(main())
