"""Applies an operator to traced arrays, NumPy arrays or torch tensors, for the functions of operators.py."""

import math
import numbers

from . import _native, dtypes, exchange
from ._native import Error
from .tracing import Array, is_scalar


def call(op: str, operands, results: int = 1, **attributes):
    """Applies the operator `op` to traced arrays, NumPy arrays or torch tensors; returns one result, or a list if
    there are several."""
    traced = next((x for x in operands if isinstance(x, Array)), None)
    if traced is not None:
        made = _traced(traced._trace, op, operands, results, attributes)
        return made if results > 1 or op == "split" else made[0]
    for x in operands:
        exchange.check_supported(x)
    if any(exchange.is_torch(x) for x in operands):
        from .torch.tensors import operators as meaning
    else:
        from . import numpy_operators as meaning
    return getattr(meaning, op)(*operands, **attributes)


def _traced(trace, op, operands, results, attributes):
    """Records the operator `op` in a trace and returns its results. Arrays that are not traced become constant
    inputs, and dtypes are promoted."""
    arrays = [x if isinstance(x, Array) else trace.capture(x) for x in operands if not is_scalar(x)]
    law = _native.operators()[op]
    promotes = law["family"] != "rows" and op not in ("where", "mask")
    if promotes and len({x._dtype for x in arrays}) > 1:
        common = dtypes.promoted([x._dtype for x in arrays])
        arrays = [x if x._dtype == common else call("cast", (x,), dtype=common) for x in arrays]
    form = {k: v for k, v in attributes.items() if v is not None}
    for x in operands:
        if is_scalar(x) and law["scalar"] == "none":
            raise Error(f"{op}: expected arrays, found the number {x}")
        if is_scalar(x) and trace.array_type is not Array and not _is_exact(op, number(x), arrays[0]._dtype):
            op = "mul" if op == "mul_scalar" else op
            arrays.append(trace.constant(number(x), arrays[0]._dtype))
        elif is_scalar(x):
            form["scalar"] = json_number(op, number(x), arrays[0]._dtype)
    if "value" in form:
        form["value"] = json_number(op, number(form["value"]), arrays[0]._dtype)
    return trace.append(op, arrays, form, results)


_LARGEST, _SMALLEST = (2 - 2.0**-24) * 2.0**127, 2.0**-150  # what float32 rounds to a number that is not infinite, and not 0


def _is_exact(op, x, dtype="f32") -> bool:
    """Returns true if a graph can have the number as the operator's `scalar`, which is rounded to float32 but for f64."""
    if isinstance(x, int):
        return abs(x) <= (2**53 if dtype == "f64" else 2**24)
    return dtype == "f64" and math.isfinite(x) or abs(x) <= _LARGEST or (math.isinf(x) and _native.operators()[op]["scalar"] == "any")


def json_number(op, x, dtype="f32"):
    """Returns a number in the graph's JSON form, in which infinities are "inf" and "-inf". One that float32 does not reach is
    infinite or 0, as torch's kernels have it, unless the operands are of f64. Raises Error for NaN."""
    if isinstance(x, float) and math.isnan(x):
        raise Error(f"{op}: expected a number, found nan")
    if isinstance(x, float) and dtype != "f64" and (abs(x) > _LARGEST or abs(x) < _SMALLEST):
        x = math.copysign(math.inf if abs(x) > _LARGEST else 0.0, x)
    return ("inf" if x > 0 else "-inf") if isinstance(x, float) and math.isinf(x) else x


def number(x):
    """Returns the number of Python, an int or a float, that x is. Raises Error for other numbers, such as complex ones."""
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, numbers.Integral):
        return int(x)
    if not isinstance(x, numbers.Real):
        raise Error(f"expected a real number, found {x!r}")
    try:
        return float(x)
    except OverflowError:
        raise Error(f"expected a number that float64 has, found {x!r}") from None


def dim_of(x, dim: int) -> int:
    """Returns dim counted from 0; a negative dim counts from the end. Raises Error if it is out of range."""
    if not -x.ndim <= dim < x.ndim:
        raise Error(f"dim: expected {-x.ndim} to {x.ndim - 1} for shape {tuple(x.shape)}, found {dim}")
    return dim % x.ndim
