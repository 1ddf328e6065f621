# SPDX-License-Identifier: GPL-2.0
"""Archives in cpio's newc format, the one that the kernel unpacks as initramfs.

Every entry is root's and dated 0, so that an unprivileged build gives the same bytes each time. One archive may be
appended to another: each is padded to four bytes, as the kernel asks between archives.
"""
import os
import stat


class Archive:
    """An archive being written to a binary stream; directories come by themselves."""

    def __init__(self, out):
        self.out, self.ino, self.seen = out, 0, set()

    def _entry(self, name, mode, data=b""):
        self.ino += 1
        raw = name.encode() + b"\0"
        fields = (self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + raw
        self.out.write(head + b"\0" * (-len(head) % 4))
        self.out.write(data + b"\0" * (-len(data) % 4))

    def directory(self, name, mode=0o755):
        name = name.strip("/")
        if not name or name in self.seen:
            return
        self.directory(os.path.dirname(name))
        self.seen.add(name)
        self._entry(name, stat.S_IFDIR | mode)

    def data(self, name, data, mode=0o644):
        name = name.strip("/")
        self.directory(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | mode, data)

    def symlink(self, name, target):
        name = name.strip("/")
        self.directory(os.path.dirname(name))
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def file(self, name, path, mode=0o444):
        with open(path, "rb") as f:
            self.data(name, f.read(), stat.S_IMODE(os.stat(path).st_mode) | mode)

    def tree(self, name, top, keep=lambda path: True):
        """Everything under the directory top, as name; keep() may leave files out."""
        for where, dirs, files in os.walk(top):
            dirs.sort()
            inside = os.path.normpath(os.path.join(name, os.path.relpath(where, top)))
            self.directory(inside)
            for f in sorted(files + [d for d in dirs if os.path.islink(os.path.join(where, d))]):
                path = os.path.join(where, f)
                if not keep(path):
                    continue
                if os.path.islink(path):
                    self.symlink(os.path.join(inside, f), os.readlink(path))
                elif os.path.isfile(path):
                    self.file(os.path.join(inside, f), path)

    def close(self):
        self._entry("TRAILER!!!", 0)
