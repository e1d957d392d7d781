"""Maps the core operators of torch (ATen) to operators on traced arrays: the table OPERATORS, and the evaluation of
FX nodes."""

import math

import torch

from ... import array_rules, dtypes
from ... import operators as op
from ...tracing import Array
from ..applications import applied
from . import convolutions, custom, functions, integers
from .attention import attended, attention, masked
from .kinds import is_pointwise
from .products import matmul
from .quantized import QUANTIZED
from .scalars import overflows, rounded
from .schema import Left, call
from .views import VIEWS

aten = torch.ops.aten


def _in_range(number, x) -> None:
    """Raises Left if torch refuses to convert a number to the dtype of x."""
    if overflows(number, dtypes.torch_dtype(x._dtype)):
        raise Left(f"expected numbers in the range of {x._dtype}, found {number}")


def _of_floats(function):
    """Wraps `function` of arrays in one that raises Left for integers, for which torch has no kernel."""
    def of(x, *args, **options):
        if dtypes.is_integer(x._dtype):
            raise Left(f"expected floating-point numbers, found {x._dtype}")
        return function(x, *args, **options)

    return of


def _scaled(function):
    """Wraps `function`, op.add or op.sub, in a function with the arguments of torch's add and sub (x, y, alpha), which
    returns function(x, alpha y)."""
    def sum_of(x, y, *, alpha=1):
        if alpha == 1 and not isinstance(alpha, bool):
            return function(x, y)
        _in_range(alpha, x if isinstance(x, Array) else y)
        if isinstance(alpha, bool) or isinstance(alpha, float) and dtypes.is_integer((x if isinstance(x, Array) else y)._dtype):
            raise Left(f"expected a number alpha in the dtype of the operands, found {alpha}")
        applied("sum with a factor")
        return function(x, op.mul(y, alpha))

    return sum_of


def _plus_bias(product):
    """Wraps `product`, a matmul, in a function with the arguments of torch's addmm (bias, x, y, beta, alpha), which
    returns beta bias + alpha product(x, y). If beta is 0 the bias is not read, so that its NaNs are lost as in torch.
    Raises Left if alpha is 0, because torch does not read x and y then, and for dtypes that torch refuses."""
    def sum_of(bias, x, y, *, beta=1, alpha=1):
        if alpha == 0:
            raise Left("expected a factor alpha of the product that is not 0")
        if bias._dtype != x._dtype:
            raise Left(f"expected a bias and a product of one dtype, found {bias._dtype} and {x._dtype}")
        if (beta, alpha) != (1, 1):
            applied("product and bias with factors")
        made = product(x, y) if alpha == 1 else op.mul(product(x, y), alpha)
        if bias.ndim > made.ndim or any(n not in (1, m) for n, m in zip(bias.shape[::-1], made.shape[::-1])):
            raise Left(f"expected a bias that broadcasts to the product, found {bias.shape} and {made.shape}")
        return made if beta == 0 else op.add(made, bias if beta == 1 else op.mul(bias, beta))

    return sum_of


def _softmax(function):
    """Wraps `function`, Zellige's softmax or log_softmax, in a function with the arguments of torch's operator (x, dim,
    half_to_float). If half_to_float is true, this function casts x to float32 first."""
    def along(x, dim, half_to_float):
        return function(op.cast(x, "f32") if half_to_float else x, dim)

    return along


def _reduced(function, x, dim, keepdim):
    """Returns the reduction `function` (such as op.sum) of x along the dimensions `dim`, or along all dimensions if
    `dim` is None or empty. A result without dimensions gets shape (1), as all such tensors in Zellige do."""
    dims = list(dim) if dim else list(range(x.ndim))
    everything = len({d % x.ndim for d in dims}) == x.ndim
    made = function(x, dims, keepdim or everything)
    return op.reshape(made, (1,)) if everything and not keepdim else made


