#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of ftrace-vmcore.py's reading of ELF files, on made ones. Each test is a line "ok - ..." or "not ok - ..."; the
last line is "N passed, N failed"."""
import importlib.util
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "../tracing-tools"))
import results  # noqa: E402

spec = importlib.util.spec_from_file_location("vmcore", os.path.join(HERE, "../../../scripts/tracing/ftrace-vmcore.py"))
vmcore = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vmcore)
PAGE = vmcore.PAGE
RAM, TEXT = 0x100000, 0x104000


def elf(pages, cut=0):
    """As the kernel makes it: the kernel's text has a segment of its own, within that of the memory. The last page is
    not whole."""
    ram = b"".join(bytes([i]) * PAGE for i in range(pages))[:-100]
    heads = [(4, 0x400, 0, 16), (1, PAGE + TEXT - RAM, TEXT, 2 * PAGE), (1, PAGE, RAM, len(ram))]
    head = bytearray(b"\x7fELF\2\1\1".ljust(64, b"\0"))
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<HH", head, 54, 56, len(heads))
    table = b"".join(struct.pack("<IIQQQQQQ", kind, 0, offset, 0, address, size, size, 0)
                     for kind, offset, address, size in heads)
    data = (bytes(head) + table).ljust(PAGE, b"\0") + ram
    return data[:len(data) - cut]


def pages_of(data):
    """The first byte of each page, its length, or that the dump lacks it; one beyond the end, too."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "vmcore")
        with open(path, "wb") as f:
            f.write(data)
        dump, found = vmcore.dump(path), []
        for address in range(RAM - PAGE, RAM + 17 * PAGE, PAGE):
            try:
                page = dump.page(address)
                found.append(page[0] if len(page) == PAGE else "short")
            except vmcore.Missing:
                found.append(None)
        return found


results.same("each page of the memory, before, in and after the text", [None, *range(16), None], pages_of(elf(16)))
results.same("a file that was cut off lacks the rest, and no more", [None, *range(13), None, None, None, None],
             pages_of(elf(16, cut=2 * PAGE)))
sys.exit(results.closing())
