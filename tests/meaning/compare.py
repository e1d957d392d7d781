#!/usr/bin/env python3
"""Each operator at both levels against PyTorch or, if that is missing, NumPy, on special and ordinary numbers.

  compare.py [--on emulator|gpu|reference] [--only NAME,NAME] [--dtype f16,bf16] [--level K,B] [--oracle torch|numpy] [--target sm_80] [--fuse] [--every N]

Takes the package `zellige` (PYTHONPATH=python ZELLIGE_LIBRARY=build/libzellige.so). Exits 1 if anything differs, 77 without NumPy.
"""

import argparse
import collections
import re
import sys
import time

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not here")
    sys.exit(77)

import graphs
import oracles
import zellige
from cases import CASES
from values import FRACTION, GREATEST, INTEGERS, STEP


def differences(case, dtype, found, exact, native, masses, units):
    """Sentences about what is not as it should be: found and exact are rounded to the dtype, all are float64. `units` is the case's, of its
    operands where it depends on them."""
    if found.shape != exact.shape:
        return [f"expected shape {exact.shape}, found {found.shape}"]
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(exact), nan=0, posinf=0)
        mass = np.broadcast_to(masses, exact.shape) if masses is not None else 0
        room = np.zeros(exact.shape)
        if case.units and dtype not in INTEGERS:
            simple = not callable(case.units) and case.units < 4
            lowest = STEP[dtype] if simple else max(STEP[dtype], 2.0**-126)  # functions and additions may flush denormals
            room = units * 2.0**-24 * np.maximum(size, mass) + lowest
            if dtype != "f32":
                room = np.maximum(room, 2.0 ** -FRACTION[dtype] * size + 2 * room)
        same = (found == exact) | (np.isnan(found) & np.isnan(exact)) | (np.abs(found - exact) <= room)
        if case.units and dtype not in INTEGERS:  # on either side of the dtype's end
            end = GREATEST[dtype] * (1 - 2.0 ** -FRACTION[dtype])
            same |= (np.abs(found) >= end) & (np.abs(exact) >= end) & (np.signbit(found) == np.signbit(exact))
        if case.op in ("neg", "abs", "cast", "permute", "reshape", "expand", "slice", "unfold", "concat", "split", "gather", "scatter", "slice_scatter"):
            same &= (np.signbit(found) == np.signbit(exact)) | np.isnan(exact)
    findings = []
    for at in np.argwhere(~same)[:3]:
        at = tuple(at)
        in_dtype = "" if native is None else f", in {dtype} {native[at]!r}"
        findings.append(f"element {tuple(map(int, at))}: expected {float(exact[at])!r}{in_dtype}, found {float(found[at])!r}")
    if findings and (~same).sum() > 3:
        findings.append(f"and {int((~same).sum()) - 3} more of {same.size}")
    return findings


def without_case():
    """Operators of the library without a case; the library lists its operators in the error for an unknown one."""
    known, tried = set(), {"op": "nothing", "inputs": [], "outputs": []}
    for op in (tried, {"op": "custom", "inputs": [], "outputs": ["y"], "grid": [1, 1, 1], "block": [32, 1, 1], "body": [tried]}):
        try:
            zellige.compile({"zellige_graph": 1, "inputs": [], "operators": [op], "outputs": ["y"]}, on="reference")
        except zellige.Error as refusal:
            known |= set(re.search(r"known operators of the \w+ level are (.*?)(;|$)", str(refusal))[1].replace(" and ", ", ").split(", "))
    assert "matmul" in known and "accum" in known
    in_bodies = {"input", "output", "custom"}  # what every block-level case is made with
    # Several ranks compute these; tests/ranks/collective_test.cpp compares them with each rank's elements.
    over_ranks = {"all_reduce", "all_reduce_max", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "rank"}
    return sorted(known - in_bodies - over_ranks - {c.op for c in CASES})


