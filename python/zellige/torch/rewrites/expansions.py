"""Replaces operators that Zellige lacks by several that it has: movements of elements, places of extremes, prefix sums, and
elements that are selected or replaced by numbers.

    flip(x, [0])         x.reshape(-1)[numbers], where numbers are a constant: the same flip of 0, 1, 2, ...
    argmax(x, d)         -1 - amax(where(x == amax(x, d), -1 - position, -2^30), d)
    cumsum(x, d)         accumulated under a triangle, of blocks of 64 elements and then of their totals
    gather(x, d, at)     x.reshape(-1)[position + stride at], after torch's kernel has checked the numbers
    gather(f(x), -1, at) amax(where(at == position, f(x), -inf), -1), of few numbers a row
    scatter_add(x, ...)  x + sum(where(at == position, src, 0)), over the numbers of each row
"""

import operator

import torch

from ... import dtypes
from ..import_.kinds import SOFTMAXES, is_pointwise, value_of
from .empty import fixed
from .expanded import expanded
from .intervals import in_range

aten = torch.ops.aten

MOVEMENTS = (aten.flip.default, aten.roll.default, aten.diagonal.default, aten.as_strided.default, aten.unfold.default, aten.rot90.default,
             aten.reflection_pad1d.default, aten.reflection_pad2d.default, aten.reflection_pad3d.default, aten.replication_pad1d.default,
             aten.replication_pad2d.default, aten.replication_pad3d.default, aten.upsample_nearest1d.default, aten.upsample_nearest2d.default,
             aten.upsample_nearest2d.vec, aten.upsample_nearest3d.default, aten._upsample_nearest_exact1d.default, aten._upsample_nearest_exact2d.default,
             aten._upsample_nearest_exact3d.default, aten.im2col.default, aten.pixel_shuffle.default, aten.pixel_unshuffle.default,
             aten.channel_shuffle.default, aten.slice.Tensor)  # fmt: skip
EXTREMES = {aten.argmax.default: aten.amax, aten.argmin.default: aten.amin, aten.max.dim: aten.amax, aten.min.dim: aten.amin}
SCATTERS = (aten.scatter.value, aten.scatter.src, aten.scatter_add.default, aten.scatter_reduce.two)
SELECTIONS = (aten.gather.default, aten.index_select.default, aten.index.Tensor, aten._unsafe_index.Tensor)
BLOCK = 64  # elements of a running sum that are summed under a triangle
MAX_ELEMENTS, _LONGEST, _FEW = 1 << 24, 65536, 4
_DTYPES = {dtypes.torch_dtype(name) for name in dtypes.NAMES if name not in dtypes.PACKED}


def is_program(*values) -> bool:
    return all(fixed(v) and v.dtype in _DTYPES and 0 < v.numel() < 1 << 31 for v in values)


def taken(x, numbers):
    """Returns x.reshape(-1)[numbers], of int32 numbers that are in range."""
    return aten.embedding.default(x.reshape(-1, 1), numbers.reshape(-1)).reshape(numbers.shape)


def movement(work, node) -> bool:
    """Replaces an operator that moves elements by their places."""
    x, made = value_of(node.args[0]), value_of(node)
    if not is_program(x, made) or x.numel() >= MAX_ELEMENTS or made.numel() >= MAX_ELEMENTS or node.target is aten.slice.Tensor and _is_part(node):
        return False
    if node.target is aten.im2col.default and any(node.args[3]):  # what is around an image has no place in it
        return False
    if node.target is aten.as_strided.default and not (x.is_contiguous() and x.storage_offset() == 0):
        return False
    return _moved(work, node)


def _moved(work, node) -> bool:
    """Replaces an operator by a selection of the places that the operator itself moves. Its operands but the first are constants."""
    constants = [n for n in node.all_input_nodes if n is not node.args[0]]

    def moved(x, *constants):
        of = dict(zip(node.all_input_nodes[1:], constants))
        places = torch.arange(x.numel(), dtype=torch.float64, device=x.device).reshape(x.shape)
        arguments, options = torch.fx.map_arg((node.args[1:], node.kwargs), of.__getitem__)
        return taken(x, node.target(places, *arguments, **options).to(torch.int32))

    return expanded(work, node, moved, node.args[0], *constants)


def _is_part(node) -> bool:
    """Returns true for a slice that is a view of programs."""
    x, (_, dim, start, end, step) = value_of(node.args[0]), (*node.args, *(0, None, None, 1)[len(node.args) - 1 :])
    size = x.shape[dim]
    start, end, _ = slice(start, end).indices(size)
    return step == 1 or size % step == 0 and start < step and end > size - step + start


