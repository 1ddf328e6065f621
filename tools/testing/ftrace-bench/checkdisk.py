#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boots an image of mkdisk.sh in QEMU, by both firmwares, from disks and CDs, and looks at what it has written.

	checkdisk.py IMAGE [--accel kvm|tcg] [MACHINE...]

The image has to have bench.end, and one round of two kernels. Takes OVMF and mtools; the consoles are left beside the
image. Lines of TAP, then "N passed, N failed".
"""
import argparse
import hashlib
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

# The firmware and how the medium is attached.
CD, OVMF = ",media=cdrom,readonly=on", ["-bios", "/usr/share/ovmf/OVMF.fd"]
MACHINES = {
    "bios-virtio": ([], "", ["virtio-blk-pci,drive=d,bootindex=0"]),
    "uefi-usb": (OVMF, "", ["qemu-xhci", "usb-storage,drive=d,bootindex=0"]),
    "bios-cd": ([], CD, ["ide-cd,drive=d,bootindex=0"]),
    "uefi-cd": (OVMF, CD, ["ide-cd,drive=d,bootindex=0"]),
    "bios-sata": (["-serial", "none"], "", ["ide-hd,drive=d,bootindex=0"]),
    "uefi-nvme": (OVMF, "", ["nvme,drive=d,serial=1,bootindex=0"]),
}
# Figures that each run has to have.
NEEDED = ("a call recorded by function", "an event of a kprobe", "an empty fprobe", "function_graph off, every function",
          "function on 2 CPUs", "a wakeup is late while function goes on and off, largest")
failed = []


def result(name, wrong):
    print(("not ok - " if wrong else "ok - ") + name + "".join(f"\n# {text}" for text in wrong), flush=True)
    failed.append(bool(wrong))


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def of_partition(image, name):
    """A file of the third partition."""
    first = struct.unpack_from("<I", image.read_bytes()[:512], 446 + 2 * 16 + 8)[0]
    return output("mtype", "-i", f"{image}@@{first * 512}", "::" + name)


def turns(runs):
    got = [f"{run['kernel']} {run['mitigations']}" for run in runs if run.get("figures")]
    wrong = [] if got == ["stock on", "ours on", "stock off", "ours off"] else [f"the turns are {got}"]
    return wrong + [f"{run['kernel']} has no figures of {name}" for run in runs for name in NEEDED
                    if name not in run.get("figures", ())]


def lacks(text):
    return [f"it lacks {words!r}" for words in ("Mitigations off", "stock / ours", "function on 2 CPUs") if words not in text]


def boot(name, image, accel):
    firmware, drive, devices = MACHINES[name]
    quiet = "-serial" in firmware
    medium, other, console = (image.with_name(f"{part}-{name}") for part in ("medium", "other", "console"))
    shutil.copyfile(image, medium)
    other.unlink(missing_ok=True)
    # Its label is the same, its number is not.
    output("mformat", "-i", other, "-C", "-T", "32768", "-h", "64", "-s", "32", "-v", "FTRACEBENCH", "::")
    before = hashlib.sha256(other.read_bytes()).digest()
    command = ["qemu-system-x86_64", "-machine", "q35", "-accel", accel, "-cpu", "max,monitor=off", "-smp", "2", "-m", "1G",
               *firmware, *([] if quiet else ["-serial", f"file:{console}"]), "-nodefaults", "-vga", "std", "-display", "none",
               "-drive", f"if=none,id=d,format=raw,file={medium}{drive}", *(w for d in devices for w in ("-device", d)),
               "-drive", f"if=virtio,format=raw,file={other}"]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=7200).returncode
    except subprocess.TimeoutExpired:
        ended = "time is over"
    said = "" if quiet else console.read_text(errors="replace")
    result(f"{name}: ends", [f"{ended}", *said.splitlines()[-20:]] if ended else [])
    if not quiet:
        result(f"{name}: the report on the console", lacks(said))
    same = hashlib.sha256(other.read_bytes()).digest() == before
    result(f"{name}: {other.name} is as before", [] if same else ["it has been written to"])
    if not drive:
        try:
            result(f"{name}: results.json", turns(json.loads(of_partition(medium, "results.json"))["runs"]))
            result(f"{name}: report.html", lacks(of_partition(medium, "report.html")))
        except subprocess.CalledProcessError as e:
            result(f"{name}: results", [str(e)])
    medium.unlink()
    other.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", type=Path)
    parser.add_argument("--accel", default="tcg")
    parser.add_argument("machines", nargs="*", default=list(MACHINES), metavar="MACHINE", help=" ".join(MACHINES))
    args = parser.parse_intermixed_args()
    size = args.image.stat().st_size
    result("less than 300 MB", [] if size < 300e6 else [f"{size} bytes"])
    for name in args.machines:
        boot(name, args.image, args.accel)
    print(f"{failed.count(False)} passed, {failed.count(True)} failed")
    return any(failed)


if __name__ == "__main__":
    sys.exit(main())
