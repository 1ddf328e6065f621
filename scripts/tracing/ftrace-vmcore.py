#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the trace that a crashed kernel had recorded to a file of trace-cmd's.

	ftrace-vmcore.py [-o trace.dat] VMCORE

VMCORE is /proc/vmcore of a kernel that kexec has started after the crash, or a file that was copied of that: as ELF
(cp, makedumpfile -E), or compressed by zlib (makedumpfile -c), also without the pages of users (-d 31), and as a stream
(-F), which Debian's kdump-tools keep in /var/crash. Of x86-64.

The dump is enough: names come from its kallsyms, and types from its BTF, which CONFIG_KALLSYMS_ALL and
CONFIG_DEBUG_INFO_BTF put there. The buffers of all instances are written, with the formats of their events.
"trace-cmd report" prints them.
"""
import argparse
import bisect
import functools
import os
import struct
import sys
import tempfile
import zlib

PAGE = 4096
LONG = "<Q"
# Where the kernel's text is mapped, and the bits of an entry of a page table that are an address.
TEXT = 0xffffffff80000000
ADDRESS = 0x000ffffffffff000
PRESENT, LARGE = 1, 1 << 7
# In the pointer to the oldest page of a ring; the second one while a writer was about to move it.
HEAD, UPDATE = 1, 2
# Of a page's length: events were lost before it.
MISSED = 3 << 30
TASK_COMM_LEN = 16
# The structures that are looked at.
WANTED = """list_head trace_array array_buffer trace_buffer ring_buffer_per_cpu buffer_page buffer_data_page
	trace_event_call trace_event_class trace_event ftrace_event_field tracepoint syscall_metadata
	saved_cmdlines_buffer module mod_kallsyms elf64_sym""".split()
# Those of BTF: the bytes behind a type by its kind, for each member or once.
INT, PTR, ARRAY, STRUCT, UNION, ENUM, FUNC_PROTO, VAR, DATASEC, DECL_TAG, ENUM64 = 1, 2, 3, 4, 5, 6, 13, 14, 15, 17, 19
EACH = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}
ONCE = {INT: 4, ARRAY: 12, VAR: 4, DECL_TAG: 4}
HEADER_PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: char overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:%d;\tsigned:1;
"""
HEADER_EVENT = """# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
TRACECMD_OPTION_BUFFER, TRACECMD_OPTION_TRACECLOCK = 3, 4


class Failure(Exception):
    """A dump that cannot be read."""


class Missing(Failure):
    """Memory that is not in it."""


class Dump:
    """The file: physical memory, and the notes of the crashed kernel."""

    def __init__(self, file):
        self.file = file

    def at(self, offset, size):
        data = os.pread(self.file.fileno(), size, offset)
        if len(data) < size:
            raise Missing(f"the dump ends before its byte {offset + size}")
        return data

    def unpack(self, kind, offset):
        return struct.unpack(kind, self.at(offset, struct.calcsize(kind)))


class Elf(Dump):
    def __init__(self, file):
        super().__init__(file)
        self.loads, self.notes = [], b""
        at, = self.unpack(LONG, 32)
        size, count = self.unpack("<HH", 54)
        for i in range(count):
            kind, _, offset, _, physical, length = self.unpack("<IIQQQQ", at + i * size)
            if kind == 1:
                self.loads.append((physical, length, offset))
            elif kind == 4:
                self.notes += self.at(offset, length)
        # The kernel's text has a segment of its own, too, within that of the memory that it is in.
        loads, end = sorted(self.loads, key=lambda load: (load[0], -load[1])), 0
        self.loads = []
        for load in loads:
            if load[0] + load[1] > end:
                self.loads.append(load)
                end = load[0] + load[1]
        self.starts = [load[0] for load in self.loads]

    def page(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        begin, length, offset = self.loads[i] if i >= 0 else (0, 0, 0)
        if address >= begin + length:
            raise Missing(f"the dump has no memory at {address:#x}")
        return self.at(offset + address - begin, min(begin + length - address, PAGE)).ljust(PAGE, b"\0")


class Compressed(Dump):
    def __init__(self, file):
        super().__init__(file)
        self.block, sub, bitmaps, _ = self.unpack("<IIII", 428)
        notes, size = self.unpack("<QQ", self.block + 32)
        self.notes = self.at(notes, size)
        # Two bitmaps, of the memory that there was, and of the pages that are in the file.
        size = bitmaps * self.block
        first = self.block * (1 + sub)
        self.bitmap = self.at(first + size // 2, size // 2)
        self.pages = first + size
        self.before = [0]
        for i in range(0, len(self.bitmap), PAGE):
            self.before.append(self.before[-1] + self.bits(self.bitmap[i:i + PAGE]))

    @staticmethod
    def bits(data):
        return bin(int.from_bytes(data, "little")).count("1")

    def page(self, address):
        byte, bit = divmod(address // self.block, 8)
        if byte >= len(self.bitmap) or not self.bitmap[byte] >> bit & 1:
            raise Missing(f"the dump has no memory at {address:#x}: a makedumpfile that is older than the kernel may have"
                          " taken it for a user's, and left it out; without 8 in its -d it does not")
        begin = byte // PAGE
        number = (self.before[begin] + self.bits(self.bitmap[begin * PAGE:byte])
                  + self.bits(bytes([self.bitmap[byte] & (1 << bit) - 1])))
        offset, size, flags = self.unpack("<QII", self.pages + 24 * number)
        if not size:
            raise Missing(f"the dump is not complete: it lacks the memory at {address:#x}")
        data = self.at(offset, size)
        if flags & ~1:
            raise Failure("the pages of the dump are compressed by another way than zlib: use makedumpfile -c or -E")
        return zlib.decompress(data) if flags & 1 else data


def arranged(stream):
    """The file that a stream of makedumpfile's stands for: pieces, each with its place."""
    file = tempfile.TemporaryFile(dir=".")
    stream.seek(PAGE)
    while piece := stream.read(16):
        offset, size = struct.unpack(">qq", piece)
        if offset < 0:
            return file
        file.seek(offset)
        file.write(stream.read(size))
    raise Failure("the dump is not complete")


