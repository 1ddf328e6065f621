# SPDX-License-Identifier: GPL-2.0
"""The kernels under build/. Each has one name: "make NAME" builds build/NAME, and --kernel NAME boots it."""
import os
import subprocess

from . import BUILD, HARNESS, Failure, machines

PROGRAM = os.path.join(HARNESS, "kernel")


def image(kernel):
    """The file that boots of build/KERNEL, or of a build directory or image given by path."""
    for path in (os.path.join(BUILD, kernel), kernel):
        if not os.path.isfile(path):
            path = os.path.join(path, machines.image(machines.of(path)))
        if os.path.isfile(path):
            return os.path.realpath(path)
    names = subprocess.run([PROGRAM, "--list"], text=True, stdout=subprocess.PIPE, check=True).stdout.split()
    raise Failure(f"kernel '{kernel}' is not built: run make {kernel} first" if kernel in names else
                  f"there is no kernel '{kernel}': give a build directory, or one of {' '.join(names)}")


def directory(kernel):
    """The build's directory; an image by itself has no directory, and is given back."""
    path = image(kernel)
    for where in (os.path.join(BUILD, kernel), kernel):
        if os.path.isdir(where):
            return os.path.realpath(where)
    return path.removesuffix("/" + machines.IMAGE)


def machine(kernel):
    """The machine that it is for; of an image by itself, a PC."""
    return machines.of(directory(kernel))


def file(kernel, name):
    """A file of the build, which must be there."""
    path = os.path.join(directory(kernel), name)
    if not os.path.exists(path):
        raise Failure(f"{path} is missing: build the kernel again")
    return path


def is_ours(kernel):
    return not kernel.startswith("stock")


def short_name(kernel):
    return os.path.basename(os.path.normpath(kernel))


def modules(kernel):
    """lib/modules of the kernel as installed by its build, or None."""
    path = os.path.join(directory(kernel), "modules/lib/modules")
    return path if os.path.isdir(path) else None


def has(kernel, symbol):
    """Whether CONFIG_SYMBOL is built in."""
    with open(file(kernel, ".config")) as f:
        return f"CONFIG_{symbol}=y\n" in f


def functions(path):
    """[(address, name)] of a System.map."""
    with open(path) as f:
        rows = (line.split()[:3] for line in f)
        return [(int(addr, 16), name) for addr, kind, name in rows if kind in "tTwW"]


def addresses(kernel):
    """{function: address} of the kernel's own functions, without KASLR."""
    found = {}
    for addr, name in functions(file(kernel, "System.map")):
        found.setdefault(name, addr)
    return found


def build(kernel):
    """Whether it builds, and the last lines of the output."""
    got = subprocess.run([PROGRAM, kernel], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return got.returncode == 0, got.stdout.splitlines()[-20:]
