"""Rewrites of indices, conditions, complex numbers and constants."""

import torch

from .law import Rewrite, without_float64

F = torch.nn.functional


# ---- rewrites/numbers.py ----


def embedding(draw):
    rows, size = draw.shape(2, 2)
    index = draw.integers(*draw.shape(draw.number(1, 3), 1, 4), low=0, high=rows)
    return lambda table, i: F.embedding(i, table) * 2, (draw.tensor(rows, size), index)


def embedding_in_float64(draw):
    function, (table, index) = embedding(draw)
    return function, (table.double(), index)


def one_row(draw):
    shape = draw.shape(draw.number(1, 4), 2)
    dim = draw.number(0, len(shape) - 1)
    at = draw.number(-shape[dim], shape[dim] - 1)
    values = draw.tensor(*(1 if d == dim else n for d, n in enumerate(shape)))

    def function(x, at, values):
        x = x.clone()
        x[(*[slice(None)] * dim, at)] = values
        return x

    return function, (draw.tensor(*shape), torch.tensor([at]), values)


def pages(draw, dtype=None):
    """The pages of several sequences, as in attention over a paged cache."""
    shape = draw.shape(draw.number(3, 4))
    dtype = dtype or draw.dtype
    table = draw.integers(*draw.shape(2), low=-shape[0], high=shape[0], dtype=draw.choice([torch.int64, torch.int32]))
    return lambda x, at: x[at] * 2, (draw.tensor(*shape, dtype=dtype), table)


def pages_in_float64(draw):
    return pages(draw, torch.float64)


def bounded_row(draw, bound=True):
    """A row by a number that is in range by a remainder or a limit; without one it is checked."""
    rows, columns = draw.shape(2)
    of = draw.choice([lambda at: at % rows, lambda at: at.clamp(0, rows - 1)]) if bound else lambda at: at
    return lambda x, at, row: x.index_copy(0, of(at), row), (draw.tensor(rows, columns), torch.tensor([draw.number(0, rows - 1)]), draw.tensor(1, columns))


def several_rows(draw):
    shape = draw.shape(draw.number(1, 4), 2)
    dim, count = draw.number(0, len(shape) - 1), draw.number(2, shape[draw.number(0, 0)] + 1)
    at = draw.integers(1, low=-shape[dim], high=shape[dim]).expand(count).contiguous()
    values = draw.tensor(*(1 if d == dim else n for d, n in enumerate(shape)))

    def function(x, at, values):
        x = x.clone()
        x[(*[slice(None)] * dim, at)] = values
        return x

    return function, (draw.tensor(*shape), at, values)


COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
NUMBERS = (0, 0.1, -0.1, 1, 0.3, 2049, True, 1e-8, float("inf"), float("-inf"))


def compared(draw, x):
    """Returns a function that compares a tensor with a number, and the tensor, some of whose elements are close to it."""
    name, number = draw.choice(COMPARED), draw.choice(NUMBERS)
    near = torch.where(draw.condition(*x.shape), torch.full((), float(number)).to(x.dtype), x)
    return lambda x: getattr(torch, name)(x, number), near


def choice_of_tensors(draw):
    shape = draw.shape(draw.number(1, 3))
    condition, x = compared(draw, draw.tensor(*shape))
    return lambda x, y, z: torch.where(condition(x), y, z), (x, draw.tensor(*shape), draw.tensor(*shape[1:]))


def choice_of_integers(draw):
    function, (x, y, z) = choice_of_tensors(draw)
    return function, (x, *(draw.integers(*t.shape, low=-9, high=9, dtype=torch.int32) for t in (y, z)))


def choice_of_a_number(draw):
    shape = draw.shape(draw.number(1, 3))
    condition, x = compared(draw, draw.tensor(*shape))
    number = draw.choice([0.0, -0.0, 0.1, -1e4, float("-inf"), 3])
    if draw.chance():
        return lambda x, y: y.masked_fill(condition(x), number), (x, draw.tensor(*shape))
    return lambda x, y: torch.where(condition(x), y, number), (x, draw.tensor(*shape))


