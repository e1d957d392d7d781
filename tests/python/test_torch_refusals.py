"""What eager torch refuses is refused, with its type of error, and numbers are those of eager torch. From bug reports."""

import pytest
import zellige  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
from rewrites import law  # noqa: E402

F = torch.nn.functional
half, table, cache = torch.randn(2, 3, 4).half(), torch.randn(8, 2), torch.zeros(1, 1, 8, 2)


def put(c, k, at):
    c[:, :, at] = k
    return c * 2


def copy(c, k, at):
    return c.index_copy_(2, at, k) * 2


def look_up(w, i):
    return F.embedding(i, w) * 2


BEYOND = (8, -9, 2**32, 2**32 + 1, -(2**32), 2**31, 2**40)
INDICES = [(put, (cache, torch.ones(1, 1, 1, 2), torch.tensor([i]))) for i in BEYOND]
INDICES += [(copy, (cache, torch.ones(1, 1, 1, 2), torch.tensor([i]))) for i in (*BEYOND, -1)]
INDICES += [(look_up, (table, torch.tensor([0, i]))) for i in (*BEYOND, -1)]
INDICES += [(look_up, (table, torch.tensor([0, i], dtype=torch.int32))) for i in (8, -1)]
REFUSED = INDICES + [
    (lambda a, b: a @ b, (half, torch.randn(2, 4, 5))),
    (lambda x: x.clamp(min=-1e9) + 1, (half,)),
    (lambda x: x.clamp(max=3.4e39) + 1, (half.float(),)),
    (lambda x: x.masked_fill(x > 0, -1e9) + 1, (half,)),
    (lambda x: F.hardtanh(x, -1e9, 0) + 1, (half,)),
    (lambda b, x, w: torch.addmm(b, x, w), (torch.randn(5), half[0], torch.randn(4, 5).half())),
    (lambda b, x, w: torch.addmm(b, x, w), (torch.randn(2, 5), torch.randn(1, 4), torch.randn(4, 5))),
    (lambda x, y: torch.addmv(x, y, x) + 1, (torch.ones(3, dtype=torch.int8), torch.randn(3, 3))),
    (lambda x: x.select(1, 4) * 2, (torch.randn(3, 4),)),
    (lambda x: torch.logaddexp(x, x) + 1, (torch.ones(3, dtype=torch.int32),)),
    (lambda x: F.hardswish(x) + 1, (torch.ones(3, dtype=torch.int8),)),
]


@pytest.mark.parametrize("function, inputs", REFUSED)
def test_what_eager_torch_refuses_raises_its_error(function, inputs):
    with pytest.raises(Exception) as expected:
        law.eager(function, inputs)
    with pytest.raises(type(expected.value)):
        law.compiled(function, inputs)


@pytest.mark.parametrize("i", [0, 7, -1, -8])
def test_a_row_of_a_cache_is_replaced(i):
    given = torch.randn(1, 1, 8, 2), torch.ones(1, 1, 1, 2), torch.tensor([i])
    assert law.difference(put, given, law.compiled(put, given).results, True) is None


def test_a_changed_argument_is_returned_where_a_part_changes_it():
    def appended(c, k, at):
        return c.index_copy_(2, at, k), k * 2

    def added(x):
        a, b = x.chunk(2)
        a.add_(b)
        return x

    for function, given in ((appended, (torch.randn(1, 1, 8, 2), torch.ones(1, 1, 1, 2), torch.tensor([3]))), (added, (torch.randn(4, 4),))):
        run = law.compiled(function, given)
        assert run.parts == 1 and law.difference(function, given, run.results, True) is None


nan = torch.full((4, 5), torch.nan)
EQUAL = {
    "a bias with the factor 0": (lambda b, x, w: torch.addmm(b, x, w, beta=0), (nan, torch.ones(4, 3), torch.ones(3, 5))),
    "a product with the factor 0": (lambda b, x, w: torch.addmm(b, x, w, alpha=0), (torch.ones(4, 5), nan, torch.ones(5, 5))),
    "a batch of one": (lambda b, x, w: torch.baddbmm(b, x, w, beta=0), (nan[None], torch.ones(1, 4, 3), torch.ones(1, 3, 5))),
    "infinities of one batch with the factor 0": (lambda b, x, w: torch.baddbmm(b, x, w, alpha=0), (torch.ones(1, 4, 5), nan[None] - torch.inf, torch.ones(1, 5, 5))),
    "an exponent": (lambda x: (x**0.3, x**0.7, x**0.5), (torch.tensor([1e38, 3.0]).bfloat16(),)),
    "a root of f16": (lambda x: (x**0.5, x**-0.5), (torch.tensor([-0.0, -torch.inf, 4.0]).half(),)),
    "numbers that float32 does not reach": (lambda x: (x * 1e39, x / 1e-46, x + 1e300), (torch.tensor([0.25, -3.0, 0.0]),)),
    "a sum that is beyond f16": (lambda x: x + 16777217, (torch.tensor([-torch.inf, 1.0]).half(),)),
    "a difference from a tensor without dimensions": (lambda t, x: t - x, (torch.tensor(1000.3), torch.tensor([3.0, -5.0]).half())),
    "at least": (lambda x: torch.where(x >= 0.1, x, -x), (torch.tensor([0.1, 0.2]).half(),)),
    "filled": (lambda x: x.masked_fill(x <= 0.1, 0.0) + 1, (torch.tensor([0.1, 0.2]).bfloat16(),)),
    "equal": (lambda x: (x == 2049).half(), (torch.tensor([2048.0, 2050.0]).half(),)),
    "a shrunken number": (lambda x: F.hardshrink(x, 0.3), (torch.tensor([0.3, 0.5]).bfloat16(),)),
    "a difference": (lambda x: x - 0.1, (torch.tensor([0.1, 0.5]).bfloat16(),)),
    "zeros of both signs": (lambda x, c: (torch.where(c, x, 0.0), torch.where(c, x, -0.0)), (torch.ones(4), torch.tensor([True, False, True, False]))),
    "shifts": (lambda i, x: (i << 1, i >> 1, x * 2), (torch.tensor([1, 5]), torch.ones(2))),
    "shifts in place": (lambda i, x: (i.clone().__ilshift__(1), x * 2), (torch.tensor([1, 5]), torch.ones(2))),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_numbers_are_those_of_eager_torch(name):
    function, inputs = EQUAL[name]
    assert law.difference(function, inputs, law.compiled(function, inputs).results, True) is None
