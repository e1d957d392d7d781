"""Small functions of torch with one or two open extents, for tests that compile each once for all sizes.

    FUNCTIONS[name]     (a function, a function of a Draw and two extents that returns its inputs)
"""

import torch

F = torch.nn.functional


def _real(*shape):
    return lambda d, t, u: d.tensor(*(_extent(n, t, u) for n in shape), dtype=torch.float32, special=False)


def _below(end, *shape):
    return lambda d, t, u: d.integers(*(_extent(n, t, u) for n in shape), low=0, high=_extent(end, t, u))


def _extent(n, t, u):
    return {"t": t, "u": u, "t+1": t + 1, "2t": 2 * t, "2u": 2 * u}.get(n, n)


def _of(function, *inputs):
    return function, lambda d, t, u: tuple(make(d, t, u) for make in inputs)


X, SQUARE, PAIR = _real("t", 4), _real("t", "t"), _real("t", "u")


def _bucketed(x, w):
    """As T5's bias, with the logarithm of 0."""
    at = torch.arange(x.shape[0])
    far = (at - at[:, None]).abs()
    large = (4 + (far.float() / 4).log() * 2).long()
    return x + F.embedding(torch.where(far < 4, far, torch.min(large, torch.full_like(large, 8))), w).squeeze(-1)


