"""Gives traced arrays NumPy's API: ufuncs, functions, methods and operators, under NumPy's own signatures.

A function that is in no table is refused with the names of the known ones. What its form (faces.py) has as parameters and its
meaning has not is accepted at its default only.
"""

import math
import operator

from . import array_rules as rule
from . import dtypes
from . import operators as op
from ._native import Error
from .call_site import refused, speaking
from .einsum import einsum
from .faces import Form, NoValue, call, dim_of, dims_of, is_int, shown, truth_of
from .indexing import take
from .members import either, equip, missing
from .promotion import NUMPY, logical, traced
from .tracing import Array, plain, truth


def cast(x, dtype):
    """Returns x in a dtype of NumPy or torch; bool gives where x is not 0."""
    if dtype is bool or getattr(dtype, "name", str(dtype).removeprefix("torch.")) in ("bool", "bool_", "?"):
        return logical(x)
    return op.cast(x, float if dtype is None else dtype)


def _same_kind(x, dtype):
    """Returns x in a dtype of the same kind, as NumPy converts operands. Raises Error for a conversion that loses more."""
    import numpy

    if not isinstance(x, Array) or dtype is None:
        return x
    if dtype is bool or not x._truth and not numpy.can_cast(x.dtype, dtypes.numpy_dtype(dtypes.name_of(dtype)), "same_kind"):
        raise Error(f"expected a dtype to which NumPy casts {x._dtype} by casting='same_kind', found {shown(dtype)}")
    return cast(x, dtype)


def _axes(x, axis):
    if isinstance(axis, list):
        raise Error(f"expected an integer or a tuple of integers for axis, found {shown(axis)}")
    return dims_of(x, axis, "axis")


# ---- Reductions ----


def _sum_of(function, floats=False):
    def along(x, axis=None, dtype=None, keepdims=False):
        x = rule.accumulated(NUMPY, x, dtype, floats)
        return rule.reduced(NUMPY, function, x, _axes(x, axis), truth_of(keepdims, "keepdims"))

    return along


def _extreme(function):
    return lambda x, axis=None, keepdims=False: rule.reduced(NUMPY, function, x, _axes(x, axis), truth_of(keepdims, "keepdims"))


def _spread(root):
    def along(x, axis=None, dtype=None, ddof=0, keepdims=False, correction=NoValue):
        if correction is not NoValue and ddof:
            raise Error(f"expected one of ddof and correction, found {ddof} and {correction}")
        x = x if dtype is None else op.cast(x, dtype)
        return rule.variance(NUMPY, x, _axes(x, axis), truth_of(keepdims, "keepdims"), ddof if correction is NoValue else correction, root)

    return along


def _held(function):
    return lambda x, axis=None, keepdims=False: rule.holds(NUMPY, function, x, _axes(x, axis), truth_of(keepdims, "keepdims"))


# ---- Views and joins ----


def _transpose(x, axes=None):
    axes = (axes,) if is_int(axes) else axes
    if axes is not None and not isinstance(axes, (tuple, list)):
        raise Error(f"expected a tuple of {x.ndim} integers for axes, found {shown(axes)}")
    return rule.permuted(x, range(x.ndim)[::-1] if axes is None else axes)


def _row_major(order):
    if order != "C":
        raise Error(f"expected order='C' while tracing, found order={shown(order)}")


def _reshape(x, shape, order="C", copy=None):
    _row_major(order)
    if copy is not None and copy is not True:
        raise Error(f"expected copy=None or True while tracing, found copy={shown(copy)}")
    return rule.shaped(x, shape)


def _ravel(x, order="C"):
    return _reshape(x, -1, order)


def _squeeze(x, axis=None):
    dims = [d for d, n in enumerate(x.shape) if n == 1] if axis is None else _axes(x, axis)
    if any(x.shape[d] != 1 for d in dims):
        raise Error(f"expected an extent of 1 along axis {shown(axis)}, found shape {x.shape}")
    return rule.without(x, dims)


def _concatenate(arrays, axis=0, dtype=None):
    if isinstance(arrays, Array):
        arrays = list(arrays)
    if dtype is not None:
        arrays = [_same_kind(a, dtype) for a in arrays]
    if axis is None:
        if any(op.is_scalar(a) for a in arrays):
            raise Error(f"expected arrays with dimensions, found {shown(tuple(arrays))}")
        return rule.joined(NUMPY, [rule.shaped(a, -1) if isinstance(a, Array) else a.reshape(-1) for a in arrays], 0)
    return rule.joined(NUMPY, arrays, axis)