def _reduction(function):
    def along(x, dim=None, keepdim=False, *, dtype=None):
        dtype = "int64" if dtype is None and function is op.sum and dtypes.is_integer(x._dtype) else dtype
        return _reduced(function, x if dtype is None else op.cast(x, dtype), dim, keepdim)

    return along


def _layer_norm(x, shape, weight, bias, eps):
    """Returns the results of torch's layer norm over the last dimension of x: [the norm, mean, 1 / sqrt(variance +
    eps)]; the last two are float32, or float64 of f64. `shape`: extents of the dimensions that torch's operator normalises. Raises Left if
    there are several."""
    if len(shape) != 1:
        raise Left(f"expected a norm over the last dimension, found {list(shape)}")
    applied("layer norm with its statistics")
    wide = op.cast(x, dtypes.computed(x._dtype))
    mean, rstd = op.mean(wide, -1, True), op.rsqrt(op.add(array_rules.deviation(wide, -1, True), eps))
    if weight is None and bias is not None:
        return [op.add(op.layer_norm(x, eps=eps), bias), mean, rstd]
    return [op.layer_norm(x, weight, bias, eps), mean, rstd]


def _batch_norm(x, weight, bias, mean, variance, momentum, eps):
    """Returns [batch norm of x with the given mean and variance, None, None]. Nothing reads the other two results of
    torch's operator. Raises Left unless all other tensors have the dtype of x, or all are float32: torch refuses others."""
    found = {v._dtype for v in (weight, bias, mean, variance) if v is not None}
    if dtypes.is_integer(x._dtype) or found not in ({x._dtype}, {"f32"}):
        raise Left(f"expected a weight, bias and statistics in {x._dtype} or all in f32, found {', '.join(sorted(found))}")
    applied("batch norm by given statistics")
    wide = dtypes.computed(x._dtype)
    along = lambda v: op.reshape(op.cast(v, wide), (x.shape[1], *[1] * (x.ndim - 2)))  # noqa: E731
    scale = op.rsqrt(op.add(along(variance), eps))
    made = op.mul(op.sub(op.cast(x, wide), along(mean)), scale if weight is None else op.mul(scale, along(weight)))
    return [op.cast(made if bias is None else op.add(made, along(bias)), x._dtype), None, None]


def _variance(x, dim=None, *, correction=1, keepdim=False):
    count = math.prod(x.shape[d] for d in (dim or range(x.ndim)))
    if not count > correction:
        raise Left(f"expected more elements than the correction, found {count} and {correction}")
    applied("variance of a corrected count")
    made = _reduced(array_rules.deviation, op.cast(x, dtypes.computed(x._dtype)), dim, keepdim)
    return made if correction == 0 else op.mul(made, count / (count - correction))


def _logsumexp(x, dim, keepdim=False):
    def along(x, dims, keepdim):
        if len(dims) != 1:
            raise Left(f"expected one dimension, found {dims}")
        return op.logsumexp(x, dims[0], keepdim)

    return _reduced(along, x, dim, keepdim)


def _prod(x, dim, keepdim=False, *, dtype=None):
    return _reduction(op.prod)(x, [dim], keepdim, dtype=dtype)


def _clamp(x, lo=None, hi=None):
    """Returns x within two limits, which are rounded to its dtype. Raises Left if torch refuses to convert one."""
    dtype = dtypes.torch_dtype(x._dtype)
    _in_range(lo, x), _in_range(hi, x)
    applied("limits as extremes")
    lo, hi = (limit if limit is None or dtypes.is_integer(x._dtype) else rounded(limit, dtype) for limit in (lo, hi))
    x = x if lo in (None, -math.inf) else op.maximum(x, lo)
    return x if hi in (None, math.inf) else op.minimum(x, hi)


