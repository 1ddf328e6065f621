# SPDX-License-Identifier: GPL-2.0
"""Reads the figures that insnprof wrote, and sums them by kernel function and by chain of calls."""
import bisect
import collections
import re

from . import kernels

KERNEL = 0xffffffff80000000
# No function of the kernel image is this long: an address further off is not in it.
LONGEST = 1 << 20
# Code that the compiler and the CPU's mitigations put between a caller and its callee.
THUNK = re.compile(r"__x86_(indirect|return)_")
# Kinds of ranges, for the plugin (chains.c), of functions that are not as others.
KINDS = {"__switch_to_asm": "w", "irq_entries_start": "s", "spurious_entries_start": "s"}
ENTRY = re.compile(r"entry_|entry$|asm_")


def kind_of(name):
    return KINDS.get(name) or ("e" if ENTRY.match(name) else "f")


class Symbols:
    """The functions of a System.map, by address."""

    def __init__(self, path):
        rows = sorted(kernels.functions(path))
        self.addrs = [a for a, _ in rows]
        self.names = [n for _, n in rows]

    def find(self, addr):
        """(name, whether addr is its entry)."""
        if addr < KERNEL:
            return ("[user]" if addr < 1 << 63 else "[other]"), False
        i = bisect.bisect(self.addrs, addr) - 1
        if i < 0 or addr - self.addrs[i] > LONGEST:
            return "[module or generated]", False
        return self.names[i], addr == self.addrs[i]

    def ranges(self):
        """[(address, kind)] of the whole address space: one for each place that find() tells apart."""
        found = {0: "u", 1 << 63: "u", KERNEL: "m"}
        for i, (addr, name) in enumerate(zip(self.addrs, self.names)):
            if addr >= KERNEL:
                found[addr] = kind_of(name)
                if i + 1 == len(self.addrs) or self.addrs[i + 1] > addr + LONGEST:
                    found[addr + LONGEST + 1] = "m"
        return sorted(found.items())


class Window:
    def __init__(self):
        self.insns, self.entries = collections.Counter(), collections.Counter()
        self.chains, self.under_way = collections.Counter(), []
        self.counters, self.origin, self.kernel, self.user = {}, "open", 0, 0

    def chain(self, depth, name, insns):
        """The next function of the tree, so deep in it. A thunk is no caller of its own callee."""
        del self.under_way[depth:]
        callers = [c for c in self.under_way if not THUNK.match(c)]
        self.under_way.append(name)
        if insns:
            self.chains[(*callers, name)] += insns


def read(figures, symbols=None):
    """The windows of a figures file, in order: {number: Window}."""
    windows = collections.defaultdict(Window)
    with open(figures) as f:
        for line in f:
            kind, number, *rest = line.split()
            w = windows[int(number)]
            if kind == "W":
                w.origin, w.kernel, w.user = rest[0], int(rest[1]), int(rest[2])
            elif kind == "C":
                w.counters[rest[0]] = int(rest[1])
            elif kind == "N" and symbols:
                w.chain(int(rest[0]), symbols.find(int(rest[1], 16))[0], int(rest[2]))
            elif kind == "B" and symbols:
                name, entry = symbols.find(int(rest[0], 16))
                w.insns[name] += int(rest[1]) * int(rest[2])
                if entry:
                    w.entries[name] += int(rest[2])
    return dict(sorted(windows.items()))


def lines(chains):
    """The chains as lines "caller;callee number", which flame-graph tools read."""
    return [f"{';'.join(chain)} {n}" for chain, n in sorted(chains.items()) if n]


def itself(chains):
    """{function: its own count}."""
    found = collections.Counter()
    for chain, n in chains.items():
        found[chain[-1]] += n
    return found


def below(chains):
    """{function: the count of it and of its callees}. A chain counts once for each function in it."""
    found = collections.Counter()
    for chain, n in chains.items():
        found.update(dict.fromkeys(chain, n))
    return found
