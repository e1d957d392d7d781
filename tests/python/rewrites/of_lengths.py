"""Rewrites of masks that hide what is after the length of each sequence, or before its first key."""

import math
import operator

import torch

from .law import Rewrite

F = torch.nn.functional
STEPS = 32
_COMPARISONS = (
    lambda j, n: j < n,
    lambda j, n: n > j,
    lambda j, n: j <= n - 1,
    lambda j, n: ~(j >= n),
    lambda j, n: torch.logical_not(n <= j),
    lambda j, n: j >= n,
    lambda j, n: n < j,
    lambda j, n: ~(n > j),
)


def _kept(draw, batch, keys, ndim, compare=None):
    """Returns (a function of lengths that returns which keys are before them, for scores of `ndim` dimensions; the lengths)."""
    lengths = draw.integers(batch, low=-1, high=keys + 3, dtype=draw.choice([torch.int64, torch.int32]))
    compare, viewed = compare or draw.choice(_COMPARISONS), draw.chance()

    def kept(n):
        j = torch.arange(keys)
        if viewed:
            return compare(j[None], n[:, None]).view(-1, *[1] * (ndim - 2), keys)
        return compare(j, n.view(-1, *[1] * (ndim - 1)))

    return kept, lengths


def selected(draw, compare=None, cast=lambda n: n):
    ndim = draw.number(2, 4)
    shape = draw.shape(ndim, 2)
    kept, lengths = _kept(draw, shape[0], shape[-1], ndim, compare)
    value = draw.choice([-math.inf, 0.0, -1e4])
    others = draw.chance()

    def function(x, n):
        hidden = ~kept(cast(n)) | (x > 1) if others else ~kept(cast(n))
        return x.masked_fill(hidden, value) * 2

    return function, (draw.tensor(*shape), lengths)


def not_selected(draw):
    """Keys that are their lengths; lengths of no integers; numbers of keys that do not begin at 0."""
    if draw.chance(0.3):
        return selected(draw, cast=lambda n: n.float())
    return selected(draw, draw.choice([operator.eq, operator.ne, lambda j, n: j + 1 < n, lambda j, n: j + 1 >= n]))


def attended(draw, compare=None):
    batch, heads, queries, keys, size = draw.number(1, 3), draw.number(1, 2), *draw.shape(3, 2, 6)
    kept, lengths = _kept(draw, batch, keys, 4, compare)
    q = draw.tensor(batch, heads, queries, size, special=False)
    k, v = (draw.tensor(batch, heads, keys, size, special=False) for _ in range(2))
    return lambda q, k, v, n: F.scaled_dot_product_attention(q, k, v, kept(n)), (q, k, v, lengths)


def not_attended(draw):
    return attended(draw, draw.choice([operator.eq, operator.ne]))


def same_sequence(draw, right=True, numbers=lambda n: torch.arange(n)):
    tokens, size, count = draw.number(4, 12), draw.number(2, 6), draw.number(1, 4)
    ends = torch.sort(draw.integers(count, low=0, high=tokens, dtype=torch.int32))[0]
    q, k, v = (draw.tensor(1, 2, tokens, size, special=False) for _ in range(3))
    bucketed, columns_first = draw.chance(), draw.chance()

    def function(q, k, v, ends):
        at = numbers(tokens)
        found = torch.bucketize(at, ends, right=right) if bucketed else torch.searchsorted(ends, at, right=right)
        same = found[None] == found[:, None] if columns_first else found[:, None] == found[None]
        return F.scaled_dot_product_attention(q, k, v, same)

    return function, (q, k, v, ends)


def not_same_sequence(draw):
    """Sequences that are found with their ends, or of tokens in another order."""
    if draw.chance():
        return same_sequence(draw, right=False)
    return same_sequence(draw, numbers=lambda n: torch.arange(n).flip(0))


def same_run(draw, sums=lambda x: x.cumsum(-1)):
    """Packed sequences, whose positions begin again."""
    batch, tokens, size = draw.number(1, 3), draw.number(4, 12), draw.number(2, 6)
    starts = draw.condition(batch, tokens)
    ids = torch.stack([torch.tensor([t - max([s for s in range(t + 1) if row[s]], default=0) for t in range(tokens)]) for row in starts])
    q, k, v = (draw.tensor(batch, 2, tokens, size, special=False) for _ in range(3))
    causal = draw.chance()

    def function(q, k, v, ids):
        number = sums(torch.diff(ids, prepend=ids[:, :1] - 1, dim=-1) != 1)
        same = number[:, None, :, None] == number[:, None, None, :]
        at = torch.arange(tokens)
        return F.scaled_dot_product_attention(q, k, v, same & (at[:, None] >= at) if causal else same)

    return function, (q, k, v, ids)


def not_same_run(draw):
    """Numbers that descend."""
    return same_run(draw, lambda x: -x.cumsum(-1))


REWRITES = [
    Rewrite("keys of a token's own run", same_run, not_same_run, steps=STEPS),
    Rewrite("keys of a token's own sequence", same_sequence, not_same_sequence, steps=STEPS),
    Rewrite("selection by lengths", selected, not_selected, exact=True),
    Rewrite("mask of attention by lengths", attended, not_attended, steps=STEPS),
]
