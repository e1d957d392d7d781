"""A test case: an operator, its operands and attributes, and its definitions in PyTorch and, independently, in NumPy.

Both functions take the operands in float64 (integers: int64 in NumPy, their own dtype in PyTorch) and return unrounded
results.
"""

import functools
from dataclasses import dataclass, field
from typing import Callable

import numpy as np
from oracles import torch
from values import FLOATS, INTEGERS, rows

F = torch.nn.functional if torch else None
ALL = (*FLOATS, *INTEGERS)
WIDE = ("f16", "bf16", "f32")


@dataclass
class Operand:
    shape: tuple
    kind: Callable  # (rng, dtype, shape): its values
    dtype: str = None  # in place of the case's
    map: dict = None  # block level: which dimension a grid axis splits; None: the first one where it is the case's batch
    loop_dim: int = -1


@dataclass
class Case:
    name: str
    op: str
    operands: list
    torch: Callable
    numpy: Callable
    dtypes: tuple = FLOATS
    attributes: dict = field(default_factory=dict)
    results: int = 1
    out: str = None  # the results' dtype; None: the case's
    # The error bound: units of float32's last place of the larger of the result and `mass` (of the operands' magnitudes). 0:
    # exact. A function of the operands if docs/reference/verdicts.md's bound is one: exp's grows with |x|.
    units: float | Callable = 0
    mass: Callable = None
    levels: str = "KB"
    batch: int = 2  # the extent of dimension 0 that a block-level grid splits; 1: the operator works along it
    maps: list = None  # block level: of each result, where not the batch
    grid: tuple = None
    loop: int = 1
    body: Callable = None  # block level: (tiles) -> operators, in place of the one


CASES = []


def case(*arguments, **more):
    CASES.append(Case(*arguments, **more))


def fixed(values):
    return lambda rng, dtype, shape: np.broadcast_to(np.asarray(values, np.float64), shape).copy()


def along(dim):
    return lambda rng, dtype, shape: rows(rng, dtype, shape, dim)


def magnitudes(f):
    return lambda *a: f(*(np.nan_to_num(np.abs(x), nan=0, posinf=0) for x in a))


def numbers(values):
    return lambda rng, dtype, shape: np.asarray(values, np.float64).reshape(shape)


def t(name):
    """A function of torch's, called when it is there."""
    return lambda *a, **k: functools.reduce(getattr, name.split("."), torch)(*a, **k)
