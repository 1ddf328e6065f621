# SPDX-License-Identifier: GPL-2.0
"""Reads the figures that insnprof wrote, and sums them by kernel function."""
import bisect
import collections

from . import kernels

KERNEL = 0xffffffff80000000
# No function of the kernel image is this long: what lies further off is not in it.
LONGEST = 1 << 20


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


class Window:
    def __init__(self):
        self.insns, self.entries = collections.Counter(), collections.Counter()
        self.counters, self.origin, self.kernel, self.user = {}, "open", 0, 0


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
            elif symbols:
                name, entry = symbols.find(int(rest[0], 16))
                w.insns[name] += int(rest[1]) * int(rest[2])
                if entry:
                    w.entries[name] += int(rest[2])
    return dict(sorted(windows.items()))
