"""Rewrites of products with weights of 4 bits."""

import unittest.mock

import torch
from zellige.torch.import_ import custom, operators
from zellige.torch.import_.schema import Left

from .law import Rewrite

_PACK, _TIMES = torch.ops.aten._convert_weight_to_int4pack_for_cpu, torch.ops.aten._weight_int4pack_mm_for_cpu


def product(draw, given=True):
    m, n, k, group = draw.number(1, 5), 16 * draw.number(1, 7), 64 * draw.number(1, 2), draw.choice([32, 64])
    x, numbers = draw.tensor(m, k, special=False), draw.tensor(k // group, n, 2, special=False, scale=0.1)
    q = draw.integers(n, k, low=0, high=16, dtype=torch.int32)
    if not given:  # the weight or its scales are computed
        return (lambda x, q, s: _TIMES(x, _PACK(q ^ 1, 2), group, s), (x, q, numbers)) if draw.chance() else (lambda x, q, s: _TIMES(x, q, group, s * 2), (x, _PACK(q, 2), numbers))
    after = draw.choice([torch.relu, lambda y: y + 1, lambda y: y])
    if draw.chance():
        return lambda x, q, s: after(_TIMES(x, _PACK(q, 2), group, s)), (x, q, numbers)
    return lambda x, w, s: after(_TIMES(x, w, group, s)), (x, _PACK(q, 2), numbers)


def without_programs():
    """A context in which programs do not have the product."""
    def refused(*_):
        raise Left("is refused here")

    return unittest.mock.patch.dict(operators.OPERATORS, {custom.INT4_MM: refused})


REWRITES = [
    Rewrite("weight of 4 bits in rows", product, lambda draw: product(draw, False), steps=8),
    Rewrite("packed weight of torch's kernel", product, lambda draw: product(draw, False), around=without_programs, steps=8),
]
