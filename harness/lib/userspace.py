# SPDX-License-Identifier: GPL-2.0
"""The guest's user space, build/guest/initramfs.cpio, and the additions of some jobs.

The programs are Debian's own: each package below is copied from the running system
where it is installed, and fetched with apt-get download and unpacked where it is
not. Only the programs named and the libraries that ldd finds are taken. The archive
is not compressed: under an emulator unpacking costs more than loading. Additions and
jobs are appended to it as further archives by vm.py, so each is made once; it is
made again when this file, newc.py or guest-src/ change.

Other architectures, build/guest/MACHINE.cpio, have static programs of Debian's packages
for them, fetched with lists of packages of their own.

Additions, build/guest/NAME.cpio:
	kselftest   programs that some cases of the kernel's selftests call
	clients     trace-cmd, perf and bpftrace: the whole packages and all that they
	            depend on, as apt finds them, without documentation
"""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys

from . import GUEST, HARNESS, TOP, Failure, digest, files_below, machines, newc, source

IMAGE = os.path.join(GUEST, "initramfs.cpio")
PACKAGES_HERE = os.path.join(GUEST, "packages")

# package: the programs taken of it. busybox serves all others.
PACKAGES = {
    "busybox-static": "/bin/busybox",
    "bash": "/bin/bash",
    "dash": "/bin/dash",
    "coreutils": """/bin/cat /bin/chgrp /bin/chmod /bin/chown /bin/cp /bin/date /bin/dd /bin/echo
        /bin/ln /bin/ls /bin/mkdir /bin/mktemp /bin/mv /bin/rm /bin/rmdir /bin/sleep /bin/stty
        /bin/sync /bin/true /bin/false /bin/uname /usr/bin/basename /usr/bin/cut /usr/bin/dirname
        /usr/bin/env /usr/bin/expr /usr/bin/head /usr/bin/id /usr/bin/nproc /usr/bin/od
        /usr/bin/nice /usr/bin/printf /usr/bin/seq /usr/bin/sort /usr/bin/stat /usr/bin/tac /usr/bin/tail
        /usr/bin/tee /usr/bin/timeout /usr/bin/touch /usr/bin/tr /usr/bin/uniq
        /usr/bin/unlink /usr/bin/wc""",
    "grep": "/bin/grep",
    "sed": "/bin/sed",
    "mawk": "/usr/bin/mawk",
    "findutils": "/usr/bin/find /usr/bin/xargs",
    "diffutils": "/usr/bin/cmp /usr/bin/diff",
    "util-linux": "/bin/dmesg /usr/bin/chrt /usr/bin/taskset /usr/bin/setsid /usr/bin/unshare /bin/findmnt",
    "mount": "/bin/mount /bin/umount",
    "kmod": "/bin/kmod",
    "procps": "/sbin/sysctl",
    "iputils-ping": "/bin/ping",
    "bc": "/usr/bin/bc",
    "libc-bin": "/usr/bin/getconf",
}
# The additions, by file and by package. A directory is taken with all that it holds.
ADDED_FILES = {
    "kselftest": {
        "perl-base": "/usr/bin/perl /usr/lib/x86_64-linux-gnu/perl-base",
        "devscripts": "/usr/bin/checkbashisms",
        "gawk": "/usr/bin/gawk",
        "binutils": "/usr/bin/readelf",
        "util-linux": "/usr/bin/lscpu",
    },
}
ADDED_PACKAGES = {"clients": ["trace-cmd", "linux-perf", "bpftrace"]}
# Parts of whole packages that no program needs in order to run: documentation, and the script
# languages that perf can be extended in.
NOT_ADDED = re.compile(r"/(usr/)?(share/(?!terminfo)|lib/(python3|valgrind|perf-core)|lib/x86_64-linux-gnu/(perl|gconv))")

LINKS = {
    "/bin/sh": "dash", "/usr/bin/awk": "mawk",
    "/bin/stat": "../usr/bin/stat",     # livepatch's selftests ask for it there
    "/sbin/modprobe": "../bin/kmod", "/sbin/insmod": "../bin/kmod", "/sbin/rmmod": "../bin/kmod",
    "/sbin/lsmod": "../bin/kmod", "/sbin/modinfo": "../bin/kmod", "/sbin/depmod": "../bin/kmod",
}
ETC = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/:/bin/false\n"
                   "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "root:x:0:\ndaemon:x:1:\ntracing:x:100:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/root/.bashrc": "PS1='guest:\\w# '\n",
}
# Other architectures' user space: programs that need no library.
OTHER_PACKAGES = {"busybox-static": "/bin/busybox", "bash-static": "/bin/bash-static"}
OTHER_LINKS = {"/bin/sh": "busybox", "/bin/bash": "bash-static"}
# The source by which a suite is found that this system has not. One of several may be out of order.
OTHER_SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {} {} main\n"
HELPERS = ["mark", "bpf", "textbytes", "textpokes", "uring", "send", "fuzz", "pty", "loads", "threads"]


