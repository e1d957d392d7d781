"""Rewrites torch operators that Zellige does not support, so that Zellige can compile some of their work.
Rewrites whose operators end up in no part (set of operators compiled as one program) are undone.

    convolution(x, w, b)            -> convolution(x, w, None) + b, if torch adds b in a separate kernel
    _adaptive_avg_pool2d(x, size)   -> a mean of a view, if all windows have the same size
    revert(graph)                   undoes the replacements that remain after parts have been extracted
"""

import torch

from ..import_ import operators as known
from ..import_.views import VIEWS
from ..measure import convolution_kernels

aten = torch.ops.aten

POOL = aten._adaptive_avg_pool2d.default
MARK = "zellige: a speculative rewrite"  # key in the meta of a rewritten result's node


def revert(graph) -> None:
    """Undoes those rewrites whose operators are still in the graph, because no part (set of operators that
    becomes a program) has included them."""
    for n in list(graph.nodes):
        # the getitem of a part's result has the meta of the original node
        if MARK in n.meta and n.target in UNDONE:
            UNDONE[n.target](graph, n)


def _has_bias(n) -> bool:
    """Returns true if a convolution has a bias that is an input or attribute of the graph, and torch adds the bias in a
    separate kernel."""
    return isinstance(n.args[2], torch.fx.Node) and n.args[2].op in ("placeholder", "get_attr") and convolution_kernels.adds_bias(n)


def _read_by_known(n) -> bool:
    """Returns true if some reader of n, directly or through views, is an operator that Zellige supports."""
    return any(_read_by_known(u) if u.target in VIEWS else u.target in known.OPERATORS for u in n.users)


def separate_bias(work, n) -> bool:
    """Splits the bias off a convolution: adds it by a separate operator. Does nothing if torch would then use a kernel
    whose result has other strides."""
    if not _has_bias(n) or not _read_by_known(n):
        return False
    bias, value, graph = n.args[2], n.meta["val"], work.graph
    shape = [value.shape[1], *[1] * (value.ndim - 2)]
    users = list(n.users)
    n.update_arg(2, None)
    # torch would use another kernel, and readers of the result depend on the current layout
    if convolution_kernels.made(n, value.stride()) != value.stride():
        n.update_arg(2, bias)
        return False
    with graph.inserting_after(n):
        each = graph.call_function(aten.view.default, (bias, shape))
    with graph.inserting_after(each):
        made = graph.call_function(aten.add.Tensor, (n, each))
    each.meta["val"] = bias.meta["val"].view(shape)
    made.meta = {"val": value, MARK: None}
    for u in users:
        u.replace_input_with(n, made)
    return True


def _joined(graph, n) -> None:
    """Undoes separate_bias: replaces the addition n and its convolution by a convolution with bias."""
    convolution, each = n.args
    convolution.update_arg(2, each.args[0])
    n.replace_all_uses_with(convolution)
    graph.erase_node(n)
    _erase(graph, each)


def _divides(n) -> bool:
    """Returns true if all windows of an average pool have the same size, and its operand is contiguous or
    channels-last."""
    value, made = n.args[0].meta["val"], n.meta["val"]
    if value.ndim != 4 or value.numel() == 0 or made.numel() == 0 or any(of % size for of, size in zip(value.shape[2:], made.shape[2:])):
        return False
    return value.is_contiguous() or value.is_contiguous(memory_format=torch.channels_last)


def pool_as_mean(work, n) -> bool:
    if not _divides(n):
        return False
    x = n.args[0]
    batch, channels, rows, columns = x.meta["val"].shape
    _, _, r, c = n.meta["val"].shape
    windows = work.call(n, aten.view.default, x, [batch, channels, r, rows // r, c, columns // c])
    made = work.call(n, aten.mean.dim, windows, [3, 5], False, value=n.meta["val"])
    made.meta[MARK] = None
    n.replace_all_uses_with(made)
    return True


def _as_pool(graph, n) -> None:
    """Undoes pool_as_mean: replaces a mean of windows by an average pool."""
    windows, size = n.args[0], list(n.meta["val"].shape[2:])
    with graph.inserting_before(n):
        made = graph.call_function(POOL, (windows.args[0], size))
    made.meta = {"val": n.meta["val"]}
    n.replace_all_uses_with(made)
    graph.erase_node(n)
    _erase(graph, windows)


def _erase(graph, n) -> None:
    if not n.users:
        graph.erase_node(n)


UNDONE = {aten.add.Tensor: _joined, aten.mean.dim: _as_pool}
