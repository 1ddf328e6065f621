# SPDX-License-Identifier: GPL-2.0
"""Makes files as trace-cmd(1) records them: version 6, of x86, always the same for the same events."""
import re
import struct

PAGE = 4096
HEADER = 16
# Flags of a page's length: events were lost before it; how many stands behind its last event.
MISSED, MISSED_STORED = 1 << 31, 1 << 30
TIME_EXTEND = 30

HEADER_PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
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
COMMON = [("unsigned short common_type", 2, 0), ("unsigned char common_flags", 1, 0),
          ("unsigned char common_preempt_count", 1, 0), ("int common_pid", 4, 1)]
# The number of each event, and its format: fields with size and sign, and the text that is printed of it.
EVENTS = {
    "ftrace": {
        "function": (1, [("unsigned long ip", 8, 0), ("unsigned long parent_ip", 8, 0)],
                     '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip'),
        "funcgraph_entry": (11, [("unsigned long func", 8, 0), ("unsigned long depth", 8, 0),
                                 ("unsigned long args[]", 0, 0)],
                            '"--> %ps (%lu)", (void *)REC->func, REC->depth'),
        "funcgraph_exit": (10, [("unsigned long func", 8, 0), ("unsigned long retval", 8, 0),
                                ("unsigned int depth", 4, 0), ("unsigned int overrun", 4, 0),
                                ("unsigned long long calltime", 8, 0), ("unsigned long long rettime", 8, 0)],
                           '"<-- %ps (%u) (start: %llx  end: %llx) over: %u", (void *)REC->func, REC->depth, '
                           "REC->calltime, REC->rettime, REC->depth"),
    },
    "sched": {
        "sched_switch": (300, [("char prev_comm[16]", 16, 0), ("pid_t prev_pid", 4, 1), ("int prev_prio", 4, 1),
                               ("long prev_state", 8, 1), ("char next_comm[16]", 16, 0), ("pid_t next_pid", 4, 1),
                               ("int next_prio", 4, 1)],
                         '"prev_comm=%s prev_pid=%d ==> next_comm=%s next_pid=%d", REC->prev_comm, REC->prev_pid, '
                         "REC->next_comm, REC->next_pid"),
        "sched_waking": (301, [("char comm[16]", 16, 0), ("pid_t pid", 4, 1), ("int prio", 4, 1),
                               ("int target_cpu", 4, 1)],
                         '"comm=%s pid=%d", REC->comm, REC->pid'),
    },
    "task": {
        "task_newtask": (310, [("pid_t pid", 4, 1), ("char comm[16]", 16, 0), ("unsigned long clone_flags", 8, 0),
                               ("short oom_score_adj", 2, 1)],
                         '"pid=%d comm=%s", REC->pid, REC->comm'),
        "task_rename": (311, [("pid_t pid", 4, 1), ("char oldcomm[16]", 16, 0), ("char newcomm[16]", 16, 0),
                              ("short oom_score_adj", 2, 1)],
                        '"pid=%d oldcomm=%s newcomm=%s", REC->pid, REC->oldcomm, REC->newcomm'),
    },
    "test": {
        "said": (320, [("int n", 4, 1), ("__data_loc char[] text", 4, 0)], '"n=%d text=%s", REC->n, __get_str(text)'),
    },
}
NUMBER = {name: event[0] for system in EVENTS.values() for name, event in system.items()}


def format_text(name, number, fields, printed, long=8):
    lines, offset = [f"name: {name}", f"ID: {number}", "format:"], 0
    for some in COMMON, fields:
        for declared, size, signed in some:
            if re.match(r"(unsigned )?long (?!long)", declared):
                size = min(size, long)
            offset += -offset % (min(size, 8) if "[" not in declared and size else 1)
            lines.append(f"\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:{signed};")
            offset += size
        lines.append("")
    return "\n".join([*lines, f"print fmt: {printed}", ""]).encode()


