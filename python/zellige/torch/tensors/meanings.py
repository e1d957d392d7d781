"""What the functions and methods of torch mean on traced tensors, by their parameters' names (tensors/functions.py has the signatures)."""

import math
import operator

from ... import array_rules as rule
from ... import array_views as view
from ... import dtypes
from ... import operators as op
from ..._native import Error
from ...dispatch import number
from ...einsum import einsum
from ...indexing import take
from ...promotion import TORCH, logical, traced
from ...signatures import dim_of, dims_of, shown
from ...tracing import Array, as_numbers, is_view, truth

ELEMENTWISE = rule.functions(TORCH)
POWER = rule.power(TORCH)


def cast(x, dtype):
    return logical(x) if dtype is not None and str(dtype) in ("torch.bool", "bool") else x if dtype is None else op.cast(x, dtype)


def dims_along(x, dim):
    """Returns dimensions as torch's reductions take them: None and () are all."""
    return dims_of(x, None if isinstance(dim, (tuple, list)) and not dim else dim)


# ---- Elementwise ----


def scaled(name):
    def of(x, y, alpha=1):
        if isinstance(alpha, bool):
            raise Error(f"expected a number for alpha, found {alpha}")
        if isinstance(alpha, float) and all(isinstance(v, int) or isinstance(v, Array) and dtypes.is_integer(v._dtype) for v in (x, y)):
            raise Error(f"expected an integer for alpha of integer operands, found {alpha}")
        for v in (x, y):
            if isinstance(v, Array):
                TORCH.fitting(v, alpha)
        return ELEMENTWISE[name](x, y if alpha == 1 else ELEMENTWISE["multiply"](y, alpha) if isinstance(y, Array) else y * alpha)

    return of


def clamp(x, min=None, max=None):
    if min is None and max is None:
        raise Error("expected min or max, found None for both")
    if any(isinstance(n, float) and math.isnan(n) for n in (min, max)):  # torch's kernels differ in what they give
        raise Error(f"expected numbers for min and max, found {min} and {max}")
    TORCH.fitting(x, min, max)
    x = x if min is None else ELEMENTWISE["maximum"](x, min)
    return x if max is None else ELEMENTWISE["minimum"](x, max)


def activation(function):
    """Returns a function of floating-point numbers; torch refuses integers and bool."""
    def applied(x):
        return function(floating(x))

    return applied


def floating(x):
    if x._truth or dtypes.is_integer(x._dtype):
        raise Error(f"expected floating-point numbers, found {'a result of a comparison' if x._truth else x._dtype}; cast it first")
    return x


def relu(x):
    if x._truth:
        raise Error("expected numbers, found a result of a comparison; cast it first")
    return op.relu(x)


def gelu(x, approximate="none"):
    if approximate not in ("none", "tanh"):
        raise Error(f"expected approximate to be none or tanh, found {shown(approximate)}")
    return op.gelu(floating(x), approximate)


def dropout(x, p=0.5, training=True):
    """Returns x, which dropout is if it drops nothing."""
    if training and p != 0:
        raise Error(f"expected training=False or p=0, as random numbers are not known while tracing, found p={p}")
    return x


def masked_fill(x, mask, value):
    if not isinstance(mask, Array) or not mask._truth:
        raise Error(f"expected a comparison's result for mask, as torch takes bool only, found {shown(mask)}")
    value = number(value)
    if dtypes.is_integer(x._dtype) and isinstance(value, float):
        raise Error(f"expected an integer for value, as the tensor is {x._dtype}, found {value}")
    TORCH.fitting(x, value)
    return rule.selected(TORCH, mask, value, x, True)


def where(condition, x, y):
    return rule.selected(TORCH, condition, x, y, True)


# ---- Reductions ----


def sum_of(function, floats=False):
    def along(x, dim=None, keepdim=False, dtype=None):
        return rule.reduced(TORCH, function, rule.accumulated(TORCH, x, dtype, floats), dims_along(x, dim), keepdim)

    return along


def mean(x, dim=None, keepdim=False, dtype=None):
    return rule.reduced(TORCH, op.mean, floating(x if dtype is None else cast(x, dtype)), dims_along(x, dim), keepdim)


def extreme(function):
    return lambda x, dim=None, keepdim=False: rule.reduced(TORCH, function, x, dims_along(x, dim), keepdim)


