"""Replaces counts of sorted numbers that are summed up by positions in the sorted vector, as models of experts do to find
where each expert's tokens end.

    cumsum(histc(s, n, 0, n - 1), 0)  ->  searchsorted(s, arange(n), right=True)

s is sorted, and has indices of topk (ranges.py), which are not negative and exact in the dtypes to which they are converted.
In place of four kernels torch runs one.
"""

import operator

import torch

from ..import_.kinds import SORTS
from . import ranges

aten = torch.ops.aten


def positions(work, n) -> bool:
    """Replaces a cumulative sum of counts."""
    s, value = _sorted(n), n.meta["val"]
    if s is None:
        return False
    of = s.meta["val"].new_empty(value.shape)
    numbers = work.call(n, aten.arange.default, value.shape[0], value=of, dtype=torch.int64, device=of.device)
    return work.replace(n, aten.searchsorted.Tensor, s, numbers, right=True, out_int32=value.dtype == torch.int32)


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
    if s.target is not operator.getitem or s.args[1] != 0 or s.args[0].target not in SORTS or ranges.descends(s.args[0]):
        return None
    return s if s.meta["val"].ndim == 1 and s.meta["val"].dtype == torch.int64 else None
