"""Recognises masks that depend only on an element's position. They are recognised by their values, so that it does not
matter how a torch graph computes them.

    scores.masked_fill(torch.ones(n, n).triu(1).bool(), -inf)      zellige::mask(scores, tril=0, value=-inf)
    where((key <= query) & padding, scores, -inf)                  zellige::mask(where(padding, scores, -inf), tril=0, value=-inf)

What of a mask depends on no input of the graph is evaluated at compile time. If it keeps one diagonal band of the last two
dimensions, the masking operator need not read a tensor, and attention kernels skip fully masked tiles. If each row, or each
column, or both, has an end in the band (chunks, documents, a prefix), the operator reads the ends.

A selection (where, masked_fill) means the same as zellige::mask for all numbers. An addition of -inf means the same to a softmax
along the keys, and to it alone, if the scores that it hides are finite; other additions stay as they are.
"""

import functools
import math
from dataclasses import dataclass

import torch

from ..import_ import custom
from ..import_.kinds import COPY, RESHAPES, SAME, SCALES, SOFTMAXES

aten = torch.ops.aten

HUGE = -1e30  # an added value below this counts as minus infinity, because rounding loses the score
_AND, _OR = (aten.bitwise_and.Tensor, aten.logical_and.default, aten.mul.Tensor), (aten.bitwise_or.Tensor, aten.logical_or.default)
_NOT = (aten.bitwise_not.default, aten.logical_not.default)


@dataclass(frozen=True)
class Band:
    """The elements of a matrix with triu <= column - row <= tril; None: no limit. `rows`: also column < the row's end, one after
    the last element that it keeps; `columns`: also row < the column's end."""

    tril: int | None
    triu: int | None
    rows: bool = False
    columns: bool = False


def band_of(kept, shape):
    """Returns the band of the last two dimensions that the true elements of the bool tensor `kept` form, after a broadcast to
    `shape`. Returns None if they do not form a band, the same one along all other dimensions, or if all or none are true."""
    if kept.ndim == 0 or kept.numel() == 0 or len(shape) < 2:
        return None
    matrix = kept[(0,) * (kept.ndim - 2)] if kept.ndim > 1 else kept[None]
    if kept.ndim > 2 and not torch.equal(kept, matrix.expand(kept.shape)):
        return None
    kept = matrix.expand(shape[-2:])
    rows, columns = kept.shape
    i, j = torch.arange(rows)[:, None], torch.arange(columns)
    inside = (j - i)[kept]
    if inside.numel() in (0, kept.numel()):
        return None
    low, high = int(inside.min()), int(inside.max())
    diagonals = (j - i >= low) & (j - i <= high)
    before = j < (kept * (j + 1)).amax(1, True), i < (kept * (i + 1)).amax(0)
    for ends in ((), (0,), (1,), (0, 1)):
        if torch.equal(kept, functools.reduce(torch.logical_and, [before[e] for e in ends], diagonals)):
            return Band(high if high < columns - 1 else None, low if low > 1 - rows else None, 0 in ends, 1 in ends)
    return None


def _ends(work, before, band, kept, shape) -> list:
    """Returns the arguments `row_ends` and `column_ends` of masks for a band of the constant bool node `kept`: nodes, or None."""
    made = [None, None]
    for dim in (1,) * band.rows + (0,) * band.columns:
        matrix = kept
        while matrix.meta["val"].ndim > 2:
            matrix = work.once(before, aten.select.int, matrix, 0, 0)
        matrix = work.once(before, aten.expand.default, matrix, list(shape[-2:]))
        n, value = shape[dim - 2], matrix.meta["val"]
        counts = work.once(before, aten.arange.start, 1, n + 1, dtype=torch.int32, device=value.device, value=value.new_empty((n,), dtype=torch.int32))
        counts = counts if dim else work.once(before, aten.unsqueeze.default, counts, 1)
        made[1 - dim] = work.once(before, aten.amax.default, work.once(before, aten.mul.Tensor, matrix, counts), [dim], True)
    return made


def is_like(x, node) -> bool:
    """Returns true if the operand x has the shape and dtype of the node's result, and the dtype is a floating-point
    one."""
    value, made = x.meta.get("val") if isinstance(x, torch.fx.Node) else None, node.meta["val"]
    return isinstance(value, torch.Tensor) and value.shape == made.shape and value.dtype == made.dtype and value.dtype.is_floating_point


