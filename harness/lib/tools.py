# SPDX-License-Identifier: GPL-2.0
"""The programs of tools/tracing for guests, and what their tests in tools/testing need there."""
import os

from . import BUILD, logged, modules, testing, userspace


def program(name):
    """[(name in the guest, path here)] of the program, built, the libraries that it needs, and its tests."""
    where = os.path.join(BUILD, name)
    os.makedirs(where, exist_ok=True)
    logged(f"{name}-build.log", ["make", "-s", "-C", os.path.join(BUILD, "tree/tools/tracing", name), f"O={where}"])
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
