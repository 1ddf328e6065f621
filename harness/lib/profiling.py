# SPDX-License-Identifier: GPL-2.0
"""Shell commands in a guest, the instructions of which are counted by function and by chain of calls."""
import os
import re
import sys
import tempfile
from pathlib import Path

from . import BUILD, Failure, counting, insns, kernels

OUT = os.path.join(BUILD, "profile")


def window(figures, symbols):
    """The one window of a run, in which chains and blocks must tell the same."""
    windows = insns.read(figures, symbols)
    if len(windows) != 1:
        raise Failure(f"{len(windows)} windows were counted, not one: do the commands call getpgid()?")
    w, = windows.values()
    if insns.itself(w.chains) != w.insns:
        raise Failure(f"the chains do not add up to what the functions have: see {figures}")
    return w


def count(kernel, what, setup="", mem="1G"):
    """The window of the commands on a kernel; setup is run before. Their output is printed.

    One CPU: with more, and without threads for them, QEMU from 9.2 on tells a plugin the CPU for which a
    block was translated instead of the one that runs it."""
    os.makedirs(OUT, exist_ok=True)
    at = kernels.addresses(kernel)
    symbols = insns.Symbols(kernels.file(kernel, "System.map"))
    with tempfile.TemporaryDirectory(dir=OUT) as tmp:
        def written(name, text):
            path = os.path.join(tmp, name)
            Path(path).write_text(text)
            return path
        ranges = written("ranges", "".join(f"{addr:x} {kind}\n" for addr, kind in symbols.ranges()))
        trees = [("/job/what", written("what", what + "\n"))]
        if setup:
            trees.append(("/job/setup", written("setup", setup + "\n")))
        options = [f"mark={at['__x64_sys_getpgid']:#x}", f"ranges={ranges}"]
        output, figures = counting.plugged_in(kernel, "insnprof", options, "counting, with call chains", "profile",
                                              trees=trees, smp=1, mem=mem, modules=True)
    said(kernel, output)
    return window(figures, symbols)


def said(kernel, output):
    """Prints the output of the commands, and warns if they failed."""
    status = None
    for line in output:
        if m := re.match(r"shell ns=\d+ result=(\d+) ", line):
            status = int(m.group(1))
        elif line:
            print(f"    {line}")
    if status:
        print(f"{kernel}: warning: the commands ended with status {status}", file=sys.stderr)
