# SPDX-License-Identifier: GPL-2.0
"""Modules that are no part of a kernel, built against one of the kernels under build/."""
import os
import shutil
from pathlib import Path

from . import HARNESS, JOBS, kernels, logged


def build(kernel, where, name, source=None):
    """WHERE/NAME, built against build/KERNEL unless neither that nor a source has changed since.
    Other modules of WHERE are built, too. The files of the directory source are copied there before."""
    if source:
        # A file keeps its time where it has not changed.
        shutil.copytree(source, where, dirs_exist_ok=True)
    ko = os.path.join(where, name)
    sources = [os.path.join(where, f) for f in os.listdir(where) if f in ("Kbuild", "Makefile") or f.endswith((".c", ".h"))
               and not f.endswith(".mod.c")]
    if os.path.exists(ko) and all(os.path.getmtime(ko) > os.path.getmtime(path)
                                  for path in [kernels.image(kernel), *sources]):
        return ko
    print(f"# building {name} against build/{kernel}", flush=True)
    # The types in a module's BTF count from those of the kernel's; make does not know of that.
    for old in Path(where).rglob("*.ko"):
        old.unlink()
    logged(f"{os.path.basename(where)}.log",
           ["make", "-C", kernels.directory(kernel), f"M={where}", f"CC={HARNESS}/cc", f"-j{JOBS}", "modules"])
    return ko
