# SPDX-License-Identifier: GPL-2.0
"""The programs of tools/tracing, for guests."""
import os
import subprocess

from . import BUILD, Failure, userspace


def program(name):
    """[(name in the guest, path here)] of the program, built, and the libraries that it needs."""
    where = os.path.join(BUILD, name)
    os.makedirs(where, exist_ok=True)
    made = subprocess.run(["make", "-s", "-C", os.path.join(BUILD, "tree/tools/tracing", name), f"O={where}"],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode:
        raise Failure(f"{name} does not build: {made.stdout.strip()}")
    path = os.path.join(where, name)
    libraries = userspace.libraries(path)
    return [(f"/job/{name}", path), *((f"/job/{os.path.basename(library)}", at) for library, at in libraries.items())]
