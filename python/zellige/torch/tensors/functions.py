"""Gives traced arrays torch's API: the functions of torch and torch.nn.functional, and the methods of tensors, under torch's own
signatures.

A function written for torch, which is one with an example of torch, has tensors with these methods: `x.var(-1)` divides by n - 1,
`x.transpose(0, 1)` exchanges two dimensions. Of several signatures the first is taken that has the arguments' names and kinds, as
torch does. A function or signature that is in no table is refused.
"""

import itertools
import math

from ... import array_rules as rule
from ... import array_views as view
from ... import dtypes, numpy_api
from ... import operators as op
from ..._native import Error
from ...call_site import refused, speaking
from ...indexing import take
from ...members import equip, missing
from ...promotion import TORCH, logical
from ...signatures import Form, call
from ...tracing import Array
from . import meanings

# ---- Tables: name, (signature of the function without "input: T", meaning), ... ----

_F = meanings.ELEMENTWISE
_UNARY = {n: _F[n] for n in ("exp", "log", "log1p", "sqrt", "rsqrt", "square", "sin", "cos", "tanh", "sigmoid", "reciprocal")}
_UNARY |= {"abs": _F["abs"], "absolute": _F["abs"], "neg": _F["negative"], "negative": _F["negative"], "logical_not": _F["logical_not"], "bitwise_not": rule.inverted}
_PAIRS = {"maximum": "maximum", "minimum": "minimum", "logaddexp": "logaddexp", "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor"}
_COMPARED = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "not_equal": "not_equal", "less": "less",
    "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
}  # fmt: skip
_OUT = "*, out: O = None"
_SUM = [("*, dtype: D = None", True), ("dim: J_, keepdim: B = False, *, dtype: D = None, out: O = None", True)]
_VAR = ["dim: J_, unbiased: B = True, keepdim: B = False, *, out: O = None", "dim: J_ = None, *, correction: N = None, keepdim: B = False, out: O = None", "unbiased: B = True"]
_BOTH = {name: [(_OUT, f)] for name, f in _UNARY.items()}
_BOTH |= {name: [(f"other: T, {_OUT}", _F[f])] for name, f in _PAIRS.items()}
_BOTH |= {name: [(f"other: T, {_OUT}", _F[f]), (f"other: N, {_OUT}", _F[f])] for name, f in _COMPARED.items()}
_BOTH |= {
    "add": [("other: TN, *, alpha: N = 1, out: O = None", meanings.scaled("add"))], "sub": [("other: TN, *, alpha: N = 1, out: O = None", meanings.scaled("subtract"))],
    "mul": [("other: TN, *, out: O = None", _F["multiply"])], "div": [("other: TN, *, rounding_mode: W = None, out: O = None", _F["divide"])],
    "true_divide": [("other: TN, *, out: O = None", _F["divide"])],
    "pow": [(f"exponent: T, {_OUT}", lambda x, exponent: meanings.POWER(x, exponent)), (f"exponent: N, {_OUT}", lambda x, exponent: meanings.POWER(x, exponent))],
    "clamp": [(f"min: T = None, max: T = None, {_OUT}", meanings.clamp), (f"min: N = None, max: N = None, {_OUT}", meanings.clamp)],
    "clip": [(f"min: T = None, max: T = None, {_OUT}", meanings.clamp), (f"min: N = None, max: N = None, {_OUT}", meanings.clamp)],
    "masked_fill": [("mask: T, value: T", None), ("mask: T, value: N", meanings.masked_fill)],
    "sum": [(_SUM[0][0], meanings.sum_of(op.sum)), (_SUM[1][0], meanings.sum_of(op.sum))],
    "mean": [("*, dtype: D = None, out: O = None", meanings.mean), (_SUM[1][0], meanings.mean)],
    "prod": [("*, dtype: D = None", meanings.sum_of(op.prod)), ("dim: I, keepdim: B = False, *, dtype: D = None, out: O = None", meanings.sum_of(op.prod))],
    "amax": [(f"dim: J = (), keepdim: B = False, {_OUT}", meanings.extreme(op.amax))], "amin": [(f"dim: J = (), keepdim: B = False, {_OUT}", meanings.extreme(op.amin))],
    "var": [(text, meanings.spread(False)) for text in _VAR], "std": [(text, meanings.spread(True)) for text in _VAR],
    "any": [(_OUT, meanings.any_or_all(op.amax)), (f"dim: J = None, keepdim: B = False, {_OUT}", meanings.any_or_all(op.amax))],
    "all": [(_OUT, meanings.any_or_all(op.amin)), (f"dim: J = None, keepdim: B = False, {_OUT}", meanings.any_or_all(op.amin))],
    "logsumexp": [(f"dim: J, keepdim: B = False, {_OUT}", meanings.logsumexp)],
    "softmax": [(f"dim: I, dtype: D = None, {_OUT}", meanings.along_one(op.softmax))], "log_softmax": [(f"dim: I, dtype: D = None, {_OUT}", meanings.along_one(op.log_softmax))],
    "relu": [("", meanings.relu)],
    "transpose": [("dim0: I, dim1: I", lambda x, dim0, dim1: view.swapped(x, dim0, dim1))],
    "swapaxes": [("axis0: I, axis1: I", lambda x, axis0, axis1: view.swapped(x, axis0, axis1))],
    "swapdims": [("dim0: I, dim1: I", lambda x, dim0, dim1: view.swapped(x, dim0, dim1))],
    "movedim": [("source: I, destination: I", view.moved), ("source: S, destination: S", view.moved)],
    "moveaxis": [("source: I, destination: I", view.moved), ("source: S, destination: S", view.moved)],
    "t": [("", meanings.t)], "squeeze": [("", meanings.squeeze), ("dim: I", meanings.squeeze), ("dim: S", meanings.squeeze)], "unsqueeze": [("dim: I", meanings.unsqueeze)],
    "flatten": [("start_dim: I = 0, end_dim: I = -1", meanings.flatten)], "ravel": [("", lambda x: view.shaped(x, -1))],
    "reshape": [("shape: S", lambda x, shape: view.shaped(x, shape))], "permute": [("dims: S", lambda x, dims: view.permuted(x, dims, "dims"))],
    "broadcast_to": [("size: S", lambda x, size: view.broadcast(x, size, True))],
    "chunk": [("chunks: I, dim: I = 0", meanings.chunk)], "split": [("split_size: I, dim: I = 0", meanings.split), ("split_size: S, dim: I = 0", meanings.split)],
    "unbind": [("dim: I = 0", meanings.unbind)], "narrow": [("dim: I, start: I, length: I", meanings.narrow)], "select": [("dim: I, index: I", meanings.select)],
    "tril": [(f"diagonal: I = 0, {_OUT}", meanings.triangle("tril"))], "triu": [(f"diagonal: I = 0, {_OUT}", meanings.triangle("triu"))],
    "index_select": [(f"dim: I, index: T, {_OUT}", meanings.index_select)],
    "matmul": [(f"other: T, {_OUT}", meanings.matmul)], "mm": [(f"mat2: T, {_OUT}", lambda x, mat2: meanings.product((2, 2))(x, mat2))],
    "bmm": [(f"mat2: T, {_OUT}", lambda x, mat2: meanings.product((3, 3))(x, mat2))], "mv": [(f"vec: T, {_OUT}", lambda x, vec: meanings.product((2, 1))(x, vec))],
    "addmm": [("mat1: T, mat2: T, *, beta: N = 1, alpha: N = 1, out: O = None", meanings.plus_product(meanings.product((2, 2))))],
    "baddbmm": [("batch1: T, batch2: T, *, beta: N = 1, alpha: N = 1, out: O = None", lambda x, batch1, batch2, beta=1, alpha=1: meanings.plus_product(meanings.product((3, 3)))(x, batch1, batch2, beta, alpha))],
    "clone": [("*, memory_format: X = None", meanings.copied)], "detach": [("", lambda x: x)],
    "max": [(_OUT, meanings.extreme(op.amax)), (f"other: T, {_OUT}", _F["maximum"]), (f"dim: I, keepdim: B = False, {_OUT}", None)],
    "min": [(_OUT, meanings.extreme(op.amin)), (f"other: T, {_OUT}", _F["minimum"]), (f"dim: I, keepdim: B = False, {_OUT}", None)],
}  # fmt: skip
_INSTEAD = {"max": "amax gives values without their numbers", "min": "amin gives values without their numbers"}