def conjuncts(condition, holds) -> list:
    """Returns triples (a bool node, whether it is to hold, the shape in which it is viewed, or None): the condition holds (or does not, if
    `holds` is false) if all of them do. They broadcast to its shape."""
    value, of = condition.meta["val"], [a for a in condition.args if isinstance(a, torch.fx.Node)]
    if condition.target is aten.expand.default and of[0].meta["val"].ndim == value.ndim:
        return conjuncts(of[0], holds)
    if condition.target in (*RESHAPES, aten.unsqueeze.default) and (inner := conjuncts(of[0], holds))[0][0] is not of[0]:
        viewed = [(c, h, view_of(shape or c.meta["val"].shape, of[0].meta["val"].shape, value.shape)) for c, h, shape in inner]
        return [(condition, holds, None)] if any(shape is None for _, _, shape in viewed) else viewed
    if condition.target in _NOT and of[0].meta["val"].dtype == torch.bool:
        return conjuncts(of[0], not holds)
    if condition.target in (_AND if holds else _OR) and len(of) == 2 and all(x.meta["val"].dtype == torch.bool for x in (condition, *of)):
        return [c for a in of for c in conjuncts(a, holds)]
    return [(condition, holds, None)]


def view_of(shape, whole, to):
    """Returns `shape`, which broadcasts to `whole`, with the dimensions of 1 by which the shape `to` has more; None if it has others."""
    shape, made, at = (1,) * (len(whole) - len(shape)) + tuple(shape), [], 0
    for n in to:
        if at < len(whole) and n == whole[at]:
            made.append(shape[at])
            at += 1
        elif n == 1:
            made.append(1)
        else:
            return None
    return made if at == len(whole) else None


def _divided(work, before, condition, holds, shape):
    """Divides a condition that is to hold, or not. Returns (the band that the constants among its conjuncts keep, a constant node
    with them, a node with the other ones; None if there are none). Returns None if the constants keep no band."""
    found = conjuncts(condition, holds)
    fixed = [part for part in found if part[0] in work.constants and work.constants.value(part[0]) is not None]
    values = [(value if h else ~value).reshape(view or value.shape) for c, h, view in fixed for value in [work.constants.value(c)]]
    band = band_of(functools.reduce(torch.logical_and, values), shape) if values else None
    if band is None:
        return None

    def node(c, h, view):
        c = c if h else work.once(before, aten.logical_not.default, c)
        return c if view is None else work.once(before, aten.view.default, work.once(before, COPY, c), view)

    kept, rest = ([node(*part) for part in found if (part in fixed) is known] for known in (True, False))
    joined = functools.partial(functools.reduce, lambda a, b: work.once(before, aten.logical_and.default, a, b))
    return band, joined(kept), joined(rest) if rest else None


def _masked(work, before, x, band, kept, value):
    """Returns a node that masks the node x by a band."""
    return work.call(before, custom.MASK, x, band.tril, band.triu, value, *_ends(work, before, band, kept, x.meta["val"].shape))


def selection(work, node) -> bool:
    """Replaces where(condition, x, number) or where(condition, number, x) by zellige::mask, if constants among the conjuncts of the
    condition are a band."""
    (condition, x, y), constants = node.args, work.constants
    for tensor, other, holds in ((x, y, True), (y, x, False)):
        value = constants.number(other)
        if value is not None and not math.isnan(value) and tensor not in constants and is_like(tensor, node):
            found = _divided(work, node, condition, holds, node.meta["val"].shape)
            if found is not None:
                band, kept, rest = found
                inner = tensor if rest is None else work.call(node, aten.where.self, rest, tensor, other)
                node.replace_all_uses_with(_masked(work, node, inner, band, kept, value))
                return True
    return False


def _split(mask):
    """Splits an additive mask. Returns (a bool tensor that is true where the mask is 0, the mask's value elsewhere).
    Returns None unless the mask has one and the same value elsewhere, which is below HUGE (-1e30) and therefore acts as
    -inf."""
    kept = mask == 0
    rest = mask[~kept]
    if rest.numel() == 0 or not bool((rest == rest[0]).all()) or not float(rest[0]) < HUGE:
        return None
    return kept, float(rest[0])


