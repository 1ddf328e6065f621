# SPDX-License-Identifier: GPL-2.0
"""Tests of image mode on small linked images with the kernel's section layout."""
import filecmp
import os
import shutil
import subprocess

from elf_reader import Elf

SCRIPT = """
SECTIONS {
	. = 0xffffffff81000000;
	_text = .;
	.text : { *(.text .text.*) }
	.rodata : { *(.rodata*) }
	.data : { *(.data) }
	.init.data : {
		. = ALIGN(8);
		__start_mcount_loc = .;
		KEEP(*(__mcount_loc))
		__stop_mcount_loc = .;
		*(.init.data)
	}
	.init.text : { *(.init.text) }
	.bss : { *(.bss) }
	/DISCARD/ : { *(.comment) *(.note*) *(.eh_frame) *(.exit.text) }
}
"""
ONE = """
int strong(int); int overridden(int);
unsigned int ftrace_image_sites[4] __attribute__((section(".init.data"), used)) = { 0 };
int data_here = 1;
__attribute__((section(".init.text"))) int early(int x) { return x + 1; }
static __attribute__((noinline)) int quiet(int x) { return strong(x) * 3; }
__attribute__((weak)) int overridden(int x) { return quiet(x) + 5; }
__attribute__((weak)) int kept_weak(int x) { return x - 9; }
int first(int x) { return quiet(x) + kept_weak(x); }
__attribute__((alias("first"))) int first_alias(int x);
"""
TWO = """
int overridden(int x) { return x; }
int strong(int x) { return overridden(x) + 2; }
static __attribute__((noinline)) int quiet(int x) { return strong(x) * 4; }
int second(int x) { return quiet(x); }
"""
TARGET = """
	.text
	.globl __fentry__
	.type __fentry__,@function
__fentry__: ret
	.size __fentry__,.-__fentry__
"""
EXPECTED = ["early", "first", "kept_weak", "overridden", "quiet", "quiet", "second", "strong"]
FLAGS = "-pg -mfentry -fno-pic -mcmodel=kernel -fno-asynchronous-unwind-tables "


def link(suite, objects, name, *options):
    script, image = suite.path("image.lds"), suite.path(name)
    with open(script, "w") as file:
        file.write(SCRIPT)
    subprocess.run(["ld", "--emit-relocs", "-z", "max-page-size=4096", *options, "-T", script,
                    "-o", image, *objects], check=True, stderr=subprocess.PIPE)
    return image


def build(suite, name, flags="", nop=("--nop",), extra="", order=1, options=()):
    """An image of the sources above, with additional assembler in front."""
    target = suite.compile(suite.cc, "", TARGET + extra, name + "-t.o", "assembler")
    objects = []
    for i, source in enumerate((ONE, TWO)):
        path = suite.compile(suite.cc, FLAGS + flags, source, "%s-%d.o" % (name, i))
        work, errors = suite.record(path, *nop)
        if errors:
            raise ValueError(errors)
        objects.append(work)
    return link(suite, [target] + objects[::order], name, *options)


def site_names(elf, site):
    """Names of the functions whose head the site is, the ENDBR64 left aside."""
    starts = [site]
    if elf.bytes_at(site - 4, 4) == bytes.fromhex("f30f1efa"):
        starts.append(site - 4)
    return sorted(s.name for s in elf.symbols if s.type == 2 and s.size and s.value in starts)


def check_table(path, dropped, expected=None):
    elf, errors = Elf(path), []
    text, info = elf.symbol("_text").value, elf.symbol("ftrace_image_sites")
    start, stop = (elf.symbol("__%s_mcount_loc" % n).value for n in ("start", "stop"))
    words = [int.from_bytes(elf.bytes_at(a, 4), "little") for a in range(start, stop, 4)]
    head = [int.from_bytes(elf.bytes_at(info.value + i, 4), "little") for i in range(0, 16, 4)]
    used, rest = words[:head[1]], words[head[1]:]
    if head[0] != 1 or head[2] != dropped or head[3]:
        errors.append("ftrace_image_sites = %s, expected %d dropped" % (head, dropped))
    if any(rest) or len(rest) != dropped or used != sorted(set(used)):
        errors.append("table: %s" % [hex(w) for w in words])
    names = sorted(name for offset in used for name in site_names(elf, text + offset)[:1])
    if names != (expected or EXPECTED):
        errors.append("sites of %s" % names)
    return errors


def check_image(suite, path, dropped, expected=None):
    before, done = os.stat(path), path + ".done"
    shutil.copy(path, done)
    os.chmod(done, 0o751)
    run = suite.run("--image", done)
    if run.returncode or run.stderr:
        return ["exit %d: %s" % (run.returncode, run.stderr)]
    errors = check_table(done, dropped, expected)
    stat = os.stat(done)
    if stat.st_mode & 0o7777 != 0o751 or stat.st_size != before.st_size:
        errors.append("mode %o, size %d" % (stat.st_mode, stat.st_size))
    listed = suite.run("--list", done).stdout.split()
    if len(listed) != len(expected or EXPECTED):
        errors.append("--list: %s" % listed)
    again = suite.run("--image", done)
    if again.returncode or again.stderr or os.stat(done).st_ino != stat.st_ino:
        errors.append("a second run is not a silent nothing: " + again.stderr)
    return errors


