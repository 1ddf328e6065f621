# SPDX-License-Identifier: GPL-2.0
"""Charts as SVG: a bar for each ratio, by gnuplot, and flame graphs, by flamegraph.pl as Debian has it."""
import subprocess

from . import Failure

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
STOCK, OURS = "0xc8553d", "0x3b7dc4"


def run(command, text=""):
    try:
        got = subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise Failure(f"{command[0]} is missing: run harness/setup charts")
    if got.returncode:
        raise Failure(f"{command[0]}: {got.stderr.strip()}")
    return got.stdout


def quoted(text):
    return '"' + text.replace("\\", "").replace('"', "'").replace("`", "") + '"'


def plot(height, title, *commands):
    return run(["gnuplot"], "\n".join([
        f"set terminal svg noenhanced size 1100,{height} dynamic background 'white' font 'sans,12'",
        f"set title {quoted(title)}", "set grid", *commands, ""]))


def bars(title, rows):
    """[(label, ratio)]: a bar from 1 to the ratio, on a logarithmic axis."""
    return plot(80 + 18 * len(rows), title, "$rows << END", *(f"{quoted(label)} {ratio}" for label, ratio in rows), "END",
                "set logscale x", f"set yrange [{len(rows)}:-1]", "unset key", "set style fill solid",
                "plot $rows using 2:0:($2 < 1 ? $2 : 1):($2 < 1 ? 1 : $2):($0 - .35):($0 + .35):"
                f"($2 < 1 ? {OURS} : {STOCK}):ytic(1) with boxxyerror lc rgb variable, "
                "'' using ($2 * 1.03):0:(sprintf('%.3g', $2)) with labels left") if rows else ""


def flame(folded, title, unit="instructions"):
    """Of lines "a;b;c N", or of "a;b;c N M": M is the width then, and the colour says whether it is more or less than
    N."""
    return run(["perl", FLAMEGRAPH, "--title", title, "--countname", unit, "--hash"], folded)
