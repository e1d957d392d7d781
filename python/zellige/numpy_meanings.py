"""What the functions and methods of NumPy mean on traced arrays, by their parameters' names (numpy_api.py has the signatures)."""

import math
import operator

from . import array_rules as rule
from . import array_views as view
from . import dtypes
from . import operators as op
from ._native import Error
from .signatures import NoValue, dim_of, dims_of, is_int, shown, truth_of
from .promotion import NUMPY, logical, traced
from .tracing import Array, as_numbers, truth

ELEMENTWISE = rule.functions(NUMPY)


def copied(x):
    """Returns a copy of x, which an in-place operator may change without changing x."""
    return truth(x) if x._truth else as_numbers(x)


def cast(x, dtype):
    """Returns x in a dtype of NumPy or torch; bool gives where x is not 0."""
    if dtype is bool or getattr(dtype, "name", str(dtype).removeprefix("torch.")) in ("bool", "bool_", "?"):
        return logical(x)
    return op.cast(x, float if dtype is None else dtype)


def same_kind(x, dtype):
    """Returns x in a dtype of the same kind, as NumPy converts operands. Raises Error for a conversion that loses more."""
    import numpy

    if not isinstance(x, Array) or dtype is None:
        return x
    if dtype is bool or not x._truth and not numpy.can_cast(x.dtype, dtypes.numpy_dtype(dtypes.name_of(dtype)), "same_kind"):
        raise Error(f"expected a dtype to which NumPy casts {x._dtype} by casting='same_kind', found {shown(dtype)}")
    return cast(x, dtype)


def axes_of(x, axis):
    if isinstance(axis, list):
        raise Error(f"expected an integer or a tuple of integers for axis, found {shown(axis)}")
    return dims_of(x, axis, "axis")


# ---- Reductions ----


def sum_of(function, floats=False):
    def along(x, axis=None, dtype=None, keepdims=False):
        x = rule.accumulated(NUMPY, x, dtype, floats)
        return rule.reduced(NUMPY, function, x, axes_of(x, axis), truth_of(keepdims, "keepdims"))

    return along


def extreme(function):
    return lambda x, axis=None, keepdims=False: rule.reduced(NUMPY, function, x, axes_of(x, axis), truth_of(keepdims, "keepdims"))


def spread(root):
    def along(x, axis=None, dtype=None, ddof=0, keepdims=False, correction=NoValue):
        if correction is not NoValue and ddof:
            raise Error(f"expected one of ddof and correction, found {ddof} and {correction}")
        x = x if dtype is None else op.cast(x, dtype)
        return rule.variance(NUMPY, x, axes_of(x, axis), truth_of(keepdims, "keepdims"), ddof if correction is NoValue else correction, root)

    return along


def any_or_all(function):
    return lambda x, axis=None, keepdims=False: rule.holds(NUMPY, function, x, axes_of(x, axis), truth_of(keepdims, "keepdims"))


# ---- Views and joins ----


def transpose(x, axes=None):
    axes = (axes,) if is_int(axes) else axes
    if axes is not None and not isinstance(axes, (tuple, list)):
        raise Error(f"expected a tuple of {x.ndim} integers for axes, found {shown(axes)}")
    return view.permuted(x, range(x.ndim)[::-1] if axes is None else axes)


def check_order(order):
    if order != "C":
        raise Error(f"expected order='C' while tracing, found order={shown(order)}")


def reshape(x, shape, order="C", copy=None):
    check_order(order)
    if copy is not None and copy is not True:
        raise Error(f"expected copy=None or True while tracing, found copy={shown(copy)}")
    return view.shaped(x, shape)


def ravel(x, order="C"):
    return reshape(x, -1, order)


def squeeze(x, axis=None):
    dims = [d for d, n in enumerate(x.shape) if n == 1] if axis is None else axes_of(x, axis)
    if any(x.shape[d] != 1 for d in dims):
        raise Error(f"expected an extent of 1 along axis {shown(axis)}, found shape {x.shape}")
    return view.without(x, dims)


