"""Gives traced arrays NumPy's API: ufuncs, functions, methods and operators, under NumPy's own signatures.

A function that is in no table is refused with the names of the known ones. A parameter that its form (signatures.py)
has and its meaning lacks is accepted at its default only.
"""

import math

from . import array_rules as rule
from . import array_views as view
from . import dtypes
from . import numpy_meanings as meanings
from . import operators as op
from ._native import Error
from .call_site import refused, speaking
from .einsum import einsum
from .signatures import Form, call, shown
from .indexing import take
from .members import either, equip, missing
from .promotion import NUMPY
from .tracing import Array, as_numbers


_UFUNC = meanings.ELEMENTWISE | {
    "true_divide": None, "absolute": None, "fabs": rule.elementwise(NUMPY, op.abs, floats=True), "power": rule.power(NUMPY),
    "matmul": lambda x, y: view.product(NUMPY, x, y), "invert": rule.inverted,
    "bitwise_and": rule.bitwise("&", NUMPY), "bitwise_or": rule.bitwise("|", NUMPY), "bitwise_xor": rule.bitwise("^", NUMPY),
}  # fmt: skip
_UFUNC |= {"true_divide": _UFUNC["divide"], "absolute": _UFUNC["abs"], "conjugate": as_numbers}
_UFUNC = {n: f for n, f in _UFUNC.items() if n not in ("abs", "rsqrt", "sigmoid", "conjugate")}
_TAIL = "out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None"
_MATMUL = "x1, x2, /, out=None, *, axes=NoValue, axis=NoValue, keepdims=False, casting='same_kind', order='K', dtype=None, subok=True, signature=None"


def _ufunc_form(name, function):
    unary = name in ("exp", "log", "log1p", "sqrt", "sin", "cos", "tanh", "square", "negative", "reciprocal", "logical_not", "fabs", "absolute", "positive", "invert")
    of_bool = name.startswith(("logical_", "bitwise_", "invert", "equal", "not_", "less", "greater"))

    def alone(x, dtype=None):
        return function(meanings.same_kind(x, dtype))

    def pair(x, y, dtype=None):
        return function(meanings.same_kind(x, dtype), meanings.same_kind(y, dtype))

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
    "sum": (_SUM, meanings.sum_of(op.sum)), "prod": (_SUM, meanings.sum_of(op.prod)), "mean": (_MEAN, meanings.sum_of(op.mean, True)), "max": (_MAX, meanings.extreme(op.amax)),
    "amax": (_MAX, meanings.extreme(op.amax)), "min": (_MAX, meanings.extreme(op.amin)), "amin": (_MAX, meanings.extreme(op.amin)), "var": (_VAR, meanings.spread(False)),
    "std": (_VAR, meanings.spread(True)), "any": (_ANY, meanings.any_or_all(op.amax)), "all": (_ANY, meanings.any_or_all(op.amin)),
}  # fmt: skip
FUNCTIONS = {name: [Form(f"a, {declared}", meaning)] for name, (declared, meaning) in _REDUCTIONS.items()} | {
    "where": [Form("condition, x=None, y=None, /", meanings.where)],
    "transpose": [Form("a, axes=None", meanings.transpose)], "permute_dims": [Form("a, axes=None", meanings.transpose)],
    "swapaxes": [Form("a, axis1, axis2", lambda x, axis1, axis2: view.swapped(x, axis1, axis2, "axis"))],
    "moveaxis": [Form("a, source, destination", view.moved)],
    "reshape": [Form("a, /, shape, order='C', *, copy=None", meanings.reshape)],
    "ravel": [Form("a, order='C'", meanings.ravel)], "squeeze": [Form("a, axis=None", meanings.squeeze)], "expand_dims": [Form("a, axis", meanings.expand_dims)],
    "broadcast_to": [Form("array, shape, subok=False", meanings.broadcast)],
    "concatenate": [Form(f"arrays, /, {_JOIN}", meanings.concatenate)], "concat": [Form(f"arrays, /, {_JOIN}", meanings.concatenate)],
    "stack": [Form(f"arrays, {_JOIN}", meanings.stack)], "split": [Form("ary, indices_or_sections, axis=0", meanings.split)],
    "clip": [Form("a, a_min=NoValue, a_max=NoValue, out=None, *, min=NoValue, max=NoValue, **kwargs", meanings.clip)],
    "shape": [Form("a", lambda x: x.shape)], "ndim": [Form("a", lambda x: x.ndim)],
    "size": [Form("a, axis=None", lambda x, axis=None: math.prod(x.shape[d] for d in meanings.axes_of(x, axis)))],
    "dot": [Form("a, b, out=None", meanings.dot)],
    "tril": [Form("m, k=0", meanings.triangle("tril"))], "triu": [Form("m, k=0", meanings.triangle("triu"))],
}  # fmt: skip
# methods have False where functions have no value, and lack correction
_METHOD = {name: text.replace("keepdims=NoValue", "keepdims=False").replace(", correction=NoValue", "") for name, (text, _) in _REDUCTIONS.items()}
_METHOD |= {name: _METHOD[name].replace("where=NoValue", "where=True") for name in ("any", "all")}
METHODS = {name: [Form(f"self, /, {_METHOD[name]}", meaning)] for name, (_, meaning) in _REDUCTIONS.items() if name not in ("amax", "amin")} | {
    "transpose": [Form("self, /, *axes", lambda x, *axes: meanings.transpose(x, _words(axes)))],
    "reshape": [Form("self, /, *shape, order='C', copy=None", lambda x, *shape, order="C", copy=None: meanings.reshape(x, _words(shape), order, copy))],
    "swapaxes": [Form("self, axis1, axis2, /", lambda x, axis1, axis2: view.swapped(x, axis1, axis2, "axis"))],
    "squeeze": [Form("self, /, axis=None", meanings.squeeze)], "ravel": [Form("self, /, order='C'", meanings.ravel)],
    "flatten": [Form("self, /, order='C'", lambda x, order="C": meanings.copied(meanings.ravel(x, order)))],
    "clip": [Form("self, /, min=None, max=None, out=None, **kwargs", lambda x, min=None, max=None: meanings.clip(x, min=min, max=max))],
    "astype": [Form("self, /, dtype, order='K', casting='unsafe', subok=True, copy=True", lambda x, dtype, copy=True: meanings.cast(x, dtype) if not copy else meanings.copied(meanings.cast(x, dtype)))],
    "copy": [Form("self, /, order='C'", lambda x, order="C": meanings.copied(x))], "dot": [Form("self, other, /, out=None", meanings.dot)],
    "item": [Form("self, /, *args", None, "values are not known while tracing")],
}  # fmt: skip


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
        return meanings.transpose(self)

    @property
    def mT(self):
        with speaking("numpy.ndarray.mT"):
            if self.ndim < 2:
                raise Error(f"expected at least two dimensions, found shape {self.shape}")
            return view.swapped(self, -1, -2)

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

    @classmethod
    def __torch_function__(cls, *args, **kwargs):
        from .torch.tensors.functions import torch_function

        return torch_function(cls, *args, **kwargs)

    def __getattr__(self, name):
        return missing(self, name, "zellige.TensorSpec", METHODS)


equip(NumpyArray, _UFUNC, METHODS, "numpy.ndarray")
for _name in METHODS:
    setattr(SpecArray, _name, either(_name, METHODS[_name]))
