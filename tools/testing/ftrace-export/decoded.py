# SPDX-License-Identifier: GPL-2.0
"""The outputs of ftrace-export, read by others' programs (protoc, Python's json), and put in one shape."""
import json
import os
import re
import subprocess
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
ESCAPE = re.compile(rb'\\([0-7]{3}|.)')
SINGLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


class Wrong(Exception):
    """The output is not as its format has it."""


def unescape(text):
    raw = ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else SINGLE.get(m[1], m[1]), text.encode())
    return raw.decode()


def value_of(text):
    if text.startswith('"'):
        return unescape(text[1:-1])
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def parse_text(lines):
    """A message as protoc prints it: {field: [value...]}, a value being a number, a text or a message."""
    top = message = {}
    above = []
    for line in lines:
        line = line.strip()
        if line == "}":
            message = above.pop()
            continue
        name, _, rest = line.partition(" ")
        name = name.rstrip(":")
        if name.isdigit():
            raise Wrong(f"a field of number {name}, which is not known: {line}")
        new = {} if rest == "{" else value_of(rest)
        message.setdefault(name, []).append(new)
        if rest == "{":
            above.append(message)
            message = new
    return top


class Perfetto:
    """slices and instants: lists of dictionaries; ftrace: (cpu, event) in their order; tracks: uuid to names."""

    def __init__(self, path):
        with open(path, "rb") as f:
            got = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=Trace", "perfetto.proto"], stdin=f,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if got.returncode or got.stderr:
            raise Wrong(f"protoc: {got.stderr.decode()[:300]}")
        # A text may have any character but the ends of lines.
        self.slices, self.instants, self.ftrace, self.lost = [], [], [], []
        self.tracks, self.names = {}, {}
        self.names_of, self.open, self.release, self.cleared = {}, {}, None, False
        for packet in parse_text(got.stdout.decode().split("\n")[:-1]).get("packet", []):
            self.take(packet)

    def take(self, p):
        one = {name: values[0] for name, values in p.items()}
        if "event" in one or "interned" in one:
            if one.get("sequence_id") != 1:
                raise Wrong(f"no sequence: {p}")
            if not self.cleared and one["sequence_flags"] != 1:
                raise Wrong("the first packet of the sequence does not say so")
            self.cleared = True
        if "interned" in one:
            for kind, names in one["interned"].items():
                for n in names:
                    if self.names.setdefault((kind, n["iid"][0]), n["name"][0]) != n["name"][0]:
                        raise Wrong(f"the number of {n} is another one's")
        if "system_info" in one:
            self.release = one["system_info"]["utsname"][0]["release"][0]
        if "track" in one:
            self.take_track(one["track"])
        if "event" in one:
            self.take_event(one["timestamp"], one["event"])
        if "ftrace" in one:
            self.take_bundle(one["ftrace"])

    def take_track(self, t):
        if "thread" in t:
            th = t["thread"][0]
            who = (th["thread_name"][0], th["pid"][0], th["tid"][0])
        else:
            who = (t["name"][0], 0, 0)
        self.tracks.setdefault(t["uuid"][0], []).append(who)

    def take_event(self, ts, e):
        track = e["track"][0]
        if track not in self.tracks:
            raise Wrong(f"an event of an unknown track: {e}")
        args = {}
        for a in e.get("annotation", []):
            (kind, value), = [(k, v[0]) for k, v in a.items() if k != "name"]
            args[self.names["annotation_name", a["name"][0]]] = value
        stack = self.open.setdefault(track, [])
        if e["type"][0] == "END":
            if not stack:
                raise Wrong(f"an end without its beginning at {ts}")
            s = stack.pop()
            s["end"] = ts
            s["args"].update(args)
            return
        new = {"name": self.names["event_name", e["name"][0]], "category": self.names["category", e["category"][0]],
               "track": track, "begin": ts, "end": None, "args": args, "depth": len(stack)}
        if e["type"][0] == "BEGIN":
            stack.append(new)
            self.slices.append(new)
        else:
            self.instants.append(new)

    def take_bundle(self, b):
        cpu = b["cpu"][0]
        if "lost_events" in b:
            self.lost.append(cpu)
        for e in b.get("event", []):
            (kind, fields), = [(k, v[0]) for k, v in e.items() if k not in ("timestamp", "pid")]
            self.ftrace.append((cpu, e["timestamp"][0], kind, {k: v[0] for k, v in fields.items()}))

    def name(self, track):
        return self.tracks[track][-1][0]


