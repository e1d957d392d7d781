#!/usr/bin/env python3
"""Checks that no file of src outside src/tile and src/lower reads the fields of a cut (src/tile/view.hpp): such a file names neither TileView::cuts
nor Cut. It asks the TileView, or an Interval of it. Nor does a file of the planner or the emitter define again what layouts and steps have
replaced (GONE). And SymbolicNumbers, which need not be constants (src/tile/number.hpp), are named only where tensors in global memory, views and grids are: in NUMBERS.

  tests/docs/cuts.py [ROOT]
"""
import re
import sys

from modules import main

MAY = ("tile", "lower")
DOOR = re.compile(r"(?:\.|->|::)\s*cuts\b|\bCut\b")
GONE = re.compile(r"\bstruct (?:Split|Buffer|Place|Order|Trips|Digit)\b|\b(?:KernelPlan|BlockProgram|a_from|partial_stride|stage_stride|loop_begin|loop_end|held_back)\b")
KEEP = ("graph", "search", "emulate", "run", "fuse/groups.hpp", "emit/loop_text.cpp")  # other structs have these names there
NUMBERS = ("tile", "lower", "ir", "emit", "plan/prove.cpp", "run/sized.cpp", "kernel/tensor_map.cpp", "kernel/tensor_map.hpp", "verify/coverage.cpp")
NUMBER = re.compile(r"\bSymbolicNumber\b")


def errors(root):
    for file in sorted((root / "src").rglob("*.[ch]pp")):
        path = file.relative_to(root)
        kept = path.parts[1] in KEEP or "/".join(path.parts[1:]) in KEEP
        text = file.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            if not kept and (m := GONE.search(line)):
                yield f"{path}:{number}: {m[0]} is gone: a layout, a View or a Step says this"
            if path.parts[1] not in NUMBERS and "/".join(path.parts[1:]) not in NUMBERS and NUMBER.search(line.split("//")[0]):
                yield f"{path}:{number}: names a SymbolicNumber; tiles, and layouts in shared memory and registers, are constants"
        if path.parts[1] in MAY:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("//")[0]
            if DOOR.search(line):
                yield f"{path}:{number}: reads how a tensor is cut; outside src/tile and src/lower ask TileView or Interval (src/tile/view.hpp)"


if __name__ == "__main__":
    sys.exit(main(errors))
