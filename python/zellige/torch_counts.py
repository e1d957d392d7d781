"""Replaces counts of sorted numbers that are summed up by positions in the sorted vector, as models of experts do to find
where each expert's tokens end.

    positions(graph)    cumsum(histc(s, n, 0, n - 1), 0)  ->  searchsorted(s, arange(n), right=True)

s is sorted, and has indices that topk returned, so that they are exact in the dtypes to which they may be converted. In place
of four kernels torch runs one.
"""

import operator

import torch

aten = torch.ops.aten

EXACT = {torch.int64: 1 << 63, torch.int32: 1 << 31, torch.float32: 1 << 24}  # smaller indices are exact


def positions(graph) -> None:
    """Replaces running sums of counts in place."""
    for n in list(graph.find_nodes(op="call_function", target=aten.cumsum.default)):
        s = _sorted(n)
        if s is None:
            continue
        made_in = dict(dtype=torch.int64, device=s.meta["val"].device)
        with graph.inserting_before(n):
            numbers = graph.call_function(aten.arange.default, (n.meta["val"].shape[0],), made_in)
            made = graph.call_function(aten.searchsorted.Tensor, (s, numbers), {"right": True, "out_int32": n.meta["val"].dtype == torch.int32})
        numbers.meta["val"] = aten.arange.default(*numbers.args, **made_in)
        made.meta["val"] = n.meta["val"]
        n.replace_all_uses_with(made)
    graph.eliminate_dead_code()


def _sorted(n):
    """Returns the sorted vector of int64 numbers of which the node n sums up the counts; None if n does not."""
    counts = n.args[0]
    if n.meta["val"].dtype not in (torch.int32, torch.int64) or counts.target is not aten.histc.default or len(counts.users) != 1:
        return None
    s, bins, low, high = counts.args
    if bins < 2 or (low, high) != (0, bins - 1):  # a bin for each number
        return None
    limit = EXACT.get(s.meta["val"].dtype, 0)
    while s.target is aten._to_copy.default and s.meta["val"].dtype in EXACT:
        s = s.args[0]
        limit = min(limit, EXACT.get(s.meta["val"].dtype, 0))
    if s.target is not operator.getitem or s.args[1] != 0 or s.args[0].target not in (aten.sort.default, aten.sort.stable):
        return None
    sort = s.args[0]
    descends = sort.kwargs.get("descending", False) or len(sort.args) > 2 and sort.args[2]
    return s if s.meta["val"].ndim == 1 and not descends and _most(sort.args[0]) < limit else None


def _most(x) -> float:
    """Returns the number below which the elements of x are, if they are indices from topk; else infinity."""
    while x.target in (aten.view.default, aten._unsafe_view.default, aten.reshape.default):
        x = x.args[0]
    if x.target is operator.getitem and x.args[1] == 1 and x.args[0].target is aten.topk.default:
        of = x.args[0].args
        return of[0].meta["val"].shape[of[2]]
    return float("inf")
