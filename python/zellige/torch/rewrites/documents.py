"""Recognises masks that keep the keys of a token's own sequence, where sequences lie one after another in one tensor.

    number = searchsorted(cu_seqlens, arange(tokens), right=True)
    number[:, None] == number[None, :]      arange(tokens) >= first[:, None] and arange(tokens) < end[:, None]

`first` and `end` of each token are the last element of cu_seqlens that is not after it, and the next one. Of such a condition
lengths.py makes a mask by first keys and ends, so that attention kernels skip the keys of other sequences, and no matrix of tokens
by tokens is in memory.
"""

import torch

from ..import_.kinds import RESHAPES

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