def fail(why, remedy):
    raise Failure(f"{why}; {remedy}")


def run(*cmd, **kw):
    return subprocess.run(cmd, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **kw).stdout


def installed(package):
    got = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return got.returncode == 0 and got.stdout == "install ok installed"


def place(package, version=""):
    """Where the files of a package are put that is not installed."""
    return os.path.join(PACKAGES_HERE, package + ("-" + re.sub(r"[^\w.]", "", version) if version else ""))


def unpacked(package, version=""):
    """A directory that holds the package's files, fetched unless it is there. version: a pattern."""
    top = place(package, version)
    if os.path.isdir(top):
        return top
    wanted = package + (f"={version}" if version else "")
    if os.environ.get("SETUP") == "no":
        fail(f"package {package} is not installed", f"install it, or run without SETUP=no to fetch it to {GUEST}")
    print(f"image: fetching package {wanted} (kept in build/guest/packages, not installed)")
    debs = os.path.join(PACKAGES_HERE, "debs")
    os.makedirs(debs, exist_ok=True)
    try:
        run("apt-get", "download", wanted, cwd=debs)
        deb = max((os.path.join(debs, d) for d in os.listdir(debs) if d.startswith(package + "_")),
                  key=os.path.getmtime)
        run("dpkg-deb", "-x", deb, top + ".part")
    except (subprocess.CalledProcessError, FileNotFoundError, ValueError) as e:
        fail(f"package {package} could not be fetched ({getattr(e, 'stderr', e)})",
             "run apt-get update, or install it")
    os.rename(top + ".part", top)
    return top


def in_root(root, path):
    """path under root, where /bin and /usr/bin may be one directory."""
    for p in (path, "/usr" + path, re.sub("^/usr", "", path)):
        full = os.path.join(root, p.lstrip("/"))
        if os.path.exists(full):
            return full
    fail(f"{path} is not in its package under {root}", "correct PACKAGES in harness/lib/userspace.py")


def library_packages(package):
    """The library packages that a fetched package asks for."""
    text = run("apt-cache", "depends", package)
    return re.findall(r"Depends: (lib[^\s:<>]+)", text)


def libraries(path, package, extra):
    """What ldd resolves for path: {name in the guest: file here}."""
    env = dict(os.environ, LD_LIBRARY_PATH=":".join(extra))
    got = subprocess.run(["ldd", path], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, env=env).stdout
    found = {}
    for line in got.splitlines():
        if "not found" in line:
            return None
        m = re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line)
        if m:
            name = m.group(1) or m.group(2)
            where = name if name.startswith("/") else "/lib/x86_64-linux-gnu/" + name
            found[where] = os.path.realpath(m.group(2))
    return found