def folded(path):
    """{stack: time}."""
    found = Counter()
    with open(path) as f:
        for line in f.read().split("\n")[:-1]:
            m = re.fullmatch(r"([^;\n]+(?:;[^;\n]+)+) (\d+)", line)
            if not m or m[1] in found:
                raise Wrong(f"no line of folded stacks, or one more: {line!r}")
            found[m[1]] = int(m[2])
    return dict(found)


COLUMNS = {
    "samples": ["time", "stack", "weight"],
    "markers": ["name", "startTime", "endTime", "phase", "category", "data"],
    "stackTable": ["frame", "prefix"],
    "frameTable": ["address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line",
                   "column"],
    "funcTable": ["name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"],
    "resourceTable": ["lib", "name", "host", "type"],
    "nativeSymbols": ["libIndex", "address", "name", "functionSize"],
}


class Firefox:
    """times: {thread: {stack: weight in ms}}; markers: {thread: [(name, begin, end, data)]}."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            p = json.load(f)
        if p["meta"]["preprocessedProfileVersion"] != 57 or p["meta"]["categories"][0]["color"] != "grey":
            raise Wrong("the version or the categories are others")
        schemas = {s["name"]: {f["key"] for f in s["fields"]} for s in p["meta"]["markerSchema"]}
        self.strings = p["shared"]["stringArray"]
        self.times, self.markers, self.threads = {}, {}, {}
        for t in p["threads"]:
            key = f"{t['name']}-{t['tid']}"
            if key in self.threads:
                raise Wrong(f"two threads {key}")
            self.threads[key] = t
            for table, columns in COLUMNS.items():
                wrong = [c for c in columns if len(t[table][c]) != t[table]["length"]]
                if wrong or {*t[table]} - {*columns, "length", "weightType"}:
                    raise Wrong(f"{key}: {table} has other columns: {wrong}")
            self.times[key] = self.weights(t)
            m = t["markers"]
            self.markers[key] = [(self.strings[n], *rest) for n, *rest in
                                 zip(m["name"], m["startTime"], m["endTime"], m["data"])]
            for _, begin, end, data in self.markers[key]:
                if {*data} - {"type"} != schemas[data["type"]] or (end is not None and end < begin):
                    raise Wrong(f"a marker is not as its schema says: {data} {begin} {end}")

    def stacks(self, t):
        done = []
        for i, (frame, prefix) in enumerate(zip(t["stackTable"]["frame"], t["stackTable"]["prefix"])):
            if prefix is not None and not 0 <= prefix < i:
                raise Wrong("a stack comes before its prefix")
            name = self.strings[t["funcTable"]["name"][t["frameTable"]["func"][frame]]]
            done.append(";".join([done[prefix], name] if prefix is not None else [name]))
        return done

    def weights(self, t):
        s, stacks, found, last = t["samples"], self.stacks(t), Counter(), 0
        if s["weightType"] != "tracing-ms":
            raise Wrong("the weight is no time")
        for time, stack, weight in zip(s["time"], s["stack"], s["weight"]):
            if time < last or weight < 0:
                raise Wrong("times go back")
            last = time
            if stack is not None:
                found[stacks[stack]] += weight
        return {stack: round(weight * 1e6) for stack, weight in found.items() if round(weight * 1e6)}
