"""Keeps the layouts of a graph's results, which a rewrite may change: torch lays the result of many operators as their operands.

    before = strides(graph)
    ...                          # rewrites
    laid(graph, before)          # copies results to their layout of before, in place
"""

import torch

from ..applications import applied

aten = torch.ops.aten


def strides(graph) -> list:
    """Returns the strides of each result of a graph; None for what is no tensor, and for one whose layout depends on sizes that are
    not known yet."""
    return [n.meta["val"].stride() if isinstance(_value(n), torch.Tensor) and _is_known(_value(n)) else None for n in _results(graph)]


def laid(graph, before) -> None:
    """Copies each result whose strides are not those of `before` to them, in place. Dimensions of one element do not count."""
    (output,) = graph.find_nodes(op="output")
    made = {}
    for n, wanted in zip(_results(graph), before):
        value = _value(n)
        if wanted is not None and _is_known(value) and any(size > 1 and a != b for size, a, b in zip(value.shape, value.stride(), wanted)):
            made[n] = _copy(graph, output, n, wanted)
    if made:
        applied("layout of a result")
        output.args = (torch.fx.map_arg(output.args[0], lambda n: made.get(n, n)),)


def _results(graph) -> list:
    (output,) = graph.find_nodes(op="output")
    return list(output.args[0]) if isinstance(output.args[0], (tuple, list)) else [output.args[0]]


def _value(n):
    return n.meta.get("val") if isinstance(n, torch.fx.Node) else None


def _is_known(tensor) -> bool:
    return all(isinstance(n, int) for n in (*tensor.shape, *tensor.stride()))


def _copy(graph, output, n, wanted):
    """Returns a copy of n with the strides `wanted`, those of a permuted row-major tensor, inserted before the graph's output."""
    order = sorted(range(len(wanted)), key=lambda d: (-wanted[d], d))
    back = [order.index(d) for d in range(len(order))]
    for target, args, options in ((aten.permute.default, (order,), {}), (aten.clone.default, (), {"memory_format": torch.contiguous_format}), (aten.permute.default, (back,), {})):
        with graph.inserting_before(output):
            made = graph.call_function(target, (n, *args), options)
        made.meta["val"] = target(n.meta["val"], *args, **options)
        n = made
    return n
