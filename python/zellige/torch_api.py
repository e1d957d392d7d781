"""Gives traced arrays torch's API: the functions of torch and torch.nn.functional, and the methods of tensors, under torch's own
signatures.

A function written for torch, which is one with an example of torch, has tensors with these methods: `x.var(-1)` divides by n - 1,
`x.transpose(0, 1)` exchanges two dimensions. Of several signatures the first is taken that has the arguments' names and kinds, as
torch does. A function or signature that is in no table is refused.
"""

import itertools
import math
import operator

from . import array_rules as rule
from . import dtypes, numpy_api
from . import operators as op
from ._native import Error
from .call_site import refused, speaking
from .dispatch import number
from .einsum import einsum
from .faces import Form, call, dim_of, dims_of, shown
from .indexing import take
from .members import equip, missing
from .promotion import TORCH, logical, traced
from .tracing import Array, plain, truth

_F = rule.functions(TORCH)
_POWER = rule.power(TORCH)


def cast(x, dtype):
    return logical(x) if dtype is not None and str(dtype) in ("torch.bool", "bool") else x if dtype is None else op.cast(x, dtype)


def _dims(x, dim):
    """Returns dimensions as torch's reductions take them: None and () are all."""
    return dims_of(x, None if isinstance(dim, (tuple, list)) and not dim else dim)


# ---- Elementwise ----


def _scaled(name):
    def of(x, y, alpha=1):
        if isinstance(alpha, bool):
            raise Error(f"expected a number for alpha, found {alpha}")
        if isinstance(alpha, float) and all(isinstance(v, int) or isinstance(v, Array) and dtypes.is_integer(v._dtype) for v in (x, y)):
            raise Error(f"expected an integer for alpha beside integers, found {alpha}")
        return _F[name](x, y if alpha == 1 else _F["multiply"](y, alpha) if isinstance(y, Array) else y * alpha)

    return of


def _clamp(x, min=None, max=None):
    if min is None and max is None:
        raise Error("expected min or max, found None for both")
    if dtypes.is_integer(x._dtype) and any(isinstance(n, float) and math.isnan(n) for n in (min, max)):
        raise Error(f"expected numbers for min and max, found nan beside {x._dtype}")
    x = x if min is None else _F["maximum"](x, min)
    return x if max is None else _F["minimum"](x, max)


def _activation(function):
    """Returns a function of floating-point numbers; torch refuses integers and bool."""
    def applied(x):
        return function(_floating(x))

    return applied


def _floating(x):
    if x._truth or dtypes.is_integer(x._dtype):
        raise Error(f"expected floating-point numbers, found {'a result of a comparison' if x._truth else x._dtype}; cast it first")
    return x


def _relu(x):
    if x._truth:
        raise Error("expected numbers, found a result of a comparison; cast it first")
    return op.relu(x)


def _gelu(x, approximate="none"):
    if approximate not in ("none", "tanh"):
        raise Error(f"expected approximate to be none or tanh, found {shown(approximate)}")
    return op.gelu(_floating(x), approximate)


def _masked_fill(x, mask, value):
    if not isinstance(mask, Array) or not mask._truth:
        raise Error(f"expected a comparison's result for mask, as torch takes bool only, found {shown(mask)}")
    value = number(value)
    if dtypes.is_integer(x._dtype) and isinstance(value, float):
        raise Error(f"expected an integer for value, as the tensor is {x._dtype}, found {value}")
    return rule.chosen(TORCH, mask, value, x, True)


def _where(condition, x, y):
    return rule.chosen(TORCH, condition, x, y, True)


# ---- Reductions ----


def _sum_of(function, floats=False):
    def along(x, dim=None, keepdim=False, dtype=None):
        return rule.reduced(TORCH, function, rule.accumulated(TORCH, x, dtype, floats), _dims(x, dim), keepdim)

    return along


def _mean(x, dim=None, keepdim=False, dtype=None):
    return rule.reduced(TORCH, op.mean, _floating(x if dtype is None else cast(x, dtype)), _dims(x, dim), keepdim)


def _extreme(function):
    return lambda x, dim=None, keepdim=False: rule.reduced(TORCH, function, x, _dims(x, dim), keepdim)