def extreme(work, node) -> bool:
    """Replaces the place of a maximum or minimum, and its value."""
    x, both = value_of(node.args[0]), node.target in (aten.max.dim, aten.min.dim)
    dim, keepdim = (*node.args[1:], *(None, False)[len(node.args) - 1 :])
    if not is_program(x) or x.ndim == 0 or both and not all(u.target is operator.getitem for u in node.users):
        return False
    if (x.numel() if dim is None else x.shape[dim]) >= MAX_ELEMENTS:
        return False
    reduce = EXTREMES[node.target]

    def found(x):
        rows = x.reshape(-1) if dim is None else x
        d = 0 if dim is None else dim % x.ndim
        n, maximum = rows.shape[d], reduce(rows, [d], True)
        hit = rows == maximum
        hit = hit | (rows != rows) if rows.is_floating_point() else hit
        left = torch.arange(-1, -1 - n, -1, dtype=torch.int32, device=x.device).reshape([n if e == d else 1 for e in range(rows.ndim)])
        # a selection by the numbers themselves, so that the parts of a row need no other constant
        place = (-1 - aten.amax(torch.where(hit, left, -(1 << 30)), [d], True)).to(torch.int64)
        if dim is None:
            return place.reshape([1] * x.ndim if keepdim else [])
        place, maximum = (place, maximum) if keepdim else (place.squeeze(d), maximum.squeeze(d))
        return (maximum, place) if both else place

    return expanded(work, node, found, node.args[0])


def running_sum(work, node) -> bool:
    """Replaces a running sum."""
    x, made, dim = value_of(node.args[0]), value_of(node), node.args[1]
    if not is_program(x, made) or x.ndim == 0 or work.is_open(node.args[0], dim) or x.shape[dim] > _LONGEST or x.numel() >= MAX_ELEMENTS:
        return False
    to = torch.promote_types(made.dtype, torch.float32) if made.is_floating_point() else made.dtype

    def summed(x):
        return running(x.to(to).movedim(dim, -1), False).movedim(-1, dim).to(made.dtype)

    return expanded(work, node, summed, node.args[0])


