"""Zellige's operators as functions, under PyTorch's names, on traced arrays, NumPy arrays and torch tensors.

    y = zellige.silu(zellige.matmul(x, w))

All arrays of a call must be of the same type; an operand may be a number where documented. On NumPy arrays an operator
is computed in float64 and rounded once, which is its definition. On torch tensors, torch's own operators compute the
result. Floating-point results have the operands' dtype; operands of two floating-point dtypes of 16 bits or more are
converted to float32 first, or to float64 if one is of it. Elementwise operators of several arrays broadcast as in NumPy. On traced arrays an operator
raises Error if the shapes or dtypes do not fit.
"""

import math
from collections.abc import Sequence
from typing import Any

from . import _native, dtypes
from ._native import Error
from .dispatch import call as _call
from .dispatch import dim_of as _dim
from .dispatch import json_number
from .dispatch import number as _number
from .movements import concat, expand, gather, in_place, mask, permute, reshape, rotary, rotary_interleaved, scatter, slice, slice_scatter, split, unfold  # noqa: A004, F401
from .operator_arguments import spoken
from .tracing import Array, is_scalar, as_numbers

# ---- Matmul ----


def matmul(x: Any, y: Any, tf32: bool = False, precision: str = "f32") -> Any:
    """Returns the matrix product over the last two dimensions: (..., m, k) by (..., k, n) gives (..., m, n).

      y = zellige.matmul(x, w)

    Other dimensions are batches and broadcast. A vector is a row on the left, a column on the right; a product of
    two vectors raises Error. tf32: first rounds float32 operands to 10 bits of mantissa. e4m3 and e5m2 operands
    give a float32 result; with precision="bf16" it may be as far off as if they were rounded to bf16, and sm_90a's
    tensor cores of 8 bits multiply them.
    """
    if isinstance(x, Array) or isinstance(y, Array):
        trace = (x if isinstance(x, Array) else y)._trace
        x, y = (a if isinstance(a, Array) else trace.capture(a) for a in (x, y))
        left, right = x.ndim == 1, y.ndim == 1
        x = reshape(x, (1, *x.shape)) if left else x
        y = reshape(y, (*y.shape, 1)) if right else y
        z = _call("matmul", (x, y), tf32=tf32 or None, precision=None if precision == "f32" else precision)
        shape = list(z.shape)
        if right:
            del shape[-1]
        if left:
            del shape[-1 if right else -2]
        return z if not left and not right else _reshaped(z, shape, "matmul of two vectors")
    return _call("matmul", (x, y), tf32=tf32)


def _reshaped(x, shape, what):
    """Returns x in a shape; raises Error if it has no dimensions. `what` names the operation in the message."""
    if not shape:
        raise Error(f"{what}: expected a result of at least one dimension, found a number; keep a dimension")
    return reshape(x, shape)


# ---- Elementwise, one array ----


def exp(x: Any) -> Any:
    """Returns e^x elementwise: zellige.exp(x)."""
    return _call("exp", (x,))


def log(x: Any) -> Any:
    """Returns the natural logarithm elementwise: zellige.log(x)."""
    return _call("log", (x,))


def log1p(x: Any) -> Any:
    """Returns the natural logarithm of 1 + x elementwise, precise near 0: zellige.log1p(x)."""
    return _call("log1p", (x,))


def square(x: Any) -> Any:
    """Returns x^2 elementwise: zellige.square(x)."""
    return _call("square", (x,))


def sqrt(x: Any) -> Any:
    """Returns the square root elementwise: zellige.sqrt(x)."""
    return _call("sqrt", (x,))


def rsqrt(x: Any) -> Any:
    """Returns 1 / sqrt(x) elementwise: zellige.rsqrt(x)."""
    return _call("rsqrt", (x,))


def neg(x: Any) -> Any:
    """Returns -x elementwise: zellige.neg(x)."""
    return _call("neg", (x,))


def abs(x: Any) -> Any:  # noqa: A001 (the operator's name)
    """Returns the absolute value elementwise: zellige.abs(x)."""
    return _call("abs", (x,))


