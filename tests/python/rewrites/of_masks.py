"""Rewrites of masks by position and of attention. Values and hidden keys are finite, as docs/reference/graph-ir.md asks."""

import math

import torch

from .law import Rewrite

F = torch.nn.functional
HALVES = (torch.float16, torch.bfloat16)
LOW = -1e31  # far below 0
STEPS = 16  # each operator of the library's reference rounds, where torch's attention does not


# ---- rewrites/masks.py ----


def band(draw, rows, columns):
    """Returns which elements a diagonal band keeps: some, and not all."""
    offset = torch.arange(columns) - torch.arange(rows)[:, None]
    while True:
        low, high = sorted(draw.number(-rows, columns) for _ in range(2))
        kept = (offset >= low) & (offset <= high)
        if 0 < kept.sum() < kept.numel():
            return kept


def no_band(draw, rows, columns):
    """Returns which elements are kept, some outside of each band around them: a band of 3 x 3 and more with one flipped."""
    kept = torch.ones(rows, columns, dtype=torch.bool)
    kept[draw.number(0, rows - 2), draw.number(0, columns - 2)] = False
    return kept


def before(draw, kept, ndim):
    """Adds dimensions of one element before those of a mask, up to the number for a tensor with `ndim` dimensions."""
    return kept.view((1,) * draw.number(0, ndim - 2) + kept.shape)


def written(draw, kept):
    """Returns a function without arguments that makes the mask, so that the graph has it as a constant and not as an input."""
    flat, shape = kept.flatten().tolist(), kept.shape
    return lambda: torch.tensor(flat).view(shape)


def either(draw, rows, columns):
    """Returns a band, or elements before ends."""
    kept = ends(draw, rows, columns) if draw.chance() else band(draw, rows, columns)
    return kept if 0 < kept.sum() < kept.numel() else band(draw, rows, columns)


def by_selection(draw, kept_of=either, number=None):
    ndim = draw.number(2, 4)
    x = draw.tensor(*draw.shape(ndim - 2, 1, 4), *draw.shape(2, 3 if kept_of is no_band else 2))
    kept = written(draw, before(draw, kept_of(draw, *x.shape[-2:]), ndim))
    number = draw.choice([-math.inf, math.inf, 0.0, -0.0, 0.1, -1e9, 65504.0]) if number is None else number
    which = draw.number(0, 3)

    def function(x):
        here = kept()
        if which == 0:
            return x.masked_fill(~here, number)
        if which == 1:
            return torch.where(here, x, number)
        if which == 2:
            return torch.where(~here, torch.full((), number, dtype=x.dtype), x)
        return x.masked_fill(here.logical_not().expand(x.shape), number)

    if number == -1e9 and x.dtype == torch.float16:
        number = -6e4  # eager torch refuses numbers out of the dtype's range
    return function, (x,)


def not_by_selection(draw):
    kind = draw.choice(["holes", "NaN", "by batches", "an input"])
    if kind in ("holes", "NaN"):
        return by_selection(draw, no_band) if kind == "holes" else by_selection(draw, number=math.nan)
    n = draw.number(3, 6)
    x = draw.tensor(n, n, n)
    if kind == "an input":
        return lambda x, m: torch.where(m, x, 0.0), (x, band(draw, n, n))
    kept = written(draw, torch.ones(n * n, n, dtype=torch.bool).tril().view(n, n, n))
    return lambda x: torch.where(kept(), x, 0.0), (x,)


def by_sum(draw, kept_of=either, value=None, reads=lambda y: y.softmax(-1), special=False):
    ndim = draw.number(2, 4)
    x = draw.tensor(*draw.shape(ndim - 2, 1, 4), *draw.shape(2, 3 if kept_of is no_band else 2), special=special)
    kept = written(draw, before(draw, kept_of(draw, *x.shape[-2:]), ndim))
    value, left, scale = draw.choice([-math.inf, LOW]) if value is None else value, draw.chance(), draw.choice([1.0, 0.5])
    if value == LOW and draw.dtype == torch.float16:
        value = -math.inf
    dtype = draw.dtype

    def function(x):
        mask = torch.zeros((), dtype=dtype).masked_fill(~kept(), value)
        return reads((mask + x if left else x + mask) * scale)

    return function, (x,)


def not_by_sum(draw):
    return draw.choice([
        lambda: by_sum(draw, no_band),
        lambda: by_sum(draw, value=-5.0),
        lambda: by_sum(draw, value=-math.inf, reads=lambda y: torch.relu(y), special=True),
        lambda: by_sum(draw, value=-math.inf, reads=lambda y: y.softmax(-2)),
        lambda: by_sum(draw, value=-math.inf, reads=lambda y: (y.softmax(-1), y.exp()), special=True),
    ])()  # fmt: skip


