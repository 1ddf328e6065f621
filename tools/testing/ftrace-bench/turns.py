#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measures the kernels of kernels/ in turn, by ftrace_bench.py, with mitigations and without, on a machine that has
nothing but an initramfs with this, Python, Perl and busybox. The report is left on the screen, and on a FAT partition
of the medium, FTRACEBENCH, which nothing else is mounted or written than. mkdisk.sh makes such a medium.

Each kernel is started by kexec, so that all come up in the same way, also from a CD. The results until then are carried
in an archive behind the initramfs (bench.initrd= is its size). A turn that does not end is left out when the machine
has booted again, as the partition tells. Words of the command line, which ftrace_bench.py explains, too:

	bench.rounds=N bench.times=N bench.seconds=S	N boots of each kernel and setting
	bench.id=HEX	the partition's serial number; bench.wait=S: how long to look for it
	bench.end	turn the machine off at the end; otherwise Enter does, on any console
"""
import glob
import itertools
import os
import select
import subprocess
import sys
import time
import traceback

import ftrace_bench

HERE, MOUNT, INITRD = ftrace_bench.HERE, "/tmp/medium", "/tmp/initrd"
RESULTS, KEPT, PAGE = HERE + "/results.json", MOUNT + "/results.json", MOUNT + "/report.html"
CMDLINE = open("/proc/cmdline").read().split()
KINDS = {"bench.rounds": ftrace_bench.times, "bench.times": ftrace_bench.times, "bench.seconds": ftrace_bench.seconds,
         "bench.wait": int, "bench.id": str, "bench.end": str, "bench.turn": str, "bench.initrd": int}
# Those of the command line, and defaults.
WORDS = {"bench.rounds": 3, "bench.times": 5, "bench.seconds": 1, "bench.wait": 20}
# kexec_file_load() and reboot(LINUX_REBOOT_CMD_KEXEC).
KEXEC = """($kernel, $initrd, $line) = @ARGV;
open K, $kernel; open I, $initrd; syscall 320, fileno(K), fileno(I), 1 + length $line, $line, 0 and die "kexec: $!\\n";
syscall 169, 0xfee1dead, 672274793, 0x45584543, 0; die "kexec: $!\\n";"""


def take(words):
    """Puts them into WORDS. Those that are wrong."""
    wrong = []
    for word in words:
        name, _, value = word.partition("=")
        try:
            WORDS[name] = KINDS[name](value)
        except (KeyError, ValueError):
            wrong.append(word)
    return wrong


def works(path):
    try:
        with open(path, "wb", buffering=0) as f:
            f.write(b"\r")
    except OSError:
        return False
    return True


def consoles():
    """The screen and the serial line. The kernel takes ttyS0 for a console also where there is none."""
    return [path for line in open("/proc/consoles")
            if os.path.exists(path := "/dev/" + line.split()[0]) and works(path)]


def say(text):
    for path in consoles():
        with open(path, "w", encoding="utf-8") as f:
            f.write(text + "\n")


def is_medium(device):
    try:
        with open(device, "rb") as f:
            boot = f.read(512)
    except OSError:
        return False
    # Of FAT12 and FAT16: the serial number and the label.
    return boot[43:54] == b"FTRACEBENCH" and f"{int.from_bytes(boot[39:43], 'little'):08x}" == WORDS.get("bench.id")


def unmount():
    subprocess.run(["umount", MOUNT], stderr=subprocess.DEVNULL)


def mounts(device):
    """Whether it can be written to; otherwise it is of no use."""
    if subprocess.run(["mount", "-t", "vfat", "-o", "sync", device, MOUNT]).returncode:
        return False
    if not os.statvfs(MOUNT).f_flag & os.ST_RDONLY:
        return True
    unmount()
    return False


class Medium:
    """The partition, which the kernel may find late. After an error nothing more is written to it."""

    def __init__(self):
        os.makedirs(MOUNT, exist_ok=True)
        end = time.monotonic() + WORDS["bench.wait"]
        while True:
            devices = ["/dev/" + os.path.basename(path) for path in glob.glob("/sys/class/block/*")]
            found = [device for device in devices if is_medium(device)]
            if found or time.monotonic() > end:
                break
            time.sleep(0.5)
        self.writable = any(map(mounts, found))

    def write(self, change, *args):
        try:
            if self.writable:
                change(*args)
        except OSError as e:
            self.writable = False
            say(f"The partition FTRACEBENCH is not written to any more: {e}")


def plan():
    """[(kernel, setting)]: every other round goes backwards, against what drifts."""
    kernels = sorted(os.listdir(HERE + "/kernels"), reverse=True)
    one = [(kernel, setting) for setting in ("on", "off") for kernel in kernels]
    return [turn for n in range(WORDS["bench.rounds"]) for turn in one[::-1 if n % 2 else 1]]


def set_aside():
    """Gives the files of another measurement names that are free."""
    for n in itertools.count(1):
        names = {KEPT: f"{MOUNT}/results-{n}.json", PAGE: f"{MOUNT}/report-{n}.html"}
        if not any(map(os.path.exists, names.values())):
            break
    for old, new in names.items():
        if os.path.exists(old):
            os.rename(old, new)


def begun(medium):
    """The results when the loader has booted: those of a measurement that was cut off, or none."""
    now = {"machine": ftrace_bench.machine(), "turns": len(plan()), "runs": []}
    try:
        old = ftrace_bench.load(KEPT)
        # One that has ended has a word more.
        if old | {"runs": []} == now:
            return old
    except (OSError, ValueError):
        pass
    medium.write(set_aside)
    return now


def keep(results, medium):
    medium.write(ftrace_bench.save, KEPT, ftrace_bench.as_json(results))


def turn(results, medium):
    """One more run. Until it ends, the partition has it without figures."""
    kernel, setting = plan()[len(results["runs"])]
    say(f"{len(results['runs']) + 1} of {len(plan())}: measuring {kernel}, mitigations {setting}")
    cut_off = results | {"runs": [*results["runs"], {"kernel": kernel, "mitigations": setting}]}
    keep(cut_off, medium)
    try:
        run = ftrace_bench.measured(kernel, WORDS["bench.seconds"], WORDS["bench.times"], f"{HERE}/modules/{kernel}.ko")
        return results | {"runs": [*results["runs"], run]}
    except (Exception, SystemExit):
        say("failed: " + traceback.format_exc())
        return cut_off


def archive(path):
    """A file as cpio's newc format has it."""
    found = b""
    for name, mode, data in (path[1:].encode(), 0o100644, open(path, "rb").read()), (b"TRAILER!!!", 0, b""):
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        for part in b"070701" + b"".join(b"%08X" % f for f in fields) + name + b"\0", data:
            found += part + b"\0" * (-len(part) % 4)
    return found