def _form(name, declared, meaning, first, out=True):
    """Returns a form whose signature begins with the tensor, `first`; out=False: without the parameter out, as methods."""
    declared = declared if out else declared.removesuffix(_OUT).removesuffix(", out: O = None").removesuffix(", ")
    return Form(f"{first}{', ' if declared else ''}{declared}", meaning, _INSTEAD.get(name, ""))


FUNCTIONS = {name: [_form(name, text, f, "input: T") for text, f in forms] for name, forms in _BOTH.items()} | {
    "where": [
        Form("condition: T", None, "with a condition alone the result's size depends on values"),
        Form(f"condition: T, input: T, other: T, {_OUT}", meanings.where), Form("condition: T, self: N, other: T", meanings.where),
        Form("condition: T, input: T, other: N", meanings.where), Form("condition: T, self: N, other: N", meanings.where),
    ],
    **{name: [Form(f"tensors: L, dim: I = 0, {_OUT}", lambda tensors, dim=0: view.joined(TORCH, tensors, dim, "dim"))] for name in ("cat", "concat", "concatenate")},
    "stack": [Form(f"tensors: L, dim: I = 0, {_OUT}", lambda tensors, dim=0: view.stacked(TORCH, tensors, dim, "dim"))],
    "split": [Form("tensor: T, split_size_or_sections: J, dim: I = 0", lambda tensor, split_size_or_sections, dim=0: meanings.split(tensor, split_size_or_sections, dim))],
    "numel": [Form("self: T", lambda x: math.prod(x.shape))],
}  # fmt: skip
FUNCTIONS["add"] = [Form("input: TN, other: TN, *, alpha: N = 1, out: O = None", meanings.scaled("add"))]
FUNCTIONS["sub"] = [Form("input: TN, other: TN, *, alpha: N = 1, out: O = None", meanings.scaled("subtract"))]
FUNCTIONS["mul"] = [Form("input: TN, other: TN, *, out: O = None", _F["multiply"])]
FUNCTIONS["div"] = [Form("input: TN, other: TN, *, rounding_mode: W = None, out: O = None", _F["divide"])]
FUNCTIONS["true_divide"] = [Form("input: TN, other: TN, *, out: O = None", _F["divide"])]
FUNCTIONS["pow"] = [*FUNCTIONS["pow"][:1], Form("self: N, exponent: T, *, out: O = None", lambda x, exponent: meanings.POWER(x, exponent)), FUNCTIONS["pow"][1]]
# torch.nn.functional's, by the names of their first parameters there
NN = {
    **{name: [Form("input: T, dim: I_ = None, _stacklevel: I = 3, dtype: D = None", meanings.along_or_guessed(getattr(op, name)))] for name in ("softmax", "log_softmax")},
    "relu": [Form("input: T, inplace: B = False", meanings.relu)], "silu": [Form("input: T, inplace: B = False", meanings.activation(op.silu))],
    "gelu": [Form("input: T, approximate: W = 'none'", meanings.gelu)], "sigmoid": [Form("input: T", _F["sigmoid"])], "tanh": [Form("input: T", _F["tanh"])],
    "linear": [Form("input: T, weight: T, bias: T = None", meanings.linear)],
    "layer_norm": [Form("input: T, normalized_shape: S, weight: T = None, bias: T = None, eps: F = 1e-05", meanings.layer_norm)],
    "rms_norm": [Form("input: T, normalized_shape: S, weight: T = None, eps: F = None", meanings.rms_norm)],
    "dropout": [Form("input: T, p: F = 0.5, training: B = True, inplace: B = False", meanings.dropout)],
}  # fmt: skip
_METHODS_ONLY = {
    "view": [("size: S", lambda x, size: meanings.viewed(x, size)), ("*size: I", lambda x, *size: meanings.viewed(x, size))],
    "expand": [("size: S, *, implicit: B = False", meanings.expanded), ("*size: I, implicit: B = False", lambda x, *size, implicit=False: meanings.expanded(x, size))],
    "reshape": [("*shape: I", lambda x, *shape: view.shaped(x, shape))], "permute": [("*dims: I", lambda x, *dims: view.permuted(x, dims, "dims"))],
    "squeeze": [("*dim: I", lambda x, *dim: meanings.squeeze(x, dim))], "broadcast_to": [("*size: I", lambda x, *size: view.broadcast(x, size, True))],
    "expand_as": [("other: T", lambda x, y: meanings.expanded(x, y.shape))], "view_as": [("other: T", lambda x, y: meanings.viewed(x, y.shape))],
    "reshape_as": [("other: T", lambda x, y: view.shaped(x, y.shape))],
    "contiguous": [("memory_format: X = None", lambda x: meanings.contiguous(x))], "float": [("", lambda x: op.cast(x, "f32"))], "half": [("", lambda x: op.cast(x, "f16"))],
    "bfloat16": [("", lambda x: op.cast(x, "bf16"))], "int": [("", lambda x: op.cast(x, "int32"))], "bool": [("", logical)],
    "to": [
        ("dtype: D, non_blocking: B = False, copy: B = False, *, memory_format: X = None", meanings.to),
        ("other: T, non_blocking: B = False, copy: B = False, *, memory_format: X = None", lambda x, y, non_blocking=False, copy=False: meanings.to(x, other=y, copy=copy)),
        ("device: X = None, dtype: D = None, non_blocking: B = False, copy: B = False, *, memory_format: X = None", meanings.to),
    ],
    "type": [("dtype: D, non_blocking: B = False", meanings.to)], "type_as": [("other: T", lambda x, y: meanings.to(x, other=y))],
    "size": [("dim: I = None", meanings.size)], "dim": [("", lambda x: x.ndim)], "numel": [("", lambda x: math.prod(x.shape))],
    "item": [("", None)], "tolist": [("", None)], "where": [("condition: T, other: TN", lambda x, condition, y: meanings.where(condition, x, y))],
}  # fmt: skip
METHODS = {
    name: [_form(name, text, f, "self", out=False) for text, f in itertools.chain(_BOTH.get(name, ()), _METHODS_ONLY.get(name, ()))]
    for name in {**_BOTH, **_METHODS_ONLY}
}
_OPERATORS = _F | {
    "power": meanings.POWER, "matmul": meanings.matmul, "absolute": _F["abs"], "invert": rule.inverted,
    **{f"bitwise_{n}": rule.bitwise(sign, TORCH) for n, sign in (("and", "&"), ("or", "|"), ("xor", "^"))},
}  # fmt: skip


