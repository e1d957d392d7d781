"""Rewrites of activations as matrices, of rotary embeddings, and of the sum of slices."""

import torch

from .law import Rewrite

F = torch.nn.functional


# ---- import_/rows.py ----


def after_a_matmul(draw, *operators, special=None):
    """Returns a function that applies operators to a linear layer's result, and its input of shape (batch, tokens, width). The
    operators also get a tensor that they may use."""
    batch, tokens = draw.shape(2, 1, 6)
    width = draw.extent(2, 6)
    x, weight = draw.tensor(batch, tokens, draw.extent(1, 6), special=special), draw.tensor(width, draw._last, special=False)
    shape = batch, tokens, width
    other = draw.tensor(*draw.choice([shape, (width,), (1, width), (1, 1, width), (batch, tokens, 1)]), special=special)
    operator = draw.choice(operators)
    return lambda x, w, y: operator(F.linear(x, w), y), (x, weight, other)


def by_rows(draw):
    return after_a_matmul(
        draw,
        lambda x, y: torch.relu(x) + y,
        lambda x, y: torch.where(x > 0, x, y),
        lambda x, y: x.softmax(-1) * 2,
        lambda x, y: torch.log_softmax(x, 2),
        lambda x, y: F.layer_norm(x, x.shape[-1:], eps=1e-2),
        lambda x, y: x.mean(-1, keepdim=True) + y,
        lambda x, y: torch.logsumexp(x, -1, keepdim=True),
        lambda x, y: x.amax((2,), keepdim=True) * x,
        lambda x, y: (x - x.float().mean(-1, keepdim=True)).to(x.dtype),
        lambda x, y: torch.maximum(x * 0.5, y),
        special=False if draw.dtype != torch.float32 else None,
    )


def by_more_than_rows(draw):
    """What depends on an element's position, or on several rows; operands with rows of other tensors."""
    return after_a_matmul(
        draw,
        lambda x, y: x.tril(),
        lambda x, y: x.triu(1),
        lambda x, y: x.masked_fill(torch.ones(x.shape[1:], dtype=torch.bool).triu(1), -3.0),
        lambda x, y: x.softmax(1),
        lambda x, y: x.softmax(0),
        lambda x, y: x.mean(),
        lambda x, y: x.sum((0, 1)),
        lambda x, y: x.amax(-1),
        lambda x, y: x.logsumexp((1, 2)),
        lambda x, y: F.batch_norm(x, *(torch.arange(2 * x.shape[1]).view(2, -1) + 1.0).to(x.dtype), eps=1e-3),
        lambda x, y: F.layer_norm(x, x.shape[-2:], eps=1e-2),
        lambda x, y: torch.logsumexp(x, 1, keepdim=True),
        special=False,
    )


# ---- import_/rotary.py ----


def pairs(draw, interleaved=None):
    """Returns x, functions that split and join its pairs, and cos and sin of an angle for each pair."""
    shape, half = draw.shape(draw.number(1, 3), 1, 4), draw.extent(1, 4)
    x = draw.tensor(*shape, 2 * half)
    lead = draw.choice([(), shape[-1:], shape, (1,) * len(shape), shape[:1] + (1,) * (len(shape) - 1)])
    cos, sin = draw.tensor(*lead, half), draw.tensor(*lead, half)
    if draw.chance() if interleaved is None else interleaved:
        return x, lambda x: (x[..., ::2], x[..., 1::2]), lambda a, b: torch.stack((a, b), -1).flatten(-2), cos, sin
    return x, lambda x: (x[..., :half], x[..., half:]), lambda a, b: torch.cat((a, b), -1), cos, sin


def rotary(draw, joined=lambda a, b, c, s: (a * c - b * s, b * c + a * s)):
    x, split_pairs, join_pairs, cos, sin = pairs(draw)
    swapped = draw.chance()

    def function(x, cos, sin):
        a, b = split_pairs(x)
        first, second = joined(a, b, cos, sin)
        if swapped and joined is rotary.__defaults__[0]:
            first, second = cos * a - sin * b, a * sin + b * cos
        return join_pairs(first, second) * 1

    return function, (x, cos, sin)