def concatenate(arrays, axis=0, dtype=None):
    if isinstance(arrays, Array):
        arrays = list(arrays)
    if dtype is not None:
        arrays = [same_kind(a, dtype) for a in arrays]
    if axis is None:
        if any(op.is_scalar(a) for a in arrays):
            raise Error(f"expected arrays with dimensions, found {shown(tuple(arrays))}")
        return view.joined(NUMPY, [view.shaped(a, -1) if isinstance(a, Array) else a.reshape(-1) for a in arrays], 0)
    return view.joined(NUMPY, arrays, axis)


def stack(arrays, axis=0, dtype=None):
    arrays = [same_kind(a, dtype) for a in arrays]
    return view.stacked(NUMPY, arrays, axis)


def split(x, indices_or_sections, axis=0):
    """Implements numpy.split: returns equal parts for a number, or the parts between the given indices."""
    axis = dim_of(x, axis, "axis")
    extent = x.shape[axis]
    if is_int(indices_or_sections):
        count = operator.index(indices_or_sections)
        if count < 1 or extent % count:
            raise Error(f"expected parts of one size along axis {axis}, found {extent} elements for {count} parts")
        return view.parts(x, [extent // count] * count, axis)
    if not isinstance(indices_or_sections, (tuple, list)) or not all(map(is_int, indices_or_sections)):
        raise Error(f"expected a number of parts, or a tuple or list of indices, found {shown(indices_or_sections)}")
    ends = [0, *(slice(0, i).indices(extent)[1] for i in indices_or_sections), extent]
    return view.parts(x, [b - a for a, b in zip(ends, ends[1:])], axis)


def clip(x, a_min=NoValue, a_max=NoValue, min=NoValue, max=NoValue):
    given = [v is not NoValue for v in (a_min, a_max, min, max)]
    if any(given[:2]) and any(given[2:]) or given[0] != given[1]:
        raise Error("expected a_min and a_max together, or min and max, found another mixture")
    lo, hi = ((None if v is NoValue else v) for v in ((min, max) if any(given[2:]) else (a_min, a_max)))
    made = as_numbers(x) if not x._truth else x
    made = made if lo is None else ELEMENTWISE["maximum"](made, lo)
    return made if hi is None else ELEMENTWISE["minimum"](made, hi)


def where(condition, x=None, y=None):
    if x is None or y is None:
        raise Error("expected a condition and two operands; with a condition alone the result's size depends on values")
    return rule.selected(NUMPY, condition, x, y)


def dot(x, y):
    """Implements numpy.dot: for arrays of more dimensions, sums over the last of x and the last but one of y."""
    if op.is_scalar(x) or op.is_scalar(y):
        raise Error(f"expected arrays with dimensions, found the number {x if op.is_scalar(x) else y}; multiply by it")
    like = x if isinstance(x, Array) else y
    x, y = traced(x, like), traced(y, like)
    if x.ndim < 3 and y.ndim < 3 or y.ndim == 1:
        return view.product(NUMPY, x, y)
    x, y = NUMPY.operands([x, y])[1]
    if x.shape[-1] != y.shape[-2]:
        raise Error(f"expected the last dimension of the left operand to equal the last but one of the right, found {x.shape[-1]} and {y.shape[-2]} in {x.shape} and {y.shape}")
    rows, columns = x.shape[:-1], (*y.shape[:-2], y.shape[-1])
    order = [y.ndim - 2, *range(y.ndim - 2), y.ndim - 1]
    left = op.reshape(x, (math.prod(rows), x.shape[-1]))
    right = op.reshape(op.permute(y, order), (y.shape[-2], math.prod(columns)))
    return op.reshape(view.matrix(left, right), (*rows, *columns))


def triangle(name):
    def kept(x, k=0):
        if not is_int(k):
            raise Error(f"expected an integer for k, found {shown(k)}")
        if x.ndim < 2:
            raise Error(f"expected at least two dimensions, found shape {x.shape}")
        made = op.mask(x, **{name: operator.index(k)}, value=0)
        return truth(made) if x._truth else made

    return kept


def broadcast(x, shape):
    return view.broadcast(x, shape)


def expand_dims(x, axis):
    return view.inserted(x, axis)


# ---- Tables ----
