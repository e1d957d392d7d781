"""Gives traced arrays NumPy's API: operators, ufuncs, functions and methods, each defined by Zellige's operators.

NumPy functions that are not in the tables below raise Error with the names of the known ones. NumPy's argument names
(axis, keepdims) are translated here and nowhere else. torch's methods (permute, view, float, to) exist too, for
functions written for torch arrays.
"""

from . import operators as op
from ._native import Error
from .einsum import einsum
from .tracing import Array


def _axis(function):
    """Returns a function that computes the reduction `function`, which has torch's arguments (dim, keepdim), and that
    accepts NumPy's arguments (axis, keepdims), too."""
    def along(x, axis=None, dtype=None, out=None, keepdims=False, **torch):
        axis, keepdims = torch.pop("dim", axis), torch.pop("keepdim", keepdims)
        if out is not None or torch:
            raise Error(f"{function.__name__}: expected axis and keepdims, found {', '.join(['out'] * (out is not None) + list(torch))}")
        x = x if dtype is None else op.cast(x, dtype)
        return function(x, list(axis) if isinstance(axis, tuple) else axis, keepdims is True)

    return along


def _var(x, dim=None, keepdim=False):
    """Returns the variance along dimensions, divided by the number of elements."""
    c = op.sub(x, op.mean(x, dim, True))
    return op.mean(op.square(c), dim, keepdim)


_sum, _mean, _max, _min, _prod = map(_axis, (op.sum, op.mean, op.amax, op.amin, op.prod))
_variance = _axis(_var)


def _std(x, *args, **kwargs):
    return op.sqrt(_variance(x, *args, **kwargs))


def _transpose(x, axes=None):
    return op.permute(x, list(range(x.ndim))[::-1] if axes is None else list(axes))


def _swap(x, a, b):
    dims = list(range(x.ndim))
    a, b = op._dim(x, a), op._dim(x, b)
    dims[a], dims[b] = b, a
    return op.permute(x, dims)


def _move(x, source, destination):
    """Returns x with dimension `source` moved to `destination`."""
    dims = [d for d in range(x.ndim) if d != op._dim(x, source)]
    dims.insert(op._dim(x, destination), op._dim(x, source))
    return op.permute(x, dims)


def _squeeze(x, axis=None):
    dims = range(x.ndim) if axis is None else [op._dim(x, d) for d in ([axis] if isinstance(axis, int) else axis)]
    gone = {d for d in dims if x.shape[d] == 1 or axis is not None}
    if any(x.shape[d] != 1 for d in gone):
        raise Error(f"squeeze: expected an extent of 1 along {axis}, found shape {x.shape}")
    return op._reshaped(x, [n for d, n in enumerate(x.shape) if d not in gone], "squeeze")


def _unsqueeze(x, axis):
    shape = list(x.shape)
    shape.insert(axis % (x.ndim + 1), 1)
    return op.reshape(x, shape)


def _concatenate(arrays, axis=0):
    return op.concat([op.reshape(a, (-1,)) for a in arrays] if axis is None else arrays, axis or 0)


def _stack(arrays, axis=0):
    return op.concat([_unsqueeze(a, axis) for a in arrays], axis % (arrays[0].ndim + 1))