def _stack(arrays, axis=0, dtype=None):
    arrays = [_same_kind(a, dtype) for a in arrays]
    return rule.stacked(NUMPY, arrays, axis)


def _split(x, indices_or_sections, axis=0):
    """Implements numpy.split: returns equal parts for a number, or the parts between the given indices."""
    axis = dim_of(x, axis, "axis")
    extent = x.shape[axis]
    if is_int(indices_or_sections):
        count = operator.index(indices_or_sections)
        if count < 1 or extent % count:
            raise Error(f"expected parts of one size along axis {axis}, found {extent} elements for {count} parts")
        return rule.parts(x, [extent // count] * count, axis)
    if not isinstance(indices_or_sections, (tuple, list)) or not all(map(is_int, indices_or_sections)):
        raise Error(f"expected a number of parts, or a tuple or list of indices, found {shown(indices_or_sections)}")
    ends = [0, *(slice(0, i).indices(extent)[1] for i in indices_or_sections), extent]
    return rule.parts(x, [b - a for a, b in zip(ends, ends[1:])], axis)


def _clip(x, a_min=NoValue, a_max=NoValue, min=NoValue, max=NoValue):
    given = [v is not NoValue for v in (a_min, a_max, min, max)]
    if any(given[:2]) and any(given[2:]) or given[0] != given[1]:
        raise Error("expected a_min and a_max together, or min and max, found another mixture")
    lo, hi = ((None if v is NoValue else v) for v in ((min, max) if any(given[2:]) else (a_min, a_max)))
    made = plain(x) if not x._truth else x
    made = made if lo is None else _UFUNC["maximum"](made, lo)
    return made if hi is None else _UFUNC["minimum"](made, hi)


def _where(condition, x=None, y=None):
    if x is None or y is None:
        raise Error("expected a condition and two operands; with a condition alone the result's size depends on values")
    return rule.chosen(NUMPY, condition, x, y)


def _dot(x, y):
    """Implements numpy.dot: for arrays of more dimensions, sums over the last of x and the last but one of y."""
    if op.is_scalar(x) or op.is_scalar(y):
        raise Error(f"expected arrays with dimensions, found the number {x if op.is_scalar(x) else y}; multiply by it")
    like = x if isinstance(x, Array) else y
    x, y = traced(x, like), traced(y, like)
    if x.ndim < 3 and y.ndim < 3 or y.ndim == 1:
        return rule.product(NUMPY, x, y)
    x, y = NUMPY.operands([x, y])[1]
    if x.shape[-1] != y.shape[-2]:
        raise Error(f"expected the last dimension of the left operand to equal the last but one of the right, found {x.shape[-1]} and {y.shape[-2]} in {x.shape} and {y.shape}")
    rows, columns = x.shape[:-1], (*y.shape[:-2], y.shape[-1])
    order = [y.ndim - 2, *range(y.ndim - 2), y.ndim - 1]
    left = op.reshape(x, (math.prod(rows), x.shape[-1]))
    right = op.reshape(op.permute(y, order), (y.shape[-2], math.prod(columns)))
    return op.reshape(rule.matrix(left, right), (*rows, *columns))


def _triangle(name):
    def kept(x, k=0):
        if not is_int(k):
            raise Error(f"expected an integer for k, found {shown(k)}")
        if x.ndim < 2:
            raise Error(f"expected at least two dimensions, found shape {x.shape}")
        made = op.mask(x, **{name: operator.index(k)}, value=0)
        return truth(made) if x._truth else made

    return kept


def _broadcast(x, shape):
    return rule.broadcast(x, shape)


def _expand_dims(x, axis):
    return rule.inserted(x, axis)


# ---- Tables ----

_UFUNC = rule.functions(NUMPY) | {
    "true_divide": None, "absolute": None, "fabs": rule.elementwise(NUMPY, op.abs, floats=True), "power": rule.power(NUMPY),
    "matmul": lambda x, y: rule.product(NUMPY, x, y), "positive": plain, "invert": rule.inverted,
    "bitwise_and": rule.bitwise("&", NUMPY), "bitwise_or": rule.bitwise("|", NUMPY), "bitwise_xor": rule.bitwise("^", NUMPY),
}  # fmt: skip
_UFUNC |= {"true_divide": _UFUNC["divide"], "absolute": _UFUNC["abs"], "conjugate": plain}
_UFUNC = {n: f for n, f in _UFUNC.items() if n not in ("abs", "rsqrt", "sigmoid", "conjugate")}
_TAIL = "out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None"
_MATMUL = "x1, x2, /, out=None, *, axes=NoValue, axis=NoValue, keepdims=False, casting='same_kind', order='K', dtype=None, subok=True, signature=None"


def _ufunc_form(name, function):
    unary = name in ("exp", "log", "log1p", "sqrt", "sin", "cos", "tanh", "square", "negative", "reciprocal", "logical_not", "fabs", "absolute", "positive", "invert")
    of_bool = name.startswith(("logical_", "bitwise_", "invert", "equal", "not_", "less", "greater"))

    def alone(x, dtype=None):
        return function(_same_kind(x, dtype))

    def pair(x, y, dtype=None):
        return function(_same_kind(x, dtype), _same_kind(y, dtype))

    if of_bool:  # a dtype would be that of the operands
        alone, pair = lambda x: function(x), lambda x, y: function(x, y)
    text = _MATMUL if name == "matmul" else f"{'x' if unary else 'x1, x2'}, /, {_TAIL}"
    return Form(text, alone if unary else pair)


UFUNCS = {name: [_ufunc_form(name, function)] for name, function in _UFUNC.items()}
_SUM = "axis=None, dtype=None, out=None, keepdims=NoValue, initial=NoValue, where=NoValue"
_MAX = "axis=None, out=None, keepdims=NoValue, initial=NoValue, where=NoValue"
_MEAN = "axis=None, dtype=None, out=None, keepdims=NoValue, *, where=NoValue"
_VAR = "axis=None, dtype=None, out=None, ddof=0, keepdims=NoValue, *, where=NoValue, mean=NoValue, correction=NoValue"
_ANY = "axis=None, out=None, keepdims=NoValue, *, where=NoValue"
_JOIN = "axis=0, out=None, *, dtype=None, casting='same_kind'"
_REDUCTIONS = {
    "sum": (_SUM, _sum_of(op.sum)), "prod": (_SUM, _sum_of(op.prod)), "mean": (_MEAN, _sum_of(op.mean, True)), "max": (_MAX, _extreme(op.amax)),
    "amax": (_MAX, _extreme(op.amax)), "min": (_MAX, _extreme(op.amin)), "amin": (_MAX, _extreme(op.amin)), "var": (_VAR, _spread(False)),
    "std": (_VAR, _spread(True)), "any": (_ANY, _held(op.amax)), "all": (_ANY, _held(op.amin)),
}  # fmt: skip
FUNCTIONS = {name: [Form(f"a, {text}", meaning)] for name, (text, meaning) in _REDUCTIONS.items()} | {
    "where": [Form("condition, x=None, y=None, /", _where)],
    "transpose": [Form("a, axes=None", _transpose)], "permute_dims": [Form("a, axes=None", _transpose)],
    "swapaxes": [Form("a, axis1, axis2", lambda x, axis1, axis2: rule.swapped(x, axis1, axis2, "axis"))],
    "moveaxis": [Form("a, source, destination", rule.moved)],
    "reshape": [Form("a, /, shape, order='C', *, copy=None", _reshape)],
    "ravel": [Form("a, order='C'", _ravel)], "squeeze": [Form("a, axis=None", _squeeze)], "expand_dims": [Form("a, axis", _expand_dims)],
    "broadcast_to": [Form("array, shape, subok=False", _broadcast)],
    "concatenate": [Form(f"arrays, /, {_JOIN}", _concatenate)], "concat": [Form(f"arrays, /, {_JOIN}", _concatenate)],
    "stack": [Form(f"arrays, {_JOIN}", _stack)], "split": [Form("ary, indices_or_sections, axis=0", _split)],
    "clip": [Form("a, a_min=NoValue, a_max=NoValue, out=None, *, min=NoValue, max=NoValue, **kwargs", _clip)],
    "shape": [Form("a", lambda x: x.shape)], "ndim": [Form("a", lambda x: x.ndim)],
    "size": [Form("a, axis=None", lambda x, axis=None: math.prod(x.shape[d] for d in _axes(x, axis)))],
    "dot": [Form("a, b, out=None", _dot)],
    "tril": [Form("m, k=0", _triangle("tril"))], "triu": [Form("m, k=0", _triangle("triu"))],
}  # fmt: skip
# methods have False where functions have no value, and lack correction
_METHOD = {name: text.replace("keepdims=NoValue", "keepdims=False").replace(", correction=NoValue", "") for name, (text, _) in _REDUCTIONS.items()}
_METHOD |= {name: _METHOD[name].replace("where=NoValue", "where=True") for name in ("any", "all")}
METHODS = {name: [Form(f"self, /, {_METHOD[name]}", meaning)] for name, (_, meaning) in _REDUCTIONS.items() if name not in ("amax", "amin")} | {
    "transpose": [Form("self, /, *axes", lambda x, *axes: _transpose(x, _words(axes)))],
    "reshape": [Form("self, /, *shape, order='C', copy=None", lambda x, *shape, order="C", copy=None: _reshape(x, _words(shape), order, copy))],
    "swapaxes": [Form("self, axis1, axis2, /", lambda x, axis1, axis2: rule.swapped(x, axis1, axis2, "axis"))],
    "squeeze": [Form("self, /, axis=None", _squeeze)], "ravel": [Form("self, /, order='C'", _ravel)],
    "flatten": [Form("self, /, order='C'", lambda x, order="C": plain_copy(_ravel(x, order)))],
    "clip": [Form("self, /, min=None, max=None, out=None, **kwargs", lambda x, min=None, max=None: _clip(x, min=min, max=max))],
    "astype": [Form("self, /, dtype, order='K', casting='unsafe', subok=True, copy=True", lambda x, dtype, copy=True: cast(x, dtype) if not copy else plain_copy(cast(x, dtype)))],
    "copy": [Form("self, /, order='C'", lambda x, order="C": plain_copy(x))], "dot": [Form("self, other, /, out=None", _dot)],
    "item": [Form("self, /, *args", None, "values are not known while tracing")],
}  # fmt: skip


def plain_copy(x):
    """Returns a copy of x, which an in-place operator may change without changing x."""
    return truth(x) if x._truth else plain(x)


def _words(words):
    """Returns a shape or axes that are given as one argument or as several; None for none."""
    return None if not words else words[0] if len(words) == 1 else words


# ---- Protocols ----


def _unknown(kind, name, known):
    return refused(f"{kind} {name}: not known while tracing; known are {', '.join(sorted(known))}")


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    import numpy

    if method != "__call__" or getattr(numpy, ufunc.__name__, None) is not ufunc or ufunc.__name__ not in UFUNCS:
        raise _unknown("numpy", ufunc.__name__ + ("" if method == "__call__" else f".{method}"), UFUNCS)
    return call(f"numpy.{ufunc.__name__}", UFUNCS[ufunc.__name__], inputs, kwargs)


def _array_function(self, function, types, args, kwargs):
    import numpy

    name = function.__name__
    if name == "einsum" and function is numpy.einsum:
        with speaking("numpy.einsum"):
            return _einsum(*args, **kwargs)
    if getattr(numpy, name, None) is not function or name not in FUNCTIONS:
        module = (getattr(function, "__module__", None) or "numpy").replace("numpy.lib.scimath", "numpy.emath")
        raise _unknown("numpy", name if module == "numpy" else f"{module.removeprefix('numpy.')}.{name}", {*FUNCTIONS, "einsum"})
    return call(f"numpy.{name}", FUNCTIONS[name], args, kwargs)


def _einsum(*operands, out=None, optimize=False, **kwargs):
    """Implements numpy.einsum; how the product is found (`optimize`) does not change what it is."""
    wrong = {"out": out, **kwargs}
    name = next((k for k, v in wrong.items() if v is not None and (k, v) not in (("order", "K"), ("casting", "safe"))), None)
    if name:
        raise Error(f"expected no {name} while tracing, found {name}={shown(wrong[name])}")
    return einsum(*operands, rules=NUMPY)


class NumpyArray(Array):
    """A traced array with NumPy's operators and methods, and torch's methods that NumPy lacks."""

    __slots__ = ()

    @property
    def dtype(self):
        return dtypes.numpy_dtype(self._dtype)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return dtypes.itemsize(self._dtype)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self):
        return _transpose(self)

    @property
    def mT(self):
        with speaking("numpy.ndarray.mT"):
            if self.ndim < 2:
                raise Error(f"expected at least two dimensions, found shape {self.shape}")
            return rule.swapped(self, -1, -2)

    __array_ufunc__, __array_function__ = _array_ufunc, _array_function

    def __getitem__(self, key):
        with speaking("indexing"):
            return take(self, key)

    def __getattr__(self, name):
        return missing(self, name, "numpy.ndarray", METHODS)


class SpecArray(NumpyArray):
    """A traced array of a TensorSpec, which is of no framework: NumPy's methods, and torch's where NumPy's signature does
    not take the arguments."""

    __slots__ = ()

    def __getattr__(self, name):
        return missing(self, name, "zellige.TensorSpec", METHODS)


equip(NumpyArray, _UFUNC, METHODS, "numpy.ndarray")
for _name in METHODS:
    setattr(SpecArray, _name, either(_name, METHODS[_name]))
