#!/usr/bin/env python3
"""Attention of unfused operators, fused into one pass over the keys, on scores above 1e4, rows masked whole, infinities and NaN, against
float64 in NumPy: what NaN and 0 softmax and safe_softmax make is theirs after fusion, too.

  attention.py [--on emulator|gpu]      as compare.py
"""

import argparse
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not here")
    sys.exit(77)

import zellige

HEADS, DIM, SCALE = 4, 16, 0.25
MASKS = {"whole": {}, "causal": {"tril": 0}, "window": {"tril": -3, "triu": -20}, "lengths": {}, "nothing": {"length": 0}}
LENGTHS = np.array([0, 5, 1000, -3], np.int32).reshape(HEADS, 1, 1)


def form(softmax, mask, dtype, queries, keys):
    def tensor(name, *shape, of=dtype):
        return {"name": name, "dtype": of, "shape": list(shape)}

    def op(name, inputs, output, **attributes):
        return {"op": name, "inputs": inputs, "outputs": [output], **attributes}

    inputs = [tensor("q", HEADS, queries, DIM), tensor("k", HEADS, keys, DIM), tensor("v", HEADS, keys, DIM)]
    operators = [op("permute", ["k"], "kt", dims=[0, 2, 1]), op("matmul", ["q", "kt"], "products"), op("cast", ["products"], "wide", dtype="f32"),
                 op("mul_scalar", ["wide"], "scores", scalar=SCALE)]
    if mask == "lengths":
        inputs.append(tensor("n", HEADS, 1, 1, of="int32"))
    if mask != "whole":
        operators.append(op("mask", ["scores", "n"] if mask == "lengths" else ["scores"], "masked", **MASKS[mask]))
    operators += [op(softmax, ["scores" if mask == "whole" else "masked"], "p", dim=2), op("cast", ["p"], "narrow", dtype=dtype), op("matmul", ["narrow", "v"], "o")]
    return {"zellige_graph": 1, "name": f"{softmax}_{mask}_{dtype}", "inputs": inputs, "operators": operators, "outputs": ["o"]}


def expected(softmax, mask, q, k, v, rounded):
    """In float64, products and shares rounded to the dtype between the operators or not."""
    def between(x):
        return x.astype(q.dtype).astype(np.float64) if rounded else x

    s = between(np.matmul(q.astype(np.float64), k.astype(np.float64).transpose(0, 2, 1))) * SCALE
    i, j = np.arange(s.shape[1])[:, None], np.arange(s.shape[2])[None]
    a = MASKS[mask]
    keep = (j - i <= a.get("tril", 10**6)) & (j - i >= a.get("triu", -(10**6))) & (j < a.get("length", 10**6))
    keep = keep & (j < LENGTHS if mask == "lengths" else np.ones_like(s, bool))
    s = np.where(keep, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    if softmax == "safe_softmax":
        p = np.where((s == -np.inf).all(-1, keepdims=True), 0, p)
    return np.matmul(between(p), v.astype(np.float64))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--on", default="emulator", choices=("emulator", "gpu"))
    on, wrong, count = p.parse_args().on, 0, 0
    for dtype, room, target, (queries, keys), masks in (("float16", 3e-3, "sm_90a", (33, 65), MASKS), ("float32", 3e-4, "sm_80", (40, 72), ("causal", "lengths"))):
        rng = np.random.default_rng(1)
        q, k, v = (rng.standard_normal((HEADS, n, DIM)) for n in (queries, keys, keys))
        q[1] *= 300
        k[1] *= 30
        v[2, 5, 3], v[2, 6, 4], q[3, 2], k[3, 7, 0] = np.nan, np.inf, np.nan, np.inf
        q, k, v = (x.astype(dtype) for x in (q, k, v))
        for softmax in ("softmax", "safe_softmax"):
            for mask in masks:
                program = zellige.compile(form(softmax, mask, {"float16": "f16", "float32": "f32"}[dtype], queries, keys), on=on, target=None if on == "gpu" else target)
                found = program(*on_device((q, k, v, *([LENGTHS] if mask == "lengths" else [])), on))
                found = np.asarray(found.cpu() if on == "gpu" else found).astype(np.float64)
                with np.errstate(all="ignore"):
                    near = [(found == e) | (np.isnan(found) & np.isnan(e)) | (np.abs(found - e) <= room * (1 + np.abs(e)))
                            for e in (expected(softmax, mask, q, k, v, r) for r in (False, True))]
                off = np.argwhere(~(near[0] | near[1]))
                count += 1
                if len(off):
                    wrong += 1
                    print(f"{program.name}: {len(off)} elements of {found.size} differ, the first at {tuple(map(int, off[0]))}: found {found[tuple(off[0])]}")
    print(f"{count} attentions compared with NumPy's on the {on}: {f'{wrong} differ' if wrong else 'none differs'}")
    sys.exit(1 if wrong else 0)


def on_device(arrays, on):
    if on != "gpu":
        return arrays
    import torch

    return [torch.from_numpy(a).cuda() for a in arrays]


if __name__ == "__main__":
    main()