def sin(x: Any) -> Any:
    """Returns the sine elementwise, of angles in radians: zellige.sin(x)."""
    return _call("sin", (x,))


def cos(x: Any) -> Any:
    """Returns the cosine elementwise, of angles in radians: zellige.cos(x)."""
    return _call("cos", (x,))


def tanh(x: Any) -> Any:
    """Returns the hyperbolic tangent elementwise: zellige.tanh(x)."""
    return _call("tanh", (x,))


def sigmoid(x: Any) -> Any:
    """Returns 1 / (1 + exp(-x)) elementwise: zellige.sigmoid(x)."""
    return _call("sigmoid", (x,))


def silu(x: Any) -> Any:
    """Returns x / (1 + exp(-x)) elementwise: zellige.silu(x)."""
    return _call("silu", (x,))


def relu(x: Any) -> Any:
    """Returns max(x, 0) elementwise: zellige.relu(x)."""
    return _call("relu", (x,))


def gelu(x: Any, approximate: str = "none") -> Any:
    """Returns x/2 (1 + erf(x / sqrt 2)) elementwise; with approximate="tanh" x/2 (1 + tanh(sqrt(2/pi) (x +
    0.044715 x^3))). Example: zellige.gelu(x, "tanh"). Raises Error for another value of approximate."""
    if approximate not in ("none", "tanh"):
        raise Error(f"gelu: expected approximate to be none or tanh, found {approximate}")
    return _call("gelu" if approximate == "none" else "gelu_tanh", (x,))


def clamp(x: Any, lo: float, hi: float) -> Any:
    """Returns min(max(x, lo), hi) elementwise: zellige.clamp(x, -1, 1)."""
    if isinstance(x, Array):
        lo, hi = (json_number("clamp", _number(n), x._dtype) for n in (lo, hi))
    return _call("clamp", (x,), lo=lo, hi=hi)


def cast(x: Any, dtype: Any, saturate: bool = False) -> Any:
    """Returns x in another dtype, rounded to nearest: zellige.cast(x, "f16"). saturate: overflow becomes the
    largest finite number. Raises Error for a dtype that Zellige does not support."""
    name = dtypes.name_of(dtype)
    if isinstance(x, Array):
        if name == x._dtype:
            return as_numbers(x) if x._truth else x
        return _call("cast", (x,), dtype=name, saturate=saturate or None)
    return _call("cast", (x,), dtype=name, saturate=saturate)


# ---- Elementwise, two arrays or an array and a number ----


def _pair(op, x, y, swapped=None):
    """Returns the binary operator `op` of x and y, of which one may be a number. Zellige's operators accept a number
    only on the right. For a number x, returns swapped(y, x), which must compute op(x, y)."""
    if isinstance(y, Array) and is_scalar(x):
        return swapped(y, x)
    if op == "mul" and isinstance(x, Array) and is_scalar(y):
        return _call("mul_scalar", (x, y))
    return _call(op, (x, y))


def add(x: Any, y: Any) -> Any:
    """Returns x + y elementwise: zellige.add(x, 1)."""
    return _pair("add", x, y, add)


def sub(x: Any, y: Any) -> Any:
    """Returns x - y elementwise: zellige.sub(x, y)."""
    return _pair("sub", x, y, lambda a, s: add(neg(a), s))


def mul(x: Any, y: Any) -> Any:
    """Returns x times y elementwise: zellige.mul(x, 2)."""
    return _pair("mul", x, y, mul)


def div(x: Any, y: Any) -> Any:
    """Returns x / y elementwise: zellige.div(1, x)."""
    return _pair("div", x, y, lambda a, s: pow(a, -1) if s == 1 else mul(pow(a, -1), s))


def pow(x: Any, y: Any) -> Any:  # noqa: A001
    """Returns x to the power of y elementwise: zellige.pow(x, 3). A number x and an array y give exp(y ln x);
    raises Error if the number is not positive."""
    if isinstance(x, Array) and is_scalar(y) and y == 2:
        return square(x)
    return _pair("pow", x, y, _exponential)