def heads(draw, dtype=None, queries=None, values=None, special=False):
    """Returns q, k, v of shape (batch, heads, queries, size), with the same or another number of keys. There are several heads,
    as a matmul of one is no batched one (rewrites/spellings.py)."""
    batch, count, (keys, size) = draw.number(1, 3), draw.number(2, 3), draw.shape(2, 2, 6)
    queries = keys if draw.chance() else draw.extent(2, 6) if queries is None else queries
    of = lambda n, size, special=False: draw.tensor(batch, count, n, size, dtype=dtype, special=special)  # noqa: E731
    return of(queries, size, special), of(keys, size, special), of(keys, size if values is None else values)


def padding(draw, rows, columns):
    """Returns which keys an input keeps: the first one, which each query sees, and some others."""
    kept = draw.condition(rows, columns)
    kept[:, 0] = True
    return kept


def attention_by_a_mask(draw, kept_of=None):
    q, k, v = heads(draw)
    rows, columns = q.shape[2], k.shape[2]
    kinds = [lambda: torch.ones(rows, columns, dtype=torch.bool).tril(), lambda: band(draw, rows, columns), lambda: ends(draw, rows, columns)]
    kept = draw.choice(kinds)() if kept_of is None else kept_of(q, k)
    kept = torch.ones(rows, columns, dtype=torch.bool).tril() if kept_of is None and kept.all() else kept
    numbers, made = draw.chance(), written(draw, before(draw, kept, 4) if kept.ndim == 2 else kept)
    if draw.chance():  # and a padding
        pad = padding(draw, q.shape[0], columns)
        mask = lambda p: torch.where(made() & p[:, None, None], 0.0, -math.inf).to(q.dtype) if numbers else p[:, None, None, :] & made()  # noqa: E731
        return lambda q, k, v, p: F.scaled_dot_product_attention(q, k, v, attn_mask=mask(p)), (q, k, v, pad)
    if draw.chance(0.3):  # with a bias, as of T5
        hidden = lambda: torch.where(made(), 0.0, -math.inf).to(q.dtype)  # noqa: E731
        bias = draw.tensor(*draw.choice([(q.shape[1], rows, columns), (1, rows, columns), (q.shape[1], 1, columns)]), dtype=q.dtype, special=False)
        added = draw.choice([lambda b: b[None] + hidden(), lambda b: (hidden()[(0,) * (hidden().ndim - 2)] + b)[None]])
        return lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, attn_mask=added(b)), (q, k, v, bias)
    mask = lambda: torch.where(made(), 0.0, -math.inf).to(q.dtype) if numbers else made()  # noqa: E731
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask()), (q, k, v)


def ends(draw, rows, columns):
    """Returns which elements are kept before an end in each row and column: chunks, or a prefix that all rows see."""
    i, j, n = torch.arange(rows)[:, None], torch.arange(columns), draw.number(1, max(rows, columns) - 1)
    kept = i // n == j // n
    kept = draw.choice([kept, kept & (j <= i), (j < n) | (j <= i)])
    return torch.ones(rows, columns, dtype=torch.bool).tril() if kept.all() or not kept.any() else kept


def attention_by_another_mask(draw):
    """A mask with holes; another one for each head."""
    def other(q, k):
        kept = torch.ones(q.shape[1] * q.shape[2], k.shape[2], dtype=torch.bool).tril().view(1, *q.shape[1:3], -1)
        kept[..., 0] = True
        hole = torch.ones(1, 1, q.shape[2], k.shape[2], dtype=torch.bool)
        hole[..., 0, 0] = False
        several = not torch.equal(kept[:, :1].expand(kept.shape), kept)
        return kept if several else hole & (torch.arange(k.shape[2]) >= 0) if min(q.shape[2], k.shape[2]) > 1 else hole

    return attention_by_a_mask(draw, other)


def alibi(draw, tokens=(32, 33, 40)):
    """Scores with ALiBi's bias, or with the distance of query and key, of as many elements as are worth evaluating."""
    n, heads = draw.choice(tokens), draw.number(1, 3)
    slopes = [2.0 ** -(i + 1) for i in range(heads)]
    distance = draw.choice([lambda i: i[None] - i[:, None], lambda i: (i[None] - i[:, None]).abs() * -1, lambda i: (i - i[:, None]).clamp(-5, 9).float()])

    def function(x):
        each = torch.full((heads,), slopes[0], device=x.device)
        return (x + each[:, None, None] * distance(torch.arange(n, device=x.device))[None]).softmax(-1)

    return function, (draw.tensor(heads, n, n, dtype=torch.float32, special=False),)


# ---- rewrites/attention.py ----


