"""Selects torch's decompositions of operators: those that consist only of operators that Zellige supports.

    aot_module_simplified(..., decompositions=decompositions())

An operator that is left to torch anyway should not be decomposed, because that costs more: bicubic interpolation is one
torch kernel, but is decomposed into some 200 operators on indices. Operators that Zellige supports directly are not
decomposed either.
"""

import functools

import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch._prims_common import suggest_memory_format
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.utils._python_dispatch import TorchDispatchMode

from ... import dtypes
from .. import applications
from ..applications import applied
from . import custom, declared, layers, operators
from .kinds import tensors
from .scalars import overflows

_KEPT = [torch.ops.aten._safe_softmax.default, torch.ops.aten.silu.default, torch.ops.aten.logsumexp.default, torch.ops.aten.baddbmm.default]  # supported directly
_PRODUCTS = {"mv", "dot", "vdot", "addmv", "addr", "addbmm", "baddbmm", "mm", "bmm", "addmm", "linear", "matmul"}
# torch has kernels of these for integers, and they may become parts of programs
_OF_ANY_DTYPE = {"stack", "cat", "masked_fill", "unbind", "narrow", "repeat", "tile", "constant_pad_nd", "select_scatter", "slice_scatter", "zeros_like",
                 "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "squeeze", "unsqueeze", "flatten", "expand_as", "movedim", "split",
                 "detach", "_unsafe_view", "transpose", "t", "tril", "triu"}  # fmt: skip
# these refuse indices that the operators of their decompositions accept, such as negative ones
_BY_CHECKED_INDEX = (torch.ops.aten.index_copy, torch.ops.aten.index_add, torch.ops.aten.index_fill, torch.ops.aten.take)
# of its decomposition AOT's graph has the indices as constants without numbers, where they are strided
_WITHOUT_NUMBERS = (torch.ops.aten._unsafe_masked_index_put_accumulate,)
_WRONG = (torch.ops.aten.multilabel_margin_loss_forward,)  # torch's decomposition counts labels after the last one
_DTYPES = {dtypes.torch_dtype(n) for n in dtypes.NAMES if n not in dtypes.PACKED}
# indexed by int64, which rewrites/numbers.py converts to int32
_BY_NUMBER = (torch.ops.aten.index_put.default, torch.ops.aten.embedding.default)
# rewrites/numbers.py rewrites these
_MADE_KNOWN = {torch.ops.aten.where.self, torch.ops.aten.scalar_tensor.default, torch.ops.aten.full.default, *custom.CONDITIONS}


def _var_mean(x, dim=None, *, correction=None, keepdim=False):
    applied("variance and mean")
    dims = list(range(x.ndim)) if dim is None else dim
    return torch.ops.aten.var.correction(x, dims, correction=correction, keepdim=keepdim), torch.ops.aten.mean.dim(x, dims, keepdim)


def _group_norm(x, weight, bias, batch, channels, spatial, groups, eps):
    applied("group norm by its statistics")
    wide = x.to(torch.promote_types(x.dtype, torch.float32)).reshape(batch, groups, -1)
    mean = wide.mean(-1, keepdim=True)
    rstd = torch.rsqrt(torch.ops.aten.var.correction(wide, [-1], correction=0, keepdim=True) + eps)
    made = ((wide - mean) * rstd).reshape(x.shape)
    each = (channels, *[1] * (x.ndim - 2))
    made = made if weight is None else made * weight.reshape(each)
    made = made if bias is None else made + bias.reshape(each)
    return made.to(x.dtype), mean.reshape(batch, groups).to(x.dtype), rstd.reshape(batch, groups).to(x.dtype)


def _cat(tensors, dim=0):
    """Concatenates without the tensors that have no elements, such as the keys of a cache before its first token."""
    some = [x for x in tensors if x.numel() > 0]
    if len(some) in (0, len(tensors)) or len({x.dtype for x in tensors}) > 1:
        return NotImplemented
    of = lambda x: suggest_memory_format(x) if x.ndim in (4, 5) else torch.contiguous_format  # noqa: E731
    form = next((f for f in map(of, sorted(tensors, key=lambda x: x.ndim)) if f == torch.contiguous_format), None) or of(some[0])
    applied("concatenation without empty tensors")  # the result is channels-last if all tensors are
    return torch.ops.aten.cat.default(some, dim).contiguous(memory_format=form) if len(some) > 1 else some[0].clone(memory_format=form)


