"""Replaces what torch graphs spell in operators that Zellige lacks by what means the same in operators that it has.

    max.dim(x, d), whose indices nobody reads     amax(x, d)
    as_strided(x, ...), x in order as it is       view(x, ...)
    maximum(x, c), c one number everywhere        clamp(x, c)
    x (1 + erf(x / sqrt(2))) / 2                  gelu(x)
    bmm(x, y), a batch of one                     mm(x[0], y[0])[None]; also baddbmm, if alpha is not 0
    x[numbers], which are constant and count up   x[first:last], each row repeated by expanding; view(x, ...) if all count up
"""

import math
import operator

import torch

from ..import_.kinds import QUOTIENTS, SCALES, TIMES
from ..import_.scalars import overflows, rounded

aten = torch.ops.aten

CLOSE = 1e-6  # numbers are written with seven digits or more


def single(work, node) -> bool:
    """Replaces a batched matmul of one batch."""
    if any(x.meta["val"].shape[0] != 1 for x in node.args) or node.kwargs.get("alpha") == 0:  # addmm reads no factors then
        return False
    matrices = [work.call(node, aten.squeeze.dims, x, [0]) for x in node.args]
    made = work.call(node, aten.mm.default if len(matrices) == 2 else aten.addmm.default, *matrices, **node.kwargs)
    return work.replace(node, aten.unsqueeze.default, made, 0)


def extreme(work, node) -> int:
    """Replaces a maximum or minimum along a dimension whose places nobody reads."""
    if not all(u.target is operator.getitem and u.args[1] == 0 for u in node.users):
        return 0
    target = aten.amax.default if node.target is aten.max.dim else aten.amin.default
    return sum(work.replace(values, target, node.args[0], [node.args[1]], *node.args[2:]) for values in list(node.users))


def in_order(work, node) -> bool:
    """Replaces strides that read a tensor in its order."""
    x, shape = node.args[0].meta["val"], node.args[1]
    at = node.args[3] if len(node.args) > 3 and node.args[3] is not None else x.storage_offset()
    ordered = x.is_contiguous() and node.meta["val"].is_contiguous()
    everything = math.prod(shape) == x.numel() and at == x.storage_offset()
    return ordered and everything and work.replace(node, aten.view.default, node.args[0], shape)


def counted(work, node) -> bool:
    """Replaces a selection by constant numbers that count up."""
    x = node.args[0]
    value = x.meta["val"]
    given = [(d, n) for d, n in enumerate(node.args[1]) if n is not None] if isinstance(node.args[1], (list, tuple)) else [node.args[1:3]]
    if x in work.constants or not all(n in work.constants for _, n in given) or not node.meta["val"].is_contiguous() or value.ndim == 0:
        return False
    if _in_order(work, node):
        return work.replace(node, aten.view.default, work.call(node, aten.clone.default, x, memory_format=torch.contiguous_format), list(node.meta["val"].shape))
    if len(given) != 1:
        return False
    dim, numbers = given[0][0] % max(1, value.ndim), work.constants.value(given[0][1])
    if numbers is None or numbers.ndim != 1 or numbers.dtype not in (torch.int64, torch.int32) or numbers.numel() == 0:
        return False
    size, start, count = value.shape[dim], int(numbers[0]), numbers.unique().numel()
    times = numbers.numel() // count
    counting = torch.arange(start, start + count, dtype=numbers.dtype).repeat_interleave(times)
    if not 0 <= start <= start + count <= size or not torch.equal(numbers, counting):
        return False
    x = x if count == size else work.call(node, aten.slice.Tensor, x, dim, start, start + count)
    if times > 1:
        shape = [n for d, n in enumerate(node.meta["val"].shape) for n in ((count, times) if d == dim else (n,))]
        x = work.call(node, aten.expand.default, work.call(node, aten.unsqueeze.default, x, dim + 1), shape)
    x = work.call(node, aten.clone.default, x, memory_format=torch.contiguous_format)
    return work.replace(node, aten.view.default, x, list(node.meta["val"].shape))


def _in_order(work, node) -> bool:
    """Returns true if a selection by constants has all elements of its operand, in their order."""
    value = node.args[0].meta["val"]
    if value.numel() != node.meta["val"].numel() or value.numel() >= 1 << 24:
        return False
    places = torch.arange(value.numel()).reshape(value.shape)
    numbers = {n: work.constants.value(n) for n in node.all_input_nodes[1:]}
    if None in numbers.values():
        return False
    return torch.equal(node.target(places, *torch.fx.map_arg(node.args[1:], numbers.__getitem__)).flatten(), places.flatten())


def bound(work, node) -> bool:
    """Replaces a maximum or minimum with one number."""
    for x, limit in (node.args, node.args[::-1]):
        number = _number(limit, work.constants)
        value, kept = node.meta["val"], x.meta["val"]
        fits = kept.shape == value.shape and kept.dtype == value.dtype and value.is_floating_point()
        if fits and number is not None and not math.isnan(number) and not overflows(number, value.dtype):
            limits = (number, None) if node.target is aten.maximum.default else (None, number)
            return work.replace(node, aten.clamp.default, x, *limits)
    return False


def _number(node, constants):
    """Returns the number that all elements of a node have, as its dtype rounds it, or None if they differ or are not known."""
    if node.target in (aten.zeros_like.default, aten.ones_like.default):
        return float(node.target is aten.ones_like.default)
    if node.target in (aten.full.default, aten.full_like.default):
        return rounded(node.args[1], node.meta["val"].dtype)
    return constants.number(node)


def gelu(work, node) -> bool:
    """Replaces the product of x, 1 + erf(x / sqrt(2)) and 1 / 2, in any order of the factors."""
    scale, x = _scaled(node.args[0])
    if abs(scale * math.sqrt(2) - 1) > CLOSE:
        return False
    at = _only_user(node)
    if at is None or at.target not in (aten.add.Tensor, aten.add.Scalar) or at.kwargs or at.args not in ((node, 1), (1, node)):
        return False
    factor, others = 1.0, []
    while not (others == [x] and factor == 0.5):
        before, at = at, _only_user(at)
        if at is None or at.target not in SCALES or at.kwargs:
            return False
        other = at.args[1] if at.args[0] is before else at.args[0]
        if at.target in QUOTIENTS:
            if at.args[0] is not before or not isinstance(other, (int, float)) or other == 0:
                return False
            other = 1 / other
        if isinstance(other, torch.fx.Node):
            scale, other = (1.0, other) if other is x else _scaled(other)
            factor *= scale
            others.append(other)
        else:
            factor *= other
    fits = at.meta["val"].dtype == x.meta["val"].dtype and at.meta["val"].shape == x.meta["val"].shape
    return fits and work.replace(at, aten.gelu.default, x)


def _only_user(node):
    return next(iter(node.users)) if len(node.users) == 1 else None


def _scaled(node):
    """Returns (s, x) for a node that is s x or x / (1 / s), else (1, the node)."""
    if node.kwargs or node.target not in SCALES:
        return 1.0, node
    x, s = node.args
    if node.target in TIMES and isinstance(x, (int, float)):
        x, s = s, x
    if not isinstance(x, torch.fx.Node) or not isinstance(s, (int, float)) or s == 0:
        return 1.0, node
    return (s if node.target in TIMES else 1 / s), x
