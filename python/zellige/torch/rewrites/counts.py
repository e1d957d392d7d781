"""Replaces counts of sorted numbers that are summed up by positions in the sorted vector, as models of experts do to find
where each expert's tokens end.

    positions(graph)    cumsum(histc(s, n, 0, n - 1), 0)  ->  searchsorted(s, arange(n), right=True)

s is sorted, and has indices of topk (rewrites/ranges.py), which are not negative and exact in the dtypes to which they are converted.
In place of four kernels torch runs one.
"""

import operator

import torch

from ..applications import applied
from . import ranges

aten = torch.ops.aten


def positions(graph) -> None:
    """Replaces cumulative sums of counts in place."""
    for n in list(graph.find_nodes(op="call_function", target=aten.cumsum.default)):
        s = _sorted(n)
        if s is None:
            continue
        applied("counts by positions")
        made_in = dict(dtype=torch.int64, device=s.meta["val"].device)
        with graph.inserting_before(n):
            numbers = graph.call_function(aten.arange.default, (n.meta["val"].shape[0],), made_in)
            made = graph.call_function(aten.searchsorted.Tensor, (s, numbers), {"right": True, "out_int32": n.meta["val"].dtype == torch.int32})
        numbers.meta["val"] = s.meta["val"].new_empty(n.meta["val"].shape)
        made.meta["val"] = n.meta["val"]
        n.replace_all_uses_with(made)
    graph.eliminate_dead_code()


def _sorted(n):
    """Returns the sorted vector of int64 numbers whose counts the node n accumulates; None if n does not."""
    counts = n.args[0]
    if n.meta["val"].dtype not in (torch.int32, torch.int64) or counts.target is not aten.histc.default or len(counts.users) != 1:
        return None
    s, bins, low, high = counts.args
    if bins < 2 or (low, high) != (0, bins - 1):  # a bin for each number
        return None
    if ranges.upper_bound(s) is None:
        return None
    while s.target is aten._to_copy.default:
        s = s.args[0]
    if s.target is not operator.getitem or s.args[1] != 0 or s.args[0].target not in ranges.SORTS:
        return None
    sort = s.args[0]
    descends = sort.kwargs.get("descending", False) or len(sort.args) > 2 and sort.args[2]
    return s if s.meta["val"].ndim == 1 and s.meta["val"].dtype == torch.int64 and not descends else None
