# SPDX-License-Identifier: GPL-2.0
"""Reads ELF files for the tests, with nothing but struct: the side that the tests compare
sitetable with must not come from the library that it uses itself.

Formats: System V ABI, Edition 4.1, chapter 4; gABI for extended numbering."""
import struct

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_GROUP, SHT_SYMTAB_SHNDX = 2, 4, 8, 9, 17, 18
SHF_ALLOC, SHF_EXECINSTR, SHF_GROUP = 2, 4, 0x200
STT_FUNC, STT_SECTION, STT_FILE = 2, 3, 4
STB_LOCAL, STB_WEAK = 0, 2
SHN_LORESERVE, SHN_XINDEX = 0xff00, 0xffff

EHDR_FIELDS = {
    64: [("e_type", 16, 2), ("e_machine", 18, 2), ("e_version", 20, 4), ("e_entry", 24, 8),
         ("e_phoff", 32, 8), ("e_shoff", 40, 8), ("e_flags", 48, 4), ("e_ehsize", 52, 2),
         ("e_phentsize", 54, 2), ("e_phnum", 56, 2), ("e_shentsize", 58, 2),
         ("e_shnum", 60, 2), ("e_shstrndx", 62, 2)],
    32: [("e_type", 16, 2), ("e_machine", 18, 2), ("e_version", 20, 4), ("e_entry", 24, 4),
         ("e_phoff", 28, 4), ("e_shoff", 32, 4), ("e_flags", 36, 4), ("e_ehsize", 40, 2),
         ("e_phentsize", 42, 2), ("e_phnum", 44, 2), ("e_shentsize", 46, 2),
         ("e_shnum", 48, 2), ("e_shstrndx", 50, 2)],
}
SHDR_FIELDS = {
    64: [("sh_name", 0, 4), ("sh_type", 4, 4), ("sh_flags", 8, 8), ("sh_addr", 16, 8),
         ("sh_offset", 24, 8), ("sh_size", 32, 8), ("sh_link", 40, 4), ("sh_info", 44, 4),
         ("sh_addralign", 48, 8), ("sh_entsize", 56, 8)],
    32: [("sh_name", 0, 4), ("sh_type", 4, 4), ("sh_flags", 8, 4), ("sh_addr", 12, 4),
         ("sh_offset", 16, 4), ("sh_size", 20, 4), ("sh_link", 24, 4), ("sh_info", 28, 4),
         ("sh_addralign", 32, 4), ("sh_entsize", 36, 4)],
}
CODE = {2: "H", 4: "I", 8: "Q"}


class Section:
    def __init__(self, index, header):
        self.index = index
        for (field, _, _), value in header:
            setattr(self, field, value)


class Symbol:
    """sec is a section's index, or 0 for a symbol that no section defines."""
    def __init__(self, index, name, info, sec, value, size):
        self.index, self.name, self.sec, self.value, self.size = index, name, sec, value, size
        self.type, self.bind = info & 15, info >> 4


class Elf:
    def __init__(self, path=None, data=None):
        if data is None:
            with open(path, "rb") as file:
                data = file.read()
        if data[:4] != b"\x7fELF":
            raise ValueError("%s: not ELF" % path)
        self.data, self.path = data, path
        self.bits = 64 if data[4] == 2 else 32
        self.order, self.order_name = (">", "big") if data[5] == 2 else ("<", "little")
        for field, offset, size in EHDR_FIELDS[self.bits]:
            setattr(self, field, self.word(offset, size))
        self._load_sections()
        self._load_symbols()

    def word(self, offset, size):
        return struct.unpack_from(self.order + CODE[size], self.data, offset)[0]

    def _header(self, index):
        at = self.e_shoff + index * self.e_shentsize
        return [(f, self.word(at + f[1], f[2])) for f in SHDR_FIELDS[self.bits]]

    def _load_sections(self):
        null = Section(0, self._header(0))
        count = self.e_shnum or null.sh_size
        names = null.sh_link if self.e_shstrndx == SHN_XINDEX else self.e_shstrndx
        self.sections = [Section(i, self._header(i)) for i in range(count)]
        base = self.sections[names].sh_offset
        for sec in self.sections:
            sec.name = self.string(base + sec.sh_name)

    def string(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode("latin-1")

    def content(self, sec):
        if sec.sh_type == SHT_NOBITS:
            return bytes(sec.sh_size)
        if sec.sh_offset + sec.sh_size > len(self.data):
            raise ValueError("%s: section %s outside of the file" % (self.path, sec.name))
        return self.data[sec.sh_offset:sec.sh_offset + sec.sh_size]

    def _load_symbols(self):
        self.symbols = []
        tables = [s for s in self.sections if s.sh_type == SHT_SYMTAB]
        if not tables:
            return
        strings = self.sections[tables[0].sh_link].sh_offset
        extended = [s for s in self.sections if s.sh_type == SHT_SYMTAB_SHNDX]
        form = "IBBHQQ" if self.bits == 64 else "IIIBBH"
        for i, row in enumerate(struct.iter_unpack(self.order + form, self.content(tables[0]))):
            if self.bits == 64:
                name, info, _, sec, value, size = row
            else:
                name, value, size, info, _, sec = row
            if sec == SHN_XINDEX and extended:
                sec = self.word(extended[0].sh_offset + 4 * i, 4)
            elif sec >= SHN_LORESERVE:
                sec = 0
            self.symbols.append(Symbol(i, self.string(strings + name), info, sec, value, size))

    def relocations(self, sec):
        """(offset, type, symbol, addend) of each; the addend of REL is read in place."""
        form = {(64, True): "QQq", (64, False): "QQ", (32, True): "IIi", (32, False): "II"}
        rela = sec.sh_type == SHT_RELA
        target = self.sections[sec.sh_info]
        for row in struct.iter_unpack(self.order + form[self.bits, rela], self.content(sec)):
            shift = 32 if self.bits == 64 else 8
            addend = struct.unpack_from(self.order + "i", self.data,
                                        target.sh_offset + row[0])[0] if not rela else row[2]
            yield (row[0], row[1] & ((1 << shift) - 1), self.symbols[row[1] >> shift], addend)

    def rel_sections(self):
        return [s for s in self.sections if s.sh_type in (SHT_REL, SHT_RELA)]

    def bytes_at(self, addr, count):
        for sec in self.sections:
            if sec.sh_flags & SHF_ALLOC and sec.sh_addr <= addr and \
               addr + count <= sec.sh_addr + sec.sh_size and sec.sh_type != SHT_NOBITS:
                at = sec.sh_offset + addr - sec.sh_addr
                return self.data[at:at + count]
        return None

    def symbol(self, name):
        found = [s for s in self.symbols if s.name == name]
        if len(found) != 1:
            raise ValueError("%s: %d symbols %s" % (self.path, len(found), name))
        return found[0]