def _spread(root):
    def along(x, dim=None, correction=None, unbiased=True, keepdim=False):
        return rule.variance(TORCH, x, _dims(x, dim), keepdim, (1 if unbiased else 0) if correction is None else correction, root)

    return along


def _held(function):
    return lambda x, dim=None, keepdim=False: rule.holds(TORCH, function, x, _dims(x, dim), keepdim)


def _logsumexp(x, dim, keepdim=False):
    dims = _dims(x, dim)
    if len(dims) != 1:
        raise Error(f"expected one dimension, found {shown(dim)}")
    return rule.reduced(TORCH, lambda x, dims, keep: op.logsumexp(x, dims[0], keep), _floating(x), dims, keepdim)


def _along(function):
    def along(x, dim, dtype=None):
        return function(_floating(cast(x, dtype)), dim_of(x, dim))

    return along


def _along_or_guessed(function):
    """torch.nn.functional guesses a dimension that is not given, with a warning."""
    def along(x, dim=None, dtype=None):
        if dim is None:
            raise Error("expected an integer for dim, found None")
        return _along(function)(x, dim, dtype)

    return along


# ---- Norms ----


def _normalized(x, shape):
    shape = tuple(shape)
    if shape != x.shape[-1:]:
        raise Error(f"expected normalized_shape ({x.shape[-1]},), the last dimension of {x.shape}, found {shown(shape)}")
    return _floating(x)


def _layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = _normalized(x, normalized_shape)
    made = op.layer_norm(x, eps=eps) if weight is None else op.layer_norm(x, weight, bias, eps)
    return made if bias is None or weight is not None else _F["add"](made, bias)


def _rms_norm(x, normalized_shape, weight=None, eps=None):
    x = _normalized(x, normalized_shape)
    if eps is None and x._dtype != "f32":
        raise Error(f"expected a number for eps beside {x._dtype}, found None")
    return op.rms_norm(x, weight, 2.0**-23 if eps is None else eps)


# ---- Views and joins ----


def _words(words, given):
    return words if given is None else given


def _flatten(x, start_dim=0, end_dim=-1):
    a, b = dim_of(x, start_dim, "start_dim"), dim_of(x, end_dim, "end_dim")
    if a > b:
        raise Error(f"expected start_dim before end_dim, found {start_dim} and {end_dim}")
    return rule.shaped(x, (*x.shape[:a], math.prod(x.shape[a : b + 1]), *x.shape[b + 1 :]))


def _squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else dims_of(x, dim)
    return rule.without(x, [d for d in dims if x.shape[d] == 1])


def _unsqueeze(x, dim):
    return rule.inserted(x, dim, "dim")


def _t(x):
    if x.ndim > 2:
        raise Error(f"expected at most two dimensions, found shape {x.shape}")
    return x if x.ndim == 1 else op.permute(x, (1, 0))


def _split(x, split_size, dim=0):
    dim = dim_of(x, dim)
    extent = x.shape[dim]
    if isinstance(split_size, (tuple, list)):
        if sum(split_size) != extent:
            raise Error(f"expected sizes that add up to {extent}, the extent along dimension {dim}, found {shown(split_size)}")
        return tuple(rule.parts(x, list(split_size), dim))
    if split_size < 1:
        raise Error(f"expected a size above 0, found {split_size}")
    return tuple(rule.parts(x, [min(split_size, extent - at) for at in range(0, extent, split_size)], dim))


