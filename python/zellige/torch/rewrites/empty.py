"""Replaces what needs no elements of other tensors by constants: tensors without elements, and tensors of one number.

    relu(x), x of shape (0, 4)       full((0, 4), 0)
    sum(x, 0), x of shape (0, 4)     full((4,), 0)
    zeros_like(x)                    full(x.shape, 0)
"""

import operator

import torch

from ..import_.views import VIEWS
from .in_place import IN_PLACE

aten = torch.ops.aten

# by operator: the number that the elements have, None if it is the argument after the tensor or its shape
FILLED = {aten.full_like.default: None, aten.empty_like.default: 0, aten.new_empty.default: 0, aten.zeros_like.default: 0, aten.ones_like.default: 1, aten.fill.Scalar: None, aten.new_zeros.default: 0,
          aten.new_ones.default: 1, aten.new_full.default: None}  # fmt: skip
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
