"""Products of narrow numbers in torch's graphs on traced arrays: torch._int_mm, torch._weight_int8pack_mm, torch._weight_int4pack_mm, and torch._scaled_mm
with one scale, a scale for each row and column, or for each block of 1 x 128 or 128 x 128."""

import torch

from ... import dtypes
from ... import operators as op
from . import custom
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


def _by_blocks(x, scale, along: int, what: str):
    """Returns a matrix of 8-bit floats times its scales, as bf16: `scale` has a number for each 128 elements along dimension
    `along`, of each index of the other dimension or of each 128."""
    n = scale.shape
    blocks = (1, 128) if along == 1 else (128, 1)
    if n == tuple(-(-e // 128) for e in x.shape):
        blocks = (128, 128)
    if scale._dtype != "f32" or any(e % b for e, b in zip(x.shape, blocks, strict=True)) or n != tuple(e // b for e, b in zip(x.shape, blocks, strict=True)):
        raise Left(f"expected {what} of float32 for blocks of 1 x 128 or 128 x 128 that divide {x.shape}, found {scale._dtype} {n}")
    shape = (n[0], blocks[0], n[1], blocks[1])
    each = op.mul(op.reshape(op.cast(x, "f32"), shape), op.reshape(scale, (n[0], 1, n[1], 1)))
    return op.cast(op.reshape(each, x.shape), "bf16")


def _has_blocks(scale, x, along: int) -> bool:
    """Returns whether a scale has several numbers along K of the matrix, or is one of several blocks of the other dimension."""
    k = -(-x.shape[along] // 128)
    return len(scale.shape) == 2 and scale.shape[along] == k and (k > 1 or scale.shape[1 - along] not in (1, x.shape[1 - along]))


def scaled_mm(x, y, scale_x, scale_y, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """Returns (x scale_x) (y scale_y) + bias, rounded to out_dtype: a product of 8-bit floats, and of it the scales. Scales of
    blocks of K multiply the operands, which are rounded to bf16."""
    if x._dtype != y._dtype or x._dtype not in ("e4m3", "e5m2"):
        raise Left(f"expected two matrices of float8_e4m3fn or float8_e5m2, found {x._dtype} and {y._dtype}")
    if scale_result is not None:
        raise Left("expected no scale of the result, found one")
    if _has_blocks(scale_x, x, 1) or _has_blocks(scale_y, y, 0):
        made = op.matmul(_by_blocks(x, scale_x, 1, "scale_a"), _by_blocks(y, scale_y, 0, "scale_b"))
        if bias is None and out_dtype is torch.bfloat16:
            return made
        made = op.cast(made, "f32")
    else:
        made = op.matmul(x, y, precision="bf16")  # as torch's: wgmma keeps 13 bits of 32 products
        made = op.mul(made, _scale(scale_x, x.shape[0], 0, "scale_a"))
        made = op.mul(made, _scale(scale_y, y.shape[1], 1, "scale_b"))
    if bias is not None:
        made = op.add(made, op.cast(bias, "f32"))
    return op.cast(made, dtypes.name_of(out_dtype) if out_dtype is not None else x._dtype)


def weight_int8pack_mm(x, w, scales):
    """Returns x (w scales)^T for a weight of int8 (n, k) and a scale for each of its rows."""
    if w._dtype != "int8" or x._dtype not in ("f16", "bf16"):
        raise Left(f"expected a matrix of float16 or bfloat16 and a weight of int8, found {x._dtype} and {w._dtype}")
    n, _ = w.shape
    wide = op.mul(op.cast(w, x._dtype), op.reshape(op.cast(scales, x._dtype), (n, 1)))
    return op.matmul(x, op.permute(wide, (1, 0)))


def int4_mm(x, weight, inner, group, numbers, rows, scales):
    """Returns x (q scale + zero)^T for a weight q of int4 (n, k), `rows`, and for each group of a row its scale and its zero, which are
    `scales` (2, n, groups)."""
    if x._dtype != scales._dtype:
        raise Left(f"expected scales and zeros of {x._dtype}, found {scales._dtype}")
    _, n, groups = scales.shape
    scale, zero = (op.reshape(op.slice(scales, 0, i, i + 1), (n, groups, 1)) for i in (0, 1))
    wide = op.add(op.mul(op.reshape(op.cast(rows, x._dtype), (n, groups, group)), scale), zero)
    return op.matmul(x, op.permute(op.reshape(wide, (n, groups * group)), (1, 0)))


QUANTIZED = {
    aten._int_mm.default: int_mm,
    aten._scaled_mm.default: scaled_mm,
    aten._weight_int8pack_mm.default: weight_int8pack_mm,
    custom.INT4_MM: int4_mm,
}
