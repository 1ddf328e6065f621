# SPDX-License-Identifier: GPL-2.0
"""Runs a job in a guest of one of the kernels under build/, and says how it ended.

The job is a shell script, put as /job/run beside the files that go with it, and
appended to the cached user space as a second archive. Two serial lines leave the
guest: the kernel's console and the job's output, so that neither cuts the other's
lines; a debug port carries files back (/out in the guest, --out here).

One CPU model for all runs, "max": the features that TCG can emulate, or those that
the host has under KVM. Mitigations, SMAP and the rest follow from it on stock and ours
alike. TCG has no IBT, but a kernel built for it keeps its sites after ENDBR all the
same. TSC is declared reliable: an emulated one is, and the watchdog's doubts would
move the trace clock in the middle of a measurement. MWAIT is taken away because TCG
spins where it should sleep: an idle CPU would burn a host's CPU, and be counted.
"""
import math
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from . import GUEST, HARNESS, TROUBLE, Failure, job, kernels, machines, newc, testing, userspace

CPU = "max,monitor=off"
# Another program, with its own options, may take its place.
QEMU = ("qemu-system-x86_64",)
# 0x402, the other customary port, is where the firmware talks.
DEBUG_PORT = 0xe9
# jobs/lib.sh begins with it.
TESTS_LIB = testing("selftests/ftrace-torture/lib.sh")
# A PC of 32 bits is the same, with a user space of its own.
QEMU_I386 = ("qemu-system-i386",)
# Its kernel warns of two processors of the family that QEMU takes for AMD's.
CPU_I386 = ("vendor=GenuineIntel",)
# The emulator's plugins, each with its parts in harness/.
PLUGINS = {"insnprof": ["insnprof.c", "chains.c", "chains.h", "plugin.h"], "disturb": ["disturb.c", "plugin.h"],
           "icache": ["icache.c", "plugin.h"]}
SECTOR = 512
SHELL = "A guest with tracefs at /sys/kernel/tracing. Leave with 'exit'; Ctrl-A X ends it hard."

# How a run ended, by exit status, where it is not the job's own. TROUBLE comes after these.
PANIC, OOPS, WARNING, NO_EXIT, TIMEOUT = range(TROUBLE - 5, TROUBLE)

# Symptoms that the console may show, worst first; each with the seconds that the guest is then given to end by itself.
SYMPTOMS = [
    (PANIC, "panic", re.compile(r"Kernel panic"), 30),
    (OOPS, "oops", re.compile(r"Oops[: ]|BUG: |kernel BUG at|general protection fault|"
                              r"Unable to handle|unable to handle|double fault|\w\[#\d+\]:"), 30),
    (WARNING, "warning", re.compile(r"WARNING: |INFO: rcu.*stall|rcu: INFO:.*stall|"
                                    r"INFO: task .* blocked|suspicious RCU"), None),
]
EXIT = re.compile(r"^GUEST-EXIT (\d+)\s*$")


class Result:
    """The outcome of a run: status, the job's output lines, the console's lines."""

    def __init__(self):
        self.status, self.verdict = None, ""
        self.output, self.console, self.both = [], [], []
        self.seconds = 0.0

    @property
    def ok(self):
        return self.status == 0