def go_on(results, medium):
    """In the next kernel, with the initramfs that the loader has read."""
    kernel, setting = plan()[len(results["runs"])]
    with open("/sys/firmware/initrd", "rb") as f:
        initrd = f.read()
    size = WORDS.get("bench.initrd", len(initrd))
    with open(INITRD, "wb") as f:
        f.write(initrd[:size] + b"\0" * (-size % 4) + archive(RESULTS))
    old = ("quiet", "bench.turn", "bench.initrd=", "mitigations=", "BOOT_IMAGE=")
    old += ("bench.wait=",) * (not medium.writable)
    line = [word for word in CMDLINE if not word.startswith(old)] + ["quiet", "bench.turn", f"bench.initrd={size}"]
    line += ["bench.wait=0"] * (not medium.writable) + ["mitigations=off"] * (setting == "off")
    unmount()
    os.sync()
    subprocess.run(["perl", "-e", KEXEC, f"{HERE}/kernels/{kernel}", INITRD, " ".join(line)], check=True)


def leaf_through(lines):
    """A screen goes on only when it is told to, on any console. Lines may take two of it."""
    if "bench.end" in WORDS:
        return
    fds = [os.open(path, os.O_RDONLY | os.O_NOCTTY) for path in consoles()]
    size = max([10, *(os.get_terminal_size(fd).lines // 2 for fd in fds)])
    for n in range(0, len(lines), size):
        say("\n".join(lines[n:n + size]) + "\n")
        say("Press Enter to " + ("read on." if n + size < len(lines) else "turn the machine off."))
        for fd in select.select(fds, [], [])[0]:
            os.read(fd, 1024)


def main():
    if wrong := take(word for word in CMDLINE if word.startswith("bench.")):
        raise ValueError(f"words of the command line are wrong: {' '.join(wrong)}")
    medium = Medium()
    if "bench.turn" in WORDS:
        results = turn(ftrace_bench.load(RESULTS), medium)
    else:
        say("Measuring the costs of function tracing. Nothing but the partition FTRACEBENCH is written to.")
        results = begun(medium)
    ftrace_bench.save(RESULTS, ftrace_bench.as_json(results))
    keep(results, medium)
    if len(results["runs"]) < len(plan()):
        go_on(results, medium)
    found = ftrace_bench.report({"results.json": results})
    text = ftrace_bench.as_text(*found)
    say("\n" + text)
    medium.write(ftrace_bench.save, PAGE, ftrace_bench.as_html(*found))
    keep(results | {"ended": True}, medium)
    unmount()
    note = "report.html and results.json are on the partition FTRACEBENCH." if medium.writable else \
        "The medium cannot be written to: this screen is the only report."
    say(note)
    leaf_through([*text.splitlines(), "", note])


if __name__ == "__main__":
    try:
        main()
    except Exception as e:
        say(traceback.format_exc())
        leaf_through([f"The measurement has ended: {e!r}"])
        sys.exit(1)