def check_refused(suite, path, *messages):
    work = path + ".work"
    shutil.copy(path, work)
    run = suite.run("--image", work)
    errors = ["message lacks '%s': %s" % (m, run.stderr) for m in messages if m not in run.stderr]
    if run.returncode != 1 or run.stderr.count("\n") != 1 or \
       not run.stderr.startswith("sitetable: %s: " % work):
        errors.append("exit %d: %s" % (run.returncode, run.stderr))
    if not filecmp.cmp(path, work, shallow=False):
        errors.append("the file changed")
    return errors


def patched(path, addr, new, name):
    """A copy of the image with other bytes at an address."""
    elf, work = Elf(path), path + "." + name
    data = bytearray(elf.data)
    for sec in elf.sections:
        if sec.sh_flags & 2 and sec.sh_addr <= addr < sec.sh_addr + sec.sh_size:
            at = sec.sh_offset + addr - sec.sh_addr
            data[at:at + len(new)] = new
    with open(work, "wb") as file:
        file.write(data)
    return work


def entry(where):
    return '\t.section __mcount_loc,"a"\n\t.long %s\n' % where


def run(suite):
    plain = build(suite, "image")
    suite.report("image: an overridden weak function's site is dropped",
                 check_image(suite, plain, 1))
    for name, flags, nop in (("endbr", "-fcf-protection=branch", ("--nop",)),
                             ("calls", "", ()), ("sections", "-ffunction-sections", ("--nop",)),
                             ("padding", "-fpatchable-function-entry=0 -falign-functions=32",
                              ("--nop",))):
        image = build(suite, "image-" + name, flags, nop)
        suite.report("image: " + name, check_image(suite, image, 1))
    image = build(suite, "image-order", order=-1)
    suite.report("image: objects in the other order", check_image(suite, image, 1))
    image = build(suite, "image-pie", "-fPIE -mcmodel=small",
                  options=("-pie", "--no-dynamic-linker"))
    suite.report("image: position-independent", check_image(suite, image, 1))
    refusals(suite)
    damage(suite, plain)
    suite.report("oracle-image: agrees, and notices a lost site", check_oracle(suite, plain))


def check_oracle(suite, plain):
    """Against a stock-like image, whose table the compiler made."""
    oracle = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oracle-image")
    stock = build(suite, "image-stock", "-mrecord-mcount", ())
    runs, done = [], plain + ".done"
    shutil.copy(plain, done)
    suite.run("--image", done)
    info = Elf(done).symbol("ftrace_image_sites").value
    nr = len(EXPECTED)
    lost = patched(done, info + 4, bytes([nr - 1, 0, 0, 0, 2]), "lost")
    for image in (done, lost):
        runs.append(subprocess.run([oracle, stock, image], stdout=subprocess.PIPE, text=True))
    if [r.returncode for r in runs] != [0, 1] or "UNEXPLAINED" not in runs[1].stdout:
        return [line for r in runs for line in r.stdout.splitlines()]
    return []


def refusals(suite):
    site = "%s - ."
    cases = [
        ("a site twice", site % "first", ("recorded twice", "first")),
        ("a site in the middle of a function", site % "first+1",
         ("not at the head", "first+0x1")),
        ("a site in data", site % "data_here", ("not in executable code", ".data")),
        ("a site outside of the image", site % "0x10000000+first", ("outside of the image",)),
    ]
    for name, where, messages in cases:
        image = build(suite, "image-refused", extra=entry(where))
        suite.report("image: %s is refused" % name, check_refused(suite, image, *messages))
    image = build(suite, "image-zero", extra=entry("0") + entry("0x10 - ."))
    suite.report("image: entries of discarded sections are dropped", check_image(suite, image, 3))
    shifted = "\t.text\n\t.globl odd\n\t.type odd,@function\nodd: nop\n\tcall __fentry__\n" \
              "\tret\n\t.size odd,.-odd\n"
    image = build(suite, "image-odd", extra=shifted + entry("odd + 1 - ."))
    suite.report("image: a site after another instruction is refused",
                 check_refused(suite, image, "odd+0x1"))


def damage(suite, plain):
    elf = Elf(plain)
    first, info = elf.symbol("first").value, elf.symbol("ftrace_image_sites").value
    broken = patched(plain, first, b"\xcc", "bytes")
    suite.report("image: altered bytes are refused",
                 check_refused(suite, broken, "first+0x0", "found cc 1f 44 00 00",
                               "expected 0f 1f 44 00 00", hex(first)))
    broken = patched(plain, info, b"\x07", "version")
    suite.report("image: an unknown version is refused",
                 check_refused(suite, broken, "ftrace_image_sites"))
    for name in ("_text", "__start_mcount_loc", "__stop_mcount_loc", "ftrace_image_sites"):
        work = plain + ".symbol"
        subprocess.run(["objcopy", "--redefine-sym", name + "=renamed", plain, work], check=True)
        suite.report("image: no symbol " + name, check_refused(suite, work, name))
    work = plain + ".stripped"
    subprocess.run(["strip", "-o", work, plain], check=True)
    suite.report("image: no symbol table", check_refused(suite, work, ".symtab"))
    errors = []
    for length in range(0, len(elf.data), len(elf.data) // 40):
        with open(plain + ".short", "wb") as file:
            file.write(elf.data[:length])
        errors += check_refused(suite, plain + ".short")
    suite.report("image: truncated", errors)
    work = suite.path("image-0.o.new")
    suite.report("image: an object is refused", check_refused(suite, work, "not a linked image"))
