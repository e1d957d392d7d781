"""Operators that place elements elsewhere: views, joins, masks, rotations of pairs, and gather and scatter by index.

The module operators has them with the others, and checks their arguments.
"""

import math
from collections.abc import Sequence
from typing import Any

from ._native import Error
from .dispatch import call as _call
from .dispatch import dim_of as _dim
from .dispatch import number as _number
from .signatures import is_int, shown
from .tracing import Array, is_scalar

# ---- Views and joins ----


def permute(x: Any, dims: Sequence[int]) -> Any:
    """Reorders dimensions: dimension d of the result is dimension dims[d] of x. zellige.permute(x, (1, 0))
    transposes a matrix."""
    return _call("permute", (x,), dims=[_dim(x, d) for d in dims])


def reshape(x: Any, shape: int | Sequence[int]) -> Any:
    """Returns the elements of x, in row-major order, in another shape: zellige.reshape(x, (4, -1)). One extent may
    be -1, which is inferred. Raises Error if it cannot be."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    if shape.count(-1) == 1:
        rest = math.prod(n for n in shape if n != -1)
        size = math.prod(x.shape)
        if rest == 0 or size % rest:
            raise Error(f"reshape: expected a shape of {size} elements, as {tuple(x.shape)} has, found {tuple(shape)}")
        shape[shape.index(-1)] = size // rest
    return _call("reshape", (x,), shape=shape)


def expand(x: Any, shape: Sequence[int]) -> Any:
    """Broadcasts x to a shape: zellige.expand(x, (8, -1)). -1 keeps an extent."""
    leading = len(shape) - len(x.shape)
    shape = [x.shape[i - leading] if n == -1 and i >= leading else n for i, n in enumerate(shape)]
    return _call("expand", (x,), shape=shape)


def slice(x: Any, dim: int, start: int, end: int) -> Any:  # noqa: A001
    """Returns the elements from `start` up to, not including, `end` along a dimension: zellige.slice(x, -1, 0,
    64)."""
    return _call("slice", (x,), dim=_dim(x, dim), start=start, end=end)


def unfold(x: Any, dim: int, size: int, step: int = 1, *, dilation: int = 1, padding: int | Sequence[int] = 0) -> Any:
    """Returns the windows of x along a dimension, as torch.Tensor.unfold does: zellige.unfold(x, 1, 3) of x(n, 10) has shape
    (n, 8, 3). Their number takes the place of the extent, and their `size` elements are the last dimension. Windows begin
    every `step` elements, and have every `dilation`-th element. padding: the number of zeros before and after the
    dimension, or both.
    """
    before, after = (padding, padding) if is_int(padding) else padding
    return _call("unfold", (x,), dim=_dim(x, dim), size=size, step=step, dilation=dilation, padding=[before, after])


def concat(arrays: Sequence[Any], dim: int = 0) -> Any:
    """Concatenates arrays along a dimension: zellige.concat([x, y], -1). Their other extents must be equal."""
    arrays = list(arrays)
    first = next((a for a in arrays if isinstance(a, Array)), arrays[0])
    return arrays[0] if len(arrays) == 1 else _call("concat", arrays, dim=_dim(first, dim))


def split(x: Any, sizes: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Splits x along a dimension into parts of the given sizes: zellige.split(x, [64, 64], -1). sizes may also be one
    number, the size of every part; the last part may be smaller."""
    dim = _dim(x, dim)
    if isinstance(sizes, int):
        if sizes < 1:
            raise Error(f"split: expected a size of at least 1, found {sizes}")
        extent = x.shape[dim]
        sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)]
    return _call("split", (x,), results=len(sizes), dim=dim, sizes=list(sizes))


def mask(
    x: Any, *, tril: int | None = None, triu: int | None = None, length: Any = None, first: Any = None, value: float = -math.inf, dims: Sequence[int] = (-2, -1)
) -> Any:
    """Returns x, with `value` where a condition on the position does not hold.

      scores = zellige.mask(scores, tril=0)       # causal attention

    With i and j the coordinates along `dims`, the conditions are j - i <= tril, j - i >= triu, j < length and j >= first;
    None: no condition. `length` may be, and `first` is, an array of int32 that broadcasts to x. The result has x's shape.
    """
    if isinstance(x, Array) and first is not None:
        if isinstance(length, Array):
            x, length = mask(x, length=length, value=value, dims=dims), None
        return _call("mask", (x, first), tril=tril, triu=triu, length=length, first=True, value=value, dims=[_dim(x, d) for d in dims])
    given, length = ((x, length), None) if isinstance(length, Array) else ((x,), length)
    return _call("mask", given, tril=tril, triu=triu, length=length, first=first, value=value, dims=[_dim(x, d) for d in dims])


def rotary(x: Any, cos: Any, sin: Any) -> Any:
    """Rotates pairs of elements of the last dimension: (a, b) becomes (a cos - b sin, b cos + a sin).

      q = zellige.rotary(q, cos, sin)

    The a are the first half of the dimension and the b the second half, as in GPT-NeoX and Llama. The result has
    x's shape.
    """
    return _call("rotary", (x, cos, sin))


def rotary_interleaved(x: Any, cos: Any, sin: Any) -> Any:
    """Rotates pairs of elements of the last dimension: (a, b) becomes (a cos - b sin, b cos + a sin).

      q = zellige.rotary_interleaved(q, cos, sin)

    The elements of a pair are adjacent, as in GPT-J. The result has x's shape.
    """
    return _call("rotary_interleaved", (x, cos, sin))


# ---- Gather and scatter by index ----


def gather(x: Any, numbers: Any) -> Any:
    """Returns the rows x[numbers[i, ...]] of x: zellige.gather(table, ids). numbers: int32 indices; the result's
    shape is numbers' shape, followed by that of a row."""
    return _call("gather", (x, numbers))


def scatter(x: Any, numbers: Any, updates: Any) -> Any:
    """Returns x with row numbers[i, ...] replaced by updates[i, ...]: zellige.scatter(cache, slots, rows).
    numbers: int32 indices, each at most once."""
    return _call("scatter", (x, numbers, updates))


def slice_scatter(x: Any, part: Any, dim: int, start: Any) -> Any:
    """Returns x with `part` in place of the elements from `start` on along a dimension:
    zellige.slice_scatter(cache, rows, 0, at). start: a number, or an int32 array of shape (1)."""
    dim = _dim(x, dim)
    if isinstance(x, Array) and is_scalar(start):
        if not is_int(_number(start)):
            raise Error(f"slice_scatter: expected an integer or an int32 array for start, found {shown(start)}")
        return _call("slice_scatter", (x, part), dim=dim, start=int(start))
    if isinstance(x, Array):
        return _call("slice_scatter", (x, part, start), dim=dim)
    return _call("slice_scatter", (x, part), dim=dim, start=start)


def in_place(y: Any, x: Any) -> Any:
    """Declares that y, computed from x by scatter or slice_scatter, is stored in the memory of x, a parameter of
    the function, and returns y. So a cache is updated in place:

      return zellige.in_place(zellige.scatter(cache, slots, rows), cache)

    For NumPy and torch arrays, copies y to x and returns x.
    """
    if not isinstance(y, Array):
        x[...] = y
        return x
    if not isinstance(x, Array) or y._trace.producer(x) is not None:
        raise Error(f"in_place: expected a parameter of the function, whose memory the result takes, found {shown(x)}")
    for op in y._trace.operators:
        for i, output in enumerate(op["outputs"]):
            if output == y._name:
                op["outputs"][i] = {"name": output, "memory": x._name}
    return y
