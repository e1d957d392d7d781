"""Replaces what needs no elements of other tensors by constants: tensors without elements, tensors of one number, and positions.

    relu(x), x of shape (0, 4)       full((0, 4), 0)
    sum(x, 0), x of shape (0, 4)     full((4,), 0)
    zeros_like(x)                    full(x.shape, 0)
    full((n, 4), 0)                  full((1, 1), 0).expand(n, 4)
    arange(n), n an open size        arange(greatest)[:n]
"""

import operator

import torch

from ..import_.kinds import is_pointwise
from ..import_.symbols import SizedInt
from ..import_.views import VIEWS
from .in_place import IN_PLACE

aten = torch.ops.aten

# by operator: the number that the elements have, None if it is the argument after the tensor or its shape
FILLED = {aten.full_like.default: None, aten.empty_like.default: 0, aten.new_empty.default: 0, aten.zeros_like.default: 0, aten.ones_like.default: 1, aten.fill.Scalar: None, aten.new_zeros.default: 0,
          aten.new_ones.default: 1, aten.new_full.default: None}  # fmt: skip
COUNTED = {aten.arange.default: 0, aten.arange.start: 1, aten.arange.start_step: 1}  # by operator: the argument with the end
_LARGE, _LONGEST = 1024, 65536
_MADE = (aten.full.default, aten.arange.start_step, aten.arange.default, aten.empty.memory_format)
# these may raise an error for the numbers of an operand, whatever the extents are
_CHECKED = ("index", "gather", "scatter", "embedding", "take", "put", "select")


def fixed(value) -> bool:
    """Returns true for a tensor of sizes that do not depend on data."""
    return isinstance(value, torch.Tensor) and all(isinstance(n, int) for n in value.shape)


def filled(work, node) -> bool:
    """Replaces a tensor of one number."""
    value, number = node.meta["val"], FILLED[node.target]
    if any(u.target in IN_PLACE for u in node.users) or not fixed(value) or number is None and isinstance(node.args[-1], torch.fx.Node):
        return False
    number = (node.args[2] if node.target is aten.new_full.default else node.args[1]) if number is None else number
    return _full(work, node, number)


def _full(work, node, number) -> bool:
    value = node.meta["val"]
    number = bool(number) if value.dtype == torch.bool else number
    order = sorted(range(value.ndim), key=lambda d: (-value.stride(d), d))  # in which the dimensions lie
    laid = value.permute(order)
    if not laid.is_contiguous():
        return False
    made = work.once(node, aten.full.default, tuple(laid.shape), number, value=laid, dtype=value.dtype, device=value.device)
    back = [order.index(d) for d in range(value.ndim)]
    node.replace_all_uses_with(made if order == back == sorted(order) else work.call(node, aten.permute.default, made, back, value=value))
    return True


def constants(work, output) -> int:
    """Replaces the operators whose result, or whose operands, have no elements."""
    return sum(_constant(work, n) for n in list(work.graph.nodes) if n.op == "call_function" and n.users and not n._erased)


def _constant(work, n) -> bool:
    value, operands = n.meta.get("val"), [m.meta.get("val") for m in n.all_input_nodes]
    if n.target is operator.getitem and fixed(value) and value.numel() == 0 and value.is_contiguous():
        return _full(work, n, 0)
    if not isinstance(n.target, torch._ops.OpOverload) or not fixed(value) or not value.is_contiguous():
        return False
    if n.target in VIEWS or n.target in _MADE or n.target._schema.is_mutable or torch.Tag.nondeterministic_seeded in n.target.tags or not operands:
        return False
    name = n.target.overloadpacket.__name__
    if any(word in name for word in _CHECKED) or not all(fixed(x) and x.layout == torch.strided for x in operands):
        return False
    if value.numel() == 0:
        return _full(work, n, 0)
    return all(x.numel() == 0 for x in operands) and _of_nothing(work, n)


def _of_nothing(work, n) -> bool:
    """Replaces an operator whose operands have no elements by the number that torch makes of them."""
    of = lambda m: torch.empty(tuple(m.meta["val"].shape), dtype=m.meta["val"].dtype)  # noqa: E731
    try:
        made = n.target(*torch.fx.map_arg(n.args, of), **{k: v for k, v in torch.fx.map_arg(n.kwargs, of).items() if k != "device"})
    except Exception:  # torch raises its error when the graph runs
        return False
    numbers = made.flatten()
    if made.shape != n.meta["val"].shape or made.is_complex() or not bool(((numbers == numbers[0]) | (numbers.isnan() & numbers[0].isnan())).all()):
        return False
    return _full(work, n, numbers[0].item())


def expanded_number(work, node) -> bool:
    """Replaces a tensor of one number by a view of one element."""
    value, reads = node.meta["val"], lambda u: is_pointwise(u.target) or u.target is aten.cat.default  # noqa: E731
    if not fixed(value) or value.ndim == 0 or not all(map(reads, node.users)) or not (value.numel() >= _LARGE or work.is_open(node)) or value.numel() == 1:
        return False
    of = value.new_empty([1] * value.ndim)
    one = work.once(node, aten.full.default, [1] * value.ndim, node.args[1], value=of, dtype=value.dtype, device=value.device)
    node.replace_all_uses_with(work.call(node, aten.expand.default, one, list(node.args[0]), value=of.expand(value.shape)))
    return True


def positions(work, node) -> bool:
    """Replaces the positions up to an open size by the first ones of a constant."""
    at, value = COUNTED[node.target], node.meta["val"]
    end, others = node.args[at], (*node.args[:at], *node.args[at + 1 :])
    if not isinstance(end, SizedInt) or value.is_floating_point() or any(type(n) is not int for n in others) or others[1:] not in ((), (1,)):
        return False
    start, greatest = (*others, 0)[0], work.opened.range_of(end.expr)[1]
    if not 0 < greatest - start <= _LONGEST:
        return False
    greatest += work.ends.setdefault(end.expr, len(work.ends))  # each size has a table of its own, as programs do not distinguish two ends in one
    of = value.new_empty((greatest - start,))
    table = work.once(node, aten.arange.start, start, greatest, value=of, dtype=value.dtype, device=value.device)
    count = SizedInt(end - start, end.expr - start)
    node.replace_all_uses_with(work.call(node, aten.slice.Tensor, table, 0, 0, count, 1, value=of[: int(count)]))
    return True