def hidden(scores, value=-math.inf):
    return scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), value)


def _spelled(draw):
    """Returns the operators between the matmuls."""
    scale = draw.choice([0.5, 2, 0.3])
    scaled = draw.choice([lambda s: s * scale, lambda s: s / scale])
    return draw.choice([
        lambda s: scaled(s).softmax(-1),
        lambda s: hidden(scaled(s)).softmax(-1),
        lambda s: scaled(hidden(s)).softmax(-1),
        lambda s: hidden(scaled(s).float()).softmax(-1).to(s.dtype),
        lambda s: F.softmax(hidden(scaled(s)), -1, dtype=torch.float32).to(s.dtype),
        lambda s: hidden(scaled(s).flatten(0, 1), LOW).view(s.shape).softmax(-1) if s.dtype != torch.float16 else scaled(hidden(s)).softmax(-1),
        lambda s: (scaled(s) + torch.full((s.shape[-2:]), -math.inf, dtype=s.dtype).triu(1)).softmax(-1),
    ])  # fmt: skip


def written_out(draw, between=None):
    special = between is None and draw.chance(0.3)
    q, k, v = heads(draw, draw.choice(HALVES), values=draw.choice([2, 3]), special=special)
    if special:
        between = lambda s: hidden(s * 0.5).softmax(-1)  # noqa: E731
    between = _spelled(draw) if between is None else between
    return lambda q, k, v: between(q @ k.mT) @ v, (q, k, v)


def returned_attention(draw, permuted=True):
    """Attention, or an elementwise result of it, whose queries are permuted."""
    count, tokens, dtype = draw.number(2, 4), draw.number(2, 7), draw.choice(HALVES)
    q, k, v = (draw.tensor(2, tokens, count, 8, dtype=dtype, special=False) for _ in range(3))
    after = draw.choice([lambda y: y, lambda y: y * 2, lambda y: y.transpose(1, 2)])

    def function(q, k, v):
        q, k, v = (x.transpose(1, 2) if permuted else x for x in (q, k, v))
        return after((q @ k.mT).softmax(-1) @ v)

    return function, (q, k, v)


def not_written_out(draw):
    if draw.chance(0.2):
        q, k, v = heads(draw, torch.float32)
        return lambda q, k, v: (q @ k.mT).softmax(-1) @ v, (q, k, v)

    def over_merged_rows(s):
        return hidden(s.reshape(1, -1, s.shape[-1])).view(s.shape).softmax(-1)

    function, (q, k, v) = written_out(draw, draw.choice([
        over_merged_rows,
        lambda s: hidden(s * 0.5, 0.0).softmax(-1),
        lambda s: (hidden(s.float(), LOW) * 1e-31).softmax(-1).to(s.dtype),
        lambda s: (hidden(s * -1) * -1).softmax(-1),
        lambda s: s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(2), -math.inf).softmax(-1) if s.shape[-1] > 2 else s.softmax(-2),
        lambda s: s.softmax(-2),
        lambda s: s.float().softmax(-1).to(torch.float8_e4m3fn).to(s.dtype),
        lambda s: (s * 0.0).softmax(-1),
    ]))  # fmt: skip
    if q.shape[1] == 1:  # merged rows are the rows of a head
        q, k, v = (x.expand(-1, 2, -1, -1).contiguous() for x in (q, k, v))
    return function, (q, k, v)


def repeated_keys(draw, repeat=None, dtype=None, masked=False):
    batch, kv, times = draw.number(1, 2), draw.extent(2, 3), draw.extent(2, 3)
    keys, size = draw.shape(2, 2, 5)
    of = lambda heads: draw.tensor(batch, heads, keys, size, dtype=dtype or draw.choice(HALVES), special=False)  # noqa: E731
    dtype = dtype or draw.choice(HALVES)
    q, k, v, bias = of(kv * times), of(kv), of(kv), draw.tensor(keys, keys, dtype=dtype, special=False)
    repeat = repeat or draw.choice([
        lambda x: x.repeat_interleave(times, 1),
        lambda x: x[:, :, None].expand(-1, -1, times, -1, -1).reshape(q.shape),
        lambda x: x.unsqueeze(2).expand(batch, kv, times, keys, size).flatten(1, 2),
    ])  # fmt: skip
    causal = draw.chance() and not masked
    return lambda q, k, v, b: F.scaled_dot_product_attention(q, repeat(k), repeat(v), b if masked else None, is_causal=causal), (q, k, v, bias)


