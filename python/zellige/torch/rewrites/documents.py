"""Recognises masks that keep the keys of a token's own sequence, where sequences lie one after another in one tensor.

    number = searchsorted(cu_seqlens, arange(tokens), right=True)
    number[:, None] == number[None, :]      arange(tokens) >= first[:, None] and arange(tokens) < end[:, None]

    number = (position_ids.diff(prepend=...) != 1).cumsum(-1), in each row of a batch
    number[:, :, None] == number[:, None, :]      with first and end by counts of the lesser numbers, and of those that are not greater

`first` and `end` of each token are the last element of cu_seqlens that is not after it, and the next one. Of such a condition
lengths.py makes a mask by first keys and ends, so that attention kernels skip the keys of other sequences, and no matrix of tokens
by tokens is in memory.
"""

import torch

from ..import_.kinds import COPY, RESHAPES

aten = torch.ops.aten


def _search(node):
    """Returns the search of which the node is a view, as (cu_seqlens, the numbers that are searched); None if it is none."""
    while node.target in (*RESHAPES, aten.unsqueeze.default):
        node = node.args[0]
    given = node.kwargs
    if given.get("right") is not True or given.keys() - {"right", "out_int32"} or len(node.args) != 2:
        return None
    if node.target is aten.searchsorted.Tensor:
        return node.args
    return node.args[::-1] if node.target is aten.bucketize.Tensor else None


def same_sequence(work, node) -> bool:
    """Replaces the comparison of the tokens' sequences by one of keys with the bounds of sequences."""
    if not all(isinstance(x, torch.fx.Node) for x in node.args):
        return False
    found, other = (_search(x) for x in node.args)
    if found is None or other is None or any(x is not y for x, y in zip(found, other)):
        return False
    ends, numbers = found
    tokens, shape = work.constants.value(numbers) if numbers in work.constants else None, tuple(node.meta["val"].shape)
    if tokens is None or ends in work.constants or ends.meta["val"].ndim != 1 or not torch.equal(tokens, torch.arange(tokens.numel(), dtype=tokens.dtype)):
        return False
    n = tokens.numel()
    row, column = ((1,) * (len(shape) - 2) + last for last in ((n, 1), (1, n)))
    if n < 2 or shape[-2:] != (n, n) or {tuple(x.meta["val"].shape) for x in node.args} not in ({row, column}, {row[-2:], column}, {row, column[-2:]}, {row[-2:], column[-2:]}):
        return False
    once = lambda target, *args, **options: work.once(node, target, *args, **options)  # noqa: E731
    count = ends.meta["val"].shape[0]
    ends = once(aten.reshape.default, once(aten._to_copy.default, ends, dtype=torch.int32), [1, count])
    at = once(aten._to_copy.default, once(aten.reshape.default, numbers, [n, 1]), dtype=torch.int32)
    begun, empty = once(aten.le.Tensor, ends, at), ends.meta["val"].new_empty(())
    none, last = (once(aten.full.default, [], value, dtype=torch.int32, device=empty.device, value=empty) for value in (0, n))
    first = once(aten.amax.default, once(aten.where.self, begun, ends, none), [1], True)
    end = once(aten.amin.default, once(aten.where.self, begun, last, ends), [1], True)
    first, end = (once(aten.reshape.default, x, list(row)) for x in (first, end))
    return work.replace(node, aten.logical_and.default, once(aten.ge.Tensor, numbers, first), once(aten.lt.Tensor, numbers, end))


def _running(node):
    """Returns the running sum of bools of which the node is a view; None if it is none."""
    while node.target in (*RESHAPES, COPY, aten.unsqueeze.default):
        node = node.args[0]
    if node.target is not aten.cumsum.default or node.args[1] % node.meta["val"].ndim != node.meta["val"].ndim - 1:
        return None
    of = node.args[0].args[0] if node.args[0].target is aten._to_copy.default else node.args[0]
    return node if of.meta["val"].dtype == torch.bool else None


def same_run(work, node) -> bool:
    """Replaces the comparison of the numbers of one cumsum, which do not descend, by one of keys with the bounds of those that are equal."""
    if not all(isinstance(x, torch.fx.Node) for x in node.args):
        return False
    *lead, n, keys = node.meta["val"].shape if node.meta["val"].ndim > 1 else (0, 0)
    runs = [_running(x) for x in node.args]
    if n < 2 or n != keys or runs[0] is None or runs[0] is not runs[1] or runs[0] in work.constants or runs[0].meta["val"].shape[-1] != n:
        return False
    for column, row in (node.args, node.args[::-1]):
        if tuple(column.meta["val"].shape) == (*lead, n, 1) and tuple(row.meta["val"].shape) in ((*lead, 1, n), (n,) if not lead else ()):
            break
    else:
        return False
    once = lambda target, *args, **options: work.once(node, target, *args, **options)  # noqa: E731
    count = lambda compared: once(aten.sum.dim_IntList, once(aten._to_copy.default, once(compared, row, column), dtype=torch.int32), [-1], True, dtype=torch.int32)  # noqa: E731
    at = row.meta["val"].new_empty((n,), dtype=torch.int64)
    numbers = once(aten.arange.default, n, value=at, dtype=torch.int64, device=at.device)
    kept = once(aten.ge.Tensor, numbers, count(aten.lt.Tensor)), once(aten.lt.Tensor, numbers, count(aten.le.Tensor))
    return work.replace(node, aten.logical_and.default, *kept)
