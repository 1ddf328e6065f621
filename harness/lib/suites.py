# SPDX-License-Identifier: GPL-2.0
"""The suites of check-guest: each is one guest or several, and takes the session that it is part of, its own
name and the number of CPUs."""
import dataclasses
import glob
import os
import re
import subprocess
import sys

from . import (BUILD, GUEST, Failure, debian, genfns, job, kernels, logged, modules, results, tap, testing, userspace,
               vm)

TESTS = os.path.join(BUILD, "tree/tools/testing/selftests/ftrace")
TORTURE = "selftests/ftrace-torture"
KERNELS_OWN = ["00basic", "ftrace", "instances"]
OURS = ["callset"]
LOAD_SECONDS = 40
TORTURE_SECONDS = 120
FUZZ_SECONDS = 60
FUZZ_FUNCTIONS = 2000
OLD_QEMU = "7.2"
# As many as are longer than the kernel's command line, and so its buffers
LONG_WORDS = 300
# Cases that take long, and do not depend on how many CPUs there are, or that need a second one and no more:
# ftracetest-2 runs them, and none of the others.
ONCE = [f"callset/{name}.tc" for name in ("alloc-failure", "differences", "guard-offline", "refusals", "samples-order",
                                          "trace-clocks", "wrong-input")]
FEWER = ("ftracetest-1", "ftracetest-4")
# Cases of the kernel's that may be unsupported or unresolved, and why. Any other one that is has failed.
MAY_BE_SKIPPED = {"00basic/trace_marker_raw.tc": "it wants GNU's awk, which make kselftest has"}


@dataclasses.dataclass
class Session:
    """The state that the suites of one run share."""
    kernel: str
    totals: tap.Totals
    words: str = ""             # for the guests' command lines; the last one for a name counts
    logs: str = "check-guest"   # where consoles go, under build/logs
    log_lines: int = 25         # of a failed test, at most
    allow: tuple = ()           # patterns of console lines that look like a fault of the kernel's and are not

    def run(self, suite, script, cpus, words="", timeout=900, **how):
        return results.run_suite(suite, self.kernel, script, self.logs, smp=cpus, modules=True, timeout=timeout,
                                 append=f"{words} {self.words}".strip(), allow=self.allow, **how)

    def job(self, suite, script, cpus, words="", judge=(), **how):
        """A guest whose job's results are the suite's; those of judge, a program of tools/testing with its arguments,
        on the files that it leaves, are, too."""
        r, where = self.run(suite, script, cpus, words, **how)
        self.totals.take(r.output)
        if judge:
            said = subprocess.run([sys.executable, "-B", testing(judge[0]), *judge[1:], os.path.join(where, "out")],
                                  stdout=subprocess.PIPE, text=True)
            self.totals.take(said.stdout.splitlines())
            if said.returncode not in (0, 1):
                self.totals.fail(f"{judge[0]} ends", f"its status is {said.returncode}")
        results.verdict(r, self.totals, where)

    def test(self, suite, path, cpus, words="", **how):
        """A job that is a test of the tree."""
        self.job(suite, "test", cpus, f"guest.test={path} {words}".rstrip(), **how)


def judge_case(case, session):
    totals, log = session.totals, case.log[-session.log_lines:]
    if case.result in ("PASS", "XFAIL"):
        totals.ok(case.name)
        if case.path in MAY_BE_SKIPPED:
            print(f"# {case.path} passes: its line in lib/suites.py can go")
    elif case.result in results.NOT_RUN and case.path in MAY_BE_SKIPPED:
        totals.skip(case.name, f"{MAY_BE_SKIPPED[case.path]} ({case.reason()})")
    elif case.result in results.NOT_RUN:
        totals.fail(case.name, f"{case.result}, and not in MAY_BE_SKIPPED of lib/suites.py: {case.reason()}", log)
    else:
        totals.fail(case.name, f"{case.result}: {case.reason()}", log)


def ftracetest(session, suite, cpus):
    totals = session.totals
    present = [d for d in (KERNELS_OWN + ONCE if suite == "ftracetest-2" else OURS)
               if os.path.exists(os.path.join(TESTS, "test.d", d))]
    if not present:
        totals.skip("cases", "none of its directories is there")
        return
    if suite in FEWER:
        present = [f"{d}/{case}" for d in present for case in sorted(os.listdir(os.path.join(TESTS, "test.d", d)))
                   if case.endswith(".tc") and f"{d}/{case}" not in ONCE]
    # One CPU more was never online.
    r, where = session.run(suite, "ftracetest", cpus + 1, f"maxcpus={cpus} guest.tests={','.join(present)}", timeout=2400,
                           trees=[("/job/ftrace", TESTS)])
    logs, under_way, seen = results.case_logs(where), "", 0
    for line in r.output:
        if m := results.Case.LINE.match(line):
            under_way, seen = "", seen + 1
            judge_case(results.Case(m, logs), session)
        elif line.startswith("["):
            under_way = line
    if not seen:
        totals.fail("cases have run", "no result line came")
    results.verdict(r, totals, where, under_way)