def program(package, path):
    """One program and its libraries, from the system or from the fetched package."""
    if installed(package):
        full = in_root("/", path)
        return full, libraries(full, package, [])
    full, extra = in_root(unpacked(package), path), []
    libs = libraries(full, package, extra)
    if libs is None:
        for lib in library_packages(package):
            top = unpacked(lib)
            extra += [os.path.join(top, d) for d in ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")]
        libs = libraries(full, package, extra)
    if libs is None:
        fail(f"{path} of {package} lacks libraries", f"install {package}")
    return full, libs


def all_files(package, path):
    """path of a package and its libraries, as {name in the guest: file here}."""
    root = "/" if installed(package) else unpacked(package)
    full = in_root(root, path)
    if not os.path.isdir(full):
        full, libs = program(package, path)
        return {path: full, **libs}
    return {os.path.join(path, os.path.relpath(os.path.join(where, f), full)): os.path.join(where, f)
            for where, _, names in os.walk(full) for f in names if os.path.isfile(os.path.join(where, f))}


def closure(packages):
    """A directory with the files of packages and of all packages that they depend on."""
    top = os.path.join(PACKAGES_HERE, "+".join(packages))
    if os.path.isdir(top):
        return top
    if os.environ.get("SETUP") == "no":
        fail(f"packages {', '.join(packages)} are not in build/guest/packages", "run without SETUP=no to fetch them there")
    print(f"image: fetching packages {', '.join(packages)} and what they depend on, about 100 MB "
          "(kept in build/guest/packages, not installed)", flush=True)
    debs = top + ".debs"
    os.makedirs(os.path.join(debs, "partial"), exist_ok=True)
    status = os.path.join(debs, "status")
    with open(status, "w"):
        pass    # Nothing is installed in the guest yet.
    shutil.rmtree(top + ".part", ignore_errors=True)
    try:
        run("apt-get", "-o", f"Dir::State::status={status}", "-o", f"Dir::Cache::archives={debs}",
            "-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=", "-y", "--download-only",
            "--no-install-recommends", "install", *packages)
        for deb in sorted(d for d in os.listdir(debs) if d.endswith(".deb")):
            run("dpkg-deb", "-x", os.path.join(debs, deb), top + ".part")
    except (subprocess.CalledProcessError, FileNotFoundError) as e:
        fail(f"packages {', '.join(packages)} could not be fetched ({getattr(e, 'stderr', e)})", "run apt-get update")
    os.rename(top + ".part", top)
    shutil.rmtree(debs)
    return top


def stripped(path):
    """The file's bytes, without symbols."""
    tmp = os.path.join(GUEST, "strip.tmp")
    shutil.copyfile(path, tmp)
    subprocess.run(["strip", "-s", tmp], stderr=subprocess.DEVNULL)
    with open(tmp, "rb") as f:
        data = f.read()
    os.unlink(tmp)
    return data


def helper(name, machine=None):
    out = os.path.join(GUEST, name + (f".{machine}" if machine else ""))
    cc = machines.compiler(machine) if machine else os.environ.get("HOSTCC", "gcc")
    try:
        run(cc, "-O2", "-Wall", "-static", "-s", "-o", out, source(name + ".c"))
    except subprocess.CalledProcessError as e:
        fail(f"{name}.c does not compile: {e.stderr.strip()}", "install gcc and libc6-dev")
    return out


def collect():
    """{name in the guest: file here}, programs and libraries."""
    files = {}
    for n, (package, paths) in enumerate(PACKAGES.items(), 1):
        if sys.stderr.isatty():
            print(f"\rimage: package {n} of {len(PACKAGES)}: {package:20}", end="", flush=True)
        for path in paths.split():
            full, libs = program(package, path)
            files[path] = full
            files.update(libs)
    print(f"\rimage: {len(files)} programs and libraries of {len(PACKAGES)} packages")
    return files


def busybox_links(archive, have):
    names = run(in_root("/" if installed("busybox-static") else unpacked("busybox-static"),
                        "/bin/busybox"), "--list").split()
    for name in names:
        if name not in have:
            archive.symlink("/bin/" + name, "busybox")


def write(files):
    with open(IMAGE + ".part", "wb") as out:
        a = newc.Archive(out)
        # The guest's libraries lie where its programs look for them: /lib64 and /lib.
        for d in "proc sys dev tmp root job out etc usr/bin usr/sbin sbin lib/modules".split():
            a.directory(d, 0o1777 if d == "tmp" else 0o755)
        for name, path in sorted(files.items()):
            a.data(name, stripped(path), 0o755)
        for name, text in ETC.items():
            a.data(name, text.encode())
        for name, target in LINKS.items():
            a.symlink(name, target)
        for name in HELPERS:
            a.data("/usr/local/bin/" + name, stripped(helper(name)), 0o755)
        a.file("/init", source("init"), 0o755)
        have = {os.path.basename(p) for p in list(files) + list(LINKS)} | set(HELPERS)
        busybox_links(a, have)
        a.close()
    os.rename(IMAGE + ".part", IMAGE)


def debian_uris():
    """Where this system gets Debian's packages."""
    return sorted(set(run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages",
                          "Origin: Debian", "Label: Debian").split()))