def _parts(x, indices_or_sections, axis=0):
    """Implements numpy.split: returns equal parts for a number, or the parts between the given indices."""
    axis = op._dim(x, axis)
    extent = x.shape[axis]
    if isinstance(indices_or_sections, int):
        if extent % indices_or_sections:
            raise Error(f"split: expected parts of one size along {axis}, found {extent} elements for {indices_or_sections}")
        return op.split(x, [extent // indices_or_sections] * indices_or_sections, axis)
    ends = [0, *indices_or_sections, extent]
    return op.split(x, [b - a for a, b in zip(ends, ends[1:])], axis)


def _clip(x, lo=None, hi=None, *, min=None, max=None):
    lo, hi = (min if lo is None else lo), (max if hi is None else hi)
    x = x if lo is None else op.maximum(x, lo)
    return x if hi is None else op.minimum(x, hi)


def _take(x, key):
    """Returns x[key]. A key may have numbers, slices of step 1, None and ..., or be an int32 array, which gathers
    rows. Raises Error for other keys."""
    if isinstance(key, Array) or getattr(key, "shape", ()):
        return op.gather(x, key)
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > x.ndim:
        raise Error(f"indexing: expected at most {x.ndim} indices for shape {x.shape}, found {used}")
    if Ellipsis not in [k for k in keys if k is None or k is Ellipsis]:
        keys.append(Ellipsis)
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    keys[at : at + 1] = [slice(None)] * (x.ndim - used)
    shape, dim = [], 0
    for k in keys:
        if k is None:
            shape.append(1)
            continue
        extent = x.shape[dim]
        if isinstance(k, slice):
            start, end, step = k.indices(extent)
            if step != 1 or end <= start:
                raise Error(f"indexing: expected a slice of step 1 that is not empty, found {k} of {extent} elements")
            shape.append(end - start)
        else:
            start = k.__index__()
            if not -extent <= start < extent:
                raise Error(f"indexing: expected {-extent} to {extent - 1} along dimension {dim}, found {start}")
            start, end = start % extent, start % extent + 1
        if (start, end) != (0, extent):
            x = op.slice(x, dim, start, end)
        dim += 1
    return x if tuple(shape) == x.shape else op._reshaped(x, shape, "indexing")


_UFUNCS = {
    "add": op.add, "subtract": op.sub, "multiply": op.mul, "divide": op.div, "true_divide": op.div, "power": op.pow,
    "float_power": op.pow, "maximum": op.maximum, "minimum": op.minimum, "logaddexp": op.logaddexp, "matmul": op.matmul, "exp": op.exp, "log": op.log,
    "log1p": op.log1p,
    "sqrt": op.sqrt, "square": op.square, "negative": op.neg, "absolute": op.abs, "fabs": op.abs, "sin": op.sin, "cos": op.cos,
    "tanh": op.tanh, "equal": op.eq, "not_equal": op.ne, "less": op.lt, "less_equal": op.le, "greater": op.gt,
    "greater_equal": op.ge, "reciprocal": lambda x: op.div(1, x), "positive": lambda x: x, "clip": _clip,
}  # fmt: skip
_FUNCTIONS = {
    "where": op.where, "sum": _sum, "mean": _mean, "max": _max, "amax": _max, "min": _min, "amin": _min, "prod": _prod, "var": _variance,
    "std": _std, "transpose": _transpose, "permute_dims": _transpose, "swapaxes": _swap, "moveaxis": _move,
    "reshape": lambda x, shape, order="C": op.reshape(x, shape), "ravel": lambda x: op.reshape(x, (-1,)), "squeeze": _squeeze,
    "expand_dims": _unsqueeze, "broadcast_to": lambda x, shape: op.expand(x, list(shape)), "concatenate": _concatenate,
    "concat": _concatenate, "stack": _stack, "split": _parts, "clip": _clip, "shape": lambda x: x.shape, "ndim": lambda x: x.ndim,
    "size": lambda x: x.size, "dot": op.matmul, "einsum": einsum,
    "tril": lambda x, k=0: op.mask(x, tril=k, value=0), "triu": lambda x, k=0: op.mask(x, triu=k, value=0),
}  # fmt: skip


def _refused(kind, name, known):
    """Returns the Error for a call of the unsupported function `name`; the message lists the supported functions,
    `known`. `kind`: where the function comes from, such as "numpy"."""
    return Error(f"{kind} {name}: not known while tracing; known are {', '.join(sorted(known))}")


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    if method != "__call__" or ufunc.__name__ not in _UFUNCS:
        raise _refused("numpy", ufunc.__name__ + ("" if method == "__call__" else f".{method}"), _UFUNCS)
    if any(v is not None for v in kwargs.values()):
        raise Error(f"numpy {ufunc.__name__}: expected arrays alone while tracing, found {', '.join(kwargs)}")
    return _UFUNCS[ufunc.__name__](*inputs)


def _array_function(self, function, types, args, kwargs):
    if function.__name__ not in _FUNCTIONS:
        raise _refused("numpy", function.__name__, _FUNCTIONS)
    return _FUNCTIONS[function.__name__](*args, **kwargs)


def _shape_words(function):
    """Returns a method that calls `function`(array, shape), and accepts a shape as one argument or several, as in
    x.reshape((2, 3)) and x.reshape(2, 3)."""
    return lambda x, *words: function(x, words[0] if len(words) == 1 and not isinstance(words[0], int) else list(words))


def _to(x, dtype=None, **ignored):
    return x if dtype is None else op.cast(x, dtype)


def _members() -> dict:
    """Returns the methods and operators of traced arrays, by name."""
    def binary(function):
        return lambda x, y: function(x, y), lambda x, y: function(y, x)

    members = {"__array_ufunc__": _array_ufunc, "__array_function__": _array_function, "__getitem__": _take}
    for name, function in {"add": op.add, "sub": op.sub, "mul": op.mul, "truediv": op.div, "pow": op.pow, "matmul": op.matmul}.items():
        members[f"__{name}__"], members[f"__r{name}__"] = binary(function)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        members[f"__{name}__"] = getattr(op, name)
    members |= {"__neg__": op.neg, "__abs__": op.abs, "__pos__": lambda x: x}
    members |= {
        "sum": _sum, "mean": _mean, "max": _max, "min": _min, "amax": _max, "amin": _min, "prod": _prod, "var": _variance, "std": _std,
        "reshape": _shape_words(op.reshape), "view": _shape_words(op.reshape), "expand": _shape_words(op.expand),
        "permute": _shape_words(op.permute), "swapaxes": _swap, "squeeze": _squeeze, "unsqueeze": _unsqueeze, "clip": _clip,
        "clamp": _clip, "ravel": lambda x: op.reshape(x, (-1,)), "flatten": lambda x: op.reshape(x, (-1,)),
        "astype": lambda x, dtype, **_: op.cast(x, dtype), "to": _to, "float": lambda x: op.cast(x, "f32"),
        "half": lambda x: op.cast(x, "f16"), "bfloat16": lambda x: op.cast(x, "bf16"), "contiguous": lambda x: x,
        "copy": lambda x: x, "T": property(_transpose), "mT": property(lambda x: _swap(x, -1, -2)),
    }  # fmt: skip
    for name in ("exp", "log", "log1p", "sqrt", "rsqrt", "square", "sin", "cos", "tanh", "sigmoid", "relu", "softmax", "pow", "abs", "split"):
        members[name] = getattr(op, name)
    # NumPy's transpose takes all axes or none, torch's two to exchange. Two axes of a matrix mean the same in
    # both.
    members["transpose"] = lambda x, *axes: (
        _transpose(x, axes[0] if len(axes) == 1 else axes or None) if len(axes) != 2 or x.ndim == 2 else _swap(x, *axes)
    )
    return members


for _name, _member in _members().items():
    setattr(Array, _name, _member)
