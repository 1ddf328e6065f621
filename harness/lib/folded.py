# SPDX-License-Identifier: GPL-2.0
"""Chains of calls with the count of each, {("caller", "callee"): number}: as lines "caller;callee number",
which flame-graph tools read, and as sums."""
import collections


def lines(chains):
    return [f"{';'.join(chain)} {n}" for chain, n in sorted(chains.items()) if n]


def itself(chains):
    """{function: its own count}."""
    found = collections.Counter()
    for chain, n in chains.items():
        found[chain[-1]] += n
    return found


def below(chains):
    """{function: the count of it and of its callees}. A chain counts once for each function in it."""
    found = collections.Counter()
    for chain, n in chains.items():
        for name in set(chain):
            found[name] += n
    return found
