# SPDX-License-Identifier: GPL-2.0
"""The guest's user space, build/guest/initramfs.cpio, and the additions of some jobs, build/guest/NAME.cpio.

The programs are Debian's own, copied from this system with the libraries that ldd finds; harness/setup installs
those that it lacks. The archive is not compressed: under an emulator unpacking costs more than loading. Additions and
jobs are appended to it as further archives by vm.py, so each is made once; it is made again when this file, newc.py or
guest-src/ change.

Other architectures, build/guest/MACHINE.cpio, have static programs of Debian's packages for them, which mmdebstrap
fetches.
"""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import GUEST, HARNESS, TOP, Failure, digest, files_below, logged, machines, newc, source, testing

IMAGE = os.path.join(GUEST, "initramfs.cpio")
WHERE = "/usr/sbin:/usr/bin:/sbin:/bin"
# busybox serves all others.
PROGRAMS = """busybox bash dash mawk cat chgrp chmod chown cp date dd echo ln ls mkdir mktemp mv rm rmdir sleep stty sync
    true false uname basename cut dirname env expr head id nproc od nice printf seq sort stat tac tail tee timeout touch
    tr uniq unlink wc grep sed find xargs cmp diff dmesg chrt taskset setsid unshare findmnt script mount umount kmod
    sysctl bc getconf pv perl /usr/lib/x86_64-linux-gnu/perl-base"""
# By the addition; a directory is taken with all that it holds.
ADDITIONS = {
    "kselftest": "checkbashisms gawk readelf lscpu",
    "clients": "trace-cmd perf bpftrace /usr/lib/x86_64-linux-gnu/traceevent /lib/terminfo",
}
LINKS = {"sh": "dash", "awk": "mawk"} | dict.fromkeys("modprobe insmod rmmod lsmod modinfo depmod".split(), "kmod")
ETC = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/:/bin/false\n"
                   "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "root:x:0:\ndaemon:x:1:\ntracing:x:100:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/root/.bashrc": "PS1='guest:\\w# '\n",
}
# Other architectures' user space: programs that need no library, and their packages.
OTHER_PROGRAMS = {"busybox": "busybox-static", "bash-static": "bash-static"}
OTHER_LINKS = {"sh": "busybox", "bash": "bash-static"}
HELPERS = ["mark", "uring", "send", "threads"]
LIBRARIES = {"uring": ["-luring"]}
MARK = [source("mark.c"), testing("ftrace-overhead/loads.h")]


def output(*cmd, **kw):
    return subprocess.run(cmd, check=True, text=True, stdout=subprocess.PIPE, **kw).stdout


