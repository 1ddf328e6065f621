# SPDX-License-Identifier: GPL-2.0
"""Runs a suite of cases on stock and on ours and prints one table, for kselftest and bpftest.

A case fails that passes on stock and not on ours, or that stock runs and ours skips, or in
which ours panics, oopses or hangs and stock does not. A case that passes on neither is skipped. The last line
is "N passed, N failed, N skipped". The table is printed and written to build/SUITE/table. Stock's results are kept in
build/SUITE, and used again until a file that they depend on changes (--fresh runs them anew). Consoles are in
build/logs/SUITE. A guest of two CPUs keeps hardly one of the host's busy, so as many run at a time as the host has
CPUs, or as J= says.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import re
import tempfile
import time
from pathlib import Path

from . import BUILD, HARNESS, JOBS, digest, job, kernels, userspace, vm
from . import results as guests

SELFTESTS = "tools/testing/selftests"
LOG_LINES = 25

GOOD = ("PASS", "XFAIL")
NOT_RUN = (*guests.NOT_RUN, "SKIP", "-")
# The causes of a guest's death, by vm's status.
DEATHS = {vm.PANIC: "PANIC", vm.OOPS: "OOPS", vm.TIMEOUT: "HANG", vm.NO_EXIT: "ENDED"}


@dataclasses.dataclass
class Suite:
    """The tests that a script runs, and how."""
    name: str
    parts: dict             # {name: function(results, tree, only)}; each has guests of its own
    depends: object         # function(tree): paths that the results depend on, beside the kernel
    kernels: tuple          # stock's and ours, under build/
    last: tuple = ()        # prefixes of the cases at the end of the table
    additions: tuple = ()   # names that lib/userspace.py adds to the user space
    timeout: int = 3000     # seconds for a guest
    quiet: int = None       # for a case on 2 CPUs; without it, one that hangs has the guest's
    mem: str = "1G"
    cpus: dict = dataclasses.field(default_factory=dict)    # {part: number}, where it is not 2
    prepare: object = None  # function(stock's kernel), before all else

    @property
    def out(self):
        return os.path.join(BUILD, self.name)


class Results:
    """The results of one kernel: {case: (result, reason, lines of its log)}."""

    def __init__(self, suite, kernel, part=""):
        self.suite, self.kernel, self.part, self.boots = suite, kernel, part, 0
        self.cases, self.symptoms, self.seconds = {}, {}, 0.0

    def merge(self, other):
        self.cases.update(other.cases)
        self.symptoms.update(other.symptoms)
        self.seconds += other.seconds

    def add(self, name, result, reason="", log=()):
        self.cases.setdefault(name, (result, reason, list(log)[-LOG_LINES:]))

    def result(self, name):
        return self.cases.get(name, ("-", "", []))[0]

    def boot(self, script, cases, trees):
        """One guest with the cases in /job/cases. Returns vm's result and the log directory."""
        self.boots += 1
        name = f"{self.kernel.replace('/', '-')}-{self.part}-{self.boots}"
        cpus, quiet = self.suite.cpus.get(self.part, 2), self.suite.quiet
        with tempfile.NamedTemporaryFile("w", dir=self.suite.out, prefix="cases-") as listed:
            listed.writelines(c + "\n" for c in cases)
            listed.flush()
            r, where = guests.run_suite(name, self.kernel, script, self.suite.name, modules=True,
                                        smp=cpus,
                                        trees=[*trees, ("/job/cases", listed.name)], mem=self.suite.mem,
                                        additions=self.suite.additions, timeout=self.suite.timeout,
                                        quiet=quiet and quiet * cpus // 2)
        self.seconds += r.seconds
        for line in r.console:
            if any(s[2].search(line) for s in vm.SYMPTOMS):
                self.symptoms.setdefault(same_symptom(line), line.strip())
        return r, where


def same_symptom(line):
    """A line of the console without the parts that differ from run to run and from kernel to kernel."""
    text = re.sub(r"^\[ *[\d.]+\](\[[^]]*\])? *", "", line)
    if m := re.search(r"WARNING: (?:(\S+):\d+ )?at (\w+)", text):
        return f"WARNING at {m.group(1)} {m.group(2)}"
    return re.sub(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+", "N", text)


def kernel_died(r):
    """Where in r.both the kernel broke, if it did; its words after that are not believed."""
    for at, line in enumerate(r.both):
        if line.startswith("[console] ") and any(s[2].search(line) for s in vm.SYMPTOMS
                                                 if s[0] in (vm.PANIC, vm.OOPS)):
            return at
    return len(r.both)


def job_lines(r):
    """The output of the job before the kernel broke."""
    return [line for line in r.both[:kernel_died(r)] if not line.startswith("[console] ")]


def run_part(suite, kernel, part, tree, only):
    results = Results(suite, kernel, part)
    suite.parts[part](results, tree, only)
    return results


def run_kernels(suite, trees, only):
    """{kernel: its results}, of {kernel: its tree}."""
    all_results = {kernel: Results(suite, kernel) for kernel in trees}
    userspace.archives(suite.additions)
    vm.kvm_works(next(iter(trees)))
    with concurrent.futures.ProcessPoolExecutor(JOBS, multiprocessing.get_context("fork")) as pool:
        runs = [pool.submit(run_part, suite, kernel, part, tree, only)
                for part in suite.parts for kernel, tree in trees.items()]
        for done in concurrent.futures.as_completed(runs):
            results = done.result()
            all_results[results.kernel].merge(results)
    return all_results


def inputs(suite, kernel, tree):
    """Changes when a file does that the results depend on."""
    lib = (os.path.join(HARNESS, "lib", f + ".py") for f in ("beside", "vm", "results", "userspace", "newc"))
    return digest(kernels.image(kernel), *lib, job("lib.sh"), vm.TESTS_LIB, *suite.depends(tree))


def kept_results(suite, kernel, now):
    """Results of an earlier run with the digest now, or None."""
    path = os.path.join(suite.out, "stock.json")
    if not os.path.exists(path):
        return None
    kept = json.loads(Path(path).read_text())
    if kept["digest"] != now:
        return None
    results = Results(suite, kernel)
    results.cases, results.symptoms, results.seconds = kept["cases"], kept["symptoms"], kept["seconds"]
    print(f"# {kernel}: results of an earlier run")
    return results


def keep_results(suite, results, now):
    kept = {"digest": now, "cases": results.cases, "symptoms": results.symptoms, "seconds": results.seconds}
    Path(suite.out, "stock.json").write_text(json.dumps(kept, indent=1))


def run_both(suite, args):
    """Stock's and ours's results; stock's may be those of an earlier run."""
    base, tree = (os.path.join(BUILD, name) for name in ("base", "tree"))
    if suite.prepare:
        suite.prepare(args.stock)
    now = inputs(suite, args.stock, base)
    stock = None if args.fresh or args.only else kept_results(suite, args.stock, now)
    found = run_kernels(suite, {args.ours: tree} if stock else {args.stock: base, args.ours: tree},
                        args.only)
    if not stock:
        stock = found[args.stock]
        if not args.only:
            keep_results(suite, stock, now)
    return stock, found[args.ours]


def judge(name, stock, ours):
    """passed, failed or skipped, and why."""
    was, is_now = stock.result(name), ours.result(name)
    if is_now in GOOD:
        return "passed", ""
    why = ours.cases.get(name, ("", "it was not run", []))[1]
    if was == is_now and is_now in DEATHS.values():
        return "skipped", f"neither comes to its end: {why}"
    if is_now in DEATHS.values() or was in GOOD or name not in stock.cases:
        return "failed", why
    if is_now in NOT_RUN and was not in NOT_RUN:
        return "failed", why
    return "skipped", f"stock: {stock.cases[name][1] or was}; ours: {why}"


def table(stock, ours, verdicts):
    rows = [("case", "stock", "ours", "")]
    rows += [(n, stock.result(n), ours.result(n), "" if v == "passed" else v) for n, (v, _) in verdicts.items()]
    wide = max(len(r[0]) for r in rows)
    lines = [f"{n:{wide}}  {s:11}  {o:11}  {v}".rstrip() for n, s, o, v in rows]
    for word in ("stock", "ours"):
        of = stock if word == "stock" else ours
        count = collections.Counter(of.result(n) for n in verdicts)
        lines.append(f"{word}: " + ", ".join(f"{n} {result}" for result, n in count.most_common())
                     + f"; {of.seconds:.0f} s")
    return lines


def report(suite, stock, ours):
    """Prints and keeps the table, then the failures and why. Returns the counts."""
    names = sorted(stock.cases.keys() | ours.cases.keys(), key=lambda n: (n.startswith(suite.last), n))
    verdicts = {n: judge(n, stock, ours) for n in names}
    lines = table(stock, ours, verdicts)
    count = collections.Counter(v for v, _ in verdicts.values())
    for name, (verdict, why) in verdicts.items():
        if verdict != "passed":
            lines.append(f"{verdict}: {name}: {ours.result(name)}, on stock {stock.result(name)}: {why}")
        if verdict == "failed":
            lines += ["    | " + line for line in ours.cases.get(name, ("", "", []))[2]]
    if not any(stock.result(n) in GOOD for n in names):
        count["failed"] += 1
        lines.append("failed: stock passes no case, so nothing was compared")
    new = [line for what, line in ours.symptoms.items() if what not in stock.symptoms]
    count["failed" if new else "passed"] += 1
    lines.append("failed: ours put on the console what stock did not:" if new else
                 "passed: ours put no oops or warning on the console that stock did not")
    lines += ["    | " + line for line in new]
    lines += [f"stock's console: {line}" for line in stock.symptoms.values()]
    lines.append(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    Path(suite.out, "table").write_text("".join(line + "\n" for line in lines))
    print("\n".join(lines))
    return count


def main(suite, about, cases):
    """The script: about says how long the parts take, --only chooses among cases. Returns its status."""
    p = argparse.ArgumentParser(description="Runs the kernel's own selftests on stock and on ours.")
    p.add_argument("--stock", default=suite.kernels[0])
    p.add_argument("--ours", default=suite.kernels[1])
    p.add_argument("--only", action="append", default=[], metavar="GLOB", help=cases)
    p.add_argument("--fresh", action="store_true", help="do not use stock's kept results")
    args = p.parse_args()
    os.makedirs(suite.out, exist_ok=True)
    started = time.monotonic()
    print(f"{suite.name}: {about}", flush=True)
    stock, ours = run_both(suite, args)
    print(f"# {time.monotonic() - started:.0f} s; consoles and logs: build/logs/{suite.name}")
    return 1 if report(suite, stock, ours)["failed"] else 0
