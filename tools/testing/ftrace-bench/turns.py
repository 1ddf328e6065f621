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
	bench.end	turn the machine off at the end, without being asked
"""
import glob
import os
import subprocess
import sys
import time

import ftrace_bench

HERE, MOUNT, INITRD = ftrace_bench.HERE, "/tmp/medium", "/tmp/initrd"
RESULTS, KEPT = HERE + "/results.json", MOUNT + "/results.json"
CMDLINE = open("/proc/cmdline").read().split()
WORDS = {name: value for name, _, value in (word[6:].partition("=") for word in CMDLINE if word.startswith("bench."))}
# kexec_file_load() and reboot(LINUX_REBOOT_CMD_KEXEC).
KEXEC = """($kernel, $initrd, $line) = @ARGV;
open K, $kernel; open I, $initrd; syscall 320, fileno(K), fileno(I), 1 + length $line, $line, 0 and die "kexec: $!\\n";
syscall 169, 0xfee1dead, 672274793, 0x45584543, 0; die "kexec: $!\\n";"""


def say(text):
    """On each console: the screen and the serial line."""
    for line in open("/proc/consoles"):
        with open("/dev/" + line.split()[0], "w", encoding="utf-8") as f:
            f.write(text + "\n")


def is_medium(device):
    try:
        with open(device, "rb") as f:
            boot = f.read(512)
    except OSError:
        return False
    # Of FAT12 and FAT16: the serial number and the label.
    return boot[43:54] == b"FTRACEBENCH" and f"{int.from_bytes(boot[39:43], 'little'):08x}" == WORDS.get("id")


def medium():
    """Mounts the partition, which the kernel may find late. Whether it can be written to."""
    os.makedirs(MOUNT, exist_ok=True)
    end = time.monotonic() + float(WORDS.get("wait", 20))
    while True:
        for device in map(os.path.basename, glob.glob("/sys/class/block/*")):
            if is_medium("/dev/" + device):
                return not subprocess.run(["mount", "-t", "vfat", "-o", "sync", "/dev/" + device, MOUNT]).returncode
        if time.monotonic() > end:
            return False
        time.sleep(0.5)


def plan():
    """[(kernel, setting)]: every other round goes backwards, against what drifts."""
    kernels = sorted(os.listdir(HERE + "/kernels"), reverse=True)
    one = [(kernel, setting) for setting in ("on", "off") for kernel in kernels]
    return [turn for n in range(int(WORDS.get("rounds", 3))) for turn in one[::-1 if n % 2 else 1]]


def begun(writable):
    """The results when the loader has booted: those of a measurement that was cut off, or none."""
    now = {"machine": ftrace_bench.machine(), "turns": len(plan()), "runs": []}
    if writable and os.path.exists(KEPT):
        old = ftrace_bench.load(KEPT)
        if old | {"runs": []} == now and len(old["runs"]) < len(plan()):
            return old
        os.rename(KEPT, f"{MOUNT}/results-{len(os.listdir(MOUNT))}.json")
    return now


def turn(results, writable):
    """One more run. Until it ends, the partition has it without figures."""
    kernel, setting = plan()[len(results["runs"])]
    say(f"{len(results['runs']) + 1} of {len(plan())}: measuring {kernel}, mitigations {setting}")
    cut_off = results | {"runs": [*results["runs"], {"kernel": kernel, "mitigations": setting}]}
    if writable:
        ftrace_bench.save(KEPT, cut_off)
    try:
        ftrace_bench.measure(RESULTS, kernel, float(WORDS.get("seconds", 1)), int(WORDS.get("times", 5)),
                             f"{HERE}/modules/{kernel}.ko")
        return ftrace_bench.load(RESULTS)
    except (OSError, SystemExit) as e:
        say(f"failed: {e}")
        return cut_off


def archive(path):
    """A file as cpio's newc format has it."""
    found = b""
    for name, mode, data in (path[1:].encode(), 0o100644, open(path, "rb").read()), (b"TRAILER!!!", 0, b""):
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        for part in b"070701" + b"".join(b"%08X" % f for f in fields) + name + b"\0", data:
            found += part + b"\0" * (-len(part) % 4)
    return found


def go_on(results, writable):
    """In the next kernel, with the initramfs that the loader has read."""
    kernel, setting = plan()[len(results["runs"])]
    with open("/sys/firmware/initrd", "rb") as f:
        initrd = f.read()
    size = int(WORDS.get("initrd", len(initrd)))
    with open(INITRD, "wb") as f:
        f.write(initrd[:size] + b"\0" * (-size % 4) + archive(RESULTS))
    old = ("quiet", "bench.turn", "bench.initrd=", "mitigations=", "BOOT_IMAGE=") + ("bench.wait=",) * (not writable)
    line = [word for word in CMDLINE if not word.startswith(old)] + ["quiet", "bench.turn", f"bench.initrd={size}"]
    line += ["bench.wait=0"] * (not writable) + ["mitigations=off"] * (setting == "off")
    if writable:
        subprocess.run(["umount", MOUNT])
    os.sync()
    subprocess.run(["perl", "-e", KEXEC, f"{HERE}/kernels/{kernel}", INITRD, " ".join(line)], check=True)


def leaf_through(lines):
    """The screen goes on only when it is told to. Lines may take two of it."""
    if "end" in WORDS:
        return
    with open("/dev/console") as f:
        size = max(os.get_terminal_size(f.fileno()).lines // 2, 10)
        for n in range(0, len(lines), size):
            say("\n".join(lines[n:n + size]) + "\n")
            say("Press Enter to " + ("read on." if n + size < len(lines) else "turn the machine off."))
            f.readline()


def main():
    writable = medium()
    if "turn" in WORDS:
        results = turn(ftrace_bench.load(RESULTS), writable)
    else:
        say("Measuring the costs of function tracing. Nothing but the partition FTRACEBENCH is written to.")
        results = begun(writable)
    for path in [RESULTS, KEPT][:1 + writable]:
        ftrace_bench.save(path, results)
    if len(results["runs"]) < len(plan()):
        go_on(results, writable)
    text = ftrace_bench.report([RESULTS], MOUNT + "/report.html")
    if writable:
        subprocess.run(["umount", MOUNT])
    text += "\n" + ("report.html and results.json are on the partition FTRACEBENCH." if writable else
                    "The medium cannot be written to: this screen is the only report.")
    say("\n" + text)
    leaf_through(text.splitlines())


if __name__ == "__main__":
    try:
        main()
    except Exception as e:
        leaf_through([f"The measurement has ended: {e!r}"])
        sys.exit(1)