def _hidden(work, before, mask, shape, bound=0.0):
    """Divides an additive mask, which is 0 or one number below HUGE (-1e30) and not above `bound`, for scores of `shape`. Returns (the band that it keeps by
    position, a constant node with it, an additive mask of the other conditions; None if there are none, the number)."""
    dtype, target = mask.meta["val"].dtype, mask
    if mask in work.constants:
        value = work.constants.value(mask)
        found = None if value is None else _split(value)
        band = None if found is None else band_of(found[0], shape)
        if band is not None and found[1] <= bound:
            return band, work.once(before, aten.eq.Scalar, mask, 0), None, found[1]
    while target.target in (aten._to_copy.default, aten.expand.default) and target.args[0].meta["val"].ndim == mask.meta["val"].ndim:
        target = target.args[0]
    total = target
    while total.target is aten.unsqueeze.default and total.args[1] == 0:  # the dimensions that follow broadcast as before
        total = total.args[0]
    if total.target is aten.add.Tensor and not total.kwargs and total.args[2:] in ((), (1,)):
        return _with_a_bias(work, before, total.args[:2], shape, bound, dtype)
    if target.target is not aten.where.self or mask in work.constants or not target.meta["val"].is_floating_point():
        return None
    for kept, hidden, holds in (target.args[1:] + (True,), (*target.args[:0:-1], False)):
        value = work.constants.number(hidden)
        value = None if value is None else float(torch.tensor(value, dtype=torch.float64).to(dtype))
        if work.constants.number(kept) != 0 or value is None or not value < HUGE or value > bound:
            continue
        found = _divided(work, before, target.args[0], holds, shape)
        if found is None or found[2] is None:
            return None
        numbers = (work.once(before, aten.full.default, [], n, dtype=dtype, device=mask.meta["val"].device, value=mask.meta["val"].new_empty(())) for n in (0.0, value))
        return *found[:2], work.call(before, aten.where.self, found[2], *numbers), value
    return None


def _with_a_bias(work, before, operands, shape, bound, dtype):
    """Divides a sum of a bias, such as ALiBi's or T5's, and of a mask that hides by position alone, as _hidden does."""
    for bias, mask in (operands, operands[::-1]):
        if not all(isinstance(x, torch.fx.Node) and x.meta["val"].is_floating_point() for x in (bias, mask)) or mask not in work.constants:
            continue
        found = _hidden(work, before, mask, shape, bound)
        finite = bias not in work.constants or (value := work.constants.value(bias)) is not None and bool(value.isfinite().all())
        if found is not None and found[2] is None and finite:
            return *found[:2], bias if bias.meta["val"].dtype == dtype else work.once(before, aten._to_copy.default, bias, dtype=dtype), found[3]
    return None


def _weighs(node, deep=8) -> bool:
    """Returns true if only softmaxes along the last dimension read the scores `node`, or their views, casts,
    additions and multiples by a positive number. So what is far below 0 in them acts as minus infinity."""
    ndim = node.meta["val"].ndim
    if not node.users or deep == 0 or ndim == 0:
        return False
    for user in node.users:
        if user.target in SOFTMAXES and user.args[1] in (-1, ndim - 1):
            continue
        value = user.meta.get("val")
        if not isinstance(value, torch.Tensor) or value.shape[-1:] != node.meta["val"].shape[-1:] or not value.dtype.is_floating_point:
            return False
        carries = user.target in (*SAME, aten._to_copy.default) or user.target is custom.MASK or user.target is aten.add.Tensor and not user.kwargs
        carries |= user.target in SCALES and isinstance(user.args[1], (int, float)) and 1e-3 < user.args[1] < 1e3
        if not carries or not _weighs(user, deep - 1):
            return False
    return True


def addition(work, node) -> bool:
    """Replaces x + mask by zellige::mask, if what the mask hides by position is a band, and the number that it adds there is below HUGE
    (-1e30) and therefore acts as -inf. Only softmaxes read the sum."""
    for x, mask in (node.args, node.args[::-1]) if not node.kwargs and _weighs(node) else ():
        if isinstance(mask, torch.fx.Node) and isinstance(mask.meta.get("val"), torch.Tensor) and x not in work.constants and is_like(x, node):
            found = _hidden(work, node, mask, node.meta["val"].shape)
            if found is not None:
                band, kept, rest, value = found
                inner = x if rest is None else work.call(node, aten.add.Tensor, x, rest)
                node.replace_all_uses_with(_masked(work, node, inner, band, kept, value))
                return True
    return False


def of_attention(work, node) -> bool:
    """Replaces what a mask of attention hides by position by attention's own arguments. The layers of a model have equal masks, each of
    which is looked at once."""
    q, k, v, mask, causal, scale, grouped = node.args[:7]
    if mask is None or causal or node.kwargs.keys() - {"safe"} or any(x is not None for x in node.args[7:]):
        return False
    mask, shape = work.constants.first(mask), (q.meta["val"].shape[-2], k.meta["val"].shape[-2])
    if (mask, shape) not in work.bands:
        work.bands[mask, shape] = _hidden(work, node, mask, shape, -math.inf)
    found = work.bands[mask, shape]
    if found is None:
        return False
    band, kept, rest, _ = found
    node.args = (q, k, v, rest, band.tril == 0, scale, grouped, *_ends(work, node, band, kept, shape))
    limits = {"tril": band.tril or None, "triu": band.triu}
    node.kwargs = {**node.kwargs, **{name: n for name, n in limits.items() if n is not None}}
    return True
