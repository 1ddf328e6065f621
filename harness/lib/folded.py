# SPDX-License-Identifier: GPL-2.0
"""Chains of calls with what was counted in each, {("caller", "callee"): number}: as lines "caller;callee number",
which flame-graph tools read, and as sums."""
import collections


def lines(chains):
    return [f"{';'.join(chain)} {n}" for chain, n in sorted(chains.items()) if n]


def parse(text):
    """What lines() made, or another's."""
    chains = collections.Counter()
    for line in text:
        chain, _, n = line.strip().rpartition(" ")
        if chain:
            chains[tuple(chain.split(";"))] += int(n)
    return chains


def itself(chains):
    """{function: what was counted in it}."""
    found = collections.Counter()
    for chain, n in chains.items():
        found[chain[-1]] += n
    return found


def below(chains):
    """{function: what was counted in it and in what it called}. A chain counts once for each function in it."""
    found = collections.Counter()
    for chain, n in chains.items():
        for name in set(chain):
            found[name] += n
    return found
