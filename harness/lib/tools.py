# SPDX-License-Identifier: GPL-2.0
"""The programs of tools/tracing for guests, and what their tests in tools/testing need there."""
import os
import subprocess

from . import BUILD, Failure, modules, testing, userspace

DISK_SIZE = 4 << 20


def program(name):
    """[(name in the guest, path here)] of the program, built, the libraries that it needs, and its tests."""
    where = os.path.join(BUILD, name)
    os.makedirs(where, exist_ok=True)
    made = subprocess.run(["make", "-s", "-C", os.path.join(BUILD, "tree/tools/tracing", name), f"O={where}"],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode:
        raise Failure(f"{name} does not build: {made.stdout.strip()}")
    path = os.path.join(where, name)
    return [(f"/job/{name}", path),
            *((f"/job/{os.path.basename(library)}", at) for library, at in userspace.libraries(path).items()),
            *((f"/job/testing/{tests}", testing(tests)) for tests in ("tracing-tools", name))]


def culprits(kernel):
    """For live-bisect.sh: the module with its culprits."""
    where = os.path.join(BUILD, "bisect", kernel.replace("/", "-"))
    name = "bisect_planted.ko"
    source = testing("ftrace-overhead/planted")
    return [(f"/job/testing/ftrace-overhead/planted/{name}", modules.build(kernel, where, name, source))]


def disk(name):
    """An empty file, which is a disk of the guest."""
    path = os.path.join(BUILD, "bisect", name)
    with open(path, "wb") as f:
        f.truncate(DISK_SIZE)
    return path
