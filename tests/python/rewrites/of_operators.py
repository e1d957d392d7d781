"""Rewrites of single operators: factors, powers, limits, norms, decompositions, constants and changes in place."""

import math

import torch

from .law import Rewrite, without_float64

F = torch.nn.functional


def in_float64(holds):
    """Returns the graphs of `holds` on float64, which programs lack where a condition is broken (law.py)."""

    def broken(draw):
        function, inputs = holds(draw)
        return function, tuple(x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs)

    return broken


# ---- aten.py ----


def sum_with_a_factor(draw):
    alpha, add = draw.choice([2, -1, 0.5, 3.25]), draw.choice([torch.add, torch.sub])
    return lambda x, y: add(x, y, alpha=alpha), (draw.tensor(*draw.shape(1), draw._last), draw.tensor(draw._last))


FACTORS = [(0, 1), (0, 2), (0.5, 1), (1, -1), (2, 0.25), (0, -0.5)]


def product(draw, factors):
    rows, columns, size = draw.shape(3)
    beta, alpha = draw.choice(factors)
    bias = draw.choice([(rows, columns), (columns,), (rows, 1)])
    given = draw.tensor(*bias, special=True), draw.tensor(rows, size, special=False), draw.tensor(size, columns, special=False)
    if draw.chance():
        return lambda b, x, y: torch.addmm(b, x, y, beta=beta, alpha=alpha), given
    batch = draw.number(1, 3)
    return lambda b, x, y: torch.baddbmm(b, x.expand(batch, rows, size), y.expand(batch, size, columns), beta=beta, alpha=alpha), given


def power(draw, exponents):
    exponent = draw.choice(exponents[draw.dtype == torch.float16])
    return lambda x: x**exponent * 2, (draw.tensor(*draw.shape(2)),)


def operand_without_dimensions(draw):
    function = draw.choice([lambda x, t: t - x, lambda x, t: x + t, lambda x, t: t / x, lambda x, t: t * x, lambda x, t: x.abs() ** t])
    x = draw.tensor(*draw.shape(2), dtype=draw.choice([torch.float16, torch.bfloat16]))
    return function, (x, torch.tensor(draw.choice([1000.3, 0.1, -7.3])))


def wide_second_operand(draw):
    function, (x, t) = operand_without_dimensions(draw)
    return draw.choice([lambda x, t: x * t, lambda x, t: x / t, lambda x, t: x.float() - t]), (x, t)


def limits(draw):
    low, high = draw.choice([(None, 0.1), (-0.1, None), (-1, 1), (0.3, 0.1), (-math.inf, 0.7), (0.2, math.inf), (2049, None)])
    return lambda x: x.clamp(low, high) - (high if low is None else low if abs(low) < 10 else 0), (draw.tensor(*draw.shape(2)),)


def limits_out_of_reach(draw):
    """No limit is a number."""
    return lambda x: x.clamp(min=math.nan) + 1, (draw.tensor(*draw.shape(2)),)


def parts_of_a_slice(draw, whole=True):
    step, start = draw.number(2, 3), 0
    columns, rows = step * draw.number(1, 4), draw.extent(2)
    start = draw.number(0, step - 1) if whole else 0
    columns += 0 if whole else 1
    return lambda x: x[:, start::step] * 2, (draw.tensor(rows, columns),)


def layer_norm(draw, dims=1):
    shape = draw.shape(3, 2)
    weights = [draw.tensor(*shape[-dims:], special=False) for _ in range(2)]
    with_weight, with_bias = draw.chance(), draw.chance()
    return lambda x, w, b: F.layer_norm(x, shape[-dims:], w if with_weight else None, b if with_bias else None), (draw.tensor(*shape), *weights)


