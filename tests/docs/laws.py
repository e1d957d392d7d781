#!/usr/bin/env python3
"""Checks that what is known of operators stands in their rows (src/graph/elementwise.hpp, reductions.hpp, ops.hpp): outside of src/graph, src/lower and
src/search no file has a `case OpKind`, in whatever spelling, but those of MAY, as many as are named there.

  tests/docs/laws.py [ROOT]
"""
import re
import sys

from modules import main

FREE = ("graph", "lower", "search")
# File -> how many cases at most, and why no table says it.
MAY = {
    "reference/cut.cpp": 3,  # how each view maps the coordinates of its result to those of its operand
    "rewrite/decompose.cpp": 12,  # what each accumulator, or operator of a block, becomes outside of the block
    "rewrite/rules_of_views.cpp": 12,  # past which operators a view moves, and how its attributes change
}
CASE = re.compile(r"\bcase\s+(?:\w+::)*OpKind::\w+|\busing\s+enum\s+(?:\w+::)*OpKind\b")


def errors(root):
    for file in sorted((root / "src").rglob("*.[ch]pp")):
        path = file.relative_to(root / "src")
        if path.parts[0] in FREE:
            continue
        code = "\n".join(line.split("//")[0] for line in file.read_text().splitlines())
        found, may = len(CASE.findall(code)), MAY.get(path.as_posix(), 0)
        if found > may:
            yield f"src/{path}: {found} cases of OpKind, {may} are allowed: a law of operators is a column of their rows (docs/how-to/add-an-operator.md)"


if __name__ == "__main__":
    sys.exit(main(errors))
