"""Applies an operator to traced arrays, NumPy arrays or torch tensors, for the functions of operators.py."""

import math

from . import dtypes
from ._native import Error
from .tracing import Array, is_scalar


def _is_torch(x) -> bool:
    """Returns true for torch tensors, and for objects of classes derived from torch's."""
    return type(x).__module__.partition(".")[0] == "torch" or any(c.__module__ == "torch" for c in type(x).__mro__[:-1])


def call(op: str, operands, results: int = 1, **attributes):
    """Applies the operator `op` to traced arrays, NumPy arrays or torch tensors; returns one result, or a list if
    there are several."""
    traced = next((x for x in operands if isinstance(x, Array)), None)
    if traced is not None:
        made = _traced(traced._trace, op, operands, results, attributes)
        return made if results > 1 or op == "split" else made[0]
    if any(_is_torch(x) for x in operands):
        from . import torch_operators as meaning
    else:
        from . import numpy_operators as meaning
    return getattr(meaning, op)(*operands, **attributes)


def _traced(trace, op, operands, results, attributes):
    """Records the operator `op` in a trace and returns its results. Arrays that are not traced become constant
    inputs, and dtypes are promoted."""
    arrays = [x if isinstance(x, Array) else trace.capture(x) for x in operands if not is_scalar(x)]
    promotes = op not in ("gather", "scatter", "slice_scatter", "where")
    if promotes and len({x._dtype for x in arrays}) > 1:
        common = dtypes.promoted([x._dtype for x in arrays])
        arrays = [x if x._dtype == common else call("cast", (x,), dtype=common) for x in arrays]
    scalars = [x for x in operands if is_scalar(x)]
    form = {k: v for k, v in attributes.items() if v is not None}
    if scalars:
        form["scalar"] = number(scalars[0])
    if "value" in form:
        form["value"] = number(form["value"])
    return trace.append(op, arrays, form, results)


def number(x):
    """Returns a number in the graph's JSON form, in which infinities are "inf" and "-inf"."""
    x = x.item() if hasattr(x, "item") else x
    return ("inf" if x > 0 else "-inf") if isinstance(x, float) and math.isinf(x) else x


def dim_of(x, dim: int) -> int:
    """Returns dim counted from 0; a negative dim counts from the end. Raises Error if it is out of range."""
    if not -x.ndim <= dim < x.ndim:
        raise Error(f"dim: expected {-x.ndim} to {x.ndim - 1} for shape {tuple(x.shape)}, found {dim}")
    return dim % x.ndim