def batch_norm(draw):
    channels = draw.extent(2)
    shape = (draw.extent(), channels, *draw.shape(draw.number(0, 2)))
    of = draw.choice([draw.dtype, torch.float32])
    mean, variance, weight, bias = (draw.tensor(channels, dtype=of, special=False) for _ in range(4))
    affine = draw.chance()
    return lambda x, m, v, w, b: F.batch_norm(x, m, v, w if affine else None, b if affine else None), (draw.tensor(*shape), mean, variance.abs(), weight, bias)


def variance(draw):
    shape = draw.shape(3, 2)
    dims, correction, keepdim = draw.choice([[-1], [0], [0, 2], None]), draw.choice([0, 1]), draw.chance()
    return lambda x: torch.var(x, dims, correction=correction, keepdim=keepdim), (draw.tensor(*shape),)


def variance_of_one(draw):
    return lambda x: torch.var(x, -1, correction=1) + 1, (draw.tensor(draw.extent(), 1),)


# ---- import_/decompositions.py ----


def variance_and_mean(draw):
    dim, correction = draw.choice([0, -1]), draw.choice([0, 1])
    # torch's mean of a row with an infinity is infinite or NaN, whichever the order of its elements gives
    return lambda x: torch.var_mean(x, dim, correction=correction), (draw.tensor(*draw.shape(2, 2), special=False),)


def group_norm(draw):
    groups, each = draw.number(1, 3), draw.number(1, 3)
    channels = groups * each
    affine = draw.chance()
    given = draw.tensor(draw.extent(), channels, *draw.shape(draw.number(1, 2), 2)), draw.tensor(channels, special=False), draw.tensor(channels, special=False)
    return lambda x, w, b: F.group_norm(x, groups, w if affine else None, b if affine else None), given


def concatenation(draw, empty=True):
    shape, dim = draw.shape(2), draw.number(0, 1)
    none = [*shape]
    none[dim] = 0 if empty else 1
    parts = [draw.tensor(*shape), draw.tensor(*none)] if draw.chance() else [draw.tensor(*none), draw.tensor(*shape), draw.tensor(*shape)]
    return lambda *parts: torch.cat(parts, dim) * 2, tuple(parts)


def gated(draw):
    dim = draw.number(0, 1)
    shape = [n * 2 for n in draw.shape(2)]
    return lambda x: F.glu(x, dim), (draw.tensor(*shape),)


def repetition(draw):
    repeats = [draw.number(1, 3) for _ in range(draw.number(2, 3))]
    return lambda x: x.repeat(repeats) * 2, (draw.tensor(*draw.shape(2)),)


def repetition_of_nothing(draw):
    return lambda x: x.repeat(0, 2) * 2, (draw.tensor(*draw.shape(2)),)


def copied_row(draw, count=1):
    shape = draw.shape(draw.number(1, 3), 2)
    dim = draw.number(0, len(shape) - 1)
    at = torch.randperm(shape[dim], generator=draw._torch)[:count]
    source = draw.tensor(*(count if d == dim else n for d, n in enumerate(shape)))
    return lambda x, at, y: x.index_copy(dim - draw.choice([0]) * len(shape), at, y), (draw.tensor(*shape), at, source)


def filling_tensor(draw):
    shape = draw.shape(2)
    return lambda x, m, v: x.masked_fill(m, v) * 2, (draw.tensor(*shape), draw.condition(*shape), draw.tensor(1)[0])


def filling_tensor_of_another_dtype(draw):
    function, (x, m, v) = filling_tensor(draw)
    return function, (x, m, v.double())


# ---- rewrites/folding.py, rewrites/in_place.py, import_/declared.py ----