def keys_that_remain_repeated(draw):
    """Repeated in another order; for float32; with a mask tensor."""
    kind = draw.number(0, 2)
    if kind == 0:
        def twice(x, times):
            return x[:, None].expand(-1, times, -1, -1, -1).flatten(1, 2)

        function, (q, k, v, bias) = repeated_keys(draw)
        times = q.shape[1] // k.shape[1]
        return lambda q, k, v, b: F.scaled_dot_product_attention(q, twice(k, times), twice(v, times)), (q, k, v, bias)
    return repeated_keys(draw, dtype=torch.float32) if kind == 1 else repeated_keys(draw, masked=True)


def copied(draw, returned=False):
    q, k, v = heads(draw, draw.choice(HALVES), values=3)

    def function(q, k, v):
        y = (q @ k.mT).softmax(-1) @ v
        copy = (q * 2).clone()
        return (y, copy.view(-1)) if returned else (y, copy + 1)

    return function, (q, k, v)


# ---- import_/attention.py ----


def chain(draw, factors=None):
    """Attention of a chain that no attention operator has, and in float32."""
    q, k, v = heads(draw, special=False)
    count, scale = q.shape[1], draw.choice([0.5, 0.3])
    bias = draw.tensor(*draw.choice([(count, 1, 1), (1, q.shape[2], k.shape[2]), (q.shape[2], k.shape[2]), q.shape[:3] + k.shape[2:3], (k.shape[2],)]), special=False)
    between = draw.choice([
        lambda s, b: torch.tanh(s * scale) * 2,
        lambda s, b: s * scale + b,
        lambda s, b: hidden(s + b),
        lambda s, b: hidden(torch.maximum(s, b)) * scale,
        lambda s, b: torch.where(b > 0, s, b),
    ])  # fmt: skip
    times = 2 if draw.chance() else 1

    def function(q, k, v, b):
        k, v = (x.repeat_interleave(times, 1) for x in (k, v))
        b = b if b.ndim < 3 or b.shape[-3] == 1 else b.repeat_interleave(times, -3)
        return between(q @ k.mT, b).softmax(-1) @ v

    return function, (q.repeat_interleave(times, 1), k, v, bias)


def no_chain(draw):
    """A softmax along another dimension; scores of merged rows; factors of other numbers of batches and heads."""
    n = draw.extent(2, 4)
    x, y, z = draw.tensor(n, 2 * n, n, n, special=False), draw.tensor(n, 2 * n, n, n, special=False), draw.tensor(2 * n, n, n, n, special=False)
    return draw.choice([
        lambda x, y, z: (torch.tanh(x @ y.mT).softmax(-2)) @ y,
        lambda x, y, z: torch.tanh((x.view(n, n, 2 * n, n) @ y.view(n, n, 2 * n, n).mT)).view(n, 2 * n, n, 2 * n).softmax(-1) @ y.repeat(1, 1, 2, 1),
        lambda x, y, z: (torch.tanh((x @ y.mT).view(-1, n, n)).view(2 * n, n, n, n).softmax(-1) @ z),
        lambda x, y, z: (torch.tanh(x @ y.mT).softmax(-1).to(torch.float8_e4m3fn).to(x.dtype)) @ y,
    ]), (x, y, z)  # fmt: skip


def shared_keys(draw, causal=False, masked=False):
    batch, kv, times = draw.number(1, 2), draw.extent(2, 3), draw.extent(2, 3)
    queries, keys, size = draw.shape(3, 2, 5)
    q, k, v = draw.tensor(batch, kv * times, queries, size, special=False), *(draw.tensor(batch, kv, keys, size, special=False) for _ in range(2))
    mask = draw.tensor(queries, keys, special=False)
    return lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m if masked else None, is_causal=causal, enable_gqa=True), (q, k, v, mask)


def heads_that_remain(draw):
    return shared_keys(draw, causal=True) if draw.chance() else shared_keys(draw, masked=True)


REWRITES = [
    Rewrite("selection by position", by_selection, not_by_selection,
            exact=True),
    Rewrite("added mask by position", by_sum, not_by_sum, steps=STEPS),
    Rewrite("mask of attention by position", attention_by_a_mask, attention_by_another_mask, steps=STEPS),
    Rewrite("view of a function of positions", alibi, lambda draw: alibi(draw, (8, 16)), steps=STEPS),
    Rewrite("attention written out", written_out, not_written_out, steps=STEPS),
    Rewrite("layout of a result", returned_attention,
            lambda draw: returned_attention(draw, False), steps=STEPS),
    Rewrite("repeated keys of attention", repeated_keys, keys_that_remain_repeated, steps=STEPS),
    Rewrite("copy around attention", copied, lambda draw: copied(draw, True), steps=STEPS),
    Rewrite("attention of a chain", chain, no_chain, steps=STEPS),
    Rewrite("heads as rows", shared_keys, heads_that_remain, steps=STEPS),
]  # fmt: skip