def running(x, before):
    """Returns the prefix sum along the last dimension; `before`: without each element itself."""
    n = x.shape[-1]
    if n > BLOCK:
        blocks = -(-n // BLOCK)
        padded = aten.constant_pad_nd(x, [0, blocks * BLOCK - n], 0) if blocks * BLOCK > n else x
        padded = padded.reshape(*x.shape[:-1], blocks, BLOCK)
        made = running(padded, before) + running(padded.sum(-1, dtype=x.dtype), True).unsqueeze(-1)
        return made.reshape(*x.shape[:-1], blocks * BLOCK)[..., :n]
    kept = torch.ones(n, n, dtype=torch.bool, device=x.device).tril(-1 if before else 0)
    return torch.where(kept, x.unsqueeze(-2).expand(*x.shape, n).reshape(*x.shape, n), 0).sum(-1, dtype=x.dtype)


def selection(work, node) -> bool:
    """Replaces a selection of elements by numbers."""
    x, made, listed = value_of(node.args[0]), value_of(node), node.target in (aten.index.Tensor, aten._unsafe_index.Tensor)
    if all(n in work.constants for n in node.all_input_nodes):
        return False
    if not work.opened and all(n in work.constants for n in node.all_input_nodes if n is not node.args[0]) and node.args[0] not in node.all_input_nodes[1:]:
        return is_program(x, made) and x.numel() < MAX_ELEMENTS and made.numel() < MAX_ELEMENTS and _moved(work, node)
    found = [(d, n) for d, n in enumerate(node.args[1]) if n is not None] if listed else [(node.args[1], node.args[2])]
    if len(found) != 1 or not is_program(x, made) or x.ndim == 0:
        return False
    dim, at = found[0][0] % x.ndim, found[0][1]
    numbers = value_of(at)
    if work.is_open(node.args[0]) or work.is_open(at) and node.target is aten.gather.default:
        return False
    known = numbers.dtype in (torch.int64, torch.int32) and in_range(work, at, x.shape[dim])
    if numbers.dtype not in (torch.int64, torch.int32) or numbers.device != x.device or x.device.type != "cpu" and not known:
        return False
    if node.args[0].target is aten.arange.default:  # the check of another row
        return False

    def of(x, at):
        rows = torch.arange(x.shape[dim], dtype=torch.int32, device=x.device)
        if node.target is not aten.gather.default:
            checked = at.to(torch.int32) if known else aten.index.Tensor(rows, [at]) if listed else aten.index_select(rows, 0, at)
            first = x.movedim(dim, 0)
            made = aten.embedding.default(first.reshape(x.shape[dim], -1), checked.reshape(-1)).reshape(*at.shape, *first.shape[1:])
            return made.movedim(list(range(at.ndim)), list(range(dim, dim + at.ndim)))
        checked = at.to(torch.int32) if known else aten.index_select(rows, 0, at.reshape(-1)).reshape(at.shape)
        places = torch.arange(x.numel(), dtype=torch.int32, device=x.device).reshape(x.shape).select(dim, 0).unsqueeze(dim)
        places = places[tuple(slice(n) for n in (*at.shape[:dim], 1, *at.shape[dim + 1 :]))]
        stride = x.numel() if x.ndim == 0 else x[(0,) * dim].numel() // x.shape[dim]
        return taken(x, places + checked * stride)

    return expanded(work, node, of, node.args[0], at)


def element(work, node) -> bool:
    """Replaces the selection of a few elements of each row, by comparing their numbers with each position."""
    x, dim, at = node.args[:3]
    value, numbers = value_of(x), value_of(at)
    if not is_program(value, numbers) or value.ndim == 0 or dim % value.ndim != value.ndim - 1 or numbers.shape[:-1] != value.shape[:-1]:
        return False
    if numbers.shape[-1] > _FEW or work.is_open(at, -1) or not (is_pointwise(x.target) or x.target in SOFTMAXES) or numbers.dtype != torch.int64 or value.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return False
    known = not work.is_open(x, dim) and in_range(work, at, value.shape[dim])
    if value.device.type != "cpu" and not known:
        return False

    def found(x, at):
        rows = torch.arange(x.shape[-1], dtype=torch.int32, device=x.device)
        checked = at.to(torch.int32) if known else aten.index_select(rows, 0, at.reshape(-1)).reshape(at.shape)
        if at.shape[-1] == 1:
            return aten.amax(torch.where(checked == rows, x, float("-inf")), [-1], True)
        return aten.amax(torch.where(checked.unsqueeze(-1) == rows, x.unsqueeze(-2), float("-inf")), [-1])

    return expanded(work, node, found, x, at)


def replacement(work, node) -> bool:
    """Replaces a scatter, by comparing each number with each position."""
    x, dim, at = node.args[:3]
    value, numbers, source = value_of(x), value_of(at), node.args[3]
    if not is_program(value, numbers) or value.ndim == 0 or numbers.dtype != torch.int64:
        return False
    dim %= value.ndim
    known = not work.is_open(x, dim) and in_range(work, at, value.shape[dim])
    if work.is_open(x, dim) and work.is_open(at, dim):
        return False
    if value.device.type != "cpu" and not known:
        return False
    same = all(n == m for d, (n, m) in enumerate(zip(value.shape, numbers.shape)) if d != dim)
    reduce = node.args[4] if node.target is aten.scatter_reduce.two else "sum" if node.target is aten.scatter_add.default else ""
    if not same or value.numel() * numbers.shape[dim] >= MAX_ELEMENTS or reduce not in ("", "sum", "amax", "amin") or "include_self" in node.kwargs:
        return False
    given = isinstance(source, torch.fx.Node)
    if given and (value_of(source).shape != numbers.shape or value_of(source).dtype != value.dtype):
        return False

    def scattered(x, at, *source):
        rows = torch.arange(x.shape[dim], dtype=torch.int32, device=x.device)
        checked = at.to(torch.int32) if known else aten.index_select(rows, 0, at.reshape(-1)).reshape(at.shape)
        checked = checked.unsqueeze(dim)
        hit = checked == rows.reshape([-1 if d == dim else 1 for d in range(x.ndim + 1)])
        return _joined(x, hit, source[0].unsqueeze(dim) if given else node.args[3], dim, reduce)

    return expanded(work, node, scattered, x, at, *([source] if given else []))


def _joined(x, hit, source, dim, reduce):
    """Returns x joined with the source where its number is the position; without a way to join, the last one replaces x."""
    along = [dim + 1]
    if reduce == "sum":
        to = torch.promote_types(x.dtype, torch.float32) if x.is_floating_point() else x.dtype
        return (x.to(to) + torch.where(hit, source, 0).sum(along, dtype=to)).to(x.dtype)
    if reduce:
        info = torch.finfo(x.dtype) if x.is_floating_point() else torch.iinfo(x.dtype)
        ends = (float("-inf"), float("inf")) if x.is_floating_point() else (info.min, info.max)
        join, of_all = (torch.maximum, aten.amax) if reduce == "amax" else (torch.minimum, aten.amin)
        return join(x, of_all(torch.where(hit, source, ends[reduce == "amin"]), along))
    if not isinstance(source, torch.Tensor):
        return torch.where(aten.any.dim(hit, along[0]), source, x)
    n = hit.shape[along[0]]
    order = torch.arange(n, dtype=torch.int32, device=x.device).reshape([-1 if d == along[0] else 1 for d in range(hit.ndim)])
    last = aten.amax(torch.where(hit, order, -1), along, True)
    found = torch.where(order == last, source, 0)
    found = found.to(torch.int32).sum(along, dtype=torch.int32).to(x.dtype) if x.dtype in (torch.bool, torch.uint8, torch.int16) else found.sum(along, dtype=x.dtype)
    return torch.where((last >= 0).squeeze(along[0]), found, x)