def _glu(x, dim=-1):
    applied("gated linear unit of halves")
    a, b = (x.narrow(dim, start, x.shape[dim] // 2) for start in (0, x.shape[dim] // 2))
    return a * torch.sigmoid(b)


def _padded(x, pad, value=0):
    """Concatenates constants before and after; a negative extent cuts."""
    if isinstance(value, float) and value.is_integer() and not x.is_floating_point():  # F.pad gives a float
        value = bool(value) if x.dtype == torch.bool else int(value)
    if x.dtype not in _DTYPES or overflows(value, x.dtype) or isinstance(value, float) and not x.is_floating_point():
        return NotImplemented
    applied("padding by concatenation")
    for at, (before, after) in enumerate(zip(pad[::2], pad[1::2])):
        d = x.ndim - 1 - at
        x = x.narrow(d, max(0, -before), x.shape[d] - max(0, -before) - max(0, -after)) if min(before, after) < 0 else x
        of = lambda n: x.new_full([n if e == d else m for e, m in enumerate(x.shape)], value)  # noqa: B023, E731
        parts = [*([of(before)] if before > 0 else []), x, *([of(after)] if after > 0 else [])]
        x = torch.ops.aten.cat.default(parts, d) if len(parts) > 1 else x
    return x if max(pad, default=0) > 0 else x.clone()


def _repeat(x, repeats):
    """Repeats along a dimension by expanding one of extent 1 before it, which moves nothing."""
    x = x.reshape((1,) * (len(repeats) - x.ndim) + tuple(x.shape))
    repeated = [d for d, n in enumerate(repeats) if n != 1 and x.shape[d] != 1]  # these need a dimension of their own
    if 0 in repeats or x.ndim + len(repeated) > 8:
        return NotImplemented
    applied("repetition by expanding")
    split, wide = [], []
    for d, (size, n) in enumerate(zip(x.shape, repeats)):
        split += [1, size] if d in repeated else [size]
        wide += [n, size] if d in repeated else [size * n]
    return x.reshape(split).expand(wide).reshape([size * n for size, n in zip(x.shape, repeats)]).clone()


def _index_copy(x, dim, index, source):
    """Replaces one row. The index is not negative: index_put would count it from the end, and index_copy raises an error."""
    if index.numel() != 1 or index.dtype != torch.int64 or x.ndim == 0 or x.dtype != source.dtype or x.dtype not in _DTYPES:
        return NotImplemented
    applied("copied row by its number")
    dim %= x.ndim
    numbers = torch.ops.aten.arange.default(x.shape[dim], dtype=torch.int32, device=index.device)
    at = torch.ops.aten.index_select.default(numbers, 0, index if index.ndim == 1 else index.reshape(1))
    return torch.ops.aten.index_put.default(x, [*[None] * dim, at], source.reshape([1 if d == dim else n for d, n in enumerate(x.shape)]))


def _masked_fill(x, mask, value):
    """Fills by a tensor of the same dtype; torch raises an error if one of another dtype is out of range."""
    if value.dtype != x.dtype or mask.dtype != torch.bool or value.device != x.device or value.ndim > 0:
        return NotImplemented
    applied("selection by a filling tensor")
    return torch.where(mask, value, x)


def _cdist(x, y, p, mode=None):
    """Returns the distances of rows in a norm of exponent 1, 2 or infinity."""
    if p not in (1.0, 2.0, float("inf")) or x.dtype not in _DTYPES:
        return NotImplemented
    applied("distances of rows")
    difference = (x.unsqueeze(-2) - y.unsqueeze(-3)).abs()
    return difference.amax(-1) if p == float("inf") else difference.sum(-1) if p == 1 else difference.square().sum(-1).sqrt()


def _trilinear(x, w, y, *expand, unroll_dim=1):
    """Returns x w y of torch.nn.Bilinear, by a matrix product with all w."""
    if list(map(list, expand[:4])) != [[1, 3], [0], [1, 2], [2, 3]] or len({x.dtype, w.dtype, y.dtype}) > 1 or x.dtype not in _DTYPES or not x.is_floating_point():
        return NotImplemented
    applied("bilinear product of matrices")
    made = torch.mm(x, w.permute(1, 0, 2).reshape(x.shape[1], -1)).reshape(x.shape[0], w.shape[0], -1)
    return (made * y.unsqueeze(1)).sum(2)


# Written here: torch's own decompositions use its `prims` and strides, or there are none.
_OWN = {torch.ops.aten.var_mean.correction: _var_mean, torch.ops.aten.native_group_norm.default: _group_norm,
        torch.ops.aten.glu.default: _glu, torch.ops.aten.repeat.default: _repeat}  # fmt: skip
_IN_SOME_CASES = {torch.ops.aten.cat.default: _cat, torch.ops.aten.index_copy.default: _index_copy, torch.ops.aten.masked_fill.Tensor: _masked_fill, torch.ops.aten.constant_pad_nd.default: _padded, torch.ops.aten._cdist_forward.default: _cdist, torch.ops.aten._trilinear.default: _trilinear}  # NotImplemented in the others, in which the operator stays


def decompositions() -> dict:
    """Returns a dict with a function for each operator, which computes the operator's result by other operators, or
    returns NotImplemented if Zellige does not support one of these."""
    return dict(_decompositions())


@functools.cache  # torch takes half a second to make its own table
def _decompositions() -> dict:
    core = core_aten_decompositions()
    table = {op: f for op, f in {**decomposition_table, **core, **_OWN}.items() if op not in declared.MADE and getattr(op, "overloadpacket", None) not in (*_BY_CHECKED_INDEX, *_WITHOUT_NUMBERS, *_WRONG) and (op not in operators.OPERATORS or (op in core and op not in _KEPT))}
    known = {}
    return {op: _unless_refused(op, f if op in operators.OPERATORS else _where_known(op, f, table, known)) for op, f in table.items()} | _IN_SOME_CASES | layers.DECOMPOSITIONS


def _where_known(op, function, table, known):
    """Wraps `function`, torch's decomposition of the operator `op`: the wrapper returns NotImplemented if, for its
    arguments, the decomposition would use an operator that Zellige does not support.

    `table`: decompositions by operator; an operator that it decomposes into supported ones counts as supported. `known`:
    a cache of the decisions, by the operator and the properties of the arguments."""
    def decomposed(*args, **kwargs):
        key = (op, *_kinds(args), *_kinds(tuple(sorted(kwargs.items()))))
        if key not in known:
            known[key] = _ends_in_known(function, table, args, kwargs)
        return function(*args, **kwargs) if known[key] else NotImplemented

    return decomposed


def _unless_refused(op, function):
    """Wraps the decomposition `function` of an operator: the wrapper returns NotImplemented where _is_refused holds."""
    return lambda *args, **kwargs: NotImplemented if _is_refused(op, args, kwargs) else function(*args, **kwargs)


def _is_refused(op, args, kwargs) -> bool:
    """Returns true if a decomposition may lose an error, or read what torch's kernel does not read: a number that the
    kernel converts is beyond the range of the dtype, alpha is 0, the operands of a product differ in dtype, or the kernel
    may not exist for integers."""
    given = [x for x in args if isinstance(x, torch.Tensor)]
    numbers = [x for x in (*args, *kwargs.values()) if isinstance(x, (int, float)) and not isinstance(x, bool)]
    if not given:
        return False
    dtype, name = given[0].dtype, op._schema.name.removeprefix("aten::")
    if kwargs.get("alpha") == 0 or any(overflows(x, dtype) for x in numbers):
        return True
    if name in _PRODUCTS:
        return any(x.dtype != dtype for x in given)
    return not dtype.is_floating_point and not dtype.is_complex and name not in _OF_ANY_DTYPE


def _kinds(x):
    """Returns the properties of the arguments x that determine whether a decomposition is supported: dtype and number
    of dimensions of tensors, and other arguments themselves."""
    if isinstance(x, torch.Tensor):
        return ("tensor", x.dtype, x.ndim)
    return tuple(map(_kinds, x)) if isinstance(x, (tuple, list)) else (repr(x),)


def _ends_in_known(function, table, args, kwargs) -> bool:
    """Returns true if the decomposition `function`, called with `args` and `kwargs`, uses only operators and dtypes that
    Zellige supports. `table`: decompositions by operator; an operator that it decomposes into supported ones counts as
    supported."""
    try:
        with applications.uncounted(), disable_proxy_modes_tracing(), _OnlyKnown(table):
            made = function(*args, **kwargs)
        return made is not NotImplemented and all(t.dtype in _DTYPES for t in tensors(made))
    except Exception:  # _Unknown, or an error in torch's function for these arguments
        return False


class _Unknown(Exception):
    """Raised at an operator that Zellige does not support."""
    pass


class _OnlyKnown(TorchDispatchMode):
    """Runs operators, and raises _Unknown at the first one that Zellige neither supports nor can decompose into
    supported ones."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if op in _MADE_KNOWN or op.namespace == "prim" or op is torch.ops.aten.gather.default and args[0].device.type == "cpu" and args[0].dtype in _DTYPES:
            return op(*args, **kwargs)
        if op in operators.OPERATORS:
            made = op(*args, **kwargs)
            if any(t.dtype not in _DTYPES for t in tensors(made if op in _BY_NUMBER else (args, made))):
                raise _Unknown(op)
            return made
        with self:
            made = self.table[op](*args, **kwargs) if op in self.table else op.decompose(*args, **kwargs)
        if made is NotImplemented:
            raise _Unknown(op)
        return made
