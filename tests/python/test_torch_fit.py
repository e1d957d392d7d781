"""What integers of several twins of a graph are of its sizes, and the values at which graphs are looked at."""

import itertools
import random
import types

import pytest

torch = pytest.importorskip("torch")
import sympy  # noqa: E402
from zellige.torch.import_ import open_graph, symbols  # noqa: E402
from zellige.torch.import_.fit import Fit  # noqa: E402

B, T, P = sympy.symbols("B T P", integer=True, positive=True)
POINTS = [{B: 11, T: 257, P: 31}, {B: 13, T: 262, P: 37}, {B: 22, T: 263, P: 34}]


def values(expr, points=POINTS):
    return [int(expr.xreplace({s: sympy.Integer(n) for s, n in p.items()})) for p in points]


def test_sums_of_two_products_are_found():
    """At any other values, too: the one product or sum that has the numbers at the points is the right one."""
    draws, fit = random.Random(5), Fit([B, T, P], POINTS)
    products = [B**i * T**j * P**k for i, j, k in itertools.product(range(3), repeat=3) if i + j + k <= 3]
    for _ in range(400):
        terms = draws.sample(products, draws.choice((1, 2)))
        expr = sum(draws.choice((1, 2, 3, 4, 7, 8, 16, 64, 128, 4096, -1)) * t for t in terms)
        assert sympy.expand(fit.expression(values(expr)) - expr) == 0, expr


@pytest.mark.parametrize("numbers", [[1, 2, 4], [128, 131, 131], [257 // 3, 262 // 3, 263 // 3], [257**3, 262**3, 263**3]])
def test_other_numbers_are_none(numbers):
    assert Fit([T], [{T: p[T]} for p in POINTS]).expression(numbers) is None


def test_a_fit_is_an_entry_of_a_graph():
    fit = Fit.named({T: "T", P: "P"}, POINTS, {T: (1, 512), P: (2, 64)}, {T: 300, P: 31})
    assert fit.text(values(T + P)) == "T + P" and fit.text(values(4 * T - 8)) == "4 * T - 8" and fit.text(values(T * P * 64)) == "64 * T * P"
    assert [d.form() for d in fit.dims] == [{"min": 1, "max": 512, "typical": [300]}, {"min": 2, "max": 64, "typical": [31]}]


def environment(guards=()):
    return types.SimpleNamespace(guards=[types.SimpleNamespace(expr=g) for g in guards])


def points(hints, ranges, guards=()):
    return symbols._points(environment(guards), hints, ranges, 4)


def test_points_are_near_the_hints_and_all_different():
    found = points({B: 2, T: 300}, {B: (2, 256), T: (2, 8192)})
    numbers = [int(n) for p in found for n in p.values()]
    assert len(set(numbers)) == 8 and all(11 <= p[B] < 60 and 300 <= p[T] < 400 for p in found)
    assert {int(p[T]) % 2 for p in found} == {0, 1}


def test_points_obey_guards():
    even = points({T: 8}, {T: (2, 8192)}, [sympy.Eq(sympy.Mod(T, 4), 0)])
    assert len(even) == 4 and all(p[T] % 4 == 0 for p in even)
    multiples = points({B: 3, T: 12}, {B: (2, 256), T: (2, 8192)}, [sympy.Eq(sympy.Mod(T, B), 0)])
    assert len(multiples) == 4 and all(p[T] % p[B] == 0 for p in multiples)


def test_too_few_values_are_refused():
    with pytest.raises(symbols.Unfit) as why:
        points({T: 3}, {T: (2, 4)})
    assert str(why.value) == "has too few values for T: expected 4 at which torch's guards hold, found 3"


def test_a_graph_whose_twins_differ_is_refused():
    """As where a rewrite is applied at some sizes only."""

    def twin(rows, double):
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        y = graph.call_function(torch.mul, (x, 2)) if double else graph.call_function(torch.relu, (x,))
        graph.output(y)
        return torch.fx.GraphModule({}, graph)

    sizes = types.SimpleNamespace(points=[{T: 17}, {T: 19}, {T: 22}, {T: 23}], expression=lambda numbers: numbers[0])
    with pytest.raises(symbols.Unfit, match="and other operators at others"):
        open_graph.joined([twin(17, True), twin(19, True), twin(22, False)], sizes)
    assert open_graph.joined([twin(n, True) for n in (17, 19, 22)], sizes) is not None


def test_what_a_part_has_sizes_of():
    floor = torch.utils._sympy.functions.FloorDiv
    assert open_graph._atoms(4 * T * P + 8) == [P, T] or open_graph._atoms(4 * T * P + 8) == [T, P]
    assert open_graph._atoms(floor(T, 2) + 1) == [floor(T, 2) + 1] and open_graph._atoms(3 * P * floor(T, 2)) in ([P, floor(T, 2)], [floor(T, 2), P])
