"""Permutations of rows that are undone: which are removed, and that no bit of the result changes."""

import operator

import pytest

torch = pytest.importorskip("torch")
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from rewriting import rewrite  # noqa: E402
from zellige.torch.import_ import schema  # noqa: E402
from zellige.torch.rewrites import permutations  # noqa: E402


def traced(function, *inputs):
    """Returns (a module with the graph of the function, the number of its gathers of rows before and after)."""
    with torch.no_grad():
        module = make_fx(function, tracing_mode="fake")(*inputs)
    schema.bind(module.graph)
    module.graph.eliminate_dead_code()
    module.recompile()
    gathers = lambda: len(module.graph.find_nodes(op="call_function", target=permutations.ROWS))  # noqa: E731
    before = gathers()
    rewrite(module.graph, "permutation that is undone")
    module.graph.lint()
    module.recompile()
    return module, before, gathers()


def inverse(p, base=None, values=None, accumulate=False):
    base = torch.empty_like(p) if base is None else base
    values = torch.arange(p.shape[0]) if values is None else values
    return torch.ops.aten.index_put(base, [p], values, accumulate)


X, W, N = torch.randn(12, 8), torch.rand(12), torch.randint(0, 4, (12,))


def experts(inverted, x, w, numbers):
    """Sorts rows by their numbers, scales them, and restores their order."""
    p = torch.sort(numbers)[1]
    y = torch.cumprod(x[p], 0)
    return (y * w[p].unsqueeze(-1).to(x.dtype) + 1)[inverted(p)].view(6, 2, 8)


@pytest.mark.parametrize("inverted", [inverse, lambda p: torch.sort(p)[1], torch.argsort])
def test_weights_are_not_permuted_twice(inverted):
    module, before, after = traced(lambda x, w, n: experts(inverted, x, w, n), X, W, N)
    assert (before, after) == (3, 2)
    assert torch.equal(module(X, W, N), experts(inverted, X, W, N))
    last = module.graph.find_nodes(op="call_function", target=permutations.ROWS)[-1]
    assert last.args[0].target is torch.ops.aten.cumprod.default  # the product is computed afterwards


def test_a_permutation_and_its_inverse_vanish_in_either_order():
    def function(x, n):
        p = torch.sort(n)[1]
        q = inverse(p)
        return x[p][q] * 2, torch.exp(x[q])[p]

    module, before, after = traced(function, X, N)
    assert (before, after) == (4, 0)
    assert all(map(torch.equal, module(X, N), function(X, N)))


@pytest.mark.parametrize(
    "inverted",
    [
        lambda p: p,
        lambda p: inverse(p, values=torch.arange(12).flip(0)),
        lambda p: inverse(p, torch.zeros_like(p), accumulate=True) * 1,
        lambda p: inverse(torch.sort(p * 2)[1]),
        lambda p: torch.sort(p, descending=True)[1] * 1,
    ],
)
def test_other_indices_are_kept(inverted):
    module, before, after = traced(lambda x, w, n: experts(inverted, x, w, n), X, W, N)
    assert before == after == 3
    assert torch.equal(module(X, W, N), experts(inverted, X, W, N))


def test_a_descending_sort_is_no_inverse():
    module, before, after = traced(lambda x, w, n: experts(lambda p: torch.sort(p, descending=True)[1], x, w, n), X, W, N)
    assert before == after == 3 and torch.equal(module(X, W, N), experts(lambda p: torch.sort(p, descending=True)[1], X, W, N))


def test_nothing_is_permuted_in_addition():
    """Two operands that are permuted in place of one result, and a result that is read twice."""

    def two(x, w, n):
        p = torch.sort(n)[1]
        return (torch.cumprod(x, 0) + torch.cumprod(x, 1) * w[p].unsqueeze(-1))[inverse(p)]

    def twice(x, w, n):
        p = torch.sort(n)[1]
        y = torch.cumprod(x, 0) * w[p].unsqueeze(-1)
        return y[inverse(p)] + y

    for function in (two, twice):
        module, before, after = traced(function, X, W, N)
        assert before == after == 2 and torch.equal(module(X, W, N), function(X, W, N))


def test_results_have_memory_of_their_own():
    def function(x, n):
        p = torch.sort(n)[1]
        return x[p][inverse(p)].unsqueeze(0)

    module, before, after = traced(function, X, N)
    assert before == after == 2 and torch.equal(module(X, N), function(X, N))


def test_operands_without_rows_are_kept():
    def function(x, w, n, b):
        p = torch.sort(n)[1]
        return (torch.relu(w[p].unsqueeze(1) * b + b[0]) * torch.cumprod(x, 0))[inverse(p)]

    b = torch.randn(1, 8)
    module, before, after = traced(function, X, W, N, b)
    assert (before, after) == (2, 1) and torch.equal(module(X, W, N, b), function(X, W, N, b))
    assert not any(n.target is operator.getitem and n.args[1] == 0 for n in module.graph.nodes if n.users)
