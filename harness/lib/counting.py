# SPDX-License-Identifier: GPL-2.0
"""Guests under an emulator that counts (-icount shift=0: one instruction, one nanosecond), and
their figures that are kept.

A job of these prints "= KEY" before each window that the plugin insnprof counts, "count NAME N" for a
figure of its own, and mark's line."""
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from . import BUILD, GUEST, LOGS, Failure, digest, genfns, insns, job, kernels, modules, source, testing, userspace, vm

OUT = os.path.join(BUILD, "bench")
TIMEOUT = 4800
# Entries that are counted in every window, by the functions' names on either kernel.
COUNTERS = {
    "ipis": "smp_call_function_many_cond",
    "int3s": "asm_exc_int3",
    "switches": "switch_mm_irqs_off",
}


class Figures(dict):
    """{key: number}, filled by the readers below."""

    def window(self, key, w, ns):
        # A range lies in boot, where parts of the kernel ran at their physical address
        # when QEMU translated them: there is no user space to be told from.
        self[key] = w.kernel + w.user if w.origin == "range" else w.kernel
        for name in COUNTERS:
            if name in w.counters:
                self[f"{key}.{name}"] = w.counters[name]
        if ns is not None:
            self[f"{key}.us"] = ns // 1000

    def read(self, output, windows, boot):
        """Windows to keys, by their order; and the job's own figures beside them."""
        keys = ["boot"] if boot else []
        ns = {}
        for line in output:
            word, _, rest = line.partition(" ")
            if word == "=":
                keys.append(rest)
            elif m := re.match(r"(write|read|loop|shell) ns=(\d+) result=(-?\d+)", line):
                ns[keys[-1]] = int(m.group(2))
                if m.group(1) == "read":
                    self[f"{keys[-1]}.bytes"] = int(m.group(3))
            elif word == "count":
                name, value = rest.split()
                self[f"count.{name}"] = int(value)
            elif word in ("dmesg", "info"):
                self.setdefault("text", []).append(line)
            elif line:
                print(f"bench: the guest says: {line}", file=sys.stderr)
        if len(windows) != len(keys):
            raise Failure(f"{len(keys)} windows asked for, {len(windows)} counted: is the plugin's mark called by others?")
        for key, w in zip(keys, windows.values()):
            self.window(key, w, ns.get(key))


def boot_and_run(kernel, what, script, words="", trees=(), plugin=None, mem="1G", smp=2, modules=False):
    """Output of jobs/SCRIPT."""
    program = os.path.basename(sys.argv[0])
    print(f"{program}: {kernel}: {what}", flush=True)
    log = os.path.join(LOGS, f"{program}-{kernels.short_name(kernel)}.log")
    os.makedirs(LOGS, exist_ok=True)
    r = vm.run(kernel, job(script), trees=trees, modules=modules, accel="icount", mem=mem, smp=smp, plugin=plugin,
               append=words, timeout=TIMEOUT, echo=False, log=log)
    if not r.ok:
        print("\n".join(r.both[-15:]), file=sys.stderr)
        raise Failure(f"{kernel}: {r.verdict}; console and output are in {log}")
    print(f"{program}: {kernel}: {what}: {r.seconds:.0f} s", flush=True)
    return r.output


def plugged_in(kernel, plugin, options, what, script, words="", **how):
    """(output, the path of the plugin's figures) of a guest with a plugin."""
    os.makedirs(GUEST, exist_ok=True)
    os.makedirs(OUT, exist_ok=True)
    out = os.path.join(OUT, f"figures-{kernels.short_name(kernel)}")
    with tempfile.TemporaryDirectory(dir=GUEST) as tmp:
        part = os.path.join(tmp, "figures")
        output = boot_and_run(kernel, what, script, words, plugin=(plugin, f"out={part},{','.join(options)}"), **how)
        os.replace(part, out)
    return output, out


def count(kernel, what, words, boot=False, **how):
    """The figures of jobs/bench with the words, and of ftrace_init() at boot where it is asked for."""
    at = kernels.addresses(kernel)
    options = [f"mark={at['__x64_sys_getpgid']:#x}"]
    if boot:
        options += [f"begin={at['ftrace_init']:#x}", f"end={at['early_trace_init']:#x}"]
    options += [f"count={name}:{at[symbol]:#x}" for name, symbol in COUNTERS.items() if symbol in at]
    figures = Figures()
    output, out = plugged_in(kernel, "insnprof", options, what, "bench", words, **how)
    figures.read(output, insns.read(out), boot)
    return figures


def row(key, what, unit, stock, ours, bound=""):
    numbers = isinstance(stock, (int, float)) and isinstance(ours, (int, float))
    return {"key": key, "what": what, "unit": unit, "bound": bound, "stock": stock, "ours": ours,
            "ratio": ours / stock if numbers and stock else None}


def number(value):
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.1f}"


def markdown(rows, heading):
    """A table of rows."""
    lines = [heading, "", "| what | unit | stock | ours | ours/stock | bound |",
             "| --- | --- | ---: | ---: | ---: | --- |"]
    for r in rows:
        ratio = "" if r["ratio"] is None else f"{r['ratio']:.3f}"
        lines.append(f"| {r['what']} | {r['unit']} | {number(r['stock'])} | {number(r['ours'])} | {ratio} "
                     f"| {r['bound']} |")
    return "\n".join(lines) + "\n"


def report(name, text):
    """Prints a table, and writes it to build/bench/NAME."""
    os.makedirs(OUT, exist_ok=True)
    Path(OUT, name).write_text(text)
    print("\n" + text)


def generated_module(kernel, name, functions):
    """NAME.ko, a module of so many functions, built against build/KERNEL."""
    where = os.path.join(OUT, f"{name}-{kernel}")
    genfns.generate(where, functions, name)
    return modules.build(kernel, where, f"{name}.ko")


def probes_module(kernel, name):
    """A module of tools/testing/ftrace-bench built against build/KERNEL, for a guest."""
    return f"/job/{name}", modules.build(kernel, os.path.join(OUT, f"probes-{kernel}"), name, testing("ftrace-bench"))


class Kept:
    """Figures of a kernel, by their subject, kept in build/bench. Those of stock are used again as long as
    these stay the same: the image, the emulator, the guest, and the files named for each."""

    def __init__(self, name, kernel, fresh):
        self.path, self.figures = os.path.join(OUT, name + ".json"), {}
        self.common = (vm.qemu_version(), vm.CPU, kernels.image(kernel), *userspace.MARK, source("init"),
                       job("lib.sh"), vm.TESTS_LIB)
        if not kernels.is_ours(kernel) and not fresh and os.path.exists(self.path):
            self.figures = json.loads(Path(self.path).read_text())

    def get(self, key, *depends):
        kept = self.figures.get(key, {})
        return kept["figures"] if kept.get("digest") == digest(*self.common, *depends) else None

    def put(self, key, figures, *depends):
        # After each boot: the next may fail.
        self.figures[key] = {"digest": digest(*self.common, *depends), "figures": figures}
        Path(self.path).write_text(json.dumps(self.figures, indent=1))
