"""Rewrites that expand operators, and those of tensors without elements or of one number."""

import torch

from .law import Rewrite

F = torch.nn.functional


def in_float64(holds):
    """Returns the graphs of `holds` on float64, which programs lack where a condition is broken (law.py)."""

    def broken(draw):
        function, inputs = holds(draw)
        return function, tuple(x.double() if x.is_floating_point() else x for x in inputs)

    return broken


def traced_recurrence():
    return torch._dynamo.config.patch(allow_rnn=True)


def nothing(draw, rows=0):
    columns = draw.extent()
    function = draw.choice([lambda x: torch.relu(x), lambda x: x.sum(0) + 1, lambda x: x.flip(1) * 2, lambda x: x.mean(0)])
    return function, (draw.tensor(rows, columns),)


def one_number(draw, like=True):
    made = draw.choice([torch.zeros_like, torch.ones_like, lambda x: torch.full_like(x, 2.5)])
    return (lambda x: x + made(x)) if like else (lambda x: x + 1), (draw.tensor(*draw.shape(2)),)


def padded(draw):
    before, after, value = draw.number(-1, 2), draw.number(0, 2), draw.choice([0.0, 1.5])
    return lambda x: F.pad(x, (before, after, 1, 0), value=value) * 2, (draw.tensor(draw.extent(), draw.extent(2)),)


def distances(draw, exponents=(1.0, 2.0, float("inf"))):
    p, size = draw.choice(exponents), draw.extent()
    return lambda x, y: torch.cdist(x, y, p=p), tuple(draw.tensor(draw.extent(2), size, special=False, dtype=torch.float32) for _ in range(2))


def moved(draw):
    function = draw.choice([
        lambda x: x.flip(0), lambda x: x.flip(0, 1), lambda x: x.roll(1, -1), lambda x: x.diagonal() * 2, lambda x: x.unfold(0, 2, 1) + 1,
        lambda x: F.pad(x, (1, 1), mode="reflect"), lambda x: F.pad(x, (2, 1), mode="replicate"), lambda x: F.interpolate(x[None], size=3),
    ])  # fmt: skip
    return function, (draw.tensor(draw.extent(2), draw.extent(5, 8)),)


def extremes(draw):
    dim = draw.choice([0, 1, -1])
    function = draw.choice([lambda x: x.argmax(dim), lambda x: x.argmin(dim, keepdim=True), lambda x: x.argmax(), lambda x: tuple(x.max(dim)), lambda x: tuple(x.min(dim, keepdim=True))])
    x = draw.tensor(*draw.shape(2))
    return function, (x.round() if draw.chance() else x,)


def running(draw):
    dim = draw.choice([0, 1])
    return lambda x: x.cumsum(dim), (draw.tensor(draw.extent(), draw.choice([3, 64, 70, 130]), special=False),)


def selected(draw):
    rows, columns = draw.shape(2, 2)
    function = draw.choice([lambda x, i: x[i], lambda x, i: x.index_select(0, i), lambda x, i: x.gather(0, i[:, None].expand(-1, x.shape[1]))])
    return function, (draw.tensor(rows, columns), draw.integers(draw.extent(), low=0, high=rows))


def of_row(draw, computed=True):
    rows, size, count = draw.extent(2), draw.extent(2, 9), draw.number(1, 4)
    make = draw.choice([torch.neg, torch.relu, lambda x: x.masked_fill(x > 1, 0.5)]) if computed else lambda x: x
    return lambda x, at: make(x).gather(-1, at), (draw.tensor(rows, size), draw.integers(rows, count, low=0, high=size))


def large(draw, rows=32):
    value = draw.choice([0.0, 1.5, -2.0])
    return lambda x: torch.cat([torch.full((rows, 40), value, dtype=x.dtype) + x, torch.zeros_like(x)]), (draw.tensor(rows, 40),)


def positions(draw):
    rows, start = draw.number(4, 9), draw.number(0, 2)
    return lambda x: (torch.arange(start, x.shape[0] + start) + torch.arange(x.shape[0])) * 2 - x, (draw.integers(rows, low=0, high=9),)