def _exponential(a, s):
    """Returns s to the power of the array a, for a positive number s."""
    if s <= 0:
        raise Error(f"pow: expected a positive number to the power of an array, found {s}")
    return exp(mul(a, math.log(s)))


def maximum(x: Any, y: Any) -> Any:
    """Returns the larger of x and y elementwise; NaN if either is NaN: zellige.maximum(x, 0)."""
    return _pair("maximum", x, y, maximum)


def minimum(x: Any, y: Any) -> Any:
    """Returns the smaller of x and y elementwise; NaN if either is NaN: zellige.minimum(x, 1)."""
    return _pair("minimum", x, y, minimum)


def logaddexp(x: Any, y: Any) -> Any:
    """Returns ln(e^x + e^y) elementwise, without overflow: zellige.logaddexp(x, y)."""
    if isinstance(x, Array) and is_scalar(y):
        y = x._trace.constant(_number(y), x._dtype)
    elif isinstance(y, Array) and is_scalar(x):
        x = y._trace.constant(_number(x), y._dtype)
    return _call("logaddexp", (x, y))


def eq(x: Any, y: Any) -> Any:
    """Returns 1 where x = y, else 0, in the operands' dtype: zellige.eq(x, y)."""
    return _pair("eq", x, y, eq)


def ne(x: Any, y: Any) -> Any:
    """Returns 1 where x differs from y or one of them is NaN, else 0, in the operands' dtype: zellige.ne(x, 0)."""
    return _pair("ne", x, y, ne)


def lt(x: Any, y: Any) -> Any:
    """Returns 1 where x < y, else 0, in the operands' dtype: zellige.lt(x, y)."""
    return _pair("lt", x, y, gt)


def le(x: Any, y: Any) -> Any:
    """Returns 1 where x <= y, else 0, in the operands' dtype: zellige.le(x, y)."""
    return _pair("le", x, y, ge)


def gt(x: Any, y: Any) -> Any:
    """Returns 1 where x > y, else 0, in the operands' dtype: zellige.gt(x, y)."""
    return _pair("gt", x, y, lt)


