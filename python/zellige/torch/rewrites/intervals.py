"""Bounds of the integers of a torch graph, which follow from the operators that make them. Positions that are in range for all inputs
need no check, and lose no bits as int32.

    limits(work, node)             (minimum, maximum), which the integers of the node are between; None if nothing is known
    in_range(work, node, count)    true if they are known to be from 0 to count - 1, whatever the graph's open sizes are
"""

import operator

import torch

from ..import_.kinds import SORTS
from ..import_.symbols import OF_SIZES, OPEN
from ..import_.views import VIEWS

aten = torch.ops.aten

_NARROW = {torch.bool: (0, 1), torch.uint8: (0, 255), torch.int8: (-128, 127), torch.int16: (-(1 << 15), (1 << 15) - 1)}
_WIDE = {torch.int32: (-(1 << 31), (1 << 31) - 1), torch.int64: (-(1 << 63), (1 << 63) - 1)}
_DEPTH = 24  # of operators that are looked through
_KEPT = (*VIEWS, aten.amax.default, aten.amin.default, aten.flip.default, aten.roll.default, aten.expand.default, aten.gather.default,
         aten.index_select.default, aten.index.Tensor, aten.embedding.default, aten.unfold.default)  # fmt: skip
_ALONE = (aten.argmax.default, aten.argmin.default)
_PLACES = (*_ALONE, aten.max.dim, aten.min.dim, aten.topk.default, *SORTS)
_SUMS = {aten.add.Tensor: 1, aten.add.Scalar: 1, aten.sub.Tensor: -1, aten.sub.Scalar: -1}
_PRODUCTS = (aten.mul.Tensor, aten.mul.Scalar)
_DIVISIONS = (aten.div.Tensor_mode, aten.div.Scalar_mode, aten.floor_divide.default)


def in_range(work, node, count) -> bool:
    found = limits(work, node) if work.marked or not work.opened else None
    return found is not None and 0 <= found[0] and found[1] < count


def limits(work, node, depth=_DEPTH):
    if not isinstance(node, torch.fx.Node):
        return (node, node) if isinstance(node, int) else None
    if node not in work.limits:
        work.limits[node] = _look(work, node, depth)
    return work.limits[node]


def _look(work, node, depth):
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.dtype not in _NARROW and value.dtype not in _WIDE or depth == 0:
        return None
    dtype = _NARROW.get(value.dtype) or _WIDE[value.dtype]
    if work.opened and (node not in work.marked or node.meta.get(OF_SIZES) and node.target not in VIEWS):  # its numbers are those of one size
        return _NARROW.get(value.dtype)
    is_constant = node in work.constants and not (work.opened and _is_of_sizes(node))
    found = _of_constant(work, node) if is_constant else _of_operator(work, node, depth - 1)
    known = found is not None and dtype[0] <= found[0] and found[1] <= dtype[1]  # else the numbers wrap
    return found if known else _NARROW.get(value.dtype)


def _is_of_sizes(node) -> bool:
    """Returns true if a constant is computed of numbers or extents that differ from size to size."""
    return bool(node.meta.get(OF_SIZES) or node.meta.get(OPEN)) or any(map(_is_of_sizes, node.all_input_nodes))


def _of_constant(work, node):
    value = work.constants.value(node)
    return None if value is None or value.numel() == 0 else (int(value.min()), int(value.max()))


def _of_operator(work, node, depth):
    target, args = node.target, node.args
    if target in _ALONE or target is operator.getitem and args[0].target in _PLACES:
        return _of_places(work, node if target in _ALONE else args[0]) if target in _ALONE or args[1] == 1 else limits(work, args[0].args[0], depth)
    if target is aten.cat.default:
        return _hull([limits(work, a, depth) for a in args[0]])
    if target is aten.where.self:
        return _hull([limits(work, a, depth) for a in args[1:]])
    if target in (aten.remainder.Scalar, aten.bitwise_and.Scalar) and isinstance(args[1], int) and args[1] > 0:
        return 0, args[1] - (target is aten.remainder.Scalar)
    if target is aten._to_copy.default or target in _KEPT and isinstance(args[0], torch.fx.Node) and target is not operator.getitem:
        return limits(work, args[0], depth)
    of = [limits(work, a, depth) for a in args[:2]]
    if target is aten.clamp.default:
        return _clamped(of[0] or _WIDE[torch.int64], *(*args[1:], None, None)[:2])
    if None in of or len(of) < 2 or target not in _DIVISIONS and (*args[2:], *node.kwargs.values()) not in ((), (1,)):  # alpha
        return None
    return _of_two(target, of, node.kwargs.get("rounding_mode", "floor"))


def _clamped(found, low, high):
    low, high = _WIDE[torch.int64][0] if low is None else low, _WIDE[torch.int64][1] if high is None else high
    return tuple(min(max(n, low), high) for n in found) if isinstance(low, int) and isinstance(high, int) else None


def _of_two(target, of, rounding):
    (a, b), (c, d) = of
    if target in _SUMS:
        return (a + c, b + d) if _SUMS[target] > 0 else (a - d, b - c)
    if target is aten.rsub.Scalar:
        return c - b, d - a
    if target in _PRODUCTS:
        ends = a * c, a * d, b * c, b * d
        return min(ends), max(ends)
    if target is aten.maximum.default:
        return max(a, c), max(b, d)
    if target is aten.minimum.default:
        return min(a, c), min(b, d)
    if target in _DIVISIONS and c == d and c > 0 and rounding == "floor":
        return a // c, b // c
    return None


def _of_places(work, node):
    if work.is_open(node.args[0]):
        return None
    value = node.args[0].meta["val"]
    given = dict(zip([a.name for a in node.target._schema.arguments], node.args)) | node.kwargs
    dim = given.get("dim", None if node.target in _ALONE else -1)
    return 0, (value.numel() if dim is None or value.ndim == 0 else value.shape[dim]) - 1


def _hull(found):
    return None if None in found else (min(f[0] for f in found), max(f[1] for f in found))
