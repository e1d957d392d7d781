"""Knows bounds of integers in a torch graph, and replaces what they decide. Models of experts choose these by topk, whose
indices are less than the number of experts.

    upper_bound(x)                              the number below which the integers of a node are; they are not negative
    where(i >= n, a, b)  ->  b                  and clamp(i, 0, n - 1)  ->  i, with i < n known
    sort(i)  ->  sort(i.to(int8))               if only indices of the sorted numbers are read, and searches in them

Sorts and searches of narrow integers take torch's kernels a fraction of the time: a pass for every four bits.
"""

import operator

import torch

from ..import_.kinds import SORTS
from ..import_.views import VIEWS

aten = torch.ops.aten

LIMITS = {torch.int8: 1 << 7, torch.int16: 1 << 15, torch.int32: 1 << 31}
EXACT = LIMITS | {torch.int64: 1 << 63, torch.float32: 1 << 24}  # smaller numbers are exact
SMALL = 128  # shorter vectors are sorted by comparisons, whose time does not depend on the dtype
# by comparison with a number n, its value where integers are less than m: at least 0, and less than m
_COMPARISONS = {
    aten.ge.Scalar: lambda m, n: True if n <= 0 else False if n >= m else None,
    aten.gt.Scalar: lambda m, n: True if n < 0 else False if n >= m - 1 else None,
    aten.lt.Scalar: lambda m, n: False if n <= 0 else True if n >= m else None,
    aten.le.Scalar: lambda m, n: False if n < 0 else True if n >= m - 1 else None,
    aten.eq.Scalar: lambda m, n: False if n < 0 or n >= m else None,
    aten.ne.Scalar: lambda m, n: True if n < 0 or n >= m else None,
}


def upper_bound(x):
    """Returns a number that the elements of x are below, if they are known to be integers from 0 on; else None."""
    if x.target is operator.getitem and x.args[0].target in (*SORTS, aten.topk.default):
        of = x.args[0]
        if x.args[1] == 0:  # the numbers themselves
            return upper_bound(of.args[0])
        value = of.args[0].meta["val"]
        return value.shape[_dimension(of)] if value.ndim else None
    if x.target in VIEWS:
        return upper_bound(x.args[0])
    if x.target is aten._to_copy.default:
        dtype, found = x.meta["val"].dtype, upper_bound(x.args[0])
        return found if found is not None and found <= EXACT.get(dtype, 0) else None
    return None


def _dimension(n) -> int:
    if n.target is aten.topk.default:
        return n.args[2]
    return n.kwargs.get("dim", -1) if n.target is aten.sort.stable else n.args[1]


def descends(sort) -> bool:
    """Returns true if the node of a sort sorts from the largest number on."""
    return sort.kwargs.get("descending", False) or len(sort.args) > 2 and sort.args[2]


def decided_selection(work, n) -> bool:
    """Replaces a selection or limits that known bounds decide."""
    made = None
    if n.target is aten.where.self:
        condition = _decision(n.args[0])
        made = None if condition is None else n.args[1 if condition else 2]
    elif n.target is aten.masked_fill.Scalar:
        made = n.args[0] if _decision(n.args[1]) is False else None
    else:
        x, low, high = (*n.args, None, None)[:3]
        m = upper_bound(x)
        made = x if m is not None and (low is None or low <= 0) and (high is None or high >= m - 1) else None
    if made is None or not _same_layout(made.meta.get("val"), n.meta["val"]) or returned(n):
        return False
    n.replace_all_uses_with(made)
    return True


def returned(n) -> bool:
    """Returns true if the graph returns n, or a view of it. Then n has memory of its own, which its caller may change."""
    return any(u.op == "output" or u.target in VIEWS and returned(u) for u in n.users)


def _decision(condition):
    """Returns the value of all elements of a condition; None if it is not known."""
    while condition.target in VIEWS:
        condition = condition.args[0]
    if condition.target is aten.logical_not.default:
        value = _decision(condition.args[0])
        return None if value is None else not value
    if condition.target not in _COMPARISONS:
        return None
    x, number = condition.args
    m = upper_bound(x)
    return None if m is None else _COMPARISONS[condition.target](m, number)


def _same_layout(x, y) -> bool:
    return isinstance(x, torch.Tensor) and x.shape == y.shape and x.dtype == y.dtype and x.stride() == y.stride()


def narrow_sort(work, n) -> bool:
    """Lets a sort of a bounded int64 vector sort narrower integers."""
    of = n.args[0]
    if of.meta["val"].dtype != torch.int64 or of.meta["val"].ndim != 1 or of.meta["val"].numel() <= SMALL:
        return False
    m, values = upper_bound(of), [u for u in n.users if u.target is operator.getitem and u.args[1] == 0]
    dtype = next((d for d, limit in LIMITS.items() if m is not None and m <= limit), None)
    searches = {u: _bounds(u, v) for v in values for u in v.users}
    if dtype is None or not all(s is not None and s.meta["val"].numel() <= LIMITS[dtype] for s in searches.values()):
        return False
    n.replace_input_with(of, work.call(n, aten._to_copy.default, of, dtype=dtype))
    n.meta["val"] = (n.meta["val"][0].to(dtype), n.meta["val"][1])
    for v in values:
        v.meta["val"] = v.meta["val"].to(dtype)
    for search, numbers in searches.items():
        options = {**numbers.kwargs, "dtype": dtype}
        search.replace_input_with(numbers, work.call(numbers, aten.arange.default, *numbers.args, value=numbers.meta["val"].to(dtype), **options))
    return True


def _bounds(search, values):
    """Returns the numbers that a node searches in the sorted `values`, if it is a search for arange(n); else None."""
    if search.target is not aten.searchsorted.Tensor or search.args[0] is not values:
        return None
    of = search.args[1]
    return of if isinstance(of, torch.fx.Node) and of.target is aten.arange.default and of.meta["val"].dtype == torch.int64 else None
