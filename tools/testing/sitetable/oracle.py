# SPDX-License-Identifier: GPL-2.0
"""The changes that sitetable should have made to an object, from objdump -dr of the object
before, and those it made, from the object after. See oracle-objects."""
import collections
import re
import subprocess

from elf_reader import Elf, SHF_GROUP, SHT_GROUP, SHT_RELA, STB_LOCAL, STT_SECTION

NOP = {64: bytes.fromhex("0f1f440000"), 32: bytes.fromhex("3e8d742600")}
# By machine: the type of an entry's relocation (R_X86_64_PC32, R_386_PC32), and the name of the latter's section.
ENTRIES = {62: (2, ".rela"), 3: (2, ".rel")}
ENTRY_SIZE = 4
R_NONE = 0
TABLE = "__mcount_loc"

SECTION = re.compile(r"^Disassembly of section (.*):$")
CALL = re.compile(r"^ *([0-9a-f]+):\t.*\bcall.*\t[0-9a-f]+: R_\w+\t(?:__fentry__|_?mcount)(?:-0x4)?$")


def objdump_calls(path):
    """Multiset of (section's name, offset), as objdump -dr shows the calls."""
    out = subprocess.run(["objdump", "-drw", path], stdout=subprocess.PIPE, check=True,
                         text=True, errors="replace").stdout
    sites, section = collections.Counter(), None
    for line in out.split("\n"):
        if ": R_" in line:
            match = CALL.match(line)
            if match:
                sites[section, int(match.group(1), 16)] += 1
        elif line.startswith("Disassembly"):
            section = SECTION.match(line).group(1)
    return sites


def objdump_sites(path):
    """Those of them in code that is kept."""
    return collections.Counter({
        (section, at): times for (section, at), times in objdump_calls(path).items()
        if not section.startswith(".discard")})


def compiler_sites(elf):
    """The same from a table that the compiler made (gcc -mrecord-mcount)."""
    sites = collections.Counter()
    for sec in elf.rel_sections():
        if elf.sections[sec.sh_info].name == TABLE:
            for _, _, symbol, addend in elf.relocations(sec):
                sites[elf.sections[symbol.sec].name, symbol.value + addend] += 1
    return sites


def check_group(elf, table, rels, site_section, errors):
    grouped = bool(site_section.sh_flags & SHF_GROUP)
    if bool(table.sh_flags & SHF_GROUP) != grouped:
        errors.append("site in %s: table and section differ in SHF_GROUP" % site_section.name)
    if not grouped:
        return
    for group in (s for s in elf.sections if s.sh_type == SHT_GROUP):
        words = [elf.word(group.sh_offset + i, 4) for i in range(4, group.sh_size, 4)]
        if site_section.index in words:
            if table.index not in words or rels.index not in words:
                errors.append("group of %s: the table is no member" % site_section.name)
            return
    errors.append("section %s is in no group" % site_section.name)


def recorded_sites(elf, errors):
    """[(section's index, offset)] that our table names; complaints go to errors."""
    sites = []
    relocation, rel_name = ENTRIES[elf.e_machine]
    for rels in elf.rel_sections():
        table = elf.sections[rels.sh_info]
        if table.name != TABLE:
            continue
        if rels.name != rel_name + TABLE or (rels.sh_type == SHT_RELA) != (rel_name == ".rela"):
            errors.append("relocations are named %s, of type %d" % (rels.name, rels.sh_type))
        if table.sh_addralign != ENTRY_SIZE or table.sh_flags & ~SHF_GROUP != 2:
            errors.append("table's alignment or flags are wrong")
        mine, end = [], 0
        for offset, kind, symbol, addend in elf.relocations(rels):
            if kind != relocation or offset != end:
                errors.append("entry at %#x: type %d" % (offset, kind))
            if symbol.bind != STB_LOCAL or not symbol.sec:
                errors.append("entry at %#x refers to %s, not local" % (offset, symbol.name))
            end = offset + ENTRY_SIZE
            mine.append((symbol.sec, symbol.value + addend))
            check_group(elf, table, rels, elf.sections[symbol.sec], errors)
        if end != table.sh_size:
            errors.append("%d bytes for %d entries" % (table.sh_size, len(mine)))
        if mine != sorted(set(mine)):
            errors.append("entries out of order, or twice")
        sites += mine
    return sites