def _chunk(x, chunks, dim=0):
    if chunks < 1:
        raise Error(f"expected a number of parts above 0, found {chunks}")
    return _split(x, -(-x.shape[dim_of(x, dim)] // chunks), dim)


def _select(x, dim, index):
    dim = dim_of(x, dim)
    return take(x, (*[slice(None)] * dim, index), False)


def _narrow(x, dim, start, length):
    dim = dim_of(x, dim)
    start, extent = operator.index(start), x.shape[dim]
    start = start + extent if start < 0 else start
    if not 0 <= start <= start + length <= extent:
        raise Error(f"expected elements within the {extent} along dimension {dim}, found {length} from {start}")
    return take(x, (*[slice(None)] * dim, slice(start, start + length)), False)


def _unbind(x, dim=0):
    return tuple(_select(x, dim, i) for i in range(x.shape[dim_of(x, dim)]))


def _triangle(name):
    def kept(x, diagonal=0):
        if x.ndim < 2:
            raise Error(f"expected at least two dimensions, found shape {x.shape}")
        made = op.mask(x, **{name: operator.index(diagonal)}, value=0)
        return truth(made) if x._truth else made

    return kept


def _index_select(x, dim, index):
    dim = dim_of(x, dim)
    if not isinstance(index, Array) or index.ndim != 1:
        raise Error(f"expected a vector of int32 numbers for index, found {shown(index)}")
    return take(x, (*[slice(None)] * dim, index), False)


def _expanded(x, size, implicit=False):
    return rule.broadcast(x, size, True)


# ---- Products ----


def _product(ranks=None):
    """Returns the matrix product. `ranks`: the numbers of dimensions that the operands must have."""
    def product(x, y):
        like = x if isinstance(x, Array) else y
        x, y = (v if op.is_scalar(v) else traced(v, like) for v in (x, y))
        if ranks and (x.ndim, y.ndim) != ranks:
            raise Error(f"expected operands of {ranks[0]} and {ranks[1]} dimensions, found shapes {x.shape} and {y.shape}")
        if isinstance(x, Array) and isinstance(y, Array) and (x._dtype, x._truth) != (y._dtype, y._truth):
            names = ["bool" if v._truth else v._dtype for v in (x, y)]
            raise Error(f"expected operands of one dtype, found {names[0]} and {names[1]}; cast one")
        if ranks == (3, 3) and x.shape[0] != y.shape[0]:
            raise Error(f"expected one number of matrices, found {x.shape[0]} and {y.shape[0]} in {x.shape} and {y.shape}")
        return rule.product(TORCH, x, y)

    return product


_matmul = _product()


def _linear(x, weight, bias=None):
    like = x if isinstance(x, Array) else weight
    weight = traced(weight, like)
    if weight.ndim != 2:
        raise Error(f"expected a matrix for weight, found shape {weight.shape}")
    if bias is not None and tuple(bias.shape) != weight.shape[:1]:
        raise Error(f"expected a bias of shape ({weight.shape[0]},) beside a weight of {weight.shape}, found {tuple(bias.shape)}")
    made = _matmul(x, op.permute(weight, (1, 0)))
    return made if bias is None else _F["add"](made, bias)


def _added(product):
    def of(x, mat1, mat2, beta=1, alpha=1):
        made = product(mat1, mat2)
        if dtypes.is_integer(made._dtype) and any(isinstance(n, float) for n in (beta, alpha)):
            raise Error(f"expected integers for beta and alpha beside {made._dtype}, found {beta} and {alpha}")
        made = made if alpha == 1 else _F["multiply"](made, alpha)
        return made if beta == 0 else _F["add"](made, x if beta == 1 else _F["multiply"](x, beta))

    return of


def _einsum(equation, *operands):
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    if len({traced(a, next(o for o in operands if isinstance(o, Array)))._dtype for a in operands}) > 1:
        raise Error("expected operands of one dtype; cast one")
    return einsum(equation, *operands, rules=TORCH)


# ---- Conversions ----


def _to(x, dtype=None, device=None, non_blocking=False, copy=False, other=None):
    if other is not None:
        dtype = traced(other, x)._dtype
    if device is not None and x._trace.device is not None:
        import torch

        own, asked = x._trace.device, torch.device(device)
        if asked.type != own.type or asked.index not in (None, own.index):
            raise Error(f"expected the device {own}, where the program runs, found {asked}")
    made = cast(x, dtype)
    return copied(made) if copy else made


def copied(x):
    return truth(x) if x._truth else plain(x)


def _size(x, dim=None):
    return x.shape if dim is None else x.shape[dim_of(x, dim)]


# ---- Tables: name, (signature of the function without "input: T", meaning), ... ----

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
    "add": [("other: TN, *, alpha: N = 1, out: O = None", _scaled("add"))], "sub": [("other: TN, *, alpha: N = 1, out: O = None", _scaled("subtract"))],
    "mul": [("other: TN, *, out: O = None", _F["multiply"])], "div": [("other: TN, *, rounding_mode: W = None, out: O = None", _F["divide"])],
    "true_divide": [("other: TN, *, out: O = None", _F["divide"])],
    "pow": [(f"exponent: T, {_OUT}", lambda x, exponent: _POWER(x, exponent)), (f"exponent: N, {_OUT}", lambda x, exponent: _POWER(x, exponent))],
    "clamp": [(f"min: T = None, max: T = None, {_OUT}", _clamp), (f"min: N = None, max: N = None, {_OUT}", _clamp)],
    "clip": [(f"min: T = None, max: T = None, {_OUT}", _clamp), (f"min: N = None, max: N = None, {_OUT}", _clamp)],
    "masked_fill": [("mask: T, value: T", None), ("mask: T, value: N", _masked_fill)],
    "sum": [(_SUM[0][0], _sum_of(op.sum)), (_SUM[1][0], _sum_of(op.sum))],
    "mean": [("*, dtype: D = None, out: O = None", _mean), (_SUM[1][0], _mean)],
    "prod": [("*, dtype: D = None", _sum_of(op.prod)), ("dim: I, keepdim: B = False, *, dtype: D = None, out: O = None", _sum_of(op.prod))],
    "amax": [(f"dim: J = (), keepdim: B = False, {_OUT}", _extreme(op.amax))], "amin": [(f"dim: J = (), keepdim: B = False, {_OUT}", _extreme(op.amin))],
    "var": [(text, _spread(False)) for text in _VAR], "std": [(text, _spread(True)) for text in _VAR],
    "any": [(_OUT, _held(op.amax)), (f"dim: J = None, keepdim: B = False, {_OUT}", _held(op.amax))],
    "all": [(_OUT, _held(op.amin)), (f"dim: J = None, keepdim: B = False, {_OUT}", _held(op.amin))],
    "logsumexp": [(f"dim: J, keepdim: B = False, {_OUT}", _logsumexp)],
    "softmax": [(f"dim: I, dtype: D = None, {_OUT}", _along(op.softmax))], "log_softmax": [(f"dim: I, dtype: D = None, {_OUT}", _along(op.log_softmax))],
    "relu": [("", _relu)],
    "transpose": [("dim0: I, dim1: I", lambda x, dim0, dim1: rule.swapped(x, dim0, dim1))],
    "swapaxes": [("axis0: I, axis1: I", lambda x, axis0, axis1: rule.swapped(x, axis0, axis1))],
    "swapdims": [("dim0: I, dim1: I", lambda x, dim0, dim1: rule.swapped(x, dim0, dim1))],
    "movedim": [("source: I, destination: I", rule.moved), ("source: S, destination: S", rule.moved)],
    "moveaxis": [("source: I, destination: I", rule.moved), ("source: S, destination: S", rule.moved)],
    "t": [("", _t)], "squeeze": [("", _squeeze), ("dim: I", _squeeze), ("dim: S", _squeeze)], "unsqueeze": [("dim: I", _unsqueeze)],
    "flatten": [("start_dim: I = 0, end_dim: I = -1", _flatten)], "ravel": [("", lambda x: rule.shaped(x, -1))],
    "reshape": [("shape: S", lambda x, shape: rule.shaped(x, shape))], "permute": [("dims: S", lambda x, dims: rule.permuted(x, dims, "dims"))],
    "broadcast_to": [("size: S", lambda x, size: rule.broadcast(x, size, True))],
    "chunk": [("chunks: I, dim: I = 0", _chunk)], "split": [("split_size: I, dim: I = 0", _split), ("split_size: S, dim: I = 0", _split)],
    "unbind": [("dim: I = 0", _unbind)], "narrow": [("dim: I, start: I, length: I", _narrow)], "select": [("dim: I, index: I", _select)],
    "tril": [(f"diagonal: I = 0, {_OUT}", _triangle("tril"))], "triu": [(f"diagonal: I = 0, {_OUT}", _triangle("triu"))],
    "index_select": [(f"dim: I, index: T, {_OUT}", _index_select)],
    "matmul": [(f"other: T, {_OUT}", _matmul)], "mm": [(f"mat2: T, {_OUT}", lambda x, mat2: _product((2, 2))(x, mat2))],
    "bmm": [(f"mat2: T, {_OUT}", lambda x, mat2: _product((3, 3))(x, mat2))], "mv": [(f"vec: T, {_OUT}", lambda x, vec: _product((2, 1))(x, vec))],
    "addmm": [("mat1: T, mat2: T, *, beta: N = 1, alpha: N = 1, out: O = None", _added(_product((2, 2))))],
    "baddbmm": [("batch1: T, batch2: T, *, beta: N = 1, alpha: N = 1, out: O = None", lambda x, batch1, batch2, beta=1, alpha=1: _added(_product((3, 3)))(x, batch1, batch2, beta, alpha))],
    "clone": [("*, memory_format: X = None", copied)], "detach": [("", lambda x: x)],
    "max": [(_OUT, _extreme(op.amax)), (f"other: T, {_OUT}", _F["maximum"]), (f"dim: I, keepdim: B = False, {_OUT}", None)],
    "min": [(_OUT, _extreme(op.amin)), (f"other: T, {_OUT}", _F["minimum"]), (f"dim: I, keepdim: B = False, {_OUT}", None)],
}  # fmt: skip
_INSTEAD = {"max": "amax gives values without their numbers", "min": "amin gives values without their numbers"}


def _form(name, text, meaning, first, out=True):
    """Returns a form whose signature begins with the tensor, `first`; out=False: without the parameter out, as methods."""
    text = text if out else text.removesuffix(_OUT).removesuffix(", out: O = None").removesuffix(", ")
    return Form(f"{first}{', ' if text else ''}{text}", meaning, _INSTEAD.get(name, ""))


FUNCTIONS = {name: [_form(name, text, f, "input: T") for text, f in forms] for name, forms in _BOTH.items()} | {
    "where": [
        Form("condition: T", None, "with a condition alone the result's size depends on values"),
        Form(f"condition: T, input: T, other: T, {_OUT}", _where), Form("condition: T, self: N, other: T", _where),
        Form("condition: T, input: T, other: N", _where), Form("condition: T, self: N, other: N", _where),
    ],
    **{name: [Form(f"tensors: L, dim: I = 0, {_OUT}", lambda tensors, dim=0: rule.joined(TORCH, tensors, dim, "dim"))] for name in ("cat", "concat", "concatenate")},
    "stack": [Form(f"tensors: L, dim: I = 0, {_OUT}", lambda tensors, dim=0: rule.stacked(TORCH, tensors, dim, "dim"))],
    "split": [Form("tensor: T, split_size_or_sections: J, dim: I = 0", lambda tensor, split_size_or_sections, dim=0: _split(tensor, split_size_or_sections, dim))],
    "numel": [Form("self: T", lambda x: math.prod(x.shape))],
}  # fmt: skip
FUNCTIONS["add"] = [Form("input: TN, other: TN, *, alpha: N = 1, out: O = None", _scaled("add"))]
FUNCTIONS["sub"] = [Form("input: TN, other: TN, *, alpha: N = 1, out: O = None", _scaled("subtract"))]
FUNCTIONS["mul"] = [Form("input: TN, other: TN, *, out: O = None", _F["multiply"])]
FUNCTIONS["div"] = [Form("input: TN, other: TN, *, rounding_mode: W = None, out: O = None", _F["divide"])]
FUNCTIONS["true_divide"] = [Form("input: TN, other: TN, *, out: O = None", _F["divide"])]
FUNCTIONS["pow"] = [*FUNCTIONS["pow"][:1], Form("self: N, exponent: T, *, out: O = None", lambda x, exponent: _POWER(x, exponent)), FUNCTIONS["pow"][1]]
# torch.nn.functional's, by the names of their first parameters there
NN = {
    **{name: [Form("input: T, dim: I_ = None, _stacklevel: I = 3, dtype: D = None", _along_or_guessed(getattr(op, name)))] for name in ("softmax", "log_softmax")},
    "relu": [Form("input: T, inplace: B = False", _relu)], "silu": [Form("input: T, inplace: B = False", _activation(op.silu))],
    "gelu": [Form("input: T, approximate: W = 'none'", _gelu)], "sigmoid": [Form("input: T", _F["sigmoid"])], "tanh": [Form("input: T", _F["tanh"])],
    "linear": [Form("input: T, weight: T, bias: T = None", _linear)],
    "layer_norm": [Form("input: T, normalized_shape: S, weight: T = None, bias: T = None, eps: F = 1e-05", _layer_norm)],
    "rms_norm": [Form("input: T, normalized_shape: S, weight: T = None, eps: F = None", _rms_norm)],
    "dropout": [Form("input: T, p: F = 0.5, training: B = True, inplace: B = False", None, "leave it out")],
}  # fmt: skip
_METHODS_ONLY = {
    "view": [("size: S", lambda x, size: rule.shaped(x, size)), ("*size: I", lambda x, *size: rule.shaped(x, size))],
    "expand": [("size: S, *, implicit: B = False", _expanded), ("*size: I, implicit: B = False", lambda x, *size, implicit=False: _expanded(x, size))],
    "reshape": [("*shape: I", lambda x, *shape: rule.shaped(x, shape))], "permute": [("*dims: I", lambda x, *dims: rule.permuted(x, dims, "dims"))],
    "squeeze": [("*dim: I", lambda x, *dim: _squeeze(x, dim))], "broadcast_to": [("*size: I", lambda x, *size: rule.broadcast(x, size, True))],
    "expand_as": [("other: T", lambda x, y: _expanded(x, y.shape))], "view_as": [("other: T", lambda x, y: rule.shaped(x, y.shape))],
    "reshape_as": [("other: T", lambda x, y: rule.shaped(x, y.shape))],
    "contiguous": [("memory_format: X = None", lambda x: x)], "float": [("", lambda x: op.cast(x, "f32"))], "half": [("", lambda x: op.cast(x, "f16"))],
    "bfloat16": [("", lambda x: op.cast(x, "bf16"))], "int": [("", lambda x: op.cast(x, "int32"))], "bool": [("", logical)],
    "to": [
        ("dtype: D, non_blocking: B = False, copy: B = False, *, memory_format: X = None", _to),
        ("other: T, non_blocking: B = False, copy: B = False, *, memory_format: X = None", lambda x, y, non_blocking=False, copy=False: _to(x, other=y, copy=copy)),
        ("device: X = None, dtype: D = None, non_blocking: B = False, copy: B = False, *, memory_format: X = None", _to),
    ],
    "type": [("dtype: D, non_blocking: B = False", _to)], "type_as": [("other: T", lambda x, y: _to(x, other=y))],
    "size": [("dim: I = None", _size)], "dim": [("", lambda x: x.ndim)], "numel": [("", lambda x: math.prod(x.shape))],
    "item": [("", None)], "tolist": [("", None)], "where": [("condition: T, other: TN", lambda x, condition, y: _where(condition, x, y))],
}  # fmt: skip
METHODS = {
    name: [_form(name, text, f, "self", out=False) for text, f in itertools.chain(_BOTH.get(name, ()), _METHODS_ONLY.get(name, ()))]
    for name in {**_BOTH, **_METHODS_ONLY}
}
_OPERATORS = _F | {
    "power": _POWER, "matmul": _matmul, "absolute": _F["abs"], "positive": plain, "invert": rule.inverted,
    **{f"bitwise_{n}": rule.bitwise(sign, TORCH) for n, sign in (("and", "&"), ("or", "|"), ("xor", "^"))},
}  # fmt: skip


def _torch_function(cls, function, types, args=(), kwargs=None):
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
                    return _einsum(*args, **kwargs)
            raise refused(f"{owner}.{name}: not known while tracing; known are {', '.join(sorted(table))}")
    raise refused(f"torch's {name}: not known while tracing")


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """Implements NumPy's protocol: an operator beside a scalar of NumPy is torch's, a function of NumPy is NumPy's."""
    import numpy

    if method == "__call__" and not kwargs and ufunc.__name__ in _OPERATORS and any(isinstance(v, numpy.generic) for v in inputs):
        with speaking(f"numpy.{ufunc.__name__}"):
            return _OPERATORS[ufunc.__name__](*inputs)
    return numpy_api._array_ufunc(self, ufunc, method, *inputs, **kwargs)


class TorchArray(Array):
    """A traced array with torch's operators and methods."""

    __slots__ = ()
    __torch_function__ = classmethod(_torch_function)
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
        return op.permute(self, range(self.ndim)[::-1])

    @property
    def mT(self):
        with speaking("torch.Tensor.mT"):
            if self.ndim < 2:
                raise Error(f"expected at least two dimensions, found shape {self.shape}")
            return rule.swapped(self, -1, -2)

    def __getitem__(self, key):
        with speaking("indexing"):
            return take(self, key, False)

    def __getattr__(self, name):
        return missing(self, name, "torch.Tensor", METHODS)


equip(TorchArray, _OPERATORS, METHODS, "torch.Tensor")
