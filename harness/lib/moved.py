# SPDX-License-Identifier: GPL-2.0
"""The changes between the figures of two days, as bench writes them."""
import json
import math

from . import Failure

# Figures are exact, but for those of this group, which are medians of a few runs that differ by as much.
NOISY, NOISE = "disturb", 0.25


def load(path):
    """A file of bench's: {"about", "date", "rows"}."""
    try:
        with open(path) as f:
            found = json.load(f)
        for row in found["rows"]:
            for part in "key", "what", "unit", "stock", "ours", "ratio":
                row[part]
        return found
    except FileNotFoundError:
        raise Failure(f"{path} is not there: it is made by make bench")
    except (ValueError, TypeError, KeyError, OSError) as e:
        raise Failure(f"{path} is no file of figures as bench writes it: {e!r}")


def factor(was, now):
    """Or None, where these are no figures above 0."""
    return now / was if all(isinstance(v, (int, float)) and v > 0 for v in (was, now)) else None


def has_moved(key, was, now):
    by = factor(was, now)
    return was != now and (by is None or key.split(".")[0] != NOISY or abs(math.log(by)) > math.log(1 + NOISE))


def how_much(row):
    """The largest changes first, then rows that are no figures."""
    by = factor(row[3], row[4])
    return 1 if by is None else -abs(math.log(by))


def cell(value):
    return "–" if value is None else value if isinstance(value, str) else f"{value:,}"


def find(old, new):
    """[(key, title, kernel, was, is)] of the rows that both have, and sentences on the others."""
    was, now = ({r["key"]: r for r in figures["rows"]} for figures in (old, new))
    what = full_names(new["rows"])
    rows = [(key, what[key], kernel, was[key][kernel], r[kernel])
            for key, r in now.items() if key in was for kernel in ("ours", "stock")
            if None not in (was[key][kernel], r[kernel]) and has_moved(key, was[key][kernel], r[kernel])]
    notes = []
    for verb, keys in ("new", now.keys() - was.keys()), ("not measured now", was.keys() - now.keys()):
        if keys:
            notes.append(f"{verb}: {', '.join(sorted(keys))}")
    if old.get("about") != new.get("about"):
        notes.append(f"measured otherwise: then \"{old.get('about')}\", now \"{new.get('about')}\"")
    return sorted(rows, key=how_much), notes


def full_names(rows):
    """{key: title}; a row that begins with dots goes on from the one above."""
    found, above = {}, ""
    for r in rows:
        what = r["what"]
        if what.startswith("... "):
            what = f"{above}: {what[4:]}"
        else:
            above = what
        found[r["key"]] = f"{what} ({r['unit']})" if r["unit"] else what
    return found


def lines(rows, notes, old):
    head = f"Since {old.get('date', 'then')}, {len(rows) or 'none'} of the figures have moved"
    if not rows:
        return [head, *notes]
    wide = max(len(r[0]) for r in rows)
    text = [head + ":", f"{'':{wide}} {'':5} {'was':>15} {'is':>15}"]
    for key, _, kernel, was, now in rows:
        by = factor(was, now)
        change = f"{100 * (by - 1):+.1f} %" if by else ""
        text.append(f"{key:{wide}} {kernel:5} {cell(was):>15} {cell(now):>15} {change:>9}")
    return text + notes
