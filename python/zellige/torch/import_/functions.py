"""Functions of ATen that are composed of others. Each is as precise near 0 and as wide as torch's: no sum cancels, and nothing
overflows before the result does."""

import math

import torch

from ... import array_views
from ... import operators as op
from ...tracing import Array
from .schema import Left

aten = torch.ops.aten


def _wide(function):
    return lambda x: function(op.cast(x, "f32"))


def _half_exponentials(x):
    """Returns e^(x / 2) and e^(-x / 2)."""
    half = op.mul(x, 0.5)
    return op.exp(half), op.exp(op.neg(half))


def _cosh(x):
    a, b = _half_exponentials(op.abs(x))
    return op.add(op.mul(op.mul(a, 0.5), a), op.mul(op.mul(b, 0.5), b))


def _expm1(x):
    return op.where(op.lt(x, 1.0), op.mul(op.tanh(op.mul(x, 0.5)), op.add(op.exp(x), 1)), op.sub(op.exp(x), 1))


def _asinh(x):
    y = op.minimum(op.abs(x), 1e18)  # whose square is finite
    square = op.square(y)
    made = op.log1p(op.add(y, op.div(square, op.add(op.sqrt(op.add(square, 1)), 1))))
    made = op.where(op.lt(op.abs(x), 1e18), made, op.add(op.log(op.abs(x)), math.log(2)))
    return op.where(op.lt(x, 0), op.neg(made), made)


def _acosh(x):
    y = op.sub(op.minimum(x, 1e18), 1)
    made = op.log1p(op.add(y, op.sqrt(op.mul(y, op.add(y, 2)))))
    return op.where(op.lt(x, 1e18), made, op.add(op.log(x), math.log(2)))


def _atanh(x):
    return op.mul(op.log1p(op.div(op.mul(x, 2), op.sub(1, x))), 0.5)


def _clamp(x, lo=None, hi=None):
    x = x if lo is None else op.maximum(x, lo)
    return x if hi is None else op.minimum(x, hi)


def _copysign(x, y):
    if not isinstance(y, Array):
        negative = math.copysign(1, y) < 0
        return op.neg(op.abs(x)) if negative else op.abs(x)
    negative = op.maximum(op.lt(y, 0), op.lt(op.div(1, y), 0))  # 1 / -0.0 is below 0
    return op.where(negative, op.neg(op.abs(x)), op.abs(x))


def _power_of_number(x, y):
    """Returns the number x to the powers y."""
    if x == 1:
        raise Left("expected another number than 1, whose power of NaN is 1")
    return op.pow(op.maximum(op.minimum(y, x), x), y)


def _select_scatter(x, part, dim, index):
    dim %= x.ndim
    return op.slice_scatter(x, array_views.inserted(part, dim), dim, index % x.shape[dim])


OPERATORS = {
    aten.cosh.default: _wide(_cosh),
    aten.sinh.default: _wide(lambda x: op.mul(op.tanh(x), _cosh(x))),
    aten.tan.default: _wide(lambda x: op.div(op.sin(x), op.cos(x))),
    aten.expm1.default: _wide(_expm1),
    aten.log2.default: _wide(lambda x: op.mul(op.log(x), 1 / math.log(2))),
    aten.log10.default: _wide(lambda x: op.mul(op.log(x), 1 / math.log(10))),
    aten.asinh.default: _wide(_asinh),
    aten.acosh.default: _wide(_acosh),
    aten.atanh.default: _wide(_atanh),
    aten.clamp.Tensor: _clamp,
    aten.copysign.Tensor: _copysign,
    aten.copysign.Scalar: _copysign,
    aten.div.Scalar: op.div,
    aten.pow.Scalar: _power_of_number,
    aten.select_scatter.default: _select_scatter,
}
