"""Small functions with one or two open extents, at ten random sizes each, among them 1, 2 and odd ones: compiled once, twice where 1 and others
differ, and equal to eager. ZELLIGE_ALL=1 takes all of them, and counts what is left to torch."""

import os
import random
import unittest.mock
import warnings

import pytest

torch = pytest.importorskip("torch")
from open_functions import FUNCTIONS  # noqa: E402
from rewrites import law  # noqa: E402
from rewrites.draws import Draw  # noqa: E402
from torch.utils._pytree import tree_flatten  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.execute import open_part, part  # noqa: E402

SEED, GREATEST, MIN_TAKEN = 60, 62, 0.85
ALL = "ZELLIGE_ALL" in os.environ
NAMES = list(FUNCTIONS) if ALL else ["relative bias", "argmax"]


def sizes(name, count):
    choice = random.Random(f"{SEED} {name}")
    drawn = [(choice.randint(3, 40), choice.randint(41, 60)) for _ in range(count)]
    return [*drawn, (2, 7), (17, 3), (1, 5), (GREATEST, 2)]


def marked(make, draw, t, u):
    """Returns the inputs of a function for two extents, on which all depend that are marked as dynamic."""
    given = make(draw, t, u)
    for x, *others in zip(given, make(Draw("", 0), t + 1, u), make(Draw("", 0), t, u + 1)):
        for d in range(x.ndim):
            if any(y.shape[d] != x.shape[d] for y in others):
                torch._dynamo.maybe_mark_dynamic(x, d)
    return given


def run(name, count):
    """Checks a function at its sizes. Returns its reports."""
    (function, make), draw, programs = FUNCTIONS[name], Draw(f"{SEED} {name}", 0), law.by_reference(fuse=True)
    torch._dynamo.reset()
    torch_backend.reports.clear()
    compiled = torch.compile(function, backend=torch_backend.backend, options={"take": "all"})
    with torch.no_grad(), warnings.catch_warnings(), unittest.mock.patch.object(part, "_native", programs), unittest.mock.patch.object(open_part, "_native", programs):
        warnings.simplefilter("ignore")
        for t, u in sizes(name, count):
            given = marked(make, draw, t, u)
            for x, y in zip(*(tree_flatten(f(*given))[0] for f in (compiled, function)), strict=True):
                assert x.stride() == y.stride(), (t, u)
                torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5, msg=lambda why: f"{name} at {t} and {u}: {why}")  # noqa: B023
    return list(torch_backend.reports)


@pytest.mark.parametrize("name", NAMES)
def test_random_sizes_compile_once(name, record_property):
    reports = run(name, 6 if ALL else 1)
    record_property("taken", [(r.taken, r.operators) for r in reports])
    assert len(reports) <= 2 and not any(r.specialised for r in reports), "\n".join(map(str, reports))
    _COUNTED.append((reports[0].taken, reports[0].operators))


_COUNTED = []


def test_few_operators_are_left():
    taken, operators = map(sum, zip(*_COUNTED))
    assert len(_COUNTED) == len(NAMES) and taken >= MIN_TAKEN * operators, f"{taken} of {operators} operators are in programs"
