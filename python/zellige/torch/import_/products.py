"""Matmuls of torch's graphs on traced arrays, with the precision that torch is set to."""

import torch

from ... import operators as op
from .schema import Left


def allows_tf32() -> bool:
    """Returns true if torch may multiply float32 matrices as tf32, by its setting for cuBLAS: allow_tf32,
    set_float32_matmul_precision and, from torch 2.9 on, fp32_precision all change it."""
    settings = torch.backends.cuda.matmul
    precision = getattr(settings, "fp32_precision", None)
    return settings.allow_tf32 if precision is None else precision == "tf32"


def matmul(x, y):
    """Returns x y; float32 operands are rounded to tf32 if torch allows that while the graph is traced. Raises Left for
    operands of two dtypes, which torch's kernels refuse; its declared results do not."""
    if x._dtype != y._dtype:
        raise Left(f"expected two matrices of one dtype, found {x._dtype} and {y._dtype}")
    return op.matmul(x, y, tf32=x._dtype == "f32" and allows_tf32())
