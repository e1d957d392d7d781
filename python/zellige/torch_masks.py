"""Recognises masks that are functions of the position by their values, however a torch graph computes them.

    scores.masked_fill(torch.ones(n, n).triu(1).bool(), -inf)      zellige::mask(scores, tril=0, value=-inf)

Masks that depend on no input of the graph are evaluated once, at compile time. If the result is one diagonal band of the last
two dimensions, the masking operator reads no tensor, and attention kernels skip fully masked tiles.
"""

import math
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import _disable_current_modes

from . import torch_own
from .torch_constants import Constants

aten = torch.ops.aten

HUGE = -1e30  # added values below this count as minus infinity: the score is lost in rounding


@dataclass(frozen=True)
class Band:
    """The band triu <= column - row <= tril (each if set)."""

    tril: int | None
    triu: int | None


def positional(graph) -> None:
    """Replaces such masks in a graph of ATen operators."""
    with _disable_current_modes(), torch.no_grad():  # torch's results here are values
        constants = Constants(graph)
        for node in list(graph.nodes):
            if node.target is aten.where.self:
                _where(graph, node, constants)
            elif node.target is aten.add.Tensor and not node.kwargs:
                _added(graph, node, constants)
            elif node.target is torch_own.ATTENTION and node.args[3] is not None:
                _attention(graph, node, constants)
    graph.eliminate_dead_code()


def band_of(kept, shape):
    """The band of a bool tensor broadcast to a shape; None if it is not a band, or nothing is masked."""
    if kept.ndim == 0 or len(shape) < 2 or any(n != 1 for n in kept.shape[:-2]):
        return None
    kept = kept.reshape(kept.shape[-2:] if kept.ndim > 1 else (1, -1)).expand(shape[-2:])
    rows, columns = kept.shape
    offset = torch.arange(columns) - torch.arange(rows)[:, None]
    inside = offset[kept]
    if inside.numel() in (0, kept.numel()):
        return None
    low, high = int(inside.min()), int(inside.max())
    if not torch.equal(kept, (offset >= low) & (offset <= high)):
        return None
    return Band(high if high < columns - 1 else None, low if low > 1 - rows else None)


def _replace(graph, node, x, band, value):
    with graph.inserting_before(node):
        made = graph.call_function(torch_own.MASK, (x, band.tril, band.triu, value))
    made.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(made)


def _same(x, node) -> bool:
    """True if an operand has the result's shape and dtype."""
    value, made = x.meta.get("val") if isinstance(x, torch.fx.Node) else None, node.meta["val"]
    return isinstance(value, torch.Tensor) and value.shape == made.shape and value.dtype == made.dtype and value.dtype.is_floating_point


def _where(graph, node, constants):
    condition, x, y = node.args
    kept = constants.value(condition) if condition in constants else None
    if kept is None:
        return
    for tensor, other, holds in ((x, y, kept), (y, x, ~kept)):
        value = constants.number(other)
        if value is not None and not math.isnan(value) and tensor not in constants and _same(tensor, node):
            band = band_of(holds, node.meta["val"].shape)
            if band is not None:
                return _replace(graph, node, tensor, band, value)


def _split(added):
    """For an additive mask: where it is 0, and its value elsewhere; None unless that is one number far below 0."""
    kept = added == 0
    rest = added[~kept]
    if rest.numel() == 0 or not bool((rest == rest[0]).all()) or not float(rest[0]) < HUGE:
        return None
    return kept, float(rest[0])


def _added(graph, node, constants):
    for x, added in (node.args, node.args[::-1]):
        if isinstance(added, torch.fx.Node) and added in constants and x not in constants and _same(x, node):
            value = constants.value(added)
            found = None if value is None else _split(value)
            band = None if found is None else band_of(found[0], node.meta["val"].shape)
            if band is not None:
                return _replace(graph, node, x, band, found[1])


def _attention(graph, node, constants):
    """Recognises a causal mask passed as a tensor."""
    q, k, v, added, causal, scale, grouped = node.args
    value = constants.value(added) if added in constants else None
    found = None if value is None else _split(value)
    shape = (q.meta["val"].shape[-2], k.meta["val"].shape[-2])
    band = None if found is None or found[1] != -math.inf else band_of(found[0], shape)
    if band == Band(0, None):
        node.args = (q, k, v, None, True, scale, grouped)