def libraries(path):
    """What ldd resolves for path: {name in the guest: file here}."""
    got = subprocess.run(["ldd", path], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    if "not found" in got:
        raise Failure(f"{path} lacks libraries: {got}")
    found = re.findall(r"^\s*(?:(\S+) => )?(/\S+) \(0x", got, re.M)
    return {os.path.join("/lib/x86_64-linux-gnu", name or at): os.path.realpath(at) for name, at in found}


def files(words):
    """{name in the guest: file here}, programs with their libraries and directories."""
    found = {}
    for word in words.split():
        if word.startswith("/"):
            found |= {path: path for path in files_below(word)}
        elif path := shutil.which(word, path=WHERE):
            found |= {f"/bin/{word}": os.path.realpath(path), **libraries(path)}
        else:
            raise Failure(f"the program {word} is not here: run harness/setup guest clients selftests")
    return found


def helper(name, machine=None):
    out = os.path.join(GUEST, name + (f".{machine}" if machine else ""))
    cc = machines.compiler(machine) if machine else os.environ.get("HOSTCC", "gcc")
    ours = {"load": "ftrace-overhead/load.c", "calls": "ftrace-bench/calls.c", "threads": "selftests/ftrace/threads.c"}
    path = testing(ours[name]) if name in ours else source(name + ".c")
    try:
        output(cc, "-O2", "-Wall", "-static", "-s", "-o", out, path, *LIBRARIES.get(name, ()))
    except subprocess.CalledProcessError:
        raise Failure(f"{name}.c does not compile: run harness/setup guest")
    return out


def write(path, programs, links, helpers, machine=None):
    """busybox makes links for its other names itself, in init."""
    with open(path, "wb") as out:
        a = newc.Archive(out)
        for d in "proc sys dev tmp root job out etc bin usr/local/bin lib/modules".split():
            a.directory(d, 0o1777 if d == "tmp" else 0o755)
        for name, here in sorted(programs.items()):
            a.file(name, here, 0o755)
        for name, text in ETC.items():
            a.data(name, text.encode())
        for name, target in links.items():
            a.symlink("/bin/" + name, target)
        for name in "sbin usr/bin usr/sbin".split():
            a.symlink(name, "/bin")
        for name in helpers:
            a.file("/usr/local/bin/" + name, helper(name, machine), 0o755)
        a.file("/init", source("init"), 0o755)
        a.close()


def write_addition(path, words):
    with open(path, "wb") as out:
        a = newc.Archive(out)
        for name, here in sorted(files(words).items()):
            a.file(name, here)
        a.close()


def debian_sources(suites=()):
    """(codename of this system, lines for mmdebstrap: where this system gets Debian's packages, of suites or of that)."""
    codename = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.M)
    uris = sorted(set(output("apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages",
                             "Origin: Debian", "Label: Debian").split()))
    if not codename or not uris:
        raise Failure("the sources of packages here are not Debian's: the guest is made of those")
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    signed = f"[signed-by={key}] " if os.path.exists(key) else ""
    return codename.group(1), [f"deb {signed}{uris[0]} {suite} main" for suite in suites or [codename.group(1)]]


def write_other(path, machine):
    said = machines.said(machine)
    codename, sources = debian_sources(said.get("suites", "").split())
    print(f"image: fetching {', '.join(OTHER_PROGRAMS.values())} for {machine} (not installed)", flush=True)
    with tempfile.TemporaryDirectory(dir=GUEST) as top:
        logged(f"image-{machine}.log",
               ["mmdebstrap", "--variant=extract", f"--architectures={said.get('debian', machine)}",
                "--include=" + ",".join(OTHER_PROGRAMS.values()), codename, top + "/root", *sources])
        found = {os.path.basename(p): p for p in files_below(top + "/root") if "/bin/" in p}
        write(path, {f"/bin/{name}": found[name] for name in OTHER_PROGRAMS},
              OTHER_LINKS | ({"sh": said["shell"]} if "shell" in said else {}),
              ["chrt", "mark", *said.get("helpers", "").split()], machine)


def made(path, write_it, *words, inputs=()):
    """path, made first where it is missing or out of date: where one of the files has changed, of these or the usual."""
    os.makedirs(GUEST, exist_ok=True)
    inputs = inputs or (__file__, newc.__file__, *MARK, testing("selftests/ftrace/threads.c"),
                        *files_below(os.path.join(HARNESS, "guest-src")))
    with open(path + ".lock", "w") as lock, contextlib.redirect_stdout(sys.stderr):
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = path + ".inputs"
        now = digest(*inputs)
        if os.path.exists(path) and os.path.exists(stamp):
            with open(stamp) as f:
                if f.read() == now:
                    return path
        write_it(path + ".part", *words)
        os.rename(path + ".part", path)
        Path(stamp).write_text(now)
        print(f"image: {os.path.relpath(path, TOP)}, {os.stat(path).st_blocks / 2048:.1f} MB")
    return path


def archives(additions=(), machine=machines.PC):
    """The paths of the user space and its additions, which other architectures than this have not."""
    if machine != machines.PC:
        return [made(os.path.join(GUEST, machine + ".cpio"), write_other, machine)]
    return [made(IMAGE, lambda path: write(path, files(PROGRAMS) | {"/usr/local/bin/bpf": source("bpf")}, LINKS, HELPERS)),
            *(made(os.path.join(GUEST, name + ".cpio"), write_addition, ADDITIONS[name]) for name in additions)]