def torch_function(cls, function, types, args=(), kwargs=None):
    """Implements torch's protocol: torch calls it where an argument of a function of its own is a traced array."""
    import torch

    name, kwargs = getattr(function, "__name__", str(function)), kwargs or {}
    owners = (("torch.Tensor", torch.Tensor, METHODS), ("torch", torch, FUNCTIONS), ("torch.nn.functional", torch.nn.functional, NN))
    for owner, module, table in owners:
        if getattr(module, name, None) is function:
            if owner == "torch.Tensor" and name.startswith("__") or name in ("add", "mul", "sub", "div", "matmul") and owner == "torch.Tensor":
                return call(f"torch.{name.strip('_')}", FUNCTIONS.get(name.strip("_"), ()), args, kwargs)
            if name in table:
                return call(f"{owner}.{name}", table[name], args, kwargs)
            if name == "einsum":
                with speaking("torch.einsum"):
                    return meanings.einsum_of(*args, **kwargs)
            raise refused(f"{owner}.{name}: not known while tracing; known are {', '.join(sorted(table))}")
    raise refused(f"torch's {name}: not known while tracing")


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """Implements NumPy's protocol: an operator with a scalar of NumPy is torch's, a function of NumPy is NumPy's."""
    import numpy

    if method == "__call__" and not kwargs and ufunc.__name__ in _OPERATORS and any(isinstance(v, numpy.generic) for v in inputs):
        with speaking(f"numpy.{ufunc.__name__}"):
            return _OPERATORS[ufunc.__name__](*inputs)
    return numpy_api._array_ufunc(self, ufunc, method, *inputs, **kwargs)


class TorchArray(Array):
    """A traced array with torch's operators and methods."""

    __slots__ = ()
    __torch_function__ = classmethod(torch_function)
    __array_ufunc__, __array_function__ = _array_ufunc, numpy_api._array_function

    @property
    def dtype(self):
        import torch

        return torch.bool if self._truth else dtypes.torch_dtype(self._dtype)

    @property
    def device(self):
        return self._trace.device

    @property
    def is_cuda(self) -> bool:
        return self._trace.device.type == "cuda"

    @property
    def T(self):
        return op.permute(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self):
        with speaking("torch.Tensor.mT"):
            if self.ndim < 2:
                raise Error(f"expected at least two dimensions, found shape {self.shape}")
            return view.swapped(self, -1, -2)

    def __getitem__(self, key):
        with speaking("indexing"):
            return take(self, key, False)

    def __getattr__(self, name):
        return missing(self, name, "torch.Tensor", METHODS)


equip(TorchArray, _OPERATORS, METHODS, "torch.Tensor")
