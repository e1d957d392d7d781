"""Keeps the layouts of a graph's results, which a rewrite may change: torch lays the result of many operators as their operands."""

import torch

from ..import_.kinds import lies_as, value_of

aten = torch.ops.aten


def strides(graph) -> list:
    """Returns the strides of each result of a graph; None for what is no tensor, and for one whose layout depends on sizes that are
    not known yet."""
    (output,) = graph.find_nodes(op="output")
    return [n.meta["val"].stride() if isinstance(value_of(n), torch.Tensor) and _is_known(value_of(n)) else None for n in _results(output)]


def laid(work, output) -> bool:
    """Copies each result whose strides are not those before the rewrites to them. Dimensions of one element do not count."""
    made = {}
    for n, wanted in zip(_results(output), work.strides):
        value = value_of(n)
        if wanted is not None and _is_known(value) and not lies_as(value, wanted):
            made[n] = _copy(work, output, n, wanted)
    if made:
        output.args = (torch.fx.map_arg(output.args[0], lambda n: made.get(n, n)),)
    return bool(made)


def _results(output) -> list:
    return list(output.args[0]) if isinstance(output.args[0], (tuple, list)) else [output.args[0]]


def _is_known(tensor) -> bool:
    return all(isinstance(n, int) for n in (*tensor.shape, *tensor.stride()))


def _copy(work, output, n, wanted):
    """Returns a copy of n with the strides `wanted`, those of a permuted row-major tensor, inserted before the graph's output."""
    order = sorted(range(len(wanted)), key=lambda d: (-wanted[d], d))
    copy = work.call(output, aten.clone.default, work.call(output, aten.permute.default, n, order), memory_format=torch.contiguous_format)
    return work.call(output, aten.permute.default, copy, [order.index(d) for d in range(len(order))])