def symbol_key(elf, symbol):
    if symbol.type == STT_SECTION:
        return ("section", symbol.sec)
    return (symbol.name, symbol.sec, symbol.value)


def all_relocations(elf):
    """All relocations but the table's, however their symbols are numbered. One that
    does nothing has no addend: where that stands in the text, it is part of a NOP."""
    found = collections.Counter()
    for rels in elf.rel_sections():
        if elf.sections[rels.sh_info].name != TABLE:
            for offset, kind, symbol, addend in elf.relocations(rels):
                addend = addend if kind != R_NONE else 0
                found[rels.sh_info, offset, kind, symbol_key(elf, symbol), addend] += 1
    return found


def all_symbols(elf):
    return collections.Counter((s.name, s.sec, s.value, s.size, s.type, s.bind)
                               for s in elf.symbols if s.type != STT_SECTION)


def check_rest(before, after, sites, nop, errors):
    """Nothing but the sites' bytes may differ, and the types of their relocations."""
    count = len(before.sections)
    for old, new in zip(before.sections, after.sections[:count]):
        if (old.name, old.sh_type, old.sh_flags) != (new.name, new.sh_type, new.sh_flags):
            errors.append("section %d: %s became %s" % (old.index, old.name, new.name))
    if all_symbols(before) != all_symbols(after):
        errors.append("the symbols differ")
    want, have = collections.Counter(), all_relocations(after)
    disarmed = 0
    for (sec, offset, kind, symbol, addend), times in all_relocations(before).items():
        if nop and not sites.isdisjoint([(sec, offset - 1), (sec, offset - 2)]):
            disarmed += times
            kind, addend = R_NONE, 0
        want[sec, offset, kind, symbol, addend] += times
    for sec, offset, kind, symbol, _ in (want - have) + (have - want):
        errors.append("relocation in section %d at %#x (%s, type %d) differs" % (sec, offset, symbol, kind))
    if nop and disarmed != len(sites):
        errors.append("%d relocations for %d sites" % (disarmed, len(sites)))
    check_text(before, after, sites, nop, errors)


def check_text(before, after, sites, nop, errors):
    by_section = collections.defaultdict(list)
    for sec, offset in sites:
        by_section[sec].append(offset)
    for old in before.sections:
        if old.sh_type != 1:
            continue
        want = bytearray(before.content(old))
        for offset in by_section[old.index] if nop else []:
            long_call = want[offset] == 0xff
            want[offset:offset + 5] = NOP[before.bits]
            if long_call:
                want[offset + 5] = 0x90
        if want != after.content(after.sections[old.index]):
            errors.append("bytes of %s differ from what they should be" % old.name)


def compare(original, base, processed, nop=True):
    """Errors, and the number of sites. base is the file that sitetable was given: the
    original, or the original without the compiler's own table."""
    errors = []
    want = objdump_sites(original)
    before, after = Elf(base), Elf(processed)
    sites = recorded_sites(after, errors)
    have = collections.Counter((after.sections[sec].name, offset) for sec, offset in sites)
    for site in sorted((want - have).elements()):
        errors.append("%s+%#x: objdump shows a call, no entry names it" % site)
    for site in sorted((have - want).elements()):
        errors.append("%s+%#x: an entry, but objdump shows no call" % site)
    if sites:
        check_rest(before, after, set(sites), nop, errors)
    elif before.data != after.data:
        errors.append("no sites, but the file changed")
    return errors, len(sites)