def kunit_results(lines):
    """KUnit's cases among the lines, each once, and other faults beside them, by name."""
    found, suite = {}, ""
    for line in lines:
        text = re.sub(r"^\[ *[\d.]+\] ?", "", line)
        if m := re.match(r" {4}# Subtest: (\S+)", text):
            suite = m.group(1)
        elif (result := tap.read(text)) and (result.depth == 1 or text.startswith("not ok ")):
            result.name = f"{suite}: {result.name.split()[0]}" if result.depth else result.name
            found[result.name] = result
    return found.values()


def kunit_said(result, console):
    """The lines of the console that say why a case failed: a failed check says what it saw in the lines after it."""
    leaf, said, check = result.name.split(": ")[-1], [], False
    for line in console:
        text = re.sub(r"^\[ *[\d.]+\] ?", "", line)
        failed = "EXPECTATION" in text or "ASSERTION" in text
        check = failed or check and text.startswith(" " * 5)
        if check or leaf in text:
            said.append(line)
    return said


def kunit(session, suite, cpus):
    r, where = session.run(suite, "kunit", cpus, "kunit.enable=1", timeout=400)
    found = kunit_results(r.console + r.output)
    for result in found:
        session.totals.add(result, kunit_said(result, r.console)[:session.log_lines])
    if not found:
        session.totals.fail("suites have run", "no KUnit result came: is CONFIG_KUNIT with our suites on?")
    results.verdict(r, session.totals, where)


def boots():
    """{name: (command line, bootconfig, whether it reboots)} of the boots that harness/jobs/boot looks at."""
    found = {}
    with open(job("boot")) as f:
        for kind, name, text in re.findall(r"^#(boot|config|reboots) (\S+) ?(.*)", f.read(), re.M):
            words, config, reboots = found.get(name, ("", "", False))
            text = text.replace("LONG", ",".join(["vfs_write"] * LONG_WORDS))
            if kind == "boot":
                words += f" {text}"
            elif kind == "config":
                config += text + "\n"
            found[name] = words, config, reboots or kind == "reboots"
    return found


def boot(session, suite, cpus):
    for name, (words, config, reboots) in boots().items():
        with session.totals.under(name):
            session.job(f"{suite}-{name}", "boot", cpus, f"{words} guest.boot={name}", bootconfig=config,
                        reboots=reboots, timeout=200)


def load(session, suite, cpus, seconds=LOAD_SECONDS, script=None, words="", **how):
    """The script of that name, or the suite's own, of selftests/ftrace-torture or of jobs/."""
    name = script or suite.partition("-")[0]
    words = f"guest.seconds={seconds} {words}".rstrip()
    seconds = int(re.findall(r"guest\.seconds=(\d+)", f"{words} {session.words}")[-1])
    if os.path.exists(job(name)):
        session.job(suite, name, cpus, words, timeout=900 + 2 * seconds, **how)
    else:
        session.test(suite, f"{TORTURE}/{name}.sh", cpus, words, timeout=900 + 2 * seconds, **how)