def replaced(draw):
    rows, columns, count = *draw.shape(2, 2), draw.extent()
    function = draw.choice([lambda x, i, y: x.scatter_add(0, i, y), lambda x, i, y: x.scatter(0, i, y), lambda x, i, y: x.scatter(0, i, 2.0),
                            lambda x, i, y: x.scatter_reduce(0, i, y, "amax"), lambda x, i, y: x.scatter_reduce(0, i, y, "amin")])  # fmt: skip
    return function, (draw.tensor(rows, columns, special=False), draw.integers(count, columns, low=0, high=rows), draw.tensor(count, columns, special=False))


def pooled(draw, average=True):
    """A pool of one to three dimensions, with any stride and padding, and for a maximum any dilation."""
    n, kernel = draw.number(1, 3), draw.number(1, 3)
    sizes = [draw.number(2 * kernel, 2 * kernel + 3) for _ in range(n)]
    options = {"stride": draw.choice([None, 1, 2, 3]), "padding": draw.number(0, kernel // 2), "ceil_mode": draw.chance()}
    if average:
        options["count_include_pad"] = draw.chance()
        pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[n - 1]
    else:
        options["dilation"] = draw.number(1, 2) if kernel > 1 else 1
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
        options["return_indices"] = n > 1 and draw.chance()
    return lambda x: pool(x, kernel, **options), (draw.tensor(draw.number(1, 2), draw.number(1, 3), *sizes, special=False, dtype=torch.float32),)


def adaptive(draw):
    n = draw.number(1, 3)
    sizes = [draw.number(3, 7) for _ in range(n)]
    out = [draw.number(1, s) for s in sizes]
    pool = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[n - 1]
    out[-1] = 2 if sizes[-1] % 2 else sizes[-1] - 1  # of windows of one size it is a mean before
    return lambda x: pool(x, out), (draw.tensor(draw.number(1, 2), 2, *sizes, special=False, dtype=torch.float32),)


def overlapped(draw):
    kernel, stride, dilation, padding = ([draw.number(low, high) for _ in range(2)] for low, high in ((1, 3), (1, 2), (1, 2), (0, 1)))
    blocks = [draw.number(1, 3) for _ in range(2)]
    size = [(b - 1) * t + d * (k - 1) + 1 - 2 * p for b, t, d, k, p in zip(blocks, stride, dilation, kernel, padding)]
    size = [s if s > 0 else s + 2 * p for s, p in zip(size, padding)]
    blocks = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(size, padding, dilation, kernel, stride)]
    x = draw.tensor(draw.number(1, 2), 2 * kernel[0] * kernel[1], blocks[0] * blocks[1], special=False, dtype=torch.float32)
    return lambda x: F.fold(x, size, kernel, dilation, padding, stride), (x,)


def ordered(draw):
    """With equal elements, infinities, zeros of both signs and NaNs."""
    rows, n = draw.extent(), draw.choice([1, 2, 5, 17])
    x = draw.tensor(rows, n).round() if draw.chance() else draw.integers(rows, n, low=-3, high=4)
    x = torch.where(x > 1, float("nan"), x) if x.is_floating_point() and draw.chance() else x
    dim, down, k = draw.choice([0, -1]), draw.chance(), draw.number(1, n)
    function = draw.choice([lambda x: tuple(x.sort(dim=dim, stable=True, descending=down)), lambda x: x.argsort(dim, descending=down),
                            lambda x: x.topk(k, -1, largest=down).values])  # fmt: skip
    return function, (x,)


def filled(draw):
    rows, columns = draw.shape(2)
    return lambda x, y: x.masked_scatter(x > 0, y), (draw.tensor(rows, columns), draw.tensor(columns, rows + draw.number(0, 2)))


def shorter(draw):
    """From fewer elements, of which torch raises an error if the mask has more."""
    return lambda x, y: x.masked_scatter(torch.isnan(x), y), (draw.tensor(3, 4), draw.tensor(1, 1))


def pairs(draw, exponents=(1.0, 2.0, float("inf"))):
    p = draw.choice(exponents)
    return lambda x: torch.pdist(x, p), (draw.tensor(draw.number(2, 6), draw.extent(), special=False, dtype=torch.float32),)


def encoder(draw, masked=False):
    heads, first, gelu = draw.number(1, 2), draw.chance(), draw.chance()
    width, dtype = 4 * heads, draw.choice([torch.float32, torch.bfloat16])
    shapes = [(3 * width, width), (3 * width,), (width, width), (width,), *[(width,)] * 4, (8, width), (8,), (width, 8), (width,)]
    given = [draw.tensor(*s, dtype=dtype, special=False) for s in ((draw.extent(), 3, width), *shapes)]
    if masked:
        given.append(torch.ones(3, 3, dtype=torch.bool).triu(1))

    def function(x, qkv, qkv_bias, out, out_bias, *w):
        mask = (w[8], 0) if masked else ()
        return torch._transformer_encoder_layer_fwd(x, width, heads, qkv, qkv_bias, out, out_bias, gelu, first, 1e-5, *w[:8], *mask)

    return function, given


def recurrent(draw):
    size, hidden, steps = draw.shape(3)
    made = torch.nn.LSTM(size, hidden, draw.number(1, 2), bias=draw.chance()).eval()
    return made, (draw.tensor(steps, draw.extent(), size, dtype=torch.float32, special=False),)


def attention(draw, weights=False):
    heads, dtype = draw.number(1, 2), draw.choice([torch.float32, torch.bfloat16])
    width = 4 * heads
    shapes = (draw.extent(), 3, width), (3 * width, width), (3 * width,), (width, width), (width,)
    given = [draw.tensor(*s, dtype=dtype, special=False) for s in shapes]
    return lambda x, *w: torch._native_multi_head_attention(x, x, x, width, heads, *w, need_weights=weights)[0], given


REWRITES = [
    Rewrite("cells of an LSTM", recurrent, in_float64(lambda draw: (torch.nn.Linear(3, 3).double(), (draw.tensor(3, 3),))), around=traced_recurrence, steps=16),
    Rewrite("layer of an encoder", encoder, lambda draw: encoder(draw, True), steps=64),
    Rewrite("attention of a layer", attention, lambda draw: attention(draw, True), steps=16),
    Rewrite("operator without elements", nothing, lambda draw: nothing(draw, 2)),
    Rewrite("tensor of one number", one_number, lambda draw: one_number(draw, False), exact=True),
    Rewrite("padding by concatenation", padded, in_float64(padded), exact=True),
    Rewrite("distances of rows", distances, lambda draw: distances(draw, (3.0, 0.5)), steps=16),
    Rewrite("average pool of views", pooled, in_float64(pooled), steps=16),
    Rewrite("max pool of views", lambda draw: pooled(draw, False), in_float64(lambda draw: pooled(draw, False)), exact=True),
    Rewrite("average pool by constant numbers", adaptive, in_float64(adaptive), steps=16),
    Rewrite("overlapping windows by constant numbers", overlapped, in_float64(overlapped), steps=16),
    Rewrite("order by comparisons", ordered, lambda draw: (lambda x: x.sort(0), (torch.arange(513, 0, -1, dtype=torch.float32),)), exact=True),
    Rewrite("masked elements by a running count", filled, shorter, exact=True),
    Rewrite("distances of pairs", pairs, lambda draw: pairs(draw, (3.0, 0.5)), steps=16),
    Rewrite("movement by constant numbers", moved, in_float64(moved), exact=True),
    Rewrite("place of an extreme", extremes, in_float64(extremes), exact=True),
    Rewrite("running sum in blocks", running, in_float64(running), steps=64),
    Rewrite("elements of a row by comparison", of_row, lambda draw: of_row(draw, False), exact=True),
    Rewrite("number in a large shape", large, lambda draw: large(draw, 5), exact=True),
    Rewrite("positions up to an open size", positions, in_float64(lambda draw: (lambda x: torch.arange(x.shape[0], dtype=x.dtype) * 2 - x, (draw.tensor(7),))), exact=True, dynamic=True),
    Rewrite("elements by numbers", selected, in_float64(selected), exact=True),
    Rewrite("elements replaced by numbers", replaced, in_float64(replaced), steps=4),
]