def spread(root):
    def along(x, dim=None, correction=None, unbiased=True, keepdim=False):
        return rule.variance(TORCH, x, dims_along(x, dim), keepdim, (1 if unbiased else 0) if correction is None else correction, root)

    return along


def any_or_all(function):
    return lambda x, dim=None, keepdim=False: rule.holds(TORCH, function, x, dims_along(x, dim), keepdim)


def logsumexp(x, dim, keepdim=False):
    dims = dims_along(x, dim)
    if len(dims) != 1:
        raise Error(f"expected one dimension, found {shown(dim)}")
    return rule.reduced(TORCH, lambda x, dims, keep: op.logsumexp(x, dims[0], keep), floating(x), dims, keepdim)


def along_one(function):
    def along(x, dim, dtype=None):
        return function(floating(cast(x, dtype)), dim_of(x, dim))

    return along


def along_or_guessed(function):
    """torch.nn.functional guesses a dimension that is not given, with a warning."""
    def along(x, dim=None, dtype=None):
        if dim is None:
            raise Error("expected an integer for dim, found None")
        return along_one(function)(x, dim, dtype)

    return along


# ---- Norms ----


def normalized(x, shape):
    shape = tuple(shape)
    if shape != x.shape[-1:]:
        raise Error(f"expected normalized_shape ({x.shape[-1]},), the last dimension of {x.shape}, found {shown(shape)}")
    return floating(x)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = normalized(x, normalized_shape)
    made = op.layer_norm(x, eps=eps) if weight is None else op.layer_norm(x, weight, bias, eps)
    return made if bias is None or weight is not None else ELEMENTWISE["add"](made, bias)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    x = normalized(x, normalized_shape)
    if eps is None and x._dtype != "f32":
        raise Error(f"expected a number for eps of {x._dtype}, found None")
    return op.rms_norm(x, weight, 2.0**-23 if eps is None else eps)


# ---- Views and joins ----


def strides_of(x) -> tuple:
    """Returns the strides that the tensor has in torch: those of a view, or row-major ones for other operators' results."""
    import torch

    made = x._trace.producer(x)
    if made is None:
        given = next(i for i in x._trace.inputs if i["name"] == x._name)
        return tuple(given.get("strides") or torch.empty(x.shape, device="meta").stride())
    of = x._trace.arrays[made["inputs"][0]]
    if not is_view(made["op"]) or made["op"] == "reshape" and of.shape == x.shape:  # contiguous() makes such a reshape
        return torch.empty(x.shape, device="meta").stride()
    like = torch.empty_strided(of.shape, strides_of(of), device="meta")
    if made["op"] == "permute":
        return like.permute(made["dims"]).stride()
    if made["op"] == "expand":
        return like.expand(made["shape"]).stride()
    return like.reshape(x.shape).stride() if made["op"] == "reshape" else like.stride()


def viewed(x, shape):
    """Returns x in another shape, which must be a view of its memory, as torch's view demands."""
    import torch

    made = view.shaped(x, shape)
    try:
        torch.empty_strided(x.shape, strides_of(x), device="meta").view(made.shape)
    except RuntimeError:
        raise Error(f"expected a shape that is a view of {x.shape} with strides {tuple(strides_of(x))}, found {made.shape}; use reshape") from None
    return made


def contiguous(x):
    import torch

    same = tuple(strides_of(x)) == tuple(torch.empty(x.shape, device="meta").stride())
    return x if same else op.reshape(x, x.shape)


def flatten(x, start_dim=0, end_dim=-1):
    a, b = dim_of(x, start_dim, "start_dim"), dim_of(x, end_dim, "end_dim")
    if a > b:
        raise Error(f"expected start_dim before end_dim, found {start_dim} and {end_dim}")
    return view.shaped(x, (*x.shape[:a], math.prod(x.shape[a : b + 1]), *x.shape[b + 1 :]))


def squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else dims_of(x, dim)
    return view.without(x, [d for d in dims if x.shape[d] == 1])


def unsqueeze(x, dim):
    return view.inserted(x, dim, "dim")


def t(x):
    if x.ndim > 2:
        raise Error(f"expected at most two dimensions, found shape {x.shape}")
    return x if x.ndim == 1 else op.permute(x, (1, 0))


def split(x, split_size, dim=0):
    dim = dim_of(x, dim)
    extent = x.shape[dim]
    if isinstance(split_size, (tuple, list)):
        if sum(split_size) != extent:
            raise Error(f"expected sizes that add up to {extent}, the extent along dimension {dim}, found {shown(split_size)}")
        return tuple(view.parts(x, list(split_size), dim))
    if split_size < 1:
        raise Error(f"expected a size above 0, found {split_size}")
    return tuple(view.parts(x, [min(split_size, extent - at) for at in range(0, extent, split_size)], dim))