def old_qemu():
    """The command of Debian 12's own QEMU, fetched if need be; None where there is none."""
    top = os.path.join(GUEST, "packages", f"qemu-{OLD_QEMU}")
    if not os.path.isdir(top):
        got = subprocess.run(["sh", "-ec", f"""rm -rf {top}.part; mkdir -p {top}.part; cd {top}.part
            apt-get download qemu-system-common=1:{OLD_QEMU}* qemu-system-x86=1:{OLD_QEMU}*
            for deb in *.deb; do dpkg-deb -x $deb .; done; mv {top}.part {top}"""],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if got.returncode:
            return None
    return ["env", f"QEMU_MODULE_DIR={top}/usr/lib/x86_64-linux-gnu/qemu", f"{top}/usr/bin/qemu-system-x86_64",
            "-L", "/usr/share/seabios", "-L", "/usr/share/qemu"]


def oldqemu(session, suite, cpus):
    if command := old_qemu():
        # All memory is to be had: each warning is a fault.
        torture(session, suite, cpus, LOAD_SECONDS, words="guest.without=memory", qemu=command)
    else:
        session.totals.skip("torture", f"this distribution has no QEMU {OLD_QEMU}")


def detach_modules(session):
    where = os.path.join(BUILD, "detach", session.kernel.replace("/", "-"))
    modules.build(session.kernel, where, "detach_watch.ko", testing(f"{TORTURE}/test_modules"))
    return [(f"/job/testing/{TORTURE}/test_modules/{name}", os.path.join(where, name)) for name in os.listdir(where) if name.endswith(".ko")]


def detach(session, suite, cpus):
    load(session, suite, cpus, trees=detach_modules(session))


def torture(session, suite, cpus, seconds=TORTURE_SECONDS, **how):
    load(session, suite, cpus, seconds, "torture", trees=detach_modules(session), **how)


def fuzz(session, suite, cpus):
    where = os.path.join(BUILD, "fuzz", session.kernel)
    genfns.generate(where, FUZZ_FUNCTIONS)
    load(session, suite, cpus, FUZZ_SECONDS, "fuzz", "guest.extra=/job/genfns.ko",
         trees=[("/job/genfns.ko", modules.build(session.kernel, where, "genfns.ko"))])


def tool(name):
    """A program of tools/tracing, built, as [(name in the guest, path here)]; with its libraries and its tests."""
    where = os.path.join(BUILD, name)
    os.makedirs(where, exist_ok=True)
    logged(f"{name}-build.log", ["make", "-s", "-C", os.path.join(BUILD, "tree/tools/tracing", name), f"O={where}"])
    path = os.path.join(where, name)
    return [(f"/job/{name}", path),
            *((f"/job/{os.path.basename(library)}", at) for library, at in userspace.libraries(path).items()),
            *((f"/job/testing/{tests}", testing(tests)) for tests in ("tracing-tools", name))]


def funccount(session, suite, cpus):
    """With the tracer count, which ours has, and with the profiler, which stock has, too."""
    for mode in ("count", "profiler") if kernels.is_ours(session.kernel) else ("profiler",):
        with session.totals.under(mode):
            session.test(f"{suite}-{mode}", "funccount/live.sh", cpus, f"guest.mode={mode}",
                         trees=tool("funccount"),
                         judge=["funccount/judge.py"] if "guest.only=" not in session.words else ())


def export(session, suite, cpus):
    """ftrace-export, from the running kernel."""
    session.test(suite, "ftrace-export/live.sh", cpus, timeout=1200, trees=tool("ftrace-export"),
                 judge=["ftrace-export/judge.py"])


def few(session):
    """guest.few= of the session is guest.only= for some suites."""
    return "".join(re.findall(r"guest\.few=\S+", session.words)[-1:]).replace("few", "only")


def overhead(session, suite, cpus):
    """ftrace-overhead, where time is a count of instructions, so that predictions are always the same."""
    words = few(session)
    some = "guest.only=" in words + session.words and "predictions" not in words + session.words
    session.test(suite, "ftrace-overhead/live.sh", cpus, words, accel="icount", timeout=3000,
                 trees=[*tool("ftrace-overhead"), ("/job/load", userspace.helper("load"))],
                 judge=() if some else ["ftrace-overhead/judge.py", "predicted"])


def bisect(session, suite, cpus):
    """Two guests: the second one is reset by the culprit, and boots again."""
    module = "ftrace-overhead/planted/bisect_planted.ko"
    where = os.path.join(BUILD, "bisect", session.kernel.replace("/", "-"))
    built = modules.build(session.kernel, where, os.path.basename(module), testing(os.path.dirname(module)))
    trees = [*tool("ftrace-overhead"), (f"/job/testing/{module}", built)]
    some = "guest.only=" in session.words
    session.test(suite, "ftrace-overhead/live-bisect.sh", cpus, few(session), trees=trees, timeout=1500,
                 judge=() if some or few(session) else ["ftrace-overhead/judge.py", "bisect"])
    if some and "crash" not in session.words:
        return
    # On one CPU: an emulator's second one may begin with another time after a reset.
    with session.totals.under("crash"):
        disk = os.path.join(BUILD, "bisect", f"{session.kernel.replace('/', '-')}.disk")
        with open(disk, "wb") as f:
            f.truncate(4 << 20)
        session.test(f"{suite}-crash", "ftrace-overhead/live-bisect.sh", 1, "guest.crash=/dev/vda", trees=trees, reboots=True,
                     qemu=[*vm.QEMU, "-drive", f"file={disk},format=raw,if=virtio"])


def hits(session, suite, cpus):
    """The same load on stock and on ours, counted by stock's profiler, and by ours and the tracer count."""
    counted = {}
    for kernel, mode in (("stock", "profiler"), ("ours", "profiler"), ("ours", "count")):
        name = f"{kernel}-{mode}"
        with session.totals.under(name):
            r, where = results.run_suite(f"{suite}-{name}", kernel, "hits", session.logs, smp=cpus, accel="icount",
                                         append=f"guest.mode={mode}")
            session.totals.take(r.output)
            results.verdict(r, session.totals, where)
        path = os.path.join(where, "out", "hits")
        if not os.path.exists(path):
            raise Failure(f"the guest of {name} has left no figures")
        with open(path) as f:
            counted[name] = dict(sorted((line.split()[0], int(line.split()[1])) for line in f))
    stock = counted.pop("stock-profiler")
    session.totals.judge("the load is what it is to be", [] if len(stock) > 50 and stock.get("read_zero", 0) > 5000 else
                         [f"{name} {n}" for name, n in stock.items()])
    for name, ours in counted.items():
        wrong = [f"{f}: {stock.get(f, 0)}, and {ours.get(f, 0)}" for f in sorted(stock.keys() | ours.keys())
                 if stock.get(f) != ours.get(f)]
        session.totals.judge(f"{name} has counted what stock's profiler has", wrong)


def clients(session, suite, cpus):
    """trace-cmd, perf and bpftrace, as Debian has them."""
    session.job(suite, "clients", cpus, mem="2G", additions=["clients"], timeout=1800)


def debian_packages(session, suite, cpus):
    """What make deb has made, in a Debian that boots it by GRUB: installed, booted by its name, used and removed."""
    found = sorted(glob.glob(os.path.join(BUILD, "deb", "*.deb")))
    release = [m.group(1) for path in found if (m := re.search(r"/linux-image-([^/_]+)_", path))]
    if len(release) != 1:
        raise Failure("build/deb has not the packages of one kernel: run make deb")
    trees = [(f"/job/{os.path.basename(path)}", path) for path in found]
    trees += [("/job/clients", job("clients")), ("/job/module", testing("ftrace-overhead/planted")),
              ("/job/testing/ftrace-vmcore", testing("ftrace-vmcore")),
              ("/job/livepatch-sample.c", os.path.join(BUILD, "tree/samples/livepatch/livepatch-sample.c"))]
    dataclasses.replace(session, allow=(*session.allow, "panic.*: sysrq triggered crash")).job(
        suite, "debian", cpus, f"guest.release={release[0]}", mem="2G", timeout=3600, disk=debian.disk(), trees=trees)


# In the order in which they run; name: (suite, CPUs, and a description).
ALL = {
    "kunit": (kunit, 2, "KUnit suites: ours, and the kernel's of fprobe and kprobes"),
    "ftracetest-2": (ftracetest, 2, "the kernel's ftracetest: 00basic, ftrace, instances, and our longest cases"),
    "ftracetest-1": (ftracetest, 1, "our own directory of it, callset"),
    "ftracetest-4": (ftracetest, 4, "the same"),
    "boot": (boot, 2, "options of the kernel's command line and bootconfig, several boots"),
    "load-1": (load, 1, "everything traced on and off while a load runs"),
    "load-2": (load, 2, "the same"),
    "load-4": (load, 4, "the same"),
    "torture-4": (torture, 4, "all that rewrites text or changes tracing, at random and at the same time, while users "
                              "that stay attached count every call"),
    "oldqemu-4": (oldqemu, 4, "the same, with all memory to be had, under a QEMU that delivers a breakpoint late; each "
                              "warning of the kernel fails it"),
    "detach-4": (detach, 4, "modules that are unloaded as soon as their callbacks are detached"),
    "pokes-2": (load, 2, "perf's text_poke events"),
    "funccount-2": (funccount, 2, "tools/tracing/funccount; also on stock, where it uses the profiler"),
    "export-2": (export, 2, "tools/tracing/ftrace-export, from the running kernel; also on stock"),
    "bisect-2": (bisect, 2, "tools/tracing/ftrace-overhead bisect, which finds planted culprits; also on stock"),
    "fuzz-4": (fuzz, 4, "random input to every file, for a minute or as --append says"),
    "ring-4": (load, 4, "writers of the ring buffer in every context, against readers and changes"),
}
KNOWN = ALL | {
    "callset-2": (ftracetest, 2, "our own cases on 2 CPUs"),
    "fuzz-2": (fuzz, 2, "fuzz-4 on 2 CPUs: for a long time, on a machine that has no more"),
    "hits-1": (hits, 1, "how often functions are called by the same load on stock and on ours, as both count it"),
    "overhead-1": (overhead, 1, "tools/tracing/ftrace-overhead, also on stock: under -icount, as hits-1"),
    "debian-2": (debian_packages, 2, "the packages of build/deb in a Debian that boots by GRUB, for make check-deb"),
    "clients-2": (clients, 2, "trace-cmd, perf and bpftrace, as Debian has them"),
}


def run(session, name):
    suite, cpus, _ = KNOWN[name]
    with session.totals.under(name):
        try:
            suite(session, name, cpus)
        except Failure as e:
            session.totals.fail("can be run", str(e))