class Trace:
    """Events are added in the order of their times on each CPU."""

    def __init__(self, cpus=1, clock="local", functions=(), comms=(), uname="Linux host 7.3.4 #1 SMP x86_64",
                 long=8):
        self.cpus, self.clock, self.uname = cpus, clock, uname
        text = 0xffffffff81000000 if long == 8 else 0xc1000000
        self.functions = {name: text + 64 * (i + 1) for i, name in enumerate(functions)}
        self.comms = dict(comms)
        # Bytes of a long of the kernel: entries and exits of functions know of 4.
        self.long = long
        self.events = {"": [[] for _ in range(cpus)]}
        # Events that no format describes: (file's formats) are those of EVENTS but for these.
        self.without = set()

    def add(self, cpu, ts, name, pid, data, missed=None, buffer=""):
        """missed: how many events were lost before this one; -1 if that is not known."""
        number = NUMBER.get(name, name)
        record = struct.pack("<HBBi", number, 0, 0, pid) + data
        self.events.setdefault(buffer, [[] for _ in range(self.cpus)])[cpu].append((ts, record, missed))

    def enter(self, cpu, ts, pid, function, depth, args=(), **more):
        longs = f"<{2 + len(args)}{'Q' if self.long == 8 else 'I'}"
        self.add(cpu, ts, "funcgraph_entry", pid, struct.pack(longs, self.functions[function], depth, *args), **more)

    def leave(self, cpu, ts, pid, function, depth, took, retval=0, **more):
        longs = "<QQIIQQ" if self.long == 8 else "<IIIIQQ"
        self.add(cpu, ts, "funcgraph_exit", pid, struct.pack(longs, self.functions[function],
                                                             retval % (1 << 8 * self.long), depth, 0,
                                                             (ts + 5 - took) % (1 << 64), ts + 5), **more)

    def switch(self, cpu, ts, prev, following, state=1, **more):
        """prev, following: (name, pid)."""
        self.add(cpu, ts, "sched_switch", prev[1], struct.pack("<16siiq16sii", prev[0], prev[1], 120, state,
                                                               following[0], following[1], 120), **more)

    def rename(self, cpu, ts, pid, old, new):
        self.add(cpu, ts, "task_rename", pid, struct.pack("<i16s16sh", pid, old, new, 0))

    def fork(self, cpu, ts, pid, child, comm, flags):
        # The long after the name is aligned.
        self.add(cpu, ts, "task_newtask", pid, struct.pack("<i16s4xQh", child, comm, flags, 0))

    def said(self, cpu, ts, pid, n, text, **more):
        data = text + b"\0"
        self.add(cpu, ts, "said", pid, struct.pack("<iI", n, len(data) << 16 | 16) + data, **more)

    @staticmethod
    def event_bytes(delta, record):
        record += b"\0" * (-len(record) % 4)
        if len(record) <= 28 * 4:
            head = struct.pack("<I", len(record) // 4 | delta << 5)
        else:
            head = struct.pack("<II", delta << 5, len(record) + 4)
        return head + record

    def pages(self, events):
        done, page, begin, last, missed = [], b"", 0, 0, None

        def finish():
            flags, behind = 0, b""
            if missed is not None:
                flags = MISSED
                if missed >= 0 and len(page) + 8 <= PAGE - HEADER:
                    flags, behind = MISSED | MISSED_STORED, struct.pack("<Q", missed)
            done.append((struct.pack("<QQ", begin, len(page) | flags) + page + behind).ljust(PAGE, b"\0"))

        for ts, record, lost in events:
            # A page has a time of its own.
            delta = ts - last if page and lost is None else 0
            extend = b"" if delta < 1 << 27 else struct.pack("<II", TIME_EXTEND | (delta & (1 << 27) - 1) << 5, delta >> 27)
            new = extend + self.event_bytes(0 if extend else delta, record)
            if not page or lost is not None or len(page) + len(new) > PAGE - HEADER - 8:
                if page:
                    finish()
                page, begin, missed = b"", ts, lost
                new = self.event_bytes(0, record)
            page += new
            last = ts
        if page:
            finish()
        return b"".join(done)

    def head(self):
        def sized(kind, data):
            return struct.pack(kind, len(data)) + data

        def formats(system):
            some = [(name, *e) for name, e in EVENTS[system].items() if name not in self.without]
            return struct.pack("<I", len(some)) + b"".join(sized("<Q", format_text(*e, self.long)) for e in some)

        others = [system for system in EVENTS if system != "ftrace"]
        symbols = "".join(f"{addr:x} T {name}\n" for name, addr in self.functions.items()).encode()
        comms = b"".join(b"%d %s\n" % (pid, comm) for pid, comm in self.comms.items())
        return b"".join([
            b"\x17\x08\x44tracing6\0", struct.pack("<BBI", 0, self.long, PAGE),
            b"header_page\0", sized("<Q", HEADER_PAGE.encode()), b"header_event\0", sized("<Q", HEADER_EVENT.encode()),
            formats("ftrace"), struct.pack("<I", len(others)),
            *(system.encode() + b"\0" + formats(system) for system in others),
            sized("<I", symbols), struct.pack("<I", 0), sized("<Q", comms), struct.pack("<I", self.cpus),
        ])

    def data(self):
        """The whole file."""
        named = [name for name in self.events if name]
        clock = f"[{self.clock}] global\0".encode()
        options = [(4, clock), (5, self.uname.encode() + b"\0")]
        # The places of the buffers' tables are not known before all is laid out: an empty one has the same size.
        head = self.head()
        size = len(head) + 10 + sum(6 + len(o) for _, o in options) + sum(6 + 8 + len(n) + 1 for n in named) + 2
        tables, at = {}, size + 10 + 16 * self.cpus
        chunks = []
        for name in ["", *named]:
            if name:
                at += -at % PAGE
                tables[name] = at
                at += 10 + 16 * self.cpus
            places = []
            for events in self.events[name]:
                pages = self.pages(events)
                at += -at % PAGE
                places.append((at, len(pages)))
                chunks.append((at, pages))
                at += len(pages)
            table = b"flyrecord\0" + b"".join(struct.pack("<QQ", *p) for p in places)
            chunks.append((tables.get(name, size), table))
        options += [(3, struct.pack("<Q", tables[name]) + name.encode() + b"\0") for name in named]
        out = bytearray(max([at for _, data in chunks for at in [_ + len(data)]] + [size]))
        head += b"options  \0" + b"".join(struct.pack("<HI", o, len(d)) + d for o, d in options) + struct.pack("<H", 0)
        out[:len(head)] = head
        for place, data in chunks:
            out[place:place + len(data)] = data
        return bytes(out)

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.data())