def ge(x: Any, y: Any) -> Any:
    """Returns 1 where x >= y, else 0, in the operands' dtype: zellige.ge(x, y)."""
    return _pair("ge", x, y, le)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Returns x where condition is not 0, else y, elementwise: zellige.where(zellige.gt(x, 0), x, 0). x and y may
    be numbers. Raises Error if the condition is a number."""
    if not any(isinstance(a, Array) for a in (condition, x, y)):
        return _call("where", (condition, x, y))
    trace = next(a._trace for a in (condition, x, y) if isinstance(a, Array))
    condition, x, y = (a if isinstance(a, Array) or is_scalar(a) else trace.capture(a) for a in (condition, x, y))
    if is_scalar(condition):
        raise Error(f"where: expected an array for its condition, found {condition}")
    if is_scalar(x) and is_scalar(y):
        selected = ne(condition, 0)
        return _call("where", (selected, mul(selected, x), y))
    if is_scalar(x):
        return where(eq(condition, 0), y, x)
    common = dtypes.promoted([a._dtype for a in (x, y) if isinstance(a, Array)])
    x, y = (cast(a, common) if isinstance(a, Array) else a for a in (x, y))
    if condition._dtype != common:
        condition = cast(ne(condition, 0), common)  # 1 and 0 are representable in every dtype
    return _call("where", (condition, x, y))


# ---- Along dimensions ----


def _along(op, x, dim, keepdim):
    """Returns the reduction `op` of x along one dimension, several, or all (None). A traced array is reduced along one
    dimension after another, so `op` of its own results must be `op` of all elements. Raises Error if the result of a
    traced array has no dimensions."""
    if not isinstance(x, Array):
        return _call(op, (x,), dim=dim, keepdim=keepdim)
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = sorted({_dim(x, d) for d in dims}, reverse=True)
    if len(dims) == x.ndim and not keepdim:
        raise Error(f"{op}: expected a result of at least one dimension, found a number; keepdim=True keeps them as 1")
    for d in dims:
        x = _call(op, (x,), dim=d, keepdim=keepdim or None)
    return x


def sum(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:  # noqa: A001
    """Returns the sum along one dimension, several, or all (None): zellige.sum(x, -1, keepdim=True). keepdim keeps
    reduced dimensions with extent 1. Raises Error for a traced array if all dimensions are reduced without keepdim."""
    return _along("sum", x, dim, keepdim)


def mean(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
    """Returns the mean along one dimension, several, or all (None): zellige.mean(x, -1, keepdim=True). keepdim
    keeps reduced dimensions with extent 1. Raises Error for a traced array if all dimensions are reduced without
    keepdim."""
    return _along("mean", x, dim, keepdim)


def amax(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
    """Returns the maximum along one dimension, several, or all (None); NaN if an element is NaN: zellige.amax(x,
    -1). keepdim keeps reduced dimensions with extent 1. Raises Error for a traced array if all dimensions are
    reduced without keepdim."""
    return _along("amax", x, dim, keepdim)


def prod(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
    """Returns the product along one dimension, several, or all (None): zellige.prod(x, -1). keepdim keeps reduced
    dimensions with extent 1. Raises Error for a traced array if all dimensions are reduced without keepdim."""
    return _along("prod", x, dim, keepdim)


def amin(x: Any, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
    """Returns the minimum along one dimension, several, or all (None); NaN if an element is NaN: zellige.amin(x,
    -1). keepdim keeps reduced dimensions with extent 1. Raises Error for a traced array if all dimensions are
    reduced without keepdim."""
    return _along("amin", x, dim, keepdim)


def logsumexp(x: Any, dim: int, keepdim: bool = False) -> Any:
    """Returns ln(sum(exp(x))) along one dimension: zellige.logsumexp(x, -1). keepdim keeps that dimension with
    extent 1."""
    return _call("logsumexp", (x,), dim=_dim(x, dim), keepdim=keepdim)


def softmax(x: Any, dim: int = -1) -> Any:
    """Returns exp(x - max) / sum(exp(x - max)) along one dimension, in x's shape: zellige.softmax(x, -1)."""
    return _call("softmax", (x,), dim=_dim(x, dim))


def safe_softmax(x: Any, dim: int = -1) -> Any:
    """Returns softmax along one dimension, in x's shape, with 0 (not NaN) for a row that is all -inf:
    zellige.safe_softmax(x)."""
    return _call("safe_softmax", (x,), dim=_dim(x, dim))


def log_softmax(x: Any, dim: int = -1) -> Any:
    """Returns x - max - ln(sum(exp(x - max))) along one dimension, in x's shape: zellige.log_softmax(x, -1)."""
    return _call("log_softmax", (x,), dim=_dim(x, dim))


def rms_norm(x: Any, weight: Any = None, eps: float = 0.0) -> Any:
    """Returns x / sqrt(mean(x^2) + eps) along the last dimension, times the weight, in x's shape:
    zellige.rms_norm(x, weight, 1e-5). weight: shape (last dimension), or None."""
    return _call("rms_norm", (x,) if weight is None else (x, weight), eps=eps)


def layer_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 0.0) -> Any:
    """Returns c / sqrt(mean(c^2) + eps) with c = x - mean along the last dimension, times the weight, plus the
    bias, in x's shape. weight, bias: shape (last dimension), or None. Example: zellige.layer_norm(x, weight, bias,
    1e-5). Raises Error for a bias without a weight."""
    if weight is None and bias is not None:
        raise Error("layer_norm: expected a weight with the bias, found none")
    return _call("layer_norm", tuple(a for a in (x, weight, bias) if a is not None), eps=eps)


# What the library lists, as far as it is a function here: gelu has gelu_tanh, mul numbers, and graphs alone custom operators.
OPERATORS = (*(name for name in _native.operators() if name in globals()), "in_place")


for _name in OPERATORS:
    globals()[_name] = spoken(globals()[_name])
