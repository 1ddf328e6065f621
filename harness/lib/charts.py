# SPDX-License-Identifier: GPL-2.0
"""Charts of the costs of stock and ours: a bar for each ratio, and curves over two logarithmic axes."""
import math

from .svg import OURS, STOCK, Drawing, cut, readable

LESS, MORE, SAME = OURS, STOCK, "#8b949e"
COLOURS = {"stock": STOCK, "ours": OURS}
WIDTH, ROW = 1100, 24
# A chart of ratios, from left to right: the title, stock's figure, ours, the bars.
WHAT, STOCK_END, OURS_END, BARS, BARS_END = 0, 580, 680, 720, 1030
LETTERS = 68


def decades(values):
    """The powers of ten around them."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


class Axis:
    """A logarithmic one between two places of a drawing."""

    def __init__(self, values, at, to):
        (self.low, self.high), self.at, self.to = decades(values), at, to

    def place(self, value):
        return self.at + (math.log10(value) - self.low) / (self.high - self.low) * (self.to - self.at)

    def ticks(self):
        return [(10 ** e, self.place(10 ** e)) for e in range(self.low, self.high + 1)]


def figure(value):
    return "–" if value is None else cut(value, 14) if isinstance(value, str) else readable(value)


def drawn(rows):
    """Those rows of bench's table that have a place on a logarithmic axis."""
    return [r for r in rows if r["ratio"]]


def ratios(title, rows, all_rows):
    """A bar for each row, from 1 to ours / stock, on an axis that has room for all rows of the page."""
    height = 62 + ROW * len(rows) + 30
    d = Drawing(WIDTH, height, title)
    axis = Axis([1, 0.1, *(r["ratio"] for r in drawn(all_rows))], BARS, BARS_END)
    d.text(WHAT, 24, title, size=15)
    for x, text in (STOCK_END, "stock"), (OURS_END, "ours"):
        d.text(x, 46, text, "end", quiet=True, colour=COLOURS[text])
    d.text(axis.place(1), 46, "ours / stock", "middle", quiet=True)
    bottom = 56 + ROW * len(rows)
    for value, x in axis.ticks():
        d.line(x, 54, x, bottom, "axis" if value == 1 else "line")
        d.text(x, bottom + 18, f"{value:g}", "middle", size=11, quiet=True)
    for i, row in enumerate(rows):
        ratio_row(d, axis, 56 + ROW * i, row)
    return d.svg()


def ratio_row(d, axis, y, row):
    middle = y + 16
    unit = f" ({row['unit']})" if row["unit"] else ""
    d.text(WHAT + (14 if row["what"].startswith("...") else 0), middle, cut(row["what"].replace("`", "") + unit, LETTERS))
    d.text(STOCK_END, middle, figure(row["stock"]), "end")
    d.text(OURS_END, middle, figure(row["ours"]), "end")
    ratio = row["ratio"]
    if not ratio:
        return
    x, one = axis.place(ratio), axis.place(1)
    title = f"{row['what']}: stock {row['stock']:,}, ours {row['ours']:,}{unit}, ratio {ratio:.3g}"
    d.bar(min(x, one) - 0.5, y + 5, max(abs(x - one), 1), ROW - 9, SAME if 0.995 < ratio < 1.005 else
          LESS if ratio < 1 else MORE, title)
    d.text(BARS_END + 14, middle, f"{ratio:.3g}")


def curves(title, xlabel, lines):
    """{name: [(x, y)]} over two logarithmic axes."""
    width, height, left, right, head, foot = 900, 460, 80, 90, 44, 60
    d = Drawing(width, height, title)
    points = [p for line in lines.values() for p in line]
    d.text(width / 2, 24, title, "middle", size=15)
    d.text(width / 2, height - 14, xlabel, "middle", quiet=True)
    if not points:
        return d.svg()
    x = Axis([p[0] for p in points], left, width - right)
    y = Axis([p[1] for p in points], height - foot, head)
    for value, at in x.ticks():
        d.line(at, y.at, at, y.to)
        d.text(at, y.at + 18, f"{value:,}", "middle", quiet=True)
    for value, at in y.ticks():
        d.line(x.at, at, x.to, at)
        d.text(left - 8, at + 4, f"{value:,}", "end", quiet=True)
    for name, line in lines.items():
        line = sorted(line)
        at = [(x.place(p[0]), y.place(p[1])) for p in line]
        colour = COLOURS.get(name, SAME)
        d.curve(at, colour, [f"{name}: {p[1]:,.3g} at {p[0]:,}" for p in line])
        d.text(at[-1][0] + 12, at[-1][1] + 4, name, colour=colour)
    return d.svg()
