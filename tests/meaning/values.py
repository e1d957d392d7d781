"""Test numbers: ordinary ones, and the special ones of IEEE 754 and of masks."""

import math

import numpy as np

INTEGERS = {"int8": (-128, 127), "int32": (-(2**31), 2**31 - 1)}
FLOATS = ("f16", "bf16", "f32", "e4m3", "e5m2")
# For each dtype: bits of the fraction, its greatest number, the step of its smallest ones.
FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "e4m3": 3, "e5m2": 2}
GREATEST = {"f16": 65504.0, "bf16": 2.0**128 * (1 - 2.0**-8), "f32": 2.0**128 * (1 - 2.0**-24), "e4m3": 448.0, "e5m2": 57344.0}
STEP = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "e4m3": 2.0**-9, "e5m2": 2.0**-16}

# All pairs of them are operands of binary operators.
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 65504.0, -65504.0, 1e4, -1e4, 1.0, -1.0, 3.0, 0.5, -2.5, 1 / 3, 88.0, -87.0, -104.0]


def special(dtype):
    """The list for a dtype: the above, its ends, and its denormals."""
    if dtype in INTEGERS:
        lo, hi = INTEGERS[dtype]
        return [0, 1, -1, 2, 7, -13, 100, -100, hi, lo, hi - 1, lo + 1]
    tiny = [STEP[dtype], -STEP[dtype], 5 * STEP[dtype], 2.0 ** (FRACTION[dtype]) * STEP[dtype]]
    return SPECIAL + tiny + [GREATEST[dtype], -GREATEST[dtype]]


def ordinary(rng, dtype, shape, scale=1.0):
    if dtype in INTEGERS:
        lo, hi = INTEGERS[dtype]
        return rng.integers(max(lo, -1000), min(hi, 1000), shape, endpoint=True).astype(np.float64)
    return rng.standard_normal(shape) * scale


def spread(rng, dtype, shape):
    """Special values at the start of an otherwise ordinary array."""
    x = ordinary(rng, dtype, shape).reshape(-1)
    s = special(dtype)[: x.size]
    x[: len(s)] = s
    return x.reshape(shape)


def rows(rng, dtype, shape, dim=-1):
    """Lines along `dim`, each of its own kind: ordinary, scores to 1e4, masked in part and whole, infinities, NaN, 65504, denormals."""
    if dtype in INTEGERS:
        return ordinary(rng, dtype, shape)
    x = np.moveaxis(ordinary(rng, dtype, shape), dim, -1).copy()
    lines = x.reshape(-1, x.shape[-1])
    n = lines.shape[1]
    for i, line in enumerate(lines):
        kind = i % 10
        if kind == 1:
            line *= 1e4 / np.abs(line).max()
        elif kind == 2:
            line[n // 2 :] = -np.inf
        elif kind == 3:
            line[:] = -np.inf
        elif kind == 4:
            line[n // 3] = np.inf
        elif kind == 5:
            line[0] = np.nan
        elif kind == 6:
            line[:] = 65504.0
        elif kind == 7:
            line[:] = STEP[dtype] * (1 + np.arange(n) % 3)
        elif kind == 8:
            line[0], line[-1] = np.inf, -np.inf
        elif kind == 9:
            line[:] = 0.0
    return np.moveaxis(lines.reshape(x.shape), -1, dim)