def constant(draw):
    n = draw.extent(2)
    made = draw.choice([lambda: torch.arange(n).flip(0), lambda: (torch.arange(n * 2)[::2] // 2).flip(0), lambda: (torch.arange(n) + 1) % n])  # none counts up
    return lambda x: x[made()], (draw.tensor(n, draw.extent()),)


def not_constant(draw):
    return lambda x, i: x[:, None] * i, (draw.tensor(draw.extent(2)), draw.tensor(draw.extent(2)))


def constant_output(draw):
    n = draw.extent(2)
    made = draw.choice([lambda: torch.arange(n), lambda: torch.ones(n), lambda: torch.eye(n)[0]])
    return lambda x: (x * 2, made()), (draw.tensor(n),)


def computed_output(draw):
    return lambda x, i: (x * 2, i + 1), (draw.tensor(draw.extent()), draw.integers(3, low=0, high=9))


def changed_in_place(draw):
    shape = draw.shape(2, 2)
    at = torch.randperm(shape[0], generator=draw._torch)[:2]
    wide = draw.tensor(*shape, dtype=torch.float64), at, draw.tensor(2, shape[1], dtype=torch.float64)
    return lambda x, i, y: (x + 1).index_put((i,), y), wide


def changed_but_read(draw):
    shape = draw.shape(2, 2)
    at = torch.randperm(shape[0], generator=draw._torch)[:2]

    def function(x, i, y):
        z = x.frac()
        return z.index_put((i,), y), z

    return draw.choice([function, lambda x, i, y: x.index_put((i,), y)]), (draw.tensor(*shape), at, draw.tensor(2, shape[1]))


def trained_norm(draw, dtypes=(torch.float16, torch.bfloat16)):
    channels, of = draw.extent(2), draw.choice(dtypes)
    x = draw.tensor(3, channels, draw.extent(2), dtype=of, special=False)
    statistics = torch.zeros(channels, dtype=of), torch.ones(channels, dtype=of)
    return lambda x, m, v: (F.batch_norm(x, m, v, training=True), m + 1, v + 1), (x, *statistics)


REWRITES = [
    Rewrite("sum with a factor", sum_with_a_factor, in_float64(sum_with_a_factor)),
    Rewrite("product and bias with factors", lambda draw: product(draw, FACTORS), lambda draw: product(draw, [(1, 0), (0.5, 0), (0, 0)])),
    Rewrite("power as products and roots", lambda draw: power(draw, ([0.5, -0.5, 3, -1, -2], [3, -1, -2])), lambda draw: power(draw, ([2.5, 4, 1.5, -3], [0.5, -0.5, 2.5, -3]))),
    Rewrite("operand without dimensions as the result", operand_without_dimensions, wide_second_operand),
    Rewrite("limits as extremes", limits, limits_out_of_reach, exact=True),
    Rewrite("every part of a slice", parts_of_a_slice,
            lambda draw: parts_of_a_slice(draw, False), exact=True),
    Rewrite("layer norm with its statistics", layer_norm, lambda draw: layer_norm(draw, 2)),
    Rewrite("batch norm by given statistics", batch_norm, in_float64(batch_norm)),
    Rewrite("variance of a corrected count", variance, variance_of_one),
    Rewrite("variance and mean", variance_and_mean, in_float64(variance_and_mean), steps=4),
    Rewrite("group norm by its statistics", group_norm, in_float64(group_norm)),
    Rewrite("concatenation without empty tensors", concatenation,
            lambda draw: concatenation(draw, False), exact=True),
    Rewrite("gated linear unit of halves", gated, in_float64(gated)),
    Rewrite("repetition by expanding", repetition, repetition_of_nothing, exact=True),
    Rewrite("copied row by its number", copied_row,
            lambda draw: copied_row(draw, 2), exact=True),
    Rewrite("selection by a filling tensor", filling_tensor,
            filling_tensor_of_another_dtype, exact=True),
    Rewrite("constant computed while compiling", constant, not_constant, exact=True),
    Rewrite("copy of a constant output", constant_output, computed_output, exact=True),
    Rewrite("change where a tensor lies", changed_in_place, changed_but_read,
            exact=True, around=without_float64),
    Rewrite("dtype of a further result", trained_norm, lambda draw: trained_norm(draw, [torch.float32])),
]  # fmt: skip
