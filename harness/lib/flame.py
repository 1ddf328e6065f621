# SPDX-License-Identifier: GPL-2.0
"""Flame graphs of chains of calls, as SVG that needs nothing else.

Each function is a bar on its caller's, as wide as the count of it and of its callees; its title has the
figures. A difference of two sets of chains has, for each chain, the larger of both as its width, so that losses
are seen, too; and a colour that says which of the two it was."""
import dataclasses
import zlib

from .svg import Drawing, cut, readable

WIDTH, ROW, MARGIN, HEAD = 1200, 18, 12, 58
LETTER = 6.7    # the width of one, in the font below
HEADING = 110
# A bar of less is not drawn.
NARROWEST = 0.25


@dataclasses.dataclass
class Function:
    name: str
    itself: list        # a figure of each set
    callees: dict = dataclasses.field(default_factory=dict)
    sums: list = ()     # with its callees
    width: int = 0

    def sum(self):
        """The figures with callees, here and below. Returns self."""
        for f in self.callees.values():
            f.sum()
        below = self.callees.values()
        self.sums = [sum(each) for each in zip(self.itself, *(f.sums for f in below))]
        self.width = max(self.itself) + sum(f.width for f in below)
        return self

    def height(self, narrowest):
        """In bars that are drawn."""
        return self.width > narrowest and 1 + max((f.height(narrowest) for f in self.callees.values()), default=0)


def tree(*sets):
    """All chains under one root, which is nothing itself."""
    top = Function("all", [0] * len(sets))
    for i, chains in enumerate(sets):
        for chain, n in chains.items():
            at = top
            for name in chain:
                at = at.callees.setdefault(name, Function(name, [0] * len(sets)))
            at.itself[i] += n
    return top.sum()


def warm(name):
    """A colour that a name has in each graph. All that is no function is grey."""
    if name.startswith("["):
        return "#b9c0c8"
    n = zlib.crc32(name.encode())
    return f"hsl({18 + n % 34},{72 + n // 64 % 20}%,{62 + n // 4096 % 10}%)"


def cold_or_hot(was, now):
    """From blue, where all has gone, over grey to red, where all is new."""
    part = (now - was) / max(was, now, 1)
    return f"hsl({8 if part > 0 else 212},{round(abs(part) * 80)}%,{round(84 - abs(part) * 14)}%)"


class Graph:
    """A flame graph of one set; a difference overrides its parts."""

    def __init__(self, top, unit):
        self.top, self.unit = top, unit

    def colour(self, f):
        return warm(f.name)

    def title(self, f):
        n, total = f.sums[0], max(self.top.sums[0], 1)
        return f"{f.name}: {n:,} {self.unit}, {100 * n / total:.2f} %; {f.itself[0]:,} of them itself"


class Difference(Graph):
    def __init__(self, top, unit, names):
        super().__init__(top, unit)
        self.names = names

    def colour(self, f):
        return cold_or_hot(*f.sums)

    def title(self, f):
        was, now = f.sums
        return (f"{f.name}: {was:,} {self.unit} on {self.names[0]}, {now:,} on {self.names[1]}: {now - was:+,}; "
                f"itself {f.itself[0]:,} and {f.itself[1]:,}")


def draw(graph, heading, below):
    top = graph.top
    scale = (WIDTH - 2 * MARGIN) / max(top.width, 1)
    height = HEAD + top.height(NARROWEST / scale) * ROW + MARGIN
    d = Drawing(WIDTH, height, heading)
    d.text(WIDTH / 2, 24, cut(heading, HEADING), "middle", size=16)
    d.text(WIDTH / 2, 44, below, "middle", quiet=True)

    def bar(f, x, level):
        wide = f.width * scale
        if wide < NARROWEST:
            return
        y = height - MARGIN - (level + 1) * ROW
        letters = int((wide - 6) / LETTER)
        label = cut(f.name, letters) if letters > 2 else ""
        d.bar(x, y, max(wide - 0.5, NARROWEST), ROW - 1, graph.colour(f), graph.title(f), label)
        for callee in sorted(f.callees.values(), key=lambda c: c.name):
            bar(callee, x, level + 1)
            x += callee.width * scale

    bar(top, MARGIN, 0)
    return d.svg()


def graph(chains, heading, unit="instructions"):
    """The SVG of one set."""
    top = tree(chains)
    return draw(Graph(top, unit), heading, f"{readable(top.sums[0])} {unit}; point at a bar for its figures")


def difference(was, now, names, heading, unit="instructions"):
    """The SVG of two sets, the names of which are these."""
    top = tree(was, now)
    below = (f"{names[0]}: {readable(top.sums[0])} {unit}, {names[1]}: {readable(top.sums[1])}; "
             f"blue: fewer on {names[1]}, red: more, grey: as many")
    return draw(Difference(top, unit, names), heading, below)
