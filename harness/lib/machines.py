# SPDX-License-Identifier: GPL-2.0
"""The machines that kernels boot on. Differences from x86-64's PC stand in comments of
harness/config/arch/NAME.config, beside the symbols:

	# image: PATH       the file that boots, below the build's directory; make's target is its name up to a dot
	# qemu: WORDS       the emulator with its machine; without them, as the PC
	# package: NAME     where Debian has the emulator
	# console: TTY      the kernel's
	# job: TTY          the job's line, the first of virtio's consoles; hvc0 without it
	# debian: NAME      Debian's name of the architecture; NAME without it
	# suites: NAME...   of Debian's, which have its packages; those of this system without them
	# shell: PROGRAM    the guest's; busybox without it
	# helpers: NAME...  programs of guest-src/, beside chrt and mark
	# make: CROSS_COMPILE=PREFIX
	# compiler: PREFIX  of programs for the guest, where the kernel takes the system's own
"""
import functools
import os
import re
from pathlib import Path

from . import HARNESS, Failure

CONFIGS = os.path.join(HARNESS, "config/arch")
PC = "x86"
IMAGE = "arch/x86/boot/bzImage"
# harness/kernel leaves the machine's name there.
MARK = ".machine"


@functools.cache
def said(name):
    """{word: its text} of a machine; of the PC, nothing."""
    if name == PC:
        return {}
    return dict(re.findall(r"^# (?:make: )?(\w+)[:=] ?(.*)$", Path(CONFIGS, name + ".config").read_text(), re.M))


def names(given, directory="arch", some="architecture"):
    """Those given, of harness/config/DIRECTORY."""
    there = sorted(f.removesuffix(".config") for f in os.listdir(os.path.join(HARNESS, "config", directory)))
    if unknown := [n for n in given if n not in there]:
        raise Failure(f"no {some} {unknown[0] or 'given'}; there are: {' '.join(there)}")
    return given or there


def image(name):
    """The file that boots, below the build's directory."""
    return said(name).get("image", IMAGE)


def compiler(name):
    return (said(name).get("compiler") or said(name)["CROSS_COMPILE"]) + "gcc"


def of(directory):
    """The machine that a build is for."""
    path = os.path.join(directory, MARK)
    if not os.path.exists(path):
        return PC
    return Path(path).read_text().strip()
