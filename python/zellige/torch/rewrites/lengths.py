"""Recognises masks that keep the keys before the length of each sequence, an integer tensor, or those from a first key on.

    where(arange(keys) < lengths[:, None, None, None], scores, -inf)      zellige::mask(scores, value=-inf, row_ends=lengths)
    where(arange(keys) >= first[:, None], scores, -inf)                   zellige::mask(scores, value=-inf, row_starts=first)

The program then reads the lengths and first keys, and attention kernels skip the keys that they leave out.
"""

import functools

import torch

from ..import_ import custom
from ..import_.kinds import COPY, RESHAPES
from .masks import HUGE, conjuncts, is_like, view_of

aten = torch.ops.aten
_BEFORE = {aten.lt.Tensor: (0, 1, 0), aten.le.Tensor: (0, 1, 1), aten.gt.Tensor: (1, 0, 0), aten.ge.Tensor: (1, 0, 1)}
# by a comparison that does not hold: the operands of the one that does
_NOT_BEFORE = {aten.ge.Tensor: (0, 1, 0), aten.gt.Tensor: (0, 1, 1), aten.le.Tensor: (1, 0, 0), aten.lt.Tensor: (1, 0, 1)}
# The same of comparisons with a first key: by one that holds, and by one that does not.
_FROM, _NOT_FROM = _NOT_BEFORE, _BEFORE
_INTEGERS = (torch.int64, torch.int32)
_GREATEST = (1 << 31) - 1


def _ends(work, before, part, keys, by_comparison):
    """Returns the int32 node with the length, or first key, of each row, for the part (a bool node, whether it is to hold, the shape in
    which it is viewed) of a condition on `keys` columns; None if it is no comparison of their numbers with such integers.
    `by_comparison`: which comparisons are, if they hold and if they do not."""
    condition, holds, view = part
    while condition.target in (*RESHAPES, COPY, aten.unsqueeze.default):
        view, condition = tuple(view or condition.meta["val"].shape), condition.args[0]
    operands = by_comparison[not holds].get(condition.target)
    if operands is None or not all(isinstance(a, torch.fx.Node) for a in condition.args[:2]):
        return None
    numbers, lengths = condition.args[operands[0]], condition.args[operands[1]]
    value, shape = lengths.meta["val"], tuple(condition.meta["val"].shape)
    if numbers not in work.constants or lengths in work.constants or value.dtype not in _INTEGERS or (value.ndim > 0 and value.shape[-1] != 1):
        return None
    counted = work.constants.value(numbers)
    if counted is None or counted.is_floating_point() or counted.numel() != keys or not torch.equal(counted.reshape(-1), torch.arange(keys)):
        return None
    own = (1,) * (len(shape) - value.ndim) + tuple(value.shape)
    own = own if view is None else view_of(own, shape, view)
    if own is None or shape[-1] != keys or counted.ndim == 0 or counted.shape[-1] != keys or (view is not None and view[-1] != keys):
        return None
    ended = operands[2]
    if value.dtype != torch.int32 or ended:
        lengths = work.once(before, aten.clamp.default, lengths, -ended, _GREATEST - ended)
    if ended:
        lengths = work.once(before, aten.add.Tensor, lengths, 1)
    if value.dtype != torch.int32:
        lengths = work.once(before, aten._to_copy.default, lengths, dtype=torch.int32)
    return work.once(before, aten.reshape.default, lengths, list(own))


def _divided(work, before, condition, holds, shape):
    """Divides a condition that is to hold, or not, for scores of `shape`. Returns (the lengths, the first keys, a node with the rest of
    the condition; None where there are none); None if neither is a part of it."""
    if not shape:
        return None
    rest, found = [], [None, None]
    for part in conjuncts(condition, holds):
        for at, by_comparison in enumerate(((_BEFORE, _NOT_BEFORE), (_FROM, _NOT_FROM))):
            ends = _ends(work, before, part, shape[-1], by_comparison) if found[at] is None else None
            if ends is not None:
                found[at] = ends
                break
        else:
            rest.append(part)
    if found == [None, None]:
        return None

    def node(c, h, view):
        c = c if h else work.once(before, aten.logical_not.default, c)
        return c if view is None else work.once(before, aten.view.default, work.once(before, COPY, c), view)

    joined = functools.partial(functools.reduce, lambda a, b: work.once(before, aten.logical_and.default, a, b))
    return *found, joined([node(*p) for p in rest]) if rest else None


def selection(work, node) -> bool:
    """Replaces where(condition, x, number) or where(condition, number, x) by zellige::mask, if a part of the condition is that keys are
    before the length of their sequence."""
    (condition, x, y), constants = node.args, work.constants
    for tensor, other, holds in ((x, y, True), (y, x, False)):
        value = constants.number(other)
        if value is not None and value == value and tensor not in constants and is_like(tensor, node):
            found = _divided(work, node, condition, holds, node.meta["val"].shape)
            if found is not None:
                ends, starts, rest = found
                inner = tensor if rest is None else work.call(node, aten.where.self, rest, tensor, other)
                return work.replace(node, custom.MASK, inner, None, None, value, ends, *(() if starts is None else (None, starts)))
    return False


def of_attention(work, node) -> bool:
    """Replaces what a mask of attention hides after the length of each sequence by attention's own argument."""
    q, k, v, mask, causal, scale, grouped = node.args[:7]
    if mask is None or node.kwargs.keys() - {"safe"} or any(x is not None for x in node.args[7:]):
        return False
    while mask.target in (aten._to_copy.default, aten.expand.default) and mask.args[0].meta["val"].ndim == mask.meta["val"].ndim:
        mask = mask.args[0]
    if mask.target is not aten.where.self or not mask.meta["val"].is_floating_point():
        return False
    shape = (*q.meta["val"].shape[:-1], k.meta["val"].shape[-2])
    for kept, hidden, holds in ((*mask.args[1:], True), (*mask.args[:0:-1], False)):
        value = work.constants.number(hidden)
        if work.constants.number(kept) != 0 or value is None or not value < HUGE or value != float("-inf"):
            continue
        found = _divided(work, node, mask.args[0], holds, shape)
        if found is None:
            continue
        ends, starts, rest = found
        if rest is not None:
            rest = work.call(node, aten.where.self, rest, kept, hidden)
        node.args = (q, k, v, rest, causal, scale, grouped, ends, *(() if starts is None else (None, starts)))
        return True
    return False
