#!/usr/bin/env python3
"""Checks that what is known of operators is in their rows (src/graph/elementwise.hpp, reductions.hpp, ops.hpp). Outside of
src/graph, src/lower and src/search no file has a `case OpKind`, in whatever spelling, a table keyed by operators, or a
statement that compares with three operators or more. Exceptions: in rules of rewriting, which are patterns of operators,
such statements; and those of MAY, in the number that MAY states.

  tests/docs/laws.py [ROOT]
"""
import re
import sys

from modules import main

FREE = ("graph", "lower", "search")
PATTERNS = ("rewrite",)
# File -> how many cases or operators in such statements at most, and why no table says it.
MAY = {
    "ranks/communicator.cpp": 5,  # which of NCCL's functions a collective calls
    "ranks/over_ranks.cpp": 5,  # what each collective computes
    "run/sized.cpp": 5,  # operators whose attributes name a dimension that a size may have
    "tile/windows.cpp": 5,  # which digits each view takes of its operand's
    "reference/cut.cpp": 4,  # how each view maps the coordinates of its result to those of its operand
}
CASE = re.compile(r"\bcase\s+(?:\w+::)*OpKind::\w+|\busing\s+enum\s+(?:\w+::)*OpKind\b")
TABLE = re.compile(r"\b(?:map|set)<(?:\w+::)*OpKind\b|OpKind\b[^;(){}]*\[\]\s*=\s*\{")
COMPARED = re.compile(r"[=!]=\s*(?:\w+::)*OpKind::(\w+)")


def cases(code, patterns):
    found = len(CASE.findall(code)) + len(TABLE.findall(code))
    chains = [] if patterns else [set(COMPARED.findall(s)) for s in re.split(r"[;{}]", code)]
    return found + sum(len(chain) for chain in chains if len(chain) > 2)


def errors(root):
    for file in sorted((root / "src").rglob("*.[ch]pp")):
        path = file.relative_to(root / "src")
        if path.parts[0] in FREE:
            continue
        code = "\n".join(line.split("//")[0] for line in file.read_text().splitlines())
        found, may = cases(code, path.parts[0] in PATTERNS), MAY.get(path.as_posix(), 0)
        if found > may:
            yield f"src/{path}: {found} cases of OpKind, {may} are allowed: a law of operators is a column of their rows (docs/how-to/add-an-operator.md)"
        elif found < may:
            yield f"tests/docs/laws.py: src/{path} has {found} cases of OpKind, {may} are allowed"


if __name__ == "__main__":
    sys.exit(main(errors))
