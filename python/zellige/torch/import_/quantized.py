"""Products of narrow numbers in torch's graphs on traced arrays: torch._int_mm, and torch._scaled_mm with one scale or a
scale for each row and column."""

import torch

from ... import dtypes
from ... import operators as op
from .schema import Left

aten = torch.ops.aten


def int_mm(x, y):
    """Returns x y of int8 matrices as int32."""
    if (x._dtype, y._dtype) != ("int8", "int8"):
        raise Left(f"expected two matrices of int8, found {x._dtype} and {y._dtype}")
    return op.matmul(x, y)


def _scale(scale, extent: int, dim: int, what: str):
    """Returns a scale as a matrix that broadcasts to the product: of one number, or with a number for each of `extent` rows
    (dim 0) or columns (dim 1)."""
    count = 1
    for n in scale.shape:
        count *= n
    if scale._dtype != "f32" or count not in (1, extent):
        raise Left(f"expected {what} of float32 with 1 or {extent} numbers, found {scale._dtype} {scale.shape}")
    return op.reshape(scale, (1, 1) if count == 1 else (extent, 1) if dim == 0 else (1, extent))


def scaled_mm(x, y, scale_x, scale_y, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """Returns (x scale_x) (y scale_y) + bias, rounded to out_dtype: a product of 8-bit floats, and of it the scales."""
    if x._dtype != y._dtype or x._dtype not in ("e4m3", "e5m2"):
        raise Left(f"expected two matrices of float8_e4m3fn or float8_e5m2, found {x._dtype} and {y._dtype}")
    if scale_result is not None:
        raise Left("expected no scale of the result, found one")
    made = op.matmul(x, y)
    made = op.mul(made, _scale(scale_x, x.shape[0], 0, "scale_a"))
    made = op.mul(made, _scale(scale_y, y.shape[1], 1, "scale_b"))
    if bias is not None:
        made = op.add(made, op.cast(bias, "f32"))
    return op.cast(made, dtypes.name_of(out_dtype) if out_dtype is not None else x._dtype)


QUANTIZED = {aten._int_mm.default: int_mm, aten._scaled_mm.default: scaled_mm}
