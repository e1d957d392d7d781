#!/usr/bin/env python3
"""Checks that constants of the cost model are in src/target/costs.hpp alone, and thresholds of measured times in src/cost/pays.hpp: in the
folders that estimate and choose no other file has a number with a fraction or a constexpr double, but those of ALLOWED; no file of src defines a
constant of one of the names again; bench/fit_price.py finds each constant that it fits; and torch's backend compares no times itself, but asks
the C ABI (python/zellige/torch/measure/cost.py).

  tests/docs/costs.py [ROOT]
"""
import pathlib
import re
import sys

from modules import ROOT, main

sys.path.insert(0, str(ROOT / "bench"))
import fit_price

COSTS, PAYS = "src/target/costs.hpp", "src/cost/pays.hpp"
FOLDERS = ("cost", "selection", "lower", "predict", "plan", "tiling", "candidate", "fuse")
NUMBER = re.compile(r"(?<![\w.])\d+\.\d*[1-9]\d*(?:e[-+]?\d+)?(?![\w.])|\b\d+(?:\.\d*)?e[-+]?\d+|\bconstexpr\s+double\s+\w+")
TIME = r"(?:\.(?:gpu|host|price)\b|\.total\(\))"
COMPARED = re.compile(rf"{TIME}.*(?<!-)[<>]|(?<!-)[<>].*{TIME}")
# Allowed elsewhere: a file, a part of its line, and why.
ALLOWED = {
    ("src/cost/kernel_cost.cpp", "held = 0.5"): "the start of an iteration to a fixed point",
    ("src/cost/kernel_cost.cpp", "constexpr double element"): "bytes of float16",
    ("src/cost/kernel_cost.cpp", "constexpr double others"): "issue slots of what has no row of laws: a mask, a rotation",
    ("src/cost/kernel_cost.cpp", "1e-3"): "a unit: GHz to cycles per us, GB/s to bytes per us",
    ("src/lower/lower_block.cpp", "constexpr double"): "the least float32 and infinity",
    ("src/candidate/expected_time.cpp", "1e-3"): "a unit",
    ("src/selection/layouts.cpp", "constexpr double forbidden"): "infinity",
    ("src/plan/swizzle_search.cpp", "1e300"): "more than any cost",
    ("src/fuse/cover.hpp", "constexpr double never"): "infinity",
    ("src/fuse/cover.cpp", "constexpr double rounding"): "a rounding error",
}


def errors(root):
    names = fit_price.constants(root / COSTS) | fit_price.constants(root / PAYS)
    for name in fit_price.NAMES + fit_price.TILE_NAMES:
        if name not in names:
            yield f"bench/fit_price.py: fits {name}, which {COSTS} lacks"
    again = re.compile(r"\bconstexpr\s+[\w:<> ]+[ ,](" + "|".join(n for n in names if len(n) > 5) + r")\s*=")
    used = set()
    for file in sorted((root / "src").rglob("*.[ch]pp")):
        path = str(file.relative_to(root))
        if path in (COSTS, PAYS):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            line = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]
            if m := again.search(line):
                yield f"{path}:{number}: {m[1]} is a constant of {COSTS}"
            if pathlib.Path(path).parts[1] not in FOLDERS or not NUMBER.search(line):
                continue
            allowed = [(f, part) for f, part in ALLOWED if f == path and part in line]
            used.update(allowed)
            if not allowed:
                yield f"{path}:{number}: {NUMBER.search(line)[0]}: a constant of the cost model belongs to {COSTS}"
    for file in sorted((root / "python/zellige/torch").rglob("*.py")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if m := COMPARED.search(line.split("#")[0]):
                yield f"{file.relative_to(root)}:{number}: {m[0]}: times are compared by a function of measure/cost.py"
    for f, part in ALLOWED.keys() - used:
        yield f"tests/docs/costs.py: {f} has no line with {part}, which is allowed"


if __name__ == "__main__":
    sys.exit(main(errors))
