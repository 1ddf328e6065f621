# SPDX-License-Identifier: GPL-2.0
"""Sources of modules with many traceable functions.

Functions are gen_fn_000001 and on, static and out of line, each with a constant of its
own (equal bodies would be folded into one). modules.py builds them.
"""
import os

PER_FILE = 1000
LICENSE = "// SPDX-License-Identifier: GPL-2.0\n"


def source(first, last):
    lines = [LICENSE, f"/* Functions {first} to {last}, and a table that keeps them. */",
             "#include <linux/compiler.h>", ""]
    names = [f"gen_fn_{n:06}" for n in range(first, last + 1)]
    for n, name in enumerate(names, first):
        lines.append(f"static noinline int {name}(int x) {{ return x ^ {n}; }}")
    table = f"gen_table_{first:06}"
    lines += ["", f"int (*const {table}[])(int);", f"int (*const {table}[])(int) = {{"]
    lines += [f"\t{name}," for name in names] + ["};", ""]
    return "\n".join(lines)


def main_source(firsts):
    lines = [LICENSE, "/* A module of generated functions; loading it calls the first of each file. */",
             "#include <linux/module.h>", ""]
    lines += [f"extern int (*const gen_table_{f:06}[])(int);" for f in firsts]
    lines += ["", "static int __init gen_init(void)", "{", "\tint x = 0;", ""]
    lines += [f"\tx = gen_table_{f:06}[0](x);" for f in firsts]
    lines += ["\treturn x < 0 ? -EINVAL : 0;", "}", "module_init(gen_init);", "",
              "static void __exit gen_exit(void)", "{", "}", "module_exit(gen_exit);", "",
              'MODULE_DESCRIPTION("Generated functions to trace");', 'MODULE_LICENSE("GPL");', ""]
    return "\n".join(lines)


def write(path, text):
    if os.path.exists(path):
        with open(path) as f:
            if f.read() == text:
                return
    with open(path, "w") as f:
        f.write(text)


def generate(directory, functions, module="genfns"):
    os.makedirs(directory, exist_ok=True)
    firsts = list(range(1, functions + 1, PER_FILE))
    objects = ["main.o"]
    for first in firsts:
        name = f"functions_{first:06}"
        objects.append(name + ".o")
        write(os.path.join(directory, name + ".c"), source(first, min(first + PER_FILE - 1, functions)))
    write(os.path.join(directory, "main.c"), main_source(firsts))
    write(os.path.join(directory, "Kbuild"),
          f"obj-m := {module}.o\n{module}-y := " + " \\\n\t".join(objects) + "\n")


def generate_many(directory, modules):
    """MODULES, a list of (name, functions), gives NAME/NAME.ko each."""
    os.makedirs(directory, exist_ok=True)
    for name, functions in modules:
        generate(os.path.join(directory, name), functions, name)
    write(os.path.join(directory, "Kbuild"), "obj-m := " + " \\\n\t".join(n + "/" for n, _ in modules) + "\n")
