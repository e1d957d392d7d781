"""Masks that are a function of positions, however a graph of torch computes them: found by their values.

    scores.masked_fill(torch.ones(n, n).triu(1).bool(), -inf)      zellige::mask(scores, tril=0, value=-inf)

What no input of the graph goes into is computed, here and once. Where that is one diagonal band of the two last dimensions, what is
masked by it reads no tensor, and kernels of attention skip tiles that it masks whole.
"""

import math
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import _disable_current_modes

aten, own = torch.ops.aten, torch.ops.zellige

MAX_ELEMENTS = 1 << 27  # of a mask that is looked at
HUGE = -1e30  # what is added to a score and less than that stands for minus infinity: the score does not show in it


@dataclass(frozen=True)
class Band:
    """Where triu <= column - row <= tril, as far as they are given."""

    tril: int | None
    triu: int | None


def _within(x, tril, triu):
    apart = torch.arange(x.shape[-1], device=x.device) - torch.arange(x.shape[-2], device=x.device)[:, None]
    kept = torch.ones_like(apart, dtype=torch.bool)
    if tril is not None:
        kept &= apart <= tril
    return kept if triu is None else kept & (apart >= triu)


@torch.library.custom_op("zellige::mask", mutates_args=())
def mask(x: torch.Tensor, tril: int | None, triu: int | None, value: float) -> torch.Tensor:
    """x in a band, else the value."""
    return torch.where(_within(x, tril, triu), x, value)


@mask.register_fake
def _(x, tril, triu, value):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def positional(graph) -> None:
    """Replaces such masks in a graph of ATen's operators."""
    with _disable_current_modes(), torch.no_grad():  # what torch computes here are values
        constants = _Constants(graph)
        for node in list(graph.nodes):
            if node.target is aten.where.self:
                _where(graph, node, constants)
            elif node.target is aten.add.Tensor and not node.kwargs:
                _added(graph, node, constants)
            elif node.target is own.attention.default and node.args[3] is not None:
                _attention(graph, node, constants)
    graph.eliminate_dead_code()


class _Constants:
    """Of nodes that no input of the graph goes into, their values, on the CPU."""

    def __init__(self, graph):
        self.found, self.values = set(), {}
        for n in graph.nodes:
            if n.op == "get_attr" and all(u.target is aten.lift_fresh_copy.default for u in n.users):  # a tensor that is written down
                self.found.add(n)
                self.values[n] = getattr(graph.owning_module, n.target, None)
            elif n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload) and not n.target._schema.is_mutable:
                if torch.Tag.nondeterministic_seeded not in n.target.tags and all(m in self.found for m in n.all_input_nodes):
                    self.found.add(n)

    def __contains__(self, n) -> bool:
        return n in self.found and isinstance(n.meta.get("val"), torch.Tensor) and n.meta["val"].numel() <= MAX_ELEMENTS

    def value(self, n):
        """None where it cannot be computed here."""
        if n not in self.values:
            try:
                args, kwargs = torch.fx.map_arg((n.args, n.kwargs), self._operand)
                if "device" in kwargs:
                    kwargs = {**kwargs, "device": "cpu"}
                made = n.target(*args, **kwargs)
                self.values[n] = made.cpu() if isinstance(made, torch.Tensor) else made
            except Exception:  # of an operator without a kernel for the CPU
                self.values[n] = None
        return self.values[n]

    def _operand(self, n):
        value = self.value(n)
        if value is None:
            raise ValueError(n.name)
        return value

    def number(self, x):
        """What is one number everywhere; None of anything else."""
        if isinstance(x, (int, float)):
            return float(x)
        value = self.value(x) if isinstance(x, torch.fx.Node) and x in self else None
        if value is None or value.numel() == 0 or not bool((value == value.flatten()[0]).all()):
            return None
        return float(value.flatten()[0])


def band_of(kept, shape):
    """The band that a tensor of bool is, seen in a shape; None where it is none, or nothing is masked."""
    if kept.ndim == 0 or len(shape) < 2 or any(n != 1 for n in kept.shape[:-2]):
        return None
    kept = kept.reshape(kept.shape[-2:] if kept.ndim > 1 else (1, -1)).expand(shape[-2:])
    rows, columns = kept.shape
    apart = torch.arange(columns) - torch.arange(rows)[:, None]
    inside = apart[kept]
    if inside.numel() in (0, kept.numel()):
        return None
    low, high = int(inside.min()), int(inside.max())
    if not torch.equal(kept, (apart >= low) & (apart <= high)):
        return None
    return Band(high if high < columns - 1 else None, low if low > 1 - rows else None)


def _replace(graph, node, x, band, value):
    with graph.inserting_before(node):
        made = graph.call_function(own.mask.default, (x, band.tril, band.triu, value))
    made.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(made)


def _same(x, node) -> bool:
    """Has an operand the result's shape and dtype?"""
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
    """Of what is added, where it is 0, and what it is elsewhere; None where that is not one number far below 0."""
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
    """A causal mask that is given as a tensor."""
    q, k, v, added, causal, scale, grouped = node.args
    value = constants.value(added) if added in constants else None
    found = None if value is None else _split(value)
    shape = (q.meta["val"].shape[-2], k.meta["val"].shape[-2])
    band = None if found is None or found[1] != -math.inf else band_of(found[0], shape)
    if band == Band(0, None):
        node.args = (q, k, v, None, True, scale, grouped)