def apt_of(machine):
    """Options of apt for another architecture's packages: this system's own stay as they are."""
    top, said = os.path.join(PACKAGES_HERE, machine), machines.said(machine)
    name = said.get("debian", machine)
    for where in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(top, where), exist_ok=True)
    options = {"APT::Architecture": name, "APT::Architectures": name, "Dir::State::lists": top + "/lists",
               "Dir::State::status": "/dev/null", "Dir::Cache": top, "Acquire::Languages": "none",
               "APT::Sandbox::User": ""}
    if "suites" in said:
        options |= {"Dir::Etc::sourcelist": top + "/sources.list", "Dir::Etc::sourceparts": "/dev/null"}
        with open(top + "/sources.list", "w") as f:
            f.writelines(OTHER_SOURCE.format(uri, suite) for uri in debian_uris() for suite in said["suites"].split())
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def other_packages(machine):
    """A directory with the files of OTHER_PACKAGES."""
    top = os.path.join(PACKAGES_HERE, machine, "root")
    if os.path.isdir(top):
        return top
    names = "packages " + ", ".join(OTHER_PACKAGES)
    if os.environ.get("SETUP") == "no":
        fail(f"{names} for {machine} are not in build/guest/packages", "run without SETUP=no to fetch them there")
    print(f"image: fetching {names} for {machine} (kept in build/guest/packages, not installed)", flush=True)
    apt, work = apt_of(machine), os.path.join(PACKAGES_HERE, machine, "work")
    for old in (work, top + ".part"):
        shutil.rmtree(old, ignore_errors=True)
    os.makedirs(work)
    try:
        # One source of several may be out of order, and not be the one that is needed.
        subprocess.run(["apt-get", *apt, "update"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("apt-get", *apt, "download", *OTHER_PACKAGES, cwd=work)
        for deb in os.listdir(work):
            run("dpkg-deb", "-x", os.path.join(work, deb), top + ".part")
    except (subprocess.CalledProcessError, FileNotFoundError) as e:
        fail(f"{names} for {machine} could not be fetched ({getattr(e, 'stderr', e)})",
             "see that the sources of apt have them")
    os.rename(top + ".part", top)
    return top


def other_names(busybox):
    """The names that a busybox goes by. It cannot be run here."""
    with open(busybox, "rb") as f:
        found = re.search(rb"\[\0\[\[\0(?:[\w.-]+\0)+", f.read())
    if not found:
        fail(f"{busybox} has no list of its names", "see what has become of it in this distribution")
    return found.group().decode().strip("\0").split("\0")


def write_other(machine, path):
    top, said = other_packages(machine), machines.said(machine)
    with open(path + ".part", "wb") as out:
        a = newc.Archive(out)
        for d in "proc sys dev tmp root job out etc bin usr/bin usr/sbin usr/local/bin sbin lib/modules".split():
            a.directory(d, 0o1777 if d == "tmp" else 0o755)
        for package_path in OTHER_PACKAGES.values():
            a.file(package_path, in_root(top, package_path), 0o755)
        for name, text in ETC.items():
            a.data(name, text.encode())
        links = OTHER_LINKS | {"/bin/sh": said["shell"]} if "shell" in said else OTHER_LINKS
        for name, target in links.items():
            a.symlink(name, target)
        for name in ("chrt", "mark", *said.get("helpers", "").split()):
            a.file("/usr/local/bin/" + name, helper(name, machine), 0o755)
        a.file("/init", source("init"), 0o755)
        for name in other_names(in_root(top, OTHER_PACKAGES["busybox-static"])):
            if "/bin/" + name not in (*OTHER_LINKS, *OTHER_PACKAGES.values()):
                a.symlink("/bin/" + name, "busybox")
        a.close()
    os.rename(path + ".part", path)


def write_addition(name, path):
    with open(path + ".part", "wb") as out:
        a = newc.Archive(out)
        for package, paths in ADDED_FILES.get(name, {}).items():
            for wanted in paths.split():
                for inside, full in sorted(all_files(package, wanted).items()):
                    a.file(inside, full)
        if name in ADDED_PACKAGES:
            top = closure(ADDED_PACKAGES[name])
            a.tree("/", top, lambda file: not NOT_ADDED.match(file[len(top):]))
        a.close()
    os.rename(path + ".part", path)


def make(path, write_it):
    stamp = path + ".inputs"
    now = digest(__file__, newc.__file__, *files_below(os.path.join(HARNESS, "guest-src")))
    if os.path.exists(path) and os.path.exists(stamp):
        with open(stamp) as f:
            if f.read() == now:
                return
    write_it()
    with open(stamp, "w") as f:
        f.write(now)
    print(f"image: {os.path.relpath(path, TOP)}, {os.path.getsize(path) / 1e6:.1f} MB")


def other_archives(machine):
    """The path of another architecture's user space, in a list."""
    os.makedirs(GUEST, exist_ok=True)
    path = os.path.join(GUEST, machine + ".cpio")
    with open(os.path.join(GUEST, "image.lock"), "w") as lock, contextlib.redirect_stdout(sys.stderr):
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(path, lambda: write_other(machine, path))
    return [path]


def archives(additions=()):
    """The paths of the user space and its additions, made first where missing or out of date."""
    os.makedirs(GUEST, exist_ok=True)
    paths = [IMAGE]
    with open(os.path.join(GUEST, "image.lock"), "w") as lock, contextlib.redirect_stdout(sys.stderr):
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(IMAGE, lambda: write(collect()))
        for name in additions:
            paths.append(os.path.join(GUEST, name + ".cpio"))
            make(paths[-1], lambda: write_addition(name, paths[-1]))
    return paths