def _pow(x, y):
    """Returns x to the power y as torch's kernels compute it: exponents 0.5 and -0.5 as roots, 3, -1 and -2 as
    products, and others rounded to the dtype of x."""
    _in_range(y, x)
    if dtypes.is_integer(x._dtype):
        return integers.arithmetic(_whole_power)(x, y)
    if y in (0.5, -0.5):
        applied("power as products and roots")
        return op.sqrt(x) if y > 0 else op.rsqrt(x)
    y = rounded(y, dtypes.torch_dtype(x._dtype))
    if y not in (3, -1, -2):
        return op.pow(x, y)
    applied("power as products and roots")
    if y == 3:
        return op.mul(op.mul(x, x), x)
    return op.div(1, op.square(x) if y == -2 else x)


def _whole_power(x, y):
    """Returns integers to a power from 1 to 8, as products that wrap."""
    if not isinstance(y, int) or not 1 <= y <= 8:
        raise Left(f"expected a power of integers from 1 to 8, found {y}")
    made = x
    for _ in range(y - 1):
        made = op.mul(made, x)
    return made


def _root(x, y):
    """Returns x to the power 0.5 or -0.5 as torch's kernel for f16 on the CPU does, ignoring the sign of a zero."""
    return op.pow(x, y)


def _to_copy(x, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    if device is not None:
        raise Left(f"expected no change of device, found {device}")
    return x if dtype is None else op.cast(x, dtype)


def _slice_scatter(x, part, dim=0, start=None, end=None, step=1):
    if step != 1:
        raise Left(f"expected slices of step 1, found {step}")
    start, end, _ = slice(start, end).indices(x.shape[dim])
    return part if (start, end) == (0, x.shape[dim]) else op.slice_scatter(x, part, dim, start)


def _index_put(x, indices, values, accumulate=False):
    """Returns x with one row replaced, as in the update of a key-value cache. The index of the row is an int32 tensor
    with one element. Raises Left for other forms of index_put."""
    found = [(d, at) for d, at in enumerate(indices) if at is not None]
    if accumulate or len(found) != 1 or found[0][1].shape != (1,):
        raise Left(f"expected one number of a row along one dimension, found {[a if a is None else a.shape for _, a in enumerate(indices)]}")
    d, at = found[0]
    shape = (*x.shape[:d], 1, *x.shape[d + 1 :])
    return op.slice_scatter(x, values if values.shape == shape else op.expand(values, shape), d, at)


def _copied(to, x, non_blocking=False):
    x = op.cast(x, to._dtype)
    return x if x.shape == to.shape else op.expand(x, to.shape)


def _bmm(x, y):
    made = attended(x, y)
    return matmul(x, y) if made is None else made


def _filled(condition, x, value):
    if isinstance(value, float) and math.isnan(value):  # no scalar of a graph
        none = op.sub(x, x)
        return op.where(condition, op.div(none, none), x)
    return op.where(condition, value, x)


OPERATORS = VIEWS | QUANTIZED | integers.OPERATORS | functions.OPERATORS | {
    aten.mm.default: matmul,
    aten.bmm.default: _bmm,
    aten.addmm.default: _plus_bias(matmul),
    aten.baddbmm.default: _plus_bias(_bmm),
    aten.add.Scalar: integers.arithmetic(op.add),
    aten.rsub.Scalar: integers.arithmetic(lambda x, y, alpha=1: op.sub(y, op.mul(x, alpha) if alpha != 1 else x)),
    aten.sub.Scalar: integers.arithmetic(lambda x, y, alpha=1: op.sub(x, alpha * y)),
    aten.mul.Scalar: integers.arithmetic(op.mul),
    aten.add.Tensor: integers.arithmetic(_scaled(op.add)),
    aten.sub.Tensor: integers.arithmetic(_scaled(op.sub)),
    aten.mul.Tensor: integers.arithmetic(op.mul),
    aten.div.Tensor: op.div,
    aten.neg.default: integers.arithmetic(op.neg),
    aten.abs.default: integers.arithmetic(op.abs),
    aten.exp.default: op.exp,
    aten.log.default: op.log,
    aten.log1p.default: op.log1p,
    aten.sqrt.default: op.sqrt,
    aten.rsqrt.default: op.rsqrt,
    aten.reciprocal.default: lambda x: op.div(1, x),
    aten.sin.default: op.sin,
    aten.cos.default: op.cos,
    aten.tanh.default: op.tanh,
    aten.sigmoid.default: op.sigmoid,
    aten.silu.default: op.silu,
    aten.relu.default: op.relu,
    aten.gelu.default: lambda x, *, approximate="none": op.gelu(x, approximate),
    aten.pow.Tensor_Scalar: _pow,
    aten.pow.Tensor_Tensor: op.pow,
    aten.maximum.default: op.maximum,
    aten.logaddexp.default: _of_floats(op.logaddexp),
    aten.minimum.default: op.minimum,
    aten.clamp.default: _clamp,
    aten._softmax.default: _softmax(op.softmax),
    aten._safe_softmax.default: lambda x, dim, dtype=None: op.safe_softmax(x if dtype is None else op.cast(x, dtype), dim),
    aten._log_softmax.default: _softmax(op.log_softmax),
    aten.sum.dim_IntList: _reduction(op.sum),
    aten.sum.default: lambda x, *, dtype=None: _reduction(op.sum)(x, dtype=dtype),
    aten.mean.dim: _reduction(op.mean),
    aten.mean.default: lambda x, *, dtype=None: _reduction(op.mean)(x, dtype=dtype),
    aten.amax.default: _reduction(op.amax),
    aten.amin.default: _reduction(integers.lowest(op.amin)),
    aten.prod.dim_int: _prod,
    aten.prod.default: lambda x, *, dtype=None: _reduction(op.prod)(x, dtype=dtype),
    aten.var.correction: _variance,
    aten.logsumexp.default: _logsumexp,
    aten.native_layer_norm.default: _layer_norm,
    aten._native_batch_norm_legit_no_training.default: _batch_norm,
    aten.cat.default: lambda parts, dim=0: op.concat(parts, dim),
    aten.slice_scatter.default: _slice_scatter,
    aten.index_put.default: _index_put,
    aten.copy.default: _copied,
    aten.embedding.default: lambda weight, rows, *_: op.gather(weight, rows),
    aten._to_copy.default: _to_copy,
    aten.tril.default: lambda x, diagonal=0: op.mask(x, tril=diagonal, value=0.0),
    aten.triu.default: lambda x, diagonal=0: op.mask(x, triu=diagonal, value=0.0),
    convolutions.CONVOLUTION: convolutions.of,
    custom.MASK: lambda x, tril, triu, value, row_ends=None, column_ends=None, row_starts=None: masked(x, tril, triu, row_ends, column_ends, row_starts, value),
    custom.ATTENTION: attention,
    custom.CHOOSE: op.where,
    custom.FILL: _filled,
    custom.COMPARE: lambda x, y, kind: getattr(op, kind)(x, y),
    custom.COMPARE_NUMBER: lambda x, y, kind: getattr(op, kind)(x, y),
}


# torch's kernels of these for the CPU round numbers to the tensor's dtype; all others compute with the number in float32
_ROUND_NUMBERS = (aten.add.Tensor, aten.add.Scalar, aten.sub.Tensor)
# torch's kernels of these for the CPU read a second operand without dimensions in float32
_READ_WIDE = (aten.mul.Tensor, aten.div.Tensor)


def dtype_of(value) -> str:
    """Returns Zellige's name of a tensor's dtype. Raises Error if there is none."""
    return dtypes.name_of(value.dtype)


def shape_of(value) -> tuple:
    """Returns a tensor's shape in Zellige, where a tensor without dimensions has shape (1)."""
    return tuple(value.shape) or (1,)


def evaluate(node, arrays):
    """Returns the traced result of a node of an FX graph. `arrays` maps the node's operands to their traced arrays.
    Raises Left if Zellige does not support the node."""
    if node.target is aten.unsqueeze.default and node.args[0].meta["val"].ndim == 0:
        return arrays[node.args[0]]  # has one dimension
    return as_declared(evaluate_on(node, node.args, arrays), node.meta["val"])


def as_declared(result, value):
    """Returns `result`, an array or a list of arrays, in the dtypes of `value`, which torch declares: float32 is
    rounded to f16 or bf16 where torch declares that, as for the statistics of a norm on the CPU. Raises Left if a
    shape or another dtype differs."""
    if isinstance(result, list):
        if len(result) != len(value):
            raise Left(f"expected {len(value)} results, found {len(result)}")
        return [None if r is None else as_declared(r, v) for r, v in zip(result, value)]
    expected = dtype_of(value)
    if result._dtype == "f32" and expected in ("f16", "bf16") or dtypes.is_integer(expected) and dtypes.is_integer(result._dtype):
        result = op.cast(result, expected)
    if result.shape != shape_of(value) or result._dtype != expected:
        raise Left(f"expected {expected} {shape_of(value)}, found {result._dtype} {result.shape}")
    return result


def _as_read(x, node, array):
    """Returns the operand x of a node, `array`, as torch's elementwise kernels read it: in the result's dtype of 16 bits, also if it
    has another one, which does not count in a tensor without dimensions; other dtypes are those of integers.computed_in."""
    value, made = x.meta.get("val"), node.meta["val"]
    if not isinstance(value, torch.Tensor) or not isinstance(made, torch.Tensor) or made.dtype not in (torch.float16, torch.bfloat16):
        return array
    if not is_pointwise(node.target) or value.ndim > 0 or value.dtype in (made.dtype, torch.bool):
        return array
    if made.device.type == "cpu" and node.target in _READ_WIDE and x is node.args[1]:
        return op.cast(array, "f32") if value.dtype == torch.float64 else array
    applied("operand without dimensions as the result")
    return op.cast(array, dtypes.name_of(made.dtype))


def evaluate_on(node, args, arrays):
    """Returns the traced result of the FX node's operator for the arguments `args`, in which nodes are replaced by
    their arrays in `arrays`. Raises Left if Zellige does not support the operator or an argument."""
    if node.target not in OPERATORS:
        raise Left("is not known")

    computed_in = integers.computed_in(node) if node.target not in VIEWS else None

    def value(x):
        if isinstance(x, torch.fx.Node):
            read = _as_read(x, node, arrays[x])
            condition = node.target is aten.where.self and x is node.args[0]
            return read if computed_in is None or condition else integers.of_dtype(read, computed_in)
        if isinstance(x, (list, tuple)):
            return [value(e) for e in x]
        if isinstance(x, complex) or (isinstance(x, float) and math.isnan(x) and node.target is not custom.FILL):
            raise Left(f"expected real numbers, found {x}")
        return x

    function, made = OPERATORS[node.target], node.meta["val"]
    if node.target in _ROUND_NUMBERS and made.device.type == "cpu" and made.is_floating_point():
        operands = [rounded(a, made.dtype) if isinstance(a, (int, float)) and not isinstance(a, bool) else a for a in args[:2]]
        args = [*operands, *args[2:]]  # a third one is alpha
    if node.target is convolutions.CONVOLUTION:
        function = convolutions.of(node)
    if node.target is aten.pow.Tensor_Scalar and args[1] in (0.5, -0.5) and (made.device.type, made.dtype) == ("cpu", torch.float16):
        function = _root
    declared = {k: value(v) for k, v in node.kwargs.items()}
    if "device" in declared and node.all_input_nodes and declared["device"] == node.all_input_nodes[0].meta["val"].device:
        del declared["device"]  # the tensor is on this device already
    return call(function, node, [value(a) for a in args], declared)