FUNCTIONS = {
    "arange": _of(lambda x: x * torch.arange(x.shape[0])[:, None] * 2, X),
    "arange from": _of(lambda x: x + torch.arange(3, x.shape[0] + 3)[:, None], X),
    "full": _of(lambda x: torch.full((x.shape[0], 4), 2.0) + x, X),
    "zeros": _of(lambda x: torch.zeros(x.shape[0], 4) + x.relu(), X),
    "new_ones": _of(lambda x: x.new_ones(x.shape[0], 4) * x.tanh(), X),
    "zeros_like": _of(lambda x: torch.zeros_like(x) - x.tanh(), PAIR),
    "meshgrid": _of(lambda x: x + sum(torch.meshgrid(torch.arange(x.shape[0]), torch.arange(x.shape[1]), indexing="ij")), PAIR),
    "index_select": _of(lambda x, i: x.relu().index_select(0, i) * 2, _real(9, 4), _below(9, "t")),
    "index_select of open rows": _of(lambda x, i: x.relu().index_select(0, i) * 2, X, _below("t", "u")),
    "index": _of(lambda x, i: x.relu()[i] * 2, _real(9, 4), _below(9, "t")),
    "gather": _of(lambda x, i: x.relu().gather(1, i) * 2, _real("t", 6), _below(6, "t", 3)),
    "topk": _of(lambda x: x.tanh().topk(2, -1).values * 2, _real("t", 9)),
    "places of topk": _of(lambda x: x.tanh().topk(2, -1).indices, _real("t", 9)),
    "sort": _of(lambda x: x.tanh().sort(-1).values * 2, _real("t", 9)),
    "sort of open rows": _of(lambda x: x.tanh().sort(-1).values * 2, _real(3, "t")),
    "argsort": _of(lambda x: x.argsort(dim=-1, stable=True), _real("t", 7)),
    "argmax": _of(lambda x: x.tanh().argmax(-1), _real("t", 9)),
    "argmax of open rows": _of(lambda x: x.tanh().argmax(-1), _real(3, "t")),
    "max with its place": _of(lambda x: x.tanh().max(0), _real("t", 5)),
    "cumsum": _of(lambda x: x.tanh().cumsum(-1) * 2, _real("t", 9)),
    "cumsum of open rows": _of(lambda x: x.tanh().cumsum(-1) * 2, _real(3, "t")),
    "repeat": _of(lambda x: x.tanh().repeat(2, 1) + 1, X),
    "repeat by a size": _of(lambda x, y: x.tanh().repeat(y.shape[0], 1) + 1, X, _real("u", 2)),
    "repeat_interleave": _of(lambda x: x.tanh().repeat_interleave(2, 0) + 1, X),
    "expand": _of(lambda x, y: x.tanh()[None].expand(y.shape[0], -1, -1) * 2, X, _real("u", 2)),
    "pad": _of(lambda x: F.pad(x.tanh(), (0, 0, 1, 2)) * 2, X),
    "pad to 64": _of(lambda x: F.pad(x.tanh(), (0, 0, 0, 64 - x.shape[0])) * 2, X),
    "cat": _of(lambda x, y: torch.cat([x.tanh(), y.relu()]) * 2, X, _real("u", 4)),
    "cat of three": _of(lambda x, y: torch.cat([x.tanh(), y.relu(), x * 2]) * 2, X, _real("u", 4)),
    "cat of columns": _of(lambda x, y: torch.cat([x.tanh(), y.relu()], 1) * 2, X, _real("t", 3)),
    "roll": _of(lambda x: x.tanh().roll(1, 0) * 2, X),
    "flip": _of(lambda x: x.tanh().flip(0) * 2, X),
    "triu": _of(lambda x: x.tanh().triu(1) * 2, SQUARE),
    "tril": _of(lambda x: x.tanh().tril() * 2, PAIR),
    "causal": _of(lambda x: x.masked_fill(torch.ones(x.shape[0], x.shape[0], dtype=torch.bool).triu(1), -1e9).softmax(-1), SQUARE),
    "where by positions": _of(lambda x: torch.where(torch.arange(x.shape[0])[:, None] >= torch.arange(x.shape[1])[None], x.tanh(), 0.0), PAIR),
    "window": _of(lambda x: torch.where((torch.arange(x.shape[0])[:, None] - torch.arange(x.shape[1])[None]).abs() < 3, x.tanh(), 0.0), PAIR),
    "cross entropy": _of(lambda x, y: F.cross_entropy(x, y), _real("t", 17), _below(17, "t")),
    "shifted cross entropy": _of(lambda w, y: F.cross_entropy(F.embedding(y, w)[:, :-1].reshape(-1, 17), y[:, 1:].reshape(-1)), _real(17, 17), _below(17, "u", "t+1")),
    "embedding": _of(lambda x, i: F.embedding(i, x) * 2, _real(11, 4), _below(11, "t")),
    "embedding of a batch": _of(lambda x, i: F.embedding(i, x) * 2, _real(11, 4), _below(11, "t", "u")),
    "one_hot": _of(lambda i: F.one_hot(i, 7).float() * 2, _below(7, "t")),
    "scatter_add": _of(lambda x, i: torch.zeros(7, 5).scatter_add(0, i, x.tanh()), _real("t", 5), _below(7, "t", 5)),
    "lengths": _of(lambda x, n: x.masked_fill(torch.arange(x.shape[1])[None] > n[:, None], -1e9).softmax(-1), PAIR, _below("u", "t")),
    "mean of open rows": _of(lambda x: x.tanh().mean(0), _real("t", 5)),
    "masked mean": _of(lambda x, m: (x * m[..., None]).sum(1) / m.sum(1, keepdim=True).clamp(min=1), _real("t", "u", 4), _real("t", "u")),
    "stack": _of(lambda x, y: torch.stack([x.tanh(), y.relu()], 1) * 2, X, X),
    "split": _of(lambda x: [p * 2 for p in x.tanh().split([1, x.shape[0] - 1])], _real("t+1", 4)),
    "chunk": _of(lambda x: [p * 2 for p in x.tanh().chunk(2, -1)], _real("t", 8)),
    "last row": _of(lambda x: x.tanh()[:, -1] * 2, _real("t", "u", 4)),
    "neighbouring rows": _of(lambda x: x.tanh()[1:] * x[:-1], _real("t+1", 4)),
    "outer": _of(lambda x, y: (x.tanh()[:, None] * y[None]).sum(-1), X, _real("u", 4)),
    "diagonal": _of(lambda x: x.tanh().diagonal() * 2, SQUARE),
    "isin": _of(lambda x, y: (x[:, None] == y[None]).any(-1), _below(9, "t"), _below(9, "u")),
    "every other": _of(lambda x: x.tanh()[:, ::2] * 2, _real("t", 8)),
    "relative bias": _of(lambda x, w: x + w[(torch.arange(x.shape[0])[:, None] - torch.arange(x.shape[0])[None]).clamp(-4, 4) + 4], SQUARE, _real(9)),
    "buckets of distances": _of(_bucketed, SQUARE, _real(9, 1)),
    "positions' rows": _of(lambda x, w: x.tanh() + w[: x.shape[1]], _real("t", "u", 4), _real(64, 4)),
    "logsumexp": _of(lambda x: torch.logsumexp(x, 0), _real("t", 5)),
    "norm": _of(lambda x: x / x.norm(dim=-1, keepdim=True), PAIR),
    "any and all": _of(lambda x: (x > 0).all(0) | (x < -2).any(0), _real("t", 5)),
    "packed sequences": _of(lambda x, n: x.masked_fill(n.cumsum(0)[:, None] != n.cumsum(0)[None], -1e9).softmax(-1), SQUARE, _below(2, "t")),
}
