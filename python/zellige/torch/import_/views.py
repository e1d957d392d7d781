"""The views of torch (ATen) on traced arrays: the table VIEWS."""

import itertools
import operator

import torch

from ... import array_views
from ... import operators as op
from ..applications import applied
from .kinds import COPY, GIVEN, lies_as
from .schema import Left

aten = torch.ops.aten


def _slice(x, dim=0, start=None, end=None, step=1):
    size = x.shape[dim]
    start, end, _ = slice(start, end).indices(size)
    if step == 1:
        return x if (start, end) == (0, size) else op.slice(x, dim, start, end)
    if size % step != 0 or start >= step or end <= size - step + start:
        raise Left(f"expected slices of step 1, or of every part of {step}, found {start}:{end}:{step} of {size}")
    applied("every part of a slice")
    dim %= x.ndim
    parts = op.reshape(x, (*x.shape[:dim], size // step, step, *x.shape[dim + 1 :]))
    return array_views.without(op.slice(parts, dim + 1, start, start + 1), [dim + 1])


def _select(x, dim, index):
    if not -x.shape[dim] <= index < x.shape[dim]:
        raise Left(f"expected an index in range of {x.shape[dim]}, found {index}")
    at = index % x.shape[dim]
    return _without(op.slice(x, dim, at, at + 1), [dim])


def _split(x, sizes, dim=0):
    """Returns the parts of x along a dimension as slices, which are views as in torch (op.split would make separate
    tensors). sizes: the sizes of the parts, or one number, the size of every part."""
    size = x.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, size - at) for at in range(0, size, sizes)]
    ends = list(itertools.accumulate(sizes))
    return [_slice(x, dim % x.ndim, end - n, end) for n, end in zip(sizes, ends)]


def _expand(x, shape, implicit=False):
    same = len(shape) == x.ndim and all(n in (-1, m) for n, m in zip(shape, x.shape))
    return x if same else op.expand(x, shape)


def _transpose(x, a, b):
    return array_views.swapped(x, a, b)


def _squeeze(x, dim):
    dims = [d for d in ([dim] if isinstance(dim, int) else dim) if x.shape[d] == 1]
    return _without(x, dims) if dims else x


def _without(x, dims):
    """Returns x without the dimensions `dims`, which have extent 1."""
    dims = {d % x.ndim for d in dims}
    return _viewed(x, [n for d, n in enumerate(x.shape) if d not in dims])


def _viewed(x, shape):
    return op.reshape(x, tuple(shape) or (1,))


def _same(x, **_):
    return x


def _part(parts, i):
    if parts[i] is None:
        raise Left(f"result {i} of the operator is not made here")
    return parts[i]


# Views, which move no data. A part that consists only of views is not worth a program.
VIEWS = {
    aten.view.default: _viewed,
    aten._unsafe_view.default: _viewed,
    aten.reshape.default: _viewed,
    aten.permute.default: op.permute,
    aten.t.default: lambda x: _transpose(x, 0, 1) if x.ndim == 2 else x,
    aten.transpose.int: _transpose,
    aten.expand.default: _expand,
    aten.unsqueeze.default: array_views.inserted,
    aten.squeeze.dim: _squeeze,
    aten.squeeze.dims: _squeeze,
    aten.slice.Tensor: _slice,
    aten.select.int: _select,
    aten.split_with_sizes.default: _split,
    aten.split.Tensor: _split,
    aten.clone.default: _same,
    aten.detach.default: _same,
    aten.alias.default: _same,
    operator.getitem: _part,
}


def is_view(n) -> bool:
    """Returns true for a node that is a view, or a result of an operator that makes several views."""
    if n.target is operator.getitem:
        return n.args[0].target in VIEWS
    return n.target in VIEWS


def moves(n) -> bool:
    """Returns true if n copies an argument of its graph into another layout. A program does so by a kernel of its own."""
    if n.target is not COPY or n.args[0].op not in GIVEN:
        return False
    x, made = n.args[0].meta.get("val"), n.meta.get("val")
    return isinstance(x, torch.Tensor) and not lies_as(x, made.stride())