def qemu_version():
    try:
        text = subprocess.run([*QEMU, "--version"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        raise Failure(f"{QEMU[0]} is missing: install qemu-system-x86")
    return tuple(int(n) for n in re.search(r"version (\d+)\.(\d+)", text).groups())


def plugin_sources(name):
    """The paths of a plugin's sources, its headers among them."""
    return [os.path.join(HARNESS, part) for part in PLUGINS[name]]


def plugin_library(name):
    """build/guest/NAME.so, compiled for the QEMU that is here."""
    sources, lib = plugin_sources(name), os.path.join(GUEST, name + ".so")
    version = qemu_version()
    stamp = f"{lib}.qemu"
    fresh = (os.path.exists(lib) and os.path.getmtime(lib) > max(map(os.path.getmtime, sources))
             and os.path.exists(stamp) and open(stamp).read() == str(version))
    if not fresh:
        got = subprocess.run([os.environ.get("HOSTCC", "gcc"), "-O2", "-Wall", "-shared", "-fPIC",
                              f"-DPLUGIN_API={2 if version >= (9, 0) else 1}", "-o", lib,
                              *(src for src in sources if src.endswith(".c"))])
        if got.returncode:
            raise Failure(f"{name}.c does not compile: install gcc and libc6-dev")
        Path(stamp).write_text(str(version))
    return lib


def initramfs(out, archives, script, words, trees, modules):
    """The user space's archives, and one of the job: its script, words and files, the kernel's modules."""
    for path in archives:
        with open(path, "rb") as archive:
            shutil.copyfileobj(archive, out)
    a = newc.Archive(out)
    if words:
        a.data("/job/words", " ".join(words).encode())
    if script:
        a.file("/job/run", script, 0o755)
        a.file("/job/lib.sh", job("lib.sh"))
        a.tree("/job/testing/selftests/ftrace-torture", os.path.dirname(TESTS_LIB))
    for name, path in trees:
        if os.path.isdir(path):
            a.tree(name, path)
        else:
            a.file(name, path)
    if modules:
        a.tree("/lib/modules", modules, lambda path: not path.endswith(("/build", "/source")) and os.path.exists(path))
    a.close()


def bootconfig_trailer(size, text):
    """The bytes that make text a bootconfig, after an initrd of that size."""
    data = text.encode() + b"\0"
    data += b"\0" * (-(size + len(data)) % 4)
    return data + struct.pack("<II", len(data), sum(data)) + b"#BOOTCONFIG\n"


def kvm_works(kernel):
    """Whether a guest of this kernel boots under KVM; tried once per boot of the host.

    That /dev/kvm is there proves nothing: nested and confined hosts have it too."""
    if kernels.machine(kernel) != machines.PC:
        return False
    cache, key = Path(GUEST, "kvm"), Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    words = cache.read_text().split() if cache.exists() else []
    if words[1:] != [key]:
        works = os.access("/dev/kvm", os.R_OK | os.W_OK) and kvm_trial(kernel)
        words = ["yes" if works else "no", key]
        cache.write_text(" ".join(words) + "\n")
    return words[0] == "yes"


def kvm_trial(kernel):
    try:
        return run(kernel, "/bin/true", accel="kvm", timeout=15, echo=False).ok
    except Failure:
        return False


def emulator(accel):
    """The options that say how instructions are executed."""
    if accel == "icount":
        return ["-accel", "tcg", "-icount", "shift=0,sleep=off", "-rtc", "base=2025-01-01,clock=vm"]
    return ["-accel", "kvm" if accel == "kvm" else "tcg,thread=multi"]


def pc(accel, smp, mem, cpu, qemu):
    """A machine without a disk or a kernel."""
    return [*qemu, "-machine", "q35", "-cpu", ",".join([CPU, *cpu]), "-m", mem, "-smp", str(smp), "-nodefaults",
            "-display", "none", *emulator(accel)]


def lines(console_fd):
    """The two serial lines: the job's is standard output, the console's a pipe."""
    return ["-chardev", f"file,id=console,path=/dev/fd/{console_fd}", "-serial", "chardev:console",
            "-chardev", "stdio,id=job,signal=off", "-serial", "chardev:job"]


def disk_command(disk, job_disk, accel, smp, mem, cpu, qemu, console_fd):
    """Of a guest that boots from its disk, of which it writes to a copy."""
    drives = [f"file={disk},format=raw,if=virtio,snapshot=on", f"file={job_disk},format=raw,if=virtio"]
    return [*pc(accel, smp, mem, cpu, qemu), *lines(console_fd), *(word for d in drives for word in ("-drive", d))]


def qemu_command(image, initrd, accel, smp, mem, plugin, append, shell, out, console_fd, reboots, cpu, qemu):
    cmd = [*pc(accel, smp, mem, cpu, qemu), "-kernel", image, "-initrd", initrd]
    if not reboots:
        cmd += ["-no-reboot"]
    words = ["console=ttyS0,115200", "panic=-1", "tsc=reliable"]
    if shell:
        cmd += ["-serial", "mon:stdio"]
        words += ["guest.shell", "quiet"]
    else:
        cmd += lines(console_fd)
        words += ["guest.tty=ttyS1"]
    if out:
        cmd += ["-chardev", f"file,id=out,path={out}",
                "-device", f"isa-debugcon,iobase={DEBUG_PORT:#x},chardev=out"]
        words += ["guest.out"]
    if plugin:
        name, options = plugin
        cmd += ["-plugin", f"{plugin_library(name)},{options}"]
        words += ["nokaslr"]
    if reboots:
        words += ["guest.poweroff"]
    return cmd + ["-append", " ".join(words + ([append] if append else []))]


def other_command(machine, image, initrd, accel, smp, mem, append, out, console_fd):
    """The same for another architecture, which is emulated and neither shell nor plugin has. The job's
    output and /out go through virtio."""
    said = machines.said(machine)
    cmd = [*said["qemu"].split(), "-m", mem, "-smp", str(smp), "-nodefaults", "-display", "none", "-no-reboot",
           "-kernel", image, "-initrd", initrd, *emulator(accel),
           "-chardev", f"file,id=console,path=/dev/fd/{console_fd}", "-serial", "chardev:console",
           "-chardev", "stdio,id=job,signal=off", "-device", "virtconsole,nr=1,chardev=job"]
    words = [f"console={said['console']}", "panic=-1", f"guest.tty={said.get('job', 'hvc0')}"]
    if out:
        cmd += ["-chardev", f"file,id=out,path={out}", "-device", "virtserialport,nr=2,chardev=out,name=out"]
        words += ["guest.out=vport0p2"]
    return cmd + ["-append", " ".join(words + ([append] if append else []))]


class Watch:
    """Reads both lines of a running guest until it ends, or must be ended."""

    def __init__(self, process, console, timeout, quiet, echo, log, allow):
        self.process, self.result = process, Result()
        self.started = time.monotonic()
        self.deadline = self.started + timeout
        self.quiet, self.heard = quiet, self.started
        self.echo, self.log, self.allow = echo, log, allow
        self.symptom = None
        self.exit_status = None
        self.timed_out = False
        self.streams = {process.stdout.fileno(): (self.job_line, bytearray()),
                        console: (self.console_line, bytearray())}

    def job_line(self, line):
        if m := EXIT.match(line):
            self.exit_status = int(m.group(1))
            return
        self.result.output.append(line)
        self.result.both.append(line)
        if self.echo:
            print(line, flush=True)

    def console_line(self, line):
        if (m := EXIT.match(line)) and self.exit_status is None:
            # The job's own line may have been glued to output without a newline.
            self.exit_status = int(m.group(1))
        self.result.console.append(line)
        self.result.both.append("[console] " + line)
        for symptom in SYMPTOMS:
            if symptom[2].search(line) and not any(re.search(a, line) for a in self.allow):
                self.symptom_seen(symptom, line)
                return

    def symptom_seen(self, symptom, line):
        status, _, _, grace = symptom
        if self.symptom is None or status < self.symptom[0]:
            self.symptom = (status, symptom[1], line.strip())
        if grace is not None:
            self.deadline = min(self.deadline, time.monotonic() + grace)

    def feed(self, fd, data):
        handle, pending = self.streams[fd]
        if handle == self.job_line:
            self.heard = time.monotonic()
        *lines, pending[:] = (pending + data).split(b"\n")
        self.lines(handle, lines)

    def lines(self, handle, lines):
        for line in lines:
            before = len(self.result.both)
            handle(line.decode(errors="replace").rstrip("\r"))
            self.log.writelines(text + "\n" for text in self.result.both[before:])

    def end(self, fd):
        """A last line without its end was being written when the guest ended."""
        handle, pending = self.streams.pop(fd)
        if pending:
            self.lines(handle, [bytes(pending)])

    def follow(self):
        """Until both lines are closed or the time is over."""
        while self.streams:
            left = min(self.deadline, self.heard + (self.quiet or math.inf)) - time.monotonic()
            if left <= 0:
                self.timed_out = True
                break
            for fd in select.select(list(self.streams), [], [], min(left, 1.0))[0]:
                data = os.read(fd, 1 << 16)
                if data:
                    self.feed(fd, data)
                else:
                    self.end(fd)
            if self.process.poll() is not None and not select.select(list(self.streams), [], [], 0.1)[0]:
                break

    def finish(self):
        if self.process.poll() is None:
            try:
                self.process.wait(timeout=0 if self.timed_out else 5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for fd in list(self.streams):
            self.end(fd)
        r = self.result
        r.seconds = time.monotonic() - self.started
        if self.symptom and self.symptom[0] != WARNING:
            r.status, r.verdict = self.symptom[0], f"{self.symptom[1]}: {self.symptom[2]}"
        elif self.timed_out:
            r.status, r.verdict = TIMEOUT, f"timeout after {r.seconds:.0f} s"
        elif self.exit_status is None:
            r.status, r.verdict = NO_EXIT, "the guest ended without telling the job's status"
        elif self.symptom:
            r.status, r.verdict = WARNING, f"warning: {self.symptom[2]} (the job's own status: {self.exit_status})"
        else:
            r.status = self.exit_status
            r.verdict = f"the job ended with status {r.status}" if r.status else ""
        return r


def out_extract(path, out):
    """Unpacks the files that the guest sent of /out; a cut-off archive gives those that it holds."""
    os.makedirs(out, exist_ok=True)
    try:
        with tarfile.open(path, "r|") as tar:
            for member in tar:
                if member.isfile() or member.isdir():
                    tar.extract(member, out, set_attrs=False)
    except tarfile.TarError:
        pass


def run(kernel, script=None, trees=(), modules=False, accel=None, smp=2, mem="1G", plugin=None,
        append="", timeout=300, quiet=None, shell=False, out=None, log=None, echo=True, allow=(), additions=(),
        bootconfig="", reboots=False, cpu=(), qemu=QEMU, disk=None):
    """Boots build/KERNEL and runs the file script in it, with jobs/lib.sh beside it; without one
    the guest just ends.

    trees: (name in the guest, path here) pairs. modules: put the kernel's modules in.
    plugin: (name of a harness/NAME.c, its options). timeout: seconds, for all. quiet: seconds
    for which the job may print nothing.
    accel: "kvm", "tcg", "icount" or None for KVM where it works, else TCG. echo: print
    the job's output. out: directory for the guest's
    /out. allow: patterns of console lines that are no symptom. additions: names that userspace.py
    adds to the user space. bootconfig: text for the kernel, which "bootconfig" in append
    makes it read. reboots: a reboot does not end the run; the job may ask for one, and begins
    again with the memory as it was. cpu: differences of the CPU model. qemu: another
    command instead of QEMU. disk: boots that, by its own loader and as often as the job asks for, not the kernel;
    all words go to the job, and the guest has no /out (lib/debian.py). Returns a Result."""
    image, machine = kernels.image(kernel), kernels.machine(kernel)
    archives = [] if disk else userspace.archives(additions, machine)
    words = []
    if disk or "qemu" in machines.said(machine):
        # An emulator may cut a long command line off, and a loader has its own: the job's words go another way.
        words = [word for word in append.split() if word.startswith("guest.")]
        append = " ".join(word for word in append.split() if not word.startswith("guest."))
    # So that being ended leaves neither a guest nor its files behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if accel is None:
        accel = "kvm" if kvm_works(kernel) else "tcg"
    with tempfile.TemporaryDirectory(dir=GUEST, prefix="run-") as tmp:
        initrd = os.path.join(tmp, "initrd")
        with open(initrd, "wb") as f:
            initramfs(f, archives, script, words, trees, modules and not disk and kernels.modules(kernel))
            f.flush()
            if disk:
                f.truncate(-(-f.tell() // SECTOR) * SECTOR)
            if bootconfig:
                f.write(bootconfig_trailer(f.tell(), bootconfig))
        sent = os.path.join(tmp, "out") if out else None
        console, console_w = os.pipe()
        if disk:
            cmd = disk_command(disk, initrd, accel, smp, mem, cpu, qemu, console_w)
        elif "qemu" not in machines.said(machine):
            if machine == "i386":
                cpu, qemu = (*cpu, *CPU_I386), QEMU_I386
            cmd = qemu_command(image, initrd, accel, smp, mem, plugin, append, shell, sent, console_w, reboots,
                               cpu, qemu)
        else:
            cmd = other_command(machine, image, initrd, accel, smp, mem, append, sent, console_w)
        if shell:
            os.close(console)
            os.close(console_w)
            result = Result()
            result.status = subprocess.call(cmd)
            return result
        process = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=sys.stderr, pass_fds=[console_w])
        os.close(console_w)
        with open(log or os.devnull, "w", buffering=1) as stream:
            watch = Watch(process, console, timeout, quiet, echo, stream, allow)
            try:
                watch.follow()
            finally:
                result = watch.finish()
                os.close(console)
        if out and os.path.exists(sent):
            out_extract(sent, out)
    return result
