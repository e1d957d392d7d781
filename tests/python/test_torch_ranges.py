"""Bounds of integers that topk and sort return: what they decide, and that nothing else changes."""

import operator

import pytest

torch = pytest.importorskip("torch")
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from rewriting import rewrite  # noqa: E402
from zellige.torch.import_ import schema  # noqa: E402
from zellige.torch.rewrites import ranges  # noqa: E402

aten = torch.ops.aten
DECIDED, NARROW = "selection that bounds decide", "sort of narrow integers"


def traced(function, *inputs):
    with torch.no_grad():
        module = make_fx(function, tracing_mode="fake")(*inputs)
    schema.bind(module.graph)
    module.graph.eliminate_dead_code()
    return module


def after(rules, function, *inputs):
    """Returns (the module after rewrites, its operators); its results are those of the function."""
    module = traced(function, *inputs)
    rewrite(module.graph, *rules)
    module.graph.lint()
    module.recompile()
    found, expected = module(*inputs), function(*inputs)
    for f, e in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert torch.equal(f, e) and f.dtype == e.dtype
    return module, {n.target for n in module.graph.nodes}


def experts_of(x):
    return torch.topk(x, 2, -1)[1].reshape(-1)


X = torch.randn(70, 8)


def test_bounds():
    def function(x):
        i = experts_of(x)
        s, p = torch.sort(i)
        return s.int().unsqueeze(0), p, s.float(), s.half(), i + 1, x, torch.topk(x, 2, 0)[1], s.long().clone()

    output = next(iter(traced(function, X).graph.find_nodes(op="output")))
    assert [ranges.upper_bound(n) for n in output.args[0]] == [8, 140, 8, None, None, None, 70, 8]


@pytest.mark.parametrize(
    "compared, decides",
    [(lambda i: i >= 8, True), (lambda i: i >= 7, False), (lambda i: i > 7, True), (lambda i: i > 6, False), (lambda i: i < 0, True), (lambda i: i < 8, True),
     (lambda i: i < 7, False), (lambda i: i <= 7, True), (lambda i: i <= 6, False), (lambda i: i == 8, True), (lambda i: i == 7, False), (lambda i: i != -1, True),
     (lambda i: ~(i >= 8), False), (lambda i: torch.logical_not(i >= 8), True)],
)  # fmt: skip
def test_selections_that_bounds_decide(compared, decides):
    def function(x, y):
        mask = compared(torch.sort(experts_of(x))[0]).unsqueeze(-1)
        return torch.where(mask, y, y * 2) + 1, y.masked_fill(torch.logical_not(compared(experts_of(x))).unsqueeze(-1), 3.0) + 1

    _, operators = after([DECIDED], function, X, torch.randn(140, 4))
    assert (aten.where.self in operators) != decides


def test_masks_of_experts_elsewhere_vanish():
    """Of numbers that no expert has, as in transformers' experts in parallel."""

    def function(x, y):
        mask = (torch.sort(experts_of(x))[0] >= 8).unsqueeze(-1)
        return y.masked_fill(mask, 0.0) * 2, experts_of(x).clamp(0, 7) + 1, experts_of(x).clamp(max=6) + 1

    module, operators = after([DECIDED], function, X, torch.randn(140, 4))
    assert not {aten.masked_fill.Scalar, aten.ge.Scalar} & operators
    assert len(module.graph.find_nodes(op="call_function", target=aten.clamp.default)) == 1


def test_results_have_memory_of_their_own():
    _, operators = after([DECIDED], lambda x, y: y.masked_fill(experts_of(x)[:4] >= 8, 0.0).unsqueeze(0), X, torch.randn(4))
    assert aten.masked_fill.Scalar in operators


def test_a_selection_of_another_dtype_is_kept():
    _, operators = after([DECIDED], lambda x, y: torch.where(experts_of(x)[:4] >= 8, y.double(), y) + 1, X, torch.randn(4))
    assert aten.where.self in operators


@pytest.mark.parametrize("experts, dtype", [(8, torch.int8), (128, torch.int8), (129, torch.int16), (40000, torch.int32)])
def test_sorts_of_few_numbers_are_narrow(experts, dtype):
    def function(x):
        s, p = torch.sort(torch.topk(x, 70, -1)[1].reshape(-1), stable=True) if experts > 1000 else torch.sort(experts_of(x), stable=True)
        return torch.searchsorted(s, torch.arange(min(experts, 100)), right=True, out_int32=True), p

    module, _ = after([NARROW], function, torch.randn(70 if experts < 1000 else 2, experts))
    (sort,) = (n for n in module.graph.nodes if n.target in ranges.SORTS)
    assert sort.args[0].meta["val"].dtype == dtype == sort.meta["val"][0].dtype
    (search,) = module.graph.find_nodes(op="call_function", target=aten.searchsorted.Tensor)
    assert search.args[1].meta["val"].dtype == dtype and len(module.graph.find_nodes(op="call_function", target=aten.arange.default)) == 1


def test_other_sorts_are_kept():
    """Where the sorted numbers are read, nothing is known of them, they are few, or more is searched than they can be."""
    for function in (
        lambda x: torch.sort(experts_of(x)),
        lambda x: torch.sort(x.flatten().long())[1],
        lambda x: torch.sort(experts_of(x)[:128], stable=True)[1],
        lambda x: torch.searchsorted(torch.sort(experts_of(x))[0], torch.arange(200)),
        lambda x: torch.searchsorted(torch.sort(experts_of(x))[0], experts_of(x)),
    ):
        module, _ = after([NARROW], function, X)
        (sort,) = (n for n in module.graph.nodes if n.target in ranges.SORTS)
        assert sort.args[0].meta["val"].dtype == torch.int64


def test_experts():
    """All rules together."""

    def function(x, rows):
        s, p = torch.sort(experts_of(x), stable=True)
        mask = (s >= 8).unsqueeze(-1)
        ends = torch.cumsum(torch.histc(s.float(), bins=8, min=0, max=7), 0, dtype=torch.int32)
        return rows[p // 2].masked_fill(mask, 0.0) * 2, ends

    module, operators = after([DECIDED, "counts by positions", NARROW], function, X, torch.randn(70, 4))
    assert not {aten.masked_fill.Scalar, aten.ge.Scalar, aten.histc.default, aten.cumsum.default} & operators
    (sort,) = (n for n in module.graph.nodes if n.target in ranges.SORTS)
    assert sort.args[0].meta["val"].dtype == torch.int8
    assert not any(n.target is operator.getitem and n.meta["val"].dtype == torch.int64 and n.args[:2] == (sort, 0) for n in module.graph.nodes)
