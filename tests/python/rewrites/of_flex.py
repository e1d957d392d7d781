"""Attention by functions of positions: scores and masks as users of flex_attention write them, and the rewrite of it."""

import math
from dataclasses import dataclass

import torch

from .law import Rewrite

FLEX = torch.ops.higher_order.flex_attention
STEPS = 48


@dataclass(frozen=True)
class Shape:
    batch: int
    heads: int
    queries: int
    keys: int
    longest: int = 0  # of captured vectors; 0: as the keys

    @property
    def places(self):
        return max(self.longest, self.queries, self.keys)


# By name: (what a function captures of a draw and a shape, the function).
SCORES = {
    "soft cap": (lambda d, s: (), lambda x, b, h, q, k: 5 * torch.tanh(x / 5)),
    "alibi": (lambda d, s: (d.tensor(s.heads, dtype=torch.float32, special=False),), lambda x, b, h, q, k, slopes: x + slopes[h] * (k - q)),
    "distance": (lambda d, s: (), lambda x, b, h, q, k: x - (q - k).abs() * 0.1),
    "relative bias": (lambda d, s: (d.tensor(2 * s.places, dtype=torch.float32, special=False),), lambda x, b, h, q, k, t: x + t[q - k + t.shape[0] // 2]),
    "bias of heads": (lambda d, s: (d.tensor(s.heads, s.queries, s.keys, dtype=torch.float32, special=False),), lambda x, b, h, q, k, t: x + t[h, q, k]),
    "bias by parts": (lambda d, s: (d.tensor(s.heads, s.queries, s.keys, dtype=torch.float32, special=False),), lambda x, b, h, q, k, t: x + t[h][q][k]),
    "cap of a bias": (lambda d, s: (d.tensor(s.heads, dtype=torch.float32, special=False),), lambda x, b, h, q, k, t: 5 * torch.tanh((x + t[h] * (k - q)) / 5)),
    "causal score": (lambda d, s: (), lambda x, b, h, q, k: torch.where(q >= k, x, -math.inf)),
    "odd distances": (lambda d, s: (), lambda x, b, h, q, k: torch.where((k - q) % 2 == 0, x, x * 0.5)),
    "buckets": (lambda d, s: (d.tensor(9, s.heads, dtype=torch.float32, special=False),), lambda x, b, h, q, k, t: x + t[(k - q).clamp(-4, 4) + 4, h]),
}  # fmt: skip


def _sorted(d, *shape):
    return d.integers(*shape, low=0, high=4).sort(-1).values


MASKS = {
    "causal": (lambda d, s: (), lambda b, h, q, k: q >= k),
    "window": (lambda d, s: (), lambda b, h, q, k: (q >= k) & (q - k <= 3)),
    "prefix": (lambda d, s: (d.integers(s.batch, low=0, high=s.keys),), lambda b, h, q, k, n: (k < n[b]) | (q >= k)),
    "documents": (lambda d, s: (_sorted(d, s.places),), lambda b, h, q, k, of: of[q] == of[k]),
    "causal documents": (lambda d, s: (_sorted(d, s.places),), lambda b, h, q, k, of: (of[q] == of[k]) & (q >= k)),
    "packed batches": (lambda d, s: (_sorted(d, s.batch, s.places),), lambda b, h, q, k, of: (of[b, q] == of[b, k]) & (q >= k)),
    "padding": (lambda d, s: (d.integers(s.batch, low=1, high=s.keys + 1),), lambda b, h, q, k, n: k < n[b]),
    "offset": (lambda d, s: (torch.tensor(max(s.keys - s.queries, 0)),), lambda b, h, q, k, at: q + at >= k),
    "chunks": (lambda d, s: (), lambda b, h, q, k: (q // 4 == k // 4) & (q >= k)),
    "some heads": (lambda d, s: (), lambda b, h, q, k: (h % 2 == 0) | (q >= k)),
    "dilated": (lambda d, s: (), lambda b, h, q, k: ((q - k) % 2 == 0) & (q >= k)),
    "nothing": (lambda d, s: (), lambda b, h, q, k: k < 0),
}


def same(x, b, h, q, k):
    return x


def everything(b, h, q, k):
    return b.new_ones((), dtype=torch.bool)


def attended(draw, score=None):
    """Attention of a random score and mask."""
    heads, few = draw.choice([(2, 2), (4, 2), (3, 1)])
    shape = Shape(draw.number(1, 3), heads, *draw.shape(2, 2, 9))
    capture, score = score or draw.choice([*SCORES.values(), (lambda d, s: (), same)])
    captures, mask = draw.choice([*MASKS.values(), (lambda d, s: (), everything)])
    scored, masked = capture(draw, shape), captures(draw, shape)
    q = draw.tensor(shape.batch, shape.queries, heads, 8, special=False).transpose(1, 2)
    k, v = (draw.tensor(shape.batch, few, shape.keys, 8, special=False) for _ in range(2))
    options = draw.choice([{}, {"OUTPUT_LOGSUMEXP": False, "OUTPUT_MAX": False}])

    def function(q, k, v, *captured):
        of = captured[: len(scored)], captured[len(scored) :]
        made, lse, top = FLEX(q, k, v, score, (mask,), 0.3, options, *of)
        return (made, lse * math.log(2), top) if options == {} else made

    return function, (q, k, v, *scored, *masked)


def of_rows(draw):
    """A score that adds all that it captures of a head."""
    capture, _ = SCORES["bias of heads"]
    return attended(draw, (capture, lambda x, b, h, q, k, t: x + t[h].sum()))


REWRITES = [Rewrite("attention by functions of positions", attended, of_rows, steps=STEPS)]
