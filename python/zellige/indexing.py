"""Implements x[key] of traced arrays: numbers, slices, None, ..., and lists or arrays of numbers along one dimension."""

from . import operators as op
from ._native import Error
from .array_views import shaped
from .signatures import is_int, shown
from .tracing import Array


def take(x, key, backwards=True):
    """Returns x[key]. `backwards`: slices may have negative steps, as NumPy's. Raises Error for keys that the module's
    docstring does not name, and for results that are empty or have no dimensions."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for k in keys:
        _check(k)
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > x.ndim:
        raise Error(f"expected at most {x.ndim} indices for shape {x.shape}, found {used}")
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise Error("expected one ellipsis at most, found several")
    at = dots[0] if dots else len(keys)
    keys[at : at + 1] = [slice(None)] * (x.ndim - used)
    lists = [k for k in keys if _is_list(k)]
    if len(lists) > 1 or lists and any(map(is_int, keys)):
        raise Error(f"expected a list or array of numbers for one dimension, and no number with it, found {shown(key)}")
    shape, dim, gone = [], 0, []
    for k in keys:
        if k is None:
            shape.append(1)
            continue
        if is_int(k):
            x = _number(x, dim, k)
            gone.append(dim)
        elif isinstance(k, slice):
            x = _slice(x, dim, k, backwards)
        else:
            x, more = _rows(x, dim, k)
            shape += x.shape[dim : dim + more]
            dim += more
            continue
        if not is_int(k):
            shape.append(x.shape[dim])
        dim += 1
    if not shape:
        raise Error(f"expected a result of at least one dimension, found a number for shape {x.shape}; keep one by a slice such as 0:1")
    return x if tuple(shape) == x.shape else shaped(x, shape)


def _is_list(k) -> bool:
    return isinstance(k, (list, Array)) or bool(getattr(k, "shape", ()))


def _check(k):
    """Raises Error for a key that is none of those of NumPy and torch, or is not supported."""
    if k is None or k is Ellipsis or is_int(k) or _is_list(k):
        return
    if not isinstance(k, slice):
        raise Error(f"expected integers, slices, None, ... or a list of integers, found {shown(k)}")
    for end in (k.start, k.stop, k.step):
        if end is not None and not is_int(end):
            raise Error(f"expected a slice of integers, found {shown(end)}")


def _number(x, dim, k):
    """Returns x with element k along a dimension, which has then extent 1."""
    extent, at = x.shape[dim], k.__index__()
    if not -extent <= at < extent:
        raise Error(f"expected {-extent} to {extent - 1} along dimension {dim}, found {at}")
    return x if extent == 1 else op.slice(x, dim, at % extent, at % extent + 1)


def _slice(x, dim, k, backwards):
    extent = x.shape[dim]
    if k.step is not None and k.step.__index__() == 0 or not backwards and k.step is not None and k.step.__index__() < 0:
        raise Error(f"expected a slice of a step {'other than 0' if backwards else 'above 0'}, found {k.step}")
    start, end, step = k.indices(extent)
    count = len(range(start, end, step))
    if count == 0:
        raise Error(f"expected a slice that is not empty, found {_words(k)} of {extent} elements along dimension {dim}")
    if step < 0:
        return _gathered(x, dim, list(range(start, end, step)))
    if step == 1:
        return x if count == extent else op.slice(x, dim, start, end)
    if count == 1:
        return op.slice(x, dim, start, start + 1)
    if start + count * step <= extent:
        return _every(x, dim, start, count, step)
    head = _every(x, dim, start, count - 1, step)  # what remains after the last element is less than a step
    last = start + (count - 1) * step
    return op.concat([head, op.slice(x, dim, last, last + 1)], dim)


def _every(x, dim, start, count, step):
    """Returns `count` elements along a dimension from `start` on, one of every `step`."""
    if count == 1:
        return op.slice(x, dim, start, start + 1)
    whole = x if (start, count * step) == (0, x.shape[dim]) else op.slice(x, dim, start, start + count * step)
    pairs = op.reshape(whole, (*x.shape[:dim], count, step, *x.shape[dim + 1 :]))
    return op.reshape(op.slice(pairs, dim + 1, 0, 1), (*x.shape[:dim], count, *x.shape[dim + 1 :]))


def _words(k) -> str:
    return ":".join("" if n is None else str(n) for n in (k.start, k.stop, k.step))


def _rows(x, dim, k):
    """Returns (x with the elements numbered by k along a dimension, the number of dimensions that k has)."""
    if isinstance(k, Array):
        if k._truth or k._dtype != "int32":
            raise Error(f"expected int32 numbers, found {'a result of a comparison, which selects a number of elements that is not known' if k._truth else k._dtype}")
        return _gathered(x, dim, k), k.ndim
    import numpy

    try:
        found = numpy.asarray(k)
    except ValueError:
        raise Error(f"expected a list of integers, found {shown(k)}") from None
    if found.dtype.kind not in "iu" or found.size == 0:
        raise Error(f"expected a list of integers that is not empty, found {shown(k)}")
    extent = x.shape[dim]
    wrong = found[(found < -extent) | (found >= extent)]
    if wrong.size:
        raise Error(f"expected {-extent} to {extent - 1} along dimension {dim}, found {wrong.flat[0]}")
    return _gathered(x, dim, numpy.where(found < 0, found + extent, found)), found.ndim


def _gathered(x, dim, numbers):
    """Returns x with the elements of the given numbers along a dimension: a list, a NumPy array or a traced one."""
    if not isinstance(numbers, Array):
        numbers = x._trace.constant(numbers, "int32")
    if dim == 0:
        return op.gather(x, numbers)
    order = [dim, *(d for d in range(x.ndim) if d != dim)]
    found = op.gather(op.permute(x, order), numbers)
    more = numbers.ndim
    back = [more + d for d in range(dim)] + list(range(more)) + list(range(more + dim, found.ndim))
    return op.permute(found, back)
