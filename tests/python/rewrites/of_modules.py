"""Rewrites of operators that modules of torch.nn and layers of experts call."""

import torch

from .law import Rewrite
from .of_expansions import in_float64

F = torch.nn.functional


def bilinear(draw, same=True):
    a, b, out, batch = draw.shape(4)
    given = [draw.tensor(*s, special=False, dtype=torch.float32) for s in ((batch, a), (batch, b), (out, a, b))]
    if same:
        return lambda x, y, w: F.bilinear(x, y, w), given
    return lambda x, y, w: torch._trilinear(x, w, y, [1, 3], [0], [1, 2], [3]), given


def bags(draw, equal=True):
    rows, length, count, mode = draw.extent(2), draw.number(2, 4), draw.number(2, 4), draw.choice(["sum", "mean", "max"])
    weight, numbers = draw.tensor(rows, draw.extent(), special=False, dtype=torch.float32), draw.integers(count, length, low=0, high=rows)
    if equal:
        factors = [draw.tensor(count, length, dtype=torch.float32, special=False)] if mode == "sum" and draw.chance() else []
        return lambda w, n, *f: F.embedding_bag(n, w, mode=mode, per_sample_weights=f[0] if f else None), (weight, numbers, *factors)
    begins = torch.tensor([0, 1, *range(2 * length, count * length, length)])
    return lambda w, n, begins: F.embedding_bag(n.reshape(-1), w, begins, mode=mode), (weight, numbers, begins)


def groups(draw):
    """Some of them without rows."""
    rows, count, inner, outer = draw.number(1, 9), draw.number(1, 4), 8 * draw.number(1, 2), 8 * draw.number(1, 2)
    ends = draw.integers(count, low=0, high=rows + 1, dtype=torch.int32).sort().values
    ends[-1] = rows
    x, w = (draw.tensor(*s, dtype=torch.bfloat16, special=False) for s in ((rows, inner), (count, inner, outer)))
    return lambda x, w, ends: torch._grouped_mm(x, w, offs=ends), (x, w, ends)


def parts_of_k(draw):
    """Groups along the inner dimension, each of which has a product."""
    x, w = (draw.tensor(*s, dtype=torch.bfloat16, special=False) for s in ((8, 16), (16, 8)))
    return lambda x, w: torch._grouped_mm(x, w, offs=torch.tensor([8, 16], dtype=torch.int32)), (x, w)


def counts(draw, known=True):
    n = draw.number(2, 6)
    x = draw.integers(draw.number(1, 20), low=0, high=n)
    return (lambda x: torch.histc((x % n if known else x).float(), bins=n, min=0, max=n - 1)), (x,)


def added(draw, ordered=True):
    rows, each, columns = draw.number(2, 5), draw.number(1, 3), draw.extent()
    given = draw.tensor(rows, columns, special=False), draw.tensor(rows * (each if ordered else 1), columns, special=False)
    make = draw.choice([lambda x: x, torch.zeros_like])

    def function(x, y):
        at = torch.arange(rows).unsqueeze(1).expand(-1, each).reshape(-1) if ordered else torch.arange(rows - 1, -1, -1)
        return make(x).index_add(0, at, y)

    return function, given


def transposed(draw):
    n, groups, kernel = draw.number(1, 2), draw.number(1, 2), draw.number(2, 3)
    stride = draw.number(1, 2) if kernel == 3 else 1
    options = {"stride": stride, "padding": draw.number(0, 2), "dilation": draw.number(1, 2), "groups": groups, "output_padding": draw.number(0, stride - 1)}
    x = draw.tensor(draw.number(1, 2), 2 * groups, *(draw.number(4, 6) for _ in range(n)), dtype=torch.float32, special=False)
    w = draw.tensor(2 * groups, draw.number(1, 3), *[kernel] * n, dtype=torch.float32, special=False)
    b = [draw.tensor(w.shape[1] * groups, dtype=torch.float32, special=False)] if draw.chance() else []
    return lambda x, w, *b: (F.conv_transpose1d, F.conv_transpose2d)[n - 1](x, w, *b, **options), (x, w, *b)


def unpooled(draw):
    n = draw.number(1, 2)
    x = draw.tensor(draw.number(1, 2), draw.number(1, 3), *(2 * draw.number(1, 3) for _ in range(n)), special=False, dtype=torch.float32)
    values, places = (F.max_pool1d, F.max_pool2d)[n - 1](x, 2, return_indices=True)
    return lambda x, at: (F.max_unpool1d, F.max_unpool2d)[n - 1](x, at, 2), (values, places)


def adaptive_maxima(draw):
    n = draw.number(1, 3)
    sizes = [draw.number(3, 7) for _ in range(n)]
    out = [draw.number(1, s) for s in sizes]
    places = all(s % o == 0 for s, o in zip(sizes, out)) and draw.chance()
    pool = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[n - 1]
    return lambda x: pool(x, out, return_indices=places), (draw.tensor(draw.number(1, 2), 2, *sizes, dtype=torch.float32),)


REWRITES = [
    Rewrite("bilinear product of matrices", bilinear, lambda draw: bilinear(draw, False), steps=64),
    Rewrite("bags of equal length", bags, lambda draw: bags(draw, False), steps=16),
    Rewrite("products of groups by their rows", groups, parts_of_k, steps=16),
    Rewrite("counts by comparisons", counts, lambda draw: counts(draw, False), exact=True),
    Rewrite("rows added in their order", added, lambda draw: added(draw, False), steps=16),
    Rewrite("transposed convolution of spread elements", transposed, in_float64(transposed), steps=64),
    Rewrite("unpooling by a scatter", unpooled, in_float64(unpooled), exact=True),
    Rewrite("adaptive max pool of windows", adaptive_maxima, in_float64(adaptive_maxima), exact=True),
]
