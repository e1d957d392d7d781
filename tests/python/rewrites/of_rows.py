"""Rewrites of activations as matrices, and of the sum of slices."""

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
    Rewrite("sum of slices", short_sum, other_sum, steps=8),
]  # fmt: skip
