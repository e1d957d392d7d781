"""Recognises masks that depend only on an element's position. They are recognised by their values, so that it does not
matter how a torch graph computes them.

    scores.masked_fill(torch.ones(n, n).triu(1).bool(), -inf)      zellige::mask(scores, tril=0, value=-inf)

A mask that depends on no input of the graph is evaluated at compile time. If it keeps one diagonal band of the last two
dimensions, the masking operator need not read a tensor, and attention kernels skip fully masked tiles.

A selection (where, masked_fill) means the same as zellige::mask for all numbers. An addition of -inf means the same to a softmax
along the keys, and to it alone, if the scores that it hides are finite; other additions stay as they are.
"""

import math
from dataclasses import dataclass

import torch

from ..import_ import custom
from ..import_.kinds import SAME, SCALES, SOFTMAXES

aten = torch.ops.aten

HUGE = -1e30  # an added value below this counts as minus infinity, because rounding loses the score


@dataclass(frozen=True)
class Band:
    """A diagonal band of a matrix: the elements with triu <= column - row <= tril; None: no limit."""

    tril: int | None
    triu: int | None


def band_of(kept, shape):
    """Returns the diagonal band of the last two dimensions that the true elements of the bool tensor `kept` form, after a
    broadcast to `shape`. Returns None if they do not form a band, the same one along all other dimensions, or if all or none
    are true."""
    if kept.ndim == 0 or kept.numel() == 0 or len(shape) < 2:
        return None
    matrix = kept[(0,) * (kept.ndim - 2)] if kept.ndim > 1 else kept[None]
    if kept.ndim > 2 and not torch.equal(kept, matrix.expand(kept.shape)):
        return None
    kept = matrix.expand(shape[-2:])
    rows, columns = kept.shape
    offset = torch.arange(columns) - torch.arange(rows)[:, None]
    inside = offset[kept]
    if inside.numel() in (0, kept.numel()):
        return None
    low, high = int(inside.min()), int(inside.max())
    if not torch.equal(kept, (offset >= low) & (offset <= high)):
        return None
    return Band(high if high < columns - 1 else None, low if low > 1 - rows else None)


def _same(x, node) -> bool:
    """Returns true if the operand x has the shape and dtype of the node's result, and the dtype is a floating-point
    one."""
    value, made = x.meta.get("val") if isinstance(x, torch.fx.Node) else None, node.meta["val"]
    return isinstance(value, torch.Tensor) and value.shape == made.shape and value.dtype == made.dtype and value.dtype.is_floating_point


def selection(work, node) -> bool:
    """Replaces where(condition, x, number) or where(condition, number, x) by zellige::mask, if the condition is a
    constant diagonal band."""
    (condition, x, y), constants = node.args, work.constants
    kept = constants.value(condition) if condition in constants else None
    if kept is None:
        return False
    for tensor, other, holds in ((x, y, kept), (y, x, ~kept)):
        value = constants.number(other)
        if value is not None and not math.isnan(value) and tensor not in constants and _same(tensor, node):
            band = band_of(holds, node.meta["val"].shape)
            if band is not None:
                return work.replace(node, custom.MASK, tensor, band.tril, band.triu, value)
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
        carries = user.target in (*SAME, aten._to_copy.default) or user.target in (custom.MASK, aten.add.Tensor) and not user.kwargs
        carries |= user.target in SCALES and isinstance(user.args[1], (int, float)) and 1e-3 < user.args[1] < 1e3
        if not carries or not _weighs(user, deep - 1):
            return False
    return True


def addition(work, node) -> bool:
    """Replaces x + mask by zellige::mask, if the mask is a constant that is 0 in a diagonal band and has one and the
    same value everywhere else, which is below HUGE (-1e30) and therefore acts as -inf. Only softmaxes read the sum."""
    constants = work.constants
    for x, mask in (node.args, node.args[::-1]) if not node.kwargs and _weighs(node) else ():
        if isinstance(mask, torch.fx.Node) and mask in constants and x not in constants and _same(x, node):
            value = constants.value(mask)
            found = None if value is None else _split(value)
            band = None if found is None else band_of(found[0], node.meta["val"].shape)
            if band is not None:
                return work.replace(node, custom.MASK, x, band.tril, band.triu, found[1])
    return False


def causal(work, node) -> bool:
    """Replaces a causal mask that is passed to attention as a tensor by attention's flag `causal`. The layers of a model have
    equal masks, each of which is looked at once."""
    q, k, v, mask, _, scale, grouped = node.args
    if mask is None or mask not in work.constants:
        return False
    mask, shape = work.constants.first(mask), (q.meta["val"].shape[-2], k.meta["val"].shape[-2])
    if (mask, shape) not in work.bands:
        work.bands[mask, shape] = _hidden(work.constants.value(mask), shape)
    if work.bands[mask, shape] != Band(0, None):
        return False
    node.args = (q, k, v, None, True, scale, grouped)
    return True


def _hidden(mask, shape):
    """Returns the diagonal band outside of which the additive mask `mask`, broadcast to `shape`, is -inf. Returns None
    if it is None or no such mask."""
    found = None if mask is None else _split(mask)
    return None if found is None or found[1] != -math.inf else band_of(found[0], shape)