def chunk(x, chunks, dim=0):
    if chunks < 1:
        raise Error(f"expected a number of parts above 0, found {chunks}")
    return split(x, -(-x.shape[dim_of(x, dim)] // chunks), dim)


def select(x, dim, index):
    dim = dim_of(x, dim)
    return take(x, (*[slice(None)] * dim, index), False)


def narrow(x, dim, start, length):
    dim = dim_of(x, dim)
    start, extent = operator.index(start), x.shape[dim]
    start = start + extent if start < 0 else start
    if not 0 <= start <= start + length <= extent:
        raise Error(f"expected elements within the {extent} along dimension {dim}, found {length} from {start}")
    return take(x, (*[slice(None)] * dim, slice(start, start + length)), False)


def unbind(x, dim=0):
    return tuple(select(x, dim, i) for i in range(x.shape[dim_of(x, dim)]))


def triangle(name):
    def kept(x, diagonal=0):
        if x.ndim < 2:
            raise Error(f"expected at least two dimensions, found shape {x.shape}")
        made = op.mask(x, **{name: operator.index(diagonal)}, value=0)
        return truth(made) if x._truth else made

    return kept


def index_select(x, dim, index):
    dim, index = dim_of(x, dim), traced(index, x)
    if index.ndim != 1:
        raise Error(f"expected a vector of int32 numbers for index, found {shown(index)}")
    return take(x, (*[slice(None)] * dim, index), False)


def expanded(x, size, implicit=False):
    return view.broadcast(x, size, True)


# ---- Products ----


def product(ranks=None):
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
        return view.product(TORCH, x, y)

    return product


matmul = product()


def linear(x, weight, bias=None):
    like = x if isinstance(x, Array) else weight
    weight = traced(weight, like)
    if weight.ndim != 2:
        raise Error(f"expected a matrix for weight, found shape {weight.shape}")
    if bias is not None and tuple(bias.shape) != weight.shape[:1]:
        raise Error(f"expected a bias of shape ({weight.shape[0]},) for a weight of {weight.shape}, found {tuple(bias.shape)}")
    made = matmul(x, op.permute(weight, (1, 0)))
    return made if bias is None else ELEMENTWISE["add"](made, bias)


def plus_product(product):
    def of(x, mat1, mat2, beta=1, alpha=1):
        made = product(mat1, mat2)
        x = traced(x, made)
        if x._dtype != made._dtype:
            raise Error(f"expected operands of one dtype, found {x._dtype} and products of {made._dtype}; cast one")
        if dtypes.is_integer(made._dtype) and any(isinstance(n, float) for n in (beta, alpha)):
            raise Error(f"expected integers for beta and alpha of {made._dtype}, found {beta} and {alpha}")
        if alpha == 0:  # torch does not read what is multiplied by 0
            made = op.expand(op.reshape(made._trace.constant(0, made._dtype), [1] * made.ndim), made.shape)
        made = made if alpha in (0, 1) else ELEMENTWISE["multiply"](made, alpha)
        return made if beta == 0 else ELEMENTWISE["add"](made, x if beta == 1 else ELEMENTWISE["multiply"](x, beta))

    return of


def einsum_of(equation, *operands):
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    if len({traced(a, next(o for o in operands if isinstance(o, Array)))._dtype for a in operands}) > 1:
        raise Error("expected operands of one dtype; cast one")
    return einsum(equation, *operands, rules=TORCH)


# ---- Conversions ----


def to(x, dtype=None, device=None, non_blocking=False, copy=False, other=None):
    if other is not None:
        dtype = traced(other, x)._dtype
    if device is not None and x._trace.device is not None:
        import torch

        try:
            own, asked = x._trace.device, torch.device(device)
        except (TypeError, RuntimeError):
            raise Error(f"expected a torch.dtype, a device or a tensor, found {shown(device)}") from None
        if asked.type != own.type or asked.index not in (None, own.index):
            raise Error(f"expected the device {own}, where the program runs, found {asked}")
    made = cast(x, dtype)
    return copied(made) if copy else made


def copied(x):
    return truth(x) if x._truth else as_numbers(x)


def size(x, dim=None):
    return x.shape if dim is None else x.shape[dim_of(x, dim)]