def choice_of_a_number_by_more_dimensions(draw):
    """The condition has more elements than the tensor."""
    number, shape = draw.choice([0.0, 0.1, -1e4]), draw.shape(2, 2)
    return lambda x, y: torch.where(x > 0, y, number), (draw.tensor(*shape), draw.tensor(1, shape[1]))


def condition_as_numbers(draw):
    shape = draw.shape(draw.number(1, 3))
    (first, x), (second, y) = compared(draw, draw.tensor(*shape)), compared(draw, draw.tensor(*shape))
    join = draw.choice([torch.logical_and, torch.logical_or, torch.bitwise_and, torch.bitwise_or, lambda a, b: ~a, lambda a, b: a])
    dtype = draw.dtype
    return lambda x, y: join(first(x), second(y)).to(dtype) + 1, (x, y)


def condition_of_integers(draw):
    dtype, number = draw.dtype, draw.choice([0, 1, 2.5])
    return lambda x: (x > number).to(dtype) + 1, (draw.integers(*draw.shape(2), low=-3, high=4, dtype=torch.int32),)


def product_of_complex_numbers(draw):
    *lead, size = draw.shape(draw.number(2, 3))

    def function(x, f):
        return torch.view_as_real(torch.view_as_complex(x.float()) * torch.view_as_complex(f))

    return function, (draw.tensor(*lead, size, 2, special=False), draw.tensor(lead[-1], size, 2, dtype=torch.float32, special=False))


def product_that_broadcasts_the_pairs(draw):
    """The product has more elements than its first factor."""
    rows, size = draw.shape(2, 2)

    def function(x, f):
        return torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(f)[:, None])

    return function, (draw.tensor(1, size, 2, dtype=torch.float32), draw.tensor(rows, size, 2, dtype=torch.float32))


# ---- execute/direct.py ----

_BOUND = (lambda x, i: x.cumsum(0), lambda x, i: torch.roll(x, 1, 0), lambda x, i: x.sort(-1).values, lambda x, i: torch.fmod(x, 0.7),
          lambda x, i: torch.where(x > 0, x, 2.0), lambda x, i: torch.std(x, 0, correction=0), lambda x, i: x.round(decimals=1),
          lambda x, i: i ^ 5, lambda x, i: torch.gcd(i, i + 1))  # fmt: skip


def bound(draw):
    """Operators that are left to torch."""
    shape = draw.shape(2)
    return draw.choice(_BOUND), (draw.tensor(*shape, dtype=torch.float64), draw.integers(*shape, low=-9, high=9))


def indexed(draw):
    """An operator that no function of torch has the name of."""
    rows, columns = draw.shape(2)
    return lambda x, i: x[i], (draw.tensor(rows, columns, dtype=torch.float64), draw.integers(draw.number(2, 5), low=-rows, high=rows))


REWRITES = [
    Rewrite("embedding by 32-bit numbers", embedding, embedding_in_float64, exact=True),
    Rewrite("pages by 32-bit numbers", pages, pages_in_float64, exact=True),
    Rewrite("check of numbers in range", bounded_row, lambda draw: bounded_row(draw, False), exact=True),
    Rewrite("replaced row by a 32-bit number", one_row, several_rows, exact=True),
    Rewrite("choice of tensors by numbers", choice_of_tensors, choice_of_integers, exact=True),
    Rewrite("choice of a number by numbers", choice_of_a_number, choice_of_a_number_by_more_dimensions, exact=True),
    Rewrite("comparison as numbers", condition_as_numbers, condition_of_integers, exact=True),
    Rewrite("product of complex numbers", product_of_complex_numbers, product_that_broadcasts_the_pairs),
    Rewrite("torch's own binding", bound, indexed, exact=True, around=without_float64),
]  # fmt: skip
