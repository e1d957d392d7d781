"""Rewrites of operators that mean the same as others, and of integers whose bounds are known."""

import math

import torch

from .law import Rewrite

F = torch.nn.functional


# ---- rewrites/spellings.py ----


def extreme(draw, both=False):
    x = draw.tensor(*draw.shape(draw.number(1, 4)))
    dim, keep, of = draw.number(-x.ndim, x.ndim - 1), draw.chance(), draw.choice([torch.max, torch.min])
    return lambda x: tuple(of(x, dim, keep))[: 2 if both else 1], (x,)


def strides(draw, kind=0):
    x = draw.tensor(*draw.shape(draw.number(1, 3), 2, 5))
    shape = draw.choice([(x.numel(),), (1, *x.shape), (x.shape[0], x.numel() // x.shape[0])])
    steps = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    if kind == 1:  # in another order, or some elements again and again
        shape, steps = x.shape[::-1] if x.ndim > 1 else x.shape, x.stride()[::-1] if x.ndim > 1 else (0,)
    if kind == 2:  # a part
        shape, steps = (x.numel() - 1,), (1,)
    at = draw.number(0, 1) if kind == 2 else 0
    return lambda x: torch.as_strided(x * 2, shape, steps, at) + 1, (x,)


def counted(draw, change=lambda numbers: numbers):
    x = draw.tensor(*draw.shape(draw.number(1, 3), 2, 6))
    dim, times = draw.number(0, x.ndim - 1), draw.number(1, 3)
    start = draw.number(0, x.shape[dim] - 2)
    numbers = [int(n) for n in change(torch.arange(start, x.shape[dim]).repeat_interleave(times))]
    of = lambda x: torch.tensor(numbers, device=x.device)  # noqa: E731
    function = (lambda x: (x * 2)[(slice(None),) * dim + (of(x),)]) if draw.chance() else lambda x: torch.index_select(x * 2, dim, of(x))
    return function, (x,)


def not_counted(draw):
    """Backwards; each row again after all others; one of them twice."""
    return counted(draw, draw.choice([lambda n: n.flip(0), lambda n: n.unique().repeat(2), lambda n: torch.cat((n, n[-1:] * 0))]))


def bound(draw, of=None, dtype=None):
    x = draw.tensor(*draw.shape(draw.number(1, 3)), dtype=dtype)
    number, lower = draw.choice([0.0, 0.1, -1.0, 2049.0, math.inf, -math.inf]), draw.chance()
    of = of or draw.choice([lambda x: torch.full_like(x, number), lambda x: torch.full((), number, dtype=x.dtype), lambda x: torch.tensor([number]).to(x.dtype),
                            lambda x: torch.zeros_like(x), lambda x: torch.ones(x.shape[-1:], dtype=x.dtype) * number])  # fmt: skip
    extreme, left = torch.maximum if lower else torch.minimum, draw.chance()
    return lambda x: extreme(of(x), x) if left else extreme(x, of(x)), (x,)


def no_bound(draw):
    """Several numbers; NaN; a number with more dimensions than the tensor; another dtype."""
    return draw.choice([
        lambda: bound(draw, lambda x: torch.arange(x.shape[-1]).to(x.dtype) * (1 + (x.shape[-1] == 1) * math.nan)),
        lambda: bound(draw, lambda x: torch.tensor(math.nan).to(x.dtype).expand(x.shape)),
        lambda: bound(draw, lambda x: torch.zeros((2,) + x.shape, dtype=x.dtype)),
        lambda: bound(draw, lambda x: torch.zeros(x.shape, dtype=torch.float64)),
    ])()  # fmt: skip


def gelu(draw, one=1, half=0.5, root=math.sqrt(2), other=lambda x: x):
    x = draw.tensor(*draw.shape(draw.number(1, 3)), dtype=torch.float32)
    spelled = draw.choice([
        lambda x, y: half * y * (one + torch.erf(x / root)),
        lambda x, y: y * (torch.erf(x * (1 / root)) + one) * half,
        lambda x, y: (1 + torch.erf(x / root)) * (y * half) if one == 1 else y * half * (one + torch.erf(x / root)),
        lambda x, y: y * (one + torch.erf(x / root)) / (1 / half),
    ])  # fmt: skip
    return lambda x: spelled(x, other(x)), (x,)


def no_gelu(draw):
    return draw.choice([
        lambda: gelu(draw, one=1.01),
        lambda: gelu(draw, half=0.25),
        lambda: gelu(draw, root=1.4142),
        lambda: gelu(draw, other=lambda x: torch.exp(x)),
        lambda: gelu(draw, other=lambda x: x[:1]) if draw.chance() else gelu(draw, other=lambda x: x * x),
    ])()  # fmt: skip


def single(draw, batch=1, alphas=(1, 0.5, 2)):
    m, k, n = draw.shape(3, 1, 6)
    x, y, special = draw.tensor(batch, m, k, special=False), draw.tensor(batch, k, n, special=False), draw.chance()
    bias = draw.tensor(*draw.choice([(batch, m, n), (1, 1, n), (1, m, 1), (1, n)]), special=special)
    alpha, beta = draw.choice(alphas), draw.choice([1, 0, 2])
    if alpha != 0 and draw.chance():
        return torch.bmm, (x, y)
    return lambda b, x, y: torch.baddbmm(b, x, y, beta=beta, alpha=alpha), (bias, x, y)


# ---- rewrites/ranges.py ----


def expert_indices(draw, count=None):
    """Returns (numbers from topk of a router with `count` columns, and sorted, as a function; the router's result; the columns)."""
    columns = count or draw.number(2, 9)
    x = draw.tensor(draw.number(1, 6), columns, special=False, dtype=torch.float32)
    return lambda x: torch.topk(x, min(2, columns), -1)[1].reshape(-1).sort()[0], x, columns


def decided(draw, reach=0):
    """Comparisons that bounds decide; not with a reach into the range."""
    numbers, x, count = expert_indices(draw)
    y = draw.tensor(min(2, count) * x.shape[0], draw.extent())
    compared = draw.choice([lambda i: i >= count - reach, lambda i: i > count - 1 - reach, lambda i: i < reach, lambda i: torch.logical_not(i < count - reach),
                            lambda i: i != -1 + reach, lambda i: i == count - reach])  # fmt: skip
    select = draw.choice([lambda m, y: torch.where(m, y * 2, y), lambda m, y: torch.where(m, y, y + 1), lambda m, y: torch.where(torch.logical_not(m), y * 3, y * 2)])
    if reach == 0 and draw.chance(0.2):
        return lambda x: numbers(x).clamp(0, count - 1) + 1, (x,)
    if reach and draw.chance(0.2):
        return lambda x: numbers(x).clamp(reach, count - 1) + 1, (x,)
    return lambda x, y: select(compared(numbers(x)).unsqueeze(-1), y) + 1, (x, y)


def narrow(draw, columns=None, rows=None, extra=lambda s, i: i):
    columns = columns or draw.choice([2, 8, 100, 200])
    x = draw.tensor(rows or draw.number(65, 90), columns, special=False, dtype=torch.float32)
    descending = draw.chance()

    def function(x):
        s, i = torch.sort(torch.topk(x, 2, -1)[1].reshape(-1), stable=True, descending=descending)
        return extra(s, i)

    return function, (x,)


def not_narrow(draw):
    """Few numbers; the sorted numbers are returned; numbers of which no bound is known."""
    if draw.chance(0.3):
        return lambda i: torch.sort(i, stable=True)[1], (draw.integers(200, low=0, high=9),)
    return narrow(draw, rows=20) if draw.chance() else narrow(draw, extra=lambda s, i: (s, i))


# ---- rewrites/counts.py ----


def counts(draw, bins=None, low=0, descending=False, sort=True):
    count = draw.number(2, 40)
    x = draw.tensor(draw.number(1, 30), count, special=False, dtype=torch.float32)
    bins = count if bins is None else count + bins
    dtype, cast = draw.choice([torch.int32, torch.int64]), draw.choice([lambda i: i.int(), lambda i: i.float()])

    def function(x):
        i = torch.topk(x, 2, -1)[1].reshape(-1)
        i = i.sort(descending=descending)[0] if sort else i
        return torch.cumsum(torch.histc(i.float() if low else cast(i).float(), bins=bins, min=low, max=count - 1), 0, dtype=dtype)

    return function, (x,)


def no_counts(draw):
    kind = draw.number(0, 3)
    return counts(draw, bins=1) if kind == 0 else counts(draw, low=-1) if kind == 1 else counts(draw, descending=True) if kind == 2 else counts(draw, sort=False)


# ---- rewrites/permutations.py ----


def permuted(draw, inverse=None, between=None):
    rows, columns = draw.extent(2, 7), draw.extent()
    x, w, n = draw.tensor(rows, columns), draw.tensor(rows), draw.integers(rows, low=0, high=3)
    inverse = inverse or draw.choice([
        lambda p: torch.ops.aten.index_put(torch.empty_like(p), [p], torch.arange(rows)),
        lambda p: torch.sort(p)[1],
        torch.argsort,
    ])  # fmt: skip
    between = between or draw.choice([
        lambda x, w, p: torch.cumsum(x[p], 0) * w[p].unsqueeze(-1),
        lambda x, w, p: torch.exp(x[p]),
        lambda x, w, p: torch.relu(x[p] + 1) * w[p][:, None],
    ])  # fmt: skip

    def function(x, w, n):
        p = torch.sort(n, stable=True)[1]
        return between(x, w, p)[inverse(p)] * 2

    return function, (x, w, n)


def not_permuted(draw):
    """Another permutation than the inverse; rows that are mixed in between."""
    return draw.choice([
        lambda: permuted(draw, inverse=lambda p: p),
        lambda: permuted(draw, inverse=lambda p: torch.sort(p, descending=True)[1]),
        lambda: permuted(draw, inverse=lambda p: torch.ops.aten.index_put(torch.zeros_like(p), [p], torch.arange(p.shape[0]) // 2)),
        lambda: permuted(draw, between=lambda x, w, p: torch.cumsum(x[p], 0)),
        lambda: permuted(draw, between=lambda x, w, p: torch.flip(x[p], (0,))),
    ])()  # fmt: skip


REWRITES = [
    Rewrite("extreme without its place", extreme, lambda draw: extreme(draw, True), exact=True),
    Rewrite("strides of a view", strides,
            lambda draw: strides(draw, draw.number(1, 2)), exact=True),
    Rewrite("selection of consecutive rows", counted, not_counted, exact=True),
    Rewrite("bound by one number", bound, no_bound),
    Rewrite("gelu by its formula", gelu, no_gelu),
    Rewrite("batch of one", single,
            lambda draw: single(draw, 2) if draw.chance() else single(draw, 1, (0,)), steps=4),
    Rewrite("selection that bounds decide", decided, lambda draw: decided(draw, 1), exact=True),
    Rewrite("sort of narrow integers", narrow, not_narrow, exact=True),
    Rewrite("counts by positions", counts, no_counts, exact=True),
    Rewrite("permutation that is undone", permuted, not_permuted, exact=True),
]  # fmt: skip
