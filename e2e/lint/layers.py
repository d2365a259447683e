#!/usr/bin/env python3
"""A layer includes itself and the layers before it in the order of docs/architecture.md; tests may include all."""
import re
import sys

from tree import LAYERS, files, layer_of

# The two agents and the plugin stand side by side: none includes another.
BESIDE = {"hub-agent", "member-agent", "kubectl-fleet"}
# What the plugin uses of the agents: cores without any input or output, and the steps of both for one object, which know a
# client and no agent.
APPLY = tuple(f"member-agent/apply/{x}.h" for x in ("clean", "decode", "finished", "handover", "leftover", "steps", "wants", "waves"))
SETS = ("hub-agent/flux_state.h", "hub-agent/input-provider/exports.h",
        *(f"hub-agent/resource-set/{x}.h" for x in ("build", "inputs", "look", "order", "sources")))
OVERRIDE = ("hub-agent/override/override.h", "hub-agent/override/rule.h")
PURE = {"kubectl-fleet": ("hub-agent/common.h", "hub-agent/scheduler/", "hub-agent/source/chart/tar.h", "hub-agent/staged-update/update_plan.h", *APPLY, *OVERRIDE, *SETS)}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def complaint(path, included):
    mine, theirs = layer_of(path), layer_of(included)
    if theirs is None:
        return "is not included by its path from the root of the tree"
    if mine == theirs:
        return None
    if included.startswith(PURE.get(mine, ())):
        return None
    if mine in BESIDE and theirs in BESIDE:
        return f"{mine} and {theirs} stand side by side"
    if LAYERS.index(theirs) > LAYERS.index(mine):
        return f"{theirs} is above {mine}"
    return None


bad = 0
for path, text in files("*.c", "*.h"):
    if path.endswith(("_test.c", "_test.h")) or layer_of(path) is None:
        continue
    for m in INCLUDE.finditer(text):
        why = complaint(path, m.group(1))
        if why:
            bad += 1
            print(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: \"{m.group(1)}\": {why}")
sys.exit(1 if bad else 0)