def dump(path):
    file = open(path, "rb")
    if file.read(16).rstrip(b"\0") == b"makedumpfile":
        file = arranged(file)
    file.seek(0)
    head = file.read(8)
    if head == b"KDUMP   ":
        return Compressed(file)
    if head[:6] == b"\x7fELF\2\1":
        return Elf(file)
    raise Failure(f"{path} is neither an ELF file of 64 bits nor one of makedumpfile's")


class Kernel:
    """The crashed kernel: its memory by virtual addresses, its symbols and structures."""

    def __init__(self, path):
        self.file, self.tables = dump(path), {}
        # For the tables; the capture kernel has little memory.
        self.physical_page = functools.lru_cache(4096)(self.file.page)
        at = self.file.notes.find(b"OSRELEASE=")
        if at < 0:
            raise Failure("the dump has no VMCOREINFO")
        text = self.file.notes[at:].split(b"\0")[0].decode()
        self.info = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        if "SYMBOL(init_top_pgt)" not in self.info:
            raise Failure("the dump is not of x86-64")
        self.top = self.noted("init_top_pgt") - TEXT + int(self.info.get("NUMBER(phys_base)", 0))
        self.levels = 4 + int(self.info.get("NUMBER(pgtable_l5_enabled)", 0))
        self.encrypted = int(self.info.get("NUMBER(sme_mask)", 0))
        self.symbols = {}
        self.read_symbols()
        self.members = {}
        self.read_types()

    def noted(self, name):
        try:
            return int(self.info[f"SYMBOL({name})"], 16)
        except KeyError:
            raise Failure(f"VMCOREINFO has no {name}: the kernel is too old, or has no CONFIG_KALLSYMS") from None

    def physical(self, address):
        """Of the page of that virtual address."""
        if address not in self.tables:
            table = self.top
            for level in range(self.levels - 1, -1, -1):
                shift = 12 + 9 * level
                entry, = struct.unpack_from(LONG, self.physical_page(table), (address >> shift & 511) * 8)
                entry &= ~self.encrypted
                if not entry & PRESENT:
                    raise Missing(f"{address:#x} is not mapped")
                table = entry & ADDRESS
                if level and entry & LARGE:
                    inside = (1 << shift) - 1
                    table = table & ~inside | address & inside
                    break
            self.tables[address] = table
        return self.tables[address]

    def read(self, address, size):
        data = []
        while size > 0:
            inside = address % PAGE
            some = min(size, PAGE - inside)
            data.append(self.physical_page(self.physical(address - inside))[inside:inside + some])
            address, size = address + some, size - some
        return b"".join(data)

    def number(self, address, size=8):
        return int.from_bytes(self.read(address, size), "little")

    def string(self, address):
        data = b""
        while b"\0" not in data:
            data += self.read(address + len(data), PAGE - (address + len(data)) % PAGE)
        return data.split(b"\0")[0].decode(errors="replace")

    def read_symbols(self):
        """{name: address}, the first of a name, and the lines of /proc/kallsyms."""
        count = self.number(self.noted("kallsyms_num_syms"), 4)
        at = self.noted("kallsyms_token_table")
        index = struct.unpack("<256H", self.read(self.noted("kallsyms_token_index"), 512))
        table = self.read(at, index[255] + 64)
        tokens = [table[i:table.index(b"\0", i)].decode() for i in index]
        where = self.noted("kallsyms_offsets")
        offsets = struct.unpack(f"<{count}i", self.read(where, 4 * count))
        # The names end before the table of tokens.
        at = self.noted("kallsyms_names")
        names = self.read(at, self.noted("kallsyms_token_table") - at)
        at, lines = 0, []
        for i, offset in enumerate(offsets):
            size = names[at]
            at += 1
            if size & 0x80:
                size = size & 0x7f | names[at] << 7
                at += 1
            name = "".join([tokens[token] for token in names[at:at + size]])
            at += size
            address = where + 4 * i + offset
            self.symbols.setdefault(name[1:], address)
            lines.append(f"{address:016x} {name[0]} {name[1:]}\n")
        self.kallsyms = lines

    def symbol(self, name):
        try:
            return self.symbols[name]
        except KeyError:
            raise Failure(f"kallsyms has no {name}: the kernel lacks CONFIG_KALLSYMS_ALL") from None

    def read_types(self):
        """The members of WANTED: (offset in bits, bytes, bits of a bit field or 0), and the values of enums."""
        begin = self.symbol("__start_BTF")
        data = self.read(begin, self.symbol("__stop_BTF") - begin)
        magic, _, _, header, at, types, strings, _ = struct.unpack_from("<HBBIIIII", data)
        if magic != 0xeb9f:
            raise Failure("the kernel has no BTF: CONFIG_DEBUG_INFO_BTF")
        at, end, strings = header + at, header + at + types, header + strings

        def text(offset):
            return data[strings + offset:data.index(b"\0", strings + offset)].decode()

        def offset(name):
            return data.find(b"\0" + name.encode() + b"\0", strings) + 1 - strings

        wanted = {offset(name): name for name in WANTED}
        flags = {offset(f"TRACE_EVENT_FL_{name}"): name for name in ("TRACEPOINT", "CUSTOM")}
        found, places, self.flags = {}, [0], dict.fromkeys(flags.values(), 0)
        while at < end:
            name, info, _ = struct.unpack_from("<III", data, at)
            kind, count = info >> 24 & 31, info & 0xffff
            places.append(at)
            if kind == STRUCT and name in wanted:
                found.setdefault(wanted[name], at)
            elif kind == ENUM:
                for i in range(count):
                    constant, value = struct.unpack_from("<Ii", data, at + 12 + 8 * i)
                    if constant in flags:
                        self.flags[flags[constant]] = value
            at += 12 + EACH.get(kind, 0) * count + ONCE.get(kind, 0)

        def size(number):
            """Of a type in bytes; typedefs and the like go on."""
            while True:
                place = places[number]
                _, info, number = struct.unpack_from("<III", data, place)
                kind = info >> 24 & 31
                if kind == ARRAY:
                    element, _, count = struct.unpack_from("<III", data, place + 12)
                    return size(element) * count
                if kind in (INT, STRUCT, UNION, ENUM, ENUM64):
                    return number
                if kind == PTR:
                    return 8

        def members(place, base, into):
            info, = struct.unpack_from("<I", data, place + 4)
            for i in range(info & 0xffff):
                name, number, offset = struct.unpack_from("<III", data, place + 12 + 12 * i)
                bits = offset >> 24 if info >> 31 else 0
                offset = base + (offset & 0xffffff if info >> 31 else offset)
                if name:
                    into[text(name)] = offset, size(number), bits
                elif struct.unpack_from("<I", data, places[number] + 4)[0] >> 24 & 31 in (STRUCT, UNION):
                    members(places[number], offset, into)

        for name, place in found.items():
            members(place, 0, self.members.setdefault(name, {}))

    def member(self, kind, name):
        try:
            return self.members[kind][name]
        except KeyError:
            raise Failure(f"this kernel's struct {kind} has no {name}") from None

    def address(self, base, kind, name):
        return base + self.member(kind, name)[0] // 8

    def get(self, base, kind, name):
        offset, size, bits = self.member(kind, name)
        if bits:
            return self.number(base + offset // 8, (offset % 8 + bits + 7) // 8) >> offset % 8 & (1 << bits) - 1
        return self.number(base + offset // 8, size)

    def entries(self, head, kind=None, name=None, backwards=False):
        """The structures that are in a list."""
        link = self.member("list_head", "prev" if backwards else "next")[0] // 8
        inside = self.member(kind, name)[0] // 8
        at = self.number(head + link)
        while at != head:
            yield at - inside
            at = self.number(at + link)

    def modules_symbols(self):
        if "modules" not in self.symbols:
            return
        for module in self.entries(self.symbol("modules"), "module", "list"):
            table = self.get(module, "module", "kallsyms")
            # It was being loaded.
            if not table:
                continue
            name = self.read(self.address(module, "module", "name"), 56).split(b"\0")[0].decode()
            symbols, count, strings, types = (self.get(table, "mod_kallsyms", member)
                                              for member in ("symtab", "num_symtab", "strtab", "typetab"))
            for i in range(1, count):
                text, _, _, section, value, _ = struct.unpack("<IBBHQQ", self.read(symbols + 24 * i, 24))
                if section:
                    yield f"{value:016x} {chr(self.number(types + i, 1))} {self.string(strings + text)}\t[{name}]\n"

    def comms(self):
        saved = self.number(self.symbol("savedcmd"))
        if saved:
            pids = self.get(saved, "saved_cmdlines_buffer", "map_cmdline_to_pid")
            names = self.address(saved, "saved_cmdlines_buffer", "saved_cmdlines")
            for i in range(self.get(saved, "saved_cmdlines_buffer", "cmdline_num")):
                pid = self.number(pids + 4 * i, 4)
                name = self.read(names + TASK_COMM_LEN * i, TASK_COMM_LEN).split(b"\0")[0].decode(errors="replace")
                if name and pid != 0xffffffff:
                    yield f"{pid} {name}\n"

    def printk_formats(self):
        for section in ("trace_bprintk_fmt", "tracepoint_str"):
            at = self.symbols.get(f"__start___{section}", 0)
            while at < self.symbols.get(f"__stop___{section}", 0):
                text = self.number(at)
                said = self.string(text).replace("\n", "\\n").replace("\t", "\\t").replace('"', '\\"')
                yield f'{text:#x} : "{said}"\n'
                at += 8


class Trace:
    """The buffers of the crashed kernel, and the formats of its events."""

    def __init__(self, kernel):
        self.kernel = kernel
        k = kernel
        self.cpus = k.number(k.symbol("nr_cpu_ids"), 4) if "nr_cpu_ids" in k.symbols else 1
        self.buffers, self.order, self.cut = [], None, False
        # The top instance, which has no name, is the last one in the list.
        for array in k.entries(k.symbol("ftrace_trace_arrays"), "trace_array", "list", backwards=True):
            name = k.get(array, "trace_array", "name")
            buffer = k.get(k.address(array, "trace_array", "array_buffer"), "array_buffer", "buffer")
            name, order = k.string(name) if name else "", k.get(buffer, "trace_buffer", "subbuf_order")
            if self.order is None:
                self.order, self.clock = order, self.clock_of(array)
            if self.order == order:
                self.buffers.append((name, buffer))
            else:
                print(f"ftrace-vmcore: {name} is left out: its pages have another size", file=sys.stderr)
        self.size = PAGE << (self.order or 0)

    def clock_of(self, array):
        """A function, a name and an int are an entry of trace_clocks."""
        k = self.kernel
        return k.string(k.number(k.symbol("trace_clocks") + 24 * k.get(array, "trace_array", "clock_id") + 8))

    def pages(self, buffer, cpu):
        """What is in one CPU's ring, the oldest first."""
        k = self.kernel
        ring = k.number(k.get(buffer, "trace_buffer", "buffers") + 8 * cpu)
        if not ring:
            return
        reader, commit = (k.get(ring, "ring_buffer_per_cpu", name) for name in ("reader_page", "commit_page"))
        inside = k.member("buffer_page", "list")[0] // 8
        at = k.get(ring, "ring_buffer_per_cpu", "pages")
        heads, pages = {}, []
        for _ in range(k.get(ring, "ring_buffer_per_cpu", "nr_pages")):
            following = k.get(at, "list_head", "next")
            at = following & ~(HEAD | UPDATE)
            heads[following & (HEAD | UPDATE)] = len(pages)
            pages.append(at - inside)
        head = heads.get(HEAD, heads.get(UPDATE, 0))
        pages = pages[head:] + pages[:head]
        if reader == commit:
            pages = []
        elif commit in pages:
            pages = pages[:pages.index(commit) + 1]
        for page in [reader, *pages]:
            data = k.read(k.get(page, "buffer_page", "page"), self.size)
            length = struct.unpack_from(LONG, data, 8)[0] & ~MISSED
            read = k.get(page, "buffer_page", "read") if page == reader else 0
            if read:
                # The events that trace_pipe has shown are not there any more.
                stamp = k.get(ring, "ring_buffer_per_cpu", "read_stamp")
                length = max(length - read, 0)
                data = struct.pack("<QQ", stamp, length) + data[16 + read:16 + read + length]
                data = data.ljust(self.size, b"\0")
            if length:
                yield data

    def field(self, at):
        k = self.kernel
        name, kind = (k.string(k.get(at, "ftrace_event_field", member)) for member in ("name", "type"))
        offset, size, signed, count = (k.get(at, "ftrace_event_field", member)
                                       for member in ("offset", "size", "is_signed", "len"))
        if "[" in kind and not kind.startswith("__data_loc"):
            kind, array = kind.split("[", 1)
            name += f"[{count}]" if count else f"[{array}"
        return f"\tfield:{kind} {name};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"

    def fields(self, head):
        return "".join(map(self.field, self.kernel.entries(head, "ftrace_event_field", "link", backwards=True)))

    def formats(self):
        """{system: [the file format of each of its events]}."""
        k, found = self.kernel, {}
        common = self.fields(k.symbol("ftrace_common_fields"))
        kept = {}
        for call in k.entries(k.symbol("ftrace_events"), "trace_event_call", "list"):
            kind = k.get(call, "trace_event_call", "class")
            flags, name = k.get(call, "trace_event_call", "flags"), k.get(call, "trace_event_call", "name")
            if flags & k.flags["TRACEPOINT"] and not flags & k.flags["CUSTOM"]:
                name = k.get(name, "tracepoint", "name")
            head = k.address(kind, "trace_event_class", "fields")
            which = k.get(kind, "trace_event_class", "get_fields")
            if which and which == k.symbols.get("syscall_get_enter_fields"):
                head = k.address(k.get(call, "trace_event_call", "data"), "syscall_metadata", "enter_fields")
            if head not in kept:
                kept[head] = self.fields(head)
            number = k.get(k.address(call, "trace_event_call", "event"), "trace_event", "type")
            printed = k.get(call, "trace_event_call", "print_fmt")
            found.setdefault(k.string(k.get(kind, "trace_event_class", "system")), []).append(
                f"name: {k.string(name)}\nID: {number}\nformat:\n{common}\n{kept[head]}\nprint fmt: "
                f"{k.string(printed) if printed else ''}\n")
        return found

    def head(self):
        def sized(kind, text):
            data = text.encode(errors="replace")
            return struct.pack(kind, len(data)) + data

        def events(some):
            return struct.pack("<I", len(some)) + b"".join(sized(LONG, text) for text in some)

        k, formats = self.kernel, self.formats()
        ours = formats.pop("ftrace", [])
        return b"".join([
            b"\x17\x08\x44tracing6\0", struct.pack("<BBI", 0, 8, self.size),
            b"header_page\0", sized(LONG, HEADER_PAGE % (self.size - 16)), b"header_event\0", sized(LONG, HEADER_EVENT),
            events(ours), struct.pack("<I", len(formats)),
            *(system.encode() + b"\0" + events(some) for system, some in formats.items()),
            sized("<I", "".join([*k.kallsyms, *k.modules_symbols()])), sized("<I", "".join(k.printk_formats())),
            sized(LONG, "".join(k.comms())), struct.pack("<I", self.cpus)])

    def write_ring(self, out, name, buffer, cpu):
        """A ring in memory that the dump lacks, as reserved memory, ends there."""
        try:
            for page in self.pages(buffer, cpu):
                out.write(page)
        except Missing as e:
            print(f"ftrace-vmcore: the trace of CPU {cpu} of {name} is cut: {e}", file=sys.stderr)
            self.cut = True

    def write(self, path):
        """A file that is there stays until all is written."""
        path = os.path.realpath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise Failure(f"{path} is no file")
        part = f"{path}.{os.getpid()}"
        try:
            self.write_all(part)
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.unlink(part)

    def write_all(self, path):
        clock = f"[{self.clock}]".encode() + b"\0"
        options = [(TRACECMD_OPTION_TRACECLOCK, clock)]
        options += [(TRACECMD_OPTION_BUFFER, bytes(8) + name.encode() + b"\0") for name, _ in self.buffers if name]
        with open(path, "wb") as out:
            out.write(self.head() + b"options  \0")
            places = {}
            for number, data in options:
                out.write(struct.pack("<HI", number, len(data)))
                places[data[8:-1].decode()] = out.tell()
                out.write(data)
            out.write(struct.pack("<H", 0))
            for name, buffer in self.buffers:
                called = name or "the top instance"
                if name:
                    table = out.tell()
                    out.seek(places[name])
                    out.write(struct.pack(LONG, table))
                    out.seek(table)
                out.write(b"flyrecord\0")
                table, cpus = out.tell(), []
                out.write(bytes(16 * self.cpus))
                for cpu in range(self.cpus):
                    out.seek(-out.tell() % self.size, os.SEEK_CUR)
                    begin = out.tell()
                    self.write_ring(out, called, buffer, cpu)
                    cpus += [begin, out.tell() - begin]
                end = out.tell()
                out.seek(table)
                out.write(struct.pack(f"<{2 * self.cpus}Q", *cpus))
                out.seek(end)
                print(f"{called}: {sum(cpus[1::2]) // self.size} pages")
            # The last CPU may have none.
            out.truncate()


def main():
    p = argparse.ArgumentParser(description="Writes the trace in a crash dump to a file of trace-cmd's.")
    p.add_argument("-o", "--output", default="trace.dat", metavar="FILE", help="instead of trace.dat")
    p.add_argument("vmcore", metavar="VMCORE", help="of x86-64; ELF or makedumpfile's")
    args = p.parse_args()
    try:
        if os.path.exists(args.output) and os.path.samefile(args.output, args.vmcore):
            raise Failure(f"{args.output} is the dump")
        kernel = Kernel(args.vmcore)
        print(f"The trace of Linux {kernel.info['OSRELEASE']}:")
        trace = Trace(kernel)
        trace.write(args.output)
    except (Failure, OSError) as e:
        sys.exit(f"ftrace-vmcore: {e}")
    except (struct.error, zlib.error, ValueError, IndexError, OverflowError, MemoryError) as e:
        sys.exit(f"ftrace-vmcore: {args.vmcore} is damaged: {e}")
    sys.exit(trace.cut)


if __name__ == "__main__":
    main()
