"""Replaces what torch graphs spell in operators that Zellige lacks by what means the same in operators that it has.

    respelled(graph)    in place, in a graph of ATen operators:

    max.dim(x, d), whose indices nobody reads     amax(x, d)
    as_strided(x, ...), x in order as it is       view(x, ...)
    maximum(x, c), c one number everywhere        clamp(x, c)
    x (1 + erf(x / sqrt(2))) / 2                  gelu(x)
    bmm(x, y), a batch of one                     mm(x[0], y[0])[None]; also baddbmm, if alpha is not 0
"""

import math
import operator

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..applications import applied
from ..import_.scalars import overflows, rounded
from .folding import Constants

aten = torch.ops.aten

PRODUCTS, QUOTIENTS = (aten.mul.Tensor, aten.mul.Scalar), (aten.div.Tensor, aten.div.Scalar)
CLOSE = 1e-6  # numbers are written with seven digits or more


def respelled(graph) -> None:
    """Replaces operators in a graph of ATen operators, in place."""
    constants = Constants(graph)
    rules = {aten.max.dim: _extreme, aten.min.dim: _extreme, aten.as_strided.default: _in_order,
             aten.maximum.default: _bound, aten.minimum.default: _bound, aten.erf.default: _gelu, aten.bmm.default: _single, aten.baddbmm.default: _single}  # fmt: skip
    for node in list(graph.nodes):
        if node.target in rules:
            rules[node.target](graph, node, constants)
    graph.eliminate_dead_code()


def _replaced(graph, node, target, args, kwargs=None):
    """Replaces a node by a call of `target`, which has the node's value."""
    with graph.inserting_before(node):
        made = graph.call_function(target, args, kwargs or {})
    made.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(made)


def _called(graph, node, target, *args, **kwargs):
    """Returns a call of `target`, inserted before a node."""
    with graph.inserting_before(node):
        made = graph.call_function(target, args, kwargs)
    made.meta["val"] = target(*torch.fx.map_arg(args, lambda n: n.meta["val"]), **kwargs)
    return made


def _single(graph, node, _):
    if any(x.meta["val"].shape[0] != 1 for x in node.args) or node.kwargs.get("alpha") == 0:  # addmm reads no factors then
        return
    matrices = [_called(graph, node, aten.squeeze.dims, x, [0]) for x in node.args]
    applied("batch of one")
    made = _called(graph, node, aten.mm.default if len(matrices) == 2 else aten.addmm.default, *matrices, **node.kwargs)
    _replaced(graph, node, aten.unsqueeze.default, (made, 0))


def _extreme(graph, node, _):
    if all(u.target is operator.getitem and u.args[1] == 0 for u in node.users):
        extreme = aten.amax.default if node.target is aten.max.dim else aten.amin.default
        for values in list(node.users):
            applied("extreme without its place")
            _replaced(graph, values, extreme, (node.args[0], [node.args[1]], *node.args[2:]))


def _in_order(graph, node, _):
    x, shape = node.args[0].meta["val"], node.args[1]
    at = node.args[3] if len(node.args) > 3 and node.args[3] is not None else x.storage_offset()
    whole = math.prod(shape) == x.numel() and at == x.storage_offset()
    if whole and x.is_contiguous() and node.meta["val"].is_contiguous():
        applied("strides of a view")
        _replaced(graph, node, aten.view.default, (node.args[0], shape))


def _bound(graph, node, constants):
    for x, bound in (node.args, node.args[::-1]):
        number = _number(bound, constants)
        value, kept = node.meta["val"], x.meta["val"]
        fits = kept.shape == value.shape and kept.dtype == value.dtype and value.is_floating_point()
        if fits and number is not None and not math.isnan(number) and not overflows(number, value.dtype):
            applied("bound by one number")
            limits = (number, None) if node.target is aten.maximum.default else (None, number)
            return _replaced(graph, node, aten.clamp.default, (x, *limits))


def _number(node, constants):
    """Returns the number that all elements of a node have, as its dtype rounds it, or None if they differ or are not known."""
    if node.target in (aten.zeros_like.default, aten.ones_like.default):
        return float(node.target is aten.ones_like.default)
    if node.target in (aten.full.default, aten.full_like.default):
        return rounded(node.args[1], node.meta["val"].dtype)
    # so that the number is a value here, not a part of the graph
    with _disable_current_modes(), torch.no_grad():
        return constants.number(node)


def _gelu(graph, node, _):
    """Replaces the product of x, 1 + erf(x / sqrt(2)) and 1 / 2, in any order of the factors."""
    scale, x = _scaled(node.args[0])
    if abs(scale * math.sqrt(2) - 1) > CLOSE:
        return
    at = _only_user(node)
    if at is None or at.target not in (aten.add.Tensor, aten.add.Scalar) or at.kwargs or at.args not in ((node, 1), (1, node)):
        return
    factor, others = 1.0, []
    while not (others == [x] and factor == 0.5):
        before, at = at, _only_user(at)
        if at is None or at.target not in PRODUCTS + QUOTIENTS or at.kwargs:
            return
        other = at.args[1] if at.args[0] is before else at.args[0]
        if at.target in QUOTIENTS:
            if at.args[0] is not before or not isinstance(other, (int, float)) or other == 0:
                return
            other = 1 / other
        if isinstance(other, torch.fx.Node):
            scale, other = (1.0, other) if other is x else _scaled(other)
            factor *= scale
            others.append(other)
        else:
            factor *= other
    if at.meta["val"].dtype == x.meta["val"].dtype and at.meta["val"].shape == x.meta["val"].shape:
        applied("gelu by its formula")
        _replaced(graph, at, aten.gelu.default, (x,))


def _only_user(node):
    return next(iter(node.users)) if len(node.users) == 1 else None


def _scaled(node):
    """Returns (s, x) for a node that is s x or x / (1 / s), else (1, the node)."""
    if node.kwargs or node.target not in PRODUCTS + QUOTIENTS:
        return 1.0, node
    x, s = node.args
    if node.target in PRODUCTS and isinstance(x, (int, float)):
        x, s = s, x
    if not isinstance(x, torch.fx.Node) or not isinstance(s, (int, float)) or s == 0:
        return 1.0, node
    return (s if node.target in PRODUCTS else 1 / s), x