def programs(cases, level, dtype, oracle, rng, at_a_time):
    """Graphs of `at_a_time` cases: (form, arrays by input, [(case, operands, results' names)])."""
    for start in range(0, len(cases), at_a_time):
        inputs, operators, arrays, members, outputs = [], [], [], [], []
        for number, case in enumerate(cases[start : start + at_a_time]):
            names, operands = [], []
            for i, o in enumerate(case.operands):
                name, of = f"x{number}_{i}", o.dtype or dtype
                way = (number + i) % 3
                x = oracle.array(o.kind(rng, of, o.shape), of)
                lying = graphs.strides(o.shape, way)
                inputs.append({"name": name, "dtype": of, "shape": list(o.shape), "strides": lying})
                names.append(name), operands.append(x), arrays.append(oracle.strided(x, lying))
            results = [f"y{number}_{i}" for i in range(case.results)]
            make = graphs.kernel_operator if level == "K" else graphs.block_operator
            operators.append(make(case, names, results, case.attributes))
            outputs += results
            members.append((case, operands, results))
        yield {"zellige_graph": 1, "name": f"{level}_{dtype}_{start}", "inputs": inputs, "operators": operators, "outputs": outputs}, arrays, members


def sample(level, dtypes, every):
    """Returns the cases of each dtype: of the dtypes that a case has, every `every`-th, at least one. The next case begins with the next dtype."""
    taken = {dtype: [] for dtype in dtypes}
    for number, case in enumerate(c for c in CASES if level in c.levels):
        own = [d for d in dtypes if d in case.dtypes]
        for dtype in own[number % min(every, len(own) or 1) :: every]:
            taken[dtype].append(case)
    return taken


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--on", default="emulator", choices=("emulator", "gpu", "reference"))
    p.add_argument("--only", default=""), p.add_argument("--dtype", default=",".join((*FRACTION, *INTEGERS))), p.add_argument("--level", default="K,B")
    p.add_argument("--oracle", default="torch" if oracles.torch else "numpy", choices=("torch", "numpy")), p.add_argument("--target")
    p.add_argument("--fuse", action="store_true", help="unfused operators are fused before they are planned")
    p.add_argument("--every", type=int, default=1, metavar="N", help="a case takes every N-th of its dtypes, in rotation")
    p.add_argument("--at-a-time", type=int, default=40, help="cases a program"), p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    oracle = oracles.Torch() if o.oracle == "torch" else oracles.Numpy()
    if o.on == "gpu":
        oracle.device = "cuda"
    only, began, wrong, count = [n for n in o.only.split(",") if n], time.time(), collections.Counter(), 0
    for level in o.level.split(","):
        taken = sample(level, o.dtype.split(","), o.every)
        for dtype in taken:
            if not oracle.has(dtype):
                print(f"{dtype} is omitted: NumPy has it by the package ml_dtypes, which is not installed")
                continue
            cases = [c for c in taken[dtype] if not only or c.op in only or c.name in only]
            cases = [c for c in cases if all(oracle.has(t) for t in (c.out, *(x.dtype for x in c.operands)) if t)]
            for form, arrays, members in programs(cases, level, dtype, oracle, np.random.default_rng(o.seed), o.at_a_time):
                program = zellige.compile(form, on=o.on, target=o.target, fuse=o.fuse, tiling="given")
                found = program(*arrays)
                found = dict(zip([y.name for y in program.outputs], found if isinstance(found, tuple) else [found]))
                for case, operands, results in members:
                    out = case.out or dtype
                    exact, native = oracle.exact(case, operands), oracle.native(case, operands)
                    with np.errstate(all="ignore"):
                        values = [oracle.values(x) for x in operands]
                        masses = case.mass(*values) if case.mass else None
                        units = np.nan_to_num(case.units(*values), nan=0, posinf=0) if callable(case.units) else case.units
                    for i, name in enumerate(results):
                        count += 1
                        near = None if masses is None else np.asarray(masses, np.float64)
                        findings = differences(case, out, oracle.values(found[name]), oracle.rounded(exact[i], out), native and native[i], near, units)
                        if findings:
                            wrong[case.name] += 1
                            print(f"{case.name}, {'kernel' if level == 'K' else 'block'} level, {dtype}: {'; '.join(findings)}", flush=True)
    print(f"{count} results of {len({c.op for c in CASES})} operators compared with {oracle.name}'s on the {o.on}, {time.time() - began:.0f} s: "
          + (f"{sum(wrong.values())} differ, of {', '.join(sorted(wrong))}" if wrong else "none differs"))
    missing = without_case()
    if missing:
        print(f"without a case in cases.py: {', '.join(missing)}")
    sys.exit(1 if wrong or missing or not count else 0)


if __name__ == "__main__":
    main()
