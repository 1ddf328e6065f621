# SPDX-License-Identifier: GPL-2.0
"""Sources of modules with many traceable functions, gen_fn_000001 and on, each with a constant of its own (equal bodies
would be folded into one)."""
import os
from pathlib import Path

PER_FILE = 1000
# Of the first file; loading the module calls the first function.
MODULE = """
static int __init gen_init(void)
{
	return gen_fn_000001(0) < 0 ? -EINVAL : 0;
}
module_init(gen_init);

static void __exit gen_exit(void) { }
module_exit(gen_exit);
MODULE_DESCRIPTION("Generated functions to trace");
MODULE_LICENSE("GPL");
"""


def source(first, last):
    functions = "".join(f"static noinline __used int gen_fn_{n:06}(int x) {{ return x ^ {n}; }}\n"
                        for n in range(first, last + 1))
    return ("// SPDX-License-Identifier: GPL-2.0\n#include <linux/module.h>\n\n" + functions
            + (MODULE if first == 1 else ""))


def write(path, text):
    """A file keeps its time where it does not change."""
    if not os.path.exists(path) or Path(path).read_text() != text:
        Path(path).write_text(text)


def generate(directory, functions, module="genfns"):
    os.makedirs(directory, exist_ok=True)
    objects = []
    for first in range(1, functions + 1, PER_FILE):
        name = f"functions_{first:06}"
        objects.append(name + ".o")
        write(os.path.join(directory, name + ".c"), source(first, min(first + PER_FILE - 1, functions)))
    write(os.path.join(directory, "Kbuild"),
          f"obj-m := {module}.o\n{module}-y := " + " \\\n\t".join(objects) + "\n")
