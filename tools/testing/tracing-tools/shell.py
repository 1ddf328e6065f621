#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests a program of tools/tracing as a shell has it: shell.py PROGRAM. Its messages begin with its
name, and bash completes its words. Each test is a line "ok - ..." or "not ok - ..."; the last line
is "N passed, N failed"."""
import os
import re
import subprocess
import sys
import tempfile

from results import closing, same

TRACING = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tracing")
# In place of the kernel's.
FILES = {"proc/modules": "xfs 1 0\nx$(>expanded) 1 0\n", "proc/123/comm": "cat\n",
         "tracing/available_filter_functions":
             "vfs_read\nvfs_write\nxfs_read [xfs]\nvfs_r$(>expanded)\nxfs_r$(>expanded) [xfs]\n",
         "tracing/instances/mine/trace": "", "tracing/instances/a b/trace": "",
         "tracing/instances/$(touch expanded)/trace": "", "file": "", "one file": ""}
# The words that choose a mode; the text that is typed before a tab, and the words that it becomes, with @ for the blanks
# in them, or None if its quotes stay open.
MODES = {"funccount": [""], "ftrace-overhead": ["", "bisect", "hooks"], "ftrace-export": [""]}
TYPED = {
    "funccount": {
        "--module=x": "--module=xfs", "--module=": "--module=xfs", "--module x": "--module xfs",
        "-m x": "-m xfs", "--pid=1": "--pid=123", "--save=fi": "--save=file",
        "--diff=on": "--diff=one@file",
        "vfs_r": "vfs_read", "'vfs_r": "vfs_read", '-L "vfs_w': "-L vfs_write",
    },
    "ftrace-overhead": {
        "bi": "bisect", "bisect --functions=vfs_r": "bisect --functions=vfs_read",
        "bisect -f 'vfs_r": "bisect -f vfs_read",
        "bisect --notrace='xfs_": "bisect --notrace=xfs_read",
        "bisect --tracer=function_": "bisect --tracer=function_graph",
        "bisect --state=fi": "bisect --state=file", "bisect -s one\\ f": "bisect -s one@file",
    },
    "ftrace-export": {
        "--format=fo": "--format=folded", "-f p": "-f perfetto", "--buffer=m": "--buffer=mine",
        "--buffer=a": "--buffer=a@b", "-b 'a ": "-b a@b", "-b a\\ ": "-b a@b",
        '-b "a ': "-b a@b", '-b "$': None, "-b '$": None, '--buffer="$': None,
        "--buffer=\\$": "--buffer=$(touch@expanded)", "--output=fi": "--output=file", "'fi": "file",
        "-o on": "-o one@file", "'on": "one@file",
    },
}


def message(program, name, mode):
    words = [mode] * bool(mode) + ["--no-such"]
    r = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=60)
    same(f"messages begin with its name: {' '.join(words)}", (2, name),
         (r.returncode, r.stderr.partition(":")[0]))


def completed(name, typed):
    """The words of the command that bash runs after a tab and a newline."""
    with open("rc", "w") as f:
        f.write(f"alias ls='ls -F'\n. ./completion\nPS1=\n{name}() {{ printf %s \"${{*// /@}}\" >ran; }}\n")
    # A session of its own has no terminal whose jobs bash would control; the home gets the history.
    subprocess.run(["bash", "--noprofile", "--rcfile", "rc", "-i"], input=f"{name} {typed}\t\n",
                   text=True, timeout=60, capture_output=True, start_new_session=True,
                   env=os.environ | {"HOME": os.getcwd(), "INPUTRC": "/dev/null", "TERM": "dumb"})
    if not os.path.exists("ran"):
        return None
    with open("ran") as f:
        text = f.read()
    os.remove("ran")
    return text


def main():
    program = os.path.abspath(sys.argv[1])
    name = os.path.basename(program)
    for mode in MODES[name]:
        message(program, name, mode)
    with open(f"{TRACING}/{name}/{name}-completion.bash") as f:
        completion = f.read()
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        for path, text in FILES.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
        with open("completion", "w") as f:
            f.write(re.sub(r"(?:/sys/kernel)?(/tracing|/proc)\b", rf"{where}\1", completion))
        for typed, wanted in TYPED[name].items():
            same(f"completion: {typed}", wanted, completed(name, typed))
        same("completion: runs nothing that is in a name", False, os.path.exists("expanded"))
        os.chdir("/")
    return closing()


sys.exit(main())