def no_rotary(draw):
    kind = draw.number(0, 6)
    if kind == 0:  # halves of two tensors
        x, split_pairs, join_pairs, cos, sin = pairs(draw)

        def function(x, y, cos, sin):
            a, b = split_pairs(x)[0], split_pairs(y)[1]
            return join_pairs(a * cos - b * sin, b * cos + a * sin) * 1

        return function, (x, draw.tensor(*x.shape), cos, sin)
    if kind == 1:  # more angles than pairs
        n = draw.extent(2, 4)

        def function(x, cos, sin):
            a, b = x[..., :n], x[..., n:]
            return torch.cat((a * cos - b * sin, b * cos + a * sin), -1) * 1

        return function, (draw.tensor(1, 2 * n), draw.tensor(n, n), draw.tensor(n, n))
    return rotary(draw, [
        lambda a, b, c, s: (a * c + b * s, b * c - a * s),
        lambda a, b, c, s: (b * c - a * s, a * c + b * s),
        lambda a, b, c, s: (a * c - b * s, b * s + a * c),
        lambda a, b, c, s: (a * c - b * s, b * c + a * c),
        lambda a, b, c, s: (b * s - a * c, b * c + a * s),
    ][kind - 2])  # fmt: skip


def rotated_pairs(draw, quarter=lambda a, b: (-b, a), used=lambda x, r, c, s: x * c + r * s):
    x, split_pairs, join_pairs, cos, sin = pairs(draw)
    wide = lambda t: t.repeat_interleave(2, -1)  # noqa: E731

    def function(x, cos, sin):
        return used(x, join_pairs(*quarter(*split_pairs(x))), cos, sin) * 1

    return function, (x, wide(cos), wide(sin))


def no_rotated_pairs(draw):
    """Another rotation; the rotated alone, which moves elements and computes nothing; angles in one dimension."""
    return draw.choice([
        lambda: rotated_pairs(draw, quarter=lambda a, b: (b, -a)),
        lambda: rotated_pairs(draw, quarter=lambda a, b: (-a, b)),
        lambda: rotated_pairs(draw, quarter=lambda a, b: (a, -b)),
        lambda: rotated_pairs(draw, used=lambda x, r, c, s: r),
        lambda: rotated_pairs(draw, used=lambda x, r, c, s: x * c - r * s),
        lambda: rotated_pairs(draw, used=lambda x, r, c, s: r * c + x),
        lambda: rotated_pairs(draw, used=lambda x, r, c, s: (x + 1) * c + r * s),
    ])()  # fmt: skip


# ---- rewrites/short_sums.py ----


def short_sum(draw, count=None, width=None, dims=1):
    lead, count, inner, width = draw.shape(draw.number(0, 2), 1, 4), count or draw.number(2, 8), draw.shape(draw.number(0, 1), 1, 4), width or draw.number(9, 12)
    x = draw.tensor(*lead, count, *inner, width)
    keep, dim = draw.chance(), len(lead) if draw.chance() else -len(inner) - 2
    weight = draw.tensor(*draw.choice([(count, *inner, 1), (1, *inner, width), (width,), x.shape]), special=False)
    dim = dim if dims == 1 else (dim, -1)
    if lead and draw.chance():  # the slices are rows of a matrix, weighted before
        rows, at = draw.tensor(*lead[:-1], lead[-1] * count, *inner, width), len(lead) - 1
        return lambda x, w: (torch.relu(x) * w).unflatten(at, (lead[-1], count)).sum(dim, keep), (rows, draw.tensor(width, special=False))
    return lambda x, w: (x * w).sum(dim, keep), (x, weight)


def other_sum(draw):
    kind = draw.number(0, 2)
    return short_sum(draw, count=9) if kind == 0 else short_sum(draw, width=8) if kind == 1 else short_sum(draw, dims=2)


REWRITES = [
    Rewrite("rows of a matrix", by_rows, by_more_than_rows, steps=16),
    Rewrite("rotary embedding of pairs", rotary, no_rotary, steps=4),
    Rewrite("rotary embedding of rotated pairs", rotated_pairs, no_rotated_pairs, steps=4),
    Rewrite("sum of slices", short_sum, other_sum, steps=8),
]  # fmt: skip
