# SPDX-License-Identifier: GPL-2.0
"""Files of figures, as bench writes them, and the changes from one day's to another's."""
import difflib
import json

from . import Failure


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


def cell(value):
    return "–" if value is None else value if isinstance(value, str) else f"{value:,}"


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


def changes(old, new):
    """As diff shows them."""
    def text(figures):
        names = full_names(figures["rows"])
        return [figures.get("about", ""), *(f"{names[r['key']]}: stock {cell(r['stock'])}, ours {cell(r['ours'])}"
                                            for r in figures["rows"])]
    return difflib.unified_diff(text(old), text(new), old.get("date", "then"), new.get("date", "now"), n=0, lineterm="")
